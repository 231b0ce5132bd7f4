// SPDX-License-Identifier: GPL-2.0-only
/*
 * samples.c - ticks by perf_event_open(2), where there is no module
 *
 * The kernel writes each tick into a ring of the processor on which it fell;
 * here they are taken out and counted while the program runs, so that nothing
 * grows. A tick in kernel mode counts where the program entered the kernel.
 * These ticks are periodic, unlike the module's; so that no program is in step
 * with them from run to run, the period is drawn anew for each run.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "samples.h"

/* Pages of a ring; what an ordinary user may lock for each processor */
#define RING_PAGES	64
#define WAIT_MS		20

/* asm/perf_regs.h: the program counter */
#define REGS_PC		(1ULL << 8)

/**
 * struct ring - ticks of one processor
 * @fd: the event; -1 if the processor is off
 * @page: what is shared with the kernel; the ticks come after it
 */
struct ring {
	int fd;
	struct perf_event_mmap_page *page;
};

/**
 * struct samples - ticks of a program and of all that it starts
 * @attr: the event
 * @lost: that did not fit into a ring
 * @nr: number of rings
 * @rings: one for each processor
 */
struct samples {
	struct perf_event_attr attr;
	uint64_t lost;
	unsigned int nr;
	struct ring rings[];
};

/* Of PERF_RECORD_SAMPLE, as asked for. */
struct sample_record {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid;
	uint32_t tid;
	uint64_t abi;
	uint64_t pc;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id;
	uint64_t lost;
};

static int open_event(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

static bool permitted(const struct perf_event_attr *attr)
{
	int fd = open_event(attr, 0, -1);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Within a sixteenth of what was asked for. */
static uint64_t draw_period(uint64_t period_ns)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		number = 0;
	return period_ns - period_ns / 16 + number % (period_ns / 8 + 1);
}

/**
 * samples_new() - find out what is permitted
 * @run: the run; its period becomes the one that was drawn, and user_only what
 *	is possible
 *
 * Return: what samples_free() frees, or NULL with errno.
 */
struct samples *samples_new(struct run *run)
{
	unsigned int nr = sysconf(_SC_NPROCESSORS_CONF), i;
	struct samples *samples = calloc(1, sizeof(*samples) +
					 nr * sizeof(samples->rings[0]));

	if (!samples)
		return NULL;
	samples->nr = nr;
	for (i = 0; i < nr; i++)
		samples->rings[i].fd = -1;
	run->period_ns = draw_period(run->period_ns);
	samples->attr = (struct perf_event_attr){
		.size = sizeof(samples->attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = run->period_ns,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			PERF_SAMPLE_REGS_USER,
		.sample_regs_user = REGS_PC,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
	};
	if (permitted(&samples->attr))
		return samples;
	samples->attr.exclude_kernel = 1;
	run->user_only = true;
	if (permitted(&samples->attr))
		return samples;
	samples_free(samples);
	return NULL;
}

static size_t ring_size(void)
{
	return (RING_PAGES + 1) * sysconf(_SC_PAGESIZE);
}

/**
 * samples_start() - tick from the next exec on
 * @samples: of samples_new()
 * @pid: the process
 *
 * Return: 0, or -1 with errno.
 */
int samples_start(struct samples *samples, pid_t pid)
{
	unsigned int i;

	for (i = 0; i < samples->nr; i++) {
		struct ring *ring = &samples->rings[i];

		ring->fd = open_event(&samples->attr, pid, i);
		if (ring->fd < 0 && errno == ENODEV)
			continue;
		if (ring->fd < 0)
			return -1;
		ring->page = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE,
				  MAP_SHARED, ring->fd, 0);
		if (ring->page == MAP_FAILED) {
			ring->page = NULL;
			return -1;
		}
	}
	return 0;
}

/** samples_wait_ms() - how long they may be left in the rings */
int samples_wait_ms(const struct samples *samples)
{
	return samples ? WAIT_MS : -1;
}

/* From the ring, which may end in the middle of it. */
static void copy_out(const struct ring *ring, uint64_t at, void *to,
		     size_t size)
{
	const char *data = (const char *)ring->page + sysconf(_SC_PAGESIZE);
	uint64_t room = ring_size() - sysconf(_SC_PAGESIZE);
	size_t first = room - at % room;

	if (first > size)
		first = size;
	memcpy(to, data + at % room, first);
	memcpy((char *)to + first, data, size - first);
}

static void take_sample(const struct ring *ring, uint64_t at,
			const struct perf_event_header *header,
			struct sample *sample)
{
	struct sample_record record = { 0 };
	size_t size = header->size;

	if (size > sizeof(record))
		size = sizeof(record);
	copy_out(ring, at, &record, size);
	sample->tid = record.tid;
	sample->kernel = (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
		PERF_RECORD_MISC_KERNEL;
	sample->pc = sample->kernel ? record.pc : record.ip;
}

static bool next_of(struct samples *samples, struct ring *ring,
		    struct sample *sample)
{
	uint64_t head, tail = ring->page->data_tail;
	struct perf_event_header header;
	struct lost_record lost;
	bool found = false;

	head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	while (tail < head && !found) {
		copy_out(ring, tail, &header, sizeof(header));
		if (header.type == PERF_RECORD_SAMPLE) {
			take_sample(ring, tail, &header, sample);
			found = true;
		} else if (header.type == PERF_RECORD_LOST) {
			copy_out(ring, tail, &lost, sizeof(lost));
			samples->lost += lost.lost;
		}
		tail += header.size;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
	return found;
}

/**
 * samples_next() - the next tick, in no order
 * @samples: of samples_start(), or NULL
 * @sample: receives it
 *
 * Return: true, or false if there is none now.
 */
bool samples_next(struct samples *samples, struct sample *sample)
{
	unsigned int i;

	for (i = 0; samples && i < samples->nr; i++)
		if (samples->rings[i].page &&
		    next_of(samples, &samples->rings[i], sample))
			return true;
	return false;
}

/**
 * samples_begin() - make counters for what was found in an area
 * @run: the run
 * @image: whose text has been found
 * @number: of the area
 *
 * Return: 0, or -1 and the image has a reason.
 */
int samples_begin(const struct run *run, struct image *image,
		  unsigned int number)
{
	struct area *area = &image->areas[number];

	image_place(image, number, 0, run->bucket);
	area->fd = memfd_create("profil", MFD_CLOEXEC);
	if (area->fd < 0 || ftruncate(area->fd, area->size)) {
		image_fail(image, "memfd_create", errno);
		return -1;
	}
	area->local = mmap(NULL, area->size, PROT_READ | PROT_WRITE,
			   MAP_SHARED, area->fd, 0);
	if (area->local == MAP_FAILED) {
		area->local = NULL;
		image_fail(image, "mmap", errno);
		return -1;
	}
	return 0;
}

static const struct object *object_at(const struct image *image, uint64_t pc)
{
	size_t i;

	for (i = 0; i < image->nr; i++)
		if (pc >= image->objects[i].start && pc < image->objects[i].end)
			return &image->objects[i];
	return NULL;
}

/**
 * samples_count() - count a tick
 * @run: the run
 * @image: that the thread executes
 * @sample: the tick
 */
void samples_count(const struct run *run, struct image *image,
		   const struct sample *sample)
{
	const struct object *object = object_at(image, sample->pc);
	const struct area *area = &image->areas[object ? object->area : 0];
	uint64_t at = area->head;

	image->lost += run->samples->lost;
	run->samples->lost = 0;
	image->kernel += sample->kernel;
	if (sample->kernel && run->user_only) {
		image->left_out++;
		return;
	}
	if (object)
		at = object->first +
			(sample->pc - object->start) / run->bucket * COUNTER;
	if (area->local)
		++*(uint32_t *)((char *)area->local + at);
	else
		image->lost++;
}

void samples_free(struct samples *samples)
{
	unsigned int i;

	for (i = 0; i < samples->nr; i++) {
		if (samples->rings[i].page)
			munmap(samples->rings[i].page, ring_size());
		if (samples->rings[i].fd >= 0)
			close(samples->rings[i].fd);
	}
	free(samples);
}
