#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# dos.sh DIR: tests reading and writing files of MS-DOS PROFIL. Also reads the
# output with od.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/check.sh
. "$(dirname "$0")/check.sh"

# Clock 1000, 8 buckets of 2 paragraphs from 0x100 to 0x110, DOS from 0x40;
# 3 I/O, 4 DOS, 65535 high; the last bucket is zero
printf '%b' '\xe8\x03\x08\0\x02\0\0\x01\x10\x01\x40\0\x03\0\x04\0\xff\xff' \
	'\x01\0\0\0\0\0\0\0\x02\0\x01\0\0\0\0\0' > "$dir/dos.PRF"
"$prohist" "$dir/dos.PRF" | tail -n +2 > "$dir/dos.txt"
check 'a file of MS-DOS' diff "$here/dos.txt" "$dir/dos.txt"
printf '%b' '\xe8\x03\x01\0\x02\0\0\x01\x10\x01\x40\0\x03\0\x04\0\x05\0\0\0' \
	> "$dir/zero.PRF"
check 'one without hits' "$prohist" "$dir/zero.PRF"

# words FILE: prints a file as decimal numbers: the header, then INDEX:COUNT for
# each bucket that is not zero
words()
{
	od -An -v -w2 -tu2 --endian=little "$1" |
		awk 'NR <= 9 { printf "%d ", $1 }
		     NR > 9 && $1 { printf "%d:%d ", NR - 10, $1 }'
}

# is FILE WORD...: succeeds if the file consists of these words
is()
{
	local file=$1 got

	shift
	got=$(words "$file")
	[ "$got" = "$* " ] || { echo "has: $got"; echo "not: $*"; return 1; }
}

# write FILE OPTION...: writes .PRF to FILE, and messages to FILE.said
write()
{
	local file=$1

	shift
	"$prohist" --format=dos -o "$file" "$@" 2> "$file.said"
}

# says FILE [TEXT]: succeeds if a message contains TEXT or, without TEXT, if
# there is no message
says()
{
	if [ $# = 1 ]; then
		! grep . "$1.said"
	else
		has "$1.said" "$2"
	fi
}

# Two programs, a library at two addresses, the dynamic linker, the vDSO, and
# code without a file: 30 ticks in the kernel, 4 left out, 5 outside
"$dir/compose" "$dir/p.prf" <<- 'END'
	run 1000000 one and two
	image 10 20 5 2 4 /bin/one
	object 1 555555556000 1000 2340 4 - /bin/one
	bucket 0 7
	bucket c 1
	bucket 10 100
	bucket 233c 65000
	object 2 7f0000001000 1000 10000 4 - /lib/libm.so
	bucket 40 50
	object 3 7f1000001000 1000 10000 4 - /lib/ld.so
	bucket 80 60
	object 4 7fff00000000 0 2000 4 - [vdso]
	bucket 400 70
	object 5 7e0000000000 0 1000 4 - [anonymous]
	bucket 0 80
	image 11 10 0 0 0 /bin/two
	object 1 401000 1000 1000 4 - /bin/two
	bucket 800 90
	unreached /bin/three it is set-user-ID
END
write "$dir/p.dos" "$dir/p.prf"
check 'what is written is read' is "$dir/p.dos" \
	1000 564 1 256 820 0 34 180 175 0:8 1:100 563:65000
check 'ticks of other programs are said' says "$dir/p.dos" \
	'90 of the high hits are in other programs'
check 'programs that were not profiled' says "$dir/p.dos" \
	'1 program was not profiled'
check 'nothing else is' test "$(wc -l < "$dir/p.dos.said")" = 2
"$prohist" "$dir/p.dos" > "$dir/p.dos.txt"
check 'prohist reads it' has "$dir/p.dos.txt" \
	'^ +65000 0x0*3330 +100.0 % +99.8 %'
check 'and the hits of DOS' has "$dir/p.dos.txt" '^ +180 hits in libraries'

write "$dir/q.dos" --dso=two "$dir/p.prf"
check 'another program' is "$dir/q.dos" \
	1000 256 1 256 512 0 34 180 65193 128:90
write "$dir/r.dos" "$dir/p.prf" "$dir/p.prf"
check 'two files are added' is "$dir/r.dos" \
	1000 564 1 256 820 0 68 360 350 0:16 1:200 563:65535
check 'hits above 65535 are said' says "$dir/r.dos" '64465 hits are missing'

# Text of 3 MiB: buckets of four paragraphs
"$dir/compose" "$dir/large.prf" <<- 'END'
	run 61600 large
	image 10 0 0 0 0 /bin/large
	object 1 555555556000 1000 300000 4 - /bin/large
	bucket 3c 1
	bucket 2ffffc 2
END
write "$dir/large.dos" "$dir/large.prf"
check 'a large text' is "$dir/large.dos" \
	62 49152 4 0 65535 0 0 0 0 0:1 49151:2
check 'its addresses are said' says "$dir/large.dos" \
	'start of the text, which is at offset 0x1000'
check 'its end is said' says "$dir/large.dos" \
	'the text has 196608 paragraphs'

# Text far from the start of the file, buckets of 64 bytes, and a long period
"$dir/compose" "$dir/far.prf" <<- 'END'
	run 100000000 far
	image 10 0 0 0 0 /bin/far
	object 1 555555556000 500000 1000 64 - /bin/far
	bucket 80 3
END
write "$dir/far.dos" "$dir/far.prf"
check 'a text far off, in buckets' is "$dir/far.dos" \
	65535 64 4 0 256 0 0 0 0 2:3
check 'a period that is too long is said' says "$dir/far.dos" \
	'clock_grain is 65535 us.*100000 us'

# More text than the format can describe
"$dir/compose" "$dir/huge.prf" <<- 'END'
	run 1000000 huge
	image 10 0 0 0 0 /bin/huge
	object 1 0 0 fffffffffffff000 4 - /bin/huge
	bucket 80 3
END
check 'a text that is too large' status 2 --format=dos -o "$dir/huge.dos" \
	"$dir/huge.prf"
check 'no such DSO' status 2 --format=dos --dso=nothing \
	-o "$dir/p.dos" "$dir/p.prf"
check 'no selection in a file of MS-DOS' status 2 --comm=one "$dir/p.dos"
check 'two DSOs' status 2 --format=dos --dso=one --dso=two "$dir/p.prf"
terminal()
{
	script -qec "$prohist --format=dos $dir/p.prf" /dev/null |
		grep -q 'not writing this format to a terminal'
}
if has_terminals; then
	check 'not to a terminal' terminal
else
	skip 'not to a terminal' 'no pseudo-terminals: /dev/pts is missing'
fi

finish
