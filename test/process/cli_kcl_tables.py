"""Tables that are not as a worker of an application of the KCL needs them, and rights that are missing: each is named in one
line, and nothing is written. boto3 makes the tables and reads them. SLOOP_BIN names the program."""

import json
import signal

from box import Box, NO_LIMITS
from command import check, end, equal, main, read_until, test, wait_until

QUICK = ("-X", "lease_ms=2000", "-X", "checkpoint_ms=500", "-X", "poll_ms=200")
KCL = (*QUICK, "-X", "schema=kcl")
SHARD = "shardId-000000000000"


def s(value):
    return {"S": value}


def lease(shard=SHARD, **more):
    return {"leaseKey": s(shard), "leaseCounter": {"N": "0"}, "ownerSwitchesSinceCheckpoint": {"N": "0"},
            "checkpoint": s("TRIM_HORIZON"), "checkpointSubSequenceNumber": {"N": "0"}, **more}


def version(word, key="leaseKey"):
    return {key: s("Migration3.0"), "cv": s(word)}


class Tables:
    """name -> (key, items); a key is of one attribute or of two."""

    def __init__(self, box, **tables):
        self.box, self.dynamodb, self.names = box, box.boto3("dynamodb"), []
        for name, (key, items) in tables.items():
            self.make(name.replace("_", "-"), key.split(), items)
        self.before, self.wrote = self.rows(), self.writes()

    def make(self, name, keys, items, **more):
        self.names.append(name)
        kinds = ("HASH", "RANGE")
        self.dynamodb.create_table(
            TableName=name, BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, kinds)],
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in {*keys, *more.pop("others", ())}], **more)
        wait_until(lambda: self.dynamodb.describe_table(TableName=name)["Table"]["TableStatus"] == "ACTIVE", 20, name)
        for item in items:
            self.dynamodb.put_item(TableName=name, Item=item)

    def rows(self):
        return {name: sorted(json.dumps(item, sort_keys=True) for item in
                             self.dynamodb.scan(TableName=name, ConsistentRead=True)["Items"]) for name in self.names}

    def writes(self):
        return {operation: self.box.calls(operation) for operation in ("PutItem", "UpdateItem", "DeleteItem", "CreateTable")}

    def untouched(self):
        equal(self.rows(), self.before)
        equal(self.writes(), self.wrote)


def refused(words, args=KCL, faults="", writes_refused=False, **tables):
    """It ends with 1, and says these words in a line beside that of its end."""
    with Box(1, *NO_LIMITS) as box:
        box.put(5)
        there = Tables(box, **tables)
        box.admin("/_sandbox/faults", faults)
        r = box.tail("-G", "app", "--store", "dynamodb:app", "-o", "oldest", *args, "demo", limit=30)
        equal((r.code, r.out, r.err.count("\n")), (1, b"", 1), r.err)
        for word in words:
            check(word in r.err, f"{word!r} is not in {r.err}")
        box.admin("/_sandbox/faults", method="DELETE")
        if writes_refused:
            equal(there.rows(), there.before)
        else:
            there.untouched()


def denied(action, table):
    """IAM's refusal of one action on one table, as a line of the sandbox's faults."""
    return (f"* {action} {table} error AccessDeniedException:400:User: arn:aws:iam::123456789012:user/ann is not authorized to "
            f"perform: dynamodb:{action} on resource: arn:aws:dynamodb:us-east-1:123456789012:table/{table} because no "
            f"identity-based policy allows the dynamodb:{action} action\n")


@test
def a_table_of_another_schema_is_named_by_its_key():
    refused(('"app"', '"ShardID" alone', '"leaseKey" alone'), app=("ShardID", [{"ShardID": s(SHARD), "Checkpoint": s("5")}]))
    refused(('"app"', '"shard_id" alone', '"leaseKey" alone'), app=("shard_id", [{"shard_id": s(SHARD)}]))
    refused(('"app"', '"leaseKey" and "more"', '"leaseKey" alone'), app=("leaseKey more", []))
    refused(('"app"', '"leaseKey" alone'), args=QUICK, app=("leaseKey", [lease()]))  # the KCL's for one of sloop


@test
def an_application_of_kcl_3_that_is_not_understood_is_not_joined():
    for items, words in (
            ([version("CLIENT_VERSION_9X")], ("Migration3.0", '"CLIENT_VERSION_9X"', "not known")),
            ([version("CLIENT_VERSION_3X"), {"leaseKey": s("TableMigration3.5"), "tm": s("TABLE_MIGRATION_STATUS_HALF")}],
             ("KCL 3", "TableMigration3.5", "not known")),
            ([version("CLIENT_VERSION_3X_WITH_ROLLBACK"), {"leaseKey": s("Leader"), "entityType": s("LEADER"), "ownerName": s("java"),
                                                         "leaseDuration": {"N": "120000"}, "recordVersionNumber": s("x")}],
             ("KCL 3", "Leader", "leaseDuration"))):
        refused(words, app=("leaseKey", [lease(leaseOwner=s("java")), *items]))


@test
def rights_for_the_tables_of_kcl_3_that_are_missing_are_named():
    stats = "app-WorkerMetricStats"
    tables = {"app": ("leaseKey", [lease(leaseOwner=s("java"))]), stats.replace("-", "_"): ("wid", []),
              "app_CoordinatorState": ("key", [version("CLIENT_VERSION_3X", "key")])}
    for action, table, asks in (("Scan", stats, False), ("Scan", "app-CoordinatorState", False), ("UpdateItem", stats, True)):
        refused((f"dynamodb:{action}", table, "no permission"), faults=denied(action, table), writes_refused=asks, **tables)


@test
def a_row_with_a_wrong_type_is_named_and_left_alone():
    with Box(2, *NO_LIMITS) as box:
        put = [p for p in box.put(50) if p[0] != SHARD]
        damaged = lease(leaseCounter=s("0"))
        there = Tables(box, app=("leaseKey", [damaged, lease("shardId-000000000001")]))
        p = box.start("-G", "app", "-o", "oldest", "-f", "%s\\n", *KCL, "demo")
        try:
            read_until(p.stdout.fileno(), lambda got: got.count(b"\n") >= len(put))  # of the other one
            said = read_until(p.stderr.fileno(), lambda got: got.endswith(b"\n")).decode()
            check(f"is ignored: {SHARD}: its leaseCounter is no number" in said, said)
            p.send_signal(signal.SIGTERM)
            equal((p.wait(20), p.stdout.read()), (0, b""))
            check(json.dumps(damaged, sort_keys=True) in there.rows()["app"], there.rows())
        finally:
            end(p)


@test
def the_index_of_kcl_3_is_not_asked():
    """Its workers query leases by owner; ours need no right to."""
    with Box(1, *NO_LIMITS) as box:
        put = box.put(20)
        there = Tables(box)
        there.make("app", ["leaseKey"], [lease()], others=["leaseOwner"], GlobalSecondaryIndexes=[
            {"IndexName": "LeaseOwnerToLeaseKeyIndex", "Projection": {"ProjectionType": "ALL"},
             "KeySchema": [{"AttributeName": "leaseOwner", "KeyType": "HASH"}, {"AttributeName": "leaseKey", "KeyType": "RANGE"}]}])
        box.admin("/_sandbox/faults", denied("Query", "app"))
        r = box.tail("-G", "app", "-o", "oldest", "-c", str(len(put)), *KCL, "demo", limit=30)
        equal((r.code, r.out.count(b"record")), (0, len(put)), r.err)
        equal(box.calls("Query"), 0)


@test
def an_upgrade_without_the_right_to_tell_of_itself_is_named_while_it_reads_on():
    stats = "app-WorkerMetricStats"
    with Box(1, *NO_LIMITS) as box:
        box.put(5)
        there = Tables(box, app=("leaseKey", [lease()]), app_WorkerMetricStats=("wid", []),
                       app_CoordinatorState=("key", [version("CLIENT_VERSION_2X", "key")]))
        box.admin("/_sandbox/faults", denied("UpdateItem", stats))
        p = box.start("-G", "app", "-o", "oldest", "-f", "%s\\n", *KCL, "demo")
        try:
            read_until(p.stdout.fileno(), lambda got: got.count(b"\n") >= 5)
            there.dynamodb.put_item(TableName="app-CoordinatorState", Item=version("CLIENT_VERSION_UPGRADE_FROM_2X", "key"))
            said = read_until(p.stderr.fileno(), lambda got: stats.encode() in got).decode()
            check("no permission for dynamodb:UpdateItem" in said, said)
            box.put(5, start=5)
            read_until(p.stdout.fileno(), lambda got: got.count(b"\n") >= 5)
            p.send_signal(signal.SIGTERM)
            equal(p.wait(20), 0)
            equal(there.rows()[stats], [])
        finally:
            end(p)


def named(box, shard, checkpoint="TRIM_HORIZON", stream="demo", epoch=None, **more):
    """A lease as the MultiStreamTracker of amazon-kinesis-client 3.5.1 makes it, seen beside the sandbox: the key names the
    stream by its account, its name and the second in which it was made."""
    made = box.call("DescribeStreamSummary", StreamName="demo")["StreamDescriptionSummary"]["StreamCreationTimestamp"]
    name = f"000000000000:{stream}:{int(made) if epoch is None else epoch}"
    return lease(f"{name}:{shard}", checkpoint=s(checkpoint), streamName=s(name), shardId=s(shard), entityType=s("LEASE"), **more)


def ranges(box):
    return {shard["ShardId"]: shard["HashKeyRange"] for shard in box.call("ListShards", StreamName="demo")["Shards"]}


def keys(there):
    return sorted(json.loads(item)["leaseKey"]["S"] for item in there.rows()["app"])


@test
def rows_that_name_this_stream_are_joined():
    """Half of each shard is done by a worker of the KCL that is gone: the other half is read, once, from wherever a new
    application would begin, and the rows of children have the same form."""
    for start in ("oldest", "latest"):
        with Box(2, *NO_LIMITS) as box:
            put = box.put(40)
            halves = {shard: [p for p in put if p[0] == shard] for shard in ranges(box)}
            rows = [named(box, shard, of[len(of) // 2 - 1][1], leaseOwner=s("java"), startingHashKey=s(ring["StartingHashKey"]),
                          endingHashKey=s(ring["EndingHashKey"])) for (shard, ring), of in zip(ranges(box).items(), halves.values())]
            left = {text for of in halves.values() for _, _, text in of[len(of) // 2:]}
            there = Tables(box, app=("leaseKey", rows))
            before = keys(there)
            p = box.start("-G", "app", "-o", start, *KCL, "demo")
            try:
                got = read_until(p.stdout.fileno(), lambda got: got.count(b"\n") >= len(left)).decode().splitlines()
                equal(set(got), left)
                equal(len(got), len(left))
                equal(keys(there), before)
                box.call("SplitShard", StreamName="demo", ShardToSplit=SHARD,
                         NewStartingHashKey=str(int(ranges(box)[SHARD]["EndingHashKey"]) // 2))
                wait_until(lambda: len(keys(there)) == len(before) + 2, 30, "rows of the children")
                check(all(key.rsplit(":", 1)[0] == before[0].rsplit(":", 1)[0] for key in keys(there)), keys(there))
                p.send_signal(signal.SIGTERM)
                equal((p.wait(20), p.stdout.read()), (0, b""))
            finally:
                end(p)
            r = box.tail("-G", "app", *KCL, "--leases", "demo", limit=30)
            check(r.code == 0 and b"bad row" not in r.out and b"4 leases" in r.out, r.out)


def somebodys(words, items, streams=("demo",), schema="kcl", key="leaseKey"):
    """No worker joins, and no command changes or explains anything; each says the words."""
    with Box(1, *NO_LIMITS) as box:
        box.put(5)
        box.make_stream("payments", 1)
        there = Tables(box, app=(key, items(box)))
        knobs = (*QUICK, "-X", f"schema={schema}")
        for command in ((), ("--explain", "0"), ("--reset", "all", "--to", "oldest")):
            if command and len(streams) > 1:
                continue
            r = box.tail("-G", "app", "-o", "oldest", *knobs, *command, *streams, limit=60)
            check(r.code and not r.out, f"{command}: {r.code} {r.out}")
            for word in words:
                check(word in r.err, f"{command}: {word!r} is not in {r.err}")
        there.untouched()


@test
def rows_that_name_their_stream_beside_rows_that_do_not_are_joined_by_nobody():
    somebodys(("some leases name their stream", f"as {SHARD}", "two applications"), lambda box: [lease(), named(box, SHARD)])


@test
def a_name_that_this_stream_can_not_have_is_told():
    somebodys(("demo:12345:" + SHARD, "but not as 000000000000:demo:1"), lambda box: [named(box, SHARD, epoch=12345)])


@test
def rows_without_a_stream_are_of_no_application_of_several():
    somebodys(("do not name their stream", SHARD, "--migrate"), lambda box: [lease()], streams=("demo", "payments"))


@test
def rows_of_another_stream_are_told_by_their_hash_keys():
    somebodys((SHARD, "has other hash keys than that shard"),
              lambda box: [lease(startingHashKey=s("0"), endingHashKey=s("12345"))])


@test
def rows_of_another_system_are_told_by_their_attributes():
    somebodys((SHARD, "it is not vmware-go-kcl's"), lambda box: [{"ShardID": s(SHARD), "position": s("5")}],
              schema="vmware-go-kcl", key="ShardID")


@test
def rows_of_other_streams_are_named_and_left_alone():
    for stream, epoch, words in (("payments", 1600000000, "rows of other streams are ignored (1, as"),
                                 ("demo", 1600000000, "rows of an earlier stream of this name are ignored (1, as")):
        with Box(1, *NO_LIMITS) as box:
            put = box.put(10)
            there = Tables(box, app=("leaseKey", [named(box, SHARD, "4960", stream, epoch)]))
            r = box.tail("-G", "app", "-o", "oldest", "-c", str(len(put)), *KCL, "demo", limit=30)
            equal((r.code, r.out.count(b"record")), (0, len(put)), r.err)
            check(f"{words} 000000000000:{stream}:{epoch}:{SHARD})" in r.err, r.err)
            check(there.before["app"][0] in there.rows()["app"], there.rows())
            check(all(key.count(":") == 3 for key in keys(there)), keys(there))
            r = box.tail("-G", "app", *KCL, "--leases", "demo", limit=30)
            check(words in r.out.decode(), r.out)
            r = box.tail("-G", "app", "-J", *KCL, "--leases", "demo", limit=30)
            check(any("passed_over" in json.loads(line) for line in r.out.splitlines()), r.out)


main(at_once=3)
