/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * types.h - the kernel's integer types, to compile pure module code in user
 * space
 *
 * Extends the kernel's user-space header.
 */
#ifndef PROFIL_LINUX_TYPES_H
#define PROFIL_LINUX_TYPES_H

#include_next <linux/types.h>

#include <stdbool.h>
#include <stddef.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#endif /* PROFIL_LINUX_TYPES_H */
