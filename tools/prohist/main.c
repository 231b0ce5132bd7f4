// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - options and files of prohist, see prohist(1)
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prohist/report.h"
#include "util/array.h"
#include "util/file.h"
#include "util/number.h"

#define TOP	30

enum status {
	STATUS_OK = 0,
	STATUS_FILE = 1,
	STATUS_USAGE = 2,
};

/*
 * Flags of a format: not for a terminal; printed without names of functions;
 * prints one DSO; for other programs, and lacks the summary.
 */
#define FORMAT_BINARY	1u
#define FORMAT_RAW	2u
#define FORMAT_DSO	4u
#define FORMAT_FOREIGN	8u

/**
 * struct format - an argument of --format
 * @name: the argument
 * @print: prints it; reports its errors, except those of standard output
 * @flags: FORMAT_*
 */
struct format {
	const char *name;
	int (*print)(const struct report *report);
	unsigned int flags;
};

/* The first one is the default. */
static const struct format formats[] = {
	{ "text", print_text, 0 },
	{ "json", print_json, 0 },
	{ "callgrind", write_callgrind, FORMAT_FOREIGN },
	{ "dos", write_dos,
	  FORMAT_BINARY | FORMAT_RAW | FORMAT_DSO | FORMAT_FOREIGN },
	{ "folded", print_folded, FORMAT_FOREIGN },
	{ "gmon", write_gmon, FORMAT_BINARY | FORMAT_DSO | FORMAT_FOREIGN },
	{ "perf", write_perf, FORMAT_BINARY | FORMAT_RAW | FORMAT_FOREIGN },
	{ "pprof", write_pprof, FORMAT_BINARY | FORMAT_FOREIGN },
	{ "svg", print_svg, FORMAT_BINARY },
};

static const struct format by_lines = { "lines", print_lines, 0 };
static const struct format annotated = { "annotated", print_annotated, 0 };

#define NR_FORMATS	(sizeof(formats) / sizeof(formats[0]))

/* Values of options without a letter. */
enum { OPTION_DSO = 256, OPTION_DEBUGINFO_PATH };

struct options {
	const struct format *format;
	const char *dso;
	const char *function;
	const char *output;
	bool buckets;
	bool diff;
	bool lines;
	size_t top;
	char **files;
	int nr;
};

/* All runs read. */
struct runs {
	struct prf *list;
	size_t nr;
};

static const char help[] =
	"Usage: prohist [OPTION]... FILE...\n"
	"Print a report of profiles, the sum of all FILEs. FILE - is standard input.\n"
	"\n"
	"  -a, --annotate=FUNCTION    show the instructions and source of FUNCTION\n"
	"  -b, --buckets              list the buckets of each file, as MS-DOS PROHIST\n"
	"  -d, --diff                 show functions that differ between two files\n"
	"  -f, --format=FORMAT        print text (default), json or svg; callgrind,\n"
	"                             dos, folded, gmon, perf or pprof for other\n"
	"                             programs\n"
	"  -l, --lines                show source lines instead of functions\n"
	"  -n, --top=N                show at most N functions or lines (default 30;\n"
	"                             0 shows all)\n"
	"      --dso=NAME             choose the DSO for --format=dos or gmon (default\n"
	"                             the program)\n"
	"  -o, --output=FILE          write to FILE (default standard output)\n"
	"      --debuginfo-path=PATH  look for separate debug info in PATH\n"
	"  -h, --help                 show this help\n"
	"  -V, --version              show the version\n"
	"\n"
	"A .PRF file of MS-DOS PROFIL is always listed by buckets.\n";

static int usage(const char *problem)
{
	fprintf(stderr, "prohist: %s\nTry 'prohist --help'.\n", problem);
	return -1;
}

static int parse_format(struct options *options, const char *word)
{
	size_t i;

	for (i = 0; i < NR_FORMATS; i++) {
		options->format = &formats[i];
		if (!strcmp(word, options->format->name))
			return 0;
	}
	fprintf(stderr,
		"prohist: unknown format '%s'\nTry 'prohist --help'.\n", word);
	return -1;
}

static int parse_top(struct options *options, const char *word)
{
	uint64_t top;

	if (!parse_number(word, 0, SIZE_MAX, &top))
		return usage("invalid number for --top");
	options->top = top ?: SIZE_MAX;
	return 0;
}

static int parse_option(struct options *options, int letter)
{
	switch (letter) {
	case 'a':
		options->function = optarg;
		return 0;
	case 'b':
		options->buckets = true;
		return 0;
	case 'd':
		options->diff = true;
		return 0;
	case 'f':
		return parse_format(options, optarg);
	case 'l':
		options->lines = true;
		return 0;
	case 'n':
		return parse_top(options, optarg);
	case 'o':
		options->output = optarg;
		return 0;
	case OPTION_DSO:
		options->dso = optarg;
		return 0;
	case OPTION_DEBUGINFO_PATH:
		symbols_look_in(optarg);
		return 0;
	case 'h':
		fputs(help, stdout);
		exit(STATUS_OK);
	case 'V':
		puts("prohist " VERSION);
		exit(STATUS_OK);
	default:
		fputs("Try 'prohist --help'.\n", stderr);
		return -1;
	}
}

static int parse(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "annotate", required_argument, NULL, 'a' },
		{ "buckets", no_argument, NULL, 'b' },
		{ "diff", no_argument, NULL, 'd' },
		{ "format", required_argument, NULL, 'f' },
		{ "lines", no_argument, NULL, 'l' },
		{ "top", required_argument, NULL, 'n' },
		{ "dso", required_argument, NULL, OPTION_DSO },
		{ "output", required_argument, NULL, 'o' },
		{ "debuginfo-path", required_argument, NULL,
		  OPTION_DEBUGINFO_PATH },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int letter;

	*options = (struct options){ .format = formats, .top = TOP };
	while ((letter = getopt_long(argc, argv, "a:bdf:ln:o:hV", names,
				     NULL)) >= 0)
		if (parse_option(options, letter))
			return -1;
	options->files = argv + optind;
	options->nr = argc - optind;
	if (!options->nr)
		return usage("missing file");
	if (options->diff && options->nr != 2)
		return usage("--diff takes two files");
	if (options->buckets + options->diff + options->lines +
	    !!options->function + (options->format != formats) > 1)
		return usage("--annotate, --buckets, --diff, --lines and --format are mutually exclusive");
	if (options->lines)
		options->format = &by_lines;
	if (options->function)
		options->format = &annotated;
	if (options->dso && !(options->format->flags & FORMAT_DSO))
		return usage("--dso works only with --format=dos and --format=gmon");
	if (options->format->flags & FORMAT_BINARY && !options->output &&
	    isatty(STDOUT_FILENO))
		return usage("not writing this format to a terminal: use --output=FILE");
	return 0;
}

static int complain(const char *path, const struct prf_error *error)
{
	fprintf(stderr, "prohist: %s: %s (at byte %llu)\n", path, error->text,
		(unsigned long long)error->offset);
	return -1;
}

static int list_dos(const struct term *term, const char *path,
		    const void *data, size_t size)
{
	struct prf_error error;
	struct dos_prf dos;
	int result;

	if (dos_prf_read(data, size, &dos, &error))
		return complain(path, &error);
	printf("%s\n", path);
	result = print_dos(term, &dos);
	free(dos.buckets);
	return result;
}

/* Append a run; @runs takes over its memory. */
static void keep(struct runs *runs, const struct prf *prf)
{
	runs->list = array_grow(runs->list, runs->nr, sizeof(*prf));
	if (!runs->list)
		err(STATUS_FILE, NULL);
	runs->list[runs->nr++] = *prf;
}

static void free_runs(struct runs *runs)
{
	size_t i;

	for (i = 0; i < runs->nr; i++)
		prf_free(&runs->list[i]);
	free(runs->list);
}

/* List the buckets of a file, or keep it for the report. */
static int use_data(const struct term *term, const struct options *options,
		    const char *path, const void *data, size_t size,
		    struct runs *runs)
{
	struct prf_error error;
	struct prf prf;

	if (dos_prf_looks_so(data, size) && options->format == formats &&
	    !options->diff)
		return list_dos(term, path, data, size);
	if (prf_read(data, size, &prf, &error))
		return complain(path, &error);
	if (!options->buckets) {
		keep(runs, &prf);
		return 0;
	}
	printf("%s\n", path);
	print_buckets(term, &prf);
	prf_free(&prf);
	return 0;
}

static int use_file(const struct term *term, const struct options *options,
		    const char *path, struct runs *runs)
{
	size_t size;
	void *data = file_read(path, &size);
	int result;

	if (!data) {
		fprintf(stderr, "prohist: %s: %s\n", path, strerror(errno));
		return -1;
	}
	result = use_data(term, options, path, data, size, runs);
	free(data);
	return result;
}

static enum status use_files(const struct term *term,
			     const struct options *options, struct runs *runs)
{
	enum status status = STATUS_OK;
	int i;

	for (i = 0; i < options->nr; i++)
		if (use_file(term, options, options->files[i], runs))
			status = STATUS_FILE;
	return status;
}

/* Warn about missing ticks in formats without a summary. */
static void say_missing(const struct runs *runs)
{
	uint64_t ticks = 0, programs = 0;
	size_t i, j;

	for (i = 0; i < runs->nr; i++)
		for (j = 0; j < runs->list[i].nr; j++) {
			const struct prf_exec *exec =
				&runs->list[i].execs[j];

			ticks += exec->lost + exec->clipped;
			programs += exec->unfollowed +
				(exec->reach == PRF_NOT_REACHED);
		}
	if (ticks || programs)
		warnx("%" PRIu64 " ticks were lost or clipped, %" PRIu64 " programs not profiled; see --format=text",
		      ticks, programs);
}

static int print_added(const struct term *term, const struct options *options,
		       const struct runs *runs)
{
	struct sum sum = {};
	const struct report report = {
		.term = term,
		.runs = runs->list,
		.nr = runs->nr,
		.sum = &sum,
		.dso = options->dso,
		.function = options->function,
		.top = options->top,
	};
	int result;
	size_t i;

	for (i = 0; i < runs->nr && !(options->format->flags & FORMAT_RAW); i++)
		sum_add(&sum, &runs->list[i]);
	sum_finish(&sum);
	result = options->format->print(&report);
	if (!result && options->format->flags & FORMAT_FOREIGN)
		say_missing(runs);
	sum_free(&sum);
	return result;
}

static void print_difference(const struct term *term, const struct runs *runs)
{
	struct sum sums[2] = {};
	int i;

	for (i = 0; i < 2; i++) {
		sum_add(&sums[i], &runs->list[i]);
		sum_finish(&sums[i]);
	}
	print_diff(term, &sums[0], &sums[1]);
	for (i = 0; i < 2; i++)
		sum_free(&sums[i]);
}

/* Print the files that could be read, even if others could not. */
static enum status print_files(const struct options *options)
{
	struct runs runs = {};
	enum status status;
	struct term term;

	term_find(&term);
	status = use_files(&term, options, &runs);
	if (options->diff && status == STATUS_OK)
		print_difference(&term, &runs);
	else if (!options->diff && runs.nr &&
		 print_added(&term, options, &runs))
		status = STATUS_FILE;
	free_runs(&runs);
	return status;
}

static bool same_file(const char *path, const char *other)
{
	struct stat a, b;

	return !stat(path, &a) && !stat(other, &b) && S_ISREG(a.st_mode) &&
		a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Redirect standard output, to which all formats print, to the output file. */
static int open_output(const struct options *options)
{
	int i;

	if (!options->output)
		return 0;
	for (i = 0; i < options->nr; i++) {
		if (!same_file(options->output, options->files[i]))
			continue;
		fprintf(stderr, "prohist: %s: input file is output file\n",
			options->output);
		return -1;
	}
	if (freopen(options->output, "we", stdout))
		return 0;
	fprintf(stderr, "prohist: %s: %s\n", options->output, strerror(errno));
	return -1;
}

int main(int argc, char **argv)
{
	struct options options;
	enum status status;

	if (parse(&options, argc, argv))
		return STATUS_USAGE;
	if (open_output(&options))
		return STATUS_FILE;
	status = print_files(&options);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "prohist: %s: %s\n",
			options.output ?: "standard output", strerror(errno));
		return STATUS_FILE;
	}
	return status;
}
