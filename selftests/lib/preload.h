/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * preload.h - for tests that start programs with LD_PRELOAD=PRELOAD
 *
 * Include it after common.h.
 */
#ifndef SELFTESTS_PRELOAD_H
#define SELFTESTS_PRELOAD_H

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define PRELOAD	"libprofil-preload.so"

/* The preload library is in the directory of the library that we run with. */
static void __attribute__((constructor)) find_preload(void)
{
	char directory[PATH_MAX];
	Dl_info library;

	if (!dladdr(dlsym(RTLD_DEFAULT, "profil_set"), &library))
		return;
	snprintf(directory, sizeof(directory), "%s", library.dli_fname);
	setenv("LD_LIBRARY_PATH", dirname(directory), 0);
}

#endif /* SELFTESTS_PRELOAD_H */
