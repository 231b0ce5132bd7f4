// SPDX-License-Identifier: GPL-2.0-only
/*
 * backend_kernel.c - the module counts ticks in memory of the program
 *
 * A request to the device acts on the caller's address space, and exec ends a
 * profile. So profil injects system calls into each new program: it maps memory
 * for the counters and makes the request. The memory is a memfd that profil
 * shares: nothing is lost when the program is killed, and forked children add
 * to the same counters. The arguments of the injected request lie in front of
 * the counters.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profil/backend.h"
#include "profil/proc.h"
#include "profil/ptrace/inject.h"

/*
 * The module flushes pending ticks within this time. Do not wait longer:
 * processes that outlive the program may never end.
 */
#define LAST_TICKS_NS	100000000ULL
#define LOOK_US		500

/**
 * struct head - arguments of the program's request
 * @set: the request
 * @regions: its regions; there is room for as many as the device allows
 */
struct head {
	struct profil_set set;
	struct profil_region regions[];
};

/* State of a sequence of injected calls. */
struct asking {
	struct session *session;
	struct addrspace *space;
	struct remote remote;
	int pidfd;
	const char *failed;
};

/**
 * backend_kernel_info() - ask the device for its limits; -1 with errno if there
 * is no device
 */
int backend_kernel_info(struct profil_info *info)
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

static uint64_t head_size(const struct session *session)
{
	return sizeof(struct head) +
		session->max_regions * sizeof(struct profil_region);
}

static int fail(struct asking *asking, const char *what, int error)
{
	asking->failed = what;
	errno = error;
	return -1;
}

static int check(struct asking *asking, const struct remote_call *call,
		 const char *what)
{
	if (call->number < 0 && call->number >= -4095)
		return fail(asking, what, -call->number);
	return 0;
}

/* Duplicate a descriptor of the program into this process. */
static int get_descriptor(struct asking *asking, int64_t fd)
{
	return syscall(SYS_pidfd_getfd, asking->pidfd, (int)fd, 0);
}

static struct profil_region region_of(const struct addrspace *space,
				      size_t number, uint32_t bucket)
{
	const struct dso *dso = &space->exec->dsos[number];
	struct profil_region region = {
		.base = addrspace_mapped(space, dso->area) + dso->first,
		.size = dso_counters(dso, bucket),
		.offset = dso->map.start,
		.scale = 65536 * COUNTER / bucket,
	};

	return region;
}

/* List a region for each mapped DSO with counters; return their number. */
static size_t make_regions(const struct addrspace *space, uint32_t bucket,
			   struct profil_region *regions)
{
	size_t nr = 0, i;

	for (i = 0; i < space->nr_live; i++)
		if (space->exec->dsos[space->live[i]].area != NO_AREA)
			regions[nr++] = region_of(space, space->live[i],
						  bucket);
	return nr;
}

/* Write the request. Its last region counts ticks outside all DSOs. */
static int write_head(struct asking *asking)
{
	const struct addrspace *space = asking->space;
	size_t most = space->nr_live + 1, nr;
	size_t size = sizeof(struct head) + most * sizeof(struct profil_region);
	struct head *head = calloc(1, size);
	ssize_t written;

	if (!head)
		return fail(asking, "malloc", ENOMEM);
	nr = make_regions(space, asking->session->bucket, head->regions);
	head->set.size = sizeof(head->set);
	/* Scale: bytes of counters per byte of text, whatever their width */
	head->set.flags = PROFIL_SET_SVR4_ARITH;
	if (!asking->session->by_caller)
		head->set.flags |= PROFIL_SET_USER_ONLY;
	head->set.width = COUNTER;
	head->set.nr_regions = nr + 1;
	head->set.regions = addrspace_mapped(space, 0) + sizeof(*head);
	head->set.period_ns = asking->session->asked_ns;
	head->regions[nr].base = addrspace_mapped(space, 0) + space->exec->head;
	head->regions[nr].size = COUNTER;
	head->regions[nr].scale = 2;
	written = pwrite(space->exec->areas[0].fd, head, size, 0);
	free(head);
	if (written != (ssize_t)size)
		return fail(asking, "cannot share memory", errno);
	return 0;
}

/* Calls that precede the request; only the first if no area is new. */
enum { OPEN, MEMFD, MAP, NR_PREPARE };

/* Take a descriptor of the memory that the program has mapped; set its size. */
static int share(struct asking *asking, unsigned int number,
		 const struct remote_call *calls)
{
	struct area *area = &asking->space->exec->areas[number];

	if (check(asking, &calls[MEMFD], "memfd_create") ||
	    check(asking, &calls[MAP], "mmap"))
		return -1;
	area->fd = get_descriptor(asking, calls[MEMFD].number);
	if (area->fd < 0 || ftruncate(area->fd, area->size))
		return fail(asking, "cannot share memory", errno);
	if (addrspace_set_mapped(asking->space, number, calls[MAP].number))
		return fail(asking, "malloc", ENOMEM);
	return 0;
}

/* If RLIMIT_AS is set, map no more than the counters need now. */
static uint64_t size_of(const struct asking *asking, unsigned int number)
{
	struct area *area = &asking->space->exec->areas[number];
	uint64_t page = sysconf(_SC_PAGESIZE);
	struct rlimit limit;

	if (!prlimit(asking->remote.tid, RLIMIT_AS, NULL, &limit) &&
	    limit.rlim_cur != RLIM_INFINITY)
		area->size = (area->used + page - 1) / page * page;
	return area->size;
}

/*
 * In the program, open the device and, if @number is not NO_AREA, map this
 * counter area, which is new in this address space. @fds receives the
 * descriptors in the program; the caller passes them to finish() even after a
 * failure.
 */
static int prepare(struct asking *asking, unsigned int number,
		   int64_t fds[MEMFD + 1])
{
	uint64_t device = remote_text(&asking->remote, PROFIL_DEVICE);
	uint64_t name = device + sizeof("/dev/") - 1;
	uint64_t at = addrspace_mapped(asking->space, number);
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

/* In the program, make @request, unless it is 0, and close @fds. */
static int finish(struct asking *asking, unsigned long request,
		  const char *name, int64_t fds[MEMFD + 1])
{
	uint64_t head = addrspace_mapped(asking->space, 0);
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

/* Keep the open file of the request, to read the profile's stats later. */
static int keep_account(struct asking *asking, int64_t fd)
{
	int account = get_descriptor(asking, fd);

	if (account < 0)
		return fail(asking, "pidfd_getfd", errno);
	if (accounts_add(&asking->space->exec->accounts, account))
		return fail(asking, "malloc", ENOMEM);
	return 0;
}

/* Have the program request a profile of all that is mapped now. */
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

/* Read the actual mean period, which the device wrote into the request. */
static int read_period(struct asking *asking)
{
	if (pread(asking->space->exec->areas[0].fd, &asking->session->period_ns,
		  sizeof(asking->session->period_ns),
		  offsetof(struct head, set.period_ns)) < 0)
		return fail(asking, "cannot share memory", errno);
	return 0;
}

/* Open a pidfd for the process of a thread. */
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
	/* The kernel sets rax, the result of execve(), only after this stop */
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

/*
 * Why system calls cannot be injected, or NULL. A seccomp filter could kill the
 * program.
 */
static const char *out_of_calls(pid_t tid)
{
	struct process process;

	errno = 0;
	if (process_read(tid, &process))
		return "no entry in /proc";
	if (!process.seccomp)
		return NULL;
	if (!process_read(getpid(), &process) && process.seccomp)
		return "its system calls are filtered (seccomp), as are those of profil: start the container with '--security-opt seccomp=unconfined'";
	return "its system calls are filtered (seccomp)";
}

static const char *begin_now(struct session *session, struct addrspace *space,
			     pid_t tid, bool executed)
{
	struct asking asking = { .session = session, .space = space };
	struct exec *exec = space->exec;
	unsigned int before = exec->nr_areas;
	int area = addrspace_place(space, head_size(session), session->bucket);
	unsigned int new = exec->nr_areas > before ? (unsigned int)area :
						      NO_AREA;
	int failed;

	if (area < 0) {
		errno = ENOMEM;
		return "malloc";
	}
	if (begin(&asking, tid, executed))
		failed = -1;
	else
		failed = end(&asking, request(&asking, new) ||
			     read_period(&asking));
	if (failed && new != NO_AREA && !addrspace_mapped(space, new))
		exec_drop_area(exec);
	return failed ? asking.failed : NULL;
}

static const char *kernel_begin(struct session *session,
				struct addrspace *space, pid_t tid,
				bool executed)
{
	return out_of_calls(tid) ?: begin_now(session, space, tid, executed);
}

/* Map another file over an area that a forked child shares with its parent. */
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

/* Stop before areas are replaced: ticks so far belong to the parent's exec. */
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
	for (i = 0; i < asking->space->exec->nr_areas; i++)
		if (addrspace_mapped(asking->space, i) &&
		    replace_area(asking, i))
			return -1;
	return request(asking, NO_AREA);
}

static const char *kernel_separate(struct session *session,
				   struct addrspace *space, pid_t tid)
{
	struct asking asking = { .session = session, .space = space };
	const char *failed = out_of_calls(tid);

	if (failed)
		return failed;
	if (begin(&asking, tid, false) || end(&asking, separate(&asking)))
		return asking.failed;
	return NULL;
}

/*
 * Read stats of profiles that have ended and keep the counters of execs that no
 * address space uses. Returns the number of requests with profiles that still
 * run.
 */
static size_t read_accounts(const struct session *session)
{
	size_t open = 0, of_exec, i;

	for (i = 0; i < session->nr; i++) {
		of_exec = accounts_read(&session->execs[i]->accounts);
		if (!of_exec && !session->execs[i]->users)
			exec_keep(session->execs[i], session->bucket);
		open += of_exec;
	}
	return open;
}

/* The module reports the CPU time of ended profiles only. */
static void end_exec(struct exec *exec)
{
	accounts_close(&exec->accounts);
	exec->covered_ns = exec->accounts.cpu_ns;
}

static void kernel_end(struct session *session)
{
	uint64_t end_ns = now_ns() + LAST_TICKS_NS;
	size_t i;

	while (read_accounts(session) && now_ns() < end_ns)
		usleep(LOOK_US);
	for (i = 0; i < session->nr; i++)
		end_exec(session->execs[i]);
}

static int kernel_start(const struct session *session, int signals)
{
	return 0;
}

static pid_t kernel_wait(const struct session *session, int signals)
{
	struct pollfd poll_fd = { .fd = signals, .events = POLLIN };

	poll(&poll_fd, 1, -1);
	return 0;
}

/* Nothing to do: the module profiles all threads of an address space. */
static int kernel_add_thread(const struct session *session, pid_t tid,
			     struct sampler **sampler)
{
	*sampler = NULL;
	return 0;
}

static void kernel_collect(const struct session *session)
{
	read_accounts(session);
}

const struct backend backend_kernel = {
	.start = kernel_start,
	.wait = kernel_wait,
	.begin = kernel_begin,
	.separate = kernel_separate,
	.add_thread = kernel_add_thread,
	.collect = kernel_collect,
	.end = kernel_end,
};
