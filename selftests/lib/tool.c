// SPDX-License-Identifier: GPL-2.0-only
/*
 * tool.c - helpers for the tests of tools/profil
 */
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest.h"
#include "common.h"
#include "tool.h"

#define ARGUMENTS	24

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

/* Without the module, the tool needs permission to use perf_event_open(). */
bool tool_has_clock(void)
{
	return tool_has_module() || !try_perf_event();
}

/* Find the tool that was built with the tests, or else the installed one. */
static int find_tool(char *path, size_t size)
{
	char directory[4000] = "";
	FILE *shell;

	helper_path(directory, sizeof(directory), "");
	snprintf(path, size, "%s../../tools/profil", directory);
	if (!access(path, X_OK))
		return 0;
	shell = popen("command -v profil", "r");
	path[shell ? fread(path, 1, size - 1, shell) : 0] = '\0';
	path[strcspn(path, "\n")] = '\0';
	return shell ? pclose(shell) : -1;
}

/* The harness must not start a test without these. */
static void __attribute__((constructor)) need_tool_and_clock(void)
{
	char path[4096];

	if (find_tool(path, sizeof(path)))
		ksft_exit_skip("profil is not installed\n");
	if (!tool_has_clock())
		ksft_exit_skip("no module, and perf_event_open is refused\n");
}

int tool_make(struct tool *tool)
{
	if (find_tool(tool->tool, sizeof(tool->tool)))
		return -1;
	strcpy(tool->directory, "/tmp/profil_tool.XXXXXX");
	tool->status = -1;
	return !mkdtemp(tool->directory);
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

/* Read until end of file, up to @size - 1 bytes. */
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
 * @options: options of the tool, besides -o
 * @helper: the program to profile: a path, or the name of a helper; NULL for
 *	none
 * @actions: arguments of the helper
 * @pipes: receives our ends of the tool's standard input, output and error
 *
 * Return: the process ID of the tool, or -1.
 */
pid_t tool_start(struct tool *tool, const char *const *options,
		 const char *helper, const char *const *actions, int pipes[3])
{
	char *argv[ARGUMENTS + 1] = { tool->tool, "-o", "out.prf" };
	int in[2], out[2], error[2], n = 3;
	pid_t child;

	tool->said[0] = '\0';
	prf_free(&tool->prf);
	if (!helper)
		tool->program[0] = '\0';
	else if (helper[0] == '/')
		snprintf(tool->program, sizeof(tool->program), "%s", helper);
	else
		helper_path(tool->program, sizeof(tool->program), helper);
	while (*options)
		argv[n++] = (char *)*options++;
	if (helper) {
		argv[n++] = "--";
		argv[n++] = tool->program;
		while (*actions)
			argv[n++] = (char *)*actions++;
	}
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

/**
 * tool_become_nobody() - go on as an ordinary user
 *
 * Return: 0, or -1 if that is not permitted.
 */
int tool_become_nobody(const struct tool *tool)
{
	return chown(tool->directory, NOBODY, NOBODY) ||
		setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		setresuid(NOBODY, NOBODY, NOBODY) ||
		prctl(PR_SET_DUMPABLE, 1) ? -1 : 0;
}

/** tool_load() - read a file that the tool has written; returns 0 or -1 */
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

/** tool_load_all() - read up to @most files but "out.prf"; returns how many */
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

/** tool_finish() - wait for the tool to end; read its output and its file */
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

/** tool_run() - start the tool and wait for it to end */
void tool_run(struct tool *tool, const char *const *options,
	      const char *helper, const char *const *actions)
{
	int pipes[3];
	pid_t child = tool_start(tool, options, helper, actions, pipes);

	tool_finish(tool, child, pipes);
}

/** ticks_between() - ticks in a range of the files whose path has @path */
double ticks_between(const struct prf_exec *exec, const char *path,
		     uint64_t start, uint64_t end)
{
	uint64_t ticks = 0;
	size_t i, j;

	for (i = 0; i < exec->nr; i++) {
		const struct prf_dso *dso = &exec->dsos[i];

		if (!strstr(dso->path, path))
			continue;
		for (j = 0; j < dso->nr; j++) {
			uint64_t at = dso->pgoff + dso->buckets[j].offset;

			if (at >= start && at < end)
				ticks += dso->buckets[j].count;
		}
	}
	return ticks;
}

/** has_name() - has a NAMES record of the profile a function with that name? */
bool has_name(const struct prf *prf, const char *name)
{
	size_t i, j, k;

	for (i = 0; i < prf->nr_blocks; i++)
		for (j = 0; j < prf->blocks[i].nr; j++) {
			const struct prf_names *names =
				&prf->blocks[i].names[j];

			for (k = 0; k < names->nr_functions; k++)
				if (!strcmp(names->functions[k].name, name))
					return true;
		}
	return false;
}

/**
 * function_of() - find a function in the output of a helper
 * @said: the output
 * @name: name of the function
 * @skip: number of lines to skip, which belong to other execs
 *
 * Return: the function; its ns is 0 if it is not in the output.
 */
struct function function_of(const char *said, const char *name, int skip)
{
	struct function function = { 0 };
	unsigned long start, end, address;
	unsigned long long ns, least_ns;
	size_t length = strlen(name);
	const char *line;
	int got;

	for (line = said; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length))
			continue;
		got = sscanf(line + length, " %lx %lx %llu %lx %llu", &start,
			     &end, &ns, &address, &least_ns);
		if (got < 4 || skip-- > 0)
			continue;
		/* At another address, so of another exec */
		if (function.address && function.address != address)
			continue;
		function.address = address;
		function.start = start;
		function.end = end;
		function.ns += ns;
		function.least_ns += got == 5 ? least_ns : ns;
	}
	return function;
}
