// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_access.c - who may watch whom
 *
 * Ordinary users may watch the processes that they may inspect, and learn
 * nothing about others; a program with more rights than its user leaves the
 * watch. CAP_PERFMON allows everything. The rights are those of the process
 * that makes the request, when it makes it: descriptors can be passed on, and
 * the watch goes on when its creator executes a program or gives up its rights.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "watch.h"

NEEDS_ROOT;

#define ALICE		100001
#define BOB		100002

#define PLACE		"/run/profil-watch-access"
#define CGROUP		"/sys/fs/cgroup/profil-watch-access"
#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"

#define WORK_NS		(80 * MS)

/*
 * Ticks that show that a process was watched: few, since all ticks while the
 * host runs others fall at one place.
 */
#define SHOWS		5

/* From here on, addresses are the kernel's. */
#define KERNEL_SPACE	0xffff800000000000ULL

#define CAP(cap)	(1ULL << (cap))
#define ALL_CAPS	(~0ULL)

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
	if (argc == 2 && !strcmp(argv[1], "burn")) {
		burn_process_ns(WORK_NS);
		_exit(0);
	}
	if (argc == 2 && !strcmp(argv[1], "give")) {
		if (setgroups(0, NULL) || setresgid(BOB, BOB, BOB) ||
		    setresuid(BOB, BOB, BOB))
			_exit(1);
		execl(PLACE "/plain", "plain", "wait", NULL);
		_exit(1);
	}
	if (argc == 2 && !strcmp(argv[1], "wait")) {
		if (write(STDOUT_FILENO, "", 1) == 1)
			pause();
	}
	/* The descriptor of a watch that has ticks */
	if (argc == 3 && !strcmp(argv[1], "status")) {
		struct profil_watch_status status = { .size = sizeof(status) };

		_exit(ioctl(atoi(argv[2]), PROFIL_IOC_WATCH_STATUS, &status) ||
		      status.state != PROFIL_STATE_ON);
	}
}

/* --- processes with all kinds of rights */

static int set_caps(uint64_t caps)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return -1;
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= caps >> 32 * i;
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &header, data);
}

/**
 * struct rights - of a process
 * @user: its real user ID
 * @saved: its saved user ID, if that is another one
 * @group: its group ID, if that is not the number of the user
 * @caps: capabilities that it keeps; root keeps all
 * @hidden: not dumpable
 */
struct rights {
	uid_t user;
	uid_t saved;
	gid_t group;
	uint64_t caps;
	bool hidden;
};

static int take_rights(const struct rights *rights)
{
	gid_t group = rights->group ?: rights->user;
	uid_t saved = rights->saved ?: rights->user;
	uint64_t caps = rights->user || rights->caps ? rights->caps : ALL_CAPS;

	if (prctl(PR_SET_KEEPCAPS, 1) || setgroups(0, NULL) ||
	    setresgid(group, group, group) ||
	    setresuid(rights->user, rights->user, saved) || set_caps(caps))
		return -1;
	return prctl(PR_SET_DUMPABLE, !rights->hidden) ||
	       prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static int burn_a_little(void *unused)
{
	(void)unused;
	burn_process_ns(WORK_NS);
	return 0;
}

/* A process with some rights that waits for child_go(). */
static struct child target_begin(const struct rights *rights,
				 int (*work)(void *), void *argument)
{
	struct child child = { .pid = -1, .go = -1 };
	int go[2], ready[2];
	char byte;

	if (pipe(go) || pipe(ready))
		return child;
	child.pid = fork_child();
	if (!child.pid) {
		if (take_rights(rights) || write(ready[1], "", 1) != 1 ||
		    read(go[0], &byte, 1) != 1)
			_exit(99);
		_exit(work(argument));
	}
	close(go[0]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		child.pid = -1;
	close(ready[0]);
	child.go = go[1];
	return child;
}

/*
 * Wait for a process and for the one that watches it and lets it go. If that
 * fails, the process would wait for ever. Return: the watcher's result, or that
 * of the process.
 */
static int wait_for_both(struct child *target, pid_t watcher)
{
	int status, bad = 0;

	for (int i = 0; i < 2; i++) {
		pid_t ended = wait(&status);

		bad = bad ?: WIFEXITED(status) ? WEXITSTATUS(status) : 255;
		if (ended == watcher && bad)
			kill(target->pid, SIGKILL);
	}
	return bad;
}

/* Try a watch with some rights. Return: 0, or the error number. */
static int try_with(const struct rights *rights,
		    const struct profil_watch *request)
{
	pid_t child = fork_child();

	if (!child)
		_exit(take_rights(rights) ? 199 : watch_try(request));
	return wait_child(child);
}

static int as(const struct rights *rights, int (*what)(void *), void *argument)
{
	pid_t child = fork_child();

	if (!child)
		_exit(take_rights(rights) ? 199 : what(argument));
	return wait_child(child);
}

static int try_process(const struct rights *rights, pid_t pid)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS, pid,
						    0);

	return try_with(rights, &request);
}

static const struct rights alice = { .user = ALICE };
static const struct rights bob = { .user = BOB };
static const struct rights root = { .user = 0 };
static const struct rights perfmon = {
	.user = ALICE, .caps = CAP(CAP_PERFMON),
};
static const struct rights ptracer = {
	.user = ALICE, .caps = CAP(CAP_SYS_PTRACE),
};

/* --- one process */

FIXTURE(of) {
	struct child target;
};

FIXTURE_VARIANT(of) {
	struct rights rights;
	int error;
};

FIXTURE_VARIANT_ADD(of, their_own) {
	.rights = { .user = ALICE }, .error = 0,
};

FIXTURE_VARIANT_ADD(of, another_user) {
	.rights = { .user = BOB }, .error = EPERM,
};

FIXTURE_VARIANT_ADD(of, root) {
	.rights = { .user = 0 }, .error = EPERM,
};

FIXTURE_VARIANT_ADD(of, another_group) {
	.rights = { .user = ALICE, .group = BOB }, .error = EPERM,
};

FIXTURE_VARIANT_ADD(of, a_saved_user) {
	.rights = { .user = ALICE, .saved = BOB }, .error = EPERM,
};

FIXTURE_VARIANT_ADD(of, more_capabilities) {
	.rights = { .user = ALICE, .caps = CAP(CAP_NET_RAW) }, .error = EPERM,
};

FIXTURE_VARIANT_ADD(of, what_is_not_dumpable) {
	.rights = { .user = ALICE, .hidden = true }, .error = EPERM,
};

FIXTURE_SETUP(of)
{
	self->target = target_begin(&variant->rights, burn_a_little, NULL);
	ASSERT_LT(0, self->target.pid);
}

FIXTURE_TEARDOWN(of)
{
	child_kill(&self->target);
}

TEST_F(of, is_for_those_who_may)
{
	pid_t pid = self->target.pid;

	EXPECT_EQ(variant->error, try_process(&alice, pid));
	EXPECT_EQ(0, try_process(&root, pid));
	EXPECT_EQ(0, try_process(&perfmon, pid));
	EXPECT_EQ(0, try_process(&ptracer, pid));
}

TEST(of_kernel_threads)
{
	EXPECT_EQ(EPERM, try_process(&alice, 2));
	EXPECT_EQ(EPERM, try_process(&ptracer, 2));
	EXPECT_EQ(0, try_process(&perfmon, 2));
}

/* Root is an ordinary user without its capabilities. */
TEST(of_root_by_root_without_capabilities)
{
	static const struct rights weak = { .caps = CAP(CAP_NET_RAW) };
	struct child equal = target_begin(&weak, burn_a_little, NULL);
	struct child mighty = target_begin(&root, burn_a_little, NULL);

	EXPECT_EQ(0, try_process(&weak, equal.pid));
	EXPECT_EQ(EPERM, try_process(&weak, mighty.pid));
	EXPECT_EQ(0, child_end(&equal));
	EXPECT_EQ(0, child_end(&mighty));
}

/* --- the parameter watch_scope */

FIXTURE(scope) {
	char before[20];
};

FIXTURE_VARIANT(scope) {
	const char *value;
	int of_child;
	int of_others;
};

FIXTURE_VARIANT_ADD(scope, of_nobody) {
	.value = "0", .of_child = EPERM, .of_others = EPERM,
};

FIXTURE_VARIANT_ADD(scope, without_a_meaning) {
	.value = "3", .of_child = EPERM, .of_others = EPERM,
};

FIXTURE_VARIANT_ADD(scope, of_descendants) {
	.value = "1", .of_child = 0, .of_others = EPERM,
};

FIXTURE_VARIANT_ADD(scope, of_what_may_be_inspected) {
	.value = "2", .of_child = 0, .of_others = 0,
};

FIXTURE_SETUP(scope)
{
	ASSERT_EQ(0, get_parameter("watch_scope", self->before,
				   sizeof(self->before)));
	ASSERT_EQ(0, put_parameter("watch_scope", variant->value));
}

FIXTURE_TEARDOWN(scope)
{
	EXPECT_EQ(0, put_parameter("watch_scope", self->before));
}

/* Watch a child of a child. Return: 0, or the error number. */
static int watch_grandchild(void *unused)
{
	struct profil_watch request;
	int ends[2], error;
	pid_t child, pid;

	(void)unused;
	if (pipe(ends))
		return 200;
	child = fork_child();
	if (!child) {
		pid = fork_child();
		if (!pid || write(ends[1], &pid, sizeof(pid)) != sizeof(pid))
			pause();
		_exit(wait_child(pid));
	}
	if (read(ends[0], &pid, sizeof(pid)) != sizeof(pid))
		return 201;
	request = watch_request(PROFIL_WATCH_PROCESS, pid, 0);
	error = watch_try(&request);
	kill(pid, SIGKILL);
	wait_child(child);
	return error;
}

static int watch_itself(void *unused)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    getpid(), 0);

	(void)unused;
	return watch_try(&request);
}

TEST_F(scope, is_the_limit_of_ordinary_users)
{
	struct profil_watch own = watch_request(PROFIL_WATCH_USER, ALICE, 0);
	struct child other = target_begin(&alice, burn_a_little, NULL);
	struct profil_watch in_cgroup;
	int fd;

	mkdir(CGROUP, 0755);
	fd = open(CGROUP, O_RDONLY | O_DIRECTORY);
	in_cgroup = watch_request(PROFIL_WATCH_CGROUP, fd, 0);
	EXPECT_EQ(variant->of_child, as(&alice, watch_itself, NULL));
	EXPECT_EQ(variant->of_child, as(&alice, watch_grandchild, NULL));
	EXPECT_EQ(variant->of_others, try_process(&alice, other.pid));
	EXPECT_EQ(variant->of_others, try_process(&ptracer, other.pid));
	EXPECT_EQ(variant->of_others, try_with(&alice, &own));
	EXPECT_EQ(variant->of_others, try_with(&alice, &in_cgroup));
	EXPECT_EQ(0, try_process(&perfmon, other.pid));
	EXPECT_EQ(0, try_with(&perfmon, &own));
	EXPECT_EQ(0, child_end(&other));
	close(fd);
	EXPECT_EQ(0, remove_cgroup(CGROUP));
}

/* --- many processes, and kernel addresses */

FIXTURE(paranoid) {
	char before[20];
};

FIXTURE_VARIANT(paranoid) {
	const char *level;
};

/* With 4, perf_event_open(2) is for root alone. */
FIXTURE_VARIANT_ADD(paranoid, level_1) { .level = "1" };
FIXTURE_VARIANT_ADD(paranoid, level_4) { .level = "4" };

FIXTURE_SETUP(paranoid)
{
	FILE *file = fopen(PARANOID, "r");

	ASSERT_TRUE(file && fgets(self->before, sizeof(self->before), file));
	fclose(file);
	ASSERT_EQ(0, write_file(PARANOID, variant->level));
}

FIXTURE_TEARDOWN(paranoid)
{
	EXPECT_EQ(0, write_file(PARANOID, self->before));
}

TEST_F(paranoid, what_ordinary_users_may)
{
	struct profil_watch own = watch_request(PROFIL_WATCH_USER, ALICE, 0);
	struct profil_watch other = watch_request(PROFIL_WATCH_USER, BOB, 0);
	struct profil_watch all = watch_request(PROFIL_WATCH_MACHINE, 0, 0);
	struct child target = target_begin(&alice, burn_a_little, NULL);
	struct profil_watch text = watch_request(PROFIL_WATCH_PROCESS,
						 target.pid,
						 PROFIL_WATCH_KERNEL_TEXT);

	EXPECT_EQ(0, try_process(&alice, target.pid));
	EXPECT_EQ(EPERM, try_process(&bob, target.pid));
	EXPECT_EQ(0, try_with(&alice, &own));
	EXPECT_EQ(EPERM, try_with(&alice, &other));
	EXPECT_EQ(EPERM, try_with(&alice, &all));
	EXPECT_EQ(EPERM, try_with(&alice, &text));
	EXPECT_EQ(EPERM, try_with(&ptracer, &other));
	EXPECT_EQ(EPERM, try_with(&ptracer, &all));
	EXPECT_EQ(EPERM, try_with(&ptracer, &text));
	EXPECT_EQ(0, try_with(&perfmon, &other));
	EXPECT_EQ(0, try_with(&perfmon, &all));
	EXPECT_EQ(0, try_with(&perfmon, &text));
	EXPECT_EQ(0, child_end(&target));
}

static int work_in_both(void *unused)
{
	(void)unused;
	burn_process_ns(WORK_NS);
	burn_kernel_ns(WORK_NS);
	return 0;
}

static int work_for_ever(void *unused)
{
	for (;;)
		work_in_both(unused);
	return 0;
}

/* Look at every word, whatever it is for. */
static int has_kernel_address(const struct watch *watch)
{
	const uint64_t *words = (const uint64_t *)watch->table;

	for (size_t i = 0; i < watch->as.map_size / sizeof(*words); i++)
		if (words[i] >= KERNEL_SPACE)
			return true;
	return false;
}

/* As an ordinary user, watch all own processes while @target works. */
static int watch_own_user(void *target)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_USER, ALICE,
						    PROFIL_WATCH_SEPARATE);
	uint64_t end = monotonic_ns() + 60 * SECOND;
	const struct profil_watch_image *seen;
	struct child *child = target;
	struct watch watch;
	uint32_t image;

	if (watch_begin(&watch, &request))
		return errno;
	image = watch_find_pid(&watch, child->pid);
	if (!image)
		return 200;
	seen = watch_image(&watch, image);
	child_go(child);
	do {
		usleep(1000);
		watch_status(&watch);
	} while ((seen->counted < SHOWS || seen->kernel < SHOWS) &&
		 monotonic_ns() < end);
	if (seen->counted < SHOWS || seen->kernel < SHOWS)
		return 201;
	if (has_kernel_address(&watch))
		return 203;
	for (uint32_t i = 1; i < watch_nr_images(&watch); i++)
		if (watch_image(&watch, i)->uid != ALICE)
			return 204;
	for (uint32_t i = PROFIL_OBJECT_FILES; i < watch_nr_objects(&watch); i++)
		if (strstr(watch_path_soon(&watch, i), "secret"))
			return 205;
	return watch_ticks(&watch, WATCH_ANY, PROFIL_OBJECT_KERNEL) ? 206 : 0;
}

/*
 * While others run programs whose names are their own business, users see
 * nothing but their own processes. On PREEMPT_RT, late ticks of one that ends may
 * not be counted.
 */
TEST_F(paranoid, what_ordinary_users_see)
{
	struct child target = target_begin(&alice, work_for_ever, NULL);
	struct child other = target_begin(&bob, wait_for_signal, NULL);
	pid_t secret = fork_child();

	ASSERT_LE(0, secret);
	if (!secret) {
		mkdir(PLACE, 0755);
		copy_file("/bin/true", PLACE "/secret", 0755);
		for (;;)
			if (system(PLACE "/secret"))
				_exit(1);
	}
	EXPECT_EQ(0, as(&alice, watch_own_user, &target));
	kill(secret, SIGKILL);
	EXPECT_EQ(-SIGKILL, wait_child(secret));
	EXPECT_EQ(-SIGKILL, child_kill(&other));
	EXPECT_EQ(-SIGKILL, child_kill(&target));
	unlink(PLACE "/secret");
	rmdir(PLACE);
}

/* The address of a symbol of the kernel, or 0. */
static uint64_t kernel_symbol(const char *symbol)
{
	FILE *all = fopen("/proc/kallsyms", "r");
	unsigned long long address;
	char name[512];
	uint64_t found = 0;

	while (!found && fscanf(all, "%llx %*c %511s%*[^\n]", &address, name) == 2)
		if (!strcmp(name, symbol))
			found = address;
	fclose(all);
	return found;
}

TEST(kernel_text_has_kernel_addresses)
{
	struct profil_watch_status status;
	struct watch watch = { .fd = -1 };
	uint64_t ticks;

	/* All ticks while the host runs others fall at one place, as of a module */
	RUN_UNTIL(SHOWS < status.kernel && 0.5 / slack() * status.kernel <= ticks, {
		struct child target = target_begin(&alice, work_in_both, NULL);
		struct profil_watch request =
			watch_request(PROFIL_WATCH_PROCESS, target.pid,
				      PROFIL_WATCH_KERNEL_TEXT);

		watch_end(&watch);
		request.bucket_shift = 4;
		ASSERT_EQ(0, watch_begin(&watch, &request));
		EXPECT_EQ(0, child_end(&target));
		status = watch_settled(&watch, 0);
		ticks = watch_ticks_at(&watch, PROFIL_OBJECT_KERNEL,
				       kernel_symbol("_stext") & -16ULL,
				       kernel_symbol("_etext"));
		TH_LOG("%llu ticks in kernel mode, %llu at addresses of its text",
		       status.kernel, (unsigned long long)ticks);
	});
	EXPECT_GE(status.kernel, ticks);
	EXPECT_SOUND(&watch, &status);
	EXPECT_WATCH_TICKS(&status);
	watch_end(&watch);
}

TEST(without_kernel_text_there_are_no_kernel_addresses)
{
	struct profil_watch_status status = { 0 };
	struct watch watch = { .fd = -1 };

	TRY_UNTIL(SHOWS < status.kernel) {
		struct child target = target_begin(&alice, work_in_both, NULL);

		watch_end(&watch);
		ASSERT_EQ(0, watch_process(&watch, target.pid, 0));
		EXPECT_EQ(0, child_end(&target));
		status = watch_settled(&watch, 0);
	}
	EXPECT_LT(SHOWS, status.kernel);
	EXPECT_FALSE(has_kernel_address(&watch));
	watch_end(&watch);
}

/* --- programs with more rights than their user */

FIXTURE(program) {
	struct watch watch;
};

FIXTURE_VARIANT(program) {
	mode_t mode;
	bool has_caps;
	bool is_special;
};

FIXTURE_VARIANT_ADD(program, set_user_id) {
	.mode = 04755, .is_special = true,
};

FIXTURE_VARIANT_ADD(program, set_group_id) {
	.mode = 02755, .is_special = true,
};

FIXTURE_VARIANT_ADD(program, with_file_capabilities) {
	.mode = 0755, .has_caps = true, .is_special = true,
};

FIXTURE_VARIANT_ADD(program, unreadable) {
	.mode = 0711, .is_special = true,
};

FIXTURE_VARIANT_ADD(program, ordinary) {
	.mode = 0755, .is_special = false,
};

static int give_caps(const char *path)
{
	struct vfs_cap_data data = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data = { { .permitted = CAP(CAP_NET_RAW) } },
	};

	return setxattr(path, "security.capability", &data,
			XATTR_CAPS_SZ_2, 0);
}

static int place_begin(void)
{
	mkdir(PLACE, 0755);
	return mount("profil", PLACE, "tmpfs", 0, "mode=755");
}

static int place_end(void)
{
	int failed = umount2(PLACE, MNT_DETACH);

	rmdir(PLACE);
	return failed;
}

FIXTURE_SETUP(program)
{
	self->watch.fd = -1;
	ASSERT_EQ(0, place_begin());
	ASSERT_EQ(0, copy_file(program, PLACE "/program", variant->mode));
	if (variant->has_caps)
		ASSERT_EQ(0, give_caps(PLACE "/program"));
}

FIXTURE_TEARDOWN(program)
{
	watch_end(&self->watch);
	EXPECT_EQ(0, place_end());
}

/* Run the program in a child, and again this user's own text. */
static int run_program(void *unused)
{
	char *const argv[] = { "program", "burn", NULL };
	pid_t child;

	if (posix_spawn(&child, PLACE "/program", NULL, NULL, argv, environ) ||
	    wait_child(child))
		return 1;
	return burn_a_little(unused);
}

static int execute_program(void *unused)
{
	(void)unused;
	execl(PLACE "/program", "program", "burn", NULL);
	return 1;
}

/* What the watch of the whole tree has seen. */
struct seen {
	struct profil_watch_status status;
	uint64_t of_program;
	bool has_path;
};

struct plan {
	struct child target;
	struct profil_watch request;
	struct seen *seen;
};

static int watch_tree(void *argument)
{
	struct plan *plan = argument;
	struct watch watch;
	uint32_t image;

	if (watch_begin(&watch, &plan->request))
		return errno;
	child_go(&plan->target);
	plan->seen->status = watch_settled(&watch, 0);
	image = watch_find_image(&watch, "program");
	if (image)
		plan->seen->of_program =
			image_ticks(watch_image(&watch, image));
	plan->seen->has_path = watch_find_object(&watch, PLACE "/program");
	watch_end(&watch);
	return 0;
}

static void watch_as(struct __test_metadata *_metadata,
		     const struct rights *rights, int (*work)(void *),
		     uint32_t flags, struct seen *seen)
{
	struct plan plan = {
		.target = target_begin(&alice, work, NULL),
		.seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0),
	};
	pid_t watcher;

	plan.request = watch_request(PROFIL_WATCH_PROCESS, plan.target.pid,
				     flags);
	watcher = fork_child();
	ASSERT_LE(0, watcher);
	if (!watcher)
		_exit(take_rights(rights) ? 199 : watch_tree(&plan));
	EXPECT_EQ(0, wait_for_both(&plan.target, watcher));
	*seen = *plan.seen;
	TH_LOG("%llu ticks, %llu of the program, %.1f ms covered, %llu withheld",
	       seen->status.ticks, (unsigned long long)seen->of_program,
	       seen->status.cpu_time_ns / 1e6, seen->status.withheld);
	munmap(plan.seen, 4096);
}

TEST_F(program, leaves_the_watch_of_a_user)
{
	struct seen seen;

	watch_as(_metadata, &alice, execute_program, 0, &seen);
	EXPECT_WATCH_CONSERVED(&seen.status);
	EXPECT_EQ(variant->is_special, seen.status.withheld);
	if (variant->is_special) {
		EXPECT_EQ(2, seen.status.images);
		EXPECT_EQ(0, seen.of_program);
		EXPECT_FALSE(seen.has_path);
	} else {
		EXPECT_LT(SHOWS, seen.of_program);
	}
}

#ifdef __x86_64__
/* Nothing of its stack is seen either. */
TEST_F(program, leaves_the_watch_with_its_chains)
{
	struct seen seen;
	uint64_t chains = 0;

	watch_as(_metadata, &alice, execute_program, PROFIL_WATCH_CHAINS, &seen);
	EXPECT_WATCH_CONSERVED(&seen.status);
	for (int i = 0; i < PROFIL_CHAIN_ENDS; i++)
		chains += seen.status.chains[i];
	EXPECT_EQ(seen.status.ticks - seen.status.unresolved, chains);
	EXPECT_EQ(variant->is_special, seen.status.withheld);
	EXPECT_EQ(variant->is_special, !seen.of_program);
	EXPECT_EQ(variant->is_special, !seen.has_path);
}
#endif

/* And its user's other programs stay in it. */
TEST_F(program, leaves_the_watch_of_a_tree)
{
	struct seen seen;

	watch_as(_metadata, &alice, run_program, PROFIL_WATCH_CHILDREN, &seen);
	EXPECT_EQ(variant->is_special, seen.status.withheld);
	EXPECT_LT(SHOWS, seen.status.ticks - seen.of_program);
	EXPECT_EQ(variant->is_special, !seen.of_program);
}

TEST_F(program, stays_for_those_who_may)
{
	struct seen seen;

	watch_as(_metadata, &perfmon, execute_program, 0, &seen);
	EXPECT_EQ(0, seen.status.withheld);
	EXPECT_LT(SHOWS, seen.of_program);
	EXPECT_TRUE(seen.has_path);
}

static int wait_in_program(void *unused)
{
	(void)unused;
	execl(PLACE "/program", "program", "wait", NULL);
	return 1;
}

TEST_F(program, cannot_be_watched_while_it_runs)
{
	struct child target = { .go = -1 };
	int ends[2];
	char byte;

	ASSERT_EQ(0, pipe(ends));
	/* With its standard output into the pipe */
	target.pid = fork_child();
	if (!target.pid) {
		dup2(ends[1], STDOUT_FILENO);
		if (take_rights(&alice))
			_exit(1);
		_exit(wait_in_program(NULL));
	}
	ASSERT_EQ(1, read(ends[0], &byte, 1));
	EXPECT_EQ(variant->is_special ? EPERM : 0,
		  try_process(&alice, target.pid));
	EXPECT_EQ(0, try_process(&perfmon, target.pid));
	EXPECT_EQ(-SIGKILL, child_kill(&target));
}

/* In user mode, of the program or of what it was before. */
static uint64_t user_ticks(const struct profil_watch_image *image)
{
	return image->counted + image->coarse + image->unresolved;
}

/*
 * Try to watch a process while it executes the program, with fewer rights than
 * that has: a process has the name of a program, which everybody can read, before
 * it has its rights, so that ticks of execve() itself may have that name. Return:
 * 0 if the watch saw no more of it, or was refused.
 */
static int race_with_exec(void *argument)
{
	struct plan *plan = argument;
	struct watch watch;
	uint32_t image;
	bool saw;

	child_go(&plan->target);
	if (watch_begin(&watch, &plan->request))
		return errno == EPERM || errno == ESRCH ? 0 : errno;
	watch_settled(&watch, 0);
	image = watch_find_image(&watch, "program");
	saw = (image && user_ticks(watch_image(&watch, image))) ||
	      watch_find_object(&watch, PLACE "/program");
	watch_end(&watch);
	return saw;
}

/* Have a process wait in execve() between its new name and its new rights. */
static bool delay_rights(pid_t pid)
{
	char parameters[100];

	snprintf(parameters, sizeof(parameters),
		 "symbol=commit_creds pid=%d ms=20", pid);
	return !load_helper("delay", parameters);
}

TEST_F(program, cannot_be_watched_from_before_it_runs)
{
	bool delayed;

	if (!variant->is_special)
		SKIP(return, "everybody may watch it");
	for (int i = 0; i < 10; i++) {
		struct plan plan = {
			.target = target_begin(&alice, execute_program, NULL),
		};
		pid_t watcher;

		plan.request = watch_request(PROFIL_WATCH_PROCESS,
					     plan.target.pid, 0);
		delayed = i % 2 && delay_rights(plan.target.pid);
		watcher = fork_child();
		if (!watcher)
			_exit(take_rights(&alice) ? 199 :
			      race_with_exec(&plan));
		EXPECT_EQ(0, wait_for_both(&plan.target, watcher));
		if (delayed)
			EXPECT_EQ(0, unload_helper("delay"));
	}
}

/* --- a process that changes hands */

static int give_away(void *output)
{
	dup2(*(int *)output, STDOUT_FILENO);
	execl(PLACE "/program", "program", "give", NULL);
	return 1;
}

/* Watch a process with some rights until the caller kills this. */
static pid_t keep_watching(const struct rights *rights, pid_t pid)
{
	struct watch watch;
	int ready[2];
	char byte;
	pid_t child;

	if (pipe(ready))
		return -1;
	child = fork_child();
	if (!child) {
		if (!take_rights(rights) && !watch_process(&watch, pid, 0) &&
		    write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		child = -1;
	close(ready[0]);
	return child;
}

TEST(of_a_process_that_has_left_the_watch_of_another_user)
{
	struct child target;
	pid_t watcher;
	int ends[2];
	char byte;

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(0, place_begin());
	EXPECT_EQ(0, copy_file(program, PLACE "/program", 04755));
	EXPECT_EQ(0, copy_file(program, PLACE "/plain", 0755));
	target = target_begin(&alice, give_away, &ends[1]);
	watcher = keep_watching(&alice, target.pid);
	EXPECT_LT(0, watcher);
	child_go(&target);
	EXPECT_EQ(1, read(ends[0], &byte, 1));
	EXPECT_EQ(EPERM, try_process(&alice, target.pid));
	EXPECT_EQ(0, try_process(&bob, target.pid));
	EXPECT_EQ(-SIGKILL, child_kill(&target));
	kill(watcher, SIGKILL);
	EXPECT_EQ(-SIGKILL, wait_child(watcher));
	EXPECT_EQ(0, place_end());
}

static void *wait_in_thread(void *unused)
{
	pause();
	return unused;
}

static int leave_a_thread(void *unused)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_in_thread, NULL) ||
	    pthread_setname_np(thread, "other"))
		return 1;
	pthread_exit(unused);
}

TEST(of_a_process_whose_leader_has_ended)
{
	struct child target = target_begin(&alice, leave_a_thread, NULL);

	child_go(&target);
	for (int i = 0; i < 10000 && process_state(target.pid) != 'Z'; i++)
		usleep(1000);
	EXPECT_EQ('Z', process_state(target.pid));
	EXPECT_EQ(0, try_process(&alice, target.pid));
	EXPECT_EQ(EPERM, try_process(&bob, target.pid));
	child_kill(&target);
}

/* --- cgroups */

/* Its first thread stays where it was; but the process goes on to have its name. */
TEST(a_cgroup_that_one_enters_who_has_no_leader)
{
	struct child target = target_begin(&alice, leave_a_thread, NULL);
	struct watch watch = { .fd = -1 };
	struct profil_watch request;
	int fd;

	child_go(&target);
	for (int i = 0; i < 10000 && process_state(target.pid) != 'Z'; i++)
		usleep(1000);
	ASSERT_EQ('Z', process_state(target.pid));
	mkdir(CGROUP, 0755);
	fd = open(CGROUP, O_RDONLY | O_DIRECTORY);
	ASSERT_EQ(0, enter_cgroup(target.pid, CGROUP));
	request = watch_request(PROFIL_WATCH_CGROUP, fd, 0);
	ASSERT_EQ(0, watch_begin(&watch, &request));
	EXPECT_EQ(1, watch_status(&watch).processes);
	EXPECT_EQ(0, watch_find_image(&watch, "other"));
	EXPECT_NE(0, watch_find_image(&watch, "watch_access"));
	watch_end(&watch);
	close(fd);
	child_kill(&target);
	EXPECT_EQ(0, remove_cgroup(CGROUP));
}

static int get_limits_forever(void *unused __attribute__((unused)))
{
	struct rlimit limit;

	for (;;)
		getrlimit(RLIMIT_NOFILE, &limit);
	return 0;
}

/* Its task may be locked at any time, which root does not need. */
TEST(a_cgroup_that_one_enters_who_is_locked)
{
	struct child child = child_begin(get_limits_forever, NULL);
	struct watch watch = { .fd = -1 };
	struct profil_watch request;
	int fd;

	mkdir(CGROUP, 0755);
	fd = open(CGROUP, O_RDONLY | O_DIRECTORY);
	request = watch_request(PROFIL_WATCH_CGROUP, fd, 0);
	ASSERT_EQ(0, watch_begin(&watch, &request));
	child_go(&child);
	for (int i = 0; i < 1000; i++) {
		ASSERT_EQ(0, enter_cgroup(child.pid, CGROUP));
		ASSERT_EQ(0, enter_cgroup(child.pid, "/sys/fs/cgroup"));
	}
	EXPECT_EQ(0, watch_status(&watch).unfollowed);
	EXPECT_EQ(1, watch_status(&watch).processes);
	child_kill(&child);
	watch_end(&watch);
	close(fd);
	EXPECT_EQ(0, remove_cgroup(CGROUP));
}

struct in_cgroup {
	int fd;
	struct child child;
};

static int watch_cgroup(void *argument)
{
	struct in_cgroup *in = argument;
	struct profil_watch request = watch_request(PROFIL_WATCH_CGROUP, in->fd,
						    0);
	struct profil_watch_status status;
	struct watch watch;

	if (watch_begin(&watch, &request))
		return errno;
	status = watch_status(&watch);
	if (status.processes != 1 || status.withheld != 1)
		return 200;
	child_go(&in->child);
	status = watch_settled(&watch, 0);
	return status.ticks < SHOWS ? 201 : 0;
}

/* Of the processes in it, users have their own. */
TEST(a_cgroup_of_several_users)
{
	struct child other = target_begin(&bob, wait_for_signal, NULL);
	struct in_cgroup in;
	pid_t watcher;

	mkdir(CGROUP, 0755);
	in.fd = open(CGROUP, O_RDONLY | O_DIRECTORY);
	in.child = target_begin(&alice, burn_a_little, NULL);
	ASSERT_EQ(0, enter_cgroup(other.pid, CGROUP));
	ASSERT_EQ(0, enter_cgroup(in.child.pid, CGROUP));
	watcher = fork_child();
	if (!watcher)
		_exit(take_rights(&alice) ? 199 : watch_cgroup(&in));
	EXPECT_EQ(0, wait_for_both(&in.child, watcher));
	EXPECT_EQ(-SIGKILL, child_kill(&other));
	EXPECT_EQ(0, remove_cgroup(CGROUP));
}

/* --- namespaces */

static int map_self(uid_t user)
{
	char map[50];

	snprintf(map, sizeof(map), "0 %u 1\n", user);
	prctl(PR_SET_DUMPABLE, 1);
	if (unshare(CLONE_NEWUSER))
		return 77;
	return write_file("/proc/self/setgroups", "deny") ||
	       write_file("/proc/self/uid_map", map) ||
	       write_file("/proc/self/gid_map", map);
}

/* Root of a user namespace has all capabilities there, and none here. */
static int watch_in_namespace(void *outside)
{
	struct profil_watch all = watch_request(PROFIL_WATCH_MACHINE, 0, 0);
	struct profil_watch text = watch_request(PROFIL_WATCH_PROCESS, 0,
						 PROFIL_WATCH_KERNEL_TEXT);
	int error = map_self(ALICE);
	struct watch watch;
	struct child child;

	if (error)
		return error;
	child = child_begin(burn_a_little, NULL);
	if (watch_process(&watch, child.pid, 0))
		return 200;
	if (watch_image(&watch, 1)->uid)
		return 201;
	watch_end(&watch);
	text.id = child.pid;
	if (watch_try(&text) != EPERM)
		return 202;
	if (watch_try(&all) != EPERM)
		return 203;
	if (watch_process(&watch, *(pid_t *)outside, 0) != -1 || errno != EPERM)
		return 204;
	return child_end(&child);
}

TEST(in_a_user_namespace)
{
	struct child outside = target_begin(&alice, burn_a_little, NULL);
	int result = as(&alice, watch_in_namespace, &outside.pid);

	child_kill(&outside);
	if (result == 77)
		SKIP(return, "no user namespaces");
	EXPECT_EQ(0, result);
}

static int enter_namespace(void *ready)
{
	int error = map_self(ALICE);

	if (error || write((intptr_t)ready, "", 1) != 1)
		return error ?: 1;
	return wait_for_signal(NULL);
}

/* The owner of a user namespace has all capabilities in it, others have not. */
TEST(of_a_user_namespace)
{
	struct child inside;
	int ready[2];
	char byte;

	ASSERT_EQ(0, pipe(ready));
	inside = target_begin(&alice, enter_namespace,
			      (void *)(intptr_t)ready[1]);
	close(ready[1]);
	child_go(&inside);
	if (read(ready[0], &byte, 1) != 1)
		SKIP(return, "no user namespaces");
	EXPECT_EQ(0, try_process(&alice, inside.pid));
	EXPECT_EQ(EPERM, try_process(&bob, inside.pid));
	EXPECT_EQ(0, try_process(&perfmon, inside.pid));
	EXPECT_EQ(-SIGKILL, child_kill(&inside));
}

/* Runs as process 1 of a PID namespace, as in a container. */
static int watch_in_container(pid_t outside)
{
	struct profil_watch all = watch_request(PROFIL_WATCH_MACHINE, 0,
						PROFIL_WATCH_SEPARATE);
	struct child child = child_begin(burn_a_little, NULL);
	struct watch watch;
	uint32_t named = 0;

	if (child.pid != 2)
		return 200;
	if (watch_process(&watch, outside, 0) != -1 || errno != ESRCH)
		return 201;
	if (watch_process(&watch, 2, 0))
		return 202;
	if (watch_image(&watch, 1)->pid != 2)
		return 203;
	watch_end(&watch);
	/* Of all processes of the machine, two have a PID here */
	if (watch_begin(&watch, &all))
		return 204;
	for (uint32_t i = 1; i < watch_nr_images(&watch); i++) {
		pid_t pid = watch_image(&watch, i)->pid;

		named += pid != 0;
		if (pid > 2)
			return 205;
	}
	watch_end(&watch);
	return named == 2 ? child_end(&child) : 206;
}

static int enter_container(void *outside)
{
	pid_t first;

	if (unshare(CLONE_NEWPID | CLONE_NEWNS))
		return 77;
	first = fork_child();
	if (!first)
		_exit(watch_in_container(*(pid_t *)outside));
	return wait_child(first);
}

TEST(in_a_pid_namespace)
{
	struct child outside = target_begin(&root, burn_a_little, NULL);
	int result = as(&root, enter_container, &outside.pid);

	child_kill(&outside);
	if (result == 77)
		SKIP(return, "no PID namespaces");
	EXPECT_EQ(0, result);
}

/**
 * struct neighbours - two containers of the same user, with the same rights
 * @request: of the one that watches
 * @rights: of both
 * @remapped: they have user namespaces that root made
 * @ready: pipe to the test
 */
struct neighbours {
	struct profil_watch request;
	struct rights rights;
	bool remapped;
	int ready[2];
};

/*
 * Watch what this container may watch, while it works. Return: 0 if that is all
 * that the table has.
 */
static int watch_own_container(const struct neighbours *both)
{
	uint64_t end = monotonic_ns() + 60 * SECOND;
	struct profil_watch_status status;
	struct watch watch;

	if (watch_begin(&watch, &both->request))
		return errno;
	do {
		pid_t child = fork_child();

		if (!child)
			_exit(burn_a_little(NULL));
		if (wait_child(child))
			return 200;
		status = watch_status(&watch);
	} while (status.ticks < SHOWS && monotonic_ns() < end);
	for (uint32_t i = 1; i < watch_nr_images(&watch); i++) {
		if (!watch_image(&watch, i)->pid)
			return 201;
		if (!strcmp(watch_image(&watch, i)->comm, "secret"))
			return 202;
	}
	for (uint32_t i = PROFIL_OBJECT_FILES; i < watch_nr_objects(&watch); i++)
		if (strstr(watch_path_soon(&watch, i), "secret"))
			return 203;
	if (status.withheld)
		return 204;
	watch_end(&watch);
	return status.ticks < SHOWS ? 205 : 0;
}

/* Execute programs whose name is this container's own business. */
static int work_in_secret(const struct neighbours *unused)
{
	char *const argv[] = { "secret", "burn", NULL };
	pid_t child;

	(void)unused;
	while (!posix_spawn(&child, PLACE "/secret", NULL, NULL, argv, environ))
		wait_child(child);
	return 1;
}

/*
 * Start a container. @moved: move its first process, which is in CGROUP, out and
 * in again.
 */
static pid_t start_container(const struct neighbours *both, bool moved,
			     int (*work)(const struct neighbours *both))
{
	pid_t outside = fork_child();
	pid_t first;

	if (outside)
		return outside;
	if ((both->remapped && map_self(0)) ||
	    unshare(CLONE_NEWPID | CLONE_NEWNS))
		_exit(77);
	first = fork_child();
	if (!first) {
		if (enter_cgroup(0, CGROUP) ||
		    (!both->remapped && take_rights(&both->rights)))
			_exit(199);
		_exit(work(both));
	}
	while (moved) {
		usleep(5000);
		enter_cgroup(first, "/sys/fs/cgroup");
		usleep(5000);
		enter_cgroup(first, CGROUP);
	}
	_exit(wait_child(first));
}

FIXTURE(container) {
	struct neighbours both;
	int cgroup;
};

FIXTURE_VARIANT(container) {
	uint32_t target;
	struct rights rights;
	bool remapped;
	int beside_another;
};

/* Those of Docker. */
#define CONTAINER_CAPS	0xa80425fbULL

FIXTURE_VARIANT_ADD(container, of_a_user) {
	.target = PROFIL_WATCH_USER, .rights = { .user = ALICE },
	.beside_another = EAGAIN,
};

FIXTURE_VARIANT_ADD(container, of_root) {
	.target = PROFIL_WATCH_USER, .rights = { .caps = CONTAINER_CAPS },
};

FIXTURE_VARIANT_ADD(container, of_remapped_root) {
	.target = PROFIL_WATCH_USER, .remapped = true,
};

FIXTURE_VARIANT_ADD(container, of_a_user_in_a_cgroup) {
	.target = PROFIL_WATCH_CGROUP, .rights = { .user = ALICE },
	.beside_another = EAGAIN,
};

FIXTURE_SETUP(container)
{
	uint32_t id = variant->rights.user;

	mkdir(CGROUP, 0755);
	self->cgroup = open(CGROUP, O_RDONLY | O_DIRECTORY);
	if (variant->target == PROFIL_WATCH_CGROUP)
		id = self->cgroup;
	self->both.request = watch_request(variant->target, id,
					   PROFIL_WATCH_SEPARATE);
	self->both.rights = variant->rights;
	self->both.remapped = variant->remapped;
	ASSERT_EQ(0, pipe(self->both.ready));
	ASSERT_EQ(0, place_begin());
	ASSERT_EQ(0, copy_file(program, PLACE "/secret", 0755));
}

FIXTURE_TEARDOWN(container)
{
	close(self->cgroup);
	close(self->both.ready[0]);
	close(self->both.ready[1]);
	EXPECT_EQ(0, remove_cgroup(CGROUP));
	EXPECT_EQ(0, place_end());
}

TEST_F(container, sees_nothing_of_another)
{
	pid_t other = start_container(&self->both, true, work_in_secret);
	pid_t own = start_container(&self->both, false, watch_own_container);
	int result = wait_child(own);

	kill(other, SIGKILL);
	wait_child(other);
	if (result == 77)
		SKIP(return, "no PID namespaces");
	EXPECT_EQ(0, result);
}

/* More than half of the default max_watch_kb. */
#define MUCH_MEMORY	(36 << 20)

static int watch_much(const struct neighbours *both)
{
	struct profil_watch request = both->request;
	struct watch watch;

	request.names = MUCH_MEMORY;
	if (watch_begin(&watch, &request))
		return errno;
	return write(both->ready[1], "", 1) == 1 ? wait_for_signal(NULL) : 200;
}

static int try_much(const struct neighbours *both)
{
	struct profil_watch request = both->request;

	request.names = MUCH_MEMORY;
	return watch_try(&request);
}

/*
 * Root of a container has limits of its own, on the memory of watches and on those
 * of many processes; a user has the same in all, as set-user-ID programs make PID
 * namespaces for users.
 */
TEST_F(container, has_limits_beside_another)
{
	pid_t other = start_container(&self->both, false, watch_much);
	int result = 77;
	char byte;

	close(self->both.ready[1]);
	self->both.ready[1] = -1;
	if (read(self->both.ready[0], &byte, 1) == 1)
		result = wait_child(start_container(&self->both, false,
						    try_much));
	kill(other, SIGKILL);
	wait_child(other);
	if (result == 77)
		SKIP(return, "no namespaces");
	EXPECT_EQ(variant->beside_another, result);
}

/* Nor does a watch with CAP_PERFMON, which has no limit. */
TEST(a_privileged_watch_denies_nobody)
{
	static const struct rights weak = { .caps = CONTAINER_CAPS };
	struct profil_watch all = watch_request(PROFIL_WATCH_MACHINE, 0, 0);
	struct profil_watch own = watch_request(PROFIL_WATCH_USER, 0, 0);
	struct watch watch;

	all.names = 1 << 26;
	ASSERT_EQ(0, watch_begin(&watch, &all));
	EXPECT_EQ(0, try_with(&weak, &own));
	watch_end(&watch);
}

/* --- descriptors in the hands of others, and watchers that change */

struct lent {
	int fd;
	struct profil_watch as;
};

/* What @lent is of, has begun already. */
static int use_watch(void *argument)
{
	struct profil_watch_status status = { .size = sizeof(status) };
	struct lent *lent = argument;
	struct profil_watch_table *table;

	if (ioctl(lent->fd, PROFIL_IOC_WATCH_STATUS, &status) ||
	    status.state != PROFIL_STATE_ON)
		return 1;
	table = mmap(NULL, lent->as.map_size, PROT_READ, MAP_SHARED, lent->fd,
		     0);
	if (table == MAP_FAILED || table->version != PROFIL_WATCH_VERSION)
		return 2;
	return 0;
}

/* Who opened the device does not matter, but who makes the request. */
static int begin_watch(void *argument)
{
	struct lent *lent = argument;

	return ioctl(lent->fd, PROFIL_IOC_WATCH, &lent->as) ? errno : 0;
}

TEST(a_descriptor_of_somebody_else)
{
	struct child target = target_begin(&root, burn_a_little, NULL);
	struct lent lent = {
		.fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC),
		.as = watch_request(PROFIL_WATCH_PROCESS, target.pid, 0),
	};

	EXPECT_EQ(EPERM, as(&alice, begin_watch, &lent));
	ASSERT_EQ(0, ioctl(lent.fd, PROFIL_IOC_WATCH, &lent.as));
	EXPECT_EQ(0, as(&alice, use_watch, &lent));
	/* Another user's death does not end it */
	EXPECT_EQ(0, use_watch(&lent));
	close(lent.fd);
	EXPECT_EQ(0, child_end(&target));
}

/* A watch that is charged to the same user is larger than the limit of today. */
TEST(a_privileged_watch_after_the_limit_was_lowered)
{
	static const struct rights weak = { .caps = CONTAINER_CAPS };
	struct profil_watch all = watch_request(PROFIL_WATCH_MACHINE, 0, 0);
	struct lent lent = {
		.fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC),
		.as = watch_request(PROFIL_WATCH_USER, 0, 0),
	};
	char allowed[20];

	ASSERT_EQ(0, as(&weak, begin_watch, &lent));
	ASSERT_EQ(0, get_parameter("max_watch_kb", allowed, sizeof(allowed)));
	ASSERT_EQ(0, put_parameter("max_watch_kb", "16"));
	EXPECT_EQ(0, watch_try(&all));
	EXPECT_EQ(0, put_parameter("max_watch_kb", allowed));
	close(lent.fd);
}

#ifdef __x86_64__
/* Return: 0, or the number of the step that failed. */
static int collect_watch(void *argument)
{
	struct profil_watch_status status = { .size = sizeof(status) };
	struct lent *lent = argument;

	for (int i = 0; i < 1000 && status.blocked < 100; i++) {
		usleep(10000);
		if (ioctl(lent->fd, PROFIL_IOC_WATCH_COLLECT, &status))
			return 1;
	}
	if (status.blocked < 100)
		return 3;
	if (status.chains[PROFIL_CHAIN_NO_TABLE] < status.blocked / 2)
		return 2;
	return 0;
}

/* What the watch may see is what its creator may, no matter who collects. */
TEST(a_descriptor_of_somebody_else_collects_waits)
{
	struct child target = target_begin(&root, burn_a_little, NULL);
	struct lent lent = {
		.fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC),
		.as = watch_request(PROFIL_WATCH_PROCESS, target.pid,
				    PROFIL_WATCH_WALL | PROFIL_WATCH_CHAINS),
	};

	if (is_linux_before(6, 1))
		SKIP(return, "needs Linux 6.1");
	ASSERT_EQ(0, ioctl(lent.fd, PROFIL_IOC_WATCH, &lent.as));
	EXPECT_EQ(0, as(&alice, collect_watch, &lent));
	EXPECT_EQ(0, use_watch(&lent));
	close(lent.fd);
	EXPECT_EQ(0, child_end(&target));
}
#endif

/* A child of the watcher executes this program, with the descriptor. */
TEST(a_watcher_that_executes_a_program)
{
	struct child target = target_begin(&alice, burn_a_little, NULL);
	char number[20];
	pid_t watcher = fork_child();
	struct watch watch;

	ASSERT_LE(0, watcher);
	if (!watcher) {
		if (watch_process(&watch, target.pid, 0))
			_exit(1);
		fcntl(watch.fd, F_SETFD, 0);
		snprintf(number, sizeof(number), "%d", watch.fd);
		execl(program, program, "status", number, NULL);
		_exit(2);
	}
	EXPECT_EQ(0, wait_child(watcher));
	EXPECT_EQ(0, try_process(&root, target.pid));
	EXPECT_EQ(0, child_end(&target));
}

/* The exec closes the descriptor and the mapping. */
TEST(a_watcher_that_keeps_nothing_across_exec)
{
	struct child target = target_begin(&alice, burn_a_little, NULL);
	struct profil_watch again = watch_request(PROFIL_WATCH_PROCESS,
						  target.pid, 0);
	struct watch watch;
	int tries = 60000;
	pid_t watcher;
	int begun[2];
	char byte;

	ASSERT_EQ(0, pipe(begun));
	watcher = fork_child();
	ASSERT_LE(0, watcher);
	if (!watcher) {
		if (watch_process(&watch, target.pid, 0) ||
		    write(begun[1], "", 1) != 1)
			_exit(1);
		execlp("sleep", "sleep", "1000", NULL);
		_exit(2);
	}
	close(begun[1]);
	EXPECT_EQ(1, read(begun[0], &byte, 1));
	close(begun[0]);
	while (watch_try(&again) && --tries)
		usleep(1000);
	EXPECT_LT(0, tries);
	kill(watcher, SIGKILL);
	EXPECT_EQ(-SIGKILL, wait_child(watcher));
	EXPECT_EQ(0, child_end(&target));
}

/* The child goes on with the descriptor of its parent, which has ended. */
TEST(a_watcher_that_forks)
{
	struct child target = target_begin(&alice, burn_a_little, NULL);
	struct profil_watch_status status;
	struct watch watch;
	int result[2];
	char byte = 9;
	pid_t watcher;

	ASSERT_EQ(0, pipe(result));
	watcher = fork_child();
	ASSERT_LE(0, watcher);
	if (!watcher) {
		if (watch_process(&watch, target.pid, 0))
			_exit(1);
		if (fork())
			_exit(0);
		/* The parent is dead and reaped by now */
		usleep(200000);
		child_go(&target);
		status = watch_settled(&watch, 0);
		byte = status.ticks < SHOWS;
		if (write(result[1], &byte, 1) != 1)
			_exit(1);
		_exit(0);
	}
	EXPECT_EQ(0, wait_child(watcher));
	EXPECT_EQ(0, wait_child(target.pid));
	EXPECT_EQ(1, read(result[0], &byte, 1));
	EXPECT_EQ(0, byte);
}

static int spawn_and_burn(void *unused)
{
	pid_t child = fork();

	if (!child)
		_exit(burn_a_little(unused));
	return wait_child(child);
}

/* What it was allowed to do when the watch began, it may for all time. */
TEST(a_watcher_that_gives_up_its_rights)
{
	struct child target = target_begin(&bob, spawn_and_burn, NULL);
	pid_t watcher = fork_child();
	struct profil_watch_status status;
	struct watch watch;

	ASSERT_LE(0, watcher);
	if (!watcher) {
		if (watch_process(&watch, target.pid, PROFIL_WATCH_CHILDREN) ||
		    take_rights(&alice))
			_exit(1);
		child_go(&target);
		status = watch_settled(&watch, 0);
		_exit(status.ticks < SHOWS || status.withheld);
	}
	EXPECT_EQ(0, wait_for_both(&target, watcher));
}

TEST(a_process_that_watches_itself)
{
	struct profil_watch_status status;
	struct watch watch;

	ASSERT_EQ(0, watch_process(&watch, getpid(), 0));
	burn_process_ns(WORK_NS);
	status = watch_status(&watch);
	EXPECT_LT(SHOWS, status.ticks);
	watch_stop(&watch);
	status = watch_settled(&watch, 0);
	EXPECT_SOUND(&watch, &status);
	EXPECT_WATCH_TICKS(&status);
	watch_end(&watch);
}

TEST_HARNESS_MAIN
