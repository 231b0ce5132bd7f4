#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# svg.sh DIR: tests the picture of a profile, with svg.py.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/check.sh
. "$(dirname "$0")/check.sh"

picture()
{
	python3 "$here/svg.py" "$@"
}

make "$dir/svg.prf" "$known" 600 300 85
"$prohist" --format=svg "$dir/svg.prf" > "$dir/a.svg"
if ! command -v python3 > /dev/null; then
	skip 'the picture' 'python3 is missing'
	finish
fi
check 'a picture' picture "$dir/a.svg" command known
check 'CPU time, ticks and clock' picture "$dir/a.svg" texts '1.002 s' \
	'1.002 s (100.0 %)' 1002 '1.000000 ms' 'perf (kernel module)'
check 'the classes' picture "$dir/a.svg" texts 'program 98.5 % 985' \
	'libraries 0.0 % 0' 'kernel 1.0 % 10' \
	'other 0.5 % 5'
check 'functions with percent and error' picture "$dir/a.svg" texts \
	'60.0 %' '± 3.0' 600 alpha '30.0 %' '± 2.8' 300 beta \
	'8.5 %' '± 1.7' 85 'outer::inner(int)'
check 'columns of the strip' picture "$dir/a.svg" columns \
	alpha=1200 beta=600 'outer::inner(int)=170'
check 'their heat' picture "$dir/a.svg" heats alpha=h5 beta=h5 \
	'outer::inner(int)=h4'
check 'what was lost and not profiled' picture "$dir/a.svg" texts \
	'5 ticks outside, outside all regions' \
	'2 ticks lost, not counted: pending at the end, or counter not writable' \
	'not profiled: /bin/unreached: it is static'
check 'light and dark' grep -q prefers-color-scheme:dark "$dir/a.svg"
check 'nothing from elsewhere' picture "$dir/a.svg" alone

# One tick in 1.5 MB; many functions side by side, and some almost as far apart
# as their names are wide; a library with a few ticks
big=(/nonexistent/big.so '' 0 180000 10 1)
for ((i = 0; i < 40; i++)); do
	big+=("$(printf '%x' $((0x90000 + 16 * i)))" $((50 + i)))
done
for ((i = 0; i < 5; i++)); do
	big+=("$(printf '%x' $((0xd0000 + 0x20000 * i)))" $((100 + i)))
done
small=(/nonexistent/small.so '' 0 1000 0 5)
"$dir/synthesize" "$dir/b.prf" "${described[@]}" -- "${big[@]}" -- \
	"${small[@]}"
"$prohist" --format=svg "$dir/b.prf" > "$dir/b.svg"
check 'the numbers of a big picture' picture "$dir/b.svg" columns big.so+0x10=1
check 'nothing is too small to be seen' picture "$dir/b.svg" seen
check 'flags do not overlap' picture "$dir/b.svg" flags
check 'names do not overlap' picture "$dir/b.svg" names
check 'objects of few ticks are listed' picture "$dir/b.svg" texts \
	'other DSOs' /nonexistent/small.so

# Names that contain markup
evil=$'</title></svg><script>alert(1)</script> & "\'\x01\x1b \xff \xef\xbf\xbf \xc2\x9b'
COMMAND=$evil "$dir/synthesize" "$dir/c.prf" "/tmp/$evil" '' 0 1000 10 500
"$prohist" --format=svg "$dir/c.prf" > "$dir/c.svg"
shown=$(printf '%b' '</title></svg><script>alert(1)</script> & "'\'\
'\ufffd\ufffd \ufffd \ufffd \ufffd')
check 'hostile names are names' picture "$dir/c.svg" command "$shown"
check 'and nothing else' picture "$dir/c.svg" alone

# Addresses at the end of the address space
"$dir/synthesize" "$dir/d.prf" /nonexistent '' fffffffffffff000 1000 0 7
check 'absurd addresses' "$prohist" --format=svg "$dir/d.prf"

# No ticks at all
"$dir/synthesize" "$dir/d.prf" /nonexistent '' 0 1000
"$prohist" --format=svg "$dir/d.prf" > "$dir/d.svg"
check 'a profile without objects' picture "$dir/d.svg" command known

finish
