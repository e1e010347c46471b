"""Positions are migrated to kinsumer's tables and from them, and the real program goes on there, or began there.

    peer_migrate_kinsumer.py

For each other form: ours reads some, its positions are copied, kinsumer reads the rest; and the other way round. Together
both read every record once. While kinsumer runs, nothing is copied."""

import os
import subprocess
import tempfile
import time

import peers
from peers import KINDS, Theirs, servers, harness  # puts ../integration on the path

import sandbox_box
from harness import Tests, expect

KIND = KINDS["kinsumer"]
FORMS = ("sloop", "kcl", "vmware-go-kcl", "motorway", "kcl-rb", "token")
SHARDS, RECORDS = 3, 60
LEASE = "5000"  # five checks of theirs
ENV = {"PEER_SYNC_MS": "1000", "PEER_POLL_MS": "250"}


class Scene:
    def __init__(self, url, name, folder):
        self.url, self.app, self.stream = url, f"app-{name}", f"s-{name}"
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
        return Theirs(KIND, "a", self.url, self.stream, f"{self.app}-kinsumer", **ENV)

    def theirs_reads(self, n):
        life = self.theirs_begins()
        deadline = time.monotonic() + 60
        while len(life.lines) < n and time.monotonic() < deadline:
            expect(life.running(), life.stderr())
            time.sleep(0.1)
        time.sleep(1)  # nothing comes twice
        life.leave()
        return [(line.shard, line.place[0]) for line in life.lines]


def there(url, form, folder):
    scene = Scene(url, f"to-{form}", folder)
    truth = scene.put(RECORDS)
    seen = scene.ours_reads(form, RECORDS)
    truth += scene.put(RECORDS)
    scene.migrate(form, "kinsumer")
    seen += scene.theirs_reads(RECORDS)
    expect(sorted(seen) == sorted(truth), f"{len(seen)} of {len(truth)} read, {len(set(seen))} once")
    return f"{RECORDS} by ours, {len(seen) - RECORDS} by kinsumer, each once"


def back(url, form, folder):
    scene = Scene(url, f"from-{form}", folder)
    truth = scene.put(RECORDS)
    seen = scene.theirs_reads(RECORDS)
    truth += scene.put(RECORDS)
    scene.migrate("kinsumer", form)
    seen += scene.ours_reads(form, RECORDS)
    expect(sorted(seen) == sorted(truth), f"{len(seen)} of {len(truth)} read, {len(set(seen))} once")
    return f"{RECORDS} by kinsumer, {len(seen) - RECORDS} by ours, each once"


def living(url, folder):
    """Its shards are idle, so that the rows of the leases are old: its own row says that it lives."""
    scene = Scene(url, "living", folder)
    scene.put(RECORDS)
    life = scene.theirs_begins()
    deadline = time.monotonic() + 60
    while len(life.lines) < RECORDS and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(int(LEASE) / 1000 * 1.5)
    done = subprocess.run([servers.binary(), "--migrate", scene.place("kinsumer"), scene.place("sloop"), "--write", "-X",
                           f"lease_ms={LEASE}", "-b", url, scene.stream], capture_output=True, text=True, check=False, timeout=120,
                          env=harness.tail_environment(url))
    life.leave()
    expect(done.returncode == 4, f"{done.returncode}: {done.stdout}{done.stderr}")
    return done.stderr.strip()


def main():
    tests = Tests()
    try:
        peers.command_of(KIND.program)
    except servers.Missing as missing:
        tests.skip("kinsumer", missing)
        tests.end()
        return
    with sandbox_box.Box("change_ms=200", limits=True) as box, tempfile.TemporaryDirectory() as folder:
        for form in FORMS:
            tests.run(f"{form} to kinsumer", lambda form=form: there(box.url, form, folder))
            tests.run(f"kinsumer to {form}", lambda form=form: back(box.url, form, folder))
        tests.run("while a kinsumer lives nothing is copied", lambda: living(box.url, folder))
    tests.end()


if __name__ == "__main__":
    main()
