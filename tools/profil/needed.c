// SPDX-License-Identifier: GPL-2.0-only
/*
 * needed.c - files that a program maps when it starts
 *
 * They are looked for where the dynamic linker does. What is not found here, or
 * wrongly, is found when it is mapped.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profil/ld_cache.h"
#include "profil/needed.h"
#include "symbolize/build_id.h"
#include "util/array.h"
#include "util/file.h"

/* Programs that run others, as scripts do; the kernel has the same limit. */
#define MOST_SCRIPTS	4

#define MOST_LIBRARIES	512

/* Where the dynamic linker looks last */
#define DEFAULT_PATH \
	"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib"

/**
 * struct needed - what is looked for
 * @take: called with each file
 * @context: passed to it
 * @cache: contents of LD_CACHE, or NULL
 * @cache_size: their size
 * @nr: number of libraries
 * @names: their names, to be freed
 */
struct needed {
	needed_take take;
	void *context;
	void *cache;
	size_t cache_size;
	size_t nr;
	char **names;
};

/* --- paths */

/* Open a file in the first directory of a list that has one of that name. */
static int open_in(const char *list, const char *origin, const char *name)
{
	size_t length;
	char path[PATH_MAX];
	struct stat status;
	int fd = -1;

	for (; list && *list && fd < 0; list += length + !!list[length]) {
		const char *rest = list;

		length = strcspn(list, ":");
		path[0] = '\0';
		if (!strncmp(list, "$ORIGIN", 7) ||
		    !strncmp(list, "${ORIGIN}", 9)) {
			rest += list[1] == '{' ? 9 : 7;
			snprintf(path, sizeof(path), "%s", origin);
		}
		if (snprintf(path + strlen(path), sizeof(path) - strlen(path),
			     "%.*s/%s", (int)(list + length - rest), rest,
			     name) < PATH_MAX)
			fd = file_open_plain(path, &status);
	}
	return fd;
}

/* As execvp(3) does it */
static int open_program(const char *program)
{
	const char *path = getenv("PATH");
	struct stat status;

	if (strchr(program, '/'))
		return file_open_plain(program, &status);
	return open_in(path ?: "/bin:/usr/bin", "", program);
}

/* The directory of a file, for $ORIGIN */
static void find_origin(int fd, char *origin)
{
	char link[64], *end;
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, origin, PATH_MAX - 1);
	origin[length < 0 ? 0 : length] = '\0';
	end = strrchr(origin, '/');
	if (end)
		*end = '\0';
}

/* @path: DT_RUNPATH or DT_RPATH of the file that needs it, or NULL */
static int open_library(const struct needed *needed, const char *path,
			const char *origin, const char *name)
{
	const char *cached;
	struct stat status;
	int fd;

	if (strchr(name, '/'))
		return file_open_plain(name, &status);
	fd = open_in(path, origin, name);
	if (fd < 0)
		fd = open_in(getenv("LD_LIBRARY_PATH"), origin, name);
	cached = fd < 0 && needed->cache ?
		ld_cache_find(needed->cache, needed->cache_size, name) : NULL;
	if (cached)
		fd = file_open_plain(cached, &status);
	return fd < 0 ? open_in(DEFAULT_PATH, origin, name) : fd;
}

/* --- what a file says */

/* The dynamic section; @link is set to the section of its strings. */
static Elf_Data *find_dynamic(Elf *elf, size_t *link)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) ||
		    header.sh_type != SHT_DYNAMIC)
			continue;
		*link = header.sh_link;
		return elf_getdata(section, NULL);
	}
	return NULL;
}

static const char *find_path(Elf *elf, Elf_Data *dynamic, size_t link)
{
	const char *path = NULL;
	GElf_Dyn entry;
	int i;

	for (i = 0; gelf_getdyn(dynamic, i, &entry); i++)
		if (entry.d_tag == DT_RUNPATH ||
		    (entry.d_tag == DT_RPATH && !path))
			path = elf_strptr(elf, link, entry.d_un.d_val);
	return path;
}

/* Return: whether it is new. */
static bool add_name(struct needed *needed, const char *name)
{
	char **names;
	size_t i;

	for (i = 0; i < needed->nr; i++)
		if (!strcmp(needed->names[i], name))
			return false;
	names = needed->nr < MOST_LIBRARIES ?
		array_grow(needed->names, needed->nr, sizeof(*names)) : NULL;
	if (!names)
		return false;
	needed->names = names;
	names[needed->nr] = strdup(name);
	return names[needed->nr] && ++needed->nr;
}

static void take_libraries(struct needed *needed, int fd);

static void take_library(struct needed *needed, const char *path,
			 const char *origin, const char *name)
{
	int fd;

	if (!name || !add_name(needed, name))
		return;
	fd = open_library(needed, path, origin, name);
	if (fd < 0)
		return;
	needed->take(needed->context, fd);
	take_libraries(needed, fd);
	close(fd);
}

static void take_loader(struct needed *needed, Elf *elf)
{
	GElf_Phdr segment;
	Elf_Data *data;
	size_t nr = 0, i;

	elf_getphdrnum(elf, &nr);
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, i, &segment) ||
		    segment.p_type != PT_INTERP || segment.p_filesz > PATH_MAX)
			continue;
		data = elf_getdata_rawchunk(elf, segment.p_offset,
					    segment.p_filesz, ELF_T_BYTE);
		if (data && memchr(data->d_buf, '\0', data->d_size))
			take_library(needed, NULL, "", data->d_buf);
		return;
	}
}

/* Libraries that a file needs, and those that these need */
static void take_libraries(struct needed *needed, int fd)
{
	Elf *elf = elf_open(fd);
	char origin[PATH_MAX];
	Elf_Data *dynamic;
	const char *path;
	GElf_Dyn entry;
	size_t link;
	int i;

	dynamic = elf ? find_dynamic(elf, &link) : NULL;
	if (dynamic) {
		find_origin(fd, origin);
		path = find_path(elf, dynamic, link);
		take_loader(needed, elf);
		for (i = 0; gelf_getdyn(dynamic, i, &entry); i++)
			if (entry.d_tag == DT_NEEDED)
				take_library(needed, path, origin,
					     elf_strptr(elf, link,
							entry.d_un.d_val));
	}
	elf_close(elf);
}

/* The program that runs a script; @line has room for 256 bytes. NULL if none */
static const char *interpreter(int fd, char *line)
{
	ssize_t length = pread(fd, line, 255, 0);

	if (length < 2 || line[0] != '#' || line[1] != '!')
		return NULL;
	line[length] = '\0';
	line += 2 + strspn(line + 2, " \t");
	line[strcspn(line, " \t\n")] = '\0';
	return line;
}

/**
 * needed_files() - find what a program maps when it starts
 * @program: its path or name, as for execvp(3)
 * @take: called with its file, and with those of its dynamic linker and of its
 *	libraries; of a script, with those of the program that runs it
 * @context: passed to @take
 */
void needed_files(const char *program, needed_take take, void *context)
{
	struct needed needed = {
		.take = take,
		.context = context,
		.cache = file_read(LD_CACHE, &needed.cache_size),
	};
	char line[256];
	int fd, i;

	for (i = 0; program && i <= MOST_SCRIPTS; i++) {
		fd = open_program(program);
		if (fd < 0)
			break;
		program = interpreter(fd, line);
		if (!program) {
			take(context, fd);
			take_libraries(&needed, fd);
		}
		close(fd);
	}
	while (needed.nr)
		free(needed.names[--needed.nr]);
	free(needed.names);
	free(needed.cache);
}
