/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * nospec.h - an index, or 0 if it is out of bounds; a CPU that speculates has
 * nothing to find in user space
 */
#ifndef PROFIL_LINUX_NOSPEC_H
#define PROFIL_LINUX_NOSPEC_H

#define array_index_nospec(index, size)	((index) < (size) ? (index) : 0)

#endif /* PROFIL_LINUX_NOSPEC_H */
