// SPDX-License-Identifier: GPL-2.0-only
/*
 * caller.c - spends CPU time in one function, which others call
 *
 *	caller DEED...
 *
 * often, seldom	print the function's name, first and last offset, and
 *		nanoseconds; and then the same of a function that calls it, with
 *		the nanoseconds of the calls: four times as many for the first
 * inner	the same in a function that calls itself 20 times
 * ever		often and seldom, for ever
 */
#include <string.h>

#include "spend.h"

#define PART_NS		100000000ULL

OWN_TEXT(leaf) static void leaf(void)
{
	LOOP(100000);
}

OWN_TEXT(often) static uint64_t often(void)
{
	return spend(leaf, 4 * PART_NS);
}

OWN_TEXT(seldom) static uint64_t seldom(void)
{
	return spend(leaf, PART_NS);
}

OWN_TEXT(inner) static uint64_t inner(int depth)
{
	/* A volatile one, so that the compiler makes no loop of the calls */
	volatile uint64_t ns = depth ? inner(depth - 1) :
				       spend(leaf, PART_NS);

	return ns;
}

static void print_calls(const char *name, const char *start, const char *end,
			uint64_t ns)
{
	print("leaf", __start_text_leaf, __stop_text_leaf, ns);
	print(name, start, end, ns);
}

int main(int argc, char **argv)
{
	while (--argc > 0) {
		argv++;
		if (!strcmp(*argv, "often"))
			print_calls("often", __start_text_often,
				    __stop_text_often, often());
		else if (!strcmp(*argv, "seldom"))
			print_calls("seldom", __start_text_seldom,
				    __stop_text_seldom, seldom());
		else if (!strcmp(*argv, "inner"))
			print_calls("inner", __start_text_inner,
				    __stop_text_inner, inner(20));
		else if (!strcmp(*argv, "ever"))
			for (;;)
				print_calls("ever", __start_text_leaf,
					    __stop_text_leaf,
					    often() + seldom());
		else
			return 99;
	}
	return 0;
}
