// SPDX-License-Identifier: GPL-2.0-only
/*
 * delay.c - while loaded, delay a function of the kernel for one process, or all
 *
 * A probe at the start of the function @symbol waits @ms milliseconds, with
 * preemption disabled, each @nth time that process @pid calls it: as if the
 * host ran something else there. That makes a race of a few instructions one of
 * milliseconds. @calls is how many there were.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

static char *symbol;
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "Function to delay");

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "Process that is delayed (default 0: all)");

static unsigned int ms = 20;
module_param(ms, uint, 0444);
MODULE_PARM_DESC(ms, "Delay in milliseconds (default 20)");

static unsigned int nth = 1;
module_param(nth, uint, 0444);
MODULE_PARM_DESC(nth, "Delay each nth call (default 1)");

static unsigned int times = UINT_MAX;
module_param(times, uint, 0444);
MODULE_PARM_DESC(times, "Delay so many calls (default: all)");

static unsigned int delay_calls;
module_param_named(calls, delay_calls, uint, 0444);
MODULE_PARM_DESC(calls, "Calls by the process until now");

/*
 * A guest whose CPU was stopped while it calibrated its loops takes a third of the
 * time in mdelay(), in all of its calls. The clock may stand still meanwhile if
 * this CPU is the one that keeps the time: then not for ever.
 */
static void delay_for(unsigned int ms)
{
	u64 end = ktime_get_mono_fast_ns() + (u64)ms * NSEC_PER_MSEC;
	unsigned int longest = 10 * ms;

	while (longest-- && ktime_get_mono_fast_ns() < end)
		mdelay(1);
}

static int delay_enter(struct kprobe *probe, struct pt_regs *regs)
{
	if (pid && current->tgid != pid)
		return 0;
	if (!(++delay_calls % nth) && delay_calls / nth <= times)
		delay_for(ms);
	return 0;
}

static struct kprobe delay_probe = {
	.pre_handler = delay_enter,
};

static int __init delay_init(void)
{
	delay_probe.symbol_name = symbol;
	return register_kprobe(&delay_probe);
}

static void __exit delay_exit(void)
{
	unregister_kprobe(&delay_probe);
}

module_init(delay_init);
module_exit(delay_exit);
MODULE_DESCRIPTION("Test of profil: delays a function for one process");
MODULE_LICENSE("GPL");
