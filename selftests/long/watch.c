// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch.c - watches for a long time: thousands of processes and attachments
 *
 * guest/watch_life.c and guest/watch_load.c have shorter ones of the same.
 */
#include <spawn.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "server.h"
#include "watch.h"

NEEDS_ROOT;

#define EXECS		6000

#define ATTACHMENTS	100000

/* Fewer have to do if the machine is so slow that they take longer. */
#define ATTACH_NS	(400 * SECOND)

/* No tick is without its image and object, and none is lost. */
TEST(a_storm_of_execs)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_MACHINE, 0, 0);
	char *const argv[] = { "true", NULL };
	struct profil_watch_status status;
	struct watch watch;
	pid_t child;

	ASSERT_EQ(0, watch_begin(&watch, &request));
	for (int i = 0; i < EXECS; i++) {
		ASSERT_EQ(0, posix_spawn(&child, "/bin/true", NULL, NULL, argv,
					 environ));
		EXPECT_EQ(0, wait_child(child));
	}
	watch_stop(&watch);
	status = watch_settled(&watch, 0);
	TH_LOG("%llu ticks, %llu in kernel mode, %u images, %u buckets",
	       status.ticks, status.kernel, status.images, status.buckets);
	EXPECT_LT(EXECS / 2, status.ticks);
	EXPECT_EQ(0, status.unresolved);
	EXPECT_EQ(0, status.coarse);
	EXPECT_EQ(0, status.unfollowed);
	EXPECT_EQ(0, image_ticks(watch_image(&watch, 0)));
	EXPECT_LE(EXECS, watch_image(&watch,
				     watch_find_image(&watch,
						      "true"))->processes);
	EXPECT_SOUND(&watch, &status);
	EXPECT_WATCH_TICKS(&status);
	watch_end(&watch);
}

TEST(attaching_a_hundred_thousand_times)
{
	struct server server;

	ASSERT_EQ(0, server_begin(&server));
	EXPECT_EQ(0, server_attach(&server, 1, ATTACHMENTS, ATTACH_NS));
	TH_LOG("attached %llu times, %llu ticks",
	       (unsigned long long)server.attached,
	       (unsigned long long)server.ticks);
	EXPECT_LT(0, server.ticks);
	EXPECT_EQ(0, server.forbidden);
	EXPECT_EQ(0, server_end(&server));
}

TEST_HARNESS_MAIN
