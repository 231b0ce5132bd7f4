/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * window.h - ticks of stretches of time, for several readers
 *
 * Each reader wants the ticks of its own window. The table is read whenever one
 * of the windows begins or ends, and what has been counted since the last time,
 * a segment, belongs to all windows that are open.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prf/prf.h"

struct code_file;

/**
 * struct moment - a time that has a date, however long the machine sleeps after it
 * @ns: on the monotonic clock
 * @asleep_ns: how long the machine had been asleep by then
 */
struct moment {
	uint64_t ns;
	uint64_t asleep_ns;
};

/**
 * struct segment - ticks from one reading of the table to the next
 * @users: number of windows that it belongs to, and one for its maker
 * @prf: the ticks
 * @files: by code_learn(), the code of each DSO of all execs; or NULL
 * @bytes: memory of all that, about
 */
struct segment {
	unsigned int users;
	struct prf prf;
	struct code_file **files;
	size_t bytes;
};

/**
 * struct window - what has been counted in a stretch of time
 * @start: its beginning; 0 if it is closed
 * @end: its end so far
 * @nr: number of segments
 * @list: the segments
 * @bytes: their memory, about
 */
struct window {
	struct moment start;
	struct moment end;
	size_t nr;
	struct segment **list;
	size_t bytes;
};

struct moment moment_now(void);
uint64_t moment_unix_ns(const struct moment *moment);
struct segment *segment_new(void);
void segment_measure(struct segment *segment, size_t names);
void segment_put(struct segment *segment);
void window_open(struct window *window, const struct moment *now);
bool window_is_due(uint64_t start_ns, uint64_t seconds, uint64_t now_ns);
bool window_is_full(const struct window *window);
int window_add(struct window *window, struct segment *segment,
	       const struct moment *now);
void window_close(struct window *window);

#endif /* WINDOW_H */
