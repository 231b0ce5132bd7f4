// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * report.c - what the demonstration prints
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

/* Ticks, part of @all, and a bar on a scale to @most. */
static void print_ticks(uint64_t ticks, uint64_t all, uint64_t most)
{
	static const char full[] = "########################";
	int bar = most ? (ticks * BAR + most / 2) / most : 0;

	printf("%8" PRIu64 " %5.1f %%  %-*.*s ", ticks,
	       all ? 100.0 * ticks / all : 0.0, BAR, bar, full);
}

/**
 * report_objects() - ticks of each object that had any
 * @text: counters that are not written any more
 */
void report_objects(const struct text *text)
{
	uint64_t all = text_ticks(text);
	unsigned int i;

	printf("\n   ticks          by object\n");
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
 * report_functions() - the functions with the most ticks
 * @functions: the most first
 * @ticks: of everything
 * @most: print no more than these
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
 * report_status() - the statistics of a profile
 * @who: whose
 * @status: of profil_stop()
 * @cpu_seconds: CPU time by getrusage(), in seconds
 *
 * Return: whether every tick is accounted for.
 */
bool report_status(const char *who, const struct profil_status *status,
		   double cpu_seconds)
{
	uint64_t sum = status->counted + status->clipped + status->outside +
		status->lost + status->left_out;
	bool holds = status->ticks == sum && !status->pending;

	printf("\nstatistics of the %s\n", who);
	print_number("ticks", status->ticks, "in all");
	print_number("counted", status->counted, "are in the counters");
	print_number("clipped", status->clipped, "found their counter full");
	print_number("outside", status->outside, "belong to no region");
	print_number("lost", status->lost, "could not be written");
	print_number("left out", status->left_out,
		     "in the kernel, and not wanted");
	print_number("kernel", status->kernel, "in the kernel, among the above");
	print_number("pending", status->pending, "not settled yet");
	printf("ticks = counted + clipped + outside + lost + left out: %s\n",
	       holds ? "yes" : "NO");
	printf("CPU time: %.3f s covered, %.3f s by getrusage, %.3f s by ticks of %.3f ms\n",
	       status->cpu_time_ns / 1e9, cpu_seconds,
	       status->ticks * (status->period_ns / 1e9),
	       status->period_ns / 1e6);
	return holds;
}
