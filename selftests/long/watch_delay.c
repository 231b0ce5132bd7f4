// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_delay.c - whatever step takes long, ticks add up
 *
 * Delays the first calls of each function of the module, one function after the
 * other, as if the host ran something else there, while programs fork, create
 * threads, execute programs and end, with a profile; and while watches of them
 * begin, are asked, and end. All other steps then come in between.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "load.h"
#include "needs.h"
#include "watch.h"

NEEDS_ROOT;
NEEDS_TWO_CPUS;

/* Of so many calls of a function, in milliseconds. */
#define DELAYS		"times=3 ms=4"

#define MAX_FUNCTIONS	1000

FIXTURE(steps) {
	char functions[MAX_FUNCTIONS][100];
	int nr;
	struct busy busy;
	struct child child;
};

/* Those that are there while the module runs, and are not parts of others. */
static bool is_function(const char *line, char name[100])
{
	char type, module[60];

	return sscanf(line, "%*s %c %99s %59s", &type, name, module) == 3 &&
	       (type == 't' || type == 'T') && !strcmp(module, "[profil]") &&
	       !strncmp(name, "profil_", 7) && !strstr(name, ".cold");
}

FIXTURE_SETUP(steps)
{
	FILE *symbols = fopen("/proc/kallsyms", "r");
	char line[300];

	ASSERT_NE(NULL, symbols);
	while (self->nr < MAX_FUNCTIONS && fgets(line, sizeof(line), symbols))
		self->nr += is_function(line, self->functions[self->nr]);
	fclose(symbols);
	self->busy.counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->busy.counter);
	self->busy.device = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->busy.device);
	self->child = child_begin(be_busy, &self->busy);
	child_go(&self->child);
}

FIXTURE_TEARDOWN(steps)
{
	struct profil_account account;

	if (unload_helper("delay"))
		EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(-SIGKILL, child_kill(&self->child));
	account = account_after(self->busy.device, 0);
	EXPECT_EQ(0, account.running);
	EXPECT_CONSERVED(&account);
	close(self->busy.device);
}

static void ends(struct __test_metadata *_metadata, struct watch *watch)
{
	struct profil_watch_status status = watch_stop(watch);

	EXPECT_EQ(PROFIL_STATE_OFF, status.state);
	EXPECT_SOUND(watch, &status);
	watch_end(watch);
}

/* A watch of one process, a watch of many, and what a watcher does with both. */
static void watches(struct __test_metadata *_metadata,
		    FIXTURE_DATA(steps) *self)
{
	struct profil_watch request =
		watch_request(PROFIL_WATCH_USER, 0, PROFIL_WATCH_WALL);
	struct profil_watch_status status = { .size = sizeof(status) };
	struct watch one, many;

	ASSERT_EQ(0, watch_process(&one, self->child.pid,
				   PROFIL_WATCH_CHILDREN | PROFIL_WATCH_WALL |
				   WATCH_CHAINS));
	usleep(5000);
	ASSERT_EQ(0, watch_begin(&many, &request));
	usleep(5000);
	EXPECT_EQ(0, ioctl(one.fd, PROFIL_IOC_WATCH_COLLECT, &status));
	EXPECT_WATCH_CONSERVED(&status);
	status = watch_status(&many);
	EXPECT_WATCH_CONSERVED(&status);
	ends(_metadata, &one);
	usleep(5000);
	ends(_metadata, &many);
}

/* Return: how often the function was called; -1 if it cannot be delayed. */
static int delayed(struct __test_metadata *_metadata, FIXTURE_DATA(steps) *self,
		   const char *function)
{
	char parameters[200];
	int calls;

	snprintf(parameters, sizeof(parameters), "symbol=%s " DELAYS,
		 function);
	if (load_helper("delay", parameters))
		return -1;
	watches(_metadata, self);
	calls = number_of("/sys/module/delay/parameters/calls", "");
	EXPECT_EQ(0, unload_helper("delay"));
	return calls;
}

TEST_F(steps, are_delayed)
{
	int no_probe = 0, no_call = 0;

	watches(_metadata, self);
	if (load_helper("delay", "symbol=profil_ioctl") && errno == ENOENT)
		SKIP(return, "delay.ko was not built for this kernel");
	unload_helper("delay");
	for (int i = 0; i < self->nr; i++) {
		int calls = delayed(_metadata, self, self->functions[i]);

		no_probe += calls < 0;
		no_call += !calls;
		if (!__test_passed(_metadata)) {
			TH_LOG("with a delay of %s", self->functions[i]);
			break;
		}
		EXPECT_FALSE(child_has_ended(&self->child));
	}
	TH_LOG("%d functions: %d were delayed, %d not called, %d not to be delayed",
	       self->nr, self->nr - no_call - no_probe, no_call, no_probe);
	EXPECT_LT(self->nr / 2, self->nr - no_call - no_probe);
}

TEST_HARNESS_MAIN
