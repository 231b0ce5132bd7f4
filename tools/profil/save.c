// SPDX-License-Identifier: GPL-2.0-only
/*
 * save.c - write the profiles of a session
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "dos/dos_prf.h"
#include "profil/keep.h"
#include "profil/save.h"
#include "util/term.h"

/* Ticks with which the errors of shares are large */
#define FEW	100

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
	term_warn("%s%s%s%s", path ?: "", path ? ": " : "", strerror(errno),
		  errno == ENXIO ? "; start the reader of a FIFO first" :
		  errno == EEXIST || errno == ELOOP ?
		  "; it is another user's, or no plain file: name one by --output" :
		  "");
	return -1;
}

static bool is_own_file(int fd)
{
	struct stat status;

	return !fstat(fd, &status) && S_ISREG(status.st_mode) &&
		status.st_uid == geteuid();
}

/*
 * Open a file for writing; a FIFO without waiting for its reader. What others run is
 * nothing for everybody; and a name that the user has not chosen may be one where
 * somebody else wants to have the profile.
 */
static int open_output(const struct session *session, const char *path,
		       int flags)
{
	mode_t mode = session->target == TARGET_PROGRAM ? 0666 : 0600;
	int fd;

	if (!session->named)
		flags |= O_NOFOLLOW;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | flags,
		  mode);
	if (fd < 0)
		return -1;
	if (!session->named && !(flags & O_EXCL) && !is_own_file(fd)) {
		close(fd);
		errno = EEXIST;
		return -1;
	}
	fcntl(fd, F_SETFL, 0);
	return fd;
}

/*
 * Check that the file is writable; @made: this created it. A FIFO stays open
 * until profil ends: its reader would see the end of the file.
 */
static int check_file(const struct session *session, const char *path,
		      bool *made)
{
	int fd = open_output(session, path, O_EXCL);
	struct stat status;

	*made = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open_output(session, path, 0);
	if (fd < 0)
		return say_error(path);
	if (fstat(fd, &status) || !S_ISFIFO(status.st_mode))
		close(fd);
	return 0;
}

/* Name the file after the program, or after what else is profiled. */
static int name_output(struct session *session)
{
	static const char * const names[] = {
		[TARGET_USER] = "user",
		[TARGET_MACHINE] = "all",
	};
	const char *name = names[session->target];
	char number[16];

	if (session->target == TARGET_PROGRAM) {
		name = basename(session->argv[0]);
	} else if (session->target == TARGET_PROCESSES) {
		snprintf(number, sizeof(number), "%d", session->pids[0]);
		name = number;
	} else if (session->target == TARGET_CGROUP) {
		name = basename(session->cgroup);
		if (!*name)
			name = "cgroup";
	}
	if (asprintf(&session->output, "%s.prf", name) >= 0)
		return 0;
	session->output = NULL;
	return -1;
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
	if (!session->named && name_output(session))
		return say_error(NULL);
	if (check_file(session, session->output, &session->made))
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
	    !check_file(session, session->dos_output, &session->dos_made))
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

/* Writes to a file what it is to have; @path: of messages. 0, or -1 with errno */
typedef int (*writer)(FILE *file, void *content, const char *path);

/* Write to a file, which this closes. */
static int write_to(int fd, const char *path, writer write, void *content)
{
	FILE *file = fdopen(fd, "w");
	int failed;

	if (!file) {
		close(fd);
		return -1;
	}
	failed = write(file, content, path);
	return fclose(file) ? -1 : failed;
}

/* Is a regular file at the path itself, and not where a link there leads? */
static bool is_at(const struct stat *file, const char *path)
{
	struct stat there;

	return S_ISREG(file->st_mode) && !lstat(path, &there) &&
		there.st_dev == file->st_dev && there.st_ino == file->st_ino;
}

/* Is a file more than what another one in its place would be? */
static bool is_unique(const struct stat *file, const char *path)
{
	return !is_at(file, path) || file->st_nlink > 1 ||
		lgetxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

/* May there be no file beside one, rather than no room for it? */
static bool is_refused(int error)
{
	return error == EACCES || error == EPERM || error == EROFS ||
		error == ENAMETOOLONG;
}

/*
 * Write to another file beside one, which then takes its place. Return: 0; -1 if it
 * cannot be written; 1 if there can be none, or none of the same owner and mode.
 */
static int write_beside(const struct stat *file, const char *path, writer write,
			void *content)
{
	char *name;
	int fd, failed = 1, error;

	if (is_unique(file, path))
		return 1;
	if (asprintf(&name, "%s.XXXXXX", path) < 0)
		return -1;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0) {
		failed = is_refused(errno) || !file->st_size ? 1 : -1;
	} else {
		if (fchown(fd, file->st_uid, file->st_gid) ||
		    fchmod(fd, file->st_mode & 07777))
			close(fd);
		else
			failed = write_to(fd, path, write, content);
		if (!failed && rename(name, path))
			failed = 1;
		error = errno;
		if (failed)
			unlink(name);
		errno = error;
	}
	free(name);
	return failed;
}

/*
 * Write a file. A failure leaves what was there, or, where only the file itself could
 * be written to, nothing: a part is no profile.
 */
static int write_file(const struct session *session, const char *path,
		      writer write, void *content)
{
	int fd = open_output(session, path, 0), failed, error;
	struct stat file = {};

	if (fd < 0)
		return -1;
	fstat(fd, &file);
	failed = write_beside(&file, path, write, content);
	/* EINVAL: a device, or a pipe */
	if (failed > 0 && (!ftruncate(fd, 0) || errno == EINVAL)) {
		file.st_size = 0;
		failed = write_to(fd, path, write, content);
		fd = -1;
	}
	error = errno;
	if (fd >= 0)
		close(fd);
	if (failed && !file.st_size && is_at(&file, path))
		unlink(path);
	errno = error;
	return failed;
}

/* A profile without chains is better than none. */
static int write_native(FILE *file, void *content, const char *path)
{
	struct prf *prf = content;

	if (!prf_write(file, prf))
		return 0;
	/* Or the file itself may be too large */
	if (errno != EFBIG || ferror(file) || !(prf->flags & PRF_FLAG_CHAINS))
		return -1;
	term_warn("%s: there are more chains of callers than a profile has room for: it is written without them; a longer --interval finds fewer",
		  path);
	prf_drop_chains(prf);
	return prf_write(file, prf);
}

static int write_dos(FILE *file, void *content, const char *path)
{
	return dos_prf_write(file, content);
}

static int make_dos(const struct session *session, const struct prf *prf,
		    const char *path)
{
	const struct prf_dso *program = prf_program(prf, 1);
	struct dos_prf dos = { 0 };
	int failed;

	if (dos_prf_make(prf, 1, program, session->paragraphs, &dos))
		return -1;
	failed = write_file(session, path, write_dos, &dos);
	free(dos.buckets);
	return failed;
}

/* Write the MS-DOS file; if that fails, the native file stays. */
static int save_dos(const struct session *session, const struct prf *prf,
		    const char *other)
{
	char *path = dos_path(other);
	int failed = !path || make_dos(session, prf, path);

	if (failed)
		say_error(path);
	if (failed && session->dos_made)
		unlink(path);
	free(path);
	return failed;
}

/* How the program ended, in the words of the debugger that MS-DOS PROFIL imitated */
static void describe_end(const struct prf *prf, char *text, size_t room)
{
	if (prf->exit_kind == PRF_SIGNALLED)
		snprintf(text, room, "program terminated by signal %u (%s); ",
			 prf->exit_code, strsignal(prf->exit_code));
	else if (prf->exit_kind == PRF_RUNNING)
		snprintf(text, room, "%.0s", "");
	else if (prf->exit_code)
		snprintf(text, room, "program terminated with status %u; ",
			 prf->exit_code);
	else
		snprintf(text, room, "program terminated normally; ");
}

static void say_result(const struct prf *prf, const char *path)
{
	uint64_t ticks = 0;
	char end[100];
	size_t i;

	for (i = 0; i < prf->nr; i++)
		ticks += prf->execs[i].ticks + prf_waits(&prf->execs[i]);
	describe_end(prf, end, sizeof(end));
	term_warn("%s%llu tick%s of %.3f ms in %s%s", end,
		  (unsigned long long)ticks, ticks == 1 ? "" : "s",
		  prf->period_ns / 1e6, path, ticks >= FEW ? "" :
		  "; a shorter --interval gives more");
}

static int save_prf(const struct session *session, struct prf *prf,
		    const char *path)
{
	int failed;

	keep_names(session, prf);
	failed = write_file(session, path, write_native, prf) ?
		say_error(path) : 0;
	prf_drop_names(prf);
	if (failed) {
		save_nothing(session);
		return failed;
	}
	if (session->dos)
		failed = save_dos(session, prf, path);
	say_result(prf, path);
	return failed;
}

/*
 * Name the file after what the process executed last, or as the user wants, and
 * after its PID; if an earlier process had that PID, append a number.
 */
static char *name_process(const struct session *session,
			  const struct prf *part, unsigned int same)
{
	const char *output = session->named ? session->output :
		basename(part->execs[part->nr - 1].name);
	char again[32] = "", *path;

	if (same)
		snprintf(again, sizeof(again), ".%u", same + 1);
	if (asprintf(&path, "%.*s.%u%s.prf", without_ending(output), output,
		     part->execs[0].pid, again) < 0)
		return NULL;
	return path;
}

/*
 * Move the execs of the first process to @part: those with its PID, up to where
 * a new process has that PID again.
 */
static void take_process(struct prf *left, struct prf *part)
{
	const struct prf_exec first = left->execs[0];
	size_t i, kept = 0;
	bool ended = false;

	part->nr = 0;
	for (i = 0; i < left->nr; i++) {
		struct prf_exec *exec = &left->execs[i];

		if (i && exec->pid == first.pid && !exec->continued)
			ended = true;
		if (exec->pid == first.pid && !ended) {
			part->execs[part->nr] = *exec;
			part->execs[part->nr++].start_ns -= first.start_ns;
		} else {
			left->execs[kept++] = *exec;
		}
	}
	left->nr = kept;
	part->start_unix_ns += first.start_ns;
	part->wall_ns -= first.start_ns < part->wall_ns ? first.start_ns :
							   part->wall_ns;
}

/*
 * How a process has ended is known of the program alone. What is known only of all
 * processes together is in the first file.
 */
static struct prf part_of(const struct session *session, pid_t pid, bool is_first)
{
	struct prf part = session->prf;

	part.cpu_ns = 0;
	if (!is_first) {
		memset(part.chains, 0, sizeof(part.chains));
		part.withheld = 0;
		part.unfollowed = 0;
		part.unfollowed_threads = 0;
	}
	if ((pid_t)part.execs[0].pid == pid)
		return part;
	part.exit_kind = PRF_RUNNING;
	part.exit_code = 0;
	return part;
}

static int save_process(const struct session *session, struct prf *part,
			unsigned int same)
{
	char *path = name_process(session, part, same);
	int failed = path ? save_prf(session, part, path) : say_error(NULL);

	free(path);
	return failed;
}

/* Number of processes before that had the PID of the last one */
static unsigned int count_same(const pid_t *pids, size_t nr)
{
	unsigned int same = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		same += pids[i] == pids[nr];
	return same;
}

/* Write a file for each process; after an error, go on with the next. */
static int save_each(struct session *session, struct prf_exec *execs,
		     pid_t *pids)
{
	struct prf *left = &session->prf, part;
	size_t nr = 0, i;
	int failed = 0;

	while (left->nr) {
		part = part_of(session, session->pid, !nr);
		part.execs = execs;
		take_process(left, &part);
		pids[nr] = execs[0].pid;
		if (save_process(session, &part, count_same(pids, nr)))
			failed = -1;
		nr++;
		for (i = part.nr; i--;)
			prf_remove_exec(&part, i);
	}
	return failed;
}

/* Write each process to a file of its own. */
static int save_processes(struct session *session)
{
	size_t nr = session->prf.nr;
	struct prf_exec *execs = calloc(nr + 1, sizeof(*execs));
	pid_t *pids = calloc(nr + 1, sizeof(*pids));
	int failed = execs && pids ? save_each(session, execs, pids) :
				     say_error(NULL);

	free(pids);
	free(execs);
	return failed;
}

/**
 * save_run() - write the profile
 * @session: the session, which has ended; with @per_process, loses its execs
 *
 * Return: 0, or -1 after reporting the error.
 */
int save_run(struct session *session)
{
	return session->per_process ? save_processes(session) :
		save_prf(session, &session->prf, session->output);
}
