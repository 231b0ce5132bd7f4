// SPDX-License-Identifier: GPL-2.0-only
/*
 * alike.c - find which DSOs can be compared by function
 *
 * Runs may have been measured in different ways, or read when their files were
 * gone: a function without a name in some runs seems to be new in the others.
 * Such a DSO is compared as a whole.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/alike.h"

/* Bytes at which compilers align functions: larger buckets have several. */
#define ALIGNED		16

/**
 * struct part - a DSO in one run
 * @name: its name
 * @dso: the DSO
 * @run: the run
 * @named: whether any of its ticks are in functions with names
 * @bytes: size of its largest buckets
 */
struct part {
	const char *name;
	const struct sum_dso *dso;
	size_t run;
	bool named;
	uint64_t bytes;
};

/**
 * alike_name() - name under which a DSO is compared
 *
 * The kernel has one name, whether its functions are known or not.
 */
const char *alike_name(const struct sum *sum, size_t dso)
{
	return sum->dsos[dso].class == SUM_KERNEL ? "[kernel]" :
		sum_dso_name(sum, dso);
}

/** alike_order() - compare names of DSOs */
int alike_order(const char *a, const char *b)
{
	size_t length = plain_length(a), other = plain_length(b);
	int order = strncmp(a, b, length < other ? length : other);

	return order ? order : (length > other) - (length < other);
}

/**
 * alike_has_name() - does a function have a symbol?
 * @function: its name
 * @dso: name of its DSO
 *
 * Others are named by their DSO, or by DSO and address, which differs between
 * builds.
 */
bool alike_has_name(const char *function, const char *dso)
{
	size_t length = plain_length(dso);

	if (strncmp(function, dso, length))
		return true;
	if (!function[length])
		return dso[0] != '[';
	return strncmp(function + length, "+0", 2);
}

static int by_name(const void *a, const void *b)
{
	const struct part *p = a, *q = b;
	int order = alike_order(p->name, q->name);

	return order ? order : (p->run > q->run) - (p->run < q->run);
}

static struct part find_part(const struct sum *sums, size_t run, size_t i)
{
	const struct sum_dso *dso = &sums[run].dsos[i];
	struct part part = {
		.name = alike_name(&sums[run], i),
		.dso = dso,
		.run = run,
	};
	size_t j;

	for (j = 0; j < dso->nr_pieces && !part.named; j++)
		part.named = alike_has_name(dso->pieces[j].name,
					    base_name(dso->path));
	for (j = 0; j < dso->nr_buckets; j++)
		if (dso->buckets[j].bytes > part.bytes)
			part.bytes = dso->buckets[j].bytes;
	return part;
}

static struct part *find_parts(const struct sum *sums, size_t nr, size_t *found)
{
	struct part *parts;
	size_t all = 0, i, j;

	for (i = 0; i < nr; i++)
		all += sums[i].nr_dsos;
	parts = calloc(all + 1, sizeof(*parts));
	if (!parts)
		err(2, NULL);
	*found = 0;
	for (i = 0; i < nr; i++)
		for (j = 0; j < sums[i].nr_dsos; j++)
			parts[(*found)++] = find_part(sums, i, j);
	qsort(parts, all, sizeof(*parts), by_name);
	return parts;
}

static bool same_build(const struct sum_dso *a, const struct sum_dso *b)
{
	return a->build_id_len && a->build_id_len == b->build_id_len &&
		!memcmp(a->build_id, b->build_id, a->build_id_len);
}

/* Why the parts of one DSO cannot be compared by function, or NULL. */
static const char *problem_of(const struct part *parts, size_t nr)
{
	bool named = false, nameless = false, here;
	const struct part *first = NULL;
	size_t i, j;

	for (i = 0; i < nr; i = j) {
		here = false;
		for (j = i; j < nr && parts[j].run == parts[i].run; j++)
			here |= parts[j].named;
		named |= here;
		nameless |= !here;
	}
	if (!named)
		return NULL;
	if (nameless)
		return "its functions have names in some runs only";
	for (i = 0; i < nr; i++) {
		if (!parts[i].named)
			continue;
		first = first ?: &parts[i];
		if (parts[i].bytes != first->bytes)
			return "its buckets have several sizes";
		if (parts[i].bytes > ALIGNED &&
		    !same_build(parts[i].dso, first->dso))
			return "its buckets have several functions, and it was built again";
	}
	return NULL;
}

/**
 * alike_find() - find out how the DSOs of runs can be compared
 * @alike: receives the DSOs; free the list
 * @sums: a finished sum for each run
 * @nr: number of runs
 */
void alike_find(struct alike *alike, const struct sum *sums, size_t nr)
{
	size_t all, i, next;
	struct part *parts = find_parts(sums, nr, &all);

	alike->nr = 0;
	alike->list = calloc(all + 1, sizeof(*alike->list));
	if (!alike->list)
		err(2, NULL);
	for (i = 0; i < all; i = next) {
		for (next = i; next < all &&
		     !alike_order(parts[i].name, parts[next].name); next++)
			;
		alike->list[alike->nr++] = (struct alike_dso){
			.name = parts[i].name,
			.whole = problem_of(parts + i, next - i),
		};
	}
	free(parts);
}

static int find_name(const void *name, const void *dso)
{
	return alike_order(name, ((const struct alike_dso *)dso)->name);
}

/** alike_whole() - why a DSO can be compared only as a whole, or NULL */
const char *alike_whole(const struct alike *alike, const char *name)
{
	const struct alike_dso *dso = bsearch(name, alike->list, alike->nr,
					      sizeof(*dso), find_name);

	return dso ? dso->whole : NULL;
}
