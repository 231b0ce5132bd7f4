// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_life.c - what processes and files do while they are watched
 *
 * Processes fork in every way, execute programs, end with and without their
 * leader, and leave their PID to others. Files are mapped one after the other
 * at the same address, deleted, replaced, and on file systems whose inodes are
 * not what they seem. No tick is without its image and object.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "programs/dso.h"
#include "watch.h"

NEEDS_ROOT;

#define PLACE		"/run/profil-watch-life"
#define CGROUP		"/sys/fs/cgroup/profil-watch-life"

/*
 * How long each part works, and the number of its ticks that show that it was
 * seen: few, since all ticks while the host runs others fall at one place.
 */
#define WORK_NS		(80 * MS)
#define SHOWS		5

static char program[4096];

/*
 * This program, executed by a test, runs one of these instead of tests. The
 * priority is before that of NEEDS_ROOT.
 */
__attribute__((constructor(101))) static void executed(int argc, char **argv)
{
	ssize_t length = readlink("/proc/self/exe", program,
				  sizeof(program) - 1);

	program[length < 0 ? 0 : length] = '\0';
	if (argc != 2)
		return;
	if (!strcmp(argv[1], "burn"))
		burn_process_ns(WORK_NS);
	else if (strcmp(argv[1], "nothing"))
		return;
	_exit(0);
}

static int execute(const char *what)
{
	char *const argv[] = { program, (char *)what, NULL };

	return execv(program, argv);
}

static int spawn(const char *what)
{
	char *const argv[] = { program, (char *)what, NULL };
	pid_t child;

	if (posix_spawn(&child, program, NULL, NULL, argv, environ))
		return -1;
	return wait_child(child);
}

FIXTURE(life) {
	struct watch watch;
	struct profil_watch_status status;
};

FIXTURE_SETUP(life)
{
	self->watch.fd = -1;
}

FIXTURE_TEARDOWN(life)
{
	watch_end(&self->watch);
}

/*
 * Watch a process that does @work to its end, and check what every watch has to
 * have then.
 */
static struct profil_watch_status live(struct __test_metadata *_metadata,
				       struct watch *watch, uint32_t flags,
				       int (*work)(void *), void *argument)
{
	struct child child = child_begin(work, argument);
	struct profil_watch_status status;

	ASSERT_LT(0, child.pid);
	watch_end(watch);
	ASSERT_EQ(0, watch_process(watch, child.pid, flags));
	EXPECT_EQ(0, child_end(&child));
	/* Children that are the test's own by CLONE_PARENT */
	while (wait(NULL) > 0)
		;
	status = watch_settled(watch, 0);
	EXPECT_EQ(PROFIL_STATE_ON, status.state);
	EXPECT_EQ(0, status.processes);
	EXPECT_EQ(0, status.unfollowed);
	EXPECT_EQ(0, status.withheld);
	EXPECT_RESOLVED(&status);
	EXPECT_EQ(0, status.coarse);
	EXPECT_EQ(0, image_ticks(watch_image(watch, 0)));
	EXPECT_SOUND(watch, &status);
	if (status.ticks)
		EXPECT_WATCH_TICKS(&status);
	return status;
}

/* --- children */

static int burn_and_exit(void *unused)
{
	(void)unused;
	burn_process_ns(WORK_NS);
	return 0;
}

/* A child by clone(2), which burns while its parent waits. */
static int clone_and_wait(void *argument)
{
	static char stack[65536];
	unsigned long flags = (uintptr_t)argument;
	siginfo_t info;
	pid_t child;

	child = clone(burn_and_exit, stack + sizeof(stack),
		      flags | SIGCHLD, NULL);
	if (child < 0)
		return 1;
	/* With CLONE_PARENT it is the test's child */
	if (!(flags & CLONE_PARENT) &&
	    waitid(P_PID, child, &info, WEXITED))
		return 2;
	return 0;
}

FIXTURE(kind_of_child) {
	struct watch watch;
	struct profil_watch_status status;
};

FIXTURE_VARIANT(kind_of_child) {
	unsigned long flags;
};

FIXTURE_VARIANT_ADD(kind_of_child, fork) { .flags = 0 };
FIXTURE_VARIANT_ADD(kind_of_child, vfork) {
	.flags = CLONE_VM | CLONE_VFORK
};
FIXTURE_VARIANT_ADD(kind_of_child, with_its_memory) { .flags = CLONE_VM };
FIXTURE_VARIANT_ADD(kind_of_child, with_its_parent) { .flags = CLONE_PARENT };
FIXTURE_VARIANT_ADD(kind_of_child, in_a_pid_namespace) {
	.flags = CLONE_NEWPID
};

FIXTURE_SETUP(kind_of_child)
{
	self->watch.fd = -1;
}

FIXTURE_TEARDOWN(kind_of_child)
{
	watch_end(&self->watch);
}

TEST_F(kind_of_child, is_watched_if_asked_for)
{
	const struct profil_watch_image *image;

	UNTIL_WORK_COVERED(WORK_NS, self->status.cpu_time_ns)
		self->status = live(_metadata, &self->watch,
				    PROFIL_WATCH_CHILDREN, clone_and_wait,
				    (void *)variant->flags);
	EXPECT_LT(SHOWS, self->status.ticks);
	EXPECT_WORK_COVERED(WORK_NS, self->status.cpu_time_ns);
	image = watch_image(&self->watch, 1);
	EXPECT_EQ(2, self->status.images);
	EXPECT_EQ(2, image->processes);
}

TEST_F(kind_of_child, is_not_watched_otherwise)
{
	self->status = live(_metadata, &self->watch, 0, clone_and_wait,
			    (void *)variant->flags);
	EXPECT_EQ(2, self->status.images);
	EXPECT_EQ(1, watch_image(&self->watch, 1)->processes);
}

static int leave_an_orphan(void *unused)
{
	pid_t child = fork();

	(void)unused;
	if (child)
		return child < 0;
	usleep(50000);
	child = fork();
	if (child)
		_exit(child < 0);
	usleep(50000);
	burn_process_ns(WORK_NS);
	_exit(0);
}

TEST_F(life, of_orphans)
{
	self->status = live(_metadata, &self->watch, PROFIL_WATCH_CHILDREN, leave_an_orphan, NULL);
	EXPECT_LT(SHOWS, self->status.ticks);
	EXPECT_EQ(3, watch_image(&self->watch, 1)->processes);
}

/* --- threads */

static void *burn_thread(void *unused)
{
	(void)unused;
	burn_thread_ns(WORK_NS);
	return NULL;
}

static int burn_in_threads(void *unused)
{
	pthread_t threads[4];

	(void)unused;
	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, burn_thread, NULL))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

TEST_F(life, of_threads)
{
	UNTIL_WORK_COVERED(4 * WORK_NS, self->status.cpu_time_ns)
		self->status = live(_metadata, &self->watch, 0,
				    burn_in_threads, NULL);
	EXPECT_WORK_COVERED(4 * WORK_NS, self->status.cpu_time_ns);
	EXPECT_EQ(1, watch_image(&self->watch, 1)->processes);
}

static void *sleep_thread(void *unused)
{
	wait_for_signal(unused);
	return NULL;
}

struct handshake {
	int ready[2];
	int go[2];
};

/* Threads that run when the watch begins. */
static int burn_after_handshake(void *argument)
{
	struct handshake *handshake = argument;
	pthread_t threads[2];
	char byte;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, sleep_thread, NULL))
			return 1;
	if (write(handshake->ready[1], "", 1) != 1 ||
	    read(handshake->go[0], &byte, 1) != 1)
		return 2;
	return burn_in_threads(NULL);
}

TEST_F(life, of_a_process_with_threads_already)
{
	struct child child;
	struct handshake handshake;
	char byte;

	ASSERT_EQ(0, pipe(handshake.ready));
	ASSERT_EQ(0, pipe(handshake.go));
	UNTIL_WORK_COVERED(4 * WORK_NS, self->status.cpu_time_ns) {
		child = child_begin(burn_after_handshake, &handshake);
		child_go(&child);
		ASSERT_EQ(1, read(handshake.ready[0], &byte, 1));
		watch_end(&self->watch);
		ASSERT_EQ(0, watch_process(&self->watch, child.pid, 0));
		ASSERT_EQ(1, write(handshake.go[1], "", 1));
		EXPECT_EQ(0, child_end(&child));
		self->status = watch_settled(&self->watch, 0);
	}
	EXPECT_EQ(0, self->status.processes);
	EXPECT_WORK_COVERED(4 * WORK_NS, self->status.cpu_time_ns);
	EXPECT_WATCH_TICKS(&self->status);
	EXPECT_SOUND(&self->watch, &self->status);
}

/* It is as good a name of the process as any, or no process: but not another. */
TEST_F(life, of_a_thread_id)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS, 0, 0);
	pthread_t thread;
	pid_t tid = 0;
	char path[64];

	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_thread, NULL));
	for (pid_t i = getpid() + 1; i < getpid() + 1000 && !tid; i++) {
		snprintf(path, sizeof(path), "/proc/self/task/%d", i);
		if (!access(path, F_OK))
			tid = i;
	}
	ASSERT_LT(0, tid);
	request.id = tid;
	EXPECT_EQ(ESRCH, watch_try(&request));
}

static void *execute_here(void *unused)
{
	(void)unused;
	execute("burn");
	_exit(9);
}

/* The thread takes the place of the leader. */
static int execute_in_thread(void *unused)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, execute_here, NULL))
		return 1;
	return wait_for_signal(unused);
}

TEST_F(life, of_a_thread_that_executes_a_program)
{
	const struct profil_watch_image *image;
	uint32_t nr;

	self->status = live(_metadata, &self->watch, 0, execute_in_thread, NULL);
	EXPECT_EQ(3, self->status.images);
	nr = watch_nr_images(&self->watch) - 1;
	image = watch_image(&self->watch, nr);
	EXPECT_LT(SHOWS, image_ticks(image));
	EXPECT_EQ(1, image->parent);
	EXPECT_EQ(watch_image(&self->watch, 1)->pid, image->pid);
	EXPECT_STREQ(program, watch_path_soon(&self->watch, image->exe));
}

static int leave_a_thread(void *unused)
{
	pthread_t thread;

	(void)unused;
	if (pthread_create(&thread, NULL, burn_thread, NULL))
		return 1;
	pthread_exit(NULL);
}

TEST_F(life, of_threads_without_their_leader)
{
	self->status = live(_metadata, &self->watch, 0, leave_a_thread, NULL);
	EXPECT_LT(SHOWS, self->status.ticks);
}

static int die_with_threads(void *unused)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread, NULL, sleep_thread, NULL))
			return 1;
	burn_process_ns(WORK_NS);
	kill(getpid(), SIGKILL);
	return wait_for_signal(unused);
}

TEST_F(life, of_threads_that_are_killed)
{
	struct child child = child_begin(die_with_threads, NULL);

	ASSERT_EQ(0, watch_process(&self->watch, child.pid, 0));
	EXPECT_EQ(-SIGKILL, child_end(&child));
	self->status = watch_settled(&self->watch, 0);
	EXPECT_EQ(0, self->status.processes);
	EXPECT_LT(SHOWS, self->status.ticks);
	EXPECT_WATCH_TICKS(&self->status);
	EXPECT_SOUND(&self->watch, &self->status);
}

static int burn_and_stop(void *unused)
{
	return burn_and_exit(unused) || raise(SIGSTOP);
}

/*
 * On PREEMPT_RT all ticks wait for a worker, and it may come late, but there is
 * room for as many as this process has.
 */
TEST_F(life, of_one_who_stays_when_its_work_is_done)
{
	struct child child = child_begin(burn_and_stop, NULL);

	ASSERT_EQ(0, watch_process(&self->watch, child.pid, 0));
	child_go(&child);
	ASSERT_EQ(0, child_wait_stopped(&child));
	self->status = watch_settled(&self->watch, 1);
	EXPECT_LT(SHOWS, self->status.counted);
	EXPECT_EQ(0, self->status.unresolved);
	EXPECT_EQ(0, self->status.coarse);
	EXPECT_SOUND(&self->watch, &self->status);
	EXPECT_WATCH_TICKS(&self->status);
	EXPECT_EQ(-SIGKILL, child_kill(&child));
}

/* --- exec */

static int burn_then_execute(void *unused)
{
	burn_and_exit(unused);
	execute("burn");
	return 1;
}

/* A process that works in one image, and then in another one. */
static void live_twice(struct __test_metadata *_metadata,
		       FIXTURE_DATA(life) *self, int (*work)(void *))
{
	const struct profil_watch_image *before = NULL, *after = NULL;
	uint64_t least_ns = 0;

	UNTIL_WORK_COVERED(WORK_NS, least_ns) {
		self->status = live(_metadata, &self->watch, 0, work, NULL);
		ASSERT_EQ(3, self->status.images);
		before = watch_image(&self->watch, 1);
		after = watch_image(&self->watch, 2);
		least_ns = fmin(before->cpu_time_ns, after->cpu_time_ns);
	}
	EXPECT_LT(SHOWS, image_ticks(before));
	EXPECT_LT(SHOWS, image_ticks(after));
	EXPECT_WORK_COVERED(WORK_NS, least_ns);
	EXPECT_EQ(0, before->parent);
	EXPECT_EQ(1, after->parent);
	EXPECT_EQ(before->pid, after->pid);
}

TEST_F(life, of_a_program_that_executes_another)
{
	const struct profil_watch_image *before, *after;

	live_twice(_metadata, self, burn_then_execute);
	before = watch_image(&self->watch, 1);
	after = watch_image(&self->watch, 2);
	EXPECT_EQ(0, before->exe);
	EXPECT_EQ(before->cgroup, after->cgroup);
	EXPECT_LT(before->start_ns + WORK_NS, after->start_ns);
	EXPECT_GT(monotonic_ns(), after->start_ns);
	EXPECT_STREQ(program, watch_path_soon(&self->watch, after->exe));
	EXPECT_STREQ("watch_life", after->comm);
	EXPECT_EQ(1, after->processes);
}

static int burn_move_burn(void *unused)
{
	(void)unused;
	burn_process_ns(WORK_NS);
	if (enter_cgroup(0, CGROUP))
		return 1;
	burn_process_ns(WORK_NS);
	return 0;
}

TEST_F(life, of_a_process_that_moves_to_another_cgroup)
{
	const struct profil_watch_image *before, *after;
	struct stat group;

	mkdir(CGROUP, 0755);
	ASSERT_EQ(0, stat(CGROUP, &group));
	live_twice(_metadata, self, burn_move_burn);
	before = watch_image(&self->watch, 1);
	after = watch_image(&self->watch, 2);
	EXPECT_NE(before->cgroup, after->cgroup);
	EXPECT_EQ(group.st_ino, after->cgroup);
	EXPECT_EQ(before->exe, after->exe);
	EXPECT_EQ(0, remove_cgroup(CGROUP));
}

static int fork_burn_execute(void *unused)
{
	pid_t child = fork();

	if (!child) {
		/* Not watched, although it goes on after the exec */
		burn_process_ns(2 * WORK_NS);
		_exit(0);
	}
	burn_and_exit(unused);
	execute("burn");
	return 1;
}

TEST_F(life, from_the_next_exec_on)
{
	const struct profil_watch_image *image;
	uint64_t begin_ns = monotonic_ns();

	self->status = live(_metadata, &self->watch, PROFIL_WATCH_AT_EXEC | PROFIL_WATCH_CHILDREN,
	     fork_burn_execute, NULL);
	EXPECT_LT(SHOWS, self->status.ticks);
	EXPECT_EQ(2, self->status.images);
	image = watch_image(&self->watch, 1);
	EXPECT_STREQ("watch_life", image->comm);
	EXPECT_LE(PROFIL_OBJECT_FILES, image->exe);
	/* The forked child is not in it, nor the time before the exec */
	EXPECT_EQ(1, image->processes);
	EXPECT_LE(begin_ns + WORK_NS, image->start_ns);
	EXPECT_GE(monotonic_ns() - image->start_ns, self->status.cpu_time_ns);
}

static int never_execute(void *unused)
{
	return burn_and_exit(unused);
}

TEST_F(life, without_the_exec_that_it_waits_for)
{
	self->status = live(_metadata, &self->watch, PROFIL_WATCH_AT_EXEC, never_execute, NULL);
	EXPECT_EQ(0, self->status.ticks);
	EXPECT_EQ(0, self->status.cpu_time_ns);
	EXPECT_EQ(1, self->status.images);
}

static int spawn_three(void *unused)
{
	(void)unused;
	return spawn("burn") || spawn("burn") || spawn("burn");
}

TEST_F(life, of_one_program_is_one_image)
{
	const struct profil_watch_image *image = NULL;

	UNTIL_WORK_COVERED(3 * WORK_NS, image ? image->cpu_time_ns : 0) {
		self->status = live(_metadata, &self->watch,
				    PROFIL_WATCH_CHILDREN, spawn_three, NULL);
		ASSERT_EQ(3, self->status.images);
		image = watch_image(&self->watch, 2);
	}
	EXPECT_LT(3 * SHOWS, image_ticks(image));
	EXPECT_EQ(3, image->processes);
	EXPECT_WORK_COVERED(3 * WORK_NS, image->cpu_time_ns);
	EXPECT_EQ(1, image->parent);
}

/* An image for each fork, and one for each exec. */
TEST_F(life, of_one_program_in_separate_images)
{
	self->status = live(_metadata, &self->watch, PROFIL_WATCH_CHILDREN | PROFIL_WATCH_SEPARATE,
	     spawn_three, NULL);
	ASSERT_EQ(8, self->status.images);
	for (uint32_t i = 3; i < 8; i += 2) {
		const struct profil_watch_image *image =
			watch_image(&self->watch, i);

		EXPECT_LT(SHOWS, image_ticks(image));
		EXPECT_EQ(1, image->processes);
		EXPECT_EQ(i - 1, image->parent);
		EXPECT_EQ(1, watch_image(&self->watch, i - 1)->parent);
		EXPECT_EQ(watch_image(&self->watch, i - 1)->pid, image->pid);
	}
}

/* --- storms */

#define STORM	60

/*
 * Of nothing that any process does while others are started and end all the
 * time, a tick is without image or object. The test for the bar of 6000 is in
 * long/.
 */
TEST_F(life, in_a_storm_of_execs)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_MACHINE, 0, 0);
	char *const argv[] = { "true", NULL };
	int nr = STORM / slack();
	pid_t child;

	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	for (int i = 0; i < nr; i++) {
		ASSERT_EQ(0, posix_spawn(&child, "/bin/true", NULL, NULL, argv,
					 environ));
		EXPECT_EQ(0, wait_child(child));
	}
	watch_stop(&self->watch);
	self->status = watch_settled(&self->watch, 0);
	TH_LOG("%llu ticks, %llu in kernel mode, %u images, %u buckets",
	       self->status.ticks, self->status.kernel, self->status.images,
	       self->status.buckets);
	EXPECT_LT(nr / 2, self->status.ticks);
	EXPECT_RESOLVED(&self->status);
	EXPECT_EQ(0, self->status.coarse);
	EXPECT_EQ(0, self->status.unfollowed);
	EXPECT_EQ(0, image_ticks(watch_image(&self->watch, 0)));
	EXPECT_SOUND(&self->watch, &self->status);
	EXPECT_WATCH_TICKS(&self->status);
	EXPECT_LE(nr, watch_image(&self->watch, watch_find_image(&self->watch,
						"true"))->processes);
}

#define BOMB		60
#define ROOM		16

/**
 * struct bomb - pipes to a process with many children
 * @end: for the children to end, when the test has closed it
 * @room: for a byte when there is room for other children
 */
struct bomb {
	int end[2];
	int room[2];
};

static int explode(void *argument)
{
	const struct bomb *bomb = argument;
	char byte;

	if (run_children(BOMB, bomb->end) ||
	    read(bomb->room[0], &byte, 1) != 1)
		return 1;
	return spawn("burn");
}

TEST_F(life, of_more_children_than_there_is_room_for)
{
	struct profil_watch request;
	struct child child;
	struct bomb bomb;

	ASSERT_EQ(0, pipe(bomb.end));
	ASSERT_EQ(0, pipe(bomb.room));
	child = child_begin(explode, &bomb);
	request = watch_request(PROFIL_WATCH_PROCESS, child.pid,
				PROFIL_WATCH_CHILDREN);
	request.processes = ROOM;
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	child_go(&child);
	while (watch_status(&self->watch).unfollowed < BOMB - (ROOM - 1))
		usleep(1000);
	EXPECT_EQ(ROOM, watch_status(&self->watch).processes);
	close(bomb.end[0]);
	close(bomb.end[1]);
	EXPECT_EQ(1, watch_settled(&self->watch, 1).processes);
	ASSERT_EQ(1, write(bomb.room[1], "", 1));
	EXPECT_EQ(0, child_end(&child));
	self->status = watch_settled(&self->watch, 0);
	EXPECT_EQ(0, self->status.processes);
	EXPECT_EQ(BOMB - (ROOM - 1), self->status.unfollowed);
	EXPECT_SOUND(&self->watch, &self->status);
	EXPECT_LT(SHOWS, image_ticks(watch_image(&self->watch, 2)));
}

/* --- PIDs */

static pid_t fork_with_pid(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&pid,
		.set_tid_size = 1,
	};

	return syscall(SYS_clone3, &args, sizeof(args));
}

TEST_F(life, of_another_process_with_the_same_pid)
{
	struct child child = child_begin(burn_100_ms, NULL);
	struct profil_watch_status before;
	pid_t pid = child.pid;
	struct watch other;
	int go[2];
	char byte;
	pid_t twin;

	ASSERT_EQ(0, watch_process(&self->watch, pid, PROFIL_WATCH_CHILDREN));
	EXPECT_EQ(0, child_end(&child));
	ASSERT_EQ(0, pipe(go));
	twin = fork_with_pid(pid);
	if (!twin)
		_exit(read(go[0], &byte, 1) != 1 || burn_100_ms(NULL));
	if (twin < 0)
		SKIP(return, "clone3: %s", strerror(errno));
	ASSERT_EQ(pid, twin);
	/* The new one is free for another watch */
	ASSERT_EQ(0, watch_process(&other, pid, 0));
	before = watch_settled(&self->watch, 0);
	ASSERT_EQ(1, write(go[1], "", 1));
	EXPECT_EQ(0, wait_child(twin));
	self->status = watch_settled(&self->watch, 0);
	EXPECT_EQ(before.ticks, self->status.ticks);
	EXPECT_EQ(before.cpu_time_ns, self->status.cpu_time_ns);
	EXPECT_LT(SHOWS, watch_settled(&other, 0).ticks);
	watch_end(&other);
}

/* --- files and other memory */

static void *map_code(int fd, off_t offset, void *address)
{
	int fixed = address ? MAP_FIXED : 0;
	void *code = mmap(address, PAGE, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | fixed, fd, offset);

	return code == MAP_FAILED ? NULL : code;
}

static int spin_in(int fd, off_t offset, void *address)
{
	void *code = map_code(fd, offset, address);

	if (!code)
		return 1;
	spin_ns(code, WORK_NS);
	return munmap(code, PAGE);
}

FIXTURE(file) {
	struct watch watch;
	struct profil_watch_status status;
};

FIXTURE_SETUP(file)
{
	self->watch.fd = -1;
	mkdir(PLACE, 0755);
	ASSERT_EQ(0, mount("profil", PLACE, "tmpfs", 0, NULL));
}

FIXTURE_TEARDOWN(file)
{
	watch_end(&self->watch);
	umount2(PLACE "/merged", MNT_DETACH);
	umount2(PLACE "/btrfs", MNT_DETACH);
	EXPECT_EQ(0, umount2(PLACE, MNT_DETACH));
}

/* The object with that path has the ticks of the spinning in a page. */
static void expect_ticks(struct __test_metadata *_metadata,
			 const struct watch *watch, const char *path,
			 uint64_t offset)
{
	uint32_t object = watch_find_object(watch, path);
	uint64_t ticks = watch_ticks_at(watch, object, offset, offset + PAGE);

	TH_LOG("%llu ticks in %s", (unsigned long long)ticks, path);
	EXPECT_LE(PROFIL_OBJECT_FILES, object);
	EXPECT_LT(SHOWS, ticks);
	EXPECT_EQ(ticks, watch_ticks(watch, WATCH_ANY, object));
}

static int spin_in_both(void *address)
{
	int first = open(PLACE "/first", O_RDONLY);
	int second = open(PLACE "/second", O_RDONLY);

	return spin_in(first, 0, address) || spin_in(second, 0, address) ||
	       spin_in(first, 0, address);
}

/* As dlclose() and dlopen() do. */
TEST_F(file, mapped_where_another_one_was)
{
	void *address = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);

	ASSERT_LE(0, make_code(PLACE "/first"));
	ASSERT_LE(0, make_code(PLACE "/second"));
	self->status = live(_metadata, &self->watch, 0, spin_in_both, address);
	expect_ticks(_metadata, &self->watch, PLACE "/first", 0);
	expect_ticks(_metadata, &self->watch, PLACE "/second", 0);
}

static int open_and_close(void *unused)
{
	char path[4096];

	(void)unused;
	for (int i = 0; i < 2; i++) {
		const struct library *exported;
		uint64_t end = process_cpu_ns() + WORK_NS;
		void *library;

		helper_path(path, sizeof(path), i ? "second.so" : "first.so");
		library = dlopen(path, RTLD_NOW);
		exported = library ? dlsym(library, "library") : NULL;
		if (!exported)
			return 1;
		for (int j = 0; j < 100 || process_cpu_ns() < end; j++)
			exported->function();
		dlclose(library);
	}
	return 0;
}

static int spin_at_offset(void *unused)
{
	int fd = open(PLACE "/code", O_RDONLY);

	(void)unused;
	return spin_in(fd, 3 * PAGE, NULL);
}

TEST_F(file, mapped_from_the_middle)
{
	int fd = open(PLACE "/code", O_RDWR | O_CREAT, 0755);

	ASSERT_EQ(spin_code_size, pwrite(fd, spin_code, spin_code_size,
					 3 * PAGE));
	self->status = live(_metadata, &self->watch, 0, spin_at_offset, NULL);
	expect_ticks(_metadata, &self->watch, PLACE "/code", 3 * PAGE);
}

static int delete_and_spin(void *unused)
{
	int fd = open(PLACE "/code", O_RDONLY);

	(void)unused;
	if (unlink(PLACE "/code"))
		return 2;
	return spin_in(fd, 0, NULL);
}

TEST_F(file, that_was_deleted)
{
	ASSERT_LE(0, make_code(PLACE "/code"));
	self->status = live(_metadata, &self->watch, 0, delete_and_spin, NULL);
	expect_ticks(_metadata, &self->watch, PLACE "/code (deleted)", 0);
}

/* As a package manager does. */
static int replace_and_spin(void *unused)
{
	int old = open(PLACE "/code", O_RDONLY), new;

	(void)unused;
	if (spin_in(old, 0, NULL))
		return 1;
	/* The path is found by now, most times */
	usleep(200000);
	if (make_code(PLACE "/new") < 0 || rename(PLACE "/new", PLACE "/code"))
		return 2;
	new = open(PLACE "/code", O_RDONLY);
	return spin_in(new, 0, NULL);
}

static uint32_t objects_with(const struct watch *watch, const char *path,
			     uint32_t *first, uint32_t *second)
{
	uint32_t nr = 0;

	for (uint32_t i = PROFIL_OBJECT_FILES; i < watch_nr_objects(watch); i++)
		if (!strcmp(watch_path_soon(watch, i), path))
			*(nr++ ? second : first) = i;
	return nr;
}

static void expect_two(struct __test_metadata *_metadata,
		       const struct watch *watch, const char *path,
		       uint32_t *first, uint32_t *second)
{
	ASSERT_EQ(2, objects_with(watch, path, first, second));
	EXPECT_LT(SHOWS, watch_ticks(watch, WATCH_ANY, *first));
	EXPECT_LT(SHOWS, watch_ticks(watch, WATCH_ANY, *second));
}

TEST_F(file, that_was_replaced)
{
	uint32_t old, new;
	struct stat stats;

	ASSERT_LE(0, make_code(PLACE "/code"));
	RUN_UNTIL(objects_with(&self->watch, PLACE "/code", &old, &new) == 2,
		  self->status = live(_metadata, &self->watch, 0,
				      replace_and_spin, NULL));
	expect_two(_metadata, &self->watch, PLACE "/code", &old, &new);
	ASSERT_EQ(0, stat(PLACE "/code", &stats));
	EXPECT_EQ(stats.st_ino, watch_object(&self->watch, new)->inode);
	EXPECT_EQ(stats.st_dev, watch_object(&self->watch, new)->device);
	EXPECT_NE(stats.st_ino, watch_object(&self->watch, old)->inode);
}

/* Writing to a file of the lower layer makes another one of it. */
static int copy_up_and_spin(void *unused)
{
	int lower = open(PLACE "/merged/code", O_RDONLY), upper;

	(void)unused;
	if (spin_in(lower, 0, NULL))
		return 1;
	upper = open(PLACE "/merged/code", O_RDWR);
	return upper < 0 || spin_in(upper, 0, NULL);
}

TEST_F(file, of_an_overlay)
{
	uint32_t lower, upper;

	mkdir(PLACE "/lower", 0755);
	mkdir(PLACE "/upper", 0755);
	mkdir(PLACE "/work", 0755);
	mkdir(PLACE "/merged", 0755);
	ASSERT_LE(0, make_code(PLACE "/lower/code"));
	if (mount("profil", PLACE "/merged", "overlay", 0, "lowerdir=" PLACE
		  "/lower,upperdir=" PLACE "/upper,workdir=" PLACE "/work"))
		SKIP(return, "no overlay: %s", strerror(errno));
	self->status = live(_metadata, &self->watch, 0, copy_up_and_spin, NULL);
	expect_two(_metadata, &self->watch, PLACE "/merged/code", &lower,
		   &upper);
	EXPECT_NE(watch_object(&self->watch, lower)->inode,
		  watch_object(&self->watch, upper)->inode);
}

static int spin_in_subvolumes(void *unused)
{
	int one = open(PLACE "/btrfs/one/code", O_RDONLY);
	int two = open(PLACE "/btrfs/two/code", O_RDONLY);

	(void)unused;
	return spin_in(one, 0, NULL) || spin_in(two, 0, NULL);
}

/* A snapshot has the inode numbers of what it was made from. */
TEST_F(file, of_a_snapshot)
{
	struct stat one, two;

	mkdir(PLACE "/btrfs", 0755);
	if (system("exec > /dev/null 2>&1; modprobe loop; modprobe btrfs;"
		   "truncate -s 200M " PLACE "/disk &&"
		   "mkfs.btrfs -q -M " PLACE "/disk &&"
		   "mount -o loop " PLACE "/disk " PLACE "/btrfs &&"
		   "btrfs subvolume create " PLACE "/btrfs/one"))
		SKIP(return, "no btrfs, or no mkfs.btrfs");
	ASSERT_LE(0, make_code(PLACE "/btrfs/one/code"));
	sync();
	ASSERT_EQ(0, system("btrfs -q subvolume snapshot " PLACE "/btrfs/one "
			    PLACE "/btrfs/two"));
	ASSERT_EQ(0, stat(PLACE "/btrfs/one/code", &one));
	ASSERT_EQ(0, stat(PLACE "/btrfs/two/code", &two));
	ASSERT_EQ(one.st_ino, two.st_ino);
	self->status = live(_metadata, &self->watch, 0, spin_in_subvolumes, NULL);
	expect_ticks(_metadata, &self->watch, PLACE "/btrfs/one/code", 0);
	expect_ticks(_metadata, &self->watch, PLACE "/btrfs/two/code", 0);
}

static int spin_in_memfd(void *unused)
{
	int fd = memfd_create("code", MFD_CLOEXEC);

	(void)unused;
	return write_code(fd) || spin_in(fd, 0, NULL);
}

TEST_F(file, that_has_no_name)
{
	self->status = live(_metadata, &self->watch, 0, spin_in_memfd, NULL);
	expect_ticks(_metadata, &self->watch, "/memfd:code (deleted)", 0);
}

/* The path is that in the process's own root directory. */
static int spin_in_root(void *unused)
{
	int fd;

	(void)unused;
	if (chroot(PLACE) || chdir("/"))
		return 1;
	fd = open("/code", O_RDONLY);
	return spin_in(fd, 0, NULL);
}

TEST_F(file, of_a_process_in_another_root_directory)
{
	ASSERT_LE(0, make_code(PLACE "/code"));
	self->status = live(_metadata, &self->watch, 0, spin_in_root, NULL);
	expect_ticks(_metadata, &self->watch, PLACE "/code", 0);
}

/* A mount that nobody else sees. */
static int spin_in_namespace(void *unused)
{
	int fd;

	(void)unused;
	if (unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("profil", "/mnt", "tmpfs", 0, NULL))
		return 1;
	fd = make_code("/mnt/code");
	if (spin_in(fd, 0, NULL))
		return 2;
	/* While the path is looked for, most times */
	usleep(300000);
	return 0;
}

TEST_F(file, of_another_mount_namespace)
{
	RUN_UNTIL(watch_find_object(&self->watch, "/mnt/code"),
		  self->status = live(_metadata, &self->watch, 0,
				      spin_in_namespace, NULL));
	expect_ticks(_metadata, &self->watch, "/mnt/code", 0);
}

static int spin_in_jit(void *report)
{
	char *code = map_spin_code(1);

	if (!code || write((intptr_t)report, &code, sizeof(code)) < 0)
		return 1;
	spin_ns(code, WORK_NS);
	return 0;
}

TEST_F(life, of_code_that_is_generated)
{
	int report[2];
	uint64_t code;

	ASSERT_EQ(0, pipe(report));
	self->status = live(_metadata, &self->watch, 0, spin_in_jit, (void *)(intptr_t)report[1]);
	ASSERT_EQ(sizeof(code), read(report[0], &code, sizeof(code)));
	EXPECT_LT(SHOWS, watch_ticks_at(&self->watch, PROFIL_OBJECT_ANONYMOUS,
					code, code + PAGE));
}

static int read_the_clock(void *unused)
{
	uint64_t end = process_cpu_ns() + 2 * WORK_NS;

	(void)unused;
	for (int j = 0; j < 1000 || process_cpu_ns() < end; j++)
		for (int i = 0; i < 1000; i++)
			monotonic_ns();
	return 0;
}

static bool vdso_has_clock(void)
{
	return !system("grep -qxE 'tsc|arch_sys_counter|riscv_clocksource' "
		       "/sys/devices/system/clocksource/clocksource0/"
		       "current_clocksource");
}

TEST_F(life, in_the_vdso)
{
	/* A kernel may choose its clock late, and drop one that does not work */
	bool has_clock = vdso_has_clock();

	self->status = live(_metadata, &self->watch, 0, read_the_clock, NULL);
	if (!has_clock || !vdso_has_clock())
		SKIP(return, "the vDSO has no clock");
	EXPECT_LT(SHOWS, watch_ticks(&self->watch, WATCH_ANY,
					 PROFIL_OBJECT_VDSO));
	/* Offsets, not addresses */
	EXPECT_EQ(watch_ticks(&self->watch, WATCH_ANY, PROFIL_OBJECT_VDSO),
		  watch_ticks_at(&self->watch, PROFIL_OBJECT_VDSO, 0,
				 16 * PAGE));
}

/* --- a profile of what is watched */

#define LEAVERS		3
#define EXIT_MS		100

/**
 * struct leaving - threads of a process that end, and their profile
 * @cpu_ns: CPU time that the process has used since the profile began
 * @exit_ns: of this, time that threads needed to end
 * @covered_ns: what the profile has covered
 */
struct leaving {
	uint64_t cpu_ns;
	uint64_t exit_ns;
	uint64_t covered_ns;
};

static void *leave(void *unused)
{
	(void)unused;
	pin_to(0);
	return (void *)thread_cpu_ns();
}

static unsigned int nr_threads(void)
{
	struct stat tasks;

	return stat("/proc/self/task", &tasks) ? 0 : tasks.st_nlink - 2;
}

static int end_threads(void *argument)
{
	struct leaving *leaving = argument;
	static uint32_t counter;
	struct profil_region all = overflow_bin(&counter, sizeof(counter));
	uint64_t before_end_ns = 0, begin_ns;
	pthread_t thread;
	void *cpu_ns;

	pin_to(1);
	begin_ns = process_cpu_ns();
	if (set_regions(&all, 1, sizeof(counter), MS, 0))
		return 1;
	for (int i = 0; i < LEAVERS; i++) {
		if (pthread_create(&thread, NULL, leave, NULL) ||
		    pthread_join(thread, &cpu_ns))
			return 2;
		before_end_ns += (uintptr_t)cpu_ns;
		while (nr_threads() > 1)
			usleep(1000);
	}
	leaving->covered_ns = status_now().cpu_time_ns;
	leaving->cpu_ns = process_cpu_ns() - begin_ns;
	leaving->exit_ns = process_cpu_ns() - thread_cpu_ns() - before_end_ns;
	return 0;
}

/* A thread that ends needs long after it has left the memory. */
static int delay_exit(pid_t pid)
{
	char parameters[100];

	snprintf(parameters, sizeof(parameters),
		 "symbol=exit_files pid=%d ms=%d", pid, EXIT_MS);
	return load_helper("delay", parameters);
}

/* Reading the status of the watch brings what the CPUs run up to date. */
TEST(of_threads_that_end_leaves_their_profile_alone)
{
	struct leaving *leaving = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool is_covered = false;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two CPUs");
	pin_to(1);
	TRY_UNTIL(is_covered) {
		struct child child = child_begin(end_threads, leaving);
		struct watch watch;

		if (delay_exit(child.pid)) {
			child_kill(&child);
			SKIP(return, "delay.ko: %s", strerror(errno));
		}
		ASSERT_EQ(0, watch_process(&watch, child.pid, 0));
		child_go(&child);
		while (!child_has_ended(&child))
			watch_status(&watch);
		EXPECT_EQ(0, child_end(&child));
		EXPECT_EQ(0, unload_helper("delay"));
		TH_LOG("%llu of %llu us covered, %llu are of exit",
		       (unsigned long long)leaving->covered_ns / 1000,
		       (unsigned long long)leaving->cpu_ns / 1000,
		       (unsigned long long)leaving->exit_ns / 1000);
		EXPECT_LT(LEAVERS * EXIT_MS * MS / 2, leaving->exit_ns);
		is_covered = leaving->covered_ns >
			     leaving->cpu_ns - leaving->exit_ns / 4;
		watch_end(&watch);
	}
	EXPECT_TRUE(is_covered);
	munmap(leaving, PAGE);
}

/* --- huge pages */

#define NR_HUGEPAGES	"/proc/sys/vm/nr_hugepages"

static int huge_file(void)
{
	int fd = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);
	char *page;

	if (fd < 0 || ftruncate(fd, HUGE))
		return -1;
	page = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return -1;
	memcpy(page + PAGE, spin_code, spin_code_size);
	munmap(page, HUGE);
	return fd;
}

static int spin_in_huge_file(void *fd)
{
	char *code = mmap(NULL, HUGE, PROT_READ | PROT_EXEC, MAP_SHARED,
			  (intptr_t)fd, 0);

	if (code == MAP_FAILED)
		return 1;
	spin_ns(code + PAGE, WORK_NS);
	return 0;
}

TEST_F(file, of_huge_pages)
{
	int fd = -1;

	if (!write_file(NR_HUGEPAGES, "2"))
		fd = huge_file();
	if (fd < 0) {
		write_file(NR_HUGEPAGES, "0");
		SKIP(return, "no huge pages: %s", strerror(errno));
	}
	self->status = live(_metadata, &self->watch, 0, spin_in_huge_file,
	     (void *)(intptr_t)fd);
	expect_ticks(_metadata, &self->watch, "/memfd:huge (deleted)", PAGE);
	close(fd);
	EXPECT_EQ(0, write_file(NR_HUGEPAGES, "0"));
}

/* Aligned, so that one entry of the page table can map it. */
static int spin_in_transparent_huge_page(void *unused)
{
	int fd = open(PLACE "/code", O_RDWR);
	char *space = mmap(NULL, 2 * HUGE, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *code = huge_aligned(space);

	(void)unused;
	if (mmap(code, HUGE, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, fd,
		 HUGE) != code)
		return 1;
	spin_ns(code + PAGE, WORK_NS);
	return 0;
}

TEST_F(file, of_transparent_huge_pages)
{
	int fd;

	if (mount(NULL, PLACE, NULL, MS_REMOUNT, "huge=always"))
		SKIP(return, "this kernel has none");
	fd = open(PLACE "/code", O_RDWR | O_CREAT, 0755);
	ASSERT_EQ(0, ftruncate(fd, 2 * HUGE));
	ASSERT_EQ(spin_code_size, pwrite(fd, spin_code, spin_code_size,
					 HUGE + PAGE));
	self->status = live(_metadata, &self->watch, 0, spin_in_transparent_huge_page, NULL);
	expect_ticks(_metadata, &self->watch, PLACE "/code", HUGE + PAGE);
	close(fd);
}

TEST_F(file, of_libraries_that_come_and_go)
{
	char first[4096], second[4096];
	uint32_t objects[2];

	self->status = live(_metadata, &self->watch, 0, open_and_close, NULL);
	helper_path(first, sizeof(first), "first.so");
	helper_path(second, sizeof(second), "second.so");
	objects[0] = watch_find_object(&self->watch, realpath(first, NULL));
	objects[1] = watch_find_object(&self->watch, realpath(second, NULL));
	for (int i = 0; i < 2; i++) {
		ASSERT_LT(0, objects[i]);
		EXPECT_LT(SHOWS, watch_ticks(&self->watch, WATCH_ANY,
						 objects[i]));
	}
}

TEST_HARNESS_MAIN
