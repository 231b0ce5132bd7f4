#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# json.sh DIR: tests that Python reads the JSON.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/whole.sh"

needs python3 python3

"$prohist" --format=json "$dir/whole.prf" "$dir/again.prf" > "$dir/both.json"

functions()
{
	python3 - "$dir/both.json" <<- 'END'
		import json, sys
		profile = json.load(open(sys.argv[1], encoding="utf-8"))
		for function in profile["functions"]:
		    print(function["name"], function["ticks"])
	END
}
functions_agree()
{
	awk '{ print $1, $2 }' "$dir/both.txt" | diff - <(functions | sort)
}
check 'every function has its ticks' functions_agree

members()
{
	python3 - "$dir/both.json" "$library" <<- 'END'
		import json, sys
		profile = json.load(open(sys.argv[1], encoding="utf-8"))
		summary = profile["summary"]
		dsos = {o["path"]: o for o in profile["dsos"]}
		ticks = sum(o["ticks"] for o in profile["dsos"])
		assert ticks == sum(f["ticks"] for f in profile["functions"])
		assert summary["ticks"] == ticks + summary["lost"] == 270965
		assert summary["ticks_ns"] == 270912 * 1e6 + 53 * 2e6
		assert summary["adds_up"]
		assert profile["not_profiled"][0]["reason"] == "it is set-user-ID"
		assert dsos[sys.argv[2]]["ticks"] == 200012
		assert "gone" in dsos["/nonexistent/libgone.so"]["problem"]
	END
}
check 'numbers and DSOs' members

# A name may contain any bytes
printf 'run 1000 q\\"\x1f\xff\xc3\xa9\nimage 1 0 1 0 0 /bin/q\n' |
	"$dir/compose" "$dir/bytes.prf"
names()
{
	"$prohist" --format="$1" "$dir/bytes.prf" | python3 -c '
import json, sys
file = json.load(sys.stdin)
for member in sys.argv[1].split():
    file = file[member]
assert file == "q\\\"\x1f\ufffd\u00e9"' "$2"
}
check 'names of any bytes' names json command
check 'names of any bytes, for the Firefox Profiler' names firefox \
	'meta product'
check 'names of any bytes, for speedscope' names speedscope name

finish
