/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tool.h - helpers for the tests of tools/profil
 *
 * Each test runs helper programs under the tool, in a directory of its own, and
 * compares the profile with the CPU times that the helpers print. Include this
 * file after common.h.
 */
#ifndef SELFTESTS_TOOL_H
#define SELFTESTS_TOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "prf/prf.h"

/**
 * struct tool - a run of the tool, and its results
 * @directory: its working directory
 * @tool: its path
 * @program: path of the profiled program
 * @status: its wait status
 * @said: its standard output
 * @complained: its standard error
 * @prf: the profile, from the file "out.prf"
 */
struct tool {
	char directory[32];
	char tool[4096];
	char program[4096];
	int status;
	char said[4096];
	char complained[4096];
	struct prf prf;
};

int tool_make(struct tool *tool);
void tool_free(struct tool *tool);
bool tool_has_module(void);
bool tool_has_clock(void);
bool tool_has_helper(const char *name);
int tool_become_nobody(const struct tool *tool);

pid_t tool_start(struct tool *tool, const char *const *options,
		 const char *helper, const char *const *actions, int pipes[3]);
void tool_finish(struct tool *tool, pid_t child, int pipes[3]);
void tool_run(struct tool *tool, const char *const *options,
	      const char *helper, const char *const *actions);
bool tool_has_file(const struct tool *tool, const char *name);
int tool_load(const struct tool *tool, const char *name, struct prf *prf);
int tool_load_all(const struct tool *tool, struct prf *files, int most);

#define LIST(...) ((const char *const []) { __VA_ARGS__, NULL })
#define NO_OPTIONS ((const char *const []) { NULL })

/* Run a helper with arguments. */
#define RUN(helper, ...) \
	tool_run(&self->run, NO_OPTIONS, helper, LIST(__VA_ARGS__))

bool has_name(const struct prf *prf, const char *name);
double ticks_between(const struct prf_exec *exec, const char *path,
		     uint64_t start, uint64_t end);

/**
 * struct function - a function of a helper, as the helper prints it
 * @start: offset in its file of its first byte
 * @end: offset of the byte after its last one
 * @address: run-time address of its first byte
 * @ns: CPU time that all threads and children spent in the function
 * @least_ns: as much of it as must have ticks, wherever the host stopped a CPU
 */
struct function {
	uint64_t start;
	uint64_t end;
	uint64_t address;
	double ns;
	double least_ns;
};

struct function function_of(const char *said, const char *name, int skip);

/*
 * Check the ticks of a function of @exec. Where the host stops a CPU, all ticks
 * of that time fall in one place: in the kernel, if a system call or an interrupt
 * was there. With sanitizers, much of a function's CPU time is the kernel's. But
 * not all of it is.
 */
#define EXPECT_DUE(what, exec, nr, of, period_ns) do { \
	double nr_ = (nr), due_ = (of).ns / (period_ns); \
	double least_ = (of).least_ns / (period_ns); \
	TH_LOG("%s: %.0f, and %llu of the kernel, due %.1f: %+.2f sigma; at least %.1f", \
	       (what), nr_, (unsigned long long)(exec)->kernel, due_, \
	       sigmas(nr_, due_, due_), least_); \
	if (least_ > due_ / 2) \
		EXPECT_LT(least_ / (20 * slack()), nr_); \
	if (slack() == 1) { \
		EXPECT_GT(SIGMAS, sigmas(nr_, due_, due_)); \
		EXPECT_LT(-SIGMAS, sigmas(nr_ + (exec)->kernel, least_, \
					  due_)); \
	} \
} while (0)

/* Check the ticks of a function in DSOs whose path contains @path. */
#define EXPECT_FUNCTION_IN(exec, path, name, skip) do { \
	struct function of = function_of(self->run.said, name, skip); \
	ASSERT_LT(0, of.ns); \
	EXPECT_DUE(name, exec, ticks_between(exec, path, of.start, of.end), \
		   of, self->run.prf.period_ns); \
} while (0)

#define EXPECT_FUNCTION(exec, name, skip) \
	EXPECT_FUNCTION_IN(exec, self->run.program, name, skip)

#define EXPECT_BOTH(exec, skip) do { \
	EXPECT_FUNCTION(exec, "often", skip); \
	EXPECT_FUNCTION(exec, "seldom", skip); \
} while (0)

#define EXPECT_EXIT(code) do { \
	EXPECT_TRUE(WIFEXITED(self->run.status)); \
	EXPECT_EQ(code, WEXITSTATUS(self->run.status)); \
	EXPECT_EQ(PRF_EXITED, self->run.prf.exit_kind); \
	EXPECT_EQ(code, self->run.prf.exit_code); \
} while (0)

#define EXPECT_SIGNAL(signal) do { \
	EXPECT_TRUE(WIFSIGNALED(self->run.status)); \
	EXPECT_EQ(signal, WTERMSIG(self->run.status)); \
	EXPECT_EQ(PRF_SIGNALLED, self->run.prf.exit_kind); \
	EXPECT_EQ(signal, self->run.prf.exit_code); \
} while (0)

/* Check the number of ticks against the CPU time covered. */
#define EXPECT_SUM(exec) do { \
	double due = (double)(exec)->covered_ns / self->run.prf.period_ns; \
	EXPECT_EQ((exec)->ticks, (exec)->counted + (exec)->clipped + \
		  (exec)->outside + (exec)->lost + (exec)->left_out + \
		  (exec)->coarse + (exec)->unresolved); \
	EXPECT_TICKS_DUE((exec)->ticks, due); \
} while (0)

#endif /* SELFTESTS_TOOL_H */
