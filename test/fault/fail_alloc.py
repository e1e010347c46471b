"""stream-tail while the n-th allocation of its own fails (fail_nth.c), once and from then on, for n from 1 until a command
makes no more of them. The library is the scripted one: it takes its memory elsewhere, and has oom.c for its own.

Whatever fails: it ends within the limit and by itself, with success or with exit code 1 and a line that says why.

SLOOP_TAIL_SCRIPTED names the program, SLOOP_TEST_FAIL_NTH the library that is preloaded.
"""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "process"))

from command import check, main, run, test, wait_until  # noqa: E402 pylint: disable=wrong-import-position
from terminal import Terminal  # noqa: E402 pylint: disable=wrong-import-position

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
def a_watch_on_a_terminal():
    """Each page is drawn. Whatever fails, the terminal is given back."""
    for onward in ({}, {"FAIL_ONWARD": 1}):
        for n in range(1, POINTS_MAX, 1 if os.environ.get("SLOOP_TEST_FULL") else 7):
            with tempfile.TemporaryDirectory() as folder:
                log = os.path.join(folder, "failed")
                env = {**onward, "LD_PRELOAD": SHIM, "FAIL_CALL": "alloc", "FAIL_NTH": n, "FAIL_LOG": log, "HOME": folder,
                       "FAKE_LEASES": 3, "LC_ALL": "C.UTF-8", "TERM": "xterm"}
                with Terminal([BIN, "--watch=1", "-G", "app", "orders"], env, 120, 30) as t:
                    wait_until(lambda t=t: not t.look() or t.frames or t.process.poll() is not None, what="a frame, or the end")
                    for key in (b"s", b"/s\r", b"\r", b"?", b"w", b"q"):
                        if t.process.poll() is None:
                            t.type(key)
                            t.look(0.02)
                    for _ in range(3):
                        if t.process.poll() is None:
                            t.type(b"\x1b")
                            t.look(0.3)
                            t.type(b"q")
                    status, said = t.finish()
                    check(status in (0, 1), f"n={n}{onward}: status {status}: {said[-500:]}")
                    check(status == 0 or said.startswith("stream-tail: "), f"n={n}{onward}: not a word: {said!r}")
                    t.check_given_back()
                if not os.path.exists(log):
                    break
        check(n > 50, "hardly an allocation was made to fail", n)


@test
def names_for_a_completion():
    for kind in ("shards", "workers", "profiles"):
        play("--propose-names", kind, "-G", "app", "orders", FAKE_LEASES=2, XDG_CACHE_HOME="/dev/null")


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
