/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * make.h - make the table of a file that says where callers are
 */
#ifndef UNWIND_MAKE_H
#define UNWIND_MAKE_H

#include <stddef.h>

/* libelf's Elf */
struct Elf;

void *unwind_make(struct Elf *elf, size_t *bytes);

#endif /* UNWIND_MAKE_H */
