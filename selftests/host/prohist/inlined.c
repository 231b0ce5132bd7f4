// SPDX-License-Identifier: GPL-2.0-only
/*
 * inlined.c - a program with inlined functions; no test runs it
 */
int outer(int n);

static inline __attribute__((always_inline)) int inner(int n)
{
	n *= n + 1;
	return n / 7;
}

static inline __attribute__((always_inline)) int middle(int n)
{
	if (n > 3) {
		int m = inner(n);

		return m ^ n;
	}
	return n - 2;
}

__attribute__((noinline)) int outer(int n)
{
	n = middle(n) + 3;
	return inner(n) * 5;
}

int main(int argc, char **argv)
{
	return outer(argc);
}
