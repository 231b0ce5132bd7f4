// SPDX-License-Identifier: GPL-2.0-only
/*
 * pg_control.c - a program that profiles only parts of itself
 *
 * With any argument it calls profil() to stop the profile that it has not
 * started itself.
 */
#include <unistd.h>

#include "pg_burn.h"

void moncontrol(int mode);

PLAIN void step(void)
{
}

PLAIN void steps(int nr)
{
	while (nr--)
		step();
}

PLAIN void first(void)
{
	burn(100000000);
}

PLAIN void hidden(void)
{
	burn(100000000);
}

PLAIN void second(void)
{
	burn(100000000);
}

int main(int argc, char **argv)
{
	unsigned short counter;

	(void)argv;
	if (argc > 1)
		return profil(&counter, sizeof(counter), 0, 0);
	first();
	steps(10);
	moncontrol(0);
	hidden();
	steps(1000);
	moncontrol(1);
	second();
	steps(5);
	return 0;
}
