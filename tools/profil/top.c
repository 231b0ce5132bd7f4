// SPDX-License-Identifier: GPL-2.0-only
/*
 * top.c - the live view: the functions that use most CPU time now, and with
 * --wall, what threads wait in
 *
 * Once a second, it makes a profile of the ticks since the last time. code.c names
 * their functions.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "profil/backend_watch.h"
#include "profil/code.h"
#include "profil/options.h"
#include "profil/record.h"
#include "profil/top.h"
#include "util/array.h"
#include "util/file.h"
#include "util/term.h"

#define ROWS		20
#define MOST_ROWS	1000

/* Lines of a terminal that are not rows */
#define OTHER_LINES	5

/* Ticks that are in no file, or nobody knows in which */
static const struct prf_dso kernel = { .path = "[kernel]" };
static const struct prf_dso elsewhere = { .path = "[elsewhere]" };

/* What names may take: the view must not stand still for long */
static const struct code_limits limits = {
	.seconds = 5,
	.question_seconds = 2,
	.until_signal = true,
};

/**
 * struct row - ticks of a function
 * @name: name of the function, to be freed
 * @dso: its DSO; belongs to the profile
 * @ticks: its ticks
 * @total: and those of all that it called
 * @stamp: the tick that has been added to @total last
 */
struct row {
	char *name;
	const struct prf_dso *dso;
	uint64_t ticks;
	uint64_t total;
	uint64_t stamp;
};

/**
 * struct top - the view
 * @rows: maximum number of rows; 0 for what the terminal has room for
 * @is_terminal: it replaces what it has shown before
 * @nr_records: number of watches
 * @records: what they have counted so far
 * @nr: number of functions
 * @list: the functions
 * @rows_by_name: tree of the functions, for tsearch(3)
 * @has_chains: the watches count ticks by chain
 * @call_sites: callers are where they call, not where their functions begin
 * @stamp: number of ticks that have been added to totals
 * @hottest: the chain with most ticks, or NULL
 * @hottest_ticks: its ticks
 * @wall: the watches count waits, too
 * @waits: by enum prf_state, ticks of waits
 * @last_ns: time of the last refresh
 * @is_full: new tables are to follow, as one has little room left
 */
static struct top {
	size_t rows;
	bool is_terminal;
	size_t nr_records;
	struct record **records;
	size_t nr;
	struct row **list;
	void *rows_by_name;
	bool has_chains;
	bool call_sites;
	uint64_t stamp;
	char *hottest;
	uint64_t hottest_ticks;
	bool wall;
	uint64_t waits[PRF_STATES];
	uint64_t last_ns;
	bool is_full;
} top;

/* ---- functions */

static int by_name(const void *a, const void *b)
{
	const struct row *r = a, *s = b;

	return prf_compare_files(r->dso, s->dso) ?: strcmp(r->name, s->name);
}

static int add_to_list(struct row *row)
{
	struct row **list = array_grow(top.list, top.nr, sizeof(*list));

	if (!list)
		return -1;
	top.list = list;
	list[top.nr++] = row;
	return 0;
}

/* The row of a function; NULL if out of memory */
static struct row *find_row(const struct prf_dso *dso, const char *name)
{
	struct row key = { .name = (char *)name, .dso = dso }, **found, *row;

	found = tfind(&key, &top.rows_by_name, by_name);
	if (found)
		return *found;
	key.name = strdup(name);
	row = malloc(sizeof(*row));
	if (row)
		*row = key;
	if (!row || !key.name || add_to_list(row)) {
		free(row);
		free(key.name);
		return NULL;
	}
	return tsearch(row, &top.rows_by_name, by_name) ? row : NULL;
}

static struct row *row_at(struct code_file *file, const struct prf_dso *dso,
			  uint64_t offset, uint64_t bytes)
{
	uint64_t address = code_address(file, dso, offset);
	char room[CODE_NAME];

	return find_row(dso, code_name(file,
				       code_function(file, address, bytes),
				       address, room));
}

static int add_whole(const struct prf_dso *dso, uint64_t ticks)
{
	struct row *row;

	if (!ticks)
		return 0;
	row = find_row(dso, dso->path);
	if (!row)
		return -1;
	row->ticks += ticks;
	return 0;
}

static void free_rows(void)
{
	while (top.nr) {
		struct row *row = top.list[--top.nr];

		tdelete(row, &top.rows_by_name, by_name);
		free(row->name);
		free(row);
	}
	free(top.hottest);
	top.hottest = NULL;
	top.hottest_ticks = 0;
	memset(top.waits, 0, sizeof(top.waits));
}

/* ---- programs */

/**
 * struct program - an exec at work
 * @exec: the exec
 * @files: the code of its DSOs
 * @rows: the function of each of its nodes
 */
struct program {
	const struct prf_exec *exec;
	struct code_file **files;
	struct row **rows;
};

static int add_buckets(const struct program *program, size_t index)
{
	const struct prf_dso *dso = &program->exec->dsos[index];
	struct row *row;
	size_t i;

	if (prf_state_of(dso) == PRF_IDLE)
		return 0;
	for (i = 0; i < dso->nr; i++) {
		row = row_at(program->files[index], dso, dso->buckets[i].offset,
			     dso->bucket_bytes);
		if (!row)
			return -1;
		row->ticks += dso->buckets[i].count;
	}
	return 0;
}

/* ---- chains */

static const struct prf_node *caller_of(const struct prf_exec *exec,
					const struct prf_node *node)
{
	return node->caller && node->caller != PRF_CUT ?
		&exec->nodes[node->caller - 1] : NULL;
}

/*
 * A caller's bucket has the beginning of its function, and may have the end of
 * another one: its last byte is in the right one. With --call-sites, it has the
 * call.
 */
static struct row *row_of_node(const struct program *program,
			       const struct prf_node *node)
{
	const struct prf_dso *dso;
	struct code_file *file;
	uint64_t bytes;

	if (node->dso == PRF_NODE_KERNEL)
		return find_row(&kernel, kernel.path);
	dso = &program->exec->dsos[node->dso];
	file = program->files[node->dso];
	bytes = dso->bucket_bytes;
	if (node->count || top.call_sites)
		return row_at(file, dso, node->offset, bytes);
	return row_at(file, dso, node->offset + bytes - 1, 1);
}

/* Count ticks for each function of a chain, once even if it calls itself. */
static void add_total(const struct program *program,
		      const struct prf_node *leaf)
{
	const struct prf_node *node = leaf;

	top.stamp++;
	for (; node; node = caller_of(program->exec, node)) {
		struct row *row = program->rows[node - program->exec->nodes];

		if (row->stamp != top.stamp)
			row->total += leaf->count;
		row->stamp = top.stamp;
	}
}

/* Describe a chain, from its innermost function on. */
static int describe_chain(const struct program *program, size_t index)
{
	const struct prf_node *node = &program->exec->nodes[index];
	const char *between = "";
	size_t size;
	FILE *text;

	free(top.hottest);
	top.hottest = NULL;
	text = open_memstream(&top.hottest, &size);
	if (!text)
		return -1;
	for (; node; node = caller_of(program->exec, node)) {
		fprintf(text, "%s%s", between,
			program->rows[node - program->exec->nodes]->name);
		between = " < ";
	}
	return fclose(text);
}

/**
 * struct leaf - a node with ticks
 * @caller: its caller, as in &struct prf_node
 * @row: its function
 * @ticks: its ticks
 * @index: its index
 */
struct leaf {
	uint32_t caller;
	const struct row *row;
	uint64_t ticks;
	size_t index;
};

static int by_chain(const void *a, const void *b)
{
	const struct leaf *l = a, *m = b;

	if (l->caller != m->caller)
		return l->caller < m->caller ? -1 : 1;
	return (l->row > m->row) - (l->row < m->row);
}

/* A function has a node for each bucket, and they have one chain. */
static int find_hottest(const struct program *program, struct leaf *leaves,
			size_t nr)
{
	uint64_t ticks = 0;
	size_t i;

	if (nr)
		qsort(leaves, nr, sizeof(*leaves), by_chain);
	for (i = 0; i < nr; i++) {
		if (i && by_chain(&leaves[i - 1], &leaves[i]))
			ticks = 0;
		ticks += leaves[i].ticks;
		if (ticks <= top.hottest_ticks ||
		    (i + 1 < nr && !by_chain(&leaves[i], &leaves[i + 1])))
			continue;
		top.hottest_ticks = ticks;
		if (describe_chain(program, leaves[i].index))
			return -1;
	}
	return 0;
}

static int name_nodes(const struct program *program)
{
	const struct prf_exec *exec = program->exec;
	size_t i;

	for (i = 0; i < exec->nr_nodes; i++) {
		program->rows[i] = row_of_node(program, &exec->nodes[i]);
		if (!program->rows[i])
			return -1;
	}
	return 0;
}

/* Waits of a second and longer would hide the rest. */
static bool is_idle(const struct prf_exec *exec, const struct prf_node *node)
{
	return node->dso != PRF_NODE_KERNEL &&
		prf_state_of(&exec->dsos[node->dso]) == PRF_IDLE;
}

static int add_chains(const struct program *program)
{
	const struct prf_exec *exec = program->exec;
	struct leaf *leaves = calloc(exec->nr_nodes + 1, sizeof(*leaves));
	size_t nr = 0, i;
	int failed = -1;

	if (leaves && !name_nodes(program)) {
		for (i = 0; i < exec->nr_nodes; i++) {
			const struct prf_node *node = &exec->nodes[i];

			if (!node->count || is_idle(exec, node))
				continue;
			add_total(program, node);
			leaves[nr++] = (struct leaf) {
				node->caller, program->rows[i], node->count, i
			};
		}
		failed = find_hottest(program, leaves, nr);
	}
	free(leaves);
	return failed;
}

static int add_program(const struct program *program)
{
	const struct prf_exec *exec = program->exec;
	size_t i;

	for (i = 0; i < PRF_STATES; i++)
		top.waits[i] += exec->waits[i];
	for (i = 0; i < exec->nr; i++)
		if (add_buckets(program, i))
			return -1;
	return add_whole(&kernel, exec->kernel_count) ||
		add_whole(&elsewhere, prf_placed(exec, PRF_ELSEWHERE)) ||
		add_chains(program) ? -1 : 0;
}

static int add_exec(const struct prf_exec *exec, struct code_file **files)
{
	const struct program program = {
		.exec = exec,
		.files = files,
		.rows = calloc(exec->nr_nodes + 1, sizeof(*program.rows)),
	};
	int failed = program.rows ? add_program(&program) : -1;

	free(program.rows);
	return failed;
}

/* @files: the code of the DSOs of all execs */
static int add_profile(const struct prf *prf, struct code_file **files)
{
	size_t i;

	for (i = 0; i < prf->nr; files += prf->execs[i++].nr)
		if (add_exec(&prf->execs[i], files))
			return -1;
	return 0;
}

/* ---- the view */

static int more_first(const void *a, const void *b)
{
	const struct row *r = *(struct row *const *)a;
	const struct row *s = *(struct row *const *)b;

	if (r->ticks != s->ticks)
		return r->ticks < s->ticks ? 1 : -1;
	if (r->total != s->total)
		return r->total < s->total ? 1 : -1;
	return by_name(r, s);
}

static size_t rows_of_terminal(void)
{
	struct winsize size;

	if (!top.is_terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ||
	    size.ws_row <= OTHER_LINES)
		return ROWS;
	return size.ws_row - OTHER_LINES;
}

/* "function (DSO)", or of a wait "read [blocked]"; returns its length, or -1 */
static int describe_row(const struct row *row, char **text)
{
	const char *dso = base_name(row->dso->path);

	if (prf_state_of(row->dso) == PRF_ON_CPU)
		return asprintf(text, "%s (%s)", row->name, dso);
	if (!strcmp(row->name, dso))
		return asprintf(text, "%s", dso);
	return asprintf(text, "%s %s", row->name, dso);
}

/* Print a row, but no more than a line of the terminal. */
static void print_row(const struct row *row, uint64_t all, int width)
{
	char *text;
	int length = describe_row(row, &text);

	printf("%6.1f %% %8" PRIu64 "  ", 100.0 * row->ticks / all, row->ticks);
	width -= 20;
	if (top.has_chains) {
		printf("%6.1f %%  ", 100.0 * row->total / all);
		width -= 10;
	}
	if (length >= 0) {
		term_text(text, top.is_terminal && length > width ? width :
								    length);
		free(text);
	}
	putchar('\n');
}

/* Print the chain with most ticks, from the innermost function on. */
static void print_hottest(uint64_t all, int width)
{
	int length;

	if (!top.hottest)
		return;
	printf("%6.1f %% in ", 100.0 * top.hottest_ticks / all);
	length = strlen(top.hottest);
	width -= 12;
	term_text(top.hottest, top.is_terminal && length > width ? width :
								   length);
	putchar('\n');
}

/* How many threads were in a state, on average */
static double threads(const struct session *session, uint64_t ticks,
		      double seconds)
{
	return ticks * (session->period_ns / 1e9) / seconds;
}

static void print_waits(const struct session *session, double seconds)
{
	enum prf_state state;

	for (state = PRF_RUNNABLE; state < PRF_STATES; state++)
		printf(", %.2f threads %s",
		       threads(session, top.waits[state], seconds),
		       prf_states[state].name);
}

static int print(const struct session *session, double seconds)
{
	size_t most = top.rows ?: rows_of_terminal(), i;
	uint64_t all = 0, waits;
	struct term term;
	char what[256];

	term_find(&term);
	for (i = 0; i < top.nr; i++)
		all += top.list[i]->ticks;
	waits = top.waits[PRF_RUNNABLE] + top.waits[PRF_BLOCKED];
	session_describe(session, what, sizeof(what));
	if (top.is_terminal)
		printf("\033[H\033[J");
	term_name(what);
	printf(": %" PRIu64 " ticks of %.3f ms in %.1f s: %.2f CPUs", all,
	       session->period_ns / 1e6, seconds,
	       threads(session, all - waits, seconds));
	if (top.wall)
		print_waits(session, seconds);
	putchar('\n');
	print_hottest(all, term.width);
	printf("%8s %8s  %s%s\n", "percent", "ticks",
	       top.has_chains ? "   total  " : "", "function");
	for (i = 0; i < top.nr && i < most && top.list[i]->ticks; i++)
		print_row(top.list[i], all, term.width);
	if (!top.is_terminal)
		putchar('\n');
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	term_warn("standard output: %s", strerror(errno));
	return -1;
}

/* Open a record of each watch at the first refresh. */
static int begin_records(struct session *session)
{
	const struct watch *watches;
	size_t nr = backend_watches(session, &watches), i;

	top.records = calloc(nr + 1, sizeof(*top.records));
	for (i = 0; top.records && i < nr; i++) {
		top.records[i] = record_new(session, watches[i].table);
		if (!top.records[i])
			return -1;
		top.nr_records++;
	}
	return top.records ? 0 : -1;
}

/*
 * Empty tables follow before these are full, unless that would lose sight of what the
 * processes have started.
 */
static void look(const struct session *session)
{
	struct profil_watch_status status;
	const struct watch *watches;
	size_t nr = backend_watches(session, &watches), i;

	top.is_full = false;
	for (i = 0; i < nr; i++) {
		watch_status(&watches[i], top.wall ? PROFIL_IOC_WATCH_COLLECT :
			     PROFIL_IOC_WATCH_STATUS, &status);
		if (watch_is_full(&watches[i].request, &status))
			top.is_full = session->target != TARGET_PROCESSES;
	}
}

static int collect(struct session *session, struct prf *prf)
{
	size_t i;

	if (!top.records && begin_records(session))
		return -1;
	look(session);
	/* So that nothing comes after the last look at a table */
	if (top.is_full)
		backend_stop_watches(session);
	for (i = 0; i < top.nr_records; i++)
		if (record_add(top.records[i], prf))
			return -1;
	/* The stats have said that there may be new files */
	if (!top.is_full)
		session->backend->drain(session);
	return 0;
}

static void free_records(void)
{
	while (top.nr_records)
		record_free(top.records[--top.nr_records]);
	free(top.records);
	top.records = NULL;
}

static int renew(struct session *session)
{
	free_records();
	/* What could not be read may be found by other processes */
	code_forget();
	backend_end_watches(session);
	return session_begin(session, 0);
}

static int no_memory(void)
{
	term_warn("%s", strerror(ENOMEM));
	return -1;
}

static int show(const struct session *session, const struct prf *prf,
		double seconds)
{
	struct code_file **files = code_learn(session, prf, &limits);
	int failed;

	if (!files || add_profile(prf, files)) {
		failed = no_memory();
	} else {
		if (top.nr)
			qsort(top.list, top.nr, sizeof(*top.list), more_first);
		failed = print(session, seconds);
	}
	free_rows();
	code_put(files);
	code_trim();
	return failed;
}

static int refresh(struct session *session)
{
	uint64_t now = now_ns();
	double seconds = (now - (top.last_ns ?: session->start_ns)) / 1e9;
	struct prf prf = {
		/* What has been read is the file that runs, however young it is */
		.start_unix_ns = UINT64_MAX,
		.flags = (top.has_chains ? PRF_FLAG_CHAINS : 0) |
			(top.call_sites ? PRF_FLAG_CALL_SITES : 0),
	};
	int failed = collect(session, &prf) ? no_memory() : 0;

	if (!failed) {
		/* New tables count already while names are read */
		failed = top.is_full ? renew(session) : 0;
		if (show(session, &prf, seconds))
			failed = -1;
	}
	prf_free(&prf);
	top.last_ns = now;
	return failed;
}

static void parse(int argc, char **argv, struct session *session)
{
	int option;

	while ((option = getopt_long(argc, argv, SHORT_OPTIONS, long_options,
				     NULL)) >= 0) {
		if (common_option(session, option, optarg))
			continue;
		switch (option) {
		case 'n':
			top.rows = number(optarg, 1, MOST_ROWS,
					  "invalid number for --top: must be from 1 to 1000");
			break;
		case 'o':
		case 'P':
		case OPTION_INTERACTIVE:
		case OPTION_DOS:
		case OPTION_NO_NAMES:
			misused("the live view writes no file");
		case OPTION_PUSH ... OPTION_LISTEN:
			misused("the live view sends and serves nothing");
		default:
			/* getopt_long() has printed the reason */
			fputs("Try 'profil --help'.\n", stderr);
			exit(EXIT_FAILED);
		}
	}
	argv += optind;
	if (*argv && session->target != TARGET_PROCESSES)
		misused("top takes no program; 'profil -- top' profiles top(1)");
	for (; *argv; argv++)
		add_pids(session, *argv);
	if (session->target == TARGET_PROGRAM) {
		session->target = TARGET_USER;
		session->uid = getuid();
	}
}

/** top_main() - "profil top"; returns the exit status */
int top_main(int argc, char **argv)
{
	struct session session = { .bucket = 4, .refresh = refresh };
	int failure;

	parse(argc, argv, &session);
	top.is_terminal = isatty(STDOUT_FILENO);
	session_ignore_writing();
	if (session_open(&session))
		return EXIT_FAILED;
	if (session.backend != &backend_watch) {
		term_warn("the live view needs the module: load it with 'modprobe profil'");
		return EXIT_FAILED;
	}
	top.has_chains = !session.flat;
	top.call_sites = session.call_sites;
	top.wall = session.wall;
	failure = session_attach(&session);
	free_records();
	code_forget();
	backend_report_watches(&session);
	backend_end_watches(&session);
	if (session_end(&session))
		failure = EXIT_FAILED;
	prf_free(&session.prf);
	return failure;
}
