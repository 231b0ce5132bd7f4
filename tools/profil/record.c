// SPDX-License-Identifier: GPL-2.0-only
/*
 * record.c - make a profile of the table of a watch
 *
 * Each image becomes an exec, and each object in which it has ticks a DSO. A
 * watch sees files and offsets, not the addresses of mappings; so the DSOs of
 * an exec are laid out one after another.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profil/buckets.h"
#include "profil/cgroup.h"
#include "profil/names.h"
#include "profil/object.h"
#include "profil/record.h"
#include "profil/waits.h"
#include "symbolize/build_id.h"
#include "util/file.h"

/*
 * Address of an exec's first DSO, what the others keep between them, and the
 * last address for files
 */
#define FIRST	(1ULL << 22)
#define PAGE	4096ULL
#define LAST	INT64_MAX

#define KERNEL	"[kernel.kallsyms]"

/*
 * Bytes of all lists of code, and of names from them: some seconds of CPU time. Any
 * user may have a list for each of many processes.
 */
#define MOST_LISTED	(256u << 20)

/**
 * struct program - what ran already, while the first of its processes was there
 * @path: path of the program; NULL if that is not known
 * @is_64: it is a 64-bit program
 */
struct program {
	char *path;
	bool is_64;
};

/**
 * struct record - what record_add() works with
 * @session: options of the session
 * @table: the table of a watch
 * @prf: the profile to which it adds
 * @buckets: buckets with new ticks, and those of their callers
 * @next: the first bucket that is in no exec yet
 * @nr_images: number of images
 * @images: the images at the time of this record_add()
 * @images_before: those at the time of the one before
 * @programs: of the images
 * @nr_objects: number of objects
 * @objects: what their files say; path is NULL if that has not been read
 * @kernel: functions of the kernel that there were when they were read last
 * @has_kernel: they have been read in this record_add(), or there are none
 * @nameless: address for which they were read, and had no function; or 0
 * @cgroups: paths of the cgroups that there were when they were read last
 * @has_cgroups: they have been read in this record_add()
 * @unlisted: what is left of MOST_LISTED in this record_add()
 */
struct record {
	const struct session *session;
	const struct profil_watch_table *table;
	struct prf *prf;
	struct buckets buckets;
	size_t next;
	uint32_t nr_images;
	struct profil_watch_image *images;
	struct profil_watch_image *images_before;
	struct program *programs;
	uint32_t nr_objects;
	struct object *objects;
	struct ranges kernel;
	bool has_kernel;
	uint64_t nameless;
	struct cgroups cgroups;
	bool has_cgroups;
	size_t unlisted;
};

static void *grow_images(struct profil_watch_image **images, uint32_t before,
			 uint32_t nr)
{
	void *list = reallocarray(*images, nr, sizeof(**images));

	if (!list)
		return NULL;
	*images = list;
	return memset(*images + before, 0, (nr - before) * sizeof(**images));
}

static void *grow_programs(struct record *record, uint32_t nr)
{
	struct program *list = reallocarray(record->programs, nr,
					    sizeof(*list));

	if (!list)
		return NULL;
	record->programs = list;
	return memset(list + record->nr_images, 0,
		      (nr - record->nr_images) * sizeof(*list));
}

/*
 * Copy the images, at once and after buckets_read(), so that they have no fewer
 * ticks than their buckets; but see raise_counts().
 */
static int read_images(struct record *record)
{
	const struct profil_watch_table *table = record->table;
	uint32_t nr = __atomic_load_n(&table->nr_images, __ATOMIC_ACQUIRE), i;
	size_t size;

	if (!grow_images(&record->images, record->nr_images, nr) ||
	    !grow_images(&record->images_before, record->nr_images, nr) ||
	    !grow_programs(record, nr))
		return -1;
	record->nr_images = nr;
	/* Those of earlier modules are shorter */
	size = table->image_size < sizeof(*record->images) ?
		table->image_size : sizeof(*record->images);
	for (i = 0; i < nr; i++)
		memcpy(&record->images[i], profil_watch_image(table, i), size);
	return 0;
}

/* To be called after read_images(): all their objects are valid by then. */
static int prepare_objects(struct record *record)
{
	uint32_t nr = __atomic_load_n(&record->table->nr_objects,
				      __ATOMIC_ACQUIRE);
	struct object *objects;

	if (nr <= record->nr_objects)
		return 0;
	objects = reallocarray(record->objects, nr, sizeof(*objects));
	if (!objects)
		return -1;
	memset(objects + record->nr_objects, 0,
	       (nr - record->nr_objects) * sizeof(*objects));
	record->objects = objects;
	record->nr_objects = nr;
	return 0;
}

/*
 * The module has the path of a new file within some milliseconds. And a file may get
 * other contents.
 */
static void forget_changed(struct record *record)
{
	uint32_t i;

	for (i = PROFIL_OBJECT_FILES; i < record->nr_objects; i++) {
		struct object *object = &record->objects[i];

		if (object->path && (object->path[0] == '[' ||
		    object_has_changed(object,
				       profil_watch_object(record->table, i),
				       record->session->start_unix_ns)))
			object_free(object);
	}
}

/* What the file of an object says, or NULL if out of memory */
static struct object *object_of(struct record *record, uint32_t index)
{
	struct object *object = &record->objects[index];
	int failed = 0;

	if (object->path)
		return object;
	if (index >= PROFIL_OBJECT_FILES)
		failed = object_read(object, record->table, index,
				     record->session->start_unix_ns);
	else if (index == PROFIL_OBJECT_VDSO)
		failed = object_vdso(object);
	else
		object->path = strdup("[anonymous]");
	return failed || !object->path ? NULL : object;
}

/*
 * Is a process a 64-bit one? Its auxiliary vector begins with a small number, of 64
 * bits if so.
 */
static bool runs_64(uint32_t pid)
{
	uint32_t halves[2];
	bool is_64 = false;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/auxv", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fread(halves, sizeof(halves), 1, file) == 1)
		is_64 = !halves[0] || !halves[1];
	fclose(file);
	return is_64;
}

/* The program that a process runs, if it is still the same one */
static void find_program(const struct profil_watch_image *image,
			 struct program *program)
{
	char link[64], path[PATH_MAX], comm[sizeof(image->comm) + 1] = "";
	ssize_t length;
	FILE *file;

	snprintf(link, sizeof(link), "/proc/%u/comm", image->pid);
	file = image->pid ? fopen(link, "re") : NULL;
	if (file) {
		if (!fgets(comm, sizeof(comm), file))
			comm[0] = '\0';
		fclose(file);
	}
	comm[strcspn(comm, "\n")] = '\0';
	snprintf(link, sizeof(link), "/proc/%u/exe", image->pid);
	if (strncmp(comm, image->comm, sizeof(image->comm)))
		return;
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return;
	program->path = strndup(path, length);
	program->is_64 = runs_64(image->pid);
}

static char *name_of(struct record *record, uint32_t index)
{
	const struct profil_watch_image *image = &record->images[index];
	struct program *program = &record->programs[index];
	struct object *exe;

	if (!index)
		return strdup("[other programs]");
	if (image->flags & PROFIL_IMAGE_KTHREADS)
		return strdup("[kernel threads]");
	if (image->exe && image->exe < record->nr_objects) {
		exe = object_of(record, image->exe);
		return exe ? strdup(exe->path) : NULL;
	}
	if (!program->path)
		find_program(image, program);
	return program->path ? strdup(program->path) :
			       strndup(image->comm, sizeof(image->comm));
}

/* The image before, in this process or its parent; NULL if it is not known */
static const struct profil_watch_image *
image_before(const struct record *record, const struct profil_watch_image *image)
{
	if (!image->parent || image->parent >= record->nr_images)
		return NULL;
	return &record->images[image->parent];
}

static uint32_t parent_of(const struct record *record,
			  const struct profil_watch_image *image)
{
	uint32_t pid = image->pid;

	/* Images are in the order of their beginnings, so this ends */
	while ((image = image_before(record, image)))
		if (image->pid != pid)
			return image->pid;
	return record->session->target == TARGET_PROGRAM ? getpid() : 0;
}

static void raise_to(__u64 *count, uint64_t least)
{
	if (*count < least)
		*count = least;
}

/* Count the ticks of a bucket for its image. */
static void add_count(struct profil_watch_image *image,
		      const struct bucket *bucket)
{
	switch (bucket->object) {
	case PROFIL_OBJECT_KERNEL:
		image->kernel += bucket->count;
		break;
	case PROFIL_OBJECT_RUNNABLE:
		image->runnable += bucket->count;
		break;
	case PROFIL_OBJECT_BLOCKED:
		image->blocked += bucket->count;
		if (bucket->offset & PROFIL_WAIT_LONG)
			image->idle += bucket->count;
		break;
	default:
		image->counted += bucket->count;
		break;
	}
}

/*
 * A tick that came between buckets_read() and read_images() has been taken
 * with its image, and comes again with its bucket. Take as many for the image
 * as for its buckets, and so much less when it has others.
 */
static void raise_counts(struct record *record, uint32_t index)
{
	const struct profil_watch_image *before = &record->images_before[index];
	struct profil_watch_image *image = &record->images[index], least;
	size_t i;

	least = *before;
	for (i = record->next; i < record->buckets.nr &&
	     record->buckets.list[i].image == index; i++)
		add_count(&least, &record->buckets.list[i]);
	raise_to(&image->counted, least.counted);
	raise_to(&image->kernel, least.kernel);
	raise_to(&image->blocked, least.blocked);
	raise_to(&image->runnable, least.runnable);
	raise_to(&image->idle, least.idle);
}

/* An image, without the counts that have been taken before */
static struct profil_watch_image new_counts(struct record *record,
					    uint32_t index)
{
	const struct profil_watch_image *before = &record->images_before[index];
	struct profil_watch_image image;

	raise_counts(record, index);
	image = record->images[index];
	image.cpu_time_ns -= before->cpu_time_ns;
	image.counted -= before->counted;
	image.coarse -= before->coarse;
	image.kernel -= before->kernel;
	image.unresolved -= before->unresolved;
	image.blocked -= before->blocked;
	image.runnable -= before->runnable;
	image.idle -= before->idle;
	return image;
}

static void put_counts(const struct record *record,
		       const struct profil_watch_image *image,
		       struct prf_exec *exec)
{
	const struct profil_watch_image *before = image_before(record, image);
	uint64_t begin = record->session->start_ns;

	exec->pid = image->pid;
	exec->ppid = parent_of(record, image);
	exec->processes = image->processes;
	exec->continued = before && before->pid == image->pid;
	if (image->start_ns > begin)
		exec->start_ns = image->start_ns - begin;
	exec->cpu_ns = image->cpu_time_ns;
	exec->covered_ns = image->cpu_time_ns;
	exec->counted = image->counted;
	exec->coarse = image->coarse;
	exec->unresolved = image->unresolved;
	exec->kernel = image->kernel;
	if (record->session->user_only) {
		exec->left_out = image->kernel;
	} else {
		exec->counted += image->kernel;
		exec->kernel_count = image->kernel;
	}
	exec->ticks = image->counted + image->coarse + image->unresolved +
		image->kernel;
	exec->waits[PRF_RUNNABLE] = image->runnable;
	exec->waits[PRF_IDLE] = image->idle;
	if (image->blocked > image->idle)
		exec->waits[PRF_BLOCKED] = image->blocked - image->idle;
}

static enum prf_kind kind_of(const struct record *record, uint32_t index,
			     const struct prf_exec *exec,
			     const struct object *object)
{
	const char *name = strrchr(object->path, '/');

	if (index == PROFIL_OBJECT_VDSO)
		return PRF_VDSO;
	if (index == PROFIL_OBJECT_ANONYMOUS)
		return PRF_ANONYMOUS;
	if (!strcmp(object->path, exec->name))
		return PRF_PROGRAM;
	return name && !strncmp(name, "/ld-", 4) ? PRF_LOADER : PRF_LIBRARY;
}

/* Is the program of an image a 64-bit one? Otherwise its vDSO may be another one. */
static bool is_64(struct record *record, uint32_t image)
{
	uint32_t exe = record->images[image].exe;
	const struct object *object = exe && exe < record->nr_objects ?
		object_of(record, exe) : NULL;

	return object ? !object->is_32 : record->programs[image].is_64;
}

/* First address after the DSOs that an exec has so far */
static uint64_t free_address(const struct prf_exec *exec)
{
	uint64_t end = exec->nr ? exec->dsos[exec->nr - 1].end + PAGE : FIRST;

	return (end + PAGE - 1) & -PAGE;
}

/* Place a DSO that begins at @pgoff and ends at @end of its file. */
static void place(struct prf_dso *dso, uint64_t address, uint64_t pgoff,
		  uint64_t end)
{
	dso->pgoff = pgoff & -PAGE;
	dso->start = address;
	dso->end = address + (end - dso->pgoff);
}

/* Code that the process lists gets the name that perf(1) has for it. */
static int name_code(struct record *record, struct prf_dso *dso,
		     const struct profil_watch_image *image)
{
	char *path;

	if (perf_map_name(dso, image->pid, image->uid, &record->unlisted))
		return -1;
	if (!dso->nr_symbols)
		return 0;
	if (asprintf(&path, "/tmp/perf-%u.map", image->pid) < 0)
		return -1;
	free(dso->path);
	dso->path = path;
	return 0;
}

/* Code may be mapped from anywhere in a sparse file, of up to 8 EiB. */
static bool has_room(const struct prf_exec *exec, uint64_t size)
{
	return size <= LAST && free_address(exec) <= LAST - size;
}

/* Is a bucket of the same image and object as another? */
static bool is_with(const struct bucket *a,
		    const struct bucket *b)
{
	return a->image == b->image && a->object == b->object;
}

/* Count the ticks of buckets from @first up to record->next as coarse. */
static void leave_out(const struct record *record, struct prf_exec *exec,
		      const struct bucket *first)
{
	for (; first < &record->buckets.list[record->next]; first++) {
		exec->counted -= first->count;
		exec->coarse += first->count;
	}
}

/*
 * Add a bucket to its DSO. Several may be in one place, with other callers, and
 * callers have no ticks: see drop_empty().
 */
static int add_bucket(const struct prf_exec *exec, struct prf_dso *dso,
		      struct bucket *bucket)
{
	struct prf_bucket *last = dso->nr ? &dso->buckets[dso->nr - 1] : NULL;

	bucket->dso = dso - exec->dsos;
	bucket->at = bucket->offset - dso->pgoff;
	if (!last || last->offset != bucket->at)
		return prf_add_bucket(dso, bucket->at, bucket->count);
	last->count += bucket->count;
	return 0;
}

/* The code of callers has names by now; those without ticks are not needed. */
static void drop_empty(struct prf_dso *dso)
{
	size_t nr = 0, i;

	for (i = 0; i < dso->nr; i++)
		if (dso->buckets[i].count)
			dso->buckets[nr++] = dso->buckets[i];
	dso->nr = nr;
}

/* Add buckets from @first up to record->next to their DSO. */
static int add_buckets(struct record *record, const struct prf_exec *exec,
		       struct prf_dso *dso, struct bucket *first)
{
	const struct profil_watch_image *image = &record->images[first->image];

	for (; first < &record->buckets.list[record->next]; first++)
		if (add_bucket(exec, dso, first))
			return -1;
	/* Several processes may have other code at the same address */
	if (dso->kind == PRF_ANONYMOUS && image->processes == 1)
		return name_code(record, dso, image);
	return 0;
}

/* Say by what the file of a DSO is known again. */
static void identify(struct prf_dso *dso, const struct object *object)
{
	dso->build_id_len = object->build_id_len;
	memcpy(dso->build_id, object->build_id, sizeof(dso->build_id));
	dso->mount_ns = object->mount_ns;
	dso->pid = object->pid;
	dso->changed_ns = object->build_id_len ? 0 : object->changed_ns;
}

/* Add the DSO of an object, with all buckets that an image has in it. */
static int add_object(struct record *record, struct prf_exec *exec)
{
	struct bucket *first = &record->buckets.list[record->next];
	uint64_t address = free_address(exec), bytes = record->session->bucket;
	struct object *object = object_of(record, first->object);
	uint64_t start = first->offset, end = 0;
	struct prf_dso *dso;

	if (!object)
		return -1;
	for (; record->next < record->buckets.nr &&
	     is_with(&record->buckets.list[record->next], first); record->next++)
		end = record->buckets.list[record->next].offset + bytes;
	if (object->end && object->start < start)
		start = object->start & -bytes;
	if (object->end > end)
		end = object->end;
	if (!has_room(exec, end - (start & -PAGE))) {
		leave_out(record, exec, first);
		return 0;
	}
	dso = prf_add_dso(exec, object->path);
	if (!dso)
		return -1;
	dso->kind = kind_of(record, first->object, exec, object);
	dso->bucket_bytes = bytes;
	if (dso->kind != PRF_VDSO || is_64(record, first->image))
		identify(dso, object);
	place(dso, address, start, end);
	return add_buckets(record, exec, dso, first);
}

static struct prf_dso *find_dso(struct prf_exec *exec, const char *path)
{
	size_t i;

	for (i = 0; i < exec->nr; i++)
		if (exec->dsos[i].kind == PRF_KERNEL_TEXT &&
		    !strcmp(exec->dsos[i].path, path))
			return &exec->dsos[i];
	return NULL;
}

static void read_kernel_id(struct prf_dso *dso, const char *module)
{
	char path[320] = "/sys/kernel/notes";

	if (module)
		snprintf(path, sizeof(path),
			 "/sys/module/%s/notes/.note.gnu.build-id", module);
	dso->build_id_len = build_id_of_notes(path, dso->build_id,
					      sizeof(dso->build_id));
}

/* Address of the first function of the kernel or a module */
static uint64_t first_function(const struct record *record, const char *module)
{
	const struct range *range = record->kernel.list;

	while (module ? !range->module || strcmp(range->module, module) :
			!!range->module)
		range++;
	return range->start;
}

/* The DSO of the kernel or a module; offsets are from its first function. */
static struct prf_dso *kernel_dso(struct record *record, struct prf_exec *exec,
				  const char *module)
{
	struct prf_dso *dso;
	char path[300] = KERNEL;

	if (module)
		snprintf(path, sizeof(path), "[%s]", module);
	dso = find_dso(exec, path);
	if (dso)
		return dso;
	dso = prf_add_dso(exec, path);
	if (!dso)
		return NULL;
	dso->kind = PRF_KERNEL_TEXT;
	dso->bucket_bytes = record->session->bucket;
	dso->pgoff = first_function(record, module) & -PAGE;
	read_kernel_id(dso, module);
	return dso;
}

/* Name the functions of the kernel, and forget where this kernel is. */
static int finish_kernel_dso(struct record *record, struct prf_exec *exec,
			     struct prf_dso *dso)
{
	const struct range **of = calloc(dso->nr, sizeof(*of));
	uint64_t address = FIRST;
	int failed;
	size_t i;

	if (!of)
		return -1;
	for (i = 0; i < dso->nr; i++)
		of[i] = kallsyms_find(&record->kernel,
				      dso->pgoff + dso->buckets[i].offset);
	for (i = 0; &exec->dsos[i] < dso; i++)
		address = (exec->dsos[i].end + 2 * PAGE - 1) & -PAGE;
	place(dso, address, dso->pgoff, dso->pgoff +
	      dso->buckets[dso->nr - 1].offset + dso->bucket_bytes);
	failed = names_give(dso, of);
	dso->pgoff = 0;
	free(of);
	return failed;
}

/*
 * Find a function of the kernel. The list is read again, once for each record_add(),
 * if there is none: modules come and go. Not for the place that had none last, nor
 * without the right to read the list, which is empty then.
 */
static int find_kernel(struct record *record, uint64_t address,
		       const struct range **range)
{
	*range = kallsyms_find(&record->kernel, address);
	if (*range || record->has_kernel || record->nameless == address)
		return 0;
	record->has_kernel = true;
	ranges_free(&record->kernel);
	if (kallsyms_read(&record->kernel))
		return -1;
	*range = kallsyms_find(&record->kernel, address);
	if (!*range)
		record->nameless = address;
	return 0;
}

/* Add the ticks of an image in the functions of the kernel. */
static int add_kernel(struct record *record, struct prf_exec *exec)
{
	uint32_t image = record->buckets.list[record->next].image;
	size_t files = exec->nr, i;

	for (; record->next < record->buckets.nr; record->next++) {
		struct bucket *bucket = &record->buckets.list[record->next];
		const struct range *range;
		struct prf_dso *dso;

		if (bucket->image != image ||
		    bucket->object != PROFIL_OBJECT_KERNEL)
			break;
		bucket->dso = PRF_NODE_KERNEL;
		/* Without the address, it is only known that it is the kernel */
		range = NULL;
		if (bucket->offset &&
		    find_kernel(record, bucket->offset, &range))
			return -1;
		if (!range)
			continue;
		dso = kernel_dso(record, exec, range->module);
		if (!dso || add_bucket(exec, dso, bucket))
			return -1;
		exec->kernel_count -= bucket->count;
	}
	for (i = files; i < exec->nr; i++)
		if (finish_kernel_dso(record, exec, &exec->dsos[i]))
			return -1;
	return 0;
}

/* Add the DSO of a state, if it is not there yet. */
static struct prf_dso *wait_dso(struct prf_exec *exec, enum prf_state state)
{
	struct prf_dso *dso = waits_find(exec, state);

	return dso ?: waits_add(exec, state, free_address(exec));
}

/* Add the waits of an image in one object: long ones are behind the others. */
static int add_waits(struct record *record, struct prf_exec *exec)
{
	const struct bucket *first = &record->buckets.list[record->next];
	struct prf_dso *dso;

	for (; record->next < record->buckets.nr &&
	     is_with(&record->buckets.list[record->next], first);
	     record->next++) {
		struct bucket *bucket = &record->buckets.list[record->next];

		dso = wait_dso(exec, wait_state(bucket->object,
						bucket->offset));
		if (!dso)
			return -1;
		bucket->offset = wait_offset(bucket->offset);
		if (add_bucket(exec, dso, bucket))
			return -1;
	}
	return 0;
}

/* Add the waits that found no bucket in the table, and name all. */
static int finish_waits(struct prf_exec *exec,
			struct buckets_rest rests[PRF_STATES])
{
	enum prf_state state;
	struct prf_dso *dso;

	for (state = PRF_RUNNABLE; state < PRF_STATES; state++) {
		if (!exec->waits[state])
			continue;
		dso = wait_dso(exec, state);
		if (!dso)
			return -1;
		rests[state].dso = dso - exec->dsos;
		rests[state].ticks = waits_unplaced(exec, state);
		dso->buckets->count += rests[state].ticks;
		if (waits_name(dso))
			return -1;
	}
	return 0;
}

static int add_dsos(struct record *record, struct prf_exec *exec,
		    uint32_t image)
{
	int failed = 0;

	while (!failed && record->next < record->buckets.nr &&
	       record->buckets.list[record->next].image == image) {
		uint32_t object = record->buckets.list[record->next].object;

		if (object >= record->nr_objects)
			record->next++;
		else if (object == PROFIL_OBJECT_KERNEL)
			failed = add_kernel(record, exec);
		else if (bucket_waits(object))
			failed = add_waits(record, exec);
		else
			failed = add_object(record, exec);
	}
	return failed;
}

/* If the program itself has no ticks, it is nevertheless part of the profile. */
static int add_program(struct record *record, struct prf_exec *exec,
		       uint32_t exe)
{
	uint64_t address = free_address(exec);
	const struct object *object;
	struct prf_dso *dso;
	size_t i;

	for (i = 0; i < exec->nr; i++)
		if (exec->dsos[i].kind == PRF_PROGRAM)
			return 0;
	object = exe && exe < record->nr_objects ? object_of(record, exe) :
						   NULL;
	if (!object || !object->end ||
	    !has_room(exec, object->end - (object->start & -PAGE)))
		return 0;
	dso = prf_add_dso(exec, object->path);
	if (!dso)
		return -1;
	dso->kind = PRF_PROGRAM;
	dso->bucket_bytes = record->session->bucket;
	identify(dso, object);
	place(dso, address, object->start, object->end);
	return 0;
}

/*
 * Has an image run, or waited while that was counted? Most processes of a machine
 * only wait.
 */
static bool has_run(const struct profil_watch_image *image)
{
	return image->cpu_time_ns || image->counted || image->coarse ||
		image->kernel || image->unresolved || image->blocked ||
		image->runnable;
}

/*
 * Paths of cgroups, read once for each record_add() that finds a new one; without
 * memory for them, they stay unknown.
 */
static const char *cgroup_of(struct record *record,
			     const struct profil_watch_image *image)
{
	const char *path = cgroups_path(&record->cgroups, image->cgroup);

	if (*path || record->has_cgroups)
		return path;
	record->has_cgroups = true;
	cgroups_free(&record->cgroups);
	if (cgroups_read(&record->cgroups))
		cgroups_free(&record->cgroups);
	return cgroups_path(&record->cgroups, image->cgroup);
}

static int add_image(struct record *record, uint32_t index)
{
	const struct profil_watch_image image = new_counts(record, index);
	struct buckets_rest rests[PRF_STATES] = {};
	struct prf_exec *exec;
	size_t first, i;
	char *name;

	if (!has_run(&image)) {
		/* Only callers of ticks that the last reading has counted */
		while (record->next < record->buckets.nr &&
		       record->buckets.list[record->next].image == index)
			record->next++;
		return 0;
	}
	name = name_of(record, index);
	exec = name ? prf_add_exec(record->prf, name, "") : NULL;
	free(name);
	if (!exec || prf_set_cgroup(exec, cgroup_of(record, &image)))
		return -1;
	put_counts(record, &image, exec);
	first = record->next;
	if (add_dsos(record, exec, index) ||
	    add_program(record, exec, image.exe) ||
	    finish_waits(exec, rests) ||
	    buckets_add_nodes(&record->buckets, exec, first, record->next,
			      rests))
		return -1;
	for (i = 0; i < exec->nr; i++)
		drop_empty(&exec->dsos[i]);
	return 0;
}

static int add_images(struct record *record)
{
	uint32_t i;

	for (i = 0; i < record->nr_images; i++)
		if (add_image(record, i))
			return -1;
	memcpy(record->images_before, record->images,
	       record->nr_images * sizeof(*record->images));
	return 0;
}

/**
 * record_new() - prepare to make profiles of the table of a watch
 * @session: options
 * @table: the table
 *
 * Return: for record_free(), or NULL if out of memory.
 */
struct record *record_new(const struct session *session,
			  const struct profil_watch_table *table)
{
	struct record *record = calloc(1, sizeof(*record));

	if (!record)
		return NULL;
	/* What runs may change its files while they are read */
	file_survive_cuts();
	record->session = session;
	record->table = table;
	if (!buckets_init(&record->buckets, table, !session->flat))
		return record;
	buckets_free(&record->buckets);
	free(record);
	return NULL;
}

/**
 * record_add() - add the execs of a watch to a profile
 * @record: of record_new()
 * @prf: the profile; gets the ticks since the last call, or all at first
 *
 * Return: 0, or -1 with errno if out of memory.
 */
int record_add(struct record *record, struct prf *prf)
{
	record->prf = prf;
	record->next = 0;
	record->has_cgroups = false;
	record->unlisted = MOST_LISTED;
	record->has_kernel &= !record->kernel.nr;
	forget_changed(record);
	if (!buckets_read(&record->buckets, record->session->user_only) &&
	    !read_images(record) && !prepare_objects(record) &&
	    !add_images(record))
		return 0;
	errno = ENOMEM;
	return -1;
}

void record_free(struct record *record)
{
	uint32_t i;

	if (!record)
		return;
	for (i = 0; i < record->nr_objects; i++)
		object_free(&record->objects[i]);
	free(record->objects);
	for (i = 0; i < record->nr_images; i++)
		free(record->programs[i].path);
	free(record->programs);
	free(record->images);
	free(record->images_before);
	buckets_free(&record->buckets);
	ranges_free(&record->kernel);
	cgroups_free(&record->cgroups);
	free(record);
}

/**
 * record_table() - add the execs of a watch to the profile of a session
 * @session: the session
 * @table: the table of the watch
 *
 * Return: 0, or -1 with errno if out of memory.
 */
int record_table(struct session *session,
		 const struct profil_watch_table *table)
{
	struct record *record = record_new(session, table);
	int failed;

	if (!record)
		return -1;
	failed = record_add(record, &session->prf);
	record_free(record);
	return failed;
}
