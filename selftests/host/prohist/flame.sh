#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# flame.sh DIR: tests flame graphs, as a picture and in the HTML page, with flame.py
# and page.py.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/check.sh
. "$(dirname "$0")/check.sh"

if ! command -v python3 > /dev/null; then
	skip 'flame graphs' 'python3 is missing'
	finish
fi
export LC_ALL=C

flame()
{
	python3 "$here/flame.py" "$@"
}

# write FILE FORMAT ARGUMENT...: writes a file, without a message
write()
{
	local file=$1 format=$2

	shift 2
	"$prohist" --format="$format" --output="$file" "$@" 2> "$dir/flame.err" &&
		! grep . "$dir/flame.err"
}

# program NAME: an exec of a program, with names that the profile has
program()
{
	printf 'image 100 0 0 0 0 /bin/%s\n' "$1"
	printf 'object 1 10000000 0 10000 4 - /gone/%s\n' "$1"
	printf 'function %x %x %s\n' 256 512 main 512 768 work 768 1024 idle
	printf 'object 2 20000000 0 10000 4 - /gone/lib.so\n'
	printf 'function %x %x %s\n' 64 128 sort 128 192 compare
}

# chains WORK IDLE: recursion, the kernel, and a chain that was cut
chains()
{
	printf 'run 1000000 prog --of it\n'
	program prog
	cat <<- END
		node 0 0 100 10
		node 1 0 200 $1
		node 2 0 200 1000
		node 3 1 40 2000
		node cut 1 80 400
		node 5 kernel 0 600
		node 1 1 40 3000
		node 1 0 300 $2
	END
}
chains 5000 4000 | "$dir/compose" "$dir/flame.prf"

# folded FILE OPTION...: prints chains as --format=folded has them, without the
# program if there is only one
folded()
{
	"$prohist" --format=folded "$@" | sed 's/^prog;//' | sort
}

check 'a picture' write "$dir/a.svg" flamegraph "$dir/flame.prf"
check 'it has no script, and loads nothing' flame "$dir/a.svg" sound
same_as_folded()
{
	diff <(folded "$dir/flame.prf") <(flame "$1" "$2" | sort)
}
check 'its frames have the times of the chains' same_as_folded "$dir/a.svg" \
	folded
check 'each is below its caller, and as wide as its time' flame "$dir/a.svg" \
	placed
check 'it says so' flame "$dir/a.svg" says 'Each function is below its caller'
check 'colours are those of the DSOs' flame "$dir/a.svg" kinds main=f1 work=f1 \
	sort=f2 '[kernel]=f3' everything=f0
check 'tooltips have numbers' flame "$dir/a.svg" says \
	$'sort (lib.so)\n3.000 s, 18.74 % ± 0.60\n3.000 s in itself'
check 'light and dark' grep -q prefers-color-scheme:dark "$dir/a.svg"

# Several programs have frames of their own
{
	chains 5000 4000
	program other
	printf 'node 0 0 100 7000\n'
} | "$dir/compose" "$dir/two.prf"
check 'several programs' write "$dir/b.svg" flamegraph "$dir/two.prf"
of_programs()
{
	diff <("$prohist" --format=folded "$dir/two.prf" | sort) \
		<(flame "$dir/b.svg" folded | sort)
}
check 'are outermost' of_programs
selected()
{
	write "$dir/b.svg" flamegraph --comm=other "$dir/two.prf" &&
		diff - <(flame "$dir/b.svg" folded) <<< 'main 7000'
}
check 'one can be selected' selected

# Frames that are too narrow to be seen
{
	printf 'run 1000000 narrow\nimage 100 0 0 0 0 /bin/narrow\n'
	printf 'object 1 10000000 0 100000 4 - /gone/narrow\n'
	for ((i = 0; i < 3000; i++)); do
		printf 'function %x %x f%d\n' $((16 * i)) $((16 * i + 16)) $i
	done
	printf 'node 0 0 0 900000\n'
	for ((i = 1; i < 3000; i++)); do
		printf 'node 1 0 %x %d\n' $((16 * i)) \
			$((i < 1001 ? 100 : 1000000 / 1999))
	done
} | "$dir/compose" "$dir/narrow.prf"
check 'many narrow frames' write "$dir/c.svg" flamegraph "$dir/narrow.prf"
check 'are merged, and it says how much they have' flame "$dir/c.svg" says \
	'2999 frames are too narrow to be drawn, and merged: they have 55.0 % of the time.' \
	'2999 too narrow'
few()
{
	[ "$(flame "$dir/c.svg" folded | wc -l)" = 2 ]
}
check 'into one' few
check 'the page has them' write "$dir/c.html" html "$dir/narrow.prf"
all_there()
{
	flame "$dir/c.html" page > "$dir/flame.txt" &&
		[ "$(wc -l < "$dir/flame.txt")" = 3000 ] &&
		[ "$(awk '{ sum += $2 } END { printf "%.0f", sum }' "$dir/flame.txt")" = \
			"$(((900000 + 1000 * 100 + 1999 * 500) * 1000))" ]
}
check 'all of them' all_there

# More frames than a page has room for, in chains that are as deep as they may be
deep()
{
	local name i

	printf 'run 1000000 deep\nimage 100 0 0 0 0 /bin/deep\n'
	printf 'object 1 10000000 0 1000000 4 - %s\n' "$1"
	name=$(printf '%0300d' 0)
	for ((i = 0; i < 4000; i++)); do
		printf 'function %x %x %s%d\n' $((16 * i)) $((16 * i + 16)) \
			"$name" $i
	done
	for ((i = 0; i < 4000; i++)); do
		printf 'node %d 0 %x %d\n' $((i % 250 ? i : 0)) $((16 * i)) $i
	done
}
deep /gone/deep | "$dir/compose" "$dir/deep.prf"
check 'many frames with long names' write "$dir/d.html" html "$dir/deep.prf"
bounded()
{
	[ "$(stat -c %s "$dir/d.html")" -lt 2000000 ] &&
		flame "$dir/d.html" page > "$dir/flame.txt" &&
		[ "$(awk '{ sum += $NF } END { printf "%.0f", sum }' "$dir/flame.txt")" = \
			"$((4000 * 3999 * 500))" ]
}
check 'the page is small, and has all time' bounded
check 'and is well-formed' python3 "$here/page.py" "$dir/d.html" sound
# Each sum opens the file of a DSO: the page has one, and its flame graph another,
# however many frames have room
two_sums()
{
	echo 'no program' > "$dir/plain"
	deep "$dir/plain" | "$dir/compose" "$dir/plain.prf"
	python3 - "$dir/plain" "$prohist" --html --output="$dir/plain.html" \
		"$dir/plain.prf" <<- 'END'
		import ctypes, os, struct, subprocess, sys
		OPEN, CLOSE = 0x20, 0x10
		libc = ctypes.CDLL(None)
		watch = libc.inotify_init1(os.O_NONBLOCK)
		# Without the closing, one event would stand for several
		assert libc.inotify_add_watch(watch, os.fsencode(sys.argv[1]),
		                              OPEN | CLOSE) >= 0
		subprocess.run(sys.argv[2:], check=True)
		events, at, opened = os.read(watch, 1 << 16), 0, 0
		while at < len(events):
		    _, mask, _, size = struct.unpack_from("iIII", events, at)
		    opened += mask == OPEN
		    at += 16 + size
		assert opened == 2, opened
	END
}
check 'all is summed up once for it' two_sums
check 'so is a picture' write "$dir/d.svg" flamegraph "$dir/deep.prf"
check 'with each frame in its place' flame "$dir/d.svg" placed

# Markup, control characters and wrong UTF-8
evil=$'</title><script>alert(1)</script><g>&"\'\x01\x1b\xff\xc2\x9b'
shown='</title><script>alert(1)</script><g>&"'\'
shown+=$'\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd'
{
	printf 'run 1000000 %s\nimage 100 0 0 0 0 /bin/%s\n' "$evil" \
		"$(tr -d / <<< "$evil")"
	printf 'object 1 10000000 0 10000 4 - /gone/%s\n' "$(tr -d / <<< "$evil")"
	printf 'function 100 200 %s\n' "$evil"
	printf 'node 0 0 100 10\n'
} | "$dir/compose" "$dir/evil.prf"
check 'hostile names' write "$dir/e.svg" flamegraph "$dir/evil.prf"
check 'are text' flame "$dir/e.svg" says "$shown"
check 'and nothing else' flame "$dir/e.svg" sound
check 'hostile names in a page' write "$dir/e.html" html "$dir/evil.prf"
check 'are nothing else either' python3 "$here/page.py" "$dir/e.html" sound
check 'nor does it load anything' python3 "$here/page.py" "$dir/e.html" alone

# The page
check 'a page' write "$dir/f.html" html "$dir/flame.prf"
check 'is well-formed' python3 "$here/page.py" "$dir/f.html" sound
in_page()
{
	diff <(folded "$dir/flame.prf" | sed 's/$/000/') \
		<(flame "$dir/f.html" page | sort)
}
check 'its frames have the times of the chains, too' in_page
check 'without scripts, it has a picture' grep -q '<svg id="flame-picture"' \
	"$dir/f.html"
check 'colours of DSOs have names' python3 "$here/page.py" "$dir/f.html" has \
	'Flame graph' 'prog 62.5 %' 'lib.so 33.7 %' '[kernel] 3.7 %'

# Comparisons: work has grown, idle is gone, all the rest is the same
chains 9000 0 | sed '/^node 1 0 300 0$/d' | "$dir/compose" "$dir/after.prf"
check 'a comparison' write "$dir/g.svg" flamegraph --diff "$dir/flame.prf" \
	"$dir/after.prf"
check 'has no script either' flame "$dir/g.svg" sound
check 'its width is that after' flame "$dir/g.svg" placed
check 'what has grown, and what may be chance' flame "$dir/g.svg" kinds \
	work=fg3 sort=fn everything=fn
check 'numbers of both' flame "$dir/g.svg" says \
	$'(prog)\n12.000 s, 74.95 %, before 49.97 %\n' \
	', which may be chance'
check 'what is gone' flame "$dir/g.svg" says \
	'Frames that had 25.0 % of the time before are not there after.'
check 'the other way round' write "$dir/h.svg" flamegraph --diff \
	"$dir/after.prf" "$dir/flame.prf"
check 'it has shrunk' flame "$dir/h.svg" kinds work=fs3 idle=fg3 sort=fn
check 'a page of both' write "$dir/g.html" html --diff "$dir/flame.prf" \
	"$dir/after.prf"
both()
{
	diff <(flame "$dir/g.html" page | sort) - <<- 'END'
		[unknown callers];compare 400000 400000
		[unknown callers];compare;[kernel] 600000 600000
		main 10000 10000
		main;idle 4000000 0
		main;sort 3000000 3000000
		main;work 5000000 9000000
		main;work;work 1000000 1000000
		main;work;work;sort 2000000 2000000
	END
}
check 'has the times of both' both
check 'it is well-formed' python3 "$here/page.py" "$dir/g.html" sound
check 'and loads nothing' python3 "$here/page.py" "$dir/g.html" alone

# Callers without ticks of their own are no functions that are compared
no_callers()
{
	"$prohist" --diff --format=json "$dir/called.prf" "$dir/called.prf" \
		> "$dir/flame.txt" && lacks "$dir/flame.txt" '\[0, 0\]'
}
{
	printf 'run 1000000 prog\n'
	program prog
	printf 'node 0 0 100 0\nnode 1 0 200 7\n'
} | "$dir/compose" "$dir/called.prf"
check 'callers are not compared' no_callers

# Without chains
make "$dir/flat.prf" "$known" 600 300 85
check 'no chains' status 2 --format=flamegraph "$dir/flat.prf"
"$prohist" --format=flamegraph "$dir/flat.prf" 2> "$dir/flame.err"
check 'that is said' has "$dir/flame.err" 'no chains of calls in the profile'
check 'a page without' write "$dir/i.html" html "$dir/flat.prf"
check 'has no flame graph' lacks "$dir/i.html" 'id="flame-graph"'
check 'nor has a comparison with chains on one side' write "$dir/i.html" html \
	--diff "$dir/flat.prf" "$dir/flame.prf"
check 'as is said for a picture' status 2 --format=flamegraph --diff \
	"$dir/flat.prf" "$dir/flame.prf"
printf 'run 1000 q\nimage 1 0 0 1 0 /bin/q\n' | "$dir/compose" "$dir/none.prf"
check 'no ticks' status 2 --format=flamegraph "$dir/none.prf"

finish
