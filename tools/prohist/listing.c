// SPDX-License-Identifier: GPL-2.0-only
/*
 * listing.c - give ticks to the instructions of a function
 *
 * Ticks are known per bucket only. Those of a bucket go to the first
 * instruction that begins in it.
 */
#include <err.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "prohist/listing.h"

/* Index of the first instruction at or after an address. */
static size_t first_from(const struct instructions *instructions,
			 uint64_t address)
{
	size_t low = 0, high = instructions->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (instructions->list[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void share_out(struct listing *listing, const struct sum_bucket *bucket)
{
	size_t first = first_from(&listing->instructions, bucket->address);
	size_t after = first_from(&listing->instructions,
				  bucket->address + bucket->bytes);

	/* None begins in the bucket: use the one that extends into it */
	if (first == after)
		first -= first > 0;
	else if (after - first - 1 > listing->others[first])
		listing->others[first] = after - first - 1;
	listing->ticks[first] += bucket->ticks;
	listing->ns[first] += bucket->ns;
}

/**
 * listing_make() - disassemble a function of a DSO with symbols
 * @listing: zeroed, except @dso and @piece; to be freed in any case
 *
 * Return: 0, or -1 after reporting the error. There may be no instructions.
 */
int listing_make(struct listing *listing)
{
	const struct sum_piece *piece = listing->piece;
	size_t nr, i;

	if (disassemble(listing->dso->symbols.file,
			listing->dso->symbols.owner, piece->start, piece->end,
			&listing->instructions))
		return -1;
	nr = listing->instructions.nr;
	/* One more: share_out() uses the index after the last one */
	listing->ticks = calloc(nr + 1, sizeof(*listing->ticks));
	listing->ns = calloc(nr + 1, sizeof(*listing->ns));
	listing->others = calloc(nr + 1, sizeof(*listing->others));
	if (!listing->ticks || !listing->ns || !listing->others)
		err(2, NULL);
	for (i = piece->first; i < piece->first + piece->nr; i++)
		share_out(listing, &listing->dso->buckets[i]);
	return 0;
}

/** listing_shares() - do several instructions share a bucket with ticks? */
bool listing_shares(const struct listing *listing)
{
	size_t i;

	for (i = 0; i < listing->instructions.nr; i++)
		if (listing->ticks[i] && listing->others[i])
			return true;
	return false;
}

/**
 * listing_before() - ticks of a bucket that reaches into the function's
 * beginning
 *
 * A bucket counts for the function with its first byte.
 */
uint64_t listing_before(const struct listing *listing)
{
	const struct sum_piece *piece = listing->piece;
	const struct sum_bucket *before;

	if (!piece->first)
		return 0;
	before = &listing->dso->buckets[piece->first - 1];
	return before->address + before->bytes > piece->start ?
		before->ticks : 0;
}

/** listing_beyond() - ticks of the last bucket, if it exceeds the function */
uint64_t listing_beyond(const struct listing *listing)
{
	const struct sum_piece *piece = listing->piece;
	const struct sum_bucket *last =
		&listing->dso->buckets[piece->first + piece->nr - 1];

	return last->address + last->bytes > piece->end ? last->ticks : 0;
}

/** listing_is_older() - was the source changed after the DSO? */
bool listing_is_older(const struct listing *listing,
		      const struct source *source)
{
	struct stat stat_buffer;

	return source->text &&
		!stat(listing->dso->symbols.file, &stat_buffer) &&
		source->changed > stat_buffer.st_mtime;
}

/** listing_free() - free the results of listing_make() */
void listing_free(struct listing *listing)
{
	instructions_free(&listing->instructions);
	free(listing->ticks);
	free(listing->ns);
	free(listing->others);
}
