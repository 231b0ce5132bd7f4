// SPDX-License-Identifier: GPL-2.0-only
/* part.c - a library that spends CPU time; NAME is its function's name */

#define QUOTE(name)	#name
#define NAME_OF(name)	QUOTE(name)

/* The second name is for dlsym(); the first one is in the symbol table. */
__attribute__((noipa)) void NAME(void)
{
	volatile int i;

	for (i = 0; i < 20000; i++)
		;
}

extern __typeof__(NAME) part __attribute__((alias(NAME_OF(NAME))));
