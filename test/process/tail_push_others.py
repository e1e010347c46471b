"""stream-tail --push on servers of others that serve SubscribeToShard: kinesis-mock, and ferrokinesis where a program of that
name is installed (`cargo install ferrokinesis@0.7.0`, minutes of compiling, so no command of ours installs it); and on the
sandbox. Records are put while it reads, and shards split and merge: from the oldest record, from the latest, once more from the
oldest when all is over, and by three workers of an application of which some are killed. boto3's polling says what is there.

kinesis-mock 0.6.2 never tells a subscriber that a shard has ended: empty events go on, with the same number, until the listing
is asked. They have no initial-response, come once a second, and an error is an event of an answer 200."""

import json
import os
import shutil
import signal
import tempfile

import harness
import servers
from harness import FULL, expect

N = 40000 if FULL else 2000
STEPS = 4


class KinesisMock(servers.KinesisMock):
    tells_ends = False  # it takes a reader ten seconds to find out
    resumes = True


class Sandbox(servers.Sandbox):
    tells_ends = resumes = True


class Ferrokinesis(servers.Server):
    name = "ferrokinesis"
    tells_ends = True
    resumes = False

    def command(self):
        program = os.environ.get("SLOOP_TEST_FERROKINESIS") or shutil.which("ferrokinesis")
        if not program:
            raise servers.Missing("no program ferrokinesis; cargo install ferrokinesis@0.7.0, or SLOOP_TEST_FERROKINESIS=FILE")
        return [program, "--port", str(self.port), "--shard-limit", "100"], {}, None


def put_many(kinesis, stream, first, n, put):
    for at in range(first, first + n, 500):
        rows = [{"Data": b"%d" % i, "PartitionKey": f"k{i}"} for i in range(at, min(at + 500, first + n))]
        while rows:
            answer = kinesis.put_records(StreamName=stream, Records=rows)
            for row, result in zip(rows, answer["Records"]):
                if "SequenceNumber" in result:
                    put[(result["ShardId"], int(result["SequenceNumber"]))] = (row["PartitionKey"], row["Data"])
            rows = [row for row, result in zip(rows, answer["Records"]) if "SequenceNumber" not in result]


def by_hash(kinesis, stream):
    shards = [s for s in harness.list_shards(kinesis, stream) if "EndingSequenceNumber" not in s["SequenceNumberRange"]]
    return sorted(shards, key=lambda s: int(s["HashKeyRange"]["StartingHashKey"]))


def reshard(kinesis, stream):
    """The first open shard becomes two, the last two become one."""
    shards = by_hash(kinesis, stream)
    bounds = shards[0]["HashKeyRange"]
    middle = (int(bounds["StartingHashKey"]) + int(bounds["EndingHashKey"])) // 2
    kinesis.split_shard(StreamName=stream, ShardToSplit=shards[0]["ShardId"], NewStartingHashKey=str(middle))
    harness.wait_active(kinesis, stream)
    kinesis.merge_shards(StreamName=stream, ShardToMerge=shards[-2]["ShardId"], AdjacentShardToMerge=shards[-1]["ShardId"])
    harness.wait_active(kinesis, stream)


def live(server, state):
    kinesis = harness.client_of(server)
    stream, put = harness.new_stream(kinesis, 4), {}
    state.update(kinesis=kinesis, stream=stream, put=put)
    put_many(kinesis, stream, 0, N // STEPS, put)
    running = harness.Running(["--push", "-J", "-o", "oldest", stream], harness.environment_for(server))
    try:
        for step in range(1, STEPS):
            if step == 1 or FULL or server.tells_ends:
                reshard(kinesis, stream)
            put_many(kinesis, stream, step * (N // STEPS), N // STEPS, put)
        harness.wait_until(lambda: len(running.lines) >= len(put), 180, f"{len(put)} records, {len(running.lines)} came")
    finally:
        running.signal(signal.SIGTERM)
        running.process.wait(20)
    expect(harness.read_all(kinesis, stream) == put, "boto3 reads others than were put")
    records = harness.records_of(list(running.lines))
    harness.judge_once(records, put)
    harness.judge_shard_order(records)
    harness.judge_lineage(records, harness.list_shards(kinesis, stream))
    state["complete"] = 1
    return f"{len(records)} records, {len(harness.list_shards(kinesis, stream))} shards"


def from_latest(server):
    """What is put once every shard has given a record comes once, in order, with children after their parents."""
    kinesis = harness.client_of(server)
    stream, put = harness.new_stream(kinesis, 4), {}
    running = harness.Running(["--push", "-J", "-o", "latest", stream], harness.environment_for(server))
    try:
        def all_read():
            put_many(kinesis, stream, len(put), 20, put)
            return len({record["place"][0] for record in harness.records_of(list(running.lines))}) == 4

        harness.wait_until(all_read, 60, "a record of each shard")
        first = len(put)
        for step in range(2 if FULL else 1):
            reshard(kinesis, stream)
            put_many(kinesis, stream, len(put), N // STEPS, put)
        wanted = {place for place, row in put.items() if int(row[1]) >= first}
        seen = lambda: {record["place"] for record in harness.records_of(list(running.lines))}
        harness.wait_until(lambda: wanted <= seen(), 180, f"{len(wanted)} records, {len(wanted - seen())} are missing")
    finally:
        running.signal(signal.SIGTERM)
        running.process.wait(20)
    expect(harness.read_all(kinesis, stream) == put, "boto3 reads others than were put")
    records = harness.records_of(list(running.lines))
    came = {record["place"] for record in records}
    harness.judge_once(records, {place: row for place, row in put.items() if place in came})
    harness.judge_shard_order(records)
    harness.judge_lineage(records, harness.list_shards(kinesis, stream))
    return f"{len(wanted)} records and {len(records) - len(wanted)} before them"


def fleet(server):
    """Three workers; while shards split and merge one is killed after the other, and another one comes instead."""
    kinesis = harness.client_of(server)
    stream, put, workers = harness.new_stream(kinesis, 4), {}, []
    with tempfile.TemporaryDirectory() as folder:
        def begin():
            workers.append(harness.Running(
                ["--push", "-J", "-G", "app", "--store", f"sqlite:{folder}/leases", "-o", "oldest", "-X", f"worker=w{len(workers)}",
                 "-X", "lease_ms=3000", "-X", "checkpoint_ms=1000", stream], harness.environment_for(server)))

        def lines():
            return [line for worker in workers for line in list(worker.lines)]

        def places():
            return [(row["shard"], int(row["seq"])) for row in map(json.loads, lines())]

        def two_read():
            """The first worker reads all shards before the others have theirs, so there are always new records."""
            if sum(bool(w.lines) for w in workers) > 1:
                return True
            put_many(kinesis, stream, N + len(put), 8, put)
            return False

        for _ in range(3):
            begin()
        try:
            put_many(kinesis, stream, 0, N // STEPS, put)
            harness.wait_until(two_read, 60, "two workers to read", pause=0.5)
            for step in range(1, STEPS):
                if step == STEPS - 1 or FULL:
                    reshard(kinesis, stream)
                put_many(kinesis, stream, step * (N // STEPS), N // STEPS, put)
                workers[step - 1].signal(signal.SIGKILL)
                begin()
            harness.wait_until(lambda: set(put) <= set(places()), 240, f"{len(put)} records")
        finally:
            for worker in workers:
                worker.signal(signal.SIGTERM)
                worker.process.wait(20)
        expect(harness.read_all(kinesis, stream) == put, "boto3 reads others than were put")
        expect(set(places()) == set(put), "others than were put")
        return f"{len(put)} records, {len(places()) - len(put)} printed again, {STEPS - 1} kills"


def again(server, state):
    expect("complete" in state, "the live test did not come so far")
    done = harness.tail(["--push", "-J", "-o", "oldest", "-c", str(N), state["stream"]], harness.environment_for(server), 180)
    expect(done.code == 0, str(done))
    records = harness.records_of(done.out)
    harness.judge_once(records, state["put"])
    harness.judge_shard_order(records)
    harness.judge_lineage(records, harness.list_shards(state["kinesis"], state["stream"]))
    # After a few empty events the order waits no longer for a closed shard that is not said to have ended: others pass its
    # children then, which is said of these.
    if server.tells_ends:
        harness.judge_not_late(records)


def suite(tests, server):
    state = {}
    tests.run(f"{server.name}: pushed while it is written to", live, server, state)
    tests.run(f"{server.name}: again from the oldest record", again, server, state)
    if FULL or server.name == "sandbox":
        tests.run(f"{server.name}: from the latest record", from_latest, server)
        if server.resumes:
            tests.run(f"{server.name}: three workers, kills", fleet, server)
        else:
            tests.skip(f"{server.name}: three workers, kills", "its subscriptions begin at the oldest record whatever is asked for")


def main():
    tests = harness.Tests()
    harness.boto3_or_skip()
    tests.side_by_side([lambda kind=kind: tests.with_server(kind, suite) for kind in (KinesisMock, Ferrokinesis, Sandbox)])
    tests.end()


if __name__ == "__main__":
    main()
