// SPDX-License-Identifier: GPL-2.0-only
/*
 * save.c - write what a run has brought
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dos_prf.h"
#include "save.h"

/* One line, whatever is in the arguments. */
static void join(char *line, size_t room, char **argv)
{
	size_t length = 0;
	char *byte;

	line[0] = '\0';
	for (; *argv && length < room; argv++)
		length += snprintf(line + length, room - length, "%s%s",
				   length ? " " : "", *argv);
	for (byte = line; *byte; byte++)
		if ((unsigned char)*byte < ' ')
			*byte = ' ';
}

/**
 * struct part - what goes into one file
 * @run: of which it is a part
 * @nr: number of images
 * @images: these
 * @end_ns: when it ended
 * @status: how it ended
 * @path: of the file
 */
struct part {
	const struct run *run;
	size_t nr;
	struct image **images;
	uint64_t end_ns;
	int status;
	char *path;
};

static int fill(const struct part *part, struct prf *prf)
{
	const struct run *run = part->run;
	uint64_t start_ns = run->start_ns;
	char command[4096];
	size_t i;

	if (run->per_process)
		start_ns = part->images[0]->start_ns;
	join(command, sizeof(command), run->argv);
	if (prf_init(prf, command))
		return -1;
	prf->start_unix_ns = run->start_unix_ns + (start_ns - run->start_ns);
	prf->wall_ns = part->end_ns - start_ns;
	prf->period_ns = run->period_ns;
	prf->clock = run->clock;
	prf->flags = run->user_only ? PRF_FLAG_USER_ONLY : 0;
	if (WIFSIGNALED(part->status)) {
		prf->exit_kind = PRF_SIGNALLED;
		prf->exit_code = WTERMSIG(part->status);
	} else {
		prf->exit_code = WEXITSTATUS(part->status);
	}
	for (i = 0; i < part->nr; i++)
		if (image_save(part->images[i], prf, run->bucket, start_ns))
			return -1;
	return 0;
}

/* Where the ending begins, if it is that of such files. */
static int without_ending(const char *path)
{
	size_t length = strlen(path);

	if (length > 4 && !strcmp(path + length - 4, ".prf"))
		length -= 4;
	return length;
}

/* Beside the other, in capitals as there. */
static char *dos_path(const char *other)
{
	char *path;

	if (asprintf(&path, "%.*s.PRF", without_ending(other), other) < 0)
		return NULL;
	return path;
}

static int say_error(const char *path)
{
	fprintf(stderr, "profil: %s: %s\n", path, strerror(errno));
	return -1;
}

/* @made: there was no such file. */
static int check_file(const char *path, bool *made)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	*made = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return say_error(path);
	close(fd);
	return 0;
}

/**
 * save_check() - can the profile be written?
 * @run: what is going to be run; receives the paths
 *
 * Better now than when the program has run for an hour.
 *
 * Return: 0, or -1 and it has said why.
 */
int save_check(struct run *run)
{
	const char *name = strrchr(run->argv[0], '/');

	if (!run->output &&
	    asprintf(&run->output, "%s.prf", name ? name + 1 : run->argv[0]) < 0)
		return say_error("profil");
	if (check_file(run->output, &run->made))
		return -1;
	if (run->per_process) {
		/* It is others that are going to be written */
		save_nothing(run);
		run->made = false;
		return 0;
	}
	if (!run->dos)
		return 0;
	run->dos_output = dos_path(run->output);
	if (run->dos_output && !check_file(run->dos_output, &run->dos_made))
		return 0;
	save_nothing(run);
	return -1;
}

/** save_nothing() - there is no profile: leave no empty files */
void save_nothing(const struct run *run)
{
	if (run->made)
		unlink(run->output);
	if (run->dos_made)
		unlink(run->dos_output);
}

static int save_native(const struct prf *prf, const char *path)
{
	FILE *file = fopen(path, "we");
	int failed = !file || prf_write(file, prf);

	if (file && fclose(file))
		failed = -1;
	return failed ? say_error(path) : 0;
}

static int write_dos(const struct run *run, const struct prf *prf,
		     const char *path)
{
	const struct prf_object *program = prf_program(prf, 1);
	struct dos_prf dos = { 0 };
	FILE *file;
	int failed;

	if (dos_prf_make(prf, 1, program, run->paragraphs, &dos))
		return -1;
	file = fopen(path, "we");
	failed = !file || dos_prf_write(file, &dos);
	if (file && fclose(file))
		failed = -1;
	free(dos.buckets);
	return failed;
}

/* What is in the other file is good, whatever becomes of this one. */
static int save_dos(const struct run *run, const struct prf *prf,
		    const char *other)
{
	char *path = dos_path(other);
	int failed = !path || write_dos(run, prf, path);

	if (failed)
		say_error(path ?: "profil");
	if (failed && run->dos_made)
		unlink(path);
	free(path);
	return failed;
}

/* In the words of the debugger that PROFIL took after. */
static void say_result(const struct part *part, const struct prf *prf)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < prf->nr; i++) {
		ticks += prf->images[i].ticks;
		if (prf->images[i].reach != PRF_FOLLOWED)
			fprintf(stderr, "profil: %s (%u) not profiled: %s\n",
				prf->images[i].name, prf->images[i].pid,
				prf->images[i].reason);
	}
	if (prf->exit_kind == PRF_SIGNALLED)
		fprintf(stderr, "profil: program terminated by signal %u (%s)",
			prf->exit_code, strsignal(prf->exit_code));
	else if (prf->exit_code)
		fprintf(stderr, "profil: program terminated with status %u",
			prf->exit_code);
	else
		fprintf(stderr, "profil: program terminated normally");
	fprintf(stderr, "; %llu ticks of %.3f ms in %s\n",
		(unsigned long long)ticks, prf->period_ns / 1e6, part->path);
}

static int save_part(const struct part *part)
{
	struct prf prf;
	int failed;

	errno = ENOMEM;
	if (fill(part, &prf)) {
		fprintf(stderr, "profil: %s\n", strerror(errno));
		return -1;
	}
	failed = save_native(&prf, part->path);
	if (failed) {
		save_nothing(part->run);
	} else {
		if (part->run->dos)
			failed = save_dos(part->run, &prf, part->path);
		say_result(part, &prf);
	}
	prf_free(&prf);
	return failed;
}

/* A process has one image after another, until it ends. */
static void take_process(struct part *part, struct image **left, size_t nr)
{
	struct image *image;
	pid_t pid = 0;
	size_t i;

	part->nr = 0;
	part->status = 0;
	part->end_ns = part->run->start_ns + part->run->wall_ns;
	for (i = 0; i < nr; i++) {
		image = left[i];
		if (!image || (pid && image->pid != pid))
			continue;
		pid = image->pid;
		part->images[part->nr++] = image;
		left[i] = NULL;
		if (!image->end_ns)
			continue;
		part->end_ns = image->end_ns;
		part->status = image->status;
		return;
	}
}

/* The same number may have been that of several processes. */
static int name_process(struct part *part, const struct image **before,
			size_t nr)
{
	const char *output = part->run->output;
	pid_t pid = part->images[0]->pid;
	size_t i, same = 0;
	char again[32] = "";

	for (i = 0; i < nr; i++)
		same += before[i]->pid == pid;
	if (same)
		snprintf(again, sizeof(again), ".%zu", same + 1);
	free(part->path);
	if (asprintf(&part->path, "%.*s.%d%s.prf", without_ending(output),
		     output, pid, again) >= 0)
		return 0;
	part->path = NULL;
	return say_error("profil");
}

/* Those that cannot be written do not keep the others from it. */
static int save_each(struct part *part, struct image **left,
		     const struct image **firsts)
{
	size_t i, nr = 0;
	int failed = 0;

	for (i = 0; i < part->run->nr; i++) {
		if (!left[i])
			continue;
		take_process(part, left, part->run->nr);
		if (name_process(part, firsts, nr) || save_part(part))
			failed = -1;
		firsts[nr++] = part->images[0];
	}
	return failed;
}

/* Each process that there was in a file of its own. */
static int save_processes(const struct run *run)
{
	struct part part = { .run = run };
	const struct image **firsts = calloc(run->nr, sizeof(*firsts));
	struct image **left = calloc(run->nr, sizeof(*left));
	int failed;

	part.images = calloc(run->nr, sizeof(*part.images));
	if (firsts && left && part.images) {
		memcpy(left, run->images, run->nr * sizeof(*left));
		failed = save_each(&part, left, firsts);
	} else {
		failed = say_error("profil");
	}
	free(part.path);
	free(part.images);
	free(left);
	free(firsts);
	return failed;
}

/**
 * save_run() - write the profile
 * @run: that has ended
 *
 * Return: 0, or -1 and it has said why.
 */
int save_run(const struct run *run)
{
	const struct part whole = {
		.run = run,
		.nr = run->nr,
		.images = run->images,
		.end_ns = run->start_ns + run->wall_ns,
		.status = run->status,
		.path = (char *)run->output,
	};

	return run->per_process ? save_processes(run) : save_part(&whole);
}
