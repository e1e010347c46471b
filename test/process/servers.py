"""Starts and stops the real local servers of the integration tests: kinesis-mock, kinesalite, moto, ministack.

Each is bound to a free port, polled until it answers, and stopped by its own process id, also when the test dies
(PR_SET_PDEATHSIG). What is missing raises Missing, which the tests turn into a printed skip.
"""

import ctypes
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CACHE = os.environ.get("SLOOP_TEST_CACHE", os.path.join(ROOT, ".cache"))
READY_SECONDS = 60  # a loaded two-core machine starts kinesis-mock in up to 10 s


class Missing(Exception):
    """Something that sh test/run.sh installs is not here."""


def free_port():
    """A port nobody listens on now. Between here and the server's bind somebody may take it; start() then fails
    its readiness check and tries another one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


LIBC = ctypes.CDLL(None)  # here, not in the child: nothing may be loaded between fork and exec


def die_with_parent():
    """In the child: a test that is killed leaves no server behind (Linux: PR_SET_PDEATHSIG is 1). The signal comes
    when the thread that started the child ends: a test starts and ends its processes on one thread."""
    LIBC.prctl(1, signal.SIGKILL)


def listens(pid, port):
    """Does this process itself listen there? Tests run side by side: an answer may come from another one's server."""
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table, encoding="ascii") as rows:
            for row in list(rows)[1:]:
                fields = row.split()
                if fields[3] == "0A" and int(fields[1].rsplit(":", 1)[1], 16) == port:
                    inodes.add(fields[9])
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            target = os.readlink(f"/proc/{pid}/fd/{name}")
            if target.startswith("socket:[") and target[8:-1] in inodes:
                return True
    except OSError:
        pass
    return False


class Server:
    """A started server. Use as a context manager."""

    name = "?"
    stop_signal = signal.SIGTERM

    def __init__(self, **knobs):
        self.knobs = knobs
        self.process = None
        self.port = None
        self.log = tempfile.TemporaryFile()

    def command(self):
        """Returns (argv, extra environment, working folder)."""
        raise NotImplementedError

    def __enter__(self):
        for attempt in range(3):
            self.port = free_port()
            argv, extra, cwd = self.command()
            env = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "LD_PRELOAD", "ASAN_"))}
            self.process = subprocess.Popen(argv, env={**env, **extra}, cwd=cwd, stdin=subprocess.DEVNULL,
                                            stdout=self.log, stderr=self.log, preexec_fn=die_with_parent)
            if self.wait_ready():
                return self
            self.stop()
        raise RuntimeError(f"{self.name} does not start: {self.tail()}")

    def wait_ready(self):
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if self.probe() == 200 and listens(self.process.pid, self.port):
                    return True
            except OSError:
                pass
            time.sleep(0.05)  # between two looks; the deadline decides
        return False

    def probe(self):
        """A ListStreams whose signature is made up: all of them accept it (moto only while it does not enforce)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("POST", "/", b"{}", {
                "Content-Type": "application/x-amz-json-1.1",
                "X-Amz-Target": "Kinesis_20131202.ListStreams",
                "X-Amz-Date": "20260101T000000Z",
                "Authorization": "AWS4-HMAC-SHA256 Credential=123456789012/20260101/us-east-1/kinesis/aws4_request,"
                                 " SignedHeaders=host;x-amz-date, Signature=" + "0" * 64,
            })
            answer = connection.getresponse()
            answer.read()
            return answer.status
        except http.client.HTTPException:
            return 0
        finally:
            connection.close()

    def tail(self):
        self.log.seek(0)
        return self.log.read()[-2000:].decode("utf-8", "replace")

    def stop(self):
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(self.stop_signal)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None

    def __exit__(self, *exception):
        self.stop()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"


def node_module(name):
    path = os.path.join(CACHE, "node", name)
    if not os.path.isdir(os.path.join(path, "node_modules", name)):
        raise Missing(f"{name} is not in {path} (sh test/install.sh test)")
    return path


class Kinesalite(Server):
    """Fast; no ChildShards, so closed shards are found by listing. ListShards with NextToken kills it (every test
    stays below one page); AT_TIMESTAMP later than the last record is never answered; CBOR answers are cut at
    16 KiB with status 200; MillisBehindLatest is 0 on every open shard; a second split of one parent is taken.
    Bound to loopback by its API: its own command line listens everywhere."""

    name = "kinesalite"

    def command(self):
        script = ("require('kinesalite')({createStreamMs:50,deleteStreamMs:50,updateStreamMs:50,shardLimit:100})"
                  f".listen({self.port},'127.0.0.1')")
        return ["node", "-e", script], {}, node_module("kinesalite")


class KinesisMock(Server):
    """Answers with ChildShards and with nulls for what is absent; CBOR Data is base64 text; ListShards pages of 100;
    MillisBehindLatest is newest minus last returned, not wall clock; EndingSequenceNumber is a constant; slow (about
    1,000 records a second). Listens on all interfaces: it has no option for that. SIGTERM hangs it while any
    connection is open, so it is stopped with SIGKILL."""

    name = "kinesis-mock"
    stop_signal = signal.SIGKILL

    def command(self):
        folder = node_module("kinesis-local")
        module = os.path.join(folder, "node_modules", "kinesis-local")
        durations = {f"{what}_DURATION": "50ms" for what in
                     ("CREATE_STREAM", "DELETE_STREAM", "SPLIT_SHARD", "MERGE_SHARDS", "UPDATE_SHARD_COUNT",
                      "REGISTER_STREAM_CONSUMER", "DEREGISTER_STREAM_CONSUMER")}
        extra = {"KINESIS_MOCK_TLS_PORT": str(free_port()), "KINESIS_MOCK_PLAIN_PORT": str(self.port),
                 "LOG_LEVEL": "WARN", "SHARD_LIMIT": "200",
                 "KINESIS_MOCK_CERT_PATH": os.path.join(module, "server.json"), **durations}
        return ["node", os.path.join(module, "main.js")], extra, folder


class Moto(Server):
    """Verifies signatures after the first `unchecked` calls, the readiness probe included. Resharding is broken (not
    tested on it); CBOR and unknown input answer 500 with HTML; iterators end in a newline; closes each connection."""

    name = "moto"

    def command(self):
        python = os.environ.get("SLOOP_TEST_PYTHON", sys.executable)
        script = os.path.join(os.path.dirname(python), "moto_server")
        if not os.path.exists(script):
            raise Missing("moto_server is not beside " + python)
        extra = {}
        if self.knobs.get("unchecked") is not None:
            extra["INITIAL_NO_AUTH_ACTION_COUNT"] = str(self.knobs["unchecked"])
        return [python, script, "-H", "127.0.0.1", "-p", str(self.port)], extra, None

    def probe(self):
        """Looks only whether the port is open: a call would count as one of the unchecked ones."""
        with socket.create_connection(("127.0.0.1", self.port), 5):
            return 200


class Ministack(Server):
    """Many services in one process. A split or merge forgets its parents at once, with the records in them; a stream
    that is made again has the shard ids of the former one, and its numbers go on by the clock."""

    name = "ministack"

    def command(self):
        script = os.path.join(CACHE, "venv-ministack", "bin", "ministack")
        if not os.path.exists(script):
            raise Missing("ministack is not in " + CACHE)
        return [script], {"GATEWAY_PORT": str(self.port), "BIND_HOST": "127.0.0.1"}, tempfile.gettempdir()


class Dynalite(Server):
    """DynamoDB by an independent hand, close to the service in its refusals. Ends when a value is put into itself or
    beneath itself (SET l[3] = l), ignores ReturnValuesOnConditionCheckFailure, and knows no transactions, no streams
    and no UpdateTimeToLive. Bound to loopback by its options."""

    name = "dynalite"

    def command(self):
        home = node_module("dynalite")
        script = os.path.join(home, "node_modules", "dynalite", "cli.js")
        return ["node", script, "--host", "127.0.0.1", "--port", str(self.port), "--createTableMs", "20",
                "--deleteTableMs", "20", "--updateTableMs", "20"], {}, home

    def probe(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/")
            answer = connection.getresponse()
            answer.read()
            return answer.status
        finally:
            connection.close()


def binary():
    """The stream-tail under test."""
    path = os.environ.get("SLOOP_BIN", os.path.join(ROOT, "build", "stream-tail"))
    if not os.access(path, os.X_OK):
        raise Missing(f"{path} is not built")
    return path


class Sandbox(Server):
    """Our own, as a user gets it: stream-tail -M SHARDS, ended by closing its standard input."""

    name = "sandbox"

    def __init__(self, shards=4, options=()):
        super().__init__()
        self.shards, self.options, self.address = shards, options, None

    def __enter__(self):
        argv = [binary(), "-M", str(self.shards)]
        for option in self.options:
            argv += ["-X", option]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                        preexec_fn=die_with_parent, text=True)
        lines = []
        for line in self.process.stdout:  # the lines to paste; the one with the address is what we need
            lines.append(line)
            if "AWS_ENDPOINT_URL" in line:
                self.address = line.split("=", 1)[1].strip().strip("'\"")
                return self
        self.stop()
        raise RuntimeError(f"no AWS_ENDPOINT_URL line: {lines} {self.tail()}")

    def stop(self):
        if self.process is None:
            return
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.process = None

    @property
    def url(self):
        return self.address

    def admin(self, method, path, body=b""):
        host, port = self.address.split("//")[1].rsplit(":", 1)
        connection = http.client.HTTPConnection(host, int(port), timeout=10)
        try:
            connection.request(method, "/_sandbox/" + path, body)
            answer = connection.getresponse()
            text = answer.read().decode()
            if answer.status != 200:
                raise RuntimeError(f"{method} /_sandbox/{path}: {answer.status} {text}")
            return text
        finally:
            connection.close()

    def faults(self, script):
        self.admin("POST", "faults", script.encode())

    def clear_faults(self):
        self.admin("DELETE", "faults")

    def stats(self):
        return json.loads(self.admin("GET", "stats"))


SERVERS = {"kinesalite": Kinesalite, "kinesis-mock": KinesisMock, "moto": Moto, "dynalite": Dynalite, "sandbox": Sandbox}
