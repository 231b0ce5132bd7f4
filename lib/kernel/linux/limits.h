/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * limits.h - the kernel's integer limits, to compile pure module code in user
 * space
 *
 * Extends the kernel's user-space header, which the C library includes too.
 */
#ifndef PROFIL_LINUX_LIMITS_H
#define PROFIL_LINUX_LIMITS_H

#include_next <linux/limits.h>

#define U32_MAX	((__u32)~0U)
#define U64_MAX	((__u64)~0ULL)
#define S64_MAX	((__s64)(U64_MAX >> 1))

#endif /* PROFIL_LINUX_LIMITS_H */
