// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * demo.c - profile this program at real work, down to the last tick
 *
 *	demo [CPU-SECONDS [FILE]]
 *
 * Two threads and a forked child share the CPU time (default: 3 seconds) and
 * work on a file (default: a large program of this system). Prints where the
 * time went, by DSO and by function, and the outcome of every tick. Fails if a
 * tick is not accounted for.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "functions.h"
#include "report.h"
#include "text.h"
#include "work.h"

#define FUNCTIONS	15

/**
 * struct outcome - results of a process
 * @work: work of its threads
 * @status: last status of its profile
 * @cpu_seconds: CPU time of the process, from getrusage()
 */
struct outcome {
	struct work work[2];
	struct profil_status status;
	double cpu_seconds;
};

static struct text text;

static void die(const char *what)
{
	fprintf(stderr, "demo: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void die_of_sprofil(void)
{
	if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
		fprintf(stderr, "demo: there is no %s: try `modprobe profil`\n",
			PROFIL_DEVICE);
	if (errno == EACCES)
		fprintf(stderr, "demo: ticks every millisecond are not allowed here\n");
	die("sprofil");
}

/* The largest of some files; most systems have at least one of them. */
static const char *default_path(void)
{
	static const char *const paths[] = {
		"/usr/bin/gdb", "/usr/bin/python3", "/usr/bin/perl",
		"/bin/bash", "/bin/sh", NULL
	};
	const char *largest = "/proc/self/exe";
	off_t size = 0;
	struct stat st;
	int i;

	for (i = 0; paths[i]; i++) {
		if (access(paths[i], R_OK) || stat(paths[i], &st))
			continue;
		if (st.st_size > size) {
			size = st.st_size;
			largest = paths[i];
		}
	}
	return largest;
}

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_utime.tv_sec + usage.ru_utime.tv_usec / 1e6 +
		usage.ru_stime.tv_sec + usage.ru_stime.tv_usec / 1e6;
}

/* Stop the profile of the process, and save its last status. */
static void stop(struct outcome *outcome, double begin)
{
	outcome->status.size = sizeof(outcome->status);
	if (profil_stop(&outcome->status, NULL, 0))
		die("profil_stop");
	outcome->cpu_seconds = cpu_seconds() - begin;
}

static pid_t start_child(struct outcome *child)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	work_do(&child->work[0]);
	stop(child, 0);
	_exit(0);
}

static void work_in_threads(struct outcome *parent)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, work_do, &parent->work[1]);
	if (errno)
		die("pthread_create");
	work_do(&parent->work[0]);
	pthread_join(thread, NULL);
}

static void run(struct outcome *parent, struct outcome *child)
{
	double begin = cpu_seconds();
	struct timeval tick;
	int status;
	pid_t pid;

	if (text_profile(&text, &tick))
		die_of_sprofil();
	pid = start_child(child);
	work_in_threads(parent);
	if (waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "demo: the child failed\n");
		exit(1);
	}
	stop(parent, begin);
	printf("a tick every %ld us of CPU time\n",
	       tick.tv_sec * 1000000 + tick.tv_usec);
}

static void set_work(struct work *work, unsigned int first, const char *path,
		     double cpu_seconds)
{
	work->path = path;
	work->first = first;
	work->cpu_seconds = cpu_seconds;
}

static void report_work(const struct work *work)
{
	if (work->error) {
		errno = work->error;
		die(work->path);
	}
	printf("%.1f MiB compressed to %.1f MiB and back, hash %016llx\n",
	       work->in / 1048576.0, work->out / 1048576.0,
	       (unsigned long long)work->hash);
}

/* Returns whether every tick of both is in a counter that is readable here. */
static bool report(const struct outcome *parent, const struct outcome *child)
{
	uint64_t counted =
		parent->status.counts.counted + child->status.counts.counted;
	uint64_t found = text_ticks(&text);
	struct functions functions;
	bool holds;

	report_work(&parent->work[0]);
	report_work(&parent->work[1]);
	report_work(&child->work[0]);
	report_objects(&text);
	if (functions_find(&functions, &text))
		fprintf(stderr, "demo: cannot read the symbol tables\n");
	else
		report_functions(&functions, found, FUNCTIONS);
	holds = report_status("parent, two threads", &parent->status,
			      parent->cpu_seconds);
	holds &= report_status("child", &child->status, child->cpu_seconds);
	printf("\n%llu ticks in the counters, %llu counted by both: %s\n",
	       (unsigned long long)found, (unsigned long long)counted,
	       found == counted ? "yes" : "NO");
	return holds && found == counted && found;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 3;
	const char *path = argc > 2 ? argv[2] : default_path();
	struct outcome *outcomes;

	if (argc > 3 || !(seconds > 0)) {
		fprintf(stderr, "usage: demo [CPU-SECONDS [FILE]]\n");
		return 2;
	}
	/* Shared, for the child's results */
	outcomes = mmap(NULL, 2 * sizeof(*outcomes), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (outcomes == MAP_FAILED)
		die("mmap");
	if (text_find(&text))
		die("text");
	set_work(&outcomes[0].work[0], 0, path, seconds / 3);
	set_work(&outcomes[0].work[1], 7, path, seconds / 3);
	set_work(&outcomes[1].work[0], 13, path, seconds / 3);
	printf("%s for %g seconds of CPU time, in two threads and a child\n",
	       path, seconds);
	fflush(stdout);
	run(&outcomes[0], &outcomes[1]);
	if (!report(&outcomes[0], &outcomes[1]))
		return 1;
	return 0;
}
