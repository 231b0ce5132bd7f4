// SPDX-License-Identifier: GPL-2.0-only
/*
 * common.c - helpers for the tests in the guest
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time = { 0 };

	clock_gettime(clock, &time);
	return time.tv_sec * SECOND + time.tv_nsec;
}

bool in_user_space(void)
{
	const char *fallback = getenv("PROFIL_FALLBACK");

	return fallback && !strcmp(fallback, "always");
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
 * What a clock of CPU time has gone on since @last, at most @most: if the host stops the
 * CPU while the kernel switches to the thread, the clock goes on, no tick falls, and
 * nothing has been done.
 */
static uint64_t step_ns(clockid_t clock, uint64_t *last, uint64_t most)
{
	uint64_t now = clock_ns(clock), step = now - *last;

	*last = now;
	return step < most ? step : most;
}

/* thread_cpu_ns() without such steps, for loops that ask again and again */
uint64_t worked_ns(void)
{
	static __thread uint64_t last, worked;

	return worked += step_ns(CLOCK_THREAD_CPUTIME_ID, &last, 10 * MS);
}

/* CPU time of another process until now; 0 if there is none. */
uint64_t cpu_ns_of(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : clock_ns(clock);
}

/* CPU time of a process that has ended, and of its children. */
uint64_t usage_ns(const struct rusage *usage)
{
	return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * SECOND +
	       (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * US;
}

void sleep_ns(uint64_t ns)
{
	struct timespec span = { ns / SECOND, ns % SECOND };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
}

/*
 * Long enough that a program that reads the clock in between spends nearly all
 * its time in user mode, and much shorter than a millisecond.
 */
static void spin(void)
{
	volatile unsigned int i;

	for (i = 0; i < 2000; i++)
		;
}

/*
 * Spend CPU time in user mode until a clock has gone on by @ns, of which no step is
 * more than a tenth: see step_ns().
 */
static void burn_ns(clockid_t clock, uint64_t ns)
{
	uint64_t most = ns / 10 + 1, last = clock_ns(clock), worked = 0;

	while (worked < ns) {
		spin();
		worked += step_ns(clock, &last, most);
	}
}

/* Spend CPU time in user mode until the process has used at least @ns more. */
void burn_process_ns(uint64_t ns)
{
	burn_ns(CLOCK_PROCESS_CPUTIME_ID, ns);
}

/* The same, until the calling thread has. */
void burn_thread_ns(uint64_t ns)
{
	burn_ns(CLOCK_THREAD_CPUTIME_ID, ns);
}

/*
 * Spend @ns with nearly all ticks in kernel mode. All elements of the vector
 * point to one page, so that this works under any memory limit.
 */
void burn_kernel_ns(uint64_t ns)
{
	static char page[4096];
	struct iovec vector[64];
	uint64_t end = monotonic_ns() + ns;
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < 64; i++)
		vector[i] = (struct iovec) { page, sizeof(page) };
	while (monotonic_ns() < end)
		if (readv(zero, vector, 64) < 0)
			break;
	close(zero);
}

/* One counter for each @width bytes of text. */
struct profil_region region_of(const void *text, const void *end,
			       void *counters,
			       unsigned int width)
{
	struct profil_region region = {
		.base = (uintptr_t)counters,
		.size = (uintptr_t)end - (uintptr_t)text,
		.offset = (uintptr_t)text,
		.scale = 65536,
	};

	region.size -= region.size % width;
	return region;
}

/* One counter for all of the text. */
struct profil_region counter_of(const void *text, const void *end,
				void *counter,
				unsigned int width)
{
	struct profil_region region = {
		.base = (uintptr_t)counter,
		.size = width,
		.offset = (uintptr_t)text,
		.scale = 65536 * width / ((uintptr_t)end - (uintptr_t)text),
	};

	return region;
}

struct profil_region overflow_bin(void *counter, unsigned int width)
{
	struct profil_region region = {
		.base = (uintptr_t)counter,
		.size = width,
		.scale = 2,
	};

	return region;
}

/* profil_set() with defaults for the fields that most tests do not set. */
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

/* Like set_regions(), for one region and with the caller's descriptor. */
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

/* The stats of ended sessions; each byte is 0xee if the request fails. */
struct profil_account account_of(int fd)
{
	struct profil_account account = { .size = sizeof(account) };

	if (ioctl(fd, PROFIL_IOC_ACCOUNT, &account))
		memset(&account, 0xee, sizeof(account));
	return account;
}

/* Like account_of(), once at most @running sessions are left. */
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

/* The status of the calling process; all bits set if the request fails. */
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
	return counted ? status.counts.counted : status.counts.ticks;
}

static bool burn_more(bool counted, uint64_t nr)
{
	uint64_t period_ns = status_now().period_ns;
	uint64_t want = ticks_now(counted) + nr;
	uint64_t rounds = 10 * (nr + 50);

	while (ticks_now(counted) < want && rounds--)
		burn_thread_ns(period_ns);
	return ticks_now(counted) >= want;
}

/*
 * Spend CPU time until the status has @nr more ticks. False if they do not come
 * in ten times the work in which they are due: the CPU time has a stall of the host,
 * too, that falls in a context switch, where no tick is due.
 */
bool burn_ticks(uint64_t nr)
{
	return burn_more(false, nr);
}

/* Like burn_ticks(), for ticks added to counters. */
bool burn_counted(uint64_t nr)
{
	return burn_more(true, nr);
}

/* Start a helper that mounts a file system at SILENT_FS; -1 if it cannot. */
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

/* Tasks that wait for the file system get an error. */
int unmount_silent_fs(pid_t child)
{
	if (kill(child, SIGKILL) || wait_child(child) != -SIGKILL)
		return -1;
	return umount2(SILENT_FS, MNT_DETACH);
}

/*
 * Needs the modules loop and ext4. It has a journal: without one, ext4 does not
 * use an inode number again for a while.
 */
int mount_disk_fs(void)
{
	return system("mountpoint -q " DISK_FS " || { image=$(mktemp) && "
		      "modprobe -q loop; modprobe -q ext4; "
		      "mkdir -p " DISK_FS " && truncate -s 16M $image && "
		      "mke2fs -q -t ext4 -O has_journal $image && "
		      "mount -o loop $image " DISK_FS " && rm $image; "
		      "} > /dev/null 2>&1");
}

static void *burn_for_ever(void *unused)
{
	for (;;)
		burn_thread_ns(SECOND);
	return unused;
}

/* The page stays locked until the server answers. */
static void __attribute__((noreturn)) read_page(int file)
{
	volatile char *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file,
				   0);

	_exit(page == MAP_FAILED || *page);
}

/* mmap() holds mmap_lock until that page is unlocked. */
static void __attribute__((noreturn)) map_for_ever(int file, int threads)
{
	pthread_t thread;

	while (threads--)
		if (pthread_create(&thread, NULL, burn_for_ever, NULL))
			_exit(1);
	usleep(100000);
	mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0);
	_exit(1);
}

/**
 * stuck_begin() - start a process that holds its mmap_lock, and works
 * @stuck: receives the processes, children of the caller; may be shared memory
 * @threads: how many of its threads use CPU time
 *
 * The silent file system is mounted. Return: 0 or -1.
 */
int stuck_begin(struct stuck *stuck, int threads)
{
	int file = open(SILENT_FS "/direct", O_RDONLY | O_CLOEXEC);
	pid_t child;

	if (file < 0)
		return -1;
	child = fork_child();
	if (!child)
		read_page(file);
	stuck->reader = child;
	usleep(100000);
	child = fork_child();
	if (!child)
		map_for_ever(file, threads);
	stuck->pid = child;
	close(file);
	return stuck->reader < 0 || stuck->pid < 0 ? -1 : 0;
}

/** stuck_end() - kill the processes of stuck_begin(), if it succeeded */
void stuck_end(const struct stuck *stuck)
{
	kill(stuck->pid, SIGKILL);
	kill(stuck->reader, SIGKILL);
}

/*
 * Register a page with a new userfaultfd: a task that touches it waits until
 * the test serves the page. Return: the descriptor, or -1.
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

/* Make an endless loop of one instruction at @pc; NULL if @pc is in use. */
void *loop_at(uintptr_t pc)
{
#if defined(__x86_64__) || defined(__i386__)
	static const unsigned char jump_to_itself[] = { 0xeb, 0xfe };
#elif defined(__aarch64__)
	static const unsigned char jump_to_itself[] = { 0, 0, 0, 0x14 };
#elif defined(__riscv)
	static const unsigned char jump_to_itself[] = { 0x6f, 0, 0, 0 };
#endif
	uintptr_t page = pc & -sysconf(_SC_PAGESIZE);
	size_t size = pc - page + sizeof(jump_to_itself);

	if (mmap((void *)page, size, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		 0) != (void *)page)
		return NULL;
	memcpy((void *)pc, jump_to_itself, sizeof(jump_to_itself));
	__builtin___clear_cache((char *)pc, (char *)pc + sizeof(jump_to_itself));
	return (void *)pc;
}

/* Run @loop: from now on the thread has a single program counter. */
void stand_still(void *loop)
{
	((void (*)(void))loop)();
	__builtin_unreachable();
}

/* Bind the calling thread to one CPU. */
int pin_to(int processor)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(processor, &one);
	return sched_setaffinity(0, sizeof(one), &one);
}

/* fork(), but the child dies with its parent, for example when a test fails. */
pid_t fork_child(void)
{
	pid_t parent = getpid();
	pid_t child = fork();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* It may have ended before; 0: it is in another PID namespace */
	if (getppid() != parent && getppid())
		_exit(99);
	return 0;
}

/* Wait for a child. Return: its exit status, or minus the signal it died of. */
int wait_child(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		return -1000;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Fork children one after the other, which end at once. Return: 0, or -1. */
int fork_some(int nr)
{
	while (nr--) {
		pid_t child = fork_child();

		if (!child)
			_exit(0);
		if (wait_child(child))
			return -1;
	}
	return 0;
}

struct switches {
	int pipes[2][2];
	int nr;
};

static int pass_on(const struct switches *switches, int mine)
{
	char byte;

	for (int i = 0; i < switches->nr; i++)
		if (read(switches->pipes[mine][0], &byte, 1) != 1 ||
		    write(switches->pipes[!mine][1], "", 1) != 1)
			return -1;
	return 0;
}

static void *pass_back(void *switches)
{
	return pass_on(switches, 1) ? switches : NULL;
}

/* Two threads run by turns, and switch @nr times. Return: 0, or -1 with errno. */
int switch_threads(int nr)
{
	struct switches switches = { .nr = nr / 2 };
	void *bad = NULL;
	pthread_t other;
	int result;

	if (pipe(switches.pipes[0]) || pipe(switches.pipes[1]) ||
	    write(switches.pipes[0][1], "", 1) != 1 ||
	    pthread_create(&other, NULL, pass_back, &switches))
		return -1;
	result = pass_on(&switches, 0);
	pthread_join(other, &bad);
	for (int i = 0; i < 4; i++)
		close(switches.pipes[i / 2][i % 2]);
	return bad ? -1 : result;
}

static void *sleep_forever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/*
 * Begin threads that sleep forever, with small stacks, since there may be many.
 * Return: 0, or -1.
 */
int begin_sleepers(int nr)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	while (nr--)
		if (pthread_create(&thread, &small, sleep_forever, NULL))
			return -1;
	return 0;
}

/* The number after @name in the first line of a file that begins so; 0 if none. */
uint64_t number_of(const char *path, const char *name)
{
	FILE *file = fopen(path, "r");
	uint64_t number = 0;
	char line[400];

	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, name, strlen(name))) {
			number = strtoull(line + strlen(name), NULL, 10);
			break;
		}
	}
	if (file)
		fclose(file);
	return number;
}

/*
 * Letter of the state of a process in proc(5), such as 'D', or 0 if there is none.
 * Allocates no memory, so that a thread can call it that must not have a page fault.
 */
char process_state(pid_t pid)
{
	char line[400] = "";
	char *state;
	int fd;

	snprintf(line, sizeof(line), "/proc/%d/stat", pid);
	fd = open(line, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, line, sizeof(line) - 1) < 0)
		line[0] = '\0';
	close(fd);
	state = strrchr(line, ')');
	return state && state[1] == ' ' ? state[2] : 0;
}

/* Number of threads of a process; 0 if there is none. */
int threads_of(pid_t pid)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return number_of(path, "Threads:");
}

/* Wait until a process has so many threads. Return: 0, or -1 if it takes long. */
int wait_for_threads(pid_t pid, int nr)
{
	for (int i = 0; i < 6000 && threads_of(pid) != nr; i++)
		usleep(10000);
	return threads_of(pid) == nr ? 0 : -1;
}

/*
 * Find a program of programs/: beside the calling program if installed, else in
 * programs/ beside its directory, as in the build tree.
 */
void helper_path(char *path, size_t size, const char *name)
{
	char directory[PATH_MAX + 1] = "";

	if (readlink("/proc/self/exe", directory, PATH_MAX) < 0)
		return;
	dirname(directory);
	snprintf(path, size, "%s/%s", directory, name);
	if (access(path, X_OK))
		snprintf(path, size, "%s/programs/%s", dirname(directory),
			 name);
}

/*
 * Load a module into the kernel; -1 and errno if that fails. From memory: where the
 * kernel finds no memory for a file that it reads itself, it logs that.
 */
int load_file(const char *path, const char *parameters)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), result = -1, error;
	struct stat file = { 0 };
	void *image;

	if (fd < 0 || fstat(fd, &file))
		return -1;
	image = mmap(NULL, file.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE,
		     fd, 0);
	if (image != MAP_FAILED)
		result = syscall(SYS_init_module, image, file.st_size,
				 parameters);
	error = errno;
	if (image != MAP_FAILED)
		munmap(image, file.st_size);
	close(fd);
	errno = error;
	return result;
}

bool is_preempt_rt(void)
{
	struct utsname name;

	return !uname(&name) && strstr(name.version, "PREEMPT_RT");
}

bool is_linux_before(int major, int minor)
{
	struct utsname name;
	int is_major, is_minor;

	return !uname(&name) &&
	       sscanf(name.release, "%d.%d", &is_major, &is_minor) == 2 &&
	       (is_major < major ||
		(is_major == major && is_minor < minor));
}

/*
 * Load NAME.ko from ../refuse, as built for the running kernel; -1 and ENOENT
 * if it was not.
 */
int load_helper(const char *name, const char *parameters)
{
	char path[PATH_MAX + 200], directory[PATH_MAX + 1] = "";
	struct utsname kernel;

	if (uname(&kernel) ||
	    readlink("/proc/self/exe", directory, PATH_MAX) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/../refuse/%s/%s.ko",
		 dirname(directory), kernel.release, name);
	return load_file(path, parameters);
}

/* Unload NAME.ko; -1 and ENOENT if it is not loaded. */
int unload_helper(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK);
}

/*
 * The file of the module: $PROFIL_KO, or the one that modprobe loads; empty if there
 * is none. For a module that is built in, modinfo prints no path.
 */
const char *profil_file(void)
{
	static char path[PATH_MAX];
	FILE *modinfo;

	if (getenv("PROFIL_KO"))
		return getenv("PROFIL_KO");
	modinfo = popen("modinfo -n profil 2>/dev/null", "r");
	if (fgets(path, sizeof(path), modinfo))
		path[strcspn(path, "\n")] = '\0';
	pclose(modinfo);
	return path;
}

int load_profil(const char *parameters)
{
	return load_file(profil_file(), parameters);
}

int unload_profil(void)
{
	return unload_helper("profil");
}

/*
 * The kernel frees the profile of a process a little after the process has
 * died.
 */
int unload_profil_soon(void)
{
	while (unload_profil()) {
		if (errno != EWOULDBLOCK)
			return -1;
		usleep(1000);
	}
	return 0;
}

/* name=value for every parameter, as the module was loaded or changed */
void read_parameters(char *parameters, size_t size)
{
	FILE *all = popen("cd /sys/module/profil/parameters && grep -H . * | "
			  "sed 's/:/=/' | tr '\n' ' '", "r");

	parameters[fread(parameters, 1, size - 1, all)] = '\0';
	pclose(all);
}

/* Write a kernel parameter; -1 and errno if the kernel rejects the value. */
int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t length = strlen(text);
	int error;

	if (fd < 0)
		return -1;
	error = write(fd, text, length) == length ? 0 : errno;
	close(fd);
	if (!error)
		return 0;
	errno = error;
	return -1;
}

int copy_file(const char *from, const char *to, mode_t mode)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	ssize_t nr;

	while ((nr = sendfile(out, in, NULL, 1 << 20)) > 0)
		;
	/* Writing would clear the set-user-ID bit */
	if (!nr)
		nr = fchmod(out, mode);
	close(in);
	close(out);
	return nr;
}

/* Move a process, or this one if @pid is 0. Return: 0, or -1 and errno. */
int enter_cgroup(pid_t pid, const char *cgroup)
{
	char path[PATH_MAX], text[20];

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	snprintf(text, sizeof(text), "%d", pid);
	return write_file(path, text);
}

/*
 * Its last process may have ended, and be waited for, but not have left its CPU yet:
 * wait a minute at most. Return: 0 once there is no such cgroup, or -1.
 */
int remove_cgroup(const char *cgroup)
{
	for (int i = 0; i < 6000 && rmdir(cgroup) && errno == EBUSY; i++)
		usleep(10000);
	return access(cgroup, F_OK) ? 0 : -1;
}

/*
 * Open a perf event for user mode and close it. Return: 0, or errno, as where
 * perf_event_paranoid or a filter forbids it.
 */
int try_perf_event(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.exclude_kernel = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			 PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

uint64_t sum16(const uint16_t *counters, size_t nr)
{
	uint64_t sum = 0;

	while (nr--)
		sum += *counters++;
	return sum;
}

uint64_t sum32(const uint32_t *counters, size_t nr)
{
	uint64_t sum = 0;

	while (nr--)
		sum += *counters++;
	return sum;
}

uint64_t sum64(const uint64_t *counters, size_t nr)
{
	uint64_t sum = 0;

	while (nr--)
		sum += *counters++;
	return sum;
}

/* How far a number is from its mean, in standard deviations. */
double sigmas(double seen, double mean, double variance)
{
	return (seen - mean) / sqrt(variance);
}

/*
 * Read the status and the clocks at the same moment. Other threads go on while
 * this one waits for its CPU or for theirs, so take the reading that was
 * shortest by the clock; by CPU time, one that waits looks short.
 */
struct moment moment_now(void)
{
	struct moment moment = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t begin = monotonic_ns();
		uint64_t before = process_cpu_ns();
		struct profil_status status = status_now();
		uint64_t after = process_cpu_ns();
		uint64_t end = monotonic_ns();

		if (end - begin >= least)
			continue;
		least = end - begin;
		moment.status = status;
		moment.cpu_ns = before + (after - before) / 2;
		moment.time_ns = begin + least / 2;
	}
	return moment;
}

/* The moment before a profile begins. */
struct moment moment_zero(void)
{
	return (struct moment){ .time_ns = monotonic_ns() };
}

/* Stop the profile, which counts the ticks of late interrupts. */
struct moment moment_stop(void)
{
	struct moment moment = { .status.size = sizeof(moment.status) };

	if (profil_stop(&moment.status, NULL, 0))
		memset(&moment.status, 0xff, sizeof(moment.status));
	moment.time_ns = monotonic_ns();
	moment.cpu_ns = process_cpu_ns();
	return moment;
}

double due_ticks(const struct moment *from, const struct moment *to)
{
	return (double)(to->status.cpu_time_ns - from->status.cpu_time_ns) /
	       to->status.period_ns;
}

/*
 * On each CPU, a period of which the process runs the fraction q adds q(1 - q)
 * to the variance. The sum is at most the number of periods that the process
 * ran, and at most the number that it left to others; but on each CPU the two
 * moments cut a period each, which adds up to 1/4.
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
 * Factor for tolerances of CPU time. The kernel and the module charge
 * interrupts and context switches to tasks at different points, and sanitizers
 * and the counts of coverage make both many times longer.
 */
double slack(void)
{
	return access("/proc/lockdep", F_OK) &&
	       access("/sys/kernel/debug/gcov", F_OK) ? 1 : 10;
}

/*
 * Become an ordinary user in all respects; dumpable, as after exec, so that the
 * user may watch the process.
 */
int become(uid_t user)
{
	return setresgid(user, user, user) || setresuid(user, user, user) ||
	       prctl(PR_SET_DUMPABLE, 1) ||
	       prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/**
 * find_anchor() - the address of the profile's anchor
 *
 * Allocates no memory: where only mappings of the device come and go, nothing
 * else can be mapped at that address when the caller uses it.
 *
 * Return: the address, maybe of one just removed; NULL if there is none.
 */
void *find_anchor(void)
{
	static _Thread_local char maps[16384];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got;
	char *end;

	while ((got = read(fd, maps + used, sizeof(maps) - 1 - used)) > 0)
		used += got;
	close(fd);
	maps[used] = 0;
	end = strstr(maps, PROFIL_DEVICE);
	while (end && end > maps && end[-1] != '\n')
		end--;
	return end ? (void *)strtoul(end, NULL, 16) : NULL;
}

/** unmap_anchor() - remove the profile's anchor, if there is one */
void unmap_anchor(void)
{
	void *anchor = find_anchor();

	if (anchor)
		munmap(anchor, PAGE);
}

/**
 * interrupts() - number of interrupts of a CPU since the system started
 * @cpu: the CPU
 * @what: words in the line of those to count; "" for all
 */
double interrupts(int cpu, const char *what)
{
	FILE *file = fopen("/proc/interrupts", "r");
	char line[4096];
	double sum = 0;

	while (file && fgets(line, sizeof(line), file)) {
		char *at = strchr(line, ':');
		unsigned long nr = 0;

		if (!strstr(line, what))
			continue;
		for (int i = 0; at && i <= cpu; i++)
			nr = strtoul(at + !i, &at, 10);
		sum += nr;
	}
	if (file)
		fclose(file);
	return sum;
}
