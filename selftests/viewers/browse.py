# SPDX-License-Identifier: GPL-2.0-only
#
# browse.py DIRECTORY FILE QUESTION: checks a page of prohist in Chromium, whose
# files are in DIRECTORY
import os
import sys
import time

from chromium import Chromium

browser = Chromium(sys.argv[1])
url = "file://" + os.path.abspath(sys.argv[2])
FOCUS = """(() => {
    const e = document.activeElement;
    return e === document.body ? null : [e.tagName, e.textContent.trim() ||
        e.id || e.getAttribute("aria-label")];
})()"""
ROWS = """[...document.querySelectorAll("#table tbody tr")]
    .filter((row) => row.checkVisibility())
    .map((row) => [...row.cells].map((cell) => cell.textContent.trim()))"""
SORTED = """[...document.querySelectorAll("#table th[aria-sort]")]
    .map((th) => [th.textContent, th.getAttribute("aria-sort")])"""
COUNT = "document.getElementById('count').textContent"


def load(width=1280, dark=False, scripts=True):
    browser.emulate(width, 800, dark, scripts)
    browser.open(url)


def value(script, expected, seconds=5):
    """Wait until an expression has a value."""
    end = time.monotonic() + seconds
    while True:
        found = browser.run(script)
        if found == expected:
            return True
        assert time.monotonic() < end, (found, expected)
        time.sleep(0.05)


def click(selector):
    x, y = browser.run(f"""(() => {{
        const element = document.querySelector({selector!r});
        element.scrollIntoView({{block: "center"}});
        const box = element.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    }})()""")
    for kind in "mousePressed", "mouseReleased":
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                     button="left", clickCount=1)


def tab_to(kind, text):
    """Press Tab until an element has the focus."""
    for _ in range(200):
        browser.key("Tab")
        found = browser.run(FOCUS)
        if found and found[0] == kind and found[1].startswith(text):
            return
    raise AssertionError(f"Tab does not reach {text}")


def problems():
    """Messages of the browser, and requests other than for the page."""
    found = [e for e in browser.events if e["method"] in (
        "Log.entryAdded", "Runtime.consoleAPICalled",
        "Runtime.exceptionThrown")]
    return found + [e["params"]["request"]["url"] for e in browser.events
                    if e["method"] == "Network.requestWillBeSent"
                    and e["params"]["request"]["url"] != url]


def loads():
    for dark in False, True:
        load(dark=dark)
        time.sleep(0.3)
        browser.run("0")
        assert not problems(), problems()
        # The request for the page shows that requests are seen
        assert any(e["method"] == "Network.requestWillBeSent"
                   for e in browser.events)
    return browser.run("document.title") != "evil"


def column(number):
    return [row[number] for row in browser.run(ROWS)]


def in_order(values, descending=False):
    return values == sorted(values, reverse=descending)


def sort_click():
    load()
    assert browser.run(SORTED) == [["Ticks", "descending"]]
    assert in_order([int(n) for n in column(0)], True)
    click("#table th:nth-child(4) button")
    value(SORTED, [["Function", "ascending"]])
    assert in_order(column(3)), column(3)
    click("#table th:nth-child(4) button")
    value(SORTED, [["Function", "descending"]])
    assert in_order(column(3), True), column(3)
    click("#table th:nth-child(1) button")
    value(SORTED, [["Ticks", "descending"]])
    return in_order([int(n) for n in column(0)], True)


def sort_keys():
    load()
    tab_to("BUTTON", "Function")
    browser.key("Enter", "\r")
    value(SORTED, [["Function", "ascending"]])
    assert in_order(column(3)), column(3)
    browser.key(" ", " ")
    value(SORTED, [["Function", "descending"]])
    assert browser.run(FOCUS) == ["BUTTON", "Function"]
    browser.key("Tab", modifiers=8)
    browser.key("Enter", "\r")
    value(SORTED, [["Error", "descending"]])
    return in_order([float(n) for n in column(2)], True)


def tree():
    """Role, name and properties of all that a screen reader is given."""
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    return [(n.get("role", {}).get("value"),
             n.get("name", {}).get("value", "").strip(),
             {p["name"]: p["value"].get("value")
              for p in n.get("properties", [])})
            for n in nodes if not n["ignored"]]


def names():
    load()
    browser.run("document.querySelectorAll('details')"
                ".forEach((details) => { details.open = true; })")
    roles = {"button", "link", "searchbox", "textbox", "checkbox", "table",
             "region", "navigation", "img", "image", "heading", "group",
             "search", "columnheader", "rowheader", "DisclosureTriangle",
             "RootWebArea"}
    nodes = tree()
    nameless = [node for node in nodes if not node[1] and
                (node[0] in roles or node[2].get("focusable"))]
    # An opened <details> is a group whose name is that of its summary
    nameless = [node for node in nameless if node[0] != "group"
                or node[2].get("focusable")]
    assert not nameless, nameless
    found = {node[0] for node in nodes}
    assert {"button", "link", "searchbox", "table", "columnheader", "status",
            "heading", "main", "navigation", "search"} <= found, found
    assert any(node[0] == "columnheader" and node[1].startswith("Function")
               for node in nodes)
    return any(node[2].get("live") == "polite" and "functions" in
               browser.run(COUNT) for node in nodes)


def filters():
    load()
    tab_to("INPUT", "filter")
    browser.call("Input.insertText", text="BETA")
    value(COUNT, "1 of 5 functions")
    assert column(3) == ["beta"], column(3)
    browser.key("Escape")
    value(COUNT, "5 of 5 functions")
    browser.call("Input.insertText", text="no such name")
    value(COUNT, "0 of 5 functions")
    assert column(3) == []
    status = [n for n in tree() if n[0] == "status"]
    return len(status) == 1 and status[0][2]["live"] == "polite"


def opens():
    load()
    alpha = "[...document.querySelectorAll('details')].find((d) => " \
        "d.querySelector('h3').textContent === 'alpha')"
    assert browser.run(alpha + ".open") is False
    tab_to("A", "alpha")
    browser.key("Enter", "\r")
    value(alpha + ".open", True)
    value(FOCUS, ["SUMMARY", "alpha known"])
    assert browser.run(alpha + ".getBoundingClientRect().top < innerHeight")
    assert "return n * n + 1;" in browser.run(alpha + ".innerText")
    browser.key("Enter", "\r")
    value(alpha + ".open", False)
    # The same link again, whose address does not change
    click(".numbers a[href='" + browser.run("location.hash") + "']")
    value(alpha + ".open", True)
    tab_to("A", "Back to the functions")
    browser.key("Enter", "\r")
    value(FOCUS, ["H2", "Functions"])
    browser.run("history.back()")
    return value(FOCUS, ["SUMMARY", "alpha known"])


def strip():
    load()
    click(".strip rect.h5")
    value(COUNT, "1 of 5 functions")
    return column(3)[0] in ("alpha", "beta")


def plain():
    load(scripts=False)
    assert len(column(3)) == 5 and "alpha" in column(3)
    assert not browser.run("document.getElementById('tools')"
                           ".checkVisibility()")
    click("details summary")
    return value("document.querySelector('details').open", True)


FRAMES = """[...document.querySelectorAll("#flame-graph > div")]
    .map((e) => [e.getAttribute("aria-label").split(":")[0],
        Number(e.getAttribute("aria-level")), e.className])"""
LABEL = "document.activeElement.getAttribute('aria-label')"
DETAIL = "document.getElementById('flame-detail').textContent"


def names_of_frames():
    return [name for name, _, _ in browser.run(FRAMES)]


def frame(name):
    return f"#flame-graph > [aria-label^='{name}']"


def press(*keys):
    for key in keys:
        browser.key(key, "\r" if key == "Enter" else "")


def to_frames():
    """Press Tab until the flame graph has the focus."""
    tab_to("DIV", "everything")


def zoom_click():
    load()
    assert browser.run(FRAMES)[:3] == [
        ["everything", 1, "f0"], ["main (prog)", 2, "f1"],
        ["work (prog)", 3, "f1"]], browser.run(FRAMES)
    hidden = "document.getElementById('flame-all').hidden"
    assert browser.run(hidden)
    click(frame("work (prog)"))
    value(LABEL, "work (prog): 51.9 % \u00b1 0.2, 81.000 s, "
          "32.0 % in itself")
    assert names_of_frames() == [
        "everything", "main (prog)", "work (prog)", "work (prog)",
        "sort (lib.so)", "[kernel]"], names_of_frames()
    assert not browser.run(hidden)
    # What called it has the whole width, and leads back
    click(frame("main (prog)"))
    value(LABEL, "main (prog): 100.0 % \u00b1 0.0, 156.101 s, "
          "0.1 % in itself")
    click("#flame-all")
    value(DETAIL, "everything: 100.0 % \u00b1 0.0, 156.101 s")
    return browser.run(hidden)


def zoom_keys():
    load()
    to_frames()
    press("ArrowDown", "ArrowDown")
    assert browser.run(LABEL).startswith("work (prog): 51.9 %")
    assert browser.run(DETAIL) == browser.run(LABEL)
    press("ArrowRight")
    assert browser.run(LABEL).startswith("idle (prog): 25.6 %")
    press("ArrowLeft", "ArrowLeft", "ArrowDown")
    assert browser.run(LABEL).startswith("work (prog): 19.2 %")
    press("Enter")
    assert browser.run(LABEL).startswith("work (prog): 19.2 %")
    assert len(names_of_frames()) == 5, names_of_frames()
    press("ArrowUp", "ArrowUp")
    assert browser.run(LABEL).startswith("main (prog): 100.0 %")
    press("Escape")
    value(LABEL, "everything: 100.0 % \u00b1 0.0, 156.101 s")
    assert len(names_of_frames()) > 5
    press("ArrowDown", "Home")
    # One item of the tree is in the order of Tab
    return browser.run(LABEL).startswith("everything") and browser.run(
        "document.querySelectorAll('#flame-graph [tabindex=\"0\"]').length"
        ) == 1


def upwards():
    load()
    place = "document.querySelector(\"" + frame("main (prog)") + \
        "\").getBoundingClientRect().top - document.querySelector(\"" + \
        frame("everything") + "\").getBoundingClientRect().top"
    assert browser.run(place) > 0
    tab_to("BUTTON", "Upwards")
    press("Enter")
    assert browser.run(place) < 0
    to_frames()
    press("ArrowUp")
    assert browser.run(LABEL).startswith("main (prog)")
    press("ArrowDown")
    return browser.run(LABEL).startswith("everything")


def callers():
    load()
    tab_to("BUTTON", "Callers")
    press("Enter")
    assert browser.run("document.activeElement.ariaPressed") == "true"
    found = browser.run(FRAMES)
    outermost = [name for name, level, _ in found if level == 2]
    assert outermost[:4] == ["work (prog)", "sort (lib.so)", "idle (prog)",
                             outermost[3]], found
    # All time of work itself, then who called it: main, and itself
    click(frame("work (prog): 38.4 %"))
    value(LABEL, "work (prog): 38.4 % \u00b1 0.2, 60.000 s")
    assert [(name, level) for name, level, _ in browser.run(FRAMES)] == [
        ("everything", 1), ("work (prog)", 2), ("main (prog)", 3),
        ("work (prog)", 3), ("main (prog)", 4)], browser.run(FRAMES)
    tab_to("BUTTON", "Show everything")
    return True


def marks():
    load()
    tab_to("INPUT", "flame-search")
    browser.call("Input.insertText", text="WORK")
    # Those within each other once
    value("document.getElementById('flame-found').textContent",
          "2 frames, 51.9 % of the time")
    marked = [name for name, _, kind in browser.run(FRAMES)
              if kind == "marked"]
    assert marked == ["work (prog)"] * 2, marked
    browser.key("Escape")
    value("document.getElementById('flame-found').textContent", "")
    assert "marked" not in [kind for _, _, kind in browser.run(FRAMES)]
    status = [n for n in tree() if n[0] == "status"]
    return len(status) == 2


def calls():
    load()
    found = [n for n in tree() if n[0] in ("tree", "treeitem")]
    assert found[0][:2] == ("tree", "Functions, and what they call"), found[0]
    items = found[1:]
    assert all(n[2].get("level") for n in items), items
    assert items[2][1].startswith("work (prog): 51.9 %"), items[2]
    assert items[2][2]["level"] == 3 and items[2][2]["expanded"]
    return [n[1] for n in items if n[2].get("focusable")] != []


def widths():
    for width in 1280, 360:
        load(width)
        left, right = browser.run("""(() => {
            const box = document.getElementById("flame-graph")
                .getBoundingClientRect();
            return [box.left, box.right];
        })()""")
        boxes = browser.run("""[...document.querySelectorAll(
            "#flame-graph > div")].map((e) => [
                Number(e.ariaLevel), e.getBoundingClientRect().left,
                e.getBoundingClientRect().right,
                Number(/ ([0-9.]+) %/.exec(e.ariaLabel)[1])])""")
        for level, start, end, percent in boxes:
            assert left - 1 <= start < end <= right + 1
            wide = (right - left) * percent / 100
            assert abs(end - start - wide) < 1 + wide / 50, \
                (level, start, end, wide)
    return True


def merged():
    """compare has 1 ms of 156 s: it is seen when it alone is large"""
    load()
    return not any(name.startswith("compare") for name in names_of_frames())


def changes():
    load()
    kinds = {(name, kind) for name, _, kind in browser.run(FRAMES)}
    assert ("work (prog)", "fg3") in kinds, kinds
    assert ("idle (prog)", "fs3") in kinds, kinds
    assert ("everything", "fn") in kinds, kinds
    click(frame("work (prog)"))
    value(DETAIL, "work (prog): 61.7 %, before 51.9 %, 121.000 s, "
          "45.9 % in itself")
    return True


def picture():
    load(scripts=False)
    assert browser.run("document.getElementById('flame-picture')"
                       ".checkVisibility()")
    assert not browser.run("document.getElementById('flame-tools')"
                           ".checkVisibility()")
    return browser.run("document.querySelectorAll('#flame-picture rect')"
                       ".length") > 5


def significant():
    load()
    assert browser.run(SORTED) == [["Beyond chance", "descending"]]
    before = len(column(4))
    tab_to("INPUT", "significant")
    browser.key(" ", " ")
    value(COUNT, f"2 of {before} functions")
    assert sorted(column(4)) == ["alpha", "beta"], column(4)
    click("#table th:nth-child(3) button")
    value(SORTED, [["Change", "descending"]])
    changes = [abs(float(change)) for change in column(2)]
    return in_order(changes, True)


def more():
    load()
    assert len(column(3)) == 100
    shown = browser.run(COUNT)
    assert shown.endswith(" functions, 100 shown"), shown
    tab_to("BUTTON", "Show all ")
    browser.key("Enter", "\r")
    value("document.getElementById('more').hidden", True)
    assert browser.run(FOCUS)[0] == "DIV", browser.run(FOCUS)
    return len(column(3)) == int(shown.split()[0])


def locked():
    load()
    browser.run("""(() => {
        const script = document.createElement("script");

        script.textContent = "document.title = 'run'";
        document.body.append(script);
        document.body.insertAdjacentHTML("beforeend",
            "<img src='http://127.0.0.1:9/' onerror='document.title = 1'>");
    })()""")
    browser.run("fetch('http://127.0.0.1:9/').catch(() => 0)")
    refused = [e["params"]["entry"]["text"] for e in browser.events
               if e["method"] == "Log.entryAdded"]
    assert browser.run("document.title") not in ("run", "1", "evil")
    assert len([t for t in refused if "Content Security Policy" in t]) >= 3, \
        refused
    # Chromium reports requests that it refuses, too
    others = {e["params"]["requestId"] for e in browser.events
              if e["method"] == "Network.requestWillBeSent"
              and e["params"]["request"]["url"] != url}
    blocked = {e["params"]["requestId"] for e in browser.events
               if e["method"] == "Network.loadingFailed"
               and e["params"].get("blockedReason") == "csp"}
    return others <= blocked


def axe():
    path = os.path.join(os.environ["NODE_MODULES"], "axe-core/axe.min.js")
    with open(path, encoding="utf-8") as file:
        library = file.read()
    for width, dark in ((1280, False), (1280, True), (360, False)):
        load(width, dark)
        browser.run("document.querySelectorAll('details')"
                    ".forEach((details) => { details.open = true; })")
        browser.run(library + "; 0")
        result = browser.run("""axe.run({resultTypes: ["violations"]}).then(
            (result) => [result.passes.length, result.violations.map((v) =>
                [v.id, v.help, v.nodes.slice(0, 5).map((n) => [n.html,
                    n.any.map((check) => check.message)])])])""")
        assert result[0] > 20, result
        assert not result[1], (width, dark, result[1])
    return True


def narrow():
    load(360)
    browser.run("document.querySelectorAll('details')"
                ".forEach((details) => { details.open = true; })")
    assert browser.run("document.documentElement.scrollWidth") <= 360
    # Whatever is wider than the page is in something that scrolls
    wide = browser.run("""[...document.querySelectorAll("main *")]
        .filter((e) => e.getBoundingClientRect().right > innerWidth + 1 &&
            !e.closest(".scroll, svg")).map((e) => e.outerHTML.slice(0, 200))""")
    assert not wide, wide
    # A comparison has a column too many
    table = "document.getElementById('table')"
    return browser.run(f"{table}.tHead.rows[0].cells.length > 5 || "
                       f"{table}.offsetWidth <= "
                       f"{table}.parentElement.clientWidth + 1")


def order():
    """Whether Tab visits all controls, downwards, and shows where it is."""
    load()
    wanted = browser.run("""[...document.querySelectorAll(
        "a[href], button, input, summary, [tabindex='0']")]
        .filter((e) => e.checkVisibility()).length""")
    place = """(() => {
        const e = document.activeElement, box = e.getBoundingClientRect();
        const all = [...document.querySelectorAll("*")];
        return [all.indexOf(e), box.width > 0 && box.bottom > 0 &&
            box.top < innerHeight && box.right > 0,
            getComputedStyle(e).outlineStyle];
    })()"""
    visited = []
    for _ in range(wanted):
        browser.key("Tab")
        index, visible, outline = browser.run(place)
        assert visible and outline != "none", browser.run(FOCUS)
        visited.append(index)
    assert len(set(visited)) == wanted, (len(set(visited)), wanted)
    return in_order(visited)


answer = globals()[sys.argv[3]]()
browser.close()
sys.exit(0 if answer else 1)
