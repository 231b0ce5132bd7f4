// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * preload.c - profil() and sprofil() of programs that do not know the library
 *
 * For libprofil-preload.so. Such a program cannot choose an entry point, so
 * whoever starts it chooses, by a variable of the environment. A program that
 * is linked with libprofil.so has chosen, and nobody else should.
 *
 * Must not see <unistd.h>, for the same reason as calls.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "behaviour.h"
#include "device.h"

#define STDERR	2

/* Of <unistd.h>. */
long syscall(long number, ...);

/* Stands for a value of the variable that names no behaviour. */
static const struct profil_behaviour unknown;

/*
 * Once is enough, and getenv() must not be called in signal handlers nor while
 * other threads change the environment. A program that runs with other rights
 * than its caller does not take orders from its caller.
 */
static const struct profil_behaviour *chosen(void)
{
	static _Atomic(const struct profil_behaviour *) choice;
	const struct profil_behaviour *how = atomic_load(&choice);

	if (how)
		return how;
	how = profil_behaviour_named(secure_getenv("PROFIL_BEHAVIOUR"));
	if (!how)
		how = &unknown;
	atomic_store(&choice, how);
	return how;
}

/* Unless a constructor of another library profiles already, this is first. */
static __attribute__((constructor)) void choose(void)
{
	chosen();
}

/*
 * A misspelt name must not give a histogram by other rules than those that
 * were meant. Written by a plain system call, as write() is a cancellation
 * point.
 */
static int refuse(void)
{
	static const char line[] =
		"libprofil-preload.so: PROFIL_BEHAVIOUR is none of svr4, bsd, irix, glibc: there is no profile\n";
	static atomic_flag said = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&said))
		syscall(SYS_write, STDERR, line, sizeof(line) - 1);
	errno = EINVAL;
	return -1;
}

PROFIL_PUBLIC int profil(unsigned short *buffer, size_t size, size_t offset,
			 unsigned int scale)
{
	const struct profil_behaviour *how = chosen();

	if (how == &unknown)
		return refuse();
	return profil_by(how, buffer, size, offset, scale);
}

PROFIL_PUBLIC int sprofil(struct prof *profp, int profcnt, struct timeval *tvp,
			  unsigned int flags)
{
	const struct profil_behaviour *how = chosen();

	if (how == &unknown)
		return refuse();
	return sprofil_by(how, profp, profcnt, tvp, flags);
}
