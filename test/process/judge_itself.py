"""Shows that the judge of the black-box tests can pass and can fail: a right output passes every check, and each
planted mistake is caught by the check that is there for it."""

import base64
import copy
import json

import harness
from harness import Failed, Tests, expect


def right_output():
    """Two shards, the first split in two, in the order a perfect consumer gives."""
    put, rows = {}, []
    for number in range(60):
        shard = f"shardId-{number % 2 if number < 30 else number % 3 + 1:012d}"
        if number >= 30 and shard.endswith("1"):
            shard = "shardId-000000000001"
        data = b"\xff" + str(number).encode() if number % 5 == 0 else b"payload \xe2\x80\xa8" + str(number).encode()
        place = (shard, 10**55 + number)
        put[place] = (f"k{number}", data)
        row = {"stream": "s", "shard": shard, "seq": str(place[1]), "sub": 0, "ts": 1000 + number // 3,
               "key": f"k{number}"}
        if number % 5 == 0:
            row["payload_b64"] = base64.b64encode(data).decode()
        else:
            row["payload"] = data.decode()
        rows.append(row)
    shards = [{"ShardId": "shardId-000000000000"}, {"ShardId": "shardId-000000000001"},
              {"ShardId": "shardId-000000000002", "ParentShardId": "shardId-000000000000"},
              {"ShardId": "shardId-000000000003", "ParentShardId": "shardId-000000000000"}]
    return put, rows, shards


def judge_all(rows, put, shards):
    records = harness.records_of(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    harness.judge_once(records, put)
    harness.judge_shard_order(records)
    harness.judge_time_order(records)
    harness.judge_not_late(records)
    harness.judge_lineage(records, shards)


def passes():
    put, rows, shards = right_output()
    judge_all(rows, put, shards)


def catches(spoil, word):
    put, rows, shards = right_output()
    rows = copy.deepcopy(rows)
    spoil(rows)
    try:
        judge_all(rows, put, shards)
    except Failed as failed:
        expect(word in str(failed), f"caught, but as: {failed}")
        return
    raise Failed("was not caught")


def swap(rows, a, b):
    rows[a], rows[b] = rows[b], rows[a]


def late_time(rows):
    rows[40]["ts"] += 100  # its shard's next ones keep that time, other shards' do not


def child_first(rows):
    """A child's record before its parent's last, with times and sequences that hide it from the other checks."""
    parent = max(i for i, row in enumerate(rows) if row["shard"].endswith("0"))
    rows[parent]["shard"], rows[parent + 1]["shard"] = "shardId-000000000002", "shardId-000000000000"


SPOILS = [
    ("a lost record", lambda rows: rows.pop(17), "lost"),
    ("a record twice", lambda rows: rows.insert(18, rows[17]), "twice"),
    ("an altered payload", lambda rows: rows[16].update(payload="x"), "altered"),
    ("an altered key", lambda rows: rows[16].update(key="x"), "altered"),
    ("a record never put", lambda rows: rows[16].update(seq="7"), "never put"),
    ("two records of a shard swapped", lambda rows: swap(rows, 2, 4), "goes from"),
    ("two shards swapped in time", lambda rows: swap(rows, 5, 6), "after"),
    ("a tie in ms against the sequence", lambda rows: swap(rows, 6, 7), "after"),
    ("a late mark", lambda rows: rows[9].update(late=True), "late"),
    ("a time out of order across shards", late_time, "after"),
    ("a missing member", lambda rows: rows[9].pop("sub"), "members"),
    ("base64 for what is UTF-8", lambda rows: rows[1].update(payload_b64="YQ==", payload=None) or rows[1].pop("payload"),
     "although"),
]


def lineage_alone():
    put, rows, shards = right_output()
    child_first(rows)
    records = harness.records_of(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    try:
        harness.judge_lineage(records, shards)
    except Failed:
        return
    raise Failed("was not caught")


def main():
    tests = Tests()
    tests.run("a right output passes every check", passes)
    for name, spoil, word in SPOILS:
        tests.run(f"caught: {name}", catches, spoil, word)
    tests.run("caught: a child before its parent's end", lineage_alone)
    tests.end()


if __name__ == "__main__":
    main()
