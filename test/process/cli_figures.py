"""The figures that the command tells: sums in CloudWatch, the line of -v, the report of --bench. SLOOP_BIN names the program."""

import json
import re
import signal
import subprocess
import tempfile
import time

import cpu_waits
from box import BIN, NO_LIMITS, Box
from cloud_watch import CloudWatch
from command import check, end, environment, equal, main, run, test, wait_until


def told_at_the_end(box, watch, *args):
    r = run(BIN, "-X", "cloudwatch=Test", *args, env={**box.env, **watch.env})
    return r, watch.sum("RecordsProcessed", args[-1])


@test
def a_command_that_ends_within_the_minute_is_in_cloudwatch():
    with Box(1) as box:
        box.put(30)
        for delay_s in (0, 0.4):
            with CloudWatch(delay_s) as watch:
                r, told = told_at_the_end(box, watch, "-o", "oldest", "-e", "demo")
                equal((r.code, r.err, len(r.out.splitlines()), told), (0, "", 30, 30), delay_s)
        with CloudWatch() as watch:  # what ends it is a failure
            box.put(1)
            r, told = told_at_the_end(box, watch, "-o", "oldest", "-e", "-s", "gzip", "demo")
            equal((r.code, told > 0), (1, True), r.err)


@test
def a_cloudwatch_that_is_silent_delays_no_end_for_long():
    with Box(1) as box, CloudWatch(60) as watch:
        box.put(3)
        r, _ = told_at_the_end(box, watch, "-o", "oldest", "-e", "demo")
        equal((r.code, len(r.out.splitlines())), (0, 3), r.err)
        check(r.seconds < 6, r.seconds)
        p = subprocess.Popen([BIN, "-X", "cloudwatch=Test", "-o", "oldest", "demo"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment({**box.env, **watch.env}))
        try:
            check(p.stdout.readline(), "no record")
            begun = time.monotonic()
            p.send_signal(signal.SIGINT)
            ended = cpu_waits.Ended(p, begun, 30)
            equal(p.returncode, 0)
            check(ended.own < 6, "Ctrl-C", ended.own)
        finally:
            end(p)


@test
def a_stream_that_is_deleted_falsifies_no_figure_of_the_others():
    """Of two streams of a pattern the first is deleted. CloudWatch has each record of the other one once, and the line of -v
    tells the lag of the other one."""
    with Box(1, "-X", "sandbox.change_ms=0") as box, CloudWatch() as watch, tempfile.TemporaryFile("w+") as err:
        for name in ("pay-a", "pay-b"):
            box.make_stream(name, 1)
        p = subprocess.Popen([BIN, "-v", "-X", "cloudwatch=Test", "-X", "cloudwatch_ms=1000", "-X", "streams_ms=1000", "-o",
                              "oldest", "pay-*"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
                             env=environment({**box.env, **watch.env}))

        def said():
            err.seek(0)
            return err.read()

        def sums():
            return [watch.sum("RecordsProcessed", name) for name in ("pay-a", "pay-b")]

        try:
            box.put(10, "pay-a")
            box.put(20, "pay-b")
            wait_until(lambda: sums() == [10, 20], what="30 records in CloudWatch")
            box.call("DeleteStream", StreamName="pay-a")
            wait_until(lambda: "pay-a: the stream was deleted" in said(), what="the end of pay-a")
            behind = len(said())
            box.put(5, "pay-b", start=20)
            wait_until(lambda: sums()[1] >= 25, what="5 records more")
            told = len(watch.told)
            wait_until(lambda: len(watch.told) > told + 12, what="two calls more")
            equal(sums(), [10, 25])
            wait_until(lambda: said()[behind:].count(" shards polled, ") >= 3, what="the lines of three seconds")
            lines = re.findall(r"\d+ shards polled, [^,]*", said()[behind:])
            check(all(line.startswith("1 ") for line in lines), lines)
            equal([line for line in lines[2:] if "not known" in line], [], lines)
            p.send_signal(signal.SIGINT)
            equal(p.wait(15), 0)
            equal(sums(), [10, 25])
        finally:
            end(p)


@test
def a_table_beside_a_pushed_stream_is_polled():
    """retrieval=auto: streams of Kinesis are pushed, those of tables are not."""
    with Box(2) as box, tempfile.TemporaryFile("w+") as err:
        p = subprocess.Popen([BIN, "-v", "-X", "retrieval=auto", "demo", "dynamodb:demo"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=err, env=environment(box.env))

        def lines():
            err.seek(0)
            return re.findall(r": (\d+ shards[^:]*), at the tip", err.read())

        try:
            wait_until(lambda: lines()[-1:] == ["4 shards, 2 of them pushed"], what=f"all are read: {lines()}")
            p.send_signal(signal.SIGINT)
            equal(p.wait(15), 0)
        finally:
            end(p)


@test
def a_bench_measures_no_latency_of_what_was_there_before():
    with Box(1, *NO_LIMITS) as box:
        box.put(30)
        box.admin("/_sandbox/clock", "7000")  # they are seven seconds old
        r = box.tail("--bench=1", "demo")
        total, shard = re.search(r"^total: (\d+) records/s", r.out.decode(), re.M), re.search(r"0: (\d+) records/s", r.out.decode())
        equal((r.code, total[1]), (0, shard[1]), r.out)
        check("latency: not measured" in r.out.decode(), r.out)
        got = json.loads(box.tail("--bench=1", "-J", "demo").out)
        equal((got["by_shard"]["shardId-000000000000"]["records"], set(got["latency_ms"].values()), got["lag_ms"]), (30, {None}, 0))
        check(29 < got["records_per_s"] * got["seconds"] < 31, got)
        r = box.tail("--bench=1", "-J", "-o", "latest", "demo")  # nothing comes, and nothing is known
        got = json.loads(r.out)
        equal((r.code, got["records_per_s"], [got[name] for name in ("lag_ms", "lag_slope_ms_per_s", "cpu_s", "cpu_s_per_gb")]),
              (1, 0, [None] * 4), r.err)


@test
def the_manual_names_every_member_of_json():
    section = run(BIN, "--man").out.decode().split(".SH OUTPUT\n")[1].split("\n.SH ")[0]
    words = set(re.findall(r"\w+", re.sub(r"\\f[A-Z]|\\[-&]", "", section)))
    with Box(2, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        box.put(3)
        store = ("--store", f"sqlite:{folder}/db")

        def named(*args):
            r = box.tail(*args, "-J")
            members = {name for line in r.out.splitlines() for name in json.loads(line)}
            check(members, args, r.err)
            equal(members - words, set(), args)
            return members

        named("-o", "oldest", "-e", "demo")
        named("-L", "demo")
        named("-L")
        worker = box.start("-G", "app", *store, "demo", stdout=subprocess.DEVNULL)
        try:
            leases = ("-G", "app", *store, "--leases", "demo")
            wait_until(lambda: b'"owned"' in box.tail(*leases, "-J").out, what="a lease")
            named(*leases)
            named("--apps", *store)
            equal(box.tail("-G", "app", *store, "--drain", "demo").code, 0)
            check("drain" in named(*leases))
        finally:
            end(worker)
        box.tail("--push", "-c", "1", "-o", "oldest", "demo")
        named("--consumers", "demo")
        named("--iam", "--try", "demo")


main(at_once=2)
