/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dso.h - what a library exports that opener opens
 */
#ifndef PROGRAMS_DSO_H
#define PROGRAMS_DSO_H

/**
 * struct library - exported as "library"
 * @name: name of the library
 * @start: first address of its function
 * @end: address after the end of its function
 * @function: takes CPU time
 */
struct library {
	const char *name;
	const char *start;
	const char *end;
	void (*function)(void);
};

#endif /* PROGRAMS_DSO_H */
