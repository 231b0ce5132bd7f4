// SPDX-License-Identifier: GPL-2.0-only
/*
 * jit.c - spends its time in code that it has made
 *
 *	jit list	lists it in /tmp/perf-PID.map
 *	jit link	lists it in another file, to which that is a link
 *
 * Prints "code", two numbers, and the nanoseconds that it has spent there.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "spend.h"

#define PART_NS		300000000ULL
#define SIZE		4096

#if defined(__x86_64__)
/* mov $100000,%ecx; 1: dec %ecx; jnz 1b; ret */
static const unsigned char loop[] = {
	0xb9, 0xa0, 0x86, 0x01, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3,
};
#elif defined(__aarch64__)
/* mov w0, #34464; movk w0, #1, lsl #16; 1: subs w0, w0, #1; b.ne 1b; ret */
static const unsigned int loop[] = {
	0x5290d400, 0x72a00020, 0x71000400, 0x54ffffe1, 0xd65f03c0,
};
#elif defined(__riscv)
/* lui a0, 24; addi a0, a0, 1696; 1: addi a0, a0, -1; bnez a0, 1b; ret */
static const unsigned int loop[] = {
	0x00018537, 0x6a050513, 0xfff50513, 0xfe051ee3, 0x00008067,
};
#endif

static int list(const char *path, const char *code)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return -1;
	fprintf(file, "%lx %zx made before\n", (unsigned long)code,
		sizeof(loop));
	fprintf(file, "%lx %zx made at run time\n", (unsigned long)code,
		sizeof(loop));
	fprintf(file, "%lx 10 without ticks\n", (unsigned long)code + 64);
	return fclose(file);
}

int main(int argc, char **argv)
{
	char path[64], other[64];
	char *code = mmap(NULL, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int failed;

	if (argc != 2 || code == MAP_FAILED)
		return 99;
	memcpy(code, loop, sizeof(loop));
	__builtin___clear_cache(code, code + sizeof(loop));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	snprintf(other, sizeof(other), "/tmp/profil_jit-%d", getpid());
	/* A process that had the number may have left one, which may be a link */
	unlink(path);
	if (!strcmp(argv[1], "list"))
		failed = list(path, code);
	else
		failed = list(other, code) || symlink(other, path);
	print("code", code, code + sizeof(loop),
	      spend((void (*)(void))code, PART_NS));
	if (strcmp(argv[1], "list"))
		unlink(other);
	return failed ? 98 : 0;
}
