#!/usr/bin/env python3
"""counts.py BUILD [--write]: counts instructions of fixed inputs, and fails when one needs 3 % more than it did.

Runs bench/counted of the build folder under callgrind and adds up the instructions of the functions in src/, without the
sandbox and without those of libc, OpenSSL and the simulator: what they execute depends on the CPU. `bench/counts.txt`
holds the figures, instructions a unit (a record; a poll of a shard without records), for one compiler; another compiler
skips. --write puts what was counted there; the commit says why a figure moved."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

SLACK = 1.03
SKIP = 77
ROOM = re.compile(r"/src/(base|codec|host|aws|core|lease|guest|source|store|admin|api)/[a-z0-9_]+\.[ch]$")
here = os.path.dirname(os.path.abspath(__file__))
book = os.path.join(here, "counts.txt")


def own_instructions(path):
    """The instructions executed by functions of the library's rooms, themselves, not what they call."""
    total, counts, skip = 0, False, False
    for line in open(path, encoding="utf-8", errors="replace"):
        if line.startswith("fl="):
            # Only the end of a path is looked at: a compiler's cache may have met the file in another checkout.
            counts = bool(ROOM.search(line))
        elif line.startswith("calls="):
            skip = True  # the next line is what the callee cost
        elif line[0].isdigit():
            if counts and not skip:
                total += int(line.split()[1])
            skip = False
    return total


def count(build):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--compress-strings=no", "--compress-pos=no",
             "--callgrind-out-file=" + out, os.path.join(build, "bench", "counted")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
        if run.returncode:
            sys.exit("counts: bench/counted failed:\n" + run.stdout + run.stderr[-2000:])
        lines = run.stdout.splitlines()
        found = {}
        for i, line in enumerate(lines[1:], 1):
            name, units = line.split()
            dump = "%s.%d" % (out, i)
            if name not in open(dump, encoding="utf-8", errors="replace").read(4096):
                sys.exit("counts: %s is not the dump of %s" % (dump, name))
            instructions = own_instructions(dump)
            if not instructions:
                sys.exit("counts: no instruction of src/ was counted in " + name)
            found[name] = instructions / int(units)
    return lines[0], found


def main():
    build = os.path.abspath(sys.argv[1])
    if not shutil.which("valgrind"):
        print("counts: valgrind is not installed")
        sys.exit(SKIP)
    with open(book, encoding="utf-8") as f:
        lines = [x.strip() for x in f if x.strip() and not x.startswith("#")]
    built_then, known = lines[0], {x.split()[0]: float(x.split()[1]) for x in lines[1:]}
    built = subprocess.run([os.path.join(build, "bench", "counted"), "--built"], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.strip()
    if built != built_then and "--write" not in sys.argv:
        print("counts: the figures are for %s; this is %s" % (built_then, built))
        sys.exit(SKIP)
    with open(os.path.join(build, "bench", "counted"), "rb") as f:
        if b".debug_line" not in f.read():
            print("counts: built without -g, so nobody knows whose an instruction is")
            sys.exit(SKIP)
    built, found = count(build)
    if "--write" in sys.argv:
        head = [x for x in open(book, encoding="utf-8") if x.startswith("#")]
        with open(book, "w", encoding="utf-8") as f:
            f.writelines(head + [built + "\n"] + ["%-14s %10.1f\n" % x for x in found.items()])
    failed = found.keys() != known.keys()
    if failed:
        print("counts: counted %s, and counts.txt has %s" % (sorted(found), sorted(known)))
    for name, now in found.items():
        then = known.get(name, 0)
        more = now > then * SLACK
        failed |= more
        print("%-14s %10.1f instructions a unit, %10.1f in counts.txt%s" % (name, now, then, "  TOO MANY" if more else ""))
    if failed and "--write" not in sys.argv:
        print("Where they are: valgrind --tool=callgrind build/bench/counted, callgrind_annotate. If it has to be so: "
              "python3 bench/counts.py BUILD --write, and the reason in the commit.")
        sys.exit(1)


main()
