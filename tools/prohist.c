// SPDX-License-Identifier: GPL-2.0-only
/*
 * prohist.c - prints what a profile says
 *
 * Options and files; the rest is told in Documentation/man/prohist.1.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file.h"
#include "print.h"

#define TOP	30

enum status {
	STATUS_OK = 0,
	STATUS_FILE = 1,
	STATUS_USAGE = 2,
};

/**
 * struct form - what may follow --format=
 * @name: the word
 * @print: prints it
 */
struct form {
	const char *name;
	int (*print)(const struct report *report);
};

/* The first is the default. */
static const struct form forms[] = {
	{ "text", print_text },
	{ "json", print_json },
	{ "folded", print_folded },
};

#define FORMS	(sizeof(forms) / sizeof(forms[0]))

struct options {
	const struct form *form;
	const char *output;
	bool buckets;
	bool diff;
	size_t top;
	char **files;
	int nr;
};

static const char help[] =
	"Usage: prohist [options] file...\n"
	"Prints what profiles say, all files added together.\n"
	"\n"
	"  -b, --buckets      list the buckets of each file, as MS-DOS PROHIST\n"
	"  -d, --diff         functions that changed between two files\n"
	"  -f, --format=FORM  text, json or folded\n"
	"  -n, --top=N        no more than N functions (30; 0 is all)\n"
	"  -o, --output=FILE  where to, instead of the standard output\n"
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
	case 'b':
		options->buckets = true;
		return 0;
	case 'd':
		options->diff = true;
		return 0;
	case 'f':
		return parse_format(options, optarg);
	case 'n':
		return parse_top(options, optarg);
	case 'o':
		options->output = optarg;
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
		{ "buckets", no_argument, NULL, 'b' },
		{ "diff", no_argument, NULL, 'd' },
		{ "format", required_argument, NULL, 'f' },
		{ "top", required_argument, NULL, 'n' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "bdf:n:o:hV", names,
				     NULL)) >= 0)
		if (parse_option(options, letter))
			return -1;
	options->files = argv + optind;
	options->nr = argc - optind;
	if (!options->nr)
		return usage("no file");
	if (options->diff && options->nr != 2)
		return usage("--diff wants two files");
	if (options->buckets + options->diff + (options->form != forms) > 1)
		return usage("--buckets, --diff and --format exclude each other");
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

static int use_native(const struct term *term, const struct options *options,
		      const char *path, const struct prf *prf,
		      struct sum *sum)
{
	if (!options->buckets) {
		sum_add(sum, prf);
		return 0;
	}
	printf("%s\n", path);
	print_buckets(term, prf);
	return 0;
}

/* A file is listed, or added to @sum. */
static int use_data(const struct term *term, const struct options *options,
		    const char *path, const void *data, size_t size,
		    struct sum *sum)
{
	struct prf_error error;
	struct prf prf;
	int result;

	if (dos_prf_looks_so(data, size) && options->form == forms &&
	    !options->diff)
		return list_dos(term, path, data, size);
	if (prf_read(data, size, &prf, &error))
		return complain(path, &error);
	result = use_native(term, options, path, &prf, sum);
	prf_free(&prf);
	return result;
}

static int use_file(const struct term *term, const struct options *options,
		    const char *path, struct sum *sum)
{
	size_t size;
	void *data = file_read(path, &size);
	int result;

	if (!data) {
		fprintf(stderr, "prohist: %s: %s\n", path, strerror(errno));
		return -1;
	}
	result = use_data(term, options, path, data, size, sum);
	free(data);
	return result;
}

/* What could be read is printed, even if another file could not. */
static enum status print_added(const struct term *term,
			       const struct options *options)
{
	enum status status = STATUS_OK;
	struct sum sum = {};
	int i;

	for (i = 0; i < options->nr; i++)
		if (use_file(term, options, options->files[i], &sum))
			status = STATUS_FILE;
	if (sum.files) {
		const struct report report = {
			.term = term,
			.top = options->top,
			.sum = &sum,
		};

		sum_finish(&sum);
		if (options->form->print(&report))
			status = STATUS_FILE;
	}
	sum_free(&sum);
	return status;
}

static enum status print_difference(const struct term *term,
				    const struct options *options)
{
	enum status status = STATUS_OK;
	struct sum sums[2] = {};
	int i;

	for (i = 0; i < 2; i++) {
		if (use_file(term, options, options->files[i], &sums[i]))
			status = STATUS_FILE;
		sum_finish(&sums[i]);
	}
	if (status == STATUS_OK)
		print_diff(term, &sums[0], &sums[1]);
	for (i = 0; i < 2; i++)
		sum_free(&sums[i]);
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
	struct options options = { .form = forms, .top = TOP };
	enum status status;
	struct term term;

	if (parse(&options, argc, argv))
		return STATUS_USAGE;
	if (open_output(&options))
		return STATUS_FILE;
	term_find(&term);
	status = options.diff ? print_difference(&term, &options) :
		print_added(&term, &options);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "prohist: %s: %s\n",
			options.output ?: "standard output", strerror(errno));
		return STATUS_FILE;
	}
	return status;
}
