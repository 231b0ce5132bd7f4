/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waits.h - what threads waited in, by state and by name
 */
#ifndef WAITS_H
#define WAITS_H

#include <stdint.h>

#include "prf/prf.h"

/* Longest name of a wait, in bytes, and its NUL */
#define WAIT_NAME	64

/* More than any kernel has */
#define NR_SYSCALLS	1024

/* Names of system calls by their numbers; NULL where there is none */
extern const char * const syscalls_64[NR_SYSCALLS];
extern const char * const syscalls_32[NR_SYSCALLS];

enum prf_state wait_state(uint32_t object, uint64_t wait);
uint64_t wait_offset(uint64_t wait);
const char *wait_name(uint64_t offset, char name[WAIT_NAME]);
struct prf_dso *waits_find(struct prf_exec *exec, enum prf_state state);
struct prf_dso *waits_add(struct prf_exec *exec, enum prf_state state,
			  uint64_t address);
int waits_name(struct prf_dso *dso);
uint64_t waits_unplaced(struct prf_exec *exec, enum prf_state state);

#endif /* WAITS_H */
