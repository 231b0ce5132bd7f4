// SPDX-License-Identifier: GPL-2.0-only
/*
 * seed.c - write a valid file without its header and END record
 *
 *	seed [waits]
 *
 * The fuzzer's first input; with an argument, a profile that has waits.
 */
#include "sample.h"

int main(int argc, char **argv)
{
	struct prf prf;
	size_t size;
	char *data;

	sample_make(&prf);
	if (argc > 1)
		sample_waits(&prf);
	data = sample_file(&prf, &size);
	fwrite(data + 16, 1, size - 32, stdout);
	free(data);
	prf_free(&prf);
	return fflush(stdout) ? 1 : 0;
}
