"""bloop through its own Engine: bind() to a table of the sandbox, its stream read to some moment, and the token that it
then prints taken up by stream-tail. Together they have every change once. (bloop_tokens.py does this at every moment,
with bloop's coordinator alone.)"""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile

import peers
from peers import harness, servers  # puts ../process on the path

import dynamo
import sandbox_box
from harness import Tests, expect

CHANGES = 60


class Bloop(peers.Life):
    """Its lines have no shard."""

    def take(self, text):
        word, ms, worker, shard, first, second = text.split("\t")
        if word == "record":
            self.lines.append(peers.Line(int(ms), worker, shard, (int(first), 0)))
        else:
            self.events.append((int(ms), shard, first, second))


def bound_and_handed_over():
    argv = peers.command_of("bloop")
    with sandbox_box.Box("change_ms=300") as box:
        dynamodb, streams = dynamo.clients(box.url)
        dynamodb.create_table(TableName="orders", BillingMode="PAY_PER_REQUEST",
                              AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                              KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                              StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
        dynamodb.get_waiter("table_exists").wait(TableName="orders", WaiterConfig={"Delay": 1})

        def change(n):
            dynamodb.put_item(TableName="orders", Item={"id": {"S": f"item {n}"}, "body": {"S": str(n)}})

        env = harness.tail_environment(box.url, AWS_DEFAULT_REGION=harness.REGION, PEER_ENDPOINT=box.url,
                                       PEER_STREAM="orders", PEER_APP="-", PEER_WORKER="a")
        life = Bloop("a", argv, env)
        try:
            for n in range(CHANGES):
                change(n)
            harness.wait_until(lambda: len(life.lines) >= CHANGES or not life.running(), 60, "bloop reads the changes")
            expect(life.running(), f"bloop ended: {life.stderr()[-1500:]}")
            life.process.send_signal(signal.SIGTERM)
            expect(life.process.wait(20) == 0, life.stderr()[-1500:])
            life.thread.join(10)
        finally:
            life.kill()
        token = next(detail for _, _, what, detail in life.events if what == "token")
        for n in range(CHANGES, 2 * CHANGES):
            change(n)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "token")
            with open(path, "w", encoding="utf-8") as file:
                file.write(token)
            done = harness.tail(["-J", "-e", "--save", path, "-b", box.url, "dynamodb:orders"],
                                harness.tail_environment(box.url), 60)
        expect(done.code == 0, str(done))
        ours = [int(json.loads(line)["seq"]) for line in done.out.decode().splitlines()]
        theirs = [line.place[0] for line in life.lines]
        arn = dynamo.stream_of(dynamodb, "orders")
        there = []
        for shard in dynamo.list_shards(streams, arn):
            iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"],
                                                  ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
            there += [int(r["dynamodb"]["SequenceNumber"]) for r in streams.get_records(ShardIterator=iterator)["Records"]]
        expect(len(there) == 2 * CHANGES, f"boto3 finds {len(there)}")
        expect(sorted(theirs + ours) == sorted(there),
               f"bloop had {len(theirs)}, ours {len(ours)} of {len(there)}, {len(set(theirs) & set(ours))} twice")
        return f"bloop {len(theirs)}, then ours {len(ours)}"


class Table:
    """A table of the sandbox with a stream, which bloop and ours read in turn."""

    def __init__(self, url):
        self.url, (self.dynamodb, self.streams) = url, dynamo.clients(url)
        self.dynamodb.create_table(TableName="orders", BillingMode="PAY_PER_REQUEST",
                                   AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                                   KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                                   StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
        self.dynamodb.get_waiter("table_exists").wait(TableName="orders", WaiterConfig={"Delay": 1})
        self.n, self.read = 0, []

    def change(self):
        for _ in range(CHANGES):
            self.dynamodb.put_item(TableName="orders", Item={"id": {"S": f"item {self.n}"}, "body": {"S": str(self.n)}})
            self.n += 1

    def bloop(self, token=""):
        """Reads CHANGES changes, and returns its token."""
        env = harness.tail_environment(self.url, AWS_DEFAULT_REGION=harness.REGION, PEER_ENDPOINT=self.url,
                                       PEER_STREAM="orders", PEER_APP="-", PEER_WORKER="a", PEER_TOKEN=token)
        life = Bloop("a", peers.command_of("bloop"), env)
        try:
            harness.wait_until(lambda: len(life.lines) >= CHANGES or not life.running(), 60, "bloop reads the changes")
            expect(life.running(), f"bloop ended: {life.stderr()[-1500:]}")
            life.process.send_signal(signal.SIGTERM)
            expect(life.process.wait(20) == 0, life.stderr()[-1500:])
            life.thread.join(10)
        finally:
            life.kill()
        self.read.append([line.place[0] for line in life.lines])
        return next(detail for _, _, what, detail in life.events if what == "token")

    def tail(self, *words):
        done = harness.tail([*words, "-b", self.url, "dynamodb:orders"], harness.tail_environment(self.url), 60)
        expect(done.code == 0, str(done))
        return done

    def ours(self):
        kind = dataclasses.replace(peers.KINDS["kcl-2"], schema="sloop")
        life = peers.Ours(kind, "ours", self.url, "dynamodb:orders", "one")
        try:
            harness.wait_until(lambda: len(life.lines) >= CHANGES or not life.running(), 60, "ours reads the changes")
            expect(life.leave() == 0, life.stderr()[-1500:])
        finally:
            life.kill()
        self.read.append([line.place[0] for line in life.lines])

    def sequence(self):
        arn, there = dynamo.stream_of(self.dynamodb, "orders"), []
        for shard in dynamo.list_shards(self.streams, arn):
            iterator = self.streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"],
                                                       ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
            there += [int(r["dynamodb"]["SequenceNumber"])
                      for r in self.streams.get_records(ShardIterator=iterator)["Records"]]
        return there


def by_rows_between():
    """bloop's token becomes leases, which ours reads on; those become a token, which bloop reads on."""
    peers.command_of("bloop")
    with sandbox_box.Box("change_ms=300") as box, tempfile.TemporaryDirectory() as folder:
        table, path, back = Table(box.url), os.path.join(folder, "token"), os.path.join(folder, "back")
        table.change()
        token = table.bloop()
        with open(path, "w", encoding="utf-8") as file:
            file.write(token)
        table.tail("--migrate", f"token:{path}", "sloop:one@dynamodb:one", "--write")
        table.change()
        table.ours()
        table.tail("--migrate", "sloop:one@dynamodb:one", f"token:{back}", "--write")
        table.change()
        with open(back, encoding="utf-8") as file:
            table.bloop(file.read())
        there = table.sequence()
        expect([len(some) for some in table.read] == 3 * [CHANGES], f"read {[len(some) for some in table.read]}")
        expect(sorted(sum(table.read, [])) == sorted(there), "not each change once")
        return f"{len(there)} changes, {CHANGES} each by bloop, by ours and by bloop"


if __name__ == "__main__":
    tests = Tests()
    tests.run("bloop's token becomes leases, and leases a token of bloop's", by_rows_between)
    tests.run("bloop binds, reads, and hands its token over", bound_and_handed_over)
    tests.end()
