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
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/demangle.h"

#define LONGEST	16384

/**
 * struct style - an argument of --names
 * @word: the argument
 * @cplus: options of the demangler for C++
 * @rust: options of the demangler for Rust
 * @prune: drop template arguments
 */
struct style {
	const char *word;
	int cplus;
	int rust;
	bool prune;
};

/* The first one is the default. */
static const struct style styles[] = {
	{ "default", DMGL_PARAMS | DMGL_ANSI, DMGL_NO_OPTS, false },
	{ "short", DMGL_NO_OPTS, DMGL_NO_OPTS, true },
	{ "long", DMGL_PARAMS | DMGL_ANSI, DMGL_VERBOSE, false },
};

#define NR_STYLES	(sizeof(styles) / sizeof(styles[0]))

static const struct style *style = styles;

/**
 * demangle_style() - set the style of names
 * @word: default, short or long
 *
 * Return: 0, or -1 if there is no such style.
 */
int demangle_style(const char *word)
{
	size_t i;

	for (i = 0; i < NR_STYLES; i++) {
		if (strcmp(word, styles[i].word))
			continue;
		style = &styles[i];
		return 0;
	}
	return -1;
}

/* Output of the demangler, and its memory. */
struct name {
	jmp_buf too_long;
	void *memory;
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

/* Replace templates by their names, and functions around others by theirs. */
static void prune(struct demangle_component **part)
{
	for (;;) {
		struct demangle_component *whole = *part;

		switch (whole->type) {
		case DEMANGLE_COMPONENT_QUAL_NAME:
		case DEMANGLE_COMPONENT_LOCAL_NAME:
			prune(&whole->u.s_binary.right);
			part = &whole->u.s_binary.left;
			break;
		case DEMANGLE_COMPONENT_TEMPLATE:
		case DEMANGLE_COMPONENT_TYPED_NAME:
		case DEMANGLE_COMPONENT_TAGGED_NAME:
			*part = whole->u.s_binary.left;
			break;
		default:
			return;
		}
	}
}

static int make_pruned(struct name *name, const char *symbol)
{
	struct demangle_component *parts;

	/* The callback functions have this limit, but not this one */
	if (strlen(symbol) > DEMANGLE_RECURSION_LIMIT / 2)
		return 0;
	parts = cplus_demangle_v3_components(symbol, style->cplus,
					     &name->memory);
	if (!parts)
		return 0;
	prune(&parts);
	return cplus_demangle_print_callback(style->cplus, parts, add, name);
}

/* Try Rust first: as C++, a legacy Rust symbol would keep its hash */
static int make(struct name *name, const char *symbol)
{
	if (setjmp(name->too_long))
		return 0;
	name->length = 0;
	if (rust_demangle_callback(symbol, style->rust, add, name))
		return 1;
	name->length = 0;
	if (style->prune && make_pruned(name, symbol))
		return 1;
	/* The name of a conversion may need a template argument */
	name->length = 0;
	return cplus_demangle_v3_callback(symbol, style->cplus, add, name);
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
	if (!name)
		return plain;
	name->memory = NULL;
	if (make(name, plain)) {
		free(plain);
		plain = strndup(name->text, name->length);
	}
	free(name->memory);
	free(name);
	return plain;
}
