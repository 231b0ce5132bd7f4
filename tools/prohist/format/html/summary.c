// SPDX-License-Identifier: GPL-2.0-only
/*
 * summary.c - summary and programs in the HTML page
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/format/html/html.h"
#include "util/xalloc.h"

/* Maximum numbers of programs in the page. */
#define PROGRAMS	40
#define MISSED		20

/* A row of the summary. */
struct fact {
	const char *name;
	void (*print)(FILE *out, const struct sum *sum);
};

static void print_cpu(FILE *out, const struct sum *sum)
{
	fprintf(out, "%.3f s", sum->numbers.cpu_ns / 1e9);
}

static void print_covered(FILE *out, const struct sum *sum)
{
	fprintf(out, "%.3f s", sum->numbers.covered_ns / 1e9);
}

static void print_time(FILE *out, const struct sum *sum)
{
	fprintf(out, "%.3f s", sum->time_ns / 1e9);
	if (sum->numbers.covered_ns)
		fprintf(out, " <small>%.1f&nbsp;%% of covered</small>",
			100 * sum->time_ns / sum->numbers.covered_ns);
}

static void print_wall(FILE *out, const struct sum *sum)
{
	fprintf(out, "%.3f s", sum->wall_ns / 1e9);
}

static void print_clock(FILE *out, const struct sum *sum)
{
	fputs(clock_name(sum->clock), out);
}

static void print_period(FILE *out, const struct sum *sum)
{
	fprintf(out, "%.6f ms", sum->period_ns / 1e6);
}

static void print_files(FILE *out, const struct sum *sum)
{
	fprintf(out, "%u", sum->files);
}

static void print_runnable(FILE *out, const struct sum *sum)
{
	fprintf(out, "%.3f s", sum->waits_ns[PRF_RUNNABLE] / 1e9);
}

static void print_blocked(FILE *out, const struct sum *sum)
{
	fprintf(out, "%.3f s", sum->waits_ns[PRF_BLOCKED] / 1e9);
}

static void print_idle(FILE *out, const struct sum *sum)
{
	fprintf(out, "%.3f s", sum->waits_ns[PRF_IDLE] / 1e9);
	if (!(sum->states & 1u << PRF_IDLE) && sum->numbers.hidden[PRF_IDLE])
		fputs(" <small>left out; --idle shows it</small>", out);
}

static void print_untimed(FILE *out, const struct sum *sum)
{
	fprintf(out, "%.1f&nbsp;%%", 100 * sum_untimed(sum));
}

static void print_adds_up(FILE *out, const struct sum *sum)
{
	fputs(sum_adds_up(sum) ? "yes" : "<strong>no</strong>", out);
}

static const struct fact times[] = {
	{ "CPU time by the kernel", print_cpu },
	{ "Covered", print_covered },
	{ "By ticks", print_time },
	{ "Without ticks", print_untimed },
	{ "Real time", print_wall },
	{ "Clock", print_clock },
	{ "Period", print_period },
	{ "Runs", print_files },
	{ }
};

/* Time of threads while they do not run */
static const struct fact waits[] = {
	{ "Runnable", print_runnable },
	{ "Blocked", print_blocked },
	{ "Idle: in waits of a second and longer", print_idle },
	{ }
};

static void begin_facts(const struct html *html, const char *caption)
{
	fprintf(html->out, "<table class=\"facts\">\n<caption>%s</caption>\n",
		caption);
	if (html->nr_sides > 1)
		fputs("<thead><tr><td></td><th scope=\"col\">Before</th><th scope=\"col\">After</th></tr></thead>\n",
		      html->out);
	fputs("<tbody>\n", html->out);
}

static void end_facts(const struct html *html)
{
	fputs("</tbody>\n</table>\n", html->out);
}

static void write_fact(const struct html *html, const struct fact *fact)
{
	FILE *out = html->out;
	int i;

	fprintf(out, "<tr><th scope=\"row\">%s</th>", fact->name);
	for (i = 0; i < html->nr_sides; i++) {
		fputs("<td>", out);
		fact->print(out, html->sides[i].sum);
		fputs("</td>", out);
	}
	fputs("</tr>\n", out);
}

static void write_times(const struct html *html)
{
	const struct fact *fact;

	begin_facts(html, html->sides[0].sum->wall ? "Time of threads" :
						     "CPU time");
	for (fact = times; fact->name; fact++)
		write_fact(html, fact);
	for (fact = waits; fact->name && html->sides[0].sum->wall; fact++)
		write_fact(html, fact);
	end_facts(html);
}

/* Write a number of each side. */
static void write_count(const struct html *html, const char *name,
			const char *meaning, const uint64_t counts[2])
{
	int i;

	fprintf(html->out, "<tr><th scope=\"row\">%s <small>%s</small></th>",
		name, meaning);
	for (i = 0; i < html->nr_sides; i++)
		fprintf(html->out, "<td>%" PRIu64 "</td>", counts[i]);
	fputs("</tr>\n", html->out);
}

static void write_outcome(const struct html *html,
			  const struct prf_outcome *outcome)
{
	uint64_t counts[2];
	int i;

	for (i = 0; i < html->nr_sides; i++)
		counts[i] = prf_have(&html->sides[i].sum->numbers, outcome);
	write_count(html, outcome->name,
		    sum_meaning(html->sides[html->nr_sides - 1].sum, outcome),
		    counts);
}

static void write_outcomes(const struct html *html)
{
	static const struct fact adds_up = { "The ticks add up",
					     print_adds_up };
	uint64_t ticks[2], kernel[2], unfollowed[2], withheld[2], threads[2];
	int i;

	for (i = 0; i < html->nr_sides; i++) {
		const struct sum *sum = html->sides[i].sum;

		ticks[i] = sum->numbers.ticks;
		kernel[i] = sum->numbers.kernel;
		unfollowed[i] = sum->numbers.unfollowed;
		withheld[i] = sum->withheld;
		threads[i] = sum->unfollowed_threads;
	}
	begin_facts(html, "Outcomes of ticks");
	write_count(html, "ticks", "in total", ticks);
	for (i = 0; i < PRF_OUTCOMES; i++)
		write_outcome(html, &prf_outcomes[i]);
	write_count(html, "kernel", "in the kernel, included above", kernel);
	write_fact(html, &adds_up);
	write_count(html, "unfollowed", "processes not followed", unfollowed);
	write_count(html, "withheld", "processes and programs not permitted",
		    withheld);
	if (html->sides[0].sum->wall)
		write_count(html, "threads", "not followed in their waits",
			    threads);
	end_facts(html);
}

static void write_missed(FILE *out, const struct sum *sum)
{
	size_t i;

	if (!sum->nr_missed)
		return;
	fprintf(out, "<h3>Not profiled: %zu</h3>\n<ul class=\"warning\">\n",
		sum->nr_missed);
	for (i = 0; i < sum->nr_missed && i < MISSED; i++) {
		fputs("<li><code>", out);
		html_path(out, sum->missed[i].name);
		fputs("</code>: ", out);
		html_path(out, sum->missed[i].reason);
		fputs("</li>\n", out);
	}
	if (sum->nr_missed > MISSED)
		fprintf(out, "<li>%zu more</li>\n", sum->nr_missed - MISSED);
	fputs("</ul>\n", out);
}

/** html_summary() - CPU time, and the outcomes of all ticks */
void html_summary(const struct html *html)
{
	int i;

	fputs("<section id=\"summary\" aria-labelledby=\"summary-title\">\n<h2 id=\"summary-title\">Summary</h2>\n<div class=\"sides\">\n",
	      html->out);
	write_times(html);
	write_outcomes(html);
	fputs("</div>\n", html->out);
	for (i = 0; i < html->nr_sides; i++)
		write_missed(html->out, html->sides[i].sum);
	fputs("</section>\n", html->out);
}

/* All execs of a program. */
struct program {
	const char *name;
	size_t execs;
	uint64_t ticks;
	uint64_t cpu_ns;
};

static int by_name(const void *a, const void *b)
{
	const struct program *p = a, *q = b;

	return strcmp(p->name, q->name);
}

static int by_ticks(const void *a, const void *b)
{
	const struct program *p = a, *q = b;

	if (p->ticks != q->ticks)
		return p->ticks < q->ticks ? 1 : -1;
	return by_name(a, b);
}

static size_t merge(struct program *programs, size_t nr)
{
	size_t i, kept = 0;

	qsort(programs, nr, sizeof(*programs), by_name);
	for (i = 0; i < nr; i++) {
		if (!kept || by_name(&programs[kept - 1], &programs[i])) {
			programs[kept++] = programs[i];
			continue;
		}
		programs[kept - 1].execs++;
		programs[kept - 1].ticks += programs[i].ticks;
		programs[kept - 1].cpu_ns += programs[i].cpu_ns;
	}
	return kept;
}

/* Ticks in any of the classes, as the text has them */
static uint64_t shown_ticks(const struct prf_exec *exec)
{
	uint64_t ticks = prf_placed(exec, PRF_IN_BUCKETS) +
		prf_placed(exec, PRF_IN_KERNEL) +
		prf_placed(exec, PRF_ELSEWHERE) + prf_waits(exec);
	enum prf_state state;

	for (state = PRF_RUNNABLE; state < PRF_STATES; state++)
		ticks -= exec->hidden[state];
	return ticks;
}

static struct program *find_programs(const struct html_side *side, size_t *nr)
{
	struct program *programs = NULL;
	size_t i, j;

	*nr = 0;
	for (i = 0; i < side->nr_runs; i++)
		for (j = 0; j < side->runs[i].nr; j++) {
			const struct prf_exec *exec = &side->runs[i].execs[j];

			programs = one_more(programs, *nr, sizeof(*programs));
			programs[(*nr)++] = (struct program){
				exec->name, 1,
				shown_ticks(exec), exec->cpu_ns
			};
		}
	if (*nr)
		*nr = merge(programs, *nr);
	if (*nr)
		qsort(programs, *nr, sizeof(*programs), by_ticks);
	return programs;
}

static void write_programs(FILE *out, const struct html_side *side)
{
	size_t nr, i;
	struct program *programs = find_programs(side, &nr);

	fprintf(out, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Programs%s%s\">\n<table class=\"numbers\">\n",
		side->label ? ", " : "", side->label ?: "");
	fprintf(out, "<caption>%s</caption>\n",
		side->label ?: "All execs of each program");
	fputs("<thead><tr><th scope=\"col\">Ticks</th><th scope=\"col\">CPU time, s</th><th scope=\"col\">Execs</th><th scope=\"col\">Program</th></tr></thead>\n<tbody>\n",
	      out);
	for (i = 0; i < nr && i < PROGRAMS; i++) {
		fprintf(out, "<tr><td>%" PRIu64 "</td><td>%.3f</td><td>%zu</td><td>",
			programs[i].ticks, programs[i].cpu_ns / 1e9,
			programs[i].execs);
		html_path(out, programs[i].name);
		fputs("</td></tr>\n", out);
	}
	fputs("</tbody>\n</table>\n", out);
	if (nr > PROGRAMS)
		fprintf(out, "<p>%zu more programs</p>\n", nr - PROGRAMS);
	fputs("</div>\n", out);
	free(programs);
}

/** html_programs() - programs of all execs, if there are several */
void html_programs(const struct html *html)
{
	size_t execs = 0, j;
	int i;

	for (i = 0; i < html->nr_sides; i++)
		for (j = 0; j < html->sides[i].nr_runs; j++)
			execs += html->sides[i].runs[j].nr;
	if (execs <= (size_t)html->nr_sides)
		return;
	fputs("<section aria-labelledby=\"programs\">\n<h2 id=\"programs\">Programs</h2>\n<div class=\"sides\">\n",
	      html->out);
	for (i = 0; i < html->nr_sides; i++)
		write_programs(html->out, &html->sides[i]);
	fputs("</div>\n</section>\n", html->out);
}
