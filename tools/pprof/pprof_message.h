/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pprof_message.h - write the messages of profile.proto, for pprof
 *
 * Messages may come in any order. Each of pprof_mapping(), pprof_function() and
 * pprof_location() returns the number by which others refer to what it has
 * written. A failure is remembered until pprof_end().
 */
#ifndef PPROF_MESSAGE_H
#define PPROF_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pprof/protobuf.h"
#include "prf/prf.h"

/* A message within the profile, of any length; its memory serves the next one. */
struct pprof_nested {
	FILE *file;
	char *data;
	size_t size;
};

/**
 * struct pprof - a profile being written
 *
 * All members are private to pprof_message.c.
 */
struct pprof {
	FILE *file;
	bool failed;
	bool wall;
	uint64_t strings;
	uint64_t mappings;
	uint64_t functions;
	uint64_t locations;
	struct pprof_nested sample;
	struct pprof_nested location;
};

/**
 * struct pprof_line - a function at a location, and the place in it
 * @function: number of the function
 * @line: line number, or 0
 */
struct pprof_line {
	uint64_t function;
	int line;
};

FILE *pprof_open(int fd);
void pprof_begin(struct pprof *pprof, FILE *file);
void pprof_add_wall(struct pprof *pprof);
int pprof_end(struct pprof *pprof);
uint64_t pprof_string(struct pprof *pprof, const char *string);
void pprof_times(struct pprof *pprof, double period_ns, uint64_t start_unix_ns,
		 double wall_ns);
void pprof_comment(struct pprof *pprof, const char *comment);
uint64_t pprof_mapping(struct pprof *pprof, const struct prf_dso *dso,
		       uint64_t start, uint64_t end, bool lines);
uint64_t pprof_function(struct pprof *pprof, uint64_t name, const char *file);
uint64_t pprof_location(struct pprof *pprof, uint64_t mapping,
			uint64_t address, const struct pprof_line *lines,
			size_t nr);
struct proto pprof_text_label(struct pprof *pprof, const char *key,
			      const char *value);
struct proto pprof_number_label(struct pprof *pprof, const char *key,
				uint64_t value);
void pprof_add_location(struct pprof *pprof, uint64_t location);
void pprof_end_sample(struct pprof *pprof, const struct proto *labels,
		      size_t nr, uint64_t ticks, double ns);
void pprof_end_wait(struct pprof *pprof, const struct proto *labels,
		    size_t nr, uint64_t ticks, double ns);

#endif /* PPROF_MESSAGE_H */
