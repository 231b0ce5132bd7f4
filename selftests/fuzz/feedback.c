// SPDX-License-Identifier: GPL-2.0-only
/*
 * feedback.c - make those calls again that reached new code of the module
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/kcov.h>

#include "fuzz/feedback.h"

#define KCOV	"/sys/kernel/debug/kcov"

/* Of addresses: more than a call comes by */
#define TRACE	(1 << 16)

/* Trace the calls of this thread, if the kernel can. */
void feedback_open(struct feedback *feedback)
{
	int fd = open(KCOV, O_RDWR | O_CLOEXEC);
	unsigned long *trace;

	if (fd < 0 || ioctl(fd, KCOV_INIT_TRACE, TRACE))
		return;
	trace = mmap(NULL, TRACE * sizeof(*trace), PROT_READ | PROT_WRITE,
		     MAP_SHARED, fd, 0);
	if (trace == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC))
		return;
	feedback->trace = trace;
}

/*
 * Return: the state that makes a call which reached new code, to be made again
 * with a change; or 0, for a new call, made from @state.
 */
__u64 feedback_choose(struct feedback *feedback, __u64 *state)
{
	feedback->from = 0;
	if (feedback->nr_kept && number_below(state, 2))
		return feedback->kept[number_below(state, feedback->nr_kept)];
	feedback->from = *state;
	return 0;
}

void feedback_begin(struct feedback *feedback)
{
	if (feedback->trace)
		__atomic_store_n(feedback->trace, 0, __ATOMIC_RELAXED);
}

/* Keep the state that made the call, if that came by code that is new. */
void feedback_end(struct feedback *feedback)
{
	unsigned int before = feedback->nr_reached;
	unsigned long nr;

	if (!feedback->trace)
		return;
	nr = __atomic_load_n(feedback->trace, __ATOMIC_RELAXED);
	for (unsigned long i = 1; i <= nr; i++) {
		bool *reached = &feedback->reached[feedback->trace[i] %
						   FEEDBACK_PLACES];

		feedback->nr_reached += !*reached;
		*reached = true;
	}
	if (feedback->nr_reached != before && feedback->from &&
	    feedback->nr_kept < FEEDBACK_KEPT)
		feedback->kept[feedback->nr_kept++] = feedback->from;
}
