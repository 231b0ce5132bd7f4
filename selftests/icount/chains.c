// SPDX-License-Identifier: GPL-2.0-only
/*
 * chains.c - what a tick costs that is counted by chain of callers
 *
 * The cost of a tick is the CPU time that the same work takes longer with a
 * watch. Time counts instructions, 2 ns each.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "watch.h"
#include "chains.h"

NEEDS_CALLERS;

#define PERIOD_NS	(97 * 1000)

/* A fifth of a second if time counts instructions. */
static void spin(int rounds)
{
	for (int i = 0; i < rounds; i++)
		__asm__ volatile(".rept 500\n\tnop\n\t.endr");
}

OWN_TEXT(straight) void straight(int depth)
{
	if (depth)
		straight(depth - 1);
	else
		spin(200000);
	CALLED();
}

/* The last frames are others in each tick. */
OWN_TEXT(back_and_forth) void back_and_forth(int depth)
{
	if (depth > 2) {
		back_and_forth(depth - 1);
	} else if (depth == 2) {
		for (int i = 0; i < 8000; i++)
			back_and_forth(i % 2);
	} else if (depth) {
		back_and_forth(0);
	} else {
		spin(25);
	}
	CALLED();
}

static uint64_t work_ns(void (*function)(int depth), int depth)
{
	uint64_t begin = thread_cpu_ns();

	function(depth);
	return thread_cpu_ns() - begin;
}

/* Return: instructions of a tick. */
static double tick_cost(struct __test_metadata *_metadata,
			void (*function)(int depth), int depth, uint32_t flags)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    getpid(), flags);
	struct profil_watch_status begun, status;
	uint64_t plain_ns = work_ns(function, depth), ns;
	struct watch watch;
	double cost;

	request.period_ns = PERIOD_NS;
	ASSERT_EQ(0, watch_begin(&watch, &request));
	if (flags)
		ASSERT_EQ(0, load_own_callers(&watch));
	/* So that all buckets are there */
	work_ns(function, depth);
	begun = watch_status(&watch);
	ns = work_ns(function, depth);
	status = watch_stop(&watch);
	EXPECT_SOUND(&watch, &status);
	EXPECT_LT(0.9 * plain_ns / PERIOD_NS, status.ticks - begun.ticks);
	if (flags)
		EXPECT_LT(0.95 * (status.ticks - begun.ticks),
			  status.chains[PROFIL_CHAIN_COMPLETE] -
			  begun.chains[PROFIL_CHAIN_COMPLETE]);
	for (int i = 1; i < PROFIL_CHAIN_ENDS; i++)
		if (status.chains[i] - begun.chains[i])
			TH_LOG("chains that ended by %d: %llu", i,
			       status.chains[i] - begun.chains[i]);
	cost = ((double)ns - plain_ns) / (status.ticks - begun.ticks) / 2;
	TH_LOG("%s, depth %d, flags %#x: %.0f instructions",
	       function == straight ? "straight" : "back and forth", depth,
	       flags, cost);
	watch_end(&watch);
	return cost;
}

/*
 * A tick with the same chain as the last one compares a word or two for each
 * frame. A walk takes ten times as much.
 */
TEST(the_same_chain_is_compared)
{
	double flat = tick_cost(_metadata, straight, 10, 0);
	double few = tick_cost(_metadata, straight, 10, PROFIL_WATCH_CHAINS);
	double more = tick_cost(_metadata, straight, 40, PROFIL_WATCH_CHAINS);
	double most = tick_cost(_metadata, straight, 100, PROFIL_WATCH_CHAINS);

	EXPECT_GT(3 * flat, few);
	EXPECT_GT(30 * 20 * slack(), more - few);
	EXPECT_GT(60 * 20 * slack(), most - more);
}

/* A watch adds no more to a tick of another one than to none. */
TEST(the_same_chain_is_compared_in_each_of_two_watches)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_MACHINE, 0,
						    PROFIL_WATCH_CHAINS);
	double alone = tick_cost(_metadata, straight, 100, PROFIL_WATCH_CHAINS);
	struct profil_watch_status status;
	struct watch other;

	request.period_ns = PERIOD_NS;
	ASSERT_EQ(0, watch_begin(&other, &request));
	ASSERT_EQ(0, load_own_callers(&other));
	/* So that all buckets are there */
	work_ns(straight, 100);
	EXPECT_GT(alone * slack(),
		  tick_cost(_metadata, straight, 100, PROFIL_WATCH_CHAINS));
	status = watch_stop(&other);
	EXPECT_SOUND(&other, &status);
	watch_end(&other);
}

/* Only the frames that are others are walked. */
TEST(what_differs_is_walked)
{
	double few = tick_cost(_metadata, back_and_forth, 10,
			       PROFIL_WATCH_CHAINS);
	double more = tick_cost(_metadata, back_and_forth, 100,
				PROFIL_WATCH_CHAINS);

	EXPECT_GT(90 * 20 * slack(), more - few);
}

/* --- walks that take longer than the shortest period */

#define PATHS		500
#define MIN_PERIOD_NS	60000

/* To another process and back, which takes turns with this one; or 0 */
static int there[2], back[2];

static void take_turns(void)
{
	char byte = 0;

	for (int i = 0; i < 5; i++) {
		spin(20);
		if (there[1] && (write(there[1], &byte, 1) != 1 ||
				 read(back[0], &byte, 1) != 1))
			abort();
	}
}

OWN_TEXT(left) void left(uint64_t path, int depth);
OWN_TEXT(right) void right(uint64_t path, int depth);

/* Call 100 functions, as the bits of a number say. */
static inline __attribute__((always_inline)) void go_down(uint64_t path,
							  int depth)
{
	if (depth == 100)
		take_turns();
	else if (path >> depth % 64 & 1)
		left(path, depth + 1);
	else
		right(path, depth + 1);
	CALLED();
}

void left(uint64_t path, int depth)
{
	go_down(path, depth);
}

void right(uint64_t path, int depth)
{
	go_down(path, depth);
}

static uint64_t paths_ns(void)
{
	uint64_t begin = monotonic_ns(), path = 1;

	for (int i = 0; i < PATHS; i++) {
		path = path * 6364136223846793005 + 1442695040888963407;
		go_down(path, 0);
	}
	return monotonic_ns() - begin;
}

/* Return: how many times as long the paths take with watches. */
static double watched_paths(struct __test_metadata *_metadata, int nr)
{
	struct profil_watch requests[] = {
		watch_request(PROFIL_WATCH_PROCESS, getpid(),
			      PROFIL_WATCH_CHAINS),
		watch_request(PROFIL_WATCH_MACHINE, 0, PROFIL_WATCH_CHAINS),
	};
	struct watch watches[ARRAY_SIZE(requests)];
	uint64_t plain_ns = paths_ns(), ns;

	for (int i = 0; i < nr; i++) {
		requests[i].period_ns = MIN_PERIOD_NS;
		requests[i].buckets = 1 << 16;
		ASSERT_EQ(0, watch_begin(&watches[i], &requests[i]));
		ASSERT_EQ(0, load_own_callers(&watches[i]));
	}
	ns = paths_ns();
	TH_LOG("%d watches: %.2f times as long", nr, (double)ns / plain_ns);
	while (nr--)
		watch_end(&watches[nr]);
	return (double)ns / plain_ns;
}

TEST(a_walk_leaves_the_program_as_much_time)
{
	EXPECT_GT(2.5, watched_paths(_metadata, 1));
}

static int answer(void *unused __attribute__((unused)))
{
	char byte;

	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		;
	return 0;
}

static double watched_turns(struct __test_metadata *_metadata)
{
	struct child other;
	double times;

	ASSERT_EQ(0, pipe(there) | pipe(back));
	other = child_begin(answer, NULL);
	child_go(&other);
	times = watched_paths(_metadata, 2);
	EXPECT_EQ(-SIGKILL, child_kill(&other));
	return times;
}

/* Each time that it is switched in, its next tick is due soon. */
TEST(a_walk_leaves_the_program_as_much_time_if_it_takes_turns)
{
	EXPECT_GT(2.25, watched_turns(_metadata));
}

/* Which has interrupts of its own. */
TEST(a_walk_leaves_the_program_as_much_time_beside_a_profile)
{
	static uint32_t outside;
	struct profil_region region = overflow_bin(&outside, sizeof(outside));

	ASSERT_EQ(0, set_regions(&region, 1, sizeof(outside), MIN_PERIOD_NS, 0));
	EXPECT_GT(2.25, watched_turns(_metadata));
	EXPECT_OK(profil_stop(NULL, NULL, 0));
}

TEST_HARNESS_MAIN
