// SPDX-License-Identifier: GPL-2.0-only
/*
 * opener.c - opens and closes libraries while it runs
 *
 *	opener DEED...
 *
 * open PATH	open a library, spend CPU time in it, and print its name, first
 *		and last address, and nanoseconds
 * close	close the library that was opened last
 * copies N PATH	the same as open, in N copies of the library; prints
 *		the sum as "copies"
 * busy PATH	the same as open, after opening and closing it many times while
 *		a thread runs, which then spends its time in "thread" and
 *		prints that
 * fork PATH OTHER	open OTHER, and PATH at the same time in a child
 * loop PATH	print "process" and its number, while a thread opens and closes
 *		the library until the standard input ends
 * hide		from now on, only root can read its memory
 * leave PATH OTHER	leave a child behind that opens both when its parent has
 *		ended, and prints "survived"
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dso.h"
#include "spend.h"

#define PART_NS		200000000ULL
#define BUSY_NS		20000000ULL
#define COPY_NS		5000000ULL
#define TIMES		50

static void *opened;

static void __attribute__((noreturn)) fail(const char *what)
{
	fprintf(stderr, "opener: %s\n", what);
	exit(99);
}

static const struct library *open_library(const char *path)
{
	const struct library *library;

	opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	library = opened ? dlsym(opened, "library") : NULL;
	if (!library)
		fail(dlerror());
	return library;
}

static void spend_in(const char *path)
{
	const struct library *library = open_library(path);
	uint64_t ns = spend(library->function, PART_NS);

	print(library->name, library->start, library->end, ns);
}

static void copy_file(const char *from, const char *to)
{
	char command[8192];

	snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
	if (system(command))
		fail(command);
}

static void open_copies(int nr, const char *path)
{
	char copy[] = "/tmp/profil_copy.XXXXXX", name[64];
	uint64_t ns = 0;
	int i;

	if (!mkdtemp(copy))
		fail("mkdtemp");
	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "%s/%d.so", copy, i);
		copy_file(path, name);
		ns += spend(open_library(name)->function, COPY_NS);
		unlink(name);
	}
	rmdir(copy);
	print("copies", copy, copy + 1, ns);
}

/* The other thread: 0 opens and closes, 1 spends its time, 2 has ended. */
static int stage;

static int get_stage(void)
{
	return __atomic_load_n(&stage, __ATOMIC_RELAXED);
}

static void set_stage(int number)
{
	__atomic_store_n(&stage, number, __ATOMIC_RELAXED);
}

static void hinder(void)
{
	LOOP(100000);
}

OWN_TEXT(thread) static void burn(void)
{
	LOOP(100000);
}

static void *burn_thread(void *unused)
{
	uint64_t ns = 0;

	while (get_stage() == 0)
		hinder();
	while (get_stage() == 1)
		ns += spend(burn, BUSY_NS);
	print("thread", __start_text_thread, __stop_text_thread, ns);
	return unused;
}

static void open_busily(const char *path)
{
	const struct library *library;
	pthread_t thread;
	uint64_t ns;
	int i;

	if (pthread_create(&thread, NULL, burn_thread, NULL))
		fail("pthread_create");
	for (i = 0; i < TIMES; i++) {
		open_library(path);
		dlclose(opened);
	}
	library = open_library(path);
	set_stage(1);
	ns = spend(library->function, PART_NS);
	set_stage(2);
	pthread_join(thread, NULL);
	print(library->name, library->start, library->end, ns);
}

static __attribute__((noreturn)) void *open_for_ever(void *path)
{
	for (;;) {
		open_library(path);
		dlclose(opened);
	}
}

static void open_until_told(char *path)
{
	pthread_t thread;
	char byte;

	if (pthread_create(&thread, NULL, open_for_ever, path))
		fail("pthread_create");
	printf("process %d\n", getpid());
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	exit(0);
}

static void open_in_child(const char *path, const char *other)
{
	pid_t child = fork();

	spend_in(child ? other : path);
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
}

/* When the parent has ended, the child opens both. */
static void leave(const char *path, const char *other)
{
	pid_t parent = getpid();

	if (fork())
		return;
	while (getppid() == parent)
		usleep(1000);
	open_library(path)->function();
	dlclose(opened);
	open_library(other)->function();
	puts("survived");
	exit(0);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "close") && opened) {
			dlclose(opened);
		} else if (!strcmp(argv[i], "hide")) {
			prctl(PR_SET_DUMPABLE, 0);
		} else if (!strcmp(argv[i], "open") && i + 1 < argc) {
			spend_in(argv[++i]);
		} else if (!strcmp(argv[i], "busy") && i + 1 < argc) {
			open_busily(argv[++i]);
		} else if (!strcmp(argv[i], "loop") && i + 1 < argc) {
			open_until_told(argv[++i]);
		} else if (!strcmp(argv[i], "copies") && i + 2 < argc) {
			open_copies(atoi(argv[i + 1]), argv[i + 2]);
			i += 2;
		} else if (!strcmp(argv[i], "fork") && i + 2 < argc) {
			open_in_child(argv[i + 1], argv[i + 2]);
			i += 2;
		} else if (!strcmp(argv[i], "leave") && i + 2 < argc) {
			leave(argv[i + 1], argv[i + 2]);
			i += 2;
		} else {
			fail(argv[i]);
		}
	}
	return 0;
}
