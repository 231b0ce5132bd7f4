// SPDX-License-Identifier: GPL-2.0-only
/*
 * window.c - ticks of stretches of time, for several readers
 */
#include <stdlib.h>
#include <string.h>

#include "profil/code.h"
#include "profil/session.h"
#include "push/config.h"
#include "push/window.h"
#include "util/array.h"

/** moment_now() - the time, for moment_unix_ns() */
struct moment moment_now(void)
{
	return (struct moment){ .ns = now_ns(), .asleep_ns = asleep_ns() };
}

/** moment_unix_ns() - convert a moment to nanoseconds since the epoch */
uint64_t moment_unix_ns(const struct moment *moment)
{
	return unix_ns(moment->ns) - (asleep_ns() - moment->asleep_ns);
}

/** segment_new() - make an empty segment, for segment_put(); NULL if out of memory */
struct segment *segment_new(void)
{
	struct segment *segment = calloc(1, sizeof(*segment));

	if (segment)
		segment->users = 1;
	return segment;
}

/** segment_put() - free a segment, which may be NULL, if nobody else uses it */
void segment_put(struct segment *segment)
{
	if (!segment || --segment->users)
		return;
	code_put(segment->files);
	prf_free(&segment->prf);
	free(segment);
}

/** window_open() - begin a window, without ticks */
void window_open(struct window *window, const struct moment *now)
{
	*window = (struct window){ .start = *now, .end = *now };
}

/**
 * window_is_due() - is a window to end?
 * @start_ns: its beginning, on the monotonic clock
 * @seconds: how long it is to be
 * @now_ns: the time, which is looked at once a second
 *
 * It has begun somewhat after a full second, of which the last one comes in time.
 */
bool window_is_due(uint64_t start_ns, uint64_t seconds, uint64_t now_ns)
{
	return now_ns + SECOND_NS / 2 >= start_ns + seconds * SECOND_NS;
}

/** window_is_full() - is a window to end before its time? */
bool window_is_full(const struct window *window)
{
	return window->bytes > config.window_bytes;
}

static size_t bytes_of_dso(const struct prf_dso *dso)
{
	size_t bytes = sizeof(*dso) + dso->nr * sizeof(*dso->buckets), i;

	for (i = 0; i < dso->nr_symbols; i++)
		bytes += sizeof(*dso->symbols) + strlen(dso->symbols[i].name);
	return bytes;
}

/**
 * segment_measure() - find out how much memory a segment keeps, about
 * @segment: the segment, with its ticks
 * @names: bytes of names that were learned for it
 */
void segment_measure(struct segment *segment, size_t names)
{
	const struct prf *prf = &segment->prf;
	size_t bytes = 0, i, j;

	for (i = 0; i < prf->nr; i++) {
		const struct prf_exec *exec = &prf->execs[i];

		bytes += sizeof(*exec) + exec->nr_nodes * sizeof(*exec->nodes);
		for (j = 0; j < exec->nr; j++)
			bytes += bytes_of_dso(&exec->dsos[j]);
	}
	/* Arrays have grown by doubling */
	segment->bytes = 2 * bytes + names;
}

/**
 * window_add() - add a segment to a window that is open, and else do nothing
 * @window: the window
 * @segment: the segment
 * @now: end of the segment
 *
 * Return: 0, or -1 if out of memory.
 */
int window_add(struct window *window, struct segment *segment,
	       const struct moment *now)
{
	struct segment **list;

	if (!window->start.ns)
		return 0;
	list = array_grow(window->list, window->nr, sizeof(*list));
	if (!list)
		return -1;
	window->list = list;
	list[window->nr++] = segment;
	segment->users++;
	window->bytes += segment->bytes;
	window->end = *now;
	return 0;
}

/** window_close() - end a window, and let go of its segments */
void window_close(struct window *window)
{
	while (window->nr)
		segment_put(window->list[--window->nr]);
	free(window->list);
	memset(window, 0, sizeof(*window));
}
