"""Broken networks between stream-tail and a server (faults 45 and 46 of the fault list): every record still comes exactly
once and in order, within a bounded time, and what can't work ends with one clear line.

The fault comes from proxy.py, or from a preloaded getaddrinfo; each test also asserts that its fault really happened.
"""

import os
import signal
import socket
import tempfile
import time

import cpu_waits
import harness
import servers
from harness import FULL, Tests, expect
from proxy import Proxy

RECORDS = 8000 if FULL else 1200
CONNECT_SECONDS = 4  # the library gives up connecting after so long
CALL_SECONDS = 30  # and waits so long for the rest of an answer

# name, rules of the proxy, which action must have been used how often at least, seconds at most
CASES = [
    ("answers come late", ["6:delay:400:GetRecords"], "delay", 6, 30),
    ("cut before the first byte", ["3:cut:0:GetRecords"], "cut", 3, 30),
    ("cut within the head", ["3:cut:40:GetRecords"], "cut", 3, 30),
    ("cut within the body", ["3:cut:900:GetRecords"], "cut", 3, 30),
    ("half-closed within the body", ["3:half:900:GetRecords"], "half", 3, 30),
    ("reset before the first byte", ["3:rst:0:GetRecords"], "rst", 3, 30),
    ("reset within the body", ["3:rst:900:GetRecords"], "rst", 3, 30),
    ("request lost, reset", ["3:lose-request::GetRecords"], "lose-request", 3, 30),
    ("request lost, orderly end", ["3:fin-request::GetRecords"], "fin-request", 3, 30),
    ("byte by byte", ["4:trickle:3000:GetRecords"], "trickle", 4, 60),
    ("a wrong byte in the status line", ["3:corrupt:0:GetRecords"], "corrupt", 3, 30),
    ("a wrong first byte of the body", ["3:corrupt-body:0:GetRecords"], "corrupt-body", 3, 30),
    ("connections reset as they come", ["3:refuse"], "refuse", 3, 30),
    ("connections that never answer", ["2:deaf"], "deaf", 2, 2 * CALL_SECONDS + 30),
    ("listing and locating cut too", ["1:cut:20:ListShards", "2:rst:0:GetShardIterator", "1:cut:0:DescribeStreamSummary"],
     "rst", 2, 30),
    ("every third answer broken, many ways",
     [rule for n in (0, 10, 200, 700, 1500) for rule in (f"1:cut:{n}:GetRecords", "2:delay:0:GetRecords",
                                                        f"1:rst:{n}:GetRecords", "2:delay:0:GetRecords")], "rst", 3, 60),
    ("an answer that stops for ever", ["1:blackhole:900:GetRecords"], "blackhole", 1, CALL_SECONDS + 30),
]


def backlog(server):
    kinesis = harness.client(server.url)
    stream = harness.new_stream(kinesis, 4)
    return stream, harness.Producer(kinesis, stream).put_all(RECORDS)


def judge(done, put):
    records = harness.records_of(done.out)
    harness.judge_once(records, put)
    harness.judge_shard_order(records)
    harness.judge_time_order(records)
    harness.judge_not_late(records)


def read_through(server, stream, put, rules, action, times, seconds, wire):
    # Small pages: several calls a shard, so that a fault falls between others.
    with Proxy(server.url, rules) as proxy:
        done = harness.tail(["-o", "oldest", "-e", "-J", "--wire", wire, "-X", "fetch_records_max=100", stream],
                            harness.tail_environment(proxy.url), seconds)
    expect(done.code == 0, str(done))
    judge(done, put)
    used = proxy.counts["faults"].get(action, 0)
    expect(used >= times, f"{action} was used {used} times: {proxy.counts}")
    return f"{done.seconds:.1f} s, {proxy.counts['requests']} requests, {proxy.counts['connections']} connections"


def idle_close(server):
    """A server that closes idle connections after 300 ms, polled every 1000 ms: each poll finds its connection gone."""
    kinesis = harness.client(server.url)
    stream = harness.new_stream(kinesis, 4)
    producer = harness.Producer(kinesis, stream)
    with Proxy(server.url, ["*:idle:300"]) as proxy:
        running = harness.Running(["-o", "oldest", "-J", stream], harness.tail_environment(proxy.url))
        try:
            for count in (200, 400, 600):
                producer.put_all(200)
                running.wait_lines(count, 20)
            expect(running.interrupt() == 0, running.stderr())
        finally:
            running.kill()
    records = harness.records_of(running.lines)
    harness.judge_once(records, producer.put)
    harness.judge_shard_order(records)
    expect(proxy.counts["connections"] >= 3, str(proxy.counts))
    return str(proxy.counts["connections"]) + " connections"


def peer_vanishes(server):
    """Everything goes silent in the middle and comes back: the calls under way are given up, nothing is lost."""
    stream, put = backlog(server)
    with Proxy(server.url, ["*:slow:200000:GetRecords"]) as proxy:
        running = harness.Running(["-o", "oldest", "-J", "-X", "fetch_records_max=100", stream],
                                  harness.tail_environment(proxy.url))
        try:
            running.wait_lines(100, 30)
            proxy.process.send_signal(signal.SIGSTOP)
            stopped = len(running.lines)
            time.sleep(3)  # the outage itself, not a wait for something
            proxy.process.send_signal(signal.SIGCONT)
            running.wait_lines(len(put), CALL_SECONDS + 30)
            expect(running.interrupt() == 0, running.stderr())
        finally:
            proxy.process.send_signal(signal.SIGCONT)
            running.kill()
    records = harness.records_of(running.lines)
    harness.judge_once(records, put)
    harness.judge_shard_order(records)
    return f"{stopped} before the outage"


def interrupt_while_silent(server):
    """Ctrl-C does not wait for a server that says nothing."""
    stream, _ = backlog(server)
    with Proxy(server.url, ["*:blackhole:0:GetRecords"]) as proxy:
        running = harness.Running(["-o", "oldest", "-J", stream], harness.tail_environment(proxy.url))
        try:
            # GetRecords is out: the proxy's own requests are more than describe, list and iterators.
            time.sleep(1.5)
            watch = cpu_waits.Stopwatch()
            code = running.interrupt(20)
            expect(code == 0, f"{code}: {running.stderr()}")
            took = watch.own()
            expect(took < 2.5, f"took {took:.1f} s")
        finally:
            running.kill()
    expect(proxy.counts["faults"].get("blackhole", 0) > 0, str(proxy.counts))
    return f"{took:.2f} s"


# ---- names -----------------------------------------------------------------------------------------------------


def shim():
    path = os.environ.get("SLOOP_TEST_DNS_SHIM", "")
    if not os.path.exists(path):
        raise servers.Missing("SLOOP_TEST_DNS_SHIM does not name the built dns_shim")
    return path


def named(server, steps, log=None):
    port = server.url.rsplit(":", 1)[1]
    return harness.tail_environment(f"http://kinesis.sloop.test:{port}", LD_PRELOAD=shim(), SLOOP_DNS=steps,
                                    SLOOP_DNS_LOG=log, ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0")


def name_found(server, stream, put, steps, seconds):
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "lookups")
        done = harness.tail(["-o", "oldest", "-e", "-J", "-v", stream], named(server, steps, log), seconds)
        lookups = os.path.getsize(log) if os.path.exists(log) else 0
    expect(done.code == 0, str(done))
    judge(done, put)
    expect(lookups > 0, "the shim was not asked")
    return f"{done.seconds:.1f} s, {lookups} lookups"


def name_not_found(server, stream, steps, seconds):
    done = harness.tail(["-o", "oldest", "-e", stream], named(server, steps), seconds)
    lines = done.err.decode().strip().split("\n")
    expect(done.code == 1 and not done.out, str(done))
    expect(len(lines) == 1 and "kinesis.sloop.test" in lines[0], str(done))
    return lines[0][:120]


class Blackhole:
    """An address that takes no connection: a listening socket whose backlog is full, so that the kernel drops SYNs."""

    def __init__(self, host, port):
        self.sockets = [socket.socket()]
        self.sockets[0].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sockets[0].bind((host, port))
        self.sockets[0].listen(0)
        for _ in range(4):
            full = socket.socket()
            full.setblocking(False)
            full.connect_ex((host, port))
            self.sockets.append(full)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for one in self.sockets:
            one.close()


def dead_address_first(server, stream, put):
    """Addresses are tried in random order. libcurl 7.88 gives a silent one up after half the connect timeout, but does
    not begin with the next before the whole has passed (seen with strace): then the end is a clear line, in time. Never
    a crash (its socket is closed without a word), and never a wait longer than the connect timeout."""
    port = int(server.url.rsplit(":", 1)[1])
    ways = set()
    with Blackhole("127.0.0.3", port):
        for _ in range(8):
            done = harness.tail(["-o", "oldest", "-e", "-J", stream], named(server, "127.0.0.3+127.0.0.1"),
                                2 * CONNECT_SECONDS + 20)
            ways.add(done.code)
            if done.code == 0:
                judge(done, put)
            else:
                lines = done.err.decode().strip().split("\n")
                expect(done.code == 1 and len(lines) == 1 and "no connection to" in lines[0], str(done))
                expect(done.own_seconds < CONNECT_SECONDS + 3, str(done))
                break
    return "exit codes " + ", ".join(map(str, sorted(ways)))


def name_lost_later(server):
    """After the first answer everything is retried: the name is lost while a stream is read (its server closes idle
    connections, and libcurl forgets names after a minute at most), and comes back."""
    kinesis = harness.client(server.url)
    stream = harness.new_stream(kinesis, 4)
    producer = harness.Producer(kinesis, stream)
    with Proxy(server.url, ["*:idle:300"]) as proxy, tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "lookups")
        running = harness.Running(["-o", "oldest", "-J", stream],
                                  named(proxy, "127.0.0.1,again,nx,stall=30,127.0.0.1", log))
        try:
            producer.put_all(100)
            running.wait_lines(100, 20)
            harness.wait_until(lambda: os.path.getsize(log) >= 5, 200, "five lookups")
            producer.put_all(100)
            running.wait_lines(200, 60)
            expect(running.interrupt() == 0, running.stderr())
        finally:
            running.kill()
    records = harness.records_of(running.lines)
    harness.judge_once(records, producer.put)
    harness.judge_shard_order(records)


def names(tests, server, stream, put):
    tests.run("dns: plain", name_found, server, stream, put, "127.0.0.1", 30)
    tests.run("dns: a refusing address first", name_found, server, stream, put, "127.0.0.2+127.0.0.1", 30)
    tests.run("dns: a silent address first", dead_address_first, server, stream, put)
    tests.run("dns: no such name", name_not_found, server, stream, "nx", CONNECT_SECONDS + 4)
    tests.run("dns: the name server fails", name_not_found, server, stream, "again", CONNECT_SECONDS + 4)
    tests.run("dns: no answer at all", name_not_found, server, stream, "stall=30", 2 * CONNECT_SECONDS + 6)
    if FULL:
        tests.run("dns: lost in mid-run, then back", name_lost_later, server)


def reading(tests, server, cases):
    stream, put = backlog(server)
    for name, rules, action, times, seconds in cases:
        if action in ("blackhole", "deaf") and not FULL:
            continue  # half a minute each
        for wire in ("json", "cbor") if FULL or "body" in name else ("auto",):
            tests.run(f"{name}, {wire}", read_through, server, stream, put, rules, action, times, seconds, wire)


def others(tests, server):
    stream, put = backlog(server)
    tests.run("idle connections closed by the server", idle_close, server)
    tests.run("the peer is gone for 3 s", peer_vanishes, server)
    tests.run("Ctrl-C while the server is silent", interrupt_while_silent, server)
    names(tests, server, stream, put)


def main():
    harness.boto3_or_skip()
    tests = Tests()
    # A server each: five reads a second of a shard are all that it allows.
    tests.side_by_side([lambda: tests.with_server(servers.Sandbox, reading, CASES[::2]),
                        lambda: tests.with_server(servers.Sandbox, reading, CASES[1::2]),
                        lambda: tests.with_server(servers.Sandbox, others)])
    tests.end()


if __name__ == "__main__":
    main()
