// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_chains.c - tools/profil knows what called what
 *
 * Without the module the same tests use perf_event_open(), if it is permitted.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest.h"
#include "kselftest_harness.h"
#include "common.h"
#include "tool.h"
#include "tool_fixture.h"

/* There a tick knows the innermost frame only. */
static void __attribute__((constructor)) need_callers(void)
{
	if (is_preempt_rt())
		ksft_exit_skip("needs a kernel without PREEMPT_RT\n");
}

/* Is a frame's bucket in a function of a file whose path has @path? */
static bool is_in(const struct prf_exec *exec, const struct prf_node *node,
		  const char *path, const struct function *function)
{
	const struct prf_dso *dso;
	uint64_t offset;

	if (node->dso == PRF_NODE_KERNEL)
		return false;
	dso = &exec->dsos[node->dso];
	offset = dso->pgoff + node->offset;
	return strstr(dso->path, path) &&
		offset + dso->bucket_bytes > function->start &&
		offset < function->end;
}

static const struct prf_node *caller_of(const struct prf_exec *exec,
					const struct prf_node *node)
{
	return node->caller && node->caller != PRF_CUT ?
		&exec->nodes[node->caller - 1] : NULL;
}

/* How often a function is in the chain of a frame */
static unsigned int count_in_chain(const struct prf_exec *exec,
				   const struct prf_node *node,
				   const char *path,
				   const struct function *function)
{
	unsigned int nr = 0;

	while ((node = caller_of(exec, node)))
		nr += is_in(exec, node, path, function);
	return nr;
}

/* Ticks of a function that has been called so often by another one */
static double ticks_called(const struct prf *prf, const char *path,
			   const struct function *leaf,
			   const struct function *caller, unsigned int times)
{
	uint64_t ticks = 0;
	size_t i, j;

	for (i = 0; i < prf->nr; i++) {
		const struct prf_exec *exec = &prf->execs[i];

		for (j = 0; j < exec->nr_nodes; j++)
			if (is_in(exec, &exec->nodes[j], path, leaf) &&
			    count_in_chain(exec, &exec->nodes[j], path,
					   caller) == times)
				ticks += exec->nodes[j].count;
	}
	return ticks;
}

/*
 * Has "leaf" the ticks that are due as a function has called it? Some are the
 * kernel's, and some came when nothing could be said of the stack.
 */
static bool has_called(struct __test_metadata *_metadata,
		       const struct tool *run, const char *name,
		       unsigned int times)
{
	struct function leaf = function_of(run->said, "leaf", 0);
	struct function caller = function_of(run->said, name, 0);
	double due = caller.ns / run->prf.period_ns;
	double ticks = ticks_called(&run->prf, "caller", &leaf, &caller, times);

	TH_LOG("%s: %.0f of %.0f ticks", name, ticks, due);
	return ticks > 0.6 * due / slack() && ticks < 1.2 * due + 20;
}

#define CALLED(name, times)	has_called(_metadata, &self->run, name, times)

static void log_ends(struct __test_metadata *_metadata, const struct prf *prf)
{
	int i;

	for (i = 0; i < PRF_CHAIN_ENDS; i++)
		if (prf->chains[i])
			TH_LOG("%s: %llu", prf_endings[i].member,
			       (unsigned long long)prf->chains[i]);
}

static uint64_t all_chains(const struct prf *prf)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < PRF_CHAIN_ENDS; i++)
		sum += prf->chains[i];
	return sum;
}

/*
 * Do few chains end for another reason than that memory or time was missing? The
 * tables of this program and of its libraries were there before it began. All ticks
 * while the host runs others fall at one place, which may have no rule.
 */
static bool is_whole(const struct prf *prf)
{
	const uint64_t *ends = prf->chains;

	return all_chains(prf) / 50 + 5 >=
	       ends[PRF_CHAIN_NO_TABLE] + ends[PRF_CHAIN_NO_RULE] +
	       ends[PRF_CHAIN_ASTRAY] + ends[PRF_CHAIN_DEEP] +
	       ends[PRF_CHAIN_UNMAPPED];
}

/* Do most chains end so? */
#define MOST_END(end) \
	(self->run.prf.chains[end] > all_chains(&self->run.prf) / 2)

/* Run until calls have been seen, and chains are as they should be. */
#define RUN_UNTIL_WHOLE(called, work) do { \
	RUN_UNTIL((called) && MOST_END(PRF_CHAIN_COMPLETE) && \
		  is_whole(&self->run.prf), work); \
	EXPECT_EXIT(0); \
	log_ends(_metadata, &self->run.prf); \
	EXPECT_TRUE(self->run.prf.flags & PRF_FLAG_CHAINS); \
} while (0)

TEST_F(tool, callers_have_their_shares)
{
	RUN_UNTIL_WHOLE(CALLED("often", 1) && CALLED("seldom", 1),
			RUN("caller", "often", "seldom"));
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_SUM(&self->run.prf.execs[0]);
}

TEST_F(tool, a_function_calls_itself)
{
	RUN_UNTIL_WHOLE(CALLED("inner", 21), RUN("caller", "inner"));
}

TEST_F(tool, of_a_static_program)
{
	RUN_UNTIL_WHOLE(CALLED("often", 1), RUN("caller-static", "often"));
}

/*
 * musl has no .eh_frame, so nothing is known of what calls main(). What main()
 * calls has its callers.
 */
#define EXPECT_UP_TO_MAIN(helper) do { \
	if (!tool_has_helper(helper)) \
		SKIP(return, "no musl-gcc"); \
	RUN_UNTIL(CALLED("often", 1) && MOST_END(PRF_CHAIN_NO_RULE), \
		  RUN(helper, "often")); \
	EXPECT_EXIT(0); \
	log_ends(_metadata, &self->run.prf); \
} while (0)

TEST_F(tool, with_musl_up_to_main)
{
	EXPECT_UP_TO_MAIN("caller-musl");
}

TEST_F(tool, of_a_static_program_with_musl_up_to_main)
{
	EXPECT_UP_TO_MAIN("caller-musl-static");
}

/* The whole profile has the ticks that the chains have. */
TEST_F(tool, every_tick_has_a_chain)
{
	const struct prf_exec *exec;
	uint64_t sum = 0;
	size_t i;

	RUN("caller", "seldom");
	ASSERT_EQ(1, self->run.prf.nr);
	exec = &self->run.prf.execs[0];
	for (i = 0; i < exec->nr_nodes; i++)
		sum += exec->nodes[i].count;
	EXPECT_EQ(exec->counted, sum);
	EXPECT_LT(0, sum);
}

TEST_F(tool, callers_by_where_they_call)
{
	struct function often, leaf;
	const struct prf_exec *exec;
	uint64_t ticks[2] = { 0 };
	size_t i;

	RUN_UNTIL(CALLED("often", 1),
		  tool_run(&self->run, LIST("--call-sites"), "caller",
			   LIST("often")));
	EXPECT_EXIT(0);
	EXPECT_TRUE(self->run.prf.flags & PRF_FLAG_CALL_SITES);
	ASSERT_EQ(1, self->run.prf.nr);
	exec = &self->run.prf.execs[0];
	often = function_of(self->run.said, "often", 0);
	leaf = function_of(self->run.said, "leaf", 0);
	for (i = 0; i < exec->nr_nodes; i++) {
		const struct prf_node *caller = caller_of(exec, &exec->nodes[i]);

		if (caller && is_in(exec, &exec->nodes[i], "caller", &leaf) &&
		    is_in(exec, caller, "caller", &often))
			ticks[exec->dsos[caller->dso].pgoff + caller->offset >
			      often.start] += exec->nodes[i].count;
	}
	EXPECT_EQ(0, ticks[0]);
	EXPECT_LT(0, ticks[1]);
}

TEST_F(tool, no_callers)
{
	size_t i;

	tool_run(&self->run, LIST("--flat"), "caller", LIST("seldom"));
	EXPECT_EXIT(0);
	EXPECT_FALSE(self->run.prf.flags & PRF_FLAG_CHAINS);
	EXPECT_EQ(0, all_chains(&self->run.prf));
	for (i = 0; i < self->run.prf.nr; i++)
		EXPECT_EQ(0, self->run.prf.execs[i].nr_nodes);
	EXPECT_SUM(&self->run.prf.execs[0]);
}

/* Without it, no table of what a program loads is there before it starts. */
static int have_no_cache(void)
{
	return setenv("XDG_CACHE_HOME", "/dev/null", 1);
}

/* Its table comes when it has started. */
TEST_F(tool, a_program_that_another_one_executes)
{
	char path[4096];

	helper_path(path, sizeof(path), "caller");
	ASSERT_EQ(0, have_no_cache());
	RUN_UNTIL(CALLED("often", 1),
		  RUN("/bin/sh", "-c", "\"$0\" often; exit 0", path));
	EXPECT_EXIT(0);
	ASSERT_LE(1, self->run.prf.nr);
	log_ends(_metadata, &self->run.prf);
}

/*
 * A file system gives an inode number to the next file. The script fails unless
 * that was so.
 */
TEST_F(tool, a_program_that_replaces_another_one)
{
	static const char script[] =
		"cd " DISK_FS " && cp \"$0\" caller && ./caller seldom > seldom && "
		"was=$(stat -c %i caller) && rm caller && cp \"$0\" caller && "
		"./caller often && [ $was = $(stat -c %i caller) ]";
	char path[4096];

	if (!tool_has_module() || mount_disk_fs())
		SKIP(return, "needs the module, and a file system on a disk");
	helper_path(path, sizeof(path), "caller");
	ASSERT_EQ(0, have_no_cache());
	RUN_UNTIL(CALLED("often", 1), RUN("/bin/sh", "-c", script, path));
	EXPECT_EXIT(0);
	log_ends(_metadata, &self->run.prf);
}

/* Are most ticks in the library called by the program? */
static bool has_callers_in_opener(struct __test_metadata *_metadata,
				  const struct tool *run)
{
	const struct prf_exec *exec = &run->prf.execs[0];
	struct function first = function_of(run->said, "first", 0);
	uint64_t all = 0, called = 0;
	size_t i;

	for (i = 0; i < exec->nr_nodes; i++) {
		const struct prf_node *node = &exec->nodes[i];
		const struct prf_node *caller = caller_of(exec, node);

		if (!is_in(exec, node, "first.so", &first))
			continue;
		all += node->count;
		if (caller && strstr(exec->dsos[caller->dso].path, "opener"))
			called += node->count;
	}
	log_ends(_metadata, &run->prf);
	TH_LOG("%llu of %llu ticks", (unsigned long long)called,
	       (unsigned long long)all);
	return all > 20 && called > all / 2;
}

/* A library that the program opens while it runs: its table comes then. */
TEST_F(tool, a_library_that_is_opened)
{
	char path[4096];

	helper_path(path, sizeof(path), "first.so");
	ASSERT_EQ(0, have_no_cache());
	RUN_UNTIL(self->run.prf.nr == 1 &&
		  has_callers_in_opener(_metadata, &self->run),
		  RUN("opener", "open", path));
	EXPECT_EXIT(0);
}

/*
 * If it was open the last time, too, its table is there before the program starts.
 * Otherwise at least one tick has none: the tool hears of a library by its ticks.
 * On a busy host a program may end before the tool has heard.
 */
TEST_F(tool, a_library_that_was_opened_the_last_time)
{
	char path[4096], cache[256];

	helper_path(path, sizeof(path), "first.so");
	snprintf(cache, sizeof(cache), "%s/cache", self->run.directory);
	setenv("XDG_CACHE_HOME", cache, 1);
	RUN_UNTIL(self->run.prf.nr == 1 &&
		  has_callers_in_opener(_metadata, &self->run) &&
		  !self->run.prf.chains[PRF_CHAIN_NO_TABLE],
		  RUN("opener", "open", path));
	EXPECT_EXIT(0);
	snprintf(path, sizeof(path), "rm -rf %s", cache);
	EXPECT_EQ(0, system(path));
}

/* --- what runs already */

static pid_t start_ever(int *output)
{
	char path[4096];
	int ends[2];
	pid_t child;

	helper_path(path, sizeof(path), "caller");
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	child = fork();
	if (!child) {
		dup2(ends[1], STDOUT_FILENO);
		execl(path, path, "ever", NULL);
		_exit(99);
	}
	close(ends[1]);
	*output = ends[0];
	return child;
}

/*
 * Attach to a program, and check that the function has callers. Its table is made
 * meanwhile, and may come late.
 */
#define ATTACH(...) do { \
	struct function leaf; \
	char line[128] = ""; \
	int output; \
	pid_t child = start_ever(&output); \
	ASSERT_LT(0, child); \
	ASSERT_LT(0, read(output, line, sizeof(line) - 1)); \
	leaf = function_of(line, "leaf", 0); \
	snprintf(pid, sizeof(pid), "%d", child); \
	TRY_UNTIL(ticks_with_callers(&self->run.prf, &leaf) > 100 / slack()) { \
		tool_run(&self->run, LIST(__VA_ARGS__, "--duration=3"), NULL, \
			 NO_OPTIONS); \
		EXPECT_EQ(0, WEXITSTATUS(self->run.status)); \
		log_ends(_metadata, &self->run.prf); \
	} \
	kill(child, SIGKILL); \
	waitpid(child, NULL, 0); \
	close(output); \
	EXPECT_LT(100 / slack(), ticks_with_callers(&self->run.prf, &leaf)); \
} while (0)

/* Ticks of the function in chains that have at least three callers */
static double ticks_with_callers(const struct prf *prf,
				 const struct function *leaf)
{
	const struct prf_node *caller;
	uint64_t ticks = 0;
	size_t i, j;
	int nr;

	for (i = 0; i < prf->nr; i++) {
		const struct prf_exec *exec = &prf->execs[i];

		for (j = 0; j < exec->nr_nodes; j++) {
			if (!is_in(exec, &exec->nodes[j], "caller", leaf))
				continue;
			caller = &exec->nodes[j];
			for (nr = 0; (caller = caller_of(exec, caller)); nr++)
				;
			ticks += nr >= 3 ? exec->nodes[j].count : 0;
		}
	}
	return ticks;
}

TEST_F(tool, chains_of_a_process)
{
	char pid[16];

	ATTACH("-p", pid);
}

#define NEED_MODULE() do { \
	if (!tool_has_module()) \
		SKIP(return, "no module"); \
} while (0)

TEST_F(tool, chains_of_a_user)
{
	char pid[16];

	NEED_MODULE();
	ATTACH("--user");
}

#define CGROUPS		"/sys/fs/cgroup"
#define CGROUP		CGROUPS "/profil_chains"

TEST_F(tool, chains_of_a_cgroup)
{
	char pid[16];

	NEED_MODULE();
	/* With what this process starts from now on */
	if (mkdir(CGROUP, 0755) || enter_cgroup(0, CGROUP)) {
		rmdir(CGROUP);
		SKIP(return, "this makes cgroups of version 2");
	}
	ATTACH("--cgroup=" CGROUP);
	EXPECT_EQ(0, enter_cgroup(0, CGROUPS));
	EXPECT_EQ(0, remove_cgroup(CGROUP));
}

TEST_F(tool, chains_of_the_machine)
{
	char pid[16];

	NEED_MODULE();
	if (geteuid())
		SKIP(return, "needs root");
	ATTACH("-a");
}

TEST_HARNESS_MAIN
