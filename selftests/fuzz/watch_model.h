/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watch_model.h - a model of watches, made from <linux/profil.h>
 */
#ifndef FUZZ_WATCH_MODEL_H
#define FUZZ_WATCH_MODEL_H

#include <linux/profil.h>

#include "fuzz/arena.h"
#include "fuzz/make.h"

/**
 * struct model_file - an open file of the device
 * @write_only: it is not open for reading
 * @state: enum profil_state of its watch
 * @had: it has had a watch
 * @as: the request, as it was granted
 * @last: last status of its watch
 * @tables: that its watch has
 * @has_vdso_table: one for the vDSO
 * @has_file_table: one for &struct fuzz_targets.file
 */
struct model_file {
	bool write_only;
	uint32_t state;
	bool had;
	struct profil_watch as;
	struct profil_watch_status last;
	uint32_t tables;
	bool has_vdso_table;
	bool has_file_table;
};

#define MODEL_FILES	3

/**
 * struct watch_model - the device, as one user sees it
 * @arena: the memory for arguments
 * @info: what the device says of itself
 * @targets: what exists
 * @perfmon: the user has CAP_PERFMON
 * @restricted: the device refuses periods shorter than 10 ms
 * @files: the open files
 */
struct watch_model {
	struct arena *arena;
	struct profil_info info;
	struct fuzz_targets targets;
	bool perfmon;
	bool restricted;
	struct model_file files[MODEL_FILES];
};

int watch_model_request(struct watch_model *model, struct model_file *file,
			const struct attempt *attempt, int error);

#endif /* FUZZ_WATCH_MODEL_H */
