// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * status.c - check the status of one's own profile
 *
 * Has a good region and bad ones of each kind that is easy to make, each with a
 * function of its own. Runs all the functions and prints what profil_status()
 * reports. Fails if the numbers do not add up.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <profil.h>

#define SIZE	4096

/* Number of ticks that shows that a region counts. */
#define ENOUGH	5

/* Define a function in its own section, whose start the linker names. */
#define PIECE(name) \
	extern const char __start_text_##name[]; \
	__attribute__((noinline, section("text_" #name))) \
	static void spin_##name(void) \
	{ \
		volatile unsigned int i; \
		for (i = 0; i < 100000; i++) \
			; \
	}

#define TEXT(name)	spin_##name, __start_text_##name

PIECE(good)
PIECE(full)
PIECE(readonly)
PIECE(unmapped)
PIECE(truncated)
PIECE(disabled)
PIECE(empty)

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/**
 * struct kind - a region that shows one of the states
 * @name: name of the region
 * @spin: function that spends time in the region
 * @start: start of its text
 * @size: size of the counters, in bytes
 * @scale: scale of the region
 */
struct kind {
	const char *name;
	void (*spin)(void);
	const char *start;
	size_t size;
	unsigned long scale;
};

enum { GOOD, FULL, READONLY, UNMAPPED, TRUNCATED, DISABLED, EMPTY, NR };

static const struct kind kinds[NR] = {
	[GOOD] = { "good", TEXT(good), SIZE, 65536 },
	[FULL] = { "full", TEXT(full), SIZE, 65536 },
	[READONLY] = { "readonly", TEXT(readonly), SIZE, 65536 },
	[UNMAPPED] = { "unmapped", TEXT(unmapped), SIZE, 65536 },
	[TRUNCATED] = { "truncated", TEXT(truncated), SIZE, 65536 },
	[DISABLED] = { "disabled", TEXT(disabled), SIZE, 0 },
	[EMPTY] = { "empty", TEXT(empty), 1, 65536 },
};

/* A page for counters, in a file of its own. */
static void *map_file(int *file)
{
	void *page;

	*file = memfd_create("counters", MFD_CLOEXEC);
	if (*file < 0 || ftruncate(*file, SIZE))
		fail("memfd_create");
	page = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
	if (page == MAP_FAILED)
		fail("mmap");
	return page;
}

/* The counters go bad after the start: nothing else is mapped in their place. */
static void start(void)
{
	struct prof regions[NR];
	int files[NR];
	size_t i;

	for (i = 0; i < NR; i++) {
		regions[i].pr_base = map_file(&files[i]);
		regions[i].pr_size = kinds[i].size;
		regions[i].pr_off = (size_t)kinds[i].start;
		regions[i].pr_scale = kinds[i].scale;
	}
	if (sprofil(regions, NR, NULL, PROF_USHORT))
		fail("sprofil (if there is no device: modprobe profil)");
	memset(regions[FULL].pr_base, 0xff, SIZE);
	if (mprotect(regions[READONLY].pr_base, SIZE, PROT_READ) ||
	    munmap(regions[UNMAPPED].pr_base, SIZE) ||
	    ftruncate(files[TRUNCATED], 0))
		fail("counters");
}

static void read_status(struct profil_status *status,
			struct profil_region_status *regions)
{
	status->size = sizeof(*status);
	if (profil_status(status, regions, NR))
		fail("profil_status");
}

/* Run until the region has counted, is off, or evidently gets no ticks. */
static void spend(size_t i)
{
	struct profil_region_status regions[NR];
	struct profil_status status;
	int patience = 5000;

	do {
		kinds[i].spin();
		read_status(&status, regions);
	} while (regions[i].state == PROFIL_REGION_ON && --patience &&
		 regions[i].counted + regions[i].clipped < ENOUGH);
}

static void print_number(const char *what, uint64_t number)
{
	printf("%s: %" PRIu64 "\n", what, number);
}

static void print_profile(const struct profil_status *status)
{
	const struct profil_counts *counts = &status->counts;

	printf("profile: %s\n", profil_state_string(status->state));
	printf("period: %.6f ms of CPU time\n", status->period_ns / 1e6);
	printf("covered: %.6f ms of CPU time\n", status->cpu_time_ns / 1e6);
	print_number("ticks", counts->ticks);
	print_number("  counted", counts->counted);
	print_number("  clipped, the counter was full", counts->clipped);
	print_number("  outside of all regions", counts->outside);
	print_number("  lost, the counter could not be written", counts->lost);
	print_number("  left out, in kernel mode", counts->left_out);
	print_number("ticks in kernel mode, among all these", counts->kernel);
	print_number("ticks on their way, not among these", status->pending);
	print_number("children without a profile", status->unfollowed);
}

static void print_region(const char *name,
			 const struct profil_region_status *region)
{
	printf("region %s: counted %" PRIu64 ", clipped %" PRIu64 ", lost %"
	       PRIu64 ", in kernel mode %" PRIu64 "; %s\n", name,
	       (uint64_t)region->counted, (uint64_t)region->clipped,
	       (uint64_t)region->lost, (uint64_t)region->kernel,
	       profil_region_state_string(region->state));
}

static bool add_up(const struct profil_status *status,
		   const struct profil_region_status *regions)
{
	uint64_t counted = 0, clipped = 0, lost = 0;
	size_t i;

	for (i = 0; i < NR; i++) {
		counted += regions[i].counted;
		clipped += regions[i].clipped;
		lost += regions[i].lost;
	}
	return counted == status->counts.counted &&
	       clipped == status->counts.clipped &&
	       lost == status->counts.lost &&
	       status->counts.ticks == counted + clipped + lost +
					       status->counts.outside +
					       status->counts.left_out;
}

int main(void)
{
	struct profil_region_status regions[NR];
	struct profil_status status;
	size_t i;

	start();
	for (i = 0; i < NR; i++)
		spend(i);
	read_status(&status, regions);
	profil_stop(NULL, NULL, 0);

	print_profile(&status);
	for (i = 0; i < NR; i++)
		print_region(kinds[i].name, &regions[i]);
	printf("the numbers add up: %s\n",
	       add_up(&status, regions) ? "yes" : "no");
	return !add_up(&status, regions);
}
