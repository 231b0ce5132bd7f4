// SPDX-License-Identifier: GPL-2.0-only
/*
 * needed.c - files that get tables of callers: what a program maps when it starts is
 * found before it starts, and what a process has mapped; and their tables are their own
 */
#include <fcntl.h>
#include <gelf.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "profil/callers.h"
#include "profil/ld_cache.h"
#include "profil/needed.h"
#include "symbolize/build_id.h"
#include "unwind/file.h"
#include "util/file.h"

/* Of callers_add(), which needs a table of the module */
uint64_t now_ns(void)
{
	return 0;
}

#define MOST	64

static struct stat found[MOST];
static int nr;

static void take(void *context, int fd)
{
	if (nr < MOST)
		fstat(fd, &found[nr++]);
}

static int find(const char *program)
{
	nr = 0;
	needed_files(program, take, NULL);
	return nr;
}

static bool has(const char *path)
{
	struct stat file;
	int i;

	if (stat(path, &file))
		return false;
	for (i = 0; i < nr; i++)
		if (found[i].st_ino == file.st_ino &&
		    found[i].st_dev == file.st_dev)
			return true;
	return false;
}

/* This program, as it has just been started */
TEST(all_that_is_mapped_is_found)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[PATH_MAX + 128], path[PATH_MAX], flags[5];

	ASSERT_NE(NULL, maps);
	ASSERT_LT(2, find("/proc/self/exe"));
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%*s %4s %*s %*s %*s %4095[^\n]", flags,
			   path) == 2 && flags[2] == 'x' && path[0] == '/') {
			TH_LOG("%s", path);
			EXPECT_TRUE(has(path));
		}
	fclose(maps);
}

TEST(programs_are_found_by_name)
{
	setenv("PATH", "/nonexistent::/bin:/usr/bin", 1);
	EXPECT_LT(1, find("sh"));
	EXPECT_TRUE(has("/bin/sh"));
	EXPECT_EQ(0, find("no-such-program"));
	EXPECT_EQ(0, find("/bin"));
	EXPECT_EQ(0, find("/dev/null"));
}

static void write_script(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		abort();
	close(fd);
}

TEST(scripts_are_run_by_others)
{
	char path[] = "/tmp/profil-needed-XXXXXX", text[64];

	ASSERT_LE(0, mkstemp(path));
	write_script(path, "#! /bin/sh -e\nexit\n");
	EXPECT_LT(1, find(path));
	EXPECT_TRUE(has("/bin/sh"));
	EXPECT_FALSE(has(path));
	/* It runs itself */
	snprintf(text, sizeof(text), "#!%s", path);
	write_script(path, text);
	EXPECT_EQ(0, find(path));
	write_script(path, "#!");
	EXPECT_EQ(0, find(path));
	write_script(path, "\177ELF");
	EXPECT_EQ(1, find(path));
	unlink(path);
}

/* --- the dynamic linker's cache */

struct cache {
	char magic[20];
	uint32_t nr;
	uint32_t more[6];
	struct {
		uint32_t flags;
		uint32_t name;
		uint32_t path;
		uint32_t version;
		uint64_t features;
	} entries[3];
	char strings[32];
};

#define AT(string)	(offsetof(struct cache, strings) + (string))

static const struct cache made = {
	.magic = "glibc-ld.so.cache1.1",
	.nr = 3,
	.entries = {
		{ 3, AT(0), AT(4), 0, 0 },
		{ 0x303, AT(0), AT(8), 0, 1 },
		{ 0x303, AT(0), AT(12), 0, 0 },
	},
	.strings = "lib\0/32\0/v3\0/64",
};

TEST(libraries_are_for_any_cpu)
{
	EXPECT_STREQ("/64", ld_cache_find(&made, sizeof(made), "lib"));
	EXPECT_EQ(NULL, ld_cache_find(&made, sizeof(made), "li"));
	EXPECT_EQ(NULL, ld_cache_find(&made, sizeof(made), ""));
}

/* Nothing behind the end is read, which the sanitizer would report. */
TEST(damaged_caches_are_harmless)
{
	struct cache *part;
	size_t size, byte;

	for (size = 0; size < AT(16); size++) {
		part = malloc(size + !size);
		memcpy(part, &made, size);
		EXPECT_EQ(NULL, ld_cache_find(part, size, "lib"));
		free(part);
	}
	for (byte = 0; byte < sizeof(made); byte++) {
		part = malloc(sizeof(made));
		memcpy(part, &made, sizeof(made));
		((char *)part)[byte] ^= 0xff;
		ld_cache_find(part, sizeof(made), "lib");
		free(part);
	}
}

/* --- processes */

static void __attribute__((noreturn)) run_alone(void)
{
	char path[PATH_MAX] = "", load[PATH_MAX + 8];

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		abort();
	snprintf(load, sizeof(load), "%s/load", dirname(path));
	execl(load, load, "alone", "pause", NULL);
	_exit(1);
}

static bool has_ended(pid_t thread)
{
	char path[64], text[4096] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", thread);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		abort();
	close(fd);
	return strstr(text, "State:\tZ");
}

/* Its memory is that of the thread that is left. */
TEST(a_process_without_its_first_thread_has_files)
{
	const struct session session = { .target = TARGET_PROCESSES };
	struct watch watch = { .fd = -1, .program = -1 };
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid)
		run_alone();
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	while (!has_ended(pid))
		usleep(1000);
	callers_begin(&watch, &session, pid);
	/* The program and its libraries */
	EXPECT_LT(1, watch.nr_known);
	callers_end(&watch);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* --- files of anybody */

#define IDENT { \
	ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT }

/* As many sections as a header can say; it takes some time to read them. */
#define MOST_SECTIONS	0xfeff

/* Its owner writes to a file, and truncates it, while it is read. */
TEST(a_file_has_as_many_sections_as_its_header_had)
{
	struct {
		Elf64_Ehdr ehdr;
		Elf64_Shdr count;
	} file = {
		.ehdr = {
			.e_ident = IDENT, .e_type = ET_DYN,
			.e_machine = EM_X86_64, .e_version = EV_CURRENT,
			.e_shoff = sizeof(file.ehdr),
			.e_ehsize = sizeof(file.ehdr),
			.e_shentsize = sizeof(file.count),
		},
		.count.sh_size = 2 * MOST_SECTIONS,
	};
	char path[] = "/tmp/profil-needed-XXXXXX";
	int fd = mkstemp(path), opened = 0;
	size_t nr, most = 0;
	pid_t writer;
	Elf *elf;

	ASSERT_LE(0, fd);
	unlink(path);
	file_survive_cuts();
	writer = fork();
	ASSERT_LE(0, writer);
	if (!writer) {
		/* Whatever becomes of the test */
		alarm(600);
		for (;;) {
			file.ehdr.e_shnum ^= MOST_SECTIONS;
			if (ftruncate(fd, 0) || ftruncate(fd, 16 << 20) ||
			    pwrite(fd, &file, sizeof(file), 0) != sizeof(file))
				abort();
			usleep(500);
		}
	}
	while (opened < 50 && !waitpid(writer, NULL, WNOHANG)) {
		elf = elf_open(fd);
		opened += !!elf;
		if (elf && !elf_getshdrnum(elf, &nr) && nr > most)
			most = nr;
		elf_close(elf);
	}
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	TH_LOG("opened %d times, %zu sections at most", opened, most);
	EXPECT_LT(0, opened);
	EXPECT_GE(MOST_SECTIONS, most);
}

/* Write a program whose code is at an offset, and which has the build ID of all. */
static void write_program(const char *path, uint64_t offset)
{
	const struct {
		Elf64_Ehdr ehdr;
		Elf64_Phdr phdrs[2];
		Elf64_Nhdr note;
		char name[4];
		char id[8];
	} beginning = {
		.ehdr = {
			.e_ident = IDENT, .e_type = ET_EXEC,
			.e_machine = EM_X86_64, .e_version = EV_CURRENT,
			.e_phoff = sizeof(Elf64_Ehdr),
			.e_ehsize = sizeof(Elf64_Ehdr), .e_phnum = 2,
			.e_phentsize = sizeof(Elf64_Phdr),
		},
		.phdrs = {
			{ .p_type = PT_LOAD, .p_flags = PF_X, .p_offset = offset,
			  .p_vaddr = offset, .p_filesz = 4096 },
			{ .p_type = PT_NOTE, .p_align = 4,
			  .p_offset = offsetof(typeof(beginning), note),
			  .p_filesz = sizeof(beginning) -
				      offsetof(typeof(beginning), note) },
		},
		.note = { sizeof(beginning.name), sizeof(beginning.id),
			  NT_GNU_BUILD_ID },
		.name = ELF_NOTE_GNU,
		.id = "buildID",
	};
	int fd = open(path, O_WRONLY | O_CREAT, 0700);

	if (write(fd, &beginning, sizeof(beginning)) != sizeof(beginning) ||
	    ftruncate(fd, offset + 4096))
		abort();
	close(fd);
}

/* Where the table of callers of a file begins */
static uint64_t start_of_table(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct profil_unwind_head *head;
	uint64_t start;
	size_t bytes;

	head = unwind_file(fd, true, &bytes);
	close(fd);
	start = head ? head->start : UINT64_MAX;
	free(head);
	return start;
}

TEST(files_of_one_build_id_have_tables_of_their_own)
{
	char home[] = "/tmp/profil-needed-XXXXXX", first[64], second[64];
	char command[64];

	ASSERT_NE(NULL, mkdtemp(home));
	setenv("HOME", home, 1);
	unsetenv("XDG_CACHE_HOME");
	snprintf(first, sizeof(first), "%s/first", home);
	snprintf(second, sizeof(second), "%s/second", home);
	write_program(first, 0);
	write_program(second, 1 << 20);
	EXPECT_EQ(0, start_of_table(first));
	EXPECT_EQ(1 << 20, start_of_table(second));
	EXPECT_EQ(0, start_of_table(first));
	snprintf(command, sizeof(command), "rm -r %s", home);
	EXPECT_EQ(0, system(command));
}

TEST_HARNESS_MAIN
