#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# whole.sh - profiles with every feature, and the results that every reader must
# find in them. The tests of output formats for other programs source this file.
#
# One process with two execs; the second has a library where the first had its
# program. Counts above 65535, a missing DSO, code without a file, ticks in the
# kernel and outside all DSOs, a program that was not profiled. The other
# profile is of a second run of the first program, with another period.
#
# The tests use these variables.
# shellcheck disable=SC2034

# shellcheck source=selftests/host/prohist/check.sh
. "${BASH_SOURCE[0]%/*}/check.sh"

pie=$dir/pie
fixed=$dir/fixed
library=$dir/libown.so

# object KIND START FILE [FUNCTION[+BYTES] TICKS]...: prints lines for compose,
# with the build ID $ID (default: the file's)
object()
{
	local kind=$1 start=$2 file=$3 address bytes

	examine "$file"
	printf 'object %d %s %x %x 1 %s %s\n' "$kind" "$start" $pgoff $size \
		"${ID-$build_id}" "$file"
	shift 3
	while [ $# != 0 ]; do
		address=$(offset "$file" "${1%+*}")
		bytes=${1#"${1%+*}"}
		printf 'bucket %08x %d\n' $((16#$address + ${bytes:-0})) "$2"
		shift 2
	done | sort
}

# run_whole PERIOD: describes the first run
run_whole()
{
	printf 'run %d whole --of it\n' "$1"
	echo 'host 8 6 elsewhere.example 6.1.0-test x86_64'
	printf 'image 100 10 5 2 0 %s\n' "$pie"
	object 1 555555555000 "$pie" pie_alpha 600 pie_beta 70000 \
		_ZN5outer5innerEi 85 _ZN5outer5innerEi+2 5
	object 2 7f0000001000 "$library" own_alpha 200000 own_beta 1
	cat <<- 'END'
		object 2 7f1000001000 1000 2000 4 0123456789 /nonexistent/libgone.so
		bucket 40 40
		object 4 7fff00000000 0 2000 4 - [vdso]
		bucket 0 30
		object 5 7e0000000000 0 1000 4 - [anonymous]
		bucket 10 80
		object 5 0 0 80000000 2147483648 - [elsewhere]
		bucket 0 7
	END
	printf 'image 100 0 0 0 20 %s\n' "$fixed"
	object 1 401000 "$fixed" fixed_alpha 7 fixed_beta 9
	object 2 555555555000 "$library" own_alpha 11
	echo 'unreached /bin/unreached it is set-user-ID'
}

# run_again PERIOD: describes the second run
run_again()
{
	printf 'run %d whole again\n' "$1"
	printf 'image 200 3 0 0 0 %s\n' "$pie"
	object 1 561111111000 "$pie" pie_alpha 50
}

run_whole 1000000 | "$dir/compose" "$dir/whole.prf"
run_again 2000000 | "$dir/compose" "$dir/again.prf"

# Functions of both runs, with ticks and nanoseconds
sort > "$dir/both.txt" <<- 'END'
	pie_alpha 650 700000000
	pie_beta 70000 70000000000
	outer::inner(int) 90 90000000
	own_alpha 200011 200011000000
	own_beta 1 1000000
	libgone.so+0x1040 40 40000000
	fixed_alpha 7 7000000
	fixed_beta 9 9000000
	[vdso] 30 30000000
	[anonymous] 80 80000000
	[elsewhere] 12 12000000
	[kernel] 33 36000000
END

# write FORM FILE OPTION...: writes a format to FILE, and messages to FILE.said
write()
{
	local form=$1 file=$2

	shift 2
	"$prohist" --format="$form" -o "$file" "$@" 2> "$file.said"
}

# agrees COMMAND...: succeeds if the output is both.txt, in any order of lines
agrees()
{
	"$@" | sort | diff "$dir/both.txt" -
}

# needs PROGRAM PACKAGE: fails the test if a reader is missing
needs()
{
	command -v "$1" > /dev/null && return
	number=$((number + 1))
	echo "# $1 is missing: run selftests/bin/setup, or install $2"
	echo "not ok $number $2"
	failed=1
	finish
}

# silent COMMAND...: succeeds if the command does, without any message
silent()
{
	"$@" 2> "$dir/silent" > "$dir/silent.out" || return
	! grep . "$dir/silent"
}

# says_lost FILE: succeeds if the only message is on stats for which no format
# of other programs has a place
says_lost()
{
	diff "$1.said" - <<- 'END'
		prohist: 1 program was not profiled; --format=text says why
	END
}
