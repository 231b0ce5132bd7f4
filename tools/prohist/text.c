// SPDX-License-Identifier: GPL-2.0-only
/*
 * text.c - print DSOs and functions as text
 */
#include <stdio.h>

#include "prohist/report.h"

static void print_class(const struct term *term, const struct sum *sum,
			enum sum_class class)
{
	columns_print(term, sum, COLUMN_PERCENT, sum->classes[class], 0,
		      sum->placed);
	printf("%s\n", sum_class_name(class));
}

static void print_dso(const struct term *term, const struct sum *sum,
		      const struct sum_dso *dso)
{
	columns_print(term, sum, COLUMN_PERCENT, dso->ticks, 0, sum->placed);
	printf("  ");
	term_name(dso->path);
	putchar('\n');
	if (dso->symbols.problem)
		printf("%20s(%s)\n", "", dso->symbols.problem);
}

static void print_dsos(const struct term *term, const struct sum *sum)
{
	int class;
	size_t i;

	columns_heading(term, COLUMN_PERCENT, "by DSO");
	for (class = 0; class < SUM_CLASSES; class++) {
		print_class(term, sum, class);
		for (i = 0; i < sum->nr_dsos; i++)
			if (sum->dsos[i].class == (enum sum_class)class)
				print_dso(term, sum, &sum->dsos[i]);
	}
}

static void print_function(const struct sum *sum,
			   const struct sum_function *function)
{
	term_name(function->name);
	if (!sum_is_whole(sum, function)) {
		printf(" (");
		term_name(sum_dso_name(sum, function->dso));
		putchar(')');
	}
	putchar('\n');
}

static void print_functions(const struct term *term, const struct sum *sum,
			    size_t top)
{
	uint64_t so_far = 0;
	size_t i;

	columns_heading(term, COLUMN_SO_FAR, "by function");
	for (i = 0; i < sum->nr_functions && i < top; i++) {
		so_far += sum->functions[i].ticks;
		columns_print(term, sum, COLUMN_SO_FAR, sum->functions[i].ticks,
			      so_far, sum->functions[0].ticks);
		print_function(sum, &sum->functions[i]);
	}
	columns_more(sum, so_far, sum->nr_functions - i);
}

/** print_text() - print summary, DSOs and functions */
int print_text(const struct report *report)
{
	print_summary(report->term, report->sum);
	print_dsos(report->term, report->sum);
	print_functions(report->term, report->sum, report->top);
	return 0;
}
