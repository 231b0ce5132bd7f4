// SPDX-License-Identifier: GPL-2.0-only
/*
 * debug_file.c - find separate debug files
 *
 * elfutils looks for one by build ID, then by name, and then asks servers. For
 * these it loads libdebuginfod with some thirty libraries, also if no server may
 * be asked, which takes longer than all else that a short profile needs. So by
 * default it is only asked to look by name if a file has that name.
 */
#define _GNU_SOURCE
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/debug_file.h"
#include "util/file.h"

/* As elfutils has it */
#define DEFAULT_PATH	":.debug:/usr/lib/debug"

static char *debuginfo_path;
static bool may_fetch;

/* What has the name of a debug file. elfutils opens whatever it is. */
enum found {
	NOTHING,
	PLAIN,		/* a regular file */
	OTHER		/* such as a pipe: opening it waits for a writer */
};

static enum found most(enum found a, enum found b)
{
	return a > b ? a : b;
}

static enum found look_at(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return NOTHING;
	return S_ISREG(status.st_mode) ? PLAIN : OTHER;
}

static enum found look_below(const char *place, const char *directory,
			     const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/%s", place, directory, name);
	return look_at(path);
}

/*
 * What is called @name in a place of the path, for a DSO in @directory? An absolute
 * place may have the last parts of the directory only, or none.
 */
static enum found look_in_place(const char *place, const char *directory,
				const char *name)
{
	enum found found;

	if (place[0] != '/')
		return look_below(directory, place, name);
	found = look_below(place, directory, name);
	while (*directory) {
		directory = strchrnul(directory, '/');
		directory += *directory == '/';
		found = most(found, look_below(place, directory, name));
	}
	return found;
}

/*
 * What has the name of a DSO's debug file? @link: the name, or NULL: then elfutils
 * tries two that it invents.
 */
static enum found look_for_name(const char *dso, const char *link)
{
	char *path = strdup(debuginfo_path ?: DEFAULT_PATH), *rest = path;
	char *directory = strdup(dso), *invented = NULL, *place;
	enum found found = link && link[0] == '/' ? look_at(link) : NOTHING;
	const char *base = base_name(dso);

	if (!path || !directory || asprintf(&invented, "%s.debug", base) < 0)
		rest = invented = NULL;
	else
		dirname(directory);
	while ((place = strsep(&rest, ":"))) {
		/* Whether to verify the checksum in .gnu_debuglink */
		place += *place == '+' || *place == '-';
		found = most(found, look_in_place(place, directory,
						  link ?: invented));
		if (!link && *place)
			found = most(found, look_in_place(place, directory,
							  base));
	}
	free(invented);
	free(directory);
	free(path);
	return found;
}

static enum found look_by_name(const char *dso, const char *link)
{
	char *target = realpath(dso, NULL);
	enum found found = look_for_name(dso, link);

	if (target)
		found = most(found, look_for_name(target, link));
	free(target);
	return found;
}

/*
 * As dwfl_standard_find_debuginfo(). A name without a checksum is that of a file
 * that several debug files share.
 */
static int find(Dwfl_Module *module, void **userdata, const char *name,
		Dwarf_Addr base, const char *dso, const char *link,
		GElf_Word checksum, char **found)
{
	enum found by_name = look_by_name(dso, link);

	if (by_name != OTHER &&
	    (may_fetch || (link && !checksum) || by_name == PLAIN))
		return dwfl_standard_find_debuginfo(module, userdata, name,
						    base, dso, link, checksum,
						    found);
	return dwfl_build_id_find_debuginfo(module, userdata, name, base, dso,
					    link, checksum, found);
}

const Dwfl_Callbacks debug_file_callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = find,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debuginfo_path,
};

/**
 * debug_file_look_in() - set the directories with separate debug files
 * @path: directories, separated by colons; not copied; NULL for the default
 */
void debug_file_look_in(char *path)
{
	debuginfo_path = path;
}

static bool have_libdebuginfod(void)
{
	Dwfl *dwfl = dwfl_begin(&debug_file_callbacks);
	bool have = dwfl && dwfl_get_debuginfod_client(dwfl);

	dwfl_end(dwfl);
	return have;
}

/**
 * debug_file_fetch() - allow or forbid to fetch files from servers
 * @allow: whether to query the servers in DEBUGINFOD_URLS
 *
 * elfutils queries them whenever the variable is set.
 *
 * Return: NULL, or why no server can be queried.
 */
const char *debug_file_fetch(bool allow)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	may_fetch = allow;
	if (!allow) {
		unsetenv("DEBUGINFOD_URLS");
		return NULL;
	}
	if (!urls || !urls[0])
		return "--debuginfod needs a server: set DEBUGINFOD_URLS";
	if (!have_libdebuginfod())
		return "--debuginfod needs libdebuginfod: install it";
	return NULL;
}

static char *path_of(int fd)
{
	char link[32], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path));
	return length > 0 ? strndup(path, length) : NULL;
}

static int find_dso(Dwfl_Module *module, const struct prf_dso *dso)
{
	char *name = NULL;
	Elf *elf = NULL;
	int fd;

	fd = dwfl_build_id_find_elf(module, NULL, dso->path, 0, &name, &elf);
	elf_end(elf);
	if (fd < 0 && look_by_name(dso->path, NULL) != OTHER)
		fd = dwfl_standard_find_debuginfo(module, NULL, dso->path, 0,
						  NULL, NULL, 0, &name);
	free(name);
	return fd;
}

/**
 * debug_file_by_id() - find the file of a DSO by its build ID
 * @dso: the DSO, which is no longer at its path
 *
 * Looks for the DSO itself, and its debug file, below .build-id in the directories
 * for these, and on servers.
 *
 * Return: its path, to be freed; NULL if there is none.
 */
char *debug_file_by_id(const struct prf_dso *dso)
{
	Dwfl *dwfl = dwfl_begin(&debug_file_callbacks);
	Dwfl_Module *module = NULL;
	char *path = NULL;
	int fd = -1;

	/* The module is only there to be asked for */
	if (dwfl)
		module = dwfl_report_module(dwfl, dso->path, 4096, 8192);
	if (module && !dwfl_module_report_build_id(module, dso->build_id,
						   dso->build_id_len, 0))
		fd = find_dso(module, dso);
	if (fd >= 0)
		path = path_of(fd);
	if (dwfl)
		dwfl_end(dwfl);
	return path;
}
