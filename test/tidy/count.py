"""Adds up the single tests of one `meson test` run: count.py BUILD-FOLDER [LOG-NAME].

Every test program prints one line a test, "ok  NAME", "FAIL NAME" or "skip NAME: reason". A program that prints
none counts as one test by its exit code (77: skipped). The last line is "N passed, N failed[, N skipped]".
"""

import json
import re
import sys

LINE = re.compile(r"^(ok|FAIL|skip)\s+(\S.*)$")


def count_program(entry):
    """Returns (passed, failed, [skip reasons]) of one test program."""
    passed = failed = 0
    skipped = []
    for line in (entry.get("stdout") or "").splitlines():
        match = LINE.match(line)
        if not match:
            continue
        if match[1] == "ok":
            passed += 1
        elif match[1] == "FAIL":
            failed += 1
        else:
            skipped.append(f"{entry['name']}: {match[2]}")
    bad = entry["result"] not in ("OK", "SKIP", "EXPECTEDFAIL")
    if bad and not failed:  # died or timed out between two tests
        failed += 1
    if not passed + failed + len(skipped):
        if entry["result"] == "SKIP":
            skipped.append(f"{entry['name']}: exit code 77")
        else:
            passed += 1
    return passed, failed, skipped


def count_run(folder, log="testlog"):
    passed = failed = 0
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
    print(f"{passed} passed, {failed} failed" + (f", {len(skipped)} skipped" if skipped else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
