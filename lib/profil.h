/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * profil.h - execution time profiles, counted by the kernel
 *
 * Declares what the library has beside profil() of <unistd.h> and sprofil() of
 * <sys/profil.h>, whose prototypes are those of the C library. Relies on the
 * structures of <linux/profil.h>, where every member is explained.
 *
 * profil() and sprofil() do as Documentation/contract.rst tells. Where a
 * system's manual page promises something else, a function with the system's
 * name keeps the promise; each is explained in calls.c, and in libprofil(3).
 *
 * The caller sets the member size of each structure to its sizeof before the
 * call; the device then knows which version of it the caller was compiled
 * with:
 *
 *	struct profil_status status;
 *
 *	status.size = sizeof(status);
 *	if (profil_status(&status, NULL, 0))
 *		perror("profil_status");
 *
 * Every function may be called from a signal handler and by several threads at
 * a time, and none is a cancellation point. Every call opens PROFIL_DEVICE,
 * makes one request and closes it again, so that besides the errors that are
 * told at each function all can fail with those of open(2): ENOENT, ENODEV or ENXIO
 * where the kernel has no such device, EACCES, EMFILE, ENFILE. errno is left
 * alone by a call that succeeds.
 */
#ifndef LIBPROFIL_H
#define LIBPROFIL_H

#include <sys/profil.h>

#include <linux/profil.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of sprofil_irix(). */
#define PROFIL_IRIX_USHORT	(1u << 0)
#define PROFIL_IRIX_UINT	(1u << 1)
#define PROFIL_IRIX_FAST	(1u << 2)

void profil_svr4(unsigned short *buffer, size_t size, size_t offset,
		 unsigned int scale);
int profil_bsd(unsigned short *samples, size_t size, size_t offset,
	       unsigned int scale);
int profil_irix(unsigned short *buffer, size_t size, size_t offset,
		unsigned int scale);
int sprofil_irix(struct prof *profp, int profcnt, struct timeval *tvp,
		 unsigned int flags);
int sprofil_glibc(struct prof *profp, int profcnt, struct timeval *tvp,
		  unsigned int flags);

int profil_set(struct profil_set *set);
int profil_stop(struct profil_status *last,
		struct profil_region_status *regions, unsigned int max);
int profil_status(struct profil_status *status,
		  struct profil_region_status *regions, unsigned int max);
int profil_info(struct profil_info *info);

const char *profil_state_string(unsigned int state);
const char *profil_region_state_string(unsigned int state);

#ifdef __cplusplus
}
#endif

#endif /* LIBPROFIL_H */
