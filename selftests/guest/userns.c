// SPDX-License-Identifier: GPL-2.0-only
/*
 * userns.c - many user IDs of one user are one user to max_profiles
 *
 * The owner of a user namespace acts under all IDs that are mapped into it,
 * 65536 on most systems. The module charges each profile there to the owner
 * too: the owner of the outermost namespace, who owns all inner ones.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"

NEEDS_ROOT;

#define MAX_PROFILES	"/sys/module/profil/parameters/max_profiles"

/* max_profiles in these tests. */
#define ALLOWED		2

/* IDs mapped into the namespace, from 0; 0 is the owner. */
#define IDS		1000

/* Exit statuses beyond any errno. */
#define BROKEN		200
#define IS_OFF		201

static int start(void)
{
	static uint32_t counter;
	struct profil_region all = overflow_bin(&counter, sizeof(counter));

	return set_regions(&all, 1, sizeof(counter), 0, 0);
}

/*
 * A process that executes the test's orders, one at a time, inside its own
 * namespaces: so the test itself stays outside.
 */
struct agent {
	pid_t pid;
	int orders[2];
	int answers[2];
};

enum order {
	UNSHARE,	/* enter a new user namespace */
	SANDBOX,	/* the same, and have the first child in a new PID namespace */
	NEST,		/* the same, with only this user mapped into it, to 0 */
	BECOME,		/* become this user */
	KEEP,		/* a child of this user starts a profile and keeps it */
	TRY,		/* the same, but the child ends */
	FOLLOW,		/* the same, and forks a child that inherits it */
	LEAVE,		/* end all children that keep a profile */
};

struct message {
	enum order order;
	uid_t user;
};

#define MAX_KEPT	8

struct children {
	pid_t pid[MAX_KEPT];
	int nr;
};

static int begin_in_child(struct children *children, uid_t user, bool keep)
{
	pid_t child;
	int error[2];
	char byte = 0;

	if (pipe(error))
		return BROKEN;
	child = fork_child();
	if (!child) {
		byte = become(user) ? BROKEN : start() ? errno : 0;
		close(error[0]);
		if (write(error[1], &byte, 1) != 1)
			_exit(1);
		close(error[1]);
		if (keep && !byte)
			sleep(60);
		_exit(0);
	}
	close(error[1]);
	if (read(error[0], &byte, 1) != 1)
		byte = BROKEN;
	close(error[0]);
	if (keep && !byte)
		children->pid[children->nr++] = child;
	else
		wait_child(child);
	return (unsigned char)byte;
}

/* IS_OFF if the second child has no profile. */
static int follow(uid_t user)
{
	pid_t child = fork_child();

	if (child)
		return wait_child(child);
	if (become(user) || start())
		_exit(BROKEN);
	child = fork_child();
	if (!child)
		_exit(status_now().state == PROFIL_STATE_OFF ? IS_OFF : 0);
	_exit(wait_child(child));
}

static int end_children(struct children *children)
{
	int bad = 0;

	while (children->nr) {
		pid_t child = children->pid[--children->nr];

		bad |= kill(child, SIGKILL) ||
		       wait_child(child) != -SIGKILL;
	}
	return bad ? BROKEN : 0;
}

/* Users may map themselves alone, unless they have supplementary groups. */
static int nest(uid_t user)
{
	char map[50];

	snprintf(map, sizeof(map), "0 %u 1\n", user);
	/* Otherwise the files below belong to root. */
	prctl(PR_SET_DUMPABLE, 1);
	if (unshare(CLONE_NEWUSER) ||
	    write_file("/proc/self/setgroups", "deny") ||
	    write_file("/proc/self/uid_map", map) ||
	    write_file("/proc/self/gid_map", map))
		return errno;
	return 0;
}

static int obey(const struct message *message, struct children *children)
{
	switch (message->order) {
	case UNSHARE:
		return unshare(CLONE_NEWUSER) ? errno : 0;
	case SANDBOX:
		return unshare(CLONE_NEWUSER | CLONE_NEWPID) ? errno : 0;
	case NEST:
		return nest(message->user);
	case BECOME:
		return become(message->user) ? errno : 0;
	case KEEP:
	case TRY:
		return begin_in_child(children, message->user,
				      message->order == KEEP);
	case FOLLOW:
		return follow(message->user);
	case LEAVE:
		return end_children(children);
	}
	return BROKEN;
}

static void serve(const struct agent *agent)
{
	struct children children = { .nr = 0 };
	struct message message;
	int answer;

	close(agent->orders[1]);
	close(agent->answers[0]);
	while (read(agent->orders[0], &message, sizeof(message)) ==
	       sizeof(message)) {
		answer = obey(&message, &children);
		if (write(agent->answers[1], &answer, sizeof(answer)) < 0)
			break;
	}
	_exit(end_children(&children));
}

static int start_agent(struct agent *agent)
{
	if (pipe(agent->orders) || pipe(agent->answers))
		return -1;
	agent->pid = fork_child();
	if (!agent->pid)
		serve(agent);
	close(agent->orders[0]);
	close(agent->answers[1]);
	return agent->pid < 0;
}

static int end_agent(const struct agent *agent)
{
	close(agent->orders[1]);
	close(agent->answers[0]);
	return wait_child(agent->pid);
}

static int order(const struct agent *agent, enum order order, uid_t user)
{
	struct message message = { .order = order, .user = user };
	int answer;

	if (write(agent->orders[1], &message, sizeof(message)) < 0 ||
	    read(agent->answers[0], &answer, sizeof(answer)) != sizeof(answer))
		return BROKEN;
	return answer;
}

static int write_map(pid_t pid, const char *name, const char *map)
{
	char path[50];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return write_file(path, map);
}

/* Without a map of groups no namespace can be made within this one. */
static int write_maps(const struct agent *agent, const char *map)
{
	return write_map(agent->pid, "uid_map", map) ||
	       write_map(agent->pid, "gid_map", map);
}

/* The first ID is the owner; the others are the owner's subordinate ones. */
static int map_ids(const struct agent *agent, uid_t owner, uid_t others,
		   int nr)
{
	char map[100];

	snprintf(map, sizeof(map), "0 %u 1\n1 %u %d\n", owner, others, nr - 1);
	return write_maps(agent, map);
}

FIXTURE(userns) {
	char max_profiles[20];
	uid_t owner;
	struct agent inside;
	struct agent outside;
};

FIXTURE_SETUP(userns)
{
	FILE *file = fopen(MAX_PROFILES, "r");
	char allowed[20];
	int error;

	ASSERT_TRUE(file && fgets(self->max_profiles,
				  sizeof(self->max_profiles), file));
	fclose(file);
	/*
	 * These users have no profiles of other tests, or of this one's last
	 * run.
	 */
	self->owner = 100000 + getpid();
	ASSERT_EQ(0, start_agent(&self->outside));
	ASSERT_EQ(0, start_agent(&self->inside));
	ASSERT_EQ(0, order(&self->inside, BECOME, self->owner));
	error = order(&self->inside, UNSHARE, 0);
	if (error)
		SKIP(return, "no user namespaces: %s", strerror(error));
	ASSERT_EQ(0, map_ids(&self->inside, self->owner,
			     10000000 + self->owner * IDS, IDS));
	snprintf(allowed, sizeof(allowed), "%d", ALLOWED);
	ASSERT_EQ(0, write_file(MAX_PROFILES, allowed));
}

FIXTURE_TEARDOWN(userns)
{
	EXPECT_EQ(0, end_agent(&self->inside));
	EXPECT_EQ(0, end_agent(&self->outside));
	EXPECT_EQ(0, write_file(MAX_PROFILES, self->max_profiles));
}

/* The kernel may free the memory of a process a little after its end. */
static int try_soon(const struct agent *agent, uid_t user)
{
	int tries = 60000;
	int error;

	while ((error = order(agent, TRY, user)) == EAGAIN && --tries)
		usleep(1000);
	return error;
}

/* Start as many profiles as allowed, each under another ID. */
static void fill(struct __test_metadata *_metadata, const struct agent *agent)
{
	for (int i = 1; i <= ALLOWED; i++)
		ASSERT_EQ(0, order(agent, KEEP, i));
}

TEST_F(userns, has_no_more_profiles_with_more_ids)
{
	fill(_metadata, &self->inside);
	EXPECT_EQ(EAGAIN, order(&self->inside, TRY, ALLOWED + 1));
	EXPECT_EQ(EAGAIN, order(&self->inside, TRY, IDS - 1));
	EXPECT_EQ(EAGAIN, order(&self->inside, TRY, 0));
	EXPECT_EQ(0, order(&self->inside, LEAVE, 0));
	EXPECT_EQ(0, try_soon(&self->inside, ALLOWED + 1));
}

TEST_F(userns, is_charged_to_its_owner)
{
	fill(_metadata, &self->inside);
	EXPECT_EQ(EAGAIN, order(&self->outside, TRY, self->owner));
	EXPECT_EQ(0, order(&self->outside, TRY, self->owner + 1));
	EXPECT_EQ(0, order(&self->inside, LEAVE, 0));
	EXPECT_EQ(0, try_soon(&self->outside, self->owner));
}

TEST_F(userns, has_what_its_owner_has_left)
{
	for (int i = 0; i < ALLOWED; i++)
		ASSERT_EQ(0, order(&self->outside, KEEP, self->owner));
	EXPECT_EQ(EAGAIN, order(&self->inside, TRY, 1));
	EXPECT_EQ(0, order(&self->outside, LEAVE, 0));
	EXPECT_EQ(0, try_soon(&self->inside, 1));
}

/*
 * Each ID also has its own limit inside, whatever the namespace's owner uses.
 */
TEST_F(userns, charges_the_owner_once)
{
	for (int i = 0; i < ALLOWED; i++)
		EXPECT_EQ(0, order(&self->inside, KEEP, 0));
	EXPECT_EQ(EAGAIN, order(&self->inside, TRY, 0));
}

/* Within the first namespace, the next one is owned by ID 1. */
TEST_F(userns, inside_another_is_charged_to_the_outermost_owner)
{
	ASSERT_EQ(0, order(&self->inside, BECOME, 1));
	ASSERT_EQ(0, order(&self->inside, NEST, 1));
	for (int i = 0; i < ALLOWED; i++)
		ASSERT_EQ(0, order(&self->inside, KEEP, 0));
	EXPECT_EQ(EAGAIN, order(&self->inside, TRY, 0));
	EXPECT_EQ(EAGAIN, order(&self->outside, TRY, self->owner));
	EXPECT_EQ(0, order(&self->outside, TRY, self->owner + 1));
	EXPECT_EQ(0, order(&self->inside, LEAVE, 0));
	EXPECT_EQ(0, try_soon(&self->outside, self->owner));
}

/* An agent in a namespace that root makes for one user. */
static void make_sandbox(struct __test_metadata *_metadata,
			 struct agent *agent, enum order how, uid_t user)
{
	char map[50];

	snprintf(map, sizeof(map), "%u %u 1\n", user, user);
	ASSERT_EQ(0, start_agent(agent));
	ASSERT_EQ(0, order(agent, how, 0));
	ASSERT_EQ(0, write_maps(agent, map));
}

/* As programs with the set-user-ID bit make sandboxes. */
TEST_F(userns, that_root_makes_for_a_user_is_charged_to_the_user)
{
	struct agent sandbox;

	for (int i = 0; i < ALLOWED; i++)
		ASSERT_EQ(0, order(&self->outside, KEEP, self->owner));
	make_sandbox(_metadata, &sandbox, SANDBOX, self->owner);
	EXPECT_EQ(EAGAIN, order(&sandbox, TRY, self->owner));
	EXPECT_EQ(0, end_agent(&sandbox));
}

/* As a service manager does for a service. */
TEST_F(userns, that_root_makes_for_a_user_is_not_charged_to_root)
{
	struct agent service;

	make_sandbox(_metadata, &service, UNSHARE, self->owner);
	for (int i = 0; i < ALLOWED; i++)
		ASSERT_EQ(0, order(&service, KEEP, self->owner));
	EXPECT_EQ(EAGAIN, order(&service, TRY, self->owner));
	EXPECT_EQ(0, order(&self->outside, TRY, 0));
	EXPECT_EQ(0, end_agent(&service));
}

/* With many IDs, it has limits of its own, also without a PID namespace. */
TEST_F(userns, that_root_makes_for_many_is_not_charged_to_root)
{
	struct agent service;

	ASSERT_EQ(0, start_agent(&service));
	ASSERT_EQ(0, order(&service, UNSHARE, 0));
	ASSERT_EQ(0, map_ids(&service, self->owner,
			     10000000 + self->owner * IDS, IDS));
	for (int i = 1; i <= ALLOWED; i++)
		ASSERT_EQ(0, order(&service, KEEP, i));
	EXPECT_EQ(EAGAIN, order(&service, TRY, 0));
	EXPECT_EQ(0, order(&self->outside, TRY, 0));
	EXPECT_EQ(0, end_agent(&service));
}

/* A child that inherits a profile is charged like one that starts its own. */
TEST_F(userns, follows_no_more_children_than_allowed)
{
	for (int i = 1; i < ALLOWED; i++)
		ASSERT_EQ(0, order(&self->inside, KEEP, i));
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(IS_OFF, order(&self->inside, FOLLOW, ALLOWED));
}

TEST_HARNESS_MAIN
