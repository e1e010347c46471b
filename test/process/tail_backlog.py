"""A backlog put by boto3 is read by stream-tail: every record exactly once, in order in each shard and by time across
shards, none late; in either wire form and order, on one core and on all. A third count by boto3 must agree.

On kinesalite: 40,000 records (4,000 in the small form) in 4 shards; it answers MillisBehindLatest 0 with thousands
still to come and cuts CBOR answers at 16 KiB with status 200, so there --wire cbor alone cannot work and is left out.
On kinesis-mock: 4,000 (600); its CBOR carries base64 text for Data. On the sandbox: true CBOR.
"""

import os

import harness
import servers
from harness import FULL, Tests, expect

RUNS = 5 if FULL else 2


def put_backlog(server, n):
    kinesis = harness.client_of(server)
    stream = harness.new_stream(kinesis, 4)
    producer = harness.Producer(kinesis, stream)
    put = producer.put_all(n)
    expect(len(put) == n, f"{len(put)} places for {n} records")
    expect(len({shard for shard, _ in put}) == 4, "not every shard got records")
    return kinesis, stream, put


def same_by_boto3(kinesis, stream, put):
    found = harness.read_all(kinesis, stream)
    expect(found == put, f"boto3 reads {len(found)} records, {len(put)} were put")
    return f"{len(found)} records"


def read_backlog(server, stream, put, options, pinned=False, by_time=True):
    done = harness.tail(["-o", "oldest", "-e", "-J", *options, stream], harness.environment_for(server), 300, pinned)
    expect(done.code == 0, str(done))
    records = harness.records_of(done.out)
    harness.judge_once(records, put)
    harness.judge_shard_order(records)
    harness.judge_not_late(records)
    if by_time:
        harness.judge_time_order(records)
    expect(not done.err.strip(), f"on stderr: {done}")
    return f"{len(records)} records"


def counted_by_lines(server, stream, put):
    """The default format without -J: as many payload bytes and newlines as were put."""
    done = harness.tail(["-o", "oldest", "-e", "-f", "%S\\n", stream], harness.environment_for(server), 300)
    expect(done.code == 0, str(done))
    sizes = sorted(int(line) for line in done.out.split())
    expect(sizes == sorted(len(data) for _, data in put.values()), f"{len(sizes)} sizes differ from what was put")


def first_n(server, stream, put):
    n = len(put) // 3
    done = harness.tail(["-o", "oldest", "-c", str(n), "-J", stream], harness.environment_for(server), 300)
    expect(done.code == 0, str(done))
    records = harness.records_of(done.out)
    expect(len(records) == n, f"{len(records)} records, -c {n}")
    harness.judge_time_order(records)
    harness.judge_not_late(records)


def suite(tests, server, n, wires):
    kinesis, stream, put = put_backlog(server, n)
    where = f"{server.name}, {n} records"
    try:
        tests.run(f"{where}: boto3 reads what boto3 put", same_by_boto3, kinesis, stream, put)
        for run in range(RUNS):
            pinned = run == RUNS - 1
            tests.run(f"{where}: oldest to the end, run {run + 1}{', one core' if pinned else ''}",
                      read_backlog, server, stream, put, [], pinned)
        for wire in wires:
            for run in range(RUNS if FULL else 1):
                tests.run(f"{where}: --wire {wire}, run {run + 1}", read_backlog, server, stream, put,
                          ["--wire", wire], FULL and run == RUNS - 1)
        for run in range(RUNS if FULL else 1):
            tests.run(f"{where}: --order shard, run {run + 1}", read_backlog, server, stream, put,
                      ["--order", "shard"], FULL and run == RUNS - 1, False)
        tests.run(f"{where}: small pages", read_backlog, server, stream, put, ["-X", "fetch_records_max=97"])
        tests.run(f"{where}: -f %S counts the same bytes", counted_by_lines, server, stream, put)
        tests.run(f"{where}: -c a third", first_n, server, stream, put)
    finally:
        kinesis.delete_stream(StreamName=stream)


def main():
    tests = Tests()
    harness.boto3_or_skip()
    plan = [  # where, records in full and small form, wire forms beside auto
        (servers.Kinesalite, 40000, 4000, ["json"]),
        (servers.KinesisMock, 4000, 600, ["json", "cbor"]),
        (servers.Sandbox, 40000, 4000, ["json", "cbor"]),
    ]
    if os.environ.get("SLOOP_TEST_KINESIS_ENDPOINT"):
        plan.append((harness.Yours, 4000, 400, ["json", "cbor"]))
    tests.side_by_side([lambda kind=kind, records=full if FULL else small, wires=wires: tests.with_server(kind, suite, records, wires)
                        for kind, full, small, wires in plan])
    tests.end()


if __name__ == "__main__":
    main()
