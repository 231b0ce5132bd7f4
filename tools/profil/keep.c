// SPDX-License-Identifier: GPL-2.0-only
/*
 * keep.c - keep names in a profile
 *
 * Any user's files may have been profiled, and they are parsed: a child does
 * that, so that no file can take the profile with it, or stop profil. Of root, it
 * becomes the owner of the files that it reads: of root's own, only if root ran
 * the program, and else nobody, as for files of other mount namespaces.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <poll.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profil/keep.h"
#include "profil/object.h"
#include "symbolize/collect.h"
#include "symbolize/debug_file.h"
#include "util/file.h"
#include "util/term.h"
#include "util/user.h"

/* For names of a profile that is complete; a signal is about these, not the profile */
static const struct keep_limits at_end = {
	.seconds = 60,
	.bytes = 1ULL << 30,
	.until_signal = true,
};

/*
 * Who reads a DSO, or NO_READER. Each mount namespace has its own: @mount_ns is 0 for
 * ours.
 */
struct reader {
	uid_t uid;
	uint32_t mount_ns;
};

/* Readers of all DSOs of all execs */
struct readers {
	size_t nr;
	struct reader *list;
};

#define NO_READER	((uid_t)-1)

static bool is_same(const struct reader *a, const struct reader *b)
{
	return a->uid == b->uid && a->mount_ns == b->mount_ns;
}

/* @chains: DSOs without ticks may have callers */
static uid_t user_of(const struct session *session, const struct prf_dso *dso,
		     bool chains)
{
	uid_t self = geteuid();
	struct stat file;

	if ((!dso->nr && !chains) || dso->kind > PRF_VDSO)
		return NO_READER;
	if (self)
		return self;
	/* The root of a container may give its files any owner */
	if (dso->mount_ns)
		return USER_NOBODY;
	if (dso->path[0] != '/' || stat(dso->path, &file))
		return dso->kind == PRF_VDSO ? USER_NOBODY : NO_READER;
	if (!file.st_uid)
		return session->target == TARGET_PROGRAM ? 0 : USER_NOBODY;
	return file.st_uid;
}

static int find_readers(const struct session *session, const struct prf *prf,
			struct readers *readers)
{
	bool chains = prf->flags & PRF_FLAG_CHAINS;
	const struct prf_dso *dso;
	struct prf_at at = {};

	readers->list = calloc(prf_count_dsos(prf) + 1,
			       sizeof(*readers->list));
	if (!readers->list)
		return -1;
	while ((dso = prf_next(prf, 1, &at)))
		readers->list[readers->nr++] = (struct reader){
			user_of(session, dso, chains), dso->mount_ns
		};
	return 0;
}

static bool is_left(const struct reader *reader, bool elsewhere)
{
	return reader->uid != NO_READER && !!reader->mount_ns == elsewhere;
}

/* Take the DSOs of the first reader that is left, who has none then. */
static uid_t take_reader(struct readers *readers, bool elsewhere, bool *chosen)
{
	struct reader taken = { .uid = NO_READER };
	size_t i;

	for (i = 0; i < readers->nr; i++) {
		struct reader *reader = &readers->list[i];

		if (taken.uid == NO_READER && is_left(reader, elsewhere))
			taken = *reader;
		chosen[i] = taken.uid != NO_READER && is_same(reader, &taken);
		if (chosen[i])
			reader->uid = NO_READER;
	}
	return taken.uid;
}

static int become(uid_t uid)
{
	if (uid == geteuid())
		return 0;
	return setgroups(0, NULL) ||
		setresgid(USER_NOBODY, USER_NOBODY, USER_NOBODY) ||
		setresuid(uid, uid, uid) ? -1 : 0;
}

/* Keep no capability but that to read files, which is for files of all users. */
static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	const uint32_t kept = 1U << CAP_DAC_READ_SEARCH;

	if (syscall(SYS_capget, &head, data))
		return -1;
	/* A filter of system calls may refuse even what changes nothing */
	if (!(data[0].permitted & ~kept) && !data[1].permitted)
		return 0;
	data[0].permitted &= kept;
	data[0].effective = data[0].permitted;
	data[0].inheritable = 0;
	memset(&data[1], 0, sizeof(data[1]));
	return syscall(SYS_capset, &head, data);
}

/* Bytes of private memory, which the child has from profil; 0 if unknown */
static uint64_t data_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	uint64_t pages = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%*u %*u %*u %*u %*u %" SCNu64, &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

/* A small file may say that much memory is needed, or unpack to that. */
static void limit_memory(uint64_t bytes)
{
	uint64_t most = data_bytes() + bytes;
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur < most)
		return;
	limit.rlim_cur = most;
	limit.rlim_max = most;
	setrlimit(RLIMIT_DATA, &limit);
}

/* Let others run first, and if memory is short, be the one to end. */
static void stand_back(void)
{
	FILE *file = fopen("/proc/self/oom_score_adj", "we");

	if (file) {
		fputs("1000", file);
		fclose(file);
	}
	setpriority(PRIO_PROCESS, 0, 19);
}

/* A file of another mount namespace; @path is that by which the child opens it. */
struct elsewhere {
	uint32_t pid;
	const char *name;
	char *path;
};

static int by_place(const void *a, const void *b)
{
	const struct elsewhere *e = a, *f = b;

	return (e->pid > f->pid) - (e->pid < f->pid) ?: strcmp(e->name, f->name);
}

/* Find a file of another mount namespace, once for all DSOs that have it. */
static const char *find_elsewhere(void **tree, const struct prf_dso *dso)
{
	struct elsewhere *file = calloc(1, sizeof(*file)), **found;
	int fd;

	if (!file)
		return NULL;
	*file = (struct elsewhere){ .pid = dso->pid, .name = dso->path };
	found = tsearch(file, tree, by_place);
	if (!found || *found != file) {
		free(file);
		return found ? (*found)->path : NULL;
	}
	fd = process_open(dso->pid, dso->mount_ns, dso->path, 0);
	if (fd >= 0 && asprintf(&file->path, "/proc/self/fd/%d", fd) < 0)
		file->path = NULL;
	return file->path;
}

/*
 * Files of other mount namespaces, by DSO. They are found while the child may enter
 * these, and opened when it has the reader's rights.
 */
static const char **list_elsewhere(const struct prf *prf, const bool *chosen)
{
	const char **files = calloc(prf_count_dsos(prf) + 1, sizeof(*files));
	const struct prf_dso *dso;
	struct prf_at at = {};
	void *tree = NULL;
	size_t i;

	for (i = 0; files && (dso = prf_next(prf, 1, &at)); i++)
		if (chosen[i] && dso->mount_ns)
			files[i] = find_elsewhere(&tree, dso);
	return files;
}

/* In the child: collect the names, and write them to the pipe. */
static void __attribute__((noreturn))
collect(const struct prf *prf, const bool *chosen, uid_t uid, size_t room,
	const struct keep_limits *limits, pid_t profil, int output)
{
	const char **files;
	char *data;
	size_t size;
	ssize_t done;

	if (limits->background)
		stand_back();
	if (dup2(output, STDIN_FILENO) < 0 ||
	    close_range(STDERR_FILENO + 1, ~0u, 0))
		_exit(1);
	/* Each DSO has some */
	file_raise_limit();
	files = list_elsewhere(prf, chosen);
	if (!files || become(uid) || drop_capabilities())
		_exit(1);
	/* If profil is killed, nobody else ends this. A change of users undoes it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != profil)
		_exit(1);
	limit_memory(limits->bytes);
	file_survive_cuts();
	debug_file_fetch(false);
	data = collect_names(prf, chosen, files, limits->functions_only, room,
			     &size);
	if (!data)
		_exit(1);
	for (; size; data += done, size -= done) {
		done = write(STDIN_FILENO, data, size);
		if (done <= 0)
			_exit(1);
	}
	_exit(0);
}

/* Longest time until a signal is heeded, in milliseconds */
#define HEED_MS		500

static bool wait_until(const struct session *session, int fd, uint64_t end_ns,
		       const struct keep_limits *limits)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	uint64_t now, ms;

	while ((now = now_ns()) < end_ns &&
	       !(limits->until_signal && session_is_ending())) {
		ms = (end_ns - now) / 1000000 + 1;
		if (session_poll(session, &poll_fd, 1, MIN(ms, HEED_MS)) > 0)
			return true;
	}
	return false;
}

/*
 * Read what the child writes, up to a byte more than there is room for. Returns NULL
 * if it does not end in time, or is not to be waited for.
 */
static char *receive(const struct session *session, int input, uint64_t end_ns,
		     const struct keep_limits *limits, size_t room, size_t *size)
{
	char *data = malloc(room + 1);
	ssize_t got;

	for (*size = 0; data && wait_until(session, input, end_ns, limits);
	     *size += got) {
		got = read(input, data + *size, room + 1 - *size);
		if (!got)
			return data;
		if (got < 0)
			break;
	}
	free(data);
	return NULL;
}

/* Returns why the child has no names, or NULL. */
static const char *start(const struct prf *prf, const bool *chosen, uid_t uid,
			 size_t room, const struct keep_limits *limits,
			 int *input, pid_t *pid)
{
	pid_t profil = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return strerror(errno);
	*pid = fork();
	if (!*pid)
		collect(prf, chosen, uid, room, limits, profil, ends[1]);
	close(ends[1]);
	*input = ends[0];
	if (*pid > 0)
		return NULL;
	close(ends[0]);
	return strerror(errno);
}

/* Number of different readers that are left */
static size_t count_readers(const struct readers *readers, bool elsewhere)
{
	size_t i, j, nr = 0;

	for (i = 0; i < readers->nr; i++) {
		for (j = 0; j < i && !is_same(&readers->list[j],
					      &readers->list[i]); j++)
			;
		nr += j == i && is_left(&readers->list[i], elsewhere);
	}
	return nr;
}

/* The names of all readers together have a limit: the part of one of @nr */
static size_t room_in(const struct prf *prf, size_t nr)
{
	size_t room = PRF_NAMES_MOST, i;

	for (i = 0; i < prf->nr_blocks; i++)
		room -= prf->blocks[i].size;
	return room / nr;
}

static const char *keep(const struct session *session, struct prf *prf,
			const bool *chosen, uid_t uid, size_t room,
			const struct keep_limits *limits, uint64_t end_ns)
{
	size_t size;
	const char *problem;
	int input = -1, status;
	pid_t pid = -1;
	char *data;

	problem = start(prf, chosen, uid, room, limits, &input, &pid);
	if (problem)
		return problem;
	data = receive(session, input, end_ns, limits, room, &size);
	close(input);
	/* What has closed the pipe without having ended must not go on either */
	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) < 0)
		status = -1;
	problem = !data && limits->until_signal && session_is_ending() ?
			"a signal came" :
		!data ? "it took too long to read them" :
		size > room ? "more names than a profile can have" :
		status || !size ? "the process that reads them failed" : NULL;
	if (!problem)
		return prf_add_names(prf, data, size);
	free(data);
	return problem;
}

/*
 * Each reader has its part, so that no user's files cost others their names. @more:
 * how many parts are left for others
 */
static const char *keep_each(const struct session *session, struct prf *prf,
			     const struct keep_limits *limits, uint64_t end_ns,
			     struct readers *readers, bool elsewhere,
			     size_t more)
{
	bool *chosen = calloc(readers->nr + 1, sizeof(*chosen));
	const char *problem = NULL, *failed;
	size_t nr;

	if (!chosen)
		return strerror(ENOMEM);
	for (nr = count_readers(readers, elsewhere) + more; nr > more; nr--) {
		uid_t uid = take_reader(readers, elsewhere, chosen);
		uint64_t now = now_ns();
		uint64_t left_ns = now < end_ns ? end_ns - now : 0;

		failed = keep(session, prf, chosen, uid, room_in(prf, nr),
			      limits, now + left_ns / nr);
		problem = problem ?: failed;
	}
	free(chosen);
	return problem;
}

/* All other mount namespaces together have no more than one user. */
static const char *keep_all(const struct session *session, struct prf *prf,
			    const struct keep_limits *limits,
			    struct readers *readers)
{
	uint64_t end_ns = now_ns() + limits->seconds * 1000000000ULL;
	bool others = count_readers(readers, true);
	const char *ours = keep_each(session, prf, limits, end_ns, readers,
				     false, others);
	const char *theirs = keep_each(session, prf, limits, end_ns, readers,
				       true, 0);

	return ours ?: theirs;
}

/**
 * keep_within() - add to a profile what the files of its DSOs say
 * @session: what was profiled
 * @prf: the profile; for prf_drop_names()
 * @limits: what that may take
 *
 * Return: NULL, or why there are none, or not all.
 */
const char *keep_within(const struct session *session, struct prf *prf,
			const struct keep_limits *limits)
{
	struct readers readers = {};
	const char *problem;

	problem = find_readers(session, prf, &readers) ? strerror(ENOMEM) :
		keep_all(session, prf, limits, &readers);
	free(readers.list);
	return problem;
}

/**
 * keep_names() - add names to a profile that is complete, unless unwanted
 * @session: what was profiled
 * @prf: the profile; for prf_drop_names()
 *
 * Without names, prohist looks into the files itself: a failure is no error.
 */
void keep_names(const struct session *session, struct prf *prf)
{
	const char *problem;

	if (session->no_names)
		return;
	problem = keep_within(session, prf, &at_end);
	if (problem)
		term_warn("names of %sfunctions are not in the profile: %s",
			  prf->nr_blocks ? "some " : "", problem);
}
