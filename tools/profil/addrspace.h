/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * addrspace.h - the address space of an exec: where its DSOs are mapped
 */
#ifndef ADDRSPACE_H
#define ADDRSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profil/exec.h"
#include "profil/ptrace/rtld.h"

/**
 * struct addrspace - an address space
 * @users: number of threads in it
 * @exec: the exec that runs in it. A forked child shares the exec with its
 *	parent but has its own address space, in which it may load and unload
 *	other libraries
 * @code: address of text that has run once and never runs again: the entry
 *	point, which injected code overwrites for a while
 * @loader: breakpoints in rtld
 * @base: load address of rtld; 0 if the program is static
 * @nr_live: number of DSOs mapped now
 * @live: their indices in the exec's DSOs
 * @nr_mapped: number of elements of @mapped
 * @mapped: address of each counter area of the exec; 0 if it is not mapped in
 *	this address space
 */
struct addrspace {
	unsigned int users;
	struct exec *exec;
	uint64_t code;
	struct loader loader;
	uint64_t base;
	size_t nr_live;
	size_t *live;
	unsigned int nr_mapped;
	uint64_t *mapped;
};

struct addrspace *addrspace_new(struct exec *exec, pid_t tid);
struct addrspace *addrspace_get(struct addrspace *space);
struct addrspace *addrspace_copy(const struct addrspace *space);
void addrspace_put(struct addrspace *space);
void addrspace_separate(struct addrspace *space, struct exec *exec);

int addrspace_look(struct addrspace *space, pid_t tid, size_t most,
		   bool *changed);
int addrspace_place(struct addrspace *space, uint64_t head, uint32_t bucket);
uint64_t addrspace_mapped(const struct addrspace *space, unsigned int area);
int addrspace_set_mapped(struct addrspace *space, unsigned int area,
			 uint64_t address);
const struct dso *addrspace_dso_at(const struct addrspace *space, uint64_t pc);

#endif /* ADDRSPACE_H */
