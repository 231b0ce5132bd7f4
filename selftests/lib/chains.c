// SPDX-License-Identifier: GPL-2.0-only
/*
 * chains.c - helpers for the tests of watches that count by chain
 *
 * A bucket is called by its number here, counted from 1, as its callees do.
 */
#include <fcntl.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <profil.h>

#include "chains.h"
#include "unwind/make.h"

/* --- tables */

struct callers make_callers(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct callers callers = { NULL, 0 };
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf)
		callers.table = unwind_make(elf, &callers.bytes);
	elf_end(elf);
	close(fd);
	return callers;
}

struct callers make_vdso_callers(void)
{
	struct callers callers = { NULL, 0 };
	char *vdso = (char *)getauxval(AT_SYSINFO_EHDR);
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = vdso ? elf_memory(vdso, 2 * sysconf(_SC_PAGESIZE)) : NULL;
	if (elf)
		callers.table = unwind_make(elf, &callers.bytes);
	elf_end(elf);
	return callers;
}

int load_callers(const struct watch *watch, int file, const void *table,
		 uint64_t bytes)
{
	return profil_watch_unwind(watch->fd, file, table, bytes);
}

int load_callers_of(const struct watch *watch, const char *path)
{
	struct callers callers = make_callers(path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int result = -1;

	if (fd >= 0 && callers.table)
		result = load_callers(watch, fd, callers.table, callers.bytes);
	free(callers.table);
	close(fd);
	return result;
}

/* Load the tables of all that this process has mapped, and so its children. */
int load_own_callers(const struct watch *watch)
{
	struct callers vdso = make_vdso_callers();
	char line[4400], path[4096], last[4096] = "", mode[8];
	FILE *maps = fopen("/proc/self/maps", "r");
	int result = 0;

	if (vdso.table)
		result |= load_callers(watch, -1, vdso.table, vdso.bytes);
	free(vdso.table);
	while (maps && fgets(line, sizeof(line), maps)) {
		path[0] = '\0';
		if (sscanf(line, "%*s %7s %*s %*s %*s %4095[^\n]", mode,
			   path) != 2 || mode[2] != 'x' || path[0] != '/' ||
		    !strcmp(path, last))
			continue;
		result |= load_callers_of(watch, path);
		strcpy(last, path);
	}
	if (maps)
		fclose(maps);
	return result;
}

/* --- nodes */

uint32_t node_caller(const struct watch *watch, uint32_t node)
{
	return watch_bucket(watch, node - 1)->caller;
}

static bool is_node(uint32_t node)
{
	return node && node != PROFIL_CALLER_UNKNOWN;
}

/* How many frames there are from a node to the outermost one. */
uint32_t chain_length(const struct watch *watch, uint32_t node)
{
	uint32_t nr = 0;

	for (; is_node(node); node = node_caller(watch, node))
		nr++;
	return nr;
}

static bool has_callers(const struct watch *watch, uint32_t node,
			uint32_t object, const uint64_t *offsets, int nr)
{
	for (int i = 0; i < nr; i++) {
		node = node_caller(watch, node);
		if (!is_node(node) ||
		    watch_bucket(watch, node - 1)->object != object ||
		    watch_bucket(watch, node - 1)->offset !=
			    offsets[i] >> watch->table->bucket_shift)
			return false;
	}
	return true;
}

/* Buckets of a function. */
struct span {
	uint32_t object;
	uint64_t from;
	uint64_t to;
};

static struct span span_of(const struct watch *watch, const void *text,
			   const void *end)
{
	unsigned int shift = watch->table->bucket_shift;

	return (struct span) {
		.object = watch_own_object(watch, text),
		.from = watch_offset(text) >> shift,
		.to = watch_offset(end) >> shift,
	};
}

static bool is_in(const struct span *span,
		  const struct profil_watch_bucket *bucket)
{
	return watch_in_use(bucket) && bucket->object == span->object &&
	       bucket->offset >= span->from && bucket->offset < span->to;
}

/*
 * Ticks of a function of this program, that one whose beginning is callers[0]
 * called, that one whose beginning is callers[1] called, and so on.
 */
uint64_t chain_ticks(const struct watch *watch, const void *text,
		     const void *end, const void *const *callers, int nr)
{
	struct span span = span_of(watch, text, end);
	uint64_t offsets[16], sum = 0;

	for (int i = 0; i < nr; i++)
		offsets[i] = watch_offset(callers[i]);
	for (uint32_t i = 0; i < watch->table->max_buckets; i++) {
		const struct profil_watch_bucket *bucket =
			watch_bucket(watch, i);

		if (is_in(&span, bucket) &&
		    has_callers(watch, i + 1, span.object, offsets, nr))
			sum += bucket->count;
	}
	return sum;
}

/*
 * Ticks of what is not a frame of the program, such as PROFIL_OBJECT_BLOCKED, that
 * a function has called, with its callers as of chain_ticks().
 */
uint64_t chain_leaves(const struct watch *watch, uint32_t object,
		      const void *text, const void *end,
		      const void *const *callers, int nr)
{
	struct span span = span_of(watch, text, end);
	uint64_t offsets[16], sum = 0;

	for (int i = 0; i < nr; i++)
		offsets[i] = watch_offset(callers[i]);
	for (uint32_t i = 0; i < watch->table->max_buckets; i++) {
		const struct profil_watch_bucket *bucket =
			watch_bucket(watch, i);

		if (watch_in_use(bucket) && bucket->object == object &&
		    is_node(bucket->caller) &&
		    is_in(&span, watch_bucket(watch, bucket->caller - 1)) &&
		    has_callers(watch, bucket->caller, span.object, offsets,
				nr))
			sum += bucket->count;
	}
	return sum;
}

/* Ticks of a function that were counted without any caller. */
uint64_t chain_ticks_alone(const struct watch *watch, const void *text,
			   const void *end)
{
	struct span span = span_of(watch, text, end);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < watch->table->max_buckets; i++) {
		const struct profil_watch_bucket *bucket =
			watch_bucket(watch, i);

		if (is_in(&span, bucket) &&
		    bucket->caller == PROFIL_CALLER_UNKNOWN)
			sum += bucket->count;
	}
	return sum;
}

uint64_t chain_sum(const struct profil_watch_status *status)
{
	uint64_t sum = 0;

	for (int i = 0; i < PROFIL_CHAIN_ENDS; i++)
		sum += status->chains[i];
	return sum;
}

/* Ticks of frames that found no room, of all nodes. */
uint64_t ticks_below(const struct watch *watch)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < watch->table->max_buckets; i++)
		if (watch_in_use(watch_bucket(watch, i)))
			sum += watch_bucket(watch, i)->below;
	return sum;
}

/* --- tables that no compiler made */

/* One rule for the first @blocks of a file. */
struct callers make_rule(struct profil_unwind_rule rule, uint32_t blocks)
{
	size_t index = (blocks + 1) * sizeof(struct profil_unwind_index);
	struct callers callers = {
		.bytes = sizeof(struct profil_unwind_head) + index +
			 sizeof(uint64_t) + sizeof(rule),
	};
	struct profil_unwind_index *last;
	struct profil_unwind_head *head;

	callers.table = calloc(1, callers.bytes);
	head = callers.table;
	*head = (struct profil_unwind_head) {
		.blocks = blocks, .rows = 1, .rules = 1,
	};
	last = (struct profil_unwind_index *)(head + 1) + 1;
	for (uint32_t i = 0; i < blocks; i++)
		last[i].row = 1;
	memcpy((char *)callers.table + callers.bytes - sizeof(rule), &rule,
	       sizeof(rule));
	return callers;
}

/* The rules of a table. */
struct profil_unwind_rule *rules_of(const struct callers *callers)
{
	const struct profil_unwind_head *head = callers->table;

	return (struct profil_unwind_rule *)((char *)callers->table +
					     callers->bytes) - head->rules;
}
