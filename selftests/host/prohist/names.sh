#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# names.sh DIR: tests where prohist finds symbols, and when it must not use any.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/check.sh
. "$(dirname "$0")/check.sh"

ID=00112233 make "$dir/d.prf" "$known" 600 300 85
"$prohist" "$dir/d.prf" > "$dir/d.txt"
check 'another build-id is said' has "$dir/d.txt" 'its build-id differs'
check 'and names are not used' lacks "$dir/d.txt" 'alpha'
ID=$(tr 0-9a-f 1-9a-f0 <<< "$build_id") make "$dir/d.prf" "$known" 600 300 85
"$prohist" "$dir/d.prf" > "$dir/d.txt"
check 'so is one as long' has "$dir/d.txt" 'its build-id differs'

# Without a build ID, a file that was changed later may be another one, whichever
# of two runs comes first
objcopy -R .note.gnu.build-id "$known" "$dir/unnumbered"
now=$(stat -c %Y "$dir/unnumbered")000000000
ID='' START=$((now - 10000000000)) make "$dir/d.prf" "$dir/unnumbered" 600 300 85
ID='' START=$((now + 10000000000)) make "$dir/e.prf" "$dir/unnumbered" 600 300 85
"$prohist" "$dir/e.prf" > "$dir/e.txt"
check 'a file without a build-id is used' has "$dir/e.txt" ' 600 .* alpha '
check 'and not complained of' lacks "$dir/e.txt" 'cannot tell'
for files in 'd.prf' 'd.prf e.prf' 'e.prf d.prf'; do
	# shellcheck disable=SC2086 # several words
	(cd "$dir" && "$prohist" $files) > "$dir/d.txt"
	check 'unless it was changed since' has "$dir/d.txt" \
		'cannot tell .* no build-id, and changed since'
done
for format in bolt gmon; do
	"$prohist" --format=$format "$dir/d.prf" 2> "$dir/d.said" > "$dir/d.out"
	check "$format, too" has "$dir/d.said" \
		'/unnumbered: cannot tell whether the file is the same'
done
check 'but it may be the same' has "$dir/d.txt" ' 1200 .* alpha '

make "$dir/e.prf" /nonexistent/known 600 300 85
"$prohist" "$dir/e.prf" > "$dir/e.txt"
check 'a missing file is said' has "$dir/e.txt" 'the file is gone, or is not an ELF file'
check 'its code has addresses' has "$dir/e.txt" ' known\+0x[0-9a-f]+ '

strip -o "$dir/stripped" "$known"
make "$dir/f.prf" "$dir/stripped" 600 300 85
"$prohist" "$dir/f.prf" > "$dir/f.txt"
check 'stripped code goes by functions' has "$dir/f.txt" \
	" 600 .* stripped\\+0x0*$(printf '%x' $((vaddr + 16#$(offset "$known" alpha)))) "

# Symbols in a separate file, in two places
cp "$known" "$dir/apart"
objcopy --only-keep-debug "$dir/apart" "$dir/apart.debug"
strip "$dir/apart"
objcopy --add-gnu-debuglink="$dir/apart.debug" "$dir/apart"
make "$dir/g.prf" "$dir/apart" 600 300 85
"$prohist" "$dir/g.prf" > "$dir/g.txt"
check 'symbols by .gnu_debuglink' has "$dir/g.txt" ' 600 .* alpha \(apart\)'

by_id=$dir/debug/.build-id/${build_id:0:2}
mkdir -p "$by_id"
mv "$dir/apart.debug" "$by_id/${build_id:2}.debug"
"$prohist" "$dir/g.prf" > "$dir/h.txt"
check 'they are gone' lacks "$dir/h.txt" alpha
"$prohist" --debuginfo-path="$dir/debug" "$dir/g.prf" > "$dir/h.txt"
check 'symbols by build-id' has "$dir/h.txt" ' 600 .* alpha \(apart\)'

# The file stays if addresses of it are in use before the first names are read
use_file_first()
{
	printf 'run 1000000 x\n'
	for _ in 1 2; do
		printf 'image %d 0 0 0 0 x\nobject 1 400000 %x %x 1 - %s\n' 7 \
			"$pgoff" "$size" "$dir/unnumbered"
		printf 'bucket %s 20\nbucket %s 10\n' "$(offset "$known" alpha)" \
			"$(offset "$known" beta)"
	done
	echo 'stored 0 100000 7000000 7001000 7001010 gamma'
}
use_file_first | "$dir/compose" "$dir/g.prf"
"$prohist" --symbol=alpha "$dir/g.prf" > "$dir/g.txt"
check 'a file is not given up for names that come later' \
	has "$dir/g.txt" ' 40 .* alpha '
check 'and that it may be another one is said' has "$dir/g.txt" 'cannot tell'

# A bucket of another profile, which had no names, is in the function around it
of_one_file()
{
	printf '%s\n' 'run 1000000 x' 'image 7 0 0 0 0 x' \
		'object 1 400000 0 10000 1 01 /gone/named' "$@"
}
one_has_names()
{
	of_one_file 'bucket 1008 20' | "$dir/compose" "$dir/alone.prf"
	of_one_file 'bucket 1000 10' 'stored 0 10000 0 1000 1010 gamma' |
		"$dir/compose" "$dir/named.prf"
	"$prohist" "$dir/alone.prf" "$dir/named.prf" > "$dir/g.txt"
	has "$dir/g.txt" ' 30 .* gamma '
}
check 'names of one profile help another' one_has_names

# Ticks of two builds are no profile of either
ID=00112233 make "$dir/e.prf" "$dir/unnumbered" 600 300 85
ID=44556677 make "$dir/g.prf" "$dir/unnumbered" 600 300 85
"$prohist" --format=gmon "$dir/e.prf" "$dir/g.prf" 2> "$dir/g.said" > "$dir/g.out"
check 'status of two builds' test $? = 2
check 'it is said' has "$dir/g.said" 'several builds of it have ticks'

# A function known only from the exception table does not extend over functions
# with symbols
bare=$dir/libbare.so
examine "$bare"
describe "$bare" bare_one 30 bare_two 20
start=$(readelf -SW "$bare" | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\) .*/\1/p')
described+=("$(printf '%x' $((16#$start - vaddr)))" 50)
"$dir/synthesize" "$dir/i.prf" "${described[@]:0:4}" "${described[@]: -2}" \
	"${described[@]:4:4}"
"$prohist" "$dir/i.prf" > "$dir/i.txt"
check 'code without a name' has "$dir/i.txt" ' 50 .* libbare.so\+0x'
check 'named code behind it' has "$dir/i.txt" ' 30 .* bare_one \(libbare.so\)$'
check 'and more of that' has "$dir/i.txt" ' 20 .* bare_two \(libbare.so\)$'

# A static program may have no symbols at all
gcc -nostdlib -static -s -Wl,--build-id,-e,0 -o "$dir/mute" "$here/bare.S"
examine "$dir/mute"
"$dir/synthesize" "$dir/i.prf" "$dir/mute" "$build_id" "$(printf '%x' "$pgoff")" \
	"$(printf '%x' "$size")" 0 60
"$prohist" "$dir/i.prf" > "$dir/i.txt"
check 'code of a file without symbols' has "$dir/i.txt" ' 60 .* mute\+0x'
# elfutils would wait for somebody to write to a pipe with the name of a debug file
mkfifo "$dir/mute.debug"
check 'a pipe is no debug file' timeout 600 "$prohist" "$dir/i.prf"
mkdir -p "$dir/.debug"
cp "$dir/mute" "$dir/.debug/mute.debug"
check 'nor beside one that is a file' timeout 600 "$prohist" "$dir/i.prf"
mv "$dir/mute" "$dir/moved"
check 'nor is it that of a file that is gone' timeout 600 "$prohist" "$dir/i.prf"
rm -r "$dir/mute.debug" "$dir/.debug"
examine "$bare"

# prefers OFFSET NAME: succeeds if a tick there counts for that symbol
prefers()
{
	"$dir/synthesize" "$dir/i.prf" "${described[@]:0:4}" \
		"$(printf '%x' $((16#$outer + $1)))" 40
	"$prohist" "$dir/i.prf" > "$dir/i.txt"
	has "$dir/i.txt" " 40 .* $2 \\(libbare.so\\)$"
}
outer=$(offset "$bare" bare_outer)
check 'of several symbols, the global one' prefers 0 bare_outer
check 'not a local one in it' prefers 8 bare_outer
check 'but the nearest global one' prefers 16 inner_global
check 'and the outer one behind that' prefers 24 bare_outer
# Also beside ticks of the outer one
"$dir/synthesize" "$dir/i.prf" "${described[@]:0:4}" \
	"$(printf '%x' $((16#$outer)))" 30 "$(printf '%x' $((16#$outer + 8)))" 3 \
	"$(printf '%x' $((16#$outer + 16)))" 20 \
	"$(printf '%x' $((16#$outer + 20)))" 1 \
	"$(printf '%x' $((16#$outer + 24)))" 7
"$prohist" "$dir/i.prf" > "$dir/i.txt"
check 'an outer function has what is around an inner one' \
	has "$dir/i.txt" ' 40 .* bare_outer \(libbare.so\)$'
check 'and the inner one its own' \
	has "$dir/i.txt" ' 21 .* inner_global \(libbare.so\)$'
# A listing has each part of it once
parts()
{
	"$prohist" --annotate=bare_outer "$dir/i.prf" > "$dir/i.lst" || return
	cat "$dir/i.lst"
	[ "$(grep -c '^[0-9]* ticks, ' "$dir/i.lst")" = 2 ] &&
		has "$dir/i.lst" '^33 ticks, ' && has "$dir/i.lst" '^7 ticks, ' &&
		lacks "$dir/i.lst" 'reaches into its beginning' &&
		[ "$(grep -c "$(printf ' %x ' $((vaddr + 16#$outer + 24)))" "$dir/i.lst")" = 1 ]
}
check 'the parts of an outer function are listed' parts
outer=$(offset "$bare" unsized_one)
check 'without a size, the nearest one before' prefers 0 unsized_one
check 'but no label in a function' prefers 20 unsized_one
check 'up to the next symbol' prefers 32 unsized_two
check 'and to the end of its section' prefers 63 unsized_two
outer=$(offset "$bare" label_elsewhere)
check 'but not into another one' prefers 8 'libbare.so\+0x[0-9a-f]+'
examine "$known"

# A library, and mangled names of other languages
library=$dir/libnames.so
make "$dir/i.prf" "$known" 600 300 85
program=("${described[@]}")
examine "$library"
long=$(nm "$library" | awk '/ _RIC/ { print $3 }')
describe "$library" _ZN5outer5innerEi 40 _RNvCskwGfYPst2Cb_5crate4work 30 \
	_ZN5crate3old17h0123456789abcdefE 20 'versioned@@NAMES_2' 10 "$long" 5
"$dir/synthesize" "$dir/i.prf" "${program[@]}" -- "${described[@]}"
"$prohist" "$dir/i.prf" > "$dir/i.txt"
check 'a library' has "$dir/i.txt" ' 105 +9.5 % +#+ +libraries$'
check 'C++' has "$dir/i.txt" ' 40 .* outer::inner\(int\) \(libnames.so\)$'
check 'Rust' has "$dir/i.txt" ' 30 .* crate::work \(libnames.so\)$'
check 'Rust as it was' has "$dir/i.txt" ' 20 .* crate::old \(libnames.so\)$'
check 'a version' has "$dir/i.txt" ' 10 .* versioned \(libnames.so\)$'
check 'a name that would be too long' has "$dir/i.txt" " 5 .* $long "

# named STYLE NAME...: succeeds if these are the names in that style
named()
{
	diff <("$prohist" --names="$1" "$dir/k.prf" |
		sed -n 's/.*  \(.*\) (libnames.so)$/\1/p') \
		<(printf '%s\n' "${@:2}")
}
describe "$library" _ZNK3box4wrapIiE3getIcEEiT_ 60 _ZN3box4wrapIiEC1Ev 50 \
	_ZN3boxcvT_IiEEv 40 _ZZN3box3runIiEEiT_ENKUliE_clEi 30 \
	_RNvCskwGfYPst2Cb_5crate4work 20 _ZN5crate3old17h0123456789abcdefE 10 \
	"$long" 5
"$dir/synthesize" "$dir/k.prf" "${program[@]}" -- "${described[@]}"
templates=('int box::wrap<int>::get<char>(char) const' 'box::wrap<int>::wrap()'
	'box::operator int<int>()'
	'box::run<int>(int)::{lambda(int)#1}::operator()(int) const')
check 'short names' named short box::wrap::get box::wrap::wrap \
	'box::operator int<int>' 'box::run::{lambda(int)#1}::operator()' \
	crate::work crate::old "$long"
check 'long names' named long "${templates[@]}" \
	'crate[ef17931c9e9b4641]::work' crate::old::h0123456789abcdef "$long"
check 'default names' named default "${templates[@]}" crate::work crate::old \
	"$long"
check 'status of another style' status 2 --names=odd "$dir/k.prf"

# The vDSO of this kernel
"$dir/vdso" > "$dir/vdso.so"
examine "$dir/vdso.so"
clock=$(nm -D "$dir/vdso.so" | awk '/ __vdso_clock_gettime/ { print $1 }')
described=('[vdso]' "$build_id" "$(printf '%x' $pgoff)" "$(printf '%x' $size)"
	"$(printf '%x' $((16#$clock - vaddr)))" 50)
"$dir/synthesize" "$dir/j.prf" "${program[@]}" -- "${described[@]}"
"$prohist" "$dir/j.prf" > "$dir/j.txt"
check 'the vDSO by name' has "$dir/j.txt" \
	' 50 .* __vdso_clock_gettime \(\[vdso\]\)$'
described[1]=0123
"$dir/synthesize" "$dir/j.prf" "${program[@]}" -- "${described[@]}"
"$prohist" "$dir/j.prf" > "$dir/j.txt"
check 'that of another kernel' has "$dir/j.txt" ' 50 .* \[vdso\]$'
check 'it is said' has "$dir/j.txt" 'that of another kernel'
described[1]=
"$dir/synthesize" "$dir/j.prf" "${program[@]}" -- "${described[@]}"
"$prohist" "$dir/j.prf" > "$dir/j.txt"
check 'one without build-id' has "$dir/j.txt" ' 50 .* \[vdso\]$'

# A DSO that is gone, or is another one now, by its build ID
examine "$known"
byid=$dir/byid
below=$byid/.build-id/${build_id:0:2}/${build_id:2}
rm -rf "$byid" && mkdir -p "${below%/*}"
for path in /nonexistent/known "$dir/pie"; do
	make "$dir/m.prf" "$path" 600 300 85
	cp "$known" "$below"
	"$prohist" --debuginfo-path="$byid" "$dir/m.prf" > "$dir/m.txt"
	check "$path: the DSO by its build ID" has "$dir/m.txt" " 600 .* alpha \\(${path##*/}\\)"
	check 'without a complaint' lacks "$dir/m.txt" 'file is (gone|another)'
	"$prohist" --debuginfo-path="$byid" --annotate=alpha "$dir/m.prf" > "$dir/m.txt"
	check 'with its instructions' has "$dir/m.txt" 'known.c:'
	rm "$below"
	objcopy --only-keep-debug "$known" "$below.debug"
	"$prohist" --debuginfo-path="$byid" "$dir/m.prf" > "$dir/m.txt"
	check 'its debug file alone' has "$dir/m.txt" " 600 .* alpha \\(${path##*/}\\)"
	check 'with lines' has <("$prohist" --debuginfo-path="$byid" -l "$dir/m.prf") \
		' 600 .*known.c:[0-9]+'
	check 'but without instructions' status 2 --debuginfo-path="$byid" \
		--annotate=alpha "$dir/m.prf"
	"$prohist" --debuginfo-path="$byid" --annotate=alpha "$dir/m.prf" \
		2> "$dir/m.err"
	check 'as it says' has "$dir/m.err" 'only its debug file was found'
	rm "$below.debug"
done
cp "$dir/pie" "$below"
"$prohist" --debuginfo-path="$byid" "$dir/m.prf" > "$dir/m.txt"
check 'a file with another build ID is not used' lacks "$dir/m.txt" alpha

finish
