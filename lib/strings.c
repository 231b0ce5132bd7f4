// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * strings.c - names of the states of profiles and regions; see profil.h
 */
#include <stddef.h>

#include "device.h"

#define NR(array)	(sizeof(array) / sizeof((array)[0]))

static const char *profil_string(const char *const *strings, size_t nr,
				 unsigned int state)
{
	return state < nr ? strings[state] :
		"in a state that this version of the library does not know";
}

PROFIL_PUBLIC const char *profil_state_string(unsigned int state)
{
	static const char *const strings[] = {
		[PROFIL_STATE_OFF] = "off",
		[PROFIL_STATE_ON] = "on",
		[PROFIL_STATE_FULL] = "stopped: a counter reached 32767",
	};

	return profil_string(strings, NR(strings), state);
}

PROFIL_PUBLIC const char *profil_region_state_string(unsigned int state)
{
	static const char *const strings[] = {
		[PROFIL_REGION_ON] = "on",
		[PROFIL_REGION_DISABLED] = "not enabled: its scale is 0 or 1",
		[PROFIL_REGION_EMPTY] =
			"not enabled: its size has no room for one counter",
		[PROFIL_REGION_UNMAPPED] =
			"off: a counter was not in mapped memory",
		[PROFIL_REGION_READONLY] =
			"off: a counter was not in writable memory",
		[PROFIL_REGION_NOPAGE] =
			"off: there was no page for a counter, as in a truncated file",
		[PROFIL_REGION_DEVICE] =
			"off: its counters are in memory of a device",
		[PROFIL_REGION_FILE] =
			"off: its counters are in a file whose file system may block",
	};

	return profil_string(strings, NR(strings), state);
}
