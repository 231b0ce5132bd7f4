// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_files.c - what tools/profil asks, and which files it writes
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "tool/tool.h"
#include "tool/fixture.h"
#include "../tools/dos_prf.h"

/* How often it is there. */
static int times(const char *text, const char *what)
{
	int nr = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		nr++;
	}
	return nr;
}

/* A process and its child, which spend the same time in the same places. */
TEST_F(tool, file_for_each_process)
{
	struct prf files[3];
	struct function both, of;
	int parent, child;

	tool_run(&self->run, LIST("-p"), "workload",
		 LIST("fork", "burn", "9"));
	EXPECT_FALSE(tool_has_file(&self->run, "out.prf"));
	ASSERT_EQ(2, tool_load_all(&self->run, files, 3));
	parent = files[1].images[0].ppid == files[0].images[0].pid ? 0 : 1;
	child = !parent;
	EXPECT_EQ(files[parent].images[0].pid, files[child].images[0].ppid);
	EXPECT_EQ(9, files[parent].exit_code);
	EXPECT_EQ(0, files[child].exit_code);
	both = function_of(self->run.said, "often", 0);
	of = function_of(self->run.said, "often", 1);
	EXPECT_CHANCE("in the parent",
		      ticks_between(&files[parent].images[0],
				    self->run.program, of.start, of.end),
		      of.ns / files[0].period_ns, of.ns / files[0].period_ns);
	of.ns = both.ns - of.ns;
	EXPECT_CHANCE("in the child",
		      ticks_between(&files[child].images[0],
				    self->run.program, of.start, of.end),
		      of.ns / files[0].period_ns, of.ns / files[0].period_ns);
	prf_free(&files[0]);
	prf_free(&files[1]);
}

/* A child that executes a program: what it was before is in its file, too. */
TEST_F(tool, file_for_each_process_and_its_programs)
{
	struct prf files[3];
	int child;

	tool_run(&self->run, LIST("-p"), "workload", LIST("exec", "0"));
	ASSERT_EQ(2, tool_load_all(&self->run, files, 3));
	child = files[1].images[0].ppid == files[0].images[0].pid;
	EXPECT_EQ(1, files[!child].nr);
	ASSERT_EQ(2, files[child].nr);
	EXPECT_EQ(files[child].images[0].pid, files[child].images[1].pid);
	self->run.prf.period_ns = files[child].period_ns;
	EXPECT_BOTH(&files[child].images[1], 0);
	prf_free(&files[0]);
	prf_free(&files[1]);
}

static int load_dos(const struct tool *tool, struct dos_prf *dos)
{
	static uint8_t data[18 + 2 * 65535];
	struct prf_error error;
	char path[64];
	int size, fd;

	snprintf(path, sizeof(path), "%s/out.PRF", tool->directory);
	fd = open(path, O_RDONLY);
	size = read(fd, data, sizeof(data));
	close(fd);
	return dos_prf_read(data, size < 0 ? 0 : size, dos, &error);
}

/* Every tick is a hit of one kind, and those of the kernel are of I/O. */
TEST_F(tool, file_of_dos)
{
	struct dos_prf dos;
	uint64_t hits;
	int i;

	tool_run(&self->run, LIST("--dos"), "workload", LIST("burn", "0"));
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->run.prf.nr);
	ASSERT_EQ(0, load_dos(&self->run, &dos));
	EXPECT_EQ(1, dos.bucket_siz);
	EXPECT_GE(1, llabs((long long)self->run.prf.period_ns / 1000 -
			   dos.clock_grain));
	EXPECT_EQ(self->run.prf.images[0].kernel_count, dos.hit_io);
	hits = dos.hit_io + dos.hit_dos + dos.hit_high;
	for (i = 0; i < dos.bucket_num; i++)
		hits += dos.buckets[i];
	EXPECT_EQ(self->run.prf.images[0].ticks,
		  hits + self->run.prf.images[0].lost);
	EXPECT_BOTH(&self->run.prf.images[0], 0);
	free(dos.buckets);
}

static void remove_directory(const struct tool *tool, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", tool->directory, name);
	rmdir(path);
}

/* It is known before the program runs, and then there is no other file. */
TEST_F(tool, file_of_dos_that_cannot_be_written)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/out.PRF", self->run.directory);
	ASSERT_EQ(0, mkdir(path, 0700));
	tool_run(&self->run, LIST("--dos"), "/bin/echo", LIST("ran"));
	EXPECT_TRUE(WIFEXITED(self->run.status));
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_EQ(1, times(self->run.complained, "out.PRF: Is a directory"));
	EXPECT_STREQ("", self->run.said);
	EXPECT_FALSE(tool_has_file(&self->run, "out.prf"));
	remove_directory(&self->run, "out.PRF");
}

/* If it only turns out in the end, the other file is there. */
TEST_F(tool, file_of_dos_that_has_become_impossible)
{
	tool_run(&self->run, LIST("--dos"), "/bin/sh",
		 LIST("-c", "rm out.PRF; mkdir out.PRF; exit 3"));
	EXPECT_TRUE(WIFEXITED(self->run.status));
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_EQ(1, times(self->run.complained, "out.PRF: Is a directory"));
	EXPECT_EQ(1, times(self->run.complained, " in out.prf"));
	EXPECT_EQ(3, self->run.prf.exit_code);
	EXPECT_EQ(3, self->run.prf.nr);
	remove_directory(&self->run, "out.PRF");
}

/* One file that cannot be written does not keep others from it. */
TEST_F(tool, file_for_each_process_but_one)
{
	struct prf file;
	char name[64];
	int pid;

	tool_run(&self->run, LIST("-p"), "/bin/sh",
		 LIST("-c", "mkdir out.$$.prf; echo $$; exit 3"));
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	pid = atoi(self->run.said);
	snprintf(name, sizeof(name), "out.%d.prf", pid);
	remove_directory(&self->run, name);
	ASSERT_EQ(1, tool_load_all(&self->run, &file, 1));
	EXPECT_EQ(pid, file.images[0].ppid);
	prf_free(&file);
}

/* If nothing is run nothing is left. */
TEST_F(tool, no_files_of_no_program)
{
	tool_run(&self->run, LIST("--dos"), "/no/such/program", NO_OPTIONS);
	EXPECT_EQ(127, WEXITSTATUS(self->run.status));
	EXPECT_FALSE(tool_has_file(&self->run, "out.prf"));
	EXPECT_FALSE(tool_has_file(&self->run, "out.PRF"));
}

/* Bad answers are asked again, and what comes after them is the program's. */
TEST_F(tool, questions)
{
	static const char answers[] =
		"none\n0\n-1\n2 3\n3\n59\n1e3\n500\n\"copy\n'copy' \"7\"\nthe rest";
	struct dos_prf dos;
	int pipes[3];
	pid_t child = tool_start(&self->run, LIST("-i"), "workload",
				 NO_OPTIONS, pipes);

	EXPECT_EQ(sizeof(answers) - 1,
		  write(pipes[0], answers, sizeof(answers) - 1));
	tool_finish(&self->run, child, pipes);
	EXPECT_EXIT(7);
	EXPECT_STREQ("the rest", self->run.said);
	EXPECT_EQ(5, times(self->run.complained, "Paragraphs"));
	EXPECT_EQ(3, times(self->run.complained, "Clock interval"));
	EXPECT_EQ(2, times(self->run.complained, "Parameters"));
	EXPECT_EQ(1, times(self->run.complained,
			   "program terminated with status 7"));
	ASSERT_EQ(0, load_dos(&self->run, &dos));
	EXPECT_EQ(3, dos.bucket_siz);
	EXPECT_EQ(16, self->run.prf.images[0].objects[0].bucket_bytes);
	if (tool_has_module())
		EXPECT_EQ(500000, self->run.prf.period_ns);
	free(dos.buckets);
}

TEST_F(tool, questions_without_answers)
{
	int pipes[3];
	pid_t child = tool_start(&self->run, LIST("-i"), "workload",
				 NO_OPTIONS, pipes);

	EXPECT_EQ(2, write(pipes[0], "4\n", 2));
	tool_finish(&self->run, child, pipes);
	EXPECT_TRUE(WIFEXITED(self->run.status));
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_EQ(1, times(self->run.complained, "no answer"));
	EXPECT_FALSE(tool_has_file(&self->run, "out.prf"));
}

TEST_F(tool, says_how_it_ended)
{
	RUN("workload", "0");
	EXPECT_EQ(1, times(self->run.complained,
			   "program terminated normally"));
	RUN("workload", "crash");
	EXPECT_EQ(1, times(self->run.complained,
			   "program terminated by signal 11 (Segmentation fault)"));
}

/* What the module says of itself in the end is in the file. */
TEST_F(tool, numbers_of_the_kernel)
{
	const struct prf_image *image;
	struct function system;
	double due;

	if (!tool_has_module())
		SKIP(return, "these are the module's");
	tool_run(&self->run, LIST("--user-only"), "workload",
		 LIST("system", "burn", "0"));
	ASSERT_EQ(1, self->run.prf.nr);
	image = &self->run.prf.images[0];
	EXPECT_SUM(image);
	EXPECT_EQ(image->kernel, image->left_out);
	EXPECT_EQ(0, image->lost);
	system = function_of(self->run.said, "system", 0);
	due = system.ns / self->run.prf.period_ns;
	TH_LOG("in the kernel %llu, in system calls %.0f",
	       (unsigned long long)image->kernel, due);
	/* Other calls come to that, and the way into the kernel is not it */
	EXPECT_LT(0.8 * due - SIGMAS * 20, image->kernel);
	EXPECT_BOTH(image, 0);
}

/* Apart from the program, unless one asks for it where it was called. */
TEST_F(tool, kernel_by_caller_or_apart)
{
	const struct prf_image *image;

	RUN("workload", "system", "burn", "0");
	ASSERT_EQ(1, self->run.prf.nr);
	image = &self->run.prf.images[0];
	EXPECT_SUM(image);
	EXPECT_LT(0, image->kernel);
	EXPECT_EQ(image->kernel, image->kernel_count);
	EXPECT_EQ(0, image->left_out);
	EXPECT_BOTH(image, 0);

	self->run.said[0] = '\0';
	prf_free(&self->run.prf);
	tool_run(&self->run, LIST("--kernel-by-caller"), "workload",
		 LIST("system", "burn", "0"));
	ASSERT_EQ(1, self->run.prf.nr);
	image = &self->run.prf.images[0];
	EXPECT_SUM(image);
	EXPECT_LT(0, image->kernel);
	EXPECT_EQ(0, image->kernel_count);
	EXPECT_EQ(0, image->left_out);
	EXPECT_BOTH(image, 0);

	tool_run(&self->run, LIST("--kernel-by-caller", "--user-only"),
		 "workload", NO_OPTIONS);
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_EQ(1, times(self->run.complained, "exclude each other"));
}

/* What was counted for a child that was there before a library came. */
TEST_F(tool, numbers_of_replaced_profiles)
{
	const struct prf_image *image;
	char library[4096];

	helper_path(library, sizeof(library), "library/first.so");
	tool_run(&self->run, NO_OPTIONS, "opener",
		 LIST("open", library, "close", "open", library));
	ASSERT_EQ(1, self->run.prf.nr);
	image = &self->run.prf.images[0];
	EXPECT_SUM(image);
	TH_LOG("CPU time %.3f s, covered %.3f s", image->cpu_ns / 1e9,
	       image->covered_ns / 1e9);
	EXPECT_LT(0.8 * image->cpu_ns, image->covered_ns);
}

/* Nobody reads what it has to say: it goes on; the program ends by the signal. */
TEST_F(tool, nobody_listens)
{
	static const char script[] =
		"(exit 5); echo; (trap - PIPE; exec cat /proc/self/status); exit 3";
	struct prf files[4];
	int pipes[3], nr;
	pid_t child;

	child = tool_start(&self->run, LIST("-p"), "/bin/sh",
			   LIST("-c", script), pipes);
	close(pipes[2]);
	pipes[2] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	tool_finish(&self->run, child, pipes);
	EXPECT_TRUE(WIFEXITED(self->run.status));
	EXPECT_EQ(3, WEXITSTATUS(self->run.status));
	EXPECT_TRUE(strstr(self->run.said, "SigIgn:\t0000000000000000\n"));
	nr = tool_load_all(&self->run, files, 4);
	EXPECT_EQ(3, nr);
	while (nr)
		prf_free(&files[--nr]);
}

/* Files that may be written, and of what size; each test is a process. */
static int limit_size(rlim_t now, rlim_t most)
{
	const struct rlimit limit = { now, most };

	return setrlimit(RLIMIT_FSIZE, &limit);
}

/* The counters are in a file, but not one of the user's: his are the program's. */
TEST_F(tool, limit_of_file_size)
{
	ASSERT_EQ(0, limit_size(16384, RLIM_INFINITY));
	RUN("/bin/sh", "-c", "ulimit -f; exit 3");
	EXPECT_EXIT(3);
	EXPECT_STREQ("32\n", self->run.said);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_EQ(PRF_FOLLOWED, self->run.prf.images[0].reach);
	EXPECT_EQ(0, times(self->run.complained, "elsewhere"));
}

/* As large as they may be; and where that is too small, without them. */
TEST_F(tool, least_file_size)
{
	ASSERT_EQ(0, limit_size(8 << 20, 8 << 20));
	RUN("workload", "burn", "3");
	EXPECT_EXIT(3);
	EXPECT_EQ(0, times(self->run.complained, "elsewhere"));
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_BOTH(&self->run.prf.images[0], 0);
	prf_free(&self->run.prf);

	ASSERT_EQ(0, limit_size(4096, 4096));
	RUN("workload", "4");
	EXPECT_EXIT(4);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_EQ(PRF_NOT_REACHED, self->run.prf.images[0].reach);
	EXPECT_TRUE(strstr(self->run.prf.images[0].reason, "File too large"));
	EXPECT_EQ(1, times(self->run.complained, "File too large"));
}

/* The user's limit is that of the profile. */
TEST_F(tool, file_size_of_the_profile)
{
	ASSERT_EQ(0, limit_size(256, RLIM_INFINITY));
	RUN("workload", "0");
	EXPECT_TRUE(WIFEXITED(self->run.status));
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_EQ(1, times(self->run.complained, "out.prf: File too large"));
	EXPECT_FALSE(tool_has_file(&self->run, "out.prf"));
}

/* Room for the program's counters, but not for those of the C library. */
#define NO_LIBRARIES	(512 << 10)

TEST_F(tool, no_counters_for_libraries)
{
	const struct prf_image *image;
	struct function system;

	ASSERT_EQ(0, limit_size(NO_LIBRARIES, NO_LIBRARIES));
	tool_run(&self->run, LIST("--kernel-by-caller"), "workload",
		 LIST("system", "burn", "3"));
	EXPECT_EXIT(3);
	EXPECT_EQ(1, times(self->run.complained,
			   "libraries count as elsewhere"));
	ASSERT_EQ(1, self->run.prf.nr);
	image = &self->run.prf.images[0];
	EXPECT_BOTH(image, 0);
	system = function_of(self->run.said, "system", 0);
	/* Those are of calls that the C library makes */
	if (!(self->run.prf.flags & PRF_FLAG_USER_ONLY))
		EXPECT_LT(0.8 * system.ns / self->run.prf.period_ns,
			  ticks_between(image, "[elsewhere]", 0, UINT64_MAX));
}

/* Nor in a child that is apart from its parent. */
TEST_F(tool, no_counters_for_libraries_of_a_child)
{
	struct prf files[3];
	int i, nr;

	ASSERT_EQ(0, limit_size(NO_LIBRARIES, NO_LIBRARIES));
	tool_run(&self->run, LIST("-p"), "/bin/sh",
		 LIST("-c", "(while [ $((i += 1)) -lt 50000 ]; do :; done); :"));
	nr = tool_load_all(&self->run, files, 3);
	EXPECT_EQ(2, nr);
	for (i = 0; i < nr; i++) {
		const struct prf_image *image = &files[i].images[0];

		EXPECT_EQ(PRF_FOLLOWED, image->reach);
		if (tool_has_module())
			EXPECT_EQ(0, image->lost);
		prf_free(&files[i]);
	}
}

/* It is the program, whatever it is called. */
TEST_F(tool, name_with_a_newline)
{
	static const char script[] =
		"cp \"$0\" 'a\n\nb' && \"./a\n\nb\" burn 3";
	const struct prf_image *image;
	char path[4096];

	helper_path(path, sizeof(path), "workload");
	RUN("/bin/sh", "-c", script, path);
	EXPECT_EXIT(3);
	ASSERT_LT(0, self->run.prf.nr);
	image = &self->run.prf.images[self->run.prf.nr - 1];
	EXPECT_TRUE(strstr(image->name, "/a\n\nb"));
	ASSERT_LT(0, image->nr);
	EXPECT_EQ(PRF_PROGRAM, image->objects[0].kind);
	EXPECT_STREQ(image->name, image->objects[0].path);
	EXPECT_LT(0, image->objects[0].build_id_len);
}

#define CORE_PATTERN	"/proc/sys/kernel/core_pattern"

static int read_core_pattern(char *pattern, size_t size)
{
	FILE *file = fopen(CORE_PATTERN, "r");
	const char *got = file ? fgets(pattern, size, file) : NULL;

	if (file)
		fclose(file);
	return got ? 0 : -1;
}

/* For all programs of the machine. */
static int write_core_pattern(const char *pattern)
{
	FILE *file = fopen(CORE_PATTERN, "w");
	int failed = !file || fputs(pattern, file) < 0;

	if (file && fclose(file))
		failed = -1;
	return failed;
}

/* It is the program's, even where it goes into a pipe. */
TEST_F(tool, one_core)
{
	char before[256], pipe[256];

	if (!tool_has_module() || getuid())
		SKIP(return, "this changes where the cores of all programs go");
	snprintf(pipe, sizeof(pipe), "|/usr/bin/tee %s/core.%%e",
		 self->run.directory);
	ASSERT_EQ(0, read_core_pattern(before, sizeof(before)));
	ASSERT_EQ(0, write_core_pattern(pipe));
	RUN("workload", "crash");
	EXPECT_EQ(0, write_core_pattern(before));
	EXPECT_SIGNAL(SIGSEGV);
	EXPECT_TRUE(tool_has_file(&self->run, "core.workload"));
	EXPECT_FALSE(tool_has_file(&self->run, "core.profil"));
}

TEST_HARNESS_MAIN
