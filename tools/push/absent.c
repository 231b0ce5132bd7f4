// SPDX-License-Identifier: GPL-2.0-only
/*
 * absent.c - "profil --push" where its libraries were missing at build time
 */
#include "profil/options.h"
#include "push/push.h"

/** push_option() - say what is missing, if it is an option of --push */
bool push_option(int option, const char *argument)
{
	if (option >= OPTION_PUSH && option <= OPTION_LISTEN)
		misused("this profil was built without --push and --listen: install libcurl4-openssl-dev and libmicrohttpd-dev, and build it again");
	return false;
}

bool push_wanted(void)
{
	return false;
}

int push_main(struct session *session, char **argv)
{
	return EXIT_FAILED;
}
