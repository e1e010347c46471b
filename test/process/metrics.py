"""Metrics of running consumers: the page is what Prometheus' own client library reads, with the numbers boto3 counted;
/ready and /healthz through a consumer's whole life; garbage, slow clients and many connections harm nobody; CloudWatch
is moto, and boto3 says what it took: names, dimensions, values, many calls; a right that is missing, an endpoint that
is dead.
"""

import datetime
import errno
import http.client
import http.server
import json
import os
import random
import re
import signal
import socket
import subprocess
import threading
import time

import harness
import sandbox_box
import servers
from harness import Tests, expect, wait_until
from valve import Valves

try:
    from prometheus_client.parser import text_string_to_metric_families
except ImportError:
    print("skip all: prometheus_client is not installed here (sh test/install.sh test)")
    raise SystemExit(77)

SECONDS = 60


class Program(harness.Told):
    """metrics_main, and what it said so far."""

    ends_within_s = 20

    def __init__(self, environment, *arguments):
        super().__init__("metrics_main", "SLOOP_TEST_METRICS", arguments, environment)
        first = wait_until(lambda: self.said[:1], SECONDS, "its first line")[0]
        self.refused = first if first.startswith("refused") else None
        self.url = None if self.refused else first.split(" ", 1)[1]

    def hear(self, what, times=1):
        return wait_until(lambda: self.lines(what)[times - 1:], SECONDS, f"{times} x {what!r} in {self.said[-10:]}")

    def lines(self, what):
        return [line for line in self.said if line.startswith(what)]

    @property
    def port(self):
        return int(self.url.rsplit(":", 1)[1])

    def ask(self, path, method="GET", body=None):
        """(status, headers, text)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode("utf-8")
        finally:
            connection.close()

    def scrape(self):
        """{name: {labels as sorted pairs: value}}, after every rule of the format that can be seen here."""
        status, headers, text = self.ask("/metrics")
        expect(status == 200, f"{status} {text[:200]}")
        expect(headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8", headers["Content-Type"])
        expect(int(headers["Content-Length"]) == len(text.encode()), "Content-Length")
        found, families = {}, set()
        for family in text_string_to_metric_families(text):
            expect(family.name not in families, f"twice: {family.name}")
            families.add(family.name)
            expect(family.documentation and family.type in ("counter", "gauge"), f"{family}")
            for sample in family.samples:
                expect((family.type == "counter") == sample.name.endswith("_total"), f"{family.type} {sample.name}")
                expect(re.fullmatch("sloop_[a-z0-9_]+", sample.name) and "_ms" not in sample.name, sample.name)
                labels = tuple(sorted(sample.labels.items()))
                expect(labels not in found.setdefault(sample.name, {}), f"twice: {sample}")
                found[sample.name][labels] = sample.value
        return found

    def value(self, name, **labels):
        return self.scrape().get(name, {}).get(tuple(sorted(labels.items())))


def stats_of_the_header():
    with open(os.path.join(servers.ROOT, "include", "sloop.h"), encoding="utf-8") as file:
        table = file.read().split("#define SLOOP_STATS(X)", 1)[1].split("typedef struct", 1)[0]
    return re.findall(r'X\((\w+), "([^"]+)"', table)


# ---- the page ------------------------------------------------------------------------------------------------------


def page(box):
    kinesis = harness.client(box.url)
    streams = [harness.new_stream(kinesis, shards) for shards in (3, 1)]
    producers = [harness.Producer(kinesis, stream, seed=i) for i, stream in enumerate(streams)]
    for producer in producers:
        producer.put_all(200)
    with Program(harness.tail_environment(box.url), "listen=127.0.0.1:0", *streams) as program:
        program.tell("start")
        wait_until(lambda: sum(program.value("sloop_records_total", stream=s) or 0 for s in streams) == 400, SECONDS,
                   "all records in the page")
        for stream, producer in zip(streams, producers):
            data = sum(len(payload) for _, payload in producer.put.values())
            expect(program.value("sloop_payload_bytes_total", stream=stream) == data, f"{data} bytes were put")
            expect(program.value("sloop_ready", stream=stream) == 1, "sloop_ready")
        # Ages of news of a tip are known, and their lines there, once each shard was at its tip.
        found = wait_until(lambda: (now := program.scrape()) and
                           len(now.get("sloop_tip_age_seconds", {})) == 2 and now, SECONDS, "tips of both")
        for stream in streams:
            want = {(("shard", shard["ShardId"]), ("stream", stream)) for shard in harness.list_shards(kinesis, stream)}
            for name in ("behind_seconds", "unacked_records", "paused", "at_tip"):
                got = {labels for labels in found[f"sloop_shard_{name}"] if ("stream", stream) in labels}
                expect(got == want, f"sloop_shard_{name}: {got}, not {want}")
        expect(set(found["sloop_shard_unacked_records"].values()) == {0}, "unacked")
        names = {name for name in found if not name.startswith(("sloop_shard_", "sloop_ready", "sloop_build_info",
                                                                "sloop_call_errors"))}
        missing = len(stats_of_the_header()) - len(names)
        expect(missing == 2, f"{missing} stats are not there: more than the heartbeat of who has no leases, and for how "
               "long a lag has not been known that is known")
        # Records that are out, a lag that is seconds.
        program.tell("hold")
        producers[1].put_all(50)
        shard = harness.list_shards(kinesis, streams[1])[0]["ShardId"]
        wait_until(lambda: program.value("sloop_shard_unacked_records", stream=streams[1], shard=shard) == 50, SECONDS,
                   "50 records unacknowledged")
        program.tell("release")
        wait_until(lambda: program.value("sloop_shard_unacked_records", stream=streams[1], shard=shard) == 0, SECONDS,
                   "none unacknowledged")
    return f"{len(found)} families"


def lag_in_seconds(box):
    """A consumer that starts where an hour of records lies before it is behind by what the service says."""
    kinesis = harness.client(box.url)
    stream = harness.new_stream(kinesis, 1)
    harness.Producer(kinesis, stream).put_all(20)
    time.sleep(1.5)  # the records' age is the lag
    with Program(harness.tail_environment(box.url), "listen=127.0.0.1:0", stream) as program:
        program.tell("hold")
        program.tell("start")
        shard = harness.list_shards(kinesis, stream)[0]["ShardId"]
        behind = wait_until(lambda: program.value("sloop_shard_unacked_records", stream=stream, shard=shard) == 20 and
                            [program.value("sloop_shard_behind_seconds", stream=stream, shard=shard)], SECONDS, "a lag")
        expect(behind[0] is not None and 0 <= behind[0] < 60, f"{behind} seconds")
        program.tell("release")


def twins(box):
    """Two consumers of one stream in one program: no sample has the labels of another."""
    kinesis = harness.client(box.url)
    stream = harness.new_stream(kinesis, 2)
    harness.Producer(kinesis, stream).put_all(30)
    with Program(harness.tail_environment(box.url), "listen=127.0.0.1:0", stream, stream) as program:
        program.tell("start")
        for labels in ({}, {"consumer": "2"}):
            wait_until(lambda: program.value("sloop_records_total", stream=stream, **labels) == 30, SECONDS, "30 each")


def leases(box):
    """With leases: the labels of the application and the worker, epochs, what the table cost."""
    kinesis = harness.client(box.url)
    stream = harness.new_stream(kinesis, 2)
    with Program(harness.tail_environment(box.url), "listen=127.0.0.1:0", "app=billing", "worker=w-1", "store=memory",
                 "lease_ms=2000", stream) as program:
        status, _, text = program.ask("/ready")
        expect((status, text) == (503, f"{stream}: not started\n"), f"{status} {text}")
        program.tell("start")
        wait_until(lambda: program.ask("/ready")[0] == 200, SECONDS, f"ready; said {program.said[-5:]}")
        labels = {"stream": stream, "app": "billing", "worker": "w-1"}
        wait_until(lambda: program.value("sloop_shards", **labels) == 2, SECONDS, "both shards")
        expect(program.value("sloop_joined", **labels) == 1, "joined")
        wait_until(lambda: program.value("sloop_heartbeats_total", **labels) > 0, SECONDS, "heartbeats")
        expect(program.value("sloop_heartbeat_age_seconds", **labels) < 10, "heartbeat's age")
        found = program.scrape()
        expect(len(found["sloop_shard_epoch"]) == 2 and min(found["sloop_shard_epoch"].values()) >= 1, "epochs")
        program.tell("stop")
        program.hear("stopped")
        status, _, text = program.ask("/ready")
        expect((status, text) == (503, f"{stream}: stopped\n"), f"{status} {text}")


def leases_out_of_reach(box):
    """A worker that is cut off from its table, and not from its records, is not ready, alive all the same, and ready
    again when the table is back."""
    kinesis = harness.client(box.url)
    stream = harness.new_stream(kinesis, 2)
    with Valves({"table": box.url}) as valves:
        valves.turn("table", "cut")
        with Program(harness.tail_environment(box.url), "listen=127.0.0.1:0", "app=cut-off", "worker=w-1",
                     "store=dynamodb:metrics", f"store_endpoint={valves.url('table')}", "lease_ms=2000",
                     stream) as program:
            program.tell("start")
            program.hear("error")
            status, _, text = program.ask("/ready")
            expect(status == 503 and text in (f"{stream}: this worker has not joined its application\n",
                                              f"{stream}: its shards are not known yet\n"), f"{status} {text}")
            valves.turn("table", "open")
            wait_until(lambda: program.ask("/ready")[0] == 200, SECONDS, "ready")
            labels = {"stream": stream, "app": "cut-off", "worker": "w-1"}
            wait_until(lambda: program.value("sloop_shards", **labels) == 2, SECONDS, "both shards")
            expect(program.value("sloop_store_write_units_total", **labels) > 0, "what the table cost")
            valves.turn("table", "hole")
            wait_until(lambda: program.ask("/ready")[::2] ==
                       (503, f"{stream}: suspended: this worker can't renew its leases\n"), SECONDS, "not ready")
            expect(program.value("sloop_suspended", **labels) == 1, "sloop_suspended")
            expect(program.value("sloop_ready", **labels) == 0, "sloop_ready")
            expect(program.ask("/healthz")[0] == 200, "alive all the same")
            valves.turn("table", "open")
            wait_until(lambda: program.ask("/ready")[0] == 200, SECONDS, f"ready again; {program.said[-5:]}")


def a_hole():
    """A listing that lacks a shard: nobody reads a part of the keys. Not ready, and ready again when it is listed."""
    with sandbox_box.Box() as box:
        kinesis = harness.client(box.url)
        stream = harness.new_stream(kinesis, 2)
        half = {"Shards": harness.list_shards(kinesis, stream)[:1]}
        box.faults(f"* ListShards * body {json.dumps(half)}")
        with Program(harness.tail_environment(box.url), "listen=127.0.0.1:0", "app=holed", "worker=w", "store=memory",
                     "lease_ms=2000", "list_ms=1000", stream) as program:
            program.tell("start")
            holed = (503, f"{stream}: a part of the stream will not be read: there is a gap in the hash-key ranges\n")
            wait_until(lambda: program.ask("/ready")[::2] == holed, 400, "a hole")
            labels = {"stream": stream, "app": "holed", "worker": "w"}
            expect(program.value("sloop_holes", **labels) == 1 and program.value("sloop_ready", **labels) == 0, "levels")
            box.order("DELETE", "faults")
            wait_until(lambda: program.ask("/ready")[0] == 200, 400, f"ready; {program.said[-5:]}")
            expect(program.value("sloop_holes", **labels) == 0, "no hole")
            expect(program.value("sloop_shards", **labels) == 2, "both shards")


# ---- requests ------------------------------------------------------------------------------------------------------


def readiness(box):
    kinesis = harness.client(box.url)
    stream = harness.new_stream(kinesis, 1)
    with Program(harness.tail_environment(box.url), "listen=localhost:0", stream) as program:
        expect(program.ask("/ready")[::2] == (503, f"{stream}: not started\n"), "before start")
        expect(program.ask("/healthz")[::2] == (200, "alive\n"), "/healthz")
        expect(program.value("sloop_ready", stream=stream) == 0, "sloop_ready")
        program.tell("start")
        program.hear("tip")
        expect(program.ask("/ready?verbose=1")[::2] == (200, "ready\n"), "while running")
        program.tell("stop")
        program.hear("stopped")
        expect(program.ask("/ready")[::2] == (503, f"{stream}: stopped\n"), "after stop")
        expect(program.ask("/healthz")[0] == 200, "alive all the same")
        program.tell("close-metrics")

        def gone():
            try:
                socket.create_connection(("127.0.0.1", program.port), 1).close()
                return False
            except ConnectionRefusedError:
                return True

        wait_until(gone, SECONDS, "the port is free again")
    dead = f"http://127.0.0.1:{servers.free_port()}"
    with Program(harness.tail_environment(dead), "listen=127.0.0.1:0", stream) as program:
        program.tell("start")
        program.hear("error")
        expect(program.ask("/ready")[::2] == (503, f"{stream}: its shards are not known yet\n"), "no service")


def manners(box):
    kinesis = harness.client(box.url)
    stream = harness.new_stream(kinesis, 1)
    with Program(harness.tail_environment(box.url), "listen=127.0.0.1:0", stream) as program:
        for path in ("/", "/metric", "/metrics/", "//metrics", "/metrics%00", "/../metrics", "/" + "x" * 8000):
            expect(program.ask(path)[0] == 404, f"{path[:20]}: {program.ask(path)}")
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "get"):
            status, headers, _ = program.ask("/metrics", method)
            expect((status, headers.get("Allow")) == (405, "GET, HEAD"), f"{method}: {status} {headers}")
        for path in ("/metrics", "/ready", "/healthz"):
            get, head = program.ask(path), program.ask(path, "HEAD")
            expect(head[0] == get[0] and head[2] == "" and head[1]["Content-Type"] == get[1]["Content-Type"], f"{head}")
        expect(program.ask("/metrics", "GET", b"x" * 2000)[0] == 413, "a body")
        done = subprocess.run(["curl", "-s", "--max-time", "20", "-o", "/dev/null", "-w", "%{http_code} %{content_type}",
                               program.url + "/metrics"], stdout=subprocess.PIPE, text=True, check=True)
        expect(done.stdout == "200 text/plain; version=0.0.4; charset=utf-8", done.stdout)
        expect(program.ask("/healthz")[1]["Connection"] == "close", "one answer a connection")


def raw(port, data, seconds=10):
    """The answer to these bytes; b"" when it was cut without a word."""
    with socket.create_connection(("127.0.0.1", port), seconds) as peer:
        try:
            peer.sendall(data)
            peer.shutdown(socket.SHUT_WR)
            got = b""
            while chunk := peer.recv(65536):
                got += chunk
            return got
        except OSError as e:  # ENOTCONN: it was reset before the shutdown
            if e.errno not in (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN):
                raise
            return b""


def garbage(box):
    """Meanwhile records are read and pages served."""
    kinesis = harness.client(box.url)
    stream = harness.new_stream(kinesis, 2)
    producer = harness.Producer(kinesis, stream)
    rng = random.Random(4)
    with Program(harness.tail_environment(box.url), "listen=127.0.0.1:0", stream) as program:
        program.tell("start")
        good = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
        cases = [b"", b"\r\n", b"GET", b"GET /metrics", b"\x16\x03\x01\x02\x00\x01\x00", b"GET /metrics HTTP/9.9\r\n\r\n",
                 b"GET /metrics HTTP/1.1\r\nX: " + b"a" * 100000, b"A" * 70000,
                 b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
                 b"GET /metrics HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"]
        cases += [bytes(rng.randrange(256) for _ in range(rng.randrange(400))) for _ in range(60)]
        for _ in range(120):  # a good one, damaged
            bad = bytearray(good)
            for _ in range(rng.randint(1, 3)):
                bad[rng.randrange(len(bad))] = rng.randrange(256)
            cases.append(bytes(bad[:rng.randint(1, len(bad))]))
        for case in cases:
            answer = raw(program.port, case)
            expect(not answer or re.match(rb"HTTP/1\.1 (200|4\d\d|5\d\d) ", answer), f"{case[:80]!r}: {answer[:80]!r}")
        # More connections than it has places for, silent ones: they are shed, and gone later.
        silent = [socket.create_connection(("127.0.0.1", program.port), 10) for _ in range(150)]
        producer.put_all(100)
        for peer in silent:
            peer.close()
        wait_until(lambda: raw(program.port, good).startswith(b"HTTP/1.1 200 OK"), SECONDS, "pages as before")
        wait_until(lambda: program.value("sloop_records_total", stream=stream) == 100, SECONDS, "100 records")
        # Clients that leave in the middle of a page.
        for _ in range(30):
            with socket.create_connection(("127.0.0.1", program.port), 10) as peer:
                peer.sendall(good)
        wait_until(lambda: raw(program.port, good).startswith(b"HTTP/1.1 200 OK"), SECONDS, "pages as before")
    return f"{len(cases)} requests"


def where_it_listens(box):
    kinesis = harness.client(box.url)
    stream = harness.new_stream(kinesis, 1)
    environment = harness.tail_environment(box.url)
    with Program(environment, "listen=[::1]:0", stream) as program:
        if program.refused is None:
            expect(program.url.startswith("http://[::1]:"), program.url)
            with socket.create_connection(("::1", program.port), 10) as peer:
                peer.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
                expect(peer.recv(4096).startswith(b"HTTP/1.1 200 OK\r\n"), "over IPv6")
    with Program(environment, "listen=127.0.0.1:0", stream) as program:
        with Program(environment, f"listen=127.0.0.1:{program.port}", stream) as second:
            expect(second.refused.startswith("refused EADDRINUSE ") and str(program.port) in second.refused,
                   f"{second.refused}")
    for arguments, why in ((["listen=9100"], "it must be ADDRESS:PORT"), ([], "neither listen nor cloudwatch"),
                           (["cloudwatch=AWS/Kinesis"], "AWS/ is reserved for AWS services"),
                           (["listen=127.0.0.1:0", "cloudwatch=:x"], "begins with a colon"),
                           (["cloudwatch=x", "cloudwatch_ms=10"], "at least 1000")):
        with Program(environment, *arguments, stream) as program:
            expect(program.refused and program.refused.startswith("refused EOPTION") and why in program.refused,
                   f"{arguments}: {program.refused}")


class Command:
    """stream-tail with metrics: its page is where standard error says."""

    def __init__(self, environment, *arguments):
        self.process = subprocess.Popen([servers.binary(), "-J", *arguments], env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        preexec_fn=servers.die_with_parent)
        self.out, self.err = [], []
        for stream, into in ((self.process.stdout, self.out), (self.process.stderr, self.err)):
            threading.Thread(target=lambda s=stream, i=into: i.extend(line.rstrip("\n") for line in iter(s.readline, "")),
                             daemon=True).start()
        told = "stream-tail: metrics at "
        line = wait_until(lambda: [l for l in self.err if l.startswith(told)], SECONDS, f"{told!r} in {self.err}")[0]
        self.url = line[len(told):].removesuffix("/metrics")

    port, ask, scrape, value = Program.port, Program.ask, Program.scrape, Program.value

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.send_signal(signal.SIGINT)
        try:
            code = self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        if exception[0] is None:
            expect(code == 0, f"stream-tail ended with {code}: {self.err}")


def command(box):
    kinesis = harness.client(box.url)
    streams = [harness.new_stream(kinesis, shards) for shards in (2, 1)]
    for stream in streams:
        harness.Producer(kinesis, stream).put_all(60)
    with Command(harness.tail_environment(box.url), "-o", "oldest", "--metrics", "127.0.0.1:0", *streams) as tail:
        for stream in streams:
            wait_until(lambda: tail.value("sloop_records_total", stream=stream) == 60, SECONDS, "60 records of each")
        wait_until(lambda: tail.ask("/ready")[0] == 200, SECONDS, "ready")
        wait_until(lambda: len(tail.out) == 120, SECONDS, "120 lines")
        # One after the other on one port: the second is told so, in one line.
        done = harness.tail(["--metrics", f"127.0.0.1:{tail.port}", streams[0]], harness.tail_environment(box.url))
        told = b"stream-tail: --metrics: can't listen on 127.0.0.1:%d: " % tail.port
        expect(done.code == 1 and told in done.err, f"{done}")
    done = harness.tail(["--metrics", "here", streams[0]], harness.tail_environment(box.url))
    expect(done.code == 2 and b"it must be ADDRESS:PORT" in done.err and done.err.count(b"\n") == 1, f"{done}")


def command_leased(box):
    kinesis = harness.client(box.url)
    stream = harness.new_stream(kinesis, 3)
    harness.Producer(kinesis, stream).put_all(60)
    with Command(harness.tail_environment(box.url), "-G", "billing", "--store", "memory", "-o", "oldest", "-X", "worker=w",
                 "-X", "lease_ms=2000", "--metrics", "127.0.0.1:0", stream) as tail:
        labels = {"stream": stream, "app": "billing", "worker": "w"}
        wait_until(lambda: tail.value("sloop_records_total", **labels) == 60, SECONDS, f"60 records; {tail.err}")
        expect(tail.value("sloop_shards", **labels) == 3, "three leases")
        expect(tail.ask("/ready")[0] == 200, "ready")


# ---- CloudWatch ----------------------------------------------------------------------------------------------------


def metrics_in(cloudwatch, namespace, **more):
    """{(name, dimensions as sorted pairs)}; pages of 500."""
    found, token = set(), {}
    while True:
        answer = cloudwatch.list_metrics(Namespace=namespace, **more, **token)
        found |= {(m["MetricName"], tuple(sorted((d["Name"], d["Value"]) for d in m["Dimensions"])))
                  for m in answer["Metrics"]}
        if not answer.get("NextToken"):
            return found
        token = {"NextToken": answer["NextToken"]}


def statistic(cloudwatch, namespace, name, which, **dimensions):
    now = datetime.datetime.now(datetime.timezone.utc)
    answer = cloudwatch.get_metric_statistics(
        Namespace=namespace, MetricName=name, Dimensions=[{"Name": k, "Value": v} for k, v in dimensions.items()],
        StartTime=now - datetime.timedelta(hours=1), EndTime=now + datetime.timedelta(hours=1), Period=7200,
        Statistics=[which])
    points = answer["Datapoints"]
    units = {point["Unit"] for point in points}
    value = {"Sum": sum, "Maximum": max}[which](point[which] for point in points) if points else None
    return value, units.pop() if len(units) == 1 else units


def environment_of(box, watch, identity=()):
    return harness.tail_environment(box.url, *identity, AWS_ENDPOINT_URL_CLOUDWATCH=watch)


def cloudwatch_own(box, moto):
    kinesis, watch = harness.client(box.url), harness.client(moto.url, "cloudwatch")
    stream = harness.new_stream(kinesis, 3)
    producer = harness.Producer(kinesis, stream)
    producer.put_all(150)
    with Program(environment_of(box, moto.url), "listen=127.0.0.1:0", "cloudwatch=Test/Own", "cloudwatch_ms=1000",
                 stream) as program:
        program.tell("start")
        took = lambda: statistic(watch, "Test/Own", "RecordsProcessed", "Sum", Stream=stream)[0]
        wait_until(lambda: took() == 150, SECONDS, "150 records in CloudWatch")
        producer.put_all(70)  # what is added is told, once, over several calls
        wait_until(lambda: took() == 220, SECONDS, "220 records in CloudWatch")
        told = program.value("sloop_cloudwatch_data_total")
        wait_until(lambda: program.value("sloop_cloudwatch_data_total") >= told + 18, SECONDS, "two calls more")
        expect(took() == 220, f"{took()} after two calls more")
        expect(program.value("sloop_cloudwatch_failures_total") == 0, "failures")
    data = sum(len(payload) for _, payload in producer.put.values())
    expect(statistic(watch, "Test/Own", "DataBytesProcessed", "Sum", Stream=stream) == (data, "Bytes"), "bytes")
    for shard in harness.list_shards(kinesis, stream):
        lag = statistic(watch, "Test/Own", "MillisBehindLatest", "Maximum", Stream=stream, Shard=shard["ShardId"])
        expect(lag[0] is not None and lag[1] == "Milliseconds", f"{shard['ShardId']}: {lag}")
    names = {name for name, _ in metrics_in(watch, "Test/Own")}
    expect(names == {"RecordsProcessed", "DataBytesProcessed", "MillisBehindLatest", "Throttles", "Losses",
                     "DeadLetters"}, f"{names}")


def cloudwatch_last_word(box, moto):
    """Figures since the last call are told when a consumer stops."""
    kinesis, watch = harness.client(box.url), harness.client(moto.url, "cloudwatch")
    stream = harness.new_stream(kinesis, 1)
    harness.Producer(kinesis, stream).put_all(30)
    with Program(environment_of(box, moto.url), "listen=127.0.0.1:0", "cloudwatch=Test/Last", stream) as program:
        program.tell("start")
        wait_until(lambda: program.value("sloop_records_total", stream=stream) == 30, SECONDS, "30 records")
        program.tell("stop")
        wait_until(lambda: statistic(watch, "Test/Last", "RecordsProcessed", "Sum", Stream=stream)[0] == 30, 30,
                   "30 records in CloudWatch, before a minute is over")


def cloudwatch_motorway(box, moto):
    """The metric as the motorway library of Python puts it: its namespace, one name, the dimensions Stream and Shard."""
    kinesis, watch = harness.client(box.url), harness.client(moto.url, "cloudwatch")
    stream = harness.new_stream(kinesis, 2)
    with Program(environment_of(box, moto.url), "cloudwatch_set=motorway", "cloudwatch_ms=1000", stream) as program:
        expect(program.url == "", "nothing listens")
        program.tell("start")
        want = {("MillisecondsBehind", (("Shard", shard["ShardId"]), ("Stream", stream)))
                for shard in harness.list_shards(kinesis, stream)}
        wait_until(lambda: metrics_in(watch, "Motorway/Kinesis") == want, SECONDS, f"{want}")
    value, unit = statistic(watch, "Motorway/Kinesis", "MillisecondsBehind", "Maximum", Stream=stream,
                            Shard="shardId-000000000000")
    expect(value is not None and value >= 0 and unit == "Milliseconds", f"{value} {unit}")


def cloudwatch_fleet(box, moto):
    kinesis, watch = harness.client(box.url), harness.client(moto.url, "cloudwatch")
    stream = harness.new_stream(kinesis, 2)
    with Program(environment_of(box, moto.url), "app=billing", "store=memory", "lease_ms=2000", "cloudwatch=Test/Fleet",
                 "cloudwatch_ms=1000", stream) as program:
        program.tell("start")
        wait_until(lambda: statistic(watch, "Test/Fleet", "CurrentLeases", "Maximum", Stream=stream,
                                     Application="billing")[0] == 2, SECONDS, "two leases in CloudWatch")
        both = {("Application", "Stream"), ("Application", "Shard", "Stream")}  # a shard's come when it is read

        def dimensions():
            return {tuple(name for name, _ in pairs) for _, pairs in metrics_in(watch, "Test/Fleet")}

        wait_until(lambda: dimensions() == both, SECONDS, "dimensions of fleet and shards")
    found = metrics_in(watch, "Test/Fleet")
    expect({name for name, _ in found} >= {"LeasesTaken", "LostLeases", "Evictions", "Holes", "WorkersSuspended",
                                           "StoreWriteUnits", "StoreReadUnits", "StoreThrottles"}, f"{found}")
    expect(dimensions() == both, f"{dimensions()}")


def cloudwatch_many(box, moto):
    """More shards than one call may have data: all arrive, in calls within the service's limits."""
    kinesis, watch = harness.client(box.url), harness.client(moto.url, "cloudwatch")
    shards = 1300
    stream = f"sloop-many-{random.getrandbits(40):010x}"
    kinesis.create_stream(StreamName=stream, ShardCount=shards)
    harness.wait_active(kinesis, stream)
    sizes = []
    with Watch(moto.port, sizes) as between:
        with Program(environment_of(box, between.url), "listen=127.0.0.1:0", "cloudwatch=Test/Many",
                     "cloudwatch_ms=5000", stream) as program:
            program.tell("start")

            def lags():
                return {dict(pairs).get("Shard") for name, pairs in metrics_in(watch, "Test/Many")
                        if name == "MillisBehindLatest"} - {None}

            wait_until(lambda: len(lags()) == shards, 120, "every shard's lag in CloudWatch")
            found = program.scrape()
            expect(len(found["sloop_shard_at_tip"]) == shards, "every shard on the page")
            expect(found["sloop_hold_max_seconds"][(("stream", stream),)] < 1, "the loop was held")
            hold = max(found["sloop_turn_max_seconds"].values())
    expect(max(n for n, _ in sizes) == 1000 and max(size for _, size in sizes) <= 1000000, f"{sizes}")
    return f"calls of {[n for n, _ in sizes[:4]]}, longest turn {hold * 1000:.1f} ms"


class Watch:
    """Between the program and moto: counts what each call holds; refuses or says nothing when told so."""

    def __init__(self, target, sizes):
        watch = self
        self.broken = False

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                sizes.append((len(json.loads(body)["MetricData"]), len(body)))
                if watch.broken:
                    self.send_response(500)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                onward = http.client.HTTPConnection("127.0.0.1", target, timeout=60)
                onward.request("POST", self.path, body, dict(self.headers.items()))
                answer = onward.getresponse()
                data = answer.read()
                self.send_response(answer.status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                onward.close()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.server.shutdown()
        self.server.server_close()


def cloudwatch_fails_and_heals(box, moto):
    """Warned once, counted, and afterwards the sum is what was read: nothing lost, nothing twice. Reading goes on."""
    kinesis, watch = harness.client(box.url), harness.client(moto.url, "cloudwatch")
    stream = harness.new_stream(kinesis, 1)
    producer = harness.Producer(kinesis, stream)
    with Watch(moto.port, []) as between:
        between.broken = True
        with Program(environment_of(box, between.url), "listen=127.0.0.1:0", "cloudwatch=Test/Heals",
                     "cloudwatch_ms=1000", stream) as program:
            program.tell("start")
            producer.put_all(40)
            wait_until(lambda: program.value("sloop_cloudwatch_failures_total") >= 3, SECONDS, "three failures")
            wait_until(lambda: program.value("sloop_records_total", stream=stream) == 40, SECONDS, "40 records")
            expect(program.ask("/ready")[0] == 200, "reading is not disturbed")
            warned = program.lines("log metrics:")
            expect(len(warned) == 1 and "CloudWatch" in warned[0] and "tried again every 1 s" in warned[0], f"{warned}")
            between.broken = False
            took = lambda: statistic(watch, "Test/Heals", "RecordsProcessed", "Sum", Stream=stream)[0]
            wait_until(lambda: took() == 40, SECONDS, "40 records in CloudWatch")
            producer.put_all(5)
            wait_until(lambda: took() == 45, SECONDS, "45 records in CloudWatch")
            expect(len(program.lines("log metrics:")) == 2, f"{program.lines('log metrics:')}")
    dead = f"http://127.0.0.1:{servers.free_port()}"
    with Program(environment_of(box, dead), "listen=127.0.0.1:0", "cloudwatch=Test/Dead", "cloudwatch_ms=1000",
                 stream) as program:
        program.tell("start")
        wait_until(lambda: program.value("sloop_cloudwatch_failures_total") >= 2, SECONDS, "two failures")
        wait_until(lambda: program.value("sloop_records_total", stream=stream) == 45, SECONDS, "45 records")
        expect(len(program.lines("log metrics:")) == 1, f"{program.said}")
    return warned[0]


def cloudwatch_refused(box):
    """A user who may do anything but put metrics, judged by moto's IAM."""
    kinesis = harness.client(box.url)
    stream = harness.new_stream(kinesis, 1)
    harness.Producer(kinesis, stream).put_all(10)
    with servers.Moto(unchecked=3) as moto:
        iam = harness.client(moto.url, "iam", "unchecked", "unchecked")
        iam.create_user(UserName="reader")
        key = iam.create_access_key(UserName="reader")["AccessKey"]
        iam.put_user_policy(UserName="reader", PolicyName="kinesis", PolicyDocument=json.dumps(
            {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "kinesis:*", "Resource": "*"}]}))
        identity = (key["AccessKeyId"], key["SecretAccessKey"])
        with Program(environment_of(box, moto.url, identity), "listen=127.0.0.1:0", "cloudwatch=Test/Refused",
                     "cloudwatch_ms=1000", stream) as program:
            program.tell("start")
            wait_until(lambda: program.value("sloop_cloudwatch_failures_total") >= 3, SECONDS, "three failures")
            warned = program.lines("log metrics:")
            expect(len(warned) == 1 and "cloudwatch:PutMetricData" in warned[0], f"{warned}")
            expect(key["SecretAccessKey"] not in "\n".join(program.said), "a secret is printed")
            wait_until(lambda: program.value("sloop_records_total", stream=stream) == 10, SECONDS, "10 records")
            expect(program.ask("/ready")[0] == 200, "reading is not disturbed")
    return warned[0]


def cloudwatch_command(box, moto):
    kinesis, watch = harness.client(box.url), harness.client(moto.url, "cloudwatch")
    stream = harness.new_stream(kinesis, 1)
    harness.Producer(kinesis, stream).put_all(60)
    with Command(environment_of(box, moto.url), "-o", "oldest", "--metrics", "127.0.0.1:0", "-X", "cloudwatch=Test/Command",
                 "-X", "cloudwatch_ms=1000", stream):
        wait_until(lambda: statistic(watch, "Test/Command", "RecordsProcessed", "Sum", Stream=stream)[0] == 60, SECONDS,
                   "60 records in CloudWatch")
    dead = f"http://127.0.0.1:{servers.free_port()}"
    with Command(environment_of(box, dead), "-o", "oldest", "--metrics", "127.0.0.1:0", "-X", "cloudwatch=Test/Command",
                 "-X", "cloudwatch_ms=1000", stream) as tail:
        wait_until(lambda: len(tail.out) == 60, SECONDS, "60 lines")
        line = wait_until(lambda: [l for l in tail.err if "metrics: CloudWatch: " in l], SECONDS, f"{tail.err}")[0]
    return line


def all_others(tests):
    with sandbox_box.Box() as box:
        tests.side_by_side([lambda test=test: tests.run(test.__name__, test, box) for test in (
            page, lag_in_seconds, twins, leases, leases_out_of_reach, readiness, manners, garbage, where_it_listens, command,
            command_leased)], 3)
        tests.run("cloudwatch_refused", cloudwatch_refused, box)

        def with_moto(_, moto):
            tests.side_by_side([lambda test=test: tests.run(test.__name__, test, box, moto) for test in (
                cloudwatch_own, cloudwatch_last_word, cloudwatch_motorway, cloudwatch_fleet, cloudwatch_many,
                cloudwatch_fails_and_heals, cloudwatch_command)], 2)

        tests.with_server(servers.Moto, with_moto)


def main():
    harness.boto3_or_skip()
    tests = Tests()
    # A leader compares the stream with its table once a minute: that one waits for three minutes, beside all others.
    slow = [lambda: tests.run("a_hole", a_hole)] if harness.FULL else []
    tests.side_by_side(slow + [lambda: all_others(tests)], 2)
    tests.end()


main()
