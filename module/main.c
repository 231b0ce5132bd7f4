// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - profil.ko: profil(2) and sprofil(2) done by the kernel
 *
 *   main.c		load, unload, parameters
 *   dev.c		the requests of /dev/profil
 *   profile.c		the profile of an address space: fork, replace, stop
 *   quota.c		how many of them a user may have
 *   table.c, region.c	what was asked for; from a program counter to a bin
 *   clock.c, clock_*.c	when ticks fall, and on whom
 *   schedule.c		the instants of the ticks
 *   lookup.c		from an address space to its profile
 *   count.c		what becomes of a tick
 *   deliver.c, fault.c	ticks whose counter's page is not there
 *   bin.c		adding to a counter in user memory
 *   run.c, tally.h	one profile from beginning to end, and its books
 *   ledger.c		the books of profiles that have ended
 *
 * Context: load and unload.
 */
#include <linux/module.h>
#include <linux/string.h>

#include "clock.h"
#include "dev.h"
#include "limits.h"
#include "run.h"

static char *clock = "hrtimer";
module_param(clock, charp, 0444);
MODULE_PARM_DESC(clock,
		 "What makes the ticks: hrtimer or perf (default hrtimer)");

struct profil_limits profil_limits = {
	.max_regions = 4096,
	.max_profiles = 4096,
	.min_period_us = 60,
};

module_param_named(max_regions, profil_limits.max_regions, uint, 0444);
MODULE_PARM_DESC(max_regions,
		 "Regions of a profile, 1 to 65536 (default 4096)");

module_param_named(max_profiles, profil_limits.max_profiles, uint, 0644);
MODULE_PARM_DESC(max_profiles,
		 "Profiled processes of a user at a time (default 4096)");

module_param_named(min_period_us, profil_limits.min_period_us, uint, 0444);
MODULE_PARM_DESC(min_period_us,
		 "Shortest period in microseconds, 10 to 1000 (default 60)");

module_param_named(restrict_fastprof, profil_limits.restrict_fastprof, bool,
		   0644);
MODULE_PARM_DESC(restrict_fastprof,
		 "Refuse periods shorter than 10 ms (default no)");

static const struct profil_clock_ops * __init profil_choose_clock(void)
{
	static const struct profil_clock_ops *const clocks[] = {
		&profil_clock_hrtimer, &profil_clock_perf,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(clocks); i++)
		if (!strcmp(clock, clocks[i]->name))
			return clocks[i];
	return NULL;
}

static bool __init profil_limits_are_sane(void)
{
	return profil_limits.max_regions >= 1 &&
	       profil_limits.max_regions <= 65536 &&
	       profil_limits.min_period_us >= 10 &&
	       profil_limits.min_period_us <= PROFIL_FAST_PERIOD_NS / 1000;
}

static int __init profil_init(void)
{
	const struct profil_clock_ops *ops = profil_choose_clock();
	int err;

	if (!ops || !profil_limits_are_sane()) {
		pr_err("profil: a parameter is out of range\n");
		return -EINVAL;
	}
	err = profil_run_init();
	if (err)
		return err;
	err = profil_clock_init(ops);
	if (err)
		goto exit_run;
	err = profil_dev_init();
	if (err)
		goto exit_clock;
	return 0;

exit_clock:
	profil_clock_exit();
exit_run:
	profil_run_exit();
	return err;
}

static void __exit profil_exit(void)
{
	profil_dev_exit();
	profil_clock_exit();
	profil_run_exit();
}

module_init(profil_init);
module_exit(profil_exit);

MODULE_DESCRIPTION("profil(2) and sprofil(2): execution time profiles");
MODULE_LICENSE("GPL");
