// SPDX-License-Identifier: GPL-2.0-only
/*
 * pushed.c - profil with a table that fills by itself, for push.py
 *
 * It is the whole command, without the module: each millisecond brings a tick, in one
 * of two programs. The environment variable COUNTED names a file that has the number
 * of all ticks so far, as a 64-bit number, and SYNCS one that has a byte for each
 * fdatasync(2). SPOOL_BYTES makes the spool smaller than the options can, and
 * WINDOW_BYTES the windows. With POISON, /bin/sh has ticks, too, and no process
 * survives reading it; with POISON_WHILE, none survives reading this program while a
 * file of that name is there. With SLOW, reading names takes that many seconds. With
 * LIBRARY, the library of that path, which may be replaced, has ticks at 0x1010; with
 * MADE, code of this process; with NESTED, a function around another one. With SWAP,
 * the file of that path takes the place of this program. While there is a file SLEPT,
 * the machine has been asleep for an hour; with NAP, it sleeps while names are read.
 * With WALL_NS, the wall clock is that far ahead of the monotonic clock, and nobody
 * sets it. Its processes do not stand back: on a busy machine they would not read
 * names in time.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "profil/backend_watch.h"
#include "profil/callers.h"
#include "profil/session.h"
#include "push/config.h"
#include "symbolize/collect.h"
#include "table.h"

/* Ticks of a program, by the functions of this one */
__attribute__((noinline, used, aligned(64))) static void outer_function(void)
{
	asm volatile(".fill 256, 1, 0x90");
}

__attribute__((noinline, used, aligned(64))) static void inner_function(void)
{
	asm volatile(".fill 256, 1, 0x90");
}

/* A function, and another one within it */
void around_function(void);
asm(".pushsection .text\n"
    "	.balign	64\n"
    "	.globl	around_function, within_function\n"
    "	.type	around_function, %function\n"
    "	.type	within_function, %function\n"
    "around_function:\n"
    "	.fill	64\n"
    "within_function:\n"
    "	.fill	64\n"
    "	.size	within_function, 64\n"
    "	.fill	128\n"
    "	.size	around_function, 256\n"
    ".popsection");

static struct table table;
static uint32_t images[2], self, other;
static uint64_t counted, last_ns;
static uint32_t places;
static bool stopped;

int __wrap_watch_info(struct profil_info *info)
{
	*info = (struct profil_info) { .watch_flags = PROFIL_WATCH_CHAINS };
	return 0;
}

/* Path of this program, and offset of a function in it */
static uint64_t offset_of(void (*function)(void), char path[256])
{
	ssize_t length = readlink("/proc/self/exe", path, 255);
	Dl_info info;

	if (length < 0 || !dladdr(function, &info))
		abort();
	path[length] = '\0';
	return (char *)function - (char *)info.dli_fbase;
}

static void make_table(void)
{
	char path[256];

	offset_of(outer_function, path);
	table_init(&table);
	self = table_file(&table, path);
	if (getenv("SWAP"))
		rename(getenv("SWAP"), path);
	other = table_file(&table, "/bin/sh");
	images[0] = table_image(&table, "pushed");
	images[1] = table_image(&table, "sh");
	table.images[images[0]].exe = self;
	table.images[images[0]].pid = getpid();
	table.images[images[0]].uid = getuid();
	table.images[images[1]].exe = other;
}

const char *__wrap_watch_start(struct watch *watch,
			       const struct session *session, pid_t pid,
			       uint64_t *period_ns)
{
	*watch = (struct watch) {
		.fd = eventfd(0, 0),
		.request.buckets = BUCKETS,
		.request.images = IMAGES,
		.request.objects = OBJECTS,
		.request.names = NAMES,
		.table = &table.header,
	};
	*period_ns = 1000000;
	if (getenv("SPOOL_BYTES"))
		config.spool_bytes = atoi(getenv("SPOOL_BYTES"));
	if (getenv("WINDOW_BYTES"))
		config.window_bytes = atoi(getenv("WINDOW_BYTES"));
	make_table();
	places = 0;
	stopped = false;
	last_ns = now_ns();
	return NULL;
}

static void tick_at(uint32_t object, uint64_t offset)
{
	table_tick(&table, images[0], object, offset, 1);
	counted++;
}

/* The library that is at the path now, and those that have been there */
static void tick_library(const char *path)
{
	static uint32_t objects[4];
	static ino_t inodes[4];
	static size_t nr;
	struct stat now;
	size_t i;

	if (stat(path, &now))
		return;
	for (i = 0; i < nr && inodes[i] != now.st_ino; i++)
		;
	if (i == nr && nr < 4) {
		inodes[nr] = now.st_ino;
		objects[nr++] = table_file(&table, path);
	}
	for (i = 0; i < nr; i++)
		tick_at(objects[i], 0x1010);
}

static void tick_nested(void)
{
	char path[256];
	uint64_t at = offset_of(around_function, path);

	tick_at(self, at + 96);
	tick_at(self, at + 160);
}

/* MANY asks for a new place each time: the table is nearly full in the end. */
static void tick(uint64_t nr)
{
	uint64_t outer_at, inner_at;
	uint32_t outer, inner;
	char path[256];

	outer_at = offset_of(outer_function, path);
	inner_at = offset_of(inner_function, path);
	if (getenv("POISON")) {
		table_tick(&table, images[1], other, 0x5000, 1);
		counted++;
	}
	if (getenv("LIBRARY"))
		tick_library(getenv("LIBRARY"));
	if (getenv("MADE"))
		tick_at(PROFIL_OBJECT_ANONYMOUS, 0x1010);
	if (getenv("NESTED"))
		tick_nested();
	if (getenv("MANY"))
		inner_at += places++ * 4;
	outer = table_frame(&table, images[0], self, outer_at, 0);
	inner = table_frame(&table, images[0], self, inner_at, outer);
	table.buckets[inner - 1].count += nr - nr / 4;
	table.images[images[0]].counted += nr - nr / 4;
	table.images[images[1]].kernel += nr / 4;
	counted += nr;
}

int __real_setpriority(int which, id_t who, int value);
int __wrap_setpriority(int which, id_t who, int value)
{
	(void)value;
	return __real_setpriority(which, who, 0);
}

int fdatasync(int fd)
{
	int log = getenv("SYNCS") ? open(getenv("SYNCS"), O_WRONLY | O_CREAT |
					 O_APPEND | O_CLOEXEC, 0600) : -1;

	if (log >= 0) {
		if (write(log, "", 1) != 1)
			abort();
		close(log);
	}
	return syscall(SYS_fdatasync, fd);
}

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	const char *wall = clock == CLOCK_REALTIME ? getenv("WALL_NS") : NULL;
	int failed = __real_clock_gettime(wall ? CLOCK_MONOTONIC : clock, time);
	uint64_t ns;

	if (wall) {
		ns = time->tv_sec * SECOND_NS + time->tv_nsec +
			strtoull(wall, NULL, 10);
		time->tv_sec = ns / SECOND_NS;
		time->tv_nsec = ns % SECOND_NS;
	}
	if ((clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME) &&
	    getenv("SLEPT") && !access(getenv("SLEPT"), F_OK))
		time->tv_sec += 3600;
	return failed;
}

/* As if /bin/sh ended the process that reads it, or the disk were slow */
void *__real_collect_names(const struct prf *prf, const bool *chosen,
			   const char *const *files, bool functions_only, size_t most, size_t *size);
void *__wrap_collect_names(const struct prf *prf, const bool *chosen,
			   const char *const *files, bool functions_only, size_t most, size_t *size)
{
	if (getenv("POISON") && prf_find_dso(prf, 1, "/bin/sh"))
		_exit(1);
	if (getenv("POISON_WHILE") && !access(getenv("POISON_WHILE"), F_OK))
		_exit(1);
	/* It is full where a watch is renewed */
	if (getenv("GAP") && stopped && places > BUCKETS / 2)
		close(creat(getenv("GAP"), 0600));
	if (getenv("NAP"))
		close(creat(getenv("SLEPT"), 0600));
	if (getenv("SLOW"))
		sleep(atoi(getenv("SLOW")));
	return __real_collect_names(prf, chosen, files, functions_only, most,
				    size);
}

static void save(void)
{
	const char *path = getenv("COUNTED");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd < 0)
		return;
	if (pwrite(fd, &counted, sizeof(counted), 0) != sizeof(counted))
		abort();
	close(fd);
}

int __wrap_watch_status(const struct watch *watch, unsigned long request,
			struct profil_watch_status *status)
{
	uint64_t nr = (now_ns() - last_ns) / 1000000;

	if (!stopped)
		tick(nr);
	/* What runs last has no names yet */
	if (!stopped && request == PROFIL_IOC_WATCH_STOP && getenv("GAP"))
		tick_nested();
	stopped |= request == PROFIL_IOC_WATCH_STOP;
	last_ns += nr * 1000000;
	save();
	table_status(&table, status);
	return 0;
}

void __wrap_watch_end(struct watch *watch)
{
	callers_end(watch);
	close(watch->fd);
	watch->table = NULL;
}
