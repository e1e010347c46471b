"""Positions that stream-tail --migrate wrote, taken up by the real program: motorway goes on where ours stopped in a layout of
its own, and ours goes on, in that layout and in another, where motorway was ended. Nothing is left out, and what comes again is
what motorway's own layout makes come again: the last record that was done, of each shard."""

import subprocess
import sys

import peers
from peers import KINDS, Theirs, harness, servers  # puts ../process on the path

import sandbox_box
from harness import Tests, expect

SHARDS, MANY = 3, 90
STREAM = "orders"
FORMS = ("sloop", "kcl", "vmware-go-kcl", "kinsumer", "kcl-rb")


class World:
    def __init__(self, box):
        self.box, self.kinesis, self.n = box, harness.client(box.url), 0
        self.kinesis.create_stream(StreamName=STREAM, ShardCount=SHARDS)
        harness.wait_active(self.kinesis, STREAM)
        self.truth = set()

    def fill(self):
        entries = [{"Data": b'{"n": %d}' % (self.n + i), "PartitionKey": f"key {self.n + i}"} for i in range(MANY)]
        self.n += MANY
        answer = self.kinesis.put_records(StreamName=STREAM, Records=entries)
        self.truth |= {(record["ShardId"], int(record["SequenceNumber"])) for record in answer["Records"]}

    def tail(self, *arguments):
        done = subprocess.run([servers.binary(), "-b", self.box.url, "-X", "lease_ms=2000", "-X", "aggregates=keep", "-o", "oldest",
                               *arguments, STREAM], capture_output=True, text=True, check=False, timeout=120,
                              env=harness.tail_environment(self.box.url))
        expect(done.returncode == 0, f"{arguments}: {done.stderr[-800:]}{done.stdout[-300:]}")
        return done.stdout

    def ours(self, form, app, until):
        """until: ("-c", "90") or ("--timeout", "10")."""
        knobs = ("-G", app, "-X", f"schema={form}", "-X", "checkpoint_ms=500", "-X", "poll_ms=200", *until, "-f", r"%p\t%o\n")
        return [(shard, int(number)) for shard, number in (line.split("\t") for line in self.tail(*knobs).splitlines())]

    def theirs(self, app, want):
        """A process of motorway's, until it has read that, and is ended as its users end it."""
        life = Theirs(KINDS["motorway"], "a", self.box.url, STREAM, app, PEER_FAILOVER_MS="2000")
        try:
            harness.wait_until(lambda: want <= {(line.shard, line.place[0]) for line in life.lines} or not life.running(), 90,
                               "motorway reads what is left")
            expect(life.running(), f"motorway ended: {life.stderr()[-800:]}")
            expect(not any(what == "failed" for _, _, what, _ in life.events), life.events)
            rows = harness.client(self.box.url, "dynamodb")

            def saved():
                items = rows.scan(TableName=app, ConsistentRead=True)["Items"]
                last = {item["shard_id"]["S"]: int(next(iter(item["checkpoint"].values()))) for item in items}
                return all(last.get(shard, 0) >= number for shard, number in want)

            harness.wait_until(saved, 20, "motorway has saved it")
            life.leave()
        finally:
            life.kill()
        return [(line.shard, line.place[0]) for line in life.lines]


def there_and_back(form):
    with sandbox_box.Box("change_ms=300") as box:
        w = World(box)
        w.fill()
        first = w.ours(form, "app-one", ("-c", str(MANY)))
        expect(set(first) == w.truth and len(first) == MANY, f"{form}: {len(first)} of {MANY}")
        w.tail("--migrate", f"{form}:app-one", "motorway:app-two", "--write")
        w.fill()
        left = w.truth - set(first)
        second = w.theirs("app-two", left)
        again = len(second) - len(left)
        expect(set(second) >= left and 0 <= again <= SHARDS, f"{form}: motorway read {len(second)}, and {len(left)} were left")
        # Its own checkpoints are read again: ours reads on in its layout before they go anywhere else.
        w.fill()
        left = w.truth - set(first) - set(second)
        third = w.ours("motorway", "app-two", ("--timeout", "12"))
        again += len(third) - len(left)
        expect(set(third) >= left and len(third) - len(left) <= SHARDS, f"{form}: {len(third)} after motorway, and {len(left)} were left")
        w.tail("--migrate", "motorway:app-two", f"{form}:app-three", "--write")
        w.fill()
        left = w.truth - set(first) - set(second) - set(third)
        fourth = w.ours(form, "app-three", ("-c", str(len(left))))
        expect(set(fourth) == left and len(fourth) == len(left), f"{form}: {len(fourth)} in the end, and {len(left)} were left")
        return f"{len(w.truth)} records, {again} came again"


def main():
    tests = Tests()
    try:
        peers.command_of("motorway")
    except servers.Missing as missing:
        tests.skip("all", missing)
        tests.end()
        return
    names = sys.argv[1:] or FORMS
    sys.argv[1:] = []
    for form in names:
        tests.run(f"{form} to motorway and back", lambda form=form: there_and_back(form))
    tests.end()


if __name__ == "__main__":
    main()
