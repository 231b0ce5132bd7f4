// SPDX-License-Identifier: GPL-2.0-only
/*
 * demangle.c - demangle C++ and Rust symbols
 *
 * Uses the demanglers of GNU libiberty. With nested substitutions, a symbol of
 * a few hundred bytes can expand to a name of any length, so demangling stops
 * when the name gets too long.
 */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/demangle.h"

#define LONGEST	16384

/* Output of the demangler. */
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

/* Try Rust first: as C++, a legacy Rust symbol would keep its hash */
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
 * demangle() - demangle a symbol
 * @symbol: the symbol; a version after @ is cut off
 *
 * Return: a string to be freed, the symbol itself if it is not mangled; NULL if
 * out of memory.
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
