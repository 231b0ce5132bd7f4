// SPDX-License-Identifier: GPL-2.0-only
/*
 * dos.c - write a .PRF file for MS-DOS PROHIST
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/report.h"

/** write_dos() - write all runs as one run of the chosen DSO */
int write_dos(const struct report *report)
{
	const struct prf_dso *program = report_dso(report);
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
