// SPDX-License-Identifier: GPL-2.0-only
/*
 * watcher.c - the memory of a watch, and the references to it
 *
 * All memory but that of tables of callers is allocated when the watch begins; it
 * is freed with the last reference.
 *
 * Context: process, may sleep, unless a function says otherwise.
 */
#include <linux/cgroup.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/wait_bit.h>

#include "profil_private.h"
#include "thread.h"
#include "watcher.h"

/* Of the watch that began last. */
static atomic64_t profil_last_id = ATOMIC64_INIT(0);

/* Watches that have not been freed. */
static atomic_t profil_nr_watchers = ATOMIC_INIT(0);

/* Fails rather than have the OOM killer end a process. */
#define PROFIL_WATCH_GFP	(GFP_KERNEL_ACCOUNT | __GFP_ZERO | \
				 __GFP_NOWARN | __GFP_RETRY_MAYFAIL)

/* Of what the watcher maps. */
#ifdef PROFIL_NO_MAPPED_ACCOUNT
#define PROFIL_TABLE_GFP	(PROFIL_WATCH_GFP & ~__GFP_ACCOUNT)
#else
#define PROFIL_TABLE_GFP	PROFIL_WATCH_GFP
#endif

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
	watcher->buckets = profil_carve(at, request->buckets *
					profil_bucket_size(profil_watcher_has_chains(watcher)));
	watcher->names = profil_carve(at, request->names);
}

static void profil_carve_private(struct profil_watcher *watcher, void **at)
{
	const struct profil_watch *request = &watcher->request;
	u32 images = profil_index_size(request->images);
	u32 objects = profil_index_size(request->objects);
	u32 buckets = profil_index_size(request->buckets);

	watcher->members = profil_carve(at, (u64)request->processes *
					sizeof(*watcher->members));
	watcher->files = profil_carve(at, (u64)request->objects *
				      sizeof(*watcher->files));
	if (profil_watcher_has_chains(watcher))
		watcher->callers = profil_carve(at, (u64)request->objects *
						sizeof(*watcher->callers));
	watcher->threads = profil_carve(at, (u64)request->threads *
					sizeof(*watcher->threads));
	watcher->image_index = profil_carve(at, (u64)images * sizeof(u32));
	watcher->file_index = profil_carve(at, (u64)objects * sizeof(u32));
	watcher->bucket_index = profil_carve(at, (u64)buckets * sizeof(u32));
	watcher->all_deferred = profil_carve(at, PROFIL_MAX_DEFERRED *
					     sizeof(*watcher->all_deferred));
	watcher->image_mask = images - 1;
	watcher->file_mask = objects - 1;
	watcher->bucket_mask = buckets - 1;
}

static void profil_watcher_fill(struct profil_watcher *watcher)
{
	u32 i;

	for (i = 0; i < watcher->request.processes; i++) {
		watcher->members[i].watcher = watcher;
		watcher->members[i].rcu.next = watcher->free_members;
		watcher->free_members = &watcher->members[i].rcu;
		cond_resched();
	}
	for (i = 0; i < watcher->request.threads; i++) {
		watcher->threads[i].rcu.next = watcher->free_threads;
		watcher->free_threads = &watcher->threads[i].rcu;
		cond_resched();
	}
	for (i = 0; i < PROFIL_MAX_DEFERRED; i++) {
		watcher->all_deferred[i].next = watcher->free_deferred;
		watcher->free_deferred = &watcher->all_deferred[i];
	}
	/* Offset 0 means: no path */
	watcher->names_used = 1;
	watcher->named = PROFIL_OBJECT_FILES;
	watcher->seen = PROFIL_OBJECT_FILES;
}

/**
 * profil_watcher_alloc() - allocate the table and the members
 * @watcher: the watch; its request gets the size of the table
 *
 * Return: 0; -EAGAIN, the user has too many pages; -ENOMEM; -EINTR.
 */
int profil_watcher_alloc(struct profil_watcher *watcher)
{
	void *table = NULL;
	void *private = NULL;
	u64 private_size;
	u64 pages = 0;
	int err;

	profil_carve_table(watcher, &table);
	profil_carve_private(watcher, &private);
	watcher->request.map_size = PAGE_ALIGN((unsigned long)table);
	private_size = PAGE_ALIGN((unsigned long)private);
	if (!profil_watcher_is_perfmon(watcher))
		pages = (watcher->request.map_size + private_size) >>
			PAGE_SHIFT;
	err = profil_user_charge_watch(watcher->user, pages,
				       profil_max_watch_pages());
	if (err)
		return err;
	watcher->pages = pages;

	if (profil_watcher_has_chains(watcher)) {
		err = profil_chain_get();
		if (err)
			return err;
	}
	table = __vmalloc(watcher->request.map_size, PROFIL_TABLE_GFP);
	private = __vmalloc(private_size, PROFIL_WATCH_GFP);
	if (!table || !private) {
		vfree(table);
		vfree(private);
		if (profil_watcher_has_chains(watcher))
			profil_chain_put();
		return -ENOMEM;
	}
	watcher->private = private;
	profil_carve_table(watcher, &table);
	profil_carve_private(watcher, &private);
	profil_watcher_fill(watcher);
	return 0;
}

/* Forget the ticks that have no outcome: nobody can read the table any more. */
static void profil_watcher_forget(struct profil_watcher *watcher)
{
	struct profil_deferred *deferred;

	cancel_delayed_work_sync(&watcher->lookup);
	for (deferred = watcher->deferred; deferred; deferred = deferred->next)
		mmdrop(deferred->mm);
}

/* The table is not read any more, by no tick and by no watcher. */
static void profil_watcher_drop_chains(struct profil_watcher *watcher)
{
	u32 i;

	for (i = 0; i < watcher->table->nr_objects; i++) {
		if (watcher->callers[i])
			profil_callers_drop(watcher->callers[i]);
		cond_resched();
	}
	profil_chain_put();
}

static void profil_watcher_free(struct work_struct *work)
{
	struct profil_watcher *watcher =
		container_of(to_rcu_work(work), struct profil_watcher, free);

	if (watcher->private) {
		profil_watcher_forget(watcher);
		cancel_work_sync(&watcher->naming);
		for (; watcher->named < watcher->table->nr_objects; cond_resched())
			fput(watcher->files[watcher->named++].file);
		if (profil_watcher_has_chains(watcher))
			profil_watcher_drop_chains(watcher);
	}
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

/**
 * profil_watcher_new() - make a watch of nothing yet
 * @request: valid
 *
 * Return: the watch, with one reference, or NULL.
 */
struct profil_watcher *profil_watcher_new(const struct profil_watch *request)
{
	struct profil_user *user = profil_user_get();
	struct profil_watcher *watcher;
	u32 i;

	if (!user)
		return NULL;
	watcher = kzalloc(sizeof(*watcher), GFP_KERNEL_ACCOUNT);
	if (!watcher) {
		profil_user_put(user);
		return NULL;
	}
	atomic_inc(&profil_nr_watchers);
	watcher->id = atomic64_inc_return(&profil_last_id);
	refcount_set(&watcher->refs, 1);
	watcher->request = *request;
	watcher->sink.period_ns = request->period_ns;
	watcher->sink.is_wall = request->flags & PROFIL_WATCH_WALL;
	if (request->target != PROFIL_WATCH_PROCESS)
		watcher->sink.slot |= PROFIL_SLOT_WIDE;
	if (profil_user_is_perfmon())
		watcher->sink.slot |= PROFIL_SLOT_PERFMON;
	INIT_LIST_HEAD(&watcher->wide);
	watcher->cred = get_current_cred();
	watcher->pid_ns = get_pid_ns(task_active_pid_ns(current));
	watcher->user = user;
	get_random_bytes(watcher->secrets, sizeof(watcher->secrets));
	for (i = 0; i < ARRAY_SIZE(watcher->secrets); i++)
		watcher->secrets[i] |= 1;
	get_random_bytes(watcher->cells, sizeof(watcher->cells));
	init_waitqueue_head(&watcher->poll);
	mutex_init(&watcher->ending);
	raw_spin_lock_init(&watcher->lock);
	INIT_RCU_WORK(&watcher->free, profil_watcher_free);
	return watcher;
}

/* One more reference to a watch. Context: any. */
void profil_watcher_get(struct profil_watcher *watcher)
{
	refcount_inc(&watcher->refs);
}

/*
 * Drop a reference to a watch. A member that was found may be looked at for a
 * grace period after the end. Context: any but with scheduler's locks held.
 */
void profil_watcher_put(struct profil_watcher *watcher)
{
	if (refcount_dec_and_test(&watcher->refs))
		queue_rcu_work(profil_wq, &watcher->free);
}

/*
 * Drop the reference of the open file. Members that have just been removed may
 * keep the memory for a moment: who needs it waits for them, too.
 */
void profil_watcher_end(struct profil_watcher *watcher)
{
	profil_user_expect_uncharge(watcher->user);
	profil_watcher_put(watcher);
}

/* No new watches can begin any more. */
void profil_watcher_wait_for_all(void)
{
	wait_var_event(&profil_nr_watchers, !atomic_read(&profil_nr_watchers));
	/* The last callbacks may still be returning */
	rcu_barrier();
}
