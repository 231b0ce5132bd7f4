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
#include <errno.h>
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
		functions[i] = (struct prf_function){ i, i + 1, name };
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

TEST_F(prf, a_function_has_a_byte)
{
	struct prf_function function = { 0x1000, 0x1000, "none" };
	struct prf_names names = { .nr_functions = 1, .functions = &function };
	size_t size;
	void *data = prf_names_pack(&names, 1, &size);

	EXPECT_STREQ("a function without a byte",
		     try_names(&self->prf, data, size));
	free(data);
	function.end++;
	data = prf_names_pack(&names, 1, &size);
	EXPECT_EQ(NULL, try_names(&self->prf, data, size));
	free(data);
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

/* Each place in a file is looked for in all of its segments. */
TEST_F(prf, segments_have_a_limit)
{
	struct prf_segment segments[PRF_NAMES_SEGMENTS + 1] = {};
	struct prf_names names = {
		.segments = segments,
		.nr_segments = PRF_NAMES_SEGMENTS,
	};
	size_t size;
	void *data = prf_names_pack(&names, 1, &size);

	EXPECT_EQ(NULL, try_names(&self->prf, data, size));
	free(data);
	names.nr_segments++;
	data = prf_names_pack(&names, 1, &size);
	EXPECT_STREQ("more segments of a file than there can be",
		     try_names(&self->prf, data, size));
	free(data);
}

/* Each looks at all DSOs. */
TEST_F(prf, records_of_names_have_a_limit)
{
	struct prf_names names = {};
	const char *problem = NULL;
	void *data;
	size_t size;

	while (!problem && self->prf.nr_blocks <= PRF_NAMES_RECORDS) {
		data = prf_names_pack(&names, 1, &size);
		problem = prf_add_names(&self->prf, data, size);
	}
	EXPECT_EQ(PRF_NAMES_RECORDS, self->prf.nr_blocks);
	EXPECT_STREQ("names by more readers than there can be", problem);
}

/* A function without a name has that of the file. */
TEST_F(prf, paths_have_a_limit)
{
	char path[PRF_PATH_MOST + 2] = "", *data;
	struct prf_dso *dso;
	struct prf prf;
	size_t size;
	int i;

	for (i = 0; i < 2; i++) {
		memset(path, 'x', PRF_PATH_MOST + i);
		ASSERT_EQ(0, prf_init(&prf, "long"));
		prf.clock = PRF_CLOCK_PERF;
		dso = prf_add_dso(prf_add_exec(&prf, "long", ""), path);
		ASSERT_NE(NULL, dso);
		dso->kind = PRF_PROGRAM;
		dso->end = 4096;
		dso->bucket_bytes = 4;
		data = sample_file(&prf, &size);
		EXPECT_EQ(-i, try(data, size));
		free(data);
		prf_free(&prf);
	}
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

/* Chains are read with callers before what they call, depth first. */
TEST_F(prf, chains)
{
	static const struct prf_node wanted[] = {
		{ 0, 0, 0, 0, 1 },
		{ 1, 0, 8, 900, 0 },
		{ 2, 2, 0x1000, 5, 0 },
		{ 2, PRF_NODE_KERNEL, 0, 6, 0 },
		{ 1, 2, 0x2000, 1, 0 },
		{ 1, 0, 0, 1, 0 },
		{ PRF_CUT, 0, 8, 100, 2 },
		{ 7, 0, 0x1ffc, 3, 0 },
	};
	struct prf_error error;
	struct prf prf;
	size_t i;

	ASSERT_EQ(0, prf_read(self->data, self->size, &prf, &error));
	EXPECT_EQ(PRF_FLAG_USER_ONLY | PRF_FLAG_CHAINS | PRF_FLAG_CALL_SITES,
		  prf.flags);
	EXPECT_EQ(914, prf.chains[PRF_CHAIN_COMPLETE]);
	EXPECT_EQ(105, prf.chains[PRF_CHAIN_NO_RULE]);
	EXPECT_EQ(0, prf.execs[1].nr_nodes);
	ASSERT_EQ(ARRAY_SIZE(wanted), prf.execs[0].nr_nodes);
	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		const struct prf_node *node = &prf.execs[0].nodes[i];

		EXPECT_EQ(wanted[i].caller, node->caller);
		EXPECT_EQ(wanted[i].dso, node->dso);
		EXPECT_EQ(wanted[i].offset, node->offset);
		EXPECT_EQ(wanted[i].count, node->count);
		EXPECT_EQ(wanted[i].below, node->below);
	}
	prf_free(&prf);
}

/*
 * Return: what prf_add_chains() says of the contents of a CHAINS record, for a run
 * without buckets.
 */
static const char *try_chains(struct prf *prf, const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size);
	const char *problem;
	size_t i;

	if (!copy)
		abort();
	memcpy(copy, data, size);
	prf_drop_chains(prf);
	for (i = 0; i < prf->execs[0].nr; i++)
		prf->execs[0].dsos[i].nr = 0;
	problem = prf_add_chains(prf, copy, size);
	if (problem && (prf->execs[0].nodes || prf->execs[0].nr_nodes))
		abort();
	free(copy);
	return problem;
}

/* Every truncation is an error; every change of a byte an error or harmless. */
TEST_F(prf, damaged_chains_do_no_harm)
{
	size_t size, at;
	uint8_t *data = prf_chains_pack(&self->prf, &size);
	int bits;

	ASSERT_NE(NULL, data);
	for (at = 0; at < size; at++)
		EXPECT_NE(NULL, try_chains(&self->prf, data, at));
	for (at = 0; at < size; at++)
		for (bits = 1; bits < 256; bits++) {
			data[at] ^= bits;
			try_chains(&self->prf, data, size);
			data[at] ^= bits;
		}
	EXPECT_EQ(NULL, try_chains(&self->prf, data, size));
	EXPECT_EQ(1000, self->prf.execs[0].dsos[0].buckets[1].count);
	EXPECT_EQ(8, self->prf.execs[0].dsos[0].buckets[1].offset);
	free(data);
}

/* Return: the result of reading the sample, as it was changed. */
static const char *read_changed(const struct prf *prf)
{
	static struct prf_error error;
	struct prf again;
	size_t size;
	char *data = sample_file(prf, &size);
	int result = prf_read(data, size, &again, &error);

	free(data);
	prf_free(&again);
	return result ? error.text : NULL;
}

TEST_F(prf, chains_agree_with_the_exec)
{
	struct prf_exec *exec = &self->prf.execs[0];
	size_t size;

	EXPECT_EQ(NULL, read_changed(&self->prf));
	exec->nodes[2].below = 3;
	EXPECT_EQ(NULL, read_changed(&self->prf));
	exec->nodes[2].below = 4;
	EXPECT_STREQ("chains with more ticks than had no room",
		     read_changed(&self->prf));
	exec->nodes[2].below = 0;
	exec->nodes[2].offset = 0x2000;
	EXPECT_STREQ("a frame outside its DSO", read_changed(&self->prf));
	exec->nodes[2].offset = 8;
	exec->nodes[2].count--;
	EXPECT_EQ(NULL, prf_chains_pack(&self->prf, &size));
	EXPECT_EQ(EINVAL, errno);
	exec->nodes[6].count++;
	EXPECT_STREQ("chains with other ticks in the kernel",
		     read_changed(&self->prf));
}

/* A chain of @depth frames of the second DSO, which has no ticks */
static void add_chain(struct prf_exec *exec, size_t depth)
{
	size_t i;

	for (i = 0; i < depth; i++)
		if (!prf_add_node(exec, i ? exec->nr_nodes : 0, 1, i, 0, 0))
			abort();
}

TEST_F(prf, chains_have_a_limit)
{
	struct prf_exec *exec = &self->prf.execs[0];
	size_t size, i;

	add_chain(exec, PRF_CHAIN_DEPTH);
	EXPECT_EQ(NULL, read_changed(&self->prf));
	ASSERT_NE(NULL, prf_add_node(exec, exec->nr_nodes, 1, 0, 0, 0));
	EXPECT_EQ(NULL, prf_chains_pack(&self->prf, &size));
	EXPECT_EQ(EFBIG, errno);
	exec->nr_nodes--;
	for (i = 0; i <= PRF_FRAMES_MOST / PRF_CHAIN_DEPTH; i++)
		if (!prf_add_node(exec, 8 + PRF_CHAIN_DEPTH - 1, 1, 0, 0, 0))
			abort();
	EXPECT_EQ(NULL, prf_chains_pack(&self->prf, &size));
	EXPECT_EQ(EFBIG, errno);
	exec->nodes[0].caller = 3;
	EXPECT_EQ(NULL, prf_chains_pack(&self->prf, &size));
	EXPECT_EQ(EINVAL, errno);
}

/* Contents that exceed the limits are refused, too. */
TEST_F(prf, forged_chains_have_a_limit)
{
	/*
	 * No place and no group; the first exec has so many nodes, in the kernel
	 * and without ticks, and none of its DSOs has a group
	 */
	static uint8_t deep[4 * 512] = { 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0 };
	static const uint8_t most[] = { 0, 0, 0x80, 0x80, 0x80, 2, 0, 0, 0, 0 };
	static const uint8_t more[] = { 0, 0, 0x81, 0x80, 0x80, 2, 0, 0, 0, 0 };

	self->prf.execs[0].kernel_count = 0;
	deep[2] = 0x80 | 0x7f;
	deep[3] = 1;
	EXPECT_EQ(NULL, try_chains(&self->prf, deep, 10 + 4 * 255));
	deep[2] = 0x80;
	deep[3] = 2;
	EXPECT_STREQ("a chain with too many frames",
		     try_chains(&self->prf, deep, 10 + 4 * 256));
	EXPECT_STREQ("contents that are cut short",
		     try_chains(&self->prf, most, sizeof(most)));
	EXPECT_STREQ("contents with a number that has no meaning",
		     try_chains(&self->prf, more, sizeof(more)));
}

TEST_F(prf, packed_chains_are_checked)
{
	size_t chains = payload(self->data, PRF_CHAINS);
	size_t run = payload(self->data, PRF_RUN);
	uint32_t size;

	memcpy(&size, self->data + chains + 76, sizeof(size));
	size = le32toh(size);
#define BAD(at, number, bytes) \
	EXPECT_EQ(-1, try_with(self->data, self->size, at, number, bytes))
	BAD(run + 28, 0, 4);
	BAD(run + 28, PRF_FLAGS + 1, 4);
	BAD(chains, PRF_MOST, 8);
	BAD(chains + 72, 0, 4);
	BAD(chains + 72, 0xffffffff, 4);
	BAD(chains + 76, 0, 4);
	BAD(chains + 76, size - 1, 4);
	BAD(chains + 76, size + 1, 4);
	BAD(chains + 76, PRF_CHAINS_MOST + 1, 4);
	BAD(chains + 80, 0, 1);
	BAD(payload(self->data, PRF_HOST) - 8, PRF_CHAINS, 4);
	BAD(payload(self->data, PRF_NAMES) - 8, PRF_CHAINS, 4);
	EXPECT_EQ(0, try_with(self->data, self->size, chains - 8, 77, 4));
#undef BAD
}

/* Move the first record of a type before the first of another one. */
static void move(char *data, uint32_t type, uint32_t before)
{
	size_t from = payload(data, type) - 8, to = payload(data, before) - 8;
	uint32_t length;
	char *copy;

	memcpy(&length, data + from + 4, sizeof(length));
	length = 8 + le32toh(length);
	copy = malloc(length);
	if (!copy)
		abort();
	memcpy(copy, data + from, length);
	memmove(data + to + length, data + to, from - to);
	memcpy(data + to, copy, length);
	free(copy);
}

/* Chains come after all execs. */
TEST_F(prf, chains_come_last)
{
	static const uint32_t types[] = {
		PRF_KERNEL, PRF_HIST, PRF_DSO, PRF_EXEC,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		move(self->data, PRF_CHAINS, types[i]);
		EXPECT_EQ(-1, try_with(self->data, self->size, 12, 0, 4));
	}
}

/* Execs of one program share its places, also where it is mapped twice. */
TEST_F(prf, execs_share_places)
{
	struct prf_error error;
	struct prf_exec *exec;
	struct prf_dso *dso;
	struct prf prf;
	size_t i, size;
	char *data;

	for (i = 1; i <= 3; i++) {
		exec = prf_add_exec(&self->prf, "/bin/program", "");
		for (; exec && exec->nr < i; ) {
			dso = prf_add_dso(exec, "/bin/program");
			ASSERT_NE(NULL, dso);
			dso->start = exec->nr << 12;
			dso->end = dso->start + 0x1000 + i;
			dso->kind = PRF_LIBRARY;
			dso->bucket_bytes = 4;
			ASSERT_EQ(0, prf_add_bucket(dso, 0x10 * i, i));
			ASSERT_NE(NULL, prf_add_node(exec, 0, exec->nr - 1,
						     0x10 * i, i, 0));
		}
	}
	data = sample_file(&self->prf, &size);
	ASSERT_EQ(0, prf_read(data, size, &prf, &error)) {
		TH_LOG("%s", error.text);
	}
	for (i = 1; i <= 3; i++) {
		exec = &prf.execs[1 + i];
		ASSERT_EQ(i, exec->nr_nodes);
		EXPECT_EQ(i - 1, exec->nodes[i - 1].dso);
		EXPECT_EQ(0x10 * i, exec->nodes[i - 1].offset);
		ASSERT_EQ(1, exec->dsos[i - 1].nr);
		EXPECT_EQ(0x10 * i, exec->dsos[i - 1].buckets[0].offset);
		EXPECT_EQ(i, exec->dsos[i - 1].buckets[0].count);
	}
	free(data);
	prf_free(&prf);
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

/* Write the profile without chains, with the buckets in their own records. */
static char *sample_flat(struct prf *prf, size_t *size)
{
	prf->flags = PRF_FLAG_USER_ONLY;
	return sample_file(prf, size);
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
	self->data = sample_flat(&self->prf, &self->size);
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

/* Version 2 has no chains, and skips their record. */
TEST_F(prf, version_2)
{
	size_t run = payload(self->data, PRF_RUN);

	EXPECT_EQ(-1, try_with(self->data, self->size, 8, 2, 4));
	self->data[run + 28] = PRF_FLAG_USER_ONLY;
	EXPECT_EQ(-1, try_with(self->data, self->size, 8, 3, 4));
	EXPECT_EQ(0, try_with(self->data, self->size, 8, 2, 4));
}

/* Older readers know a profile without waits. */
TEST_F(prf, version_3_without_waits)
{
	EXPECT_EQ(PRF_VERSION_CPU, self->data[8]);
	free(self->data);
	sample_waits(&self->prf);
	self->data = sample_file(&self->prf, &self->size);
	EXPECT_EQ(PRF_VERSION, self->data[8]);
	EXPECT_EQ(0, try(self->data, self->size));
	EXPECT_EQ(-1, try_with(self->data, self->size, 8, PRF_VERSION_CPU, 4));
}

TEST_F(prf, waits_are_written_and_read)
{
	const struct prf_exec *exec;
	struct prf_error error;
	struct prf prf;
	int state;

	free(self->data);
	sample_waits(&self->prf);
	self->data = sample_file(&self->prf, &self->size);
	ASSERT_EQ(0, prf_read(self->data, self->size, &prf, &error)) {
		TH_LOG("%s", error.text);
	}
	EXPECT_EQ(4, prf.unfollowed_threads);
	exec = &prf.execs[0];
	EXPECT_EQ(1044, exec->ticks);
	EXPECT_EQ(306, prf_waits(exec));
	ASSERT_EQ(6, exec->nr);
	for (state = PRF_RUNNABLE; state < PRF_STATES; state++) {
		const struct prf_dso *dso = &exec->dsos[2 + state];

		EXPECT_EQ(100 + state, exec->waits[state]);
		EXPECT_EQ(state, prf_state_of(dso));
		ASSERT_EQ(1, dso->nr);
		EXPECT_EQ(16 + state, dso->buckets[0].offset);
		EXPECT_EQ(100 + state, dso->buckets[0].count);
		ASSERT_EQ(1, dso->nr_symbols);
		EXPECT_STREQ("read", dso->symbols[0].name);
	}
	prf_free(&prf);
}

/* What @change makes of a profile with waits is an error. */
#define BAD_WAITS(change) \
	do { \
		struct prf bad; \
		char *data; \
		size_t size; \
		sample_make(&bad); \
		sample_waits(&bad); \
		{ \
			struct prf *run = &bad; \
			struct prf_exec *exec = &bad.execs[0]; \
			struct prf_dso *dso = &exec->dsos[3]; \
			struct prf_node *node = &exec->nodes[8]; \
			(void)run, (void)dso, (void)node; \
			change; \
		} \
		data = sample_file(&bad, &size); \
		EXPECT_EQ(-1, try(data, size)); \
		free(data); \
		prf_free(&bad); \
	} while (0)

/* No reader may take waits for a file, or for something that calls. */
TEST_F(prf, bad_waits_are_errors)
{
	BAD_WAITS(strcpy(dso->path, "/etc/passw"));
	BAD_WAITS(dso->path[1] = 'R');
	BAD_WAITS(dso->kind = PRF_WAIT_BLOCKED);
	BAD_WAITS(dso->kind = PRF_WAIT_IDLE + 1);
	BAD_WAITS(dso->pgoff = 4096);
	BAD_WAITS(dso->end--);
	BAD_WAITS(dso->end++);
	BAD_WAITS(dso->bucket_bytes = 2; node->offset = 16);
	BAD_WAITS(dso->build_id_len = 20);
	BAD_WAITS(exec->waits[PRF_IDLE] = PRF_MOST + 1);
	BAD_WAITS(run->unfollowed_threads = PRF_MOST + 1);
	BAD_WAITS(node->below = 1);
	BAD_WAITS(prf_add_node(exec, 9, 0, 0, 0, 0));
	BAD_WAITS(prf_add_node(exec, 9, PRF_NODE_KERNEL, 0, 0, 0));
}

/* Waits, and their flag, belong together. */
TEST_F(prf, waits_without_the_flag_are_errors)
{
	size_t run, exec;

	free(self->data);
	sample_waits(&self->prf);
	self->data = sample_file(&self->prf, &self->size);
	run = payload(self->data, PRF_RUN);
	exec = payload(self->data, PRF_EXEC);
	EXPECT_EQ(0, try_with(self->data, self->size, exec + 120, 0, 8));
	EXPECT_EQ(-1, try_with(self->data, self->size, run + 28,
			       self->prf.flags & ~PRF_FLAG_WALL, 4));
}

TEST_F(prf, waits_damaged_with_the_right_checksum_do_no_harm)
{
	size_t at;
	int bits;

	free(self->data);
	sample_waits(&self->prf);
	self->data = sample_file(&self->prf, &self->size);
	for (at = 0; at < self->size - 16; at++)
		for (bits = 1; bits < 256; bits <<= 1)
			try_with(self->data, self->size, at,
				 (self->data[at] ^ bits) & 0xff, 1);
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
	size_t run, exec, dso, hist, symbols;

	free(self->data);
	self->data = sample_flat(&self->prf, &self->size);
	run = payload(self->data, PRF_RUN);
	exec = payload(self->data, PRF_EXEC);
	dso = payload(self->data, PRF_DSO);
	hist = payload(self->data, PRF_HIST);
	symbols = payload(self->data, PRF_SYMBOLS);

#define BAD(at, number, bytes) \
	EXPECT_EQ(-1, try_with(self->data, self->size, at, number, bytes))
	EXPECT_EQ(0, try_with(self->data, self->size, run, 1, 8));
	BAD(8, 0, 4);
	BAD(8, PRF_VERSION, 4);
	BAD(8, PRF_VERSION + 1, 4);
	BAD(12, 1, 4);
	BAD(run + 24, 0, 4);
	BAD(run + 24, 4, 4);
	BAD(run + 28, PRF_FLAGS_3 + 1, 4);
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
	BAD(dso + 24, PRF_WAIT_RUNNABLE, 4);
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
	self->data = sample_flat(&self->prf, &self->size);
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
	size_t symbols = payload(self->data, PRF_SYMBOLS);

	EXPECT_EQ(0, try_with(self->data, self->size, symbols - 8, 77, 4));
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
