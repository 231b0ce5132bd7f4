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

for page in page diff many; do
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
check 'a box leaves what changed' browse diff.html significant
check 'more rows on demand' browse many.html more
check 'no other script runs, and nothing is fetched' browse many.html locked

finish
