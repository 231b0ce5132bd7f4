#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# folded.sh DIR: tests that flamegraph.pl reads folded stacks.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/whole.sh"

flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl
needs $flamegraph libdevel-nytprof-perl

write folded "$dir/both.folded" "$dir/whole.prf" "$dir/again.prf"
check 'what was lost is said, and no more' says_lost "$dir/both.folded"
check 'flamegraph.pl does not complain' silent \
	$flamegraph --minwidth=0 "$dir/both.folded"
cp "$dir/silent.out" "$dir/both.svg"

# A DSO without functions has one function, with the name of the DSO
functions()
{
	sed -nE 's,^.*<title>([^ ]*) \(([0-9,]+) samples.*,\1 \2,p' \
		"$dir/both.svg" | tr -d ,
}
# In ticks of the mean period
functions_agree()
{
	awk '{ printf "%s %.0f\n", $1, $3 / 271016e6 * 270963 }' \
		"$dir/both.txt" | diff - <(functions | sort -u |
		grep -vE '^(all|whole|pie|fixed|lib.*\.so) ')
}
check 'every function has its time' functions_agree
check 'the command' has "$dir/both.svg" '<title>whole --of it \(270,9[0-9]{2} samples'

finish
