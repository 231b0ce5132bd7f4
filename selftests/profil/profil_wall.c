// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_wall.c - tools/profil knows what threads wait in
 *
 * Lives have as many ticks as periods fit into them, and at most two more or
 * fewer: no bound here is one of chance.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "tool.h"
#include "tool_fixture.h"

/* A tick falls in each period of a life, and that is cut at both ends. */
#define CUT	2

/*
 * A thread is not in a wait yet when it has looked at the clock, or when its timer
 * runs: a busy host may leave it there for long.
 */
#define PART	0.5

/* All tests need the module's watches. */
#define NEED_MODULE() do { \
	if (!tool_has_module()) \
		SKIP(return, "no module"); \
} while (0)

#define WAIT(...) \
	tool_run(&self->run, LIST("--wall"), "waiter", LIST(__VA_ARGS__))

/* How long an action took, as the helper has printed it, in nanoseconds */
static double ns_of(const struct tool *run, const char *action)
{
	const char *line = run->said;
	size_t length = strlen(action);

	while (line && (strncmp(line, action, length) || line[length] != ' ')) {
		line = strchr(line, '\n');
		line += !!line;
	}
	return line ? strtod(line + length, NULL) : 0;
}

static double periods_of(const struct tool *run, const char *action)
{
	return ns_of(run, action) / run->prf.period_ns;
}

/* Ticks of all execs in a state and in a wait; NULL: in any */
static uint64_t ticks_in(const struct prf *prf, enum prf_state state,
			 const char *name)
{
	const struct prf_dso *dso;
	struct prf_at at = {};
	uint64_t ticks = 0;
	size_t i, j;

	while ((dso = prf_next(prf, 1, &at))) {
		if (prf_state_of(dso) != state)
			continue;
		for (i = 0; i < dso->nr; i++)
			for (j = 0; j < dso->nr_symbols; j++)
				if (dso->symbols[j].start ==
				    dso->buckets[i].offset &&
				    (!name ||
				     !strcmp(name, dso->symbols[j].name)))
					ticks += dso->buckets[i].count;
	}
	return ticks;
}

static uint64_t all_ticks(const struct prf *prf)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < prf->nr; i++)
		ticks += prf->execs[i].ticks + prf_waits(&prf->execs[i]);
	return ticks;
}

/* Are these the ticks of a wait that takes @ms, or more? */
static bool are_due(const struct prf *prf, uint64_t ticks, unsigned int ms)
{
	return PART * ms * MS / prf->period_ns - CUT <= ticks;
}

/* Of a wait that the host makes longer than a second, all ticks are idle. */
static bool has_wait(const struct prf *prf, enum prf_state state,
		     const char *name, unsigned int ms)
{
	return are_due(prf, ticks_in(prf, state, name), ms);
}

/* An action has no more ticks than time */
#define EXPECT_WAIT(state, name, action) do { \
	uint64_t ticks = ticks_in(&self->run.prf, state, name); \
	TH_LOG("%s: %llu ticks, %.1f periods", name, \
	       (unsigned long long)ticks, periods_of(&self->run, action)); \
	EXPECT_GE(periods_of(&self->run, action) + CUT, ticks); \
} while (0)

#define EXPECT_ACCOUNT(prf) do { \
	size_t i_; \
	int state_; \
	for (i_ = 0; i_ < (prf)->nr; i_++) \
		EXPECT_EQ((prf)->execs[i_].ticks, \
			  (prf)->execs[i_].counted + \
			  (prf)->execs[i_].coarse + \
			  (prf)->execs[i_].unresolved); \
	for (state_ = PRF_RUNNABLE; state_ < PRF_STATES; state_++) { \
		uint64_t sum_ = 0; \
		for (i_ = 0; i_ < (prf)->nr; i_++) \
			sum_ += (prf)->execs[i_].waits[state_]; \
		EXPECT_EQ(sum_, ticks_in(prf, state_, NULL)); \
	} \
} while (0)

/* All that one thread has done since it was executed, and not much more */
TEST_F(tool, the_life_of_a_thread)
{
	double life;

	NEED_MODULE();
	WAIT("sleep", "compute", "sleep");
	EXPECT_EXIT(0);
	EXPECT_TRUE(self->run.prf.flags & PRF_FLAG_WALL);
	EXPECT_EQ(0, self->run.prf.unfollowed_threads);
	EXPECT_ACCOUNT(&self->run.prf);
	life = periods_of(&self->run, "life");
	TH_LOG("%llu ticks, %.1f periods",
	       (unsigned long long)all_ticks(&self->run.prf), life);
	EXPECT_LE(life - CUT, all_ticks(&self->run.prf));
	EXPECT_GE((double)self->run.prf.wall_ns / self->run.prf.period_ns + CUT,
		  all_ticks(&self->run.prf));
	EXPECT_LE(PART * 300 * MS / self->run.prf.period_ns,
		  self->run.prf.execs[0].ticks);
}

TEST_F(tool, waits_have_their_names_and_times)
{
	NEED_MODULE();
	/* The second one is of the thread that writes */
	RUN_UNTIL(has_wait(&self->run.prf, PRF_BLOCKED, "read", 300) &&
		  has_wait(&self->run.prf, PRF_BLOCKED, "clock_nanosleep", 300),
		  WAIT("pipe"));
	EXPECT_EXIT(0);
	EXPECT_WAIT(PRF_BLOCKED, "read", "pipe");
	EXPECT_WAIT(PRF_BLOCKED, "clock_nanosleep", "pipe");
	EXPECT_ACCOUNT(&self->run.prf);
}

TEST_F(tool, long_waits_are_idle)
{
	NEED_MODULE();
	RUN_UNTIL(has_wait(&self->run.prf, PRF_IDLE, "clock_nanosleep", 1500) &&
		  has_wait(&self->run.prf, PRF_BLOCKED, "clock_nanosleep", 300) &&
		  ns_of(&self->run, "sleep") < 900 * MS,
		  WAIT("idle", "sleep"));
	EXPECT_EXIT(0);
	EXPECT_WAIT(PRF_IDLE, "clock_nanosleep", "idle");
	EXPECT_WAIT(PRF_BLOCKED, "clock_nanosleep", "sleep");
}

/* The name of a function in the chain of each wait */
static uint64_t ticks_below(const struct prf *prf, const char *path)
{
	uint64_t ticks = 0;
	size_t i, j;

	for (i = 0; i < prf->nr; i++) {
		const struct prf_exec *exec = &prf->execs[i];

		for (j = 0; j < exec->nr_nodes; j++) {
			const struct prf_node *node = &exec->nodes[j];
			uint32_t caller = node->caller;

			if (node->dso == PRF_NODE_KERNEL ||
			    prf_state_of(&exec->dsos[node->dso]) != PRF_BLOCKED)
				continue;
			while (caller && caller != PRF_CUT &&
			       !strstr(exec->dsos[exec->nodes[caller - 1].dso]
				       .path, path))
				caller = exec->nodes[caller - 1].caller;
			if (caller && caller != PRF_CUT)
				ticks += node->count;
		}
	}
	return ticks;
}

TEST_F(tool, waits_have_callers)
{
	NEED_MODULE();
	if (is_preempt_rt() || is_linux_before(6, 1))
		SKIP(return, "no chains of waits that end here");
	RUN_UNTIL(!(self->run.prf.flags & PRF_FLAG_CHAINS) ||
		  are_due(&self->run.prf,
			  ticks_below(&self->run.prf, "/waiter"), 300),
		  WAIT("sleep"));
	EXPECT_EXIT(0);
	if (!(self->run.prf.flags & PRF_FLAG_CHAINS))
		SKIP(return, "no chains here");
}

TEST_F(tool, waits_without_callers)
{
	NEED_MODULE();
	RUN_UNTIL(has_wait(&self->run.prf, PRF_BLOCKED, "clock_nanosleep", 300),
		  tool_run(&self->run, LIST("--wall", "--flat"), "waiter",
			   LIST("sleep")));
	EXPECT_EXIT(0);
	EXPECT_EQ(0, self->run.prf.execs[0].nr_nodes);
	EXPECT_WAIT(PRF_BLOCKED, "clock_nanosleep", "sleep");
	EXPECT_ACCOUNT(&self->run.prf);
}

#define SERVING	9

static pid_t start_server(void)
{
	pid_t child = fork();
	char path[4096];

	if (!child) {
		helper_path(path, sizeof(path), "waiter");
		execl(path, "waiter", "serve", NULL);
		_exit(99);
	}
	return wait_for_threads(child, SERVING) ? -1 : child;
}

/*
 * Attached to: 9 threads for a second, most of which wait until the end. What
 * they are in is not lost then.
 */
TEST_F(tool, a_server_with_idle_threads)
{
	struct timespec before, after;
	double periods;
	char pid[16];
	pid_t child;

	NEED_MODULE();
	child = start_server();
	ASSERT_LT(0, child);
	snprintf(pid, sizeof(pid), "%d", child);
	clock_gettime(CLOCK_MONOTONIC, &before);
	tool_run(&self->run, LIST("--wall", "--duration=2", "-p", pid), NULL,
		 NO_OPTIONS);
	clock_gettime(CLOCK_MONOTONIC, &after);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	EXPECT_EQ(0, WEXITSTATUS(self->run.status));
	EXPECT_ACCOUNT(&self->run.prf);
	periods = ((after.tv_sec - before.tv_sec) * SECOND + after.tv_nsec -
		   before.tv_nsec) / (double)self->run.prf.period_ns;
	TH_LOG("%llu ticks; %llu in futex, %llu in clock_nanosleep",
	       (unsigned long long)all_ticks(&self->run.prf),
	       (unsigned long long)
	       ticks_in(&self->run.prf, PRF_BLOCKED, "futex"),
	       (unsigned long long)
	       ticks_in(&self->run.prf, PRF_BLOCKED, "clock_nanosleep"));
	EXPECT_LE(SERVING * (2 * SECOND / self->run.prf.period_ns - CUT),
		  all_ticks(&self->run.prf));
	EXPECT_GE(SERVING * (periods + CUT), all_ticks(&self->run.prf));
	EXPECT_LT(0, ticks_in(&self->run.prf, PRF_BLOCKED, "futex"));
	EXPECT_LT(0, ticks_in(&self->run.prf, PRF_BLOCKED, "clock_nanosleep"));
	/* Nothing else was in more than some ticks */
	EXPECT_GE(0.05 * all_ticks(&self->run.prf),
		  ticks_in(&self->run.prf, PRF_BLOCKED, "[unknown]"));
}

TEST_F(tool, waits_of_a_user)
{
	char pid[16];
	pid_t child;
	size_t i, found = 0;

	NEED_MODULE();
	child = start_server();
	ASSERT_LT(0, child);
	snprintf(pid, sizeof(pid), "%d", child);
	tool_run(&self->run, LIST("--wall", "--duration=1", "--user"), NULL,
		 NO_OPTIONS);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	EXPECT_EQ(0, WEXITSTATUS(self->run.status));
	EXPECT_ACCOUNT(&self->run.prf);
	for (i = 0; i < self->run.prf.nr; i++) {
		const struct prf_exec *exec = &self->run.prf.execs[i];

		if (exec->pid != child)
			continue;
		found++;
		EXPECT_LE(SERVING * (SECOND / self->run.prf.period_ns - CUT),
			  exec->ticks + prf_waits(exec));
	}
	EXPECT_EQ(1, found);
}

#define CGROUPS		"/sys/fs/cgroup"
#define CGROUP		CGROUPS "/profil_wall"

/* Of those in the cgroup, and of nobody else. */
TEST_F(tool, waits_of_a_cgroup)
{
	pid_t inside, outside;
	size_t i, found = 0;

	NEED_MODULE();
	if (getuid() || mkdir(CGROUP, 0755))
		SKIP(return, "this makes cgroups of version 2");
	outside = start_server();
	inside = start_server();
	ASSERT_LT(0, outside);
	ASSERT_LT(0, inside);
	EXPECT_EQ(0, enter_cgroup(inside, CGROUP));
	tool_run(&self->run, LIST("--wall", "--duration=1",
				  "--cgroup=" CGROUP), NULL, NO_OPTIONS);
	kill(outside, SIGKILL);
	kill(inside, SIGKILL);
	waitpid(outside, NULL, 0);
	waitpid(inside, NULL, 0);
	EXPECT_EQ(0, remove_cgroup(CGROUP));
	EXPECT_EQ(0, WEXITSTATUS(self->run.status));
	EXPECT_ACCOUNT(&self->run.prf);
	for (i = 0; i < self->run.prf.nr; i++) {
		const struct prf_exec *exec = &self->run.prf.execs[i];

		EXPECT_EQ(inside, exec->pid);
		EXPECT_STREQ("/profil_wall", exec->cgroup);
		found++;
		EXPECT_LE(SERVING * (SECOND / self->run.prf.period_ns - CUT),
			  exec->ticks + prf_waits(exec));
	}
	EXPECT_EQ(1, found);
}

/* Seconds that all threads have had, and that have passed, in the live view */
static double lives_of(const char *text, double *passed)
{
	double lives = 0, seconds, cpus, waits[3];

	*passed = 0;
	while ((text = strstr(text, " ms in "))) {
		if (sscanf(text, " ms in %lf s: %lf CPUs, %lf threads runnable, %lf threads blocked, %lf threads idle",
			   &seconds, &cpus, &waits[0], &waits[1],
			   &waits[2]) == 5)
			lives += seconds * (cpus + waits[0] + waits[1] +
					    waits[2]);
		*passed += seconds;
		text++;
	}
	return lives;
}

TEST_F(tool, waits_in_the_live_view)
{
	char command[8192], text[8192];
	double lives, passed;
	uint64_t begin;
	size_t length;
	pid_t child;
	FILE *top;

	NEED_MODULE();
	child = start_server();
	ASSERT_LT(0, child);
	snprintf(command, sizeof(command),
		 "%s top --wall -p %d --duration=4 --top=4", self->run.tool,
		 child);
	RUN_UNTIL(strstr(text, " futex [blocked]\n") &&
		  strstr(text, " clock_nanosleep [blocked]\n") &&
		  passed > 3.5 && 0.9 * SERVING * passed <= lives, {
		begin = monotonic_ns();
		top = popen(command, "r");
		ASSERT_TRUE(top);
		length = fread(text, 1, sizeof(text) - 1, top);
		text[length] = '\0';
		EXPECT_EQ(0, pclose(top));
		TH_LOG("%.500s", text);
		lives = lives_of(text, &passed);
		EXPECT_GE(SERVING * ((monotonic_ns() - begin) / 1e9) + 1, lives);
	});
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

TEST_F(tool, waits_in_the_file_of_a_process)
{
	bool is_found = false;
	struct prf files[21];
	int tries = 0, nr;

	NEED_MODULE();
	TRY_UNTIL(is_found) {
		tool_run(&self->run, LIST("--wall", "--per-process"), "waiter",
			 LIST("sleep"));
		EXPECT_EQ(0, WEXITSTATUS(self->run.status));
		/* Those of all tries */
		nr = tool_load_all(&self->run, files, 21);
		EXPECT_EQ(++tries, nr);
		while (nr--) {
			EXPECT_TRUE(files[nr].flags & PRF_FLAG_WALL);
			is_found |= has_wait(&files[nr], PRF_BLOCKED,
					     "clock_nanosleep", 300);
			prf_free(&files[nr]);
		}
	}
	EXPECT_TRUE(is_found);
}

TEST_HARNESS_MAIN
