// SPDX-License-Identifier: GPL-2.0-only
/*
 * session.c - sessions, and the stats of ended sessions
 *
 * No process can request the status of a profile once its address space is
 * gone, and a process that is killed has no chance to. So a session that ends
 * adds its stats to the open file by which it was begun; one that was inherited
 * has the file of its parent.
 *
 * Context: process, may sleep, profil_session_create() also in fork with
 * mmap_lock held for writing.
 */
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "profil_private.h"

/* Sessions that have not been freed. */
static atomic_t profil_nr_sessions = ATOMIC_INIT(0);

/**
 * profil_file_create() - stats of no session
 *
 * Return: the file, with one reference, or NULL.
 */
struct profil_file *profil_file_create(void)
{
	struct profil_file *file = kzalloc_obj(*file, GFP_KERNEL_ACCOUNT);

	if (!file)
		return NULL;
	refcount_set(&file->refs, 1);
	spin_lock_init(&file->lock);
	return file;
}

void profil_file_put(struct profil_file *file)
{
	if (refcount_dec_and_test(&file->refs))
		kfree(file);
}

static void profil_session_free(struct work_struct *work)
{
	struct profil_session *session =
		container_of(work, struct profil_session, free);

	irq_work_sync(&session->pending.kick);
	/* If the program unmapped its anchor these may be left */
	profil_flush_exit(session);
	profil_session_record(session);
	profil_file_put(session->file);
	profil_config_put(session->config);
	profil_user_put(session->user);
	mmdrop(session->mm);
	kvfree(session);
	if (atomic_dec_and_test(&profil_nr_sessions))
		wake_up_var(&profil_nr_sessions);
}

/* Drop a reference to a session. The last one may be that of an interrupt. */
void profil_session_put(struct profil_session *session)
{
	if (!refcount_dec_and_test(&session->refs))
		return;
	if (hardirq_count())
		queue_work(profil_wq, &session->free);
	else
		profil_session_free(&session->free);
}

/**
 * profil_session_create() - make a session that has taken no tick yet
 * @config: its parsed request; gets a reference
 * @mm: its address space
 * @file: where its stats go; gets a reference
 * @user: the user to charge; gets a reference
 *
 * Return: a session with one reference, or NULL.
 */
struct profil_session *profil_session_create(struct profil_config *config,
					     struct mm_struct *mm,
					     struct profil_file *file,
					     struct profil_user *user)
{
	u32 nr = config->map.nr_regions;
	struct profil_session *session;
	u32 i;

	session = kvzalloc(struct_size(session, stats, nr), GFP_KERNEL_ACCOUNT);
	if (!session)
		return NULL;
	atomic_inc(&profil_nr_sessions);
	refcount_inc(&config->refs);
	session->config = config;
	mmgrab(mm);
	session->mm = mm;
	refcount_inc(&file->refs);
	session->file = file;
	spin_lock(&file->lock);
	file->running++;
	spin_unlock(&file->lock);
	session->user = profil_user_hold(user);
	session->state = PROFIL_STATE_ON;
	refcount_set(&session->refs, 1);
	mutex_init(&session->flush);
	profil_pending_setup(session);
	INIT_WORK(&session->free, profil_session_free);
	for (i = 0; i < nr; i++)
		session->stats[i].state = config->map.counters[i].state;
	return session;
}

/*
 * Ticks in kernel mode are read first, as they are written last: there are
 * never more of them than of all.
 */
static void profil_region_read(const struct profil_region_stats *stats,
			       struct profil_region_status *region)
{
	region->kernel = atomic64_read(&stats->kernel);
	/* Pairs with the barriers in tick.c */
	smp_rmb();
	region->counted = atomic64_read(&stats->counted);
	region->clipped = atomic64_read(&stats->clipped);
	region->lost = atomic64_read(&stats->lost);
	region->state = READ_ONCE(stats->state);
}

/**
 * profil_session_read() - the stats, of one moment
 * @session: the session, with @flush held unless it has ended
 * @status: gets all but its size and the caller's wishes
 * @regions: gets the stats of the first @nr regions
 * @nr: not more than the session has
 *
 * Ticks may be counted meanwhile. Each is added to one number only, and the
 * sums are made of what is read here, so that they agree.
 */
void profil_session_read(struct profil_session *session,
			 struct profil_status *status,
			 struct profil_region_status *regions, u32 nr)
{
	struct profil_pending *pending = &session->pending;
	const struct profil_config *config = session->config;
	struct profil_counts *counts = &status->counts;
	struct profil_region_status region = { 0 };
	u32 i;

	status->state = READ_ONCE(session->state);
	status->flags = config->flags;
	status->width = config->width;
	status->period_ns = config->period_ns;
	status->nr_regions = config->map.nr_regions;
	status->cpu_time_ns = atomic64_read(&session->cpu_ns);
	status->unfollowed = atomic64_read(&session->unfollowed);
	memset(counts, 0, sizeof(*counts));
	counts->left_out = atomic64_read(&session->left_out);
	counts->kernel = counts->left_out +
			 atomic64_read(&session->outside_kernel);
	for (i = 0; i < config->map.nr_regions; i++) {
		profil_region_read(&session->stats[i], &region);
		counts->kernel += region.kernel;
		counts->counted += region.counted;
		counts->clipped += region.clipped;
		counts->lost += region.lost;
		if (i < nr)
			regions[i] = region;
		cond_resched();
	}
	/* Pairs with the barriers in tick.c */
	smp_rmb();
	counts->outside = atomic64_read(&session->outside);
	counts->ticks = counts->counted + counts->clipped + counts->outside +
			counts->lost + counts->left_out;

	status->pending = 0;
	raw_spin_lock_irq(&pending->lock);
	for (i = 0; i < pending->nr; i++)
		status->pending += pending->entries[i].nr;
	raw_spin_unlock_irq(&pending->lock);
}

/**
 * profil_session_record() - the session has ended: add its stats to its file's
 * @session: takes no more ticks, and has no pending ones; does nothing the
 *	second time
 */
void profil_session_record(struct profil_session *session)
{
	struct profil_file *file = session->file;
	struct profil_status status;

	if (atomic_xchg(&session->is_recorded, 1))
		return;
	profil_session_read(session, &status, NULL, 0);
	spin_lock(&file->lock);
	file->running--;
	file->cpu_ns += status.cpu_time_ns;
	file->unfollowed += status.unfollowed;
	file->counts.ticks += status.counts.ticks;
	file->counts.counted += status.counts.counted;
	file->counts.clipped += status.counts.clipped;
	file->counts.outside += status.counts.outside;
	file->counts.lost += status.counts.lost;
	file->counts.left_out += status.counts.left_out;
	file->counts.kernel += status.counts.kernel;
	spin_unlock(&file->lock);
}

/**
 * profil_session_stop() - write the last ticks and end
 * @session: of the calling process, published no more and refreshed
 */
void profil_session_stop(struct profil_session *session)
{
	profil_flush_last(session);
	cmpxchg(&session->state, PROFIL_STATE_ON, PROFIL_STATE_OFF);
	profil_session_record(session);
}

/* No new sessions can begin any more, but old ones may have ticks to write. */
void profil_session_wait_for_all(void)
{
	wait_var_event(&profil_nr_sessions, !atomic_read(&profil_nr_sessions));
}
