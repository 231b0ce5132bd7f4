#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# names.sh DIR: whose names prohist gives to code, and when it does not.

. "$(dirname "$0")/check.sh"

ID=00112233 make "$dir/d.prf" "$known" 600 300 85
"$prohist" "$dir/d.prf" > "$dir/d.txt"
check 'another build-id is said' has "$dir/d.txt" 'its build-id differs'
check 'and names are not used' lacks "$dir/d.txt" 'alpha'

make "$dir/e.prf" /nonexistent/known 600 300 85
"$prohist" "$dir/e.prf" > "$dir/e.txt"
check 'a missing file is said' has "$dir/e.txt" 'cannot be read'
check 'its code has addresses' has "$dir/e.txt" ' known\+0x[0-9a-f]+ '

strip -o "$dir/stripped" "$known"
make "$dir/f.prf" "$dir/stripped" 600 300 85
"$prohist" "$dir/f.prf" > "$dir/f.txt"
check 'stripped code goes by functions' has "$dir/f.txt" \
	" 600 .* stripped\\+0x0*$(printf '%x' $((vaddr + 16#$(offset "$known" alpha)))) "

finish
