/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * nospec.h - no bounds for a CPU that speculates: in user space it has nothing to
 * find
 */
#ifndef PROFIL_LINUX_NOSPEC_H
#define PROFIL_LINUX_NOSPEC_H

#define array_index_nospec(index, size)	(index)

#endif /* PROFIL_LINUX_NOSPEC_H */
