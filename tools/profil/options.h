/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options.h - options of "profil" and "profil top"
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <getopt.h>

#include "profil/session.h"

#define MAX_BUCKET	4096

enum {
	OPTION_KERNEL = 256,
	OPTION_CGROUP,
	OPTION_DURATION,
	OPTION_USER,
	OPTION_FLAT,
	OPTION_CALL_SITES,
	OPTION_DOS,
	OPTION_NO_NAMES,
	OPTION_INTERACTIVE,
	OPTION_PUSH,
	OPTION_PUSH_AS,
	OPTION_EVERY,
	OPTION_LABEL,
	OPTION_SPLIT,
	OPTION_TOKEN_FILE,
	OPTION_PASSWORD_FILE,
	OPTION_SPOOL,
	OPTION_SPOOL_SIZE,
	OPTION_LISTEN,
	OPTION_WALL,
};

#define SHORT_OPTIONS "p:at:b:o:Pn:"

extern const struct option long_options[];
extern const char one_target[];

void misused(const char *what) __attribute__((noreturn));
uint64_t number(const char *text, uint64_t min, uint64_t max,
		const char *error);
void add_pids(struct session *session, const char *text);
bool common_option(struct session *session, int option, char *argument);

#endif /* OPTIONS_H */
