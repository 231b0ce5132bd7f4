#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bolt.sh DIR: tests the profile for llvm-bolt, which selftests/viewers/bolt.sh
# opens.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/whole.sh"

write bolt "$dir/both.fdata" "$dir/whole.prf" "$dir/again.prf"
check 'what was lost is said, and no more' says_lost "$dir/both.fdata"
# The mean period is 1.0002 ms
check 'symbols, offsets and ticks' diff "$dir/both.fdata" - <<- 'END'
	no_lbr cpu-clock:
	1 pie_alpha 0 700
	1 pie_beta 0 69986
	1 _ZN5outer5innerEi 0 85
	1 _ZN5outer5innerEi 2 5
END
check 'another DSO' has <("$prohist" --format=bolt --dso="$library" \
	"$dir/whole.prf" 2>&1) '^1 own_alpha 0 200011$'

# Two local functions of one name, which llvm-bolt numbers, and odd names
for file in 1 2; do
	cat > "$dir/odd$file.c" <<- END
		static __attribute__((noipa)) int same(int n) { return n * $file; }
		int call$file(int n) { return same(n); }
		void odd$file(void) { }
		void line$file(void) { }
	END
done
odd()
{
	local file control=([1]=$'\n' [2]=$'\xc2\x9b')

	for file in 1 2; do
		gcc -O1 -falign-functions=16 -fPIC -c -o "$dir/odd$file.o" \
			"$dir/odd$file.c" &&
			objcopy --redefine-sym "odd$file=odd \\ name $file" \
				--redefine-sym "line$file=line${control[file]}" \
				"$dir/odd$file.o" || return
	done
	gcc -shared -Wl,--build-id -o "$dir/libodd.so" "$dir"/odd[12].o ||
		return
	examine "$dir/libodd.so"
	{
		printf 'run 1000000 odd\nimage 1 0 0 0 0 %s\n' "$dir/libodd.so"
		printf 'object 1 7f0000001000 %x %x 1 %s %s\n' "$pgoff" "$size" \
			"$build_id" "$dir/libodd.so"
		nm "$dir/libodd.so" | grep '^0.* [tT] \(same\|odd\|line\)' | sort |
			while read -r address _; do
				printf 'bucket %08x 7\n' $((16#$address - vaddr))
			done
	} | "$dir/compose" "$dir/odd.prf"
	"$prohist" --format=bolt "$dir/odd.prf" > "$dir/odd.fdata" \
		2> "$dir/odd.said"
	diff "$dir/odd.fdata" - <<- 'END'
		no_lbr cpu-clock:
		1 same/1 0 7
		1 odd\ \\\ name\ 1 0 7
		1 same/2 0 7
		1 odd\ \\\ name\ 2 0 7
	END
}
check 'local symbols and odd names' odd
check 'ticks that no line can express' has "$dir/odd.said" \
	': 14 ticks are missing: they are in code without symbols, or in functions'

# A large program: as many local functions with ticks as would take minutes if each
# were looked for among all of them
large()
{
	local first i nr=50000

	for ((i = 0; i < nr; i++)); do
		printf '.type f%d, @function\nf%d:\n.skip 16\n.size f%d, 16\n' \
			"$i" "$i" "$i"
	done > "$dir/large.s"
	gcc -shared -nostdlib -Wl,--build-id -o "$dir/liblarge.so" \
		"$dir/large.s" || return
	examine "$dir/liblarge.so"
	first=$((16#$(offset "$dir/liblarge.so" f0)))
	{
		printf 'run 1000000 large\nimage 1 0 0 0 0 %s\n' \
			"$dir/liblarge.so"
		printf 'object 1 7f0000001000 %x %x 1 %s %s\n' "$pgoff" "$size" \
			"$build_id" "$dir/liblarge.so"
		for ((i = 0; i < nr; i++)); do
			printf 'bucket %x 7\n' $((first + 16 * i))
		done
	} | "$dir/compose" "$dir/large.prf"
	# Of CPU time
	(ulimit -t 30; exec "$prohist" --format=bolt "$dir/large.prf") \
		> "$dir/large.fdata" || return
	diff <(tail -n +2 "$dir/large.fdata") \
		<(seq -f '1 f%g/1 0 7' 0 $((nr - 1)))
}
check 'many symbols with ticks' large

run_again 1000000 | sed 's/\(object .* \)1 \([0-9a-f]\{40\}\)/\14 \2/' |
	"$dir/compose" "$dir/coarse.prf"
check 'buckets of several bytes' has \
	<("$prohist" --format=bolt "$dir/coarse.prf" 2>&1) \
	': buckets of 4 bytes: for exact instructions, use profil --bucket=1'
check 'a DSO without symbols' status 2 --format=bolt --dso=libgone.so \
	"$dir/whole.prf"

finish
