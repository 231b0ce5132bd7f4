// SPDX-License-Identifier: GPL-2.0-only
/*
 * own.c - a program that has functions of its own called moncontrol() and
 * monstartup(), which are no names of the language's or the system's
 */
#include <unistd.h>

#include "burn.h"

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
