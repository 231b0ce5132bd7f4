// SPDX-License-Identifier: GPL-2.0-only
/*
 * tick.c - cost of a clock tick
 *
 *	tick FLOORS ROUNDS [bpf]
 *
 * FLOORS is the directory of modules whose ticks do nothing. Measures these and
 * profil.ko or, with bpf, these and a BPF program that does the same work.
 *
 * Ticks prolong a loop of a fixed number of instructions. If the clock counts
 * instructions, the difference divided by the number of ticks is the cost of
 * one, from the interrupt to its return. Several rounds measure all subjects in
 * turn.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "bpf_peer.h"
#include "chains.h"

/* Not in step with the kernel's own clock tick. */
#define PERIOD_NS	97000

#define LOOP_US		1000000
#define MAX_REGIONS	4096

OWN_TEXT(work) static void work(int us)
{
	while (us--)
		spend_us();
}

/* Work, and read the status every millisecond. */
OWN_TEXT(work) static void work_and_ask(int us)
{
	for (; us > 0; us -= 1000) {
		work(1000);
		status_now();
	}
}

/* Inlined, so that the program counter is in the function's text. */
static inline __attribute__((always_inline)) long read_inline(int fd,
							      void *to,
							      size_t size)
{
	long result;

	asm volatile("syscall"
		     : "=a" (result)
		     : "a" (SYS_read), "D" (fd), "S" (to), "d" (size)
		     : "rcx", "r11", "memory");
	return result;
}

/* Work for about as long, but mostly in the kernel, which clears the buffer. */
OWN_TEXT(work) static void work_in_kernel(int us)
{
	static char zeros[64 << 10];
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	for (; us > 0; us -= sizeof(zeros) / 500)
		if (read_inline(fd, zeros, sizeof(zeros)) != sizeof(zeros))
			die("/dev/zero: %m");
}

/*
 * Work 26 and 56 frames deep, with those of main() and of the C library, which
 * has three.
 */
static __attribute__((noinline)) void descend(int frames, int us)
{
	if (frames)
		descend(frames - 1, us);
	else
		work(us);
	/* Not a jump, which would leave no frame */
	asm volatile("" : : : "memory");
}

static void work_in_26(int us)
{
	descend(18, us);
	asm volatile("" : : : "memory");
}

static void work_in_56(int us)
{
	descend(48, us);
	asm volatile("" : : : "memory");
}

/* Source of the ticks. */
enum clock {
	NOTHING,
	FLOOR,
	PROFIL,
	WATCH,
	BPF,
};

struct subject {
	const char *name;
	const char *tool;
	enum clock clock;
	void (*work)(int us);
	uint64_t period_ns;
	/* Number of regions of a profile; mappings of a watched process. */
	int nr;
	/* For a profile. */
	unsigned int width;
	/* For a watch. */
	enum profil_watch_target target;
	unsigned int flags;
	/* For BPF. */
	enum bpf_scope scope;
	pid_t tgid;
	struct sample ns;
	struct sample ticks;
};

/*
 * Other regions lie on both sides of the loop's, so that the lookup takes the
 * most steps.
 */
static void start_profil(const struct subject *subject)
{
	static struct profil_region regions[MAX_REGIONS];
	static uint64_t bins[MAX_REGIONS + 4096];
	struct profil_region own = region_of(START_OF(work), END_OF(work),
					     bins, subject->width);
	uint64_t length = own.size;
	int i;

	for (i = 0; i < subject->nr; i++) {
		regions[i] = own;
		regions[i].offset += (i - subject->nr / 2) * length;
	}
	if (length > sizeof(bins) ||
	    set_regions(regions, subject->nr, subject->width,
			subject->period_ns, 0))
		die("cannot start a profile of %d regions: %m",
		    subject->nr);
}

static double stop_profil(void)
{
	struct profil_status last = { .size = sizeof(last) };
	const struct profil_counts *counts = &last.counts;

	if (profil_stop(&last, NULL, 0))
		die("cannot stop: %m");
	/* Some are outside the loop, in the calls. */
	if (counts->lost || counts->clipped ||
	    counts->outside > counts->ticks / 20 + 10)
		die("of %llu ticks only %llu are in the counters",
		    counts->ticks, counts->counted);
	return counts->ticks;
}

/* Of the C library, which has no frame pointers. */
#define LIBRARY_FRAMES	3

/* With the function that works. */
static int frames_of(void (*work_of)(int us))
{
	return work_of == work_in_26 ? 26 : work_of == work_in_56 ? 56 : 0;
}

static struct watch watched;

#define MAX_ADDED	128

static void *added[MAX_ADDED];
static int nr_added;

static int count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	int nr = 0, c;

	if (!maps)
		die("/proc/self/maps: %m");
	while ((c = getc(maps)) != EOF)
		nr += c == '\n';
	fclose(maps);
	return nr;
}

/*
 * Have @nr mappings. Half of the new ones lie below the program, the others
 * above. Neighbours differ, so that they are not merged.
 */
static void add_mappings(int nr)
{
	char *below = (char *)0x100000;

	for (nr -= count_mappings(); nr > 0; nr--) {
		void *at = nr % 2 ? NULL : (below += getpagesize());
		int protection = nr / 2 % 2 ? PROT_READ : PROT_NONE;
		int flags = MAP_PRIVATE | MAP_ANONYMOUS;

		if (at)
			flags |= MAP_FIXED_NOREPLACE;
		at = mmap(at, getpagesize(), protection, flags, -1, 0);
		if (at == MAP_FAILED || nr_added == MAX_ADDED)
			die("cannot add mappings: %m");
		added[nr_added++] = at;
	}
}

static void remove_mappings(void)
{
	while (nr_added)
		munmap(added[--nr_added], getpagesize());
}

static void start_watch(const struct subject *subject)
{
	struct profil_watch watch = {
		.size = sizeof(watch),
		.flags = subject->flags,
		.target = subject->target,
		.id = subject->target == PROFIL_WATCH_PROCESS ? getpid() : 0,
		.period_ns = subject->period_ns,
	};

	add_mappings(subject->nr);
	if (watch_begin(&watched, &watch))
		die("cannot start a watch: %m");
	if (subject->flags & PROFIL_WATCH_CHAINS && load_own_callers(&watched))
		die("cannot load tables of callers: %m");
}

static double ticks_of_watch(void)
{
	struct profil_watch_status now = { .size = sizeof(now) };

	if (profil_watch_status(watched.fd, &now))
		die("cannot read the status of a watch: %m");
	if (now.coarse || now.unresolved || now.unfollowed)
		die("of %llu ticks only %llu are in the table",
		    now.ticks, now.counted + now.kernel);
	return now.ticks;
}

static size_t text_size(void)
{
	return END_OF(work) - START_OF(work);
}

static void check_frames(int frames, int due)
{
	if (frames != due)
		die("chains have %d frames, not %d", frames, due);
}

static bool is_in_work(const struct profil_watch_bucket *bucket, uint32_t own)
{
	uint64_t offset = bucket->offset << watched.as.bucket_shift;

	return bucket->object == own &&
	       offset - watch_offset(START_OF(work)) < text_size();
}

/* Of the bucket with the most ticks in work(). */
static int frames_of_watch(void)
{
	uint32_t own = watch_own_object(&watched, START_OF(work));
	uint64_t most = 0;
	uint32_t i, node = 0;

	for (i = 0; i < watched.table->max_buckets; i++) {
		const struct profil_watch_bucket *bucket =
			watch_bucket(&watched, i);

		if (bucket->count > most && is_in_work(bucket, own)) {
			most = bucket->count;
			node = i + 1;
		}
	}
	return chain_length(&watched, node);
}

static double stop_watch(const struct subject *subject)
{
	double ticks = ticks_of_watch();

	if (subject->flags & PROFIL_WATCH_CHAINS)
		check_frames(frames_of_watch(), frames_of(subject->work));
	watch_end(&watched);
	remove_mappings();
	return ticks;
}

static void load_floor(const char *floors, const struct subject *subject)
{
	char file[PATH_MAX], parameters[64];

	snprintf(file, sizeof(file), "%s/%s.ko", floors, subject->tool);
	sprintf(parameters, "period_ns=%llu",
		(unsigned long long)subject->period_ns);
	load_module(file, parameters);
}

static const uint64_t *bpf_cells;

static void start_bpf(const struct subject *subject)
{
	bpf_cells = bpf_start(&(struct bpf_request){
		.scope = subject->scope,
		.tgid = subject->tgid,
		.text = __start_text_work,
		.size = text_size(),
		.shift = 2,
		.period_ns = subject->period_ns,
	});
}

static void start(const struct subject *subject, const char *floors)
{
	switch (subject->clock) {
	case NOTHING:
		break;
	case FLOOR:
		load_floor(floors, subject);
		break;
	case PROFIL:
		start_profil(subject);
		break;
	case WATCH:
		start_watch(subject);
		break;
	case BPF:
		start_bpf(subject);
		break;
	}
}

/* If it filters for another process, as many ticks come, but none counts. */
static double stop_bpf(const struct subject *subject, uint64_t ns)
{
	double ticks = (double)ns / subject->period_ns;
	double counted;

	if (subject->scope == BPF_SCOPE_MACHINE) {
		check_frames(bpf_frames(),
			     frames_of(subject->work) - LIBRARY_FRAMES);
		bpf_stop();
		return ticks;
	}
	bpf_stop();
	counted = sum64(bpf_cells, text_size() / 4);
	if (subject->tgid ? counted : counted < ticks * 0.95)
		die("of %.0f ticks the BPF program has %.0f", ticks, counted);
	return ticks;
}

/* Returns the number of ticks: from the status, or one for each period. */
static double stop(const struct subject *subject, uint64_t ns)
{
	switch (subject->clock) {
	case NOTHING:
		return 0;
	case FLOOR:
		unload_module(subject->tool);
		break;
	case PROFIL:
		return stop_profil();
	case WATCH:
		return stop_watch(subject);
	case BPF:
		return stop_bpf(subject, ns);
	}
	return (double)ns / subject->period_ns;
}

static void measure(struct subject *subject, const char *floors)
{
	double ticks = 0;
	uint64_t ns;

	start(subject, floors);
	/* Warm up: one-time costs and page faults */
	subject->work(2000);
	if (subject->clock == PROFIL)
		ticks = -(double)status_now().counts.ticks;
	if (subject->clock == WATCH)
		ticks = -ticks_of_watch();
	ns = monotonic_ns();
	subject->work(LOOP_US);
	ns = monotonic_ns() - ns;
	ticks += stop(subject, ns);
	sample_add(&subject->ns, ns);
	sample_add(&subject->ticks, ticks);
}

static double cost(const struct subject *subject, const struct subject *base)
{
	return (sample_mean(&subject->ns) - sample_mean(&base->ns)) /
	       (sample_mean(&subject->ticks) - sample_mean(&base->ticks)) /
	       NS_PER_INSN;
}

static double error(const struct subject *subject, const struct subject *base)
{
	return (sample_error(&subject->ns) + sample_error(&base->ns)) /
	       sample_mean(&subject->ticks) / NS_PER_INSN;
}

/* The same work without ticks, or with hardly any. */
static struct subject bases[] = {
	{ .work = work },
	{ .work = work_in_kernel },
	{ .work = work_in_26 },
	{ .work = work_in_56 },
	{ .clock = PROFIL, .work = work_and_ask, .period_ns = SECOND,
	  .nr = 1, .width = 4 },
};

#define SUBJECT(name_is, tool_is, clock_is, work_is, ...) \
	{ .name = name_is, .tool = tool_is, .clock = clock_is, \
	  .work = work_is, .period_ns = PERIOD_NS, ##__VA_ARGS__ }

#define FLOORS \
	SUBJECT("tick", "floor", FLOOR, work), \
	SUBJECT("tick", "floor_timer", FLOOR, work), \
	SUBJECT("tick-kernel", "floor", FLOOR, work_in_kernel)

#define OURS(name, work, nr_is, width_is) \
	SUBJECT(name, "profil", PROFIL, work, .nr = nr_is, \
		.width = width_is)

#define WATCHED(name, tool, work, nr_is, target_is, flags_are) \
	SUBJECT(name, tool, WATCH, work, .nr = nr_is, .target = target_is, \
		.flags = flags_are)

static struct subject profil_subjects[] = {
	FLOORS,
	OURS("tick", work, 1, 4),
	OURS("tick", work, 16, 4),
	OURS("tick", work, 256, 4),
	OURS("tick", work, 4096, 4),
	OURS("tick16", work, 1, 2),
	OURS("tick16", work, 4096, 2),
	OURS("tick-status", work_and_ask, 1, 4),
	OURS("tick-kernel", work_in_kernel, 1, 4),
	OURS("tick-kernel", work_in_kernel, 4096, 4),
	WATCHED("tick", "watch", work, 30, PROFIL_WATCH_PROCESS, 0),
	WATCHED("tick", "watch-machine", work, 30, PROFIL_WATCH_MACHINE, 0),
	WATCHED("tick-kernel", "watch", work_in_kernel, 30,
		PROFIL_WATCH_PROCESS, 0),
	WATCHED("tick-kernel", "watch-text", work_in_kernel, 30,
		PROFIL_WATCH_PROCESS, PROFIL_WATCH_KERNEL_TEXT),
	WATCHED("tick", "watch", work, 130, PROFIL_WATCH_PROCESS, 0),
	WATCHED("tick", "watch-26-frames", work_in_26, 30,
		PROFIL_WATCH_PROCESS, PROFIL_WATCH_CHAINS),
	WATCHED("tick", "watch-56-frames", work_in_56, 30,
		PROFIL_WATCH_PROCESS, PROFIL_WATCH_CHAINS),
};

/* bpf-other filters for process 1, which has none of the ticks. */
static struct subject bpf_subjects[] = {
	FLOORS,
	SUBJECT("tick", "bpf", BPF, work, .scope = BPF_SCOPE_PROCESS),
	SUBJECT("tick", "bpf-other", BPF, work, .scope = BPF_SCOPE_PROCESS,
		.tgid = 1),
	SUBJECT("tick", "bpf-cgroup", BPF, work, .scope = BPF_SCOPE_CGROUP),
	SUBJECT("tick", "bpf-task", BPF, work, .scope = BPF_SCOPE_TASK),
	SUBJECT("tick-kernel", "bpf", BPF, work_in_kernel,
		.scope = BPF_SCOPE_PROCESS),
	SUBJECT("tick", "bpf-23-frames", BPF, work_in_26,
		.scope = BPF_SCOPE_MACHINE),
	SUBJECT("tick", "bpf-53-frames", BPF, work_in_56,
		.scope = BPF_SCOPE_MACHINE),
};

static const struct subject *base_of(const struct subject *subject)
{
	const struct subject *base = bases;

	while (base->work != subject->work)
		base++;
	return base;
}

static __attribute__((noinline)) void
measure_all(struct subject *subjects, int nr, const char *floors)
{
	int i;

	for (i = 0; i < nr; i++)
		measure(&subjects[i], floors);
}

static void report(const struct subject *subjects, int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		const struct subject *s = &subjects[i];
		const struct subject *base = base_of(s);

		print_result(s->name, s->tool, s->nr, cost(s, base),
			     error(s, base), "instructions");
	}
}

#define NR(array)	((int)(sizeof(array) / sizeof((array)[0])))

int main(int argc, char **argv)
{
	struct subject *subjects = profil_subjects;
	int nr = NR(profil_subjects), nr_bases = NR(bases);
	int rounds;

	if (argc < 3)
		die("usage: tick FLOORS ROUNDS [bpf]");
	if (argc > 3) {
		subjects = bpf_subjects;
		nr = NR(bpf_subjects);
		/* The last one needs the module. */
		nr_bases--;
		bpf_make_cgroup();
	}
	for (rounds = atoi(argv[2]); rounds > 0; rounds--) {
		measure_all(bases, nr_bases, argv[1]);
		measure_all(subjects, nr, argv[1]);
	}
	report(subjects, nr);
	return 0;
}
