// SPDX-License-Identifier: GPL-2.0-only
/*
 * pieces.c - find the function of each bucket
 *
 * A bucket belongs to the function that contains its first byte.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/aggregate.h"
#include "util/xalloc.h"

static int by_address(const void *a, const void *b)
{
	const struct sum_bucket *c = a, *d = b;

	if (c->address != d->address)
		return c->address < d->address ? -1 : 1;
	return c->bytes < d->bytes ? -1 : c->bytes > d->bytes;
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

static struct sum_piece *add_piece(struct sum_dso *dso, size_t first)
{
	const struct sum_bucket *bucket = &dso->buckets[first];
	struct sum_piece *piece;
	struct symbol symbol;

	if (symbols_find(&dso->symbols, bucket->address, bucket->bytes,
			 &symbol))
		err(1, NULL);
	dso->pieces = one_more(dso->pieces, dso->nr_pieces,
			       sizeof(*piece));
	piece = &dso->pieces[dso->nr_pieces++];
	piece->name = symbol.name;
	piece->start = symbol.start;
	piece->end = symbol.end;
	piece->label = NULL;
	piece->ticks = 0;
	piece->first = first;
	piece->nr = 0;
	return piece;
}

/* Find the piece of a bucket; @piece is that of the bucket before, or NULL. */
static struct sum_piece *find_piece(struct sum_dso *dso,
				    struct sum_piece *piece, size_t nr,
				    bool inlined)
{
	uint64_t address = dso->buckets[nr].address;
	struct inlines inlines = {};

	if (inlined && symbols_inlines(&dso->symbols, address, &inlines))
		err(1, NULL);
	if (piece && address < piece->end &&
	    inlines.entry == piece->inlines.entry) {
		inlines_free(&inlines);
		return piece;
	}
	piece = add_piece(dso, nr);
	piece->inlines = inlines;
	return piece;
}

/**
 * sum_find_pieces() - sort the buckets of a DSO, and find their functions
 * @dso: the DSO, with the buckets of all files added
 * @inlined: whether to find inlined functions as well
 */
void sum_find_pieces(struct sum_dso *dso, bool inlined)
{
	struct sum_piece *piece = NULL;
	size_t i;

	if (!dso->nr_buckets)
		return;
	qsort(dso->buckets, dso->nr_buckets, sizeof(*dso->buckets),
	      by_address);
	merge_buckets(dso);
	for (i = 0; i < dso->nr_buckets; i++) {
		piece = find_piece(dso, piece, i, inlined);
		dso->buckets[i].piece = piece - dso->pieces;
		piece->ticks += dso->buckets[i].ticks;
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
 * Return: the bucket, or NULL if it has no ticks.
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
	uint64_t end = bucket->address + bucket->bytes;

	if (end > piece->end)
		end = piece->end;
	return symbols_place(&dso->symbols, end - 1, place);
}
