// SPDX-License-Identifier: GPL-2.0-only
/*
 * syscalls.c - names of system calls by their numbers
 *
 * The Makefile makes the tables from the compiler's headers.
 */
#include "profil/waits.h"

const char * const syscalls_64[NR_SYSCALLS] = {
#include "profil/syscalls_64.inc"
};

const char * const syscalls_32[NR_SYSCALLS] = {
#include "profil/syscalls_32.inc"
};
