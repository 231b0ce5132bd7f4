// SPDX-License-Identifier: GPL-2.0-only
/*
 * effort.c - duration and seed of the fuzzers in the guest
 */
#include <stdlib.h>

#include "common.h"
#include "fuzz/effort.h"

static uint64_t setting(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : 0;
}

/* Never 0, which is not a valid state of the generator. */
uint64_t fuzz_seed(void)
{
	uint64_t seed = setting("FUZZ_SEED");

	if (!seed && setting("FUZZ_SECONDS"))
		seed = monotonic_ns();
	return seed ? seed : 1;
}

struct effort fuzz_effort(uint64_t calls)
{
	struct effort effort = { .calls = calls };
	uint64_t seconds = setting("FUZZ_SECONDS");

	if (seconds)
		effort.until_ns = monotonic_ns() + seconds * SECOND;
	return effort;
}

bool fuzz_goes_on(struct effort *effort)
{
	if (effort->until_ns)
		return monotonic_ns() < effort->until_ns;
	return effort->calls && effort->calls--;
}
