"""The sandbox's CBOR judged by the cbor2 package: the same call in JSON and in CBOR must mean the same, in indefinite
and in definite form, with blobs as byte strings and times as tag 1 with integer milliseconds."""

import base64
import io
import json
import random
import sys
import time

try:
    import cbor2
except ImportError:
    print("skip: cbor2 is not installed (sh test/install.sh test)")
    sys.exit(77)

import harness
from harness import expect
from sandbox_box import Box

JSON, CBOR = "application/x-amz-json-1.1", "application/x-amz-cbor-1.1"
TIMES = {"ApproximateArrivalTimestamp", "StreamCreationTimestamp", "ConsumerCreationTimestamp"}


class Milliseconds(int):
    """A time as it stood in the CBOR: tag 1 and an integer."""


def read_cbor(body):
    # cbor2 reads tag 1 as seconds; Kinesis means milliseconds. So tag 1 after a member named ...Timestamp becomes
    # tag 55792, which cbor2 does not know.
    stream = io.BytesIO(body.replace(b"Timestamp\xc1\x1b", b"Timestamp\xd9\xd9\xf0\x1b"))
    value = cbor2.CBORDecoder(stream, tag_hook=lambda decoder, tag=None: Milliseconds((tag or decoder).value)
                              if (tag or decoder).tag == 55792 else (tag or decoder)).decode()
    expect(stream.read() == b"", "bytes after the value")
    return value


def form(body):
    """'indefinite' or 'definite', and nothing in between: found by walking the heads."""
    seen, at, open_ends = set(), 0, 0
    left = [1]
    while left:
        while left and left[-1] == 0:
            left.pop()
        if not left:
            break
        head = body[at]
        major, info = head >> 5, head & 31
        at += 1
        if head == 0xff:
            left.pop()
            open_ends -= 1
            continue
        if left[-1] > 0:
            left[-1] -= 1
        size = {24: 1, 25: 2, 26: 4, 27: 8}.get(info, 0)
        value = int.from_bytes(body[at:at + size], "big") if size else info
        at += size
        if major in (2, 3):
            expect(info != 31, "a string of chunks")
            at += value
        elif major in (4, 5):
            seen.add("indefinite" if info == 31 else "definite")
            open_ends += info == 31
            left.append(-1 if info == 31 else value * (major - 3))
        elif major == 6:
            left.append(1)
    expect(at == len(body) and open_ends == 0, "the walk did not end at the end")
    return seen


def as_json_means(value, key=None):
    """A JSON answer in the terms of the CBOR one."""
    if isinstance(value, dict):
        return {k: as_json_means(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [as_json_means(v, key) for v in value]
    if key in TIMES:
        return Milliseconds(round(value * 1000))
    if key == "Data":
        return base64.b64decode(value, validate=True)
    return value


def same_types(a, b, path=""):
    expect(type(a) is type(b), f"{path}: {type(a).__name__} in CBOR, {type(b).__name__} in JSON")
    if isinstance(a, dict):
        expect(list(a) == list(b), f"{path}: members {list(a)} and {list(b)}")
        for k in a:
            same_types(a[k], b[k], f"{path}.{k}")
    elif isinstance(a, list):
        expect(len(a) == len(b), f"{path}: {len(a)} and {len(b)} items")
        for i, (x, y) in enumerate(zip(a, b)):
            same_types(x, y, f"{path}[{i}]")
    else:
        expect(a == b, f"{path}: {a!r} and {b!r}")


def post(box, operation, body, kind):
    status, headers, answer = box.request("POST", "/", body, {"Content-Type": kind,
                                                              "X-Amz-Target": "Kinesis_20131202." + operation})
    expect(headers.get("Content-Type") == kind or not answer, headers)
    return status, answer


def both(box, operation, arguments, forget=()):
    """Asks in JSON, and in CBOR in both forms; answers must be the same but for `forget`. Returns the value."""
    def without(value):
        return {k: v for k, v in value.items() if k not in forget} if isinstance(value, dict) else value

    json_status, text = post(box, operation, json.dumps(arguments).encode(), JSON)
    wanted = as_json_means(json.loads(text)) if text else None
    for encoded in (cbor2.dumps(arguments), indefinite(arguments)):
        status, body = post(box, operation, encoded, CBOR)
        expect(status == json_status, f"{operation}: {status} in CBOR, {json_status} in JSON")
        value = read_cbor(body) if body else None
        expect((value is None) == (wanted is None), f"{operation}: an empty body in one form")
        if value is not None:
            same_types(without(value), without(wanted), operation)
            expect(form(body) <= {box.form}, f"{operation}: {form(body)}, not {box.form}")
    return value


def indefinite(value):
    """The same value with indefinite-length maps, arrays, and strings in chunks."""
    if isinstance(value, dict):
        return b"\xbf" + b"".join(cbor2.dumps(k) + indefinite(v) for k, v in value.items()) + b"\xff"
    if isinstance(value, list):
        return b"\x9f" + b"".join(indefinite(v) for v in value) + b"\xff"
    if isinstance(value, bytes):
        return b"\x5f" + cbor2.dumps(value[:3]) + cbor2.dumps(value[3:]) + b"\xff"
    if isinstance(value, str):
        return b"\x7f" + cbor2.dumps(value[:2]) + cbor2.dumps(value[2:]) + b"\xff"
    return cbor2.dumps(value)


def prepared(form_name):
    box = Box("stream=s:3", "change_ms=0", f"cbor_indefinite={int(form_name == 'indefinite')}")
    box.form = form_name
    return box


ODD = ("NextShardIterator", "ShardIterator", "NextToken")  # differ from call to call: they hold the time of issue


def everything(form_name):
    rng = random.Random(3)
    with prepared(form_name) as box:
        for i in range(30):
            data = rng.randbytes(rng.choice([0, 1, 23, 24, 255, 256, 70000]))
            entry = {"StreamName": "s", "Data": data, "PartitionKey": f"k{i}ß"}
            status, answer = post(box, "PutRecord", cbor2.dumps(entry), CBOR)
            expect(status == 200 and set(read_cbor(answer)) == {"ShardId", "SequenceNumber"}, answer)
        status, answer = post(box, "SplitShard", cbor2.dumps({"StreamName": "s", "ShardToSplit": "shardId-000000000001",
                                                              "NewStartingHashKey": str(2 ** 127)}), CBOR)
        expect((status, answer) == (200, b""), answer)
        for operation, arguments in [
                ("DescribeStream", {"StreamName": "s"}), ("DescribeStreamSummary", {"StreamName": "s"}),
                ("ListStreams", {}), ("ListShards", {"StreamName": "s"}),
                ("ListShards", {"StreamName": "s", "MaxResults": 2}),
                ("ListShards", {"StreamName": "s", "ShardFilter": {"Type": "AT_LATEST"}}),
                # errors have bodies in the request's form too
                ("DescribeStream", {"StreamName": "none"}), ("DescribeStream", {"StreamName": "no good"}),
                ("DescribeStream", {"StreamName": 7}), ("NoSuchThing", {}), ("GetRecords", {"ShardIterator": "x"}),
                ("CreateStream", {"StreamName": "s", "ShardCount": 1}),
                ("PutRecords", {"StreamName": "s", "Records": []})]:
            both(box, operation, arguments, ODD)
        records = 0
        for shard in range(5):
            place = {"StreamName": "s", "ShardId": f"shardId-{shard:012}", "ShardIteratorType": "TRIM_HORIZON"}
            iterator = both(box, "GetShardIterator", place, ODD)["ShardIterator"]
            for limit in (1, 10000):
                page = both(box, "GetRecords", {"ShardIterator": iterator, "Limit": limit},
                            (*ODD, "MillisBehindLatest"))
            expect(("ChildShards" in page) == (shard == 1) == ("NextShardIterator" not in page), (shard, list(page)))
            records += len(page["Records"])
            expect(all(type(r["Data"]) is bytes and type(r["ApproximateArrivalTimestamp"]) is Milliseconds
                       for r in page["Records"]), "types")
        expect(records == 30, records)
        return f"{records} records, {form_name}"


def puts_in_every_form():
    with prepared("indefinite") as box:
        data = bytes(range(256))
        entry = {"Data": data, "PartitionKey": "key"}
        for body in (cbor2.dumps({"StreamName": "s", "Records": [entry, entry]}),
                     indefinite({"StreamName": "s", "Records": [entry, entry]})):
            status, answer = post(box, "PutRecords", body, CBOR)
            expect(status == 200 and read_cbor(answer)["FailedRecordCount"] == 0, answer)
        shard = read_cbor(answer)["Records"][0]["ShardId"]
        place = {"StreamName": "s", "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
        iterator = both(box, "GetShardIterator", place, ODD)["ShardIterator"]
        status, answer = post(box, "GetRecords", cbor2.dumps({"ShardIterator": iterator}), CBOR)
        expect([r["Data"] for r in read_cbor(answer)["Records"]] == [data] * 4, "not what was put")


def times_in_requests():
    with prepared("definite") as box:
        post(box, "PutRecord", cbor2.dumps({"StreamName": "s", "Data": b"x", "PartitionKey": "k"}), CBOR)
        now = box.now_ms()
        box.move_clock(60000)
        for value, code in ((now - 5000, 200), (now + 5000, 200), (now + 3600000, 400)):
            seconds = value / 1000
            for encoded in (cbor2.CBORTag(1, value), value, cbor2.CBORTag(1, seconds), seconds):
                status, answer = post(box, "GetShardIterator", cbor2.dumps(
                    {"StreamName": "s", "ShardId": "shardId-000000000000", "ShardIteratorType": "AT_TIMESTAMP",
                     "Timestamp": encoded}), CBOR)
                expect(status == code, (encoded, status, answer))


def large_pages():
    for name in ("indefinite", "definite"):
        with prepared(name) as box:
            box.order("POST", "synthetic?name=big&shards=2&records=20000&bytes=1100&rate=0&seed=9")
            iterator = both(box, "GetShardIterator", {"StreamName": "big", "ShardId": "shardId-000000000001",
                                                      "ShardIteratorType": "TRIM_HORIZON"}, ODD)["ShardIterator"]
            wanted = None
            for kind, encoded in ((JSON, json.dumps({"ShardIterator": iterator}).encode()),
                                  (CBOR, cbor2.dumps({"ShardIterator": iterator}))):
                _, body = post(box, "GetRecords", encoded, kind)
                page = as_json_means(json.loads(body)) if kind == JSON else read_cbor(body)
                records = page["Records"]
                wanted = wanted or records
                expect(records == wanted, "JSON and CBOR differ")
            expect(10000 > len(records) == 10 * 2 ** 20 // (1100 + len(records[0]["PartitionKey"])), len(records))
            expect(len(body) > 10 * 2 ** 20 - 2000, len(body))
    return f"{len(body)} bytes, {len(records)} records"


def junk():
    rng = random.Random(4)
    with prepared("indefinite") as box:
        good = cbor2.dumps({"StreamName": "s", "Records": [{"Data": b"abc", "PartitionKey": "k"}]})
        began, answers = time.monotonic(), {}
        for i in range(1500):
            bad = bytearray(good)
            for _ in range(rng.choice([1, 2, 5])):
                bad[rng.randrange(len(bad))] = rng.randrange(256)
            if rng.random() < 0.3:
                bad = bad[:rng.randrange(len(bad))]
            status, answer = post(box, "PutRecords", bytes(bad), CBOR)
            expect(status in (200, 400), (status, bytes(bad)))
            name = read_cbor(answer).get("__type", "fine")
            answers[name] = answers.get(name, 0) + 1
        for deep in (b"\x81" * 100000, b"\x9f" * 100000, b"\xbf" * 7, b"\x9b" + b"\xff" * 8, b"\x5b" + b"\xff" * 8):
            status, answer = post(box, "PutRecords", deep, CBOR)
            expect(status == 400 and read_cbor(answer)["__type"] == "SerializationException", answer)
        return f"{answers} in {time.monotonic() - began:.1f} s"


if __name__ == "__main__":
    tests = harness.Tests()
    tests.run("every answer in both forms, indefinite", everything, "indefinite")
    tests.run("every answer in both forms, definite", everything, "definite")
    tests.run("puts in every form", puts_in_every_form)
    tests.run("times in requests", times_in_requests)
    tests.run("large pages", large_pages)
    tests.run("junk", junk)
    tests.end()
