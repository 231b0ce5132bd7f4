// SPDX-License-Identifier: GPL-2.0-only
/*
 * print_text.c - objects and functions for people to read
 */
#include <inttypes.h>
#include <stdio.h>

#include "print.h"

/* Of numbers, and of names as long as most are. */
#define COLUMNS	(24 + 30)

static void print_class(const struct term *term, const struct sum *sum,
			enum sum_class class)
{
	int width = term_bar_width(term, COLUMNS);
	uint64_t ticks = sum->classes[class];

	printf("%10" PRIu64 " %5.1f %%  ", ticks, sum_percent(sum, ticks));
	width = term_bar(term, width, ticks, sum->placed);
	printf("%*s %s\n", width, "", sum_class_name(class));
}

static void print_object(const struct term *term, const struct sum *sum,
			 const struct sum_object *object)
{
	int width = term_bar_width(term, COLUMNS);

	printf("%10" PRIu64 " %5.1f %%  ", object->ticks,
	       sum_percent(sum, object->ticks));
	width = term_bar(term, width, object->ticks, sum->placed);
	printf("%*s   ", width, "");
	term_name(object->path);
	putchar('\n');
	if (object->symbols.problem)
		printf("%20s(%s)\n", "", object->symbols.problem);
}

static void print_objects(const struct term *term, const struct sum *sum)
{
	int class;
	size_t i;

	term_heading(term, "     ticks          by object");
	for (class = 0; class < SUM_CLASSES; class++) {
		print_class(term, sum, class);
		for (i = 0; i < sum->nr_objects; i++)
			if (sum->objects[i].class == (enum sum_class)class)
				print_object(term, sum, &sum->objects[i]);
	}
}

static void print_function(const struct sum *sum,
			   const struct sum_function *function)
{
	term_name(function->name);
	if (!sum_is_whole(sum, function)) {
		printf(" (");
		term_name(sum_object_name(sum, function->object));
		putchar(')');
	}
	putchar('\n');
}

static void print_functions(const struct term *term, const struct sum *sum,
			    size_t top)
{
	uint64_t so_far = 0;
	size_t i;

	term_heading(term, "     ticks          error   so far  by function");
	for (i = 0; i < sum->nr_functions && i < top; i++) {
		so_far += sum->functions[i].ticks;
		print_share(term, sum, sum->functions[i].ticks, so_far,
			    sum->functions[0].ticks);
		print_function(sum, &sum->functions[i]);
	}
	print_more(sum, so_far, sum->nr_functions - i);
}

/** print_text() - everything for people to read */
int print_text(const struct report *report)
{
	print_reckoning(report->term, report->sum);
	print_objects(report->term, report->sum);
	print_functions(report->term, report->sum, report->top);
	return 0;
}
