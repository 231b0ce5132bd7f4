#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# autofdo.sh DIR: tests the profile for clang: its lines are those of addr2line,
# and clang applies them. selftests/viewers/autofdo.sh has more readers.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/whole.sh"

needs clang clang
needs addr2line binutils

sampled=$dir/sampled
profile=$dir/sampled.prf
flags=(-O2 -gmlt -fdebug-info-for-profiling)

# instructions FUNCTION...: prints the address of each of their instructions, and
# a number of ticks
instructions()
{
	local function

	for function; do
		objdump -d --disassemble="$function" "$sampled"
	done | awk '$1 ~ /^[0-9a-f]+:$/ { sub(":", "", $1)
		print $1, (NR * 7919) % 97 + 1 }' | sort
}

# profile FUNCTION...: writes a profile with ticks in each instruction
profile()
{
	examine "$sampled"
	described=("$sampled" "$build_id" "$(printf '%x' "$pgoff")"
		"$(printf '%x' "$size")")
	while read -r address ticks; do
		described+=("$(printf '%x' $((16#$address - vaddr)))" "$ticks")
	done < <(instructions "$@")
	BUCKET=1 "$dir/synthesize" "$profile" "${described[@]}"
}

# truth FUNCTION...: prints the profile as expected, by addr2line
truth()
{
	instructions "$@" | python3 -c '
import re, subprocess, sys

source = open(sys.argv[2]).read().split("\n")
functions = {}

def declaration(name):
    return next(number for number, line in enumerate(source, 1)
                if re.search(rf"\b{name}\(.*[^;]$", line) and line[0] != "\t")

def parts(number):
    """Block and factor of a discriminator."""
    for _ in range(2):
        if number & 1:
            yield 0
            number >>= 1
        else:
            assert not number & 64
            yield number >> 1 & 31
            number >>= 7

for line in sys.stdin:
    address, ticks = line.split()
    output = subprocess.run(["addr2line", "-afie", sys.argv[1], address],
                            capture_output=True, text=True).stdout
    frames = output.split("\n")[1:-1]
    node, names, places = functions, frames[-2::-2], frames[-1::-2]
    if any(place.endswith(":?") or ":0" in place for place in places):
        continue
    key = names[0]
    for name, place, inner in zip(names, places, [*names[1:], None]):
        node = node.setdefault(key, {})
        number, _, discriminator = place.partition(" (discriminator ")
        offset = int(number.rpartition(":")[2]) - declaration(name)
        block, factor = parts(int(discriminator.rstrip(")") or 0))
        key = offset, block, inner or ""
    node[key] = max(node.get(key, 0), int(ticks) * (factor or 1))

def total(node):
    return node if type(node) is int else sum(map(total, node.values()))

def entered(node):
    """Samples of the first line."""
    return node if type(node) is int else entered(node[min(node)])

def show(node, indent):
    for (offset, block, name), inner in sorted(node.items()):
        place = f"{indent}{offset}" + (f".{block}" if block else "")
        print(f"{place}: {name}{chr(58) * bool(name)}{total(inner)}")
        if name:
            show(inner, indent + " ")

for name, node in sorted(functions.items(),
                         key=lambda item: (-total(item[1]), item[0])):
    print(f"{name}:{total(node)}:{entered(node)}")
    show(node, " ")
' "$sampled" "$here/sampled.c"
}

# With a relative path, the source is file 0 of DWARF 5
build()
{
	(cd "$here" && clang "${flags[@]}" -Wl,--build-id -o "$sampled" sampled.c)
}
check 'a program' build
profile outer loop total
write autofdo "$sampled.prof" "$profile"
check 'lines, blocks, inlined and unrolled code as in addr2line' \
	diff <(truth outer loop total) "$sampled.prof"

# clang says which line it takes samples for
applied()
{
	clang "${flags[@]}" -Wall -Wextra -Werror -c -o "$dir/sampled.o" \
		-fprofile-sample-use="$sampled.prof" \
		-Rpass-analysis=sample-profile "$here/sampled.c" 2>&1 |
		sed -n 's/.*Applied \([0-9]*\) samples.*offset: \([0-9.]*\)).*/\2: \1/p' |
		sort -u
}
clang_agrees()
{
	# The prologue, and perhaps one other line, has no code before clang
	# optimises
	diff <(sed -n 's/^ *\([0-9.]*: [0-9]*\)$/\1/p' "$sampled.prof" |
		grep -v '^1: ' | sort -u) <(applied) > "$dir/differs"
	prints_nothing grep '^>' "$dir/differs" && [ "$(grep -c . "$dir/differs")" -lt 4 ]
}
check 'clang applies the samples of each line' clang_agrees

# Two calls in a line, a linkage name, and ticks in a single instruction
twice()
{
	examine "$sampled"
	describe "$sampled" _ZN5outer5innerEi 7
	BUCKET=1 "$dir/synthesize" "$profile" "${described[@]}"
	"$prohist" --format=autofdo "$profile" 2> /dev/null
}
check 'lines without ticks, and two calls in a line' diff <(twice) - <<- 'END'
	_ZN5outer5innerEi:7:0
	 2: 0
	 2: inner:7
	  2: 7
	  3: 0
	 2.1: inner:0
	  2: 0
	  3: 0
END

# in_each PERIOD TICKS: describes a profile with ticks in each of the instructions
in_each()
{
	printf 'run %d x\nimage 1 0 0 0 0 %s\n' "$1" "$sampled"
	printf 'object 1 555555555000 %x %x 1 %s %s\n' "$pgoff" "$size" \
		"$build_id" "$sampled"
	while read -r address _; do
		printf 'bucket %08x %d\n' $((16#$address - vaddr)) "$2"
	done
}
# Each instruction of outer has less than half a tick of the mean period
small()
{
	examine "$sampled"
	instructions outer | in_each 250000 1 | "$dir/compose" "$dir/small.prf"
	instructions total | head -n 1 |
		in_each 1000000 "$(instructions outer | wc -l)" |
		"$dir/compose" "$dir/large.prf"
	"$prohist" --format=autofdo "$dir/small.prf" "$dir/large.prf" \
		> "$dir/small.prof" && has "$dir/small.prof" '^outer:[1-9]'
}
check 'a function with little in each instruction is not cold' small

# Functions whose names begin with something else, and odd names that do not
odd()
{
	local name newline=$'\n' number=0

	for name in 9lives '#comment' '[context' ' space' "line${newline}end" \
		    $'csi\xc2\x9b31m' '-[Odd name: a:]'; do
		number=$((number + 1))
		printf 'int odd%d(int n) __asm__("%s");\n' "$number" \
			"${name/$newline/\\n}"
		printf 'int odd%d(int n) { return n * %d; }\n' "$number" "$number"
	done > "$dir/strange.c"
	clang "${flags[@]}" -fPIC -shared -Wl,--build-id -o "$dir/strange.so" \
		"$dir/strange.c" || return
	examine "$dir/strange.so"
	described=("$dir/strange.so" "$build_id" "$(printf '%x' "$pgoff")"
		"$(printf '%x' "$size")")
	while read -r address; do
		described+=("$(printf '%x' $((16#$address - vaddr)))" 4)
	done < <(nm --defined-only -p "$dir/strange.so" |
		sed -n 's/^\(0[0-9a-f]*\) T.*/\1/p' | sort)
	BUCKET=1 "$dir/synthesize" "$profile" "${described[@]}"
	"$prohist" --format=autofdo "$profile" 2> "$dir/odd.said" |
		grep -v '^ ' | diff - <(echo '-[Odd name: a:]:4:4')
}
check 'names that LLVM would not read' odd
check 'and their ticks' has "$dir/odd.said" \
	': 24 ticks are missing: they are in code without lines, or in functions'

# minimal: succeeds if clang -gmlt alone has no declarations
minimal()
{
	flags=(-O2 -gmlt)
	build && profile outer &&
		status 2 --format=autofdo "$profile" 2> "$dir/minimal.said"
}
check 'a program without declarations' minimal
check 'and its remedy' has "$dir/minimal.said" \
	'no lines of functions: compile with -gmlt -fdebug-info-for-profiling$'
run_again 1000000 | sed 's/\(object .* \)1 \([0-9a-f]\{40\}\)/\14 \2/' |
	"$dir/compose" "$dir/coarse.prf"
check 'buckets of several bytes' has \
	<("$prohist" --format=autofdo "$dir/coarse.prf" 2>&1) \
	': buckets of 4 bytes: for exact instructions, use profil --bucket=1'
check 'a DSO without symbols' status 2 --format=autofdo --dso=libgone.so \
	"$dir/whole.prf"

finish
