# SPDX-License-Identifier: GPL-2.0-only
#
# page.py FILE QUESTION [WORD]...: checks a property of a page of prohist
import base64
import hashlib
import html.parser
import json
import re
import sys

VOID = {"meta", "input", "br"}
# Elements whose end tags the page leaves out, and what they end before
OPTIONAL = {"td": {"td", "tr", "tbody"}, "tr": {"tr", "tbody"},
            "tbody": {"tbody"}}
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "header", "h1", "h2",
    "h3", "h4", "nav", "a", "main", "section", "table", "caption", "thead",
    "tbody", "tr", "th", "td", "div", "ul", "li", "p", "code", "small",
    "strong", "svg", "rect", "g", "text", "article", "form", "label", "input", "button",
    "span", "details", "summary", "footer", "script"}


class Element:
    def __init__(self, tag, attributes):
        self.tag = tag
        self.attributes = attributes
        self.children = []

    def all(self, tag):
        for child in self.children:
            if isinstance(child, Element):
                if child.tag == tag:
                    yield child
                yield from child.all(tag)

    def text(self):
        return "".join(child if isinstance(child, str) else child.text()
                       for child in self.children)

    def words(self):
        """All words, also those that only elements separate."""
        return [word for child in self.children for word in
                (child.split() if isinstance(child, str) else child.words())]

    def table(self):
        """Cells of the rows of the body."""
        return [[cell.text().strip() for cell in row.all("td")]
                for body in self.all("tbody") for row in body.all("tr")]


class Page(html.parser.HTMLParser):
    """A parser that refuses what a browser would have to repair."""

    def __init__(self, text):
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]
        self.feed(text)
        self.close()
        assert len(self.open) == 1, self.open[-1].tag

    def end_before(self, tag):
        while tag in OPTIONAL.get(self.open[-1].tag, ()):
            self.open.pop()

    def handle_starttag(self, tag, attributes):
        self.end_before(tag)
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), names
        element = Element(tag, dict(attributes))
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.open[-1].children.append(Element(tag, dict(attributes)))

    def handle_endtag(self, tag):
        while self.open[-1].tag != tag and self.open[-1].tag in OPTIONAL:
            self.open.pop()
        assert self.open[-1].tag == tag, (self.open[-1].tag, tag)
        self.open.pop()

    def handle_data(self, data):
        self.open[-1].children.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"comment {data}")


with open(sys.argv[1], "rb") as file:
    source = file.read().decode()
page = Page(source).root
words = sys.argv[3:]


def by_id(name):
    return next(element for element in everything()
                if element.attributes.get("id") == name)


def everything(element=page):
    for child in element.children:
        if isinstance(child, Element):
            yield child
            yield from everything(child)


def sound():
    """Whether all is permitted, identifiers are unique, and links work."""
    ids = [e.attributes["id"] for e in everything() if "id" in e.attributes]
    links = [e.attributes["href"] for e in page.all("a")]
    named = [e.attributes[name].split() for e in everything()
             for name in ("aria-labelledby", "for") if name in e.attributes]
    assert source.startswith("<!DOCTYPE html>\n")
    assert {e.tag for e in everything()} <= ALLOWED
    assert len(ids) == len(set(ids))
    assert all(link[0] == "#" and link[1:] in ids for link in links)
    assert all(name in ids for names in named for name in names)
    assert not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f]", source)
    return True


def alone():
    """Whether the page can load nothing, and run its own script only."""
    script, = page.all("script")
    digest = hashlib.sha256(script.text().encode()).digest()
    policy = next(e.attributes["content"] for e in page.all("meta")
                  if "http-equiv" in e.attributes)
    assert policy.startswith("default-src 'none'; ")
    assert re.search("script-src '([^']*)'", policy)[1] == \
        "sha256-" + base64.b64encode(digest).decode()
    assert "style-src 'unsafe-inline'" in policy and policy.count("src") == 3
    names = {name for e in everything() for name in e.attributes}
    assert not any(name.startswith("on") or name == "src" for name in names)
    assert not any("url(" in style.text() or "@import" in style.text()
                   for style in page.all("style"))
    return "//" not in re.sub("^ *// SPDX.*", "", script.text(), flags=re.M)


def facts(table):
    """Cells of each row, by its name, which a meaning may follow."""
    return {row_name.children[0].strip(): cells for row_name, cells in
            ((next(row.all("th")), [cell.text() for cell in row.all("td")])
             for body in table.all("tbody") for row in body.all("tr"))}


def same_as_json():
    """Whether the numbers are those of the JSON in a file."""
    with open(words[0], encoding="utf-8") as file:
        profile = json.load(file)
    summary = profile["summary"]
    times, outcomes = [facts(t) for t in page.all("table")
                       if t.attributes.get("class") == "facts"]
    assert times["Covered"] == [f"{summary['covered_ns'] / 1e9:.3f} s"]
    assert times["CPU time by the kernel"] == \
        [f"{summary['cpu_ns'] / 1e9:.3f} s"]
    assert times["Clock"] == [summary["clock"]]
    assert outcomes.pop("The ticks add up") == \
        ["yes" if summary["adds_up"] else "no"]
    counts = {member.replace("_", " "): [str(number)]
              for member, number in summary.items()
              if isinstance(number, int) and "_ns" not in member
              and member != "adds_up"}
    assert outcomes == counts, (outcomes, counts)
    rows = by_id("table").table()
    total = sum(f["ticks"] for f in profile["functions"])
    assert [(int(row[0]), row[3], row[4]) for row in rows] == \
        [(f["ticks"], f["name"], f["dso"].rsplit("/", 1)[-1])
         for f in profile["functions"]]
    assert all(row[1] == f"{100 * int(row[0]) / total:.1f}" for row in rows)
    return len(profile["not_profiled"]) == \
        len([li for ul in page.all("ul") for li in ul.all("li")
             if ul.attributes.get("class") == "warning"])


def title():
    assert next(page.all("title")).text() == words[0] + " - prohist"
    return next(page.all("h1")).text() == words[0]


def has():
    """Whether the text has all words, in this order."""
    left = " ".join(page.words())
    for word in words:
        assert word in left, word
        left = left[left.index(word) + len(word):]
    return True


def lacks():
    return not any(word in page.text() for word in words)


def listing(name):
    return next(d for d in page.all("details")
                if next(d.all("h3")).text() == name)


def listings():
    """Functions that have a listing; these, and no others, are links."""
    links = {a.text(): a.attributes["href"][1:]
             for a in by_id("table").all("a")}
    found = {next(d.all("h3")).text(): d.attributes["id"]
             for d in page.all("details")}
    assert links == found, (links, found)
    return set(found) == set(words)


def ticks_of(caption, name):
    return [sum(int(row[0].split()[0]) for row in table.table()
                if row and row[0])
            for table in listing(name).all("table")
            if next(table.all("caption")).text() == caption]


def listed():
    """Ticks of the source and of the instructions of a function."""
    found = ticks_of("Source", words[0]), ticks_of("Instructions", words[0])
    expected = [[int(n) for n in word.split()] for word in words[1:3]]
    assert list(found) == expected, found
    text = listing(words[0]).text()
    return all(word in text for word in words[3:]) or sys.exit(text)


def small():
    """Whether the page is below 2 MB, and no tick is missing."""
    assert len(source.encode()) < 2000000, len(source.encode())
    rows = by_id("table").table()
    rest = re.search(r"(\d+) more functions, with (\d+) ticks", page.text())
    assert len(rows) + int(rest[1]) == int(words[0]), (len(rows), rest[1])
    return sum(int(row[0]) for row in rows) + int(rest[2]) == int(words[1])


def changes():
    """Whether the table has the changes of a report as text."""
    with open(words[0], encoding="utf-8") as file:
        text = file.read()
    expected = [m.groups() for m in re.finditer(
        r"^ *([\d.]+) % +([\d.]+) % +([-+][\d.]+) %  (\S+)", text, re.M)]
    rows = by_id("table").table()
    assert expected
    assert [(r[0], r[1], r[2], r[4]) for r in rows if r[3] == "yes"] == expected
    compared = int(re.search(r"(\d+) functions compared", text)[1])
    assert [r[3] for r in rows] == ["yes"] * len(expected) + \
        ["no"] * (compared - len(expected))
    return True


def states():
    """Whether the table has the numbers of a report as text."""
    with open(words[0], encoding="utf-8") as file:
        lines = iter(file.read().split("\n"))
    heading = next(line for line in lines if line.endswith("by function"))
    expected = []
    for line in lines:
        if not line:
            break
        numbers = re.findall(r"([\d.]+) %", line)
        name = line[line.rindex(" %") + 2:].strip()
        expected.append([line.split()[0], *numbers, name])
    table = by_id("table")
    names = [th.text().replace(", %", "").lower() for th in table.all("th")]
    assert [name for name in names[1:-2] if name != "%"] == \
        [name for name in ("total", "on cpu", "runnable", "blocked", "idle")
         if name in heading.lower()], names
    rows = [[*row[:-2], row[-2] if row[-2] == row[-1] else
             f"{row[-2]} {row[-1]}" if row[-1].startswith("[") else
             f"{row[-2]} ({row[-1]})"] for row in table.table()]
    if "so far" in heading:
        expected = [[*row[:2], *row[3:]] for row in expected]
    assert expected
    assert rows == expected, (rows, expected)
    return True


questions = {
    "sound": sound, "alone": alone, "json": same_as_json, "title": title,
    "has": has, "lacks": lacks, "listings": listings, "listed": listed,
    "small": small, "changes": changes, "states": states,
}
sys.exit(0 if questions[sys.argv[2]]() else 1)
