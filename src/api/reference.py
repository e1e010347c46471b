#!/usr/bin/env python3
"""reference.py - makes sloop(3) and sloop_admin(3) from the public headers: usage: reference.py VERSION HEADER OUTPUT

The header is the only source: its comments are the texts, its sections the headings. Sections are lines of the form
"---- name ----", and the comment behind one is about the whole section; a comment in front of a declaration describes it; one
behind a member describes the member.
"""

import os
import re
import sys

DATE = "2026-11-22"  # of the last change of the page's form: not of the build, which must be repeatable
PAGES = ("sloop", "sloop_admin")
SECTION = re.compile(r"/\* -+ (.*?) -+ \*/")
COMMENT = re.compile(r"/\*(.*?)\*/", re.S)


def plain(comment):
    """A comment's text as one paragraph a blank line apart, without its stars."""
    lines = [re.sub(r"^\s*\*\s?", "", line).strip() for line in comment.split("\n")]
    return [" ".join(paragraph.split("\n")) for paragraph in "\n".join(lines).strip().split("\n\n")]


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + text if text.startswith((".", "\\(aq")) else text


def paragraphs(texts):
    return [line for text in texts for line in (".PP", roff(text))]


def code(text):
    return [".PP", ".nf", ".RS", *[roff(line) or ".sp" for line in text.strip("\n").split("\n")], ".RE", ".fi"]


def members(body):
    """[(declaration, description)] of a struct or an enum; a group of members may share the comment behind the last."""
    found, at = [], 0
    while at < len(body):
        match = re.compile(r"\s*((?:[^/;,(]|\([^()]*(?:\([^()]*\)[^()]*)*\))+?)\s*([;,]|$|(?=/\*))\s*(/\*.*?\*/)?", re.S).match(body, at)
        if not match or match.end() == at:
            break
        at = match.end()
        name = " ".join(match[1].split())
        if name:
            found.append((name, " ".join(plain(match[3][2:-2])) if match[3] else ""))
    return found


def listed(rows):
    """Members without a word of their own stand with the next one that has some."""
    out, alone = [], True
    for name, text in rows:
        out += [".TP" if alone else ".TQ", "\\fB" + roff(name).removeprefix("\\&") + "\\fR"]
        out += [roff(text)] if text else []
        alone = bool(text)
    return out + ([] if alone else ["\\&"])


def statements(text):
    """Top-level pieces: ("comment", text) and ("code", text with the comments inside it)."""
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        if text.startswith("/*", at):
            end = text.index("*/", at) + 2
            yield "comment", text[at:end]
            at = end
            continue
        if text[at] == "#":
            end = at
            while True:  # with its continuation lines
                end = text.find("\n", end)
                if end < 0 or text[end - 1] != "\\":
                    break
                end += 1
            end = len(text) if end < 0 else end
            yield "macro", text[at:end]
            at = end
            continue
        depth, end = 0, at
        while end < len(text):
            if text.startswith("/*", end):
                end = text.index("*/", end) + 2
                continue
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
            if text[end - 1] == ";" and depth == 0:
                break
        behind = re.compile(r"[ \t]*(/\*.*?\*/)", re.S).match(text, end)
        yield "code", text[at:behind.end() if behind else end]
        at = behind.end() if behind else end


def macro(text, before):
    rows = re.findall(r'X\((\w+),\s*"?([^",)]*)"?,\s*"([^"]*)"\)', text)
    if rows:
        name = re.match(r"#define (\w+)", text)[1]
        prefix = "SLOOP_" if name == "SLOOP_ERRORS" else ""
        return paragraphs(before) + listed((f"{prefix}{row[0]} ({row[1]})", row[2]) for row in rows)
    value = re.match(r"#define (SLOOP_\w+)\s+(\S+)\s*(?:/\*(.*?)\*/)?", text, re.S)
    if value and "(" not in value[1] and value[3]:
        return paragraphs(before) + listed([(f"{value[1]} = {value[2]}", " ".join(plain(value[3])))])
    return []


def declaration(text, before):
    body = re.search(r"\{(.*)\}\s*(\w*)\s*;", text, re.S)
    if not body or "SLOOP_EXTERN" in text or "#define X" in body[1]:
        bare = COMMENT.sub("", text).replace("SLOOP_DEPRECATED ", "").replace("SLOOP_EXTERN ", "")
        behind = [" ".join(plain(c)) for c in COMMENT.findall(text)]
        if body and "#define X" in body[1]:
            return paragraphs(before)
        return code(bare) + paragraphs(before + behind)
    head = re.sub(r" sloop_\w+_s$", "", text[:body.start()].strip())
    opening = re.match(r"\s*/\*(.*?)\*/", body[1], re.S)
    inside = body[1][opening.end():] if opening else body[1]
    about = before + (plain(opening[1]) if opening else [])
    name = f"{head.removeprefix('typedef ').strip()} {body[2]}".strip()
    return [".SS " + roff(name)] + paragraphs(about) + listed(members(inside))


def render(version, name, header):
    intro, rest = header.split("*/", 1)
    first = plain(intro.removeprefix("/*"))[0].split(" Rules that hold")[0]
    out = [f'.TH {name.upper()} 3 {DATE} "sloop {version}" "Library Functions Manual"', ".SH NAME",
           roff(first.strip().rstrip(".").replace(f"{name}.h -", f"{name} -")), ".SH SYNOPSIS", ".nf", f"#include <{name}.h>", ".PP", "cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs sloop libuv)", ".fi",
           ".SH RULES"]
    for line in re.split(r"\s*\n \*  - ", intro.split("here:")[1])[1:]:
        out += [".IP \\(bu 2", roff(" ".join(plain(line)))]
    rest = rest[rest.index('extern "C" {'):rest.rindex("#ifdef __cplusplus")]
    rest = rest[rest.index("#endif"):]
    before, heading, fresh = [], False, False
    for kind, text in statements(rest):
        section = SECTION.match(text)
        if section:
            out += [".SH " + roff(section[1].split(":")[0].upper())]
            before, heading, fresh = [], True, True
        elif kind == "comment" and fresh:
            out += paragraphs(plain(text[2:-2]))
            fresh = False
        elif kind == "comment":
            before = plain(text[2:-2])
        elif heading:
            out += macro(text, before) if kind == "macro" else declaration(text, before)
            before = []
        else:
            before = []
    # A heading already begins a paragraph.
    out = [line for i, line in enumerate(out) if line != ".PP" or not out[i - 1].startswith((".SH", ".SS"))]
    others = [f".BR {page} (3)," for page in PAGES if page != name]
    return "\n".join(out + [".SH SEE ALSO", ".BR stream\\-tail (1),", *others, ".BR sloop (7)"]) + "\n"


def main():
    version, header, output = sys.argv[1:]
    with open(header, encoding="utf-8") as file:
        page = render(version, os.path.basename(header).removesuffix(".h"), file.read())
    with open(output, "w", encoding="utf-8") as file:
        file.write(page)


main()
