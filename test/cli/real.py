"""The built stream-tail against its own sandbox in another process (-M). The producer here is plain HTTP by
urllib, the judge plain python: neither shares a line with the program. SLOOP_BIN names the program."""

import base64
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import urllib.request

from run import check, end, environment, equal, main, read_some, run, test, wait_until

BIN = os.environ["SLOOP_BIN"]
with open(BIN, "rb") as _f:
    SANITIZED = b"__asan_init" in _f.read()  # its memory is not ours


class Box:
    """stream-tail -M as a context; ends by closing its standard input."""

    def __init__(self, shards=4, *args):
        self.process = subprocess.Popen([BIN, "-q", "-M", str(shards), *args], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        text = b""
        while b"AWS_SECRET_ACCESS_KEY" not in text or not text.endswith(b"\n"):
            piece = read_some(self.process.stdout.fileno())
            if not piece:
                raise AssertionError("no environment: " + self.process.stderr.read().decode())
            text += piece
        self.env = dict(re.fullmatch(r"export (\w+)=(.*)", line).groups() for line in text.decode().splitlines())
        self.url = self.env["AWS_ENDPOINT_URL"]

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.process.stdin.close()
        try:
            equal(self.process.wait(5), 0)
        finally:
            end(self.process)

    def call(self, operation, **body):
        request = urllib.request.Request(self.url, json.dumps(body).encode(), {
            "Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "Kinesis_20131202." + operation,
            "Authorization": "AWS4-HMAC-SHA256 Credential=sandbox/20260101/us-east-1/kinesis/aws4_request, "
                             "SignedHeaders=host, Signature=0"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def admin(self, path, text=""):
        with urllib.request.urlopen(urllib.request.Request(self.url + path, text.encode()), timeout=10) as answer:
            return answer.read()

    def calls(self, operation):
        with urllib.request.urlopen(self.url + "/_sandbox/stats", timeout=10) as answer:
            return json.loads(answer.read())["operations"][operation]["calls"]

    def put(self, n, stream="demo", start=0, size=0):
        """Puts n records; returns [(shard, seq, text)] in the order they were put."""
        put = []
        for first in range(start, start + n, 200):
            texts = [f"record {i} ".ljust(size, "x") for i in range(first, min(first + 200, start + n))]
            answer = self.call("PutRecords", StreamName=stream, Records=[
                {"Data": base64.b64encode(t.encode()).decode(), "PartitionKey": f"key-{t[:12]}"} for t in texts])
            equal(answer["FailedRecordCount"], 0)
            put += [(r["ShardId"], r["SequenceNumber"], t) for r, t in zip(answer["Records"], texts)]
        return put

    def tail(self, *args, **more):
        return run(BIN, *args, env=self.env, **more)

    def start(self, *args, **more):
        more.setdefault("stdout", subprocess.PIPE)
        return subprocess.Popen([BIN, *args], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                env=environment(self.env), **more)


NO_LIMITS = ("-X", "sandbox.write_records_per_second=0", "-X", "sandbox.write_bytes_per_second=0")


def by_shard(records):
    shards = {}
    for shard, seq, text in records:
        shards.setdefault(shard, []).append((seq, text))
    return shards


def parsed(out):
    return [(r["shard"], r["seq"], r["payload"]) for r in map(json.loads, out.splitlines())]


@test
def a_backlog_comes_exactly_once_in_order():
    with Box(4, *NO_LIMITS) as box:
        put = box.put(3000)
        for extra in ((), ("--wire", "json"), ("--wire", "cbor"), ("--order", "shard")):
            r = box.tail("-o", "oldest", "-e", "-J", *extra, "demo")
            equal((r.code, r.err), (0, ""), extra)
            equal(by_shard(parsed(r.out)), by_shard(put), extra)
            check(b'"late"' not in r.out)
            times = [json.loads(line)["ts"] for line in r.out.splitlines()]
            if not extra or extra[0] == "--wire":
                equal(times, sorted(times), extra)


@test
def plain_and_formatted_output_are_the_same_records():
    with Box(2, *NO_LIMITS) as box:
        put = box.put(500)
        r = box.tail("-o", "oldest", "-e", "demo")
        equal((r.code, sorted(r.out.splitlines())), (0, sorted(t.encode() for _, _, t in put)))
        r = box.tail("-o", "oldest", "-e", "-f", r"%p\t%o\t%s\n", "demo")
        got = [tuple(line.decode().split("\t")) for line in r.out.split(b"\n")[:-1]]
        equal(by_shard(got), by_shard(put))


@test
def positions():
    with Box(3, *NO_LIMITS) as box:
        put = box.put(300)
        shard = put[0][0]
        mine = [p for p in put if p[0] == shard]
        middle = len(mine) // 2
        r = box.tail("-e", "-J", "-o", f"{shard}:{mine[middle][1]}", "demo")
        equal((r.code, parsed(r.out)), (0, mine[middle:]))
        r = box.tail("-e", "-J", "-o", "oldest", "-p", shard[-2:], "demo")
        equal((r.code, parsed(r.out)), (0, mine))
        wait_until(lambda: time.sleep(0.05) or True)  # the records below arrive at a later millisecond
        cut = int(time.time() * 1000)
        later = box.put(100, start=1000)
        r = box.tail("-e", "-J", "-o", f"s@{cut}", "demo")
        equal((r.code, by_shard(parsed(r.out))), (0, by_shard(later)))
        r = box.tail("-e", "-J", "-o", "s@10m", "demo")
        equal((r.code, len(parsed(r.out))), (0, 400))
        r = box.tail("-e", "demo")
        equal((r.code, r.out, r.err), (0, b"", ""))


@test
def a_count_is_exact_across_shards():
    with Box(4, *NO_LIMITS) as box:
        box.put(1000)
        for n in (1, 250, 999):
            r = box.tail("-o", "oldest", "-c", str(n), "demo")
            equal((r.code, len(r.out.splitlines()), r.err), (0, n, ""))


@test
def following_from_latest_sees_what_comes():
    with Box(2) as box:
        p = box.start("-J", "-X", "poll_ms=200", "demo")
        try:
            # LATEST begins when its iterators are there; the sandbox counts the reads with them.
            wait_until(lambda: box.calls("GetRecords") >= 2, what="the first reads")
            put = box.put(50)
            got = b""
            while got.count(b"\n") < 50:
                piece = read_some(p.stdout.fileno())
                check(piece, p.stderr)
                got += piece
            equal(by_shard(parsed(got)), by_shard(put))
            p.send_signal(signal.SIGINT)
            equal((p.wait(5), p.stderr.read()), (0, b""))
        finally:
            end(p)


@test
def shards_are_listed_with_their_family():
    with Box(2, "-X", "sandbox.change_ms=0") as box:
        shards = box.call("ListShards", StreamName="demo")["Shards"]
        r = box.tail("-LJ", "demo")
        got = [json.loads(line) for line in r.out.splitlines()]
        equal([(g["shard"], g["hash_start"], g["hash_end"], g["seq_start"], g["state"]) for g in got],
              [(s["ShardId"], s["HashKeyRange"]["StartingHashKey"], s["HashKeyRange"]["EndingHashKey"],
                s["SequenceNumberRange"]["StartingSequenceNumber"], "open") for s in shards])
        box.call("MergeShards", StreamName="demo", ShardToMerge=shards[0]["ShardId"],
                 AdjacentShardToMerge=shards[1]["ShardId"])
        wait_until(lambda: len(box.call("ListShards", StreamName="demo")["Shards"]) == 3, what="the merge")
        got = [json.loads(line) for line in box.tail("-LJ", "demo").out.splitlines()]
        equal([g["state"] for g in got], ["closed", "closed", "open"])
        equal({got[2]["parent"], got[2]["adjacent_parent"]}, {s["ShardId"] for s in shards})


@test
def a_missing_stream_is_said():
    with Box(1) as box:
        for args in (("nothere",), ("-L", "nothere"), ("--bench=1", "nothere")):
            r = box.tail(*args)
            equal((r.code, r.out, r.err.count("\n")), (1, b"", 1), args, r.err)
            check("ResourceNotFoundException" in r.err and "region" in r.err, r.err)
            check(r.seconds < 5, r.seconds)


@test
def a_slow_reader_gets_everything_and_bounds_the_memory():
    with Box(2, *NO_LIMITS, "-X", "sandbox.reads_per_second=0", "-X", "sandbox.read_bytes_per_second=0") as box:
        put = box.put(4000, size=10000)  # 40 MB
        p = box.start("-o", "oldest", "-e", "-X", "held_bytes_max=4194304", "demo")
        try:
            read_some(p.stdout.fileno())
            time.sleep(2)  # it could fetch all of it, were it not for us
            with open(f"/proc/{p.pid}/status", encoding="ascii") as status:
                peak = int(re.search(r"VmHWM:\s+(\d+)", status.read())[1]) * 1024
            got = 0
            while piece := read_some(p.stdout.fileno()):
                got += len(piece)
            equal(p.wait(5), 0)
            check(got > len(put) * 10000 - 65536 * 2, got)
            if not SANITIZED:
                check(peak < 40e6, f"{peak / 1e6:.1f} MB")
        finally:
            end(p)


@test
def head_ends_it_quietly():
    with Box(2, *NO_LIMITS) as box:
        box.put(2000, size=500)
        p = subprocess.Popen(["sh", "-c", '"$0" -o oldest demo | head -n 3 | wc -l', BIN], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=environment(box.env))
        try:
            out, err = p.communicate(timeout=15)
            equal((out.strip(), err), (b"3", b""))
        finally:
            end(p)


@test
def signals_end_a_tail_within_two_seconds():
    with Box(2, *NO_LIMITS) as box:
        box.put(500, size=2000)
        for reads in (True, False):
            p = box.start("-o", "oldest", "demo")
            try:
                read_some(p.stdout.fileno())
                if reads:
                    os.set_blocking(p.stdout.fileno(), False)
                begun = time.monotonic()
                p.send_signal(signal.SIGTERM)
                equal(p.wait(5), 0)
                check(time.monotonic() - begun < 2, time.monotonic() - begun)
            finally:
                end(p)


@test
def the_sandbox_ends_with_its_standard_input_or_a_signal():
    box = Box(1)
    with box:
        pass
    box = Box(1)
    try:
        box.process.send_signal(signal.SIGTERM)
        equal(box.process.wait(5), 0)
    finally:
        end(box.process)
    r = run(BIN, "-M", "1")  # /dev/null has ended before it begins
    equal(r.code, 0)
    check(r.out.startswith(b"export AWS_ENDPOINT_URL=http://127.0.0.1:"), r.out)


@test
def a_sandbox_that_cannot_listen_says_so():
    with Box(1) as box:
        port = box.url.rsplit(":", 1)[1]
        r = run(BIN, "-M", "1", "-X", f"sandbox.port={port}")
        equal((r.code, r.out, r.err.count("\n")), (1, b"", 1), r.err)
        check(port in r.err, r.err)
    r = run(BIN, "-M", "1", "-X", "sandbox.address=0.0.0.0")
    equal((r.code, r.err.count("\n")), (1, 1), r.err)
    check("loopback" in r.err, r.err)


@test
def a_sandbox_with_keys_wants_signatures():
    with Box(1, "-X", "sandbox.access_key=it's", "-X", "sandbox.secret_key=right") as box:
        equal(box.env["AWS_ACCESS_KEY_ID"], "'it'\\''s'")  # as a shell reads it
        env = dict(box.env, AWS_ACCESS_KEY_ID="it's")
        r = run(BIN, "-o", "oldest", "-e", "demo", env=env)
        equal((r.code, r.out, r.err), (0, b"", ""))
        r = run(BIN, "-o", "oldest", "-e", "demo", env=dict(env, AWS_SECRET_ACCESS_KEY="wrong"))
        equal((r.code, r.out, r.err.count("\n")), (1, b"", 1), r.err)
        check("InvalidSignatureException" in r.err and r.seconds < 5, r.err, r.seconds)


@test
def the_demo_proves_itself():
    r = run(BIN, "--demo=4", limit=60)
    equal((r.code, r.err), (0, ""), r.out[-600:])
    m = re.search(rb"(\d+) records put, (\d+) records read through 4, 5 and 4 shards", r.out)
    check(m and int(m[1]) == int(m[2]) >= 10000, r.out[-600:])
    check(b"\nproven: " in r.out)
    shown = re.findall(rb'^\{"n":(\d+),"user":"user-\d+","shards":[45]\}$', r.out, re.M)
    check(len(shown) > 20, len(shown))


@test
def an_interrupted_demo_proves_nothing():
    p = subprocess.Popen([BIN, "--demo=30"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env=environment())
    try:
        read_some(p.stdout.fileno())
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=5)
        equal(p.returncode, 1)
        check(b"NOT proven" in out and b"nothing was proven" in err, out[-300:], err)
    finally:
        end(p)


def processes_named(words):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if words in f.read().replace(b"\0", b" "):
                    found.append(int(pid))
        except OSError:
            pass
    return found


@test
def a_bench_reports_and_leaves_nothing_behind():
    r = run(BIN, "--bench=2", "-J", "-X", "sandbox.synthetic_bytes=777")
    equal((r.code, r.err), (0, ""))
    got = json.loads(r.out)
    equal(got["shards"], 4)
    check(got["records_per_s"] > 1000 and got["cpu_s_per_gb"] > 0 and got["calls_per_s"] > 0, got)
    equal(sum(s["bytes"] for s in got["by_shard"].values()) % 777, 0)
    equal(processes_named(b"sandbox.synthetic_bytes=777"), [])
    r = run(BIN, "--bench=1")
    equal((r.code, r.err), (0, ""))
    for word in (b"total: ", b"records/s", b"MB/s", b"calls/s", b"throttles", b"cpu: ", b"lag: ", b"latency"):
        check(word in r.out, word, "not in", r.out)


@test
def a_bench_that_is_killed_takes_its_sandbox_along():
    p = subprocess.Popen([BIN, "--bench=60", "-X", "sandbox.synthetic_bytes=778"], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    try:
        mine = b"-M 4 -X sandbox.synthetic_bytes=778"
        wait_until(lambda: processes_named(mine), what="the sandbox's process")
        p.kill()
        wait_until(lambda: not processes_named(mine), limit=5, what="its end")
    finally:
        end(p)


@test
def a_bench_of_a_live_stream_measures_latency():
    with Box(1, "-X", "sandbox.synthetic_bytes=100", "-X", "sandbox.synthetic_rate=50", "live") as box:
        r = box.tail("--bench=3", "-J", "-X", "poll_ms=200", "live")
        equal((r.code, r.err), (0, ""))
        latency = json.loads(r.out)["latency_ms"]
        check(0 <= latency["p50"] <= latency["p99"] <= latency["max"] < 5000, latency)


@test
def a_bench_of_an_empty_stream_fails():
    with Box(1) as box:
        r = box.tail("--bench=1", "demo")
        equal((r.code, r.err.count("\n")), (1, 1), r.err)
        check("no record came" in r.err, r.err)


@test
def json_lines_carry_any_bytes():
    with Box(1) as box:
        payloads = [b"", b"\xff\xfe", "é\u2028\u2029\x85\x00\x7f\n".encode(), bytes(range(256)), b'"\\']
        for p in payloads:
            box.call("PutRecord", StreamName="demo", Data=base64.b64encode(p).decode(), PartitionKey="k\u2028\n")
        r = box.tail("-o", "oldest", "-e", "-J", "demo")
        equal(r.code, 0)
        got = [json.loads(line) for line in r.out.decode().split("\n")[:-1]]
        equal([base64.b64decode(g["payload_b64"]) if "payload_b64" in g else g["payload"].encode() for g in got], payloads)
        equal(["payload_b64" in g for g in got], [False, True, False, True, False])
        check(all(g["key"] == "k\u2028\n" for g in got))
        equal(r.out.decode().splitlines(), r.out.decode().split("\n")[:-1])  # no other line end python knows
        r = box.tail("-o", "oldest", "-e", "-f", r"%R%s", "demo")
        equal(r.out, b"".join(len(p).to_bytes(4, "big") + p for p in payloads))


main()
