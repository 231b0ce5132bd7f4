/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * questions.h - asks what MS-DOS PROFIL asked
 */
#ifndef QUESTIONS_H
#define QUESTIONS_H

#include <stdint.h>

/**
 * struct answers - what was answered
 * @paragraphs: 16 bytes each, of a bucket
 * @interval_us: between ticks
 * @words: parameters of the program
 * @nr: number of these
 */
struct answers {
	uint64_t paragraphs;
	uint64_t interval_us;
	char **words;
	size_t nr;
};

/* Bounds of the answers. */
#define MOST_PARAGRAPHS	65535
#define LEAST_US	60
#define MOST_US		1000000

int questions_ask(struct answers *answers);

#endif /* QUESTIONS_H */
