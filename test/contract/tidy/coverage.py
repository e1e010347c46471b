"""Which lines of src/ the tests run: coverage.py [OPTION...] [BUILD-FOLDER], build-coverage by default.

Builds with gcc and gcov, runs the suites in SUITES and prints lines, covered lines and percent of each room. It fails
when codec/, core/ or all of src/ is below its share, or when uncovered.txt excuses a line that no source has.

  --list        every uncovered line that nothing excuses, with its text
  --all         the excused ones too, with the reason
  --strict      fails when --list would print a line
  --no-run      counts what earlier runs left in BUILD-FOLDER; new sources are not built
  --suite NAME  runs only this one, may be given again; what earlier runs covered still counts
  --fresh       forgets what earlier runs covered
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SOURCES = os.path.join(ROOT, "src")
EXCUSES = os.path.join(ROOT, "test", "contract", "tidy", "uncovered.txt")
SUITES = ["unit", "vectors", "swarm", "story", "fault", "fuzz", "wire", "process", "guest"]
# Torture would fail the writing of the counts.
NEVER = ["torture", "hostile", "model"]
SHARE = {"codec": 95.0, "core": 95.0, "all": 90.0}


def files_of(folder, suffix):
    """Meson's objects may begin with a dot, which glob passes over."""
    return sorted(os.path.join(where, name) for where, _, names in os.walk(os.path.abspath(folder))
                  for name in names if name.endswith(suffix))


def build_and_run(folder, suites, fresh):
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        # A child that leaves by _exit() would not write down what it counted.
        subprocess.run(["meson", "setup", "-Db_coverage=true", "--buildtype=debug", "-Dc_args=-D_exit=exit",
                        folder, ROOT], check=True, env={**os.environ, "CC": "gcc"}, stdout=subprocess.DEVNULL)
    if fresh:
        for counts in files_of(folder, ".gcda"):
            os.remove(counts)
    subprocess.run(["ninja", "-C", folder, "--quiet", "all", "meson-test-prereq"], check=True)
    names = [word for suite in suites for word in ("--suite", suite)] + [word for suite in NEVER for word in ("--no-suite", suite)]
    run = subprocess.run(["meson", "test", "-C", folder, "--no-rebuild", "--timeout-multiplier", "4",
                          "--print-errorlogs", *names], stdin=subprocess.DEVNULL, check=False)
    return run.returncode == 0


def gcov_of(folder, notes):
    """A file that a killed process half wrote ends gcov: that object alone is left out, and named."""
    run = subprocess.run(["gcov", "--json-format", "--stdout", *notes], cwd=folder, check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if run.returncode and len(notes) > 1:
        return [unit for note in notes for unit in gcov_of(folder, [note])]
    if run.returncode:
        print(f"coverage: gcov can't read what {os.path.relpath(notes[0], folder)} counted", file=sys.stderr)
        return []
    return [json.loads(line) for line in run.stdout.splitlines()]


def gcov(folder):
    """Yields what gcov says of each object, as it comes from JSON."""
    notes = files_of(folder, ".gcno")
    if not notes:
        sys.exit(f"coverage: {folder} was not built with coverage")
    for first in range(0, len(notes), 50):
        yield from gcov_of(folder, notes[first:first + 50])


def count_lines(folder):
    """{file below src/: {line: how often it ran}}; one file may be compiled into many programs."""
    counts = collections.defaultdict(lambda: collections.defaultdict(int))
    for unit in gcov(folder):
        for file in unit["files"]:
            path = os.path.normpath(os.path.join(unit["current_working_directory"], file["file"]))
            if os.path.commonpath([path, SOURCES]) != SOURCES:
                continue
            name = os.path.relpath(path, SOURCES)
            for line in file["lines"]:
                counts[name][line["line_number"]] += line["count"]
    return counts


def read_excuses():
    """Returns {(file, text of the line): reason} and what is wrong with the list; its head tells how it is written."""
    reasons, excuses, wrong = {}, {}, []
    with open(EXCUSES, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            because = re.match(r"because (\w+): (\S.*)$", line)
            excuse = re.match(r"(\w+/\w+\.[ch]) (\w+): (\S.*)$", line)
            if because:
                reasons[because[1]] = because[2]
            elif excuse and excuse[2] in reasons:
                excuses[excuse[1], excuse[3]] = excuse[2]
            else:
                wrong.append(f"uncovered.txt:{number}: neither a reason nor a line with a known reason")
    return excuses, wrong


def text_of(name):
    with open(os.path.join(SOURCES, name), encoding="utf-8") as lines:
        return [line.strip() for line in lines]


def main():
    parse = argparse.ArgumentParser(usage=__doc__)
    parse.add_argument("folder", nargs="?", default=os.path.join(ROOT, "build-coverage"))
    for flag in ("list", "all", "strict", "no-run", "fresh"):
        parse.add_argument(f"--{flag}", action="store_true")
    parse.add_argument("--suite", action="append")
    args = parse.parse_args()
    good = args.no_run or build_and_run(args.folder, args.suite or SUITES, args.fresh)

    counts = count_lines(args.folder)
    excuses, wrong = read_excuses()
    texts = {name: text_of(name) for name in sorted(counts)}
    wrong += [f"uncovered.txt: {name} has no line: {text}" for name, text in excuses
              if text not in texts.get(name, ())]
    rooms = collections.defaultdict(lambda: [0, 0, 0])  # lines, uncovered, of these excused
    bare = 0
    for name, text in texts.items():
        for number, times in sorted(counts[name].items()):
            words = text[number - 1]
            why = None if times else excuses.get((name, words))
            for row in (rooms[name.split("/")[0]], rooms["all"]):
                row[0] += 1
                row[1] += not times
                row[2] += why is not None
            if times:
                continue
            bare += why is None
            if args.all or (args.list and why is None):
                print(f"{name}:{number}: {words}" + (f"   [{why}]" if why else ""))

    print(f"{'room':10} {'lines':>7} {'covered':>8} {'%':>7} {'uncovered':>10} {'excused':>8}")
    for room in sorted(rooms, key=lambda room: (room == "all", room)):
        lines, uncovered, excused = rooms[room]
        share = 100.0 * (lines - uncovered) / lines
        print(f"{room:10} {lines:7} {lines - uncovered:8} {share:7.2f} {uncovered:10} {excused:8}")
        if share < SHARE.get(room, 0):
            wrong.append(f"{room}: {share:.2f} % of the lines are covered, {SHARE[room]:g} % must be")
    if args.strict and bare:
        wrong.append(f"{bare} lines are neither covered nor excused (--list prints them)")
    if not good:
        wrong.append("some tests failed, see above")
    for what in wrong:
        print(f"FAIL {what}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
