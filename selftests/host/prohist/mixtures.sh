#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# mixtures.sh DIR [PAIRS]: tests that --diff --fail-over never takes a difference
# in how two profiles were measured for growth, and finds true growth. For
# mixtures.c, which makes the profiles; 2,000 pairs take some minutes.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/whole.sh"

export LC_ALL=C
pairs=${2:-60}
work=$dir/mixed
parts=()
for file in "$pie" "$library"; do
	examine "$file"
	word=own
	[ "$file" = "$library" ] || word=pie
	[ ${#parts[@]} = 0 ] || parts+=(--)
	parts+=("$file" "$build_id" "$(printf %x $pgoff)" "$(printf %x $size)")
	for function in ${word}_alpha ${word}_beta _ZN5outer5innerEi; do
		parts+=("$(offset "$file" "$function")")
	done
done

# judge PERCENT SEED: judges pairs after which a function has grown by PERCENT,
# and sets count to the numbers of exit statuses; every second pair is of one
# program of two
judge()
{
	local i options

	rm -rf "$work"
	mkdir "$work"
	"$dir/mixtures" "$work" "$pairs" "$1" "$2" "${parts[@]}" || return
	count=(0 0 0)
	none=0
	for ((i = 1; i <= pairs; i++)); do
		options=(--fail-over=2%)
		((i % 2)) || options+=(--comm=program)
		"$prohist" --diff "${options[@]}" "$work/before.$i" \
			"$work/after.$i" > "$work/out" 2> /dev/null
		((++count[$?]))
		tail -n 1 "$work/out" >> "$work/last"
	done
	none=$(grep -c ': no verdict' "$work/last")
	echo "# $pairs pairs, growth $1 %: ${count[0]} ok, ${count[1]} slower," \
		"$((count[2] - none)) too few, $none no verdict"
	sed -n 's/^prohist: \(slower\|no verdict\)/# &/p' "$work/last" |
		sed 's/ by .*//' | sort | uniq -c
}

# At most 5 % may be called slower that have not grown by more than 2 %: more than
# this number of them has a probability of less than one in a million
most=$(awk -v n="$pairs" 'BEGIN { print int(n / 20 + 5 * sqrt(n / 20) + 3) }')
judge 0 24
check 'nothing has changed' test "${count[1]}" -le $((most / 2))
judge 2 25
check 'growth by the threshold is not slower' test "${count[1]}" -le "$most"
judge 9 26
check 'none of those that have grown is ok' test "${count[0]}" = 0
check 'growth is found' test "${count[1]}" -ge $(((pairs - none) * 9 / 10))

finish
