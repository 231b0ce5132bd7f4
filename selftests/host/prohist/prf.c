// SPDX-License-Identifier: GPL-2.0-only
/*
 * prf.c - the native format: the reader accepts what the writer writes, and
 * rejects damaged files
 *
 * Built with sanitizers. Each damaged file is in memory of exactly its size, so
 * that they find any read beyond its end.
 */
#include "kselftest_harness.h"

#include <endian.h>
#include <zlib.h>

#include "sample.h"

FIXTURE(prf)
{
	struct prf prf;
	char *data;
	size_t size;
};

FIXTURE_SETUP(prf)
{
	sample_make(&self->prf);
	self->data = sample_file(&self->prf, &self->size);
}

FIXTURE_TEARDOWN(prf)
{
	prf_free(&self->prf);
	free(self->data);
}

/* Read a file and free the result. Return: that of prf_read(). */
static int try(const char *data, size_t size)
{
	struct prf_error error = {};
	char *copy = malloc(size);
	struct prf prf;
	int result;

	if (!copy && size)
		abort();
	memcpy(copy, data, size);
	result = prf_read(copy, size, &prf, &error);
	free(copy);
	if (result && (!error.text || error.offset > size))
		abort();
	prf_free(&prf);
	return result;
}

/* Read a file with one number replaced, and a valid checksum. */
static int try_with(const char *data, size_t size, size_t at, uint64_t number,
		    size_t bytes)
{
	char *copy = malloc(size);
	uint64_t crc;
	int result;

	if (!copy)
		abort();
	memcpy(copy, data, size);
	number = htole64(number);
	memcpy(copy + at, &number, bytes);
	crc = htole64(crc32_z(0, (const void *)copy, size - 16));
	memcpy(copy + size - 8, &crc, 8);
	result = try(copy, size);
	free(copy);
	return result;
}

/* Return: the offset of the payload of the first record of a type. */
static size_t payload(const char *data, uint32_t type)
{
	uint32_t header[2];
	size_t at = 16;

	for (;;) {
		memcpy(header, data + at, sizeof(header));
		at += 8;
		if (le32toh(header[0]) == type)
			return at;
		at += le32toh(header[1]);
	}
}

TEST_F(prf, what_is_written_is_read)
{
	struct prf_error error;
	struct prf prf;
	size_t size;
	char *data;

	ASSERT_EQ(0, prf_read(self->data, self->size, &prf, &error));
	EXPECT_STREQ("program -x", prf.command);
	EXPECT_EQ(15, prf.exit_code);
	EXPECT_EQ(4, prf.host.cpus);
	EXPECT_EQ(3, prf.host.online);
	EXPECT_STREQ("host", prf.host.name);
	EXPECT_STREQ("6.1.0", prf.host.release);
	EXPECT_STREQ("x86_64", prf.host.machine);
	ASSERT_EQ(2, prf.nr);
	EXPECT_EQ(1044, prf.execs[0].ticks);
	EXPECT_STREQ("it is set-user-ID", prf.execs[1].reason);
	EXPECT_STREQ("/user.slice", prf.execs[0].cgroup);
	EXPECT_EQ(9, prf.execs[0].processes);
	EXPECT_EQ(2, prf.withheld);
	ASSERT_EQ(3, prf.execs[0].nr);
	EXPECT_EQ(1004, prf_dso_ticks(&prf.execs[0].dsos[0]));
	ASSERT_EQ(2, prf.execs[0].dsos[2].nr_symbols);
	EXPECT_EQ(0xff0, prf.execs[0].dsos[2].symbols[0].start);
	EXPECT_STREQ("rest", prf.execs[0].dsos[2].symbols[1].name);
	data = sample_file(&prf, &size);
	ASSERT_EQ(self->size, size);
	EXPECT_EQ(0, memcmp(data, self->data, size));
	free(data);
	prf_free(&prf);
}

/* The names of the sample, after they were written and read */
TEST_F(prf, names)
{
	const struct prf_names *names;
	struct prf_error error;
	struct prf prf;

	ASSERT_EQ(0, prf_read(self->data, self->size, &prf, &error));
	names = prf.execs[0].dsos[0].names;
	ASSERT_NE(NULL, names);
	EXPECT_EQ(names, prf.execs[0].dsos[1].names);
	EXPECT_EQ(NULL, prf.execs[0].dsos[2].names);
	ASSERT_EQ(1, names->nr_segments);
	EXPECT_EQ(0x1000, names->segments[0].offset);
	EXPECT_EQ(0x2000, names->segments[0].size);
	EXPECT_EQ(0x401000, names->segments[0].address);
	ASSERT_EQ(2, names->nr_functions);
	EXPECT_STREQ("main", names->functions[0].name);
	EXPECT_EQ(0x402ff0, names->functions[1].start);
	EXPECT_EQ(0x403000, names->functions[1].end);
	EXPECT_STREQ("", names->functions[1].name);
	ASSERT_EQ(2, names->nr_frames);
	EXPECT_EQ(1, names->frames[1].parent);
	EXPECT_STREQ("inner", names->frames[1].name);
	EXPECT_STREQ("main.c", names->frames[1].file);
	EXPECT_EQ(9, names->frames[1].line);
	ASSERT_EQ(3, names->nr_spots);
	EXPECT_EQ(0x402ffc, names->spots[2].address);
	EXPECT_EQ(1, names->spots[2].function);
	EXPECT_EQ(2, names->spots[1].frame);
	ASSERT_EQ(2, names->nr_lines);
	EXPECT_EQ(0x40100b, names->lines[1].address);
	EXPECT_STREQ("inner.h", names->lines[1].file);
	EXPECT_EQ(300, names->lines[1].line);
	prf_free(&prf);
}

/* Return: what prf_add_names() says of the contents of a NAMES record. */
static const char *try_names(struct prf *prf, const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size);
	const char *problem;

	if (!copy)
		abort();
	memcpy(copy, data, size);
	prf_drop_names(prf);
	problem = prf_add_names(prf, copy, size);
	if (problem && (prf->nr_blocks || prf->execs[0].dsos[0].names))
		abort();
	return problem;
}

/* Every truncation, and every change of a byte: an error or harmless */
TEST_F(prf, damaged_names_do_no_harm)
{
	struct prf_block *block = &self->prf.blocks[0];
	size_t size = block->size, at;
	uint8_t *data = malloc(size);
	int bits;

	ASSERT_NE(NULL, data);
	memcpy(data, block->data, size);
	for (at = 1; at < size; at++)
		EXPECT_NE(NULL, try_names(&self->prf, data, at));
	for (at = 0; at < size; at++)
		for (bits = 1; bits < 256; bits++) {
			data[at] ^= bits;
			try_names(&self->prf, data, size);
			data[at] ^= bits;
		}
	EXPECT_EQ(NULL, try_names(&self->prf, data, size));
	free(data);
}

/*
 * Names are counted as often as they are used: a record of 3 MB, compressed to 3
 * kB, with 2^20 functions of one name of 1 kB.
 */
TEST_F(prf, names_have_a_limit)
{
	static char name[1024];
	struct prf_function *functions = calloc(1 << 20, sizeof(*functions));
	struct prf_names names = { .functions = functions };
	size_t size, i;
	void *data;

	ASSERT_NE(NULL, functions);
	memset(name, 'x', sizeof(name) - 1);
	for (i = 0; i < 1 << 20; i++)
		functions[i].name = name;
	names.nr_functions = (256 << 10) + 256;
	data = prf_names_pack(&names, 1, &size);
	EXPECT_EQ(NULL, try_names(&self->prf, data, size));
	free(data);
	names.nr_functions++;
	data = prf_names_pack(&names, 1, &size);
	EXPECT_STREQ("more names than there can be",
		     try_names(&self->prf, data, size));
	free(data);
	free(functions);
}

/* Calls inlined into each other, up to the limit and beyond */
TEST_F(prf, inlined_calls_have_a_limit)
{
	struct prf_frame frames[PRF_NAMES_DEPTH + 1];
	struct prf_names names = { .frames = frames };
	size_t size, i;
	void *data;

	for (i = 0; i <= PRF_NAMES_DEPTH; i++)
		frames[i] = (struct prf_frame){ i, 1, "inner", "" };
	names.nr_frames = PRF_NAMES_DEPTH;
	data = prf_names_pack(&names, 1, &size);
	EXPECT_EQ(NULL, try_names(&self->prf, data, size));
	free(data);
	names.nr_frames++;
	data = prf_names_pack(&names, 1, &size);
	EXPECT_NE(NULL, try_names(&self->prf, data, size));
	free(data);
}

/* The compressed contents, and their size, are checked. */
TEST_F(prf, packed_names_are_checked)
{
	size_t names = payload(self->data, PRF_NAMES);

#define BAD(at, number, bytes) \
	EXPECT_EQ(-1, try_with(self->data, self->size, at, number, bytes))
	BAD(names, 0, 4);
	BAD(names, 0xffffffff, 4);
	BAD(names + 4, 0, 4);
	BAD(names + 4, self->prf.blocks[0].size - 1, 4);
	BAD(names + 4, self->prf.blocks[0].size + 1, 4);
	BAD(names + 4, PRF_NAMES_MOST + 1, 4);
	BAD(names + 8, 0, 1);
	BAD(payload(self->data, PRF_KERNEL) - 8, PRF_NAMES, 4);
#undef BAD
}

/* Remove the bytes that version 2 has added. Return: the length without. */
static size_t cut(char *payload, size_t size, size_t at, size_t added)
{
	memmove(payload + at, payload + at + added, size - added - at);
	return size - added;
}

/* Make a file of version 1 of one of version 2, in place. */
static size_t as_version_1(char *data, size_t size)
{
	size_t from = 16, to = 16, payload_size;
	uint32_t header[2];
	uint64_t crc;

	data[8] = 1;
	while (from < size) {
		memcpy(header, data + from, sizeof(header));
		payload_size = le32toh(header[1]);
		memmove(data + to, data + from, 8 + payload_size);
		from += 8 + payload_size;
		if (le32toh(header[0]) == PRF_RUN)
			payload_size = cut(data + to + 8, payload_size, 40, 24);
		if (le32toh(header[0]) == PRF_EXEC) {
			memset(data + to + 8 + 100, 0, 4);
			payload_size = cut(data + to + 8, payload_size, 104,
					   16);
		}
		header[1] = htole32(payload_size);
		memcpy(data + to + 4, &header[1], 4);
		to += 8 + payload_size;
	}
	crc = htole64(crc32_z(0, (const void *)data, to - 16));
	memcpy(data + to - 8, &crc, 8);
	return to;
}

/*
 * Version 1 has no cgroup, so nothing but padding may follow the reason; it has
 * no functions of the kernel, and skips their names.
 */
TEST_F(prf, version_1)
{
	struct prf_exec *exec = &self->prf.execs[0];
	struct prf_error error;
	struct prf prf;

	free(self->data);
	exec->dsos[2].kind = PRF_LIBRARY;
	ASSERT_EQ(0, prf_set_cgroup(exec, ""));
	self->data = sample_file(&self->prf, &self->size);
	self->size = as_version_1(self->data, self->size);
	ASSERT_EQ(0, prf_read(self->data, self->size, &prf, &error)) {
		TH_LOG("%s at %llu", error.text,
		       (unsigned long long)error.offset);
	}
	EXPECT_STREQ("program -x", prf.command);
	EXPECT_EQ(15, prf.exit_code);
	EXPECT_EQ(0, prf.cpu_ns);
	EXPECT_EQ(0, prf.unfollowed);
	ASSERT_EQ(2, prf.nr);
	EXPECT_EQ(1044, prf.execs[0].ticks);
	EXPECT_EQ(1, prf.execs[0].unfollowed);
	EXPECT_EQ(0, prf.execs[0].coarse);
	EXPECT_EQ(0, prf.execs[0].processes);
	EXPECT_STREQ("/bin/program", prf.execs[0].name);
	EXPECT_STREQ("", prf.execs[0].cgroup);
	EXPECT_STREQ("it is set-user-ID", prf.execs[1].reason);
	ASSERT_EQ(3, prf.execs[0].nr);
	EXPECT_EQ(1004, prf_dso_ticks(&prf.execs[0].dsos[0]));
	EXPECT_EQ(0, prf.execs[0].dsos[2].nr_symbols);
	prf_free(&prf);

#define BAD(at, number, bytes) \
	EXPECT_EQ(-1, try_with(self->data, self->size, at, number, bytes))
	BAD(payload(self->data, PRF_RUN) + 32, PRF_RUNNING, 4);
	BAD(payload(self->data, PRF_EXEC) + 100, 1, 4);
	BAD(payload(self->data, PRF_DSO) + 24, PRF_KERNEL_TEXT, 4);
#undef BAD
}

TEST_F(prf, every_truncation_is_an_error)
{
	size_t size;

	for (size = 0; size < self->size; size++)
		EXPECT_EQ(-1, try(self->data, size));
}

TEST_F(prf, every_change_of_a_byte_is_an_error)
{
	size_t at;
	int bits;

	for (at = 0; at < self->size; at++) {
		for (bits = 1; bits < 256; bits++) {
			self->data[at] ^= bits;
			EXPECT_EQ(-1, try(self->data, self->size)) {
				TH_LOG("byte %zu xor %#x", at, bits);
			}
			self->data[at] ^= bits;
		}
	}
}

TEST_F(prf, changes_with_the_right_checksum_do_no_harm)
{
	size_t at;
	int bits;

	for (at = 0; at < self->size - 16; at++)
		for (bits = 1; bits < 256; bits++)
			try_with(self->data, self->size, at,
				 (self->data[at] ^ bits) & 0xff, 1);
}

TEST_F(prf, numbers_without_meaning_are_errors)
{
	size_t run = payload(self->data, PRF_RUN);
	size_t exec = payload(self->data, PRF_EXEC);
	size_t dso = payload(self->data, PRF_DSO);
	size_t hist = payload(self->data, PRF_HIST);
	size_t symbols = payload(self->data, PRF_SYMBOLS);

#define BAD(at, number, bytes) \
	EXPECT_EQ(-1, try_with(self->data, self->size, at, number, bytes))
	EXPECT_EQ(0, try_with(self->data, self->size, run, 1, 8));
	BAD(8, 0, 4);
	BAD(8, 3, 4);
	BAD(12, 1, 4);
	BAD(run + 24, 0, 4);
	BAD(run + 24, 4, 4);
	BAD(run + 28, 4, 4);
	BAD(run + 32, 3, 4);
	BAD(run + 48, PRF_MOST + 1, 8);
	BAD(run + 56, PRF_MOST + 1, 8);
	BAD(run - 4, 0xfffffff8, 4);
	BAD(run - 8, PRF_EXEC, 4);
	BAD(exec - 8, PRF_RUN, 4);
	BAD(exec - 8, PRF_KERNEL, 4);
	BAD(exec - 8, PRF_HOST, 4);
	BAD(exec + 32, PRF_MOST + 1, 8);
	BAD(exec + 96, 2, 4);
	BAD(exec + 104, PRF_MOST + 1, 8);
	BAD(exec + 112, PRF_MOST + 1, 8);
	BAD(dso - 8, PRF_HIST, 4);
	BAD(dso + 8, 0x401000, 8);
	BAD(dso + 24, 0, 4);
	BAD(dso + 24, 7, 4);
	BAD(dso + 28, 33, 4);
	BAD(hist, 0, 4);
	BAD(hist, 3, 4);
	BAD(hist, 16, 4);
	BAD(hist + 8, 8, 8);
	BAD(hist + 8 + 32, 0x2000, 8);
	BAD(hist + 16, 0, 8);
	BAD(hist + 16, PRF_MOST + 1, 8);
	BAD(symbols, 3, 4);
	BAD(symbols, 0xffffffff, 4);
	BAD(symbols, 1, 4);
	BAD(symbols + 4, 1, 4);
	BAD(symbols + 8, 0x1010, 8);
	BAD(symbols + 16, 0xff0, 8);
	BAD(symbols + 24, 0x100f, 8);
	BAD(symbols + 32, 0x3001, 8);
	BAD(symbols - 8, PRF_HOST, 4);
#undef BAD
}

/* Exceed the limit by one, with counts in different execs and buckets. */
TEST_F(prf, sums_have_a_limit)
{
	size_t exec = payload(self->data, PRF_EXEC);
	size_t hist = payload(self->data, PRF_HIST);
	struct prf_dso *dso = &self->prf.execs[0].dsos[0];
	uint64_t others = prf_dso_ticks(dso) - dso->buckets[0].count +
		prf_dso_ticks(&self->prf.execs[0].dsos[2]);
	uint64_t lost = PRF_MOST - 5;

	free(self->data);
	self->prf.execs[1].lost = 5;
	self->data = sample_file(&self->prf, &self->size);
	EXPECT_EQ(0, try_with(self->data, self->size, hist + 16,
			      PRF_MOST - others, 8));
	EXPECT_EQ(-1, try_with(self->data, self->size, hist + 16,
			       PRF_MOST - others + 1, 8));
	EXPECT_EQ(0, try_with(self->data, self->size, exec + 64, lost, 8));
	EXPECT_EQ(-1, try_with(self->data, self->size, exec + 64, lost + 1,
			       8));
}

TEST_F(prf, unknown_records_are_skipped)
{
	size_t hist = payload(self->data, PRF_HIST);

	EXPECT_EQ(0, try_with(self->data, self->size, hist - 8, 77, 4));
}

/* profil did not always write the record of the host. */
TEST_F(prf, host_may_be_missing)
{
	size_t host = payload(self->data, PRF_HOST);

	EXPECT_EQ(0, try_with(self->data, self->size, host - 8, 77, 4));
}

TEST_F(prf, nothing_may_follow_the_end)
{
	char *data = calloc(1, self->size + 8);

	ASSERT_NE(NULL, data);
	memcpy(data, self->data, self->size);
	EXPECT_EQ(-1, try(data, self->size + 8));
	free(data);
}

TEST_HARNESS_MAIN
