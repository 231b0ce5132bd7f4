// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * report.c - output of the demo
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report.h"

#define BAR	24

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Print ticks, their share of @all, and a bar that is full at @most. */
static void print_ticks(uint64_t ticks, uint64_t all, uint64_t most)
{
	static const char full[] = "########################";
	int bar = most ? (ticks * BAR + most / 2) / most : 0;

	printf("%8" PRIu64 " %5.1f %%  %-*.*s ", ticks,
	       all ? 100.0 * ticks / all : 0.0, BAR, bar, full);
}

/**
 * report_objects() - print the ticks of each DSO with ticks
 * @text: text whose profile has been stopped
 */
void report_objects(const struct text *text)
{
	uint64_t all = text_ticks(text);
	unsigned int i;

	printf("\n   ticks          by DSO\n");
	for (i = 0; i < text->nr; i++) {
		uint64_t ticks = piece_ticks(&text->pieces[i]);

		if (!ticks)
			continue;
		print_ticks(ticks, all, all);
		printf("%s\n", base_name(text->pieces[i].object));
	}
	print_ticks(*text->elsewhere, all, all);
	printf("(elsewhere)\n");
}

static void print_function(const struct function *function)
{
	const struct piece *piece = function->piece;

	if (function->name)
		printf("%s (%s)\n", function->name, base_name(piece->object));
	else
		printf("%s+%#" PRIxPTR "..%#" PRIxPTR "\n",
		       base_name(piece->object), function->start - piece->bias,
		       function->end - 1 - piece->bias);
}

/**
 * report_functions() - print the functions with the most ticks
 * @functions: functions, most ticks first
 * @ticks: all ticks
 * @most: maximum number of functions to print
 */
void report_functions(const struct functions *functions, uint64_t ticks,
		      size_t most)
{
	uint64_t first = functions->nr ? functions->list[0].ticks : 0;
	uint64_t left = 0;
	size_t i;

	printf("\n   ticks          by function\n");
	for (i = 0; i < functions->nr; i++) {
		if (i >= most) {
			left += functions->list[i].ticks;
			continue;
		}
		print_ticks(functions->list[i].ticks, ticks, first);
		print_function(&functions->list[i]);
	}
	if (!left)
		return;
	print_ticks(left, ticks, first);
	printf("(%zu more)\n", functions->nr - most);
}

static void print_number(const char *name, uint64_t number, const char *what)
{
	printf("%10s %8" PRIu64 "  %s\n", name, number, what);
}

/**
 * report_status() - print the status of a profile
 * @who: name of the process
 * @status: status from profil_stop()
 * @cpu_seconds: CPU time from getrusage(), in seconds
 *
 * Return: whether every tick is accounted for.
 */
bool report_status(const char *who, const struct profil_status *status,
		   double cpu_seconds)
{
	uint64_t sum = status->counts.counted + status->counts.clipped +
		       status->counts.outside + status->counts.lost +
		       status->counts.left_out;
	bool holds = status->counts.ticks == sum && !status->pending;

	printf("\nstatistics of the %s\n", who);
	print_number("ticks", status->counts.ticks, "in total");
	print_number("counted", status->counts.counted, "are in the counters");
	print_number("clipped", status->counts.clipped,
		     "not counted: the counter was full");
	print_number("outside", status->counts.outside, "outside all regions");
	print_number("lost", status->counts.lost, "not counted: the counter was not writable");
	print_number("left out", status->counts.left_out,
		     "in the kernel, excluded");
	print_number("kernel", status->counts.kernel,
		     "in the kernel, included above");
	print_number("pending", status->pending, "pending, in none of the above");
	printf("ticks = counted + clipped + outside + lost + left out: %s\n",
	       holds ? "yes" : "NO");
	printf("CPU time: %.3f s covered, %.3f s by getrusage, %.3f s by ticks of %.3f ms\n",
	       status->cpu_time_ns / 1e9, cpu_seconds,
	       status->counts.ticks * (status->period_ns / 1e9),
	       status->period_ns / 1e6);
	return holds;
}
