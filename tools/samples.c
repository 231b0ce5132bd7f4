// SPDX-License-Identifier: GPL-2.0-only
/*
 * samples.c - ticks by perf_event_open(2), where there is no module
 *
 * The kernel makes these ticks with one period. So that no program is in step
 * with them for long, each thread's period is drawn anew after every few of
 * its ticks. An event that threads and children inherit would not do: the
 * kernel changes the period of the first alone. So each thread has its own.
 *
 * A new period begins when it is set; what has passed of the old one is time
 * without a tick. The kernel's count says how much time lies between one tick
 * and the next, so nothing has to be assumed of it: the period that is told in
 * the end is the time that ticks stand for, divided by their number. CPU time
 * for which no tick stands, such as that of a thread after its last tick, is
 * that of ticks which are lost.
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

#include "samples.h"

/* A thread's ticks are looked at, and its period changed, after so many. */
#define TICKS		4

/* Pages of a thread's ring: for some hundred ticks. */
#define RING_PAGES	1

/* asm/perf_regs.h: the program counter */
#define REGS_PC		(1ULL << 8)

/**
 * struct samples - ticks of a program and of all that it starts
 * @attr: the event of each thread
 * @ready: descriptor of epoll(7) that tells which have ticks
 * @nr: number of ticks
 */
struct samples {
	struct perf_event_attr attr;
	int ready;
	uint64_t nr;
};

/**
 * struct sampler - ticks of a thread
 * @tid: the thread
 * @fd: the event
 * @page: what is shared with the kernel; the ticks come after it
 * @period_ns: that is set now
 * @last_ns: what the event had counted at the last tick
 * @passed_ns: among what comes after, what had passed of a former period
 */
struct sampler {
	pid_t tid;
	int fd;
	struct perf_event_mmap_page *page;
	uint64_t period_ns;
	uint64_t last_ns;
	uint64_t passed_ns;
};

/* Of PERF_RECORD_SAMPLE, as asked for. */
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

/* Anything from a half to three halves of what was asked for. */
static uint64_t draw_period(uint64_t asked_ns)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		number = 0;
	return asked_ns / 2 + number % (asked_ns + 1);
}

/**
 * samples_new() - find out what is permitted
 * @run: the run; its user_only becomes what is possible
 *
 * Return: what samples_free() frees, or NULL with errno.
 */
struct samples *samples_new(struct run *run)
{
	struct samples *samples = calloc(1, sizeof(*samples));

	if (!samples)
		return NULL;
	samples->attr = (struct perf_event_attr) {
		.size = sizeof(samples->attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = run->asked_ns,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ |
			PERF_SAMPLE_REGS_USER,
		.sample_regs_user = REGS_PC,
		.wakeup_events = TICKS,
	};
	samples->ready = epoll_create1(EPOLL_CLOEXEC);
	if (samples->ready >= 0 && permitted(&samples->attr))
		return samples;
	samples->attr.exclude_kernel = 1;
	run->user_only = true;
	if (samples->ready >= 0 && permitted(&samples->attr))
		return samples;
	samples_free(samples);
	return NULL;
}

void samples_free(struct samples *samples)
{
	if (samples->ready >= 0)
		close(samples->ready);
	free(samples);
}

/** samples_watch() - wait for that descriptor too; -1 with errno */
int samples_watch(const struct samples *samples, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(samples->ready, EPOLL_CTL_ADD, fd, &event);
}

/**
 * samples_wait() - wait for ticks, or for what samples_watch() was told
 * @samples: the run's
 *
 * Return: a thread that may have ticks, or 0 for the other.
 */
pid_t samples_wait(const struct samples *samples)
{
	const struct sampler *sampler;
	struct epoll_event event;

	if (epoll_wait(samples->ready, &event, 1, -1) != 1)
		return 0;
	sampler = event.data.ptr;
	if (!sampler)
		return 0;
	/* It has ended, and would be ready for ever */
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

/**
 * sampler_new() - tick while a thread runs
 * @samples: the run's
 * @tid: the thread
 *
 * Return: what sampler_free() frees, or NULL with errno.
 */
struct sampler *sampler_new(struct samples *samples, pid_t tid)
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

/* From the ring, which may end in the middle of it. */
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
 * The time that a tick stands for. If ticks are missing in between they were in
 * the kernel, where that is not to be seen; or nobody had the processor, as on
 * a machine that shares it with others.
 */
static uint64_t own_time(const struct samples *samples,
			 struct sampler *sampler, uint64_t count_ns,
			 struct image *image)
{
	uint64_t all_ns = count_ns - sampler->last_ns, own_ns = all_ns;

	if (all_ns - sampler->passed_ns > sampler->period_ns * 3 / 2)
		own_ns = sampler->period_ns;
	if (samples->attr.exclude_kernel)
		image->left_out_ns += all_ns - own_ns;
	sampler->last_ns = count_ns;
	sampler->passed_ns = 0;
	return own_ns;
}

static void count_at(const struct run *run, const struct space *space,
		     uint64_t pc)
{
	const struct object *object = space_object_at(space, pc);
	struct image *image = space->image;
	uint64_t at = image->head;
	const struct area *area;

	if (!image->nr_areas) {
		image->lost++;
		return;
	}
	/* There may have been no memory for its counters */
	if (object && object->area == NO_AREA)
		object = NULL;
	area = &image->areas[object ? object->area : 0];
	if (object)
		at = object->first +
			(pc - object->map.start) / run->bucket * COUNTER;
	++*(uint32_t *)((char *)area->local + at);
}

static void count(struct run *run, struct sampler *sampler,
		  const struct space *space, const struct sample *sample)
{
	bool kernel = (sample->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
		PERF_RECORD_MISC_KERNEL;
	struct samples *samples = run->samples;

	samples->nr++;
	space->image->ticks_ns += own_time(samples, sampler, sample->count_ns,
					   space->image);
	space->image->kernel += kernel;
	if (kernel && !run->by_caller)
		space->image->left_out++;
	else
		count_at(run, space, kernel ? sample->pc : sample->ip);
}

static void take(struct run *run, struct sampler *sampler,
		 const struct space *space, uint64_t at, size_t size)
{
	struct sample sample = { 0 };

	if (size > sizeof(sample))
		size = sizeof(sample);
	copy_out(sampler, at, &sample, size);
	if (sample.header.type == PERF_RECORD_SAMPLE)
		count(run, sampler, space, &sample);
}

/* What the event has counted. */
static uint64_t count_of(const struct sampler *sampler)
{
	uint64_t count_ns;

	return read(sampler->fd, &count_ns, sizeof(count_ns)) ==
		sizeof(count_ns) ? count_ns : sampler->last_ns;
}

static void change_period(const struct samples *samples,
			  struct sampler *sampler, struct image *image)
{
	uint64_t period_ns = draw_period(samples->attr.sample_period);
	uint64_t passed_ns = count_of(sampler) - sampler->last_ns, missing_ns;

	if (samples->attr.exclude_kernel) {
		missing_ns = passed_ns - passed_ns % sampler->period_ns;
		image->left_out_ns += missing_ns;
		sampler->last_ns += missing_ns;
		passed_ns -= missing_ns;
	}
	if (ioctl(sampler->fd, PERF_EVENT_IOC_PERIOD, &period_ns))
		return;
	sampler->passed_ns = passed_ns;
	sampler->period_ns = period_ns;
}

static bool drain(struct run *run, struct sampler *sampler,
		  const struct space *space)
{
	uint64_t tail = sampler->page->data_tail, head;
	struct perf_event_header header;
	bool any = false;

	head = __atomic_load_n(&sampler->page->data_head, __ATOMIC_ACQUIRE);
	for (; tail < head; tail += header.size) {
		copy_out(sampler, tail, &header, sizeof(header));
		take(run, sampler, space, tail, header.size);
		any = true;
	}
	__atomic_store_n(&sampler->page->data_tail, tail, __ATOMIC_RELEASE);
	return any;
}

/**
 * sampler_drain() - count the ticks that there are
 * @run: the run
 * @sampler: of a thread, or NULL
 * @space: where the thread has been since the last time
 */
void sampler_drain(struct run *run, struct sampler *sampler,
		   const struct space *space)
{
	if (sampler && drain(run, sampler, space))
		change_period(run->samples, sampler, space->image);
}

/**
 * sampler_free() - the thread has ended, or goes on to another image
 * @run: the run
 * @sampler: of the thread, or NULL
 * @space: where it has been
 */
void sampler_free(struct run *run, struct sampler *sampler,
		  const struct space *space)
{
	if (!sampler)
		return;
	drain(run, sampler, space);
	munmap(sampler->page, page_size() + ring_size());
	close(sampler->fd);
	free(sampler);
}

static const char *make_area(struct space *space, unsigned int number)
{
	struct area *area = &space->image->areas[number];

	area->fd = memfd_create("profil", MFD_CLOEXEC);
	if (area->fd < 0 || ftruncate(area->fd, area->size))
		return "memfd_create";
	area->local = mmap(NULL, area->size, PROT_READ | PROT_WRITE,
			   MAP_SHARED, area->fd, 0);
	if (area->local == MAP_FAILED) {
		area->local = NULL;
		return "mmap";
	}
	/* It is in nobody's space but ours */
	return space_set_mapped(space, number, 1) ? "profil" : NULL;
}

/**
 * samples_begin() - make counters for what is mapped now
 * @run: the run
 * @space: where it is mapped
 *
 * Return: NULL, or what failed, with errno.
 */
const char *samples_begin(const struct run *run, struct space *space)
{
	unsigned int before = space->image->nr_areas;
	int number = space_place(space, 0, run->bucket);
	const char *failed;

	if (number < 0)
		return "profil";
	if (space->image->nr_areas == before)
		return NULL;
	failed = make_area(space, number);
	if (failed)
		image_drop_area(space->image);
	return failed;
}

/**
 * samples_separate() - make counters for a copy of an image
 * @space: of a child, with its own image
 *
 * Return: NULL, or what failed, with errno.
 */
const char *samples_separate(struct space *space)
{
	const char *failed = NULL;
	unsigned int i;

	for (i = 0; i < space->image->nr_areas && !failed; i++)
		failed = make_area(space, i);
	return failed;
}

/* CPU time for which no tick stands is left out or, if that is not known, lost. */
static void end_image(const struct run *run, struct image *image)
{
	uint64_t half_ns = run->period_ns / 2, rest_ns = 0, left_out;

	if (image->covered_ns > image->ticks_ns)
		rest_ns = image->covered_ns - image->ticks_ns;
	if (image->left_out_ns > rest_ns)
		image->left_out_ns = rest_ns;
	rest_ns -= image->left_out_ns;
	left_out = (image->left_out_ns + half_ns) / run->period_ns;
	image->left_out += left_out;
	image->kernel += left_out;
	image->lost += (rest_ns + half_ns) / run->period_ns;
}

/**
 * samples_end() - what ticks were worth, and how many are missing
 * @run: that has ended
 *
 * What the scheduler says of the CPU time holds: the events count the time
 * during which a machine that shares its processors had none, too.
 */
void samples_end(struct run *run)
{
	uint64_t ticks_ns = 0, covered_ns = 0;
	size_t i;

	for (i = 0; i < run->nr; i++) {
		struct image *image = run->images[i];

		if (image->cpu_ns > image->uncovered_ns)
			image->covered_ns = image->cpu_ns -
				image->uncovered_ns;
		ticks_ns += image->ticks_ns;
		covered_ns += image->covered_ns;
	}
	if (ticks_ns > covered_ns)
		ticks_ns = covered_ns;
	if (ticks_ns)
		run->period_ns = ticks_ns / run->samples->nr;
	for (i = 0; i < run->nr; i++)
		end_image(run, run->images[i]);
}
