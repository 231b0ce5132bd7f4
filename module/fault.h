/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fault.h - memory of the program that is not there, or not right
 */
#ifndef PROFIL_FAULT_H
#define PROFIL_FAULT_H

#include <linux/mm_types.h>

#include <linux/profil.h>

int profil_fault_in(struct mm_struct *mm, unsigned long addr,
		    enum profil_region_state *why);
int profil_buffer_state(u64 base, u64 size);

#endif /* PROFIL_FAULT_H */
