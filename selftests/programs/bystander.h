/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bystander.h - what programs/bystander.c reports
 */
#ifndef PROGRAMS_BYSTANDER_H
#define PROGRAMS_BYSTANDER_H

#include <stdint.h>

#include <linux/profil.h>

#define BYSTANDER_PAGE	4096

/* Parts of its text; each has a counter, on a page of its own. */
#define BYSTANDER_PARTS	16

/* How long it sleeps before it reads the counters. */
#define BYSTANDER_SLEEP_NS	300000000ULL

/*
 * struct bystander_report - first page of the memory that it shares
 * @counts: stats of its first profile
 * @in_counters: sum of that profile's counters when it stopped
 * @late: ticks that were not in the counters after its sleep
 *
 * The counters of the second profile follow, on a page each.
 */
struct bystander_report {
	struct profil_counts counts;
	uint64_t in_counters;
	uint64_t late;
};

#endif /* PROGRAMS_BYSTANDER_H */
