"""Holds src/lease/PROTOCOL.md, src/guest/GUESTS.md, src/README.md and what .github/ tells contributors to the source,
and keeps documents that nobody has out of it.

All pages: every file in backticks exists, the function or type of `file.c:name` is defined in that very file, every SLP_ name is there.
PROTOCOL.md and GUESTS.md: every SLP_OPERATION_ of lease/schema.h and every kind of guest/guest_operations.h is named in one of
them, every attribute of the native layout in the first and of the others in the second, each with its meaning in a table; every rule of the simulator's judge
is named. Who cites a section of a page (PROTOCOL.md, "Eviction") names one that is there. No comment cites a document
that is not in the tree, a file that is not there, or, at the head of a file,
another name than its own. src/README.md has the rooms and ranks that rooms.py checks.
"""

import functools
import os
import re
import sys

import rooms

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PROTOCOL = "src/lease/PROTOCOL.md"
GUESTS = "src/guest/GUESTS.md"
PAGES = (PROTOCOL, GUESTS, "src/README.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md")
TEXT = (".c", ".h", ".md", ".py", ".pml", ".sh", ".build", ".txt", ".1", ".3", ".7", ".yml")
CITED = ("src", "include", "test", "bench", ".ci", ".github")
# Papers from before the tree stood by itself. A fact about a service or a library names its public source, or the test
# that shows it; "section 6" is fine behind the number of an RFC.
OUTSIDE = re.compile(
    r"\bDESIGN\b|\baws-wire\b|\bfleet-protocol\b|\bseed-systems\b|\bapi-answers\b"
    r"|\b(?!(?:README|PROTOCOL|GUESTS|CHANGELOG|CONTRIBUTING|SECURITY|MODEL|SITUATIONS|SCREENS|PLATFORMS)\.md)[\w-]+\.md\b|\.\./shared|\bissue #?\d+\b"
    r"|protocol's sheet|the sheet\b|\brule \d+\.\d+|(?<!RFC \d{4} )\b[Ss]ection \d+(\.\d+)*\b", re.M)
# The attributes that each has, at least: fewer, and this check does not understand it any more.
LAYOUTS = {"src/store/schema_sloop.c": 15, "src/guest/schema_kcl.c": 15, "src/guest/schema_vmware.c": 6,
           "src/guest/schema_kinsumer.c": 11, "src/guest/schema_motorway.c": 8, "src/guest/schema_kcl_rb.c": 8}
# Each alternative of it has one of these.
OUTSIDE_PARTS = ("DESIGN", "aws-wire", "fleet-protocol", "seed-systems", "api-answers", ".md", "../shared", "issue ",
                 "sheet", "rule ", "ection ")


@functools.cache
def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


@functools.cache
def files(*folders):
    """Every file of text, relative to the root; what a build or a tool left there is not ours, and what
    an older version was stays as it was."""
    found = []
    for folder in folders:
        for where, inside, names in os.walk(os.path.join(ROOT, folder)):
            inside[:] = sorted(d for d in inside if d not in ("__pycache__", "corpus", "node_modules", "abi"))
            for name in sorted(names):
                path = os.path.relpath(os.path.join(where, name), ROOT)
                if name.endswith(TEXT) or name == "run":
                    found.append(path)
    return found


# ---- what the pages name ----------------------------------------------------------------------------------------------

def places_of(name, page):
    """Where `name` may be: as written from the root or src/, or, a bare name, beside the page or in any room."""
    candidates = [name, f"src/{name}", os.path.join(os.path.dirname(page), name)]
    found = [path for path in candidates if os.path.exists(os.path.join(ROOT, path))]
    if not found and "/" not in name:
        found = [path for path in files("src", "test", "bench", "include") if os.path.basename(path) == name]
    return found


def defines(path, function):
    return re.search(rf"^(?!\s|#|typedef|return)[\w\s*]*?\b{function}\((?![^;{{]*;)|^#define {function}\b"
                     rf"|^\}} {function};|^(?:typedef )?struct {function} \{{",
                     read(path), re.M) is not None


def check_names(page, text, words):
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        for name, function in re.findall(r"`([\w./-]+\.(?:c|h|py|pml|txt|md))(?::(\w+))?`", line):
            where = places_of(name, page)
            if not where:
                found.append(f"{page}:{number}: there is no file {name}")
            elif function and not any(defines(path, function) for path in where):
                found.append(f"{page}:{number}: {name} does not define {function}")
        for folder in re.findall(r"`((?:[\w.-]+/)+)`", line):
            if not places_of(folder, page):
                found.append(f"{page}:{number}: there is no folder {folder}")
        for word in re.findall(r"\b(?:SLP|slp)_\w+", line):
            if word not in words:
                found.append(f"{page}:{number}: {word} is nowhere in the source")
    return found


# ---- what the protocol's page must name -------------------------------------------------------------------------------

def operations(schema_h, guest_operations_h):
    """Their names: those of the enum, and those that only other systems' layouts have."""
    body = re.search(r"typedef enum slp_operation_kind \{(.*?)\}", schema_h, re.S)
    guests = re.findall(r"^#define (SLP_GUEST_\w+) SLP_GUEST_KIND", guest_operations_h, re.M)
    return [name for name in re.findall(r"\b(SLP_OPERATION_\w+)", body[1]) + guests if name != "SLP_GUEST_OPERATIONS"]


def attributes(layout_c):
    """Every name that a layout reads, writes or puts under a condition."""
    code = re.sub(r"/\*.*?\*/", "", layout_c, flags=re.S)
    defined = dict(re.findall(r'#define (\w+) ("\w+")', code))
    for macro, name in defined.items():
        code = re.sub(rf"\b{macro}\b", name, code)
    names = set(re.findall(r'\b(?:text|whole|get|set|set_s|set_n|drop|when|there|absent|is_text|is_n'
                           r'|slp_(?:attr_of|attr_text|attr_may_be_text|set_text|set_number|drop|when_text))\([^;"]*?"(\w+)"',
                           code))
    names |= set(re.findall(r'\bslp_row_(?:get|text|int)\(row, SLP_STR\("(\w+)"', code))
    names |= set(re.findall(r'\bslp_row_request_(?:when|change)\(d, "(\w+)"', code))
    names |= set(re.findall(r'slp_table_spec\)\{name, (.*?)\}', code)[0].replace('"', "").split(", ")) - {"NULL", "0"}
    return names


def cells_of(page):
    """The first column of every table: what it tells the meaning of."""
    return " ".join(re.findall(r"^\|([^|]*)\|", page, re.M)) + " ".join(re.findall(r"^One table, keys.*$", page, re.M))


def check_complete(pages):
    """pages: path -> text, of PROTOCOL and GUESTS."""
    found = []
    for name in operations(read("src/lease/schema.h"), read("src/guest/guest_operations.h")):
        if not any(re.search(rf"^\| {name} \|", page, re.M) for page in pages.values()):
            found.append(f"{PROTOCOL}: no row of a table says what {name} is")
    for layout, least in LAYOUTS.items():
        page = GUESTS if layout.startswith("src/guest/") else PROTOCOL
        names = attributes(read(layout))
        if len(names) < least:
            found.append(f"{layout}: only {len(names)} attributes were found: this check does not understand it any more")
        found += [f"{page}: no row of a table says what attribute {name} of {layout} is"
                  for name in sorted(names) if f"`{name}`" not in cells_of(pages[page])]
    for rule in re.findall(r"^\s*HD_([SLP]\d+)_", read("test/swarm/herd_oracle.h"), re.M):
        if not re.search(rf"\b{rule}\b", pages[PROTOCOL]):
            found.append(f"{PROTOCOL}: rule {rule} of the judge is not named")
    return found


# ---- who cites what ---------------------------------------------------------------------------------------------------

def check_citations(path, text, sections):
    """sections: of each page by its name, such as "PROTOCOL.md"."""
    plain = re.sub(r"\n[ \t]*(?:\*|#|//)?[ \t]*", " ", text)
    return [f'{path}: {page} has no section "{title}"'
            for page, titles in sections.items()
            for title in re.findall(rf'{re.escape(page)}`?, "([^"]+)"', plain) if title not in titles]


@functools.cache
def names():
    return {os.path.basename(path) for path in files("src", "test", "bench", "include")}


def check_files(path, text):
    """lease/gone.c or gone.c in a comment, or `/* old_name.c - ` over a file that has another name now."""
    found = []
    head = re.match(r"/\* ([\w./]+\.[ch]) - ", text)
    if head and os.path.basename(head[1]) != os.path.basename(path):
        return [f"{path}: its first line says that it is {head[1]}"]
    for comment in re.finditer(r"/\*.*?\*/|//[^\n]*", text, re.S) if path.endswith((".c", ".h")) else []:
        for match in re.finditer(r"(?<![\w<./*])((?:\w+/)*)([a-z_0-9]{2,}\.[ch])\b(?![\w(])", comment[0]):
            room = match[1].rstrip("/")
            if room and room not in rooms.RANK:  # of another library, or written from the root
                continue
            is_there = os.path.exists(os.path.join(ROOT, "src", match[0])) if room else match[2] in names()
            if not is_there and not os.path.exists(os.path.join(ROOT, os.path.dirname(path), match[0])):
                found.append(f"{path}:{text.count(chr(10), 0, comment.start() + match.start()) + 1}: there is no {match[0]}")
    return found


def check_rooms(readme):
    told = {room: int(rank) for rank, room in re.findall(r"^\| (\d) \| `(\w+)/` \|", readme, re.M)}
    return [f"src/README.md: {room}/ has rank {rooms.RANK.get(room)}, and {told.get(room)} is told"
            for room in sorted(set(told) | set(rooms.RANK)) if told.get(room) != rooms.RANK.get(room)]


def check_outside(path, text):
    if not any(part in text for part in OUTSIDE_PARTS):  # ten times as fast as the expression
        return []
    return [f"{path}:{text.count(chr(10), 0, match.start()) + 1}: cites what is not in the tree: {match[0]}"
            for match in OUTSIDE.finditer(text)]


SELF_TEST = [  # text, must it be found?
    ("/* See DESIGN section 4. */", True),
    ("/* (aws-wire 7.1) */", True),
    ("/* rule 2.1 */", True),
    ("/* the table of section 3 of the protocol */", True),
    ("# see ../shared/reference/style.md", True),
    ("/* issue 10 */", True),
    ("measured: see performance.md", True),
    ("bench/README.md has the figures", False),
    ("/* RFC 9110 section 5.6.7 */", False),
    ('there(&p, "is no section [sso-session]");', False),
    ("/* API_GetRecords.html: at most 10,000 */", False),
    ("the design of this", False),
]


def self_test():
    wrong = [text for text, must in SELF_TEST if bool(check_outside("x", text)) != must]
    wrong += [text for text in ('PROTOCOL.md,\n * "Evictions"',) if not check_citations("x", text, {"PROTOCOL.md": {"Eviction"}})]
    wrong += [f"file {name}" for name in ("nowhere.c", "lease/nowhere.c") if places_of(name, PROTOCOL)]
    wrong += [f"function {name}" for name, is_there in (("slp_write_send", 1), ("slp_write_sent", 0), ("slp_worker_trouble", 0))
              if defines("src/lease/write.c", name) != bool(is_there)]
    wrong += [text for text, must in (("/* x.c - of another name */", 1), ("/* y.c - its own */", 0), ("/* see lease/nowhere.c */", 1),
                                      ("/* see lease/write.c */", 0)) if bool(check_files("src/lease/y.c", text)) != bool(must)]
    wrong += [f"rank {line}" for line in ("| 3 | `lease/` | x |",) if not check_rooms(line)]
    return [f"self-test: judged wrongly: {text}" for text in wrong]


def report(name, findings):
    for finding in findings:
        print(f"  {finding}")
    print(f"{'FAIL' if findings else 'ok  '} {name}")
    return bool(findings)


def main():
    me = os.path.relpath(os.path.abspath(__file__), ROOT)
    pages = {path: read(path) for path in (PROTOCOL, GUESTS)}
    sections = {os.path.basename(path): set(re.findall(r"^#+ (.*?)(?: \(.*\))?$", page, re.M))
                for path, page in pages.items()}
    all_text = {path: read(path) for path in files(*CITED) if path != me}
    all_text.update((path, read(path)) for path in ("README.md", "meson.build", "meson_options.txt"))
    words = set(re.findall(r"\b\w+\b", "\n".join(text for path, text in all_text.items() if path not in PAGES)))
    bad = report("the checker finds what it must and nothing else", self_test())
    bad |= report("files and functions that the pages name", sum((check_names(p, read(p), words) for p in PAGES), []))
    bad |= report("operations, attributes and rules are on the pages", check_complete(pages))
    bad |= report("sections that are cited are there",
                  sum((check_citations(path, text, sections) for path, text in all_text.items()), []))
    bad |= report("src/README.md has the rooms and their ranks", check_rooms(read("src/README.md")))
    bad |= report("files that comments name are there",
                  sum((check_files(path, text) for path, text in all_text.items()), []))
    bad |= report("nothing cites a document outside the tree",
                  sum((check_outside(path, text) for path, text in all_text.items()), []))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
