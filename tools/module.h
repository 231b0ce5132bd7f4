/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * module.h - ticks by the module, which counts in the program's own memory
 */
#ifndef MODULE_H
#define MODULE_H

#include <linux/profil.h>

#include "image.h"
#include "run.h"

int module_info(struct profil_info *info);
int module_begin(struct run *run, struct image *image, unsigned int area,
		 pid_t tid);

#endif /* MODULE_H */
