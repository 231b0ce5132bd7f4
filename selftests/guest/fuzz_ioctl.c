// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_ioctl.c - any call of the device, with any argument
 *
 * One thread makes requests that are nearly correct, in memory that nearly is;
 * fuzz/model.c predicts from <linux/profil.h> the effect of each. The error
 * must be the predicted one, every byte of memory must be as predicted, and so
 * must the profile that runs afterwards. fuzz/effort.h describes how to choose
 * the duration.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"

#include "fuzz/effort.h"
#include "fuzz/feedback.h"
#include "fuzz/make.h"
#include "fuzz/model.h"

NEEDS_ROOT;

#define CALLS		20000
#define OTHER_CALLS	10000

/* Calls between two changes of the administrator's limits. */
#define EPOCH		64

#define ERRNOS		134

enum { SET, STOP, STATUS, INFO, ACCOUNT, UNKNOWN, KINDS };

static const char *const kinds[] = {
	"SET", "STOP", "STATUS", "INFO", "ACCOUNT", "unknown",
};

FIXTURE(fuzz) {
	int fds[2];
	struct arena arena;
	struct model model;
	uint64_t seed;
	__u64 state;
	struct effort effort;
	struct feedback feedback;
	struct profil_status last;
	uint64_t calls;
	uint64_t seen[KINDS][ERRNOS];
};

/* Set a parameter of the module. */
static bool allow(const char *name, unsigned int value)
{
	char path[100], text[20];
	int fd, size;
	bool ok;

	snprintf(path, sizeof(path), "/sys/module/profil/parameters/%s", name);
	size = snprintf(text, sizeof(text), "%u", value);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ok = fd >= 0 && write(fd, text, size) == size;
	close(fd);
	return ok;
}

static bool allow_room(bool room)
{
	struct rlimit limit;

	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = room ? limit.rlim_max : 1;
	return !setrlimit(RLIMIT_AS, &limit);
}

FIXTURE_SETUP(fuzz)
{
	struct profil_info *info = &self->model.info;

	memset(self, 0, sizeof(*self));
	self->fds[0] = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	self->fds[1] = open(PROFIL_DEVICE, O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, self->fds[0]);
	ASSERT_LE(0, self->fds[1]);
	info->size = sizeof(*info);
	ASSERT_EQ(0, ioctl(self->fds[0], PROFIL_IOC_INFO, info));
	ASSERT_TRUE(arena_make(&self->arena, info->max_regions));
	self->model.arena = &self->arena;
	self->last.size = sizeof(self->last);
	self->seed = fuzz_seed();
	self->state = self->seed;
	feedback_open(&self->feedback);
}

FIXTURE_TEARDOWN(fuzz)
{
	EXPECT_TRUE(allow_room(true));
	EXPECT_TRUE(allow("restrict_fastprof", 0));
	EXPECT_TRUE(allow("max_profiles", self->model.info.max_profiles));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
}

static int kind_of(unsigned int request)
{
	switch (request) {
	case PROFIL_IOC_SET:
		return SET;
	case PROFIL_IOC_STOP:
		return STOP;
	case PROFIL_IOC_STATUS:
		return STATUS;
	case PROFIL_IOC_INFO:
		return INFO;
	case PROFIL_IOC_ACCOUNT:
		return ACCOUNT;
	default:
		return UNKNOWN;
	}
}

/* Set new limits, so that other requests fail, and make new memory. */
static bool new_epoch(FIXTURE_DATA(fuzz) *self)
{
	struct model *model = &self->model;
	unsigned int which = number_below(&self->state, 8);

	model->restricted = which == 0 || which == 1;
	model->no_quota = which == 1 || which == 2;
	model->no_room = which == 3;
	arena_shuffle(&self->arena, &self->state);
	return allow_room(!model->no_room) &&
	       allow("restrict_fastprof", model->restricted) &&
	       allow("max_profiles",
		     model->no_quota ? 0 : model->info.max_profiles);
}

static bool overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

/* The regions' stats in one reading add up to those of the profile. */
static bool adds_up(const struct arena *arena, uint64_t arg,
		    const struct profil_status *status)
{
	struct profil_region_status sum = { 0 }, one;
	uint32_t i;

	if (!status->regions || status->max_regions < status->nr_regions ||
	    overlap(arg, status->size, status->regions,
		    status->nr_regions * sizeof(one)))
		return true;
	for (i = 0; i < status->nr_regions; i++) {
		arena_get(arena, status->regions + i * sizeof(one), &one,
			  sizeof(one));
		if (one.state > PROFIL_REGION_FILE || one.reserved)
			return false;
		sum.counted += one.counted;
		sum.clipped += one.clipped;
		sum.lost += one.lost;
		sum.kernel += one.kernel;
	}
	return sum.counted == status->counts.counted &&
	       sum.clipped == status->counts.clipped &&
	       sum.lost == status->counts.lost &&
	       sum.kernel <= status->counts.kernel;
}

/* Check a status, also the last one of a profile that ran @before a stop. */
static bool is_right_report(const struct model *before,
			    const struct attempt *attempt)
{
	bool is_stop = attempt->request == PROFIL_IOC_STOP;
	struct profil_status status;

	if (!attempt->arg || (attempt->request != PROFIL_IOC_STATUS &&
			      !is_stop))
		return true;
	arena_get(before->arena, attempt->arg, &status, sizeof(status));
	if (is_stop && status.state == PROFIL_STATE_ON)
		return false;
	if (is_stop && before->runs && status.state == PROFIL_STATE_OFF)
		status.state = PROFIL_STATE_ON;
	return model_agrees(before, &status) &&
	       adds_up(before->arena, attempt->arg, &status);
}

/* The predicted profile runs, and has not started again. */
static bool goes_on_right(FIXTURE_DATA(fuzz) *self, bool is_new)
{
	struct profil_status now = { .size = sizeof(now) };
	bool ok;

	ok = !ioctl(self->fds[0], PROFIL_IOC_STATUS, &now) &&
	     model_agrees(&self->model, &now);
	if (!is_new)
		ok = ok && now.counts.ticks >= self->last.counts.ticks &&
		     now.cpu_time_ns >= self->last.cpu_time_ns &&
		     now.state >= self->last.state;
	self->last = now;
	return ok;
}

/* Check every visible effect of a call. */
static bool is_right(FIXTURE_DATA(fuzz) *self, const struct model *before,
		     const struct attempt *attempt, int due, int error)
{
	bool is_new = self->model.runs != before->runs ||
		      (!error && attempt->request == PROFIL_IOC_SET);

	if (due != error || arena_difference(&self->arena))
		return false;
	if (!error && !is_right_report(before, attempt))
		return false;
	return goes_on_right(self, is_new);
}

/* Print the fields of a PROFIL_IOC_SET that went wrong. */
static void explain_set(struct __test_metadata *_metadata,
			const struct arena *arena, uint64_t arg)
{
	struct profil_set set;

	if (!arena_readable(arena, arg, sizeof(set)))
		return;
	arena_get(arena, arg, &set, sizeof(set));
	TH_LOG("size %u flags %#x width %u, %u regions at view%+lld, period %llu, timeval of %u at view%+lld, reserved %u",
	       set.size, set.flags, set.width, set.nr_regions,
	       (long long)(set.regions - (uintptr_t)arena->view),
	       (unsigned long long)set.period_ns, set.timeval_size,
	       (long long)(set.timeval - (uintptr_t)arena->view),
	       set.reserved);
}

static void explain(struct __test_metadata *_metadata,
		    FIXTURE_DATA(fuzz) *self, const struct attempt *attempt,
		    int due, int error)
{
	TH_LOG("seed %llu, call %llu: %s (%#x) at view%+lld: errno %d, due %d",
	       (unsigned long long)self->seed, (unsigned long long)self->calls,
	       kinds[kind_of(attempt->request)], attempt->request,
	       (long long)(attempt->arg - (uintptr_t)self->arena.view), error,
	       due);
	TH_LOG("memory differs at view+%zu (0: nowhere); the profile: state %u flags %#x width %u period %llu, %u regions",
	       arena_difference(&self->arena), self->last.state,
	       self->last.flags, self->last.width,
	       (unsigned long long)self->last.period_ns,
	       self->last.nr_regions);
	if (attempt->request == PROFIL_IOC_SET)
		explain_set(_metadata, &self->arena, attempt->arg);
}

static bool one_call(struct __test_metadata *_metadata,
		     FIXTURE_DATA(fuzz) *self)
{
	__u64 kept = feedback_choose(&self->feedback, &self->state);
	struct attempt attempt = fuzz_attempt(&self->arena, &self->state, kept);
	struct model before;
	int due, error;

	self->model.write_only = number_below(&self->state, 8) == 0;
	before = self->model;
	errno = 0;
	feedback_begin(&self->feedback);
	ioctl(self->fds[before.write_only], attempt.request, attempt.arg);
	error = errno;
	feedback_end(&self->feedback);
	due = -model_request(&self->model, attempt.request, attempt.arg);
	self->calls++;
	self->seen[kind_of(attempt.request)][error % ERRNOS]++;
	if (is_right(self, &before, &attempt, due, error))
		return true;
	allow_room(true);
	explain(_metadata, self, &attempt, due, error);
	return false;
}

/* A fuzzer whose calls all fail with the same error has tested nothing. */
static void show_errors(struct __test_metadata *_metadata,
			FIXTURE_DATA(fuzz) *self)
{
	for (int kind = 0; kind < KINDS; kind++) {
		char line[400] = "";
		size_t used = 0;

		for (int error = 0; error < ERRNOS; error++)
			if (self->seen[kind][error])
				used += snprintf(line + used,
					sizeof(line) - used, " %s %llu",
					error ? strerrorname_np(error) : "ok",
					(unsigned long long)
						self->seen[kind][error]);
		TH_LOG("%s:%s", kinds[kind], line);
	}
}

static void expect_every_error(struct __test_metadata *_metadata,
			       FIXTURE_DATA(fuzz) *self)
{
	static const int of_all[] = { 0, EFAULT, EINVAL, E2BIG };
	static const int of_set[] = { EACCES, EAGAIN, ENOMEM };

	for (int kind = SET; kind <= ACCOUNT; kind++)
		for (size_t i = 0; i < ARRAY_SIZE(of_all); i++)
			EXPECT_LT(0, self->seen[kind][of_all[i]]);
	for (size_t i = 0; i < ARRAY_SIZE(of_set); i++)
		EXPECT_LT(0, self->seen[SET][of_set[i]]);
	EXPECT_LT(0, self->seen[UNKNOWN][ENOTTY]);
}

/*
 * Ticks do not change memory whose contents the model predicts, even if the
 * regions are what earlier calls have left there.
 */
TEST_F(fuzz, regions_that_other_calls_left)
{
	struct arena *arena = &self->arena;
	struct model *model = &self->model;
	struct profil_set *set = &model->set;

	/* The calls of this seed have several of those */
	self->state = 62458110652;
	for (int call = 1; call <= CALLS; call++) {
		struct profil_region region;
		struct attempt attempt;

		if (call % EPOCH == 1)
			ASSERT_TRUE(new_epoch(self));
		attempt = fuzz_attempt(arena, &self->state, 0);
		model->write_only = number_below(&self->state, 8) == 0;
		if (model_request(model, attempt.request, attempt.arg) ||
		    attempt.request != PROFIL_IOC_SET ||
		    !arena_views(arena, set->regions, 1))
			continue;
		/* What the call gets: results are in the shadow alone */
		for (uint32_t i = 0; i < set->nr_regions; i++) {
			memcpy(&region, arena->memory + set->regions +
			       i * sizeof(region) - (uintptr_t)arena->view,
			       sizeof(region));
			EXPECT_FALSE(arena_views(arena, region.base,
						 region.size))
				TH_LOG("call %d, region %u", call, i);
		}
	}
}

TEST_F_TIMEOUT(fuzz, requests, FUZZ_TIMEOUT)
{
	bool ok = true;

	self->effort = fuzz_effort(CALLS);
	while (ok && fuzz_goes_on(&self->effort)) {
		if (self->calls % EPOCH == 0)
			ASSERT_TRUE(new_epoch(self));
		ok = one_call(_metadata, self);
	}
	EXPECT_TRUE(ok);
	allow_room(true);
	TH_LOG("seed %llu, executed %llu calls, reached %u places",
	       (unsigned long long)self->seed,
	       (unsigned long long)self->calls, self->feedback.nr_reached);
	show_errors(_metadata, self);
	if (ok)
		expect_every_error(_metadata, self);
}

/* Make a request that the device does not have, with any argument. */
static long call_other(int fd, __u64 *state)
{
	uint64_t where = number_below(state, 2) ? arena_nowhere(state) :
						  fuzz_number(state);
	uint64_t size = fuzz_number(state);
	uint64_t offset = fuzz_number(state);
	void *to = (void *)(uintptr_t)where;
	struct iovec vector = { to, size };

	switch (number_below(state, 8)) {
	case 0:
		return read(fd, to, size);
	case 1:
		return write(fd, to, size);
	case 2:
		return preadv(fd, &vector, 1, offset);
	case 3:
		return pwritev(fd, &vector, 1, offset);
	case 4:
		return ftruncate(fd, offset & INT64_MAX);
	case 5:
		return fallocate(fd, 0, offset & INT64_MAX, size & INT64_MAX);
	case 6:
		return fsync(fd);
	default:
		return mmap(NULL, size, number_below(state, 8),
			    number_below(state, 1 << 20) & ~MAP_FIXED &
			    ~MAP_ANONYMOUS, fd, offset) == MAP_FAILED ? -1 : 0;
	}
}

TEST_F_TIMEOUT(fuzz, calls_that_it_has_not_got, FUZZ_TIMEOUT)
{
	struct profil_region region = overflow_bin(self->arena.counters, 4);
	struct pollfd poller = { .events = POLLIN | POLLOUT };
	uint64_t calls = 0;

	ASSERT_EQ(0, set_regions(&region, 1, 4, MS, 0));
	self->model.runs = true;
	self->model.set = (struct profil_set) {
		.width = 4, .nr_regions = 1, .period_ns = MS,
	};
	self->effort = fuzz_effort(OTHER_CALLS);
	while (__test_passed(_metadata) && fuzz_goes_on(&self->effort)) {
		int fd = self->fds[number_below(&self->state, 2)];

		EXPECT_GE(0, call_other(fd, &self->state));
		if (calls++ % 64)
			continue;
		EXPECT_TRUE(goes_on_right(self, false));
		poller.fd = fd;
		EXPECT_EQ(1, poll(&poller, 1, 0));
	}
	TH_LOG("seed %llu, executed %llu calls",
	       (unsigned long long)self->seed, (unsigned long long)calls);
}

TEST_HARNESS_MAIN
