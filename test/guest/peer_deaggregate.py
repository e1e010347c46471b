"""What stream-tail -P --aggregate writes, taken apart by five readers that others use or that are ours: the published packages for
Python, node and Go, the Kinesis Client Library, and stream-tail. Each must find every line, with its key, in the order of the
key. The stream is split and two shards are merged meanwhile: the Kinesis Client Library leaves out aggregates with a record that
does not belong to the shard, so for it each line is there once; the others find what went astray twice."""

import base64
import json
import os
import shutil
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "process"))
from box import BIN
from command import check, end, environment, equal, main, test, wait_until
from producing import by_key, count, free_box, keyed, produce, records

CACHE = os.path.join(os.environ["SLOOP_TEST_CACHE"], "interop")
LINES = 20000
KCL = os.path.join(CACHE, "deaggkcl")


def by_python(rows):
    from aws_kinesis_agg.deaggregator import deaggregate_records

    found = []
    for row in rows:
        got = deaggregate_records([{"kinesis": {"kinesisSchemaVersion": "1.0", "sequenceNumber": "1", "partitionKey": row["key"],
                                                "approximateArrivalTimestamp": 0, "data": row["data"]}}])
        found.append([[r["kinesis"]["partitionKey"], r["kinesis"]["data"]] for r in got])
    return found


def by_program(*command):
    def run(rows):
        got = subprocess.run(command, input="".join(json.dumps(row) + "\n" for row in rows).encode(), capture_output=True, timeout=120,
                             check=False)
        equal(got.returncode, 0, got.stderr.decode()[-500:])
        return [json.loads(line) for line in got.stdout.splitlines()]

    return run


READERS = {
    "Python": (by_python, ""),
    "Go": (by_program(os.path.join(CACHE, "deagggo", "peer")), os.path.join(CACHE, "deagggo", "peer")),
    "node": (by_program("node", os.path.join(CACHE, "deaggjs", "deagg.js")), os.path.join(CACHE, "deaggjs", "node_modules")),
    "KCL": (by_program("java", "-Xmx256m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp",
                       f"{KCL}:{CACHE}/kcl3/jars/*", "Deagg"), os.path.join(KCL, "Deagg.class")),
}


def rows_of(kinesis):
    """The records of the stream by sequence number, each with the hash keys of its shard."""
    ranges = {s["ShardId"]: s["HashKeyRange"] for s in kinesis.list_shards(StreamName="demo")["Shards"]}
    return [{"key": key, "data": base64.b64encode(data).decode(), "low": ranges[shard]["StartingHashKey"],
             "high": ranges[shard]["EndingHashKey"]} for key, data, shard in records(kinesis)]


def user_records(reader, rows):
    return by_key((key, base64.b64decode(data)) for found in reader(rows) for key, data in found)


def readers():
    for name, (reader, needs) in READERS.items():
        if needs and not os.path.exists(needs):
            print(f"skip {name}: not installed (sh test/guest/run.sh deaggregate)", flush=True)
        else:
            yield name, reader


def by_stream_tail(box):
    r = box.tail("-o", "oldest", "-e", "-J", "demo")
    return [json.loads(line) for line in r.out.splitlines()]


@test
def each_reader_finds_every_line():
    lines, lists = keyed(LINES, 500)
    with free_box(4) as box:
        code, err = produce(box, "-K", ":", "--aggregate", given=lines)
        equal((code, count(err, "records put")), (0, LINES), err)
        rows = rows_of(box.boto3("kinesis"))
        check(len(rows) < LINES / 100, len(rows))
        for name, reader in readers():
            equal(user_records(reader, rows), lists, name)
        equal(by_key((row["key"], row["payload"].encode()) for row in by_stream_tail(box)), lists, "stream-tail")


@test
def large_and_odd_lines_come_back():
    texts = [b"", b"x", bytes(range(256)).replace(b"\n", b""), b"y" * 25000, b"z" * 60000, "\u00fc\u20ac".encode() * 99]
    lines = [b"k\xc3\xbc%d\t" % (i % 7) + texts[i % len(texts)] for i in range(300)]
    lists = by_key((line.split(b"\t")[0].decode(), line.split(b"\t", 1)[1]) for line in lines)
    with free_box(2) as box:
        code, err = produce(box, "-K", "\\t", "--aggregate", given=b"\n".join(lines) + b"\n")
        equal((code, count(err, "records put")), (0, 300), err)
        rows = rows_of(box.boto3("kinesis"))
        for name, reader in readers():
            equal(user_records(reader, rows), lists, name)


@test
def a_split_and_a_merge_meanwhile():
    lines, lists = keyed(LINES, 200)
    with free_box(2) as box:
        p = subprocess.Popen([BIN, "-P", "demo", "-K", ":", "--aggregate", "--rate", "8000"], stdin=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=environment(box.env))
        try:
            feeder = threading.Thread(target=lambda: (p.stdin.write(lines), p.stdin.close()))
            feeder.start()
            wait_until(lambda: box.calls("PutRecords") > 5, what="some calls")
            box.admin("/_sandbox/split?stream=demo&shard=shardId-000000000000")
            calls = box.calls("PutRecords")
            wait_until(lambda: box.calls("PutRecords") > calls + 5, what="some calls")
            box.admin("/_sandbox/merge?stream=demo&shard=shardId-000000000003&adjacent=shardId-000000000001")
            feeder.join()
            err = p.stderr.read().decode().splitlines()
            equal((p.wait(30), count(err, "records put")), (0, LINES), err)
        finally:
            end(p)
        rows, strays = rows_of(box.boto3("kinesis")), count(err, "put again")
        check(strays > 0, "nothing went astray: the test is broken", err)
        for name, reader in readers():
            found = user_records(reader, rows)
            if name == "KCL":
                equal(found, lists, name)
            else:
                equal(sum(map(len, found.values())), LINES + strays, name)
                equal({key: set(data) for key, data in found.items()}, {key: set(data) for key, data in lists.items()}, name)
        ours = by_stream_tail(box)
        equal(len(ours), LINES + strays, "stream-tail")
        check(0 < sum(row.get("foreign", False) for row in ours) < strays, "none is foreign, or all")
        equal({(row["key"], row["payload"]) for row in ours if not row.get("foreign")},
              {(key, data.decode()) for key, of in lists.items() for data in of}, "stream-tail")


if shutil.which("node") is None:
    del READERS["node"]
main(at_once=1)
