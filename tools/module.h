/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * module.h - ticks by the module, which counts in the program's own memory
 */
#ifndef MODULE_H
#define MODULE_H

#include <linux/profil.h>

#include "run.h"
#include "space.h"

int module_info(struct profil_info *info);
const char *module_begin(struct run *run, struct space *space, pid_t tid,
			 bool executed);
const char *module_separate(struct run *run, struct space *space, pid_t tid);
size_t module_look(const struct run *run);
void module_end(struct run *run);

#endif /* MODULE_H */
