// SPDX-License-Identifier: GPL-2.0-only
/*
 * report.c - the object that was chosen
 */
#include <err.h>
#include <errno.h>

#include "print.h"

/**
 * report_object() - the object for a form that is of one
 *
 * Return: the one that was named, or the program; NULL when it has been said
 * why there is none.
 */
const struct prf_object *report_object(const struct report *report)
{
	const struct prf_object *object;

	if (!report->object) {
		object = prf_program(report->runs, report->nr);
		if (!object)
			warnx("no program was reached: choose an object with --object");
		return object;
	}
	object = prf_find_object(report->runs, report->nr, report->object);
	if (!object)
		warnx("%s: %s", report->object, errno == ENOTUNIQ ?
		      "there are several: say more of the path" :
		      "there is no such object; the text form lists them");
	return object;
}
