// SPDX-License-Identifier: GPL-2.0-only
/*
 * floor.c - minimum cost of a clock tick
 *
 * Has a perf cpu-clock event on each CPU with an overflow handler that does
 * nothing. Only for the bench, which compares ticks of profil.ko with it.
 */
#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

static unsigned int period_ns = 1000000;
module_param(period_ns, uint, 0444);
MODULE_PARM_DESC(period_ns, "time between ticks");

static DEFINE_PER_CPU(struct perf_event *, floor_event);

/* Context: hard interrupt. */
static void floor_overflow(struct perf_event *event,
			   struct perf_sample_data *data, struct pt_regs *regs)
{
}

static void floor_release(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (per_cpu(floor_event, cpu))
			perf_event_release_kernel(per_cpu(floor_event, cpu));
}

static int __init floor_init(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.sample_period = period_ns,
		.pinned = 1,
	};
	unsigned int cpu;
	int err = 0;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct perf_event *event;

		event = perf_event_create_kernel_counter(&attr, cpu, NULL,
							 floor_overflow, NULL);
		if (IS_ERR(event)) {
			err = PTR_ERR(event);
			break;
		}
		per_cpu(floor_event, cpu) = event;
	}
	cpus_read_unlock();
	if (err)
		floor_release();
	return err;
}
module_init(floor_init);

static void __exit floor_exit(void)
{
	floor_release();
}
module_exit(floor_exit);

MODULE_DESCRIPTION("Clock ticks that do nothing, to compare with");
MODULE_LICENSE("GPL");
