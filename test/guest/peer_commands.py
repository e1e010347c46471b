"""An operator's commands on the tables of a real kinsumer: peer_commands.py

Two of its clients read a stream that is idle then, so that the rows of their shards grow old while they live."""

import json
import subprocess
import time

import peers
from peers import KINDS, Theirs, servers, harness  # puts ../process on the path

import sandbox_box
from harness import Tests, expect

KIND = KINDS["kinsumer"]
SHARDS, RECORDS = 3, 30
LEASE_S = 5  # five checks of theirs
ENV = {"PEER_SYNC_MS": "1000", "PEER_POLL_MS": "250"}


class Fleet:
    def __init__(self, url):
        self.url, self.kinesis = url, harness.client(url)
        self.kinesis.create_stream(StreamName="s", ShardCount=SHARDS)
        harness.wait_active(self.kinesis, "s")
        self.put_n = 0

    def put(self, n):
        entries = [{"Data": f"{i}".encode(), "PartitionKey": f"{i * 7919}"} for i in range(self.put_n, self.put_n + n)]
        expect(self.kinesis.put_records(StreamName="s", Records=entries)["FailedRecordCount"] == 0, "records were refused")
        self.put_n += n

    def begin(self, worker):
        return Theirs(KIND, worker, self.url, "s", "app", **ENV)

    def command(self, *args):
        done = subprocess.run([servers.binary(), *args, "-G", "app", "-X", "schema=kinsumer", "-X", f"lease_ms={LEASE_S * 1000}",
                               "-b", self.url, "s"], capture_output=True, text=True, check=False, timeout=120,
                              env=harness.tail_environment(self.url))
        return done.returncode, done.stdout, done.stderr

    def rows(self):
        code, out, err = self.command("--leases", "-J")
        expect(code == 0, err)
        lines = [json.loads(line) for line in out.splitlines()]
        return [x for x in lines if "shard" in x], [x for x in lines if "worker" in x]

    def stored(self):
        items = harness.client(self.url, "dynamodb").scan(TableName="app_checkpoints", ConsistentRead=True)["Items"]
        return sorted(items, key=lambda item: item["Shard"]["S"])


def idle_owners_keep_their_shards(box):
    fleet = Fleet(box.url)
    a = fleet.begin("a")
    fleet.put(RECORDS)
    harness.wait_until(lambda: a.lines, 60, "a reads")
    b = fleet.begin("b")  # two that make the tables together trip over each other
    harness.wait_until(lambda: len({row.get("OwnerID", {}).get("S", "") for row in fleet.stored()} - {""}) == 2, 60,
                       "both have shards")
    fleet.put(RECORDS)
    harness.wait_until(lambda: len(a.lines) + len(b.lines) >= 2 * RECORDS, 60, "all is read")
    time.sleep(LEASE_S * 1.5)  # their rows are old
    before = fleet.stored()
    leases, workers = fleet.rows()
    expect([row["state"] for row in leases] == ["owned"] * SHARDS, f"{leases}")
    expect(sorted(w["host"] for w in workers) == ["a", "b"] and sum(w["leads"] for w in workers) == 1 and
           sum(w["held"] for w in workers) == SHARDS, f"{workers}")
    for shard in range(SHARDS):
        code, out, err = fleet.command("--explain", str(shard))
        expect(code == 0 and f"is being read by {leases[shard]['owner']}" in out, f"{code} {out}{err}")
    for args in (("--release", "0"), ("--reset", "1", "--to", "oldest"), ("--reset", "all", "--to", "latest")):
        code, out, err = fleet.command(*args)
        expect(code == 4 and "is alive" in err and not out, f"{args}: {code} {out}{err}")
    expect(fleet.stored() == before and a.running() and b.running(), "something was changed")
    # By force: the owner finds out when it saves the next record.
    code, _, err = fleet.command("--reset", "0", "--to", "oldest", "--force")
    expect(code == 0, err)
    fleet.put(RECORDS)
    harness.wait_until(lambda: a.running() + b.running() == 1, 30, "the owner of shard 0 ends")
    left = a if a.running() else b
    left.kill()
    began = time.monotonic()
    code, out, err = fleet.command("--reset", "all", "--to", "oldest")
    took = time.monotonic() - began
    expect(code == 0, f"{code} {out}{err}")
    c = fleet.begin("c")
    harness.wait_until(lambda: len(c.lines) >= 3 * RECORDS, 60, "all of them again")
    c.leave()
    return f"idle owners were left alone three times; killed ones were known to be dead after {took:.1f} s"


def main():
    tests = Tests()
    try:
        peers.command_of(KIND.program)
    except servers.Missing as missing:
        tests.skip("kinsumer", missing)
        tests.end()
        return
    with sandbox_box.Box("change_ms=200", limits=True) as box:
        tests.run("commands on the tables of kinsumer", lambda: idle_owners_keep_their_shards(box))
    tests.end()


if __name__ == "__main__":
    main()
