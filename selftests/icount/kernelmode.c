// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernelmode.c - ticks in kernel mode count where the system call was made
 *
 * The status has their number. They count at the user's program counter, which
 * is in the function that makes the system call, and a profile can leave them
 * out.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

#define BLOCK	(1 << 20)

static char block[BLOCK];

/* The text of the C library's function that makes every system call here. */
static struct profil_region region_of_syscall(uint32_t *counters, size_t size)
{
	struct profil_region none = { 0 };
	const Elf64_Sym *symbol;
	char *text = dlsym(RTLD_DEFAULT, "syscall");
	Dl_info info;

	if (!text || !dladdr1(text, &info, (void **)&symbol, RTLD_DL_SYMENT) ||
	    symbol->st_size > size)
		return none;
	/* Round up to a whole counter. */
	return region_of(text, text + symbol->st_size + 3, counters, 4);
}

FIXTURE(kernel) {
	int zero;
	uint32_t counters[256];
	struct profil_region regions[2];
};

FIXTURE_SETUP(kernel)
{
	memset(self->counters, 0, sizeof(self->counters));
	self->zero = open("/dev/zero", O_RDONLY);
	ASSERT_LE(0, self->zero);
	self->regions[0] = region_of_syscall(self->counters, 1000);
	ASSERT_NE(0, self->regions[0].size);
	self->regions[1] = overflow_bin(&self->counters[255], 4);
	memset(block, 1, BLOCK);
}

FIXTURE_TEARDOWN(kernel)
{
	close(self->zero);
}

/*
 * Nearly all in kernel mode: reading a block takes far longer than the clock.
 */
static void read_zeros(FIXTURE_DATA(kernel) *self, uint64_t ns)
{
	uint64_t end = thread_cpu_ns() + ns;

	while (thread_cpu_ns() < end)
		for (int i = 0; i < 2; i++)
			syscall(SYS_read, self->zero, block, BLOCK);
}

/* Returns the address at which the system call returns. */
static __attribute__((noinline)) uintptr_t read_block(int fd)
{
	uintptr_t after;
#if defined(__x86_64__)
	register long number asm("rax") = SYS_read;

	asm volatile("lea 1f(%%rip), %1\n\tsyscall\n1:"
		     : "+r" (number), "=&r" (after)
		     : "D" (fd), "S" (block), "d" (BLOCK)
		     : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long number asm("x8") = SYS_read;
	register long a asm("x0") = fd;
	register long b asm("x1") = (long)block;
	register long c asm("x2") = BLOCK;

	asm volatile("adr %1, 1f\n\tsvc #0\n1:"
		     : "+r" (a), "=&r" (after)
		     : "r" (b), "r" (c), "r" (number) : "memory");
#elif defined(__riscv)
	register long number asm("a7") = SYS_read;
	register long a asm("a0") = fd;
	register long b asm("a1") = (long)block;
	register long c asm("a2") = BLOCK;

	asm volatile("lla %1, 1f\n\tecall\n1:"
		     : "+r" (a), "=&r" (after)
		     : "r" (b), "r" (c), "r" (number) : "memory");
#endif
	return after;
}

/*
 * In user mode: 100 us between readings of the clock if time counts
 * instructions.
 */
static void spend_ns(uint64_t ns)
{
	uint64_t end = thread_cpu_ns() + ns;

	while (thread_cpu_ns() < end)
		for (int i = 0; i < 100; i++)
			asm volatile(".rept 500\n\tnop\n\t.endr");
}

/* A short system call spends nearly all its time on the way in and out. */
static void get_ids(uint64_t ns)
{
	uint64_t end = thread_cpu_ns() + ns;

	while (thread_cpu_ns() < end)
		for (int i = 0; i < 1000; i++)
			syscall(SYS_getppid);
}

static void check(struct __test_metadata *_metadata,
		  FIXTURE_DATA(kernel) *self, struct profil_status *last,
		  struct profil_region_status *status)
{
	ASSERT_EQ(0, profil_stop(last, status, 2));
	TH_LOG("%llu ticks, %llu in kernel mode; %llu at the system call, %llu elsewhere",
	       last->counts.ticks, last->counts.kernel, status[0].counted,
	       status[1].counted);
	EXPECT_CONSERVED(last);
	EXPECT_EQ(0, last->pending);
	EXPECT_EQ(0, last->counts.lost);
	EXPECT_EQ(last->counts.counted, sum32(self->counters, 256));
	EXPECT_EQ(status[0].counted, sum32(self->counters, 255));
	EXPECT_EQ(status[1].counted, self->counters[255]);
	EXPECT_EQ(last->counts.kernel,
		  last->counts.left_out + status[0].kernel + status[1].kernel);
}

TEST_F(kernel, long_system_calls)
{
	struct profil_status last = { .size = sizeof(last) };
	struct profil_region_status status[2];
	struct moment from, to;

	ASSERT_EQ(0, set_regions(self->regions, 2, 4, MS, 0));
	from = moment_now();
	read_zeros(self, 2 * SECOND);
	to = moment_now();
	check(_metadata, self, &last, status);
	EXPECT_TICKS(&from, &to);
	EXPECT_COVERED(&from, &to, 0.001);
	EXPECT_EQ(last.counts.ticks, last.counts.counted);
	EXPECT_LT(0.98 * last.counts.ticks, last.counts.kernel);
	EXPECT_LT(0.98 * last.counts.kernel, status[0].counted);
	EXPECT_LT(0.98 * last.counts.kernel, status[0].kernel);
}

TEST_F(kernel, short_system_calls)
{
	struct profil_status last = { .size = sizeof(last) };
	struct profil_region_status status[2];
	struct moment from, to;

	ASSERT_EQ(0, set_regions(self->regions, 2, 4, MS, 0));
	from = moment_now();
	get_ids(2 * SECOND);
	to = moment_now();
	check(_metadata, self, &last, status);
	EXPECT_TICKS(&from, &to);
	EXPECT_COVERED(&from, &to, 0.001);
	EXPECT_EQ(last.counts.ticks, last.counts.counted);
	EXPECT_LT(0.5 * last.counts.ticks, last.counts.kernel);
	EXPECT_LT(0.9 * last.counts.ticks, status[0].counted);
}

/*
 * A user-only profile counts only what the program does itself: in N ticks, the
 * number left out is binomial with the share of kernel mode.
 */
TEST_F(kernel, left_out)
{
	struct profil_status last = { .size = sizeof(last) };
	struct profil_region_status status[2];
	double kernel_ns = 0, user_ns = 0, share;

	ASSERT_EQ(0, set_regions(self->regions, 2, 4, MS,
				 PROFIL_SET_USER_ONLY));
	for (int i = 0; i < 100; i++) {
		uint64_t begin = thread_cpu_ns(), middle;

		read_zeros(self, 15 * MS);
		middle = thread_cpu_ns();
		spend_ns(5 * MS);
		kernel_ns += middle - begin;
		user_ns += thread_cpu_ns() - middle;
	}
	check(_metadata, self, &last, status);
	EXPECT_EQ(last.counts.kernel, last.counts.left_out);
	EXPECT_EQ(last.counts.ticks,
		  last.counts.counted + last.counts.left_out);
	share = kernel_ns / (kernel_ns + user_ns);
	EXPECT_CHANCE("left out", last.counts.left_out,
		      share * last.counts.ticks,
		      share * (1 - share) * last.counts.ticks);
	/* In user mode there are only a few instructions before and after. */
	EXPECT_GT(0.02 * last.counts.ticks, status[0].counted);
}

/* One counter for the one program counter after the system call. */
TEST_F(kernel, return_address)
{
	uintptr_t after = read_block(self->zero);
	const struct profil_region regions[] = {
		{
			.base = (uintptr_t)self->counters,
			.size = 4,
			.offset = after,
			.scale = 65536 * 4,
		},
		overflow_bin(&self->counters[255], 4),
	};
	struct profil_status last = { .size = sizeof(last) };
	struct profil_region_status status[2];

	ASSERT_EQ(0, set_regions(regions, 2, 4, MS, PROFIL_SET_SVR4_ARITH));
	for (uint64_t end = thread_cpu_ns() + SECOND; thread_cpu_ns() < end;)
		read_block(self->zero);
	check(_metadata, self, &last, status);
	EXPECT_LT(0.95 * last.counts.ticks, last.counts.kernel);
	EXPECT_LT(0.95 * last.counts.kernel, status[0].counted);
}

TEST_HARNESS_MAIN
