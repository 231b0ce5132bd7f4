// SPDX-License-Identifier: GPL-2.0-only
/*
 * bad_memory.c - counters in missing, read-only or otherwise bad memory
 *
 * A page that is merely missing costs no tick. Bad memory turns the region off
 * for good, and the status gives the reason. Memory that a process holds back
 * delays no other process. The kernel changes no byte beside the counters and
 * never sends a signal; the application's own profiling timer goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "watch.h"

#define FULL_FS	"/run/profil-full"

static volatile sig_atomic_t signals, prof_signals;

static void on_signal(int number)
{
	(void)number;
	signals++;
}

/*
 * Every test counts all its ticks in one 32-bit counter, and differs in the
 * memory at the counter's address.
 */
FIXTURE(bad_memory) {
	struct profil_region_status region;
	struct profil_status status;
};

FIXTURE_SETUP(bad_memory)
{
	struct sigaction action = { .sa_handler = on_signal };
	static const int all[] = {
		SIGPROF, SIGSEGV, SIGBUS, SIGALRM, SIGVTALRM, SIGTRAP,
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		ASSERT_EQ(0, sigaction(all[i], &action, NULL));
	self->status.size = sizeof(self->status);
}

FIXTURE_TEARDOWN(bad_memory)
{
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_EQ(0, signals);
}

static int start_width(void *counter, unsigned int width)
{
	struct profil_region region = overflow_bin(counter, width);

	return set_regions(&region, 1, width, MS, 0);
}

static int start(void *counter)
{
	return start_width(counter, 4);
}

static void *map(size_t size, int flags)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_ANONYMOUS | flags, -1, 0);
}

static void look(struct __test_metadata *_metadata,
		 FIXTURE_DATA(bad_memory) *self)
{
	ASSERT_EQ(0, profil_status(&self->status, &self->region, 1));
	EXPECT_CONSERVED(&self->status);
}

static void stop(struct __test_metadata *_metadata,
		 FIXTURE_DATA(bad_memory) *self)
{
	ASSERT_EQ(0, profil_stop(&self->status, &self->region, 1));
	EXPECT_CONSERVED(&self->status);
	EXPECT_EQ(0, self->status.pending);
}

/* No tick is lost: the counter has grown by what the stats call counted. */
static void nothing_lost(struct __test_metadata *_metadata,
			 FIXTURE_DATA(bad_memory) *self,
				 const uint32_t *counter,
			 uint32_t initially)
{
	stop(_metadata, self);
	EXPECT_EQ(PROFIL_REGION_ON, self->region.state);
	EXPECT_EQ(0, self->status.counts.lost);
	EXPECT_LT(0, self->status.counts.counted);
	EXPECT_EQ(initially + self->status.counts.counted, *counter);
}

/* Burn CPU time until the region is off and none of its ticks is pending. */
static void goes_off(struct __test_metadata *_metadata,
		     FIXTURE_DATA(bad_memory) *self, enum profil_region_state why)
{
	int patience = 1000;

	do {
		burn_thread_ns(5 * MS);
		look(_metadata, self);
	} while ((self->region.state == PROFIL_REGION_ON ||
		  self->status.pending) && --patience);
	EXPECT_EQ(why, self->region.state);
	EXPECT_EQ(PROFIL_STATE_ON, self->status.state);
}

/* The region stays off, and its ticks are outside from now on. */
static void stays_off(struct __test_metadata *_metadata,
		      FIXTURE_DATA(bad_memory) *self)
{
	struct profil_region_status before = self->region;
	uint64_t outside = self->status.counts.outside;

	EXPECT_TRUE(burn_ticks(5));
	look(_metadata, self);
	EXPECT_EQ(before.state, self->region.state);
	EXPECT_EQ(before.counted, self->region.counted);
	EXPECT_EQ(before.lost, self->region.lost);
	EXPECT_LE(outside + 5, self->status.counts.outside);
}

TEST_F(bad_memory, page_never_touched)
{
	uint32_t *counter = map(PAGE, MAP_PRIVATE);

	ASSERT_EQ(0, start(counter));
	burn_thread_ns(50 * MS);
	nothing_lost(_metadata, self, counter, 0);
	EXPECT_LT(10, *counter);
}

/* A counter of a page that is absent has room for one tick, or a few. */
static void fills_up(struct __test_metadata *_metadata,
		     FIXTURE_DATA(bad_memory) *self, unsigned int width,
		     uint64_t max)
{
	int fd = memfd_create("counters", MFD_CLOEXEC);
	uint64_t *counter, found = 0, initially = max - 1;

	ASSERT_EQ(0, ftruncate(fd, PAGE));
	ASSERT_EQ(width, pwrite(fd, &initially, width, 0));
	counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	ASSERT_EQ(0, start_width(counter, width));
	do {
		/* Thrown away, the page has what is in the file */
		ASSERT_EQ(0, madvise(counter, PAGE, MADV_DONTNEED));
		burn_thread_ns(5 * MS);
		look(_metadata, self);
	} while (!self->status.counts.clipped);
	stop(_metadata, self);
	memcpy(&found, counter, width);
	EXPECT_EQ(max, found);
}

TEST_F(bad_memory, page_of_a_counter_of_8_bytes)
{
	uint64_t *counter = map(PAGE, MAP_PRIVATE);

	ASSERT_EQ(0, start_width(counter, 8));
	burn_thread_ns(50 * MS);
	stop(_metadata, self);
	EXPECT_LT(10, *counter);
	EXPECT_EQ(self->status.counts.counted, *counter);
}

TEST_F(bad_memory, page_of_a_counter_that_fills_up)
{
	fills_up(_metadata, self, 8, UINT64_MAX);
	fills_up(_metadata, self, 4, UINT32_MAX);
}

TEST_F(bad_memory, page_that_was_only_read)
{
	uint32_t *counter = map(PAGE, MAP_PRIVATE);

	/* Reading maps the shared zero page */
	EXPECT_EQ(0, *(volatile uint32_t *)counter);
	ASSERT_EQ(0, start(counter));
	burn_thread_ns(50 * MS);
	nothing_lost(_metadata, self, counter, 0);
}

TEST_F(bad_memory, page_of_a_private_file)
{
	int fd = memfd_create("counters", MFD_CLOEXEC);
	uint32_t *counter, in_file = 0;

	ASSERT_EQ(0, ftruncate(fd, PAGE));
	ASSERT_EQ(4, pwrite(fd, "\5\0\0\0", 4, 0));
	counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	ASSERT_EQ(0, start(counter));
	burn_thread_ns(50 * MS);
	nothing_lost(_metadata, self, counter, 5);
	ASSERT_EQ(4, pread(fd, &in_file, 4, 0));
	EXPECT_EQ(5, in_file);
}

TEST_F(bad_memory, page_of_a_shared_file)
{
	int fd = memfd_create("counters", MFD_CLOEXEC);
	uint32_t *counter, in_file = 0;

	ASSERT_EQ(0, ftruncate(fd, PAGE));
	counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_EQ(0, start(counter));
	burn_thread_ns(50 * MS);
	nothing_lost(_metadata, self, counter, 0);
	ASSERT_EQ(4, pread(fd, &in_file, 4, 0));
	EXPECT_EQ(*counter, in_file);
}

/* Takes much longer than the check in burn_by_turns() whether to go on. */
OWN_TEXT(turn) static void turn(void)
{
	volatile unsigned int i;

	for (i = 0; i < 100000; i++)
		;
}

/*
 * Burn until the first region has @nr more ticks. A fixed CPU time would not
 * do: if the host takes the CPU away meanwhile, all ticks of that time count
 * wherever the program happens to be, which may be outside the region.
 */
static bool burn_by_turns(uint64_t nr)
{
	struct profil_region_status region = { .counted = 0 };
	struct profil_status status = { .size = sizeof(status) };
	int patience = 1000;

	do {
		turn();
		turn();
		if (profil_status(&status, &region, 1))
			return false;
	} while (region.counted < nr && --patience);
	return region.counted >= nr;
}

/*
 * Fork makes the page copy-on-write in both processes: each then counts in a
 * page of its own, and its stats say how much that has grown.
 */
static void copied_after_fork(struct __test_metadata *_metadata,
			      FIXTURE_DATA(bad_memory) *self, uint32_t *counter)
{
	/* Only for the text that runs after the fork */
	struct profil_region region = counter_of(START_OF(turn),
						 END_OF(turn), counter, 4);
	pid_t child;

	*counter = 7;
	ASSERT_EQ(0, set_regions(&region, 1, 4, MS, 0));
	child = fork_child();
	ASSERT_LE(0, child);
	EXPECT_TRUE(burn_by_turns(20));
	if (!child) {
		nothing_lost(_metadata, self, counter, 7);
		_exit(!__test_passed(_metadata));
	}
	EXPECT_EQ(0, wait_child(child));
	nothing_lost(_metadata, self, counter, 7);
}

TEST_F(bad_memory, page_copied_after_fork)
{
	uint32_t *counter = map(PAGE, MAP_PRIVATE);

	copied_after_fork(_metadata, self, counter);
}

TEST_F(bad_memory, page_shared_after_fork)
{
	uint32_t *counter = map(PAGE, MAP_SHARED);
	uint64_t *of_child = map(PAGE, MAP_SHARED);
	pid_t child;

	ASSERT_EQ(0, start(counter));
	child = fork_child();
	ASSERT_LE(0, child);
	if (!child) {
		burn_thread_ns(100 * MS);
		stop(_metadata, self);
		*of_child = self->status.counts.counted;
		_exit(!__test_passed(_metadata));
	}
	burn_thread_ns(100 * MS);
	EXPECT_EQ(0, wait_child(child));
	stop(_metadata, self);
	EXPECT_LT(20, *of_child);
	EXPECT_EQ(0, self->status.counts.lost);
	EXPECT_EQ(*of_child + self->status.counts.counted, *counter);
}

TEST_F(bad_memory, page_made_readonly)
{
	uint32_t *counter = map(PAGE, MAP_PRIVATE);
	uint32_t before;

	ASSERT_EQ(0, start(counter));
	EXPECT_TRUE(burn_ticks(5));
	ASSERT_EQ(0, mprotect(counter, PAGE, PROT_READ));
	before = *counter;
	goes_off(_metadata, self, PROFIL_REGION_READONLY);
	EXPECT_LT(0, self->region.lost);
	EXPECT_EQ(before, self->region.counted);
	ASSERT_EQ(0, mprotect(counter, PAGE, PROT_READ | PROT_WRITE));
	stays_off(_metadata, self);
	EXPECT_EQ(before, *counter);
}

TEST_F(bad_memory, page_made_inaccessible)
{
	uint32_t *counter = map(PAGE, MAP_PRIVATE);

	ASSERT_EQ(0, start(counter));
	EXPECT_TRUE(burn_ticks(5));
	ASSERT_EQ(0, mprotect(counter, PAGE, PROT_NONE));
	goes_off(_metadata, self, PROFIL_REGION_READONLY);
	stays_off(_metadata, self);
}

TEST_F(bad_memory, page_unmapped)
{
	uint32_t *counter = map(PAGE, MAP_PRIVATE);

	ASSERT_EQ(0, start(counter));
	EXPECT_TRUE(burn_ticks(5));
	ASSERT_EQ(0, munmap(counter, PAGE));
	goes_off(_metadata, self, PROFIL_REGION_UNMAPPED);
	/* The profile must not touch what is mapped there later. */
	ASSERT_EQ(counter, mmap(counter, PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	*counter = 0x5555;
	stays_off(_metadata, self);
	EXPECT_EQ(0x5555, *counter);
}

TEST_F(bad_memory, file_truncated_below_it)
{
	int fd = memfd_create("counters", MFD_CLOEXEC);
	uint32_t *counter;

	ASSERT_EQ(0, ftruncate(fd, 2 * PAGE));
	counter = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       0);
	ASSERT_EQ(0, start(counter + PAGE / 4));
	EXPECT_TRUE(burn_ticks(5));
	ASSERT_EQ(0, ftruncate(fd, PAGE));
	goes_off(_metadata, self, PROFIL_REGION_NOPAGE);
	ASSERT_EQ(0, ftruncate(fd, 2 * PAGE));
	stays_off(_metadata, self);
	EXPECT_EQ(0, counter[PAGE / 4]);
}

/*
 * Another user may have filled it, and the program has touched no page of the
 * file. The ticks of that time may be lost.
 */
TEST_F(bad_memory, tmpfs_full_for_a_moment)
{
	uint32_t *counter;
	int fd, other;

	mkdir(FULL_FS, 0755);
	if (mount("profil", FULL_FS, "tmpfs", 0, "nr_blocks=1"))
		SKIP(return, "tmpfs: %s", strerror(errno));
	fd = open(FULL_FS "/counters", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	other = open(FULL_FS "/other", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	EXPECT_EQ(0, ftruncate(fd, PAGE));
	EXPECT_EQ(1, write(other, "", 1));
	counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	EXPECT_EQ(0, start(counter));
	TRY_UNTIL(self->status.pending || self->status.counts.lost) {
		burn_thread_ns(20 * MS);
		look(_metadata, self);
	}
	EXPECT_LT(0, self->status.pending + self->status.counts.lost);
	EXPECT_EQ(PROFIL_REGION_ON, self->region.state);
	EXPECT_EQ(0, self->status.counts.counted);

	EXPECT_EQ(0, ftruncate(other, 0));
	EXPECT_TRUE(burn_counted(5));
	stop(_metadata, self);
	EXPECT_EQ(PROFIL_REGION_ON, self->region.state);
	EXPECT_EQ(self->status.counts.counted, *counter);
	munmap(counter, PAGE);
	close(fd);
	close(other);
	/* A work may be about to let go of the file */
	EXPECT_EQ(0, umount2(FULL_FS, MNT_DETACH));
}

/* Only the status reports that a region has gone off. */
TEST_F(bad_memory, nothing_in_the_kernels_log)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	uint32_t *counter = map(PAGE, MAP_PRIVATE);
	char line[2000];
	ssize_t length;

	if (log < 0)
		SKIP(return, "/dev/kmsg: %s", strerror(errno));
	ASSERT_EQ(0, lseek(log, 0, SEEK_END));
	ASSERT_EQ(0, start(counter));
	ASSERT_EQ(0, mprotect(counter, PAGE, PROT_READ));
	goes_off(_metadata, self, PROFIL_REGION_READONLY);
	ASSERT_EQ(0, munmap(counter, PAGE));
	ASSERT_EQ(0, start(counter));
	goes_off(_metadata, self, PROFIL_REGION_UNMAPPED);
	while ((length = read(log, line, sizeof(line) - 1)) > 0) {
		line[length] = '\0';
		/* Other parts of the kernel may log. */
		EXPECT_EQ(NULL, strstr(line, "profil"));
		EXPECT_EQ(NULL, strstr(line, "bad_memory"));
	}
	close(log);
}

/*
 * Each time the counter gets a fresh page of zeros: its old value is gone, but
 * no tick is lost.
 */
TEST_F(bad_memory, page_thrown_away_again_and_again)
{
	uint32_t *counter = map(PAGE, MAP_PRIVATE);
	uint64_t end = worked_ns() + 200 * MS;

	ASSERT_EQ(0, start(counter));
	while (worked_ns() < end) {
		burn_thread_ns(MS / 2);
		ASSERT_EQ(0, madvise(counter, PAGE, MADV_DONTNEED));
	}
	stop(_metadata, self);
	EXPECT_EQ(PROFIL_REGION_ON, self->region.state);
	EXPECT_EQ(0, self->status.counts.lost);
	EXPECT_LT(50, self->status.counts.counted);
}

/* Enable swap to compressed memory, if the kernel has zram. */
static bool swap_on(void)
{
	return !system("{ swapon -s | grep -q . || { modprobe zram && "
		       "echo 32M > /sys/block/zram0/disksize && "
		       "mkswap /dev/zram0 && swapon /dev/zram0; }; } "
		       "> /dev/null 2>&1");
}

/* Bit 62 of an entry in the process's page map. */
static bool swapped(int pagemap, const void *page)
{
	uint64_t entry = 0;

	return pread(pagemap, &entry, sizeof(entry), (uintptr_t)page / PAGE *
		     sizeof(entry)) == sizeof(entry) && entry & 1ULL << 62;
}

TEST_F(bad_memory, page_swapped_out)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint32_t *counter;
	int out = 0, i;

	if (!swap_on())
		SKIP(return, "no swap to be had");
	for (i = 0; i < 20; i++) {
		counter = map(PAGE, MAP_PRIVATE);
		*counter = 7;
		if (madvise(counter, PAGE, MADV_PAGEOUT))
			SKIP(return, "MADV_PAGEOUT: %s", strerror(errno));
		out += swapped(pagemap, counter);
		ASSERT_EQ(0, start(counter));
		burn_thread_ns(5 * MS);
		/* Page out again while it counts; this may come too early. */
		madvise(counter, PAGE, MADV_PAGEOUT);
		burn_thread_ns(5 * MS);
		nothing_lost(_metadata, self, counter, 7);
	}
	EXPECT_LT(0, out);
}

/* Nothing ever serves the page. */
static void held_back(struct __test_metadata *_metadata,
		      FIXTURE_DATA(bad_memory) *self, int kind,
		      unsigned int flags)
{
	uint32_t *counter = map(PAGE, kind);
	int patience = 1000;

	if (userfault(counter, flags) < 0)
		SKIP(return, "userfaultfd: %s", strerror(errno));
	ASSERT_EQ(0, start(counter));
	do {
		burn_thread_ns(20 * MS);
		look(_metadata, self);
	} while (!self->status.counts.lost && --patience);
	EXPECT_LT(0, self->status.counts.lost);
	EXPECT_EQ(0, self->status.counts.counted);
	/* The page may still be served one day. */
	EXPECT_EQ(PROFIL_REGION_ON, self->region.state);
	burn_thread_ns(20 * MS);
	stop(_metadata, self);
	EXPECT_EQ(self->status.counts.ticks, self->status.counts.lost);
}

TEST_F(bad_memory, page_held_back_by_userfaultfd)
{
	held_back(_metadata, self, MAP_PRIVATE, 0);
}

TEST_F(bad_memory, page_held_back_by_userfaultfd_of_a_user)
{
	held_back(_metadata, self, MAP_PRIVATE, UFFD_USER_MODE_ONLY);
}

TEST_F(bad_memory, shared_page_held_back_by_userfaultfd)
{
	held_back(_metadata, self, MAP_SHARED, 0);
}

/* A process that holds back its own pages does not delay other processes. */
TEST_F(bad_memory, page_held_back_delays_nobody_else)
{
	uint32_t *counter = map(PAGE, MAP_PRIVATE);
	int fd = userfault(counter, 0);
	pid_t child[20];
	size_t i;

	if (fd < 0)
		SKIP(return, "userfaultfd: %s", strerror(errno));
	close(fd);
	for (i = 0; i < 20; i++) {
		child[i] = fork_child();
		ASSERT_LE(0, child[i]);
		if (child[i])
			continue;
		if (userfault(counter, 0) < 0 || start(counter))
			_exit(2);
		for (;;)
			burn_thread_ns(SECOND);
	}
	ASSERT_EQ(0, start(counter));
	burn_thread_ns(100 * MS);
	nothing_lost(_metadata, self, counter, 0);

	ASSERT_EQ(0, start(counter));
	for (i = 0; i < 20; i++) {
		EXPECT_EQ(0, kill(child[i], SIGKILL));
		EXPECT_EQ(-SIGKILL, wait_child(child[i]));
	}
	EXPECT_TRUE(burn_ticks(5));
	EXPECT_EQ(0, status_now().counts.lost);
}

/*
 * The page comes late, and meanwhile the program keeps asking for its status:
 * that must not shorten the time for which the tick waits for its page.
 */
TEST_F(bad_memory, page_served_late)
{
	uint32_t *counter = map(PAGE, MAP_PRIVATE);
	struct uffdio_zeropage zero = {
		.range = { (uintptr_t)counter, PAGE },
	};
	int rounds = 10;
	int fd = -1;
	int i;

	/*
	 * On a busy host the second for which a tick waits may pass meanwhile.
	 */
	do {
		close(fd);
		counter = map(PAGE, MAP_PRIVATE);
		fd = userfault(counter, 0);
		if (fd < 0)
			SKIP(return, "userfaultfd: %s", strerror(errno));
		zero.range.start = (uintptr_t)counter;
		ASSERT_EQ(0, start(counter));
		burn_thread_ns(5 * MS);
		for (i = 0; i < 20; i++)
			look(_metadata, self);
		EXPECT_EQ(0, ioctl(fd, UFFDIO_ZEROPAGE, &zero));
		stop(_metadata, self);
		EXPECT_EQ(self->status.counts.counted, *counter);
	} while ((self->status.counts.lost || !self->status.counts.counted) &&
		 --rounds);
	EXPECT_NE(0, rounds);
}

/**
 * struct late - a page that is served late
 * @fd: of its userfaultfd
 * @zero: the request that serves it
 */
struct late {
	int fd;
	struct uffdio_zeropage zero;
};

/* Serves the page when the main thread is stopping its profile. */
static void *serve_later(void *late)
{
	struct late *page = late;

	usleep(300000);
	return (void *)(long)ioctl(page->fd, UFFDIO_ZEROPAGE, &page->zero);
}

/* A program that stops its profile loses no more than one that goes on. */
TEST_F(bad_memory, page_served_while_it_stops)
{
	struct late late = { .zero.range.len = PAGE };
	int rounds = 10;
	pthread_t thread;
	uint32_t *counter;
	void *failed;

	/* On a busy host the second may pass meanwhile */
	do {
		counter = map(PAGE, MAP_PRIVATE);
		late.zero.range.start = (uintptr_t)counter;
		late.fd = userfault(counter, 0);
		if (late.fd < 0)
			SKIP(return, "userfaultfd: %s", strerror(errno));
		ASSERT_EQ(0, pthread_create(&thread, NULL, serve_later, &late));
		ASSERT_EQ(0, start(counter));
		burn_thread_ns(5 * MS);
		stop(_metadata, self);
		ASSERT_EQ(0, pthread_join(thread, &failed));
		EXPECT_EQ(NULL, failed);
		EXPECT_EQ(self->status.counts.counted, *counter);
		close(late.fd);
	} while ((self->status.counts.lost || !self->status.counts.counted) &&
		 --rounds);
	EXPECT_NE(0, rounds);
}

static void *map_huge(int flags)
{
	FILE *nr = fopen("/proc/sys/vm/nr_hugepages", "w");

	if (nr) {
		fputs("4", nr);
		fclose(nr);
	}
	return map(HUGE, MAP_PRIVATE | MAP_HUGETLB | flags);
}

TEST_F(bad_memory, huge_page)
{
	uint32_t *counters = map_huge(0);

	if (counters == MAP_FAILED)
		SKIP(return, "no huge pages");
	ASSERT_EQ(0, start(counters + HUGE / 8));
	burn_thread_ns(50 * MS);
	nothing_lost(_metadata, self, counters + HUGE / 8, 0);
	EXPECT_EQ(0, counters[HUGE / 8 - 1] | counters[HUGE / 8 + 1]);
}

static int free_huge_pages(void)
{
	char line[128];
	int nr = -1;
	FILE *file = fopen("/proc/meminfo", "r");

	while (file && nr < 0 && fgets(line, sizeof(line), file))
		sscanf(line, "HugePages_Free: %d", &nr);
	if (file)
		fclose(file);
	return nr;
}

/* Only then is it charged to the program's hugetlb cgroup, which may have a limit. */
TEST_F(bad_memory, huge_page_is_brought_in_by_the_program_alone)
{
	uint32_t *counters = map_huge(MAP_NORESERVE);
	int nr = free_huge_pages();

	if (counters == MAP_FAILED)
		SKIP(return, "no huge pages");
	ASSERT_EQ(0, start(counters));
	burn_thread_ns(200 * MS);
	EXPECT_EQ(nr, free_huge_pages());
	/* One that waits for a second is lost */
	TRY_UNTIL(self->status.counts.counted) {
		burn_thread_ns(5 * MS);
		look(_metadata, self);
	}
	EXPECT_EQ(nr - 1, free_huge_pages());
	stop(_metadata, self);
	EXPECT_LT(0, self->status.counts.counted);
	EXPECT_EQ(self->status.counts.counted, *counters);
	EXPECT_EQ(0, munmap(counters, HUGE));
}

#define NR_PAGES	256

static char *code, *pages;
static volatile bool stop_going;

/* Each tick finds another counter, on a page that has gone. */
static void *go_through_pages(void *unused)
{
	uint64_t end = monotonic_ns() + 60 * SECOND;

	pin_to(1);
	while (!stop_going && monotonic_ns() < end) {
		for (int i = 0; i < NR_PAGES; i++)
			((void (*)(uint64_t))(code + i * PAGE))(20000);
		madvise(pages, NR_PAGES * PAGE, MADV_DONTNEED);
	}
	return unused;
}

/* However long it takes to bring in a page: delay.ko. */
TEST_F(bad_memory, status_ends_while_pages_go)
{
	char parameters[80];
	struct profil_region region;
	pthread_t thread;
	uint64_t begin;

	if (geteuid() || sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs root, and two CPUs");
	code = map_spin_code(NR_PAGES);
	pages = map(NR_PAGES * PAGE, MAP_PRIVATE);
	ASSERT_NE(NULL, code);
	ASSERT_NE(MAP_FAILED, pages);
	region = region_of(code, code + NR_PAGES * PAGE, pages, 4);
	snprintf(parameters, sizeof(parameters),
		 "symbol=profil_attempt_mm pid=%d ms=20", getpid());
	if (load_helper("delay", parameters))
		SKIP(return, "delay.ko: %s", strerror(errno));
	pin_to(0);
	ASSERT_EQ(0, set_regions(&region, 1, 4, 60000, 0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, go_through_pages, NULL));
	sleep_ns(50 * MS);
	begin = monotonic_ns();
	for (int i = 0; i < 3; i++)
		look(_metadata, self);
	TH_LOG("%llu ms; %llu ticks, %llu lost, %llu pending",
	       (unsigned long long)(monotonic_ns() - begin) / MS,
	       self->status.counts.ticks, self->status.counts.lost,
	       self->status.pending);
	EXPECT_GT(30 * SECOND, monotonic_ns() - begin);
	stop_going = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(0, unload_helper("delay"));
	stop(_metadata, self);
}

TEST_F(bad_memory, huge_page_copied_after_fork)
{
	uint32_t *counters = map(2 * HUGE, MAP_PRIVATE);

	counters = huge_aligned(counters);
	if (madvise(counters, HUGE, MADV_HUGEPAGE))
		SKIP(return, "no transparent huge pages");
	counters[1] = 1;
	copied_after_fork(_metadata, self, counters);
}

TEST_F(bad_memory, shared_file_on_a_disk)
{
	uint32_t *counter;
	int fd;

	if (mount_disk_fs())
		SKIP(return, "no disk file system to be had");
	fd = open(DISK_FS "/counters", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ASSERT_EQ(0, ftruncate(fd, PAGE));
	counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, counter);
	ASSERT_EQ(0, start(counter));
	goes_off(_metadata, self, PROFIL_REGION_FILE);
	stays_off(_metadata, self);
	EXPECT_EQ(0, *counter);

	/* A private mapping of the same file is as good as anonymous memory. */
	counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	ASSERT_EQ(0, start(counter));
	burn_thread_ns(30 * MS);
	nothing_lost(_metadata, self, counter, 0);
}

/*
 * The kernel touches neither a shared nor a private mapping: a page fault might
 * take forever.
 */
TEST_F(bad_memory, file_of_a_file_system_that_is_silent)
{
	static const int kinds[] = { MAP_SHARED, MAP_PRIVATE };
	pid_t child = mount_silent_fs();
	uint32_t *counter;
	int fd, i;

	if (child < 0)
		SKIP(return, "no FUSE to be had");
	fd = open(SILENT_FS "/bins", O_RDWR | O_CLOEXEC);
	EXPECT_LE(0, fd);
	for (i = 0; i < 2; i++) {
		counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, kinds[i], fd,
			       0);
		EXPECT_NE(MAP_FAILED, counter);
		EXPECT_EQ(0, start(counter));
		goes_off(_metadata, self, PROFIL_REGION_FILE);
		stays_off(_metadata, self);
		EXPECT_EQ(0, self->region.counted);
	}
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	/* Nothing waits for the file system: it can be unmounted. */
	close(fd);
	EXPECT_EQ(0, unmount_silent_fs(child));
}

TEST_F(bad_memory, memory_of_a_device)
{
	struct profil_region region;
	uint32_t *counter = MAP_FAILED;
	int fd = open("/dev/mem", O_RDWR | O_CLOEXEC);

	/* Where a graphics card would be; nothing touches it here. */
	if (fd >= 0)
		counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			       fd,
			   0xa0000);
	if (counter == MAP_FAILED)
		SKIP(return, "no device memory to be had");
	ASSERT_EQ(0, start(counter));
	look(_metadata, self);
	EXPECT_EQ(PROFIL_REGION_DEVICE, self->region.state);
	stays_off(_metadata, self);
	EXPECT_EQ(0, self->region.lost);

	region = overflow_bin(counter, 4);
	EXPECT_ERROR(EFAULT, set_regions(&region, 1, 4, MS,
					 PROFIL_SET_CHECK));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
}

/* The program's instructions are in the 64 KiB from there, but for the first ones. */
static uintptr_t text(void)
{
	return ((uintptr_t)&etext & -16) + 16 - 0x10000;
}

/*
 * Count in four counters with @extra bytes behind them. All ticks in the text
 * go to the counter @counter, which is behind the last one if it is 4, or to the one
 * before; all others go to the first.
 */
static void count_in(struct __test_metadata *_metadata, unsigned char *counters,
		     unsigned int width, unsigned int extra,
			     unsigned int counter)
{
	struct profil_region regions[2] = {
		{
			.base = (uintptr_t)counters,
			.size = 4 * width + extra,
			.offset = text() - counter * 32768UL * width,
			.scale = 2,
		},
		overflow_bin(counters, width),
	};

	ASSERT_EQ(0, set_regions(regions, 2, width, MS / 2, 0));
	if (counter < 4)
		EXPECT_TRUE(burn_by_turns(5));
	EXPECT_TRUE(burn_ticks(20));
	ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
}

TEST_F(bad_memory, not_a_byte_beside_the_counters)
{
	unsigned char *page = map(PAGE, MAP_PRIVATE);
	unsigned int width, extra, i;

	for (width = 2; width <= 8; width *= 2)
		for (extra = 0; extra < width; extra++) {
			unsigned int first = PAGE - 5 * width;
			unsigned int last = first + 3 * width;

			memset(page, 0x11, PAGE);
			count_in(_metadata, page + first, width, extra, 3);
			EXPECT_NE(0x11, page[last]);
			memset(page + last - width, 0x11, 2 * width);
			count_in(_metadata, page + first, width, extra, 4);
			EXPECT_NE(0x11, page[first]);
			memset(page + first, 0x11, width);
			memset(page + last, 0x11, width);
			for (i = 0; i < PAGE; i++)
				ASSERT_EQ(0x11, page[i]);
		}
}

TEST_F(bad_memory, last_counter_of_a_page)
{
	unsigned char *pages = map(2 * PAGE, MAP_PRIVATE);
	struct profil_region region;
	size_t width;

	ASSERT_EQ(0, munmap(pages + PAGE, PAGE));
	for (width = 2; width <= 8; width *= 2) {
		memset(pages, 0, PAGE);
		region = overflow_bin(pages + PAGE - width, width);
		ASSERT_EQ(0, set_regions(&region, 1, width, MS,
					 PROFIL_SET_CHECK));
		burn_thread_ns(20 * MS);
		stop(_metadata, self);
		EXPECT_EQ(0, self->status.counts.lost);
		EXPECT_LT(0, self->status.counts.counted);
		/* Little-endian, and less than 65536 */
		EXPECT_EQ(self->status.counts.counted, *(uint16_t *)
			  (pages + PAGE - width));
		EXPECT_EQ(0, pages[PAGE - width - 1]);
	}
}

static void on_prof(int number)
{
	(void)number;
	prof_signals++;
}

/*
 * The timer follows the jiffy and may be late: allow it a hundred times its
 * time.
 */
static bool burn_prof_signals(int nr)
{
	int patience = 100;

	prof_signals = 0;
	while (prof_signals < nr && --patience)
		burn_thread_ns(50 * MS);
	return prof_signals >= nr;
}

TEST_F(bad_memory, the_applications_own_timer)
{
	struct itimerval timer = { { 0, 20000 }, { 0, 20000 } }, now;
	uint32_t *counter = map(PAGE, MAP_PRIVATE);

	ASSERT_NE(SIG_ERR, signal(SIGPROF, on_prof));
	ASSERT_EQ(0, start(counter));
	ASSERT_EQ(0, setitimer(ITIMER_PROF, &timer, NULL));
	EXPECT_TRUE(burn_prof_signals(2));
	ASSERT_EQ(0, getitimer(ITIMER_PROF, &now));
	EXPECT_EQ(20000, now.it_interval.tv_usec);
	nothing_lost(_metadata, self, counter, 0);

	/* The end of the profile does not stop the timer either. */
	EXPECT_TRUE(burn_prof_signals(2));
	timer = (struct itimerval) { 0 };
	ASSERT_EQ(0, setitimer(ITIMER_PROF, &timer, NULL));
}

static int ends[2];

static void *wait_for_a_byte(void *unused)
{
	char byte;

	(void)unused;
	/* A negative number would be EINTR. */
	return (void *)(long)read(ends[0], &byte, 1);
}

TEST_F(bad_memory, no_system_call_is_interrupted)
{
	uint32_t *counter = map(PAGE, MAP_PRIVATE);
	pthread_t thread;
	void *result;
	int i;

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(0, start(counter));
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_a_byte, NULL));
	for (i = 0; i < 20; i++) {
		burn_thread_ns(3 * MS);
		ASSERT_EQ(0, madvise(counter, PAGE, MADV_DONTNEED));
	}
	ASSERT_EQ(1, write(ends[1], "", 1));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(1, (long)result);
}

TEST_HARNESS_MAIN
