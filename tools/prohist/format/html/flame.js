// SPDX-License-Identifier: GPL-2.0-only
/*
 * flame.js - draw the flame graph, enlarge parts of it and mark functions
 *
 * Items are what is drawn. Top down, each is a frame of the profile; by callers,
 * it is a function and the chains of functions that it called, and its callers
 * are drawn as what it calls otherwise.
 */
(() => {
	/* Narrowest item that is drawn, and that has text, in pixels */
	const NARROWEST = 1.5, ENOUGH = 24;
	/* Changes in percent from which they are drawn as more, and as much */
	const MORE = 1, MUCH = 5;

	const byId = (id) => document.getElementById(id);
	const graph = byId("flame-graph");

	if (!graph)
		return;
	const lines = (id) => byId(id).textContent.split("\n").slice(0, -1);
	const names = lines("flame-names"), dsos = lines("flame-dsos");
	const weights = graph.dataset.weight.split(" ").map(Number);
	/* How many frames are compared, with another profile */
	const tests = Number(graph.dataset.tests);
	const diff = tests > 0;
	const wide = diff ? 1 : 0;
	/* Names of DSOs with colours of their own */
	const colours = [...graph.parentElement.querySelectorAll(".legend li")]
		.map((key) => key.firstElementChild.nextSibling.textContent.trim());

	/* What stands for the DSOs of waits, which have colours of their own */
	const waits = ["[runnable]", "[blocked]", "[idle]"];

	/* Read the frames, each of which is before what it calls */
	function read() {
		const stack = [];

		for (const line of lines("flame-frames")) {
			const [depth, name, dso, merged, ...own] = line.split(" ");
			const parent = stack[depth - 1];
			const frame = {
				parent, called: [], own: own.map(Number),
				all: own.map(Number),
				name: names[name], merged: Number(merged),
				narrow: name === "-",
				dso: dso === "-" ? "" : dsos[dso],
			};

			parent?.called.push(frame);
			stack[depth] = frame;
			stack.length = Number(depth) + 1;
			for (let up = parent; up; up = up.parent)
				own.forEach((us, side) => { up.all[side] += Number(us); });
		}
		return stack[0];
	}

	const everything = read();
	const total = everything.all;

	const sort = (items) =>
		items.sort((a, b) => a.narrow - b.narrow || b.all[wide] - a.all[wide]);

	/* Frames of the profile as items */
	function topDown(frame, parent) {
		const item = {...frame, parent};

		item.below = () => sort(frame.called.map((called) =>
			topDown(called, item)));
		return item;
	}

	/* Group frames, each with the time that it stands for, by function */
	function group(list, parent) {
		const items = new Map();

		for (const [frame, times] of list) {
			const key = frame.narrow ? "" : `${frame.name}\n${frame.dso}`;
			const item = items.get(key) ?? {
				name: frame.name, dso: frame.dso, parent, list: [],
				narrow: frame.narrow, merged: 0,
				all: total.map(() => 0), own: total.map(() => 0),
			};

			items.set(key, item);
			item.list.push([frame, times]);
			item.merged += frame.merged;
			times.forEach((us, side) => {
				item.all[side] += us;
				if (!parent.parent)
					item.own[side] += us;
			});
		}
		for (const item of items.values())
			item.below = () => group(item.list
				.filter(([frame]) => frame.parent.parent)
				.map(([frame, times]) => [frame.parent, times]), item);
		return sort([...items.values()]);
	}

	function everyFrame(frame, use) {
		use(frame);
		frame.called.forEach((called) => everyFrame(called, use));
	}

	function byCallers() {
		const item = {...everything, parent: undefined};
		const list = [];

		everyFrame(everything, (frame) => {
			if (frame.parent && frame.own.some((us) => us))
				list.push([frame, frame.own]);
		});
		item.below = () => group(list, item);
		return item;
	}

	let root, zoomed, focused, wanted = "";
	const elements = new Map();

	const name = (item) =>
		item.narrow ? `${item.merged} too narrow` : item.name;
	const percent = (us, side) => total[side] ? 100 * us / total[side] : 0;

	function error(item) {
		const share = percent(item.all[wide], wide) / 100;

		return 196 * Math.sqrt(share * (1 - share) / weights[wide]);
	}

	const change = (item) =>
		percent(item.all[1], 1) - percent(item.all[0], 0);

	/* Stirling's series, where it is exact enough */
	function logFactorial(n) {
		let sum = 0;

		if (n > 20)
			return (n + 0.5) * Math.log(n) - n + Math.log(2 * Math.PI) / 2 +
				1 / (12 * n) - 1 / (360 * n ** 3);
		for (let i = 2; i <= n; i++)
			sum += Math.log(i);
		return sum;
	}

	const logChoose = (all, some) => logFactorial(all) -
		logFactorial(some) - logFactorial(all - some);

	/* Is the change of a share more than chance? As diff_is_change() has it */
	function changed(item) {
		const ticks = weights.map((weight, side) => Math.round(
			item.all[side] / total[side] * weight));
		const side = ticks[1] / weights[1] > ticks[0] / weights[0] ? 1 : 0;
		const here = weights[side], there = weights[1 - side];
		const both = ticks[0] + ticks[1], level = 0.05 / 2 / tests;
		let term = Math.exp(logChoose(here, ticks[side]) +
			logChoose(there, both - ticks[side]) -
			logChoose(here + there, both));
		let sum = 0;

		if (!(here >= 1 && there >= 1))
			return false;
		for (let i = ticks[side]; i <= both && sum < level &&
			term > level * 1e-12; i++) {
			sum += term;
			term *= (both - i) * (here - i) /
				((i + 1) * (there - both + i + 1));
		}
		return sum < level;
	}

	function colour(item) {
		if (!diff && waits.includes(item.dso))
			return `w${1 + waits.indexOf(item.dso)}`;
		if (!diff)
			return `f${Math.max(colours.indexOf(item.dso) + 1, 0) % 8}`;
		if (!changed(item))
			return "fn";
		const size = Math.abs(change(item));

		return (change(item) > 0 ? "fg" : "fs") +
			(1 + (size >= MORE) + (size >= MUCH));
	}

	function describe(item) {
		const us = item.all[wide];
		let text = name(item);

		if (item.dso && item.dso !== item.name)
			text += ` (${item.dso})`;
		text += `: ${percent(us, wide).toFixed(1)} %`;
		if (diff)
			text += `, before ${percent(item.all[0], 0).toFixed(1)} %` +
				(changed(item) ? "" : ", which may be chance");
		else
			text += ` \u00b1 ${error(item).toFixed(1)}`;
		text += `, ${(us / 1e6).toFixed(3)} s`;
		if (item.own[wide] && item.own[wide] !== us)
			text += `, ${percent(item.own[wide], wide).toFixed(1)} % in itself`;
		return text;
	}

	const matches = (item) =>
		wanted !== "" && name(item).toLowerCase().includes(wanted);

	function tell(item) {
		byId("flame-detail").textContent = describe(item ?? focused);
	}

	function draw(item, left, width, level, position, of) {
		const element = document.createElement("div");

		element.className = matches(item) ? "marked" : colour(item);
		element.setAttribute("role", "treeitem");
		element.setAttribute("aria-label", describe(item));
		element.setAttribute("aria-level", level + 1);
		element.setAttribute("aria-posinset", position);
		element.setAttribute("aria-setsize", of);
		element.tabIndex = -1;
		element.style.left = `${100 * left}%`;
		element.style.width = `${100 * width}%`;
		element.style.setProperty("--row", level);
		if (width * graph.clientWidth >= ENOUGH)
			element.textContent = name(item);
		graph.append(element);
		elements.set(element, item);
		item.element = element;
	}

	/* What an item calls and is wide enough; the others as one */
	function visible(item, width) {
		const least = item.all[wide] * NARROWEST / graph.clientWidth / width;
		const below = item.below().filter((called) => called.all[wide]);
		const drawn = below.filter((called) => called.all[wide] >= least);
		const rest = below.filter((called) => called.all[wide] < least);
		const time = (side) =>
			rest.reduce((us, called) => us + called.all[side], 0);

		if (rest.length && time(wide) >= least)
			drawn.push({
				name: "", dso: "", narrow: true, parent: item,
				merged: rest.reduce((sum, called) => sum +
					called.merged, 0),
				all: total.map((_, side) => time(side)),
				own: total.map(() => 0), below: () => [],
			});
		return drawn;
	}

	/* Draw what an item calls, and return the number of rows */
	function drawBelow(item, left, width, level) {
		const all = item.all[wide];
		const drawn = visible(item, width);
		let rows = level;

		item.drawn = drawn;
		if (drawn.length)
			item.element.setAttribute("aria-expanded", "true");
		drawn.forEach((below, i) => {
			const part = width * below.all[wide] / all;

			draw(below, left, part, level, i + 1, drawn.length);
			rows = Math.max(rows, drawBelow(below, left, part, level + 1));
			left += part;
		});
		return rows;
	}

	function focusOn(item, really) {
		if (focused?.element)
			focused.element.tabIndex = -1;
		focused = item;
		item.element.tabIndex = 0;
		if (really)
			item.element.focus();
		tell();
	}

	/* Draw everything, or the item that is enlarged and its callers */
	function redraw(really) {
		const above = [];

		for (let item = zoomed; item; item = item.parent)
			above.unshift(item);
		graph.replaceChildren();
		elements.clear();
		above.forEach((item, level) => {
			draw(item, 0, 1, level, 1, 1);
			item.drawn = above.slice(level + 1, level + 2);
			if (item !== zoomed) {
				item.element.setAttribute("aria-expanded", "true");
				item.element.classList.add("above");
			}
		});
		const rows = drawBelow(zoomed, 0, 1, above.length);

		graph.style.setProperty("--rows", rows);
		byId("flame-all").hidden = !zoomed.parent;
		focusOn(zoomed, really);
	}

	function zoom(item, really) {
		zoomed = item;
		redraw(really);
	}

	/* Time of chains with a function that is marked, each once */
	function found() {
		let frames = 0, us = 0;

		(function look(frame, inside) {
			const marked = matches(frame);

			frames += marked;
			if (marked && !inside)
				us += frame.all[wide];
			frame.called.forEach((called) => look(called, inside || marked));
		})(everything, false);
		byId("flame-found").textContent = wanted === "" ? "" :
			`${frames} frames, ${percent(us, wide).toFixed(1)} % of the time`;
	}

	function start() {
		root = pressed("flame-callers") ? byCallers() :
			topDown(everything);
		graph.setAttribute("aria-label", pressed("flame-callers") ?
			"Functions, and their callers" :
			"Functions, and what they call");
		zoom(root);
	}

	const pressed = (id) =>
		byId(id).getAttribute("aria-pressed") === "true";

	function toggle(id, then) {
		byId(id).addEventListener("click", () => {
			byId(id).setAttribute("aria-pressed", !pressed(id));
			then();
		});
	}

	function sibling(step) {
		const row = focused.parent?.drawn ?? [];

		return row[row.indexOf(focused) + step];
	}

	function widest() {
		return focused.drawn?.[0];
	}

	function key(event) {
		const upwards = pressed("flame-upwards");
		const moves = {
			ArrowLeft: () => sibling(-1),
			ArrowRight: () => sibling(1),
			ArrowUp: () => upwards ? widest() : focused.parent,
			ArrowDown: () => upwards ? focused.parent : widest(),
			Home: () => root,
		};
		const move = moves[event.key];

		if (event.altKey || event.ctrlKey || event.metaKey)
			return;
		if (move)
			focusOn(move() ?? focused, true);
		else if (event.key === "Enter" || event.key === " ")
			zoom(focused, true);
		else if (event.key === "Escape")
			zoom(root, true);
		else
			return;
		event.preventDefault();
	}

	byId("flame-search").addEventListener("input", () => {
		wanted = byId("flame-search").value.trim().toLowerCase();
		for (const [element, item] of elements) {
			element.classList.remove("marked", colour(item));
			element.classList.add(matches(item) ? "marked" : colour(item));
		}
		found();
	});
	byId("flame-tools").addEventListener("submit",
		(event) => event.preventDefault());
	byId("flame-all").addEventListener("click", () => zoom(root, true));
	toggle("flame-callers", start);
	toggle("flame-upwards", () => {
		graph.classList.toggle("upwards", pressed("flame-upwards"));
	});
	graph.addEventListener("keydown", key);
	graph.addEventListener("click", (event) => {
		const item = elements.get(event.target);

		if (item)
			zoom(item, true);
	});
	graph.addEventListener("pointerover", (event) => {
		const item = elements.get(event.target);

		if (item)
			tell(item);
	});
	graph.addEventListener("pointerleave", () => tell());
	graph.setAttribute("role", "tree");
	graph.setAttribute("aria-orientation", "horizontal");
	graph.hidden = false;
	byId("flame-detail").hidden = false;
	byId("flame-tools").hidden = false;
	byId("flame-picture")?.remove();
	let width = graph.clientWidth;

	start();
	new ResizeObserver(() => {
		if (graph.clientWidth === width)
			return;
		width = graph.clientWidth;
		redraw(graph.contains(document.activeElement));
	}).observe(graph);
})();
