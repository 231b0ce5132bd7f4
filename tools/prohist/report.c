// SPDX-License-Identifier: GPL-2.0-only
/*
 * report.c - choose the DSO to print
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "prohist/report.h"

/* The program with the most ticks; NULL if there are none */
static const struct prf_dso *find_program(const struct sum *sum)
{
	return sum->nr_dsos && sum->dsos[0].class == SUM_PROGRAM ?
		sum->dsos[0].mapping : NULL;
}

static const struct prf_dso *find_dso(const struct report *report)
{
	const struct prf_dso *dso;

	if (!report->dso) {
		dso = find_program(report->sum);
		if (!dso)
			warnx("no program has ticks; choose a DSO with --dso");
		return dso;
	}
	dso = prf_find_dso(report->runs, report->nr, report->dso);
	if (!dso)
		term_warn("%s: %s", report->dso, errno == ENOTUNIQ ?
			  "ambiguous; give more of the path" :
			  "no such DSO; --sort=dso lists those with ticks");
	return dso;
}

/* Has a file of the same path, but of another build, ticks? */
static bool has_other_build(const struct report *report,
			    const struct prf_dso *dso)
{
	const struct prf_dso *other;
	struct prf_at at = {};

	while ((other = prf_next(report->runs, report->nr, &at)))
		if (other->nr && other->build_id_len && dso->build_id_len &&
		    !strcmp(other->path, dso->path) &&
		    !prf_same_dso(other, dso))
			return true;
	return false;
}

/**
 * report_dso() - find the DSO for a format that prints only one
 *
 * Return: the DSO named by --dso, or the program with the most ticks; NULL after
 * reporting the error.
 */
const struct prf_dso *report_dso(const struct report *report)
{
	const struct prf_dso *dso = find_dso(report);

	if (!dso || !has_other_build(report, dso))
		return dso;
	term_warn("%s: several builds of it have ticks; give profiles of one of them",
		  dso->path);
	return NULL;
}

/* Returns why the symbols of a DSO cannot be used, or NULL. */
static const char *find_problem(const struct sum_dso *dso)
{
	if (!dso)
		return "there are no ticks in it";
	if (symbols_known(&dso->symbols))
		return NULL;
	return dso->symbols.problem ?: "it is no file";
}

/**
 * report_sum_dso() - like report_dso(), for a format that needs link-time
 * addresses
 *
 * Warns if the file may be another one.
 *
 * Return: the sum of the DSO; NULL after reporting the error.
 */
const struct sum_dso *report_sum_dso(const struct report *report)
{
	const struct prf_dso *wanted = report_dso(report);
	const struct sum_dso *dso;
	const char *problem;

	if (!wanted)
		return NULL;
	dso = sum_dso(report->sum, wanted);
	problem = find_problem(dso);
	if (problem || dso->symbols.problem)
		term_warn("%s: %s", wanted->path,
			  problem ?: dso->symbols.problem);
	return problem ? NULL : dso;
}

/**
 * report_exact_dso() - like report_sum_dso(), for a format that needs the file
 * and has instructions
 *
 * Warns if buckets are larger than the smallest instructions.
 */
const struct sum_dso *report_exact_dso(const struct report *report)
{
	const struct sum_dso *dso = report_sum_dso(report);

	if (dso && !symbols_have_file(&dso->symbols)) {
		term_warn("%s: %s", dso->path,
			  dso->symbols.no_file ?: "it is no file");
		return NULL;
	}
	if (dso && dso->buckets->bytes > 1)
		term_warn("%s: buckets of %" PRIu32 " bytes: for exact instructions, use profil --bucket=1",
			  dso->path, dso->buckets->bytes);
	return dso;
}
