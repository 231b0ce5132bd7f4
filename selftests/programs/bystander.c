// SPDX-License-Identifier: GPL-2.0-only
/*
 * bystander.c - an ordinary profiled program, which others try to disturb
 *
 *	bystander PROFIL MEMORY
 *
 * PROFIL is an open descriptor of the device, MEMORY one of a file to share.
 * The program profiles itself twice, in user mode and in kernel mode, with
 * counters on pages that it has not touched before: first in private memory,
 * with the report that bystander.h describes, then at a faster rate in the
 * shared memory, together with some children. Some of them exit in kernel mode,
 * others while pages are missing.
 */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bystander.h"
#include "spend.h"
#include "spread.h"

#define MS		1000000ULL
#define FAST_NS		200000
#define CHILDREN	5
#define COUNTERS_SIZE	((BYSTANDER_PARTS + 1) * BYSTANDER_PAGE)

static int device;

static void start(void *counters, uint64_t period_ns)
{
	if (spread_start(device, BYSTANDER_PARTS, counters, BYSTANDER_PAGE,
			 period_ns))
		exit(2);
}

static struct profil_status ask(unsigned long request)
{
	struct profil_status status = { .size = sizeof(status) };

	if (ioctl(device, request, &status))
		exit(3);
	return status;
}

static void call_the_kernel(void)
{
	int i;

	for (i = 0; i < 50; i++)
		syscall(SYS_getppid);
}

/*
 * Run for @nr milliseconds, one by one: if the host stops the guest for longer,
 * only one of them is lost.
 */
static void work(void (*function)(void), int nr)
{
	while (nr--)
		spend(function, MS);
}

static uint64_t sum_of(const char *counters)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i <= BYSTANDER_PARTS; i++)
		sum += *(const uint64_t *)(counters + i * BYSTANDER_PAGE);
	return sum;
}

static void *map(int flags, int fd, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (memory == MAP_FAILED)
		exit(4);
	return memory;
}

/* Makes no status request in between: that might flush pending ticks. */
static void profile_in_private(struct bystander_report *report)
{
	char *counters = map(MAP_PRIVATE | MAP_ANONYMOUS, -1, COUNTERS_SIZE);
	uint64_t arrived;

	start(counters, MS);
	work(spread, 20);
	work(call_the_kernel, 40);
	usleep(BYSTANDER_SLEEP_NS / 1000);
	arrived = sum_of(counters);
	report->counts = ask(PROFIL_IOC_STOP).counts;
	report->in_counters = sum_of(counters);
	report->late = report->counts.ticks - arrived;
}

int main(int argc, char **argv)
{
	char *memory;
	int i;

	if (argc < 3)
		return 1;
	device = atoi(argv[1]);
	memory = map(MAP_SHARED, atoi(argv[2]),
		     BYSTANDER_PAGE + COUNTERS_SIZE);
	profile_in_private((struct bystander_report *)memory);
	start(memory + BYSTANDER_PAGE, FAST_NS);
	for (i = 0; i < CHILDREN && fork(); i++)
		;
	work(i % 2 ? call_the_kernel : spread, 2);
	work(i % 2 ? spread : call_the_kernel, 3);
	_exit(0);
}
