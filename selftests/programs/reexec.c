// SPDX-License-Identifier: GPL-2.0-only
/*
 * reexec.c - a program that executes itself, each time with a new profile
 *
 *	reexec DEVICE SHARED
 *
 * Both are descriptors: of the device, and of memory with a struct reexec. It
 * is linked statically, and the test executes it from memory, so that it never
 * waits for a disk.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <linux/profil.h>

#include "reexec.h"

#define PAGE	4096

static struct reexec *shared;

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

static uint64_t switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* Equal times in user mode and in the kernel, in turns of some microseconds. */
static void work(uint64_t ns)
{
	uint64_t end = cpu_ns() + ns;
	volatile unsigned int i;

	while (cpu_ns() < end) {
		for (i = 0; i < 2000; i++)
			;
		for (i = 0; i < 20; i++)
			getppid();
	}
}

static uint64_t *counter(void)
{
	static uint64_t own;
	uint64_t *page;

	switch (shared->memory) {
	case REEXEC_SHARED:
		return &shared->counter;
	case REEXEC_PRIVATE:
		*(volatile uint64_t *)&own = 0;
		return &own;
	default:
		page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		return page == MAP_FAILED ? NULL : page;
	}
}

static int begin(int device)
{
	struct profil_region all = {
		.base = (uintptr_t)counter(),
		.size = sizeof(uint64_t),
		.scale = 2,
	};
	struct profil_set set = {
		.size = sizeof(set),
		.width = sizeof(uint64_t),
		.nr_regions = 1,
		.regions = (uintptr_t)&all,
		.period_ns = shared->period_ns,
	};

	return ioctl(device, PROFIL_IOC_SET, &set);
}

/*
 * Wait until all profiles have ended. Returns the CPU time that they covered.
 */
static uint64_t covered_ns(int device)
{
	struct profil_account account = { .size = sizeof(account) };
	int tries;

	for (tries = 0; tries < 1000; tries++) {
		if (ioctl(device, PROFIL_IOC_ACCOUNT, &account))
			return 0;
		if (!account.running)
			break;
		usleep(1000);
	}
	return account.cpu_time_ns;
}

/*
 * Complete the numbers of the previous image, which it could not know itself.
 */
static void settle(int device, uint64_t now)
{
	struct reexec_image *last = &shared->images[shared->nr - 1];
	uint64_t sum;

	last->next_ns = now;
	last->switches = switches() - last->switches;
	sum = covered_ns(device);
	last->covered_ns = sum - shared->covered_ns;
	shared->covered_ns = sum;
}

static int run(int device)
{
	struct reexec_image *image = &shared->images[shared->nr++];

	image->switches = switches();
	image->asked_ns = cpu_ns();
	if (begin(device))
		return -1;
	image->set_ns = cpu_ns();
	work(shared->work_ns);
	image->end_ns = cpu_ns();
	return 0;
}

static int fail(void)
{
	shared->failed = errno;
	return 1;
}

int main(int argc, char **argv)
{
	uint64_t now = cpu_ns();

	if (argc != 3)
		return 99;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		      atoi(argv[2]), 0);
	if (shared == MAP_FAILED)
		return 99;
	if (shared->end == REEXEC_BURN) {
		shared->start_ns += now;
		work(shared->work_ns);
		return 0;
	}
	if (shared->end == REEXEC_EXEC && shared->nr)
		settle(atoi(argv[1]), now);
	if (shared->nr == shared->wanted)
		return 0;
	if (run(atoi(argv[1])))
		return fail();
	if (shared->end == REEXEC_EXIT)
		_exit(0);
	execv("/proc/self/exe", argv);
	return fail();
}
