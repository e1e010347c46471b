#!/usr/bin/env python3
"""reference.py - the manual pages sloop(3) and sloop_admin(3), which are made from the headers, and sloop(7), which is written
by hand: nothing of a header is missing in its page, every name that sloop(7) uses is in a header, and groff and mandoc read
all of them without a warning.

usage: reference.py BUILD_DIRECTORY
"""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PAGE_7 = os.path.join(ROOT, "src", "api", "sloop.7")
METRICS = os.path.join(ROOT, "src", "api", "metrics_text.c")
SECTIONS_7 = ["NAME", "DESCRIPTION", "WORDS", "ORDER AND DELIVERY", "EMBEDDING", "POSITIONS AND TOKENS", "FLEETS", "FAILURES",
              "CREDENTIALS", "HOSTS", "ENHANCED FAN-OUT", "RIGHTS", "THE LINES OF A CHILD", "METRICS", "SERVICES", "SEE ALSO"]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def report(name, findings):
    for finding in findings:
        print(f"  {finding}")
    print(f"{'FAIL' if findings else 'ok  '} {name}")
    return bool(findings)


def names(header):
    """Everything public with a name: functions, errors, statistics, constants, enumerators, struct members."""
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    found = set(re.findall(r"\b(sloop_\w+)\(", code)) - {"sloop_opts_init"}
    found |= {"SLOOP_" + name if name.startswith("E") else name for name in re.findall(r"\bX\((\w+), ", code)}
    found |= set(re.findall(r"\b(SLOOP_[A-Z_]+)\b(?=\s*[,=\n}])", code)) - {"SLOOP_H", "SLOOP_ADMIN_H", "SLOOP_EXTERN", "SLOOP_DEPRECATED", "SLOOP_EMIN_"}
    for body in re.findall(r"struct \w+ \{([^#]*?)\} sloop_\w+_t;", code, re.S):
        found |= set(re.findall(r"(\w+)\s*[,;](?![^(]*\))", body))
    return found


def check_groups(name, header):
    """Each section begins with a comment of its own, of three lines at most, in front of what it declares."""
    groups = re.findall(r"^/\* -{4} (.*?) -+ \*/\n(/\*(?:.|\n)*?\*/)?\s*(/\*|#|typedef|SLOOP)?", header, re.M)
    bad = [f"{name}.h, {title}: no comment, or a long one" for title, comment, follows in groups
           if not comment or comment.count("\n") > 2 or not follows]
    return report(f"{len(groups)} sections of {name}.h begin with a short comment", bad or ([] if groups else ["there are none"]))


def check_3(name_of_page, path, wanted, least):
    page = re.sub(r"\\f[BR]", " ", read(path))
    few = [] if len(wanted) >= least else ["that is too few: the header was not understood"]
    missing = [f"not in {name_of_page}: {name}" for name in sorted(wanted)
               if not re.search(r"\b" + re.escape(name) + r"\b", page)]
    return report(f"{name_of_page} names all {len(wanted)} names of the header", missing + few)


def check_7(header):
    """Bold words with an underscore, and whatever begins as our names do, are of a header; names of metrics are not."""
    page = read(PAGE_7).replace("\\-", "-")
    used = set(re.findall(r"\b(SLOOP_\w+|sloop_\w+)\b", page))
    for line in re.findall(r"^\.(?:B|BR|RB) (.*)$", page, re.M):
        used |= set(re.findall(r"(?<![\w.])([a-z]+(?:_[a-z]+)+)", line))
    used -= {name for name in used if name.endswith(("_total", "_seconds"))} | {"sloop_sandbox", "sloop_admin", "sloop_static", "SLOOP_0"}
    used -= set(re.findall(r'\{"(sloop_\w+)", "(?:gauge|counter)"', read(METRICS)))
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    bad = [f"not in a header: {name}" for name in sorted(used) if not re.search(rf"\b{name}\b", code)
           and not (name.startswith("SLOOP_E") and f"X({name[6:]}," in code)]
    few = [] if len(used) >= 30 else [f"only {len(used)} names found: the page was not understood"]
    failed = report(f"all {len(used)} names in sloop(7) are of a header", bad + few)
    heads = [line.strip('"') for line in re.findall(r"^\.SH (.*)$", page, re.M)]
    return report("sloop(7) has its sections", [] if heads == SECTIONS_7 else [f"it has {heads}"]) or failed


def check_renders(name, path):
    failed = False
    for tool, argv in (("groff", ["groff", "-man", "-ww", "-Tutf8", path]), ("mandoc", ["mandoc", "-T", "lint", "-W", "warning", path])):
        if not shutil.which(tool):
            print(f"skip {tool} renders {name}: it is not installed")
            continue
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        said = done.stderr + (done.stdout if tool == "mandoc" else "")
        failed |= report(f"{tool} reads {name} without a warning", said.splitlines()[:10] or (["it failed"] if done.returncode else []))
    return failed


def main():
    headers, bad = "", False
    for name, least in (("sloop", 150), ("sloop_admin", 100)):
        header, page = read(os.path.join(ROOT, "include", name + ".h")), os.path.join(sys.argv[1], "src", name + ".3")
        bad |= check_3(f"{name}(3)", page, names(header), least)
        bad |= check_renders(f"{name}(3)", page)
        bad |= check_groups(name, header)
        headers += header
    bad |= check_7(headers)
    bad |= check_renders("sloop(7)", PAGE_7)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
