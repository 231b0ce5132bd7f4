#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# inline.sh DIR: tests that prohist shows inlined functions where addr2line does.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/whole.sh"

needs go golang-go
needs addr2line binutils

export PPROF_TMPDIR=$dir XDG_CONFIG_HOME=$dir

# profile FILE: writes a profile with a tick in each byte of outer() in FILE, and
# sets addresses
profile()
{
	local start bytes i

	examine "$1"
	read -r start bytes < <(nm -S "$1" |
		awk '$4 == "outer" { print "0x" $1, "0x" $2 }')
	addresses=() described=("$1" "$build_id" "$(printf '%x' $pgoff)"
		"$(printf '%x' $size)")
	for ((i = start; i < start + bytes; i++)); do
		addresses+=("$(printf '%x' "$i")")
		described+=("$(printf '%x' $((i - vaddr)))" 1)
	done
	BUCKET=1 "$dir/synthesize" "$dir/${1##*/}.prf" "${described[@]}"
}

# Print each address, the chain of functions, and the ticks, by addr2line
true_stacks()
{
	addr2line -afie "$1" "${addresses[@]}" | awk '
		function add() { if (stack) ticks[stack]++; stack = "" }
		/^0x/ { add(); next }
		!/:/ { stack = stack ? $1 ";" stack : $1 }
		END { add(); for (stack in ticks) print stack, ticks[stack] }' |
		sort
}
stacks()
{
	"$prohist" --inline --format=folded "$dir/${1##*/}.prf" 2> /dev/null |
		sed -n 's/^known;[^;]*;\(outer[; ]\)/\1/p' | sort
}
stacks_agree()
{
	diff <(true_stacks "$1") <(stacks "$2")
}

for program in inlined inlined-clang inlined-split; do
	profile "$dir/$program"
	# addr2line does not read .dwo files, but the code is that of inlined
	truth=${program%-split}
	check "stacks of $program" stacks_agree "$dir/$truth" "$program"
done
check 'with an inlined function in another' grep -q '^outer;middle;inner ' \
	<(stacks inlined-clang)

profile "$dir/inlined"
profile=$dir/inlined.prf
read -r _ inner < <(stacks inlined | grep '^outer;middle;inner ')

"$prohist" --inline "$profile" > "$dir/inline.txt"
check 'the chain in text' has "$dir/inline.txt" \
	" $inner .* inner \\(inlined in middle, outer\\) \\(inlined\\)$"
"$prohist" "$profile" > "$dir/inline.txt"
check 'none without the option' lacks "$dir/inline.txt" inner
check 'but the function' has "$dir/inline.txt" \
	" ${#addresses[@]} .* outer \\(inlined\\)$"

json()
{
	"$prohist" --inline --format=json "$profile" | python3 -c '
import json, sys
for f in json.load(sys.stdin)["functions"]:
    frames = [f["name"]] + f.get("inlined_in", [])
    if frames[-1] == "outer":
        print(";".join(reversed(frames)), f["ticks"])' | sort
}
json_agrees()
{
	diff <(stacks inlined) <(json)
}
check 'the chain in JSON' json_agrees

# The page: each function, and one listing for all that is inlined in another
page()
{
	python3 "$here/page.py" "$dir/inline.html" "$@"
}
"$prohist" --inline --html "$profile" > "$dir/inline.html"
check 'the chain in a page' page has "$inner" 'inner (inlined in middle, outer)'
check 'which is well-formed' page sound
check 'with all that is inlined in a function in its listing' page listed outer \
	${#addresses[@]} ${#addresses[@]}
once()
{
	[ "$(grep -c '<details' "$dir/inline.html")" = 1 ]
}
check 'which is there once' once
links()
{
	[ "$(grep -c '<a href="#f0">.*outer' "$dir/inline.html")" = \
		"$(stacks inlined | wc -l)" ]
}
check 'to which all of them lead' links
"$prohist" --html "$profile" > "$dir/inline.html"
check 'none in a page without the option' page lacks '(inlined in'

# A chain: one byte of each, where addr2line has the deepest
chain()
{
	printf 'run 1000000 prog\nimage 100 0 0 0 0 /bin/prog\n'
	printf 'object 1 10000000 %x %x 4 %s %s\n' $pgoff $size "$build_id" \
		"$dir/inlined"
	printf 'node 0 0 %s 0\n' "$(offset "$dir/inlined" main)"
	printf 'node 1 0 %s %d\n' "${described[@]:4}"
}
chain | "$dir/compose" "$dir/inlined-chain.prf"
"$prohist" --inline --html "$dir/inlined-chain.prf" > "$dir/inline.html"
of_chains()
{
	diff <("$prohist" --inline --format=folded "$dir/inlined-chain.prf" |
		sed 's/^prog;//; s/$/000/' | sort) \
		<(python3 "$here/flame.py" "$dir/inline.html" page | sort) &&
		grep -q 'main;outer;middle;inner ' <("$prohist" --inline \
			--format=folded "$dir/inlined-chain.prf")
}
check 'in the flame graph of a page' of_chains
twice_in_page()
{
	"$prohist" --inline --html --diff "$dir/inlined-chain.prf" \
		"$dir/inlined-chain.prf" > "$dir/inline.html" && page sound &&
		page has 'inner (inlined in middle, outer)' &&
		python3 "$here/flame.py" "$dir/inline.html" page |
			grep -q '^main;outer;middle;inner '
}
check 'in a page that compares' twice_in_page

# Print each address with its functions and lines, the innermost first
true_lines()
{
	addr2line -afie "$dir/inlined" "${addresses[@]}" |
		sed 's/ (discriminator .*//; s,.*/,,; s/^0x0*//' | paste -sd ' ' |
		sed -E 's/ ([0-9a-f]+ outer|[0-9a-f]+ (inner|middle))/\n\1/g'
}
lines()
{
	"$prohist" --inline --format=pprof -o "$dir/inline.pb.gz" "$profile" \
		2> /dev/null
	go tool pprof -raw "$dir/inline.pb.gz" 2> /dev/null |
		sed -n '/^Locations/,/^Mappings/s,/.*/,,p' | awk '
		$3 == "M=1" { printf "%s%s %s %s", end, substr($2, 3), $4, $5
			      end = "\n"; next }
		/inlined\.c/ { printf " %s %s", $1, $2 }
		END { print "" }'
}
lines_agree()
{
	diff <(true_lines) <(lines)
}
check 'the lines of calls in pprof' lines_agree

BUCKET=1 "$dir/synthesize" "$dir/twice.prf" "${described[@]:0:4}" \
	"${described[4]}" 900
check 'with --diff' has <("$prohist" --inline --diff "$profile" \
	"$dir/twice.prf") ' outer \(inlined\)$'

for option in --lines --buckets --annotate=outer --format=svg; do
	check "not with $option" status 2 --inline $option "$profile"
done

# A function has what is inlined in it, with chains and without
chain | sed '/^object/s/ 4 / 1 /' | "$dir/compose" "$dir/chain.prf"
# functions SYMBOL FILE: prints the functions of a selection, and their ticks
functions()
{
	"$prohist" --inline --symbol="$1" --format=json "$2" | python3 -c '
import json, sys
for f in json.load(sys.stdin)["functions"]:
    print(f["name"], *f.get("inlined_in", []), f["ticks"])' | sort
}
same_functions()
{
	local symbol

	for symbol in outer middle inner; do
		functions "$symbol" "$dir/chain.prf" > "$dir/inline.txt" &&
			has "$dir/inline.txt" '^inner middle outer ' &&
			diff "$dir/inline.txt" <(functions "$symbol" "$profile") ||
			return
	done
}
check 'with --symbol' same_functions

# More calls inside each other than a profile can have
{
	echo 'volatile int sink;'
	echo 'static inline __attribute__((always_inline)) void f0(void) { sink++; }'
	for ((i = 1; i < 70; i++)); do
		echo 'static inline __attribute__((always_inline))'
		echo "void f$i(void) { f$((i - 1))(); sink++; }"
	done
	echo '__attribute__((noinline)) void outer(void) { f69(); }'
	echo 'int main(void) { outer(); }'
} > "$dir/nested.c"
gcc -O1 -g -Wl,--build-id -o "$dir/nested" "$dir/nested.c"
profile "$dir/nested"
around_f0()
{
	"$prohist" --inline --format=json "$dir/nested.prf" | python3 -c '
import json, sys
for f in json.load(sys.stdin)["functions"]:
    if f["name"] == "f0":
        print("f0", *f["inlined_in"])'
}
innermost()
{
	diff <(printf 'f%d ' {0..63}; echo outer) <(around_f0)
}
check 'of too many calls inside each other, the innermost' innermost

finish
