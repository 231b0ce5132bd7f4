// SPDX-License-Identifier: GPL-2.0-only
/*
 * metrics.c - numbers for Prometheus, in its text format 0.0.4
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profil/code.h"
#include "push/http.h"
#include "push/metrics.h"
#include "push/spool.h"

struct metrics metrics;

/** metrics_add() - count the ticks of a profile */
void metrics_add(const struct prf *prf)
{
	size_t i, j;

	for (i = 0; i < prf->nr; i++)
		for (j = 0; j < PRF_OUTCOMES; j++)
			metrics.ticks[j] += prf_have(&prf->execs[i],
						     &prf_outcomes[j]);
}

static void put_head(FILE *text, const char *name, const char *type,
		     const char *help)
{
	fprintf(text, "# HELP profil_%s %s\n# TYPE profil_%s %s\n", name, help,
		name, type);
}

static void put(FILE *text, const char *name, const char *type,
		const char *help, double value)
{
	put_head(text, name, type, help);
	fprintf(text, "profil_%s %.16g\n", name, value);
}

static void put_ticks(FILE *text)
{
	size_t i;

	put_head(text, "ticks_total", "counter",
		 "Ticks that were read, by outcome.");
	for (i = 0; i < PRF_OUTCOMES; i++)
		if (prf_outcomes[i].place != PRF_UNSELECTED)
			fprintf(text, "profil_ticks_total{outcome=\"%s\"} %" PRIu64 "\n",
				prf_outcomes[i].member, metrics.ticks[i]);
	put(text, "ticks_lost_total", "counter",
	    "Ticks that were on their way when a watch ended.", metrics.lost);
	put(text, "period_seconds", "gauge",
	    "Mean CPU time between ticks.", metrics.period_ns / 1e9);
	put(text, "watches_total", "counter",
	    "Watches begun: one more whenever a table was nearly full.",
	    metrics.watches);
}

static void put_requests(FILE *text)
{
	int i;

	put_head(text, "push_requests_total", "counter",
		 "Requests to the store, by outcome.");
	for (i = 0; i < HTTP_OUTCOMES; i++)
		fprintf(text, "profil_push_requests_total{outcome=\"%s\"} %" PRIu64 "\n",
			http_outcomes[i], http_stats.requests[i]);
	put(text, "push_ticks_encoded_total", "counter",
	    "Ticks in profiles that were made to be sent.", metrics.encoded);
	put(text, "push_ticks_total", "counter",
	    "Ticks in profiles that the store has accepted.", http_stats.ticks);
	put(text, "push_bytes_total", "counter",
	    "Bytes of profiles that the store has accepted.",
	    http_stats.bytes);
}

static void put_spool(FILE *text)
{
	put(text, "spool_profiles", "gauge",
	    "Profiles that wait to be sent.", spool.nr);
	put(text, "spool_bytes", "gauge",
	    "Bytes of profiles that wait to be sent.", spool.bytes);
	put(text, "dropped_profiles_total", "counter",
	    "Profiles that were dropped: rejected, or no room for them.",
	    spool.dropped);
	put(text, "dropped_ticks_total", "counter",
	    "Ticks in profiles that were dropped.", spool.dropped_ticks);
}

static double seconds(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
		(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	uint64_t pages = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%*u %" SCNu64, &pages) != 1)
		pages = 0;
	fclose(file);
	return (double)pages * sysconf(_SC_PAGESIZE);
}

static void put_cost(FILE *text)
{
	put(text, "cpu_seconds_total", "counter",
	    "CPU time of profil, without the ticks themselves.",
	    seconds(RUSAGE_SELF));
	put(text, "names_cpu_seconds_total", "counter",
	    "CPU time of the processes that read names of functions.",
	    seconds(RUSAGE_CHILDREN));
	put(text, "names_failures_total", "counter",
	    "How often names could not be read in time.", code_failures());
	put(text, "names_bytes", "gauge", "Memory for names, about.",
	    code_bytes());
	put(text, "resident_memory_bytes", "gauge",
	    "Memory of profil, with the table that it maps.", resident_bytes());
}

/** metrics_text() - all numbers, to be freed; NULL if out of memory */
char *metrics_text(size_t *size)
{
	char *data = NULL;
	FILE *text = open_memstream(&data, size);

	if (!text)
		return NULL;
	put_ticks(text);
	put_requests(text);
	put_spool(text);
	put_cost(text);
	if (!fclose(text))
		return data;
	free(data);
	return NULL;
}
