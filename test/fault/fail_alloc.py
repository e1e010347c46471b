"""stream-tail while the n-th allocation of its own fails (fail_nth.c), once and from then on, for n from 1 until a command
makes no more of them. The library is the scripted one: it takes its memory elsewhere, and has oom.c for its own.

Whatever fails: it ends within the limit and by itself, with success or with exit code 1 and a line that says why.

SLOOP_TAIL_SCRIPTED names the program, SLOOP_TEST_FAIL_NTH the library that is preloaded.
"""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "process"))

from command import check, main, run, test  # noqa: E402 pylint: disable=wrong-import-position

BIN, SHIM = os.environ["SLOOP_TAIL_SCRIPTED"], os.environ["SLOOP_TEST_FAIL_NTH"]
with open(BIN, "rb") as program:
    SANITIZED = b"__asan_init" in program.read()  # its realloc() is the sanitizer's
POINTS_MAX = 5000  # more would mean that what it does has no end


def play(*args, **script):
    """Makes every allocation of a command fail in turn."""
    for onward in ({}, {"FAIL_ONWARD": 1}):
        for n in range(1, POINTS_MAX):
            with tempfile.TemporaryDirectory() as folder:
                log = os.path.join(folder, "failed")
                r = run(BIN, *args, env={**script, **onward, "LD_PRELOAD": SHIM, "FAIL_CALL": "alloc", "FAIL_NTH": n,
                                         "FAIL_LOG": log, "HOME": folder})
                if not os.path.exists(log):
                    break
                check(r.code in (0, 1), args, f"n={n}{onward}: exit code {r.code}: {r.err[-500:]}")
                check(r.code == 0 or r.err.startswith("stream-tail: "), args, f"n={n}{onward}: not a word: {r.err!r}")
        check(n > 1, "no allocation was made to fail")
        check(n < POINTS_MAX - 1, "still there are more")


@test
def a_tail():
    play("-e", "-J", "orders", FAKE_RECORDS=3)


@test
def a_tail_of_several_that_keeps_its_place():
    with tempfile.TemporaryDirectory() as folder:
        play("-e", "--save", os.path.join(folder, "place"), "a", "b", FAKE_RECORDS=3)


@test
def a_worker():
    play("-c", "3", "-G", "app", "orders", FAKE_RECORDS=3)


@test
def lists_and_commands_about_leases():
    for args in (("-L",), ("--leases", "-G", "app"), ("--explain", "2", "-G", "app"), ("--release", "one", "-G", "app")):
        play(*args, "orders")


@test
def a_watch_that_fails():
    play("--watch", "-G", "app", "orders", FAKE_ERROR="-5018:fatal")


@test
def children_for_shards():
    """It has not got so far as to start one."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "app.properties")
        with open(path, "w", encoding="ascii") as f:
            f.write("executableName = cat\nstreamName = orders\napplicationName = app\nregionName = us-east-1\n"
                    "AwsCredentialsProvider = DefaultCredentialsProvider\n")
        play("--multilang", path, FAKE_ERROR="-5001:fatal")


if SANITIZED:
    print("skip: a sanitizer's allocator stands before the one that fails")
else:
    main(at_once=2)
