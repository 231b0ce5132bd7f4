// SPDX-License-Identifier: GPL-2.0-only
/*
 * module.c - ticks by the module, which counts in the program's own memory
 *
 * A request to the device acts on the address space of the caller, and exec
 * ends a profile. So the new program itself has to map memory for the counters
 * and to make the request. The memory is a file without a name that we share:
 * nothing is lost when the program is killed, and what its children add is in
 * the same counters. In front of the counters is what the calls refer to.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "module.h"
#include "process.h"
#include "remote.h"

/*
 * The module brings in the last ticks within this time. What has been left
 * running may never end.
 */
#define LAST_TICKS_NS	100000000ULL
#define LOOK_US		500

/**
 * struct head - what the program's request refers to
 * @set: the request
 * @regions: of the request; there is room for as many as the device takes
 */
struct head {
	struct profil_set set;
	struct profil_region regions[];
};

/* Calls that an image is made to do, and what is needed between them. */
struct asking {
	struct run *run;
	struct space *space;
	struct remote remote;
	int pidfd;
	const char *failed;
};

/* What the device can do; -1 with errno if there is none. */
int module_info(struct profil_info *info)
{
	int fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	int result, error;

	if (fd < 0)
		return -1;
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	result = ioctl(fd, PROFIL_IOC_INFO, info);
	error = errno;
	close(fd);
	errno = error;
	return result;
}

static uint64_t head_size(const struct run *run)
{
	return sizeof(struct head) +
		run->max_regions * sizeof(struct profil_region);
}

static int fail(struct asking *asking, const char *what, int error)
{
	asking->failed = what;
	errno = error;
	return -1;
}

/* Did it succeed? */
static int check(struct asking *asking, const struct remote_call *call,
		 const char *what)
{
	if (call->number < 0 && call->number >= -4095)
		return fail(asking, what, -call->number);
	return 0;
}

/* A descriptor that the program has, to be had here too. */
static int get_descriptor(struct asking *asking, int64_t fd)
{
	return syscall(SYS_pidfd_getfd, asking->pidfd, (int)fd, 0);
}

static struct profil_region region_of(const struct space *space, size_t number,
				      uint32_t bucket)
{
	const struct object *object = &space->image->objects[number];
	struct profil_region region = {
		.base = space_mapped(space, object->area) + object->first,
		.size = object_counters(object, bucket),
		.offset = object->map.start,
		.scale = 65536 * COUNTER / bucket,
	};

	return region;
}

/* All that is mapped and has counters. Returns their number. */
static size_t make_regions(const struct space *space, uint32_t bucket,
			   struct profil_region *regions)
{
	size_t nr = 0, i;

	for (i = 0; i < space->nr_live; i++)
		if (space->image->objects[space->live[i]].area != NO_AREA)
			regions[nr++] = region_of(space, space->live[i],
						  bucket);
	return nr;
}

/* A counter for the rest comes last. */
static int write_head(struct asking *asking)
{
	const struct space *space = asking->space;
	size_t most = space->nr_live + 1, nr;
	size_t size = sizeof(struct head) + most * sizeof(struct profil_region);
	struct head *head = calloc(1, size);
	ssize_t written;

	if (!head)
		return fail(asking, "profil", ENOMEM);
	nr = make_regions(space, asking->run->bucket, head->regions);
	head->set.size = sizeof(head->set);
	/* Bytes of text without regard to the width of the counters */
	head->set.flags = PROFIL_SET_SVR4_ARITH;
	if (!asking->run->by_caller)
		head->set.flags |= PROFIL_SET_USER_ONLY;
	head->set.width = COUNTER;
	head->set.nr_regions = nr + 1;
	head->set.regions = space_mapped(space, 0) + sizeof(*head);
	head->set.period_ns = asking->run->asked_ns;
	head->regions[nr].base = space_mapped(space, 0) + space->image->head;
	head->regions[nr].size = COUNTER;
	head->regions[nr].scale = 2;
	written = pwrite(space->image->areas[0].fd, head, size, 0);
	free(head);
	if (written != (ssize_t)size)
		return fail(asking, "cannot share memory", errno);
	return 0;
}

/* Needed before the request; without memory the first alone. */
enum { OPEN, MEMFD, MAP, NR_PREPARE };

/* Share the memory that the program has mapped. */
static int share(struct asking *asking, unsigned int number,
		 const struct remote_call *calls)
{
	struct area *area = &asking->space->image->areas[number];

	if (check(asking, &calls[MEMFD], "memfd_create") ||
	    check(asking, &calls[MAP], "mmap"))
		return -1;
	area->fd = get_descriptor(asking, calls[MEMFD].number);
	if (area->fd < 0 || ftruncate(area->fd, area->size))
		return fail(asking, "cannot share memory", errno);
	if (space_set_mapped(asking->space, number, calls[MAP].number))
		return fail(asking, "profil", ENOMEM);
	return 0;
}

/* Who may have little memory gets no more than he needs now. */
static uint64_t size_of(const struct asking *asking, unsigned int number)
{
	struct area *area = &asking->space->image->areas[number];
	uint64_t page = sysconf(_SC_PAGESIZE);
	struct rlimit limit;

	if (!prlimit(asking->remote.tid, RLIMIT_AS, NULL, &limit) &&
	    limit.rlim_cur != RLIM_INFINITY)
		area->size = (area->used + page - 1) / page * page;
	return area->size;
}

/*
 * Open the device and, if @number is not NO_AREA, map that area, which is new
 * here. @fds receives the descriptors; they are to be closed in any case.
 */
static int prepare(struct asking *asking, unsigned int number,
		   int64_t fds[MEMFD + 1])
{
	uint64_t device = remote_text(&asking->remote, PROFIL_DEVICE);
	uint64_t name = device + sizeof("/dev/") - 1;
	uint64_t at = space_mapped(asking->space, number);
	uint64_t flags = MAP_SHARED | (at ? MAP_FIXED : 0);
	struct remote_call calls[NR_PREPARE] = {
		[OPEN] = { SYS_openat, {
			AT_FDCWD, device, O_RDONLY | O_CLOEXEC }, 0 },
		[MEMFD] = { SYS_memfd_create, { name, MFD_CLOEXEC }, 0 },
		[MAP] = { SYS_mmap, {
			at, 0, PROT_READ | PROT_WRITE, flags }, MEMFD },
	};
	size_t nr = 1;

	fds[OPEN] = -1;
	fds[MEMFD] = -1;
	if (number != NO_AREA) {
		calls[MAP].arguments[1] = size_of(asking, number);
		nr = NR_PREPARE;
	}
	if (!device)
		return fail(asking, "cannot write to the stack", errno);
	if (remote_do(&asking->remote, calls, nr))
		return fail(asking, "ptrace", errno);
	fds[OPEN] = calls[OPEN].number;
	if (nr > MEMFD)
		fds[MEMFD] = calls[MEMFD].number;
	if (check(asking, &calls[OPEN], PROFIL_DEVICE))
		return -1;
	return nr > MAP ? share(asking, number, calls) : 0;
}

/* Make a request, if it is not 0, and close what there is. */
static int finish(struct asking *asking, unsigned long request,
		  const char *name, int64_t fds[MEMFD + 1])
{
	uint64_t head = space_mapped(asking->space, 0);
	struct remote_call calls[1 + MEMFD + 1];
	size_t nr = 0, i;
	int failed = 0;

	if (request)
		calls[nr++] = (struct remote_call) { SYS_ioctl, {
			fds[OPEN], request,
			request == PROFIL_IOC_SET ? head : 0 }, 0 };
	for (i = 0; i <= MEMFD; i++)
		if (fds[i] >= 0)
			calls[nr++] = (struct remote_call) {
				SYS_close, { fds[i] }, 0 };
	if (nr && remote_do(&asking->remote, calls, nr))
		return fail(asking, "ptrace", errno);
	if (request)
		failed = check(asking, &calls[0], name);
	return failed;
}

/* Whoever has the same open file can ask what becomes of the profile. */
static int keep_account(struct asking *asking, int64_t fd)
{
	int account = get_descriptor(asking, fd);

	if (account < 0)
		return fail(asking, "pidfd_getfd", errno);
	if (accounts_add(&asking->space->image->accounts, account))
		return fail(asking, "profil", ENOMEM);
	return 0;
}

/* Profile what is mapped now. */
static int request(struct asking *asking, unsigned int new_area)
{
	int64_t fds[MEMFD + 1];
	int failed = prepare(asking, new_area, fds) || write_head(asking) ||
		keep_account(asking, fds[OPEN]);
	int error = errno;

	if (finish(asking, failed ? 0 : PROFIL_IOC_SET, "PROFIL_IOC_SET", fds))
		return -1;
	errno = error;
	return failed ? -1 : 0;
}

/* The true mean period, which the device has written into the request. */
static int read_period(struct asking *asking)
{
	if (pread(asking->space->image->areas[0].fd, &asking->run->period_ns,
		  sizeof(asking->run->period_ns),
		  offsetof(struct head, set.period_ns)) < 0)
		return fail(asking, "cannot share memory", errno);
	return 0;
}

/* The process that a thread is of. */
static int open_process(pid_t tid)
{
	int fd = syscall(SYS_pidfd_open, tid, 0);
	struct process process;

	if (fd >= 0 || process_read(tid, &process))
		return fd;
	return syscall(SYS_pidfd_open, process.tgid, 0);
}

static int begin(struct asking *asking, pid_t tid, bool executed)
{
	asking->pidfd = open_process(tid);
	if (asking->pidfd < 0)
		return fail(asking, "pidfd_open", errno);
	if (remote_begin(&asking->remote, tid, asking->space->code)) {
		close(asking->pidfd);
		return fail(asking, "ptrace", errno);
	}
	/* What execve() returns is not in the register yet */
	if (executed)
		asking->remote.regs.rax = 0;
	return 0;
}

static int end(struct asking *asking, int failed)
{
	int error = errno;

	close(asking->pidfd);
	if (remote_end(&asking->remote))
		return failed ? -1 : fail(asking, "ptrace", ESRCH);
	errno = error;
	return failed;
}

/**
 * module_begin() - profile what is mapped now
 * @run: the run
 * @space: where it is mapped
 * @tid: a stopped thread that is there
 * @executed: it has just executed that
 *
 * Return: NULL, or what failed, with errno.
 */
const char *module_begin(struct run *run, struct space *space, pid_t tid,
			 bool executed)
{
	struct asking asking = { .run = run, .space = space };
	struct image *image = space->image;
	unsigned int before = image->nr_areas;
	int area = space_place(space, head_size(run), run->bucket);
	unsigned int new = image->nr_areas > before ? (unsigned int)area :
						      NO_AREA;
	int failed;

	if (area < 0) {
		errno = ENOMEM;
		return "profil";
	}
	if (begin(&asking, tid, executed))
		failed = -1;
	else
		failed = end(&asking, request(&asking, new) ||
			     read_period(&asking));
	if (failed && new != NO_AREA && !space_mapped(space, new))
		image_drop_area(image);
	return failed ? asking.failed : NULL;
}

/* Another area in the place of the one that the child shares. */
static int replace_area(struct asking *asking, unsigned int number)
{
	int64_t fds[MEMFD + 1];
	int failed = prepare(asking, number, fds);
	int error = errno;

	if (finish(asking, 0, "", fds))
		return -1;
	errno = error;
	return failed;
}

/* The last ticks go where those before them went. */
static int stop(struct asking *asking)
{
	int64_t fds[MEMFD + 1];
	int failed = prepare(asking, NO_AREA, fds);

	return finish(asking, failed ? 0 : PROFIL_IOC_STOP, "PROFIL_IOC_STOP",
		      fds) || failed ? -1 : 0;
}

static int separate(struct asking *asking)
{
	unsigned int i;

	if (stop(asking))
		return -1;
	for (i = 0; i < asking->space->image->nr_areas; i++)
		if (space_mapped(asking->space, i) && replace_area(asking, i))
			return -1;
	return request(asking, NO_AREA);
}

/**
 * module_separate() - profile a child apart from its parent
 * @run: the run
 * @space: of the child, with its own image
 * @tid: the child, stopped
 *
 * Return: NULL, or what failed, with errno.
 */
const char *module_separate(struct run *run, struct space *space, pid_t tid)
{
	struct asking asking = { .run = run, .space = space };

	if (begin(&asking, tid, false) || end(&asking, separate(&asking)))
		return asking.failed;
	return NULL;
}

/**
 * module_look() - take what is known by now of profiles that have ended
 * @run: the run
 *
 * What is complete needs no descriptors any more.
 *
 * Return: how many accounts are not complete.
 */
size_t module_look(const struct run *run)
{
	size_t open = 0, of_image, i;

	for (i = 0; i < run->nr; i++) {
		of_image = accounts_read(&run->images[i]->accounts);
		if (!of_image && !run->images[i]->users)
			image_keep(run->images[i], run->bucket);
		open += of_image;
	}
	return open;
}

/*
 * Some of its processes may have been left running: what they have used is
 * known, and what was counted in them so far is among the rest.
 */
static void end_image(struct image *image)
{
	bool complete = !image->accounts.nr;

	accounts_close(&image->accounts);
	image->covered_ns = image->accounts.cpu_ns;
	if (!complete && image->cpu_ns > image->uncovered_ns)
		image->covered_ns = image->cpu_ns - image->uncovered_ns;
}

/**
 * module_end() - wait for the last ticks
 * @run: that has ended
 */
void module_end(struct run *run)
{
	uint64_t end_ns = run_now_ns() + LAST_TICKS_NS;
	size_t i;

	while (module_look(run) && run_now_ns() < end_ns)
		usleep(LOOK_US);
	for (i = 0; i < run->nr; i++)
		end_image(run->images[i]);
}
