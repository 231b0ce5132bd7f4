// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_quiet.c - what the module does not do to others
 *
 * Counts calls of functions of the kernel by probes of its own event tracer:
 * a table that is full takes no lock in each tick, nor does a fork where another
 * user watches, a profile alone makes moves between cgroups and forks no dearer,
 * and a watch of an ordinary user is no denial for the audit log.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "watch.h"

NEEDS_ROOT;

#define ALICE		100001
#define CGROUPS		"/sys/fs/cgroup"
#define CGROUP		CGROUPS "/profil-watch-quiet"
#define PLACE		"/run/profil-watch-quiet"
#define TRACING		"/sys/kernel/tracing"
/* With buffers of its own, whatever others trace */
#define INSTANCE	TRACING "/instances/profil-watch-quiet"

static void need_kprobes(void) __attribute__((constructor));

static void need_kprobes(void)
{
	need(!access(TRACING "/kprobe_events", W_OK), "kprobe events");
}

/* --- counting calls */

/*
 * Count calls of a function from now on.
 * @arguments: to fetch, or ""
 * @filter: of the calls that count, or NULL
 */
static int count_calls(const char *function, const char *arguments,
		       const char *filter)
{
	char probe[300];

	snprintf(probe, sizeof(probe), "p:quiet/calls %s %s\n", function,
		 arguments);
	if (write_file(TRACING "/kprobe_events", probe) ||
	    mkdir(INSTANCE, 0755) ||
	    (filter && write_file(INSTANCE "/events/quiet/calls/filter", filter)))
		return -1;
	return write_file(INSTANCE "/events/quiet/calls/enable", "1");
}

/* Stop counting. Return: the number of calls, or -1. */
static int end_counting(void)
{
	FILE *file;
	char line[500];
	int calls = 0;

	write_file(INSTANCE "/events/quiet/calls/enable", "0");
	file = fopen(INSTANCE "/trace", "r");
	while (file && fgets(line, sizeof(line), file))
		calls += line[0] != '#' && strstr(line, "calls: (") != NULL;
	if (file)
		fclose(file);
	return rmdir(INSTANCE) ||
	       write_file(TRACING "/kprobe_events", "-:quiet/calls\n") ||
	       !file ? -1 : calls;
}

/* --- a profile alone */

static int move_and_fork(void *unused)
{
	(void)unused;
	return enter_cgroup(0, CGROUP) ||
	       enter_cgroup(0, CGROUPS) || fork_some(1);
}

FIXTURE(profile) {
};

FIXTURE_VARIANT(profile) {
	const char *function;
};

FIXTURE_VARIANT_ADD(profile, moves) {
	.function = "profil:profil_cgroup_attach",
};

FIXTURE_VARIANT_ADD(profile, forks) {
	.function = "profil:profil_sched_fork",
};

FIXTURE_SETUP(profile)
{
	static uint32_t bin;
	struct profil_region all = overflow_bin(&bin, sizeof(bin));

	mkdir(CGROUP, 0755);
	ASSERT_EQ(0, set_regions(&all, 1, sizeof(bin), MS, 0));
}

FIXTURE_TEARDOWN(profile)
{
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_EQ(0, rmdir(CGROUP));
}

/*
 * What only watches need is not called. It is for ten seconds after the last
 * watch.
 */
TEST_F(profile, alone_is_quiet)
{
	int cgroup = open(CGROUP, O_RDONLY | O_CLOEXEC);
	struct profil_watch request = watch_request(PROFIL_WATCH_CGROUP, cgroup,
						    0);
	struct watch watch;
	int calls, tries = 120;

	do {
		if (tries < 120)
			usleep(500000);
		ASSERT_EQ(0, count_calls(variant->function, "", NULL));
		EXPECT_EQ(0, move_and_fork(NULL));
		calls = end_counting();
	} while (calls && --tries);
	EXPECT_EQ(0, calls);

	/* With a watch it is, and the probe sees that. */
	ASSERT_EQ(0, watch_begin(&watch, &request));
	ASSERT_EQ(0, count_calls(variant->function, "", NULL));
	EXPECT_EQ(0, move_and_fork(NULL));
	EXPECT_LT(0, end_counting());
	watch_end(&watch);
	EXPECT_EQ(0, close(cgroup));
}

/* --- a table that is full */

#define NR_FILES	12
#define ROOM		4
#define ROUNDS		4

static int spin_in_many_files(void *unused)
{
	void *code[NR_FILES];

	(void)unused;
	for (int i = 0; i < NR_FILES; i++) {
		char name[100];

		snprintf(name, sizeof(name), PLACE "/%d", i);
		code[i] = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			       make_code(name), 0);
		if (code[i] == MAP_FAILED)
			return 1;
	}
	for (int i = 0; i < ROUNDS * NR_FILES; i++)
		spin_ns(code[i % NR_FILES], 20 * MS);
	return 0;
}

/*
 * Have a process spin in more files than there is room for. Return: the number
 * of calls of what adds an object, or -1.
 */
static int fill_objects(struct __test_metadata *_metadata)
{
	struct child child = child_begin(spin_in_many_files, NULL);
	struct profil_watch request =
		watch_request(PROFIL_WATCH_PROCESS, child.pid, 0);
	struct profil_watch_status status;
	struct watch watch;
	int calls;

	request.objects = PROFIL_OBJECT_FILES + ROOM;
	EXPECT_EQ(0, watch_begin(&watch, &request));
	EXPECT_EQ(0, count_calls("profil:profil_file_add", "", NULL));
	EXPECT_EQ(0, child_end(&child));
	calls = end_counting();
	status = watch_settled(&watch, 0);
	TH_LOG("%d calls for %u objects and %llu coarse ticks", calls,
	       status.objects - PROFIL_OBJECT_FILES, status.coarse);
	EXPECT_LT(0, status.coarse);
	EXPECT_SOUND(&watch, &status);
	watch_end(&watch);
	return calls;
}

/*
 * Adding an object is what takes the lock. Two CPUs may try the same one, and
 * the last one, at a time.
 */
TEST(a_table_full_of_objects_takes_no_lock)
{
	int calls;

	mkdir(PLACE, 0755);
	ASSERT_EQ(0, mount("profil", PLACE, "tmpfs", 0, NULL));
	calls = fill_objects(_metadata);
	EXPECT_LT(0, calls);
	EXPECT_GE(2 * ROOM, calls);
	EXPECT_EQ(0, umount2(PLACE, MNT_DETACH));
}

/* --- forks of others */

#define NR_FORKS	20

/* Fork, after others have. @cgroups: descriptor of the root cgroup */
static int watch_all(void *cgroups)
{
	struct profil_watch request =
		watch_request(PROFIL_WATCH_CGROUP, (intptr_t)cgroups, 0);
	struct profil_watch_status before, after;
	struct watch watch;

	if (become(ALICE) || watch_begin(&watch, &request))
		return 255;
	before = watch_status(&watch);
	raise(SIGSTOP);
	after = watch_status(&watch);
	if (after.withheld - before.withheld < NR_FORKS)
		return 1;
	raise(SIGSTOP);
	return fork_some(NR_FORKS);
}

/* A watch of the root cgroup counts them, but they wait for no lock. */
TEST(forks_of_others_take_no_lock)
{
	int cgroups = open(CGROUPS, O_RDONLY | O_CLOEXEC);
	struct child child = child_begin(watch_all, (void *)(intptr_t)cgroups);

	child_go(&child);
	ASSERT_EQ(0, child_wait_stopped(&child));
	ASSERT_EQ(0, count_calls("profil:profil_wide_update", "", NULL));
	EXPECT_EQ(0, fork_some(NR_FORKS));
	EXPECT_EQ(0, end_counting());
	EXPECT_EQ(0, kill(child.pid, SIGCONT));
	ASSERT_EQ(0, child_wait_stopped(&child));

	/* Those of its own user do, and the probe sees that. */
	ASSERT_EQ(0, count_calls("profil:profil_wide_update", "", NULL));
	EXPECT_EQ(0, kill(child.pid, SIGCONT));
	EXPECT_EQ(0, child_end(&child));
	EXPECT_LE(NR_FORKS, end_counting());
	EXPECT_EQ(0, close(cgroups));
}

/* --- the audit log */

static int watch_own_user(void *unused)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_USER, ALICE,
						    0);

	(void)unused;
	return become(ALICE) ? 255 : watch_try(&request);
}

/*
 * Checks of CAP_PERFMON (38) and CAP_SYS_ADMIN (21) in this program that
 * security modules log, as they do not with CAP_OPT_NOAUDIT (2).
 */
#define LOGGED	"comm == \"watch_quiet\" && (cap == 38 || cap == 21) && " \
		"(opts == 0 || opts == 1)"

/* Return: the number of those checks while a child does something, or -1. */
static int count_denials(int (*action)(void *unused), int *status)
{
	struct child child = child_begin(action, NULL);
	bool is_counting = !count_calls("security_capable",
					"cap=$arg3:u32 opts=$arg4:u32", LOGGED);

	*status = child_end(&child);
	return is_counting ? end_counting() : -1;
}

static int mount_something(void *unused)
{
	(void)unused;
	if (become(ALICE))
		return 255;
	return mount("profil", "/", "tmpfs", 0, NULL) ? errno : 0;
}

TEST(a_watch_of_an_ordinary_user_is_no_denial)
{
	int status, denials = count_denials(mount_something, &status);

	if (denials < 0)
		SKIP(return, "no arguments of probes");
	EXPECT_LT(0, denials);
	EXPECT_EQ(EPERM, status);

	EXPECT_EQ(0, count_denials(watch_own_user, &status));
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
