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
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profil/names.h"
#include "profil/object.h"
#include "util/file.h"

#define MOST_BYTES	(64LL << 20)

/*
 * Most bytes of a name, and of all that are given to the code of a process: one name
 * is copied for each of its functions.
 */
#define MOST_NAME	4096
#define MOST_GIVEN	(1u << 20)

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

static int open_map(pid_t pid, struct stat *status)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", own_pid(pid));
	return file_open_found(process_find(pid, path, O_NOFOLLOW), status);
}

static char *read_text(int fd, size_t size)
{
	char *text = malloc(size + 1);
	ssize_t length = text ? read(fd, text, size) : -1;

	if (length < 0) {
		free(text);
		return NULL;
	}
	text[length] = '\0';
	return text;
}

static char *read_trusted(pid_t pid, uid_t uid, size_t *room)
{
	struct stat status;
	int fd = open_map(pid, &status);
	char *text = NULL;

	if (fd < 0)
		return NULL;
	if ((status.st_uid == uid || !status.st_uid) &&
	    status.st_size <= MOST_BYTES && (size_t)status.st_size <= *room) {
		*room -= status.st_size;
		text = read_text(fd, status.st_size);
	}
	close(fd);
	return text;
}

static bool parse(char *line, struct range *range)
{
	uint64_t size;
	int name = 0;

	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &range->start, &size,
		   &name) < 2 || !name || !line[name] || !size ||
	    __builtin_add_overflow(range->start, size, &range->end) ||
	    range->end > INT64_MAX || strlen(line + name) > MOST_NAME)
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
 * Give the buckets from @begin to before @end to a line. The tree has a leaf for
 * each bucket, from @nodes[nr] on, and the parent of node i is i / 2: two nodes
 * of each level cover all these buckets, however many they are.
 */
static void take(size_t *nodes, size_t nr, size_t begin, size_t end,
		 size_t line)
{
	for (begin += nr, end += nr; begin < end; begin /= 2, end /= 2) {
		if (begin % 2)
			nodes[begin++] = line;
		if (end % 2)
			nodes[--end] = line;
	}
}

/* The last line that has been given a bucket, or 0 */
static size_t line_of(const size_t *nodes, size_t nr, size_t bucket)
{
	size_t line = 0, i;

	for (i = bucket + nr; i; i /= 2)
		if (nodes[i] > line)
			line = nodes[i];
	return line;
}

/*
 * Code may be made where other code has been: the last function listed is the
 * one that is there now. @nodes receives offsets of lines in @text, from 1.
 */
static void read_lines(char *text, const struct prf_dso *dso, size_t *nodes)
{
	char *next = text, *line;
	struct range range;

	while ((line = strsep(&next, "\n")))
		if (parse(line, &range))
			take(nodes, dso->nr, first_at(dso, range.start),
			     first_at(dso, range.end), line - text + 1);
}

static int give(struct prf_dso *dso, char *text, const size_t *nodes,
		size_t *room)
{
	const struct range **of = calloc(dso->nr, sizeof(*of));
	struct range *list = calloc(dso->nr, sizeof(*list));
	size_t most = MIN(MOST_GIVEN, *room), line, last = 0, given = 0, i;
	int failed = -1;

	for (i = 0; of && list && i < dso->nr; i++, last = line) {
		line = line_of(nodes, dso->nr, i);
		if (line && line == last) {
			of[i] = of[i - 1];
		} else if (line && parse(text + line - 1, &list[i])) {
			given += strlen(list[i].name) + 1;
			of[i] = given <= most ? &list[i] : NULL;
		}
	}
	*room -= MIN(given, most);
	if (of && list)
		failed = names_give(dso, of);
	free(list);
	free(of);
	return failed;
}

/**
 * perf_map_name() - name the code that a process has made
 * @dso: its executable memory without a file; pgoff is an address
 * @pid: the process, which may have ended
 * @uid: its owner
 * @room: bytes that its list and the names in that may have; becomes what is left
 *
 * Return: 0, or -1 if out of memory.
 */
int perf_map_name(struct prf_dso *dso, pid_t pid, uid_t uid, size_t *room)
{
	char *text = pid && dso->nr ? read_trusted(pid, uid, room) : NULL;
	size_t *nodes;
	int failed = -1;

	if (!text)
		return 0;
	nodes = calloc(dso->nr, 2 * sizeof(*nodes));
	if (nodes) {
		read_lines(text, dso, nodes);
		failed = give(dso, text, nodes, room);
	}
	free(nodes);
	free(text);
	return failed;
}
