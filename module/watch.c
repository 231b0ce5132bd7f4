// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch.c - a watch from beginning to end, and its stats
 *
 * A watch belongs to an open file.
 *
 * Context: process, may sleep, unless a function says otherwise.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/vmalloc.h>
#include <linux/wait_bit.h>

#include "profil_private.h"
#include "thread.h"
#include "watcher.h"

/* --- the request */

#define PROFIL_MAX_BUCKET_SHIFT	12

/**
 * struct profil_room - limits of one size of a request
 * @standard: what 0 stands for
 * @min: the least
 * @max: the most
 */
struct profil_room {
	u32 standard;
	u32 min;
	u32 max;
};

static int profil_check_room(u32 *size, const struct profil_room *room)
{
	if (!*size)
		*size = room->standard;
	return *size < room->min || *size > room->max ? -EINVAL : 0;
}

static int profil_check_sizes(struct profil_watch *request)
{
	static const struct profil_room processes = { 4096, 1, 1 << 20 };
	static const struct profil_room images = { 1024, 2, 1 << 20 };
	static const struct profil_room objects = { 1024, 8, 1 << 20 };
	static const struct profil_room buckets = { 1 << 16, 64, 1 << 24 };
	static const struct profil_room nodes = { 1 << 17, 64, 1 << 24 };
	static const struct profil_room names = { 1 << 17, 4096, 1 << 26 };
	static const struct profil_room threads = { 8192, 1, 1 << 20 };
	bool has_chains = request->flags & PROFIL_WATCH_CHAINS;
	int err;

	err = profil_check_room(&request->processes, &processes) ?:
	      profil_check_room(&request->images, &images) ?:
	      profil_check_room(&request->objects, &objects) ?:
	      profil_check_room(&request->buckets,
				has_chains ? &nodes : &buckets) ?:
	      profil_check_room(&request->names, &names);
	if (!err && request->flags & PROFIL_WATCH_WALL)
		err = profil_check_room(&request->threads, &threads);
	if (err)
		return err;
	request->buckets = roundup_pow_of_two(request->buckets);
	return request->bucket_shift > PROFIL_MAX_BUCKET_SHIFT ? -EINVAL : 0;
}

static int profil_check_target(const struct profil_watch *request)
{
	u32 of_process = PROFIL_WATCH_CHILDREN | PROFIL_WATCH_AT_EXEC;

	if (!IS_ENABLED(CONFIG_X86_64) && request->flags & PROFIL_WATCH_CHAINS)
		return -EOPNOTSUPP;
	if (request->flags & ~PROFIL_WATCH_FLAGS ||
	    request->target > PROFIL_WATCH_MACHINE)
		return -EINVAL;
	if (request->flags & of_process &&
	    request->target != PROFIL_WATCH_PROCESS)
		return -EINVAL;
	if (request->target == PROFIL_WATCH_MACHINE && request->id)
		return -EINVAL;
	if (request->flags & PROFIL_WATCH_CALL_SITES &&
	    !(request->flags & PROFIL_WATCH_CHAINS))
		return -EINVAL;
	if (request->flags & PROFIL_WATCH_WALL ?
	    request->target == PROFIL_WATCH_MACHINE : request->threads)
		return -EINVAL;
	return request->reserved ? -EINVAL : 0;
}

/* What only CAP_PERFMON allows; profil_join_process() checks the process. */
static int profil_check_rights(const struct profil_watcher *watcher)
{
	const struct profil_watch *request = &watcher->request;
	unsigned int scope = READ_ONCE(profil_limits.watch_scope);

	if (profil_watcher_is_perfmon(watcher))
		return 0;
	/* Anything may be written to the parameter */
	if (scope == PROFIL_SCOPE_NOBODY || scope > PROFIL_SCOPE_INSPECT ||
	    (scope == PROFIL_SCOPE_DESCENDANTS &&
	     request->target != PROFIL_WATCH_PROCESS))
		return -EPERM;
	if (request->flags & PROFIL_WATCH_KERNEL_TEXT ||
	    request->target == PROFIL_WATCH_MACHINE)
		return -EPERM;
	if (request->target == PROFIL_WATCH_USER &&
	    !uid_eq(watcher->uid, watcher->cred->uid))
		return -EPERM;
	return 0;
}

/* --- beginning and end */

static int profil_find_target(struct profil_watcher *watcher)
{
	const struct profil_watch *request = &watcher->request;
	struct cgroup * __maybe_unused cgroup;

	if (request->target == PROFIL_WATCH_USER) {
		watcher->uid = make_kuid(current_user_ns(), request->id);
		return uid_valid(watcher->uid) ? 0 : -EINVAL;
	}
	watcher->uid = watcher->cred->uid;
	if (request->target != PROFIL_WATCH_CGROUP)
		return 0;
#ifdef CONFIG_CGROUPS
	cgroup = cgroup_get_from_fd(request->id);
	if (IS_ERR(cgroup))
		return -EBADF;
	watcher->cgroup = cgroup;
	return 0;
#else
	return -EOPNOTSUPP;
#endif
}

/*
 * Have no CPU and no process know the watch any more.
 *
 * @collect: profil_user_collect() has been called: count the waits that go on with
 *	their chains
 *
 * Context: watcher->ending held.
 * Return: whether the watch was on; it was if @collect.
 */
static bool profil_watch_undo(struct profil_watcher *watcher, bool collect)
{
	bool was_on;
	u64 now;

	was_on = xchg(&watcher->sink.state, PROFIL_STATE_OFF) ==
		 PROFIL_STATE_ON;
	if (was_on) {
		profil_clock_refresh_watch(watcher);
		now = ktime_get_ns();
		WRITE_ONCE(watcher->ended, now);
		/* What a killed caller has not collected has no chain */
		if (collect)
			profil_threads_collect(watcher, now);
		profil_threads_end(watcher, now);
		/* A CPU that switches a thread in may just be counting */
		if (profil_watcher_is_wall(watcher))
			profil_clock_refresh_watch(watcher);
		profil_members_end(watcher);
	}
	return was_on;
}

/* Has a watch waits that go on? Context: watcher->ending held. */
static bool profil_watch_is_collected(const struct profil_watcher *watcher)
{
	return profil_watcher_is_wall(watcher) && profil_watcher_is_on(watcher);
}

static bool profil_watch_abandon(struct profil_watcher *watcher)
{
	bool was_on;

	mutex_lock(&watcher->ending);
	was_on = profil_watch_undo(watcher, false);
	mutex_unlock(&watcher->ending);
	return was_on;
}

/* Context: the clock is up. */
static int profil_watch_start(struct profil_watcher *watcher)
{
	int err;

	err = profil_find_target(watcher);
	if (!err)
		err = profil_check_rights(watcher);
	if (!err)
		err = profil_watcher_alloc(watcher);
	if (err)
		return err;
	profil_table_init(watcher);
	WRITE_ONCE(watcher->sink.state, PROFIL_STATE_ON);
	err = profil_members_begin(watcher);
	/* A process that joined may run, and have forked, by now */
	if (err)
		profil_watch_abandon(watcher);
	else
		profil_clock_refresh_watch(watcher);
	return err;
}

/**
 * profil_watch_begin() - begin a watch
 * @request: with a valid period; gets what was granted
 *
 * Return: the watch, with one reference; or an error pointer, see struct
 * profil_watch.
 */
struct profil_watcher *profil_watch_begin(struct profil_watch *request)
{
	struct profil_watcher *watcher;
	int err;

	err = profil_check_target(request) ?: profil_check_sizes(request);
	if (err)
		return ERR_PTR(err);
	watcher = profil_watcher_new(request);
	if (!watcher)
		return ERR_PTR(-ENOMEM);
	err = profil_clock_get(true);
	if (!err) {
		err = profil_watch_start(watcher);
		if (err)
			profil_clock_put(true);
	}
	if (err) {
		profil_watcher_end(watcher);
		return ERR_PTR(err);
	}
	*request = watcher->request;
	return watcher;
}

/**
 * profil_watch_end() - end a watch, if it is on, and drop a reference to it
 * @watcher: the watch; nobody else has its file
 */
void profil_watch_end(struct profil_watcher *watcher)
{
	if (profil_watch_abandon(watcher))
		profil_clock_put(true);
	profil_watcher_end(watcher);
}

/**
 * profil_watch_stop() - end a watch, if it is on
 * @watcher: the watch
 *
 * Waits that go on are counted with their chains. If another task is ending the
 * watch, no more ticks come when this returns, either. One that collects waits
 * may get no CPU for a long time: a fatal signal ends the waiting for it.
 *
 * Return: 0; -EINTR, a fatal signal has arrived, and nothing has changed.
 */
int profil_watch_stop(struct profil_watcher *watcher)
{
	bool was_on, collect;
	int err = 0;

	if (mutex_lock_killable(&watcher->ending))
		return -EINTR;
	collect = profil_watch_is_collected(watcher);
	if (collect)
		err = profil_user_collect(watcher->user);
	was_on = !err && profil_watch_undo(watcher, collect);
	mutex_unlock(&watcher->ending);
	if (was_on)
		profil_clock_put(true);
	return err;
}

/**
 * profil_watch_collect() - count the waits that go on
 * @watcher: the watch
 *
 * Return: 0 or -EINTR.
 */
int profil_watch_collect(struct profil_watcher *watcher)
{
	int err = 0;

	if (mutex_lock_killable(&watcher->ending))
		return -EINTR;
	if (profil_watch_is_collected(watcher)) {
		err = profil_user_collect(watcher->user);
		if (!err)
			err = profil_threads_collect(watcher, ktime_get_ns());
	}
	mutex_unlock(&watcher->ending);
	return err;
}

/**
 * profil_watch_read() - the stats
 * @watcher: the watch; its CPU time is read as of the last refresh
 * @status: gets all but its size
 *
 * Each tick is added to one number only, and the sum is made of what is read
 * here, so that they agree.
 *
 * Return: for profil_watch_has_seen().
 */
u32 profil_watch_read(struct profil_watcher *watcher,
		      struct profil_watch_status *status)
{
	u32 nr = READ_ONCE(watcher->table->nr_images);
	/* Pairs with the release in profil_name_objects(). */
	u32 named = smp_load_acquire(&watcher->named);
	u32 i;

	for (i = 0; i < nr; i++) {
		const struct profil_watch_image *image = &watcher->images[i];

		status->cpu_time_ns += READ_ONCE(image->cpu_time_ns);
		status->counted += READ_ONCE(image->counted);
		status->coarse += READ_ONCE(image->coarse);
		status->kernel += READ_ONCE(image->kernel);
		status->unresolved += READ_ONCE(image->unresolved);
		status->blocked += READ_ONCE(image->blocked);
		status->runnable += READ_ONCE(image->runnable);
		status->idle += READ_ONCE(image->idle);
		cond_resched();
	}
	status->ticks = status->counted + status->coarse + status->kernel +
			status->unresolved;
	status->state = READ_ONCE(watcher->sink.state);
	status->period_ns = watcher->sink.period_ns;
	status->pending = atomic64_read(&watcher->pending);
	status->withheld = atomic64_read(&watcher->withheld);
	status->unfollowed = atomic64_read(&watcher->unfollowed);
	status->unfollowed_threads = atomic64_read(&watcher->unfollowed_threads);
	if (status->state == PROFIL_STATE_ON) {
		status->processes = READ_ONCE(watcher->nr_members);
		profil_threads_read(watcher, status);
	}
	status->images = nr;
	status->objects = READ_ONCE(watcher->table->nr_objects);
	status->buckets = READ_ONCE(watcher->nr_buckets);
	status->names = READ_ONCE(watcher->names_used);
	status->tables = atomic_read(&watcher->tables);
	for (i = 0; i < PROFIL_CHAIN_ENDS; i++)
		status->chains[i] = atomic64_read(&watcher->chains[i]);
	return named;
}

/* The caller has the stats; @named is from profil_watch_read(). */
void profil_watch_has_seen(struct profil_watcher *watcher, u32 named)
{
	WRITE_ONCE(watcher->seen, named);
}

/**
 * profil_watch_is_news() - have more paths become known since the last reading?
 * @watcher: the watch
 *
 * Context: any. Waiters on watcher->poll are woken when this becomes true.
 * Return: whether they have.
 */
bool profil_watch_is_news(const struct profil_watcher *watcher)
{
	return READ_ONCE(watcher->named) != READ_ONCE(watcher->seen);
}

/* --- tables of callers */

/*
 * The file of an object for which a table is loaded.
 *
 * @mtime: is set to when it was last written to; 0 for the vDSO
 *
 * Return: the file, for fput(); NULL for the vDSO; or an error pointer: -EBADF,
 * -EINVAL.
 */
static struct file *profil_code_file(int fd, struct timespec64 *mtime)
{
	struct inode *inode;
	struct file *file;

	*mtime = (struct timespec64) { 0 };
	if (fd == -1)
		return NULL;
	file = fget(fd);
	if (!file)
		return ERR_PTR(-EBADF);
	inode = d_real_inode(file_dentry(file));
	*mtime = inode_get_mtime(inode);
	if (S_ISREG(inode->i_mode))
		return file;
	fput(file);
	return ERR_PTR(-EINVAL);
}

/* Return: index of the object; 0 if there is no room for it. */
static u32 profil_code_object(struct profil_watcher *watcher, struct file *file)
{
	if (!file)
		return PROFIL_OBJECT_VDSO;
	return profil_table_object(watcher, file,
				   d_real_inode(file_dentry(file)));
}

/* Return: 0; -ENOSPC; or -EEXIST if the object has a table. */
static int profil_callers_set(struct profil_watcher *watcher, u32 object,
			      struct profil_callers *callers,
			      struct timespec64 mtime)
{
	unsigned long flags;
	int err = -EEXIST;

	if (!object)
		return -ENOSPC;
	raw_spin_lock_irqsave(&watcher->lock, flags);
	if (!watcher->callers[object]) {
		watcher->files[object].mtime = mtime;
		/* Pairs with the acquire in profil_code_set(). */
		smp_store_release(&watcher->callers[object], callers);
		err = 0;
	}
	raw_spin_unlock_irqrestore(&watcher->lock, flags);
	return err;
}

/* @file: of the object */
static int profil_callers_add(struct profil_watcher *watcher, struct file *file,
			      const struct profil_watch_unwind *request,
			      struct timespec64 mtime)
{
	struct profil_callers *callers;
	int err;

	callers = profil_callers_load(watcher, u64_to_user_ptr(request->table),
				      request->bytes);
	if (IS_ERR(callers))
		return PTR_ERR(callers);
	err = profil_callers_set(watcher, profil_code_object(watcher, file),
				 callers, mtime);
	if (err)
		profil_callers_drop(callers);
	else
		atomic_inc(&watcher->tables);
	return err;
}

/**
 * profil_watch_unwind() - load a table of callers
 * @watcher: the watch
 * @request: the request
 *
 * The file may be written to while that takes its time: so the time of the file is
 * that of before.
 *
 * Return: 0, or a negative error number, see struct profil_watch_unwind.
 */
int profil_watch_unwind(struct profil_watcher *watcher,
			const struct profil_watch_unwind *request)
{
	struct timespec64 mtime;
	struct file *file;
	int err;

	if (!profil_watcher_has_chains(watcher) ||
	    !profil_watcher_is_on(watcher))
		return -EINVAL;
	file = profil_code_file(request->fd, &mtime);
	if (IS_ERR(file))
		return PTR_ERR(file);
	err = profil_callers_add(watcher, file, request, mtime);
	if (file)
		fput(file);
	return err;
}

/* --- the mapping */

static vm_fault_t profil_table_fault(struct vm_fault *fault)
{
	struct profil_watcher *watcher = fault->vma->vm_private_data;
	u64 offset = (u64)fault->pgoff << PAGE_SHIFT;

	if (offset >= watcher->request.map_size)
		return VM_FAULT_SIGBUS;
	fault->page = vmalloc_to_page((void *)watcher->table + offset);
	get_page(fault->page);
	return 0;
}

static const struct vm_operations_struct profil_table_ops = {
	.fault = profil_table_fault,
};

/**
 * profil_watch_mmap() - map the table
 * @watcher: the watch; the mapping has a reference to its file
 * @vma: the mapping
 *
 * Context: mmap_lock held for writing.
 * Return: 0; -EACCES if it would be writable or executable; -EINVAL if it is
 * longer than the table.
 */
int profil_watch_mmap(struct profil_watcher *watcher,
		      struct vm_area_struct *vma)
{
	u64 pages = watcher->request.map_size >> PAGE_SHIFT;

	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	if (vma->vm_pgoff > pages || vma_pages(vma) > pages - vma->vm_pgoff)
		return -EINVAL;
	vm_flags_clear(vma, VM_MAYWRITE | VM_MAYEXEC);
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &profil_table_ops;
	vma->vm_private_data = watcher;
	return 0;
}
