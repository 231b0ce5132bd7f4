/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * sched.h - let others run, to compile pure module code in user space, where
 * they do anyway
 */
#ifndef PROFIL_LINUX_SCHED_H
#define PROFIL_LINUX_SCHED_H

static inline void cond_resched(void)
{
}

#endif /* PROFIL_LINUX_SCHED_H */
