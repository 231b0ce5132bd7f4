// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_unwind.c - tables of callers that a watch loads, and news of objects
 *
 * Which tables the device takes, whom it charges for them, and what poll() says.
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
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "watch.h"
#include "chains.h"

NEEDS_ROOT;

#define PLACE	"/run/profil-watch-unwind"
#define CODE	PLACE "/code"

static const struct profil_unwind_rule some_rule = {
	.cfa = PROFIL_UNWIND_SP, .offset = 8,
};

FIXTURE(unwind) {
	struct watch watch;
	struct child child;
	struct callers callers;
	int code;
};

FIXTURE_SETUP(unwind)
{
	mkdir(PLACE, 0755);
	ASSERT_EQ(0, mount("profil", PLACE, "tmpfs", 0, NULL));
	self->code = make_code(CODE);
	ASSERT_LE(0, self->code);
	/* Its program is no new object: it runs no more */
	self->child = child_begin(wait_for_signal, NULL);
	ASSERT_EQ(0, child_hold(&self->child));
	self->callers = make_rule(some_rule, 1);
	ASSERT_EQ(0, watch_process(&self->watch, self->child.pid,
				   PROFIL_WATCH_CHAINS));
}

FIXTURE_TEARDOWN(unwind)
{
	EXPECT_EQ(-SIGKILL, child_kill(&self->child));
	watch_end(&self->watch);
	free(self->callers.table);
	close(self->code);
	EXPECT_EQ(0, umount2(PLACE, MNT_DETACH));
}

static int load(FIXTURE_DATA(unwind) *self, int file)
{
	return load_callers(&self->watch, file, self->callers.table,
			    self->callers.bytes);
}

/* --- what is taken */

TEST_F(unwind, a_table_for_a_file_and_for_the_vdso)
{
	EXPECT_EQ(0, load(self, self->code));
	EXPECT_EQ(0, load(self, -1));
	EXPECT_EQ(2, watch_status(&self->watch).tables);
	EXPECT_NE(0, watch_find_object(&self->watch, CODE));
}

TEST_F(unwind, one_table_for_a_file)
{
	int again = open(CODE, O_RDONLY | O_CLOEXEC);

	EXPECT_EQ(0, load(self, self->code));
	EXPECT_ERROR(EEXIST, load(self, again));
	EXPECT_EQ(0, load(self, -1));
	EXPECT_ERROR(EEXIST, load(self, -1));
	EXPECT_EQ(2, watch_status(&self->watch).tables);
	close(again);
}

TEST_F(unwind, no_table_without_chains)
{
	struct watch flat = { .fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC) };

	EXPECT_ERROR(EINVAL, load_callers(&flat, self->code,
					  self->callers.table,
					  self->callers.bytes));
	close(flat.fd);
	watch_end(&self->watch);
	ASSERT_EQ(0, watch_process(&flat, self->child.pid, 0));
	EXPECT_ERROR(EINVAL, load_callers(&flat, self->code,
					  self->callers.table,
					  self->callers.bytes));
	EXPECT_EQ(0, watch_status(&flat).tables);
	watch_end(&flat);
}

TEST_F(unwind, no_table_after_a_stop)
{
	EXPECT_EQ(0, load(self, self->code));
	watch_stop(&self->watch);
	EXPECT_ERROR(EINVAL, load(self, -1));
	EXPECT_EQ(1, watch_status(&self->watch).tables);
}

TEST_F(unwind, no_table_for_what_is_no_file)
{
	int directory = open("/", O_RDONLY | O_CLOEXEC);

	EXPECT_ERROR(EBADF, load(self, 999));
	EXPECT_ERROR(EBADF, load(self, -2));
	EXPECT_ERROR(EINVAL, load(self, directory));
	EXPECT_ERROR(EINVAL, load(self, self->watch.fd));
	close(directory);
}

TEST_F(unwind, no_table_in_bad_memory)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct callers large = make_rule(some_rule, 1024);
	struct profil_watch_unwind request = { .size = 8 };

	munmap(pages + PAGE, PAGE);
	memcpy(pages, large.table, PAGE);
	EXPECT_ERROR(EFAULT, load_callers(&self->watch, self->code, NULL, 100));
	EXPECT_ERROR(EFAULT, load_callers(&self->watch, self->code, pages,
					  large.bytes));
	EXPECT_ERROR(EFAULT, ioctl(self->watch.fd, PROFIL_IOC_WATCH_UNWIND,
				   NULL));
	EXPECT_ERROR(EINVAL, ioctl(self->watch.fd, PROFIL_IOC_WATCH_UNWIND,
				   &request));
	EXPECT_EQ(0, watch_status(&self->watch).tables);
	munmap(pages, PAGE);
	free(large.table);
}

TEST_F(unwind, no_table_that_is_malformed)
{
	struct profil_unwind_head *head = self->callers.table;
	struct profil_unwind_rule *rule = rules_of(&self->callers);

	EXPECT_ERROR(EINVAL, load_callers(&self->watch, self->code, head, 0));
	EXPECT_ERROR(EINVAL, load_callers(&self->watch, self->code, head,
					  self->callers.bytes - 1));
	EXPECT_ERROR(EINVAL, load_callers(&self->watch, self->code, head,
					  PROFIL_UNWIND_MAX + 1));
	EXPECT_ERROR(EINVAL, load_callers(&self->watch, self->code, head,
					  UINT64_MAX));
	head->start = 1;
	EXPECT_ERROR(EINVAL, load(self, self->code));
	head->start = 0;
	head->blocks = 2;
	EXPECT_ERROR(EINVAL, load(self, self->code));
	head->blocks = 1;
	rule->cfa = PROFIL_UNWIND_NR_CFA;
	EXPECT_ERROR(EINVAL, load(self, self->code));
	rule->cfa = PROFIL_UNWIND_SP;
	EXPECT_EQ(0, load(self, self->code));
}

TEST_F(unwind, no_table_without_room_for_an_object)
{
	struct profil_watch request =
		watch_request(PROFIL_WATCH_PROCESS, self->child.pid,
			      PROFIL_WATCH_CHAINS);
	char path[64];
	int fd;

	watch_end(&self->watch);
	request.objects = PROFIL_OBJECT_FILES + 4;
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), PLACE "/code-%d", i);
		fd = make_code(path);
		EXPECT_EQ(0, load(self, fd));
		close(fd);
	}
	EXPECT_ERROR(ENOSPC, load(self, self->code));
	EXPECT_EQ(4, watch_status(&self->watch).tables);
}

TEST_F(unwind, call_sites_need_chains)
{
	struct profil_watch request =
		watch_request(PROFIL_WATCH_PROCESS, self->child.pid,
			      PROFIL_WATCH_CALL_SITES);

	watch_end(&self->watch);
	EXPECT_EQ(EINVAL, watch_try(&request));
	request.flags |= PROFIL_WATCH_CHAINS;
	EXPECT_EQ(0, watch_try(&request));
}

/* --- at the same time */

static void *load_it(void *unwind)
{
	return (void *)(intptr_t)(load(unwind, -1) ? errno : 0);
}

TEST_F(unwind, by_many_threads_is_loaded_once)
{
	pthread_t threads[8];
	int loaded = 0;
	void *error;

	for (int i = 0; i < 8; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, load_it, self));
	for (int i = 0; i < 8; i++) {
		ASSERT_EQ(0, pthread_join(threads[i], &error));
		loaded += !error;
		EXPECT_TRUE(!error || (intptr_t)error == EEXIST);
	}
	EXPECT_EQ(1, loaded);
	EXPECT_EQ(1, watch_status(&self->watch).tables);
}

/* --- what a user may have */

#define WATCHES		6
#define TABLE_BLOCKS	(128 << 10)	/* 1 MiB of table */
#define QUOTA_KB	"4096"

struct quota {
	struct callers callers;
	struct child children[WATCHES];
	struct watch watches[WATCHES];
};

/* One watch for each child, with a large table. Return: how many load it. */
static int load_in_watches(struct quota *quota, bool same)
{
	struct profil_watch request = {
		.size = sizeof(request), .flags = PROFIL_WATCH_CHAINS,
		.period_ns = MS, .processes = 1, .images = 2, .objects = 8,
		.buckets = 64, .names = 4096,
	};
	int loaded = 0;

	for (int i = 0; i < WATCHES; i++) {
		rules_of(&quota->callers)->offset = same ? 8 : 8 + i;
		request.id = quota->children[i].pid;
		if (watch_begin(&quota->watches[i], &request))
			return 90;
		if (!load_callers(&quota->watches[i], -1, quota->callers.table,
				  quota->callers.bytes))
			loaded++;
		else if (errno != EAGAIN)
			return 91;
	}
	for (int i = 0; i < WATCHES; i++)
		watch_end(&quota->watches[i]);
	return loaded;
}

/*
 * As an ordinary user: load equal tables, or different ones, and then equal
 * ones. Return: how many were loaded first; or above WATCHES if anything fails.
 */
static int load_as_nobody(void *same)
{
	struct quota quota = { .callers = make_rule(some_rule, TABLE_BLOCKS) };
	int loaded;

	if (become(NOBODY))
		return 92;
	for (int i = 0; i < WATCHES; i++) {
		quota.children[i] = child_begin(wait_for_signal, NULL);
		child_go(&quota.children[i]);
	}
	loaded = load_in_watches(&quota, same);
	/* What ends gives everything back */
	if (load_in_watches(&quota, true) != WATCHES)
		loaded = 93;
	for (int i = 0; i < WATCHES; i++)
		child_kill(&quota.children[i]);
	return loaded;
}

FIXTURE(quota) {
	char before[32];
};

FIXTURE_SETUP(quota)
{
	ASSERT_EQ(0, get_parameter("max_watch_kb", self->before, 32));
	ASSERT_EQ(0, put_parameter("max_watch_kb", QUOTA_KB));
}

FIXTURE_TEARDOWN(quota)
{
	EXPECT_EQ(0, put_parameter("max_watch_kb", self->before));
}

TEST_F(quota, is_charged_once_for_equal_tables)
{
	struct child child = child_begin(load_as_nobody, (void *)1);

	EXPECT_EQ(WATCHES, child_end(&child));
}

TEST_F(quota, is_charged_for_each_table)
{
	struct child child = child_begin(load_as_nobody, NULL);
	int loaded = child_end(&child);

	EXPECT_LT(0, loaded);
	EXPECT_GT(4, loaded);
}

/* Load tables, as an ordinary user. Return: how many; or above WATCHES. */
static int load_in_passed(void *watch)
{
	struct callers callers = make_rule(some_rule, TABLE_BLOCKS);
	int loaded = 0, fd;

	if (become(NOBODY))
		return 92;
	for (int i = 0; i < WATCHES; i++) {
		fd = memfd_create("code", MFD_CLOEXEC);
		rules_of(&callers)->offset = 8 + i;
		if (!write_code(fd) && !load_callers(watch, fd, callers.table,
						     callers.bytes))
			loaded++;
		else if (errno != EAGAIN)
			return 94;
		close(fd);
	}
	return loaded;
}

/* Free of charge is what the user with CAP_PERFMON loads, and nobody else. */
TEST_F(quota, is_charged_in_a_watch_that_was_passed_on)
{
	struct child target = child_begin(wait_for_signal, NULL), user;
	struct watch watch;
	int loaded;

	child_go(&target);
	ASSERT_EQ(0, watch_process(&watch, target.pid, PROFIL_WATCH_CHAINS));
	user = child_begin(load_in_passed, &watch);
	loaded = child_end(&user);
	TH_LOG("%d tables loaded", loaded);
	EXPECT_LT(0, loaded);
	EXPECT_GT(4, loaded);
	watch_end(&watch);
	EXPECT_EQ(-SIGKILL, child_kill(&target));
}

/* As an ordinary user: load one of two tables again and again. */
static int load_by_turns(void *unused)
{
	struct callers callers = make_rule(some_rule, 1);
	struct child target;

	(void)unused;
	if (become(NOBODY))
		return 1;
	target = child_begin(wait_for_signal, NULL);
	for (int i = 0; i < 200; i++) {
		struct watch watch;

		rules_of(&callers)->offset = 8 + 8 * (i % 2);
		if (watch_process(&watch, target.pid, PROFIL_WATCH_CHAINS))
			return 2;
		if (load_callers(&watch, -1, callers.table, callers.bytes))
			return 3;
		watch_end(&watch);
	}
	child_kill(&target);
	return 0;
}

/* Who compares a table with his own holds it, also as the last one. */
TEST_F(quota, is_charged_for_tables_that_come_and_go)
{
	struct child users[4];

	ASSERT_EQ(0, put_parameter("max_watch_kb", self->before));
	for (int i = 0; i < 4; i++)
		users[i] = child_begin(load_by_turns, NULL);
	for (int i = 0; i < 4; i++)
		child_go(&users[i]);
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(0, child_end(&users[i]));
}

/* --- watchers that are killed */

static int watch_and_wait(void *target)
{
	struct callers callers = make_rule(some_rule, TABLE_BLOCKS);
	struct watch watch;

	if (watch_process(&watch, *(pid_t *)target, PROFIL_WATCH_CHAINS) ||
	    load_callers(&watch, -1, callers.table, callers.bytes))
		return 1;
	return wait_for_signal(NULL);
}

TEST_F(unwind, of_a_killed_watcher_leaves_nothing)
{
	struct child watcher;

	watch_end(&self->watch);
	for (int i = 0; i < 20; i++) {
		watcher = child_begin(watch_and_wait, &self->child.pid);
		child_go(&watcher);
		usleep(i * 1000);
		EXPECT_EQ(-SIGKILL, child_kill(&watcher));
	}
	ASSERT_EQ(0, watch_process(&self->watch, self->child.pid,
				   PROFIL_WATCH_CHAINS));
	EXPECT_EQ(0, load(self, -1));
}

/* --- kernels that find no callers */

static int burn(void *unused)
{
	(void)unused;
	burn_thread_ns(300 * MS);
	return 0;
}

/*
 * Tables hold the module while a watch has them; chains that are being found when
 * the watch ends need neither.
 */
TEST_F(unwind, holds_the_module_until_the_watch_ends)
{
	char parameters[1000];

	if (access(profil_file(), R_OK))
		SKIP(return, "needs profil.ko: set PROFIL_KO to its path");
	read_parameters(parameters, sizeof(parameters));
	for (int i = 0; i < 3; i++) {
		struct watch watch;

		watch_end(&self->watch);
		ASSERT_EQ(0, unload_profil_soon());
		ASSERT_EQ(0, load_profil(parameters));
		ASSERT_EQ(0, watch_process(&watch, getpid(),
					   PROFIL_WATCH_CHAINS));
		EXPECT_EQ(0, load_own_callers(&watch));
		burn_process_ns(20 * MS);
		EXPECT_ERROR(EWOULDBLOCK, unload_profil());
		if (!is_preempt_rt())
			EXPECT_LT(0, watch_status(&watch)
				  .chains[PROFIL_CHAIN_COMPLETE]);
		self->watch = watch;
	}
}

/* A tick there may look at no mappings, and so has its innermost frame only. */
TEST(chains_on_preempt_rt)
{
	struct child child = child_begin(burn, NULL);
	struct profil_watch_status status;
	struct watch watch;

	if (!is_preempt_rt()) {
		child_kill(&child);
		SKIP(return, "not PREEMPT_RT");
	}
	ASSERT_EQ(0, watch_process(&watch, child.pid, PROFIL_WATCH_CHAINS));
	EXPECT_EQ(0, child_end(&child));
	status = watch_settled(&watch, 0);
	EXPECT_CHAINS(&watch, &status);
	EXPECT_LT(0, status.counted);
	EXPECT_LE(status.counted, status.chains[PROFIL_CHAIN_BUSY]);
	EXPECT_EQ(0, status.chains[PROFIL_CHAIN_COMPLETE]);
	watch_end(&watch);
}

/* --- news */

static short news_of(int fd, int timeout_ms)
{
	struct pollfd news = { .fd = fd, .events = POLLIN };

	return poll(&news, 1, timeout_ms) < 0 ? -1 : news.revents;
}

TEST_F(unwind, poll_wakes_for_a_new_object)
{
	EXPECT_EQ(0, news_of(self->watch.fd, 0));
	EXPECT_EQ(0, load(self, self->code));
	EXPECT_EQ(POLLIN, news_of(self->watch.fd, 10000));
	EXPECT_STREQ(CODE, watch_path(&self->watch, PROFIL_OBJECT_FILES));
	EXPECT_EQ(POLLIN, news_of(self->watch.fd, 0));
	watch_status(&self->watch);
	EXPECT_EQ(0, news_of(self->watch.fd, 10));
}

/* The stats of a failed request never came: so they are no status. */
TEST_F(unwind, poll_goes_on_after_a_status_that_fails)
{
	struct profil_watch_status *status =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, status);
	status->size = sizeof(*status);
	ASSERT_EQ(0, mprotect(status, PAGE, PROT_READ));
	EXPECT_EQ(0, load(self, self->code));
	EXPECT_EQ(POLLIN, news_of(self->watch.fd, 10000));
	EXPECT_ERROR(EFAULT, ioctl(self->watch.fd, PROFIL_IOC_WATCH_STATUS,
				   status));
	EXPECT_EQ(POLLIN, news_of(self->watch.fd, 0));
	EXPECT_ERROR(EFAULT, ioctl(self->watch.fd, PROFIL_IOC_WATCH_STOP,
				   status));
	EXPECT_EQ(POLLIN, news_of(self->watch.fd, 0));
	EXPECT_EQ(PROFIL_STATE_ON, watch_status(&self->watch).state);
	EXPECT_EQ(0, news_of(self->watch.fd, 10));
	munmap(status, PAGE);
}

static void *wait_for_news(void *watch)
{
	return (void *)(intptr_t)news_of(((struct watch *)watch)->fd, 30000);
}

TEST_F(unwind, poll_wakes_who_waits)
{
	pthread_t waiter;
	void *seen;

	ASSERT_EQ(0, pthread_create(&waiter, NULL, wait_for_news,
				    &self->watch));
	usleep(100000);
	EXPECT_EQ(0, load(self, self->code));
	ASSERT_EQ(0, pthread_join(waiter, &seen));
	EXPECT_EQ(POLLIN, (intptr_t)seen);
}

TEST_F(unwind, poll_of_a_file_without_a_watch)
{
	int fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);

	EXPECT_EQ(POLLERR, news_of(fd, 0));
	close(fd);
}

TEST_HARNESS_MAIN
