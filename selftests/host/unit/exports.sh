#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# exports.sh - the library exports the functions that its header declares
#
# Must run in its own directory, with the library in the directory that
# LD_LIBRARY_PATH names. Prints KTAP.

top=../../..
library=${LD_LIBRARY_PATH%%:*}/libprofil.so.0
failed=0
nr=0

# same NAME LIST LIST: both lists have the same names, in any order
same()
{
	nr=$((nr + 1))
	differ=$(printf '%s\n%s\n' "$2" "$3" | sort | uniq -u)
	if [ -z "$differ" ]; then
		echo "ok $nr $1"
	else
		echo "$differ" | sed 's/^/# /'
		echo "not ok $nr $1"
		failed=1
	fi
}

# Those of the C library's names have no version
exported=$(nm -D --defined-only "$library" | sed -n 's/.* [TW] //p')
header=$(sed -n '/^[a-z].*(/{ s/(.*//; s/.*[ *]//; p; }' $top/lib/profil.h)
versions=$(sed -n 's/^\t\t\(.*\);$/\1@@LIBPROFIL_0/p' $top/lib/libprofil.map)
package=$(sed -n 's/@LIBPROFIL_0/@&/; s/^ \([a-z].*\) [0-9.]*$/\1/p' \
	$top/debian/libprofil0.symbols)

echo "TAP version 13"
echo "1..3"
same 'lib/profil.h' "$header" "$(echo "$exported" | sed 's/@@.*//')"
same 'lib/libprofil.map' "$versions" "$(echo "$exported" | grep @@)"
same 'debian/libprofil0.symbols' "$(echo "$package" | sed 's/@Base$//')" \
	"$exported"
exit $failed
