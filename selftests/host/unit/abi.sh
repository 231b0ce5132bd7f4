#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# abi.sh - compiles abi.h and api.h with several compilers and languages
#
# Takes CC and CXX from the environment, and must run in its own directory.
# Skips a test if the compiler is missing. Prints KTAP.

: "${CC:=cc}" "${CXX:=c++}"
failed=0
nr=0

# works COMPILER FLAGS...: succeeds if the compiler works
works()
{
	# Includes a header of the C library: with -m32, it may be missing
	echo '#include <errno.h>' | "$@" -fsyntax-only - 2> /dev/null
}

# accepts COMPILER FLAGS...: succeeds if $source compiles without a warning
accepts()
{
	"$@" -Wall -Wextra -Werror -pedantic-errors -fsyntax-only \
		-I../../../uapi -I../../../lib "$source"
}

# check LANGUAGE COMPILER FLAGS...
check()
{
	language=$1
	shift
	for source in abi.h api.h; do
		nr=$((nr + 1))
		if ! works "$@" -x "$language"; then
			echo "ok $nr $source: $* # SKIP compiles nothing here"
		elif accepts "$@" -x "$language"; then
			echo "ok $nr $source: $*"
		else
			echo "not ok $nr $source: $*"
			failed=1
		fi
	done
}

echo "TAP version 13"
echo "1..14"
check c "$CC" -std=c90
check c "$CC" -std=gnu17
check c "$CC" -std=c90 -m32
check c clang -std=c90
check c++ "$CXX" -std=c++98
check c++ "$CXX" -std=c++20
check c++ "$CXX" -std=c++98 -m32
exit $failed
