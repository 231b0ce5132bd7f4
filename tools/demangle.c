// SPDX-License-Identifier: GPL-2.0-only
/*
 * demangle.c - names of C++ and Rust as they are in the source
 *
 * By the C++ library if the system has one: it is opened when the first such
 * name comes, so that nothing has to be linked.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "demangle.h"

typedef char *demangler(const char *name, char *buffer, size_t *size,
			int *status);

static demangler *find_demangler(void)
{
	static demangler *found;
	static bool asked;
	void *library;

	if (asked)
		return found;
	asked = true;
	library = dlopen("libstdc++.so.6", RTLD_NOW);
	if (library)
		*(void **)&found = dlsym(library, "__cxa_demangle");
	return found;
}

/**
 * demangle() - the name as the source has it, if it is mangled
 * @name: of a symbol
 *
 * Return: a string to be freed, or NULL if there is no memory.
 */
char *demangle(const char *name)
{
	char *plain = NULL;
	demangler *function;
	int status;

	if (!strncmp(name, "_Z", 2)) {
		function = find_demangler();
		if (function)
			plain = function(name, NULL, NULL, &status);
	}
	return plain ? plain : strdup(name);
}
