/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * abi.h - the layout of <linux/profil.h> is the same for every compiler
 *
 * Nothing to run: compilation fails if a size, an offset or a number differs.
 * abi.sh compiles this file alone, as C90, as C++ and for 32 bits. It includes
 * <linux/profil.h> first to show that this needs no other header.
 */
#include <linux/profil.h>

#include <stddef.h>

#define SAME(name, number, value) \
	typedef char same_##name[(number) == (value) ? 1 : -1]
#define SIZE(type, value) \
	SAME(size_##type, sizeof(struct type), value)
#define FIELD(type, field, offset, width) \
	SAME(type##_##field, offsetof(struct type, field) == (offset) && \
	     sizeof(((struct type *)0)->field) == (width), 1)

SIZE(profil_region, 32);
FIELD(profil_region, base, 0, 8);
FIELD(profil_region, size, 8, 8);
FIELD(profil_region, offset, 16, 8);
FIELD(profil_region, scale, 24, 8);

SIZE(profil_set, 48);
FIELD(profil_set, size, 0, 4);
FIELD(profil_set, flags, 4, 4);
FIELD(profil_set, width, 8, 4);
FIELD(profil_set, nr_regions, 12, 4);
FIELD(profil_set, regions, 16, 8);
FIELD(profil_set, period_ns, 24, 8);
FIELD(profil_set, timeval, 32, 8);
FIELD(profil_set, timeval_size, 40, 4);
FIELD(profil_set, reserved, 44, 4);

SIZE(profil_region_status, 40);
FIELD(profil_region_status, counted, 0, 8);
FIELD(profil_region_status, clipped, 8, 8);
FIELD(profil_region_status, lost, 16, 8);
FIELD(profil_region_status, kernel, 24, 8);
FIELD(profil_region_status, state, 32, 4);
FIELD(profil_region_status, reserved, 36, 4);

SIZE(profil_counts, 56);
FIELD(profil_counts, ticks, 0, 8);
FIELD(profil_counts, counted, 8, 8);
FIELD(profil_counts, clipped, 16, 8);
FIELD(profil_counts, outside, 24, 8);
FIELD(profil_counts, lost, 32, 8);
FIELD(profil_counts, left_out, 40, 8);
FIELD(profil_counts, kernel, 48, 8);

SIZE(profil_status, 120);
FIELD(profil_status, size, 0, 4);
FIELD(profil_status, state, 4, 4);
FIELD(profil_status, flags, 8, 4);
FIELD(profil_status, width, 12, 4);
FIELD(profil_status, period_ns, 16, 8);
FIELD(profil_status, cpu_time_ns, 24, 8);
FIELD(profil_status, counts, 32, 56);
FIELD(profil_status, pending, 88, 8);
FIELD(profil_status, unfollowed, 96, 8);
FIELD(profil_status, regions, 104, 8);
FIELD(profil_status, max_regions, 112, 4);
FIELD(profil_status, nr_regions, 116, 4);

SIZE(profil_info, 64);
FIELD(profil_info, size, 0, 4);
FIELD(profil_info, set_flags, 4, 4);
FIELD(profil_info, clock, 8, 4);
FIELD(profil_info, max_regions, 12, 4);
FIELD(profil_info, default_period_ns, 16, 8);
FIELD(profil_info, fast_period_ns, 24, 8);
FIELD(profil_info, min_period_ns, 32, 8);
FIELD(profil_info, max_period_ns, 40, 8);
FIELD(profil_info, max_profiles, 48, 4);
FIELD(profil_info, fast, 52, 4);
FIELD(profil_info, watch_flags, 56, 4);
FIELD(profil_info, max_watch_kb, 60, 4);

SIZE(profil_account, 80);
FIELD(profil_account, size, 0, 4);
FIELD(profil_account, running, 4, 4);
FIELD(profil_account, cpu_time_ns, 8, 8);
FIELD(profil_account, counts, 16, 56);
FIELD(profil_account, unfollowed, 72, 8);

SIZE(profil_watch, 64);
FIELD(profil_watch, size, 0, 4);
FIELD(profil_watch, flags, 4, 4);
FIELD(profil_watch, target, 8, 4);
FIELD(profil_watch, id, 12, 4);
FIELD(profil_watch, period_ns, 16, 8);
FIELD(profil_watch, bucket_shift, 24, 4);
FIELD(profil_watch, processes, 28, 4);
FIELD(profil_watch, images, 32, 4);
FIELD(profil_watch, objects, 36, 4);
FIELD(profil_watch, buckets, 40, 4);
FIELD(profil_watch, names, 44, 4);
FIELD(profil_watch, map_size, 48, 8);
FIELD(profil_watch, threads, 56, 4);
FIELD(profil_watch, reserved, 60, 4);

SIZE(profil_watch_status, 240);
FIELD(profil_watch_status, size, 0, 4);
FIELD(profil_watch_status, state, 4, 4);
FIELD(profil_watch_status, period_ns, 8, 8);
FIELD(profil_watch_status, cpu_time_ns, 16, 8);
FIELD(profil_watch_status, ticks, 24, 8);
FIELD(profil_watch_status, counted, 32, 8);
FIELD(profil_watch_status, coarse, 40, 8);
FIELD(profil_watch_status, kernel, 48, 8);
FIELD(profil_watch_status, unresolved, 56, 8);
FIELD(profil_watch_status, pending, 64, 8);
FIELD(profil_watch_status, withheld, 72, 8);
FIELD(profil_watch_status, unfollowed, 80, 8);
FIELD(profil_watch_status, processes, 88, 4);
FIELD(profil_watch_status, images, 92, 4);
FIELD(profil_watch_status, objects, 96, 4);
FIELD(profil_watch_status, buckets, 100, 4);
FIELD(profil_watch_status, names, 104, 4);
FIELD(profil_watch_status, tables, 108, 4);
FIELD(profil_watch_status, chains, 112, 72);
FIELD(profil_watch_status, blocked, 184, 8);
FIELD(profil_watch_status, runnable, 192, 8);
FIELD(profil_watch_status, idle, 200, 8);
FIELD(profil_watch_status, asleep_blocked, 208, 8);
FIELD(profil_watch_status, asleep_runnable, 216, 8);
FIELD(profil_watch_status, threads, 224, 4);
FIELD(profil_watch_status, reserved, 228, 4);
FIELD(profil_watch_status, unfollowed_threads, 232, 8);

SIZE(profil_watch_unwind, 24);
FIELD(profil_watch_unwind, size, 0, 4);
FIELD(profil_watch_unwind, fd, 4, 4);
FIELD(profil_watch_unwind, table, 8, 8);
FIELD(profil_watch_unwind, bytes, 16, 8);

SIZE(profil_watch_table, 72);
FIELD(profil_watch_table, version, 0, 4);
FIELD(profil_watch_table, bucket_shift, 4, 4);
FIELD(profil_watch_table, nr_images, 8, 4);
FIELD(profil_watch_table, nr_objects, 12, 4);
FIELD(profil_watch_table, max_buckets, 16, 4);
FIELD(profil_watch_table, image_size, 20, 4);
FIELD(profil_watch_table, object_size, 24, 4);
FIELD(profil_watch_table, bucket_size, 28, 4);
FIELD(profil_watch_table, images, 32, 8);
FIELD(profil_watch_table, objects, 40, 8);
FIELD(profil_watch_table, buckets, 48, 8);
FIELD(profil_watch_table, names, 56, 8);
FIELD(profil_watch_table, names_size, 64, 8);

SIZE(profil_watch_image, 120);
FIELD(profil_watch_image, parent, 0, 4);
FIELD(profil_watch_image, exe, 4, 4);
FIELD(profil_watch_image, pid, 8, 4);
FIELD(profil_watch_image, flags, 12, 4);
FIELD(profil_watch_image, start_ns, 16, 8);
FIELD(profil_watch_image, cgroup, 24, 8);
FIELD(profil_watch_image, cpu_time_ns, 32, 8);
FIELD(profil_watch_image, counted, 40, 8);
FIELD(profil_watch_image, coarse, 48, 8);
FIELD(profil_watch_image, kernel, 56, 8);
FIELD(profil_watch_image, unresolved, 64, 8);
FIELD(profil_watch_image, processes, 72, 4);
FIELD(profil_watch_image, uid, 76, 4);
FIELD(profil_watch_image, comm, 80, 16);
FIELD(profil_watch_image, blocked, 96, 8);
FIELD(profil_watch_image, runnable, 104, 8);
FIELD(profil_watch_image, idle, 112, 8);

SIZE(profil_watch_object, 40);
FIELD(profil_watch_object, device, 0, 8);
FIELD(profil_watch_object, inode, 8, 8);
FIELD(profil_watch_object, generation, 16, 8);
FIELD(profil_watch_object, path, 24, 4);
FIELD(profil_watch_object, pid, 28, 4);
FIELD(profil_watch_object, coarse, 32, 8);

SIZE(profil_watch_bucket, 40);
FIELD(profil_watch_bucket, image, 0, 4);
FIELD(profil_watch_bucket, object, 4, 4);
FIELD(profil_watch_bucket, offset, 8, 8);
FIELD(profil_watch_bucket, count, 16, 8);
FIELD(profil_watch_bucket, caller, 24, 4);
FIELD(profil_watch_bucket, reserved, 28, 4);
FIELD(profil_watch_bucket, below, 32, 8);

SIZE(profil_unwind_head, 24);
FIELD(profil_unwind_head, start, 0, 8);
FIELD(profil_unwind_head, blocks, 8, 4);
FIELD(profil_unwind_head, functions, 12, 4);
FIELD(profil_unwind_head, rows, 16, 4);
FIELD(profil_unwind_head, rules, 20, 4);

SIZE(profil_unwind_index, 8);
FIELD(profil_unwind_index, row, 0, 4);
FIELD(profil_unwind_index, function, 4, 4);

SIZE(profil_unwind_row, 4);
FIELD(profil_unwind_row, low, 0, 2);
FIELD(profil_unwind_row, rule, 2, 2);

SIZE(profil_unwind_rule, 8);
FIELD(profil_unwind_rule, cfa, 0, 1);
FIELD(profil_unwind_rule, bp, 1, 1);
FIELD(profil_unwind_rule, bx, 2, 1);
FIELD(profil_unwind_rule, add, 3, 1);
FIELD(profil_unwind_rule, offset, 4, 4);

SAME(ioc_set, PROFIL_IOC_SET, 0xbd00);
SAME(ioc_stop, PROFIL_IOC_STOP, 0xbd01);
SAME(ioc_status, PROFIL_IOC_STATUS, 0xbd02);
SAME(ioc_info, PROFIL_IOC_INFO, 0xbd03);
SAME(ioc_account, PROFIL_IOC_ACCOUNT, 0xbd04);
SAME(ioc_watch, PROFIL_IOC_WATCH, 0xbd05);
SAME(ioc_watch_status, PROFIL_IOC_WATCH_STATUS, 0xbd06);
SAME(ioc_watch_stop, PROFIL_IOC_WATCH_STOP, 0xbd07);
SAME(ioc_watch_unwind, PROFIL_IOC_WATCH_UNWIND, 0xbd08);
SAME(ioc_watch_collect, PROFIL_IOC_WATCH_COLLECT, 0xbd09);

SAME(check, PROFIL_SET_CHECK, 0x1);
SAME(user_only, PROFIL_SET_USER_ONLY, 0x2);
SAME(svr4_arith, PROFIL_SET_SVR4_ARITH, 0x4);
SAME(svr4_stop, PROFIL_SET_SVR4_STOP, 0x8);
SAME(scale_one, PROFIL_SET_SCALE_ONE, 0x10);
SAME(overflow_anywhere, PROFIL_SET_OVERFLOW_ANYWHERE, 0x20);
SAME(no_overflow, PROFIL_SET_NO_OVERFLOW, 0x40);

SAME(off, PROFIL_STATE_OFF, 0);
SAME(on, PROFIL_STATE_ON, 1);
SAME(full, PROFIL_STATE_FULL, 2);

SAME(region_on, PROFIL_REGION_ON, 0);
SAME(region_disabled, PROFIL_REGION_DISABLED, 1);
SAME(region_empty, PROFIL_REGION_EMPTY, 2);
SAME(region_unmapped, PROFIL_REGION_UNMAPPED, 3);
SAME(region_readonly, PROFIL_REGION_READONLY, 4);
SAME(region_nopage, PROFIL_REGION_NOPAGE, 5);
SAME(region_device, PROFIL_REGION_DEVICE, 6);
SAME(region_file, PROFIL_REGION_FILE, 7);

SAME(clock_perf, PROFIL_CLOCK_PERF, 0);
SAME(clock_hrtimer, PROFIL_CLOCK_HRTIMER, 1);

SAME(process, PROFIL_WATCH_PROCESS, 0);
SAME(user, PROFIL_WATCH_USER, 1);
SAME(cgroup, PROFIL_WATCH_CGROUP, 2);
SAME(machine, PROFIL_WATCH_MACHINE, 3);

SAME(children, PROFIL_WATCH_CHILDREN, 0x1);
SAME(at_exec, PROFIL_WATCH_AT_EXEC, 0x2);
SAME(separate, PROFIL_WATCH_SEPARATE, 0x4);
SAME(kernel_text, PROFIL_WATCH_KERNEL_TEXT, 0x8);
SAME(chains, PROFIL_WATCH_CHAINS, 0x10);
SAME(call_sites, PROFIL_WATCH_CALL_SITES, 0x20);
SAME(wall, PROFIL_WATCH_WALL, 0x40);
SAME(frames, PROFIL_MAX_FRAMES, 127);
SAME(unknown, PROFIL_CALLER_UNKNOWN, 0xffffffff);

SAME(chain_complete, PROFIL_CHAIN_COMPLETE, 0);
SAME(chain_no_table, PROFIL_CHAIN_NO_TABLE, 1);
SAME(chain_no_rule, PROFIL_CHAIN_NO_RULE, 2);
SAME(chain_absent, PROFIL_CHAIN_ABSENT, 3);
SAME(chain_astray, PROFIL_CHAIN_ASTRAY, 4);
SAME(chain_deep, PROFIL_CHAIN_DEEP, 5);
SAME(chain_unmapped, PROFIL_CHAIN_UNMAPPED, 6);
SAME(chain_no_memory, PROFIL_CHAIN_NO_MEMORY, 7);
SAME(chain_busy, PROFIL_CHAIN_BUSY, 8);
SAME(chain_ends, PROFIL_CHAIN_ENDS, 9);

SAME(cfa_no_code, PROFIL_UNWIND_NO_CODE, 0);
SAME(cfa_no_rule, PROFIL_UNWIND_NO_RULE, 1);
SAME(cfa_outermost, PROFIL_UNWIND_OUTERMOST, 2);
SAME(cfa_sp, PROFIL_UNWIND_SP, 3);
SAME(cfa_bp, PROFIL_UNWIND_BP, 4);
SAME(cfa_bx, PROFIL_UNWIND_BX, 5);
SAME(cfa_at_sp, PROFIL_UNWIND_AT_SP, 6);
SAME(cfa_at_bp, PROFIL_UNWIND_AT_BP, 7);
SAME(cfa_plt, PROFIL_UNWIND_PLT, 8);
SAME(cfa_signal, PROFIL_UNWIND_SIGNAL, 9);
SAME(cfa_register, PROFIL_UNWIND_REGISTER, 10);
SAME(cfa_frame, PROFIL_UNWIND_FRAME, 11);
SAME(same, PROFIL_UNWIND_SAME, 0);
SAME(chained, PROFIL_UNWIND_CHAINED, 254);
SAME(lost, PROFIL_UNWIND_LOST, 255);
SAME(block, PROFIL_UNWIND_BLOCK, 1024);

SAME(version, PROFIL_WATCH_VERSION, 1);
SAME(kthreads, PROFIL_IMAGE_KTHREADS, 0x1);
SAME(vdso, PROFIL_OBJECT_VDSO, 1);
SAME(anonymous, PROFIL_OBJECT_ANONYMOUS, 2);
SAME(kernel, PROFIL_OBJECT_KERNEL, 3);
SAME(blocked, PROFIL_OBJECT_BLOCKED, 4);
SAME(runnable, PROFIL_OBJECT_RUNNABLE, 5);
SAME(files, PROFIL_OBJECT_FILES, 6);

SAME(wait_unknown, PROFIL_WAIT_UNKNOWN, 0);
SAME(wait_fault, PROFIL_WAIT_FAULT, 1);
SAME(wait_stopped, PROFIL_WAIT_STOPPED, 2);
SAME(wait_traced, PROFIL_WAIT_TRACED, 3);
SAME(wait_syscall, PROFIL_WAIT_SYSCALL, 16);
SAME(wait_compat, PROFIL_WAIT_COMPAT, 0x10000);
SAME(wait_long, PROFIL_WAIT_LONG, 0x80000000);
