#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# annotate.sh DIR: tests prohist --annotate, which shows instructions and source
# with their ticks.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/check.sh
. "$(dirname "$0")/check.sh"

annotate()
{
	"$prohist" --annotate="$1" "$2" > "$dir/annotated.txt" \
		2> "$dir/annotated.err"
}

address()
{
	printf '%x' $((vaddr + 16#$(offset "$known" "$1")))
}

make "$dir/annotate.prf" "$known" 600 300 85
program=("${described[@]}")
at=$(address alpha)
annotate alpha "$dir/annotate.prf"
check 'a function' test $? = 0
check 'its heading' has "$dir/annotated.txt" "^alpha \\($known\\)$"
check 'its ticks' has "$dir/annotated.txt" \
	'^600 ticks, 60.0 % \+- 3.0 % of all; buckets of 1 byte$'
check 'ticks, instruction and source' has "$dir/annotated.txt" \
	"^ +600 100.0 % +$at  [a-z].* known.c:[0-9]+   return n \\* n \\+ 1;$"
check 'another line of the source' has "$dir/annotated.txt" ' [0-9]+  }$'
check 'an instruction without ticks' has "$dir/annotated.txt" \
	'^ +[0-9a-f]+  ret'
check 'nothing shares a bucket' lacks "$dir/annotated.txt" '\+N'

# A library has a function of the same name
library=$dir/libnames.so
examine "$library"
describe "$library" _ZN5outer5innerEi 40
"$dir/synthesize" "$dir/two.prf" "${program[@]}" -- "${described[@]}"
for name in 'outer::inner' 'outer::inner(int)' _ZN5outer5innerEi; do
	annotate "$name" "$dir/two.prf"
	check "$name in one object" has "$dir/annotated.txt" '^ +85 100.0 % '
	check "$name in another" has "$dir/annotated.txt" '^ +40 100.0 % '
done

# A bucket covers a whole function, and more
examine "$known"
BUCKET=64 "$dir/synthesize" "$dir/wide.prf" "${program[@]:0:4}" \
	"$(offset "$known" delta)" 30
annotate delta "$dir/wide.prf"
check 'ticks of a bucket that is shared' has "$dir/annotated.txt" \
	"^ +30 100.0 % \\+[1-9][0-9]* +$(address delta)  "
check 'it is said' has "$dir/annotated.txt" '^\+N: of this instruction or one'
check 'a bucket that is too long' has "$dir/annotated.txt" \
	'^its last bucket, with 30 ticks, reaches beyond its end$'
total()
{
	awk '/ [0-9]+\.[0-9] % / && !/ of all/ { sum += $1 }
	     END { exit sum != '"$1"' }' "$dir/annotated.txt"
}
check 'no tick is missing' total 30

# The bucket of the code before a function covers its first instructions, too
before=$((16#$(offset "$known" beta) - 2))
BUCKET=4 "$dir/synthesize" "$dir/cut.prf" "$known" "${program[1]}" \
	"$(printf '%x' $((pgoff + before % 4)))" "${program[3]}" \
	"$(printf '%x' $((before / 4 * 4)))" 70 \
	"$(printf '%x' $((before / 4 * 4 + 4)))" 30
annotate beta "$dir/cut.prf"
check 'a beginning that is counted elsewhere' has "$dir/annotated.txt" \
	'^70 ticks of a bucket that reaches into its beginning are not here$'

# File names that objdump could take for options
cd "$dir" || exit
echo --nonsense > options
for name in -D @options ./--help; do
	cp "$known" "$dir/$name"
	"$dir/synthesize" "$dir/name.prf" "$name" "${program[@]:1}"
	annotate alpha "$dir/name.prf"
	check "a file called $name" has "$dir/annotated.txt" \
		"^ +600 100.0 % +$at "
done
cd "$here" || exit

# fails FUNCTION FILE REASON: succeeds if --annotate fails for this reason
fails()
{
	annotate "$1" "$2"
	[ $? = 2 ] && has "$dir/annotated.err" "$3"
}
check 'no such function' fails aplha "$dir/annotate.prf" \
	"^prohist: no function 'aplha' has ticks; there is 'alpha'"
check 'a part of a name' fails inner "$dir/annotate.prf" \
	"there is 'outer::inner\\(int\\)'$"
check 'nothing like it' fails xyzzy "$dir/annotate.prf" "has ticks$"
check 'no text' fails '[kernel]' "$dir/annotate.prf" 'there is no file of it'
ID=00 make "$dir/other.prf" "$known" 600 300 85
check 'another object' fails "known+0x$at" "$dir/other.prf" \
	'its build-id differs'
# with_path DIRECTORIES REASON: succeeds if --annotate fails for this reason,
# with an objdump that is missing or broken
with_path()
{
	! PATH=$1 "$prohist" --annotate=alpha "$dir/annotate.prf" \
		2> "$dir/annotated.err" && has "$dir/annotated.err" "$2"
}
check 'no objdump' with_path /nonexistent \
	'there is no objdump: install binutils'
mkdir -p "$dir/bad"
printf '#!/bin/sh\nexit 3\n' > "$dir/bad/objdump"
chmod +x "$dir/bad/objdump"
check 'an objdump that fails' with_path "$dir/bad" 'objdump failed'

# The source is missing, or newer than the program
mkdir -p "$dir/moved"
cp "$here/known.c" "$dir/moved"
(cd "$dir/moved" && gcc -O1 -g -Wl,--build-id -o known "$PWD/known.c")
examine "$dir/moved/known"
describe "$dir/moved/known" alpha 600
"$dir/synthesize" "$dir/moved.prf" "${described[@]}"
touch -d '1 hour' "$dir/moved/known.c"
annotate alpha "$dir/moved.prf"
check 'a source that is newer' has "$dir/annotated.txt" \
	'^the source is newer than the DSO$'
rm "$dir/moved/known.c"
annotate alpha "$dir/moved.prf"
check 'a source that is gone' has "$dir/annotated.txt" \
	'^ +600 100.0 % .* known.c:[0-9]+$'
ln -s /proc/self/status "$dir/moved/known.c"
annotate alpha "$dir/moved.prf"
check 'a source that the kernel makes as it is read' has "$dir/annotated.txt" \
	'^ +600 100.0 % .* known.c:[0-9]+$'
rm "$dir/moved/known.c"

# A program that names files which its owner may not read, when root asks. Other
# users need a way to it.
hostile()
{
	annotate alpha "$hostile.prf"
	"$prohist" --html -o "$hostile.html" "$hostile.prf" 2> /dev/null
	cat "$dir/annotated.txt" "$hostile.html" > "$hostile.shown"
}
if [ "$(id -u)" = 0 ]; then
	hostile=$(mktemp -d)
	trap 'rm -rf "$hostile"*' EXIT
	chmod 755 "$hostile"
	for file in readable secret closed/readable; do
		mkdir -p "$hostile/closed"
		chmod 700 "$hostile/closed"
		echo 'line of a file' > "$hostile/$file"
		chmod 644 "$hostile/$file"
		[ $file != secret ] || chmod 600 "$hostile/secret"
		printf '#line 1 "%s"\nint alpha(int n) { return n * n + 1; } int main(void) { return alpha(2); }\n' \
			"$hostile/$file" |
			gcc -O1 -g -Wl,--build-id -o "$hostile/program" -x c -
		examine "$hostile/program"
		describe "$hostile/program" alpha 600
		"$dir/synthesize" "$hostile.prf" "${described[@]}"
		hostile
		check "$file: root's program may show it" has "$hostile.shown" 'line of a file'
		chown 54321 "$hostile/program"
		hostile
		if [ $file = readable ]; then
			check "so may a user's" has "$hostile.shown" 'line of a file'
		else
			check "a user's may not" lacks "$hostile.shown" 'line of a file'
		fi
		check 'it has instructions' has "$hostile.shown" 'ret'
	done
	# objdump has the rights of the owner
	mkdir "$hostile/bin"
	printf '#!/bin/sh\ncat /proc/self/status >> "%s"\n' "$hostile/status" > "$hostile/bin/objdump"
	chmod 755 "$hostile/bin" "$hostile/bin/objdump"
	true > "$hostile/status"
	chmod 666 "$hostile/status"
	PATH=$hostile/bin:$PATH hostile
	check 'objdump is run by the owner' has "$hostile/status" \
		'^Uid:.54321.54321.54321.54321$'
	check 'without groups' has "$hostile/status" '^Groups:\s*$'
fi

finish
