// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_watch.c - any request of watches, with any argument
 *
 * One thread makes requests that are nearly correct, on a few open files, in
 * memory that nearly is; fuzz/watch_model.c predicts from <linux/profil.h> the
 * effect of each. The error must be the predicted one, and every byte of memory
 * must be as predicted. Once as a user who may watch everything, and once as an
 * ordinary one. fuzz/effort.h describes how to choose the duration.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "watch.h"

#include "fuzz/effort.h"
#include "fuzz/feedback.h"
#include "fuzz/watch_model.h"

NEEDS_ROOT;

#define CALLS		3000

/* Calls between two changes of the memory. */
#define EPOCH		64

/* Calls after which one of the files is replaced. */
#define TURN		12

#define CGROUP		"/sys/fs/cgroup"
#define ERRNOS		134

enum { WATCH, STATUS, STOP, UNWIND, KINDS };

static const char *const kinds[] = { "WATCH", "STATUS", "STOP", "UNWIND" };

FIXTURE(fuzz) {
	int fds[MODEL_FILES];
	struct arena arena;
	struct watch_model model;
	struct child children[3];
	uint64_t seed;
	__u64 state;
	struct effort effort;
	struct feedback feedback;
	uint64_t calls;
	uint64_t seen[KINDS][ERRNOS];
};

FIXTURE_VARIANT(fuzz) {
	uid_t user;
	bool restricted;
};

FIXTURE_VARIANT_ADD(fuzz, by_root) { .user = 0, .restricted = true };
FIXTURE_VARIANT_ADD(fuzz, by_a_user) { .user = NOBODY };

/* Now and then, one that is not open for reading. */
static bool open_file(FIXTURE_DATA(fuzz) *self, int i)
{
	struct model_file *file = &self->model.files[i];

	if (self->fds[i] >= 0)
		close(self->fds[i]);
	memset(file, 0, sizeof(*file));
	file->write_only = number_below(&self->state, 12) == 0;
	self->fds[i] = open(PROFIL_DEVICE, O_CLOEXEC |
			    (file->write_only ? O_WRONLY : O_RDONLY));
	return self->fds[i] >= 0;
}

/* Without the files: what the test closes would go on. */
static int wait_without_files(void *fuzz)
{
	FIXTURE_DATA(fuzz) *self = fuzz;

	for (int i = 0; i < MODEL_FILES; i++)
		close(self->fds[i]);
	return wait_for_signal(NULL);
}

FIXTURE_SETUP(fuzz)
{
	struct fuzz_targets *targets = &self->model.targets;
	struct profil_info *info = &self->model.info;
	siginfo_t ended;

	memset(self, 0, sizeof(*self));
	self->seed = fuzz_seed();
	self->state = self->seed;
	feedback_open(&self->feedback);
	self->model.restricted = variant->restricted;
	if (variant->restricted)
		ASSERT_EQ(0, put_parameter("restrict_fastprof", "1"));
	if (variant->user)
		ASSERT_EQ(0, become(variant->user));
	for (int i = 0; i < MODEL_FILES; i++) {
		self->fds[i] = -1;
		ASSERT_TRUE(open_file(self, i));
	}
	info->size = sizeof(*info);
	ASSERT_EQ(0, ioctl(self->fds[0], PROFIL_IOC_INFO, info));
	ASSERT_TRUE(arena_make(&self->arena, info->max_regions));
	self->model.arena = &self->arena;
	self->model.perfmon = !variant->user;
	/* Two that live, one that has ended, and one of root's */
	for (int i = 0; i < 3; i++) {
		self->children[i] = child_begin(i < 2 ? wait_without_files :
							burn_100_ms, self);
		targets->processes[i] = self->children[i].pid;
		child_go(&self->children[i]);
	}
	ASSERT_EQ(0, waitid(P_PID, self->children[2].pid, &ended,
			    WEXITED | WNOWAIT));
	targets->processes[3] = 1;
	targets->nr_processes = 4;
	targets->cgroup = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	targets->file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	targets->user = variant->user;
}

FIXTURE_TEARDOWN(fuzz)
{
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(-SIGKILL, child_kill(&self->children[i]));
	EXPECT_EQ(0, child_end(&self->children[2]));
	if (variant->restricted)
		EXPECT_EQ(0, put_parameter("restrict_fastprof", "0"));
}

static int kind_of(unsigned int request)
{
	return request == PROFIL_IOC_WATCH ? WATCH :
	       request == PROFIL_IOC_WATCH_STATUS ? STATUS :
	       request == PROFIL_IOC_WATCH_STOP ? STOP : UNWIND;
}

static void explain(struct __test_metadata *_metadata,
		    FIXTURE_DATA(fuzz) *self, const struct attempt *attempt,
		    const struct profil_watch *watch, int due, int error)
{
	TH_LOG("seed %llu, call %llu: %s at view%+lld: errno %d, due %d; memory differs at view+%zu (0: nowhere)",
	       (unsigned long long)self->seed, (unsigned long long)self->calls,
	       kinds[kind_of(attempt->request)],
	       (long long)(attempt->arg - (uintptr_t)self->arena.view), error,
	       -due, arena_difference(&self->arena));
	if (attempt->request == PROFIL_IOC_WATCH)
		TH_LOG("size %u flags %#x target %u id %u period %llu shift %u processes %u images %u objects %u buckets %u names %u",
		       watch->size, watch->flags, watch->target, watch->id,
		       watch->period_ns, watch->bucket_shift, watch->processes,
		       watch->images, watch->objects, watch->buckets,
		       watch->names);
}

static bool one_call(struct __test_metadata *_metadata,
		     FIXTURE_DATA(fuzz) *self)
{
	__u64 kept = feedback_choose(&self->feedback, &self->state);
	struct attempt attempt = fuzz_watch_attempt(&self->arena, &self->state,
						    &self->model.targets, kept);
	int i = number_below(&self->state, MODEL_FILES);
	struct profil_watch watch = { 0 };
	int due, error;

	if (arena_readable(&self->arena, attempt.arg, sizeof(watch)))
		arena_get(&self->arena, attempt.arg, &watch, sizeof(watch));
	errno = 0;
	feedback_begin(&self->feedback);
	ioctl(self->fds[i], attempt.request, attempt.arg);
	error = errno;
	feedback_end(&self->feedback);
	due = watch_model_request(&self->model, &self->model.files[i],
				  &attempt, error);
	self->calls++;
	self->seen[kind_of(attempt.request)][error % ERRNOS]++;
	if (due == -error && !arena_difference(&self->arena))
		return true;
	explain(_metadata, self, &attempt, &watch, due, error);
	return false;
}

/* A fuzzer whose calls all fail with the same error has tested nothing. */
static void expect_every_error(struct __test_metadata *_metadata,
			       FIXTURE_DATA(fuzz) *self, bool is_root)
{
	static const int of_all[] = { 0, EFAULT, EINVAL, E2BIG };
	static const int of_watch[] = { EACCES, ESRCH, EBADF, EBUSY, EPERM };
	bool has_chains = self->model.info.watch_flags & PROFIL_WATCH_CHAINS;

	for (int kind = 0; kind < KINDS; kind++)
		for (int error = 0; error < ERRNOS; error++)
			if (self->seen[kind][error])
				TH_LOG("%s: %s %llu", kinds[kind],
				       error ? strerrorname_np(error) : "ok",
				       (unsigned long long)
					       self->seen[kind][error]);
	for (int kind = 0; kind < KINDS; kind++)
		for (int i = kind == UNWIND && !has_chains; i < 4; i++)
			EXPECT_LT(0, self->seen[kind][of_all[i]]);
	for (int i = 0; i < 5 - is_root; i++)
		EXPECT_LT(0, self->seen[WATCH][of_watch[i]]);
	EXPECT_LT(0, has_chains ? self->seen[UNWIND][EBADF] :
				  self->seen[WATCH][EOPNOTSUPP]);
}

/* The model takes what an earlier status said for what a short one does not say. */
TEST(a_status_that_is_cut)
{
	struct profil_watch_status status = {
		.size = sizeof(status), .state = PROFIL_STATE_ON,
		.period_ns = MS, .images = 1, .objects = PROFIL_OBJECT_FILES,
		.blocked = 0x1ff,
	};
	struct watch_model model = { .perfmon = true };
	struct model_file *file = &model.files[0];
	struct attempt attempt = { .request = PROFIL_IOC_WATCH_STATUS };
	struct arena arena;

	ASSERT_TRUE(arena_make(&arena, 1));
	model.arena = &arena;
	*file = (struct model_file) {
		.had = true, .state = PROFIL_STATE_ON,
		.as = {
			.flags = PROFIL_WATCH_WALL, .period_ns = MS,
			.images = 2, .objects = 8,
		},
	};
	attempt.arg = (uintptr_t)arena.view + PAGE;
	for (size_t size = sizeof(status); size >= 112; size--) {
		status.size = size;
		status.blocked++;
		arena_poke(&arena, attempt.arg, &status, size);
		EXPECT_EQ(0, watch_model_request(&model, file, &attempt, 0));
	}
}

TEST_F_TIMEOUT(fuzz, requests, FUZZ_TIMEOUT)
{
	bool ok = true;

	self->effort = fuzz_effort(CALLS);
	while (ok && fuzz_goes_on(&self->effort)) {
		if (self->calls % EPOCH == 0)
			arena_shuffle(&self->arena, &self->state);
		if (self->calls % TURN == 0)
			ASSERT_TRUE(open_file(self, number_below(&self->state,
							 MODEL_FILES)));
		ok = one_call(_metadata, self);
	}
	EXPECT_TRUE(ok);
	TH_LOG("seed %llu, executed %llu calls, reached %u places",
	       (unsigned long long)self->seed,
	       (unsigned long long)self->calls, self->feedback.nr_reached);
	if (ok)
		expect_every_error(_metadata, self, !variant->user);
}

TEST_HARNESS_MAIN
