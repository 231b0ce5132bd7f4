#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# pprof.sh DIR: tests that go tool pprof reads profile.proto.gz.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/whole.sh"

needs go golang-go

# pprof keeps its settings there
export PPROF_TMPDIR=$dir XDG_CONFIG_HOME=$dir

write pprof "$dir/both.pb.gz" "$dir/whole.prf" "$dir/again.prf"
check 'what was lost is said, and no more' says_lost "$dir/both.pb.gz"
check 'as gzip does it' gzip -t "$dir/both.pb.gz"

pprof()
{
	go tool pprof -nodecount=0 -nodefraction=0 "$@" "$dir/both.pb.gz"
}

# column INDEX OPTION...: prints functions and their values
column()
{
	pprof -top -sample_index="$1" "${@:2}" 2> /dev/null |
		awk '/flat%/ { on = 1; next }
		     on { number = $1; $1 = $2 = $3 = $4 = $5 = ""
			  sub(/^ +/, ""); sub(/ns$/, "", number)
			  print $0, number }' | sort
}
functions()
{
	join <(column samples) <(column cpu -unit=ns) |
		sed 's/::inner /::inner(int) /'
}
check 'every function has its ticks and time' agrees functions

# The profile contains the symbols, so pprof need not search for them
check 'pprof does not complain' lacks \
	<(pprof -top 2>&1) 'Failed|failed|not available|no such|warning'
pprof -raw > "$dir/raw.txt" 2> /dev/null
check 'the program comes first' has "$dir/raw.txt" "^1: 0x.* $pie "
# Each DSO has 2^40 addresses, and starts at the address for which it is linked
mappings()
{
	for file in "$pie" "$fixed" "$library"; do
		examine "$file"
		has "$dir/raw.txt" "$(printf '^[0-9]+: 0x(.0*)?%x/0x.*/0x%x %s %s ' \
			"$vaddr" "$pgoff" "$file" "$build_id")" || return
	done
}
check 'mappings, with build-ids' mappings
# A segment need not begin where its page does, as those of lld do
unaligned()
{
	{
		printf 'run 1000000 x\nimage 1 0 0 0 0 x\n'
		printf 'object 1 400000 1000 2000 256 01 /gone/lld\n'
		printf 'bucket a00 3\nbucket f00 4\n'
		echo 'stored 1ac0 1000 2ac0 2b00 2c00 work'
	} | "$dir/compose" "$dir/lld.prf" &&
		"$prohist" --format=pprof -o "$dir/lld.pb.gz" "$dir/lld.prf" &&
		go tool pprof -raw "$dir/lld.pb.gz" > "$dir/lld.txt" 2> /dev/null &&
		has "$dir/lld.txt" '^1: 0x2000/0x4000/0x1000 /gone/lld' &&
		has "$dir/lld.txt" '^ +[0-9]+: 0x2a00 M=1 '
}
check 'a segment that begins within a page' unaligned
check 'the command' has "$dir/raw.txt" '^Comment: whole --of it$'
check 'the period, on average' has "$dir/raw.txt" '^Period: 10001[0-9][0-9]$'
check 'how long it took' has "$dir/raw.txt" '^Duration: 6s?'
# tags NAME: prints the values of a tag and their ticks
tags()
{
	pprof -tags -sample_index=samples |
		awk -v name="$1:" '/: Total/ { on = $1 == name; next }
			on && NF { print $NF, int($1) }'
}
check 'ticks of each program' diff <(tags comm) - <<- 'END'
	pie 270916
	fixed 47
END
check 'ticks of each process' diff <(tags pid) - <<- 'END'
	100 270910
	200 53
END
check 'lines of the source' has <(pprof -list=pie_alpha 2>&1) \
	'700ms +700ms .*return n \* n \+ 1;'
check 'instructions' has <(pprof -disasm=pie_alpha 2>&1) \
	'700ms +700ms +[0-9a-f]+: .*pie_alpha'

finish
