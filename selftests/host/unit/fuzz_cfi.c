// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_cfi.c - fuzz what reads call frame information
 *
 * Aborts if rules of a range do not ascend within it, or if a sanitizer finds an
 * error.
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/cfi.h"

struct seen {
	const struct cfi_range *range;
	uint64_t next;
};

static void check_row(void *data, uint64_t address,
		      struct profil_unwind_rule rule)
{
	struct seen *seen = data;

	if (address < seen->next || address >= seen->range->end ||
	    rule.cfa >= PROFIL_UNWIND_NR_CFA ||
	    rule.bx == PROFIL_UNWIND_CHAINED)
		abort();
	seen->next = address;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const unsigned char ident[EI_NIDENT] = {
		ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB
	};
	Elf_Data data = { 0 };
	struct cfi cfi = {
		.ident = ident, .data = &data, .address = 0x1000,
	};
	size_t i;

	if (!size)
		return 0;
	cfi.is_eh = *bytes & 1;
	data.d_size = size - 1;
	/* Of its exact size, so that nothing is read behind it */
	data.d_buf = malloc(size - 1);
	memcpy(data.d_buf, bytes + 1, size - 1);
	cfi_read(&cfi);
	for (i = 0; i < cfi.nr; i++) {
		struct seen seen = { &cfi.ranges[i], cfi.ranges[i].start };

		cfi_run(&cfi, &cfi.ranges[i], check_row, &seen);
	}
	cfi_free(&cfi);
	free(data.d_buf);
	return 0;
}
