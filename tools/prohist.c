// SPDX-License-Identifier: GPL-2.0-only
/*
 * prohist.c - prints what a profile says
 *
 * Options and files; the rest is told in Documentation/man/prohist.1.
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

#include "file.h"
#include "print.h"

#define TOP	30

enum status {
	STATUS_OK = 0,
	STATUS_FILE = 1,
	STATUS_USAGE = 2,
};

/*
 * Not for a terminal; made without names of functions; of one object; for other
 * programs, which know no reckoning.
 */
#define FORM_BINARY	1u
#define FORM_RAW	2u
#define FORM_OBJECT	4u
#define FORM_FOREIGN	8u

/**
 * struct form - what may follow --format=
 * @name: the word
 * @print: prints it; when it fails it has said why, or it is the output
 * @flags: FORM_*
 */
struct form {
	const char *name;
	int (*print)(const struct report *report);
	unsigned int flags;
};

/* The first is the default. */
static const struct form forms[] = {
	{ "text", print_text, 0 },
	{ "json", print_json, 0 },
	{ "callgrind", write_callgrind, FORM_FOREIGN },
	{ "dos", write_dos,
	  FORM_BINARY | FORM_RAW | FORM_OBJECT | FORM_FOREIGN },
	{ "folded", print_folded, FORM_FOREIGN },
	{ "gmon", write_gmon, FORM_BINARY | FORM_OBJECT | FORM_FOREIGN },
	{ "perf", write_perf, FORM_BINARY | FORM_RAW | FORM_FOREIGN },
	{ "pprof", write_pprof, FORM_BINARY | FORM_FOREIGN },
	{ "svg", print_svg, FORM_BINARY },
};

static const struct form by_lines = { "lines", print_lines, 0 };
static const struct form annotated = { "annotated", print_annotated, 0 };

#define FORMS	(sizeof(forms) / sizeof(forms[0]))

/* Letters that there are not. */
enum { OPTION_OBJECT = 256, OPTION_DEBUGINFO_PATH };

struct options {
	const struct form *form;
	const char *object;
	const char *function;
	const char *output;
	bool buckets;
	bool diff;
	bool lines;
	size_t top;
	char **files;
	int nr;
};

/* What was read. */
struct runs {
	struct prf *list;
	size_t nr;
};

static const char help[] =
	"Usage: prohist [options] file...\n"
	"Prints what profiles say, all files added together.\n"
	"\n"
	"  -a, --annotate=FUNCTION  its instructions and source, with ticks\n"
	"  -b, --buckets      list the buckets of each file, as MS-DOS PROHIST\n"
	"  -d, --diff         functions that changed between two files\n"
	"  -f, --format=FORM  text, json or svg; callgrind, dos, folded, gmon,\n"
	"                     perf or pprof for other programs\n"
	"  -l, --lines        lines of the sources, in place of functions\n"
	"  -n, --top=N        no more than N functions or lines (30; 0 is all)\n"
	"      --object=NAME  for dos and gmon: which object (the program)\n"
	"  -o, --output=FILE  where to, instead of the standard output\n"
	"      --debuginfo-path=PATH  where to look for separate symbols\n"
	"  -h, --help         this\n"
	"  -V, --version      the version\n"
	"\n"
	"A .PRF file of MS-DOS PROFIL is always listed by buckets. The file -\n"
	"is the standard input.\n";

static int usage(const char *problem)
{
	fprintf(stderr, "prohist: %s\nTry 'prohist --help'.\n", problem);
	return -1;
}

static int parse_format(struct options *options, const char *word)
{
	size_t i;

	for (i = 0; i < FORMS; i++) {
		options->form = &forms[i];
		if (!strcmp(word, options->form->name))
			return 0;
	}
	return usage("--format wants one of those that --help names");
}

static int parse_top(struct options *options, const char *word)
{
	char *end;

	errno = 0;
	options->top = strtoul(word, &end, 10);
	if (errno || *word < '0' || *word > '9' || *end)
		return usage("--top wants a number");
	if (!options->top)
		options->top = SIZE_MAX;
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
	case OPTION_OBJECT:
		options->object = optarg;
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
		{ "object", required_argument, NULL, OPTION_OBJECT },
		{ "output", required_argument, NULL, 'o' },
		{ "debuginfo-path", required_argument, NULL,
		  OPTION_DEBUGINFO_PATH },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int letter;

	*options = (struct options){ .form = forms, .top = TOP };
	while ((letter = getopt_long(argc, argv, "a:bdf:ln:o:hV", names,
				     NULL)) >= 0)
		if (parse_option(options, letter))
			return -1;
	options->files = argv + optind;
	options->nr = argc - optind;
	if (!options->nr)
		return usage("no file");
	if (options->diff && options->nr != 2)
		return usage("--diff wants two files");
	if (options->buckets + options->diff + options->lines +
	    !!options->function + (options->form != forms) > 1)
		return usage("--annotate, --buckets, --diff, --lines and --format exclude each other");
	if (options->lines)
		options->form = &by_lines;
	if (options->function)
		options->form = &annotated;
	if (options->object && !(options->form->flags & FORM_OBJECT))
		return usage("--object is for formats of one object");
	if (options->form->flags & FORM_BINARY && !options->output &&
	    isatty(STDOUT_FILENO))
		return usage("this format is not for a terminal: use --output=FILE");
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

/* Takes the run. */
static void keep(struct runs *runs, const struct prf *prf)
{
	runs->list = reallocarray(runs->list, runs->nr + 1, sizeof(*prf));
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

/* A file is listed, or kept. */
static int use_data(const struct term *term, const struct options *options,
		    const char *path, const void *data, size_t size,
		    struct runs *runs)
{
	struct prf_error error;
	struct prf prf;

	if (dos_prf_looks_so(data, size) && options->form == forms &&
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

/* What the reckoning would have said. */
static void say_missing(const struct runs *runs)
{
	uint64_t ticks = 0, programs = 0;
	size_t i, j;

	for (i = 0; i < runs->nr; i++)
		for (j = 0; j < runs->list[i].nr; j++) {
			const struct prf_image *image =
				&runs->list[i].images[j];

			ticks += image->lost + image->clipped;
			programs += image->unfollowed +
				(image->reach == PRF_NOT_REACHED);
		}
	if (ticks || programs)
		warnx("%" PRIu64 " ticks were lost or clipped, %" PRIu64 " programs not reached; the text form tells more",
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
		.object = options->object,
		.function = options->function,
		.top = options->top,
	};
	int result;
	size_t i;

	for (i = 0; i < runs->nr && !(options->form->flags & FORM_RAW); i++)
		sum_add(&sum, &runs->list[i]);
	sum_finish(&sum);
	result = options->form->print(&report);
	if (!result && options->form->flags & FORM_FOREIGN)
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

/* What could be read is printed, even if another file could not. */
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

/* Everything is printed to the standard output. */
static int open_output(const struct options *options)
{
	int i;

	if (!options->output)
		return 0;
	for (i = 0; i < options->nr; i++) {
		if (!same_file(options->output, options->files[i]))
			continue;
		fprintf(stderr, "prohist: %s: is to be read as well\n",
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
