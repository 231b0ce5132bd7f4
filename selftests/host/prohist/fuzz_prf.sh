#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# fuzz_prf.sh DIR: runs DIR/fuzz_prf for FUZZ_SECONDS with FUZZ_SEED, starting
# from valid files. Prints KTAP.

set -u
dir=$1
rm -rf "$dir/corpus"
mkdir -p "$dir/corpus"
"$dir/seed" > "$dir/corpus/seed" && "$dir/seed" waits > "$dir/corpus/waits" || exit

echo 'TAP version 13'
echo '1..1'
if "$dir/fuzz_prf" -seed="$FUZZ_SEED" -max_total_time="$FUZZ_SECONDS" -max_len=2048 -timeout=120 \
	-artifact_prefix="$dir/found-" "$dir/corpus" > "$dir/fuzz.log" 2>&1
then
	grep -E '^Done' "$dir/fuzz.log" | sed 's/^/# /'
	echo 'ok 1 fuzz_prf'
else
	tail -n 40 "$dir/fuzz.log" | sed 's/^/# /'
	echo 'not ok 1 fuzz_prf'
	exit 1
fi
