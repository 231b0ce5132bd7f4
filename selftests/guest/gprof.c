// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprof.c - gprof's reports on programs compiled with -pg are correct
 *
 * Runs the programs programs/pg_* and reads gprof's reports on their gmon.out.
 */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "preload.h"
#include "said.h"

#define PATH	256
#define NAME	64

/* A line of the flat profile; all zeros for a function that has none. */
struct function {
	double ticks;
	unsigned long long calls;
};

/* Each test runs in a directory of its own. */
FIXTURE(gprof) {
	char directory[NAME];
};

FIXTURE_SETUP(gprof)
{
	strcpy(self->directory, "/tmp/gprof-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->directory));
	ASSERT_EQ(0, chdir(self->directory));
}

FIXTURE_TEARDOWN(gprof)
{
	char command[PATH];

	snprintf(command, sizeof(command), "rm -r %s", self->directory);
	EXPECT_EQ(0, system(command));
}

static void redirect(const char *file, int descriptor)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (dup2(fd, descriptor) < 0)
		_exit(126);
	close(fd);
}

/* Returns the exit status. The files out and err get the program's output. */
static int run(const char *preload, const char *program, const char *argument)
{
	char path[2 * PATH];
	pid_t child;

	helper_path(path, sizeof(path), program);
	child = fork_child();
	if (!child) {
		redirect("out", STDOUT_FILENO);
		redirect("err", STDERR_FILENO);
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		execl(path, path, argument, NULL);
		_exit(127);
	}
	return wait_child(child);
}

/* Count the files that the program has written. */
static int count_files(void)
{
	DIR *directory = opendir(".");
	struct dirent *entry;
	int nr = 0;

	while ((entry = readdir(directory)))
		nr += entry->d_name[0] != '.' && strcmp(entry->d_name, "out") &&
		      strcmp(entry->d_name, "err") &&
		      strcmp(entry->d_name, "gprof");
	closedir(directory);
	return nr;
}

/* Write gprof's report on @file into the file gprof. */
static int print(const char *program, const char *file)
{
	char path[2 * PATH], command[4 * PATH];

	helper_path(path, sizeof(path), program);
	snprintf(command, sizeof(command), "gprof -b %s %s > gprof", path,
		 file);
	return system(command);
}

/* A function that was never called has no number of calls. */
static struct function parse_flat(const char *line, char *name)
{
	struct function function = { 0 };
	double seconds;

	name[0] = '\0';
	if (sscanf(line, "%*f %*f %lf %llu %*f %*f %63s", &seconds,
		   &function.calls, name) != 3 &&
	    sscanf(line, "%*f %*f %lf %63s", &seconds, name) != 2)
		return (struct function){ 0 };
	function.ticks = rint(seconds * 100);
	return function;
}

static struct function flat(const char *name)
{
	struct function function = { 0 };
	FILE *gprof = fopen("gprof", "r");
	char line[1024], found[NAME];

	while (fgets(line, sizeof(line), gprof) && !strstr(line, "Call graph")) {
		struct function parsed = parse_flat(line, found);

		if (!strcmp(found, name))
			function = parsed;
	}
	fclose(gprof);
	return function;
}

/*
 * Calls from one function to another: a function's callers precede its own
 * line, which begins with its index.
 */
static long long arc(const char *from, const char *to)
{
	FILE *gprof = fopen("gprof", "r");
	char line[1024], name[NAME];
	long long nr, calls = -1, found = -1;

	while (fgets(line, sizeof(line), gprof)) {
		if (line[0] == '-')
			calls = -1;
		else if (sscanf(line, " %*f %*f %lld/%*d %63s", &nr,
				name) == 2 && !strcmp(name, from))
			calls = nr;
		else if (sscanf(line, "[%*d] %*f %*f %*f %*s %63s",
				name) == 1 && !strcmp(name, to))
			found = calls;
	}
	fclose(gprof);
	return found;
}

#define EXPECT_CALLS(calls_, name)	EXPECT_EQ(calls_, flat(name).calls)

/* A thread's share in pg_shares.c, by its own clock and by gprof. */
struct share {
	double ns;
	double stalls;
	double ticks;
};

static bool read_shares(struct share *shares)
{
	FILE *out = fopen("out", "r");
	char name[NAME];
	int i;

	for (i = 0; i < 4; i++) {
		if (fscanf(out, "%lf %lf", &shares[i].ns,
			   &shares[i].stalls) != 2)
			break;
		snprintf(name, sizeof(name), "share_%d0", i + 1);
		shares[i].ticks = flat(name).ticks;
	}
	fclose(out);
	return i == 4;
}

static struct share sum_of(const struct share *shares)
{
	struct share sum = { 0 };

	for (int i = 0; i < 4; i++) {
		sum.ns += shares[i].ns;
		sum.ticks += shares[i].ticks;
		sum.stalls += shares[i].stalls;
	}
	return sum;
}

/* The part of the ticks that are not in the functions. */
static double outside(const struct share *shares)
{
	struct share sum = sum_of(shares);

	return fmax(0, 1 - sum.ticks / (sum.ns / (10 * MS)));
}

/*
 * All ticks of a stall fall either in the function or, with the probability
 * @out, in a function that it calls. Of 200 ticks a tenth is off by SIGMAS less
 * than once in five million times.
 */
static void check_shares(struct __test_metadata *_metadata,
			 const struct share *shares)
{
	const struct share sum = sum_of(shares);
	double out = outside(shares), stalls = sum.stalls * out * (1 - out);

	TH_LOG("outside of the functions: %.4f; variance for stalls: %.1f",
	       out, stalls);
	for (int i = 0; i < 4; i++) {
		double share = shares[i].ns / sum.ns;

		EXPECT_CHANCE("function", shares[i].ticks, share * sum.ticks,
			      share * (1 - share) * sum.ticks + stalls);
	}
}

FIXTURE(threads) {
	FIXTURE_DATA(gprof) gprof;
};

FIXTURE_VARIANT(threads) {
	const char *program;
	const char *preload;
	bool shares;
};

FIXTURE_VARIANT_ADD(threads, pie_preloaded) {
	.program = "pg_shares-pie",
	.preload = PRELOAD,
	.shares = true,
};

FIXTURE_VARIANT_ADD(threads, not_pie_preloaded) {
	.program = "pg_shares-nopie",
	.preload = PRELOAD,
	.shares = true,
};

FIXTURE_VARIANT_ADD(threads, static) {
	.program = "pg_shares-static",
	.shares = true,
};

FIXTURE_VARIANT_ADD(threads, static_pie) {
	.program = "pg_shares-static-pie",
	.shares = true,
};

FIXTURE_VARIANT_ADD(threads, dynamic_with_the_archive) {
	.program = "pg_shares-archive",
};

#ifdef __x86_64__
FIXTURE_VARIANT_ADD(threads, fentry_preloaded) {
	.program = "pg_shares-fentry",
	.preload = PRELOAD,
};
#endif

FIXTURE_SETUP(threads)
{
	gprof_setup(_metadata, &self->gprof, NULL);
}

FIXTURE_TEARDOWN(threads)
{
	gprof_teardown(_metadata, &self->gprof, NULL);
}

TEST_F(threads, every_call_and_the_shares_of_time)
{
	const char *program = variant->program;
	/* With sanitizers, half of the ticks are the kernel's */
	const double most = slack() > 1 ? 0.9 : 0.5;
	struct share shares[4];

	RUN_UNTIL(!variant->shares || outside(shares) < most, {
		ASSERT_EQ(0, run(variant->preload, program,
				 variant->shares ? "200" : "0"));
		ASSERT_EQ(0, print(program, "gmon.out"));
		ASSERT_TRUE(read_shares(shares));
	});
	ASSERT_EQ(1, count_files());
	EXPECT_FALSE(is_said("libprofil"));
	EXPECT_CALLS(1000000, "called");
	EXPECT_CALLS(4, "caller");
	EXPECT_CALLS(4, "work");
	EXPECT_CALLS(1, "share_10");
	EXPECT_CALLS(1, "share_40");
	EXPECT_CALLS(1, "compare");
	EXPECT_CALLS(1, "main");
	EXPECT_EQ(1000000, arc("caller", "called"));
	EXPECT_EQ(4, arc("work", "caller"));
	EXPECT_EQ(1, arc("work", "share_40"));
	if (variant->shares)
		check_shares(_metadata, shares);
}

/* Only for comparison: we promise nothing for this case. */
TEST_F(gprof, calls_that_the_c_library_counts)
{
	ASSERT_EQ(0, run(NULL, "pg_shares-pie", "0"));
	ASSERT_EQ(0, print("pg_shares-pie", "gmon.out"));
	TH_LOG("%llu of 1000000", flat("called").calls);
}

/* What pg_forks.c prints about itself. */
struct family {
	int parent;
	int children[2];
	unsigned long long meanwhile;
};

static struct family read_family(void)
{
	struct family family = { 0 };
	FILE *out = fopen("out", "r");

	if (fscanf(out, "%d %d %d %llu", &family.parent, &family.children[0],
		   &family.children[1], &family.meanwhile) != 4)
		family.parent = 0;
	fclose(out);
	return family;
}

static void check_parent(struct __test_metadata *_metadata,
			 const char *program, const struct family *family)
{
	ASSERT_EQ(0, print(program, "gmon.out"));
	EXPECT_CALLS(1500, "step");
	EXPECT_CALLS(family->meanwhile, "meanwhile");
	EXPECT_CALLS(0, "after");
	EXPECT_LT(0, flat("before").ticks);
	EXPECT_EQ(0, flat("after").ticks);
}

static void check_child(struct __test_metadata *_metadata,
			const char *program, int child, int steps, bool ticks)
{
	char name[NAME];

	snprintf(name, sizeof(name), "gmon.out.%d", child);
	ASSERT_EQ(0, print(program, name));
	EXPECT_CALLS(steps, "step");
	EXPECT_CALLS(0, "meanwhile");
	EXPECT_CALLS(1, "after");
	EXPECT_EQ(0, flat("before").ticks);
	if (ticks)
		EXPECT_LT(0, flat("after").ticks);
}

static void check_family(struct __test_metadata *_metadata,
			 const char *program)
{
	struct family family = read_family();

	ASSERT_LT(0, family.parent);
	EXPECT_EQ(3, count_files());
	EXPECT_FALSE(is_said("libprofil"));
	check_parent(_metadata, program, &family);
	check_child(_metadata, program, family.children[0], 77, true);
	/* In user space nobody notices a child that clone() makes */
	check_child(_metadata, program, family.children[1], 33,
		    !in_user_space());
}

TEST_F(gprof, a_forked_child_writes_its_own_part_to_a_file_of_its_own)
{
	ASSERT_EQ(0, run(PRELOAD, "pg_forks-pie", NULL));
	check_family(_metadata, "pg_forks-pie");
}

TEST_F(gprof, a_forked_child_of_a_static_program_does_too)
{
	ASSERT_EQ(0, run(NULL, "pg_forks-static", NULL));
	check_family(_metadata, "pg_forks-static");
}

static bool is_there(int process)
{
	char name[NAME];

	snprintf(name, sizeof(name), "pre.fix.%d", process);
	return !access(name, R_OK);
}

TEST_F(gprof, the_prefix_of_the_environment_is_heeded)
{
	struct family family;

	setenv("GMON_OUT_PREFIX", "pre.fix", 1);
	ASSERT_EQ(0, run(PRELOAD, "pg_forks-pie", NULL));
	family = read_family();
	EXPECT_EQ(3, count_files());
	EXPECT_TRUE(is_there(family.parent));
	EXPECT_TRUE(is_there(family.children[0]));
	EXPECT_TRUE(is_there(family.children[1]));
}

/* The C library does the same. */
TEST_F(gprof, a_prefix_that_leads_nowhere_is_not)
{
	setenv("GMON_OUT_PREFIX", "not/there", 1);
	ASSERT_EQ(0, run(PRELOAD, "pg_shares-pie", "0"));
	EXPECT_EQ(1, count_files());
	EXPECT_EQ(0, access("gmon.out", R_OK));
}

static void check_control(struct __test_metadata *_metadata,
			  const char *program)
{
	EXPECT_FALSE(is_said("libprofil"));
	ASSERT_EQ(0, print(program, "gmon.out"));
	EXPECT_CALLS(15, "step");
	EXPECT_CALLS(0, "hidden");
	EXPECT_EQ(0, flat("hidden").ticks);
	EXPECT_LT(0, flat("first").ticks);
	EXPECT_LT(0, flat("second").ticks);
}

TEST_F(gprof, moncontrol_stops_and_goes_on)
{
	ASSERT_EQ(0, run(PRELOAD, "pg_control-nopie", NULL));
	check_control(_metadata, "pg_control-nopie");
	ASSERT_EQ(0, run(NULL, "pg_control-static", NULL));
	check_control(_metadata, "pg_control-static");
}

static void check_own(struct __test_metadata *_metadata, const char *program)
{
	EXPECT_FALSE(is_said("libprofil"));
	ASSERT_EQ(0, print(program, "gmon.out"));
	EXPECT_CALLS(7, "step");
	EXPECT_LT(0, flat("busy").ticks);
}

TEST_F(gprof, a_program_with_a_moncontrol_of_its_own_is_counted)
{
	ASSERT_EQ(0, run(PRELOAD, "pg_own-pie", NULL));
	check_own(_metadata, "pg_own-pie");
	ASSERT_EQ(0, run(NULL, "pg_own-static", NULL));
	check_own(_metadata, "pg_own-static");
}

TEST_F(gprof, a_program_that_ends_the_profile_is_told_so)
{
	ASSERT_EQ(0, run(PRELOAD, "pg_control-nopie", "profil"));
	EXPECT_TRUE(is_said("time may be incomplete"));
	ASSERT_EQ(0, run(NULL, "pg_control-static", "profil"));
	EXPECT_TRUE(is_said("time may be incomplete"));
}

TEST_F(gprof, a_full_counter_stays_full_and_that_is_said)
{
	ASSERT_EQ(0, run(NULL, "pg_full-static", NULL));
	EXPECT_TRUE(is_said("counters are full"));
	ASSERT_EQ(0, print("pg_full-static", "gmon.out"));
	EXPECT_LE(65535, flat("spin").ticks);
}

TEST_HARNESS_MAIN
