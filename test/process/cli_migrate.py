"""stream-tail --migrate: positions go from rows of one layout, or a token, to another, and back. What counts is what is read
in the target: together with what was read in the source every record comes once. Rows are looked at by boto3. SLOOP_BIN
names the program."""

import base64
import json
import os
import re
import signal
import subprocess
import tempfile
import time

from aws_kinesis_agg.aggregator import RecordAggregator

from box import BIN, Box, NO_LIMITS
from command import check, environment, equal, main, test, wait_until

QUICK = ("-X", "lease_ms=2000", "-X", "checkpoint_ms=500", "-X", "poll_ms=200")
TABLES = {"sloop": "sloop", "kcl": "app", "kcl+": "app"}


GO = "vmware-go-kcl"
KEYS = {"sloop": "row", "kcl": "leaseKey", "kcl+": "leaseKey", GO: "ShardID", "motorway": "shard_id", "kcl-rb": "shard_id"}
WHOLE = (GO, "motorway", "kcl-rb")  # they have no positions inside an aggregate


class Form:
    """A way to keep positions, and to read with it."""

    def __init__(self, box, kind, folder, app="app", more=()):
        self.box, self.kind, self.more = box, kind, more
        self.app = app
        self.file = os.path.join(folder, f"token-{app}")
        self.place = f"token:{self.file}" if kind == "token" else f"{kind}:{app}"

    def read(self, count):
        """That many records, in order of their coming; leaves in order."""
        if self.kind == "token":
            r = self.box.tail("-J", "-c", str(count), "-o", "oldest", "--save", self.file, "demo")
        elif self.kind == "kcl+":
            # A second stream makes it an application of several; nothing is written there.
            r = self.box.tail("-J", "-G", self.app, *QUICK, "-X", "schema=kcl", "-c", str(count), "-o", "oldest", "demo", "empty")
        else:
            r = self.box.tail("-J", "-G", self.app, *QUICK, "-X", f"schema={self.kind}", *self.more, "-c", str(count), "-o", "oldest",
                              "demo")
        equal(r.code, 0, self.place, r.err)
        got = [json.loads(line)["payload"] for line in r.out.splitlines()]
        equal(len(got), count, self.place)
        return got

    def read_all(self, count):
        """A token that stops inside a shard may stand at its first record, for which a table of the KCL has no word; and
        vmware-go-kcl knows no place inside an aggregate."""
        if self.kind != "token":
            return self.read(count)
        r = self.box.tail("-J", "-e", "-o", "oldest", "--save", self.file, "demo")
        equal(r.code, 0, r.err)
        return [json.loads(line)["payload"] for line in r.out.splitlines()]

    def rows(self):
        table = TABLES[self.kind] if self.kind == "sloop" else self.app
        items = self.box.boto3("dynamodb").scan(TableName=table, ConsistentRead=True)["Items"]
        rows = [{name: next(iter(value.values())) for name, value in item.items()} for item in items]
        if self.kind == "sloop":
            return {row["row"].rpartition("/")[2]: row for row in rows if row["app"] == self.app and "/l/" in row["row"]}
        return {row[KEYS[self.kind]].rpartition(":")[2]: row for row in rows}

    def migrate(self, to, *args, stream="demo"):
        return self.box.tail("--migrate", self.place, to.place, "-X", "lease_ms=2000", *args, stream)


def aggregate(texts, key):
    packer = RecordAggregator()
    for text in texts:
        packer.add_user_record(key, text)
    return packer.clear_and_get().get_contents()[2]


def fill(box, n, start=0, plain=False):
    """Every fourth record is an aggregate of 7."""
    truth, entries, number = [], [], start
    while number < start + n:
        texts = [f"text {number + i}" for i in range(7 if len(entries) % 4 == 3 and not plain else 1)]
        number += len(texts)
        truth += texts
        body = aggregate(texts, f"key-{number}") if len(texts) > 1 else texts[0].encode()
        entries.append({"Data": body, "PartitionKey": f"key-{number * 7919 % 1000}"})
    kinesis = box.boto3("kinesis")
    equal(kinesis.put_records(StreamName="demo", Records=entries)["FailedRecordCount"], 0)
    return truth


def reshard(box):
    """The first open shard is split, the last two are merged."""
    kinesis = box.boto3("kinesis")

    def shards():
        return sorted((s for s in kinesis.list_shards(StreamName="demo")["Shards"] if "EndingSequenceNumber" not in s["SequenceNumberRange"]),
                      key=lambda s: int(s["HashKeyRange"]["StartingHashKey"]))

    def settled():
        return kinesis.describe_stream_summary(StreamName="demo")["StreamDescriptionSummary"]["StreamStatus"] == "ACTIVE"

    low, high = (int(shards()[0]["HashKeyRange"][f"{end}HashKey"]) for end in ("Starting", "Ending"))
    kinesis.split_shard(StreamName="demo", ShardToSplit=shards()[0]["ShardId"], NewStartingHashKey=str((low + high) // 2))
    wait_until(settled, what="the split")
    last = shards()[-2:]
    kinesis.merge_shards(StreamName="demo", ShardToMerge=last[0]["ShardId"], AdjacentShardToMerge=last[1]["ShardId"])
    wait_until(settled, what="the merge")


def wrote(r, n=None):
    equal(r.code, 0, r.err)
    copied = re.search(rb"^(\d+) copied, (\d+) were there already$", r.out, re.M)
    check(copied, r.out)
    if n is not None:
        equal(int(copied[1]), n)
    return int(copied[1]) + int(copied[2])


def there_and_back(kind, other):
    """Some of the stream is read in one form, some more in the other, the rest in the first again."""
    whole = kind in WHOLE or other in WHOLE
    to_kcl = "token" in (kind, other) and "sloop" not in (kind, other)
    more = ("-o", "oldest", "-X", "aggregates=keep") if whole else ()

    def some(form, count):
        if whole:
            return form.read_all(len(truth) - len(seen))
        return form.read_all(count) if to_kcl and form.kind == "token" else form.read(count)

    with Box(3, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        box.make_stream("empty", 1)
        truth = fill(box, 60, plain=whole)
        reshard(box)
        truth += fill(box, 60, start=1000, plain=whole)
        one, two, three = Form(box, kind, folder, "app-one"), Form(box, other, folder, "app-two"), Form(box, kind, folder, "app-three")
        seen = []
        seen += some(one, 67)
        dry = one.migrate(two, *more)
        equal(dry.code, 0, dry.err)
        check(b"nothing was written" in dry.out, dry.out)
        check(not os.path.exists(two.file))
        if other != "token":
            check(two.app not in box.boto3("dynamodb").list_tables()["TableNames"])
        r = one.migrate(two, "--write", *more)
        equal(r.code, 0, r.err)
        listed = {s["ShardId"] for s in box.boto3("kinesis").list_shards(StreamName="demo")["Shards"]}
        equal(set(re.findall(r"shardId-\d+", r.out.decode())), listed)
        if other != "token":
            equal(wrote(r), len(listed))
            equal(set(two.rows()), listed)
        again = one.migrate(two, "--write", *more)
        equal(again.code, 0, again.err)
        check(b"already" in again.out, again.out)
        truth += fill(box, 40, start=2000, plain=whole)
        seen += some(two, 29)
        r = two.migrate(three, "--write", *more)
        equal(r.code, 0, r.err)
        truth += fill(box, 20, start=3000, plain=whole)
        seen += three.read(len(truth) - len(seen))
        equal(sorted(seen), sorted(truth))


FORMS = ("sloop", "kcl", "kcl+", "token", GO)
MORE_FORMS = ("motorway", "kcl-rb")


def pair(kind, other):
    def run():
        there_and_back(kind, other)
    run.__name__ = f"there_and_back_{kind}_{other}".replace("+", "s").replace("-", "_")
    test(run)


for _kind in FORMS:
    for _other in FORMS:
        if _kind != _other:
            pair(_kind, _other)


for _kind in MORE_FORMS:
    for _other in (*FORMS, *MORE_FORMS) if os.environ.get("SLOOP_TEST_FULL") else ("sloop", "motorway"):
        if _kind != _other:
            pair(_kind, _other)
            if _other in FORMS and os.environ.get("SLOOP_TEST_FULL"):
                pair(_other, _kind)


@test
def rows_have_what_their_layout_wants():
    """Parents, hash ranges, sub-records and ends, as boto3 reads them."""
    with Box(2, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        truth = fill(box, 40)
        sloop, kcl = Form(box, "sloop", folder), Form(box, "kcl", folder)
        sloop.read(len(truth))
        before = box.boto3("kinesis").list_shards(StreamName="demo")["Shards"]
        reshard_one = before[0]["ShardId"]
        box.call("SplitShard", StreamName="demo", ShardToSplit=reshard_one,
                 NewStartingHashKey=str(int(before[0]["HashKeyRange"]["EndingHashKey"]) // 2))
        wait_until(lambda: len(box.boto3("kinesis").list_shards(StreamName="demo")["Shards"]) == 4, what="the split")
        more = fill(box, 40, start=1000)
        sloop.read(len(more) - 2)
        wrote(sloop.migrate(kcl, "--write"), 4)
        native, rows = sloop.rows(), kcl.rows()
        for shard in box.boto3("kinesis").list_shards(StreamName="demo")["Shards"]:
            row, name = rows[shard["ShardId"]], shard["ShardId"]
            equal((row["startingHashKey"], row["endingHashKey"]), tuple(shard["HashKeyRange"][f"{end}HashKey"] for end in ("Starting", "Ending")))
            equal(row.get("parentShardId"), [shard["ParentShardId"]] if "ParentShardId" in shard else None)
            check("leaseOwner" not in row)
            kind, seq, sub = (native[name]["pos"].split(":") + ["", ""])[:3]
            if native[name]["pos"] == "9:end":
                equal(row["checkpoint"], "SHARD_END")
                equal(len(row["childShardIds"]), 2)
            elif kind == "1":
                equal(row["checkpoint"], seq.lstrip("0")[0:] if not seq[3:].isdigit() else row["checkpoint"])
                check(seq.endswith(row["checkpoint"]), native[name], row)
                equal(int(row["checkpointSubSequenceNumber"]), int(sub) - 1)
        # And back: a third application's rows are those of the first.
        third = Form(box, "sloop", folder, "third")
        wrote(kcl.migrate(third, "--write"), 4)
        equal({name: (row["pos"], row["range"], row.get("parents")) for name, row in third.rows().items()},
              {name: (row["pos"], row["range"], row.get("parents")) for name, row in native.items()})


def refused(form, to, words, *args, code=1, table=None, **more):
    """Nothing is written, and what is wrong is named."""
    dynamodb = form.box.boto3("dynamodb")

    def snapshot():
        names = dynamodb.list_tables()["TableNames"]
        return {name: sorted(json.dumps({k: v for k, v in item.items() if k not in ("leaseCounter", "ctr", "ts", "lag", "rate", "op")},
                                        sort_keys=True, default=str) for item in dynamodb.scan(TableName=name, ConsistentRead=True)["Items"])
                for name in names if table is None or name in table}

    before = snapshot()
    for write in ((), ("--write",)):
        r = form.migrate(to, *write, *args, **more)
        equal(r.code, code, r.err, r.out)
        for word in (words,) if isinstance(words, str) else words:
            check(word in r.err + r.out.decode(), f"{word!r} is not in {r.err!r} {r.out!r}")
        equal(r.err.count("\n"), 1, r.err)
        check("copied" not in r.out.decode(), r.out)
        equal(snapshot(), before)


@test
def a_living_worker_on_either_side():
    with Box(2, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        truth = fill(box, 20)
        for kind in ("sloop", "kcl"):
            source, other = Form(box, kind, folder, f"alive-{kind}"), Form(box, "kcl" if kind == "sloop" else "sloop", folder, f"still-{kind}")
            other.read(5)
            worker = box.start("-J", "-G", source.app, *QUICK, "-X", f"schema={kind}", "-X", "worker=me", "-o", "oldest", "demo",
                               stdout=subprocess.DEVNULL)
            try:
                def begun():
                    try:
                        return len(source.rows()) == 2 and all("owner" in r or "leaseOwner" in r for r in source.rows().values())
                    except Exception:  # there is no table yet; pylint: disable=broad-exception-caught
                        return False
                wait_until(begun, 20, "it reads")
                refused(source, other, ("alive", "the source"), code=4, table=("none",))
                target = Form(box, "token", folder)
                refused(source, target, "alive", code=4, table=("none",))
                check(not os.path.exists(target.file))
                refused(other, source, ("conflict",), table=("none",))  # what it has read differs; also when it lives
            finally:
                worker.kill()
                worker.wait()
            r = source.migrate(Form(box, "token", folder, f"token-{kind}"), "--write")  # dead for a lease
            equal(r.code, 0, r.err)
        check(len(truth) >= 20)


@test
def a_worker_without_a_lease_counts_too():
    with Box(1, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        fill(box, 10)
        source, target = Form(box, "sloop", folder, "one"), Form(box, "sloop", folder, "two")
        source.read(3)
        workers = [box.start("-J", "-G", "two", *QUICK, "-X", f"worker={name}", "-o", "oldest", "demo", stdout=subprocess.DEVNULL)
                   for name in "ab"]
        try:
            def registered():
                items = box.boto3("dynamodb").scan(TableName="sloop", ConsistentRead=True)["Items"]
                return sum(i["app"]["S"] == "two" and "/w/" in i["row"]["S"] for i in items) == 2 and target.rows()
            wait_until(registered, 20, "both work")
            row = next(iter(source.rows().values()))
            box.boto3("dynamodb").update_item(TableName="sloop", Key={"app": {"S": "two"}, "row": {"S": next(iter(target.rows().values()))["row"]}},
                                              UpdateExpression="SET pos = :p REMOVE #o", ExpressionAttributeNames={"#o": "owner"},
                                              ExpressionAttributeValues={":p": {"S": row["pos"]}})
            r = source.migrate(target, "--write")
            equal((r.code, "alive" in r.err or "conflict" in r.err + r.out.decode()), (4 if "alive" in r.err else 1, True), r.err)
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()


@test
def what_is_in_the_way_in_the_target():
    with Box(2, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        dynamodb = box.boto3("dynamodb")
        fill(box, 30)
        source = Form(box, "sloop", folder, "source")
        source.read(20)
        first, second = "shardId-000000000000", "shardId-000000000001"

        def target(name, **row):
            form = Form(box, "kcl", folder, name)
            dynamodb.create_table(TableName=name, BillingMode="PAY_PER_REQUEST",
                                  AttributeDefinitions=[{"AttributeName": "leaseKey", "AttributeType": "S"}],
                                  KeySchema=[{"AttributeName": "leaseKey", "KeyType": "HASH"}])
            wait_until(lambda: dynamodb.describe_table(TableName=name)["Table"]["TableStatus"] == "ACTIVE", what=name)
            if row:
                dynamodb.put_item(TableName=name, Item=row)
            return form

        lease = {"leaseKey": {"S": first}, "leaseCounter": {"N": "3"}, "checkpoint": {"S": "TRIM_HORIZON"},
                 "checkpointSubSequenceNumber": {"N": "0"}, "ownerSwitchesSinceCheckpoint": {"N": "0"}}
        refused(source, target("other-place", **lease), ("shardId-000000000000: conflict: the source has after", "has oldest", "1 rows"))
        refused(source, target("other-shard", **{**lease, "leaseKey": {"S": "shardId-000000000077"}}), ("shardId-000000000077: conflict", "(oldest)"))
        refused(source, target("wrong-type", **{**lease, "checkpoint": {"N": "12"}}), ("is invalid", "its checkpoint can't be understood"))
        refused(source, target("no-number", **{**lease, "leaseCounter": {"S": "x"}}), ("is invalid", "leaseCounter"))
        refused(source, target("foreign", **{"leaseKey": {"S": "invoice-7"}, "total": {"N": "12"}}), ("invoice-7: conflict", "does not belong to its schema"))
        refused(source, target("other-streams", **{**lease, "leaseKey": {"S": "000000000000:else:17:" + first}}), ("conflict",))
        def version(word):
            return {"leaseKey": {"S": "Migration3.0"}, "entityType": {"S": "COORDINATOR_STATE"}, "cv": {"S": word}}

        for name, word in (("half-moved", "CLIENT_VERSION_UPGRADE_FROM_2X"), ("unknown", "CLIENT_VERSION_9X")):
            refused(source, target(name, **version(word)), (word, "other rules", "the target"))
        for name, word in (("of-three", "CLIENT_VERSION_3X"), ("back", "CLIENT_VERSION_3X_WITH_ROLLBACK")):
            form = target(name, **version(word))  # none of its workers lives
            wrote(source.migrate(form, "--write"), 2)
            there = dynamodb.get_item(TableName=name, Key={"leaseKey": {"S": "Migration3.0"}}, ConsistentRead=True)["Item"]
            equal(there, version(word))
        # Keys of another table altogether.
        dynamodb.create_table(TableName="orders", BillingMode="PAY_PER_REQUEST", AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                              KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}])
        wait_until(lambda: dynamodb.describe_table(TableName="orders")["Table"]["TableStatus"] == "ACTIVE", what="orders")
        for kind in ("kcl", "sloop"):
            form = Form(box, kind, folder, "orders")
            form.place += "@dynamodb:orders"
            refused(source, form, ("the target", "orders"))
        # What was there in the right place is no obstacle, and stays as it is.
        half = target("half-there", **{**lease, "checkpoint": {"S": "x"}})
        wrote(source.migrate(Form(box, "kcl", folder, "whole"), "--write"), 2)
        row = dynamodb.get_item(TableName="whole", Key={"leaseKey": {"S": first}})["Item"]
        dynamodb.put_item(TableName="half-there", Item={**row, "leaseCounter": {"N": "8"}, "theirs": {"S": "stays"}})
        wrote(source.migrate(half, "--write"), 1)
        equal((half.rows()[first]["theirs"], half.rows()[first]["leaseCounter"], sorted(half.rows())), ("stays", "8", [first, second]))


@test
def what_is_in_the_way_in_the_source():
    with Box(2, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        dynamodb = box.boto3("dynamodb")
        put = box.put(30)
        source, target = Form(box, "sloop", folder, "source"), Form(box, "kcl", folder, "target")
        refused(source, target, ("the source", "sloop"))  # no table
        source.read(20)
        refused(Form(box, "sloop", folder, "nobody"), target, ("the source", "no leases"))
        first = next(row for row in source.rows().values() if row["pos"].startswith("1:"))
        shard = first["row"].rpartition("/")[2]

        def row(**attributes):
            key = {"app": {"S": "source"}, "row": {"S": first["row"]}}
            dynamodb.update_item(TableName="sloop", Key=key, UpdateExpression="SET " + ", ".join(f"{n} = :{n}" for n in attributes),
                                 ExpressionAttributeValues={f":{n}": v for n, v in attributes.items()})

        for attributes, words in (({"pos": {"N": "7"}}, "is invalid"), ({"pos": {"S": "somewhere"}}, "is invalid"),
                                  ({"epoch": {"S": "two"}}, "its epoch is no number")):
            row(**attributes)
            for to in (target, Form(box, "token", folder)):
                refused(source, to, (f"{shard}", words, "conflict"))
            row(pos={"S": first["pos"]}, epoch={"N": first["epoch"]})
        row(park={"S": "someone"})
        refused(source, target, (f"{shard}: conflict: it is parked", "--release"))
        dynamodb.update_item(TableName="sloop", Key={"app": {"S": "source"}, "row": {"S": first["row"]}}, UpdateExpression="REMOVE park")
        # A position that the layout has no word for: at a record, which an operator can set.
        seq = next(p[1] for p in put if p[0] == shard)
        r = box.tail("--reset", shard, "--to", seq, "-G", "source", *QUICK, "demo")
        equal(r.code, 0, r.err)
        refused(source, target, (f"{shard}: conflict: rows of the target can't store \"at {seq}\"",))
        wrote(source.migrate(Form(box, "sloop", folder, "second"), "--write"), 2)
        # A time: rows of the KCL tell none.
        r = box.tail("--reset", "all", "--to", "s@1767225600", "-G", "source", *QUICK, "demo")
        equal(r.code, 0, r.err)
        refused(source, target, ("time:1767225600000", "can't store; give that as -o"))
        refused(source, target, ("time:1767225600000",), "-o", "s@1767225601")
        wrote(source.migrate(target, "--write", "-o", "s@1767225600"), 2)
        equal({r["checkpoint"] for r in target.rows().values()}, {"AT_TIMESTAMP"})
        refused(target, Form(box, "sloop", folder, "third"), ("a time that the source does not store", "-o s@TIME"))
        third = Form(box, "sloop", folder, "third")
        wrote(target.migrate(third, "--write", "-o", "s@1767225600"), 2)
        equal({r["pos"] for r in third.rows().values()}, {"0:time:1767225600000"})
        token = Form(box, "token", folder, "time")
        equal(third.migrate(token, "--write").code, 0)
        fourth = Form(box, "sloop", folder, "fourth")
        wrote(token.migrate(fourth, "--write"), 2)
        equal({r["pos"] for r in fourth.rows().values()}, {"0:time:1767225600000"})


@test
def a_layout_without_places_inside_aggregates():
    with Box(1, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        fill(box, 20)
        source, target = Form(box, "sloop", folder, "source"), Form(box, GO, folder, "target")
        source.read(6)  # the fourth record is an aggregate
        refused(source, target, ("sub 2", "they have no positions inside an aggregate"))
        refused(source, target, ("sub 2", "no positions inside"), "-X", "aggregates=keep")
        source.read(14)
        refused(source, target, "-X aggregates=keep says that there are no aggregates")
        r = box.tail("--reset", "all", "--to", "oldest", "-G", "source", *QUICK, "demo")
        equal(r.code, 0, r.err)
        refused(source, target, 'starts at "oldest", which rows of the target can\'t store')
        wrote(source.migrate(target, "--write", "-o", "oldest"), 1)


@test
def latest_becomes_a_time_where_there_is_no_such_word():
    with Box(2, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        box.put(20)
        kcl, sloop, token = (Form(box, kind, folder, f"app-{kind}") for kind in ("kcl", "sloop", "token"))
        kcl.read(1)
        r = box.tail("--reset", "all", "--to", "latest", "-G", kcl.app, *QUICK, "-X", "schema=kcl", "demo")
        equal(r.code, 0, r.err)
        moment = time.time() + 2  # the time is never later than the service's, whose clock tells whole seconds
        wait_until(lambda: time.time() > moment, what="a moment")
        wrote(kcl.migrate(sloop, "--write"), 2)
        check(all(row["pos"].startswith("0:time:") for row in sloop.rows().values()), sloop.rows())
        r = kcl.migrate(sloop, "--write")  # later: the time is another, and means the same
        equal(r.code, 0, r.err)
        check(b"all 2 are there already" in r.out, r.out)
        equal(kcl.migrate(token, "--write").code, 0)
        with open(token.file, encoding="utf-8") as file:
            equal({shard["iterator_type"] for shard in json.load(file)["shards"]}, {"latest"})
        second = Form(box, "kcl", folder, "second")
        wrote(token.migrate(second, "--write"), 2)
        equal({row["checkpoint"] for row in second.rows().values()}, {"LATEST"})
        put = {p[2] for p in box.put(15, start=100)}
        equal(set(sloop.read(15)), put)


@test
def tokens_that_make_no_sense():
    with Box(2, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        box.make_stream("other", 1)
        box.put(20)
        token, target = Form(box, "token", folder), Form(box, "sloop", folder, "target")
        refused(token, target, "is not there")
        for text, words in (("", "is empty"), ("{", "not a token"), ("[]", "not a token"), ('{"stream_arn": "x"}', "not a token"),
                            ('{"stream_arn": "arn:aws:kinesis:us-east-1:000000000000:stream/other", "active": ["s"], "shards": [{"shard_id": "s"}]}', "stream/other"),
                            ('{"stream_arn": "arn:aws:kinesis:us-east-1:000000000000:stream/demo", "active": [], "shards": []}', "no shard of it is active"),
                            ('{"stream_arn": "arn:aws:kinesis:us-east-1:000000000000:stream/demo", "active": ["s"], "shards": [{"shard_id": "s", '
                             '"iterator_type": "after_sequence"}]}', "has no sequence_number"),
                            ('{"stream_arn": "arn:aws:kinesis:us-east-1:000000000000:stream/demo", "active": ["s"], "shards": [{"shard_id": "s", '
                             '"iterator_type": "after_sequence", "sequence_number": 12}]}', "is not a string")):
            with open(token.file, "w", encoding="utf-8") as file:
                file.write(text)
            refused(token, target, words)
        os.unlink(token.file)
        source = Form(box, "token", folder, "source")
        source.read(10)
        wrote(source.migrate(target, "--write"), 2)
        equal(target.migrate(token, "--write").code, 0)
        with open(token.file, encoding="utf-8") as file:
            kept = file.read()
        target.read(3)
        refused(target, token, "exists, with other positions")
        with open(token.file, encoding="utf-8") as file:
            equal(file.read(), kept)
        nowhere = Form(box, "token", folder, "x")
        nowhere.place = f"token:{folder}/none/x"
        r = target.migrate(nowhere, "--write")
        equal((r.code, "No such file" in r.err), (1, True), r.err)


@test
def a_token_that_somebody_keeps():
    with Box(1, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        box.put(20)
        token, target = Form(box, "token", folder), Form(box, "sloop", folder, "target")
        reader = box.start("-o", "oldest", "--save", token.file, "demo", stdout=subprocess.DEVNULL)
        try:
            wait_until(lambda: os.path.exists(token.file), 20, "its token")
            refused(token, target, "stop it first", code=4)
        finally:
            reader.send_signal(signal.SIGINT)
            reader.communicate()
        wrote(token.migrate(target, "--write"), 1)


def writes_of(box):
    return {operation: box.calls(operation) for operation in ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems")}


def snapshot_of_a_living_application(kind):
    """The worker stands still (SIGSTOP) while the snapshot is taken, so that each write counted then is the command's. Beside a
    worker that runs, the same command succeeds as well, and the worker goes on as if nothing had been."""
    with Box(3, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        truth = fill(box, 60)
        source, token, target = Form(box, kind, folder, "source"), Form(box, "token", folder, "place"), Form(box, "sloop", folder, "target")
        with open(os.path.join(folder, "out"), "wb") as out:
            worker = box.start("-J", "-G", "source", *QUICK, "-X", f"schema={kind}", "-o", "oldest", "demo", stdout=out)

        def read_by_worker():
            with open(os.path.join(folder, "out"), encoding="utf-8") as lines:
                return [json.loads(line)["payload"] for line in lines if line.endswith("\n")]

        def all_saved():
            rows = source.rows() if len(read_by_worker()) == len(truth) else {}
            marks = [r.get("pos", r.get("checkpoint", "")) for r in rows.values()]
            return len(marks) == 3 and all(m[:1].isdigit() and not m.startswith("0:") for m in marks)

        try:
            wait_until(all_saved, 30, "its checkpoints")
            refused(source, token, ("alive", "snapshot"), code=4, table=("none",))
            worker.send_signal(signal.SIGSTOP)
            time.sleep(0.3)
            counted, rows = writes_of(box), source.rows()
            r = source.migrate(token, "--snapshot", "--write")
            equal((r.code, r.err), (0, ""), r.out)
            equal((writes_of(box), source.rows()), (counted, rows))
            worker.send_signal(signal.SIGCONT)
            r = source.migrate(target, "--snapshot")
            equal(r.code, 0, r.err)
            check(b"nothing was written" in r.out, r.out)
            r = source.migrate(target, "--snapshot", "--write")
            wrote(r, 3)
            more = fill(box, 40, start=1000)
            wait_until(lambda: len(read_by_worker()) == len(truth) + len(more), 30, "the worker reads on")
            wait_until(lambda: source.migrate(target, "--snapshot", "--write").code == 1, 20, "a conflict, once its checkpoints have moved")
            equal(worker.poll(), None)
        finally:
            worker.send_signal(signal.SIGCONT)
            worker.kill()
            worker.wait()
        equal(sorted(read_by_worker()), sorted(truth + more))
        equal(sorted(target.read(len(more))), sorted(more))  # nothing before the snapshot, all after it
        equal(sorted(token.read(len(more))), sorted(more))


@test
def a_snapshot_of_a_living_native_application():
    snapshot_of_a_living_application("sloop")


@test
def a_snapshot_of_a_living_application_in_a_table_of_the_kcl():
    snapshot_of_a_living_application("kcl")


@test
def a_snapshot_of_a_token_that_somebody_keeps():
    with Box(1, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        box.put(20)
        token, target = Form(box, "token", folder), Form(box, "sloop", folder, "target")
        reader = box.start("-o", "oldest", "--save", token.file, "demo", stdout=subprocess.DEVNULL)
        try:
            wait_until(lambda: os.path.exists(token.file), 20, "its token")
            wrote(token.migrate(target, "--snapshot", "--write"), 1)
            equal(reader.poll(), None)
        finally:
            reader.send_signal(signal.SIGINT)
            reader.communicate()


@test
def tokens_through_pipes():
    with Box(2, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        truth = fill(box, 40)
        one, two, pipe = Form(box, "sloop", folder, "one"), Form(box, "kcl", folder, "two"), Form(box, "token", folder)
        pipe.place = "token:-"
        seen = one.read(13)
        r = one.migrate(pipe)
        equal((r.code, r.out), (0, b""), r.err)
        r = one.migrate(pipe, "--write")
        equal(r.code, 0, r.err)
        equal(set(json.loads(r.out)), {"stream_arn", "active", "shards"})
        done = subprocess.run([BIN, "--migrate", "token:-", two.place, "--write", "demo"], input=r.out, capture_output=True,
                              env=environment(box.env), timeout=30, check=False)
        equal(done.returncode, 0, done.stderr)
        seen += two.read(len(truth) - 13)
        equal(sorted(seen), sorted(truth))


@test
def one_that_was_cut_off_is_carried_on():
    """Writes fail for good after some, the process is killed between two, answers are lost: the next command goes on."""
    with Box(12, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        put = box.put(200)
        source = Form(box, "sloop", folder, "source")
        seen = source.read(77)
        target = Form(box, "kcl", folder, "target")

        def faults(text=""):
            box.admin("/_sandbox/faults", method="DELETE")
            if text:
                box.admin("/_sandbox/faults", text)

        faults("* PutItem * error AccessDeniedException\n")
        r = source.migrate(target, "--write")
        equal((r.code, "AccessDenied" in r.err), (1, True), r.err)
        equal(len(target.rows()), 0)
        faults("9 PutItem * error AccessDeniedException\n")
        r = source.migrate(target, "--write")
        equal((r.code, "AccessDenied" in r.err, r.out.count(b": copied\n")), (1, True, 3), r.err, r.out)
        check(b"\n3 of 12 copied before it ended; " in r.out, r.out)
        equal(len(target.rows()), 3)
        faults("* PutItem * delay 60000\n")  # of the answer
        process = box.start("--migrate", source.place, target.place, "--write", "demo", stdout=subprocess.DEVNULL)
        wait_until(lambda: len(target.rows()) == 12, 20, "what was sent is there")
        process.kill()
        process.communicate()
        dynamodb = box.boto3("dynamodb")
        for shard in sorted(target.rows())[::2]:
            dynamodb.delete_item(TableName="target", Key={"leaseKey": {"S": shard}})
        for shard in sorted(target.rows())[:3]:
            dynamodb.delete_item(TableName="target", Key={"leaseKey": {"S": shard}})
        faults("4 PutItem * lost\n")
        wrote(source.migrate(target, "--write"), 9)
        equal(len(target.rows()), 12)
        check(b"all 12 are there already" in source.migrate(target, "--write").out)
        faults()
        seen += target.read(123)
        equal(sorted(seen), sorted(p[2] for p in put))


@test
def command_lines():
    with Box(1) as box:
        for argv, words in ((("sloop:a", "demo"), "an argument is missing"), (("sloop:a", "kcl:abc", "demo", "more"), "one argument too many"),
                            (("sloop", "kcl:abc", "demo"), "is not a place"), ((":a", "kcl:abc", "demo"), "is not a place"),
                            (("sloop:", "kcl:abc", "demo"), "is not a place"), (("sloop:a@", "kcl:abc", "demo"), "names no store"),
                            (("sloop:a@memory", "kcl:abc", "demo"), "memory of another process"), (("+:a", "kcl:abc", "demo"), "names no schema"),
                            (("token:a", "token:b", "demo"), "both are tokens"), (("tape:a", "kcl:abc", "demo"), "tape is not one of"),
                            (("sloop:a", "kcl:ab", "demo"), "can't be the name of a table"), (("sloop:a@tape:1", "kcl:abc", "demo"), "is none of dynamodb")):
            r = box.tail("--migrate", *argv)
            equal((r.code, r.out), (2, b""), argv, r.err)
            check(words in r.err, argv, r.err)
        for argv in (("--migrate", "sloop:a", "kcl:abc", "--leases", "demo"), ("--write", "demo"), ("--migrate", "sloop:a", "kcl:abc", "-e", "demo")):
            r = box.tail(*argv)
            equal((r.code, r.out), (2, b""), argv, r.err)


main(at_once=4)
