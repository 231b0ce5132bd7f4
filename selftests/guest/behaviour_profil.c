// SPDX-License-Identifier: GPL-2.0-only
/*
 * behaviour_profil.c - profil() of each system
 *
 * Every row about profil() in the table of systems in
 * Documentation/contract.rst is a test here, and every system is a variant.
 */
#include <errno.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "common.h"

#define NR_BINS		(PAGE / sizeof(unsigned short))
#define SVR4_FULL	32767
#define UNTOUCHED	4711

/*
 * The scale that counts all ticks in one counter, if there is an overflow bin.
 */
#define ALL		2

static unsigned short old[2], fresh[NR_BINS];

/* The C library declares profil() with a buffer that is never NULL. */
static unsigned short *volatile null;

typedef int profil_function(unsigned short *buffer, size_t size, size_t offset,
			    unsigned int scale);

/* profil_svr4() with the result of the others: errno says why it failed. */
static int svr4(unsigned short *buffer, size_t size, size_t offset,
		unsigned int scale)
{
	errno = UNTOUCHED;
	profil_svr4(buffer, size, offset, scale);
	return errno == UNTOUCHED ? 0 : -1;
}

/* A profile that runs and has counted, by the default rules. */
FIXTURE(system) {
};

/*
 * @largest: largest scale; anything above fails with EINVAL
 * @svr4: System V's arithmetic, and its limit of 32767
 * @scale_1: a scale of 1 is valid
 * @overflow_bin: a scale of 2 with an offset of 0 means the overflow bin
 * @bad: errno for a bad buffer; 0: the profile goes off at the first tick
 * @null_stops: a NULL buffer stops the profile
 */
FIXTURE_VARIANT(system) {
	profil_function *profil;
	unsigned int largest;
	bool svr4;
	bool scale_1;
	bool overflow_bin;
	int bad;
	bool null_stops;
};

FIXTURE_VARIANT_ADD(system, by_default) {
	.profil = profil,
	.largest = 131072,
	.overflow_bin = true,
	.bad = EFAULT,
	.null_stops = true,
};

FIXTURE_VARIANT_ADD(system, svr4) {
	.profil = svr4,
	.largest = 131072,
	.svr4 = true,
};

FIXTURE_VARIANT_ADD(system, bsd) {
	.profil = profil_bsd,
	.largest = 65536,
	.scale_1 = true,
	.bad = EFAULT,
};

FIXTURE_VARIANT_ADD(system, irix) {
	.profil = profil_irix,
	.largest = 131072,
	.overflow_bin = true,
};

FIXTURE_SETUP(system)
{
	ASSERT_EQ(0, profil(old, sizeof(old), 0, ALL));
	ASSERT_TRUE(burn_ticks(1));
}

FIXTURE_TEARDOWN(system)
{
	EXPECT_EQ(0, variant->profil(fresh, sizeof(fresh), 0, 0));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
	EXPECT_EQ(0, old[1]);
}

static uintptr_t text(void)
{
	return (uintptr_t)&__executable_start;
}

/* The old profile has stopped, and no other runs. */
static void has_stopped(struct __test_metadata *_metadata)
{
	unsigned short before = old[0];

	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
	burn_thread_ns(30 * MS);
	EXPECT_EQ(before, old[0]);
}

static void goes_on(struct __test_metadata *_metadata)
{
	unsigned short before = old[0];

	EXPECT_TRUE(burn_ticks(1));
	EXPECT_LT(before, old[0]);
}

/* Some ticks are counted, all of them in counter @counter of 8. */
static void counts_in(struct __test_metadata *_metadata, unsigned int counter)
{
	struct profil_status last = { .size = sizeof(last) };

	EXPECT_TRUE(burn_counted(3));
	EXPECT_EQ(0, profil_stop(&last, NULL, 0));
	EXPECT_LE(3, fresh[counter]);
	EXPECT_EQ(last.counts.counted, fresh[counter]);
	EXPECT_EQ(last.counts.counted, sum16(fresh, 8));
	EXPECT_CONSERVED(&last);
}

TEST_F(system, scale_0_is_off)
{
	EXPECT_EQ(0, variant->profil((void *)1, -1, -1, 0));
	has_stopped(_metadata);
	EXPECT_EQ(0, variant->profil(null, 0, 0, 0));
}

TEST_F(system, scale_1_is_off_or_128_kib_of_text)
{
	ASSERT_GT(0x20000, &etext - &__executable_start);
	EXPECT_EQ(0, variant->profil(fresh, 16, text() - 0x60000, 1));
	if (variant->scale_1)
		counts_in(_metadata, 3);
	else
		has_stopped(_metadata);
}

TEST_F(system, scale_2_is_64_kib_of_text)
{
	ASSERT_GT(0x10000, &etext - &__executable_start);
	EXPECT_EQ(0, variant->profil(fresh, 16, text() - 0x30000, 2));
	counts_in(_metadata, 3);
}

/*
 * The buffer has a counter for each 64 KiB of the whole address space. The
 * program's text is in one or two of these.
 */
TEST_F(system, scale_2_with_offset_0)
{
	size_t size = 1UL << (48 - 16 + 1);
	unsigned short *counters = mmap(NULL, size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS |
				    MAP_NORESERVE, -1, 0);
	unsigned short *of_text = counters + (text() >> 16);
	struct profil_status last = { .size = sizeof(last) };
	int patience = 1000;

	ASSERT_TRUE(counters != MAP_FAILED);
	ASSERT_EQ(0, variant->profil(counters, size, 0, 2));
	do {
		burn_thread_ns(10 * MS);
	} while (!(counters[0] + of_text[0] + of_text[1]) && --patience);
	EXPECT_EQ(0, profil_stop(&last, NULL, 0));
	EXPECT_EQ(last.counts.ticks, last.counts.counted);
	if (variant->overflow_bin) {
		EXPECT_EQ(last.counts.counted, counters[0]);
		EXPECT_EQ(0, of_text[0] + of_text[1]);
	} else {
		EXPECT_EQ(0, counters[0]);
		EXPECT_LT(0, of_text[0] + of_text[1]);
	}
	munmap(counters, size);
}

TEST_F(system, largest_scale)
{
	/*
	 * System V's largest, and the one that its manual page computes for a
	 * ratio of 1
	 */
	EXPECT_EQ(0, variant->profil(fresh, 16, 0, 0xffff));
	EXPECT_EQ(0, variant->profil(fresh, 16, 0, 0200000L));
	EXPECT_EQ(0, variant->profil(fresh, 16, 0, variant->largest));

	ASSERT_EQ(0, profil(old, sizeof(old), 0, ALL));
	EXPECT_ERROR(EINVAL,
		     variant->profil(fresh, 16, 0, variant->largest + 1));
	EXPECT_ERROR(EINVAL, variant->profil(fresh, 16, 0, -1U));
	goes_on(_metadata);
	EXPECT_EQ(0, sum16(fresh, 8));
}

/* One or two instructions that get nearly all ticks */
extern const char on_the_spot[];

static __attribute__((noinline)) void spin_on_the_spot(void)
{
	unsigned long times = 1000000;

#if defined(__x86_64__)
	asm volatile(".globl on_the_spot\non_the_spot: loop on_the_spot"
		     : "+c" (times));
#elif defined(__aarch64__)
	asm volatile(".globl on_the_spot\non_the_spot: subs %0, %0, #1\n\tb.ne on_the_spot"
		     : "+r" (times) : : "cc");
#elif defined(__riscv)
	asm volatile(".globl on_the_spot\non_the_spot: addi %0, %0, -1\n\tbnez %0, on_the_spot"
		     : "+r" (times));
#endif
}

/*
 * The contract's table, where System V's arithmetic and the default differ. A
 * CPU of a busy host may stop anywhere, and have its ticks there.
 */
TEST_F(system, arithmetic)
{
	static const struct {
		unsigned int distance, scale, counter, svr4_counter;
	} vectors[] = {
		{ 7, 0x5555, 0, 1 },
		{ 7, 0xffff, 2, 3 },
		{ 0xf, 0xffff, 6, 7 },
		{ 8, 0x8000, 2, 2 },
		{ 8, 0x4000, 1, 1 },
	};
	int i;

	for (i = 0; i < 5; i++) {
		unsigned int counter = variant->svr4 ? vectors[i].svr4_counter :
						   vectors[i].counter;
		int patience = 1000;

		memset(fresh, 0, sizeof(fresh));
		ASSERT_EQ(0, variant->profil(fresh, 16,
				(uintptr_t)on_the_spot - vectors[i].distance,
				vectors[i].scale));
		do {
			spin_on_the_spot();
		} while (fresh[counter] < 2 && --patience);
		EXPECT_EQ(0, variant->profil(fresh, 0, 0, 0));
		EXPECT_LE(2, fresh[counter]);
	}
}

TEST_F(system, counter_at_32767)
{
	struct profil_status last = { .size = sizeof(last) };
	int patience = 1000;

	ASSERT_GT(0x10000, &etext - &__executable_start);
	fresh[3] = SVR4_FULL - 2;
	ASSERT_EQ(0, variant->profil(fresh, 16, text() - 0x30000, 2));
	do {
		burn_thread_ns(10 * MS);
	} while (fresh[3] < SVR4_FULL && --patience);
	if (!variant->svr4)
		EXPECT_TRUE(burn_counted(3));
	EXPECT_EQ(0, profil_status(&last, NULL, 0));
	if (variant->svr4) {
		EXPECT_EQ(PROFIL_STATE_FULL, last.state);
		burn_thread_ns(30 * MS);
		EXPECT_EQ(SVR4_FULL, fresh[3]);
		EXPECT_EQ(2, last.counts.counted);
	} else {
		EXPECT_EQ(PROFIL_STATE_ON, last.state);
		EXPECT_LT(SVR4_FULL, fresh[3]);
	}
}

/*
 * The call either fails and stops the old profile, or the new one goes off when
 * a tick finds the bad buffer.
 */
static void is_bad(struct __test_metadata *_metadata, int error, int result,
		   enum profil_region_state why)
{
	struct profil_status last = { .size = sizeof(last) };
	struct profil_region_status region;
	int patience = 1000;

	if (error) {
		EXPECT_EQ(error, errno);
		EXPECT_EQ(-1, result);
		has_stopped(_metadata);
		return;
	}
	EXPECT_EQ(0, result);
	EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
	do {
		burn_thread_ns(10 * MS);
		profil_status(&last, &region, 1);
	} while (region.state == PROFIL_REGION_ON && --patience);
	EXPECT_TRUE(burn_ticks(1));
	EXPECT_EQ(0, profil_stop(&last, &region, 1));
	EXPECT_EQ(why, region.state);
	EXPECT_EQ(0, last.counts.counted);
	EXPECT_LE(1, last.counts.lost);
	EXPECT_LT(0, last.counts.outside);
	EXPECT_CONSERVED(&last);
}

TEST_F(system, buffer_that_is_readonly)
{
	unsigned short *page = mmap(NULL, PAGE, PROT_READ,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int result = variant->profil(page, PAGE, text() - 0x30000, 2);

	is_bad(_metadata, variant->bad, result, PROFIL_REGION_READONLY);
}

TEST_F(system, buffer_that_is_unmapped)
{
	unsigned short *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int result;

	munmap(page, PAGE);
	result = variant->profil(page, PAGE, text() - 0x30000, 2);
	is_bad(_metadata, variant->bad, result, PROFIL_REGION_UNMAPPED);
}

TEST_F(system, buffer_that_is_null)
{
	int result = variant->profil(null, PAGE, text() - 0x30000, 2);

	if (!variant->null_stops) {
		is_bad(_metadata, variant->bad, result, PROFIL_REGION_UNMAPPED);
		return;
	}
	EXPECT_EQ(0, result);
	has_stopped(_metadata);
}

TEST_F(system, size_0_is_ineffective)
{
	unsigned short before;

	EXPECT_EQ(0, variant->profil(fresh, 0, text(), 65536));
	EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
	before = old[0];
	EXPECT_TRUE(burn_ticks(2));
	EXPECT_EQ(before, old[0]);
	EXPECT_EQ(0, fresh[0]);
	EXPECT_EQ(0, status_now().counts.counted);
}

/* System V had no error for this; here errno reports it, and nothing stops. */
TEST_F(system, buffer_at_an_odd_address)
{
	unsigned short *odd = (void *)((char *)fresh + 1);

	EXPECT_ERROR(EINVAL, variant->profil(odd, 16, 0, ALL));
	goes_on(_metadata);
}

TEST_HARNESS_MAIN
