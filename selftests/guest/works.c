// SPDX-License-Identifier: GPL-2.0-only
/*
 * works.c - the module's works, of users whose works have to wait
 *
 * Works that bring in pages of a file wait while a hole is being punched into it,
 * here for long: the task that does it has 0.1 % of a CPU. A user has few works
 * that may wait; those of the user's other processes try again now and then.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "watch.h"

NEEDS_ROOT;
NEEDS_TWO_CPUS;

#define HOSTILE		100001
#define INNOCENT	200001

#define FILE_SIZE	(128 << 20)

/* More than the works of a user that may wait. */
#define CROWD		512

/* The queue runs 512 works at a time, later kernels more. */
#define USERS		60
#define WORKS		10
#define FULL		500

#define TRACING		"/sys/kernel/tracing"
#define INSTANCE	TRACING "/instances/profil-works"

#define HUNG_TASK	"/proc/sys/kernel/hung_task_timeout_secs"

/**
 * struct stage - memory that all processes share
 * @ready: how many have a profile
 * @done: how many have had ticks whose page is missing
 * @hogs: how many have CPU 0 for themselves
 * @is_punched: the hole is there
 */
static struct stage {
	atomic_int ready;
	atomic_int done;
	atomic_int hogs;
	atomic_bool is_punched;
} *stage;

FIXTURE(works) {
	int file;
	int go[2];
	pid_t children[USERS * WORKS + 3];
	int nr;
	char hung_task[24];
};

FIXTURE_SETUP(works)
{
	/* On a busy host the workers wait for so long that the kernel would panic */
	snprintf(self->hung_task, sizeof(self->hung_task), "%llu",
		 (unsigned long long)number_of(HUNG_TASK, ""));
	write_file(HUNG_TASK, "0");
	stage = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, stage);
	self->file = memfd_create("hole", MFD_CLOEXEC);
	ASSERT_EQ(0, fallocate(self->file, 0, 0, FILE_SIZE));
	ASSERT_EQ(0, pipe(self->go));
	/* What is punched slowly has CPU 0 */
	ASSERT_EQ(0, pin_to(1));
}

FIXTURE_TEARDOWN(works)
{
	while (self->nr)
		kill(self->children[--self->nr], SIGKILL);
	while (wait(NULL) > 0)
		;
	write_file(HUNG_TASK, self->hung_task);
	close(self->file);
	munmap(stage, PAGE);
}

/* Return: whether this is the child, which does not keep others from going. */
static bool begin_child(FIXTURE_DATA(works) *self)
{
	pid_t child = fork_child();

	if (child)
		self->children[self->nr++] = child;
	else
		close(self->go[1]);
	return !child;
}

static uint32_t *counters_in_hole(const FIXTURE_DATA(works) *self)
{
	return mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->file,
		    0);
}

/* Begin a profile, and wait until the hole is being punched. */
static void get_ready(const FIXTURE_DATA(works) *self, uid_t user,
		      const struct profil_region *regions, unsigned int nr)
{
	char byte;

	if (become(user) || set_regions(regions, nr, sizeof(uint32_t), MS / 5, 0))
		_exit(1);
	stage->ready++;
	if (read(self->go[0], &byte, 1))
		_exit(2);
}

static void count_in_hole(FIXTURE_DATA(works) *self, uid_t user)
{
	struct profil_region all = overflow_bin(counters_in_hole(self),
						sizeof(uint32_t));

	burn_thread_ns(1);
	get_ready(self, user, &all, 1);
	burn_thread_ns(2 * MS);
	stage->done++;
	pause();
	_exit(3);
}

/*
 * Half of what can wait: by so many, the work is no longer left to its turn, but
 * once, and not with each tick that joins them.
 */
#define HALF		16

/* Have that many counters wait, and then go on with more ticks for them. */
static void count_on_in_hole(FIXTURE_DATA(works) *self, uid_t user)
{
	uint32_t *counters = counters_in_hole(self);
	struct profil_region regions[HALF];
	char *code = map_spin_code(HALF);

	for (int i = 0; i < HALF; i++)
		regions[i] = counter_of(code + i * PAGE, code + (i + 1) * PAGE,
					&counters[i], sizeof(*counters));
	get_ready(self, user, regions, HALF);
	for (int i = 0; i < 5000; i++) {
		spin_ns(code + i % HALF * PAGE, 2 * MS);
		if (i == HALF)
			stage->done++;
	}
	_exit(3);
}

static void gather(FIXTURE_DATA(works) *self, int nr, uid_t user)
{
	while (nr--)
		if (begin_child(self))
			count_in_hole(self, user);
}

static void hog(void)
{
	if (!pin_to(0) && !setpriority(PRIO_PROCESS, 0, -5)) {
		stage->hogs++;
		burn_process_ns(1000 * SECOND);
	}
	_exit(1);
}

static void punch_slowly(int file)
{
	struct sched_param none = { 0 };

	if (pin_to(0) || sched_setscheduler(0, SCHED_IDLE, &none))
		_exit(1);
	fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
		  FILE_SIZE);
	stage->is_punched = true;
	_exit(0);
}

static bool soon(atomic_int *number, int nr)
{
	int tries = 60000;

	while (*number < nr && --tries)
		usleep(1000);
	return tries;
}

/* Have so many processes take ticks in the hole. */
static bool strike(FIXTURE_DATA(works) *self, int nr)
{
	struct stat stat = { 0 };
	int tries = 60000;

	if (!soon(&stage->ready, nr))
		return false;
	if (begin_child(self))
		hog();
	if (!soon(&stage->hogs, 1))
		return false;
	if (begin_child(self))
		punch_slowly(self->file);
	while (!fstat(self->file, &stat) && stat.st_blocks >= FILE_SIZE / 512 &&
	       --tries)
		usleep(1000);
	close(self->go[1]);
	return tries && soon(&stage->done, nr);
}

/* How often it was since the probes are there. */
static uint64_t number_of_calls(const char *event)
{
	return number_of(TRACING "/kprobe_profile", event);
}

/* Nor does a tick hurry them that joins those which wait already. */
TEST_F(works, those_that_cannot_begin_are_few)
{
	uint64_t begin, works, kicks;
	double seconds;

	if (write_file(TRACING "/kprobe_events",
		       "p:works/flush profil_flush_work\n"
		       "p:works/kick profil_flush_kick\n"))
		SKIP(return, "no kprobe events");
	ASSERT_EQ(0, mkdir(INSTANCE, 0755));
	EXPECT_EQ(0, write_file(INSTANCE "/events/works/enable", "1"));
	gather(self, CROWD, HOSTILE);
	if (begin_child(self))
		count_on_in_hole(self, HOSTILE);
	EXPECT_TRUE(strike(self, CROWD + 1));
	begin = monotonic_ns();
	works = number_of_calls("  flush");
	kicks = number_of_calls("  kick");
	EXPECT_LT(0, works);
	EXPECT_LT(0, kicks);
	usleep(2000000);
	works = number_of_calls("  flush") - works;
	kicks = number_of_calls("  kick") - kicks;
	seconds = (monotonic_ns() - begin) / 1e9;
	TH_LOG("%.0f works in a second, %llu hurried%s", works / seconds,
	       (unsigned long long)kicks,
	       stage->is_punched ? ", and the hole is there" : "");
	/* On a busy host, the hole may be there before the first second is over */
	EXPECT_TRUE(works || stage->is_punched);
	EXPECT_GT(3000, works / seconds);
	EXPECT_GT(HALF, kicks);
	EXPECT_EQ(0, write_file(INSTANCE "/events/works/enable", "0"));
	EXPECT_EQ(0, rmdir(INSTANCE));
	EXPECT_EQ(0, write_file(TRACING "/kprobe_events",
				"-:works/flush\n-:works/kick\n"));
}

/* How many workers of unbound queues wait, as for a page. */
static int waiting_workers(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int nr = 0;

	while ((entry = readdir(proc))) {
		char path[300], name[40] = "";
		pid_t pid = atoi(entry->d_name);
		FILE *file;

		if (!pid)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file) &&
		    !strncmp(name, "kworker/u", 9))
			nr += process_state(pid) == 'D';
		fclose(file);
	}
	closedir(proc);
	return nr;
}

/* Return: 0 if a watch has got the path of a file, and the wait of a thread. */
static int watch_oneself(void *unused)
{
	struct profil_watch_status status = { .size = sizeof(status) };
	struct watch watch;

	(void)unused;
	if (become(INNOCENT) ||
	    watch_process(&watch, getpid(), PROFIL_WATCH_WALL))
		return 1;
	TRY_UNTIL(watch_nr_objects(&watch) > PROFIL_OBJECT_FILES)
		burn_thread_ns(5 * MS);
	if (!watch_path_soon(&watch, PROFIL_OBJECT_FILES)[0])
		return 2;
	if (ioctl(watch.fd, PROFIL_IOC_WATCH_COLLECT, &status))
		return 3;
	watch_end(&watch);
	return 0;
}

TEST_F(works, that_wait_are_not_in_the_way_of_others)
{
	struct child innocent;

	for (int i = 0; i < USERS; i++)
		gather(self, WORKS, HOSTILE + i);
	EXPECT_TRUE(strike(self, USERS * WORKS));
	for (int tries = 100; waiting_workers() < FULL && --tries;)
		usleep(100000);
	TH_LOG("%d workers wait", waiting_workers());
	innocent = child_begin(watch_oneself, NULL);
	EXPECT_EQ(0, child_end(&innocent));
	EXPECT_LE(FULL, waiting_workers());
	EXPECT_FALSE(stage->is_punched);
}

TEST_HARNESS_MAIN
