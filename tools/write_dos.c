// SPDX-License-Identifier: GPL-2.0-only
/*
 * write_dos.c - a .PRF file for PROHIST of MS-DOS
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

/** write_dos() - all runs as a run of the program that was chosen */
int write_dos(const struct report *report)
{
	const struct prf_object *program = report_object(report);
	struct dos_prf dos;
	int result;

	if (!program)
		return -1;
	if (dos_prf_make(report->runs, report->nr, program, 0, &dos)) {
		term_warn("%s: %s", program->path, strerror(errno));
		return -1;
	}
	result = dos_prf_write(stdout, &dos);
	free(dos.buckets);
	return result;
}
