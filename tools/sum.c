// SPDX-License-Identifier: GPL-2.0-only
/*
 * sum.c - adds files, and finds their functions
 */
#include <err.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "sum.h"

static enum sum_class class_of(uint32_t kind)
{
	if (kind == PRF_PROGRAM)
		return SUM_PROGRAM;
	return kind == PRF_ANONYMOUS ? SUM_ELSEWHERE : SUM_LIBRARIES;
}

static bool same(const struct sum_object *object, enum sum_class class,
		 const struct prf_object *mapping)
{
	return object->class == class &&
		object->build_id_len == mapping->build_id_len &&
		!memcmp(object->build_id, mapping->build_id,
			mapping->build_id_len) &&
		!strcmp(object->path, mapping->path);
}

static struct sum_object *find_object(const struct sum *sum,
				      enum sum_class class,
				      const struct prf_object *mapping)
{
	size_t i;

	for (i = 0; i < sum->nr_objects; i++)
		if (same(&sum->objects[i], class, mapping))
			return &sum->objects[i];
	return NULL;
}

static struct sum_object *get_object(struct sum *sum, enum sum_class class,
				     const struct prf_object *mapping)
{
	struct sum_object *object = find_object(sum, class, mapping);

	if (object)
		return object;
	sum->objects = one_more(sum->objects, sum->nr_objects,
				sizeof(*object));
	object = &sum->objects[sum->nr_objects++];
	memset(object, 0, sizeof(*object));
	object->path = copy(mapping->path);
	object->class = class;
	object->build_id_len = mapping->build_id_len;
	memcpy(object->build_id, mapping->build_id, mapping->build_id_len);
	if (symbols_open(&object->symbols, object->path, mapping))
		err(1, NULL);
	if (symbols_known(&object->symbols))
		symbols_text(&object->symbols, &object->start, &object->end);
	return object;
}

/* Where the text is if its file cannot tell: as offsets in that. */
static void widen(struct sum_object *object, const struct prf_object *mapping)
{
	uint64_t end = mapping->pgoff + (mapping->end - mapping->start);

	if (symbols_known(&object->symbols) || object->path[0] == '[')
		return;
	if (!object->end || mapping->pgoff < object->start)
		object->start = mapping->pgoff;
	if (end > object->end)
		object->end = end;
}

static void add_bucket(struct sum_object *object,
		       const struct sum_bucket *bucket)
{
	object->buckets = one_more(object->buckets, object->nr_buckets,
				   sizeof(*bucket));
	object->buckets[object->nr_buckets++] = *bucket;
	object->ticks += bucket->ticks;
}

static void add_mapping(struct sum *sum, const struct prf_object *mapping,
			double period_ns)
{
	struct sum_object *object = get_object(sum, class_of(mapping->kind),
					       mapping);
	size_t i;

	widen(object, mapping);
	for (i = 0; i < mapping->nr; i++) {
		const struct prf_bucket *bucket = &mapping->buckets[i];
		const struct sum_bucket new = {
			.address = symbols_address(&object->symbols, mapping,
						   bucket->offset),
			.bytes = mapping->bucket_bytes,
			.ticks = bucket->count,
			.ns = bucket->count * period_ns,
		};

		add_bucket(object, &new);
		sum->bucket_ticks += bucket->count;
	}
}

/* Ticks that are known by their class alone. */
static void add_whole(struct sum *sum, enum sum_class class, uint64_t ticks,
		      double period_ns)
{
	const struct sum_bucket bucket = {
		.bytes = 1,
		.ticks = ticks,
		.ns = ticks * period_ns,
	};
	const struct prf_object mapping = {
		.kind = PRF_ANONYMOUS,
		.path = class == SUM_KERNEL ? "[kernel]" : "[elsewhere]",
	};

	if (ticks)
		add_bucket(get_object(sum, class, &mapping), &bucket);
}

static void add_missed(struct sum *sum, const struct prf_image *image)
{
	struct sum_missed *missed;

	sum->missed = one_more(sum->missed, sum->nr_missed, sizeof(*missed));
	missed = &sum->missed[sum->nr_missed++];
	missed->name = copy(image->name);
	missed->reason = copy(image->reason);
}

static void add_image(struct sum *sum, const struct prf_image *image,
		      double period_ns)
{
	struct prf_image *numbers = &sum->numbers;
	size_t i;

	numbers->cpu_ns += image->cpu_ns;
	numbers->covered_ns += image->covered_ns;
	numbers->ticks += image->ticks;
	numbers->counted += image->counted;
	numbers->clipped += image->clipped;
	numbers->outside += image->outside;
	numbers->lost += image->lost;
	numbers->left_out += image->left_out;
	numbers->kernel += image->kernel;
	numbers->unfollowed += image->unfollowed;
	for (i = 0; i < image->nr; i++)
		if (image->objects[i].nr)
			add_mapping(sum, &image->objects[i], period_ns);
	sum->bucket_ticks += image->kernel_count;
	add_whole(sum, SUM_KERNEL, image->kernel_count + image->left_out,
		  period_ns);
	add_whole(sum, SUM_ELSEWHERE, image->outside, period_ns);
	if (image->reach == PRF_NOT_REACHED)
		add_missed(sum, image);
}

/**
 * sum_add() - add a file
 * @sum: zeroed, or with files in it, but not finished
 * @prf: what prf_read() has read
 */
void sum_add(struct sum *sum, const struct prf *prf)
{
	uint64_t before = sum->numbers.ticks;
	size_t i;

	if (!sum->files) {
		sum->command = copy(prf->command);
		sum->clock = prf->clock;
	}
	if (sum->clock != prf->clock)
		sum->clock = 0;
	if (prf->flags & PRF_FLAG_USER_ONLY)
		sum->user_only = true;
	sum->files++;
	sum->wall_ns += prf->wall_ns;
	for (i = 0; i < prf->nr; i++)
		add_image(sum, &prf->images[i], prf->period_ns);
	sum->time_ns += (double)(sum->numbers.ticks - before) * prf->period_ns;
	sum->period_ns = sum->numbers.ticks ?
		sum->time_ns / sum->numbers.ticks : prf->period_ns;
}

static int same_first(const void *a, const void *b)
{
	const struct sum_function *f = a, *g = b;

	if (f->object != g->object)
		return f->object < g->object ? -1 : 1;
	return strcmp(f->name, g->name);
}

static int more_first(const void *a, const void *b)
{
	const struct sum_function *f = a, *g = b;

	if (f->ticks != g->ticks)
		return f->ticks < g->ticks ? 1 : -1;
	return same_first(a, b);
}

static void add_functions(struct sum *sum, size_t index)
{
	const struct sum_object *object = &sum->objects[index];
	struct sum_function *function;
	size_t i;

	for (i = 0; i < object->nr_pieces; i++) {
		sum->functions = one_more(sum->functions, sum->nr_functions,
					  sizeof(*function));
		function = &sum->functions[sum->nr_functions++];
		function->name = copy(object->pieces[i].name);
		function->object = index;
		function->ticks = object->pieces[i].ticks;
	}
}

static void merge_functions(struct sum *sum)
{
	struct sum_function *list = sum->functions;
	size_t i, nr = 0;

	for (i = 0; i < sum->nr_functions; i++) {
		if (nr && !same_first(&list[nr - 1], &list[i])) {
			list[nr - 1].ticks += list[i].ticks;
			free(list[i].name);
			continue;
		}
		list[nr++] = list[i];
	}
	sum->nr_functions = nr;
}

/** sum_finish() - after the last file: each function once, most ticks first */
void sum_finish(struct sum *sum)
{
	size_t i;

	for (i = 0; i < sum->nr_objects; i++) {
		struct sum_object *object = &sum->objects[i];

		sum_find_pieces(object);
		add_functions(sum, i);
		sum->classes[object->class] += object->ticks;
		sum->placed += object->ticks;
	}
	if (sum->nr_functions) {
		qsort(sum->functions, sum->nr_functions,
		      sizeof(*sum->functions), same_first);
		merge_functions(sum);
		qsort(sum->functions, sum->nr_functions,
		      sizeof(*sum->functions), more_first);
	}
}

/** sum_object() - that of a mapping; NULL if it has no ticks */
const struct sum_object *sum_object(const struct sum *sum,
				    const struct prf_object *mapping)
{
	return find_object(sum, class_of(mapping->kind), mapping);
}

/** sum_adds_up() - whether every tick is accounted for */
bool sum_adds_up(const struct sum *sum)
{
	const struct prf_image *numbers = &sum->numbers;

	return numbers->ticks == numbers->counted + numbers->clipped +
		numbers->outside + numbers->lost + numbers->left_out &&
		numbers->counted == sum->bucket_ticks;
}

/** sum_percent() - of all ticks that are in one of the classes */
double sum_percent(const struct sum *sum, uint64_t ticks)
{
	return sum->placed ? 100.0 * ticks / sum->placed : 0;
}

/**
 * sum_error() - half of the 95 % interval of a share, in percent
 *
 * It is the normal approximation.
 */
double sum_error(const struct sum *sum, uint64_t ticks)
{
	double share = sum_percent(sum, ticks) / 100;

	return sum->placed ? 196 * sqrt(share * (1 - share) / sum->placed) : 0;
}

/** sum_class_name() - as people say now, and as MS-DOS PROFIL did */
const char *sum_class_name(enum sum_class class)
{
	static const char * const names[SUM_CLASSES] = {
		[SUM_PROGRAM] = "program",
		[SUM_LIBRARIES] = "libraries (DOS)",
		[SUM_KERNEL] = "kernel (I/O)",
		[SUM_ELSEWHERE] = "elsewhere (high)",
	};

	return names[class];
}

/** sum_object_name() - short name of an object */
const char *sum_object_name(const struct sum *sum, size_t object)
{
	return base_name(sum->objects[object].path);
}

/** sum_is_whole() - whether a function goes by the name of its object */
bool sum_is_whole(const struct sum *sum, const struct sum_function *function)
{
	return !strcmp(function->name, sum->objects[function->object].path);
}

/** clock_name() - what made the ticks */
const char *clock_name(uint32_t clock)
{
	switch (clock) {
	case PRF_CLOCK_PERF:
		return "perf (kernel module)";
	case PRF_CLOCK_HRTIMER:
		return "hrtimer (kernel module)";
	case PRF_CLOCK_PERF_EVENT_OPEN:
		return "perf_event_open";
	default:
		return "several";
	}
}

static void free_object(struct sum_object *object)
{
	size_t i;

	for (i = 0; i < object->nr_pieces; i++)
		free(object->pieces[i].name);
	symbols_close(&object->symbols);
	free(object->pieces);
	free(object->buckets);
	free(object->path);
}

/** sum_free() - free what a sum consists of */
void sum_free(struct sum *sum)
{
	size_t i;

	for (i = 0; i < sum->nr_objects; i++)
		free_object(&sum->objects[i]);
	for (i = 0; i < sum->nr_functions; i++)
		free(sum->functions[i].name);
	for (i = 0; i < sum->nr_missed; i++) {
		free(sum->missed[i].name);
		free(sum->missed[i].reason);
	}
	free(sum->objects);
	free(sum->functions);
	free(sum->missed);
	free(sum->command);
}
