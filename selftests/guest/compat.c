// SPDX-License-Identifier: GPL-2.0-only
/*
 * compat.c - requests through the 32-bit system call entry
 *
 * "int $0x80" takes a 64-bit program into the kernel as if it were a 32-bit
 * one. The requests and their results must be those of the 64-bit entry, as the
 * structures are the same for both. See compat32.c for a real 32-bit program.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

/* Number of ioctl() for 32-bit programs */
#define IOCTL_32	54

static int ioctl32(int fd, unsigned int request, void *argument)
{
	long result = IOCTL_32;

	asm volatile("int $0x80"
		     : "+a" (result)
		     : "b" (fd), "c" (request), "d" (argument)
		     : "memory", "r8", "r9", "r10", "r11");
	if (result >= 0)
		return result;
	errno = -result;
	return -1;
}

/* Everything that a 32-bit pointer has to reach. */
struct low {
	struct profil_set set;
	struct profil_status status;
	struct profil_info info;
	struct profil_region regions[2];
	struct profil_region_status reports[2];
	int32_t timeval[3];
	uint32_t counter;
};

FIXTURE(compat) {
	bool possible;
	int fd;
	struct low *low;
};

static bool has_32_bit_entry(void)
{
	pid_t child = fork_child();

	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		_exit(ioctl32(-1, 0, NULL) != -1 || errno != EBADF);
	}
	return wait_child(child) == 0;
}

FIXTURE_SETUP(compat)
{
	struct low *low;

	self->possible = has_32_bit_entry();
	self->fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	low = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		   MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	ASSERT_NE(MAP_FAILED, low);
	low->set = (struct profil_set) {
		.size = sizeof(low->set),
		.flags = PROFIL_SET_CHECK,
		.width = 4,
		.nr_regions = 2,
		.regions = (uintptr_t)low->regions,
		.period_ns = MS,
		.timeval = (uintptr_t)low->timeval,
		.timeval_size = 8,
	};
	low->regions[0].offset = 0x1000;
	low->regions[0].scale = 0x10000;
	low->regions[1] = overflow_bin(&low->counter, 4);
	low->status.size = sizeof(low->status);
	low->status.regions = (uintptr_t)low->reports;
	low->status.max_regions = 2;
	low->info.size = sizeof(low->info);
	low->timeval[2] = 77;
	self->low = low;
}

FIXTURE_TEARDOWN(compat)
{
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	close(self->fd);
}

TEST_F(compat, info_is_the_same)
{
	struct profil_info info = { .size = sizeof(info) };

	if (!self->possible)
		SKIP(return, "no 32-bit programs in this kernel");
	EXPECT_EQ(0, ioctl32(self->fd, PROFIL_IOC_INFO, &self->low->info));
	EXPECT_EQ(0, profil_info(&info));
	EXPECT_EQ(0, memcmp(&info, &self->low->info, sizeof(info)));
}

TEST_F(compat, from_beginning_to_end)
{
	struct low *low = self->low;
	struct profil_status now;

	if (!self->possible)
		SKIP(return, "no 32-bit programs in this kernel");
	ASSERT_EQ(0, ioctl32(self->fd, PROFIL_IOC_SET, &low->set));
	EXPECT_EQ(MS, low->set.period_ns);
	EXPECT_EQ(0, low->timeval[0]);
	EXPECT_EQ(1000, low->timeval[1]);
	EXPECT_EQ(77, low->timeval[2]);
	EXPECT_TRUE(burn_ticks(10));

	ASSERT_EQ(0, ioctl32(self->fd, PROFIL_IOC_STATUS, &low->status));
	now = status_now();
	EXPECT_EQ(PROFIL_STATE_ON, low->status.state);
	EXPECT_EQ(PROFIL_SET_CHECK, low->status.flags);
	EXPECT_EQ(4, low->status.width);
	EXPECT_EQ(MS, low->status.period_ns);
	EXPECT_EQ(2, low->status.nr_regions);
	EXPECT_LE(10, low->status.counts.ticks);
	EXPECT_GE(now.counts.ticks, low->status.counts.ticks);
	EXPECT_GE(now.cpu_time_ns, low->status.cpu_time_ns);
	EXPECT_CONSERVED(&low->status);

	ASSERT_EQ(0, ioctl32(self->fd, PROFIL_IOC_STOP, &low->status));
	EXPECT_EQ(PROFIL_STATE_OFF, low->status.state);
	EXPECT_EQ(low->counter, low->status.counts.counted);
	EXPECT_EQ(low->counter, low->reports[1].counted);
	EXPECT_EQ(PROFIL_REGION_EMPTY, low->reports[0].state);
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
}

TEST_F(compat, errors_are_the_same)
{
	struct low *low = self->low;

	if (!self->possible)
		SKIP(return, "no 32-bit programs in this kernel");
	ASSERT_EQ(0, ioctl32(self->fd, PROFIL_IOC_SET, &low->set));
	EXPECT_ERROR(ENOTTY, ioctl32(self->fd, _IO(PROFIL_IOC_TYPE, 255), low));
	EXPECT_ERROR(EFAULT, ioctl32(self->fd, PROFIL_IOC_SET, NULL));
	EXPECT_ERROR(EFAULT, ioctl32(self->fd, PROFIL_IOC_SET,
				     (void *)0xfffff000));
	low->set.timeval_size = 4;
	EXPECT_ERROR(EINVAL, ioctl32(self->fd, PROFIL_IOC_SET, &low->set));
	low->set.timeval_size = 8;
	low->set.size--;
	EXPECT_ERROR(EINVAL, ioctl32(self->fd, PROFIL_IOC_SET, &low->set));
	low->set.size = PAGE + 1;
	EXPECT_ERROR(E2BIG, ioctl32(self->fd, PROFIL_IOC_SET, &low->set));
	low->set.size = sizeof(low->set);
	/* The kernel does not cut off the upper half of an address. */
	low->set.regions |= 1ULL << 40;
	EXPECT_ERROR(EFAULT, ioctl32(self->fd, PROFIL_IOC_SET, &low->set));
	EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
	EXPECT_TRUE(burn_ticks(2));
	EXPECT_EQ(0, ioctl32(self->fd, PROFIL_IOC_STOP, NULL));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
}

TEST_HARNESS_MAIN
