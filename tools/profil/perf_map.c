// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf_map.c - names of code that a JIT compiler has made
 *
 * Runtimes such as those of Java and JavaScript list their code in
 * /tmp/perf-PID.map for profilers: "START SIZE NAME", in hexadecimal. Anybody
 * may create a file of that name, so it counts only if it is the process'
 * owner's, or root's.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profil/names.h"
#include "profil/object.h"

#define MOST_BYTES	(64LL << 20)

/* PID of a process in its own PID namespace; @pid itself if it has ended. */
static pid_t own_pid(pid_t pid)
{
	char path[64], *line = NULL, *last;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0)
		if (!strncmp(line, "NSpid:", 6)) {
			last = strrchr(line, '\t');
			pid = last ? atoi(last) : pid;
			break;
		}
	free(line);
	if (file)
		fclose(file);
	return pid;
}

static int open_map(pid_t pid)
{
	char path[64], *where;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", own_pid(pid));
	where = process_path(pid, path);
	if (!where)
		return -1;
	fd = open(where, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	free(where);
	return fd;
}

static FILE *open_trusted(pid_t pid, uid_t uid)
{
	int fd = open_map(pid);
	struct stat status;
	FILE *file = NULL;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) &&
	    (status.st_uid == uid || !status.st_uid) &&
	    status.st_size <= MOST_BYTES)
		file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

static bool parse(char *line, struct range *range)
{
	uint64_t size;
	int name = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &range->start, &size,
		   &name) < 2 || !name || !line[name] || !size ||
	    __builtin_add_overflow(range->start, size, &range->end))
		return false;
	range->name = line + name;
	range->module = NULL;
	return true;
}

/* Index of the first bucket at or after an address */
static size_t first_at(const struct prf_dso *dso, uint64_t address)
{
	size_t low = 0, high = dso->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dso->pgoff + dso->buckets[middle].offset < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Code may be made where other code has been: the last function listed is the
 * one that is there now. @of has indexes from 1.
 */
static int read_map(FILE *file, const struct prf_dso *dso,
		    struct ranges *ranges, size_t *of)
{
	long long left = MOST_BYTES;
	struct range range;
	char *line = NULL;
	size_t room = 0, i;
	int failed = 0;
	ssize_t length;

	while (!failed && (length = getline(&line, &room, file)) > 0 &&
	       (left -= length) >= 0) {
		if (!parse(line, &range))
			continue;
		i = first_at(dso, range.start);
		if (i == dso->nr ||
		    dso->pgoff + dso->buckets[i].offset >= range.end)
			continue;
		failed = ranges_add(ranges, &range);
		for (; i < dso->nr &&
		       dso->pgoff + dso->buckets[i].offset < range.end; i++)
			of[i] = ranges->nr;
	}
	free(line);
	return failed;
}

static int give(struct prf_dso *dso, const struct ranges *ranges,
		const size_t *indexes)
{
	const struct range **of = calloc(dso->nr, sizeof(*of));
	int failed;
	size_t i;

	if (!of)
		return -1;
	for (i = 0; i < dso->nr; i++)
		of[i] = indexes[i] ? &ranges->list[indexes[i] - 1] : NULL;
	failed = names_give(dso, of);
	free(of);
	return failed;
}

/**
 * perf_map_name() - name the code that a process has made
 * @dso: its executable memory without a file; pgoff is an address
 * @pid: the process, which may have ended
 * @uid: its owner
 *
 * Return: 0, or -1 if out of memory.
 */
int perf_map_name(struct prf_dso *dso, pid_t pid, uid_t uid)
{
	FILE *file = pid && dso->nr ? open_trusted(pid, uid) : NULL;
	struct ranges ranges = {};
	int failed = -1;
	size_t *of;

	if (!file)
		return 0;
	of = calloc(dso->nr, sizeof(*of));
	if (of && !read_map(file, dso, &ranges, of))
		failed = give(dso, &ranges, of);
	free(of);
	ranges_free(&ranges);
	fclose(file);
	return failed;
}
