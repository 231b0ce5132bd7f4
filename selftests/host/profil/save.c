// SPDX-License-Identifier: GPL-2.0-only
/*
 * save.c - profiles that cannot be written as they are
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "profil/save.h"
#include "util/file.h"

#define PATH	"/tmp/profil-save-%d.prf"

FIXTURE(save)
{
	struct session session;
	struct prf_exec *exec;
	struct prf_dso *dso;
};

FIXTURE_SETUP(save)
{
	ASSERT_LE(0, asprintf(&self->session.output, PATH, getpid()));
	ASSERT_EQ(0, save_check(&self->session));
	self->session.no_names = true;
	self->session.prf.period_ns = 1000000;
	self->session.prf.clock = PRF_CLOCK_PERF;
	self->session.prf.command = strdup("program");
	self->exec = prf_add_exec(&self->session.prf, "program", "");
	ASSERT_NE(NULL, self->exec);
	self->dso = prf_add_dso(self->exec, "/nonexistent");
	ASSERT_NE(NULL, self->dso);
	self->dso->kind = PRF_PROGRAM;
	self->dso->bucket_bytes = 4;
	self->dso->start = 4096;
	self->dso->end = 1 << 20;
	self->exec->ticks = 3;
	self->exec->counted = 3;
	ASSERT_EQ(0, prf_add_bucket(self->dso, 64, 3));
}

FIXTURE_TEARDOWN(save)
{
	prf_free(&self->session.prf);
	unlink(self->session.output);
	free(self->session.output);
}

/* As those of a build of some hours, by perf events */
TEST_F(save, without_chains_if_there_are_too_many)
{
	struct prf *prf = &self->session.prf, read = {};
	struct prf_error error;
	uint32_t caller = 0;
	size_t size, i;
	void *data;

	prf->flags |= PRF_FLAG_CHAINS;
	for (i = 1; i < PRF_CHAIN_DEPTH; i++) {
		ASSERT_NE(NULL, prf_add_node(self->exec, caller, 0, 8 * i, 0, 0));
		caller = i;
	}
	for (i = 0; i <= PRF_FRAMES_MOST / PRF_CHAIN_DEPTH; i++)
		if (!prf_add_node(self->exec, caller, 0, 64, i ? 0 : 3, 0))
			abort();
	EXPECT_EQ(0, save_run(&self->session));
	data = file_read(self->session.output, &size);
	ASSERT_NE(NULL, data);
	ASSERT_EQ(0, prf_read(data, size, &read, &error));
	free(data);
	EXPECT_EQ(0, read.flags & PRF_FLAG_CHAINS);
	ASSERT_EQ(1, read.nr);
	EXPECT_EQ(3, read.execs[0].ticks);
	EXPECT_EQ(3, prf_dso_ticks(&read.execs[0].dsos[0]));
	prf_free(&read);
}

/* As on a disk that is full */
TEST_F(save, and_leave_no_part_of_a_file)
{
	struct rlimit limit;
	struct stat status;
	rlim_t usual;

	signal(SIGXFSZ, SIG_IGN);
	self->session.made = false;
	ASSERT_EQ(0, getrlimit(RLIMIT_FSIZE, &limit));
	usual = limit.rlim_cur;
	limit.rlim_cur = 64;
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &limit));
	EXPECT_EQ(-1, save_run(&self->session));
	limit.rlim_cur = usual;
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &limit));
	EXPECT_EQ(-1, stat(self->session.output, &status));
	EXPECT_EQ(ENOENT, errno);
}

TEST_HARNESS_MAIN
