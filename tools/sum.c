// SPDX-License-Identifier: GPL-2.0-only
/*
 * sum.c - adds files, and finds their functions
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "sum.h"
#include "symbols.h"

/* Room for one more; the tool can do nothing without memory. */
static void *one_more(void *array, size_t nr, size_t size)
{
	/* Room is doubled whenever the number is a power of two. */
	if (nr & (nr - 1))
		return array;
	array = reallocarray(array, nr ? 2 * nr : 1, size);
	if (!array)
		err(1, NULL);
	return array;
}

static char *copy(const char *string)
{
	char *new = strdup(string);

	if (!new)
		err(1, NULL);
	return new;
}

static enum sum_class class_of(uint32_t kind)
{
	if (kind == PRF_PROGRAM)
		return SUM_PROGRAM;
	return kind == PRF_ANONYMOUS ? SUM_ELSEWHERE : SUM_LIBRARIES;
}

static size_t find_object(struct sum *sum, const char *path,
			  enum sum_class class)
{
	struct sum_object *object;
	size_t i;

	for (i = 0; i < sum->nr_objects; i++)
		if (sum->objects[i].class == class &&
		    !strcmp(sum->objects[i].path, path))
			return i;
	sum->objects = one_more(sum->objects, sum->nr_objects,
				sizeof(*object));
	object = &sum->objects[sum->nr_objects];
	memset(object, 0, sizeof(*object));
	object->path = copy(path);
	object->class = class;
	return sum->nr_objects++;
}

/* Takes the name. */
static struct sum_function *add_function(struct sum *sum, size_t object,
					 char *name)
{
	struct sum_function *function;

	sum->functions = one_more(sum->functions, sum->nr_functions,
				  sizeof(*function));
	function = &sum->functions[sum->nr_functions++];
	function->name = name;
	function->object = object;
	function->ticks = 0;
	return function;
}

/* Ascending buckets: ticks belong to the last function or to a new one. */
static void add_object(struct sum *sum, const struct prf_object *object)
{
	size_t index = find_object(sum, object->path, class_of(object->kind));
	struct sum_function *function = NULL;
	struct symbol symbol = {};
	struct symbols symbols;
	size_t i;

	symbols_open(&symbols, object);
	if (symbols.problem)
		sum->objects[index].problem = symbols.problem;
	for (i = 0; i < object->nr; i++) {
		uint64_t offset = object->buckets[i].offset;

		if (!function || offset >= symbol.end) {
			if (symbols_find(&symbols, offset, &symbol))
				err(1, NULL);
			function = add_function(sum, index, symbol.name);
		}
		function->ticks += object->buckets[i].count;
		sum->objects[index].ticks += object->buckets[i].count;
		sum->bucket_ticks += object->buckets[i].count;
	}
	symbols_close(&symbols);
}

/* Ticks that are known by their class alone. */
static void add_whole(struct sum *sum, enum sum_class class, uint64_t ticks)
{
	const char *name = class == SUM_KERNEL ? "[kernel]" : "[elsewhere]";
	size_t object;

	if (!ticks)
		return;
	object = find_object(sum, name, class);
	sum->objects[object].ticks += ticks;
	add_function(sum, object, copy(name))->ticks = ticks;
}

static void add_missed(struct sum *sum, const struct prf_image *image)
{
	struct sum_missed *missed;

	sum->missed = one_more(sum->missed, sum->nr_missed, sizeof(*missed));
	missed = &sum->missed[sum->nr_missed++];
	missed->name = copy(image->name);
	missed->reason = copy(image->reason);
}

static void add_image(struct sum *sum, const struct prf_image *image)
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
			add_object(sum, &image->objects[i]);
	sum->bucket_ticks += image->kernel_count;
	add_whole(sum, SUM_KERNEL, image->kernel_count + image->left_out);
	add_whole(sum, SUM_ELSEWHERE, image->outside);
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
		add_image(sum, &prf->images[i]);
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

	if (sum->nr_functions) {
		qsort(sum->functions, sum->nr_functions,
		      sizeof(*sum->functions), same_first);
		merge_functions(sum);
		qsort(sum->functions, sum->nr_functions,
		      sizeof(*sum->functions), more_first);
	}
	for (i = 0; i < sum->nr_objects; i++) {
		sum->classes[sum->objects[i].class] += sum->objects[i].ticks;
		sum->placed += sum->objects[i].ticks;
	}
}

/** sum_adds_up() - whether every tick is accounted for */
bool sum_adds_up(const struct sum *sum)
{
	const struct prf_image *numbers = &sum->numbers;

	return numbers->ticks == numbers->counted + numbers->clipped +
		numbers->outside + numbers->lost + numbers->left_out &&
		numbers->counted == sum->bucket_ticks;
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

/** sum_free() - free what a sum consists of */
void sum_free(struct sum *sum)
{
	size_t i;

	for (i = 0; i < sum->nr_objects; i++)
		free(sum->objects[i].path);
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
