#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# backend.sh DIR: tests profil without the module, with perf_event_open(2), on
# programs that spend known times in known functions. Each share of time is
# compared with what the program was told to spend; the bounds are some five
# times as wide as chance makes them.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/lib/check.sh
. "$(dirname "$0")/../../lib/check.sh"

export LC_ALL=C
profil=$dir/tools/profil
load=$dir/load
work=$dir/backend
rm -rf "$work"
mkdir -p "$work"
# The programs run as another user, too
chmod 755 "$work"
cd "$work" || exit

[ ! -e /dev/profil ] || { echo '1..0 # SKIP this machine has the module'; exit; }
"$profil" -o may.prf true 2> may.err ||
	{ echo '1..0 # SKIP perf_event_open(2) is not permitted'; exit; }

# run NAME ARGUMENT...: profiles into NAME.prf, and checks the sum of all ticks;
# returns 2 if that fails
run()
{
	local name=$1

	shift
	"$profil" -o "$name.prf" "$@" > "$name.out" 2> "$name.err" || {
		cat "$name.err"
		return 2
	}
	balanced "$name" || return 2
}

balanced()
{
	"$prohist" -f json "$1.prf" > "$1.json" &&
		has "$1.json" '"adds_up": true'
}

# number NAME KEY: a number of the summary
number()
{
	sed -n "s/^    \"$2\": \([0-9]*\).*/\1/p" "$1.json"
}

# ticks NAME PATTERN: of functions, as "PROGRAM","DSO","FUNCTION"
ticks()
{
	"$prohist" -f csv --sort=comm,dso,symbol "$1.prf" |
		awk -F, -v pattern="$2" '
			$1 "," $2 "," $3 ~ pattern { sum += $4 }
			END { print sum + 0 }'
}

# between LOW VALUE HIGH
between()
{
	[ "$2" -ge "$1" ] && [ "$2" -le "$3" ] && return
	echo "$2 is not between $1 and $3"
	return 1
}

# share NAME PERCENT PATTERN OTHER: the first functions have so much of the time
# of both
share()
{
	local first other

	first=$(ticks "$1" "$3")
	other=$(ticks "$1" "$4")
	echo "$1: $first ticks of $3, $other of $4"
	[ $((first + other)) -gt 100 ] || return
	between $(($2 - 8)) $((100 * first / (first + other))) $(($2 + 8))
}

alpha='"load",.*"alpha"' beta='"load",.*"beta"'

# The reader of a FIFO gets the profile, once it is there
into_a_fifo()
{
	# It exits without having freed what it has for the run
	local -x ASAN_OPTIONS=detect_leaks=0
	local pid

	mkfifo fifo
	timeout 600 "$profil" -o fifo "$load" alpha 1 2> fifo.err
	[ $? = 125 ] && has fifo.err 'start the reader of a FIFO first' ||
		return
	timeout 600 cat fifo > fifo.prf &
	pid=$!
	until "$profil" -o fifo "$load" alpha 1 2> fifo.err; do
		has fifo.err 'start the reader' && kill -0 "$pid" || return
	done
	wait "$pid" && balanced fifo
}
check 'a FIFO needs a reader, and gets the profile' into_a_fifo

# Somebody else may want to have it, and knows its name
name_of_somebody_else()
{
	ln -s somewhere load.prf
	! "$profil" "$load" alpha 1 2> link.err && has link.err '--output$' &&
		[ ! -e somewhere ] || return
	rm load.prf
	[ "$(id -u)" = 0 ] || return 0
	touch load.prf && chown 65534 load.prf
	! "$profil" "$load" alpha 1 2> other.err && has other.err '--output$' ||
		return
	rm load.prf
}
check 'a file that the user has not named is an own one' name_of_somebody_else

what_runs_is_for_its_user()
{
	# The name that it gives the profile is there until it exits
	local -x ASAN_OPTIONS=detect_leaks=0
	local pid

	"$load" alpha 1000000 &
	pid=$!
	"$profil" --duration=1 -p "$pid" 2> private.err
	kill "$pid"
	[ "$(stat -c %a "$pid.prf")" = 600 ]
}
check 'the profile of what runs already is for its user alone' what_runs_is_for_its_user

says_what_it_uses()
{
	run what "$load" alpha 1 &&
		has what.err 'using perf_event_open.*: processes that live less than (0\.9|1\.0)[0-9]+ ms get no ticks$' &&
		has what.json '"clock": "perf_event_open"'
}
check 'it names the backend and its limit' says_what_it_uses

help_is_lost()
{
	"$profil" --help > /dev/full 2> lost.err
	[ $? = 125 ] && has lost.err '^profil: standard output: No space'
}
check 'help that is not written' help_is_lost

refuses()
{
	! "$profil" "$1" -o no.prf > no.out 2> no.err || return
	has no.err 'need the module$' && [ ! -s no.prf ]
}
check 'the whole machine needs the module' refuses --all
check 'so does a user' refuses --user
check 'so does a cgroup' refuses --cgroup=/sys/fs/cgroup

# Samples are of threads that run: waits need the module, whatever the target
no_waits()
{
	"$profil" "${@:2}" > no.out 2> no.err
	[ $? = 125 ] && has no.err "$1" && [ ! -e waits.prf ]
}
check 'waits of a program need the module' \
	no_waits '^profil: --wall needs the module$' --wall -o waits.prf true
check 'and the remedy is said' has no.err 'modprobe profil|not installed'
check 'so do those of a process' \
	no_waits '--wall needs the module$' --wall -o waits.prf -p $$
check 'so do those of a user' \
	no_waits '--wall needs the module$' --wall -o waits.prf --user
check 'so does the live view of waits' \
	no_waits '--wall needs the module$' top --wall
check 'waits of the whole machine are refused' \
	no_waits 'choose --user, --cgroup or --pid$' --wall -o waits.prf -a
check 'in either order' \
	no_waits 'choose --user, --cgroup or --pid$' --all --wall -o waits.prf

# Each run draws a prime number of microseconds
periods()
{
	local us

	for _ in {1..8}; do
		"$profil" -t "$1" -o period.prf true 2> period.err || return
		us=$(sed -n 's/.* less than \([0-9]*\)\.\([0-9]*\) ms$/\1\2/p' \
			period.err)
		us=$((10#$us))
		between $(($1 * 9 / 10)) "$us" $(($1 * 11 / 10)) || return
		[ "$(factor "$us")" = "$us: $us" ] || { factor "$us"; return 1; }
		echo "$us" >> "periods.$1"
	done
	[ "$(sort -u "periods.$1" | wc -l)" -gt 1 ]
}
check 'periods of 1 ms are primes, and differ' periods 1000
check 'so are periods of 10 ms' periods 10000

of_functions()
{
	run functions "$load" alpha 300 beta 100 &&
		share functions 75 "$alpha" "$beta"
}
check 'functions have their shares' soon of_functions

of_threads()
{
	run threads "$load" thread alpha 300 beta 100 &&
		share threads 75 "$alpha" "$beta"
}
check 'so have threads' soon of_threads

of_children()
{
	run children "$load" alpha 300 fork beta 100 &&
		share children 75 "$alpha" "$beta" &&
		has children.json '{"name": "load", "ticks": [0-9]+, "ns": [0-9]+}\],$'
}
check 'so have children, in the same program' soon of_children

of_programs()
{
	run programs "$load" alpha 300 fork exec "$dir/other" alpha 100 &&
		share programs 75 "$alpha" '"other",.*"alpha"'
}
check 'so have programs that it executes' soon of_programs

of_files()
{
	"$profil" -P -o each.prf "$load" alpha 300 fork beta 100 2> each.err ||
		return
	set -- each.*.prf
	[ $# = 2 ] || { ls; return 1; }
	"$prohist" -f csv --sort=symbol "$1" > first
	"$prohist" -f csv --sort=symbol "$2" > second
	cat first second
	# Chains are of both together: their number is in one of the files
	[ "$("$prohist" -f json each.*.prf | python3 -c 'if True:
		import json, sys
		profile = json.load(sys.stdin)
		print(sum(profile["chains"]["ends"].values()) <=
		      profile["summary"]["ticks"] if "chains" in profile else True)')" = True ] ||
		return
	# The parent has alpha, and the child has beta
	[ "$(grep -l '"alpha"' first second)" != \
		"$(grep -l '"beta"' first second)" ]
}
check 'each process has a file with --per-process' of_files

# dlclose() and dlopen() put the second library where the first one was
of_libraries()
{
	run libraries "$load" open "$dir/libfirst.so" 300 \
		open "$dir/libsecond.so" 100 || return
	[ "$(uniq libraries.out | wc -l)" = 1 ] ||
		echo 'they are at two addresses'
	share libraries 75 'libfirst\.so"' 'libsecond\.so"'
}
check 'libraries at one address have their shares' soon of_libraries

of_static()
{
	run static "$dir/load-static" alpha 300 beta 100 &&
		share static 75 '"alpha"' '"beta"'
}
check 'so has a static program' soon of_static

of_32_bits()
{
	run 32 "$dir/load32" alpha 300 beta 100 &&
		share 32 75 '"alpha"' '"beta"'
}
if [ -x "$dir/load32" ]; then
	check 'so has a 32-bit program' soon of_32_bits
else
	skip 'so has a 32-bit program' 'the compiler makes none'
fi

# The second program has the path and, often, the inode number of the first
of_one_path()
{
	run path sh -c "cp $load prog; ./prog alpha 300; rm prog
		cp $dir/load-static prog; ./prog beta 300" || return
	"$prohist" -f csv --sort=comm,dso,symbol path.prf | grep '"prog'
	[ "$(ticks path '"prog \(deleted\)"')" -gt 125 ] &&
		[ "$(ticks path '"prog",.*"beta"')" -gt 125 ] &&
		[ "$(ticks path '"prog",.*"alpha"')" = 0 ]
}
# A tick at the first instruction of beta may be in the last bucket of alpha
check 'programs at one path' soon of_one_path

# A file that is written again keeps its number: its functions are unknown
of_one_file()
{
	run file sh -c "cp $load both; ./both alpha 300
		cat $dir/load-static > both; ./both beta 300" || return
	"$prohist" -f csv --sort=comm,dso,symbol file.prf | grep '"both'
	[ "$(ticks file '"both.*"(alpha|beta)"')" = 0 ] &&
		[ "$(ticks file '"both \(deleted\)"')" -gt 250 ]
}
check 'a file that has changed' of_one_file

# What was written before it ran, though during the run, is as it was
of_new_file()
{
	run new sh -c "cp $load new; ./new alpha 300" || return
	[ "$(ticks new '"new",.*"alpha"')" -gt 125 ]
}
check 'a file that is new' of_new_file

# It executes the program while it is profiled, and runs until the end
of_chroot()
{
	local pid tool name

	mkdir -p root && cp "$dir/load-static" root/prog || return
	sh -c 'until [ -e go ]; do sleep 0.1; done
		exec chroot root /prog alpha 1000000' &
	pid=$!
	"$profil" -o chroot.prf -p "$pid" 2> chroot.err &
	tool=$!
	until [ -s chroot.err ]; do sleep 0.1; done
	touch go
	until read -r name < "/proc/$pid/comm" && [ "$name" = prog ] &&
	      [ "$(cut -d' ' -f14 "/proc/$pid/stat")" -gt 50 ]; do
		sleep 0.1
	done
	kill -INT "$tool"
	wait "$tool"
	kill "$pid"
	"$prohist" -f csv --sort=comm,dso,symbol chroot.prf
	[ "$(ticks chroot '"alpha"')" -gt 100 ]
}
if [ "$(id -u)" = 0 ] && chroot / true 2> /dev/null; then
	check 'a process with another root directory' of_chroot
else
	skip 'a process with another root directory' 'needs chroot(2)'
fi

# has_cached ID: is there a table of callers of the file with this build ID?
has_cached()
{
	compgen -G "$work/cache/profil/unwind/$1*.2"
}

# Its files may have any owner, and claim the build IDs of others
of_container()
{
	local -x XDG_CACHE_HOME=$work/cache
	local id

	id=$(readelf -nW "$load" | sed -n 's/.*Build ID: //p')
	run contained unshare -m sh -c "mount -t tmpfs none /mnt &&
		cp $load /mnt/load && exec /mnt/load alpha 1000" || return
	[ "$(ticks contained '"load"')" -gt 100 ] || return
	! has_cached "$id" || return
	run cached "$load" alpha 1000 && has_cached "$id"
}
if unshare -m true 2> /dev/null; then
	check 'no table of a file of a container is kept' of_container
else
	skip 'no table of a file of a container is kept' 'needs unshare(2)'
fi

# A child has up to a period without a tick on each CPU, and that is reported
of_short_children()
{
	local seen lost

	run short -t 250 "$load" times 200 alpha 2 || return
	seen=$(ticks short "$alpha") lost=$(number short lost)
	seen=$((seen * $(number short period_ns) / 1000000))
	echo "alpha has $seen ms of 400; $lost ticks are lost"
	between 280 "$seen" 480 && [ "$lost" -gt 0 ]
}
check 'short children have their ticks' soon of_short_children

# With a period that is longer than their lives, they have none
of_shorter_children()
{
	run shorter -t 100000 "$load" times 50 alpha 2 || return
	cat shorter.json
	[ "$(ticks shorter "$alpha")" -le 2 ] &&
		[ "$(number shorter ticks)" -gt 0 ] &&
		[ "$(number shorter lost)" -ge $(($(number shorter ticks) - 2)) ]
}
check 'time without ticks is reported as lost' of_shorter_children

# While it is stopped, profil reads no records. On one CPU, the program has more
# ticks than there is room for
of_lost_records()
{
	local cpu tool

	cpu=$(taskset -cp "$BASHPID" | sed 's/.*: //; s/[-,].*//')
	rm -f begun
	"$profil" -t 60 -o late.prf taskset -c "$cpu" \
		sh -c "echo > begun; $load alpha 1500 times 100 alpha 0.1; echo end" \
		> late.out 2> late.err &
	tool=$!
	until [ -e begun ]; do
		sleep 0.1
	done
	kill -STOP "$tool"
	until [ -s late.out ]; do
		sleep 0.1
	done
	kill -CONT "$tool"
	wait "$tool" || { cat late.err; return 1; }
	"$prohist" late.prf > late.txt
	has late.err 'records of perf_event_open are lost' &&
		has late.txt '^lost: .* a ring was full' && balanced late
}
check 'lost records are reported, and the ticks add up' of_lost_records

# While profil runs the program, that may trace its child
of_tracers()
{
	run tracer "$load" alpha 20 untraced
}
check 'the program may trace others' of_tracers

is_untraced()
{
	run status grep -x 'TracerPid:.0' /proc/self/status
}
check 'nothing traces the program' is_untraced

of_running()
{
	"$load" thread alpha 9000 beta 9000 &
	local pid=$!

	sleep 1
	run running --duration=3 -p "$pid"
	kill "$pid"
	[ -s running.json ] || return
	cat running.json
	# One in each thread
	[ "$(ticks running "$alpha")" -gt 50 ] &&
		[ "$(ticks running "$beta")" -gt 50 ] &&
		[ "$(ticks running "$alpha|$beta")" -gt \
			$(($(number running counted) * 8 / 10)) ]
}
check 'a running process has its shares' soon of_running

# The first thread has ended, and its memory is that of the other
of_those_left()
{
	"$load" alone alpha 1000000 &
	local pid=$!

	until grep -q '^State:.Z' "/proc/$pid/status"; do
		kill -0 "$pid" || return
		sleep 0.1
	done
	run left --duration=2 -p "$pid"
	kill "$pid"
	cat left.json
	[ "$(ticks left "$alpha")" -gt \
		$(($(number left counted) * 8 / 10)) ]
}
check 'a process without its first thread' soon of_those_left

# One has ended already, and the other is named twice
of_several()
{
	local ended pid ms

	true &
	ended=$!
	wait "$ended"
	"$load" alpha 1500 &
	pid=$!
	run several -p "$ended,$pid" "$pid" || return
	wait "$pid"
	cat several.json
	ms=$(($(number several ticks) * $(number several period_ns) / 1000000))
	has several.err "cannot profile process $ended: .*it has ended" &&
		between 600 "$ms" 1700
}
check 'a process that has ended, and one that is named twice' soon of_several

of_a_thread()
{
	"$load" thread alpha 9000 beta 9000 &
	local pid=$! status

	until [ $# = 2 ]; do
		set -- "/proc/$pid/task/"*
	done
	"$profil" -o thread.prf -p "${2##*/}" 2> thread.err
	status=$?
	kill "$pid"
	[ "$status" = 125 ] && has thread.err 'it is a thread: '
}
check 'a thread is no process' of_a_thread

# A descriptor for each of 21 threads, at least
needs_descriptors()
{
	local words=() pid status

	for _ in {1..20}; do
		words+=(thread alpha 9000)
	done
	"$load" "${words[@]}" alpha 9000 &
	pid=$!
	until [ $# = 21 ]; do
		set -- "/proc/$pid/task/"*
	done
	(ulimit -Sn 20; "$profil" -o soft.prf --duration=1 -p "$pid" 2> soft.err) &&
		{
			! (ulimit -n 20; "$profil" -o few.prf --duration=1 \
				-p "$pid" 2> few.err)
		} && has few.err "raise the limit by 'ulimit -n'"
	status=$?
	kill "$pid"
	return "$status"
}
least=$((22 * $(nproc) + 64))
if [ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge "$least" ]; then
	check 'as many descriptors as it may have, and too few' needs_descriptors
else
	skip 'as many descriptors as it may have, and too few' \
		"it may not have $least"
fi

of_nobody()
{
	! "$profil" -o none.prf -p 2147483647 2> none.err || return
	has none.err 'cannot profile process 2147483647: .*there is no such process'
}
check 'a process that does not exist' of_nobody

of_the_kernel()
{
	run whole "$load" calls 100 && run by-function --kernel=functions "$load" calls 100 ||
		return
	[ "$(ticks whole '"[a-z_0-9]*chacha[a-z_0-9]*"')" = 0 ] &&
		[ "$(ticks by-function '"[a-z_0-9]*chacha[a-z_0-9]*"')" \
			-gt 0 ]
}
if [ "$(id -u)" = 0 ] &&
   grep -q '^0*[1-9a-f]' /proc/kallsyms; then
	check 'the kernel has functions with --kernel=functions only' of_the_kernel
else
	skip 'the kernel has functions with --kernel=functions only' \
		'needs /proc/kallsyms'
fi

# chains NAME PATTERN: ticks whose chains match, of stacks
chains()
{
	"$dir/stacks" "$1.prf" | awk -v pattern="$2" '
		$2 ~ pattern { sum += $1 }
		END { print sum + 0 }'
}

# Time in one function, by who called it
of_callers()
{
	local first other cut

	run callers "$load" left 300 right 100 || return
	"$dir/stacks" callers.prf | sort -rn | head -n 4
	first=$(chains callers ';main;do_words;left;spend;alpha$')
	other=$(chains callers ';main;do_words;right;spend;alpha$')
	cut=$(chains callers 'cut].*(spend|alpha)')
	echo "left: $first, right: $other, cut: $cut"
	[ $((first + other)) -gt 100 ] &&
		between 67 $((100 * first / (first + other))) 83 &&
		between 0 $((100 * cut / (first + other))) 1
}
check 'callers have their shares' soon of_callers

# of_chain WORDS PATTERN: most ticks have that chain
of_chain()
{
	local nr

	# shellcheck disable=SC2086 # it is several words
	run chain ${3:-"$load"} $1 || return
	"$dir/stacks" chain.prf | sort -rn | head -n 4
	nr=$(chains chain "$2")
	[ "$(number chain ticks)" -gt 50 ] &&
		between 80 $((100 * nr / $(number chain ticks))) 100
}
from='^load;(_start|__libc_start_main.*)[^[]*;main;do_words'
check 'a function that calls itself is in a chain each time' soon of_chain \
	'recurse 5 200' "$from(;recurse)(;recurse)(;recurse)(;recurse)(;recurse)(;recurse);spend;alpha"
# The rings of an ordinary user have room for such stacks, where there are few CPUs
large='a chain of 48 KiB is whole'
locked=$(ulimit -l)
if [ "$locked" = unlimited ] ||
   [ $(($(cat /proc/sys/kernel/perf_event_mlock_kb) + locked /
	$(getconf _NPROCESSORS_CONF))) -gt 4200 ]; then
	check "$large" soon of_chain 'large 200' "$from;large;spend;alpha"
else
	skip "$large" 'the rings have no room'
fi
check 'a signal interrupts a function that is in the chain' soon of_chain \
	'handle 200' "$from;handle;.*raise.*;handler;spend;alpha"
check 'functions that the C library calls' soon of_chain 'compare 200' \
	"$from;compare;.*qsort.*;order;spend;alpha"
check 'threads have chains of their own' soon of_chain \
	'thread alpha 1 alpha 200' \
	'^load;[^[]*clone[^[]*;in_thread;do_words;spend;alpha'
check 'so have children, from their parent on' soon of_chain 'fork alpha 200' \
	"$from;in_child;do_words;spend;alpha"
check 'so have programs that it executes' soon of_chain \
	"fork exec $dir/other alpha 200" \
	'^other;(_start|__libc_start_main.*)[^[]*;main;do_words;spend;alpha'
check 'so have libraries' soon of_chain "open $dir/libfirst.so 200" \
	"$from(;in_library)?;spend;part"
check 'so have static programs' soon of_chain 'left 200' \
	'^load-static;_start;[^[]*;main;do_words;left;spend;alpha' \
	"$dir/load-static"

# What the kernel does has the chain of its caller
of_system_calls()
{
	local nr

	run system "$load" calls 300 || return
	"$dir/stacks" system.prf | sort -rn | head -n 4
	nr=$(chains system "$from;spend;calls;syscall;\[kernel\]")
	between 50 $((100 * nr / $(number system kernel))) 100
}
check 'system calls have callers' soon of_system_calls

of_call_sites()
{
	run sites --call-sites "$load" left 100 right 100 || return
	"$dir/stacks" sites.prf | sort -rn | head -n 8
	[ "$(chains sites "$from;left;spend;alpha")" -gt 10 ] &&
		[ "$(chains sites "$from;right;spend;alpha")" -gt 10 ]
}
check 'chains of call sites' soon of_call_sites

is_flat()
{
	run flat --flat "$load" left 100 || return
	"$dir/stacks" flat.prf > flat.txt
	has flat.err 'less than 0\.2[0-9]+ ms get no ticks$' && [ ! -s flat.txt ]
}
check 'with --flat, there are none, and the interval is shorter' is_flat

both_kinds()
{
	! "$profil" --flat --call-sites true 2> both.err &&
		has both.err 'choose one of --flat and --call-sites'
}
check '--flat and --call-sites exclude each other' both_kinds

# How many chains of Debian's programs are complete; their tables are made anew
of_debian()
{
	local program=$1 complete all

	shift
	run "$program" -t 250 "$program" "$@" || return
	all=$(chains "$program" '')
	complete=$((all - $(chains "$program" '\[cut]')))
	echo "$program: $complete of $all chains are complete"
	[ "$all" -gt 20 ] && between 90 $((100 * complete / all)) 100
}
head -c 3000000 /proc/self/exe > input
for i in {1..20000}; do echo "$((i * 7919 % 20011)) line"; done > lines
# shellcheck disable=SC2016 # the variables are perl's
check 'chains of perl' soon of_debian perl -e '$h{$_ % 999} .= "x" for 1 .. 300000'
check 'chains of xz' soon of_debian xz -k -9 -f lines
check 'chains of sort' soon of_debian sort lines lines lines lines
mapfile -t many < <(yes "$PWD/lines" | head -n 300)
check 'chains of git' soon of_debian git hash-object "${many[@]}"

signalled() { python3 "$here/signals.py" "$profil" "$1"; }
check 'the program gets the signals that are sent to profil' signalled sent
check 'an alarm from before profil, too' signalled alarm
check 'it inherits what is ignored' signalled ignored
check 'SIGCHLD may be ignored' signalled child
# shellcheck disable=SC2310 # that is the condition
if has_terminals; then
	check 'Ctrl-Z stops both, and Ctrl-C comes once' signalled terminal
else
	skip 'Ctrl-Z stops both, and Ctrl-C comes once' 'no terminals'
fi

of_user_mode()
{
	run user --kernel=none "$load" alpha 100 calls 300 || return
	cat user.json
	between 50 $((100 * $(number user left_out) / $(number user ticks))) 95 &&
		between 5 $((100 * $(ticks user "$alpha") /
			$(number user ticks))) 50
}
check 'with --kernel=none, ticks in the kernel are left out' of_user_mode

of_unknown_detail()
{
	"$profil" --kernel=some -o some.prf true 2> some.err
	[ $? = 125 ] && has some.err '--kernel must be total, functions or none'
}
check 'an unknown detail of the kernel is refused' of_unknown_detail

# As another user, with the default of perf_event_paranoid
unprivileged()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

of_others()
{
	mkdir -p -m 777 others && cd others || return
	unprivileged "$profil" -o nobody.prf "$load" alpha 300 beta 100 \
		2> nobody.err
	local status=$?

	cat nobody.err
	[ "$status" = 0 ] && has nobody.err 'in user mode only' &&
		balanced nobody && share nobody 75 "$alpha" "$beta" &&
		! unprivileged "$profil" -o init.prf -p 1 2> init.err &&
		has init.err 'it belongs to another user'
}
# Without ticks in the kernel, nobody knows which of two programs was there
of_unknown()
{
	unprivileged "$profil" -o two.prf "$load" calls 10 \
		fork exec "$dir/other" calls 300 2> two.err || return
	balanced two || return
	"$prohist" -f csv --sort=comm,dso two.prf
	[ "$(ticks two '"(load|other)","\[kernel\]"')" = 0 ] &&
		[ "$(ticks two '"\[unknown\]","\[kernel\]"')" -gt 200 ] &&
		"$prohist" --comm=other two.prf 2>&1 > selected.out |
		grep 'without the time in the kernel'
}

of_one_program()
{
	unprivileged "$profil" -o one.prf "$load" calls 100 fork calls 200 \
		2> one.err || return
	balanced one || return
	"$prohist" -f csv --sort=comm,dso one.prf
	[ "$(ticks one '"load","\[kernel\]"')" -gt 200 ] &&
		[ "$(ticks one '"\[unknown\]"')" = 0 ]
}
# shellcheck disable=SC2310 # that is the condition
if [ "$(id -u)" = 0 ] && unprivileged true 2> /dev/null &&
   unprivileged test -x "$profil" && [ "$(< /proc/sys/kernel/perf_event_paranoid)" = 2 ]; then
	check 'other users profile their own in user mode' soon of_others
	check "nobody knows which of several programs was in the kernel" of_unknown
	check 'that of a single program is its own' of_one_program
else
	skip 'other users profile their own in user mode' \
		'needs root, a directory for all, and perf_event_paranoid=2'
fi
cd "$work" || exit

# The kernel shows nothing of a program that changes its user
of_set_user_id()
{
	run suid "$load" alpha 100 fork exec "$work/suid" alpha 100 || return
	cat suid.json
	has suid.json '"withheld": 1,' &&
		[ "$(ticks suid '"suid",')" = 0 ]
}
# set_user_id PROGRAM: makes suid of it
set_user_id()
{
	cp "$1" suid && chown 65534 suid && chmod u+s suid
}
# The mount may be nosuid
if [ "$(id -u)" = 0 ] && set_user_id "$(type -P id)" &&
   [ "$(./suid -u)" = 65534 ] && set_user_id "$load" &&
   ./suid alpha 1; then
	check 'a set-user-ID program is withheld' of_set_user_id
else
	skip 'a set-user-ID program is withheld' \
		'needs root, and programs that become other users'
fi

finish
