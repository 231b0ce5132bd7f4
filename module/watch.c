// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch.c - a watch from beginning to end, and its stats
 *
 * A watch belongs to an open file. All its memory is allocated when it begins,
 * and freed with the last reference: ticks that a thread is about to look up
 * may keep it for a moment longer than the file.
 *
 * Context: process, may sleep, unless a function says otherwise.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/vmalloc.h>
#include <linux/wait_bit.h>

#include "profil_private.h"
#include "watch.h"

/* Watches that have not been freed. */
static atomic_t profil_nr_watchers = ATOMIC_INIT(0);

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
	static const struct profil_room names = { 1 << 17, 4096, 1 << 26 };
	int err;

	err = profil_check_room(&request->processes, &processes) ?:
	      profil_check_room(&request->images, &images) ?:
	      profil_check_room(&request->objects, &objects) ?:
	      profil_check_room(&request->buckets, &buckets) ?:
	      profil_check_room(&request->names, &names);
	if (err)
		return err;
	request->buckets = roundup_pow_of_two(request->buckets);
	return request->bucket_shift > PROFIL_MAX_BUCKET_SHIFT ? -EINVAL : 0;
}

static int profil_check_target(const struct profil_watch *request)
{
	u32 of_process = PROFIL_WATCH_CHILDREN | PROFIL_WATCH_AT_EXEC;

	if (request->flags & ~PROFIL_WATCH_FLAGS ||
	    request->target > PROFIL_WATCH_MACHINE)
		return -EINVAL;
	if (request->flags & of_process &&
	    request->target != PROFIL_WATCH_PROCESS)
		return -EINVAL;
	if (request->target == PROFIL_WATCH_MACHINE && request->id)
		return -EINVAL;
	/* Without the other way to look up mappings, no tick could be */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && !profil_can_defer())
		return -EOPNOTSUPP;
	return 0;
}

/* What only CAP_PERFMON allows. */
static int profil_check_rights(const struct profil_watcher *watcher)
{
	const struct profil_watch *request = &watcher->request;

	if (profil_watch_is_perfmon(watcher))
		return 0;
	if (request->flags & PROFIL_WATCH_KERNEL_TEXT ||
	    request->target == PROFIL_WATCH_MACHINE)
		return -EPERM;
	if (request->target == PROFIL_WATCH_USER &&
	    !uid_eq(watcher->uid, watcher->cred->uid))
		return -EPERM;
	return 0;
}

/* --- memory */

/* Fails rather than have the OOM killer end a process. */
#define PROFIL_WATCH_GFP	(GFP_KERNEL_ACCOUNT | __GFP_ZERO | \
				 __GFP_NOWARN | __GFP_RETRY_MAYFAIL)

/* Take @size bytes, aligned to 8, from *@at. */
static void *profil_carve(void **at, u64 size)
{
	void *mine = *at;

	*at += ALIGN(size, 8);
	return mine;
}

/* Two entries for each of @nr make short ways to go in a hash table. */
static u32 profil_index_size(u32 nr)
{
	return roundup_pow_of_two(2 * nr);
}

/* Where everything is; with NULL for the memory, only the sizes matter. */
static void profil_carve_table(struct profil_watcher *watcher, void **at)
{
	const struct profil_watch *request = &watcher->request;

	watcher->table = profil_carve(at, sizeof(*watcher->table));
	watcher->images = profil_carve(at, (u64)request->images *
				       sizeof(*watcher->images));
	watcher->objects = profil_carve(at, (u64)request->objects *
					sizeof(*watcher->objects));
	watcher->buckets = profil_carve(at, (u64)request->buckets *
					sizeof(*watcher->buckets));
	watcher->names = profil_carve(at, request->names);
}

static void profil_carve_private(struct profil_watcher *watcher, void **at)
{
	const struct profil_watch *request = &watcher->request;
	u32 images = profil_index_size(request->images);
	u32 objects = profil_index_size(request->objects);

	watcher->members = profil_carve(at, (u64)request->processes *
					sizeof(*watcher->members));
	watcher->files = profil_carve(at, (u64)request->objects *
				      sizeof(*watcher->files));
	watcher->image_index = profil_carve(at, (u64)images * sizeof(u32));
	watcher->file_index = profil_carve(at, (u64)objects * sizeof(u32));
	watcher->deferred = profil_carve(at, PROFIL_MAX_DEFERRED *
					 sizeof(*watcher->deferred));
	watcher->image_mask = images - 1;
	watcher->file_mask = objects - 1;
}

static u64 profil_max_pages(const struct profil_watcher *watcher)
{
	if (profil_watch_is_perfmon(watcher))
		return U64_MAX;
	return (u64)READ_ONCE(profil_limits.max_watch_kb) * SZ_1K / PAGE_SIZE;
}

static int profil_watch_alloc(struct profil_watcher *watcher)
{
	void *table = NULL;
	void *private = NULL;
	u64 private_size;
	u64 pages;
	int err;

	profil_carve_table(watcher, &table);
	profil_carve_private(watcher, &private);
	watcher->request.map_size = PAGE_ALIGN((unsigned long)table);
	private_size = PAGE_ALIGN((unsigned long)private);
	pages = (watcher->request.map_size + private_size) >> PAGE_SHIFT;
	err = profil_user_charge_watch(watcher->user, pages,
				       profil_max_pages(watcher));
	if (err)
		return err;
	watcher->pages = pages;

	table = __vmalloc(watcher->request.map_size, PROFIL_WATCH_GFP);
	private = __vmalloc(private_size, PROFIL_WATCH_GFP);
	watcher->table = table;
	watcher->private = private;
	if (!table || !private)
		return -ENOMEM;
	profil_carve_table(watcher, &table);
	profil_carve_private(watcher, &private);
	return 0;
}

static void profil_watch_fill(struct profil_watcher *watcher)
{
	u32 i;

	for (i = 0; i < watcher->request.processes; i++) {
		watcher->members[i].watcher = watcher;
		watcher->members[i].next = watcher->free_members;
		watcher->free_members = &watcher->members[i];
	}
	for (i = 0; i < PROFIL_MAX_DEFERRED; i++) {
		watcher->deferred[i].watcher = watcher;
		watcher->deferred[i].next = watcher->free_deferred;
		watcher->free_deferred = &watcher->deferred[i];
	}
	/* Offset 0 means: no path */
	watcher->names_used = 1;
	profil_table_init(watcher);
}

static void profil_watch_free(struct work_struct *work)
{
	struct profil_watcher *watcher =
		container_of(to_rcu_work(work), struct profil_watcher, free);
	u32 i;

	cancel_work_sync(&watcher->naming);
	for (i = 0; watcher->private && i < watcher->request.objects; i++)
		if (watcher->files[i].file)
			fput(watcher->files[i].file);
	vfree(watcher->table);
	vfree(watcher->private);
	profil_user_uncharge_watch(watcher->user, watcher->pages);
	profil_user_put(watcher->user);
#ifdef CONFIG_CGROUPS
	if (watcher->cgroup)
		cgroup_put(watcher->cgroup);
#endif
	put_pid_ns(watcher->pid_ns);
	put_cred(watcher->cred);
	kfree(watcher);
	if (atomic_dec_and_test(&profil_nr_watchers))
		wake_up_var(&profil_nr_watchers);
}

/* One more reference to a watch. Context: any. */
void profil_watch_get(struct profil_watcher *watcher)
{
	refcount_inc(&watcher->refs);
}

/*
 * Drop a reference to a watch. A member that was found may be looked at for a
 * grace period after the end. Context: any but with scheduler's locks held.
 */
void profil_watch_put(struct profil_watcher *watcher)
{
	if (!refcount_dec_and_test(&watcher->refs))
		return;
	profil_user_expect_uncharge(watcher->user);
	queue_rcu_work(profil_wq, &watcher->free);
}

static void profil_watch_refresh(struct work_struct *work)
{
	struct profil_watcher *watcher =
		container_of(work, struct profil_watcher, refresh);

	profil_clock_refresh_watch(watcher);
	profil_watch_put(watcher);
}

/**
 * profil_watch_refresh_later() - profil_clock_refresh_watch() from contexts that
 * cannot
 * @watcher: the watch; has other references
 *
 * Context: any but with the scheduler's locks held.
 */
void profil_watch_refresh_later(struct profil_watcher *watcher)
{
	profil_watch_get(watcher);
	if (!queue_work(profil_wq, &watcher->refresh))
		profil_watch_put(watcher);
}

/* No new watches can begin any more. */
void profil_watch_wait_for_all(void)
{
	wait_var_event(&profil_nr_watchers, !atomic_read(&profil_nr_watchers));
	/* The last callbacks may still be returning */
	rcu_barrier();
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

/* Context: the clock is up. */
static int profil_watch_start(struct profil_watcher *watcher)
{
	int err;

	err = profil_find_target(watcher);
	if (!err)
		err = profil_check_rights(watcher);
	if (!err)
		err = profil_watch_alloc(watcher);
	if (err)
		return err;
	profil_watch_fill(watcher);
	WRITE_ONCE(watcher->state, PROFIL_STATE_ON);
	err = profil_members_begin(watcher);
	if (err)
		return err;
	profil_clock_refresh_watch(watcher);
	return 0;
}

/* Return: a watch of nothing yet, or NULL. */
static struct profil_watcher *
profil_watch_new(const struct profil_watch *request)
{
	struct profil_watcher *watcher;
	struct profil_user *user = profil_user_get();

	if (!user)
		return NULL;
	watcher = kzalloc(sizeof(*watcher), GFP_KERNEL_ACCOUNT);
	if (!watcher) {
		profil_user_put(user);
		return NULL;
	}
	atomic_inc(&profil_nr_watchers);
	refcount_set(&watcher->refs, 1);
	watcher->request = *request;
	watcher->period_ns = request->period_ns;
	if (request->target != PROFIL_WATCH_PROCESS)
		watcher->slot |= PROFIL_SLOT_WIDE;
	if (perfmon_capable())
		watcher->slot |= PROFIL_SLOT_PERFMON;
	INIT_LIST_HEAD(&watcher->wide);
	watcher->cred = get_current_cred();
	watcher->pid_ns = get_pid_ns(task_active_pid_ns(current));
	watcher->user = user;
	raw_spin_lock_init(&watcher->lock);
	INIT_WORK(&watcher->naming, profil_table_name_objects);
	INIT_WORK(&watcher->refresh, profil_watch_refresh);
	INIT_RCU_WORK(&watcher->free, profil_watch_free);
	return watcher;
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
	watcher = profil_watch_new(request);
	if (!watcher)
		return ERR_PTR(-ENOMEM);
	err = profil_clock_get_watching();
	if (!err) {
		err = profil_watch_start(watcher);
		if (err)
			profil_clock_put();
	}
	if (err) {
		profil_watch_put(watcher);
		return ERR_PTR(err);
	}
	*request = watcher->request;
	return watcher;
}

/**
 * profil_watch_stop() - end a watch, if it is on
 * @watcher: the watch
 */
void profil_watch_stop(struct profil_watcher *watcher)
{
	if (xchg(&watcher->state, PROFIL_STATE_OFF) != PROFIL_STATE_ON)
		return;
	profil_clock_refresh_watch(watcher);
	profil_members_end(watcher);
	profil_clock_put();
}

/**
 * profil_watch_read() - the stats
 * @watcher: the watch
 * @status: gets all but its size
 *
 * Each tick is added to one number only, and the sum is made of what is read
 * here, so that they agree.
 */
void profil_watch_read(struct profil_watcher *watcher,
		       struct profil_watch_status *status)
{
	u32 nr = READ_ONCE(watcher->table->nr_images);
	u32 i;

	profil_clock_refresh_watch(watcher);
	for (i = 0; i < nr; i++) {
		const struct profil_watch_image *image = &watcher->images[i];

		status->cpu_time_ns += READ_ONCE(image->cpu_time_ns);
		status->counted += READ_ONCE(image->counted);
		status->coarse += READ_ONCE(image->coarse);
		status->kernel += READ_ONCE(image->kernel);
		status->unresolved += READ_ONCE(image->unresolved);
		cond_resched();
	}
	status->ticks = status->counted + status->coarse + status->kernel +
			status->unresolved;
	status->state = READ_ONCE(watcher->state);
	status->period_ns = watcher->period_ns;
	status->pending = atomic64_read(&watcher->pending);
	status->withheld = atomic64_read(&watcher->withheld);
	status->unfollowed = atomic64_read(&watcher->unfollowed);
	if (status->state == PROFIL_STATE_ON)
		status->processes = READ_ONCE(watcher->nr_members);
	status->images = nr;
	status->objects = READ_ONCE(watcher->table->nr_objects);
	status->buckets = READ_ONCE(watcher->nr_buckets);
	status->names = READ_ONCE(watcher->names_used);
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
