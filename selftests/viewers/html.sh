#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# html.sh DIR: tests the HTML page in headless Chromium, with browse.py: mouse,
# keyboard, what a screen reader is given, and axe-core.
#
# check calls the functions below by name.
# shellcheck disable=SC2317

# shellcheck source=selftests/host/prohist/whole.sh
. "$(dirname "$0")/../host/prohist/whole.sh"

needs chromium chromium
needs python3 python3

# browse FILE QUESTION
browse()
{
	rm -rf "$dir/chromium"
	timeout 120 python3 -B "$here/browse.py" "$dir/chromium" "$dir/$1" "$2"
}

examine "$known"
make "$dir/html.prf" "$known" 600 300 85
make "$dir/after.prf" "$known" 300 620 85
"$prohist" --html "$dir/html.prf" > "$dir/page.html"
"$prohist" --html --diff "$dir/html.prf" "$dir/after.prf" > "$dir/diff.html"
many=(/nonexistent/many '' 0 180000)
for ((i = 0; i < 300; i++)); do
	many+=("$(printf '%x' $((16 * i)))" $((1 + i)))
done
evil='</script><script>document.title = "evil"</script><img src=x onerror=x>'
COMMAND=$evil "$dir/synthesize" "$dir/many.prf" "${many[@]}" -- \
	"/tmp/$evil" '' 0 1000 10 500
"$prohist" --html "$dir/many.prf" > "$dir/many.html"


# calls WORK IDLE: a profile with chains of calls, and a name that is markup
calls()
{
	printf 'run 1000000 %s\nimage 100 0 0 0 0 /bin/prog\n' "$evil"
	printf 'object 1 10000000 0 10000 4 - /gone/prog\n'
	printf 'function %x %x %s\n' 256 512 main 512 768 work 768 1024 idle \
		1024 1280 "$evil"
	printf 'object 2 20000000 0 10000 4 - /gone/lib.so\n'
	printf 'function %x %x %s\n' 64 128 sort 128 192 compare
	cat <<- END
		node 0 0 100 100
		node 1 0 200 $1
		node 2 0 200 10000
		node 3 1 40 20000
		node 1 1 40 30000
		node 1 0 300 $2
		node 1 0 400 5000
		node 2 kernel 0 1000
		node 1 1 80 1
	END
}
calls 50000 40000 | "$dir/compose" "$dir/calls.prf"
calls 90000 40000 | "$dir/compose" "$dir/more.prf"
"$prohist" --html "$dir/calls.prf" > "$dir/flame.html"
"$prohist" --html --diff "$dir/calls.prf" "$dir/more.prf" \
	> "$dir/flamediff.html"

for page in page diff many flame flamediff; do
	check "$page loads without message or request" browse $page.html loads
	check "$page has names for all that has a role" browse $page.html names
	check "$page passes axe-core, in both themes and narrow" \
		browse $page.html axe
	check "$page fits a narrow screen" browse $page.html narrow
	check "$page: Tab visits everything, in order" browse $page.html order
done
check 'the mouse sorts' browse page.html sort_click
check 'the keyboard sorts' browse page.html sort_keys
check 'the field filters, and says so' browse page.html filters
check 'the keyboard opens a listing' browse page.html opens
check 'a column of a strip finds its function' browse page.html strip
check 'the page is complete without scripts' browse page.html plain
check 'the mouse enlarges a frame' browse flame.html zoom_click
check 'the keyboard moves and enlarges' browse flame.html zoom_keys
check 'upwards, keys follow the eye' browse flame.html upwards
check 'callers: what has time itself, and who called it' browse flame.html callers
check 'names are marked, and their time is said' browse flame.html marks
check 'a screen reader finds the tree of calls' browse flame.html calls
check 'the frames have their widths, on a narrow screen, too' browse flame.html \
	widths
check 'what is too narrow is merged' browse flame.html merged
check 'colours of a comparison' browse flamediff.html changes
check 'without scripts, there is a picture' browse flame.html picture
check 'a box leaves what changed' browse diff.html significant
check 'more rows on demand' browse many.html more
check 'no other script runs, and nothing is fetched' browse many.html locked

finish
