// SPDX-License-Identifier: GPL-2.0-only
/*
 * racer.c - preloaded: kills a traced process between the report of its stop
 * and the tool's handling of that
 *
 * RACE_AT is the number of the stop at which it does so, counted from 1.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int call(idtype_t type, id_t id, siginfo_t *info, int options)
{
	return syscall(SYS_waitid, type, id, info, options, NULL);
}

int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	const char *at = getenv("RACE_AT");
	int result = call(type, id, info, options);
	static int stops;
	siginfo_t end;

	if (result || !(options & WNOWAIT) || !info->si_pid ||
	    info->si_code != CLD_TRAPPED || !at || ++stops != atoi(at))
		return result;
	kill(info->si_pid, SIGKILL);
	while (call(P_PID, info->si_pid, &end, WEXITED | WNOWAIT | __WALL))
		;
	return 0;
}
