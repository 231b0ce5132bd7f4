// SPDX-License-Identifier: GPL-2.0-only
/*
 * stop.c - take what a followed thread has stopped for
 */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "stop.h"

/**
 * stop_take() - what a thread has stopped for
 * @tid: the thread
 *
 * Its end is left for others to take, whenever it comes.
 *
 * Return: its stop as waitpid() tells it, or -1 if it has not stopped.
 */
int stop_take(pid_t tid)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, tid, &info, WSTOPPED | WNOHANG | __WALL) ||
	    !info.si_pid)
		return -1;
	return info.si_status << 8 | 0x7f;
}
