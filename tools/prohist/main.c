// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - options and files of prohist, see prohist(1)
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <glob.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prohist/diff.h"
#include "prohist/report.h"
#include "prohist/select.h"
#include "symbolize/demangle.h"
#include "util/file.h"
#include "util/number.h"
#include "util/pager.h"
#include "util/xalloc.h"

#define TOP	30

/* Share of ticks that a format may lack without a warning */
#define MISSING	0.01

/* Maximum of --fail-over */
#define MOST_PERCENT	1000.0

/* With --fail-over, 1 means slower, and an error is 2: no verdict. */
enum status {
	STATUS_OK = 0,
	STATUS_FILE = 1,
	STATUS_USAGE = 2,
	STATUS_NO_VERDICT = 2,
};

/*
 * Flags of a format: not for a terminal; prints one DSO; for other programs, and
 * lacks the summary; heeds --sort and --fields; can show inlined functions;
 * prints differences.
 */
#define FORMAT_BINARY	1u
#define FORMAT_DSO	2u
#define FORMAT_FOREIGN	4u
#define FORMAT_ROWS	8u
#define FORMAT_INLINED	16u
#define FORMAT_DIFF	32u

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
	{ "text", print_text, FORMAT_ROWS | FORMAT_INLINED | FORMAT_DIFF },
	{ "html", print_html, FORMAT_BINARY | FORMAT_DIFF },
	{ "json", print_json, FORMAT_INLINED | FORMAT_DIFF },
	{ "bolt", write_bolt, FORMAT_DSO | FORMAT_FOREIGN },
	{ "callgrind", write_callgrind, FORMAT_FOREIGN },
	{ "csv", print_csv, FORMAT_ROWS | FORMAT_FOREIGN | FORMAT_INLINED },
	{ "dos", write_dos, FORMAT_BINARY | FORMAT_DSO | FORMAT_FOREIGN },
	{ "firefox", print_firefox, FORMAT_FOREIGN },
	{ "folded", print_folded, FORMAT_FOREIGN | FORMAT_INLINED },
	{ "gmon", write_gmon, FORMAT_BINARY | FORMAT_DSO | FORMAT_FOREIGN },
	{ "perf", write_perf, FORMAT_BINARY | FORMAT_FOREIGN },
	{ "pprof", write_pprof,
	  FORMAT_BINARY | FORMAT_FOREIGN | FORMAT_INLINED },
	{ "speedscope", print_speedscope, FORMAT_FOREIGN },
	{ "svg", print_svg, FORMAT_BINARY },
};

static const struct format by_lines = { "lines", print_lines, 0 };
static const struct format annotated = { "annotated", print_annotated, 0 };

#define NR_FORMATS	(sizeof(formats) / sizeof(formats[0]))

/* Values of options without a letter. */
enum {
	OPTION_COMM = 256,
	OPTION_DEBUGINFOD,
	OPTION_DEBUGINFO_PATH,
	OPTION_DSO,
	OPTION_FAIL_OVER,
	OPTION_FIELDS,
	OPTION_HTML,
	OPTION_INLINE,
	OPTION_NAMES,
	OPTION_NO_PAGER,
	OPTION_PID,
	OPTION_SORT,
	OPTION_SYMBOL,
};

struct options {
	const struct format *format;
	struct selection selection;
	const char *function;
	const char *output;
	bool buckets;
	bool debuginfod;
	bool diff;
	bool inlined;
	double fail_over;
	bool lines;
	bool no_pager;
	unsigned int keys;
	bool has_fields;
	enum column_id fields[NR_COLUMNS];
	size_t top;
	char **files;
	int nr;
};

/**
 * struct runs - all runs read
 * @list: the runs
 * @paths: the paths of their files
 * @nr: number of runs
 * @first: how many of them are from the first file or directory
 */
struct runs {
	struct prf *list;
	char **paths;
	size_t nr;
	size_t first;
};

static const char help[] =
	"Usage: prohist [OPTION]... [FILE]...\n"
	"Print a report of profiles, the sum of all FILEs (default the newest .prf file\n"
	"of this directory). FILE - is standard input.\n"
	"\n"
	"  -a, --annotate=FUNCTION    show the instructions and source of FUNCTION\n"
	"  -b, --buckets              list the buckets of each file, as MS-DOS PROHIST\n"
	"  -d, --diff                 show functions that differ between two files,\n"
	"                             or directories with several runs\n"
	"      --fail-over=PERCENT    with --diff, exit with 1 if any CPU time grew by\n"
	"                             more than PERCENT of all, 2 if that is unknown\n"
	"  -f, --format=FORMAT        print text (default), csv, html, json or svg; bolt,\n"
	"                             callgrind, dos, firefox, folded, gmon, perf,\n"
	"                             pprof or speedscope for other programs\n"
	"      --html                 the same as --format=html\n"
	"  -l, --lines                show source lines instead of functions\n"
	"  -n, --top=N                show at most N functions or lines (default 30;\n"
	"                             0 shows all)\n"
	"      --sort=KEY[,KEY]...    group ticks by comm, pid, dso or symbol (text, csv)\n"
	"      --fields=FIELD[,FIELD]...\n"
	"                             print these columns: ticks, percent, error, so-far,\n"
	"                             time, bar, or a KEY (text, csv)\n"
	"      --comm=NAME            report only programs of this name\n"
	"      --pid=PID              report only the process PID\n"
	"      --dso=NAME             report only this DSO; for --format=bolt, dos or\n"
	"                             gmon, the default is the program with the most\n"
	"                             ticks\n"
	"      --symbol=FUNCTION      report only functions of this name\n"
	"  -o, --output=FILE          write to FILE (default standard output)\n"
	"      --inline               show inlined functions and their callers\n"
	"      --names=STYLE          print C++ and Rust names short or long\n"
	"      --debuginfo-path=PATH  look for separate debug info in PATH\n"
	"      --debuginfod           fetch missing debug info from DEBUGINFOD_URLS\n"
	"      --no-pager             do not pipe text through a pager\n"
	"  -h, --help                 show this help\n"
	"  -V, --version              show the version\n"
	"\n"
	"Options that select what to report can be repeated, to report several of them.\n"
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

static int parse_names(const char *word)
{
	if (!demangle_style(word))
		return 0;
	fprintf(stderr,
		"prohist: unknown style '%s' for --names: use default, short or long\nTry 'prohist --help'.\n",
		word);
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

/* Parse a list of columns; @ids has room for each of them once. */
static int parse_columns(const char *option, char *words, enum column_id *ids)
{
	size_t nr = 0, i;
	char *word;

	while ((word = strsep(&words, ","))) {
		ids[nr] = column_of(word);
		for (i = 0; i < nr && ids[i] != ids[nr]; i++)
			;
		if (ids[nr] == COLUMN_END || i < nr) {
			fprintf(stderr,
				"prohist: %s '%s' for %s\nTry 'prohist --help'.\n",
				i < nr ? "repeated argument" :
				"invalid argument", word, option);
			return -1;
		}
		nr++;
	}
	ids[nr] = COLUMN_END;
	return 0;
}

static int parse_keys(struct options *options, char *words)
{
	enum column_id ids[NR_COLUMNS], *id;

	if (parse_columns("--sort", words, ids))
		return -1;
	for (id = ids; *id != COLUMN_END; id++) {
		if (!column_key(*id))
			return usage("--sort takes comm, pid, dso and symbol");
		options->keys |= column_key(*id);
	}
	return 0;
}

static int parse_fields(struct options *options, char *words)
{
	options->has_fields = true;
	return parse_columns("--fields", words, options->fields);
}

static int parse_symbol(struct options *options, const char *word)
{
	char *name = demangle(word);

	if (!name)
		err(STATUS_FILE, NULL);
	names_add(&options->selection.symbols, name);
	return 0;
}

static int parse_pid(struct options *options, const char *word)
{
	uint64_t pid;

	if (!parse_number(word, 0, UINT32_MAX, &pid))
		return usage("invalid number for --pid");
	names_add(&options->selection.pids, copy(word));
	return 0;
}

/* A percentage, with or without the sign, becomes a fraction. */
static int parse_fail_over(struct options *options, const char *word)
{
	size_t length = strspn(word, "0123456789.");
	char *end;

	options->fail_over = strtod(word, &end) / 100;
	if (end == word + length && (!*end || !strcmp(end, "%")) &&
	    options->fail_over > 0 && options->fail_over <= MOST_PERCENT / 100)
		return 0;
	return usage("--fail-over must be above 0 %, and at most 1000 %");
}

static int parse_option(struct options *options, int letter)
{
	switch (letter) {
	case OPTION_COMM:
		names_add(&options->selection.comms, copy(optarg));
		return 0;
	case OPTION_FIELDS:
		return parse_fields(options, optarg);
	case OPTION_NO_PAGER:
		options->no_pager = true;
		return 0;
	case OPTION_PID:
		return parse_pid(options, optarg);
	case OPTION_SORT:
		return parse_keys(options, optarg);
	case OPTION_SYMBOL:
		return parse_symbol(options, optarg);
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
		names_add(&options->selection.dsos, copy(optarg));
		return 0;
	case OPTION_INLINE:
		options->inlined = true;
		return 0;
	case OPTION_NAMES:
		return parse_names(optarg);
	case OPTION_FAIL_OVER:
		return parse_fail_over(options, optarg);
	case OPTION_HTML:
		return parse_format(options, "html");
	case OPTION_DEBUGINFO_PATH:
		symbols_look_in(optarg);
		return 0;
	case OPTION_DEBUGINFOD:
		options->debuginfod = true;
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

/* Options that contradict each other, or the output */
static int check(struct options *options)
{
	const enum column_id *id;
	const char *problem;

	problem = symbols_fetch(options->debuginfod);
	if (problem)
		return usage(problem);
	if (options->diff && options->nr != 2)
		return usage("--diff takes two files or directories");
	if (options->fail_over > 0 && !options->diff)
		return usage("--fail-over works only with --diff");
	/* These hide ticks of a program, but not their CPU time */
	if (options->fail_over > 0 && (options->selection.dsos.nr ||
				       options->selection.symbols.nr))
		return usage("--fail-over judges whole programs: give no --dso and no --symbol");
	if (options->diff && !(options->format->flags & FORMAT_DIFF))
		return usage("--diff works only with --format=text, json and --format=html");
	if (options->fail_over > 0 && options->format->print == print_html)
		return usage("--fail-over works only with --format=text and json");
	if (options->buckets + options->lines + !!options->function +
	    (options->diff || options->format != formats) > 1)
		return usage("--annotate, --buckets, --diff, --lines and --format are mutually exclusive");
	if (options->lines)
		options->format = &by_lines;
	if (options->function)
		options->format = &annotated;
	if ((options->keys || options->has_fields) &&
	    (!(options->format->flags & FORMAT_ROWS) || options->buckets ||
	     options->diff))
		return usage("--sort and --fields work only with --format=text and --format=csv");
	for (id = options->fields; *id != COLUMN_END; id++)
		options->keys |= column_key(*id);
	if (options->format->flags & FORMAT_DSO &&
	    options->selection.dsos.nr > 1)
		return usage("this format covers a single DSO: give --dso once");
	if (options->inlined && (options->buckets ||
				 !(options->format->flags & FORMAT_INLINED)))
		return usage("--inline works only with --format=text, csv, json, folded and pprof, and --diff");
	if (options->format->flags & FORMAT_BINARY && !options->output &&
	    isatty(STDOUT_FILENO))
		return usage("not writing this format to a terminal: use --output=FILE");
	return 0;
}

static int parse(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "annotate", required_argument, NULL, 'a' },
		{ "buckets", no_argument, NULL, 'b' },
		{ "diff", no_argument, NULL, 'd' },
		{ "fail-over", required_argument, NULL, OPTION_FAIL_OVER },
		{ "format", required_argument, NULL, 'f' },
		{ "lines", no_argument, NULL, 'l' },
		{ "html", no_argument, NULL, OPTION_HTML },
		{ "top", required_argument, NULL, 'n' },
		{ "comm", required_argument, NULL, OPTION_COMM },
		{ "dso", required_argument, NULL, OPTION_DSO },
		{ "fields", required_argument, NULL, OPTION_FIELDS },
		{ "no-pager", no_argument, NULL, OPTION_NO_PAGER },
		{ "pid", required_argument, NULL, OPTION_PID },
		{ "sort", required_argument, NULL, OPTION_SORT },
		{ "symbol", required_argument, NULL, OPTION_SYMBOL },
		{ "output", required_argument, NULL, 'o' },
		{ "inline", no_argument, NULL, OPTION_INLINE },
		{ "names", required_argument, NULL, OPTION_NAMES },
		{ "debuginfo-path", required_argument, NULL,
		  OPTION_DEBUGINFO_PATH },
		{ "debuginfod", no_argument, NULL, OPTION_DEBUGINFOD },
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
	return check(options);
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
static void keep(struct runs *runs, const struct prf *prf, const char *path)
{
	runs->list = one_more(runs->list, runs->nr, sizeof(*prf));
	runs->paths = one_more(runs->paths, runs->nr, sizeof(path));
	runs->list[runs->nr] = *prf;
	runs->paths[runs->nr++] = copy(path);
}

static void free_runs(struct runs *runs)
{
	size_t i;

	for (i = 0; i < runs->nr; i++) {
		prf_free(&runs->list[i]);
		free(runs->paths[i]);
	}
	free(runs->list);
	free(runs->paths);
}

/* List the buckets of a file of MS-DOS, or keep another for the report. */
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
	keep(runs, &prf, path);
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

static int is_profile(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return end && !strcmp(end, ".prf");
}

/* Read all profiles in a directory, or complain if there are none. */
static int use_directory(const struct term *term,
			 const struct options *options, const char *path,
			 struct runs *runs)
{
	struct dirent **entries;
	int nr = scandir(path, &entries, is_profile, alphasort), result = 0, i;
	char *file;

	if (nr < 0) {
		fprintf(stderr, "prohist: %s: %s\n", path, strerror(errno));
		return -1;
	}
	if (!nr)
		fprintf(stderr, "prohist: %s: no .prf file in this directory\n",
			path);
	for (i = 0; i < nr; i++) {
		if (asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0)
			err(STATUS_FILE, NULL);
		result |= use_file(term, options, file, runs);
		free(file);
		free(entries[i]);
	}
	free(entries);
	return nr ? result : -1;
}

static bool is_directory(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISDIR(status.st_mode);
}

/* With --diff, a directory stands for the runs in it. */
static int use_path(const struct term *term, const struct options *options,
		    const char *path, struct runs *runs)
{
	if (options->diff && is_directory(path))
		return use_directory(term, options, path, runs);
	return use_file(term, options, path, runs);
}

/* Status of a file that cannot be read or written. */
static enum status failure(const struct options *options)
{
	return options->fail_over > 0 ? STATUS_NO_VERDICT : STATUS_FILE;
}

static enum status use_files(const struct term *term,
			     const struct options *options, struct runs *runs)
{
	enum status status = STATUS_OK;
	int i;

	for (i = 0; i < options->nr; i++) {
		if (use_path(term, options, options->files[i], runs))
			status = failure(options);
		if (!i)
			runs->first = runs->nr;
	}
	return status;
}

/* Warn about missing ticks in formats without a summary. */
static void say_missing(const struct sum *sum)
{
	const struct prf_exec *numbers = &sum->numbers;
	uint64_t ticks = numbers->lost + numbers->clipped;
	uint64_t programs = numbers->unfollowed + sum->nr_missed;

	if (ticks && (double)ticks / numbers->ticks >= MISSING)
		warnx("%" PRIu64 " of %" PRIu64 " ticks were lost or clipped, and are not in this output",
		      ticks, numbers->ticks);
	if (programs)
		warnx("%" PRIu64 " program%s not profiled; --format=text says why",
		      programs, programs == 1 ? " was" : "s were");
}

static void add_up(struct sum *sum, const struct options *options,
		   const struct prf *runs, size_t nr)
{
	size_t i;

	sum->inlined = options->inlined;
	for (i = 0; i < nr; i++)
		sum_add(sum, &runs[i]);
	sum_finish(sum);
}

/* Remove from the runs all that the user did not select. */
static int select_ticks(const struct options *options, struct runs *runs)
{
	const struct selection *selection = &options->selection;
	struct sum sum = {};
	int result;

	if (select_execs(selection, runs->list, runs->nr))
		return -1;
	/* These formats show a DSO beside the others */
	if (!(options->format->flags & FORMAT_DSO) &&
	    select_dsos(selection, runs->list, runs->nr))
		return -1;
	if (!selection->symbols.nr)
		return 0;
	add_up(&sum, options, runs->list, runs->nr);
	result = select_symbols(selection, runs->list, runs->nr, &sum);
	sum_free(&sum);
	return result;
}

static int print_added(const struct term *term, const struct options *options,
		       const struct runs *runs)
{
	const struct names *dsos = &options->selection.dsos;
	struct sum sum = {};
	const struct report report = {
		.term = term,
		.runs = runs->list,
		.nr = runs->nr,
		.sum = &sum,
		.dso = dsos->nr ? dsos->list[0] : NULL,
		.function = options->function,
		.keys = options->keys,
		.fields = options->has_fields ? options->fields : NULL,
		.top = options->top,
	};
	int result;

	add_up(&sum, options, runs->list, runs->nr);
	result = options->format->print(&report);
	if (!result && options->format->flags & FORMAT_FOREIGN)
		say_missing(&sum);
	sum_free(&sum);
	return result;
}

/* Print the sums of both sides beside each other. */
static int print_beside(const struct term *term, const struct options *options,
			const struct runs *runs)
{
	struct sum sums[2] = {};
	struct diff diff = { .sums = sums, .nr = { 1, 1 } };
	const struct report report = {
		.term = term,
		.runs = runs->list,
		.nr = runs->nr,
		.sum = &sums[1],
		.before = runs->first,
		.diff = &diff,
	};
	int result;

	add_up(&sums[0], options, runs->list, runs->first);
	add_up(&sums[1], options, runs->list + runs->first,
	       runs->nr - runs->first);
	diff_find(&diff);
	result = options->format->print(&report);
	diff_free(&diff);
	sum_free(&sums[0]);
	sum_free(&sums[1]);
	return result;
}

static enum status print_difference(const struct term *term,
				    const struct options *options,
				    const struct runs *runs)
{
	struct sum *sums = calloc(runs->nr, sizeof(*sums));
	struct diff diff = {
		.term = term,
		.runs = runs->list,
		.sums = sums,
		.nr = { runs->first, runs->nr - runs->first },
		.paths = options->files,
		.json = options->format->print == print_json,
		.threshold = options->fail_over,
		.top = options->top,
	};
	enum status status;
	size_t i;

	if (!sums)
		err(STATUS_FILE, NULL);
	for (i = 0; i < runs->nr; i++)
		add_up(&sums[i], options, &runs->list[i], 1);
	status = (enum status)print_diff(&diff);
	for (i = 0; i < runs->nr; i++)
		sum_free(&sums[i]);
	free(sums);
	return status;
}

static void list_buckets(const struct term *term, const struct runs *runs)
{
	size_t i;

	for (i = 0; i < runs->nr; i++) {
		printf("%s\n", runs->paths[i]);
		print_buckets(term, &runs->list[i]);
	}
}

static enum status print_runs(const struct term *term,
			      const struct options *options, struct runs *runs)
{
	if (select_ticks(options, runs))
		return failure(options);
	if (options->diff && options->format->print == print_html)
		return print_beside(term, options, runs) ? STATUS_FILE :
			STATUS_OK;
	if (options->diff)
		return print_difference(term, options, runs);
	if (options->buckets)
		list_buckets(term, runs);
	else if (print_added(term, options, runs))
		return STATUS_FILE;
	return STATUS_OK;
}

/* Print the files that could be read, even if others could not. */
static enum status print_files(const struct options *options)
{
	enum status status, printed = STATUS_OK;
	struct runs runs = {};
	struct term term;

	term_find(&term);
	if (!options->no_pager)
		pager_start();
	status = use_files(&term, options, &runs);
	if (runs.nr && (!options->diff || status == STATUS_OK))
		printed = print_runs(&term, options, &runs);
	free_runs(&runs);
	return status ?: printed;
}

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec :
		a->tv_nsec > b->tv_nsec;
}

/* Without files, read the newest one here; the caller frees *@newest. */
static int find_file(struct options *options, char **newest)
{
	struct timespec last = {};
	struct stat status;
	glob_t here;
	size_t i;

	*newest = NULL;
	if (options->nr)
		return 0;
	if (!glob("*.prf", 0, NULL, &here))
		for (i = 0; i < here.gl_pathc; i++) {
			if (stat(here.gl_pathv[i], &status) ||
			    !S_ISREG(status.st_mode) ||
			    (*newest && !is_newer(&status.st_mtim, &last)))
				continue;
			free(*newest);
			*newest = copy(here.gl_pathv[i]);
			last = status.st_mtim;
		}
	globfree(&here);
	if (!*newest)
		return usage("no FILE given, and no .prf file in this directory");
	options->files = newest;
	options->nr = 1;
	return 0;
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

static enum status run(struct options *options)
{
	enum status status;

	if (open_output(options))
		return failure(options);
	status = print_files(options);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "prohist: %s: %s\n",
			options->output ?: "standard output", strerror(errno));
		return failure(options);
	}
	return status;
}

int main(int argc, char **argv)
{
	enum status status = STATUS_USAGE;
	struct options options;
	char *newest = NULL;

	if (!parse(&options, argc, argv) && !find_file(&options, &newest))
		status = run(&options);
	selection_free(&options.selection);
	free(newest);
	return status;
}
