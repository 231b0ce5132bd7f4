// SPDX-License-Identifier: GPL-2.0-only
/*
 * effort.c - how long the fuzzers of the guest go on, and from which number
 */
#include <stdlib.h>

#include "common.h"
#include "fuzz/effort.h"

static uint64_t setting(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : 0;
}

/* Never 0, which the generator of numbers cannot begin with. */
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
