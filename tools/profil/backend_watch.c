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
#include <unistd.h>

#include "profil/backend_watch.h"
#include "profil/record.h"
#include "util/array.h"
#include "util/term.h"

/*
 * After a stop, threads on their way out of the kernel bring their last ticks
 * within this time, unless they are not let run.
 */
#define LAST_TICKS_NS	100000000ULL
#define LOOK_US		500

/**
 * struct watches - state of the backend
 * @info: features and limits of the device
 * @nr: number of watches
 * @list: the watches
 */
struct watches {
	struct profil_info info;
	size_t nr;
	struct watch *list;
};

static const char *backend_open(struct session *session)
{
	struct watches *watches = calloc(1, sizeof(*watches));

	if (!watches)
		return "malloc";
	if (watch_info(&watches->info)) {
		free(watches);
		return PROFIL_DEVICE;
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
	if (failed)
		watch_end(&list[watches->nr]);
	else
		watches->nr++;
	return failed;
}

static int descriptor(const struct session *session)
{
	return -1;
}

static void drain(struct session *session)
{
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
}

static int take(struct session *session, const struct watch *watch)
{
	struct profil_watch_status status;
	struct prf *prf = &session->prf;
	size_t before = prf->nr;
	uint64_t pending = stop(watch, &status);

	prf->withheld += status.withheld;
	prf->unfollowed += status.unfollowed;
	report_full(watch, &status);
	if (record_table(session, watch->table, status.buckets))
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
		watch_end(&watches->list[i]);
	}
	if (prf->nr)
		qsort(prf->execs, prf->nr, sizeof(*prf->execs), by_start);
	free(watches->list);
	free(watches);
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
