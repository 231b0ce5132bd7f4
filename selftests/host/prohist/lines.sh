#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# lines.sh DIR: tests ticks by source line.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/check.sh
. "$(dirname "$0")/check.sh"

# line FUNCTION: prints the line where the function begins, by its debug info
line()
{
	addr2line -e "$known" "$(printf '%x' \
		$((vaddr + 16#$(offset "$known" "$1"))))"
}

# Without .debug_aranges, prohist must search all compilation units
clang=$dir/known-clang
examine "$clang"
describe "$clang" alpha 600 beta 300
"$dir/synthesize" "$dir/lines.prf" "${described[@]}"
"$prohist" --lines "$dir/lines.prf" > "$dir/lines.txt"
check 'clang writes no table' lacks <(readelf -SW "$clang") debug_aranges
check 'a line of what it made' has "$dir/lines.txt" \
	" 600 .* $(known=$clang line alpha) \\(known-clang\\)$"
check 'and another of that' has "$dir/lines.txt" \
	" 300 .* $(known=$clang line beta) \\(known-clang\\)$"
examine "$known"

make "$dir/lines.prf" "$known" 600 300 85
program=("${described[@]}")
alpha=$(line alpha) beta=$(line beta) delta=$(offset "$known" delta)
library=$dir/libnames.so
examine "$library"
describe "$library" _ZN5outer5innerEi 40 _RNvCskwGfYPst2Cb_5crate4work 30
"$dir/synthesize" "$dir/lines.prf" "${program[@]}" -- "${described[@]}"
"$prohist" --lines "$dir/lines.prf" > "$dir/lines.txt"

check 'the summary' has "$dir/lines.txt" ' 1072 ticks, '
check 'a line of the source' has "$dir/lines.txt" \
	"^ +600  56.1 % \\+-  3.0 %  56.1 %  #{10} $alpha \\(known\\)$"
check 'and another' has "$dir/lines.txt" \
	"^ +300  28.0 % \\+-  2.7 %  84.1 %  #{5} +$beta \\(known\\)$"
check 'the lines are those of the source' grep -q 'return n \* n' \
	<(sed -n "${alpha##*:}p" "$here/known.c")
check 'what has no line' has "$dir/lines.txt" \
	'^ +70 .* no line is known \(libnames.so\)$'
check 'nor has the kernel' has "$dir/lines.txt" \
	'^ +10 .* no line is known \(\[kernel\]\)$'
check 'buckets of one line each' lacks "$dir/lines.txt" 'buckets that'

all()
{
	"$prohist" --lines --top=0 "$1" | awk '/by source/ { on = 1 }
		on && / \+- / { sum += $1 } END { exit sum != '"$2"' }'
}
check 'no tick is missing' all "$dir/lines.prf" 1070

"$prohist" -l -n 1 "$dir/lines.prf" > "$dir/lines.txt"
check 'the rest is one line' has "$dir/lines.txt" '^ +470  43.9 %  \(5 more\)$'

BUCKET=64 "$dir/synthesize" "$dir/lines.prf" "${program[@]:0:4}" \
	"$delta" 700
"$prohist" --lines "$dir/lines.prf" > "$dir/lines.txt"
check 'buckets of several lines are said' has "$dir/lines.txt" \
	'^700 ticks \(97.9 %\) are in buckets shared by several lines'
check 'their ticks are counted' all "$dir/lines.prf" 715

finish
