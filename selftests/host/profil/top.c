// SPDX-License-Identifier: GPL-2.0-only
/* top.c - "profil top", of tables that the tests make */
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "profil/backend_watch.h"
#include "profil/session.h"
#include "table.h"

/* profil's main(), and ours */
int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

static struct table table;
static uint32_t image;

int __wrap_session_open(struct session *session)
{
	session->backend = &backend_watch;
	return 0;
}

size_t __wrap_backend_watches(const struct session *session,
			      const struct watch **watches)
{
	static const struct watch watch = { .table = &table.header };

	*watches = &watch;
	return 1;
}

int __wrap_session_attach(struct session *session)
{
	session->start_ns = now_ns();
	return session->refresh(session) ? EXIT_FAILED : 0;
}

int __wrap_session_end(struct session *session)
{
	return 0;
}

/* What "profil top" has written to standard error */
static char said[4096];

/* Run "profil top" with standard output to @fd; returns its exit status. */
static int run_top(int fd)
{
	char *argv[] = { "profil", "top", "--user", NULL };
	int messages = memfd_create("messages", 0), before, status;

	before = dup(STDERR_FILENO);
	unsetenv("COLUMNS");
	if (dup2(fd, STDOUT_FILENO) < 0 || dup2(messages, STDERR_FILENO) < 0)
		abort();
	status = __real_main(3, argv);
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

#define main __wrap_main
TEST_HARNESS_MAIN
