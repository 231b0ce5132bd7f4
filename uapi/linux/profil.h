/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note OR MIT */
/*
 * profil.h - the interface of /dev/profil
 *
 * Every request but PROFIL_IOC_ACCOUNT acts on the address space of the caller
 * and on nothing else. A profile belongs to that address space, not to the
 * descriptor: the descriptor may be closed as soon as the request has returned.
 *
 * Every structure starts with its own size. A caller that was compiled with a
 * shorter structure than the kernel's gets the behaviour of its own day; one
 * that was compiled with a longer structure is served as long as everything
 * that the kernel does not know is zero, and gets E2BIG otherwise. Results are
 * cut to the size that the caller gave; what the kernel does not know is
 * filled with zeros.
 *
 * Errors of every request:
 *
 *   EFAULT  the argument is not readable or, for results, not writable; of a
 *           status or an info, what is writable may have been written then
 *   EINVAL  @size is smaller than the first version of the structure
 *   E2BIG   @size is larger than the kernel's and the excess is not zero, or
 *           larger than a page
 *   EINTR   a fatal signal arrived while the request waited
 *   ENOTTY  there is no such request
 *
 * Nothing has changed when a request fails, with one exception that is told at
 * PROFIL_SET_CHECK.
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
 * runs. When it returns, the counters of a replaced profile are not written
 * any more.
 *
 * PROFIL_IOC_STOP (struct profil_status, or 0): stop the profile; returns 0
 * when there was none. With an argument it gives the last statistics of what
 * was stopped. When it returns, the counters are not written any more.
 *
 * PROFIL_IOC_STATUS (struct profil_status): how the profile is doing.
 *
 * PROFIL_IOC_INFO (struct profil_info): features and limits of the device.
 *
 * PROFIL_IOC_ACCOUNT (struct profil_account): what the profiles that were begun
 * by this open file of the device came to. It is for those who watch others:
 * whoever was killed cannot be asked any more.
 */
#define PROFIL_IOC_SET		_IO(PROFIL_IOC_TYPE, 0)
#define PROFIL_IOC_STOP		_IO(PROFIL_IOC_TYPE, 1)
#define PROFIL_IOC_STATUS	_IO(PROFIL_IOC_TYPE, 2)
#define PROFIL_IOC_INFO		_IO(PROFIL_IOC_TYPE, 3)
#define PROFIL_IOC_ACCOUNT	_IO(PROFIL_IOC_TYPE, 4)

/**
 * struct profil_region - a range of program text and its counters
 * @base: address of the first counter; a multiple of the counter's width
 * @size: length of the counters in bytes; what is left over when it is not a
 *	multiple of the counter's width is never written. Less than one
 *	counter: the region takes no tick
 * @offset: lowest program counter of the region
 * @scale: 16.16 fixed-point ratio. With d = pc - @offset and W the width of a
 *	counter, a tick at pc increments bin ((d / W) * @scale) / 65536, if
 *	there is such a bin. From 2 to 65536 * W; 0 and 1 leave the region
 *	disabled. A region with @offset 0 and @scale 2 is the overflow bin: its
 *	first counter takes every tick that no other region took; but see
 *	PROFIL_SET_NO_OVERFLOW
 *
 * The layout is that of the C library's struct prof on 64-bit systems. From
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
 * of the caller; their pages need not be present. Otherwise the request fails
 * with EFAULT and *the profile that was running is stopped* (4.4BSD). Without
 * this flag such a region goes off at its first tick (System V, IRIX).
 *
 * PROFIL_SET_USER_ONLY: leave out ticks in kernel mode. They are still
 * reported. Without this flag they count at the user's program counter.
 *
 * PROFIL_SET_SVR4_ARITH: the bin is ((d * scale) >> 16) / W, as in System V.
 *
 * PROFIL_SET_SVR4_STOP: the profile stops for good when a counter reaches
 * 32767 (System V). 16-bit counters only. Without this flag a counter that is
 * full stays full, the others go on, and the clipped ticks are reported.
 *
 * PROFIL_SET_SCALE_ONE: a scale of 1 is valid (4.4BSD).
 *
 * PROFIL_SET_OVERFLOW_ANYWHERE: the overflow bin need not be the last region
 * (the GNU C library). Of several the first one counts.
 *
 * PROFIL_SET_NO_OVERFLOW: there is no overflow bin. A region with an offset of
 * 0 and a scale of 2 is as any other, one counter for 64 KiB of text with
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
 * @period_ns: wanted mean time between ticks in nanoseconds of CPU time, from
 *	&struct profil_info.min_period_ns to max_period_ns; 0 asks for
 *	default_period_ns. The request writes the true mean period here
 * @timeval: address of a struct timeval that receives the true mean period
 *	too, or 0; as for the other results, it is written only on success
 * @timeval_size: bytes of that struct timeval: 8 (two signed 32-bit numbers)
 *	or 16 (two signed 64-bit numbers); 0 if @timeval is 0
 * @reserved: must be 0
 *
 * Errors:
 *
 *   E2BIG   @nr_regions is 0 or more than max_regions
 *   EINVAL  unknown flag; @width or @timeval_size is not as said above;
 *           @reserved is not 0; @period_ns is out of range; a scale is too
 *           large; a base is not aligned; the overflow bin is not the last
 *           region; PROFIL_SET_SVR4_STOP with counters that are not 16-bit
 *   EACCES  ticks this fast have been forbidden (module parameter
 *           restrict_fastprof), or the hardware has no timers fine enough,
 *           or the descriptor is not open for reading
 *   EFAULT  @regions, @timeval or, with PROFIL_SET_CHECK, counters are not
 *           valid memory
 *   EAGAIN  the user has as many profiles as allowed (max_profiles)
 *   ENOMEM  no memory
 *   EPERM   the caller is a kernel thread or has no address space of its own
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
 * @PROFIL_STATE_ON: every tick is taken
 * @PROFIL_STATE_FULL: stopped because a counter reached 32767
 *	(PROFIL_SET_SVR4_STOP)
 */
enum profil_state {
	PROFIL_STATE_OFF = 0,
	PROFIL_STATE_ON = 1,
	PROFIL_STATE_FULL = 2
};

/**
 * enum profil_region_state - state of a region, and why it is off
 * @PROFIL_REGION_ON: it takes ticks
 * @PROFIL_REGION_DISABLED: off, its scale is 0 or 1
 * @PROFIL_REGION_EMPTY: off, its size has no room for one counter
 * @PROFIL_REGION_UNMAPPED: off, a counter was not in mapped memory
 * @PROFIL_REGION_READONLY: off, a counter was not in writable memory
 * @PROFIL_REGION_NOPAGE: off, there was no page to be had for a counter (a
 *	truncated file, an unreadable disk)
 * @PROFIL_REGION_DEVICE: off, the counters are in memory of a device
 * @PROFIL_REGION_FILE: off, the counters are in a mapping of a file whose file
 *	system may block the writer: shared, on other than tmpfs, or on FUSE
 *
 * A region that is off stays off. Its ticks go to the overflow bin, if there
 * is one, and count as outside otherwise.
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
 * struct profil_region_status - what became of the ticks of a region
 * @counted: ticks that are in its counters
 * @clipped: ticks that found their counter full
 * @lost: ticks whose counter could not be written
 * @kernel: ticks taken in kernel mode, whatever became of them; those that are
 *	left out belong to no region
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
 * struct profil_status - argument of PROFIL_IOC_STATUS and PROFIL_IOC_STOP
 * @size: sizeof(struct profil_status), set by the caller
 * @state: enum profil_state
 * @flags: flags of the profile, PROFIL_SET_*
 * @width: bytes of a counter
 * @period_ns: true mean time between ticks
 * @cpu_time_ns: CPU time covered: what the threads of this address space ran,
 *	in user and kernel mode, since the profile began here. Interrupts that
 *	came meanwhile are among it, as they are among the ticks; getrusage(2)
 *	leaves them out on kernels that account for them apart
 * @ticks: ticks settled; always @counted + @clipped + @outside + @lost +
 *	@left_out
 * @counted: ticks that are in the counters
 * @clipped: ticks that found their counter full
 * @outside: ticks that belong to no region that is on; also those of a process
 *	that has ended while the kernel gives back its memory
 * @lost: ticks whose counter could not be written
 * @left_out: ticks in kernel mode under PROFIL_SET_USER_ONLY
 * @kernel: ticks taken in kernel mode, whatever became of them
 * @pending: ticks taken whose counter is still being brought into memory; not
 *	yet among @ticks
 * @unfollowed: children that could not inherit the profile (no memory, or the
 *	user's limit of profiles)
 * @regions: in: address of an array of struct profil_region_status, or 0
 * @max_regions: in: room of that array
 * @nr_regions: number of regions of the profile; the smaller of it and
 *	@max_regions entries have been written
 *
 * A child that inherited the profile by fork starts from zero. All numbers
 * are one consistent reading, except @cpu_time_ns, which is read just before.
 */
struct profil_status {
	__u32 size;
	__u32 state;
	__u32 flags;
	__u32 width;
	__aligned_u64 period_ns;
	__aligned_u64 cpu_time_ns;
	__aligned_u64 ticks;
	__aligned_u64 counted;
	__aligned_u64 clipped;
	__aligned_u64 outside;
	__aligned_u64 lost;
	__aligned_u64 left_out;
	__aligned_u64 kernel;
	__aligned_u64 pending;
	__aligned_u64 unfollowed;
	__aligned_u64 regions;
	__u32 max_regions;
	__u32 nr_regions;
};

/**
 * enum profil_clock - what makes the ticks (module parameter clock)
 * @PROFIL_CLOCK_PERF: software cpu-clock counters of the perf subsystem
 * @PROFIL_CLOCK_HRTIMER: timers of the module's own
 */
enum profil_clock {
	PROFIL_CLOCK_PERF = 0,
	PROFIL_CLOCK_HRTIMER = 1
};

/**
 * struct profil_info - argument of PROFIL_IOC_INFO
 * @size: sizeof(struct profil_info), set by the caller
 * @set_flags: every PROFIL_SET_* flag that the device knows
 * @clock: enum profil_clock
 * @max_regions: the most regions of a profile (PROFIL_MAX)
 * @default_period_ns: period of a request that asks for 0
 * @fast_period_ns: period of IRIX's PROF_FAST
 * @min_period_ns: shortest period that can be asked for
 * @max_period_ns: longest period that can be asked for
 * @max_profiles: the most profiles of one user at a time
 * @fast: 1 if periods shorter than @default_period_ns are allowed, else 0
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
};

/**
 * struct profil_account - argument of PROFIL_IOC_ACCOUNT
 * @size: sizeof(struct profil_account), set by the caller
 * @running: profiles that have not ended
 * @cpu_time_ns: CPU time that the others covered
 * @ticks: their ticks; always @counted + @clipped + @outside + @lost +
 *	@left_out
 * @counted: ticks that are in the counters
 * @clipped: ticks that found their counter full
 * @outside: ticks that belong to no region that was on; also those of processes
 *	that had ended while the kernel gave back their memory
 * @lost: ticks whose counter could not be written
 * @left_out: ticks in kernel mode under PROFIL_SET_USER_ONLY
 * @kernel: ticks taken in kernel mode, whatever became of them
 * @unfollowed: children that could not inherit a profile
 *
 * The profiles are those that PROFIL_IOC_SET began by a descriptor of the same
 * open file (by dup(2), fork(2) or a message on a socket, but not by another
 * open(2)), and those that were inherited from them by fork. Each is entered
 * once, whichever way it ends: by a stop, a replacement, exec, exit or a signal.
 * One that ends with its process is there when that can be waited for, unless
 * somebody else still uses the memory of the process: ticks on their way to
 * their counters do, for some milliseconds, and so does who looks at it in
 * /proc. All numbers are of one moment.
 */
struct profil_account {
	__u32 size;
	__u32 running;
	__aligned_u64 cpu_time_ns;
	__aligned_u64 ticks;
	__aligned_u64 counted;
	__aligned_u64 clipped;
	__aligned_u64 outside;
	__aligned_u64 lost;
	__aligned_u64 left_out;
	__aligned_u64 kernel;
	__aligned_u64 unfollowed;
};

#endif /* _LINUX_PROFIL_H */
