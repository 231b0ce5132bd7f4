// SPDX-License-Identifier: GPL-2.0-only
/*
 * record.c - profiles of the table of a watch: files that are not what they
 * seem, names of code, and ticks that come while the table is read
 */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "profil/names.h"
#include "profil/object.h"
#include "profil/record.h"
#include "table.h"
#include "util/file.h"

/* The kernel has one function, wherever it is on this machine. */
#define FUNCTION	0xffffffff81000000ULL
#define MODULE		(FUNCTION + (1 << 20))

static bool has_module;

int __wrap_kallsyms_read(struct ranges *ranges)
{
	const struct range function = {
		.start = FUNCTION,
		.end = FUNCTION + 64,
		.name = "function",
	};
	const struct range late = {
		.start = MODULE,
		.end = MODULE + 64,
		.name = "late",
		.module = "module",
	};

	return ranges_add(ranges, &function) ||
		(has_module && ranges_add(ranges, &late)) ? -1 : 0;
}

/* Instead of the type of the file system, unless it is 0 */
static uint32_t fake_system;

int __real_fstatfs(int fd, struct statfs *system);
int __wrap_fstatfs(int fd, struct statfs *system)
{
	int failed = __real_fstatfs(fd, system);

	if (fake_system)
		system->f_type = fake_system;
	return failed;
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

/* Code behind a function is not that function's, but may be that of a new module. */
TEST_F(record, ticks_in_a_module_that_is_loaded_later)
{
	uint32_t image = table_image(&self->table, "program");
	const struct prf *prf;

	table_tick(&self->table, image, PROFIL_OBJECT_KERNEL, FUNCTION, 5);
	table_tick(&self->table, image, PROFIL_OBJECT_KERNEL, MODULE, 3);
	prf = refresh(self);
	ASSERT_EQ(1, prf->nr);
	EXPECT_EQ(3, prf->execs[0].kernel_count);
	EXPECT_EQ(5, in_dsos(&prf->execs[0]));

	has_module = true;
	table_tick(&self->table, image, PROFIL_OBJECT_KERNEL, MODULE, 4);
	prf = refresh(self);
	has_module = false;
	ASSERT_EQ(1, prf->nr);
	EXPECT_EQ(0, prf->execs[0].kernel_count);
	ASSERT_EQ(1, prf->execs[0].nr);
	EXPECT_STREQ("late", prf->execs[0].dsos[0].symbols[0].name);
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

/* Make a file with one segment, of any size; @path becomes its name. */
static void make_elf(char *path, uint64_t offset, uint64_t size)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
	} elf = {
		.header = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
				     ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = sizeof(Elf64_Ehdr),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
		},
		.segment = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = offset,
			.p_filesz = size,
		},
	};
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, &elf, sizeof(elf)) != sizeof(elf))
		abort();
	close(fd);
}

/* Does each DSO begin after the one before has ended? */
static bool is_in_order(const struct prf_exec *exec)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < exec->nr; i++) {
		if (exec->dsos[i].start < end ||
		    exec->dsos[i].end <= exec->dsos[i].start)
			return false;
		end = exec->dsos[i].end;
	}
	return true;
}

TEST_F(record, files_with_segments_beyond_their_end)
{
	char paths[4][32];
	uint32_t image = table_image(&self->table, "program"), i, file;
	const struct prf *prf;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		strcpy(paths[i], "/tmp/profil-record-XXXXXX");
		make_elf(paths[i], i == 1 ? INT64_MAX - 1 : 0,
			 i == 1 ? 1 : INT64_MAX);
		file = table_file(&self->table, paths[i]);
		if (i)
			table_tick(&self->table, image, file, 64, 1);
		else
			self->table.images[image].exe = file;
	}
	prf = refresh(self);
	for (i = 0; i < ARRAY_SIZE(paths); i++)
		unlink(paths[i]);
	ASSERT_EQ(1, prf->nr);
	EXPECT_EQ(3, in_dsos(&prf->execs[0]));
	for (i = 0; i < prf->execs[0].nr; i++)
		EXPECT_GE(4096, prf->execs[0].dsos[i].end -
				prf->execs[0].dsos[i].start);
}

/* A sparse file may be as large as that, and be mapped there. */
TEST_F(record, code_at_the_end_of_large_files)
{
	uint32_t image = table_image(&self->table, "program"), i;
	const struct prf *prf;

	for (i = 0; i < 3; i++) {
		uint32_t file = table_file(&self->table, "/nonexistent");

		table_tick(&self->table, image, file, 0, 1);
		table_tick(&self->table, image, file, INT64_MAX - 4095, 1);
	}
	table_tick(&self->table, image, PROFIL_OBJECT_KERNEL, FUNCTION, 1);
	prf = refresh(self);
	ASSERT_EQ(1, prf->nr);
	EXPECT_TRUE(is_in_order(&prf->execs[0]));
	EXPECT_EQ(7, prf->execs[0].ticks);
	EXPECT_EQ(prf->execs[0].counted, in_dsos(&prf->execs[0]));
	EXPECT_EQ(7, prf->execs[0].counted + prf->execs[0].coarse);
}

static const struct prf_dso *vdso_of(const struct prf_exec *exec)
{
	size_t i;

	for (i = 0; i < exec->nr; i++)
		if (exec->dsos[i].kind == PRF_VDSO)
			return &exec->dsos[i];
	return NULL;
}

/* A 32-bit program has another one, which may be what has ended by now. */
TEST_F(record, the_vdso_of_what_ran_already)
{
	uint32_t here, gone, image;
	const struct prf *prf;
	char comm[16];

	ASSERT_EQ(0, prctl(PR_GET_NAME, comm));
	here = table_image(&self->table, comm);
	self->table.images[here].pid = getpid();
	gone = table_image(&self->table, "gone");
	for (image = here; image <= gone; image++)
		table_tick(&self->table, image, PROFIL_OBJECT_VDSO, 0x800, 1);
	prf = refresh(self);
	ASSERT_EQ(2, prf->nr);
	ASSERT_NE(NULL, vdso_of(&prf->execs[0]));
	ASSERT_NE(NULL, vdso_of(&prf->execs[1]));
	EXPECT_NE(0, vdso_of(&prf->execs[0])->build_id_len);
	EXPECT_EQ(0, vdso_of(&prf->execs[1])->build_id_len);
}

/* --- chains */

/* Ticks of a frame, which is called by another one */
static uint32_t called(FIXTURE_DATA(record) *self, uint32_t image,
		       uint32_t object, uint64_t offset, uint32_t caller,
		       uint64_t ticks)
{
	return table_call(&self->table, image, object, offset, caller, ticks);
}

/*
 * An exec's chains: frames with ticks or some below, the ticks, "+" and those
 * below, and from there on the addresses of all callers
 */
static const char *chains_of(const struct prf_exec *exec)
{
	static char text[4096];
	size_t i, used = 0;

	text[0] = '\0';
	for (i = 0; i < exec->nr_nodes; i++) {
		const struct prf_node *node = &exec->nodes[i];
		uint32_t caller = i + 1;

		if (!node->count && !node->below)
			continue;
		used += sprintf(text + used, "%lu+%lu", node->count,
				node->below);
		for (; caller && caller != PRF_CUT; caller = node->caller) {
			node = &exec->nodes[caller - 1];
			used += node->dso == PRF_NODE_KERNEL ?
				sprintf(text + used, " kernel") :
				sprintf(text + used, " %lx", node->offset +
					exec->dsos[node->dso].pgoff);
		}
		used += sprintf(text + used, "%s;", caller ? " cut" : "");
	}
	return text;
}

TEST_F(record, chains_of_callers)
{
	uint32_t file = table_file(&self->table, "/bin/sh");
	uint32_t image = table_image(&self->table, "program");
	uint32_t other = table_image(&self->table, "other");
	uint32_t start, middle;
	const struct prf *prf;

	start = called(self, image, file, 0x3000, 0, 0);
	middle = called(self, image, PROFIL_OBJECT_ANONYMOUS, 0x7000, start, 1);
	called(self, image, file, 0x2000, middle, 2);
	called(self, image, file, 0x2000, start, 3);
	called(self, image, file, 0x2000, PROFIL_CALLER_UNKNOWN, 4);
	called(self, other, file, 0x2000, 0, 5);
	prf = refresh(self);
	ASSERT_EQ(2, prf->nr);
	EXPECT_STREQ("1+0 7000 3000;2+0 2000 7000 3000;3+0 2000 3000;4+0 2000 cut;",
		     chains_of(&prf->execs[0]));
	EXPECT_STREQ("5+0 2000;", chains_of(&prf->execs[1]));
	/* The flat profile has no callers */
	EXPECT_EQ(10, in_dsos(&prf->execs[0]));
	EXPECT_EQ(1, prf->execs[0].dsos[0].nr);
	EXPECT_EQ(1, prf->execs[0].dsos[1].nr);
	EXPECT_EQ(9, prf->execs[0].dsos[1].buckets[0].count);
}

/* New ticks lead to callers without any, and old ones do not come again. */
TEST_F(record, chains_of_new_ticks)
{
	uint32_t file = table_file(&self->table, "/bin/sh");
	uint32_t image = table_image(&self->table, "program");
	uint32_t start = called(self, image, file, 0x3000, 0, 7);
	uint32_t leaf = called(self, image, file, 0x2000, start, 2);

	called(self, image, file, 0x4000, leaf, 1);
	EXPECT_STREQ("7+0 3000;2+0 2000 3000;1+0 4000 2000 3000;",
		     chains_of(&refresh(self)->execs[0]));
	called(self, image, file, 0x4000, leaf, 3);
	EXPECT_STREQ("3+0 4000 2000 3000;",
		     chains_of(&refresh(self)->execs[0]));
	called(self, image, file, 0x5000, start, 4);
	EXPECT_STREQ("4+0 5000 3000;", chains_of(&refresh(self)->execs[0]));
	EXPECT_EQ(0, refresh(self)->nr);
}

/* Ticks that found no bucket are below the frame that has one. */
TEST_F(record, chains_without_room)
{
	uint32_t file = table_file(&self->table, "/bin/sh");
	uint32_t image = table_image(&self->table, "program");
	uint32_t start = called(self, image, file, 0x3000, 0, 0);
	const struct prf *prf;

	self->table.buckets[start - 1].below = 5;
	self->table.images[image].coarse = 5;
	prf = refresh(self);
	EXPECT_STREQ("0+5 3000;", chains_of(&prf->execs[0]));
	EXPECT_EQ(5, prf->execs[0].ticks);
	EXPECT_EQ(0, prf->execs[0].dsos[0].nr);

	/* Ticks in the kernel find none, either */
	self->table.buckets[start - 1].below += 5;
	self->table.images[image].coarse += 2;
	self->table.images[image].kernel += 3;
	prf = refresh(self);
	EXPECT_STREQ("0+2 3000;3+0 kernel 3000;", chains_of(&prf->execs[0]));
	self->session.user_only = true;
	self->table.buckets[start - 1].below += 5;
	self->table.images[image].coarse += 2;
	self->table.images[image].kernel += 3;
	prf = refresh(self);
	EXPECT_STREQ("0+2 3000;", chains_of(&prf->execs[0]));
	EXPECT_EQ(3, prf->execs[0].left_out);
}

/* Those of one image may have been counted by the last reading: the next goes on. */
TEST_F(record, chains_behind_an_image_without_ticks)
{
	uint32_t file = table_file(&self->table, "/bin/sh");
	uint32_t first = table_image(&self->table, "first");
	uint32_t second = table_image(&self->table, "second");
	uint32_t start = called(self, first, file, 0x3000, 0, 1);
	const struct prf *prf;

	self->table.images[first].coarse = 5;
	ASSERT_EQ(1, refresh(self)->nr);
	self->table.buckets[start - 1].below = 5;
	called(self, second, file, 0x2000, 0, 2);
	prf = refresh(self);
	ASSERT_EQ(1, prf->nr);
	EXPECT_STREQ("2+0 2000;", chains_of(&prf->execs[0]));
}

/* Nor are those that it has counted in the kernel now. */
TEST_F(record, chains_below_which_ticks_have_been_counted_before)
{
	uint32_t file = table_file(&self->table, "/bin/sh");
	uint32_t image = table_image(&self->table, "program");
	uint32_t start = called(self, image, file, 0x3000, 0, 1);
	const struct prf *prf;

	self->table.images[image].coarse = 5;
	ASSERT_EQ(1, refresh(self)->nr);
	self->table.buckets[start - 1].below = 5 + 2;
	self->table.images[image].kernel = 2;
	called(self, image, file, 0x3000, 0, 1);
	prf = refresh(self);
	ASSERT_EQ(1, prf->nr);
	EXPECT_STREQ("1+0 3000;2+0 kernel 3000;", chains_of(&prf->execs[0]));
	EXPECT_EQ(2, prf->execs[0].kernel_count);
}

/* A file that has no room in the exec is in no chain. */
TEST_F(record, chains_through_large_files)
{
	uint32_t file = table_file(&self->table, "/bin/sh");
	uint32_t large = table_file(&self->table, "/nonexistent");
	uint32_t image = table_image(&self->table, "program");
	uint32_t start = called(self, image, file, 0x3000, 0, 0);
	uint32_t lost = called(self, image, large, 0, start, 2);
	const struct prf *prf;

	called(self, image, large, INT64_MAX - 4095, start, 3);
	called(self, image, file, 0x2000, lost, 1);
	prf = refresh(self);
	EXPECT_STREQ("1+0 2000 cut;0+5 3000;", chains_of(&prf->execs[0]));
	EXPECT_EQ(5, prf->execs[0].coarse);
}

TEST_F(record, chains_into_the_kernel)
{
	uint32_t file = table_file(&self->table, "/bin/sh");
	uint32_t image = table_image(&self->table, "program");
	uint32_t start = called(self, image, file, 0x3000, 0, 0);
	uint32_t inner = called(self, image, PROFIL_OBJECT_KERNEL, FUNCTION,
				start, 2);
	const struct prf *prf;

	called(self, image, PROFIL_OBJECT_KERNEL, FUNCTION + 32, inner, 1);
	called(self, image, PROFIL_OBJECT_KERNEL, 0, start, 3);
	/* Ticks at an exec are in no bucket */
	self->table.images[image].kernel += 4;
	prf = refresh(self);
	EXPECT_STREQ("3+0 kernel 3000;2+0 0 3000;1+0 20 0 3000;4+0 kernel cut;",
		     chains_of(&prf->execs[0]));
	EXPECT_EQ(7, prf->execs[0].kernel_count);
	EXPECT_EQ(3, in_dsos(&prf->execs[0]));
}

TEST_F(record, no_chains_into_a_kernel_that_is_left_out)
{
	uint32_t file = table_file(&self->table, "/bin/sh");
	uint32_t image = table_image(&self->table, "program");
	uint32_t start = called(self, image, file, 0x3000, 0, 6);
	const struct prf *prf;

	self->session.user_only = true;
	called(self, image, PROFIL_OBJECT_KERNEL, 0, start, 3);
	prf = refresh(self);
	EXPECT_STREQ("6+0 3000;", chains_of(&prf->execs[0]));
	EXPECT_EQ(3, prf->execs[0].left_out);
	EXPECT_EQ(0, prf->execs[0].kernel_count);
}

TEST_F(record, no_chains_of_a_flat_table)
{
	uint32_t file = table_file(&self->table, "/bin/sh");
	uint32_t image = table_image(&self->table, "program");
	const struct prf *prf;

	/* As of a module that knows of no callers */
	self->session.flat = true;
	table_tick(&self->table, image, file, 0x3000, 6);
	record_free(self->record);
	self->record = record_new(&self->session, &self->table.header);
	prf = refresh(self);
	EXPECT_EQ(0, prf->execs[0].nr_nodes);
	EXPECT_EQ(6, in_dsos(&prf->execs[0]));
}

/* --- waits */

#define SYSCALL(name)	(PROFIL_WAIT_SYSCALL + __NR_##name)

/* The names of an exec's waits with ticks, by state, and their ticks */
static const char *waits_of(const struct prf_exec *exec)
{
	static char text[4096];
	size_t i, j, k, used = 0;

	text[0] = '\0';
	for (i = 0; i < exec->nr; i++) {
		const struct prf_dso *dso = &exec->dsos[i];

		for (j = 0; prf_state_of(dso) && j < dso->nr; j++)
			for (k = 0; k < dso->nr_symbols; k++)
				if (dso->symbols[k].start ==
				    dso->buckets[j].offset)
					used += sprintf(text + used,
							"%s %s %lu;", dso->path,
							dso->symbols[k].name,
							dso->buckets[j].count);
	}
	return text;
}

TEST_F(record, waits_have_names)
{
	uint32_t image = table_image(&self->table, "program");
	const struct prf_exec *exec;

#define WAIT(wait, ticks) \
	called(self, image, PROFIL_OBJECT_BLOCKED, wait, 0, ticks)
	WAIT(PROFIL_WAIT_UNKNOWN, 1);
	WAIT(PROFIL_WAIT_FAULT, 2);
	WAIT(PROFIL_WAIT_STOPPED, 3);
	WAIT(PROFIL_WAIT_TRACED, 4);
	WAIT(15, 5);
	WAIT(SYSCALL(read), 6);
	WAIT(SYSCALL(epoll_pwait2), 7);
	WAIT(PROFIL_WAIT_SYSCALL + 999, 8);
	/* 3 is read() in 32-bit programs */
	WAIT(PROFIL_WAIT_COMPAT + PROFIL_WAIT_SYSCALL + 3, 9);
	WAIT((1u << 30) + PROFIL_WAIT_SYSCALL, 10);
	WAIT((1u << 30) + PROFIL_WAIT_SYSCALL + 1, 11);
	WAIT(PROFIL_WAIT_LONG + SYSCALL(read), 12);
	called(self, image, PROFIL_OBJECT_RUNNABLE, 0, 0, 13);
#undef WAIT
	exec = &refresh(self)->execs[0];
	EXPECT_STREQ("[blocked] [unknown] 1;[blocked] page fault 2;"
		     "[blocked] stopped 3;[blocked] traced 4;"
		     "[blocked] [unknown] 5;[blocked] read 6;"
		     "[blocked] epoll_pwait2 7;[blocked] system call 999 8;"
		     "[blocked] read 9;[blocked] [unknown] 21;"
		     "[idle] read 12;[runnable] [runnable] 13;",
		     waits_of(exec));
	EXPECT_EQ(0, exec->ticks);
	EXPECT_EQ(66, exec->waits[PRF_BLOCKED]);
	EXPECT_EQ(12, exec->waits[PRF_IDLE]);
	EXPECT_EQ(13, exec->waits[PRF_RUNNABLE]);
	EXPECT_TRUE(is_in_order(exec));
}

/* A wait is below the frame that waits, as what that has called. */
TEST_F(record, chains_of_waits)
{
	uint32_t file = table_file(&self->table, "/bin/sh");
	uint32_t image = table_image(&self->table, "program");
	uint32_t start = called(self, image, file, 0x3000, 0, 6);
	const struct prf_exec *exec;

	called(self, image, PROFIL_OBJECT_BLOCKED, SYSCALL(read), start, 5);
	called(self, image, PROFIL_OBJECT_BLOCKED,
	       PROFIL_WAIT_LONG + SYSCALL(read), start, 4);
	called(self, image, PROFIL_OBJECT_RUNNABLE, 0, start, 3);
	called(self, image, PROFIL_OBJECT_BLOCKED, SYSCALL(read),
	       PROFIL_CALLER_UNKNOWN, 2);
	exec = &refresh(self)->execs[0];
	EXPECT_STREQ("6+0 3000;5+0 10 3000;2+0 10 cut;4+0 10 3000;3+0 0 3000;",
		     chains_of(exec));
	EXPECT_STREQ("[blocked] read 7;[idle] read 4;[runnable] [runnable] 3;",
		     waits_of(exec));
	called(self, image, PROFIL_OBJECT_BLOCKED, SYSCALL(read), start, 1);
	exec = &refresh(self)->execs[0];
	EXPECT_STREQ("1+0 10 3000;", chains_of(exec));
	EXPECT_EQ(1, exec->waits[PRF_BLOCKED]);
	EXPECT_EQ(0, exec->waits[PRF_IDLE]);
	EXPECT_EQ(0, exec->ticks);
}

/* Waits that found no bucket are in the sums, and below what has one. */
TEST_F(record, waits_without_room)
{
	uint32_t file = table_file(&self->table, "/bin/sh");
	uint32_t image = table_image(&self->table, "program");
	uint32_t start = called(self, image, file, 0x3000, 0, 0);
	const struct prf_exec *exec;

	self->table.buckets[start - 1].below = 14;
	self->table.images[image].coarse = 1;
	self->table.images[image].kernel = 2;
	self->table.images[image].runnable = 3;
	self->table.images[image].blocked = 4 + 5;
	self->table.images[image].idle = 5;
	/* One of those blocked is below no frame */
	exec = &refresh(self)->execs[0];
	EXPECT_STREQ("0+1 3000;3+0 0 3000;4+0 0 3000;5+0 0 3000;1+0 kernel 3000;1+0 kernel cut;",
		     chains_of(exec));
	EXPECT_STREQ("[runnable] [runnable] 3;[blocked] [unknown] 4;[idle] [unknown] 5;",
		     waits_of(exec));
	self->table.images[image].blocked += 2;
	exec = &refresh(self)->execs[0];
	EXPECT_STREQ("2+0 0 cut;", chains_of(exec));
}

TEST_F(record, waits_of_a_flat_table)
{
	uint32_t image = table_image(&self->table, "program");
	const struct prf_exec *exec;

	self->session.flat = true;
	table_tick(&self->table, image, PROFIL_OBJECT_BLOCKED, SYSCALL(read), 6);
	self->table.images[image].blocked += 2;
	record_free(self->record);
	self->record = record_new(&self->session, &self->table.header);
	exec = &refresh(self)->execs[0];
	EXPECT_STREQ("[blocked] [unknown] 2;[blocked] read 6;", waits_of(exec));
	EXPECT_EQ(0, exec->nr_nodes);
}

/* Others of its processes may go on, and would be another program in the next view. */
TEST_F(record, what_ran_already_keeps_its_name)
{
	uint32_t image = table_image(&self->table, "cat");
	char path[PATH_MAX] = "";
	int input[2];
	pid_t pid;

	ASSERT_EQ(0, pipe(input));
	pid = fork();
	if (!pid) {
		dup2(input[0], STDIN_FILENO);
		close(input[1]);
		execlp("cat", "cat", NULL);
		_exit(1);
	}
	self->table.images[image].pid = pid;
	do {
		self->table.images[image].unresolved++;
		snprintf(path, sizeof(path), "%s", refresh(self)->execs[0].name);
	} while (!strcmp(path, "cat") && !waitpid(pid, NULL, WNOHANG));
	EXPECT_STREQ("/cat", strrchr(path, '/') ?: "");
	close(input[1]);
	waitpid(pid, NULL, 0);
	self->table.images[image].unresolved++;
	EXPECT_STREQ(path, refresh(self)->execs[0].name);
}

/* Waits that end while the table is read: as a_tick_in_the_kernel_between_both */
TEST_F(record, waits_between_both)
{
	uint32_t image = table_image(&self->table, "program");
	uint64_t wait = PROFIL_WAIT_LONG + SYSCALL(read);
	const struct prf_exec *exec;

	self->table.images[image].blocked += 5;
	self->table.images[image].idle += 5;
	exec = &refresh(self)->execs[0];
	EXPECT_STREQ("[idle] [unknown] 5;", waits_of(exec));
	table_bucket(&self->table, image, PROFIL_OBJECT_BLOCKED, wait, 5);
	exec = &refresh(self)->execs[0];
	EXPECT_STREQ("[idle] read 5;", waits_of(exec));
	EXPECT_EQ(5, exec->waits[PRF_IDLE]);
	EXPECT_EQ(0, exec->waits[PRF_BLOCKED]);
}

/* The images of a module that counts no waits are shorter. */
TEST_F(record, images_without_waits)
{
	uint32_t image = table_image(&self->table, "program");
	struct profil_watch_image *seen = &self->table.images[image];

	self->table.header.image_size =
		offsetof(struct profil_watch_image, blocked);
	seen = (void *)((char *)self->table.images +
			image * self->table.header.image_size);
	memset(self->table.images, 0xff, sizeof(self->table.images));
	memset(self->table.images, 0, (image + 1) *
	       self->table.header.image_size);
	seen->counted = 1;
	EXPECT_EQ(0, prf_waits(&refresh(self)->execs[0]));
}

/* --- files that may be others now */

/* Reads the program of this test, as of the file system and the inode. */
FIXTURE(object)
{
	struct table table;
	struct profil_watch_object *seen;
	struct object object;
	char path[PATH_MAX];
	uint64_t changed_ns;
};

FIXTURE_SETUP(object)
{
	ssize_t length = readlink("/proc/self/exe", self->path, PATH_MAX - 1);
	struct stat now;

	ASSERT_LT(0, length);
	self->path[length] = '\0';
	ASSERT_EQ(0, stat(self->path, &now));
	self->changed_ns = file_changed_ns(&now);
	table_init(&self->table);
	self->seen = &self->table.objects[table_file(&self->table, self->path)];
	memset(&self->object, 0, sizeof(self->object));
}

FIXTURE_TEARDOWN(object)
{
	object_free(&self->object);
}

static bool is_taken(FIXTURE_DATA(object) *self, uint64_t start_ns)
{
	object_free(&self->object);
	if (object_read(&self->object, &self->table.header, PROFIL_OBJECT_FILES,
			start_ns))
		abort();
	return !strcmp(self->object.path, self->path) && self->object.end;
}

TEST_F(object, of_the_same_inode)
{
	fake_system = EXT4_SUPER_MAGIC;
	EXPECT_TRUE(is_taken(self, 0));
	self->seen->inode++;
	EXPECT_FALSE(is_taken(self, UINT64_MAX));
	self->seen->inode--;
	self->seen->device++;
	EXPECT_FALSE(is_taken(self, UINT64_MAX));
}

TEST_F(object, of_another_generation)
{
	if (!self->seen->generation)
		SKIP(return, "the file system has no generations");
	self->seen->generation++;
	EXPECT_FALSE(is_taken(self, UINT64_MAX));
}

TEST_F(object, of_a_subvolume)
{
	fake_system = BTRFS_SUPER_MAGIC;
	self->seen->device++;
	EXPECT_TRUE(is_taken(self, 0));
	self->seen->inode++;
	EXPECT_FALSE(is_taken(self, UINT64_MAX));
}

TEST_F(object, of_a_union)
{
	fake_system = OVERLAYFS_SUPER_MAGIC;
	self->seen->generation = 0;
	self->seen->device++;
	EXPECT_TRUE(is_taken(self, 0));
	self->seen->inode ^= 1ULL << 63;
	EXPECT_TRUE(is_taken(self, 0));
	/* It may have been copied to the upper layer before the watch began */
	self->seen->inode++;
	EXPECT_TRUE(is_taken(self, self->changed_ns + 1));
	EXPECT_FALSE(is_taken(self, self->changed_ns));
}

/* --- files that claim to be huge, as any user may write them */

#define HUGE	(1ULL << 40)

/* Read a file of that size, of which only the beginning is written. */
static struct object read_huge(struct __test_metadata *_metadata,
			       const void *beginning, size_t size)
{
	char path[] = "/tmp/profil-huge-XXXXXX";
	int fd = mkstemp(path);
	struct object object;
	struct table table;
	uint32_t file;

	ASSERT_LE(0, fd);
	ASSERT_EQ(size, write(fd, beginning, size));
	ASSERT_EQ(0, ftruncate(fd, HUGE));
	table_init(&table);
	file = table_file(&table, path);
	EXPECT_EQ(0, object_read(&object, &table.header, file, 0));
	close(fd);
	unlink(path);
	return object;
}

/* As the kernel would execute it */
#define EXECUTABLE(nr) { \
	.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, \
		     ELFDATA2LSB, EV_CURRENT }, \
	.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT, \
	.e_ehsize = sizeof(Elf64_Ehdr), .e_phnum = (nr), \
	.e_phentsize = sizeof(Elf64_Phdr), .e_shentsize = sizeof(Elf64_Shdr) }

#define TEXT	{ .p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = 4096 }

TEST(a_terabyte_of_notes_is_not_read)
{
	struct {
		Elf64_Ehdr ehdr;
		Elf64_Phdr phdrs[2];
	} beginning = {
		.ehdr = EXECUTABLE(2),
		.phdrs = { TEXT, { .p_type = PT_NOTE, .p_offset = 4096,
				   .p_filesz = HUGE - 4096, .p_align = 4 } },
	};
	struct object object;

	beginning.ehdr.e_phoff = sizeof(beginning.ehdr);
	object = read_huge(_metadata, &beginning, sizeof(beginning));
	EXPECT_EQ(4096, object.end);
	EXPECT_EQ(0, object.build_id_len);
	object_free(&object);
}

/* Numbers that the header has no room for are in the first section header. */
static void expect_unread(struct __test_metadata *_metadata, Elf64_Ehdr ehdr,
			  Elf64_Shdr numbers)
{
	struct {
		Elf64_Ehdr ehdr;
		Elf64_Shdr numbers;
		Elf64_Phdr phdrs[1];
	} beginning = {
		.ehdr = ehdr, .numbers = numbers, .phdrs = { TEXT },
	};
	struct object object;

	beginning.ehdr.e_shoff = offsetof(typeof(beginning), numbers);
	beginning.ehdr.e_phoff = offsetof(typeof(beginning), phdrs);
	object = read_huge(_metadata, &beginning, sizeof(beginning));
	EXPECT_EQ(0, object.end);
	EXPECT_EQ(0, object.build_id_len);
	object_free(&object);
}

TEST(a_billion_segments_are_not_read)
{
	Elf64_Ehdr ehdr = EXECUTABLE(PN_XNUM);

	ehdr.e_shnum = 1;
	expect_unread(_metadata, ehdr, (Elf64_Shdr){ .sh_info = 1U << 30 });
}

TEST(a_million_sections_are_not_read)
{
	const Elf64_Ehdr ehdr = EXECUTABLE(1);

	expect_unread(_metadata, ehdr, (Elf64_Shdr){ .sh_size = 1U << 20 });
}

/* A DSO of no bytes would make a profile unreadable. */
TEST(a_segment_without_bytes_is_no_text)
{
	struct {
		Elf64_Ehdr ehdr;
		Elf64_Phdr phdrs[1];
	} beginning = {
		.ehdr = EXECUTABLE(1),
		.phdrs = { { .p_type = PT_LOAD, .p_flags = PF_X,
			     .p_offset = 8192 } },
	};
	struct object object;

	beginning.ehdr.e_phoff = offsetof(typeof(beginning), phdrs);
	object = read_huge(_metadata, &beginning, sizeof(beginning));
	EXPECT_EQ(0, object.end);
	object_free(&object);
}

/* --- /tmp/perf-PID.map */

#define CODE	0x7f0000000000ULL

/* Name the code of an image with ticks in @nr places, 16 bytes apart. */
static struct prf_dso named(const char *map, size_t nr)
{
	struct prf_dso dso = {
		.pgoff = CODE,
		.end = 16 * nr,
		.kind = PRF_ANONYMOUS,
	};
	size_t room = SIZE_MAX, i;
	char path[64];
	FILE *file;

	for (i = 0; i < nr; i++)
		prf_add_bucket(&dso, 16 * i, 1);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	file = fopen(path, "w");
	fputs(map, file);
	fclose(file);
	if (perf_map_name(&dso, getpid(), getuid(), &room))
		abort();
	unlink(path);
	return dso;
}

/* The names of the places, such as "aab-" */
static const char *names_of(const struct prf_dso *dso)
{
	static char names[64];
	size_t i, j;

	memset(names, 0, sizeof(names));
	for (i = 0; i < dso->nr; i++) {
		names[i] = '-';
		for (j = 0; j < dso->nr_symbols; j++)
			if (dso->buckets[i].offset >= dso->symbols[j].start &&
			    dso->buckets[i].offset < dso->symbols[j].end)
				names[i] = dso->symbols[j].name[0];
	}
	return names;
}

static void free_dso(struct prf_dso *dso)
{
	size_t i;

	for (i = 0; i < dso->nr_symbols; i++)
		free(dso->symbols[i].name);
	free(dso->symbols);
	free(dso->buckets);
}

#define EXPECT_NAMES(expected, map) do {			\
	struct prf_dso dso = named(map, strlen(expected));	\
								\
	EXPECT_STREQ(expected, names_of(&dso));			\
	free_dso(&dso);						\
} while (0)

TEST(the_last_line_names_code)
{
	EXPECT_NAMES("aaa-", "7f0000000000 30 a\n");
	EXPECT_NAMES("-aa-", "7f0000000001 20 a\n");
	EXPECT_NAMES("abba-", "7f0000000000 40 a\n7f0000000010 20 b");
	EXPECT_NAMES("aaaaa", "7f0000000010 20 b\n0 7fffffffffff a\n\n");
	EXPECT_NAMES("abc-d-e", "7f0000000000 10 a\n7f0000000010 10 b\n"
		     "7f0000000020 10 c\nno line\n7f0000000040 1 d\n"
		     "7f0000000060 ffffffffffffffff x\n7f0000000060 1 e\n");
	/* A user has no code there */
	EXPECT_NAMES("aa", "7f0000000000 20 a\n0 ffffffffffffffff x\n");
	EXPECT_NAMES("---", "");
}

/* It would be copied for each function that has it. */
TEST(long_names_of_code_are_left_out)
{
	char map[16384];

	snprintf(map, sizeof(map), "7f0000000000 10 a%04095d\n"
		 "7f0000000010 10 b%04096d\n7f0000000020 10 c\n", 0, 0);
	EXPECT_NAMES("a-c", map);
}

/* With other functions in between, each part of one has the name again. */
TEST(names_of_code_take_no_more_than_a_mebibyte)
{
	const size_t nr = 2048, long_names = (1 << 20) / (4097 + 2);
	char map[65536];
	struct prf_dso dso;
	size_t i, size;

	size = snprintf(map, sizeof(map), "%llx %zx a%04095d\n", CODE, 16 * nr, 0);
	for (i = 0; i < nr; i += 2)
		size += snprintf(map + size, sizeof(map) - size, "%llx 10 b\n",
				 CODE + 16 * i);
	ASSERT_GT(sizeof(map), size);
	dso = named(map, nr);
	EXPECT_EQ(long_names, dso.nr_symbols / 2);
	free_dso(&dso);
}

/* Opening a device can have side effects: a watchdog, for one, begins. */
TEST(list_of_code_that_is_no_file_is_not_opened)
{
	int events = inotify_init1(IN_NONBLOCK), nr;
	struct prf_dso dso = { .pgoff = CODE, .end = 16 };
	size_t room = SIZE_MAX;
	char path[64], event[512];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	ASSERT_EQ(0, mkfifo(path, 0600));
	ASSERT_LE(0, inotify_add_watch(events, path, IN_OPEN));
	prf_add_bucket(&dso, 0, 1);
	EXPECT_EQ(0, perf_map_name(&dso, getpid(), getuid(), &room));
	nr = read(events, event, sizeof(event));
	EXPECT_EQ(-1, nr);
	unlink(path);
	free_dso(&dso);
	close(events);
}

/*
 * Anybody can write many lines, each of which has all code. Seconds of CPU time are
 * too many for them, however busy the machine is.
 */
TEST(many_lines_for_much_code)
{
	static const char line[] = "7f0000000000 ffffffff a\n";
	size_t length = sizeof(line) - 1, nr = 100000, i;
	const struct rlimit limit = { 10, 10 };
	char *map = malloc(nr * length + 1);
	struct prf_dso dso;

	for (i = 0; i < nr; i++)
		strcpy(map + i * length, line);
	ASSERT_EQ(0, setrlimit(RLIMIT_CPU, &limit));
	dso = named(map, nr);
	ASSERT_EQ(1, dso.nr_symbols);
	EXPECT_STREQ("a", dso.symbols[0].name);
	free_dso(&dso);
	free(map);
}

/* Of five processes, each of which has a list of the greatest size, or nearly so */
TEST_F(record, lists_of_code_have_a_limit_together)
{
	const uint32_t pid = 2000000000 + 8 * (uint32_t)getpid();
	const char line[] = "7f0000000000 10 a\n";
	uint32_t image, nr = 5, named = 0;
	const struct prf *prf;
	char path[64];
	size_t i;
	int fd;

	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "/tmp/perf-%u.map",
			 (uint32_t)(pid + i));
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
		ASSERT_LE(0, fd);
		ASSERT_EQ(strlen(line), write(fd, line, strlen(line)));
		ASSERT_EQ(0, ftruncate(fd, (64 << 20) - 4096));
		close(fd);
		image = table_image(&self->table, "program");
		self->table.images[image].pid = pid + i;
		self->table.images[image].uid = getuid();
		table_tick(&self->table, image, PROFIL_OBJECT_ANONYMOUS, CODE, 1);
	}
	prf = refresh(self);
	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "/tmp/perf-%u.map",
			 (uint32_t)(pid + i));
		unlink(path);
	}
	ASSERT_EQ(nr, prf->nr);
	for (i = 0; i < nr; i++)
		named += prf->execs[i].dsos[0].nr_symbols;
	EXPECT_EQ(4, named);
}

TEST_HARNESS_MAIN
