/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * library.h - what a library tells that is opened while a program runs
 */
#ifndef HELPERS_LIBRARY_H
#define HELPERS_LIBRARY_H

/**
 * struct library - exported as "library"
 * @name: which one it is
 * @start: where its function begins
 * @end: and ends
 * @function: that takes CPU time
 */
struct library {
	const char *name;
	const char *start;
	const char *end;
	void (*function)(void);
};

#endif /* HELPERS_LIBRARY_H */
