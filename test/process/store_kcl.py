"""The lease table of KCL 2.x on real servers, shared with another worker: boto3 here writes and reads rows the way KCL
does (whole items when it makes them, legacy conditions on leaseCounter), ours reads and writes them through the store.
What stands in a row is compared attribute by attribute, with its type: KCL reads no others."""

import os
import random
import subprocess

import harness
import servers
from harness import expect
from store_dynamodb import SandboxTables, dynamodb_of, environment

BINARY = os.environ.get("SLOOP_TEST_KCL", "")
SHARD, SEQ = "shardId-000000000001", "49590338271490256608559692538361571095921575989136588898"
MULTI = "123456789012:orders:1700000000"


class Ours:
    """kcl_main: one line in, one line out."""

    def __init__(self, server, table, stream=None):
        if not os.access(BINARY, os.X_OK):
            raise servers.Missing("kcl_main is not built")
        self.process = subprocess.Popen([BINARY, table] + ([stream] if stream else []), env=environment(server), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        preexec_fn=servers.die_with_parent)

    def __enter__(self):
        expect(self.process.stdout.readline() == "ready\n", "kcl_main does not begin")
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(30)
        error = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        expect(self.process.returncode == 0, f"kcl_main: {self.process.returncode} {error[-800:]}")

    def __call__(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().rstrip("\n")
        expect(answer, f"no answer to {line!r}: {self.process.poll()}")
        return answer


class Kcl:
    """A worker of KCL 2.x as its sources have it: DynamoDBLeaseRefresher and DynamoDBLeaseSerializer, legacy
    parameters and all."""

    def __init__(self, server, table, name):
        self.dynamodb, self.table, self.name = dynamodb_of(server), table, name
        # KCL's own slip when it makes a row, which readers must bear; moto can't give back bytes set the legacy way
        self.state = {"N": "0"} if server.name == "moto" else {"B": b"state"}

    def row(self, key):
        return self.dynamodb.get_item(TableName=self.table, Key={"leaseKey": {"S": key}}, ConsistentRead=True).get("Item")

    def create(self, key, checkpoint, parents=()):
        item = {"leaseKey": {"S": key}, "leaseCounter": {"N": "0"}, "ownerSwitchesSinceCheckpoint": {"N": "0"},
                "checkpoint": {"S": checkpoint}, "checkpointSubSequenceNumber": {"N": "0"},
                "startingHashKey": {"S": "0"}, "endingHashKey": {"S": "340282366920938463463374607431768211455"}}
        if parents:
            item["parentShardId"] = {"SS": list(parents)}
        self.dynamodb.put_item(TableName=self.table, Item=item, Expected={"leaseKey": {"Exists": False}})

    def update(self, key, counter, changes):
        """True, or False: the condition did not hold."""
        put = {name: {"Action": "PUT", "Value": value} for name, value in changes.items() if value is not None}
        drop = {name: {"Action": "DELETE"} for name, value in changes.items() if value is None}
        add = {}
        if "leaseOwner" in changes:
            add["ownerSwitchesSinceCheckpoint"] = {"Action": "ADD", "Value": {"N": "1"}}
        try:
            self.dynamodb.update_item(
                TableName=self.table, Key={"leaseKey": {"S": key}},
                Expected={"leaseCounter": {"ComparisonOperator": "EQ", "AttributeValueList": [{"N": str(counter)}]}},
                AttributeUpdates={"leaseCounter": {"Action": "PUT", "Value": {"N": str(counter + 1)}}, **put, **drop, **add})
        except self.dynamodb.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def renew(self, key, counter, **more):
        return self.update(key, counter, more)

    def take(self, key, counter):
        return self.update(key, counter, {"leaseOwner": {"S": self.name}})

    def checkpoint(self, key, counter, seq, sub=0):
        return self.update(key, counter, {"checkpoint": {"S": seq}, "checkpointSubSequenceNumber": {"N": str(sub)},
                                          "ownerSwitchesSinceCheckpoint": {"N": "0"}, "pendingCheckpoint": None,
                                          "pendingCheckpointSubSequenceNumber": None, "pendingCheckpointState": None})

    def prepare(self, key, counter, seq):
        return self.update(key, counter, {"pendingCheckpoint": {"S": seq}, "pendingCheckpointSubSequenceNumber": {"N": "0"},
                                          "pendingCheckpointState": self.state})


def new_table(server):
    return f"sloop-test-{random.getrandbits(40):010x}"


def exactly(kcl, key, want):
    have = kcl.row(key)
    for side in (have, want):
        for name in ("parentShardId", "childShardIds"):
            if side and name in side:
                side[name]["SS"].sort()
    expect(have == want, f"have {have}\nwant {want}")


def ours_as_kcl_writes(server):
    """Every verb of ours leaves exactly what KCL's would."""
    table = new_table(server)
    dynamodb = dynamodb_of(server)
    kcl = Kcl(server, table, "unused")
    with Ours(server, table) as ours:
        keys = dynamodb.describe_table(TableName=table)["Table"]["KeySchema"]
        expect(keys == [{"AttributeName": "leaseKey", "KeyType": "HASH"}], str(keys))
        row = {"leaseKey": {"S": SHARD}, "leaseCounter": {"N": "0"}, "ownerSwitchesSinceCheckpoint": {"N": "0"},
               "checkpoint": {"S": "TRIM_HORIZON"}, "checkpointSubSequenceNumber": {"N": "0"},
               "startingHashKey": {"S": "0"}, "endingHashKey": {"S": "99"},
               "parentShardId": {"SS": ["shardId-000000000000", "shardId-0"]}}

        def now(**changes):
            for name, value in changes.items():
                if value is None:
                    row.pop(name, None)
                else:
                    row[name] = value
            exactly(kcl, SHARD, dict(row))

        expect(ours(f"create {SHARD} - 0 oldest 0 99 shardId-000000000000,shardId-0").startswith("yes"), "create")
        now()
        expect(ours(f"create {SHARD} - 0 oldest 0 99 -").startswith("refused"), "created twice")
        expect(ours(f"take {SHARD} w1 0").startswith("yes"), "take")
        now(leaseCounter={"N": "1"}, leaseOwner={"S": "w1"})  # nobody's: no switch
        expect(ours(f"renew {SHARD} w1 1").startswith("yes"), "renew")
        now(leaseCounter={"N": "2"})
        expect(ours(f"checkpoint {SHARD} w1 2 {SEQ}/4").startswith("yes"), "checkpoint")
        now(leaseCounter={"N": "3"}, checkpoint={"S": SEQ}, checkpointSubSequenceNumber={"N": "4"},
            ownerSwitchesSinceCheckpoint={"N": "0"})
        expect(ours(f"checkpoint {SHARD} w1 2 {SEQ}/5").startswith("refused"), "an old counter")
        now()
        expect(ours(f"release {SHARD} w1 3 {SEQ}/6").startswith("yes"), "release")
        now(leaseCounter={"N": "4"}, leaseOwner=None, checkpointSubSequenceNumber={"N": "6"})
        expect(ours(f"take {SHARD} w2 4").startswith("yes"), "take again")
        now(leaseCounter={"N": "5"}, leaseOwner={"S": "w2"})
        expect(ours(f"remove {SHARD}").startswith("refused"), "removed unfinished")
        expect(ours(f"end {SHARD} w2 5 - - shardId-3,shardId-2").startswith("yes"), "end")
        now(leaseCounter={"N": "6"}, checkpoint={"S": "SHARD_END"}, checkpointSubSequenceNumber={"N": "0"},
            ownerSwitchesSinceCheckpoint={"N": "0"}, childShardIds={"SS": ["shardId-2", "shardId-3"]})
        expect(ours(f"remove {SHARD}") == "yes", "remove")
        expect(kcl.row(SHARD) is None, "still there")
    dynamodb.delete_table(TableName=table)


def side_by_side(server):
    """The two take a lease from each other; whoever wrote last goes on, and what only KCL knows survives."""
    table = new_table(server)
    dynamodb = dynamodb_of(server)
    kcl = Kcl(server, table, "ip-10-0-0-1:3f2a")
    with Ours(server, table) as ours:
        kcl.create(SHARD, "LATEST", ["shardId-0"])
        said = ours(f"read {SHARD}")
        expect(said == f"yes {SHARD} owner= counter=0 spot=latest parent=shardId-0 range=0", said)
        expect(kcl.take(SHARD, 0) and kcl.renew(SHARD, 1, throughputKBps={"N": "1.500000"}), "KCL takes and renews")
        expect(ours(f"renew {SHARD} w1 1").startswith("refused"), "ours renews what is not its own")
        said = ours(f"take {SHARD} w1 2 - {kcl.name}")
        expect(said.startswith(f"yes {SHARD} owner=w1 counter=3"), said)
        expect(not kcl.renew(SHARD, 2) and not kcl.checkpoint(SHARD, 2, SEQ), "KCL goes on with a stolen lease")
        expect(ours(f"checkpoint {SHARD} w1 3 {SEQ}/0").startswith("yes"), "checkpoint")
        expect(kcl.take(SHARD, 4) and kcl.prepare(SHARD, 5, SEQ), "KCL steals it back and prepares a checkpoint")
        expect(ours(f"renew {SHARD} w1 4").startswith("refused") and ours(f"end {SHARD} w1 4").startswith("refused"), "lost")
        said = ours(f"read {SHARD}")
        expect(said.startswith(f"yes {SHARD} owner={kcl.name} counter=6 spot=after:{SEQ}/0"), said)
        expect(ours(f"take {SHARD} w1 6 - {kcl.name}").startswith("yes"), "take")
        row = kcl.row(SHARD)
        expect(float(row["throughputKBps"]["N"]) == 1.5 and row["pendingCheckpoint"] == {"S": SEQ}, str(row))
        expect(row["pendingCheckpointState"] == kcl.state, str(row))
        expect(row["ownerSwitchesSinceCheckpoint"] == {"N": "2"}, str(row))
        expect(ours(f"checkpoint {SHARD} w1 7 {SEQ}/1").startswith("yes"), "checkpoint")
        row = kcl.row(SHARD)
        expect(not any(name.startswith("pending") for name in row) and float(row["throughputKBps"]["N"]) == 1.5, str(row))
    dynamodb.delete_table(TableName=table)


def rows_of_others(server):
    """KCL 3.5 keeps everything in one table: listed over pages, and only leases are taken for leases."""
    table = new_table(server)
    dynamodb = dynamodb_of(server)
    kcl = Kcl(server, table, "w")
    with Ours(server, table) as ours:
        for item in ({"leaseKey": {"S": "Leader"}, "entityType": {"S": "LEADER"}, "ownerName": {"S": "x"},
                      "leaseDuration": {"S": "120000"}, "recordVersionNumber": {"S": "91d16d81"}},
                     {"leaseKey": {"S": "3f2a-uuid"}, "entityType": {"S": "WORKER_METRIC_STATS"}, "lut": {"N": "5"},
                      "sts": {"M": {"C": {"L": [{"N": "1.5"}]}}}},
                     {"leaseKey": {"S": "Migration3.0"}, "cv": {"S": "CLIENT_VERSION_3X"}, "mts": {"N": "5"}},
                     {"leaseKey": {"S": "damaged"}, "leaseCounter": {"S": "5"}, "checkpoint": {"S": "LATEST"}}):
            dynamodb.put_item(TableName=table, Item=item)
        kcl.create(SHARD, SEQ)
        dynamodb.update_item(TableName=table, Key={"leaseKey": {"S": SHARD}}, UpdateExpression="SET entityType=:e, big=:b",
                             ExpressionAttributeValues={":e": {"S": "LEASE"}, ":b": {"S": "x" * 300000}})
        for k in range(5):
            kcl.create(f"shardId-{k}", "TRIM_HORIZON")
            dynamodb.update_item(TableName=table, Key={"leaseKey": {"S": f"shardId-{k}"}}, UpdateExpression="SET big=:b",
                                 ExpressionAttributeValues={":b": {"S": "x" * 300000}})
        said = ours("list").split(" |")
        expect(said[0] == "yes 10", str(said))
        expect(sum(" owner=" in one for one in said) == 6 and sum(one == " other" for one in said) == 3, str(said))
        expect(sum(one == " bad: its leaseCounter is no number" for one in said) == 1, str(said))
        expect(ours("take damaged w1 5").startswith("refused"), "a damaged row is taken")
    dynamodb.delete_table(TableName=table)


def several_streams(server):
    table = new_table(server)
    dynamodb = dynamodb_of(server)
    kcl = Kcl(server, table, "w")
    with Ours(server, table, MULTI) as ours:
        expect(ours(f"create {SHARD} - 0 latest 0 99 -").startswith("yes"), "create")
        exactly(kcl, f"{MULTI}:{SHARD}",
                {"leaseKey": {"S": f"{MULTI}:{SHARD}"}, "leaseCounter": {"N": "0"}, "checkpoint": {"S": "LATEST"},
                 "ownerSwitchesSinceCheckpoint": {"N": "0"}, "checkpointSubSequenceNumber": {"N": "0"},
                 "startingHashKey": {"S": "0"}, "endingHashKey": {"S": "99"}, "streamName": {"S": MULTI},
                 "shardId": {"S": SHARD}})
        kcl.create(f"123456789012:other:1700000000:{SHARD}", "LATEST")
        said = ours("list")
        expect(said.count(" owner=") == 1 and said.count(" elsewhere") == 1, said)
    dynamodb.delete_table(TableName=table)


def run_server(tests, server):
    tests.run(f"{server.name}: rows are KCL's to the attribute", ours_as_kcl_writes, server)
    tests.run(f"{server.name}: beside a worker of KCL", side_by_side, server)
    tests.run(f"{server.name}: rows of KCL 3 and damaged ones", rows_of_others, server)
    tests.run(f"{server.name}: several streams in one application", several_streams, server)


def main():
    tests = harness.Tests()
    for name in ("dynalite", "moto"):
        tests.with_server(servers.SERVERS[name], run_server)
    tests.with_server(SandboxTables, run_server)
    tests.end()


if __name__ == "__main__":
    main()
