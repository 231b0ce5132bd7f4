/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cfi.h - call frame information of DWARF, as rules
 */
#ifndef CFI_H
#define CFI_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "unwind.h"

/**
 * struct cfi_range - a range of addresses with rules of its own, as a rule a
 *	function
 * @start: first address; see array_by_start()
 * @end: address after the last one
 * @common: index in &struct cfi.commons
 * @instructions: what to execute
 * @instructions_end: their end
 */
struct cfi_range {
	uint64_t start;
	uint64_t end;
	size_t common;
	const uint8_t *instructions;
	const uint8_t *instructions_end;
};

/**
 * struct cfi - a section
 * @ident: e_ident of its file
 * @data: the section
 * @address: its address in the file
 * @is_eh: it is .eh_frame, not .debug_frame
 * @ranges: what is in it
 * @nr: number of ranges
 * @commons: what many ranges have in common
 * @nr_commons: their number
 * @is_out_of_memory: some are missing
 */
struct cfi {
	const unsigned char *ident;
	Elf_Data *data;
	uint64_t address;
	bool is_eh;
	struct cfi_range *ranges;
	size_t nr;
	struct cfi_common *commons;
	size_t nr_commons;
	bool is_out_of_memory;
};

/* Called for each address at which another rule begins to hold */
typedef void (*cfi_row)(void *data, uint64_t address,
			struct profil_unwind_rule rule);

bool cfi_read(struct cfi *cfi);
void cfi_run(const struct cfi *cfi, const struct cfi_range *range, cfi_row row,
	     void *data);
void cfi_free(struct cfi *cfi);

#endif /* CFI_H */
