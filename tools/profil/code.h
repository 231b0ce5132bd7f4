/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * code.h - functions of files, by path and build ID
 *
 * A function that has had ticks will have more. Its file is read once, unless
 * that changes.
 */
#ifndef CODE_H
#define CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prf/prf.h"
#include "profil/session.h"

/**
 * struct code_function - a function
 * @start: its first address
 * @end: first address after it
 * @reach: the greatest end of this function and of all before it
 * @name: its name
 * @profile: the profile that has it, by encode.c
 * @number: its number there
 */
struct code_function {
	uint64_t start;
	uint64_t end;
	uint64_t reach;
	char *name;
	uint64_t profile;
	uint64_t number;
};

/**
 * struct code_file - what is known of a file, or of other code
 * @users: number of lists of code_learn() that have it, and one until code_forget()
 * @dso: its kind, its path, and by what it is known again
 * @nr_segments: number of segments
 * @segments: its executable segments
 * @nr: number of functions
 * @functions: its functions, sorted by start, and then from the longest
 * @nr_wanted: number of elements of @wanted
 * @wanted: places without a function, to ask for
 * @asked: number of times that it could not be read
 * @ask_at: number of the reading at which it is asked again
 * @profile: the profile that has it, by encode.c
 * @mapping: its number there
 */
struct code_file {
	unsigned int users;
	struct prf_dso dso;
	size_t nr_segments;
	struct prf_segment *segments;
	size_t nr;
	struct code_function *functions;
	size_t nr_wanted;
	struct code_place *wanted;
	unsigned int asked;
	uint64_t ask_at;
	uint64_t profile;
	uint64_t mapping;
};

/**
 * struct code_limits - what learning functions may take
 * @seconds: time for all questions, in seconds
 * @question_seconds: time for each of them
 * @background: let everything else run, and stay in memory, first
 * @until_signal: give up when a signal ends the session
 */
struct code_limits {
	unsigned int seconds;
	unsigned int question_seconds;
	bool background;
	bool until_signal;
};

/* Room for a name that code_name() makes: of a file, and an address */
#define CODE_NAME	300

struct code_file *code_file(const struct prf_dso *dso);
void code_put(struct code_file **files);
uint64_t code_address(const struct code_file *file,
		       const struct prf_dso *dso, uint64_t offset);
struct code_function *code_function(struct code_file *file,
				      uint64_t address, uint64_t bytes);
const char *code_name(const struct code_file *file,
		      const struct code_function *function, uint64_t address,
		      char room[CODE_NAME]);
struct code_file **code_learn(const struct session *session,
			      const struct prf *prf,
			      const struct code_limits *limits);
size_t code_bytes(void);
unsigned long code_failures(void);
void code_trim(void);
void code_forget(void);

#endif /* CODE_H */
