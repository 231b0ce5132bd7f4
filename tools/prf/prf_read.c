// SPDX-License-Identifier: GPL-2.0-only
/*
 * prf_read.c - read the native format
 *
 * The file is untrusted: every length is checked, reserved fields must be zero,
 * and memory use is proportional to the size of the file.
 */
#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "prf/prf.h"

/*
 * A file being parsed. @at never exceeds @size; inside a record, @size is the
 * end of its payload. @total sums up all execs, @placed all buckets, @unpacked
 * all NAMES records.
 */
struct in {
	const uint8_t *data;
	size_t size;
	size_t at;
	struct prf *prf;
	struct prf_error *error;
	struct prf_exec total;
	uint64_t placed;
	uint32_t version;
	bool has_run;
	bool has_hist;
	bool has_symbols;
	bool has_kernel;
	bool has_chains;
	size_t unpacked;
};

static int fail(struct in *in, size_t offset, const char *text)
{
	in->error->offset = offset;
	in->error->text = text;
	return -1;
}

static int no_memory(struct in *in)
{
	return fail(in, in->at, "no memory");
}

/* The caller has checked the size with want(). */
static uint32_t take32(struct in *in)
{
	uint32_t number;

	memcpy(&number, in->data + in->at, sizeof(number));
	in->at += sizeof(number);
	return le32toh(number);
}

static uint64_t take64(struct in *in)
{
	uint64_t number;

	memcpy(&number, in->data + in->at, sizeof(number));
	in->at += sizeof(number);
	return le64toh(number);
}

static int want(struct in *in, size_t size)
{
	if (in->size - in->at < size)
		return fail(in, in->at, "the record is too short");
	return 0;
}

/* Read a number up to @most; on error it is 0. */
static int take_small(struct in *in, uint32_t most, uint32_t *number)
{
	*number = take32(in);
	if (*number <= most)
		return 0;
	*number = 0;
	return fail(in, in->at - sizeof(*number),
		    "a number that has no meaning");
}

static int take_reserved(struct in *in)
{
	uint32_t number;

	return take_small(in, 0, &number);
}

/*
 * Read a number of ticks, and add it to the sum of the file, which must not
 * exceed PRF_MOST either.
 */
static int take_ticks(struct in *in, uint64_t *number, uint64_t *total)
{
	*number = take64(in);
	if (*number <= PRF_MOST - *total) {
		*total += *number;
		return 0;
	}
	return fail(in, in->at - sizeof(*number),
		    "more ticks than there can be");
}

/* Read a string that ends inside the record; NULL if it does not. */
static const char *take_string(struct in *in)
{
	const char *string = (const char *)in->data + in->at;
	const char *end = memchr(string, 0, in->size - in->at);

	if (!end) {
		fail(in, in->at, "a string without an end");
		return NULL;
	}
	in->at += end + 1 - string;
	return string;
}

/* Strings are padded with zeros to a multiple of 8 bytes. */
static int take_padding(struct in *in)
{
	if (in->size - in->at > 7)
		return fail(in, in->at, "the record is too long");
	for (; in->at < in->size; in->at++)
		if (in->data[in->at])
			return fail(in, in->at, "padding that is not zero");
	return 0;
}

/* Size of a fixed part, which two versions have changed */
static size_t size_in(const struct in *in, size_t size_1, size_t size_3,
		      size_t size)
{
	if (in->version == 1)
		return size_1;
	return in->version > 3 ? size : size_3;
}

static uint32_t most_flags(const struct in *in)
{
	if (in->version < 3)
		return PRF_FLAGS_2;
	return in->version > 3 ? PRF_FLAGS : PRF_FLAGS_3;
}

static int read_run(struct in *in)
{
	struct prf *prf = in->prf;
	const char *command;
	uint64_t total = 0;

	if (in->has_run)
		return fail(in, in->at, "a second RUN record");
	if (want(in, size_in(in, PRF_RUN_SIZE_1, PRF_RUN_SIZE_3,
			     PRF_RUN_SIZE)))
		return -1;
	prf->start_unix_ns = take64(in);
	prf->wall_ns = take64(in);
	prf->period_ns = take64(in);
	if (take_small(in, PRF_CLOCK_PERF_EVENT_OPEN, &prf->clock) ||
	    take_small(in, most_flags(in), &prf->flags) ||
	    take_small(in, in->version == 1 ? PRF_SIGNALLED : PRF_RUNNING,
		       &prf->exit_kind))
		return -1;
	if (prf->clock < PRF_CLOCK_PERF)
		return fail(in, in->at, "no clock");
	prf->exit_code = take32(in);
	if (in->version > 1) {
		prf->cpu_ns = take64(in);
		if (take_ticks(in, &prf->withheld, &total) ||
		    take_ticks(in, &prf->unfollowed, &total))
			return -1;
	}
	if (in->version > 3 &&
	    take_ticks(in, &prf->unfollowed_threads, &total))
		return -1;
	command = take_string(in);
	if (!command || take_padding(in))
		return -1;
	prf->command = strdup(command);
	in->has_run = true;
	return prf->command ? 0 : no_memory(in);
}

static int read_host(struct in *in)
{
	struct prf_host *host = &in->prf->host;
	const char *names[3];
	size_t i;

	if (host->name)
		return fail(in, in->at, "a second HOST record");
	if (want(in, PRF_HOST_SIZE))
		return -1;
	host->cpus = take32(in);
	host->online = take32(in);
	for (i = 0; i < 3; i++) {
		names[i] = take_string(in);
		if (!names[i])
			return -1;
	}
	if (take_padding(in))
		return -1;
	return prf_add_host(in->prf, names[0], names[1], names[2]) ?
		no_memory(in) : 0;
}

static int read_exec_counts(struct in *in, struct prf_exec *exec)
{
	struct prf_exec *total = &in->total;

	exec->start_ns = take64(in);
	exec->cpu_ns = take64(in);
	exec->covered_ns = take64(in);
	if (take_ticks(in, &exec->ticks, &total->ticks) ||
	    take_ticks(in, &exec->counted, &total->counted) ||
	    take_ticks(in, &exec->clipped, &total->clipped) ||
	    take_ticks(in, &exec->outside, &total->outside) ||
	    take_ticks(in, &exec->lost, &total->lost) ||
	    take_ticks(in, &exec->left_out, &total->left_out) ||
	    take_ticks(in, &exec->kernel, &total->kernel) ||
	    take_ticks(in, &exec->unfollowed, &total->unfollowed))
		return -1;
	return 0;
}

/* What version 2 has added */
static int read_exec_more(struct in *in, struct prf_exec *exec)
{
	if (in->version == 1)
		return take_reserved(in);
	exec->processes = take32(in);
	return take_ticks(in, &exec->coarse, &in->total.coarse) ||
		take_ticks(in, &exec->unresolved, &in->total.unresolved) ?
		-1 : 0;
}

/* What version 4 has added: waits, of a profile that has some */
static int read_waits(struct in *in, struct prf_exec *exec)
{
	int state;

	for (state = PRF_RUNNABLE; in->version > 3 && state < PRF_STATES;
	     state++) {
		if (take_ticks(in, &exec->waits[state],
			       &in->total.waits[state]))
			return -1;
		if (exec->waits[state] && !(in->prf->flags & PRF_FLAG_WALL))
			return fail(in, in->at - 8,
				    "waits in a profile without");
	}
	return 0;
}

static int read_exec(struct in *in)
{
	struct prf_exec numbers = {}, *exec;
	const char *name, *reason, *cgroup = "";

	if (want(in, size_in(in, PRF_EXEC_SIZE_1, PRF_EXEC_SIZE_3,
			     PRF_EXEC_SIZE)))
		return -1;
	numbers.pid = take32(in);
	numbers.ppid = take32(in);
	if (read_exec_counts(in, &numbers) ||
	    take_small(in, PRF_NOT_REACHED, &numbers.reach) ||
	    read_exec_more(in, &numbers) || read_waits(in, &numbers))
		return -1;
	name = take_string(in);
	reason = name ? take_string(in) : NULL;
	if (reason && in->version > 1)
		cgroup = take_string(in);
	if (!reason || !cgroup || take_padding(in))
		return -1;
	exec = prf_add_exec(in->prf, name, reason);
	if (!exec || prf_set_cgroup(exec, cgroup))
		return no_memory(in);
	numbers.name = exec->name;
	numbers.reason = exec->reason;
	numbers.cgroup = exec->cgroup;
	*exec = numbers;
	in->has_kernel = false;
	return 0;
}

static struct prf_exec *last_exec(struct in *in)
{
	return in->prf->nr ? &in->prf->execs[in->prf->nr - 1] : NULL;
}

static uint32_t last_kind(const struct in *in)
{
	if (in->version == 1)
		return PRF_ANONYMOUS;
	return in->prf->flags & PRF_FLAG_WALL ? PRF_WAIT_IDLE :
						PRF_KERNEL_TEXT;
}

/* Waits are in no file: their path says in which state, and all have one size. */
static bool is_well_made(const struct prf_dso *dso, const char *path)
{
	enum prf_state state = prf_state_of(dso);

	return state == PRF_ON_CPU ||
		(!strcmp(path, prf_states[state].path) && !dso->pgoff &&
		 !dso->build_id_len && dso->end - dso->start == PRF_WAIT_SIZE);
}

static int read_dso(struct in *in)
{
	struct prf_exec *exec = last_exec(in);
	struct prf_dso numbers = { .bucket_bytes = 1 }, *dso;
	const char *path;

	if (!exec)
		return fail(in, in->at, "a DSO record before any EXEC");
	if (want(in, PRF_DSO_SIZE))
		return -1;
	numbers.start = take64(in);
	numbers.end = take64(in);
	if (numbers.end <= numbers.start)
		return fail(in, in->at - 8, "a DSO that ends before it begins");
	numbers.pgoff = take64(in);
	if (take_small(in, last_kind(in), &numbers.kind) ||
	    take_small(in, PRF_BUILD_ID, &numbers.build_id_len))
		return -1;
	if (numbers.kind < PRF_PROGRAM)
		return fail(in, in->at - 8, "a DSO of an unknown kind");
	memcpy(numbers.build_id, in->data + in->at, PRF_BUILD_ID);
	in->at += PRF_BUILD_ID;
	path = take_string(in);
	if (!path || take_padding(in))
		return -1;
	if (strlen(path) > PRF_PATH_MOST)
		return fail(in, in->at, "a path that is too long");
	if (!is_well_made(&numbers, path))
		return fail(in, in->at, "waits that look like a file");
	dso = prf_add_dso(exec, path);
	if (!dso)
		return no_memory(in);
	numbers.path = dso->path;
	*dso = numbers;
	in->has_hist = false;
	in->has_symbols = false;
	return 0;
}

static int read_bucket(struct in *in, struct prf_dso *dso)
{
	uint64_t offset = take64(in), count;

	if (offset >= dso->end - dso->start ||
	    offset & (dso->bucket_bytes - 1))
		return fail(in, in->at - 8, "a bucket outside its DSO");
	if (dso->nr && offset <= dso->buckets[dso->nr - 1].offset)
		return fail(in, in->at - 8, "buckets out of order");
	if (take_ticks(in, &count, &in->placed))
		return -1;
	if (!count)
		return fail(in, in->at - 8, "a bucket without ticks");
	return prf_add_bucket(dso, offset, count) ? no_memory(in) : 0;
}

static int read_hist(struct in *in)
{
	struct prf_exec *exec = last_exec(in);
	struct prf_dso *dso;

	if (!exec || !exec->nr)
		return fail(in, in->at, "a HIST record before any DSO");
	if (in->has_hist)
		return fail(in, in->at, "a second HIST record of a DSO");
	dso = &exec->dsos[exec->nr - 1];
	if (want(in, PRF_HIST_SIZE))
		return -1;
	dso->bucket_bytes = take32(in);
	if (!dso->bucket_bytes ||
	    dso->bucket_bytes & (dso->bucket_bytes - 1))
		return fail(in, in->at - 4, "a size that is no power of two");
	if (prf_state_of(dso) != PRF_ON_CPU && dso->bucket_bytes > 1)
		return fail(in, in->at - 4, "waits that look like a file");
	if (take_reserved(in))
		return -1;
	if ((in->size - in->at) % sizeof(struct prf_bucket))
		return fail(in, in->at, "half a bucket");
	while (in->at < in->size)
		if (read_bucket(in, dso))
			return -1;
	in->has_hist = true;
	return 0;
}

/* Read the range of a function; its name comes after all ranges. */
static int read_range(struct in *in, const struct prf_dso *dso, uint64_t least,
		      struct prf_symbol *symbol)
{
	symbol->start = take64(in);
	if (symbol->start < least)
		return fail(in, in->at - 8, "functions out of order");
	symbol->end = take64(in);
	if (symbol->end <= symbol->start ||
	    symbol->end > dso->end - dso->start)
		return fail(in, in->at - 8, "a function outside its DSO");
	return 0;
}

static int read_names(struct in *in, struct prf_dso *dso, size_t ranges,
		      uint32_t nr)
{
	struct prf_symbol symbol = {};
	const char *name;
	size_t names;

	for (; nr; nr--) {
		names = in->at;
		in->at = ranges;
		if (read_range(in, dso, symbol.end, &symbol))
			return -1;
		ranges = in->at;
		in->at = names;
		name = take_string(in);
		if (!name)
			return -1;
		if (prf_add_symbol(dso, symbol.start, symbol.end, name))
			return no_memory(in);
	}
	return take_padding(in);
}

static int read_symbols(struct in *in)
{
	struct prf_exec *exec = last_exec(in);
	size_t ranges;
	uint32_t nr;

	if (!exec || !exec->nr)
		return fail(in, in->at, "a SYMBOLS record before any DSO");
	if (in->has_symbols)
		return fail(in, in->at, "a second SYMBOLS record of a DSO");
	if (want(in, PRF_SYMBOLS_SIZE))
		return -1;
	nr = take32(in);
	if (take_reserved(in))
		return -1;
	if (nr > (in->size - in->at) / (2 * sizeof(uint64_t)))
		return fail(in, in->at - 8, "more functions than there can be");
	ranges = in->at;
	in->at += nr * 2 * sizeof(uint64_t);
	in->has_symbols = true;
	return read_names(in, &exec->dsos[exec->nr - 1], ranges, nr);
}

static int read_kernel(struct in *in)
{
	struct prf_exec *exec = last_exec(in);

	if (!exec)
		return fail(in, in->at, "a KERNEL record before any EXEC");
	if (in->has_kernel)
		return fail(in, in->at, "a second KERNEL record of an exec");
	if (want(in, PRF_KERNEL_SIZE) ||
	    take_ticks(in, &exec->kernel_count, &in->total.kernel_count) ||
	    take_reserved(in) || take_reserved(in) || take_padding(in))
		return -1;
	in->has_kernel = true;
	return 0;
}

/* Decompress @packed bytes of a record to exactly @size bytes. */
static uint8_t *unpack(struct in *in, size_t packed, size_t size)
{
	uint8_t *data = malloc(size);
	uLongf length = size;

	if (!data) {
		no_memory(in);
		return NULL;
	}
	if (uncompress(data, &length, in->data + in->at, packed) == Z_OK &&
	    length == size)
		return data;
	free(data);
	fail(in, in->at, "contents that cannot be decompressed");
	return NULL;
}

/*
 * Decompress the contents of a record, of at most @room bytes. Returns NULL after
 * an error.
 */
static uint8_t *take_packed(struct in *in, size_t room, size_t *size)
{
	size_t start = in->at, packed;
	uint8_t *data;

	if (want(in, PRF_PACKED_SIZE))
		return NULL;
	packed = take32(in);
	*size = take32(in);
	if (packed > in->size - in->at) {
		fail(in, start, "the record is too short");
		return NULL;
	}
	if (!*size || *size > room) {
		fail(in, in->at - 4, "more contents than there can be");
		return NULL;
	}
	data = unpack(in, packed, *size);
	in->at += packed;
	return data;
}

static int read_packed_names(struct in *in)
{
	size_t start = in->at, size;
	uint8_t *data = take_packed(in, PRF_NAMES_MOST - in->unpacked, &size);
	const char *problem;

	if (!data)
		return -1;
	in->unpacked += size;
	problem = prf_add_names(in->prf, data, size);
	if (problem)
		return fail(in, start, problem);
	return take_padding(in);
}

static int read_chains(struct in *in)
{
	size_t start = in->at, size, i;
	uint64_t total = 0;
	const char *problem;
	uint8_t *data;

	if (in->has_chains || !(in->prf->flags & PRF_FLAG_CHAINS))
		return fail(in, start, in->has_chains ?
			    "a second CHAINS record" :
			    "chains in a profile without");
	if (want(in, PRF_CHAINS_SIZE))
		return -1;
	for (i = 0; i < PRF_CHAIN_ENDS; i++)
		if (take_ticks(in, &in->prf->chains[i], &total))
			return -1;
	data = take_packed(in, PRF_CHAINS_MOST, &size);
	if (!data)
		return -1;
	in->has_chains = true;
	problem = prf_add_chains(in->prf, data, size);
	free(data);
	return problem ? fail(in, start, problem) : take_padding(in);
}

static int skip(struct in *in)
{
	in->at = in->size;
	return 0;
}

/* Names and chains are about all execs before them. */
static bool comes_late(const struct in *in, uint32_t type)
{
	return (in->has_chains || in->prf->nr_blocks) &&
		(type == PRF_EXEC || type == PRF_DSO || type == PRF_HIST ||
		 type == PRF_KERNEL);
}

/* Parse the payload of a record; skip unknown types. */
static int read_payload(struct in *in, uint32_t type)
{
	if (type == PRF_RUN)
		return read_run(in);
	if (!in->has_run)
		return fail(in, in->at, "the first record is not RUN");
	if (comes_late(in, type))
		return fail(in, in->at,
			    "a record of an exec after names or chains");
	switch (type) {
	case PRF_EXEC:
		return read_exec(in);
	case PRF_DSO:
		return read_dso(in);
	case PRF_HIST:
		return read_hist(in);
	case PRF_KERNEL:
		return read_kernel(in);
	case PRF_HOST:
		return read_host(in);
	case PRF_SYMBOLS:
		return in->version > 1 ? read_symbols(in) : skip(in);
	case PRF_NAMES:
		return in->version > 1 ? read_packed_names(in) : skip(in);
	case PRF_CHAINS:
		return in->version > 2 ? read_chains(in) : skip(in);
	default:
		return skip(in);
	}
}

static int read_end(struct in *in, size_t before, size_t size)
{
	uint64_t crc = crc32_z(crc32_z(0, NULL, 0), in->data, before);

	if (!in->has_run)
		return fail(in, before, "there is no RUN record");
	if (want(in, PRF_END_SIZE))
		return -1;
	if (take64(in) != crc)
		return fail(in, in->at - 8, "the checksum is wrong");
	if (in->at != size)
		return fail(in, in->at, "there is something after the end");
	return 0;
}

/* Returns 1 after the END record, 0 after any other, -1 on error. */
static int read_record(struct in *in)
{
	size_t before = in->at, whole = in->size;
	uint32_t type, length;
	int error;

	if (whole - before < 8)
		return fail(in, before, "the file is cut short: no END record");
	type = take32(in);
	length = take32(in);
	if (length % 8)
		return fail(in, before + 4, "a length that is no multiple of 8");
	if (length > whole - in->at)
		return fail(in, before + 4,
			    "the file is cut short, or a length is wrong");
	in->size = in->at + length;
	error = type == PRF_END ? read_end(in, before, whole) :
		read_payload(in, type);
	in->size = whole;
	if (error)
		return -1;
	return type == PRF_END;
}

static int read_all(struct in *in)
{
	int state;

	if (in->size < PRF_MAGIC_SIZE + 8 ||
	    memcmp(in->data, PRF_MAGIC, PRF_MAGIC_SIZE))
		return fail(in, 0, "not a file of profil");
	in->at = PRF_MAGIC_SIZE;
	in->version = take32(in);
	if (in->version < 1 || in->version > PRF_VERSION)
		return fail(in, in->at - 4, "a version that is not known");
	if (take_reserved(in))
		return -1;
	do {
		state = read_record(in);
	} while (!state);
	return state < 0 ? -1 : 0;
}

/**
 * prf_read() - parse a file in the native format
 * @data: contents of the file
 * @size: size of the file, in bytes
 * @prf: receives the run; free with prf_free()
 * @error: receives the error
 *
 * Return: 0, or -1; then @prf is empty.
 */
int prf_read(const void *data, size_t size, struct prf *prf,
	     struct prf_error *error)
{
	struct in in = {
		.data = data,
		.size = size,
		.prf = prf,
		.error = error,
	};

	memset(prf, 0, sizeof(*prf));
	if (!read_all(&in))
		return 0;
	prf_free(prf);
	return -1;
}
