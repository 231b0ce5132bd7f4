// SPDX-License-Identifier: GPL-2.0-only
/*
 * user.c - act with the rights of another user for a while
 *
 * A program names the files that it was made from, any files: only what its owner
 * may read may be shown of them. That concerns root, who may read all.
 */
#define _GNU_SOURCE
#include <err.h>
#include <grp.h>
#include <unistd.h>

#include "util/user.h"

/**
 * user_become() - if the process is root's, take the rights of another user
 * @uid: the user; with root, or in another user's process, nothing changes
 *
 * Until user_return(), also what the process executes has only these.
 *
 * Return: whether that succeeded.
 */
bool user_become(uid_t uid)
{
	if (geteuid() || !uid)
		return true;
	/* Root's own groups give it no right that it does not have */
	if (!setgroups(0, NULL) && !setresgid(USER_NOBODY, USER_NOBODY, 0) &&
	    !setresuid(uid, uid, 0))
		return true;
	user_return();
	return false;
}

/** user_return() - have the rights of root again, after user_become() */
void user_return(void)
{
	uid_t real, effective, saved;

	if (getresuid(&real, &effective, &saved) || saved)
		return;
	if (setresuid(0, 0, 0) || setresgid(0, 0, 0))
		err(2, "cannot become root again");
}
