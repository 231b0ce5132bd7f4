// SPDX-License-Identifier: GPL-2.0-only
/*
 * top.c - the live view: the functions that use most CPU time now
 *
 * Once a second, it makes a profile of the ticks since the last time.
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
#include "profil/options.h"
#include "profil/record.h"
#include "profil/top.h"
#include "symbolize/symbols.h"
#include "util/array.h"
#include "util/term.h"

#define ROWS		20
#define MOST_ROWS	1000

/* Lines of a terminal that are not rows */
#define OTHER_LINES	4

/**
 * struct known - a file whose symbols stay open
 * @dso: names the file
 * @symbols: its symbols
 */
struct known {
	struct prf_dso dso;
	struct symbols symbols;
};

/**
 * struct row - ticks of a function
 * @name: name of the function, to be freed
 * @dso: path of its DSO, without directories
 * @ticks: its ticks
 */
struct row {
	char *name;
	const char *dso;
	uint64_t ticks;
};

/**
 * struct top - the view
 * @rows: maximum number of rows; 0 for what the terminal has room for
 * @is_terminal: it replaces what it has shown before
 * @nr_records: number of watches
 * @records: what they have counted so far
 * @known: files whose symbols are open
 * @nr: number of functions
 * @list: the functions
 * @last_ns: time of the last refresh
 * @is_full: a table has little room left
 */
static struct top {
	size_t rows;
	bool is_terminal;
	size_t nr_records;
	struct record **records;
	void *known;
	size_t nr;
	struct row *list;
	uint64_t last_ns;
	bool is_full;
} top;

static int by_file(const void *a, const void *b)
{
	const struct known *k = a, *l = b;
	int order = strcmp(k->dso.path, l->dso.path);

	if (order || k->dso.build_id_len != l->dso.build_id_len)
		return order ?: k->dso.build_id_len < l->dso.build_id_len ?
			-1 : 1;
	return memcmp(k->dso.build_id, l->dso.build_id, k->dso.build_id_len);
}

/* The symbols of a file, opened at first use; NULL if out of memory */
static const struct symbols *symbols_of(const struct prf_dso *dso)
{
	const struct known key = { .dso = *dso };
	struct known **found = tfind(&key, &top.known, by_file), *known;

	if (found)
		return &(*found)->symbols;
	known = calloc(1, sizeof(*known));
	if (!known)
		return NULL;
	known->dso = *dso;
	known->dso.path = strdup(dso->path);
	if (!known->dso.path ||
	    symbols_open(&known->symbols, known->dso.path, &known->dso) ||
	    !tsearch(known, &top.known, by_file))
		return NULL;
	return &known->symbols;
}

static int add_row(char *name, const char *dso, uint64_t ticks)
{
	struct row *list = array_grow(top.list, top.nr, sizeof(*list));

	if (!list || !name) {
		free(name);
		return -1;
	}
	top.list = list;
	list[top.nr++] = (struct row){ name, base_name(dso), ticks };
	return 0;
}

static int add_buckets(const struct prf_dso *dso, const struct symbols *symbols)
{
	struct symbol symbol;
	size_t i;

	for (i = 0; i < dso->nr; i++) {
		uint64_t address = symbols_address(symbols, dso,
						   dso->buckets[i].offset);

		if (symbols_find(symbols, address, dso->bucket_bytes, &symbol) ||
		    add_row(symbol.name, dso->path, dso->buckets[i].count))
			return -1;
	}
	return 0;
}

/* Code without a file: the profile itself has the names. */
static int add_named(const struct prf_dso *dso)
{
	struct symbols symbols;
	int failed = symbols_open(&symbols, dso->path, dso) ||
		symbols_add(&symbols, dso) || symbols_sort(&symbols) ||
		add_buckets(dso, &symbols);

	symbols_close(&symbols);
	return failed;
}

static int add_dso(const struct prf_dso *dso)
{
	const struct symbols *symbols;

	if (!dso->nr)
		return 0;
	if (dso->kind > PRF_VDSO)
		return add_named(dso);
	symbols = symbols_of(dso);
	return symbols ? add_buckets(dso, symbols) : -1;
}

static int add_whole(const char *name, uint64_t ticks)
{
	return ticks ? add_row(strdup(name), name, ticks) : 0;
}

static int add_exec(const struct prf_exec *exec)
{
	size_t i;

	for (i = 0; i < exec->nr; i++)
		if (add_dso(&exec->dsos[i]))
			return -1;
	return add_whole("[kernel]", exec->kernel_count) ||
		add_whole("[elsewhere]", prf_placed(exec, PRF_ELSEWHERE)) ? -1 : 0;
}

static int by_name(const void *a, const void *b)
{
	const struct row *r = a, *s = b;

	return strcmp(r->dso, s->dso) ?: strcmp(r->name, s->name);
}

static int more_first(const void *a, const void *b)
{
	const struct row *r = a, *s = b;

	if (r->ticks != s->ticks)
		return r->ticks < s->ticks ? 1 : -1;
	return by_name(a, b);
}

static void merge(void)
{
	struct row *list = top.list;
	size_t i, nr = 0;

	if (top.nr)
		qsort(list, top.nr, sizeof(*list), by_name);
	for (i = 0; i < top.nr; i++) {
		if (nr && !by_name(&list[nr - 1], &list[i])) {
			list[nr - 1].ticks += list[i].ticks;
			free(list[i].name);
			continue;
		}
		list[nr++] = list[i];
	}
	top.nr = nr;
	if (nr)
		qsort(list, nr, sizeof(*list), more_first);
}

static size_t rows_of_terminal(void)
{
	struct winsize size;

	if (!top.is_terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ||
	    size.ws_row <= OTHER_LINES)
		return ROWS;
	return size.ws_row - OTHER_LINES;
}

/* Print a row, but no more than a line of the terminal. */
static void print_row(const struct row *row, uint64_t all, int width)
{
	char *text;
	int length = asprintf(&text, "%s (%s)", row->name, row->dso);

	printf("%6.1f %% %8" PRIu64 "  ", 100.0 * row->ticks / all, row->ticks);
	width -= 20;
	if (length >= 0) {
		term_text(text, top.is_terminal && length > width ? width :
								    length);
		free(text);
	}
	putchar('\n');
}

static int print(const struct session *session, double seconds)
{
	size_t most = top.rows ?: rows_of_terminal(), i;
	uint64_t all = 0;
	struct term term;
	char what[256];

	term_find(&term);
	for (i = 0; i < top.nr; i++)
		all += top.list[i].ticks;
	session_describe(session, what, sizeof(what));
	if (top.is_terminal)
		printf("\033[H\033[J");
	term_name(what);
	printf(": %" PRIu64 " ticks of %.3f ms in %.1f s: %.2f CPUs\n", all,
	       session->period_ns / 1e6, seconds,
	       all * (session->period_ns / 1e9) / seconds);
	printf("%8s %8s  %s\n", "percent", "ticks", "function");
	for (i = 0; i < top.nr && i < most; i++)
		print_row(&top.list[i], all, term.width);
	if (!top.is_terminal)
		putchar('\n');
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	term_warn("standard output: %s", strerror(errno));
	return -1;
}

static int add_profile(const struct prf *prf)
{
	size_t i;

	for (i = 0; i < prf->nr; i++)
		if (add_exec(&prf->execs[i]))
			return -1;
	return 0;
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

static bool is_full(const struct profil_watch *room,
		    const struct profil_watch_status *used)
{
	return used->buckets > room->buckets / 4 * 3 ||
		used->objects > room->objects / 4 * 3 ||
		used->names > room->names / 4 * 3;
}

static int collect(struct session *session, struct prf *prf)
{
	struct profil_watch_status status;
	const struct watch *watches;
	size_t i;

	if (!top.records && begin_records(session))
		return -1;
	backend_watches(session, &watches);
	for (i = 0; i < top.nr_records; i++) {
		watch_status(&watches[i], PROFIL_IOC_WATCH_STATUS, &status);
		if (is_full(&watches[i].request, &status))
			top.is_full = true;
		if (record_add(top.records[i], prf, status.buckets))
			return -1;
	}
	return add_profile(prf);
}

static void free_records(void)
{
	while (top.nr_records)
		record_free(top.records[--top.nr_records]);
	free(top.records);
	top.records = NULL;
}

/*
 * Begin with empty tables before they are full, unless that would lose sight of
 * what the processes have started.
 */
static int renew(struct session *session)
{
	if (!top.is_full || session->target == TARGET_PROCESSES)
		return 0;
	top.is_full = false;
	free_records();
	backend_end_watches(session);
	return session_begin(session, 0);
}

static int refresh(struct session *session)
{
	uint64_t now = now_ns();
	double seconds = (now - (top.last_ns ?: session->start_ns)) / 1e9;
	struct prf prf = {};
	int failed;

	failed = collect(session, &prf);
	if (failed) {
		term_warn("%s", strerror(ENOMEM));
	} else {
		merge();
		failed = print(session, seconds) || renew(session) ? -1 : 0;
	}
	while (top.nr)
		free(top.list[--top.nr].name);
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
		case 'i':
		case OPTION_DOS:
		case OPTION_NO_NAMES:
			misused("the live view writes no file");
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
	failure = session_attach(&session);
	free_records();
	if (session_end(&session))
		failure = EXIT_FAILED;
	prf_free(&session.prf);
	return failure;
}
