#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# chains.sh DIR: tests that prohist reports chains of callers.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/check.sh
. "$(dirname "$0")/check.sh"

# Names that the profile has: no file is needed
mapping()
{
	printf 'object %d %s 0 10000 4 - %s\n' "$@"
}
program()
{
	mapping 1 "$1" /gone/prog
	printf 'function %x %x %s\n' 256 512 main 512 768 work 768 1024 idle
}
library()
{
	mapping 2 "$1" /gone/lib.so
	printf 'function %x %x %s\n' 64 128 sort 128 192 compare
}

# describe PERIOD: two execs of a program, with recursion, a frame in the kernel, a
# chain that was cut, and ticks without a chain: 70 in all
describe()
{
	printf 'run %d prog --of it\n' "$1"
	printf 'image 100 0 5 2 3 /bin/prog\n'
	program 10000000
	library 20000000
	cat <<- 'END'
		node 0 0 100 0
		node 1 0 200 10
		node 2 0 200 5 2
		node 3 1 40 7
		node cut 1 80 4
		node 5 kernel 0 6
		node 1 1 40 3
		node 1 0 210 2
		image 101 0 0 0 0 /bin/prog
	END
	program 30000000
	library 40000000
	cat <<- 'END'
		node 0 0 100 1
		node 1 0 200 20
	END
}
describe 1000000 | "$dir/compose" "$dir/chains.prf"

# folded OPTION... FILE...: prints folded chains, sorted
folded()
{
	"$prohist" --format=folded "$@" | LC_ALL=C sort
}

whole_chains()
{
	diff - <(folded "$dir/chains.prf") <<- 'END'
		prog;[unknown callers];[elsewhere] 5
		prog;[unknown callers];[kernel] 3
		prog;[unknown callers];compare 4
		prog;[unknown callers];compare;[kernel] 6
		prog;main 1
		prog;main;sort 3
		prog;main;work 32
		prog;main;work;work 5
		prog;main;work;work;[elsewhere] 2
		prog;main;work;work;sort 7
	END
}
check 'folded: whole chains, of all execs of a program' whole_chains

finish
