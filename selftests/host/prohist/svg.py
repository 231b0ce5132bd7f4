# SPDX-License-Identifier: GPL-2.0-only
#
# svg.py FILE QUESTION [WORD]...: checks a property of a picture of prohist
import re
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
picture = tree.parse(sys.argv[1])
words = sys.argv[3:]


def all_of(element):
    return "".join(element.itertext())


def titled(kind):
    return [rect for rect in picture.iter(SVG + "rect")
            if re.fullmatch(kind, rect.get("class", ""))
            and rect.find(SVG + "title") is not None]


def columns():
    """Name, ticks and heat of each column."""
    for rect in titled("h[0-5]"):
        match = re.fullmatch(r"(.*)\n(\d+) ticks, .*\n.*",
                             all_of(rect), re.DOTALL)
        yield match[1], int(match[2]), rect


def number(element, name):
    return float(element.get(name))


def command():
    assert picture.getroot().find(SVG + "title").text == words[0]
    return picture.getroot().tag == SVG + "svg"


def texts():
    """Whether the picture has all words, in this order."""
    found = [all_of(text) for text in picture.iter(SVG + "text")]
    left = iter(found)
    return all(word in left for word in words) or sys.exit(f"{found}")


def columns_are():
    """Ticks in the strip of the DSO and, if it has a number, in its own."""
    sums = {}
    for name, ticks, _ in columns():
        sums[name] = sums.get(name, 0) + ticks
    return all(sums[name] == int(ticks)
               for name, ticks in (word.rsplit("=", 1) for word in words))


def heats():
    have = {(name, rect.get("class")) for name, _, rect in columns()}
    return all(tuple(word.rsplit("=", 1)) in have for word in words)


def alone():
    """Whether there is no script, no event handler, and nothing to load."""
    tags = {element.tag.removeprefix(SVG) for element in picture.iter()}
    names = {name for element in picture.iter() for name in element.keys()}
    style = all_of(picture.getroot().find(SVG + "style"))
    return tags <= {"svg", "title", "style", "rect", "text", "tspan",
                    "circle", "path"} and \
        not any(name.startswith("on") or "href" in name for name in names) \
        and "url" not in style and "@import" not in style


def seen():
    return all(number(rect, "width") >= 2 and number(rect, "height") >= 1.5
               for _, _, rect in columns())


def flags():
    """Whether no flags overlap: circles with a diameter of 16."""
    at = [(number(c, "cx"), number(c, "cy"))
          for c in picture.iter(SVG + "circle")]
    return all(abs(x - u) >= 16 or abs(y - v) >= 16
               for i, (x, y) in enumerate(at) for u, v in at[:i])


def names():
    """Whether no names overlap, with the width that prohist assumes."""
    boxes = []
    for text in picture.iter(SVG + "text"):
        style = text.get("class").split()
        if "name" not in style:
            continue
        width = 6.7 * len(text.text)
        x = number(text, "x") - (width if "end" in style else 0)
        boxes.append((x, x + width, number(text, "y")))
    boxes += [(number(c, "cx") - 8, number(c, "cx") + 8, number(c, "cy") + 4)
              for c in picture.iter(SVG + "circle")]
    return all(a >= d or c >= b or abs(y - z) >= 11
               for i, (a, b, y) in enumerate(boxes)
               for c, d, z in boxes[:i])


questions = {
    "command": command, "texts": texts, "columns": columns_are,
    "heats": heats, "alone": alone, "seen": seen, "flags": flags,
    "names": names,
}
sys.exit(0 if questions[sys.argv[2]]() else 1)
