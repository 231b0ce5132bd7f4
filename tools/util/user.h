/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user.h - act with the rights of another user for a while
 */
#ifndef USER_H
#define USER_H

#include <stdbool.h>
#include <sys/types.h>

#define USER_NOBODY	65534

bool user_become(uid_t uid);
void user_return(void);

#endif /* USER_H */
