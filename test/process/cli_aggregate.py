"""-P --aggregate against the sandbox: what the published Python package takes apart, and what is left when aggregates are left
out that have a record of another shard, as the Kinesis Client Library does; order of a key, throttling, a split
and a merge, refused aggregates, lost answers, streams for which there are no aggregates. SLOOP_BIN names the program."""

import base64
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from box import BIN, Box
from command import check, end, environment, equal, main, test, wait_until
from producing import by_key, count, feed, free_box, keyed, produce, records

try:
    from aws_kinesis_agg.deaggregator import deaggregate_records
    from aws_kinesis_agg import MAGIC
except ImportError:
    print("skip all: aws-kinesis-agg is not installed here (sh test/install.sh test)")
    sys.exit(77)

AGGREGATE_BYTES = 51200


def taken_apart(raw):
    """The records of one of the stream: (key, data, hash key), by the package. 'aggregated' is what it says of them."""
    key, data, _ = raw
    rows = deaggregate_records([{"kinesis": {"kinesisSchemaVersion": "1.0", "sequenceNumber": "1", "partitionKey": key,
                                             "approximateArrivalTimestamp": 0, "data": base64.b64encode(data).decode()}}])
    rows = [row["kinesis"] for row in rows]
    found = []
    for row in rows:
        # A record that is no aggregate has no explicit hash key here: the service has placed it already.
        explicit = row.get("explicitHashKey")
        found.append((row["partitionKey"], base64.b64decode(row["data"]),
                      int(explicit) if explicit else int(hashlib.md5(row["partitionKey"].encode()).hexdigest(), 16)))
    return found


def ranges(kinesis, stream):
    return {shard["ShardId"]: (int(shard["HashKeyRange"]["StartingHashKey"]), int(shard["HashKeyRange"]["EndingHashKey"]))
            for shard in kinesis.list_shards(StreamName=stream)["Shards"]}


def kept_by_kcl(kinesis, stream="demo"):
    """([(key, data)] in their order, how many were left out, how many records the stream has). The library leaves an aggregate
    out as a whole when one of its records does not belong to the shard."""
    of, kept, left_out = ranges(kinesis, stream), [], 0
    raw = records(kinesis, stream)
    for row in raw:
        (low, high), rows = of[row[2]], taken_apart(row)
        if row[1].startswith(MAGIC) and not all(low <= place <= high for *_, place in rows):
            left_out += len(rows)
        else:
            kept += [(key, data) for key, data, _ in rows]
    return kept, left_out, len(raw)


@test
def aggregates_are_read_by_the_package_and_by_us():
    lines, lists = keyed(20000, 500)
    with free_box(4) as box:
        kinesis = box.boto3("kinesis")
        code, err = produce(box, "-K", ":", "--aggregate", given=lines)
        equal((code, count(err, "records put")), (0, 20000), err)
        kept, foreign, n = kept_by_kcl(kinesis)
        equal((by_key(kept), foreign), (lists, 0))
        equal(n, count(err, "aggregates?"), err)
        check(n < 200, "so few are needed", n)
        r = box.tail("-o", "oldest", "-e", "-J", "demo")
        rows = [json.loads(line) for line in r.out.splitlines()]
        equal(by_key((row["key"], row["payload"].encode()) for row in rows), lists)
        check(not any(row.get("foreign") or row.get("raw") for row in rows), "one is foreign, or whole")


@test
def sizes_are_bounded_and_large_records_go_by_themselves():
    sizes = [1, 100, 30000, 51000, AGGREGATE_BYTES, 200000, 2 << 20, 0, 3, 25000, 25000, 25000]
    lines = [b"key%d:" % (i % 5) + b"x" * size for i, size in enumerate(sizes * 8)]
    with free_box(2) as box:
        kinesis = box.boto3("kinesis")
        code, err = produce(box, "-K", ":", "--aggregate", given=b"\n".join(lines))
        # 2 MiB are more than a stream takes by default: refused, one by one
        equal((code, count(err, "records put"), count(err, "refused")), (9, 88, 8), err)
        want = by_key((line.split(b":")[0].decode(), line.split(b":")[1]) for line in lines if len(line) < 1 << 21)
        kept, foreign, _ = kept_by_kcl(kinesis)
        equal((by_key(kept), foreign), (want, 0))
        for _, data, _ in records(kinesis):
            check(len(data) <= AGGREGATE_BYTES or data == b"x" * len(data), len(data))


@test
def explicit_hash_keys_decide():
    """One key, and hash keys in all shards: an aggregate has those of one shard."""
    lines = b"".join(json.dumps({"key": "k%d" % (i % 3), "payload": str(i),
                                 **({"explicit_hash_key": str((i * 7919 % 97) * 2**128 // 97)} if i % 4 else {})}).encode() + b"\n"
                     for i in range(3000))
    with free_box(4) as box:
        kinesis = box.boto3("kinesis")
        code, err = produce(box, "-J", "--aggregate", given=lines)
        equal((code, count(err, "records put")), (0, 3000), err)
        kept, foreign, _ = kept_by_kcl(kinesis)
        equal((sorted(int(data) for _, data in kept), foreign), (list(range(3000)), 0))
        check(count(err, "of them in") > 1000, err)


@test
def a_replay_of_aggregates_is_equal_by_key_and_payload():
    lines, _ = keyed(3000, 50)
    with free_box(3) as box, tempfile.TemporaryDirectory() as folder:
        kinesis, dump = box.boto3("kinesis"), os.path.join(folder, "dump")
        equal(produce(box, "-K", ":", "--aggregate", given=lines)[0], 0)
        with open(dump, "wb") as out:
            equal(subprocess.run([BIN, "-o", "oldest", "-e", "-J", "demo"], stdout=out, env=environment(box.env), check=False).returncode, 0)
        box.make_stream("copy", 5)
        with open(dump, "rb") as file:
            code, err = produce(box, "-J", "--aggregate", given=file.read(), stream="copy")
        equal((code, count(err, "records put")), (0, 3000), err)
        equal(by_key(kept_by_kcl(kinesis, "copy")[0]), by_key(kept_by_kcl(kinesis)[0]))


@test
def throttled_aggregates_lose_nothing_and_keep_the_order():
    lines, lists = keyed(6000, 300)
    with Box(4, "-X", "sandbox.write_records_per_second=2", "-X", "sandbox.reads_per_second=0") as box:
        box.admin("/_sandbox/faults", "1 PutRecords * throttle\n2 PutRecords * status 503\n1 PutRecords * error InternalFailure\n"
                                      "1 ListShards * throttle\n1 ListShards * status 500\n")
        code, err = produce(box, "-K", ":", "--aggregate", "--rate", "3000", given=lines)
        equal((code, count(err, "records put")), (0, 6000), err)
        check(count(err, "put again") > 100, "nothing was throttled", err)
        kept, foreign, _ = kept_by_kcl(box.boto3("kinesis"))
        equal((by_key(kept), foreign), (lists, 0))


@test
def one_bad_record_of_an_aggregate_does_not_spoil_the_others():
    """The service refuses whole calls: they become smaller until the record to blame is alone."""
    lines, lists = keyed(500, 100)
    with free_box(1) as box:
        box.admin("/_sandbox/faults", "4 PutRecords * error InvalidArgumentException:400:no\n")
        code, err = produce(box, "-K", ":", "--aggregate", given=lines)
        equal((code, count(err, "records put")), (0, 500), err)
        equal(by_key(kept_by_kcl(box.boto3("kinesis"))[0]), lists)
        box.admin("/_sandbox/faults", "* PutRecords * error InvalidArgumentException:400:never\n")
        code, err = produce(box, "--aggregate", given=b"".join(b"%d\n" % i for i in range(600)))
        equal(code, 1, err)
        check("never" in err[-2] and count(err, "refused") + count(err, "read and not put") == 600, err)


@test
def a_split_and_a_merge_meanwhile():
    """Aggregates that were made before the stream was resharded are stored in shards to which some of their records do not
    belong. Those come again, and nobody misses one. Whether an aggregate is under way at that moment is chance, so it is
    played until one was."""
    check(any(resharded_meanwhile() for _ in range(12)), "no aggregate went astray in twelve plays")


def resharded_meanwhile():
    """Returns how many records of aggregates were stored in a shard to which they do not belong."""
    lines, lists = keyed(12000, 200)
    with free_box(2) as box:
        kinesis = box.boto3("kinesis")
        p = subprocess.Popen([BIN, "-P", "demo", "-K", ":", "--aggregate", "--rate", "6000"], stdin=subprocess.PIPE,
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
            equal((p.wait(30), count(err, "records put")), (0, 12000), err)
        finally:
            end(p)
        kept, foreign, _ = kept_by_kcl(kinesis)
        equal(by_key(kept), lists)
        check(not foreign or foreign == count(err, "put again"), foreign, err)
        check(len({shard for *_, shard in records(kinesis)}) > 2, "no record came after the split")
        return foreign


@test
def a_listing_that_lags_behind_is_asked_for_again():
    """The answer of PutRecords names a shard before ListShards does."""
    lines, lists = keyed(2000, 100)
    with free_box(1) as box:
        box.admin("/_sandbox/faults", "1 ListShards * delay 300\n")
        p = subprocess.Popen([BIN, "-P", "demo", "-K", ":", "--aggregate"], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=environment(box.env))
        try:
            p.stdin.write(lines[:len(lines) // 2])
            p.stdin.flush()
            wait_until(lambda: box.calls("PutRecords") > 0, what="a call")
            box.admin("/_sandbox/faults", "2 ListShards * status 500\n")
            box.admin("/_sandbox/split?stream=demo&shard=shardId-000000000000")
            p.stdin.write(lines[len(lines) // 2:])
            p.stdin.close()
            err = p.stderr.read().decode().splitlines()
            equal((p.wait(30), count(err, "records put")), (0, 2000), err)
        finally:
            end(p)
        equal(by_key(kept_by_kcl(box.boto3("kinesis"))[0]), lists)
        check(box.calls("ListShards") >= 4, box.calls("ListShards"))


@test
def an_answer_that_is_lost_repeats_only_its_call():
    lines, lists = keyed(3000, 300)
    with free_box(2) as box:
        box.admin("/_sandbox/faults", "1 PutRecords * drop\n1 PutRecords * cut 150\n")
        code, err = produce(box, "-K", ":", "--aggregate", given=lines)
        equal((code, count(err, "records put")), (0, 3000), err)
        for key, data in by_key(kept_by_kcl(box.boto3("kinesis"))[0]).items():
            first = list(dict.fromkeys(data))
            equal(sorted(first, key=int), lists[key])  # twice at most, and none is lost
            check(len(data) <= 3 * len(lists[key]), key, data)


@test
def no_aggregates_where_the_service_places_records():
    with free_box(2) as box:
        code, err = produce(box, "--aggregate", given=b"x\n", stream="nosuch")
        equal(code, 1, err)
        check("ENOSTREAM" in err[0], err)
        kinesis = box.boto3("kinesis")
        box.call("CreateStream", StreamName="free", StreamModeDetails={"StreamMode": "ON_DEMAND"}, RecordDistributionStrategy="AUTO")
        code, err = produce(box, "--aggregate", given=b"x\ny\n", stream="free")
        equal((code, count(err, "read and not put"), len(records(kinesis, "free"))), (1, 2, 0), err)
        check("RecordDistributionStrategy is AUTO" in err[0], err)
        equal(produce(box, "--aggregate", stream="empty-input")[0], 0)  # nothing was to be put, and no service was asked


@test
def an_interrupt_accounts_for_every_line():
    lines, lists = keyed(60000, 500)
    with free_box(2) as box, tempfile.TemporaryDirectory() as folder:
        kinesis, rejects = box.boto3("kinesis"), os.path.join(folder, "rejects")
        box.admin("/_sandbox/faults", "* PutRecords * delay 50\n")
        p = subprocess.Popen([BIN, "-P", "demo", "-K", ":", "--aggregate", "--rejects", rejects], stdin=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=environment(box.env))
        try:
            feeder = threading.Thread(target=feed, args=(p, lines))
            feeder.start()
            wait_until(lambda: box.calls("PutRecords") > 1, what="some calls")
            p.send_signal(2)
            err = p.stderr.read().decode().splitlines()
            code = p.wait(10)
        finally:
            end(p)
            feeder.join()
        kept = kept_by_kcl(kinesis)[0]
        with open(rejects, "rb") as file:
            left = file.read().splitlines()
        equal(count(err, "records put"), len(kept), err)
        equal(count(err, "read and not put") + count(err, "put or not"), len(left), err)
        equal(code, 1 if left else 0, err)
        for key, data in by_key(kept).items():
            equal(data, lists[key][:len(data)], key)


main(at_once=3)
