// SPDX-License-Identifier: GPL-2.0-only
/*
 * backend_watch.c - the module counts ticks in a table that profil maps
 *
 * Nothing happens in the programs that are profiled. There is one watch for a
 * session, or one for each process to which profil attaches.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "profil/backend_watch.h"
#include "profil/callers.h"
#include "profil/record.h"
#include "util/array.h"
#include "util/term.h"

/*
 * After a stop, threads on their way out of the kernel bring their last ticks
 * within this time, unless they are not let run.
 */
#define LAST_TICKS_NS	100000000ULL
#define LOOK_US		500

/* So long may tables of callers be made until profil heeds signals again. */
#define PATIENCE_NS	50000000ULL

/**
 * struct watches - state of the backend
 * @info: features and limits of the device
 * @nr: number of watches
 * @list: the watches
 * @ready: epoll(7) descriptor of the watches and of @more
 * @more: eventfd(2) that is readable while there are files to look at
 */
struct watches {
	struct profil_info info;
	size_t nr;
	struct watch *list;
	int ready;
	int more;
};

static void free_watches(struct watches *watches)
{
	if (watches->ready >= 0)
		close(watches->ready);
	if (watches->more >= 0)
		close(watches->more);
	free(watches->list);
	free(watches);
}

static int listen_to(const struct watches *watches, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(watches->ready, EPOLL_CTL_ADD, fd, &event);
}

/* Without chains, there is nothing to look at meanwhile. */
static const char *prepare_chains(struct session *session,
				  struct watches *watches)
{
	if (!session->flat &&
	    !(watches->info.watch_flags & PROFIL_WATCH_CHAINS)) {
		term_warn("the profile has no call chains: the module that is loaded has none; they need a later version, and x86-64");
		session->flat = true;
	}
	if (session->flat)
		return NULL;
	watches->ready = epoll_create1(EPOLL_CLOEXEC);
	watches->more = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watches->ready < 0 || watches->more < 0)
		return "epoll_create1";
	return listen_to(watches, watches->more) ? "epoll_ctl" : NULL;
}

static const char *check_wall(const struct session *session,
			      const struct profil_info *info)
{
	if (!session->wall || info->watch_flags & PROFIL_WATCH_WALL)
		return NULL;
	errno = EOPNOTSUPP;
	return "PROFIL_WATCH_WALL";
}

static const char *backend_open(struct session *session)
{
	struct watches *watches = calloc(1, sizeof(*watches));
	const char *failed = NULL;

	if (!watches)
		return "malloc";
	watches->ready = -1;
	watches->more = -1;
	if (watch_info(&watches->info))
		failed = PROFIL_DEVICE;
	else
		failed = check_wall(session, &watches->info) ?:
			prepare_chains(session, watches);
	if (failed) {
		free_watches(watches);
		return failed;
	}
	session->state = watches;
	session->clock = watches->info.clock == PROFIL_CLOCK_HRTIMER ?
			 PRF_CLOCK_HRTIMER : PRF_CLOCK_PERF;
	return NULL;
}

static const char *check_period(const struct session *session,
				const struct profil_info *info)
{
	static char text[64];

	if (!session->asked_ns)
		return NULL;
	if (session->asked_ns >= info->min_period_ns &&
	    session->asked_ns <= info->max_period_ns)
		return NULL;
	snprintf(text, sizeof(text), "--interval must be from %u to %u us",
		 (unsigned int)(info->min_period_ns / 1000),
		 (unsigned int)(info->max_period_ns / 1000));
	errno = ERANGE;
	return text;
}

static const char *begin(struct session *session, pid_t pid)
{
	struct watches *watches = session->state;
	const char *failed = check_period(session, &watches->info);
	struct watch *list;

	if (failed)
		return failed;
	list = array_grow(watches->list, watches->nr, sizeof(*list));
	if (!list)
		return "malloc";
	watches->list = list;
	failed = watch_start(&list[watches->nr], session, pid,
			     &session->period_ns);
	if (!failed && !session->flat &&
	    listen_to(watches, list[watches->nr].fd))
		failed = "epoll_ctl";
	if (failed) {
		watch_end(&list[watches->nr]);
		return failed;
	}
	if (!session->flat)
		callers_begin(&list[watches->nr], session, pid);
	watches->nr++;
	return NULL;
}

static int descriptor(const struct session *session)
{
	const struct watches *watches = session->state;

	return watches->ready;
}

/* Load tables for the files that the watches have seen. */
static void drain(struct session *session)
{
	struct watches *watches = session->state;
	uint64_t until_ns = now_ns() + PATIENCE_NS;
	struct profil_watch_status status;
	eventfd_t nr;
	size_t i;

	if (session->flat)
		return;
	eventfd_read(watches->more, &nr);
	for (i = 0; i < watches->nr; i++) {
		/* First: what is seen from now on is reported */
		watch_status(&watches->list[i], PROFIL_IOC_WATCH_STATUS,
			     &status);
		if (!callers_add(&watches->list[i], session, until_ns))
			eventfd_write(watches->more, 1);
	}
}

/* Stop a watch; returns the ticks that are still on their way. */
static uint64_t stop(const struct watch *watch,
		     struct profil_watch_status *status)
{
	uint64_t end_ns = now_ns() + LAST_TICKS_NS;

	watch_status(watch, PROFIL_IOC_WATCH_STOP, status);
	while (status->pending && now_ns() < end_ns) {
		usleep(LOOK_US);
		watch_status(watch, PROFIL_IOC_WATCH_STATUS, status);
	}
	return status->pending;
}

static int by_start(const void *a, const void *b)
{
	const struct prf_exec *e = a, *f = b;

	if (e->start_ns != f->start_ns)
		return e->start_ns < f->start_ns ? -1 : 1;
	return (e->pid > f->pid) - (e->pid < f->pid);
}

/* The object in which most ticks found no bucket */
static const struct profil_watch_object *
fullest(const struct profil_watch_table *table)
{
	const struct profil_watch_object *object, *found = NULL;
	uint32_t i;

	for (i = 0; (object = profil_watch_object(table, i)); i++)
		if (!found || object->coarse > found->coarse)
			found = object;
	return found;
}

/* What found no room in the table is not lost, but is not where it belongs. */
static void report_full(const struct watch *watch,
			const struct profil_watch_status *status)
{
	uint32_t others = profil_watch_image(watch->table, 0)->processes;
	const struct profil_watch_object *object;

	if (status->coarse) {
		object = fullest(watch->table);
		term_warn("the table of the module was full: %llu ticks have no function, %llu of them in %s; use a larger --bucket, or profile for less time",
			  (unsigned long long)status->coarse,
			  (unsigned long long)object->coarse,
			  profil_watch_path(watch->table, object) ?:
			  "code without a path");
	}
	if (others)
		term_warn("the table of the module was full: %u processes have no program of their own; profile fewer, or for less time",
			  others);
	if (status->unfollowed_threads)
		term_warn("the module had no room for %llu threads: what they waited for is not in the profile",
			  (unsigned long long)status->unfollowed_threads);
	if (watch->no_room)
		term_warn("the module had no room for the tables of %u files, in which call chains end: see max_watch_kb in profil(4)",
			  watch->no_room);
}

static void put_chains(struct session *session,
		       const struct profil_watch_status *status)
{
	struct prf *prf = &session->prf;
	int i;

	if (session->flat)
		return;
	prf->flags |= PRF_FLAG_CHAINS;
	if (session->call_sites)
		prf->flags |= PRF_FLAG_CALL_SITES;
	for (i = 0; i < PRF_CHAIN_ENDS; i++)
		prf->chains[i] += status->chains[i];
}

static int take(struct session *session, const struct watch *watch)
{
	struct profil_watch_status status;
	struct prf *prf = &session->prf;
	size_t before = prf->nr;
	uint64_t pending = stop(watch, &status);

	prf->withheld += status.withheld;
	prf->unfollowed += status.unfollowed;
	prf->unfollowed_threads += status.unfollowed_threads;
	if (session->wall)
		prf->flags |= PRF_FLAG_WALL;
	report_full(watch, &status);
	put_chains(session, &status);
	if (record_table(session, watch->table))
		return -1;
	/* They belong to one of these execs, but nobody knows to which */
	if (pending && prf->nr > before) {
		prf->execs[before].lost += pending;
		prf->execs[before].ticks += pending;
	}
	return 0;
}

static int end(struct session *session)
{
	struct watches *watches = session->state;
	struct prf *prf = &session->prf;
	int failed = 0, error = 0;
	size_t i;

	for (i = 0; i < watches->nr; i++) {
		if (!failed && watches->list[i].table &&
		    take(session, &watches->list[i])) {
			failed = -1;
			error = errno;
		}
		callers_keep(&watches->list[i], prf);
		watch_end(&watches->list[i]);
	}
	if (prf->nr)
		qsort(prf->execs, prf->nr, sizeof(*prf->execs), by_start);
	free_watches(watches);
	errno = error;
	return failed;
}

/** backend_watches() - the watches of a session whose backend this is */
size_t backend_watches(const struct session *session,
		       const struct watch **watches)
{
	const struct watches *state = session->state;

	*watches = state->list;
	return state->nr;
}

/**
 * backend_stop_watches() - stop counting, and keep the tables
 *
 * Return: the ticks that are still on their way, and get lost.
 */
uint64_t backend_stop_watches(struct session *session)
{
	const struct watches *watches = session->state;
	struct profil_watch_status status;
	uint64_t pending = 0;
	size_t i;

	for (i = 0; i < watches->nr; i++)
		pending += stop(&watches->list[i], &status);
	return pending;
}

/** backend_report_watches() - say for what there was no room, without a profile */
void backend_report_watches(const struct session *session)
{
	const struct watches *watches = session->state;
	struct profil_watch_status status;
	size_t i;

	for (i = 0; i < watches->nr; i++)
		if (!watch_status(&watches->list[i], PROFIL_IOC_WATCH_STATUS,
				  &status))
			report_full(&watches->list[i], &status);
}

/** backend_end_watches() - end the watches of a session, without a profile */
void backend_end_watches(struct session *session)
{
	struct watches *watches = session->state;

	while (watches->nr)
		watch_end(&watches->list[--watches->nr]);
}

const struct backend backend_watch = {
	.open = backend_open,
	.begin = begin,
	.descriptor = descriptor,
	.drain = drain,
	.end = end,
};
