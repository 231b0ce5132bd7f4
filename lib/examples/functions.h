/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * functions.h - from counters to functions
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include "text.h"

/**
 * struct function - one that had ticks
 * @piece: where it is
 * @start: first address
 * @end: address after the last
 * @name: its name in the symbol table, or NULL
 * @ticks: sum of its counters
 */
struct function {
	const struct piece *piece;
	uintptr_t start;
	uintptr_t end;
	const char *name;
	uint64_t ticks;
};

/**
 * struct functions - all that had ticks, the most first
 * @nr: number of functions
 * @list: room for @room of them
 * @room: grows
 */
struct functions {
	size_t nr;
	size_t room;
	struct function *list;
};

int functions_find(struct functions *functions, const struct text *text);

#endif /* FUNCTIONS_H */
