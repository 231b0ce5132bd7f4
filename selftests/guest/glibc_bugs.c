// SPDX-License-Identifier: GPL-2.0-only
/*
 * glibc_bugs.c - bugs of the C library's profil() and sprofil()
 *
 * The same code provokes each bug twice, each time in a new process: with the C
 * library's functions, only to report what they do, so this never fails a test;
 * and with ours, which must be correct. The test of the wrong period is
 * icount/period.c.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

/* One counter for 64 KiB of text: here one for the whole program. */
#define TEXT	((size_t)&__executable_start)
#define ALL	2

/* How long to wait for ticks that may not come: forty periods. */
#define PATIENCE	(400 * MS)

struct library {
	int (*profil)(unsigned short *counters, size_t size, size_t offset,
		      unsigned int scale);
	int (*sprofil)(struct prof *regions, int nr, struct timeval *time,
		       unsigned int flags);
};

/* The results of a process, for the test to read. */
struct seen {
	long number[3];
	unsigned short counters[2][512];
};

FIXTURE(glibc_bugs) {
	struct library c, ours;
	struct seen *seen;
};

FIXTURE_SETUP(glibc_bugs)
{
	void *c = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);

	ASSERT_NE(NULL, c);
	self->c.profil = dlsym(c, "profil");
	self->c.sprofil = dlsym(c, "sprofil");
	self->ours.profil = profil;
	self->ours.sprofil = sprofil;
	ASSERT_NE(NULL, self->c.profil);
	ASSERT_NE(NULL, self->c.sprofil);
	ASSERT_NE(self->ours.profil, self->c.profil);
	ASSERT_NE(self->ours.sprofil, self->c.sprofil);
	self->seen = mmap(NULL, sizeof(*self->seen), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->seen);
}

FIXTURE_TEARDOWN(glibc_bugs)
{
}

static void die_by_it(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

/*
 * Die without a core dump and, as there is a handler, without a line in the
 * kernel's log.
 */
static void prepare_to_die(void)
{
	struct rlimit no_core = { 0, 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGSEGV, die_by_it);
	signal(SIGBUS, die_by_it);
	/* Keep the messages of free() out of the report. */
	if (!freopen("/dev/null", "w", stderr))
		_exit(99);
	alarm(TEST_TIMEOUT_DEFAULT / 10);
}

/* Returns the exit status, or minus the signal that killed the process. */
static int provoke(FIXTURE_DATA(glibc_bugs) *self,
		   const struct library *library,
		   void (*bug)(const struct library *library,
			       struct seen *seen))
{
	pid_t child;

	memset(self->seen, 0, sizeof(*self->seen));
	child = fork_child();
	if (child)
		return wait_child(child);
	prepare_to_die();
	bug(library, self->seen);
	_exit(0);
}

static const char *ended(int status)
{
	static char text[80];

	if (status < 0)
		snprintf(text, sizeof(text), "killed by %s",
			 strsignal(-status));
	else
		snprintf(text, sizeof(text), "exit status %d", status);
	return text;
}

/* Spend CPU time until a counter has gained @nr or patience runs out. */
static long burn_gained(const volatile unsigned short *counter, long nr)
{
	uint64_t end = worked_ns() + PATIENCE;
	unsigned short before = *counter;

	while (*counter - before < nr && worked_ns() < end)
		burn_thread_ns(MS);
	return *counter - before;
}

static unsigned short counters[8];

static void profile_all(const struct library *library)
{
	if (library->profil(counters, sizeof(counters), TEXT, ALL))
		_exit(98);
}

static void set_scale_0(const struct library *library, struct seen *seen)
{
	profile_all(library);
	seen->number[0] = burn_gained(counters, 2);
	seen->number[1] = library->profil(counters, sizeof(counters), TEXT, 0);
	seen->number[2] = burn_gained(counters, 2);
}

TEST_F(glibc_bugs, scale_0_does_not_stop_it)
{
	const long *number = self->seen->number;

	provoke(self, &self->c, set_scale_0);
	TH_LOG("C library: %ld ticks before scale 0, %ld after", number[0],
	       number[2]);
	EXPECT_EQ(0, provoke(self, &self->ours, set_scale_0));
	EXPECT_LE(2, number[0]);
	EXPECT_EQ(0, number[1]);
	EXPECT_EQ(0, number[2]);
}

static void fork_one(const struct library *library, struct seen *seen)
{
	pid_t child;

	profile_all(library);
	seen->number[0] = burn_gained(counters, 2);
	child = fork_child();
	if (!child)
		seen->number[1] = burn_gained(counters, 5);
	else
		seen->number[2] = wait_child(child);
}

TEST_F(glibc_bugs, child_collects_nothing)
{
	const long *number = self->seen->number;

	provoke(self, &self->c, fork_one);
	TH_LOG("C library: %ld ticks of the parent, %ld of its child",
	       number[0], number[1]);
	EXPECT_EQ(0, provoke(self, &self->ours, fork_one));
	EXPECT_LE(2, number[0]);
	EXPECT_LE(5, number[1]);
	EXPECT_EQ(0, number[2]);
}

static void execute(const struct library *library, struct seen *seen)
{
	char path[4096];

	helper_path(path, sizeof(path), "report");
	profile_all(library);
	seen->number[0] = burn_gained(counters, 1);
	execl(path, path, NULL);
	_exit(97);
}

TEST_F(glibc_bugs, exec_kills_the_new_program)
{
	TH_LOG("C library: the new program: %s",
	       ended(provoke(self, &self->c, execute)));
	/* The new program asks the device */
	EXPECT_EQ(in_user_space() ? 100 : PROFIL_STATE_OFF,
		  provoke(self, &self->ours, execute));
	EXPECT_LE(1, self->seen->number[0]);
}

static void call_three_times(const struct library *library, struct seen *seen)
{
	int i;

	for (i = 0; i < 3; i++) {
		struct prof region = { &counters[i], sizeof(counters[i]), TEXT,
				       ALL };

		if (library->sprofil(&region, 1, NULL, PROF_USHORT))
			_exit(98);
		seen->number[i] = burn_gained(&counters[i], 2);
	}
}

TEST_F(glibc_bugs, second_call_only_stops_and_third_aborts)
{
	const long *number = self->seen->number;
	int status = provoke(self, &self->c, call_three_times);

	TH_LOG("C library: %ld, %ld and %ld ticks after each of three calls; %s",
	       number[0], number[1], number[2], ended(status));
	EXPECT_EQ(0, provoke(self, &self->ours, call_three_times));
	EXPECT_LE(2, number[0]);
	EXPECT_LE(2, number[1]);
	EXPECT_LE(2, number[2]);
}

/* Addresses at which no program has text. */
#define LOW	0x100000UL
#define MIDDLE	0x400000UL
#define HIGH	0x800000UL
#define BEYOND	0x7ffffffff000UL

static void profile_two(const struct library *library, struct seen *seen,
			size_t first, size_t second)
{
	size_t size = sizeof(seen->counters[0]);
	struct prof regions[] = {
		{ seen->counters[0], size, first, 65536 },
		{ seen->counters[1], size, second, 65536 },
	};

	if (library->sprofil(regions, 2, NULL, PROF_USHORT))
		_exit(98);
}

static void be_below_every_region(const struct library *library,
				  struct seen *seen)
{
	profile_two(library, seen, BEYOND, BEYOND + 4096);
	burn_process_ns(PATIENCE);
	seen->number[0] = status_now().counts.outside;
}

TEST_F(glibc_bugs, pc_below_every_region_crashes)
{
	TH_LOG("C library: %s",
	       ended(provoke(self, &self->c, be_below_every_region)));
	EXPECT_EQ(0, provoke(self, &self->ours, be_below_every_region));
	EXPECT_LT(0, self->seen->number[0]);
	EXPECT_EQ(0, sum16(self->seen->counters[0], 1024));
}

static struct seen *last_words;

static void on_time_is_up(int number)
{
	(void)number;
	last_words->number[0] = status_now().counts.outside;
	_exit(0);
}

/*
 * In low memory, where the text of programs used to be: when the C library
 * finds no region it uses the address divided by 64 KiB as the index of a
 * counter.
 */
static void be_between_regions(const struct library *library,
			       struct seen *seen)
{
	struct itimerval timer = { .it_value.tv_usec = PATIENCE / 1000 };
	void *loop = loop_at(MIDDLE);

	if (!loop)
		_exit(96);
	last_words = seen;
	signal(SIGVTALRM, on_time_is_up);
	setitimer(ITIMER_VIRTUAL, &timer, NULL);
	profile_two(library, seen, LOW, HIGH);
	stand_still(loop);
}

TEST_F(glibc_bugs, pc_in_no_region_is_credited_to_one)
{
	int status = provoke(self, &self->c, be_between_regions);
	const struct seen *seen = self->seen;

	TH_LOG("C library: %lu and %lu ticks in regions below and above; %s",
	       sum16(seen->counters[0], 512), sum16(seen->counters[1], 512),
	       ended(status));
	EXPECT_EQ(0, provoke(self, &self->ours, be_between_regions));
	EXPECT_LT(0, seen->number[0]);
	EXPECT_EQ(0, sum16(seen->counters[0], 1024));
}

static void give_a_bad_buffer(const struct library *library,
			      struct seen *seen)
{
	seen->number[0] = library->profil((void *)8, 4096, TEXT, ALL);
	seen->number[1] = errno;
	burn_process_ns(PATIENCE / 4);
}

static void give_a_bad_region(const struct library *library,
			      struct seen *seen)
{
	struct prof region = { (void *)8, 4096, TEXT, ALL };

	seen->number[0] = library->sprofil(&region, 1, NULL, PROF_USHORT);
	burn_process_ns(PATIENCE / 4);
}

TEST_F(glibc_bugs, bad_buffer_crashes)
{
	const long *number = self->seen->number;
	int status = provoke(self, &self->c, give_a_bad_buffer);

	TH_LOG("C library: profil() returns %ld; %s", number[0],
	       ended(status));
	status = provoke(self, &self->c, give_a_bad_region);
	TH_LOG("C library: sprofil() returns %ld; %s", number[0],
	       ended(status));
	EXPECT_EQ(0, provoke(self, &self->ours, give_a_bad_buffer));
	EXPECT_EQ(-1, number[0]);
	EXPECT_EQ(EFAULT, number[1]);
	EXPECT_EQ(0, provoke(self, &self->ours, give_a_bad_region));
	EXPECT_EQ(0, number[0]);
}

static volatile sig_atomic_t prof_signals;

static void on_prof(int number)
{
	(void)number;
	prof_signals++;
}

static void handle_sigprof(const struct library *library, struct seen *seen)
{
	profile_all(library);
	seen->number[0] = burn_gained(counters, 2);
	signal(SIGPROF, on_prof);
	seen->number[1] = burn_gained(counters, 5);
	seen->number[2] = prof_signals;
}

TEST_F(glibc_bugs, handler_of_the_application_ends_it)
{
	const long *number = self->seen->number;

	provoke(self, &self->c, handle_sigprof);
	TH_LOG("C library: %ld ticks before there is a handler, %ld after; the handler gets %ld signals",
	       number[0], number[1], number[2]);
	EXPECT_EQ(0, provoke(self, &self->ours, handle_sigprof));
	EXPECT_LE(2, number[0]);
	EXPECT_LE(5, number[1]);
	EXPECT_EQ(0, number[2]);
}

static void fill_a_counter(const struct library *library, struct seen *seen)
{
	int patience = 50;

	counters[0] = UINT16_MAX;
	profile_all(library);
	do {
		burn_process_ns(PATIENCE / 40);
		seen->number[1] = status_now().counts.clipped;
	} while (counters[0] == UINT16_MAX && !seen->number[1] && --patience);
	seen->number[0] = counters[0];
}

TEST_F(glibc_bugs, counters_wrap)
{
	const long *number = self->seen->number;

	provoke(self, &self->c, fill_a_counter);
	TH_LOG("C library: a counter of 65535 becomes %ld", number[0]);
	EXPECT_EQ(0, provoke(self, &self->ours, fill_a_counter));
	EXPECT_EQ(UINT16_MAX, number[0]);
	EXPECT_LT(0, number[1]);
}

TEST_HARNESS_MAIN
