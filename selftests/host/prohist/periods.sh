#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# periods.sh DIR: tests that the shares of a sum of files with different periods
# are shares of time, in every format.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/whole.sh"

# Two functions of as much time, one with four times as many ticks
period()
{
	printf 'run %d periods\nimage 1 0 0 0 0 /bin/%s\n' "$1" "$2"
	object 1 555555555000 "$known" "$2" "$3"
}
sides=$dir/periods
rm -rf "$sides"
mkdir -p "$sides"
period 1000000 alpha 1000 | "$dir/compose" "$sides/slow.prf"
period 250000 beta 4000 | "$dir/compose" "$sides/fast.prf"

both()
{
	"$prohist" "$@" "$sides/slow.prf" "$sides/fast.prf"
}

both > "$dir/p.txt"
check 'functions, with the error of the ticks that count most' has "$dir/p.txt" \
	'^ +1000  50\.0 % \+-  1\.7 %  50\.0 %  (#+) alpha \(known\)$'
check 'the other function' has "$dir/p.txt" \
	'^ +4000  50\.0 % \+-  1\.7 % 100\.0 %  (#+) beta \(known\)$'
check 'programs' has "$dir/p.txt" '^ +1000  50\.0 % .* alpha$'
both -n 1 > "$dir/p.txt"
check 'the rest' has "$dir/p.txt" '^ +4000  50\.0 %  \(1 more\)$'
both --lines > "$dir/p.txt"
check 'lines' has "$dir/p.txt" '^ +1000  50\.0 % \+-  1\.7 %'
both --annotate=alpha > "$dir/p.txt"
check 'a listing' has "$dir/p.txt" '^1000 ticks, 50\.0 % \+- 1\.7 % of all'
both --format=csv > "$dir/p.csv"
check 'csv' has "$dir/p.csv" '"alpha",1000,50\.0000,1\.7324,1\.000000000'
both --format=folded > "$dir/p.folded"
check 'folded' has "$dir/p.folded" ';alpha 2500$'
check 'folded, the other function' has "$dir/p.folded" ';beta 2500$'
both --format=gmon > "$dir/p.gmon"
check 'gmon' has <(gprof -bp "$known" "$dir/p.gmon") '^ 50\.00 .*alpha'
needs python3 python3
both --format=html > "$dir/p.html"
check 'html' python3 "$here/page.py" "$dir/p.html" has 1000 50.0 \
	1.7 alpha 4000 50.0 1.7 beta
both --format=svg > "$dir/p.svg"
check 'svg' python3 "$here/svg.py" "$dir/p.svg" texts '50.0 %' '± 1.7' alpha

# times FORMAT: prints the nanoseconds of functions
times()
{
	both --format="$1" | python3 -c "$2" | sort
}
agree()
{
	diff <(printf '%s\n' 'alpha 1000000000' 'beta 1000000000') \
		<(times "$@")
}
check 'json' agree json '
import json, sys
for f in json.load(sys.stdin)["functions"]:
    print(f["name"], f["ns"])'
check 'speedscope' agree speedscope '
import json, sys
file = json.load(sys.stdin)
names = [frame["name"] for frame in file["shared"]["frames"]]
for profile in file["profiles"]:
    for sample, weight in zip(profile["samples"], profile["weights"]):
        print(names[sample[-1]], round(weight))'
check 'callgrind' agree callgrind '
import re, sys
for name, ns in re.findall(r"^fn=(?:\(\d+\) )?(\S+)\n(?:f.=.*\n)*\S+ \d+ (\d+)$",
                           sys.stdin.read(), re.M):
    print(name, ns)'
needs go golang-go
both --format=pprof > "$dir/p.pb.gz"
pprof()
{
	PPROF_TMPDIR=$dir XDG_CONFIG_HOME=$dir go tool pprof -top -unit=ns \
		-sample_index=cpu "$dir/p.pb.gz" 2> /dev/null
}
check 'pprof' has <(pprof) '^ *1000000000ns 50\.00% .* alpha'

# Of items with less than half a tick of the mean period, which is 0.625 s
{
	printf 'run 250000000 small\nimage 1 0 0 0 0 /bin/small\n'
	mapfile -t places < <(printf 'main+%d\n1\n' {0..19})
	object 1 555555555000 "$known" "${places[@]}"
	printf 'object 2 7f0000000000 0 1000 1 - /gone/small\n'
	printf 'bucket %x 1\n' {0..19}
} | "$dir/compose" "$dir/small.prf"
period 1000000000 alpha 40 | "$dir/compose" "$dir/large.prf"
# total FORMAT: prints the sum of the numbers at the ends of lines
total()
{
	"$prohist" --format="$1" "$dir/small.prf" "$dir/large.prf" \
		2> /dev/null | awk '{ sum += $NF } END { print sum }'
}
check 'the sum of folded lines' test "$(total folded)" = 80
check 'that of lines for bolt, of one DSO' test "$(total bolt)" = 72
"$prohist" --format=gmon --output="$dir/p.gmon" "$dir/small.prf" \
	"$dir/large.prf" 2> /dev/null
seconds()
{
	gprof -bp "$known" "$dir/p.gmon" |
		awk '/^ *[0-9.]+ +[0-9]/ { sum += $3 } END { print sum }'
}
# 1.6 ticks in a second are 2 in gmon.out
check 'and that of gmon' test "$(seconds)" = 36

# One side with two periods, the other with one
period 100000 alpha 5000 > "$dir/p"
object 2 7f0000000000 "$known" beta 5000 | sed 's/^object 2/object 1/' >> "$dir/p"
"$dir/compose" "$dir/p.prf" < "$dir/p"
"$prohist" --diff "$sides" "$dir/p.prf" > "$dir/p.txt"
check 'a comparison' has "$dir/p.txt" '^no function changed by more than chance$'
"$prohist" --diff --format=html "$sides" "$dir/p.prf" > "$dir/p.html"
check 'a comparison as a page' python3 "$here/page.py" "$dir/p.html" \
	has 'Beyond chance' 50.0 50.0 +0.0 no
"$prohist" --diff --fail-over=2% "$sides" "$dir/p.prf" > "$dir/p.txt"
check 'a verdict' lacks "$dir/p.txt" ' slower '

# sided NAME ALPHA BETA: makes a profile of two functions with so many ticks
sided()
{
	{
		printf 'run 1000000 sided\nimage 1 0 0 0 0 /bin/sided\n'
		object 1 555555555000 "$known" alpha "$2" beta "$3"
	} | "$dir/compose" "$dir/$1.prf"
}
sided many 99996 4
sided few 999 1
sided more 990 10
"$prohist" --diff "$dir/many.prf" "$dir/few.prf" > "$dir/p.txt"
check 'one tick of a thousand, and four of a hundred thousand' has "$dir/p.txt" \
	'^no function changed by more than chance$'
"$prohist" --diff "$dir/many.prf" "$dir/more.prf" > "$dir/p.txt"
check 'ten of a thousand are a change' has "$dir/p.txt" ' beta \(known\)$'

# What it has left running has its time, too
left_running()
{
	printf 'run 1000000 sh\nused 10000000000\nimage 1 0 0 0 0 /bin/sh\n'
	object 1 555555555000 "$known" alpha 44000 beta "$1"
	printf 'stated %d %d000000 %d000000\n' $((44000 + $1)) $((44000 + $1)) \
		$((44000 + $1))
}
left_running 66000 | "$dir/compose" "$dir/p.prf"
left_running 70000 | "$dir/compose" "$dir/q.prf"
check 'what is left running has its time in the whole' status 0 --diff \
	--fail-over=5% "$dir/p.prf" "$dir/q.prf"

# Half of the time, by a file with few ticks of a long period
{
	printf 'run 100000 lossless\nimage 1 0 0 0 0 /bin/lossless\n'
	object 1 555555555000 "$known" alpha 1000000
} | "$dir/compose" "$dir/p.prf"
printf 'run 100000000 lossy\nimage 1 0 0 1000 0 /bin/lossy\n' |
	"$dir/compose" "$dir/q.prf"
"$prohist" "$dir/p.prf" "$dir/q.prf" > "$dir/p.txt"
check 'time without ticks is that of each file' has "$dir/p.txt" \
	'50\.0 % of the CPU time has no ticks'

finish
