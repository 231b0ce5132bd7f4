// SPDX-License-Identifier: GPL-2.0-only
/*
 * dev.c - /dev/profil: copy in, check, call, copy out
 *
 * The only file that sees the caller's structures; uapi/linux/profil.h says
 * what they mean.
 *
 * Context: the caller's system call. Takes no locks of its own.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "profil_private.h"
#include "watcher.h"

#define PROFIL_SET_FLAGS	(PROFIL_SET_CHECK | \
				 PROFIL_SET_USER_ONLY | \
				 PROFIL_SET_SVR4_ARITH | \
				 PROFIL_SET_SVR4_STOP | \
				 PROFIL_SET_SCALE_ONE | \
				 PROFIL_SET_OVERFLOW_ANYWHERE | \
				 PROFIL_SET_NO_OVERFLOW)

/* The argument of a request; every structure begins with its size. */
union profil_argument {
	u32 size;
	struct profil_set set;
	struct profil_status status;
	struct profil_info info;
	struct profil_account account;
	struct profil_watch watch;
	struct profil_watch_status watch_status;
	struct profil_watch_unwind watch_unwind;
};

/* Copy the fields that the caller knows, and zeros for those that we do not. */
static int profil_copy_out(void __user *to, const void *from, size_t known,
			   size_t size)
{
	known = min(known, size);
	if (copy_to_user(to, from, known) ||
	    clear_user(to + known, size - known))
		return -EFAULT;
	return 0;
}

/* --- PROFIL_IOC_SET */

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
	if (period_ns < PROFIL_UNRESTRICTED_PERIOD_NS &&
	    !profil_is_fast_allowed())
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
	s64 old[2];
	size_t size = min_t(size_t, set->timeval_size, sizeof(old));

	/* It may extend into a missing page: change nothing then */
	if (copy_from_user(old, to, size) || copy_to_user(to, old, size))
		return -EFAULT;
	return copy_to_user(to, is_wide ? (void *)wide : (void *)narrow, size) ?
	       -EFAULT : 0;
}

/* A caller that gets EFAULT finds nothing changed. */
static int profil_put_results(const struct profil_set *set, u64 asked_ns,
			      struct profil_set __user *to)
{
	if (put_user(asked_ns, &to->period_ns))
		return -EFAULT;
	if (set->timeval && profil_put_timeval(set))
		return -EFAULT;
	return put_user(set->period_ns, &to->period_ns);
}

/*
 * All that can fail comes before the new session is published, the results for
 * the caller included.
 */
static int profil_begin(struct file *file, const struct profil_set *set,
			struct profil_config *config, u64 asked_ns,
			struct profil_set __user *to)
{
	struct profil_session *session;
	struct profil_ctx *ctx;
	int err = -ENOMEM;

	if (!(file->f_mode & FMODE_READ))
		return -EACCES;
	ctx = profil_ctx_lock_or_create(file);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	session = profil_session_create(config, current->mm,
					file->private_data, ctx->user);
	if (session)
		err = profil_put_results(set, asked_ns, to);
	if (!err)
		profil_ctx_replace(ctx, session);
	else if (session)
		profil_session_put(session);
	profil_ctx_unlock(ctx);
	return err;
}

/* An invalid buffer ends the running session (4.4BSD). */
static void profil_end(void)
{
	struct profil_ctx *ctx = profil_ctx_lock_current();

	if (IS_ERR_OR_NULL(ctx))
		return;
	profil_ctx_replace(ctx, NULL);
	profil_ctx_unlock(ctx);
}

/* As vmemdup_user(), at the expense of the caller's memory cgroup. */
static struct profil_region *profil_copy_regions(const struct profil_set *set)
{
	size_t size = array_size(set->nr_regions, sizeof(struct profil_region));
	struct profil_region *regions = kvmalloc(size, GFP_KERNEL_ACCOUNT);

	if (!regions)
		return ERR_PTR(-ENOMEM);
	if (!copy_from_user(regions, u64_to_user_ptr(set->regions), size))
		return regions;
	kvfree(regions);
	return ERR_PTR(-EFAULT);
}

static int profil_set(struct file *file, union profil_argument *argument,
		      void __user *to)
{
	struct profil_set *set = &argument->set;
	u64 asked_ns = set->period_ns;
	struct profil_region *regions;
	struct profil_config *config;
	int err;

	err = profil_check_set(set);
	if (err)
		return err;
	regions = profil_copy_regions(set);
	if (IS_ERR(regions))
		return PTR_ERR(regions);
	config = profil_config_create(set, regions);
	kvfree(regions);
	if (config == ERR_PTR(-EFAULT))
		profil_end();
	if (IS_ERR(config))
		return PTR_ERR(config);

	err = profil_begin(file, set, config, asked_ns, to);
	profil_config_put(config);
	return err;
}

/* --- PROFIL_IOC_STATUS and PROFIL_IOC_STOP */

/**
 * struct profil_report - a status on its way to the caller
 * @ctx: locked, or NULL
 * @session: with a reference, or NULL
 * @nr: regions that the caller has room for
 * @regions: memory for so many
 */
struct profil_report {
	struct profil_ctx *ctx;
	struct profil_session *session;
	u32 nr;
	struct profil_region_status *regions;
};

static void profil_report_end(struct profil_report *report)
{
	kvfree(report->regions);
	if (report->session)
		profil_session_put(report->session);
	if (report->ctx)
		profil_ctx_unlock(report->ctx);
}

/* Return: 0, -EINTR, or -ENOMEM; profil_report_end() must follow if 0. */
static int profil_report_begin(struct profil_report *report,
			       const struct profil_status *asked)
{
	struct profil_ctx *ctx = profil_ctx_lock_current();

	*report = (struct profil_report) { 0 };
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	report->ctx = ctx;
	if (ctx)
		report->session = profil_ctx_session(ctx);
	if (!report->session || !asked->regions)
		return 0;
	report->nr = min(asked->max_regions,
			 report->session->config->map.nr_regions);
	report->regions = kvmalloc_array(report->nr, sizeof(*report->regions),
					 GFP_KERNEL_ACCOUNT);
	if (!report->nr || report->regions)
		return 0;
	profil_report_end(report);
	return -ENOMEM;
}

/* Can be called again. The numbers are as of the last refresh. */
static int profil_report_put(const struct profil_report *report,
			     const struct profil_status *asked, void __user *to)
{
	struct profil_session *session = report->session;
	struct profil_status status = { 0 };

	if (session) {
		profil_flush_begin(session);
		profil_session_read(session, &status, report->regions,
				    report->nr);
		profil_flush_end(session);
	}
	status.size = asked->size;
	status.regions = asked->regions;
	status.max_regions = asked->max_regions;
	if (copy_to_user(u64_to_user_ptr(asked->regions), report->regions,
			 report->nr * sizeof(*report->regions)))
		return -EFAULT;
	return profil_copy_out(to, &status, sizeof(status), asked->size);
}

static int profil_status(struct file *file, union profil_argument *argument,
			 void __user *to)
{
	struct profil_report report;
	int err;

	err = profil_report_begin(&report, &argument->status);
	if (err)
		return err;
	if (report.session)
		profil_clock_refresh(report.session->mm);
	err = profil_report_put(&report, &argument->status, to);
	profil_report_end(&report);
	return err;
}

/*
 * The status is written before the stop as well: if it cannot be, nothing has
 * changed.
 */
static int profil_stop(struct file *file, union profil_argument *argument,
		       void __user *to)
{
	struct profil_report report;
	int err;

	err = profil_report_begin(&report, &argument->status);
	if (err)
		return err;
	if (to)
		err = profil_report_put(&report, &argument->status, to);
	if (report.session && !err) {
		profil_ctx_replace(report.ctx, NULL);
		/* Not yet done if the anchor was unmapped meanwhile */
		profil_session_stop(report.session);
		if (to)
			err = profil_report_put(&report, &argument->status, to);
	}
	profil_report_end(&report);
	return err;
}

/* --- PROFIL_IOC_INFO and PROFIL_IOC_ACCOUNT */

static int profil_info(struct file *file, union profil_argument *argument,
		       void __user *to)
{
	u32 min_us = READ_ONCE(profil_limits.min_period_us);
	struct profil_info info = {
		.size = argument->size,
		.set_flags = PROFIL_SET_FLAGS,
		.clock = profil_clock_kind(),
		.max_regions = READ_ONCE(profil_limits.max_regions),
		.default_period_ns = PROFIL_DEFAULT_PERIOD_NS,
		.fast_period_ns = PROFIL_FAST_PERIOD_NS,
		.min_period_ns = (u64)min_us * NSEC_PER_USEC,
		.max_period_ns = PROFIL_MAX_PERIOD_NS,
		.max_profiles = READ_ONCE(profil_limits.max_profiles),
		.fast = profil_is_fast_allowed(),
		.watch_flags = PROFIL_WATCH_FLAGS,
		.max_watch_kb = READ_ONCE(profil_limits.max_watch_kb),
	};

	return profil_copy_out(to, &info, sizeof(info), argument->size);
}

static int profil_account(struct file *file, union profil_argument *argument,
			  void __user *to)
{
	struct profil_file *stats = file->private_data;
	struct profil_account account = { .size = argument->size };

	spin_lock(&stats->lock);
	account.running = stats->running;
	account.cpu_time_ns = stats->cpu_ns;
	account.counts = stats->counts;
	account.unfollowed = stats->unfollowed;
	spin_unlock(&stats->lock);
	return profil_copy_out(to, &account, sizeof(account), argument->size);
}

/* --- PROFIL_IOC_WATCH, PROFIL_IOC_WATCH_STATUS, _STOP, _COLLECT and _UNWIND */

static struct profil_watcher *profil_file_watcher(struct file *file)
{
	struct profil_file *stats = file->private_data;

	/* Pairs with the exchange in profil_watch(). */
	return smp_load_acquire(&stats->watcher);
}

static int profil_watch(struct file *file, union profil_argument *argument,
			void __user *to)
{
	struct profil_file *stats = file->private_data;
	struct profil_watch *watch = &argument->watch;
	struct profil_watcher *watcher;
	u32 size = watch->size;
	int err;

	if (!(file->f_mode & FMODE_READ))
		return -EACCES;
	/* A caller that gets EFAULT finds nothing changed */
	if (profil_copy_out(to, watch, sizeof(*watch), size))
		return -EFAULT;
	if (!watch->period_ns)
		watch->period_ns = profil_is_fast_allowed() ?
				   PROFIL_FAST_PERIOD_NS :
				   PROFIL_DEFAULT_PERIOD_NS;
	err = profil_check_period(watch->period_ns);
	if (err)
		return err;
	if (profil_file_watcher(file))
		return -EBUSY;

	watcher = profil_watch_begin(watch);
	if (IS_ERR(watcher))
		return PTR_ERR(watcher);
	err = profil_copy_out(to, watch, sizeof(*watch), size);
	/* Another thread may have been faster */
	if (!err && cmpxchg(&stats->watcher, NULL, watcher))
		err = -EBUSY;
	if (err)
		profil_watch_end(watcher);
	return err;
}

/* As profil_report_put(). */
static int profil_watch_report(struct profil_watcher *watcher,
			       const union profil_argument *argument,
			       void __user *to)
{
	struct profil_watch_status status = { .size = argument->size };
	u32 named = 0;

	if (watcher)
		named = profil_watch_read(watcher, &status);
	if (profil_copy_out(to, &status, sizeof(status), argument->size))
		return -EFAULT;
	if (watcher)
		profil_watch_has_seen(watcher, named);
	return 0;
}

static int profil_watch_status(struct file *file,
			       union profil_argument *argument, void __user *to)
{
	struct profil_watcher *watcher = profil_file_watcher(file);

	if (watcher)
		profil_clock_refresh_watch(watcher);
	return profil_watch_report(watcher, argument, to);
}

/* The status is written before the stop as well, as that of a profile. */
static int profil_watch_request_stop(struct file *file,
				     union profil_argument *argument,
				     void __user *to)
{
	struct profil_watcher *watcher = profil_file_watcher(file);
	int err = 0;

	if (to)
		err = profil_watch_report(watcher, argument, to);
	if (!watcher || err)
		return err;
	err = profil_watch_stop(watcher);
	if (err)
		return err;
	profil_table_settle(watcher);
	return to ? profil_watch_report(watcher, argument, to) : 0;
}

/* In this order, as of a stop; a caller that is killed is not there to see it. */
static int profil_watch_request_collect(struct file *file,
					union profil_argument *argument,
					void __user *to)
{
	struct profil_watcher *watcher = profil_file_watcher(file);
	int err = 0;

	if (to)
		err = profil_watch_report(watcher, argument, to);
	if (!watcher || err)
		return err;
	err = profil_watch_collect(watcher);
	if (err || !to)
		return err;
	profil_clock_refresh_watch(watcher);
	return profil_watch_report(watcher, argument, to);
}

static int profil_watch_request_unwind(struct file *file,
				       union profil_argument *argument,
				       void __user *to)
{
	struct profil_watcher *watcher = profil_file_watcher(file);

	return watcher ? profil_watch_unwind(watcher,
					     &argument->watch_unwind) : -EINVAL;
}

/* --- the device */

/**
 * struct profil_request - a request of the device
 * @size: of its argument
 * @min_size: of its argument in the first version of the interface
 * @is_optional: the argument may be NULL
 * @function: does it; @to is the caller's argument
 */
struct profil_request {
	u32 size;
	u32 min_size;
	bool is_optional;
	int (*function)(struct file *file, union profil_argument *argument,
			void __user *to);
};

#define PROFIL_REQUEST(ioc, structure, last, fn, ...) \
	[_IOC_NR(ioc)] = { \
		.size = sizeof(structure), \
		.min_size = offsetofend(structure, last), \
		.function = fn, \
		__VA_ARGS__ \
	}

static const struct profil_request profil_requests[] = {
	PROFIL_REQUEST(PROFIL_IOC_SET, struct profil_set, reserved, profil_set),
	PROFIL_REQUEST(PROFIL_IOC_STOP, struct profil_status, nr_regions,
		       profil_stop, .is_optional = true),
	PROFIL_REQUEST(PROFIL_IOC_STATUS, struct profil_status, nr_regions,
		       profil_status),
	PROFIL_REQUEST(PROFIL_IOC_INFO, struct profil_info, fast, profil_info),
	PROFIL_REQUEST(PROFIL_IOC_ACCOUNT, struct profil_account, unfollowed,
		       profil_account),
	PROFIL_REQUEST(PROFIL_IOC_WATCH, struct profil_watch, map_size,
		       profil_watch),
	PROFIL_REQUEST(PROFIL_IOC_WATCH_STATUS, struct profil_watch_status,
		       tables, profil_watch_status),
	PROFIL_REQUEST(PROFIL_IOC_WATCH_STOP, struct profil_watch_status,
		       tables, profil_watch_request_stop,
		       .is_optional = true),
	PROFIL_REQUEST(PROFIL_IOC_WATCH_UNWIND, struct profil_watch_unwind,
		       bytes, profil_watch_request_unwind),
	PROFIL_REQUEST(PROFIL_IOC_WATCH_COLLECT, struct profil_watch_status,
		       tables, profil_watch_request_collect,
		       .is_optional = true),
};

/* The program may change the size after it was read, to no effect. */
static int profil_copy_in(union profil_argument *argument,
			  const struct profil_request *request,
			  const void __user *from)
{
	u32 size;
	int err;

	if (get_user(size, (const u32 __user *)from))
		return -EFAULT;
	if (size < request->min_size)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(argument, request->size, from, size);
	argument->size = size;
	return err;
}

static long profil_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	unsigned int nr = _IOC_NR(cmd);
	const struct profil_request *request;
	union profil_argument argument = { };
	void __user *to = (void __user *)arg;
	int err;

	if (!current->mm)
		return -EPERM;
	if (nr >= ARRAY_SIZE(profil_requests) ||
	    cmd != _IO(PROFIL_IOC_TYPE, nr))
		return -ENOTTY;
	nr = array_index_nospec(nr, ARRAY_SIZE(profil_requests));
	request = &profil_requests[nr];
	if (to || !request->is_optional) {
		err = profil_copy_in(&argument, request, to);
		if (err)
			return err;
	}
	return request->function(file, &argument, to);
}

static int profil_open(struct inode *inode, struct file *file)
{
	file->private_data = profil_file_create();
	return file->private_data ? 0 : -ENOMEM;
}

static int profil_release(struct inode *inode, struct file *file)
{
	struct profil_watcher *watcher = profil_file_watcher(file);

	if (watcher)
		profil_watch_end(watcher);
	profil_file_put(file->private_data);
	return 0;
}

/* A mapping of the table is shared, an anchor private. */
static int profil_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct profil_watcher *watcher = profil_file_watcher(file);

	if (watcher && vma->vm_flags & VM_MAYSHARE)
		return profil_watch_mmap(watcher, vma);
	return profil_ctx_mmap(file, vma);
}

static __poll_t profil_poll(struct file *file, poll_table *table)
{
	struct profil_watcher *watcher = profil_file_watcher(file);

	if (!watcher)
		return EPOLLERR;
	poll_wait(file, &watcher->poll, table);
	return profil_watch_is_news(watcher) ? EPOLLIN | EPOLLRDNORM : 0;
}

static const struct file_operations profil_fops = {
	.owner = THIS_MODULE,
	.open = profil_open,
	.release = profil_release,
	.unlocked_ioctl = profil_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = profil_mmap,
	.poll = profil_poll,
};

static struct miscdevice profil_dev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "profil",
	.fops = &profil_fops,
	/*
	 * A caller can act on itself alone, and learn only about itself, the
	 * processes with which it shares a descriptor, and those that it may
	 * inspect.
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
