// SPDX-License-Identifier: GPL-2.0-only
/*
 * common.c - what the tests in the guest share
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * SECOND + time.tv_nsec;
}

uint64_t monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* CPU time of all threads of the process. */
uint64_t process_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/*
 * Long enough between two looks at the clock that the program is in user mode
 * nearly all the time, short beside a millisecond.
 */
static void spin(void)
{
	volatile unsigned int i;

	for (i = 0; i < 2000; i++)
		;
}

/* Spend CPU time in user mode until the process has used @ns more. */
void burn_process_ns(uint64_t ns)
{
	uint64_t end = process_cpu_ns() + ns;

	while (process_cpu_ns() < end)
		spin();
}

/* Spend CPU time in user mode until the calling thread has used @ns more. */
void burn_thread_ns(uint64_t ns)
{
	uint64_t end = thread_cpu_ns() + ns;

	while (thread_cpu_ns() < end)
		spin();
}

/* One counter for each @width bytes of text. */
struct profil_region region_of(const void *text, const void *end, void *bins,
			       unsigned int width)
{
	struct profil_region region = {
		.base = (uintptr_t)bins,
		.size = (uintptr_t)end - (uintptr_t)text,
		.offset = (uintptr_t)text,
		.scale = 65536,
	};

	region.size -= region.size % width;
	return region;
}

/* One counter for all of the text. */
struct profil_region counter_of(const void *text, const void *end, void *bin,
				unsigned int width)
{
	struct profil_region region = {
		.base = (uintptr_t)bin,
		.size = width,
		.offset = (uintptr_t)text,
		.scale = 65536 * width / ((uintptr_t)end - (uintptr_t)text),
	};

	return region;
}

struct profil_region overflow_bin(void *bin, unsigned int width)
{
	struct profil_region region = {
		.base = (uintptr_t)bin,
		.size = width,
		.scale = 2,
	};

	return region;
}

/* profil_set() with what most tests leave alone filled in. */
int set_regions(const struct profil_region *regions, unsigned int nr,
		unsigned int width, uint64_t period_ns, unsigned int flags)
{
	struct profil_set set = {
		.size = sizeof(set),
		.flags = flags,
		.width = width,
		.nr_regions = nr,
		.regions = (uintptr_t)regions,
		.period_ns = period_ns,
	};

	return profil_set(&set);
}

/* The same for one region, by a descriptor of the device. */
int set_region_by(int fd, const struct profil_region *region,
		  unsigned int width, uint64_t period_ns, unsigned int flags)
{
	struct profil_set set = {
		.size = sizeof(set),
		.flags = flags,
		.width = width,
		.nr_regions = 1,
		.regions = (uintptr_t)region,
		.period_ns = period_ns,
	};

	return ioctl(fd, PROFIL_IOC_SET, &set);
}

/* What profiles that have ended came to; nonsense if nobody tells. */
struct profil_account account_of(int fd)
{
	struct profil_account account = { .size = sizeof(account) };

	if (ioctl(fd, PROFIL_IOC_ACCOUNT, &account))
		memset(&account, 0xee, sizeof(account));
	return account;
}

/* The same, when no more than @running profiles are left. */
struct profil_account account_after(int fd, uint32_t running)
{
	struct profil_account account;
	int tries = 10000;

	do {
		usleep(1000);
		account = account_of(fd);
	} while (account.running > running && --tries);
	return account;
}

/* The status of the calling process; all ones if there is none to be had. */
struct profil_status status_now(void)
{
	struct profil_status status = { .size = sizeof(status) };

	if (profil_status(&status, NULL, 0))
		memset(&status, 0xff, sizeof(status));
	return status;
}

static uint64_t ticks_now(bool counted)
{
	struct profil_status status = status_now();

	if (status.state != PROFIL_STATE_ON)
		return 0;
	return counted ? status.counted : status.ticks;
}

static bool burn_more(bool counted, uint64_t nr)
{
	uint64_t period_ns = status_now().period_ns;
	uint64_t end = process_cpu_ns() + 10 * (nr + 50) * period_ns;
	uint64_t want = ticks_now(counted) + nr;

	while (ticks_now(counted) < want && process_cpu_ns() < end)
		burn_thread_ns(period_ns);
	return ticks_now(counted) >= want;
}

/*
 * Spend CPU time until @nr more ticks have found their fate. False if they do
 * not come although they were due many times over.
 */
bool burn_ticks(uint64_t nr)
{
	return burn_more(false, nr);
}

/* The same, but for ticks that are in the counters. */
bool burn_counted(uint64_t nr)
{
	return burn_more(true, nr);
}

/* Has a helper mount a file system at SILENT_FS; negative if there is none. */
pid_t mount_silent_fs(void)
{
	char path[4096];
	pid_t child;
	int patience = 1000;

	if (system("modprobe -q fuse; mkdir -p " SILENT_FS))
		return -1;
	helper_path(path, sizeof(path), "silent_fs");
	child = fork_child();
	if (!child) {
		execl(path, path, SILENT_FS, NULL);
		_exit(127);
	}
	while (access(SILENT_FS "/bins", F_OK) && --patience) {
		if (waitpid(child, NULL, WNOHANG))
			return -1;
		usleep(10000);
	}
	return child;
}

/* Whoever waits for it gets an error. */
int unmount_silent_fs(pid_t child)
{
	if (kill(child, SIGKILL) || wait_child(child) != -SIGKILL)
		return -1;
	return umount2(SILENT_FS, MNT_DETACH);
}

/*
 * Who touches the page waits until it is served by way of the descriptor that
 * this returns; -1 if there is none to be had.
 */
int userfault(void *page, unsigned int flags)
{
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | flags);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area = {
		.range = { (uintptr_t)page, sysconf(_SC_PAGESIZE) },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	if (fd >= 0 && (ioctl(fd, UFFDIO_API, &api) ||
			ioctl(fd, UFFDIO_REGISTER, &area))) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * An endless loop of one instruction at this address, which must be free, or
 * NULL if it is not.
 */
void *loop_at(uintptr_t pc)
{
	static const unsigned char jump_to_itself[] = { 0xeb, 0xfe };
	uintptr_t page = pc & -sysconf(_SC_PAGESIZE);
	size_t size = pc - page + sizeof(jump_to_itself);

	if (mmap((void *)page, size, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		 0) != (void *)page)
		return NULL;
	return memcpy((void *)pc, jump_to_itself, sizeof(jump_to_itself));
}

/* From now on there is but one program counter. */
void stand_still(void *loop)
{
	((void (*)(void))loop)();
	__builtin_unreachable();
}

/* The calling thread runs there alone. */
int pin_to(int processor)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(processor, &one);
	return sched_setaffinity(0, sizeof(one), &one);
}

/* fork(), but the child does not outlive a test that fails. */
pid_t fork_child(void)
{
	pid_t child = fork();

	if (!child)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return child;
}

/* Its exit status; minus the signal if it died by one. */
int wait_child(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		return -1000;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Where a program of helpers/ is: beside the calling one. */
void helper_path(char *path, size_t size, const char *name)
{
	ssize_t length = readlink("/proc/self/exe", path, size - 1);

	path[length < 0 ? 0 : length] = '\0';
	length = strrchr(path, '/') - path;
	snprintf(path + length, size - length, "/helpers/%s", name);
}

uint64_t sum16(const uint16_t *bins, size_t nr)
{
	uint64_t sum = 0;

	while (nr--)
		sum += *bins++;
	return sum;
}

uint64_t sum32(const uint32_t *bins, size_t nr)
{
	uint64_t sum = 0;

	while (nr--)
		sum += *bins++;
	return sum;
}

uint64_t sum64(const uint64_t *bins, size_t nr)
{
	uint64_t sum = 0;

	while (nr--)
		sum += *bins++;
	return sum;
}

/* How far a number is from its mean, in standard deviations. */
double sigmas(double seen, double mean, double variance)
{
	return (seen - mean) / sqrt(variance);
}

/*
 * The profile and the clocks of the same moment: of several tries, during
 * which the process may lose the processor, the one that took least.
 */
struct moment moment_now(void)
{
	struct moment moment = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t begin = process_cpu_ns();
		struct profil_status status = status_now();
		uint64_t end = process_cpu_ns();

		if (end - begin >= least)
			continue;
		least = end - begin;
		moment.status = status;
		moment.cpu_ns = begin + least / 2;
		moment.time_ns = monotonic_ns();
	}
	return moment;
}

double due_ticks(const struct moment *from, const struct moment *to)
{
	return (double)(to->status.cpu_time_ns - from->status.cpu_time_ns) /
	       to->status.period_ns;
}

/*
 * A period of which the process ran the part q adds q(1 - q) on each
 * processor: in all no more than the periods that it ran, nor than those that
 * it left to others, but for those that the two moments cut.
 */
double due_variance(const struct moment *from, const struct moment *to)
{
	double processors = sysconf(_SC_NPROCESSORS_ONLN);
	double time = (double)(to->time_ns - from->time_ns) /
		      to->status.period_ns;
	double ran = due_ticks(from, to);

	return processors / 2 + fmax(0, fmin(ran, processors * time - ran));
}

/*
 * How much further than elsewhere times may be apart, on a kernel whose
 * sanitizers make each interrupt and context switch many times longer: they are
 * charged to the one or the other at different points.
 */
double slack(void)
{
	return access("/proc/lockdep", F_OK) ? 1 : 10;
}
