// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf_period.c - draw a period that no rhythm of a program meets
 *
 * All ticks of an inherited event have one period. If a few periods add up to a
 * multiple of the rhythm in which a program does its work, ticks fall into the
 * same parts of it for long. Rhythms are mostly round numbers, so the period is
 * a prime number of microseconds, and the best of some: the first periods that
 * follow one another are far from multiples of round numbers.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#include "profil/perf_period.h"

/* How many numbers to draw, and how many periods must not meet a rhythm. */
#define DRAWS		8
#define PERIODS		8

#define PERCENT_OFF	10

static bool is_prime(uint64_t number)
{
	uint64_t divisor;

	for (divisor = 2; divisor * divisor <= number; divisor++)
		if (number % divisor == 0)
			return false;
	return number > 1;
}

static uint64_t draw_prime(uint64_t about)
{
	uint64_t off = about * PERCENT_OFF / 100, number;

	do {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			number = rand();
		number = about - off + number % (2 * off + 1);
	} while (!is_prime(number));
	return number;
}

/*
 * The least part of a rhythm by which its phase moves on per period, over the
 * first periods
 */
static double slip(uint64_t period, uint64_t rhythm)
{
	double least = 1;
	unsigned int i;

	for (i = 1; i <= PERIODS; i++) {
		uint64_t phase = i * period % rhythm;
		uint64_t off = phase < rhythm - phase ? phase : rhythm - phase;

		if ((double)off / rhythm / i < least)
			least = (double)off / rhythm / i;
	}
	return least;
}

static double least_slip(uint64_t period)
{
	static const unsigned int round[] = { 1, 2, 3, 4, 5, 6, 8 };
	double least = 1, next;
	uint64_t unit;
	size_t i;

	for (unit = 100; unit <= 10000; unit *= 10) {
		for (i = 0; i < sizeof(round) / sizeof(round[0]); i++) {
			next = slip(period, round[i] * unit);
			if (next < least)
				least = next;
		}
	}
	return least;
}

/**
 * perf_period_us() - draw a period
 * @about_us: wanted period, in microseconds, at least 60
 *
 * Return: a prime number of microseconds, within 10 percent of it.
 */
uint64_t perf_period_us(uint64_t about_us)
{
	uint64_t best = draw_prime(about_us), other;
	int i;

	for (i = 1; i < DRAWS; i++) {
		other = draw_prime(about_us);
		if (least_slip(other) > least_slip(best))
			best = other;
	}
	return best;
}
