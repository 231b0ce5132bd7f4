# SPDX-License-Identifier: GPL-2.0-only
#
# What the Makefiles of the tests on the host have in common. Each sets TESTS, and
# perhaps "around", which precedes the command of a test in the shell.
#
#	make [all]	build the tests
#	make run	run them, each with a KTAP report; fail if any fails
#	make list	print their names; TESTS='NAME...' selects some
#
# O is the build directory. The harness is the kernel's, which
# selftests/bin/setup extracts from the kernel source package.

O ?= ../../../build

export LC_ALL := C.UTF-8
unexport LANGUAGE

CFLAGS ?= -O1 -g
CLANG ?= clang
out := $(abspath $(O))/selftests/host/$(notdir $(CURDIR))
kselftest := $(O)/linux/tools/testing/selftests
sanitize := -fsanitize=address,undefined -fno-sanitize-recover=all
# The harness compares signed with unsigned numbers, and has unused parameters.
flags := -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare \
	 -I.. -I$(kselftest)
# The headers in lib/kernel replace the kernel's, so they come first.
pure := -I../../../lib/kernel -iquote ../../../module

# Not empty if the compiler has 32-bit libraries, with these flags
compiles_32 = $(shell echo 'int main(void) { return 0; }' | \
	$(CC) -m32 $(1) -x c -o /dev/null - 2> /dev/null && echo yes)

# Not empty if there is such a header
has = $(shell echo '\#include <$(1)>' | $(CC) -E -o /dev/null -x c - \
	2> /dev/null && echo yes)

all:

$(out):
	mkdir -p $@

# The tools with sanitizers, in $(out)/tools: one build for all directories, which
# may be made at the same time. Their Makefile finds out what is out of date.
tools: | $(out)
	@flock $(dir $(out)) $(MAKE) -C ../../../tools O=$(dir $(out))sanitized \
		CFLAGS='$(CFLAGS) $(sanitize)' LDFLAGS=
	@ln -sfn ../sanitized/tools $(out)/tools

list:
	@printf '%s\n' $(TESTS)

# Runs all tests even if some fail, and prints the name of each before its report.
run:
	@failed=0; \
	for test in $(TESTS); do \
		echo "# $$test"; \
		case $$test in \
		*.sh)	set -- ./$$test $(out) ;; \
		*)	set -- $(out)/$$test ;; \
		esac; \
		$(around) "$$@" || failed=1; \
	done; \
	exit $$failed

clean:
	rm -rf $(out)

.PHONY: all tools list run clean
