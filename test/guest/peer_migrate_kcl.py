"""Positions on their way between our own rows, rows of the KCL and a token, with the real KCL reading on from them:

    peer_migrate_kcl.py [KIND...]     kcl-2, kcl-3

Ours reads, its positions go to the KCL, which reads on; back to ours as rows and as a token; and to the KCL again, whose
application is then one of KCL 3 with kcl-3. Each leg must read what came since the last one, all of it and nothing else.
"""

import dataclasses
import os
import sys
import tempfile

import peers
from peers import KINDS, Ours, Theirs, harness, servers  # puts ../process on the path

import sandbox_box
from harness import Tests, expect

SHARDS, RECORDS = 4, 200
NATIVE = "sloop:{0}@dynamodb:{0}"


class Legs:
    def __init__(self, kind, url):
        self.kind, self.url, self.stream = kind, url, f"m-{kind.name}"
        self.kinesis, self.dynamodb = harness.client(url), harness.client(url, "dynamodb")
        self.kinesis.create_stream(StreamName=self.stream, ShardCount=SHARDS)
        harness.wait_active(self.kinesis, self.stream)
        self.new = set()  # what the next leg is to read
        self.number = 0

    def put(self):
        entries = [{"Data": str(i).encode(), "PartitionKey": f"key {i}"} for i in range(self.number, self.number + RECORDS)]
        self.number += RECORDS
        answer = self.kinesis.put_records(StreamName=self.stream, Records=entries)
        expect(not answer["FailedRecordCount"], f"{answer['FailedRecordCount']} refused")
        self.new = {(r["ShardId"], (int(r["SequenceNumber"]), 0)) for r in answer["Records"]}

    def migrate(self, source, target):
        done = harness.tail(["--migrate", source, target, "--write", "-o", "oldest", "-b", self.url, self.stream],
                            harness.tail_environment(self.url), 150)
        expect(done.code == 0, f"--migrate {source} {target}: {done}")
        return done

    def check(self, who, lines):
        came = [(shard, place) for shard, place in lines]
        expect(len(came) == len(set(came)), f"{who}: {len(came) - len(set(came))} twice")
        expect(set(came) == self.new, f"{who}: {len(self.new - set(came))} of {len(self.new)} did not come, "
                                      f"{len(set(came) - self.new)} came that had been read before")

    def leg(self, life):
        """It reads all that is new; what it should not read came before that, or comes before it has ended."""
        try:
            harness.wait_until(lambda: len(life.lines) >= len(self.new) or not life.running(), 150,
                               f"{life.worker} reads {len(self.new)}", 0.25)
            expect(life.leave() is not None, f"{life.worker} does not end")
        finally:
            life.kill()
        self.check(life.worker, [(line.shard, line.place) for line in life.lines])

    def ours(self, app):
        self.leg(Ours(dataclasses.replace(self.kind, schema="sloop"), f"ours-{app}", self.url, self.stream, app))

    def theirs(self, app):
        self.leg(Theirs(self.kind, "theirs", self.url, self.stream, app))

    def forget_leases(self, table):
        """As an operator would, so that others can take their place."""
        for page in self.dynamodb.get_paginator("scan").paginate(TableName=table):
            for item in page["Items"]:
                if "leaseCounter" in item:
                    self.dynamodb.delete_item(TableName=table, Key={"leaseKey": item["leaseKey"]})


def there_and_back(kind):
    peers.command_of(kind.program)
    with sandbox_box.Box("change_ms=300", limits=True) as box, tempfile.TemporaryDirectory() as folder:
        legs = Legs(kind, box.url)
        legs.put()
        legs.ours("one")
        legs.put()
        legs.migrate(NATIVE.format("one"), "kcl:two")
        legs.theirs("two")
        legs.put()
        path = os.path.join(folder, "token")
        legs.migrate("kcl:two", f"token:{path}")
        done = harness.tail(["-f", r"%p\t%o\n", "-e", "--save", path, "-b", box.url, legs.stream],
                            harness.tail_environment(box.url), 60)
        expect(done.code == 0, str(done))
        rows = [line.split("\t") for line in done.out.decode().splitlines()]
        legs.check("the token's reader", [(shard, (int(number), 0)) for shard, number in rows])
        legs.migrate("kcl:two", NATIVE.format("three"))
        legs.ours("three")
        legs.put()
        legs.forget_leases("two")
        legs.migrate(NATIVE.format("three"), "kcl:two")
        legs.theirs("two")
        version = legs.dynamodb.get_item(TableName="two", Key={"leaseKey": {"S": "Migration3.0"}}).get("Item", {})
        word = version.get("cv", {}).get("S", "no version")
        expect(word == ("CLIENT_VERSION_3X" if kind.name == "kcl-3" else "no version"), word)
        return f"{legs.number} records, each once on its leg; the application is of {word}"


def main():
    kinds, sys.argv[1:] = sys.argv[1:] or ["kcl-2", "kcl-3"], []
    tests = Tests()
    for name in kinds:
        try:
            peers.command_of(KINDS[name].program)
        except servers.Missing as missing:
            tests.skip(name, missing)
            continue
        tests.run(f"{name}: positions from ours, to ours, as a token, and back", lambda name=name: there_and_back(KINDS[name]))
    tests.end()


if __name__ == "__main__":
    main()
