#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# kunit.sh: loads profil_kunit.ko, unless the kernel has it built in, and reports
# the results of its tests in the format of the test programs. Skips on a kernel
# without KUnit.

set -u

results=/sys/kernel/debug/kunit

skip()
{
	echo "1..0 # SKIP $*"
	exit 4
}

# The module is in the directory of profil.ko, if PROFIL_KO names that, as
# selftests/vm/run does. Loading it runs its tests.
load()
{
	if [ -n "${PROFIL_KO-}" ]; then
		insmod "${PROFIL_KO%/*}/profil_kunit.ko"
	else
		modprobe profil_kunit
	fi
}

echo 'TAP version 13'
[ "$(id -u)" = 0 ] || skip 'needs root'
modprobe -q kunit 2> /dev/null
[ -d $results ] || skip 'this kernel has no KUnit'
if [ -d $results/profil_region ]; then
	built_in=yes
else
	built_in=
	[ -n "${PROFIL_KO-}" ] || modprobe -qn profil_kunit ||
		skip 'profil_kunit is not installed'
	reason=$(load 2>&1) || {
		printf '1..1\n# %s\nnot ok 1 kunit.load\n' "$reason"
		exit 1
	}
fi
reports=$(cat $results/profil_region/results $results/profil_schedule/results)
[ -n "$built_in" ] || rmmod profil_kunit

# In the report of a suite the tests are indented; before Linux 6.3 a dash
# precedes their names.
printf '%s\n' "$reports" | awk '
	function result(ok, name)
	{
		text = text (ok ? "ok " : "not ok ") ++nr " " name "\n"
		failed += !ok
	}

	# Did all the tests of the suite report?
	function end_suite()
	{
		if (suite && tests != plan)
			result(0, suite ".plan")
	}

	/^    # Subtest: / {
		end_suite()
		suite = $3
		nr_suites++
		tests = 0
		next
	}

	/^    1[.][.]/ { plan = substr($1, 4); next }
	/^    (not )?ok [0-9]+ / {
		ok = $1 == "ok"
		sub(/^ *(not )?ok [0-9]+ (- )?/, "")
		result(ok, suite "." $0)
		tests++
		next
	}

	# Details of a failed test, and totals
	/^    / && !/KTAP version/ {
		sub(/^ *(# )?/, "# ")
		text = text $0 "\n"
	}

	END {
		end_suite()
		if (nr_suites != 2)
			result(0, "kunit.suites")
		printf "1..%d\n%s", nr, text
		exit failed != 0
	}'
