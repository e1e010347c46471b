"""Adds up the single tests of one `meson test` run: count.py BUILD-FOLDER [LOG-NAME].

Every test program prints one line a test, "ok  NAME", "FAIL NAME" or "skip NAME: reason". A program that prints
none counts as one test by its exit code (77: skipped). The last line is "N passed, N failed[, N skipped]".
"""

import json
import re
import sys

LINE = re.compile(r"^(ok|FAIL|skip)\s+(\S.*)$")


def what_it_said(entry, before=12, after=6, most=30):
    """The lines before each failure: the lines around it as far as the next single test, and the end of stderr."""
    said = (entry.get("stdout") or "").splitlines()
    around = set()
    for at in [i for i, line in enumerate(said) if line.startswith("FAIL")] or [len(said)]:
        first, last = at, at + 1
        while first > max(0, at - before) and not LINE.match(said[first - 1]):
            first -= 1
        while last < min(len(said), at + 1 + after) and not LINE.match(said[last]):
            last += 1
        around.update(range(first, min(last, len(said))))
    told = [said[i] for i in sorted(around)]
    if len(told) > most:
        told = told[:most] + [f"... and {len(told) - most} lines more"]
    return [line for line in told + (entry.get("stderr") or "").splitlines()[-10:] if line.strip()]


def count_program(entry):
    """Returns (passed, [what failed, and the lines about it], [skip reasons]) of one test program."""
    passed = 0
    failed = []
    skipped = []
    for line in (entry.get("stdout") or "").splitlines():
        match = LINE.match(line)
        if not match:
            continue
        if match[1] == "ok":
            passed += 1
        elif match[1] == "FAIL":
            failed.append(f"{entry['name']}: {match[2]}")
        else:
            skipped.append(f"{entry['name']}: {match[2]}")
    bad = entry["result"] not in ("OK", "SKIP", "EXPECTEDFAIL")
    if bad and not failed:  # died or timed out between two tests
        failed.append(f"{entry['name']}: {entry['result']}, exit code {entry.get('returncode')}")
    if not passed and not failed and not skipped:
        if entry["result"] == "SKIP":
            skipped.append(f"{entry['name']}: exit code 77")
        else:
            passed += 1
    if failed:
        failed[-1] = "\n     ".join([failed[-1]] + [line[:400] for line in what_it_said(entry)])
    return passed, failed, skipped


def count_run(folder, log="testlog"):
    passed = 0
    failed = []
    skipped = []
    with open(f"{folder}/meson-logs/{log}.json", encoding="utf-8") as lines:
        for line in lines:
            p, f, s = count_program(json.loads(line))
            passed, failed, skipped = passed + p, failed + f, skipped + s
    return passed, failed, skipped


def main():
    passed, failed, skipped = count_run(*sys.argv[1:])
    for reason in skipped:
        print(f"skipped {reason}")
    for what in failed:
        print(f"failed {what}")
    print(f"{passed} passed, {len(failed)} failed" + (f", {len(skipped)} skipped" if skipped else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
