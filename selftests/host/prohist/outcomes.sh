#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# outcomes.sh DIR: tests that each format with a summary has every outcome of
# ticks, of a profile in which each has another number of ticks.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/whole.sh"

needs python3 python3
{
	printf 'run 1000000 outcomes\n'
	printf 'image 100 10 1111 1222 1333 %s\nunplaced 1444 1555\n' "$pie"
	printf 'clipped 1666\n'
	object 1 555555555000 "$pie" pie_alpha 1767 pie_beta 1888
} | "$dir/compose" "$dir/outcomes.prf"
"$prohist" --symbol=pie_alpha '--symbol=[kernel]' '--symbol=[elsewhere]' --format=json \
	"$dir/outcomes.prf" > "$dir/outcomes.json"

# numbers: prints the outcomes in the JSON, the names that its summary gives to
# what adds up to all ticks
numbers()
{
	python3 - "$dir/outcomes.json" <<- 'END'
		import json, sys
		with open(sys.argv[1], encoding="utf-8") as file:
		    summary = json.load(file)["summary"]
		for name, number in summary.items():
		    if name not in ("ticks", "kernel", "adds_up") and \
		       isinstance(number, int) and number and "_ns" not in name:
		        print(number, name.replace("_", " "))
	END
}
numbers > "$dir/outcomes"
cat "$dir/outcomes"
expected()
{
	diff - "$dir/outcomes" <<- 'END'
		1777 counted
		1666 clipped
		1111 outside
		1222 lost
		1333 left out
		1444 coarse
		1555 unresolved
		1888 unselected
	END
}
check 'every outcome, in JSON' expected
check 'they add up' has "$dir/outcomes.json" '"adds_up": true'

# shows FILE: succeeds if a report has each outcome, as a number and a name
shows()
{
	local number name

	while read -r number name; do
		has "$1" "(>| )$number( ticks)?(<| )" && has "$1" "$name" ||
			return
	done < "$dir/outcomes"
}
for format in text html svg; do
	options=("--format=$format")
	[ $format != text ] || options+=(--stats)
	"$prohist" "${options[@]}" --symbol=pie_alpha '--symbol=[kernel]' '--symbol=[elsewhere]' \
		"$dir/outcomes.prf" > "$dir/outcomes.$format"
	check "every outcome, in $format" shows "$dir/outcomes.$format"
done
check 'the page has them where the JSON has them' \
	python3 "$here/page.py" "$dir/outcomes.html" json "$dir/outcomes.json"

# Why ticks were lost
lost()
{
	printf 'run 1000000 lost\nmeasured 3 %d 1000000000\n' "$1"
	printf 'image 100 10 0 5 0 %s\n' "$pie"
}
for word in '0=the thread ended before its next tick' '2=a ring was full'; do
	lost "${word%%=*}" | "$dir/compose" "$dir/lost.prf"
	for format in text html svg; do
		"$prohist" --format=$format "$dir/lost.prf" > "$dir/lost"
		check "$format says that ${word#*=}" has "$dir/lost" "${word#*=}"
	done
done

# What a file says may be wrong
{
	printf 'run 1000000 wrong\nimage 100 10 1 2 3 %s\n' "$pie"
	printf 'unplaced 4 5\nstated 26 1000000 1000000\n'
} | "$dir/compose" "$dir/wrong.prf"
for word in text='^the ticks do not add up' json='"adds_up": false' html='<strong>no</strong>' \
	svg='they do not add up'; do
	"$prohist" --format="${word%%=*}" "$dir/wrong.prf" > "$dir/wrong"
	check "${word%%=*} says that the ticks do not add up" \
		has "$dir/wrong" "${word#*=}"
done

finish
