// SPDX-License-Identifier: GPL-2.0-only
/*
 * vdso.c - write the vDSO of this kernel to a file
 */
#include <sys/sendfile.h>
#include <unistd.h>

#include <symbolize/vdso.h>

int main(void)
{
	off_t start = 0;

	return sendfile(STDOUT_FILENO, vdso_open(), &start, 1 << 20) > 0 ? 0 : 1;
}
