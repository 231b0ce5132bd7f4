#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""docs.py DIR: checks the documents, with the tools built in DIR. Prints KTAP.

Skips a check if a tool that it needs is missing.
"""
import glob
import io
import os
import re
import shutil
import subprocess
import sys

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
TOOLS = os.path.join(os.path.abspath(sys.argv[1]), "tools")
os.chdir(TOP)

PAGES = sorted(glob.glob("Documentation/man/*.[1-9]"))
RST = sorted(glob.glob("Documentation/**/*.rst", recursive=True))
MARKDOWN = sorted(glob.glob("*.md"))
# Correct words that codespell rejects; a test of prohist has the last one
WORDS = "crate,fro,siz,aplha,buildd,parm,inout"

number = failed = 0


class Skip(Exception):
    """The check cannot run on this machine."""


def check(name, function, *arguments):
    """Run a test: function returns a list of problems."""
    global number, failed
    number += 1
    try:
        problems = function(*arguments)
    except Skip as reason:
        print(f"ok {number} {name} # SKIP {reason}")
        return
    for problem in problems:
        print("#", problem)
    print(f"{'not ok' if problems else 'ok'} {number} {name}")
    failed |= bool(problems)


def run(*command):
    """Run a command; return the lines of its standard output and error."""
    if not shutil.which(command[0]):
        raise Skip(f"{command[0]} is missing")
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("MAN")}
    result = subprocess.run(command, capture_output=True, text=True,
                            errors="replace", check=False,
                            env={**env, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
    return result.stdout.splitlines(), result.stderr.splitlines()


def lines_of(*command):
    """Return all lines that a command prints."""
    return sum(run(*command), [])


def rst(path):
    """Return the warnings of docutils."""
    try:
        import docutils.core
    except ImportError as error:
        raise Skip("python3-docutils is missing") from error
    stream = io.StringIO()
    with open(path, encoding="utf-8") as file:
        docutils.core.publish_string(
            file.read(), source_path=path, writer_name="null",
            settings_overrides={"report_level": 2, "warning_stream": stream})
    return stream.getvalue().splitlines()


def links(path):
    """Return relative links to missing files."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = re.findall(r"\]\(([^)#\s]+)\)", text) if path.endswith(".md") \
        else re.findall(r"`[^`<]*<([^`>#]+)>`_", text)
    return [f"{path}: {link}" for link in found if "://" not in link and
            not os.path.exists(os.path.join(os.path.dirname(path), link))]


def paths(document):
    """Paths of this repository that a document names and that are missing."""
    with open(document, encoding="utf-8") as file:
        named = re.findall(r"(?<![\w/])(?:module|uapi|lib|tools|selftests|bench|"
                           r"Documentation)/[\w./*-]*\w", file.read())
    return [f"{document}: {path}" for path in sorted(set(named))
            if not path.startswith("tools/testing/") and
            not glob.glob(path) and not glob.glob(path + ".*")]


def man(path):
    """Return the warnings of groff."""
    return run("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z",
               path)[1]


def page_text(path):
    """Return the lines of a page, as plain text."""
    text = "\n".join(run("man", "-E", "ascii", "-l", path)[0])
    return re.sub(r".\x08", "", text).splitlines()


def options_of(lines):
    """Return the options that begin a line, as --help and pages list them."""
    return {option for line in lines if re.match(r" {2,7}-", line)
            for option in re.findall(r"--[a-z][a-z-]*",
                                     re.split(r" {2,}", line.strip())[0])}


def options(tool):
    """Return options in --help or in the manual page, but not in both."""
    binary = os.path.join(TOOLS, tool)
    if not os.path.exists(binary):
        raise Skip(f"{tool} is not built for this architecture")
    of_help = options_of(lines_of(binary, "--help"))
    of_page = options_of(page_text(f"Documentation/man/{tool}.1"))
    return [f"only in --help: {o}" for o in sorted(of_help - of_page)] + \
        [f"only in the page: {o}" for o in sorted(of_page - of_help)]


def parameters():
    """Return module parameters in the code or in profil(4), but not in both."""
    with open("module/main.c", encoding="utf-8") as file:
        code = set(re.findall(r"MODULE_PARM_DESC\((\w+)", file.read()))
    page = {match.group(1)
            for line in page_text("Documentation/man/profil.4")
            if (match := re.match(r" {7}(\w+)=", line))}
    return [f"not the same: {name}" for name in sorted(code ^ page)]


def requests():
    """Return where the description for syzkaller differs from the header."""
    with open("uapi/linux/profil.h", encoding="utf-8") as file:
        header = file.read()
    with open("packaging/syzkaller/dev_profil.txt", encoding="utf-8") as file:
        text = file.read()
    found = [f"no {name}" for name in re.findall(
                 r"define (PROFIL_(?:IOC_(?!TYPE)|SET_|WATCH_(?!VERSION))\w+)",
                 header) if not re.search(rf"\b{name}\b", text)]
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", header,
                                 re.M | re.S):
        ours = re.search(rf"^{name} \{{\n(.*?)^\}}", text, re.M | re.S)
        members = re.findall(r"(\w+)(?:\[\w+\])?;", body)
        if ours and members != re.findall(r"^\t(\w+)", ours.group(1), re.M):
            found.append(f"other members: struct {name}")
        if not ours and re.search(rf"argument of.*\n(?: \*.*\n)+ \*/\nstruct {name} ",
                                  header):
            found.append(f"no struct {name}")
    return found


def files():
    """Return the paths of the files of the repository."""
    if not os.path.exists(".git"):
        raise Skip("not a clone of the repository")
    return [path for path in lines_of("git", "-c", "safe.directory=*", "ls-files")
            if os.path.isfile(path) and "/corpus/" not in path]


def markers():
    """Return lines with merge conflict markers."""
    paths = files()
    found = [] if paths else ["git lists no file"]
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            found += [f"{path}:{i}" for i, line in enumerate(file, 1)
                      if re.match(r"(<{7}|>{7}|\|{7}) ", line)]
    return found


def spelling():
    """Return the findings of codespell."""
    return lines_of("codespell", "--ignore-words-list", WORDS,
                    *[path for path in files()
                      if not path.startswith("LICENSES/")])


def versions():
    """Return files whose version differs from that in common.mk."""
    places = [("common.mk", r"^VERSION := (\S+)"),
              ("dkms.conf", r'^PACKAGE_VERSION="([^"]+)"'),
              ("module/main.c", r'MODULE_VERSION\("([^"]+)"\)'),
              ("NEWS", r"^Version (\S+)"),
              ("debian/changelog", r"^profil \(([^)-]+)-"),
              ("packaging/profil.spec", r"^Version: +(\S+)"),
              ("packaging/PKGBUILD", r"^pkgver=(\S+)")]
    places += [(page, r'^\.TH \S+ \S+ \S+ "profil ([^"]+)"') for page in PAGES]
    found = {}
    for path, pattern in places:
        with open(path, encoding="utf-8") as file:
            match = re.search(pattern, file.read(), re.M)
        found[path] = match.group(1) if match else "no version"
    wanted = found["common.mk"]
    return [f"{path}: {version}, not {wanted}"
            for path, version in found.items() if version != wanted]


for document in RST:
    check(f"{document} has no warning of docutils", rst, document)
for document in MARKDOWN + RST:
    check(f"links of {document}", links, document)
    check(f"paths in {document}", paths, document)
for page in PAGES:
    check(f"{page} has no warning of groff", man, page)
    check(f"{page} has no warning of mandoc", lines_of, "mandoc", "-Tlint",
          "-Wwarning", page)
for name in ("profil", "prohist"):
    check(f"options of {name}: --help and manual page", options, name)
check("parameters of the module: modinfo and manual page", parameters)
check("requests: syzkaller's description and the header", requests)
check("no merge has left a marker", markers)
check("spelling", spelling)
check("one version", versions)
print(f"1..{number}")
sys.exit(failed)
