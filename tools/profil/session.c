// SPDX-License-Identifier: GPL-2.0-only
/*
 * session.c - what running a program and attaching to others have in common
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profil/backend.h"
#include "profil/remedy.h"
#include "profil/session.h"
#include "util/term.h"

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/** asleep_ns() - how long the machine has been asleep, which now_ns() leaves out */
uint64_t asleep_ns(void)
{
	uint64_t awake_ns = now_ns();

	return clock_ns(CLOCK_BOOTTIME) - awake_ns;
}

/**
 * unix_ns() - convert a time of now_ns() to nanoseconds since the epoch
 * @ns: the time; the machine has not been asleep since
 */
uint64_t unix_ns(uint64_t ns)
{
	return clock_ns(CLOCK_REALTIME) - (now_ns() - ns);
}

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

static void describe_processes(const struct session *session, char *text,
			       size_t room)
{
	size_t length, i;

	length = snprintf(text, room, "process%s",
			  session->nr_pids == 1 ? "" : "es");
	for (i = 0; i < session->nr_pids && length < room; i++)
		length += snprintf(text + length, room - length, " %d",
				   session->pids[i]);
}

/** session_describe() - the program's command line, or what else is profiled */
void session_describe(const struct session *session, char *text, size_t room)
{
	switch (session->target) {
	case TARGET_PROGRAM:
		join(text, room, session->argv);
		break;
	case TARGET_PROCESSES:
		describe_processes(session, text, room);
		break;
	case TARGET_CGROUP:
		snprintf(text, room, "cgroup %s", session->cgroup);
		break;
	case TARGET_USER:
		snprintf(text, room, "user %u", session->uid);
		break;
	case TARGET_MACHINE:
		snprintf(text, room, "the whole machine");
		break;
	}
}

static const char *remedy_of_permission(const struct session *session)
{
	const char *of_scope = scope_remedy();

	switch (session->target) {
	case TARGET_MACHINE:
		return "; only root, or a process with CAP_PERFMON, may profile the whole machine";
	case TARGET_USER:
		if (session->uid != getuid())
			return "; only root, or a process with CAP_PERFMON, may profile other users";
		/* fall through */
	default:
		if (session->kernel)
			return "; --kernel=functions needs root, or CAP_PERFMON";
		if (of_scope)
			return of_scope;
		return "; it belongs to another user, or has more rights than you: run profil as root or with CAP_PERFMON";
	}
}

/* What to do about an error of session_begin() */
static const char *remedy(const struct session *session, int error)
{
	switch (error) {
	case EPERM:
		return remedy_of_permission(session);
	case EACCES:
		if (session->cgroup && access(session->cgroup, R_OK))
			return "";
		return "; intervals below 10000 us are disabled, by the module parameter restrict_fastprof or for want of high-resolution timers";
	case EBUSY:
		return "; another profil counts it already: wait for that to end";
	case EAGAIN:
		return "; your profiles have as much memory as the module's max_watch_kb allows: end another one, or have that raised";
	case EBADF:
		return "; it is no directory of a cgroup of version 2, below /sys/fs/cgroup";
	case EMFILE:
		return "; each process needs two descriptors, and without the module each thread one for each CPU: raise the limit by 'ulimit -n'";
	case EOPNOTSUPP:
		return "; see EOPNOTSUPP in profil(4)";
	case EUSERS:
		return "; 64 other users profile all their processes, or a cgroup: wait for one to end, or run profil as root";
	case ESRCH:
		return "; there is no such process, or it has ended";
	default:
		return "";
	}
}

/**
 * session_begin() - begin to count
 * @session: the session
 * @pid: the process, or 0 if the target is not a process
 *
 * Return: 0, or -1 with errno after reporting the error.
 */
int session_begin(struct session *session, pid_t pid)
{
	uint64_t before_ns = now_ns();
	const char *failed = session->backend->begin(session, pid);
	int error = errno;
	char what[256];

	if (failed) {
		session_describe(session, what, sizeof(what));
		if (session->target == TARGET_PROCESSES)
			snprintf(what, sizeof(what), "process %d", pid);
		term_warn("cannot profile %s: %s: %s%s", what, failed,
			  strerror(error), remedy(session, error));
		errno = error;
		return -1;
	}
	if (!session->start_ns) {
		/* What ran already has had ticks while its tables were made */
		session->start_ns = session->target == TARGET_PROGRAM ?
			now_ns() : before_ns;
		session->start_unix_ns = unix_ns(session->start_ns);
	}
	return 0;
}

/** session_poll() - wait as poll(2) does, in the session's own way */
int session_poll(const struct session *session, struct pollfd *fds, nfds_t nr,
		 int timeout_ms)
{
	return session->poll ? session->poll(fds, nr, timeout_ms) :
			       poll(fds, nr, timeout_ms);
}

/**
 * session_wait() - wait for a descriptor, and let the backend read its own
 * @session: the session
 * @signals: a descriptor
 * @other: another one, or -1
 * @timeout_ms: the longest time to wait, or -1
 *
 * Return: whether @signals is readable.
 */
bool session_wait(struct session *session, int signals, int other,
		  int timeout_ms)
{
	struct pollfd fds[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = other, .events = POLLIN },
		{ .fd = session->backend->descriptor(session),
		  .events = POLLIN },
	};

	if (session_poll(session, fds, 3, timeout_ms) <= 0)
		return false;
	if (fds[2].revents)
		session->backend->drain(session);
	return fds[0].revents;
}

/* Use perf_event_open(2); @failed and @error say why not the module. */
static int use_perf(struct session *session, const char *failed, int error)
{
	bool user_only = session->user_only;
	const char *also;

	term_warn("%s: %s; %s", failed, strerror(error), device_remedy(error));
	session->backend = &backend_perf;
	also = session->backend->open(session);
	if (also) {
		term_warn("%s: %s; see /proc/sys/kernel/perf_event_paranoid",
			  also, strerror(errno));
		return -1;
	}
	term_warn("using perf_event_open%s: processes that live less than %.3f ms get no ticks",
		  session->user_only && !user_only ?
		  ", in user mode only (see /proc/sys/kernel/perf_event_paranoid)" :
		  "", session->period_ns / 1e6);
	return 0;
}

/* perf_event_open(2) takes samples of threads that run only. */
static int refuse_wall(const char *failed, int error)
{
	if (error == EOPNOTSUPP) {
		term_warn("--wall: the module that is loaded counts no waits; install and load a later version");
		return -1;
	}
	term_warn("%s: %s; %s", failed, strerror(error), device_remedy(error));
	term_warn("--wall needs the module");
	return -1;
}

/**
 * session_open() - choose the backend
 *
 * Return: 0, or -1 after reporting the error.
 */
int session_open(struct session *session)
{
	const char *failed;
	int error;

	session->backend = &backend_watch;
	failed = session->backend->open(session);
	if (!failed)
		return 0;
	error = errno;
	if (session->wall)
		return refuse_wall(failed, error);
	if (session->target != TARGET_PROGRAM &&
	    session->target != TARGET_PROCESSES) {
		term_warn("%s: %s; %s", failed, strerror(error),
			  device_remedy(error));
		term_warn("--all, --cgroup and --user need the module");
		return -1;
	}
	return use_perf(session, failed, error);
}

static int fill_host(struct prf *prf)
{
	struct utsname names;

	prf->host.cpus = get_nprocs_conf();
	prf->host.online = get_nprocs();
	return uname(&names) ? -1 : prf_add_host(prf, names.nodename,
						 names.release, names.machine);
}

static int fill(struct session *session)
{
	struct prf *prf = &session->prf;
	char command[4096];

	session_describe(session, command, sizeof(command));
	errno = ENOMEM;
	if (prf_init(prf, command) || fill_host(prf))
		return -1;
	prf->start_unix_ns = session->start_unix_ns;
	prf->wall_ns = session->end_ns - session->start_ns;
	prf->cpu_ns = session->cpu_ns;
	prf->flags = session->user_only ? PRF_FLAG_USER_ONLY : 0;
	if (session->target != TARGET_PROGRAM) {
		prf->exit_kind = PRF_RUNNING;
	} else if (WIFSIGNALED(session->status)) {
		prf->exit_kind = PRF_SIGNALLED;
		prf->exit_code = WTERMSIG(session->status);
	} else {
		prf->exit_code = WEXITSTATUS(session->status);
	}
	return 0;
}

/**
 * session_end() - stop counting, and make the profile
 * @session: the session; session_begin() may have failed
 *
 * Return: 0, or -1 after reporting the error.
 */
int session_end(struct session *session)
{
	int failed, error;

	session->end_ns = now_ns();
	failed = fill(session);
	error = errno;
	if (session->backend->end(session) && !failed) {
		failed = -1;
		error = errno;
	}
	session->prf.period_ns = session->period_ns;
	session->prf.clock = session->clock;
	if (failed)
		term_warn("cannot make the profile: %s", strerror(error));
	return failed;
}
