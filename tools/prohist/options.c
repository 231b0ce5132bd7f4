// SPDX-License-Identifier: GPL-2.0-only
/*
 * options.c - the command line of prohist, see prohist(1)
 */
#include <err.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prohist/options.h"
#include "symbolize/debug_file.h"
#include "symbolize/demangle.h"
#include "util/number.h"
#include "util/term.h"
#include "util/xalloc.h"

#define TOP	30
#define TREE_TOP	100

#define ALL_STATES	((1u << PRF_STATES) - 1)

/* Maximum of --fail-over */
#define MOST_PERCENT	1000.0

/* The first one is the default. */
static const struct format formats[] = {
	{ "text", print_text, diff_text,
	  FORMAT_ROWS | FORMAT_INLINED | FORMAT_DIFF | FORMAT_VERDICT |
	  FORMAT_STATS | FORMAT_CHAINS },
	{ "html", print_html, diff_html,
	  FORMAT_BINARY | FORMAT_INLINED | FORMAT_DIFF },
	{ "json", print_json, diff_json,
	  FORMAT_INLINED | FORMAT_DIFF | FORMAT_VERDICT | FORMAT_CHAINS },
	{ "autofdo", write_autofdo, NULL, FORMAT_DSO | FORMAT_FOREIGN },
	{ "bolt", write_bolt, NULL, FORMAT_DSO | FORMAT_FOREIGN },
	{ "callgrind", write_callgrind, NULL, FORMAT_FOREIGN | FORMAT_CHAINS },
	{ "csv", print_csv, NULL,
	  FORMAT_ROWS | FORMAT_FOREIGN | FORMAT_INLINED | FORMAT_CHAINS },
	{ "dos", write_dos, NULL,
	  FORMAT_BINARY | FORMAT_DSO | FORMAT_FOREIGN },
	{ "firefox", print_firefox, NULL, FORMAT_FOREIGN | FORMAT_CHAINS },
	{ "flamegraph", print_flamegraph, diff_flamegraph,
	  FORMAT_BINARY | FORMAT_FOREIGN | FORMAT_INLINED | FORMAT_DIFF |
	  FORMAT_CHAINS },
	{ "folded", print_folded, NULL,
	  FORMAT_FOREIGN | FORMAT_INLINED | FORMAT_CHAINS },
	{ "gmon", write_gmon, NULL,
	  FORMAT_BINARY | FORMAT_DSO | FORMAT_FOREIGN },
	{ "perf", write_perf, NULL,
	  FORMAT_BINARY | FORMAT_FOREIGN | FORMAT_CHAINS },
	{ "pprof", write_pprof, NULL,
	  FORMAT_BINARY | FORMAT_FOREIGN | FORMAT_INLINED | FORMAT_CHAINS },
	{ "speedscope", print_speedscope, NULL, FORMAT_FOREIGN | FORMAT_CHAINS },
	{ "svg", print_svg, NULL, FORMAT_BINARY },
};

static const struct format by_lines = {
	"lines", print_lines, NULL, FORMAT_STATS
};
static const struct format annotated = { "annotate", print_annotated, NULL, 0 };

#define OF_TREE (FORMAT_TREE | FORMAT_STATS | FORMAT_INLINED | FORMAT_CHAINS)
static const struct format tree = { "tree", print_tree, NULL, OF_TREE };
static const struct format callers = {
	"callers", print_callers, NULL, OF_TREE
};
static const struct format callees = {
	"callees", print_callees, NULL, OF_TREE
};

#define NR_FORMATS	(sizeof(formats) / sizeof(formats[0]))

/* Values of options without a letter. */
enum {
	OPTION_BUCKETS = 256,
	OPTION_CALLEES,
	OPTION_CALLERS,
	OPTION_CGROUP,
	OPTION_COMM,
	OPTION_DEBUGINFOD,
	OPTION_DEBUGINFO_PATH,
	OPTION_DSO,
	OPTION_FAIL_OVER,
	OPTION_FIELDS,
	OPTION_HTML,
	OPTION_IDLE,
	OPTION_INLINE,
	OPTION_NAMES,
	OPTION_NO_PAGER,
	OPTION_PID,
	OPTION_SORT,
	OPTION_STATE,
	OPTION_STATS,
	OPTION_SYMBOL,
	OPTION_TREE,
};

static const char help[] =
	"Usage: prohist [OPTION]... [FILE]...\n"
	"Print a report of profiles: the sum of all FILEs, or with --diff a comparison\n"
	"(default the newest .prf file of this directory). FILE - is standard input.\n"
	"\n"
	"  -a, --annotate=FUNCTION    show the instructions and source of FUNCTION\n"
	"      --buckets              list the buckets of each file, as MS-DOS PROHIST\n"
	"  -d, --diff                 show functions that differ between two files,\n"
	"                             or directories with several runs\n"
	"      --fail-over=PERCENT    with --diff, exit with 1 if a program, DSO or\n"
	"                             function grew by more than PERCENT of the CPU\n"
	"                             time, 2 if the profiles cannot tell\n"
	"  -f, --format=FORMAT        print text (default), csv, flamegraph, html, json\n"
	"                             or svg; autofdo, bolt, callgrind, dos, firefox,\n"
	"                             folded, gmon, perf, pprof or speedscope for\n"
	"                             other programs\n"
	"      --html                 the same as --format=html\n"
	"  -l, --lines                show source lines instead of functions\n"
	"      --tree                 show what called what, from the outermost function\n"
	"      --callers=FUNCTION     show what called FUNCTION\n"
	"      --callees=FUNCTION     show what FUNCTION called\n"
	"  -n, --top=N                show at most N rows of a table as text (default 30,\n"
	"                             of a tree 100; 0 shows all)\n"
	"      --sort=KEY[,KEY]...    group ticks by cgroup, comm, pid, dso or symbol (text,\n"
	"                             csv)\n"
	"      --fields=FIELD[,FIELD]...\n"
	"                             print these columns: ticks, percent, error, total,\n"
	"                             so-far, time, bar, cpu, runnable, blocked, idle,\n"
	"                             or a KEY (text, csv)\n"
	"      --stats                show what became of all ticks, and chains (text)\n"
	"      --comm=NAME            report only programs of this name\n"
	"      --pid=PID              report only the process PID\n"
	"      --cgroup=PATH          report only programs in this cgroup, or below it\n"
	"      --dso=NAME             report only this DSO; for --format=autofdo, bolt,\n"
	"                             dos or gmon, the default is the program with the\n"
	"                             most ticks\n"
	"      --symbol=FUNCTION      report only FUNCTION and, if the profile has chains\n"
	"                             of callers, what it called\n"
	"      --state=STATE[,STATE]...\n"
	"                             of a profile with waits, report only the time in\n"
	"                             these states: cpu, runnable, blocked, idle\n"
	"      --idle                 report waits of a second and longer, too\n"
	"  -o, --output=FILE          write to FILE (default standard output)\n"
	"      --inline               show inlined functions and their callers\n"
	"      --names=STYLE          print C++ and Rust names short, long or as default\n"
	"      --debuginfo-path=PATH  look for separate debug info in PATH\n"
	"      --debuginfod           fetch missing debug info from the servers in\n"
	"                             $DEBUGINFOD_URLS\n"
	"      --no-pager             do not pipe text through a pager\n"
	"  -h, --help                 show this help\n"
	"  -V, --version              show the version\n"
	"\n"
	"Options that select what to report can be repeated, to report several of them.\n"
	"A .PRF file of MS-DOS PROFIL can only be listed by buckets.\n";

#define EXCLUSIVE \
	"--annotate, --buckets, --callees, --callers, --diff, --lines, --tree and --format are mutually exclusive"

/** options_wrong() - report what is wrong with the command line; returns -1 */
int options_wrong(const char *problem)
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
		return options_wrong("invalid number for --top");
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
			return options_wrong("--sort takes cgroup, comm, pid, dso and symbol");
		options->keys |= column_key(*id);
	}
	return 0;
}

static int parse_fields(struct options *options, char *words)
{
	options->has_fields = true;
	return parse_columns("--fields", words, options->fields);
}

static int parse_state(struct options *options, const char *word)
{
	int state;

	for (state = 0; state < PRF_STATES; state++)
		if (!strcmp(word, prf_states[state].name)) {
			options->selection.states |= 1u << state;
			return 0;
		}
	fprintf(stderr,
		"prohist: unknown state '%s': use cpu, runnable, blocked or idle\nTry 'prohist --help'.\n",
		word);
	return -1;
}

static int parse_states(struct options *options, char *words)
{
	char *word;

	while ((word = strsep(&words, ",")))
		if (parse_state(options, word))
			return -1;
	return 0;
}

static int parse_pid(struct options *options, const char *word)
{
	uint64_t pid;

	if (!parse_number(word, 0, UINT32_MAX, &pid))
		return options_wrong("invalid number for --pid");
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
	return options_wrong("--fail-over must be above 0 %, and at most 1000 %");
}

static int parse_view(struct options *options, const struct format *view,
		      char *function)
{
	if (options->view && options->view != view)
		return options_wrong(EXCLUSIVE);
	if (options->function)
		return options_wrong("--annotate, --callees and --callers take one function");
	options->view = view;
	options->function = function;
	return 0;
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
	case OPTION_CGROUP:
		names_add(&options->selection.cgroups, copy(optarg));
		return 0;
	case OPTION_SORT:
		return parse_keys(options, optarg);
	case OPTION_STATE:
		return parse_states(options, optarg);
	case OPTION_IDLE:
		options->idle = true;
		return 0;
	case OPTION_STATS:
		options->stats = true;
		return 0;
	case OPTION_SYMBOL:
		names_add(&options->selection.symbols, copy(optarg));
		return 0;
	case 'a':
		return parse_view(options, &annotated, optarg);
	case OPTION_TREE:
		return parse_view(options, &tree, NULL);
	case OPTION_CALLERS:
		return parse_view(options, &callers, optarg);
	case OPTION_CALLEES:
		return parse_view(options, &callees, optarg);
	case OPTION_BUCKETS:
		options->buckets = true;
		return 0;
	case 'd':
		options->diff = true;
		return 0;
	case 'f':
		return parse_format(options, optarg);
	case 'l':
		return parse_view(options, &by_lines, NULL);
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
		debug_file_look_in(optarg);
		return 0;
	case OPTION_DEBUGINFOD:
		options->debuginfod = true;
		return 0;
	case 'h':
		term_say(help, STATUS_TROUBLE);
	case 'V':
		term_say("prohist " VERSION "\n", STATUS_TROUBLE);
	default:
		fputs("Try 'prohist --help'.\n", stderr);
		return -1;
	}
}

/* Name the formats that have a flag, and the view that lacks it; returns -1. */
static int works_only(const struct options *options, const char *option,
		      unsigned int flag)
{
	const char *before = "";
	size_t last = 0, i;

	for (i = 0; i < NR_FORMATS; i++)
		if (formats[i].flags & flag)
			last = i;
	fprintf(stderr, "prohist: %s only with --format=", option);
	for (i = 0; i <= last; i++) {
		if (!(formats[i].flags & flag))
			continue;
		fprintf(stderr, "%s%s", i == last && *before ? " and " : before,
			formats[i].name);
		before = ", ";
	}
	if (options->view || options->buckets ||
	    (options->diff && options->format->flags & flag))
		fprintf(stderr, ", not with --%s", options->view ?
			options->view->name :
			options->buckets ? "buckets" : "diff");
	fputs("\nTry 'prohist --help'.\n", stderr);
	return -1;
}

static int check_diff(const struct options *options)
{
	const struct selection *selection = &options->selection;

	if (options->diff && options->nr != 2)
		return options_wrong("--diff takes two files or directories");
	if (options->diff && !(options->format->flags & FORMAT_DIFF))
		return works_only(options, "--diff works", FORMAT_DIFF);
	if (!(options->fail_over > 0))
		return 0;
	if (!options->diff)
		return options_wrong("--fail-over works only with --diff");
	/* These hide ticks of a program, but not their CPU time */
	if (selection->dsos.nr || selection->symbols.nr)
		return options_wrong("--fail-over judges whole programs: give no --dso and no --symbol");
	if (selection->states)
		return options_wrong("--fail-over judges the CPU time: give no --state and no --idle");
	if (!(options->format->flags & FORMAT_VERDICT))
		return works_only(options, "--fail-over works", FORMAT_VERDICT);
	return 0;
}

/* Options that the format does not heed */
static int check_format(struct options *options)
{
	const enum column_id *id;

	if ((options->keys || options->has_fields) &&
	    (!(options->format->flags & FORMAT_ROWS) || options->buckets ||
	     options->diff))
		return works_only(options, "--sort and --fields work", FORMAT_ROWS);
	if (options->stats && (!(options->format->flags & FORMAT_STATS) ||
			       options->buckets || options->diff))
		return works_only(options, "--stats works", FORMAT_STATS);
	for (id = options->fields; *id != COLUMN_END; id++)
		options->keys |= column_key(*id);
	if (options->format->flags & FORMAT_DSO &&
	    options->selection.dsos.nr > 1)
		return options_wrong("this format covers a single DSO: give --dso once");
	if (options->inlined && (options->buckets ||
				 !(options->format->flags & FORMAT_INLINED)))
		return works_only(options, "--inline works", FORMAT_INLINED);
	if (options->format->flags & FORMAT_BINARY && !options->output &&
	    isatty(STDOUT_FILENO))
		return options_wrong("not writing this format to a terminal: use --output=FILE");
	return 0;
}

static int check_files(const struct options *options)
{
	int i, nr = 0;

	for (i = 0; i < options->nr; i++)
		nr += !strcmp(options->files[i], "-");
	if (nr > 1)
		return options_wrong("standard input can be read only once");
	return 0;
}

/* Only now is the style of names known. */
static void demangle_symbols(struct names *symbols)
{
	size_t i;

	for (i = 0; i < symbols->nr; i++) {
		char *name = demangle(symbols->list[i]);

		if (!name)
			err(STATUS_TROUBLE, NULL);
		free(symbols->list[i]);
		symbols->list[i] = name;
	}
}

/* Options that contradict each other, the files or the output */
static int check(struct options *options)
{
	const char *problem = debug_file_fetch(options->debuginfod);

	if (problem)
		return options_wrong(problem);
	if (options->idle)
		options->selection.states |= options->selection.states ?
			1u << PRF_IDLE : ALL_STATES;
	if (options->buckets + !!options->view +
	    (options->diff || options->format != formats) > 1)
		return options_wrong(EXCLUSIVE);
	if (check_diff(options))
		return -1;
	if (options->view)
		options->format = options->view;
	if (!options->top)
		options->top = options->format->flags & FORMAT_TREE ?
			TREE_TOP : TOP;
	demangle_symbols(&options->selection.symbols);
	return check_format(options) ?: check_files(options);
}

/**
 * options_parse() - parse the command line
 *
 * Return: 0, or -1 after reporting what is wrong.
 */
int options_parse(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "annotate", required_argument, NULL, 'a' },
		{ "buckets", no_argument, NULL, OPTION_BUCKETS },
		{ "callees", required_argument, NULL, OPTION_CALLEES },
		{ "callers", required_argument, NULL, OPTION_CALLERS },
		{ "diff", no_argument, NULL, 'd' },
		{ "fail-over", required_argument, NULL, OPTION_FAIL_OVER },
		{ "format", required_argument, NULL, 'f' },
		{ "lines", no_argument, NULL, 'l' },
		{ "html", no_argument, NULL, OPTION_HTML },
		{ "idle", no_argument, NULL, OPTION_IDLE },
		{ "top", required_argument, NULL, 'n' },
		{ "cgroup", required_argument, NULL, OPTION_CGROUP },
		{ "comm", required_argument, NULL, OPTION_COMM },
		{ "dso", required_argument, NULL, OPTION_DSO },
		{ "fields", required_argument, NULL, OPTION_FIELDS },
		{ "no-pager", no_argument, NULL, OPTION_NO_PAGER },
		{ "pid", required_argument, NULL, OPTION_PID },
		{ "sort", required_argument, NULL, OPTION_SORT },
		{ "state", required_argument, NULL, OPTION_STATE },
		{ "stats", no_argument, NULL, OPTION_STATS },
		{ "symbol", required_argument, NULL, OPTION_SYMBOL },
		{ "tree", no_argument, NULL, OPTION_TREE },
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

	*options = (struct options){ .format = formats };
	while ((letter = getopt_long(argc, argv, "a:df:ln:o:hV", names,
				     NULL)) >= 0)
		if (parse_option(options, letter))
			return -1;
	options->files = argv + optind;
	options->nr = argc - optind;
	return check(options);
}

/** options_are_plain() - do they select, group and format nothing? */
bool options_are_plain(const struct options *options)
{
	const struct selection *selection = &options->selection;

	return options->format == formats && !options->diff && !options->keys &&
		!options->stats &&
		!options->has_fields && !selection->comms.nr &&
		!selection->pids.nr && !selection->cgroups.nr &&
		!selection->dsos.nr &&
		!selection->symbols.nr && !selection->states;
}
