// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * behaviour_named.c - from the name of a system to its behaviour
 *
 * For libprofil-preload.so: who is linked with the library calls a function.
 */
#include <string.h>

#include "behaviour.h"

/**
 * profil_behaviour_named() - find a behaviour
 * @name: what somebody asked for; the empty string or NULL is the default
 *
 * Return: the behaviour, or NULL if there is none of this name.
 */
const struct profil_behaviour *profil_behaviour_named(const char *name)
{
	size_t i;

	for (i = 0; i <= PROFIL_GLIBC; i++)
		if (!strcmp(profil_behaviours[i].name, name ? name : ""))
			return &profil_behaviours[i];
	return NULL;
}
