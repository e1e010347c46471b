"""stream-tail on DynamoDB Streams against what boto3's own GetRecords reads: on moto three tables, each named in
another way; in the sandbox 16 shards that roll over, split and misbehave while they are read. The default run makes
600 changes each time, the full one (SLOOP_TEST_FULL=1) 5,000.

moto has one shard for ever and no end of it; what happens at the end of a shard is the sandbox's part.
"""

import base64
import json
import random

import dynamo
import harness
import servers
from harness import FULL, Tests, expect
from sandbox_box import Box

CHANGES = 5000 if FULL else 600


# ---- the judge: boto3 turns JSON into Python's types, so does this -------------------------------------------------


def typed(value):
    """A typed attribute as boto3 hands it out: binary is bytes."""
    (kind, content), = value.items()
    if kind == "B":
        return {kind: base64.b64decode(content, validate=True)}
    if kind == "BS":
        return {kind: [base64.b64decode(one, validate=True) for one in content]}
    if kind == "L":
        return {kind: [typed(one) for one in content]}
    if kind == "M":
        return {kind: {name: typed(one) for name, one in content.items()}}
    return value


def change_of(text):
    """The service's `dynamodb` object as boto3 hands it out, but for the time, which stays a number."""
    change = json.loads(text)
    for image in ("Keys", "NewImage", "OldImage"):
        if image in change:
            change[image] = {name: typed(value) for name, value in change[image].items()}
    return change


def with_number_for_time(change):
    return {**change, "ApproximateCreationDateTime": change["ApproximateCreationDateTime"].timestamp()}


def lines_of(out):
    lines = out.split(b"\n") if isinstance(out, bytes) else [line.rstrip(b"\n") for line in out]
    return [json.loads(line) for line in lines if line]


def judge(out, by_shard, table, more=()):
    """by_shard: {shard: [record of boto3, ...]}. Every change once, as boto3 has it, in the order of its shard. more:
    what else the lines have."""
    left = {shard: list(reversed(records)) for shard, records in by_shard.items()}
    placed, number = [], 0
    for number, line in enumerate(lines_of(out), 1):
        shard = line["shard"]
        expect(left.get(shard), f"line {number}: more than boto3 reads from {shard}: {line['seq']}")
        theirs = left[shard].pop()
        change = theirs["dynamodb"]
        expect(line["stream"] == table, f"stream {line['stream']!r}, not {table!r}")
        number_there = change["SequenceNumber"]
        expect(line["seq"] == number_there, f"line {number}: {line['seq']}, boto3 has {number_there}")
        ours = change_of(json.dumps(line["change"]))
        expect(ours == with_number_for_time(change), f"line {number}: {ours} is not {change}")
        moment = round(change["ApproximateCreationDateTime"].timestamp() * 1000)
        expect(line["ts"] == moment, f"line {number}: ts {line['ts']}, not {moment}")
        expect((line["event"], line["id"]) == (theirs["eventName"], theirs["eventID"]), f"line {number}: {line}")
        expect(line.get("user") == theirs.get("userIdentity"), f"line {number}: {line}")
        expect(set(line) - {"late", "user"} == {"stream", "shard", "seq", "ts", "event", "id", "change", *more}, f"{line}")
        placed.append((shard, line))
    lost = {shard: len(records) for shard, records in left.items() if records}
    expect(not lost, f"{sum(lost.values())} changes are missing: {lost}")
    return placed


def judge_order(placed):
    """By time, and within the same millisecond by sequence number; a shard's own order comes first."""
    time_in_shard, last = {}, None
    for index, (shard, line) in enumerate(placed):
        moment = max(line["ts"], time_in_shard.get(shard, line["ts"]))
        time_in_shard[shard] = moment
        expect(not line.get("late"), f"line {index} is late although all was there before")
        expect(last is None or (moment, int(line["seq"])) > last, f"line {index} of {shard} comes too late: {line}")
        last = (moment, int(line["seq"]))


def tail_of(stream, env, *more):
    done = harness.tail(["-q", "-o", "oldest", "-e", "-J", *more, stream], env, seconds=180)
    expect(done.code == 0 and not done.err, str(done))
    return done


# ---- moto --------------------------------------------------------------------------------------------------------


def three_tables(tests, server):
    dynamodb, streams = dynamo.clients(server.url)
    env = harness.tail_environment(server.url)
    for seed, named in enumerate(("name", "table ARN", "stream ARN")):
        table, arn = dynamo.new_table(dynamodb)
        dynamo.Writer(dynamodb, table, seed=seed).write(CHANGES // 3)
        stream = {"name": f"dynamodb:{table}", "table ARN": arn.split("/stream/")[0], "stream ARN": arn}[named]

        def read(table=table, arn=arn, stream=stream, named=named):
            by_shard = dynamo.read_all(streams, arn)
            said = env if named == "name" else {k: v for k, v in env.items() if k != "AWS_REGION"}  # an ARN says it
            placed = judge(tail_of(stream, said).out, by_shard, table)
            expect(len(placed) >= CHANGES // 3, f"only {len(placed)} changes")
            return f"{len(placed)} changes"

        tests.run(f"moto: a table by {named}", read)


def follows_what_comes(server):
    """From now on; what was there before is not told."""
    dynamodb, streams = dynamo.clients(server.url)
    table, arn = dynamo.new_table(dynamodb)
    writer = dynamo.Writer(dynamodb, table, seed=5)
    writer.write(20)
    before = len(dynamo.sequences(dynamo.read_all(streams, arn)))
    running = harness.Running(["-v", "-J", f"dynamodb:{table}"], harness.tail_environment(server.url))
    try:
        harness.wait_until(lambda: "reading starts" in running.stderr(), 20, "reading starts")

        def one_is_told():  # the iterator is there once a change of now comes
            writer.write(1)
            return running.lines

        harness.wait_until(one_is_told, 30, "a change is told")
        writer.write(50)
        by_shard = dynamo.read_all(streams, arn)
        total = len(dynamo.sequences(by_shard))
        last = max(map(int, dynamo.sequences(by_shard)))
        harness.wait_until(lambda: any(int(line["seq"]) == last for line in lines_of(running.lines)), 30,
                           "the last change")
        expect(running.interrupt() == 0, running.stderr())
    finally:
        running.kill()
    told = [line["seq"] for line in lines_of(running.lines)]
    everything = sorted(dynamo.sequences(by_shard), key=int)
    expect(told == everything[total - len(told):] and len(told) <= total - before, "not the latest ones")
    return f"{len(told)} of {total} changes"


def one_line_for(stream, env, *said):
    done = harness.tail(["-o", "oldest", "-e", "-J", stream], env)
    lines = done.err.decode().strip().split("\n")
    expect(done.code != 0 and not done.out and len(lines) == 1, str(done))
    for text in said:
        expect(text in lines[0], f"{text!r} is not in {lines[0]!r}")


def no_stream_no_table(server):
    dynamodb, _ = dynamo.clients(server.url)
    dynamodb.create_table(TableName="plain", BillingMode="PAY_PER_REQUEST",
                          AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                          KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}])
    env = harness.tail_environment(server.url)
    one_line_for("dynamodb:plain", env, "table plain has no stream", "update-table", "ENOSTREAM")
    one_line_for("dynamodb:missing", env, "missing", "ENOSTREAM")


def on_moto(tests, server):
    three_tables(tests, server)
    tests.run("moto: from now on", follows_what_comes, server)
    tests.run("moto: no stream, no table", no_stream_no_table, server)


# ---- the sandbox -------------------------------------------------------------------------------------------------


class Changes:
    """Changes of random items, one order to the sandbox each, and rollovers between them."""

    def __init__(self, box, table, seed):
        self.box, self.table, self.random = box, table, random.Random(seed)
        self.items, self.number = {}, 0

    def one(self):
        self.number += 1
        key = f"item-{self.random.randrange(300)}"
        old = self.items.get(key)
        new = None
        if old is None or self.random.random() < 0.7:
            new = {"id": {"S": key}, "n": {"N": str(self.number)}, "b": {"B": base64.b64encode(b"\x00\xff").decode()},
                   "text": {"S": 'ü "quoted"\n\u2028 🚢 ' * self.random.randrange(3)},
                   "deep": {"M": {"l": {"L": [{"NULL": True}, {"BOOL": False}, {"NS": ["1", "2.5"]}]}}}}
        self.box.change(self.table, {"id": {"S": key}}, old, new, by_ttl=new is None and self.random.random() < 0.3)
        if new:
            self.items[key] = new
        else:
            del self.items[key]

    def make(self, n, rolls):
        """n changes; in between every shard is replaced so many times, some of them by two."""
        for number in range(n):
            if number % (n // (rolls + 1)) == 0 and number:
                self.box.roll(self.table, split=number % 4 == 0)
            self.one()


def arn_of(streams, table):
    return streams.list_streams(TableName=table)["Streams"][-1]["StreamArn"]


def env_of(box):
    return harness.tail_environment(box.url, "AKIDEXAMPLE", "secret")


QUIRKS = {"behaves": (), "open parents": ("open-parents:1",), "late children": ("late-children:1500",),
          "empty pages": ("empty-lists:1", "empty-gets:2"), "filter ignored": ("child-filter:1",),
          "filter refused": ("child-filter:2",)}


def rolled_over(name, quirks, partitions, changes, limits=False):
    """All of it written before it is read: the order is exact, too."""
    knobs = (f"table=Orders:{partitions}", "roll_ms=0", *(f"quirk={quirk}" for quirk in quirks))
    with Box(*knobs, limits=limits) as box:
        streams = box.client(service="dynamodbstreams")
        Changes(box, "Orders", seed=len(name)).make(changes, rolls=3)
        arn = arn_of(streams, "Orders")
        done = tail_of("dynamodb:Orders" if name != "behaves" else arn, env_of(box))
        for quirk in quirks:  # the judge reads without them
            box.quirk(quirk.split(":")[0], 0)
        by_shard = dynamo.read_all(streams, arn)
        shards = dynamo.list_shards(streams, arn)
        expect(len(dynamo.sequences(by_shard)) == changes, "the judge does not read all")
        placed = judge(done.out, by_shard, "Orders")
        judge_order(placed)
        dynamo.judge_lineage(placed, shards)
        expect(len(shards) >= 4 * partitions, f"{len(shards)} shards")
        return f"{changes} changes, {len(shards)} shards"


def rolls_over_meanwhile(name, quirks, partitions, changes):
    """Read while it is written to and every shard is replaced again and again."""
    with Box("table=Orders:%d" % partitions, "roll_ms=0", *(f"quirk={quirk}" for quirk in quirks)) as box:
        streams = box.client(service="dynamodbstreams")
        arn = arn_of(streams, "Orders")
        writer = Changes(box, "Orders", seed=7 + len(name))
        running = harness.Running(["-q", "-o", "oldest", "-J", "dynamodb:Orders"], env_of(box))
        try:
            writer.make(changes, rolls=5)
            running.wait_lines(changes, 120)
            expect(running.interrupt() == 0, running.stderr())
        finally:
            running.kill()
        for quirk in quirks:
            box.quirk(quirk.split(":")[0], 0)
        by_shard = dynamo.read_all(streams, arn)
        placed = judge(running.lines, by_shard, "Orders")
        dynamo.judge_lineage(placed, dynamo.list_shards(streams, arn))
        expect(not running.stderr(), running.stderr())
        return f"{len(placed)} changes, {len(by_shard)} shards"


FAULTS = {"DescribeStream": ("throttle", "html", "cut 100", "drop", "trailing"),
          "GetShardIterator": ("throttle", "html", "status 503", "drop"),
          "GetRecords": ("throttle", "html", "cut 200", "drop", "expired", "no-next", "empty-object", "repeat",
                         "trailing", "status 500", "empty", "error LimitExceededException:400:two readers already")}


def faulty():
    """Each fault thrice while it reads and shards roll over: nothing lost, nothing twice."""
    with Box("table=Orders:4", "roll_ms=0") as box:
        streams = box.client(service="dynamodbstreams")
        writer = Changes(box, "Orders", seed=3)
        writer.make(50, rolls=0)
        running = harness.Running(["-o", "oldest", "-J", "dynamodb:Orders"], env_of(box))
        try:
            running.wait_lines(50, 60)
            box.faults("\n".join(f"3 {operation} * {what}" for operation, some in FAULTS.items() for what in some))
            writer.make(400, rolls=3)
            running.wait_lines(450, 120)
            expect(running.interrupt() == 0, running.stderr())
        finally:
            running.kill()
        used, there = box.stats()["faults_used"], 3 * sum(map(len, FAULTS.values()))
        box.order("DELETE", "faults")
        arn = arn_of(streams, "Orders")
        placed = judge(running.lines, dynamo.read_all(streams, arn), "Orders")
        dynamo.judge_lineage(placed, dynamo.list_shards(streams, arn))
        expect(used > there // 2, f"only {used} of {there} faults were met")
        return f"{used} of {there} faults"


def damaged():
    """Told, and asked for again."""
    with Box("table=Orders:2", "roll_ms=0") as box:
        Changes(box, "Orders", seed=9).make(20, rolls=0)
        box.faults("1 DescribeTable * bad-crc")
        running = harness.Running(["-o", "oldest", "-J", "dynamodb:Orders"], env_of(box))
        try:
            running.wait_lines(20, 60)
            expect(running.interrupt() == 0, running.stderr())
        finally:
            running.kill()
        expect(box.stats()["faults_used"] == 1, "the answer was not damaged")
        expect(running.stderr().count("its checksum is wrong") == 1, running.stderr())


def ended_stream():
    """A disabled stream is read to its end, which is told; the table's next stream is another one, and ends a lone reader
    of the old."""
    with Box("table_partitions=3", "roll_ms=0") as box:
        dynamodb, streams = box.client(service="dynamodb"), box.client(service="dynamodbstreams")
        first = dynamo.new_table(dynamodb, "Orders")[1]
        writer = dynamo.Writer(dynamodb, "Orders")
        writer.write(100)
        box.roll("Orders")
        writer.write(100)

        def switch(**specification):
            dynamodb.update_table(TableName="Orders", StreamSpecification=specification)
            harness.wait_until(lambda: dynamodb.describe_table(TableName="Orders")["Table"]["TableStatus"] == "ACTIVE",
                               20, "the table is ACTIVE")

        running = harness.Running(["-v", "-o", "oldest", "-J", "-X", "list_ms=1000", "dynamodb:Orders"], env_of(box))
        fleet = harness.Running(["-o", "oldest", "-J", "-X", "list_ms=1000", "-X", "lease_ms=2000", "-G", "app",
                                 "dynamodb:Orders"], env_of(box))
        by_arn = harness.Running(["-o", "oldest", "-J", "-X", "list_ms=1000", first], env_of(box))
        try:
            for each in (running, fleet, by_arn):
                each.wait_lines(200, 60)
            switch(StreamEnabled=False)
            harness.wait_until(lambda: running.stderr().count("read to its end") == 6, 60, "all six shards are read")
            for each in (running, by_arn):
                harness.wait_until(lambda each=each: "is disabled: it takes no more records" in each.stderr(), 20,
                                   "the end is told")
            switch(StreamEnabled=True, StreamViewType="NEW_IMAGE")
            writer.write(30)
            harness.wait_until(lambda: running.process.poll() is not None, 20, "it ends")
            expect(running.process.returncode == 1, running.stderr())
            expect("table Orders has another stream now" in running.stderr(), running.stderr())
            expect("check the name" not in running.stderr(), running.stderr())
            expect(running.stderr().count("is disabled") == 1, running.stderr())
            expect(by_arn.interrupt() == 0, by_arn.stderr())  # who names a stream wants that one
            # Its leader can't know what other workers have still to read.
            harness.wait_until(lambda: "the table has another stream now" in fleet.stderr(), 90, "the fleet is told")
            expect(fleet.interrupt() == 0, fleet.stderr())
        finally:
            for each in (running, fleet, by_arn):
                each.kill()
        judge(fleet.lines, dynamo.read_all(streams, first), "Orders", more=("epoch", "worker"))
        judge(by_arn.lines, dynamo.read_all(streams, first), "Orders")
        judge(running.lines, dynamo.read_all(streams, first), "Orders")
        judge(tail_of(first, env_of(box)).out, dynamo.read_all(streams, first), "Orders")
        second = dynamo.stream_of(dynamodb, "Orders")
        expect(second != first, "the stream is the old one")
        judge(tail_of("dynamodb:Orders", env_of(box)).out, dynamo.read_all(streams, second), "Orders")


def both_services():
    """A stream of Kinesis and a table's in one order, with one identity."""
    with Box("table=Orders:4", "stream=orders:2", "roll_ms=0") as box:
        streams = box.client(service="dynamodbstreams")
        put = harness.Producer(box.client(), "orders").put_all(300)
        Changes(box, "Orders", seed=1).make(300, rolls=2)
        done = harness.tail(["-q", "-o", "oldest", "-e", "-J", "orders", "dynamodb:Orders"], env_of(box))
        expect(done.code == 0, str(done))
        lines = done.out.splitlines(keepends=True)
        harness.judge_once(harness.records_of(b"".join(l for l in lines if b'"payload' in l)), put)
        by_shard = dynamo.read_all(streams, arn_of(streams, "Orders"))
        judge(b"".join(l for l in lines if b'"change"' in l), by_shard, "Orders")
        expect(len(lines) == 600, f"{len(lines)} lines")


def on_sandbox(tests):
    """What takes long first."""
    jobs = [("every fault", faulty)]
    for name, quirks in QUIRKS.items():
        jobs.append((f"rolls over meanwhile, {name}", rolls_over_meanwhile, name, quirks, 4, CHANGES // 5))
        jobs.append((f"16 shards rolled over, {name}", rolled_over, name, quirks, 16,
                     CHANGES if name == "behaves" else CHANGES // 5))
    jobs += [("16 shards, the service's limits", rolled_over, "limits", (), 16, CHANGES // 5, True),
             ("a damaged answer", damaged), ("a stream that is disabled", ended_stream),
             ("a table and a stream of Kinesis in one", both_services)]
    return [lambda name=name, job=job: tests.run(f"sandbox: {name}", *job) for name, *job in jobs]


def main():
    tests = Tests()
    harness.boto3_or_skip()
    tests.side_by_side([*on_sandbox(tests), lambda: tests.with_server(servers.Moto, on_moto)], at_once=6)
    tests.end()


if __name__ == "__main__":
    main()
