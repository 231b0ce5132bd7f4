#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# check.sh - functions for the tests of prohist, which source this file. DIR is
# the directory of prohist, synthesize and known, and of all output.
#
# The tests use these variables.
# shellcheck disable=SC2034

# shellcheck source=selftests/lib/check.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../lib/check.sh"

# Those that describe and synthesize read, unless a test sets them
unset ID SYMBOLS BUCKET COMMAND START

known=$dir/known

# status STATUS ARGUMENT...: succeeds if prohist exits with this status
status()
{
	local wanted=$1

	shift
	"$prohist" "$@"
	[ $? = "$wanted" ]
}

# offset FILE FUNCTION: prints the offset of a function from the start of the
# text that examine has found
offset()
{
	local address

	address=$((16#$(nm "$1" | awk -v name="$2" '$3 == name { print $1 }')))
	printf '%08x' $((address - vaddr))
}

# examine FILE: finds the offset, address and size of a program's text, and its
# build ID
examine()
{
	local numbers

	read -ra numbers < <(readelf -lW "$1" |
		awk '$1 == "LOAD" && / R E / { print $2, $3, $5 }')
	pgoff=$((numbers[0])) vaddr=$((numbers[1])) size=$((numbers[2]))
	build_id=$(readelf -n "$1" | sed -n 's/.*Build ID: //p')
}

# describe PATH [FUNCTION TICKS]...: sets described to arguments of synthesize
# for the DSO that was examined last, with the symbols of the file SYMBOLS
# (default: PATH) and the build ID $ID (default: its own)
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

# make FILE PROGRAM ALPHA BETA INNER: writes a profile with so many ticks in
# three functions of a program
make()
{
	SYMBOLS=$known describe "$2" alpha "$3" beta "$4" _ZN5outer5innerEi "$5"
	"$dir/synthesize" "$1" "${described[@]}"
}

examine "$known"
