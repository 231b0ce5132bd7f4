# SPDX-License-Identifier: GPL-2.0-only
#
# x86_64 is not empty if the compiler makes 64-bit programs for that
# architecture: mcount's stub and the system calls of tools/profil are its own.

x86_64 := $(filter 2,$(shell $(CC) $(CFLAGS) -dM -E -x c /dev/null | \
	    grep -E '__(x86_64|LP64)__' | wc -l))
