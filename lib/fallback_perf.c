// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * fallback_perf.c - make a tick come on time
 *
 * A timer on CPU time fires at the kernel's clock tick, in step with whatever
 * else that drives. Where the system lets a program open perf events of its
 * own, one for each thread sends the same signal at the very nanosecond, if the
 * thread is in user mode then; if it is in the kernel the timer still comes.
 * (An event that samples the kernel too may send its signal while the thread
 * executes another program, and would kill that.)
 *
 * The program may close the descriptor, as it may close all: every use asks
 * whether it still is the event.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fallback_profile.h"

/* Where programs do not expect their own descriptors. */
#define FALLBACK_LOWEST_FD	512

/*
 * The shortest period: until the signal has been handled the event goes on with
 * it. At the kernel's own limit, 10 us, a virtual CPU does nothing else.
 */
#define FALLBACK_GAP_NS		100000

static int fallback_perf_prepare(int fd, pid_t tid, int number)
{
	struct f_owner_ex owner = { F_OWNER_TID, tid };

	if (fcntl(fd, F_SETOWN_EX, &owner) || fcntl(fd, F_SETSIG, number) ||
	    fcntl(fd, F_SETFL, O_ASYNC))
		return -1;
	return 0;
}

/**
 * fallback_perf_open() - open the event of a thread
 * @perf: receives the event; one that cannot be opened does nothing
 * @tid: the thread
 * @number: signal to send it
 */
void fallback_perf_open(struct fallback_perf *perf, pid_t tid, int number)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.sample_period = 1ULL << 50,
		.wakeup_events = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.remove_on_exec = 1,
	};
	int low;

	perf->fd = -1;
	low = syscall(SYS_perf_event_open, &attr, tid, -1, -1,
		      PERF_FLAG_FD_CLOEXEC);
	/* Before Linux 5.13 */
	attr.remove_on_exec = 0;
	if (low < 0 && errno == EINVAL)
		low = syscall(SYS_perf_event_open, &attr, tid, -1, -1,
			      PERF_FLAG_FD_CLOEXEC);
	if (low < 0)
		return;
	perf->fd = fcntl(low, F_DUPFD_CLOEXEC, FALLBACK_LOWEST_FD);
	syscall(SYS_close, low);
	if (perf->fd >= 0 &&
	    (ioctl(perf->fd, PERF_EVENT_IOC_ID, &perf->id) ||
	     fallback_perf_prepare(perf->fd, tid, number))) {
		syscall(SYS_close, perf->fd);
		perf->fd = -1;
	}
}

/* Whether the descriptor is the event still. */
static bool fallback_perf_is_open(struct fallback_perf *perf)
{
	u64 id;

	if (perf->fd < 0)
		return false;
	if (!ioctl(perf->fd, PERF_EVENT_IOC_ID, &id) && id == perf->id)
		return true;
	perf->fd = -1;
	return false;
}

/**
 * fallback_perf_set() - have the signal sent
 * @perf: the event
 * @ns: after so much CPU time of the thread, and after as much again
 *
 * Return: after how much it fires.
 */
u64 fallback_perf_set(struct fallback_perf *perf, u64 ns)
{
	if (ns < FALLBACK_GAP_NS)
		ns = FALLBACK_GAP_NS;
	if (fallback_perf_is_open(perf))
		ioctl(perf->fd, PERF_EVENT_IOC_PERIOD, &ns);
	return ns;
}

/* Send no more signals, even if a child has a descriptor of the event. */
void fallback_perf_stop(struct fallback_perf *perf)
{
	if (fallback_perf_is_open(perf))
		ioctl(perf->fd, PERF_EVENT_IOC_DISABLE, 0);
}

void fallback_perf_close(struct fallback_perf *perf)
{
	if (fallback_perf_is_open(perf))
		syscall(SYS_close, perf->fd);
	perf->fd = -1;
}
