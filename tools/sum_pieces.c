// SPDX-License-Identifier: GPL-2.0-only
/*
 * sum_pieces.c - which function each bucket of an object belongs to
 *
 * It is the one that has the bucket's first byte.
 */
#include <err.h>
#include <stdlib.h>

#include "memory.h"
#include "sum.h"

static int by_address(const void *a, const void *b)
{
	const struct sum_bucket *c = a, *d = b;

	if (c->address != d->address)
		return c->address < d->address ? -1 : 1;
	return c->bytes < d->bytes ? -1 : c->bytes > d->bytes;
}

/* The same bucket of several files or mappings. */
static void merge_buckets(struct sum_object *object)
{
	struct sum_bucket *list = object->buckets;
	size_t i, nr = 0;

	for (i = 0; i < object->nr_buckets; i++) {
		if (nr && !by_address(&list[nr - 1], &list[i])) {
			list[nr - 1].ticks += list[i].ticks;
			list[nr - 1].ns += list[i].ns;
			continue;
		}
		list[nr++] = list[i];
	}
	object->nr_buckets = nr;
}

static struct sum_piece *add_piece(struct sum_object *object, size_t first)
{
	const struct sum_bucket *bucket = &object->buckets[first];
	struct sum_piece *piece;
	struct symbol symbol;

	if (symbols_find(&object->symbols, bucket->address, bucket->bytes,
			 &symbol))
		err(1, NULL);
	object->pieces = one_more(object->pieces, object->nr_pieces,
				  sizeof(*piece));
	piece = &object->pieces[object->nr_pieces++];
	piece->name = symbol.name;
	piece->start = symbol.start;
	piece->end = symbol.end;
	piece->ticks = 0;
	piece->first = first;
	piece->nr = 0;
	return piece;
}

/**
 * sum_find_pieces() - sort the buckets, and find their functions
 * @object: all of whose buckets have been added
 */
void sum_find_pieces(struct sum_object *object)
{
	struct sum_piece *piece = NULL;
	size_t i;

	if (!object->nr_buckets)
		return;
	qsort(object->buckets, object->nr_buckets, sizeof(*object->buckets),
	      by_address);
	merge_buckets(object);
	for (i = 0; i < object->nr_buckets; i++) {
		if (!piece || object->buckets[i].address >= piece->end)
			piece = add_piece(object, i);
		piece->ticks += object->buckets[i].ticks;
		piece->nr++;
	}
}

/**
 * sum_place() - the line of the source that a bucket belongs to
 * @object: that has the piece
 * @piece: that has the bucket
 * @bucket: the bucket
 * @place: receives it
 *
 * It is that of the last byte. If another line begins inside of the bucket, an
 * instruction begins there, while that at the bucket's first byte is more
 * likely to have begun before it.
 *
 * Return: whether it is known.
 */
bool sum_place(const struct sum_object *object, const struct sum_piece *piece,
	       const struct sum_bucket *bucket, struct place *place)
{
	uint64_t end = bucket->address + bucket->bytes;

	if (end > piece->end)
		end = piece->end;
	return symbols_place(&object->symbols, end - 1, place);
}
