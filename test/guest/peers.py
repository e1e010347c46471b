"""The processes of a mixed fleet: programs that are not ours, each through its driver in peers/, and ours. All write a
line a record; both kinds come out as Line. Everybody is ended by pid, and dies with the test."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "process"))

import harness  # noqa: E402
import servers  # noqa: E402

CACHE = os.path.join(servers.CACHE, "interop")
JAVA_HEAP_MB = 256


@dataclass
class Line:
    ms: int  # of the wall clock of this machine
    worker: str
    shard: str
    place: tuple  # (sequence number, sub-sequence)


@dataclass
class Kind:
    """What differs between the systems. deadline_s: the longest that a shard may stand after any one deed; start_s: the
    longest until the first worker of all reads, 0 when that is no longer than the other."""

    name: str
    program: str  # folder in peers/
    schema: str  # ours beside them; "" when there is none
    deadline_s: float
    aggregates: bool  # do they take them apart?
    parents_first: bool  # is a child read only after its parents?
    from_latest: bool  # does a fleet that begins read only what comes from then on?
    env: dict
    start_s: float = 0
    new_names: bool = False  # does a worker that comes back after a crash need a name of its own?
    ends: bool = False  # does a worker that lost a shard end, to be started again by its supervisor?
    puts_back: bool = False  # does a worker that lost a shard while it was frozen save once more, without a condition?
    knobs: dict = field(default_factory=dict)  # of ours beside them


KINDS = {kind.name: kind for kind in (
    # The worker that makes the leases then sleeps for the interval between syncs, 60 s unless told. After a deed shards stood
    # for 40 s at most in 81 minutes of stories. The first one is slower: alone on two busy cores the JVM took up to 41 s, its
    # start up to 58 s more (for 30 s it looks whether another one fills the table), and the first record 6 s.
    Kind("kcl-2", "kcl2", "kcl", 90, True, True, False, {"PEER_SYNC_MS": "2000"}, start_s=240),
    # A dead leader is noticed after 120 to 150 s, and its leases by the next but one run of its successor.
    Kind("kcl-3", "kcl3", "kcl", 240, True, True, False, {"PEER_SYNC_MS": "2000"}),
    Kind("kinsumer", "kinsumer", "kinsumer", 60, False, False, False, {"PEER_SYNC_MS": "3000"}, ends=True,
         knobs={"lease_ms": "15000"}),  # five of its check periods
    Kind("vmware-go-kcl", "vmware", "vmware-go-kcl", 150, True, False, False, {"PEER_SYNC_MS": "3000"},
         # Under its old name, and with lease stealing, it takes what stands under that name for its own and reads none of it.
         new_names=True, puts_back=True),
    Kind("motorway", "motorway", "motorway", 300, False, False, True, {"PEER_FAILOVER_MS": "10000"}),
)}


def command_of(program):
    """argv of a peer, or servers.Missing."""
    folder = os.path.join(CACHE, program)
    if not os.path.exists(os.path.join(folder, ".made-from")):
        raise servers.Missing(f"{program} is not installed (sh test/guest/install.sh {program})")
    if program.startswith("kcl"):
        classes = [os.path.join(folder, "classes"), os.path.join(folder, "jars", "*"), os.path.join(HERE, "peers", "kcl")]
        return ["java", f"-Xmx{JAVA_HEAP_MB}m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", ":".join(classes),
                "Peer"]
    if os.path.exists(os.path.join(folder, "peer")):
        return [os.path.join(folder, "peer")]
    return [os.path.join(folder, "venv", "bin", "python"), os.path.join(HERE, "peers", program, "peer.py")]


class Life:
    """A process of a worker, from its start to its end."""

    grace_s = 60

    def __init__(self, worker, argv, env):
        self.worker, self.argv = worker, argv
        self.err = tempfile.TemporaryFile()
        self.lines, self.events, self.frozen = [], [], False
        self.began = time.time()
        self.process = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.err,
                                        preexec_fn=servers.die_with_parent)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for text in self.process.stdout:
            if text.endswith(b"\n"):
                self.take(text.decode("utf-8", "replace").rstrip("\n"))

    def take(self, text):
        raise NotImplementedError

    def stderr(self):
        size = os.fstat(self.err.fileno()).st_size
        return os.pread(self.err.fileno(), size, 0).decode("utf-8", "replace")

    def running(self):
        return self.process.poll() is None

    def kill(self):
        if self.running():
            self.process.kill()
        self.process.wait()
        self.thread.join(10)

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)
        self.frozen = True

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)
        self.frozen = False

    def leave(self, seconds=None):
        """SIGTERM. Returns the exit code, or None when it had to be killed after its time of grace."""
        if self.frozen:
            self.thaw()
        if self.running():
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(seconds or self.grace_s)
        except subprocess.TimeoutExpired:
            self.kill()
            return None
        self.thread.join(10)
        return code


class Theirs(Life):
    """kind: a Kind, by its name in KINDS."""

    ours = False

    def __init__(self, kind, worker, url, stream, app, **env):
        base = harness.tail_environment(url, AWS_DEFAULT_REGION=harness.REGION, PEER_ENDPOINT=url, PEER_STREAM=stream,
                                        PEER_APP=app, PEER_WORKER=worker, **{**kind.env, **env})
        super().__init__(worker, command_of(kind.program), base)

    def take(self, text):
        word, ms, worker, shard, first, second = text.split("\t")
        if word == "record":
            self.lines.append(Line(int(ms), worker, shard, (int(first), int(second))))
        else:
            self.events.append((int(ms), shard, first, second))

    def complaints(self):
        """The kinds of errors in its log: lines of level ERROR without what differs each time."""
        found = set()
        for line in self.stderr().split("\n"):
            if re.search(r"\b(ERROR|FATAL|panic)\b|level=(error|fatal)|^\d{4}/\d\d/\d\d .*(error|failed)", line):
                found.add(plain(line))
        return found


def plain(line):
    """A line of a log without times, ids, numbers and names of workers, shards and threads."""
    if "use of closed network connection" in line:  # their HTTP client's own; which call it hits is chance
        return "use of closed network connection"
    line = re.sub(r"^\S*\d\d:\d\d:\d\d\S*\s*|time=\"[^\"]*\"|^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d ", "", line)
    line = re.sub(r"(lease not acquired): .*", r"\1", line)  # vmware-go-kcl: seen by its read of the row or by its write
    line = re.sub(r"\[[^\]]*\]", "[]", line)
    line = re.sub(r"shardId-\d+|[0-9a-f]{8}-[0-9a-f-]{27}|\b0x[0-9a-f]+\b|@[0-9a-f]+|\b[ab]\d+\b", "#", line)
    return re.sub(r"\d+", "#", line)[:200]


class Ours(Life):
    """stream-tail in the application. It is told the same lease time as the peers."""

    ours = True
    grace_s = 60

    def __init__(self, kind, worker, url, stream, app, **knobs):
        knobs = {"schema": kind.schema, "worker": worker, "checkpoint_ms": "1000", "poll_ms": "500", **kind.knobs, **knobs}
        if not kind.aggregates:
            knobs["aggregates"] = "keep"
        argv = [servers.binary(), "-G", app, "-o", "oldest", "-f", r"%p\t%o\t%u\n", "-v", "-b", url, "--store",
                f"dynamodb:{app}"]
        for name, value in knobs.items():
            argv += ["-X", f"{name}={value}"]
        super().__init__(worker, [*argv, stream], harness.tail_environment(url))

    def take(self, text):
        shard, number, sub = text.split("\t")
        self.lines.append(Line(time.time_ns() // 1000000, self.worker, shard, (int(number), int(sub))))


def unknown_schema(kind):
    """Why ours can't join that system in this build; None when it can."""
    if not kind.schema:
        return "ours knows no such schema"
    done = subprocess.run([servers.binary(), "-X", "list"], capture_output=True, text=True, check=False, timeout=20,
                          env=harness.tail_environment(None))
    found = re.search(r"^schema= \(([^)]*)\)", done.stdout, re.M)
    known = found.group(1).split("|") if found else []
    return None if kind.schema in known else f"stream-tail has no schema {kind.schema} (it has {', '.join(known)})"
