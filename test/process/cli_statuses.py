"""The table of exit statuses in man 1, row by row: each row has a play here, which runs commands that end with that status.
And -e, -G, --timeout and -c together. SLOOP_BIN names the program."""

import os
import re
import signal
import socket
import subprocess
import tempfile
import time

from box import BIN, NO_LIMITS, Box
from command import check, end, environment, equal, main, obeys, read_some, run, test, wait_until

PLAYS = {}  # (status, how the row begins) -> function


def play(status, row):
    def add(function):
        PLAYS[status, row] = function
        return test(function)
    return add


def table():
    """[(status, when)] of the manual page."""
    page = run(BIN, "--man").out.decode()
    section = page.split(".SH EXIT STATUS\n")[1].split("\n.SH ")[0]
    return [(int(status), when.replace("\\-", "-")) for status, when in re.findall(r"\.TP\n\.B (\d+)\n(.*)", section)]


@test
def every_row_has_a_play_and_every_play_a_row():
    rows = table()
    check(len(rows) >= 20 and sorted(rows, key=lambda r: r[0]) == rows, rows)
    equal({s for s, _ in rows}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 130})
    for status, when in rows:
        equal(sum(s == status and when.startswith(row) for s, row in PLAYS), 1, "plays of", status, when)
    for status, row in PLAYS:
        equal(sum(s == status and when.startswith(row) for s, when in rows), 1, "rows of", status, row)


class Silence:
    """A server that takes connections and never answers."""

    def __enter__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.env = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1",
                    "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.socket.getsockname()[1]}"}
        return self

    def __exit__(self, *what):
        self.socket.close()

    def tail(self, *args):
        return run(BIN, *args, env=self.env)

    def interrupted(self, *args):
        """(status, what was said) of a command that gets one Ctrl-C."""
        p = subprocess.Popen([BIN, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=environment(self.env))
        try:
            wait_until(lambda: obeys(p))
            time.sleep(0.3)
            p.send_signal(signal.SIGINT)
            _, err = p.communicate(timeout=15)
            return p.returncode, err.decode()
        finally:
            end(p)


def ends_with(status, box, *args, said=None, **more):
    r = box.tail(*args, **more)
    equal(r.code, status, args, r.err)
    check(said is None or said in r.err, args, r.err)
    check(status == 0 or r.err, args, "says nothing")
    return r


# ---- 0 --------------------------------------------------------------------------------------------------


@play(0, "everything was done, or the end was reached: -e, -n, -c, --until, --timeout")
def ends_are_fine():
    with Box(2) as box:
        box.put(20)
        for args in (("-e",), ("-n", "3"), ("-c", "3"), ("--until", "0s"), ("--timeout", "1")):
            begins = () if "-n" in args else ("-o", "oldest")
            r = ends_with(0, box, *begins, *args, "demo")
            equal((len(r.out.splitlines()), r.err), (3 if "3" in args else 20, ""), args)
        for args in (("-L",), ("-L", "demo"), ("--iam", "demo"), ("-h",), ("-V",), ("-X", "list")):
            check(ends_with(0, box, *args).out, args)


@play(0, "the reader of standard output left")
def a_reader_may_leave():
    with Box(1, *NO_LIMITS) as box:
        box.put(400, size=1000)
        p = box.start("-o", "oldest", "demo")
        try:
            read_some(p.stdout.fileno())
            p.stdout.close()
            box.put(200, size=1000)
            equal((p.wait(10), p.stderr.read()), (0, b""))
        finally:
            end(p)


@play(0, "a first Ctrl-C ended the reading of records")
def a_first_ctrl_c_is_fine():
    with Box(1) as box:
        box.put(3)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            p = box.start("-o", "oldest", "demo", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
            try:
                read_some(p.stdout.fileno())
                p.send_signal(number)
                equal(p.wait(10), 0)
                check(b": stopped after 3 records of " in p.stderr.read())
            finally:
                end(p)


# ---- 1 --------------------------------------------------------------------------------------------------


@play(1, "it failed, or could not do everything")
def failures():
    with Box(1) as box:
        box.put(1)
        ends_with(1, box, "-e", "nothing-like-it", said="nothing-like-it")
        ends_with(1, box, "-o", "oldest", "-e", "-s", "gzip", "demo", said="gzip")
        with open("/dev/full", "wb") as full:
            p = box.start("-o", "oldest", "-e", "demo", stdout=full)
            try:
                equal(p.wait(10), 1)
                check(b"cannot write to standard output" in p.stderr.read())
            finally:
                end(p)


@play(1, "--timeout or -m: nothing was answered")
def silence():
    with Silence() as server:
        for args in (("--timeout", "1"), ("-m", "1"), ("-m", "1", "-n", "5"), ("-m", "1", "-p", "key:a")):
            ends_with(1, server, *args, "demo", said="nothing was answered in 1 s")


@play(1, "a change (--migrate, --release, --reset, --deregister) was interrupted")
def interrupted_changes():
    with Silence() as server:
        for args in (("--reset", "0", "--to", "oldest", "-G", "app"), ("--release", "0", "-G", "app"),
                     ("--migrate", "sloop:a", "sloop:b", "--write"), ("--deregister", "reader", "--force")):
            code, said = server.interrupted(*args, "demo")
            equal(code, 1, args, said)
            check("interrupted before the end" in said, args, said)
            ends_with(1, server, *args, "--timeout", "1", "demo")


@play(1, "--leases, --explain, --iam --try: a first Ctrl-C")
def questions_that_are_cut_off():
    with Silence() as server:
        for args, missing in ((("-G", "app", "--leases"), "not all leases are shown"),
                              (("-G", "app", "--leases", "-J"), "not all leases are shown"),
                              (("-G", "app", "--explain", "0"), "nothing is explained"),
                              (("--iam", "--try"), "not all rights were tried")):
            equal(server.interrupted(*args, "demo"), (1, f"stream-tail: interrupted before the end: {missing}\n"), args)


@test
def a_pattern_whose_streams_are_not_listed_yet():
    """What was asked for is not done, whatever it is; only a first Ctrl-C that ends the reading of records is fine."""
    not_listed = (1, "stream-tail: interrupted before the end: the streams were not all listed\n")
    with Silence() as server:
        for args in (("-L",), ("--consumers",), ("--iam", "--try"), ("-G", "app", "--leases"),
                     ("-G", "app", "--leases", "--lag-over", "1h")):
            equal(server.interrupted(*args, "de*"), not_listed, args)
        equal(server.interrupted("de*"), (0, "stream-tail: stopped before the streams were listed\n"))
        equal(server.interrupted("-q", "de*"), (0, ""))


@test
def streams_behind_one_that_fails_are_told_as_missing():
    with Box(1) as box, tempfile.TemporaryDirectory() as folder:
        box.make_stream("other", 1)
        equal(box.tail("-G", "app", "--store", f"sqlite:{folder}/db", "-e", "-o", "oldest", "demo").code, 0)
        leases = ("-G", "app", "--store", f"sqlite:{folder}/db", "--leases")
        for args, line in ((("-L",), "2 of 3 streams were not listed"), (("--consumers",), "2 of 3 streams were not listed"),
                           (leases, "the leases of 2 of 3 streams are not shown")):
            r = box.tail(*args, "demo", "nothing-like-it", "other")
            equal((r.code, f"stream-tail: {line}\n" in r.err), (1, True), args, r.err)
            r = box.tail(*args, "demo", "nothing-like-it")  # the failure names the only one that is missing
            equal((r.code, " of 2 streams" in r.err), (1, False), args, r.err)


@test
def a_first_ctrl_c_is_told_before_anything_was_answered():
    with Silence() as server, tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "place")
        for args, said in (((), "after 0 records; with --save FILE the next start goes on from there"),
                           (("--save", place), f"after 0 records, before a position was known: {place} has none"),
                           (("-G", "app"), "before this worker had joined app"),
                           (("-G", "app", "--store", f"sqlite:{folder}/db"), "before this worker had joined app")):
            equal(server.interrupted(*args, "demo"), (0, f"stream-tail: stopped {said}\n"), args)
            equal(server.interrupted("-q", *args, "demo"), (0, ""), args)


@play(1, "-L, --consumers: a first Ctrl-C or -m ended the listing")
def listings_that_are_cut_off():
    with Silence() as server:
        for stream in ((), ("demo",)):
            equal(server.interrupted("-L", *stream)[0], 1, stream)
            ends_with(1, server, "-L", "-m", "1", *stream)
        code, said = server.interrupted("--consumers", "demo")
        equal((code, said), (1, "stream-tail: interrupted before the end: no list of consumers\n"))
        ends_with(1, server, "--consumers", "-m", "1", "demo")


@play(1, "--lag-over: a stream could not be checked")
def lags_that_can_not_be_checked():
    with Silence() as server:
        lag = ("--leases", "--lag-over", "1h", "-G", "app")
        ends_with(1, server, *lag, "-m", "1", "demo")
        equal(server.interrupted(*lag, "demo")[0], 1)


@play(1, "--iam --try: a call failed, and no right is known to be denied")
def rights_that_are_not_known():
    with Silence() as server:
        ends_with(1, server, "--iam", "--try", "-m", "1", "demo")


@play(1, "-P: a line was read that is neither put nor refused")
def lines_that_are_not_put():
    with Box(1) as box:
        p = subprocess.run([BIN, "-P", "nothing-like-it"], input=b"a\n", capture_output=True, env=environment(box.env), check=False,
                           timeout=30)
        equal(p.returncode, 1, p.stderr)
        ends_with(1, box, "-P", "-l", "demo", "/nonexistent-folder/lines", said="/nonexistent-folder/lines")


# ---- 2 to 9, 130 ----------------------------------------------------------------------------------------


@play(2, "wrong usage")
def wrong_usage():
    with Box(1) as box:
        before = box.calls("DescribeStreamSummary")
        for args in (("--frobnicate", "demo"), (), ("-c", "x", "demo"), ("-J", "-f%s", "demo"), ("--grep", "a(", "demo"),
                     ("-n", "0", "demo"), ("-f", "%q", "demo"), ("-o", "yesterday", "demo"), ("-G", "a", "--save", "f", "demo")):
            equal(ends_with(2, box, *args).out, b"")
        equal(box.calls("DescribeStreamSummary"), before)  # nothing was begun


@play(3, "--fail-on-loss: records were lost")
def losses():
    with tempfile.TemporaryDirectory() as folder, Box(1) as box:
        args = ("--save", os.path.join(folder, "place"), "-o", "oldest", "--fail-on-loss", "demo")
        box.put(5)
        ends_with(0, box, "-c", "2", *args)
        time.sleep(0.1)
        box.admin(f"/_sandbox/trim?stream=demo&before={int(time.time() * 1000) + 1000}")
        ends_with(3, box, *args, said="records were lost")


@play(4, "--release, --reset, --migrate: a live worker owns the lease")
def leases_of_a_living_worker():
    with tempfile.TemporaryDirectory() as folder, Box(1) as box:
        store = ("--store", "sqlite:" + os.path.join(folder, "leases"))
        box.put(1)
        p = box.start("-G", "app", *store, "-o", "oldest", "demo")
        try:
            read_some(p.stdout.fileno())
            ends_with(4, box, "-G", "app", *store, "--release", "0", "demo")
            ends_with(4, box, "-G", "app", *store, "--reset", "0", "--to", "oldest", "demo")
            ends_with(4, box, "--migrate", f"sloop:app@{store[1]}", "token:-", "--write", "demo")
        finally:
            end(p)


@play(4, "--save: another process keeps its position in that file")
def a_place_of_another():
    with tempfile.TemporaryDirectory() as folder, Box(1) as box:
        args = ("--save", os.path.join(folder, "place"), "-o", "oldest", "demo")
        box.put(1)
        p = box.start(*args)
        try:
            read_some(p.stdout.fileno())
            ends_with(4, box, *args, said="another process keeps its position")
        finally:
            end(p)


def with_leases(box, folder):
    """An application that has read the stream, and has no worker now."""
    store = ("--store", "sqlite:" + os.path.join(folder, "leases"))
    box.put(3)
    ends_with(0, box, "-G", "app", *store, "-o", "oldest", "-c", "3", "demo")
    return ("-G", "app", *store)


@play(5, "--explain, --release, --reset: no such shard")
def no_such_shard():
    with tempfile.TemporaryDirectory() as folder, Box(1) as box:
        app = with_leases(box, folder)
        ends_with(5, box, *app, "--explain", "99", "demo")
        ends_with(5, box, *app, "--release", "shardId-000000000099", "demo")
        ends_with(5, box, *app, "--reset", "99", "--to", "oldest", "demo")


@play(6, "--release: no such worker")
def no_such_worker():
    with tempfile.TemporaryDirectory() as folder, Box(1) as box:
        ends_with(6, box, *with_leases(box, folder), "--release", "nobody", "demo")


@play(7, "--lag-over: the lag of a shard is above the limit, or is unknown")
def lags():
    with tempfile.TemporaryDirectory() as folder, Box(1) as box:
        app = with_leases(box, folder)
        box.put(5)
        time.sleep(1.2)
        ends_with(7, box, *app, "--leases", "--lag-over", "1s", "demo")
        ends_with(0, box, *app, "--leases", "--lag-over", "1h", "demo")
        # no worker tells a lag, and no shard is read for it
        ends_with(7, box, *app, "--leases", "--no-read", "--lag-over", "1h", "demo")
        ends_with(1, box, "-G", "nobody", *app[2:], "--leases", "--lag-over", "1h", "demo")


@play(8, "--iam --try: a right is denied")
def denied_rights():
    with Box(1) as box:
        box.admin("/_sandbox/faults", "* ListShards * error AccessDeniedException\n")
        ends_with(8, box, "--iam", "--try", "demo", said="ListShards")


@play(9, "-P: lines were refused, and all others are put")
def refused_lines():
    with Box(1) as box:
        p = subprocess.run([BIN, "-P", "-K:", "demo"], input=b"k:a\n" + b"k" * 300 + b":b\nk:c\n", capture_output=True,
                           env=environment(box.env), check=False, timeout=30)
        equal(p.returncode, 9, p.stderr)
        equal(box.tail("-o", "oldest", "-e", "demo").out, b"a\nc\n")


@play(130, "a second Ctrl-C")
def a_second_ctrl_c():
    with Box(1, *NO_LIMITS) as box:
        box.put(3, size=900000)
        p = box.start("-o", "oldest", "demo")  # nobody reads the rest of the record, for which a first Ctrl-C waits 1.5 s
        try:
            read_some(p.stdout.fileno())
            p.send_signal(signal.SIGINT)
            time.sleep(0.3)
            p.send_signal(signal.SIGINT)
            equal(p.wait(1), 130)
        finally:
            end(p)


# ---- ends together --------------------------------------------------------------------------------------


def numbers(out):
    return [int(line.split()[1]) for line in out.splitlines()]


@test
def whichever_end_comes_first_counts_and_a_worker_hands_on_the_rest():
    """-c 5 of a worker with -e and --timeout: the next one goes on behind these, to the tip, and a third has nothing to do."""
    with tempfile.TemporaryDirectory() as folder, Box(2, *NO_LIMITS) as box:
        app = ("-G", "app", "--store", "sqlite:" + os.path.join(folder, "leases"), "-o", "oldest")
        box.put(100)
        first = ends_with(0, box, *app, "-e", "-c", "5", "--timeout", "20", "demo")
        equal(len(numbers(first.out)), 5)
        check(first.seconds < 15, first.seconds)
        second = ends_with(0, box, *app, "-e", "-c", "500", "--timeout", "20", "demo")
        equal(sorted(numbers(first.out) + numbers(second.out)), list(range(100)))
        check(second.seconds < 15, second.seconds)  # -e, and not --timeout, ended it
        third = ends_with(0, box, *app, "-e", "-c", "1", "--timeout", "20", "demo")
        equal(third.out, b"")
        box.put(10, start=100)
        fourth = ends_with(0, box, *app, "-c", "500", "--timeout", "2", "demo")  # neither a tip nor a count ends this one
        equal(sorted(numbers(fourth.out)), list(range(100, 110)))
        check(fourth.seconds > 2, fourth.seconds)


@test
def two_workers_end_together_when_all_is_read():
    with tempfile.TemporaryDirectory() as folder, Box(4, *NO_LIMITS) as box:
        app = ("-G", "app", "--store", "sqlite:" + os.path.join(folder, "leases"), "-o", "oldest", "-e", "--timeout", "30")
        box.put(400)
        workers = [box.start(*app, "demo") for _ in range(2)]
        try:
            got = [p.communicate(timeout=40) for p in workers]
        finally:
            for p in workers:
                end(p)
        equal([p.returncode for p in workers], [0, 0], got[0][1], got[1][1])
        equal(sorted(numbers(got[0][0]) + numbers(got[1][0])), list(range(400)))


@test
def without_an_application_the_first_end_counts_too():
    with Box(2, *NO_LIMITS) as box:
        box.put(50)
        for args, n, least, most in ((("-e", "-c", "5", "--timeout", "9"), 5, 0, 5), (("-e", "-c", "500", "--timeout", "9"), 50, 0, 5),
                                     (("-c", "500", "--timeout", "2"), 50, 2, 9), (("-c", "50", "--timeout", "9"), 50, 0, 5),
                                     (("-n", "20", "-c", "5"), 5, 0, 5), (("-n", "20", "--timeout", "9"), 20, 0, 6)):
            r = ends_with(0, box, *(() if "-n" in args else ("-o", "oldest")), *args, "demo")
            equal(len(r.out.splitlines()), n, args)
            check(least <= r.took and r.seconds < most, args, r.took, r.seconds)


if __name__ == "__main__":
    main(at_once=4)
