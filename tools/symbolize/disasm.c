// SPDX-License-Identifier: GPL-2.0-only
/*
 * disasm.c - disassemble a function
 *
 * Runs objdump of binutils, without a shell, and reads its output from a pipe.
 * The file name is untrusted: it must not begin with a character by which
 * objdump would take it for an option or a file of options.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbolize/disasm.h"
#include "util/user.h"
#include "util/xalloc.h"

#define ARGUMENTS	8

static int spawn(char **argv, int output, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO,
						 "/dev/null", O_RDONLY, 0);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, output,
							 STDOUT_FILENO);
	if (!error)
		error = posix_spawnp(pid, argv[0], &actions, NULL, argv,
				     environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* Start objdump. Returns its output, or NULL after reporting the error. */
static FILE *start(char **argv, uid_t owner, pid_t *pid)
{
	int ends[2], error = EPERM;

	if (pipe2(ends, O_CLOEXEC))
		err(2, NULL);
	if (user_become(owner)) {
		error = spawn(argv, ends[1], pid);
		user_return();
	}
	close(ends[1]);
	if (!error)
		return fdopen(ends[0], "r");
	close(ends[0]);
	if (error == ENOENT)
		warnx("there is no objdump: install binutils");
	else
		warnx("objdump: %s", strerror(error));
	return NULL;
}

/* Parse "ADDRESS:<tab>INSTRUCTION"; ignore other lines. */
static void take_line(struct instructions *instructions, char *line)
{
	struct instruction *instruction;
	uint64_t address;
	char *end;

	line[strcspn(line, "\n")] = '\0';
	address = strtoull(line, &end, 16);
	if (end == line || end[0] != ':' || end[1] != '\t')
		return;
	instructions->list = one_more(instructions->list, instructions->nr,
				      sizeof(*instruction));
	instruction = &instructions->list[instructions->nr++];
	instruction->address = address;
	instruction->text = copy(end + 2);
}

static int finish(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			err(2, NULL);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	warnx("objdump failed");
	return -1;
}

static int run(char **argv, uid_t owner, struct instructions *instructions)
{
	char *line = NULL;
	size_t room = 0;
	FILE *output;
	pid_t pid;

	output = start(argv, owner, &pid);
	if (!output)
		return -1;
	while (getline(&line, &room, output) >= 0)
		take_line(instructions, line);
	free(line);
	fclose(output);
	return finish(pid);
}

/**
 * disassemble() - disassemble a function
 * @file: path of the file with its code
 * @owner: its owner, with whose rights objdump reads it if root asks
 * @start: its first link-time address
 * @end: first address after it
 * @instructions: zeroed; receives the instructions
 *
 * Return: 0, or -1 after reporting the error.
 */
int disassemble(const char *file, uid_t owner, uint64_t start, uint64_t end,
		struct instructions *instructions)
{
	char from[64], to[64], *name;
	char *argv[ARGUMENTS + 1] = {
		"objdump", "--disassemble", "--disassemble-zeroes",
		"--no-show-raw-insn", "--wide", from, to
	};
	int result;

	snprintf(from, sizeof(from), "--start-address=%#" PRIx64, start);
	snprintf(to, sizeof(to), "--stop-address=%#" PRIx64, end);
	/*
	 * Even after "--", objdump reads options from a file if the name begins
	 * with @
	 */
	if (asprintf(&name, "%s%s", file[0] == '/' ? "" : "./", file) < 0)
		err(2, NULL);
	argv[ARGUMENTS - 1] = name;
	result = run(argv, owner, instructions);
	free(name);
	return result;
}

/** instructions_free() - free the results of disassemble() */
void instructions_free(struct instructions *instructions)
{
	size_t i;

	for (i = 0; i < instructions->nr; i++)
		free(instructions->list[i].text);
	free(instructions->list);
}
