#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# terminal.sh DIR: colour and width, as the terminal has them.
#
# Functions are called by way of check.
# shellcheck disable=SC2317

# shellcheck source=selftests/tools/check.sh
. "$(dirname "$0")/check.sh"

if ! has_terminals; then
	skip 'terminals' 'none can be had here'
	finish
fi
make "$dir/terminal.prf" "$known" 600 300 85
esc=$'\033'

# terminal COLUMNS VARIABLES ARGUMENT...: a terminal and its environment
terminal()
{
	# shellcheck disable=SC2086 # several words
	env -u COLUMNS -u NO_COLOR TERM=xterm $2 python3 "$here/terminal.py" \
		"$1" "$prohist" "${@:3}" "$dir/terminal.prf" \
		> "$dir/terminal.txt"
}

# bar LENGTH: that of the function with most ticks
bar()
{
	has "$dir/terminal.txt" " 60.0 %  ($esc\\[32m)?#{$1}($esc\\[0m)? +alpha"
}

terminal 100 ''
check 'colour' has "$dir/terminal.txt" "$esc\\[1mreckoning$esc\\[0m"
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
rm -f "$dir/terminal.out"
terminal 100 '' --output="$dir/terminal.out"
check 'a file is plain' lacks "$dir/terminal.out" "$esc"
terminal 100 '' --format=svg
check 'a picture is not for a terminal' has "$dir/terminal.txt" \
	'this format is not for a terminal'

COLUMNS=200 "$prohist" "$dir/terminal.prf" > "$dir/terminal.txt"
check 'plain when piped' lacks "$dir/terminal.txt" "$esc"
check 'and 80 columns' bar 10

# What could be told to a terminal is in a name
COMMAND=$'evil\033]0;title\007\033[2J' "$dir/synthesize" "$dir/terminal.prf" \
	$'/tmp/\033[31mred' '' 0 1000 10 500
terminal 100 NO_COLOR=1
check 'names do not talk to the terminal' lacks "$dir/terminal.txt" \
	$'[\033\007]'

# The same as one character, C1: in UTF-8, as a byte that is no character, and
# DEL; what looks like it inside a character is none
COMMAND=$'evil\xc2\x9b2J \x9b2J \x7f\xe4\xbd\x9b' "$dir/synthesize" \
	"$dir/terminal.prf" $'/tmp/\xc2\x9b31mred' '' 0 1000 10 500
export LC_ALL=C
terminal 100 NO_COLOR=1
check 'nor do single characters' has "$dir/terminal.txt" \
	$'evil\\?\\?2J \\?2J \\?\xe4\xbd\x9b'
check 'nor those of objects' has "$dir/terminal.txt" '\?\?31mred'

# says STATUS WHAT ARGUMENT...: on the standard error
says()
{
	"$prohist" "${@:3}" "$dir/terminal.prf" > "$dir/terminal.out" \
		2> "$dir/terminal.txt"
	[ $? = "$1" ] && has "$dir/terminal.txt" "$2"
}
check 'nor on the standard error' says 1 '^prohist: /tmp/\?\?31mred: ' \
	--format=gmon
check 'nor names that may have been meant' says 1 "'\\?\\?31mred\\+0x10'" \
	--annotate=31mred
check 'nor what cannot be annotated' says 1 '\(/tmp/\?\?31mred\): ' \
	--annotate=$'\xc2\x9b31mred+0x10'
"$prohist" --format=folded "$dir/terminal.prf" > "$dir/terminal.out" 2> /dev/null
check 'nor folded lines' has "$dir/terminal.out" \
	$'^evil\\?\\?2J \\?2J \\?\xe4\xbd\x9b;.*;\\?\\?31mred'
"$prohist" --format=json "$dir/terminal.prf" > "$dir/terminal.out"
check 'nor JSON, which has escapes' has "$dir/terminal.out" \
	$'"evil\\\\u009b2J \\\\ufffd2J \\\\u007f\xe4\xbd\x9b"'

finish
