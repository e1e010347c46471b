"""Tables of motorway and of kcl-rb, which have the same key: rows as their programs write them, by boto3, and stream-tail beside
them. kcl-rb itself is not here: what its worker reads and writes is as the gem's classes Checkpointer and Worker have it."""

import subprocess
import threading
import time
from datetime import datetime, timedelta, timezone

import boto3  # noqa: F401  (named by harness.boto3_or_skip)
import harness
import servers
from harness import Tests, expect
from sandbox_box import Box

LEASE_MS = 2000
SHARDS = 2


class World:
    """A stream, a table with key shard_id, and the worker of ours."""

    def __init__(self, box, schema, rows=()):
        self.box, self.schema, self.kinesis = box, schema, box.client()
        self.dynamodb = box.client(service="dynamodb")
        self.stream = harness.new_stream(self.kinesis, SHARDS)
        self.app = f"t-{self.stream[-10:]}"
        self.shards = sorted(s["ShardId"] for s in self.kinesis.list_shards(StreamName=self.stream)["Shards"])
        self.dynamodb.create_table(TableName=self.app, BillingMode="PAY_PER_REQUEST",
                                   AttributeDefinitions=[{"AttributeName": "shard_id", "AttributeType": "S"}],
                                   KeySchema=[{"AttributeName": "shard_id", "KeyType": "HASH"}])
        self.dynamodb.get_waiter("table_exists").wait(TableName=self.app, WaiterConfig={"Delay": 1})
        for shard, row in zip(self.shards, rows):
            self.put_row(shard, row)

    def put_row(self, shard, row):
        self.dynamodb.put_item(TableName=self.app, Item={"shard_id": {"S": shard}, **row})

    def rows(self):
        items = self.dynamodb.scan(TableName=self.app, ConsistentRead=True)["Items"]
        return {item.pop("shard_id")["S"]: item for item in items}

    def put(self, n):
        """shard -> [number]"""
        places = {}
        for i in range(n):
            answer = self.kinesis.put_record(StreamName=self.stream, Data=b"%d" % i, PartitionKey=f"key {i}")
            places.setdefault(answer["ShardId"], []).append(answer["SequenceNumber"])
        return places

    def argv(self, *arguments):
        return [servers.binary(), "-b", self.box.url, "-G", self.app, "-v", "-o", "oldest", "-f", r"%p\t%o\n", *arguments,
                *(word for knob in (f"schema={self.schema}", f"lease_ms={LEASE_MS}", "worker=w", "checkpoint_ms=300", "poll_ms=200",
                                    "aggregates=keep") for word in ("-X", knob)), self.stream]

    def tail(self, *arguments):
        return subprocess.run(self.argv(*arguments), capture_output=True, text=True, check=False, timeout=60,
                              env=harness.tail_environment(self.box.url))

    def read(self, n):
        done = self.tail("-c", str(n))
        expect(done.returncode == 0, done.stderr[-600:])
        got = {}
        for line in done.stdout.splitlines():
            shard, number = line.split("\t")
            got.setdefault(shard, []).append(number)
        return got

    def refused(self, *words):
        """It does not join, says why in one line, and has written nothing."""
        before = self.rows()
        done = self.tail("--timeout", "20")
        said = [line for line in done.stderr.splitlines() if all(word in line for word in words)]
        expect(done.returncode == 1 and said and not done.stdout, f"{done.returncode}: {done.stderr[-900:]}")
        return before, said


# ---- motorway --------------------------------------------------------------------------------------------------------------

def of_motorway(checkpoint, worker="5b1c9a2e", tick="8123", **more):
    return {"worker_id": {"S": worker}, "heartbeat": {"N": tick}, "checkpoint": checkpoint, **more}


def rows_of_motorway_are_taken_over_and_left(box):
    w = World(box, "motorway")
    places = w.put(40)
    first, second = w.shards
    w.put_row(first, of_motorway({"S": places[first][4]}, note={"S": "mine"}, list={"L": [{"N": "1"}]}))
    w.put_row(second, of_motorway({"N": "0"}))
    got = w.read(len(places[first]) - 4 + len(places[second]))
    expect(got == {first: places[first][4:], second: places[second]}, got)
    rows = w.rows()
    for shard in w.shards:
        expect(rows[shard]["checkpoint"] == {"S": places[shard][-1]} and rows[shard]["worker_id"] == {"S": "nobody"}, rows[shard])
        expect(int(rows[shard]["heartbeat"]["N"]) > 8123, rows[shard])
    expect(rows[first]["note"] == {"S": "mine"} and rows[first]["list"] == {"L": [{"N": "1"}]}, rows[first])
    more = w.put(20)
    expect(w.read(20) == more, "nothing comes again between two of ours")
    # A claim of motorway's keeps what it does not know, and its checkpoint moves.
    for shard in w.shards:
        row = w.rows()[shard]
        w.put_row(shard, {**row, **of_motorway({"S": more[shard][0]})})
    again = {shard: more[shard] for shard in w.shards}
    expect(w.read(20) == again, "a checkpoint of motorway's is read again")


def a_row_that_motorway_puts_anew_is_taken_back(box):
    """Its program found no row before there was one, and puts its own without any condition, where it begins at the latest."""
    w = World(box, "motorway")
    places = w.put(30)
    tail = subprocess.Popen(w.argv(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            env=harness.tail_environment(box.url), preexec_fn=servers.die_with_parent)
    lines = []
    threading.Thread(target=lambda: lines.extend(tail.stdout), daemon=True).start()
    try:
        def saved(places):
            rows = w.rows()
            return all(rows.get(shard, {}).get("checkpoint") == {"S": places[shard][-1]} for shard in w.shards)

        harness.wait_until(lambda: len(lines) >= 30 and saved(places), 30, "all is read and saved")
        for shard in w.shards:
            w.put_row(shard, of_motorway({"N": "0"}, tick="0"))
        harness.wait_until(lambda: all(row["worker_id"]["S"].startswith("w.") for row in w.rows().values()), 30, "they are taken back")
        more = w.put(20)
        harness.wait_until(lambda: len(lines) >= 50 and saved(more), 30, "it goes on")
        time.sleep(1)
        expect(len(lines) == 50, f"{len(lines)} lines, and 50 records")
    finally:
        tail.kill()
        tail.wait()


def tables_that_are_not_motorways(box):
    w = World(box, "motorway", [{"assigned_to": {"S": "w1"}, "lease_timeout": {"S": "2026-11-21 00:24:35 UTC"}, "checkpoint": {"NULL": True}}])
    before, _ = w.refused("schema motorway", w.shards[0], "heartbeat")
    expect(w.rows() == before, w.rows())
    half = World(box, "motorway", [of_motorway({"N": "0"}), {"worker_id": {"S": "x"}, "heartbeat": {"N": "1"}}])
    before, _ = half.refused("schema motorway", half.shards[1], "checkpoint")
    expect(half.rows() == before, half.rows())
    # A damaged row is named, and stays as it is; the other shard is read.
    w = World(box, "motorway", [of_motorway({"N": "0"}), of_motorway({"N": "77"})])
    places = w.put(30)
    done = w.tail("-c", str(len(places[w.shards[0]])))
    expect(done.returncode == 0 and f"{w.shards[1]}: its checkpoint can't be understood" in done.stderr, done.stderr[-600:])
    expect(w.rows()[w.shards[1]] == of_motorway({"N": "77"}), w.rows())


# ---- kcl-rb ----------------------------------------------------------------------------------------------------------------

def ruby_time(seconds):
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S UTC")


def rows_of_kcl_rb_are_taken_over_and_left(box):
    w = World(box, "kcl-rb")
    places = w.put(40)
    first, second = w.shards
    timeout = ruby_time(-100)
    w.put_row(first, {"lease_timeout": {"S": timeout}, "checkpoint": {"S": places[first][4]}})
    w.put_row(second, {"assigned_to": {"NULL": True}, "lease_timeout": {"S": timeout}, "checkpoint": {"NULL": True}})
    got = w.read(len(places[first]) - 5 + len(places[second]))
    expect(got == {first: places[first][5:], second: places[second]}, got)
    for shard, row in w.rows().items():  # as its own worker leaves them: it goes on behind the checkpoint
        expect(row["checkpoint"] == {"S": places[shard][-1]} and row["lease_timeout"] == {"S": timeout}, row)
        expect("assigned_to" not in row and "sloop_owner" not in row and "sloop_checkpoint" not in row, row)
    more = w.put(20)
    for shard in w.shards:  # kcl-rb has read one more record of each, and puts whole rows
        w.put_row(shard, {"lease_timeout": {"S": timeout}, "checkpoint": {"S": more[shard][0]}})
    expect(w.read(20 - SHARDS) == {shard: more[shard][1:] for shard in w.shards}, "ours go on behind it")


def a_killed_worker_of_kcl_rb(box):
    """Its row names it for ever; what is read meanwhile is parked, so that kcl-rb would leave it alone."""
    w = World(box, "kcl-rb")
    places = w.put(30)
    for shard in w.shards:
        w.put_row(shard, {"assigned_to": {"S": "w1"}, "lease_timeout": {"S": ruby_time(-5)}, "checkpoint": {"S": places[shard][2]}})
    tail = subprocess.Popen(w.argv(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            env=harness.tail_environment(box.url), preexec_fn=servers.die_with_parent)
    lines = []
    threading.Thread(target=lambda: lines.extend(tail.stdout), daemon=True).start()
    try:
        harness.wait_until(lambda: len(lines) >= 30 - 3 * SHARDS, 40, "what it left is read")
        harness.wait_until(lambda: all(row.get("sloop_checkpoint") == {"S": places[shard][-1]} for shard, row in w.rows().items()), 20,
                           "and saved")
        for shard, row in w.rows().items():
            expect(row["checkpoint"] == {"S": "SHARD_END"} and "assigned_to" not in row, row)
        tail.terminate()
        expect(tail.wait(20) == 0, tail.returncode)
    finally:
        tail.kill()
        tail.wait()
    for shard, row in w.rows().items():
        expect(row["checkpoint"] == {"S": places[shard][-1]} and "assigned_to" not in row, row)


LATE = "9" * 56  # behind all that a shard can have: nobody takes the row for an earlier stream's


def while_kcl_rb_is_at_work(box):
    """It takes each shard once a second, gives it up again, and never looks whether somebody else has it."""
    w = World(box, "kcl-rb", [{"lease_timeout": {"S": ruby_time(-3)}, "checkpoint": {"S": LATE}}] * SHARDS)
    ended = threading.Event()

    def work():
        while not ended.wait(0.5):
            for shard in w.shards:
                row = {"lease_timeout": {"S": ruby_time(10)}, "checkpoint": {"S": LATE}}
                w.put_row(shard, {**row, "assigned_to": {"S": "w1"}})
                w.put_row(shard, row)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        _, said = w.refused("schema kcl-rb", "runs here", "stop it first")
        expect(len(said) == 1, said)
    finally:
        ended.set()
        thread.join()
    for row in w.rows().values():
        expect(set(row) == {"lease_timeout", "checkpoint"} and row["checkpoint"] == {"S": LATE}, row)


def tables_that_are_not_kcl_rbs(box):
    w = World(box, "kcl-rb", [of_motorway({"N": "0"})])
    before, _ = w.refused("schema kcl-rb", w.shards[0], "motorway")
    expect(w.rows() == before, w.rows())


def main():
    tests = Tests()
    with Box("change_ms=200") as box:
        tests.side_by_side([lambda test=test: tests.run(test.__name__.replace("_", " "), test, box) for test in (
            rows_of_motorway_are_taken_over_and_left, a_row_that_motorway_puts_anew_is_taken_back, tables_that_are_not_motorways,
            rows_of_kcl_rb_are_taken_over_and_left, a_killed_worker_of_kcl_rb, while_kcl_rb_is_at_work, tables_that_are_not_kcl_rbs)])
    tests.end()


if __name__ == "__main__":
    main()
