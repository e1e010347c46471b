"""All workers of a fleet are stopped for longer than a lease, as by a paused machine, and go on: in every layout, with leases
in a SQLite file and in DynamoDB (the sandbox), nobody is taken for dead who is alive again, and no record comes twice.

  fleet_sleep.py [NAME]     two rounds of each; with SLOOP_TEST_FULL=1, or --rounds N, as many
  fleet_sleep.py --lock     one worker is stopped while it holds the lock of the SQLite file

What each round showed is printed with the test's name, also when it fails."""

import os
import random
import re
import signal
import sys
import tempfile
import threading
import time

import harness
from harness import FULL, Running, Tests, expect, wait_until
from sandbox_box import Box

SCHEMAS = ("sloop", "kcl", "kcl-rb", "vmware-go-kcl", "kinsumer", "motorway")
STORES = ("sqlite", "dynamodb")
LEASE_S = 5.0
WORKERS = 5
SHARDS = 8
GONE = re.compile(r"considered dead|evicted another worker|\blost\b", re.I)
MOVES = re.compile(r"lease (taken|given up|lost|ended)|registered")


def take_option(name):
    if name not in sys.argv:
        return None
    at = sys.argv.index(name)
    value = sys.argv[at + 1] if name == "--rounds" else "1"
    del sys.argv[at:at + (2 if name == "--rounds" else 1)]
    return value


ROUNDS = int(take_option("--rounds") or (20 if FULL else 2))
LOCK = take_option("--lock")


class Feed:
    """Puts numbered records, some each fifth of a second, until it is stopped."""

    def __init__(self, client, stream):
        self.client, self.stream, self.n, self.over = client, stream, 0, False
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        while not self.over:
            records = [{"Data": b"%d" % (self.n + i), "PartitionKey": f"k{(self.n + i) * 7919}"} for i in range(16)]
            answer = self.client.put_records(StreamName=self.stream, Records=records)
            expect(answer["FailedRecordCount"] == 0, "the sandbox refused a record")
            self.n += 16
            time.sleep(0.2)

    def stop(self):
        self.over = True
        self.thread.join(30)
        return self.n


class Fleet:
    def __init__(self, box, stream, schema, store):
        env = harness.tail_environment(box.url)
        self.workers = [Running(["-G", "naps", "--store", store, "-X", f"schema={schema}", "-o", "oldest", "-f", "%s\\n",
                                 "-X", f"worker=w{i}", "-X", f"lease_ms={int(LEASE_S * 1000)}", "-X", "checkpoint_ms=1000",
                                 "-X", "poll_ms=200", "-v", "-d", "lease", "-X", "log_level=info", stream], env)
                        for i in range(WORKERS)]

    def read(self):
        return [int(line) for worker in self.workers for line in list(worker.lines)]

    def said(self):
        for worker in self.workers:
            expect(worker.process.poll() is None, f"it ended: {worker.stderr()[-600:]}")
        return [worker.stderr() for worker in self.workers]

    def gone(self):
        """Lines that tell of an eviction, or of a lease lost."""
        return [line for text in self.said() for line in text.splitlines() if GONE.search(line)]

    def wait_read(self, n, seconds):
        wait_until(lambda: len(set(self.read())) >= n, seconds, f"{n} records are read", pause=0.2)

    def rest(self):
        """Until nobody has told of a lease that moves for two leases."""
        was, since, began = None, time.monotonic(), time.monotonic()
        while time.monotonic() - since < 2.2 * LEASE_S and time.monotonic() - began < 20 * LEASE_S:
            time.sleep(0.2)
            now = [len(MOVES.findall(text)) for text in self.said()]
            if now != was:
                was, since = now, time.monotonic()

    def stop_all(self, seconds):
        for worker in self.workers:
            worker.signal(signal.SIGSTOP)
        for worker in self.workers:
            worker.wait_stopped()
        time.sleep(seconds)
        for worker in random.sample(self.workers, len(self.workers)):
            worker.signal(signal.SIGCONT)

    def end(self):
        codes = [worker.interrupt() for worker in self.workers]
        expect(set(codes) <= {0, 130}, f"they ended with {codes}")

    def kill(self):
        for worker in self.workers:
            worker.kill()


def stop_holder(fleet, path, seconds):
    """Stops a worker within a transaction of its own."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        worker = harness.lock_holder(path, fleet.workers)
        if not worker:
            continue
        worker.signal(signal.SIGSTOP)
        worker.wait_stopped()
        if harness.lock_holder(path, fleet.workers) is worker:
            time.sleep(seconds)
            worker.signal(signal.SIGCONT)
            return
        worker.signal(signal.SIGCONT)
        time.sleep(0.05)
    raise harness.Failed("no worker was caught with the lock")


def naps(schema, store, folder):
    with Box() as box:
        stream = harness.new_stream(box.client(), SHARDS)
        path = os.path.join(folder, f"{schema}.leases")
        fleet = Fleet(box, stream, schema, f"sqlite:{path}" if store == "sqlite" else "dynamodb:naps")
        try:
            feed = Feed(box.client(), stream)
            fleet.wait_read(200, 60)
            fleet.rest()
            settled = fleet.read()  # once: more comes while one counts
            before, told, each = len(fleet.gone()), len(settled) - len(set(settled)), []
            for _ in range(ROUNDS):
                was = len(fleet.gone())
                if LOCK:
                    stop_holder(fleet, path, LEASE_S * 1.3)
                else:
                    fleet.stop_all(LEASE_S * 1.3)
                fleet.wait_read(feed.n, 60)
                time.sleep(LEASE_S + 1)
                each.append(len(fleet.gone()) - was)
            lines = fleet.gone()[before:]
            put = feed.stop()
            fleet.wait_read(put, 60)
            fleet.end()
            read = fleet.read()
            repeats = len(read) - len(set(read)) - told
            figures = f"{ROUNDS} rounds, told of evictions and losses {sum(each)} {each}, repeats {repeats} of {put}"
            expect(set(read) == set(range(put)), f"{figures}; {put - len(set(read))} are missing")
            expect(not sum(each) and repeats == 0, f"{figures}; {lines[:4]}")
            return figures
        finally:
            feed.over = True
            fleet.kill()


def main():
    tests = Tests()
    harness.boto3_or_skip()
    stores = ("sqlite",) if LOCK else STORES
    with tempfile.TemporaryDirectory() as folder:
        tests.side_by_side([lambda schema=schema, store=store: tests.run(f"{schema} on {store}", naps, schema, store, folder)
                            for schema in SCHEMAS for store in stores], at_once=4 if FULL else 12)
    tests.end()


if __name__ == "__main__":
    main()
