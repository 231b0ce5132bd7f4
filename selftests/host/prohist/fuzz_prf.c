// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_prf.c - fuzz the reader of the native format
 *
 * The input is the part between the header and the END record; the fuzzer adds
 * both, so that most inputs do not already fail by the checksum. A profile that
 * can be read must be the same after writing and reading it again. As the contents
 * of a CHAINS record, it is read without decompression.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <dos/dos_prf.h>

#include "sample.h"

static uint8_t *wrap(const uint8_t *data, size_t size, uint32_t version,
		     size_t *whole)
{
	uint8_t *file = malloc(size + 32);
	uint32_t numbers[2] = { htole32(version), 0 };
	uint64_t crc;

	if (!file)
		abort();
	memcpy(file, PRF_MAGIC, PRF_MAGIC_SIZE);
	memcpy(file + 8, numbers, 8);
	if (size)
		memcpy(file + 16, data, size);
	crc = htole64(crc32_z(0, file, size + 16));
	numbers[0] = htole32(PRF_END);
	numbers[1] = htole32(PRF_END_SIZE);
	memcpy(file + 16 + size, numbers, 8);
	memcpy(file + 24 + size, &crc, 8);
	*whole = size + 32;
	return file;
}

static void write_again(const struct prf *prf)
{
	struct prf_error error;
	struct prf again;
	size_t size;
	char *data = sample_file(prf, &size);

	if (prf_read(data, size, &again, &error) || again.nr != prf->nr)
		abort();
	prf_free(&again);
	free(data);
}

static void read_native(const uint8_t *data, size_t size)
{
	struct prf_error error;
	struct prf prf;

	if (prf_read(data, size, &prf, &error)) {
		if (error.offset > size || !error.text)
			abort();
		return;
	}
	write_again(&prf);
	prf_free(&prf);
}

/* Two DSOs: one with few places, and one with all */
static void add_exec(struct prf *prf, const char *name)
{
	struct prf_exec *exec = prf_add_exec(prf, name, "");
	struct prf_dso *dso;
	int i;

	for (i = 0; exec && i < 2; i++) {
		dso = prf_add_dso(exec, "dso");
		if (!dso)
			abort();
		dso->end = i ? UINT64_MAX : 1 << 16;
		dso->bucket_bytes = i ? 1 : 4;
	}
	exec->coarse = 100;
}

/* What can be read can be written. */
static void read_chains(const uint8_t *data, size_t size)
{
	struct prf prf;
	void *again;

	if (prf_init(&prf, ""))
		abort();
	add_exec(&prf, "first");
	add_exec(&prf, "second");
	if (!prf_add_chains(&prf, data, size)) {
		again = prf_chains_pack(&prf, &size);
		if (!again)
			abort();
		free(again);
	}
	prf_free(&prf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct prf_error error;
	struct dos_prf dos;
	uint32_t version;
	uint8_t *file;
	size_t whole;

	read_native(data, size);
	read_chains(data, size);
	for (version = 1; version <= PRF_VERSION; version++) {
		file = wrap(data, size, version, &whole);
		read_native(file, whole);
		free(file);
	}
	if (!dos_prf_read(data, size, &dos, &error))
		free(dos.buckets);
	return 0;
}
