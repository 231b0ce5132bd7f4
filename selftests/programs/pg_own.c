// SPDX-License-Identifier: GPL-2.0-only
/*
 * pg_own.c - a program that has functions of its own called moncontrol() and
 * monstartup(), as neither the C language nor POSIX reserves these names
 */
#include <unistd.h>

#include "pg_burn.h"

PLAIN void moncontrol(int mode)
{
	_exit(mode);
}

PLAIN void monstartup(void)
{
	_exit(3);
}

PLAIN void step(void)
{
}

PLAIN void busy(void)
{
	int i;

	burn(100000000);
	for (i = 0; i < 7; i++)
		step();
}

int main(int argc, char **argv)
{
	(void)argv;
	busy();
	if (argc > 1)
		moncontrol(argc);
	if (argc > 2)
		monstartup();
	return 0;
}
