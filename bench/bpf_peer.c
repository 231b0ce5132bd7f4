// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf_peer.c - profiles by a BPF program, for comparison
 *
 * A perf cpu-clock event with a fixed period runs bpf_tick.c. The counters are
 * a BPF array that this process maps.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "bpf_peer.h"
#include "bpf_tick.h"

#define CGROUP	"/sys/fs/cgroup/profil-bench"

#define MAX_CPUS	256

/* The compiled BPF program is embedded in this one. */
extern const char bpf_object_start[], bpf_object_end[];

asm(".pushsection .rodata\n\t"
	".balign 8\n"
	"bpf_object_start:\n\t"
	".incbin \"" BPF_OBJECT "\"\n"
	"bpf_object_end:\n\t"
	".popsection");

static struct bpf_object *object;
static uint64_t *cells;
static size_t cells_size;
static int clocks[MAX_CPUS];
static int nr_clocks;

static int open_clock(pid_t pid, int cpu, uint64_t period_ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.inherit = cpu < 0,
	};

	return syscall(SYS_perf_event_open, &attr, pid, cpu, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

static void start_clock(pid_t pid, int cpu, uint64_t period_ns, int program)
{
	int fd = open_clock(pid, cpu, period_ns);

	if (fd < 0 || nr_clocks == MAX_CPUS ||
	    ioctl(fd, PERF_EVENT_IOC_SET_BPF, program))
		die("cannot run a BPF program in a clock: %m");
	clocks[nr_clocks++] = fd;
}

static struct bpf_object *open_object(void)
{
	struct bpf_object *opened;

	opened = bpf_object__open_mem(bpf_object_start,
				      bpf_object_end - bpf_object_start, NULL);
	if (!opened)
		die("cannot open the BPF program: %m");
	return opened;
}

static struct bpf_program *select_program(struct bpf_object *of,
					  const char *name)
{
	struct bpf_program *program, *selected = NULL;

	bpf_object__for_each_program(program, of) {
		bool is_it = !strcmp(bpf_program__name(program), name);

		bpf_program__set_autoload(program, is_it);
		if (is_it)
			selected = program;
	}
	return selected;
}

static uint64_t cgroup_id(void)
{
	struct stat stat_of;

	if (stat(CGROUP, &stat_of))
		die("%s: %m", CGROUP);
	return stat_of.st_ino;
}

/* A map that the program does not use would only take memory. */
static void create_map(const char *name, bool used)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	if (bpf_map__set_autocreate(map, used))
		die("the BPF program has no map %s", name);
}

static int load(const struct bpf_request *request)
{
	struct bpf_constants constants = {
		.text_start = (uintptr_t)request->text,
		.text_shift = request->shift,
	};
	bool machine = request->scope == BPF_SCOPE_MACHINE;
	struct bpf_program *program =
		select_program(object, machine ? "count_machine" :
						 "count_tick");
	struct bpf_map *array;
	size_t nr = ((request->size - 1) >> request->shift) + 1;

	if (request->scope == BPF_SCOPE_PROCESS)
		constants.only_tgid = request->tgid ? request->tgid : getpid();
	if (request->scope == BPF_SCOPE_CGROUP)
		constants.only_cgroup = cgroup_id();
	array = bpf_object__find_map_by_name(object, ".rodata");
	if (bpf_map__set_initial_value(array, &constants, sizeof(constants)))
		die("cannot set the constants of the BPF program: %m");
	create_map("counts", machine);
	create_map("stacks", machine);
	array = bpf_object__find_map_by_name(object, "cells");
	bpf_map__set_max_entries(array, nr);
	if (bpf_object__load(object))
		die("cannot load the BPF program: %m");
	if (cells)
		munmap(cells, cells_size);
	cells_size = nr * sizeof(*cells);
	cells = mmap(NULL, cells_size, PROT_READ, MAP_SHARED,
		     bpf_map__fd(array), 0);
	if (cells == MAP_FAILED)
		die("cannot map the cells: %m");
	return bpf_program__fd(program);
}

const uint64_t *bpf_start(const struct bpf_request *request)
{
	int nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int program, cpu;

	object = open_object();
	program = load(request);
	if (request->scope == BPF_SCOPE_TASK)
		start_clock(0, -1, request->period_ns, program);
	else
		for (cpu = 0; cpu < nr_cpus; cpu++)
			start_clock(-1, cpu, request->period_ns, program);
	return cells;
}

int bpf_frames(void)
{
	int stacks = bpf_object__find_map_fd_by_name(object, "stacks");
	uint64_t addresses[BPF_MAX_FRAMES];
	uint32_t id, *last = NULL;
	int frames = 0;

	while (!bpf_map_get_next_key(stacks, last, &id)) {
		int nr = 0;

		if (!bpf_map_lookup_elem(stacks, &id, addresses))
			while (nr < BPF_MAX_FRAMES && addresses[nr])
				nr++;
		frames = nr > frames ? nr : frames;
		last = &id;
	}
	return frames;
}

/* The counters remain valid until the next bpf_start(). */
void bpf_stop(void)
{
	while (nr_clocks)
		close(clocks[--nr_clocks]);
	bpf_object__close(object);
}

void bpf_make_cgroup(void)
{
	FILE *procs;

	if (mkdir(CGROUP, 0755) && errno != EEXIST)
		die("%s: %m", CGROUP);
	procs = fopen(CGROUP "/cgroup.procs", "w");
	if (!procs || fprintf(procs, "%d\n", getpid()) < 0 || fclose(procs))
		die("%s: %m", CGROUP "/cgroup.procs");
}

void bpf_occupy(void)
{
	struct bpf_object *other = open_object();
	struct bpf_program *program = select_program(other, "spend_time");

	if (bpf_object__load(other) || !bpf_program__attach(program))
		die("cannot trace getppid(): %m");
}

int bpf_clock_error(void)
{
	int fd = open_clock(-1, 0, MS);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Try to load a BPF program that does nothing. */
int bpf_load_error(void)
{
	const struct bpf_insn instructions[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, NULL, "GPL",
			       instructions, 2, NULL);

	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}
