/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options.h - the command line of prohist
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "prohist/report.h"
#include "prohist/select.h"

/* As of diff(1) and grep(1); whoever has no memory exits with 2. */
enum status {
	STATUS_OK = 0,
	STATUS_SLOWER = 1,
	STATUS_TROUBLE = 2,
};

/*
 * Flags of a format: not for a terminal; prints one DSO; for other programs, and
 * lacks the summary; heeds --sort and --fields; can show inlined functions;
 * compares, and has verdicts; has a summary that --stats makes longer; has chains of
 * callers; is a tree of them.
 */
#define FORMAT_BINARY	1u
#define FORMAT_DSO	2u
#define FORMAT_FOREIGN	4u
#define FORMAT_ROWS	8u
#define FORMAT_INLINED	16u
#define FORMAT_DIFF	32u
#define FORMAT_VERDICT	64u
#define FORMAT_STATS	128u
#define FORMAT_CHAINS	256u
#define FORMAT_TREE	512u

/**
 * struct format - an argument of --format
 * @name: the argument
 * @print: prints it; reports its errors, except those of standard output
 * @diff: with FORMAT_DIFF, prints a comparison
 * @flags: FORMAT_*
 */
struct format {
	const char *name;
	int (*print)(const struct report *report);
	int (*diff)(const struct diff *diff);
	unsigned int flags;
};

/**
 * struct options - the command line
 * @format: how to print
 * @view: what --lines and the like print instead of a format, or NULL
 * @selection: what to report
 * @function: argument of --annotate, --callers or --callees
 * @output: --output, or NULL
 * @buckets: --buckets
 * @debuginfod: --debuginfod
 * @diff: --diff
 * @inlined: --inline
 * @idle: --idle
 * @fail_over: --fail-over, as a fraction; 0 if not given
 * @no_pager: --no-pager
 * @keys: ROW_*: what --sort and --fields name
 * @has_fields: --fields was given
 * @fields: its columns, ended by COLUMN_END
 * @stats: --stats
 * @top: --top, or its default
 * @files: the files
 * @nr: number of files
 */
struct options {
	const struct format *format;
	const struct format *view;
	struct selection selection;
	const char *function;
	const char *output;
	bool buckets;
	bool debuginfod;
	bool diff;
	bool inlined;
	bool idle;
	double fail_over;
	bool no_pager;
	unsigned int keys;
	bool has_fields;
	bool stats;
	enum column_id fields[NR_COLUMNS];
	size_t top;
	char **files;
	int nr;
};

int options_parse(struct options *options, int argc, char **argv);
int options_wrong(const char *problem);
bool options_are_plain(const struct options *options);

#endif /* OPTIONS_H */
