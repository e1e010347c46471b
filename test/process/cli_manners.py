"""stream-tail's manners with a scripted library (fake_sloop.c): what is printed where, exit codes, counting,
back-pressure, signals, closed and slow readers, terminals. SLOOP_TAIL_SCRIPTED names the program."""

import fcntl
import json
import os
import pty
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time

from command import (Watch, check, end, environment, equal, ignored, is_pending, main, obeys, read_some, read_until, run,
                 signals, test, wait_until)

BIN = os.environ["SLOOP_TAIL_SCRIPTED"]
PREFIX = "stream-tail: "


def lines(n, start=0):
    return b"".join(b"record %d\n" % i for i in range(start, start + n))


def one_line(err):
    check(err.startswith(PREFIX) and err.count("\n") == 1 and err.endswith("\n"), "not one line:", repr(err))
    return err[len(PREFIX):-1]


def noted(path):
    with open(path, encoding="ascii") as f:
        return [line.split() for line in f]


def start(*args, env=None, **more):
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    return subprocess.Popen([BIN, *args], stdin=subprocess.DEVNULL, env=environment(env), **more)


@test
def until_the_tip_prints_everything_and_leaves_with_0():
    r = run(BIN, "-e", "orders", env={"FAKE_RECORDS": 25})
    equal((r.code, r.out, r.err), (0, lines(25), ""))


@test
def an_empty_stream_ends_too():
    r = run(BIN, "-e", "orders")
    equal((r.code, r.out, r.err), (0, b"", ""))


@test
def a_count_is_exact():
    for n in (1, 9, 10, 11, 20):
        r = run(BIN, "-c", str(n), "orders", env={"FAKE_RECORDS": 25})
        equal((r.code, r.out, r.err), (0, lines(n), ""), "count", n)


@test
def a_count_acknowledges_only_what_was_printed():
    with tempfile.NamedTemporaryFile() as log:
        r = run(BIN, "-c13", "orders", env={"FAKE_RECORDS": 25, "FAKE_LOG": log.name})
        equal((r.code, r.out), (0, lines(13)))
        equal([x for x in noted(log.name) if x[0] == "done"], [["done", "0", "10"], ["done", "10", "3"]])


@test
def json_lines():
    r = run(BIN, "-eJ", "orders", env={"FAKE_RECORDS": 3, "FAKE_SHARDS": 2})
    equal(r.code, 0)
    got = [json.loads(line) for line in r.out.splitlines()]
    equal(got[1], {"stream": "orders", "shard": "shardId-000000000001", "seq": "49511001", "sub": 0,
                   "ts": 1700000000001, "key": "key", "payload": "record 1"})
    equal(list(got[0]), ["stream", "shard", "seq", "sub", "ts", "key", "payload"])
    r = run(BIN, "-eJ", "orders",
            env={"FAKE_RECORDS": 1, "FAKE_BINARY": 1, "FAKE_RAW": 1, "FAKE_LATE": 1, "FAKE_NOTIME": 1})
    equal(json.loads(r.out), {"stream": "orders", "shard": "shardId-000000000000", "seq": "49511000", "sub": 0,
                              "ts": None, "key": "key", "payload_b64": "/wAB", "late": True, "raw": True})


@test
def formats():
    r = run(BIN, "-e", "-f", r"%t/%p %o %k=%s(%S)%l\n", "orders", env={"FAKE_RECORDS": 2})
    equal(r.out, b"orders/shardId-000000000000 49511000 key=record 0(8)1234\n"
                 b"orders/shardId-000000000000 49511001 key=record 1(8)1234\n")
    r = run(BIN, "-e", "-f", r"%R%s\0", "orders", env={"FAKE_RECORDS": 1})
    equal(r.out, b"\0\0\0\x08record 0\0")


@test
def wrong_usage_is_one_line_and_2():
    for args, part in [((), "which stream?"), (("-f", "%y", "s"), "%y at character 1"), (("-y", "s"), "unknown option -y"),
                       (("-o", "yesterday", "s"), "not a position"), (("-c", "many", "s"), '"many" is not'),
                       (("-X", "nothing=1", "s"), 'unknown setting "nothing"'), (("-X", "poll_ms=77", "s"), "poll_ms is 77"),
                       (("-f", "%s", "-J", "s"), "can't be combined")]:
        r = run(BIN, *args)
        equal((r.code, r.out), (2, b""), args, r.err)
        check(part in one_line(r.err), part, "not in", r.err)


@test
def a_control_character_in_an_argument_stays_on_its_line():
    r = run(BIN, "-c", "a\nb\x1b[31m", "s")
    equal(r.code, 2)
    one_line(r.err)
    check("\x1b" not in r.err)


@test
def help_version_and_settings_go_to_standard_output():
    for args, part in [(("-h",), b"Usage: stream-tail"), (("-V",), b"stream-tail (sloop) 0.0.0-fake\n"),
                       (("-X", "list"), b"buffered_bytes_max"), (("--help", "--nonsense"), b"Usage")]:
        r = run(BIN, *args)
        equal((r.code, r.err), (0, ""), args)
        check(part in r.out, part)


@test
def a_list_of_shards():
    r = run(BIN, "-L", "orders")
    equal((r.code, r.err), (0, ""))
    equal([line.split() for line in r.out.decode().splitlines()][::3], [
        ["SHARD", "STATE", "PARENTS", "SEQ-FROM", "SEQ-TO", "HASH-FROM", "HASH-TO"],
        ["shardId-000000000002", "open", "0,9", "49521", "-", "6", "10"]])
    r = run(BIN, "-LJ", "orders")
    got = [json.loads(line) for line in r.out.splitlines()]
    equal([g["state"] for g in got], ["closed", "open", "open"])
    equal(got[0]["parent"], None)
    r = run(BIN, "-L", "orders", env={"FAKE_ERROR": "-5003"})
    equal((r.code, r.out), (1, b""))
    line = one_line(r.err)
    check("ResourceNotFoundException" in line and "region" in line, line)


@test
def a_fatal_error_is_one_line_that_says_what_to_do_and_1():
    for code, part in [("-5001", "AWS_ACCESS_KEY_ID"), ("-5003", "AWS_REGION"), ("-5012", "ca_bundle"),
                       ("-5014", "-L lists the shards")]:
        r = run(BIN, "orders", env={"FAKE_ERROR": code + ":fatal"})
        equal((r.code, r.out), (1, b""))
        line = one_line(r.err)
        check(part in line, part, "not in", line)
    r = run(BIN, "-q", "orders", env={"FAKE_ERROR": "-5001:fatal"})
    check("UnrecognizedClientException" in one_line(r.err))


@test
def refused_at_first_contact_is_an_end():
    r = run(BIN, "orders", env={"FAKE_ERROR": "-111", "FAKE_RECORDS": 5})  # ECONNREFUSED, which the library would retry
    equal((r.code, r.out), (1, b""))
    check("ECONNREFUSED" in one_line(r.err) and "endpoint" in r.err, r.err)


@test
def a_bad_moment_is_told_at_once_and_counted_at_the_end():
    r = run(BIN, "-e", "orders", env={"FAKE_ERROR": "-5005:x5", "FAKE_RECORDS": 5})
    equal((r.code, r.out), (0, lines(5)))
    first, rest = r.err.splitlines()
    check("EREMOTE" in first, r.err)
    equal(rest, first + " (and 3 more like it)")
    r = run(BIN, "-qe", "orders", env={"FAKE_ERROR": "-5004:x5", "FAKE_RECORDS": 5})
    equal((r.code, r.out, r.err), (0, lines(5), ""))


@test
def silence_at_first_contact_is_not_told_while_it_may_pass():
    r = run(BIN, "-e", "orders", env={"FAKE_ERROR": "-104:x3", "FAKE_RECORDS": 5})
    equal((r.code, r.out, r.err), (0, lines(5), ""))


@test
def a_shard_given_up_is_no_success():
    r = run(BIN, "-e", "orders", env={"FAKE_RECORDS": 5, "FAKE_STOPPED_SHARD": 1})
    equal((r.code, r.out), (1, lines(5)))
    check("shardId-000000000000: given up" in r.err, r.err)


@test
def losses_are_told_and_end_it_when_asked():
    r = run(BIN, "-e", "orders", env={"FAKE_RECORDS": 5, "FAKE_LOSS": 1})
    equal((r.code, r.out), (0, lines(5)))
    check("no longer kept" in one_line(r.err))
    r = run(BIN, "-e", "--fail-on-loss", "orders", env={"FAKE_RECORDS": 5, "FAKE_LOSS": 1})
    equal((r.code, r.out), (3, b""))
    loss, end = r.err.splitlines()
    check("no longer kept" in loss, r.err)
    equal(end, "stream-tail: records were lost (1 time); stopping because of --fail-on-loss")


@test
def timeout_after_the_last_record_is_0_and_before_any_answer_1():
    r = run(BIN, "--timeout=1", "orders", env={"FAKE_RECORDS": 5})
    equal((r.code, r.out, r.err), (0, lines(5), ""))
    check(r.took > 0.9 and r.seconds < 2.5, r.took, r.seconds)
    r = run(BIN, "--timeout=1", "orders", env={"FAKE_ERROR": "-5004:x3"})
    equal((r.code, r.out), (1, b""))
    check("nothing was answered in 1 s; the last error: " in r.err, r.err)


@test
def a_first_signal_stops_with_0():
    for number in (signal.SIGINT, signal.SIGTERM):
        p = start("orders", env={"FAKE_RECORDS": 5})
        try:
            equal(read_some(p.stdout.fileno()), lines(5))
            watch = Watch(p)
            p.send_signal(number)
            equal(watch.wait(), 0)
            check(watch.seconds < 1, watch.seconds)
            said = p.stderr.read().decode().splitlines()
            equal(len(said), 1, said)
            check(re.fullmatch(PREFIX + r"stopped after 5 records of \S+( to \S+)?; with --save FILE the next start goes on from there",
                               said[0]), said)
        finally:
            end(p)


@test
def the_token_is_printed_when_it_is_asked_for():
    """At every end, as the last line of standard error, and with -q as the only one."""
    p = start("-q", "--token", "orders", env={"FAKE_RECORDS": 5})
    try:
        equal(read_some(p.stdout.fileno()), lines(5))
        p.send_signal(signal.SIGINT)
        equal(p.wait(5), 0)
        said = p.stderr.read().decode().splitlines()
        equal(len(said), 1, said)
        equal(json.loads(said[0])["shards"][0]["sequence_number"], "49511004")
    finally:
        end(p)
    r = run(BIN, "-c", "3", "--token", "orders", env={"FAKE_RECORDS": 5})
    equal((r.code, r.out, json.loads(r.err)["shards"][0]["sequence_number"]), (0, lines(3), "49511002"))
    r = run(BIN, "-c", "3", "orders", env={"FAKE_RECORDS": 5})
    equal((r.code, r.out, r.err), (0, lines(3), ""))
    with tempfile.NamedTemporaryFile() as file:
        p = start("-q", "--token", "-c", "3", "orders", env={"FAKE_RECORDS": 5}, stderr=file)
        try:
            equal((p.stdout.read(), p.wait(5)), (lines(3), 0))
        finally:
            end(p)
        r = run(BIN, "-o", "@" + file.name, "-c", "2", "orders", env={"FAKE_RECORDS": 5})
        equal((r.code, r.out), (0, lines(2, 3)), r.err)
    r = run(BIN, "--token", "-G", "app", "orders")
    equal(r.code, 2)
    check("--token can't be combined with -G" in r.err, r.err)


@test
def a_stop_without_a_record_says_so():
    p = start("orders", env={"FAKE_RECORDS": 0})
    try:
        wait_until(lambda: obeys(p))
        p.send_signal(signal.SIGINT)
        equal((p.wait(5), p.stdout.read(), p.stderr.read().decode()),
              (0, b"", PREFIX + "stopped after 0 records; with --save FILE the next start goes on from there\n"))
    finally:
        end(p)


@test
def a_first_signal_is_obeyed_within_two_seconds_when_the_stop_hangs():
    p = start("orders", env={"FAKE_RECORDS": 5, "FAKE_STUCK_STOP": 1})
    try:
        read_some(p.stdout.fileno())
        watch = Watch(p)
        p.send_signal(signal.SIGINT)
        equal(watch.wait(), 0)
        check(watch.seconds < 2, watch.seconds)
    finally:
        end(p)


@test
def a_first_signal_is_obeyed_within_two_seconds_when_the_reader_is_stuck():
    p = start("orders", env={"FAKE_RECORDS": 1000, "FAKE_BYTES": 100000, "FAKE_ENDLESS": 1})
    try:
        read_some(p.stdout.fileno())  # it runs; then nobody reads
        watch = Watch(p)
        p.send_signal(signal.SIGINT)
        equal(watch.wait(), 0)
        check(watch.seconds < 2, watch.seconds)
    finally:
        end(p)


@test
def a_second_signal_leaves_at_once_with_130():
    p = start("orders", env={"FAKE_RECORDS": 5, "FAKE_STUCK_STOP": 1})
    try:
        read_some(p.stdout.fileno())
        p.send_signal(signal.SIGINT)
        wait_until(lambda: not is_pending(p))  # two signals sent at once are one to the kernel
        watch = Watch(p)
        p.send_signal(signal.SIGINT)
        equal(watch.wait(), 130)
        check(watch.seconds < 0.5, watch.seconds)  # the first one alone takes nearly two
    finally:
        end(p)


@test
def a_hangup_hurries_nobody():
    """A service manager may send one behind its SIGTERM, and a terminal that goes away some."""
    term, hup, ctrl_c = signal.SIGTERM, signal.SIGHUP, signal.SIGINT
    stories = (((hup,), 0), ((term, hup), 0), ((hup, hup, hup), 0), ((hup, term), 0), ((hup, ctrl_c, hup), 0),
               ((term, hup, term), 130), ((hup, ctrl_c, term), 130))
    env = {"FAKE_RECORDS": 5, "FAKE_STUCK_STOP": 1}
    started = [(start("orders", env=env, preexec_fn=ignored()), *story) for story in stories]
    try:
        for p, numbers, _ in started:
            read_some(p.stdout.fileno())
            for number in numbers:
                p.send_signal(number)
                wait_until(lambda q=p, n=number: not is_pending(q, n))
        for p, numbers, code in started:
            equal(p.wait(5), code, numbers)
            equal(b"stopped after " in p.stderr.read(), code == 0, numbers)
    finally:
        for p, _, _ in started:
            end(p)


@test
def a_hangup_that_nohup_ignores_ends_nothing():
    """Ctrl-C and SIGTERM are obeyed all the same, also by what a script runs in the background: its shell ignores SIGINT."""
    for number in (signal.SIGTERM, signal.SIGINT):
        p = start("orders", env={"FAKE_RECORDS": 1000, "FAKE_BATCH": 1, "FAKE_SLOW_MS": 5},
                  preexec_fn=ignored(signal.SIGHUP, signal.SIGINT))
        try:
            read_some(p.stdout.fileno())
            check(signals(p.pid, "SigIgn") >> (signal.SIGHUP - 1) & 1, "a hangup is not ignored any more")
            p.send_signal(signal.SIGHUP)
            wait_until(lambda q=p: not is_pending(q, signal.SIGHUP))
            read_until(p.stdout.fileno(), lambda got: got.count(b"\n") >= 100)  # it goes on
            p.send_signal(number)
            equal(p.wait(5), 0)
            check(b"stopped after " in p.stderr.read())
        finally:
            end(p)


@test
def time_in_which_the_process_stood_is_not_counted_on_the_way_out():
    """Ctrl-C, Ctrl-Z, fg: what takes its time to be closed still has it afterwards."""
    for story in ({"FAKE_STUCK_STOP": 1, "FAKE_CLOSE_MS": 300}, {"FAKE_CLOSE_MS": 400}):
        with tempfile.NamedTemporaryFile() as log:
            p = start("orders", env={"FAKE_RECORDS": 5, "FAKE_LOG": log.name, **story})
            try:
                read_some(p.stdout.fileno())
                p.send_signal(signal.SIGINT)
                last = "stop" if "FAKE_STUCK_STOP" in story else "closing"
                wait_until(lambda w=last, f=log.name: any(x[0] == w for x in noted(f)), what=last)
                p.send_signal(signal.SIGSTOP)
                time.sleep(3.5)  # longer than every limit on the way out
                p.send_signal(signal.SIGCONT)
                equal(p.wait(5), 0)
                said = p.stderr.read()
                check(b"stopped after " in said, story, said)
            finally:
                end(p)


STUCK = PREFIX + "a system call does not return; exiting without waiting for it\n"
UNREAD = {"FAKE_LEASES": 4000}  # more than a pipe holds


@test
def what_does_not_close_cuts_no_output_that_is_read_slowly():
    for args, first, last in (
            (("--leases", "-G", "app"), b"SHARD", ["4000 leases: 4000 owned", "2 workers; the furthest is <67m behind"]),
            (("--migrate", "sloop:a", "sloop:b", "--write"), b"shardId-000000000000: ",
             ["shardId-000000003999: after 4951: copied", "4000 copied, 0 were there already"])):
        does_not_close((*args, "orders"), first, last)


def does_not_close(args, first, last):
    env, stuck = {**UNREAD, "FAKE_CLOSE_MS": 3600000}, STUCK
    p, interrupted = start(*args, env=env), start(*args, env=env)
    try:
        for q in (p, interrupted):
            check(read_some(q.stdout.fileno()).startswith(first))
        watch = Watch(interrupted)
        interrupted.send_signal(signal.SIGINT)
        equal(watch.wait(), 0)  # and that is cut, as every other output is
        check(watch.seconds < 3, watch.seconds)
        equal(interrupted.stderr.read().decode(), stuck)
        time.sleep(max(0, watch.begun + 4 - time.monotonic()))  # longer than a closing is waited for
        equal(p.poll(), None)
        got = b""
        while piece := read_some(p.stdout.fileno()):
            got += piece
        equal((p.wait(5), p.stderr.read().decode()), (0, stuck))
        equal(got.decode().splitlines()[-2:], last)
    finally:
        end(p)
        end(interrupted)


@test
def a_watch_that_is_read_slowly_loses_no_line_and_leaves_when_told():
    """Blocks do not pile up: while one is not taken there is no other."""
    for closes, reads in ((True, True), (True, False), (False, False)):
        p = start("--watch=1", "-G", "app", "orders", env={**UNREAD, **({} if closes else {"FAKE_CLOSE_MS": 3600000})})
        try:
            read_some(p.stdout.fileno())
            time.sleep(3)  # some polls long
            watch = Watch(p)
            p.send_signal(signal.SIGINT)
            got = b""
            while reads and (piece := read_some(p.stdout.fileno())):
                got += piece
            equal(watch.wait(), 0)
            check(watch.seconds < 3, watch.seconds)
            equal(p.stderr.read().decode(), "" if closes else STUCK)
            if reads:
                check(got.endswith(b"\n") and got.count(b"  orders for app\n") == 0, got[-300:])  # it is the first's rest
                check(b" shard 3999: " in got or b"3999 " in got, got[-300:])
        finally:
            end(p)


@test
def a_change_that_is_interrupted_before_it_is_done_has_failed():
    for args in (("--release", "one", "-G", "app"), ("--reset", "all", "--to", "oldest", "-G", "app"),
                 ("--migrate", "sloop:a", "sloop:b", "--write"), ("--migrate", "sloop:a", "token:-")):
        p = start(*args, "orders", env={"FAKE_SILENT": 1})
        try:
            wait_until(lambda q=p: obeys(q))
            p.send_signal(signal.SIGTERM)
            equal(p.wait(5), 1, args)
            check(one_line(p.stderr.read().decode()).startswith("interrupted before the end: "), args)
        finally:
            end(p)
    # It is done, but who is to have the token has not got all of it; one who gets all of it in time has no reason to worry.
    for reads in (False, True):
        p = start("--migrate", "sloop:a", "token:-", "--write", "orders", env=UNREAD, stderr=subprocess.DEVNULL)
        try:
            check(read_some(p.stdout.fileno()).startswith(b"-"))
            p.send_signal(signal.SIGINT)
            got = b""
            while reads and (piece := read_some(p.stdout.fileno())):
                got += piece
            equal((p.wait(5), got.endswith(b"-\n")), (0 if reads else 1, reads))
        finally:
            end(p)


@test
def a_slow_reader_stops_the_handing_over():
    with tempfile.NamedTemporaryFile() as log:
        p = start("-e", "orders", env={"FAKE_RECORDS": 200, "FAKE_BYTES": 100000, "FAKE_LOG": log.name})
        try:
            wait_until(lambda: len(noted(log.name)) >= 2, what="two batches")
            time.sleep(0.5)  # nobody reads: more must not come, however long this is
            seen = noted(log.name)
            equal([x[0] for x in seen], ["out", "out"])  # 2 MB are out, none was given back
            got = b""
            while piece := read_some(p.stdout.fileno()):
                got += piece
            equal(p.wait(5), 0)
            equal(len(got), 200 * 100001)
            done = [x for x in noted(log.name) if x[0] == "done"]
            equal(len(done), 20)
            check(all(x[2] == "10" for x in done), done)
        finally:
            end(p)


@test
def an_end_waits_for_a_slow_reader():
    p = start("-c", "15", "orders", env={"FAKE_RECORDS": 100, "FAKE_BYTES": 100000})
    try:
        time.sleep(3)  # longer than every limit on the way out
        equal(p.poll(), None)
        got = b""
        while piece := read_some(p.stdout.fileno()):
            got += piece
        equal((p.wait(5), len(got)), (0, 15 * 100001))
    finally:
        end(p)


@test
def a_reader_that_left_is_no_failure():
    p = start("orders", env={"FAKE_RECORDS": 1000, "FAKE_BYTES": 1000, "FAKE_ENDLESS": 1})
    try:
        read_some(p.stdout.fileno())
        p.stdout.close()
        equal(p.wait(5), 0)
        equal(p.stderr.read(), b"")
    finally:
        end(p)


@test
def what_a_reader_that_left_did_not_get_is_not_acknowledged():
    with tempfile.NamedTemporaryFile() as log:
        p = start("orders", env={"FAKE_RECORDS": 1000, "FAKE_BYTES": 100000, "FAKE_LOG": log.name})
        try:
            read_some(p.stdout.fileno())
            p.stdout.close()
            equal(p.wait(5), 0)
            done = [x for x in noted(log.name) if x[0] == "done"]
            # One record may be out in full before the close: 64 KiB were read, and the pipe holds as many.
            check(done and sum(int(x[2]) for x in done) <= 1, done)
        finally:
            end(p)


@test
def a_full_disk_is_a_failure():
    with open("/dev/full", "wb") as full:
        p = start("-e", "orders", env={"FAKE_RECORDS": 5}, stdout=full)
        try:
            equal(p.wait(5), 1)
            check("standard output" in one_line(p.stderr.read().decode()))
        finally:
            end(p)


def limit_files(n):
    """The shell's ulimit -f: a write beyond it is a signal, SIGXFSZ, for who does not ignore that."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (n, n))


@test
def a_file_at_its_limit_is_a_failure_that_is_told():
    with tempfile.TemporaryDirectory() as folder:
        for args, env in ((("-e", "orders"), {"FAKE_RECORDS": 100, "FAKE_BYTES": 1000}), (("-h",), {}), (("--man",), {})):
            with open(os.path.join(folder, "out"), "wb+") as out:
                p = start(*args, env=env, stdout=out, preexec_fn=limit_files(2000))
                try:
                    equal(p.wait(5), 1, args)
                    said = one_line(p.stderr.read().decode())
                    check("cannot write to standard output: " in said and "file too large" in said.lower(), said)
                    equal(os.path.getsize(out.name), 2000)
                finally:
                    end(p)
            os.unlink(out.name)
        path = os.path.join(folder, "place")
        r = run(BIN, "-e", "--save", path, "orders", env={"FAKE_RECORDS": 5}, preexec_fn=limit_files(100))
        equal(r.code, 1)
        check(f"--save: can't write {path}: File too large" in one_line(r.err), r.err)
        equal(os.listdir(folder), [])  # neither a piece of it nor its lock


@test
def a_closed_standard_output_is_a_failure():
    p = subprocess.Popen(["sh", "-c", '"$0" -e orders >&-', BIN], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         env=environment({"FAKE_RECORDS": 5}))
    try:
        equal(p.wait(5), 1)
        check("standard output" in one_line(p.stderr.read().decode()))
    finally:
        end(p)


@test
def a_file_gets_it_all():
    with tempfile.TemporaryFile() as out:
        p = start("-e", "orders", env={"FAKE_RECORDS": 3000, "FAKE_BATCH": 700}, stdout=out)
        try:
            equal(p.wait(10), 0)
            out.seek(0)
            equal(out.read(), lines(3000))
        finally:
            end(p)


def on_terminal(*args, env):
    """(exit code, what a terminal was sent); standard error goes to a pipe."""
    master, slave = pty.openpty()
    settings = environment(env)
    p = subprocess.Popen([BIN, *args], stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.PIPE, env=settings)
    os.close(slave)
    got = b""
    try:
        while True:
            try:
                piece = read_some(master)
            except OSError:  # EIO: the other side is closed
                break
            if not piece:
                break
            got += piece
        return p.wait(5), got.replace(b"\r\n", b"\n")
    finally:
        end(p)
        os.close(master)


@test
def a_terminal_gets_colours_unless_it_does_not_want_them():
    code, got = on_terminal("-e", "orders", env={"FAKE_RECORDS": 2, "FAKE_SHARDS": 2, "TERM": "xterm"})
    equal(code, 0)
    one, two = got.splitlines()
    check(one.startswith(b"\x1b[") and one.endswith(b"m0\x1b[0m record 0"), one)
    check(two.endswith(b"m1\x1b[0m record 1") and two[:5] != one[:5], two)
    for env in ({"TERM": "dumb"}, {"TERM": ""}, {"TERM": "xterm", "NO_COLOR": "1"}):
        equal(on_terminal("-e", "orders", env={"FAKE_RECORDS": 2, **env}), (0, lines(2)))
    equal(on_terminal("-e", "orders", env={"FAKE_RECORDS": 1, "FAKE_BINARY": 1, "TERM": "dumb"}), (0, b"/wAB\n"))
    code, got = on_terminal("-eJ", "orders", env={"FAKE_RECORDS": 1, "TERM": "xterm"})
    equal(json.loads(got)["payload"], "record 0")


@test
def the_terminal_s_flags_are_put_back():
    import fcntl
    r, w = os.pipe()
    try:
        before = fcntl.fcntl(w, fcntl.F_GETFL)
        p = start("orders", env={"FAKE_RECORDS": 5, "FAKE_STUCK_STOP": 1}, stdout=w)
        try:
            read_some(r)
            p.send_signal(signal.SIGINT)
            wait_until(lambda: not is_pending(p))
            p.send_signal(signal.SIGINT)
            equal(p.wait(5), 130)
            equal(fcntl.fcntl(w, fcntl.F_GETFL), before)
        finally:
            end(p)
    finally:
        os.close(r)
        os.close(w)


@test
def progress_is_a_line_a_second_on_standard_error():
    r = run(BIN, "-v", "--timeout=3", "orders", env={"FAKE_RECORDS": 5})
    equal((r.code, r.out), (0, lines(5)))
    got = r.err.splitlines()
    check(2 <= len([x for x in got if "records/s" in x and "throttles" in x]) <= 4, r.err)
    check(all(x.startswith(PREFIX) for x in got), r.err)
    check("5 records" in got[-1], got[-1])


@test
def a_standard_error_nobody_reads_holds_nothing():
    r, w = os.pipe()
    try:
        os.set_blocking(w, False)
        while True:  # fill the pipe
            try:
                os.write(w, b"x" * 4096)
            except BlockingIOError:
                break
        os.set_blocking(w, True)
        begun = time.monotonic()
        p = subprocess.Popen([BIN, "-v", "-e", "orders"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=w,
                             env=environment({"FAKE_ERROR": "-5005:x5", "FAKE_RECORDS": 5}))
        try:
            equal((p.communicate(timeout=10)[0], p.returncode), (lines(5), 0))
            check(time.monotonic() - begun < 3, time.monotonic() - begun)
        finally:
            end(p)
    finally:
        os.close(r)
        os.close(w)


# ---- several streams ------------------------------------------------------------------------------------------


@test
def several_streams_are_told_apart():
    r = run(BIN, "-eJ", "orders", "dynamodb:users", env={"FAKE_RECORDS": 3})
    equal((r.code, r.err), (0, ""))
    got = [json.loads(line)["stream"] for line in r.out.splitlines()]
    equal(sorted(got), ["dynamodb:users"] * 3 + ["orders"] * 3)
    r = run(BIN, "-e", "a", "b", env={"FAKE_RECORDS": 3})
    equal((r.code, sorted(r.out.splitlines())), (0, sorted(lines(3).splitlines() * 2)))  # data only
    code, got = on_terminal("-e", "a", "b", env={"FAKE_RECORDS": 1, "TERM": "dumb"})
    equal((code, sorted(got.splitlines())), (0, [b"a/0 record 0", b"b/0 record 0"]))
    r = run(BIN, "a", "b", env={"FAKE_ERROR": "-5003:fatal"})
    equal((r.code, r.err.count("\n")), (1, 1), r.err)
    check(r.err.startswith(PREFIX + "a: ") or r.err.startswith(PREFIX + "b: "), r.err)


@test
def a_count_of_several_streams_is_of_all_together():
    r = run(BIN, "-c", "15", "a", "b", env={"FAKE_RECORDS": 10})
    equal((r.code, len(r.out.splitlines())), (0, 15))


# ---- the end of a time ----------------------------------------------------------------------------------------


@test
def until_ends_before_the_first_record_of_that_time():
    # The fake's records are stamped 1700000000000, ...001, and so on.
    for args in (("--until", "1700000000007"), ("-o", "e@1700000000007"), ("--until=1700000000007", "--order=shard")):
        with tempfile.NamedTemporaryFile() as log:
            r = run(BIN, *args, "orders", env={"FAKE_RECORDS": 30, "FAKE_LOG": log.name})
            equal((r.code, r.out, r.err), (0, lines(7), ""), args)
            equal([x for x in noted(log.name) if x[0] == "done"][0], ["done", "0", "7"])  # the rest is not acknowledged
            check(r.seconds < 2, r.seconds)


@test
def until_in_shard_order_waits_for_every_shard():
    # Records go round over three shards; each has to pass.
    with tempfile.NamedTemporaryFile() as log:
        r = run(BIN, "--until", "1700000000006", "--order=shard", "orders",
                env={"FAKE_RECORDS": 30, "FAKE_SHARDS": 3, "FAKE_BATCH": 1, "FAKE_LOG": log.name})
        equal((r.code, r.out, r.err), (0, lines(6), ""))
        equal([x[1] for x in noted(log.name) if x[0] == "pause"], ["0", "1", "2"])  # and that was the end


@test
def until_ends_at_the_tip_of_a_time_that_is_over():
    r = run(BIN, "--until", "1700000000007", "orders", env={"FAKE_RECORDS": 5})
    equal((r.code, r.out, r.err), (0, lines(5), ""))
    check(r.seconds < 2, r.seconds)  # long over: the tip is enough
    now = time.time()
    r = run(BIN, "--until", str(int(now) + 2), "orders", env={"FAKE_RECORDS": 5})
    equal((r.code, r.out, r.err), (0, lines(5), ""))
    check(time.time() >= now + 2, "left before the time was over")


@test
def records_without_a_time_are_not_past_any():
    r = run(BIN, "--until", "1000000000", "orders", env={"FAKE_RECORDS": 5, "FAKE_NOTIME": 1})
    equal((r.code, r.out), (0, lines(5)))


# ---- places ---------------------------------------------------------------------------------------------------


def saved(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def place(token):
    """How many records the fake's token has behind it."""
    return int(token["shards"][0].get("sequence_number", "4951999")[4:]) - 999


@test
def a_place_is_kept_and_gone_on_from():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "place")
        got = b""
        for n, to in ((7, 7), (1, 8), (100, 25)):
            r = run(BIN, "-e", "-c", str(n), "--save", path, "-o", "oldest", "orders", env={"FAKE_RECORDS": 25})
            equal((r.code, r.err), (0, ""))
            got += r.out
            (token,) = saved(path)
            equal((place(token), token["stream_arn"].split("/")[-1]), (to, "orders"))
        equal(got, lines(25))
        equal(os.listdir(folder), ["place"])  # nothing beside it
        r = run(BIN, "-e", "-o", "@" + path, "orders", env={"FAKE_RECORDS": 27})
        equal((r.code, r.out), (0, lines(2, 25)))
        equal(place(saved(path)[0]), 25)  # -o @FILE only reads


@test
def the_place_is_written_while_it_runs():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "place")
        p = start("--save", path, "orders", env={"FAKE_RECORDS": 1000, "FAKE_BATCH": 1, "FAKE_SLOW_MS": 20})
        try:
            got = b""
            for _ in range(2):  # two writes, one after the other
                before = place(saved(path)[0]) if os.path.exists(path) else 0
                wait_until(lambda: os.path.exists(path) and place(saved(path)[0]) > before, what="a place")
            while len(got.splitlines()) < place(saved(path)[0]):
                got += read_some(p.stdout.fileno())
            p.kill()
            p.wait()
            while piece := read_some(p.stdout.fileno()):
                got += piece
            at = place(saved(path)[0])
            check(0 < at <= len(got.splitlines()), at, len(got))
            # Records after the last place written repeat, and nothing is missing.
            r = run(BIN, "-c", "10", "--save", path, "orders", env={"FAKE_RECORDS": 1000})
            equal(r.out, lines(10, at))
        finally:
            end(p)


@test
def interrupted_anywhere_nothing_is_lost_and_nothing_repeats():
    for delay in (0.03, 0.1, 0.25, 0.4):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "place")
            got = b""
            p = start("--save", path, "orders", env={"FAKE_RECORDS": 500, "FAKE_BATCH": 7, "FAKE_SLOW_MS": 2})
            try:
                wait_until(lambda p=p: obeys(p))
                time.sleep(delay)
                watch = Watch(p)
                p.send_signal(signal.SIGINT)
                while piece := read_some(p.stdout.fileno()):
                    got += piece
                equal(watch.wait(), 0)
                check(watch.seconds < 2, watch.seconds)
                if got:
                    said = p.stderr.read().decode()
                    check(re.fullmatch(PREFIX + f"stopped after {len(got.splitlines())} records? of .*; the same command continues "
                                       "from the position in " + re.escape(path) + "\n", said), said)
                    equal(place(saved(path)[0]), len(got.splitlines()))
                r = run(BIN, "-e", "--save", path, "orders", env={"FAKE_RECORDS": 500})
                equal((r.code, got + r.out), (0, lines(500)), delay)
            finally:
                end(p)


@test
def a_reader_that_stopped_reading_gets_each_record_once():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "place")
        size = 50000
        p = start("--save", path, "orders", env={"FAKE_RECORDS": 100, "FAKE_BYTES": size})
        try:
            wait_until(lambda: os.path.exists(path), what="the first place")
            watch = Watch(p)
            p.send_signal(signal.SIGINT)
            equal(watch.wait(), 0)  # nobody has read a byte
            check(watch.seconds < 2, watch.seconds)
            got = b""
            while piece := read_some(p.stdout.fileno()):
                got += piece
            whole = got.count(b"\n")  # what is cut off at the end comes again, whole
            check(0 < len(got) < 100 * size, len(got))
            equal(place(saved(path)[0]), whole)
            r = run(BIN, "-e", "--save", path, "orders", env={"FAKE_RECORDS": 100, "FAKE_BYTES": size})
            numbers = [line.split(b"x")[0] for line in (got[:got.rfind(b"\n") + 1] + r.out).splitlines()]
            equal(numbers, [b"record %d" % i for i in range(100)])
        finally:
            end(p)


@test
def several_streams_share_a_file():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "place")
        r = run(BIN, "-e", "--save", path, "a", "b", env={"FAKE_RECORDS": 5})
        equal((r.code, [t["stream_arn"].split("/")[-1] for t in saved(path)]), (0, ["a", "b"]))
        r = run(BIN, "-e", "--save", path, "b", "a", env={"FAKE_RECORDS": 6})  # in any order
        equal((r.code, r.out, len(saved(path))), (0, lines(1, 5) * 2, 2))
        with open(path, encoding="utf-8") as f:
            before = f.read()
        r = run(BIN, "-e", "--save", path, "a", env={"FAKE_RECORDS": 6})
        equal(r.code, 2)
        check("stream/b, which is not the stream to read" in one_line(r.err), r.err)
        with open(path, encoding="utf-8") as f:
            equal(f.read(), before)
        r = run(BIN, "-e", "--save", path, "a", "c", "b", env={"FAKE_RECORDS": 6})  # c is new
        equal((r.code, r.out), (0, lines(6)))
        r = run(BIN, "-e", "-o", "@" + path, "a", "d", "b", "c", env={"FAKE_RECORDS": 6})
        equal(r.code, 2)
        check("no token of d" in one_line(r.err), r.err)


@test
def a_damaged_or_foreign_place_is_refused_and_stays():
    token = ('{"stream_arn":"arn:aws:kinesis:us-east-1:0:stream/orders","active":[],"shards":[{"shard_id":"s",'
             '"iterator_type":"trim_horizon"}]}')
    for text in ("", "x", "{}", token[:-1], token + token, token.replace("orders", "others"), "\0" * 100):
        with tempfile.NamedTemporaryFile("w+") as f:
            f.write(text)
            f.flush()
            for how in (("--save", f.name), ("-o", "@" + f.name)):
                r = run(BIN, "-e", *how, "orders", env={"FAKE_RECORDS": 5})
                equal((r.code, r.out), (2, b""), how, repr(text))
                check(f.name in one_line(r.err), r.err)
            f.seek(0)
            equal(f.read(), text)
    r = run(BIN, "-o", "@/nonexistent/f", "orders")
    equal(r.code, 2)
    check("/nonexistent/f: /nonexistent is not there" in one_line(r.err), r.err)


@test
def a_place_that_can_t_be_written_is_a_failure():
    r = run(BIN, "-e", "--save", "/nonexistent/f", "orders", env={"FAKE_RECORDS": 5})
    equal((r.code, r.out), (1, b""))  # told before anything is printed
    check("--save: can't write /nonexistent/f: /nonexistent is not there" in one_line(r.err), r.err)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "place")
        p = start("--save", path, "orders", env={"FAKE_RECORDS": 100000, "FAKE_SLOW_MS": 20})
        try:
            wait_until(lambda: os.path.exists(path), what="the first writing")
            os.rename(path, path + ".kept")
            os.mkdir(path)  # from now on it can't be written
            for _ in iter(lambda: p.stdout.read(1 << 12), b""):
                pass
            equal(p.wait(5), 1)
            check("--save: can't write " + path in one_line(p.stderr.read().decode()))
            equal(len(saved(path + ".kept")), 1)
        finally:
            end(p)
        os.rmdir(path)
        p = start("--save", path, "orders", env={"FAKE_RECORDS": 100000, "FAKE_SLOW_MS": 20})
        try:
            wait_until(lambda: os.path.exists(path), what="the first writing")
            os.mkfifo(path + ".pipe")
            os.rename(path + ".pipe", path)
            for _ in iter(lambda: p.stdout.read(1 << 12), b""):
                pass
            equal((p.wait(5), one_line(p.stderr.read().decode())), (1, f"--save: can't write {path}: it is not a file that can be replaced"))
        finally:
            end(p)


@test
def a_place_is_one_process_s_and_nothing_else_is_touched():
    with tempfile.TemporaryDirectory() as folder:
        path, target = os.path.join(folder, "place"), os.path.join(folder, "target")
        for name, text in ((path + ".tmp", "mine"), (target, "target")):
            with open(name, "w", encoding="ascii") as f:
                f.write(text)
        os.symlink("target", os.path.join(folder, ".place.tmp"))
        before = sorted(os.listdir(folder))
        p = start("--save", path, "orders", env={"FAKE_RECORDS": 100000, "FAKE_BATCH": 1, "FAKE_SLOW_MS": 20})
        try:
            wait_until(lambda: os.path.exists(path), what="the first writing")
            os.chmod(path, 0o600)
            for _ in range(3):
                r = run(BIN, "-e", "--save", path, "orders", env={"FAKE_RECORDS": 5})
                equal((r.code, r.out), (4, b""))
                check("another process keeps its position in " + path in one_line(r.err), r.err)
            at = place(saved(path)[0])
            wait_until(lambda: place(saved(path)[0]) > at, what="the next writing")
            p.send_signal(signal.SIGINT)
            out = p.stdout.read()
            equal(p.wait(5), 0)
            equal(place(saved(path)[0]), len(out.splitlines()))
            equal(os.stat(path).st_mode & 0o777, 0o600)
            equal(sorted(os.listdir(folder)), sorted(before + ["place"]))
            for name, text in ((path + ".tmp", "mine"), (target, "target")):
                with open(name, encoding="ascii") as f:
                    equal(f.read(), text)
        finally:
            end(p)
        os.mkfifo(os.path.join(folder, "pipe"))
        for name, code in (("pipe", 2), ("", 1)):
            r = run(BIN, "-e", "--save", os.path.join(folder, name), "orders", env={"FAKE_RECORDS": 5}, limit=5)
            equal((r.code, r.out), (code, b""), r.err)
            check("--save: can't write" in one_line(r.err), r.err)


@test
def a_lock_that_is_cleaned_up_is_made_anew_and_two_never_go_on():
    for env in ({"FAKE_RECORDS": 5}, {"FAKE_RECORDS": 100000, "FAKE_BATCH": 1, "FAKE_SLOW_MS": 20}):  # quiet; busy
        with tempfile.TemporaryDirectory() as folder:
            path, lock = os.path.join(folder, "place"), os.path.join(folder, ".place.lock")
            p = start("--save", path, "orders", env=env)
            other = None
            try:
                wait_until(lambda: os.path.exists(path), what="the first writing")
                os.unlink(lock)
                wait_until(lambda: os.path.exists(lock), 5, "a new lock")
                equal(run(BIN, "--save", path, "orders", env=env).code, 4)
                p.send_signal(signal.SIGSTOP)  # so that another one comes before it can look
                os.unlink(lock)
                other = start("--save", path, "orders", env={"FAKE_RECORDS": 9})
                wait_until(lambda: os.path.exists(lock), what="another's lock")
                p.send_signal(signal.SIGCONT)
                while p.stdout.read(1 << 12):
                    pass
                equal(p.wait(5), 4)
                equal(one_line(p.stderr.read().decode()),
                      f"--save: another process keeps its position in {path}: the lock of this one was removed")
                other.send_signal(signal.SIGINT)
                equal((other.wait(5), os.listdir(folder)), (0, ["place"]))
            finally:
                end(p)
                if other:
                    end(other)


@test
def who_has_our_place_is_told_as_it_is():
    """Somebody wrote the file while our lock was gone; somebody locked it to write it in place, and our lock is there."""
    def write_it(path, lock):
        os.unlink(lock)
        with open(path, "w", encoding="ascii") as f:
            f.write("{}")

    def lock_it(path, _):
        with open(path, "rb") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            kept.append(os.dup(f.fileno()))

    for what, said in ((write_it, "the lock of {} was removed, and another process wrote the file"),
                       (lock_it, "another process keeps its position in {}; give each process its own file")):
        with tempfile.TemporaryDirectory() as folder:
            kept, path = [], os.path.join(folder, "place")
            p = start("--save", path, "orders", env={"FAKE_RECORDS": 100000, "FAKE_BATCH": 1, "FAKE_SLOW_MS": 20})
            reader = threading.Thread(target=p.stdout.read)
            try:
                reader.start()
                wait_until(lambda f=path: os.path.exists(f), what="the first writing")
                p.send_signal(signal.SIGSTOP)
                what(path, os.path.join(folder, ".place.lock"))
                p.send_signal(signal.SIGCONT)
                equal((p.wait(10), one_line(p.stderr.read().decode())), (4, "--save: " + said.format(path)))
            finally:
                end(p)
                reader.join()
                for fd in kept:
                    os.close(fd)


@test
def a_place_that_another_has_taken_is_never_written_again():
    """Not even when the other one is gone by the time that all is printed."""
    env = {"FAKE_RECORDS": 30, "FAKE_BYTES": 1000000}
    for more in ((), ("-c", "1")):  # it finds out while it runs; at its end, for it only waits for its reader by then
        with tempfile.TemporaryDirectory() as folder:
            path, lock = os.path.join(folder, "place"), os.path.join(folder, ".place.lock")
            p = start(*more, "--save", path, "orders", env=env)
            other = None
            try:
                read_some(p.stdout.fileno())  # and from here on nobody reads
                wait_until(lambda m=more: m or os.path.exists(path), what="the first writing")
                p.send_signal(signal.SIGSTOP)
                os.unlink(lock)
                other = start("--save", path, "-o", "oldest", "orders", env={"FAKE_RECORDS": 9})
                wait_until(lambda: os.path.exists(lock), what="another's lock")
                p.send_signal(signal.SIGCONT)
                said = b""
                if not more:
                    said = read_until(p.stderr.fileno(), lambda got: got.endswith(b"\n"))
                    wait_until(lambda other=other: obeys(other), what="it obeys Ctrl-C")
                    other.send_signal(signal.SIGINT)
                    equal(other.wait(5), 0)
                    equal(p.poll(), None)  # its output is not cut
                wait_until(lambda: os.path.exists(path), what="another's place")
                with open(path, "rb") as f:
                    before = f.read()
                while p.stdout.read(1 << 16):
                    pass
                equal(p.wait(5), 4)
                equal(one_line((said + p.stderr.read()).decode()),
                      f"--save: another process keeps its position in {path}: the lock of this one was removed")
                with open(path, "rb") as f:
                    equal(f.read(), before)
            finally:
                end(p)
                if other:
                    end(other)


@test
def one_that_has_lost_its_place_does_not_say_that_it_goes_on_from_there():
    with tempfile.TemporaryDirectory() as folder:
        path, lock = os.path.join(folder, "place"), os.path.join(folder, ".place.lock")
        p = start("--save", path, "orders", env={"FAKE_RECORDS": 30, "FAKE_BYTES": 100000})
        other = None
        try:
            wait_until(lambda: os.path.exists(path), what="the first writing")
            p.send_signal(signal.SIGSTOP)
            os.unlink(lock)
            other = start("--save", path, "orders", env={"FAKE_RECORDS": 9})
            wait_until(lambda: os.path.exists(lock), what="another's lock")
            p.send_signal(signal.SIGCONT)
            said = read_until(p.stderr.fileno(), lambda got: got.endswith(b"\n"))
            p.send_signal(signal.SIGINT)
            equal(p.wait(5), 4)
            check("the lock of this one was removed" in one_line((said + p.stderr.read()).decode()))
        finally:
            end(p)
            if other:
                end(other)


@test
def what_a_place_does_not_know_begins_where_o_says():
    with tempfile.TemporaryDirectory() as folder:
        place_file, other = os.path.join(folder, "place"), os.path.join(folder, "other")
        equal(run(BIN, "-e", "--save", place_file, "a", env={"FAKE_RECORDS": 5}).code, 0)
        equal(run(BIN, "-e", "--save", other, "b", env={"FAKE_RECORDS": 3}).code, 0)
        r = run(BIN, "-e", "--save", place_file, "-o", "@" + other, "-f", r"%t %s\n", "a", "b", env={"FAKE_RECORDS": 6})
        equal((r.code, r.err), (0, ""))
        equal(sorted(r.out.splitlines()), [b"a record 5", b"b record 3", b"b record 4", b"b record 5"])
        r = run(BIN, "-e", "--save", place_file, "-o", "@" + other, "a", "b", "c", env={"FAKE_RECORDS": 6})
        equal(r.code, 2)
        check("no token of c" in one_line(r.err), r.err)


@test
def a_token_is_told_only_when_there_is_one_and_somebody_listens():
    for args, env, said in ((("-q",), {}, b""), (("-q", "--token"), {"FAKE_NOT_YET": 1}, b"stream-tail: --token: no position is known\n")):
        p = start(*args, "orders", env={"FAKE_RECORDS": 5, **env})
        try:
            read_some(p.stdout.fileno())
            p.send_signal(signal.SIGINT)
            equal((p.wait(5), p.stderr.read()), (0, said), args)
        finally:
            end(p)


# ---- lines as kcat prints them --------------------------------------------------------------------------------


@test
def delimiters_keys_and_offsets():
    env = {"FAKE_RECORDS": 2}
    equal(run(BIN, "-eD", ";", "s", env=env).out, b"record 0;record 1;")
    equal(run(BIN, "-e", "-D", r"\x00\n", "s", env=env).out, b"record 0\0\nrecord 1\0\n")
    equal(run(BIN, "-eK:", "s", env=env).out, b"key:record 0\nkey:record 1\n")
    equal(run(BIN, "-eO", "s", env=env).out, b"49511000\trecord 0\n49511001\trecord 1\n")
    equal(run(BIN, "-CeOK", ", ", "s", env=env).out, b"49511000, key, record 0\n49511001, key, record 1\n")
    r = run(BIN, "-e", "-D", r"\q", "s", env=env)
    equal(r.code, 2)
    check("-D" in one_line(r.err), r.err)


@test
def unbuffered_is_the_same_text():
    r = run(BIN, "-eu", "orders", env={"FAKE_RECORDS": 25})
    equal((r.code, r.out), (0, lines(25)))
    with tempfile.NamedTemporaryFile() as log:
        p = start("-u", "--save", log.name + ".place", "orders", env={"FAKE_RECORDS": 300, "FAKE_BYTES": 3000})
        try:
            wait_until(lambda: obeys(p))
            time.sleep(0.3)
            p.send_signal(signal.SIGINT)
            equal(p.wait(5), 0)
            got = b""
            while piece := read_some(p.stdout.fileno()):
                got += piece
            equal(place(saved(log.name + ".place")[0]), got.count(b"\n"))
        finally:
            end(p)
            os.unlink(log.name + ".place")


@test
def colour_is_as_asked():
    r = run(BIN, "-e", "--color=always", "orders", env={"FAKE_RECORDS": 1})
    check(r.out.startswith(b"\x1b[") and r.out.endswith(b"record 0\n"), r.out)
    r = run(BIN, "-e", "--color=always", "orders", env={"FAKE_RECORDS": 1, "FAKE_LATE": 1})
    check(r.out.startswith(b"\x1b[7;"), r.out)
    equal(on_terminal("-e", "--color=never", "orders", env={"FAKE_RECORDS": 1, "TERM": "xterm"}), (0, lines(1)))


@test
def a_change_of_dynamodb_in_json():
    r = run(BIN, "-eJ", "dynamodb:t", env={"FAKE_RECORDS": 2, "FAKE_EVENT": 1})
    got = [json.loads(line) for line in r.out.splitlines()]
    equal(list(got[0]), ["stream", "shard", "seq", "ts", "event", "id", "change"])
    equal(list(got[1]), ["stream", "shard", "seq", "ts", "event", "id", "change", "user"])
    equal(got[1]["change"]["NewImage"], {"id": {"N": "7"}, "name": {"S": "x y"}})
    r = run(BIN, "-eJ", "-s", "ddb-json", "dynamodb:t", env={"FAKE_RECORDS": 1, "FAKE_EVENT": 1})
    equal(json.loads(r.out)["change"], {"Keys": {"id": 7}, "NewImage": {"id": 7, "name": "x y"}})
    r = run(BIN, "-e", "-f", r"%n %k\n", "-s", "key=ddb-json", "dynamodb:t", env={"FAKE_RECORDS": 1, "FAKE_EVENT": 1})
    equal(r.out, b'INSERT {"id":7}\n')


# ---- which records --------------------------------------------------------------------------------------------


@test
def only_what_matches():
    equal(run(BIN, "-e", "--grep", "[13]$", "s", env={"FAKE_RECORDS": 5}).out, b"record 1\nrecord 3\n")
    equal(run(BIN, "-e", "--grepv", "[13]$", "s", env={"FAKE_RECORDS": 5}).out, b"record 0\nrecord 2\nrecord 4\n")
    equal(run(BIN, "-c2", "--grep", "[1357]$", "s", env={"FAKE_RECORDS": 50}).out, b"record 1\nrecord 3\n")
    r = run(BIN, "--grep", "(", "s")
    equal(r.code, 2)
    check('--grep: "("' in one_line(r.err), r.err)


@test
def what_was_left_out_is_acknowledged_too():
    with tempfile.NamedTemporaryFile() as log:
        r = run(BIN, "-e", "--grep", "nothing", "s", env={"FAKE_RECORDS": 20, "FAKE_LOG": log.name})
        equal((r.code, r.out), (0, b""))
        equal([x for x in noted(log.name) if x[0] == "done"], [["done", "0", "10"], ["done", "10", "10"]])


@test
def each_content_once():
    r = run(BIN, "-e", "--unique", "s", env={"FAKE_RECORDS": 9, "FAKE_SAME": 3})
    equal((r.code, r.out), (0, lines(3)))


@test
def what_can_t_be_decoded_ends_it_or_is_told():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "place")
        r = run(BIN, "-e", "-s", "hex", "--save", path, "s", env={"FAKE_RECORDS": 3})
        equal((r.code, r.out), (1, b""))
        line = one_line(r.err)
        check("s shardId-000000000000 49511000: hex: it is not hex" in line and "-E" in line, line)
        equal(place(saved(path)[0]), 0)  # right before it
    r = run(BIN, "-eE", "-s", "hex", "s", env={"FAKE_RECORDS": 3})
    equal((r.code, r.out), (0, lines(3)))


@test
def first_contact_may_be_waited_for():
    r = run(BIN, "-eE", "orders", env={"FAKE_ERROR": "-111:x2", "FAKE_RECORDS": 5})
    equal((r.code, r.out), (0, lines(5)))
    r = run(BIN, "-m1", "-E", "orders", env={"FAKE_ERROR": "-111:x100000"})
    equal((r.code, r.out), (1, b""))
    check("nothing was answered in 1 s; the last error: " in r.err and r.seconds < 3, r.err)
    r = run(BIN, "-m1", "--timeout=2", "orders", env={"FAKE_RECORDS": 5})
    equal((r.code, r.out), (0, lines(5)))


# ---- settings and texts ---------------------------------------------------------------------------------------


@test
def logs_are_shown_by_their_part():
    env = {"FAKE_RECORDS": 1, "FAKE_LOG_LINES": 1}
    equal(run(BIN, "-e", "-d", "order", "s", env=env).err, PREFIX + "order: one line\n")
    equal(run(BIN, "-e", "-d", "shard,order", "s", env=env).err.count("\n"), 2)
    equal(run(BIN, "-e", "-d", "all", "s", env=env).err.count("\n"), 2)
    equal(run(BIN, "-eq", "-d", "all", "s", env=env).err, "")


@test
def metrics_are_told_and_never_disturb():
    with tempfile.NamedTemporaryFile() as log:
        r = run(BIN, "-c5", "--metrics", "127.0.0.1:0", "-X", "cloudwatch_ms=5000", "a", "b", "c",
                env={"FAKE_RECORDS": 5, "FAKE_LOG": log.name})
        idle = PREFIX + "-X cloudwatch_ms has no effect here: no metrics go to CloudWatch\n"
        equal((r.code, r.err), (0, idle + PREFIX + "metrics at http://127.0.0.1:0/metrics\n"))
        said = [line for line in noted(log.name) if line[0].startswith("metrics")]
        equal(said, [["metrics", "0", "5000"], ["metrics-add", "1", "0"], ["metrics-add", "1", "0"]])
    equal(run(BIN, "-eq", "--metrics", "x:1", "s").err, "")
    equal(run(BIN, "-e", "-X", "cloudwatch=Mine", "s").err, "")
    # Trouble with CloudWatch is told by the log, and shown without being asked for.
    env = {"FAKE_RECORDS": 1, "FAKE_METRICS_LOG": 1, "FAKE_LOG_LINES": 1}
    equal(run(BIN, "-e", "s", env=env).err, PREFIX + "metrics: CloudWatch: no\n")
    equal(run(BIN, "-eq", "s", env=env).err, "")


@test
def metrics_that_can_not_be_had():
    for code, status in ((-5011, 2), (-98, 1)):
        r = run(BIN, "-e", "--metrics", "127.0.0.1:1", "s", env={"FAKE_RECORDS": 5, "FAKE_METRICS": code})
        equal((r.code, r.out, one_line(r.err)), (status, b"", "metrics: the library says why"))


@test
def settings_come_from_files_too():
    with tempfile.TemporaryDirectory() as folder:
        conf = os.path.join(folder, "stream-tail.conf")
        with open(conf, "w", encoding="ascii") as f:
            f.write("# ours\njson\ncount = 2\n")
        for how in ({"STREAM_TAIL_CONFIG": conf}, {"XDG_CONFIG_HOME": folder}):
            r = run(BIN, "orders", env={"FAKE_RECORDS": 5, **how})
            equal((r.code, [json.loads(x)["payload"] for x in r.out.splitlines()]), (0, ["record 0", "record 1"]), how)
        os.mkdir(os.path.join(folder, ".config"))
        os.rename(conf, os.path.join(folder, ".config/stream-tail.conf"))
        equal(len(run(BIN, "orders", env={"FAKE_RECORDS": 5, "HOME": folder, "XDG_CONFIG_HOME": ""}).out.splitlines()), 2)
        bad = os.path.join(folder, "bad")
        with open(bad, "w", encoding="ascii") as f:
            f.write("count=2\naltitude=9\n")
        r = run(BIN, "-F", bad, "orders")
        equal(r.code, 2)
        equal(one_line(r.err), bad + ':2: unknown setting "altitude"')
        dump = run(BIN, "-F", bad, "-h")
        equal((dump.code, dump.err), (0, ""))
        dump = run(BIN, "-e", "--grep", "2", "-X", "poll_ms=500", "-X", "dump")
        equal((dump.code, dump.err), (0, ""))
        with open(conf, "wb") as f:
            f.write(dump.out)
        r = run(BIN, "-F", conf, "orders", env={"FAKE_RECORDS": 5})
        equal((r.code, r.out), (0, b"record 2\n"))


@test
def a_file_s_output_gives_way_to_the_command_line_s():
    plain, first = b"record 0\n", {"FAKE_RECORDS": 1}
    with tempfile.TemporaryDirectory() as folder:
        conf = os.path.join(folder, "conf")
        for text, args, want in (("format=%s!\n", ("-J",), b'{"stream"'), ("json\n", ("-f", "%s!"), b"record 0!"),
                                 ("json\n", ("-K:",), b"key:record 0\n"), ("json\n", ("-Z",), plain),
                                 ("format=%k\n", ("-D", ";"), b"record 0;"), ("format=%k\n", ("-Z",), b"key"),
                                 ("key-delimiter=:\noffset\n", ("-f", "%s"), b"record 0"),
                                 ("delimiter=;\nnull\n", ("-J",), b'{"stream"'), ("delimiter=;\n", ("-K:",), b"key:record 0;")):
            with open(conf, "w", encoding="ascii") as f:
                f.write(text)
            r = run(BIN, "-e", "-F", conf, *args, "orders", env=first)
            equal((r.code, r.err, r.out[:len(want)]), (0, "", want), text, args)
            dump = run(BIN, "-F", conf, *args, "-X", "dump")
            with open(conf, "wb") as f:
                f.write(dump.out)
            equal((run(BIN, "-e", "-F", conf, "orders", env=first).out, dump.code), (r.out, 0), text, args)
        with open(conf, "w", encoding="ascii") as f:
            f.write("json\nformat=%s\n")
        equal(run(BIN, "-e", "-F", conf, "orders").code, 2)


@test
def a_dump_holds_only_what_a_file_can():
    dump = run(BIN, "--grep", "a\nquiet", "-K", " ", "-D", "a b", "-X", "dump").out.splitlines()
    equal([x for x in dump if not x.startswith(b"#")], [b"key-delimiter=' '", b"delimiter=a b"])
    equal(len([x for x in dump if b"can't hold" in x]), 1)


@test
def a_dump_holds_no_password():
    for args in (("-b", "https://me:hush@host/"), ("-X", "endpoint=https://me:hush@host/"), ("-X", "sandbox.secret_key=hush")):
        r = run(BIN, *args, "-X", "dump")
        equal((r.code, r.err), (0, ""))
        check(b"hush" not in r.out and b"(secret)" in r.out, args)


@test
def a_help_that_can_t_be_written_is_a_failure():
    with open("/dev/full", "wb") as full:
        p = subprocess.run([BIN, "-h"], stdout=full, stderr=subprocess.PIPE, env=environment(), check=False)
    equal((p.returncode, one_line(p.stderr.decode())), (1, "cannot write to standard output: No space left on device"))


@test
def a_help_whose_reader_has_seen_enough_is_no_failure():
    with tempfile.NamedTemporaryFile(suffix=".properties", mode="w") as file:
        file.write("executableName = true\nstreamName = s\napplicationName = a\nregionName = us-east-1\n"
                   "AwsCredentialsProvider = DefaultCredentialsProvider\n")
        file.flush()
        for args in (("-h",), ("-V",), ("--man",), ("--kcat",), ("-X", "list"), ("-X", "dump"), ("--completion", "zsh"),
                     ("--iam", "orders"), ("--check", file.name)):
            read, write = os.pipe()
            os.close(read)
            with open(write, "wb") as gone:
                p = subprocess.run([BIN, *args], stdout=gone, stderr=subprocess.PIPE, env=environment(), check=False)
            equal((p.returncode, p.stderr), (0, b""), args)


@test
def policies_are_json():
    r = run(BIN, "--iam", "orders", "dynamodb:users")
    statements = json.loads(r.out)["Statement"]
    equal([s["Action"][0] for s in statements],
          ["kinesis:DescribeStreamSummary", "dynamodb:DescribeTable", "dynamodb:DescribeStream"])


@test
def leased_records_say_who_printed_them():
    r = run(BIN, "-c2", "-J", "-G", "app", "orders", env={"FAKE_RECORDS": 5})
    equal(r.code, 0, r.err)
    for line in map(json.loads, r.out.splitlines()):
        equal((line["epoch"], line["worker"]), (7, "me.1"))
    r = run(BIN, "-c1", "-f", "%e %w %s", "-G", "app", "orders", env={"FAKE_RECORDS": 5})
    equal((r.code, r.out, r.err), (0, b"7 me.1 record 0", ""))
    r = run(BIN, "-e", "-f", "%e %w %s", "orders", env={"FAKE_RECORDS": 1})
    equal(r.out, b"0  record 0")


@test
def leases_are_given_up_after_the_last_byte_was_written():
    # The reader takes nothing for a while: until then there is no stop, whose positions would not hold it.
    with tempfile.NamedTemporaryFile() as log:
        p = start("-c", "40", "-G", "app", "orders", env={"FAKE_RECORDS": 1000, "FAKE_BYTES": 20000, "FAKE_LOG": log.name})
        try:
            wait_until(lambda: sum(x[0] == "out" for x in noted(log.name)) >= 2, what="two batches")
            time.sleep(0.5)
            check(not any(x[0] == "stop" for x in noted(log.name)), noted(log.name))
            out = p.stdout.read()
            equal((p.wait(10), len(out.splitlines())), (0, 40))
            events = [x[0] for x in noted(log.name)]
            check(events.index("stop") > max(i for i, e in enumerate(events) if e == "done" ), events)
            equal(sum(int(x[2]) for x in noted(log.name) if x[0] == "done"), 40)
        finally:
            end(p)


@test
def a_leased_tail_takes_longer_to_leave_but_not_for_ever():
    p = start("-G", "app", "orders", env={"FAKE_RECORDS": 1, "FAKE_STUCK_STOP": 1})
    try:
        read_some(p.stdout.fileno())
        watch = Watch(p)
        p.send_signal(signal.SIGINT)
        time.sleep(2.5)
        equal(p.poll(), None)  # a plain tail would have given up
        equal(watch.wait(12), 0)
        check(watch.seconds < 12, watch.seconds)
        check("before the leases were released" in p.stderr.read().decode())
    finally:
        end(p)


@test
def a_lease_table_is_printed():
    r = run(BIN, "--leases", "-G", "app", "orders")
    equal((r.code, r.err), (0, ""))
    lines = r.out.decode().splitlines()
    rows = [x.split() for x in lines[:3]]
    equal([row[:5] for row in rows], [["SHARD", "STATE", "OWNER", "POSITION", "AGE"], ["0", "owned", "two.1", "after", "4951"],
                                      ["1", "owned", "two.1", "after", "4951"]])
    # The rows are three seconds old, and a slow machine adds to that: the lags of 0, 1 and 2 s grow with them, and one by one.
    late = int(rows[1][5][:-1]) - 3
    check(0 <= late < 10, rows)
    lags = [re.fullmatch(r"<(\d+)s", text).group(1) for text in (rows[1][6], rows[2][6], lines[-1].split()[-2])]
    check(3 + late <= int(lags[0]) <= 4 + late and [int(lag) - int(lags[0]) for lag in lags] == [0, 1, 2], rows, lines[-1])
    equal(lines[-2], "3 leases: 3 owned")
    check(re.fullmatch(r"2 workers; the furthest is <\d+s behind", lines[-1]), lines[-1])
    r = run(BIN, "--leases", "-J", "-G", "app", "a", "b")
    got = [json.loads(x) for x in r.out.splitlines()]
    equal([(g["stream"], g.get("shard"), g.get("worker")) for g in got[:5]],
          [("a", f"shardId-00000000000{i}", None) for i in range(3)] + [("a", None, "one.1"), ("a", None, "two.1")])
    equal([g["stream"] for g in got[5:]], ["b"] * 5)


@test
def commands_about_leases_say_what_was_done():
    for args, want in [(("--explain", "2"), "explain shardId-000000000002"), (("--release", "one"), "release one"),
                       (("--release", "0002"), "release shardId-000000000002"), (("--reset", "all", "--to", "oldest"), "2 - all"),
                       (("--reset", "1", "--to", "49.3", "--force"), "force 4 49 shardId-000000000001"),
                       (("--reset", "000001", "--to", "s@5m"), "3 - shardId-000000000001")]:
        r = run(BIN, *args, "-G", "app", "orders")
        says = ": no change was needed\n" if not want.startswith("explain") else \
            " has no lease yet: the next worker that lists the stream creates it\nstream: lists it as open\n"
        equal((r.code, r.out.decode(), r.err), (0, want + says, ""), args)
    r = run(BIN, "--explain", "d-00000000000", "-G", "app", "orders", env={"FAKE_LEASES": 12})
    equal((r.code, r.out.split(b" has no lease")[0]), (0, b"explain d-00000000000"))
    r = run(BIN, "--explain", "0", "-G", "app", "orders", env={"FAKE_LEASES": 12})
    equal((r.code, r.out.split(b" has no lease")[0]), (0, b"explain shardId-000000000000"))


@test
def what_keeps_a_command_from_leases_has_a_status_of_its_own():
    for code, status in ((-5019, 4), (-5014, 5), (-5020, 6), (-5018, 1), (-5002, 1)):
        for of_text in ({}, {"FAKE_ERROR_OF_TEXT": 1}):
            r = run(BIN, "--release", "1", "-G", "app", "orders", env={"FAKE_ERROR": f"{code}:fatal", **of_text})
            equal((r.code, r.out), (status, b""), code)
            check("said so" in one_line(r.err), r.err)
    check("--iam" in r.err, r.err)
    r = run(BIN, "--watch", "-G", "app", "orders", env={"FAKE_ERROR": "-5018:fatal"})
    equal((r.code, r.out), (1, b""))
    one_line(r.err)
    r = run(BIN, "--release", "", "-G", "app", "orders")
    equal(r.code, 2)


@test
def watching_into_a_pipe_is_blocks_of_text():
    p = start("--watch=1", "-G", "app", "orders", env={"FAKE_LEASES": 2})
    try:
        got = read_until(p.stdout.fileno(), lambda got: got.count(b"  orders for app\n") >= 3)
        p.send_signal(signal.SIGTERM)
        equal((p.wait(5), p.stderr.read()), (0, b""))
    finally:
        end(p)
    check(b"\033" not in got and b"2 leases: 2 owned\n" in got, got)
    check(b"1 move in the last minute" in got and b" shard 1: " in got, got)


@test
def lists_of_several_streams():
    r = run(BIN, "-L", "a", "b")
    equal((r.code, [x.split()[0] for x in r.out.splitlines() if x]), (0, [
        x for stream in (b"a", b"b") for x in [stream, b"SHARD"] + [b"shardId-%012d" % i for i in range(3)]]))
    r = run(BIN, "-LJ", "a", "b")
    equal([json.loads(x)["stream"] for x in r.out.splitlines()], ["a"] * 3 + ["b"] * 3)


# ---- what ends a command that prints once ---------------------------------------------------------------------

ONCE = [("-L", "orders"), ("--leases", "-G", "app", "orders")]


@test
def a_list_that_is_never_answered_ends_when_told():
    for args, part in zip(ONCE, ("no list of shards in 1 s", "the lease table or the stream has not answered in 1 s")):
        for limit in ("--timeout=1", "-m1"):
            r = run(BIN, limit, *args, env={"FAKE_SILENT": 1})
            equal((r.code, r.out), (1, b""), args)
            check(part in one_line(r.err) and r.took > 0.9 and r.seconds < 4, r.err)


@test
def a_signal_ends_what_waits_for_a_list_or_measures():
    for args in (*ONCE, ("--bench=60", "orders")):
        p = start(*args, env={"FAKE_SILENT": 1, "FAKE_RECORDS": 100, "FAKE_ENDLESS": 1, "FAKE_SLOW_MS": 10})
        try:
            wait_until(lambda p=p: obeys(p))
            begun = time.monotonic()
            p.send_signal(signal.SIGINT)
            p.wait(5)
            check(time.monotonic() - begun < 3, args)
            check(p.returncode in (0, 1), args, p.returncode)
        finally:
            end(p)


@test
def a_list_nobody_reads_is_no_failure_and_one_nothing_takes_is():
    for args in (*ONCE, ("--bench=1", "orders")):
        read, write = os.pipe()
        os.close(read)
        with open(write, "wb") as gone, open("/dev/full", "wb") as full:
            for out, code in ((gone, 0), (full, 1)):
                p = start(*args, env={"FAKE_RECORDS": 100, "FAKE_ENDLESS": 1, "FAKE_SLOW_MS": 10}, stdout=out)
                try:
                    equal(p.wait(10), code, args)
                    err = p.stderr.read().decode()
                    check(("standard output" in err) == (code == 1), args, err)
                finally:
                    end(p)


@test
def what_stays_undecoded_is_told_from_time_to_time():
    p = start("-E", "-s", "hex", "orders", env={"FAKE_RECORDS": 5})
    try:
        os.set_blocking(p.stderr.fileno(), False)
        told = b""

        def hear():
            nonlocal told
            told += p.stderr.read() or b""
            return b"5 printed as they came" in told

        wait_until(hear)
        check(b"hex: it is not hex" in told, told)
        p.send_signal(signal.SIGTERM)
        equal(p.wait(5), 0)
    finally:
        end(p)


@test
def the_shard_of_a_key_is_found_or_said_why_not():
    r = run(BIN, "-p", "key:x", "orders", env={"FAKE_RECORDS": 5})  # its ranges are 0 to 10
    equal((r.code, r.out), (1, b""))
    check("no shard has this key in its hash-key range" in one_line(r.err), r.err)
    r = run(BIN, "-p", "key:x", "orders", env={"FAKE_ERROR": "-5002:fatal"})
    equal((r.code, r.out), (1, b""))
    check("ListShards: 400" in one_line(r.err), r.err)


@test
def too_much_of_anything_is_refused():
    for args, part in [(["--grep=a"] * 33 + ["s"], "at most 32"), (["-v"] * 1025 + ["s"], "more than 1024 options"),
                       ([f"s{i}" for i in range(65)], "at most 64 streams"), (["-p", "key:x", "a", "b"], "2 are given"),
                       (["--bench", "-p", "key:x", "a"], "--bench"), (["--iam", "-L", "s"], "--iam"),
                       (["--explain", "1", "-L", "-G", "a", "s"], "--explain"),
                       (["-X", "sandbox.clock_offset_ms=x", "-M", "1"], '"x" is not a whole number')]:
        r = run(BIN, *args)
        equal((r.code, r.out), (2, b""), args[:3])
        check(part in one_line(r.err), part, "not in", r.err)
    with tempfile.NamedTemporaryFile() as config:
        config.write(b"quiet\nexit-eof\0\n")
        config.flush()
        r = run(BIN, "-F", config.name, "s")
        equal((r.code, r.out), (2, b""))
        check("a NUL byte" in one_line(r.err), r.err)


main(at_once=3)
