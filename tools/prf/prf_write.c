// SPDX-License-Identifier: GPL-2.0-only
/*
 * prf_write.c - write the native format
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "prf/prf.h"

/* An output file, its version, and the checksum of all bytes written so far. */
struct out {
	FILE *file;
	uint32_t version;
	uLong crc;
};

/* Errors stick to the stream; prf_write() checks them at the end. */
static void put(struct out *out, const void *data, size_t size)
{
	fwrite(data, 1, size, out->file);
	out->crc = crc32_z(out->crc, data, size);
}

static void put32(struct out *out, uint32_t number)
{
	number = htole32(number);
	put(out, &number, sizeof(number));
}

static void put64(struct out *out, uint64_t number)
{
	number = htole64(number);
	put(out, &number, sizeof(number));
}

static void pad(struct out *out, size_t size)
{
	static const uint8_t zeros[8];

	put(out, zeros, -size & 7);
}

/* Write a record's header; @strings is the length of its strings, unpadded. */
static void put_header(struct out *out, enum prf_type type, size_t fixed,
		       size_t strings)
{
	put32(out, type);
	put32(out, fixed + strings + (-strings & 7));
}

static void put_run(struct out *out, const struct prf *prf)
{
	size_t size = strlen(prf->command) + 1;

	put_header(out, PRF_RUN, out->version > 3 ? PRF_RUN_SIZE :
						    PRF_RUN_SIZE_3, size);
	put64(out, prf->start_unix_ns);
	put64(out, prf->wall_ns);
	put64(out, prf->period_ns);
	put32(out, prf->clock);
	put32(out, prf->flags);
	put32(out, prf->exit_kind);
	put32(out, prf->exit_code);
	put64(out, prf->cpu_ns);
	put64(out, prf->withheld);
	put64(out, prf->unfollowed);
	if (out->version > 3)
		put64(out, prf->unfollowed_threads);
	put(out, prf->command, size);
	pad(out, size);
}

static void put_host(struct out *out, const struct prf_host *host)
{
	size_t name = strlen(host->name) + 1;
	size_t release = strlen(host->release) + 1;
	size_t machine = strlen(host->machine) + 1;
	size_t size = name + release + machine;

	put_header(out, PRF_HOST, PRF_HOST_SIZE, size);
	put32(out, host->cpus);
	put32(out, host->online);
	put(out, host->name, name);
	put(out, host->release, release);
	put(out, host->machine, machine);
	pad(out, size);
}

static void put_exec_counts(struct out *out, const struct prf_exec *exec)
{
	put64(out, exec->start_ns);
	put64(out, exec->cpu_ns);
	put64(out, exec->covered_ns);
	put64(out, exec->ticks);
	put64(out, exec->counted);
	put64(out, exec->clipped);
	put64(out, exec->outside);
	put64(out, exec->lost);
	put64(out, exec->left_out);
	put64(out, exec->kernel);
	put64(out, exec->unfollowed);
}

static void put_waits(struct out *out, const struct prf_exec *exec)
{
	int state;

	if (out->version < 4)
		return;
	for (state = PRF_RUNNABLE; state < PRF_STATES; state++)
		put64(out, exec->waits[state]);
}

static void put_exec(struct out *out, const struct prf_exec *exec)
{
	size_t name = strlen(exec->name) + 1;
	size_t reason = strlen(exec->reason) + 1;
	size_t cgroup = strlen(exec->cgroup) + 1;
	size_t size = name + reason + cgroup;

	put_header(out, PRF_EXEC, out->version > 3 ? PRF_EXEC_SIZE :
						     PRF_EXEC_SIZE_3, size);
	put32(out, exec->pid);
	put32(out, exec->ppid);
	put_exec_counts(out, exec);
	put32(out, exec->reach);
	put32(out, exec->processes);
	put64(out, exec->coarse);
	put64(out, exec->unresolved);
	put_waits(out, exec);
	put(out, exec->name, name);
	put(out, exec->reason, reason);
	put(out, exec->cgroup, cgroup);
	pad(out, size);
}

static void put_dso(struct out *out, const struct prf_dso *dso)
{
	size_t size = strlen(dso->path) + 1;

	put_header(out, PRF_DSO, PRF_DSO_SIZE, size);
	put64(out, dso->start);
	put64(out, dso->end);
	put64(out, dso->pgoff);
	put32(out, dso->kind);
	put32(out, dso->build_id_len);
	put(out, dso->build_id, sizeof(dso->build_id));
	put(out, dso->path, size);
	pad(out, size);
}

/* Where there are chains, they have the buckets. */
static void put_hist(struct out *out, const struct prf_dso *dso, bool chains)
{
	size_t nr = chains ? 0 : dso->nr, i;

	put_header(out, PRF_HIST, PRF_HIST_SIZE + nr * sizeof(*dso->buckets),
		   0);
	put32(out, dso->bucket_bytes);
	put32(out, 0);
	for (i = 0; i < nr; i++) {
		put64(out, dso->buckets[i].offset);
		put64(out, dso->buckets[i].count);
	}
}

static size_t names_size(const struct prf_dso *dso)
{
	size_t size = 0, i;

	for (i = 0; i < dso->nr_symbols; i++)
		size += strlen(dso->symbols[i].name) + 1;
	return size;
}

static void put_symbols(struct out *out, const struct prf_dso *dso)
{
	size_t size = names_size(dso), i;

	put_header(out, PRF_SYMBOLS,
		   PRF_SYMBOLS_SIZE + 2 * sizeof(uint64_t) * dso->nr_symbols,
		   size);
	put32(out, dso->nr_symbols);
	put32(out, 0);
	for (i = 0; i < dso->nr_symbols; i++) {
		put64(out, dso->symbols[i].start);
		put64(out, dso->symbols[i].end);
	}
	for (i = 0; i < dso->nr_symbols; i++)
		put(out, dso->symbols[i].name,
		    strlen(dso->symbols[i].name) + 1);
	pad(out, size);
}

static void put_kernel(struct out *out, const struct prf_exec *exec)
{
	put_header(out, PRF_KERNEL, PRF_KERNEL_SIZE, 0);
	put64(out, exec->kernel_count);
	put64(out, 0);
}

/*
 * Write a record with compressed contents after a fixed part: @nr numbers. Errors
 * are in errno. The default level takes twice as long to save 7 % of the file.
 */
static int put_packed(struct out *out, enum prf_type type,
		      const uint64_t *numbers, size_t nr, const void *data,
		      size_t size)
{
	uLongf length = compressBound(size);
	uint8_t *packed = malloc(length);
	size_t i;

	if (!packed || compress2(packed, &length, data, size,
				 Z_BEST_SPEED)) {
		free(packed);
		errno = ENOMEM;
		return -1;
	}
	put_header(out, type, nr * sizeof(*numbers) + PRF_PACKED_SIZE, length);
	for (i = 0; i < nr; i++)
		put64(out, numbers[i]);
	put32(out, length);
	put32(out, size);
	put(out, packed, length);
	pad(out, length);
	free(packed);
	return 0;
}

/* @chains: of prf_chains_pack(), or NULL; @size: their size, in bytes */
static int put_all_packed(struct out *out, const struct prf *prf,
			  const void *chains, size_t size)
{
	size_t i;

	if (chains && put_packed(out, PRF_CHAINS, prf->chains, PRF_CHAIN_ENDS,
				 chains, size))
		return -1;
	for (i = 0; i < prf->nr_blocks; i++)
		if (put_packed(out, PRF_NAMES, NULL, 0, prf->blocks[i].data,
			       prf->blocks[i].size))
			return -1;
	return 0;
}

static void put_end(struct out *out)
{
	uLong crc = out->crc;

	put_header(out, PRF_END, PRF_END_SIZE, 0);
	put64(out, crc);
}

/* The length of a record has 32 bits. */
static bool dso_fits(const struct prf_dso *dso)
{
	const size_t most = UINT32_MAX - PRF_HIST_SIZE - 8;
	const size_t ranges = 2 * sizeof(uint64_t);

	return dso->nr <= most / sizeof(struct prf_bucket) &&
		dso->nr_symbols <= most / ranges &&
		names_size(dso) <= most - dso->nr_symbols * ranges;
}

static bool fits(const struct prf *prf)
{
	size_t i, j;

	for (i = 0; i < prf->nr; i++)
		for (j = 0; j < prf->execs[i].nr; j++)
			if (!dso_fits(&prf->execs[i].dsos[j]))
				return false;
	return true;
}

static int write_run(FILE *file, const struct prf *prf, const void *chains,
		     size_t size)
{
	struct out out = {
		.file = file,
		.version = prf->flags & PRF_FLAG_WALL ? PRF_VERSION :
							PRF_VERSION_CPU,
		.crc = crc32_z(0, NULL, 0),
	};
	size_t i, j;

	put(&out, PRF_MAGIC, PRF_MAGIC_SIZE);
	put32(&out, out.version);
	put32(&out, 0);
	put_run(&out, prf);
	if (prf->host.name)
		put_host(&out, &prf->host);
	for (i = 0; i < prf->nr; i++) {
		const struct prf_exec *exec = &prf->execs[i];

		put_exec(&out, exec);
		for (j = 0; j < exec->nr; j++) {
			put_dso(&out, &exec->dsos[j]);
			put_hist(&out, &exec->dsos[j],
				 chains && exec->nr_nodes);
			if (exec->dsos[j].nr_symbols)
				put_symbols(&out, &exec->dsos[j]);
		}
		put_kernel(&out, exec);
	}
	if (put_all_packed(&out, prf, chains, size))
		return -1;
	put_end(&out);
	return fflush(file) || ferror(file) ? -1 : 0;
}

/**
 * prf_write() - write a run
 * @file: output stream; not closed
 * @prf: the run; its chains are written if it has PRF_FLAG_CHAINS
 *
 * Return: 0, or -1 with errno. Nothing is written if the chains are more than a file
 * has room for, or another part is (EFBIG).
 */
int prf_write(FILE *file, const struct prf *prf)
{
	void *chains = NULL;
	size_t size = 0;
	int result;

	if (!fits(prf)) {
		errno = EFBIG;
		return -1;
	}
	if (prf->flags & PRF_FLAG_CHAINS) {
		chains = prf_chains_pack(prf, &size);
		if (!chains)
			return -1;
	}
	result = write_run(file, prf, chains, size);
	free(chains);
	return result;
}
