// SPDX-License-Identifier: GPL-2.0-only
/*
 * bin.c - adding to a counter in user memory
 *
 * The counter is shared with other processors and with the program itself, so
 * it is changed by compare-and-exchange on the aligned 32-bit word that holds
 * it: the one atomic operation on user memory that every architecture has, and
 * that does not change the neighbours. Whether a counter is full is decided in
 * the same step.
 *
 * Context: any in which current->mm is the address space meant: a tick in user
 * mode, a system call of the program, a worker under kthread_use_mm(). Takes
 * no locks and never sleeps, except in profil_bin_touch().
 */
#include <linux/limits.h>
#include <linux/minmax.h>
/* For asm/futex.h, which forgets it on PREEMPT_RT. */
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <asm/byteorder.h>
#include <asm/futex.h>

#include "bin.h"

/*
 * Others that write the same word can make an exchange fail only by succeeding
 * themselves, and each of them is a tick; who loses this often meets a program
 * that writes its own counters in a loop, and comes back later.
 */
#define PROFIL_TRIES	8

/* One 32-bit word, as exchanged. */
struct profil_word {
	u32 __user *at;
	u32 shift;
	u32 mask;
};

static struct profil_word profil_word_of(unsigned long addr, unsigned int width)
{
	struct profil_word word = {
		.at = (u32 __user *)(addr & ~3UL),
		.mask = U32_MAX,
	};

	if (width == 2) {
		bool upper = addr & 2;

#ifdef __BIG_ENDIAN
		upper = !upper;
#endif
		word.shift = upper ? 16 : 0;
		word.mask = 0xffffU << word.shift;
	}
	return word;
}

/*
 * Add @nr to the counter in a word, up to @max. A counter that the program
 * itself has set above @max is left alone.
 */
static int profil_word_add(struct profil_word word, u32 max, u32 nr,
			   u64 *clipped)
{
	int tries;
	u32 old;

	if (get_user(old, word.at))
		return -EFAULT;
	for (tries = 0; tries < PROFIL_TRIES; tries++) {
		u32 count = (old & word.mask) >> word.shift;
		u32 add = count < max ? min(nr, max - count) : 0;
		u32 new, found;
		int err;

		new = (old & ~word.mask) | (count + add) << word.shift;
		err = futex_atomic_cmpxchg_inatomic(&found, word.at, old, new);
		if (err && err != -EAGAIN)
			return -EFAULT;
		if (!err && found == old) {
			*clipped = nr - add;
			return count + add >= max ? PROFIL_BIN_FULL : 0;
		}
		if (!err)
			old = found;
	}
	return -EAGAIN;
}

/*
 * A 64-bit counter is two words. Who wraps the lower one owes one to the upper
 * one, and cannot take back the wrap. That succeeds, since nobody writes there
 * but the next carry, 2^32 ticks away, unless the program itself does so in a
 * loop. In between a reader sees a count that is 2^32 too low, as on any
 * 32-bit machine.
 */
static int profil_double_add(unsigned long addr, u32 nr, u64 *clipped)
{
	u32 __user *low = (u32 __user *)addr;
	u32 __user *high = low + 1;
	u32 old, new, upper, found;
	u64 full;

#ifdef __BIG_ENDIAN
	swap(low, high);
#endif
	if (get_user(old, low) || get_user(upper, high))
		return -EFAULT;

	*clipped = 0;
	new = old + nr;
	if (new < old && upper == U32_MAX) {
		*clipped = nr - (U32_MAX - old);
		new = U32_MAX;
	}
	if (futex_atomic_cmpxchg_inatomic(&found, low, old, new))
		return -EFAULT;
	if (found != old)
		return -EAGAIN;
	if (new < old)
		profil_word_add((struct profil_word) {
					.at = high, .mask = U32_MAX,
				}, U32_MAX, 1, &full);
	return 0;
}

/**
 * profil_bin_add() - add ticks to a counter
 * @addr: address of the counter, a multiple of @width
 * @width: bytes of the counter: 2, 4 or 8
 * @max: where a counter of 2 or 4 bytes is full; one of 8 bytes is at its end
 * @nr: number of ticks
 * @clipped: how many of them found the counter full
 *
 * Return: 0 or PROFIL_BIN_FULL, -EFAULT if the page is not there or not
 * writable now, or -EAGAIN if others kept changing the counter. On an error the
 * counter is unchanged.
 */
int profil_bin_add(unsigned long addr, unsigned int width, u32 max, u32 nr,
		   u64 *clipped)
{
	int tries = PROFIL_TRIES;
	int err;

	pagefault_disable();
	if (width == 8) {
		do {
			err = profil_double_add(addr, nr, clipped);
		} while (err == -EAGAIN && --tries);
	} else {
		err = profil_word_add(profil_word_of(addr, width), max, nr,
				      clipped);
	}
	pagefault_enable();
	return err;
}

/**
 * profil_bin_touch() - write-fault the page of an address
 * @addr: address in the caller's memory
 *
 * Exchanges nothing for nothing, which leaves the memory as it is, grows a
 * stack, and fails where the program itself could not write.
 *
 * Context: process, may sleep.
 * Return: 0 or -EFAULT.
 */
int profil_bin_touch(unsigned long addr)
{
	u32 found;
	int err;

	do {
		err = futex_atomic_cmpxchg_inatomic(&found,
				(u32 __user *)(addr & ~3UL), 0, 0);
	} while (err == -EAGAIN && !fatal_signal_pending(current));
	return err ? -EFAULT : 0;
}
