// SPDX-License-Identifier: GPL-2.0-only
/*
 * pieces.c - find the function of each bucket
 *
 * A bucket belongs to the function that contains its first byte.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/sum.h"
#include "util/xalloc.h"

#define LEAST	65536

static int by_address(const void *a, const void *b)
{
	const struct sum_bucket *c = a, *d = b;

	if (c->address != d->address)
		return c->address < d->address ? -1 : 1;
	return c->bytes < d->bytes ? -1 : c->bytes > d->bytes;
}

/* Those of one mapping are sorted, and qsort() needs as much memory again. */
static void sort_buckets(struct sum_dso *dso)
{
	size_t i;

	for (i = 1; i < dso->nr_buckets; i++)
		if (by_address(&dso->buckets[i - 1], &dso->buckets[i]) > 0) {
			qsort(dso->buckets, dso->nr_buckets,
			      sizeof(*dso->buckets), by_address);
			return;
		}
}

/* Merge equal buckets of several files or mappings. */
static void merge_buckets(struct sum_dso *dso)
{
	struct sum_bucket *list = dso->buckets;
	size_t i, nr = 0;

	for (i = 0; i < dso->nr_buckets; i++) {
		if (nr && !by_address(&list[nr - 1], &list[i])) {
			list[nr - 1].ticks += list[i].ticks;
			list[nr - 1].ns += list[i].ns;
			continue;
		}
		list[nr++] = list[i];
	}
	dso->nr_buckets = nr;
}

/*
 * Code that nothing names is a piece for each bucket; of more than LEAST buckets,
 * as large as makes about as many pieces, or a large file would need much memory.
 */
static uint64_t nameless_bytes(const struct sum_dso *dso)
{
	const struct sum_bucket *buckets = dso->buckets;
	size_t nr = dso->nr_buckets;
	uint64_t bytes = 1;

	if (nr <= LEAST || symbols_have_names(&dso->symbols))
		return 0;
	while ((buckets[nr - 1].address - buckets[0].address) / bytes > LEAST)
		bytes *= 2;
	return bytes;
}

static void look_up(struct sum_dso *dso, const struct sum_bucket *bucket,
		    uint64_t nameless, struct symbol *symbol)
{
	uint64_t address = nameless ? bucket->address & -nameless :
				      bucket->address;
	uint64_t bytes = nameless > bucket->bytes ? nameless : bucket->bytes;

	if (symbols_find(&dso->symbols, address, bytes ?: 1, symbol))
		err(2, NULL);
}

static struct sum_piece *add_piece(struct sum_dso *dso, size_t first,
				   const struct symbol *symbol,
				   const struct inlines *inlines)
{
	struct sum_piece *piece;

	dso->pieces = one_more(dso->pieces, dso->nr_pieces,
			       sizeof(*piece));
	piece = &dso->pieces[dso->nr_pieces++];
	*piece = (struct sum_piece){
		.name = symbol->name,
		.inlines = *inlines,
		.start = symbol->start,
		.end = symbol->end,
		.until = symbol->until,
		.first = first,
	};
	return piece;
}

/* A piece may begin later than its function. */
static bool is_of(const struct sum_piece *piece, const struct symbol *symbol)
{
	return piece->start >= symbol->start && piece->end == symbol->end &&
		!strcmp(piece->name, symbol->name);
}

/* A function around another one is what is before it, and what is behind it. */
static void part(struct sum_piece *last, struct symbol *symbol)
{
	if (last->start < symbol->start && last->end > symbol->start)
		last->end = symbol->start;
	else if (last->start >= symbol->start && last->end > symbol->start &&
		 last->end < symbol->end)
		symbol->start = last->end;
}

/* Find the piece of a bucket; @last is that of the bucket before, or NULL. */
static struct sum_piece *find_piece(struct sum_dso *dso,
				    struct sum_piece *last, size_t nr,
				    uint64_t nameless, bool inlined)
{
	const struct sum_bucket *bucket = &dso->buckets[nr];
	struct sum_piece *before = last;
	struct inlines inlines = {};
	struct symbol symbol;

	/* What is inlined at its start need not be what calls */
	inlined &= bucket->bytes > 0;
	if (inlined && symbols_inlines(&dso->symbols, bucket->address,
				       &inlines))
		err(2, NULL);
	if (last && inlines.entry != last->inlines.entry)
		last = NULL;
	if (!last || bucket->address >= last->until ||
	    bucket->address >= last->end) {
		look_up(dso, bucket, nameless, &symbol);
		if (!last || !is_of(last, &symbol)) {
			if (before)
				part(before, &symbol);
			return add_piece(dso, nr, &symbol, &inlines);
		}
		last->until = symbol.until;
		free(symbol.name);
	}
	inlines_free(&inlines);
	return last;
}

/**
 * sum_find_pieces() - sort the buckets of a DSO, and find their functions
 * @dso: the DSO, with the buckets of all files added
 * @inlined: whether to find inlined functions as well
 */
void sum_find_pieces(struct sum_dso *dso, bool inlined)
{
	struct sum_piece *piece = NULL;
	uint64_t nameless;
	size_t i;

	if (symbols_sort(&dso->symbols))
		err(2, NULL);
	if (!dso->nr_buckets)
		return;
	sort_buckets(dso);
	merge_buckets(dso);
	nameless = nameless_bytes(dso);
	for (i = 0; i < dso->nr_buckets; i++) {
		piece = find_piece(dso, piece, i, nameless, inlined);
		dso->buckets[i].piece = piece - dso->pieces;
		piece->ticks += dso->buckets[i].ticks;
		piece->ns += dso->buckets[i].ns;
		piece->nr++;
	}
}

/**
 * sum_called() - compare names of functions
 * @name: name of a function
 * @wanted: name given by the user, demangled; may lack the parameters
 */
bool sum_called(const char *name, const char *wanted)
{
	size_t length = strlen(wanted);

	return !strncmp(name, wanted, length) &&
		(!name[length] || name[length] == '(');
}

/** sum_innermost() - name of the innermost inlined function of a piece */
const char *sum_innermost(const struct sum_piece *piece)
{
	return piece->inlines.nr ? piece->inlines.list[0].name : piece->name;
}

/**
 * sum_find() - find a bucket of a finished sum
 * @dso: the DSO
 * @address: the bucket's address
 * @bytes: its size
 *
 * Return: the bucket, or NULL if it has no ticks, and no caller is there.
 */
const struct sum_bucket *sum_find(const struct sum_dso *dso, uint64_t address,
				  uint64_t bytes)
{
	const struct sum_bucket bucket = { .address = address, .bytes = bytes };

	return bsearch(&bucket, dso->buckets, dso->nr_buckets, sizeof(bucket),
		       by_address);
}

/**
 * sum_place() - find the source line of a bucket
 * @dso: the DSO
 * @piece: the piece with the bucket
 * @bucket: the bucket
 * @place: receives the source line
 *
 * The line is that of the bucket's last byte. If another line begins inside the
 * bucket, an instruction begins there, while the instruction at the first byte
 * probably began before the bucket.
 *
 * Return: whether the line is known.
 */
bool sum_place(const struct sum_dso *dso, const struct sum_piece *piece,
	       const struct sum_bucket *bucket, struct place *place)
{
	uint64_t end = bucket->address + (bucket->bytes ?: 1);

	if (end > piece->end)
		end = piece->end;
	return symbols_place(&dso->symbols, end - 1, place);
}
