// SPDX-License-Identifier: GPL-2.0-only
/*
 * maps.c - executable mappings of a process
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profil/maps.h"
#include "profil/proc.h"
#include "util/array.h"

/* End of user addresses; mappings above it are the kernel's (vsyscall). */
#define USER_END	(1ULL << 47)

/* Device of anonymous shared memory, such as a memfd, whatever its name. */
#define NO_DEVICE	"00:01"

/* /proc/PID/maps escapes newlines in this way, and nothing else. */
#define NEWLINE	"\\012"

static void put_newlines(char *path)
{
	while ((path = strstr(path, NEWLINE))) {
		*path++ = '\n';
		memmove(path, path + strlen(NEWLINE) - 1,
			strlen(path + strlen(NEWLINE) - 1) + 1);
	}
}

/* Parse a line of /proc/PID/maps; the path stays in @line. */
static bool parse(char *line, struct mapping *mapping, bool *text)
{
	char flags[5];
	int path = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %15s %"
		   SCNu64 " %n", &mapping->start, &mapping->end, flags,
		   &mapping->pgoff, mapping->device, &mapping->inode,
		   &path) < 6)
		return false;
	mapping->path = line + path;
	put_newlines(mapping->path);
	*text = flags[2] == 'x' && mapping->end <= USER_END;
	return true;
}

/* Exclude anonymous code, such as a JIT compiler's: it has no symbols. */
static bool has_file(const struct mapping *mapping, const char *program)
{
	if (!strcmp(mapping->path, "[vdso]") ||
	    !strcmp(mapping->path, program))
		return true;
	return mapping->path[0] == '/' && strcmp(mapping->device, NO_DEVICE);
}

static int add(struct maps *maps, const struct mapping *mapping)
{
	struct mapping *list = array_grow(maps->list, maps->nr, sizeof(*list));

	if (!list)
		return -1;
	maps->list = list;
	list[maps->nr] = *mapping;
	list[maps->nr].path = strdup(mapping->path);
	return list[maps->nr++].path ? 0 : -1;
}

/**
 * maps_read() - read the executable mappings of a process
 * @tid: a thread of the process
 * @program: path of its program
 * @loader: load address of rtld, or 0
 * @maps: receives the mappings; free with maps_free()
 *
 * Return: 0, or -1 with errno.
 */
int maps_read(pid_t tid, const char *program, uint64_t loader,
	      struct maps *maps)
{
	FILE *file = process_open(tid, "maps");
	struct mapping mapping;
	char *line = NULL;
	size_t room = 0;
	int failed = 0;
	bool text;

	memset(maps, 0, sizeof(*maps));
	if (!file)
		return -1;
	while (!failed && getline(&line, &room, file) > 0) {
		if (!parse(line, &mapping, &text))
			continue;
		if (loader && mapping.start == loader)
			maps->loader = strdup(mapping.path);
		if (text && has_file(&mapping, program))
			failed = add(maps, &mapping);
	}
	free(line);
	fclose(file);
	if (failed)
		maps_free(maps);
	return failed;
}

void maps_free(struct maps *maps)
{
	size_t i;

	for (i = 0; i < maps->nr; i++)
		free(maps->list[i].path);
	free(maps->list);
	free(maps->loader);
	memset(maps, 0, sizeof(*maps));
}
