/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tool_fixture.h - fixture with a run of tools/profil for each test
 *
 * Include it after kselftest_harness.h and tool.h.
 */
#ifndef SELFTESTS_TOOL_FIXTURE_H
#define SELFTESTS_TOOL_FIXTURE_H

FIXTURE(tool) {
	struct tool run;
};

FIXTURE_SETUP(tool)
{
	ASSERT_EQ(0, tool_make(&self->run));
}

FIXTURE_TEARDOWN(tool)
{
	tool_free(&self->run);
}

#endif /* SELFTESTS_TOOL_FIXTURE_H */
