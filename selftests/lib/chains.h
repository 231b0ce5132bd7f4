/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * chains.h - helpers for the tests of watches that count by chain
 *
 * Include it after kselftest_harness.h, common.h and watch.h.
 */
#ifndef SELFTESTS_CHAINS_H
#define SELFTESTS_CHAINS_H

#include <stddef.h>
#include <stdint.h>

#include "watch.h"

/* Keeps a call from being the last thing of a function: that would be a jump. */
#define CALLED() __asm__ volatile("" : : : "memory")

/**
 * struct callers - a table of callers
 * @table: the table
 * @bytes: its length
 */
struct callers {
	void *table;
	size_t bytes;
};

struct callers make_callers(const char *path);
struct callers make_vdso_callers(void);
struct callers make_rule(struct profil_unwind_rule rule, uint32_t blocks);
struct profil_unwind_rule *rules_of(const struct callers *callers);
int load_callers(const struct watch *watch, int file, const void *table,
		 uint64_t bytes);
int load_callers_of(const struct watch *watch, const char *path);
int load_own_callers(const struct watch *watch);

uint32_t node_caller(const struct watch *watch, uint32_t node);
uint32_t chain_length(const struct watch *watch, uint32_t node);
uint64_t chain_ticks(const struct watch *watch, const void *text,
		     const void *end, const void *const *callers, int nr);
uint64_t chain_leaves(const struct watch *watch, uint32_t object,
		      const void *text, const void *end,
		      const void *const *callers, int nr);
uint64_t chain_ticks_alone(const struct watch *watch, const void *text,
			   const void *end);
uint64_t chain_sum(const struct profil_watch_status *status);
uint64_t ticks_below(const struct watch *watch);

/* All ticks that have an outcome in the table have a chain, too. */
#define EXPECT_CHAINS(watch, status) do { \
	EXPECT_SOUND((watch), (status)); \
	EXPECT_EQ((status)->ticks - (status)->unresolved + \
		  (status)->blocked + (status)->runnable, \
		  chain_sum(status)); \
} while (0)

#endif /* SELFTESTS_CHAINS_H */
