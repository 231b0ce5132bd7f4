// SPDX-License-Identifier: GPL-2.0-only
/*
 * table.c - the table of a watch: images, objects, buckets
 *
 * User space reads the table at any time. So an entry is complete before its
 * number, or its key, is published, and never changes after that, but for its
 * counts and its path.
 *
 * Each of the three has an index, a hash table that user space does not see.
 * Finding an object or a bucket there takes no lock; adding one does. All hash
 * tables probe linearly, and give up after PROFIL_TABLE_PROBES: one that somebody
 * fills with collisions costs no more than that.
 *
 * Context: see each function. Lock: watcher->lock, a leaf; it is also taken with
 * the scheduler's locks held, so nobody is woken under it.
 */
#include <linux/cgroup.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uidgid.h>

#include "profil_private.h"
#include "schedule.h"
#include "watcher.h"

#define PROFIL_TABLE_PROBES	128

/* For each frame of a chain. */
#define PROFIL_NODE_PROBES	16

/*
 * The work that looks up mappings begins a jiffy after the first tick that needs
 * it; on PREEMPT_RT, where all do, at once, lest too many are those of processes
 * that have ended by then. It tries each of them again and again, for so long:
 * with waiters on it, a lock is seldom to be had, and only for a moment. After so
 * many tries the worker is for others for a jiffy.
 */
#define PROFIL_LOOKUP_DELAY	(!IS_ENABLED(CONFIG_PREEMPT_RT))
#define PROFIL_LOOKUP_TIME	(HZ / 4)
#define PROFIL_LOOKUP_US	200
#define PROFIL_LOOKUP_TRIES	100

/* So many look-ups at most with a lock held, and without a reschedule. */
#define PROFIL_LOOKUP_BATCH	64

/* No such entry, and no room for one. */
#define PROFIL_FULL		0

/* Whose ticks are counted: of the current process, or those of @late. */
static kuid_t profil_owner(const struct profil_deferred *late)
{
	return late ? late->uid : current_uid();
}

/*
 * Users choose offsets, numbers of files and names: each has a secret factor, lest
 * they choose those whose hashes are equal, and so keep others out of the table.
 */
static __always_inline u32
profil_table_hash(const struct profil_watcher *watcher, u64 a, u64 b, u64 c)
{
	u64 hash = a * watcher->secrets[0] + b * watcher->secrets[1] +
		   c * watcher->secrets[2];

	return hash_64(hash ^ hash >> 32, 32);
}

/* --- objects */

/*
 * Find the object of a file; @object gets 0 if it has none. Another CPU may then
 * take the place for another file, unless watcher->lock is held.
 *
 * Return: its place in the index, or a free one; NULL if there is neither.
 */
static __always_inline u32 *
profil_file_place(struct profil_watcher *watcher, const struct inode *inode,
		  u32 *object)
{
	/* One file after the other may have the same place in memory */
	u32 hash = profil_table_hash(watcher, (unsigned long)inode,
				     inode->i_ino, inode->i_generation);
	u32 at = reciprocal_scale(hash, watcher->file_mask);
	u32 i;

	for (i = 0; i < PROFIL_TABLE_PROBES; i++) {
		u32 *place = &watcher->file_index[at++ & watcher->file_mask];

		/* Pairs with the release in profil_file_claim(). */
		*object = smp_load_acquire(place);
		if (!*object || profil_is_file(&watcher->files[*object], inode))
			return place;
	}
	*object = 0;
	return NULL;
}

/* Context: watcher->lock held; the caller has a reference to @file. */
static u32 profil_file_claim(struct profil_watcher *watcher, struct file *file,
			     const struct inode *inode,
			     const struct profil_deferred *late)
{
	struct profil_watch_table *table = watcher->table;
	struct profil_watch_object *entry;
	kuid_t uid = profil_owner(late);
	u32 object;
	u32 *place = profil_file_place(watcher, inode, &object);

	if (object)
		return object;
	object = table->nr_objects;
	if (!place || object >= profil_watcher_room(watcher,
						    watcher->request.objects,
						    uid))
		return PROFIL_FULL;
	watcher->files[object] = (struct profil_file_key) {
		.inode = inode,
		.device = inode->i_sb->s_dev,
		.number = inode->i_ino,
		.generation = inode->i_generation,
		.uid = uid,
		.file = get_file(file),
	};
	entry = &watcher->objects[object];
	entry->device = new_encode_dev(inode->i_sb->s_dev);
	entry->inode = inode->i_ino;
	entry->generation = inode->i_generation;
	entry->pid = late ? late->pid :
			    task_tgid_nr_ns(current, watcher->pid_ns);
	/* Pairs with the acquire in profil_file_place(). */
	smp_store_release(place, object);
	/* Pairs with an acquire in user space, and in the worker. */
	smp_store_release(&table->nr_objects, object + 1);
	return object;
}

static noinline u32 profil_file_add(struct profil_watcher *watcher,
				    struct file *file,
				    const struct inode *inode,
				    const struct profil_deferred *late)
{
	unsigned long flags;
	u32 object;

	raw_spin_lock_irqsave(&watcher->lock, flags);
	object = profil_file_claim(watcher, file, inode, late);
	raw_spin_unlock_irqrestore(&watcher->lock, flags);
	if (object != PROFIL_FULL)
		queue_work(profil_wq, &watcher->naming);
	return object;
}

/*
 * A table that is full takes no lock, as every further tick comes here.
 * @late: ticks in the file that are counted late, or NULL
 */
static __always_inline u32
profil_file_object(struct profil_watcher *watcher, struct file *file,
		   const struct inode *inode,
		   const struct profil_deferred *late)
{
	u32 *place;
	u32 object;

	place = profil_file_place(watcher, inode, &object);
	if (likely(object))
		return object;
	if (!place || READ_ONCE(watcher->table->nr_objects) >=
		      profil_watcher_room(watcher, watcher->request.objects,
					  profil_owner(late)))
		return PROFIL_FULL;
	return profil_file_add(watcher, file, inode, late);
}

/**
 * profil_table_object() - the object of a file
 * @watcher: the watch
 * @file: the caller has a reference
 * @inode: of the file, as mappings of it have it
 *
 * Context: any but with the scheduler's locks held.
 * Return: index of the object, or 0 if there is no room.
 */
u32 profil_table_object(struct profil_watcher *watcher, struct file *file,
			const struct inode *inode)
{
	return profil_file_object(watcher, file, inode, NULL);
}

/* Return: offset in the paths, or 0 if there is no room. */
static u32 profil_add_name(struct profil_watcher *watcher, kuid_t uid,
			   const char *name)
{
	u32 room = profil_watcher_room(watcher, watcher->request.names, uid);
	u32 at = watcher->names_used;
	size_t size = strlen(name) + 1;

	if (at > room || size > room - at)
		return 0;
	memcpy(watcher->names + at, name, size);
	WRITE_ONCE(watcher->names_used, at + size);
	return at;
}

static void profil_name_object(struct profil_watcher *watcher, u32 object,
			       char *buffer)
{
	struct profil_file_key *key = &watcher->files[object];
	char *path = buffer ? d_path(file_user_path(key->file), buffer,
				     PATH_MAX) : NULL;

	if (!IS_ERR_OR_NULL(path))
		/* Pairs with an acquire in user space. */
		smp_store_release(&watcher->objects[object].path,
				  profil_add_name(watcher, key->uid, path));
	fput(key->file);
}

/* Find the paths of new objects, in their order. */
static void profil_name_objects(struct work_struct *work)
{
	struct profil_watcher *watcher =
		container_of(work, struct profil_watcher, naming);
	char *buffer = kmalloc(PATH_MAX, GFP_KERNEL);

	/* Pairs with the release in profil_file_claim(). */
	while (watcher->named < smp_load_acquire(&watcher->table->nr_objects)) {
		profil_name_object(watcher, watcher->named, buffer);
		/* Pairs with the acquire in profil_watch_read(). */
		smp_store_release(&watcher->named, watcher->named + 1);
		cond_resched();
	}
	kfree(buffer);
	wake_up_interruptible_poll(&watcher->poll, EPOLLIN | EPOLLRDNORM);
}

/* --- buckets */

/**
 * struct profil_bucket_key - which bucket
 * @image: of it
 * @object: of it
 * @offset: of it
 * @caller: of it, in a watch with chains
 */
struct profil_bucket_key {
	u32 image;
	u32 object;
	u64 offset;
	u32 caller;
};

static __always_inline bool
profil_is_bucket(const struct profil_watch_bucket *bucket,
		 const struct profil_bucket_key *key, bool has_caller)
{
	return bucket->object == key->object && bucket->image == key->image &&
	       bucket->offset == key->offset &&
	       (!has_caller || bucket->caller == key->caller);
}

/* @node: index of the bucket, counted from 1 */
static __always_inline struct profil_watch_bucket *
profil_bucket_at(const struct profil_watcher *watcher, u32 node,
		 bool has_caller)
{
	return watcher->buckets + (node - 1) * profil_bucket_size(has_caller);
}

/*
 * Find a bucket; @node gets 0 if there is none. Another CPU may then take the
 * place for another bucket, unless watcher->lock is held.
 *
 * Return: its place in the index, or a free one; NULL if there is neither.
 */
static __always_inline u32 *
profil_bucket_place(struct profil_watcher *watcher,
		    const struct profil_bucket_key *key, bool has_caller,
		    u32 *node)
{
	u32 probes = has_caller ? PROFIL_NODE_PROBES : PROFIL_TABLE_PROBES;
	u32 mask = watcher->bucket_mask;
	u32 hash = profil_table_hash(watcher, key->offset,
				     (u64)key->object << 32 | key->image,
				     has_caller ? key->caller : 0);
	u32 at = reciprocal_scale(hash, mask);
	u32 i;

	for (i = 0; i < probes; i++) {
		u32 *place = &watcher->bucket_index[at++ & mask];

		/* Pairs with the release in profil_bucket_claim(). */
		*node = smp_load_acquire(place);
		if (!*node ||
		    profil_is_bucket(profil_bucket_at(watcher, *node,
						      has_caller),
				     key, has_caller))
			return place;
	}
	*node = 0;
	return NULL;
}

static bool profil_bucket_is_full(struct profil_watcher *watcher,
				  const struct profil_deferred *late)
{
	return READ_ONCE(watcher->nr_buckets) >=
	       profil_watcher_room(watcher, watcher->request.buckets,
				   profil_owner(late));
}

/* Context: watcher->lock held. */
static u32 profil_bucket_claim(struct profil_watcher *watcher,
			       const struct profil_bucket_key *key,
			       bool has_caller,
			       const struct profil_deferred *late)
{
	struct profil_watch_bucket *bucket;
	u32 node, *place;

	place = profil_bucket_place(watcher, key, has_caller, &node);
	if (node)
		return node;
	if (!place || profil_bucket_is_full(watcher, late))
		return 0;
	node = watcher->nr_buckets + 1;
	bucket = profil_bucket_at(watcher, node, has_caller);
	bucket->image = key->image;
	bucket->offset = key->offset;
	if (has_caller)
		bucket->caller = key->caller;
	WRITE_ONCE(watcher->nr_buckets, node);
	/* Pairs with an acquire in user space. */
	smp_store_release(&bucket->object, key->object);
	/* Pairs with the acquire in profil_bucket_place(). */
	smp_store_release(place, node);
	return node;
}

/* A table that is full takes no lock, as every further tick comes here. */
static noinline u32 profil_bucket_add(struct profil_watcher *watcher,
				      const struct profil_bucket_key *key,
				      bool has_caller,
				      const struct profil_deferred *late)
{
	unsigned long flags;
	u32 node;

	if (profil_bucket_is_full(watcher, late))
		return 0;
	raw_spin_lock_irqsave(&watcher->lock, flags);
	node = profil_bucket_claim(watcher, key, has_caller, late);
	raw_spin_unlock_irqrestore(&watcher->lock, flags);
	return node;
}

/* Return: index of the bucket, counted from 1; 0 if there is no room. */
static __always_inline u32
profil_bucket_get(struct profil_watcher *watcher,
		  const struct profil_bucket_key *key, bool has_caller,
		  const struct profil_deferred *late)
{
	u32 node;

	if (profil_bucket_place(watcher, key, has_caller, &node) &&
	    unlikely(!node))
		node = profil_bucket_add(watcher, key, has_caller, late);
	return node;
}

static u32 profil_node_get(struct profil_watcher *watcher,
			   const struct profil_bucket_key *key,
			   const struct profil_deferred *late)
{
	return likely(key->object != PROFIL_FULL) ?
	       profil_bucket_get(watcher, key, true, late) : 0;
}

/**
 * profil_table_node() - the bucket of a frame of the current process
 * @watcher: a watch with chains
 * @image: of the process
 * @object: index of the object; 0 if there was no room for it
 * @offset: as the bucket has it
 * @caller: as the bucket has it
 * @late: see profil_owner()
 *
 * Context: as profil_chain_tick().
 * Return: index of the bucket, counted from 1; 0 if there is no room.
 */
u32 profil_table_node(struct profil_watcher *watcher, u32 image, u32 object,
		      u64 offset, u32 caller,
		      const struct profil_deferred *late)
{
	struct profil_bucket_key key = { image, object, offset, caller };

	return profil_node_get(watcher, &key, late);
}

/* Return: whether there was room. */
static __always_inline bool
profil_bucket_count(struct profil_watcher *watcher, u32 image, u32 object,
		    u64 offset, u32 nr, const struct profil_deferred *late)
{
	struct profil_bucket_key key = {
		image, object, offset >> watcher->request.bucket_shift, 0
	};
	u32 node = profil_bucket_get(watcher, &key, false, late);

	if (!node)
		return false;
	profil_table_add(&profil_bucket_at(watcher, node, false)->count, nr);
	return true;
}

/* --- ticks */

static __always_inline void
profil_count_object(struct profil_watcher *watcher, u32 image, u32 object,
		    u64 offset, u32 nr, const struct profil_deferred *late)
{
	if (likely(object != PROFIL_FULL &&
		   profil_bucket_count(watcher, image, object, offset, nr,
				       late))) {
		profil_table_add(&watcher->images[image].counted, nr);
		return;
	}
	profil_table_add(&watcher->objects[object].coarse, nr);
	profil_table_add(&watcher->images[image].coarse, nr);
}

/*
 * There is no bucket for ticks in an object. @caller: the deepest of their callers
 * that has one; 0 or PROFIL_CALLER_UNKNOWN if none has
 */
static void profil_count_below(struct profil_watcher *watcher, u32 object,
			       u64 nr, u32 caller)
{
	if (profil_watcher_has_chains(watcher) && caller &&
	    caller != PROFIL_CALLER_UNKNOWN)
		profil_table_add(&profil_bucket_at(watcher, caller, true)->below,
				 nr);
	profil_table_add(&watcher->objects[object].coarse, nr);
}

/**
 * profil_table_count() - count ticks of a frame
 * @watcher: a watch with chains
 * @image: of the process
 * @nr: number of ticks
 * @object: of the frame
 * @node: of the frame, from profil_table_node()
 * @caller: if @node is 0, the deepest of its callers that has a bucket; 0 or
 *	PROFIL_CALLER_UNKNOWN if none has
 *
 * Context: as profil_chain_tick().
 */
void profil_table_count(struct profil_watcher *watcher, u32 image, u32 nr,
			u32 object, u32 node, u32 caller)
{
	struct profil_watch_image *in = &watcher->images[image];
	__u64 *outcome = node ? &in->counted : &in->coarse;

	if (node)
		profil_table_add(&profil_bucket_at(watcher, node, true)->count,
				 nr);
	else
		profil_count_below(watcher, object, nr, caller);
	if (object == PROFIL_OBJECT_KERNEL)
		outcome = &in->kernel;
	profil_table_add(outcome, nr);
}

static void profil_count_wait(struct profil_watcher *watcher,
			      const struct profil_bucket_key *key, u64 nr,
			      bool has_room, const struct profil_deferred *late)
{
	bool has_caller = profil_watcher_has_chains(watcher);
	u32 node = 0;

	if (has_room)
		node = profil_bucket_get(watcher, key, has_caller, late);
	if (node)
		profil_table_add(&profil_bucket_at(watcher, node,
						   has_caller)->count, nr);
	else
		profil_count_below(watcher, key->object, nr, key->caller);
}

/**
 * profil_table_wait() - count ticks of a thread that did not run
 * @watcher: the watch
 * @image: of its process
 * @due: the ticks
 * @caller: as their buckets have it
 * @has_room: all frames have a bucket; else @caller is the deepest that has one
 * @late: see profil_owner()
 *
 * Context: any.
 */
void profil_table_wait(struct profil_watcher *watcher, u32 image,
		       const struct profil_due *due, u32 caller, bool has_room,
		       const struct profil_deferred *late)
{
	struct profil_bucket_key blocked = {
		image, PROFIL_OBJECT_BLOCKED, due->offset, caller
	};
	struct profil_bucket_key runnable = {
		image, PROFIL_OBJECT_RUNNABLE, 0, caller
	};
	struct profil_watch_image *in = &watcher->images[image];

	if (due->blocked) {
		profil_count_wait(watcher, &blocked, due->blocked, has_room,
				  late);
		profil_table_add(&in->blocked, due->blocked);
		if (due->offset & PROFIL_WAIT_LONG)
			profil_table_add(&in->idle, due->blocked);
	}
	if (due->runnable) {
		profil_count_wait(watcher, &runnable, due->runnable, has_room,
				  late);
		profil_table_add(&in->runnable, due->runnable);
	}
}

/* Count ticks in user mode whose mapping could not be found. Context: any. */
void profil_table_unresolved(struct profil_watcher *watcher, u32 image, u32 nr)
{
	profil_table_add(&watcher->images[image].unresolved, nr);
}

static bool profil_vma_is_vdso(struct vm_area_struct *vma)
{
	const char *name = NULL;

	if (vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name(vma);
	return name && !strcmp(name, "[vdso]");
}

/*
 * The object of a mapping. @delta: gets what makes an offset in it of an address
 *
 * Context: its mmap_lock held for reading.
 */
static __always_inline u32
profil_vma_object(struct profil_watcher *watcher, struct vm_area_struct *vma,
		  const struct profil_deferred *late, u64 *delta)
{
	*delta = -(u64)vma->vm_start;
	if (likely(vma->vm_file)) {
		*delta += (u64)vma->vm_pgoff << PAGE_SHIFT;
		return profil_file_object(watcher, vma->vm_file,
					  file_inode(vma->vm_file), late);
	}
	if (profil_vma_is_vdso(vma))
		return PROFIL_OBJECT_VDSO;
	*delta = 0;
	return PROFIL_OBJECT_ANONYMOUS;
}

/**
 * profil_table_map() - the object of a mapping of the current address space
 * @watcher: the watch
 * @vma: the mapping
 * @late: see profil_owner()
 * @delta: gets what makes an offset in it of an address
 *
 * Context: as profil_chain_tick(); its mmap_lock held for reading.
 * Return: index of the object; 0 if there is no room for it.
 */
u32 profil_table_map(struct profil_watcher *watcher, struct vm_area_struct *vma,
		     const struct profil_deferred *late, u64 *delta)
{
	return profil_vma_object(watcher, vma, late, delta);
}

/* @vma: of @pc, or NULL. Context: its mmap_lock held for reading. */
static __always_inline void
profil_count_vma(struct profil_watcher *watcher, u32 image,
		 struct vm_area_struct *vma, unsigned long pc, u32 nr,
		 const struct profil_deferred *late)
{
	u32 object;
	u64 delta;

	if (unlikely(!vma)) {
		profil_table_unresolved(watcher, image, nr);
		return;
	}
	object = profil_vma_object(watcher, vma, late, &delta);
	profil_count_object(watcher, image, object, pc + delta, nr, late);
}

static u16 *profil_deferred_share(struct profil_watcher *watcher,
				  const struct mm_struct *mm)
{
	return &watcher->deferred_shares[hash_ptr(mm, PROFIL_SHARE_BITS)];
}

/*
 * Leave the mapping to a work. That runs some time later, and not at once: it
 * would take the CPU just after a tick, when the next one is never due.
 *
 * Return: whether there was room.
 */
static noinline bool profil_defer(struct profil_watcher *watcher, u32 image,
				  unsigned long pc, u32 nr)
{
	u16 *share = profil_deferred_share(watcher, current->mm);
	struct profil_deferred *deferred = NULL;
	unsigned long flags;

#ifdef PROFIL_NO_LATE_LOOKUP
	return false;
#endif
	raw_spin_lock_irqsave(&watcher->lock, flags);
	if (*share < PROFIL_MAX_SHARE)
		deferred = watcher->free_deferred;
	if (deferred) {
		watcher->free_deferred = deferred->next;
		*deferred = (struct profil_deferred) {
			.next = watcher->deferred, .mm = current->mm, .pc = pc,
			.image = image, .nr = nr,
			.pid = task_tgid_nr_ns(current, watcher->pid_ns),
			.uid = current_uid(),
			.deadline = jiffies + PROFIL_LOOKUP_TIME,
		};
		mmgrab(current->mm);
		++*share;
		watcher->deferred = deferred;
		atomic64_add(nr, &watcher->pending);
	}
	raw_spin_unlock_irqrestore(&watcher->lock, flags);
	if (deferred)
		queue_delayed_work(profil_wq, &watcher->lookup,
				   PROFIL_LOOKUP_DELAY);
	return deferred;
}

/**
 * profil_table_late() - count ticks in user mode later
 * @watcher: the watch
 * @image: of the process
 * @pc: the program counter
 * @nr: number of ticks
 *
 * With chains, they have that frame alone.
 *
 * Context: hard interrupt.
 */
void profil_table_late(struct profil_watcher *watcher, u32 image,
		       unsigned long pc, u32 nr)
{
	if (!profil_defer(watcher, image, pc, nr))
		profil_table_unresolved(watcher, image, nr);
}

/*
 * In user mode the interrupt has interrupted no holder of a lock on this CPU,
 * so that mmap_lock may be tried here, and be dropped although that may wake
 * another task. On PREEMPT_RT it may not be taken in interrupts at all.
 */
static void profil_count_user(struct profil_watcher *watcher, u32 image,
			      unsigned long pc, u32 nr)
{
	struct mm_struct *mm = current->mm;

	if (!IS_ENABLED(CONFIG_PREEMPT_RT) && likely(mmap_read_trylock(mm))) {
		profil_count_vma(watcher, image, vma_lookup(mm, pc), pc, nr,
				 NULL);
		mmap_read_unlock(mm);
	} else {
		profil_table_late(watcher, image, pc, nr);
	}
}

/**
 * profil_table_tick() - count ticks
 * @watcher: the watch
 * @image: of the process
 * @nr: number of ticks
 * @regs: what the tick interrupted; NULL if it fell in the kernel, and nobody
 *	knows where
 *
 * Context: hard interrupt, or the scheduler with its locks held if @regs is
 * NULL.
 */
void profil_table_tick(struct profil_watcher *watcher, u32 image, u32 nr,
		       struct pt_regs *regs)
{
	if (regs && user_mode(regs)) {
		profil_count_user(watcher, image, instruction_pointer(regs),
				  nr);
		return;
	}
	profil_table_add(&watcher->images[image].kernel, nr);
	if (regs && watcher->request.flags & PROFIL_WATCH_KERNEL_TEXT &&
	    !profil_bucket_count(watcher, image, PROFIL_OBJECT_KERNEL,
				 instruction_pointer(regs), nr, NULL))
		profil_table_add(&watcher->objects[PROFIL_OBJECT_KERNEL].coarse,
				 nr);
}

/* --- ticks whose mapping a work looks up */

/**
 * profil_mm_trylock() - lock the mappings of another process for reading
 * @mm: its address space, with a reference to the structure
 *
 * Takes no reference to the memory: the last one frees that, and waits for as
 * long as a program likes. The memory is not freed while the lock is held. Only
 * tries: a program can hold the lock for ever, too.
 *
 * Context: process.
 * Return: enum profil_mm_access.
 */
enum profil_mm_access profil_mm_trylock(struct mm_struct *mm)
{
#ifdef PROFIL_NO_LATE_LOOKUP
	return PROFIL_MM_BUSY;
#endif
	if (!mmap_read_trylock(mm))
		return PROFIL_MM_BUSY;
	if (!atomic_read(&mm->mm_users)) {
		mmap_read_unlock(mm);
		return PROFIL_MM_GONE;
	}
	mmgrab(mm);
	return PROFIL_MM_LOCKED;
}

/* Unlock them. */
void profil_mm_unlock(struct mm_struct *mm)
{
	mmap_read_unlock(mm);
	mmdrop(mm);
}

static struct profil_deferred *
profil_deferred_take(struct profil_watcher *watcher)
{
	struct profil_deferred *first;

	raw_spin_lock_irq(&watcher->lock);
	first = watcher->deferred;
	watcher->deferred = NULL;
	raw_spin_unlock_irq(&watcher->lock);
	return first;
}

static void profil_deferred_free(struct profil_watcher *watcher,
				 struct profil_deferred *deferred)
{
	mmdrop(deferred->mm);
	atomic64_sub(deferred->nr, &watcher->pending);
	raw_spin_lock_irq(&watcher->lock);
	--*profil_deferred_share(watcher, deferred->mm);
	deferred->next = watcher->free_deferred;
	watcher->free_deferred = deferred;
	raw_spin_unlock_irq(&watcher->lock);
}

/* Context: mmap_lock of the address space held for reading. */
static void profil_count_cut(struct profil_watcher *watcher,
			     const struct profil_deferred *deferred,
			     struct vm_area_struct *vma)
{
	u64 delta;
	u32 object = profil_vma_object(watcher, vma, deferred, &delta);
	struct profil_bucket_key key = {
		deferred->image, object,
		(deferred->pc + delta) >> watcher->request.bucket_shift,
		PROFIL_CALLER_UNKNOWN
	};

	profil_table_count(watcher, deferred->image, deferred->nr, object,
			   profil_node_get(watcher, &key, deferred),
			   PROFIL_CALLER_UNKNOWN);
	atomic64_add(deferred->nr, &watcher->chains[PROFIL_CHAIN_BUSY]);
}

/* The program may have mapped something else by now: count no data. */
static void profil_count_late(struct profil_watcher *watcher,
			      const struct profil_deferred *deferred)
{
	struct vm_area_struct *vma = vma_lookup(deferred->mm, deferred->pc);

	if (vma && !(vma->vm_flags & VM_EXEC))
		vma = NULL;
	if (vma && profil_watcher_has_chains(watcher))
		profil_count_cut(watcher, deferred, vma);
	else
		profil_count_vma(watcher, deferred->image, vma, deferred->pc,
				 deferred->nr, deferred);
}

/* Return: have the ticks got their outcome? */
static bool profil_count_deferred(struct profil_watcher *watcher,
				  struct profil_deferred *deferred,
				  enum profil_mm_access access)
{
	if (access == PROFIL_MM_LOCKED)
		profil_count_late(watcher, deferred);
	else if (access == PROFIL_MM_GONE ||
		 time_after_eq(jiffies, deferred->deadline))
		profil_table_unresolved(watcher, deferred->image, deferred->nr);
	else
		return false;
	return true;
}

/* Try each once; several tasks may do so at a time. */
static void profil_lookup_round(struct profil_watcher *watcher)
{
	struct profil_deferred *deferred = profil_deferred_take(watcher);
	struct profil_deferred *next, *again = NULL, **end = &again;
	enum profil_mm_access access = PROFIL_MM_BUSY;
	struct mm_struct *mm = NULL;
	u32 nr;

	for (nr = 0; deferred; deferred = next, nr++) {
		next = deferred->next;
		if (deferred->mm != mm || !(nr % PROFIL_LOOKUP_BATCH)) {
			if (access == PROFIL_MM_LOCKED)
				profil_mm_unlock(mm);
			cond_resched();
			mm = deferred->mm;
			access = profil_mm_trylock(mm);
		}
		if (profil_count_deferred(watcher, deferred, access)) {
			profil_deferred_free(watcher, deferred);
		} else {
			*end = deferred;
			end = &deferred->next;
		}
	}
	if (access == PROFIL_MM_LOCKED)
		profil_mm_unlock(mm);
	raw_spin_lock_irq(&watcher->lock);
	*end = watcher->deferred;
	watcher->deferred = again;
	raw_spin_unlock_irq(&watcher->lock);
}

/* Return: whether any are left after so many tries. */
static bool profil_lookup_try(struct profil_watcher *watcher, u32 tries)
{
	profil_lookup_round(watcher);
	while (atomic64_read(&watcher->pending) && --tries) {
		usleep_range(PROFIL_LOOKUP_US, 2 * PROFIL_LOOKUP_US);
		profil_lookup_round(watcher);
	}
	return atomic64_read(&watcher->pending);
}

/* Waits only for users who have few works that may wait. */
static void profil_look_up(struct work_struct *work)
{
	struct profil_watcher *watcher =
		container_of(to_delayed_work(work), struct profil_watcher,
			     lookup);
	bool slot = profil_user_charge(watcher->user, PROFIL_CHARGE_FLUSHES, 1,
				       PROFIL_MAX_FLUSHES);
	unsigned long pause = 1;

	/* But often enough for several tries of each */
	if (!slot)
		pause = min_t(unsigned long, PROFIL_LOOKUP_TIME / 4,
			      msecs_to_jiffies(profil_user_turn(watcher->user)));
	if (profil_lookup_try(watcher, slot ? PROFIL_LOOKUP_TRIES : 1))
		queue_delayed_work(profil_wq, &watcher->lookup, pause);
	if (slot)
		profil_user_uncharge(watcher->user, PROFIL_CHARGE_FLUSHES, 1);
}

/**
 * profil_table_settle() - wait until all ticks have their outcome
 * @watcher: the watch, which has ended
 *
 * Context: process, may sleep: for PROFIL_LOOKUP_TIME at most.
 */
void profil_table_settle(struct profil_watcher *watcher)
{
	while (profil_lookup_try(watcher, PROFIL_LOOKUP_TRIES))
		cond_resched();
}

/* --- images */

static u64 profil_task_cgroup(struct task_struct *task)
{
#ifdef CONFIG_CGROUPS
	return cgroup_id(task_dfl_cgroup(task));
#else
	return 0;
#endif
}

static u32 profil_image_hash(const struct profil_watcher *watcher,
			     const struct profil_watch_image *image)
{
	const u64 *comm = (const u64 *)image->comm;
	u32 name = profil_table_hash(watcher, comm[0], comm[1], image->cgroup);

	return profil_table_hash(watcher, name, image->exe, image->flags);
}

static bool profil_is_image(const struct profil_watch_image *a,
			    const struct profil_watch_image *b)
{
	return a->exe == b->exe && a->cgroup == b->cgroup &&
	       a->flags == b->flags &&
	       !memcmp(a->comm, b->comm, sizeof(a->comm));
}

/* Context: watcher->lock held. */
static u32 *profil_image_place(struct profil_watcher *watcher,
			       const struct profil_watch_image *wanted)
{
	u32 at = profil_image_hash(watcher, wanted);
	u32 i;

	for (i = 0; i < PROFIL_TABLE_PROBES; i++) {
		u32 *place = &watcher->image_index[at++ & watcher->image_mask];

		if (!*place ||
		    profil_is_image(&watcher->images[*place], wanted))
			return place;
	}
	return NULL;
}

/* Context: watcher->lock held. Return: the image, or 0 if there is no room. */
static u32 profil_image_add(struct profil_watcher *watcher, kuid_t uid,
			    const struct profil_watch_image *wanted)
{
	struct profil_watch_table *table = watcher->table;
	bool separate = watcher->request.flags & PROFIL_WATCH_SEPARATE;
	u32 *place = separate ? NULL : profil_image_place(watcher, wanted);
	u32 image = table->nr_images;

	if (place && *place)
		return *place;
	if ((!place && !separate) ||
	    image >= profil_watcher_room(watcher, watcher->request.images, uid))
		return PROFIL_FULL;
	watcher->images[image] = *wanted;
	if (place)
		*place = image;
	/* Pairs with an acquire in user space. */
	smp_store_release(&table->nr_images, image + 1);
	return image;
}

/**
 * profil_table_image() - the image of a process that joins or executes
 * @watcher: the watch
 * @task: any of its threads
 * @exe: object of the file that it executed; 0 if that is not known
 * @parent: image of the process that forked it, or its own until now; or 0
 *
 * Context: any but with the scheduler's locks held; under rcu_read_lock().
 * Return: index of the image.
 */
u32 profil_table_image(struct profil_watcher *watcher, struct task_struct *task,
		       u32 exe, u32 parent)
{
	struct profil_watch_image image = {
		.parent = parent,
		.exe = exe,
		.pid = task_tgid_nr_ns(task, watcher->pid_ns),
		.start_ns = ktime_get_ns(),
		.uid = from_kuid_munged(watcher->cred->user_ns,
					__task_cred(task)->uid),
	};
	unsigned long flags;
	u32 index;

	if (READ_ONCE(task->flags) & PF_KTHREAD) {
		image.flags = PROFIL_IMAGE_KTHREADS;
		strscpy(image.comm, "[kernel]", sizeof(image.comm));
	} else {
		image.cgroup = profil_task_cgroup(task);
		/* As in /proc/PID/comm, also if that thread has ended */
		strscpy(image.comm, task->group_leader->comm,
			sizeof(image.comm));
	}

	raw_spin_lock_irqsave(&watcher->lock, flags);
	index = profil_image_add(watcher, __task_cred(task)->uid, &image);
	watcher->images[index].processes++;
	raw_spin_unlock_irqrestore(&watcher->lock, flags);
	return index;
}

/**
 * profil_table_inherit() - the image of a process that has been forked
 * @watcher: the watch
 * @child: the process
 * @image: of its parent
 *
 * Context: as profil_table_image().
 * Return: index of the image.
 */
u32 profil_table_inherit(struct profil_watcher *watcher,
			 struct task_struct *child, u32 image)
{
	unsigned long flags;

	if (watcher->request.flags & PROFIL_WATCH_SEPARATE)
		return profil_table_image(watcher, child,
					  watcher->images[image].exe, image);
	raw_spin_lock_irqsave(&watcher->lock, flags);
	watcher->images[image].processes++;
	raw_spin_unlock_irqrestore(&watcher->lock, flags);
	return image;
}

/**
 * profil_table_init() - describe the table in itself, and prepare its works
 * @watcher: with its request and its memory
 */
void profil_table_init(struct profil_watcher *watcher)
{
	struct profil_watch_table *table = watcher->table;
	const struct profil_watch *request = &watcher->request;

	INIT_WORK(&watcher->naming, profil_name_objects);
	INIT_DELAYED_WORK(&watcher->lookup, profil_look_up);
	table->version = PROFIL_WATCH_VERSION;
	table->bucket_shift = request->bucket_shift;
	table->nr_images = 1;
	table->nr_objects = PROFIL_OBJECT_FILES;
	table->max_buckets = request->buckets;
	table->image_size = sizeof(*watcher->images);
	table->object_size = sizeof(*watcher->objects);
	table->bucket_size = profil_bucket_size(profil_watcher_has_chains(watcher));
	table->images = (void *)watcher->images - (void *)table;
	table->objects = (void *)watcher->objects - (void *)table;
	table->buckets = watcher->buckets - (void *)table;
	table->names = (void *)watcher->names - (void *)table;
	table->names_size = request->names;
}
