// SPDX-License-Identifier: GPL-2.0-only
/*
 * term.c - output to a terminal: width, colour, escaping
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "util/term.h"
#include "util/utf8.h"

#define PLAIN_WIDTH	80
#define BAR_LEAST	10
#define BAR_MOST	40

/* Thresholds of the colours, in percent */
#define HOT		10
#define WARM		1

static int find_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (columns && atoi(columns) > 0)
		return atoi(columns);
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return PLAIN_WIDTH;
}

/** term_find() - find out width and colour of standard output */
void term_find(struct term *term)
{
	const char *no_color = getenv("NO_COLOR");
	const char *kind = getenv("TERM");
	bool tty = isatty(STDOUT_FILENO);
	bool dumb = !kind || kind[0] == '\0' ||
		(kind[0] == 'd' && kind[1] == 'u');

	term->width = tty ? find_width() : PLAIN_WIDTH;
	term->colour = tty && !dumb && !(no_color && *no_color);
}

/** term_heading() - print a heading after a blank line */
void term_heading(const struct term *term, const char *text)
{
	if (term->colour)
		printf("\n\033[1m%s\033[0m\n", text);
	else
		printf("\n%s\n", text);
}

/** term_colour() - print in a colour from now on, if there are colours */
void term_colour(const struct term *term, enum term_colour colour)
{
	if (term->colour)
		printf("\033[%dm", colour);
}

/**
 * term_bar_width() - columns available for bars
 * @columns: columns that the rest of the line takes
 */
int term_bar_width(const struct term *term, int columns)
{
	int width = term->width - columns;

	if (width < BAR_LEAST)
		return BAR_LEAST;
	return width > BAR_MOST ? BAR_MOST : width;
}

/**
 * term_bar() - print a bar for @part; a bar for @all would take @width columns
 *
 * Return: number of columns left of @width.
 */
int term_bar(const struct term *term, int width, double part, double all,
	     enum term_colour colour)
{
	int full = all > 0 ? part / all * width + 0.5 : 0;
	int i;

	term_colour(term, colour);
	for (i = 0; i < full; i++)
		putchar('#');
	term_colour(term, TERM_PLAIN);
	return width - full;
}

/*
 * Print the first character, or "?" for a control character; @text is not
 * terminated.
 */
static int put_character(FILE *file, const char *text, size_t length)
{
	char character[5] = "";
	int bytes;

	memcpy(character, text, length < 4 ? length : 4);
	bytes = utf8_text(character);
	if (bytes)
		fwrite(character, bytes, 1, file);
	else
		putc(*text == '\t' ? ' ' : '?', file);
	return bytes ?: 1;
}

static void put_text(FILE *file, const char *text, size_t length)
{
	int bytes;

	for (; length; text += bytes, length -= bytes)
		bytes = put_character(file, text, length);
}

/**
 * term_text() - print text from a file, without control characters
 * @text: the text, not terminated
 * @length: its length, in bytes; prints nothing if it is less than 1
 *
 * Prints "?" for each character that could control a terminal, and a space for
 * a tab.
 */
void term_text(const char *text, int length)
{
	if (length > 0)
		put_text(stdout, text, length);
}

/** term_name() - print a name from a file, without control characters */
void term_name(const char *name)
{
	term_text(name, strlen(name));
}

/** term_warn() - warnx(3) for messages that contain names from a file */
void term_warn(const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		err(2, NULL);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	put_text(stderr, text, length);
	fputc('\n', stderr);
	free(text);
}

/**
 * term_say() - print a text that the user has asked for, and exit
 * @text: the text
 * @failed: exit status if it cannot be written
 */
void term_say(const char *text, int failed)
{
	if (fputs(text, stdout) >= 0 && !fflush(stdout))
		exit(0);
	term_warn("standard output: %s", strerror(errno));
	exit(failed);
}

/** term_code() - print an instruction, coloured by its percentage of ticks */
void term_code(const struct term *term, const char *text, double percent)
{
	if (term->colour && percent >= HOT)
		printf("\033[1;31m");
	else if (term->colour && percent >= WARM)
		printf("\033[33m");
	term_name(text);
	if (term->colour)
		printf("\033[0m");
}
