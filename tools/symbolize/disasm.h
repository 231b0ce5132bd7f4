/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * disasm.h - disassemble a function
 */
#ifndef DISASM_H
#define DISASM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct instruction - an instruction
 * @address: link-time address
 * @text: assembly text
 */
struct instruction {
	uint64_t address;
	char *text;
};

/**
 * struct instructions - instructions of a function
 * @nr: number of instructions
 * @list: instructions, sorted by address
 */
struct instructions {
	size_t nr;
	struct instruction *list;
};

int disassemble(const char *file, uid_t owner, uint64_t start, uint64_t end,
		struct instructions *instructions);
void instructions_free(struct instructions *instructions);

#endif /* DISASM_H */
