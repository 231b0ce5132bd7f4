/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rtld.h - notice when rtld has mapped or unmapped libraries
 */
#ifndef RTLD_H
#define RTLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct breakpoint - an int3 over the first byte of an instruction
 * @address: address of the instruction; 0 if the breakpoint is not set
 * @byte: the original first byte
 */
struct breakpoint {
	uint64_t address;
	uint8_t byte;
};

/**
 * struct loader - breakpoints in rtld
 * @entry: breakpoint at the program's entry point
 * @change: breakpoint at r_brk, which rtld calls before and after it maps or
 *	unmaps libraries
 * @state: address of r_state
 * @ret: address of a ret instruction without a breakpoint
 */
struct loader {
	struct breakpoint entry;
	struct breakpoint change;
	uint64_t state;
	uint64_t ret;
};

/**
 * enum loader_stop - breakpoint at which a thread has stopped
 * @LOADER_NOT: none of ours
 * @LOADER_ENTRY: the entry point: rtld hands over to the program
 * @LOADER_CHANGE: r_brk: rtld is about to change the list of libraries, or has
 *	changed it
 */
enum loader_stop {
	LOADER_NOT,
	LOADER_ENTRY,
	LOADER_CHANGE,
};

void loader_begin(struct loader *loader, pid_t tid, uint64_t entry);
const char *loader_follow(struct loader *loader, pid_t tid);
enum loader_stop loader_stopped(const struct loader *loader, pid_t tid);
bool loader_is_consistent(const struct loader *loader, pid_t tid);
void loader_go_on(struct loader *loader, pid_t tid, enum loader_stop stop);
void loader_leave(const struct loader *loader, pid_t tid);

#endif /* RTLD_H */
