"""Tables that are not as a worker of an application of the KCL needs them, and rights that are missing: each is named in one
line, and nothing is written. boto3 makes the tables and reads them. SLOOP_BIN names the program."""

import json
import signal

from box import Box, NO_LIMITS
from run import check, end, equal, main, read_until, test, wait_until

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
            check(f"left alone: {SHARD}: its leaseCounter is no number" in said, said)
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


main(at_once=3)
