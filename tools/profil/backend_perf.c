// SPDX-License-Identifier: GPL-2.0-only
/*
 * backend_perf.c - ticks from perf_event_open(2), without the module
 *
 * perf_event_open(2) samples with a fixed period. So that no program stays in
 * step with it for long, profil draws a new random period for each thread after
 * every few ticks. Each thread has an event of its own: of an event that
 * threads and children inherit, the kernel changes the period only in the first
 * thread.
 *
 * A period starts when it is set, so the part of the former one that has passed
 * ends without a tick. As the event also counts CPU time, the time between two
 * ticks is known exactly: the period reported in the end is the time that ticks
 * cover, divided by their number. CPU time that no tick covers, such as a
 * thread's time after its last tick, counts as lost ticks.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profil/backend.h"

/* Drain a thread's ring and change its period after so many ticks. */
#define TICKS		4

/* Pages of a thread's ring: room for some hundred ticks. */
#define RING_PAGES	1

/* asm/perf_regs.h: mask with only the program counter */
#define REGS_PC		(1ULL << 8)

/**
 * struct samples - ticks of the program and all its descendants
 * @attr: attributes of every thread's event
 * @ready: epoll(7) descriptor of the events with ticks
 * @nr: number of ticks
 */
struct samples {
	struct perf_event_attr attr;
	int ready;
	uint64_t nr;
};

/**
 * struct sampler - the event of a thread
 * @tid: the thread
 * @fd: descriptor of the event
 * @page: first page shared with the kernel; the ring follows it
 * @period_ns: current period
 * @last_ns: value of the event at the last tick
 * @passed_ns: time since then that had passed before the current period began
 */
struct sampler {
	pid_t tid;
	int fd;
	struct perf_event_mmap_page *page;
	uint64_t period_ns;
	uint64_t last_ns;
	uint64_t passed_ns;
};

/* Layout of PERF_RECORD_SAMPLE for the attributes used here. */
struct sample {
	struct perf_event_header header;
	uint64_t ip;
	uint64_t count_ns;
	uint64_t abi;
	uint64_t pc;
};

static int open_event(const struct perf_event_attr *attr, pid_t tid)
{
	return syscall(SYS_perf_event_open, attr, tid, -1, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

static bool permitted(const struct perf_event_attr *attr)
{
	int fd = open_event(attr, 0);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Draw a period between 1/2 and 3/2 of the requested one. */
static uint64_t draw_period(uint64_t asked_ns)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		number = 0;
	return asked_ns / 2 + number % (asked_ns + 1);
}

static void free_samples(struct samples *samples)
{
	if (samples->ready >= 0)
		close(samples->ready);
	free(samples);
}

/**
 * backend_perf_open() - find out what perf_event_paranoid permits
 * @session: the session; user_only becomes true if the kernel permits no
 *	samples in kernel mode
 *
 * Return: 0, or -1 with errno.
 */
int backend_perf_open(struct session *session)
{
	struct samples *samples = calloc(1, sizeof(*samples));

	if (!samples)
		return -1;
	session->samples = samples;
	samples->attr = (struct perf_event_attr) {
		.size = sizeof(samples->attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = session->asked_ns,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ |
			PERF_SAMPLE_REGS_USER,
		.sample_regs_user = REGS_PC,
		.wakeup_events = TICKS,
	};
	samples->ready = epoll_create1(EPOLL_CLOEXEC);
	if (samples->ready >= 0 && permitted(&samples->attr))
		return 0;
	samples->attr.exclude_kernel = 1;
	session->user_only = true;
	if (samples->ready >= 0 && permitted(&samples->attr))
		return 0;
	free_samples(samples);
	return -1;
}

static int perf_start(const struct session *session, int signals)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(session->samples->ready, EPOLL_CTL_ADD, signals,
			 &event);
}

static pid_t perf_wait(const struct session *session, int signals)
{
	const struct samples *samples = session->samples;
	const struct sampler *sampler;
	struct epoll_event event;

	if (epoll_wait(samples->ready, &event, 1, -1) != 1)
		return 0;
	sampler = event.data.ptr;
	if (!sampler)
		return 0;
	/* The thread has ended: epoll would report it for ever */
	if (event.events & EPOLLHUP)
		epoll_ctl(samples->ready, EPOLL_CTL_DEL, sampler->fd, NULL);
	return sampler->tid;
}

static size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

static size_t ring_size(void)
{
	return RING_PAGES * page_size();
}

/* Take ticks of a thread. NULL with errno on failure. */
static struct sampler *sampler_new(const struct samples *samples, pid_t tid)
{
	struct perf_event_attr attr = samples->attr;
	struct sampler *sampler = calloc(1, sizeof(*sampler));
	struct epoll_event event = {
		.events = EPOLLIN,
		.data.ptr = sampler,
	};

	if (!sampler)
		return NULL;
	sampler->tid = tid;
	sampler->period_ns = draw_period(attr.sample_period);
	attr.sample_period = sampler->period_ns;
	sampler->fd = open_event(&attr, tid);
	if (sampler->fd < 0) {
		free(sampler);
		return NULL;
	}
	sampler->page = mmap(NULL, page_size() + ring_size(),
			     PROT_READ | PROT_WRITE, MAP_SHARED, sampler->fd,
			     0);
	if (sampler->page == MAP_FAILED ||
	    epoll_ctl(samples->ready, EPOLL_CTL_ADD, sampler->fd, &event)) {
		close(sampler->fd);
		free(sampler);
		return NULL;
	}
	return sampler;
}

/* Copy from the ring, where data may wrap around. */
static void copy_out(const struct sampler *sampler, uint64_t at, void *to,
		     size_t size)
{
	const char *data = (const char *)sampler->page + page_size();
	size_t first = ring_size() - at % ring_size();

	if (first > size)
		first = size;
	memcpy(to, data + at % ring_size(), first);
	memcpy((char *)to + first, data, size - first);
}

/*
 * CPU time that a tick covers. If much more than a period has passed, the ticks
 * in between were in kernel mode, which the event excludes; or a hypervisor ran
 * another virtual CPU.
 */
static uint64_t own_time(const struct samples *samples,
			 struct sampler *sampler, uint64_t count_ns,
			 struct exec *exec)
{
	uint64_t all_ns = count_ns - sampler->last_ns, own_ns = all_ns;

	if (all_ns - sampler->passed_ns > sampler->period_ns * 3 / 2)
		own_ns = sampler->period_ns;
	if (samples->attr.exclude_kernel)
		exec->left_out_ns += all_ns - own_ns;
	sampler->last_ns = count_ns;
	sampler->passed_ns = 0;
	return own_ns;
}

static void count_at(const struct session *session,
		     const struct addrspace *space, uint64_t pc)
{
	const struct dso *dso = addrspace_dso_at(space, pc);
	struct exec *exec = space->exec;
	uint64_t at = exec->head;
	const struct area *area;

	if (!exec->nr_areas) {
		exec->lost++;
		return;
	}
	/* addrspace_place() may have failed for lack of memory */
	if (dso && dso->area == NO_AREA)
		dso = NULL;
	area = &exec->areas[dso ? dso->area : 0];
	if (dso)
		at = dso->first +
			(pc - dso->map.start) / session->bucket * COUNTER;
	++*(uint32_t *)((char *)area->local + at);
}

static void count(struct session *session, struct sampler *sampler,
		  const struct addrspace *space, const struct sample *sample)
{
	bool kernel = (sample->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
		PERF_RECORD_MISC_KERNEL;
	struct samples *samples = session->samples;

	samples->nr++;
	space->exec->ticks_ns += own_time(samples, sampler, sample->count_ns,
					  space->exec);
	space->exec->kernel += kernel;
	if (kernel && !session->by_caller)
		space->exec->left_out++;
	else
		count_at(session, space, kernel ? sample->pc : sample->ip);
}

static void take(struct session *session, struct sampler *sampler,
		 const struct addrspace *space, uint64_t at, size_t size)
{
	struct sample sample = { 0 };

	if (size > sizeof(sample))
		size = sizeof(sample);
	copy_out(sampler, at, &sample, size);
	if (sample.header.type == PERF_RECORD_SAMPLE)
		count(session, sampler, space, &sample);
}

/* Read the event's value, in nanoseconds. */
static uint64_t count_of(const struct sampler *sampler)
{
	uint64_t count_ns;

	return read(sampler->fd, &count_ns, sizeof(count_ns)) ==
		sizeof(count_ns) ? count_ns : sampler->last_ns;
}

static void change_period(const struct samples *samples,
			  struct sampler *sampler, struct exec *exec)
{
	uint64_t period_ns = draw_period(samples->attr.sample_period);
	uint64_t passed_ns = count_of(sampler) - sampler->last_ns, missing_ns;

	if (samples->attr.exclude_kernel) {
		missing_ns = passed_ns - passed_ns % sampler->period_ns;
		exec->left_out_ns += missing_ns;
		sampler->last_ns += missing_ns;
		passed_ns -= missing_ns;
	}
	if (ioctl(sampler->fd, PERF_EVENT_IOC_PERIOD, &period_ns))
		return;
	sampler->passed_ns = passed_ns;
	sampler->period_ns = period_ns;
}

static bool drain(struct session *session, struct sampler *sampler,
		  const struct addrspace *space)
{
	uint64_t tail = sampler->page->data_tail, head;
	struct perf_event_header header;
	bool any = false;

	head = __atomic_load_n(&sampler->page->data_head, __ATOMIC_ACQUIRE);
	for (; tail < head; tail += header.size) {
		copy_out(sampler, tail, &header, sizeof(header));
		take(session, sampler, space, tail, header.size);
		any = true;
	}
	__atomic_store_n(&sampler->page->data_tail, tail, __ATOMIC_RELEASE);
	return any;
}

/**
 * sampler_drain() - count the ticks in a thread's ring
 * @session: the session
 * @sampler: the thread's sampler, or NULL
 * @space: address space of the thread since the last call
 */
void sampler_drain(struct session *session, struct sampler *sampler,
		   const struct addrspace *space)
{
	if (sampler && drain(session, sampler, space))
		change_period(session->samples, sampler, space->exec);
}

/**
 * sampler_free() - count the last ticks of a thread that ends or calls exec,
 * and free its sampler
 * @session: the session
 * @sampler: the thread's sampler, or NULL
 * @space: address space of the thread since the last call
 */
void sampler_free(struct session *session, struct sampler *sampler,
		  const struct addrspace *space)
{
	if (!sampler)
		return;
	drain(session, sampler, space);
	munmap(sampler->page, page_size() + ring_size());
	close(sampler->fd);
	free(sampler);
}

static const char *make_area(struct addrspace *space, unsigned int number)
{
	struct area *area = &space->exec->areas[number];

	area->fd = memfd_create("profil", MFD_CLOEXEC);
	if (area->fd < 0 || ftruncate(area->fd, area->size))
		return "memfd_create";
	area->local = mmap(NULL, area->size, PROT_READ | PROT_WRITE,
			   MAP_SHARED, area->fd, 0);
	if (area->local == MAP_FAILED) {
		area->local = NULL;
		return "mmap";
	}
	/* No tracee maps it, but it counts as mapped */
	return addrspace_set_mapped(space, number, 1) ? "malloc" : NULL;
}

static int perf_add_thread(const struct session *session, pid_t tid,
			   struct sampler **sampler)
{
	*sampler = sampler_new(session->samples, tid);
	return *sampler ? 0 : -1;
}

static const char *perf_begin(struct session *session, struct addrspace *space,
			      pid_t tid, bool executed)
{
	unsigned int before = space->exec->nr_areas;
	int number = addrspace_place(space, 0, session->bucket);
	const char *failed;

	if (number < 0)
		return "malloc";
	if (space->exec->nr_areas == before)
		return NULL;
	failed = make_area(space, number);
	if (failed)
		exec_drop_area(space->exec);
	return failed;
}

static const char *perf_separate(struct session *session,
				 struct addrspace *space, pid_t tid)
{
	const char *failed = NULL;
	unsigned int i;

	for (i = 0; i < space->exec->nr_areas && !failed; i++)
		failed = make_area(space, i);
	return failed;
}

/*
 * Convert CPU time without ticks to ticks: left out if it was in kernel mode,
 * else lost.
 */
static void end_exec(const struct session *session, struct exec *exec)
{
	uint64_t half_ns = session->period_ns / 2, rest_ns = 0, left_out;

	if (exec->covered_ns > exec->ticks_ns)
		rest_ns = exec->covered_ns - exec->ticks_ns;
	if (exec->left_out_ns > rest_ns)
		exec->left_out_ns = rest_ns;
	rest_ns -= exec->left_out_ns;
	left_out = (exec->left_out_ns + half_ns) / session->period_ns;
	exec->left_out += left_out;
	exec->kernel += left_out;
	exec->lost += (rest_ns + half_ns) / session->period_ns;
}

/* Nothing to do: profil counts ticks as they come. */
static void perf_collect(const struct session *session)
{
}

/*
 * Compute the mean period and the number of missing ticks. Use the scheduler's
 * CPU time: events also count the time for which a virtual CPU waits for a CPU
 * of the host.
 */
static void perf_end(struct session *session)
{
	uint64_t ticks_ns = 0, covered_ns = 0;
	size_t i;

	for (i = 0; i < session->nr; i++) {
		struct exec *exec = session->execs[i];

		if (exec->cpu_ns > exec->uncovered_ns)
			exec->covered_ns = exec->cpu_ns - exec->uncovered_ns;
		ticks_ns += exec->ticks_ns;
		covered_ns += exec->covered_ns;
	}
	if (ticks_ns > covered_ns)
		ticks_ns = covered_ns;
	if (ticks_ns)
		session->period_ns = ticks_ns / session->samples->nr;
	for (i = 0; i < session->nr; i++)
		end_exec(session, session->execs[i]);
	free_samples(session->samples);
}

const struct backend backend_perf = {
	.start = perf_start,
	.wait = perf_wait,
	.begin = perf_begin,
	.separate = perf_separate,
	.add_thread = perf_add_thread,
	.collect = perf_collect,
	.end = perf_end,
};
