// SPDX-License-Identifier: GPL-2.0-only
/*
 * questions.c - asks what MS-DOS PROFIL asked
 *
 * Questions go to the standard error. Answers are read byte by byte: what comes
 * after them is for the program.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wordexp.h>

#include "questions.h"

#define ROOM	4096

/* A line without its end; -1 if there is none, or it is too long. */
static int read_line(char *line)
{
	size_t length = 0;
	ssize_t got;

	while ((got = read(STDIN_FILENO, &line[length], 1)) == 1 &&
	       line[length] != '\n')
		if (++length == ROOM)
			return -1;
	if (got != 1 && !length)
		return -1;
	if (length && line[length - 1] == '\r')
		length--;
	line[length] = '\0';
	return 0;
}

static int ask(const char *question, char *line)
{
	fputs(question, stderr);
	if (!read_line(line))
		return 0;
	fputs("\nprofil: no answer\n", stderr);
	return -1;
}

static bool is_number(const char *line, uint64_t least, uint64_t most,
		      uint64_t *number)
{
	char *end;

	while (isspace((unsigned char)*line))
		line++;
	if (!isdigit((unsigned char)*line))
		return false;
	errno = 0;
	*number = strtoull(line, &end, 10);
	while (isspace((unsigned char)*end))
		end++;
	return !*end && !errno && *number >= least && *number <= most;
}

static int ask_number(const char *question, uint64_t least, uint64_t most,
		      uint64_t *number)
{
	char line[ROOM];

	for (;;) {
		if (ask(question, line))
			return -1;
		if (is_number(line, least, most, number))
			return 0;
		fprintf(stderr, "A number from %llu to %llu, please.\n",
			(unsigned long long)least, (unsigned long long)most);
	}
}

/* As a shell would take them, but that no command is executed. */
static int ask_words(const char *question, struct answers *answers)
{
	char line[ROOM];
	wordexp_t words;

	for (;;) {
		if (ask(question, line))
			return -1;
		if (!wordexp(line, &words, WRDE_NOCMD))
			break;
		fputs("Words with spaces between them, please, and quotes in pairs.\n",
		      stderr);
	}
	answers->words = words.we_wordv;
	answers->nr = words.we_wordc;
	return 0;
}

/**
 * questions_ask() - ask until everything is answered
 * @answers: receives what was answered
 *
 * Return: 0, or -1 if there was no answer, which has been said.
 */
int questions_ask(struct answers *answers)
{
	if (ask_number("Paragraphs (16 bytes) per bucket: ", 1,
		       MOST_PARAGRAPHS, &answers->paragraphs) ||
	    ask_number("Clock interval in microseconds: ", LEAST_US, MOST_US,
		       &answers->interval_us))
		return -1;
	return ask_words("Parameters of the program: ", answers);
}
