// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch.c - a watch of the kernel module
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "profil/callers.h"
#include "profil/watch.h"

/*
 * Buckets with chains: enough for ten minutes of a compiler, of which 13 s need
 * 16,000, and each further second some hundreds.
 */
#define CHAIN_BUCKETS	(1u << 18)
#define LEAST_BUCKETS	(1u << 14)

/* Of the machine, where a new table follows one that is nearly full */
#define RENEWED_BUCKETS	(1u << 18)

/**
 * watch_info() - ask the device for its features and limits
 *
 * Return: 0, or -1 with errno if there is no device, or one without watches.
 */
int watch_info(struct profil_info *info)
{
	int fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	int result, error;

	if (fd < 0)
		return -1;
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	result = ioctl(fd, PROFIL_IOC_INFO, info);
	error = errno;
	close(fd);
	errno = error;
	if (!result && !info->watch_flags) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return result;
}

static uint32_t flags_of(const struct session *session)
{
	uint32_t flags = 0;

	if (session->target == TARGET_PROGRAM)
		flags |= PROFIL_WATCH_CHILDREN | PROFIL_WATCH_AT_EXEC;
	else if (session->target == TARGET_PROCESSES)
		flags |= PROFIL_WATCH_CHILDREN;
	if (session->per_process)
		flags |= PROFIL_WATCH_SEPARATE;
	if (session->kernel && !session->user_only)
		flags |= PROFIL_WATCH_KERNEL_TEXT;
	if (!session->flat)
		flags |= PROFIL_WATCH_CHAINS;
	if (session->call_sites)
		flags |= PROFIL_WATCH_CALL_SITES;
	if (session->wall)
		flags |= PROFIL_WATCH_WALL;
	return flags;
}

/* Set target and ID of a request; @directory receives a descriptor or -1. */
static int set_target(struct profil_watch *request,
		      const struct session *session, pid_t pid, int *directory)
{
	*directory = -1;
	switch (session->target) {
	case TARGET_PROGRAM:
	case TARGET_PROCESSES:
		request->target = PROFIL_WATCH_PROCESS;
		request->id = pid;
		break;
	case TARGET_USER:
		request->target = PROFIL_WATCH_USER;
		request->id = session->uid;
		break;
	case TARGET_MACHINE:
		request->target = PROFIL_WATCH_MACHINE;
		break;
	case TARGET_CGROUP:
		request->target = PROFIL_WATCH_CGROUP;
		*directory = open(session->cgroup,
				  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		request->id = *directory;
		return *directory < 0 ? -1 : 0;
	}
	return 0;
}

/*
 * Chains need a bucket for each frame with other callers. All watches of a user
 * have 64 MiB, and with several processes each has a watch.
 */
static uint32_t buckets_of(const struct session *session)
{
	uint32_t buckets = CHAIN_BUCKETS;
	size_t watches;

	for (watches = session->nr_pids; watches > 1; watches /= 2)
		buckets /= 2;
	return buckets > LEAST_BUCKETS ? buckets : LEAST_BUCKETS;
}

/*
 * The machine has more of everything than the default sizes are for, and its
 * table is not limited by max_watch_kb.
 */
static void set_sizes(struct profil_watch *request,
		      const struct session *session)
{
	if (!session->flat)
		request->buckets = buckets_of(session);
	if (session->target != TARGET_MACHINE)
		return;
	request->processes = 1 << 15;
	request->images = 1 << 13;
	request->objects = 1 << 13;
	request->buckets = session->flat ? 1 << 19 : 1 << 20;
	request->names = 1 << 20;
	if (session->renewed)
		request->buckets = RENEWED_BUCKETS;
}

/* Rather less room than none: max_watch_kb may be less than the default. */
static int begin(int fd, struct profil_watch *request)
{
	const struct profil_watch asked = *request;
	uint32_t buckets = asked.buckets;
	int result;

	for (;;) {
		result = ioctl(fd, PROFIL_IOC_WATCH, request);
		if (!result || (errno != EAGAIN && errno != ENOMEM) ||
		    buckets <= LEAST_BUCKETS)
			return result;
		buckets /= 2;
		*request = asked;
		request->buckets = buckets;
	}
}

static const char *map(struct watch *watch)
{
	watch->table = profil_watch_map(watch->fd, &watch->request);
	if (watch->table)
		return NULL;
	return errno == EPROTO ?
		"the table of the module has another version" : "mmap";
}

/**
 * watch_start() - start a watch, and map its table
 * @watch: receives the watch; for watch_end(), even on failure
 * @session: target and options
 * @pid: the process, if the target is one
 * @period_ns: receives the actual mean period
 *
 * Return: NULL, or the name of what failed, with errno.
 */
const char *watch_start(struct watch *watch, const struct session *session,
			pid_t pid, uint64_t *period_ns)
{
	struct profil_watch *request = &watch->request;
	int directory, result;

	memset(watch, 0, sizeof(*watch));
	watch->program = -1;
	request->size = sizeof(*request);
	request->flags = flags_of(session);
	request->period_ns = session->asked_ns;
	request->bucket_shift = __builtin_ctz(session->bucket);
	set_sizes(request, session);
	watch->fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	if (watch->fd < 0)
		return PROFIL_DEVICE;
	if (set_target(request, session, pid, &directory))
		return "open";
	result = begin(watch->fd, request);
	if (directory >= 0)
		close(directory);
	if (result)
		return "PROFIL_IOC_WATCH";
	*period_ns = request->period_ns;
	return map(watch);
}

/**
 * watch_status() - read the stats of a watch, or stop it
 * @watch: the watch
 * @request: PROFIL_IOC_WATCH_STATUS, or _COLLECT, or _STOP; the table stays
 * @status: receives the stats
 *
 * Return: 0, or -1 with errno.
 */
int watch_status(const struct watch *watch, unsigned long request,
		 struct profil_watch_status *status)
{
	memset(status, 0, sizeof(*status));
	status->size = sizeof(*status);
	return ioctl(watch->fd, request, status);
}

/**
 * watch_is_full() - has a table little room left?
 * @room: the watch, as the module has granted it
 * @used: its stats
 */
bool watch_is_full(const struct profil_watch *room,
		   const struct profil_watch_status *used)
{
	return used->buckets > room->buckets / 4 * 3 ||
		used->images > room->images / 4 * 3 ||
		used->objects > room->objects / 4 * 3 ||
		used->names > room->names / 4 * 3;
}

/** watch_end() - unmap the table, and close the device */
void watch_end(struct watch *watch)
{
	callers_end(watch);
	profil_watch_unmap(watch->table, &watch->request);
	if (watch->fd >= 0)
		close(watch->fd);
	watch->table = NULL;
	watch->fd = -1;
}
