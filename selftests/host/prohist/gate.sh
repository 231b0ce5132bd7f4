#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# gate.sh DIR: tests the verdict of --diff --fail-over: exit statuses, messages,
# JSON, and how often it is wrong. gate_chance.c has the same for the arithmetic.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/whole.sh"

export LC_ALL=C
gate=$dir/gate
rm -rf "$gate"
mkdir -p "$gate"
cd "$gate" || exit
examine "$known"

# judged STATUS PATTERN ARGUMENT...: succeeds if prohist --diff has this status,
# prints a last line that matches, and nothing on standard error
judged()
{
	local wanted=$1 pattern=$2

	shift 2
	"$prohist" --diff "$@" > out 2> err
	[ $? = "$wanted" ] || { cat out err; return 1; }
	tail -n 1 out > last
	has last "^prohist: $pattern$" && ! grep . err
}

# The CPU time of old is 100.2 s: of that, inner has 10 %
make old "$known" 60000 30000 10183
make same "$known" 60100 29900 10183
make inner "$known" 60000 26000 14183
make all "$known" 63000 31500 10692
make few "$known" 600 300 85
check 'no change is ok' judged 0 \
	'ok: nothing grew by more than 2 % of the CPU time before' \
	old same --fail-over=2%
check 'a function is slower' judged 1 \
	'slower: outer::inner\(int\) \(known\) grew by 4\.0 % of the CPU time before, more than 2 %' \
	old inner --fail-over=2%
check 'it is listed' has out \
	'^ +10\.2 % +14\.2 % +\+4\.0 % \+- +0\.3 %  slower +outer::inner\(int\) \(known\)$'
check 'and no other' lacks out 'alpha|beta'
check 'the heading' has out '^  before    after   growth'
check 'everything is slower' judged 1 \
	'slower: the CPU time grew by 5\.0 %, more than 4\.9 %' \
	old all --fail-over=4.9
check 'but not by so much' judged 0 'ok: .*' old all --fail-over=6
check 'faster is ok' judged 0 'ok: .*' all old --fail-over=2%
check 'too few ticks' judged 2 \
	'too few ticks: 1000 before and 1000 after; about 15[0-9]{3} of each are needed \(15\.[0-9] s of CPU time\); run the program for longer, or use a shorter interval' \
	few few --fail-over=2%

# A function with 3 ticks that doubles
make rare "$known" 60000 40180 3
make six "$known" 60000 40177 6
check 'what is small may double' judged 0 'ok: .*' rare six --fail-over=2%
# As much CPU time in twice as many ticks
one_alpha()
{
	printf 'run %d x\nimage 1 0 0 0 0 known\n' "$1"
	object 1 555555555000 "$known" alpha "$2" beta "$3"
}
one_alpha 1000000 30000 70000 | "$dir/compose" slow
one_alpha 500000 60100 139900 | "$dir/compose" fast
check 'intervals may differ' judged 0 'ok: .*' slow fast --fail-over=2%

# Time in the kernel that may be that of any program
kernel_unknown()
{
	{
		one_alpha 1000000 30000 70000
		printf 'image 0 0 0 0 20000 [unknown]\n'
	} | "$dir/compose" unknown
	judged 0 'ok: .*' unknown unknown --fail-over=2% || return
	"$prohist" --diff --comm=known unknown unknown --fail-over=2% \
		> out 2> err
	[ $? = 2 ] && has out 'no verdict: .*in the kernel .* is unknown' &&
		has err 'without the time in the kernel'
}
check 'time in the kernel may be unknown' kernel_unknown

# Code without a name: its address has changed, its DSO has not
anonymous()
{
	printf 'run 1000000 x\nimage 1 0 0 0 0 /gone/x\n'
	printf 'object 1 1000 0 2000 4 - /gone/x\nbucket %s 90000\n' "$1"
	printf 'object 2 10000 0 2000 4 - /gone/y\nbucket 0 %d\n' "$2"
}
anonymous 40 10000 | "$dir/compose" name40
anonymous 80 10000 | "$dir/compose" name80
anonymous 80 15000 | "$dir/compose" name80y
check 'addresses are not compared' judged 0 'ok: .*' name40 name80 --fail-over=2%
check 'DSOs are' judged 1 'slower: .*' name40 name80y --fail-over=2%
check 'this one' has out '\+5\.0 % .* slower +y$'
# Directories with several runs
# runs DIRECTORY TICKS...: makes runs of which beta has so many ticks
runs()
{
	local directory=$1 ticks

	mkdir "$directory"
	shift
	for ticks; do
		one_alpha 100000 40000 "$ticks" |
			"$dir/compose" "$directory/$ticks.prf"
	done
}
runs three 60000 60300 60600
runs slower 65000 65400 65100
runs vary 60000 69000 52000
echo 'no profile' > three/notes
mkdir none broken
cp three/*.prf broken
head -c 400 old > broken/x.prf
check 'runs that do not vary' judged 0 'ok: .*' three three --fail-over=2%
check 'runs that are slower' judged 1 \
	'slower: the CPU time grew by 4\.9 %, more than 2 %' \
	three slower --fail-over=2%
check 'runs that vary' judged 2 \
	'too few runs: the CPU time varies between runs, and its growth is known only to \+-[0-9.]+ %; add runs' \
	three vary --fail-over=2%
check 'their growth has an error' has out \
	'^ 100\.0 % +100\.0 % +\+0\.0 % \+- +[0-9.]+ %  too few runs   everything$'
check 'one of them would be slower' judged 1 'slower: .*' \
	three/60000.prf vary/69000.prf --fail-over=2%
check 'a file and a directory' judged 0 'ok: .*' three/60000.prf three \
	--fail-over=3%
check 'no profile in a directory' status 2 --diff three none --fail-over=2%
check 'a damaged one' status 2 --diff three broken --fail-over=2%
check 'without a threshold' status 2 --diff three none
"$prohist" --diff three slower > shares
check 'shares of several runs' has shares '60\.1 % +62\.0 % +\+1\.8 %  beta \(known\)$'

check '--top limits the list' has <("$prohist" -n1 --diff few few \
	--fail-over=2) '^\(2 more\)$'

# No verdict
unusable()
{
	judged 2 "no verdict: $1" "$2" "$3" --fail-over=2%
}
printf 'run 1000000 x\nimage 1 0 0 0 0 x\n' | "$dir/compose" empty
printf 'run 1000000 x\n' | "$dir/compose" nothing
{ one_alpha 1000000 30000 70000; echo 'stated 100000 0 0'; } |
	"$dir/compose" untimed
{ one_alpha 1000000 30000 70000; echo 'stated 99999 100000000000 100000000000'; } |
	"$dir/compose" wrong
{ one_alpha 1000000 30000 70000; echo 'stated 100000 120000000000 120000000000'; } |
	"$dir/compose" partial
one_alpha 1000000 30000 70000 | sed 's/^image 1 0 0 0/image 1 0 0 6000/' |
	"$dir/compose" lost
{ one_alpha 1000000 30000 70000; echo 'unreached /bin/su it is set-user-ID'; } |
	"$dir/compose" unreached
printf 'run 1000000 x\nimage 1 9 0 0 0 %s\n%s\n' "$pie" \
	"$(object 1 555555555000 "$pie" pie_alpha 90000)" | "$dir/compose" other
{ one_alpha 1000000 3000 7000; echo 'ended 1 11'; } | "$dir/compose" crashed
examine "$known"
check 'no ticks' unusable 'empty: no ticks' slow empty
check 'no ticks before' unusable 'empty: no ticks' empty slow
check 'no program' unusable 'nothing: no ticks' nothing nothing
check 'no CPU time' unusable 'untimed: no CPU time' slow untimed
check 'wrong sums' unusable 'wrong: its ticks do not add up' slow wrong
check 'CPU time without ticks' unusable \
	'partial: its ticks differ from the CPU time covered by more than 5 %' \
	slow partial
{ one_alpha 1000000 30000 70000; echo 'stated 100000 120000000000 100000000000'; } |
	"$dir/compose" uncovered
check 'CPU time that is not covered' unusable \
	'uncovered: more than 5 % of its CPU time has no ticks' slow uncovered
cp "$known" alpha
named()
{
	printf 'run 1000000 x\nimage 1 0 0 0 0 alpha\n'
	object 1 555555555000 "$gate/alpha" alpha "$1" beta "$2"
}
named 50000 50000 | "$dir/compose" namesake
named 80000 20000 | "$dir/compose" grown
check 'a function with the name of its program' judged 1 \
	'slower: alpha \(alpha\) grew by 30\.0 % .*' namesake grown --fail-over=2%
check 'lost ticks' unusable \
	'lost: more than 5 % of its CPU time has no ticks' slow lost
check 'a program not profiled' unusable \
	'the numbers of programs that were not profiled differ' slow unreached
check 'a crash' unusable 'the exit statuses of the programs differ' slow crashed
check 'another program' unusable \
	'the profiles have no function in common' slow other

# Profiles that were measured in different ways
one_kernel()
{
	printf 'run 1000000 x\nimage 1 0 0 0 0 known\n'
	object 1 555555555000 "$known" alpha 30000
	printf 'object 6 800000 0 3000 4 - [kernel.kallsyms]\n'
	printf 'bucket 1000 70000\nfunction 0 2000 copy\n'
}
one_kernel | "$dir/compose" functions
one_kernel | sed 's/^image 1 0/image 1 70000/; /kallsyms/,$d' |
	"$dir/compose" nofunctions
check 'functions of the kernel on one side' judged 0 'ok: .*' nofunctions \
	functions --fail-over=2%
check 'and that is said' has out \
	'^\[kernel\] is compared as a whole: its functions have names in some runs only$'
one_pie()
{
	printf 'run 1000000 x\nimage 1 0 0 0 0 pie\n'
	object 1 555555555000 "$pie" pie_alpha 30000 pie_beta 70000 |
		sed -E "s/ 1 ([0-9a-f]{40} )/ $1 \\1/"
}
one_pie 1 | "$dir/compose" small
one_pie 16 | "$dir/compose" large
check 'other sizes of buckets' judged 0 'ok: .*' small large --fail-over=2%
check 'and that is said, too' has out \
	'^pie is compared as a whole: its buckets have several sizes$'
examine "$known"
ID=00 one_alpha 1000000 30000 70000 | "$dir/compose" again
check 'a program that was built again' judged 0 'ok: .*' again slow \
	--fail-over=2%
check 'and that is said as well' has out \
	'^known is compared as a whole: its functions have names in some runs only$'
"$prohist" --diff again slow > shares
check 'without a threshold, too' has shares '^no function changed'
ran()
{
	one_alpha 1000000 $(($1 * 300)) $(($1 * 700))
	printf 'ended 2 0\nmeasured %d 0 %d000000000\n' "${2:-1}" $(($1 * ${3:-1}))
}
ran 100 | "$dir/compose" attached
ran 300 | "$dir/compose" longer
ran 300 1 3 | "$dir/compose" busier
ran 100 3 | "$dir/compose" substitute
check 'attached runs' judged 0 'ok: .*' attached longer --fail-over=2%
check 'with more to do' judged 1 \
	'slower: the CPU time per second grew by 200\.0 %, more than 2 %' \
	busier longer --fail-over=2%
check 'another source of ticks' unusable \
	'some profiles are of the kernel module, others of perf_event_open' \
	attached substitute
{ one_alpha 1000000 30000 70000; echo 'unplaced 10000 0'; } |
	"$dir/compose" nowhere
check 'many ticks without a DSO' unusable \
	'nowhere: more than 5 % of its ticks are coarse or unresolved' slow nowhere

# Errors: never 0, and never 1, which means slower
check 'a missing file' status 2 --diff old gone --fail-over=2%
check 'a file of another format' status 2 --diff old "$known" --fail-over=2%
head -c 400 old > short
check 'a truncated file' status 2 --diff short old --fail-over=2%
check 'no directory for the output' status 2 -o no/out --diff old same \
	--fail-over=2%
full()
{
	"$prohist" --diff old same --fail-over=2% > /dev/full
	[ $? = 2 ]
}
check 'a full disk' full
for percent in 0 0% -1 1001% x '' 2x 2%% . inf nan 0x2 ' 2' 1e1; do
	check "--fail-over='$percent'" status 2 --diff old same \
		--fail-over="$percent"
done
for percent in 1000 1000% .5 2. 2.50%; do
	check "--fail-over=$percent is valid" judged 0 'ok: .*' old old \
		--fail-over="$percent"
done
check '--fail-over without --diff' status 2 --fail-over=2% old
check 'three files' status 2 --diff --fail-over=2% old same old
check '--diff with another format' status 2 --diff old same --format=svg
check '--diff with JSON and lines' status 2 --diff old same --format=json \
	--lines

# JSON, with the same statuses
needs python3 python3

# json STATUS EXPRESSION ARGUMENT...: succeeds if prohist has this status, and
# the expression of the object j is true
json()
{
	local wanted=$1 expression=$2

	shift 2
	"$prohist" --format=json --diff "$@" > json
	[ $? = "$wanted" ] || return
	python3 - json "$expression" <<- 'END'
		import json, sys
		def constant(name):
		    raise ValueError(name)
		with open(sys.argv[1], encoding="utf-8") as file:
		    j = json.load(file, parse_constant=constant)
		print(j)
		assert eval("(" + sys.argv[2] + ")")
	END
}
check 'JSON of no change' json 0 'j["gate"]["verdict"] == "ok" and
	j["before"]["ticks"] == 100198 and j["after"]["file"] == "same" and
	j["gate"]["threshold_percent"] == 2 and
	0.5 < j["gate"]["finds_percent"] - 2 < 1.5 and
	"error_percent" not in j["gate"] and
	"ticks_needed" not in j["gate"] and
	{d["name"]: d["ticks"][0] for d in j["dsos"]} ==
	{"known": 100183, "[kernel]": 10, "[elsewhere]": 5}' \
	old same --fail-over=2%
check 'JSON of a slower function' json 1 'j["gate"]["verdict"] == "slower" and
	j["gate"]["growth_percent"] == 0 and
	[f["growth_percent"] for f in j["functions"]
	if f["verdict"] == "slower"] == [3.992]' old inner --fail-over=2%
check 'JSON of runs' json 2 'j["gate"]["verdict"] == "too few runs" and
	j["gate"]["error_percent"] > 5 and j["before"]["runs"] == 3 and
	j["before"]["file"] == "three"' three vary --fail-over=2%
check 'JSON of too few ticks' json 2 'j["gate"]["verdict"] == "too few ticks"
	and 15000 < j["gate"]["ticks_needed"] < 16000' few few --fail-over=2%
check 'JSON of no verdict' json 2 'j["gate"] == {"verdict": "no verdict",
	"threshold_percent": 2, "problem": "no ticks", "file": "empty"}' \
	slow empty --fail-over=2%
check 'JSON without a threshold' json 0 '"gate" not in j and
	sorted(f["name"] for f in j["functions"] if f["changed"]) ==
	["beta", "outer::inner(int)"]' old inner
check 'JSON without ticks' json 0 'j["functions"][0]["changed"] is False' \
	slow empty

# Names of any bytes do not make a second line, or invalid JSON
odd=$'a\xff"\\\x1b[2m'
with_odd()
{
	one_alpha 1000000 30000 $((70000 - $1))
	printf 'object 2 10000 0 2000 4 - /%s\nbucket 0 %d\n' "$odd" "$1"
}
with_odd 1000 | "$dir/compose" before
with_odd 9000 | "$dir/compose" $'af\nter'
check 'names with control characters' judged 1 \
	'slower: a."\\\?\[2m grew by 8\.0 % .*' before $'af\nter' --fail-over=3%
check 'in JSON, too' json 1 'j["after"]["file"] == "af\nter" and
	j["dsos"][0]["name"] == "a\ufffd\"\\\x1b[2m"' \
	before $'af\nter' --fail-over=3%
cp empty $'emp\nty'
check 'a file name with a newline' judged 2 'no verdict: emp\?ty: no ticks' \
	slow $'emp\nty' --fail-over=2%

# The largest numbers
{
	printf 'run 65535 x\nimage 1 0 0 0 0 x\n'
	printf 'object 1 1000 0 2000 4 - /gone/x\nbucket 0 %d\n' $((1 << 47))
	printf 'object 2 10000 0 2000 4 - /gone/y\nbucket 0 %d\n' $((1 << 47))
	echo "stated $((1 << 48)) 18446462598732840960 18446462598732840960"
} | "$dir/compose" most
{
	printf 'run 1 x\nimage 1 0 0 0 0 x\n'
	printf 'object 1 1000 0 2000 4 - /gone/x\nbucket 0 1\n'
	echo 'stated 1 1 1'
} | "$dir/compose" least
check 'the largest numbers' judged 0 'ok: .*' most most --fail-over=2%
check 'the smallest' judged 2 'too few ticks: .*' least least --fail-over=2%
check 'the smallest and the largest' judged 1 'slower: .*' least most \
	--fail-over=2%

# pairs NUMBER TICKS PERCENT: judges pairs of drawn profiles, sets count to the
# numbers of exit statuses 0, 1 and 2, and prints them
pairs()
{
	local i

	rm -rf drawn
	mkdir drawn
	"$dir/draw" drawn "$1" "$2" "$3"
	count=(0 0 0)
	for ((i = 1; i <= $1; i++)); do
		"$prohist" --diff "drawn/before.$i" "drawn/after.$i" \
			--fail-over=2% > out
		((++count[$?]))
	done
	echo "# $1 pairs of $2 ticks, growth $3 %: ${count[0]} ok," \
		"${count[1]} slower, ${count[2]} too few ticks"
}

# A verdict is wrong with a probability of at most 0.05: a correct gate has more
# than 20 wrong ones of 200, or 8 of 50, in one of 1000 tests
pairs 200 500 0
check 'equal runs are not slower' test "${count[1]}" -le 20
pairs 50 16100 0
check 'equal runs are ok, with the ticks needed' test "${count[0]}" -ge 42
pairs 50 16100 2.00001
check 'growth above the threshold is not ok' test "${count[0]}" -le 8
pairs 50 8391 5
check 'growth of 5 % is found' test "${count[1]}" -ge 42

finish
