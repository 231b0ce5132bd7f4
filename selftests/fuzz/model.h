/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * model.h - a model of the device, made from <linux/profil.h> alone
 */
#ifndef FUZZ_MODEL_H
#define FUZZ_MODEL_H

#include <linux/profil.h>

#include "fuzz/arena.h"

/**
 * struct model - the device, as one address space sees it
 * @arena: the memory for arguments
 * @info: expected results of PROFIL_IOC_INFO
 * @restricted: the device refuses periods shorter than the default
 * @no_quota: no user may start another profile
 * @no_room: the address space may not grow
 * @write_only: the descriptor is not open for reading
 * @runs: a session started by @set is running
 * @set: its flags, width, period_ns and nr_regions
 */
struct model {
	struct arena *arena;
	struct profil_info info;
	bool restricted;
	bool no_quota;
	bool no_room;
	bool write_only;
	bool runs;
	struct profil_set set;
};

int model_copy_in(const struct arena *arena, uint64_t arg, void *to,
		  uint32_t first, uint32_t known);
int model_put_results(struct arena *arena, uint64_t arg, uint32_t size,
		      uint32_t known);
int model_request(struct model *model, unsigned int request, uint64_t arg);
bool model_agrees(const struct model *model,
		  const struct profil_status *status);
bool model_conserved(const struct profil_status *status);

#endif /* FUZZ_MODEL_H */
