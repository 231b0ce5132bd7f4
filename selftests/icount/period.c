// SPDX-License-Identifier: GPL-2.0-only
/*
 * period.c - the period that sprofil() returns is the true one
 *
 * The C library's is not, as its ticks come with those of the kernel: for it
 * the test only reports the period that it returns and the one that it has, and
 * checks only ours. This is one of the bugs of guest/glibc_bugs.c; it is tested
 * here because on an emulated CPU that runs in real time the kernel's ticks
 * come late, and so seldom.
 */
#include <dlfcn.h>

#include "kselftest_harness.h"
#include "common.h"

typedef int sprofil_t(struct prof *regions, int nr, struct timeval *time,
		      unsigned int flags);

static unsigned short counters[8];

struct answer {
	double period_us;
	double ticks;
	double cpu_us;
};

/* Counts only ticks in the program's own text, which nearly all are. */
static struct answer ask(struct __test_metadata *_metadata, sprofil_t *function)
{
	struct prof text = {
		counters, sizeof(counters), (size_t)&__executable_start, 2
	};
	struct timeval time = { 0, 0 };
	struct answer answer = { 0 };
	uint64_t begin;

	memset(counters, 0, sizeof(counters));
	ASSERT_EQ(0, function(&text, 1, &time, PROF_USHORT));
	begin = process_cpu_ns();
	while (process_cpu_ns() < begin + SECOND)
		for (int i = 0; i < 100; i++)
			asm volatile(".rept 500\n\tnop\n\t.endr");
	answer.cpu_us = (process_cpu_ns() - begin) / 1000.0;
	answer.period_us = time.tv_sec * 1e6 + time.tv_usec;
	answer.ticks = sum16(counters, 8);
	return answer;
}

TEST(of_the_c_library_is_wrong)
{
	void *c = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	sprofil_t *sprofil_of_c;
	struct answer answer;

	ASSERT_NE(NULL, c);
	sprofil_of_c = dlsym(c, "sprofil");
	ASSERT_NE(NULL, sprofil_of_c);
	answer = ask(_metadata, sprofil_of_c);
	TH_LOG("C library: says %.0f us; %.0f ticks in %.0f us are one in %.0f us",
	       answer.period_us, answer.ticks, answer.cpu_us,
	       answer.cpu_us / answer.ticks);
	/* The C library's next call only stops the first. */
	EXPECT_EQ(0, sprofil_of_c(NULL, 0, NULL, 0));

	answer = ask(_metadata, sprofil);
	EXPECT_EQ(0, sprofil(NULL, 0, NULL, 0));
	EXPECT_EQ(10000, answer.period_us);
	EXPECT_CHANCE("ticks", answer.ticks, answer.cpu_us / answer.period_us,
		      answer.cpu_us / answer.period_us);
}

TEST_HARNESS_MAIN
