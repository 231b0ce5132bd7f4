/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * api.h - <profil.h> compiles alone, beside <sys/profil.h>, and twice
 *
 * Nothing to run. The assignments show that the headers declare every name of
 * the library, and that functions can have the same names as structures.
 */
#include <profil.h>
#include <profil.h>

int (*const set)(struct profil_set *) = profil_set;
int (*const stop)(struct profil_status *, struct profil_region_status *,
		  unsigned int) = profil_stop;
int (*const status)(struct profil_status *, struct profil_region_status *,
		    unsigned int) = profil_status;
int (*const info)(struct profil_info *) = profil_info;
const char *(*const state)(unsigned int) = profil_state_string;
const char *(*const region_state)(unsigned int) = profil_region_state_string;
void (*const svr4)(unsigned short *, size_t, size_t, unsigned int) =
	profil_svr4;
int (*const bsd)(unsigned short *, size_t, size_t, unsigned int) = profil_bsd;
int (*const irix)(unsigned short *, size_t, size_t, unsigned int) =
	profil_irix;
int (*const several_of_irix)(struct prof *, int, struct timeval *,
			     unsigned int) = sprofil_irix;
int (*const several_of_glibc)(struct prof *, int, struct timeval *,
			      unsigned int) = sprofil_glibc;
int (*const sprofil_of_libc)(struct prof *, int, struct timeval *,
			     unsigned int) = sprofil;
int (*const watch_open)(struct profil_watch *) = profil_watch_open;
const struct profil_watch_table *(*const watch_map)(
	int, const struct profil_watch *) = profil_watch_map;
void (*const watch_unmap)(const struct profil_watch_table *,
			  const struct profil_watch *) = profil_watch_unmap;
int (*const watch_status)(int, struct profil_watch_status *) =
	profil_watch_status;
int (*const watch_stop)(int, struct profil_watch_status *) = profil_watch_stop;
const struct profil_watch_image *(*const watch_image)(
	const struct profil_watch_table *, unsigned int) = profil_watch_image;
const struct profil_watch_object *(*const watch_object)(
	const struct profil_watch_table *, unsigned int) = profil_watch_object;
const char *(*const watch_path)(
	const struct profil_watch_table *,
	const struct profil_watch_object *) = profil_watch_path;
const struct profil_watch_bucket *(*const watch_next)(
	const struct profil_watch_table *, size_t *) = profil_watch_next;
unsigned int (*const watch_chain)(
	const struct profil_watch_table *, const struct profil_watch_bucket *,
	const struct profil_watch_bucket **, unsigned int) = profil_watch_chain;
int (*const watch_unwind)(int, int, const void *, size_t) = profil_watch_unwind;
int (*const watch_collect)(int, struct profil_watch_status *) =
	profil_watch_collect;
