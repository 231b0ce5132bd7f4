// SPDX-License-Identifier: GPL-2.0-only
/*
 * pause.c - others run while a large table of callers is loaded
 *
 * A thread with a deadline each millisecond shares the only CPU with one that
 * loads a table twice, so that the second is compared with the first.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "kselftest_harness.h"
#include "common.h"
#include "chains.h"

#define TABLE_BLOCKS	(2 << 20)	/* 16 MiB of table */
#define LATE_NS		(5 * MS)

static atomic_bool is_over;

/* Return: how late it was at most, in nanoseconds. */
static void *keep_deadlines(void *unused)
{
	struct sched_param first = { .sched_priority = 1 };
	uint64_t due = monotonic_ns(), late = 0;

	(void)unused;
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &first))
		return NULL;
	while (!atomic_load(&is_over)) {
		struct timespec at;

		due += MS;
		at = (struct timespec) { due / SECOND, due % SECOND };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		if (monotonic_ns() - due > late)
			late = monotonic_ns() - due;
		due += late / MS * MS;
	}
	return (void *)late;
}

/* In a watch of a process of its own. */
static void load(struct __test_metadata *_metadata,
		 const struct callers *callers, struct watch *watch,
		 struct child *child)
{
	*child = child_begin(wait_for_signal, NULL);
	child_go(child);
	EXPECT_EQ(0, watch_process(watch, child->pid, PROFIL_WATCH_CHAINS));
	EXPECT_EQ(0, load_callers(watch, -1, callers->table, callers->bytes));
}

TEST(equal_tables_are_compared_in_pieces)
{
	struct callers callers = make_rule((struct profil_unwind_rule) {
		.cfa = PROFIL_UNWIND_SP, .offset = 8,
	}, TABLE_BLOCKS);
	struct child children[2];
	struct watch watches[2];
	pthread_t thread;
	void *late;

	ASSERT_EQ(0, pthread_create(&thread, NULL, keep_deadlines, NULL));
	for (int i = 0; i < 2; i++)
		load(_metadata, &callers, &watches[i], &children[i]);
	atomic_store(&is_over, true);
	ASSERT_EQ(0, pthread_join(thread, &late));
	TH_LOG("%.3f ms late at most", (uintptr_t)late / 1e6);
	EXPECT_LT(0, (uintptr_t)late);
	EXPECT_GT(LATE_NS, (uintptr_t)late);
	for (int i = 0; i < 2; i++) {
		watch_end(&watches[i]);
		EXPECT_EQ(-SIGKILL, child_kill(&children[i]));
	}
	free(callers.table);
}

TEST_HARNESS_MAIN
