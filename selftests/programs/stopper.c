// SPDX-License-Identifier: GPL-2.0-only
/*
 * stopper.c - stops as a job does, in unusual ways
 *
 *	stopper itself	stops itself by SIGSTOP when it gets SIGTSTP
 *	stopper thread	its main thread has ended
 *
 * Both print "ready", and end with their standard input.
 */
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
	signal(SIGTSTP, stop_itself);
	wait_for_end();
	return 0;
}
