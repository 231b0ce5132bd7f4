// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf_tick.c - BPF program that counts a histogram, at each clock tick
 *
 * Does the minimum for a histogram: it selects the process, reads the user
 * program counter and increments an element of an array that user space maps.
 * clang compiles it for the target bpf, and bpf_peer.c loads it.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#include "bpf_tick.h"

/*
 * bpf_peer.c sets these before it loads the program. The verifier treats them
 * as constants and removes dead code, so an unused filter costs nothing.
 */
const volatile struct bpf_constants constants;

/*
 * User space sets the number of elements. The kernel rounds each up to 8 bytes.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} cells SEC(".maps");

/* Bits of CS: 3 in user mode. */
#define PRIVILEGE_MASK	3

static __u64 user_pc(const struct bpf_perf_event_data *context)
{
	__u64 pc = context->regs.rip;

	/*
	 * The verifier rejects a read through a pointer merged with the other
	 * one.
	 */
	barrier_var(pc);
	if (!(context->regs.cs & PRIVILEGE_MASK)) {
		struct task_struct *task = bpf_get_current_task_btf();

		/* Needs the kernel's BTF. */
		pc = ((struct pt_regs *)bpf_task_pt_regs(task))->rip;
	}
	return pc;
}

SEC("perf_event")
int count_tick(struct bpf_perf_event_data *context)
{
	__u64 place, *cell;
	__u32 index;

	if (constants.only_tgid &&
	    bpf_get_current_pid_tgid() >> 32 != constants.only_tgid)
		return 0;
	if (constants.only_cgroup &&
	    bpf_get_current_cgroup_id() != constants.only_cgroup)
		return 0;
	place = (user_pc(context) - constants.text_start) >> constants.text_shift;
	index = place;
	if (index != place)
		return 0;
	cell = bpf_map_lookup_elem(&cells, &index);
	if (cell)
		__sync_fetch_and_add(cell, 1);
	return 0;
}

/*
 * Count all of the machine but idle CPUs, by process and stacks, as profile of
 * the BPF Compiler Collection does: user space finds out what the addresses
 * mean, from processes that still run.
 */
struct machine_key {
	__u32 tgid;
	__s32 user_stack;
	__s32 kernel_stack;
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 40960);
	__type(key, struct machine_key);
	__type(value, __u64);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 16384);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, BPF_MAX_FRAMES * sizeof(__u64));
} stacks SEC(".maps");

SEC("perf_event")
int count_machine(struct bpf_perf_event_data *context)
{
	struct machine_key key = { .tgid = bpf_get_current_pid_tgid() >> 32 };
	const __u64 one = 1;
	__u64 *count;

	/* Task 0, which is idle. */
	if (!(__u32)bpf_get_current_pid_tgid())
		return 0;
	bpf_get_current_comm(key.comm, sizeof(key.comm));
	key.user_stack = bpf_get_stackid(context, &stacks, BPF_F_USER_STACK);
	key.kernel_stack = bpf_get_stackid(context, &stacks, 0);
	count = bpf_map_lookup_elem(&counts, &key);
	if (count)
		__sync_fetch_and_add(count, 1);
	else
		bpf_map_update_elem(&counts, &key, &one, BPF_NOEXIST);
	return 0;
}

/* Another program, which makes a system call slow. */
#define WAIT_LOOPS	1000

static long do_nothing(__u32 index, void *context)
{
	return 0;
}

SEC("tp/syscalls/sys_enter_getppid")
int spend_time(void *context)
{
	bpf_loop(WAIT_LOOPS, do_nothing, (void *)0, 0);
	return 0;
}

const char program_license[] SEC("license") = "GPL";
