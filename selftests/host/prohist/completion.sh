#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# completion.sh DIR: tests bash's completion of the command lines of both tools
# after "make install", including that bash-completion finds it.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/check.sh
. "$(dirname "$0")/check.sh"

library=/usr/share/bash-completion/bash_completion
root=$dir/root
work=$dir/work
if [ ! -e $library ]; then
	skip 'completion' 'bash-completion is missing'
	finish
fi
rm -rf "$root" "$work"
command make -s -C "$here/../../../tools" O="$dir" DESTDIR="$root" prefix=/usr install
mkdir -p "$work/directory"
touch "$work/one.prf" "$work/TWO.PRF" "$work/three.txt"
tool=$root/usr/bin

# complete_words WORD...: prints the completions of the last word
complete_words()
{
	(cd "$work" && env -i PATH="$tool:$PATH" HOME="$work" TERM=dumb \
		BASH_COMPLETION_USER_DIR="$root/usr/share/bash-completion" \
		bash "$here/complete.bash" "$library" "$@" \
		2> "$dir/completion.err")
}

# offers 'WORDS' WORD...: succeeds if the completions of the last word are WORDS
# and no others, in any order
offers()
{
	# shellcheck disable=SC2086 # several words
	diff <(printf '%s\n' $1 | sort) <(complete_words "${@:2}" | sort)
}

# offers_process PID WORD...: succeeds if the completions of PID, the last of the
# words, are it and others that begin so: low numbers begin many
offers_process()
{
	local offered

	offered=$(complete_words "${@:2}" "$1")
	grep -qx "$1" <<< "$offered" && ! grep -qv "^$1[0-9]*$" <<< "$offered"
}

# all_options TOOL: prints each long option that --help mentions
all_options()
{
	"$tool/$1" --help | grep -oE -- '--[a-z][a-z-]*=?' | sort -u
}

check 'files are where bash looks' test -f \
	"$root/usr/share/bash-completion/completions/prohist"
for name in profil prohist; do
	[ -x "$tool/$name" ] || continue
	check "every option of $name" offers "$(all_options $name)" $name --
done
check 'an option that is begun' offers '--buckets' prohist --bu
check 'profiles' offers 'one.prf TWO.PRF directory' prohist ''
check 'profiles after options' offers 'one.prf' prohist -n 3 on
check 'an output may be any file' offers 'three.txt' prohist -o th
check 'directories' offers 'directory' prohist --debuginfo-path = ''
make "$dir/completed.prf" "$known" 600 300 85
check 'nothing for a number' offers '' prohist --top = ''
check 'nothing for a cgroup' offers '' prohist --cgroup ''
check 'keys' offers 'cgroup comm' prohist --sort = c
check 'keys after others' offers 'pid,dso,cgroup pid,dso,comm' \
	prohist --sort = pid,dso,c
check 'columns' offers 'ticks,percent ticks,pid' prohist --fields ticks,p
# Each word that is offered is one that prohist takes; not beside all others: the total
check 'each of them' status 0 --output="$dir/columns.txt" \
	--fields="$(complete_words prohist --fields = '' | grep -vx total | paste -sd ,)" "$dir/completed.prf"
check 'each key' status 0 --output="$dir/columns.txt" \
	--sort="$(complete_words prohist --sort = '' | paste -sd ,)" "$dir/completed.prf"

# The completions are exactly the formats that prohist knows
formats=$(complete_words prohist --format = '')
formats_are_right()
{
	local format

	for format in $formats; do
		status 2 --format="$format" "$dir/nothing.prf" < /dev/null \
			> /dev/null || return
	done
	sed -n 's/^\t{ "\([a-z]*\)", [a-z]*_[a-z]*,.*/\1/p' \
		"$here/../../../tools/prohist/options.c" | sort |
		diff - <(printf '%s\n' "$formats" | sort)
}
check 'the formats' formats_are_right
check 'a format that is begun' offers 'json' prohist --format = j
check 'a format, in short' offers 'svg' prohist -f sv
check 'a style of names' offers 'long' prohist --names = l

if [ -x "$tool/profil" ]; then
	printf 'complete -W "red green" painter\n' > \
		"$root/usr/share/bash-completion/completions/painter"
	cp /bin/true "$tool/painter"
	check 'programs' offers 'painter' profil paint
	for words in '' '-t 100' '-o one.prf --dos' '--interval = 100' \
		'--interval 100 -b 4 -t100' '--'; do
		# shellcheck disable=SC2086 # several words
		check "the program's own words, after '$words'" offers \
			'green' profil $words painter gr
	done
	check "not profil's options, then" offers '' profil painter --inter
	check "profil's output" offers 'one.prf' profil --output = on
	check 'directories of cgroups' offers 'directory' profil --cgroup = ''
	check 'a process' offers_process $$ profil -p
	for words in '-p 1' '--pid = 1 -t 100' '-p1 --kernel = none'; do
		# shellcheck disable=SC2086 # several words
		check "another process, after '$words'" offers_process $$ \
			profil $words
	done
	check 'a user' offers 'root' profil --user = roo
	check 'options of the live view' offers '--top=' profil top --top
	check 'nothing for an interval' offers '' profil -t ''
fi

finish
