#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# wall.sh DIR: tests that prohist reports what threads waited in, in every state and
# every format.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/whole.sh"

needs go golang-go
needs perf linux-perf
needs callgrind_annotate valgrind
needs python3 python3
export PPROF_TMPDIR=$dir XDG_CONFIG_HOME=$dir PERF_CONFIG=/dev/null

# Names that the profile has: no file is needed
program()
{
	printf 'object 1 %s 0 10000 4 - /gone/server\n' "$1"
	printf 'function %x %x %s\n' 256 512 main 512 768 work 768 1024 serve
}
library()
{
	printf 'object 2 %s 0 10000 4 - /gone/lib.so\n' "$1"
	printf 'function %x %x %s\n' 64 128 read 128 192 lock
}
# waits KIND START STATE [FROM TO NAME]...
waits()
{
	printf 'object %d %s 0 40000 1 - [%s]\n' "$1" "$2" "$3"
	[ $# = 3 ] || printf 'function %x %x %s\n' "${@:4}"
}

# describe: two execs of a server, with waits in each state: 38 ticks on a CPU, 27
# runnable, 169 blocked and 5000 idle
describe()
{
	printf 'run 1000000 server -x\nwall 0\nimage 100 0 5 0 0 /bin/server\n'
	program 10000000
	library 20000000
	waits 7 30000000 runnable 0 1 '[runnable]'
	waits 8 40000000 blocked 0 1 '[unknown]' 1 2 'page fault' 16 17 read \
		218 219 futex
	waits 9 50000000 idle 16 17 read
	cat <<- 'END'
		node 0 0 100 0
		node 1 0 200 18
		node 1 0 300 1
		node 3 1 40 2
		node 4 3 10 100
		node 4 4 10 5000
		node 3 1 80 0
		node 7 3 da 50
		node 2 2 0 20
		node 7 2 0 7
		node 2 3 1 4
		node cut 3 0 6
		node 2 kernel 0 11
		image 101 0 0 0 0 /bin/server
	END
	program 10000000
	waits 8 40000000 blocked 218 219 futex
	printf 'node 0 0 100 1\nnode 1 1 da 9\n'
}
describe | "$dir/compose" "$dir/wall.prf"

# A profile without chains, of the same names
{
	printf 'run 1000000 flat\nwall 3\nimage 100 0 0 0 0 /bin/server\n'
	program 10000000
	echo 'bucket 200 10'
	waits 7 30000000 runnable 0 1 '[runnable]'
	echo 'bucket 0 20'
	waits 8 40000000 blocked 16 17 read
	echo 'bucket 10 70'
} | "$dir/compose" "$dir/flat.prf"
# And one of a CPU
{
	printf 'run 1000000 cpu\nimage 100 0 0 0 0 /bin/server\n'
	program 10000000
	echo 'bucket 200 10'
} | "$dir/compose" "$dir/cpu.prf"

# report OPTION... FILE: prints a report, up to the table of DSOs
report()
{
	"$prohist" "$@" 2>&1 | sed '/by DSO$/,$d' | sed '${/^$/d}'
}
# prints TEXT OPTION... FILE
prints()
{
	diff <(echo "$1") <(report "${@:2}")
}

# --- text

head='server -x: 0.234 s of wall time in threads, 234 ticks, period 1.000 ms, perf (kernel module)
0.038 s on a CPU (16.2 %), 0.027 s runnable (11.5 %), 0.169 s blocked (72.2 %)
idle: 5.000 s in waits of a second and longer are left out; --idle shows them'
check 'long waits are left out, and that is said' prints "$head

     ticks percent   total   on CPU  runnable  blocked  by function
       100  42.7 %  42.7 %    0.0 %     0.0 %   42.7 %  read [blocked]
        59  25.2 %  25.2 %    0.0 %     0.0 %   25.2 %  futex [blocked]
        27  11.5 %  11.5 %    0.0 %    11.5 %    0.0 %  [runnable]
        18   7.7 %  22.6 %   12.4 %     8.5 %    1.7 %  work (server)
        11   4.7 %   4.7 %    4.7 %     0.0 %    0.0 %  [kernel]
         6   2.6 %   2.6 %    0.0 %     0.0 %    2.6 %  [unknown] [blocked]
         5   2.1 %   2.1 %    2.1 %     0.0 %    0.0 %  [elsewhere]
         4   1.7 %   1.7 %    0.0 %     0.0 %    1.7 %  page fault [blocked]
         2   0.9 %  43.6 %    0.9 %     0.0 %   42.7 %  read (lib.so)
         1   0.4 %  95.3 %   14.1 %    11.5 %   69.7 %  main (server)
         1   0.4 %  68.4 %    1.3 %     3.0 %   64.1 %  serve (server)
         0   0.0 %  24.4 %    0.0 %     3.0 %   21.4 %  lock (lib.so)" \
	"$dir/wall.prf"
head_idle='server -x: 5.234 s of wall time in threads, 5234 ticks, period 1.000 ms, perf (kernel module)
0.038 s on a CPU (0.7 %), 0.027 s runnable (0.5 %), 0.169 s blocked (3.2 %), 5.000 s idle (95.5 %)'
check '--idle' prints "$head_idle

     ticks percent   total   on CPU  runnable  blocked     idle  by function
      5000  95.5 %  95.5 %    0.0 %     0.0 %    0.0 %   95.5 %  read [idle]
       100   1.9 %   1.9 %    0.0 %     0.0 %    1.9 %    0.0 %  read [blocked]
       134   2.6 %  (11 more)" --idle --top=2 "$dir/wall.prf"
# Two programs
idle_program()
{
	{
		describe
		printf 'image 102 0 0 0 0 /bin/other\n'
		program 10000000
		waits 9 50000000 idle 16 17 read
		printf 'node 0 0 100 1\nnode 1 1 10 80\n'
	} | "$dir/compose" "$dir/two.prf"
	has <("$prohist" --idle "$dir/two.prf") \
		'^ +81 +1\.5 % +0\.0 % +0\.0 % +0\.0 % +1\.5 %  other$'
}
check 'programs have a column for each state' idle_program
states()
{
	prints "$head

     ticks percent   total   on CPU  runnable  blocked  by function
        27 100.0 % 100.0 %    0.0 %   100.0 %    0.0 %  [runnable]
         0   0.0 % 100.0 %    0.0 %   100.0 %    0.0 %  main (server)
         0   0.0 %  74.1 %    0.0 %    74.1 %    0.0 %  work (server)
         0   0.0 %  25.9 %    0.0 %    25.9 %    0.0 %  serve (server)
         0   0.0 %  25.9 %    0.0 %    25.9 %    0.0 %  lock (lib.so)" \
	--state=runnable "$dir/wall.prf"
}
check '--state' states
check 'a profile without long waits says nothing of them' prints \
	'flat: 0.100 s of wall time in threads, 100 ticks, period 1.000 ms, perf (kernel module)
0.010 s on a CPU (10.0 %), 0.020 s runnable (20.0 %), 0.070 s blocked (70.0 %)
not followed: 3 threads, whose waits are not in the profile

     ticks percent  so far   on CPU  runnable  blocked  by function
        70  70.0 %  70.0 %    0.0 %     0.0 %   70.0 %  read [blocked]
        20  20.0 %  90.0 %    0.0 %    20.0 %    0.0 %  [runnable]
        10  10.0 % 100.0 %   10.0 %     0.0 %    0.0 %  work (server)' \
	"$dir/flat.prf"
check '--tree' prints "$head

   total    self    on CPU  runnable   blocked  function
  95.3 %   0.4 %    14.1 %    11.5 %    69.7 %  main (server)
  68.4 %   0.4 %     1.3 %     3.0 %    64.1 %   serve (server)
  43.6 %   0.9 %     0.9 %     0.0 %    42.7 %     read (lib.so)
  42.7 %  42.7 %     0.0 %     0.0 %    42.7 %      read [blocked]
  24.4 %   0.0 %     0.0 %     3.0 %    21.4 %     lock (lib.so)
10 frames with 22.6 % or less are not shown; --top=0 shows all" \
	--tree --top=5 "$dir/wall.prf"
check '--callers' prints "$head

   total    on CPU  runnable   blocked  function, called by
  25.2 %     0.0 %     0.0 %    25.2 %  futex [blocked]
  21.4 %     0.0 %     0.0 %    21.4 %    lock (lib.so)
  21.4 %     0.0 %     0.0 %    21.4 %     serve (server)
  21.4 %     0.0 %     0.0 %    21.4 %      main (server)
   3.8 %     0.0 %     0.0 %     3.8 %    main (server)" \
	--callers=futex "$dir/wall.prf"
check '--callees' prints "$head

   total    self    on CPU  runnable   blocked  function, calling
  22.6 %   7.7 %    12.4 %     8.5 %     1.7 %  work (server)
   8.5 %   8.5 %     0.0 %     8.5 %     0.0 %    [runnable]
   4.7 %   4.7 %     4.7 %     0.0 %     0.0 %    [kernel]
   1.7 %   1.7 %     0.0 %     0.0 %     1.7 %    page fault [blocked]" \
	--callees=work "$dir/wall.prf"

# Ten times the period, and a tenth of the ticks
{
	printf 'run 10000000 slow\nwall 0\nimage 100 0 0 0 0 /bin/server\n'
	waits 8 40000000 blocked 16 17 read
	echo 'bucket 10 7'
} | "$dir/compose" "$dir/slower.prf"
check 'the states of files with different periods' \
	has <("$prohist" "$dir/flat.prf" "$dir/slower.prf") \
	'^0.010 s on a CPU \(5.9 %\), 0.020 s runnable \(11.8 %\), 0.140 s blocked \(82.4 %\)$'

# says MESSAGE OPTION... FILE: fails, with the message
says()
{
	"$prohist" "${@:2}" > "$dir/said.out" 2> "$dir/said"
	[ $? = 2 ] && has "$dir/said" "^prohist: $1"
}
check 'a state that is none' says "unknown state 'asleep': use cpu, runnable, blocked or idle$" \
	--state=cpu,asleep "$dir/wall.prf"
check 'a profile without waits' says 'the profile has no waits: profil --wall records them$' \
	--state=blocked "$dir/cpu.prf"
check 'but with time on a CPU' has <("$prohist" --state=cpu "$dir/cpu.prf") \
	' 100.0 % .* work '
check 'there is no code of waits' says 'futex \(\[blocked\]\): there is no file of it$' \
	--annotate=futex "$dir/wall.prf"
check 'nor lines' has <("$prohist" --lines "$dir/wall.prf") \
	'^ +169 .*no line is known \(\[blocked\]\)$'

shows_idle()
{
	"$prohist" --idle --dso="${1-server}" "$dir/wall.prf" > "$dir/idle.txt" &&
		lacks "$dir/idle.txt" 'are left out' &&
		has "$dir/idle.txt" '5\.000 s idle'
}
check 'nothing is left out with --idle' shows_idle
check 'states are behind the names of waits, also without chains' \
	has <("$prohist" --format=folded "$dir/flat.prf") ';read \[blocked\] 70$'
check 'and for speedscope' \
	has <("$prohist" --format=speedscope "$dir/flat.prf") '"read \[blocked\]"'

# --- each way to select, of which the sums must agree

# adds_up OPTION...: succeeds if the account holds in text and JSON
adds_up()
{
	"$prohist" --format=json "$@" "$dir/wall.prf" > "$dir/sums.json" &&
		has "$dir/sums.json" '"adds_up": true' &&
		lacks <("$prohist" "$@" "$dir/wall.prf") 'do not add up' &&
		python3 - "$dir/sums.json" <<- 'END'
			import json, sys
			with open(sys.argv[1], encoding="utf-8") as file:
			    report = json.load(file)
			summary = report["summary"]
			shown = sum(dso["ticks"] for dso in report["dsos"])
			left = (sum(summary[name] for name in
			            ("ticks", "runnable", "blocked", "idle")) -
			        sum(summary[name] for name in summary
			            if "unselected" in name))
			assert shown == left, (shown, left)
			assert shown == sum(node["ticks"]
			                    for node in report["chains"]["nodes"])
		END
}
for option in '' --idle --state=cpu --state=runnable --state=blocked --state=idle \
	--state=cpu,idle --symbol=work --symbol=futex --symbol=read \
	'--dso=[blocked]' --dso=server '--dso=[kernel]' --pid=101 \
	'--idle --symbol=serve' '--state=blocked --symbol=main'; do
	# shellcheck disable=SC2086
	check "the sums with ${option:-no option}" adds_up $option
done
{ describe; echo 'waited 0 10 0'; } | "$dir/compose" "$dir/wrong.prf"
check 'sums that are wrong are reported' has <("$prohist" "$dir/wrong.prf") \
	'^the ticks do not add up'

# --- other formats

# What each function and wait has, in ticks
sort > "$dir/all.txt" <<- 'END'
	main 1
	work 18
	serve 1
	read 2
	[kernel] 11
	[elsewhere] 5
	[runnable] 27
	read [blocked] 100
	futex [blocked] 59
	page fault [blocked] 4
	[unknown] [blocked] 6
	read [idle] 5000
END
grep -v idle "$dir/all.txt" > "$dir/most.txt"

# has_all COMMAND...: succeeds if it prints all functions and waits
has_all()
{
	"$@" | LC_ALL=C sort | diff <(LC_ALL=C sort "$dir/all.txt") -
}
for form in folded speedscope firefox json csv perf pprof callgrind html flamegraph svg; do
	write $form "$dir/wall.$form" --idle "$dir/wall.prf"
	check "nothing is lost as $form" test ! -s "$dir/wall.$form.said" -o $form = perf
done

# The last frame of each line
folded()
{
	sed 's/.*;//' "$1" | awk '{ ticks = $NF; sub(/ [0-9]+$/, "")
			sum[$0] += ticks } END { for (i in sum) print i, sum[i] }'
}
check 'folded: every wait' has_all folded "$dir/wall.folded"
check 'folded: below the code that waits' has "$dir/wall.folded" \
	'^server;main;serve;lock;futex \[blocked\] 50$'
long_waits_only_if_asked()
{
	"$prohist" --format=folded "$dir/wall.prf" > "$dir/most.folded" &&
		folded "$dir/most.folded" | LC_ALL=C sort |
		diff <(LC_ALL=C sort "$dir/most.txt") -
}
check 'folded: no long waits without --idle' long_waits_only_if_asked

speedscope()
{
	python3 - "$dir/wall.speedscope" <<- 'END'
		import json, sys
		from collections import Counter
		with open(sys.argv[1], encoding="utf-8") as file:
		    data = json.load(file)
		frames, profile = data["shared"]["frames"], data["profiles"][0]
		ticks = Counter()
		for stack, weight in zip(profile["samples"], profile["weights"]):
		    ticks[frames[stack[-1]]["name"]] += weight // 1000000
		for name, count in ticks.items():
		    print(name, count)
	END
}
check 'speedscope: every wait' has_all speedscope

# Waits have the names of their functions, and a category for their state
firefox()
{
	python3 - "$dir/wall.firefox" <<- 'END'
		import json, sys
		from collections import Counter
		with open(sys.argv[1], encoding="utf-8") as file:
		    data = json.load(file)
		shared, ticks = data["shared"], Counter()
		categories = [c["name"] for c in data["meta"]["categories"]]
		for thread in data["threads"]:
		    samples = thread["samples"]
		    for stack, weight in zip(samples["stack"], samples["weight"]):
		        frame = shared["stackTable"]["frame"][stack]
		        function = shared["frameTable"]["func"][frame]
		        state = categories[shared["frameTable"]["category"][frame]]
		        name = shared["stringArray"][
		            shared["funcTable"]["name"][function]]
		        if state in ("blocked", "idle"):
		            name += f" [{state}]"
		        ticks[name] += round(weight)
		for name, count in ticks.items():
		    print(name, count)
	END
}
check 'firefox: every wait, with its state' has_all firefox

json()
{
	python3 - "$dir/wall.json" <<- 'END'
		import json, sys
		with open(sys.argv[1], encoding="utf-8") as file:
		    data = json.load(file)
		states = data["programs"][0]["states_ns"]
		assert states == {"cpu": 38000000, "runnable": 27000000,
		                  "blocked": 169000000, "idle": 5000000000}, states
		top = [node for node in data["chains"]["nodes"]
		       if node["caller"] is None]
		assert {name: sum(node["states_ns"][name] for node in top)
		        for name in states} == states
		for function in data["functions"]:
		    wait = function["dso"] in ("[blocked]", "[idle]")
		    print(function["name"] + (" " + function["dso"] if wait else ""),
		          function["ticks"])
	END
}
check 'JSON: every wait, and states of each frame' has_all json
check 'JSON of a CPU has no states' lacks \
	<("$prohist" --format=json "$dir/cpu.prf") 'states|runnable|blocked|idle'

csv()
{
	python3 - "$dir/wall.csv" <<- 'END'
		import csv, sys
		with open(sys.argv[1], newline="", encoding="utf-8") as file:
		    for row in csv.DictReader(file):
		        states = [float(row[name]) for name in
		                  ("cpu", "runnable", "blocked", "idle")]
		        assert abs(sum(states) - float(row["total"])) < 0.0003, row
		        wait = row["dso"] in ("[blocked]", "[idle]")
		        if row["ticks"] != "0":
		            print(row["symbol"] + (" " + row["dso"] if wait else ""),
		                  row["ticks"])
	END
}
check 'CSV: every wait, and columns of states' has_all csv
check '--fields=blocked' diff <("$prohist" --format=csv --fields=symbol,blocked \
	"$dir/flat.prf") <(printf '%s\r\n' symbol,blocked '"read",70.0000' \
	'"[runnable]",0.0000' '"work",0.0000')

# column TYPE: functions and their values, of the sample type
column()
{
	go tool pprof -top -nodecount=0 -nodefraction=0 -unit=ms -sample_index="$1" \
		"$dir/wall.pprof" 2> /dev/null |
		awk '/flat%/ { on = 1; next }
		     on && $1 != 0 { number = $1; $1 = $2 = $3 = $4 = $5 = ""
			  sub(/^ +/, ""); sub(/ms$/, "", number)
			  print $0, number }'
}
check 'pprof: every wait, in wall time' has_all column wall
check 'pprof: every wait, in samples' has_all column samples
on_cpu()
{
	grep -vE 'runnable|blocked|idle' "$dir/all.txt" | LC_ALL=C sort |
		diff - <(column cpu | LC_ALL=C sort)
}
check 'pprof: only what runs, in CPU time' on_cpu
check 'pprof: wall time is what it shows first' has \
	<(go tool pprof -top "$dir/wall.pprof" 2> /dev/null) '^Type: wall$'
tags()
{
	go tool pprof -tags -sample_index=samples "$dir/wall.pprof" 2> /dev/null |
		awk '$1 == "state:" { on = 1; next } /: Total/ { on = 0 }
			on && NF { print $NF, int($1) }' | sort
}
check 'pprof: a tag says the state' diff <(tags) - <<- 'END'
	blocked 169
	cpu 38
	idle 5000
	runnable 27
END
check 'pprof of a CPU has no wall time' lacks <("$prohist" --format=pprof \
	"$dir/cpu.prf" | go tool pprof -raw /dev/stdin 2>&1) 'wall|state:'

check 'perf.data: what it cannot say is said' has "$dir/wall.perf.said" \
	"^prohist: perf.data has no states: "
check 'perf.data of a CPU says no more than before' prints_nothing grep states \
	<("$prohist" --format=perf "$dir/cpu.prf" 2>&1 > "$dir/cpu.perf")
perf_dsos()
{
	perf report --stdio --no-children -g none --sort=dso -i "$dir/$1.perf" \
		2> /dev/null | sed -n 's/^ *\([0-9.]*%\)  */\1 /p' | sed 's/ *$//' |
		grep -E 'runnable|blocked|idle'
}
check 'perf.data: a DSO for each wait' diff <(perf_dsos wall) - <<- 'END'
	95.53% [idle] read
	1.91% [blocked] read
	1.13% [blocked] futex
	0.52% [runnable]
	0.11% [blocked] [unknown]
	0.08% [blocked] page fault
END
write perf "$dir/flat.perf" "$dir/flat.prf"
check 'perf.data without chains' diff <(perf_dsos flat) - <<- 'END'
	70.00% [blocked] read
	20.00% [runnable]
END

# Functions and their own ticks
callgrind()
{
	callgrind_annotate --threshold=100 "$dir/wall.callgrind" |
		sed -n 's/^ *\([0-9,]*\) (.*???:\(.*\) \[.*\]$/\2 \1/p' | tr -d ,
}
check 'callgrind: every wait' has_all callgrind
check 'callgrind: the inclusive time of what waits' has \
	<(callgrind_annotate --inclusive=yes "$dir/wall.callgrind") \
	'^ *5,1.. .*:read \[/gone/lib.so\]$'

# Colours of frames, by the class of each
flame()
{
	python3 - "$1" <<- 'END'
		import re, sys
		from xml.etree import ElementTree
		with open(sys.argv[1], encoding="utf-8") as file:
		    text = file.read()
		text = text[text.index("<svg", text.find('id="flame-picture"') - 9
		                       if "flame-picture" in text else 0):]
		text = text[:text.index("</svg>") + 6]
		for group in re.findall(r"<g>.*?</g>", text, re.S):
		    tree = ElementTree.fromstring(group)
		    print(tree.find("rect").get("class"),
		          tree.find("title").text.split("\n")[0])
	END
}
colours()
{
	flame "$1" > "$dir/colours" || return
	has "$dir/colours" '^w3 read \[idle\]$' &&
		has "$dir/colours" '^w2 read \[blocked\]$' || return
	! grep -vE 'blocked|idle|runnable' "$dir/colours" | grep '^w'
}
check 'flame graph: colours of states' colours "$dir/wall.flamegraph"
check 'and what they mean' has "$dir/wall.flamegraph" \
	'class="w2".*|>blocked <tspan class="soft">3.2 %<'
check 'the page: every state, with its colour' \
	has "$dir/wall.html" 'class="w3"/></svg>idle <small>95.5'
check 'the page: how long' has "$dir/wall.html" 'Blocked</th><td>0.169 s<'
check 'the page: waits among the functions' has "$dir/wall.html" \
	'<td>futex<td>\[blocked\]$'
# page_of OPTION... FILE: compares the page's table of functions with the text
page_of()
{
	"$prohist" --html "$@" > "$dir/page.html" &&
		"$prohist" --top=0 "$@" > "$dir/page.txt" &&
		python3 "$here/page.py" "$dir/page.html" states "$dir/page.txt" &&
		python3 "$here/page.py" "$dir/page.html" sound
}
check 'the page: columns of states' page_of "$dir/wall.prf"
check 'the page: a column of long waits' page_of --idle "$dir/wall.prf"
check 'the page: states without callers' page_of "$dir/flat.prf"
check 'the page: states of some functions' page_of --state=runnable "$dir/wall.prf"
check 'the page says what it leaves out' has \
	<("$prohist" --html "$dir/wall.prf") '5.000 s <small>left out; --idle'
check 'the page of a CPU has no states' lacks \
	<("$prohist" --html "$dir/cpu.prf" | sed '/<style>/,/<\/style>/d; /<script>/,/<\/script>/d') \
	'Runnable|Blocked|[Ii]dle'
check 'the picture: every state' has "$dir/wall.svg" \
	'blocked <tspan class="strong">3.2 %<'

write dos "$dir/WALL.PRF" --idle --dso=server "$dir/wall.prf"
hits()
{
	"$prohist" "$dir/WALL.PRF" | awk '$2 == "hits" { print $1 }
		$2 ~ /^0x/ { print $1 }' | xargs
}
check 'buckets: CPU time only' test \
	"$("$prohist" --buckets --idle "$dir/wall.prf" | awk '$2 == "hits" { print $1 }' | xargs)" = '11 2 5'
check 'MS-DOS: CPU time only' test "$(hits)" = '1 18 1 11 2 5'

# --- comparisons

compared()
{
	"$prohist" --diff "$@" > "$dir/diff.txt" 2> "$dir/diff.said"
}
more_waits()
{
	describe | sed 's/^node 7 3 da 50$/node 7 3 da 5000/' |
		"$dir/compose" "$dir/slow.prf" &&
		compared "$dir/wall.prf" "$dir/slow.prf" &&
		has "$dir/diff.txt" '^ +25.2 % +96.[0-9] %.* futex \(\[blocked\]\)$'
}
check '--diff finds a wait that has grown' more_waits
check 'the gate is about CPU time' has \
	<("$prohist" --diff --fail-over=5% "$dir/slow.prf" "$dir/slow.prf" 2>&1) 'everything'
no_waits_in_gate()
{
	lacks <("$prohist" --diff --fail-over=5% "$dir/wall.prf" "$dir/slow.prf" 2>&1) \
		'futex|blocked'
}
check 'and not about waits' no_waits_in_gate
check 'the gate with a state' says '--fail-over judges the CPU time: give no --state' \
	--diff --fail-over=5% --state=blocked "$dir/wall.prf" "$dir/slow.prf"
on_cpu_only()
{
	compared "$dir/wall.prf" "$dir/cpu.prf" &&
		has "$dir/diff.said" '^prohist: not all profiles have waits: comparing the time on a CPU$' &&
		lacks "$dir/diff.txt" 'blocked'
}
check 'a profile without waits is compared on a CPU' on_cpu_only

finish
