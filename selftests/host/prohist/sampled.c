// SPDX-License-Identifier: GPL-2.0-only
/*
 * sampled.c - a program with inlined functions, unrolled loops, and several
 * blocks in a line; no test runs it
 */
int rare(int n);

static inline __attribute__((always_inline)) int inner(int n)
{
	n *= n + 1;
	return n / 7;
}

static inline __attribute__((always_inline)) int middle(int n)
{
	if (n > 3)
		n ^= inner(n);
	return n - 2;
}

__attribute__((noinline)) int outer(int n)
{
	n = middle(n) + 3;
	return inner(n) * 5;
}

/* The mangled name of C++ for outer::inner(int) */
__attribute__((noinline)) int twice(int n) __asm__("_ZN5outer5innerEi");

__attribute__((noinline)) int twice(int n)
{
	return inner(n) * inner(n + 5);
}

__attribute__((noinline)) int loop(const int *list, int n)
{
	int i, sum = 0;

	for (i = 0; i < n; i++)
		sum += list[i] > 7 ? rare(list[i]) : list[i] * i;
	return sum;
}

__attribute__((noinline)) int total(const int *list)
{
	int i, sum = 0;

	for (i = 0; i < 1024; i++)
		sum += list[i] * 5;
	return sum;
}

int rare(int n)
{
	return n + 1;
}

int main(int argc, char **argv)
{
	return outer(argc) + twice(argc) + loop((const int *)argv, argc) +
		total((const int *)argv);
}
