// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench.c - shared by the measuring programs
 */
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

/*
 * Print an error and exit, which ends the bench: missing results are not
 * guessed.
 */
void die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "bench: ");
	vfprintf(stderr, format, arguments);
	fprintf(stderr, "\n");
	va_end(arguments);
	exit(1);
}

/* Sum up the numbers after a word at the start of a line. */
static uint64_t sum_after(const char *file, const char *word)
{
	FILE *stream = fopen(file, "r");
	uint64_t sum = 0;
	char line[512];

	if (!stream)
		die("%s: %m", file);
	while (fgets(line, sizeof(line), stream)) {
		char *at = line + strspn(line, " .");
		char *end;

		if (strncmp(at, word, strlen(word)))
			continue;
		at += strlen(word);
		at += strspn(at, " \t:");
		for (;;) {
			uint64_t number = strtoull(at, &end, 10);

			if (end == at)
				break;
			sum += number;
			at = end;
		}
	}
	fclose(stream);
	return sum;
}

/* Time for which CPUs were busy with anything, summed over all of them. */
uint64_t busy_ns(void)
{
	return monotonic_ns() * sysconf(_SC_NPROCESSORS_ONLN) -
	       sum_after("/proc/timer_list", "idle_sleeptime");
}

/* Number of timer interrupts on all CPUs. */
uint64_t timer_interrupts(void)
{
	return sum_after("/proc/interrupts", "LOC");
}

void load_module(const char *file, const char *parameters)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, parameters, 0))
		die("%s: %m", file);
	close(fd);
}

void unload_module(const char *name)
{
	if (syscall(SYS_delete_module, name, O_NONBLOCK))
		die("cannot unload %s: %m", name);
}

void sample_add(struct sample *sample, double value)
{
	sample->nr++;
	sample->sum += value;
	sample->squares += value * value;
}

double sample_mean(const struct sample *sample)
{
	return sample->sum / sample->nr;
}

/* Standard error of the mean. */
double sample_error(const struct sample *sample)
{
	double mean = sample_mean(sample);
	double variance = sample->squares / sample->nr - mean * mean;

	if (sample->nr < 2)
		return 0;
	return sqrt(fmax(0, variance) / (sample->nr - 1));
}

/* Print a line of JSON; @x is the variable on which the value depends. */
void print_result(const char *name, const char *tool, double x, double value,
		  double sigma, const char *unit)
{
	printf("{\"name\": \"%s\", \"tool\": \"%s\", \"x\": %g, \"value\": %.9g, \"sigma\": %.3g, \"unit\": \"%s\"}\n",
	       name, tool, x, value, sigma, unit);
	fflush(stdout);
}
