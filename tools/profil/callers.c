// SPDX-License-Identifier: GPL-2.0-only
/*
 * callers.c - load tables of callers into watches
 *
 * The module finds no callers in a file before its table is there. So what a
 * program maps when it starts gets tables before it starts, and so does what it
 * executed or opened when it was profiled the last time; the rest gets them as soon
 * as the module knows the path of a file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profil/callers.h"
#include "profil/needed.h"
#include "profil/object.h"
#include "symbolize/vdso.h"
#include "unwind/file.h"
#include "util/array.h"
#include "util/file.h"

/* What a program led to that is loaded before it starts: files, and their tables. */
#define MOST_FILES	64
#define MOST_BYTES	(16u << 20)

/* Is it one of the first @nr files that have a table in the watch, or can have none? */
static bool is_known(const struct watch *watch, const struct stat *file,
		     size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (watch->known[i].inode == file->st_ino &&
		    watch->known[i].device == file->st_dev &&
		    watch->known[i].changed_ns == file_changed_ns(file))
			return true;
	return false;
}

static void know(struct watch *watch, const struct stat *file)
{
	struct known_file *known = array_grow(watch->known, watch->nr_known,
					      sizeof(*known));

	if (!known)
		return;
	watch->known = known;
	known[watch->nr_known++] = (struct known_file) {
		.device = file->st_dev,
		.inode = file->st_ino,
		.changed_ns = file_changed_ns(file),
	};
}

/*
 * Load the table of a file; returns its size, 0 if it has none. @seen_as: its
 * descriptor, or -1 for the vDSO; @is_ours: see unwind_file(); @file: what it was
 * before it was read, or NULL
 */
static size_t load(struct watch *watch, int fd, int seen_as, bool is_ours,
		   const struct stat *file)
{
	struct profil_watch_unwind request = {
		.size = sizeof(request),
		.fd = seen_as,
	};
	size_t bytes;
	void *table = unwind_file(fd, is_ours, &bytes);
	struct stat now;

	/* The kernel takes it for the table of the file as that is now */
	if (!table || (file && (fstat(fd, &now) || file_changed_ns(&now) !=
						   file_changed_ns(file)))) {
		free(table);
		return 0;
	}
	request.table = (uintptr_t)table;
	request.bytes = bytes;
	if (ioctl(watch->fd, PROFIL_IOC_WATCH_UNWIND, &request) &&
	    (errno == EAGAIN || errno == ENOSPC || errno == ENOMEM))
		watch->no_room++;
	free(table);
	return bytes;
}

static size_t load_file(struct watch *watch, int fd, bool is_ours)
{
	struct stat file;

	if (fstat(fd, &file) || is_known(watch, &file, watch->nr_known))
		return 0;
	know(watch, &file);
	return load(watch, fd, fd, is_ours, &file);
}

/* The first one is the program. */
static void load_needed(void *context, int fd)
{
	struct watch *watch = context;

	if (watch->program < 0)
		watch->program = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	load_file(watch, fd, true);
}

static void load_program(struct watch *watch, const char *program)
{
	size_t length, bytes = 0;
	const char *path;
	struct stat file;
	char *line;
	int fd;

	needed_files(program, load_needed, watch);
	watch->nr_needed = watch->nr_known;
	if (watch->program < 0)
		return;
	watch->led_to = unwind_files(watch->program);
	for (path = watch->led_to; path && *path && bytes < MOST_BYTES &&
	     !watch->no_room;
	     path += length + !!path[length]) {
		length = strcspn(path, "\n");
		line = strndup(path, length);
		fd = line ? file_open_plain(line, &file) : -1;
		free(line);
		if (fd < 0)
			continue;
		bytes += load_file(watch, fd, true);
		close(fd);
	}
}

static void load_vdso(struct watch *watch)
{
	int fd = vdso_open();

	if (fd < 0)
		return;
	load(watch, fd, -1, false, NULL);
	close(fd);
}

/* What a process that runs already has mapped; @line is of /proc/PID/maps. */
static void load_mapping(struct watch *watch, pid_t pid, char *line)
{
	struct stat file;
	char flags[5];
	int path = 0, fd;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%*s %4s %*s %*s %*s %n", flags, &path) < 1 ||
	    flags[2] != 'x' || line[path] != '/')
		return;
	fd = file_open_found(process_find(pid, line + path, 0), &file);
	if (fd < 0)
		return;
	load_file(watch, fd, object_is_ours(fd, line + path));
	close(fd);
}

static void load_process(struct watch *watch, pid_t pid)
{
	FILE *maps = process_maps(pid);
	char *line = NULL;
	size_t room = 0;

	while (maps && getline(&line, &room, maps) > 0)
		load_mapping(watch, pid, line);
	free(line);
	if (maps)
		fclose(maps);
}

/**
 * callers_begin() - load the tables that will be needed first
 * @watch: the watch, which has just begun
 * @session: target and options
 * @pid: the process, with TARGET_PROCESSES
 */
void callers_begin(struct watch *watch, const struct session *session,
		   pid_t pid)
{
	/* What runs may change its files while they are read */
	file_survive_cuts();
	load_vdso(watch);
	if (session->target == TARGET_PROGRAM)
		load_program(watch, session->argv[0]);
	else if (session->target == TARGET_PROCESSES)
		load_process(watch, pid);
}

static void load_object(struct watch *watch, const struct session *session,
			const struct profil_watch_object *object,
			const char *path)
{
	bool is_other;
	int fd = object_open(object, path, session->start_unix_ns, &is_other);

	if (fd < 0)
		return;
	load_file(watch, fd, object_is_ours(fd, path));
	close(fd);
}

/**
 * callers_add() - load the tables of the files that the watch has seen meanwhile
 * @watch: the watch
 * @session: options
 * @until_ns: end after this time
 *
 * Return: whether this was enough for all of them.
 */
bool callers_add(struct watch *watch, const struct session *session,
		 uint64_t until_ns)
{
	const struct profil_watch_object *object;
	const char *path;
	uint32_t i = PROFIL_OBJECT_FILES;

	if (!watch->is_done)
		watch->is_done = calloc(watch->request.objects,
					sizeof(*watch->is_done));
	for (; watch->is_done && i < watch->request.objects &&
	     (object = profil_watch_object(watch->table, i)); i++) {
		path = watch->is_done[i] ? NULL :
			profil_watch_path(watch->table, object);
		if (!path)
			continue;
		if (now_ns() > until_ns)
			return false;
		watch->is_done[i] = true;
		load_object(watch, session, object, path);
	}
	return true;
}

static bool is_needed(const struct watch *watch, const char *path)
{
	struct stat file;

	return path[0] != '/' || strchr(path, '\n') || stat(path, &file) ||
		is_known(watch, &file, watch->nr_needed);
}

/* Is it a line of the text? */
static bool has_line(const char *text, const char *line)
{
	size_t length = strlen(line);

	for (; *text; text += strcspn(text, "\n") + 1)
		if (!strncmp(text, line, length) && text[length] == '\n')
			return true;
	return false;
}

/**
 * callers_keep() - keep what the program of a watch led to, for the next time
 * @watch: the watch
 * @prf: its profile
 */
void callers_keep(const struct watch *watch, const struct prf *prf)
{
	const struct prf_dso *dso;
	struct prf_at at = {};
	char *files = strdup("");
	int nr = 0;

	while (watch->program >= 0 && files && nr < MOST_FILES &&
	       (dso = prf_next(prf, 1, &at))) {
		char *more;

		if (has_line(files, dso->path) || is_needed(watch, dso->path))
			continue;
		if (asprintf(&more, "%s%s\n", files, dso->path) < 0)
			more = NULL;
		free(files);
		files = more;
		nr++;
	}
	if (watch->program >= 0 && files &&
	    strcmp(files, watch->led_to ?: ""))
		unwind_keep_files(watch->program, files);
	free(files);
}

/** callers_end() - forget which tables a watch has */
void callers_end(struct watch *watch)
{
	free(watch->known);
	free(watch->is_done);
	free(watch->led_to);
	if (watch->program >= 0)
		close(watch->program);
	watch->known = NULL;
	watch->is_done = NULL;
	watch->led_to = NULL;
	watch->program = -1;
}
