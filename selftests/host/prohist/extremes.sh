#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# extremes.sh DIR: converts profiles with the largest numbers that a file can
# have to every format.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/whole.sh"

most=17592186044416 # 2^44: sums are 2^48 at most
{
	printf 'run 18446744073709551615 extremes\n'
	printf 'image 4294967295 %d %d %d %d %s\n' $most $most $most $most "$pie"
	object 1 fffffffffff00000 "$pie" pie_alpha 8589934592 pie_beta $most
	cat <<- END
		object 1 ffffffffffff0000 ffffffffffff0000 f000 1 - /bin/top
		bucket efff $most
		object 2 0 ffffffffffffffff ffffffffffffffff 2147483648 - /bin/all
		bucket 0 $most
		bucket ffffffff80000000 $most
		object 5 0 0 ffffffffffffffff 2147483648 - [elsewhere]
		bucket ffffffff80000000 $most
	END
	printf 'image 0 0 0 0 0 nothing\n'
} | "$dir/compose" "$dir/extremes.prf"
printf 'run 0 nothing\n' | "$dir/compose" "$dir/empty.prf"

# survives FORM STATUS FILE...: succeeds if prohist exits with this status, and
# no sanitizer reports an error
survives()
{
	"$prohist" --format="$1" -o /dev/null "${@:3}" 2> "$dir/survives"
	[ $? = "$2" ] || { cat "$dir/survives"; return 1; }
	prints_nothing grep -E 'Sanitizer|runtime error' "$dir/survives"
}

for form in text json svg autofdo bolt callgrind firefox folded gmon perf \
		pprof speedscope; do
	check "$form of extremes" survives $form 0 "$dir/extremes.prf"
done
check 'dos of extremes' survives dos 0 --dso=pie "$dir/extremes.prf"
check 'dos of too much' survives dos 2 --dso=/bin/all \
	"$dir/extremes.prf"
check 'dos at the top' survives dos 0 --dso=/bin/top "$dir/extremes.prf"
check 'what gprof cannot count is said' has \
	<("$prohist" --format=gmon -o /dev/null "$dir/extremes.prf" 2>&1) \
	'^prohist: 17596481011714 ticks are missing: gprof counts up to 2147483647'

for form in text json svg callgrind firefox folded perf pprof speedscope; do
	check "$form of nothing" survives $form 0 "$dir/empty.prf"
done
for form in gmon dos autofdo bolt; do
	check "$form of nothing" survives $form 2 "$dir/empty.prf"
done

finish
