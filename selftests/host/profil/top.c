// SPDX-License-Identifier: GPL-2.0-only
/*
 * top.c - "profil top", of tables that the tests make
 *
 * It refreshes the view as often as a test wants, at once, and the test changes
 * the table in between.
 */
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "profil/backend_watch.h"
#include "profil/callers.h"
#include "profil/record.h"
#include "profil/session.h"
#include "profil/top.h"
#include "symbolize/collect.h"
#include "symbolize/symbols.h"
#include "table.h"
#include "util/file.h"

static struct table table;
static uint32_t image;

/* How often to refresh, and what to do before each time */
static int refreshes = 1;
static void (*before_refresh)(int nr);

/* --- the module */

uint64_t __real_now_ns(void);

static int watches;
/* When the last of them has begun, and when the session */
static uint64_t begun_ns, session_ns;
/* The first request of the stats */
static unsigned long asked;
static uint32_t watch_flags = PROFIL_WATCH_CHAINS;
/* All ticks that have come, if some come until the watch is stopped */
static bool goes_on;
static int came;

static void come(int nr)
{
	table.images[image].unresolved += nr;
	came += nr;
}

static void make_table(void)
{
	table_init(&table);
	image = table_image(&table, "program");
}

int __wrap_watch_info(struct profil_info *info)
{
	*info = (struct profil_info) { .watch_flags = watch_flags };
	return 0;
}

const char *__wrap_watch_start(struct watch *watch,
			       const struct session *session, pid_t pid,
			       uint64_t *period_ns)
{
	*watch = (struct watch) {
		.fd = eventfd(0, 0),
		.request.buckets = BUCKETS,
		.request.images = IMAGES,
		.request.objects = OBJECTS,
		.request.names = NAMES,
		.table = &table.header,
	};
	*period_ns = 1000000;
	make_table();
	/* As session.c, whose clock is its own */
	begun_ns = __real_now_ns();
	watches++;
	return NULL;
}

int __wrap_watch_status(const struct watch *watch, unsigned long request,
			struct profil_watch_status *status)
{
	if (goes_on)
		come(5);
	goes_on &= request != PROFIL_IOC_WATCH_STOP;
	table_status(&table, status);
	if (request != PROFIL_IOC_WATCH_STOP && !asked)
		asked = request;
	return 0;
}

void __wrap_watch_end(struct watch *watch)
{
	if (goes_on)
		come(3);
	callers_end(watch);
	close(watch->fd);
	watch->table = NULL;
}

/* --- time, which passes more slowly: a busy machine costs no names */

static unsigned int slowness = 30;

uint64_t __wrap_now_ns(void)
{
	return __real_now_ns() / slowness;
}

/* --- files */

/* What happens in the process that reads them */
static void (*meanwhile)(const struct prf *prf);
static int opened, profiles;

int __real_symbols_open(struct symbols *symbols, const char *path,
			const struct prf_dso *dso);
int __wrap_symbols_open(struct symbols *symbols, const char *path,
			const struct prf_dso *dso)
{
	opened++;
	return __real_symbols_open(symbols, path, dso);
}

void *__real_collect_names(const struct prf *prf, const bool *chosen,
			   const char *const *files, bool functions_only,
			   size_t most, size_t *size);
void *__wrap_collect_names(const struct prf *prf, const bool *chosen,
			   const char *const *files, bool functions_only,
			   size_t most, size_t *size)
{
	if (meanwhile)
		meanwhile(prf);
	return __real_collect_names(prf, chosen, files, functions_only, most,
				    size);
}

int __real_record_table(struct session *session,
			const struct profil_watch_table *table);
int __wrap_record_table(struct session *session,
			const struct profil_watch_table *table)
{
	profiles++;
	return __real_record_table(session, table);
}

/* --- profil */

/*
 * What the process that reads files says: a signal has come, its priority, and how
 * often it did not end
 */
static struct {
	bool is_ending;
	int nice;
	int endless;
} *shared;

static void share(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		abort();
}

bool __wrap_session_is_ending(void)
{
	return shared && shared->is_ending;
}

int __wrap_session_attach(struct session *session)
{
	int i;

	if (session_begin(session, 0))
		return EXIT_FAILED;
	session_ns = session->start_ns;
	for (i = 0; i < refreshes; i++) {
		if (before_refresh)
			before_refresh(i);
		if (session->refresh(session))
			return EXIT_FAILED;
	}
	goes_on = false;
	return 0;
}

/* What "profil top" has written to standard error */
static char said[4096];

/* Run "profil top" with standard output to @fd; returns its exit status. */
static int run_top(int fd, char *target)
{
	char *argv[] = { "top", target, NULL };
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

static void add_ticks(int nr)
{
	table.images[image].unresolved += 7;
}

TEST(terminal_of_few_columns)
{
	struct winsize size = { .ws_row = 24, .ws_col = 1 };
	char text[4096] = "";
	int terminal, output;

	if (openpty(&terminal, &output, NULL, NULL, &size))
		SKIP(return, "no pseudo-terminals");
	before_refresh = add_ticks;
	EXPECT_EQ(0, run_top(output, "--user"));
	/* The terminal may give it piece by piece */
	while (!strstr(text, "100.0 %        7"))
		ASSERT_LT(0, read(terminal, text + strlen(text),
				  sizeof(text) - 1 - strlen(text)));
	EXPECT_EQ(NULL, strstr(text, "elsewhere"));
	EXPECT_STREQ("", said);
}

static int count(const char *text, const char *what)
{
	int nr = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		nr++;
	}
	return nr;
}

/* Main calls two functions, of which one calls itself. */
static void add_chains(int nr)
{
	uint32_t outer, inner;

	outer = table_frame(&table, image, PROFIL_OBJECT_ANONYMOUS, 0, 0);
	table_frame(&table, image, PROFIL_OBJECT_VDSO, 0, outer);
	table.buckets[1].count += 2;
	inner = table_frame(&table, image, PROFIL_OBJECT_ANONYMOUS, 64, outer);
	inner = table_frame(&table, image, PROFIL_OBJECT_KERNEL, 0, inner);
	table.buckets[inner - 1].count += 6;
	table.images[image].counted += 2;
	table.images[image].kernel += 6;
}

TEST(totals_and_the_hottest_chain)
{
	int output = memfd_create("output", 0);
	char text[4096] = "";

	before_refresh = add_chains;
	refreshes = 2;
	EXPECT_EQ(0, run_top(output, "--user"));
	EXPECT_LT(0, pread(output, text, sizeof(text) - 1, 0));
	EXPECT_EQ(2, count(text, "  75.0 % in [kernel] < [anonymous] < [anonymous]\n"));
	EXPECT_EQ(2, count(text, "percent    ticks     total  function\n"));
	EXPECT_EQ(2, count(text, "\n  75.0 %        6    75.0 %  [kernel]"));
	EXPECT_EQ(2, count(text, "\n  25.0 %        2    25.0 %  "));
	EXPECT_EQ(0, count(text, "  100.0 %  "));
	EXPECT_STREQ("", said);
}

TEST(flat_view)
{
	int output = memfd_create("output", 0);
	char text[4096] = "";

	before_refresh = add_ticks;
	EXPECT_EQ(0, run_top(output, "--flat"));
	EXPECT_LT(0, pread(output, text, sizeof(text) - 1, 0));
	EXPECT_NE(NULL, strstr(text, "percent    ticks  function\n"));
}

/* A reader, of whose waits some are long, and what runs */
static void add_waits(int nr)
{
	uint32_t caller = table_frame(&table, image, PROFIL_OBJECT_VDSO, 0, 0);

	table_call(&table, image, PROFIL_OBJECT_VDSO, 64, caller, 10);
	table_call(&table, image, PROFIL_OBJECT_BLOCKED,
		   PROFIL_WAIT_SYSCALL + __NR_read, caller, 60);
	table_call(&table, image, PROFIL_OBJECT_BLOCKED, PROFIL_WAIT_LONG +
		   PROFIL_WAIT_SYSCALL + __NR_read, caller, 2000);
	table_call(&table, image, PROFIL_OBJECT_RUNNABLE, 0, caller, 30);
}

TEST(waits)
{
	int output = memfd_create("output", 0);
	char text[4096] = "";

	watch_flags |= PROFIL_WATCH_WALL;
	before_refresh = add_waits;
	refreshes = 2;
	EXPECT_EQ(0, run_top(output, "--wall"));
	EXPECT_EQ(PROFIL_IOC_WATCH_COLLECT, asked);
	EXPECT_LT(0, pread(output, text, sizeof(text) - 1, 0));
	EXPECT_EQ(2, count(text, ": 100 ticks of 1.000 ms in "));
	EXPECT_EQ(2, count(text, " threads runnable, "));
	EXPECT_EQ(2, count(text, " threads blocked, "));
	EXPECT_EQ(2, count(text, " threads idle\n"));
	EXPECT_EQ(2, count(text, "  60.0 % in read < "));
	EXPECT_EQ(2, count(text, "\n  60.0 %       60    60.0 %  read [blocked]\n"));
	EXPECT_EQ(2, count(text, "\n  30.0 %       30    30.0 %  [runnable]\n"));
	EXPECT_EQ(0, count(text, "[idle]"));
	EXPECT_STREQ("", said);
}

TEST(stats_without_waits)
{
	before_refresh = add_ticks;
	EXPECT_EQ(0, run_top(memfd_create("output", 0), "--user"));
	EXPECT_EQ(PROFIL_IOC_WATCH_STATUS, asked);
}

TEST(module_without_waits)
{
	EXPECT_EQ(EXIT_FAILED, run_top(memfd_create("output", 0), "--wall"));
	EXPECT_NE(NULL, strstr(said, ": --wall: the module that is loaded counts no waits; install and load a later version\n"));
}

/* As of the first version */
TEST(module_without_chains)
{
	int output = memfd_create("output", 0);
	char text[4096] = "";

	watch_flags = PROFIL_WATCH_CHILDREN;
	before_refresh = add_ticks;
	refreshes = 3;
	EXPECT_EQ(0, run_top(output, "--user"));
	EXPECT_LT(0, pread(output, text, sizeof(text) - 1, 0));
	EXPECT_NE(NULL, strstr(text, "percent    ticks  function\n"));
	EXPECT_EQ(1, count(said, "the profile has no call chains: "));
}

TEST(output_that_cannot_be_written)
{
	int full = open("/dev/full", O_WRONLY);

	ASSERT_LE(0, full);
	before_refresh = add_ticks;
	EXPECT_EQ(EXIT_FAILED, run_top(full, "--user"));
	EXPECT_NE(NULL, strstr(said, ": standard output: No space left on"));
}

static char copy[] = "/tmp/profil-top-XXXXXX";

/* Its symbols are known by now: cut it off, and ask for another function. */
static void cut_off(int nr)
{
	if (!nr)
		table_file(&table, copy);
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
	before_refresh = cut_off;
	refreshes = 8;
	EXPECT_EQ(0, run_top(null, "--user"));
	unlink(copy);
}

/* Write a library without a build ID to a path, for everybody to read. */
static void write_library(const char *name, const char *path)
{
	char command[PATH_MAX + 128], directory[PATH_MAX] = "";

	if (readlink("/proc/self/exe", directory, sizeof(directory) - 1) < 0)
		abort();
	snprintf(command, sizeof(command), "cat %s/bare%s.so > %s",
		 dirname(directory), name, path);
	if (system(command) || chmod(path, 0644))
		abort();
}

/* Put a library at the path of the copy, as its new contents. */
static void put_library(const char *name)
{
	struct stat before, after;

	/* The clock of files is a coarse one */
	do {
		if (stat(copy, &before))
			abort();
		write_library(name, copy);
		if (stat(copy, &after))
			abort();
	} while (file_changed_ns(&before) == file_changed_ns(&after));
}

static void change_contents(int nr)
{
	static const char *const names[] = { "first", "second", "third" };
	static uint32_t object;

	put_library(names[nr]);
	if (!nr)
		object = table_file(&table, copy);
	table_tick(&table, image, object, 0x1010, 1);
}

/* Without a build ID, it is known by the time of its last change. */
TEST(file_that_gets_other_contents)
{
	char text[4096] = "";
	int output = memfd_create("output", 0), fd = mkstemp(copy);

	ASSERT_LE(0, fd);
	before_refresh = change_contents;
	refreshes = 3;
	EXPECT_EQ(0, run_top(output, "--user"));
	EXPECT_LT(0, pread(output, text, sizeof(text) - 1, 0));
	EXPECT_NE(NULL, strstr(text, "first ("));
	EXPECT_NE(NULL, strstr(text, "second ("));
	EXPECT_NE(NULL, strstr(text, "third ("));
	unlink(copy);
}

/* Two libraries with the same name, and how often they have ticks */
static char directories[2][32];
static char libraries[2][64];
static int ticks[] = { 30, 10 };

static void add_libraries(int nr)
{
	static uint32_t objects[2];
	int i;

	for (i = 0; i < 2; i++) {
		if (!nr)
			objects[i] = table_file(&table, libraries[i]);
		table_tick(&table, image, objects[i], 0x1010, ticks[i]);
	}
}

static void make_libraries(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		strcpy(directories[i], "/tmp/profil-top-XXXXXX");
		if (!mkdtemp(directories[i]) || chmod(directories[i], 0755))
			abort();
		snprintf(libraries[i], sizeof(libraries[i]), "%s/lib.so",
			 directories[i]);
		write_library("first", libraries[i]);
	}
	before_refresh = add_libraries;
}

/* Show the two libraries; returns the true time that it takes, in seconds. */
static double show_libraries(char *text, size_t room)
{
	int output = memfd_create("output", 0), i;
	uint64_t start;

	make_libraries();
	start = __real_now_ns();
	if (run_top(output, "--user") ||
	    pread(output, text, room - 1, 0) < 0)
		abort();
	for (i = 0; i < 2; i++) {
		unlink(libraries[i]);
		rmdir(directories[i]);
	}
	return (__real_now_ns() - start) / 1e9;
}

TEST(files_with_the_same_name_have_rows_of_their_own)
{
	char text[4096] = "";

	refreshes = 2;
	show_libraries(text, sizeof(text));
	EXPECT_EQ(2, count(text, "  75.0 %       30    75.0 %  first (lib.so)\n"));
	EXPECT_EQ(2, count(text, "  25.0 %       10    25.0 %  first (lib.so)\n"));
	EXPECT_STREQ("", said);
}

TEST(files_are_read_by_another_process)
{
	char text[4096] = "";

	refreshes = 2;
	show_libraries(text, sizeof(text));
	EXPECT_EQ(4, count(text, " first (lib.so)\n"));
	EXPECT_EQ(0, opened);
}

/* Of the first library, nothing is learned. */
static void crash(const struct prf *prf)
{
	if (!prf_find_dso(prf, 1, libraries[0]))
		return;
	/* Without the report of a sanitizer */
	signal(SIGABRT, SIG_DFL);
	setrlimit(RLIMIT_CORE, &(struct rlimit){});
	abort();
}

static void take_long(const struct prf *prf)
{
	if (!prf_find_dso(prf, 1, libraries[0]))
		return;
	shared->endless++;
	for (;;)
		pause();
}

TEST(file_that_ends_its_reader_costs_names_only)
{
	char text[4096] = "";

	meanwhile = crash;
	refreshes = 2;
	show_libraries(text, sizeof(text));
	EXPECT_EQ(2, count(text, "  75.0 %       30    75.0 %  lib.so+0x1010 (lib.so)\n"));
	EXPECT_EQ(2, count(text, "  25.0 %       10    25.0 %  first (lib.so)\n"));
	EXPECT_STREQ("", said);
}

/* And that is given up in the end. */
TEST(file_that_takes_long_costs_names_only)
{
	char text[4096] = "";

	share();
	slowness = 5;
	meanwhile = take_long;
	refreshes = 8;
	show_libraries(text, sizeof(text));
	EXPECT_GT(refreshes, shared->endless);
	EXPECT_EQ(8, count(text, "  75.0 %       30    75.0 %  lib.so+0x1010 (lib.so)\n"));
	EXPECT_LT(0, count(text, "  25.0 %       10    25.0 %  first (lib.so)\n"));
}

static void end_the_session(const struct prf *prf)
{
	shared->is_ending = true;
	take_long(prf);
}

TEST(signal_ends_the_reading_of_files)
{
	char text[4096] = "";

	share();
	meanwhile = end_the_session;
	/* A question has 60 seconds */
	EXPECT_GT(50, show_libraries(text, sizeof(text)));
	EXPECT_EQ(2, count(text, " lib.so+0x1010 (lib.so)\n"));
}

static void note_priority(const struct prf *prf)
{
	shared->nice = getpriority(PRIO_PROCESS, 0);
}

TEST(files_are_read_at_the_priority_of_the_view)
{
	char text[4096] = "";

	share();
	shared->nice = 100;
	meanwhile = note_priority;
	show_libraries(text, sizeof(text));
	EXPECT_EQ(getpriority(PRIO_PROCESS, 0), shared->nice);
}

static void find_no_room(int nr)
{
	table.images[image].coarse = 12;
	table.objects[PROFIL_OBJECT_ANONYMOUS].coarse = 4;
	table.objects[table_file(&table, "/bin/sh")].coarse = 5;
	table.images[0].processes = 34;
}

TEST(table_that_is_full)
{
	int null = open("/dev/null", O_WRONLY);

	before_refresh = find_no_room;
	EXPECT_EQ(0, run_top(null, "--user"));
	EXPECT_NE(NULL, strstr(said, "12 ticks have no function, 5 of them in /bin/sh; use a larger --bucket"));
	EXPECT_NE(NULL, strstr(said, "34 processes have no program"));
}

/* It counts while profil makes tables of callers, which may take seconds. */
TEST(time_begins_before_the_watch)
{
	before_refresh = add_ticks;
	EXPECT_EQ(0, run_top(memfd_create("output", 0), "--pid=1"));
	EXPECT_LT(0, session_ns);
	EXPECT_GE(begun_ns, session_ns);
}

TEST(end_makes_no_profile)
{
	before_refresh = add_ticks;
	EXPECT_EQ(0, run_top(memfd_create("output", 0), "--user"));
	EXPECT_EQ(0, profiles);
	EXPECT_STREQ("", said);
}

/* Ticks in ever more places, but in no more than one table has room for */
static void fill_table(int nr)
{
	uint32_t i;

	for (i = 0; i < BUCKETS / 2; i++)
		table_tick(&table, image, PROFIL_OBJECT_ANONYMOUS,
			   (nr % 2 * BUCKETS / 2 + i) * 4, 1);
}

/* After each second time, there is a new table; no ticks are shown twice. */
TEST(table_that_is_nearly_full)
{
	int output = memfd_create("output", 0);
	char text[8192] = "";

	before_refresh = fill_table;
	refreshes = 6;
	EXPECT_EQ(0, run_top(output, "--user"));
	EXPECT_EQ(4, watches);
	EXPECT_LT(0, pread(output, text, sizeof(text) - 1, 0));
	EXPECT_EQ(6, count(text, ": 32 ticks of"));
	EXPECT_EQ(6, count(text, " 100.0 %       32   100.0 %  [anonymous]"));
	EXPECT_STREQ("", said);
}

/* Ticks come until the watch is stopped, and with each look at it. */
static void fill_on(int nr)
{
	fill_table(nr);
	came += BUCKETS / 2;
	goes_on = true;
}

/* Ticks of all blocks of a view */
static int shown(char *text)
{
	int sum = 0, nr;
	char *line;

	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (sscanf(line, "user %*u: %d ticks of ", &nr) == 1)
			sum += nr;
	return sum;
}

TEST(renewed_table_loses_no_ticks)
{
	int output = memfd_create("output", 0);
	char text[8192] = "";

	before_refresh = fill_on;
	refreshes = 6;
	EXPECT_EQ(0, run_top(output, "--user"));
	EXPECT_EQ(4, watches);
	EXPECT_LT(0, pread(output, text, sizeof(text) - 1, 0));
	EXPECT_EQ(came, shown(text));
}

/* A new table would not have what they have started by now. */
TEST(table_of_processes_that_is_nearly_full)
{
	int null = open("/dev/null", O_WRONLY);

	before_refresh = fill_table;
	refreshes = 2;
	EXPECT_EQ(0, run_top(null, "--pid=1"));
	EXPECT_EQ(1, watches);
}

TEST_HARNESS_MAIN
