// SPDX-License-Identifier: GPL-2.0-only
/*
 * report.c - choose the DSO to print
 */
#include <err.h>
#include <errno.h>

#include "prohist/report.h"

/**
 * report_dso() - find the DSO for a format that prints only one
 *
 * Return: the DSO named by --dso, or the program; NULL after reporting the
 * error.
 */
const struct prf_dso *report_dso(const struct report *report)
{
	const struct prf_dso *dso;

	if (!report->dso) {
		dso = prf_program(report->runs, report->nr);
		if (!dso)
			warnx("no profiled program: choose a DSO with --dso");
		return dso;
	}
	dso = prf_find_dso(report->runs, report->nr, report->dso);
	if (!dso)
		warnx("%s: %s", report->dso, errno == ENOTUNIQ ?
		      "ambiguous: give more of the path" :
		      "no such DSO; --format=text lists them");
	return dso;
}
