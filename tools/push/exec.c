// SPDX-License-Identifier: GPL-2.0-only
/*
 * exec.c - "profil --push" is another program
 *
 * It needs libcurl and libmicrohttpd. With all that these need, they take longer to
 * load than a short program runs, so profil itself is without them.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profil/options.h"
#include "push/push.h"
#include "util/term.h"

#define PROGRAM	"profil-push"

static bool is_wanted;

/** push_option() - leave an option of --push to the other program */
bool push_option(int option, const char *argument)
{
	if (option < OPTION_PUSH || option > OPTION_LISTEN)
		return false;
	is_wanted = true;
	return true;
}

bool push_wanted(void)
{
	return is_wanted;
}

/* Where the build has it, and where it is installed */
static const char *const places[] = { "", "../libexec/profil/" };

/** push_main() - execute the other program, with all options */
int push_main(struct session *session, char **argv)
{
	char directory[PATH_MAX], path[PATH_MAX + 64];
	ssize_t length;
	size_t i;

	length = readlink("/proc/self/exe", directory, sizeof(directory) - 1);
	directory[length < 0 ? 0 : length] = '\0';
	*(strrchr(directory, '/') ?: directory) = '\0';
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s" PROGRAM, directory,
			 places[i]);
		execv(path, argv);
	}
	term_warn("%s: %s", path, strerror(errno));
	return EXIT_FAILED;
}
