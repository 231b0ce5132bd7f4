// SPDX-License-Identifier: GPL-2.0-only
/*
 * remedy.c - what to do when the device cannot be used, or forbids a watch
 *
 * An ordinary user cannot try to load the module and see why that fails, but
 * can see whether it is installed for the running kernel.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <linux/profil.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "profil/remedy.h"

/* A phrase with names in it. */
static char text[512];

/* Does a line "DIRECTORY/profil.ko[.xz]: ..." list the module? */
static bool is_listed(FILE *modules)
{
	char *line = NULL, *name;
	bool listed = false;
	size_t size = 0;

	while (!listed && getline(&line, &size, modules) >= 0) {
		line[strcspn(line, ":")] = '\0';
		name = strrchr(line, '/');
		listed = !strncmp(name ? name + 1 : line, "profil.ko", 9);
	}
	free(line);
	return listed;
}

static bool dkms_has_source(void)
{
	glob_t found;
	bool has = !glob("/usr/src/profil-*/dkms.conf", 0, NULL, &found);

	globfree(&found);
	return has;
}

static const char *remedy_of_missing_module(const char *release)
{
	if (dkms_has_source())
		snprintf(text, sizeof(text),
			 "DKMS has not built the module for kernel %s: install linux-headers-%s, and run 'dkms autoinstall' as root",
			 release, release);
	else
		snprintf(text, sizeof(text),
			 "the module is not installed for kernel %s: install profil-dkms, or run 'make install' in profil's sources",
			 release);
	return text;
}

/* Only 32-bit programs run on a 32-bit kernel; armv8l is a 64-bit kernel's name. */
static bool is_32_bit(const char *machine)
{
	return sizeof(long) == 4 && !strstr(machine, "64") &&
	       strncmp(machine, "armv8", 5);
}

static const char *remedy_of_missing_device(void)
{
	struct utsname name;
	char path[128];
	FILE *modules;
	bool listed;

	uname(&name);
	if (is_32_bit(name.machine)) {
		snprintf(text, sizeof(text),
			 "the module needs a 64-bit kernel, and this one is for %s: 32-bit programs run on a 64-bit one, too",
			 name.machine);
		return text;
	}
	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep",
		 name.release);
	modules = fopen(path, "re");
	/* The image of a container has no modules of the host's kernel */
	if (!modules)
		return "run 'modprobe profil' as root; in a container, do so on the host, and start the container with '--device /dev/profil'; see CONTAINERS in profil(4)";
	listed = is_listed(modules);
	fclose(modules);
	if (listed)
		return "run 'modprobe profil' as root; if the kernel rejects the module's signature, see SECURE BOOT in profil(4)";
	return remedy_of_missing_module(name.release);
}

static const char *remedy_of_permission(void)
{
	const struct group *group;
	struct stat device;
	char number[16];

	if (stat(PROFIL_DEVICE, &device) || device.st_mode & S_IROTH)
		return "a security module forbids it, or its file system is mounted with nodev";
	group = getgrgid(device.st_gid);
	snprintf(number, sizeof(number), "%u", device.st_gid);
	snprintf(text, sizeof(text),
		 "it is for group %s: join the group (in a container, by --group-add), or change the mode by the udev rule 70-profil.rules",
		 group ? group->gr_name : number);
	return text;
}

/**
 * device_remedy() - what to do when the device cannot be used
 * @error: errno of the attempt
 *
 * Return: a phrase that is valid until the next call.
 */
const char *device_remedy(int error)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return remedy_of_missing_device();
	case EACCES:
		return remedy_of_permission();
	case EPERM:
		return "its cgroup may not use the device: start the container with '--device /dev/profil', or the service with DeviceAllow=/dev/profil";
	case ENOTTY:
		return "it is not the module's device: load the module before the container starts, and use '--device', not '--volume'";
	default:
		return "see profil(4)";
	}
}

/**
 * scope_remedy() - what to do if the module forbids users to watch processes
 *
 * Return: a phrase that begins with a semicolon; NULL if they may watch all that
 * they may inspect.
 */
const char *scope_remedy(void)
{
	FILE *parameter = fopen("/sys/module/profil/parameters/watch_scope",
				"re");
	int scope = parameter ? fgetc(parameter) : '2';

	if (parameter)
		fclose(parameter);
	switch (scope) {
	case '1':
		return "; the module parameter watch_scope=1 lets users profile only the programs that they run: use 'profil PROGRAM', run profil as root or with CAP_PERFMON, or have the parameter set to 2";
	case '2':
		return NULL;
	default:
		return "; the module parameter watch_scope forbids users to profile other processes: run profil as root or with CAP_PERFMON, or have the parameter set to 1 or 2";
	}
}
