/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * keep.h - keep names in a profile
 */
#ifndef KEEP_H
#define KEEP_H

#include "profil/session.h"

/**
 * struct keep_limits - what reading names may take
 * @seconds: time, in seconds
 * @bytes: memory that the child may have beside that of profil
 * @functions_only: read neither inlined calls nor source lines
 * @background: let everything else run, and stay in memory, first
 * @until_signal: give up when a signal ends the session
 */
struct keep_limits {
	unsigned int seconds;
	uint64_t bytes;
	bool functions_only;
	bool background;
	bool until_signal;
};

const char *keep_within(const struct session *session, struct prf *prf,
			const struct keep_limits *limits);
void keep_names(const struct session *session, struct prf *prf);

#endif /* KEEP_H */
