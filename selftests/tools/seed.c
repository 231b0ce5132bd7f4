// SPDX-License-Identifier: GPL-2.0-only
/*
 * seed.c - writes what is between header and END of a whole file
 *
 * The fuzzer begins with it.
 */
#include "sample.h"

int main(void)
{
	struct prf prf;
	size_t size;
	char *data;

	sample_make(&prf);
	data = sample_file(&prf, &size);
	fwrite(data + 16, 1, size - 32, stdout);
	free(data);
	prf_free(&prf);
	return fflush(stdout) ? 1 : 0;
}
