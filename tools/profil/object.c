// SPDX-License-Identifier: GPL-2.0-only
/*
 * object.c - what the file of a watch's object says about it
 *
 * The module knows a file by its numbers and its path as of first sight. The
 * path may lead elsewhere now, or be that of another mount namespace.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "prf/prf.h"
#include "profil/object.h"
#include "symbolize/build_id.h"
#include "symbolize/vdso.h"
#include "util/file.h"

#define DELETED	" (deleted)"

/* Inode number of the mount namespace that a link leads to, or 0 */
static uint32_t namespace_at(const char *link)
{
	char text[64] = "";
	uint32_t inode = 0;

	if (readlink(link, text, sizeof(text) - 1) < 0 ||
	    sscanf(text, "mnt:[%" SCNu32 "]", &inode) != 1)
		return 0;
	return inode;
}

/* The mount namespace of a process, if it is another one, which profil may enter */
static uint32_t elsewhere(pid_t pid)
{
	uint32_t own = namespace_at("/proc/self/ns/mnt"), other;
	char link[64];

	snprintf(link, sizeof(link), "/proc/%d/ns/mnt", pid);
	other = pid && own ? namespace_at(link) : 0;
	return other == own ? 0 : other;
}

/**
 * process_open() - find a file of a process in another mount namespace
 * @pid: the process
 * @mount_ns: the namespace; another process may have the PID by now
 * @path: absolute path of the file in that namespace
 * @flags: O_NOFOLLOW to find a symbolic link itself, or 0
 *
 * Links in the path lead to files of that namespace, too.
 *
 * Return: a descriptor of the path (O_PATH), for which no right to the file is needed
 * and which gives none; or -1, as when the process has ended.
 */
int process_open(pid_t pid, uint32_t mount_ns, const char *path, int flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char link[64];
	int root, fd;

	if (elsewhere(pid) != mount_ns)
		return -1;
	snprintf(link, sizeof(link), "/proc/%d/root", pid);
	root = open(link, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (root >= 0)
		close(root);
	return fd;
}

/**
 * process_find() - find a file of a process
 * @pid: the process; one that has ended is taken for one of profil's mount namespace
 * @path: absolute path of the file in the mount namespace of the process
 * @flags: as for process_open()
 *
 * Return: as that of process_open().
 */
int process_find(pid_t pid, const char *path, int flags)
{
	uint32_t mount_ns = elsewhere(pid);

	return mount_ns ? process_open(pid, mount_ns, path, flags) :
			  open(path, O_PATH | O_CLOEXEC | flags);
}

/**
 * process_changed_ns() - time of the last change of a file of a process
 * @pid: as for process_find()
 * @path: as for process_find()
 *
 * Return: the time, since the epoch; 0 if the file is not there.
 */
uint64_t process_changed_ns(pid_t pid, const char *path)
{
	int fd = process_find(pid, path, 0);
	uint64_t changed_ns = 0;
	struct stat now;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &now))
		changed_ns = file_changed_ns(&now);
	close(fd);
	return changed_ns;
}

/* Open what a thread has mapped; NULL if that is nothing. */
static FILE *open_maps(pid_t pid, const char *thread)
{
	char path[64];
	FILE *maps;
	int byte;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/maps", pid, thread);
	maps = fopen(path, "re");
	if (!maps)
		return NULL;
	byte = getc(maps);
	if (ungetc(byte, maps) != EOF)
		return maps;
	fclose(maps);
	return NULL;
}

/**
 * process_maps() - open the list of what a process has mapped
 * @pid: the process; its first thread may have ended, and has no memory then
 *
 * Return: the list, as /proc/PID/maps has it; NULL if there is none.
 */
FILE *process_maps(pid_t pid)
{
	struct dirent *thread;
	FILE *maps = NULL;
	char path[64];
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = opendir(path);
	while (threads && !maps && (thread = readdir(threads)))
		if (thread->d_name[0] != '.')
			maps = open_maps(pid, thread->d_name);
	if (threads)
		closedir(threads);
	return maps;
}

static bool has_inode(const char *path, uint64_t inode)
{
	struct stat now;

	return !stat(path, &now) && now.st_ino == inode;
}

/**
 * unrooted_path() - path of a file in the mount namespace of a process
 * @pid: the process; if it has ended, its root directory is unknown
 * @path: path below the root directory that the process had, see chroot(2)
 * @inode: inode number of the file; that of another file if a union has it
 *
 * Return: the path, to be freed, or NULL if out of memory.
 */
char *unrooted_path(pid_t pid, const char *path, uint64_t inode)
{
	char link[64], root[PATH_MAX], *where;
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/%d/root", pid);
	length = readlink(link, root, sizeof(root));
	/* A directory outside our own root has no path */
	if (length <= 1 || root[0] != '/' || path[0] != '/' ||
	    length + strlen(path) > PRF_PATH_MOST || elsewhere(pid))
		return strdup(path);
	if (asprintf(&where, "%.*s%s", (int)length, root, path) < 0)
		return NULL;
	/* The process may have got another root since */
	if (has_inode(where, inode) || !has_inode(path, inode))
		return where;
	free(where);
	return strdup(path);
}

/*
 * Is a file of a union the one that the module has seen? Its inode number has
 * that of its layer in the high bits, or is what it was before it was copied to
 * the upper layer. But no path gets another file without changing that file.
 */
static bool is_same_in_union(const struct stat *now, uint64_t inode,
			     uint64_t start_ns)
{
	return (uint32_t)now->st_ino == (uint32_t)inode ||
		file_changed_ns(now) < start_ns;
}

/*
 * Is the file the one that was mapped? A file system may use an inode number
 * again, with another generation. On btrfs and overlayfs, stat() reports another
 * device than that of the inode which the module has seen.
 */
static bool is_same(int fd, const struct stat *now,
		    const struct profil_watch_object *object, uint64_t start_ns)
{
	struct statfs system;
	long generation = 0;

	if (object->generation && !ioctl(fd, FS_IOC_GETVERSION, &generation) &&
	    (uint32_t)generation != object->generation)
		return false;
	if (now->st_ino == object->inode && now->st_dev == object->device)
		return true;
	if (fstatfs(fd, &system))
		return false;
	if ((uint32_t)system.f_type == BTRFS_SUPER_MAGIC)
		return now->st_ino == object->inode;
	return (uint32_t)system.f_type == OVERLAYFS_SUPER_MAGIC &&
		is_same_in_union(now, object->inode, start_ns);
}

/*
 * A segment that is not all in the file would claim any range of offsets, and what
 * is not there at all claims none.
 */
static void read_segments(struct object *object, Elf *elf, uint64_t size)
{
	GElf_Ehdr ehdr;
	GElf_Phdr phdr;
	int i;

	if (!gelf_getehdr(elf, &ehdr))
		return;
	object->start = UINT64_MAX;
	for (i = 0; i < ehdr.e_phnum; i++) {
		if (!gelf_getphdr(elf, i, &phdr) || phdr.p_type != PT_LOAD ||
		    !(phdr.p_flags & PF_X) || !phdr.p_filesz ||
		    phdr.p_offset > size ||
		    phdr.p_filesz > size - phdr.p_offset)
			continue;
		if (phdr.p_offset < object->start)
			object->start = phdr.p_offset;
		if (phdr.p_offset + phdr.p_filesz > object->end)
			object->end = phdr.p_offset + phdr.p_filesz;
	}
}

static void read_elf(struct object *object, int fd)
{
	Elf *elf = elf_open(fd);
	struct stat now;

	if (elf) {
		object->build_id_len = build_id_of(elf, object->build_id,
						   sizeof(object->build_id));
		object->is_32 = gelf_getclass(elf) == ELFCLASS32;
		if (!fstat(fd, &now)) {
			object->changed_ns = file_changed_ns(&now);
			read_segments(object, elf, now.st_size);
		}
	}
	elf_close(elf);
}

static bool is_deleted(const char *path)
{
	size_t length = strlen(path), end = strlen(DELETED);

	return length > end && !strcmp(path + length - end, DELETED);
}

/**
 * deleted_path() - the path with which the kernel names a file that is gone
 * @path: its path
 *
 * Return: the path, to be freed, or NULL if out of memory.
 */
char *deleted_path(const char *path)
{
	char *marked;

	return asprintf(&marked, "%s%s", path, is_deleted(path) ? "" :
			DELETED) < 0 ? NULL : marked;
}

static int mark_deleted(struct object *object)
{
	char *path = deleted_path(object->path);

	if (!path)
		return -1;
	free(object->path);
	object->path = path;
	return 0;
}

/**
 * object_open() - open the file of an object, if it is still at its path
 * @seen: the object
 * @path: its path
 * @start_ns: start of the watch, in nanoseconds since the epoch
 * @is_other: set to whether another file is there
 *
 * Return: a descriptor, or -1.
 */
int object_open(const struct profil_watch_object *seen, const char *path,
		uint64_t start_ns, bool *is_other)
{
	struct stat now;
	int fd = file_open_found(process_find(seen->pid, path, 0), &now);

	*is_other = false;
	if (fd < 0 || is_same(fd, &now, seen, start_ns))
		return fd;
	*is_other = true;
	close(fd);
	return -1;
}

/**
 * object_is_ours() - is a file at its path in profil's mount namespace, too?
 * @fd: the file
 * @path: its path in the mount namespace of a process
 *
 * So it is with most sandboxes. The root of a container may give other files any owner,
 * and any contents.
 */
bool object_is_ours(int fd, const char *path)
{
	struct stat file, ours;

	return !fstat(fd, &file) && !stat(path, &ours) &&
		file.st_dev == ours.st_dev && file.st_ino == ours.st_ino;
}

static int read_file(struct object *object,
		     const struct profil_watch_object *seen, uint64_t start_ns)
{
	bool is_other;
	int fd;

	object->mount_ns = elsewhere(seen->pid);
	object->pid = seen->pid;
	fd = object_open(seen, object->path, start_ns, &is_other);
	if (is_other)
		return mark_deleted(object);
	if (fd < 0)
		return 0;
	if (object_is_ours(fd, object->path))
		object->mount_ns = 0;
	read_elf(object, fd);
	close(fd);
	return 0;
}

/**
 * object_read() - read the file of an object
 * @object: receives what it says; for object_free()
 * @table: the table of the watch
 * @index: index of the object, a file
 * @start_ns: start of the watch, in nanoseconds since the epoch
 *
 * Return: 0, or -1 if out of memory.
 */
int object_read(struct object *object, const struct profil_watch_table *table,
		uint32_t index, uint64_t start_ns)
{
	const struct profil_watch_object *seen = profil_watch_object(table, index);
	const char *path = profil_watch_path(table, seen);
	int result;

	memset(object, 0, sizeof(*object));
	if (path)
		result = (object->path = strdup(path)) ? 0 : -1;
	else
		result = asprintf(&object->path, "[inode %llu]",
				  (unsigned long long)seen->inode);
	if (result < 0) {
		object->path = NULL;
		return -1;
	}
	if (object->path[0] != '/' || is_deleted(object->path))
		return 0;
	return read_file(object, seen, start_ns);
}

/**
 * object_has_changed() - has a file changed since it was read?
 * @object: the file; another one at its path does not count
 * @seen: its object
 * @start_ns: start of the watch, in nanoseconds since the epoch
 */
bool object_has_changed(const struct object *object,
			const struct profil_watch_object *seen,
			uint64_t start_ns)
{
	uint64_t changed_ns;
	bool is_other;
	int fd;

	if (!object->changed_ns)
		return false;
	changed_ns = process_changed_ns(seen->pid, object->path);
	if (!changed_ns || changed_ns == object->changed_ns)
		return false;
	fd = object_open(seen, object->path, start_ns, &is_other);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/**
 * object_vdso() - read the vDSO of this kernel's 64-bit programs
 * @object: receives what it says; for object_free()
 *
 * Return: 0, or -1 if out of memory.
 */
int object_vdso(struct object *object)
{
	int fd = vdso_open();

	memset(object, 0, sizeof(*object));
	if (fd >= 0) {
		read_elf(object, fd);
		close(fd);
	}
	object->path = strdup("[vdso]");
	return object->path ? 0 : -1;
}

void object_free(struct object *object)
{
	free(object->path);
	memset(object, 0, sizeof(*object));
}
