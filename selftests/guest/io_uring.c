// SPDX-License-Identifier: GPL-2.0-only
/*
 * io_uring.c - ticks of threads that have no program counter in user mode
 *
 * The workers of io_uring are threads of the program that never leave the
 * kernel: their user registers are all zero. Their ticks are in kernel mode and
 * outside of all regions; they do not count in a region that begins at 0.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

/* Bytes that a worker clears at a time: some milliseconds of CPU time. */
#define SIZE		(16 << 20)
#define TICKS		200
#define MOST_READS	2000

struct ring {
	int fd;
	char *map;
	struct io_uring_sqe *sqe;
	struct io_uring_params params;
};

static int map_ring(struct ring *ring)
{
	const struct io_uring_params *params = &ring->params;
	size_t size = params->cq_off.cqes +
		      params->cq_entries * sizeof(struct io_uring_cqe);
	size_t sq_size = params->sq_off.array +
			 params->sq_entries * sizeof(unsigned int);

	if (!(params->features & IORING_FEAT_SINGLE_MMAP))
		return -1;
	ring->map = mmap(NULL, size > sq_size ? size : sq_size,
			 PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
			 IORING_OFF_SQ_RING);
	ring->sqe = mmap(NULL, params->sq_entries * sizeof(*ring->sqe),
			 PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
			 IORING_OFF_SQES);
	return ring->map == MAP_FAILED || ring->sqe == MAP_FAILED ? -1 : 0;
}

/* A ring with one entry; -1 with errno if there is no io_uring. */
static int open_ring(struct ring *ring)
{
	memset(&ring->params, 0, sizeof(ring->params));
	ring->fd = syscall(SYS_io_uring_setup, 1, &ring->params);
	return ring->fd < 0 ? -1 : 0;
}

static unsigned int *ring_word(const struct ring *ring, __u32 offset)
{
	return (unsigned int *)(ring->map + offset);
}

/*
 * Have a worker read while the caller sleeps. Returns the result of the read.
 */
static int read_by_worker(struct ring *ring, int fd, void *to, size_t size)
{
	const struct io_uring_params *params = &ring->params;
	unsigned int *tail = ring_word(ring, params->sq_off.tail);
	unsigned int *head = ring_word(ring, params->cq_off.head);
	const struct io_uring_cqe *cqes = (void *)ring->map +
					  params->cq_off.cqes;
	int result;

	*ring->sqe = (struct io_uring_sqe) {
		.opcode = IORING_OP_READ,
		.flags = IOSQE_ASYNC,
		.fd = fd,
		.addr = (uintptr_t)to,
		.len = size,
	};
	*ring_word(ring, params->sq_off.array) = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS,
		    NULL, 0) != 1)
		return -1;
	result = cqes[*head & (params->cq_entries - 1)].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return result;
}

FIXTURE(worker) {
	struct ring ring;
	int zero;
	char *buffer;
	uint32_t counters[16];
};

FIXTURE_SETUP(worker)
{
	if (open_ring(&self->ring))
		SKIP(return, "no io_uring: %s", strerror(errno));
	if (map_ring(&self->ring))
		SKIP(return, "an io_uring of before Linux 5.4");
	self->zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->zero);
	self->buffer = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, self->buffer);
	memset(self->counters, 0, sizeof(self->counters));
}

FIXTURE_TEARDOWN(worker)
{
	close(self->ring.fd);
	close(self->zero);
}

/* Take ticks while reading, nearly all of them in the worker. */
static struct profil_status read_much(struct __test_metadata *_metadata,
				      FIXTURE_DATA(worker) *self)
{
	struct profil_status status;
	int reads = 0;

	do {
		int length = read_by_worker(&self->ring, self->zero,
					    self->buffer, SIZE);

		ASSERT_LT(0, length);
		status = status_now();
	} while ((status.counts.ticks < TICKS ||
		  status.counts.kernel < 0.8 * status.counts.ticks) &&
		 ++reads < MOST_READS);
	TH_LOG("%llu ticks, %llu in kernel mode, %llu outside, %llu left out, %u at 0",
	       status.counts.ticks, status.counts.kernel,
	       status.counts.outside, status.counts.left_out,
		       self->counters[0]);
	EXPECT_LE(TICKS, status.counts.ticks);
	EXPECT_CONSERVED(&status);
	/*
	 * Sleeping and waking up is in kernel mode too. But where the host stops
	 * a CPU, many ticks fall in one place.
	 */
	EXPECT_LE(0.8 * status.counts.ticks, status.counts.kernel);
	return status;
}

/* A region that begins at 0; its scale keeps it from being an overflow bin. */
static struct profil_region first_bytes(uint32_t *counters, size_t size)
{
	struct profil_region region = {
		.base = (uintptr_t)counters,
		.size = size,
		.offset = 0,
		.scale = 65536,
	};

	return region;
}

TEST_F(worker, ticks_are_outside_of_a_region_that_begins_at_0)
{
	struct profil_region region = first_bytes(self->counters,
						  sizeof(self->counters));
	struct profil_status status;

	ASSERT_EQ(0, set_regions(&region, 1, sizeof(self->counters[0]), MS, 0));
	status = read_much(_metadata, self);
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_EQ(status.counts.ticks, status.counts.outside);
	EXPECT_EQ(0, sum32(self->counters, 16));
}

TEST_F(worker, ticks_are_left_out_by_a_profile_of_user_mode)
{
	struct profil_region region = first_bytes(self->counters,
						  sizeof(self->counters));
	struct profil_status status;

	ASSERT_EQ(0, set_regions(&region, 1, sizeof(self->counters[0]), MS,
				 PROFIL_SET_USER_ONLY));
	status = read_much(_metadata, self);
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_EQ(status.counts.kernel, status.counts.left_out);
	EXPECT_EQ(0, sum32(self->counters, 16));
}

TEST_HARNESS_MAIN
