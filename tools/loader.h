/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * loader.h - know when the loader has mapped or unmapped libraries
 */
#ifndef LOADER_H
#define LOADER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct breakpoint - an instruction at which the program stops
 * @address: of the instruction; 0 if there is no breakpoint
 * @byte: the first of the instruction
 */
struct breakpoint {
	uint64_t address;
	uint8_t byte;
};

/**
 * struct loader - what is known of a program's loader
 * @entry: where it hands over to the program
 * @change: what it calls before and after it maps or unmaps libraries
 * @state: address of what it says of itself meanwhile
 * @ret: address of an instruction that returns, which has no breakpoint
 */
struct loader {
	struct breakpoint entry;
	struct breakpoint change;
	uint64_t state;
	uint64_t ret;
};

/**
 * enum loader_stop - where a thread has stopped
 * @LOADER_NOT: at no breakpoint
 * @LOADER_ENTRY: it has handed over to the program
 * @LOADER_CHANGE: it is going to change libraries, or has done so
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

#endif /* LOADER_H */
