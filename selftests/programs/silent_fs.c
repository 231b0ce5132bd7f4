// SPDX-License-Identifier: GPL-2.0-only
/*
 * silent_fs.c - a file system whose files can be mapped, but never read
 *
 * Mounts itself by FUSE at the directory that its argument names, and answers
 * everything that the kernel asks for on the way to a mapping of the file
 * "counters", which is a page long. It never answers a read: a task that
 * touches the mapping waits, and so does, in the end, one that reads the file
 * asynchronously. The file "direct" differs by FOPEN_DIRECT_IO: while a page
 * fault waits for its page, mmap() of the file waits too, and holds mmap_lock
 * for writing. Serves until it is killed; exit status 1 if there is no FUSE.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define BINS		2
#define DIRECT		3
#define FOR_EVER	1000000

static union {
	struct fuse_in_header header;
	char bytes[1 << 20];
} request;

static int device;

static void answer(int error, void *body, size_t size)
{
	struct fuse_out_header header = {
		.len = sizeof(header) + size,
		.error = error,
		.unique = request.header.unique,
	};
	struct iovec parts[] = {
		{ &header, sizeof(header) }, { body, size },
	};

	if (writev(device, parts, 2) < 0)
		_exit(2);
}

static struct fuse_attr attributes_of(uint64_t node)
{
	struct fuse_attr attributes = {
		.ino = node,
		.size = 4096,
		.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0777 : S_IFREG | 0666,
		.nlink = 1,
	};

	return attributes;
}

static void answer_init(void)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_write = 4096,
		.flags = FUSE_ASYNC_DIO,
		.max_background = UINT16_MAX,
		.congestion_threshold = UINT16_MAX,
	};

	answer(0, &out, sizeof(out));
}

static void answer_lookup(void)
{
	const char *name = request.bytes + sizeof(request.header);
	uint64_t node = strcmp(name, "direct") ? BINS : DIRECT;
	struct fuse_entry_out out = {
		.nodeid = node,
		.entry_valid = FOR_EVER,
		.attr_valid = FOR_EVER,
		.attr = attributes_of(node),
	};

	answer(0, &out, sizeof(out));
}

static void answer_getattr(void)
{
	struct fuse_attr_out out = {
		.attr_valid = FOR_EVER,
		.attr = attributes_of(request.header.nodeid),
	};

	answer(0, &out, sizeof(out));
}

static void answer_open(void)
{
	struct fuse_open_out out = { 0 };

	if (request.header.nodeid == DIRECT)
		out.open_flags = FOPEN_DIRECT_IO;
	answer(0, &out, sizeof(out));
}

static void serve(void)
{
	switch (request.header.opcode) {
	case FUSE_INIT:
		answer_init();
		break;
	case FUSE_LOOKUP:
		answer_lookup();
		break;
	case FUSE_GETATTR:
		answer_getattr();
		break;
	case FUSE_OPEN:
		answer_open();
		break;
	case FUSE_READ:
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	case FUSE_RELEASE:
		answer(0, NULL, 0);
		break;
	default:
		answer(-ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	char options[100];

	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
	if (device < 0 || argc < 2 ||
	    mount("silent", argv[1], "fuse", 0, options))
		return 1;
	while (read(device, &request, sizeof(request)) > 0)
		serve();
	return 0;
}
