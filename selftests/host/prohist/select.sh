#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# select.sh DIR: tests that prohist selects, groups and orders ticks.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/whole.sh"

# Three processes of two programs: make 8 ticks, cc1 671 and 300, and with a
# library that both use
describe_build()
{
	printf 'run 1000000 make\n'
	printf 'image 100 1 0 0 0 /usr/bin/make\n'
	object 1 555555555000 "$pie" pie_alpha 5
	object 2 7f0000000000 "$library" own_alpha 3
	printf 'cgroup /user.slice/build\n'
	printf 'image 101 20 4 %d 6 /usr/lib/gcc/cc1\n' "$1"
	printf 'cgroup /user.slice/builders\n'
	object 1 555555555000 "$fixed" fixed_alpha 400 fixed_beta 200 \
		_ZN5outer5innerEi 50
	object 2 7f0000000000 "$library" own_alpha 21
	printf 'image 102 0 0 0 0 /usr/lib/gcc/cc1\n'
	object 1 555555555000 "$fixed" fixed_alpha 300
	printf 'unreached /bin/su not permitted\n'
}
describe_build 0 | "$dir/compose" "$dir/build.prf"

# table ARGUMENT...: prints the first table: ticks and names
table()
{
	"$prohist" "$@" "$dir/build.prf" | awk '
		/^ +ticks/ { tables++ }
		tables == 1 && /^ +[0-9]+ .*%/ { rows = rows $1 " " $NF "\n" }
		END { printf "%s", rows }'
}

# is 'ROWS' ARGUMENT...: succeeds if these are the rows of the first table
is()
{
	diff <(printf '%s\n' "$1") <(table "${@:2}")
}

# shows TEXT ARGUMENT...: succeeds if the report has a line with TEXT
shows()
{
	"$prohist" "${@:2}" "$dir/build.prf" > "$dir/select.txt"
	has "$dir/select.txt" "$1"
}

# fails STATUS MESSAGE ARGUMENT...: succeeds if prohist says this
fails()
{
	"$prohist" "${@:3}" "$dir/build.prf" > "$dir/select.txt" \
		2> "$dir/select.err"
	[ $? = "$1" ] && has "$dir/select.err" "^prohist: $2"
}

# Order
"$prohist" "$dir/build.prf" > "$dir/build.txt"
programs()
{
	sed -n '/by program/,/^$/p' "$dir/build.txt" | awk 'NR > 1 { print $1, $NF }'
}
check 'programs come first, most ticks first' \
	diff <(printf '%s\n' '1001 cc1' '9 make' ' ') <(programs)
dsos()
{
	sed -n '/by DSO/,/^$/p' "$dir/build.txt" |
		awk '$NF ~ /^[/[]/ { print $1, $NF }'
}
check 'DSOs of a class are in order of ticks' \
	diff <(printf '%s\n' "950 $fixed" "5 $pie" "24 $library" '27 [kernel]' \
	'4 [elsewhere]') <(dsos)
make "$dir/one.prf" "$known" 600 300 85
"$prohist" "$dir/one.prf" > "$dir/one.txt"
check 'one program needs no table' lacks "$dir/one.txt" 'by program'

# Groups
check 'by program' is $'1001 cc1\n9 make' --sort=comm
check 'by process' is $'701 101\n300 102\n9 100' --sort=pid
check 'by program and DSO' is \
	"950 $fixed
26 [kernel]
21 $library
5 $pie
4 [elsewhere]
3 $library
1 [kernel]" --sort=comm,dso
check 'programs beside DSOs' shows \
	"^ +950  94.1 % .* cc1 +#+ $fixed\$" --sort=comm,dso
check 'processes beside functions' shows \
	'^ +400  39.6 % .* 101 +#+ fixed_alpha \(fixed\)$' --sort=pid,symbol,dso
check 'a function of two DSOs is one' shows \
	'^ +700 .* fixed_alpha$' --sort=symbol
check 'the rest is one line' shows '^ +60 +5.9 %  \(6 more\)$' \
	--sort=comm,dso --top=1

check 'by cgroup' is $'701 /user.slice/builders\n300 [unknown]\n9 /user.slice/build' \
	--sort=cgroup
check 'cgroups beside programs' shows \
	'^ +9  .* /user.slice/build +100 +make$' --sort=cgroup,pid,comm
check 'a cgroup, but not one that begins like it' is '9 make' --sort=comm \
	--cgroup=/user.slice/build
check 'a cgroup has those below it' is $'701 101\n9 100' --sort=pid \
	--cgroup=/user.slice/
check 'the root has all of them' is $'701 101\n9 100' --sort=pid --cgroup=/
check 'but no other name' fails 2 "no program in cgroup 'x'" --cgroup=x
check 'nor an empty one' fails 2 "no program in cgroup ''" --cgroup=
check 'several cgroups' is $'701 cc1\n9 make' --sort=comm \
	--cgroup=/user.slice/build --cgroup=/user.slice/builders
check 'a cgroup that there is not' fails 2 "no program in cgroup '/x'" \
	--cgroup=/x

# Names that the profile itself has: of the kernel, whose parts are one in two
# processes, and of code made at run time, which is not. Ticks beside the
# functions belong to the whole.
describe_named()
{
	printf 'run 1000000 named\n'
	printf 'image %d 4 0 0 0 /usr/bin/named\nunplaced 20 10\n' 200
	printf 'object 6 800000 0 10000 4 abcd [kernel.kallsyms]\n'
	printf 'bucket 100 50\nbucket 200 7\nbucket 300 3\n'
	printf 'function 80 180 sys_read\nfunction 1c0 240 sys_write\n'
	printf 'object 5 900000 7f0000000000 10000 4 - /tmp/perf-200.map\n'
	printf 'bucket 10 11\nbucket 400 1\nfunction 0 20 early\n'
	printf 'image %d 0 0 0 0 /usr/bin/named\n' 200
	printf 'object 6 800000 0 10000 4 abcd [kernel.kallsyms]\n'
	printf 'bucket 104 5\nbucket 280 2\n'
	printf 'function 80 180 sys_read\nfunction 260 2a0 sys_open\n'
	printf 'object 5 900000 7f0000000000 10000 4 - /tmp/perf-200.map\n'
	printf 'bucket 10 13\nfunction 0 20 late\n'
}
describe_named | "$dir/compose" "$dir/named.prf"
# Code of one function, made at run time by two processes, at two places
for nr in 1 2; do
	{
		printf 'run 1000000 made\nimage %d 0 0 0 0 /usr/bin/java\n' $nr
		printf 'object 5 0 0 1000 4 - [anonymous]\nbucket %d0 50\n' $nr
		printf 'function 0 30 compiled\n'
	} | "$dir/compose" "$dir/made$nr.prf"
done
"$prohist" --stats "$dir/made1.prf" "$dir/made2.prf" > "$dir/made.txt"
check 'a function that two processes have made is one' has "$dir/made.txt" \
	'^ +100 +100\.0 % .* compiled \(\[anonymous\]\)$'
check 'and so is the memory without a file' has "$dir/made.txt" \
	'^ +100 +100\.0 % .*  \[anonymous\]$'

named()
{
	"$prohist" --sort=symbol,dso "${@:2}" "$dir/named.prf" |
		sed -n 's/ +-.* %  #* */ /; s/^ *\([0-9]*\) .* % \(.*\)$/\1 \2/p' |
		diff <(printf '%s\n' "$1") -
}
check 'functions that the profile names' named \
	'55 sys_read ([kernel.kallsyms])
30 [elsewhere]
13 late (perf-200.map)
11 early (perf-200.map)
7 sys_write ([kernel.kallsyms])
4 [kernel]
3 [kernel.kallsyms]
2 sys_open ([kernel.kallsyms])
1 perf-200.map+0x7f0000000400 (perf-200.map)'
check 'one of them' named '55 sys_read ([kernel.kallsyms])' --symbol=sys_read
"$prohist" --stats "$dir/named.prf" > "$dir/named.txt"
check 'ticks without a bucket' has "$dir/named.txt" '^ +coarse +20 '
check 'ticks without a mapping' has "$dir/named.txt" '^unresolved +10 '
check 'the sum has both' has "$dir/named.txt" '^ticks = .* [+] unresolved: yes'
check 'the functions are in the kernel' has "$dir/named.txt" '^ +71 .* kernel$'

# Columns
check 'columns in their order' shows \
	'^  program +seconds +ticks$' --fields=comm,time,ticks
check 'and their contents' shows '^  cc1 +1\.001 +1001$' \
	--fields=comm,time,ticks
check 'all of them' shows '^ +700 +69.3 % \+- +2.8 % +69.3 % +0.700  #+ +cc1 +fixed +fixed_alpha$' \
	--fields=ticks,percent,error,so-far,time,bar,comm,dso,symbol
check 'an unknown column' fails 2 "invalid argument 'hits' for --fields" \
	--fields=ticks,hits
check 'a column given twice' fails 2 "repeated argument 'ticks'" \
	--fields=ticks,ticks
check 'a number is no group' fails 2 '--sort takes cgroup, comm' --sort=ticks
check 'other formats have no columns' fails 2 '--sort and --fields work only' \
	--fields=ticks --format=json

# Selection
check 'a program' is $'700 (fixed)\n200 (fixed)\n50 (fixed)\n26 [kernel]
21 (libown.so)\n4 [elsewhere]' --comm=cc1
check 'its times alone' shows '^CPU time: 1.001 s' --stats --comm=cc1
check 'a process' is $'300 (fixed)' --pid=102
check 'several' is $'300 102\n9 100' --pid=102 --pid=100 --sort=pid
check 'a DSO' is $'24 (libown.so)' --dso=libown.so
check 'of a program' is $'3 (libown.so)' --dso=libown.so --comm=make
check 'the kernel' is $'27 [kernel]' --dso='[kernel]'
check 'a function without its parameters' is $'50 (fixed)' --symbol=outer::inner
check 'a mangled one' is $'50 (fixed)' --symbol=_ZN5outer5innerEi
check 'whatever the style of names' is $'50 (fixed)' \
	--symbol=_ZN5outer5innerEi --names=short
check 'two functions' is $'200 (fixed)\n4 [elsewhere]' --symbol=fixed_beta \
	--symbol='[elsewhere]'
check 'shares are of what is selected' shows '^ +200  80.0 % ' \
	--symbol=fixed_beta --symbol=outer::inner
check 'the summary has the rest' shows '^unselected +760 ' --stats \
	--symbol=fixed_beta --symbol=outer::inner
check 'and adds up' shows 'unresolved \+ unselected: yes$' --stats \
	--symbol=fixed_beta
check 'lines of a DSO' shows '^ +24 +100.0 % .*known.c' --dso=libown.so --lines
check 'no such program' fails 2 "no program 'gcc' in the profile" --comm=gcc
check 'no such process' fails 2 'no process 7 in the profile' --pid=7
check 'no number' fails 2 'invalid number for --pid' --pid=cc1
check 'no such DSO' fails 2 "no DSO 'libnone.so' has ticks" --dso=libnone.so
check 'no such function' fails 2 \
	"no function 'fixed_alfa' has ticks; there is 'fixed_alpha'" \
	--symbol=fixed_alfa
check 'names that are not near are not suggested' fails 2 \
	"no function 'main' has ticks\$" --symbol=main

# Every format
check 'JSON of a program' shows '"ticks": 400|"ticks": 700' --format=json \
	--comm=cc1
programs_add_up()
{
	"$prohist" --format=json --symbol=fixed_beta --symbol=fixed_alpha \
		"$dir/build.prf" > "$dir/select.json"
	python3 - "$dir/select.json" <<- 'END'
		import json, sys
		profile = json.load(open(sys.argv[1]))
		assert profile["programs"] == [
		    {"name": "cc1", "ticks": 900, "ns": 900000000}]
		assert profile["summary"]["unselected"] == 110
		assert profile["summary"]["adds_up"]
	END
}
check 'JSON has the programs, and what is not selected' programs_add_up
lacking()
{
	"$prohist" --format="$1" --comm=make "$dir/build.prf" > "$dir/select.out" \
		2> /dev/null && lacks "$dir/select.out" fixed
}
for format in json csv folded callgrind svg; do
	check "$format without another program" lacking $format
done
check 'buckets of a DSO' lacking text --buckets --dso=libown.so
difference()
{
	"$prohist" --diff --comm=cc1 "$dir/build.prf" "$dir/build.prf" \
		> "$dir/select.txt" && has "$dir/select.txt" '^6 functions'
}
check 'differences of a program' difference

# The program with the most ticks is what gprof and MS-DOS PROHIST get
"$prohist" --format=gmon -o "$dir/select.gmon" "$dir/build.prf" 2> /dev/null
most()
{
	gprof -b -p "$fixed" "$dir/select.gmon" > "$dir/select.txt" 2>&1 &&
		has "$dir/select.txt" fixed_alpha
}
check 'the program with the most ticks' most

# CSV
csv()
{
	"$prohist" --format=csv "${@:2}" "$dir/build.prf" > "$dir/select.csv"
	diff <(printf '%s' "$1" | sed 's/$/\r/') <(head -n 2 "$dir/select.csv")
}
check 'CSV' csv "dso,symbol,ticks,percent,error,time
\"$fixed\",\"fixed_alpha\",700,69.3069,2.8445,0.700000000
"
check 'CSV of programs' csv 'comm,ticks,percent,error,time
"cc1",1001,99.1089,0.5796,1.001000000
' --sort=comm
check 'CSV of columns' csv 'ticks,comm
1001,"cc1"
' --fields=ticks,comm
check 'CSV of cgroups' csv 'cgroup,comm,ticks,percent,error,time
"/user.slice/builders","cc1",701,69.4059,2.8419,0.701000000
' --sort=cgroup,comm
check 'CSV of cgroups by name' csv 'cgroup,ticks
"/user.slice/builders",701
' --fields=cgroup,ticks
every_row()
{
	python3 - "$dir/select.csv" <<- 'END'
		import csv, sys
		rows = list(csv.DictReader(open(sys.argv[1], newline="")))
		assert sum(int(row["ticks"]) for row in rows) == 1010, rows
	END
}
"$prohist" --format=csv "$dir/build.prf" > "$dir/select.csv"
check 'CSV has all ticks' every_row
# Formulas, and bytes that are not UTF-8
formulas()
{
	python3 - "$dir/select.csv" <<- 'END'
		import csv, sys
		with open(sys.argv[1], newline="", encoding="utf-8") as file:
		    names = {row["comm"] for row in csv.DictReader(file)}
		assert names == {"'=cmd|'C calc'!A0", "'+1", "'-1", "'@SUM(1)",
		                 "a\ufffd=b"}, names
	END
}
{
	echo 'run 1000000 odd'
	for name in "=cmd|'C calc'!A0" +1 -1 '@SUM(1)' $'a\xff=b'; do
		printf 'image 1 9 0 0 0 /bin/%s\n' "$name"
	done
} | "$dir/compose" "$dir/odd.prf"
"$prohist" --format=csv --sort=comm "$dir/odd.prf" > "$dir/select.csv"
check 'CSV has no formulas, and is UTF-8' formulas
printf 'run 1000000 odd\nimage 1 0 0 0 0 /bin/a",b\nobject 5 1000 0 1000 4 - [%s]\nbucket 0 9\n' \
	$'\e"' | "$dir/compose" "$dir/odd.prf"
"$prohist" --format=csv --sort=comm,dso "$dir/odd.prf" > "$dir/select.csv"
check 'CSV of odd names' has "$dir/select.csv" \
	'^"a"",b","\[\?""\]",9,100\.0000'

# CPU time without ticks
describe_build 40 | "$dir/compose" "$dir/build.prf"
check 'little time without ticks' lacks <("$prohist" "$dir/build.prf") \
	'CPU time has no ticks'
describe_build 200 | "$dir/compose" "$dir/build.prf"
check 'much of it is mentioned' shows \
	'^16.5 % of the CPU time has no ticks, and may belong anywhere'
check 'and the error contains it' shows '^ +700  69.3 % \+- 14.3 % '
check 'other formats mention it' fails 0 '200 of 1210 ticks were lost' \
	--format=folded

# Without a file
newest()
(
	rm -rf "$dir/here"
	mkdir "$dir/here" && cd "$dir/here" || exit
	if [ "${1-}" = none ]; then
		"$prohist" 2>&1 | grep -q 'no FILE given, and no .prf file'
		return
	fi
	cp "$dir/one.prf" new.prf
	cp "$dir/build.prf" old.prf
	touch -d '1 hour ago' old.prf
	mkdir directory.prf
	"$prohist" | grep -q '^known: '
)
check 'the newest profile of the directory' newest
check 'no profile in the directory' newest none

# A program that was replaced after it was executed
{
	printf 'run 1000000 replaced\nimage 100 0 0 0 0 /bin/prog (deleted)\n'
	printf 'object 1 1000 0 2000 4 - /bin/prog (deleted)\nbucket 0 7\n'
	printf 'image 101 0 0 0 0 /bin/prog\n'
	printf 'object 1 1000 0 2000 4 - /bin/prog\nbucket 0 9\n'
	printf 'image 102 0 0 0 0 /bin/program\n'
	printf 'object 1 1000 0 2000 4 - /bin/program\nbucket 0 1\n'
} | "$dir/compose" "$dir/replaced.prf"
check 'a program by its name, replaced or not' has \
	<("$prohist" --comm=prog "$dir/replaced.prf") ' 16 ticks, '
check 'that it was replaced is said of the file alone' has \
	<("$prohist" "$dir/replaced.prf") ' prog\+0 \(prog \(deleted\)\)$'

finish
