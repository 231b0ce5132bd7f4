// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock_perf.c - ticks from the perf subsystem's software cpu-clock
 *
 * One counter for each processor. It is an hrtimer that perf restarts after
 * each overflow at its last expiry plus hw.sample_period, read after the
 * overflow handler has returned: so the handler decides when the next one
 * comes. perf's limits hold for it: where perf_event_max_sample_rate is below
 * the rate of the ticks, they come late and in step with the kernel's clock.
 *
 * Context: said at each function. Takes no locks.
 */
#include <linux/perf_event.h>
#include <linux/percpu.h>

#include "clock.h"

/* Parked is an interrupt every 12 days: perf knows no counter without. */
#define PROFIL_PERF_PARKED_NS	(1ULL << 50)

static DEFINE_PER_CPU(struct perf_event *, profil_perf_event);

/* Context: hard interrupt. */
static void profil_perf_overflow(struct perf_event *event,
				 struct perf_sample_data *data,
				 struct pt_regs *regs)
{
	u64 expired = ktime_to_ns(hrtimer_get_expires(&event->hw.hrtimer));
	u64 next = profil_clock_tick(regs);

	event->hw.sample_period = next == PROFIL_PARKED ?
		PROFIL_PERF_PARKED_NS : next - expired;
}

/*
 * Starting a software clock that runs already moves its timer. perf does no
 * more itself when it switches a task's counter in, under the same locks.
 */
static void profil_perf_arm(u64 when, u64 now)
{
	struct perf_event *event = __this_cpu_read(profil_perf_event);

	local64_set(&event->hw.period_left, when - now);
	event->pmu->start(event, 0);
}

/*
 * Not to be called for a user directly: perf would ask whether that user may
 * watch the processor. The hotplug threads may.
 */
static int profil_perf_online(unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.sample_period = PROFIL_PERF_PARKED_NS,
		.pinned = 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, cpu, NULL,
						 profil_perf_overflow, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	per_cpu(profil_perf_event, cpu) = event;
	return 0;
}

static void profil_perf_offline(unsigned int cpu)
{
	perf_event_release_kernel(per_cpu(profil_perf_event, cpu));
	per_cpu(profil_perf_event, cpu) = NULL;
}

const struct profil_clock_ops profil_clock_perf = {
	.name = "perf",
	.kind = PROFIL_CLOCK_PERF,
	.online = profil_perf_online,
	.offline = profil_perf_offline,
	.arm = profil_perf_arm,
};
