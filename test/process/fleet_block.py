"""User code that blocks the loop (fleet_block_main.c, records in the sandbox, leases in dynalite), with leases of 10 s: for
4 s at any phase of the heartbeats, and every lease is kept; for 15 s, and the leases go to others, on waking nothing of
the old epochs is handed over, and the worker gets a share again. The program stamps each record with the machine's
monotonic clock as it is handed over, so that nothing between is excused."""

import random
import time

import fleet as fleets
import harness
import servers
from harness import FULL, Tests, expect
from sandbox_box import Box
from ticker import Ticker

ROUNDS = 10 if FULL else 1
LEASE_MS = 10000
AGAIN_MAX = 3


def owners(fleet):
    return {shard: (row.owner, row.epoch) for shard, row in fleet.leases_in(fleet.look_at_all()).items()}


def events(fleet, worker, *names):
    return [event for event in fleet.events if event["worker"].rsplit(".", 1)[0] == worker and event["event"] in names]


def block(fleet, worker, ms):
    fleet.now[worker].process.stdin.write(f"{ms}\n".encode())
    fleet.now[worker].process.stdin.flush()


def judged(fleet, box, ticker):
    truth = ticker.stop()
    fleet.wait_all(lambda: truth, 60)
    fleet.leave_all()
    return fleet.judged(truth, fleets.lineage_of(box.client(), fleet.stream))


class Stood(harness.Failed):
    """A lease moved, and the machine kept workers or the table from running for so long that this tells nothing."""


def keeps(box, leases):
    for _ in range(AGAIN_MAX - 1):
        try:
            return keeps_once(box, leases)
        except Stood as stood:
            print(f"again: {stood}", flush=True)
    return keeps_once(box, leases)


def keeps_once(box, leases):
    """Ten workers, each blocked at a phase of its own, again and again."""
    stream, size = harness.new_stream(box.client(), 20), 10
    with fleets.Fleet(box.url, leases.url, stream, size, lease_ms=LEASE_MS, poll_ms=200, checkpoint_ms=1000,
                      program=fleets.block_main(), verbose=False) as fleet:
        fleet.start()
        fleet.wait_balance()
        ticker = Ticker(box, stream, 0.1)
        time.sleep(LEASE_MS / 3000)  # all of them have beaten at their own pace
        fleet.watch()
        before, phases = owners(fleet), 0
        for _ in range(ROUNDS):
            plan = sorted((random.uniform(0, LEASE_MS / 3000), worker) for worker in fleet.names)
            began = time.monotonic()
            for at, worker in plan:
                time.sleep(max(0, began + at - time.monotonic()))
                block(fleet, worker, 4000)
                phases += 1
            fleet.wait_for(lambda n=phases: sum(event["event"] == "wakes" for event in fleet.events) == n, 40, "all woke")
            time.sleep(LEASE_MS / 1000 * 0.35)  # a heartbeat each, or its absence
        after = owners(fleet)
        # Suspended is no loss: the answer to the heartbeat after waking took longer than was left before the lease deadline.
        held_back = sum(event["event"] == "suspended" for event in fleet.events)
        bad = [event for event in fleet.events if event["event"] in ("evicted", "lost", "evicted_other")]
        if (bad or after != before) and fleet.stood():
            raise Stood(f"{len(bad)} events, {fleet.stood()[:1]}")
        expect(after == before, f"owners were {before}, are {after}")
        expect(not bad, f"{len(bad)} of these came, the first {bad[:1]}")
        verdict = judged(fleet, box, ticker)
        expect(verdict.repeats_by_us() == 0, f"{verdict.repeats_by_us()} repeats")
        return f"{phases} phases, every lease kept, {held_back} times suspended; {fleets.describe(verdict)}"


def loses(box, leases):
    stream = harness.new_stream(box.client(), 6)
    with fleets.Fleet(box.url, leases.url, stream, 3, lease_ms=LEASE_MS, poll_ms=200, checkpoint_ms=1000,
                      program=fleets.block_main(), verbose=False) as fleet:
        fleet.start()
        held = fleet.wait_balance()
        fleet.watch()
        ticker = Ticker(box, stream, 0.1)
        fleet.wait_fresh(held["w1"])
        old = {shard: epoch for shard, (_, epoch) in owners(fleet).items()}
        deed = fleet.deed("stop", "w1", end=float("inf"))
        block(fleet, "w1", 15000)
        woke = fleet.wait_for(lambda: events(fleet, "w1", "wakes"), 40, "w1 wakes")[0]["at"] / 1e9
        deed.end = woke
        fleet.wait_for(lambda: events(fleet, "w1", "evicted"), 30, "w1 hears that it lost its leases")
        share = fleet.wait_balance(fleet.names)
        fleet.wait_fresh(share["w1"])
        verdict = judged(fleet, box, ticker)
        stale = [line for line in fleet.history.lines
                 if line.worker.startswith("w1.") and line.early > woke and line.epoch <= old[line.shard]]
        expect(not stale, f"{len(stale)} of an old epoch after waking, the first {stale[:1]}")
        taken = [line for line in fleet.history.lines if line.shard in held["w1"] and line.early < woke
                 and line.epoch > old[line.shard]]
        expect({line.shard for line in taken} == set(held["w1"]), "its shards were not read by others while it slept")
        return f"{len(held['w1'])} shards lost, {len(share['w1'])} held again; {fleets.describe(verdict)}"


def on_dynalite(tests, leases, box):
    tests.side_by_side([lambda: tests.run("blocked for 4 s of a lease of 10 s", keeps, box, leases),
                        lambda: tests.run("blocked for 15 s of a lease of 10 s", loses, box, leases)])


def main():
    tests = Tests()
    harness.boto3_or_skip()
    with Box() as box:
        tests.with_server(servers.Dynalite, on_dynalite, box)
    tests.end()


if __name__ == "__main__":
    main()
