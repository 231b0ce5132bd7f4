// SPDX-License-Identifier: GPL-2.0-only
/*
 * chain.c - ticks by chain of callers
 *
 * A tick walks the stack of the program from its innermost frame to the
 * outermost one, by the tables that the watcher has loaded, and counts in the
 * bucket of the innermost frame in the tree that the buckets are.
 *
 * A step of the walk is a function of the frame's registers, of the mapping that
 * its program counter is in, and of the words that it reads. So each CPU keeps
 * the last chains of two watches with these. Once a walk comes to a frame of the
 * last chain, what is left of that is compared, a word or two for each frame, and
 * not walked.
 *
 * A tick costs at most PROFIL_MAX_FRAMES steps, PROFIL_MAX_CODES +
 * PROFIL_MAX_STACKS look-ups of mappings, twice in the worst case, and one bucket
 * for each frame.
 *
 * Reads words of the stack only, without page faults, in the mapping that the
 * stack pointer is in; a frame that a signal interrupted may have another one.
 * Only offsets in executable mappings reach the table of the watch, or where the
 * table of callers says that the functions there begin.
 *
 * Context: as profil_chain_tick(), unless a function says otherwise.
 */
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>

#include "profil_private.h"
#include "thread.h"
#include "watcher.h"

/* Mappings of code in a chain, and of stacks. */
#define PROFIL_MAX_CODES	16
#define PROFIL_MAX_STACKS	4

/* Two watches with one period tick at the same instants. */
#define PROFIL_CPU_WALKS	2

/* As &struct profil_frame.bp_at: the step has to be made again. */
#define PROFIL_NOT_PLAIN	1

/**
 * struct profil_code - an executable mapping
 * @start: its first address
 * @end: its end
 * @delta: from an address to an offset in the object
 * @loaded: the table that was loaded for the object, or NULL
 * @callers: the same; NULL if its file has been written to since
 * @object: index of the object, or 0 if the watch has no room for it
 */
struct profil_code {
	unsigned long start;
	unsigned long end;
	u64 delta;
	const struct profil_callers *loaded;
	const struct profil_callers *callers;
	u32 object;
};

/**
 * struct profil_frame - a frame of a chain
 * @pc: program counter
 * @sp: stack pointer
 * @bp: base pointer
 * @bp_at: 0 if the step to the caller is a function of @pc, @sp and @bp, and of
 *	the word below the caller's stack pointer; the address of another word
 *	if it has read the base pointer there, between both stack pointers; or
 *	PROFIL_NOT_PLAIN, as of the outermost frame
 * @offset: of its bucket
 * @object: of its bucket
 * @node: index of its bucket, counted from 1; 0 before it is known
 * @caller: what @node has as its caller
 * @codes: bits of &struct profil_walk.codes: of @code and of its callers'
 * @bx: of the rule that the step followed, see struct profil_unwind_rule
 * @code: index in &struct profil_walk.codes
 * @is_call: see struct profil_unwind_frame
 * @is_own: the tick fell in this frame itself
 */
struct profil_frame {
	u64 pc;
	u64 sp;
	u64 bp;
	u64 bp_at;
	u64 offset;
	u32 object;
	u32 node;
	u32 caller;
	u16 codes;
	u8 bx;
	u8 code : 6;
	u8 is_call : 1;
	u8 is_own : 1;
};

/**
 * struct profil_walk - the last chain of a watch on a CPU
 * @id: of the watch; 0: there is none
 * @image: of the watch
 * @end: enum profil_chain_end
 * @first: index in @frames of the innermost one; the outermost is the last
 * @nr_codes: number of @codes
 * @codes: mappings of its frames, and of others before
 * @frames: its frames
 */
struct profil_walk {
	u64 id;
	u32 image;
	u32 end;
	u32 first;
	u32 nr_codes;
	struct profil_code codes[PROFIL_MAX_CODES];
	struct profil_frame frames[PROFIL_MAX_FRAMES];
};

/**
 * struct profil_walks - walks of a CPU
 * @recent: index in @last of the one that was used last
 * @last: the last chains of two watches
 * @fresh: the inner part of a chain that is being walked
 */
struct profil_walks {
	u32 recent;
	struct profil_walk last[PROFIL_CPU_WALKS];
	struct profil_frame fresh[PROFIL_MAX_FRAMES];
};

/**
 * struct profil_stack - the mapping of a stack
 * @start: its first address
 * @bytes: how many words can begin in it, in bytes; 0 if there is none
 * @failed: a word was not there
 */
struct profil_stack {
	unsigned long start;
	unsigned long bytes;
	bool failed;
};

/**
 * struct profil_walker - a walk
 * @watcher: the watch
 * @walk: its last chain on this CPU
 * @mm: the address space, locked
 * @stack: the mapping that the frame is in
 * @stacks: how many mappings of stacks may still be looked up
 * @frame: how far it has come
 * @fresh: the frames up to there
 * @nr_fresh: number of @fresh
 * @valid: bits of &struct profil_walk.codes: found to be still there
 * @old: index of the next frame of the last chain that the walk may come to
 * @late: the thread, if it is not the current one; see profil_owner()
 * @is_kernel: the tick fell in the kernel, or while the thread did not run
 * @is_64: the program is in 64-bit mode
 */
struct profil_walker {
	struct profil_watcher *watcher;
	struct profil_walk *walk;
	struct mm_struct *mm;
	struct profil_stack stack;
	u32 stacks;
	struct profil_unwind_frame frame;
	struct profil_frame *fresh;
	u32 nr_fresh;
	u32 valid;
	u32 old;
	const struct profil_deferred *late;
	bool is_kernel;
	bool is_64;
};

static struct profil_walks __percpu *profil_walks;
static u32 profil_nr_walks;
static DEFINE_MUTEX(profil_walks_mutex);

/* --- memory */

/**
 * profil_chain_get() - have memory for walks, for one more watch
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM; profil_chain_put() must follow if 0.
 */
int profil_chain_get(void)
{
	int err = 0;

	mutex_lock(&profil_walks_mutex);
	if (!profil_nr_walks)
		profil_walks = alloc_percpu(struct profil_walks);
	if (profil_walks)
		profil_nr_walks++;
	else
		err = -ENOMEM;
	mutex_unlock(&profil_walks_mutex);
	return err;
}

/* The reverse of profil_chain_get(). No CPU counts for the watch any more. */
void profil_chain_put(void)
{
	mutex_lock(&profil_walks_mutex);
	if (!--profil_nr_walks) {
		free_percpu(profil_walks);
		profil_walks = NULL;
	}
	mutex_unlock(&profil_walks_mutex);
}

/* --- mappings */

static struct vm_area_struct *
profil_code_lookup(const struct profil_walker *walker, unsigned long pc)
{
	struct vm_area_struct *vma = vma_lookup(walker->mm, pc);

	return vma && vma->vm_flags & VM_EXEC ? vma : NULL;
}

static void profil_code_set(const struct profil_walker *walker,
			    struct vm_area_struct *vma,
			    struct profil_code *code)
{
	struct profil_watcher *watcher = walker->watcher;

	code->start = vma->vm_start;
	code->end = vma->vm_end;
	code->object = profil_table_map(watcher, vma, walker->late,
					&code->delta);
	/* Pairs with the release in profil_callers_set(). */
	code->loaded = smp_load_acquire(&watcher->callers[code->object]);
	code->callers = code->loaded;
	if (code->loaded && vma->vm_file &&
	    !profil_file_is_as_loaded(&watcher->files[code->object],
				      file_inode(vma->vm_file)))
		code->callers = NULL;
}

/* Is a mapping still of the same object, at the same place in it? */
static __always_inline bool
profil_code_has_object(const struct profil_walker *walker,
		       const struct profil_code *code,
		       struct vm_area_struct *vma)
{
	struct profil_watcher *watcher = walker->watcher;
	u64 delta = ((u64)vma->vm_pgoff << PAGE_SHIFT) - vma->vm_start;
	const struct profil_file_key *key;
	const struct inode *inode;

	/* Without a file, or when there was no room for it */
	if (unlikely(!vma->vm_file || !code->object))
		return profil_table_map(watcher, vma, walker->late, &delta) ==
		       code->object && delta == code->delta;
	key = &watcher->files[code->object];
	inode = file_inode(vma->vm_file);
	return delta == code->delta && profil_is_file(key, inode) &&
	       (!code->callers || profil_file_is_as_loaded(key, inode));
}

/* Return: whether @code is still what it was set to. @vma: there now, or NULL */
static __always_inline bool
profil_code_is_same(const struct profil_walker *walker,
		    const struct profil_code *code, struct vm_area_struct *vma)
{
	return vma && vma->vm_start == code->start &&
	       vma->vm_end == code->end &&
	       profil_code_has_object(walker, code, vma) &&
	       READ_ONCE(walker->watcher->callers[code->object]) ==
	       code->loaded;
}

/*
 * A mapping of earlier ticks may be what @pc is in. If it is another one by now,
 * that takes its place, and nothing is left of the last chain.
 *
 * Return: whether @pc is in an executable mapping.
 */
static __always_inline bool profil_code_renew(struct profil_walker *walker,
					      unsigned long pc,
					      struct profil_code *code)
{
	struct vm_area_struct *vma = profil_code_lookup(walker, pc);

	if (!vma)
		return false;
	if (unlikely(!profil_code_is_same(walker, code, vma))) {
		walker->old = PROFIL_MAX_FRAMES;
		profil_code_set(walker, vma, code);
	}
	return true;
}

static noinline int profil_code_add(struct profil_walker *walker,
				    unsigned long pc)
{
	struct profil_walk *walk = walker->walk;
	struct vm_area_struct *vma;

	if (walk->nr_codes == PROFIL_MAX_CODES)
		return -ENOSPC;
	vma = profil_code_lookup(walker, pc);
	if (!vma)
		return -EFAULT;
	profil_code_set(walker, vma, &walk->codes[walk->nr_codes]);
	return walk->nr_codes++;
}

static bool profil_code_has(const struct profil_code *code, unsigned long pc)
{
	return pc - code->start < code->end - code->start;
}

/*
 * Return: index of the mapping of earlier ticks that an address is in; their
 * number if there is none.
 */
static __always_inline u32 profil_code_search(const struct profil_walker *walker,
					      unsigned long pc)
{
	const struct profil_walk *walk = walker->walk;
	u32 i;

	/* Likely that of the next frame of the last chain */
	if (likely(walker->old < PROFIL_MAX_FRAMES)) {
		i = walk->frames[walker->old].code;
		if (likely(profil_code_has(&walk->codes[i], pc)))
			return i;
	}
	for (i = 0; i < walk->nr_codes; i++)
		if (profil_code_has(&walk->codes[i], pc))
			break;
	return i;
}

/*
 * Find the mapping of an address.
 *
 * Return: its index; -EFAULT if it is not executable; -ENOSPC.
 */
static __always_inline int profil_code_find(struct profil_walker *walker,
					    unsigned long pc)
{
	struct profil_walk *walk = walker->walk;
	int i = profil_code_search(walker, pc);

	if (unlikely(i == walk->nr_codes))
		i = profil_code_add(walker, pc);
	else if (!(walker->valid & BIT(i)) &&
		 !profil_code_renew(walker, pc, &walk->codes[i]))
		return -EFAULT;
	if (likely(i >= 0))
		walker->valid |= BIT(i);
	return i;
}

/* --- words of a stack */

static __always_inline bool
profil_stack_has(const struct profil_stack *stack, u64 at)
{
	return at - stack->start < stack->bytes;
}

/* Find the mapping of a stack pointer; a stack may not have grown to it yet. */
static void profil_stack_find(struct profil_walker *walker)
{
	struct profil_stack *stack = &walker->stack;
	u64 sp = walker->frame.sp;
	struct vm_area_struct *vma;

	if (profil_stack_has(stack, sp))
		return;
	*stack = (struct profil_stack) { 0 };
	if (!walker->stacks)
		return;
	walker->stacks--;
	vma = vma_lookup(walker->mm, sp) ?: find_vma(walker->mm, sp);
	if (!vma || (sp < vma->vm_start && !(vma->vm_flags & VM_GROWSDOWN)))
		return;
	if (!(vma->vm_flags & VM_WRITE) || vma->vm_flags & PROFIL_VM_DEVICE)
		return;
	stack->start = vma->vm_start;
	stack->bytes = vma->vm_end - vma->vm_start - (sizeof(u64) - 1);
}

/*
 * Where to read a word that the stack has: a CPU that speculates that it has it
 * reads no memory of the kernel either.
 */
static __always_inline u64 __user *
profil_stack_word(const struct profil_stack *stack, u64 at)
{
	unsigned long offset = at - stack->start;

	return (u64 __user *)(stack->start +
			      array_index_nospec(offset, stack->bytes));
}

/*
 * All words of a stack are aligned; a forged table learns nothing of the bytes of
 * others. Context: in a section of user access.
 */
static __always_inline bool profil_stack_read(void *reader, u64 at, u64 *word)
{
	struct profil_stack *stack = reader;

	if (unlikely(!profil_stack_has(stack, at) || at % sizeof(u64)))
		goto fault;
	unsafe_get_user(*word, profil_stack_word(stack, at), fault);
	return true;
fault:
	stack->failed = true;
	return false;
}

static __always_inline bool profil_stack_begin(const struct profil_stack *stack)
{
	return user_access_begin((void __user *)stack->start, stack->bytes);
}

/* --- one frame */

/* Executable memory without a file: JIT compilers mostly use frame pointers. */
static const struct profil_unwind_rule profil_by_frame = {
	.cfa = PROFIL_UNWIND_FRAME,
	.bp = PROFIL_UNWIND_CHAINED,
	.bx = PROFIL_UNWIND_LOST,
	.offset = 2 * sizeof(u64),
};

static const struct profil_unwind_rule profil_no_rule = {
	.cfa = PROFIL_UNWIND_NO_RULE,
};

static __always_inline const struct profil_unwind_rule *
profil_frame_rule(const struct profil_walker *walker,
		  const struct profil_code *code, u64 offset)
{
	if (unlikely(!walker->is_64))
		return &profil_no_rule;
	if (likely(code->callers))
		return profil_unwind_rule(&code->callers->table, offset) ?:
		       &profil_no_rule;
	return code->object == PROFIL_OBJECT_ANONYMOUS ? &profil_by_frame :
							 NULL;
}

/*
 * Where a frame is counted: a caller, where its function begins if that is
 * known. @rule: of @offset
 */
static __always_inline u64
profil_frame_place(const struct profil_walker *walker,
		   const struct profil_code *code,
		   const struct profil_unwind_rule *rule, bool is_own,
		   u64 offset)
{
	const struct profil_watch *request = &walker->watcher->request;

	if (!is_own && code->callers && rule != &profil_no_rule &&
	    rule->cfa != PROFIL_UNWIND_NO_CODE &&
	    !(request->flags & PROFIL_WATCH_CALL_SITES))
		offset = profil_unwind_function(&code->callers->table, offset);
	return offset >> request->bucket_shift;
}

static bool profil_is_own(const struct profil_walker *walker)
{
	return !walker->nr_fresh && !walker->is_kernel;
}

static __always_inline enum profil_unwind_end
profil_frame_step(struct profil_walker *walker,
		  const struct profil_unwind_rule *rule)
{
	struct profil_stack *stack = &walker->stack;
	enum profil_unwind_end end;

	stack->failed = false;
	if (!profil_stack_begin(stack))
		return PROFIL_UNWIND_ABSENT;
	end = profil_unwind_step(&walker->frame, rule, profil_stack_read,
				 stack);
	user_access_end();
	return end;
}

static __always_inline bool
profil_rule_is_plain(const struct profil_unwind_rule *rule)
{
	return rule->cfa == PROFIL_UNWIND_SP || rule->cfa == PROFIL_UNWIND_BP ||
	       rule->cfa == PROFIL_UNWIND_PLT ||
	       rule->cfa == PROFIL_UNWIND_FRAME;
}

/* What the next walk needs to know of the step from @frame. */
static __always_inline void
profil_frame_note(const struct profil_walker *walker,
		  struct profil_frame *frame,
		  const struct profil_unwind_rule *rule)
{
	u64 sp = walker->frame.sp;

	frame->bx = rule->bx;
	if (walker->stack.failed || !profil_rule_is_plain(rule))
		frame->bp_at = PROFIL_NOT_PLAIN;
	else if (rule->bp == PROFIL_UNWIND_CHAINED)
		frame->bp_at = frame->bp;
	else if (rule->bp != PROFIL_UNWIND_SAME &&
		 rule->bp != PROFIL_UNWIND_LOST)
		frame->bp_at = sp - rule->bp * sizeof(u64);
	if (frame->bp_at && frame->bp_at - frame->sp >= sp - frame->sp)
		frame->bp_at = PROFIL_NOT_PLAIN;
}

/* The frame that a signal interrupted may be in another stack. */
static void profil_frame_interrupted(struct profil_walker *walker)
{
	walker->old = PROFIL_MAX_FRAMES;
	profil_stack_find(walker);
}

/*
 * Add the frame that the walk has come to, and go on to its caller.
 *
 * Return: -EAGAIN if there is one; or enum profil_chain_end; -ENOSPC if there
 * is no room for the mapping.
 */
static __always_inline int profil_frame_add(struct profil_walker *walker)
{
	static const u8 ends[] = {
		[PROFIL_UNWIND_COMPLETE] = PROFIL_CHAIN_COMPLETE,
		[PROFIL_UNWIND_UNKNOWN_CODE] = PROFIL_CHAIN_NO_RULE,
		[PROFIL_UNWIND_UNKNOWN_RULE] = PROFIL_CHAIN_NO_RULE,
		[PROFIL_UNWIND_ABSENT] = PROFIL_CHAIN_ABSENT,
		[PROFIL_UNWIND_ASTRAY] = PROFIL_CHAIN_ASTRAY,
	};
	struct profil_walk *walk = walker->walk;
	struct profil_frame *frame = &walker->fresh[walker->nr_fresh];
	unsigned long pc = walker->frame.pc - walker->frame.is_call;
	int nr = profil_code_find(walker, pc);
	const struct profil_unwind_rule *rule;
	const struct profil_code *code;
	bool is_own = profil_is_own(walker);
	enum profil_unwind_end end;

	if (nr < 0)
		return nr == -ENOSPC ? -ENOSPC : PROFIL_CHAIN_UNMAPPED;
	code = &walk->codes[nr];
	rule = profil_frame_rule(walker, code, pc + code->delta);
	*frame = (struct profil_frame) {
		.pc = walker->frame.pc,
		.sp = walker->frame.sp,
		.bp = walker->frame.bp,
		.offset = profil_frame_place(walker, code, rule, is_own,
					     pc + code->delta),
		.object = code->object,
		.code = nr,
		.is_call = walker->frame.is_call,
		.is_own = is_own,
	};
	walker->nr_fresh++;
	if (!rule)
		return PROFIL_CHAIN_NO_TABLE;
	end = profil_frame_step(walker, rule);
	if (unlikely(end != PROFIL_UNWIND_CALLER))
		return ends[end];
	profil_frame_note(walker, frame, rule);
	if (unlikely(rule->cfa == PROFIL_UNWIND_SIGNAL))
		profil_frame_interrupted(walker);
	return -EAGAIN;
}

/* --- the last chain */

/* Is the end of a chain a function of its last frame and the mapping of that? */
static bool profil_walk_has_pure_end(const struct profil_walk *walk)
{
	return walk->end == PROFIL_CHAIN_COMPLETE ||
	       walk->end == PROFIL_CHAIN_NO_TABLE ||
	       walk->end == PROFIL_CHAIN_NO_RULE;
}

/* Read a word that may not be in the stack: then, any word of the stack. */
#define profil_stack_peek(stack, at, word, fault)			\
	unsafe_get_user(word, profil_stack_word(stack, at), fault)

/*
 * Compare what the steps of the last chain have read, from frame @at on.
 *
 * Only plain steps are compared, and these go up the stack: so, if the first and
 * the last one were made within the stack, all were.
 *
 * Return: index of the first frame whose step may go elsewhere now.
 */
static __always_inline u32
profil_walk_compare(const struct profil_walker *walker, u32 at)
{
	const struct profil_frame *begin = &walker->walk->frames[at];
	const struct profil_frame *frame = begin;
	/* A copy, as an access to user memory may change all others */
	const struct profil_stack stack = walker->stack;
	u64 word;

	if (!profil_stack_has(&stack, frame->sp) || !profil_stack_begin(&stack))
		return at;
	for (;; frame++) {
		if (unlikely(frame->bp_at)) {
			if (frame->bp_at == PROFIL_NOT_PLAIN)
				break;
			profil_stack_peek(&stack, frame->bp_at, word, fault);
			if (word != frame[1].bp)
				break;
		}
		profil_stack_peek(&stack, frame[1].sp - sizeof(u64), word,
				  fault);
		if (word != frame[1].pc)
			break;
	}
fault:
	user_access_end();
	while (frame > begin &&
	       !profil_stack_has(&stack, frame->sp - sizeof(u64)))
		frame--;
	return frame - walker->walk->frames;
}

static __always_inline bool
profil_walk_has_codes(struct profil_walker *walker, u32 codes)
{
	for (codes &= ~walker->valid; codes; codes &= codes - 1) {
		u32 i = __ffs(codes);
		struct profil_code *code = &walker->walk->codes[i];

		if (!profil_code_is_same(walker, code,
					 profil_code_lookup(walker,
							    code->start)))
			return false;
		walker->valid |= BIT(i);
	}
	return true;
}

/*
 * Take over frames of the last chain, from @at to before @end, to which the
 * walk goes on. There may be no room for all.
 */
static void profil_walk_take(struct profil_walker *walker, u32 at, u32 end)
{
	struct profil_unwind_frame *to = &walker->frame;
	const struct profil_frame *frame = &walker->walk->frames[at];

	for (; at < end && walker->nr_fresh < PROFIL_MAX_FRAMES;
	     at++, frame++) {
		if (frame->bx == PROFIL_UNWIND_LOST) {
			to->bx = 0;
			to->bx_at = 0;
		} else if (frame->bx != PROFIL_UNWIND_SAME) {
			to->bx_at = frame[1].sp - frame->bx * sizeof(u64);
		}
		walker->fresh[walker->nr_fresh++] = *frame;
		to->pc = frame[1].pc;
		to->sp = frame[1].sp;
		to->bp = frame[1].bp;
		to->is_call = true;
	}
	walker->old = at + 1;
}

static __always_inline bool
profil_walk_is_at(const struct profil_walker *walker,
		  const struct profil_frame *frame)
{
	return frame->sp == walker->frame.sp && frame->pc == walker->frame.pc &&
	       frame->bp == walker->frame.bp &&
	       frame->is_call == walker->frame.is_call &&
	       frame->is_own == profil_is_own(walker);
}

/*
 * Has the walk come to a frame of the last chain? If so, go on as far as that
 * still holds.
 *
 * Return: whether that is to its end: the rest is the same.
 */
static __always_inline bool profil_walk_meet(struct profil_walker *walker)
{
	struct profil_walk *walk = walker->walk;
	u32 at = walker->old, end;

	while (at < PROFIL_MAX_FRAMES &&
	       walk->frames[at].sp < walker->frame.sp)
		at++;
	walker->old = at;
	if (at == PROFIL_MAX_FRAMES ||
	    !profil_walk_is_at(walker, &walk->frames[at]))
		return false;
	end = profil_walk_compare(walker, at);
	if (!profil_walk_has_codes(walker, walk->frames[at].codes)) {
		walker->old = PROFIL_MAX_FRAMES;
		return false;
	}
	if (end == PROFIL_MAX_FRAMES - 1 && profil_walk_has_pure_end(walk) &&
	    walker->nr_fresh <= at)
		return true;
	profil_walk_take(walker, at, end);
	return false;
}

/* --- the walk */

/* Return: enum profil_chain_end; -ENOSPC if there is no room for a mapping. */
static noinline int profil_walk_run(struct profil_walker *walker)
{
	struct profil_walk *walk = walker->walk;
	int end;

	do {
		if (profil_walk_meet(walker))
			return walk->end;
		end = PROFIL_CHAIN_DEEP;
		if (walker->nr_fresh < PROFIL_MAX_FRAMES)
			end = profil_frame_add(walker);
	} while (end == -EAGAIN);
	walker->old = PROFIL_MAX_FRAMES;
	return end;
}

static void profil_walk_forget(struct profil_walk *walk)
{
	walk->id = 0;
	walk->first = PROFIL_MAX_FRAMES;
	walk->nr_codes = 0;
}

static bool profil_walk_is_of(const struct profil_walk *walk, u64 id, u32 image)
{
	return walk->id == id && walk->image == image;
}

/* Return: the last chain of a watch, or none in the place of the other one. */
static struct profil_walk *profil_walk_find(struct profil_walks *walks, u64 id,
					    u32 image)
{
	struct profil_walk *walk = &walks->last[walks->recent];

	if (profil_walk_is_of(walk, id, image))
		return walk;
	walks->recent = (walks->recent + 1) % PROFIL_CPU_WALKS;
	walk = &walks->last[walks->recent];
	if (!profil_walk_is_of(walk, id, image))
		profil_walk_forget(walk);
	return walk;
}

static void profil_walker_init(struct profil_walker *walker,
			       const struct pt_regs *regs)
{
	walker->nr_fresh = 0;
	walker->valid = 0;
	walker->old = walker->walk->first;
	walker->frame = (struct profil_unwind_frame) {
		.pc = regs->ip, .sp = regs->sp, .bp = regs->bp,
		.bx = regs->bx, .di = regs->di,
	};
	walker->stack = (struct profil_stack) { 0 };
	walker->stacks = PROFIL_MAX_STACKS;
	profil_stack_find(walker);
}

/*
 * Find the chain of @regs in the current address space: the walk gets it, but for
 * its nodes. The caller has set @late and @is_kernel of the walker; an initializer
 * would clear what is set here.
 */
static void profil_walk_stack(struct profil_walker *walker,
			      struct profil_watcher *watcher, u32 image,
			      const struct pt_regs *regs)
{
	struct profil_walks *walks = this_cpu_ptr(profil_walks);
	struct profil_walk *walk = profil_walk_find(walks, watcher->id, image);
	int end;

	walker->watcher = watcher;
	walker->walk = walk;
	walker->mm = current->mm;
	walker->fresh = walks->fresh;
	walker->is_64 = user_64bit_mode((struct pt_regs *)regs);
	pagefault_disable();
	profil_walker_init(walker, regs);
	end = profil_walk_run(walker);
	/* Mappings of earlier chains may be in the way */
	if (unlikely(end == -ENOSPC)) {
		profil_walk_forget(walk);
		profil_walker_init(walker, regs);
		end = profil_walk_run(walker);
	}
	pagefault_enable();
	walk->end = end == -ENOSPC ? PROFIL_CHAIN_DEEP : end;
	walk->id = walker->watcher->id;
	walk->image = image;
}

/* --- counting */

/*
 * Find the nodes of a chain, from the outermost frame on. @caller gets the last
 * one that there was room for; or, if there was none for the outermost frame,
 * what that has as its caller.
 *
 * Return: whether there was room for all.
 */
static bool profil_walk_place(struct profil_walker *walker, u32 *caller)
{
	struct profil_walk *walk = walker->walk;
	u32 node = walk->end == PROFIL_CHAIN_COMPLETE ? 0 :
							PROFIL_CALLER_UNKNOWN;
	u32 at = walker->old, i = walker->nr_fresh;
	u16 codes = 0;

	if (at < PROFIL_MAX_FRAMES) {
		node = walk->frames[at].node;
		codes = walk->frames[at].codes;
	}
	walk->first = at - i;
	while (i--) {
		struct profil_frame *frame = &walk->frames[--at];

		*frame = walker->fresh[i];
		codes |= BIT(frame->code);
		frame->codes = codes;
		*caller = node;
		if (!frame->node || frame->caller != node) {
			frame->caller = node;
			frame->node = profil_table_node(walker->watcher,
							walk->image,
							frame->object,
							frame->offset, node,
							walker->late);
		}
		node = frame->node;
		if (unlikely(!node))
			return false;
	}
	/* A comparison ends there */
	walk->frames[PROFIL_MAX_FRAMES - 1].bp_at = PROFIL_NOT_PLAIN;
	*caller = node;
	return true;
}

/* Ticks in the kernel, with @caller in user mode. */
static void profil_chain_kernel(struct profil_watcher *watcher, u32 image,
				u32 nr, const struct pt_regs *regs, u32 caller)
{
	u64 offset = regs && watcher->request.flags & PROFIL_WATCH_KERNEL_TEXT ?
		     regs->ip >> watcher->request.bucket_shift : 0;
	u32 node = profil_table_node(watcher, image, PROFIL_OBJECT_KERNEL,
				     offset, caller, NULL);

	profil_table_count(watcher, image, nr, PROFIL_OBJECT_KERNEL, node,
			   caller);
}

/* Return: enum profil_chain_end; -EFAULT if there is not even one frame. */
static int profil_chain_walk(struct profil_watcher *watcher, u32 image, u32 nr,
			     const struct pt_regs *regs,
			     const struct pt_regs *user)
{
	struct profil_walker walker;
	struct profil_walk *walk;
	u32 object, caller;
	bool has_room;

	walker.late = NULL;
	walker.is_kernel = regs != user;
	profil_walk_stack(&walker, watcher, image, user);
	walk = walker.walk;
	has_room = profil_walk_place(&walker, &caller);
	if (walker.is_kernel && has_room) {
		profil_chain_kernel(watcher, image, nr, regs, caller);
		return walk->end;
	}
	if (walk->first == PROFIL_MAX_FRAMES)
		return -EFAULT;
	object = walker.nr_fresh ? walker.fresh[0].object :
				   walk->frames[walk->first].object;
	/* Without its nodes, the chain is no help to the next tick */
	if (!has_room)
		walk->id = 0;
	profil_table_count(watcher, image, nr,
			   walker.is_kernel ? PROFIL_OBJECT_KERNEL : object,
			   has_room ? caller : 0, caller);
	return walk->end;
}

/*
 * In the kernel, too, the interrupt has interrupted no holder of a lock that
 * dropping mmap_lock takes: those are held with interrupts off. In a context
 * switch they may be held.
 *
 * Return: whether the mappings may be looked at.
 */
static bool profil_chain_trylock(bool is_kernel)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return false;
#ifdef PROFIL_NO_KERNEL_LOOKUP
	if (is_kernel)
		return false;
#endif
	return mmap_read_trylock(current->mm);
}

/* Has a tick no chain? @end: gets why, enum profil_chain_end */
static bool profil_chain_is_missing(const struct pt_regs *regs,
				    const struct pt_regs *user, int *end)
{
	if (regs == user)
		return false;
	/* Kernel threads, and those of io_uring and vhost */
	*end = PROFIL_CHAIN_COMPLETE;
	if (current->flags & PF_KTHREAD || !user->ip)
		return true;
	*end = PROFIL_CHAIN_NO_MEMORY;
	return !current->mm || current->in_execve;
}

/**
 * profil_chain_tick() - count ticks by chain
 * @watcher: the watch, with PROFIL_WATCH_CHAINS
 * @image: of the process
 * @nr: number of ticks
 * @regs: see profil_table_tick()
 *
 * Context: as profil_table_tick(): hard interrupts off, so that the walk of the
 * CPU is this tick's.
 */
void profil_chain_tick(struct profil_watcher *watcher, u32 image, u32 nr,
		       struct pt_regs *regs)
{
	struct pt_regs *user = regs && user_mode(regs) ? regs :
							 task_pt_regs(current);
	int end = PROFIL_CHAIN_BUSY;

	if (profil_chain_is_missing(regs, user, &end)) {
		profil_chain_kernel(watcher, image, nr, regs,
				    end == PROFIL_CHAIN_COMPLETE ? 0 :
				    PROFIL_CALLER_UNKNOWN);
	} else if (regs && profil_chain_trylock(regs != user)) {
		end = profil_chain_walk(watcher, image, nr, regs, user);
		mmap_read_unlock(current->mm);
	} else if (regs != user) {
		profil_chain_kernel(watcher, image, nr, regs,
				    PROFIL_CALLER_UNKNOWN);
		end = PROFIL_CHAIN_BUSY;
	} else {
		profil_table_late(watcher, image, regs->ip, nr);
		return;
	}
	if (unlikely(end == -EFAULT))
		profil_table_unresolved(watcher, image, nr);
	else
		atomic64_add(nr, &watcher->chains[end]);
}

/* Count ticks of a wait in the nodes of the chain that was found. */
static void profil_walk_wait(struct profil_walker *walker,
			     const struct profil_due *due)
{
	struct profil_walk *walk = walker->walk;
	bool has_room;
	u32 caller;

	has_room = profil_walk_place(walker, &caller);
	/* Without its nodes, the chain is no help to the next tick */
	if (!has_room)
		walk->id = 0;
	profil_table_wait(walker->watcher, walk->image, due, caller, has_room,
			  walker->late);
	atomic64_add(due->blocked + due->runnable,
		     &walker->watcher->chains[walk->end]);
}

/**
 * profil_chain_wait() - count ticks of the current thread, which did not run, by
 * chain
 * @watcher: the watch, with PROFIL_WATCH_CHAINS
 * @image: of the process
 * @due: the ticks
 *
 * Context: hard interrupt.
 */
void profil_chain_wait(struct profil_watcher *watcher, u32 image,
		       const struct profil_due *due)
{
	struct pt_regs *user = task_pt_regs(current);
	struct profil_walker walker;
	int end;

	if (!profil_chain_is_missing(NULL, user, &end)) {
		if (profil_chain_trylock(true)) {
			walker.late = NULL;
			walker.is_kernel = true;
			profil_walk_stack(&walker, watcher, image, user);
			profil_walk_wait(&walker, due);
			mmap_read_unlock(current->mm);
			return;
		}
		end = PROFIL_CHAIN_BUSY;
	}
	profil_table_wait(watcher, image, due, end == PROFIL_CHAIN_COMPLETE ?
			  0 : PROFIL_CALLER_UNKNOWN, true, NULL);
	atomic64_add(due->blocked + due->runnable, &watcher->chains[end]);
}

/**
 * profil_chain_sleeper() - count ticks of a thread that waits, by chain
 * @sleeper: the thread; if its wait ends meanwhile, nothing is counted
 *
 * Context: a kernel thread that uses the memory of the thread, with mmap_lock
 * held for reading.
 */
void profil_chain_sleeper(struct profil_sleeper *sleeper)
{
	struct profil_walker walker;
	struct profil_due due;
	unsigned long flags;

	walker.late = &sleeper->who;
	walker.is_kernel = true;
	local_irq_save(flags);
	profil_walk_stack(&walker, sleeper->thread->member->watcher,
			  sleeper->image, &sleeper->regs);
	if (profil_sleeper_claim(sleeper, &due))
		profil_walk_wait(&walker, &due);
	else
		/* Its frames have no nodes */
		walker.walk->id = 0;
	local_irq_restore(flags);
}
