#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# callgrind.sh DIR: tests that callgrind_annotate reads callgrind.out.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/whole.sh"

needs callgrind_annotate valgrind

write callgrind "$dir/both.callgrind" "$dir/whole.prf" "$dir/again.prf"
check 'what was lost is said, and no more' says_lost "$dir/both.callgrind"
check 'callgrind_annotate does not complain' silent \
	callgrind_annotate --threshold=100 "$dir/both.callgrind"
cp "$dir/silent.out" "$dir/callgrind.txt"

# Lines are: ticks (percent) nanoseconds (percent) file:function [object]
functions()
{
	tr -d , < "$dir/callgrind.txt" |
		sed -nE 's/^ *([0-9]+) *\([^)]*\) +([0-9]+) *\([^)]*\) +[^:]*:([^ ]*) \[.*\]$/\3 \1 \2/p'
}
check 'every function has its ticks and time' agrees functions
check 'totals' has "$dir/callgrind.txt" \
	'^270,963 \(100.0%\) 271,016,000,000 \(100.0%\) +PROGRAM TOTALS'
check 'the source of a function' has "$dir/callgrind.txt" \
	'known.c:pie_alpha \['
check 'lines of the source' has "$dir/callgrind.txt" \
	'^200,668 .*return n \* n \+ 1;'
check 'and others' has "$dir/callgrind.txt" '^ 70,010 .*return n / 3 - 7;'

finish
