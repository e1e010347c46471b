"""Shared by the black-box tests: single-test lines, boto3 producers, running stream-tail, and the judge of its output.

The judge knows nothing of our code: what must come out is what boto3's PutRecords was told went in.
"""

import base64
import concurrent.futures
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import cpu_waits
import servers

FULL = os.environ.get("SLOOP_TEST_FULL") == "1"
REGION = "us-east-1"
KEY_ID, SECRET = "123456789012", "test-secret"  # kinesis-mock reads a 12-digit key id as the account


# ---- single tests ----------------------------------------------------------------------------------------------


class Failed(Exception):
    """A test's expectation was not met; its text says what was seen."""


def expect(condition, text):
    if not condition:
        raise Failed(text)


class Tests:
    """Runs functions as single tests and prints a line each: "ok  NAME", "FAIL NAME" or "skip NAME: why"."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.printing = threading.Lock()
        self.only = sys.argv[1] if len(sys.argv) > 1 else None

    def run(self, name, test, *arguments, **named):
        """A single test; its lines are printed together, also when others run beside it."""
        if self.only and self.only not in name:
            return
        began = time.monotonic()
        lines = io.StringIO()
        try:
            note = test(*arguments, **named)
            self.passed += 1
            print(f"ok   {name}{': ' + note if note else ''} [{time.monotonic() - began:.1f} s]", file=lines)
        except servers.Missing as missing:
            self.skip(name, missing)
        except Exception as error:  # one failing test must not hide the others
            self.failed += 1
            if not isinstance(error, Failed):
                traceback.print_exc(file=lines)
            for line in str(error).split("\n")[-12:]:
                print(f"     {line[:600]}", file=lines)
            print(f"     again: {sys.executable} {sys.argv[0]} '{name}'", file=lines)
            print(f"FAIL {name}", file=lines)
        with self.printing:
            sys.stdout.write(lines.getvalue())
            sys.stdout.flush()

    def side_by_side(self, jobs, at_once=6):
        """Runs functions without arguments on some threads: for tests that mostly wait. Each starts and ends its
        processes on its own thread (see die_with_parent)."""
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            for job in [pool.submit(job) for job in jobs]:
                job.result()

    def with_server(self, kind, use, *arguments):
        """use(server, ...) runs single tests; a server that does not start is one failure."""
        try:
            with kind() as server:
                use(self, server, *arguments)
        except servers.Missing as missing:
            self.skip(kind.name, missing)
        except Exception:  # as above
            self.failed += 1
            traceback.print_exc(file=sys.stdout)
            print(f"FAIL {kind.name}: start or preparation", flush=True)

    def skip(self, name, why):
        self.skipped += 1
        print(f"skip {name}: {why}", flush=True)

    def end(self):
        if self.failed:
            sys.exit(1)
        sys.exit(77 if self.skipped and not self.passed else 0)


def boto3_or_skip():
    try:
        import boto3  # pylint: disable=import-outside-toplevel

        return boto3
    except ImportError:
        print("skip all: boto3 is not installed here (sh test/install.sh test)")
        sys.exit(77)


CLIENT_MAKING = threading.Lock()  # boto3's default session is not for several threads at once


def client(url, service="kinesis", key=KEY_ID, secret=SECRET, token=None):
    boto3 = boto3_or_skip()
    from botocore.config import Config  # pylint: disable=import-outside-toplevel

    with CLIENT_MAKING:
        return boto3.client(service, endpoint_url=url, region_name=REGION, aws_access_key_id=key,
                            aws_secret_access_key=secret, aws_session_token=token,
                            config=Config(retries={"max_attempts": 2}, read_timeout=60, parameter_validation=False))


class Yours(servers.Server):
    """The endpoint the user named, with the user's own credentials; never started or stopped by us."""

    name = "your endpoint"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    @property
    def url(self):
        return os.environ["SLOOP_TEST_KINESIS_ENDPOINT"]


def client_of(server):
    if isinstance(server, Yours):
        return boto3_or_skip().client("kinesis", endpoint_url=server.url)
    return client(server.url)


# ---- streams and producers -------------------------------------------------------------------------------------


def catches(pid, number):
    """Whether the process has a handler for that signal by now."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        caught = next(line for line in status if line.startswith("SigCgt"))
    return int(caught.split()[1], 16) >> (number - 1) & 1


def wait_until(condition, seconds, what, pause=0.02):
    """The first true value of condition(); Failed when the deadline passes, whose clock stands while the machine is busy. The
    pause is between two looks: longer where a look costs something."""
    deadline = cpu_waits.Deadline(seconds)
    while True:
        value = condition()
        if value:
            return value
        if deadline.passed():
            raise Failed(f"not within {seconds} s: {what}")
        time.sleep(pause)


def wait_active(kinesis, stream, seconds=60):
    def active():
        status = kinesis.describe_stream_summary(StreamName=stream)["StreamDescriptionSummary"]["StreamStatus"]
        return status == "ACTIVE"

    wait_until(active, seconds, f"{stream} is ACTIVE")


def new_stream(kinesis, shards):
    name = f"sloop-test-{random.getrandbits(40):010x}"
    kinesis.create_stream(StreamName=name, ShardCount=shards)
    wait_active(kinesis, name)
    return name


class Producer:
    """Puts numbered records with boto3 and keeps what the service answered: {(shard, sequence): payload}."""

    def __init__(self, kinesis, stream, payload_bytes=48, seed=1):
        self.kinesis, self.stream, self.payload_bytes = kinesis, stream, payload_bytes
        self.random = random.Random(seed)
        self.put = {}  # (shard, sequence) -> (partition key, payload)
        self.number = 0
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self.thread = None
        self.error = None

    def count_in(self, shards):
        with self.lock:
            return sum(1 for shard, _ in self.put if shard in shards)

    def draw_key(self):
        return f"key-{self.random.getrandbits(64):x}"

    def put_batch(self, n):
        """n records with random keys; those refused are sent again until all are in."""
        entries = []
        for _ in range(n):
            self.number += 1
            body = f"{self.number:09d}:".encode() + self.random.randbytes(self.payload_bytes // 2).hex().encode()
            if self.number % 7 == 0:
                body = self.random.randbytes(self.payload_bytes) + b"\xff"  # not UTF-8: payload_b64
            if self.number % 11 == 0:
                body = 'ü "quoted"\n\t\x01 \u2028 🚢 '.encode() + body[:9] if body[:1] == b"0" else body
            entries.append({"Data": body, "PartitionKey": self.draw_key()})
        deadline = time.monotonic() + 120
        while entries:
            expect(time.monotonic() < deadline, f"{len(entries)} records refused for 120 s")
            try:
                answer = self.kinesis.put_records(StreamName=self.stream, Records=entries)
            except self.kinesis.exceptions.ResourceInUseException:
                time.sleep(0.01)  # the stream is changing
                continue
            left = []
            with self.lock:
                for entry, result in zip(entries, answer["Records"]):
                    if result.get("SequenceNumber") and not result.get("ErrorCode"):
                        place = (result["ShardId"], int(result["SequenceNumber"]))
                        self.put[place] = (entry["PartitionKey"], entry["Data"])
                    else:
                        left.append(entry)
            if left:
                time.sleep(0.05)  # over the write limit of a shard
            entries = left

    def put_all(self, n):
        while n > 0:
            self.put_batch(min(n, 500))
            n -= 500
        return self.put

    def start(self, batch=20, pause=0.03):
        """Puts without a stop, in a thread, until stop(). The pause keeps fast servers from making backlogs that
        take minutes to read at five small pages a second."""

        def work():
            try:
                while not self.stopping.is_set():
                    self.put_batch(batch)
                    self.stopping.wait(pause)
            except Exception as error:  # handed to stop()
                self.error = error

        self.thread = threading.Thread(target=work, daemon=True)
        self.thread.start()

    def stop(self):
        self.stopping.set()
        self.thread.join()
        if self.error:
            raise self.error


def read_all(kinesis, stream):
    """The whole stream by boto3 alone: {(shard, sequence): (key, payload)}. The third count."""
    found = {}
    for shard in list_shards(kinesis, stream):
        iterator = kinesis.get_shard_iterator(StreamName=stream, ShardId=shard["ShardId"],
                                              ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
        empty = 0
        # kinesalite ends a closed shard one empty call late and says 0 behind at once: ask until 2 are empty.
        while iterator and empty < 2:
            try:
                page = kinesis.get_records(ShardIterator=iterator, Limit=10000)
            except kinesis.exceptions.ProvisionedThroughputExceededException:
                time.sleep(0.25)
                continue
            for record in page["Records"]:
                found[(shard["ShardId"], int(record["SequenceNumber"]))] = (record["PartitionKey"], record["Data"])
            empty = 0 if page["Records"] else empty + 1
            iterator = page.get("NextShardIterator")
    return found


def list_shards(kinesis, stream):
    """Asks for one page, which is enough: kinesalite dies on NextToken, and no test has 100 shards."""
    return kinesis.list_shards(StreamName=stream)["Shards"]


# ---- stream-tail -----------------------------------------------------------------------------------------------


def tail_environment(url=None, key=KEY_ID, secret=SECRET, token=None, **more):
    """A clean environment: nothing of the machine's own AWS configuration reaches the test."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("AWS_") and "proxy" not in k.lower()}
    env.update(HOME="/nonexistent", AWS_REGION=REGION, AWS_EC2_METADATA_DISABLED="true", LC_ALL="C.UTF-8")
    for name, value in (("AWS_ENDPOINT_URL", url), ("AWS_ACCESS_KEY_ID", key), ("AWS_SECRET_ACCESS_KEY", secret),
                        ("AWS_SESSION_TOKEN", token)):
        if value is not None:
            env[name] = value
    env.update({k: v for k, v in more.items() if v is not None})
    for k, v in more.items():
        if v is None:
            env.pop(k, None)
    return env


def environment_for(server):
    if isinstance(server, Yours):
        return {**os.environ, "AWS_ENDPOINT_URL": server.url}
    return tail_environment(server.url)


class Done:
    """A command that has ended. own_seconds: what it took less what it waited for a CPU."""

    def __init__(self, argv, code, out, err, seconds, own_seconds):
        self.argv, self.code, self.out, self.err = argv, code, out, err
        self.seconds, self.own_seconds = seconds, own_seconds

    def __str__(self):
        return (f"{' '.join(self.argv)}: exit code {self.code} after {self.seconds:.1f} s, of which it waited for a CPU "
                f"{self.seconds - self.own_seconds:.1f} s; stdout "
                f"{len(self.out)} bytes; stderr: {self.err.decode('utf-8', 'replace').strip()[-800:]}")


def tail(arguments, env, seconds=120, pinned=False, stdin=subprocess.DEVNULL):
    """Runs stream-tail to its end. pinned: on one core, so that no other thread hides an order."""
    argv = (["taskset", "-c", "0"] if pinned else []) + [servers.binary(), *arguments]
    began = time.monotonic()
    process = subprocess.Popen(argv, env=env, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=servers.die_with_parent)
    ended = cpu_waits.Ended(process, began, seconds)
    done = Done(argv, process.returncode, ended.out, ended.err, ended.took, ended.own)
    expect(not ended.too_long, f"still running: {done}")
    return done


def lock_holder(path, workers):
    """The worker that has the write lock of the file, by the kernel's list of locks; None: nobody."""
    inode = os.stat(path).st_ino
    with open("/proc/locks", encoding="ascii") as locks:
        for line in locks:
            part = line.split()
            if len(part) > 5 and part[1] == "POSIX" and part[3] == "WRITE" and part[5].endswith(f":{inode}"):
                for worker in workers:
                    if worker.process.pid == int(part[4]):
                        return worker
    return None


class Running:
    """A stream-tail that runs while the test goes on. Its output is read as it comes, in whole lines: what it was killed
    while writing is no line."""

    def __init__(self, arguments, env):
        self.argv = [servers.binary(), *arguments]
        self.err = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=self.err, preexec_fn=servers.die_with_parent)
        self.lines = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            if line.endswith(b"\n"):
                self.lines.append(line)

    def signal(self, number):
        self.process.send_signal(number)

    def wait_stopped(self):
        """After SIGSTOP: the kernel's word that it stands."""
        def stands():
            with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
                return stat.read().rsplit(")", 1)[1].split()[0] == "T"

        wait_until(stands, 10, "stream-tail is stopped")

    def stop_outside_write(self, path):
        """SIGSTOP while it does not have the lock of this lease file, or no other worker could write."""
        def stops():
            self.signal(signal.SIGSTOP)
            self.wait_stopped()
            if lock_holder(path, [self]) is None:
                return True
            self.signal(signal.SIGCONT)
            return False

        wait_until(stops, 30, "it is stopped outside of a write")

    def wait_lines(self, n, seconds):
        def enough():
            expect(self.process.poll() is None or len(self.lines) >= n,
                   f"ended with {self.process.returncode}: {self.stderr()}")
            return len(self.lines) >= n

        try:
            wait_until(enough, seconds, f"{n} lines")
        except Failed as failed:
            raise Failed(f"{failed}; {len(self.lines)} came; {self.stderr()[-800:]}") from None

    def stderr(self):
        self.err.seek(0)
        return self.err.read().decode("utf-8", "replace")

    def interrupt(self, seconds=20):
        """The first Ctrl-C; returns the exit code. How soon it must end is cli_manners.py's matter."""
        self.signal(signal.SIGINT)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"still running {seconds} s after SIGINT") from None
        self.reader.join(10)
        return self.process.returncode

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.reader.join(10)


# ---- the judge -------------------------------------------------------------------------------------------------


class Told:
    """A program of the tests that hears lines and answers in lines. It ends with its input, and with 0 unless it left
    something open. The environment's `variable` may name another build of it."""

    ends_within_s = 10

    def __init__(self, program, variable, arguments, env):
        path = os.environ.get(variable, os.path.join(servers.ROOT, "build", "test", "process", program))
        if not os.access(path, os.X_OK):
            raise servers.Missing(f"no {path}; set {variable}")
        self.program, self.said = program, []
        self.process = subprocess.Popen([path, *arguments], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, preexec_fn=servers.die_with_parent)
        self.listener = threading.Thread(target=self.listen, daemon=True)
        self.listener.start()

    def listen(self):
        for line in self.process.stdout:
            self.on_line(line.rstrip("\n"))

    def on_line(self, line):
        self.said.append(line)

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.stdin.close()
        try:
            code = self.process.wait(self.ends_within_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self.listener.join(self.ends_within_s)
            self.process.stdout.close()
        if exception[0] is None:
            expect(code == 0, f"{self.program} ended with {code}: something was left open")


def records_of(out):
    """-J output -> list of records. Every line must be one object with exactly the promised members."""
    records = []
    lines = out.split(b"\n") if isinstance(out, bytes) else [line.rstrip(b"\n") for line in out]
    if lines and not lines[-1]:
        lines.pop()
    for line in lines:
        record = json.loads(line.decode("utf-8"))
        expect("\u2028" not in line.decode("utf-8"), f"U+2028 is not escaped: {line!r}")
        names = set(record) - {"late", "raw", "again", "foreign"}
        expect(names in ({"stream", "shard", "seq", "sub", "ts", "key", "payload"},
                         {"stream", "shard", "seq", "sub", "ts", "key", "payload_b64"}), f"members of {line!r}")
        expect(all(record[flag] is True for flag in ("late", "raw", "again", "foreign") if flag in record), f"{line!r}")
        if "payload_b64" in record:
            data = base64.b64decode(record["payload_b64"], validate=True)
            try:
                data.decode("utf-8")
                raise Failed(f"payload_b64 although it is UTF-8: {line!r}")
            except UnicodeDecodeError:
                pass
        else:
            data = record["payload"].encode("utf-8")
        records.append({**record, "place": (record["shard"], int(record["seq"])), "data": data})
    return records


def judge_once(records, put):
    """Every record exactly once, with its key and payload."""
    seen = set()
    for record in records:
        place = record["place"]
        expect(place not in seen, f"twice: {place}")
        seen.add(place)
        expect(place in put, f"never put: {place}")
        expect((record["key"], record["data"]) == put[place],
               f"altered: {place}: {record['key']!r} {record['data']!r}, put {put[place]!r}")
    lost = sorted(set(put) - seen, key=lambda place: place[1])
    expect(not lost, f"{len(lost)} of {len(put)} lost, the first: {lost[:3]}")


def judge_shard_order(records):
    last = {}
    for index, record in enumerate(records):
        shard, sequence = record["place"]
        before = last.get(shard, -1)
        expect(sequence > before, f"record {index}: {shard} goes from {before} to {sequence}")
        last[shard] = sequence


def judge_time_order(records):
    """The merge's key (slp_key in src/core/merge.h): (time, sequence, sub), where time never goes back within a shard. (The bound by the
    service's time plays no part: no server here stamps a record in the future.) Ties in ms fall to the sequence."""
    time_in_shard, last = {}, None
    for index, record in enumerate(records):
        shard, sequence = record["place"]
        moment = max(record["ts"], time_in_shard.get(shard, record["ts"]))
        time_in_shard[shard] = moment
        key = (moment, sequence, record["sub"])
        expect(last is None or key > last, f"record {index} in {shard}: {key} after {last}")
        last = key


def judge_not_late(records):
    late = [record["place"] for record in records if record.get("late")]
    expect(not late, f"{len(late)} records are late, the first {late[:2]}")


def parents_by_listing(shards):
    ids = {shard["ShardId"] for shard in shards}
    return {shard["ShardId"]: [shard[name] for name in ("ParentShardId", "AdjacentParentShardId")
                               if shard.get(name) in ids] for shard in shards}


def judge_lineage(records, shards):
    """No record of a child comes before the last one of any of its parents."""
    parents = parents_by_listing(shards)
    first, last = {}, {}
    for index, record in enumerate(records):
        first.setdefault(record["shard"], index)
        last[record["shard"]] = index
    for child, its_parents in parents.items():
        for parent in its_parents:
            if child in first and parent in last:
                expect(last[parent] < first[child],
                       f"{child} begins at record {first[child]}, its parent {parent} ends at {last[parent]}")
