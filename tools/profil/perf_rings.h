/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_rings.h - records of inherited perf events, in the order of time
 */
#ifndef PERF_RINGS_H
#define PERF_RINGS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rings;

typedef void (*rings_take)(void *context,
			   const struct perf_event_header *record);

uint32_t rings_stack_bytes(void);
struct rings *rings_new(const struct perf_event_attr *attr);
void rings_free(struct rings *rings);

int rings_permitted(const struct perf_event_attr *attr);
const char *rings_add(struct rings *rings, pid_t tid);
void rings_stop(const struct rings *rings);

int rings_descriptor(const struct rings *rings);
void rings_read(struct rings *rings, uint64_t until_ns, rings_take take,
		void *context);
bool rings_full(const struct rings *rings);
uint64_t rings_cpu_ns(const struct rings *rings);
size_t rings_cpus(const struct rings *rings);

#endif /* PERF_RINGS_H */
