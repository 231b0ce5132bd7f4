// SPDX-License-Identifier: GPL-2.0-only
/*
 * gmon.c - from monstartup() to gmon.out
 *
 * Needs no device: without one, the file has everything but ticks.
 */
#include "kselftest_harness.h"
#include "said.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/gmon.h>
#include <sys/gmon_out.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <gmon.h>

#define UNTOUCHED	4711

extern const char __executable_start, etext;

/* The compiler calls these stubs by another convention, so C code cannot. */
extern const char mcount[], __fentry__[];

/* Contents of gmon.out, as far as the file goes. */
struct contents {
	struct gmon_hdr header;
	uint8_t hist_tag;
	uint64_t low, high;
	uint32_t nr_counters, rate;
	char dimension[16];
	uint64_t ticks;
	int nr_arcs;
	uint64_t calls;
	uint64_t from, self;
};

/* Each test runs in a directory of its own. */
FIXTURE(gmon)
{
	char directory[32];
};

FIXTURE_SETUP(gmon)
{
	strcpy(self->directory, "/tmp/gmon-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->directory));
	ASSERT_EQ(0, chdir(self->directory));
	ASSERT_NE(NULL, freopen("err", "w", stderr));
	errno = UNTOUCHED;
}

FIXTURE_TEARDOWN(gmon)
{
	char command[64];

	EXPECT_EQ(UNTOUCHED, errno);
	snprintf(command, sizeof(command), "rm -r %s", self->directory);
	EXPECT_EQ(0, system(command));
}

static void read_arc(FILE *file, struct contents *contents)
{
	int32_t calls = 0;

	fread(&contents->from, 8, 1, file);
	fread(&contents->self, 8, 1, file);
	fread(&calls, 4, 1, file);
	contents->calls += calls;
	contents->nr_arcs++;
}

static bool read_contents(const char *name, struct contents *contents)
{
	FILE *file = fopen(name, "r");
	int tag;

	memset(contents, 0, sizeof(*contents));
	if (!file)
		return false;
	fread(&contents->header, sizeof(contents->header), 1, file);
	contents->hist_tag = fgetc(file);
	fread(&contents->low, 8, 1, file);
	fread(&contents->high, 8, 1, file);
	fread(&contents->nr_counters, 4, 1, file);
	fread(&contents->rate, 4, 1, file);
	fread(&contents->dimension, 16, 1, file);
	for (uint32_t i = 0; i < contents->nr_counters; i++) {
		uint16_t counter = 0;

		fread(&counter, 2, 1, file);
		contents->ticks += counter;
	}
	while ((tag = fgetc(file)) == GMON_TAG_CG_ARC)
		read_arc(file, contents);
	fclose(file);
	return tag == EOF;
}

static off_t said_bytes(void)
{
	struct stat status = { 0 };

	stat("err", &status);
	return status.st_size;
}

static void start(void)
{
	__monstartup((u_long)&__executable_start, (u_long)&etext);
}

/* Record a call between two offsets from the start of the program. */
static void call(uintptr_t from, uintptr_t self)
{
	uintptr_t low = (uintptr_t)&__executable_start;

	gmon_mcount(low + from, low + self);
}

TEST_F(gmon, what_gprof_reads)
{
	struct contents contents;

	start();
	call(0x1010, 0x1003);
	call(0x1010, 0x1003);
	_mcleanup();
	ASSERT_TRUE(read_contents("gmon.out", &contents));
	EXPECT_EQ(0, memcmp(&contents.header, "gmon\1\0\0\0", 9));
	EXPECT_EQ(GMON_TAG_TIME_HIST, contents.hist_tag);
	EXPECT_EQ(100, contents.rate);
	EXPECT_STREQ("seconds", contents.dimension);
	EXPECT_EQ('s', contents.dimension[15]);
	EXPECT_EQ(4 * contents.nr_counters, contents.high - contents.low);
	EXPECT_LE(&etext - &__executable_start, contents.high - contents.low);
	EXPECT_GT(&etext - &__executable_start + 4,
		  contents.high - contents.low);
	EXPECT_EQ(1, contents.nr_arcs);
	EXPECT_EQ(2, contents.calls);
	EXPECT_EQ(0x1010, contents.from - contents.low);
	EXPECT_EQ(0x1003, contents.self - contents.low);
}

/* Addresses as linked: this program is a PIE, which starts at 0. */
TEST_F(gmon, addresses_are_those_of_the_file)
{
	struct contents contents;

	start();
	call(0x1010, 0x1000);
	_mcleanup();
	ASSERT_TRUE(read_contents("gmon.out", &contents));
	EXPECT_EQ(0, contents.low);
	EXPECT_EQ(0x1010, contents.from);
}

TEST_F(gmon, a_range_is_extended_to_whole_counters)
{
	uintptr_t low = (uintptr_t)&__executable_start;
	struct contents contents;

	monstartup(low + 0x1003, low + 0x1011);
	_mcleanup();
	ASSERT_TRUE(read_contents("gmon.out", &contents));
	EXPECT_EQ(0x1000, contents.low);
	EXPECT_EQ(0x1014, contents.high);
	EXPECT_EQ(5, contents.nr_counters);
}

TEST_F(gmon, a_device_that_is_missing_is_told_with_the_remedy)
{
	if (!access("/dev/profil", F_OK))
		SKIP(return, "there is a device");
	errno = UNTOUCHED;
	start();
	_mcleanup();
	EXPECT_TRUE(is_said("time is not: /dev/profil: No such file or directory; run 'modprobe profil' as root, and start a container with '--device /dev/profil'"));
}

TEST_F(gmon, what_is_missing_at_each_start_is_told_once)
{
	off_t said;

	start();
	said = said_bytes();
	moncontrol(0);
	moncontrol(1);
	moncontrol(1);
	EXPECT_EQ(said, said_bytes());
	_mcleanup();
}

TEST_F(gmon, more_calls_than_a_record_can_say)
{
	struct contents contents;
	struct gmon *gmon;

	start();
	call(0x1010, 0x1000);
	gmon = gmon_counting;
	for (size_t i = 0; i < gmon->arcs.nr; i++)
		gmon->arcs.slots[i].calls *= 5000000000;
	_mcleanup();
	ASSERT_TRUE(read_contents("gmon.out", &contents));
	EXPECT_EQ(3, contents.nr_arcs);
	EXPECT_EQ(5000000000, contents.calls);
}

TEST_F(gmon, calls_from_outside_count_as_from_the_entry_point)
{
	struct contents contents;

	start();
	call(-0x1010, 0x1000);
	_mcleanup();
	ASSERT_TRUE(read_contents("gmon.out", &contents));
	EXPECT_EQ(1, contents.calls);
	EXPECT_EQ(getauxval(AT_ENTRY) - (u_long)&__executable_start,
		  contents.from);
}

TEST_F(gmon, what_is_not_in_the_range_does_not_count)
{
	struct contents contents;

	monstartup((u_long)&__executable_start,
		   (u_long)&__executable_start + 0x1000);
	call(0x10, 0x1000);
	call(0x10, -1);
	call(0x1000, 0x10);
	_mcleanup();
	ASSERT_TRUE(read_contents("gmon.out", &contents));
	EXPECT_EQ(0, contents.nr_arcs);
}

TEST_F(gmon, nothing_counts_before_the_start_nor_while_it_is_off)
{
	struct contents contents;

	call(0x1010, 0x1000);
	start();
	moncontrol(0);
	call(0x1010, 0x1000);
	moncontrol(1);
	call(0x1020, 0x1000);
	_mcleanup();
	call(0x1010, 0x1000);
	ASSERT_TRUE(read_contents("gmon.out", &contents));
	EXPECT_EQ(1, contents.calls);
	EXPECT_EQ(0x1020, contents.from);
}

TEST_F(gmon, without_a_start_nothing_is_written)
{
	_mcleanup();
	moncontrol(1);
	_mcleanup();
	EXPECT_EQ(-1, access("gmon.out", F_OK));
	errno = UNTOUCHED;
}

TEST_F(gmon, another_start_begins_anew_and_one_end_writes_once)
{
	struct contents contents;

	start();
	call(0x1010, 0x1000);
	start();
	call(0x1020, 0x1000);
	_mcleanup();
	ASSERT_TRUE(read_contents("gmon.out", &contents));
	EXPECT_EQ(1, contents.calls);
	ASSERT_EQ(0, unlink("gmon.out"));
	_mcleanup();
	EXPECT_EQ(-1, access("gmon.out", F_OK));
	errno = UNTOUCHED;
}

TEST_F(gmon, a_child_begins_at_zero_and_leaves_its_parent_s_file)
{
	struct contents contents;
	char name[32];
	int status;
	pid_t pid;

	start();
	call(0x1010, 0x1000);
	pid = fork();
	if (!pid) {
		call(0x1020, 0x1000);
		_mcleanup();
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(-1, access("gmon.out", F_OK));
	errno = UNTOUCHED;
	snprintf(name, sizeof(name), "gmon.out.%d", pid);
	ASSERT_TRUE(read_contents(name, &contents));
	EXPECT_EQ(1, contents.nr_arcs);
	EXPECT_EQ(1, contents.calls);
	EXPECT_EQ(0x1020, contents.from);
	_mcleanup();
	ASSERT_TRUE(read_contents("gmon.out", &contents));
	EXPECT_EQ(1, contents.calls);
	EXPECT_EQ(0x1010, contents.from);
}

TEST_F(gmon, a_child_that_starts_anew_leaves_its_parent_s_file_too)
{
	int status;
	pid_t pid;

	start();
	_mcleanup();
	pid = fork();
	if (!pid) {
		start();
		_mcleanup();
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, unlink("gmon.out"));
	start();
	_mcleanup();
	EXPECT_EQ(0, access("gmon.out", F_OK));
	EXPECT_EQ(0, system("set -- gmon.out.*; [ $# = 1 ] && [ -e $1 ]"));
}

TEST_F(gmon, a_link_is_not_followed)
{
	ASSERT_EQ(0, symlink("elsewhere", "gmon.out"));
	start();
	_mcleanup();
	EXPECT_EQ(-1, access("elsewhere", F_OK));
	EXPECT_TRUE(is_said("gmon.out: Too many levels of symbolic links"));
	errno = UNTOUCHED;
}

TEST_F(gmon, a_file_that_is_cut_short_is_told)
{
	/* Enough for the messages, too little for the histogram. */
	const struct rlimit little = { 4000, RLIM_INFINITY };
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	signal(SIGXFSZ, SIG_IGN);
	start();
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &little));
	_mcleanup();
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &all));
	EXPECT_TRUE(is_said("gmon.out: not complete: File too large"));
}

TEST_F(gmon, missing_calls_and_full_counters_are_told)
{
	start();
	gmon_counting->own->dropped = 5000000000;
	gmon_counting->counters[1] = 65535;
	gmon_counting->counters[2] = 65534;
	_mcleanup();
	EXPECT_TRUE(is_said("gmon.out: 5000000000 calls are missing"));
	EXPECT_TRUE(is_said("gmon.out: time is missing, 1 counters are full"));
}

/* Call @stub with a number in each register that calls usually change. */
static uint64_t changed_registers(const char *stub)
{
	register uint64_t r8 asm("r8") = 8, r9 asm("r9") = 9;
	register uint64_t r10 asm("r10") = 10, r11 asm("r11") = 11;
	uint64_t a = 1, c = 2, d = 3, si = 4, di = 5;

	asm volatile("sub $128, %%rsp\n\tcall *%[stub]\n\tadd $128, %%rsp"
		     : "+a" (a), "+c" (c), "+d" (d), "+S" (si), "+D" (di),
		       "+r" (r8), "+r" (r9), "+r" (r10), "+r" (r11)
		     : [stub] "b" (stub)
		     : "memory");
	return (a ^ 1) | (c ^ 2) | (d ^ 3) | (si ^ 4) | (di ^ 5) | (r8 ^ 8) |
		(r9 ^ 9) | (r10 ^ 10) | (r11 ^ 11);
}

TEST_F(gmon, the_stubs_change_no_register)
{
	struct contents contents;

	start();
	EXPECT_EQ(0, changed_registers(mcount));
	EXPECT_EQ(0, changed_registers(__fentry__));
	_mcleanup();
	ASSERT_TRUE(read_contents("gmon.out", &contents));
	EXPECT_LE(1, contents.calls);
}

TEST_HARNESS_MAIN
