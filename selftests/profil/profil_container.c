// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_container.c - tools/profil in a container
 */
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "container.h"
#include "tool.h"

/* The tool runs in the container, so its results are in shared memory. */
FIXTURE(contained) {
	struct tool run;
	struct tool *shared;
};

FIXTURE_SETUP(contained)
{
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	ASSERT_EQ(0, tool_make(&self->run));
	if (!geteuid())
		ASSERT_EQ(0, chown(self->run.directory, CONTAINER_USER,
				   CONTAINER_USER));
	*self->shared = self->run;
}

FIXTURE_TEARDOWN(contained)
{
	tool_free(&self->run);
	munmap(self->shared, sizeof(*self->shared));
}

static void run_tool(void *argument)
{
	tool_run(argument, NO_OPTIONS, "workload", LIST("burn", "7"));
}

/* Run it; the harness skips by returning from the test. */
#define RUN_IN(...) do { \
	const struct container container = { __VA_ARGS__ }; \
	int result; \
	if (geteuid() || !tool_has_module()) \
		SKIP(return, "needs root and the module"); \
	result = run_in_container(&container, run_tool, self->shared); \
	if (result == CONTAINER_REFUSED) \
		SKIP(return, "users may not make namespaces"); \
	ASSERT_EQ(0, result); \
	self->run = *self->shared; \
	memset(&self->run.prf, 0, sizeof(self->run.prf)); \
	if (tool_has_file(&self->run, "out.prf")) \
		ASSERT_EQ(0, tool_load(&self->run, "out.prf", &self->run.prf)); \
} while (0)

/* As with --security-opt seccomp=unconfined. */
TEST_F(contained, profiles_without_a_filter)
{
	RUN_IN(.device = true, .unfiltered = true);
	EXPECT_EXIT(7);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_BOTH(&self->run.prf.execs[0], 0);
	EXPECT_SUM(&self->run.prf.execs[0]);
}

/* As by default. */
TEST_F(contained, profiles_with_a_filter)
{
	RUN_IN(.device = true);
	EXPECT_EXIT(7);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_BOTH(&self->run.prf.execs[0], 0);
	EXPECT_SUM(&self->run.prf.execs[0]);
}

TEST_F(contained, without_the_device_names_the_remedy)
{
	RUN_IN(.device = false);
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_TRUE(strstr(self->run.complained, PROFIL_DEVICE ": No such file or directory; run 'modprobe profil' as root"));
	EXPECT_FALSE(tool_has_file(&self->run, "out.prf"));
}

TEST_HARNESS_MAIN
