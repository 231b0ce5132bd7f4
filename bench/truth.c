// SPDX-License-Identifier: GPL-2.0-only
/*
 * truth.c - programs with known shares of time
 *
 *	truth [-p PERIOD_NS | -w PERIOD_NS | -m PERIOD_NS | -b PERIOD_NS | -g |
 *	       -u] WORK ARGUMENT...
 *
 * work MS		a single function
 * sweep MS POINTS	pairs of functions that take turns in a fixed rhythm,
 *			MS for each rhythm and share; at most POINTS pairs
 * deep MS		the same, 26 frames deep
 * threads NR MS	threads with four shares of CPU time
 * lives NR DEPTH JIFFIES	NR children of each of several lifetimes, one
 *			after the other; a tree of processes that each fork
 *			twice; and work in JIFFIES jiffies, asleep at every
 *			clock tick of the kernel
 *
 * With -p, libprofil profiles the program; with -w, it watches the program and
 * its children, and with -m the whole machine; with -b, a BPF program that filters
 * by its cgroup; with -g, profil(3) of the C library; with -u, profil() of
 * libprofil, for PROFIL_FALLBACK=always; without these, the profiler that runs
 * it. Prints a line of JSON for each function: its run time
 * by the TSC, its number of ticks, if known, and the variance of that number by
 * the counting law, see Documentation/bench.rst.
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "bpf_peer.h"

#define MAX_FUNCTIONS	80
#define MAX_TEXT	4096

/* A function with a known run time. */
struct function {
	char name[24];
	uint64_t (*call)(uint64_t end, uint64_t step);
	const char *start;
	const char *end;
	uint64_t ns;
	double variance;
};

/* Share of the current tick period that a function has had. */
struct cell {
	uint64_t nr;
	double q;
};

/* Memory shared with children. */
struct shared {
	struct function functions[MAX_FUNCTIONS];
	struct cell cell;
	uint32_t bins[MAX_FUNCTIONS][MAX_TEXT / 4];
};

static struct shared *shared;
static int nr_functions;
static uint64_t period_ns;

/* ---- the clock: readable without leaving the function */

/* A point in time, by the TSC and by the kernel's clock. */
struct reading {
	uint64_t cycle;
	uint64_t ns;
};

static struct reading origin;
static struct reading anchor;
static double ns_per_cycle;

static inline __attribute__((always_inline)) uint64_t now_ns(void)
{
	return anchor.ns + (uint64_t)((__builtin_ia32_rdtsc() - anchor.cycle) *
				      ns_per_cycle);
}

/*
 * Take the shortest of several readings: a page fault or an interrupt prolongs
 * others.
 */
static struct reading read_clocks(void)
{
	struct reading reading = { 0 };
	uint64_t shortest = UINT64_MAX;
	int i;

	for (i = 0; i < 10; i++) {
		uint64_t before = __builtin_ia32_rdtsc();
		uint64_t ns = monotonic_ns();
		uint64_t cycles = __builtin_ia32_rdtsc() - before;

		if (cycles < shortest) {
			shortest = cycles;
			reading = (struct reading){ before + cycles / 2, ns };
		}
	}
	return reading;
}

/*
 * Called before each measurement. The counting law needs the kernel's periods
 * to a few microseconds, and with one reading for all, the clocks drift apart
 * by hundreds of microseconds per minute.
 */
static void set_clock(void)
{
	anchor = read_clocks();
	ns_per_cycle = (double)(anchor.ns - origin.ns) /
		       (anchor.cycle - origin.cycle);
}

static void calibrate(void)
{
	origin = read_clocks();
	usleep(500000);
	set_clock();
}

/* ---- the functions */

/* Run until @end, in steps of @step nanoseconds, at least one of them. */
static inline __attribute__((always_inline)) uint64_t until(uint64_t end,
							    uint64_t step)
{
	uint64_t now;

	do {
		uint64_t ns;

		/* Half a microsecond, if the clock counts instructions. */
		for (ns = step; ns >= 500; ns -= 500)
			asm volatile(".rept 250\n\tnop\n\t.endr");
		now = now_ns();
	} while (now < end);
	return now;
}

#define STEP_NS	50000

/* Neither inlined nor cloned, so that every profiler finds the name. */
#define FUNCTION(name) \
	extern const char __start_text_##name[], __stop_text_##name[]; \
	__attribute__((noipa, section("text_" #name)))

#define SPENDS(name) \
FUNCTION(name) uint64_t name(uint64_t end, uint64_t step) \
{ \
	return until(end, step); \
}

#define PAIR(n)		SPENDS(first_##n) SPENDS(second_##n)
#define PAIRS_OF(n)	PAIR(n##_50) PAIR(n##_90) PAIR(n##_99)

PAIRS_OF(100) PAIRS_OF(200) PAIRS_OF(500) PAIRS_OF(1000) PAIRS_OF(2000)
PAIRS_OF(4000) PAIRS_OF(5000) PAIRS_OF(8000) PAIRS_OF(10000) PAIRS_OF(20000)
PAIRS_OF(40000)

SPENDS(short_500)
SPENDS(short_1000)
SPENDS(short_2000)
SPENDS(short_5000)
SPENDS(short_10000)
SPENDS(short_20000)
SPENDS(tree)
SPENDS(between_jiffies)
SPENDS(share_10)
SPENDS(share_20)
SPENDS(share_30)
SPENDS(share_40)

/* A fixed number of instructions. */
FUNCTION(work) void work(uint64_t ms)
{
	for (ms *= 1000; ms; ms--)
		spend_us();
}

static struct function *function_of(const char *name, const void *call,
				    const char *start, const char *end)
{
	struct function *function = &shared->functions[nr_functions++];

	if (nr_functions > MAX_FUNCTIONS || end - start > MAX_TEXT)
		die("%s does not fit", name);
	snprintf(function->name, sizeof(function->name), "%s", name);
	function->call = call;
	function->start = start;
	function->end = end;
	return function;
}

#define FUNCTION_OF(name)						\
	function_of(#name, name, START_OF(name), END_OF(name))

/* ---- profilers */

/* CPU time when the profile started. */
static uint64_t cpu_ns;

/* profil() of a library, and its counters. */
static int (*library_profil)(unsigned short *, size_t, size_t, unsigned int);
static unsigned short *library_bins;

/* A watch, and its table. */
static bool watched;
static struct profil_watch watch;
static int watch_fd;
static const struct profil_watch_table *watch_table;

static uint64_t bpf_period_ns;
static const uint64_t *bpf_cells;

#define BPF_SHIFT	2

static int (*c_library_profil(void))(unsigned short *, size_t, size_t,
				     unsigned int)
{
	void *library = dlopen("libc.so.6", RTLD_LAZY);
	void *function = library ? dlsym(library, "profil") : NULL;

	if (!function)
		die("the C library has no profil()");
	return function;
}

static void start_bpf(size_t size)
{
	bpf_make_cgroup();
	bpf_cells = bpf_start(&(struct bpf_request){
		.scope = BPF_SCOPE_CGROUP,
		.text = &__executable_start,
		.size = size,
		.shift = BPF_SHIFT,
		.period_ns = bpf_period_ns,
	});
}

static void start_watch(void)
{
	watch.size = sizeof(watch);
	watch.period_ns = period_ns;
	watch.bucket_shift = 2;
	if (watch.target == PROFIL_WATCH_PROCESS) {
		watch.flags = PROFIL_WATCH_CHILDREN;
		watch.id = getpid();
	}
	watch_fd = profil_watch_open(&watch);
	if (watch_fd < 0)
		die("cannot start a watch: %m");
	watch_table = profil_watch_map(watch_fd, &watch);
	if (!watch_table)
		die("cannot map the table of a watch: %m");
}

/* The program header of the program's text. */
static const ElfW(Phdr) *text_segment(void)
{
	const ElfW(Phdr) *segment = (void *)getauxval(AT_PHDR);

	while (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
		segment++;
	return segment;
}

static bool is_program(const struct profil_watch_object *object)
{
	const char *path = profil_watch_path(watch_table, object);
	char program[PATH_MAX] = "";

	return path && readlink("/proc/self/exe", program,
				sizeof(program) - 1) > 0 &&
	       !strcmp(path, program);
}

/* Index of the program in the table; 0 if it has no tick. */
static unsigned int program_object(void)
{
	const struct profil_watch_object *object;
	unsigned int i = PROFIL_OBJECT_FILES;

	while ((object = profil_watch_object(watch_table, i))) {
		if (is_program(object))
			return i;
		i++;
	}
	return 0;
}

static uint64_t watched_ticks(uint64_t from, uint64_t to)
{
	uint64_t bias = text_segment()->p_vaddr - text_segment()->p_offset;
	const struct profil_watch_bucket *bucket;
	unsigned int program = program_object();
	size_t position = 0;
	uint64_t sum = 0, pc;

	while ((bucket = profil_watch_next(watch_table, &position))) {
		pc = (bucket->offset << watch.bucket_shift) + bias;
		if (bucket->object == program && pc >= from && pc < to)
			sum += bucket->count;
	}
	return sum;
}

static void start(void)
{
	struct profil_region regions[MAX_FUNCTIONS];
	size_t size = &etext - &__executable_start;
	int f;

	for (f = 0; f < nr_functions; f++)
		regions[f] = region_of(shared->functions[f].start,
				       shared->functions[f].end,
				       shared->bins[f], 4);
	cpu_ns = process_cpu_ns();
	if (watched)
		start_watch();
	else if (period_ns && set_regions(regions, nr_functions, 4,
					  period_ns, 0))
		die("cannot start a profile: %m");
	if (bpf_period_ns)
		start_bpf(size);
	if (!library_profil)
		return;
	/* Shared, to have the ticks of children too */
	library_bins = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (library_bins == MAP_FAILED ||
	    library_profil(library_bins, size, (size_t)&__executable_start,
			   65536))
		die("cannot start a profile of a library: %m");
}

static uint64_t ticks_of(int f)
{
	const struct function *function = &shared->functions[f];
	size_t from = function->start - &__executable_start;
	size_t size = function->end - function->start;

	if (library_profil)
		return sum16(library_bins + from / 2, size / 2);
	if (bpf_period_ns)
		return sum64(bpf_cells + (from >> BPF_SHIFT),
			     size >> BPF_SHIFT);
	if (watched)
		return watched_ticks((uintptr_t)function->start,
				     (uintptr_t)function->end);
	return sum32(shared->bins[f], MAX_TEXT / 4);
}

static void print_stats(uint64_t covered_ns, uint64_t taken, uint64_t lost,
			uint64_t clipped, uint64_t unfollowed)
{
	printf("{\"period_ns\": %llu, \"covered_ns\": %llu, \"cpu_ns\": %llu, \"taken\": %llu, \"lost\": %llu, \"clipped\": %llu, \"unfollowed\": %llu}\n",
	       (unsigned long long)period_ns, (unsigned long long)covered_ns,
	       (unsigned long long)(process_cpu_ns() - cpu_ns),
	       (unsigned long long)taken, (unsigned long long)lost,
	       (unsigned long long)clipped, (unsigned long long)unfollowed);
}

static void stop_watch(void)
{
	struct profil_watch_status last = { .size = sizeof(last) };

	if (profil_watch_stop(watch_fd, &last))
		die("cannot stop the watch: %m");
	print_stats(last.cpu_time_ns, last.ticks + last.pending,
		    last.unresolved + last.coarse + last.pending, 0,
		    last.unfollowed + last.withheld);
}

static void stop(void)
{
	struct profil_status last = { .size = sizeof(last) };

	if (library_profil)
		library_profil(NULL, 0, 0, 0);
	if (bpf_period_ns)
		bpf_stop();
	if (watched)
		stop_watch();
	if (watched || !period_ns)
		return;
	if (profil_stop(&last, NULL, 0))
		die("cannot stop: %m");
	print_stats(last.cpu_time_ns, last.counts.ticks, last.counts.lost,
		    last.counts.clipped, last.unfollowed);
}

static void report(void)
{
	int f;

	for (f = 0; f < nr_functions; f++) {
		const struct function *function = &shared->functions[f];

		if (!function->ns)
			continue;
		printf("{\"function\": \"%s\", \"ns\": %llu, \"variance\": %.6g",
		       function->name, (unsigned long long)function->ns,
		       function->variance);
		if (period_ns || bpf_period_ns || library_profil)
			printf(", \"ticks\": %llu",
			       (unsigned long long)ticks_of(f));
		printf("}\n");
	}
}

/* ---- the counting law: one tick in each period, anywhere in it */

static void cell_end(struct function *function)
{
	struct cell *cell = &shared->cell;

	function->variance += fmax(0, cell->q * (1 - cell->q));
	cell->q = 0;
}

static void cell_add(struct function *function, uint64_t from, uint64_t to)
{
	struct cell *cell = &shared->cell;

	while (period_ns && from < to) {
		uint64_t nr = from / period_ns;
		uint64_t end = (nr + 1) * period_ns;

		if (nr != cell->nr) {
			cell_end(function);
			cell->nr = nr;
		}
		if (end > to)
			end = to;
		cell->q += (double)(end - from) / period_ns;
		from = end;
	}
}

/* ---- kinds of work */

static void do_work(uint64_t ms)
{
	struct function *function = FUNCTION_OF(work);
	uint64_t begin;

	start();
	begin = now_ns();
	work(ms);
	function->ns = now_ns() - begin;
	stop();
}

/* Work 26 frames deep, with those of main() and of the C library. */
static __attribute__((noinline)) void descend(int frames, uint64_t ms)
{
	if (frames)
		descend(frames - 1, ms);
	else
		work(ms);
	/* Not a jump, which would leave no frame */
	asm volatile("" : : : "memory");
}

/* A pair of functions, the length of a turn of both and of the first. */
struct pair {
	uint64_t (*calls[2])(uint64_t end, uint64_t step);
	struct function *functions[2];
	uint64_t rhythm_ns;
	uint64_t first_ns;
};

#define PAIR_OF(n, percent) \
	(struct pair){ { first_##n##_##percent, second_##n##_##percent }, \
		{ FUNCTION_OF(first_##n##_##percent), \
		  FUNCTION_OF(second_##n##_##percent) }, \
		n * US, n * US * percent / 100 }

#define PAIRS_AT(n)	PAIR_OF(n, 50), PAIR_OF(n, 90), PAIR_OF(n, 99)

/* Turns start at multiples of the rhythm on the kernel's clock. */
static void take_turns(const struct pair *pair, uint64_t ms)
{
	uint64_t step = pair->rhythm_ns / 200;
	uint64_t turns = ms * MS / pair->rhythm_ns;
	uint64_t turn, begin, middle, now;

	set_clock();
	begin = now_ns();
	turn = begin / pair->rhythm_ns + 1;
	now = pair->calls[1](turn * pair->rhythm_ns, step);
	pair->functions[1]->ns += now - begin;
	while (turns--) {
		begin = turn++ * pair->rhythm_ns;
		middle = pair->calls[0](begin + pair->first_ns, step);
		pair->functions[0]->ns += middle - now;
		cell_add(pair->functions[0], now, middle);
		now = pair->calls[1](begin + pair->rhythm_ns, step);
		pair->functions[1]->ns += now - middle;
	}
	cell_end(pair->functions[0]);
	pair->functions[1]->variance = pair->functions[0]->variance;
}

static void do_sweep(uint64_t ms, int points)
{
	/* The most important ones first: POINTS may cut the list. */
	const struct pair pairs[] = {
		PAIRS_AT(10000), PAIRS_AT(1000), PAIRS_AT(4000),
		PAIRS_AT(20000), PAIRS_AT(100), PAIRS_AT(40000), PAIRS_AT(200),
		PAIRS_AT(500), PAIRS_AT(2000), PAIRS_AT(5000), PAIRS_AT(8000),
	};
	int i;

	start();
	for (i = 0; i < points && i < sizeof(pairs) / sizeof(pairs[0]); i++)
		take_turns(&pairs[i], ms);
	stop();
}

struct worker {
	uint64_t (*call)(uint64_t end, uint64_t step);
	struct function *function;
	uint64_t cpu_ns;
	uint64_t used_ns;
	double stalls;
	pthread_t thread;
};

static uint64_t longest_ns(void)
{
	return period_ns ? period_ns : 10 * MS;
}

/*
 * Check the thread's CPU time every millisecond. An emulated CPU may stall:
 * then all ticks of that time count at one place.
 */
static void *run_worker(void *argument)
{
	struct worker *worker = argument;
	uint64_t begin = thread_cpu_ns(), last = begin, now;

	do {
		worker->call(now_ns() + MS, STEP_NS);
		now = thread_cpu_ns();
		if (now - last > longest_ns())
			worker->stalls += pow((double)(now - last) /
					      longest_ns(), 2);
		last = now;
		worker->used_ns = now - begin;
	} while (worker->used_ns < worker->cpu_ns);
	return NULL;
}

static void do_threads(int nr, uint64_t ms)
{
	uint64_t (*const calls[])(uint64_t end, uint64_t step) = {
		share_10, share_20, share_30, share_40
	};
	struct function *const functions[] = {
		FUNCTION_OF(share_10), FUNCTION_OF(share_20),
		FUNCTION_OF(share_30), FUNCTION_OF(share_40)
	};
	struct worker *workers = calloc(nr, sizeof(*workers));
	pthread_attr_t attr;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	start();
	for (i = 0; i < nr; i++) {
		workers[i].call = calls[i % 4];
		workers[i].function = functions[i % 4];
		workers[i].cpu_ns = (i % 4 + 1) * ms * MS;
		if (pthread_create(&workers[i].thread, &attr, run_worker,
				   &workers[i]))
			die("cannot make thread %d", i);
	}
	for (i = 0; i < nr; i++) {
		pthread_join(workers[i].thread, NULL);
		workers[i].function->ns += workers[i].used_ns;
		workers[i].function->variance += workers[i].stalls;
	}
	stop();
}

/* Only one process runs at a time. */
static void spend_for(struct function *function, uint64_t ns)
{
	uint64_t begin, end;

	/*
	 * A child has the page of the function's text only after a fault, which
	 * is time in the kernel, and to a watch not of the function.
	 */
	function->call(0, 0);
	begin = now_ns();
	end = function->call(begin + ns, ns / 50);

	function->ns += end - begin;
	cell_add(function, begin, end);
}

static void run_short(struct function *function, uint64_t us, int nr)
{
	set_clock();
	while (nr--) {
		pid_t child = fork();

		if (!child) {
			spend_for(function, us * US);
			_exit(0);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			die("fork: %m");
		/* Vary the phase to all other periodic events */
		usleep(100 + nr * 7919 % 10000);
	}
	cell_end(function);
}

/* Siblings run one after the other, so that the TSC measures each alone. */
static void grow(struct function *function, int depth, uint64_t ns)
{
	int i;

	spend_for(function, ns);
	for (i = 0; depth && i < 2; i++) {
		pid_t child = fork();

		if (!child) {
			grow(function, depth - 1, ns);
			_exit(0);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			die("fork: %m");
	}
}

static struct timespec time_of(uint64_t ns)
{
	return (struct timespec){ ns / SECOND, ns % SECOND };
}

/* This clock has the time of the kernel's last clock tick. */
static uint64_t last_jiffy_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	return time.tv_sec * SECOND + time.tv_nsec;
}

static void run_jiffies(struct function *function, int nr)
{
	struct timespec resolution;
	uint64_t jiffy, after;

	set_clock();
	clock_getres(CLOCK_MONOTONIC_COARSE, &resolution);
	jiffy = resolution.tv_nsec;
	for (after = last_jiffy_ns(); nr--; after += jiffy) {
		struct timespec wake = time_of(after + jiffy / 10);

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
		spend_for(function, jiffy * 6 / 10);
	}
	cell_end(function);
}

static void do_lives(int children, int depth, int jiffies)
{
	static const unsigned int us[] = {
		500, 1000, 2000, 5000, 10000, 20000
	};
	struct function *const lives[] = {
		FUNCTION_OF(short_500), FUNCTION_OF(short_1000),
		FUNCTION_OF(short_2000), FUNCTION_OF(short_5000),
		FUNCTION_OF(short_10000), FUNCTION_OF(short_20000)
	};
	struct function *family = FUNCTION_OF(tree);
	struct function *sleeper = FUNCTION_OF(between_jiffies);
	int i;

	start();
	for (i = 0; i < 6; i++)
		run_short(lives[i], us[i], children);
	set_clock();
	grow(family, depth, 5 * MS);
	cell_end(family);
	run_jiffies(sleeper, jiffies);
	/* Ticks of children may still be pending */
	usleep(100000);
	stop();
}

int main(int argc, char **argv)
{
	const char *what;
	uint64_t a, b, c;
	int option;

	while ((option = getopt(argc, argv, "+p:w:m:b:gu")) != -1) {
		if (option == 'p' || option == 'w' || option == 'm')
			period_ns = atoll(optarg);
		watched |= option == 'w' || option == 'm';
		if (option == 'm')
			watch.target = PROFIL_WATCH_MACHINE;
		if (option == 'b')
			bpf_period_ns = atoll(optarg);
		if (option == 'g' || option == 'u')
			library_profil = option == 'u' ? profil :
							 c_library_profil();
	}
	what = optind < argc ? argv[optind] : "";
	a = optind + 1 < argc ? atoll(argv[optind + 1]) : 0;
	b = optind + 2 < argc ? atoll(argv[optind + 2]) : 0;
	c = optind + 3 < argc ? atoll(argv[optind + 3]) : 0;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("no memory");
	calibrate();
	if (!strcmp(what, "work"))
		do_work(a);
	else if (!strcmp(what, "deep"))
		descend(20, a);
	else if (!strcmp(what, "sweep"))
		do_sweep(a, b);
	else if (!strcmp(what, "threads"))
		do_threads(a, b);
	else if (!strcmp(what, "lives"))
		do_lives(a, b, c);
	else
		die("what work? See the top of the source");
	report();
	return 0;
}
