// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * preload.c - profil() and sprofil() for programs not linked with the library
 *
 * Part of libprofil-preload.so. Such a program cannot choose a behaviour by
 * calling one function or another, so the user chooses one by an environment
 * variable. A program linked with libprofil.so has chosen already, so that
 * library does not read the variable.
 *
 * Must not include <unistd.h>, which declares the buffer as nonnull; the
 * compiler would then drop checks for NULL.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "behaviour.h"
#include "device.h"

#define STDERR	2

/* From <unistd.h>. */
long syscall(long number, ...);

/* Stands for an unknown value of the variable. */
static const struct profil_behaviour unknown;

/*
 * Read the variable only once, since getenv() is not safe in signal handlers or
 * while other threads change the environment. secure_getenv(), since a program
 * with more rights than its caller must not obey the caller.
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

/* Read it before main(); a constructor of another library may be earlier. */
static __attribute__((constructor)) void choose(void)
{
	chosen();
}

/*
 * Fail for a misspelt name, rather than count by rules that the user did not
 * ask for. Prints by a plain system call, since write() is a cancellation
 * point.
 */
static int refuse(void)
{
	static const char line[] =
		"libprofil-preload.so: PROFIL_BEHAVIOUR is none of svr4, bsd, irix, glibc, linux099: there is no profile\n";
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
