// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_mistake.c - makes the mistake that its parameter names
 *
 * For kernels that find mistakes: a test loads this to see that they do. Its name
 * is so that the search for leaks takes it for one of our modules.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/kasan-checks.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

/* Not a power of two: what is allocated has room behind it. */
#define MISTAKE_BYTES	100

/* --- memory: KASAN */

static void mistake_slab_bounds(void)
{
	char *memory = kmalloc(MISTAKE_BYTES, GFP_KERNEL);

	/* The compiler is not to know what this is */
	OPTIMIZER_HIDE_VAR(memory);
	if (memory)
		WRITE_ONCE(memory[MISTAKE_BYTES], 0);
	kfree(memory);
}

static void mistake_slab_after_free(void)
{
	char *memory = kmalloc(MISTAKE_BYTES, GFP_KERNEL);
	char *freed = memory;

	OPTIMIZER_HIDE_VAR(freed);
	kfree(memory);
	if (freed)
		READ_ONCE(freed[0]);
}

static void mistake_vmalloc_bounds(void)
{
	char *memory = vmalloc(MISTAKE_BYTES);

	OPTIMIZER_HIDE_VAR(memory);
	if (memory)
		WRITE_ONCE(memory[MISTAKE_BYTES], 0);
	vfree(memory);
}

/* Only checked: it is not mapped any more, and the access would be an oops. */
static void mistake_vmalloc_after_free(void)
{
	char *memory = vmalloc(MISTAKE_BYTES);
	char *freed = memory;

	OPTIMIZER_HIDE_VAR(freed);
	vfree(memory);
	if (freed)
		kasan_check_read(freed, 1);
}

/* --- memory: kmemleak */

/* Several, since old contents of a stack may point to one of them. */
static void mistake_leak(void)
{
	int i;

	for (i = 0; i < 16; i++) {
		void *memory = kmalloc(MISTAKE_BYTES, GFP_KERNEL);

		OPTIMIZER_HIDE_VAR(memory);
	}
}

/* --- locks */

static DEFINE_MUTEX(mistake_mutex_a);
static DEFINE_MUTEX(mistake_mutex_b);
static DEFINE_RAW_SPINLOCK(mistake_raw_lock);
static DEFINE_SPINLOCK(mistake_lock);

/* PROVE_LOCKING */
static void mistake_inverted_locks(void)
{
	mutex_lock(&mistake_mutex_a);
	mutex_lock(&mistake_mutex_b);
	mutex_unlock(&mistake_mutex_b);
	mutex_unlock(&mistake_mutex_a);

	mutex_lock(&mistake_mutex_b);
	mutex_lock(&mistake_mutex_a);
	mutex_unlock(&mistake_mutex_a);
	mutex_unlock(&mistake_mutex_b);
}

/* PROVE_RAW_LOCK_NESTING: the inner lock sleeps on PREEMPT_RT */
static void mistake_raw_nesting(void)
{
	raw_spin_lock(&mistake_raw_lock);
	spin_lock(&mistake_lock);
	spin_unlock(&mistake_lock);
	raw_spin_unlock(&mistake_raw_lock);
}

/* DEBUG_ATOMIC_SLEEP */
static void mistake_atomic_sleep(void)
{
	preempt_disable();
	mutex_lock(&mistake_mutex_a);
	mutex_unlock(&mistake_mutex_a);
	preempt_enable();
}

/* --- two CPUs: KCSAN */

/* So long that a host with one CPU runs now one of ours, now the other one */
#define MISTAKE_TIMES	1000000

/* In each of these one waits for the other one */
#define MISTAKE_ROUNDS	300

static atomic_t mistake_nr_cpus;
static unsigned long mistake_data;
static bool mistake_ready;

/* Wait for the other CPUs. Return: a number for this one, from 1. */
static int mistake_meet(void)
{
	int nr = atomic_inc_return(&mistake_nr_cpus);

	while (atomic_read(&mistake_nr_cpus) < num_online_cpus())
		cpu_relax();
	return nr;
}

static void mistake_count(void *unused)
{
	int i;

	mistake_meet();
	for (i = 0; i < MISTAKE_TIMES; i++) {
		mistake_data++;
		barrier();
	}
}

static void mistake_race(void)
{
	on_each_cpu(mistake_count, NULL, true);
}

static void mistake_write(void)
{
	int i;

	for (i = 0; i < MISTAKE_ROUNDS; i++) {
		while (READ_ONCE(mistake_ready))
			cpu_relax();
		mistake_data = i;
		/* The mistake: this is no smp_store_release() */
		WRITE_ONCE(mistake_ready, true);
	}
}

static void mistake_change(void)
{
	int i;

	for (i = 0; i < MISTAKE_ROUNDS; i++) {
		/* Would pair with the release that is missing */
		while (!smp_load_acquire(&mistake_ready))
			cpu_relax();
		mistake_data++;
		/* Orders the access before that of the next round */
		smp_store_release(&mistake_ready, false);
	}
}

static void mistake_pass(void *unused)
{
	switch (mistake_meet()) {
	case 1:
		mistake_write();
		break;
	case 2:
		mistake_change();
		break;
	}
}

/* The flag seems to keep one CPU off the data while the other one is there */
static void mistake_missing_barrier(void)
{
	on_each_cpu(mistake_pass, NULL, true);
}

static const struct {
	const char *name;
	void (*make)(void);
} mistakes[] = {
	{ "slab_bounds", mistake_slab_bounds },
	{ "slab_after_free", mistake_slab_after_free },
	{ "vmalloc_bounds", mistake_vmalloc_bounds },
	{ "vmalloc_after_free", mistake_vmalloc_after_free },
	{ "leak", mistake_leak },
	{ "inverted_locks", mistake_inverted_locks },
	{ "raw_nesting", mistake_raw_nesting },
	{ "atomic_sleep", mistake_atomic_sleep },
	{ "race", mistake_race },
	{ "missing_barrier", mistake_missing_barrier },
};

static int mistake_make(const char *name, const struct kernel_param *param)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
		if (sysfs_streq(name, mistakes[i].name)) {
			mistakes[i].make();
			return 0;
		}
	}
	return -EINVAL;
}

static const struct kernel_param_ops mistake_ops = {
	.set = mistake_make,
};

module_param_cb(make, &mistake_ops, NULL, 0200);
MODULE_PARM_DESC(make, "The mistake to make now");

MODULE_DESCRIPTION("Test of profil: makes a mistake");
MODULE_LICENSE("GPL");
