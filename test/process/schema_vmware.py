"""A worker in a table of vmware-go-kcl, shared with the Go program as its sources have it (clientlibrary/checkpoint,
dynamodb-checkpointer.go): boto3 here writes its rows, whole items and conditions and all, ours is stream-tail."""

import time
from datetime import datetime, timedelta, timezone

import boto3  # noqa: F401  (named by harness.boto3_or_skip)
import cpu_waits
import fleet as fleets
import harness
from harness import Tests, expect
from sandbox_box import Box

LEASE_MS = 3000
GO = "1f6c9a2e-go"


def go_time(seconds):
    """Go's RFC3339Nano in so many seconds from now: no zeros at the end."""
    at = datetime.now(timezone.utc) + timedelta(seconds=seconds)
    fraction = f".{at.microsecond:06}".rstrip("0").rstrip(".")
    return at.strftime("%Y-%m-%dT%H:%M:%S") + fraction + "Z"


def parsed(text):
    whole, _, fraction = text.rstrip("Z").partition(".")
    at = datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    return at.timestamp() + (float(f"0.{fraction}") if fraction else 0)


class Table:
    """The table, as one Go worker sees and writes it."""

    def __init__(self, fleet):
        self.fleet, self.client = fleet, fleet.client()

    def make(self):
        self.client.create_table(TableName=self.fleet.table, BillingMode="PAY_PER_REQUEST",
                                 AttributeDefinitions=[{"AttributeName": "ShardID", "AttributeType": "S"}],
                                 KeySchema=[{"AttributeName": "ShardID", "KeyType": "HASH"}])

    def there(self):
        names = self.client.list_tables()["TableNames"]
        return self.fleet.table in names and \
            self.client.describe_table(TableName=self.fleet.table)["Table"]["TableStatus"] == "ACTIVE"

    def row(self, shard):
        item = self.client.get_item(TableName=self.fleet.table, Key={"ShardID": {"S": shard}}, ConsistentRead=True)
        return {name: value["S"] for name, value in item.get("Item", {}).items()}

    def put(self, shard, condition=None, values=None, **attributes):
        """A whole row, as each of the Go program's writes but one."""
        given = {"ConditionExpression": condition} if condition else {}
        if values:
            given["ExpressionAttributeValues"] = {name: {"S": value} for name, value in values.items()}
        item = {"ShardID": {"S": shard}, **{name: {"S": value} for name, value in attributes.items()}}
        try:
            self.client.put_item(TableName=self.fleet.table, Item=item, **given)
        except self.client.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def own(self, shard, checkpoint, seconds=3.0):
        """GetLease of the owner: it erases a claim when stealing is disabled."""
        self.put(shard, AssignedTo=GO, LeaseTimeout=go_time(seconds), Checkpoint=checkpoint)

    def claim(self, shard):
        """ClaimShard: no claim yet, and the row as it was read."""
        row = self.row(shard)
        row.pop("ShardID")
        return self.put(shard, "AssignedTo = :o AND LeaseTimeout = :t AND attribute_not_exists(ClaimRequest)",
                        {":o": row["AssignedTo"], ":t": row["LeaseTimeout"]}, **row, ClaimRequest=GO)

    def let_go(self, shard):
        """RemoveLeaseOwner: the one write that changes an attribute."""
        self.client.update_item(TableName=self.fleet.table, Key={"ShardID": {"S": shard}},
                                UpdateExpression="remove AssignedTo", ConditionExpression="AssignedTo = :o",
                                ExpressionAttributeValues={":o": {"S": GO}})


class World:
    """A stream, its table, and workers of ours that begin when they are told."""

    def __init__(self, box, shards, size=1):
        self.box, self.stream, self.truth = box, harness.new_stream(box.client(), shards), {}
        self.fleet = fleets.Fleet(box.url, box.url, self.stream, size, lease_ms=LEASE_MS, poll_ms=200,
                                  table=f"go-{self.stream[-8:]}", knobs=("schema=vmware-go-kcl",))
        self.shards = sorted(s["ShardId"] for s in box.client().list_shards(StreamName=self.stream)["Shards"])

    def __enter__(self):
        self.fleet.__enter__()
        self.table = Table(self.fleet)
        return self

    def __exit__(self, *exception):
        self.fleet.__exit__(*exception)

    def put(self, n):
        """Returns the places that came."""
        new, client = {}, self.box.client()
        for i in range(n):
            answer = client.put_record(StreamName=self.stream, Data=b"%d" % i, PartitionKey=f"{time.time_ns()}")
            new.setdefault(answer["ShardId"], []).append((int(answer["SequenceNumber"]), 0))
        for shard, places in new.items():
            self.truth.setdefault(shard, []).extend(places)
        return new

    def last(self, shard):
        return str(max(self.truth[shard])[0])

    def wait(self, condition, seconds, what):
        self.fleet.wait_for(condition, seconds, what)


def mine(row):
    return row.get("AssignedTo", "").startswith("w0.")


def begins(box):
    """A new table: rows of texts alone, an empty checkpoint at once, a time of Go's that is moved."""
    with World(box, 1) as world:
        shard, = world.shards
        world.fleet.start()
        world.wait(lambda: world.table.there() and mine(world.table.row(shard)), 20, "the lease is taken")
        first = world.table.row(shard)
        expect(set(first) <= {"ShardID", "AssignedTo", "LeaseTimeout", "Checkpoint"} and first["Checkpoint"] == "", f"{first}")
        expect(0 < parsed(first["LeaseTimeout"]) - time.time() <= LEASE_MS / 1000, f"{first}")
        world.wait(lambda: parsed(world.table.row(shard)["LeaseTimeout"]) > parsed(first["LeaseTimeout"]), 10, "it is renewed")
        world.put(5)
        world.wait(lambda: world.table.row(shard)["Checkpoint"] == world.last(shard), 10, "it is saved")
        world.fleet.leave_all()
        row = world.table.row(shard)
        expect("AssignedTo" not in row and row["Checkpoint"] == world.last(shard) and row["LeaseTimeout"], f"{row}")
    return ""


def not_from_the_living(box):
    """A lease of the Go program is taken when its time is over and its row stands still, and read on from its checkpoint."""
    with World(box, 1) as world:
        shard, = world.shards
        world.table.make()
        world.wait(world.table.there, 10, "the table is there")
        world.put(6)
        done = sorted(world.truth[shard])[2]
        world.table.own(shard, str(done[0]))
        world.fleet.start()
        for _ in range(8):  # it renews each 2.5 s by default; here each second, for more than two leases
            world.table.own(shard, str(done[0]))
            time.sleep(1)
            expect(world.table.row(shard)["AssignedTo"] == GO, "it was taken from the living")
        died = time.monotonic()
        world.wait(lambda: mine(world.table.row(shard)), 20, "it is taken from the dead")
        took = time.monotonic() - died
        world.wait(lambda: world.table.row(shard)["Checkpoint"] == world.last(shard), 15, "it is read on")
        world.fleet.read()
        read = {place for _, place in world.fleet.seen}
        expect(read == set(sorted(world.truth[shard])[3:]), f"{len(read)} read, 3 were done before")
        expect(took >= LEASE_MS / 1000, f"taken after {took:.1f} s")
        return f"taken after {took:.1f} s"


def asked_for(box):
    """The Go program asks for a lease: it is handed over with its checkpoint, the claim stays, and it is not taken back."""
    with World(box, 2) as world:
        world.fleet.start()
        world.wait(lambda: world.table.there() and all(mine(world.table.row(s)) for s in world.shards), 20, "both are taken")
        while len(world.truth) < 2:
            world.put(4)
        shard = world.shards[0]
        world.wait(lambda: world.table.row(shard)["Checkpoint"] == world.last(shard), 10, "it is saved")
        for _ in range(20):  # its renewal may be faster
            if world.table.claim(shard):
                break
        else:
            expect(False, "the claim is refused")
        world.put(4)
        asked = time.monotonic()
        world.wait(lambda: "AssignedTo" not in world.table.row(shard), 10, "it is let go")
        took = time.monotonic() - asked
        row = world.table.row(shard)
        expect(row["ClaimRequest"] == GO and row["LeaseTimeout"], f"{row}")
        time.sleep(2 * LEASE_MS / 1000)
        expect("AssignedTo" not in world.table.row(shard), "it was taken back, though it is kept for the claimant")
        expect(world.table.put(shard, "attribute_not_exists(AssignedTo) AND ClaimRequest = :me", {":me": GO}, AssignedTo=GO,
                               LeaseTimeout=go_time(3600), Checkpoint=row["Checkpoint"]), "the claimant can't take it")
        world.fleet.read()
        done = [place for of, place in world.fleet.seen if of == shard]
        expect(row["Checkpoint"] == str(max(done)[0]), f"saved {row['Checkpoint']}, read up to {max(done)}")
        expect(mine(world.table.row(world.shards[1])), "the other one went too")
        return f"let go after {took:.1f} s"


def asks(box):
    """Ours asks for a lease of the Go program, again when its claim is erased, and takes what is let go."""
    with World(box, 2) as world:
        world.table.make()
        world.wait(world.table.there, 10, "the table is there")
        for shard in world.shards:
            world.table.own(shard, "")
        world.fleet.start()
        claims, until = 0, time.monotonic() + 60
        while claims < 3:  # without stealing, or by a checkpoint, each write of the owner erases it
            expect(time.monotonic() < until, f"{claims} claims in 60 s")
            for shard in world.shards:
                row = world.table.row(shard)
                if row.get("ClaimRequest"):
                    claims += 1
                    asked = shard
                    expect(row["ClaimRequest"].startswith("w0.") and row["AssignedTo"] == GO, f"{row}")
                    if claims == 3:
                        break
                world.table.own(shard, "")
            time.sleep(0.3)
        expect(sum(1 for s in world.shards if world.table.row(s).get("ClaimRequest")) == 1, "more than one is asked for")
        world.table.let_go(asked)
        world.wait(lambda: mine(world.table.row(asked)), 10, "it is taken")
        expect("ClaimRequest" not in world.table.row(asked), "the claim stays")
        other, = set(world.shards) - {asked}
        for _ in range(6):
            world.table.own(other, "")
            expect("ClaimRequest" not in world.table.row(other), "it asks for more than its share")
            time.sleep(0.5)
    return ""


def taken_back(box):
    """A worker that stops takes its claim back."""
    with World(box, 2) as world:
        world.table.make()
        world.wait(world.table.there, 10, "the table is there")
        for shard in world.shards:
            world.table.own(shard, "", 3600)
        world.fleet.start()
        claimed = lambda: [s for s in world.shards if world.table.row(s).get("ClaimRequest")]  # noqa: E731
        world.wait(claimed, 30, "one is asked for")
        world.fleet.leave_all()
        expect(not claimed(), f"{[world.table.row(s) for s in world.shards]}")
    return ""


def overwritten(box):
    """A late checkpoint of the Go program, which has no condition, over a lease of ours: ours stops, and goes on where
    it was, at once: the write of an owner whose time is over counts for nothing."""
    with World(box, 1) as world:
        shard, = world.shards
        world.fleet.start()
        world.put(5)
        old = sorted(world.truth[shard])[1]
        world.wait(lambda: world.table.there() and world.table.row(shard).get("Checkpoint") == world.last(shard), 20, "saved")
        world.table.put(shard, AssignedTo=GO, LeaseTimeout=go_time(-5), Checkpoint=str(old[0]))
        watch = cpu_waits.Stopwatch()
        world.wait(lambda: mine(world.table.row(shard)), 20, "it is taken again")
        took = watch.own()
        expect(took < LEASE_MS / 1000, f"taken again after {took:.1f} s, not before that owner was silent for a lease")
        world.put(5)
        world.wait(lambda: world.table.row(shard)["Checkpoint"] == world.last(shard), 15, "it is read on")
        world.fleet.read()
        expect({place for _, place in world.fleet.seen} == set(world.truth[shard]), "a record is missing")
        world.fleet.leave_all()
        expect(len(world.fleet.read()) == 10, f"{len(world.fleet.history.lines)} records, 10 were put")
        return f"taken again after {took:.1f} s"


def bad(box):
    """A row of a wrong type is named and left alone; so is a table of another schema."""
    with World(box, 1) as world:
        shard, = world.shards
        world.table.make()
        world.wait(world.table.there, 10, "the table is there")
        item = {"ShardID": {"S": shard}, "AssignedTo": {"S": GO}, "LeaseTimeout": {"N": "1700000000"}}
        world.table.client.put_item(TableName=world.fleet.table, Item=item)
        world.fleet.start()
        world.wait(lambda: "LeaseTimeout is no text" in world.fleet.now["w0"].stderr(), 20, "it is named")
        time.sleep(2 * LEASE_MS / 1000)
        found = world.table.client.get_item(TableName=world.fleet.table, Key={"ShardID": {"S": shard}})["Item"]
        expect(found == item, f"{found}")
    with World(box, 1) as world:
        world.table.client.create_table(TableName=world.fleet.table, BillingMode="PAY_PER_REQUEST",
                                        AttributeDefinitions=[{"AttributeName": "leaseKey", "AttributeType": "S"}],
                                        KeySchema=[{"AttributeName": "leaseKey", "KeyType": "HASH"}])
        world.wait(world.table.there, 20, "the table is made")
        world.fleet.start()
        life, until = world.fleet.now["w0"], time.monotonic() + 20
        while not life.ended() and time.monotonic() < until:
            time.sleep(0.05)
        expect('has the key "leaseKey" alone, as those of schema kcl; leases need "ShardID" alone' in life.stderr(), life.stderr())
        life.process.wait(10)
        world.fleet.now.pop("w0")
        expect(not world.table.client.scan(TableName=world.fleet.table)["Items"], "a row was written")
    return ""


def main():
    tests = Tests()
    harness.boto3_or_skip()
    with Box() as box:
        tests.side_by_side([lambda name=name, test=test: tests.run(name, test, box) for name, test in (
            ("a new table", begins),
            ("nothing is taken from the living", not_from_the_living),
            ("the Go program asks", asked_for),
            ("ours asks", asks),
            ("a claim is taken back", taken_back),
            ("a late checkpoint over a lease of ours", overwritten),
            ("rows and tables that can't be", bad))])
    tests.end()


if __name__ == "__main__":
    main()
