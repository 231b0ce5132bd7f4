// SPDX-License-Identifier: GPL-2.0-only
/*
 * top.c - "profil top", of tables that the tests make
 *
 * It refreshes the view as often as a test wants, at once, and the test changes
 * the table in between.
 */
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "profil/backend_watch.h"
#include "profil/session.h"
#include "profil/top.h"
#include "table.h"

static struct table table;
static uint32_t image;

/* How often to refresh, and what to do before each time */
static int refreshes = 1;
static void (*before_refresh)(int nr);

/* --- the module */

int __wrap_watch_info(struct profil_info *info)
{
	return 0;
}

const char *__wrap_watch_start(struct watch *watch,
			       const struct session *session, pid_t pid,
			       uint64_t *period_ns)
{
	watch->request = (struct profil_watch) {
		.buckets = BUCKETS,
		.images = IMAGES,
		.objects = OBJECTS,
		.names = NAMES,
	};
	watch->table = &table.header;
	*period_ns = 1000000;
	return NULL;
}

int __wrap_watch_status(const struct watch *watch, unsigned long request,
			struct profil_watch_status *status)
{
	table_status(&table, status);
	return 0;
}

void __wrap_watch_end(struct watch *watch)
{
	watch->table = NULL;
}

/* --- profil */

int __wrap_session_attach(struct session *session)
{
	int i;

	if (session_begin(session, 0))
		return EXIT_FAILED;
	for (i = 0; i < refreshes; i++) {
		if (before_refresh)
			before_refresh(i);
		if (session->refresh(session))
			return EXIT_FAILED;
	}
	return 0;
}

/* What "profil top" has written to standard error */
static char said[4096];

/* Run "profil top" with standard output to @fd; returns its exit status. */
static int run_top(int fd)
{
	char *argv[] = { "top", "--user", NULL };
	int messages = memfd_create("messages", 0), before, status;

	before = dup(STDERR_FILENO);
	unsetenv("COLUMNS");
	if (dup2(fd, STDOUT_FILENO) < 0 || dup2(messages, STDERR_FILENO) < 0)
		abort();
	status = top_main(2, argv);
	dup2(before, STDERR_FILENO);
	if (pread(messages, said, sizeof(said) - 1, 0) < 0)
		abort();
	return status;
}

static void make_table(void)
{
	table_init(&table);
	image = table_image(&table, "program");
}

TEST(terminal_of_few_columns)
{
	struct winsize size = { .ws_row = 24, .ws_col = 1 };
	char text[4096] = "";
	int terminal, output;

	if (openpty(&terminal, &output, NULL, NULL, &size))
		SKIP(return, "no pseudo-terminals");
	make_table();
	table.images[image].unresolved = 7;
	EXPECT_EQ(0, run_top(output));
	EXPECT_LT(0, read(terminal, text, sizeof(text) - 1));
	EXPECT_NE(NULL, strstr(text, "100.0 %        7"));
	EXPECT_EQ(NULL, strstr(text, "elsewhere"));
	EXPECT_STREQ("", said);
}

TEST(output_that_cannot_be_written)
{
	int full = open("/dev/full", O_WRONLY);

	ASSERT_LE(0, full);
	make_table();
	table.images[image].unresolved = 7;
	EXPECT_EQ(EXIT_FAILED, run_top(full));
	EXPECT_NE(NULL, strstr(said, ": standard output: No space left on"));
}

static char copy[] = "/tmp/profil-top-XXXXXX";

/* Its symbols are known by now: cut it off, and ask for another function. */
static void cut_off(int nr)
{
	table_tick(&table, image, PROFIL_OBJECT_FILES, 16384 << nr, 1);
	if (nr == 1 && truncate(copy, 4096))
		abort();
}

TEST(file_that_becomes_shorter)
{
	int null = open("/dev/null", O_WRONLY), fd = mkstemp(copy);
	char command[128];

	ASSERT_LE(0, fd);
	snprintf(command, sizeof(command), "cat /proc/%d/exe > %s", getpid(),
		 copy);
	ASSERT_EQ(0, system(command));
	make_table();
	table_file(&table, copy);
	before_refresh = cut_off;
	refreshes = 8;
	EXPECT_EQ(0, run_top(null));
	unlink(copy);
}

TEST(table_that_is_full)
{
	int null = open("/dev/null", O_WRONLY);

	make_table();
	table.images[image].coarse = 12;
	table.images[0].processes = 34;
	EXPECT_EQ(0, run_top(null));
	EXPECT_NE(NULL, strstr(said, "12 ticks have no function; use a larger --bucket"));
	EXPECT_NE(NULL, strstr(said, "34 processes have no program"));
}

TEST_HARNESS_MAIN
