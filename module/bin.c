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

/* How far up in its 32-bit word a counter begins. */
static u32 profil_shift(unsigned long addr, unsigned int width)
{
	bool upper = width == 2 && addr & 2;

#ifdef __BIG_ENDIAN
	upper = width == 2 && !upper;
#endif
	return upper ? 16 : 0;
}

/* Reads a word, as get_user() does that is not inline everywhere. */
static bool profil_word_read(u32 *value, const u32 __user *at)
{
	if (!user_access_begin(at, sizeof(*at)))
		return false;
	unsafe_get_user(*value, at, fault);
	user_access_end();
	return true;

fault:
	user_access_end();
	return false;
}

/*
 * Add @nr to the counter that begins @shift bits up in a word and has the bits
 * of @mask, up to @max. A counter that the program itself has set above @max is
 * left alone.
 */
static __always_inline struct profil_added
profil_word_add(u32 __user *at, u32 shift, u32 mask, u32 max, u32 nr)
{
	struct profil_added added = { .err = -EFAULT };
	int tries;
	u32 old;

	if (!profil_word_read(&old, at))
		return added;
	for (tries = 0; tries < PROFIL_TRIES; tries++) {
		u32 count = old >> shift & mask;
		u32 add = count < max ? min(nr, max - count) : 0;
		u32 found;
		int err;

		/* No carry: the sum is at most @max. */
		err = futex_atomic_cmpxchg_inatomic(&found, at, old,
						    old + (add << shift));
		if (err && err != -EAGAIN)
			return added;
		if (!err && found == old) {
			added.err = count + add >= max ? PROFIL_BIN_FULL : 0;
			added.clipped = nr - add;
			return added;
		}
		if (!err)
			old = found;
	}
	added.err = -EAGAIN;
	return added;
}

/*
 * A 64-bit counter is two words. Who wraps the lower one owes one to the upper
 * one, and cannot take back the wrap. That succeeds, since nobody writes there
 * but the next carry, 2^32 ticks away, unless the program itself does so in a
 * loop. In between a reader sees a count that is 2^32 too low, as on any
 * 32-bit machine.
 */
static struct profil_added profil_double_try(unsigned long addr, u32 nr)
{
	struct profil_added added = { .err = -EFAULT };
	u32 __user *low = (u32 __user *)addr;
	u32 __user *high = low + 1;
	u32 old, new, upper, found;

#ifdef __BIG_ENDIAN
	swap(low, high);
#endif
	if (get_user(old, low) || get_user(upper, high))
		return added;

	new = old + nr;
	if (new < old && upper == U32_MAX) {
		added.clipped = nr - (U32_MAX - old);
		new = U32_MAX;
	}
	if (futex_atomic_cmpxchg_inatomic(&found, low, old, new))
		return added;
	added.err = found == old ? 0 : -EAGAIN;
	if (!added.err && new < old)
		profil_word_add(high, 0, U32_MAX, U32_MAX, 1);
	return added;
}

static noinline struct profil_added profil_double_add(unsigned long addr,
						      u32 nr)
{
	struct profil_added added;
	int tries = PROFIL_TRIES;

	do {
		added = profil_double_try(addr, nr);
	} while (added.err == -EAGAIN && --tries);
	return added;
}

/**
 * profil_bin_add() - add ticks to a counter
 * @addr: address of the counter, a multiple of @width
 * @width: bytes of the counter: 2, 4 or 8
 * @max: where a counter of 2 or 4 bytes is full; one of 8 bytes is at its end
 * @nr: number of ticks
 *
 * Return: see struct profil_added; the error is -EFAULT if the page is not
 * there or not writable now, or -EAGAIN if others kept changing the counter.
 */
struct profil_added profil_bin_add(unsigned long addr, unsigned int width,
				   u32 max, u32 nr)
{
	struct profil_added added;

	pagefault_disable();
	if (width == 8)
		added = profil_double_add(addr, nr);
	else
		added = profil_word_add((u32 __user *)(addr & ~3UL),
					profil_shift(addr, width),
					width == 2 ? U16_MAX : U32_MAX, max,
					nr);
	pagefault_enable();
	return added;
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
