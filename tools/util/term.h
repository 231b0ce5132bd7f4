/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * term.h - output to a terminal: width, colour, escaping
 */
#ifndef TERM_H
#define TERM_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers of colours, as terminals have them */
enum term_colour {
	TERM_PLAIN = 0,
	TERM_GREEN = 32,
	TERM_YELLOW = 33,
	TERM_BLUE = 34,
	TERM_GREY = 90,
};

/**
 * struct term - capabilities of standard output
 * @width: width in columns
 * @colour: whether to use colours
 */
struct term {
	int width;
	bool colour;
};

void term_find(struct term *term);
void term_heading(const struct term *term, const char *text);
int term_bar(const struct term *term, int width, double part, double all,
	     enum term_colour colour);
void term_colour(const struct term *term, enum term_colour colour);
void term_text(const char *text, int length);
void term_name(const char *name);
void term_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void term_say(const char *text, int failed) __attribute__((noreturn));
void term_code(const struct term *term, const char *text, double percent);
int term_bar_width(const struct term *term, int columns);

#endif /* TERM_H */
