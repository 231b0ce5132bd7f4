// SPDX-License-Identifier: GPL-2.0-only
/*
 * stop.c - consume ptrace stops
 */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "profil/ptrace/stop.h"

/**
 * stop_take() - consume a thread's ptrace stop
 * @tid: the thread
 *
 * Never consumes the end of the thread, even if that comes first.
 *
 * Return: the wait status of the stop, or -1 if the thread is not stopped.
 */
int stop_take(pid_t tid)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, tid, &info, WSTOPPED | WNOHANG | __WALL) ||
	    !info.si_pid)
		return -1;
	return info.si_status << 8 | 0x7f;
}
