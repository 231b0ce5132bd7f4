// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_tool.c - tools/profil runs programs as they are, and tells the truth
 *
 * helpers/workload is run under it, in its variants, and what it says of
 * itself compared with the file. Without the module the same is asked of
 * perf_event_open(), if that is permitted.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "../tools/prf.h"

#define ARGUMENTS	12

/* A run, and what came of it. */
FIXTURE(tool) {
	char directory[32];
	char file[64];
	char tool[4096];
	char program[4096];
	int status;
	char said[4096];
	char complained[4096];
	struct prf prf;
};

/* What the tool does without the module is for the system to allow. */
static bool sampling_permitted(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.exclude_kernel = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			 PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Before any test. */
static void __attribute__((constructor)) need_a_clock(void)
{
	if (access(PROFIL_DEVICE, F_OK) && !sampling_permitted())
		ksft_exit_skip("no module, and perf_event_open is refused\n");
}

FIXTURE_SETUP(tool)
{
	char path[4000];

	helper_path(path, sizeof(path), "");
	snprintf(self->tool, sizeof(self->tool), "%s../../tools/profil", path);
	ASSERT_EQ(0, access(self->tool, X_OK));
	strcpy(self->directory, "/tmp/profil_tool.XXXXXX");
	ASSERT_TRUE(mkdtemp(self->directory));
	snprintf(self->file, sizeof(self->file), "%s/prf", self->directory);
	self->status = -1;
}

FIXTURE_TEARDOWN(tool)
{
	prf_free(&self->prf);
	unlink(self->file);
	rmdir(self->directory);
}

/* All that comes, up to @size - 1 bytes. */
static void take(int fd, char *text, size_t size)
{
	size_t length = 0;
	ssize_t got;

	while (length < size - 1 &&
	       (got = read(fd, text + length, size - 1 - length)) > 0)
		length += got;
	text[length] = '\0';
	close(fd);
}

/* Start the tool, with options if @options is not NULL; its process. */
static pid_t start(FIXTURE_DATA(tool) *self, const char *variant,
		   const char *options, const char *const *deeds, int pipes[3])
{
	char *argv[ARGUMENTS + 6] = { self->tool, "-o", self->file };
	int in[2], out[2], error[2], n = 3;
	pid_t child;

	helper_path(self->program, sizeof(self->program), variant);
	if (options)
		argv[n++] = (char *)options;
	argv[n++] = "--";
	argv[n++] = self->program;
	while (*deeds)
		argv[n++] = (char *)*deeds++;
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) ||
	    pipe2(error, O_CLOEXEC))
		return -1;
	child = fork();
	if (!child) {
		setpgid(0, 0);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		dup2(error[1], STDERR_FILENO);
		execv(argv[0], argv);
		_exit(99);
	}
	close(in[0]);
	close(out[1]);
	close(error[1]);
	pipes[0] = in[1];
	pipes[1] = out[0];
	pipes[2] = error[0];
	return child;
}

static void load(FIXTURE_DATA(tool) *self)
{
	struct prf_error error;
	size_t size = 0;
	void *data = NULL;
	struct stat stat;
	FILE *file = fopen(self->file, "r");

	if (!file)
		return;
	if (!fstat(fileno(file), &stat)) {
		data = malloc(stat.st_size);
		size = fread(data, 1, stat.st_size, file);
	}
	fclose(file);
	if (prf_read(data, size, &self->prf, &error)) {
		fprintf(stderr, "# %s at %llu\n", error.text,
			(unsigned long long)error.offset);
		memset(&self->prf, 0, sizeof(self->prf));
	}
	free(data);
}

static void finish(FIXTURE_DATA(tool) *self, pid_t child, int pipes[3])
{
	size_t length = strlen(self->said);

	close(pipes[0]);
	take(pipes[1], self->said + length, sizeof(self->said) - length);
	take(pipes[2], self->complained, sizeof(self->complained));
	waitpid(child, &self->status, 0);
	load(self);
}

static void run(FIXTURE_DATA(tool) *self, const char *variant,
		const char *const *deeds)
{
	int pipes[3];
	pid_t child = start(self, variant, NULL, deeds, pipes);

	finish(self, child, pipes);
}

#define RUN(variant, ...) do { \
	static const char *const deeds[] = { __VA_ARGS__, NULL }; \
	run(self, variant, deeds); \
} while (0)

/* Ticks of an image between two addresses. */
static double ticks_between(const struct prf_image *image, uint64_t start,
			    uint64_t end)
{
	uint64_t ticks = 0;
	size_t i, j;

	for (i = 0; i < image->nr; i++) {
		const struct prf_object *object = &image->objects[i];

		if (object->kind != PRF_PROGRAM)
			continue;
		for (j = 0; j < object->nr; j++) {
			uint64_t pc = object->start + object->buckets[j].offset;

			if (pc >= start && pc < end)
				ticks += object->buckets[j].count;
		}
	}
	return ticks;
}

/* What the program says of a function, in all its threads and children. */
struct function {
	uint64_t start;
	uint64_t end;
	double ns;
};

static struct function function_of(const char *said, const char *name,
				   int skip)
{
	struct function function = { 0 };
	unsigned long start, end;
	unsigned long long ns;
	size_t length = strlen(name);
	const char *line;

	for (line = said; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) ||
		    sscanf(line + length, " %lx %lx %llu", &start, &end,
			   &ns) != 3 || skip-- > 0)
			continue;
		/* Of another image, at other addresses */
		if (function.start && function.start != start)
			continue;
		function.start = start;
		function.end = end;
		function.ns += ns;
	}
	return function;
}

#define EXPECT_FUNCTION(image, name, skip) do { \
	struct function of = function_of(self->said, name, skip); \
	double due = of.ns / self->prf.period_ns; \
	ASSERT_LT(0, of.ns); \
	EXPECT_CHANCE(name, ticks_between(image, of.start, of.end), due, \
		      due); \
} while (0)

#define EXPECT_BOTH(image, skip) do { \
	EXPECT_FUNCTION(image, "often", skip); \
	EXPECT_FUNCTION(image, "seldom", skip); \
} while (0)

#define EXPECT_EXIT(code) do { \
	EXPECT_TRUE(WIFEXITED(self->status)); \
	EXPECT_EQ(code, WEXITSTATUS(self->status)); \
	EXPECT_EQ(PRF_EXITED, self->prf.exit_kind); \
	EXPECT_EQ(code, self->prf.exit_code); \
} while (0)

#define EXPECT_SIGNAL(signal) do { \
	EXPECT_TRUE(WIFSIGNALED(self->status)); \
	EXPECT_EQ(signal, WTERMSIG(self->status)); \
	EXPECT_EQ(PRF_SIGNALLED, self->prf.exit_kind); \
	EXPECT_EQ(signal, self->prf.exit_code); \
} while (0)

/* Ticks and the CPU time that was covered, within chance. */
#define EXPECT_SUM(image) do { \
	double due = (double)(image)->covered_ns / self->prf.period_ns; \
	EXPECT_EQ((image)->ticks, (image)->counted + (image)->lost); \
	EXPECT_CHANCE("ticks", (image)->ticks, due, due); \
} while (0)

TEST_F(tool, position_independent)
{
	RUN("workload", "burn", "7");
	EXPECT_EXIT(7);
	ASSERT_EQ(1, self->prf.nr);
	EXPECT_STREQ(self->program, self->prf.images[0].name);
	EXPECT_BOTH(&self->prf.images[0], 0);
	EXPECT_SUM(&self->prf.images[0]);
}

TEST_F(tool, static_program)
{
	RUN("workload-static", "burn", "0");
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->prf.nr);
	EXPECT_BOTH(&self->prf.images[0], 0);
	EXPECT_SUM(&self->prf.images[0]);
}

TEST_F(tool, threads)
{
	RUN("workload", "threads", "_exit");
	EXPECT_EXIT(3);
	ASSERT_EQ(1, self->prf.nr);
	EXPECT_BOTH(&self->prf.images[0], 0);
	EXPECT_SUM(&self->prf.images[0]);
}

/* A child is of its parent's image. */
TEST_F(tool, children)
{
	RUN("workload", "fork", "burn", "0");
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->prf.nr);
	EXPECT_BOTH(&self->prf.images[0], 0);
}

/* One that executes a program has an image of its own. */
TEST_F(tool, programs)
{
	RUN("workload", "burn", "exec", "1");
	EXPECT_EXIT(1);
	ASSERT_EQ(2, self->prf.nr);
	EXPECT_EQ(self->prf.images[0].pid, self->prf.images[1].ppid);
	EXPECT_STREQ(self->program, self->prf.images[1].name);
	EXPECT_BOTH(&self->prf.images[0], 0);
	EXPECT_BOTH(&self->prf.images[1], 1);
}

TEST_F(tool, crash)
{
	RUN("workload", "burn", "crash");
	EXPECT_SIGNAL(SIGSEGV);
	ASSERT_EQ(1, self->prf.nr);
	EXPECT_BOTH(&self->prf.images[0], 0);
}

TEST_F(tool, killed)
{
	RUN("workload", "burn", "kill");
	EXPECT_SIGNAL(SIGKILL);
	ASSERT_EQ(1, self->prf.nr);
	EXPECT_BOTH(&self->prf.images[0], 0);
}

/* The note of the linker in the code that the kernel gives to all programs. */
static const uint8_t *vdso_build_id(void)
{
	static const uint8_t note[] = "\4\0\0\0\24\0\0\0\3\0\0\0GNU";
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	const uint8_t *found = vdso ? memmem(vdso, 4096, note, sizeof(note)) :
				      NULL;

	return found ? found + sizeof(note) : NULL;
}

TEST_F(tool, build_id_of_vdso)
{
	const uint8_t *wanted = vdso_build_id();
	const struct prf_image *image;
	size_t i, found = 0;

	ASSERT_TRUE(wanted);
	RUN("workload", "0");
	ASSERT_EQ(1, self->prf.nr);
	image = &self->prf.images[0];
	for (i = 0; i < image->nr; i++) {
		if (image->objects[i].kind != PRF_VDSO)
			continue;
		found++;
		EXPECT_STREQ("[vdso]", image->objects[i].path);
		EXPECT_EQ(20, image->objects[i].build_id_len);
		EXPECT_EQ(0, memcmp(image->objects[i].build_id, wanted, 20));
	}
	EXPECT_EQ(1, found);
}

TEST_F(tool, standard_streams)
{
	static const char *const deeds[] = { "copy", NULL };
	int pipes[3];
	pid_t child = start(self, "workload", NULL, deeds, pipes);

	EXPECT_EQ(9, write(pipes[0], "\1\2\n three", 9));
	finish(self, child, pipes);
	EXPECT_EXIT(0);
	EXPECT_STREQ("\1\2\n three", self->said);
	EXPECT_TRUE(strstr(self->complained, "profil: "));
}

/* As from a terminal: to the tool and the program. */
TEST_F(tool, interrupted)
{
	static const char *const deeds[] = { "interrupt", "5", NULL };
	int pipes[3];
	pid_t child = start(self, "workload", NULL, deeds, pipes);

	self->said[0] = '\0';
	if (read(pipes[1], self->said, 6) == 6)
		kill(-child, SIGINT);
	finish(self, child, pipes);
	EXPECT_EXIT(5);
	EXPECT_STREQ("ready\ninterrupts 1\n", self->said);
}

/* Every tick is in user mode, or left out. */
TEST_F(tool, user_only)
{
	static const char *const deeds[] = { "burn", NULL };
	int pipes[3];
	pid_t child = start(self, "workload", "--user-only", deeds, pipes);

	finish(self, child, pipes);
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->prf.nr);
	EXPECT_EQ(PRF_FLAG_USER_ONLY, self->prf.flags);
	EXPECT_FUNCTION(&self->prf.images[0], "seldom", 0);
}

TEST_F(tool, no_such_program)
{
	struct stat stat_buffer;

	RUN("no-such-program", "0");
	EXPECT_TRUE(WIFEXITED(self->status));
	EXPECT_EQ(127, WEXITSTATUS(self->status));
	EXPECT_EQ(-1, stat(self->file, &stat_buffer));
}

TEST_HARNESS_MAIN
