// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf.c - cost and losses of a BPF histogram, apart from its ticks
 *
 *	bpf idle	timer interrupts per second while all processes sleep
 *	bpf children	share of a child's ticks that is counted
 *	bpf lost	share that is lost when perf limits the sample rate, and
 *			while another BPF program runs
 *	bpf may		whether the caller has permission: 0, or errno
 *
 * tick.c measures the cost of a tick, truth.c the accuracy.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "bpf_peer.h"

#define PERIOD_NS	MS

#define SAMPLE_RATE	"/proc/sys/kernel/perf_event_max_sample_rate"

#define IDLE_SECONDS	10

static const uint64_t *start_at(enum bpf_scope scope, uint64_t period_ns)
{
	return bpf_start(&(struct bpf_request){
		.scope = scope,
		.text = &__executable_start,
		.size = &etext - &__executable_start,
		.shift = 2,
		.period_ns = period_ns,
	});
}

/* Ticks in the program, without the C library. */
static uint64_t stop(const uint64_t *cells)
{
	bpf_stop();
	return sum64(cells, (&etext - &__executable_start) / 4);
}

static void measure_idle(const char *tool)
{
	uint64_t before = timer_interrupts();

	sleep(IDLE_SECONDS);
	print_result("idle-bpf", tool, 0,
		     (double)(timer_interrupts() - before) / IDLE_SECONDS, 0,
		     "wakeups/s");
}

static void idle(void)
{
	measure_idle("nobody");
	start_at(BPF_SCOPE_PROCESS, PERIOD_NS);
	measure_idle("bpf");
	bpf_stop();
	start_at(BPF_SCOPE_TASK, PERIOD_NS);
	measure_idle("bpf-task");
	bpf_stop();
}

static void spend(int us)
{
	while (us--)
		spend_us();
}

/* Run children of one second in total, one after the other. */
static void run_children(int us)
{
	int nr = 1000000 / us;

	while (nr--) {
		pid_t child = fork_child();

		if (!child) {
			spend(us);
			_exit(0);
		}
		if (child < 0 || wait_child(child))
			die("a child failed");
	}
}

/* The parent forks and waits, with hardly any ticks in its own text. */
static void count_children(enum bpf_scope scope, const char *tool, int us)
{
	const uint64_t *cells = start_at(scope, PERIOD_NS);

	run_children(us);
	print_result("bpf-children", tool, us,
		     100.0 * stop(cells) * PERIOD_NS / SECOND, 0,
		     "% of ticks");
}

static void children(void)
{
	static const int us[] = { 500, 5000, 1000000 };
	int i;

	bpf_make_cgroup();
	for (i = 0; i < sizeof(us) / sizeof(us[0]); i++) {
		count_children(BPF_SCOPE_PROCESS, "bpf", us[i]);
		count_children(BPF_SCOPE_CGROUP, "bpf-cgroup", us[i]);
		count_children(BPF_SCOPE_TASK, "bpf-task", us[i]);
	}
}

static void write_rate(const char *rate)
{
	FILE *file = fopen(SAMPLE_RATE, "w");

	if (!file || fputs(rate, file) < 0 || fclose(file))
		die("%s: %m", SAMPLE_RATE);
}

static void read_rate(char *rate, size_t size)
{
	FILE *file = fopen(SAMPLE_RATE, "r");

	if (!file || !fgets(rate, size, file))
		die("%s: %m", SAMPLE_RATE);
	fclose(file);
}

static void loop_until(uint64_t end)
{
	while (monotonic_ns() < end)
		spend_us();
}

static void call_until(uint64_t end)
{
	while (monotonic_ns() < end)
		syscall(SYS_getppid);
}

/* One counter for all addresses, so that only lost ticks are missing. */
static void measure_loss(const char *tool, void (*work)(uint64_t end))
{
	const uint64_t *cell = bpf_start(&(struct bpf_request){
		.scope = BPF_SCOPE_PROCESS,
		.size = 1,
		.shift = 63,
		.period_ns = PERIOD_NS,
	});
	uint64_t cpu_ns = process_cpu_ns();
	double due;

	work(monotonic_ns() + 2 * SECOND);
	due = (double)(process_cpu_ns() - cpu_ns) / PERIOD_NS;
	bpf_stop();
	print_result("bpf-lost", tool, 0, 100 * (due - cell[0]) / due, 0,
		     "% of ticks");
}

static void lost(void)
{
	char rate[32];

	measure_loss("bpf", loop_until);
	read_rate(rate, sizeof(rate));
	write_rate("250\n");
	measure_loss("max-rate-250", loop_until);
	write_rate(rate);
	measure_loss("calls", call_until);
	bpf_occupy();
	measure_loss("calls-traced", call_until);
}

static void may(void)
{
	print_result("bpf-may", "perf_event_open", 0, bpf_clock_error(), 0,
		     "errno");
	print_result("bpf-may", "bpf", 0, bpf_load_error(), 0, "errno");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "idle"))
		idle();
	else if (!strcmp(what, "children"))
		children();
	else if (!strcmp(what, "lost"))
		lost();
	else if (!strcmp(what, "may"))
		may();
	else
		die("usage: bpf idle|children|lost|may");
	return 0;
}
