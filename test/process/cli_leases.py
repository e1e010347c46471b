"""stream-tail -G and the commands about leases, on real fleets: workers in processes of their own share the sandbox's
stream, with leases in its DynamoDB or in a SQLite file. SLOOP_BIN names the program."""

import base64
import fcntl
import gzip
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time

import cpu_waits
from box import BIN, Box, NO_LIMITS, SANITIZED
from command import Watch, check, end, environment, equal, main, read_some, read_until, run, test, wait_until
from terminal import AS_A_JOB, SIGNALS_THAT_CRASH, Terminal, job_of, stopped

QUICK = ("-X", "lease_ms=2000", "-X", "checkpoint_ms=500", "-X", "poll_ms=200")


class Worker:
    """stream-tail -G with its output in a file."""

    def __init__(self, box, folder, name, *args, stream="demo", store=()):
        self.name, self.path = name, os.path.join(folder, name)
        with open(self.path, "wb") as out:
            self.process = box.start("-G", "app", "-J", "-v", "-X", f"worker={name}", *QUICK, *store, *args, stream, stdout=out)

    def records(self):
        with open(self.path, "rb") as f:
            whole = f.read().rpartition(b"\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    def leave(self, limit=12):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(limit)
        return self.process.stderr.read().decode()


class Fleet:
    """Workers on a sandbox, ended whatever happens."""

    def __init__(self, box, *names, args=("-o", "oldest"), store=(), stream="demo"):
        self.box, self.store, self.stream = box, store, stream
        self.folder = tempfile.TemporaryDirectory()
        self.workers = {}
        for name in names:
            self.add(name, *args)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        for worker in self.workers.values():
            if worker.process.poll() is None and stopped(worker.process.pid):
                worker.process.send_signal(signal.SIGCONT)
            end(worker.process)
        self.folder.cleanup()

    def add(self, name, *args):
        self.workers[name] = Worker(self.box, self.folder.name, name, *args, store=self.store, stream=self.stream)
        return self.workers[name]

    def command(self, *args):
        return self.box.tail(*args, "-G", "app", *self.store, self.stream)

    def table(self):
        r = self.command("--leases", "-J")
        equal((r.code, r.err), (0, ""))
        return [json.loads(line) for line in r.out.splitlines()]

    def shards(self):
        return {row["shard"]: row for row in self.table() if "shard" in row}

    def held(self):
        """How many shards each living worker reads."""
        held = {}
        for row in self.shards().values():
            if row["owner"] and row["state"] == "owned":
                name = row["owner"].rpartition(".")[0]
                held[name] = held.get(name, 0) + 1
        return held

    def wait_held(self, **want):
        def are():
            try:
                return self.held() == want
            except AssertionError:  # there is no table yet
                return False
        wait_until(are, 30, f"shards held by {want}")

    def records(self):
        return [r for worker in self.workers.values() for r in worker.records()]

    def wait_records(self, put):
        wait_until(lambda: len({r["payload"] for r in self.records()}) >= len(put), 30, f"{len(put)} records")


def by_text(records):
    return sorted(r["payload"] for r in records)


@test
def two_workers_share_and_none_repeats_what_the_other_read():
    with Box(4, *NO_LIMITS) as box, Fleet(box, "one", "two") as fleet:
        fleet.wait_held(one=2, two=2)
        put = box.put(400)
        fleet.wait_records(put)
        check(all(fleet.workers[n].records() for n in ("one", "two")))
        for name in ("one", "two"):
            check(all(r["worker"].startswith(name + ".") and r["epoch"] >= 1 for r in fleet.workers[name].records()))
        said = fleet.workers["one"].leave()
        equal(fleet.workers["one"].process.returncode, 0, said)
        read = len(fleet.workers["one"].records())
        check(re.search(rf"stopped after {read} records of .*; the next worker of app that reads these shards continues from here",
                        said), read, said)
        check("lease taken, epoch" in said and "is registered" in said and "has left" in said, said)
        fleet.wait_held(two=4)
        put += box.put(100, start=400)
        fleet.wait_records(put)
        equal(by_text(fleet.records()), sorted(p[2] for p in put))


@test
def a_new_worker_goes_on_where_the_last_one_left():
    with tempfile.TemporaryDirectory() as folder:
        for store in ((), ("--store", "sqlite:" + os.path.join(folder, "leases"))):
            with Box(2, *NO_LIMITS) as box, Fleet(box, "one", store=store) as fleet:
                put = box.put(100)
                fleet.wait_records(put)
                fleet.workers["one"].leave()
                put += box.put(50, start=100)
                fleet.add("two", "-o", "latest")  # only a new application begins there
                fleet.wait_records(put)
                equal(by_text(fleet.records()), sorted(p[2] for p in put), store)


def stopped_with_a_reader_that_stands_still(box, stream, args):
    """The whole records that the reader got, what is said, and how long the end took."""
    p = box.start("-G", stream, "-J", "-o", "oldest", *QUICK, *args, stream)
    try:
        got = read_some(p.stdout.fileno())
        time.sleep(0.3)  # the pipe is full again: it stands still in the middle of a batch, and of a record
        begun = time.monotonic()
        p.send_signal(signal.SIGTERM)
        equal(p.wait(14), 0)
        seconds = time.monotonic() - begun
        got += p.stdout.read()
        return [json.loads(line) for line in got.rpartition(b"\n")[0].splitlines()], p.stderr.read().decode(), seconds
    finally:
        end(p)


@test
def what_was_written_before_a_stop_never_comes_again():
    with Box(2, *NO_LIMITS) as box:
        for number, args in enumerate((schema + order + batch for schema in ((), ("-X", "schema=kcl"))
                                       for order in ((), ("--order", "shard")) for batch in ((), ("-X", "batch_records_max=10")))):
            stream = f"stream-{number}"
            box.make_stream(stream, 2)
            put = box.put(400, stream, size=4000)
            first, said, seconds = stopped_with_a_reader_that_stands_still(box, stream, args)
            check(0 < len(first) < 400, args, len(first))
            # It says that the leases were given up, at once and not when their time is over; so they were.
            check("continues from here" in said and "before the leases" not in said, args, said)
            check(seconds < 4, args, seconds)
            r = box.tail("--leases", "-J", "-G", stream, *args[:2] * ("schema=kcl" in args), stream)
            rows = [json.loads(line) for line in r.out.splitlines()]
            # A worker that has left holds nothing, whatever the rows of the shards say.
            left = [None] + [row["worker"] for row in rows if row.get("state") == "left"]
            equal([(row["owner"] in left, row["state"]) for row in rows if "shard" in row], [(True, "free")] * 2, args, r.out,
                  r.err)
            r = box.tail("-G", stream, "-J", "-c", str(400 - len(first)), *QUICK, *args, stream)
            equal(r.code, 0, args, r.err)
            second = [json.loads(line) for line in r.out.splitlines()]
            equal(by_text(first + second), sorted(p[2] for p in put), args, len(first), len(second))


@test
def what_a_slow_reader_has_taken_of_a_batch_is_saved_before_the_batch_is_over():
    with Box(1, *NO_LIMITS) as box:
        put = box.put(200, size=4000)  # one batch
        p = box.start("-G", "app", "-J", "-o", "oldest", *QUICK, "demo")
        try:
            got = b""
            while got.count(b"\n") < 50:
                got += read_some(p.stdout.fileno())

            def saved():
                rows = [json.loads(line) for line in box.tail("--leases", "-J", "-G", "app", "demo").out.splitlines()]
                return next(row["position"] for row in rows if "shard" in row).removeprefix("after ")
            numbers = [number for _, number, _ in put]
            wait_until(lambda: saved() in numbers[:100], 10, "saved")
        finally:
            end(p)


@test
def a_stream_that_was_made_anew_begins_as_a_new_one_and_that_is_told():
    words = "rows of an earlier stream of this name are ignored ("
    with Box(1, *NO_LIMITS) as box:
        box.put(5)
        r = box.tail("-G", "app", "-o", "oldest", "-c", "5", "demo", limit=30)
        check(r.code == 0 and words not in r.err, r.err)
        box.call("DeleteStream", StreamName="demo")
        time.sleep(1.2)  # a generation is a second
        wait_until(lambda: "demo" not in box.call("ListStreams")["StreamNames"], 20, "the stream is gone")
        box.make_stream("demo", 1)
        box.put(3)
        for number in range(2):  # the first worker that begins
            r = box.tail("-G", "app", "-o", "oldest", "-c", "3", "--timeout", "3", "demo", limit=30)
            equal((r.out.count(b"record"), words in r.err), (0 if number else 3, not number), r.err)
        r = box.tail("-G", "app", "--leases", "demo", limit=30)
        check(words in r.out.decode(), r.out)


@test
def a_worker_whose_lease_file_is_deleted_says_so_and_ends():
    with Box(1, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        box.put(2)
        p = box.start("-G", "app", "-o", "oldest", "-X", f"store=sqlite:{folder}/leases", *QUICK, "demo")
        try:
            read_until(p.stdout.fileno(), lambda got: got.count(b"\n") >= 2)
            for name in os.listdir(folder):
                os.unlink(f"{folder}/{name}")
            equal(p.wait(15), 1)
            check(f"there is no lease file {folder}/leases" in p.stderr.read().decode())
        finally:
            end(p)


@test
def a_lease_file_at_its_limit_is_told():
    with Box(1, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        r = box.tail("-G", "app", "-o", "oldest", "--store", f"sqlite:{folder}/leases", "--timeout", "3", "demo",
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
        equal(r.code, 1, r.err)
        check(f"lease file {folder}/leases: " in r.err and "File too large" in r.err, r.err)


@test
def an_evicted_worker_prints_no_record_that_it_has_not_begun():
    with Box(2, *NO_LIMITS) as box:
        put = box.put(400, size=4000)
        p = box.start("-G", "app", "-J", "-o", "oldest", "-X", "worker=frozen", *QUICK, "demo")
        fleet = None
        try:
            got = read_some(p.stdout.fileno())
            time.sleep(0.3)  # the pipe is full, and a megabyte of text or more is to come
            p.send_signal(signal.SIGSTOP)
            fleet = Fleet(box, "other")
            fleet.wait_held(other=2)
            in_pipe = fcntl.ioctl(p.stdout.fileno(), termios.FIONREAD, b"1234")
            p.send_signal(signal.SIGCONT)
            got += os.read(p.stdout.fileno(), int.from_bytes(in_pipe, sys.byteorder))
            mark = len(got)
            deadline = time.monotonic() + 4
            while time.monotonic() < deadline:
                if select.select([p.stdout], [], [], 0.2)[0]:
                    got += os.read(p.stdout.fileno(), 1 << 16)
            p.send_signal(signal.SIGINT)
            got += p.stdout.read()
            equal(p.wait(14), 0)
            said = p.stderr.read().decode()
            check("considered dead" in said, said)
            # The rest of the record that was begun comes, so that lines stay whole; of its old leases nothing else does.
            rest = got[mark:].partition(b"\n")[2].splitlines()
            equal([r for r in map(json.loads, rest) if r["worker"] == json.loads(got.partition(b"\n")[0])["worker"]], [])
            first = [json.loads(line)["payload"] for line in got.splitlines()]
            fleet.wait_records(put[len(first):])
            equal(set(first) | {r["payload"] for r in fleet.records()}, {x[2] for x in put})
        finally:
            if p.poll() is None:
                p.send_signal(signal.SIGCONT)
            end(p)
            if fleet:
                fleet.__exit__()


def peak_mb(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmHWM:\s+(\d+) kB", f.read())[1]) >> 10


def put_bombs(box, n):
    """Records of 560 bytes that unpack twice to 250 MB."""
    bomb = base64.b64encode(gzip.compress(gzip.compress(bytes(250_000_000), 9), 9)).decode()
    for _ in range(n):
        box.call("PutRecord", StreamName="demo", PartitionKey="k", Data=bomb)


@test
def records_that_unpack_to_gigabytes_cost_nobody_his_lease():
    # A sanitized program takes some five times as long for a record, in which nothing else is done.
    slowed = ("-X", "lease_ms=10000") if SANITIZED else ()
    with Box(1, *NO_LIMITS) as box:
        put_bombs(box, 40)
        for app, args, limit_mb in (("bounded", (), 100),
                                     ("not", ("-X", "decoded_bytes_max=268435456"), 900)):
            p = box.start("-G", app, "-v", "-E", "-o", "oldest", "-s", "gzip,gzip", "--grep", "((.?){20}.{20})*[y-z]{3}", *QUICK,
                          *slowed, *args, "demo", stdout=subprocess.DEVNULL)
            waits = cpu_waits.Waits(lambda: {pid: pid for pid in cpu_waits.family()})
            try:
                def position():
                    r = box.tail("--leases", "-J", "-G", app, "demo")
                    return [json.loads(line).get("position", "") for line in r.out.splitlines()][:1] if r.code == 0 else []
                # It is saved how far it came while it is at work, a record takes a good part of a second without the bound.
                wait_until(lambda: position() and (position()[0] or "").startswith("after"), 40, "a checkpoint")
                time.sleep(4)
                mb = peak_mb(p)  # while it is there to be asked
                watch = Watch(p)
                p.send_signal(signal.SIGINT)
                equal(watch.wait(), 0)
                check(watch.seconds < 2, watch.seconds)
                if not SANITIZED:
                    check(mb < limit_mb, mb)
                said = p.stderr.read().decode()
                waits.stop()
                # A process that waited for a CPU for a quarter of its lease may lose it, whatever it unpacks.
                stood = waits.stands(0.5, 2.0)
                check(stood or ("can't renew" not in said and "considered dead" not in said), said)
                equal(said.count("lease taken, epoch 1"), 1, said)
                equal("more than 16777216 bytes; see -X decoded_bytes_max" in said, not args, said)
            finally:
                waits.stop()
                end(p)


@test
def a_count_leaves_in_order_and_the_next_goes_on():
    with Box(2, *NO_LIMITS) as box:
        put = box.put(60)
        got = []
        for n in (1, 25, 34):
            r = box.tail("-G", "app", "-J", "-o", "oldest", "-c", str(n), *QUICK, "demo", limit=30)
            equal((r.code, r.err), (0, ""))
            got += [json.loads(line) for line in r.out.splitlines()]
        equal(by_text(got), sorted(p[2] for p in put))


@test
def several_streams_in_one_application():
    with Box(2, *NO_LIMITS, "-X", "sandbox.change_ms=0") as box:
        box.make_stream("other", 2)
        box.make_table("table")
        put = box.put(20) + box.put(20, stream="other", start=20)
        box.dynamodb("PutItem", TableName="table", Item={"id": {"S": "x"}})
        p = box.start("-G", "app", "-J", "-o", "oldest", *QUICK, "demo", "other", "dynamodb:table")
        try:
            got = read_until(p.stdout.fileno(), lambda got: got.count(b"\n") >= 41)
            lines = [json.loads(line) for line in got.splitlines()]
            equal(sorted(r["payload"] for r in lines if "payload" in r), sorted(x[2] for x in put))
            equal([r["event"] for r in lines if "event" in r], ["INSERT"])
            r = box.tail("--leases", "-J", "-G", "app", "demo", "other", "dynamodb:table")
            rows = [json.loads(line) for line in r.out.splitlines()]
            equal({row["stream"] for row in rows if row.get("state") == "owned"}, {"demo", "other", "dynamodb:table"})
            p.send_signal(signal.SIGINT)
            equal(p.wait(12), 0)
        finally:
            end(p)


@test
def leases_are_shown_and_explained():
    with Box(4, *NO_LIMITS) as box, Fleet(box, "one", "two") as fleet:
        fleet.wait_held(one=2, two=2)
        put = box.put(100)
        fleet.wait_records(put)
        r = fleet.command("--leases")
        equal((r.code, r.err), (0, ""))
        shards, workers, sums = r.out.decode().split("\n\n")
        equal([line.split()[:2] for line in shards.splitlines()],
              [["SHARD", "STATE"]] + [[str(i), "owned"] for i in range(4)])
        equal([line.split()[0].rpartition(".")[0] for line in workers.splitlines()[1:]], ["one", "two"])
        check("4 leases: 4 owned\n2 workers" in sums, sums)
        rows = fleet.table()
        equal(len([row for row in rows if "shard" in row]), 4)
        equal(sum(row["leads"] for row in rows if "worker" in row), 1)
        for row in rows:
            if "shard" in row:
                check((row["position"] or "").startswith("after ") or row["position"] == "oldest", row)
                check(row["written_at"] > time.time() * 1000 - 60000, row)
        owner = fleet.shards()["shardId-000000000002"]["owner"]
        for name in ("2", "shardId-000000000002", "0002"):
            r = fleet.command("--explain", name)
            equal((r.code, r.err), (0, ""))
            check(r.out.decode().startswith(f"shardId-000000000002 is being read by {owner}"), r.out)
        r = fleet.command("--explain", "77")
        equal((r.code, r.out), (5, b""))
        check("shardId-000000000077" in r.err and r.err.count("\n") == 1, r.err)


@test
def leases_are_released():
    with Box(2, *NO_LIMITS) as box, Fleet(box, "one", "two") as fleet:
        fleet.wait_held(one=1, two=1)
        r = fleet.command("--release", "1")  # from a living one: no
        equal((r.code, r.out), (4, b""), r.err)
        r = fleet.command("--release", "nobody")
        equal((r.code in (5, 6), r.out), (True, b""), r.err)
        before = {row["shard"]: row["epoch"] for row in fleet.shards().values()}
        r = fleet.command("--release", "one")
        equal(r.code, 0, r.err)
        check(b"one" in r.out, r.out)
        fleet.wait_held(one=1, two=1)  # it has joined anew
        wait_until(lambda: any(row["epoch"] > before[row["shard"]] for row in fleet.shards().values()), what="a new owner")
        put = box.put(50)
        fleet.wait_records(put)


def lease_rows(box, schema):
    """Shard -> row of the lease table as boto3 reads it."""
    table, key = {"kcl": ("app", "leaseKey"), "sloop": ("sloop", "row")}[schema]
    items = box.boto3("dynamodb").scan(TableName=table, ConsistentRead=True)["Items"]
    rows = [{name: next(iter(value.values())) for name, value in item.items()} for item in items]
    return {row[key].rpartition("/")[2]: row for row in rows if "shardId-" in row[key]}


def keeps_its_leases(schema, owner_is, kept):
    """Of all that the two commands can be asked, only force or a worker's name may touch what a living worker has."""
    with Box(2, *NO_LIMITS) as box, Fleet(box, "one", store=("-X", f"schema={schema}")) as fleet:
        put = box.put(50)
        fleet.wait_records(put)
        fleet.wait_held(one=2)
        def saved():
            return all((row["position"] or "").startswith("after") for row in fleet.shards().values())
        wait_until(saved, 20, "saved")
        before = lease_rows(box, schema)
        owner, = {row[owner_is] for row in before.values()}
        for what in (("--release", "0"), ("--reset", "0", "--to", "oldest"), ("--reset", "all", "--to", "latest")):
            r = fleet.command(*what)
            equal((r.code, r.out), (4, b""), f"{what}: {r.err} {r.out}")
            check("alive" in r.err and owner in r.err, r.err)
        after = lease_rows(box, schema)
        for shard, row in before.items():
            equal({name: after[shard].get(name) for name in kept}, {name: row.get(name) for name in kept})
        fleet.workers["one"].process.kill()
        fleet.workers["one"].process.wait()
        r = fleet.command("--release", "0", "-X", "lease_ms=2000")
        equal(r.code, 0, r.err)
        after = lease_rows(box, schema)
        equal([owner_is in after[f"shardId-00000000000{i}"] for i in (0, 1)], [False, True])
        equal({shard: row[kept[1]] for shard, row in after.items()}, {shard: row[kept[1]] for shard, row in before.items()})
        fleet.add("two")
        fleet.wait_held(two=2)
        r = fleet.command("--release", "two" if schema == "sloop" else lease_rows(box, schema)["shardId-000000000001"][owner_is])
        equal(r.code, 0, r.err)
        check(b"two." in r.out, r.out)
        r = fleet.command("--reset", "all", "--to", "oldest", "--force")
        equal(r.code, 0, r.err)
        wait_until(lambda: len(fleet.workers["two"].records()) >= 50, 20, "all of them again")


@test
def a_living_worker_keeps_its_leases():
    keeps_its_leases("sloop", "owner", ("owner", "pos", "epoch"))


@test
def a_living_worker_keeps_its_leases_in_a_table_of_the_kcl():
    keeps_its_leases("kcl", "leaseOwner", ("leaseOwner", "checkpoint", "checkpointSubSequenceNumber"))


class GoFleet:
    """Tables of kinsumer as its Go clients write them: whole rows, {"NULL": true} for what is not there. One client lives,
    which writes its own row and none of its shards', for they are idle; another one died a minute ago."""

    def __init__(self, box):
        self.dynamodb, self.ended = box.boto3("dynamodb"), threading.Event()
        for name, key in (("app_checkpoints", "Shard"), ("app_clients", "ID"), ("app_metadata", "Key")):
            self.dynamodb.create_table(TableName=name, KeySchema=[{"AttributeName": key, "KeyType": "HASH"}],
                                       AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"}],
                                       ProvisionedThroughput={"ReadCapacityUnits": 10, "WriteCapacityUnits": 10})
        self.living, self.dead = "0a8f3c1e-5d3b-4f0e-9c55-2f6a7d1b8e90", "f16e9356-51f9-454f-a4bc-00ddb3eec84a"
        shards = [f"shardId-00000000000{i}" for i in range(3)]
        for i, owner in enumerate((self.living, self.dead, None)):
            self.shard(shards[i], owner)
        self.put("clients", 60, ID={"S": self.dead}, Name={"S": "gone"})
        self.put("metadata", 60, Key={"S": "Leader"}, ID={"S": self.living}, Name={"S": "here"})
        self.put("metadata", 60, Key={"S": "ShardCache"}, ShardIDs={"L": [{"S": shard} for shard in shards]})
        self.beat()
        self.thread = threading.Thread(target=self.live, daemon=True)
        self.thread.start()

    def put(self, table, age_s, **row):
        self.dynamodb.put_item(TableName="app_" + table, Item={
            **row, "LastUpdate": {"N": str(time.time_ns() - age_s * 10 ** 9)},
            "LastUpdateRFC": {"S": "Tue, 14 Nov 2023 22:13:20 +0000"}})

    def shard(self, name, owner):
        null = {"NULL": True}
        self.put("checkpoints", 60, Shard={"S": name}, SequenceNumber=null, Finished=null, FinishedRFC=null,
                 OwnerID={"S": owner} if owner else null, OwnerName={"S": "somebody"} if owner else null)

    def beat(self):
        self.put("clients", 0, ID={"S": self.living}, Name={"S": "here"})

    def live(self):
        while not self.ended.wait(0.4):
            self.beat()

    def die(self):
        self.ended.set()
        self.thread.join()

    def rows(self):
        items = self.dynamodb.scan(TableName="app_checkpoints", ConsistentRead=True)["Items"]
        return {item["Shard"]["S"]: item for item in items}


@test
def commands_on_tables_of_kinsumer():
    with Box(3, *NO_LIMITS, "-X", "sandbox.change_ms=0") as box:
        box.put(5)
        go = GoFleet(box)
        def command(*args):
            return box.tail(*args, "-G", "app", "-X", "schema=kinsumer", "-X", "lease_ms=2000", "demo")
        r = command("--leases", "-J")
        equal((r.code, r.err), (0, ""))
        rows = [json.loads(line) for line in r.out.splitlines()]
        equal([(row["owner"], row["state"]) for row in rows if "shard" in row],
              [(go.living, "owned"), (go.dead, "silent"), (None, "free")])
        equal([(row["worker"], row["state"], row["leads"], row["held"], row["host"]) for row in rows if "worker" in row],
              [(go.living, "leads", True, 1, "here"), (go.dead, "silent", False, 1, "gone")])
        for shard, words in (("0", f"is being read by {go.living}"), ("1", f"its owner {go.dead} was last heard"),
                             ("2", f"has no owner; it is assigned to {go.living}")):
            r = command("--explain", shard)
            equal((r.code, r.err), (0, ""))
            check(words in r.out.decode(), r.out)
        # An idle shard's row is old, and its owner lives all the same.
        before = go.rows()
        for what in (("--release", "0"), ("--reset", "0", "--to", "oldest"), ("--reset", "all", "--to", "latest")):
            r = command(*what)
            equal((r.code, r.out), (4, b""), what, r.err)
            check("alive" in r.err and go.living in r.err, r.err)
        equal(go.rows(), before)
        r = command("--reset", "1", "--to", "latest")
        equal(r.code, 0, r.err)
        row = go.rows()["shardId-000000000001"]
        equal((row["SequenceNumber"], "OwnerID" in row), ({"S": "LATEST"}, False))
        r = command("--reset", "0", "--to", "latest", "--force")
        equal(r.code, 0, r.err)
        go.shard("shardId-000000000000", go.living)
        go.die()
        r = command("--release", "0")
        equal(r.code, 0, r.err)
        check("OwnerID" not in go.rows()["shardId-000000000000"])
        go.shard("shardId-000000000000", go.living)
        r = command("--release", go.living)
        equal(r.code, 0, r.err)
        check(f"taken from {go.living}" in r.out.decode(), r.out)
        go.put("clients", 0, ID={"S": "damaged"}, Name={"N": "5"})
        r = command("--leases", "-J")
        check("Name is no text" in r.out.decode(), r.out)
        p = box.start("--watch=1", "-G", "app", "-X", "schema=kinsumer", "demo")
        try:
            got = read_until(p.stdout.fileno(), lambda got: got.count(b" demo for app\n") >= 2)
            p.send_signal(signal.SIGINT)
            equal((p.wait(5), p.stderr.read()), (0, b""))
            check(b"3 leases: 3 free\n" in got and b"here" in got, got)
        finally:
            end(p)


@test
def positions_are_reset():
    with Box(2, *NO_LIMITS) as box, Fleet(box, "one") as fleet:
        put = box.put(50)
        fleet.wait_records(put)
        fleet.wait_held(one=2)
        for what in ("all", "0"):
            r = fleet.command("--reset", what, "--to", "oldest")
            equal((r.code, r.out), (4, b""), r.err)
            check("alive" in r.err, r.err)
        r = fleet.command("--reset", "99", "--to", "oldest")
        equal((r.code, r.out), (5, b""), r.err)
        fleet.workers["one"].leave()
        equal(by_text(fleet.records()), sorted(p[2] for p in put))
        r = fleet.command("--reset", "all", "--to", "oldest")
        equal(r.code, 0, r.err)
        equal({row["position"] for row in fleet.shards().values()}, {"oldest"})
        fleet.add("two")
        wait_until(lambda: len(fleet.workers["two"].records()) == 50, 20, "all of them again")
        # One shard, to a sequence number, while it is being read.
        mine = [p for p in put if p[0] == put[0][0]]
        fleet.wait_held(two=2)
        r = fleet.command("--reset", put[0][0], "--to", mine[-1][1], "--force")
        equal(r.code, 0, r.err)
        wait_until(lambda: [x["payload"] for x in fleet.workers["two"].records()].count(mine[-1][2]) >= 2, 20, "the last one again")


@test
def a_position_has_one_form_and_the_service_is_asked_for_it():
    with Box(1, *NO_LIMITS) as box, Fleet(box, "one") as fleet:
        put = box.put(20)
        fleet.wait_records(put)
        fleet.workers["one"].leave()
        shard, seq = put[10][:2]
        before = fleet.shards()[shard]["position"]
        other = str(int(seq) + (1 << 170))  # of a stream that was made later, by its number
        for to, code in (("1", 1), ("0", 1), (other, 1), ("+" + seq, 2), (" " + seq, 2), (seq + "x", 2), ("9" * 130, 2),
                         (seq + ".4294967296", 2), (seq + ".-1", 2)):
            r = fleet.command("--reset", "0", "--to", to)
            equal((r.code, r.out), (code, b""), (to, r.err))
            check("EPOSITION" in r.err and "nothing was changed" in r.err or code == 2, r.err)
            equal(fleet.shards()[shard]["position"], before)
        for zeros in (4, 1, 80):
            r = fleet.command("--reset", "0", "--to", "0" * zeros + seq)
            equal((r.code, fleet.shards()[shard]["position"]), (0, "at " + seq), r.err)
        fleet.add("two")
        wait_until(lambda: [x["payload"] for x in fleet.workers["two"].records()] == [p[2] for p in put[10:]], 20, "the rest")
        # Where reading begins: in the same form, and what is none ends it with a line that says what to do.
        r = box.tail("-o", f"{shard}:{'0' * 80}{seq}", "-e", "demo")
        equal((r.code, r.out.count(b"\n")), (0, 10), r.err)
        r = box.tail("-o", f"{shard}:1", "-e", "demo")
        equal((r.code, r.out), (1, b""), r.err)
        check("EPOSITION" in r.err and "start elsewhere (-o" in r.err, r.err)
        place = os.path.join(fleet.folder.name, "place")
        token = {"stream_arn": "arn:aws:kinesis:us-east-1:000000000000:stream/demo", "active": [shard], "shards": [
            {"shard_id": shard, "iterator_type": "after_sequence", "sequence_number": "0000" + seq}]}
        for number, code, n in (("0000" + seq, 0, 9), ("1", 1, 0)):
            token["shards"][0]["sequence_number"] = number
            with open(place, "w", encoding="utf-8") as f:
                json.dump(token, f)
            r = box.tail("--save", place, "-e", "demo")
            equal((r.code, r.out.count(b"\n")), (code, n), r.err)
        check("delete that file" in r.err, r.err)


@test
def numbers_of_a_tables_stream_keep_their_digits():
    with Box(1, *NO_LIMITS) as box:
        box.make_table("customers")
        for i in range(6):
            box.dynamodb("PutItem", TableName="customers", Item={"id": {"S": f"c{i}"}})
        r = box.tail("-o", "oldest", "-e", "-J", "dynamodb:customers")
        rows = [json.loads(line) for line in r.out.splitlines()]
        equal(len(rows), 6, r.err)
        mine = [row for row in rows if row["shard"] == rows[0]["shard"]]
        r = box.tail("-o", f"{mine[-1]['shard']}:0000{mine[-1]['seq']}", "-e", "-J", "dynamodb:customers")
        equal([json.loads(line)["seq"] for line in r.out.splitlines()], [mine[-1]["seq"]], r.err)


def a_fleet_whose_position_is_refused(schema):
    table, key, attributes = {
        "sloop": ("sloop", ("app", "row"), {"pos": {"S": "1:0011:0000000000"}}),
        "kcl": ("app", ("leaseKey",), {"checkpoint": {"S": "1"}})}[schema]
    with Box(2, *NO_LIMITS) as box, Fleet(box, "one", store=("-X", "schema=" + schema)) as fleet:
        put = box.put(40)
        fleet.wait_records(put)
        fleet.workers["one"].leave()
        shard, number = put[0][0], put[0][0][-1]  # the other one is read all the while
        mine = sum(p[0] == shard for p in put)
        item = next(i for i in box.dynamodb("Scan", TableName=table)["Items"] if i[key[-1]]["S"].endswith(shard))
        name, value = next(iter(attributes.items()))
        box.dynamodb("UpdateItem", TableName=table, Key={k: item[k] for k in key}, UpdateExpression="SET #a = :v",
                     ExpressionAttributeNames={"#a": name}, ExpressionAttributeValues={":v": value})
        for worker in ("two", "three"):
            fleet.add(worker, "-o", "oldest")
        wait_until(lambda: fleet.shards()[shard]["state"] == "refused", 30, "the refusal")
        time.sleep(10)  # five leases: nobody is to try again
        row = fleet.shards()[shard]
        check(row["state"] == "refused" and 35 < row["refused_until"] / 1000 - time.time() < 60, row)
        r = fleet.command("--explain", number)
        check(b"the service refused its position 1 times" in r.out and f"--reset {number} --to oldest".encode() in r.out, r.out)
        r = fleet.command("--reset", number, "--to", "oldest")
        equal(r.code, 0, r.err)
        wait_until(lambda: len([x for w in ("two", "three") for x in fleet.workers[w].records()]) >= mine, 20, "all of them again")
        check("refused_until" not in fleet.shards()[shard], fleet.shards())
        said = fleet.workers["two"].leave() + fleet.workers["three"].leave()
        equal(said.count("EPOSITION"), 1, said)
        command = {"sloop": f"stream-tail -G app --reset {number} --to oldest demo",
                   "kcl": f"stream-tail -G app -X schema=kcl --reset {number} --to oldest -o oldest demo"}[schema]
        check(command in said, said)


@test
def a_position_that_is_refused_for_good_is_tried_once_and_told_once():
    a_fleet_whose_position_is_refused("sloop")


@test
def a_position_that_is_refused_for_good_is_tried_once_in_a_table_of_the_kcl():
    a_fleet_whose_position_is_refused("kcl")


@test
def where_rows_tell_no_beginning_the_workers_o_says_it():
    with Box(2, *NO_LIMITS) as box, Fleet(box, "one", store=("-X", "schema=vmware-go-kcl")) as fleet:
        put = box.put(50)
        fleet.wait_records(put)
        fleet.workers["one"].leave()
        why = ("not changed: rows of this layout can't store that position; -o says where a shard starts: give the same -o "
               "here and to each worker")
        for what in (("oldest",), ("latest", "-o", "oldest")):
            r = fleet.command("--reset", "all", "--to", *what)
            equal((r.code, r.out.decode()), (1, "".join(f"shardId-00000000000{i}: {why}\n" for i in (0, 1))), r.err)
            check("2 of 2 leases could not be changed" in r.err, r.err)
        r = fleet.command("--reset", "all", "--to", "oldest", "-o", "0:7")
        equal((r.code, r.out), (2, b""), r.err)
        box.admin("/_sandbox/faults", "* UpdateItem * error AccessDeniedException\n")
        r = fleet.command("--reset", "all", "--to", "oldest", "-o", "oldest")
        equal((r.code, r.out.decode()), (1, "".join(f"shardId-00000000000{i}: not changed\n" for i in (0, 1))), r.err)
        check("AccessDeniedException" in r.err, r.err)
        box.admin("/_sandbox/faults", method="DELETE")
        r = fleet.command("--reset", "all", "--to", "oldest", "-o", "oldest")
        equal((r.code, r.out.count(b": set to oldest; it was at after ")), (0, 2), r.err)
        r = fleet.command("--leases", "-o", "oldest")
        check(r.out.count(b" oldest ") == 2, r.out)
        fleet.add("two", "-o", "oldest")
        wait_until(lambda: len(fleet.workers["two"].records()) == 50, 20, "all of them again")


@test
def what_is_not_allowed_is_named():
    with Box(1, *NO_LIMITS) as box:
        box.admin("/_sandbox/faults", "* UpdateItem * error AccessDeniedException\n* PutItem * error AccessDeniedException\n")
        r = box.tail("-G", "app", *QUICK, "demo", limit=30)
        equal((r.code, r.out), (1, b""), r.err)
        check("AccessDeniedException" in r.err and "UpdateItem" in r.err + "PutItem" and "--iam" in r.err, r.err)
        r = box.tail("--leases", "-G", "app", "--store", "dynamodb:nothere", "demo")
        equal((r.code, r.out), (1, b""), r.err)
        check("nothere" in r.err and r.err.count("\n") == 1, r.err)
    r = run(BIN, "-G", "app", "--store", "tape:1", "demo")
    equal((r.code, r.out), (2, b""))
    check("store" in r.err, r.err)


def row_of(terminal, shard):
    return next((line for line in terminal.lines() if re.match(rf"{shard} +(owned|dead|free) ", line)), "")


@test
def watching_a_fleet_on_a_terminal():
    with tempfile.TemporaryDirectory() as folder, Box(6, *NO_LIMITS) as box:
        with Fleet(box, "anna", "bert", "carl", store=("--store", "sqlite:" + os.path.join(folder, "leases"))) as fleet:
            fleet.wait_held(anna=2, bert=2, carl=2)
            env = {**box.env, "LANG": "C.UTF-8"}
            argv = [BIN, "--watch=1", "-G", "app", *fleet.store, "demo"]
            with Terminal([*AS_A_JOB, *argv], env) as t:
                t.wait_for(lambda t: t.frames >= 2, "two frames")
                lines = t.lines()
                equal((len(lines), t.alternate, t.cursor_shown), (24, True, False))
                check(re.fullmatch(r"demo for app +\d\d:\d\d:\d\d, every 1s", lines[0]), lines[0])
                equal(lines[1], "6 leases: 6 owned")
                check(all(row_of(t, str(i)).split()[1] == "owned" for i in range(6)), lines)
                check(all(any(line.startswith(n) for line in lines) for n in ("anna", "bert", "carl")), lines)
                box.put(100)
                fleet.workers["bert"].leave()
                t.wait_for(lambda t: any("bert -> " in line for line in t.lines()), "a move")
                t.wait_for(lambda t: t.lines()[1] == "6 leases: 6 owned" and "bert" not in " ".join(
                    row_of(t, str(i)) for i in range(6)), "new owners")
                check(re.match(r"[2-9] moves in the last minute", t.lines()[3]), t.lines())
                # Killed: its shards are nobody's for a while.
                fleet.workers["carl"].process.kill()
                t.wait_for(lambda t: all(" anna " in row_of(t, str(i)) for i in range(6)), "one who has all")
                t.resize(120, 40)
                t.wait_for(lambda t: t.lines()[39].startswith("q quit "), "a larger picture")
                t.resize(60, 12)
                t.screens[True] = {}
                t.wait_for(lambda t: t.lines()[11].startswith("q quit ") and any(" more, " in x for x in t.lines()), "a smaller one")
                # Somebody else has the terminal for a while.
                job = job_of(t.process)
                for _ in range(2):
                    t.type(b"\x1a")
                    wait_until(lambda: stopped(job), what="its stop")
                    t.look()
                    t.check_given_back()
                    t.type(b"\n")
                    t.wait_for(lambda t: t.alternate and t.lines()[11].startswith("q quit "), "it again")
                t.type(b"\x03")
                equal(t.finish(), (0, ""))
                t.check_given_back()


@test
def a_watch_that_nobody_could_continue_is_not_stopped():
    """ssh -t and xterm -e start it without a shell; and who ignores a Ctrl-Z wants nothing to be stopped by it."""
    with Box(1, *NO_LIMITS) as box, Fleet(box, "one") as fleet:
        fleet.wait_held(one=1)
        argv = [BIN, "--watch=1", "-G", "app", "demo"]
        for command, ignoring in ((argv, ()), (argv, (signal.SIGTSTP,)), ([*AS_A_JOB, *argv], (signal.SIGTSTP,))):
            with Terminal(command, box.env, ignoring=ignoring) as t:
                t.wait_for(lambda t: t.frames >= 1, "a frame")
                for _ in range(2):
                    frames = t.frames
                    t.type(b"\x1a")
                    t.wait_for(lambda t, n=frames: t.frames >= n + 3 and t.alternate, "three more")
                t.type(b"\x03")
                equal(t.finish()[0], 0)
                t.check_given_back()


@test
def a_watch_gives_the_terminal_back_on_every_way_out():
    with Box(2, *NO_LIMITS) as box, Fleet(box, "one") as fleet:
        fleet.wait_held(one=2)
        for number in (signal.SIGTERM, signal.SIGHUP, *SIGNALS_THAT_CRASH):
            with Terminal([BIN, "--watch", "-G", "app", "demo"], box.env) as t:
                t.wait_for(lambda t: t.frames >= 1 and t.alternate, "a frame")
                t.process.send_signal(number)
                equal(t.finish()[0], -number if number in SIGNALS_THAT_CRASH else 0, number)
                t.check_given_back()
        # The first failure is told where it can be seen, a later one on the screen.
        with Terminal([BIN, "--watch", "-G", "app", "--store", "dynamodb:nothere", "demo"], box.env) as t:
            status, said = t.finish()
            equal((status, t.frames), (1, 0))
            check("nothere" in said, said)
            t.check_given_back()
        with Terminal([BIN, "--watch=1", "-G", "app", "demo"], box.env) as t:
            t.wait_for(lambda t: t.frames >= 1, "a frame")
            box.admin("/_sandbox/faults", "* Query * error AccessDeniedException\n")
            t.wait_for(lambda t: "permission" in t.lines()[23], "the trouble")
            equal(t.lines()[1], "2 leases: 2 owned")
            t.type(b"\x03")
            equal(t.finish(), (0, ""))
            t.check_given_back()


@test
def watching_without_a_terminal():
    with Box(2, *NO_LIMITS) as box, Fleet(box, "one") as fleet:
        fleet.wait_held(one=2)
        p = box.start("--watch=1", "-G", "app", "demo")
        try:
            got = read_until(p.stdout.fileno(), lambda got: got.count(b" demo for app\n") >= 3)
            p.send_signal(signal.SIGINT)
            equal((p.wait(5), p.stderr.read()), (0, b""))
            check(b"\x1b" not in got and got.count(b"2 leases: 2 owned\n") >= 2, got)
        finally:
            end(p)
        p = subprocess.Popen(f"{BIN} --watch=1 -G app demo | head -3", shell=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=environment(box.env))
        out, err = p.communicate(timeout=20)
        equal((out.count(b"\n"), err), (3, b""))


@test
def a_watch_outlives_what_something_else_answers():
    """A proxy, say, for as long as a look takes to give up."""
    with Box(1, *NO_LIMITS) as box, Fleet(box, "one") as fleet:
        fleet.wait_held(one=1)
        p = box.start("--watch=1", "-G", "app", "demo")
        try:
            read_until(p.stdout.fileno(), lambda got: got.count(b" demo for app\n") >= 2)
            box.admin("/_sandbox/faults", "* * * html\n")
            said = read_until(p.stderr.fileno(), lambda got: got.count(b"is the endpoint (-b") >= 2)
            check(p.poll() is None, said)
            box.admin("/_sandbox/faults", method="DELETE")
            read_until(p.stdout.fileno(), lambda got: got.count(b" demo for app\n") >= 2)
            p.send_signal(signal.SIGINT)
            equal(p.wait(5), 0)
        finally:
            end(p)


main(at_once=4)
