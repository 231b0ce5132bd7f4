/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * profile.h - the profile of an address space
 */
#ifndef PROFIL_PROFILE_H
#define PROFIL_PROFILE_H

#include <linux/fs.h>
#include <linux/mm_types.h>

struct profil_profile;
struct profil_run;
struct profil_table;

struct profil_profile *profil_profile_lock(void);
struct profil_profile *profil_profile_lock_or_make(struct file *file);
void profil_profile_unlock(struct profil_profile *profile);

struct profil_run *profil_profile_run(struct profil_profile *profile);
struct profil_run *profil_profile_replace(struct profil_profile *profile,
					  struct profil_run *run);
void profil_run_stop(struct profil_run *run);

int profil_profile_mmap(struct file *file, struct vm_area_struct *vma);

#endif /* PROFIL_PROFILE_H */
