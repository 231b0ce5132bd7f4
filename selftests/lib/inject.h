/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inject.h - make the first, the second, the third... thing that can fail in a
 * system call fail
 *
 * Allocations by slab and by page, and accesses to user memory: by /proc/TID/fail-nth
 * on a kernel with fault injection, and otherwise by fail.ko, which is in the directory
 * of the program.
 */
#ifndef SELFTESTS_INJECT_H
#define SELFTESTS_INJECT_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct points - the points of failure of a call, one after the other
 * @nth: the point that fails in this round, from 1
 * @failed: how many of those before have made the call fail
 *
 * The kernel recovers from the other failures in another way.
 */
struct points {
	int nth;
	int failed;
};

bool can_inject(void);
int inject_in_profil(void);
int inject_everywhere(void);
int inject_user_pages(bool on);
bool fail_nth(int nth);
bool has_failed(void);
int failures_left(pid_t pid);
bool is_clean(int error);

/*
 * Run what follows with the next point of failure, until there is none left: it
 * calls fail_next() just before the system call, and is_done() just after it. The
 * last round has no failure.
 */
bool fail_next(struct points *points);
bool is_done(struct points *points, bool call_failed);

int prepare_program(void);
void remove_program(void);
bool execute_with(int nth, int *left);
int exit_with(int nth);

#define EXPECT_POINTS(points, least) do { \
	TH_LOG("%d points of failure, %d made it fail", (points)->nth - 1, \
	       (points)->failed); \
	EXPECT_LE((least), (points)->nth - 1); \
} while (0)

#endif /* SELFTESTS_INJECT_H */
