// SPDX-License-Identifier: GPL-2.0-only
/*
 * refuse.c - while loaded, prevent the kernel from creating perf counters for
 * modules
 *
 * Makes perf_event_create_kernel_counter() fail with EOPNOTSUPP: a probe at its
 * start replaces the CPU by one that cannot exist, so that it creates no
 * counter, and a probe at its end replaces the error.
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>

static atomic_t refuse_calls = ATOMIC_INIT(0);

/* The second argument is the number of the CPU. */
static int refuse_enter(struct kretprobe_instance *instance,
			struct pt_regs *regs)
{
#if defined(CONFIG_X86_64)
	regs->si = -1;
#elif defined(CONFIG_ARM64)
	regs->regs[1] = -1;
#elif defined(CONFIG_RISCV)
	regs->a1 = -1;
#else
#error which register has the second argument?
#endif
	return 0;
}

static int refuse_return(struct kretprobe_instance *instance,
			 struct pt_regs *regs)
{
	regs_set_return_value(regs, -EOPNOTSUPP);
	atomic_inc(&refuse_calls);
	return 0;
}

static struct kretprobe refuse_probe = {
	.kp.symbol_name = "perf_event_create_kernel_counter",
	.entry_handler = refuse_enter,
	.handler = refuse_return,
};

static int __init refuse_init(void)
{
	return register_kretprobe(&refuse_probe);
}

static void __exit refuse_exit(void)
{
	unregister_kretprobe(&refuse_probe);
	pr_info("refused %d, missed %d\n", atomic_read(&refuse_calls),
		refuse_probe.nmissed);
}

module_init(refuse_init);
module_exit(refuse_exit);
MODULE_DESCRIPTION("Test of profil: refuses perf counters");
MODULE_LICENSE("GPL");
