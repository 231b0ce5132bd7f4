/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * disassemble.h - the instructions of a function
 */
#ifndef DISASSEMBLE_H
#define DISASSEMBLE_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct instruction - one of a function
 * @address: as linked
 * @text: in the words of the assembler
 */
struct instruction {
	uint64_t address;
	char *text;
};

/**
 * struct instructions - those of a function
 * @nr: how many there are
 * @list: ascending by address
 */
struct instructions {
	size_t nr;
	struct instruction *list;
};

int disassemble(const char *file, uint64_t start, uint64_t end,
		struct instructions *instructions);
void instructions_free(struct instructions *instructions);

#endif /* DISASSEMBLE_H */
