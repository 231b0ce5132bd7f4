#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kept.sh DIR: tests that a profile reads the same when the program was rebuilt or
# removed. DIR is the directory of the tools; they use perf_event_open(2).
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/lib/check.sh
. "$(dirname "$0")/../../lib/check.sh"

export LC_ALL=C
profil=$dir/tools/profil
work=$dir/kept
rm -rf "$work"
mkdir -p "$work"
cp "$(dirname "$0")/kept.c" "$work"
cd "$work" || exit
# Other users run the program, and write profiles
chmod 777 .

[ ! -e /dev/profil ] || { echo '1..0 # SKIP this machine has the module'; exit; }
"$profil" -o may.prf true 2> may.err ||
	{ echo '1..0 # SKIP perf_event_open(2) is not permitted'; exit; }

# record FILE ARGUMENT...: runs profil; returns 2 if that fails
record()
{
	"$profil" -o "$@" > said 2>&1 || { cat said; return 2; }
}

# record_all FILE: the same with the program; returns 1 if CPU time lacks ticks
record_all()
{
	record "$1" ./burn || return
	lacks <("$prohist" "$1") 'of the CPU time has no ticks' > said
}

# build OPTION...: builds the program
build()
{
	# A stub that calls the C library has no name
	cc -O2 -g -fno-plt -Wl,--build-id "$@" -o burn kept.c
}

# has_kept PROFILE: succeeds if the profile has the names
has_kept()
{
	"$prohist" -f csv "$1" > named.csv && has named.csv hot
}

# show PROFILE NAME: writes the profile in all formats that show functions
show()
{
	local format

	for format in text csv json folded pprof; do
		"$prohist" --inline -f $format "$1" > "$2.$format.inline"
	done
	for format in text csv json folded pprof html svg callgrind speedscope
	do
		"$prohist" -f $format "$1" > "$2.$format" 2>&1
	done
	"$prohist" --lines "$1" > "$2.lines"
	"$prohist" --tree --inline "$1" > "$2.tree"
	# Listings need the code
	sed -i '/id="listings"/,$d; s/<a href="#f[0-9]*">\(.*\)<\/a>/\1/' "$2.html"
}

# same NAME OTHER: succeeds if show has written the same twice
same()
{
	local file

	for file in "$1".*; do
		cmp "$file" "$2.${file#*.}" || return
	done
}

build
soon record_all burn.prf
record plain.prf --no-names ./burn
record sites.prf --call-sites ./burn
show burn.prf before
show sites.prf sites-before
show plain.prf plain
check 'functions' has before.text ' hot \(burn\)'
check 'inlined calls' has before.text.inline ' inner \(burn\)'
check 'lines' has before.lines 'kept.c:[0-9]+ \(burn\)'
check 'inlined calls in chains of call sites' has sites-before.tree ' caller \(burn\)'
# A tick may be in the caller itself
"$prohist" --inline --callers=hot burn.prf > callers
check 'those without have their callers' has callers ' main \(burn\)'
check 'and no inlined ones' lacks callers ' caller \(burn\)'

mv burn burn.old
show burn.prf after
check 'all is the same without the program' same before after
show sites.prf sites-after
check 'with call sites, too' same sites-before sites-after
show plain.prf bare
check '--no-names leaves names out' lacks bare.text ' hot'
check 'and says why there are none' has bare.text 'the file is gone'

strip -o burn burn.old
show burn.prf stripped
check 'nor does it need symbols' same before stripped

build -DOTHER
show burn.prf rebuilt
check 'nor with another one in its place' same before rebuilt
soon record_all other.prf
check 'the new one has names, too' has_kept other.prf
"$prohist" --diff -f json burn.prf other.prf > diff.json
both_named()
{
	python3 - <<- 'END'
		import json
		functions = json.load(open("diff.json"))["functions"]
		ticks = {row["name"]: row["ticks"] for row in functions
		         if row["dso"] == "burn"}
		assert all(ticks["hot"]), ticks
		assert not any("+0x" in name for name in ticks), ticks
	END
}
check 'a comparison has names on both sides' both_named

# judged STATUS PROFILE FUNCTION=VERDICT...: succeeds if --fail-over has this
# status, and these are the verdicts on functions of the program
judged()
{
	local wanted=$1 profile=$2

	shift 2
	"$prohist" --diff --fail-over=30% -f json burn.prf "$profile" \
		> judged.json
	[ $? = "$wanted" ] || { cat judged.json; return 1; }
	python3 - "$@" <<- 'END'
		import json, sys
		functions = json.load(open("judged.json"))["functions"]
		verdicts = {f"{row['name']}={row['verdict']}" for row in functions
		            if row["dso"] == "burn"}
		print(verdicts)
		assert set(sys.argv[1:]) <= verdicts
		assert not any("+0x" in name for name in verdicts)
	END
}
check 'the verdict is on functions of both, and nothing is slower' judged 0 \
	other.prf hot=ok
build -DOTHER -DSLOW
soon record_all slow.prf
check 'of a slower program, it is that' judged 1 slow.prf hot=ok cold=slower
mv burn burn.slow
check 'without the program, too' judged 1 slow.prf hot=ok cold=slower

build -Wl,--build-id=none
record none.prf ./burn
show none.prf numberless
rm burn
show none.prf gone
check 'a program without a build ID' same numberless gone
cc -O2 -g -Wl,--build-id=none -DOTHER -o burn kept.c
show none.prf changed
check 'and when it was changed' same numberless changed

# Only a separate debug file has names
build
objcopy --only-keep-debug burn burn.debug
strip burn
objcopy --add-gnu-debuglink=burn.debug burn
record split.prf ./burn
rm burn burn.debug
show split.prf split
check 'functions of a separate debug file' has split.text ' hot \(burn\)'
check 'but not its lines, which take long to unpack' lacks split.lines kept.c
check 'nor inlined calls' lacks split.text.inline ' inner \(burn\)'

# Who may read the program. Other users' build directories are closed, too.
if [ "$(id -u)" = 0 ]; then
	build
	mkdir -m 700 closed
	cp burn closed/burn
	chmod 700 closed/burn
	record root.prf closed/burn
	mv closed/burn closed/moved
	check "root's own program, by root" has_kept root.prf
	mv closed/moved closed/burn
	closed/burn 100 > started &
	burning=$!
	until [ -s started ]; do sleep 0.01; done
	not_kept()
	{
		record nobody.prf --duration=1 -p "$burning" || return
		mv closed/burn closed/moved
		"$prohist" -f csv nobody.prf > named.csv
		mv closed/moved closed/burn
		has named.csv burn && lacks named.csv hot
	}
	check "nobody may not read it if it ran already" soon not_kept
	kill $burning
	chown -R 54321 closed
	record user.prf setpriv --reuid=54321 --clear-groups --inh-caps=-all \
		closed/burn
	mv closed/burn closed/moved
	check 'its owner may read it' has_kept user.prf
fi

finish
