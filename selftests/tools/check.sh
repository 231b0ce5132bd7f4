#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# check.sh - what the tests of prohist have in common; read by each of them
# with DIR, which has prohist, synthesize and known, and takes what is written.
#
# Variables are used by those who read this.
# shellcheck disable=SC2034

set -u
dir=$1
here=$(cd "$(dirname "$0")" && pwd -P)
prohist=$dir/tools/prohist
known=$dir/known
number=0 failed=0

# check NAME COMMAND...: a test that is passed if the command succeeds
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

# skip NAME WHY
skip()
{
	number=$((number + 1))
	echo "ok $number $1 # SKIP $2"
}

# Can terminals be had here? Not where /dev/pts is missing.
has_terminals()
{
	python3 -c 'import pty; pty.openpty()' 2> /dev/null
}

# After the last test
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
	! grep -E -- "$2" "$1"
}

# status WANTED ARGUMENT...: prohist ends so
status()
{
	local wanted=$1

	shift
	"$prohist" "$@"
	[ $? = "$wanted" ]
}

# The name of a function, as an offset from the start of the text of what was
# examined
offset()
{
	local address

	address=$((16#$(nm "$1" | awk -v name="$2" '$3 == name { print $1 }')))
	printf '%08x' $((address - vaddr))
}

# Offset, address and size of a program's text, and its build-id
examine()
{
	local numbers

	read -ra numbers < <(readelf -lW "$1" |
		awk '$1 == "LOAD" && / R E / { print $2, $3, $5 }')
	pgoff=$((numbers[0])) vaddr=$((numbers[1])) size=$((numbers[2]))
	build_id=$(readelf -n "$1" | sed -n 's/.*Build ID: //p')
}

# describe PATH [FUNCTION TICKS]...: in the variable described, what synthesize
# wants to know of the object that was examined last. It has the symbols in
# the file SYMBOLS, and is said to have the build-id ID.
describe()
{
	local path=$1 symbols=${SYMBOLS-$1} buckets=''

	shift
	while [ $# != 0 ]; do
		buckets+="$(offset "$symbols" "$1") $2"$'\n'
		shift 2
	done
	read -rd '' -a buckets < <(printf '%s' "$buckets" | sort)
	described=("$path" "${ID-$build_id}" "$(printf '%x' $pgoff)"
		"$(printf '%x' $size)" "${buckets[@]}")
}

# make FILE PROGRAM ALPHA BETA INNER: ticks for each
make()
{
	SYMBOLS=$known describe "$2" alpha "$3" beta "$4" _ZN5outer5innerEi "$5"
	"$dir/synthesize" "$1" "${described[@]}"
}

examine "$known"
