/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * said.h - what a program has written to its standard error
 */
#ifndef SELFTESTS_SAID_H
#define SELFTESTS_SAID_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Is there a line with @words in the file err? */
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
