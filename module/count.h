/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * count.h - what becomes of a tick
 */
#ifndef PROFIL_COUNT_H
#define PROFIL_COUNT_H

#include <linux/types.h>

struct profil_run;

/**
 * struct profil_tick - one or several ticks at one program counter
 * @pc: program counter in user mode
 * @nr: number of ticks; more than one if the clock came late
 * @user: the processor is in user mode at @pc, so that the memory of the
 *	program can be written
 */
struct profil_tick {
	u64 pc;
	u32 nr;
	bool user;
};

void profil_count(struct profil_run *run, struct profil_tick tick);

#endif /* PROFIL_COUNT_H */
