// SPDX-License-Identifier: GPL-2.0-only
/*
 * cfi.c - read call frame information of DWARF
 *
 * libdw finds the entries, and this file executes them: dwarf_cfi_addrframe()
 * begins anew for each row, which takes ten times as long. A file may be
 * anybody's, and say anything.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "unwind/cfi.h"
#include "util/array.h"

/* Numbers of registers of x86-64 */
#define BX	3
#define DI	5
#define BP	6
#define SP	7
#define RA	16

/* gcc and glibc need one. */
#define MAX_REMEMBERED	8

/* A file has one for each of its sources at most, and one takes 20 times its size. */
#define MOST_COMMONS	(1u << 16)

struct bytes {
	const uint8_t *at;
	const uint8_t *end;
	bool is_short;
};

struct saved {
	enum { SAME, STORED, COMPUTED, IN_REGISTER, UNDEFINED, OTHER } how;
	int64_t number;
	struct bytes expression;
};

/* Registers whose rules matter, and one for all others */
enum { SAVED_BP, SAVED_BX, SAVED_SP, SAVED_RA, SAVED_OTHER, NR_SAVED };

struct state {
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct bytes cfa_expression;
	struct saved saved[NR_SAVED];
};

/* A common information entry: what many entries begin with */
struct cfi_common {
	Dwarf_Off offset;
	Dwarf_CIE cie;
	uint8_t encoding;
	bool is_signal;
	bool is_known;
	struct state initial;
};

/* --- bytes */

static uint64_t get(struct bytes *bytes, size_t size)
{
	uint64_t value = 0;

	if ((size_t)(bytes->end - bytes->at) < size) {
		bytes->is_short = true;
		bytes->at = bytes->end;
		return 0;
	}
	memcpy(&value, bytes->at, size);
	bytes->at += size;
	return value;
}

/* A number in LEB128 of at most ten bytes */
static uint64_t get_leb(struct bytes *bytes, bool is_signed)
{
	uint64_t value = 0, byte;
	unsigned int shift = 0;

	do {
		byte = get(bytes, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && shift < 64 && byte & 0x40)
		value |= ~0ull << shift;
	return value;
}

static uint64_t get_uleb(struct bytes *bytes)
{
	return get_leb(bytes, false);
}

static int64_t get_sleb(struct bytes *bytes)
{
	return get_leb(bytes, true);
}

static struct bytes get_block(struct bytes *bytes)
{
	uint64_t size = get_uleb(bytes);
	struct bytes block = { .at = bytes->at };

	if (size > (uint64_t)(bytes->end - bytes->at)) {
		bytes->is_short = true;
		size = 0;
	}
	bytes->at += size;
	block.end = bytes->at;
	return block;
}

/* A pointer as .eh_frame has it. @address: of the section */
static uint64_t get_pointer(struct bytes *bytes, const struct cfi *cfi,
			    uint8_t encoding)
{
	const uint8_t *start = cfi->data->d_buf;
	uint64_t base = 0, value;

	switch (encoding & 0x70) {
	case DW_EH_PE_absptr:
		break;
	case DW_EH_PE_pcrel:
		base = cfi->address + (bytes->at - start);
		break;
	default:
		bytes->is_short = true;
	}
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = get(bytes, 8);
		break;
	case DW_EH_PE_udata4:
		value = get(bytes, 4);
		break;
	case DW_EH_PE_sdata4:
		value = (int32_t)get(bytes, 4);
		break;
	case DW_EH_PE_udata2:
		value = get(bytes, 2);
		break;
	case DW_EH_PE_sdata2:
		value = (int16_t)get(bytes, 2);
		break;
	case DW_EH_PE_uleb128:
		value = get_uleb(bytes);
		break;
	case DW_EH_PE_sleb128:
		value = get_sleb(bytes);
		break;
	default:
		bytes->is_short = true;
		value = 0;
	}
	return base + value;
}

/* --- rules */

/* A register and a number; then what is done with their sum */
static bool get_base(struct bytes *expression, uint64_t *base, int64_t *offset)
{
	uint64_t operation = get(expression, 1);

	if (operation < DW_OP_breg0 || operation > DW_OP_breg31)
		return false;
	*base = operation - DW_OP_breg0;
	*offset = get_sleb(expression);
	return !expression->is_short;
}

/*
 * What the linker says of a procedure linkage table: a word above the stack
 * pointer, and one more from some byte of an entry on
 */
static bool convert_plt(struct bytes expression,
			struct profil_unwind_rule *rule)
{
	static const uint8_t before[] = {
		DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and
	}, after[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };
	const uint8_t *at = expression.at, *end = expression.end;

	if (end - at != sizeof(before) + 1 + sizeof(after) ||
	    memcmp(at, before, sizeof(before)) ||
	    memcmp(end - sizeof(after), after, sizeof(after)) ||
	    at[sizeof(before)] < DW_OP_lit0 || at[sizeof(before)] > DW_OP_lit15)
		return false;
	rule->cfa = PROFIL_UNWIND_PLT;
	rule->offset = at[sizeof(before)] - DW_OP_lit0;
	return true;
}

/* A word in memory, and perhaps some more above what it points to */
static bool convert_stored_cfa(struct bytes expression,
			       struct profil_unwind_rule *rule)
{
	uint64_t base, operation, add = 0;
	int64_t offset;

	if (!get_base(&expression, &base, &offset) ||
	    get(&expression, 1) != DW_OP_deref)
		return false;
	if (expression.at < expression.end) {
		operation = get(&expression, 1);
		if (operation == DW_OP_plus_uconst)
			add = get_uleb(&expression);
		else if (operation >= DW_OP_lit0 && operation <= DW_OP_lit31 &&
			 get(&expression, 1) == DW_OP_plus)
			add = operation - DW_OP_lit0;
		else
			return false;
	}
	if (expression.is_short || expression.at < expression.end ||
	    add % 8 || add / 8 > UINT8_MAX || offset != (int32_t)offset)
		return false;
	rule->cfa = base == SP ? PROFIL_UNWIND_AT_SP : PROFIL_UNWIND_AT_BP;
	rule->add = add / 8;
	rule->offset = offset;
	return base == SP || base == BP;
}

static bool convert_cfa(const struct state *state,
			struct profil_unwind_rule *rule)
{
	if (state->cfa_expression.at)
		return convert_plt(state->cfa_expression, rule) ||
		       convert_stored_cfa(state->cfa_expression, rule);
	switch (state->cfa_register) {
	case SP:
		rule->cfa = PROFIL_UNWIND_SP;
		break;
	case BP:
		rule->cfa = PROFIL_UNWIND_BP;
		break;
	case BX:
		rule->cfa = PROFIL_UNWIND_BX;
		break;
	default:
		return false;
	}
	rule->offset = state->cfa_offset;
	return rule->offset == state->cfa_offset;
}

/* Return: as profil_unwind_rule.bx and .bp have it. */
static uint8_t convert_saved(const struct saved *saved)
{
	struct bytes expression = saved->expression;
	int64_t words = saved->number / -8, offset;
	uint64_t base;

	switch (saved->how) {
	case SAME:
		return PROFIL_UNWIND_SAME;
	case STORED:
		if (saved->number % 8 || words <= 0 ||
		    words >= PROFIL_UNWIND_CHAINED)
			return PROFIL_UNWIND_LOST;
		return words;
	case COMPUTED:
		if (get_base(&expression, &base, &offset) && base == BP &&
		    !offset && expression.at == expression.end)
			return PROFIL_UNWIND_CHAINED;
		return PROFIL_UNWIND_LOST;
	default:
		return PROFIL_UNWIND_LOST;
	}
}

static bool is_expression(const struct bytes *expression, const uint8_t *other,
			  size_t bytes)
{
	return (size_t)(expression->end - expression->at) == bytes &&
		!memcmp(expression->at, other, bytes);
}

/*
 * Is a struct ucontext at the stack pointer, as where a handler of the C library
 * returns to? What else is called a signal frame has its own place for it.
 */
static bool has_context(const struct state *state)
{
	static const uint8_t sp[] = { DW_OP_breg7, 0xa0, 0x01, DW_OP_deref },
			     pc[] = { DW_OP_breg7, 0xa8, 0x01 };
	const struct saved *saved = &state->saved[SAVED_RA];

	return state->cfa_expression.at && saved->how == COMPUTED &&
		is_expression(&state->cfa_expression, sp, sizeof(sp)) &&
		is_expression(&saved->expression, pc, sizeof(pc));
}

static struct profil_unwind_rule convert(const struct state *state,
					 const struct cfi_common *common)
{
	static const struct profil_unwind_rule unknown = {
		.cfa = PROFIL_UNWIND_NO_RULE
	};
	struct profil_unwind_rule rule = { 0 };

	if (common->is_signal && has_context(state)) {
		rule.cfa = PROFIL_UNWIND_SIGNAL;
		return rule;
	}
	if (state->saved[SAVED_RA].how == UNDEFINED) {
		rule.cfa = PROFIL_UNWIND_OUTERMOST;
		return rule;
	}
	if (state->saved[SAVED_SP].how != SAME || !convert_cfa(state, &rule))
		return unknown;
	if (state->saved[SAVED_RA].how == IN_REGISTER && state->saved[SAVED_RA].number == DI &&
	    rule.cfa == PROFIL_UNWIND_SP && rule.offset >= 0) {
		rule.cfa = PROFIL_UNWIND_REGISTER;
		return rule;
	}
	if (state->saved[SAVED_RA].how != STORED || state->saved[SAVED_RA].number != -8)
		return unknown;
	rule.bp = convert_saved(&state->saved[SAVED_BP]);
	rule.bx = convert_saved(&state->saved[SAVED_BX]);
	if (rule.bx == PROFIL_UNWIND_CHAINED)
		rule.bx = PROFIL_UNWIND_LOST;
	return rule;
}

/* --- instructions */

/* What executes them: rows are reported if @row is set. */
struct run {
	const struct cfi *cfi;
	const struct cfi_common *common;
	struct state state;
	struct state remembered[MAX_REMEMBERED];
	unsigned int nr_remembered;
	uint64_t address;
	uint64_t end;
	cfi_row row;
	void *data;
};

static unsigned int place_of(uint64_t number)
{
	switch (number) {
	case BP:
		return SAVED_BP;
	case BX:
		return SAVED_BX;
	case SP:
		return SAVED_SP;
	case RA:
		return SAVED_RA;
	default:
		return SAVED_OTHER;
	}
}

static void save(struct run *run, uint64_t number, int how, int64_t value)
{
	run->state.saved[place_of(number)] =
		(struct saved){ .how = how, .number = value };
}

static void restore(struct run *run, uint64_t number)
{
	unsigned int place = place_of(number);

	run->state.saved[place] = run->common->initial.saved[place];
}

static void report(const struct run *run)
{
	if (run->row && run->address < run->end)
		run->row(run->data, run->address,
			 convert(&run->state, run->common));
}

/* Go to an address, where other rules begin; no further than to the end. */
static void advance(struct run *run, uint64_t bytes)
{
	if (!bytes)
		return;
	report(run);
	run->address += MIN(bytes, run->end - run->address);
}

static void define_cfa(struct run *run, uint64_t number, int64_t offset)
{
	run->state.cfa_register = number;
	run->state.cfa_offset = offset;
	run->state.cfa_expression = (struct bytes){ 0 };
}

/* Execute one with an operand in its own byte. */
static void run_short(struct run *run, struct bytes *bytes, uint8_t operation)
{
	const Dwarf_CIE *cie = &run->common->cie;
	uint8_t operand = operation & 0x3f;

	switch (operation & 0xc0) {
	case DW_CFA_advance_loc:
		advance(run, operand * cie->code_alignment_factor);
		break;
	case DW_CFA_offset:
		save(run, operand, STORED,
		     get_uleb(bytes) * cie->data_alignment_factor);
		break;
	default:
		restore(run, operand);
	}
}

/* Return: whether it made sense. */
static bool run_one(struct run *run, struct bytes *bytes)
{
	const Dwarf_CIE *cie = &run->common->cie;
	int64_t factor = cie->data_alignment_factor;
	uint64_t unit = cie->code_alignment_factor;
	uint8_t operation = get(bytes, 1);
	struct state *state = &run->state;
	uint64_t number;

	if (operation & 0xc0) {
		run_short(run, bytes, operation);
		return true;
	}
	switch (operation) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_set_loc:
		advance(run, get_pointer(bytes, run->cfi,
					 run->common->encoding) -
			run->address);
		return true;
	case DW_CFA_advance_loc1:
		advance(run, get(bytes, 1) * unit);
		return true;
	case DW_CFA_advance_loc2:
		advance(run, get(bytes, 2) * unit);
		return true;
	case DW_CFA_advance_loc4:
		advance(run, get(bytes, 4) * unit);
		return true;
	case DW_CFA_offset_extended:
		number = get_uleb(bytes);
		save(run, number, STORED, get_uleb(bytes) * factor);
		return true;
	case DW_CFA_offset_extended_sf:
		number = get_uleb(bytes);
		save(run, number, STORED, (uint64_t)get_sleb(bytes) * factor);
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		number = get_uleb(bytes);
		save(run, number, STORED, -get_uleb(bytes) * factor);
		return true;
	case DW_CFA_restore_extended:
		restore(run, get_uleb(bytes));
		return true;
	case DW_CFA_undefined:
		save(run, get_uleb(bytes), UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		save(run, get_uleb(bytes), SAME, 0);
		return true;
	case DW_CFA_register:
		number = get_uleb(bytes);
		save(run, number, IN_REGISTER, get_uleb(bytes));
		return true;
	case DW_CFA_expression:
		number = get_uleb(bytes);
		save(run, number, COMPUTED, 0);
		state->saved[place_of(number)].expression = get_block(bytes);
		return true;
	case DW_CFA_val_expression:
		save(run, get_uleb(bytes), OTHER, 0);
		get_block(bytes);
		return true;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		number = get_uleb(bytes);
		/* Where it is if nothing is said of it */
		save(run, number, !get_uleb(bytes) && number == SP ? SAME :
								     OTHER, 0);
		return true;
	case DW_CFA_remember_state:
		if (run->nr_remembered == MAX_REMEMBERED)
			return false;
		run->remembered[run->nr_remembered++] = *state;
		return true;
	case DW_CFA_restore_state:
		if (!run->nr_remembered)
			return false;
		*state = run->remembered[--run->nr_remembered];
		return true;
	case DW_CFA_def_cfa:
		number = get_uleb(bytes);
		define_cfa(run, number, get_uleb(bytes));
		return true;
	case DW_CFA_def_cfa_sf:
		number = get_uleb(bytes);
		define_cfa(run, number, (uint64_t)get_sleb(bytes) * factor);
		return true;
	case DW_CFA_def_cfa_register:
		define_cfa(run, get_uleb(bytes), state->cfa_offset);
		return true;
	case DW_CFA_def_cfa_offset:
		define_cfa(run, state->cfa_register, get_uleb(bytes));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		define_cfa(run, state->cfa_register,
			   (uint64_t)get_sleb(bytes) * factor);
		return true;
	case DW_CFA_def_cfa_expression:
		state->cfa_expression = get_block(bytes);
		return true;
	case DW_CFA_GNU_args_size:
		get_uleb(bytes);
		return true;
	default:
		return false;
	}
}

/* Return: whether all of it made sense. */
static bool run_all(struct run *run, const uint8_t *at, const uint8_t *end)
{
	struct bytes bytes = { .at = at, .end = end };

	while (bytes.at < bytes.end)
		if (!run_one(run, &bytes) || bytes.is_short)
			return false;
	return true;
}

/* --- entries */

static void read_augmentation(struct cfi *cfi, struct cfi_common *common)
{
	struct bytes bytes = {
		.at = common->cie.augmentation_data,
		.end = common->cie.augmentation_data +
		       common->cie.augmentation_data_size,
	};
	const char *letter = common->cie.augmentation;

	common->is_known = !*letter || *letter == 'z';
	while (*letter && common->is_known) {
		switch (*letter++) {
		case 'z':
			break;
		case 'R':
			common->encoding = get(&bytes, 1);
			break;
		case 'P':
			get_pointer(&bytes, cfi, get(&bytes, 1) & 0x0f);
			break;
		case 'L':
			get(&bytes, 1);
			break;
		case 'S':
			common->is_signal = true;
			break;
		default:
			/* What follows it cannot be read. */
			common->is_known = false;
		}
	}
	if (bytes.is_short)
		common->is_known = false;
}

static void add_common(struct cfi *cfi, Dwarf_Off offset, const Dwarf_CIE *cie)
{
	struct cfi_common *common;
	struct run run = { .cfi = cfi };

	if (cfi->nr_commons == MOST_COMMONS)
		return;
	common = array_grow(cfi->commons, cfi->nr_commons, sizeof(*common));
	if (!common) {
		cfi->is_out_of_memory = true;
		return;
	}
	cfi->commons = common;
	common += cfi->nr_commons++;
	*common = (struct cfi_common){ .offset = offset, .cie = *cie };
	read_augmentation(cfi, common);
	run.common = common;
	if (!run_all(&run, cie->initial_instructions,
		     cie->initial_instructions_end) ||
	    cie->return_address_register != RA)
		common->is_known = false;
	common->initial = run.state;
}

static const struct cfi_common *find_common(const struct cfi *cfi,
					    Dwarf_Off offset)
{
	size_t first = 0, end = cfi->nr_commons;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (cfi->commons[middle].offset == offset)
			return &cfi->commons[middle];
		if (cfi->commons[middle].offset < offset)
			first = middle + 1;
		else
			end = middle;
	}
	return NULL;
}

static void add_range(struct cfi *cfi, const Dwarf_FDE *fde)
{
	const struct cfi_common *common = find_common(cfi, fde->CIE_pointer);
	struct bytes bytes = { .at = fde->start, .end = fde->end };
	struct cfi_range range = { 0 }, *ranges;

	if (!common || !common->is_known)
		return;
	range.start = get_pointer(&bytes, cfi, common->encoding);
	range.end = range.start +
		    get_pointer(&bytes, cfi, common->encoding & 0x0f);
	if (*common->cie.augmentation == 'z')
		get_block(&bytes);
	if (bytes.is_short || range.start >= range.end)
		return;
	range.common = common - cfi->commons;
	range.instructions = bytes.at;
	range.instructions_end = bytes.end;
	ranges = array_grow(cfi->ranges, cfi->nr, sizeof(range));
	if (!ranges) {
		cfi->is_out_of_memory = true;
		return;
	}
	cfi->ranges = ranges;
	cfi->ranges[cfi->nr++] = range;
}

/**
 * cfi_read() - find all entries of a section
 * @cfi: the section; cfi_free() frees what this adds
 *
 * What cannot be read is left out. The ranges are sorted.
 *
 * Return: whether there was enough memory.
 */
bool cfi_read(struct cfi *cfi)
{
	Dwarf_Off offset = 0, next = 0;
	Dwarf_CFI_Entry entry;
	int status;

	do {
		status = dwarf_next_cfi(cfi->ident, cfi->data, cfi->is_eh,
					offset, &next, &entry);
		if (!status && dwarf_cfi_cie_p(&entry))
			add_common(cfi, offset, &entry.cie);
		else if (!status)
			add_range(cfi, &entry.fde);
		if (next <= offset || cfi->is_out_of_memory)
			break;
		offset = next;
	} while (status <= 0);
	if (cfi->nr)
		qsort(cfi->ranges, cfi->nr, sizeof(*cfi->ranges),
		      array_by_start);
	return !cfi->is_out_of_memory;
}

/**
 * cfi_run() - say what rules a range has
 * @cfi: its section
 * @range: the range
 * @row: called for each address at which another rule may begin to hold, in
 *	ascending order, first for the start of the range
 * @data: passed to it
 */
void cfi_run(const struct cfi *cfi, const struct cfi_range *range, cfi_row row,
	     void *data)
{
	static const struct profil_unwind_rule unknown = {
		.cfa = PROFIL_UNWIND_NO_RULE
	};
	struct run run;

	/* Not what is remembered: that is larger than all else. */
	run.cfi = cfi;
	run.common = &cfi->commons[range->common];
	run.state = run.common->initial;
	run.nr_remembered = 0;
	run.address = range->start;
	run.end = range->end;
	run.row = row;
	run.data = data;
	if (run_all(&run, range->instructions, range->instructions_end))
		report(&run);
	else if (run.address < run.end)
		row(data, run.address, unknown);
}

void cfi_free(struct cfi *cfi)
{
	free(cfi->ranges);
	free(cfi->commons);
}
