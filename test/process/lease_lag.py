"""How far behind the checkpoints of an application are, told by `--leases` without its workers: workers of every layout
are killed, boto3 puts more, and what is told is held against what boto3 reads behind the same checkpoints."""

import datetime
import json
import os
import signal
import tempfile
import time

import harness
import servers
from harness import Running, Tests, expect, wait_until

SECONDS = 90  # a deadline
OPTIONS = ("sandbox.write_bytes_per_second=0", "sandbox.write_records_per_second=0", "sandbox.reads_per_second=0",
           "sandbox.change_ms=0")
SCHEMAS = ("sloop", "kcl", "vmware-go-kcl", "kinsumer", "motorway", "kcl-rb")
QUICK = ("-X", "lease_ms=2000", "-X", "checkpoint_ms=200", "-X", "poll_ms=200")


class App:
    """An application of one stream, in a file of leases of its own."""

    def __init__(self, url, stream, folder, *more):
        self.env, self.stream, self.workers = harness.tail_environment(url), stream, 0
        self.place = ("-G", "app", "--store", f"sqlite:{folder}/leases", *more)

    def ask(self, *more):
        done = harness.tail([*self.place, "--leases", *more, self.stream], self.env, SECONDS)
        return done.code, done.out.decode(), done.err.decode()

    def rows(self, *more):
        code, out, err = self.ask("-J", *more)
        expect(code == 0, f"{code} {err}")
        return [json.loads(line) for line in out.splitlines()]

    def shards(self, *more):
        """Leases, and shards without one."""
        rows = [(row.get("shard") or row.get("unleased"), row) for row in self.rows(*more)]
        return {shard: row for shard, row in rows if shard}

    def work(self, records, *more, number=signal.SIGKILL):
        """A worker prints so many, saves where it is, and is killed, or stopped."""
        self.workers += 1
        worker = Running(["-J", "-o", "oldest", "-X", f"worker=w{self.workers}", *QUICK, *self.place, *more, self.stream], self.env)
        try:
            wait_until(lambda: len(worker.lines) >= records, SECONDS, f"{records} records")
            last = {}
            for line in worker.lines:
                row = json.loads(line)
                last[row["shard"]] = row["seq"]
            wait_until(lambda: all(str(self.shards("--no-read")[shard]["position"]).split(" sub ")[0] == "after " + seq
                                   for shard, seq in last.items()), SECONDS, "all of it is saved", pause=0.3)
            worker.signal(number)
            worker.process.wait(20)
        finally:
            worker.process.kill()
            worker.process.wait()


def waiting(kinesis, stream, row):
    """What boto3 finds behind a position: (arrival of the first record, or None, MillisBehindLatest there)."""
    kind, _, seq = row["position"].partition(" ")
    how = {"after": {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "StartingSequenceNumber": seq.split(" sub ")[0]},
           "oldest": {"ShardIteratorType": "TRIM_HORIZON"}, "latest": {"ShardIteratorType": "LATEST"}}[kind]
    shard = row.get("shard") or row["unleased"]
    iterator = kinesis.get_shard_iterator(StreamName=stream, ShardId=shard, **how)["ShardIterator"]
    page = kinesis.get_records(ShardIterator=iterator, Limit=1)
    first = page["Records"][0]["ApproximateArrivalTimestamp"] if page["Records"] else None
    return first, page.get("MillisBehindLatest")


def check_lags(kinesis, app, rows, before, slack=1.1):
    """Dates of answers are whole seconds, so a lag may be told up to one too small."""
    waited = 0
    for row in rows.values():
        first, _ = waiting(kinesis, app.stream, row)
        now = datetime.datetime.now(datetime.timezone.utc)
        expect(row["lag"] == "read", f"{row}")
        if first is None:
            expect(row["behind_ms"] == 0, f"{row}")
            continue
        waited += 1
        least, most = (before - first).total_seconds() - slack, (now - first).total_seconds() + slack
        expect(max(least, 0.001) <= row["behind_ms"] / 1000 <= most, f"{row}: not within {least} and {most}")
    return waited


def dead_fleet(box, schema):
    kinesis = harness.client(box.url)
    stream = harness.new_stream(kinesis, 3)
    producer = harness.Producer(kinesis, stream)
    with tempfile.TemporaryDirectory() as folder:
        app = App(box.url, stream, folder, "-X", f"schema={schema}")
        producer.put_all(30)
        app.work(30)
        time.sleep(2.5)  # the lease is over: rows of ours count no more
        now = datetime.datetime.now(datetime.timezone.utc)
        expect(check_lags(kinesis, app, app.shards(), now) == 0, "nothing waits")
        expect("all at the tip" in app.ask()[1], f"{app.ask()}")
        kinesis.put_record(StreamName=stream, Data=b"one", PartitionKey="a")  # one shard alone
        time.sleep(2.2)
        now = datetime.datetime.now(datetime.timezone.utc)
        expect(check_lags(kinesis, app, app.shards(), now) == 1, "one shard waits")
        producer.put_all(30)
        now = datetime.datetime.now(datetime.timezone.utc)
        expect(check_lags(kinesis, app, app.shards(), now) == 3, "all wait")
        text = app.ask()[1]
        expect("the furthest is " in text and "unknown" not in text, text)
        blind, text = app.shards("--no-read"), app.ask("--no-read")[1]
        if schema == "sloop":  # what its rows told grows old
            expect(all(row["lag"] == "told" and row["behind_ms"] > 4500 for row in blind.values()), f"{blind}")
        else:
            expect({(row["lag"], row["behind_ms"]) for row in blind.values()} == {("unknown", None)}, f"{blind}")
            expect("; 3 of unknown lag" in text, text)


def living_fleet(box, schema):
    """Rows of ours tell it, and no shard is read; of others the shard is read though its owner lives."""
    kinesis = harness.client(box.url)
    stream = harness.new_stream(kinesis, 2)
    harness.Producer(kinesis, stream).put_all(20)
    with tempfile.TemporaryDirectory() as folder:
        app = App(box.url, stream, folder, "-X", f"schema={schema}")
        worker = Running(["-J", "-o", "oldest", *QUICK, *app.place, stream], app.env)
        try:
            wait_until(lambda: len(worker.lines) == 20, SECONDS, "all is read")
            how = "told" if schema == "sloop" else "read"
            wait_until(lambda: [(row["lag"], row["behind_ms"]) for row in app.shards().values()] == [(how, 0)] * 2, SECONDS,
                       f"{how}: {app.shards()}", pause=0.5)
        finally:
            worker.process.kill()
            worker.process.wait()


def table(box):
    """The changes of a table tell no lag: the first record that waits does, and the tip is proved by empty pages."""
    dynamodb = harness.client(box.url, "dynamodb")
    name = f"table-{os.urandom(4).hex()}"
    box.admin("POST", f"table?name={name}&partitions=2")
    for i in range(12):
        dynamodb.put_item(TableName=name, Item={"id": {"S": f"k{i}"}})
    with tempfile.TemporaryDirectory() as folder:
        app = App(box.url, "dynamodb:" + name, folder)
        app.work(12)
        time.sleep(2.5)
        expect([(row["lag"], row["behind_ms"]) for row in app.shards().values()] == [("read", 0)] * 2, f"{app.shards()}")
        began = time.time()
        dynamodb.put_item(TableName=name, Item={"id": {"S": "late"}})
        time.sleep(4)
        rows = app.shards()
        lags = sorted(row["behind_ms"] for row in rows.values())
        # Changes are stamped with whole seconds, and dates of answers are.
        expect(lags[0] == 0 and 2900 <= lags[1] <= (time.time() - began + 2) * 1000, f"{rows}")
        # A position that is trimmed away is no lag.
        box.admin("POST", f"trim?table={name}&before={int(time.time() * 1000) + 1000}")
        lost = [row for row in app.shards().values() if row["lag"] == "trimmed"]
        expect(lost and all(row["behind_ms"] is None for row in lost), f"{app.shards()}")


def troubled(test):
    """With faults of its own."""
    with servers.Sandbox(2, OPTIONS) as box:
        test(box)


def beyond(box):
    """A place that the stream does not keep, a shard that is gone, a number that is none: said as that."""
    kinesis = harness.client(box.url)
    stream = harness.new_stream(kinesis, 2)
    producer = harness.Producer(kinesis, stream)
    producer.put_all(20)
    with tempfile.TemporaryDirectory() as folder:
        app = App(box.url, stream, folder)
        app.work(20)
        time.sleep(2.5)
        producer.put_all(20)
        time.sleep(0.1)
        box.admin("POST", f"trim?stream={stream}&before={int(time.time() * 1000)}")
        time.sleep(0.1)
        producer.put_all(20)
        rows = app.shards()
        expect([(row["lag"], row["behind_ms"]) for row in rows.values()] == [("trimmed", None)] * 2, f"{rows}")
        text = app.ask()[1]
        expect("trimmed: the position is older than the stream's retention" in text and "2 that can't be continued" in text and
               "at the tip" not in text, text)
        box.faults("* GetShardIterator * error InvalidArgumentException:400")
        expect({row["lag"] for row in app.shards().values()} == {"refused"}, f"{app.shards()}")
        box.clear_faults()
        # An owner that may live has read on from its row's record, which may be gone for lack of others.
        kcl = App(box.url, stream, folder, "-X", "schema=kcl", "--store", f"sqlite:{folder}/kcl")
        kcl.work(20)
        time.sleep(0.1)
        box.admin("POST", f"trim?stream={stream}&before={int(time.time() * 1000)}")
        expect([(row["lag"], row["behind_ms"]) for row in kcl.shards().values()] == [("read", 0)] * 2, f"{kcl.shards()}")
        expect({row["lag"] for row in app.shards().values()} == {"trimmed"}, f"{app.shards()}")
        time.sleep(0.1)
        producer.put_all(20)
        expect({row["lag"] for row in kcl.shards().values()} == {"read"}, f"{kcl.shards()}")
        box.faults("* GetShardIterator * error ResourceNotFoundException:400")
        expect({row["lag"] for row in app.shards().values()} == {"gone"}, f"{app.shards()}")
        box.clear_faults()


def unknown(box):
    """What can't be read is unknown, with the reason; the table is shown all the same."""
    kinesis = harness.client(box.url)
    stream = harness.new_stream(kinesis, 2)
    harness.Producer(kinesis, stream).put_all(20)
    with tempfile.TemporaryDirectory() as folder:
        app = App(box.url, stream, folder)
        app.work(20)
        time.sleep(2.5)
        for fault, says in (("* GetRecords * error AccessDeniedException:400", "AccessDenied"),
                            ("* GetRecords * error InternalFailure:500", "InternalFailure"),
                            ("* GetRecords * delay 600000", "no answer in time")):
            box.clear_faults()
            box.faults(fault)
            began = time.monotonic()
            rows = app.shards()
            expect(time.monotonic() - began < 20, f"{time.monotonic() - began}")
            expect({(row["lag"], row["behind_ms"]) for row in rows.values()} == {("failed", None)}, f"{rows}")
            expect(all(says in row["lag_error"] for row in rows.values()), f"{rows}")
        began = time.monotonic()
        expect({row["lag"] for row in app.shards("--timeout", "25").values()} == {"failed"}, "no answer")
        expect(12 < time.monotonic() - began < 20, f"{time.monotonic() - began}")  # half of it
        box.clear_faults()
        box.faults("* ListShards * error AccessDeniedException:400")
        rows = app.rows()
        expect([row["lag"] for row in rows if "shard" in row] == ["read"] * 2, f"{rows}")
        expect(["AccessDenied" in row["unlisted"] for row in rows if "unlisted" in row] == [True], f"{rows}")
        # A throttled shard is asked again.
        box.faults("1 GetRecords * throttle")
        expect({row["lag"] for row in app.shards().values()} == {"read"}, f"{app.shards()}")
        box.clear_faults()


def children(box):
    """Shards without a lease, below one that has one: dead workers make none, and records wait in them."""
    kinesis = harness.client(box.url)
    stream = harness.new_stream(kinesis, 1)
    harness.Producer(kinesis, stream).put_all(20)
    with tempfile.TemporaryDirectory() as folder:
        app = App(box.url, stream, folder)
        app.work(20)
        parent = next(iter(app.shards("--no-read")))
        kinesis.split_shard(StreamName=stream, ShardToSplit=parent, NewStartingHashKey=str(1 << 127))
        harness.wait_active(kinesis, stream)
        harness.Producer(kinesis, stream).put_all(20)
        time.sleep(2.5)
        now = datetime.datetime.now(datetime.timezone.utc)
        rows = app.shards()
        expect(sorted(row["state"] for row in rows.values()) == ["owned", "unleased", "unleased"], f"{rows}")
        expect(rows[parent]["behind_ms"] == 0 and rows[parent]["lag"] == "read", f"{rows}")
        expect(check_lags(kinesis, app, {k: v for k, v in rows.items() if k != parent}, now) == 2, f"{rows}")
        text = app.ask()[1]
        expect("1 lease: 1 owned; 2 shards without one" in text and "the furthest is " in text, text)


def many(box):
    """More shards than there is time for: that is said, with their number, and others are read the next time."""
    kinesis = harness.client(box.url)
    stream = f"many-{os.urandom(4).hex()}"
    box.admin("POST", f"stream?name={stream}&shards=600")
    with tempfile.TemporaryDirectory() as folder:
        app = App(box.url, stream, folder)
        worker = Running(["-J", "-o", "oldest", *QUICK, *app.place, stream], app.env)
        try:
            wait_until(lambda: len(app.shards("--no-read")) == 600 if os.path.exists(f"{folder}/leases") and
                       app.ask("--no-read")[0] == 0 else False, SECONDS, "all have a lease", pause=0.5)
        finally:
            worker.process.kill()
            worker.process.wait()
        time.sleep(2.5)
        before = box.stats()["operations"]["GetRecords"]["calls"]
        began = time.monotonic()
        first, second = app.shards("--timeout", "2"), app.shards("--timeout", "2")
        calls = box.stats()["operations"]["GetRecords"]["calls"] - before
        expect(time.monotonic() - began < 10, f"{time.monotonic() - began}")
        read = [{shard for shard, row in rows.items() if row["lag"] == "read"} for rows in (first, second)]
        expect({row["lag"] for row in first.values()} == {"read", "out_of_time"}, f"{len(read[0])}")
        # At most 200 a second are begun, in 0.8 of half the time that the command has.
        expect(20 <= len(read[0]) <= 170 and read[0] != read[1] and calls <= 400, f"{len(read[0])} {calls}")
        text = app.ask("--timeout", "2")[1]
        expect(" and " in text and "more" in text and "the time was up" in text, text[-600:])
        rows = app.shards("--timeout", "60")
        expect({row["lag"] for row in rows.values()} == {"read"}, "all are read when there is time")


def over(box):
    """The status that a cron job looks at, and the line that it mails."""
    kinesis = harness.client(box.url)
    streams = [harness.new_stream(kinesis, 2) for _ in range(2)]
    for stream in streams:
        harness.Producer(kinesis, stream).put_all(20)
    with tempfile.TemporaryDirectory() as folder:
        apps = [App(box.url, stream, folder) for stream in streams]
        code, out, err = apps[0].ask("--lag-over", "1h")
        expect((code, out) == (1, "") and "there is no lease file" in err, f"{code} {err}")
        for app in apps:
            app.work(20)
        time.sleep(2.5)
        code, out, err = apps[0].ask("--lag-over", "0s", streams[1])
        expect((code, err) == (0, "") and out.count("all at the tip") == 2, f"{code} {out} {err}")
        row = kinesis.put_record(StreamName=streams[1], Data=b"one", PartitionKey="a")
        time.sleep(3.5)
        number = str(int(row["ShardId"][-12:]))
        code, out, err = apps[0].ask("--lag-over", "1s", streams[1])
        expect(code == 7 and err.count("\n") == 1, f"{code} {err}")
        expect(f"stream-tail: {streams[1]}: lag above 1s, or unknown: {number} (" in err, err)
        expect("tip" in out and out.count("SHARD") == 2, out)  # what is shown is the same
        expect(apps[0].ask("--lag-over", "1h", "-J", streams[1])[::2] == (0, ""), "an hour")
        # What is not known is told, and a shard whose place is gone.
        code, _, err = apps[0].ask("--lag-over", "1h", "--no-read", "-G", "nobody")
        expect(code == 1 and "there is no application nobody" in err, f"{code} {err}")
        box.faults("* GetRecords * error AccessDeniedException:400")
        code, _, err = apps[0].ask("--lag-over", "1h")
        expect(code == 7 and "0 (unknown), 1 (unknown)" in err, f"{code} {err}")
        box.clear_faults()
        # Whoever breaks it off has not been told that all is well.
        box.faults("* GetRecords * delay 600000")
        running = Running([*apps[0].place, "--leases", "--lag-over", "1h", streams[0]], apps[0].env)
        time.sleep(1)
        running.signal(2)
        expect(running.process.wait(10) == 1, "interrupted")
        box.clear_faults()
        for bad in ("", "5", "m", "-1s", "1s2m", "5 m"):
            code, out, err = apps[0].ask("--lag-over", bad)
            expect((code, out) == (2, "") and "is not a length of time" in err, f"{bad}: {code} {err}")


def peer(tests, server):
    """Servers that are not ours: the first record that waits counts, whatever they make of MillisBehindLatest."""
    kinesis = harness.client(server.url)
    stream = harness.new_stream(kinesis, 2)
    producer = harness.Producer(kinesis, stream)

    def lags():
        with tempfile.TemporaryDirectory() as folder:
            app = App(server.url, stream, folder)
            producer.put_all(20)
            app.work(20, number=signal.SIGTERM)
            expect({row["state"] for row in app.shards().values()} == {"free"}, f"{app.shards()}")
            now = datetime.datetime.now(datetime.timezone.utc)
            expect(check_lags(kinesis, app, app.shards(), now) == 0, "nothing waits")
            producer.put_all(20)
            time.sleep(2)
            now = datetime.datetime.now(datetime.timezone.utc)
            expect(check_lags(kinesis, app, app.shards(), now) == 2, "both wait")
    tests.run(f"{server.name}: a dead fleet", lags)


def main():
    tests = Tests()
    with servers.Sandbox(2, OPTIONS) as box:
        jobs = [(f"a dead fleet, {schema}", dead_fleet, box, schema) for schema in SCHEMAS]
        jobs += [(f"a living fleet, {schema}", living_fleet, box, schema) for schema in SCHEMAS]
        jobs += [("changes of a table", table, box), ("beyond what is kept", troubled, beyond), ("what is not known", troubled, unknown),
                 ("too far behind", troubled, over), ("children without a lease", children, box), ("more than there is time for", many, box)]
        tests.side_by_side([lambda job=job: tests.run(*job) for job in jobs], at_once=4)
    for kind in (servers.Kinesalite, servers.KinesisMock, servers.Moto):
        tests.with_server(kind, lambda tests, server: peer(tests, server))
    tests.end()


if __name__ == "__main__":
    main()
