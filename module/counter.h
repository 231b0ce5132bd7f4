/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counter.h - adding ticks to a counter
 *
 * Other CPUs and the program itself write a counter too, so it is changed by
 * compare-and-exchange of the aligned 32-bit word that holds it: the one atomic
 * operation on user memory that every architecture has, and one that leaves the
 * neighbours alone. Whether the counter is full is decided in the same step.
 */
#ifndef PROFIL_COUNTER_H
#define PROFIL_COUNTER_H

#include <linux/kcsan-checks.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/uaccess.h>
#include <asm/byteorder.h>
#include <asm/futex.h>

/* The counter has reached its maximum. */
#define PROFIL_COUNTER_FULL	1

/*
 * An exchange fails only when another one succeeds, so that only a program that
 * writes its own counters in a loop can make this many fail.
 */
#define PROFIL_COUNTER_TRIES	8

/**
 * struct profil_added - outcome of an addition; fits into registers
 * @err: 0 or PROFIL_COUNTER_FULL; or -EFAULT, the page is missing or not
 *	writable now, or -EAGAIN, other writers were faster: nothing was added
 * @clipped: how many ticks found the counter full
 */
struct profil_added {
	int err;
	u32 clipped;
};

/**
 * struct profil_counter - where in a word a counter is, and when it is full
 * @shift: bits below it
 * @mask: its bits, at the lower end
 * @max: its maximum
 */
struct profil_counter {
	u32 shift;
	u32 mask;
	u32 max;
};

static __always_inline struct profil_counter
profil_counter_at(unsigned long addr, u32 width, u32 max)
{
	struct profil_counter counter = { .mask = U32_MAX, .max = max };

	if (width == 2) {
		counter.mask = U16_MAX;
#ifdef __BIG_ENDIAN
		counter.shift = addr & 2 ? 0 : 16;
#else
		counter.shift = addr & 2 ? 16 : 0;
#endif
	}
	return counter;
}

/*
 * Read, compare and exchange a 32-bit word of user memory, between
 * profil_user_begin(), which is 0 if the address is not of user memory, and
 * profil_user_end(). Where an architecture has no unsafe_try_cmpxchg_user(),
 * each access begins and ends one of its own.
 */
#ifdef unsafe_try_cmpxchg_user
#define profil_user_begin(at)		user_access_begin(at, sizeof(*(at)))
#define profil_user_end()		user_access_end()
#else
#define profil_user_begin(at)		access_ok(at, sizeof(*(at)))
#define profil_user_end()		do { } while (0)
#endif

/* Return: 0 or -EFAULT. */
static __always_inline int profil_get_user(u32 __user *at, u32 *value)
{
#ifdef unsafe_try_cmpxchg_user
	unsafe_get_user(*value, at, fault);
	return 0;

fault:
	return -EFAULT;
#else
	return __get_user(*value, at);
#endif
}

/*
 * Return: 1; 0 if the word was not *@old, which is up to date now; or -EFAULT.
 */
static __always_inline int profil_try_cmpxchg_user(u32 __user *at, u32 *old,
						   u32 new)
{
#ifdef unsafe_try_cmpxchg_user
	return unsafe_try_cmpxchg_user(at, old, new, fault);

fault:
	return -EFAULT;
#else
	u32 found;
	int err = futex_atomic_cmpxchg_inatomic(&found, at, *old, new);

	if (err)
		return err == -EAGAIN ? 0 : -EFAULT;
	if (found == *old)
		return 1;
	*old = found;
	return 0;
#endif
}

/*
 * What to write in place of @word to add @nr; no carry, as the sum is at most
 * the maximum. A counter that the program has set above it stays as it is.
 */
static __always_inline u32
profil_counter_sum(struct profil_counter counter, u32 word, u32 nr,
		   struct profil_added *added)
{
	u32 count = word >> counter.shift & counter.mask;
	u32 add = count < counter.max ? min(nr, counter.max - count) : 0;

	added->clipped = nr - add;
	added->err = count + add >= counter.max ? PROFIL_COUNTER_FULL : 0;
	return word + (add << counter.shift);
}

/* Add to a counter of 2 or 4 bytes, in the word @at. */
static __always_inline struct profil_added
profil_counter_add_word(u32 __user *at, struct profil_counter counter, u32 nr)
{
	struct profil_added added;
	int tries = PROFIL_COUNTER_TRIES;
	int done = -EFAULT;
	u32 old;

	if (!profil_user_begin(at))
		goto failed;
	if (profil_get_user(at, &old))
		goto fault;
	do {
		u32 new = profil_counter_sum(counter, old, nr, &added);

		done = profil_try_cmpxchg_user(at, &old, new);
	} while (unlikely(!done) && --tries);
fault:
	profil_user_end();
	if (likely(done > 0))
		return added;
failed:
	added.err = done ?: -EAGAIN;
	added.clipped = 0;
	return added;
}

/*
 * One try at a counter of 8 bytes: the lower word first, then a carry into the
 * upper one. Between the two a reader finds 2^32 too few, as on any 32-bit
 * machine. The carry succeeds: nothing but the next carry, 2^32 ticks later,
 * and the program itself write there.
 */
static inline struct profil_added profil_counter_try_double(u32 __user *low,
							    u32 __user *high,
							    u32 nr)
{
	static const struct profil_counter whole = {
		.mask = U32_MAX, .max = U32_MAX,
	};
	struct profil_added added = { .err = -EFAULT };
	u32 old, new, upper, found;

	if (get_user(old, low) || get_user(upper, high))
		return added;
	new = old + nr;
	if (new < old && upper == U32_MAX) {
		added.clipped = nr - (U32_MAX - old);
		new = U32_MAX;
	}
	if (futex_atomic_cmpxchg_inatomic(&found, low, old, new))
		return added;
	if (found != old) {
		added.err = -EAGAIN;
		return added;
	}
	added.err = (upper & new) == U32_MAX ? PROFIL_COUNTER_FULL : 0;
	if (new < old)
		profil_counter_add_word(high, whole, 1);
	return added;
}

static noinline struct profil_added
profil_counter_add_double(unsigned long addr, u32 nr)
{
	u32 __user *low = (u32 __user *)addr;
	u32 __user *high = low + 1;
	struct profil_added added;
	int tries = PROFIL_COUNTER_TRIES;

#ifdef __BIG_ENDIAN
	swap(low, high);
#endif
	do {
		added = profil_counter_try_double(low, high, nr);
	} while (added.err == -EAGAIN && --tries);
	return added;
}

/**
 * profil_counter_add() - add ticks to a counter in user memory
 * @addr: address of the counter, a multiple of @width
 * @width: bytes of the counter: 2, 4 or 8
 * @max: maximum of a counter of 2 or 4 bytes; one of 8 bytes uses them all
 * @nr: number of ticks
 *
 * Context: any in which the page tables of current->mm are loaded: those of a
 * user task, in user and kernel mode, and of a worker in kthread_use_mm().
 * Scheduler locks may be held. Never sleeps.
 */
static __always_inline struct profil_added
profil_counter_add(unsigned long addr, u32 width, u32 max, u32 nr)
{
	struct profil_added added;

	/*
	 * An interrupt that comes while the number of those who have disabled
	 * page faults changes leaves it as it was: this is no data race.
	 */
	kcsan_disable_current();
	pagefault_disable();
	if (unlikely(width == 8))
		added = profil_counter_add_double(addr, nr);
	else
		added = profil_counter_add_word((u32 __user *)(addr & ~3UL),
						profil_counter_at(addr, width,
								  max),
						nr);
	pagefault_enable();
	kcsan_enable_current();
	return added;
}

/**
 * profil_counter_add_mapped() - add ticks to a counter in kernel memory
 * @at: the counter
 * @width: bytes of the counter: 2, 4 or 8
 * @max: maximum of a counter of 2 or 4 bytes
 * @nr: number of ticks
 */
static inline struct profil_added
profil_counter_add_mapped(void *at, u32 width, u32 max, u32 nr)
{
	unsigned long addr = (unsigned long)at;
	struct profil_counter counter = profil_counter_at(addr, width, max);
	struct profil_added added = { 0 };
	u32 *word = (u32 *)(addr & ~3UL);
	u64 sum, count;
	u32 old;

	if (width == 8) {
		count = READ_ONCE(*(u64 *)at);
		do {
			sum = count + min_t(u64, nr, U64_MAX - count);
		} while (!try_cmpxchg((u64 *)at, &count, sum));
		added.err = sum == U64_MAX ? PROFIL_COUNTER_FULL : 0;
		added.clipped = nr - (sum - count);
		return added;
	}
	old = READ_ONCE(*word);
	while (!try_cmpxchg(word, &old,
			    profil_counter_sum(counter, old, nr, &added)))
		;
	return added;
}

#endif /* PROFIL_COUNTER_H */
