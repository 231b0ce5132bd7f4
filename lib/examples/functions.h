/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * functions.h - find the functions with ticks
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include "text.h"

/**
 * struct function - a function with ticks
 * @piece: the text that contains it
 * @start: first address
 * @end: first address after it
 * @name: its symbol, or NULL
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
 * struct functions - all functions with ticks, most ticks first
 * @nr: number of functions
 * @list: the functions
 * @room: number of elements allocated
 */
struct functions {
	size_t nr;
	size_t room;
	struct function *list;
};

int functions_find(struct functions *functions, const struct text *text);

#endif /* FUNCTIONS_H */
