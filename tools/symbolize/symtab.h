/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symtab.h - symbols of a DSO, sorted by address
 */
#ifndef SYMTAB_H
#define SYMTAB_H

#include <stdint.h>

struct Dwfl_Module;
struct symtab_entry;

struct symtab *symtab_new(struct Dwfl_Module *module, uint64_t bias);
int symtab_read(struct symtab *symtab);
struct symtab_entry *symtab_find(const struct symtab *symtab, uint64_t address,
				 uint64_t *start, uint64_t *end,
				 uint64_t *until);
struct symtab_entry *symtab_label(const struct symtab *symtab, uint64_t address,
				  uint64_t first, uint64_t *start,
				  uint64_t *end);
int symtab_index(const struct symtab_entry *entry);
const char *symtab_name(const struct symtab *symtab,
			struct symtab_entry *entry);
void symtab_clip(const struct symtab *symtab, uint64_t address,
		 uint64_t *start, uint64_t *end);
void symtab_free(struct symtab *symtab);

#endif /* SYMTAB_H */
