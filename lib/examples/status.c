// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * status.c - asks what became of its own profile, and why
 *
 * Has regions of each kind that is easily made, good ones and bad ones, each
 * with a function of its own, spends time in all of them and prints what
 * profil_status() tells. Fails if the numbers do not add up.
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

/* Ticks that are enough to see that a region counts. */
#define ENOUGH	5

/* A function in a section of its own; the linker names the section's ends. */
#define PIECE(name) \
	extern const char __start_text_##name[], __stop_text_##name[]; \
	__attribute__((noinline, section("text_" #name))) \
	static void spin_##name(void) \
	{ \
		volatile unsigned int i; \
		for (i = 0; i < 100000; i++) \
			; \
	}

#define TEXT(name)	spin_##name, __start_text_##name, __stop_text_##name

PIECE(good)
PIECE(full)
PIECE(readonly)
PIECE(unmapped)
PIECE(truncated)
PIECE(disabled)
PIECE(empty)

static void *map(int protection)
{
	void *page = mmap(NULL, SIZE, protection, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (page == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return page;
}

static void *good_memory(void)
{
	return map(PROT_READ | PROT_WRITE);
}

static void *full_counters(void)
{
	return memset(good_memory(), 0xff, SIZE);
}

static void *readonly_memory(void)
{
	return map(PROT_READ);
}

/* Unmapped later: in between somebody else would get the address. */
static void *doomed;

static void *doomed_memory(void)
{
	doomed = good_memory();
	return doomed;
}

static void *truncated_file(void)
{
	int fd = memfd_create("counters", MFD_CLOEXEC);
	void *page;

	if (fd < 0 || ftruncate(fd, SIZE)) {
		perror("memfd_create");
		exit(1);
	}
	page = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED || ftruncate(fd, 0)) {
		perror("mmap");
		exit(1);
	}
	return page;
}

/**
 * struct kind - a region and what it is to show
 * @name: of the region
 * @spin: spends time in it
 * @start: of its text
 * @end: of its text
 * @counters: makes them
 * @size: of the counters
 * @scale: of the region
 */
struct kind {
	const char *name;
	void (*spin)(void);
	const char *start, *end;
	void *(*counters)(void);
	size_t size;
	unsigned long scale;
};

static const struct kind kinds[] = {
	{ "good", TEXT(good), good_memory, SIZE, 65536 },
	{ "full", TEXT(full), full_counters, SIZE, 65536 },
	{ "readonly", TEXT(readonly), readonly_memory, SIZE, 65536 },
	{ "unmapped", TEXT(unmapped), doomed_memory, SIZE, 65536 },
	{ "truncated", TEXT(truncated), truncated_file, SIZE, 65536 },
	{ "disabled", TEXT(disabled), good_memory, SIZE, 0 },
	{ "empty", TEXT(empty), good_memory, 1, 65536 },
};

#define NR	(sizeof(kinds) / sizeof(kinds[0]))

static int start(void)
{
	struct prof regions[NR];
	size_t i;

	for (i = 0; i < NR; i++) {
		regions[i].pr_base = kinds[i].counters();
		regions[i].pr_size = kinds[i].size;
		regions[i].pr_off = (size_t)kinds[i].start;
		regions[i].pr_scale = kinds[i].scale;
	}
	return sprofil(regions, NR, NULL, PROF_USHORT);
}

static void read_status(struct profil_status *status,
			struct profil_region_status *regions)
{
	status->size = sizeof(*status);
	if (profil_status(status, regions, NR)) {
		perror("profil_status");
		exit(1);
	}
}

/* Until it has counted, or is off, or the ticks clearly pass it by. */
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

static void print_profile(const struct profil_status *status)
{
	printf("profile: %s\n", profil_state_string(status->state));
	printf("period: %.6f ms of CPU time\n", status->period_ns / 1e6);
	printf("covered: %.6f ms of CPU time\n", status->cpu_time_ns / 1e6);
	printf("ticks: %" PRIu64 "\n", (uint64_t)status->ticks);
	printf("  counted: %" PRIu64 "\n", (uint64_t)status->counted);
	printf("  clipped, the counter was full: %" PRIu64 "\n",
	       (uint64_t)status->clipped);
	printf("  outside of all regions: %" PRIu64 "\n",
	       (uint64_t)status->outside);
	printf("  lost, the counter could not be written: %" PRIu64 "\n",
	       (uint64_t)status->lost);
	printf("  left out, in kernel mode: %" PRIu64 "\n",
	       (uint64_t)status->left_out);
	printf("ticks in kernel mode, among all these: %" PRIu64 "\n",
	       (uint64_t)status->kernel);
	printf("ticks on their way, not among these: %" PRIu64 "\n",
	       (uint64_t)status->pending);
	printf("children without a profile: %" PRIu64 "\n",
	       (uint64_t)status->unfollowed);
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
	return counted == status->counted && clipped == status->clipped &&
		lost == status->lost &&
		status->ticks == counted + clipped + lost + status->outside +
				 status->left_out;
}

int main(void)
{
	struct profil_region_status regions[NR];
	struct profil_status status;
	size_t i;

	if (start()) {
		perror("sprofil (if there is no device: modprobe profil)");
		return 1;
	}
	munmap(doomed, SIZE);
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
