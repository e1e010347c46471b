"""What a worker and an operator's commands say in fourteen situations in which records wait, held against what is
known: boto3 puts the records, this program makes the trouble and counts what it was given. /ready, /metrics, --leases,
--watch, --explain and -v are asked at the same moments; what they say must be true, and none may contradict another.

Some of them are played with leases in a table of the KCL and with records pushed as well.

As a test it looks after 4 and 9 seconds, with the span of /ready shortened. By hand, with everything as a user has it (four
minutes), and test/process/SITUATIONS.md written from what was said:

  python3 test/process/venv.py test/process/situations.py --seconds 10,60,180 [--write] [--only NAME]
"""

import concurrent.futures
import copy
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import urllib.error
import urllib.request

import cpu_waits
import harness
import servers
from harness import Tests, expect, wait_until
from valve import Valves

SECONDS = 90  # a deadline
LOOK_S = 0.1  # between two looks at whether all is well: fourteen situations look at once
SANDBOX = ("sandbox.write_bytes_per_second=0", "sandbox.write_records_per_second=0", "sandbox.reads_per_second=0")
SHARDS = ("shardId-000000000000", "shardId-000000000001")
FILLER = "x" * 1500
PUT_EVERY = 0.5
LEASE_S = 10
WIDTH = 100  # below the width from which --watch has more columns
# What everybody is given, and what the worker is given beside it.
WAYS = {"sloop": (("-G", "app"), ()), "kcl": (("-G", "app", "-X", "schema=kcl"), ()),
        "push": (("-G", "app"), ("-X", "retrieval=push")), "kinesis-mock": (("-G", "app"), ())}


class Look:
    """What all views say at one moment, and what is known."""

    def __init__(self, mark):
        self.mark = mark
        self.before = self.after = self.ready = self.page = self.metrics = self.v = self.watch = None
        self.leases = self.json = self.explain = self.explain_1 = None
        self.ages_at = self.alive = self.stands = None
        self.late = 0.0  # it was asked so many seconds after the mark
        self.own = mark  # seconds since the trouble, less what worker and servers waited for a CPU


def get(url):
    """(status, text), or (None, why there is no answer)."""
    try:
        with urllib.request.urlopen(url, timeout=3) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except urllib.error.URLError as error:
        return None, "no answer" if isinstance(error.reason, TimeoutError) else "refused: nobody listens"
    except (TimeoutError, OSError):
        return None, "no answer"


def page_of(text):
    """{name: {labels that differ: value}}"""
    found = {}
    for name, labels, value in re.findall(r"^(sloop_\w+)\{(.*)\} (\S+)$", text, re.M):
        differ = tuple(re.findall(r'(?:shard|state|error|lag)="([^"]*)"', labels))
        found.setdefault(name, {})[differ] = float(value)
    return found


class Puts:
    """boto3 puts a record into each shard every half second; each is known with the times between which it arrived."""

    def __init__(self, kinesis, stream, shards=SHARDS):
        self.kinesis, self.stream, self.shards = kinesis, stream, shards
        self.records = {shard: [] for shard in SHARDS}  # (sequence number, before, after), oldest first
        self.lock, self.stopping = threading.Lock(), threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)

    def forget(self):
        """What was put is trimmed away."""
        with self.lock:
            self.records = {shard: [] for shard in SHARDS}

    def put(self, shard):
        before = time.time()
        row = self.kinesis.put_record(StreamName=self.stream, Data=FILLER.encode(), PartitionKey="k",
                                      ExplicitHashKey=str(SHARDS.index(shard) << 127))
        expect(row["ShardId"] == shard, f"{row}")
        with self.lock:
            self.records[shard].append((row["SequenceNumber"], before, time.time()))

    def work(self):
        while not self.stopping.wait(PUT_EVERY):
            for shard in self.shards:
                self.put(shard)

    def stop(self):
        self.stopping.set()
        if self.thread.ident:
            self.thread.join(20)

    def all(self, shard):
        with self.lock:
            return list(self.records[shard])


class Reader:
    """Reads what a worker prints: as it comes, slowly, or not at all."""

    def __init__(self, pipe):
        self.pipe, self.seqs, self.line_bytes = pipe, {shard: [] for shard in SHARDS}, 1
        self.order = []
        self.pause, self.lock = 0.0, threading.Lock()
        self.may_read = threading.Event()
        self.may_read.set()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        while True:
            self.may_read.wait()
            line = self.pipe.readline()
            if not line:
                return
            if not line.endswith(b"\n"):
                return  # its writer was killed
            row = json.loads(line)
            with self.lock:
                self.seqs[row["shard"]].append(row["seq"])
                self.line_bytes = len(line)
            time.sleep(self.pause)

    def taken(self, shard):
        with self.lock:
            return set(self.seqs[shard])

    def in_pipe(self):
        """Whole records that were written and not read: all lines have the same length."""
        room = struct.unpack("i", fcntl.ioctl(self.pipe.fileno(), termios.FIONREAD, b"\0\0\0\0"))[0]
        return room // self.line_bytes + 1


class Screen:
    """--watch on a terminal of its own; the last frame that it drew whole."""

    def __init__(self, env, arguments):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
        self.process = subprocess.Popen([servers.binary(), *arguments], env={**env, "TERM": "xterm", "LC_ALL": "C.UTF-8"},
                                        stdin=slave, stdout=slave, stderr=slave, preexec_fn=servers.die_with_parent)
        os.close(slave)
        self.frame, self.at, self.text = "", 0.0, ""
        self.trouble = ""
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        while True:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            if not data:
                return
            self.text += data.decode("utf-8", "replace")
            *whole, self.text = re.split(r"(?<=\x1b\[J)|(?<=\x1b\[K)(?=\x1b\[H)", self.text)
            for part in whole:
                clean = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", part).replace("\r", "")
                if "Ctrl-C ends" in clean:
                    self.frame, self.at, self.trouble = clean, time.time(), ""

    def last(self):
        """The frame, and the line of trouble over its last one."""
        found = re.findall(r"\x1b\[24;1H([^\x1b]*)\x1b\[K", self.text)
        lines = [line.rstrip() for line in self.frame.splitlines() if line.strip()]
        return lines[:-1] + ([found[-1].strip()] if found else [])

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


class World:
    """A sandbox, a stream of two shards, an application of one worker, and whoever looks at it."""

    def __init__(self, unready_s, way):
        self.unready_s, (self.app, self.of_worker) = unready_s, WAYS[way]
        self.box = servers.Sandbox(2, SANDBOX)
        self.box.__enter__()
        self.mock = None
        self.stream = "demo"
        self.env = harness.tail_environment(self.box.url)
        self.kinesis_url = self.box.url
        if way == "kinesis-mock":
            self.begin_mock()
        self.kinesis = harness.client(self.kinesis_url)
        self.puts = Puts(self.kinesis, self.stream)
        self.workers, self.readers, self.said_files, self.urls = [], [], [], []
        self.screen = self.valves = None
        self.taken_before = set()  # by a program that does not say what it takes

    def begin_mock(self):
        """The stream is another server's; the leases stay in the sandbox."""
        self.mock = servers.KinesisMock()
        self.mock.__enter__()
        self.kinesis_url = self.env["AWS_ENDPOINT_URL_KINESIS"] = self.mock.url
        kinesis = harness.client(self.mock.url)
        kinesis.create_stream(StreamName=self.stream, ShardCount=2)
        harness.wait_active(kinesis, self.stream, SECONDS)

    def start_worker(self, *more, env=None):
        said = tempfile.TemporaryFile()
        worker = subprocess.Popen(
            [servers.binary(), "-v", "-J", "-o", "oldest", *self.app, *self.of_worker, "-X", f"worker=w{len(self.workers) + 1}",
             "-X", f"unready_ms={int(self.unready_s * 1000)}", "--metrics", "127.0.0.1:0", *more, self.stream],
            env=env or self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said,
            preexec_fn=servers.die_with_parent)
        fcntl.fcntl(worker.stdout.fileno(), 1031, 4096)  # F_SETPIPE_SZ
        self.workers.append(worker)
        self.said_files.append(said)
        self.readers.append(Reader(worker.stdout))
        self.urls.append(wait_until(lambda: re.search(r"metrics at (\S+)/metrics", self.said(-1)), SECONDS, "its port").group(1))

    def said(self, which=0):
        with open(f"/proc/self/fd/{self.said_files[which].fileno()}", "rb") as file:
            return file.read().decode("utf-8", "replace")

    def last_of_v(self, which=0):
        lines = [line for line in self.said(which).splitlines() if re.search(r"\d+ shards (polled|pushed), ", line)]
        return lines[-1] if lines else ""

    def tail(self, *arguments):
        done = harness.tail([*self.app, *arguments, self.stream], self.env, SECONDS)
        return done.code, (done.out + done.err).decode("utf-8", "replace")

    def is_well(self, which=0):
        """Ready, at the tip, and nothing that says otherwise."""
        if get(self.urls[which] + "/ready") != (200, "ready\n"):
            return False
        now = page_of(get(self.urls[which] + "/metrics")[1])
        return (now.get("sloop_behind_seconds") == {(): 0} and
                [state for _, state in now.get("sloop_shard_state_seconds", {})] == ["at_tip"] * 2)

    def begin(self, *more, env=None):
        for shard in SHARDS:
            self.puts.put(shard)
        self.start_worker(*more, env=env)
        wait_until(self.is_well, SECONDS, "all is well before", LOOK_S)
        if self.app == WAYS["sloop"][0]:  # else a row may know no lag yet, and --explain not say how far behind it is
            dynamodb = harness.client(self.box.url, "dynamodb")  # for all looks: to make one costs more than a look
            wait_until(lambda: self.all_lags_are_stored(dynamodb), SECONDS, "each row tells how far behind it is", LOOK_S)

    def all_lags_are_stored(self, dynamodb):
        rows = dynamodb.scan(TableName="sloop", ConsistentRead=True)["Items"]
        return all("lag" in row for row in rows if "/l/" in row["row"]["S"])

    def begin_program(self):
        """The same by a program with the library, which is told what to do."""
        path = os.environ.get("SLOOP_TEST_METRICS") or os.path.join(servers.ROOT, "build", "test", "process", "metrics_main")
        if not os.access(path, os.X_OK):
            raise servers.Missing(f"{path} is not built")
        for shard in SHARDS:
            self.puts.put(shard)
        self.said_files.append(tempfile.TemporaryFile())
        program = subprocess.Popen(
            [path, "listen=127.0.0.1:0", "app=app", "worker=w1", f"unready_ms={int(self.unready_s * 1000)}", self.stream],
            env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said_files[0],
            preexec_fn=servers.die_with_parent)
        self.workers.append(program)
        self.urls.append(program.stdout.readline().decode().split()[1].rsplit("/metrics", 1)[0])
        threading.Thread(target=program.stdout.read, daemon=True).start()
        self.order("start")
        wait_until(self.is_well, SECONDS, "all is well before", LOOK_S)
        for shard in SHARDS:
            self.taken_before |= {row[0] for row in self.puts.all(shard)}

    def order(self, text):
        self.workers[0].stdin.write(text.encode() + b"\n")
        self.workers[0].stdin.flush()

    def watch(self):
        self.screen = Screen(self.env, [*self.app, "--watch", self.stream])

    def close(self):
        self.puts.stop()
        if self.screen:
            self.screen.close()
        for process in self.workers:
            if process.poll() is None:
                process.kill()
            process.wait()
        for file in self.said_files:
            file.close()
        if self.valves:
            self.valves.__exit__()
        if self.mock:
            self.mock.__exit__()
        self.box.__exit__()

    # ---- what is known

    def age_bounds(self, shard):
        """Between which ages, in seconds, the oldest record is that was not acknowledged; (0, 0): all are."""
        taken = set(self.taken_before)
        for reader in self.readers:
            taken |= reader.taken(shard)
        waiting = [row for row in self.puts.all(shard) if row[0] not in taken]
        if not waiting:
            return 0.0, 0.0
        unread = waiting[0]
        skip = sum(reader.in_pipe() for reader in self.readers) + 1 if self.piped() else 0
        least = waiting[min(skip, len(waiting) - 1)] if skip < len(waiting) else None
        now = time.time()
        return (now - least[2] if least else 0.0), now - unread[1]

    def age_at(self, shard, position):
        """Between which ages the first record behind a position is."""
        rows = self.puts.all(shard)
        if position.startswith("after "):
            rows = [row for row in rows if int(row[0]) > int(position.split()[1])]
        return (time.time() - rows[0][2], time.time() - rows[0][1]) if rows else (0.0, 0.0)

    def piped(self):
        return any(not reader.may_read.is_set() or reader.pause for reader in self.readers)

    def bounds(self):
        both = [self.age_bounds(shard) for shard in SHARDS]
        return {shard: one for shard, one in zip(SHARDS, both)}


# ---- looking ------------------------------------------------------------------------------------------------------


def look(world, mark, which):
    now, began = Look(mark), time.time()
    now.before = world.bounds()
    jobs = {"ready": lambda: get(world.urls[which] + "/ready"),
            "page": lambda: get(world.urls[which] + "/metrics"),
            "v": lambda: world.last_of_v(which),
            "leases": lambda: world.tail("--leases"),
            "json": lambda: world.tail("--leases", "-J"),
            "explain": lambda: world.tail("--explain", "0"),
            "explain_1": lambda: world.tail("--explain", "1"),
            "watch": world.screen.last}
    with concurrent.futures.ThreadPoolExecutor(len(jobs)) as pool:
        running = {name: pool.submit(job) for name, job in jobs.items()}
        for name, future in running.items():
            setattr(now, name, future.result())
    now.after = world.bounds()
    asked_s = time.time() - began
    now.ages_at = lambda shard, position: (world.age_at(shard, position)[0] - asked_s, world.age_at(shard, position)[1])
    now.alive = world.workers[which].poll() is None
    now.metrics = page_of(now.page[1]) if now.page[0] == 200 else {}
    return now


# ---- what must be true ----------------------------------------------------------------------------------------------

POLL = 2.5  # a record is not known before the next poll, answers are a second fresh, and times of the service whole seconds
SLACK = 1.1
FRAME = 2.5  # the age of a frame of --watch


def seconds_of(text):
    """Of "912ms", "7s", "3m": the least and the most that it stands for."""
    number, unit = re.fullmatch(r"<?(\d+)(ms|s|m|h)", text).groups()
    each = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[unit]
    most = int(number) * each
    return (most, most) if text.startswith("<") else (most, most + each)


def check_metrics(now, wrong):
    """The page, within itself and against what is known."""
    page = now.metrics
    behind = page.get("sloop_shard_behind_seconds", {})
    states = {shard: state for shard, state in page.get("sloop_shard_state_seconds", {})}
    for (shard,), value in behind.items():
        least, most = now.before[shard][0] - POLL, now.after[shard][1] + POLL
        if not least <= value <= most:
            wrong(f"{shard} is {value} s behind, not {least:.1f} to {most:.1f}")
        at_tip = page["sloop_shard_at_tip"][(shard,)]
        if at_tip and (value or states[shard] != "at_tip"):
            wrong(f"{shard} is at its tip, {value} s behind and {states[shard]}")
    total = page.get("sloop_behind_seconds", {}).get(())
    shut = sum(page.get(name, {}).get((), 0) for name in ("sloop_parked", "sloop_refused"))
    if total is not None and behind and abs(total - max(behind.values())) > 0.1:
        wrong(f"{total} s behind, and its shards {behind}")
    if (total is None) != ("sloop_behind_unknown_seconds" in page) or (shut and total is not None):
        wrong("the lag is known and unknown")
    if bool(page["sloop_ready"][()]) != (now.ready[0] == 200):
        wrong(f"sloop_ready is {page['sloop_ready']} and /ready {now.ready}")


def check_v(now, wrong):
    """The last line is up to a second older than the page."""
    total = now.metrics.get("sloop_behind_seconds", {}).get(())
    told = re.search(r"(at the tip|lag not known|(\d+) (ms|s) behind)", now.v)
    if not told or not now.metrics:
        return
    if told[2] is None:
        if ("not known" in told[1]) != (total is None) or (total or 0) > POLL:
            wrong(f"-v says {told[1]}, the page {total}")
    elif total is None or abs(int(told[2]) / (1000 if told[3] == "ms" else 1) - total) > POLL:
        wrong(f"-v says {told[1]}, the page {total}")


def late(now, least):
    """By how much what rows tell may be too small: once nothing is read, they grow from what was known then."""
    return SLACK if now.stands and least > POLL + LEASE_S / 3 else POLL


def check_rows(now, wrong):
    """--leases: what is at most so much is no less, what was read is so much, and what is at its tip was so within half a
    lease."""
    code, text = now.json
    if code:
        return
    for row in map(json.loads, text.splitlines()):
        if "shard" not in row:
            continue
        least, most = now.before[row["shard"]][0], now.after[row["shard"]][1]
        if row["lag"] == "read":  # at the position, which may be behind what the worker has done
            least, most = now.ages_at(row["shard"], row["position"])
        if row["state"] == "dead":  # nobody is there to evict it
            wrong(f"--leases calls {row['owner']} dead")
        lag = None if row["behind_ms"] is None else row["behind_ms"] / 1000
        if lag is None:
            if row["lag"] not in ("trimmed", "gone", "refused", "failed"):
                wrong(f"--leases does not know the lag of {row['shard']}: {row['lag']}")
        elif lag == 0:
            if least > LEASE_S / 2 + POLL:
                wrong(f"--leases: {row['shard']} at its tip, and a record waits {least:.1f} s")
        elif not (least - late(now, least) <= lag and (row["behind_at_most"] or lag <= most + POLL)):
            wrong(f"--leases: {row['shard']} {lag} s behind, not {least:.1f} to {most:.1f}")


def check_screen(now, wrong):
    """--watch, up to a frame old."""
    least = min(low for low, _ in now.before.values())
    for line in now.watch:
        cells = line.split()
        if len(cells) < 5 or cells[0] not in ("0", "1") or cells[1] not in ("owned", "dead", "silent", "free", "parked", "refused"):
            continue
        if cells[4] == "tip":
            if least > LEASE_S / 2 + POLL + FRAME:
                wrong(f"--watch: at its tip, and a record waits {least:.1f} s: {line}")
        elif cells[4] != "-" and seconds_of(cells[4])[1] < least - late(now, least) - FRAME:
            wrong(f"--watch: {line}, and a record waits {least:.1f} s")
    if any("all at the tip" in line for line in now.watch) and least > LEASE_S / 2 + POLL + FRAME:
        wrong("--watch: all at the tip")


def check_explain(now, wrong):
    """A shard that does not get on is not called being read."""
    for shard, (_, text) in zip(SHARDS, (now.explain, now.explain_1)):
        least = now.before[shard][0]
        if re.search(r" is being read by ", text):
            most = re.search(r"behind: at most (\S+) by now", text)
            if most and seconds_of(most[1])[1] < least - late(now, least):
                wrong(f"--explain: {most[0]}, and a record waits {least:.1f} s")
            if not most and least > LEASE_S / 2 + POLL:
                wrong(f"--explain: being read, and a record waits {least:.1f} s")
            if most and least > 45 and now.stands:
                wrong(f"--explain: being read, and nothing was read for {least:.1f} s")


VIEWS = (check_metrics, check_v, check_rows, check_screen, check_explain)


def judge(situation, now, unready_s, wrong):
    for check in VIEWS:
        if check in (check_metrics, check_v) and not now.metrics:
            continue
        check(now, wrong)
    states = {shard: state for shard, state in now.metrics.get("sloop_shard_state_seconds", {})}
    wanted = situation.states(now)
    if wanted is not None and now.metrics and not all(re.fullmatch(wanted[shard], states.get(shard, "none")) for shard in SHARDS):
        wrong(f"the states are {states}, not {wanted}")
    since, why = situation.unready(now, unready_s)
    slow_s = max(high for _, high in now.after.values()) - max(high for _, high in now.before.values())
    if now.mark > since + 3 and now.ready[0] == 200:
        wrong(f"/ready: {now.ready}")
    if now.mark + max(slow_s, 0) + now.late < since - 1 and now.ready[0] not in (200, None):
        wrong(f"/ready, too soon: {now.ready}")
    if now.ready[0] == 503 and not re.search(why, now.ready[1]):
        wrong(f"/ready: {now.ready}, not {why}")
    said = situation.explains(now)
    if said and now.rows_tell and not re.search(said, now.explain[1]):
        wrong(f"--explain: {now.explain[1]}, not {said}")


# ---- the situations -----------------------------------------------------------------------------------------------

NEVER = 1e9


class Situation:
    """Of a worker that reads, unless it says otherwise."""

    name = known = "?"
    which = 0     # the worker that is looked at
    stands = True  # nothing is read

    def begin(self, world):
        world.begin()

    def trouble(self, world):
        raise NotImplementedError

    def mend(self, world):
        world.box.clear_faults()

    def states(self, now):
        """What each shard's state may be."""
        return None

    def unready(self, now, unready_s):
        """From when on /ready says no, and why."""
        return NEVER, "."

    def explains(self, now):
        return None


def both(state):
    return {shard: state for shard in SHARDS}


class Stuck(Situation):
    name, known = "reader stuck", "nobody reads the worker's output"

    def trouble(self, world):
        world.readers[0].may_read.clear()

    def mend(self, world):
        world.readers[0].may_read.set()

    def states(self, now):
        # Until the pipe is full all goes on, and a shard may wait for an answer to the other one.
        return both("waiting_for_user|reading|at_tip|waiting_for_shard" if now.own < 5 else "waiting_for_user")

    def unready(self, now, unready_s):
        return unready_s + 3, r"has waited \d+ s for this program to finish with records"

    def explains(self, now):
        return "makes no progress" if now.mark > 45 else None


class Slow(Situation):
    name, known, stands = "reader slow", "a line a second is read, four come", False

    def trouble(self, world):
        world.readers[0].pause = 1.0

    def mend(self, world):
        world.readers[0].pause = 0.0

    def states(self, now):
        return both("waiting_for_user|reading|at_tip|waiting_for_shard")

    def unready(self, now, unready_s):  # what a pipe takes at once is written at once, and then nothing for some seconds
        return (NEVER if unready_s > 20 else now.mark), r"has waited \d+ s for this program to finish with records"


class Fault(Situation):
    def __init__(self, name, fault, error):
        self.name, self.fault, self.error, self.known = name, fault, error, f"`{fault}`"

    def trouble(self, world):
        world.box.faults(self.fault)

    def states(self, now):
        return both("failing")

    def unready(self, now, unready_s):
        return unready_s + 2, rf"has failed for \d+ s: {self.error}"

    def explains(self, now):
        return "makes no progress" if now.mark > 45 else None


class NetworkGone(Situation):
    """Of the worker's machine; whoever looks has another way."""

    name, known = "network gone", "what the worker sends or is sent is swallowed; commands have a way of their own"
    services = ("KINESIS", "DYNAMODB")

    def begin(self, world):
        urls = {"KINESIS": world.kinesis_url, "DYNAMODB": world.box.url}
        world.valves = Valves({name: urls[name] for name in self.services})
        world.valves.__enter__()
        world.begin(env={**world.env, **{f"AWS_ENDPOINT_URL_{name}": world.valves.url(name) for name in self.services}})

    def trouble(self, world):
        for name in self.services:
            world.valves.turn(name, "hole")

    def mend(self, world):
        for name in self.services:
            world.valves.turn(name, "open")

    def states(self, now):
        return both("suspended" if now.mark > LEASE_S - 1 else "suspended|failing|reading|at_tip|waiting_for_shard")

    def unready(self, now, unready_s):
        return LEASE_S * 0.8, "suspended: this worker can't renew its leases"

    def explains(self, now):
        return "is not being read: its owner .* (was last heard|is dead)" if now.mark > LEASE_S + 5 else None


class StreamGone(NetworkGone):
    name, known = "the stream does not answer", "the same, of the stream alone: the lease table answers"
    services = ("KINESIS",)

    def states(self, now):
        return both("failing" if now.mark > 5 else "failing|reading|at_tip")

    def unready(self, now, unready_s):
        return unready_s + 5, r"has failed for \d+ s: no answer"

    def explains(self, now):
        return "makes no progress" if now.mark > 45 else None


class Suspended(NetworkGone):
    name, known = "suspended", "the same, of the lease table alone: the stream answers"
    services = ("DYNAMODB",)


class TableGone(NetworkGone):
    name, known, services = "lease table gone", "the table was deleted", ()

    def begin(self, world):
        world.begin()

    def trouble(self, world):
        harness.client(world.box.url, "dynamodb").delete_table(TableName="sloop")

    def explains(self, now):
        return "there is no table .* or it was deleted"


class Frozen(NetworkGone):
    name, known, services = "worker stopped (SIGSTOP)", "the process stands", ()

    def begin(self, world):
        world.begin()

    def trouble(self, world):
        world.workers[0].send_signal(signal.SIGSTOP)

    def mend(self, world):
        world.workers[0].send_signal(signal.SIGCONT)


class Dead(Frozen):
    name, known = "fleet dead", "the only worker was killed"

    def trouble(self, world):
        world.workers[0].kill()

    def mend(self, world):
        world.start_worker()
        self.which = 1


class Paused(Situation):
    name, known = "paused", "a program with libsloop called sloop_pause(); -v is stream-tail's alone"

    def begin(self, world):
        world.begin_program()

    def trouble(self, world):
        world.order("pause")

    def mend(self, world):
        world.order("resume")

    def states(self, now):
        return both("paused")

    def explains(self, now):
        return "makes no progress" if now.mark > 45 else None


class Parked(Situation):
    name, known, which = "parked", "what the worker should go on from was trimmed, and on_trimmed is stop", 1

    def begin(self, world):
        world.begin()
        world.workers[0].send_signal(signal.SIGTERM)
        world.workers[0].wait(20)
        for shard in SHARDS:
            world.puts.put(shard)
        time.sleep(0.1)
        world.box.admin("POST", f"trim?stream={world.stream}&before={int(time.time() * 1000)}")
        world.puts.forget()
        time.sleep(0.1)
        for shard in SHARDS:
            world.puts.put(shard)

    def trouble(self, world):
        world.start_worker("-X", "on_trimmed=stop")
        wait_until(lambda: "parked" in world.tail("--leases", "--no-read")[1], SECONDS, "it is parked")

    def mend(self, world):
        for shard in ("0", "1"):
            code, text = world.tail("--reset", shard, "--to", "oldest")
            expect(code == 0, text)

    def states(self, now):
        return both("parked")

    def unready(self, now, unready_s):
        return 2, "is parked: no worker reads it until it is released"

    def explains(self, now):
        return "is parked: no worker reads it until it is released"


class Order(Situation):
    name, known = "waiting for another shard", f"calls for {SHARDS[0]} fail, and order_wait_ms is max"

    def begin(self, world):
        world.begin("-X", "order_wait_ms=max")

    def trouble(self, world):
        world.box.faults(f"* GetRecords {SHARDS[0]} error InternalFailure:500")

    def states(self, now):
        return {SHARDS[0]: "failing", SHARDS[1]: "waiting_for_shard"}

    def unready(self, now, unready_s):
        return unready_s + 2, (rf"({SHARDS[0]} has failed for \d+ s: InternalFailure|"
                               rf"{SHARDS[1]} has waited \d+ s for records of {SHARDS[0]} in the order by time)")

    def explains(self, now):
        return "makes no progress" if now.mark > 45 else None


ALL = [Stuck, Slow,
       lambda: Fault("calls refused", "* GetRecords * error AccessDeniedException:403", "AccessDenied"),
       lambda: Fault("calls fail", "* GetRecords * error InternalFailure:500", "InternalFailure"),
       lambda: Fault("throttled", "* GetRecords * throttle", "ProvisionedThroughputExceeded"),
       NetworkGone, StreamGone, TableGone, Suspended, Frozen, Paused, Parked, Order, Dead]
# With leases in a table of the KCL, with records pushed, and with a server of the stream that is not ours.
OTHER_WAYS = [(way, make) for way in ("kcl", "push") for make in (Stuck, Suspended, Frozen, Dead)]
OTHER_WAYS += [("kinesis-mock", make) for make in (Stuck, StreamGone, Dead)]
OTHER_WAYS += [("kcl", make) for make in ALL[2:5]]  # a subscription that runs is not refused


class KeptWaiting(harness.Failed):
    """Something was wrong, and worker, servers and this program waited for a CPU for KEPT_SHARE of the time."""


KEPT_SHARE, PLAYS = 0.2, 4


def play(situation, marks, unready_s, told, way="sloop"):
    """How long ago, and how soon, is what is judged: a play in which the machine kept all waiting says nothing of that. Then it is
    played again, PLAYS times at most."""
    for _ in range(PLAYS - 1):
        try:
            return play_once(copy.copy(situation), marks, unready_s, told, way)
        except KeptWaiting:
            told.clear()
    return play_once(situation, marks, unready_s, told, way)


def play_once(situation, marks, unready_s, told, way):
    """Looks at the marks, judges, mends what was done and waits until all is well."""
    world = World(unready_s, way)
    wrong = []
    try:
        situation.begin(world)
        world.watch()
        wait_until(lambda: world.screen.frame, SECONDS, "a frame")
        situation.trouble(world)
        watch = cpu_waits.Stopwatch()
        world.puts.thread.start()
        began = time.time()
        for mark in marks:
            time.sleep(max(began + mark - time.time(), 0))
            late = time.time() - began - mark
            now = look(world, mark, situation.which)
            now.late, now.own = late, min(mark, watch.own())
            now.stands = situation.stands
            now.rows_tell = way != "kcl"  # rows of the KCL tell no lag and no time
            told.append(now)
            judge(situation, now, unready_s, lambda text, mark=mark: wrong.append(f"after {mark:g} s: {text}"))
        took, own = time.time() - began, watch.own()
        world.puts.stop()
        if wrong and own < took * (1 - KEPT_SHARE):
            raise KeptWaiting("\n".join(wrong))
        expect(not wrong, "\n".join(wrong))
        if isinstance(situation, TableGone):  # who ends it makes it anew
            world.workers[0].wait(30)
            expect(world.workers[0].returncode == 1 and "there is no table" in world.said(), world.said()[-400:])
            return None
        situation.mend(world)
        wait_until(lambda: world.is_well(situation.which), 120, "all is well again", pause=0.2)
    finally:
        world.close()
    return None


# ---- the table ------------------------------------------------------------------------------------------------------

HEAD = """# What is told while records wait

Made by `situations.py`, which also judges each line: fourteen situations, looked at after {marks}
seconds. A stream of two shards gets a record a shard each half second, and one worker of the application `app` reads it.
Other runs differ in names, numbers of records, and in what is told by up to the time between two polls, heartbeats and frames.
"known" is how old the oldest record is that was not taken from the worker, at least and at most, of both shards, when
the views were asked and when all had answered. What has no worker to answer is "-".

/ready says no after a minute (`unready_ms`) where a shard does not get on, and at once where it can't. "<12s" is "at most";
what --leases tells without it was read at the checkpoint. --watch reads no shard, so of dead workers it knows no lag.
"""


def table(told):
    lines = [HEAD.format(marks=", ".join(f"{now.mark:g}" for now in next(iter(told.values()))[1]))]
    for name, (situation, looks) in told.items():
        lines += [f"## {name}", "", f"{situation.known[0].upper()}{situation.known[1:]}.", "",
                  "| | " + " | ".join(f"after {now.mark:g} s" for now in looks) + " |", "|---" * (len(looks) + 1) + "|"]
        for view, text in (("known", known_text), ("/ready", ready_text), ("/metrics", metrics_text), ("-v", v_text),
                           ("--leases", leases_text), ("--watch", watch_text), ("--explain 0", explain_text)):
            lines.append(f"| {view} | " + " | ".join(text(now).replace("|", "\\|") or "-" for now in looks) + " |")
        lines.append("")
    return "\n".join(lines)


def short(text):
    """Sequence numbers and instances are of no interest here."""
    text = re.sub(r"\b(\d{6})\d{40,}(\d{4})\b", r"\1..\2", text)
    return re.sub(r"\b(w\d)\.[0-9a-f]{16}\b", r"\1", text).replace("shardId-00000000000", "shard-")


def known_text(now):
    return (f"{min(low for low, _ in now.before.values()):.1f} to {max(high for _, high in now.before.values()):.1f} s; then "
            f"{min(low for low, _ in now.after.values()):.1f} to {max(high for _, high in now.after.values()):.1f} s")


def ready_text(now):
    return short(f"{now.ready[0]}: {now.ready[1].strip()}" if now.ready[0] else now.ready[1])


def metrics_text(now):
    page = now.metrics
    if not page:
        return now.page[1] if now.page[0] is None else ""
    parts = [f"{name} {value:g}" for name in ("sloop_behind_seconds", "sloop_behind_unknown_seconds", "sloop_suspended")
             for value in page.get(name, {}).values() if value or name != "sloop_suspended"]
    parts += [f"{short(shard)} {state} {value:.0f} s"
              for (shard, state), value in page.get("sloop_shard_state_seconds", {}).items()]
    parts += [f"{error} x {value:.0f}" for (error,), value in page.get("sloop_call_errors_total", {}).items()
              if error != "ResourceNotFound"]
    return "; ".join(parts)


def v_text(now):
    text = re.sub(r"^stream-tail: ", "", now.v) if now.metrics else ""
    return short(re.sub(r", \d+ records/s, [\d.]+ MB/s, \d+ throttles", "", text))


def rows_of(lines):
    return [re.sub(r" {2,}", "  ", line).strip() for line in lines
            if re.match(r"\s*[01] +(owned|dead|silent|free|parked|refused) ", line)]


def leases_text(now):
    lines = now.leases[1].splitlines()
    if now.leases[0]:
        return short(lines[0])
    rows = [re.sub(r"(after|at) \S+ ", "", short(row)) for row in rows_of(lines)]
    return "<br>".join(rows + [lines[-1]] + [line for line in lines if re.match(r"of unknown lag|trimmed|refused", line)])


def watch_text(now):
    rows = [re.sub(r"\s+[^\s\w<-].*$", "", row) for row in rows_of(now.watch)]
    trouble = [line for line in now.watch[-1:] if "table" in line and "moves" not in line]
    return short("<br>".join(rows + [line for line in now.watch if re.match(r"\d+ workers?[,;]", line)] + trouble))


def explain_text(now):
    keep = [line for line in now.explain[1].splitlines() if not re.match(r"stream:|epoch|leader|owner", line)]
    return short("<br>".join(keep))


def main():
    arguments, write = sys.argv[1:], "--write" in sys.argv
    marks, unready_s, only = [4, 9], 5, None
    if "--seconds" in arguments:
        marks, unready_s = [float(text) for text in arguments[arguments.index("--seconds") + 1].split(",")], 60
    if "--only" in arguments:
        only = arguments[arguments.index("--only") + 1]
    elif len(arguments) == 1 and not write:
        only = arguments[0]
    sys.argv = sys.argv[:1]
    tests, told = Tests(), {}
    jobs = []
    for make in ALL:
        situation = make()
        if only and only not in situation.name:
            continue
        told[situation.name] = (situation, [])
        jobs.append(lambda one=situation: tests.run(one.name, play, one, marks, unready_s, told[one.name][1]))
    for way, make in OTHER_WAYS:
        situation = make()
        if not only or only in f"{situation.name}, {way}":
            jobs.append(lambda one=situation, way=way: tests.run(f"{one.name}, {way}", play, one, marks, unready_s, [], way))
    tests.side_by_side(jobs, at_once=len(ALL))
    text = table(told) if told else ""
    if write:
        with open(os.path.join(servers.ROOT, "test", "process", "SITUATIONS.md"), "w", encoding="utf-8") as file:
            file.write(text)
    elif "--seconds" in arguments or only:
        print(text)
    tests.end()


if __name__ == "__main__":
    main()
