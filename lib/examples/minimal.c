// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * minimal.c - a program that profiles itself
 *
 * Has one 16-bit counter for each 16 bytes of text: a scale of 65536 gives one
 * for 2 bytes, so 8192 gives one for 16. The linker defines __executable_start
 * and etext.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char __executable_start[], etext[];

int main(void)
{
	size_t start = (size_t)__executable_start;
	size_t nr = ((size_t)etext - start) / 16 + 1;
	unsigned short *counters = calloc(nr, sizeof(*counters));
	volatile unsigned long i;
	size_t bin;

	if (!counters || profil(counters, nr * sizeof(*counters), start, 8192)) {
		perror("profil (if there is no device: modprobe profil)");
		return 1;
	}
	for (i = 0; i < 100000000; i++)
		;
	profil(counters, 0, 0, 0);

	for (bin = 0; bin < nr; bin++)
		if (counters[bin])
			printf("%#zx %u\n", start + 16 * bin, counters[bin]);
	return 0;
}
