// SPDX-License-Identifier: GPL-2.0-only
/*
 * stopper.c - stops as a job does, in unusual ways
 *
 *	stopper itself	stops itself by SIGSTOP when it gets SIGTSTP
 *	stopper thread	its main thread has ended
 *	stopper count	sends itself SIGCONT, though it has not stopped; prints
 *			how many perf events its parent has, before and after
 *
 * The others print "ready", and end with their standard input.
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void stop_itself(int signal)
{
	(void)signal;
	raise(SIGSTOP);
}

static void wait_for_end(void)
{
	char byte;

	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1))
		;
}

/* Continue when the main thread has ended and is a zombie. */
static void *run_alone(void *main_thread)
{
	pthread_join(*(pthread_t *)main_thread, NULL);
	wait_for_end();
	_exit(0);
}

/* Count the process's events of perf_event_open(). */
static int counters_of(pid_t pid)
{
	char path[64], link[64];
	struct dirent *entry;
	DIR *directory;
	int nr = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	directory = opendir(path);
	if (!directory)
		return -1;
	while ((entry = readdir(directory))) {
		ssize_t length = readlinkat(dirfd(directory), entry->d_name,
					    link, sizeof(link) - 1);

		link[length < 0 ? 0 : length] = '\0';
		nr += strstr(link, "perf_event") != NULL;
	}
	closedir(directory);
	return nr;
}

int main(int argc, char **argv)
{
	static pthread_t main_thread;
	pthread_t thread;

	if (argc > 1 && !strcmp(argv[1], "thread")) {
		main_thread = pthread_self();
		if (pthread_create(&thread, NULL, run_alone, &main_thread))
			return 99;
		pthread_exit(NULL);
	}
	if (argc > 1 && !strcmp(argv[1], "count")) {
		printf("before %d\n", counters_of(getppid()));
		kill(getpid(), SIGCONT);
		printf("after %d\n", counters_of(getppid()));
		return 0;
	}
	signal(SIGTSTP, stop_itself);
	wait_for_end();
	return 0;
}
