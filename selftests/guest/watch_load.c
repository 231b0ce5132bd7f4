// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_load.c - watches under pressure
 *
 * Tables that are full, thousands of processes, mappings that change all the
 * time, watches that begin and end all the time on a server that works, CPUs
 * that come and go, requests on one file from many threads. Ticks that find no
 * room are coarse, but never lost; and nothing takes more memory than the watch
 * has taken at its start.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "load.h"
#include "needs.h"
#include "server.h"
#include "watch.h"

NEEDS_ROOT;

#define PLACE		"/run/profil-watch-load"
#define CGROUP		"/sys/fs/cgroup/profil-watch-load"
#define CPU1		"/sys/devices/system/cpu/cpu1/online"

#define WORK_NS		(300 * MS)

#define ALICE		100001

/* This program, executed by a test. */
__attribute__((constructor(101))) static void executed(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "burn")) {
		burn_process_ns(WORK_NS);
		_exit(0);
	}
}

FIXTURE(full) {
	struct watch watch;
	struct profil_watch_status status;
};

FIXTURE_SETUP(full)
{
	self->watch.fd = -1;
	mkdir(PLACE, 0755);
	ASSERT_EQ(0, mount("profil", PLACE, "tmpfs", 0, NULL));
}

FIXTURE_TEARDOWN(full)
{
	watch_end(&self->watch);
	EXPECT_EQ(0, umount2(PLACE, MNT_DETACH));
}

/* --- tables that are full */

static struct profil_watch_status fill(struct __test_metadata *_metadata,
				       struct watch *watch,
				       const struct profil_watch *sizes,
				       int (*work)(void *))
{
	struct child child = child_begin(work, NULL);
	struct profil_watch request = *sizes;
	struct profil_watch_status status;

	request.size = sizeof(request);
	request.target = PROFIL_WATCH_PROCESS;
	request.id = child.pid;
	request.period_ns = MS;
	ASSERT_EQ(0, watch_begin(watch, &request));
	EXPECT_EQ(0, child_end(&child));
	status = watch_settled(watch, 0);
	TH_LOG("%llu ticks: %llu counted, %llu coarse, %llu in kernel mode",
	       status.ticks, status.counted, status.coarse, status.kernel);
	EXPECT_RESOLVED(&status);
	EXPECT_WATCH_TICKS(&status);
	EXPECT_SOUND(watch, &status);
	return status;
}

/* Text of which every part is equally busy. */
#define SLED	(1 << 20)

/* So that it is seen often enough, even if the host runs others meanwhile. */
#define PASSES	100

static int run_over_much_text(void *unused)
{
	unsigned char *sled = mmap(NULL, SLED, PROT_READ | PROT_WRITE |
				   PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				   0);
	uint64_t end;

	(void)unused;
	if (sled == MAP_FAILED)
		return 1;
#if defined(__x86_64__)
	memset(sled, 0x90, SLED);
	sled[SLED - 1] = 0xc3;
#else
	for (size_t i = 0; i < SLED / 4; i++)
#if defined(__aarch64__)
		((unsigned int *)sled)[i] = i < SLED / 4 - 1 ? 0xd503201f : 0xd65f03c0;
#elif defined(__riscv)
		((unsigned int *)sled)[i] = i < SLED / 4 - 1 ? 0x00000013 : 0x00008067;
#endif
	__builtin___clear_cache((char *)sled, (char *)sled + SLED);
#endif
	end = process_cpu_ns() + WORK_NS;
	for (int i = 0; i < PASSES || process_cpu_ns() < end; i++)
		((void (*)(void))sled)();
	return 0;
}

TEST_F(full, of_buckets)
{
	const struct profil_watch sizes = { .buckets = 64 };

	self->status = fill(_metadata, &self->watch, &sizes,
			    run_over_much_text);
	EXPECT_GE(64, self->status.buckets);
	EXPECT_LT(0, self->status.coarse);
	EXPECT_LT(0, watch_object(&self->watch,
				  PROFIL_OBJECT_ANONYMOUS)->coarse);
}

static int run_everywhere(void *unused)
{
	uint64_t end;

	if (run_over_much_text(unused))
		return 1;
	end = worked_ns() + WORK_NS;
	while (worked_ns() < end)
		getppid();
	return 0;
}

TEST_F(full, of_buckets_before_those_of_the_kernel)
{
	const struct profil_watch sizes = {
		.buckets = 64, .flags = PROFIL_WATCH_KERNEL_TEXT,
	};

	self->status = fill(_metadata, &self->watch, &sizes, run_everywhere);
	EXPECT_LT(0, watch_object(&self->watch,
				  PROFIL_OBJECT_KERNEL)->coarse);
	EXPECT_GE(self->status.kernel,
		  watch_object(&self->watch, PROFIL_OBJECT_KERNEL)->coarse);
}

#define NR_FILES	24

/* Paths of more than 200 bytes each. */
static void name_of(char name[300], int i)
{
	snprintf(name, 300, PLACE "/%d-%0200d", i, 0);
}

static int spin_in_many_files(void *unused)
{
	(void)unused;
	for (int i = 0; i < NR_FILES; i++) {
		char name[300];
		void *code;
		int fd;

		name_of(name, i);
		fd = make_code(name);
		code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			    0);
		if (code == MAP_FAILED)
			return 1;
		spin_ns(code, WORK_NS / NR_FILES);
		/* While the kernel looks for the path */
		usleep(10000);
		munmap(code, PAGE);
		close(fd);
	}
	return 0;
}

TEST_F(full, of_objects)
{
	const struct profil_watch sizes = { .objects = 8 };

	self->status = fill(_metadata, &self->watch, &sizes,
			    spin_in_many_files);
	EXPECT_EQ(8, self->status.objects);
	EXPECT_LT(0, self->status.coarse);
	EXPECT_EQ(self->status.coarse, watch_object(&self->watch, 0)->coarse);
	EXPECT_LT(0, self->status.counted);
}

/* Number of files with a long path */
static uint32_t long_paths(const struct watch *watch)
{
	uint32_t nr = watch_nr_objects(watch), named = 0;

	for (uint32_t i = PROFIL_OBJECT_FILES; i < nr; i++)
		named += strncmp(watch_path(watch, i), PLACE,
				 strlen(PLACE)) == 0;
	return named;
}

TEST_F(full, of_names)
{
	const struct profil_watch sizes = { .names = 4096 };
	/* Paths of libraries are short: more of those may find a place. */
	const uint32_t most = 4096 / (sizeof(PLACE "/0-") + 200);
	uint32_t named, nr;
	int tries = 600;

	self->status = fill(_metadata, &self->watch, &sizes,
			    spin_in_many_files);
	while (long_paths(&self->watch) < most / 2 && --tries)
		usleep(100000);
	usleep(100000);
	self->status = watch_status(&self->watch);
	named = long_paths(&self->watch);
	EXPECT_GE(4096, self->status.names);
	EXPECT_EQ(0, self->status.coarse);
	nr = watch_nr_objects(&self->watch);
	TH_LOG("%u of %u objects have a long path, %u at most", named,
	       nr - PROFIL_OBJECT_FILES, most);
	EXPECT_LE(most / 2, named);
	EXPECT_GE(most, named);
	EXPECT_LE(NR_FILES / 2, nr - PROFIL_OBJECT_FILES);
	EXPECT_SOUND(&self->watch, &self->status);
}

#define FORKS		10

static int burn_in_children(void *unused)
{
	for (int i = 0; i < FORKS; i++) {
		pid_t child = fork();

		if (!child)
			_exit(burn_100_ms(unused));
		if (wait_child(child))
			return 1;
	}
	return 0;
}

TEST_F(full, of_images)
{
	const struct profil_watch sizes = {
		.flags = PROFIL_WATCH_CHILDREN | PROFIL_WATCH_SEPARATE,
		.images = 3,
	};

	const struct profil_watch_image *others = NULL;

	UNTIL_WORK_COVERED((FORKS - 1) * 100 * MS,
			   others ? others->cpu_time_ns : 0) {
		watch_end(&self->watch);
		self->status = fill(_metadata, &self->watch, &sizes,
				    burn_in_children);
		others = watch_image(&self->watch, 0);
	}
	EXPECT_EQ(3, self->status.images);
	EXPECT_EQ(0, self->status.unfollowed);
	EXPECT_EQ(FORKS - 1, others->processes);
	EXPECT_WORK_COVERED((FORKS - 1) * 100 * MS, others->cpu_time_ns);
	EXPECT_LT(0, others->counted);
	EXPECT_LT(0, watch_image(&self->watch, 2)->counted);
}

/* What another user executes leaves room for root's programs. */
#define OTHERS		40

static int execute_much(void *unused)
{
	(void)unused;
	if (become(ALICE))
		return 1;
	for (int i = 0; i < OTHERS; i++) {
		char name[300], path[300];
		char *argv[] = { name, NULL };
		pid_t child;

		snprintf(path, sizeof(path), PLACE "/o/%0200d-%d", 0, i);
		snprintf(name, sizeof(name), "%d", i);
		if (copy_file("/bin/true", path, 0755) ||
		    posix_spawn(&child, path, NULL, NULL, argv, environ))
			return 2;
		wait_child(child);
	}
	return 0;
}

TEST_F(full, of_what_another_user_does)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_MACHINE, 0, 0);
	struct child other;
	uint32_t image;
	pid_t child;

	mkdir(PLACE "/o", 0777);
	chmod(PLACE "/o", 01777);
	other = child_begin(execute_much, NULL);
	request.images = 32;
	request.objects = 32;
	request.names = 4096;
	request.period_ns = MS / 2;
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	EXPECT_EQ(0, child_end(&other));
	ASSERT_EQ(0, copy_file("/proc/self/exe", PLACE "/own", 0755));
	child = fork_child();
	if (!child) {
		execl(PLACE "/own", "own", "burn", NULL);
		_exit(1);
	}
	EXPECT_EQ(0, wait_child(child));
	watch_stop(&self->watch);
	self->status = watch_status(&self->watch);
	TH_LOG("%u images, %u objects, %u bytes of paths",
	       self->status.images, self->status.objects,
	       self->status.names);
	image = watch_find_image(&self->watch, "own");
	EXPECT_NE(0, image);
	EXPECT_NE(0, watch_image(&self->watch, image)->exe);
	EXPECT_STREQ(PLACE "/own",
		     watch_path_soon(&self->watch,
				     watch_image(&self->watch, image)->exe));
	EXPECT_LT(0, watch_image(&self->watch, image)->counted);
}

/* --- places that somebody fills */

#define PLACES		1024
#define COLLIDING	192	/* half as many again as are looked at */
#define SHIFT		6
#define CODE_BYTES	(64 << 20)

/* Two in the index for each bucket */
#define INDEX		(2 * PLACES)

/* Where the index would have a bucket if it had no secret. */
static uint32_t place_of(uintptr_t code, uint32_t image)
{
	uint64_t hash = code >> SHIFT ^ (uint64_t)image << 48 ^
			(uint64_t)PROFIL_OBJECT_ANONYMOUS << 32;

	return (hash * 0x61c8864680b583ebULL >> 32) * (INDEX - 1) >> 32;
}

/* For ever: what comes late is at one place, and leaves out others. */
static int spin_where_buckets_collide(void *unused)
{
	char *code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *chosen[COLLIDING];
	int nr = 0;

	(void)unused;
	if (code == MAP_FAILED)
		return 1;
	for (char *at = code; nr < COLLIDING; at += 1 << SHIFT) {
		if (at >= code + CODE_BYTES)
			return 2;
		if (place_of((uintptr_t)at, 1) != INDEX / 2)
			continue;
		memcpy(at, spin_code, spin_code_size);
		__builtin___clear_cache(at, at + spin_code_size);
		chosen[nr++] = at;
	}
	for (int i = 0;; i = (i + 1) % COLLIDING)
		spin_ns(chosen[i], 4 * MS);
}

static uint32_t used_places(const struct watch *watch)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < PLACES; i++)
		used += watch_in_use(watch_bucket(watch, i)) &&
			watch_bucket(watch, i)->image == 1 &&
			watch_bucket(watch, i)->object ==
				PROFIL_OBJECT_ANONYMOUS;
	return used;
}

TEST_F(full, of_no_places_that_a_user_has_chosen)
{
	struct child child = child_begin(spin_where_buckets_collide, NULL);
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    child.pid, 0);
	uint64_t end = monotonic_ns() + 60 * SECOND;

	request.buckets = PLACES;
	request.bucket_shift = SHIFT;
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	child_go(&child);
	while (used_places(&self->watch) <= COLLIDING * 0.9 &&
	       !watch_status(&self->watch).coarse && monotonic_ns() < end)
		usleep(10000);
	EXPECT_EQ(-SIGKILL, child_kill(&child));
	self->status = watch_settled(&self->watch, 0);
	EXPECT_EQ(0, self->status.coarse);
	EXPECT_LT(COLLIDING * 0.9, used_places(&self->watch));
	EXPECT_RESOLVED(&self->status);
	EXPECT_WATCH_TICKS(&self->status);
	EXPECT_SOUND(&self->watch, &self->status);
}

/* Run code at an offset of a new file for 3 ms. Return: 0 or 1. */
static int spin_in_new_file(off_t offset)
{
	long bytes = sysconf(_SC_PAGESIZE);
	int fd = memfd_create("code", MFD_CLOEXEC);
	void *code;

	if (ftruncate(fd, offset + bytes) ||
	    pwrite(fd, spin_code, spin_code_size, offset) != spin_code_size)
		return 1;
	code = mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_SHARED, fd, offset);
	if (code == MAP_FAILED)
		return 1;
	spin_ns(code, 3 * MS);
	munmap(code, bytes);
	close(fd);
	return 0;
}

/* The bits of a file's number and of the offset cancel each other in a sum. */
TEST_F(full, of_no_offsets_that_a_user_has_chosen)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    getpid(), 0);

	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	for (int i = 0; i < COLLIDING; i++) {
		uint64_t next = self->watch.table->nr_objects;
		off_t offset = (next ^ 1 << 14) << (32 + request.bucket_shift);

		ASSERT_EQ(0, spin_in_new_file(offset));
	}
	self->status = watch_stop(&self->watch);
	/* On a busy host the ticks of some come late, in other files */
	EXPECT_LT(COLLIDING / 4, self->status.objects);
	EXPECT_EQ(0, self->status.coarse);
	EXPECT_WATCH_TICKS(&self->status);
	EXPECT_SOUND(&self->watch, &self->status);
}

#define FILES		400

/*
 * Execute one file after the other. Each has most likely the place in memory of
 * one before, which the kernel has freed after a grace period.
 */
static int execute_files(void *unused)
{
	(void)unused;
	for (int i = 0; i < FILES; i++) {
		if (spin_in_new_file(0))
			return 1;
		usleep(10000);
	}
	return 0;
}

/* The kernel, not the program, chooses where files are; but not by chance. */
TEST_F(full, of_no_files_that_take_each_others_place)
{
	struct child child = child_begin(execute_files, NULL);
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    child.pid, 0);

	request.period_ns = MS;
	request.objects = 2 * FILES;
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	EXPECT_EQ(0, child_end(&child));
	self->status = watch_settled(&self->watch, 0);
	TH_LOG("%u objects", watch_nr_objects(&self->watch));
	EXPECT_EQ(0, self->status.coarse);
	EXPECT_LT(FILES / 4, watch_nr_objects(&self->watch));
	EXPECT_SOUND(&self->watch, &self->status);
}

/* --- many processes */

/* A kernel with sanitizers takes ten times as long for each. */
static int crowd_size(void)
{
	return 1000 / slack();
}

static int fork_twelve(void *pipe_ends)
{
	return run_children(12, pipe_ends);
}

static int crowd(void *pipe_ends)
{
	return run_children(crowd_size(), pipe_ends);
}

TEST(a_thousand_processes)
{
	struct profil_watch_status status;
	struct child child;
	struct watch watch;
	int ends[2], tries, nr = crowd_size();

	ASSERT_EQ(0, pipe(ends));
	child = child_begin(crowd, ends);
	ASSERT_EQ(0, watch_process(&watch, child.pid, PROFIL_WATCH_CHILDREN));
	child_go(&child);
	for (tries = 0; tries < 60000; tries++) {
		status = watch_status(&watch);
		if (status.processes > nr)
			break;
		usleep(1000);
	}
	EXPECT_EQ(nr + 1, status.processes);
	close(ends[0]);
	close(ends[1]);
	EXPECT_EQ(0, child_end(&child));
	status = watch_settled(&watch, 0);
	EXPECT_EQ(0, status.processes);
	EXPECT_EQ(0, status.unfollowed);
	EXPECT_EQ(nr + 1, watch_image(&watch, 1)->processes);
	EXPECT_WATCH_TICKS(&status);
	EXPECT_SOUND(&watch, &status);
	watch_end(&watch);
}

/* --- watches of many users */

/* As many as may have one of many processes, see PROFIL_IOC_WATCH. */
#define MAX_WATCHERS	64

/* Watch the processes of a user, as that user. Return: 0, or the error number. */
static int watch_user(uid_t user, pid_t *watcher)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_USER, user, 0);
	int error = 200;
	int ready[2];

	request.processes = 16;
	request.buckets = 64;
	if (pipe(ready))
		return 201;
	*watcher = fork_child();
	if (!*watcher) {
		struct watch watch;

		if (become(user))
			error = 202;
		else
			error = watch_begin(&watch, &request) ? errno : 0;
		if (write(ready[1], &error, sizeof(error)) == sizeof(error))
			pause();
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &error, sizeof(error)) != sizeof(error))
		error = 203;
	close(ready[0]);
	return error;
}

static void end_watcher(pid_t watcher)
{
	kill(watcher, SIGKILL);
	wait_child(watcher);
}

/* Every fork and exec looks at them all. */
TEST(watches_of_many_users)
{
	pid_t watchers[MAX_WATCHERS], more;

	for (int i = 0; i < MAX_WATCHERS; i++)
		ASSERT_EQ(0, watch_user(ALICE + i, &watchers[i]));
	EXPECT_EQ(EUSERS, watch_user(ALICE + MAX_WATCHERS, &more));
	end_watcher(more);
	EXPECT_EQ(EBUSY, watch_user(ALICE, &more));
	end_watcher(more);
	/* Root has CAP_PERFMON */
	EXPECT_EQ(0, watch_user(0, &more));
	end_watcher(more);
	end_watcher(watchers[0]);
	EXPECT_EQ(0, watch_user(ALICE + MAX_WATCHERS, &watchers[0]));
	for (int i = 0; i < MAX_WATCHERS; i++)
		end_watcher(watchers[i]);
}

/* More than max_profiles; the others are unfollowed, and a later watch has them. */
TEST(more_processes_than_a_user_may_watch)
{
	char before[20] = "";
	struct profil_watch_status status;
	int ends[2], tries = 60000;
	struct watch watch;
	pid_t watcher;

	ASSERT_EQ(0, get_parameter("max_profiles", before, sizeof(before)));
	ASSERT_EQ(0, put_parameter("max_profiles", "5"));
	watcher = fork_child();
	if (!watcher) {
		struct child child;

		if (become(ALICE) || pipe(ends))
			_exit(200);
		for (int round = 0; round < 2; round++) {
			child = child_begin(round ? burn_100_ms :
					    fork_twelve, ends);
			if (watch_process(&watch, child.pid,
					  PROFIL_WATCH_CHILDREN))
				_exit(201);
			child_go(&child);
			do {
				status = watch_status(&watch);
				if (status.processes > 5)
					_exit(202);
				usleep(1000);
			} while (!round && status.unfollowed < 8 && --tries);
			if (!round && (status.processes != 5 ||
				       status.unfollowed != 8))
				_exit(203);
			if (!round)
				close(ends[1]);
			if (child_end(&child))
				_exit(204);
			if (round && watch_settled(&watch, 0).unfollowed)
				_exit(205);
			watch_end(&watch);
		}
		_exit(0);
	}
	EXPECT_EQ(0, wait_child(watcher));
	EXPECT_EQ(0, put_parameter("max_profiles", before));
}

/* --- mappings that change */

static atomic_bool is_over;

static int change_and_burn(void *unused)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, change_mappings,
				   &is_over))
			return 1;
	burn_thread_ns(WORK_NS / 3);
	atomic_store(&is_over, true);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	/* While the kernel looks for the mappings of the last ticks */
	usleep(100000);
	return unused != NULL;
}

static int change_and_run_over_much_text(void *unused)
{
	pthread_t threads[3];
	int bad = become(ALICE);

	for (int i = 0; i < 3; i++)
		bad |= pthread_create(&threads[i], NULL, change_mappings,
				      &is_over);
	bad |= run_over_much_text(unused);
	atomic_store(&is_over, true);
	for (int i = 0; i < 3; i++)
		bad |= pthread_join(threads[i], NULL);
	return bad;
}

/* The quarter that is root's is not for ticks that root's worker counts. */
TEST(full_of_what_another_user_does_with_mappings_that_change)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_MACHINE, 0,
						    PROFIL_WATCH_SEPARATE);
	const struct profil_watch_bucket *bucket;
	struct profil_watch_status status;
	struct watch watch;
	struct child child;
	uint32_t image;
	uint32_t used;

	request.buckets = 64;
	request.period_ns = MS / 10;
	/*
	 * With sanitizers nearly all time goes to the kernel. Before 6.1, ticks
	 * while mappings change are not looked up
	 */
	RUN_UNTIL(status.coarse || slack() > 1 || is_linux_before(6, 1), {
		child = child_begin(change_and_run_over_much_text, NULL);
		ASSERT_EQ(0, watch_begin(&watch, &request));
		EXPECT_EQ(0, child_end(&child));
		status = watch_stop(&watch);
		image = watch_find_pid(&watch, child.pid);
		used = 0;
		for (uint32_t i = 0; i < request.buckets; i++) {
			bucket = watch_bucket(&watch, i);
			used += watch_in_use(bucket) && bucket->image == image;
		}
		TH_LOG("%u of %u buckets are the user's", used, status.buckets);
		EXPECT_GE(request.buckets * 3 / 4, used);
		watch_end(&watch);
	});
}

/* Return: are 99 % of the ticks in user mode resolved? */
static bool watch_changes(struct __test_metadata *_metadata)
{
	struct child child = child_begin(change_and_burn, NULL);
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    child.pid, 0);
	struct profil_watch_status status;
	struct watch watch;

	request.period_ns = MS;
	EXPECT_EQ(0, watch_begin(&watch, &request));
	EXPECT_EQ(0, child_end(&child));
	status = watch_settled(&watch, 0);
	TH_LOG("%llu ticks, %llu in kernel mode, %llu unresolved",
	       status.ticks, status.kernel, status.unresolved);
	EXPECT_WATCH_TICKS(&status);
	EXPECT_SOUND(&watch, &status);
	watch_end(&watch);
	return status.counted > 20 &&
	       status.unresolved <= (status.ticks - status.kernel) / 100;
}

/*
 * Hardly any tick is unresolved, but that where the host stops a CPU for long
 * the kernel may fall behind: so each try is short.
 */
TEST(mappings_that_change_all_the_time)
{
	bool are_resolved = false;

	TRY_UNTIL(are_resolved)
		are_resolved = watch_changes(_metadata);
	/* Those before look up no mapping later */
	EXPECT_TRUE(are_resolved || is_linux_before(6, 1));
}

/* Processes that share a watch. */
struct crowd {
	struct stuck stuck;
	pid_t changer;
};

static struct crowd *crowd_pids;

static int run_with_a_stuck_process(void *unused)
{
	pid_t child;

	if (stuck_begin(&crowd_pids->stuck, 4))
		return 1;
	usleep(500000);
	child = fork_child();
	if (!child)
		_exit(change_and_burn(unused));
	crowd_pids->changer = child;
	return wait_child(child);
}

static const struct profil_watch_image *
image_of(const struct watch *watch, pid_t pid)
{
	return watch_image(watch, watch_find_pid(watch, pid));
}

/* Return: are most ticks of a process beside it resolved? */
static bool watch_beside_a_stuck_process(struct __test_metadata *_metadata,
					 pid_t server)
{
	struct child child = child_begin(run_with_a_stuck_process, NULL);
	struct profil_watch request =
		watch_request(PROFIL_WATCH_PROCESS, child.pid,
			      PROFIL_WATCH_CHILDREN | PROFIL_WATCH_SEPARATE);
	const struct profil_watch_image *stuck, *changer;
	struct profil_watch_status status;
	struct watch watch;
	bool is_resolved;

	request.period_ns = MS / 10;
	EXPECT_EQ(0, watch_begin(&watch, &request));
	EXPECT_EQ(0, child_end(&child));
	/* This waits for the ticks, but not for ever */
	status = watch_stop(&watch);
	EXPECT_EQ(0, status.pending);
	EXPECT_WATCH_CONSERVED(&status);
	EXPECT_SOUND(&watch, &status);
	stuck = image_of(&watch, crowd_pids->stuck.pid);
	changer = image_of(&watch, crowd_pids->changer);
	is_resolved = 2 * changer->unresolved < changer->counted;
	TH_LOG("%llu counted and %llu unresolved, beside %llu unresolved",
	       changer->counted, changer->unresolved, stuck->unresolved);
	watch_end(&watch);
	stuck_end(&crowd_pids->stuck);
	EXPECT_EQ(0, unmount_silent_fs(server));
	return is_resolved;
}

TEST(mappings_beside_those_that_stay_locked)
{
	bool are_resolved = false;

	crowd_pids = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, crowd_pids);
	TRY_UNTIL(are_resolved) {
		pid_t server = mount_silent_fs();

		if (server < 0)
			SKIP(return, "no FUSE");
		are_resolved = watch_beside_a_stuck_process(_metadata, server);
	}
	/*
	 * From 7.0 on, threads are preempted with the lock held, and others
	 * seldom get it where there are more threads than CPUs: beside threads
	 * that compute, too.
	 */
	EXPECT_TRUE(are_resolved || is_linux_before(6, 1) ||
		    !is_linux_before(7, 0));
}

/* --- attaching to a server */

TEST(attaching_to_a_server_again_and_again)
{
	struct server server;

	ASSERT_EQ(0, server_begin(&server));
	/* On a busy host fewer rounds will do */
	EXPECT_EQ(0, server_attach(&server, 25 / slack(), 3000, 3 * SECOND));
	EXPECT_LT(0, server.ticks);
	EXPECT_EQ(0, server.forbidden);
	EXPECT_EQ(0, server_end(&server));
}

/* --- memory */

/* Bytes that the module has from vmalloc(), but for what RCU frees later. */
static uint64_t bytes_left(void)
{
	for (int tries = 5000; bytes_of_module() && tries; tries--)
		usleep(1000);
	return bytes_of_module();
}

static void storm(int nr)
{
	char *const argv[] = { "true", NULL };
	pid_t child;

	while (nr-- && !posix_spawn(&child, "/bin/true", NULL, NULL, argv,
				    environ))
		wait_child(child);
}

/* What the kernel charges in advance, on each CPU. */
#define IN_ADVANCE	(1 << 20)

TEST(memory_is_what_was_asked_for)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_MACHINE, 0,
						    PROFIL_WATCH_SEPARATE);
	struct profil_watch_status status;
	uint64_t charged, bytes;
	struct watch watch;

	/* Without this controller only the kernel's own numbers are compared */
	write_file("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	rmdir(CGROUP);
	ASSERT_EQ(0, mkdir(CGROUP, 0755));
	/* The watcher is in the cgroup only while it allocates */
	ASSERT_EQ(0, enter_cgroup(0, CGROUP));
	request.buckets = 1 << 18;
	request.images = 16;
	ASSERT_EQ(0, bytes_left());
	ASSERT_EQ(0, watch_begin(&watch, &request));
	ASSERT_EQ(0, enter_cgroup(0, "/sys/fs/cgroup"));
	bytes = bytes_of_module();
	charged = number_of(CGROUP "/memory.current", "");
	TH_LOG("map %llu KiB, vmalloc %llu KiB, charged %llu KiB",
	       watch.as.map_size >> 10, (unsigned long long)bytes >> 10,
	       (unsigned long long)charged >> 10);
	EXPECT_LE(watch.as.map_size, bytes);
	/* Linux 5.10 logs a fault when it unmaps a page that is charged */
	for (uint64_t at = 0; at < watch.as.map_size; at += PAGE)
		((const volatile char *)watch.table)[at];
	if (!access(CGROUP "/memory.current", F_OK)) {
		EXPECT_TRUE(watch.as.map_size <= charged ||
			    is_linux_before(5, 11));
		EXPECT_GE(bytes + IN_ADVANCE, charged);
	}
	storm(20 / slack());
	status = watch_status(&watch);
	EXPECT_LE(16 / slack(), status.images);
	EXPECT_EQ(bytes, bytes_of_module());
	EXPECT_GE(charged + IN_ADVANCE,
		  number_of(CGROUP "/memory.current", ""));
	watch_end(&watch);
	EXPECT_EQ(0, bytes_left());
	EXPECT_EQ(0, remove_cgroup(CGROUP));
}

/* There is room for the members, but not for the table. */
TEST(memory_that_the_cgroup_has_not_got)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    getpid(), 0);

	write_file("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	rmdir(CGROUP);
	ASSERT_EQ(0, mkdir(CGROUP, 0755));
	if (access(CGROUP "/memory.max", F_OK)) {
		rmdir(CGROUP);
		SKIP(return, "no memory controller");
	}
	request.buckets = 1 << 20;
	ASSERT_EQ(0, write_file(CGROUP "/memory.max", "8M"));
	ASSERT_EQ(0, enter_cgroup(0, CGROUP));
	EXPECT_EQ(ENOMEM, watch_try(&request));
	ASSERT_EQ(0, enter_cgroup(0, "/sys/fs/cgroup"));
	EXPECT_EQ(0, bytes_left());
	EXPECT_EQ(0, remove_cgroup(CGROUP));
}

/* --- requests at the same time */

struct race {
	int fd;
	pid_t pid;
	int begun;
	pthread_barrier_t barrier;
};

static void *race_to_begin(void *argument)
{
	struct race *race = argument;
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    race->pid, 0);
	struct profil_watch_status status = { .size = sizeof(status) };
	void *table;

	request.buckets = 64;
	request.images = 2;
	request.objects = 8;
	request.names = 4096;
	pthread_barrier_wait(&race->barrier);
	if (!ioctl(race->fd, PROFIL_IOC_WATCH, &request))
		__atomic_fetch_add(&race->begun, 1, __ATOMIC_RELAXED);
	else if (errno != EBUSY)
		return argument;
	table = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, race->fd, 0);
	if (ioctl(race->fd, PROFIL_IOC_WATCH_STATUS, &status) ||
	    ioctl(race->fd, PROFIL_IOC_WATCH_STOP, &status))
		return argument;
	if (table != MAP_FAILED)
		munmap(table, PAGE);
	return NULL;
}

TEST(requests_on_one_file_at_the_same_time)
{
	struct child child = child_begin(burn_100_ms, NULL);
	struct race race = { .pid = child.pid };
	pthread_t threads[4];
	void *failed;

	ASSERT_EQ(0, pthread_barrier_init(&race.barrier, NULL, 4));
	for (int round = 0; round < 40 / slack(); round++) {
		race.fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
		race.begun = 0;
		for (int i = 0; i < 4; i++)
			ASSERT_EQ(0, pthread_create(&threads[i], NULL,
						    race_to_begin, &race));
		for (int i = 0; i < 4; i++) {
			pthread_join(threads[i], &failed);
			EXPECT_EQ(NULL, failed);
		}
		EXPECT_EQ(1, race.begun);
		close(race.fd);
	}
	EXPECT_EQ(0, child_end(&child));
}

/* --- CPUs that come and go */

TEST(cpus_that_come_and_go)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_MACHINE, 0, 0);
	struct profil_watch_status status = { 0 };
	struct watch watch = { .fd = -1 };
	struct child children[2];

	if (access(CPU1, W_OK))
		SKIP(return, "the CPUs cannot be switched off");
	UNTIL_WORK_COVERED(200 * MS, status.cpu_time_ns) {
		watch_end(&watch);
		ASSERT_EQ(0, watch_begin(&watch, &request));
		for (int i = 0; i < 2; i++) {
			children[i] = child_begin(burn_100_ms, NULL);
			child_go(&children[i]);
		}
		for (int i = 0; i < 3; i++) {
			EXPECT_OK(write_file(CPU1, "0"));
			burn_process_ns(10 * MS);
			EXPECT_OK(write_file(CPU1, "1"));
			burn_process_ns(10 * MS);
		}
		for (int i = 0; i < 2; i++)
			EXPECT_EQ(0, child_end(&children[i]));
		watch_stop(&watch);
		status = watch_settled(&watch, 0);
	}
	EXPECT_WORK_COVERED(200 * MS, status.cpu_time_ns);
	EXPECT_WATCH_TICKS(&status);
	EXPECT_SOUND(&watch, &status);
	watch_end(&watch);
}

TEST_HARNESS_MAIN
