// SPDX-License-Identifier: GPL-2.0-only
/*
 * spawn.c - cost of running a command, from exec to exit
 *
 *	spawn NAME TOOL X COMMAND...
 *
 * Measures the CPU time of the command and its children, with the interrupts
 * during that time; and the elapsed time, which includes waiting.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"

int main(int argc, char **argv)
{
	struct rusage usage;
	uint64_t time;
	pid_t child;
	char name[64];

	if (argc < 5)
		die("usage: spawn NAME TOOL X COMMAND...");
	time = monotonic_ns();
	child = vfork();
	if (!child) {
		execvp(argv[4], argv + 4);
		_exit(127);
	}
	if (child < 0 || wait_child(child))
		die("%s failed", argv[4]);
	time = monotonic_ns() - time;
	getrusage(RUSAGE_CHILDREN, &usage);
	print_result(argv[1], argv[2], atof(argv[3]),
		     usage_ns(&usage) / NS_PER_INSN, 0, "instructions");
	snprintf(name, sizeof(name), "%s-elapsed", argv[1]);
	print_result(name, argv[2], atof(argv[3]), time / 1e6, 0, "ms");
	return 0;
}
