// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_race.c - calls of many threads and processes at once
 *
 * Some threads make requests while others write and unmap the memory of these;
 * and threads and children start, replace, query, stop, fork, exec and unmap at
 * the same time. The error of a call depends on the order of events, but it is
 * one of those documented; bytes near the results that are no part of them stay
 * as they were; and every status adds up. fuzz/effort.h describes how to choose
 * the duration.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

#include "fuzz/effort.h"
#include "fuzz/make.h"
#include "fuzz/model.h"

#define CALLERS		3
#define CALLS		3000

#define CANARY		0x5a

#define ONE_OF(array, state)	((array)[number_below((state), ARRAY_SIZE(array))])

/* Pages of the memory that all threads share. */
enum {
	REQUEST, AFTER_REQUEST, CANARY_1,
	RESULTS, HOLE, CANARY_2,
	COUNTERS, MORE_COUNTERS, CANARY_3,
	NR_PAGES
};

static const int canaries[] = { CANARY_1, CANARY_2, CANARY_3 };

/* Sums over all threads of all processes. */
struct sum {
	atomic_ulong calls;
	atomic_ulong succeeded;
	atomic_ulong failed;
	atomic_ulong wrong;
};

FIXTURE(race) {
	int fd;
	uint8_t *pages;
	pthread_barrier_t start;
	uint64_t seed;
	atomic_bool over;
	struct sum *sum;
};

/* One thread, and the state of its random numbers. */
struct racer {
	FIXTURE_DATA(race) *all;
	pthread_t thread;
	__u64 state;
	struct effort effort;
};

static uint8_t *page(const FIXTURE_DATA(race) *self, int which)
{
	return self->pages + which * PAGE;
}

static bool map_page(const FIXTURE_DATA(race) *self, int which)
{
	return mmap(page(self, which), PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
	       MAP_FAILED;
}

FIXTURE_SETUP(race)
{
	memset(self, 0, sizeof(*self));
	self->seed = fuzz_seed();
	self->fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->pages = mmap(NULL, NR_PAGES * PAGE, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->pages);
	self->sum = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->sum);
	for (int i = 0; i < NR_PAGES; i++)
		ASSERT_TRUE(map_page(self, i));
	ASSERT_EQ(0, munmap(page(self, HOLE), PAGE));
	for (size_t i = 0; i < ARRAY_SIZE(canaries); i++)
		memset(page(self, canaries[i]), CANARY, PAGE);
}

/*
 * No call wrote outside its results, and a profile that still runs can be
 * stopped.
 */
FIXTURE_TEARDOWN(race)
{
	for (size_t i = 0; i < ARRAY_SIZE(canaries); i++)
		for (int j = 0; j < PAGE; j++)
			ASSERT_EQ(CANARY, page(self, canaries[i])[j]);
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
	/* Every profile is in the account once its memory is free */
	EXPECT_EQ(0, account_after(self->fd, 0).running);
	EXPECT_EQ(0, self->sum->wrong);
	EXPECT_LT(0, self->sum->succeeded);
	EXPECT_LT(0, self->sum->failed);
	TH_LOG("seed %llu, executed %lu calls: %lu succeeded, %lu failed",
	       (unsigned long long)self->seed, self->sum->calls,
	       self->sum->succeeded, self->sum->failed);
}

/* May the request fail with this error, in any order of events? */
static bool is_documented(unsigned int request, int error)
{
	static const int of_all[] = { 0, EFAULT, EINVAL, E2BIG };

	for (size_t i = 0; i < ARRAY_SIZE(of_all); i++)
		if (error == of_all[i])
			return true;
	return request == PROFIL_IOC_SET &&
	       (error == EAGAIN || error == ENOMEM);
}

static bool call(struct racer *me, unsigned int request, void *argument)
{
	int error = ioctl(me->all->fd, request, argument) ? errno : 0;
	struct sum *sum = me->all->sum;

	sum->calls++;
	if (error)
		sum->failed++;
	else
		sum->succeeded++;
	if (is_documented(request, error))
		return !error;
	dprintf(STDOUT_FILENO, "# request %#x: errno %d\n", request,
		error);
	sum->wrong++;
	return false;
}

/* Read a status into memory that no other thread writes. */
static void look(struct racer *me, unsigned int request)
{
	struct profil_region_status regions[4];
	struct profil_status status = {
		.size = sizeof(status),
		.regions = (uintptr_t)regions,
		.max_regions = ARRAY_SIZE(regions),
	};

	if (!call(me, request, &status))
		return;
	if (model_conserved(&status) &&
	    (request != PROFIL_IOC_STOP || status.state != PROFIL_STATE_ON))
		return;
	dprintf(STDOUT_FILENO,
		"# request %#x: state %u, %llu ticks do not add up\n",
		request, status.state, (unsigned long long)status.counts.ticks);
	me->all->sum->wrong++;
}

/* Read the account of the profiles that have ended so far. */
static void look_at_account(struct racer *me)
{
	struct profil_account account = { .size = sizeof(account) };

	if (!call(me, PROFIL_IOC_ACCOUNT, &account))
		return;
	if (account.counts.ticks ==
		    account.counts.counted + account.counts.clipped +
			    account.counts.outside + account.counts.lost +
			    account.counts.left_out &&
	    account.counts.kernel <= account.counts.ticks)
		return;
	dprintf(STDOUT_FILENO, "# account: %llu ticks do not add up\n",
		(unsigned long long)account.counts.ticks);
	me->all->sum->wrong++;
}

/*
 * Run a racer for each of @runs, until the first has spent its effort. All wait
 * until the last one exists: otherwise a new thread's stack might be mapped
 * where another racer is about to remove a mapping.
 */
static void race(FIXTURE_DATA(race) *self, void *(*const *runs)(void *),
		 int nr, uint64_t calls)
{
	struct racer racers[8];

	pthread_barrier_init(&self->start, NULL, nr);
	for (int i = 0; i < nr; i++) {
		racers[i].all = self;
		racers[i].state = self->seed + (i + 1) * 0x9e3779b97f4a7c15ULL;
		racers[i].effort = fuzz_effort(calls);
		if (pthread_create(&racers[i].thread, NULL, runs[i],
				   &racers[i]))
			abort();
	}
	for (int i = 0; i < nr; i++)
		pthread_join(racers[i].thread, NULL);
}

static bool goes_on(struct racer *me)
{
	if (!me->all->over && !fuzz_goes_on(&me->effort))
		me->all->over = true;
	return !me->all->over;
}

/* Addresses that are bad, or to which the kernel may write results. */
static uint64_t result_address(struct racer *me)
{
	uint64_t results = (uintptr_t)page(me->all, RESULTS);
	uint64_t addresses[] = {
		0, results, results + 8, results + PAGE - 16,
		results + PAGE - 8, results + PAGE - 4, results + PAGE,
		arena_nowhere(&me->state),
	};

	return ONE_OF(addresses, &me->state);
}

static struct profil_region counter_region(struct racer *me)
{
	uint64_t scales[] = { 0, 2, 3, 65536, 131072 };
	uint64_t base = (uintptr_t)page(me->all, COUNTERS) +
			number_below(&me->state, 2 * PAGE - 16);

	return (struct profil_region) {
		.base = number_below(&me->state, 16) ? base & ~7ULL : base,
		.size = 1 + number_below(&me->state, 8),
		.offset = number_below(&me->state, 2) * 0x1000,
		.scale = ONE_OF(scales, &me->state),
	};
}

/*
 * A value for the field at this index of a request, in the order of the fields;
 * by index, as other threads write them.
 */
static uint64_t field(struct racer *me, size_t index)
{
	static const uint64_t sizes[] = {
		48, 48, 120, 120, 64, 240, PAGE,
		3 * PAGE,
	};
	static const uint64_t widths[] = { 2, 4, 8, 3 };
	uint64_t flags = number_below(&me->state, 144);
	uint64_t nr = number_below(&me->state, 6);

	switch (index) {
	case 0:
		return ONE_OF(sizes, &me->state) | flags << 32;
	case 1:
		return ONE_OF(widths, &me->state) | nr << 32;
	case 2:
		return number_below(&me->state, 8) ?
			(uintptr_t)page(me->all, AFTER_REQUEST) :
			arena_nowhere(&me->state);
	case 3:
		return 60000 + number_below(&me->state, MS) *
			       number_below(&me->state, 1000);
	case 4:
	case 13:
		return result_address(me);
	case 5:
		return number_below(&me->state, 4) * 8;
	case 14:
		return number_below(&me->state, 8);
	default:
		return fuzz_number(&me->state);
	}
}

/* Keep overwriting the request and the regions. */
static void *scribble(void *argument)
{
	struct racer *me = argument;
	volatile uint64_t *words = (void *)page(me->all, REQUEST);
	struct profil_region *regions = (void *)page(me->all, AFTER_REQUEST);

	pthread_barrier_wait(&me->all->start);
	while (!me->all->over) {
		size_t index = number_below(&me->state, 15);

		words[index] = field(me, index);
		/*
		 * The rest of a longer structure is mostly zero, as it must be.
		 */
		words[15 + number_below(&me->state, PAGE / 8 - 15)] =
			!number_below(&me->state, 64);
		for (size_t i = 15; i < PAGE / 8; i++)
			words[i] = 0;
		regions[number_below(&me->state, 6)] = counter_region(me);
	}
	return NULL;
}

/* Keep unmapping memory, and mapping it again. */
static void *pull(void *argument)
{
	struct racer *me = argument;
	static const int which[] = {
		RESULTS, COUNTERS, MORE_COUNTERS,
	};

	pthread_barrier_wait(&me->all->start);
	while (!me->all->over) {
		int nr = ONE_OF(which, &me->state);
		uint8_t *at = page(me->all, nr);

		switch (number_below(&me->state, 4)) {
		case 0:
			mprotect(at, PAGE, number_below(&me->state, 2) *
					   PROT_READ);
			break;
		case 1:
			munmap(at, PAGE);
			break;
		case 2:
			madvise(at, PAGE, MADV_DONTNEED);
			break;
		}
		if (!map_page(me->all, nr))
			me->all->sum->wrong++;
		usleep(number_below(&me->state, 200));
	}
	return NULL;
}

static void *call_scribbled(void *argument)
{
	static const unsigned int requests[] = {
		PROFIL_IOC_SET, PROFIL_IOC_SET, PROFIL_IOC_STATUS,
		PROFIL_IOC_STOP, PROFIL_IOC_ACCOUNT,
	};
	struct racer *me = argument;

	pthread_barrier_wait(&me->all->start);
	while (goes_on(me)) {
		call(me, ONE_OF(requests, &me->state), page(me->all, REQUEST));
		if (!number_below(&me->state, 8))
			look(me, PROFIL_IOC_STATUS);
	}
	return NULL;
}

TEST_F_TIMEOUT(race, arguments_that_change, FUZZ_TIMEOUT)
{
	void *(*const runs[])(void *) = {
		call_scribbled, call_scribbled, scribble, pull,
	};

	race(self, runs, ARRAY_SIZE(runs), CALLS);
	for (int i = RESULTS; i <= MORE_COUNTERS; i++)
		EXPECT_TRUE(i == HOLE || i == CANARY_2 || map_page(self, i));
}

static void start(struct racer *me)
{
	static const uint32_t widths[] = { 2, 4, 8 };
	struct profil_region regions[3] = {
		counter_region(me), counter_region(me), counter_region(me),
	};
	struct profil_set set = {
		.size = sizeof(set),
		.flags = number_below(&me->state, 128),
		.width = ONE_OF(widths, &me->state),
		.nr_regions = 1 + number_below(&me->state, 3),
		.regions = (uintptr_t)regions,
		.period_ns = 100000 + number_below(&me->state, MS),
	};

	call(me, PROFIL_IOC_SET, &set);
}

/* Move the anchor to the page that is kept free for it. */
static void move_anchor(struct racer *me)
{
	void *anchor = find_anchor();

	if (anchor && anchor != page(me->all, HOLE))
		mremap(anchor, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		       page(me->all, HOLE));
}

/* What a forked child does, alone with its copy of everything. */
static void be_child(struct racer *me)
{
	static char *const nothing[] = { "true", NULL };

	me->state ^= getpid() * 0x9e3779b97f4a7c15ULL;
	look(me, PROFIL_IOC_STATUS);
	switch (number_below(&me->state, 4)) {
	case 0:
		start(me);
		look(me, PROFIL_IOC_STOP);
		break;
	case 1:
		unmap_anchor();
		break;
	case 2:
		execv("/bin/true", nothing);
	}
	_exit(0);
}

static void fork_one(struct racer *me)
{
	pid_t child = fork_child();

	if (!child)
		be_child(me);
	if (child < 0 || wait_child(child))
		me->all->sum->wrong++;
}

static void *live(void *argument)
{
	struct racer *me = argument;

	pthread_barrier_wait(&me->all->start);
	while (goes_on(me)) {
		switch (number_below(&me->state, 64)) {
		case 0:
			fork_one(me);
			break;
		case 1:
			unmap_anchor();
			break;
		case 2:
			move_anchor(me);
			break;
		case 3 ... 12:
			look(me, PROFIL_IOC_STOP);
			break;
		case 13 ... 16:
			call(me, PROFIL_IOC_STOP, NULL);
			break;
		case 17 ... 20:
			look_at_account(me);
			break;
		case 21 ... 36:
			look(me, PROFIL_IOC_STATUS);
			break;
		default:
			start(me);
		}
	}
	return NULL;
}

TEST_F_TIMEOUT(race, lives_that_cross, FUZZ_TIMEOUT)
{
	void *(*const runs[])(void *) = { live, live, live, live };

	race(self, runs, ARRAY_SIZE(runs), CALLS / 2);
}

/* The same, but each in an address space of its own. */
TEST_F_TIMEOUT(race, processes_side_by_side, FUZZ_TIMEOUT)
{
	void *(*const runs[])(void *) = { live, live };
	pid_t children[CALLERS];

	for (int i = 0; i < CALLERS; i++) {
		children[i] = fork_child();
		ASSERT_LE(0, children[i]);
		if (children[i])
			continue;
		self->seed += i;
		race(self, runs, ARRAY_SIZE(runs), CALLS / 8);
		_exit(0);
	}
	for (int i = 0; i < CALLERS; i++)
		EXPECT_EQ(0, wait_child(children[i]));
}

TEST_HARNESS_MAIN
