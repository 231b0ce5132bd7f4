/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note OR MIT */
/*
 * profil.h - the interface of /dev/profil
 *
 * There are two things to request. A *profile* counts the ticks of the caller
 * in the caller's own memory. It belongs to the address space, not to the
 * descriptor: the caller may close the descriptor as soon as PROFIL_IOC_SET has
 * returned. A *watch* counts the ticks of other processes in memory of the
 * kernel that the caller can map. It belongs to the open file.
 *
 * Every structure begins with its own size, which the caller sets to the sizeof
 * that it was compiled with. A caller with a shorter structure than the
 * kernel's keeps the behaviour of the version it was built against. A caller
 * with a longer structure succeeds as long as every byte that the kernel does
 * not know is zero, and gets E2BIG otherwise. The kernel cuts results to the
 * size that the caller gave, and fills bytes that it does not know with zeros.
 *
 * Errors of every request:
 *
 *   EFAULT  the argument is not readable or, for results, not writable; a
 *           status or an info may then have been written in part
 *   EINVAL  @size is smaller than the first version of the structure
 *   E2BIG   @size is larger than the kernel's and the excess is not zero, or
 *           larger than a page
 *   EINTR   a fatal signal arrived while the request waited
 *   ENOTTY  there is no such request
 *   EPERM   the caller is a kernel thread or has no address space of its own
 *
 * A request that fails changes nothing, with three exceptions: see
 * PROFIL_SET_CHECK; what PROFIL_IOC_STOP or PROFIL_IOC_WATCH_STOP stops may have
 * stopped if the caller's memory for the stats goes while the request runs; and
 * waits that PROFIL_IOC_WATCH_COLLECT has counted stay counted.
 */
#ifndef _LINUX_PROFIL_H
#define _LINUX_PROFIL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PROFIL_DEVICE		"/dev/profil"

#define PROFIL_IOC_TYPE		0xBD

/**
 * DOC: Requests
 *
 * PROFIL_IOC_SET (struct profil_set): start a profile, or replace the one that
 * runs. When the request returns, the kernel does not write the counters of a
 * replaced profile any more. Where pages of these are on their way, it waits for
 * them for up to a second, as PROFIL_IOC_STOP does.
 *
 * PROFIL_IOC_STOP (struct profil_status, or 0): stop the profile; returns 0
 * also when there was none. A non-zero argument receives the last stats of the
 * stopped profile. When the request returns, the kernel does not write the
 * counters any more. Fails with ENOMEM if there is no memory to collect the
 * status of the regions.
 *
 * PROFIL_IOC_STATUS (struct profil_status): read the stats of the profile.
 * Fails with ENOMEM as PROFIL_IOC_STOP does.
 *
 * PROFIL_IOC_INFO (struct profil_info): read features and limits of the device.
 *
 * PROFIL_IOC_ACCOUNT (struct profil_account): read the stats of all profiles
 * that were started through this open file of the device. It serves observers
 * of other processes: a process that was killed cannot report its own stats.
 *
 * PROFIL_IOC_WATCH (struct profil_watch): start a watch. It ends with
 * PROFIL_IOC_WATCH_STOP, or when the last descriptor and the last mapping of
 * the open file are gone. An open file has one watch, ever.
 *
 * PROFIL_IOC_WATCH_STATUS (struct profil_watch_status): read the stats of the
 * watch of this open file, and bring the CPU times in its table up to date. All
 * stats are zero if it has had no watch.
 *
 * PROFIL_IOC_WATCH_STOP (struct profil_watch_status, or 0): stop the watch;
 * returns 0 also when there was none. A non-zero argument receives its last
 * stats. The table stays, for the mappings.
 * When the request returns, no more ticks come into the table. It waits for the
 * last ones (@pending of the stats), a quarter of a second or little more. With
 * PROFIL_WATCH_WALL it also counts the waits that go on, as
 * PROFIL_IOC_WATCH_COLLECT does, and waits for its turn like that. A fatal signal
 * ends this waiting, with EINTR, and the watch goes on; a later one costs waits
 * their chains, and the watch ends.
 *
 * PROFIL_IOC_WATCH_UNWIND (struct profil_watch_unwind): load a table that finds
 * the callers in code of a file, for the watch of this open file, which counts
 * ticks by chain of callers (PROFIL_WATCH_CHAINS).
 *
 * PROFIL_IOC_WATCH_COLLECT (struct profil_watch_status, or 0): count the ticks of
 * threads that wait now, which else are counted when their wait ends, for the
 * watch of this open file; a non-zero argument receives the stats afterwards.
 * Nobody is woken. A collection takes some microseconds for each such thread. Those
 * of a user, in all watches, take place one at a time, and after each of them the
 * next one waits for as long as that took. A fatal signal ends it early, with
 * EINTR. Does nothing without PROFIL_WATCH_WALL, or when the watch has been
 * stopped.
 *
 * poll() reports EPOLLIN for an open file with a watch when the paths of objects
 * have become known, or are known to have none, since a request returned the
 * stats of the watch; EPOLLERR without a watch.
 */
#define PROFIL_IOC_SET		_IO(PROFIL_IOC_TYPE, 0)
#define PROFIL_IOC_STOP		_IO(PROFIL_IOC_TYPE, 1)
#define PROFIL_IOC_STATUS	_IO(PROFIL_IOC_TYPE, 2)
#define PROFIL_IOC_INFO		_IO(PROFIL_IOC_TYPE, 3)
#define PROFIL_IOC_ACCOUNT	_IO(PROFIL_IOC_TYPE, 4)
#define PROFIL_IOC_WATCH	_IO(PROFIL_IOC_TYPE, 5)
#define PROFIL_IOC_WATCH_STATUS	_IO(PROFIL_IOC_TYPE, 6)
#define PROFIL_IOC_WATCH_STOP	_IO(PROFIL_IOC_TYPE, 7)
#define PROFIL_IOC_WATCH_UNWIND	_IO(PROFIL_IOC_TYPE, 8)
#define PROFIL_IOC_WATCH_COLLECT	_IO(PROFIL_IOC_TYPE, 9)

/**
 * struct profil_region - a range of program text and its counters
 * @base: address of the first counter; a multiple of the counter's width
 * @size: length of the counters in bytes; a remainder that is smaller than a
 *	counter is never written. With less than one counter, the region takes
 *	no tick
 * @offset: lowest program counter of the region
 * @scale: 16.16 fixed-point ratio of counters to text. With d = pc - @offset
 *	and W the width of a counter in bytes, a tick at pc increments counter
 *	((d / W) * @scale) / 65536, if @size has room for it. From 2 to
 *	65536 * W; 0 and 1 disable the region. A region with @offset 0 and
 *	@scale 2 is the overflow bin: its first counter takes every tick that no
 *	other region takes; but see PROFIL_SET_NO_OVERFLOW
 *
 * Regions may overlap: of those that contain pc the one with the largest
 * @offset takes the tick, and of equal ones the first listed.
 *
 * The layout is that of the C library's struct prof on 64-bit systems, from
 * IRIX sprofil(2); the arithmetic is that of 4.4BSD profil(2).
 */
struct profil_region {
	__aligned_u64 base;
	__aligned_u64 size;
	__aligned_u64 offset;
	__aligned_u64 scale;
};

/**
 * DOC: Flags of struct profil_set
 *
 * PROFIL_SET_CHECK: the counters of every region must lie in writable mappings
 * of the caller; their pages may be absent. Otherwise the request fails with
 * EFAULT and *stops the running profile* (4.4BSD). Without this flag the first
 * tick of such a region disables it (System V, IRIX).
 *
 * PROFIL_SET_USER_ONLY: leave out ticks in kernel mode; the stats report them
 * as left_out. Without this flag they count at the user's program counter.
 *
 * PROFIL_SET_SVR4_ARITH: the counter is ((d * scale) >> 16) / W, as in
 * System V profil(2).
 *
 * PROFIL_SET_SVR4_STOP: the profile stops for good when a counter reaches
 * 32767 (System V). 16-bit counters only. Without this flag a full counter
 * stays full, the others go on, and the stats report the clipped ticks.
 *
 * PROFIL_SET_SCALE_ONE: a scale of 1 is valid (4.4BSD).
 *
 * PROFIL_SET_OVERFLOW_ANYWHERE: the overflow bin need not be the last region
 * (the GNU C library). Of several, the first takes the ticks.
 *
 * PROFIL_SET_NO_OVERFLOW: there is no overflow bin. A region with an offset of
 * 0 and a scale of 2 is like any other: one counter for 64 KiB of text with
 * 16-bit counters (System V, 4.4BSD).
 */
#define PROFIL_SET_CHECK		(1u << 0)
#define PROFIL_SET_USER_ONLY		(1u << 1)
#define PROFIL_SET_SVR4_ARITH		(1u << 2)
#define PROFIL_SET_SVR4_STOP		(1u << 3)
#define PROFIL_SET_SCALE_ONE		(1u << 4)
#define PROFIL_SET_OVERFLOW_ANYWHERE	(1u << 5)
#define PROFIL_SET_NO_OVERFLOW		(1u << 6)

/**
 * struct profil_set - argument of PROFIL_IOC_SET
 * @size: sizeof(struct profil_set)
 * @flags: PROFIL_SET_*
 * @width: bytes of a counter: 2, 4 or 8
 * @nr_regions: 1 to &struct profil_info.max_regions
 * @regions: address of @nr_regions struct profil_region
 * @period_ns: mean time between ticks in nanoseconds of CPU time, from
 *	&struct profil_info.min_period_ns to max_period_ns; 0 stands for
 *	default_period_ns. The request stores the true mean period here
 * @timeval: address of a struct timeval that receives the true mean period
 *	too, or 0; like the other results, it is written only on success
 * @timeval_size: bytes of that struct timeval: 8 (two signed 32-bit numbers)
 *	or 16 (two signed 64-bit numbers); 0 if @timeval is 0
 * @reserved: must be 0
 *
 * Errors, besides those of every request::
 *
 *   E2BIG   @nr_regions is 0 or more than max_regions
 *   EINVAL  unknown flag; @width or @timeval_size has none of the values
 *           above; @reserved is not 0; @period_ns is out of range; a scale is
 *           too large; a base is not aligned; the overflow bin is not the last
 *           region; PROFIL_SET_SVR4_STOP with counters that are not 16-bit
 *   EACCES  the period is shorter than 10 ms, and the module parameter
 *           restrict_fastprof forbids that or the hardware has no timers fine
 *           enough; or the descriptor is not open for reading
 *   EFAULT  @regions, @timeval or, with PROFIL_SET_CHECK, counters are not
 *           valid memory
 *   EAGAIN  the user has as many profiles as allowed (max_profiles)
 *   ENOMEM  no memory
 */
struct profil_set {
	__u32 size;
	__u32 flags;
	__u32 width;
	__u32 nr_regions;
	__aligned_u64 regions;
	__aligned_u64 period_ns;
	__aligned_u64 timeval;
	__u32 timeval_size;
	__u32 reserved;
};

/**
 * enum profil_state - state of a profile
 * @PROFIL_STATE_OFF: there is no profile
 * @PROFIL_STATE_ON: the profile takes every tick
 * @PROFIL_STATE_FULL: stopped because a counter reached 32767
 *	(PROFIL_SET_SVR4_STOP)
 */
enum profil_state {
	PROFIL_STATE_OFF = 0,
	PROFIL_STATE_ON = 1,
	PROFIL_STATE_FULL = 2
};

/**
 * enum profil_region_state - state of a region, and why it is disabled
 * @PROFIL_REGION_ON: it takes ticks
 * @PROFIL_REGION_DISABLED: disabled by the caller: its scale is 0 or 1
 * @PROFIL_REGION_EMPTY: disabled: its size has no room for one counter
 * @PROFIL_REGION_UNMAPPED: disabled: a counter was not in mapped memory
 * @PROFIL_REGION_READONLY: disabled: a counter was not in writable memory
 * @PROFIL_REGION_NOPAGE: disabled: the kernel could not get a page for a
 *	counter (a truncated file, an unreadable disk)
 * @PROFIL_REGION_DEVICE: disabled: the counters are in memory of a device
 * @PROFIL_REGION_FILE: disabled: the counters are in a mapping of a file whose
 *	file system may block the writer: shared, on other than tmpfs, or on
 *	FUSE
 *
 * A region that is disabled stays disabled. Its ticks go to the overflow bin,
 * if there is one, and count as outside otherwise.
 */
enum profil_region_state {
	PROFIL_REGION_ON = 0,
	PROFIL_REGION_DISABLED = 1,
	PROFIL_REGION_EMPTY = 2,
	PROFIL_REGION_UNMAPPED = 3,
	PROFIL_REGION_READONLY = 4,
	PROFIL_REGION_NOPAGE = 5,
	PROFIL_REGION_DEVICE = 6,
	PROFIL_REGION_FILE = 7
};

/**
 * struct profil_region_status - stats of a region
 * @counted: ticks that are in its counters
 * @clipped: ticks that found their counter full
 * @lost: ticks whose counter could not be written
 * @kernel: ticks in kernel mode, whatever their outcome; those that are left
 *	out belong to no region
 * @state: enum profil_region_state
 * @reserved: 0
 */
struct profil_region_status {
	__aligned_u64 counted;
	__aligned_u64 clipped;
	__aligned_u64 lost;
	__aligned_u64 kernel;
	__u32 state;
	__u32 reserved;
};

/**
 * struct profil_counts - ticks by outcome
 * @ticks: all ticks; always @counted + @clipped + @outside + @lost + @left_out
 * @counted: ticks that are in the counters
 * @clipped: ticks that found their counter full
 * @outside: ticks that belong to no region that is on; also those of a process
 *	that exits or executes another program, once the kernel frees its memory
 * @lost: ticks whose counter could not be written: its page was not available
 *	within about a second (10 seconds while the program keeps its mappings
 *	locked, or while other works of the user wait), too many other counters
 *	waited for theirs, or its memory was freed first
 * @left_out: ticks in kernel mode under PROFIL_SET_USER_ONLY
 * @kernel: ticks in kernel mode, whatever their outcome
 */
struct profil_counts {
	__aligned_u64 ticks;
	__aligned_u64 counted;
	__aligned_u64 clipped;
	__aligned_u64 outside;
	__aligned_u64 lost;
	__aligned_u64 left_out;
	__aligned_u64 kernel;
};

/**
 * struct profil_status - argument of PROFIL_IOC_STATUS and PROFIL_IOC_STOP
 * @size: sizeof(struct profil_status), set by the caller
 * @state: enum profil_state
 * @flags: flags of the profile, PROFIL_SET_*
 * @width: bytes of a counter
 * @period_ns: true mean time between ticks, in nanoseconds of CPU time
 * @cpu_time_ns: CPU time covered, in nanoseconds: the time that the threads of
 *	this address space ran, in user and kernel mode, from the beginning of
 *	the profile until it ended, or until exit or exec freed the memory. It
 *	includes interrupts that arrived meanwhile, as the ticks do;
 *	getrusage(2) excludes them on kernels that account for them separately
 * @counts: ticks by outcome
 * @pending: ticks whose counter's page is still missing; not yet in @counts
 * @unfollowed: children that could not inherit the profile (no memory, or the
 *	user's limit of profiles)
 * @regions: in: address of an array of struct profil_region_status, or 0
 * @max_regions: in: number of elements of that array
 * @nr_regions: number of regions of the profile; the request writes the smaller
 *	of it and @max_regions elements
 *
 * A child that inherited the profile by fork starts from zero. All numbers are
 * from one consistent reading, except @cpu_time_ns, which is read just before.
 */
struct profil_status {
	__u32 size;
	__u32 state;
	__u32 flags;
	__u32 width;
	__aligned_u64 period_ns;
	__aligned_u64 cpu_time_ns;
	struct profil_counts counts;
	__aligned_u64 pending;
	__aligned_u64 unfollowed;
	__aligned_u64 regions;
	__u32 max_regions;
	__u32 nr_regions;
};

/**
 * enum profil_clock - source of ticks (module parameter clock)
 * @PROFIL_CLOCK_PERF: software cpu-clock counters of the perf subsystem
 * @PROFIL_CLOCK_HRTIMER: the module's own timers
 * @PROFIL_CLOCK_USER: none in the kernel: libprofil counts in user space. The
 *	device never reports it
 */
enum profil_clock {
	PROFIL_CLOCK_PERF = 0,
	PROFIL_CLOCK_HRTIMER = 1,
	PROFIL_CLOCK_USER = 2
};

/**
 * struct profil_info - argument of PROFIL_IOC_INFO
 * @size: sizeof(struct profil_info), set by the caller
 * @set_flags: every PROFIL_SET_* flag that the device supports
 * @clock: enum profil_clock: the clock in use, PROFIL_CLOCK_HRTIMER also if
 *	the kernel has no perf counter for the module
 * @max_regions: maximum number of regions of a profile (PROFIL_MAX)
 * @default_period_ns: period that a period_ns of 0 stands for, in nanoseconds
 * @fast_period_ns: period of IRIX's PROF_FAST
 * @min_period_ns: shortest period that a caller can request
 * @max_period_ns: longest period that a caller can request
 * @max_profiles: maximum number of profiles of one user at a time
 * @fast: 1 if periods shorter than 10 ms are allowed, else 0
 * @watch_flags: every PROFIL_WATCH_* flag that the device supports
 * @max_watch_kb: memory of the watches of a user without CAP_PERFMON, in KiB
 */
struct profil_info {
	__u32 size;
	__u32 set_flags;
	__u32 clock;
	__u32 max_regions;
	__aligned_u64 default_period_ns;
	__aligned_u64 fast_period_ns;
	__aligned_u64 min_period_ns;
	__aligned_u64 max_period_ns;
	__u32 max_profiles;
	__u32 fast;
	__u32 watch_flags;
	__u32 max_watch_kb;
};

/**
 * struct profil_account - argument of PROFIL_IOC_ACCOUNT
 * @size: sizeof(struct profil_account), set by the caller
 * @running: number of profiles that have not ended
 * @cpu_time_ns: CPU time covered by those that have ended, in nanoseconds
 * @counts: their ticks by outcome
 * @unfollowed: children that could not inherit a profile
 *
 * The account has every profile that PROFIL_IOC_SET started through a
 * descriptor of the same open file (shared by dup(2), fork(2) or a message on a
 * socket, but not by another open(2)), and every profile inherited from those
 * by fork. Each enters the account once, when it ends: by a stop, a
 * replacement, exec, exit or a signal. The profile of a process that ends is
 * in the account when the process can be waited for, unless others use its
 * memory at that moment: a reader of its files in /proc, or the device, if it
 * is just bringing in the page of a counter. All numbers are from one moment.
 */
struct profil_account {
	__u32 size;
	__u32 running;
	__aligned_u64 cpu_time_ns;
	struct profil_counts counts;
	__aligned_u64 unfollowed;
};

/**
 * enum profil_watch_target - whose ticks a watch counts
 * @PROFIL_WATCH_PROCESS: of the process with PID &struct profil_watch.id
 * @PROFIL_WATCH_USER: of every process whose real user ID is @id
 * @PROFIL_WATCH_CGROUP: of every process in the cgroup, or below it, whose
 *	directory (of version 2) is open as descriptor @id
 * @PROFIL_WATCH_MACHINE: of everything but idle CPUs; @id must be 0
 *
 * Belonging to a user or a cgroup is decided when the watch begins, at fork, at
 * exec, and when a process is moved to another cgroup.
 *
 * A caller without CAP_PERFMON (CAP_SYS_ADMIN before Linux 5.8) may watch the
 * processes that it may inspect: of its own user, with its own group, with no
 * more capabilities than its own, and dumpable; see PTRACE_MODE_READ_REALCREDS
 * in ptrace(2). It has no other processes in its watch: they count as
 * @withheld, but for those without a PID in its PID namespace. A program that it
 * may not inspect leaves the watch at exec, such as one with the set-user-ID bit.
 */
enum profil_watch_target {
	PROFIL_WATCH_PROCESS = 0,
	PROFIL_WATCH_USER = 1,
	PROFIL_WATCH_CGROUP = 2,
	PROFIL_WATCH_MACHINE = 3
};

/**
 * DOC: Flags of struct profil_watch
 *
 * PROFIL_WATCH_CHILDREN: with PROFIL_WATCH_PROCESS, also all processes that it
 * forks from now on, and that these fork.
 *
 * PROFIL_WATCH_AT_EXEC: with PROFIL_WATCH_PROCESS, begin when the process next
 * executes a program. What it forks before is not watched.
 *
 * PROFIL_WATCH_SEPARATE: an image for each process, each exec and each move to
 * another cgroup. Without this flag all processes that execute the same file under
 * the same name in the same cgroup share one.
 *
 * PROFIL_WATCH_KERNEL_TEXT: count ticks in kernel mode by address, too; needs
 * CAP_PERFMON.
 *
 * PROFIL_WATCH_CHAINS: count ticks by chain of callers: a bucket is a frame with
 * a caller, and the sum over all callers is what the bucket of a watch without
 * this flag has. Ticks in kernel mode are in buckets of PROFIL_OBJECT_KERNEL,
 * whose caller is the innermost frame in user mode. Their offset is 0 without
 * PROFIL_WATCH_KERNEL_TEXT. For as long as a walk of the stack has taken, no other
 * tick of that CPU walks one: ticks that fall meanwhile are counted with the next
 * one that does; or in the kernel, if another program is switched in before.
 * x86-64 only.
 *
 * PROFIL_WATCH_CALL_SITES: with PROFIL_WATCH_CHAINS, a caller's offset is that of
 * the last byte of its call. Without this flag it is where its function begins,
 * as far as the table for its file says, which needs fewer buckets.
 *
 * PROFIL_WATCH_WALL: count also the ticks that fall while a thread does not run.
 * Each thread has ticks of its own then, in its life instead of its CPU time. Those
 * in which it could run, but did not, are in a bucket of PROFIL_OBJECT_RUNNABLE,
 * the others in buckets of PROFIL_OBJECT_BLOCKED, by what it waits in, see enum
 * profil_wait. They are counted when the wait ends; until then the stats have
 * their number. With PROFIL_WATCH_CHAINS their caller is the innermost frame in
 * user mode. The ticks of a thread, of all kinds, are its life over the period,
 * within 2. No thread is woken or interrupted while it waits. Time for which the
 * system was suspended does not count. Threads of the kernel, and those that
 * io_uring and vhost have in a process, have ticks only while they run. Not for
 * PROFIL_WATCH_MACHINE.
 */
#define PROFIL_WATCH_CHILDREN		(1u << 0)
#define PROFIL_WATCH_AT_EXEC		(1u << 1)
#define PROFIL_WATCH_SEPARATE		(1u << 2)
#define PROFIL_WATCH_KERNEL_TEXT	(1u << 3)
#define PROFIL_WATCH_CHAINS		(1u << 4)
#define PROFIL_WATCH_CALL_SITES		(1u << 5)
#define PROFIL_WATCH_WALL		(1u << 6)

/* Most frames of a chain in user mode; the innermost ones are kept */
#define PROFIL_MAX_FRAMES		127

/**
 * struct profil_watch - argument of PROFIL_IOC_WATCH
 * @size: sizeof(struct profil_watch)
 * @flags: PROFIL_WATCH_*
 * @target: enum profil_watch_target
 * @id: which process, user or cgroup
 * @period_ns: mean time between ticks, as in &struct profil_set; 0 stands for
 *	fast_period_ns of &struct profil_info, or default_period_ns where fast
 *	is 0
 * @bucket_shift: binary logarithm of the bytes of text that a bucket counts,
 *	from 0 to 12
 * @processes: room for so many processes at a time, from 1 to 1048576. That of
 *	a process is free again some milliseconds after somebody waited for it
 * @images: room for so many images, from 2 to 1048576
 * @objects: room for so many objects, from 8 to 1048576
 * @buckets: room for so many buckets, from 64 to 16777216; rounded up to a
 *	power of two
 * @names: room for so many bytes of paths, from 4096 to 67108864
 * @map_size: bytes of the table, for mmap(2)
 * @threads: with PROFIL_WATCH_WALL, room for so many threads at a time, from 1 to
 *	1048576; must be 0 without
 * @reserved: must be 0
 *
 * 0 for any of @processes to @names, and for @threads with PROFIL_WATCH_WALL,
 * stands for a default. The request stores what it has used in @period_ns and in
 * these, and the result in @map_size. All memory is allocated at once and charged
 * to the caller's memory cgroup, on Linux 5.10 without what is mapped; the watch
 * never takes more, but for the tables of callers that are loaded. The last chains
 * of each possible CPU, 23 kilobytes, belong to all watches with chains together
 * and are charged to nobody.
 *
 * Errors, besides those of every request::
 *
 *   EINVAL      unknown flag or target; a flag that the target does not have;
 *               PROFIL_WATCH_CALL_SITES without PROFIL_WATCH_CHAINS; @threads
 *               without PROFIL_WATCH_WALL; @id, @period_ns or a size is out of
 *               range; @reserved is not 0
 *   EACCES      the period is shorter than 10 ms, and that is forbidden, see
 *               &struct profil_set; or the descriptor is not open for reading
 *   ESRCH       there is no process @id, or it is a zombie or about to be one
 *   EBADF       @id is not a descriptor of a cgroup of version 2
 *   EPERM       the caller may not inspect process @id, or the module parameter
 *               watch_scope forbids that; or the target is another user or the
 *               machine, or PROFIL_WATCH_KERNEL_TEXT was asked for, and the
 *               caller does not have CAP_PERFMON
 *   EBUSY       this open file has had a watch; or process @id is in another watch of
 *               one process; or the caller's user has another watch of many
 *               processes, whatever its target. Watches with CAP_PERFMON exclude
 *               each other, of all users, and no other ones
 *   EAGAIN      the watches of the user would have more memory than
 *               max_watch_kb allows
 *   ENOSPC      the target is a process, and the watches of the user have as many
 *               processes as max_profiles allows, or those of all users too many
 *               whose place in the module's table is the same, which is chance
 *   EUSERS      64 users without CAP_PERFMON have a watch of many processes
 *   EOPNOTSUPP  the target is a cgroup, and the kernel has none; or
 *               PROFIL_WATCH_CHAINS, on other than x86-64
 *   ENOMEM      no memory
 */
struct profil_watch {
	__u32 size;
	__u32 flags;
	__u32 target;
	__u32 id;
	__aligned_u64 period_ns;
	__u32 bucket_shift;
	__u32 processes;
	__u32 images;
	__u32 objects;
	__u32 buckets;
	__u32 names;
	__aligned_u64 map_size;
	__u32 threads;
	__u32 reserved;
};

/**
 * enum profil_chain_end - how the chain of a tick ended
 * @PROFIL_CHAIN_COMPLETE: with the outermost frame. Ticks of the kernel's own
 *	threads have no frame in user mode, and are complete
 * @PROFIL_CHAIN_NO_TABLE: in a file for which no table was loaded, or that has been
 *	written to since its table was loaded
 * @PROFIL_CHAIN_NO_RULE: in code for which the table has no rule; or in a 32-bit
 *	program, of which there is the innermost frame only
 * @PROFIL_CHAIN_ABSENT: where the stack is not in memory: its page is absent, or
 *	the chain leaves the mapping that the stack pointer points into, or signal
 *	handlers have led it to more stacks than the kernel looks up for a tick
 * @PROFIL_CHAIN_ASTRAY: where the next frame would not be above in the stack
 * @PROFIL_CHAIN_DEEP: after PROFIL_MAX_FRAMES frames, or frames in more mappings
 *	of code than the kernel looks up for a tick
 * @PROFIL_CHAIN_UNMAPPED: where the caller is not in executable memory
 * @PROFIL_CHAIN_NO_MEMORY: at the kernel: the process had given back its memory,
 *	or was getting other memory, in exit or exec
 * @PROFIL_CHAIN_BUSY: at the innermost frame, or at the kernel, or at the wait:
 *	mappings were just changing, or the tick is counted when its CPU switches
 *	tasks, or the CPU has found 16 chains of waits in this millisecond, or spent
 *	a quarter of it on them; or, of a wait that goes on, the process leaves the
 *	watch, or may not be inspected any more. Always on PREEMPT_RT, but for waits
 *	that PROFIL_IOC_WATCH_COLLECT or _STOP counts; and before Linux 6.1 of ticks
 *	in the kernel and of waits
 * @PROFIL_CHAIN_ENDS: number of these; later kernels may have more
 */
enum profil_chain_end {
	PROFIL_CHAIN_COMPLETE = 0,
	PROFIL_CHAIN_NO_TABLE = 1,
	PROFIL_CHAIN_NO_RULE = 2,
	PROFIL_CHAIN_ABSENT = 3,
	PROFIL_CHAIN_ASTRAY = 4,
	PROFIL_CHAIN_DEEP = 5,
	PROFIL_CHAIN_UNMAPPED = 6,
	PROFIL_CHAIN_NO_MEMORY = 7,
	PROFIL_CHAIN_BUSY = 8,
	PROFIL_CHAIN_ENDS = 9
};

/**
 * struct profil_watch_status - argument of PROFIL_IOC_WATCH_STATUS, _STOP and
 * _COLLECT
 * @size: sizeof(struct profil_watch_status), set by the caller
 * @state: PROFIL_STATE_ON, or PROFIL_STATE_OFF after a stop, and while one collects
 *	waits: those that it has not come to yet are in no number
 * @period_ns: true mean time between ticks, in nanoseconds of CPU time; with
 *	PROFIL_WATCH_WALL, of the life of a thread
 * @cpu_time_ns: CPU time covered, as in &struct profil_status
 * @ticks: all ticks of threads that ran; always @counted + @coarse + @kernel +
 *	@unresolved
 * @counted: ticks in user mode that are in a bucket
 * @coarse: ticks in user mode that found no room for a bucket or an object, and
 *	are in the total of the object, or of object 0
 * @kernel: ticks in kernel mode
 * @unresolved: ticks in user mode whose mapping could not be found
 * @pending: ticks whose mapping is still to be found; not yet in @ticks, but for
 *	one that is just being found, which may be in both or in neither
 * @withheld: processes that the caller may not inspect, since the watch began, or
 *	since they were forked, executed a program or were moved to another cgroup.
 *	In a watch of many processes, each further exec and move of one counts again
 * @unfollowed: processes that the watch lacks: it had no room for them; or they were
 *	in another watch of the same kind, of one process or of many, with
 *	CAP_PERFMON or without; or their rights could not be looked at when the
 *	watch began, or when they were moved. In a watch of many processes, each
 *	further exec and move of one counts again
 * @processes: processes that take up room now: also zombies, and those that have
 *	left the watch and not ended
 * @images: images in use
 * @objects: objects in use
 * @buckets: buckets in use
 * @names: bytes of paths in use
 * @tables: tables that PROFIL_IOC_WATCH_UNWIND has loaded
 * @chains: ticks by enum profil_chain_end; 0 without PROFIL_WATCH_CHAINS. When no
 *	tick comes any more, the sum is @ticks - @unresolved + @blocked + @runnable
 * @blocked: ticks of threads that waited for something, in waits that have ended
 *	or that PROFIL_IOC_WATCH_COLLECT has counted. Those that found no room for
 *	their bucket are among them
 * @runnable: the same of threads that waited for a CPU
 * @idle: those of @blocked that were in waits of a second or longer
 * @asleep_blocked: ticks of waits that go on, which are in no other number yet;
 *	those of a wait that ends just now may be in neither
 * @asleep_runnable: the same of threads that wait for a CPU
 * @threads: threads whose waits are followed now
 * @reserved: 0
 * @unfollowed_threads: threads that the watch had no room for, and those beyond the
 *	first 1024 of a process that joined by a move to another cgroup: their ticks
 *	fall only while they run. Threads without room count again when they execute
 *	a program, and when their process is moved
 *
 * @blocked and what follows is 0 without PROFIL_WATCH_WALL.
 */
struct profil_watch_status {
	__u32 size;
	__u32 state;
	__aligned_u64 period_ns;
	__aligned_u64 cpu_time_ns;
	__aligned_u64 ticks;
	__aligned_u64 counted;
	__aligned_u64 coarse;
	__aligned_u64 kernel;
	__aligned_u64 unresolved;
	__aligned_u64 pending;
	__aligned_u64 withheld;
	__aligned_u64 unfollowed;
	__u32 processes;
	__u32 images;
	__u32 objects;
	__u32 buckets;
	__u32 names;
	__u32 tables;
	__aligned_u64 chains[PROFIL_CHAIN_ENDS];
	__aligned_u64 blocked;
	__aligned_u64 runnable;
	__aligned_u64 idle;
	__aligned_u64 asleep_blocked;
	__aligned_u64 asleep_runnable;
	__u32 threads;
	__u32 reserved;
	__aligned_u64 unfollowed_threads;
};

/**
 * struct profil_watch_unwind - argument of PROFIL_IOC_WATCH_UNWIND
 * @size: sizeof(struct profil_watch_unwind)
 * @fd: descriptor of an executable or a library; -1 for the vDSO
 * @table: address of a table of callers, see struct profil_unwind_head
 * @bytes: its length, at most PROFIL_UNWIND_MAX
 *
 * The kernel copies the table. All watches of a user share the memory of equal
 * tables, which is charged once, with the memory of watches; one that is being
 * loaded is charged besides. It stays until the watch is gone.
 *
 * The table is used in this watch alone, and for the file as it is when the request
 * begins: once the file's modification time is another one, the file has no table,
 * also where it was mapped before, and the watch takes no other one for it. A wrong
 * table makes wrong chains in this watch, and nothing else.
 *
 * Errors, besides those of every request::
 *
 *   EINVAL  the open file has no watch with PROFIL_WATCH_CHAINS, or that has been
 *           stopped; @fd is not a regular file; the table is malformed, or longer
 *           than PROFIL_UNWIND_MAX
 *   EBADF   @fd is neither a descriptor nor -1
 *   EEXIST  the watch has a table for that file
 *   ENOSPC  the watch has no room for another object
 *   EAGAIN  the watches of the user would have more memory than max_watch_kb
 *           allows
 *   EFAULT  @table is not valid memory
 *   ENOMEM  no memory
 */
struct profil_watch_unwind {
	__u32 size;
	__s32 fd;
	__aligned_u64 table;
	__aligned_u64 bytes;
};

/**
 * DOC: The table of a watch
 *
 * mmap() of &struct profil_watch.map_size bytes of the open file, shared and
 * with PROT_READ, shows the table: struct profil_watch_table, and where that
 * says arrays of images, of objects and of buckets, and the paths. The mapping is
 * not inherited by fork.
 *
 * Anybody may read it at any time. Numbers only grow. An image or an object is
 * valid once its index is smaller than @nr_images or @nr_objects; a bucket once
 * its @object is not 0, and then all before it are valid, too; a path once @path is
 * not 0. Read these four with acquire semantics.
 *
 * Image 0 stands for all programs for which there was no room, object 0 for all
 * such objects.
 */
#define PROFIL_WATCH_VERSION	1

/**
 * struct profil_watch_table - the beginning of the table
 * @version: PROFIL_WATCH_VERSION
 * @bucket_shift: as requested
 * @nr_images: images in use, at least 1
 * @nr_objects: objects in use, at least PROFIL_OBJECT_FILES
 * @max_buckets: room for so many buckets; a power of two
 * @image_size: bytes from one image to the next
 * @object_size: bytes from one object to the next
 * @bucket_size: bytes from one bucket to the next
 * @images: offset in the table of the images
 * @objects: offset in the table of the objects
 * @buckets: offset in the table of the buckets
 * @names: offset in the table of the paths
 * @names_size: bytes of the paths, in use or not
 */
struct profil_watch_table {
	__u32 version;
	__u32 bucket_shift;
	__u32 nr_images;
	__u32 nr_objects;
	__u32 max_buckets;
	__u32 image_size;
	__u32 object_size;
	__u32 bucket_size;
	__aligned_u64 images;
	__aligned_u64 objects;
	__aligned_u64 buckets;
	__aligned_u64 names;
	__aligned_u64 names_size;
};

/* The image of all kernel threads */
#define PROFIL_IMAGE_KTHREADS	(1u << 0)

/**
 * struct profil_watch_image - a program, from exec, or a move to another cgroup, to
 *	the next one or the end
 * @parent: image of the process that forked the first process of this one, or
 *	that this process had before; 0 if that was not watched
 * @exe: object of the executed file; 0 if the program ran when the watch began
 * @pid: PID of the first process, in the PID namespace of the watch's creator;
 *	0 if it has none there
 * @flags: PROFIL_IMAGE_KTHREADS
 * @start_ns: when the first process got this image: by exec, by a move, by fork, or
 *	when the watch began; CLOCK_MONOTONIC
 * @cgroup: ID of the cgroup (version 2), the inode number of its directory
 * @cpu_time_ns: CPU time covered, up to the last context switch or status
 * @counted: ticks by outcome, as in &struct profil_watch_status
 * @coarse: the same
 * @kernel: the same
 * @unresolved: the same
 * @processes: processes that have had this image; one that gets it again, by
 *	another exec or a move, counts again
 * @uid: real user ID of the first process, in the user namespace of the watch's
 *	creator
 * @comm: name of the program, as in /proc/PID/comm
 * @blocked: ticks of threads that did not run, as in &struct profil_watch_status
 * @runnable: the same
 * @idle: the same
 */
struct profil_watch_image {
	__u32 parent;
	__u32 exe;
	__u32 pid;
	__u32 flags;
	__aligned_u64 start_ns;
	__aligned_u64 cgroup;
	__aligned_u64 cpu_time_ns;
	__aligned_u64 counted;
	__aligned_u64 coarse;
	__aligned_u64 kernel;
	__aligned_u64 unresolved;
	__u32 processes;
	__u32 uid;
	char comm[16];
	__aligned_u64 blocked;
	__aligned_u64 runnable;
	__aligned_u64 idle;
};

/*
 * Objects that are not files; those with an index from PROFIL_OBJECT_FILES on
 * are files. Offsets are addresses in PROFIL_OBJECT_ANONYMOUS, executable
 * memory without a file, and in PROFIL_OBJECT_KERNEL. In PROFIL_OBJECT_BLOCKED,
 * threads that wait for something, they are of enum profil_wait, and in
 * PROFIL_OBJECT_RUNNABLE, threads that wait for a CPU, 0; neither is shifted by
 * bucket_shift.
 */
#define PROFIL_OBJECT_VDSO	1
#define PROFIL_OBJECT_ANONYMOUS	2
#define PROFIL_OBJECT_KERNEL	3
#define PROFIL_OBJECT_BLOCKED	4
#define PROFIL_OBJECT_RUNNABLE	5
#define PROFIL_OBJECT_FILES	6

/**
 * enum profil_wait - what a thread waits in
 * @PROFIL_WAIT_UNKNOWN: not known
 * @PROFIL_WAIT_FAULT: a page fault or another exception
 * @PROFIL_WAIT_STOPPED: it is stopped, by a signal such as SIGSTOP
 * @PROFIL_WAIT_TRACED: it is stopped for another process, see ptrace(2)
 * @PROFIL_WAIT_SYSCALL: PROFIL_WAIT_SYSCALL + n: system call n, or on the way out
 *	of it
 * @PROFIL_WAIT_COMPAT: added if n is a number of a 32-bit program
 *
 * PROFIL_WAIT_LONG is added for a wait of a second or longer. Of a wait that
 * PROFIL_IOC_WATCH_COLLECT has counted before that, only the rest has it.
 */
enum profil_wait {
	PROFIL_WAIT_UNKNOWN = 0,
	PROFIL_WAIT_FAULT = 1,
	PROFIL_WAIT_STOPPED = 2,
	PROFIL_WAIT_TRACED = 3,
	PROFIL_WAIT_SYSCALL = 16,
	PROFIL_WAIT_COMPAT = 1 << 16
};

#define PROFIL_WAIT_LONG	(1u << 31)

/**
 * struct profil_watch_object - a mapped file
 * @device: number of the file system, as st_dev of stat(2) on most
 * @inode: inode number
 * @generation: generation of the inode number, where the file system has them
 * @path: offset in the paths of its path; 0 if it is not known yet, or there
 *	was no room. The path is as seen in its mount namespace, and may end in
 *	" (deleted)"
 * @pid: PID of a process that had it mapped, as &struct profil_watch_image.pid:
 *	/proc/PID/root leads to its mount namespace
 * @coarse: ticks that found no room for a bucket
 */
struct profil_watch_object {
	__aligned_u64 device;
	__aligned_u64 inode;
	__aligned_u64 generation;
	__u32 path;
	__u32 pid;
	__aligned_u64 coarse;
};

/* Instead of an index, in struct profil_watch_bucket */
#define PROFIL_CALLER_UNKNOWN	(~0u)

/**
 * struct profil_watch_bucket - ticks of a range of text
 * @image: index of the image
 * @object: index of the object; 0 if this bucket, and all after it, are not in use
 * @offset: offset in the file, or address, shifted right by bucket_shift; or
 *	enum profil_wait
 * @count: number of ticks
 * @caller: index of the bucket of the frame that called this one, counted from 1;
 *	0 if there is none; PROFIL_CALLER_UNKNOWN if the chain was cut here
 * @reserved: 0
 * @below: ticks of frames that this one called, or that these called, for which
 *	there was no bucket. Their outcome is coarse, kernel, blocked or runnable
 *
 * The last three are in tables of watches with PROFIL_WATCH_CHAINS only:
 * bucket_size is less without. A bucket there is a node of a tree: the same
 * range of text has one for each chain of callers. A caller is in the table
 * before what it called. @count has the ticks in the frame itself, and may be 0.
 */
struct profil_watch_bucket {
	__u32 image;
	__u32 object;
	__aligned_u64 offset;
	__aligned_u64 count;
	__u32 caller;
	__u32 reserved;
	__aligned_u64 below;
};

/**
 * DOC: Tables of callers
 *
 * A table of callers is what .eh_frame says about an x86-64 executable or
 * library, made small: for each range of its text, a rule that finds the
 * registers of the caller. Text is cut into blocks of 1 KiB. Tables are made in
 * user space; PROFIL_IOC_WATCH_UNWIND loads them.
 *
 * A table is struct profil_unwind_head, and behind it
 *
 *   struct profil_unwind_index [blocks + 1]: where rows and functions of each
 *   block begin, and, last, where those of the last block end;
 *
 *   __u32 [functions]: where each function begins, in bytes from the start;
 *
 *   struct profil_unwind_row [rows], and padding to a multiple of 8 bytes;
 *
 *   struct profil_unwind_rule [rules].
 *
 * Functions and rows ascend, and are in their block. A row holds up to the next
 * one, which may be in a later block.
 */
#define PROFIL_UNWIND_SHIFT	10
#define PROFIL_UNWIND_BLOCK	(1u << PROFIL_UNWIND_SHIFT)

/* Most bytes of a table */
#define PROFIL_UNWIND_MAX	(64u << 20)

/**
 * enum profil_unwind_cfa - where the caller's stack pointer is
 * @PROFIL_UNWIND_NO_CODE: no code is known here
 * @PROFIL_UNWIND_NO_RULE: nowhere that a rule can say
 * @PROFIL_UNWIND_OUTERMOST: there is no caller
 * @PROFIL_UNWIND_SP: @offset above the stack pointer
 * @PROFIL_UNWIND_BP: @offset above the base pointer
 * @PROFIL_UNWIND_BX: @offset above register rbx
 * @PROFIL_UNWIND_AT_SP: @add words above what is stored @offset above the stack
 *	pointer
 * @PROFIL_UNWIND_AT_BP: the same above the base pointer
 * @PROFIL_UNWIND_PLT: a word above the stack pointer; one more in the last
 *	bytes of an entry of 16 bytes of a procedure linkage table, from byte
 *	@offset on
 * @PROFIL_UNWIND_SIGNAL: in the signal frame at the stack pointer
 * @PROFIL_UNWIND_REGISTER: @offset above the stack pointer, and the return
 *	address is in register rdi, as in vfork()
 * @PROFIL_UNWIND_FRAME: as PROFIL_UNWIND_BP, but there is no caller if the base
 *	pointer is 0: for code with frame pointers, and without .eh_frame
 * @PROFIL_UNWIND_NR_CFA: number of these
 *
 * The caller's stack pointer is the canonical frame address (CFA) of DWARF. The
 * return address is in the word below it.
 */
enum profil_unwind_cfa {
	PROFIL_UNWIND_NO_CODE = 0,
	PROFIL_UNWIND_NO_RULE = 1,
	PROFIL_UNWIND_OUTERMOST = 2,
	PROFIL_UNWIND_SP = 3,
	PROFIL_UNWIND_BP = 4,
	PROFIL_UNWIND_BX = 5,
	PROFIL_UNWIND_AT_SP = 6,
	PROFIL_UNWIND_AT_BP = 7,
	PROFIL_UNWIND_PLT = 8,
	PROFIL_UNWIND_SIGNAL = 9,
	PROFIL_UNWIND_REGISTER = 10,
	PROFIL_UNWIND_FRAME = 11,
	PROFIL_UNWIND_NR_CFA = 12
};

/* Instead of a number of words, in struct profil_unwind_rule */
#define PROFIL_UNWIND_SAME	0
#define PROFIL_UNWIND_LOST	255
/* Of @bp alone: in the word that the base pointer points to */
#define PROFIL_UNWIND_CHAINED	254

/**
 * struct profil_unwind_rule - how to find the caller
 * @cfa: enum profil_unwind_cfa
 * @bp: the caller's base pointer is so many words below the CFA;
 *	or PROFIL_UNWIND_SAME, PROFIL_UNWIND_LOST, PROFIL_UNWIND_CHAINED
 * @bx: the same of register rbx, never PROFIL_UNWIND_CHAINED
 * @add: see enum profil_unwind_cfa; 0 with others
 * @offset: see enum profil_unwind_cfa, in bytes; 0 with others
 */
struct profil_unwind_rule {
	__u8 cfa;
	__u8 bp;
	__u8 bx;
	__u8 add;
	__s32 offset;
};

/**
 * struct profil_unwind_row - where a rule begins to hold
 * @low: offset in the block
 * @rule: its index; where there is no such rule, the first one holds
 */
struct profil_unwind_row {
	__u16 low;
	__u16 rule;
};

/**
 * struct profil_unwind_index - what begins in a block or after it
 * @row: index of the first row
 * @function: index of the first function
 */
struct profil_unwind_index {
	__u32 row;
	__u32 function;
};

/**
 * struct profil_unwind_head - the beginning of a table
 * @start: offset in the file of the first block, a multiple of its size
 * @blocks: number of blocks
 * @functions: number of functions
 * @rows: number of rows
 * @rules: number of rules, from 1 to 65536
 *
 * No table has more than 2 GiB of text.
 */
struct profil_unwind_head {
	__aligned_u64 start;
	__u32 blocks;
	__u32 functions;
	__u32 rows;
	__u32 rules;
};

#endif /* _LINUX_PROFIL_H */
