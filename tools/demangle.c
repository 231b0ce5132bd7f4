// SPDX-License-Identifier: GPL-2.0-only
/*
 * demangle.c - names of C++ and Rust as they are in the source
 *
 * By the demanglers of GNU libiberty. A few hundred bytes of a symbol can stand
 * for a name of any length, as they may say "the same again, twice" over and
 * over; so a name that gets too long is given up while it is being made.
 */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"

#define LONGEST	16384

/* A name in the making. */
struct name {
	jmp_buf too_long;
	size_t length;
	char text[LONGEST];
};

static void add(const char *text, size_t length, void *data)
{
	struct name *name = data;

	if (length >= LONGEST - name->length)
		longjmp(name->too_long, 1);
	memcpy(name->text + name->length, text, length);
	name->length += length;
}

/* Rust first: what it had before its own mangling is valid C++, but for a hash. */
static int make(struct name *name, const char *symbol)
{
	if (setjmp(name->too_long))
		return 0;
	name->length = 0;
	if (rust_demangle_callback(symbol, DMGL_NO_OPTS, add, name))
		return 1;
	name->length = 0;
	return cplus_demangle_v3_callback(symbol, DMGL_PARAMS | DMGL_ANSI, add,
					  name);
}

/**
 * demangle() - the name as the source has it, if it is mangled
 * @symbol: in an object; what is behind @ is a version of it
 *
 * Return: a string to be freed, or NULL if there is no memory.
 */
char *demangle(const char *symbol)
{
	size_t length = strcspn(symbol, "@");
	char *plain = length ? strndup(symbol, length) : strdup(symbol);
	struct name *name;

	if (!plain || plain[0] != '_')
		return plain;
	name = malloc(sizeof(*name));
	if (name && make(name, plain)) {
		free(plain);
		plain = strndup(name->text, name->length);
	}
	free(name);
	return plain;
}
