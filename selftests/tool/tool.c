// SPDX-License-Identifier: GPL-2.0-only
/*
 * tool.c - what the tests of tools/profil share
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest.h"
#include "common.h"
#include "tool/tool.h"

#define ARGUMENTS	24

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

bool tool_has_module(void)
{
	return !access(PROFIL_DEVICE, F_OK);
}

bool tool_has_helper(const char *name)
{
	char path[4096];

	helper_path(path, sizeof(path), name);
	return !access(path, X_OK);
}

bool tool_has_clock(void)
{
	return tool_has_module() || sampling_permitted();
}

/* Before any test. */
static void __attribute__((constructor)) need_a_clock(void)
{
	if (!tool_has_clock())
		ksft_exit_skip("no module, and perf_event_open is refused\n");
}

int tool_make(struct tool *tool)
{
	char path[4000];

	helper_path(path, sizeof(path), "");
	snprintf(tool->tool, sizeof(tool->tool), "%s../../tools/profil", path);
	strcpy(tool->directory, "/tmp/profil_tool.XXXXXX");
	tool->status = -1;
	return access(tool->tool, X_OK) || !mkdtemp(tool->directory);
}

void tool_free(struct tool *tool)
{
	DIR *directory = opendir(tool->directory);
	struct dirent *entry;

	prf_free(&tool->prf);
	while (directory && (entry = readdir(directory)))
		unlinkat(dirfd(directory), entry->d_name, 0);
	if (directory)
		closedir(directory);
	rmdir(tool->directory);
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

/**
 * tool_start() - start the tool
 * @tool: the run
 * @options: of the tool, besides -o
 * @helper: what it is to run: a path, or the name of a helper
 * @deeds: what the helper is to do
 * @pipes: receives its standard input, output and error
 *
 * Return: its process.
 */
pid_t tool_start(struct tool *tool, const char *const *options,
		 const char *helper, const char *const *deeds, int pipes[3])
{
	char *argv[ARGUMENTS + 1] = { tool->tool, "-o", "out.prf" };
	int in[2], out[2], error[2], n = 3;
	pid_t child;

	if (helper[0] == '/')
		snprintf(tool->program, sizeof(tool->program), "%s", helper);
	else
		helper_path(tool->program, sizeof(tool->program), helper);
	while (*options)
		argv[n++] = (char *)*options++;
	argv[n++] = "--";
	argv[n++] = tool->program;
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
		if (!chdir(tool->directory))
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

bool tool_has_file(const struct tool *tool, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", tool->directory, name);
	return !access(path, F_OK);
}

/** tool_load() - read a file that the tool has written; 0 or -1 */
int tool_load(const struct tool *tool, const char *name, struct prf *prf)
{
	struct prf_error error = { .text = "not there" };
	char path[512];
	size_t size = 0;
	void *data = NULL;
	struct stat stat;
	int failed = -1;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", tool->directory, name);
	file = fopen(path, "r");
	if (file && !fstat(fileno(file), &stat)) {
		data = malloc(stat.st_size);
		size = fread(data, 1, stat.st_size, file);
		failed = prf_read(data, size, prf, &error);
	}
	if (failed) {
		fprintf(stderr, "# %s: %s at %llu\n", name, error.text,
			(unsigned long long)error.offset);
		memset(prf, 0, sizeof(*prf));
	}
	if (file)
		fclose(file);
	free(data);
	return failed;
}

/** tool_load_all() - all but "out.prf", up to @most; their number */
int tool_load_all(const struct tool *tool, struct prf *files, int most)
{
	DIR *directory = opendir(tool->directory);
	struct dirent *entry;
	int nr = 0;

	while (nr < most && (entry = readdir(directory))) {
		const char *ending = strrchr(entry->d_name, '.');

		if (strcmp(entry->d_name, "out.prf") && ending &&
		    !strcmp(ending, ".prf") &&
		    !tool_load(tool, entry->d_name, &files[nr]))
			nr++;
	}
	closedir(directory);
	return nr;
}

/** tool_finish() - wait until it has ended, and read what came */
void tool_finish(struct tool *tool, pid_t child, int pipes[3])
{
	size_t length = strlen(tool->said);

	close(pipes[0]);
	take(pipes[1], tool->said + length, sizeof(tool->said) - length);
	take(pipes[2], tool->complained, sizeof(tool->complained));
	waitpid(child, &tool->status, 0);
	if (tool_has_file(tool, "out.prf"))
		tool_load(tool, "out.prf", &tool->prf);
}

/** tool_run() - from beginning to end */
void tool_run(struct tool *tool, const char *const *options,
	      const char *helper, const char *const *deeds)
{
	int pipes[3];
	pid_t child = tool_start(tool, options, helper, deeds, pipes);

	tool_finish(tool, child, pipes);
}

/** ticks_between() - in objects whose path has @path in it */
double ticks_between(const struct prf_image *image, const char *path,
		     uint64_t start, uint64_t end)
{
	uint64_t ticks = 0;
	size_t i, j;

	for (i = 0; i < image->nr; i++) {
		const struct prf_object *object = &image->objects[i];

		if (!strstr(object->path, path))
			continue;
		for (j = 0; j < object->nr; j++) {
			uint64_t pc = object->start + object->buckets[j].offset;

			if (pc >= start && pc < end)
				ticks += object->buckets[j].count;
		}
	}
	return ticks;
}

/**
 * function_of() - what a helper has said of a function
 * @said: all that it said
 * @name: of the function
 * @skip: how many times it was said of another image
 *
 * Return: the function; ns is 0 if it said nothing.
 */
struct function function_of(const char *said, const char *name, int skip)
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
