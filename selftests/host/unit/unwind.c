// SPDX-License-Identifier: GPL-2.0-only
/*
 * unwind.c - callers by our tables beside those of libunwind
 *
 * Programs are stepped instruction by instruction. After each one, every frame
 * is found twice: by the tables that unwind_make() makes of their files, and by
 * libunwind, which reads .eh_frame itself. And the module walks the stack, with
 * the last chain and without it.
 */
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <libunwind-ptrace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "unwind.h"
#include "unwind/cfi.h"
#include "unwind/make.h"
#include "walk.h"

#define MAX_FRAMES	128
#define MAX_MAPPINGS	512
#define MAX_FILES	64

/* A file's table; the file is known by its path. */
struct file {
	char path[512];
	void *blob;
	bool is_open;
	struct profil_unwind_table table;
};

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	bool is_code;
	bool is_data;
	const struct file *file;
};

struct chain {
	unsigned int nr;
	uint64_t pc[MAX_FRAMES];
	uint64_t sp[MAX_FRAMES];
};

static struct file files[MAX_FILES];
static unsigned int nr_files;
static struct mapping mappings[MAX_MAPPINGS];
static unsigned int nr_mappings;
static pid_t target;

/* --- tables */

static bool read_memory(uint64_t address, void *to, size_t size)
{
	struct iovec local = { to, size }, remote = { (void *)address, size };

	return process_vm_readv(target, &local, 1, &remote, 1, 0) ==
	       (ssize_t)size;
}

static Elf *open_vdso(uint64_t start, uint64_t end)
{
	char *image = malloc(end - start);

	return image && read_memory(start, image, end - start) ?
	       elf_memory(image, end - start) : NULL;
}

static const struct file *find_file(const char *path, uint64_t start,
				    uint64_t end)
{
	struct file *file = files;
	size_t bytes;
	Elf *elf;

	for (; file < files + nr_files; file++)
		if (!strcmp(file->path, path))
			return file;
	if (nr_files == MAX_FILES)
		return NULL;
	nr_files++;
	snprintf(file->path, sizeof(file->path), "%s", path);
	elf_version(EV_CURRENT);
	elf = strcmp(path, "[vdso]") ?
	      elf_begin(open(path, O_RDONLY | O_CLOEXEC), ELF_C_READ_MMAP,
			NULL) : open_vdso(start, end);
	file->blob = unwind_make(elf, &bytes);
	file->is_open = file->blob &&
			profil_unwind_open(&file->table, file->blob, bytes);
	elf_end(elf);
	return file;
}

static void read_mappings(void)
{
	char name[64], line[1024];
	FILE *maps;

	nr_mappings = 0;
	snprintf(name, sizeof(name), "/proc/%d/maps", target);
	maps = fopen(name, "re");
	while (maps && fgets(line, sizeof(line), maps) &&
	       nr_mappings < MAX_MAPPINGS) {
		struct mapping *mapping = &mappings[nr_mappings];
		char mode[8], path[512] = "";

		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %511[^\n]",
			   &mapping->start, &mapping->end, mode,
			   &mapping->offset, path) < 4)
			continue;
		mapping->is_code = mode[2] == 'x';
		mapping->is_data = mode[1] == 'w';
		mapping->file = mapping->is_code &&
				(*path == '/' || !strcmp(path, "[vdso]")) ?
				find_file(path, mapping->start, mapping->end) :
				NULL;
		nr_mappings++;
	}
	if (maps)
		fclose(maps);
}

static const struct mapping *find_mapping(uint64_t pc)
{
	unsigned int i;

	for (i = 0; i < nr_mappings; i++)
		if (pc - mappings[i].start < mappings[i].end -
					     mappings[i].start)
			return &mappings[i];
	return NULL;
}

static const struct profil_unwind_table *table_of(const struct mapping *mapping)
{
	return mapping && mapping->file && mapping->file->is_open ?
	       &mapping->file->table : NULL;
}

bool walk_find(u64 address, struct walk_mapping *to)
{
	const struct mapping *mapping = find_mapping(address);

	if (mapping)
		*to = (struct walk_mapping) {
			mapping->start, mapping->end, mapping->offset,
			mapping->is_code, mapping->is_data, table_of(mapping)
		};
	return mapping;
}

bool walk_read(u64 address, u64 *word)
{
	return read_memory(address, word, sizeof(*word));
}

/* --- chains */

static bool read_word(void *unused, u64 address, u64 *word)
{
	(void)unused;
	return walk_read(address, word);
}

static enum profil_unwind_end step(struct profil_unwind_frame *frame)
{
	uint64_t pc = frame->pc - frame->is_call;
	const struct mapping *mapping = find_mapping(pc);
	const struct profil_unwind_table *table = table_of(mapping);
	const struct profil_unwind_rule *rule = NULL;

	if (table && mapping->is_code)
		rule = profil_unwind_rule(table, pc - mapping->start +
					  mapping->offset);
	return profil_unwind_step(frame, rule, read_word, NULL);
}

static enum profil_unwind_end
our_chain(const struct user_regs_struct *registers, struct chain *chain)
{
	struct profil_unwind_frame frame = {
		.pc = registers->rip, .sp = registers->rsp,
		.bp = registers->rbp, .bx = registers->rbx,
		.di = registers->rdi,
	};
	enum profil_unwind_end end = PROFIL_UNWIND_CALLER;

	for (chain->nr = 0; chain->nr < MAX_FRAMES && !end; chain->nr++) {
		chain->pc[chain->nr] = frame.pc;
		chain->sp[chain->nr] = frame.sp;
		end = step(&frame);
	}
	return end;
}

/* Return: whether libunwind got to the outermost frame. */
static bool their_chain(unw_addr_space_t space, void *context,
			struct chain *chain)
{
	unw_cursor_t cursor;
	unw_word_t pc, sp;
	int status = unw_init_remote(&cursor, space, context) ? -1 : 1;

	for (chain->nr = 0; chain->nr < MAX_FRAMES && status > 0; chain->nr++) {
		if (unw_get_reg(&cursor, UNW_REG_IP, &pc) ||
		    unw_get_reg(&cursor, UNW_REG_SP, &sp))
			return false;
		chain->pc[chain->nr] = pc;
		chain->sp[chain->nr] = sp;
		status = unw_step(&cursor);
	}
	return !status;
}

/* --- steps */

/* A program that is stepped, and what was found */
struct stepped {
	unw_addr_space_t space;
	void *context;
	unsigned int steps;
	unsigned int complete;
	unsigned int differ;
	/* The walk of the module with the last chain, and without it */
	uint64_t sections;
	uint64_t fresh_sections;
	unsigned int walks_differ;
};

static void print_chain(const char *whose, const struct chain *chain)
{
	unsigned int i;

	for (i = 0; i < chain->nr; i++) {
		const struct mapping *mapping = find_mapping(chain->pc[i]);

		fprintf(stderr, "# %s %u: pc %lx sp %lx %s+%lx\n", whose, i,
		       chain->pc[i], chain->sp[i],
		       mapping && mapping->file ? mapping->file->path : "?",
		       mapping ? chain->pc[i] - mapping->start +
		       mapping->offset : 0);
	}
}

/* As far as both go; and both to the outermost frame if they say so. */
static bool are_alike(const struct chain *ours, const struct chain *theirs,
		      bool are_complete)
{
	unsigned int i = 0;

	while (i < ours->nr && i < theirs->nr &&
	       ours->pc[i] == theirs->pc[i] && ours->sp[i] == theirs->sp[i])
		i++;
	if (are_complete)
		return i == ours->nr && i == theirs->nr;
	return i == ours->nr || i == theirs->nr;
}

/*
 * Each CPU has a tick after so many steps: the last chain is not only that of the
 * step before, which hardly differs.
 */
static const unsigned int steps_of_cpu[WALK_CPUS] = { 1, 11, 61, 307 };

static void compare_walks(struct stepped *stepped,
			  const struct user_regs_struct *registers)
{
	const struct walk_registers at = {
		registers->rip, registers->rsp, registers->rbp, registers->rbx,
		registers->rdi
	};
	struct walk walk, fresh = walk_afresh(&at);

	for (int cpu = 0; cpu < WALK_CPUS; cpu++) {
		if (stepped->steps % steps_of_cpu[cpu])
			continue;
		walk = walk_with_last(cpu, &at);
		stepped->sections += walk.sections;
		stepped->fresh_sections += fresh.sections;
		stepped->walks_differ += walk.node != fresh.node ||
					 walk.end != fresh.end;
	}
}

static void compare(struct stepped *stepped)
{
	struct chain ours, theirs;
	struct user_regs_struct registers;
	enum profil_unwind_end end;
	bool is_complete;

	if (ptrace(PTRACE_GETREGS, target, NULL, &registers))
		return;
	read_mappings();
	compare_walks(stepped, &registers);
	end = our_chain(&registers, &ours);
	is_complete = their_chain(stepped->space, stepped->context, &theirs);
	stepped->steps++;
	stepped->complete += end == PROFIL_UNWIND_COMPLETE;
	if (are_alike(&ours, &theirs,
		      is_complete && end == PROFIL_UNWIND_COMPLETE))
		return;
	if (stepped->differ++)
		return;
	print_chain("ours", &ours);
	print_chain("theirs", &theirs);
}

/*
 * Go on until an event of the given kind, with all signals. Return: whether the
 * program is there.
 */
static bool go_on(int how)
{
	int status, signal = 0;

	do {
		if (ptrace(how, target, NULL, signal) ||
		    waitpid(target, &status, 0) != target ||
		    !WIFSTOPPED(status))
			return false;
		signal = WSTOPSIG(status);
		/* A signal that the next step delivers */
		if (how == PTRACE_SINGLESTEP && signal != SIGTRAP)
			continue;
	} while (signal != SIGTRAP && signal != (SIGTRAP | 0x80));
	return true;
}

static bool begin(struct stepped *stepped, char *const *arguments)
{
	int status;

	target = fork();
	if (!target) {
		int null = open("/dev/null", O_RDWR);

		for (int i = 0; i < 3; i++)
			dup2(null, i);
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(*arguments, arguments);
		_exit(127);
	}
	if (waitpid(target, &status, 0) != target || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, target, NULL,
		   PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD))
		return false;
	stepped->space = unw_create_addr_space(&_UPT_accessors, 0);
	stepped->context = _UPT_create(target);
	if (!stepped->space || !stepped->context)
		return false;
	return !unw_set_caching_policy(stepped->space, UNW_CACHE_GLOBAL);
}

/* End the program, and judge what was found. */
static void end(struct __test_metadata *_metadata, struct stepped *stepped)
{
	TH_LOG("%u steps, %u complete; walks that differ: %u", stepped->steps,
	       stepped->complete, stepped->walks_differ);
	EXPECT_LT(5000, stepped->steps);
	EXPECT_EQ(0, stepped->differ);
	/* The last chain has spared steps, and changed nothing */
	EXPECT_EQ(0, stepped->walks_differ);
	EXPECT_LT(2 * stepped->sections, stepped->fresh_sections);
	walk_forget();
	EXPECT_LE(stepped->steps * 99.5 / 100, stepped->complete);
	kill(target, SIGKILL);
	_UPT_destroy(stepped->context);
	unw_destroy_addr_space(stepped->space);
}

static long system_call(void)
{
	struct user_regs_struct registers = { 0 };

	ptrace(PTRACE_GETREGS, target, NULL, &registers);
	return registers.orig_rax;
}

/*
 * Compare after each of some steps, or until getppid(). Return: whether the
 * program goes on.
 */
static bool compare_steps(struct stepped *stepped, unsigned int nr)
{
	while (nr--) {
		if (!go_on(PTRACE_SINGLESTEP))
			return false;
		compare(stepped);
		if (system_call() == SYS_getppid)
			return true;
	}
	return true;
}

/* Frames of all kinds, between two calls of getppid() */
TEST(own_program)
{
	struct stepped stepped = { 0 };
	char path[4096] = "";

	ASSERT_LT(0, readlink("/proc/self/exe", path, sizeof(path) - 16));
	strcpy(strrchr(path, '/'), "/unwind_shapes");
	ASSERT_TRUE(begin(&stepped, (char *[]){ path, NULL }));
	do {
		ASSERT_TRUE(go_on(PTRACE_SYSCALL));
	} while (system_call() != SYS_getppid);
	ASSERT_TRUE(go_on(PTRACE_SYSCALL));
	EXPECT_TRUE(compare_steps(&stepped, 100000));
	EXPECT_EQ(SYS_getppid, system_call());
	end(_metadata, &stepped);
}

/* Code of the test itself */
extern const char own_place[], own_stack[], without_rules[];
asm(".pushsection .text\n"
    "own_place:\n"
    "	.cfi_startproc\n"
    "	.cfi_signal_frame\n"
    "	.cfi_def_cfa_offset 24\n"
    "	.fill 32, 1, 0x90\n"
    "	.cfi_endproc\n"
    "own_stack:\n"
    "	.cfi_startproc\n"
    "	.cfi_val_offset %rsp, 16\n"
    "	.fill 32, 1, 0x90\n"
    "	.cfi_endproc\n"
    "without_rules:\n"
    "	.fill 1024, 1, 0x90\n"
    ".popsection");

/* The rule of code of the test, or NULL */
static const struct profil_unwind_rule *
rule_at(const struct profil_unwind_table *table, const char *code)
{
	const struct mapping *mapping = find_mapping((uintptr_t)code);

	if (!table)
		table = table_of(mapping);
	return table ? profil_unwind_rule(table, (uintptr_t)code -
					  mapping->start + mapping->offset) :
		       NULL;
}

/*
 * Not all that is called a signal frame has a context at the stack pointer; nor is
 * the stack pointer of each caller where its frame is.
 */
TEST(frames_that_are_not_as_they_seem)
{
	target = getpid();
	read_mappings();
	ASSERT_NE(NULL, rule_at(NULL, own_place));
	EXPECT_EQ(PROFIL_UNWIND_SP, rule_at(NULL, own_place)->cfa);
	EXPECT_EQ(24, rule_at(NULL, own_place)->offset);
	ASSERT_NE(NULL, rule_at(NULL, own_stack));
	EXPECT_EQ(PROFIL_UNWIND_NO_RULE, rule_at(NULL, own_stack)->cfa);
}

/* A table of one block, with one rule and any number of rows and functions */
struct forged {
	struct profil_unwind_head head;
	struct profil_unwind_index index[2];
	uint32_t functions[PROFIL_UNWIND_BLOCK];
	struct profil_unwind_row rows[PROFIL_UNWIND_BLOCK + 2];
	struct profil_unwind_rule rules[1];
};

static struct forged *forge(uint32_t rows)
{
	struct forged *forged = calloc(1, sizeof(*forged));

	forged->head = (struct profil_unwind_head){
		.blocks = 1, .functions = PROFIL_UNWIND_BLOCK, .rows = rows,
		.rules = 1,
	};
	forged->index[1] = (struct profil_unwind_index){
		rows, PROFIL_UNWIND_BLOCK
	};
	forged->rules[0].cfa = PROFIL_UNWIND_SP;
	return forged;
}

/* Size of the table of a file in memory; 0 if there is none */
static size_t table_size(char *image, size_t size)
{
	Elf *elf = elf_memory(image, size);
	size_t bytes = 0;
	void *table = unwind_make(elf, &bytes);

	elf_end(elf);
	free(table);
	return table ? bytes : 0;
}

/* The file of the test, in memory */
FIXTURE(image)
{
	char *bytes;
	size_t size;
	Elf64_Ehdr *header;
	Elf64_Phdr *segments;
	Elf64_Phdr *code;
};

FIXTURE_SETUP(image)
{
	FILE *file = fopen("/proc/self/exe", "re");

	self->bytes = malloc(16 << 20);
	ASSERT_NE(NULL, self->bytes);
	self->size = fread(self->bytes, 1, 16 << 20, file);
	fclose(file);
	elf_version(EV_CURRENT);
	self->header = (Elf64_Ehdr *)self->bytes;
	self->segments = (Elf64_Phdr *)(self->bytes + self->header->e_phoff);
	for (self->code = self->segments; self->code->p_type != PT_LOAD ||
	     !(self->code->p_flags & PF_X);)
		self->code++;
}

FIXTURE_TEARDOWN(image)
{
	free(self->bytes);
}

static size_t image_table(FIXTURE_DATA(image) *self)
{
	return table_size(self->bytes, self->size);
}

/* A small file cannot ask for the rows of its code again and again. */
TEST_F(image, segments_that_are_there_twice_or_not_at_all)
{
	size_t bytes = image_table(self), i;
	uint64_t end = self->code->p_offset + self->code->p_filesz;

	ASSERT_LT(0, bytes);
	for (i = 0; i < self->header->e_phnum; i++)
		if (self->segments[i].p_type != PT_LOAD)
			self->segments[i] = *self->code;
	EXPECT_EQ(bytes, image_table(self));
	/* Elsewhere in the file, and there again in memory */
	ASSERT_LE(self->code->p_filesz, self->size - end);
	self->segments[0].p_offset = end;
	EXPECT_EQ(bytes, image_table(self));
	for (i = 0; i < self->header->e_phnum; i++)
		self->segments[i].p_filesz += self->size;
	EXPECT_EQ(0, image_table(self));
}

/* There are rules, so that nothing is taken to have frame pointers. */
TEST_F(image, sections_that_are_gone)
{
	self->header->e_shoff = 0;
	self->header->e_shnum = 0;
	self->header->e_shstrndx = 0;
	EXPECT_EQ(0, image_table(self));
}

/* What follows the first function that runs is not the outermost one. */
TEST_F(image, an_entry_point_without_a_rule)
{
	const struct mapping *mapping;
	struct profil_unwind_table table;
	size_t bytes;
	void *blob;
	Elf *elf;

	target = getpid();
	read_mappings();
	mapping = find_mapping((uintptr_t)without_rules);
	ASSERT_NE(NULL, mapping);
	self->header->e_entry = (uintptr_t)without_rules - mapping->start +
				mapping->offset - self->code->p_offset +
				self->code->p_vaddr;
	elf = elf_memory(self->bytes, self->size);
	blob = unwind_make(elf, &bytes);
	ASSERT_NE(NULL, blob);
	ASSERT_TRUE(profil_unwind_open(&table, blob, bytes));
	EXPECT_EQ(PROFIL_UNWIND_OUTERMOST, rule_at(&table, without_rules)->cfa);
	EXPECT_EQ(PROFIL_UNWIND_NO_CODE,
		  rule_at(&table, without_rules + 512)->cfa);
	elf_end(elf);
	free(blob);
}

/* Each takes much more memory than room in the file. */
TEST(more_common_entries_than_any_file_has)
{
	static const uint8_t entry[16] = {
		12, 0, 0, 0, 0, 0, 0, 0, 1, '\0', 1, 0x78, 16
	};
	const size_t nr = 100000;
	uint8_t *section = malloc(nr * sizeof(entry));
	Elf_Data data = {
		.d_buf = section, .d_type = ELF_T_BYTE, .d_version = EV_CURRENT,
		.d_size = nr * sizeof(entry),
	};
	unsigned char ident[EI_NIDENT] = {
		[EI_CLASS] = ELFCLASS64, [EI_DATA] = ELFDATA2LSB,
	};
	struct cfi cfi = { .ident = ident, .data = &data, .is_eh = true };
	size_t i;

	ASSERT_NE(NULL, section);
	for (i = 0; i < nr; i++)
		memcpy(section + i * sizeof(entry), entry, sizeof(entry));
	EXPECT_TRUE(cfi_read(&cfi));
	EXPECT_EQ(1 << 16, cfi.nr_commons);
	cfi_free(&cfi);
	free(section);
}

/* Nothing but what is in the table is read, and no function begins later. */
TEST(tables_whose_rows_say_anything)
{
	struct forged *forged = forge(PROFIL_UNWIND_BLOCK);
	struct profil_unwind_table table;
	size_t bytes = sizeof(*forged) - 2 * sizeof(forged->rows[0]);
	uint64_t at;

	memset(forged->functions, 0xff, sizeof(forged->functions));
	memset(forged->rows, 0xff, sizeof(forged->rows));
	forged->rows[PROFIL_UNWIND_BLOCK / 2].low = 0;
	memcpy(&forged->rows[PROFIL_UNWIND_BLOCK], forged->rules,
	       sizeof(forged->rules));
	ASSERT_TRUE(profil_unwind_open(&table, forged, bytes));
	for (at = 0; at < PROFIL_UNWIND_BLOCK; at++) {
		const struct profil_unwind_rule *rule =
			profil_unwind_rule(&table, at);

		EXPECT_TRUE(!rule || rule == table.rules);
		EXPECT_EQ(at, profil_unwind_function(&table, at));
	}
	EXPECT_EQ(table.rules, profil_unwind_rule(&table, 1));
	free(forged);
}

/* Each step looks for a row, so there is a limit. */
TEST(no_block_with_more_rows_than_bytes)
{
	struct forged *forged = forge(PROFIL_UNWIND_BLOCK + 2);
	struct profil_unwind_table table;

	EXPECT_FALSE(profil_unwind_open(&table, forged, sizeof(*forged)));
	free(forged);
}

FIXTURE(program) {
};

FIXTURE_VARIANT(program) {
	char *arguments[5];
};

FIXTURE_VARIANT_ADD(program, python) {
	.arguments = { "/usr/bin/python3", "-c", "print(sum(range(9)))" },
};

FIXTURE_VARIANT_ADD(program, perl) {
	.arguments = { "/usr/bin/perl", "-e", "print sort 3, 2, 1" },
};

FIXTURE_VARIANT_ADD(program, git) {
	.arguments = { "/usr/bin/git", "version" },
};

FIXTURE_VARIANT_ADD(program, openssl) {
	.arguments = { "/usr/bin/openssl", "dgst", "-sha256", "/etc/services" },
};

FIXTURE_SETUP(program)
{
}

FIXTURE_TEARDOWN(program)
{
}

/* Its start, and some instructions now and again */
TEST_F(program, of_debian)
{
	struct stepped stepped = { 0 };
	bool runs;

	if (access(*variant->arguments, X_OK))
		SKIP(return, "no such program");
	ASSERT_TRUE(begin(&stepped, variant->arguments));
	runs = compare_steps(&stepped, 5500);
	while (runs && stepped.steps < 12000) {
		for (int i = 0; runs && i < 7; i++)
			runs = go_on(PTRACE_SYSCALL);
		runs = runs && compare_steps(&stepped, 300);
	}
	end(_metadata, &stepped);
}

TEST_HARNESS_MAIN
