/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench.h - shared by the measuring programs
 *
 * In a guest whose clock counts instructions (selftests/vm/run -i), an
 * instruction takes two nanoseconds.
 */
#ifndef BENCH_H
#define BENCH_H

#include "../selftests/lib/common.h"

#define NS_PER_INSN	2

/* In memory: the speed of the host's files varies */
#define TRUE_COPY	"/dev/shm/true"

/* Spend a microsecond in user mode, if the clock counts instructions. */
static inline __attribute__((always_inline)) void spend_us(void)
{
	asm volatile(".rept 500\n\tnop\n\t.endr");
}

void die(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

uint64_t busy_ns(void);
uint64_t timer_interrupts(void);

void load_module(const char *file, const char *parameters);
void unload_module(const char *name);

/* Repeated measurements of a value. */
struct sample {
	int nr;
	double sum;
	double squares;
};

void sample_add(struct sample *sample, double value);
double sample_mean(const struct sample *sample);
double sample_error(const struct sample *sample);

void print_result(const char *name, const char *tool, double x, double value,
		  double sigma, const char *unit);

#endif /* BENCH_H */
