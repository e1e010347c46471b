"""Fleets of real processes: starts, harms and collects them, and looks at their lease table while they run. What they did is
handed to fleet_judge.py."""

import base64
import collections
import http.client
import json
import os
import random
import selectors
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
import urllib.parse

import cpu_waits
import harness
import servers
from fleet_judge import Deed, History, Line, Row, Sample, judge
from harness import Failed, catches, expect
from valve import Valves

LOOK_S = 0.1  # between two looks at the whole table
QUERIES_MAX = 4
QUERY_HEADERS = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810.Query",
                 "X-Amz-Date": "20260101T000000Z",
                 "Authorization": "AWS4-HMAC-SHA256 Credential=123456789012/20260101/us-east-1/dynamodb/aws4_request, "
                                  "SignedHeaders=host;x-amz-date, Signature=" + "0" * 64}
MACHINE_STOOD_S = 0.25  # when even a thread that only reads pipes did not run for so long, workers may have been late too
# A worker that waited for a CPU for this share of its lease within a lease may lose it, or be too late for what it says at its end.
# So may all when a server waited so long.
WAITED_SHARE = 0.25
WORKERS = set()  # the process ids of all that were started


def block_main():
    """A worker as a user writes it, who stamps each record as it is handed over."""
    path = os.environ.get("SLOOP_TEST_FLEET_BLOCK",
                          os.path.join(servers.ROOT, "build", "test", "process", "fleet_block_main"))
    if not os.access(path, os.X_OK):
        raise servers.Missing(f"{path} is not built")
    return path


def is_worker(pid):
    """Also of another fleet of this test."""
    return pid in WORKERS


class Collector:
    """Reads the pipes of all workers on one thread, and knows of each chunk when it can have been written at the earliest
    and at the latest."""

    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.lock = threading.Lock()
        self.chunks = []  # (pipe's number, early, late, bytes)
        self.pauses = []  # (begin, end): the machine stood
        self.ended = threading.Event()
        self.left = 0
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def add(self, pipe, number):
        os.set_blocking(pipe.fileno(), False)
        with self.lock:
            self.left += 1
            self.selector.register(pipe, selectors.EVENT_READ, {"number": number, "empty": time.monotonic()})

    def take(self, key):
        """Everything that is there. False: nobody can write any more."""
        while True:
            before = time.monotonic()
            try:
                data = os.read(key.fileobj.fileno(), 1 << 20)
            except BlockingIOError:
                key.data["empty"] = before
                return True
            if not data:
                return False
            self.chunks.append((key.data["number"], key.data["empty"], time.monotonic(), data))

    def work(self):
        last = time.monotonic()
        while not self.ended.is_set():
            with self.lock:
                keys = list(self.selector.get_map().values())
            began = time.monotonic()
            if began - last > MACHINE_STOOD_S:
                self.pauses.append((last, began))
            last = began
            if not keys:
                time.sleep(0.02)  # no process yet
                continue
            ready = {key.fd for key, _ in self.selector.select(0.02)}
            for key in keys:
                if key.fd not in ready:
                    key.data["empty"] = max(key.data["empty"], began)
                elif not self.take(key):
                    with self.lock:
                        self.selector.unregister(key.fileobj)
                        self.left -= 1

    def drained(self):
        return self.left == 0

    def close(self):
        self.ended.set()
        self.thread.join(10)
        self.selector.close()


class Life:
    """A process of a worker."""

    def __init__(self, number, worker, argv, env):
        self.number, self.worker, self.argv = number, worker, argv
        self.err = tempfile.TemporaryFile()
        self.began = time.monotonic()
        self.process = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.err,
                                        preexec_fn=servers.die_with_parent)
        WORKERS.add(self.process.pid)

    def stderr(self):
        at = os.fstat(self.err.fileno()).st_size
        return os.pread(self.err.fileno(), at, 0).decode("utf-8", "replace")

    def ended(self):
        return self.process.poll() is not None


def data_of(record):
    if "hex" in record:  # of fleet_block_main.c
        return bytes.fromhex(record["hex"])
    if "change" in record:
        return record["id"].encode()
    if "payload_b64" in record:
        return base64.b64decode(record["payload_b64"], validate=True)
    return record["payload"].encode("utf-8")


class Fleet:
    """Workers w0, w1, ... of one application. records, leases: URLs of the services, or a store "sqlite:FILE" in place of
    the latter. With valves, each worker's way to each service goes through its own."""

    def __init__(self, records, leases, stream, size, lease_ms=2000, app=None, valves=False, knobs=(), checkpoint_ms=500,
                 poll_ms=500, table="leases", program=None, verbose=True):
        self.records, self.leases, self.stream, self.size, self.lease_ms = records, leases, stream, size, lease_ms
        self.app = app or f"app-{random.getrandbits(32):08x}"
        self.sqlite = leases.removeprefix("sqlite:") if leases.startswith("sqlite:") else None
        self.table = table
        self.knobs = [f"lease_ms={lease_ms}", f"checkpoint_ms={checkpoint_ms}", f"poll_ms={poll_ms}", *knobs]
        self.program, self.verbose = program, verbose
        self.names = [f"w{i}" for i in range(size)]
        self.programs = {}  # worker -> what it is in place of stream-tail
        self.lives, self.now = [], {}  # all; worker -> its present life
        self.history = History()
        self.valves = self.make_valves() if valves else None
        self.collector = None
        self.parsed, self.rest = 0, {}  # chunks taken; pipe's number -> a line that has begun
        self.seen = set()  # (shard, place)
        self.events = []  # lines of fleet_block_main.c that are no records
        self.extra_env = {}  # worker -> {name: value}
        self.looks = None
        self.dynamodb = None  # made when it is asked for
        self.waits = None  # for a CPU: of workers, by their names, and of servers
        self.connections = threading.local()  # to the lease table
        self.first_shards = None  # those without a parent, until each of them has its row; then empty

    def make_valves(self):
        services = {f"{name}.records": self.records for name in self.names}
        if not self.sqlite:
            services.update({f"{name}.leases": self.leases for name in self.names})
        return Valves(services)

    def __enter__(self):
        if self.valves:
            self.valves.__enter__()
        self.collector = Collector()
        self.waits = cpu_waits.Waits(self.processes)
        return self

    def processes(self):
        """{worker: its process id}, and those of the servers of this test."""
        workers = {worker: life.process.pid for worker, life in self.now.items()}
        return {**{f"server {pid}": pid for pid in cpu_waits.family() if not is_worker(pid)}, **workers}

    def __exit__(self, *exception):
        if exception[0] and os.environ.get("SLOOP_TEST_KEEP"):
            self.keep(os.environ["SLOOP_TEST_KEEP"])
        if self.looks:
            self.looks.stop()
        self.waits.stop()
        for life in self.lives:
            if not life.ended():
                life.process.kill()
            life.process.wait()
        harness.wait_until(self.collector.drained, 10, "the pipes are read")
        self.collector.close()
        for life in self.lives:
            life.process.stdin.close()
            life.process.stdout.close()
        if self.valves:
            self.valves.__exit__(*exception)

    def keep(self, folder):
        """For whoever has to find out: what everybody said, was done and stands in the table."""
        os.makedirs(folder, exist_ok=True)
        for life in self.lives:
            with open(os.path.join(folder, f"{self.app}.{life.number:03d}.{life.worker}"), "w", encoding="utf-8") as file:
                file.write(f"from {life.began:.2f}: {life.argv}\n{life.stderr()}")
        with open(os.path.join(folder, f"{self.app}.story"), "w", encoding="utf-8") as file:
            file.writelines(f"{deed} to {deed.end:.2f}\n" for deed in self.history.deeds)
            file.writelines(f"{row}: {item}\n" for row, item in sorted(self.look_at_all().items()))
            file.writelines(f"{line.late:.2f} {line}\n" for line in self.read())
            missing = {shard: [place for place in places if (shard, place) not in self.seen]
                       for shard, places in self.history.truth.items()}
            file.writelines(f"missing of {shard}: {places}\n" for shard, places in missing.items() if places)
            last = {}
            for sample in self.looks.samples if self.looks else ():
                for shard, row in sample.rows.items():
                    if last.get(shard) != row:
                        file.write(f"{sample.early:.2f} {shard}: {row}\n")
                    last[shard] = row

    # ---- workers ---------------------------------------------------------------------------------------------------

    def command(self, worker):
        records = self.valves.url(f"{worker}.records") if self.valves else self.records
        program = self.programs.get(worker, self.program) or servers.binary()
        argv = [program, "-G", self.app, "-o", "oldest", "-J", "-b", records,
                "-X", f"worker={worker}"]
        if self.verbose:
            argv.append("-v")
        if self.sqlite:
            argv += ["--store", self.leases]
        else:
            leases = self.valves.url(f"{worker}.leases") if self.valves else self.leases
            argv += ["--store", f"dynamodb:{self.table}", "-X", f"store_endpoint={leases}"]
        for knob in self.knobs:
            argv += ["-X", knob]
        return [*argv, self.stream]

    def start(self, *workers):
        for worker in workers or self.names:
            env = {**harness.tail_environment(None), **self.extra_env.get(worker, {})}
            life = Life(len(self.lives), worker, self.command(worker), env)
            self.lives.append(life)
            self.now[worker] = life
            self.collector.add(life.process.stdout, life.number)

    def deed(self, kind, worker, begin=None, end=None):
        begin = time.monotonic() if begin is None else begin
        self.history.deeds.append(Deed(kind, worker, begin, begin if end is None else end))
        return self.history.deeds[-1]

    def kill(self, worker):
        """Returns the moment after which it does nothing any more."""
        deed = self.deed("kill", worker)
        self.now[worker].process.kill()
        self.now[worker].process.wait()
        deed.end = time.monotonic()
        return deed.end

    def stop(self, worker):
        deed = self.deed("stop", worker, end=float("inf"))
        self.now[worker].process.send_signal(signal.SIGSTOP)
        return deed

    def go_on(self, worker, deed):
        self.now[worker].process.send_signal(signal.SIGCONT)
        deed.end = time.monotonic()

    def ask_to_leave(self, worker, number):
        """A process that has only begun is given its time: a signal that it does not catch yet just ends it."""
        life = self.now[worker]
        harness.wait_until(lambda: life.ended() or catches(life.process.pid, number), 20, f"{worker} catches signals")
        self.deed("leave", worker)
        life.process.send_signal(number)

    def leave(self, worker, seconds=20, number=signal.SIGTERM):
        """A clean end, which must be one."""
        life = self.now[worker]
        self.ask_to_leave(worker, number)
        try:
            life.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"{worker} still runs {seconds} s after {signal.Signals(number).name}: "
                         f"{life.stderr()[-1500:]}") from None
        expect(life.process.returncode == 0, f"{worker} ended with {life.process.returncode}: {life.stderr()[-1500:]}")

    def leave_all(self, seconds=30):
        """All at once."""
        running = [worker for worker, life in self.now.items() if not life.ended()]
        for worker in running:
            self.ask_to_leave(worker, signal.SIGTERM)
        deadline = time.monotonic() + seconds
        for worker in running:
            life = self.now[worker]
            try:
                life.process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise Failed(f"{worker} still runs {seconds} s after SIGTERM: {life.stderr()[-1500:]}") from None
            expect(life.process.returncode == 0, f"{worker} ended with {life.process.returncode}: {life.stderr()[-1500:]}")

    # ---- the machine -----------------------------------------------------------------------------------------------

    def own_seconds(self, begin, end, workers):
        """Seconds between two moments, less what these workers and the servers waited for a CPU: as on a machine of their own."""
        names = {name for name, _ in self.waits.looks if name in workers or name.startswith("server ")}
        return end - begin - self.waits.within(begin, end, names)

    def stood(self, begin=0.0, end=float("inf")):
        """[(worker or None: all, begin, end)], when workers were kept from running for so long that it shows."""
        lease_s = self.lease_ms / 1000
        found = [(None if name.startswith("server ") else name, since, until)
                 for name, since, until in self.waits.stands(lease_s * WAITED_SHARE, lease_s)]
        found += [(None, since - 1, until + 1) for since, until in self.collector.pauses]
        return [(worker, since, until) for worker, since, until in found if until >= begin and since <= end]

    def all_live_but_killed(self):
        """No worker ended but those that we killed or asked to."""
        for worker, life in self.now.items():
            code = life.process.poll()
            expect(code in (None, -signal.SIGKILL, 0), f"{worker} ended with {code}: {life.stderr()[-1500:]}")

    # ---- their lines -----------------------------------------------------------------------------------------------

    def read(self):
        """All lines so far, in the order each process wrote its own. A last line without its end (killed while writing) is
        no line: it was not acknowledged."""
        while self.parsed < len(self.collector.chunks):
            number, early, late, data = self.collector.chunks[self.parsed]
            self.parsed += 1
            old, begun = self.rest.get(number, (b"", early))
            *lines, rest = (old + data).split(b"\n")
            for i, text in enumerate(lines):
                self.take(text, begun if i == 0 and old else early, late)
            self.rest[number] = (rest, begun if not lines and old else early)
        return self.history.lines

    def take(self, text, early, late):
        record = json.loads(text)
        if "seq" not in record:
            self.events.append(record)
            return
        if "at" in record:  # the program's own stamp, of when it was handed over
            early = late = record["at"] / 1e9
        line = Line(record["worker"], record["epoch"], record["shard"], (int(record["seq"]), record.get("sub", 0)),
                    data_of(record), early, late)
        self.history.lines.append(line)
        self.seen.add((line.shard, line.place))

    def wait_for(self, condition, seconds, what, pause=0.02):
        """As wait_until, and no worker may end meanwhile by itself."""
        def look():
            self.all_live_but_killed()
            self.read()
            return condition()

        try:
            return harness.wait_until(look, seconds, what, pause)
        except Failed as failed:
            raise Failed(f"{failed}\n{self.last_words()}") from None

    def last_words(self):
        """The lines of each worker, but for its figures."""
        said = {worker: [line for line in life.stderr().strip().split("\n") if "records/s" not in line]
                for worker, life in self.now.items()}
        return "\n".join(f"{worker}: {lines[-1] if lines else ''}" for worker, lines in said.items())

    def wait_all(self, truth, seconds):
        """truth(): {shard: {place: data}} that must have come."""
        def all_came():
            return all((shard, place) in self.seen for shard, places in truth().items() for place in places)

        try:
            self.wait_for(all_came, seconds, "everything has come")
        except Failed as failed:
            missing = collections.Counter(shard for shard, places in truth().items() for place in places
                                          if (shard, place) not in self.seen)
            raise Failed(f"{failed}\n{sum(missing.values())} are missing in {len(missing)} shards: "
                         f"{dict(missing.most_common(4))}\n{self.rows_of(missing.most_common(1)[0][0])}") from None

    def rows_of(self, shard):
        return "\n".join(f"{key}: {item}" for key, item in self.look_at_all().items() if key.endswith("l/" + shard))

    # ---- their table -----------------------------------------------------------------------------------------------

    def look_at_all(self):
        """{row: {attribute: value}} of this application; {} while there is no table."""
        if self.sqlite:
            return self.look_into_file()
        found, more = {}, {}
        while True:
            page = self.query({"TableName": self.table, "ConsistentRead": True, "KeyConditionExpression": "app = :a",
                               "ExpressionAttributeValues": {":a": {"S": self.app}}, **more})
            for item in page["Items"]:
                found[item["row"]["S"]] = {name: next(iter(value.values())) for name, value in item.items()}
            if "LastEvaluatedKey" not in page:
                return found
            more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def query(self, asked):
        """The answer to Query, as the service writes it. Tests look ten times a second, and boto3 takes longer for a look than
        the server: it is left out, unless the server checks signatures, which few tests have it do."""
        for attempt in range(QUERIES_MAX):
            connection = self.connections.__dict__.get("table") or http.client.HTTPConnection(
                urllib.parse.urlsplit(self.leases).netloc, timeout=60)
            self.connections.table = connection  # one a thread
            try:
                connection.request("POST", "/", json.dumps(asked), QUERY_HEADERS)
                got = connection.getresponse()
                text = got.read()
            except (OSError, http.client.HTTPException):
                connection.close()
                if attempt + 1 == QUERIES_MAX:
                    raise
                continue
            if got.status == 200:
                return json.loads(text)
            if b"ResourceNotFoundException" in text:
                return {"Items": []}
            if b"InvalidSignatureException" in text:
                return self.client().query(**asked)
        raise Failed(f"the lease table's server answers {got.status}: {text[:300]}")

    def look_into_file(self):
        if not os.path.exists(self.sqlite):
            return {}
        with sqlite3.connect(f"file:{self.sqlite}?mode=ro", uri=True, timeout=10) as db:
            try:
                rows = db.execute("SELECT range, attrs FROM rows WHERE hash = ?", (self.app,)).fetchall()
            except sqlite3.OperationalError:
                return {}
        db.close()
        return {row: {name: next(iter(value.values())) for name, value in json.loads(attrs).items()}
                for row, attrs in rows}

    def client(self):
        """One for all that a test asks: to make a client costs more than a call."""
        if not self.dynamodb:
            self.dynamodb = harness.client(self.leases, "dynamodb")
        return self.dynamodb

    @staticmethod
    def leases_in(rows):
        return {row.split("/l/", 1)[1]: Row(item.get("owner", ""), int(item["epoch"]), item["pos"], item.get("op", ""))
                for row, item in rows.items() if "/l/" in row and "epoch" in item and "pos" in item}

    @staticmethod
    def instances(rows):
        """{worker: instance} of those whose row says they are there."""
        return {row.split("/w/", 1)[1]: f"{row.split('/w/', 1)[1]}.{item['boot']}"
                for row, item in rows.items() if "/w/" in row and "gone" not in item and "boot" in item}

    def leader(self):
        """The worker that leads, or None."""
        for row, item in self.look_at_all().items():
            if row.endswith("/lead") and item.get("owner"):
                return item["owner"].rsplit(".", 1)[0]
        return None

    def watch(self, every=0.15):
        """Looks at the table again and again from now on."""
        self.looks = Looks(self, every)
        return self.looks

    def has_first_rows(self, leases):
        """Whether each shard that the stream began with has had its row. The leader makes rows one by one, and the first of
        them may be shared fairly before the last is there."""
        if self.first_shards is None:
            self.first_shards = self.list_first_shards()
        if self.first_shards <= set(leases):
            self.first_shards = set()
        return not self.first_shards

    def list_first_shards(self):
        if self.stream.startswith("dynamodb:"):
            return set()
        parents = harness.parents_by_listing(harness.list_shards(harness.client(self.records), self.stream))
        return {shard for shard, its_parents in parents.items() if not its_parents}

    def balance(self, workers):
        """{worker: shards} when exactly these workers hold every lease that is not at its end, fairly; else None."""
        held = {worker: [] for worker in workers}
        rows = self.look_at_all()
        living, leases = set(self.instances(rows).values()), self.leases_in(rows)
        if not leases or not self.has_first_rows(leases):
            return None
        for shard, row in leases.items():
            if row.pos == "9:end":
                continue
            worker = row.owner.rsplit(".", 1)[0]
            if worker not in held or row.owner not in living:
                return None
            held[worker].append(shard)
        sizes = [len(shards) for shards in held.values()]
        return held if max(sizes) - min(sizes) <= 1 else None

    def all_owned(self):
        """Every lease that is not at its end is a living worker's."""
        rows = self.look_at_all()
        living, leases = set(self.instances(rows).values()), self.leases_in(rows)
        return leases and all(row.owner in living for row in leases.values() if row.pos != "9:end")

    def wait_balance(self, workers=None, seconds=60):
        workers = workers or [worker for worker, life in self.now.items() if not life.ended()]
        try:
            return self.wait_for(lambda: self.balance(workers), seconds, f"{', '.join(workers)} share the shards", LOOK_S)
        except Failed as failed:
            owned = collections.Counter(row.owner for row in self.leases_in(self.look_at_all()).values()
                                        if row.pos != "9:end")
            raise Failed(f"{failed}\n{dict(owned)}") from None

    def wait_fresh(self, shards, seconds=60):
        """Every one of these shards has given something new."""
        begun = len(self.read())
        self.wait_for(lambda: set(shards) <= {line.shard for line in self.history.lines[begun:]}, seconds,
                      "every shard gives something new")

    # ---- the end ---------------------------------------------------------------------------------------------------

    def judged(self, truth, parents):
        """The verdict; guilty is a failure."""
        if self.looks:
            self.looks.stop()
            self.history.samples = self.looks.samples
        self.read()
        self.history.truth, self.history.parents = truth, parents
        for worker, begin, end in self.stood():
            self.deed("machine", worker, begin, end)
        verdict = judge(self.history)
        expect(not verdict.guilty, f"guilty: {verdict.text()}")
        return verdict


class Looks:
    """Samples of the lease table, taken beside everything else."""

    def __init__(self, fleet, every):
        self.fleet, self.every = fleet, every
        self.samples, self.error = [], None
        self.all = []  # (moment, all rows), thin
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        last = None
        while not self.ended.wait(self.every):
            began = time.monotonic()
            try:
                rows = self.fleet.look_at_all()
            except Exception as error:  # told at the end; a server under load may refuse one look
                self.error = error
                continue
            leases = Fleet.leases_in(rows)
            if leases and leases != last:
                self.samples.append(Sample(began, time.monotonic(), leases))
                last = leases

    def stop(self):
        self.ended.set()
        self.thread.join(30)
        if not self.samples and self.error:
            raise self.error

    def owners_since(self, moment):
        """[(shard, from whom, to whom)], how shards changed their owners since then: between looks that began after it,
        for what changed between an older look and the first of them may have changed before."""
        changes, last = [], {}
        samples = [sample for sample in self.samples if sample.early >= moment]
        expect(len(samples) > 1, f"{len(samples)} looks since then")
        for sample in samples:
            for shard, row in sample.rows.items():
                if row.owner != last.get(shard, row.owner):
                    changes.append((shard, last[shard], row.owner))
                last[shard] = row.owner
        return changes


def truth_of(producer):
    """The records that a harness.Producer put, as the judge wants it."""
    truth = {}
    with producer.lock:
        for (shard, sequence), (_, data) in producer.put.items():
            truth.setdefault(shard, {})[(sequence, 0)] = data
    return truth


def lineage_of(kinesis, stream):
    return harness.parents_by_listing(harness.list_shards(kinesis, stream))


def describe(verdict):
    text = f"{verdict.lines} lines, {verdict.epochs} epochs, {verdict.samples} looks, {verdict.repeats} repeats"
    if verdict.repeats_by_deed:
        text += " (" + ", ".join(f"{deed}: {n}" for deed, n in sorted(verdict.repeats_by_deed.items())) + ")"
    return text
