#!/usr/bin/env python3
"""reference.py - the manual page sloop(3), which is made from the header: nothing of the header is missing in it, and groff
renders it without a warning.

usage: reference.py BUILD_DIRECTORY
"""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def names(header):
    """Everything public with a name: functions, errors, statistics, constants, enumerators, struct members."""
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    found = set(re.findall(r"\b(sloop_\w+)\(", code)) - {"sloop_opts_init"}
    found |= {"SLOOP_" + name if name.startswith("E") else name for name in re.findall(r"\bX\((\w+), ", code)}
    found |= set(re.findall(r"\b(SLOOP_[A-Z_]+)\b(?=\s*[,=\n}])", code)) - {"SLOOP_H", "SLOOP_EXTERN", "SLOOP_EMIN_"}
    for body in re.findall(r"struct \{([^#]*?)\} sloop_\w+_t;", code, re.S):
        found |= set(re.findall(r"(\w+)\s*[,;](?![^(]*\))", body))
    return found


def main():
    with open(os.path.join(ROOT, "include", "sloop.h"), encoding="utf-8") as file:
        wanted = names(file.read())
    path = os.path.join(sys.argv[1], "src", "sloop.3")
    with open(path, encoding="utf-8") as file:
        page = re.sub(r"\\f[BR]", " ", file.read())
    missing = sorted(name for name in wanted if not re.search(r"\b" + re.escape(name) + r"\b", page))
    for name in missing:
        print(f"  not in sloop(3): {name}")
    print(f"{'FAIL' if missing or len(wanted) < 150 else 'ok  '} sloop(3) names all {len(wanted)} names of the header")
    failed = bool(missing) or len(wanted) < 150
    if not shutil.which("groff"):
        print("skip sloop(3) renders: groff is not installed")
    else:
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)
        bad = done.returncode or done.stderr
        print(f"{'FAIL' if bad else 'ok  '} groff renders it without a warning\n{done.stderr[:800]}".rstrip())
        failed = failed or bool(bad)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
