"""What the two daemons cost, each with an application of its own on the same 8 shards of the sandbox, at the same time:

    peer_multilang_costs.py [--seconds 60]

CPU is that of the daemon's process alone, of /proc, as a part of one core; resident memory without the processors. The first
record is that of the first processor, from the start of the daemon. Both share the machine with each other, with 16
processors and with the sandbox, so what waits for time waits longer than it would alone."""

import argparse
import os
import sys
import tempfile
import time

import multilang_daemons as md
from peers import harness, servers  # puts ../process on the path

import peer_costs
from harness import expect

SHARDS, PER_SECOND = 8, 1000


def load_of():
    with open("/proc/loadavg", encoding="ascii") as file:
        return float(file.read().split()[0])


def put(kinesis, n, number):
    for first in range(number, number + n, 250):
        answer = kinesis.put_records(StreamName="s", Records=[
            {"Data": b"%0100d" % i, "PartitionKey": f"key {i}"} for i in range(first, min(first + 250, number + n))])
        expect(answer["FailedRecordCount"] == 0, "records were refused")
    return number + n


def measure(daemons, seconds, work):
    """What each used while work() was called four times a second: (CPU in % of a core, resident MB)."""
    before, began = [peer_costs.cpu_of(d) for d in daemons], time.monotonic()
    turn = 0
    while time.monotonic() - began < seconds:
        work()
        turn += 1
        time.sleep(max(0, began + turn / 4 - time.monotonic()))
    took = time.monotonic() - began
    return took, [((peer_costs.cpu_of(d) - c) / took * 100, peer_costs.memory_of(d)) for d, c in zip(daemons, before)]


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--seconds", type=float, default=60)
    seconds = words.parse_args().seconds
    try:
        md.installed()
    except servers.Missing as missing:
        print(f"skip costs: {missing}")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="multilang-") as folder:
        site = md.Site("sandbox", SHARDS)
        daemons = [kind(folder, name, url, site.dynamodb_url, f"app-{name}", md.own_child_often, idleTimeBetweenReadsInMillis="1000")
                   for name, kind, url in (("ours", md.Ours, site.kinesis_url), ("java", md.Theirs, site.front_url()))]
        try:
            rows = tell(site, daemons, seconds)
        finally:
            for daemon in daemons:
                daemon.close()
            site.close()
    print("| | first record, s | idle: CPU % | RSS MB | at {:.0f} records/s: CPU % | RSS MB | SIGTERM to exit, s |".format(rows.pop()))
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def tell(site, daemons, seconds):
    number, first, load = put(site.kinesis, 80, 0), {}, [load_of()]
    for daemon in daemons:
        began = time.monotonic()
        daemon.start()
        harness.wait_until(lambda d=daemon: any(life.records() for life in d.lives()), 300, f"{daemon.name}: a record", 0.1)
        first[daemon.name] = time.monotonic() - began
        harness.wait_until(lambda d=daemon: len(md.given(d)) == 80, 300, f"{daemon.name}: all shards", 0.5)
    _, idle = measure(daemons, seconds, lambda: None)
    load.append(load_of())
    numbers = [number]

    def work():
        numbers[0] = put(site.kinesis, PER_SECOND // 4, numbers[0])

    took, busy = measure(daemons, seconds, work)
    load.append(load_of())
    for daemon in daemons:
        harness.wait_until(lambda d=daemon: len(md.given(d)) == numbers[0], 120, f"{daemon.name} has read all", 2)
    rows = []
    for daemon, i, b in zip(daemons, idle, busy):
        began = time.monotonic()
        daemon.leave()
        rows.append((daemon.name, f"{first[daemon.name]:.1f}", f"{i[0]:.2f}", f"{i[1]:.1f}", f"{b[0]:.2f}", f"{b[1]:.1f}",
                     f"{time.monotonic() - began:.1f}"))
    print(f"load of the machine: {load}", file=sys.stderr)
    return [*rows, (numbers[0] - number) / took]


if __name__ == "__main__":
    main()
