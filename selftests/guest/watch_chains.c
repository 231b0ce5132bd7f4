// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_chains.c - ticks by chain of callers
 *
 * The tests watch programs whose calls they know: functions of their own, which
 * spend their time where the last one is.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "watch.h"
#include "chains.h"

NEEDS_ROOT;

/* Keeps a call from being the last thing of a function: that would be a jump. */
#define CALLED() __asm__ volatile("" : : : "memory")

/* --- functions that call each other */

static volatile uint64_t work;

OWN_TEXT(inner) void inner(void)
{
	for (uint64_t i = 0; i < 20000; i++)
		work++;
}

OWN_TEXT(middle) void middle(void)
{
	inner();
	CALLED();
}

OWN_TEXT(outer) int outer(void *ns)
{
	uint64_t end = thread_cpu_ns() + (uintptr_t)ns;

	while (thread_cpu_ns() < end)
		middle();
	return 0;
}

FIXTURE(chains) {
	struct watch watch;
	struct child child;
};

FIXTURE_SETUP(chains)
{
	self->watch.fd = -1;
	self->child.pid = -1;
}

FIXTURE_TEARDOWN(chains)
{
	child_kill(&self->child);
	watch_end(&self->watch);
}

static void begin(struct __test_metadata *_metadata, FIXTURE_DATA(chains) *self,
		  int (*work)(void *argument), void *argument, uint32_t flags)
{
	struct profil_watch request;

	self->child = child_begin(work, argument);
	request = watch_request(PROFIL_WATCH_PROCESS, self->child.pid,
				PROFIL_WATCH_CHAINS | flags);
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	ASSERT_EQ(0, load_own_callers(&self->watch));
}

static struct profil_watch_status finish(struct __test_metadata *_metadata,
					 FIXTURE_DATA(chains) *self)
{
	struct profil_watch_status status;

	EXPECT_EQ(0, child_end(&self->child));
	self->child.pid = -1;
	status = watch_settled(&self->watch, 0);
	EXPECT_CHAINS(&self->watch, &status);
	for (int i = 0; i < PROFIL_CHAIN_ENDS; i++)
		if (status.chains[i])
			TH_LOG("end %d: %llu ticks", i, status.chains[i]);
	return status;
}

TEST_F(chains, of_a_function)
{
	static const void *const callers[] = {
		START_OF(middle), START_OF(outer)
	};
	struct profil_watch_status status;
	uint64_t ticks;

	begin(_metadata, self, outer, (void *)(300 * MS), 0);
	status = finish(_metadata, self);
	ticks = watch_ticks_of(&self->watch, START_OF(inner), END_OF(inner));
	EXPECT_LT(200, ticks);
	EXPECT_EQ(ticks, chain_ticks(&self->watch, START_OF(inner),
				     END_OF(inner), callers, 2));
	EXPECT_LT(250, status.chains[PROFIL_CHAIN_COMPLETE]);
}

TEST_HARNESS_MAIN
