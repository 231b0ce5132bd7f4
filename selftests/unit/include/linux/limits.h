/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * limits.h - the kernel's limits of integers, for its pure code in user space
 *
 * On top of the header that the kernel gives to user space, which the C
 * library includes too.
 */
#ifndef UNIT_LINUX_LIMITS_H
#define UNIT_LINUX_LIMITS_H

#include_next <linux/limits.h>

#define U32_MAX	((__u32)~0U)
#define U64_MAX	((__u64)~0ULL)
#define S64_MAX	((__s64)(U64_MAX >> 1))

#endif /* UNIT_LINUX_LIMITS_H */
