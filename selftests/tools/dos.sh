#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# dos.sh DIR: files of MS-DOS PROFIL.

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

finish
