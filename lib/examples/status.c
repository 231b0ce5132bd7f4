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

/* Define a function in its own section, whose ends the linker names. */
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

/*
 * Unmapped only after all others are mapped, or one of them could get its
 * address.
 */
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
 * struct kind - a region that shows one of the states
 * @name: name of the region
 * @spin: function that spends time in the region
 * @start: start of its text
 * @end: end of its text
 * @counters: function that creates its counters
 * @size: size of the counters, in bytes
 * @scale: scale of the region
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

static void print_profile(const struct profil_status *status)
{
	printf("profile: %s\n", profil_state_string(status->state));
	printf("period: %.6f ms of CPU time\n", status->period_ns / 1e6);
	printf("covered: %.6f ms of CPU time\n", status->cpu_time_ns / 1e6);
	printf("ticks: %" PRIu64 "\n", (uint64_t)status->counts.ticks);
	printf("  counted: %" PRIu64 "\n", (uint64_t)status->counts.counted);
	printf("  clipped, the counter was full: %" PRIu64 "\n",
	       (uint64_t)status->counts.clipped);
	printf("  outside of all regions: %" PRIu64 "\n",
	       (uint64_t)status->counts.outside);
	printf("  lost, the counter could not be written: %" PRIu64 "\n",
	       (uint64_t)status->counts.lost);
	printf("  left out, in kernel mode: %" PRIu64 "\n",
	       (uint64_t)status->counts.left_out);
	printf("ticks in kernel mode, among all these: %" PRIu64 "\n",
	       (uint64_t)status->counts.kernel);
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
