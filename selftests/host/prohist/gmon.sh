#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# gmon.sh DIR: tests that gprof reads gmon.out.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/whole.sh"

needs gprof binutils

# flat DSO FILE...: prints functions and their seconds
flat()
{
	gprof -b -p "$@" | awk '/^ *[0-9.]+ +[0-9]/ { print $NF, $3 }'
}

# is DSO FILE LINE...: succeeds if these are the functions and their seconds
is()
{
	flat "$1" "$2" | diff - <(printf '%s\n' "${@:3}")
}

# A tick is a second, so that gprof's seconds are ticks
run_whole 1000000000 | "$dir/compose" "$dir/slow.prf"
run_again 1000000000 | "$dir/compose" "$dir/slower.prf"

write gmon "$dir/pie.gmon" "$dir/slow.prf"
check 'the program, at any address' is "$pie" "$dir/pie.gmon" \
	'pie_beta 70000.00' 'pie_alpha 600.00' 'outer::inner(int) 90.00'
check 'gprof does not complain' silent gprof -b -p "$pie" "$dir/pie.gmon"
check 'ticks of other DSOs are reported' has "$dir/pie.gmon.said" \
	"^prohist: $pie has 70690 of 270910 ticks"
write gmon "$dir/fixed.gmon" --dso=fixed "$dir/slow.prf"
check 'a program at a fixed address' is "$fixed" "$dir/fixed.gmon" \
	'fixed_beta 9.00' 'fixed_alpha 7.00'
write gmon "$dir/own.gmon" --dso="$library" "$dir/slow.prf"
check 'a library, from two images' is "$library" "$dir/own.gmon" \
	'own_alpha 200011.00' 'own_beta 1.00'

write gmon "$dir/both.gmon" "$dir/slow.prf" "$dir/slower.prf"
check 'two files are added' is "$pie" "$dir/both.gmon" \
	'pie_beta 70000.00' 'pie_alpha 650.00' 'outer::inner(int) 90.00'
added()
{
	(cd "$dir" && gprof -s "$fixed" fixed.gmon fixed.gmon > gprof.log) &&
		is "$fixed" "$dir/gmon.sum" 'fixed_beta 18.00' \
			'fixed_alpha 14.00'
}
check 'gprof adds files' added

# With the real periods: 600 + 70000 + 90 ticks of 1 ms, and 50 of 2 ms
write gmon "$dir/time.gmon" "$dir/whole.prf"
check 'seconds' is "$pie" "$dir/time.gmon" \
	'pie_beta 70.00' 'pie_alpha 0.60' 'outer::inner(int) 0.09'
run_again 3300000 | "$dir/compose" "$dir/odd.prf"
write gmon "$dir/time.gmon" "$dir/odd.prf"
check 'seconds of a broken rate' is "$pie" "$dir/time.gmon" \
	'pie_alpha 0.17'
run_again 700000000 | "$dir/compose" "$dir/odd.prf"
write gmon "$dir/time.gmon" "$dir/odd.prf"
check 'a rate that has no whole number is said' has "$dir/time.gmon.said" \
	'1.43 of the true ones: it was 1.429 ticks'

refused()
{
	[ "$("$prohist" --format=gmon -o "$dir/no.gmon" "${@:2}" 2>&1)" = \
		"prohist: $1" ]
}
check 'a file that is gone' refused \
	'/nonexistent/libgone.so: the file is gone, or is not an ELF file' \
	--dso=libgone.so "$dir/whole.prf"
check 'no file' refused '[anonymous]: it is no file' \
	--dso='[anonymous]' "$dir/whole.prf"
check 'no such DSO' refused \
	'libnothing.so: no such DSO; --sort=dso lists those with ticks' \
	--dso=libnothing.so "$dir/whole.prf"

finish
