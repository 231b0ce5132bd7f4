#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# check.sh - functions for tests that are scripts, which source this file with the
# directory DIR as their argument. All output goes there, and tests of the tools
# have them there.
#
# The tests use these variables.
# shellcheck disable=SC2034

set -u
# What tests read of programs is English, and Unicode
export LC_ALL=C.UTF-8
unset LANGUAGE
dir=$1
here=$(cd "$(dirname "$0")" 2> /dev/null && pwd -P)
prohist=$dir/tools/prohist
number=0 failed=0

# check NAME COMMAND...: a test that passes if the command succeeds
check()
{
	local name=$1

	shift
	number=$((number + 1))
	if "$@" > "$dir/log" 2>&1; then
		echo "ok $number $name"
	else
		sed 's/^/# /' "$dir/log"
		echo "not ok $number $name"
		failed=1
	fi
}

# prints_nothing COMMAND...: succeeds if the command prints nothing
prints_nothing()
{
	! "$@" 2>&1 | grep .
}

# soon COMMAND...: tries ten times at most while the command returns 1. While the host
# runs others, all ticks fall at one place, or none come; a fault shows each time, but
# one of profil itself may not
soon()
{
	local status _

	for _ in {1..10}; do
		"$@"
		status=$?
		[ "$status" = 1 ] || break
	done
	return "$status"
}

# skip NAME REASON
skip()
{
	number=$((number + 1))
	echo "ok $number $1 # SKIP $2"
}

# Succeeds if there are pseudo-terminals: not without /dev/pts
has_terminals()
{
	python3 -c 'import pty; pty.openpty()' 2> /dev/null
}

# Ends the script, after its last test
finish()
{
	echo "1..$number"
	exit $failed
}

has()
{
	grep -qE -- "$2" "$1" || { cat "$1"; echo "lacks: $2"; return 1; }
}

lacks()
{
	local text

	# A file that is empty or missing lacks everything
	text=$(grep -a '' "$1") || { echo "nothing in $1"; return 1; }
	! grep -E -- "$2" <<< "$text"
}
