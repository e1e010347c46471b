"""The cost of an idle fleet in request units, counted by the servers themselves: the sandbox and dynalite tell ConsumedCapacity
with each answer, and a log of the requests between adds them up. In full: 1000 shards, 10 workers, at most a twentieth of one
write per lease per 3.3 s, reads included; else a small fleet against what its heartbeats, polls and watches must come to."""

import collections
import time

import fleet as fleets
import harness
import servers
from harness import FULL, Tests, expect
from meter import Meter
from sandbox_box import Box

SHARDS, WORKERS, REST_S, WINDOW_S = (1000, 10, 30, 300) if FULL else (100, 4, 12, 30)
RENEW_S = 3.3


def expected_sloop():
    """Heartbeats; followers' polls; the leader's watch; shard syncs that read every row consistently."""
    writes = WORKERS * 3600 / (10 / 3)
    reads = (WORKERS - 1) * 3600 / 0.75 * 0.5 + 3600 / 0.5 * 0.5 + SHARDS * 0.45 / 4 * 60
    return writes + reads


def idle(box, leases, schema):
    stream = harness.new_stream(box.client(), SHARDS)
    # nobody writes a record, so how often the shards are asked is of no matter to the leases
    with Meter(leases.url) as meter, fleets.Fleet(box.url, meter.url, stream, WORKERS, lease_ms=10000, checkpoint_ms=5000,
                                                  poll_ms=20000, table=f"leases-{schema}", verbose=False,
                                                  knobs=[f"schema={schema}"]) as fleet:
        fleet.start()
        if schema == "sloop":
            fleet.wait_balance(seconds=300)
        else:
            wait_taken(fleet, stream)
        time.sleep(REST_S)
        began = time.monotonic()
        time.sleep(WINDOW_S)
        ended = time.monotonic()
        log = [entry for entry in meter.since(began) if entry.at < ended]
        fleet.leave_all(30)
    hour = 3600 / (ended - began)
    writes, reads = (sum(getattr(entry, kind) for entry in log) * hour for kind in ("writes", "reads"))
    renewals = SHARDS * 3600 / RENEW_S
    calls = ", ".join(f"{n * hour:.0f} {name}" for name, n in collections.Counter(e.operation for e in log).most_common())
    text = (f"{SHARDS} shards, {WORKERS} workers, {ended - began:.0f} s as an hour: {writes:.0f} written + {reads:.0f} read = "
            f"{writes + reads:.0f} units; one write per lease per 3.3 s: {renewals:.0f}, {renewals / (writes + reads):.1f} times "
            f"as many ({calls})")
    expect(log, "no request was seen")
    expect(not [entry for entry in log if entry.status >= 500], f"errors: {text}")
    if schema == "sloop":
        expect(0.7 < (writes + reads) / expected_sloop() < 1.3, f"expected {expected_sloop():.0f}: {text}")
        expect(not FULL or writes + reads <= renewals / 20, f"more than a twentieth: {text}")
    else:
        expect(writes >= renewals * 0.8, f"fewer writes than renewals: {text}")
    return text


def wait_taken(fleet, stream):
    """KCL's rows: every lease has an owner."""
    client = fleet.client()

    def all_taken():
        items, more = [], {}
        while True:
            try:
                page = client.scan(TableName=fleet.table, ConsistentRead=True, **more)
            except client.exceptions.ResourceNotFoundException:
                return False
            items += page["Items"]
            if "LastEvaluatedKey" not in page:
                break
            more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
        return len(items) >= SHARDS and all("leaseOwner" in item for item in items)

    fleet.wait_for(all_taken, 400, "every lease has an owner", fleets.LOOK_S)


def main():
    tests = Tests()
    harness.boto3_or_skip()


    def in_sandbox(schema):
        with Box() as box:
            tests.run(f"{schema} in the sandbox", idle, box, box, schema)

    def in_dynalite():
        with Box() as box:
            tests.with_server(servers.Dynalite, lambda _, leases: tests.run("sloop in dynalite", idle, box, leases, "sloop"))

    tests.side_by_side([lambda: in_sandbox("sloop"), in_dynalite, lambda: in_sandbox("kcl")], 1 if FULL else 3)
    tests.end()


if __name__ == "__main__":
    main()
