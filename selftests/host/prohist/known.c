// SPDX-License-Identifier: GPL-2.0-only
/*
 * known.c - a program whose functions are known; no test runs it
 */
int alpha(int n);
int beta(int n);
int delta(int n);
int gamma_(int n) __asm__("_ZN5outer5innerEi");

__attribute__((noinline)) int alpha(int n)
{
	return n * n + 1;
}

__attribute__((noinline)) int beta(int n)
{
	return n / 3 - 7;
}

/* The mangled name of C++ for outer::inner(int). */
__attribute__((noinline)) int gamma_(int n)
{
	return n ^ 0x55;
}

/* Several lines, all in one bucket of 64 bytes. */
__attribute__((noinline, aligned(64))) int delta(int n)
{
	n *= 5;
	n ^= n >> 3;
	return n + 9;
}

int main(int argc, char **argv)
{
	return alpha(argc) + beta(argc) + gamma_(argv[0][0]) + delta(argc);
}
