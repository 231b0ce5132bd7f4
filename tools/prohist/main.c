// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - select, sum up and print, see prohist(1)
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prohist/diff.h"
#include "prohist/runs.h"
#include "util/pager.h"
#include "util/term.h"
#include "util/xalloc.h"

/* Share of ticks that a format may lack without a warning */
#define MISSING	0.01

/* Warn about missing ticks in formats without a summary. */
static void say_missing(const struct sum *sum)
{
	const struct prf_exec *numbers = &sum->numbers;
	uint64_t ticks = prf_placed(numbers, PRF_MISSING);
	uint64_t programs = numbers->unfollowed + sum->withheld +
		sum->nr_missed;

	if (ticks && (double)ticks / numbers->ticks >= MISSING)
		warnx("%" PRIu64 " of %" PRIu64 " ticks were lost or clipped, and are not in this output",
		      ticks, numbers->ticks);
	if (programs)
		warnx("%" PRIu64 " program%s not profiled; --format=text says why",
		      programs, programs == 1 ? " was" : "s were");
}

/* By default, all but waits that are so long that a thread had nothing to do. */
static unsigned int states_of(const struct options *options,
			      const struct runs *runs)
{
	size_t waiting = count_waiting(runs->list, runs->nr);

	if (options->selection.states)
		return options->selection.states;
	if (options->diff && waiting && waiting < runs->nr)
		term_warn("not all profiles have waits: comparing the time on a CPU");
	if (options->fail_over > 0 ||
	    (options->diff && waiting < runs->nr))
		return 1u << PRF_ON_CPU;
	return ((1u << PRF_STATES) - 1) & ~(1u << PRF_IDLE);
}

/* Remove from the runs all that the user did not select. */
static int select_ticks(const struct options *options, struct runs *runs,
			unsigned int states)
{
	const struct selection *selection = &options->selection;
	struct sum sum = { .callers = select_have_chains(runs->list, runs->nr) };
	int result;

	if (select_execs(selection, runs->list, runs->nr) ||
	    select_states(states, runs->list, runs->nr))
		return -1;
	/* These formats show a DSO beside the others */
	if (!(options->format->flags & FORMAT_DSO) &&
	    select_dsos(selection, runs->list, runs->nr))
		return -1;
	if (!selection->symbols.nr)
		return 0;
	sum_runs(&sum, runs->list, runs->nr, options->inlined);
	result = select_symbols(selection, runs->list, runs->nr, &sum);
	sum_free(&sum);
	return result;
}

/* Does --fields name a column that the rows have no numbers for? */
static int check_fields(const struct report *report)
{
	unsigned int by = report->keys ?: ROW_SYMBOL | ROW_DSO;
	const enum column_id *id = report->fields;

	while (id && *id != COLUMN_END && *id != COLUMN_TOTAL)
		id++;
	if (!id || *id == COLUMN_END || !(by & (ROW_SYMBOL | ROW_DSO)) ||
	    rows_have_totals(report->sum, by))
		return 0;
	term_warn(report->sum->chains ?
		  "--fields=total: functions have totals in all programs together only; sort by nothing else" :
		  "--fields=total: there are no chains of callers in the profile");
	return -1;
}

static int print_added(const struct term *term, const struct options *options,
		       const struct runs *runs, unsigned int states)
{
	const struct names *dsos = &options->selection.dsos;
	struct sum sum = {
		.callers = options->format->flags & FORMAT_CHAINS,
		.states = states,
	};
	const struct report report = {
		.term = term,
		.runs = runs->list,
		.nr = runs->nr,
		.sum = &sum,
		.dso = dsos->nr ? dsos->list[0] : NULL,
		.function = options->function,
		.stats = options->stats,
		.keys = options->keys,
		.fields = options->has_fields ? options->fields : NULL,
		.top = options->top,
	};
	int result;

	sum_runs(&sum, runs->list, runs->nr, options->inlined);
	result = check_fields(&report) ?: options->format->print(&report);
	if (!result && options->format->flags & FORMAT_FOREIGN)
		say_missing(&sum);
	if (!result && !sum.callers && sum.chains &&
	    options->format->flags & FORMAT_FOREIGN)
		term_warn("chains of callers are not in this output: the format has no place for them");
	sum_free(&sum);
	return result;
}

static enum status status_of(const struct diff *diff)
{
	if (diff->threshold <= 0)
		return STATUS_OK;
	if (diff->verdict.problem || diff->verdict.verdict > GATE_SLOWER)
		return STATUS_TROUBLE;
	return diff->verdict.verdict == GATE_SLOWER ? STATUS_SLOWER : STATUS_OK;
}

static enum status print_difference(const struct term *term,
				    const struct options *options,
				    const struct runs *runs,
				    unsigned int states)
{
	struct sum *sums = calloc(runs->nr, sizeof(*sums));
	struct diff diff = {
		.term = term,
		.runs = runs->list,
		.sums = sums,
		.nr = { runs->first, runs->nr - runs->first },
		.paths = options->files,
		.files = runs->paths,
		.threshold = options->fail_over,
		.attached = runs->list->exit_kind == PRF_RUNNING,
		.top = options->top,
	};
	enum status status;
	size_t i;

	if (!sums)
		err(STATUS_TROUBLE, NULL);
	/* Without callers: functions without ticks are not compared */
	for (i = 0; i < runs->nr; i++) {
		sums[i].states = states;
		sum_runs(&sums[i], &runs->list[i], 1, options->inlined);
		/* There may be many runs, each with the symbols of all its files */
		if (diff.nr[diff_side(&diff, i)] > 1)
			sum_close(&sums[i]);
	}
	diff_find(&diff);
	if (diff.threshold > 0)
		verdict_find(&diff);
	status = options->format->diff(&diff) ? STATUS_TROUBLE :
		status_of(&diff);
	diff_free(&diff);
	for (i = 0; i < runs->nr; i++)
		sum_free(&sums[i]);
	free(sums);
	return status;
}

static void list_buckets(const struct term *term, const struct runs *runs)
{
	size_t i;

	for (i = 0; i < runs->nr; i++) {
		term_name(runs->paths[i]);
		putchar('\n');
		print_buckets(term, &runs->list[i]);
	}
}

static enum status print_runs(const struct term *term,
			      const struct options *options, struct runs *runs)
{
	unsigned int states = states_of(options, runs);

	if (select_ticks(options, runs, states))
		return STATUS_TROUBLE;
	if (options->diff)
		return print_difference(term, options, runs, states);
	if (options->buckets)
		list_buckets(term, runs);
	else if (print_added(term, options, runs, states))
		return STATUS_TROUBLE;
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
	status = runs_read(&term, options, &runs);
	if (runs.nr && (!options->diff || status == STATUS_OK))
		printed = print_runs(&term, options, &runs);
	runs_free(&runs);
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
		return options_wrong("no FILE given, and no .prf file in this directory");
	options->files = newest;
	options->nr = 1;
	return 0;
}

/*
 * Redirect standard output, to which all formats print, to the output file. It
 * is not truncated yet, because it may be an input file.
 */
static int open_output(const struct options *options)
{
	int fd;

	if (!options->output)
		return 0;
	fd = open(options->output, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	/* Standard output was closed */
	if (fd == STDOUT_FILENO)
		return 0;
	if (fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0) {
		close(fd);
		return 0;
	}
	term_warn("%s: %s", options->output, strerror(errno));
	return -1;
}

/* Write the rest, and cut off what the output file had before. */
static int close_output(const struct options *options, enum status status)
{
	struct stat file;
	off_t size;

	if (fflush(stdout) || ferror(stdout))
		return -1;
	size = options->output ? lseek(STDOUT_FILENO, 0, SEEK_CUR) : 0;
	if (options->output && !fstat(STDOUT_FILENO, &file) &&
	    S_ISREG(file.st_mode) && (size || status == STATUS_OK) &&
	    ftruncate(STDOUT_FILENO, size))
		return -1;
	/* Some file systems say only now that they are full; it may be closed */
	return close(STDOUT_FILENO) && errno != EBADF ? -1 : 0;
}

static enum status run(struct options *options)
{
	enum status status;

	if (open_output(options))
		return STATUS_TROUBLE;
	status = print_files(options);
	if (close_output(options, status)) {
		term_warn("%s: %s", options->output ?: "standard output",
			  strerror(errno));
		return STATUS_TROUBLE;
	}
	return status;
}

int main(int argc, char **argv)
{
	enum status status = STATUS_TROUBLE;
	struct options options;
	char *newest = NULL;

	if (!options_parse(&options, argc, argv) && !find_file(&options, &newest))
		status = run(&options);
	selection_free(&options.selection);
	free(newest);
	return status;
}
