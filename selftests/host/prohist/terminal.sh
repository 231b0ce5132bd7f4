#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# terminal.sh DIR: tests output to a terminal: colour, width, control codes.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/check.sh
. "$(dirname "$0")/check.sh"

if ! has_terminals; then
	skip 'terminals' 'no pseudo-terminals: /dev/pts is missing'
	finish
fi
make "$dir/terminal.prf" "$known" 600 300 85
esc=$'\033'

# terminal COLUMNS VARIABLES ARGUMENT...: runs prohist in a terminal of this
# width with these environment variables
terminal()
{
	# shellcheck disable=SC2086 # several words
	env -u COLUMNS -u NO_COLOR TERM=xterm PAGER= $2 python3 "$here/terminal.py" \
		"$1" "$prohist" "${@:3}" "$dir/terminal.prf" \
		> "$dir/terminal.txt"
}

# bar LENGTH: checks the bar of the function with the most ticks
bar()
{
	has "$dir/terminal.txt" " 60.0 %  ($esc\\[32m)?#{$1}($esc\\[0m)? +alpha"
}

terminal 100 ''
check 'colour' has "$dir/terminal.txt" "$esc\\[1m +ticks.* by function$esc\\[0m"
check 'bars as long as the terminal lets them' bar 28
terminal 90 ''
check 'a narrower one' bar 18
terminal 40 ''
check 'bars are never too short' bar 10
terminal 300 ''
check 'nor too long' bar 40
terminal 90 COLUMNS=100
check 'COLUMNS says another width' bar 28
terminal 90 COLUMNS=many
check 'COLUMNS that is no number' bar 18
terminal 100 NO_COLOR=1
check 'NO_COLOR' lacks "$dir/terminal.txt" "$esc"
check 'width without colour' bar 28
terminal 100 NO_COLOR=
check 'an empty NO_COLOR is none' has "$dir/terminal.txt" "$esc"
terminal 100 TERM=dumb
check 'a dumb terminal' lacks "$dir/terminal.txt" "$esc"
terminal 100 '' --annotate=alpha
check 'hot instructions' has "$dir/terminal.txt" "$esc\\[1;31m[a-z]"
{
	printf 'run 1000000 waits\nwall 0\nimage 1 0 0 0 0 /bin/waits\n'
	for kind in '7 runnable' '8 blocked' '9 idle'; do
		printf 'object %d %d0000000 0 40000 1 - [%s]\n' "${kind% *}" \
			"${kind% *}" "${kind#* }"
		printf 'function 10 11 read\nbucket 10 5\n'
	done
} | "$dir/compose" "$dir/waits.prf"
env -u COLUMNS -u NO_COLOR TERM=xterm PAGER= python3 "$here/terminal.py" 100 \
	"$prohist" --idle "$dir/waits.prf" > "$dir/terminal.txt"
check 'what runnable threads wait for' has "$dir/terminal.txt" "$esc\[33mread \[runnable\]$esc\[0m"
check 'what blocked ones do' has "$dir/terminal.txt" "$esc\[34mread \[blocked\]$esc\[0m"
check 'and idle ones' has "$dir/terminal.txt" "$esc\[90mread \[idle\]$esc\[0m"
check "and bars of DSOs" has "$dir/terminal.txt" "$esc\\[34m#+$esc\\[0m .*\\[blocked\\]"
rm -f "$dir/terminal.out"
terminal 100 '' --output="$dir/terminal.out"
check 'a file is plain' lacks "$dir/terminal.out" "$esc"
terminal 100 '' --format=svg
check 'a picture is not for a terminal' has "$dir/terminal.txt" \
	'not writing this format to a terminal'

printf '#!/bin/sh\nsed s/^/page:/\n' > "$dir/page"
printf '#!/bin/sh\nhead -n 3\n' > "$dir/head"
chmod +x "$dir/page" "$dir/head"
terminal 100 "PAGER=$dir/page" --no-pager
check 'no pager' lacks "$dir/terminal.txt" 'page:'
terminal 100 "PAGER=$dir/page"
check 'the pager of the environment' has "$dir/terminal.txt" \
	"page:$esc\\[1m +ticks"
terminal 100 "PAGER=$dir/page" --dso=nothing
check 'shows messages, too' has "$dir/terminal.txt" "page:prohist: no DSO"
terminal 100 "PAGER=$dir/head"
check 'a pager that ends early' test "$(wc -l < "$dir/terminal.txt")" = 3

# Ctrl-C while it writes more than there is room for in a pipe
{
	printf 'run 1000000 long\nimage 1 0 0 0 0 /bin/long\n'
	printf 'object 1 10000000 0 10000 1 - /gone/long\n'
	printf 'bucket %x 1\n' {0..2999}
} | "$dir/compose" "$dir/long.prf"
interrupted()
{
	timeout 600 python3 - "$prohist" --top=0 "$dir/long.prf" <<- 'END'
		import signal, subprocess, sys
		process = subprocess.Popen(
		    sys.argv[1:], stdout=subprocess.PIPE,
		    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
		process.stdout.read(1)
		process.send_signal(signal.SIGINT)
		assert process.wait() == -signal.SIGINT
	END
}
check 'Ctrl-C ends it' interrupted
# As less, this one ignores Ctrl-C, and goes on with what it has got
cat > "$dir/slow" <<- 'END'
	#!/bin/sh
	# prohist handles it only when it has started this
	until [ $((0x$(sed -n 's/^SigCgt:[^0-9a-f]*//p' /proc/$PPID/status) & 2)) != 0 ]
	do
		sleep .1
	done
	trap interrupted=yes INT
	interrupted=
	echo begins
	until [ "$interrupted" ]; do
		sleep .1
	done
	trap '' INT
	wc -l > "$1"
	echo ends
END
chmod +x "$dir/slow"
interrupted_pager()
{
	rm -f "$dir/slow.txt"
	TERM=xterm PAGER="exec $dir/slow $dir/slow.txt" INTERRUPT_AT=begins \
		timeout 600 python3 "$here/terminal.py" 80 "$prohist" --top=0 \
		"$dir/long.prf" > "$dir/interrupted.txt"
	# Ended by SIGINT
	[ $? = 254 ] && has "$dir/interrupted.txt" ends &&
		[ "$(cat "$dir/slow.txt")" -lt 3000 ]
}
check 'also while it waits for the pager, which ends first' interrupted_pager

COLUMNS=200 "$prohist" "$dir/terminal.prf" > "$dir/terminal.txt"
check 'plain when piped' lacks "$dir/terminal.txt" "$esc"
check 'and 80 columns' bar 10

# Names contain escape sequences
COMMAND=$'evil\033]0;title\007\033[2J' "$dir/synthesize" "$dir/terminal.prf" \
	$'/tmp/\033[31mred' '' 0 1000 10 500
terminal 100 NO_COLOR=1
check 'names do not talk to the terminal' lacks "$dir/terminal.txt" \
	$'[\033\007]'

# Control characters above ASCII (C1) in UTF-8 and as a lone byte, and DEL; the
# same byte inside another character is none
COMMAND=$'evil\xc2\x9b2J \x9b2J \x7f\xe4\xbd\x9b' "$dir/synthesize" \
	"$dir/terminal.prf" $'/tmp/\xc2\x9b31mred' '' 0 1000 10 500
export LC_ALL=C
terminal 100 NO_COLOR=1
check 'nor do single characters' has "$dir/terminal.txt" \
	$'evil\\?\\?2J \\?2J \\?\xe4\xbd\x9b'
check 'nor those of objects' has "$dir/terminal.txt" '\?\?31mred'

# says STATUS TEXT ARGUMENT...: succeeds if prohist exits with this status and
# its standard error contains TEXT
says()
{
	"$prohist" "${@:3}" "$dir/terminal.prf" > "$dir/terminal.out" \
		2> "$dir/terminal.txt"
	[ $? = "$1" ] && has "$dir/terminal.txt" "$2"
}
check 'nor on the standard error' says 2 '^prohist: /tmp/\?\?31mred: ' \
	--format=gmon
check 'nor names that may have been meant' says 2 "'\\?\\?31mred\\+0x10'" \
	--annotate=31mred
check 'nor what cannot be annotated' says 2 '\(/tmp/\?\?31mred\): ' \
	--annotate=$'\xc2\x9b31mred+0x10'
"$prohist" --format=folded "$dir/terminal.prf" > "$dir/terminal.out" 2> /dev/null
check 'nor folded lines' has "$dir/terminal.out" \
	$'^evil\\?\\?2J \\?2J \\?\xe4\xbd\x9b;.*;\\?\\?31mred'
"$prohist" --format=json "$dir/terminal.prf" > "$dir/terminal.out"
check 'nor JSON, which has escapes' has "$dir/terminal.out" \
	$'"evil\\\\u009b2J \\\\ufffd2J \\\\u007f\xe4\xbd\x9b"'

# Characters that change the direction of those after them, and one that does not
printf '%s\n' 'run 1000 x' \
	$'image 1 0 0 0 0 /a\xe2\x80\xaeb\xe2\x81\xa6c\xe2\x81\xb0' \
	$'object 2 1000 0 1000 4 - /tmp/x\xe2\x80\xaefdp.exe' 'bucket 0 9' |
	"$dir/compose" "$dir/terminal.prf"
turns()
{
	LC_ALL=C grep $'\xe2\x80\xae\|\xe2\x81\xa6' "$dir/terminal.out"
}
for format in text json csv folded html svg; do
	"$prohist" --format=$format --output="$dir/terminal.out" \
		"$dir/terminal.prf"
	check "$format does not change its direction" test -z "$(turns)"
done
"$prohist" --format=json "$dir/terminal.prf" > "$dir/terminal.out"
check 'JSON has these characters, too' has "$dir/terminal.out" \
	'"/tmp/x\\u202efdp\.exe"'
make "$dir/terminal.prf" "$known" 600 300 85
COMMAND=$'evil\xc2\x9b2J \x9b2J \x7f\xe4\xbd\x9b' "$dir/synthesize" \
	"$dir/terminal.prf" $'/tmp/\xc2\x9b31mred' '' 0 1000 10 500

red=$dir/${esc}[31m
rm -rf "$red"
mkdir "$red"
cp "$dir/terminal.prf" "$red/whole.prf"
"$prohist" --format=dos -o "$red/dos.PRF" "$red/whole.prf" 2> /dev/null
: > "$red/empty.prf"

# plainly TEXT ARGUMENT...: succeeds if the output has TEXT, and no escapes
plainly()
{
	"$prohist" "${@:2}" > "$dir/terminal.out" 2>&1
	has "$dir/terminal.out" "$1" && lacks "$dir/terminal.out" "$esc"
}
check 'nor those of files' plainly '/whole.prf$' --buckets "$red/whole.prf"
check 'nor those of MS-DOS' plainly '/\?\[31m/dos.PRF$' "$red/dos.PRF"
check 'nor their errors' plainly 'can only be' --format=json "$red/dos.PRF"
check 'nor those of a directory' plainly '/\?\[31m/empty.prf: ' --diff "$red" "$red"
check 'nor those that are not there' plainly 'No such file' "$red/none"
check 'nor the output' plainly 'Is a directory' -o "$red" "$red/whole.prf"

finish
