// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch.c - the requests of watches, and their table
 *
 * Every bad request has its error and changes nothing: the open file can still
 * have its watch afterwards. The table cannot be written or executed, and
 * outlives the descriptor, but not into a child. A watch ends by a stop, and
 * with its last descriptor and mapping.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "watch.h"

NEEDS_ROOT;

#define CGROUPS	"/sys/fs/cgroup"

/* Of the first version, without chains and threads */
#define FIRST_WATCH	offsetof(struct profil_watch, threads)
#define FIRST_STATUS	offsetof(struct profil_watch_status, chains)

#define CHAIN_FLAGS	(WATCH_CHAINS ? \
			 WATCH_CHAINS | PROFIL_WATCH_CALL_SITES : 0)

#define ALL_FLAGS	(PROFIL_WATCH_CHILDREN | PROFIL_WATCH_AT_EXEC | \
			 PROFIL_WATCH_SEPARATE | PROFIL_WATCH_KERNEL_TEXT | \
			 PROFIL_WATCH_WALL | CHAIN_FLAGS)

/* --- requests: a child that can be watched, and a file that has no watch */

FIXTURE(request) {
	int fd;
	struct child child;
	struct profil_watch good;
};

FIXTURE_SETUP(request)
{
	self->fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->child = child_begin(burn_100_ms, NULL);
	ASSERT_LT(0, self->child.pid);
	self->good = watch_request(PROFIL_WATCH_PROCESS, self->child.pid, 0);
}

FIXTURE_TEARDOWN(request)
{
	child_kill(&self->child);
	close(self->fd);
}

/* The request fails with @error, and leaves its argument as it was. */
#define EXPECT_REFUSED(error, bad) do { \
	struct profil_watch argument = *(bad); \
	EXPECT_ERROR((error), ioctl(self->fd, PROFIL_IOC_WATCH, &argument)); \
	EXPECT_EQ(0, memcmp(&argument, (bad), sizeof(argument))); \
} while (0)

/* No failed request has used up the watch of the open file. */
#define EXPECT_UNUSED() do { \
	struct profil_watch argument = self->good; \
	EXPECT_OK(ioctl(self->fd, PROFIL_IOC_WATCH, &argument)); \
} while (0)

TEST_F(request, of_info)
{
	struct profil_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, ioctl(self->fd, PROFIL_IOC_INFO, &info));
	EXPECT_EQ(ALL_FLAGS, info.watch_flags);
	EXPECT_LT(0, info.max_watch_kb);
}

TEST_F(request, stores_what_it_has_used)
{
	struct profil_info info = { .size = sizeof(info) };
	struct profil_watch watch = self->good;

	ASSERT_EQ(0, ioctl(self->fd, PROFIL_IOC_INFO, &info));
	watch.period_ns = 0;
	watch.bucket_shift = 3;
	watch.images = 5;
	watch.buckets = 65;
	ASSERT_EQ(0, ioctl(self->fd, PROFIL_IOC_WATCH, &watch));
	EXPECT_EQ(sizeof(watch), watch.size);
	EXPECT_EQ(info.fast_period_ns, watch.period_ns);
	EXPECT_EQ(3, watch.bucket_shift);
	EXPECT_LT(0, watch.processes);
	EXPECT_EQ(5, watch.images);
	EXPECT_LE(8, watch.objects);
	EXPECT_EQ(128, watch.buckets);
	EXPECT_LE(4096, watch.names);
	EXPECT_LT(0, watch.map_size);
	EXPECT_EQ(0, watch.map_size % PAGE);
	EXPECT_LE(5 * sizeof(struct profil_watch_image) +
		  watch.objects * sizeof(struct profil_watch_object) +
		  128 * offsetof(struct profil_watch_bucket, caller) +
		  watch.names,
		  watch.map_size);
}

/* A pair of a field and a value of it that is not valid. */
#define BAD(field, value) \
	{ #field "=" #value, offsetof(struct profil_watch, field), \
	  sizeof(((struct profil_watch *)0)->field), (value) }

struct bad {
	const char *name;
	size_t offset;
	size_t size;
	uint64_t value;
};

static struct profil_watch spoil(const struct profil_watch *good,
				 const struct bad *bad)
{
	struct profil_watch request = *good;

	memcpy((char *)&request + bad->offset, &bad->value, bad->size);
	return request;
}

#ifndef __x86_64__
TEST_F(request, for_chains_where_there_are_none)
{
	struct profil_watch bad = self->good;

	bad.flags |= PROFIL_WATCH_CHAINS;
	EXPECT_REFUSED(EOPNOTSUPP, &bad);
	bad.flags |= PROFIL_WATCH_CALL_SITES;
	EXPECT_REFUSED(EOPNOTSUPP, &bad);
	EXPECT_UNUSED();
}
#endif

TEST_F(request, with_a_value_out_of_range)
{
	static const struct bad all[] = {
		BAD(target, 4), BAD(target, UINT32_MAX),
		BAD(bucket_shift, 13), BAD(bucket_shift, UINT32_MAX),
		BAD(processes, 1048577), BAD(processes, UINT32_MAX),
		BAD(images, 1), BAD(images, 1048577), BAD(images, UINT32_MAX),
		BAD(objects, 7), BAD(objects, 1048577),
		BAD(objects, UINT32_MAX),
		BAD(buckets, 63), BAD(buckets, 16777217),
		BAD(buckets, UINT32_MAX),
		BAD(names, 4095), BAD(names, 67108865), BAD(names, UINT32_MAX),
		BAD(threads, 1), BAD(threads, UINT32_MAX), BAD(reserved, 1),
		BAD(period_ns, 1), BAD(period_ns, 59999),
		BAD(period_ns, SECOND + 1), BAD(period_ns, UINT64_MAX),
		BAD(period_ns, 1ULL << 32), BAD(period_ns, 1ULL << 63),
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct profil_watch bad = spoil(&self->good, &all[i]);

		EXPECT_REFUSED(EINVAL, &bad);
		if (!__test_passed(_metadata))
			TH_LOG("with %s", all[i].name);
	}
	EXPECT_UNUSED();
}

TEST_F(request, with_an_unknown_flag)
{
	struct profil_watch bad = self->good;

	for (int i = 0; i < 32; i++) {
		bad.flags = 1u << i;
		if (!(bad.flags & (ALL_FLAGS | PROFIL_WATCH_CHAINS)))
			EXPECT_REFUSED(EINVAL, &bad);
	}
	EXPECT_UNUSED();
}

TEST_F(request, with_a_flag_that_the_target_does_not_have)
{
	int cgroup = open(CGROUPS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct profil_watch targets[] = {
		watch_request(PROFIL_WATCH_USER, 0, 0),
		watch_request(PROFIL_WATCH_CGROUP, cgroup, 0),
		watch_request(PROFIL_WATCH_MACHINE, 0, 0),
	};

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		struct profil_watch bad = targets[i];

		bad.flags = PROFIL_WATCH_CHILDREN;
		EXPECT_REFUSED(EINVAL, &bad);
		bad.flags = PROFIL_WATCH_AT_EXEC;
		EXPECT_REFUSED(EINVAL, &bad);
	}
	EXPECT_UNUSED();
	close(cgroup);
}

/* What is not valid without the flag is, with it, and the reverse. */
TEST_F(request, of_wall_clock_time)
{
	struct profil_watch bad = watch_request(PROFIL_WATCH_MACHINE, 0,
						PROFIL_WATCH_WALL);
	struct profil_watch good = self->good;

	EXPECT_REFUSED(EINVAL, &bad);
	bad = self->good;
	bad.flags = PROFIL_WATCH_WALL;
	bad.threads = 1048577;
	EXPECT_REFUSED(EINVAL, &bad);
	bad.threads = UINT32_MAX;
	EXPECT_REFUSED(EINVAL, &bad);
	good.flags = PROFIL_WATCH_WALL;
	good.threads = 7;
	EXPECT_OK(ioctl(self->fd, PROFIL_IOC_WATCH, &good));
	EXPECT_EQ(7, good.threads);
	EXPECT_EQ(0, good.reserved);
}

/* That of a caller who does not know of threads is as long as it was. */
TEST_F(request, of_the_first_version)
{
	struct profil_watch watch = self->good;

	watch.size = FIRST_WATCH;
	watch.flags = PROFIL_WATCH_WALL;
	watch.threads = UINT32_MAX;
	EXPECT_OK(ioctl(self->fd, PROFIL_IOC_WATCH, &watch));
	EXPECT_EQ(UINT32_MAX, watch.threads);
}

TEST_F(request, for_the_machine_with_an_id)
{
	struct profil_watch bad = watch_request(PROFIL_WATCH_MACHINE, 1, 0);

	EXPECT_REFUSED(EINVAL, &bad);
	EXPECT_UNUSED();
}

TEST_F(request, for_no_user)
{
	struct profil_watch bad = watch_request(PROFIL_WATCH_USER, -1, 0);

	EXPECT_REFUSED(EINVAL, &bad);
	EXPECT_UNUSED();
}

/* A structure as it is in this version, with other bytes after it. */
struct longer {
	struct profil_watch watch;
	char more[PAGE];
};

TEST_F(request, of_every_size)
{
	struct longer argument = { .watch = self->good };

	for (uint32_t size = 0; size < FIRST_WATCH; size++) {
		argument.watch.size = size;
		EXPECT_ERROR(EINVAL, ioctl(self->fd, PROFIL_IOC_WATCH,
					   &argument));
	}
	argument.watch.size = sizeof(argument.watch) + 8;
	argument.more[7] = 1;
	EXPECT_ERROR(E2BIG, ioctl(self->fd, PROFIL_IOC_WATCH, &argument));
	argument.watch.size = PAGE + 1;
	argument.more[7] = 0;
	EXPECT_ERROR(E2BIG, ioctl(self->fd, PROFIL_IOC_WATCH, &argument));
	argument.watch.size = UINT32_MAX;
	EXPECT_ERROR(E2BIG, ioctl(self->fd, PROFIL_IOC_WATCH, &argument));
	/* A longer structure is a later version of the interface */
	argument.watch.size = sizeof(argument.watch) + 8;
	argument.more[8] = 1;
	EXPECT_OK(ioctl(self->fd, PROFIL_IOC_WATCH, &argument));
	EXPECT_EQ(sizeof(argument.watch) + 8, argument.watch.size);
}

TEST_F(request, with_bad_memory)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct profil_watch *edge = (void *)(pages + PAGE) - 8;
	struct profil_watch *first = (void *)pages;
	struct profil_watch *split = (void *)(pages + PAGE) -
		offsetof(struct profil_watch, map_size);

	ASSERT_EQ(0, munmap(pages + PAGE, PAGE));
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_WATCH, NULL));
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_WATCH, -8L));
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_WATCH, pages + PAGE));
	edge->size = sizeof(*edge);
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_WATCH, edge));
	memcpy(split, &self->good, offsetof(struct profil_watch, map_size));
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_WATCH, split));
	/* The results cannot be written */
	*first = self->good;
	ASSERT_EQ(0, mprotect(pages, PAGE, PROT_READ));
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_WATCH, first));
	EXPECT_UNUSED();
	munmap(pages, PAGE);
}

/* Every kind of results, too. */
TEST_F(request, of_status_with_bad_memory)
{
	static const unsigned int requests[] = {
		PROFIL_IOC_WATCH_STATUS, PROFIL_IOC_WATCH_STOP,
		PROFIL_IOC_WATCH_COLLECT,
	};
	struct profil_watch_status status;
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct profil_watch good = self->good;

	ASSERT_EQ(0, ioctl(self->fd, PROFIL_IOC_WATCH, &good));
	((struct profil_watch_status *)page)->size = sizeof(status);
	ASSERT_EQ(0, mprotect(page, PAGE, PROT_READ));
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		EXPECT_ERROR(EFAULT, ioctl(self->fd, requests[i], -8L));
		EXPECT_ERROR(EFAULT, ioctl(self->fd, requests[i], page));
		for (uint32_t size = 0; size < FIRST_STATUS; size++) {
			status.size = size;
			EXPECT_ERROR(EINVAL, ioctl(self->fd, requests[i],
						   &status));
		}
		status.size = PAGE + 1;
		EXPECT_ERROR(E2BIG, ioctl(self->fd, requests[i], &status));
	}
	EXPECT_ERROR(EFAULT, ioctl(self->fd, PROFIL_IOC_WATCH_STATUS, NULL));
	/* None of these has stopped the watch */
	status.size = sizeof(status);
	EXPECT_OK(ioctl(self->fd, PROFIL_IOC_WATCH_STATUS, &status));
	EXPECT_EQ(PROFIL_STATE_ON, status.state);
	munmap(page, PAGE);
}

TEST_F(request, for_no_process)
{
	struct profil_watch bad = self->good;

	bad.id = 0;
	EXPECT_REFUSED(ESRCH, &bad);
	bad.id = 0x3fffffff;
	EXPECT_REFUSED(ESRCH, &bad);
	bad.id = UINT32_MAX;
	EXPECT_REFUSED(ESRCH, &bad);
	EXPECT_UNUSED();
}

TEST_F(request, for_a_zombie)
{
	struct child zombie = child_begin(burn_100_ms, NULL);
	struct profil_watch bad = self->good;
	siginfo_t info;

	child_go(&zombie);
	ASSERT_EQ(0, waitid(P_PID, zombie.pid, &info, WEXITED | WNOWAIT));
	bad.id = zombie.pid;
	EXPECT_REFUSED(ESRCH, &bad);
	EXPECT_EQ(0, child_end(&zombie));
	EXPECT_REFUSED(ESRCH, &bad);
	EXPECT_UNUSED();
}

TEST_F(request, for_no_cgroup)
{
	struct profil_watch bad = watch_request(PROFIL_WATCH_CGROUP, 0, 0);
	static const char *const files[] = {
		"/dev/null", "/", "/proc/self", "/sys/fs",
		CGROUPS "/cgroup.procs",
	};

	bad.id = 1000000;
	EXPECT_REFUSED(EBADF, &bad);
	bad.id = UINT32_MAX;
	EXPECT_REFUSED(EBADF, &bad);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		int fd = open(files[i], O_RDONLY | O_CLOEXEC);

		ASSERT_LE(0, fd);
		bad.id = fd;
		EXPECT_REFUSED(EBADF, &bad);
		if (!__test_passed(_metadata))
			TH_LOG("with %s", files[i]);
		close(fd);
	}
	EXPECT_UNUSED();
}

TEST_F(request, by_a_descriptor_that_is_not_for_reading)
{
	struct profil_watch watch = self->good;
	int fd = open(PROFIL_DEVICE, O_WRONLY | O_CLOEXEC);

	ASSERT_LE(0, fd);
	EXPECT_ERROR(EACCES, ioctl(fd, PROFIL_IOC_WATCH, &watch));
	close(fd);
	EXPECT_UNUSED();
}

TEST_F(request, faster_than_allowed)
{
	struct profil_watch fast = self->good;

	ASSERT_EQ(0, put_parameter("restrict_fastprof", "1"));
	EXPECT_REFUSED(EACCES, &fast);
	fast.period_ns = 10 * MS - 1;
	EXPECT_REFUSED(EACCES, &fast);
	/* The default is what is allowed */
	fast.period_ns = 0;
	EXPECT_OK(ioctl(self->fd, PROFIL_IOC_WATCH, &fast));
	EXPECT_EQ(10 * MS, fast.period_ns);
	EXPECT_EQ(0, put_parameter("restrict_fastprof", "0"));
}

TEST_F(request, twice_by_one_file)
{
	struct profil_watch watch = self->good;
	struct child other = child_begin(burn_100_ms, NULL);
	struct profil_watch_status status = { .size = sizeof(status) };

	ASSERT_EQ(0, ioctl(self->fd, PROFIL_IOC_WATCH, &watch));
	watch = self->good;
	watch.id = other.pid;
	EXPECT_REFUSED(EBUSY, &watch);
	/* Ever */
	EXPECT_OK(ioctl(self->fd, PROFIL_IOC_WATCH_STOP, NULL));
	EXPECT_REFUSED(EBUSY, &watch);
	EXPECT_OK(ioctl(self->fd, PROFIL_IOC_WATCH_STATUS, &status));
	EXPECT_EQ(PROFIL_STATE_OFF, status.state);
	EXPECT_EQ(0, child_end(&other));
}

TEST_F(request, for_a_process_that_is_watched)
{
	struct watch watch;

	ASSERT_EQ(0, watch_process(&watch, self->child.pid, 0));
	EXPECT_REFUSED(EBUSY, &self->good);
	watch_end(&watch);
	EXPECT_UNUSED();
}

TEST_F(request, for_a_process_whose_watch_was_stopped)
{
	struct watch watch;

	ASSERT_EQ(0, watch_process(&watch, self->child.pid, 0));
	EXPECT_EQ(PROFIL_STATE_OFF, watch_stop(&watch).state);
	EXPECT_UNUSED();
	watch_end(&watch);
}

/* Those with CAP_PERFMON have one watch of many processes at a time. */
TEST_F(request, for_a_user_or_machine_that_is_watched)
{
	int cgroup = open(CGROUPS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct profil_watch targets[] = {
		watch_request(PROFIL_WATCH_USER, 0, 0),
		watch_request(PROFIL_WATCH_CGROUP, cgroup, 0),
		watch_request(PROFIL_WATCH_MACHINE, 0, 0),
	};

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		struct watch watch;

		ASSERT_EQ(0, watch_begin(&watch, &targets[i]));
		for (size_t j = 0; j < ARRAY_SIZE(targets); j++)
			EXPECT_REFUSED(EBUSY, &targets[j]);
		watch_end(&watch);
		EXPECT_EQ(0, watch_try(&targets[i]));
	}
	EXPECT_UNUSED();
	close(cgroup);
}

/* Its own and one of many processes at the same time, each with all ticks. */
TEST_F(request, for_a_process_in_another_watch)
{
	const struct profil_watch targets[] = {
		watch_request(PROFIL_WATCH_MACHINE, 0, PROFIL_WATCH_SEPARATE),
		self->good,
	};
	struct watch watches[ARRAY_SIZE(targets)];

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		ASSERT_EQ(0, watch_begin(&watches[i], &targets[i]));
	EXPECT_EQ(0, child_end(&self->child));
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		uint32_t image = watch_find_pid(&watches[i], self->child.pid);
		struct profil_watch_status status = watch_status(&watches[i]);

		ASSERT_LT(0, image);
		EXPECT_EQ(PROFIL_STATE_ON, status.state);
		EXPECT_WATCH_CONSERVED(&status);
		EXPECT_LT(50, image_ticks(watch_image(&watches[i], image)));
		watch_end(&watches[i]);
	}
	self->child.pid = -1;
}

/* Watch as a user without CAP_PERFMON: @pid or, if 0, a child. */
static int try_as_user(pid_t pid)
{
	struct profil_watch request;
	struct child own;
	int error;

	if (become(NOBODY))
		return 98;
	own = child_begin(burn_100_ms, NULL);
	request = watch_request(PROFIL_WATCH_PROCESS, pid ? pid : own.pid, 0);
	error = watch_try(&request);
	child_kill(&own);
	return error;
}

static int as_user(pid_t pid)
{
	pid_t child = fork_child();

	if (!child)
		_exit(try_as_user(pid));
	return wait_child(child);
}

TEST_F(request, of_more_memory_than_allowed)
{
	char allowed[20];

	ASSERT_EQ(0, get_parameter("max_watch_kb", allowed, sizeof(allowed)));
	EXPECT_EQ(0, as_user(0));
	ASSERT_EQ(0, put_parameter("max_watch_kb", "16"));
	EXPECT_EQ(EAGAIN, as_user(0));
	/* The limit is not for those who have CAP_PERFMON */
	EXPECT_UNUSED();
	ASSERT_EQ(0, put_parameter("max_watch_kb", allowed));
	EXPECT_EQ(0, as_user(0));
}

/*
 * As an ordinary user, who may have one watch: watch a child to its end, again and
 * again. Return: 0, or the error number.
 */
static int watch_one_by_one(void *unused)
{
	struct profil_watch request = {
		.size = sizeof(request), .processes = 1, .images = 2,
		.objects = 8, .buckets = 64, .names = 3 << 19,
	};
	struct watch watch;

	(void)unused;
	if (become(NOBODY))
		return 255;
	for (int i = 0; i < 50; i++) {
		struct child child = child_begin(burn_100_ms, NULL);

		request.id = child.pid;
		if (watch_begin(&watch, &request))
			return errno;
		if (child_kill(&child) != -SIGKILL)
			return 254;
		usleep(1000 * i);
		watch_end(&watch);
	}
	return 0;
}

/* The member of a process that has just ended keeps the watch for a moment. */
TEST_F(request, after_a_watch_whose_process_has_just_ended)
{
	struct child child = child_begin(watch_one_by_one, NULL);
	char allowed[20];

	ASSERT_EQ(0, get_parameter("max_watch_kb", allowed, sizeof(allowed)));
	ASSERT_EQ(0, put_parameter("max_watch_kb", "2560"));
	EXPECT_EQ(0, child_end(&child));
	ASSERT_EQ(0, put_parameter("max_watch_kb", allowed));
}

/* As an ordinary user: watch two children. Return: 0, or the error number. */
static int watch_two(void *unused)
{
	struct child children[2];
	struct watch watches[2];
	int error = 0;

	(void)unused;
	if (become(NOBODY))
		return 255;
	for (int i = 0; i < 2 && !error; i++) {
		children[i] = child_begin(wait_for_signal, NULL);
		if (watch_process(&watches[i], children[i].pid, 0))
			error = errno;
	}
	return error;
}

TEST_F(request, of_more_processes_than_allowed)
{
	struct child child = child_begin(watch_two, NULL);
	char allowed[20];

	ASSERT_EQ(0, get_parameter("max_profiles", allowed, sizeof(allowed)));
	ASSERT_EQ(0, put_parameter("max_profiles", "1"));
	EXPECT_EQ(ENOSPC, child_end(&child));
	ASSERT_EQ(0, put_parameter("max_profiles", allowed));
}

TEST_F(request, for_another_users_process)
{
	EXPECT_EQ(EPERM, as_user(self->child.pid));
	EXPECT_EQ(EPERM, as_user(1));
	EXPECT_UNUSED();
}

/* --- a file without a watch */

TEST_F(request, of_status_without_a_watch)
{
	struct profil_watch_status status = { .size = sizeof(status) };

	status.ticks = 1;
	EXPECT_OK(ioctl(self->fd, PROFIL_IOC_WATCH_STATUS, &status));
	for (size_t i = 1; i < sizeof(status) / 4; i++)
		EXPECT_EQ(0, ((uint32_t *)&status)[i]);
	EXPECT_OK(ioctl(self->fd, PROFIL_IOC_WATCH_STOP, NULL));
	EXPECT_OK(ioctl(self->fd, PROFIL_IOC_WATCH_STOP, &status));
	EXPECT_UNUSED();
}

TEST_F(request, to_map_without_a_watch)
{
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd,
				   0));
	EXPECT_UNUSED();
}

/* --- the mapping */

FIXTURE(table) {
	struct child child;
	struct watch watch;
};

static void begin(struct __test_metadata *_metadata, FIXTURE_DATA(table) *self)
{
	self->child = child_begin(burn_100_ms, NULL);
	ASSERT_LT(0, self->child.pid);
	ASSERT_EQ(0, watch_process(&self->watch, self->child.pid, 0));
}

FIXTURE_SETUP(table)
{
	begin(_metadata, self);
}

FIXTURE_TEARDOWN(table)
{
	child_kill(&self->child);
	watch_end(&self->watch);
}

TEST_F(table, is_sound_from_the_start)
{
	struct profil_watch_status status;

	/* It may still be on its way to the pipe */
	ASSERT_EQ(0, child_hold(&self->child));
	status = watch_settled(&self->watch, 1);
	EXPECT_EQ(PROFIL_STATE_ON, status.state);
	EXPECT_EQ(MS, status.period_ns);
	EXPECT_EQ(1, status.processes);
	EXPECT_EQ(2, status.images);
	EXPECT_SOUND(&self->watch, &status);
}

TEST_F(table, cannot_be_written)
{
	size_t size = self->watch.as.map_size;
	void *table = (void *)self->watch.table;
	int fd = open(PROFIL_DEVICE, O_RDWR | O_CLOEXEC);
	struct profil_watch own = watch_request(PROFIL_WATCH_PROCESS, getpid(),
						0);
	char byte = 1;
	int memory;

	EXPECT_EQ(-1, mprotect(table, size, PROT_READ | PROT_WRITE));
	EXPECT_EQ(-1, mprotect(table, size, PROT_WRITE));
	ASSERT_EQ(0, ioctl(fd, PROFIL_IOC_WATCH, &own));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, own.map_size, PROT_READ | PROT_WRITE,
				   MAP_SHARED, fd, 0));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, own.map_size, PROT_WRITE, MAP_SHARED,
				   fd, 0));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, own.map_size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE, fd, 0));
	close(fd);
	/* As a debugger would */
	memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	EXPECT_EQ(-1, pwrite(memory, &byte, 1, (uintptr_t)table));
	close(memory);
	EXPECT_EQ(PROFIL_WATCH_VERSION, self->watch.table->version);
}

TEST_F(table, cannot_be_executed)
{
	size_t size = self->watch.as.map_size;

	EXPECT_EQ(-1, mprotect((void *)self->watch.table, size,
			       PROT_READ | PROT_EXEC));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, size, PROT_READ | PROT_EXEC,
				   MAP_SHARED, self->watch.fd, 0));
}

TEST_F(table, has_its_size)
{
	size_t size = self->watch.as.map_size;
	char *table = (char *)self->watch.table;

	EXPECT_EQ(MAP_FAILED, mmap(NULL, size + PAGE, PROT_READ, MAP_SHARED,
				   self->watch.fd, 0));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, size, PROT_READ, MAP_SHARED,
				   self->watch.fd, PAGE));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, size, PROT_READ, MAP_SHARED,
				   self->watch.fd, 1ULL << 62));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_READ, MAP_SHARED,
				   self->watch.fd, size));
	EXPECT_EQ(MAP_FAILED, mremap(table, size, size + PAGE, MREMAP_MAYMOVE));
	/* Its last byte can be read */
	EXPECT_EQ(0, table[size - 1]);
}

TEST_F(table, is_not_inherited)
{
	pid_t child = fork_child();

	ASSERT_LE(0, child);
	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		_exit(*(volatile uint32_t *)self->watch.table);
	}
	EXPECT_EQ(-SIGSEGV, wait_child(child));
}

static int burn_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		burn_thread_ns(SECOND);
	return 0;
}

/* Ticks appear in it without a request. */
TEST_F(table, is_alive)
{
	struct child child = child_begin(burn_for_ever, NULL);
	uint64_t end = monotonic_ns() + 60 * SECOND;
	const struct profil_watch_image *image;
	uint64_t last = 0, seen = 0;

	watch_end(&self->watch);
	ASSERT_EQ(0, watch_process(&self->watch, child.pid, 0));
	child_go(&child);
	image = watch_image(&self->watch, 1);
	while (seen < 10 && monotonic_ns() < end) {
		uint64_t now = image_ticks(image);

		EXPECT_LE(last, now);
		seen += now != last;
		last = now;
		usleep(2000);
	}
	EXPECT_EQ(10, seen);
	EXPECT_EQ(-SIGKILL, child_kill(&child));
}

TEST_F(table, has_all_ticks_of_a_process)
{
	struct profil_watch_status status = { 0 };
	const struct profil_watch_image *image;

	UNTIL_WORK_COVERED(100 * MS, status.cpu_time_ns) {
		child_kill(&self->child);
		watch_end(&self->watch);
		begin(_metadata, self);
		EXPECT_EQ(0, child_end(&self->child));
		self->child.pid = -1;
		status = watch_settled(&self->watch, 0);
		EXPECT_EQ(0, status.processes);
		EXPECT_SOUND(&self->watch, &status);
		EXPECT_WATCH_TICKS(&status);
		EXPECT_RESOLVED(&status);
		EXPECT_EQ(0, status.coarse);
		EXPECT_LT(0, status.counted);
	}
	EXPECT_WORK_COVERED(100 * MS, status.cpu_time_ns);
	/* Another process that ran the same program as before */
	image = watch_image(&self->watch, 1);
	EXPECT_EQ(status.ticks, image_ticks(image));
	EXPECT_EQ(1, image->processes);
	EXPECT_STREQ("watch", image->comm);
	EXPECT_EQ(0, image->uid);
	EXPECT_EQ(0, image->parent);
}

TEST_F(table, stays_after_a_stop)
{
	struct profil_watch_status stopped, status;

	child_go(&self->child);
	while (watch_status(&self->watch).ticks < 20)
		usleep(1000);
	EXPECT_EQ(PROFIL_STATE_OFF, watch_stop(&self->watch).state);
	watch_settled(&self->watch, 0);
	/* The kernel may still look for the paths */
	for (uint32_t i = PROFIL_OBJECT_FILES; i < watch_nr_objects(&self->watch);
	     i++)
		watch_path_soon(&self->watch, i);
	stopped = watch_status(&self->watch);
	EXPECT_EQ(PROFIL_STATE_OFF, stopped.state);
	EXPECT_EQ(0, stopped.processes);
	EXPECT_LE(20, stopped.ticks);
	EXPECT_SOUND(&self->watch, &stopped);
	EXPECT_EQ(0, child_end(&self->child));
	self->child.pid = -1;
	status = watch_status(&self->watch);
	EXPECT_EQ(0, memcmp(&stopped, &status, sizeof(status)));
	EXPECT_SOUND(&self->watch, &status);
	/* A second stop changes nothing */
	status = watch_stop(&self->watch);
	EXPECT_EQ(0, memcmp(&stopped, &status, sizeof(status)));
}

/* The mapping keeps the watch; only its end ends it. */
TEST_F(table, outlives_the_descriptor)
{
	struct child child = child_begin(burn_for_ever, NULL);
	struct profil_watch again = watch_request(PROFIL_WATCH_PROCESS,
						  child.pid, 0);
	const struct profil_watch_image *image;
	uint64_t ticks;

	watch_end(&self->watch);
	ASSERT_EQ(0, watch_process(&self->watch, child.pid, 0));
	image = watch_image(&self->watch, 1);
	close(self->watch.fd);
	self->watch.fd = -1;
	child_go(&child);
	while (image_ticks(image) < 20)
		usleep(1000);
	EXPECT_EQ(EBUSY, watch_try(&again));
	ticks = image_ticks(image);
	while (image_ticks(image) < ticks + 5)
		usleep(1000);
	watch_end(&self->watch);
	EXPECT_EQ(0, watch_try(&again));
	EXPECT_EQ(-SIGKILL, child_kill(&child));
}

/* Parts of the mapping, and the descriptor of another process. */
TEST_F(table, ends_with_the_last_that_holds_it)
{
	struct profil_watch again = watch_request(PROFIL_WATCH_PROCESS,
						  self->child.pid, 0);
	size_t size = self->watch.as.map_size;
	char *table = (char *)self->watch.table;
	struct child holder = child_begin(wait_for_signal, NULL);

	ASSERT_LE(2 * PAGE, size);
	self->watch.table = NULL;
	watch_end(&self->watch);
	EXPECT_EQ(EBUSY, watch_try(&again));
	EXPECT_EQ(0, munmap(table, size - PAGE));
	EXPECT_EQ(EBUSY, watch_try(&again));
	EXPECT_EQ(0, munmap(table + size - PAGE, PAGE));
	EXPECT_EQ(EBUSY, watch_try(&again));
	child_kill(&holder);
	EXPECT_EQ(0, watch_try(&again));
}

/* A watcher that is killed leaves nothing behind. */
TEST(a_watch_ends_with_its_watcher)
{
	struct child child = child_begin(burn_100_ms, NULL);
	struct profil_watch again = watch_request(PROFIL_WATCH_PROCESS,
						  child.pid, 0);
	struct watch watch;
	pid_t watcher = fork_child();

	ASSERT_LE(0, watcher);
	if (!watcher) {
		if (watch_process(&watch, child.pid, 0))
			_exit(1);
		kill(getpid(), SIGSTOP);
		_exit(2);
	}
	ASSERT_EQ(watcher, waitpid(watcher, NULL, WUNTRACED));
	EXPECT_EQ(EBUSY, watch_try(&again));
	EXPECT_EQ(0, kill(watcher, SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_child(watcher));
	EXPECT_EQ(0, watch_try(&again));
	EXPECT_EQ(0, child_end(&child));
}

/* --- what is in the table */

OWN_TEXT(burn_here) int burn_here(void *unused)
{
	uint64_t end = process_cpu_ns() + 200 * MS;
	volatile unsigned int i;

	(void)unused;
	while (process_cpu_ns() < end)
		for (i = 0; i < 20000; i++)
			;
	return 0;
}

FIXTURE(buckets) {
	struct watch watch;
};

FIXTURE_VARIANT(buckets) {
	unsigned int shift;
};

FIXTURE_VARIANT_ADD(buckets, of_1_byte) { .shift = 0 };
FIXTURE_VARIANT_ADD(buckets, of_16_bytes) { .shift = 4 };
FIXTURE_VARIANT_ADD(buckets, of_4096_bytes) { .shift = 12 };

FIXTURE_SETUP(buckets)
{
	self->watch.fd = -1;
}

FIXTURE_TEARDOWN(buckets)
{
	watch_end(&self->watch);
}

/* Nearly all ticks are in the function that the process runs, in its file. */
TEST_F(buckets, are_where_the_program_was)
{
	struct profil_watch_status status = { 0 };
	struct profil_watch request;
	struct child child;
	uint32_t object = 0;
	uint64_t here = 0;

	/* All ticks while the host runs others fall at one place, or none come */
	TRY_UNTIL(here > 40 / slack() &&
		  here >= 0.5 / slack() * status.counted) {
		watch_end(&self->watch);
		child = child_begin(burn_here, NULL);
		request = watch_request(PROFIL_WATCH_PROCESS, child.pid, 0);
		request.bucket_shift = variant->shift;
		ASSERT_EQ(0, watch_begin(&self->watch, &request));
		EXPECT_EQ(0, child_end(&child));
		status = watch_settled(&self->watch, 0);
		EXPECT_SOUND(&self->watch, &status);
		object = watch_own_object(&self->watch, burn_here);
		here = watch_ticks_of(&self->watch, START_OF(burn_here),
				      END_OF(burn_here));
		TH_LOG("%llu ticks, %llu in kernel mode, %llu in the function",
		       status.ticks, status.kernel, (unsigned long long)here);
	}
	ASSERT_LE(PROFIL_OBJECT_FILES, object);
	EXPECT_LT(40 / slack(), here);
	EXPECT_LE(0.5 / slack() * status.counted, here);
	EXPECT_GE(status.counted, here);
	EXPECT_EQ(0, watch_ticks(&self->watch, 0, object));
	EXPECT_LE(here, watch_ticks(&self->watch, 1, object));
	EXPECT_LT(0, watch_object(&self->watch, object)->pid);
}

TEST_HARNESS_MAIN
