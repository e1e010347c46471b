"""Aggregates of the Kinesis Producer Library, packed by its published Python package, between plain records: every
record of a user's comes once, with its own key, in order and counted by "sub"; across a split; over a restart in the
middle of an aggregate; whole when asked for. What is none, or damaged, comes as it is.

What must come out is computed from what went in: the package says where an aggregate belongs, the service's listing
says which hash keys a shard has.
"""

import hashlib
import os
import random
import sys
import tempfile

import harness
import servers
from harness import FULL, Tests, expect

try:
    import aws_kinesis_agg
    from aws_kinesis_agg import aggregator
except ImportError:
    print("skip all: aws-kinesis-agg is not installed here (sh test/install.sh test)")
    sys.exit(77)

PUTS = 400 if FULL else 120
FIRST_RECORDS = 15  # of the stream's first aggregate


def hash_of(key):
    return int(hashlib.md5(key.encode()).hexdigest(), 16)


class Source:
    """Puts plain records and aggregates, and knows what must come of each."""

    def __init__(self, kinesis, stream, seed):
        self.kinesis, self.stream = kinesis, stream
        self.random = random.Random(seed)
        self.number = 0
        self.whole = {}  # (shard, sequence) -> (key, data) as put
        self.users = {}  # (shard, sequence) -> [(key, data, hash)] of an aggregate
        self.raw = set()

    def user(self):
        self.number += 1
        size = self.random.choice([0, 10, 100])
        return (f"user-{self.random.randrange(30)}", f"{self.number:06d} ".encode() + self.random.randbytes(size),
                str(self.random.getrandbits(128)) if self.random.random() < 0.2 else None)

    def send(self, key, data, explicit=None):
        more = {"ExplicitHashKey": explicit} if explicit is not None else {}

        def put():
            try:
                return self.kinesis.put_record(StreamName=self.stream, PartitionKey=key, Data=data, **more)
            except (self.kinesis.exceptions.ResourceInUseException,
                    self.kinesis.exceptions.ProvisionedThroughputExceededException):
                return None

        answer = harness.wait_until(put, 60, "a record is taken")
        place = (answer["ShardId"], int(answer["SequenceNumber"]))
        self.whole[place] = (key, data)
        return place

    def plain(self):
        key, data, _ = self.user()
        self.send(key, data)

    def aggregate(self, n, inside=None):
        """inside: a range of hash keys that every record shall belong to, as producers that know shards do."""
        packer, users = aggregator.RecordAggregator(), []
        while len(users) < n:
            key, data, explicit = self.user()
            where = int(explicit) if explicit else hash_of(key)
            if inside and not inside[0] <= where <= inside[1]:
                continue
            expect(packer.add_user_record(key, data, explicit) is None, "the aggregate is full")
            users.append((key, data, where))
        # The package names the first record's key and hash for the whole.
        key, explicit, data = packer.clear_and_get().get_contents()
        self.users[self.send(key, data, explicit)] = users

    def sealed(self, message):
        return aws_kinesis_agg.MAGIC + message + hashlib.md5(message).digest()

    def hostile(self):
        key, data, _ = self.user()
        good = self.sealed(b"\x0a\x01k\x1a\x05\x08\x00\x1a\x01d")
        for bad in (good[:-1] + b"?",                              # another MD5
                    self.sealed(b"\x0a\x01k\x1a\x05\x08\x01\x1a\x01d"),  # no such key
                    self.sealed(b"\x0a\x7fk"),                     # no message
                    self.sealed(b"\x0a\x01k\x1a\x05\x08\x00\x1a\x01d\x1a\x02\x08\x00")):  # its second record has no data
            self.raw.add(self.send(key, bad))
        self.send(key, good[:20])  # too short: a plain record
        self.users[self.send(key, self.sealed(b"\x0a\x01k"))] = []  # no records: nothing comes of it
        self.send(key, data)

    def mixture(self, n, inside=None):
        for _ in range(n):
            if self.random.random() < 0.4:
                self.plain()
            else:
                self.aggregate(self.random.choice([1, 2, 7, 40]), inside)

    def expected(self, keep=False):
        """(shard, sequence, sub) -> (key, data, raw, hash; None: not judged)"""
        found = {}
        for place, (key, data) in self.whole.items():
            if place in self.users and not keep:
                for sub, (user_key, user_data, where) in enumerate(self.users[place]):
                    found[(*place, sub)] = (user_key, user_data, False, where)
            else:
                found[(*place, 0)] = (key, data, place in self.raw and not keep, None)
        return found


def bounds_of(kinesis, stream):
    return {shard["ShardId"]: (int(shard["HashKeyRange"]["StartingHashKey"]), int(shard["HashKeyRange"]["EndingHashKey"]))
            for shard in harness.list_shards(kinesis, stream)}


def full_place(record):
    return (*record["place"], record["sub"])


def judge(records, source, bounds, keep=False):
    """Exactly what was put, once, in order. Returns how many are foreign."""
    wanted = source.expected(keep)
    last, foreign = {}, 0
    for record in records:
        place = full_place(record)
        expect(place in wanted, f"never put, or twice: {place}")
        key, data, raw, where = wanted.pop(place)
        expect((record["key"], record["data"]) == (key, data), f"altered: {place}: {record}")
        expect(record.get("raw", False) == raw, f"raw: {record}")
        low, high = bounds[place[0]]
        expect(record.get("foreign", False) == (where is not None and not low <= where <= high),
               f"{place} hashes to {where}, its shard has {low} to {high}: {record}")
        foreign += record.get("foreign", False)
        expect(last.get(place[0], (-1, -1)) < place[1:], f"{place} after {last.get(place[0])}")
        last[place[0]] = place[1:]
    expect(not wanted, f"{len(wanted)} lost, the first: {sorted(wanted)[:3]}")
    return foreign


def tail_ok(server, *arguments):
    done = harness.tail(["-J", "-o", "oldest", *arguments], harness.environment_for(server), 300)
    expect(done.code == 0, str(done))
    return harness.records_of(done.out)


def backlog(server, kinesis, stream, source, *options):
    records = tail_ok(server, "-e", *options, stream)
    foreign = judge(records, source, bounds_of(kinesis, stream))
    if "shard" not in options:
        harness.judge_time_order(records)
        harness.judge_not_late(records)
    expect(any(record["sub"] > 5 for record in records), "no aggregate was expanded")
    return f"{len(source.whole)} records put, {len(records)} came, {foreign} of them foreign"


def kept(server, kinesis, stream, source):
    records = tail_ok(server, "-e", "-X", "aggregates=keep", stream)
    judge(records, source, bounds_of(kinesis, stream), keep=True)
    return f"{len(records)} as they came"


def restarted(server, kinesis, stream, source, n):
    """Stopped after n records, over and over, the token kept in a file."""
    with tempfile.TemporaryDirectory() as folder:
        records, runs, inside = [], 0, 0
        save = os.path.join(folder, "token")
        while True:
            more = tail_ok(server, "--save", save, "-e", "-c", str(n), stream)
            expect(len(more) <= n, f"{len(more)} records with -c {n}")
            records += more
            runs += 1
            if len(more) < n:
                break
            place = (full_place(more[-1])[0], more[-1]["place"][1])
            inside += more[-1]["sub"] + 1 < len(source.users.get(place, ()))
    # Each run puts its own records in order; over several of them each shard's own order is what holds.
    judge(records, source, bounds_of(kinesis, stream))
    expect(inside >= runs // 4, f"{inside} of {runs} stops were inside an aggregate: the stream is not as meant")
    return f"{runs} runs of {n}, {inside} of them ended inside an aggregate"


def position(server, stream, source):
    """-o SHARD:SEQ.SUB begins inside an aggregate."""
    place = next(place for place, users in sorted(source.users.items()) if len(users) > 5)
    done = harness.tail(["-J", "-e", "-o", f"{place[0]}:{place[1]}.3", stream], harness.environment_for(server), 120)
    expect(done.code == 0, str(done))
    records = harness.records_of(done.out)
    wanted = sorted(p for p in source.expected() if p[0] == place[0] and p[1:] >= (place[1], 3))
    expect([full_place(record) for record in records] == wanted,
           f"{len(records)} records from {full_place(records[0]) if records else None}, {len(wanted)} wanted")
    return f"{len(records)} records"


def split_first(kinesis, stream):
    shards = [s for s in harness.list_shards(kinesis, stream) if "EndingSequenceNumber" not in s["SequenceNumberRange"]]
    shard = shards[0]
    low, high = int(shard["HashKeyRange"]["StartingHashKey"]), int(shard["HashKeyRange"]["EndingHashKey"])
    kinesis.split_shard(StreamName=stream, ShardToSplit=shard["ShardId"], NewStartingHashKey=str((low + high) // 2))
    harness.wait_active(kinesis, stream)
    return low, high


def live_split(server):
    """While stream-tail reads: aggregates of the parent's whole range before, and after it, when half of their
    records belong to the other child."""
    kinesis = harness.client_of(server)
    stream = harness.new_stream(kinesis, 1)
    source = Source(kinesis, stream, 7)
    running = harness.Running(["-J", "-o", "oldest", stream], harness.environment_for(server))
    try:
        source.mixture(30)
        split_first(kinesis, stream)
        source.mixture(30)
        total = len(source.expected())
        running.wait_lines(total, 120)
        code = running.interrupt()
        expect(code == 0, f"exit code {code}: {running.stderr()}")
    finally:
        running.kill()
    records = harness.records_of(running.lines)
    foreign = judge(records, source, bounds_of(kinesis, stream))
    harness.judge_lineage(records, harness.list_shards(kinesis, stream))
    expect(foreign > 0, "nothing hashes to the other child: the test is broken")
    again = tail_ok(server, "-e", stream)
    judge(again, source, bounds_of(kinesis, stream))
    harness.judge_lineage(again, harness.list_shards(kinesis, stream))
    return f"{len(records)} records, {foreign} foreign; {restarted(server, kinesis, stream, source, 97)}"


def only_empty(server):
    """A shard that holds nothing but aggregates without records, and is closed: nothing comes, and it ends."""
    kinesis = harness.client_of(server)
    stream = harness.new_stream(kinesis, 1)
    source = Source(kinesis, stream, 3)
    for _ in range(5):
        source.users[source.send("k", source.sealed(b"\x0a\x01k"))] = []
    split_first(kinesis, stream)
    source.aggregate(5)
    records = tail_ok(server, "-e", stream)
    judge(records, source, bounds_of(kinesis, stream))
    return f"{len(records)} records of the children"


def too_many(server):
    """Four aggregates that together exceed what a page may grow to (three pages come of it), and one that exceeds what
    an aggregate may hold."""
    kinesis = harness.client_of(server)
    stream = "larger-records"
    kinesis.create_stream(StreamName=stream, ShardCount=1, MaxRecordSizeInKiB=2048)
    harness.wait_active(kinesis, stream)
    source = Source(kinesis, stream, 5)
    tiny = b"\x1a\x04\x08\x00\x1a\x00"  # key 0, no bytes
    places = [source.send("k", source.sealed(b"\x0a\x01k" + tiny * 240000)) for _ in range(4)]
    whole = source.send("k", source.sealed(b"\x0a\x01k" + tiny * 250001))
    done = harness.tail(["-o", "oldest", "-e", "-f", r"%o.%u %S\n", stream], harness.environment_for(server), 120)
    expect(done.code == 0, str(done))
    wanted = "".join(f"{sequence}.{sub} 0\n" for _, sequence in places for sub in range(240000))
    wanted += f"{whole[1]}.0 {len(source.whole[whole][1])}\n"
    came = done.out.decode()
    expect(came == wanted, f"{came.count(chr(10))} lines, {wanted.count(chr(10))} wanted; they end {came[-200:]!r}")
    return f"{came.count(chr(10))} records [{done.seconds:.1f} s]"


class UnlimitedSandbox(servers.Sandbox):
    """Several tests read the same shards at once, which the service would allow five times a second."""

    def __init__(self):
        super().__init__(1, [f"sandbox.{limit}=0" for limit in (
            "reads_per_second", "read_bytes_per_second", "write_records_per_second", "write_bytes_per_second")])


def suite(tests, server):
    kinesis = harness.client_of(server)
    stream = harness.new_stream(kinesis, 3)
    source = Source(kinesis, stream, 11)
    bounds = list(bounds_of(kinesis, stream).values())
    source.aggregate(FIRST_RECORDS, bounds[0])
    for inside in bounds:
        source.mixture(PUTS // 6, inside)
    source.hostile()
    source.mixture(PUTS // 2)
    name = server.name
    tests.side_by_side([
        lambda: tests.run(f"{name}: every record of a user's, once and in order", backlog, server, kinesis, stream, source),
        lambda: tests.run(f"{name}: the same as JSON, in small pages", backlog, server, kinesis, stream, source,
                          "--wire", "json", "-X", "fetch_records_max=7"),
        lambda: tests.run(f"{name}: the same, each shard by itself", backlog, server, kinesis, stream, source, "--order",
                          "shard"),
        lambda: tests.run(f"{name}: whole when asked for", kept, server, kinesis, stream, source),
        lambda: tests.run(f"{name}: restarted inside aggregates", restarted, server, kinesis, stream, source, 61),
        lambda: tests.run(f"{name}: from a place inside an aggregate", position, server, stream, source),
        lambda: tests.run(f"{name}: across a split", live_split, server),
        *([lambda: tests.run(f"{name}: more than a page may grow to", too_many, server)] if name == "sandbox" else []),
        lambda: tests.run(f"{name}: nothing but empty aggregates", only_empty, server),
    ], 3)


def main():
    tests = Tests()
    harness.boto3_or_skip()
    plan = [servers.Kinesalite, servers.KinesisMock, UnlimitedSandbox]
    tests.side_by_side([lambda kind=kind: tests.with_server(kind, suite) for kind in plan])
    tests.end()


if __name__ == "__main__":
    main()
