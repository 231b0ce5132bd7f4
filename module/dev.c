// SPDX-License-Identifier: GPL-2.0-only
/*
 * dev.c - /dev/profil: copy in, check, call, copy out
 *
 * The only file that sees the caller's structures. What they mean is told in
 * uapi/linux/profil.h.
 *
 * Context: the caller's system call. Takes no locks of its own.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <linux/profil.h>

#include "clock.h"
#include "deliver.h"
#include "dev.h"
#include "ledger.h"
#include "limits.h"
#include "profile.h"
#include "run.h"

/* Sizes of the first version; structures may grow, but never shrink. */
#define PROFIL_SET_SIZE_VER0	offsetofend(struct profil_set, reserved)
#define PROFIL_STATUS_SIZE_VER0	offsetofend(struct profil_status, nr_regions)
#define PROFIL_INFO_SIZE_VER0	offsetofend(struct profil_info, fast)
#define PROFIL_ACCOUNT_SIZE_VER0 offsetofend(struct profil_account, unfollowed)

#define PROFIL_SET_FLAGS	(PROFIL_SET_CHECK | \
				 PROFIL_SET_USER_ONLY | \
				 PROFIL_SET_SVR4_ARITH | \
				 PROFIL_SET_SVR4_STOP | \
				 PROFIL_SET_SCALE_ONE | \
				 PROFIL_SET_OVERFLOW_ANYWHERE | \
				 PROFIL_SET_NO_OVERFLOW)

/*
 * @to begins with the size then, as it was checked: what the program makes of
 * it meanwhile does not matter.
 */
static int profil_copy_in(void *to, size_t size, size_t least,
			  const void __user *from)
{
	u32 user_size;
	int err;

	if (get_user(user_size, (const u32 __user *)from))
		return -EFAULT;
	if (user_size < least)
		return -EINVAL;
	if (user_size > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(to, size, from, user_size);
	*(u32 *)to = user_size;
	return err;
}

/* @from begins with the size that the caller gave, as it was copied in. */
static int profil_copy_out(void __user *to, const void *from, size_t size)
{
	size_t user_size = *(const u32 *)from;
	size_t known = min(size, user_size);

	if (copy_to_user(to, from, known) ||
	    clear_user(to + known, user_size - known))
		return -EFAULT;
	return 0;
}

static bool profil_is_fast_allowed(void)
{
	return !READ_ONCE(profil_limits.restrict_fastprof) &&
	       hrtimer_resolution <= PROFIL_FAST_PERIOD_NS;
}

static int profil_check_period(u64 period_ns)
{
	u64 least = (u64)READ_ONCE(profil_limits.min_period_us) * NSEC_PER_USEC;

	if (period_ns < least || period_ns > PROFIL_MAX_PERIOD_NS)
		return -EINVAL;
	if (period_ns < PROFIL_DEFAULT_PERIOD_NS && !profil_is_fast_allowed())
		return -EACCES;
	return 0;
}

static bool profil_is_timeval_size(const struct profil_set *set)
{
	if (!set->timeval)
		return set->timeval_size == 0;
	return set->timeval_size == 8 || set->timeval_size == 16;
}

static int profil_check_set(struct profil_set *set)
{
	if (set->flags & ~PROFIL_SET_FLAGS || set->reserved)
		return -EINVAL;
	if (set->width != 2 && set->width != 4 && set->width != 8)
		return -EINVAL;
	if (set->flags & PROFIL_SET_SVR4_STOP && set->width != 2)
		return -EINVAL;
	if (!profil_is_timeval_size(set))
		return -EINVAL;
	if (!set->nr_regions ||
	    set->nr_regions > READ_ONCE(profil_limits.max_regions))
		return -E2BIG;
	if (!set->period_ns)
		set->period_ns = PROFIL_DEFAULT_PERIOD_NS;
	return profil_check_period(set->period_ns);
}

/* The time value of one tick, in either form of struct timeval. */
static int profil_put_timeval(const struct profil_set *set)
{
	void __user *to = u64_to_user_ptr(set->timeval);
	u32 seconds = (u32)set->period_ns / (u32)NSEC_PER_SEC;
	u32 micros = (u32)set->period_ns % (u32)NSEC_PER_SEC / NSEC_PER_USEC;
	s64 wide[2] = { seconds, micros };
	s32 narrow[2] = { seconds, micros };
	bool is_wide = set->timeval_size == sizeof(wide);

	if (!set->timeval)
		return 0;
	if (is_wide ? copy_to_user(to, wide, sizeof(wide)) :
		      copy_to_user(to, narrow, sizeof(narrow)))
		return -EFAULT;
	return 0;
}

/*
 * Can the timeval be written, to its end? It is as it was afterwards; half of
 * it may be on a page that is not there.
 */
static int profil_try_timeval(const struct profil_set *set)
{
	void __user *to = u64_to_user_ptr(set->timeval);
	s64 old[2];
	size_t size = min_t(size_t, set->timeval_size, sizeof(old));

	if (copy_from_user(old, to, size) || copy_to_user(to, old, size))
		return -EFAULT;
	return 0;
}

/*
 * The results. Both are first written as they were: if that can be done, so
 * can the true ones, and a caller who gets EFAULT finds nothing changed.
 */
static int profil_put_results(const struct profil_set *set, u64 asked_ns,
			      struct profil_set __user *to)
{
	int err;

	if (put_user(asked_ns, &to->period_ns))
		return -EFAULT;
	err = profil_try_timeval(set);
	if (!err)
		err = profil_put_timeval(set);
	if (err)
		return err;
	return put_user(set->period_ns, &to->period_ns);
}

/*
 * Everything that can fail comes before the new run is published, the results
 * for the caller among it.
 */
static int profil_begin(struct file *file, const struct profil_set *set,
			struct profil_table *table, u64 asked_ns,
			struct profil_set __user *to)
{
	struct profil_profile *profile = profil_profile_lock_or_make(file);
	struct profil_run *old, *run;
	int err = -ENOMEM;

	if (IS_ERR(profile))
		return PTR_ERR(profile);
	run = profil_run_alloc(table, current->mm, file->private_data);
	if (!run)
		goto out;
	err = profil_put_results(set, asked_ns, to);
	if (err) {
		profil_run_put(run);
		goto out;
	}
	old = profil_profile_replace(profile, run);
	if (old)
		profil_run_put(old);
out:
	profil_profile_unlock(profile);
	return err;
}

/* A buffer that was not valid stops what ran before (4.4BSD). */
static void profil_end(void)
{
	struct profil_profile *profile = profil_profile_lock();
	struct profil_run *old;

	if (IS_ERR_OR_NULL(profile))
		return;
	old = profil_profile_replace(profile, NULL);
	if (old)
		profil_run_put(old);
	profil_profile_unlock(profile);
}

static long profil_ioctl_set(struct file *file, void __user *arg)
{
	struct profil_table *table;
	struct profil_region *regions;
	struct profil_set set;
	u64 asked_ns;
	int err;

	err = profil_copy_in(&set, sizeof(set), PROFIL_SET_SIZE_VER0, arg);
	if (err)
		return err;
	asked_ns = set.period_ns;
	err = profil_check_set(&set);
	if (err)
		return err;

	regions = vmemdup_user(u64_to_user_ptr(set.regions),
			       array_size(set.nr_regions, sizeof(*regions)));
	if (IS_ERR(regions))
		return PTR_ERR(regions);
	table = profil_table_make(&set, regions);
	kvfree(regions);
	if (table == ERR_PTR(-EFAULT))
		profil_end();
	if (IS_ERR(table))
		return PTR_ERR(table);

	err = profil_begin(file, &set, table, asked_ns, arg);
	profil_table_put(table);
	return err;
}

/* Both at one moment, so that they agree. */
static void profil_read_run(struct profil_run *run, struct profil_totals *totals,
			    struct profil_tally *tallies, u32 nr,
			    struct profil_status *status)
{
	raw_spin_lock_irq(&run->lock);
	status->state = run->state;
	*totals = run->totals;
	memcpy(tallies, run->tallies, nr * sizeof(*tallies));
	raw_spin_unlock_irq(&run->lock);
}

static void profil_fill_status(struct profil_status *status,
			       const struct profil_table *table,
			       const struct profil_totals *totals)
{
	status->flags = table->flags;
	status->width = table->width;
	status->period_ns = table->period_ns;
	status->nr_regions = table->map.nr_regions;
	status->ticks = totals->taken - totals->pending;
	status->counted = totals->counted;
	status->clipped = totals->clipped;
	status->outside = totals->outside;
	status->lost = totals->lost;
	status->left_out = totals->left_out;
	status->kernel = totals->kernel;
	status->pending = totals->pending;
	status->unfollowed = totals->unfollowed;
}

static int profil_put_tallies(const struct profil_status *status,
			      const struct profil_tally *tallies, u32 nr)
{
	struct profil_region_status __user *to =
		u64_to_user_ptr(status->regions);
	u32 i;

	for (i = 0; i < nr; i++) {
		struct profil_region_status one = {
			.counted = tallies[i].counted,
			.clipped = tallies[i].clipped,
			.lost = tallies[i].lost,
			.kernel = tallies[i].kernel,
			.state = tallies[i].state,
		};

		if (copy_to_user(&to[i], &one, sizeof(one)))
			return -EFAULT;
	}
	return 0;
}

/**
 * struct profil_report - a status on its way to the caller
 * @asked: as it was copied in
 * @run: of which it tells, or NULL
 * @nr: number of regions that the caller has room for
 * @tallies: memory for so many
 */
struct profil_report {
	struct profil_status asked;
	struct profil_run *run;
	u32 nr;
	struct profil_tally *tallies;
};

/* @run: with a reference that goes to the report; NULL if there is none. */
static int profil_report_begin(struct profil_report *report,
			       struct profil_run *run)
{
	report->run = run;
	report->nr = 0;
	report->tallies = NULL;
	if (!run || !report->asked.regions)
		return 0;
	report->nr = min(report->asked.max_regions, run->table->map.nr_regions);
	report->tallies = kvmalloc_array(report->nr, sizeof(*report->tallies),
					 GFP_KERNEL);
	return report->nr && !report->tallies ? -ENOMEM : 0;
}

static void profil_report_end(struct profil_report *report)
{
	kvfree(report->tallies);
	if (report->run)
		profil_run_put(report->run);
}

/* May be done again, when the numbers are others. */
static int profil_report_put(const struct profil_report *report,
			     void __user *arg)
{
	struct profil_run *run = report->run;
	struct profil_status status = {
		.size = report->asked.size,
		.regions = report->asked.regions,
		.max_regions = report->asked.max_regions,
	};
	struct profil_totals totals;
	int err;

	if (run) {
		status.cpu_time_ns = atomic64_read(&run->cpu_ns);
		profil_read_run(run, &totals, report->tallies, report->nr,
				&status);
		profil_fill_status(&status, run->table, &totals);
	}
	err = profil_put_tallies(&status, report->tallies, report->nr);
	return err ? err : profil_copy_out(arg, &status, sizeof(status));
}

static long profil_ioctl_status(void __user *arg)
{
	struct profil_profile *profile;
	struct profil_run *run = NULL;
	struct profil_report report;
	int err;

	err = profil_copy_in(&report.asked, sizeof(report.asked),
			     PROFIL_STATUS_SIZE_VER0, arg);
	if (err)
		return err;
	profile = profil_profile_lock();
	if (IS_ERR(profile))
		return PTR_ERR(profile);
	if (profile)
		run = profil_profile_run(profile);
	if (run) {
		profil_clock_settle(current->mm);
		profil_deliver_now(run);
	}
	err = profil_report_begin(&report, run);
	if (!err)
		err = profil_report_put(&report, arg);
	profil_report_end(&report);
	if (profile)
		profil_profile_unlock(profile);
	return err;
}

/*
 * If the program has unmapped the anchor meanwhile there is nothing left to be
 * replaced, but the run may still have ticks to write.
 */
static void profil_end_run(struct profil_profile *profile,
			   struct profil_run *run)
{
	struct profil_run *old = profil_profile_replace(profile, NULL);

	if (old)
		profil_run_put(old);
	else
		profil_run_stop(run);
}

/*
 * The status is written before the stop as well: if it cannot be, nothing has
 * changed.
 */
static long profil_ioctl_stop(void __user *arg)
{
	struct profil_report report = { .asked.regions = 0 };
	struct profil_profile *profile;
	struct profil_run *run = NULL;
	int err = 0;

	if (arg)
		err = profil_copy_in(&report.asked, sizeof(report.asked),
				     PROFIL_STATUS_SIZE_VER0, arg);
	if (err)
		return err;
	profile = profil_profile_lock();
	if (IS_ERR(profile))
		return PTR_ERR(profile);
	if (profile)
		run = profil_profile_run(profile);
	err = profil_report_begin(&report, run);
	if (arg && !err)
		err = profil_report_put(&report, arg);
	if (run && !err) {
		profil_end_run(profile, run);
		if (arg)
			err = profil_report_put(&report, arg);
	}
	profil_report_end(&report);
	if (profile)
		profil_profile_unlock(profile);
	return err;
}

static long profil_ioctl_info(void __user *arg)
{
	struct profil_info info;
	u32 min_us = READ_ONCE(profil_limits.min_period_us);
	int err;

	err = profil_copy_in(&info, sizeof(info), PROFIL_INFO_SIZE_VER0, arg);
	if (err)
		return err;
	info = (struct profil_info) {
		.size = info.size,
		.set_flags = PROFIL_SET_FLAGS,
		.clock = profil_clock_kind(),
		.max_regions = READ_ONCE(profil_limits.max_regions),
		.default_period_ns = PROFIL_DEFAULT_PERIOD_NS,
		.fast_period_ns = PROFIL_FAST_PERIOD_NS,
		.min_period_ns = (u64)min_us * NSEC_PER_USEC,
		.max_period_ns = PROFIL_MAX_PERIOD_NS,
		.max_profiles = READ_ONCE(profil_limits.max_profiles),
		.fast = profil_is_fast_allowed(),
	};
	return profil_copy_out(arg, &info, sizeof(info));
}

static long profil_ioctl_account(struct file *file, void __user *arg)
{
	struct profil_account account;
	struct profil_sums sums;
	int err;

	err = profil_copy_in(&account, sizeof(account),
			     PROFIL_ACCOUNT_SIZE_VER0, arg);
	if (err)
		return err;
	sums = profil_ledger_read(file->private_data);
	account = (struct profil_account) {
		.size = account.size,
		.running = sums.running,
		.cpu_time_ns = sums.cpu_ns,
		.ticks = sums.totals.taken,
		.counted = sums.totals.counted,
		.clipped = sums.totals.clipped,
		.outside = sums.totals.outside,
		.lost = sums.totals.lost,
		.left_out = sums.totals.left_out,
		.kernel = sums.totals.kernel,
		.unfollowed = sums.totals.unfollowed,
	};
	return profil_copy_out(arg, &account, sizeof(account));
}

static long profil_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *to = (void __user *)arg;

	if (!current->mm)
		return -EPERM;
	switch (cmd) {
	case PROFIL_IOC_SET:
		return profil_ioctl_set(file, to);
	case PROFIL_IOC_STOP:
		return profil_ioctl_stop(to);
	case PROFIL_IOC_STATUS:
		return profil_ioctl_status(to);
	case PROFIL_IOC_INFO:
		return profil_ioctl_info(to);
	case PROFIL_IOC_ACCOUNT:
		return profil_ioctl_account(file, to);
	default:
		return -ENOTTY;
	}
}

static int profil_open(struct inode *inode, struct file *file)
{
	file->private_data = profil_ledger_alloc();
	return file->private_data ? 0 : -ENOMEM;
}

static int profil_release(struct inode *inode, struct file *file)
{
	profil_ledger_put(file->private_data);
	return 0;
}

static const struct file_operations profil_fops = {
	.owner = THIS_MODULE,
	.open = profil_open,
	.release = profil_release,
	.unlocked_ioctl = profil_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = profil_profile_mmap,
};

static struct miscdevice profil_dev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "profil",
	.fops = &profil_fops,
	/*
	 * A caller can act on itself, and learn about itself and about whom it
	 * shares a descriptor with, nothing else.
	 */
	.mode = 0666,
};

int __init profil_dev_init(void)
{
	return misc_register(&profil_dev);
}

void profil_dev_exit(void)
{
	misc_deregister(&profil_dev);
}
