// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_example.c - what lib/examples/hottest.c and chain.c print
 *
 * Runs them on a child that burns CPU time in this program's text and in the
 * kernel: they must name this program, and its numbers must add up.
 */
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "common.h"
#include "watch.h"

FIXTURE(watch) {
	pid_t child;
	char said[4000];
};

#define WITH_FRAME_POINTER \
	__attribute__((optimize("no-omit-frame-pointer")))

OWN_TEXT(burn) WITH_FRAME_POINTER static void burn(void)
{
	volatile unsigned int i;

	for (i = 0; i < 1000000; i++)
		;
}

OWN_TEXT(burn_forever) WITH_FRAME_POINTER static void burn_forever(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		burn();
		sched_yield();
	}
}

/* Run an example, and keep what it prints. Return: its exit status. */
static int run_example(FIXTURE_DATA(watch) *self, const char *name, pid_t pid)
{
	char path[4096], command[4200];
	size_t length;
	FILE *file;

	helper_path(path, sizeof(path), name);
	snprintf(command, sizeof(command), "%s %d 2>&1", path, pid);
	file = popen(command, "r");
	if (!file)
		return -1;
	length = fread(self->said, 1, sizeof(self->said) - 1, file);
	self->said[length] = '\0';
	return WEXITSTATUS(pclose(file));
}

FIXTURE_SETUP(watch)
{
	self->child = fork();
	ASSERT_LE(0, self->child);
	if (!self->child)
		burn_forever();
}

FIXTURE_TEARDOWN(watch)
{
	kill(self->child, SIGKILL);
	waitpid(self->child, NULL, 0);
}

/* The number at the start of the line with @words; a large one if none has. */
static uint64_t number(const char *said, const char *words)
{
	const char *at = strstr(said, words);
	unsigned long long value;

	while (at && at > said && at[-1] != '\n')
		at--;
	return at && sscanf(at, "%llu", &value) == 1 ? value : UINT64_MAX;
}

/* The sum of the shares, in percent; the first line names @hottest. */
static double shares(const char *said, char *hottest)
{
	double sum = 0, share;
	char path[1000];

	*hottest = '\0';
	while (sscanf(said, " %lf %% %999[^\n]", &share, path) == 2) {
		if (!*hottest)
			strcpy(hottest, path);
		sum += share;
		said = strchr(said, '\n') + 1;
	}
	return sum;
}

TEST_F(watch, names_the_hottest_file_and_adds_up)
{
	char own[1000] = "", hottest[1000];
	const char *said = self->said;
	double sum;

	ASSERT_LT(0, readlink("/proc/self/exe", own, sizeof(own) - 1));
	RUN_UNTIL(!strcmp(own, hottest) && sum > 50 &&
		  number(said, "counted, ") > 100, {
		ASSERT_EQ(0, run_example(self, "hottest", self->child));
		TH_LOG("%s", said);
		sum = shares(said, hottest);
		/* Each of five shares is rounded to a tenth */
		EXPECT_LE(100.0 * number(said, "counted, ") /
			  number(said, "ticks, ") - 0.25, sum);
		EXPECT_GE(100.25, sum);
		EXPECT_EQ(number(said, "ticks, of which"),
			  number(said, "counted, ") +
			  number(said, "coarse: ") +
			  number(said, "in kernel mode") +
			  number(said, "unresolved: "));
	});
}

#ifdef __x86_64__
/* A line that has a file, and an offset in it that is in a function. */
static bool names(const char *line, const char *file, const char *text,
		  const char *end)
{
	size_t length = strlen(file);
	uint64_t offset;

	if (strncmp(line, file, length) ||
	    sscanf(line + length, "+%" SCNx64, &offset) != 1)
		return false;
	return offset + 4 > watch_offset(text) && offset < watch_offset(end);
}

/* The tables of callers may come late, when most ticks have come without. */
TEST_F(watch, names_the_hottest_chain)
{
	char own[1000] = "", *next;

	if (is_preempt_rt())
		SKIP(return, "no chains on PREEMPT_RT");
	ASSERT_LT(0, readlink("/proc/self/exe", own, sizeof(own) - 1));
	RUN_UNTIL(names(self->said, own, START_OF(burn), END_OF(burn)) &&
		  names(next + 1, own, START_OF(burn_forever),
			END_OF(burn_forever)), {
		ASSERT_EQ(0, run_example(self, "chain", self->child));
		TH_LOG("%s", self->said);
		next = strchr(self->said, '\n');
		ASSERT_NE(NULL, next);
	});
}
#endif

TEST_F(watch, of_no_process_fails)
{
	kill(self->child, SIGKILL);
	waitpid(self->child, NULL, 0);
	EXPECT_EQ(1, run_example(self, "hottest", self->child));
	EXPECT_TRUE(strstr(self->said, strerror(ESRCH)) != NULL);
	EXPECT_TRUE(strstr(self->said, "hottest PID") != NULL);
}

TEST_HARNESS_MAIN
