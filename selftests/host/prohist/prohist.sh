#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# prohist.sh DIR: tests the text reports of profiles with known ticks.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/check.sh
. "$(dirname "$0")/check.sh"

make "$dir/a.prf" "$known" 600 300 85
"$prohist" "$dir/a.prf" > "$dir/a.txt"
check 'the answer comes first' diff - <(sed 6q "$dir/a.txt") <<- 'END'
	known: 1.002 s of CPU time, 1002 ticks, period 1.000 ms, perf (kernel module)
	lost: 2 ticks not counted: pending at the end, or counter not writable
	not profiled: /bin/unreached: it is static

	     ticks percent     error  so far  by function
	       600  60.0 % +-  3.0 %  60.0 %  ########## alpha (known)
END
printf 'run 1000000 quiet\nimage 1 0 0 0 0 /bin/quiet\n%s\nbucket 0 9\n' \
	'object 5 1000 0 1000 4 - [anonymous]' | "$dir/compose" "$dir/quiet.prf"
check 'and nothing else that need not be' diff - <("$prohist" "$dir/quiet.prf") <<- 'END'
	quiet: 0.009 s of CPU time, 9 ticks, period 1.000 ms, perf (kernel module)

	     ticks percent     error  so far  by function
	         9 100.0 % +-  0.0 % 100.0 %  ########## [anonymous]
END
"$prohist" --stats "$dir/a.prf" > "$dir/a.txt"
check 'text is printed' test $? = 0
check 'CPU time is that of the ticks' has "$dir/a.txt" \
	'CPU time: 1.002 s by the kernel, 1.002 s covered, 1.002 s by ticks \(100.0 % of covered\)'
check 'clock and period' has "$dir/a.txt" 'clock: perf .*, period 1.000000 ms'
check 'all ticks' has "$dir/a.txt" '^ +ticks +1002 '
check 'what became of lost ticks' has "$dir/a.txt" \
	'^ +lost +2  not counted: pending at the end, or counter not writable$'
check 'the summary adds up' has "$dir/a.txt" 'unresolved: yes'
check 'what was not profiled' has "$dir/a.txt" \
	'not profiled: /bin/unreached: it is static'
check 'the program' has "$dir/a.txt" '^ +985  98.5 %  #+ +program$'
check 'the kernel' has "$dir/a.txt" '^ +10   1.0 % .*kernel$'
check 'other' has "$dir/a.txt" '^ +5   0.5 % .*other$'
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
	awk '/by DSO/ { on = 1 }
	     on && / (program|libraries|kernel|other)$/ { sum += $1 }
	     END { exit sum != 1000 }' "$dir/a.txt"
}
check 'the classes add up' objects

"$prohist" -n 1 "$dir/a.prf" > "$dir/top.txt"
check 'the rest is one line' has "$dir/top.txt" '^ +400  40.0 %  \(4 more\)$'

"$dir/synthesize" "$dir/many.prf" /p '' 0 1000 10 500 -- /l1 '' 0 1000 10 50 -- \
	/l2 '' 0 1000 10 30 -- /l3 '' 0 1000 10 5
libraries()
{
	"$prohist" "$@" "$dir/many.prf" | sed -n '/libraries$/,/kernel$/p' |
		awk '/%/ { print $1, $NF }' | sed '1d; $d'
}
check 'and so is that of DSOs, for each class' \
	diff <(libraries --top=1) <(printf '%s\n' '50 /l1' '35 more)')
check 'unless there is none' \
	diff <(libraries --top=3) <(printf '%s\n' '50 /l1' '30 /l2' '5 /l3')

"$prohist" "$dir/a.prf" "$dir/a.prf" > "$dir/two.txt"
check 'two files are added' has "$dir/two.txt" '^ +1200  60.0 % .* alpha'

"$prohist" --buckets "$dir/a.prf" > "$dir/a.buckets"
check 'buckets' has "$dir/a.buckets" '^ +600 0x[0-9a-f]+ .* 60.9 %  #+$'
check 'buckets of the kernel' has "$dir/a.buckets" '^ +10 hits in the kernel'

# A path stands for several DSOs if the file was replaced, and for two if it is
# a program and a library. One build-id is the beginning of another, and one is as
# long as that.
make "$dir/id.prf" "$known" 100 10 1
ID=${build_id:0:4} make "$dir/id1.prf" "$known" 200 20 2
ID=$(tr 0-9a-f 1-9a-f0 <<< "${build_id:0:4}") make "$dir/id2.prf" "$known" 400 40 4
program=(/other '' 0 1000 10 7)
describe "$known" alpha 800
"$dir/synthesize" "$dir/id3.prf" "${program[@]}" -- "${described[@]}"
"$prohist" "$dir"/id{,1,2,3,,1,2,3}.prf > "$dir/id.txt"
dsos()
{
	diff - <(awk -v path="$known" '/by DSO/ { on = 1 }
		on && $NF == path { print $1 }' "$dir/id.txt") <<< "$1"
}
check 'DSOs of one path' dsos $'888\n444\n222\n1600'

# A path in a profile may be that of a pipe, on which open() may wait forever
mkfifo "$dir/fifo"
for path in "$dir/fifo" /dev/zero /proc/kmsg; do
	"$dir/synthesize" "$dir/odd.prf" "$path" '' 0 1000 10 500
	check "${path##*/} is not opened" timeout 600 "$prohist" \
		--output="$dir/odd.txt" "$dir/odd.prf"
	check 'and it is said' has "$dir/odd.txt" 'is not an ELF file'
done
rm "$dir/fifo"

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

check 'status of a missing file' status 2 "$dir/nothing.prf"
check 'status of another file' status 2 "$known"
check 'status of a bad option' status 2 --nothing
check 'status of contradictions' status 2 --buckets --format=json "$dir/a.prf"
# Output that is not written, of a profile that every format can print
{
	printf 'run 1000000 full\nimage 1 0 0 0 0 %s\n' "$known"
	printf 'object 1 555555555000 %x %x 1 %s %s\n' "$pgoff" "$size" \
		"$build_id" "$known"
	printf 'node 0 0 %s 1\nnode 1 0 %s 60\n' "$(offset "$known" main)" \
		"$(offset "$known" alpha)"
} | "$dir/compose" "$dir/full.prf"
"$prohist" --format=dos --output="$dir/full.PRF" "$dir/full.prf" 2> /dev/null
# full ARGUMENT...: succeeds if prohist says that nothing can be written, and if it
# says so of what can be written, but not closed
full()
{
	"$prohist" "$@" > /dev/full 2> "$dir/full.err"
	[ $? = 2 ] && has "$dir/full.err" \
		'^prohist: (standard output|pprof): No space left on device$' ||
		return
	LD_PRELOAD=$dir/libfull.so \
		ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 \
		"$prohist" "$@" > "$dir/full.out" 2> "$dir/full.err"
	[ $? = 2 ] && [ -s "$dir/full.out" ] && has "$dir/full.err" \
		'^prohist: standard output: No space left on device$'
}
for format in text html json autofdo bolt callgrind csv dos firefox flamegraph \
		folded gmon perf pprof speedscope svg; do
	check "$format on a full disk" full --format=$format "$dir/full.prf"
done
for view in --annotate=alpha --buckets --callees=main --callers=alpha --lines \
		--tree; do
	check "$view on a full disk" full "$view" "$dir/full.prf"
done
for format in text html json flamegraph; do
	check "a comparison as $format on a full disk" full --diff \
		--format=$format "$dir/full.prf" "$dir/full.prf"
done
check 'a verdict on a full disk' full --diff --fail-over=2% "$dir/full.prf" \
	"$dir/full.prf"
check 'a file of MS-DOS on a full disk' full "$dir/full.PRF"
help_is_lost()
{
	"$prohist" --help > /dev/full 2> "$dir/lost.err"
	[ $? = 2 ] && has "$dir/lost.err" '^prohist: standard output: No space'
}
check 'help that is not written' help_is_lost
check 'output to a file' status 0 --stats -o "$dir/a.out" "$dir/a.prf"
check 'it is the same' diff "$dir/a.txt" "$dir/a.out"
check 'output to what is read' status 2 -o "$dir/a.prf" "$dir/a.prf"
closed()
{
	"$prohist" --stats -o "$dir/closed.out" "$dir/a.prf" >&- &&
		diff "$dir/a.txt" "$dir/closed.out"
}
check 'output to a file instead of none' closed
mkdir -p "$dir/runs"
cp "$dir/a.prf" "$dir/b.prf" "$dir/runs"
unchanged()
{
	"$prohist" --diff "$dir/runs" "$dir/runs" -o "$dir/runs/a.prf"
	[ $? = 2 ] && cmp "$dir/a.prf" "$dir/runs/a.prf" || return
	# shellcheck disable=SC2094 # prohist refuses to write to it
	"$prohist" - -o "$dir/runs/b.prf" < "$dir/runs/b.prf"
	[ $? = 2 ] && cmp "$dir/b.prf" "$dir/runs/b.prf"
}
check 'output to a file of a directory, and to standard input' unchanged
# Of several runs, the files are not open all at once
mkdir -p "$dir/many"
{
	printf 'run 1000000 many\nimage 1 0 0 0 0 %s\n' "$known"
	printf 'object 1 555555555000 %x %x 1 %s %s\n' "$pgoff" "$size" \
		"$build_id" "$known"
	printf 'bucket %s 9\n' "$(offset "$known" alpha)"
	printf 'object 2 7f0000000000 0 10000 1 - /gone/many\n'
	for ((i = 0; i < 3000; i++)); do
		printf 'function %x %x function_%d\nbucket %x 1\n' $i $((i + 1)) \
			$i $i
	done
} | "$dir/compose" "$dir/many/a.prf"
cp "$dir/many/a.prf" "$dir/many/b.prf"
files_are_closed()
{
	python3 - "$known" "$prohist" --diff --format=json "$dir/many" \
		"$dir/many" <<- 'END'
		import os, subprocess, sys
		known = os.path.realpath(sys.argv[1])
		with subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE) as process:
		    # It writes, and more than there is room for in the pipe
		    started = process.stdout.read(1)
		    with open(f"/proc/{process.pid}/maps") as file:
		        open_files = [line for line in file
		                      if line.endswith(f" {known}\n")]
		    running = process.poll() is None
		    process.kill()
		assert started and running
		assert not open_files, open_files
	END
}
check 'the files of several runs that are compared are closed' files_are_closed
seq 100000 > "$dir/long.out"
check 'output to a longer file' status 0 --stats -o "$dir/long.out" "$dir/a.prf"
check 'nothing of it is left' diff "$dir/a.txt" "$dir/long.out"
formats()
{
	"$prohist" "${@:2}" "$dir/a.prf" "$dir/b.prf" 2> "$dir/formats.err"
	has "$dir/formats.err" "^prohist: .* only with --format=$1\$"
}
check 'a view without inlined functions' formats '.*, not with --lines' --lines \
	--inline
check 'and a comparison without columns' formats '.*, not with --diff' --diff \
	--sort=dso
two_functions()
{
	"$prohist" --callers=alpha --callers=beta "$dir/a.prf" 2> "$dir/two.err"
	[ $? = 2 ] && has "$dir/two.err" 'take one function'
}
check 'one function at a time' two_functions
check 'formats that compare' formats 'text, html, json and flamegraph' --diff \
	--format=svg
check 'formats with verdicts' formats 'text and json' --diff --format=html \
	--fail-over=2
check 'formats with columns' formats 'text and csv' --format=svg --sort=comm
check 'formats with inlined functions' formats \
	'text, html, json, csv, flamegraph, folded and pprof' \
	--format=svg --inline
check 'status of standard input twice' status 2 - -
check 'status of no directory' status 2 -o "$dir/no/a.out" "$dir/a.prf"
check 'status of no format' status 2 --format=papyrus "$dir/a.prf"
check 'help' status 0 --help
check 'version' status 0 --version

# The report that the README shows, of a profile with the same ticks
readme()
{
	awk '/prohist perl.prf/ { on = 1; next } /^[^ ]/ { on = 0 }
		on { print substr($0, 5) }' "$here/../../../README.md"
}
describe_readme()
{
	python3 - <(readme) <<- 'END'
		import re, sys
		lines = open(sys.argv[1]).read().splitlines()
		command, cpu, every, period = re.match(
		    r"(.*): ([0-9.]+) s of .*, (\d+) ticks, period ([0-9.]+)",
		    lines[0]).groups()
		every = int(every)
		rows = []
		for line in lines[3:9]:
		    ticks, total, name = re.match(
		        r" *(\d+) .*? % \S+ +[0-9.]+ % +([0-9.]+) % +\S+ +(\S+)",
		        line).groups()
		    rows.append((name, int(ticks),
		                 round(float(total) / 100 * every)))
		kernel = sum(own for name, own, _ in rows if name == "[kernel]")
		print(f"run {float(period) * 1e6:.0f} {command}")
		print(f"image 1 {kernel} 0 0 0 /bin/perl")
		print(f"stated {every} {float(cpu) * 1e9:.0f} {float(cpu) * 1e9:.0f}")
		print("object 1 1000 0 10000000 4 - /gone/perl")
		nodes = 0

		def place(number, name):
		    start = 4096 * number
		    print(f"function {start:x} {start + 4096:x} {name}")
		    return f"0 {start:x}"

		def node(caller, where, count):
		    global nodes
		    nodes += 1
		    print(f"node {caller} {where} {count}")
		    return nodes

		# What has the largest total calls all others; for the rest of its
		# total, each is on the way to functions that are not shown
		rows.sort(key=lambda row: -row[2])
		where = {name: "kernel 0" if name == "[kernel]" else place(i + 1, name)
		         for i, (name, _, _) in enumerate(rows)}
		top = node(0, where[rows[0][0]], rows[0][1])
		more = [(rows[0][2] - sum(own for _, own, _ in rows), rows[0][0])]
		for name, own, total in rows[1:]:
		    node(top, where[name], own)
		    more.append((total - own, name))
		rest = every - sum(own for _, own, _ in rows)
		edges = sorted({min(extra, rest) for extra, _ in more} | {0, rest})
		number = 100
		for low, high in zip(edges, edges[1:]):
		    caller = 0
		    for extra, name in sorted(more, reverse=True):
		        if extra >= high:
		            caller = node(caller, where[name], 0)
		    for at in range(low, high, 200):
		        node(caller, place(number, f"f{number}"), min(200, high - at))
		        number += 1
	END
}
describe_readme > "$dir/readme.txt"
"$dir/compose" "$dir/readme.prf" < "$dir/readme.txt"
check 'the README shows what is printed' diff <(readme | head -n 9) \
	<("$prohist" --top=6 "$dir/readme.prf" | head -n 9)

finish
