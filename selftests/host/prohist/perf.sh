#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# perf.sh DIR: tests that perf(1) reads perf.data.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/whole.sh"

export PERF_CONFIG=/dev/null
needs perf linux-perf

perf_report()
{
	perf report --stdio -i "$1" -t ';' -F "$2" "${@:3}" < /dev/null
}

write perf "$dir/both.perf" "$dir/whole.prf" "$dir/again.prf"
check 'what was lost is said, and no more' says_lost "$dir/both.perf"
check 'perf report does not complain' silent \
	perf_report "$dir/both.perf" period,dso,sym

# Prints functions and nanoseconds; both.txt has their ticks. perf omits
# arguments, and prints addresses for code without symbols.
functions()
{
	perf_report "$dir/both.perf" period,dso,sym | tr -d ' ' |
		awk -F ';' '
		!/^#/ && NF == 3 {
			name = substr($3, 4)
			if (name ~ /^0/ && $2 ~ /^\[/) {
				name = $2
				sub(/^\[JIT\].*/, "[anonymous]", name)
			} else if (name ~ /^0/) {
				sub(/^0x0*/, "+0x", name)
				name = $2 name
			}
			print name, $1
		}' | sed 's/::inner /::inner(int) /'
}
functions_agree()
{
	functions | sort | diff <(awk '{ print $1, $3 }' "$dir/both.txt") -
}
check 'every function has its time' functions_agree

commands()
{
	perf_report "$dir/both.perf" period,comm | tr -d ' ' |
		grep '^[0-9]' | sort | diff - <(printf '%s\n' \
		'270969000000;pie' '47000000;fixed')
}
check 'every program has its time' commands

# The second exec has a library where the first one had its program
check 'no sample is in what was mapped before' has \
	<(perf script -i "$dir/both.perf" -F comm,period,ip,sym,dso 2>&1) \
	"^ *fixed +11000000 +555555555[0-9a-f]+ own_alpha \\($library\\)$"
check 'one sample for each bucket' test \
	"$(perf script -i "$dir/both.perf" -F ip | wc -l)" = 17
ends()
{
	perf script -i "$dir/both.perf" --show-task-events |
		grep -oE 'COMM exec: [a-z]*|EXIT\([0-9]*' |
		diff - <(printf '%s\n' 'COMM exec: pie' 'EXIT(100' \
			'COMM exec: fixed' 'EXIT(100' 'COMM exec: pie' \
			'EXIT(200')
}
check 'each image begins and ends' ends
check 'the command' has <(perf report --header-only -i "$dir/both.perf") \
	'^# cmdline : whole --of it '

header()
{
	perf report --header-only -i "$dir/both.perf" > "$dir/header" &&
		has "$dir/header" '^# hostname : elsewhere.example$' &&
		has "$dir/header" '^# os release : 6.1.0-test$' &&
		has "$dir/header" '^# arch : x86_64$' &&
		has "$dir/header" '^# nrcpus avail : 8$' &&
		has "$dir/header" '^# nrcpus online : 6$' &&
		lacks "$dir/header" 'missing features:.* BUILD_ID'
}
check 'the machine' header
check 'ticks of the kernel are system time' has \
	<(perf_report "$dir/both.perf" sample,overhead_sys,dso) \
	'^ *3 *; *0\.01% *;\[kernel\]'
check 'and no other' lacks \
	<(perf_report "$dir/both.perf" overhead_sys,dso) '[1-9]%.*(pie|own)'

perf_annotate()
{
	silent perf annotate --stdio -i "$dir/both.perf" \
		outer::inner < /dev/null || return
	has "$dir/silent.out" '^ +94\.44 ' && has "$dir/silent.out" '^ +5\.56 '
}
check 'perf annotate has the ticks of each instruction' perf_annotate

build_ids()
{
	perf buildid-list -i "$dir/both.perf" | sort > "$dir/ids"
	for file in "$pie" "$fixed" "$library"; do
		examine "$file"
		grep -qx "$build_id $file" "$dir/ids" || { cat "$dir/ids"; return 1; }
	done
}
check 'build-ids' build_ids

write perf "$dir/whole.perf" "$dir/whole.prf"
write perf "$dir/again.perf" "$dir/again.prf"
check 'a file of an unknown machine' lacks \
	<(perf report --header-only -i "$dir/again.perf") 'hostname :|arch :'
perf_diff()
{
	silent perf diff "$dir/whole.perf" "$dir/again.perf" &&
		has "$dir/silent.out" '0.22% +\+94.12% +pie +\[\.\] pie_alpha'
}
check 'perf diff' perf_diff

# Another build of the library has other functions at the same addresses
{
	printf 'run 1000000 other\nimage 100 0 0 0 0 %s\n' "$pie"
	ID=0011223344556677 object 2 7f0000001000 "$library" own_alpha 3
} | "$dir/compose" "$dir/other.prf"
write perf "$dir/other.perf" "$dir/other.prf"
check 'a library that is another one now has no names' lacks \
	<(perf_report "$dir/other.perf" period,dso,sym 2>&1) own_alpha

# Functions of the kernel, and of code made at run time
{
	printf 'run 1000000 named\nimage 100 0 0 0 0 %s\n' "$pie"
	object 1 555555555000 "$pie" pie_alpha 3
	cat <<- 'END'
		object 6 800000 0 3000 4 - [kernel.kallsyms]
		bucket 1000 5
		function ff0 1010 do_syscall_64
		object 5 7e0000000000 7e0000000000 1000 4 - [anonymous]
		bucket 10 8
		function 0 100 jitted
	END
} | "$dir/compose" "$dir/named.prf"
write perf "$dir/named.perf" "$dir/named.prf"
check 'names that it has no place for are said' has "$dir/named.perf.said" \
	'^prohist: 13 ticks have functions whose names only the profile has, and perf.data has no place for; --format=text prints them$'

finish
