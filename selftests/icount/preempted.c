// SPDX-License-Identifier: GPL-2.0-only
/*
 * preempted.c - no request waits for one that has been preempted
 *
 * Requests interrupt CPUs one at a time. If the caller of one could be preempted
 * meanwhile, others would wait until it gets a CPU again, which may take long for a
 * task of the lowest priority. That shows on a kernel with preempt=full. With one CPU
 * a request that has waited is one that was switched out of its own accord.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "watch.h"

#define REQUESTS	1000

/* When a kernel with PREEMPT_DYNAMIC preempts; now, what is in parentheses. */
#define PREEMPT		"/sys/kernel/debug/sched/preempt"

FIXTURE(preempted) {
	char before[20];
	struct child other;
};

FIXTURE_SETUP(preempted)
{
	char modes[100] = "", *now;
	FILE *file = fopen(PREEMPT, "r");

	/* Other kernels are what they are */
	if (file && fgets(modes, sizeof(modes), file)) {
		now = strchr(modes, '(');
		if (now)
			sscanf(now, "(%19[^)]", self->before);
	}
	if (file)
		fclose(file);
	if (self->before[0])
		ASSERT_EQ(0, write_file(PREEMPT, "full"));
}

FIXTURE_TEARDOWN(preempted)
{
	child_kill(&self->other);
	if (self->before[0])
		EXPECT_EQ(0, write_file(PREEMPT, self->before));
}

/* Held open: to open a device takes a mutex of the kernel. */
static int device;

static int have_profile(void)
{
	static uint32_t counter;
	struct profil_region all = overflow_bin(&counter, sizeof(counter));

	/* Present, so that no tick waits for it */
	*(volatile uint32_t *)&counter = 0;
	device = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	return device < 0 ||
	       set_region_by(device, &all, sizeof(counter), SECOND, 0);
}

static uint64_t own_waits(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static int ask(void)
{
	struct profil_status status = { .size = sizeof(status) };

	return ioctl(device, PROFIL_IOC_STATUS, &status);
}

static int ask_for_ever(void *unused)
{
	const struct sched_param none = { 0 };

	(void)unused;
	if (have_profile() || sched_setscheduler(0, SCHED_IDLE, &none))
		return 1;
	while (!ask())
		;
	return 2;
}

TEST_F(preempted, request_does_not_delay_others)
{
	int waited = 0;

	ASSERT_EQ(0, have_profile());
	self->other = child_begin(ask_for_ever, NULL);
	child_go(&self->other);
	for (int i = 0; i < REQUESTS; i++) {
		uint64_t before;

		/* Whatever the other one is about to do */
		usleep(100 + i * 7919 % 1000);
		before = own_waits();
		ASSERT_EQ(0, ask());
		waited += own_waits() != before;
	}
	TH_LOG("%d of %d waited", waited, REQUESTS);
	EXPECT_EQ(0, waited);
	EXPECT_FALSE(child_has_ended(&self->other));
}

TEST_HARNESS_MAIN
