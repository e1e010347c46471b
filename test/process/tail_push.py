"""stream-tail --push on the sandbox: boto3 puts and says what is there. Resharding while it reads, subscriptions that are
cut, silent, damaged or taken over, ends, what happens when the consumer can't be had, latency beside polling, fleets."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import urllib.request

import harness
import servers
from harness import FULL, expect
from command import sanitized
from sandbox_box import Box

N = 40000 if FULL else 8000


def put_many(client, stream, n, put, first=0, size=0):
    """n records with keys of their own; `put` gets their places."""
    for at in range(first, first + n, 500):
        rows = [{"Data": b"%d" % i + b"." * size, "PartitionKey": f"k{i}"} for i in range(at, min(at + 500, first + n))]
        answer = client.put_records(StreamName=stream, Records=rows)
        expect(answer["FailedRecordCount"] == 0, "a record was not taken")
        for row, result in zip(rows, answer["Records"]):
            put[(result["ShardId"], int(result["SequenceNumber"]))] = (row["PartitionKey"], row["Data"])


def judge(records, put, shards=None):
    harness.judge_once(records, put)
    harness.judge_shard_order(records)
    if shards:
        harness.judge_lineage(records, shards)


def environment(box):
    return harness.tail_environment(box.url)


def pushed(box, *arguments, seconds=60):
    done = harness.tail(["--push", "-J", *arguments, "s"], environment(box), seconds)
    expect(done.code == 0, str(done))
    return harness.records_of(done.out)


# ---- reading ---------------------------------------------------------------------------------------------------------


def reshards_while_it_reads():
    with Box("stream=s:4", "change_ms=0") as box:
        client, put = box.client(), {}
        put_many(client, "s", N // 4, put)
        running = harness.Running(["--push", "-J", "-o", "oldest", "s"], environment(box))
        try:
            for step in range(3):
                shards = harness.list_shards(client, "s")
                is_open = sorted((s for s in shards if "EndingSequenceNumber" not in s["SequenceNumberRange"]),
                                 key=lambda s: int(s["HashKeyRange"]["StartingHashKey"]))
                box.order("POST", f"split?stream=s&shard={is_open[0]['ShardId']}")
                box.order("POST", f"merge?stream=s&shard={is_open[-2]['ShardId']}&adjacent={is_open[-1]['ShardId']}")
                put_many(client, "s", N // 4, put, len(put))
            harness.wait_until(lambda: len(running.lines) >= len(put), 60, f"{len(put)} records, {len(running.lines)} came")
        finally:
            running.signal(signal.SIGTERM)
            running.process.wait(20)
        judge(harness.records_of(list(running.lines)), put, harness.list_shards(client, "s"))
        calls = box.stats()["operations"]
        expect(not calls["GetRecords"]["calls"] and not calls["GetShardIterator"]["calls"], "it polled")
        # Once more, everything from the oldest record, with closed parents unread.
        again = pushed(box, "-o", "oldest", "-c", str(len(put)))
        judge(again, put, harness.list_shards(client, "s"))
        harness.judge_not_late(again)
        return f"{len(put)} records, {calls['SubscribeToShard']['calls']} subscriptions"


def the_tip_ends_it():
    with Box("stream=s:3", "change_ms=0", "idle_event_ms=200") as box:
        client, put = box.client(), {}
        put_many(client, "s", 300, put)
        records = pushed(box, "-o", "oldest", "-e")
        judge(records, put)
        harness.judge_time_order(records)


def small_budget():
    """A budget for far less than what comes: the transfers are paused, and nothing is lost."""
    with Box("stream=s:4", "change_ms=0") as box:
        client, put = box.client(), {}
        put_many(client, "s", 4000, put, size=1000)
        records = pushed(box, "-o", "oldest", "-c", "4000", "-X", "buffered_bytes_max=4000000")
        judge(records, put)


def a_reader_that_does_not_read():
    """Standard output is not read for a while: nothing is lost, and memory stays where the budget is."""
    with Box("stream=s:2", "change_ms=0", "push_bytes_per_second=0") as box:
        client, put = box.client(), {}
        put_many(client, "s", 20000, put, size=1000)
        process = subprocess.Popen([servers.binary(), "--push", "-J", "-o", "oldest", "-c", "20000", "-X",
                                    "buffered_bytes_max=4000000", "s"], env=environment(box), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, preexec_fn=servers.die_with_parent)
        time.sleep(3)
        with open(f"/proc/{process.pid}/status") as f:
            rss = next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))
        out, _ = process.communicate(timeout=60)
        expect(process.returncode == 0, f"status {process.returncode}")
        judge(harness.records_of(out), put)
        # plain 20 MB; the sanitizers' own memory comes to 37 MB, and to more on a busy machine
        expect(rss < (70000 if sanitized(servers.binary()) else 30000), f"{rss} kB while nobody read")
        return f"{rss} kB while nobody read"


# ---- subscriptions that end ------------------------------------------------------------------------------------------


def ends_and_faults():
    """16 shards, each with a fault of its own in its first events; the same records come, each once. The service's end after
    some seconds comes on top."""
    faults = ["cut 1", "cut 11", "cut 13", "cut 100", "cut 200", "drop", "bad-crc", "error InternalFailureException:500:x",
              "error KMSThrottlingException:400:x", "error-in-header Broken:500:x", "unknown-event", "delay 500",
              "error ResourceInUseException:400:another", "cut 300", "cut 12", "no-children"]
    with Box("stream=s:16", "change_ms=0", "resubscribe_ms=0", "consumer_limits=0", "subscription_ms=7000", "idle_event_ms=500") as box:
        client, put = box.client(), {}
        put_many(client, "s", 1600, put)
        box.faults("\n".join(f"1 SubscribeToShardEvent {n} {fault}" for n, fault in enumerate(faults)))
        running = harness.Running(["--push", "-J", "-o", "oldest", "s"], environment(box))
        try:
            for _ in range(16):
                put_many(client, "s", 100, put, len(put))
                time.sleep(1)
            harness.wait_until(lambda: len(running.lines) >= len(put), 60, f"{len(put)} records")
        finally:
            running.signal(signal.SIGTERM)
            running.process.wait(20)
        judge(harness.records_of(list(running.lines)), put)
        stats = box.stats()
        expect(stats["faults_used"] >= 15, f"{stats['faults_used']} faults used")
        calls = stats["operations"]["SubscribeToShard"]["calls"]
        expect(calls > 40, f"{calls} subscriptions")
        return f"{calls} subscriptions of 16 shards"


def a_thousand_ends():
    """Subscriptions of 400 ms instead of five minutes, records put all the while: each comes once, in the order of its shard."""
    shards, ends = (64, 1000) if FULL else (24, 24)
    with Box(f"stream=s:{shards}", "change_ms=0", "resubscribe_ms=0", "consumer_limits=0", "subscription_ms=400", "idle_event_ms=100") as box:
        client, put = box.client(), {}
        put_many(client, "s", 500, put)
        running = harness.Running(["--push", "-J", "-o", "oldest", "s"], environment(box))
        begun = lambda: box.stats()["operations"]["SubscribeToShard"]["calls"]
        try:
            deadline = time.monotonic() + 600
            while begun() < shards + ends:
                expect(time.monotonic() < deadline, f"{begun()} subscriptions")
                put_many(client, "s", 100, put, len(put))
                time.sleep(0.3)
            harness.wait_until(lambda: len(running.lines) >= len(put), 60, f"{len(put)} records, {len(running.lines)} came")
        finally:
            running.signal(signal.SIGTERM)
            running.process.wait(20)
        judge(harness.records_of(list(running.lines)), put)
        return f"{len(put)} records, {begun()} subscriptions of {shards} shards"


def live_and_latest():
    """From the latest on, with every first subscription cut before its first event: nothing of what comes after is lost."""
    with Box("stream=s:2", "change_ms=0", "resubscribe_ms=0", "consumer_limits=0") as box:
        client, put = box.client(), {}
        put_many(client, "s", 100, {})
        box.faults("1 SubscribeToShardEvent 0 drop\n1 SubscribeToShardEvent 1 drop")
        running = harness.Running(["--push", "-J", "s"], environment(box))
        try:
            harness.wait_until(lambda: box.stats()["faults_used"] == 2, 20, "both subscriptions to be cut")
            put_many(client, "s", 200, put, 1000)
            harness.wait_until(lambda: len(running.lines) >= len(put), 30, "200 records")
        finally:
            running.signal(signal.SIGTERM)
            running.process.wait(20)
        records = harness.records_of(list(running.lines))
        judge([r for r in records if r["place"] in put], put)
        expect(len(records) <= len(put) + 100, "more than there is")


def idle_shards():
    """A shard to which nothing comes: its position moves on with the service's numbers, so that what is removed before that is
    no loss. With tokens and with leases, gone on from by push and by poll; a place older than retention may hide a gap."""
    with Box("stream=s:1", "change_ms=0", "idle_event_ms=100", "resubscribe_ms=0", "consumer_limits=0") as box, \
            tempfile.TemporaryDirectory() as folder:
        client, put, hour = box.client(), {}, 3600 * 1000
        once = ["-J", "-o", "oldest", "-X", "on_trimmed=stop", "s"]
        token = [*once, "-e", "--save", f"{folder}/token"]
        polled = [*once, "-e", "--save", f"{folder}/polled"]

        def run(arguments, n):
            """The newest n records come, and there is no word of a loss."""
            done = harness.tail(arguments, environment(box), 60)
            expect(done.code == 0 and not done.err, str(done))
            seen = [r["place"] for r in harness.records_of(done.out)]
            expect(seen == (sorted(put)[-n:] if n else []), f"{len(seen)} records, not {n}: {done}")

        def fleet(n, until=lambda: True):
            """A worker alone: the same."""
            worker = harness.Running(["--push", *once, "-G", "app", "--store", f"sqlite:{folder}/leases", "-X",
                                      "checkpoint_ms=200"], environment(box))
            try:
                harness.wait_until(lambda: len(worker.lines) >= n and until(), 30, f"{n} records of the worker")
            finally:
                worker.signal(signal.SIGTERM)
                worker.process.wait(20)
            seen = [(r["shard"], int(r["seq"])) for r in map(json.loads, list(worker.lines))]
            expect(seen == (sorted(put)[-n:] if n else []), "others")

        def told(arguments):
            done = harness.tail(arguments, environment(box), 60)
            expect(done.code != 0 and (b"missing" in done.err or b"removed" in done.err), str(done))

        def saved():
            with open(f"{folder}/token") as f:
                return json.load(f)["shards"][0]

        def leases():
            text = b""
            for path in pathlib.Path(folder).glob("leases*"):
                with contextlib.suppress(FileNotFoundError):  # a journal lives as long as one write
                    text += path.read_bytes()
            return text

        put_many(client, "s", 10, put)
        for arguments in (["--push", *token], polled):
            run(arguments, 10)
        fleet(10)
        expect("no_record" not in saved() and b":idle:" not in leases(), "the last record is as good so soon")
        box.move_clock(hour)
        for arguments in (["--push", *token], polled):
            run(arguments, 0)
        fleet(0, lambda: b":idle:" in leases())
        expect(saved()["no_record"] == "1" and saved()["iterator_type"] == "after_sequence", str(saved()))
        with open(f"{folder}/token") as f:
            place = f.read()
        box.order("POST", f"trim?stream=s&before={box.now_ms() - hour // 2}")
        put_many(client, "s", 5, put, 10)
        told(polled)  # who stands at a record that is gone can't know
        run(["--push", *token], 5)
        fleet(5)
        for push in (["--push"], []):  # the same place once more
            with open(f"{folder}/token", "w") as f:
                f.write(place)
            run([*push, *token], 5)
        with open(f"{folder}/token", "w") as f:
            f.write(place)
        box.move_clock(30 * hour)
        put_many(client, "s", 5, put, 15)
        told(["--push", *token])


# ---- the consumer ----------------------------------------------------------------------------------------------------


def without_a_consumer():
    """--push fails with one line that names the consumer; retrieval=auto polls, and says why."""
    with Box("stream=s:1", "change_ms=0") as box:
        client, put = box.client(), {}
        put_many(client, "s", 50, put)
        for script, what in (("* RegisterStreamConsumer * error AccessDeniedException:400:not you", "not you"),
                             ("* RegisterStreamConsumer * error LimitExceededException:400:too many consumers", "too many consumers"),
                             ("* DescribeStreamConsumer * error AccessDeniedException:400:nobody may", "nobody may")):
            box.faults(script)
            done = harness.tail(["--push=mine", "-o", "oldest", "-c", "50", "s"], environment(box), 60)
            expect(done.code != 0 and b"consumer mine" in done.err and what.encode() in done.err, str(done))
            expect(len(done.err.splitlines()) == 1, str(done))
            done = harness.tail(["-X", "retrieval=auto", "-X", "push_consumer=mine", "-v", "-J", "-o", "oldest", "-c", "50", "s"],
                                environment(box), 60)
            expect(done.code == 0 and b"retrieval: poll, because of" in done.err and what.encode() in done.err, str(done))
            judge(harness.records_of(done.out), put)
            box.order("DELETE", "faults")
        done = harness.tail(["-X", "retrieval=auto", "-vv", "-J", "-o", "oldest", "-c", "50", "s"], environment(box), 60)
        expect(done.code == 0 and b"retrieval: push as consumer stream-tail" in done.err, str(done))
        judge(harness.records_of(done.out), put)
        for arguments, what in ((["--push=a b", "s"], "push_consumer"), (["--push", "dynamodb:table"], "DynamoDB")):
            done = harness.tail(arguments, environment(box), 20)
            expect(done.code != 0 and what.encode() in done.err, str(done))


def a_consumer_being_deleted():
    """One that is being deregistered is waited for and made anew. Where that takes more than a minute retrieval=auto polls and
    says why, and --push fails with one line (full form, for each takes that minute)."""
    in_vain = "consumer mine of stream s: still DELETING after 60 s of waiting until it is ACTIVE"
    for minutes, retrieval in [(0, "push")] + ([(60, "auto"), (60, "push")] if FULL else []):
        with Box("stream=s:1", "consumer_limits=0", f"change_ms={minutes * 60000 or 1500}") as box:
            client, put = box.client(), {}
            arn = client.describe_stream_summary(StreamName="s")["StreamDescriptionSummary"]["StreamARN"]
            state = lambda: client.describe_stream_consumer(StreamARN=arn, ConsumerName="mine")["ConsumerDescription"]["ConsumerStatus"]
            put_many(client, "s", 50, put)
            client.register_stream_consumer(StreamARN=arn, ConsumerName="mine")
            if minutes:
                box.move_clock(minutes * 60000 + 1000)
            harness.wait_until(lambda: state() == "ACTIVE", 20, "the consumer")
            client.deregister_stream_consumer(StreamARN=arn, ConsumerName="mine")
            expect(state() == "DELETING", state())
            fails = minutes and retrieval == "push"
            wanted = ["-X", f"retrieval={retrieval}", "-X", "push_consumer=mine", "-J", "-o", "oldest", "-c", "50", "s"]
            done = harness.tail(wanted if fails else ["-vv", *wanted], environment(box), 150)
            if fails:
                expect(done.code == 1 and not done.out and len(done.err.splitlines()) == 1, str(done))
                expect(in_vain.encode() in done.err, str(done))
                continue
            expect(done.code == 0, str(done))
            judge(harness.records_of(done.out), put)
            said = f"poll, because of {in_vain}" if minutes else "push as consumer mine, which is new"
            expect(f"retrieval: {said}".encode() in done.err, str(done))


def registered_consumers():
    """--consumers lists what boto3 registered, --deregister removes it; a reader at work registers its own anew, or polls."""
    with Box("stream=s:2", "stream=t:1", "change_ms=0", "consumer_limits=0", "resubscribe_ms=0") as box:
        client, put = box.client(), {}
        arn = client.describe_stream_summary(StreamName="s")["StreamDescriptionSummary"]["StreamARN"]
        shown = lambda *streams: harness.tail(["--consumers", "-J", *streams], environment(box), 20)
        done = shown("s")
        expect(done.code == 0 and not done.out and not done.err, str(done))
        for n in range(15):
            client.register_stream_consumer(StreamARN=arn, ConsumerName=f"c{n:02}")
        done = shown("s", "t")
        rows = [json.loads(line) for line in done.out.splitlines()]
        said = {c["ConsumerName"]: c for c in client.list_stream_consumers(StreamARN=arn)["Consumers"]}
        expect([r["consumer"] for r in rows] == sorted(said) and len(rows) == 15, str(done))
        for row in rows:
            theirs = said[row["consumer"]]
            expect(row["arn"] == theirs["ConsumerARN"] and row["state"] == theirs["ConsumerStatus"] and row["stream"] == "s"
                   and abs(row["created_at"] / 1000 - theirs["ConsumerCreationTimestamp"].timestamp()) < 1, str(row))
        done = harness.tail(["--deregister", "c03", "s"], environment(box), 20)
        expect(done.code == 2 and b"--force" in done.err and shown("s").out.count(b"\n") == 15, str(done))
        done = harness.tail(["--deregister", "c03", "--force", "s"], environment(box), 20)
        expect(done.code == 0 and done.out == b"deregistered: c03, it was ACTIVE\n", str(done))
        expect(b'"c03"' not in shown("s").out and shown("s").out.count(b"\n") == 14, str(shown("s")))
        for arguments, code, what in ((["--deregister", "c03", "--force", "s"], 1, b"no consumer c03 is registered; the stream has 14"),
                                      (["--deregister", "c04", "--force", "s", "t"], 2, b"one stream at a time"),
                                      (["--consumers", "dynamodb:table"], 2, b"only streams of Kinesis"),
                                      (["--consumers", "nosuch"], 1, b"ResourceNotFoundException")):
            done = harness.tail(arguments, environment(box), 20)
            expect(done.code == code and what in done.err and len(done.err.splitlines()) == 1, str(done))
        box.faults("1 ListStreamConsumers * error AccessDeniedException:400:not you")
        done = shown("s")
        expect(done.code == 1 and b"not you" in done.err and len(done.err.splitlines()) == 1, str(done))
        # Who reads by it goes on: by one that is registered anew, or by polling where there is no right for that.
        for retrieval, said in (("push", "registered again"), ("auto", "polling from now on")):
            put.clear()
            name = f"own-{retrieval}"
            running = harness.Running(["-J", "-X", f"retrieval={retrieval}", "-X", f"push_consumer={name}", "-o", "latest", "s"],
                                      environment(box))
            try:
                harness.wait_until(lambda: name.encode() in shown("s").out, 20, "its consumer")
                harness.wait_until(lambda: not put_many(client, "s", 2, put, len(put)) and running.lines, 20, "its first records")
                if retrieval == "auto":
                    box.faults("* RegisterStreamConsumer * error AccessDeniedException:400:not you")
                client.deregister_stream_consumer(StreamARN=arn, ConsumerName=name)
                put_many(client, "s", 100, put, len(put))
                newest = list(put)[-100:]
                harness.wait_until(lambda: set(newest) <= {r["place"] for r in harness.records_of(list(running.lines))}, 30,
                                   "what came after it was deregistered")
                expect(said in running.stderr(), running.stderr())
            finally:
                running.signal(signal.SIGTERM)
                running.process.wait(20)
            harness.judge_shard_order(harness.records_of(list(running.lines)))
            expect(len({r["place"] for r in harness.records_of(list(running.lines))}) == len(running.lines), "repeats")
            box.order("DELETE", "faults")


# ---- fleets ----------------------------------------------------------------------------------------------------------


def a_fleet():
    """Two workers; one is frozen, its shards are taken over by subscriptions, it wakes; another is killed. Each record is
    printed at least once, and nothing is lost."""
    with Box("stream=s:4", "change_ms=0") as box, tempfile.TemporaryDirectory() as folder:
        client, put = box.client(), {}

        def worker(name):
            return harness.Running(["--push", "-J", "-G", "app", "--store", f"sqlite:{folder}/leases", "-o", "oldest", "-X",
                                    f"worker={name}", "-X", "lease_ms=2000", "s"], environment(box))

        workers = [worker("a"), worker("b")]
        try:
            put_many(client, "s", 1000, put)
            harness.wait_until(lambda: sum(len(w.lines) for w in workers) >= len(put), 30, "the first thousand")
            harness.wait_until(lambda: all(w.lines for w in workers) or not put_many(client, "s", 100, put, len(put)), 30,
                               "both to read")
            workers[0].stop_outside_write(f"{folder}/leases")
            put_many(client, "s", 1000, put, len(put))
            seen = lambda: {(r["shard"], int(r["seq"])) for w in workers for r in map(json.loads, list(w.lines))}
            harness.wait_until(lambda: set(put) <= seen(), 40, "what the frozen one had")
            workers[0].signal(signal.SIGCONT)
            put_many(client, "s", 1000, put, len(put))
            harness.wait_until(lambda: set(put) <= seen(), 40, "what came after it woke")
            workers[1].signal(signal.SIGKILL)
            put_many(client, "s", 1000, put, len(put))
            harness.wait_until(lambda: set(put) <= seen(), 40, "what the killed one had")
            expect(seen() == set(put), "records that were never put")
            once = len(put)
            printed = sum(len(w.lines) for w in workers)
            return f"{once} records, {printed - once} printed again"
        finally:
            for w in workers:
                w.signal(signal.SIGCONT)
                w.signal(signal.SIGTERM)
                w.process.wait(20)


def it_says_push_or_poll():
    """-v, metrics, --explain and --watch, of a worker that pushes and of one that polls."""
    for arguments, word, gauge in ((["--push"], "pushed", 1), ([], "polled", 0)):
        with Box("stream=s:2", "change_ms=0") as box, tempfile.TemporaryDirectory() as folder:
            put_many(box.client(), "s", 10, {})
            port = servers.free_port()
            fleet = ["-G", "app", "--store", f"sqlite:{folder}/leases"]

            def command(*more):
                return harness.tail([*fleet, "--push", *more, "s"], environment(box), 20)

            running = harness.Running([*fleet, *arguments, "-v", "-o", "oldest", "--metrics", f"127.0.0.1:{port}", "s"], environment(box))
            try:
                harness.wait_until(lambda: f" shards {word}, " in running.stderr(), 20, f"a line that says {word}")
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
                    page = answer.read().decode()
                rows = [line for line in page.split("\n") if line.startswith("sloop_pushed{")]
                expect(len(rows) == 1 and rows[0].endswith(f" {gauge}"), f"{rows}")
                said = b"push as consumer app, which is ACTIVE" if gauge else b"push: no consumer app is registered, and a worker registers it"
                done = command("--explain", "0")
                expect(done.code == 0 and b"\nretrieval: " + said in done.out, f"{done} {done.out}")
                watching = harness.Running([*fleet, "--push", "--watch", "s"], environment(box))
                try:
                    harness.wait_until(lambda: watching.lines, 20, "the first block")
                    expect(b"s for app, " + said in watching.lines[0], repr(watching.lines[0]))
                finally:
                    watching.signal(signal.SIGTERM)
                    watching.process.wait(20)
                if gauge:
                    box.faults("1 ListStreamConsumers * error AccessDeniedException:400:not you")
                    done = command("--explain", "0")
                    expect(done.code == 0 and b"it is not known whether it exists" in done.out and b"not you" in done.out, str(done))
            finally:
                running.signal(signal.SIGTERM)
                running.process.wait(20)


# ---- latency ---------------------------------------------------------------------------------------------------------


def latency():
    """From put to print, one shard and 16, pushed and polled. The figures are printed; only gross waiting fails."""
    said, puts = [], 120 if FULL else 24
    for shards in (1, 16):
        for name, arguments in (("push", ["--push", "--order", "shard"]), ("poll 250", ["-X", "poll_ms=250", "--order", "shard"]),
                                ("push in time order", ["--push"])):
            if shards == 1 and name == "push in time order":
                continue
            with Box(f"stream=s:{shards}", "change_ms=0", limits="push" not in name) as box:
                client, sent, waits = box.client(), {}, []
                running = harness.Running([*arguments, "-u", "-J", "s"], environment(box))
                try:
                    time.sleep(2.5)
                    ends, last_ones = time.monotonic() + 40, [1.0]
                    # In time order a record waits for other shards, for less than 250 ms once it is known how much delays differ.
                    while len(waits) < puts or (name == "push in time order" and last_ones[len(last_ones) // 2] > 0.24):
                        expect(time.monotonic() < ends, f"{name}: {len(waits)} puts, the last took {last_ones}")
                        before = len(running.lines)
                        begun = time.monotonic()  # the put itself counts: what is pushed may come before its answer
                        client.put_record(StreamName="s", PartitionKey=f"k{len(waits)}", Data=b"%d" % len(waits))
                        while len(running.lines) == before:
                            expect(time.monotonic() < begun + 10, f"{name}: a record did not come within 10 s")
                            time.sleep(0.0002)
                        waits.append(time.monotonic() - begun)
                        last_ones = sorted(waits[-8:])
                    waits.sort()
                    said.append(f"{name}, {shards} shards: p50 {waits[len(waits) // 2] * 1e3:.1f} p99 {waits[len(waits) * 99 // 100] * 1e3:.1f} max {waits[-1] * 1e3:.1f} ms")
                    if name == "push":
                        expect(waits[puts // 2] < 0.1, said[-1])
                    if name == "push in time order":  # the shards that are silent are waited for at once, not one after the other
                        expect(waits[puts // 2] < 1.5, said[-1])
                finally:
                    running.signal(signal.SIGTERM)
                    running.process.wait(20)
    return "; ".join(said)


if __name__ == "__main__":
    tests = harness.Tests()
    tests.side_by_side([
        lambda test=test: tests.run(test.__name__.replace("_", " "), test)
        for test in (without_a_consumer, a_fleet, a_thousand_ends, a_consumer_being_deleted, ends_and_faults, small_budget, a_reader_that_does_not_read, registered_consumers, it_says_push_or_poll,
                     reshards_while_it_reads, idle_shards, live_and_latest, the_tip_ends_it)], at_once=4)
    tests.run("latency", latency)  # by itself
    tests.end()
