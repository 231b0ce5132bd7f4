/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vectors.h - numbers of 16-bit counters, as the documents define them
 *
 * For the tests, in the kernel and in user space. Written by hand, not
 * computed. For each distance from offset to program counter, counters has the
 * result of 4.4BSD's arithmetic, and svr4 that of System V's.
 */
#ifndef PROFIL_VECTORS_H
#define PROFIL_VECTORS_H

#define NR_DISTANCES	10

static const unsigned int distances[NR_DISTANCES] = {
	1, 2, 3, 4, 7, 8, 0xf, 0xffff, 0x10000, 0x20000
};

struct vector {
	unsigned int scale;
	unsigned int counters[NR_DISTANCES];
	unsigned int svr4[NR_DISTANCES];
};

static const struct vector vectors[] = {
	{ 0x2,
		{ 0, 0, 0, 0, 0, 0, 0, 0, 1, 2 },
		{ 0, 0, 0, 0, 0, 0, 0, 0, 1, 2 } },
	{ 0x4000,
		{ 0, 0, 0, 0, 0, 1, 1, 8191, 8192, 16384 },
		{ 0, 0, 0, 0, 0, 1, 1, 8191, 8192, 16384 } },
	{ 0x5555,
		{ 0, 0, 0, 0, 0, 1, 2, 10922, 10922, 21845 },
		{ 0, 0, 0, 0, 1, 1, 2, 10922, 10922, 21845 } },
	{ 0x8000,
		{ 0, 0, 0, 1, 1, 2, 3, 16383, 16384, 32768 },
		{ 0, 0, 0, 1, 1, 2, 3, 16383, 16384, 32768 } },
	{ 0xc000,
		{ 0, 0, 0, 1, 2, 3, 5, 24575, 24576, 49152 },
		{ 0, 0, 1, 1, 2, 3, 5, 24575, 24576, 49152 } },
	{ 0xffff,
		{ 0, 0, 0, 1, 2, 3, 6, 32766, 32767, 65535 },
		{ 0, 0, 1, 1, 3, 3, 7, 32767, 32767, 65535 } },
	{ 0x10000,
		{ 0, 1, 1, 2, 3, 4, 7, 32767, 32768, 65536 },
		{ 0, 1, 1, 2, 3, 4, 7, 32767, 32768, 65536 } },
	{ 0x20000,
		{ 0, 2, 2, 4, 6, 8, 14, 65534, 65536, 131072 },
		{ 1, 2, 3, 4, 7, 8, 15, 65535, 65536, 131072 } },
};

#endif /* PROFIL_VECTORS_H */
