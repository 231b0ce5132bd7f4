#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# autofdo.sh DIR: tests that llvm-profdata reads the profile for clang, and that
# clang makes a program faster with it.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/../host/prohist/whole.sh"
# shellcheck source=selftests/viewers/times.sh
. "$(dirname "$0")/times.sh"

needs llvm-profdata llvm

# In each function, large parts that never run lie between small ones that do,
# and nothing in the source says which.
python3 > "$dir/parts.c" << 'END'
functions, parts = 150, 8
print('''#include <stdio.h>
#include <stdlib.h>
volatile long counter;
long mask = 0xffffffffff;
#define TEN counter++; counter++; counter++; counter++; counter++; \\
	counter++; counter++; counter++; counter++; counter++;
#define MANY TEN TEN TEN TEN TEN TEN''')
for f in range(functions):
    print(f"static __attribute__((noinline)) long f{f}(long x)\n{{")
    for part in range(parts):
        print(f"\tif (x & {1 << (40 + part)}) {{\n\t\tMANY\n\t\tx = rand();\n\t}}")
        print(f"\tx = x * 3 + {f * 100 + part + 1};\n\tx &= mask;")
    print("\treturn x;\n}")
print("static long all(long x)\n{")
for f in range(functions):
    print(f"\tx = f{f}(x);")
print('''	return x;
}
int main(int argc, char **argv)
{
	long i, x = 1, times = atol(argv[1]);
	for (i = 0; i < times; i++)
		x = all(x);
	printf("%ld\\n", x);
}''')
END
parts=$dir/parts
again=$dir/parts.again
flags=(-O2 -gmlt -fdebug-info-for-profiling '-Wl,--build-id')

check 'a program' clang "${flags[@]}" -o "$parts" "$parts.c"
[ $failed = 0 ] || finish

profile()
{
	"$dir/tools/profil" -t 100 --bucket=1 -o "$parts.prf" \
		"$parts" 8000000 &&
		"$prohist" --format=autofdo -o "$parts.prof" "$parts.prf"
}
check 'its profile' profile

# Functions with their totals and entries, in any order
totals()
{
	sed -n 's/^\([^ ].*\):\([0-9]*\):\([0-9]*\)$/\1 \2 \3/p' "$parts.prof" |
		sort
}
read_totals()
{
	llvm-profdata show --sample "$parts.prof" 2>&1 |
		sed -nE 's/^Function: (.*): ([0-9]+), ([0-9]+), .*/\1 \2 \3/p
			/^(warning|error)/p' | sort
}
check 'llvm-profdata reads all functions' diff <(totals) <(read_totals)
check 'which are many' test "$(totals | wc -l)" -gt 140

optimise()
{
	clang "${flags[@]}" -Wall -Werror -fprofile-sample-use="$parts.prof" \
		-o "$again" "$parts.c"
}
check 'clang uses the profile' optimise

same_result()
{
	[ "$("$parts" 7)" = "$("$again" 7)" ]
}
check 'the program does the same' same_result

faster()
{
	local plain after

	read -r plain after < <(user_times "$parts" "$again" 600000)
	printf '%.2f s, then %.2f s\n' "$plain" "$after" | tee "$dir/faster"
	awk -v a="$after" -v b="$plain" 'BEGIN { exit !(a < 0.97 * b) }'
}
check 'the program is faster' faster
sed 's/^/# /' "$dir/faster"

finish
