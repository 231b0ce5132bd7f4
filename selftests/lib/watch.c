// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch.c - helpers for the tests of watches
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "watch.h"

#define PARAMETERS	"/sys/module/profil/parameters/"

/* --- beginning and ending */

/* A request with a tick for each millisecond and the device's own sizes. */
struct profil_watch watch_request(uint32_t target, uint32_t id, uint32_t flags)
{
	struct profil_watch request = {
		.size = sizeof(request),
		.flags = flags,
		.target = target,
		.id = id,
		.period_ns = MS,
	};

	return request;
}

/* Begin a watch and map its table; -1 and errno if the device refuses. */
int watch_begin(struct watch *watch, const struct profil_watch *request)
{
	int error;

	watch->as = *request;
	watch->table = NULL;
	watch->fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	if (watch->fd < 0)
		return -1;
	if (!ioctl(watch->fd, PROFIL_IOC_WATCH, &watch->as)) {
		watch->table = mmap(NULL, watch->as.map_size, PROT_READ,
				    MAP_SHARED, watch->fd, 0);
		if (watch->table != MAP_FAILED)
			return 0;
	}
	error = errno;
	close(watch->fd);
	watch->fd = -1;
	watch->table = NULL;
	errno = error;
	return -1;
}

int watch_process(struct watch *watch, pid_t pid, uint32_t flags)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS, pid,
						    flags);

	return watch_begin(watch, &request);
}

/* Begin a watch and end it. Return: 0, or the error number. */
int watch_try(const struct profil_watch *request)
{
	struct watch watch;

	if (watch_begin(&watch, request))
		return errno;
	watch_end(&watch);
	return 0;
}

void watch_end(struct watch *watch)
{
	if (watch->table)
		munmap((void *)watch->table, watch->as.map_size);
	if (watch->fd >= 0)
		close(watch->fd);
	watch->table = NULL;
	watch->fd = -1;
}

/* --- status */

static struct profil_watch_status ask(const struct watch *watch,
				      unsigned int request)
{
	struct profil_watch_status status = { .size = sizeof(status) };

	if (ioctl(watch->fd, request, &status))
		memset(&status, 0xee, sizeof(status));
	return status;
}

/* The stats; each byte is 0xee if the request fails. */
struct profil_watch_status watch_status(const struct watch *watch)
{
	return ask(watch, PROFIL_IOC_WATCH_STATUS);
}

struct profil_watch_status watch_stop(const struct watch *watch)
{
	return ask(watch, PROFIL_IOC_WATCH_STOP);
}

/*
 * The stats once at most @processes are watched and no tick is pending: the
 * kernel drops a process a little after wait() returns.
 */
struct profil_watch_status watch_settled(const struct watch *watch,
					 uint32_t processes)
{
	struct profil_watch_status status = watch_status(watch);
	int tries = 10000;

	while ((status.processes > processes || status.pending) && --tries) {
		usleep(1000);
		status = watch_status(watch);
	}
	return status;
}

/* Every tick has exactly one outcome, in any status at any time. */
bool watch_conserved(const struct profil_watch_status *status)
{
	return status->ticks == status->counted + status->coarse +
				status->kernel + status->unresolved;
}

/* No number of a later status is less. */
bool watch_goes_on(const struct profil_watch_status *last,
		   const struct profil_watch_status *now)
{
	return now->cpu_time_ns >= last->cpu_time_ns &&
	       now->ticks >= last->ticks && now->counted >= last->counted &&
	       now->coarse >= last->coarse && now->kernel >= last->kernel &&
	       now->unresolved >= last->unresolved &&
	       now->withheld >= last->withheld &&
	       now->unfollowed >= last->unfollowed &&
	       now->images >= last->images && now->objects >= last->objects &&
	       now->buckets >= last->buckets && now->names >= last->names &&
	       now->blocked >= last->blocked &&
	       now->runnable >= last->runnable && now->idle >= last->idle &&
	       now->unfollowed_threads >= last->unfollowed_threads;
}

/* Those of threads that ran, and of those that did not. */
uint64_t all_ticks(const struct profil_watch_status *status)
{
	return status->ticks + status->blocked + status->runnable +
	       status->asleep_blocked + status->asleep_runnable;
}

#define READINGS	200

/**
 * watch_missing() - compare the ticks of threads with their lives
 * @watch: a watch with PROFIL_WATCH_WALL
 * @since: when it began
 * @nr: threads that have lived since then, all that there are
 * @status: receives the status
 *
 * A wait that ends while a status is read may be in neither of its numbers, and on a
 * busy host the tick of one who runs may come late: they are in one of the next.
 *
 * Return: 0; how many ticks are missing; or, negative, how many there should not be.
 */
int64_t watch_missing(const struct watch *watch, const struct life *since,
		      uint64_t nr, struct profil_watch_status *status)
{
	int64_t missing = 0, excess;

	for (int i = 0; i < READINGS; i++) {
		uint64_t from = monotonic_ns(), to;

		*status = watch_status(watch);
		to = monotonic_ns();
		excess = all_ticks(status) -
			 nr * ((to - since->longest) / status->period_ns + CUT);
		if (excess > 0)
			return -excess;
		missing = nr * ((from - since->shortest) / status->period_ns) -
			  (all_ticks(status) + status->pending + nr * CUT);
		if (missing <= 0)
			return 0;
		sleep_ns(5 * MS);
	}
	return missing;
}

/* --- the table */

static const void *at(const struct watch *watch, uint64_t offset)
{
	return (const char *)watch->table + offset;
}

uint32_t watch_nr_images(const struct watch *watch)
{
	return __atomic_load_n(&watch->table->nr_images, __ATOMIC_ACQUIRE);
}

uint32_t watch_nr_objects(const struct watch *watch)
{
	return __atomic_load_n(&watch->table->nr_objects, __ATOMIC_ACQUIRE);
}

const struct profil_watch_image *watch_image(const struct watch *watch,
					     uint32_t image)
{
	return at(watch, watch->table->images +
			 (uint64_t)image * watch->table->image_size);
}

const struct profil_watch_object *watch_object(const struct watch *watch,
					       uint32_t object)
{
	return at(watch, watch->table->objects +
			 (uint64_t)object * watch->table->object_size);
}

const struct profil_watch_bucket *watch_bucket(const struct watch *watch,
					       uint32_t bucket)
{
	return at(watch, watch->table->buckets +
			 (uint64_t)bucket * watch->table->bucket_size);
}

bool watch_in_use(const struct profil_watch_bucket *bucket)
{
	return __atomic_load_n(&bucket->object, __ATOMIC_ACQUIRE);
}

/* The path of an object; "" if it is not known. */
const char *watch_path(const struct watch *watch, uint32_t object)
{
	uint32_t path = __atomic_load_n(&watch_object(watch, object)->path,
					__ATOMIC_ACQUIRE);

	return path ? at(watch, watch->table->names + path) : "";
}

/* A worker of the kernel fills in the paths some milliseconds later. */
const char *watch_path_soon(const struct watch *watch, uint32_t object)
{
	int tries = 5000;

	while (!watch_path(watch, object)[0] && --tries)
		usleep(1000);
	return watch_path(watch, object);
}

/* The last image with that name; 0 if there is none. */
uint32_t watch_find_image(const struct watch *watch, const char *comm)
{
	uint32_t image = watch_nr_images(watch);

	while (--image)
		if (!strcmp(watch_image(watch, image)->comm, comm))
			break;
	return image;
}

/* The last image whose first process was @pid; 0 if there is none. */
uint32_t watch_find_pid(const struct watch *watch, pid_t pid)
{
	uint32_t image = watch_nr_images(watch);

	while (--image)
		if (watch_image(watch, image)->pid == pid)
			break;
	return image;
}

/* The first object with that path; 0 if there is none. */
uint32_t watch_find_object(const struct watch *watch, const char *path)
{
	uint32_t nr = watch_nr_objects(watch);

	for (uint32_t i = PROFIL_OBJECT_FILES; i < nr; i++)
		if (!strcmp(watch_path_soon(watch, i), path))
			return i;
	return 0;
}

/* The mapping of this process that @text is in. */
static bool find_mapping(const void *text, uintptr_t *start, uint64_t *offset,
			 char path[4096])
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to, begin;
	bool found = false;
	char line[4400];

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		path[0] = '\0';
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %4095[^\n]", &from,
			   &to, &begin, path) < 3)
			continue;
		found = (uintptr_t)text >= from && (uintptr_t)text < to;
	}
	if (maps)
		fclose(maps);
	*start = from;
	*offset = begin;
	return found;
}

/* The object of this program's or a library's file that @text is in. */
uint32_t watch_own_object(const struct watch *watch, const void *text)
{
	char path[4096];
	uint64_t offset;
	uintptr_t start;

	if (!find_mapping(text, &start, &offset, path))
		return 0;
	return watch_find_object(watch, path);
}

/* The offset of @text in the file that this process has mapped there. */
uint64_t watch_offset(const void *text)
{
	char path[4096];
	uint64_t offset;
	uintptr_t start;

	return find_mapping(text, &start, &offset, path) ?
	       offset + ((uintptr_t)text - start) : 0;
}

static uint64_t count_of(const struct profil_watch_bucket *bucket)
{
	return __atomic_load_n(&bucket->count, __ATOMIC_RELAXED);
}

/* Ticks in the buckets of an image, or of all, in an object. */
uint64_t watch_ticks(const struct watch *watch, uint32_t image, uint32_t object)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < watch->table->max_buckets; i++) {
		const struct profil_watch_bucket *bucket =
			watch_bucket(watch, i);

		if (!watch_in_use(bucket) || bucket->object != object)
			continue;
		if (image == WATCH_ANY || bucket->image == image)
			sum += count_of(bucket);
	}
	return sum;
}

/* Ticks in the buckets of an object, from one offset to another. */
uint64_t watch_ticks_at(const struct watch *watch, uint32_t object,
			uint64_t from, uint64_t to)
{
	unsigned int shift = watch->table->bucket_shift;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < watch->table->max_buckets; i++) {
		const struct profil_watch_bucket *bucket =
			watch_bucket(watch, i);

		if (!watch_in_use(bucket) || bucket->object != object)
			continue;
		if (bucket->offset >= from >> shift &&
		    bucket->offset < (to + (1 << shift) - 1) >> shift)
			sum += count_of(bucket);
	}
	return sum;
}

/* Ticks of a function of this program or of a library. */
uint64_t watch_ticks_of(const struct watch *watch, const void *text,
			const void *end)
{
	char path[4096];
	uint64_t offset;
	uintptr_t start;

	if (!find_mapping(text, &start, &offset, path))
		return 0;
	offset += (uintptr_t)text - start;
	return watch_ticks_at(watch, watch_find_object(watch, path), offset,
			      offset + ((uintptr_t)end - (uintptr_t)text));
}

uint64_t image_ticks(const struct profil_watch_image *image)
{
	return image->counted + image->coarse + image->kernel +
	       image->unresolved;
}

/* --- is the table sound? */

struct sums {
	uint64_t counted;
	uint64_t coarse;
	uint64_t kernel;
	uint64_t unresolved;
	uint64_t cpu_time_ns;
	uint64_t blocked;
	uint64_t runnable;
	uint64_t idle;
};

static bool is_room(const struct watch *watch, uint64_t offset, uint64_t size)
{
	return offset % 8 == 0 && offset >= sizeof(*watch->table) &&
	       offset <= watch->as.map_size &&
	       size <= watch->as.map_size - offset;
}

static bool has_chains(const struct watch *watch)
{
	return watch->as.flags & PROFIL_WATCH_CHAINS;
}

static uint32_t bucket_size(const struct watch *watch)
{
	return has_chains(watch) ? sizeof(struct profil_watch_bucket) :
				   offsetof(struct profil_watch_bucket, caller);
}

/* May the caller of a bucket be this one? */
static bool is_caller(const struct watch *watch, uint32_t bucket,
		      uint32_t caller)
{
	const struct profil_watch_bucket *at;

	if (!caller || caller == PROFIL_CALLER_UNKNOWN)
		return true;
	if (caller > watch->table->max_buckets || caller == bucket + 1)
		return false;
	at = watch_bucket(watch, caller - 1);
	return watch_in_use(at) &&
	       at->image == watch_bucket(watch, bucket)->image &&
	       (at->object < PROFIL_OBJECT_KERNEL ||
		at->object >= PROFIL_OBJECT_FILES);
}

static const char *fault_of_header(const struct watch *watch,
				   const struct profil_watch_status *status)
{
	const struct profil_watch_table *table = watch->table;

	if (table->version != PROFIL_WATCH_VERSION)
		return "version";
	if (table->bucket_shift != watch->as.bucket_shift)
		return "shift of the buckets";
	if (table->nr_images != status->images ||
	    table->nr_images < 1 || table->nr_images > watch->as.images)
		return "number of images";
	if (table->nr_objects != status->objects ||
	    table->nr_objects < PROFIL_OBJECT_FILES ||
	    table->nr_objects > watch->as.objects)
		return "number of objects";
	if (table->max_buckets != watch->as.buckets ||
	    table->max_buckets & (table->max_buckets - 1))
		return "number of buckets";
	if (table->image_size != sizeof(struct profil_watch_image) ||
	    table->object_size != sizeof(struct profil_watch_object) ||
	    table->bucket_size != bucket_size(watch))
		return "sizes of the structures";
	if (!is_room(watch, table->images,
		     (uint64_t)watch->as.images * table->image_size) ||
	    !is_room(watch, table->objects,
		     (uint64_t)watch->as.objects * table->object_size) ||
	    !is_room(watch, table->buckets,
		     (uint64_t)table->max_buckets * table->bucket_size) ||
	    !is_room(watch, table->names, table->names_size))
		return "place of an array";
	if (table->names_size != watch->as.names ||
	    status->names > table->names_size)
		return "room for the paths";
	return NULL;
}

static const char *fault_of_images(const struct watch *watch, struct sums *sums)
{
	for (uint32_t i = 0; i < watch_nr_images(watch); i++) {
		const struct profil_watch_image *image = watch_image(watch, i);

		if (image->parent >= watch_nr_images(watch))
			return "parent of an image";
		if (image->exe && (image->exe < PROFIL_OBJECT_FILES ||
				   image->exe >= watch_nr_objects(watch)))
			return "executable of an image";
		if (!memchr(image->comm, '\0', sizeof(image->comm)))
			return "name of an image";
		if (image->flags & ~PROFIL_IMAGE_KTHREADS)
			return "flags of an image";
		sums->counted += image->counted;
		sums->coarse += image->coarse;
		sums->kernel += image->kernel;
		sums->unresolved += image->unresolved;
		sums->cpu_time_ns += image->cpu_time_ns;
		sums->blocked += image->blocked;
		sums->runnable += image->runnable;
		sums->idle += image->idle;
	}
	return NULL;
}

static const char *fault_of_objects(const struct watch *watch,
				    const struct profil_watch_status *status,
				    uint64_t *coarse)
{
	for (uint32_t i = 0; i < watch_nr_objects(watch); i++) {
		const struct profil_watch_object *object =
			watch_object(watch, i);
		uint32_t at = __atomic_load_n(&object->path, __ATOMIC_ACQUIRE);
		const char *path = watch_path(watch, i);
		uint32_t names = status->names;

		if (i < PROFIL_OBJECT_FILES && at)
			return "path of what is not a file";
		/* It may have been found since the status was read */
		if (at >= names)
			names = watch_status(watch).names;
		if (at && at >= names)
			return "place of a path";
		if (at && path[0] != '/' && path[0] != '(')
			return path;
		if (at && !memchr(path, '\0', names - at))
			return "end of a path";
		if (i < PROFIL_OBJECT_KERNEL || i >= PROFIL_OBJECT_FILES)
			*coarse += object->coarse;
	}
	return NULL;
}

static const char *fault_of_buckets(const struct watch *watch,
				    const struct profil_watch_status *status,
				    uint64_t *counted)
{
	uint64_t ticks[PROFIL_OBJECT_FILES] = { 0 };
	uint64_t idle = 0;
	uint32_t used = 0;

	for (uint32_t i = 0; i < watch->table->max_buckets; i++) {
		const struct profil_watch_bucket *bucket =
			watch_bucket(watch, i);

		if (!bucket->object && bucket->count)
			return "ticks in a bucket that is not in use";
		if (!bucket->object)
			continue;
		used++;
		if (bucket->object >= watch_nr_objects(watch))
			return "object of a bucket";
		if (bucket->image >= watch_nr_images(watch))
			return "image of a bucket";
		if (has_chains(watch) ? !is_caller(watch, i, bucket->caller) :
					!bucket->count)
			return "bucket without a tick, or without a caller";
		if (bucket->object >= PROFIL_OBJECT_KERNEL &&
		    bucket->object < PROFIL_OBJECT_FILES)
			ticks[bucket->object] += bucket->count;
		else
			*counted += bucket->count;
		if (bucket->object == PROFIL_OBJECT_BLOCKED &&
		    bucket->offset & PROFIL_WAIT_LONG)
			idle += bucket->count;
	}
	if (used != status->buckets)
		return "number of buckets in use";
	if (ticks[PROFIL_OBJECT_KERNEL] > status->kernel)
		return "ticks in buckets of the kernel";
	if (idle > status->idle)
		return "ticks in buckets of long waits";
	for (uint32_t i = PROFIL_OBJECT_BLOCKED; i < PROFIL_OBJECT_FILES; i++)
		ticks[i] += watch_object(watch, i)->coarse;
	if (ticks[PROFIL_OBJECT_BLOCKED] != status->blocked ||
	    ticks[PROFIL_OBJECT_RUNNABLE] != status->runnable)
		return "ticks of threads that did not run";
	return NULL;
}

/**
 * watch_fault() - compare all numbers of a table
 * @watch: a watch that takes no tick meanwhile
 * @status: its status
 *
 * Return: what is wrong, or NULL.
 */
const char *watch_fault(const struct watch *watch,
			const struct profil_watch_status *status)
{
	uint64_t counted = 0, coarse = 0;
	struct sums sums = { 0 };
	const char *fault;

	fault = fault_of_header(watch, status) ?:
		fault_of_images(watch, &sums) ?:
		fault_of_objects(watch, status, &coarse) ?:
		fault_of_buckets(watch, status, &counted);
	if (fault)
		return fault;
	if (status->pending)
		return "pending ticks";
	if (sums.counted != status->counted || counted != status->counted)
		return "sum of counted ticks";
	if (sums.coarse != status->coarse || coarse != status->coarse)
		return "sum of coarse ticks";
	if (sums.kernel != status->kernel)
		return "sum of ticks in kernel mode";
	if (sums.unresolved != status->unresolved)
		return "sum of unresolved ticks";
	if (sums.cpu_time_ns != status->cpu_time_ns)
		return "sum of CPU time";
	if (sums.blocked != status->blocked ||
	    sums.runnable != status->runnable || sums.idle != status->idle ||
	    sums.idle > sums.blocked)
		return "sum of ticks of threads that did not run";
	return NULL;
}

/* --- children */

/*
 * Start a process that waits for child_go(), does its work, and exits with its
 * result. It dies with the test.
 */
struct child child_begin(int (*work)(void *argument), void *argument)
{
	struct child child = { .pid = -1, .go = -1 };
	int ends[2];
	char byte;

	if (pipe2(ends, O_CLOEXEC))
		return child;
	child.pid = fork_child();
	if (!child.pid) {
		if (read(ends[0], &byte, 1) != 1)
			_exit(99);
		close(ends[0]);
		close(ends[1]);
		_exit(work(argument));
	}
	close(ends[0]);
	child.go = ends[1];
	return child;
}

/*
 * Wait until a child with one thread has stopped and has left its CPU, which may be
 * after waitpid() has returned: /proc/PID/syscall says "running" until then.
 */
int child_wait_stopped(const struct child *child)
{
	char path[40], call[200] = "running";

	if (waitpid(child->pid, NULL, WUNTRACED) != child->pid)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/syscall", child->pid);
	while (!strncmp(call, "running", strlen("running"))) {
		FILE *file = fopen(path, "r");
		bool is_read = file && fgets(call, sizeof(call), file);

		if (file)
			fclose(file);
		if (!is_read)
			return -1;
	}
	return 0;
}

/*
 * Stop a child until child_go(), so that it uses no CPU time on its way to
 * where it waits.
 */
int child_hold(const struct child *child)
{
	return kill(child->pid, SIGSTOP) ? -1 : child_wait_stopped(child);
}

/*
 * Let the child work. Not by closing the pipe, as children that were forked
 * later have it, too.
 */
void child_go(struct child *child)
{
	if (child->go < 0)
		return;
	kill(child->pid, SIGCONT);
	if (write(child->go, "", 1) != 1)
		perror("child_go");
	close(child->go);
	child->go = -1;
}

/* Context switches of all threads of a process. */
uint64_t thread_switches(pid_t pid)
{
	unsigned long long sum = 0, nr;
	char path[280], line[100];
	struct dirent *entry;
	FILE *file;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/status", pid,
			 entry->d_name);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file))
			if (sscanf(line, "voluntary_ctxt_switches: %llu",
				   &nr) == 1 ||
			    sscanf(line, "nonvoluntary_ctxt_switches: %llu",
				   &nr) == 1)
				sum += nr;
		if (file)
			fclose(file);
	}
	if (tasks)
		closedir(tasks);
	return sum;
}

/* Wait for so many threads, and until all of them have slept for a while. */
int wait_for_sleepers(pid_t pid, int nr)
{
	uint64_t before;

	if (wait_for_threads(pid, nr))
		return -1;
	do {
		before = thread_switches(pid);
		usleep(300000);
	} while (before != thread_switches(pid));
	return 0;
}

/* It has ended, but child_end() or child_kill() still has to wait for it. */
bool child_has_ended(const struct child *child)
{
	siginfo_t ended = { 0 };

	return waitid(P_PID, child->pid, &ended, WEXITED | WNOHANG | WNOWAIT) ||
	       ended.si_pid;
}

/* Let the child work, if it does not yet, and wait for its end. */
int child_end(struct child *child)
{
	child_go(child);
	return wait_child(child->pid);
}

/*
 * Fork children that all live at the same time, until the test closes its ends
 * of the pipe, and wait for them. Return: 0, or the number of the step that
 * failed.
 */
int run_children(int nr, const int pipe_ends[2])
{
	char byte;

	for (int i = 0; i < nr; i++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (child)
			continue;
		close(pipe_ends[1]);
		_exit(read(pipe_ends[0], &byte, 1));
	}
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	for (int i = 0; i < nr; i++)
		if (wait(NULL) < 0)
			return 2;
	return 0;
}

int child_kill(struct child *child)
{
	int result;

	if (child->pid <= 0)
		return 0;
	kill(child->pid, SIGKILL);
	result = wait_child(child->pid);
	if (child->go >= 0)
		close(child->go);
	*child = (struct child) { .pid = -1, .go = -1 };
	return result;
}

int burn_100_ms(void *unused)
{
	(void)unused;
	burn_process_ns(100 * MS);
	return 0;
}

int wait_for_signal(void *unused)
{
	(void)unused;
	for (;;)
		pause();
}

/* --- users and parameters */

int put_parameter(const char *name, const char *value)
{
	char path[100];

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	return write_file(path, value);
}

int get_parameter(const char *name, char *value, size_t size)
{
	char path[100];
	FILE *file;
	int bad;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	file = fopen(path, "r");
	bad = !file || !fgets(value, size, file);
	if (file)
		fclose(file);
	return bad;
}

/* --- memory */

/* Bytes that the module has from vmalloc(). */
uint64_t bytes_of_module(void)
{
	FILE *file = fopen("/proc/vmallocinfo", "r");
	unsigned long long bytes, sum = 0;
	char line[400];

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, " profil_") &&
		    sscanf(line, "%*s %llu", &bytes) == 1)
			sum += bytes;
	if (file)
		fclose(file);
	return sum;
}

struct footprint footprint(void)
{
	return (struct footprint) {
		.bytes = bytes_of_module(),
		.references = number_of("/sys/module/profil/refcnt", ""),
		.tainted = number_of("/proc/sys/kernel/tainted", ""),
	};
}

/* RCU frees the memory of watches a little later: wait a minute at most. */
struct footprint footprint_soon(const struct footprint *before)
{
	struct footprint now = footprint();

	for (int i = 0; i < 6000 && (now.bytes != before->bytes ||
				     now.references != before->references); i++) {
		usleep(10000);
		now = footprint();
	}
	return now;
}

/* --- text */

#if defined(__x86_64__)
/* 1: dec %rdi; jnz 1b; ret */
const unsigned char spin_code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
#elif defined(__aarch64__)
/* 1: subs x0, x0, #1; b.ne 1b; ret */
const unsigned char spin_code[] = {
	0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6,
};
#elif defined(__riscv)
/* 1: addi a0, a0, -1; bnez a0, 1b; ret */
const unsigned char spin_code[] = {
	0x13, 0x05, 0xf5, 0xff, 0xe3, 0x1e, 0x05, 0xfe, 0x67, 0x80, 0x00, 0x00,
};
#endif
const size_t spin_code_size = sizeof(spin_code);

/* Map pages, each of which begins with spin_code. Return: the first one, or NULL. */
char *map_spin_code(int nr)
{
	char *code = mmap(NULL, nr * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		return NULL;
	for (int i = 0; i < nr; i++)
		memcpy(code + i * PAGE, spin_code, spin_code_size);
	__builtin___clear_cache(code, code + nr * PAGE);
	return code;
}

/* Spend CPU time in a copy of spin_code. */
void spin_ns(const void *code, uint64_t ns)
{
	uint64_t end = thread_cpu_ns() + ns;

	for (uint64_t i = 0; spins_on(end, ns, i); i++)
		((void (*)(uint64_t))(uintptr_t)code)(20000);
}

/* Write spin_code to the beginning of a file of one page. */
int write_code(int fd)
{
	if (ftruncate(fd, sysconf(_SC_PAGESIZE)))
		return -1;
	return pwrite(fd, spin_code, spin_code_size, 0) == spin_code_size ?
		0 : -1;
}

/* Make such a file. Return: a descriptor for reading it, or -1. */
int make_code(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	int bad = fd < 0 || write_code(fd);

	close(fd);
	return bad ? -1 : open(path, O_RDONLY | O_CLOEXEC);
}
