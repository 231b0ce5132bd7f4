// SPDX-License-Identifier: GPL-2.0-only
/*
 * exec.c - an exec: a program image, its DSOs and their counters
 */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profil/exec.h"
#include "profil/proc.h"
#include "symbolize/build_id.h"
#include "util/array.h"

/* Room for libraries that come later; if it is full, there is another area. */
#define AREA_SIZE	(64ULL << 20)

/**
 * exec_new() - create the exec of the program that a process runs now
 * @pid: the process
 * @now_ns: current time, on the monotonic clock
 *
 * Return: the exec, or NULL if out of memory.
 */
struct exec *exec_new(pid_t pid, uint64_t now_ns)
{
	struct exec *exec = calloc(1, sizeof(*exec));
	struct process process;

	if (!exec)
		return NULL;
	exec->name = process_program(pid);
	if (!exec->name) {
		free(exec);
		return NULL;
	}
	process_read(pid, &process);
	exec->pid = pid;
	exec->ppid = process.ppid;
	exec->start_ns = now_ns;
	return exec;
}

static int copy_dsos(struct exec *to, const struct exec *from)
{
	for (; to->nr < from->nr; to->nr++) {
		struct dso *dsos = array_grow(to->dsos, to->nr, sizeof(*dsos));

		if (!dsos)
			return -1;
		to->dsos = dsos;
		dsos[to->nr] = from->dsos[to->nr];
		dsos[to->nr].map.path = strdup(from->dsos[to->nr].map.path);
		if (!dsos[to->nr].map.path)
			return -1;
	}
	return 0;
}

/**
 * exec_copy() - copy an exec, to have separate counters
 * @exec: the exec
 * @pid: the forked child that gets the copy
 * @now_ns: current time, on the monotonic clock
 *
 * Return: the copy, whose areas have no files yet, or NULL if out of memory.
 */
struct exec *exec_copy(const struct exec *exec, pid_t pid,
		       uint64_t now_ns)
{
	struct exec *copy = exec_new(pid, now_ns);
	unsigned int i;

	if (!copy)
		return NULL;
	copy->head = exec->head;
	if (exec->reason)
		exec_fail(copy, exec->reason, 0);
	if (copy_dsos(copy, exec)) {
		exec_free(copy);
		return NULL;
	}
	for (i = 0; i < exec->nr_areas; i++) {
		if (exec_add_area(copy, exec->areas[i].size)) {
			exec_free(copy);
			return NULL;
		}
		copy->areas[i].used = exec->areas[i].used;
	}
	return copy;
}

/**
 * exec_fail() - mark an exec as not profiled
 * @exec: the exec
 * @what: what failed
 * @error: errno, or 0
 */
void exec_fail(struct exec *exec, const char *what, int error)
{
	free(exec->reason);
	if (asprintf(&exec->reason, "%s%s%s", what, error ? ": " : "",
		     error ? strerror(error) : "") < 0)
		exec->reason = NULL;
}

static uint32_t kind_of(const struct exec *exec, const struct mapping *map,
			const char *loader)
{
	if (!strcmp(map->path, "[vdso]"))
		return PRF_VDSO;
	if (!strcmp(map->path, exec->name))
		return PRF_PROGRAM;
	if (loader && !strcmp(map->path, loader))
		return PRF_LOADER;
	return PRF_LIBRARY;
}

static void find_build_id(struct dso *dso, pid_t tid)
{
	uint64_t base = 0;
	char path[PATH_MAX];

	if (dso->kind == PRF_VDSO) {
		/* The kernel maps a complete ELF file */
		snprintf(path, sizeof(path), "/proc/%d/mem", tid);
		base = dso->map.start;
	} else if (dso->map.path[0] == '/') {
		/* The process may have another root directory */
		snprintf(path, sizeof(path), "/proc/%d/root%s", tid,
			 dso->map.path);
	} else {
		return;
	}
	dso->build_id_len = build_id_of(path, base, dso->build_id,
					sizeof(dso->build_id));
}

/**
 * exec_add_dso() - add an executable mapping
 * @exec: the exec
 * @map: the mapping
 * @loader: path of rtld, or NULL
 * @tid: a thread of the process that has it mapped
 *
 * Return: 0, or -1 if out of memory.
 */
int exec_add_dso(struct exec *exec, const struct mapping *map,
		 const char *loader, pid_t tid)
{
	struct dso *dso = array_grow(exec->dsos, exec->nr, sizeof(*dso));

	if (!dso)
		return -1;
	exec->dsos = dso;
	dso += exec->nr;
	memset(dso, 0, sizeof(*dso));
	dso->map = *map;
	dso->map.path = strdup(map->path);
	if (!dso->map.path)
		return -1;
	dso->kind = kind_of(exec, map, loader);
	dso->area = NO_AREA;
	find_build_id(dso, tid);
	exec->nr++;
	return 0;
}

/* Default size of an area; as it is a file, RLIMIT_FSIZE limits it. */
static uint64_t usual_size(uint64_t page)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur > AREA_SIZE)
		return AREA_SIZE;
	return limit.rlim_cur / page * page;
}

/**
 * exec_add_area() - add an area for counters, without a file yet
 * @exec: the exec
 * @size: bytes needed at least
 *
 * Return: 0, or -1 if out of memory.
 */
int exec_add_area(struct exec *exec, uint64_t size)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	uint64_t usual = usual_size(page);
	struct area *areas = array_grow(exec->areas, exec->nr_areas,
					sizeof(*areas));

	if (!areas)
		return -1;
	if (size < usual)
		size = usual;
	exec->areas = areas;
	areas[exec->nr_areas++] = (struct area) {
		.fd = -1,
		.size = (size + page - 1) / page * page,
	};
	return 0;
}

/** exec_drop_area() - remove the area added last */
void exec_drop_area(struct exec *exec)
{
	unsigned int area = --exec->nr_areas;
	size_t i;

	if (exec->areas[area].local)
		munmap(exec->areas[area].local, exec->areas[area].size);
	if (exec->areas[area].fd >= 0)
		close(exec->areas[area].fd);
	for (i = 0; i < exec->nr; i++)
		if (exec->dsos[i].area == area)
			exec->dsos[i].area = NO_AREA;
}

/** dso_counters() - size of a DSO's counters, in bytes */
uint64_t dso_counters(const struct dso *dso, uint32_t bucket)
{
	return (dso->map.end - dso->map.start + bucket - 1) / bucket *
		COUNTER;
}

/* Save the counters of one DSO that are not zero. */
static int save_counters(const struct area *area, uint64_t at, uint64_t size,
			 struct prf_dso *out)
{
	uint32_t counters[4096];
	uint64_t done = 0;
	ssize_t got;
	size_t i;

	while (done < size) {
		/* Skip holes: most of the file has never been written */
		off_t data = lseek(area->fd, at + done, SEEK_DATA);

		if (data < 0 || (uint64_t)data >= at + size)
			return 0;
		if ((uint64_t)data > at + done)
			done = data - at;
		got = size - done < sizeof(counters) ? size - done :
						       sizeof(counters);
		got = pread(area->fd, counters, got, at + done);
		if (got <= 0)
			return -1;
		for (i = 0; i < got / COUNTER; i++) {
			uint64_t offset = (done / COUNTER + i) *
				out->bucket_bytes;

			if (counters[i] &&
			    prf_add_bucket(out, offset, counters[i]))
				return -1;
		}
		done += got;
	}
	return 0;
}

static int save_dso(const struct exec *exec, const struct dso *dso,
		    uint32_t bucket, struct prf_exec *exec_out)
{
	struct prf_dso *out = prf_add_dso(exec_out, dso->map.path);
	const struct area *area;

	if (!out)
		return -1;
	out->start = dso->map.start;
	out->end = dso->map.end;
	out->pgoff = dso->map.pgoff;
	out->kind = dso->kind;
	out->build_id_len = dso->build_id_len;
	memcpy(out->build_id, dso->build_id, sizeof(out->build_id));
	out->bucket_bytes = bucket;
	if (dso->area == NO_AREA)
		return 0;
	area = &exec->areas[dso->area];
	if (area->fd < 0)
		return 0;
	if (save_counters(area, dso->first, dso_counters(dso, bucket),
			  out))
		return -1;
	exec_out->counted += prf_dso_ticks(out);
	return 0;
}

/* Save the counter for ticks outside all DSOs, as one bucket. */
static int save_elsewhere(const struct exec *exec, struct prf_exec *out)
{
	struct dso elsewhere = {
		.map = { .end = 1ULL << 31, .path = "[elsewhere]" },
		.kind = PRF_ANONYMOUS,
		.area = exec->nr_areas ? 0 : NO_AREA,
		.first = exec->head,
	};

	return save_dso(exec, &elsewhere, 1U << 31, out);
}

static int save_dsos(const struct exec *exec, uint32_t bucket,
		     struct prf_exec *out)
{
	size_t i;

	for (i = 0; i < exec->nr; i++)
		if (save_dso(exec, &exec->dsos[i], bucket, out))
			return -1;
	return save_elsewhere(exec, out);
}

/**
 * exec_keep() - copy the counters out of the areas, and drop the areas
 * @exec: the exec; no address space uses it any more
 * @bucket: bytes of text for each counter
 *
 * Each area keeps a file open, so without this the limit of descriptors would
 * limit the number of execs. If out of memory, the areas stay.
 */
void exec_keep(struct exec *exec, uint32_t bucket)
{
	struct prf_exec *out;

	if (!exec->nr_areas || exec->kept.nr || prf_init(&exec->kept, ""))
		return;
	out = prf_add_exec(&exec->kept, "", "");
	if (!out || save_dsos(exec, bucket, out)) {
		prf_free(&exec->kept);
		return;
	}
	while (exec->nr_areas)
		exec_drop_area(exec);
}

/* Move the saved counters to the profile. */
static void move_kept(struct exec *exec, struct prf_exec *out)
{
	struct prf_exec *kept = &exec->kept.execs[0];

	out->counted = kept->counted;
	out->nr = kept->nr;
	out->dsos = kept->dsos;
	kept->nr = 0;
	kept->dsos = NULL;
}

/**
 * exec_save() - add an exec to the profile
 * @exec: the exec
 * @prf: the profile
 * @bucket: bytes of text for each counter
 * @start_ns: start of the session, on the monotonic clock
 *
 * Return: 0, or -1 if out of memory.
 */
int exec_save(struct exec *exec, struct prf *prf, uint32_t bucket,
	      uint64_t start_ns)
{
	struct prf_exec *out = prf_add_exec(prf, exec->name,
					    exec->reason ?: "");

	if (!out)
		return -1;
	out->pid = exec->pid;
	out->ppid = exec->ppid;
	out->start_ns = exec->start_ns - start_ns;
	out->cpu_ns = exec->cpu_ns;
	out->reach = exec->reason ? PRF_NOT_REACHED : PRF_FOLLOWED;
	if (exec->reason)
		return 0;
	out->covered_ns = exec->covered_ns;
	if (exec->kept.nr)
		move_kept(exec, out);
	else if (save_dsos(exec, bucket, out))
		return -1;
	out->clipped = exec->accounts.clipped;
	out->outside = exec->accounts.outside;
	out->lost = exec->lost + exec->accounts.lost;
	if (prf->flags & PRF_FLAG_USER_ONLY)
		out->left_out = exec->left_out + exec->accounts.left_out;
	else
		out->kernel_count = exec->left_out +
			exec->accounts.left_out;
	out->counted += out->kernel_count;
	out->kernel = exec->kernel + exec->accounts.kernel;
	out->unfollowed = exec->accounts.unfollowed;
	out->ticks = out->counted + out->clipped + out->outside + out->lost +
		out->left_out;
	return 0;
}

void exec_free(struct exec *exec)
{
	size_t i;

	accounts_close(&exec->accounts);
	prf_free(&exec->kept);
	while (exec->nr_areas)
		exec_drop_area(exec);
	for (i = 0; i < exec->nr; i++)
		free(exec->dsos[i].map.path);
	free(exec->dsos);
	free(exec->areas);
	free(exec->reason);
	free(exec->name);
	free(exec);
}
