// SPDX-License-Identifier: GPL-2.0-only
/*
 * record.c - profiles of the table of a watch: files that are not what they
 * seem, and ticks that come while the table is read
 */
#include <stdlib.h>

#include "kselftest_harness.h"
#include "profil/names.h"
#include "profil/record.h"
#include "table.h"

/* The kernel has one function, wherever it is on this machine. */
#define FUNCTION	0xffffffff81000000ULL

int __wrap_kallsyms_read(struct ranges *ranges);
int __wrap_kallsyms_read(struct ranges *ranges)
{
	const struct range function = {
		.start = FUNCTION,
		.end = FUNCTION + 64,
		.name = "function",
	};

	return ranges_add(ranges, &function);
}

FIXTURE(record)
{
	struct session session;
	struct table table;
	struct record *record;
	struct prf prf;
};

FIXTURE_SETUP(record)
{
	self->session.target = TARGET_MACHINE;
	self->session.bucket = 4;
	table_init(&self->table);
	self->record = record_new(&self->session, &self->table.header);
	ASSERT_NE(NULL, self->record);
	memset(&self->prf, 0, sizeof(self->prf));
}

FIXTURE_TEARDOWN(record)
{
	prf_free(&self->prf);
	record_free(self->record);
}

/* The profile of the ticks since the last time */
static const struct prf *refresh(FIXTURE_DATA(record) *self)
{
	prf_free(&self->prf);
	memset(&self->prf, 0, sizeof(self->prf));
	return record_add(self->record, &self->prf) ? NULL : &self->prf;
}

static uint64_t in_dsos(const struct prf_exec *exec)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < exec->nr; i++)
		ticks += prf_dso_ticks(&exec->dsos[i]);
	return ticks;
}

/* A tick counts for its image first, and then in its bucket. */
TEST_F(record, a_tick_in_the_kernel_between_both)
{
	uint32_t image = table_image(&self->table, "program");
	const struct prf *prf;

	table_tick(&self->table, image, PROFIL_OBJECT_KERNEL, FUNCTION, 5);
	self->table.images[image].kernel++;
	prf = refresh(self);
	ASSERT_EQ(1, prf->nr);
	EXPECT_EQ(1, prf->execs[0].kernel_count);
	EXPECT_EQ(6, prf->execs[0].ticks);
	EXPECT_EQ(5, in_dsos(&prf->execs[0]));

	table_bucket(&self->table, image, PROFIL_OBJECT_KERNEL, FUNCTION, 1);
	self->table.images[image].cpu_time_ns++;
	prf = refresh(self);
	ASSERT_EQ(1, prf->nr);
	EXPECT_EQ(0, prf->execs[0].kernel_count);
	EXPECT_EQ(1, prf->execs[0].ticks);
	EXPECT_EQ(1, in_dsos(&prf->execs[0]));

	/* It has been shown twice by now, and so once less than others */
	self->table.images[image].kernel += 3;
	prf = refresh(self);
	ASSERT_EQ(1, prf->nr);
	EXPECT_EQ(2, prf->execs[0].kernel_count);
	EXPECT_EQ(2, prf->execs[0].ticks);
}

/* Another image has nothing but a tick that it had before. */
TEST_F(record, a_tick_between_both_of_another_image)
{
	uint32_t file = table_file(&self->table, "/bin/sh");
	uint32_t first = table_image(&self->table, "first");
	uint32_t second = table_image(&self->table, "second");
	const struct prf *prf;

	self->table.images[first].counted = 1;
	ASSERT_EQ(1, refresh(self)->nr);
	table_bucket(&self->table, first, file, 4096, 1);
	table_tick(&self->table, second, file, 4096, 7);
	prf = refresh(self);
	ASSERT_LE(1, prf->nr);
	EXPECT_EQ(7, prf->execs[prf->nr - 1].ticks);
	EXPECT_EQ(7, in_dsos(&prf->execs[prf->nr - 1]));
}

TEST_HARNESS_MAIN
