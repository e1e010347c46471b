"""The sandbox judged by boto3: every operation's answers, good and bad, through botocore's own parser."""

import base64
import datetime
import gzip
import hashlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
import warnings

import harness
import servers
from harness import expect
from sandbox_box import Box, refused

UTC = datetime.timezone.utc
TOP = 2 ** 128 - 1


# How long a change takes where a test asks what is refused meanwhile: only its own clock, which the test moves, ends it.
CHANGE_MS = 60000


def active(box, client, name):
    box.move_clock(CHANGE_MS)
    status = client.describe_stream_summary(StreamName=name)["StreamDescriptionSummary"]["StreamStatus"]
    expect(status == "ACTIVE", f"{name} is {status} after {CHANGE_MS} ms")


def listing(client, **arguments):
    return client.list_shards(**arguments)["Shards"]


def ids(shards):
    return [int(shard["ShardId"][-12:]) for shard in shards]


def start(client, name, shard, kind="TRIM_HORIZON", **rest):
    return client.get_shard_iterator(StreamName=name, ShardId=f"shardId-{shard:012}", ShardIteratorType=kind,
                                     **rest)["ShardIterator"]


def read_shard(client, iterator, limit=None, pages_max=1000):
    """Everything from there to the tip or the end: (records, last page)."""
    records = []
    for _ in range(pages_max):
        page = client.get_records(ShardIterator=iterator, **({"Limit": limit} if limit else {}))
        records += page["Records"]
        if "NextShardIterator" not in page or not page["Records"]:
            return records, page
        iterator = page["NextShardIterator"]
    raise harness.Failed("a shard without end")


# ---- streams -------------------------------------------------------------------------------------------------------


def life_of_a_stream():
    with Box(f"change_ms={CHANGE_MS}") as box:
        client = box.client(region="eu-central-1")
        client.create_stream(StreamName="a.b-c_D", ShardCount=3)
        summary = client.describe_stream_summary(StreamName="a.b-c_D")["StreamDescriptionSummary"]
        expect(summary["StreamStatus"] == "CREATING", summary)
        arn = summary["StreamARN"]
        expect(arn == "arn:aws:kinesis:eu-central-1:000000000000:stream/a.b-c_D", arn)
        refused("ResourceInUseException", client.create_stream, StreamName="a.b-c_D", ShardCount=1)
        refused("ResourceInUseException", client.list_shards, StreamName="a.b-c_D")
        refused("ResourceNotFoundException", client.put_record, StreamName="a.b-c_D", Data=b"", PartitionKey="k")
        active(box, client, "a.b-c_D")
        summary = client.describe_stream_summary(StreamARN=arn)["StreamDescriptionSummary"]
        expect(summary["OpenShardCount"] == 3 and summary["RetentionPeriodHours"] == 24, summary)
        expect(summary["StreamModeDetails"] == {"StreamMode": "PROVISIONED"}, summary)
        expect(summary["EncryptionType"] == "NONE" and summary["ConsumerCount"] == 0, summary)
        age = box.now_ms() / 1000 - summary["StreamCreationTimestamp"].timestamp()
        expect(-1 < age < 60 + CHANGE_MS / 1000, f"made {age} s ago")
        full = client.describe_stream(StreamName="a.b-c_D")["StreamDescription"]
        expect(full["Shards"] == listing(client, StreamARN=arn) and full["HasMoreShards"] is False, full)
        client.get_waiter("stream_exists").wait(StreamName="a.b-c_D")
        client.delete_stream(StreamName="a.b-c_D")
        expect(client.describe_stream_summary(StreamName="a.b-c_D")["StreamDescriptionSummary"]["StreamStatus"]
               == "DELETING", "not DELETING")
        box.move_clock(CHANGE_MS)
        client.get_waiter("stream_not_exists").wait(StreamName="a.b-c_D", WaiterConfig={"Delay": 1})
        message = refused("ResourceNotFoundException", client.describe_stream, StreamName="a.b-c_D")
        expect(message == "Stream a.b-c_D under account 000000000000 not found.", message)
        client.create_stream(StreamName="wide", StreamModeDetails={"StreamMode": "ON_DEMAND"})
        active(box, client, "wide")
        expect(len(listing(client, StreamName="wide")) == 4, "ON_DEMAND begins with 4 shards")


def names_and_pages_of_names():
    with Box("change_ms=0") as box:
        client = box.client()
        names = sorted(f"stream-{i}" for i in range(25))
        for name in random.sample(names, len(names)):
            client.create_stream(StreamName=name, ShardCount=1)
        seen = [name for page in client.get_paginator("list_streams").paginate(Limit=7) for name in page["StreamNames"]]
        expect(seen == names, seen)
        page = client.list_streams(ExclusiveStartStreamName="stream-8")
        expect(page["StreamNames"] == ["stream-9"] and not page["HasMoreStreams"], page)
        expect(page["StreamSummaries"][0]["StreamStatus"] == "ACTIVE", page)


def retention_periods():
    with Box("stream=s:1") as box:
        client = box.client()
        client.increase_stream_retention_period(StreamName="s", RetentionPeriodHours=100)
        refused("InvalidArgumentException", client.increase_stream_retention_period, StreamName="s",
                RetentionPeriodHours=99)
        refused("InvalidArgumentException", client.decrease_stream_retention_period, StreamName="s",
                RetentionPeriodHours=101)
        client.decrease_stream_retention_period(StreamName="s", RetentionPeriodHours=25)
        summary = client.describe_stream_summary(StreamName="s")["StreamDescriptionSummary"]
        expect(summary["RetentionPeriodHours"] == 25, summary)


def bad_input():
    with Box("stream=s:1") as box:
        # by hand: botocore would refuse most of this itself
        post = lambda operation, body, kind="application/x-amz-json-1.1": box.request(
            "POST", "/", body, {"Content-Type": kind, "X-Amz-Target": "Kinesis_20131202." + operation})
        cases = [
            ("DescribeStream", b'{"StreamName":"no good"}', "ValidationException"),
            ("DescribeStream", b'{"StreamName":["s"]}', "SerializationException"),
            ("DescribeStream", b'{"StreamName":"s"', "SerializationException"),
            ("DescribeStream", b"", "SerializationException"),
            ("DescribeStream", b'{"StreamName":"s","Limit":0}', "ValidationException"),
            ("CreateStream", b'{"StreamName":"t","ShardCount":0}', "ValidationException"),
            ("GetRecords", b"{}", "ValidationException"),
            ("GetRecords", b'{"ShardIterator":"' + b"x" * 513 + b'"}', "ValidationException"),
            ("GetRecords", b'{"ShardIterator":"x"}', "InvalidArgumentException"),
            ("NoSuchOperation", b"{}", "UnknownOperationException"),
            ("PutRecord", b'{"StreamName":"s","Data":"=","PartitionKey":"k"}', "SerializationException"),
        ]
        for operation, body, code in cases:
            status, headers, answer = post(operation, body)
            expect(status == 400 and b'"__type":"' + code.encode() + b'"' in answer, (operation, status, answer))
            expect(headers["Content-Type"] == "application/x-amz-json-1.1", headers)
            expect(len(headers["x-amzn-RequestId"]) == 36, headers)
        status, _, answer = box.request("GET", "/")
        expect(status == 404, answer)
        # A page that a browser has open changes nothing here: browsers send Origin, clients of AWS do not.
        for path in ("/", "/_sandbox/faults"):
            status, _, answer = box.request("POST", path, b"1 * * throttle", {"Origin": "http://page.example"})
            expect(status == 403, f"a request from a page to {path}: {status} {answer!r}")
        # Nor does one read anything by a name of its own that has our address.
        for host, good in (("page.example", 403), ("127.0.0.1.page.example:80", 403), ("localhost:4567", 200)):
            status, _, answer = box.request("GET", "/_sandbox/stats", headers={"Host": host})
            expect(status == good, f"/_sandbox/stats with Host {host}: {status} {answer!r}")
        status, _, answer = box.request("POST", "/_sandbox/faults", b"1 * * nonsense")
        expect(status == 400 and b"1 * * nonsense" in answer, answer)


# ---- records -------------------------------------------------------------------------------------------------------


def records_go_round():
    rng = random.Random(1)
    with Box("stream=s:4") as box:
        client = box.client()
        shards = listing(client, StreamName="s")
        put = []
        for i in range(40):
            entries = [{"Data": rng.randbytes(rng.choice([0, 1, 2, 3, 100, 3000])),
                        "PartitionKey": rng.choice(["plain", "käse", "日本", 'quo"te\\', "\t"]) + str(rng.random())}
                       for _ in range(50)]
            answer = client.put_records(StreamName="s", Records=entries)
            expect(answer["FailedRecordCount"] == 0, answer)
            put += [(e["Data"], e["PartitionKey"], a["ShardId"], a["SequenceNumber"])
                    for e, a in zip(entries, answer["Records"])]
        one = client.put_record(StreamName="s", Data=b"forced", PartitionKey="k", ExplicitHashKey=str(TOP))
        expect(one["ShardId"] == "shardId-000000000003", one)
        put.append((b"forced", "k", one["ShardId"], one["SequenceNumber"]))
        for data, key, shard, seq in put[:-1]:
            hashed = int.from_bytes(hashlib.md5(key.encode()).digest(), "big")
            ranges = [s["ShardId"] for s in shards if int(s["HashKeyRange"]["StartingHashKey"]) <= hashed
                      <= int(s["HashKeyRange"]["EndingHashKey"])]
            expect(ranges == [shard], f"{key} went to {shard}")
        for i in range(4):
            name = f"shardId-{i:012}"
            records, last = read_shard(client, start(client, "s", i), limit=rng.choice([1, 7, 100, 10000]))
            expect([(r["Data"], r["PartitionKey"], name, r["SequenceNumber"]) for r in records]
                   == [p for p in put if p[2] == name], f"{name}: not what was put")
            expect(last["MillisBehindLatest"] == 0, last)
            numbers = [int(r["SequenceNumber"]) for r in records]
            expect(numbers == sorted(set(numbers)) and len(str(numbers[0])) == 56, "not rising, or not 56 digits")
            times = [r["ApproximateArrivalTimestamp"] for r in records]
            expect(times == sorted(times), "arrival times fall")
            expect(abs((times[-1] - datetime.datetime.now(UTC)).total_seconds()) < 120, times[-1])
        return f"{len(put)} records"


def all_kinds_of_iterators():
    with Box("stream=s:1") as box:
        client = box.client()
        latest = start(client, "s", 0, "LATEST")
        seqs = []
        for i in range(5):
            seqs.append(client.put_record(StreamName="s", Data=bytes([i]), PartitionKey="k")["SequenceNumber"])
            box.move_clock(1000)
        first = client.get_records(ShardIterator=latest)["Records"]
        expect([r["Data"][0] for r in first] == [0, 1, 2, 3, 4], first)
        got = lambda *kind, **rest: [r["Data"][0] for r in read_shard(client, start(client, "s", 0, *kind, **rest))[0]]
        expect(got("AT_SEQUENCE_NUMBER", StartingSequenceNumber=seqs[2]) == [2, 3, 4], "AT")
        expect(got("AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=seqs[2]) == [3, 4], "AFTER")
        expect(got("AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=seqs[4]) == [], "AFTER the last")
        expect(got("LATEST") == [], "LATEST")
        for i, record in enumerate(first):
            stamp = record["ApproximateArrivalTimestamp"]
            expect(got("AT_TIMESTAMP", Timestamp=stamp) == list(range(i, 5)), f"time {i}")
        expect(got("AT_TIMESTAMP", Timestamp=datetime.datetime(2020, 1, 1, tzinfo=UTC)) == [0, 1, 2, 3, 4], "long ago")
        future = datetime.datetime.now(UTC) + datetime.timedelta(hours=1)
        shard = {"StreamName": "s", "ShardId": "shardId-000000000000"}
        message = refused("InvalidArgumentException", client.get_shard_iterator, **shard,
                          ShardIteratorType="AT_TIMESTAMP", Timestamp=future)
        expect("currentTimestampInMillis" in message, message)
        refused("InvalidArgumentException", client.get_shard_iterator, **shard, ShardIteratorType="AT_SEQUENCE_NUMBER")
        refused("InvalidArgumentException", client.get_shard_iterator, **shard, ShardIteratorType="TRIM_HORIZON",
                StartingSequenceNumber=seqs[0])
        refused("InvalidArgumentException", client.get_shard_iterator, **shard, ShardIteratorType="AT_SEQUENCE_NUMBER",
                StartingSequenceNumber="12345")
        refused("ValidationException", client.get_shard_iterator, **shard, ShardIteratorType="SOMEWHERE")
        refused("ResourceNotFoundException", client.get_shard_iterator, StreamName="s",
                ShardId="shardId-000000000007", ShardIteratorType="LATEST")


def iterators_and_tokens_expire():
    with Box("stream=s:5", "iterator_ms=60000", "next_token_ms=30000") as box:
        client = box.client()
        iterator = start(client, "s", 0)
        token = client.list_shards(StreamName="s", MaxResults=2)["NextToken"]
        box.move_clock(29000)
        client.list_shards(NextToken=token)
        box.move_clock(2000)
        refused("ExpiredNextTokenException", client.list_shards, NextToken=token)
        fresh = client.get_records(ShardIterator=iterator)["NextShardIterator"]
        box.move_clock(30000)
        message = refused("ExpiredIteratorException", client.get_records, ShardIterator=iterator)
        expect(message.startswith("Iterator expired. The iterator was created at time "), message)
        client.get_records(ShardIterator=fresh)


def behind_by_the_wall_clock():
    with Box("stream=s:1") as box:
        client = box.client()
        for _ in range(3):
            client.put_record(StreamName="s", Data=b"x", PartitionKey="k")
            box.move_clock(10000)
        page = client.get_records(ShardIterator=start(client, "s", 0), Limit=1)
        expect(30000 <= page["MillisBehindLatest"] < 35000, page["MillisBehindLatest"])
        page = client.get_records(ShardIterator=page["NextShardIterator"], Limit=1)
        expect(20000 <= page["MillisBehindLatest"] < 25000, page["MillisBehindLatest"])
        page = client.get_records(ShardIterator=page["NextShardIterator"], Limit=1)
        expect(page["MillisBehindLatest"] == 0, page["MillisBehindLatest"])


def in_a_second(box, burst):
    """Tests limits of a second: on a machine that took longer, it is done again."""
    for _ in range(20):
        box.move_clock(1000)  # nothing of before counts
        began = time.monotonic()
        try:
            return burst()
        except harness.Failed:
            if time.monotonic() - began < 1:
                raise
    raise harness.Failed("the machine is too slow")


def limits_of_reading():
    with Box("stream=s:1", limits=True) as box:
        client = box.client()
        iterator = start(client, "s", 0)

        def six_reads():
            for _ in range(5):
                client.get_records(ShardIterator=iterator)
            return refused("ProvisionedThroughputExceededException", client.get_records, ShardIterator=iterator)

        message = in_a_second(box, six_reads)
        expect(message.startswith("Rate exceeded for shard shardId-000000000000"), message)
        box.move_clock(1000)
        client.get_records(ShardIterator=iterator)
        refused("InvalidArgumentException", client.get_records, ShardIterator=iterator, Limit=10001)
    with Box("change_ms=0", "write_bytes_per_second=0", limits=True) as box:
        client = box.client()
        client.create_stream(StreamName="big", ShardCount=1, MaxRecordSizeInKiB=10240)
        for _ in range(2):
            client.put_record(StreamName="big", Data=bytes(10 * 2 ** 20), PartitionKey="k")
        iterator = start(client, "big", 0)
        page = client.get_records(ShardIterator=iterator)
        expect([len(r["Data"]) for r in page["Records"]] == [10 * 2 ** 20], "one record of 10 MiB a page")
        box.move_clock(2000)  # five seconds for such a page; what the client takes to read it passes as well
        refused("ProvisionedThroughputExceededException", client.get_records, ShardIterator=page["NextShardIterator"])
        box.move_clock(3100)
        client.get_records(ShardIterator=page["NextShardIterator"])
        client.create_stream(StreamName="small", ShardCount=1)
        refused("InvalidArgumentException", client.put_record, StreamName="small", Data=bytes(2 ** 20 + 300),
                PartitionKey="k")


def limits_of_writing():
    with Box("stream=s:1", limits=True) as box:
        client = box.client()
        chunk = [{"Data": bytes(40000), "PartitionKey": str(i)} for i in range(30)]
        answer = client.put_records(StreamName="s", Records=chunk)
        stored = [r for r in answer["Records"] if "SequenceNumber" in r]
        failed = [r for r in answer["Records"] if "ErrorCode" in r]
        expect(len(stored) == 26 and len(failed) == 4 == answer["FailedRecordCount"], (len(stored), len(failed)))
        expect({r["ErrorCode"] for r in failed} == {"ProvisionedThroughputExceededException"}, failed[0])

        def one_too_many():
            for count in (500, 500):
                answer = client.put_records(StreamName="s", Records=[{"Data": b"", "PartitionKey": "k"}] * count)
                expect(answer["FailedRecordCount"] == 0, answer["FailedRecordCount"])
            refused("ProvisionedThroughputExceededException", client.put_record, StreamName="s", Data=b"",
                    PartitionKey="k")

        in_a_second(box, one_too_many)
        refused("ValidationException", client.put_records, StreamName="s",
                Records=[{"Data": b"", "PartitionKey": "k"}] * 501)


# ---- resharding ----------------------------------------------------------------------------------------------------


def lineage_through_generations():
    rng = random.Random(2)
    with Box("stream=s:4", f"change_ms={CHANGE_MS}") as box:
        client = box.client()
        put = {}

        def produce():
            for i in range(60):
                key = str(rng.random())
                answer = client.put_record(StreamName="s", Data=key.encode(), PartitionKey=key)
                put.setdefault(answer["ShardId"], []).append((answer["SequenceNumber"], key.encode()))

        def open_shards():
            shards = [s for s in listing(client, StreamName="s")
                      if "EndingSequenceNumber" not in s["SequenceNumberRange"]]
            return sorted(shards, key=lambda s: int(s["HashKeyRange"]["StartingHashKey"]))

        for generation in range(3):
            produce()
            shard = rng.choice(open_shards())
            low, high = (int(shard["HashKeyRange"][k]) for k in ("StartingHashKey", "EndingHashKey"))
            client.split_shard(StreamName="s", ShardToSplit=shard["ShardId"], NewStartingHashKey=str((low + high) // 2))
            active(box, client, "s")
            produce()
            refused("InvalidArgumentException", client.split_shard, StreamName="s", ShardToSplit=shard["ShardId"],
                    NewStartingHashKey=str((low + high) // 2))
            shards = open_shards()
            i = rng.randrange(len(shards) - 1)
            client.merge_shards(StreamName="s", ShardToMerge=shards[i + 1]["ShardId"],
                                AdjacentShardToMerge=shards[i]["ShardId"])
            message = refused("ResourceInUseException", client.update_shard_count, StreamName="s", TargetShardCount=5,
                              ScalingType="UNIFORM_SCALING")
            expect("not ACTIVE, instead in state UPDATING" in message, message)
            active(box, client, "s")
        answer = client.update_shard_count(StreamName="s", TargetShardCount=6, ScalingType="UNIFORM_SCALING")
        expect(answer["CurrentShardCount"] == 4 and answer["TargetShardCount"] == 6, answer)
        active(box, client, "s")
        produce()
        refused("LimitExceededException", client.update_shard_count, StreamName="s", TargetShardCount=13,
                ScalingType="UNIFORM_SCALING")

        every = {s["ShardId"]: s for s in listing(client, StreamName="s")}
        ring = [(int(s["HashKeyRange"]["StartingHashKey"]), int(s["HashKeyRange"]["EndingHashKey"]))
                for s in open_shards()]
        expect(ring[0][0] == 0 and ring[-1][1] == TOP and len(ring) == 6, ring)
        expect(all(a[1] + 1 == b[0] for a, b in zip(ring, ring[1:])), "the open shards do not cover the hash keys")
        width = {(b - a) // 2 ** 118 for a, b in ring}
        expect(len(width) == 1, f"UNIFORM_SCALING left parts of {width}")
        children = {}
        for shard in every.values():
            for parent in (shard.get("ParentShardId"), shard.get("AdjacentParentShardId")):
                if parent:
                    children.setdefault(parent, []).append(shard["ShardId"])
                    ending = every[parent]["SequenceNumberRange"]["EndingSequenceNumber"]
                    expect(int(ending) < int(shard["SequenceNumberRange"]["StartingSequenceNumber"]), "numbers overlap")
        for name, shard in every.items():
            records, last = read_shard(client, start(client, "s", int(name[-12:])), limit=rng.choice([None, 1, 10]))
            expect([(r["SequenceNumber"], r["Data"]) for r in records] == put.get(name, []), f"{name}: other records")
            span = shard["SequenceNumberRange"]
            for record in records:
                expect(int(span["StartingSequenceNumber"]) <= int(record["SequenceNumber"])
                       <= int(span.get("EndingSequenceNumber", 10 ** 60)), "outside its shard")
            if "EndingSequenceNumber" not in span:
                expect("NextShardIterator" in last and "ChildShards" not in last, "an open shard that ends")
                continue
            expect("NextShardIterator" not in last, "a closed shard that goes on")
            told = {c["ShardId"]: c for c in last["ChildShards"]}
            expect(sorted(told) == sorted(children[name]), f"{name}: children {sorted(told)}, not {children[name]}")
            for child, said in told.items():
                known = every[child]
                parents = [p for p in (known.get("ParentShardId"), known.get("AdjacentParentShardId")) if p]
                expect(said["ParentShards"] == parents and said["HashKeyRange"] == known["HashKeyRange"], said)
            at_end = start(client, "s", int(name[-12:]), "AFTER_SEQUENCE_NUMBER",
                           StartingSequenceNumber=span["EndingSequenceNumber"])
            page = client.get_records(ShardIterator=at_end)
            expect(not page["Records"] and "NextShardIterator" not in page, "not at its end")
        return f"{len(every)} shards, {sum(map(len, put.values()))} records"


def filters_and_pages_of_shards():
    with Box("stream=s:3", "change_ms=0", "list_page_max=2") as box:
        client = box.client()
        moments = []

        def moment():
            box.move_clock(5000)
            moments.append(datetime.datetime.fromtimestamp(box.now_ms() / 1000, UTC))
            box.move_clock(5000)

        moment()
        client.split_shard(StreamName="s", ShardToSplit="shardId-000000000001", NewStartingHashKey=str(2 ** 127))  # 3 4
        moment()
        client.merge_shards(StreamName="s", ShardToMerge="shardId-000000000000",
                            AdjacentShardToMerge="shardId-000000000003")  # 5
        moment()

        def pages(**arguments):
            found, page = [], client.list_shards(StreamName="s", **arguments)
            while True:
                expect(len(page["Shards"]) <= 2, "a page too long")
                found += ids(page["Shards"])
                if "NextToken" not in page:
                    return found
                page = client.list_shards(NextToken=page["NextToken"])

        at = lambda kind, **rest: pages(ShardFilter={"Type": kind, **rest})
        expect(pages() == [0, 1, 2, 3, 4, 5], pages())
        expect(pages(ExclusiveStartShardId="shardId-000000000003") == [4, 5], "after 3")
        expect(at("FROM_TRIM_HORIZON") == [0, 1, 2, 3, 4, 5], "FROM_TRIM_HORIZON")
        expect(at("AT_TRIM_HORIZON") == [0, 1, 2], at("AT_TRIM_HORIZON"))
        expect(at("AT_LATEST") == [2, 4, 5], at("AT_LATEST"))
        expect(at("AFTER_SHARD_ID", ShardId="shardId-000000000001") == [2, 3, 4, 5], "AFTER_SHARD_ID")
        expect(at("AT_TIMESTAMP", Timestamp=moments[0]) == [0, 1, 2], "AT_TIMESTAMP 0")
        expect(at("AT_TIMESTAMP", Timestamp=moments[1]) == [0, 2, 3, 4], at("AT_TIMESTAMP", Timestamp=moments[1]))
        expect(at("AT_TIMESTAMP", Timestamp=moments[2]) == [2, 4, 5], "AT_TIMESTAMP 2")
        expect(at("FROM_TIMESTAMP", Timestamp=moments[1]) == [0, 2, 3, 4, 5], "FROM_TIMESTAMP 1")
        refused("InvalidArgumentException", client.list_shards, StreamName="s", ShardFilter={"Type": "AFTER_SHARD_ID"})
        refused("InvalidArgumentException", client.list_shards, StreamName="s", NextToken="junk")
        refused("InvalidArgumentException", client.list_shards, NextToken="junk")
        paginator = client.get_paginator("describe_stream")
        found = [s for page in paginator.paginate(StreamName="s", Limit=4) for s in page["StreamDescription"]["Shards"]]
        expect(ids(found) == [0, 1, 2, 3, 4, 5], ids(found))
        # boto3's own paginator of list_shards sends both, which the service refuses too
        token = client.list_shards(StreamName="s")["NextToken"]
        refused("InvalidArgumentException", client.list_shards, StreamName="s", NextToken=token)
        stamp = client.describe_stream_summary(StreamName="s")["StreamDescriptionSummary"]["StreamCreationTimestamp"]
        client.list_shards(StreamName="s", StreamCreationTimestamp=stamp)
        refused("ResourceNotFoundException", client.list_shards, StreamName="s",
                StreamCreationTimestamp=stamp - datetime.timedelta(hours=1))


def filters_of_a_stream_that_took_time():
    """CreateStream answers before there are shards. What was there from the stream's start is there at its horizon, and at
    any time before it, which counts as the horizon."""
    with Box("change_ms=1500") as box:
        client = box.client()
        client.create_stream(StreamName="s", ShardCount=3)
        harness.wait_active(client, "s")
        stamp = client.describe_stream_summary(StreamName="s")["StreamDescriptionSummary"]["StreamCreationTimestamp"]
        at = lambda kind, **rest: ids(client.list_shards(StreamName="s", ShardFilter={"Type": kind, **rest})["Shards"])
        for kind in ("AT_TRIM_HORIZON", "FROM_TRIM_HORIZON", "AT_LATEST"):
            expect(at(kind) == [0, 1, 2], f"{kind}: {at(kind)}")
        for kind in ("AT_TIMESTAMP", "FROM_TIMESTAMP"):
            for moment in (stamp - datetime.timedelta(hours=1), stamp, stamp + datetime.timedelta(seconds=1)):
                expect(at(kind, Timestamp=moment) == [0, 1, 2], f"{kind} {moment}: {at(kind, Timestamp=moment)}")
        expect(at("AFTER_SHARD_ID", ShardId="shardId-000000000000") == [1, 2], "AFTER_SHARD_ID")
        box.move_clock(1000)
        client.split_shard(StreamName="s", ShardToSplit="shardId-000000000001", NewStartingHashKey=str(2 ** 127))
        harness.wait_active(client, "s")
        expect(at("AT_TRIM_HORIZON") == [0, 1, 2], f"after a split: {at('AT_TRIM_HORIZON')}")
        expect(at("AT_LATEST") == [0, 2, 3, 4], f"after a split: {at('AT_LATEST')}")
        box.move_clock(25 * 3600 * 1000)  # the split is older than the retention
        expect(at("AT_TRIM_HORIZON") == [0, 2, 3, 4], f"a day later: {at('AT_TRIM_HORIZON')}")


def retention_ends_records_then_shards():
    hour = 3600 * 1000
    with Box("stream=s:1", "change_ms=0", "iterator_ms=4000000000") as box:
        client = box.client()
        old = client.put_record(StreamName="s", Data=b"old", PartitionKey="k")["SequenceNumber"]
        kept = start(client, "s", 0)
        box.move_clock(hour)
        client.put_record(StreamName="s", Data=b"young", PartitionKey="k")
        client.split_shard(StreamName="s", ShardToSplit="shardId-000000000000", NewStartingHashKey=str(2 ** 127))
        box.move_clock(23 * hour + 2000)
        for iterator in (kept, start(client, "s", 0, "AT_SEQUENCE_NUMBER", StartingSequenceNumber=old)):
            expect([r["Data"] for r in read_shard(client, iterator)[0]] == [b"young"], "not the oldest that is left")
        expect(ids(listing(client, StreamName="s")) == [0, 1, 2], "the closed shard left too early")
        box.move_clock(hour)
        expect(ids(listing(client, StreamName="s")) == [1, 2], "the closed shard is still there")
        expect(ids(listing(client, StreamName="s", ShardFilter={"Type": "AT_TRIM_HORIZON"})) == [1, 2], "horizon")
        refused("ResourceNotFoundException", client.get_records, ShardIterator=kept)
        client.put_record(StreamName="s", Data=b"x", PartitionKey="k")
        box.order("POST", f"trim?stream=s&before={box.now_ms() + 1000}")
        expect(all(not read_shard(client, start(client, "s", i))[0] for i in (1, 2)), "not trimmed")


# ---- the rest ------------------------------------------------------------------------------------------------------


def faults_reach_the_client():
    with Box("stream=s:2") as box:
        client = box.client()
        iterator = start(client, "s", 1)
        box.faults("1 GetRecords 1 throttle\n1 GetRecords 1 error KMSThrottlingException:400:keys are busy\n"
                   "1 GetRecords 1 error InternalFailure\n1 GetRecords 1 expired\n1 GetRecords * delay 300\n"
                   "1 ListShards * throttle")
        refused("ProvisionedThroughputExceededException", client.get_records, ShardIterator=iterator)
        message = refused("KMSThrottlingException", client.get_records, ShardIterator=iterator)
        expect(message == "keys are busy", message)
        refused("InternalFailure", client.get_records, ShardIterator=iterator)
        refused("ExpiredIteratorException", client.get_records, ShardIterator=iterator)
        refused("LimitExceededException", client.list_shards, StreamName="s")
        began = time.monotonic()
        client.get_records(ShardIterator=iterator)
        expect(time.monotonic() - began > 0.29, "no delay")
        for script in ("1 GetRecords * cut 100", "1 GetRecords * drop", "1 GetRecords * cut 0"):
            box.faults(script)
            try:
                client.get_records(ShardIterator=iterator)
            except Exception as error:  # botocore has several for this
                expect("Connection" in type(error).__name__ or "Incomplete" in str(error), repr(error))
            else:
                raise harness.Failed(f"{script}: nothing happened")
        box.faults("1 GetRecords * error-in-header AccessDeniedException:403")
        status, headers, body = box.request("POST", "/", b"{}", {
            "Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "Kinesis_20131202.GetRecords"})
        expect((status, headers["x-amzn-ErrorType"], body) == (403, "AccessDeniedException", b""), (status, headers))
        box.faults("1 GetRecords * gzip")
        _, headers, body = box.request("POST", "/", b'{"ShardIterator":"%s"}' % iterator.encode(), {
            "Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "Kinesis_20131202.GetRecords"})
        expect(headers["Content-Encoding"] == "gzip" and b'"Records"' in gzip.decompress(body), (headers, body))
        box.faults("* * * drop")
        box.order("DELETE", "faults")
        client.get_records(ShardIterator=iterator)
        expect(box.stats()["faults_used"] == 11, box.stats()["faults_used"])


def leaving_while_answers_wait():
    """Stopping with delayed answers, half requests and idle connections open must still end clean."""
    with Box("stream=s:1") as box:
        host, port = box.address.split(":")
        body = b'{"StreamName":"s"}'
        head = (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-amz-json-1.1\r\n"
                b"X-Amz-Target: Kinesis_20131202.ListShards\r\nContent-Length: %d\r\n\r\n" % len(body))
        box.faults("* ListShards * delay 60000")
        held = [socket.create_connection((host, int(port))) for _ in range(4)]
        held[0].sendall(head + body)
        held[1].sendall(head + body)
        held[2].sendall(head[:40])
        deadline = time.monotonic() + 10
        while box.stats()["operations"]["ListShards"]["calls"] < 2:
            expect(time.monotonic() < deadline, "the calls did not arrive")
        held[0].close()  # this peer does not wait
    for connection in held[1:]:
        connection.close()


def signatures():
    with Box("stream=s:1", "access_key=AKIDEXAMPLE", "secret_key=sec/ret+key", "session_token=tok/en==") as box:
        good = box.client(secret="sec/ret+key", token="tok/en==")
        for i in range(3):
            good.put_record(StreamName="s", Data=bytes([i]) * 5000, PartitionKey="ключ")
        expect(len(good.get_records(ShardIterator=start(good, "s", 0))["Records"]) == 3, "3 records")
        box.client(secret="sec/ret+key", token="tok/en==", region="ap-southeast-2").list_streams()
        refused("InvalidSignatureException", box.client(token="tok/en==").list_streams)
        refused("UnrecognizedClientException", box.client(secret="sec/ret+key", token="other").list_streams)
        refused("UnrecognizedClientException", box.client(secret="sec/ret+key").list_streams)
        refused("UnrecognizedClientException", box.client(key="AKIDOTHER", secret="sec/ret+key",
                                                          token="tok/en==").list_streams)
        good.meta.events.register("before-send.kinesis.*", lambda request, **_: setattr(
            request, "body", request.body.replace(b"5", b"6")))
        refused("InvalidSignatureException", good.list_streams, Limit=5)
        box.move_clock(600000)
        message = refused("InvalidSignatureException",
                          box.client(secret="sec/ret+key", token="tok/en==").list_streams)
        expect(message.startswith("Signature expired: "), message)
        status, _, answer = box.request("POST", "/", b"{}", {"Content-Type": "application/x-amz-json-1.1",
                                                             "X-Amz-Target": "Kinesis_20131202.ListStreams"})
        expect(status == 400 and b"MissingAuthenticationTokenException" in answer, answer)


def synthetic_streams():
    with Box() as box:
        client = box.client()
        box.order("POST", "synthetic?name=load&shards=16&records=25000&bytes=100&rate=0&seed=3")
        for shard in (0, 15):
            records, last = read_shard(client, start(client, "load", shard))
            expect(len(records) == 25000 and last["MillisBehindLatest"] == 0, len(records))
            for i, record in enumerate(records):
                data = record["Data"]
                head = i.to_bytes(8, "little") + shard.to_bytes(8, "little")
                expect(len(data) == 100 and data[:16] == head, (i, data))
                expect(data[16:96] == data[16:24] * 10, "filler")
            numbers = [int(r["SequenceNumber"]) for r in records]
            expect(all(a < b for a, b in zip(numbers, numbers[1:])), "numbers do not rise")
            times = [r["ApproximateArrivalTimestamp"] for r in records]
            expect(times == sorted(times) and times[-1] < datetime.datetime.now(UTC), "times")
            middle = read_shard(client, start(client, "load", shard, "AFTER_SEQUENCE_NUMBER",
                                              StartingSequenceNumber=records[12344]["SequenceNumber"]), limit=1000)[0]
            expect(middle == records[12345:], "not the same records from the middle on")
        box.order("POST", "synthetic?name=slow&shards=1&records=*&bytes=8&rate=1000&seed=3")
        iterator = start(client, "slow", 0)
        box.move_clock(60000)
        n = len(client.get_records(ShardIterator=iterator)["Records"])
        expect(n == 10000, n)
        refused("InvalidArgumentException", client.put_record, StreamName="slow", Data=b"", PartitionKey="k")


def the_aws_cli():
    program = os.path.join(os.path.dirname(sys.executable), "aws")
    program = program if os.access(program, os.X_OK) else shutil.which("aws")
    if not program:
        raise servers.Missing("no aws command (sh test/install.sh test)")
    with Box("change_ms=0") as box:
        environment = {**os.environ, "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "x",
                       "AWS_DEFAULT_REGION": "us-east-1", "AWS_ENDPOINT_URL": box.url, "AWS_CONFIG_FILE": "/dev/null",
                       "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true"}

        def aws(*words):
            done = subprocess.run([program, "kinesis", *words, "--output", "json"], env=environment, timeout=60,
                                  capture_output=True, check=False)
            expect(done.returncode == 0, done.stderr.decode())
            return json.loads(done.stdout) if done.stdout.strip() else None

        aws("create-stream", "--stream-name", "s", "--shard-count", "2")
        data = base64.b64encode(b"from the command line").decode()
        put = aws("put-record", "--stream-name", "s", "--partition-key", "k", "--data", data)
        expect(len(aws("list-shards", "--stream-name", "s")["Shards"]) == 2, "2 shards")
        iterator = aws("get-shard-iterator", "--stream-name", "s", "--shard-id", put["ShardId"],
                       "--shard-iterator-type", "TRIM_HORIZON")["ShardIterator"]
        page = aws("get-records", "--shard-iterator", iterator)
        expect([r["SequenceNumber"] for r in page["Records"]] == [put["SequenceNumber"]], page)
        expect(base64.b64decode(page["Records"][0]["Data"]).decode() in ("from the command line", data), page)
        expect(aws("describe-stream", "--stream-name", "s")["StreamDescription"]["StreamStatus"] == "ACTIVE", "ACTIVE")


if __name__ == "__main__":
    warnings.filterwarnings("error", category=ResourceWarning)
    tests = harness.Tests()
    lanes = [
        (the_aws_cli,), (lineage_through_generations, synthetic_streams),
        (life_of_a_stream, names_and_pages_of_names, retention_periods, bad_input, records_go_round, all_kinds_of_iterators,
         iterators_and_tokens_expire, behind_by_the_wall_clock, limits_of_reading, limits_of_writing,
         filters_and_pages_of_shards, filters_of_a_stream_that_took_time, retention_ends_records_then_shards,
         faults_reach_the_client, leaving_while_answers_wait, signatures)]

    def in_turn(lane):
        for test in lane:
            tests.run(test.__name__.replace("_", " "), test)

    tests.side_by_side([lambda lane=lane: in_turn(lane) for lane in lanes])
    tests.end()
