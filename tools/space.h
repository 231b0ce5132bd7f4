/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * space.h - an address space: what is mapped where, of an image
 */
#ifndef SPACE_H
#define SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "image.h"
#include "loader.h"

/**
 * struct space - an address space
 * @users: threads that are in it
 * @image: what is executed in it. A child by fork has the image of its parent
 *	and a space of its own, where other libraries may come and go
 * @code: text that has been executed once and never will be again
 * @loader: what is known of the loader
 * @base: address at which the loader was loaded, 0 if there is none
 * @nr_live: number of objects that are mapped
 * @live: their numbers in the image
 * @nr_mapped: number of areas that are known here
 * @mapped: address of each area, 0 if it is not mapped here
 */
struct space {
	unsigned int users;
	struct image *image;
	uint64_t code;
	struct loader loader;
	uint64_t base;
	size_t nr_live;
	size_t *live;
	unsigned int nr_mapped;
	uint64_t *mapped;
};

struct space *space_new(struct image *image, pid_t tid);
struct space *space_get(struct space *space);
struct space *space_copy(const struct space *space);
void space_put(struct space *space);
void space_separate(struct space *space, struct image *image);

int space_look(struct space *space, pid_t tid, size_t most, bool *changed);
int space_place(struct space *space, uint64_t head, uint32_t bucket);
uint64_t space_mapped(const struct space *space, unsigned int area);
int space_set_mapped(struct space *space, unsigned int area, uint64_t address);
const struct object *space_object_at(const struct space *space, uint64_t pc);

#endif /* SPACE_H */
