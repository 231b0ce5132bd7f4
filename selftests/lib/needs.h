/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * needs.h - skip a test program if the machine lacks something it needs
 *
 * A fixture cannot do this: the harness runs a test even if its FIXTURE_SETUP()
 * has called SKIP().
 */
#ifndef SELFTESTS_NEEDS_H
#define SELFTESTS_NEEDS_H

#include <stdbool.h>
#include <unistd.h>

void need(bool met, const char *what);

#define NEEDS_ROOT \
	static void __attribute__((constructor)) need_root(void) \
	{ \
		need(!geteuid(), "root"); \
	} \
	_Static_assert(true, "takes a semicolon")

#define NEEDS_TWO_CPUS \
	static void __attribute__((constructor)) need_two_cpus(void) \
	{ \
		need(sysconf(_SC_NPROCESSORS_ONLN) >= 2, "two CPUs"); \
	} \
	_Static_assert(true, "takes a semicolon")

/* On PREEMPT_RT a tick knows the innermost frame only. */
#define NEEDS_CALLERS \
	static void __attribute__((constructor)) need_callers(void) \
	{ \
		need(!is_preempt_rt(), "a kernel without PREEMPT_RT"); \
	} \
	_Static_assert(true, "takes a semicolon")

#endif /* SELFTESTS_NEEDS_H */
