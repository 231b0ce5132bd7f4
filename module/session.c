// SPDX-License-Identifier: GPL-2.0-only
/*
 * session.c - stats of sessions, and of those that have ended
 *
 * No process can request the status of a profile once its address space is
 * gone, and a process that is killed has no chance to. So a session that ends
 * adds its stats to the open file by which it was begun; one that was inherited
 * has the file of its parent.
 *
 * Context: process, may sleep.
 */
#include <linux/sched.h>
#include <linux/slab.h>

#include "profil_private.h"

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

	status->state = READ_ONCE(session->sink.state);
	status->flags = config->flags;
	status->width = config->width;
	status->period_ns = session->sink.period_ns;
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
