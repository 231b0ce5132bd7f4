// SPDX-License-Identifier: GPL-2.0-only
/*
 * vdso.c - writes the code that the kernel gives to every program, as a file
 */
#include <sys/sendfile.h>
#include <unistd.h>

#include <vdso.h>

int main(void)
{
	off_t start = 0;

	return sendfile(STDOUT_FILENO, vdso_open(), &start, 1 << 20) > 0 ? 0 : 1;
}
