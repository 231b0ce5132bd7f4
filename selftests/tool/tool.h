/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tool.h - what the tests of tools/profil share
 *
 * Helpers are run under it, in a directory of their own, and what they say of
 * themselves is compared with the file. Include it after common.h.
 */
#ifndef SELFTESTS_TOOL_H
#define SELFTESTS_TOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "../../tools/prf.h"

/**
 * struct tool - a run of the tool, and what came of it
 * @directory: where it runs
 * @tool: its path
 * @program: path of what is run under it
 * @status: how it ended
 * @said: what came from the standard output
 * @complained: what came from the standard error
 * @prf: the file, which is called "out.prf"
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

pid_t tool_start(struct tool *tool, const char *const *options,
		 const char *helper, const char *const *deeds, int pipes[3]);
void tool_finish(struct tool *tool, pid_t child, int pipes[3]);
void tool_run(struct tool *tool, const char *const *options,
	      const char *helper, const char *const *deeds);
bool tool_has_file(const struct tool *tool, const char *name);
int tool_load(const struct tool *tool, const char *name, struct prf *prf);
int tool_load_all(const struct tool *tool, struct prf *files, int most);

#define LIST(...) ((const char *const []) { __VA_ARGS__, NULL })
#define NO_OPTIONS ((const char *const []) { NULL })

/* Run a helper, which does some deeds. */
#define RUN(helper, ...) \
	tool_run(&self->run, NO_OPTIONS, helper, LIST(__VA_ARGS__))

double ticks_between(const struct prf_image *image, const char *path,
		     uint64_t start, uint64_t end);

/**
 * struct function - what the helper says of one
 * @start: first address
 * @end: the one after the last
 * @ns: CPU time spent there, in all its threads and children
 */
struct function {
	uint64_t start;
	uint64_t end;
	double ns;
};

struct function function_of(const char *said, const char *name, int skip);

/* Ticks of a function in an object whose path has @path in it. */
#define EXPECT_FUNCTION_IN(image, path, name, skip) do { \
	struct function of = function_of(self->run.said, name, skip); \
	double due = of.ns / self->run.prf.period_ns; \
	ASSERT_LT(0, of.ns); \
	EXPECT_CHANCE(name, ticks_between(image, path, of.start, of.end), \
		      due, due); \
} while (0)

#define EXPECT_FUNCTION(image, name, skip) \
	EXPECT_FUNCTION_IN(image, self->run.program, name, skip)

#define EXPECT_BOTH(image, skip) do { \
	EXPECT_FUNCTION(image, "often", skip); \
	EXPECT_FUNCTION(image, "seldom", skip); \
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

/* Ticks and the CPU time that was covered, within chance. */
#define EXPECT_SUM(image) do { \
	double due = (double)(image)->covered_ns / self->run.prf.period_ns; \
	EXPECT_EQ((image)->ticks, (image)->counted + (image)->clipped + \
		  (image)->outside + (image)->lost + (image)->left_out); \
	EXPECT_CHANCE("ticks", (image)->ticks, due, due); \
} while (0)

#endif /* SELFTESTS_TOOL_H */
