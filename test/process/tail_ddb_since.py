"""The last ten minutes of a day of a table's changes: what AT_TIMESTAMP costs beside reading from the oldest record on,
in calls and seconds. Both ways must print the same records, by themselves and in a fleet: in the sandbox, which serves
the type or (quirk no-times) refuses it.

The default run makes 20,000 changes and reads them by shards that roll over, too; the full one (SLOOP_TEST_FULL=1)
100,000 of them, and as many of 6.5 KB each.
"""

import json
import os
import tempfile
import time

import harness
from harness import FULL, Tests, expect
from sandbox_box import Box

DAY_MS, STEPS = 23 * 3600 * 1000, 230  # a step every six minutes
CHANGES = 100000 if FULL else 20000
CALLS_MAX = 14  # to describe, list, locate, read one page or two, and see the tip by some empty ones


def fill(box, changes, item_bytes):
    made = 0
    for step in range(STEPS):
        until, lines = changes * (step + 1) // STEPS, []
        for number in range(made, until):
            key = {"id": {"S": f"k{number}"}}
            lines.append("\t".join([json.dumps(key), "-", json.dumps({**key, "d": {"S": "x" * item_bytes}})]))
        box.order("POST", "change?table=orders&ttl=0", "\n".join(lines).encode())
        made = until
        box.move_clock(DAY_MS // STEPS)


def read(box, *arguments):
    """Lines, calls, refused calls, seconds."""
    before, began = box.stats(), time.monotonic()
    done = harness.tail(["-e", "-J", *arguments, "dynamodb:orders"], harness.tail_environment(box.url), 300)
    seconds = time.monotonic() - began
    expect(done.code == 0, str(done))
    after = box.stats()
    calls, errors = (after[name] - before[name] for name in ("requests", "errors"))
    names = ("stream", "shard", "seq", "ts", "change")  # not the worker, whose name changes
    kept = [{name: record[name] for name in names} for record in map(json.loads, done.out.splitlines())]
    return sorted(kept, key=lambda record: (record["shard"], int(record["seq"]))), calls, errors, seconds


def compare(partitions, rolls, changes, item_bytes, fewer_times):
    with Box(f"clock_offset_ms={-DAY_MS - 1000}") as box:
        box.table("orders", partitions)
        box.quirk("keep-open", int(not rolls))
        fill(box, changes, item_bytes)
        got, calls, errors, seconds = read(box, "--since", "10m")
        box.quirk("no-times", 1)
        wanted, calls_before, errors_before, seconds_before = read(box, "--since", "10m")
        expect(changes // STEPS // 2 < len(wanted) < changes // 10, f"a test of nothing: {len(wanted)} of {changes}")
        expect(got == wanted, f"{len(got)} records, and {len(wanted)} by reading from the oldest one on")
        expect(errors == 0, f"{errors} calls were refused")
        expect(errors_before == 1, f"a server that refuses AT_TIMESTAMP was asked {errors_before} times")
        expect(calls * fewer_times <= calls_before, f"{calls} calls instead of {calls_before}")
        expect(rolls or calls <= CALLS_MAX, f"{calls} calls for the last ten minutes of one shard")
        return (f"{len(got)} of {changes} records: {calls} calls in {seconds:.1f} s; "
                f"without AT_TIMESTAMP {calls_before} in {seconds_before:.1f} s")


def fleet():
    """The moment a fleet begins at, and where --reset sets its leases to."""
    with Box(f"clock_offset_ms={-DAY_MS - 1000}") as box, tempfile.TemporaryDirectory() as folder:
        box.table("orders", 1)
        box.quirk("keep-open", 1)
        fill(box, CHANGES, 10)
        store = ["-G", "app", "--store", "sqlite:" + os.path.join(folder, "leases")]
        moment = f"s@{box.now_ms() - 600000}"
        wanted, *_ = read(box, "-o", moment)
        first, calls, errors, _ = read(box, *store, "-o", moment)
        expect(first == wanted and errors == 0, f"{len(first)} records of {len(wanted)}, {errors} calls refused")
        reset = harness.tail([*store, "--reset", "all", "--to", moment, "dynamodb:orders"], harness.tail_environment(box.url))
        expect(reset.code == 0, str(reset))
        again, calls_again, errors, _ = read(box, *store)
        expect(again == wanted and errors == 0, f"{len(again)} records of {len(wanted)} again, {errors} calls refused")
        expect(max(calls, calls_again) <= 2 * CALLS_MAX, f"{calls} and {calls_again} calls")
        return f"{len(wanted)} records twice, {calls} and {calls_again} calls"


def main():
    tests = Tests()
    tests.run("one shard", compare, 1, False, CHANGES, 10, 2 if not FULL else 10)
    tests.run("four shards that roll over", compare, 4, True, CHANGES, 2000, 1)
    if FULL:
        tests.run("one shard, items of 6.5 KB", compare, 1, False, CHANGES, 6500, 50)
        # A shard that ended before the time costs two calls as well: a listing tells no times.
        tests.run("one partition that rolls over, items of 6.5 KB", compare, 1, True, CHANGES, 6500, 25)
        tests.run("four that roll over, items of 6.5 KB", compare, 4, True, CHANGES, 6500, 8)
    tests.run("a fleet that begins at a time, and is set to it", fleet)
    tests.end()


if __name__ == "__main__":
    main()
