"""The built stream-tail against its own sandbox in another process (-M). The producer here is plain HTTP by
urllib, the judge plain python: neither shares a line with the program. SLOOP_BIN names the program."""

import base64
import json
import os
import random
import re
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time

from box import BIN, Box, NO_LIMITS, SANITIZED
from command import Watch, check, end, environment, equal, fill, main, obeys, read_some, read_until, run, test, wait_until

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
def a_reader_that_leaves_is_noticed_though_the_stream_is_quiet():
    with Box(1, *NO_LIMITS) as box:
        box.put(2)
        for kind in ("pipe", "socket"):
            mine, theirs = os.pipe() if kind == "pipe" else (s.detach() for s in socket.socketpair())
            p = box.start("-o", "oldest", "demo", stdout=theirs)
            os.close(theirs)
            try:
                read_until(mine, lambda got: got.count(b"\n") >= 2)
                os.close(mine)
                equal((p.wait(5), p.stderr.read()), (0, b""), kind)
            finally:
                end(p)


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
        p = box.start("-J", "--token", "-X", "poll_ms=200", "demo")
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
            equal(p.wait(5), 0)
            told, token = p.stderr.read().splitlines()
            check(b": stopped after 50 records of " in told and {s["shard_id"] for s in json.loads(token)["shards"]} == {s for s, *_ in put}, told)
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
        p = box.start("-o", "oldest", "-e", "-X", "buffered_bytes_max=4194304", "demo")
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
                watch = Watch(p)
                p.send_signal(signal.SIGTERM)
                equal(watch.wait(), 0)
                check(watch.seconds < 2, watch.seconds)
            finally:
                end(p)


@test
def a_standard_error_that_nobody_reads_takes_none_of_these_two_seconds():
    """-v has several lines to say on the way out, and the token comes there too. Nor when nobody reads the records."""
    r, w = os.pipe()
    with Box(2, *NO_LIMITS) as box:
        put = box.put(500, size=2000)
        fill(w)
        for reads in (True, False):
            p = subprocess.Popen([BIN, "-v", "-o", "oldest", "demo"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=w, env=environment(box.env))
            try:
                if reads:
                    read_until(p.stdout.fileno(), lambda got: got.count(b"\n") == len(put))
                else:
                    read_some(p.stdout.fileno())
                watch = Watch(p)
                p.send_signal(signal.SIGINT)
                equal(watch.wait(), 0)
                check(watch.seconds < 2, watch.seconds)
            finally:
                end(p)
    os.close(r)
    os.close(w)


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
    check("with 1 shard until" in r.err, r.err)


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
    check(b"\nOK: " in r.out)
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
        check(b"FAILED" in out and b"nothing was checked" in err, out[-300:], err)
    finally:
        end(p)


@test
def a_demo_that_nobody_reads_ends_and_asks_for_no_report():
    p = subprocess.Popen([BIN, "--demo=30"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env=environment())
    try:
        read_some(p.stdout.fileno())
        p.stdout.close()
        equal(p.wait(10), 1)
        equal(p.stderr.read(), b"stream-tail: interrupted before the end: nothing was checked\n")
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
        wait_until(lambda: not processes_named(mine), what="its end")
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
def a_bench_of_an_empty_stream_fails_when_the_time_is_over():
    with Box(1) as box:
        begun = time.monotonic()
        r = box.tail("--bench=1", "demo")
        check(time.monotonic() - begun >= 1, "the stream was not read for a second")
        equal((r.code, r.err.count("\n")), (1, 1), r.err)
        check("no record arrived" in r.err, r.err)


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


def wall_over_monotonic():
    return time.time() - time.monotonic()


def in_one_order():
    with Box(2, *NO_LIMITS, "-X", "sandbox.change_ms=0") as box:
        box.make_stream("second", 3)
        put = {"demo": [], "second": []}
        for i in range(20):  # one after the other, so that their times interleave
            for name in put:
                put[name] += box.put(20, stream=name, start=1000 * i)
                time.sleep(0.003)
        arn = box.call("DescribeStreamSummary", StreamName="second")["StreamDescriptionSummary"]["StreamARN"]
        for second in ("second", arn):
            r = box.tail("-o", "oldest", "-e", "-J", "demo", second)
            equal((r.code, r.err), (0, ""))
            got = [json.loads(line) for line in r.out.splitlines()]
            inversions = [(a, b) for a, b in zip(got, got[1:]) if a["ts"] > b["ts"]]
            check(not inversions, len(inversions), inversions[:1])
            check(sum(a["stream"] != b["stream"] for a, b in zip(got, got[1:])) > 15, "they do not interleave")
            for name in put:
                mine = [(g["shard"], g["seq"], g["payload"]) for g in got if g["stream"] == name]
                equal(by_shard(mine), by_shard(put[name]))
        r = box.tail("-o", "oldest", "-e", "--order", "shard", "demo", "second")
        equal((r.code, len(r.out.splitlines())), (0, 800))
        r = box.tail("-o", "oldest", "-e", "demo", "nothere")
        equal((r.code, r.err.count("\n")), (1, 1), r.err)
        check("nothere" in r.err and "ResourceNotFoundException" in r.err, r.err)


@test
def several_streams_come_in_one_order():
    """A record stamped later than the service's clock says it is now is ordered as of now: where the machine's clock is set
    back by 100 ms after the records were put, their order in time is lost. Such a run proves nothing, and is made again."""
    for _ in range(3):
        before = wall_over_monotonic()
        try:
            return in_one_order()
        except AssertionError:
            back = before - wall_over_monotonic()
            if back < 0.002:
                raise
            print(f"again: the clock was set back by {1000 * back:.0f} ms meanwhile")
    raise AssertionError("the clock was set back each time")


def change_items(box, table, n, start=0):
    """Puts, updates and deletes; returns how many changes each key must show."""
    for i in range(start, start + n):
        key = {"id": {"S": f"item-{i}"}}
        box.dynamodb("PutItem", TableName=table, Item={**key, "n": {"N": str(i)}})
        if i % 2 == 0:
            box.dynamodb("UpdateItem", TableName=table, Key=key, UpdateExpression="SET n = :n",
                         ExpressionAttributeValues={":n": {"N": str(-i - 1)}})
        if i % 4 == 0:
            box.dynamodb("DeleteItem", TableName=table, Key=key)
    return {f"item-{i}": ["INSERT"] + ["MODIFY"] * (i % 2 == 0) + ["REMOVE"] * (i % 4 == 0)
            for i in range(start, start + n)}


def changes_by_item(lines):
    found = {}
    for g in lines:
        found.setdefault(g["change"]["Keys"]["id"]["S"], []).append(g["event"])
    return found


@test
def a_table_and_a_stream_come_in_one_order():
    with Box(2, *NO_LIMITS) as box:
        box.make_table("users")
        want, put = {}, []
        for i in range(6):
            want.update(change_items(box, "users", 8, start=10 * i))
            put += box.put(10, start=100 * i)
            time.sleep(0.4)  # a change's time is whole seconds
        r = box.tail("-o", "oldest", "-e", "-J", "demo", "dynamodb:users")
        equal((r.code, r.err), (0, ""))
        got = [json.loads(line) for line in r.out.splitlines()]
        changes = [g for g in got if g["stream"] != "demo"]
        equal({g["stream"] for g in changes}, {"dynamodb:users"} if changes[0]["stream"].startswith("dynamodb:")
              else {changes[0]["stream"]})
        equal(changes_by_item(changes), want)
        equal(by_shard([(g["shard"], g["seq"], g["payload"]) for g in got if g["stream"] == "demo"]), by_shard(put))
        times = [g["ts"] for g in got]
        equal(times, sorted(times))
        check(all(g["change"]["Keys"] and "key" not in g and "payload" not in g and "sub" not in g for g in changes))
        shards = [json.loads(x) for x in box.tail("-LJ", "dynamodb:users").out.splitlines()]
        check(shards and all(s["hash_start"] is None and s["seq_start"] and s["state"] == "open" for s in shards), shards)


@test
def changes_are_resumed_without_loss_or_repeat():
    chance = random.Random(4713)
    # Shards roll over while this goes on: children and closed parents are in the tokens.
    with Box(2, *NO_LIMITS, "-X", "sandbox.roll_ms=1500") as box, tempfile.TemporaryDirectory() as folder:
        box.make_table("users")
        place, want, got, midst = os.path.join(folder, "place"), {}, [], 0
        for i in range(14):
            want.update(change_items(box, "users", 15, start=100 * i))
            p = box.start("-o", "oldest", "--save", place, "-J", "-X", "poll_ms=200", "-X", "batch_records_max=5",
                          "dynamodb:users")
            try:
                wait_until(lambda p=p: obeys(p))
                if i % 3:  # else maybe before anything was read
                    select.select([p.stdout.fileno()], [], [], 5)
                text, limit = b"", time.monotonic() + chance.random() * 0.5
                while time.monotonic() < limit:
                    if select.select([p.stdout.fileno()], [], [], 0.005)[0]:
                        text += os.read(p.stdout.fileno(), 5000)
                p.send_signal(signal.SIGINT)
                while more := read_some(p.stdout.fileno()):
                    text += more
                equal(p.wait(5), 0, p.stderr.read())
            finally:
                end(p)
            midst += bool(text)
            got += [json.loads(line) for line in text.splitlines()]
        left = sum(map(len, want.values())) - len(got)  # shards that roll over all the time have no tip to end at
        check(left > 0, left)
        r = box.tail("-o", "oldest", "--save", place, "-c", str(left), "-J", "-X", "poll_ms=200", "dynamodb:users")
        equal((r.code, r.err), (0, ""))
        got += [json.loads(line) for line in r.out.splitlines()]
        equal(len({g["id"] for g in got}), len(got))
        equal(changes_by_item(got), want)
        check(midst > 4 and len({g["shard"] for g in got}) > 4, midst, len({g["shard"] for g in got}))


@test
def since_and_until_hold_for_tables_too():
    with Box(2, *NO_LIMITS) as box:
        box.make_table("users")
        for i in range(5):
            change_items(box, "users", 6, start=10 * i)
            time.sleep(1)
        all_ = [json.loads(line) for line in box.tail("-o", "oldest", "-e", "-J", "dynamodb:users").out.splitlines()]
        times = sorted({g["ts"] for g in all_})
        check(len(times) > 3, times)
        for since, until in ((times[1], times[3]), (times[2], times[2] + 1), (times[0], times[0])):
            for order in ("time", "shard"):
                r = box.tail("--since", str(since), "--until", str(until), "--order", order, "-J", "dynamodb:users")
                equal((r.code, r.err), (0, ""), since, until, order)
                equal(sorted(json.loads(line)["id"] for line in r.out.splitlines()),
                      sorted(g["id"] for g in all_ if since <= g["ts"] < until), since, until, order)


@test
def since_and_until_give_exactly_the_records_between():
    with Box(3, *NO_LIMITS) as box:
        for i in range(12):
            box.put(60, start=100 * i)
            time.sleep(0.05)
        all_ = [json.loads(line) for line in box.tail("-o", "oldest", "-e", "-J", "demo").out.splitlines()]
        times = sorted({g["ts"] for g in all_})
        for since, until in ((times[3], times[-4]), (times[0], times[5]), (times[5], times[5] + 1),
                             (times[-1], times[-1] + 1), (times[4] + 1, times[4] + 1)):
            for order in ("time", "shard"):
                r = box.tail("--since", str(since), "--until", str(until), "--order", order, "-J", "demo")
                equal((r.code, r.err), (0, ""), since, until)
                equal(sorted(json.loads(line)["seq"] for line in r.out.splitlines()),
                      sorted(g["seq"] for g in all_ if since <= g["ts"] < until), since, until, order)
        # The end of a time to come: what is put meanwhile is there, what is put later is not.
        end_ms = int(time.time() * 1000) + 2500
        p = box.start("-o", f"s@{times[-1] + 1}", "-o", f"e@{end_ms}", "-J", "demo")
        try:
            while time.time() * 1000 < end_ms + 500:
                box.put(5, start=100000)
                time.sleep(0.05)
            out, err = p.communicate(timeout=15)
            equal((p.returncode, err), (0, b""))
            later = [json.loads(line) for line in
                     box.tail("-o", f"s@{times[-1] + 1}", "-e", "-J", "demo").out.splitlines()]
            want = sorted(g["seq"] for g in later if g["ts"] < end_ms)
            check(len(later) > len(want) > 50, len(later), len(want))
            equal(sorted(json.loads(line)["seq"] for line in out.splitlines()), want)
        finally:
            end(p)


@test
def until_now_ends_on_a_stream_that_is_written_to_without_a_pause():
    with Box(3, *NO_LIMITS) as box:
        put, over = box.put(500), threading.Event()

        def go_on():
            n = 0
            while not over.wait(0.02):
                n += 1
                box.put(20, start=1000 * n)
        writer = threading.Thread(target=go_on)
        writer.start()
        try:
            for order in ("time", "shard"):
                r = box.tail("-o", "oldest", "--until", "0s", "--order", order, "demo")
                equal((r.code, r.err), (0, ""), order)
                got = r.out.splitlines()
                check({t.encode() for _, _, t in put} <= set(got), order)
                check(r.seconds < 10, order, r.seconds)
        finally:
            over.set()
            writer.join()


@test
def until_ends_on_a_stream_where_nothing_comes():
    with Box(2) as box:
        box.put(10)
        r = box.tail("-o", "oldest", "--until", "2000-01-01", "demo")
        equal((r.code, r.out, r.err), (0, b"", ""))
        begun = time.time()
        r = box.tail("-o", "oldest", "--until", str(int(begun) + 2), "demo")
        equal((r.code, len(r.out.splitlines())), (0, 10))
        check(2 <= time.time() - begun < 12, time.time() - begun)


@test
def until_waits_for_a_shard_that_is_slow_to_answer():
    slow = "shardId-000000000001"
    with Box(2, *NO_LIMITS) as box:
        before = box.put(40)
        time.sleep(0.5)
        end_ms = int(time.time() * 1000) - 100
        box.put(40, start=40)
        for fault in ("GetShardIterator", "GetRecords"):
            for order in ("time", "shard"):
                box.admin("/_sandbox/faults", f"1 {fault} {slow} delay 4000\n")
                r = box.tail("-o", "oldest", "--until", str(end_ms), "--order", order, "-J", "demo")
                equal((r.code, r.err), (0, ""), fault, order)
                equal(by_shard(parsed(r.out)), by_shard(before), fault, order)


@test
def until_counts_no_tip_that_was_told_before_the_time():
    with Box(2, *NO_LIMITS) as box:
        put = box.put(20)
        p = box.start("-o", "oldest", "--until", str(int(time.time()) + 3), "-J", "demo")
        try:
            wait_until(lambda: box.calls("GetRecords") >= 4, what="the tip")
            box.admin("/_sandbox/faults", "1 GetRecords shardId-000000000001 delay 9000\n")
            put += box.put(20, start=20)
            out, err = p.communicate(timeout=30)
            equal((p.returncode, err), (0, b""))
            equal(by_shard(parsed(out)), by_shard(put))
        finally:
            end(p)


@test
def a_token_goes_on_where_it_was_taken_through_a_split_and_a_merge():
    with Box(2, *NO_LIMITS, "-X", "sandbox.change_ms=0") as box, tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "place")
        put = box.put(300)
        shards = box.call("ListShards", StreamName="demo")["Shards"]
        box.call("SplitShard", StreamName="demo", ShardToSplit=shards[0]["ShardId"],
                 NewStartingHashKey=str(int(shards[0]["HashKeyRange"]["EndingHashKey"]) // 2))
        put += box.put(300, start=1000)
        now = box.call("ListShards", StreamName="demo")["Shards"]
        kids = [s["ShardId"] for s in now if s.get("ParentShardId")]
        box.call("MergeShards", StreamName="demo", ShardToMerge=kids[0], AdjacentShardToMerge=kids[1])
        put += box.put(300, start=2000)
        got = []
        for n in (1, 50, 150, 250, 200, 100, 149):
            r = box.tail("-o", "oldest", "--save", place, "-c", str(n), "-J", "demo")
            equal((r.code, r.err), (0, ""))
            got += parsed(r.out)
        equal(by_shard(got), by_shard(put))
        r = box.tail("--save", place, "-e", "-J", "demo")
        equal((r.code, r.out, r.err), (0, b"", ""))


def positions_in(place):
    """The content of a place: {shard: the last sequence number that will not come again}."""
    if not os.path.exists(place):
        return {}
    with open(place, encoding="utf-8") as f:
        shards = json.load(f)["shards"]
    return {s["shard_id"]: int(s["sequence_number"]) for s in shards if s.get("iterator_type") == "after_sequence"}


def whole_lines(text):
    """(shard, sequence number, payload) of each record that was printed to its end."""
    return [(a, int(b), c) for a, b, c in (x.split(" ", 2) for x in text[:text.rfind(b"\n") + 1].decode().splitlines())]


@test
def interrupted_or_killed_at_random_moments_it_loses_nothing():
    rounds = 100 if os.environ.get("SLOOP_TEST_FULL") == "1" else 9
    chance = random.Random(4711)
    with Box(3, *NO_LIMITS, "-X", "sandbox.reads_per_second=0") as box, tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "place")
        put = box.put(4000, size=300)
        printed, final, killed, midst, repeated = set(), set(), 0, 0, 0
        for i in range(rounds):
            put += box.put(60, start=10000 + 100 * i, size=300)
            before = positions_in(place)
            kill = i % 3 == 2
            p = box.start("-o", "oldest", "--save", place, "-f", r"%p %o %s\n", "-X", "batch_records_max=20",
                          "-X", "poll_ms=200", "demo")
            try:
                fd, text = p.stdout.fileno(), b""
                if i % 3:  # else maybe before anything was read
                    select.select([fd], [], [], 5)
                limit = time.monotonic() + chance.random() * 0.4 + (1.1 if kill else 0)  # a place is written each second
                while time.monotonic() < limit:
                    if select.select([fd], [], [], 0.005)[0]:
                        text += os.read(fd, chance.choice((500, 5000, 60000)))
                watch = Watch(p)
                p.send_signal(signal.SIGKILL if kill else signal.SIGINT)
                while more := read_some(fd):
                    text += more
                code = watch.wait()
                check(watch.seconds < 2, watch.seconds)
                # A Ctrl-C before the program listens for it ends it like any other.
                check(code == (-9 if kill else 0) or (code == -2 and not text), code, p.stderr.read())
            finally:
                end(p)
            lines = whole_lines(text)
            midst += 0 < len(lines)
            killed += kill
            for shard, seq, _ in lines:  # nothing that the place had behind it, nothing that an orderly end had printed
                check(seq > before.get(shard, -1), shard, seq)
                check((shard, seq) not in final, shard, seq)
            repeated += len(printed & {(a, b) for a, b, _ in lines})
            printed |= {(a, b) for a, b, _ in lines}
            if not kill:
                final |= printed
        r = box.tail("--save", place, "-f", r"%p %o %s\n", "-e", "demo")
        equal((r.code, r.err), (0, ""))
        check(not {(a, b) for a, b, _ in whole_lines(r.out)} & final)
        printed |= {(a, b) for a, b, _ in whole_lines(r.out)}
        equal(printed, {(a, int(b)) for a, b, _ in put})
        check(killed >= rounds // 3 and midst > rounds // 3, killed, midst, repeated)


@test
def interrupted_only_nothing_repeats():
    chance = random.Random(4712)
    with Box(3, *NO_LIMITS, "-X", "sandbox.reads_per_second=0") as box, tempfile.TemporaryDirectory() as folder:
        place, text = os.path.join(folder, "place"), b""
        put = box.put(6000, size=300)
        for _ in range(15):
            if text.count(b"\n") >= len(put):
                break  # there is nothing left to wait for
            p = box.start("-o", "oldest", "--save", place, "-X", "batch_records_max=20", "demo")
            try:
                time.sleep(chance.random() * 0.15)
                slow = chance.random() < 0.3  # a reader that stops: the end comes after its time
                piece = b"" if slow else read_some(p.stdout.fileno())
                p.send_signal(signal.SIGINT)
                if slow:
                    p.wait(5)
                while more := read_some(p.stdout.fileno()):
                    piece += more
                check(p.wait(5) == 0 or (p.returncode == -2 and not piece), p.returncode)
                text += piece[:piece.rfind(b"\n") + 1]
            finally:
                end(p)
        text += box.tail("-o", "oldest", "--save", place, "-e", "demo").out
        got = text.splitlines()
        equal((len(got), set(got)), (len(put), {t.encode() for _, _, t in put}))


@test
def a_key_is_not_waited_for_longer_than_asked():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(8)
        env = {"AWS_ENDPOINT_URL": "http://127.0.0.1:%d" % silent.getsockname()[1], "AWS_REGION": "us-east-1",
               "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
        for limit in ("-m", "--timeout"):
            r = run(BIN, limit, "1", "-p", "key:x", "orders", env=env)
            equal((r.code, r.out, r.err), (1, b"", "stream-tail: nothing was answered in 1 s, and no call has "
                                           "failed: the service, or a proxy to it, is silent\n"), limit)
    with Box(1) as box:  # the shards of a split have that time too, from their beginning on
        begun = time.monotonic()
        p = box.start("-m", "1", "-p", "key:x", "-c", "2", "-o", "oldest", "demo")
        try:
            box.call("PutRecord", StreamName="demo", Data="YQ==", PartitionKey="x")
            equal(read_some(p.stdout.fileno()), b"a\n")
            time.sleep(max(0.0, begun + 1.2 - time.monotonic()))
            shard = box.call("ListShards", StreamName="demo")["Shards"][0]["ShardId"]
            box.admin("/_sandbox/faults", "* GetRecords shardId-000000000001 delay 400\n"
                                          "* GetRecords shardId-000000000002 delay 400\n")
            box.call("SplitShard", StreamName="demo", ShardToSplit=shard, NewStartingHashKey=str(2 ** 127))
            wait_until(lambda: len(box.call("ListShards", StreamName="demo")["Shards"]) == 3, what="the split")
            box.call("PutRecord", StreamName="demo", Data="Yg==", PartitionKey="x")
            out, err = p.communicate(timeout=20)
            equal((p.returncode, out, err), (0, b"b\n", b""))
        finally:
            end(p)


@test
def a_key_is_followed_through_a_split_and_a_merge():
    with Box(4, *NO_LIMITS, "-X", "sandbox.change_ms=0") as box:
        key, want = "key-record 7    "[:16], []

        def put_some():
            for i in range(40):
                k = key if i % 4 == 0 else f"other-{i}"
                a = box.call("PutRecord", StreamName="demo", Data=base64.b64encode(f"{k} {len(want)}".encode()).decode(),
                             PartitionKey=k)
                if i % 4 == 0:
                    want.append((a["ShardId"], a["SequenceNumber"]))
        put_some()
        mine = want[0][0]
        p = box.start("-o", "oldest", "-J", "-p", "key:" + key, "-X", "poll_ms=200", "-X", "list_ms=1000", "demo")
        try:
            got = b""

            def read_all():
                nonlocal got
                while not {(g["shard"], g["seq"]) for g in map(json.loads, got.splitlines())} >= set(want):
                    piece = read_some(p.stdout.fileno())
                    check(piece, "it ended:", piece or p.stderr.read())
                    got += piece
                    if not got.endswith(b"\n"):
                        got += p.stdout.readline()
            read_all()
            shard = [s for s in box.call("ListShards", StreamName="demo")["Shards"] if s["ShardId"] == mine][0]
            low, high = (int(shard["HashKeyRange"][n]) for n in ("StartingHashKey", "EndingHashKey"))
            box.call("SplitShard", StreamName="demo", ShardToSplit=mine, NewStartingHashKey=str((low + high) // 2))
            put_some()
            read_all()
            now = want[-1][0]
            kids = [s["ShardId"] for s in box.call("ListShards", StreamName="demo")["Shards"]
                    if s.get("ParentShardId") == mine]
            check(now in kids)
            box.call("MergeShards", StreamName="demo", ShardToMerge=kids[0], AdjacentShardToMerge=kids[1])
            put_some()
            read_all()
            p.send_signal(signal.SIGINT)
            equal(p.wait(5), 0)
            lines = [json.loads(line) for line in got.splitlines()]
            at = [(g["shard"], g["seq"]) for g in lines if g["key"] == key]
            equal(at, want)
            equal({g["shard"] for g in lines}, {s for s, _ in want})
        finally:
            end(p)
        r = box.tail("-o", "oldest", "-e", "-J", "-p", "key:" + key, "demo")
        equal((r.code, r.err), (0, ""))
        equal([(g["shard"], g["seq"]) for g in map(json.loads, r.out.splitlines()) if g["key"] == key], want)


def auto_stream(box):
    box.call("CreateStream", StreamName="auto", StreamModeDetails={"StreamMode": "ON_DEMAND"},
             RecordDistributionStrategy="AUTO")
    return box.call("DescribeStreamSummary", StreamName="auto")["StreamDescriptionSummary"]["StreamARN"]


def decide(box, arn, strategy):
    box.call("UpdateStreamRecordDistributionStrategy", StreamARN=arn, RecordDistributionStrategy=strategy)


def put_on_auto(box, n, *keys):
    """Texts of the records with the key k, sorted."""
    mine = []
    for i in range(n):
        key = keys[i % len(keys)]
        text = f"{key} {i} {time.monotonic_ns()}".encode()
        box.call("PutRecord", StreamName="auto", Data=base64.b64encode(text).decode(),
                 **({"PartitionKey": key} if key else {}))
        if key == "k":
            mine.append(text)
    return sorted(mine)


def told(text):
    return [line for line in text.splitlines() if line.startswith("stream-tail: -p key:TEXT")]


@test
def a_key_is_looked_for_on_all_shards_where_keys_do_not_decide():
    with Box(1, *NO_LIMITS, "-X", "sandbox.change_ms=0") as box:
        arn = auto_stream(box)
        want = put_on_auto(box, 40, "k", "other", None)
        lines = [json.loads(line) for line in box.tail("-o", "oldest", "-e", "-J", "auto").out.splitlines()]
        check(len({r["shard"] for r in lines if r["key"] == "k"}) == 4)
        equal(sum(r["key"] is None for r in lines), 13)
        r = box.tail("-o", "oldest", "-e", "-p", "key:k", "auto")
        equal((r.code, sorted(r.out.splitlines()), len(told(r.err))), (0, want, 1), r.err)
        check("AUTO: partition keys do not choose the shard; all 4 shards are read" in r.err, r.err)
        equal(box.tail("-o", "oldest", "-e", "-q", "-p", "key:k", "auto").err, "")
        r = box.tail("-o", "oldest", "-c", "5", "-p", "key:k", "auto")
        equal((r.code, len(r.out.splitlines())), (0, 5))
        # Keys decide from now on, and the older records stay where they are: the service tells only the former.
        decide(box, arn, "USER_PARTITION_KEY")
        want = sorted(want + put_on_auto(box, 40, "k", "other"))
        r = box.tail("-o", "oldest", "-e", "-p", "key:k", "auto")
        equal((r.code, sorted(r.out.splitlines()), len(told(r.err))), (0, want, 1), r.err)
        check("this stream is on demand" in r.err, r.err)
        r = box.tail("--since", "1h", "-e", "-p", "key:none", "auto")
        equal((r.code, r.out), (0, b""))


@test
def a_key_is_read_on_its_shard_until_keys_do_not_decide_any_more():
    with Box(1, *NO_LIMITS, "-X", "sandbox.change_ms=0") as box:
        arn = auto_stream(box)
        decide(box, arn, "USER_PARTITION_KEY")
        put_on_auto(box, 10, "k", "other")
        p = box.start("-p", "key:k", "-X", "poll_ms=200", "auto")  # from now on
        try:
            wait_until(lambda: box.calls("GetRecords") >= 1, what="the first read")
            want, got = put_on_auto(box, 20, "k", "other"), b""
            while got.count(b"\n") < 10:
                got += read_some(p.stdout.fileno())
            equal(sorted(got.splitlines()), want)
            asked = box.calls("GetShardIterator")
            equal(asked, 1)  # of four shards
            decide(box, arn, "AUTO")
            put_on_auto(box, 40, "other", None)
            line = p.stderr.readline().decode()
            check("has no key" in line or "a key of another shard" in line, line)
            check("may be in other shards too, which are not read" in line, line)
        finally:
            end(p)


@test
def a_producer_that_placed_records_elsewhere_is_told_of():
    with Box(2, *NO_LIMITS) as box:
        for i in range(4):
            box.call("PutRecord", StreamName="demo", Data="YQ==", PartitionKey="x", ExplicitHashKey=str(i % 2 * (2 ** 128 - 1)))
        key = "k5076"  # its hash begins with zeros, that of x does not
        r = box.tail("-o", "oldest", "-e", "-p", "key:" + key, "demo")
        equal((r.code, r.out, len(told(r.err))), (0, b"a\na\n", 1), r.err)
        check("ExplicitHashKey" in r.err, r.err)


main(at_once=4)
