#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# debuginfod.sh DIR: tests that prohist fetches debug files only if asked to.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/check.sh
. "$(dirname "$0")/check.sh"

web=$dir/web
rm -rf "$web" && mkdir -p "$web/buildid/$build_id"
objcopy --only-keep-debug "$known" "$web/buildid/$build_id/debuginfo"
strip -o "$dir/stripped" "$known"
make "$dir/fetch.prf" "$dir/stripped" 600 300 85

# Prints its port, and then a line for each request
true > "$dir/requests"
python3 -u - "$web" >> "$dir/requests" 2>&1 <<- 'END' &
	import functools, http.server, sys
	handler = functools.partial(http.server.SimpleHTTPRequestHandler,
	                            directory=sys.argv[1])
	server = http.server.HTTPServer(("127.0.0.1", 0), handler)
	print(server.server_port)
	server.serve_forever()
END
server=$!
trap 'kill $server' EXIT
until port=$(head -n 1 "$dir/requests") && [ -n "$port" ]; do
	kill -0 $server || exit 1
	sleep 0.1
done
export DEBUGINFOD_URLS=http://127.0.0.1:$port
export DEBUGINFOD_CACHE_PATH=$dir/web/cache
# A proxy does not reach it
export no_proxy='*'

"$prohist" "$dir/fetch.prf" > "$dir/fetch.txt"
check 'without the option, no server is asked' lacks "$dir/requests" GET
check 'and there are no names' lacks "$dir/fetch.txt" alpha
rm -f "$dir"/loaded.*
LD_DEBUG=files LD_DEBUG_OUTPUT=$dir/loaded "$prohist" "$dir/fetch.prf" \
	> "$dir/fetch.txt"
check 'and its library is not loaded' lacks <(cat "$dir"/loaded.*) debuginfod
rm "$dir"/loaded.*

DEBUGINFOD_URLS='' "$prohist" --debuginfod "$dir/fetch.prf" 2> "$dir/fetch.err"
check 'it needs a server' has "$dir/fetch.err" \
	'^prohist: --debuginfod needs a server: set DEBUGINFOD_URLS$'
unset_status()
{
	(unset DEBUGINFOD_URLS; status 2 --debuginfod "$dir/fetch.prf")
}
check 'status without servers' unset_status

"$prohist" --debuginfod "$dir/fetch.prf" > "$dir/fetch.txt"
check 'with the option, the server is asked' has "$dir/requests" \
	"GET /buildid/$build_id/debuginfo .* 200"
check 'and has names' has "$dir/fetch.txt" ' 600 .* alpha \(stripped\)$'
LD_DEBUG=files LD_DEBUG_OUTPUT=$dir/loaded \
	"$prohist" --debuginfod "$dir/fetch.prf" > "$dir/fetch.txt"
check 'by its library' has <(cat "$dir"/loaded.*) debuginfod
check 'and lines' has <("$prohist" --debuginfod -l "$dir/fetch.prf") \
	' 600 .*known.c:[0-9]+ \(stripped\)$'

cp "$known" "$web/buildid/$build_id/executable"
make "$dir/fetch.prf" /nonexistent/known 600 300 85
"$prohist" "$dir/fetch.prf" > "$dir/fetch.txt"
check 'a DSO that is gone' has "$dir/fetch.txt" 'the file is gone'
"$prohist" --debuginfod "$dir/fetch.prf" > "$dir/fetch.txt"
check 'is fetched, too' has "$dir/fetch.txt" ' 600 .* alpha \(known\)$'

finish
