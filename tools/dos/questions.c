// SPDX-License-Identifier: GPL-2.0-only
/*
 * questions.c - ask the questions of MS-DOS PROFIL
 *
 * Questions go to standard error. Answers are read byte by byte, so that the
 * rest of standard input is left to the program.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wordexp.h>

#include "dos/questions.h"
#include "util/number.h"

#define ROOM	4096

/* Read a line without its end; -1 at end of file or if it is too long. */
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

static bool is_number(char *line, uint64_t least, uint64_t most,
		      uint64_t *number)
{
	char *end = line + strlen(line);

	while (isspace((unsigned char)*line))
		line++;
	while (end > line && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return parse_number(line, least, most, number);
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
		fprintf(stderr, "Enter a number from %llu to %llu.\n",
			(unsigned long long)least, (unsigned long long)most);
	}
}

/* Split and expand the line as a shell does, except command substitution. */
static int ask_words(const char *question, struct answers *answers)
{
	char line[ROOM];
	wordexp_t words;

	for (;;) {
		if (ask(question, line))
			return -1;
		if (!wordexp(line, &words, WRDE_NOCMD))
			break;
		fputs("Unbalanced quotes; separate arguments by spaces.\n",
		      stderr);
	}
	answers->words = words.we_wordv;
	answers->nr = words.we_wordc;
	return 0;
}

/**
 * questions_ask() - ask each question until the answer is valid
 * @answers: receives the answers
 *
 * Return: 0, or -1 after reporting that there is no answer.
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
