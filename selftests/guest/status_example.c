// SPDX-License-Identifier: GPL-2.0-only
/*
 * status_example.c - the report that lib/examples/status.c prints
 *
 * Runs it with one region of each kind: it must print the sentences on which a
 * reader can act, and numbers that add up.
 */
#include <stdio.h>
#include <string.h>

#include "kselftest_harness.h"
#include "common.h"

#define UNKNOWN	UINT64_MAX

FIXTURE(status) {
	char said[4000];
};

FIXTURE_SETUP(status)
{
	char path[4096];
	size_t length;
	FILE *file;

	helper_path(path, sizeof(path), "status");
	file = popen(path, "r");
	ASSERT_TRUE(file);
	length = fread(self->said, 1, sizeof(self->said) - 1, file);
	self->said[length] = '\0';
	ASSERT_EQ(0, pclose(file));
}

FIXTURE_TEARDOWN(status)
{
}

/* The number after @words, or UNKNOWN. */
static uint64_t number(const char *text, const char *words)
{
	const char *at = strstr(text, words);
	unsigned long long value;

	if (!at || sscanf(at + strlen(words), "%llu", &value) != 1)
		return UNKNOWN;
	return value;
}

static double milliseconds(const char *text, const char *words)
{
	const char *at = strstr(text, words);
	double value;

	return at && sscanf(at + strlen(words), "%lf ms of CPU time",
			    &value) == 1 ? value : -1;
}

/* The line of a region; empty if it has none. */
static void line_of(const char *said, const char *name, char *line, size_t size)
{
	char words[40];
	const char *at;

	snprintf(words, sizeof(words), "region %s: ", name);
	at = strstr(said, words);
	snprintf(line, size, "%.*s", at ? (int)strcspn(at, "\n") : 0,
		 at ? at : "");
}

TEST_F(status, the_whole)
{
	const char *said = self->said;

	EXPECT_TRUE(!strncmp(said, "profile: on\n", 12));
	EXPECT_EQ(10, milliseconds(said, "period: "));
	EXPECT_LT(50, milliseconds(said, "covered: "));
	EXPECT_EQ(0, number(said, "left out, in kernel mode: "));
	EXPECT_EQ(0, number(said, "children without a profile: "));
	EXPECT_GE(number(said, "ticks: "),
		  number(said, "in kernel mode, among all these: "));
	EXPECT_NE(UNKNOWN, number(said, "on their way, not among these: "));
	EXPECT_TRUE(strstr(said, "the numbers add up: yes\n"));
}

TEST_F(status, its_ticks_add_up)
{
	const char *said = self->said;
	uint64_t counted = number(said, "  counted: ");
	uint64_t clipped = number(said, "clipped, the counter was full: ");
	uint64_t outside = number(said, "outside of all regions: ");
	uint64_t lost = number(said, "lost, the counter could not be written: ");
	uint64_t left_out = number(said, "left out, in kernel mode: ");

	EXPECT_LT(0, counted);
	EXPECT_LT(0, clipped);
	EXPECT_LT(0, lost);
	EXPECT_EQ(number(said, "ticks: "),
		  counted + clipped + outside + lost + left_out);
}

/* The state of each region, and the words for it. */
static const struct {
	const char *name;
	bool counts, clips, loses;
	const char *why;
} regions[] = {
	{ "good", .counts = true, .why = "; on" },
	{ "full", .clips = true, .why = "; on" },
	{ "readonly", .loses = true,
	  .why = "; off: a counter was not in writable memory" },
	{ "unmapped", .loses = true,
	  .why = "; off: a counter was not in mapped memory" },
	{ "truncated", .loses = true,
	  .why = "; off: there was no page for a counter, as in a truncated file" },
	{ "disabled", .why = "; not enabled: its scale is 0 or 1" },
	{ "empty", .why = "; not enabled: its size has no room for one counter" },
};

TEST_F(status, its_regions_tell_why)
{
	uint64_t counted = 0, clipped = 0, lost = 0;
	char line[200];
	size_t i;

	for (i = 0; i < sizeof(regions) / sizeof(regions[0]); i++) {
		line_of(self->said, regions[i].name, line, sizeof(line));
		TH_LOG("%s", line);
		EXPECT_EQ(regions[i].counts, !!number(line, "counted "));
		EXPECT_EQ(regions[i].clips, !!number(line, "clipped "));
		EXPECT_EQ(regions[i].loses, !!number(line, "lost "));
		ASSERT_TRUE(strchr(line, ';'));
		EXPECT_STREQ(regions[i].why, strchr(line, ';'));
		counted += number(line, "counted ");
		clipped += number(line, "clipped ");
		lost += number(line, "lost ");
	}
	EXPECT_EQ(counted, number(self->said, "  counted: "));
	EXPECT_EQ(clipped, number(self->said, "full: "));
	EXPECT_EQ(lost, number(self->said, "written: "));
}

TEST_HARNESS_MAIN
