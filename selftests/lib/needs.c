// SPDX-License-Identifier: GPL-2.0-only
/*
 * needs.c - skip a test program if the machine lacks something it needs
 */
#include <errno.h>
#include <string.h>

#include "kselftest.h"
#include "common.h"
#include "needs.h"

void need(bool met, const char *what)
{
	if (!met)
		ksft_exit_skip("needs %s\n", what);
}

/*
 * Every program that links this file needs the device, unless the library is to
 * count in user space.
 */
static void __attribute__((constructor)) need_device(void)
{
	if (!in_user_space() && access(PROFIL_DEVICE, R_OK))
		ksft_exit_skip("%s: %s\n", PROFIL_DEVICE, strerror(errno));
}
