// SPDX-License-Identifier: GPL-2.0-only
/*
 * behaviour.c - what an unmodified program finds, as one line
 *
 * Calls profil() and sprofil() of the C library, or of a library that its
 * argument names, in the ways in which systems differ. Prints for each call its
 * errno (0 if it succeeded), or, after a call that starts a profile, its status
 * from the device: flags in hexadecimal, width, period in microseconds.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/profil.h>

#include <linux/profil.h>

/* <unistd.h> declares that the buffer is never NULL. */
int profil(unsigned short *buffer, size_t size, size_t offset,
	   unsigned int scale);

static int (*profil_here)(unsigned short *buffer, size_t size, size_t offset,
			  unsigned int scale) = profil;
static int (*sprofil_here)(struct prof *profp, int profcnt,
			   struct timeval *tvp, unsigned int flags) = sprofil;

static unsigned int counters[16];
static struct prof text = { counters, sizeof(counters), 0x1000, 65536 };
static struct prof overflow_first[2] = {
	{ counters, sizeof(counters), 0, 2 },
	{ counters, sizeof(counters), 0x1000, 65536 },
};

static int find(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return -1;
	profil_here = dlsym(handle, "profil");
	sprofil_here = dlsym(handle, "sprofil");
	return 0;
}

static void put(const char *name, int result)
{
	printf(" %s:%d", name, result ? errno : 0);
}

static void put_started(const char *name, int result, int device)
{
	struct profil_status status = { .size = sizeof(status) };

	if (result || ioctl(device, PROFIL_IOC_STATUS, &status))
		put(name, -1);
	else if (status.state == PROFIL_STATE_ON)
		printf(" %s:0x%x/%u/%llu", name, status.flags, status.width,
		       status.period_ns / 1000);
	else
		printf(" %s:off", name);
}

int main(int argc, char **argv)
{
	unsigned short *narrow = (unsigned short *)counters;
	int device = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);

	if (device < 0 || (argc > 1 && find(argv[1])))
		return 100;
	put_started("plain", profil_here(narrow, 16, 0, 65536), device);
	put_started("one", profil_here(narrow, 16, 0, 1), device);
	put("large", profil_here(narrow, 16, 0, 65537));
	put_started("null", profil_here(NULL, 16, 0, 65536), device);
	put("none", sprofil_here(NULL, 0, NULL, 0));
	put_started("first", sprofil_here(overflow_first, 2, NULL, 1), device);
	put_started("0", sprofil_here(&text, 1, NULL, 0), device);
	put_started("1", sprofil_here(&text, 1, NULL, 1), device);
	put_started("2", sprofil_here(&text, 1, NULL, 2), device);
	put_started("stop", profil_here(narrow, 0, 0, 0), device);
	putchar('\n');
	return 0;
}
