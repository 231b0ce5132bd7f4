#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# html.sh DIR: tests the HTML page of a profile, with page.py.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/check.sh
. "$(dirname "$0")/check.sh"

if ! command -v python3 > /dev/null; then
	skip 'the page' 'python3 is missing'
	finish
fi

page()
{
	python3 "$here/page.py" "$@"
}

# write FILE.html ARGUMENT...: writes a page, without a message
write()
{
	local file=$1

	shift
	"$prohist" --html --output="$file" "$@" 2> "$dir/html.err" &&
		[ ! -s "$dir/html.err" ]
}

make "$dir/html.prf" "$known" 600 300 85
program=("${described[@]}")
check 'a page' write "$dir/a.html" "$dir/html.prf"
check 'it is well-formed' page "$dir/a.html" sound
check 'it can load nothing' page "$dir/a.html" alone
check 'its title' page "$dir/a.html" title known
"$prohist" --format=json "$dir/html.prf" > "$dir/html.json"
check 'it has the numbers of the JSON' page "$dir/a.html" json "$dir/html.json"
"$prohist" --format=html "$dir/html.prf" > "$dir/b.html"
check '--html is --format=html' cmp "$dir/a.html" "$dir/b.html"
check 'programs, classes and DSOs' page "$dir/a.html" has \
	'Not profiled: 1' '/bin/unreached : it is static' \
	'Execs Program 1000 1.002 1' 'program 98.5 % 985' 'kernel 1.0 % 10' \
	'98.5 % ± 0.8, 985 ticks' 'Other DSOs 1.0 % 10 [kernel]'
"$prohist" --html "$dir/html.prf" "$dir/html.prf" > "$dir/b.html"
"$prohist" --format=json "$dir/html.prf" "$dir/html.prf" > "$dir/html.json"
check 'the sum of two files' page "$dir/b.html" json "$dir/html.json"

# Listings
check 'functions with a listing' page "$dir/a.html" listings alpha beta \
	'outer::inner(int)'
check 'source and instructions' page "$dir/a.html" listed alpha 600 600 \
	'600 ticks, 60.0' 'selftests/host/prohist/known.c' \
	'return n * n + 1;' 'ret' 'known.c:'
examine "$known"
BUCKET=64 "$dir/synthesize" "$dir/wide.prf" "${program[@]:0:4}" \
	"$(offset "$known" delta)" 30
write "$dir/b.html" "$dir/wide.prf"
check 'ticks of a bucket that is shared' page "$dir/b.html" listed delta \
	30 30 '+N: of this instruction' \
	'Its last bucket, with 30 ticks, reaches beyond its end.'
before=$((16#$(offset "$known" beta) - 2))
BUCKET=4 "$dir/synthesize" "$dir/cut.prf" "$known" "${program[1]}" \
	"$(printf '%x' $((pgoff + before % 4)))" "${program[3]}" \
	"$(printf '%x' $((before / 4 * 4)))" 70 \
	"$(printf '%x' $((before / 4 * 4 + 4)))" 30
write "$dir/b.html" "$dir/cut.prf"
check 'a beginning that is counted elsewhere' page "$dir/b.html" listed beta \
	30 30 '70 ticks of a bucket that reaches into its beginning'
no_objdump()
{
	PATH=/nonexistent "$prohist" --html "$dir/html.prf" \
		> "$dir/b.html" 2> "$dir/html.err" &&
		[ "$(wc -l < "$dir/html.err")" = 1 ]
}
check 'no objdump' no_objdump
check 'it is said' page "$dir/b.html" has 'No function has one:'
ID=00 make "$dir/other.prf" "$known" 600 300 85
check 'another object' write "$dir/b.html" "$dir/other.prf"
check 'it is not disassembled' page "$dir/b.html" listings
check 'and that is said' page "$dir/b.html" has 'its build-id differs'

# Markup, control characters and wrong UTF-8 in names and in the source
evil=$'</script></title><script>alert(1)</script><!-- & "\'\x01\x1b \xff \xc2\x9b'
shown=$(printf '%b' '</script></title><script>alert(1)</script><!-- & "'\'\
'\ufffd\ufffd \ufffd \ufffd')
name=$(tr -d / <<< "$evil")
directory=$dir/evil/$name
mkdir -p "$directory"
printf 'int alpha(void)\n{\n\treturn 0; /* %s */\n}\n' "$evil" \
	> "$directory/$name.c"
gcc -g -shared -Wl,--build-id -x c "$directory/$name.c" -o "$directory/$name"
examine "$directory/$name"
describe "$directory/$name" alpha 500
COMMAND=$evil "$dir/synthesize" "$dir/c.prf" "/tmp/$name" '' 0 1000 10 500 -- \
	"${described[@]}"
check 'hostile names' write "$dir/c.html" "$dir/c.prf"
check 'they are names' page "$dir/c.html" title "$shown"
check 'and nothing else' page "$dir/c.html" sound
check 'nor does the page load anything' page "$dir/c.html" alone
check 'neither is the source' page "$dir/c.html" listed alpha 500 500 \
	"return 0; /* $shown */"

# Long names; more functions than have room; functions that are too long
long=$(printf '%0300d' 0)
deep=("/nonexistent/$long" '' 0 1000000)
for ((i = 0; i < 5000; i++)); do
	printf -v offset '%x' $((16 * i))
	deep+=("$offset" 2)
done
"$dir/synthesize" "$dir/d.prf" "${program[@]}" -- "${deep[@]}"
check 'many long names' write "$dir/d.html" "$dir/d.prf"
check 'the page is small' page "$dir/d.html" small 5005 11000
check 'the whole page is well-formed' page "$dir/d.html" sound
{
	for ((i = 0; i < 60; i++)); do
		printf '.globl f%d\n.type f%d, @function\nf%d:\n' $i $i $i
		printf '.rept 500\n.long 0\n.endr\n.size f%d, . - f%d\n' $i $i
	done
} > "$dir/many.s"
gcc -shared -nostdlib -Wl,--build-id "$dir/many.s" -o "$dir/libmany.so"
examine "$dir/libmany.so"
many=("$dir/libmany.so" "$build_id" "$(printf '%x' $pgoff)"
	"$(printf '%x' $size)")
first=$((16#$(offset "$dir/libmany.so" f0)))
for ((i = 0; i < 60 * 500; i++)); do
	printf -v offset '%x' $((first + 4 * i))
	many+=("$offset" 2)
done
BUCKET=4 "$dir/synthesize" "$dir/e.prf" "${many[@]}"
check 'many long functions' write "$dir/e.html" "$dir/e.prf"
below()
{
	[ "$(stat -c %s "$1")" -lt "$2" ]
}
check 'their page is small' below "$dir/e.html" 1000000
check 'some have no listing' page "$dir/e.html" has \
	'prohist --annotate=FUNCTION FILE'

# As large as a page can be: every part has more than there is room for
describe_worst()
{
	local i j quotes

	quotes=$(printf '%0250d' 0 | tr 0 '"')
	echo 'run 1000000 worst'
	for ((i = 0; i < 60; i++)); do
		printf 'image %d 0 0 0 0 /%s/z%s%d\n' $i "$quotes" "$quotes" $i
		printf 'object 1 555555555000 0 100000 1 - /%s/z%s%d\n' \
			"$quotes" "$quotes" $i
		for ((j = 0; j < 50; j++)); do
			printf 'bucket %x %d\n' $((j * 0x4000)) \
				$((i < 10 ? 60000 : 1))
		done
		printf 'unreached /%s%d %s\n' "$quotes" $i "$quotes"
	done
	echo 'image 99 0 0 0 0 /bin/many'
	printf 'object 1 555555555000 %x %x 4 %s %s\n' $pgoff $size \
		"$build_id" "$dir/libmany.so"
	printf 'bucket %x %d\n' "${buckets[@]}"
}
buckets=()
for ((i = 0; i < 60 * 500; i++)); do
	buckets+=($((first + 4 * i)) 1000)
done
describe_worst | "$dir/compose" "$dir/worst.prf"
check 'too much of everything' write "$dir/g.html" "$dir/worst.prf"
check 'the page has room for some of it' page "$dir/g.html" small 3060 60002500
check 'it is well-formed as well' page "$dir/g.html" sound
check 'twice too much' write "$dir/g.html" --diff "$dir/worst.prf" \
	"$dir/worst.prf"
check 'has room, too' below "$dir/g.html" 2000000

# Two profiles
examine "$known"
make "$dir/after.prf" "$known" 300 620 85
check 'two profiles' write "$dir/f.html" --diff "$dir/html.prf" "$dir/after.prf"
"$prohist" --diff "$dir/html.prf" "$dir/after.prf" > "$dir/f.txt"
check 'what changed by more than chance' page "$dir/f.html" changes "$dir/f.txt"
check 'the page of both is well-formed' page "$dir/f.html" sound
check 'it can load nothing either' page "$dir/f.html" alone
check 'a listing of each' page "$dir/f.html" listed alpha '600 300' '600 300' \
	Before After
check 'both summaries' page "$dir/f.html" has 'Before After' \
	'CPU time by the kernel 1.002 s 1.022 s'
check '--diff prints no other format' status 2 --diff --format=csv \
	"$dir/html.prf" "$dir/after.prf"

# A profile without ticks, and addresses at the end of the address space
printf 'run 1000 q\nimage 1 0 0 1 0 /bin/q\n' | "$dir/compose" "$dir/g.prf"
check 'no ticks' write "$dir/g.html" "$dir/g.prf"
check 'an empty page' page "$dir/g.html" sound
check 'no ticks before' write "$dir/g.html" --diff "$dir/g.prf" "$dir/html.prf"
check 'nothing to compare' page "$dir/g.html" has \
	'A profile without ticks cannot be compared.'
"$dir/synthesize" "$dir/g.prf" /nonexistent '' fffffffffffff000 1000 0 7
check 'absurd addresses' write "$dir/g.html" "$dir/g.prf"

finish
