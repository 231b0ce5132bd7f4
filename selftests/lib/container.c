// SPDX-License-Identifier: GPL-2.0-only
/*
 * container.c - run a part of a test in a container
 *
 * As Docker and Podman start one for an ordinary user: new namespaces of users,
 * mounts and processes, a /dev of its own with a few devices, no new
 * privileges, and Docker's default filter for system calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"
#include "container.h"

#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"

#ifdef __x86_64__
#define NATIVE	AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE	AUDIT_ARCH_AARCH64
#elif defined(__riscv)
#define NATIVE	AUDIT_ARCH_RISCV64
#endif

/*
 * What the default profile of Docker 20.10 refuses to processes without
 * capabilities, and io_uring, which that of Docker 25 refuses as well.
 */
static const int refused[] = {
	SYS_acct, SYS_add_key, SYS_bpf, SYS_chroot, SYS_clock_settime,
	SYS_delete_module, SYS_fanotify_init, SYS_finit_module, SYS_fsconfig,
	SYS_fsmount, SYS_fsopen, SYS_fspick, SYS_get_mempolicy,
	SYS_init_module, SYS_io_uring_enter, SYS_io_uring_register,
	SYS_io_uring_setup, SYS_kcmp, SYS_kexec_load, SYS_keyctl, SYS_mbind,
	SYS_migrate_pages, SYS_mount, SYS_move_mount, SYS_move_pages,
	SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_open_tree,
	SYS_perf_event_open, SYS_pidfd_getfd, SYS_pivot_root, SYS_pkey_alloc,
	SYS_pkey_free, SYS_pkey_mprotect, SYS_process_madvise,
	SYS_process_vm_readv, SYS_process_vm_writev, SYS_quotactl, SYS_reboot,
	SYS_request_key, SYS_set_mempolicy, SYS_setdomainname, SYS_sethostname,
	SYS_setns, SYS_settimeofday, SYS_swapoff, SYS_swapon, SYS_syslog,
	SYS_umount2, SYS_unshare, SYS_userfaultfd, SYS_vhangup,
#ifdef __x86_64__
	SYS_ioperm, SYS_iopl, SYS_sysfs, SYS_uselib, SYS_ustat,
#endif
};

#define NR_REFUSED	(sizeof(refused) / sizeof(refused[0]))

/* clone() may not create a namespace: the flags CLONE_NEW*. */
#define NAMESPACES	0x7e020000

#define LOAD(member) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define IF(value, then, otherwise) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then, otherwise)
#define FAIL(error) \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

/* Fails a call by jumping over the rest of the list and what allows others. */
static int filter_calls(void)
{
	const struct sock_filter before[] = {
		LOAD(arch),
		IF(NATIVE, 1, 0),
		FAIL(EPERM),
		LOAD(nr),
		IF(SYS_clone3, 0, 1),
		FAIL(ENOSYS),
		IF(SYS_clone, 0, 3),
		LOAD(args[0]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, NR_REFUSED + 2,
			 0),
		LOAD(nr),
	};
	const size_t first = sizeof(before) / sizeof(before[0]);
	struct sock_filter filter[first + NR_REFUSED + 2];
	struct sock_fprog program = { first + NR_REFUSED + 2, filter };

	memcpy(filter, before, sizeof(before));
	for (size_t i = 0; i < NR_REFUSED; i++)
		filter[first + i] = (struct sock_filter)
			IF(refused[i], NR_REFUSED - i, 0);
	filter[first + NR_REFUSED] = (struct sock_filter)
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter[first + NR_REFUSED + 1] = (struct sock_filter)FAIL(EPERM);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Become root in namespaces that an ordinary user has made. */
static int new_namespaces(void)
{
	char map[32];

	snprintf(map, sizeof(map), "0 %u 1\n", CONTAINER_USER);
	if (setgroups(0, NULL) ||
	    setresgid(CONTAINER_USER, CONTAINER_USER, CONTAINER_USER) ||
	    setresuid(CONTAINER_USER, CONTAINER_USER, CONTAINER_USER))
		return -1;
	/* Otherwise the files below belong to root. */
	prctl(PR_SET_DUMPABLE, 1);
	return unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) ||
	       write_file("/proc/self/setgroups", "deny") ||
	       write_file("/proc/self/uid_map", map) ||
	       write_file("/proc/self/gid_map", map) ||
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* A file system of its own on /dev, with some devices of the machine. */
static int new_dev(bool profil)
{
	static const char *const devices[] = {
		"/dev/null", "/dev/zero", "/dev/urandom", PROFIL_DEVICE,
	};
	const int nr = profil ? 4 : 3;
	char source[32];
	int fds[4];

	for (int i = 0; i < nr; i++)
		fds[i] = open(devices[i], O_PATH | O_CLOEXEC);
	if (mount("dev", "/dev", "tmpfs", MS_NOSUID, "mode=755"))
		return -1;
	for (int i = 0; i < nr; i++) {
		snprintf(source, sizeof(source), "/proc/self/fd/%d", fds[i]);
		if (mknod(devices[i], S_IFREG | 0644, 0) ||
		    mount(source, devices[i], NULL, MS_BIND, NULL))
			return -1;
		close(fds[i]);
	}
	return 0;
}

/* Process 1 of the container mounts its /proc, and lives as long as we do. */
static int start_init(void)
{
	int ready[2];
	char byte = 0;

	if (pipe(ready))
		return -1;
	if (!fork_child()) {
		if (!mount("proc", "/proc", "proc", 0, NULL) &&
		    write(ready[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	return read(ready[0], &byte, 1) == 1 ? 0 : -1;
}

/* Like an image, the container has no modules of the kernel. */
static void hide_modules(void)
{
	mount("modules", "/lib/modules", "tmpfs", MS_NOSUID, "mode=755");
}

/* Enter the container; children are inside its namespace of processes, too. */
static int enter(const struct container *container)
{
	hide_modules();
	if (new_dev(container->device) || start_init() ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return CONTAINER_FAILED;
	return !container->unfiltered && filter_calls() ? CONTAINER_FAILED : 0;
}

/**
 * run_in_container() - start a container, and a process in it
 * @container: how to start it
 * @work: what the process does; it passes results on in shared memory
 * @argument: argument of @work
 *
 * Return: 0; CONTAINER_REFUSED if users may not make namespaces;
 * CONTAINER_FAILED; or minus the signal that the process died of.
 */
int run_in_container(const struct container *container,
		     void (*work)(void *argument), void *argument)
{
	pid_t child = fork_child();
	int failed;

	if (child)
		return wait_child(child);
	if (new_namespaces())
		_exit(CONTAINER_REFUSED);
	failed = enter(container);
	if (failed) {
		perror("container");
		_exit(failed);
	}
	child = fork_child();
	if (!child) {
		work(argument);
		_exit(0);
	}
	failed = wait_child(child);
	if (failed < 0)
		kill(getpid(), -failed);
	_exit(failed);
}

int perf_paranoid(const char *value, char *former, int size)
{
	FILE *file = fopen(PARANOID, "r");
	bool read = file && fgets(former, size, file);

	if (file)
		fclose(file);
	return read ? write_file(PARANOID, value) : -1;
}
