// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - profil.ko: profil(2) and sprofil(2) done by the kernel
 *
 *   main.c			load, unload, parameters
 *   dev.c			the requests of /dev/profil
 *   ctx.c			the profile of an address space: fork, replace, stop
 *   user.c			how much a user may have
 *   config.c			the parsed request, and its counters' memory
 *   region.[ch]		from a program counter to a counter
 *   session.c			stats of sessions
 *   probes.c			the tracepoints, registered while they are needed
 *   tick.c			when ticks come, and their outcomes
 *   schedule.h			the times of the ticks
 *   counter.h			adding to a counter
 *   flush.c			sessions from beginning to end, their pending lists
 *   fault.c			counters whose page is missing
 *   watch.c			a watch from beginning to end, and its stats
 *   watcher.c			the memory of a watch
 *   inspect.c			who may watch whom
 *   member.c			which processes are in a watch
 *   thread.[ch]		which threads, and how long they wait
 *   table.c			the table of a watch
 *   chain.c			from a tick to the nodes of its callers
 *   callers.c			the tables of callers that a watch has
 *   unwind.[ch]		their rules, and a step of the walk; for user space, too
 *   vectors.h			numbers that the tests expect
 *   profil_private.h		shared declarations; the order of the locks
 *   watcher.h			those that only watches need
 *   profil_kunit.c		KUnit tests, a module of its own
 *
 * Context: load and unload.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/string.h>

#include "profil_private.h"
#include "watcher.h"

static char *clock = "perf";
module_param(clock, charp, 0444);
MODULE_PARM_DESC(clock, "Source of ticks: perf or hrtimer (default perf)");

struct profil_limits profil_limits = {
	.max_regions = 4096,
	.max_profiles = 4096,
	.max_watch_kb = 65536,
	.watch_scope = PROFIL_SCOPE_INSPECT,
	.min_period_us = 60,
};

module_param_named(max_regions, profil_limits.max_regions, uint, 0444);
MODULE_PARM_DESC(max_regions,
		 "Regions of a profile, 1 to 65536 (default 4096)");

module_param_named(max_profiles, profil_limits.max_profiles, uint, 0644);
MODULE_PARM_DESC(max_profiles,
		 "Profiled, and watched, processes of a user at a time (default 4096)");

module_param_named(max_watch_kb, profil_limits.max_watch_kb, uint, 0644);
MODULE_PARM_DESC(max_watch_kb,
		 "Memory of the watches of a user, in KiB (default 65536)");

module_param_named(watch_scope, profil_limits.watch_scope, uint, 0644);
MODULE_PARM_DESC(watch_scope,
		 "Whom users may watch: 0 nobody, 1 themselves and descendants, 2 as ptrace (default 2)");

module_param_named(min_period_us, profil_limits.min_period_us, uint, 0444);
MODULE_PARM_DESC(min_period_us,
		 "Shortest period in microseconds, 10 to 1000 (default 60)");

module_param_named(restrict_fastprof, profil_limits.restrict_fastprof, bool,
		   0644);
MODULE_PARM_DESC(restrict_fastprof,
		 "Refuse periods shorter than 10 ms (default no)");

static int __init profil_check_clock(enum profil_clock *kind)
{
	if (!strcmp(clock, "perf"))
		*kind = PROFIL_CLOCK_PERF;
	else if (!strcmp(clock, "hrtimer"))
		*kind = PROFIL_CLOCK_HRTIMER;
	else
		goto unknown;
	return 0;

unknown:
	pr_err("clock=%s: must be perf or hrtimer\n", clock);
	return -EINVAL;
}

static int __init profil_check_limit(const char *name, unsigned int value,
				     unsigned int min, unsigned int max)
{
	if (value >= min && value <= max)
		return 0;
	pr_err("%s=%u: must be from %u to %u\n", name, value, min, max);
	return -EINVAL;
}

static int __init profil_check_parameters(enum profil_clock *kind)
{
	return profil_check_clock(kind) ?:
	       profil_check_limit("max_regions", profil_limits.max_regions,
				  1, 65536) ?:
	       profil_check_limit("watch_scope", profil_limits.watch_scope,
				  PROFIL_SCOPE_NOBODY, PROFIL_SCOPE_INSPECT) ?:
	       profil_check_limit("min_period_us", profil_limits.min_period_us,
				  10, PROFIL_FAST_PERIOD_NS / 1000);
}

static int __init profil_init(void)
{
	enum profil_clock kind;
	int err;

	err = profil_check_parameters(&kind);
	if (err)
		return err;
	err = profil_pending_init();
	if (err)
		return err;
	err = profil_probes_init() ?: profil_tick_init(kind);
	if (err)
		goto exit_pending;
	err = profil_dev_init();
	if (err)
		goto exit_tick;
	return 0;

exit_tick:
	profil_tick_exit();
exit_pending:
	profil_pending_exit();
	return err;
}

static void __exit profil_exit(void)
{
	profil_dev_exit();
	profil_session_wait_for_all();
	profil_watcher_wait_for_all();
	profil_probes_exit();
	profil_tick_exit();
	profil_pending_exit();
	profil_user_exit();
}

module_init(profil_init);
module_exit(profil_exit);

MODULE_DESCRIPTION("profil(2) and sprofil(2): execution time profiles");
MODULE_AUTHOR("The profil developers");
MODULE_VERSION("0.1");
MODULE_LICENSE("GPL");
