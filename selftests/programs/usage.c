// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage.c - the CPU time of a program, from getrusage()
 *
 *	usage FILE PROGRAM [ARGUMENT...]
 *
 * Runs the program, writes into FILE the seconds that it, all children that it
 * waited for and this program took, and exits with its exit status. The time
 * before this program's main() does not count.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
		(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	double before = seconds(RUSAGE_SELF);
	int status;
	pid_t child;
	FILE *file;

	if (argc < 3)
		return 99;
	child = fork();
	if (!child) {
		execvp(argv[2], argv + 2);
		_exit(99);
	}
	if (waitpid(child, &status, 0) != child)
		return 99;
	file = fopen(argv[1], "w");
	if (!file)
		return 99;
	fprintf(file, "%.6f\n",
		seconds(RUSAGE_SELF) - before + seconds(RUSAGE_CHILDREN));
	return fclose(file) || !WIFEXITED(status) ? 99 : WEXITSTATUS(status);
}
