// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * functions.c - find the functions with ticks
 *
 * Symbols come from elfutils libdwfl. Libraries of distributions have symbols
 * for exported functions only. Code without a symbol is split into functions by
 * .eh_frame_hdr (Linux Standard Base), the table for unwinding that every DSO
 * has, and printed without a name.
 */
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "functions.h"

static Dwfl *open_symbols(void)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (!dwfl)
		return NULL;
	if (dwfl_linux_proc_report(dwfl, getpid()) ||
	    dwfl_report_end(dwfl, NULL, NULL)) {
		dwfl_end(dwfl);
		return NULL;
	}
	return dwfl;
}

/* Find a symbol with a size that contains @pc. */
static int find_symbol(Dwfl *dwfl, uintptr_t pc, struct function *function)
{
	Dwfl_Module *module = dwfl_addrmodule(dwfl, pc);
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name;

	if (!module)
		return 0;
	name = dwfl_module_addrinfo(module, pc, &offset, &symbol, NULL, NULL,
				    NULL);
	if (!name || offset >= symbol.st_size)
		return 0;
	function->name = strdup(name);
	function->start = pc - offset;
	function->end = function->start + symbol.st_size;
	return 1;
}

/* Layout of .eh_frame_hdr as common linkers write it. */
struct frames {
	uint8_t version;
	uint8_t frame_encoding;
	uint8_t count_encoding;
	uint8_t table_encoding;
	int32_t frame;
	uint32_t count;
	struct {
		int32_t start;
		int32_t description;
	} table[];
};

#define COUNT_UDATA4		0x03
#define TABLE_DATAREL_SDATA4	0x3b

/* Find the bounds of the function at @pc in .eh_frame_hdr. */
static int find_frame(const struct piece *piece, uintptr_t pc,
		      struct function *function)
{
	const struct frames *frames = (const void *)piece->frames;
	uintptr_t base = (uintptr_t)frames;
	uint32_t low = 0, high;

	if (!frames || frames->version != 1 ||
	    frames->count_encoding != COUNT_UDATA4 ||
	    frames->table_encoding != TABLE_DATAREL_SDATA4)
		return 0;
	high = frames->count;
	if (!high || pc < base + frames->table[0].start)
		return 0;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (pc < base + frames->table[middle].start)
			high = middle;
		else
			low = middle;
	}
	function->start = base + frames->table[low].start;
	function->end = high < frames->count ?
		base + frames->table[high].start :
		piece->start + piece->nr * TEXT_GRAIN;
	return 1;
}

/* If neither knows it, the text of the counter stands for the function. */
static void find_function(Dwfl *dwfl, const struct piece *piece, uintptr_t pc,
			  struct function *function)
{
	memset(function, 0, sizeof(*function));
	function->piece = piece;
	if (find_symbol(dwfl, pc, function) ||
	    find_frame(piece, pc, function))
		return;
	function->start = pc;
	function->end = pc + TEXT_GRAIN;
}

static struct function *add_function(struct functions *functions)
{
	if (functions->nr == functions->room) {
		size_t room = functions->room ? 2 * functions->room : 64;
		struct function *list = realloc(functions->list,
						room * sizeof(*list));

		if (!list)
			return NULL;
		functions->list = list;
		functions->room = room;
	}
	return &functions->list[functions->nr++];
}

/* Counters ascend, so a tick is in the last function or in a new one. */
static int count_piece(Dwfl *dwfl, const struct piece *piece,
		       struct functions *functions)
{
	struct function *last = NULL;
	size_t i;

	for (i = 0; i < piece->nr; i++) {
		uintptr_t pc = piece->start + i * TEXT_GRAIN;

		if (!piece->counters[i])
			continue;
		if (!last || pc >= last->end) {
			last = add_function(functions);
			if (!last)
				return -1;
			find_function(dwfl, piece, pc, last);
		}
		last->ticks += piece->counters[i];
	}
	return 0;
}

static int more_ticks(const void *a, const void *b)
{
	const struct function *f = a, *g = b;

	if (f->ticks != g->ticks)
		return f->ticks < g->ticks ? 1 : -1;
	return f->start < g->start ? -1 : 1;
}

/**
 * functions_find() - find the functions with ticks
 * @functions: receives the functions, most ticks first
 * @text: text whose profile has been stopped
 *
 * Return: 0, or -1 if out of memory or if no symbols can be read.
 */
int functions_find(struct functions *functions, const struct text *text)
{
	Dwfl *dwfl = open_symbols();
	unsigned int i;
	int result = 0;

	memset(functions, 0, sizeof(*functions));
	if (!dwfl)
		return -1;
	for (i = 0; i < text->nr && !result; i++)
		result = count_piece(dwfl, &text->pieces[i], functions);
	dwfl_end(dwfl);
	if (functions->nr)
		qsort(functions->list, functions->nr, sizeof(*functions->list),
		      more_ticks);
	return result;
}
