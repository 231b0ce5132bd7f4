#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bolt.sh DIR: tests that llvm-bolt makes a program faster with the format that
# is for it.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/../host/prohist/whole.sh"
# shellcheck source=selftests/viewers/times.sh
. "$(dirname "$0")/times.sh"

needs llvm-bolt-16 bolt-16

# In each function, large parts that never run lie between small ones that do.
# The latter fit into the cache of instructions only if they lie together.
python3 > "$dir/spread.c" << 'END'
functions, parts = 150, 8
print('''#include <stdio.h>
#include <stdlib.h>
long counter;
#define PART(n) do { \\
	if (x == n) { \\
		__asm__ volatile(".rept 60\\n\\tincq counter(%%rip)\\n\\t.endr" :); \\
		x = rand(); \\
	} \\
	x = x * 3 + n; \\
} while (0)''')
for f in range(functions):
    print(f"static __attribute__((noipa)) long f{f}(long x)\n{{")
    for part in range(parts):
        print(f"\tPART(-{f * 100 + part + 1});")
    print("\treturn x & 0xffffffffff;\n}")
print("static long (*const all[])(long) = {")
print(",".join(f"f{f}" for f in range(functions)))
print('''};
int main(int argc, char **argv)
{
	long i, j, x = 1, times = atol(argv[1]);
	for (i = 0; i < times; i++)
		for (j = 0; j < sizeof(all) / sizeof(*all); j++)
			x = all[j](x);
	printf("%ld\\n", x);
}''')
END
times=100000
spread=$dir/spread
bolted=$dir/spread.bolt

build()
{
	gcc -O1 -fno-reorder-blocks -no-pie -fno-pie -Wl,-q,--build-id \
		-o "$spread" "$spread.c"
}
check 'a program with relocations' build
[ $failed = 0 ] || finish

profile()
{
	"$dir/tools/profil" -t 100 --bucket=1 -o "$spread.prf" \
		"$spread" "$times" &&
		"$prohist" --format=bolt -o "$spread.fdata" "$spread.prf"
}
check 'its profile' profile

optimise()
{
	llvm-bolt-16 "$spread" -o "$bolted" -data="$spread.fdata" \
		-reorder-blocks=ext-tsp -reorder-functions=hfsort+ \
		-split-functions > "$dir/bolt.txt" 2>&1 || return
	cat "$dir/bolt.txt"
	lacks "$dir/bolt.txt" 'stale|does not match|invalid' &&
		has "$dir/bolt.txt" 'modified layout of 1[45][0-9] functions'
}
check 'llvm-bolt reads the profile' optimise

same_result()
{
	[ "$("$spread" 7)" = "$("$bolted" 7)" ]
}
check 'the program does the same' same_result

faster()
{
	local plain after

	read -r plain after < <(user_times "$spread" "$bolted" "$times")
	printf '%.2f s, then %.2f s\n' "$plain" "$after" | tee "$dir/faster"
	awk -v a="$after" -v b="$plain" 'BEGIN { exit !(a < 0.8 * b) }'
}
check 'the program is faster' faster
sed 's/^/# /' "$dir/faster"

# The names of symbols are those of llvm-bolt: its own converter writes the same
# lines, but drops counts, and has code without symbols
as_perf2bolt()
{
	"$prohist" --format=perf -o "$spread.perf" "$spread.prf" &&
		/usr/lib/llvm-16/bin/perf2bolt -nl -p "$spread.perf" \
			-o "$spread.other" "$spread" || return
	diff <(cut -d ' ' -f 1-3 "$spread.fdata" | sort) \
		<(cut -d ' ' -f 1-3 "$spread.other" | sort | grep -v @PLT)
}
check 'the lines are those of perf2bolt' as_perf2bolt

finish
