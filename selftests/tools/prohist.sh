#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# prohist.sh DIR: what prohist prints of profiles whose ticks are known. DIR has
# prohist, synthesize and known, and takes what is written. Output is KTAP.
#
# Functions are called by way of check.
# shellcheck disable=SC2317

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

# The name of a function, as an offset from the start of the program's text
offset()
{
	local address

	address=$((16#$(nm "$1" | awk -v name="$2" '$3 == name { print $1 }')))
	printf '%x' $((address - vaddr))
}

# Offset, address and size of the program's text, and its build-id
examine()
{
	local numbers

	read -ra numbers < <(readelf -lW "$1" |
		awk '$1 == "LOAD" && / R E / { print $2, $3, $5 }')
	pgoff=$((numbers[0])) vaddr=$((numbers[1])) size=$((numbers[2]))
	build_id=$(readelf -n "$1" | sed -n 's/.*Build ID: //p')
}

# make FILE PROGRAM ALPHA BETA INNER: ticks for each
make()
{
	local -a buckets

	read -rd '' -a buckets < <(printf '%s %s\n' \
		"$(offset "$known" alpha)" "$3" \
		"$(offset "$known" beta)" "$4" \
		"$(offset "$known" _ZN5outer5innerEi)" "$5" | sort)
	"$dir/synthesize" "$1" "$2" "${ID-$build_id}" \
		"$(printf '%x' $pgoff)" "$(printf '%x' $size)" "${buckets[@]}"
}

has()
{
	grep -qE -- "$2" "$1" || { cat "$1"; echo "lacks: $2"; return 1; }
}

lacks()
{
	! grep -E -- "$2" "$1"
}

examine "$known"
make "$dir/a.prf" "$known" 600 300 85
"$prohist" "$dir/a.prf" > "$dir/a.txt"
check 'text is printed' test $? = 0
check 'CPU time is that of the ticks' has "$dir/a.txt" \
	'CPU time: 1.002 s by the kernel, 1.002 s covered, 1.002 s by ticks \(100.0 %\)'
check 'clock and period' has "$dir/a.txt" 'clock: perf .*, period 1.000000 ms'
check 'all ticks' has "$dir/a.txt" '^ +ticks +1002 '
check 'the reckoning adds up' has "$dir/a.txt" 'left out: yes'
check 'what was not reached' has "$dir/a.txt" \
	'not reached: /bin/unreached: it is static'
check 'the program' has "$dir/a.txt" '^ +985  98.5 %  #+ +program$'
check 'the kernel' has "$dir/a.txt" '^ +10   1.0 % .*kernel \(I/O\)$'
check 'elsewhere' has "$dir/a.txt" '^ +5   0.5 % .*elsewhere \(high\)$'
check 'the first function' has "$dir/a.txt" \
	'^ +600  60.0 % \+-  3.0 %  60.0 %  #{10} alpha \(known\)$'
check 'the second function' has "$dir/a.txt" \
	'^ +300  30.0 % \+-  2.8 %  90.0 %  #{5} +beta \(known\)$'
check 'a name of C++' has "$dir/a.txt" ' 85 .* outer::inner\(int\) \(known\)$'
check 'all functions are 100 %' has "$dir/a.txt" \
	'^ +5 .* 100.0 % .*\[elsewhere\]$'
check 'plain when piped' lacks "$dir/a.txt" $'\033'

objects()
{
	awk '/by object/ { on = 1 } /by function/ { on = 0 }
	     on && /\((DOS|I\/O|high)\)$| program$/ { sum += $1 }
	     END { exit sum != 1000 }' "$dir/a.txt"
}
check 'the classes add up' objects

"$prohist" -n 1 "$dir/a.prf" > "$dir/top.txt"
check 'the rest is one line' has "$dir/top.txt" '^ +400  40.0 %  \(4 more\)$'

"$prohist" "$dir/a.prf" "$dir/a.prf" > "$dir/two.txt"
check 'two files are added' has "$dir/two.txt" '^ +1200  60.0 % .* alpha'

"$prohist" --format=folded "$dir/a.prf" > "$dir/a.folded"
check 'folded' has "$dir/a.folded" '^known;known;alpha 600$'

"$prohist" --buckets "$dir/a.prf" > "$dir/a.buckets"
check 'buckets' has "$dir/a.buckets" '^ +600 0x[0-9a-f]+ .* 60.9 %  #+$'
check 'buckets of the kernel' has "$dir/a.buckets" '^ +10 hits in the kernel'

json()
{
	python3 - "$dir/a.json" <<- 'END'
		import json, sys
		profile = json.load(open(sys.argv[1], encoding="utf-8"))
		ticks = sum(f["ticks"] for f in profile["functions"])
		assert ticks == sum(o["ticks"] for o in profile["objects"]) == 1000
		assert profile["reckoning"]["adds_up"]
		assert profile["not_reached"][0]["reason"] == "it is static"
	END
}
"$prohist" --format=json "$dir/a.prf" > "$dir/a.json"
if command -v python3 > /dev/null; then
	check 'json' json
else
	number=$((number + 1))
	echo "ok $number json # SKIP there is no python3"
fi

make "$dir/b.prf" "$known" 480 420 85
make "$dir/c.prf" "$known" 610 290 85
"$prohist" --diff "$dir/a.prf" "$dir/b.prf" > "$dir/b.diff"
check 'a change is found' has "$dir/b.diff" \
	'60.0 % +48.0 % +-12.0 %  alpha \(known\)$'
check 'and the other' has "$dir/b.diff" \
	'30.0 % +42.0 % +\+12.0 %  beta \(known\)$'
check 'and nothing else' lacks "$dir/b.diff" 'inner|kernel|elsewhere'
"$prohist" --diff "$dir/a.prf" "$dir/c.prf" > "$dir/c.diff"
check 'chance is not a change' has "$dir/c.diff" 'no function changed'

ID=00112233 make "$dir/d.prf" "$known" 600 300 85
"$prohist" "$dir/d.prf" > "$dir/d.txt"
check 'another build-id is said' has "$dir/d.txt" 'its build-id differs'
check 'and names are not used' lacks "$dir/d.txt" 'alpha'

make "$dir/e.prf" /nonexistent/known 600 300 85
"$prohist" "$dir/e.prf" > "$dir/e.txt"
check 'a missing file is said' has "$dir/e.txt" 'cannot be read'
check 'its code has addresses' has "$dir/e.txt" ' known\+0x[0-9a-f]+ '

strip -o "$dir/stripped" "$known"
make "$dir/f.prf" "$dir/stripped" 600 300 85
"$prohist" "$dir/f.prf" > "$dir/f.txt"
check 'stripped code goes by functions' has "$dir/f.txt" \
	" 600 .* stripped\\+0x0*$(printf '%x' $((vaddr + 16#$(offset "$known" alpha)))) "

# Clock 1000, 8 buckets of 2 paragraphs from 0x100 to 0x110, DOS from 0x40;
# 3 I/O, 4 DOS, 65535 high; the last bucket is zero
printf '%b' '\xe8\x03\x08\0\x02\0\0\x01\x10\x01\x40\0\x03\0\x04\0\xff\xff' \
	'\x01\0\0\0\0\0\0\0\x02\0\x01\0\0\0\0\0' > "$dir/dos.PRF"
"$prohist" "$dir/dos.PRF" | tail -n +2 > "$dir/dos.txt"
check 'a file of MS-DOS' diff "$here/dos.txt" "$dir/dos.txt"
printf '%b' '\xe8\x03\x01\0\x02\0\0\x01\x10\x01\x40\0\x03\0\x04\0\x05\0\0\0' \
	> "$dir/zero.PRF"
check 'one without hits' "$prohist" "$dir/zero.PRF"

status()
{
	local wanted=$1

	shift
	"$prohist" "$@"
	[ $? = "$wanted" ]
}
check 'status of a missing file' status 1 "$dir/nothing.prf"
check 'status of another file' status 1 "$known"
check 'status of a bad option' status 2 --nothing
check 'status without files' status 2
check 'status of contradictions' status 2 --buckets --format=json "$dir/a.prf"
full()
{
	"$prohist" "$dir/a.prf" > /dev/full
	[ $? = 1 ]
}
check 'status of a full disk' full
check 'help' status 0 --help
check 'version' status 0 --version

echo "1..$number"
exit $failed
