/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * said.h - search the standard error of a program, in the file err
 */
#ifndef SELFTESTS_SAID_H
#define SELFTESTS_SAID_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Return: whether a line of the file err contains @words. */
static inline bool is_said(const char *words)
{
	char line[1024] = "";
	FILE *file = fopen("err", "r");
	bool found = false;

	while (!found && fgets(line, sizeof(line), file))
		found = strstr(line, words);
	fclose(file);
	return found;
}

#endif /* SELFTESTS_SAID_H */
