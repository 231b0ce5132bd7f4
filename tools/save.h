/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * save.h - write what a run has brought
 */
#ifndef SAVE_H
#define SAVE_H

#include "run.h"

int save_check(struct run *run);
void save_nothing(const struct run *run);
int save_run(const struct run *run);

#endif /* SAVE_H */
