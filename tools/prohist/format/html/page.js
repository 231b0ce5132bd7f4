// SPDX-License-Identifier: GPL-2.0-only
/*
 * page.js - sort and filter the table of functions, and open listings
 */
"use strict";

(() => {
	/* Rows that are shown at first: a browser is slow with thousands. */
	const FIRST = 100;

	const byId = (id) => document.getElementById(id);
	const body = byId("table").tBodies[0];
	const headings = [...byId("table").tHead.rows[0].cells];
	const texts = headings.length - 2;
	const diff = byId("significant");
	const rows = [...body.rows].map((element, index) => {
		const cells = [...element.cells].map((cell) => cell.textContent.trim());

		return {
			element,
			index,
			key: cells.slice(texts).join("\n").toLowerCase(),
			significant: diff && cells[texts - 1] === "yes",
			values: cells.map((text, column) => {
				const number = parseFloat(text);

				return column < texts && !isNaN(number) ? number : text;
			}),
		};
	});
	let all = rows.length <= FIRST;

	function show() {
		const wanted = byId("filter").value.trim().toLowerCase();
		let found = 0;

		for (const row of rows) {
			const matches = row.key.includes(wanted) &&
				(!diff || !diff.checked || row.significant);

			found += matches;
			row.element.hidden = !matches || (!all && found > FIRST);
		}
		const more = !all && found > FIRST;

		byId("count").textContent = `${found} of ${rows.length} functions` +
			(more ? `, ${FIRST} shown` : "");
		byId("more").hidden = !more;
		byId("more").textContent = `Show all ${found}`;
	}

	function compare(a, b, column) {
		const x = a.values[column], y = b.values[column];

		/* A greater change, in either direction, is more */
		if (headings[column].textContent === "Change")
			return Math.abs(x) - Math.abs(y);
		return x < y ? -1 : x > y ? 1 : 0;
	}

	function sort(column) {
		const heading = headings[column];
		const before = heading.getAttribute("aria-sort");
		const number = column < texts;
		const descending = before ? before === "ascending" : number;
		const sign = descending ? -1 : 1;

		for (const other of headings)
			other.removeAttribute("aria-sort");
		heading.setAttribute("aria-sort",
				     descending ? "descending" : "ascending");
		rows.sort((a, b) => sign * compare(a, b, column) ||
			a.index - b.index);
		body.append(...rows.map((row) => row.element));
		byId("table").caption.textContent = "Functions, sorted by " +
			`${heading.textContent}, ${heading.getAttribute("aria-sort")}`;
		show();
	}

	headings.forEach((heading, column) => {
		const button = document.createElement("button");

		button.type = "button";
		button.append(...heading.childNodes);
		button.addEventListener("click", () => sort(column));
		heading.append(button);
	});

	/* Open a listing that is the target of a link, and move there */
	function open() {
		const listing = byId(decodeURIComponent(location.hash.slice(1)));

		if (!listing || listing.tagName !== "DETAILS")
			return;
		listing.open = true;
		listing.querySelector("summary").focus();
		listing.scrollIntoView();
	}

	/* Find the function of a column of a strip in the table */
	function pick(event) {
		const title = event.target.closest(".strip rect")?.querySelector("title");

		if (!title)
			return;
		byId("filter").value = title.textContent.split("\n")[0];
		show();
		byId("functions").scrollIntoView();
	}

	byId("filter").addEventListener("input", show);
	byId("tools").addEventListener("submit", (event) => event.preventDefault());
	diff?.addEventListener("change", show);
	byId("more").addEventListener("click", () => {
		const next = rows.filter((row) => !row.element.hidden)[FIRST - 1];

		all = true;
		show();
		/* The button is gone: keep the place of the keyboard */
		next.element.closest(".scroll").focus({preventScroll: true});
	});
	document.addEventListener("click", (event) => {
		const link = event.target.closest("a[href^='#f']");

		pick(event);
		/* There is no event for a link to the present target */
		if (link?.getAttribute("href") === location.hash)
			open();
	});
	window.addEventListener("hashchange", open);
	byId("tools").hidden = false;
	show();
	open();
})();
