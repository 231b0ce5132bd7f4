#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# speedscope.sh DIR: tests that speedscope opens the formats that are for it.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/../host/prohist/whole.sh"

needs chromium chromium

app=$NODE_MODULES/speedscope/dist/release

# open FILE: opens a file in speedscope, as its command does, and writes what
# speedscope then saves, in its own format, to FILE.json
open()
{
	# The page contains the saved file instead of downloading it
	cat > "$dir/open.js" <<- END
		const key = new KeyboardEvent("keydown", {key: "s", ctrlKey: true});
		const timer = setInterval(() => window.dispatchEvent(key), 100);
		URL.createObjectURL = function (blob) {
			clearInterval(timer);
			blob.text().then((text) => {
				document.body.innerHTML = "<pre></pre>";
				document.body.firstChild.textContent = text;
			});
			return "#";
		};
		speedscope.loadFileFromBase64("${1##*/}", "$(base64 -w 0 "$1")");
	END
	chromium --headless --no-sandbox --disable-gpu --dump-dom \
		--user-data-dir="$dir/chromium" --virtual-time-budget=20000 \
		"file://$app/index.html#localProfilePath=$dir/open.js" \
		2> "$dir/chromium.log" > "$dir/opened.html"
	python3 - "$dir/opened.html" > "$1.json" <<- 'END'
		import html, re, sys
		page = open(sys.argv[1], encoding="utf-8").read()
		print(html.unescape(re.search("<pre>(.*)</pre>", page, re.S)[1]))
	END
}

# functions PROFILE FILE.json: prints the functions on which time is spent in
# the profiles whose names match a pattern, and that time
functions()
{
	python3 - "$@" <<- 'END'
		import collections, json, re, sys
		file = json.load(open(sys.argv[2], encoding="utf-8"))
		total = collections.Counter()
		for profile in file["profiles"]:
		    if not re.fullmatch(sys.argv[1], profile["name"]):
		        continue
		    if profile["type"] == "sampled":
		        for stack, weight in zip(profile["samples"], profile["weights"]):
		            total[stack[-1]] += weight
		        continue
		    stack, last = [], profile["startValue"]
		    for event in profile["events"]:
		        if event["at"] > last:
		            total[stack[-1]] += event["at"] - last
		        last = event["at"]
		        stack.append(event["frame"]) if event["type"] == "O" \
		            else stack.pop()
		for frame, time in total.items():
		    print(file["shared"]["frames"][frame]["name"], int(time))
	END
}

# column NUMBER FILE: succeeds if both.txt has the same numbers
column()
{
	functions "$3" "$2.json" | sort |
		diff <(awk -v column="$1" '{ print $1, $column }' "$dir/both.txt") -
}

write folded "$dir/both.folded" "$dir/whole.prf" "$dir/again.prf"
check 'it opens folded stacks' open "$dir/both.folded"
check 'every function has its ticks' column 2 "$dir/both.folded" both.folded

write callgrind "$dir/callgrind.out" "$dir/whole.prf" "$dir/again.prf"
check 'it opens a profile of callgrind' open "$dir/callgrind.out"
# speedscope omits functions below 1/10000 of the greatest
greatest()
{
	functions "callgrind.out -- $1" "$dir/callgrind.out.json" | sort |
		diff <(awk -v column="$2" '$2 > 20 { print $1, $column }' \
			"$dir/both.txt") -
}
check 'every function has its ticks' greatest Ticks 2
check 'every function has its time' greatest Ns 3

write pprof "$dir/both.pb.gz" "$dir/whole.prf" "$dir/again.prf"
check 'it opens a profile of pprof' open "$dir/both.pb.gz"
check 'every function has its time' column 3 "$dir/both.pb.gz" '.*'

write speedscope "$dir/both.speedscope" "$dir/whole.prf" "$dir/again.prf"
check 'it opens its own format' open "$dir/both.speedscope"
check 'every function has its time' column 3 "$dir/both.speedscope" \
	'whole --of it'
programs()
{
	python3 - "$dir/both.speedscope.json" <<- 'END'
		import collections, json, sys
		file = json.load(open(sys.argv[1], encoding="utf-8"))
		total = collections.Counter()
		for profile in file["profiles"]:
		    assert profile["unit"] == "nanoseconds"
		    stack, last = [], profile["startValue"]
		    for event in profile["events"]:
		        if stack:
		            total[stack[0]] += event["at"] - last
		        last = event["at"]
		        stack.append(event["frame"]) if event["type"] == "O" \
		            else stack.pop()
		for frame, time in total.items():
		    print(file["shared"]["frames"][frame]["name"], int(time))
	END
}
check 'every program has its time' diff <(programs | sort) - <<- 'END'
	fixed 47000000
	pie 270969000000
END
schema()
{
	python3 -c '
import json, jsonschema, sys
schema, file = (json.load(open(name)) for name in sys.argv[1:])
jsonschema.validate(file, schema)' "$app/file-format-schema.json" "$1"
}
check 'the schema of speedscope permits it' schema "$dir/both.speedscope"

finish
