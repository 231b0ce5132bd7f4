/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exec.h - an exec: a program image, its DSOs and their counters
 */
#ifndef EXEC_H
#define EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "prf/prf.h"
#include "profil/account.h"
#include "profil/maps.h"
#include "profil/ptrace/rtld.h"

/* Index of no area. */
#define NO_AREA	(~0U)

/**
 * struct dso - an executable mapping, kept after it is unmapped
 * @map: the mapping
 * @kind: enum prf_kind
 * @build_id: build ID of the file
 * @build_id_len: bytes of the build ID; 0 if there is none
 * @area: index of the exec's area that has its counters; NO_AREA if it has none
 *	yet
 * @first: offset of its first counter in the area, in bytes
 */
struct dso {
	struct mapping map;
	uint32_t kind;
	uint8_t build_id[PRF_BUILD_ID];
	uint32_t build_id_len;
	unsigned int area;
	uint64_t first;
};

/**
 * struct area - memory for counters, backed by a memfd
 * @fd: the memfd; -1 before it exists
 * @size: size of the memfd, in bytes
 * @used: bytes assigned so far, from the start
 * @local: our mapping of it, if profil counts by itself
 */
struct area {
	int fd;
	uint64_t size;
	uint64_t used;
	void *local;
};

/**
 * struct exec - a program image, from exec to the next exec or the end
 * @pid: process that called exec, or the forked child that got this copy
 * @ppid: its parent
 * @start_ns: time of the exec, on the monotonic clock
 * @end_ns: time at which @pid ended while in this exec; 0 if it has not
 * @status: wait status of @pid, valid if @end_ns is not 0
 * @cpu_ns: CPU time of processes in this exec that have ended or called exec
 *	again
 * @uncovered_ns: part of @cpu_ns that passed before the profile began
 * @lost: ticks whose place is unknown
 * @accounts: stats from the module
 * @covered_ns: CPU time profiled; in the kernel backend, that of ended profiles
 * @ticks_ns: CPU time that ticks cover, in the perf backend
 * @left_out_ns: part of @covered_ns in kernel mode for which there are no ticks
 * @left_out: ticks in kernel mode that no counter has
 * @kernel: ticks in kernel mode, if known
 * @name: path of the program
 * @reason: why the exec is not profiled; NULL if it is
 * @warned: the user has been warned that libraries count as elsewhere
 * @crowded: the user has been warned that there are too many mappings
 * @head: size of the request in front of the first area's counters, in bytes;
 *	the counter for ticks outside all DSOs follows it
 * @nr_areas: number of areas
 * @areas: memory for counters
 * @nr: number of DSOs
 * @dsos: DSOs in the order in which they were found
 * @users: number of address spaces that use the exec
 * @code: entry point of the program
 * @loader: breakpoints in rtld
 * @kept: counters, saved once no address space uses the exec
 */
struct exec {
	pid_t pid;
	pid_t ppid;
	uint64_t start_ns;
	uint64_t end_ns;
	int status;
	uint64_t cpu_ns;
	uint64_t uncovered_ns;
	struct accounts accounts;
	uint64_t covered_ns;
	uint64_t ticks_ns;
	uint64_t left_out_ns;
	uint64_t lost;
	uint64_t left_out;
	uint64_t kernel;
	char *name;
	char *reason;
	bool warned;
	bool crowded;
	uint64_t head;
	unsigned int nr_areas;
	struct area *areas;
	size_t nr;
	struct dso *dsos;
	unsigned int users;
	uint64_t code;
	struct loader loader;
	struct prf kept;
};

/* Width of a counter, in bytes. */
#define COUNTER	sizeof(uint32_t)

struct exec *exec_new(pid_t pid, uint64_t now_ns);
struct exec *exec_copy(const struct exec *exec, pid_t pid,
		       uint64_t now_ns);
void exec_free(struct exec *exec);

int exec_add_dso(struct exec *exec, const struct mapping *map,
		 const char *loader, pid_t tid);
int exec_add_area(struct exec *exec, uint64_t size);
void exec_drop_area(struct exec *exec);
uint64_t dso_counters(const struct dso *dso, uint32_t bucket);

void exec_keep(struct exec *exec, uint32_t bucket);
void exec_fail(struct exec *exec, const char *what, int error);
int exec_save(struct exec *exec, struct prf *prf, uint32_t bucket,
	      uint64_t start_ns);

#endif /* EXEC_H */
