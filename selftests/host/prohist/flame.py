# SPDX-License-Identifier: GPL-2.0-only
#
# flame.py FILE QUESTION [WORD]...: checks a property of a flame graph of prohist, as
# a picture or in a page
import bisect
import re
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
words = sys.argv[3:]


class Frame:
    """A frame of a picture: its place, and the lines of its tooltip."""

    def __init__(self, group):
        rect = group.find(SVG + "rect")
        self.x, self.y, self.width = (float(rect.get(name))
                                      for name in ("x", "y", "width"))
        self.kind = rect.get("class")
        self.lines = group.find(SVG + "title").text.split("\n")
        self.name = re.sub(r" \([^ ]*\)$", "", self.lines[0])
        self.seconds = float(self.lines[1].split(" ")[0])
        self.own = float(self.lines[2].split(" ")[0]) \
            if len(self.lines) > 2 else self.seconds
        self.text = group.findtext(SVG + "text")


def frames():
    picture = tree.parse(sys.argv[1])
    return [Frame(group) for group in picture.iter(SVG + "g")]


def rows(found):
    """Frames by their height, from left to right."""
    result = {}
    for frame in found:
        result.setdefault(frame.y, []).append(frame)
    for row in result.values():
        row.sort(key=lambda frame: frame.x)
    return result


def above(frame, by_height):
    """The frame that a frame hangs from"""
    middle = frame.x + frame.width / 2
    height = max(y for y in by_height if y < frame.y)
    row = by_height[height]
    found = row[bisect.bisect_right([f.x for f in row], middle) - 1]
    assert found.x - 0.01 <= middle <= found.x + found.width + 0.51
    return found


def sound():
    """Whether it is XML, and has nothing that runs or is loaded."""
    picture = tree.parse(sys.argv[1])
    tags = {element.tag for element in picture.iter()}
    assert tags <= {SVG + tag for tag in (
        "svg", "title", "style", "rect", "text", "tspan", "g")}, tags
    names = {name for element in picture.iter() for name in element.attrib}
    assert names == {"width", "height", "viewBox", "class", "x", "y"}, names
    style = picture.getroot().find(SVG + "style").text
    return "url(" not in style and "@import" not in style


def folded():
    """Prints chains with the ticks of 1 ms in their last frames."""
    found = frames()
    by_height = rows(found)
    for frame in found:
        if round(1000 * frame.own) == 0:
            continue
        chain = [frame.name]
        at = frame
        while at.name != "everything":
            at = above(at, by_height)
            chain.insert(0, at.name)
        print(";".join(chain[1:]), round(1000 * frame.own))
    return True


def placed():
    """Whether each frame is below its caller, and as wide as its time is."""
    found = frames()
    everything, by_height = found[0], rows(found)
    assert everything.name == "everything"
    for frame in found[1:]:
        caller = above(frame, by_height)
        assert frame.x + frame.width <= caller.x + caller.width + 0.6
        wide = everything.width * frame.seconds / everything.seconds
        assert abs(frame.width - wide) < 1, (frame.lines, frame.width, wide)
    for row in by_height.values():
        for left, right in zip(row, row[1:]):
            assert left.x + left.width <= right.x + 0.01, \
                (left.lines, right.lines)
    return all(frame.text is None or frame.text == frame.name or
               frame.text.endswith("\u2026") for frame in found)


def kinds():
    """Whether frames have these classes: NAME=CLASS."""
    have = {(frame.name, frame.kind) for frame in frames()}
    return all(tuple(word.rsplit("=", 1)) in have for word in words) or \
        sys.exit(str(have))


def says():
    """Whether the texts beside the frames, and tooltips, have these words."""
    picture = tree.parse(sys.argv[1])
    text = "\n".join("".join(element.itertext()) for element in picture.iter()
                     if element.tag in (SVG + "text", SVG + "title"))
    return all(word in text for word in words) or sys.exit(text)


def page():
    """Prints the chains of a page, with their microseconds."""
    with open(sys.argv[1], encoding="utf-8") as file:
        source = file.read()

    def lines(name):
        text = re.search(f'<div id="flame-{name}" hidden>([^<]*)</div>',
                         source)[1]
        return text.split("\n")[:-1]
    names = lines("names")
    chain = []
    for line in lines("frames"):
        depth, name, _, merged, *own = line.split(" ")
        chain[int(depth):] = [names[int(name)] if name != "-" else
                              f"{merged} too narrow"]
        if any(us != "0" for us in own):
            print(";".join(chain[1:]), *own)
    return True


questions = {
    "sound": sound, "folded": folded, "placed": placed, "kinds": kinds,
    "says": says, "page": page,
}
sys.exit(0 if questions[sys.argv[2]]() else 1)
