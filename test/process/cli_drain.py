"""stream-tail --drain, --undrain, --pause and --resume: workers over the sandbox, with rows looked at by boto3 and sqlite3. What
counts is what the workers print: nothing while the application is drained, each record once, all of them in the end. SLOOP_BIN
names the program. SLOOP_TEST_FULL=1: 8 workers, 64 shards, 5,000 records a second."""

import base64
import json
import os
import re
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time

from box import BIN, Box, NO_LIMITS
from command import check, end, environment, equal, main, read_until, test, wait_until

FULL = bool(os.environ.get("SLOOP_TEST_FULL"))
APP = "billing"


class Fleet:
    """Workers of one application, whose lines go to files."""

    def __init__(self, box, folder, *more, own=()):
        """more: options of workers and commands; own: of workers alone."""
        self.box, self.folder, self.more, self.own, self.workers = box, folder, more, own, []

    def start(self, name=None, **streams):
        name = name or f"w{len(self.workers)}"
        path = os.path.join(self.folder, name)
        streams.setdefault("stdout", open(path + ".out", "wb"))  # pylint: disable=consider-using-with
        process = subprocess.Popen([BIN, "-v", "-J", "-u", "-G", APP, "-X", f"worker={name}", "-o", "oldest", *self.more, *self.own,
                                    "demo"],
                                   stdin=subprocess.DEVNULL, stderr=open(path + ".err", "wb"),  # pylint: disable=consider-using-with
                                   env=environment(self.box.env), **streams)
        self.workers.append(process)
        return process

    def lines(self):
        got = []
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(".out"):
                with open(os.path.join(self.folder, name), "rb") as file:
                    got += [line for line in file.read().split(b"\n")[:-1] if line]
        return got

    def payloads(self):
        return [json.loads(line)["payload"] for line in self.lines()]

    def said(self, name):
        with open(os.path.join(self.folder, name + ".err"), encoding="utf-8") as file:
            return file.read()

    def command(self, *args, **more):
        return self.box.tail("-G", APP, *args, *self.more, "demo", **more)

    def rows(self):
        items = self.box.boto3("dynamodb").scan(TableName="sloop", ConsistentRead=True)["Items"]
        return {(row["app"]["S"], row["row"]["S"].partition("/")[2]): {k: next(iter(v.values())) for k, v in row.items()} for row in items}

    def owners(self):
        return {row.get("owner") for (_, name), row in self.rows().items() if name.startswith(("l/", "s/")) and row["pos"] != "9:end"}

    def owned(self):
        """How many leases each owner has, also before there is a table."""
        owners = [row["owner"] for row in map(json.loads, self.command("--leases", "--no-read", "-J").out.splitlines())
                  if row["state"] == "owned"]
        return sorted(owners.count(owner) for owner in set(owners))

    def __enter__(self):
        return self

    def __exit__(self, *what):
        for process in self.workers:
            process.send_signal(signal.SIGCONT) if process.poll() is None else None  # pylint: disable=expression-not-assigned
            end(process)


class Feed(threading.Thread):
    """Puts so many records a second until it is told to stop; all of them are in `put`."""

    def __init__(self, box, rate):
        super().__init__()
        self.box, self.rate, self.put, self.stopping = box, rate, [], False

    def run(self):
        begun = time.monotonic()
        while not self.stopping:
            if len(self.put) > (time.monotonic() - begun) * self.rate:
                time.sleep(0.01)
                continue
            texts = [f"record {len(self.put) + i}" for i in range(min(500, self.rate // 2))]
            answer = self.box.call("PutRecords", StreamName="demo", Records=[
                {"Data": base64.b64encode(t.encode()).decode(), "PartitionKey": f"{hash(t)}"} for t in texts])
            equal(answer["FailedRecordCount"], 0)
            self.put += texts

    def stop(self):
        self.stopping = True
        self.join()


def drained(fleet, shards, workers, **more):
    begun = time.monotonic()
    r = fleet.command("--drain", limit=120, **more)
    seconds = time.monotonic() - begun
    equal((r.code, r.err), (0, ""), r.out)
    check(re.search(rb"drained(?: already)?: %d worker" % workers, r.out) and f"the {shards} shards".encode() in r.out, r.out)
    return seconds


def whole(fleet, truth):
    wait_until(lambda: len(fleet.lines()) >= len(truth), 60, "all records")
    got = fleet.payloads()
    equal(len(got), len(set(got)), "records were repeated")
    equal(sorted(got), sorted(truth))


@test
def nothing_is_read_while_it_is_drained():
    workers, shards, rate = (8, 64, 5000) if FULL else (3, 16, 1000)
    with Box(shards, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder, Fleet(box, folder) as fleet:
        for _ in range(workers):
            fleet.start()
        wait_until(lambda: len(fleet.owners() - {None}) == workers, 30, "all workers read")
        feed = Feed(box, rate)
        feed.start()
        try:
            wait_until(lambda: len(fleet.lines()) > rate, 30, "they read")
            seconds = drained(fleet, shards, workers)
            read, put = len(fleet.lines()), len(feed.put)
            equal(fleet.owners(), {None})
            rows = fleet.rows()
            lead = next(row for (_, name), row in rows.items() if name == "lead")
            equal((lead["hv"], lead["hold"].partition(".")[0]), ("2", "operator"))
            for (_, name), row in rows.items():
                if name.startswith("w/"):
                    equal((row["obeys"], row["held"]), (row["boot"] + ":2", "0"), row)
            newcomer = fleet.start()
            wait_until(lambda: "nothing is read until the application is undrained" in fleet.said(f"w{workers}"), 20, "the new worker waits")
            wait_until(lambda: len(feed.put) > put + 3 * rate, 30, "more records")
            equal(len(fleet.lines()), read)
            equal(fleet.owners(), {None})
            r = fleet.command("--leases")
            equal(r.code, 0, r.err)
            check(b"drained, until --undrain" in r.out and r.out.count(b"drained") == workers + 2, r.out)
            check(any(json.loads(line).get("drain") == "drained" for line in fleet.command("--leases", "-J").out.splitlines()))
            watch = box.start("-G", APP, "--watch=1", "demo")
            try:
                shown = read_until(watch.stdout.fileno(), lambda got: got.count(b"drained, until --undrain") == 2)
            finally:
                end(watch)
            check(shown.count(b" drained ") >= workers + 1, shown)
            r = fleet.command("--explain", "0")
            check(b"the application is drained; --undrain ends that" in r.out, r.out)
            r = fleet.command("--drain")
            equal(r.code, 0, r.err)
            check(b"drained already" in r.out, r.out)
            begun = time.monotonic()
            r = fleet.command("--undrain")
            equal((r.code, r.err), (0, ""), r.out)
            check(b"not drained any more" in r.out, r.out)
            wait_until(lambda: len(fleet.lines()) > read, 30, "they go on")
            again = time.monotonic() - begun
            r = fleet.command("--undrain")
            check(r.code == 0 and b"not drained: " in r.out, r.out, r.err)
        finally:
            feed.stop()
        whole(fleet, feed.put)
        wait_until(lambda: None not in fleet.owners() and len(fleet.owners()) == workers + 1, 30, "the new one has its share")
        equal(newcomer.poll(), None)
        print(f"     {workers} workers, {shards} shards, {rate} records/s: drained in {seconds:.2f} s, the first record {again:.2f} s after "
              f"--undrain; {len(feed.put)} records, 0 repeats\n", end="", flush=True)


@test
def the_silent_are_evicted():
    """One worker is killed, one stands still: the drain waits for a lease, and evicts both. When the second goes on, it reads
    nothing, joins again and waits as the others do."""
    with Box(6, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder, Fleet(box, folder, "-X", "lease_ms=3000") as fleet:
        one, two, _ = (fleet.start() for _ in range(3))
        put = box.put(300)
        truth, newest = [text for _, _, text in put], {shard: seq for shard, seq, _ in put}
        wait_until(lambda: len(fleet.lines()) == len(truth) and len(fleet.owners()) == 3, 30, "they read")
        wait_until(lambda: {row["pos"].split(":")[1][3:] for (_, name), row in fleet.rows().items()
                            if name[:2] in ("l/", "s/")} >= set(newest.values()), 20, "the last of each shard is saved")
        one.kill()
        two.send_signal(signal.SIGSTOP)
        drained(fleet, 6, 1)
        truth += [text for _, _, text in box.put(300, start=1000)]
        two.send_signal(signal.SIGCONT)
        wait_until(lambda: fleet.said("w1").count("nothing is read until the application is undrained") == 1, 30, "it joins again")
        equal(len(fleet.lines()), 300)
        r = fleet.command("--undrain")
        equal(r.code, 0, r.err)
        whole(fleet, truth)


@test
def a_worker_whose_output_is_full():
    """What is out is waited for; who still has some when the time is up is named, and the application stays drained."""
    with Box(2, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        with Fleet(box, folder, own=("-X", "handover_ms=60000", "-X", "buffered_bytes_max=1048576")) as fleet:
            slow = fleet.start(stdout=subprocess.PIPE)
            box.put(3000, size=1000)
            wait_until(lambda: len(fleet.owners() - {None}) == 1, 30, "it reads")
            time.sleep(1)
            r = fleet.command("--drain", "--timeout", "4")
            equal(r.code, 1, r.out, r.err)
            check(b"demo: w0." in r.out and b"may still read" in r.out, r.out)
            check("1 worker has not stopped reading in time; the application stays drained" in r.err, r.err)
            got = []
            reader = threading.Thread(target=lambda: got.extend(slow.stdout))
            reader.start()
            drained(fleet, 2, 1)
            read = len(got)
            time.sleep(1)
            equal(len(got), read)
            equal(fleet.command("--undrain").code, 0)
            wait_until(lambda: len(got) >= 3000, 30, "the rest")
            equal(len({json.loads(line)["payload"] for line in got}), 3000)
            equal(len(got), 3000)
            slow.kill()
            reader.join()


class Stuck:
    """A worker whose reader takes nothing: records of every shard are out, and stay out."""

    def __init__(self, fleet):
        self.fd, write = os.pipe()
        self.process = fleet.start("stuck", stdout=write)
        os.close(write)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.process.kill()
        os.close(self.fd)


@test
def what_is_told_while_a_worker_has_not_stopped():
    """Its records are out: nobody says that the application is drained or the shard paused, and each lag is at least the age of
    what was put."""
    with Box(3, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        with Fleet(box, folder, "-X", "lease_ms=2000") as fleet, Stuck(fleet):
            wait_until(lambda: fleet.owned() == [3], 30, "it reads")
            box.put(3000, size=500)
            begun = time.monotonic()

            def lags():
                before = (time.monotonic() - begun) * 1000
                rows = [json.loads(line) for line in fleet.command("--leases", "--no-read", "-J").out.splitlines()]
                told = [row["behind_ms"] for row in rows if "behind_ms" in row]
                return len(told) == 4 and all(ms is not None and ms >= before - 50 for ms in told), told, before

            wait_until(lambda: lags()[0] and lags()[2] > 2000, 30, "all is out, and none of it is taken")
            r = fleet.command("--drain", "--timeout", "3")
            equal(r.code, 1, r.out)
            good, *shown = lags()
            check(good, *shown)
            state = [json.loads(line)["state"] for line in box.tail("--apps", "-J").out.splitlines()]
            equal((state, b"; draining" in fleet.command("--leases").out), (["draining"], True))
            equal(fleet.command("--undrain").code, 0)
            r = fleet.command("--pause", "0", "--timeout", "3")
            equal((r.code, r.out), (1, b"shardId-000000000000: marked as paused; its owner may read it until it gives it up\n"))
            said = fleet.command("--explain", "0").out
            check(b"is parked, but its owner stuck." in said, said)


@test
def a_dead_worker_of_a_drained_application():
    """Nobody takes its leases before --undrain. A lease is long enough that the drain is known before it has run out."""
    with Box(4, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        with Fleet(box, folder, "-X", "lease_ms=8000") as fleet:
            fleet.start()
            second = fleet.start()
            wait_until(lambda: fleet.owned() == [2, 2], 30, "both read")
            second.kill()
            second.wait()
            r = fleet.command("--drain")
            equal(r.code, 0, r.err)
            states = {row["shard"]: row["state"] for row in map(json.loads, fleet.command("--leases", "-J").out.splitlines())
                      if "shard" in row}
            check("dead" in states.values(), states)
            for shard in states:
                said = fleet.command("--explain", shard).out.decode().splitlines()
                equal(said[0], f"{shard} is not being read: the application is drained; --undrain ends that", said)
                check(not any("takes it" in line or "free" in line for line in said), said)


@test
def one_shard_is_paused():
    with Box(4, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder, Fleet(box, folder) as fleet:
        fleet.start()
        fleet.start()
        put = box.put(200)
        wait_until(lambda: len(fleet.lines()) == 200 and len(fleet.owners()) == 2, 30, "they read")
        r = fleet.command("--pause", "2")
        equal((r.code, r.err), (0, ""), r.out)
        check(b"shardId-000000000002: paused" in r.out, r.out)
        put += box.put(400, start=1000)
        others = [text for shard, _, text in put if not shard.endswith("2")]
        wait_until(lambda: set(others) <= set(fleet.payloads()), 30, "the other shards")
        time.sleep(1)
        equal(sorted(fleet.payloads()), sorted(others + [text for shard, _, text in put[:200] if shard.endswith("2")]))
        row = next(row for (_, name), row in fleet.rows().items() if name.endswith("2") and name[:2] in ("l/", "s/"))
        check("owner" not in row and row["pause"].startswith("operator."), row)
        check(b"paused already" in fleet.command("--pause", "shardId-000000000002").out)
        check(b"parked" in fleet.command("--leases").out)
        r = fleet.command("--resume", "2")
        equal((r.code, r.err), (0, ""), r.out)
        check(b"resumed" in r.out, r.out)
        whole(fleet, [text for _, _, text in put])
        check(b"not paused already" in fleet.command("--resume", "2").out)
        r = fleet.command("--pause", "17")
        equal(r.code, 5, r.err, r.out)


@test
def leases_in_a_file():
    with Box(3, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "leases.db")
        with Fleet(box, folder, "--store", f"sqlite:{file}") as fleet:
            fleet.start()
            fleet.start()
            truth = [text for _, _, text in box.put(100)]
            wait_until(lambda: len(fleet.lines()) == 100, 30, "they read")
            drained(fleet, 3, 2)
            with sqlite3.connect(file) as db:
                attrs = {row: json.loads(text) for row, text in db.execute("SELECT range, attrs FROM rows")}
            check(all("owner" not in row for name, row in attrs.items() if "/l/" in name), attrs)
            check(all(row["obeys"]["S"].endswith(":2") for name, row in attrs.items() if "/w/" in name), attrs)
            truth += [text for _, _, text in box.put(100, start=500)]
            time.sleep(2)
            equal(len(fleet.lines()), 100)
            equal(fleet.command("--undrain").code, 0)
            whole(fleet, truth)


@test
def all_workers_are_stopped_while_it_is_drained():
    """The drain outlives the workers: who comes then waits, until it is ended."""
    with Box(2, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder, Fleet(box, folder) as fleet:
        first = fleet.start()
        truth = [text for _, _, text in box.put(50)]
        wait_until(lambda: len(fleet.lines()) == 50, 30, "it reads")
        drained(fleet, 2, 1)
        first.send_signal(signal.SIGINT)
        equal(first.wait(20), 0)
        fleet.start("later")
        wait_until(lambda: "nothing is read until the application is undrained" in fleet.said("later"), 20, "it waits")
        truth += [text for _, _, text in box.put(50, start=100)]
        time.sleep(2)
        equal(len(fleet.lines()), 50)
        equal(fleet.command("--undrain").code, 0)
        whole(fleet, truth)


@test
def what_can_not_be_drained():
    with Box(1, *NO_LIMITS) as box:
        r = box.tail("--drain", "demo")
        equal((r.code, r.out), (2, b""), r.err)
        check("--drain needs -G APP" in r.err, r.err)
        r = box.tail("-G", "nobody", "--drain", "demo")
        equal(r.code, 1, r.err)
        for schema in ("kcl", "vmware-go-kcl", "kinsumer", "motorway", "kcl-rb"):
            box.put(3)
            r = box.tail("-G", f"app-{schema}", "-X", f"schema={schema}", "-o", "oldest", "-e", "-X", "poll_ms=200", "demo", limit=60)
            equal(r.code, 0, schema, r.err)
            r = box.tail("-G", f"app-{schema}", "-X", f"schema={schema}", "--drain", "demo")
            equal((r.code, r.out), (2, b""), schema, r.err)
            check("can't say that an application is drained: stop its workers instead; nothing was changed" in r.err, r.err)
            r = box.tail("-G", f"app-{schema}", "-X", f"schema={schema}", "--pause", "0", "demo")
            equal(r.code, 2, schema, r.err)
            check("can't say that a shard is paused" in r.err, r.err)


main(at_once=1 if FULL else 3)
