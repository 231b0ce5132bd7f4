/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * questions.h - ask the questions of MS-DOS PROFIL
 */
#ifndef QUESTIONS_H
#define QUESTIONS_H

#include <stdint.h>

/**
 * struct answers - the user's answers
 * @paragraphs: paragraphs of 16 bytes in each bucket
 * @interval_us: microseconds between ticks
 * @words: arguments of the program
 * @nr: number of arguments
 */
struct answers {
	uint64_t paragraphs;
	uint64_t interval_us;
	char **words;
	size_t nr;
};

/* Limits of the answers. */
#define MOST_PARAGRAPHS	65535
#define LEAST_US	60
#define MOST_US		1000000

int questions_ask(struct answers *answers);

#endif /* QUESTIONS_H */
