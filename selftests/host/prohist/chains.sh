#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# chains.sh DIR: tests that prohist reports chains of callers.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/whole.sh"

needs go golang-go
needs perf linux-perf
needs callgrind_annotate valgrind
export PPROF_TMPDIR=$dir XDG_CONFIG_HOME=$dir PERF_CONFIG=/dev/null

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

# A profile without chains, of another period
{
	printf 'run 2000000 prog --of it\nimage 100 0 0 0 0 /bin/prog\n'
	program 10000000
	echo 'bucket 200 10'
} | "$dir/compose" "$dir/flat.prf"

# prints TEXT OPTION...: succeeds if prohist prints TEXT below its summary
prints()
{
	diff <(echo "$1") <("$prohist" "${@:2}" 2>&1 |
		awk '/^ +(total|ticks) / { on = 1; next } on && !/^$/' |
		sed '/ by /,$d')
}
totals()
{
	prints '        37  54.4 % +- 11.8 %  67.6 %  ########## work (prog)
        10  14.7 % +-  8.4 %  14.7 %  ###        sort (lib.so)
         9  13.2 % +-  8.1 %  13.2 %  ##         [kernel]
         7  10.3 % +-  7.2 %  10.3 %  ##         [elsewhere]
         4   5.9 % +-  5.6 %  14.7 %  #          compare (lib.so)
         1   1.5 % +-  2.9 %  73.5 %             main (prog)' \
		--sort=dso,symbol "$dir/chains.prf"
}
check 'the time with callees is beside that of a function' totals
totals_of_processes()
{
	diff - <("$prohist" --fields=pid,percent,total --format=csv \
		"$dir/chains.prf" | tr -d '\r' | cut -d , -f 2-) <<- 'END'
		percent,total
		69.1176,69.1176
		30.8824,30.8824
	END
}
check 'processes have the time of all that they call' totals_of_processes
tree='  73.5 %   1.5 %  main (prog)
  67.6 %  47.1 %    work (prog)
  20.6 %   7.4 %      work (prog)
  10.3 %  10.3 %        sort (lib.so)
   2.9 %   2.9 %        [elsewhere]
   4.4 %   4.4 %    sort (lib.so)
  26.5 %   0.0 %  [unknown callers]
  14.7 %   5.9 %    compare (lib.so)
   8.8 %   8.8 %     [kernel]
   7.4 %   7.4 %    [elsewhere]
   4.4 %   4.4 %    [kernel]'
tree=${tree/      work/     work}
tree=${tree/        sort/       sort}
tree=${tree/        \[else/       [else}
check '--tree' prints "$tree" --tree "$dir/chains.prf"
check '--tree leaves out what has least time, and says so' prints \
	'  73.5 %   1.5 %  main (prog)
  67.6 %  47.1 %   work (prog)
  26.5 %   0.0 %  [unknown callers]
8 frames with 20.6 % or less are not shown; --top=0 shows all' \
	--tree --top=3 "$dir/chains.prf"

# Each frame has the same time
{
	printf 'run 1000000 deep\nimage 1 0 0 0 0 /bin/deep\n'
	printf 'object 1 10000000 0 10000 4 - /gone/deep\n'
	for ((i = 0; i < 8; i++)); do
		printf 'function %x %x f%d\n' $((256 * i)) $((256 * i + 256)) $i
	done
	for ((i = 0; i < 8; i++)); do
		printf 'node %d 0 %x %d\n' $i $((256 * i)) $((i == 7 ? 10 : 0))
	done
} | "$dir/compose" "$dir/deep.prf"
check '--tree shows the outermost of frames with equal time' prints \
	' 100.0 %   0.0 %  f0 (deep)
 100.0 %   0.0 %   f1 (deep)
 100.0 %   0.0 %    f2 (deep)
5 frames with 100.0 % or less are not shown; --top=0 shows all' \
	--tree --top=3 "$dir/deep.prf"
check '--callers' prints '  14.7 %  sort (lib.so)
  10.3 %    work (prog)
  10.3 %     work (prog)
  10.3 %      main (prog)
   4.4 %    main (prog)' --callers=sort "$dir/chains.prf"
check '--callees: recursion counts once' prints '  67.6 %  47.1 %  work (prog)
  20.6 %   7.4 %   work (prog)
  10.3 %  10.3 %     sort (lib.so)
   2.9 %   2.9 %     [elsewhere]' --callees=work "$dir/chains.prf"
fails()
{
	"$prohist" "${@:2}" > "$dir/failed" 2>&1
	[ $? = 2 ] && has "$dir/failed" "^prohist: $1"
}
check 'a function that is not there' fails "no function 'sortt' has ticks; there is 'sort'$" \
	--callers=sortt "$dir/chains.prf"
check 'no totals without chains' fails '--fields=total: there are no chains of callers' \
	--fields=percent,total,symbol "$dir/flat.prf"
check 'nor of the functions of a program' fails '--fields=total: .* sort by nothing else$' \
	--fields=comm,symbol,total --format=csv "$dir/chains.prf"

same_callers()
{
	sed 's/ sort$/ outer::inner(int)/' <(describe 1000000) |
		"$dir/compose" "$dir/mangled.prf" &&
		diff <("$prohist" --callers='outer::inner' "$dir/mangled.prf") \
			<("$prohist" --callers=_ZN5outer5innerEi "$dir/mangled.prf")
}
check '--callers with a mangled name' same_callers
check 'no chains' fails 'there are no chains of callers in the profile$' \
	--tree "$dir/flat.prf"
check 'one view at a time' fails '.* are mutually exclusive$' \
	--tree --callers=sort "$dir/chains.prf"

stats()
{
	"$prohist" --stats "$dir/chains.prf" > "$dir/stats" &&
		has "$dir/stats" '^ +chains +50 +83\.3 %  complete$' &&
		has "$dir/stats" '^ +10 +16\.7 %  cut: a file without a table of callers$'
}
check '--stats says how chains ended' stats
# ended COMPLETE CUT: writes a profile with chains that ended so
ended()
{
	{
		printf 'run 1000000 prog\nchains 0 %d\nchains 5 %d\n' "$@"
		printf 'image 100 0 0 0 0 /bin/prog\n'
		program 10000000
		printf 'node 0 0 100 1\n'
	} | "$dir/compose" "$dir/ended.prf"
	"$prohist" "$dir/ended.prf" > "$dir/ended"
}
cuts_are_said()
{
	ended 990 10 && lacks "$dir/ended" complete &&
		ended 989 11 && has "$dir/ended" \
		'^1\.1 % of the chains of callers are not complete; see --stats$'
}
check 'the report says it if more than 1 % are cut' cuts_are_said

check '--symbol selects what a function called' prints \
	' 100.0 %   0.0 %  main (prog)
 100.0 %  69.6 %   work (prog)
  30.4 %  10.9 %    work (prog)
  15.2 %  15.2 %      sort (lib.so)
   4.3 %   4.3 %      [elsewhere]' --tree --symbol=work "$dir/chains.prf"
check '--dso selects ticks in a DSO, with their callers' prints \
	'  71.4 %   0.0 %  main (prog)
  50.0 %   0.0 %    work (prog)
  50.0 %   0.0 %     work (prog)
  50.0 %  50.0 %      sort (lib.so)
  21.4 %  21.4 %    sort (lib.so)
  28.6 %   0.0 %  [unknown callers]
  28.6 %  28.6 %   compare (lib.so)' --tree --dso=lib.so "$dir/chains.prf"
check '--pid selects execs' prints ' 100.0 %   4.8 %  main (prog)
  95.2 %  95.2 %   work (prog)' --tree --pid=101 "$dir/chains.prf"
# add_up OPTION...: succeeds if all ticks are there, selected or not
adds_up()
{
	for symbol in work sort main idle compare '[kernel]' '[elsewhere]'; do
		"$prohist" --stats --symbol="$symbol" "$dir/chains.prf" \
			> "$dir/stats" 2>&1 || continue
		has "$dir/stats" '^ +ticks +70 ' &&
			has "$dir/stats" 'unselected: yes$' || return
	done
}
check 'the ticks of every selection add up' adds_up

check 'a function that only calls has no ticks, if not all files have chains' \
	fails "no function 'f0' has ticks; there is 'f7'\$" --symbol=f0 \
	"$dir/deep.prf" "$dir/flat.prf"

# A function in which there are chains on one side only is not slower
check '--symbol selects functions only, if not all files have chains' prints \
	'        47 100.0 % +-  0.0 % 100.0 %  ########## work (prog)
         0   0.0 % +-  0.0 %  64.9 %             main (prog)' --symbol=work --sort=symbol,dso "$dir/chains.prf" "$dir/flat.prf"
flat_difference()
{
	diff <("$prohist" --diff --symbol=work "$dir/chains.prf" "$dir/flat.prf" |
		grep -c sort) <(echo 0)
}
check '--diff compares functions, whichever file has chains' flat_difference

# Of another period: its ticks count twice
check 'files of different periods, and without chains' diff \
	<(folded "$dir/flat.prf" "$dir/chains.prf" | awk '{ s += $NF } END { print s }') \
	<(echo 78)

# Other programs find functions in files. SITES: "sites", or nothing
describe_files()
{
	local alpha beta

	printf 'run 1000000 files\n%s' "${1:+$1$'\n'}"
	printf 'image 100 0 0 0 0 %s\n' "$pie"
	object 1 10000000 "$pie"
	alpha=$(offset "$pie" pie_alpha) beta=$(offset "$pie" pie_beta)
	object 2 20000000 "$library"
	printf 'node %s\n' "0 0 $alpha 0" "1 0 $beta 10" "2 0 $alpha 5" \
		"3 1 $(offset "$library" own_alpha) 20" \
		"1 1 $(offset "$library" own_beta) 7" "cut 0 $beta 3" \
		"2 kernel 0 4"
}
describe_files '' | "$dir/compose" "$dir/files.prf"
describe_files sites | "$dir/compose" "$dir/sites.prf"
# Ticks in functions, and with what they called
cat > "$dir/files.txt" <<- 'END'
	[kernel] 4 4
	own_alpha 20 20
	own_beta 7 7
	pie_alpha 5 46
	pie_beta 13 42
END

# same COMMAND [PROFILE]: succeeds if the command, with the files of all formats of a
# profile as f.FORMAT, prints the same functions and ticks
same()
{
	local format

	for format in csv folded json pprof perf callgrind speedscope firefox; do
		"$prohist" --format="$format" --output="$dir/f.$format" \
			"$dir/${2-files}.prf" || return
	done
	"$1" | LC_ALL=C sort | diff "$dir/files.txt" -
}
csv()
{
	tail -n +2 "$dir/f.csv" | tr -d '"\r' |
		awk -F , '{ printf "%s %d %.0f\n", $2, $3, $7 * 49 / 100 }'
}
check 'csv: totals' same csv
folded_totals()
{
	awk '{ ticks = $NF
	       sub(/ [0-9]+$/, "")
	       n = split($0, frames, ";")
	       delete seen
	       for (i = 2; i <= n; i++)
			if (!seen[frames[i]]++)
				total[frames[i]] += ticks
	       self[frames[n]] += ticks }
	     END { for (name in total)
			if (name !~ /^\[unknown/)
				print name, self[name] + 0, total[name] }' \
		"$dir/f.folded"
}
check 'folded: totals' same folded_totals
json_totals()
{
	python3 - "$dir/f.json" <<- 'END'
		import json, sys
		chains = json.load(open(sys.argv[1]))["chains"]
		for f in chains["functions"]:
		    if f["dso"]:
		        print(f["name"], f["ticks"], f["total_ticks"])
		assert sum(n["ticks"] for n in chains["nodes"]) == 49
		assert chains["ends"]["complete"] == 46
	END
}
check 'json: totals, nodes and ends' same json_totals
# stacks FILE: prints totals of speedscope's or the Firefox Profiler's stacks
stacks()
{
	python3 - "$@" <<- 'END'
		import collections, json, sys
		profile = json.load(open(sys.argv[1]))
		own, total = collections.Counter(), collections.Counter()
		def add(names, ticks):
		    own[names[-1]] += ticks
		    for name in set(names):
		        total[name] += ticks
		if "profiles" in profile:
		    frames = [f["name"] for f in profile["shared"]["frames"]]
		    samples = profile["profiles"][0]
		    for stack, weight in zip(samples["samples"], samples["weights"]):
		        add([frames[i] for i in stack[1:]], weight / 1e6)
		else:
		    shared = profile["shared"]
		    stacks, strings = shared["stackTable"], shared["stringArray"]
		    for thread in profile["threads"]:
		        samples = thread["samples"]
		        for at, weight in zip(samples["stack"], samples["weight"]):
		            names = []
		            while at is not None:
		                names.insert(0, strings[stacks["frame"][at]])
		                assert stacks["prefix"][at] is None or stacks["prefix"][at] < at
		                at = stacks["prefix"][at]
		            add(names, weight)
		for name in total:
		    if "unknown" not in name:
		        print(name, round(own[name]), round(total[name]))
	END
}
speedscope()
{
	stacks "$dir/f.speedscope"
}
check 'speedscope: stacks' same speedscope
firefox()
{
	stacks "$dir/f.firefox"
}
check 'firefox: stacks' same firefox
pprof()
{
	go tool pprof -top -cum -nodecount=0 -nodefraction=0 \
		-sample_index=samples "$dir/f.pprof" 2> /dev/null |
		awk '/flat%/ { on = 1; next } on { print $6, $1, $4 }'
}
check 'pprof: go tool pprof reads it' same pprof
check 'pprof: with call sites' same pprof sites
callgrind()
{
	join <(annotate no) <(annotate yes) | grep -v '^\[root'
}
# annotate INCLUSIVE: prints functions and ticks. callgrind_annotate strips the
# directory where it runs from some names only
annotate()
(
	cd /
	callgrind_annotate --auto=no --threshold=100 --inclusive="$1" \
		"$dir/f.callgrind" | sed -nE \
		's/^ *([0-9,]+) \([ 0-9.]+%\) .* [^ ]*:([^ ]+) \[.*/\2 \1/p' |
		LC_ALL=C sort
)
check 'callgrind: callgrind_annotate reads it' same callgrind
# perf prints the address of the kernel
perf_totals()
{
	echo '[kernel] 4 4'
	perf report --stdio --children -g none -t ';' -i "$dir/f.perf" \
		-F overhead_children,overhead,sym < /dev/null 2> /dev/null |
		tr -d ' %' | sed 's/\[[.k]\]//' |
		awk -F ';' '/own_|pie_/ { printf "%s %.0f %.0f\n", $3, $2 * 49 / 100, $1 * 49 / 100 }'
}
check 'perf: perf report reads it' same perf_totals
check 'perf: with call sites' same perf_totals sites
script()
{
	perf script -i "$dir/f.perf" -F period,ip,sym 2> /dev/null |
		awk 'NF == 1 { chain = $1; next }
		     NF { chain = chain " " $2; next }
		     { print chain }' | grep -c '^20000000 own_alpha pie_alpha pie_beta pie_alpha$'
}
check 'perf: perf script prints whole chains' test "$(script)" = 1
check 'a format without chains says so' has \
	<("$prohist" --format=gmon --output=/dev/null "$dir/files.prf" 2>&1) \
	'^prohist: chains of callers are not in this output'

finish
