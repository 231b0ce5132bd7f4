// SPDX-License-Identifier: GPL-2.0-only
/*
 * summary.c - print the summary of a report
 *
 * One line, and others only for what is not as it should be; with --stats, how
 * much of the CPU time ticks cover, and the outcomes of all ticks.
 */
#include <inttypes.h>
#include <stdio.h>

#include "prohist/report.h"

/* Share of chains that may be cut before a report mentions it */
#define CUT_MUCH	0.01

static void print_number(const char *name, uint64_t number, const char *what)
{
	printf("%10s %10" PRIu64 "  %s\n", name, number, what);
}

/* The file has no ticks that are not selected. */
static bool is_shown(const struct sum *sum, const struct prf_outcome *outcome)
{
	return outcome->place != PRF_UNSELECTED ||
		prf_have(&sum->numbers, outcome);
}

static void print_outcomes(const struct sum *sum)
{
	const struct prf_exec *numbers = &sum->numbers;
	const struct prf_outcome *outcome;
	const char *sign = "ticks =";

	print_number("ticks", numbers->ticks, "in total");
	for (outcome = prf_outcomes; outcome < prf_outcomes + PRF_OUTCOMES;
	     outcome++)
		if (is_shown(sum, outcome))
			print_number(outcome->name, prf_have(numbers, outcome),
				     sum_meaning(sum, outcome));
	print_number("kernel", numbers->kernel,
		     "in the kernel, included above");
	for (outcome = prf_outcomes; outcome < prf_outcomes + PRF_OUTCOMES;
	     outcome++) {
		if (!is_shown(sum, outcome))
			continue;
		printf("%s %s", sign, outcome->name);
		sign = " +";
	}
	printf(": %s\n", sum_adds_up(sum) ? "yes" : "NO");
}

/* The ticks that fell while threads did not run, and are not in those above */
static void print_waits(const struct sum *sum)
{
	enum prf_state state;

	for (state = PRF_RUNNABLE; state < PRF_STATES; state++)
		print_number(prf_states[state].name,
			     sum->numbers.waits[state],
			     prf_states[state].meaning);
}

static void print_untimed(const struct sum *sum)
{
	const char *remedy = "see CONTENTS OF THE FILE in profil(1)";

	if (sum_untimed(sum) <= SUM_UNTIMED)
		return;
	if (sum->clock == PRF_CLOCK_PERF_EVENT_OPEN)
		remedy = "use the kernel module, or a shorter profil --interval";
	printf("%.1f %% of the CPU time has no ticks, and may belong anywhere; %s\n",
	       100 * sum_untimed(sum), remedy);
}

static void print_missed(const struct sum *sum)
{
	size_t i;

	if (sum->numbers.unfollowed)
		printf("not followed: %" PRIu64 " processes\n",
		       sum->numbers.unfollowed);
	if (sum->unfollowed_threads)
		printf("not followed: %" PRIu64 " threads, whose waits are not in the profile\n",
		       sum->unfollowed_threads);
	if (sum->withheld)
		printf("not permitted: %" PRIu64 " processes and programs\n",
		       sum->withheld);
	for (i = 0; i < sum->nr_missed; i++) {
		printf("not profiled: ");
		term_name(sum->missed[i].name);
		printf(": ");
		term_name(sum->missed[i].reason);
		putchar('\n');
	}
}

static void print_command(const struct sum *sum)
{
	term_name(sum->command);
	if (sum->files > 1)
		printf(" and %u more", sum->files - 1);
}

static uint64_t count_chains(const struct sum *sum)
{
	uint64_t chains = 0;
	size_t i;

	for (i = 0; i < PRF_CHAIN_ENDS; i++)
		chains += sum->ends[i];
	return chains;
}

/* How the chains of all ticks in the files ended, also of those not selected */
static void print_ends(const struct sum *sum)
{
	uint64_t chains = count_chains(sum);
	size_t i;

	for (i = 0; i < PRF_CHAIN_ENDS; i++)
		if (sum->ends[i] || i == PRF_CHAIN_COMPLETE)
			printf("%10s %10" PRIu64 " %5.1f %%  %s\n",
			       i ? "" : "chains", sum->ends[i],
			       chains ? 100.0 * sum->ends[i] / chains : 0,
			       prf_endings[i].meaning);
}

static void print_account(const struct term *term, const struct sum *sum)
{
	double covered = sum->numbers.covered_ns / 1e9;
	double time = sum->time_ns / 1e9;

	printf("profile of ");
	print_command(sum);
	putchar('\n');
	term_heading(term, "summary");
	printf("CPU time: %.3f s by the kernel, %.3f s covered, %.3f s by ticks",
	       sum->numbers.cpu_ns / 1e9, covered, time);
	if (covered > 0)
		printf(" (%.1f %% of covered)", 100 * time / covered);
	printf("\nclock: %s, period %.6f ms; real time %.3f s\n",
	       clock_name(sum->clock), sum->period_ns / 1e6,
	       sum->wall_ns / 1e9);
	print_outcomes(sum);
	if (sum->wall)
		print_waits(sum);
	if (sum->chains)
		print_ends(sum);
}

static void print_cut(const struct sum *sum)
{
	uint64_t chains = count_chains(sum);
	uint64_t cut = chains - sum->ends[PRF_CHAIN_COMPLETE];

	if (cut > CUT_MUCH * chains)
		printf("%.1f %% of the chains of callers are not complete; see --stats\n",
		       100.0 * cut / chains);
}

/* Time of the ticks of a state, also of those that are not selected */
static double state_s(const struct sum *sum, enum prf_state state)
{
	return (state == PRF_ON_CPU ? sum->time_ns : sum->waits_ns[state]) /
		1e9;
}

/* How the time of all threads divides: without waits that are not shown */
static void print_wall(const struct sum *sum)
{
	bool idle = sum->states & 1u << PRF_IDLE;
	enum prf_state end = idle ? PRF_STATES : PRF_IDLE, state;
	uint64_t ticks = sum->numbers.ticks;
	double all = 0;

	for (state = PRF_ON_CPU; state < end; state++) {
		all += state_s(sum, state);
		ticks += sum->numbers.waits[state];
	}
	printf(": %.3f s of wall time in threads, %" PRIu64 " ticks, period %.3f ms, %s\n",
	       all, ticks, sum->period_ns / 1e6, clock_name(sum->clock));
	for (state = PRF_ON_CPU; state < end; state++)
		printf("%s%.3f s %s (%.1f %%)", state ? ", " : "",
		       state_s(sum, state),
		       state ? prf_states[state].name : "on a CPU",
		       all > 0 ? 100 * state_s(sum, state) / all : 0);
	putchar('\n');
	if (!idle && sum->numbers.waits[PRF_IDLE])
		printf("idle: %.3f s in waits of a second and longer are left out; --idle shows them\n",
		       state_s(sum, PRF_IDLE));
}

/* Print only what is not as it should be. */
static void print_answer(const struct sum *sum)
{
	const struct prf_outcome *outcome;

	print_command(sum);
	if (sum->wall)
		print_wall(sum);
	else
		printf(": %.3f s of CPU time, %" PRIu64 " ticks, period %.3f ms, %s\n",
		       sum->numbers.cpu_ns / 1e9, sum->numbers.ticks,
		       sum->period_ns / 1e6, clock_name(sum->clock));
	for (outcome = prf_outcomes; outcome < prf_outcomes + PRF_OUTCOMES;
	     outcome++)
		if (outcome->remarkable && prf_have(&sum->numbers, outcome))
			printf("%s: %" PRIu64 " ticks %s\n", outcome->name,
			       prf_have(&sum->numbers, outcome),
			       sum_meaning(sum, outcome));
	print_cut(sum);
	if (!sum_adds_up(sum))
		printf("the ticks do not add up; see --stats\n");
}

/**
 * print_summary() - how much CPU time, and what is missing
 * @stats: print all numbers, not only those that are not as they should be
 */
void print_summary(const struct term *term, const struct sum *sum, bool stats)
{
	if (stats)
		print_account(term, sum);
	else
		print_answer(sum);
	print_untimed(sum);
	print_missed(sum);
}
