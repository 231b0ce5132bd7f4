// SPDX-License-Identifier: GPL-2.0-only
/*
 * fail.c - while loaded, /sys/module/fail/parameters/nth is what
 * /proc/thread-self/fail-nth is on a kernel with fault injection
 *
 * Makes the nth allocation or access to user memory of the task that has written the
 * number fail: the functions that the kernel asks for that are there without fault
 * injection, too, up to Linux 6.10. Reading tells how many more would have to come; 0 if
 * it has failed. One task at a time.
 */
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

static unsigned long start;
module_param(start, ulong, 0644);
MODULE_PARM_DESC(start, "Only with a return address from here on");

static unsigned long end = ULONG_MAX;
module_param(end, ulong, 0644);
MODULE_PARM_DESC(end, "Only with a return address below this");

static bool user_pages;
module_param(user_pages, bool, 0644);
MODULE_PARM_DESC(user_pages, "Also pages of programs (default no)");

static pid_t fail_pid;
static int fail_left;

static int fail_set(const char *text, const struct kernel_param *param)
{
	fail_pid = current->pid;
	return kstrtoint(text, 0, &fail_left);
}

static int fail_get(char *text, const struct kernel_param *param)
{
	return sysfs_emit(text, "%d\n", fail_left);
}

static const struct kernel_param_ops fail_ops = {
	.set = fail_set,
	.get = fail_get,
};

module_param_cb(nth, &fail_ops, NULL, 0644);
MODULE_PARM_DESC(nth, "Which of what can fail in the writer fails; 0: none");

static bool fail_is_between(unsigned long address)
{
	return address >= start && address < end;
}

/*
 * Any word of the stack will do: it cannot be unwound from the start of a function,
 * nor, before Linux 5.15, from the end of one that is probed. So the kernel must not
 * have randomize_kstack_offset, which leaves calls there that have returned.
 */
static bool fail_is_under(struct pt_regs *regs)
{
	unsigned long *word = (unsigned long *)kernel_stack_pointer(regs);
	unsigned long *top = task_stack_page(current) + THREAD_SIZE;

	while (word < top)
		if (fail_is_between(READ_ONCE_NOCHECK(*word++)))
			return true;
	return false;
}

/* One more point of failure. */
static bool fail_now(struct pt_regs *regs)
{
	if (current->pid != fail_pid || !fail_left || hardirq_count() ||
	    in_serving_softirq())
		return false;
	if (start && !fail_is_under(regs))
		return false;
	return !--fail_left;
}

static int fail_slab(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	if (fail_now(regs))
		regs_set_return_value(regs, -ENOMEM);
	return 0;
}

static int fail_page_enter(struct kretprobe_instance *instance,
			   struct pt_regs *regs)
{
	return !user_pages && regs->di & __GFP_HIGHMEM;
}

static int fail_page(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	if (fail_now(regs))
		regs_set_return_value(regs, true);
	return 0;
}

/* Have it copy nothing; the third argument is the number of bytes. */
static int fail_copy_enter(struct kretprobe_instance *instance,
			   struct pt_regs *regs)
{
	if (!fail_now(regs))
		return 1;
	*(unsigned long *)instance->data = regs->dx;
	regs->dx = 0;
	return 0;
}

static int fail_copy(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	regs_set_return_value(regs, *(unsigned long *)instance->data);
	return 0;
}

/* Many tasks may be in these at a time. */
#define FAIL_ACTIVE	64

static struct kretprobe fail_probes[] = {
	{
		.kp.symbol_name = "should_failslab",
		.handler = fail_slab,
		.maxactive = FAIL_ACTIVE,
	}, {
		.kp.symbol_name = "should_fail_alloc_page",
		.entry_handler = fail_page_enter,
		.handler = fail_page,
		.maxactive = FAIL_ACTIVE,
	}, {
		.kp.symbol_name = "_copy_from_user",
		.entry_handler = fail_copy_enter,
		.handler = fail_copy,
		.data_size = sizeof(unsigned long),
		.maxactive = FAIL_ACTIVE,
	}, {
		.kp.symbol_name = "_copy_to_user",
		.entry_handler = fail_copy_enter,
		.handler = fail_copy,
		.data_size = sizeof(unsigned long),
		.maxactive = FAIL_ACTIVE,
	},
};

static int __init fail_init(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(fail_probes); i++) {
		err = register_kretprobe(&fail_probes[i]);
		if (err) {
			while (i--)
				unregister_kretprobe(&fail_probes[i]);
			return err;
		}
	}
	return 0;
}

static void __exit fail_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(fail_probes); i++)
		unregister_kretprobe(&fail_probes[i]);
}

module_init(fail_init);
module_exit(fail_exit);
MODULE_DESCRIPTION("Test of profil: injects faults");
MODULE_LICENSE("GPL");
