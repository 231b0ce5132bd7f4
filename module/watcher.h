/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watcher.h - declarations that the files of watches share
 *
 *   struct file --> struct profil_watcher --> its table: images, objects, buckets
 *                        ^           |
 *                        |           +----> its members, one for each process
 *                        |                        ^
 *                   profil_wide               profil_members
 *                   (fork, exec)          (tick, context switch, fork, exec)
 *
 * A watch of wall-clock time has threads, too, see thread.h.
 *
 * A process is a thread group, and is found by its struct signal_struct: that
 * stays the same from fork to the end, across exec, and its address is not used
 * again before the last task of the process has been freed.
 *
 * A member stays in its place until the leader has been freed, or until the
 * watch ends. A CPU that runs a thread of the process keeps a pointer to it:
 * all of them drop it at the end of the watch, before its memory is freed.
 *
 * Locks, innermost last:
 *
 *	watcher->ending
 *	  user->collecting
 *	  profil_ipi_lock
 *	task_lock()
 *	  profil_member_lock	hard interrupts off
 *	    profil_thread_lock	hard interrupts off
 *	      watcher->lock	hard interrupts off
 */
#ifndef PROFIL_WATCHER_H
#define PROFIL_WATCHER_H

#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <linux/profil.h>

#include "unwind.h"

struct linux_binprm;
struct pid_namespace;
struct profil_thread;
struct profil_user;
struct pt_regs;

#ifdef CONFIG_X86_64
#define PROFIL_CHAIN_FLAGS	(PROFIL_WATCH_CHAINS | \
				 PROFIL_WATCH_CALL_SITES)
#else
#define PROFIL_CHAIN_FLAGS	0
#endif

#define PROFIL_WATCH_FLAGS	(PROFIL_WATCH_CHILDREN | \
				 PROFIL_WATCH_AT_EXEC | \
				 PROFIL_WATCH_SEPARATE | \
				 PROFIL_WATCH_KERNEL_TEXT | \
				 PROFIL_WATCH_WALL | \
				 PROFIL_CHAIN_FLAGS)

/* Instead of the image of a member: it takes no ticks, or not yet. */
#define PROFIL_MEMBER_OFF	(~0u)
#define PROFIL_MEMBER_WAITING	(~0u - 1)

/**
 * struct profil_member - a process in a watch
 * @node: in profil_members
 * @signal: the key; not dereferenced
 * @watcher: the watch
 * @image: index of its image; PROFIL_MEMBER_OFF if it has left, or
 *	PROFIL_MEMBER_WAITING until its next exec
 * @since: when it came back to the watch last; waits before do not count
 * @added: when it became a member
 * @rcu: delays reuse; then, links those that are free
 */
struct profil_member {
	struct hlist_node node;
	const struct signal_struct *signal;
	struct profil_watcher *watcher;
	u32 image;
	u64 since;
	u64 added;
	struct rcu_head rcu;
};

/**
 * struct profil_file_key - which file an object is
 * @inode: compared only: distinguishes a subvolume of btrfs from its snapshot
 * @device: of the file system
 * @number: of the inode
 * @generation: of the inode
 * @uid: user of the process that the object was first seen in
 * @mtime: when it was last written to, before its table of callers was loaded
 * @file: with a reference, until its path is known
 */
struct profil_file_key {
	const struct inode *inode;
	dev_t device;
	u64 number;
	u32 generation;
	kuid_t uid;
	struct timespec64 mtime;
	struct file *file;
};

/**
 * struct profil_deferred - ticks whose mapping a work looks up
 * @next: the next one that waits, or that is free
 * @mm: the address space; a reference to the structure, not to the memory
 * @pc: the program counter
 * @image: index of the image
 * @pid: of the process
 * @uid: of the process
 * @nr: number of ticks
 * @deadline: when they become unresolved, in jiffies
 */
struct profil_deferred {
	struct profil_deferred *next;
	struct mm_struct *mm;
	unsigned long pc;
	u32 image;
	u32 pid;
	kuid_t uid;
	u32 nr;
	unsigned long deadline;
};

/**
 * struct profil_due - ticks of a thread that does not run
 * @blocked: while it waited for something
 * @runnable: while it could run
 * @offset: of the bucket of the first, enum profil_wait with PROFIL_WAIT_LONG
 */
struct profil_due {
	u64 blocked;
	u64 runnable;
	u32 offset;
};

/* Room for those that wait; an eighth for those of one address space. */
#define PROFIL_MAX_DEFERRED	2048
#define PROFIL_MAX_SHARE	(PROFIL_MAX_DEFERRED / 8)
#define PROFIL_SHARE_BITS	6

/**
 * struct profil_callers - a table of callers that a user has loaded
 * @list: in that of the user's
 * @refs: one for each object that has it
 * @user: who loaded it; a reference; @pages are charged to it
 * @pages: memory, in pages; 0 for watches with CAP_PERFMON
 * @bytes: length of @blob
 * @table: @blob, checked
 * @blob: the table
 */
struct profil_callers {
	struct list_head list;
	refcount_t refs;
	struct profil_user *user;
	u64 pages;
	u64 bytes;
	struct profil_unwind_table table;
	u64 blob[];
};

/**
 * struct profil_watcher - a watch
 * @sink: slot, state and period
 * @id: no other watch has had it; never 0
 * @secrets: of the hashes in the table; odd, so that no bit of a key is lost
 * @request: as it was granted
 * @wide: in profil_wide, unless the target is one process
 * @cred: of the caller
 * @uid: the target, if that is a user, or the creator
 * @pid_ns: of the caller
 * @cgroup: the target, or NULL
 * @user: a reference; @pages are charged to it
 * @pages: memory, in pages
 * @table: the table that user space maps; the next four point into it
 * @images: images
 * @objects: objects
 * @buckets: buckets
 * @names: paths
 * @private: memory of the arrays that follow
 * @members: room for members
 * @files: of each object
 * @callers: the table of callers of each object, with a reference, or NULL
 * @threads: room for threads, in a watch of wall-clock time
 * @cells: secret of the ticks of threads
 * @image_index: hash table of the images
 * @file_index: hash table of the objects
 * @bucket_index: hash table of the buckets, whose indexes count from 1 there
 * @image_mask: size of @image_index less one
 * @file_mask: size of @file_index less one
 * @bucket_mask: size of @bucket_index less one
 * @all_deferred: room for deferred ticks
 * @withheld: see &struct profil_watch_status
 * @unfollowed: the same
 * @unfollowed_threads: the same
 * @pending: ticks in deferred ones
 * @chains: see &struct profil_watch_status
 * @tables: the same
 * @refs: one for the open file, one for each member that has been removed and
 *	cannot be used again yet
 * @poll: wakes when @named grows
 * @seen: @named when the caller last got the stats
 * @ending: held while waits are collected, and at the end
 * @ended: when the watch has ended; 0 until then
 * @free_threads: threads that are not in use; profil_thread_lock protects this
 * @nr_threads: threads in use; the same
 * @lock: protects what follows, and adding to the table; hard interrupts off
 * @free_members: members that are not in use
 * @deferred: deferred ticks, for @lookup
 * @free_deferred: those that are not in use
 * @deferred_shares: those in use, by a hash of the address space
 * @nr_members: members in use
 * @nr_buckets: buckets in use
 * @names_used: bytes of @names in use; written by @naming alone
 * @named: objects with lower numbers have a path, or get none; the same
 * @naming: finds the paths of new objects
 * @lookup: finds the mappings of deferred ticks
 * @free: frees the watch
 */
struct profil_watcher {
	struct profil_sink sink;
	u64 id;
	u64 secrets[3];
	struct profil_watch request;
	struct list_head wide;
	const struct cred *cred;
	kuid_t uid;
	struct pid_namespace *pid_ns;
	struct cgroup *cgroup;
	struct profil_user *user;
	u64 pages;

	struct profil_watch_table *table;
	struct profil_watch_image *images;
	struct profil_watch_object *objects;
	void *buckets;
	char *names;

	void *private;
	struct profil_member *members;
	struct profil_file_key *files;
	struct profil_callers **callers;
	struct profil_thread *threads;
	u64 cells[2];
	u32 *image_index;
	u32 *file_index;
	u32 *bucket_index;
	u32 image_mask;
	u32 file_mask;
	u32 bucket_mask;
	struct profil_deferred *all_deferred;

	atomic64_t withheld;
	atomic64_t unfollowed;
	atomic64_t unfollowed_threads;
	atomic64_t pending;
	atomic64_t chains[PROFIL_CHAIN_ENDS];
	atomic_t tables;
	refcount_t refs;
	wait_queue_head_t poll;
	u32 seen;
	struct mutex ending;
	u64 ended;

	struct rcu_head *free_threads;
	u32 nr_threads;

	raw_spinlock_t lock;
	struct rcu_head *free_members;
	struct profil_deferred *deferred;
	struct profil_deferred *free_deferred;
	u16 deferred_shares[1 << PROFIL_SHARE_BITS];
	u32 nr_members;
	u32 nr_buckets;
	u32 names_used;
	u32 named;
	struct work_struct naming;
	struct delayed_work lookup;
	struct rcu_work free;
};

/* watcher.c: the memory of a watch, and the references to it */

struct profil_watcher *profil_watcher_new(const struct profil_watch *request);
int profil_watcher_alloc(struct profil_watcher *watcher);
void profil_watcher_get(struct profil_watcher *watcher);
void profil_watcher_put(struct profil_watcher *watcher);
void profil_watcher_end(struct profil_watcher *watcher);
void profil_watcher_wait_for_all(void);

static inline struct profil_watcher *
profil_sink_watcher(struct profil_sink *sink)
{
	return container_of(sink, struct profil_watcher, sink);
}

static inline bool profil_watcher_is_perfmon(const struct profil_watcher *watcher)
{
	return watcher->sink.slot & PROFIL_SLOT_PERFMON;
}

static inline bool profil_watcher_is_on(const struct profil_watcher *watcher)
{
	return READ_ONCE(watcher->sink.state) == PROFIL_STATE_ON;
}

static inline bool profil_watcher_has_chains(const struct profil_watcher *watcher)
{
	return watcher->request.flags & PROFIL_WATCH_CHAINS;
}

/* Has each thread ticks of its own, also while it does not run? */
static inline bool profil_watcher_is_wall(const struct profil_watcher *watcher)
{
	return watcher->sink.is_wall;
}

static inline bool profil_watcher_is_wide(const struct profil_watcher *watcher)
{
	return watcher->sink.slot & PROFIL_SLOT_WIDE;
}

/*
 * How much of @max entries of a table or of the members a process of user @uid
 * may use up. In a watch of the processes of all users, a quarter is for root and
 * the creator of the watch, so that nobody else can fill it and blind it.
 */
static inline u32 profil_watcher_room(const struct profil_watcher *watcher,
				      u32 max, kuid_t uid)
{
	if (watcher->sink.slot != (PROFIL_SLOT_WIDE | PROFIL_SLOT_PERFMON) ||
	    uid_eq(uid, watcher->uid) || uid_eq(uid, GLOBAL_ROOT_UID))
		return max;
	return max - max / 4;
}

/* inspect.c: which tasks the creator of a watch may inspect */

bool profil_may_inspect(const struct profil_watcher *watcher,
			struct task_struct *task);

/* member.c: which processes are in a watch */

#define PROFIL_MEMBER_BITS	12

extern struct hlist_head profil_members[1 << PROFIL_MEMBER_BITS];

int profil_members_begin(struct profil_watcher *watcher);
void profil_members_end(struct profil_watcher *watcher);
void profil_members_fork(struct task_struct *parent, struct task_struct *child);
void profil_members_exec(struct linux_binprm *bprm);
void profil_members_free(struct task_struct *task);
bool profil_members_move(struct task_struct *task);

static inline struct hlist_head *
profil_member_bucket(const struct signal_struct *signal)
{
	return &profil_members[profil_hash(signal, PROFIL_MEMBER_BITS)];
}

/* The first member of a process from @node on, or NULL. */
static inline struct profil_member *
profil_member_from(struct hlist_node *node, const struct signal_struct *signal)
{
	struct profil_member *member;

	for (; node; node = rcu_dereference_raw(hlist_next_rcu(node))) {
		member = hlist_entry(node, struct profil_member, node);
		if (member->signal == signal)
			return member;
	}
	return NULL;
}

static inline struct profil_member *
profil_member_first(const struct signal_struct *signal)
{
	struct hlist_head *bucket = profil_member_bucket(signal);

	return profil_member_from(rcu_dereference_raw(hlist_first_rcu(bucket)),
				  signal);
}

static inline struct profil_member *
profil_member_next(const struct profil_member *member,
		   const struct signal_struct *signal)
{
	return profil_member_from(rcu_dereference_raw(hlist_next_rcu(&member->node)),
				  signal);
}

/*
 * All members of a process, one for each of its watches. Context: under
 * rcu_read_lock(), or with hard interrupts off.
 */
#define profil_for_each_member(member, process)				\
	for (member = profil_member_first(process); member;		\
	     member = profil_member_next(member, process))

static inline struct profil_member *
profil_member_find(const struct profil_watcher *watcher,
		   const struct signal_struct *signal)
{
	struct profil_member *member;

	profil_for_each_member(member, signal)
		if (member->watcher == watcher)
			return member;
	return NULL;
}

static inline bool profil_is_image_on(u32 image)
{
	return image < PROFIL_MEMBER_WAITING;
}

/* table.c: the table of a watch */

/**
 * enum profil_mm_access - may mappings be looked up in an address space?
 * @PROFIL_MM_LOCKED: yes; profil_mm_unlock() must follow
 * @PROFIL_MM_BUSY: not now
 * @PROFIL_MM_GONE: they have been unmapped
 */
enum profil_mm_access {
	PROFIL_MM_LOCKED,
	PROFIL_MM_BUSY,
	PROFIL_MM_GONE
};

void profil_table_init(struct profil_watcher *watcher);
u32 profil_table_image(struct profil_watcher *watcher, struct task_struct *task,
		       u32 exe, u32 parent);
u32 profil_table_inherit(struct profil_watcher *watcher,
			 struct task_struct *child, u32 image);
u32 profil_table_object(struct profil_watcher *watcher, struct file *file,
			const struct inode *inode);
void profil_table_tick(struct profil_watcher *watcher, u32 image, u32 nr,
		       struct pt_regs *regs);
void profil_table_settle(struct profil_watcher *watcher);
enum profil_mm_access profil_mm_trylock(struct mm_struct *mm);
void profil_mm_unlock(struct mm_struct *mm);

void profil_table_late(struct profil_watcher *watcher, u32 image,
		       unsigned long pc, u32 nr);
void profil_table_unresolved(struct profil_watcher *watcher, u32 image, u32 nr);
u32 profil_table_map(struct profil_watcher *watcher, struct vm_area_struct *vma,
		     const struct profil_deferred *late, u64 *delta);
u32 profil_table_node(struct profil_watcher *watcher, u32 image, u32 object,
		      u64 offset, u32 caller,
		      const struct profil_deferred *late);
void profil_table_count(struct profil_watcher *watcher, u32 image, u32 nr,
			u32 object, u32 node, u32 caller);
void profil_table_wait(struct profil_watcher *watcher, u32 image,
		       const struct profil_due *due, u32 caller, bool has_room,
		       const struct profil_deferred *late);

static inline bool profil_is_file(const struct profil_file_key *key,
				  const struct inode *inode)
{
	return key->inode == inode && key->number == inode->i_ino &&
	       key->generation == inode->i_generation &&
	       key->device == inode->i_sb->s_dev;
}

/* Has a file not been written to since its table of callers was loaded? */
static inline bool profil_file_is_as_loaded(const struct profil_file_key *key,
					    const struct inode *inode)
{
	const struct timespec64 mtime = inode_get_mtime(inode);

	return timespec64_equal(&key->mtime, &mtime);
}

/* Without chains, a bucket has no caller. */
static inline u64 profil_bucket_size(bool has_caller)
{
	return has_caller ? sizeof(struct profil_watch_bucket) :
			    offsetof(struct profil_watch_bucket, caller);
}

/* Context: any. */
static inline void profil_table_add(__u64 *number, u64 n)
{
	atomic64_add(n, (atomic64_t *)number);
}

/* callers.c: tables of callers that users have loaded */

struct profil_callers *profil_callers_load(struct profil_watcher *watcher,
					   const void __user *from, u64 bytes);
void profil_callers_drop(struct profil_callers *callers);

/* chain.c: ticks by chain of callers, on x86-64 only */

#ifdef CONFIG_X86_64
int profil_chain_get(void);
void profil_chain_put(void);
void profil_chain_tick(struct profil_watcher *watcher, u32 image, u32 nr,
		       struct pt_regs *regs);
void profil_chain_wait(struct profil_watcher *watcher, u32 image,
		       const struct profil_due *due);
#else
static inline int profil_chain_get(void)
{
	return -EOPNOTSUPP;
}

static inline void profil_chain_put(void)
{
}

static inline void profil_chain_tick(struct profil_watcher *watcher, u32 image,
				     u32 nr, struct pt_regs *regs)
{
}

static inline void profil_chain_wait(struct profil_watcher *watcher, u32 image,
				     const struct profil_due *due)
{
}
#endif

/* Count ticks. Arguments and context: as of profil_table_tick(). */
static __always_inline void profil_watcher_tick(struct profil_watcher *watcher,
						u32 image, u32 nr,
						struct pt_regs *regs)
{
	if (profil_watcher_has_chains(watcher))
		profil_chain_tick(watcher, image, nr, regs);
	else
		profil_table_tick(watcher, image, nr, regs);
}

/*
 * Count ticks of a wait, without a chain. @late: the thread, if it is not the
 * current one. Context: as of profil_table_wait().
 */
static inline void profil_watcher_wait(struct profil_watcher *watcher,
				       u32 image, const struct profil_due *due,
				       const struct profil_deferred *late)
{
	profil_table_wait(watcher, image, due, PROFIL_CALLER_UNKNOWN, true,
			  late);
	if (profil_watcher_has_chains(watcher))
		atomic64_add(due->blocked + due->runnable,
			     &watcher->chains[PROFIL_CHAIN_BUSY]);
}

/* tick.c */

void profil_clock_refresh_watch(struct profil_watcher *watcher);
void profil_clock_refresh_process(const struct signal_struct *signal);

/* watch.c: watches from beginning to end */

struct profil_watcher *profil_watch_begin(struct profil_watch *request);
u32 profil_watch_read(struct profil_watcher *watcher,
		      struct profil_watch_status *status);
void profil_watch_has_seen(struct profil_watcher *watcher, u32 named);
int profil_watch_stop(struct profil_watcher *watcher);
void profil_watch_end(struct profil_watcher *watcher);
int profil_watch_collect(struct profil_watcher *watcher);
int profil_watch_mmap(struct profil_watcher *watcher,
		      struct vm_area_struct *vma);
int profil_watch_unwind(struct profil_watcher *watcher,
			const struct profil_watch_unwind *request);
bool profil_watch_is_news(const struct profil_watcher *watcher);

#endif /* PROFIL_WATCHER_H */
