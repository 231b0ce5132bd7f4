/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * encode.h - write windows in pprof's format
 */
#ifndef ENCODE_H
#define ENCODE_H

#include <stdint.h>

#include "push/window.h"

/* All programs and cgroups */
#define ENCODE_ALL	NULL

/**
 * struct encode - what to write of a window
 * @window: the window
 * @key: the program or cgroup by which profiles are split, or ENCODE_ALL
 * @comment: a comment on the profile, or NULL
 * @labelled: samples have the labels of the whole profile, too
 * @service: what is profiled, for such a label
 */
struct encode {
	const struct window *window;
	const char *key;
	const char *comment;
	bool labelled;
	const char *service;
};

const char *encode_key(const struct prf_exec *exec);
int encode_window(const struct encode *encode, int fd, uint64_t *ticks);

#endif /* ENCODE_H */
