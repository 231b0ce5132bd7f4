// SPDX-License-Identifier: GPL-2.0-only
/*
 * output.c - write the profiles of a session
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dos/dos_prf.h"
#include "profil/output.h"
#include "util/term.h"

/* Ticks with which the errors of shares are large */
#define FEW	100

/* Join the arguments to one line; control characters become spaces. */
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
 * struct part - contents of one output file
 * @session: the session
 * @nr: number of execs
 * @execs: the execs
 * @end_ns: end of the process, on the monotonic clock
 * @status: wait status of the process
 * @path: path of the file
 */
struct part {
	const struct session *session;
	size_t nr;
	struct exec **execs;
	uint64_t end_ns;
	int status;
	char *path;
};

static int fill_host(struct prf *prf)
{
	struct utsname names;

	prf->host.cpus = get_nprocs_conf();
	prf->host.online = get_nprocs();
	return uname(&names) ? -1 : prf_add_host(prf, names.nodename,
						 names.release, names.machine);
}

static int fill(const struct part *part, struct prf *prf)
{
	const struct session *session = part->session;
	uint64_t start_ns = session->start_ns;
	char command[4096];
	size_t i;

	if (session->per_process)
		start_ns = part->execs[0]->start_ns;
	join(command, sizeof(command), session->argv);
	if (prf_init(prf, command) || fill_host(prf))
		return -1;
	prf->start_unix_ns = session->start_unix_ns +
			     (start_ns - session->start_ns);
	prf->wall_ns = part->end_ns - start_ns;
	prf->period_ns = session->period_ns;
	prf->clock = session->clock;
	prf->flags = session->user_only ? PRF_FLAG_USER_ONLY : 0;
	if (WIFSIGNALED(part->status)) {
		prf->exit_kind = PRF_SIGNALLED;
		prf->exit_code = WTERMSIG(part->status);
	} else {
		prf->exit_code = WEXITSTATUS(part->status);
	}
	for (i = 0; i < part->nr; i++)
		if (exec_save(part->execs[i], prf, session->bucket, start_ns))
			return -1;
	return 0;
}

/* Length of a path without ".prf". */
static int without_ending(const char *path)
{
	size_t length = strlen(path);

	if (length > 4 && !strcmp(path + length - 4, ".prf"))
		length -= 4;
	return length;
}

/* Path of the MS-DOS file: next to the native one, with ".PRF". */
static char *dos_path(const char *other)
{
	char *path;

	if (asprintf(&path, "%.*s.PRF", without_ending(other), other) < 0)
		return NULL;
	return path;
}

/* @path: NULL if there is no memory for it */
static int say_error(const char *path)
{
	term_warn("%s%s%s", path ?: "", path ? ": " : "", strerror(errno));
	return -1;
}

/* Check that the file is writable; @made: this created it. */
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
 * save_check() - check that the output files can be written
 * @session: the session; receives the paths
 *
 * Reports the error now instead of after the program has run for an hour.
 *
 * Return: 0, or -1 after reporting the error.
 */
int save_check(struct session *session)
{
	session->named = session->output;
	if (!session->named &&
	    asprintf(&session->output, "%s.prf", basename(session->argv[0])) < 0)
		return say_error(NULL);
	if (check_file(session->output, &session->made))
		return -1;
	if (session->per_process) {
		/* This file is not written, but one for each process */
		save_nothing(session);
		session->made = false;
		return 0;
	}
	if (!session->dos)
		return 0;
	session->dos_output = dos_path(session->output);
	if (session->dos_output &&
	    !check_file(session->dos_output, &session->dos_made))
		return 0;
	save_nothing(session);
	return -1;
}

/** save_nothing() - remove the empty files that save_check() created */
void save_nothing(const struct session *session)
{
	if (session->made)
		unlink(session->output);
	if (session->dos_made)
		unlink(session->dos_output);
}

static int save_native(const struct prf *prf, const char *path)
{
	FILE *file = fopen(path, "we");
	int failed = !file || prf_write(file, prf);

	if (file && fclose(file))
		failed = -1;
	return failed ? say_error(path) : 0;
}

static int write_dos(const struct session *session, const struct prf *prf,
		     const char *path)
{
	const struct prf_dso *program = prf_program(prf, 1);
	struct dos_prf dos = { 0 };
	FILE *file;
	int failed;

	if (dos_prf_make(prf, 1, program, session->paragraphs, &dos))
		return -1;
	file = fopen(path, "we");
	failed = !file || dos_prf_write(file, &dos);
	if (file && fclose(file))
		failed = -1;
	free(dos.buckets);
	return failed;
}

/* Write the MS-DOS file; if that fails, the native file stays. */
static int save_dos(const struct session *session, const struct prf *prf,
		    const char *other)
{
	char *path = dos_path(other);
	int failed = !path || write_dos(session, prf, path);

	if (failed)
		say_error(path);
	if (failed && session->dos_made)
		unlink(path);
	free(path);
	return failed;
}

/*
 * Print how the program ended in the words of the debugger that MS-DOS PROFIL
 * imitated.
 */
static void say_result(const struct part *part, const struct prf *prf)
{
	uint64_t ticks = 0;
	char end[100];
	size_t i;

	for (i = 0; i < prf->nr; i++) {
		ticks += prf->execs[i].ticks;
		if (prf->execs[i].reach != PRF_FOLLOWED)
			term_warn("%s (%u) not profiled: %s",
				  prf->execs[i].name, prf->execs[i].pid,
				  prf->execs[i].reason);
	}
	if (prf->exit_kind == PRF_SIGNALLED)
		snprintf(end, sizeof(end), "by signal %u (%s)", prf->exit_code,
			 strsignal(prf->exit_code));
	else if (prf->exit_code)
		snprintf(end, sizeof(end), "with status %u", prf->exit_code);
	else
		snprintf(end, sizeof(end), "normally");
	term_warn("program terminated %s; %llu tick%s of %.3f ms in %s%s", end,
		  (unsigned long long)ticks, ticks == 1 ? "" : "s",
		  prf->period_ns / 1e6, part->path, ticks >= FEW ? "" :
		  "; a shorter --interval gives more");
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
		save_nothing(part->session);
	} else {
		if (part->session->dos)
			failed = save_dos(part->session, &prf, part->path);
		say_result(part, &prf);
	}
	prf_free(&prf);
	return failed;
}

/* Collect the execs of a process, in order, up to the one in which it ended. */
static void take_process(struct part *part, struct exec **left, size_t nr)
{
	struct exec *exec;
	pid_t pid = 0;
	size_t i;

	part->nr = 0;
	part->status = 0;
	part->end_ns = part->session->start_ns + part->session->wall_ns;
	for (i = 0; i < nr; i++) {
		exec = left[i];
		if (!exec || (pid && exec->pid != pid))
			continue;
		pid = exec->pid;
		part->execs[part->nr++] = exec;
		left[i] = NULL;
		if (!exec->end_ns)
			continue;
		part->end_ns = exec->end_ns;
		part->status = exec->status;
		return;
	}
}

/*
 * Name the file after what the process executed last, or as the user wants, and
 * after its PID; if an earlier process had that PID, append a number.
 */
static int name_process(struct part *part, const struct exec **before,
			size_t nr)
{
	const char *output = part->session->named ? part->session->output :
		basename(part->execs[part->nr - 1]->name);
	pid_t pid = part->execs[0]->pid;
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
	return say_error(NULL);
}

/* Write a file for each process; after an error, go on with the next. */
static int save_each(struct part *part, struct exec **left,
		     const struct exec **firsts)
{
	size_t i, nr = 0;
	int failed = 0;

	for (i = 0; i < part->session->nr; i++) {
		if (!left[i])
			continue;
		take_process(part, left, part->session->nr);
		if (name_process(part, firsts, nr) || save_part(part))
			failed = -1;
		firsts[nr++] = part->execs[0];
	}
	return failed;
}

/* Write each process to a file of its own. */
static int save_processes(const struct session *session)
{
	struct part part = { .session = session };
	const struct exec **firsts = calloc(session->nr, sizeof(*firsts));
	struct exec **left = calloc(session->nr, sizeof(*left));
	int failed;

	part.execs = calloc(session->nr, sizeof(*part.execs));
	if (firsts && left && part.execs) {
		memcpy(left, session->execs, session->nr * sizeof(*left));
		failed = save_each(&part, left, firsts);
	} else {
		failed = say_error(NULL);
	}
	free(part.path);
	free(part.execs);
	free(left);
	free(firsts);
	return failed;
}

/**
 * save_run() - write the profile
 * @session: the session, which has ended
 *
 * Return: 0, or -1 after reporting the error.
 */
int save_run(const struct session *session)
{
	const struct part whole = {
		.session = session,
		.nr = session->nr,
		.execs = session->execs,
		.end_ns = session->start_ns + session->wall_ns,
		.status = session->status,
		.path = (char *)session->output,
	};

	return session->per_process ? save_processes(session) :
				      save_part(&whole);
}
