/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbols.h - find the function and source line at an address of a DSO
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdbool.h>
#include <sys/types.h>

#include "prf/prf.h"
#include "symbolize/inlines.h"
#include "symbolize/stored.h"
#include "util/file.h"

/**
 * struct symbols - sources of a DSO's symbols
 * @problem: why there are no symbols, or NULL
 * @no_file: why there is no file with code, or NULL; profiles may have names
 * @file: path of the DSO's code, which other processes can open, or NULL
 * @owner: owner of @file
 * @label: path of the DSO, for names of code without symbols
 *
 * The other members are private to symbols.c.
 */
struct symbols {
	const char *problem;
	const char *no_file;
	char *file;
	uid_t owner;
	const char *label;
	uint64_t changed_ns;
	struct Dwfl *dwfl;
	struct Dwfl_Module *module;
	size_t nr_segments;
	struct prf_segment *segments;
	struct symtab *symtab;
	struct frames *frames;
	struct units *units;
	size_t nr_names;
	struct code_name *names;
	struct stored stored;
	int fd;
};

/**
 * struct symbol - a function
 * @name: name, to be freed; if there is no symbol, DSO and address, or NULL by
 *	symbols_look_up()
 * @start: first link-time address
 * @end: first address after it
 * @until: from the address that was looked up to before this one and before @end,
 *	the function is the same
 */
struct symbol {
	char *name;
	uint64_t start;
	uint64_t end;
	uint64_t until;
};

/**
 * struct place - a source line
 * @file: path of the source file as given to the compiler
 * @line: line number, from 1
 * @discriminator: which of the line's blocks it is
 */
struct place {
	const char *file;
	int line;
	unsigned int discriminator;
};

int symbols_open(struct symbols *symbols, const char *path,
		 const struct prf_dso *dso);
void symbols_date(struct symbols *symbols, const struct prf_dso *dso,
		  uint64_t start_ns, bool replaceable);
int symbols_add(struct symbols *symbols, const struct prf_dso *dso);
int symbols_sort(struct symbols *symbols);
void symbols_close(struct symbols *symbols);
bool symbols_known(const struct symbols *symbols);
bool symbols_have_file(const struct symbols *symbols);
bool symbols_have_names(const struct symbols *symbols);
bool symbols_certain(const struct symbols *symbols, const struct prf_dso *dso,
		     uint64_t start_ns);
void symbols_drop_file(struct symbols *symbols);
bool symbols_describe(const struct symbols *symbols);
bool symbols_segment(const struct symbols *symbols, size_t i,
		     struct prf_segment *segment);
uint64_t symbols_link(const struct symbols *symbols, uint64_t offset);
uint64_t symbols_address(const struct symbols *symbols,
			 const struct prf_dso *dso, uint64_t offset);
int symbols_find(const struct symbols *symbols, uint64_t address,
		 uint64_t bytes, struct symbol *symbol);
int symbols_look_up(const struct symbols *symbols, uint64_t address,
		    uint64_t bytes, struct symbol *symbol);
bool symbols_place(const struct symbols *symbols, uint64_t address,
		   struct place *place);
uint64_t symbols_next_line(const struct symbols *symbols, uint64_t address);
int symbols_inlines(const struct symbols *symbols, uint64_t address,
		    struct inlines *inlines);
void symbols_text(const struct symbols *symbols, uint64_t *start,
		  uint64_t *end);
size_t plain_length(const char *name);

#endif /* SYMBOLS_H */
