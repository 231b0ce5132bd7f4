# SPDX-License-Identifier: GPL-2.0-only
#
# Settings of the library, the tools and the tests.

# The version of all parts; module/main.c, dkms.conf and the manual pages repeat
# it.
VERSION := 0.1

# Not empty if the compiler builds 64-bit programs for x86: only there do
# mcount's stub and profil's system calls in other programs work.
x86_64 := $(filter 2,$(shell $(CC) $(CFLAGS) -dM -E -x c /dev/null | \
	    grep -E '__(x86_64|LP64)__' | wc -l))
