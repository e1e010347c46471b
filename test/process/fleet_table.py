"""A lease table in trouble: throttled to one write unit a second for two leases, standing still for longer than a lease,
with rows of others and damaged ones in it, with a right missing. Nobody may be taken for dead, nothing may move, come twice
or be lost, and what is wrong is told by name."""

import signal
import time

import fleet as fleets
import harness
import servers
from harness import FULL, Tests, expect
from sandbox_box import Box
from ticker import Ticker


def owners(fleet):
    return {shard: (row.owner, row.epoch) for shard, row in fleet.leases_in(fleet.look_at_all()).items()}


def judged(fleet, box, ticker):
    truth = ticker.stop()
    fleet.wait_all(lambda: truth, 30)
    fleet.leave_all()
    return fleet.judged(truth, fleets.lineage_of(box.client(), fleet.stream))


# ---- throttled -----------------------------------------------------------------------------------------------------


def throttle(dynamodb, table, reads=1000):
    """The table has one write unit a second and nothing saved up: what others write into the table used it."""
    dynamodb.update_table(TableName=table, BillingMode="PROVISIONED",
                          ProvisionedThroughput={"ReadCapacityUnits": reads, "WriteCapacityUnits": 1})
    wait_active(dynamodb, table)
    use_up(dynamodb, table)


def use_up(dynamodb, table):
    """Rows of ever smaller size, each under a key of its own: a row that is written over costs what the larger one costs."""
    n, refused = 200, 0
    while n:
        item = {"app": {"S": "somebody else"}, "row": {"S": f"of {n}"}, "x": {"S": "x" * (n * 1024 - 100)}}
        try:
            dynamodb.put_item(TableName=table, Item=item)
        except dynamodb.exceptions.ProvisionedThroughputExceededException:
            n, refused = n // 2, refused + 1
    expect(refused, "nothing was refused")


def heal(dynamodb, table):
    dynamodb.update_table(TableName=table, BillingMode="PAY_PER_REQUEST")
    wait_active(dynamodb, table)


def wait_active(dynamodb, table):
    harness.wait_until(lambda: dynamodb.describe_table(TableName=table)["Table"]["TableStatus"] == "ACTIVE", 20, "ACTIVE")


def throttled(lease_ms):
    with Box() as box:
        stream, dynamodb = harness.new_stream(box.client(), 8), box.client(service="dynamodb")
        with fleets.Fleet(box.url, box.url, stream, 4, lease_ms=lease_ms, poll_ms=200) as fleet:
            fleet.start()
            fleet.wait_balance()
            fleet.watch()
            ticker = Ticker(box, stream, 0.1)
            time.sleep(lease_ms / 1000)
            before, errors = owners(fleet), box.stats()["operations"]["UpdateItem"]["errors"]
            throttle(dynamodb, fleet.table)
            began = time.monotonic()
            time.sleep(2 * lease_ms / 1000)  # the trouble itself
            errors = box.stats()["operations"]["UpdateItem"]["errors"] - errors
            heal(dynamodb, fleet.table)
            healed = time.monotonic()
            fleet.wait_fresh([shard for shard in before], lease_ms / 1000 + 5)
            fresh_s = time.monotonic() - healed
            time.sleep(2 * lease_ms / 1000)  # long enough for anybody to be taken for dead
            after = owners(fleet)
            expect(after == before, f"owners were {before}, are {after}\n{fleet.last_words()}")
            expect(errors >= 10, f"only {errors} writes were refused")
            verdict = judged(fleet, box, ticker)
            expect(verdict.repeats_by_us() == 0, f"{verdict.repeats_by_us()} repeats")
            stood = {line.shard for line in fleet.history.lines if began <= line.early and line.late <= healed}
            return (f"{errors} writes refused in {2 * lease_ms / 1000:.0f} s, {len(stood)} of 8 shards read meanwhile, all "
                    f"again {fresh_s:.1f} s later; owners and epochs as before; {fleets.describe(verdict)}")


# ---- a table of one unit -------------------------------------------------------------------------------------------

FIRST_S, ALL_S, TOLD_S = 15, 60, 10


def use_up_reads(dynamodb, table):
    """Reads what is not there, a unit each: a large row would leave a debt."""
    try:
        for _ in range(2000):
            dynamodb.get_item(TableName=table, Key={"app": {"S": "somebody else"}, "row": {"S": "none"}}, ConsistentRead=True)
    except dynamodb.exceptions.ProvisionedThroughputExceededException:
        return
    raise harness.Failed("no read was refused")


def begins_on_one_unit(workers):
    """One read and one write unit a second, and nothing saved up, as in a table that others use as well."""
    with Box() as box:
        stream, dynamodb = harness.new_stream(box.client(), 8), box.client(service="dynamodb")
        with fleets.Fleet(box.url, box.url, stream, workers, lease_ms=10000, checkpoint_ms=5000, poll_ms=200) as fleet:
            dynamodb.create_table(TableName=fleet.table, BillingMode="PAY_PER_REQUEST",
                                  AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in ("app", "row")],
                                  KeySchema=[{"AttributeName": "app", "KeyType": "HASH"},
                                             {"AttributeName": "row", "KeyType": "RANGE"}])
            wait_active(dynamodb, fleet.table)
            ticker = Ticker(box, stream, 0.25)
            throttle(dynamodb, fleet.table, reads=1)
            use_up_reads(dynamodb, fleet.table)
            use_up(dynamodb, fleet.table)  # what was saved up meanwhile
            began = time.monotonic()
            fleet.start()
            shards, told = {}, {}

            def look():
                for line in fleet.history.lines:
                    shards.setdefault(line.shard, line.late - began)
                for worker, life in fleet.now.items():
                    if worker not in told and "the lease table throttles" in life.stderr():
                        told[worker] = time.monotonic() - began
                return len(shards) == 8 and len(told) == workers

            fleet.wait_for(look, ALL_S, f"8 shards are read, and {workers} workers tell that the table throttles", 0.1)
            expect(min(shards.values()) <= FIRST_S, f"the first shard was read after {min(shards.values()):.1f} s")
            expect(max(told.values()) <= TOLD_S, f"told after {sorted(told.values())}")
            early = [line for life in fleet.now.values() for line in life.stderr().split("\n")
                     if "at the tip" in line and line.lstrip().split("shards")[0].rstrip().endswith(" 0")]
            expect(not early, f"a worker without a lease says {early[:1]}")
            heal(dynamodb, fleet.table)
            fleet.wait_balance(seconds=90)
            verdict = judged(fleet, box, ticker)
            return (f"first shard after {min(shards.values()):.1f} s, all after {max(shards.values()):.1f} s, told after "
                    f"{max(told.values()):.1f} s; {fleets.describe(verdict)}")


# ---- silent --------------------------------------------------------------------------------------------------------


def silent(lease_ms):
    """dynalite stands (SIGSTOP) for two and a half leases: everybody suspends, nobody is evicted."""
    with Box() as box, servers.Dynalite() as leases:
        stream = harness.new_stream(box.client(), 8)
        with fleets.Fleet(box.url, leases.url, stream, 4, lease_ms=lease_ms, poll_ms=200) as fleet:
            fleet.start()
            ticker = Ticker(box, stream, 0.1)
            before = None
            while not before or owners(fleet) != before:  # on a busy machine a worker may be evicted here
                fleet.wait_balance()
                before = owners(fleet)
                time.sleep(lease_ms / 1000)
            leases.process.send_signal(signal.SIGSTOP)
            stopped = time.monotonic()
            try:
                time.sleep(2.5 * lease_ms / 1000)
            finally:
                leases.process.send_signal(signal.SIGCONT)
            went_on = time.monotonic()
            fleet.watch()
            fleet.wait_fresh([shard for shard in before], lease_ms / 1000 + 10)
            fresh_s = time.monotonic() - went_on
            time.sleep(2 * lease_ms / 1000)
            after = owners(fleet)
            expect(after == before, f"owners were {before}, are {after}\n{fleet.last_words()}")
            verdict = judged(fleet, box, ticker)
            expect(verdict.repeats_by_us() == 0, f"{verdict.repeats_by_us()} repeats")
            # 0.8 leases after the last good heartbeat nothing is handed over
            beyond = [line for line in fleet.history.lines
                      if stopped + lease_ms / 1000 < line.early and line.late < went_on]
            expect(not beyond, f"{len(beyond)} lines while nobody could prove to be alive, the first {beyond[:1]}")
            return f"read on {fresh_s:.1f} s later by the same owners; {fleets.describe(verdict)}"


# ---- rows of others, damaged rows ----------------------------------------------------------------------------------


def strange_rows():
    """Put into the table of a running fleet, between its rows and over one: told by name, left as they are."""
    with Box() as box, servers.Dynalite() as leases:
        stream, dynamodb = harness.new_stream(box.client(), 4), harness.client(leases.url, "dynamodb")
        with fleets.Fleet(box.url, leases.url, stream, 2, poll_ms=200) as fleet:
            fleet.start()
            fleet.wait_balance()
            prefix = next(row for row in fleet.look_at_all() if row.endswith("/lead"))[: -len("lead")]
            fleet.leave_all()
            text = lambda value: {"S": value}  # noqa: E731
            strange = [
                {"row": text(prefix + "l/shardId-000000009999"), "epoch": text("seven"), "pos": text("0:oldest")},
                {"row": text(prefix + "l/shardId-000000009998"), "epoch": {"N": "1"}, "pos": text("garbage")},
                {"row": text(prefix + "l/shardId-000000009997"), "epoch": {"N": "1E2"}, "pos": {"N": "3"}},
                {"row": text(prefix + "w/nobody"), "ctr": {"N": "12345678901234567890123456789012345678"}},
                {"row": text(prefix + "a/nobody"), "v": text("x"), "set": text("y")},
                {"row": text(prefix + "?/what"), "x": {"L": [{"M": {"y": {"NULL": True}}}]}},
                {"row": text("another-stream@1/l/shardId-000000000000"), "owner": text("w9.x"), "epoch": {"N": "9"},
                 "pos": text("9:end")},
                {"row": text("leaseKey-of-something-else")},
            ]
            for item in strange:
                dynamodb.put_item(TableName=fleet.table, Item={"app": text(fleet.app), **item})
            fleet.start()
            fleet.wait_for(lambda: all(any(f"l/shardId-00000000{n}" in life.stderr() for life in fleet.now.values())
                                       for n in (9999, 9998, 9997)), 20, "the damaged rows are named")
            ticker = Ticker(box, stream, 0.1)
            fleet.wait_fresh([shard["ShardId"] for shard in harness.list_shards(box.client(), stream)])
            for item in strange:
                key = {"app": text(fleet.app), "row": item["row"]}
                kept = dynamodb.get_item(TableName=fleet.table, Key=key, ConsistentRead=True).get("Item", {})
                plan = item["row"]["S"] == prefix + "a/nobody"  # a plan for nobody may be planned away
                expect(plan or kept == {"app": text(fleet.app), **normal(item)}, f"{item} became {kept}")
            truth = ticker.stop()
            fleet.wait_all(lambda: truth, 30)
            fleet.leave_all()
            said = {line for life in fleet.lives for line in life.stderr().split("\n") if "shardId-00000000999" in line}
            return f"{len(strange)} strange rows; " + sorted(said)[0][-150:]


def normal(item):
    """As DynamoDB gives numbers back."""
    return {name: {"N": "100"} if value == {"N": "1E2"} else value for name, value in item.items()}


# ---- rights --------------------------------------------------------------------------------------------------------

RIGHTS = ("DescribeTable", "CreateTable", "GetItem", "Query", "PutItem", "UpdateItem", "BatchGetItem")


def a_right_is_missing(action):
    """Refused as IAM refuses: the right and the table are named, and nobody gets a record by luck."""
    with Box("stream=events:2") as box:
        harness.Producer(box.client(), "events").put_all(20)
        refusal = (f"User: arn:aws:iam::123456789012:user/ann is not authorized to perform: dynamodb:{action} on resource: "
                   "arn:aws:dynamodb:us-east-1:123456789012:table/leases because no identity-based policy allows the "
                   f"dynamodb:{action} action")
        box.faults(f"* {action} leases error AccessDeniedException:400:{refusal}")
        with fleets.Fleet(box.url, box.url, "events", 2, poll_ms=200) as fleet:
            fleet.start()
            last = ""

            def named():
                nonlocal last
                last = "\n".join(life.stderr() for life in fleet.now.values())
                return f"dynamodb:{action}" in last and "leases" in last

            harness.wait_until(named, 25, f"dynamodb:{action} is named")
            line = next(line for line in last.split("\n") if f"dynamodb:{action}" in line)
            harness.wait_until(lambda: box.stats()["faults_used"] > 0, 30, "the fault was used")
            codes = [life.process.poll() for life in fleet.now.values()]
            return f"exit codes {codes}: {line[:200]}"


def main():
    tests = Tests()
    harness.boto3_or_skip()
    lease_ms = 10000 if FULL else 4000
    tests.side_by_side([lambda: tests.run("throttled to one write unit for two leases", throttled, lease_ms),
                        lambda: tests.run("silent for two and a half leases", silent, 4000),
                        lambda: tests.run("strange and damaged rows", strange_rows)])
    tests.side_by_side([lambda n=n: tests.run(f"a table of one unit, workers: {n}", begins_on_one_unit, n) for n in (1, 3)])
    tests.side_by_side([lambda action=action: tests.run(f"the right to {action} is missing", a_right_is_missing, action)
                        for action in RIGHTS], 4)
    tests.end()


if __name__ == "__main__":
    main()
