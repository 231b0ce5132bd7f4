// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch.c - a watch of the kernel module, and its table
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profil/watch.h"

/**
 * watch_info() - ask the device for its features and limits
 *
 * Return: 0, or -1 with errno if there is no device, or one without watches.
 */
int watch_info(struct profil_info *info)
{
	int fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	int result, error;

	if (fd < 0)
		return -1;
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	result = ioctl(fd, PROFIL_IOC_INFO, info);
	error = errno;
	close(fd);
	errno = error;
	if (!result && !info->watch_flags) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return result;
}

static uint32_t flags_of(const struct session *session)
{
	uint32_t flags = 0;

	if (session->target == TARGET_PROGRAM)
		flags |= PROFIL_WATCH_CHILDREN | PROFIL_WATCH_AT_EXEC;
	else if (session->target == TARGET_PROCESSES)
		flags |= PROFIL_WATCH_CHILDREN;
	if (session->per_process)
		flags |= PROFIL_WATCH_SEPARATE;
	if (session->kernel && !session->user_only)
		flags |= PROFIL_WATCH_KERNEL_TEXT;
	return flags;
}

/* Set target and ID of a request; @directory receives a descriptor or -1. */
static int set_target(struct profil_watch *request,
		      const struct session *session, pid_t pid, int *directory)
{
	*directory = -1;
	switch (session->target) {
	case TARGET_PROGRAM:
	case TARGET_PROCESSES:
		request->target = PROFIL_WATCH_PROCESS;
		request->id = pid;
		break;
	case TARGET_USER:
		request->target = PROFIL_WATCH_USER;
		request->id = session->uid;
		break;
	case TARGET_MACHINE:
		request->target = PROFIL_WATCH_MACHINE;
		break;
	case TARGET_CGROUP:
		request->target = PROFIL_WATCH_CGROUP;
		*directory = open(session->cgroup,
				  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		request->id = *directory;
		return *directory < 0 ? -1 : 0;
	}
	return 0;
}

static const char *map(struct watch *watch, uint64_t size)
{
	void *table = mmap(NULL, size, PROT_READ, MAP_SHARED, watch->fd, 0);

	if (table == MAP_FAILED)
		return "mmap";
	watch->table = table;
	watch->size = size;
	if (watch->table->version == PROFIL_WATCH_VERSION)
		return NULL;
	errno = EPROTO;
	return "the table of the module has another version";
}

/**
 * watch_start() - start a watch, and map its table
 * @watch: receives the watch; for watch_end(), even on failure
 * @session: target and options
 * @pid: the process, if the target is one
 * @period_ns: receives the actual mean period
 *
 * Return: NULL, or the name of what failed, with errno.
 */
const char *watch_start(struct watch *watch, const struct session *session,
			pid_t pid, uint64_t *period_ns)
{
	struct profil_watch request = {
		.size = sizeof(request),
		.flags = flags_of(session),
		.period_ns = session->asked_ns,
		.bucket_shift = __builtin_ctz(session->bucket),
	};
	int directory, result;

	memset(watch, 0, sizeof(*watch));
	watch->fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	if (watch->fd < 0)
		return PROFIL_DEVICE;
	if (set_target(&request, session, pid, &directory))
		return "open";
	result = ioctl(watch->fd, PROFIL_IOC_WATCH, &request);
	if (directory >= 0)
		close(directory);
	if (result)
		return "PROFIL_IOC_WATCH";
	*period_ns = request.period_ns;
	return map(watch, request.map_size);
}

/**
 * watch_status() - read the stats of a watch, or stop it
 * @watch: the watch
 * @request: PROFIL_IOC_WATCH_STATUS, or PROFIL_IOC_WATCH_STOP; the table stays
 * @status: receives the stats
 *
 * Return: 0, or -1 with errno.
 */
int watch_status(const struct watch *watch, unsigned long request,
		 struct profil_watch_status *status)
{
	memset(status, 0, sizeof(*status));
	status->size = sizeof(*status);
	return ioctl(watch->fd, request, status);
}

/** watch_end() - unmap the table, and close the device */
void watch_end(struct watch *watch)
{
	if (watch->table)
		munmap((void *)watch->table, watch->size);
	if (watch->fd >= 0)
		close(watch->fd);
	watch->table = NULL;
	watch->fd = -1;
}

/** watch_images() - number of images that are valid now */
uint32_t watch_images(const struct watch *watch)
{
	return __atomic_load_n(&watch->table->nr_images, __ATOMIC_ACQUIRE);
}

/** watch_objects() - number of objects that are valid now */
uint32_t watch_objects(const struct watch *watch)
{
	return __atomic_load_n(&watch->table->nr_objects, __ATOMIC_ACQUIRE);
}

static const void *at(const struct watch *watch, uint64_t array, uint32_t size,
		      uint32_t index)
{
	return (const char *)watch->table + array + (uint64_t)size * index;
}

/** watch_image() - an image, by its index below watch_images() */
const struct profil_watch_image *watch_image(const struct watch *watch,
					     uint32_t index)
{
	return at(watch, watch->table->images, watch->table->image_size, index);
}

/** watch_object() - an object, by its index below watch_objects() */
const struct profil_watch_object *watch_object(const struct watch *watch,
					       uint32_t index)
{
	return at(watch, watch->table->objects, watch->table->object_size,
		  index);
}

/**
 * watch_bucket() - read a slot of the hash table
 * @watch: the watch
 * @slot: index below max_buckets
 * @bucket: receives the bucket, with the offset in bytes
 *
 * Return: whether there is a bucket.
 */
bool watch_bucket(const struct watch *watch, uint32_t slot,
		  struct watch_bucket *bucket)
{
	const struct profil_watch_table *table = watch->table;
	const struct profil_watch_bucket *found =
		at(watch, table->buckets, table->bucket_size, slot);

	bucket->object = __atomic_load_n(&found->object, __ATOMIC_ACQUIRE);
	if (!bucket->object)
		return false;
	bucket->image = found->image;
	bucket->offset = found->offset << table->bucket_shift;
	bucket->count = __atomic_load_n(&found->count, __ATOMIC_RELAXED);
	return true;
}

/** watch_path() - path of an object, or NULL if it is not known */
const char *watch_path(const struct watch *watch, uint32_t object)
{
	uint32_t path = __atomic_load_n(&watch_object(watch, object)->path,
					__ATOMIC_ACQUIRE);

	return path ? at(watch, watch->table->names, 1, path) : NULL;
}
