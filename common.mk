# SPDX-License-Identifier: GPL-2.0-only
#
# Settings of the library, the tools and the tests.

# Recipes divide these at spaces, as Kbuild does, and use them in several
# directories.
$(foreach name,CURDIR O DESTDIR prefix,$(if $(word 2,[$($(name))]),\
	$(error profil: $(name) is '$($(name))': use a path without spaces)))
$(if $(filter-out /%,$(DESTDIR)),\
	$(error profil: DESTDIR is '$(DESTDIR)': use an absolute path))

# The version of all parts; module/main.c, dkms.conf and the manual pages repeat
# it.
VERSION := 0.1

# Not empty if the compiler builds 64-bit programs for x86: chains of callers are
# for those only.
macros := $(shell $(CC) $(CPPFLAGS) $(CFLAGS) -include limits.h -dM -E -x c \
	    /dev/null 2> /dev/null)
x86_64 := $(and $(filter __x86_64__,$(macros)),$(filter __LP64__,$(macros)))

# Not empty if there is an mcount for programs compiled with -pg: on these machines,
# and with the GNU C library, since others have no gmon.out.
mcount := $(and $(filter __GLIBC__,$(macros)),$(filter __LP64__,$(macros)), \
	    $(filter __x86_64__ __aarch64__ __riscv,$(macros)))

INSTALL ?= install
prefix ?= /usr/local

# A Makefile that installs lists the names of its directories in "directories";
# the variable of each name is a directory, and in_NAME has the files for it.
# Programs go to bindir or libexecdir.
define newline


endef
mode = $(if $(filter bindir libexecdir,$(1)),755,644)
install_files = $(foreach d,$(directories),$(if $(in_$d),\
	$(INSTALL) -d '$(DESTDIR)$($d)'$(newline)\
	$(INSTALL) -m $(call mode,$d) $(in_$d) '$(DESTDIR)$($d)'$(newline)))
uninstall_files = rm -f $(foreach d,$(directories),\
	$(patsubst %,'$(DESTDIR)$($d)/%',$(notdir $(in_$d))))
