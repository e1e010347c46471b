"""Positions are migrated to the tables of kinsumer and of vmware-go-kcl and from them, and the real program goes on there,
or began there.

    peer_migrate_go.py [KIND...]     kinsumer, vmware-go-kcl

For each other form: ours reads some, its positions are copied, the Go program reads the rest; and the other way round.
Together both read every record once. While the program runs, nothing is copied."""

import os
import subprocess
import sys
import tempfile
import time

import peers
from peers import KINDS, Theirs, servers, harness  # puts ../process on the path

import sandbox_box
from harness import Tests, expect

FORMS = ("sloop", "kcl", "kinsumer", "vmware-go-kcl", "motorway", "kcl-rb", "token")
SHARDS, RECORDS = 3, 60
LEASE = "5000"  # five checks of kinsumer's
ENV = {"PEER_SYNC_MS": "1000", "PEER_POLL_MS": "250", "PEER_FAILOVER_MS": LEASE, "PEER_CHECKPOINT_MS": "100"}


class Scene:
    def __init__(self, url, kind, name, folder):
        self.url, self.kind = url, kind
        self.app, self.stream = f"{kind.name}-{name}", f"s-{kind.name}-{name}"
        self.file = os.path.join(folder, self.app)
        self.kinesis = harness.client(url)
        self.kinesis.create_stream(StreamName=self.stream, ShardCount=SHARDS)
        harness.wait_active(self.kinesis, self.stream)
        self.put_n = 0

    def put(self, n):
        entries = [{"Data": f"{self.put_n + i}".encode(), "PartitionKey": f"{(self.put_n + i) * 7919}"} for i in range(n)]
        done = self.kinesis.put_records(StreamName=self.stream, Records=entries)
        expect(done["FailedRecordCount"] == 0, "records were refused")
        self.put_n += n
        return sorted((r["ShardId"], int(r["SequenceNumber"])) for r in done["Records"])

    def tail(self, *args):
        done = subprocess.run([servers.binary(), *args, "-b", self.url], capture_output=True, text=True, check=False, timeout=120,
                              env=harness.tail_environment(self.url))
        expect(done.returncode == 0, f"{args}: {done.returncode}: {done.stderr}")
        return done.stdout

    def place(self, form):
        return f"token:{self.file}" if form == "token" else f"{form}:{self.app}-{form}"

    def ours_reads(self, form, n):
        """So many records, by ours; it leaves in order."""
        common = ("-o", "oldest", "-f", "%p\t%o\n", "-X", "poll_ms=200")
        if form == "token":
            out = self.tail(*common, "-e", "--save", self.file, self.stream)
        else:
            out = self.tail(*common, "-c", str(n), "-G", f"{self.app}-{form}", "-X", f"schema={form}", "-X", f"lease_ms={LEASE}",
                            "-X", "aggregates=keep", "--store", "dynamodb:sloop" if form == "sloop" else f"dynamodb:{self.app}-{form}",
                            self.stream)
        return [(shard, int(number)) for shard, number in (line.split("\t") for line in out.splitlines())]

    def migrate(self, one, two):
        args = ("--migrate", self.place(one), self.place(two), "-X", f"lease_ms={LEASE}", "-o", "oldest", "-X", "aggregates=keep")
        self.tail(*args, self.stream)  # what it would do
        return self.tail(*args, "--write", self.stream)

    def theirs_begins(self):
        return Theirs(self.kind, "a", self.url, self.stream, f"{self.app}-{self.kind.name}", **ENV)

    def wait_for(self, life, n):
        harness.wait_until(lambda: len(life.lines) >= n or not life.running(), 60, f"{n} records")
        expect(life.running(), life.stderr())

    def theirs_reads(self, n):
        life = self.theirs_begins()
        self.wait_for(life, n)
        time.sleep(1)  # nothing comes twice, and all is saved
        life.leave()
        return [(line.shard, line.place[0]) for line in life.lines]


def there(url, kind, form, folder):
    scene = Scene(url, kind, f"to-{form}", folder)
    truth = scene.put(RECORDS)
    seen = scene.ours_reads(form, RECORDS)
    truth += scene.put(RECORDS)
    scene.migrate(form, kind.name)
    seen += scene.theirs_reads(RECORDS)
    expect(sorted(seen) == sorted(truth), f"{len(seen)} of {len(truth)} read, {len(set(seen))} once")
    return f"{RECORDS} by ours, {len(seen) - RECORDS} by {kind.name}, each once"


def back(url, kind, form, folder):
    scene = Scene(url, kind, f"from-{form}", folder)
    truth = scene.put(RECORDS)
    seen = scene.theirs_reads(RECORDS)
    truth += scene.put(RECORDS)
    scene.migrate(kind.name, form)
    seen += scene.ours_reads(form, RECORDS)
    expect(sorted(seen) == sorted(truth), f"{len(seen)} of {len(truth)} read, {len(set(seen))} once")
    return f"{RECORDS} by {kind.name}, {len(seen) - RECORDS} by ours, each once"


def living(url, kind, folder):
    """Its shards are idle. Then kinsumer's rows of leases grow old: its own row says that it lives."""
    scene = Scene(url, kind, "living", folder)
    scene.put(RECORDS)
    life = scene.theirs_begins()
    scene.wait_for(life, RECORDS)
    time.sleep(int(LEASE) / 1000 * 1.5)
    done = subprocess.run([servers.binary(), "--migrate", scene.place(kind.name), scene.place("sloop"), "--write", "-X",
                           f"lease_ms={LEASE}", "-b", url, scene.stream], capture_output=True, text=True, check=False, timeout=120,
                          env=harness.tail_environment(url))
    life.leave()
    expect(done.returncode == 4, f"{done.returncode}: {done.stdout}{done.stderr}")
    return done.stderr.strip()


def all_of(tests, kind):
    try:
        peers.command_of(kind.program)
    except servers.Missing as missing:
        tests.skip(kind.name, missing)
        return
    with sandbox_box.Box("change_ms=200", limits=True) as box, tempfile.TemporaryDirectory() as folder:
        for form in FORMS:
            if form != kind.name:
                tests.run(f"{form} to {kind.name}", lambda form=form: there(box.url, kind, form, folder))
                tests.run(f"{kind.name} to {form}", lambda form=form: back(box.url, kind, form, folder))
        tests.run(f"while a {kind.name} lives nothing is copied", lambda: living(box.url, kind, folder))


def main():
    kinds, sys.argv[1:] = sys.argv[1:] or ["kinsumer", "vmware-go-kcl"], []
    tests = Tests()
    for name in kinds:
        all_of(tests, KINDS[name])
    tests.end()


if __name__ == "__main__":
    main()
