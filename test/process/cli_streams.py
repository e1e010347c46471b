"""stream-tail -L without STREAM, and what is suggested for a stream that does not exist. boto3 says which streams there are."""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import tempfile
import termios

from box import BIN, Box
from command import check, end, environment, equal, main, obeys, test, wait_until


def listed(box, *args):
    r = box.tail("-L", "-J", *args)
    return r.code, [json.loads(line) for line in r.out.splitlines()], r.err


def deny(box, operation):
    box.admin("/_sandbox/faults", f"* {operation} * error AccessDeniedException\n")


@test
def the_streams_and_tables_are_those_that_boto3_finds():
    with Box(3) as box:
        kinesis = box.boto3("kinesis")
        for i in range(104):  # two pages of names
            kinesis.create_stream(StreamName=f"pay-{i:03}", ShardCount=1)
        box.make_table("pets")
        box.make_table("birds")
        code, rows, err = listed(box)
        equal((code, err), (0, ""))
        names = [n for page in kinesis.get_paginator("list_streams").paginate() for n in page["StreamNames"]]
        tables = [s["TableName"] for s in box.boto3("dynamodbstreams").list_streams()["Streams"]]
        equal([r["stream"] for r in rows], sorted(names) + sorted(f"dynamodb:{t}" for t in tables))
        check(len(names) >= 105, len(names))
        by_name = {r["stream"]: r for r in rows}
        for name in ("demo", "pay-000", "pay-103"):
            d = kinesis.describe_stream_summary(StreamName=name)["StreamDescriptionSummary"]
            row = by_name[name]
            equal((row["arn"], row["status"], row["mode"], row["open_shards"], row["retention_hours"], row["created_at_ms"]),
                  (d["StreamARN"], d["StreamStatus"], d["StreamModeDetails"]["StreamMode"], d["OpenShardCount"],
                   d["RetentionPeriodHours"], int(d["StreamCreationTimestamp"].timestamp() * 1000)))
        equal({by_name["dynamodb:pets"][k] for k in ("status",)}, {"ENABLED"})
        equal(by_name["dynamodb:pets"]["open_shards"], None)  # not asked for, so not known


@test
def the_table_has_the_same_rows():
    with Box(1) as box:
        box.make_table("pets")
        code, rows, err = listed(box)
        text = box.tail("-L").out.decode().splitlines()
        equal(text[0].split(), ["STREAM", "STATUS", "MODE", "SHARDS", "KEEPS", "CREATED"])
        equal([line.split()[0] for line in text[1:]], [r["stream"] for r in rows])


def on_terminal(box, columns, *args):
    """The lines that a terminal of this width gets."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    p = subprocess.Popen([BIN, *args], stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE,
                         env=environment(box.env))
    os.close(theirs)
    out = b""
    try:
        while piece := os.read(ours, 1 << 16):
            out += piece
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    equal((p.wait(20), p.stderr.read()), (0, b""))
    end(p)
    return out.decode().splitlines()


@test
def shards_are_a_table_that_fits_the_terminal():
    with Box(2) as box:
        kinesis = box.boto3("kinesis")
        box.make_table("pets")
        kinesis.split_shard(StreamName="demo", ShardToSplit="shardId-000000000000", NewStartingHashKey="7")
        wait_until(lambda: len(kinesis.list_shards(StreamName="demo")["Shards"]) == 4, what="the children")
        shards = kinesis.list_shards(StreamName="demo")["Shards"]
        lines = box.tail("-L", "demo").out.decode().splitlines()
        equal(lines[0].split(), ["SHARD", "STATE", "PARENTS", "SEQ-FROM", "SEQ-TO", "HASH-FROM", "HASH-TO"])
        equal([line.split() for line in lines[1:]], [
            [s["ShardId"], "closed" if s["SequenceNumberRange"].get("EndingSequenceNumber") else "open",
             str(int(s["ParentShardId"][-12:])) if "ParentShardId" in s else "-",
             s["SequenceNumberRange"]["StartingSequenceNumber"], s["SequenceNumberRange"].get("EndingSequenceNumber", "-"),
             s["HashKeyRange"]["StartingHashKey"], s["HashKeyRange"]["EndingHashKey"]] for s in shards])
        for columns in (80, 132):
            shown = on_terminal(box, columns, "-L", "demo")
            equal((len(shown), max(map(len, shown)) <= columns), (5, True), shown)
            equal([line.split()[0] for line in shown], [line.split()[0] for line in lines])
        shown = on_terminal(box, 80, "-L", "dynamodb:pets")
        equal((shown[0].split(), max(map(len, shown)) <= 80), (["SHARD", "STATE", "PARENTS", "SEQ-FROM", "SEQ-TO"], True), shown)
        shown = box.tail("-L", "demo", "dynamodb:pets").out.decode().splitlines()
        equal([line for line in shown if " " not in line], ["demo", "", "dynamodb:pets"])


@test
def what_may_not_be_listed_is_told_and_the_rest_is_there():
    with Box(1) as box:
        box.make_table("pets")
        deny(box, "ListStreams")
        code, rows, err = listed(box)
        equal((code, rows), (1, []))
        check("streams of Kinesis are not listed: " in err and "tables with a stream are not listed: " in err, err)
        check("no permission for kinesis:ListStreams" in err, err)


@test
def what_can_not_be_described_is_listed_and_told():
    with Box(1) as box:
        deny(box, "DescribeStreamSummary")
        code, rows, err = listed(box)
        equal(code, 1)
        equal([(r["stream"], r["status"], r["open_shards"]) for r in rows if not r["stream"].startswith("dynamodb:")],
              [("demo", None, None)])
        check("by order of the fault script" in rows[0]["error"], rows)
        check("demo is listed, and not described: " in err, err)
        check(b"unknown" in box.tail("-L").out, "the table says that the state is not known")


@test
def a_name_that_does_not_exist_brings_those_that_are_like_it():
    with Box(1, "-X", "sandbox.lists_per_second=0") as box:
        box.make_table("pets")
        for args in (("-e", "dmeo"), ("-L", "dmeo"), ("--consumers", "dmeo"), ("-e", "demo", "dmeo")):
            r = box.tail(*args)
            equal(r.code, 1, args)
            equal(r.err.splitlines()[-1], "stream-tail: did you mean demo?", r.err)
            equal(r.out, b"")
        for name in ("pets", "dynamodb:pest"):
            r = box.tail("-e", name)
            equal((r.code, r.err.splitlines()[-1]), (1, "stream-tail: did you mean dynamodb:pets?"), r.err)
        r = box.tail("-e", "nothing-like-it")
        equal((r.code, len(r.err.splitlines())), (1, 1), r.err)
        check("stream-tail -L lists them" in r.err, r.err)
        r = box.tail("-q", "-e", "dmeo")
        equal((r.code, len(r.err.splitlines())), (1, 1), r.err)  # -q: only why it failed


@test
def a_listing_that_is_cut_off_shows_what_it_has_and_fails():
    with Box(1) as box:
        kinesis = box.boto3("kinesis")
        for i in range(69):  # described at 20 a second: more than there is time for
            kinesis.create_stream(StreamName=f"pay-{i:03}", ShardCount=1)
        r = box.tail("-L", "-m", "1")
        rows = r.out.decode().splitlines()[1:]
        equal((r.code, 10 < len(rows) < 70), (1, True), len(rows), r.err)
        equal(r.err, f"stream-tail: the streams were not all listed in 1 s; shown: {len(rows)}\n")
        p = box.start("-L")
        try:
            wait_until(lambda: obeys(p), 10, "it has its signals")
            wait_until(lambda: box.calls("DescribeStreamSummary") > len(rows) + 5, 20, "some are described")
            p.send_signal(signal.SIGINT)
            out, err = p.communicate(timeout=20)
        finally:
            end(p)
        rows = out.decode().splitlines()[1:]
        equal((p.returncode, 0 < len(rows) < 70), (1, True), len(rows), err)
        equal(err.decode(), f"stream-tail: interrupted before all streams were listed; shown: {len(rows)}\n")


@test
def a_command_that_can_not_use_tables_suggests_none():
    with Box(1, "-X", "sandbox.lists_per_second=0") as box, tempfile.NamedTemporaryFile() as lines:
        box.make_table("pets")
        lines.write(b"a line\n")
        lines.flush()
        for args in (("-P", "-l", "pets", lines.name), ("--consumers", "pets")):
            r = box.tail(*args)
            equal((r.code, "pets" in r.err, "did you mean" in r.err), (1, True, False), args, r.err)
            equal("aws kinesis create-stream --stream-name pets" in r.err, args[0] == "-P", r.err)


@test
def whoever_may_not_list_is_told_of_the_missing_stream_alone():
    with Box(1) as box:
        deny(box, "ListStreams")
        r = box.tail("-e", "dmeo")
        equal(r.code, 1)
        equal(len(r.err.splitlines()), 1, r.err)
        check("dmeo" in r.err, r.err)


if __name__ == "__main__":
    main()
