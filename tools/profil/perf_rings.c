// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf_rings.c - records of inherited perf events, in the order of time
 *
 * The kernel maps no ring of an event that is inherited unless the event is
 * bound to a CPU. So each thread has an event on every CPU, and all events of a
 * CPU write into one ring. A program leaves its records in the rings of all
 * CPUs that it runs on; they are sorted by their time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profil/perf_rings.h"
#include "util/array.h"

/*
 * Pages of a ring: what kernel.perf_event_mlock_kb permits by default is twice
 * as much. Without the permission, a ring is smaller.
 */
#define RING_PAGES	64

/*
 * With samples of the stack, which are much larger, as much as is permitted, but
 * no more than this for a ring, and for all of them
 */
#define STACK_PAGES	1024
#define ALL_STACK_PAGES	(16 * STACK_PAGES)

/*
 * How much of the stack a sample has, in bytes: what there is room for in a record,
 * if a ring has room for MANY of those: until profil is let run, they wait there.
 * With the half, 1 to 4 % of the chains of cc1 are cut, with 16 KiB 8 %.
 */
#define MOST_STACK	(63u << 10)
#define LESS_STACK	(32u << 10)
#define MANY		64

/*
 * With less room than this, and what a sample has of the stack, a ring has no
 * room for another sample.
 */
#define FULL		128

/**
 * struct sample - the beginning of every sample
 * @time: its time; see perf_event_open(2) for the rest
 */
struct sample {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid;
	uint32_t tid;
	uint64_t time;
};

/**
 * struct ring - records of a CPU
 * @fd: the event that it belongs to; -1 if there is no such CPU
 * @page: first page shared with the kernel; the records follow it
 * @size: bytes of records
 */
struct ring {
	int fd;
	struct perf_event_mmap_page *page;
	size_t size;
};

/**
 * struct entry - a record that has been copied out of its ring
 * @time: its time
 * @at: its offset in the data
 */
struct entry {
	uint64_t time;
	size_t at;
};

/**
 * struct rings - rings of all CPUs
 * @attr: attributes of every event
 * @pages: pages of a ring, if that many are permitted
 * @nr_cpus: number of elements of @rings
 * @rings: the rings, by CPU
 * @nr_fds: number of elements of @fds
 * @fds: the events
 * @ready: epoll(7) descriptor of the rings
 * @full: a ring has been full
 * @nr: number of records that were read and not taken
 * @entries: these records
 * @used: bytes of @data in use
 * @room: size of @data
 * @data: their contents
 */
struct rings {
	struct perf_event_attr attr;
	size_t pages;
	size_t nr_cpus;
	struct ring *rings;
	size_t nr_fds;
	int *fds;
	int ready;
	bool full;
	size_t nr;
	struct entry *entries;
	size_t used;
	size_t room;
	char *data;
};

static int open_event(const struct perf_event_attr *attr, pid_t tid, int cpu)
{
	return syscall(SYS_perf_event_open, attr, tid, cpu, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

/** rings_permitted() - may profil open such an event? 0, or -1 with errno */
int rings_permitted(const struct perf_event_attr *attr)
{
	int fd = open_event(attr, 0, -1);

	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

/* The memory that an ordinary user's rings may have for each CPU, in bytes */
static uint64_t permitted(size_t nr_cpus)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_mlock_kb", "re");
	unsigned int kb = 0;
	struct rlimit limit;

	if (file) {
		if (fscanf(file, "%u", &kb) != 1)
			kb = 0;
		fclose(file);
	}
	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		limit.rlim_cur = 0;
	return kb * 1024ULL + limit.rlim_cur / nr_cpus;
}

/* The same for each CPU: those that are mapped first could take all of it. */
static size_t stack_pages(size_t nr_cpus)
{
	uint64_t most = permitted(nr_cpus) / page_size();
	size_t pages = STACK_PAGES;

	/* And one page more */
	while (pages > RING_PAGES &&
	       (pages >= most || pages * nr_cpus > ALL_STACK_PAGES))
		pages /= 2;
	return pages;
}

static size_t count_cpus(void)
{
	return sysconf(_SC_NPROCESSORS_CONF);
}

/** rings_stack_bytes() - how much of the stack samples may have, in bytes */
uint32_t rings_stack_bytes(void)
{
	size_t room = stack_pages(count_cpus()) * page_size();

	return room >= MANY * MOST_STACK ? MOST_STACK : LESS_STACK;
}

/**
 * rings_new() - prepare rings, without events yet
 * @attr: attributes of every event; each record must end with its time
 *
 * Return: the rings, for rings_free(), or NULL with errno.
 */
struct rings *rings_new(const struct perf_event_attr *attr)
{
	struct rings *rings = calloc(1, sizeof(*rings));
	size_t i;

	if (!rings)
		return NULL;
	rings->attr = *attr;
	rings->nr_cpus = count_cpus();
	rings->pages = RING_PAGES;
	if (attr->sample_stack_user)
		rings->pages = stack_pages(rings->nr_cpus);
	/* As early as does not cost much: until it is read, a ring fills up */
	rings->attr.watermark = 1;
	rings->attr.wakeup_watermark = rings->pages * page_size() / 4;
	rings->rings = calloc(rings->nr_cpus, sizeof(*rings->rings));
	rings->ready = epoll_create1(EPOLL_CLOEXEC);
	if (!rings->rings || rings->ready < 0) {
		rings->nr_cpus = 0;
		rings_free(rings);
		return NULL;
	}
	for (i = 0; i < rings->nr_cpus; i++)
		rings->rings[i].fd = -1;
	return rings;
}

/** rings_free() - close all events, and free the rings */
void rings_free(struct rings *rings)
{
	size_t i;

	for (i = 0; i < rings->nr_cpus; i++)
		if (rings->rings[i].page)
			munmap(rings->rings[i].page,
			       page_size() + rings->rings[i].size);
	for (i = 0; i < rings->nr_fds; i++)
		close(rings->fds[i]);
	if (rings->ready >= 0)
		close(rings->ready);
	free(rings->rings);
	free(rings->fds);
	free(rings->entries);
	free(rings->data);
	free(rings);
}

static void map_ring(struct ring *ring, size_t pages)
{
	void *page;

	for (; pages; pages /= 2) {
		page = mmap(NULL, (1 + pages) * page_size(),
			    PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
		if (page != MAP_FAILED) {
			ring->page = page;
			ring->size = pages * page_size();
			return;
		}
		if (errno != EPERM && errno != ENOMEM)
			return;
	}
}

/*
 * The first event of a CPU has the ring. Edge-triggered, as an event without
 * threads reports its end for ever.
 */
static const char *make_ring(struct rings *rings, struct ring *ring, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	ring->fd = fd;
	map_ring(ring, rings->pages);
	if (!ring->page)
		return "mmap";
	return epoll_ctl(rings->ready, EPOLL_CTL_ADD, fd, &event) ?
		"epoll_ctl" : NULL;
}

static const char *add_event(struct rings *rings, pid_t tid, size_t cpu)
{
	struct ring *ring = &rings->rings[cpu];
	int *fds = array_grow(rings->fds, rings->nr_fds, sizeof(*fds));
	int fd;

	if (!fds)
		return "malloc";
	rings->fds = fds;
	fd = open_event(&rings->attr, tid, cpu);
	/* The CPU is offline */
	if (fd < 0 && errno == ENODEV)
		return NULL;
	if (fd < 0)
		return "perf_event_open";
	fds[rings->nr_fds++] = fd;
	if (ring->fd < 0)
		return make_ring(rings, ring, fd);
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) ?
		"PERF_EVENT_IOC_SET_OUTPUT" : NULL;
}

/**
 * rings_add() - open the events of a thread
 * @rings: the rings
 * @tid: the thread
 *
 * Return: NULL, or the name of what failed, with errno.
 */
const char *rings_add(struct rings *rings, pid_t tid)
{
	const char *failed = NULL;
	size_t i;

	for (i = 0; i < rings->nr_cpus && !failed; i++)
		failed = add_event(rings, tid, i);
	return failed;
}

/** rings_stop() - stop all events, those of children and threads, too */
void rings_stop(const struct rings *rings)
{
	size_t i;

	for (i = 0; i < rings->nr_fds; i++)
		ioctl(rings->fds[i], PERF_EVENT_IOC_DISABLE, 0);
}

/** rings_descriptor() - is readable when rings_read() should be called */
int rings_descriptor(const struct rings *rings)
{
	return rings->ready;
}

/**
 * rings_full() - has a ring been full?
 *
 * The kernel reports lost records only with the next one, which may never come.
 */
bool rings_full(const struct rings *rings)
{
	return rings->full;
}

/** rings_cpu_ns() - CPU time of all threads that had an event */
uint64_t rings_cpu_ns(const struct rings *rings)
{
	uint64_t sum = 0, count_ns;
	size_t i;

	for (i = 0; i < rings->nr_fds; i++)
		if (read(rings->fds[i], &count_ns, sizeof(count_ns)) ==
		    sizeof(count_ns))
			sum += count_ns;
	return sum;
}

/** rings_cpus() - number of CPUs that have a ring */
size_t rings_cpus(const struct rings *rings)
{
	size_t nr = 0, i;

	for (i = 0; i < rings->nr_cpus; i++)
		nr += rings->rings[i].fd >= 0;
	return nr;
}

/* Copy from the ring, where a record may wrap around. */
static void copy_out(const struct ring *ring, uint64_t at, void *to,
		     size_t size)
{
	const char *data = (const char *)ring->page + page_size();
	size_t first = ring->size - at % ring->size;

	if (first > size)
		first = size;
	memcpy(to, data + at % ring->size, first);
	memcpy((char *)to + first, data, size - first);
}

static int make_room(struct rings *rings, size_t size)
{
	size_t room = rings->room ?: page_size();
	char *data;

	while (room < rings->used + size)
		room *= 2;
	if (room == rings->room)
		return 0;
	data = realloc(rings->data, room);
	if (!data)
		return -1;
	rings->data = data;
	rings->room = room;
	return 0;
}

/* The time is the last field of the ID that all records but samples end with. */
static uint64_t time_of(const struct perf_event_header *record)
{
	uint64_t time;

	if (record->type == PERF_RECORD_SAMPLE)
		return ((const struct sample *)record)->time;
	memcpy(&time, (const char *)record + record->size - sizeof(time),
	       sizeof(time));
	return time;
}

/*
 * The size of a sample is no multiple of 8 if the stack pointer is not, and is near
 * the end of the address space: the next record must be aligned nevertheless.
 */
static int add_entry(struct rings *rings, const struct ring *ring, uint64_t at,
		     size_t size)
{
	size_t room = (size + 7) & ~(size_t)7;
	struct entry *entries = array_grow(rings->entries, rings->nr,
					   sizeof(*entries));
	char *data;

	if (!entries)
		return -1;
	rings->entries = entries;
	if (make_room(rings, room))
		return -1;
	data = rings->data + rings->used;
	copy_out(ring, at, data, size);
	entries[rings->nr++] = (struct entry) {
		.time = time_of((const void *)data),
		.at = rings->used,
	};
	rings->used += room;
	return 0;
}

/* Without memory the rest stays in the ring. */
static void read_ring(struct rings *rings, const struct ring *ring)
{
	uint64_t tail = ring->page->data_tail, head;
	struct perf_event_header header;

	head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	if (ring->size - (head - tail) < FULL + rings->attr.sample_stack_user)
		rings->full = true;
	for (; tail < head; tail += header.size) {
		copy_out(ring, tail, &header, sizeof(header));
		if (add_entry(rings, ring, tail, header.size))
			break;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

/* Records of one time stay in the order in which they were read. */
static int in_order(const void *a, const void *b)
{
	const struct entry *c = a, *d = b;

	if (c->time != d->time)
		return c->time < d->time ? -1 : 1;
	return (c->at > d->at) - (c->at < d->at);
}

static struct perf_event_header *record_of(const struct rings *rings,
					   const struct entry *entry)
{
	return (void *)(rings->data + entry->at);
}

/* Forget the first records; the others move to the start of the data. */
static void forget(struct rings *rings, size_t nr)
{
	size_t i, first = rings->used;

	if (!nr)
		return;
	for (i = nr; i < rings->nr; i++)
		if (rings->entries[i].at < first)
			first = rings->entries[i].at;
	rings->nr -= nr;
	memmove(rings->entries, rings->entries + nr,
		rings->nr * sizeof(*rings->entries));
	for (i = 0; i < rings->nr; i++)
		rings->entries[i].at -= first;
	rings->used -= first;
	memmove(rings->data, rings->data + first, rings->used);
}

/**
 * rings_read() - read the rings, and take the records up to a time
 * @rings: the rings
 * @until_ns: the time; a record that is older must be in its ring by now
 * @take: called for each record, in the order of time
 * @context: argument of @take
 */
void rings_read(struct rings *rings, uint64_t until_ns, rings_take take,
		void *context)
{
	struct epoll_event event;
	size_t i;

	while (epoll_wait(rings->ready, &event, 1, 0) > 0)
		;
	for (i = 0; i < rings->nr_cpus; i++)
		if (rings->rings[i].page)
			read_ring(rings, &rings->rings[i]);
	if (rings->nr)
		qsort(rings->entries, rings->nr, sizeof(*rings->entries),
		      in_order);
	for (i = 0; i < rings->nr && rings->entries[i].time <= until_ns; i++)
		take(context, record_of(rings, &rings->entries[i]));
	forget(rings, i);
}
