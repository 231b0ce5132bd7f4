// SPDX-License-Identifier: GPL-2.0-only
/*
 * backend_perf.c - ticks from perf_event_open(2), without the module
 *
 * Each thread has an event on every CPU, which its children and their programs
 * inherit: nothing happens in the programs but the ticks. The events report
 * forks, execs, ends and mappings too, and profil keeps from that what every
 * process runs and has mapped. The ticks come into a table such as that of a
 * watch.
 *
 * All ticks have one period. A new event starts with a whole period, so a
 * thread has no tick in its first one on a CPU, and what it runs on a CPU after
 * its last tick there is never seen. The events count CPU time, too: what has
 * no tick counts as lost.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "profil/backend.h"
#include "profil/chain.h"
#include "profil/object.h"
#include "profil/perf_period.h"
#include "profil/perf_rings.h"
#include "profil/perf_space.h"
#include "profil/perf_table.h"
#include "profil/record.h"
#include "symbolize/vdso.h"
#include "unwind/file.h"
#include "util/file.h"
#include "util/term.h"

/*
 * Default period in microseconds: as the module's with chains, which take much
 * memory for each tick. Without them, it is shorter, for what lives less than a
 * period has no tick.
 */
#define DEFAULT_US	1000
#define DEFAULT_FLAT_US	250

/*
 * When the rings have been read, records older than this are all there: the
 * kernel writes a record right after it has taken the time.
 */
#define LATE_NS		20000000ULL

/**
 * struct process - a process
 * @pid: its process ID
 * @image: what it runs, an image of the table
 * @threads: number of its threads
 * @executes: it has called exec, and the program is not mapped yet
 * @next: the image to come, if it @executes
 * @kernel: ticks since it called exec
 * @space: its address space
 */
struct process {
	pid_t pid;
	uint32_t image;
	uint32_t threads;
	bool executes;
	struct profil_watch_image next;
	uint64_t kernel;
	struct space *space;
};

/**
 * struct unwound - the table of an object that says where callers are
 * @is_read: it has been looked for
 * @is_found: it is valid
 * @blob: what it consists of
 * @table: the table
 */
struct unwound {
	bool is_read;
	bool is_found;
	void *blob;
	struct profil_unwind_table table;
};

/**
 * struct perf - state of the backend
 * @session: the session
 * @attr: attributes of the events
 * @rings: the events
 * @table: what the ticks have shown
 * @processes: tree of processes, for tsearch(3)
 * @failed: there was no memory for a record
 * @orphans: a process has ended whose parent is not known
 * @ticks: number of ticks
 * @missed: records are lost, as a ring was full
 * @withheld: execs that the kernel does not let profil see
 * @throttled: how often the kernel has stopped the ticks for a while
 * @walker: finds callers
 * @chain: the chain of the sample at hand
 * @chains: ticks by enum profil_chain_end
 * @nr_tables: number of elements of @tables
 * @tables: where callers are, by objects of the table
 */
struct perf {
	struct session *session;
	struct perf_event_attr attr;
	struct rings *rings;
	struct table table;
	void *processes;
	bool failed;
	bool orphans;
	uint64_t ticks;
	bool missed;
	uint64_t withheld;
	uint64_t throttled;
	struct chain_walker walker;
	struct chain chain;
	uint64_t chains[PROFIL_CHAIN_ENDS];
	uint32_t nr_tables;
	struct unwound *tables;
};

/* Records as the attributes ask for them; see perf_event_open(2) */
struct sample_record {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid;
	uint32_t tid;
	uint64_t time;
};

struct task_record {
	struct perf_event_header header;
	uint32_t pid;
	uint32_t ppid;
	uint32_t tid;
	uint32_t ptid;
	uint64_t time;
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid;
	uint32_t tid;
	char comm[];
};

struct mmap_record {
	struct perf_event_header header;
	uint32_t pid;
	uint32_t tid;
	uint64_t start;
	uint64_t length;
	uint64_t offset;
	uint32_t major;
	uint32_t minor;
	uint64_t inode;
	uint64_t generation;
	uint32_t prot;
	uint32_t flags;
	char path[];
};

/* Every record but a sample ends with this. */
struct record_id {
	uint32_t pid;
	uint32_t tid;
	uint64_t time;
};

static const struct record_id *id_of(const struct perf_event_header *record)
{
	return (const void *)((const char *)record + record->size -
			      sizeof(struct record_id));
}

/* ---- processes */

static int by_pid(const void *a, const void *b)
{
	const struct process *c = a, *d = b;

	return (c->pid > d->pid) - (c->pid < d->pid);
}

static struct process *find_process(const struct perf *perf, pid_t pid)
{
	struct process key = { .pid = pid };
	void *node = tfind(&key, &perf->processes, by_pid);

	return node ? *(struct process **)node : NULL;
}

static void free_process(void *process)
{
	space_put(((struct process *)process)->space);
	free(process);
}

static void drop_process(struct perf *perf, struct process *process)
{
	tdelete(process, &perf->processes, by_pid);
	free_process(process);
}

/* Add a process; one that had its PID has ended. */
static struct process *add_process(struct perf *perf, pid_t pid)
{
	struct process *old = find_process(perf, pid);
	struct process *process = calloc(1, sizeof(*process));

	if (old)
		drop_process(perf, old);
	if (!process)
		return NULL;
	process->pid = pid;
	process->threads = 1;
	if (tsearch(process, &perf->processes, by_pid))
		return process;
	free(process);
	return NULL;
}

/* ---- processes that run already */

static FILE *open_proc(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return fopen(path, "re");
}

static uid_t owner_of(pid_t pid)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return stat(path, &status) ? getuid() : status.st_uid;
}

static void read_comm(pid_t pid, char *comm, size_t size)
{
	FILE *file = open_proc(pid, "comm");
	char line[64] = "";

	if (file) {
		if (!fgets(line, sizeof(line), file))
			line[0] = '\0';
		fclose(file);
	}
	line[strcspn(line, "\n")] = '\0';
	snprintf(comm, size, "%.*s", (int)size - 1, line);
}

/* Is it executable memory that has no file? */
static bool is_anonymous(const char *path, uint64_t inode)
{
	return !inode || path[0] != '/' || !strncmp(path, "//", 2);
}

/* What is mapped, as an object of the table; -1 if out of memory */
static int object_of(struct perf *perf,
		     const struct mapped *file, const char *path)
{
	if (!strcmp(path, "[vdso]"))
		return PROFIL_OBJECT_VDSO;
	if (is_anonymous(path, file->seen.inode))
		return PROFIL_OBJECT_ANONYMOUS;
	return table_object(&perf->table, file, path);
}

static int map_object(struct perf *perf, struct process *process,
		      const struct mapping *where,
		      const struct mapped *file, const char *path)
{
	struct mapping mapping = *where;
	int object = object_of(perf, file, path);

	if (object < 0)
		return -1;
	mapping.object = object;
	/* Without a file, ticks count by address */
	if (object == PROFIL_OBJECT_ANONYMOUS)
		mapping.offset = mapping.start;
	return space_map(&process->space, &mapping);
}

/* Add a line of /proc/PID/maps, if it is executable. */
static int map_line(struct perf *perf, struct process *process, char *line)
{
	struct mapped file = {
		.seen.pid = process->pid,
		.first_ns = now_ns(),
	};
	struct mapping mapping;
	unsigned int major, minor;
	char flags[5];
	int path = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %lld %n",
		   &mapping.start, &mapping.end, flags, &mapping.offset,
		   &major, &minor, (long long *)&file.seen.inode, &path) < 7 ||
	    flags[2] != 'x')
		return 0;
	file.seen.device = makedev(major, minor);
	return map_object(perf, process, &mapping, &file, line + path);
}

static int map_all(struct perf *perf, struct process *process)
{
	FILE *maps = process_maps(process->pid);
	char *line = NULL;
	size_t room = 0;
	int failed = 0;

	while (!failed && maps && getline(&line, &room, maps) > 0)
		failed = map_line(perf, process, line);
	free(line);
	if (maps)
		fclose(maps);
	return failed;
}

/*
 * Add a process that runs already, or whose fork is in a record that was lost.
 * It may have ended: then nothing is known of it but its PID.
 */
static struct process *find_running(struct perf *perf, pid_t pid)
{
	struct process *process = add_process(perf, pid);
	struct profil_watch_image image = {
		.pid = pid,
		.processes = 1,
		.start_ns = now_ns(),
		.uid = owner_of(pid),
	};
	int index;

	if (!process)
		return NULL;
	read_comm(pid, image.comm, sizeof(image.comm));
	index = table_image(&perf->table, &image, true);
	if (index < 0 || map_all(perf, process)) {
		drop_process(perf, process);
		return NULL;
	}
	process->image = index;
	return process;
}

static struct process *need_process(struct perf *perf, pid_t pid)
{
	struct process *process = find_process(perf, pid);

	if (process)
		return process;
	process = find_running(perf, pid);
	perf->failed |= !process;
	return process;
}

/* ---- records */

static struct image *image_of(const struct perf *perf,
			      const struct process *process)
{
	return &perf->table.images[process->image];
}

static int separate_image(struct perf *perf, struct process *process,
			  uint64_t time)
{
	struct profil_watch_image image = {
		.parent = process->image,
		.exe = image_of(perf, process)->seen.exe,
		.pid = process->pid,
		.start_ns = time,
		.uid = image_of(perf, process)->seen.uid,
	};
	int index;

	memcpy(image.comm, image_of(perf, process)->seen.comm,
	       sizeof(image.comm));
	index = table_image(&perf->table, &image, true);
	if (index < 0)
		return -1;
	process->image = index;
	return 0;
}

static void take_fork(struct perf *perf, const struct task_record *record)
{
	struct process *parent, *child;

	parent = need_process(perf, record->ppid);
	if (!parent)
		return;
	if (record->pid == record->ppid) {
		parent->threads++;
		return;
	}
	child = add_process(perf, record->pid);
	if (!child) {
		perf->failed = true;
		return;
	}
	child->image = parent->image;
	child->space = space_get(parent->space);
	if (perf->session->per_process &&
	    separate_image(perf, child, record->time))
		perf->failed = true;
	image_of(perf, child)->seen.processes++;
}

/* The name changes at exec, and then the program is mapped. */
static void take_comm(struct perf *perf, const struct comm_record *record)
{
	struct process *process;

	if (!(record->header.misc & PERF_RECORD_MISC_COMM_EXEC))
		return;
	process = need_process(perf, record->pid);
	if (!process)
		return;
	process->executes = true;
	process->next = (struct profil_watch_image) {
		.parent = process->image,
		.pid = record->pid,
		.start_ns = id_of(&record->header)->time,
		.uid = getuid(),
	};
	snprintf(process->next.comm, sizeof(process->next.comm), "%s",
		 record->comm);
	space_put(process->space);
	process->space = NULL;
}

/* The first file that is mapped after exec is the program. */
static void begin_image(struct perf *perf, struct process *process,
			uint32_t object)
{
	int index;

	process->next.exe = object;
	index = table_image(&perf->table, &process->next,
			    perf->session->per_process);
	if (index < 0) {
		perf->failed = true;
		return;
	}
	process->executes = false;
	process->image = index;
	image_of(perf, process)->seen.processes++;
	image_of(perf, process)->seen.kernel += process->kernel;
	process->kernel = 0;
}

static void take_mmap(struct perf *perf, const struct mmap_record *record)
{
	struct process *process = need_process(perf, record->pid);
	const struct mapped file = {
		.seen.device = makedev(record->major, record->minor),
		.seen.inode = record->inode,
		.seen.generation = record->generation,
		.seen.pid = record->pid,
		.first_ns = id_of(&record->header)->time,
	};
	const struct mapping where = {
		.start = record->start,
		.end = record->start + record->length,
		.offset = record->offset,
	};
	char *path;
	int object;

	if (!process)
		return;
	path = unrooted_path(record->pid, record->path, record->inode);
	if (!path || map_object(perf, process, &where, &file, path)) {
		free(path);
		perf->failed = true;
		return;
	}
	free(path);
	object = space_find(process->space, record->start)->object;
	if (process->executes && object >= PROFIL_OBJECT_FILES)
		begin_image(perf, process, object);
}

/*
 * If the exec gave the process other rights, or its file cannot be read, the
 * kernel ends its events before the program is mapped.
 */
static void end_process(struct perf *perf, struct process *process)
{
	perf->withheld += process->executes;
	drop_process(perf, process);
}

static void take_exit(struct perf *perf, const struct task_record *record)
{
	struct process *process = find_process(perf, record->pid);

	if (!process)
		return;
	if ((pid_t)record->ppid != getpid() &&
	    !find_process(perf, record->ppid))
		perf->orphans = true;
	image_of(perf, process)->ends++;
	if (!--process->threads)
		end_process(perf, process);
}

/* ---- chains */

/* Has the file changed since it was mapped? Then its functions are others. */
static bool has_changed(const struct session *session,
			const struct mapped *file, const char *path)
{
	int64_t since_ns = file->first_ns - session->start_ns;

	return process_changed_ns(file->seen.pid, path) >
		session->start_unix_ns + since_ns;
}

static int open_object(const struct perf *perf, uint32_t index)
{
	const struct mapped *object = &perf->table.objects[index];
	const char *path = perf->table.names + object->seen.path;
	bool is_other;

	if (index == PROFIL_OBJECT_VDSO)
		return vdso_open();
	if (has_changed(perf->session, object, path))
		return -1;
	return object_open(&object->seen, path, perf->session->start_unix_ns,
			   &is_other);
}

static void read_callers(const struct perf *perf, uint32_t index)
{
	struct unwound *unwound = &perf->tables[index];
	const char *path = perf->table.names +
		perf->table.objects[index].seen.path;
	int fd = open_object(perf, index);
	size_t bytes;

	unwound->is_read = true;
	if (fd < 0)
		return;
	unwound->blob = unwind_file(fd, object_is_ours(fd, path), &bytes);
	close(fd);
	unwound->is_found = unwound->blob &&
		profil_unwind_open(&unwound->table, unwound->blob, bytes);
}

static int need_tables(struct perf *perf, uint32_t nr)
{
	struct unwound *tables;

	if (nr <= perf->nr_tables)
		return 0;
	tables = reallocarray(perf->tables, nr, sizeof(*tables));
	if (!tables)
		return -1;
	memset(tables + perf->nr_tables, 0,
	       (nr - perf->nr_tables) * sizeof(*tables));
	perf->tables = tables;
	perf->nr_tables = nr;
	return 0;
}

/* A process maps many files that no chain goes through: read them when needed. */
static const struct profil_unwind_table *table_of(void *context,
						  uint32_t object)
{
	struct perf *perf = context;

	if (need_tables(perf, perf->table.nr_objects))
		return NULL;
	if (!perf->tables[object].is_read)
		read_callers(perf, object);
	return perf->tables[object].is_found ? &perf->tables[object].table :
					       NULL;
}

/*
 * The callers of a sample's frame, which is a leaf, or the whole chain if the
 * kernel has the tick. Return: the innermost one, as table_node() has it.
 */
static uint32_t count_callers(struct perf *perf, const struct process *process,
			      const struct perf_event_header *sample,
			      bool is_leaf)
{
	const struct chain_sample thread =
		chain_sample(sample, sizeof(struct sample_record));
	struct chain *chain = &perf->chain;
	uint32_t caller;
	unsigned int i;

	if (perf->session->flat)
		return 0;
	chain_walk(&perf->walker, process->space, &thread, is_leaf, chain);
	perf->chains[chain->end]++;
	caller = chain->end == PROFIL_CHAIN_COMPLETE ? 0 :
						       PROFIL_CALLER_UNKNOWN;
	for (i = chain->nr; i-- > is_leaf;) {
		caller = table_node(&perf->table, process->image,
				    chain->frames[i].object,
				    chain->frames[i].offset, caller);
		if (!caller) {
			perf->failed = true;
			break;
		}
	}
	return caller;
}

/* ---- ticks */

static void count_kernel(struct perf *perf, struct process *process,
			 const struct sample_record *sample)
{
	bool by_function = perf->session->kernel && !perf->session->user_only;
	uint32_t caller;

	if (process->executes) {
		process->kernel++;
		return;
	}
	image_of(perf, process)->seen.kernel++;
	caller = count_callers(perf, process, &sample->header, false);
	if ((by_function || perf->attr.sample_stack_user) &&
	    table_count(&perf->table, process->image, PROFIL_OBJECT_KERNEL,
			by_function ? sample->ip : 0, caller))
		perf->failed = true;
}

static void count_user(struct perf *perf, struct process *process,
		       const struct sample_record *sample)
{
	const struct mapping *mapping = space_find(process->space, sample->ip);
	struct image *image = image_of(perf, process);
	uint32_t caller;

	if (!mapping) {
		image->seen.unresolved++;
		return;
	}
	image->seen.counted++;
	caller = count_callers(perf, process, &sample->header, true);
	if (table_count(&perf->table, process->image, mapping->object,
			sample->ip - mapping->start + mapping->offset, caller))
		perf->failed = true;
}

/* A thread that is about to be gone has no PID any more: its tick is lost. */
static void take_sample(struct perf *perf, const struct sample_record *sample)
{
	unsigned int mode = sample->header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct process *process;

	if ((pid_t)sample->pid <= 0)
		return;
	process = need_process(perf, sample->pid);
	if (!process)
		return;
	perf->ticks++;
	if (mode == PERF_RECORD_MISC_USER)
		count_user(perf, process, sample);
	else
		count_kernel(perf, process, sample);
}

static void take(void *context, const struct perf_event_header *record)
{
	struct perf *perf = context;

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		take_sample(perf, (const void *)record);
		break;
	case PERF_RECORD_MMAP2:
		take_mmap(perf, (const void *)record);
		break;
	case PERF_RECORD_COMM:
		take_comm(perf, (const void *)record);
		break;
	case PERF_RECORD_FORK:
		take_fork(perf, (const void *)record);
		break;
	case PERF_RECORD_EXIT:
		take_exit(perf, (const void *)record);
		break;
	case PERF_RECORD_LOST:
		perf->missed = true;
		break;
	case PERF_RECORD_THROTTLE:
		perf->throttled++;
		break;
	}
}

/* ---- the backend */

static void free_perf(struct perf *perf)
{
	uint32_t i;

	for (i = 0; i < perf->nr_tables; i++)
		free(perf->tables[i].blob);
	free(perf->tables);
	if (perf->rings)
		rings_free(perf->rings);
	tdestroy(perf->processes, free_process);
	table_free(&perf->table);
	free(perf);
}

static const char *allocate(struct session *session)
{
	struct perf *perf = calloc(1, sizeof(*perf));

	if (!perf)
		return "malloc";
	perf->session = session;
	perf->walker = (struct chain_walker) {
		.call_sites = session->call_sites,
		.table_of = table_of,
		.context = perf,
	};
	session->state = perf;
	return table_init(&perf->table, __builtin_ctz(session->bucket)) ?
		"malloc" : NULL;
}

/*
 * Find out what perf_event_paranoid permits: user_only of the session becomes
 * true if it is no samples in kernel mode. Return: 0, or -1 with errno.
 */
static int check_modes(struct perf *perf)
{
	struct perf_event_attr *attr = &perf->attr;

	attr->exclude_kernel = 0;
	if (!rings_permitted(attr))
		return 0;
	if (errno != EACCES && errno != EPERM)
		return -1;
	attr->exclude_kernel = 1;
	if (rings_permitted(attr))
		return -1;
	perf->session->user_only = true;
	return 0;
}

/* Without copies of the stack there are no chains, but all else. */
static const char *check_permission(struct perf *perf)
{
	const struct perf_event_attr flat = perf->attr;
	int error = EOPNOTSUPP;

	if (!perf->session->flat &&
	    chain_ask(&perf->attr, rings_stack_bytes())) {
		if (!check_modes(perf))
			return NULL;
		error = errno;
		perf->attr = flat;
	}
	if (check_modes(perf))
		return "perf_event_open";
	if (!perf->session->flat)
		term_warn("the profile has no call chains: perf_event_open, samples of the stack: %s",
			  strerror(error));
	perf->session->flat = true;
	return NULL;
}

static void set_period(struct perf *perf)
{
	struct session *session = perf->session;
	uint64_t us = session->flat ? DEFAULT_FLAT_US : DEFAULT_US;

	if (session->asked_ns)
		us = session->asked_ns / 1000;
	session->period_ns = 1000 * perf_period_us(us);
	perf->attr.sample_period = session->period_ns;
}

static const char *backend_open(struct session *session)
{
	bool executes = session->target == TARGET_PROGRAM;
	const char *failed = allocate(session);
	struct perf *perf = session->state;

	if (!failed) {
		/* Tables of callers are read of files that may change meanwhile */
		file_survive_cuts();
		session->clock = PRF_CLOCK_PERF_EVENT_OPEN;
		perf->attr = (struct perf_event_attr) {
			.size = sizeof(perf->attr),
			.type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_CPU_CLOCK,
			.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				PERF_SAMPLE_TIME,
			.disabled = executes,
			.enable_on_exec = executes,
			.inherit = 1,
			.mmap = 1,
			.mmap2 = 1,
			.comm = 1,
			.comm_exec = 1,
			.task = 1,
			.sample_id_all = 1,
			.use_clockid = 1,
			.clockid = CLOCK_MONOTONIC,
		};
		failed = check_permission(perf);
	}
	if (!failed) {
		set_period(perf);
		perf->rings = rings_new(&perf->attr);
		failed = perf->rings ? NULL : "malloc";
	}
	if (failed && perf)
		free_perf(perf);
	return failed;
}

static int is_number(const struct dirent *entry)
{
	return atoi(entry->d_name) > 0;
}

/*
 * Open events for all threads of a running process, and return their number.
 * List all of them first: what starts after that inherits the events, and must
 * not get others. A thread that has ended meanwhile is no failure.
 */
static const char *add_threads(struct perf *perf, pid_t pid, uint32_t *threads)
{
	const char *failed = NULL;
	struct dirent **list = NULL;
	char path[64];
	int nr, i;

	*threads = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	nr = scandir(path, &list, is_number, NULL);
	for (i = 0; i < nr; i++) {
		if (!failed)
			failed = rings_add(perf->rings, atoi(list[i]->d_name));
		if (!failed)
			++*threads;
		else if (errno == ESRCH)
			failed = NULL;
		free(list[i]);
	}
	free(list);
	return failed;
}

/* What the process maps from now on is in the records already. */
static const char *begin_running(struct perf *perf, pid_t pid)
{
	struct process *process;
	const char *failed;
	uint32_t threads;

	failed = add_threads(perf, pid, &threads);
	if (failed) {
		/* perf_event_open(2) says that of processes of others */
		if (errno == EACCES)
			errno = EPERM;
		return failed;
	}
	if (!threads) {
		errno = ESRCH;
		return "perf_event_open";
	}
	process = find_running(perf, pid);
	if (!process)
		return "malloc";
	process->threads = threads;
	return NULL;
}

/* The child that waits for its exec: what it maps until then is of no use. */
static const char *begin_child(struct perf *perf, pid_t pid)
{
	struct process *process = add_process(perf, pid);

	if (!process)
		return "malloc";
	process->executes = true;
	return rings_add(perf->rings, pid);
}

static const char *begin(struct session *session, pid_t pid)
{
	struct perf *perf = session->state;

	switch (session->target) {
	case TARGET_PROGRAM:
		return begin_child(perf, pid);
	case TARGET_PROCESSES:
		return begin_running(perf, pid);
	default:
		errno = EOPNOTSUPP;
		return "perf_event_open";
	}
}

static int descriptor(const struct session *session)
{
	const struct perf *perf = session->state;

	return rings_descriptor(perf->rings);
}

static void drain(struct session *session)
{
	struct perf *perf = session->state;

	rings_read(perf->rings, now_ns() - LATE_NS, take, perf);
}

/*
 * CPU time that has been profiled. The events also count the time for which a
 * virtual CPU waits for one of the host; the scheduler's accounting does not,
 * but covers only the processes that were waited for.
 */
static uint64_t covered_ns(const struct perf *perf)
{
	uint64_t events_ns = rings_cpu_ns(perf->rings);
	uint64_t least_ns = perf->ticks * perf->session->period_ns;
	uint64_t cpu_ns = perf->session->cpu_ns;

	if (cpu_ns < events_ns && cpu_ns > least_ns && !perf->orphans)
		return cpu_ns;
	return events_ns > least_ns ? events_ns : least_ns;
}

static uint64_t ticks_of(const struct profil_watch_image *image)
{
	return image->counted + image->unresolved + image->kernel;
}

/*
 * Divide lost ticks among the images by the threads of theirs that have ended,
 * or by ticks if none has, so that the sum is exact.
 */
static void divide_lost(struct table *table, uint64_t lost, uint64_t ends)
{
	uint64_t done = 0, next;
	double sum = 0, part = 0;
	uint32_t i;

	for (i = 1; i < table->nr_images; i++)
		sum += ends ? table->images[i].ends :
			      ticks_of(&table->images[i].seen);
	for (i = 1; i < table->nr_images; i++) {
		struct image *image = &table->images[i];

		part += ends ? image->ends : ticks_of(&image->seen);
		next = i + 1 == table->nr_images || !sum ? lost :
			lost * (part / sum);
		image->lost += next - done;
		done = next;
	}
}

/*
 * Ticks in kernel mode that were not permitted belong to the image if there is
 * only one. Otherwise nobody knows whose they are: they get one of their own.
 */
static void add_kernel(struct perf *perf, uint64_t ticks)
{
	static const struct profil_watch_image unknown = {
		.comm = PRF_UNKNOWN,
	};
	int index = 1;

	if (!ticks)
		return;
	if (perf->table.nr_images != 2)
		index = table_image(&perf->table, &unknown, true);
	if (index < 0)
		perf->failed = true;
	else
		perf->table.images[index].seen.kernel += ticks;
}

/*
 * Account for the CPU time that has no tick. Where ticks in kernel mode are
 * permitted, all of it is lost: what threads have run before their first and
 * after their last tick, and the ticks that did not come. Nobody knows which
 * threads these were, so all that have ended have the same part. Otherwise most
 * of it is time in kernel mode; half a period of each thread counts as lost.
 */
static void account_for_missing(struct perf *perf)
{
	uint64_t period_ns = perf->session->period_ns, ends = 0, lost;
	uint64_t missing = (covered_ns(perf) + period_ns / 2) / period_ns -
		perf->ticks;
	struct table *table = &perf->table;
	uint32_t i;

	for (i = 1; i < table->nr_images; i++)
		ends += table->images[i].ends;
	lost = missing;
	if (perf->attr.exclude_kernel && lost > ends / 2)
		lost = ends / 2;
	divide_lost(table, lost, ends);
	add_kernel(perf, missing - lost);
}

static void warn(const struct perf *perf)
{
	if (perf->session->prf.flags & PRF_FLAG_RECORDS_LOST)
		term_warn("records of perf_event_open are lost, as profil was not let run in time: ticks, programs and libraries may be missing");
	if (perf->throttled)
		term_warn("the kernel has held back ticks %" PRIu64 " times: give a longer --interval, or see /proc/sys/kernel/perf_event_max_sample_rate",
			  perf->throttled);
	if (perf->ticks && rings_cpus(perf->rings) < (size_t)get_nprocs())
		term_warn("CPUs that came online meanwhile have no ticks");
}

static void account_for_time(const struct perf *perf)
{
	uint64_t period_ns = perf->session->period_ns;
	uint32_t i;

	for (i = 1; i < perf->table.nr_images; i++) {
		struct image *image = &perf->table.images[i];

		image->seen.cpu_time_ns = period_ns *
			(ticks_of(&image->seen) + image->lost);
	}
}

/* Have record_table() not read files that have changed. */
static void mark_changed(struct perf *perf)
{
	struct table *table = &perf->table;
	const char *path;
	char *marked;
	uint32_t i;

	for (i = PROFIL_OBJECT_FILES; i < table->nr_objects; i++) {
		path = table->names + table->objects[i].seen.path;
		if (!has_changed(perf->session, &table->objects[i], path))
			continue;
		marked = deleted_path(path);
		perf->failed |= !marked || table_rename(table, i, marked);
		free(marked);
	}
}

/*
 * Make execs of the images, as for a watch: of those that have had CPU time,
 * which those with lost ticks have.
 */
static int record(struct perf *perf)
{
	struct profil_watch_table *table = table_freeze(&perf->table);
	struct prf *prf = &perf->session->prf;
	size_t next = prf->nr;
	uint32_t i;
	int failed;

	if (!table)
		return -1;
	failed = record_table(perf->session, table);
	for (i = 0; !failed && i < perf->table.nr_images; i++) {
		const struct image *image = &perf->table.images[i];

		if (!image->seen.cpu_time_ns)
			continue;
		prf->execs[next].lost += image->lost;
		prf->execs[next++].ticks += image->lost;
	}
	free(table);
	return failed;
}

static void put_chains(const struct perf *perf)
{
	struct prf *prf = &perf->session->prf;

	if (perf->session->flat)
		return;
	prf->flags |= PRF_FLAG_CHAINS;
	if (perf->session->call_sites)
		prf->flags |= PRF_FLAG_CALL_SITES;
	memcpy(prf->chains, perf->chains, sizeof(prf->chains));
}

static int end(struct session *session)
{
	struct perf *perf = session->state;
	int failed = 0;

	rings_stop(perf->rings);
	rings_read(perf->rings, UINT64_MAX, take, perf);
	account_for_missing(perf);
	account_for_time(perf);
	session->prf.withheld += perf->withheld;
	if (perf->missed || rings_full(perf->rings))
		session->prf.flags |= PRF_FLAG_RECORDS_LOST;
	put_chains(perf);
	mark_changed(perf);
	failed = record(perf);
	if (perf->failed) {
		failed = -1;
		errno = ENOMEM;
	} else if (!failed) {
		warn(perf);
	}
	free_perf(perf);
	return failed;
}

const struct backend backend_perf = {
	.open = backend_open,
	.begin = begin,
	.descriptor = descriptor,
	.drain = drain,
	.end = end,
};
