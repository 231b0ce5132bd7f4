// SPDX-License-Identifier: GPL-2.0-only
/*
 * threads.c - every thread is counted, on the CPU that it runs on
 *
 * Of N ticks a thread with the share p of the CPU time gets Np, with a variance
 * of Np(1 - p) at most: each CPU has one tick in each period, uniformly
 * distributed. All threads together get their CPU time over the period, with
 * the variance from due_variance().
 */
#include <pthread.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

#define CROWD	16

/*
 * The kernel's clocks and ours differ in the time that a context switch takes, and that
 * is when an emulated CPU may stall: then a test is done again.
 */
#define PART	0.2

/*
 * Threads wait for each other at the start, if @wait, and at the end: after
 * their work and again before they exit, because the CPU time of the process
 * lacks what an exiting thread has used since the kernel's last tick.
 */
FIXTURE(threads) {
	int nr;
	struct worker {
		FIXTURE_DATA(threads) *all;
		void (*burn)(struct worker *worker);
		uint64_t ns;
		uint64_t used_ns;
		double stalls;
		pthread_t thread;
	} workers[CROWD];
	bool wait;
	pthread_barrier_t start, done, leave;
};

FIXTURE_SETUP(threads)
{
	self->wait = false;
}

FIXTURE_TEARDOWN(threads)
{
}

/*
 * Reads the clock seldom, as that takes the thread into the kernel. An emulated
 * CPU may stall: then all ticks of that time fall in one place. @stalls is the
 * sum of the squares of their numbers.
 */
static inline __attribute__((always_inline)) void burn_here(struct worker *me)
{
	uint64_t begin = thread_cpu_ns(), last = begin, now;

	do {
		for (volatile int i = 0; i < 20000; i++)
			;
		now = thread_cpu_ns();
		if (now - last > MS)
			me->stalls += (double)(now - last) / MS *
				      (now - last) / MS;
		last = now;
	} while (now - begin < me->ns);
	me->used_ns = now - begin;
}

OWN_TEXT(a) void a(struct worker *me)
{
	burn_here(me);
}

OWN_TEXT(b) void b(struct worker *me)
{
	burn_here(me);
}

OWN_TEXT(c) void c(struct worker *me)
{
	burn_here(me);
}

OWN_TEXT(d) void d(struct worker *me)
{
	burn_here(me);
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	if (worker->all->wait)
		pthread_barrier_wait(&worker->all->start);
	worker->burn(worker);
	pthread_barrier_wait(&worker->all->done);
	pthread_barrier_wait(&worker->all->leave);
	return NULL;
}

/* The first thread burns @first_ns, each further one @more_ns more. */
static void start_threads(struct __test_metadata *_metadata,
			  FIXTURE_DATA(threads) *self, int nr,
			  uint64_t first_ns, uint64_t more_ns)
{
	void (*const burn[])(struct worker *me) = { a, b, c, d };

	self->nr = nr;
	pthread_barrier_init(&self->start, NULL, nr + 1);
	pthread_barrier_init(&self->done, NULL, nr + 1);
	pthread_barrier_init(&self->leave, NULL, nr + 1);
	for (int i = 0; i < nr; i++) {
		struct worker *worker = &self->workers[i];

		worker->all = self;
		worker->burn = burn[i % 4];
		worker->ns = first_ns + i * more_ns;
		worker->stalls = 0;
		ASSERT_EQ(0, pthread_create(&worker->thread, NULL, work,
					    worker));
	}
}

/* Wait until all have done their work. Returns the moment. */
static struct moment await(FIXTURE_DATA(threads) *self)
{
	pthread_barrier_wait(&self->done);
	return moment_now();
}

static void finish(struct __test_metadata *_metadata,
		   FIXTURE_DATA(threads) *self)
{
	pthread_barrier_wait(&self->leave);
	for (int i = 0; i < self->nr; i++)
		ASSERT_EQ(0, pthread_join(self->workers[i].thread, NULL));
	pthread_barrier_destroy(&self->start);
	pthread_barrier_destroy(&self->done);
	pthread_barrier_destroy(&self->leave);
}

/*
 * The number of ticks is the one due, and all of them are in the one counter, which is
 * zero again then.
 */
static void check(struct __test_metadata *_metadata,
		  const struct moment *zero, uint32_t *counter)
{
	struct moment stop = moment_stop();

	EXPECT_TICKS(zero, &stop);
	EXPECT_EQ(stop.status.counts.ticks, *counter);
	*counter = 0;
}

/*
 * Whether each function has its share of the @sum of their ticks. All ticks of a stall
 * fall either in the function or, with the probability @out, in a function that it calls.
 */
static bool have_shares(struct __test_metadata *_metadata,
			FIXTURE_DATA(threads) *self, const uint64_t *ticks,
			uint64_t sum, double out)
{
	double cpu_ns = 0, stalls = 0;
	bool have = true;

	for (int i = 0; i < 4; i++) {
		cpu_ns += self->workers[i].used_ns;
		stalls += self->workers[i].stalls;
	}
	TH_LOG("outside of the functions: %.4f; variance for stalls: %.1f",
	       out, stalls * out * (1 - out));
	for (int i = 0; i < 4; i++) {
		double share = self->workers[i].used_ns / cpu_ns;
		double off_by = sigmas(ticks[i], share * sum,
				       share * (1 - share) * sum +
				       stalls * out * (1 - out));

		TH_LOG("function %d: %llu ticks: %+.2f sigma", i,
		       (unsigned long long)ticks[i], off_by);
		have &= fabs(off_by) < SIGMAS;
	}
	return have;
}

TEST_F(threads, four_shares)
{
	static uint16_t counters[4][4096];
	const struct profil_region regions[] = {
		region_of(START_OF(a), END_OF(a), counters[0], 2),
		region_of(START_OF(b), END_OF(b), counters[1], 2),
		region_of(START_OF(c), END_OF(c), counters[2], 2),
		region_of(START_OF(d), END_OF(d), counters[3], 2),
	};
	struct moment zero, from, to, stop;
	uint64_t ticks[4], sum;

	RUN_UNTIL(have_shares(_metadata, self, ticks, sum,
			      1 - 1.0 * sum / stop.status.counts.ticks) &&
		  IS_COVERED(&from, &to, PART), {
		memset(counters, 0, sizeof(counters));
		zero = moment_zero();
		ASSERT_EQ(0, set_regions(regions, 4, 2, MS, 0));
		from = moment_now();
		start_threads(_metadata, self, 4, 400 * MS, 400 * MS);
		to = await(self);
		finish(_metadata, self);
		stop = moment_stop();

		EXPECT_TICKS(&zero, &stop);
		sum = 0;
		for (int i = 0; i < 4; i++) {
			ticks[i] = sum16(counters[i], 4096);
			sum += ticks[i];
		}
		EXPECT_EQ(stop.status.counts.counted, sum);
		/* Reading the clock takes sanitizers half of the time. */
		EXPECT_LT(stop.status.counts.ticks / 10, sum);
	});
}

TEST_F(threads, sixteen)
{
	static uint32_t counter;
	const struct profil_region all = overflow_bin(&counter, 4);
	struct moment zero, from, to;

	RUN_UNTIL(IS_COVERED(&from, &to, PART), {
		zero = moment_zero();
		ASSERT_EQ(0, set_regions(&all, 1, 4, MS, 0));
		from = moment_now();
		start_threads(_metadata, self, 16, 100 * MS, 0);
		to = await(self);
		finish(_metadata, self);
		check(_metadata, &zero, &counter);
	});
}

/* They run on both CPUs when the profile starts. */
TEST_F(threads, that_ran_before_the_profile)
{
	static uint32_t counter;
	const struct profil_region all = overflow_bin(&counter, 4);
	struct moment zero, from, to;

	RUN_UNTIL(IS_COVERED(&from, &to, PART), {
		start_threads(_metadata, self, 4, 800 * MS, 0);
		usleep(50000);
		zero = moment_zero();
		ASSERT_EQ(0, set_regions(&all, 1, 4, MS, 0));
		from = moment_now();
		to = await(self);
		finish(_metadata, self);
		check(_metadata, &zero, &counter);
	});
}

/* They exist when the profile starts, and begin to run later. */
TEST_F(threads, that_slept_when_it_began)
{
	static uint32_t counter;
	const struct profil_region all = overflow_bin(&counter, 4);
	struct moment zero, from, to;

	self->wait = true;
	RUN_UNTIL(IS_COVERED(&from, &to, PART), {
		start_threads(_metadata, self, 3, 500 * MS, 0);
		usleep(50000);
		zero = moment_zero();
		ASSERT_EQ(0, set_regions(&all, 1, 4, MS, 0));
		from = moment_now();
		pthread_barrier_wait(&self->start);
		to = await(self);
		finish(_metadata, self);
		check(_metadata, &zero, &counter);
	});
}

/* Both CPUs write the same counter, and its neighbour in the same word. */
TEST_F(threads, lose_no_increment)
{
	static uint16_t counters[2] __attribute__((aligned(4)));
	const struct profil_region regions[] = {
		{
			.base = (uintptr_t)&counters[0],
			.size = 2,
			.offset = (uintptr_t)&__start_text_a,
			.scale = 65536 * 2 /
				 (__stop_text_a - __start_text_a) + 1,
		},
		overflow_bin(&counters[1], 2),
	};
	struct profil_status last = { .size = sizeof(last) };
	struct profil_region_status status[2];

	ASSERT_EQ(0, set_regions(regions, 2, 2, 100000, 0));
	start_threads(_metadata, self, 8, 250 * MS, 0);
	await(self);
	finish(_metadata, self);
	ASSERT_EQ(0, profil_stop(&last, status, 2));

	TH_LOG("%u and %u ticks", counters[0], counters[1]);
	EXPECT_LT(100, counters[0]);
	EXPECT_LT(100, counters[1]);
	EXPECT_EQ(status[0].counted, counters[0]);
	EXPECT_EQ(status[1].counted, counters[1]);
	EXPECT_EQ(last.counts.ticks, counters[0] + counters[1]);
	EXPECT_CONSERVED(&last);
}

TEST_HARNESS_MAIN
