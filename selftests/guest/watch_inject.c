// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_inject.c - watches and what they watch survive whatever can fail
 *
 * Makes the first, the second, the third... allocation or access to user memory
 * fail in each request of a watch, and in the system calls of a program that is
 * watched, until none is left. A request that fails has a documented error, and
 * changes nothing: neither for its own watch nor for another one beside it, nor in
 * what the user may have. Whatever the program's own calls do, its ticks add up.
 * Needs a kernel with fault injection, or fail.ko.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "watch.h"
#include "chains.h"
#include "inject.h"

NEEDS_ROOT;

#define CGROUP	"/sys/fs/cgroup/profil-watch-inject"

/* Of an ordinary user: for few watches, so that one that stays is noticed. */
#define QUOTA_KB	"1536"

static char quota_before[32];
static bool everywhere;

static void __attribute__((constructor)) prepare(void)
{
	need(can_inject(), "fault injection");
	if (!prepare_program())
		everywhere = !inject_everywhere();
	get_parameter("max_watch_kb", quota_before, sizeof(quota_before));
	put_parameter("max_watch_kb", QUOTA_KB);
	mkdir(CGROUP, 0755);
}

/* Not by the tests, some of which are ordinary users by then. */
static void __attribute__((destructor)) restore(void)
{
	put_parameter("max_watch_kb", quota_before);
	rmdir(CGROUP);
	remove_program();
}

static const struct profil_unwind_rule some_rule = {
	.cfa = PROFIL_UNWIND_SP, .offset = 8,
};

FIXTURE(watch) {
	struct child child;
	struct profil_watch request;
	struct watch beside;
	struct profil_watch_status before;
	int cgroup;
};

FIXTURE_VARIANT(watch) {
	uint32_t target;
	uint32_t flags;
	uid_t user;
};

FIXTURE_VARIANT_ADD(watch, of_a_process) {
	.flags = PROFIL_WATCH_CHILDREN,
};

FIXTURE_VARIANT_ADD(watch, of_a_process_with_chains) {
	.flags = PROFIL_WATCH_CHILDREN | PROFIL_WATCH_CHAINS |
		 PROFIL_WATCH_KERNEL_TEXT,
};

FIXTURE_VARIANT_ADD(watch, of_a_process_and_its_waits) {
	.flags = PROFIL_WATCH_CHILDREN | PROFIL_WATCH_WALL |
		 PROFIL_WATCH_SEPARATE,
};

FIXTURE_VARIANT_ADD(watch, of_a_process_by_its_user) {
	.flags = PROFIL_WATCH_CHILDREN | PROFIL_WATCH_WALL |
		 PROFIL_WATCH_CHAINS,
	.user = NOBODY,
};

FIXTURE_VARIANT_ADD(watch, of_a_user) {
	.target = PROFIL_WATCH_USER, .flags = PROFIL_WATCH_CHAINS,
	.user = NOBODY,
};

FIXTURE_VARIANT_ADD(watch, of_a_cgroup) {
	.target = PROFIL_WATCH_CGROUP,
	.flags = PROFIL_WATCH_WALL | PROFIL_WATCH_CHAINS,
};

FIXTURE_VARIANT_ADD(watch, of_the_machine) {
	.target = PROFIL_WATCH_MACHINE, .flags = PROFIL_WATCH_CHAINS,
};

static uint32_t id_of(const FIXTURE_DATA(watch) *self,
		      const FIXTURE_VARIANT(watch) *variant, pid_t pid)
{
	switch (variant->target) {
	case PROFIL_WATCH_PROCESS:
		return pid;
	case PROFIL_WATCH_USER:
		return variant->user;
	case PROFIL_WATCH_CGROUP:
		return self->cgroup;
	}
	return 0;
}

/* As a whole: a watch is small, so that it has few points of the same kind. */
static struct profil_watch request_for(const FIXTURE_DATA(watch) *self,
				       const FIXTURE_VARIANT(watch) *variant,
				       pid_t pid)
{
	struct profil_watch request =
		watch_request(variant->target, id_of(self, variant, pid),
			      variant->flags);

	request.processes = 256;
	request.images = 64;
	request.objects = 256;
	request.buckets = 1024;
	request.names = 16384;
	if (variant->flags & PROFIL_WATCH_WALL)
		request.threads = 256;
	return request;
}

/* Another watch of the test itself, that has another slot. */
static int watch_beside(FIXTURE_DATA(watch) *self,
			const FIXTURE_VARIANT(watch) *variant)
{
	struct profil_watch request = self->request;

	request.flags = variant->flags & PROFIL_WATCH_WALL;
	request.target = PROFIL_WATCH_USER;
	request.id = variant->user;
	if (variant->target != PROFIL_WATCH_PROCESS) {
		request.target = PROFIL_WATCH_PROCESS;
		request.id = getpid();
	}
	return watch_begin(&self->beside, &request);
}

FIXTURE_SETUP(watch)
{
	self->cgroup = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ASSERT_LE(0, self->cgroup);
	ASSERT_EQ(0, enter_cgroup(0, CGROUP));
	if (variant->user)
		ASSERT_EQ(0, become(variant->user));
	self->child = child_begin(wait_for_signal, NULL);
	ASSERT_EQ(0, child_hold(&self->child));
	self->request = request_for(self, variant, self->child.pid);
	ASSERT_EQ(0, watch_beside(self, variant));
	self->before = watch_status(&self->beside);
	ASSERT_EQ(PROFIL_STATE_ON, self->before.state);
}

FIXTURE_TEARDOWN(watch)
{
	struct profil_watch_status status = watch_stop(&self->beside);

	EXPECT_SOUND(&self->beside, &status);
	watch_end(&self->beside);
	EXPECT_EQ(-SIGKILL, child_kill(&self->child));
}

/* What goes on beside: the old watch. */
static void goes_on(struct __test_metadata *_metadata,
		    FIXTURE_DATA(watch) *self)
{
	struct profil_watch_status now = watch_status(&self->beside);

	EXPECT_EQ(PROFIL_STATE_ON, now.state);
	EXPECT_LE(self->before.cpu_time_ns, now.cpu_time_ns);
	EXPECT_LE(self->before.ticks, now.ticks);
	EXPECT_EQ(self->before.tables, now.tables);
	EXPECT_WATCH_CONSERVED(&now);
	self->before = now;
}

/* The watch of a file has ended well. */
static void ends(struct __test_metadata *_metadata, struct watch *watch)
{
	struct profil_watch_status status = watch_stop(watch);

	EXPECT_EQ(PROFIL_STATE_OFF, status.state);
	EXPECT_SOUND(watch, &status);
	if (watch->as.flags & PROFIL_WATCH_CHAINS)
		EXPECT_CHAINS(watch, &status);
	watch_end(watch);
}

static bool is_zero(const struct profil_watch_status *status)
{
	static const struct profil_watch_status zero = {
		.size = sizeof(zero),
	};

	return !memcmp(status, &zero, sizeof(zero));
}

/* --- requests */

/* Nothing is left of a request that has failed: it can be made again at once. */
static void again(struct __test_metadata *_metadata, FIXTURE_DATA(watch) *self,
		  struct watch *watch)
{
	struct profil_watch_status status = watch_status(watch);

	EXPECT_TRUE(is_zero(&status));
	EXPECT_EQ(0, memcmp(&self->request, &watch->as,
			    sizeof(self->request)));
	EXPECT_OK(ioctl(watch->fd, PROFIL_IOC_WATCH, &watch->as));
}

TEST_F(watch, begins)
{
	struct points points = { 0 };
	struct watch watch;
	bool failed, done;

	do {
		watch.fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
		watch.as = self->request;
		ASSERT_TRUE(fail_next(&points));
		failed = ioctl(watch.fd, PROFIL_IOC_WATCH, &watch.as);
		done = is_done(&points, failed);
		if (failed) {
			EXPECT_TRUE(errno == ENOMEM || errno == EFAULT);
			again(_metadata, self, &watch);
		}
		watch.table = mmap(NULL, watch.as.map_size, PROT_READ,
				   MAP_SHARED, watch.fd, 0);
		ASSERT_NE(MAP_FAILED, watch.table);
		ends(_metadata, &watch);
		goes_on(_metadata, self);
	} while (!done);
	EXPECT_FALSE(failed);
	EXPECT_POINTS(&points, 5);
}

/* Requests that change nothing. @at: results, or nothing */
static int ask(const struct watch *watch, unsigned int request, void *at)
{
	struct pollfd news = { .fd = watch->fd, .events = POLLIN };
	void *table;

	if (request)
		return ioctl(watch->fd, request, at);
	table = mmap(NULL, watch->as.map_size, PROT_READ, MAP_SHARED,
		     watch->fd, 0);
	if (table == MAP_FAILED)
		return -1;
	if (((struct profil_watch_table *)table)->version !=
	    PROFIL_WATCH_VERSION)
		return -2;
	return munmap(table, watch->as.map_size) ||
	       poll(&news, 1, 0) < 0 ? -1 : 0;
}

static void asked(struct __test_metadata *_metadata, FIXTURE_DATA(watch) *self,
		  const struct watch *watch, unsigned int request, bool has_result,
		  int least)
{
	union {
		__u32 size;
		struct profil_watch_status status;
		struct profil_account account;
		struct profil_info info;
	} result;
	struct points points = { 0 };
	bool failed, done;

	do {
		memset(&result, 0, sizeof(result));
		result.size = request == PROFIL_IOC_ACCOUNT ?
				sizeof(result.account) :
			      request == PROFIL_IOC_INFO ?
				sizeof(result.info) : sizeof(result.status);
		ASSERT_TRUE(fail_next(&points));
		failed = ask(watch, request, has_result ? &result : NULL);
		done = is_done(&points, failed);
		if (failed)
			EXPECT_TRUE(errno == EFAULT || errno == ENOMEM);
		EXPECT_EQ(PROFIL_STATE_ON, watch_status(watch).state);
		goes_on(_metadata, self);
	} while (!done);
	EXPECT_FALSE(failed);
	EXPECT_POINTS(&points, least);
}

TEST_F(watch, is_asked)
{
	struct profil_watch_status status;
	struct watch watch;

	ASSERT_EQ(0, watch_begin(&watch, &self->request));
	asked(_metadata, self, &watch, PROFIL_IOC_WATCH_STATUS, true, 2);
	asked(_metadata, self, &watch, PROFIL_IOC_WATCH_COLLECT, true, 3);
	asked(_metadata, self, &watch, PROFIL_IOC_WATCH_COLLECT, false, 0);
	asked(_metadata, self, &watch, PROFIL_IOC_ACCOUNT, true, 2);
	asked(_metadata, self, &watch, PROFIL_IOC_INFO, true, 2);
	asked(_metadata, self, &watch, 0, false, everywhere ? 2 : 0);
	status = watch_status(&watch);
	EXPECT_WATCH_CONSERVED(&status);
	ends(_metadata, &watch);
}

/*
 * The status is written before the stop, too, so that a caller whose status cannot
 * be written finds the watch as it was. If its memory goes in between, the watch has
 * stopped, and the request can be made again for the status.
 */
TEST_F(watch, stops)
{
	struct points points = { 0 };
	bool failed, done;
	int late = 0;

	do {
		struct profil_watch_status status = { .size = sizeof(status) };
		struct watch watch;

		ASSERT_EQ(0, watch_begin(&watch, &self->request));
		ASSERT_TRUE(fail_next(&points));
		failed = ioctl(watch.fd, PROFIL_IOC_WATCH_STOP, &status);
		done = is_done(&points, failed);
		if (failed) {
			EXPECT_TRUE(errno == EFAULT || errno == ENOMEM);
			late += watch_status(&watch).state == PROFIL_STATE_OFF;
		}
		ends(_metadata, &watch);
		goes_on(_metadata, self);
	} while (!done);
	EXPECT_FALSE(failed);
	EXPECT_EQ(1, late);
	EXPECT_POINTS(&points, 3);
}

TEST_F(watch, loads_tables)
{
	struct callers callers = make_rule(some_rule, 1);
	struct points points = { 0 };
	struct watch watch;
	uint32_t tables = 0;
	bool failed, done;

	if (!(variant->flags & PROFIL_WATCH_CHAINS))
		SKIP(return, "for watches with chains");
	ASSERT_EQ(0, watch_begin(&watch, &self->request));
	do {
		int file = memfd_create("code", MFD_CLOEXEC);

		ASSERT_LE(0, file);
		/* No other table is equal, and shares its memory */
		rules_of(&callers)->offset += 8;
		ASSERT_TRUE(fail_next(&points));
		failed = load_callers(&watch, file, callers.table,
				      callers.bytes);
		done = is_done(&points, failed);
		if (failed) {
			EXPECT_TRUE(errno == EFAULT || errno == ENOMEM);
			EXPECT_EQ(tables, watch_status(&watch).tables);
			EXPECT_OK(load_callers(&watch, file, callers.table,
					       callers.bytes));
		}
		EXPECT_EQ(++tables, watch_status(&watch).tables);
		goes_on(_metadata, self);
		close(file);
	} while (!done);
	EXPECT_FALSE(failed);
	EXPECT_POINTS(&points, 3);
	ends(_metadata, &watch);
	free(callers.table);
}

/* --- system calls of a program that is watched */

/* Watch the test itself. */
static void follow(struct __test_metadata *_metadata,
		   FIXTURE_DATA(watch) *self,
		   const FIXTURE_VARIANT(watch) *variant, struct watch *watch)
{
	struct profil_watch request = request_for(self, variant, getpid());

	ASSERT_EQ(0, watch_begin(watch, &request));
}

static void followed(struct __test_metadata *_metadata,
		     FIXTURE_DATA(watch) *self,
		     const FIXTURE_VARIANT(watch) *variant,
		     struct watch *watch)
{
	struct profil_watch_status status = watch_status(watch);

	EXPECT_EQ(PROFIL_STATE_ON, status.state);
	EXPECT_WATCH_CONSERVED(&status);
	/* Room is never short, and all else was there from the beginning */
	if (variant->target != PROFIL_WATCH_MACHINE) {
		EXPECT_EQ(0, status.unfollowed);
		EXPECT_EQ(0, status.unfollowed_threads);
		EXPECT_GE(200, watch_settled(watch, 200).processes);
	}
	goes_on(_metadata, self);
}

TEST_F(watch, forks)
{
	struct points points = { 0 };
	struct watch watch;
	pid_t child;
	bool done;

	if (!everywhere)
		SKIP(return, "only what the module does may fail here");
	follow(_metadata, self, variant, &watch);
	do {
		ASSERT_TRUE(fail_next(&points));
		child = fork();
		if (!child)
			_exit(0);
		done = is_done(&points, child < 0);
		EXPECT_TRUE(child > 0 || is_clean(errno));
		if (child > 0)
			EXPECT_EQ(0, wait_child(child));
		followed(_metadata, self, variant, &watch);
	} while (!done);
	EXPECT_LT(0, child);
	EXPECT_POINTS(&points, 20);
	ends(_metadata, &watch);
}

static void *end_at_once(void *unused)
{
	return unused;
}

TEST_F(watch, starts_threads)
{
	struct points points = { 0 };
	struct watch watch;
	pthread_t thread;
	bool done;
	int error;

	if (!everywhere)
		SKIP(return, "only what the module does may fail here");
	follow(_metadata, self, variant, &watch);
	do {
		ASSERT_TRUE(fail_next(&points));
		error = pthread_create(&thread, NULL, end_at_once, NULL);
		done = is_done(&points, error);
		EXPECT_TRUE(!error || is_clean(error));
		if (!error)
			EXPECT_EQ(0, pthread_join(thread, NULL));
		followed(_metadata, self, variant, &watch);
	} while (!done);
	EXPECT_EQ(0, error);
	EXPECT_POINTS(&points, 5);
	ends(_metadata, &watch);
}

TEST_F(watch, executes_programs)
{
	struct points points = { 0 };
	struct watch watch;
	bool executed;
	int left;

	if (!everywhere)
		SKIP(return, "only what the module does may fail here");
	follow(_metadata, self, variant, &watch);
	do {
		executed = execute_with(++points.nth, &left);
		ASSERT_LE(0, left);
		points.failed += !executed;
		followed(_metadata, self, variant, &watch);
	} while (!left);
	EXPECT_TRUE(executed);
	EXPECT_POINTS(&points, 20);
	ends(_metadata, &watch);
}

TEST_F(watch, exits)
{
	struct points points = { 0 };
	struct watch watch;
	int left;

	if (!everywhere)
		SKIP(return, "only what the module does may fail here");
	follow(_metadata, self, variant, &watch);
	do {
		left = exit_with(++points.nth);
		ASSERT_LE(0, left);
		followed(_metadata, self, variant, &watch);
	} while (!left);
	EXPECT_POINTS(&points, 0);
	ends(_metadata, &watch);
}

TEST_F(watch, maps_code)
{
	struct points maps = { 0 }, unmaps = { 0 };
	int file = memfd_create("code", MFD_CLOEXEC);
	struct watch watch;
	void *code;
	bool done;

	if (!everywhere)
		SKIP(return, "only what the module does may fail here");
	ASSERT_EQ(0, write_code(file));
	follow(_metadata, self, variant, &watch);
	do {
		ASSERT_TRUE(fail_next(&maps));
		code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			    file, 0);
		done = is_done(&maps, code == MAP_FAILED);
		EXPECT_TRUE(code != MAP_FAILED || is_clean(errno));
		if (code != MAP_FAILED) {
			spin_ns(code, 2 * MS);
			ASSERT_TRUE(fail_next(&unmaps));
			is_done(&unmaps, munmap(code, PAGE));
		}
		followed(_metadata, self, variant, &watch);
	} while (!done);
	EXPECT_NE(MAP_FAILED, code);
	EXPECT_POINTS(&maps, 3);
	TH_LOG("munmap: %d made it fail", unmaps.failed);
	ends(_metadata, &watch);
	close(file);
}

/* Into a cgroup that is watched, and out of it. */
TEST_F(watch, is_moved)
{
	struct points points = { 0 };
	struct watch watch;
	bool failed, done;

	if (!everywhere)
		SKIP(return, "only what the module does may fail here");
	if (variant->target != PROFIL_WATCH_CGROUP)
		SKIP(return, "for watches of a cgroup");
	follow(_metadata, self, variant, &watch);
	for (int way = 0; way < 2; way++) {
		points = (struct points) { 0 };
		do {
			ASSERT_EQ(0, enter_cgroup(0, way ? "/sys/fs/cgroup" :
						     CGROUP));
			ASSERT_TRUE(fail_next(&points));
			failed = enter_cgroup(0, way ? CGROUP :
						 "/sys/fs/cgroup");
			done = is_done(&points, failed);
			if (failed)
				EXPECT_TRUE(is_clean(errno));
			followed(_metadata, self, variant, &watch);
		} while (!done);
		EXPECT_FALSE(failed);
		EXPECT_POINTS(&points, 5);
	}
	ends(_metadata, &watch);
}

TEST_HARNESS_MAIN
