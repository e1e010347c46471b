"""What tests of -P have in common: running it, and reading what is in the stream."""

import random
import re
import subprocess
import time

from box import BIN, NO_LIMITS, Box
from command import environment, equal


def produce(box, *args, given=b"", limit=60, env=None, stream="demo"):
    """(exit status, the lines on standard error). Nothing may be on standard output."""
    got = subprocess.run([BIN, "-P", stream, *args], input=given, capture_output=True, timeout=limit, check=False,
                         env=environment({**box.env, **(env or {})}))
    equal(got.stdout, b"", "standard output is for records")
    return got.returncode, got.stderr.decode().splitlines()


def records(kinesis, stream="demo"):
    """Every record of the stream, by sequence number: (key, data, shard). Numbers grow from a parent to its children."""
    found = {}
    for shard in kinesis.list_shards(StreamName=stream)["Shards"]:
        at = kinesis.get_shard_iterator(StreamName=stream, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")
        at, empty = at["ShardIterator"], 0
        while at and empty < 2:
            try:
                page = kinesis.get_records(ShardIterator=at, Limit=10000)
            except kinesis.exceptions.ProvisionedThroughputExceededException:
                time.sleep(0.2)  # five calls a second
                continue
            for record in page["Records"]:
                found[int(record["SequenceNumber"])] = (record["PartitionKey"], record["Data"], shard["ShardId"])
            empty = 0 if page["Records"] else empty + 1
            at = page.get("NextShardIterator")
    return [found[number] for number in sorted(found)]


def by_key(got):
    lists = {}
    for key, data, *_ in got:
        lists.setdefault(key, []).append(data)
    return lists


def count(lines, what):
    """A number of the last line, such as that before "records put"."""
    found = re.search(rf"(\d+) {what}", lines[-1])
    return int(found[1]) if found else 0


def free_box(shards=4, *options):
    return Box(shards, *NO_LIMITS, "-X", "sandbox.reads_per_second=0", "-X", "sandbox.change_ms=0", *options)


def keyed(n, keys, seed=3):
    """Lines KEY:NUMBER, and the lists that must come out."""
    rand, lists, lines = random.Random(seed), {}, []
    for i in range(n):
        key = f"key{rand.randrange(keys)}"
        lists.setdefault(key, []).append(b"%d" % i)
        lines.append(f"{key}:{i}\n")
    return "".join(lines).encode(), lists


def feed(p, lines):
    try:
        p.stdin.write(lines)
        p.stdin.flush()
    except BrokenPipeError:
        pass
