// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_remedy.c - tools/profil names the remedy if it cannot use the device
 *
 * Each test changes what the tool sees, in a mount namespace of its own, in which
 * the tool may go on with perf events; or what the module allows.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/bpf.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "tool.h"

#define GROUP	"daemon"
#define NO_GROUP	424242
#define CGROUPS	"/sys/fs/cgroup"
#define CGROUP	CGROUPS "/profil-remedy"

static void __attribute__((constructor)) need_root(void)
{
	if (geteuid())
		ksft_exit_skip("needs root\n");
}

static int hide(const char *path)
{
	return mount("hidden", path, "tmpfs", 0, "mode=755");
}

/* No device, no module and no sources of DKMS. */
FIXTURE(remedy) {
	struct tool run;
	struct stat device;
	char release[64];
	bool has_device;
};

FIXTURE_SETUP(remedy)
{
	struct utsname name;
	char path[128];

	uname(&name);
	snprintf(self->release, sizeof(self->release), "kernel %.50s",
		 name.release);
	self->has_device = !stat(PROFIL_DEVICE, &self->device);
	ASSERT_EQ(0, tool_make(&self->run));
	ASSERT_EQ(0, chown(self->run.directory, NOBODY, NOBODY));
	ASSERT_EQ(0, unshare(CLONE_NEWNS));
	ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	ASSERT_EQ(0, hide("/dev") || hide("/lib/modules") || hide("/usr/src"));
	snprintf(path, sizeof(path), "/lib/modules/%s", name.release);
	ASSERT_EQ(0, mkdir(path, 0755) || chdir(path));
}

FIXTURE_TEARDOWN(remedy)
{
	tool_free(&self->run);
}

static int create(const char *path, const char *content)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return -1;
	fputs(content, file);
	return fclose(file);
}

#define BEGIN(error)	"profil: " PROFIL_DEVICE ": " error "; "

/* The tool's first words are about the device: @error, and what to do. */
#define EXPECT_REMEDY(error, remedy) do { \
	RUN("/bin/true", NULL); \
	EXPECT_EQ(0, strncmp(self->run.complained, BEGIN(error), \
			     strlen(BEGIN(error)))); \
	EXPECT_TRUE(strstr(self->run.complained, remedy)); \
} while (0)

#define MISSING	"No such file or directory"

TEST_F(remedy, of_a_module_that_is_not_loaded)
{
	ASSERT_EQ(0, create("modules.dep", "kernel/fs/9p.ko: kernel/a.ko\n"
			    "updates/dkms/profil.ko.xz:\n"));
	EXPECT_REMEDY(MISSING, "run 'modprobe profil' as root;");
	EXPECT_TRUE(strstr(self->run.complained, "if the kernel rejects the module's signature, see SECURE BOOT in profil(4)"));
}

TEST_F(remedy, of_a_module_that_is_not_installed)
{
	ASSERT_EQ(0, create("modules.dep", "kernel/a.ko: x/profil.ko\n"
			    "extra/xprofil.ko:\n"));
	EXPECT_REMEDY(MISSING, "the module is not installed for kernel");
	EXPECT_TRUE(strstr(self->run.complained, self->release));
	EXPECT_TRUE(strstr(self->run.complained, "install profil-dkms"));
	EXPECT_TRUE(strstr(self->run.complained, "'make install'"));
}

TEST_F(remedy, of_a_module_that_dkms_has_not_built)
{
	ASSERT_EQ(0, create("modules.dep", ""));
	ASSERT_EQ(0, mkdir("/usr/src/profil-9.9", 0755) ||
		     create("/usr/src/profil-9.9/dkms.conf", ""));
	EXPECT_REMEDY(MISSING, "DKMS has not built the module for kernel");
	EXPECT_TRUE(strstr(self->run.complained, "install linux-headers-"));
	EXPECT_TRUE(strstr(self->run.complained, "'dkms autoinstall'"));
}

/* The image has no modules of the host's kernel. */
TEST_F(remedy, in_a_container)
{
	EXPECT_REMEDY(MISSING, "run 'modprobe profil' as root; in a container, do so on the host, and start the container with '--device /dev/profil'; see CONTAINERS in profil(4)");
}

/* What Docker makes of --volume if the host has no device. */
TEST_F(remedy, of_a_directory_in_its_place)
{
	ASSERT_EQ(0, mkdir(PROFIL_DEVICE, 0755));
	EXPECT_REMEDY("Inappropriate ioctl for device",
		      "load the module before the container starts");
}

/* A device for root and a group, and a user who is not in the group. */
static int reserve_device(dev_t number, gid_t group)
{
	return mknod(PROFIL_DEVICE, S_IFCHR | 0660, number) ||
	       chown(PROFIL_DEVICE, 0, group) || chmod(PROFIL_DEVICE, 0660) ||
	       setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	       setresuid(NOBODY, NOBODY, NOBODY);
}

TEST_F(remedy, of_a_device_for_a_group)
{
	const struct group *group = getgrnam(GROUP);

	if (!self->has_device || !group)
		SKIP(return, "no device, or no group " GROUP);
	ASSERT_EQ(0, reserve_device(self->device.st_rdev, group->gr_gid));
	EXPECT_REMEDY("Permission denied",
		      "it is for group " GROUP ": join the group (in a container, by --group-add), or change the mode by the udev rule 70-profil.rules");
}

/* As in a container, whose image does not have the groups of its host. */
TEST_F(remedy, of_a_device_for_a_group_without_a_name)
{
	if (!self->has_device)
		SKIP(return, "no device");
	ASSERT_EQ(0, reserve_device(self->device.st_rdev, NO_GROUP));
	EXPECT_REMEDY("Permission denied", "it is for group 424242:");
}

TEST_F(remedy, of_a_file_system_without_devices)
{
	if (!self->has_device)
		SKIP(return, "no device");
	ASSERT_EQ(0, mknod(PROFIL_DEVICE, S_IFCHR | 0666,
			   self->device.st_rdev) || chmod(PROFIL_DEVICE, 0666));
	ASSERT_EQ(0, mount(NULL, "/dev", NULL, MS_REMOUNT | MS_NODEV, NULL));
	EXPECT_REMEDY("Permission denied", "mounted with nodev");
}

/* Have the cgroup refuse every device, as Docker's do those not passed. */
static int refuse_devices(void)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
		.insns = (uintptr_t)insns,
		.insn_cnt = 2,
		.license = (uintptr_t)"GPL",
	};
	int program = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	int cgroup = open(CGROUP, O_RDONLY | O_CLOEXEC);

	attr = (union bpf_attr) {
		.target_fd = cgroup,
		.attach_bpf_fd = program,
		.attach_type = BPF_CGROUP_DEVICE,
	};
	if (syscall(SYS_bpf, BPF_PROG_ATTACH, &attr, sizeof(attr)))
		return -1;
	close(program);
	close(cgroup);
	return enter_cgroup(0, CGROUP);
}

TEST_F(remedy, of_a_cgroup_without_the_device)
{
	if (!self->has_device || (mkdir(CGROUP, 0755) && errno != EEXIST))
		SKIP(return, "no device, or no cgroups");
	ASSERT_EQ(0, mknod(PROFIL_DEVICE, S_IFCHR | 0666,
			   self->device.st_rdev) || chmod(PROFIL_DEVICE, 0666));
	if (refuse_devices())
		SKIP(return, "no BPF programs for cgroups");
	EXPECT_REMEDY("Operation not permitted",
		      "start the container with '--device /dev/profil', or the service with DeviceAllow=/dev/profil");
	EXPECT_EQ(0, enter_cgroup(0, CGROUPS));
	EXPECT_EQ(0, remove_cgroup(CGROUP));
}

/* --- the module forbids users some watches */

#define SCOPE	"/sys/module/profil/parameters/watch_scope"

FIXTURE(scope) {
	struct tool run;
	pid_t other;
};

FIXTURE_VARIANT(scope) {
	const char *value;
	const char *of_others;
	const char *of_program;
};

FIXTURE_VARIANT_ADD(scope, of_nobody) {
	.value = "0",
	.of_others = "the module parameter watch_scope forbids users",
	.of_program = "the module parameter watch_scope forbids users",
};

FIXTURE_VARIANT_ADD(scope, of_descendants) {
	.value = "1",
	.of_others = "the module parameter watch_scope=1 lets users",
};

FIXTURE_SETUP(scope)
{
	if (access(SCOPE, W_OK))
		SKIP(return, "no module");
	ASSERT_EQ(0, tool_make(&self->run));
	self->other = fork_child();
	if (!self->other) {
		if (tool_become_nobody(&self->run))
			_exit(1);
		for (;;)
			pause();
	}
	ASSERT_EQ(0, write_file(SCOPE, variant->value));
}

FIXTURE_TEARDOWN(scope)
{
	EXPECT_EQ(0, write_file(SCOPE, "2"));
	kill(self->other, SIGKILL);
	wait_child(self->other);
	tool_free(&self->run);
}

#define COMPLAINT(...) \
	(tool_run(&self->run, LIST(__VA_ARGS__), NULL, NO_OPTIONS), \
	 self->run.complained)

static int try_as_nobody(struct __test_metadata *_metadata,
			 FIXTURE_DATA(scope) *self,
			 const FIXTURE_VARIANT(scope) *variant)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", self->other);
	EXPECT_EQ(0, tool_become_nobody(&self->run));
	EXPECT_TRUE(strstr(COMPLAINT("-p", pid), variant->of_others));
	EXPECT_TRUE(strstr(COMPLAINT("--user=nobody"), variant->of_others));
	EXPECT_TRUE(strstr(COMPLAINT("--user=root"), "other users"));
	EXPECT_TRUE(strstr(COMPLAINT("-a"), "the whole machine"));
	RUN("/bin/true", NULL);
	EXPECT_TRUE(variant->of_program ?
		    !!strstr(self->run.complained, variant->of_program) :
		    !WEXITSTATUS(self->run.status));
	return !__test_passed(_metadata);
}

TEST_F(scope, is_named)
{
	pid_t child = fork_child();

	if (!child)
		_exit(try_as_nobody(_metadata, self, variant));
	EXPECT_EQ(0, wait_child(child));
}

TEST_HARNESS_MAIN
