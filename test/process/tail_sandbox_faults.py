"""The fault catalogue against the built program: the sandbox's script makes the next calls fail in a chosen way; all
that boto3 put must still come out exactly once and in order, and no fault may be answered with a storm of calls.

Numbers are those of the catalogue (1-4, 6-13, 16, 19, 20, 54; 45-47 are in tail_proxy.py and tail_tls.py, 51 in
bad_input.py, 52 in the unit and simulator tests).
"""

import os
import random
import re
import signal
import subprocess
import time

import harness
import servers
from harness import FULL, Tests, expect

N = 2000 if FULL else 400  # records a test
READS = "sandbox.reads_per_second=0"
WRITES = ("sandbox.write_bytes_per_second=0", "sandbox.write_records_per_second=0")


def shard_id(number):
    return f"shardId-{number:012d}"


def calls(box, operation):
    return box.stats()["operations"].get(operation, {}).get("calls", 0)


class World:
    """A sandbox with a stream of its own and a backlog in it."""

    def __init__(self, *options, shards=4, records=N, payload_bytes=48):
        self.box = servers.Sandbox(shards, (*WRITES, *options))
        self.shards, self.records, self.payload_bytes = shards, records, payload_bytes

    def __enter__(self):
        self.box.__enter__()
        try:
            self.kinesis = harness.client(self.box.url)
            self.stream = harness.new_stream(self.kinesis, self.shards)
            self.producer = harness.Producer(self.kinesis, self.stream, self.payload_bytes)
            if self.records:
                self.producer.put_all(self.records)
        except BaseException:
            self.box.stop()
            raise
        return self

    def __exit__(self, *exception):
        self.box.stop()

    @property
    def put(self):
        return self.producer.put

    def tail(self, *options, seconds=90):
        return harness.tail(["-o", "oldest", "-e", "-J", *options, self.stream],
                            harness.tail_environment(self.box.url), seconds)

    def running(self, *options):
        return harness.Running(["-o", "oldest", "-J", *options, self.stream],
                               harness.tail_environment(self.box.url))


def judge(world, out, by_time=True):
    records = harness.records_of(out)
    harness.judge_once(records, world.put)
    harness.judge_shard_order(records)
    if by_time:
        harness.judge_time_order(records)
        harness.judge_not_late(records)
    return records


# Script lines that must change nothing but the time it takes. Small pages, so that a fault falls in the middle.
HARMLESS = [
    ("1: one call throttled", "1 GetRecords * throttle"),
    ("1: a page of each shard throttled twice", "8 GetRecords * throttle"),
    ("2: listing and describing limited",
     "2 ListShards * error LimitExceededException:400\n2 DescribeStreamSummary * error LimitExceededException:400"),
    ("2: throttled by another name", "2 ListShards * error ThrottlingException:400"),
    ("3: an iterator expired", "2 GetRecords 1 expired\n1 GetRecords 2 expired"),
    ("3: every first iterator expired", "4 GetRecords * expired"),
    ("4c: ResourceNotFound that is a lie", "2 GetRecords 1 error ResourceNotFoundException:400"),
    ("6: no next iterator and no children", "2 GetRecords 1 no-next"),
    ("6: an empty object", "3 GetRecords * empty-object"),
    ("7: the listing's token expires", "1 ListShards * error ExpiredNextTokenException:400"),
    ("10: MillisBehindLatest is 2^63", "20 GetRecords * behind 9223372036854775808"),
    ("10: MillisBehindLatest is negative", "20 GetRecords * behind -1"),
    ("10: MillisBehindLatest is null", "20 GetRecords * behind null"),
    ("12: a page again", "2 GetRecords 1 repeat"),
    ("16: KMS throttles", "2 GetRecords 1 error KMSThrottlingException:400"),
    ("19: status 500 without a body", "3 GetRecords * status 500"),
    ("19: status 503 on the listing", "2 ListShards * status 503"),
    ("19: HTML with status 200", "2 GetRecords * html"),
    ("19: HTML for the description", "1 DescribeStreamSummary * html"),
    ("19: a body cut after 1 byte", "2 GetRecords * cut 1"),
    ("19: a body cut after 300 bytes", "2 GetRecords * cut 300"),
    ("19: bytes after the end", "2 GetRecords * trailing"),
    ("19: gzip nobody asked for", "2 GetRecords * gzip"),
    ("19: not JSON", "2 GetRecords * body }{"),
    ("19: deep nesting", "2 GetRecords * body " + "[" * 2000),
    ("19: half an object", '2 GetRecords * body {"Records":[{"Data":"AAAA"'),
    ("19: records that are no array", '2 GetRecords * body {"Records":7,"NextShardIterator":"x"}'),
    ("19: a number beyond all", '2 GetRecords * body {"MillisBehindLatest":1e400'),
    ("20: JSON although CBOR was asked for", "2 GetRecords * json-for-cbor"),
    ("20: CBOR that ends early", "2 GetRecords * cbor-cut"),
    ("46: dropped without an answer", "3 GetRecords * drop\n1 ListShards * drop"),
    ("46: an answer after 1.5 s", "2 GetRecords 1 delay 1500"),
]


def harmless(script, wire):
    with World(READS) as world:
        world.box.faults(script)
        done = world.tail("--wire", wire, "-X", "fetch_records_max=50", "-X", "poll_ms=200")
        expect(done.code == 0, str(done))
        records = judge(world, done.out)
        used = world.box.stats().get("faults_used")
        expect(used, f"the script was never used: {script}")
        total = calls(world.box, "GetRecords")
        pages = 4 * (N // 4 // 50 + 12)
        expect(total <= pages + 60, f"{total} GetRecords calls for about {pages} pages")
        return f"{len(records)} records, {used} faults, {total} calls"


def end_of_shard(action):
    """6: the answers that end a closed shard are wrong in some way; its children are read all the same, after it."""
    with World(READS) as world:
        shards = harness.list_shards(world.kinesis, world.stream)
        low, high = (int(shards[1]["HashKeyRange"][name]) for name in ("StartingHashKey", "EndingHashKey"))
        world.kinesis.split_shard(StreamName=world.stream, ShardToSplit=shards[1]["ShardId"],
                                  NewStartingHashKey=str((low + high) // 2))
        harness.wait_active(world.kinesis, world.stream)
        world.producer.put_all(N)
        world.box.faults(f"3 GetRecords 1 {action}")
        done = world.tail("-X", "fetch_records_max=50")
        expect(done.code == 0, str(done))
        expect(world.box.stats()["faults_used"], f"{action} was never used")
        records = judge(world, done.out)
        harness.judge_lineage(records, harness.list_shards(world.kinesis, world.stream))


def empty_pages_then_data():
    """10: an empty page with nothing behind it is the tip; what comes after it comes out all the same."""
    with World(READS) as world:
        world.box.faults("40 GetRecords * empty")
        running = world.running("-X", "poll_ms=200")
        try:
            running.wait_lines(N, 60)
            expect(running.interrupt() == 0, running.stderr())
        finally:
            running.kill()
        judge(world, running.lines, by_time=False)


def throttle_storm():
    """1: for some seconds every call is refused; at most the service's 5 calls a second and shard go out, and soon
    after the storm all is read."""
    seconds = 8 if FULL else 4
    with World(READS) as world:
        running = world.running("-X", "fetch_records_max=50")
        try:
            running.wait_lines(1, 30)
            world.box.faults("* GetRecords * throttle")
            before, began = calls(world.box, "GetRecords"), time.monotonic()
            harness.wait_until(lambda: time.monotonic() - began > seconds, seconds + 5, "the storm")
            sent, lasted = calls(world.box, "GetRecords") - before, time.monotonic() - began
            world.box.clear_faults()
            # It goes on asking; how often depends on what its waits were drawn as.
            expect(1 <= sent <= 4 * 5 * lasted, f"{sent} calls in a storm of {lasted:.1f} s on 4 shards")
            running.wait_lines(N, 30)
            expect(running.interrupt() == 0, running.stderr())
        finally:
            running.kill()
        judge(world, running.lines, by_time=False)
        return f"{sent} calls in {lasted:.1f} s"


def one_shard_throttled():
    """1: the other shards go on while one is refused (order shard: nobody waits for it)."""
    with World(READS) as world:
        world.box.faults("* GetRecords 1 throttle")
        running = world.running("--order", "shard")
        try:
            running.wait_lines(len([place for place in world.put if place[0] != shard_id(1)]), 30)
            expect(not any(shard_id(1).encode() in line for line in running.lines), "the refused shard was read")
            world.box.clear_faults()
            running.wait_lines(N, 40)
            expect(running.interrupt() == 0, running.stderr())
        finally:
            running.kill()
        judge(world, running.lines, by_time=False)


def iterators_expire_while_stopped():
    """3: SIGSTOP for longer than an iterator lives; new ones after the last delivered record."""
    with World(READS, "sandbox.iterator_ms=700") as world:
        running = world.running("-X", "fetch_records_max=20")
        try:
            running.wait_lines(40, 30)
            running.signal(signal.SIGSTOP)
            running.wait_stopped()
            world.producer.put_all(200)
            world.box.admin("POST", "clock", b"5000")  # 5 s pass in the sandbox
            running.signal(signal.SIGCONT)
            running.wait_lines(N + 200, 60)
            expect(running.interrupt() == 0, running.stderr())
        finally:
            running.kill()
        judge(world, running.lines, by_time=False)


def iterators_expire_behind_slow_output():
    """3 and 54: nobody reads our output for longer than iterators live; then everything comes, once."""
    with World(READS, "sandbox.iterator_ms=1500", records=3000, payload_bytes=400) as world:
        argv = [servers.binary(), "-o", "oldest", "-e", "-J", "-X", "fetch_records_max=100", "-X",
                "buffered_bytes_max=262144", world.stream]
        process = subprocess.Popen(argv, env=harness.tail_environment(world.box.url), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                                   preexec_fn=servers.die_with_parent)
        try:
            first = process.stdout.read(10)
            began = time.monotonic()
            harness.wait_until(lambda: time.monotonic() - began > 2, 5, "more than an iterator's life")
            before = calls(world.box, "GetRecords")
            pages = world.box.stats()["records_out"]
            expect(pages < 3000, f"all {pages} records were fetched although nobody reads")
            harness.wait_until(lambda: time.monotonic() - began > 4, 5, "the same again")
            sent = calls(world.box, "GetRecords") - before
            expect(sent <= 4 * 5 * 2, f"{sent} calls in 2 s while the output is full")
            out, err = process.communicate(timeout=60)
        finally:
            if process.poll() is None:
                process.kill()
        expect(process.returncode == 0, err.decode())
        judge(world, first + out)
        return f"{pages} of 3000 fetched while full"


def stream_deleted():
    """4b: the stream goes away while it is read: told on stderr, no hot loop, what came is right."""
    with World(READS) as world:
        running = world.running()
        try:
            running.wait_lines(N, 30)
            world.kinesis.delete_stream(StreamName=world.stream)
            before, began = world.box.stats()["requests"], time.monotonic()
            harness.wait_until(lambda: "ResourceNotFound" in running.stderr() or running.process.poll() is not None, 30,
                               "word on stderr")
            harness.wait_until(lambda: time.monotonic() - began > 3 or running.process.poll() is not None, 10, "3 s")
            sent, lasted = world.box.stats()["requests"] - before, time.monotonic() - began
            expect(sent <= 30 * lasted + 20, f"{sent} calls in {lasted:.1f} s to a stream that is gone")
        finally:
            running.kill()
        judge(world, running.lines, by_time=False)
        return f"{sent} calls in {lasted:.1f} s"


def listing_in_pages():
    """7: two shards a page, a token that expires on the way, shards closed and open."""
    with World(READS, "sandbox.list_page_max=2", shards=7) as world:
        world.box.faults("1 ListShards * error ExpiredNextTokenException:400")
        done = world.tail()
        expect(done.code == 0, str(done))
        judge(world, done.out)


def empty_pages_are_paced():
    """10: nothing but empty pages: no tight loop."""
    with World(READS) as world:
        world.box.faults("* GetRecords * empty")
        running = world.running("-X", "poll_ms=200")
        try:
            harness.wait_until(lambda: calls(world.box, "GetRecords") >= 4, 30, "the first calls")
            before, began = calls(world.box, "GetRecords"), time.monotonic()
            harness.wait_until(lambda: time.monotonic() - began > 3, 10, "3 s")
            sent, lasted = calls(world.box, "GetRecords") - before, time.monotonic() - began
            expect(sent <= 4 * 5 * lasted + 4, f"{sent} calls in {lasted:.1f} s")
            expect(not running.lines, "records out of empty pages")
            world.box.clear_faults()
            running.wait_lines(N, 30)
        finally:
            running.kill()
        judge(world, running.lines, by_time=False)
        return f"{sent} calls in {lasted:.1f} s"


def rss_kb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(re.search(r"VmHWM:\s+(\d+)", status.read())[1])


def large_and_empty_records():
    """11: 1 MiB records in pages of up to 10 MiB with the service's own read limits, and thousands of empty ones."""
    with World(records=0, shards=2) as world:
        rng = random.Random(11)
        expected = {}
        for number in range(12):
            data = rng.randbytes(1024 * 1024 - 40)
            answer = world.kinesis.put_record(StreamName=world.stream, Data=data, PartitionKey=f"big-{number}")
            expected[(answer["ShardId"], int(answer["SequenceNumber"]))] = (f"big-{number}", data)
        for _ in range(4):
            entries = [{"Data": b"", "PartitionKey": f"e{rng.random()}"} for _ in range(500)]
            answer = world.kinesis.put_records(StreamName=world.stream, Records=entries)
            for entry, result in zip(entries, answer["Records"]):
                expected[(result["ShardId"], int(result["SequenceNumber"]))] = (entry["PartitionKey"], b"")
        world.producer.put.update(expected)
        for wire in ("json", "cbor"):
            done = world.tail("--wire", wire, "-X", "buffered_bytes_max=4194304", seconds=120)
            expect(done.code == 0, str(done))
            judge(world, done.out)
            # 6 MiB a shard at 2 MiB/s, and some back-offs. 30 s and more means that transfers paused for lack of
            # budget waited for their time limit.
            expect(done.own_seconds < 25, f"--wire {wire} took {done.seconds:.1f} s")


def going_backwards(action):
    """12: a shard whose sequence numbers go back, or whose page is another shard's, is stopped and told; the others
    are read to their end, and nothing is delivered twice or out of order."""
    with World(READS) as world:
        world.box.faults(f"* GetRecords 1 {action}")
        done = world.tail("-X", "fetch_records_max=50", "--timeout", "20", seconds=60)
        records = harness.records_of(done.out)
        harness.judge_shard_order(records)
        harness.judge_once([r for r in records if r["shard"] != shard_id(1)],
                           {place: value for place, value in world.put.items() if place[0] != shard_id(1)})
        expect(shard_id(1).encode() in done.err, f"the shard is not named: {done}")
        return f"exit code {done.code}"


def trimmed_start():
    """13: the position is older than what is kept: told with the gap's bounds, reading goes on with the oldest."""
    with World(READS, shards=1) as world:
        places = sorted(world.put, key=lambda place: place[1])
        now = int(time.time() * 1000) + 1
        harness.wait_until(lambda: time.time() * 1000 > now + 20, 5, "a later millisecond")
        world.producer.put = {}
        later = dict(world.producer.put_all(50))
        world.box.admin("POST", f"trim?stream={world.stream}&before={now + 10}")
        start = f"{places[5][0]}:{places[5][1]}"
        done = harness.tail(["-o", start, "-e", "-J", world.stream], harness.tail_environment(world.box.url))
        expect(done.code == 0, str(done))
        harness.judge_once(harness.records_of(done.out), later)
        expect(done.err.strip() and places[5][0].encode() in done.err, f"silent: {done}")
        stopped = harness.tail(["-o", start, "-e", "-J", "-X", "on_trimmed=stop", world.stream],
                               harness.tail_environment(world.box.url))
        expect(not stopped.out, f"on_trimmed=stop went on: {stopped}")
        return done.err.decode().strip()[:120]


def access_denied():
    """16: data refused in the middle: told, retried slowly, read on when allowed again."""
    with World(READS) as world:
        running = world.running("-X", "fetch_records_max=50")
        try:
            running.wait_lines(1, 30)
            world.box.faults("* GetRecords 1 error AccessDeniedException:400:not allowed to read")
            world.producer.put_all(100)
            harness.wait_until(lambda: "AccessDenied" in running.stderr(), 30, "word of it on stderr")
            before, began = calls(world.box, "GetRecords"), time.monotonic()
            harness.wait_until(lambda: time.monotonic() - began > 3, 10, "3 s")
            sent = calls(world.box, "GetRecords") - before
            expect(running.process.poll() is None, f"left: {running.stderr()}")
            world.box.clear_faults()
            running.wait_lines(N + 100, 60)
            expect(running.interrupt() == 0, running.stderr())
            expect(sent <= 4 * 5 * 3, f"{sent} calls in 3 s")
        finally:
            running.kill()
        judge(world, running.lines, by_time=False)
        return f"{sent} calls in 3 s"


def bad_base64():
    """19: a payload that is no base64 is delivered raw and marked, never dropped."""
    with World(READS, shards=1, records=40) as world:
        world.box.faults("1 GetRecords * bad-base64")
        done = world.tail("--wire", "json")
        expect(done.code == 0, str(done))
        records = harness.records_of(done.out)
        harness.judge_shard_order(records)
        expect({record["place"] for record in records} == set(world.put), f"{len(records)} of {len(world.put)} records")
        raw = [record for record in records if record.get("raw")]
        expect(raw, "nothing is marked raw")
        rest = {place: value for place, value in world.put.items() if place not in {r["place"] for r in raw}}
        harness.judge_once([record for record in records if not record.get("raw")], rest)
        return f"{len(raw)} raw of {len(records)}"


def reshard_under_faults():
    """9 with 1, 3, 6 and 19: a split and a merge while calls fail in every way."""
    script = "\n".join(["3 GetRecords * throttle", "2 GetRecords * expired", "2 GetRecords * html",
                        "2 GetRecords * cut 100", "2 GetRecords * no-next", "2 GetRecords * drop",
                        "2 GetRecords * empty-object", "1 ListShards * error LimitExceededException:400"])
    with World(READS, shards=2, records=0) as world:
        running = world.running("-X", "fetch_records_max=20")
        try:
            world.producer.start()
            running.wait_lines(50, 30)
            for step in range(2):
                world.box.faults(script)
                shards = sorted((shard for shard in harness.list_shards(world.kinesis, world.stream)
                                 if "EndingSequenceNumber" not in shard["SequenceNumberRange"]),
                                key=lambda shard: int(shard["HashKeyRange"]["StartingHashKey"]))
                if step == 0:
                    low, high = (int(shards[0]["HashKeyRange"][name]) for name in ("StartingHashKey", "EndingHashKey"))
                    world.kinesis.split_shard(StreamName=world.stream, ShardToSplit=shards[0]["ShardId"],
                                              NewStartingHashKey=str((low + high) // 2))
                else:
                    world.kinesis.merge_shards(StreamName=world.stream, ShardToMerge=shards[0]["ShardId"],
                                               AdjacentShardToMerge=shards[1]["ShardId"])
                harness.wait_active(world.kinesis, world.stream)
                before = len(world.put)
                harness.wait_until(lambda: world.producer.error or len(world.put) > before + 100, 60, "more records")
            world.producer.stop()
            running.wait_lines(len(world.put), 120)
            expect(running.interrupt() == 0, running.stderr())
        finally:
            world.producer.stopping.set()
            running.kill()
        records = judge(world, running.lines, by_time=False)
        harness.judge_lineage(records, harness.list_shards(world.kinesis, world.stream))
        return f"{len(records)} records"


def main():
    tests = Tests()
    harness.boto3_or_skip()
    try:
        servers.binary()
    except servers.Missing as missing:
        tests.skip("all", missing)
        tests.end()
    jobs = []

    def add(name, test, *arguments):
        jobs.append(lambda: tests.run(name, test, *arguments))

    # The long ones first.
    add("11: 1 MiB records and empty ones", large_and_empty_records)
    add("9: a split and a merge under faults", reshard_under_faults)
    for name, script in HARMLESS:
        for wire in ("auto", "json") if FULL or name[:2] in ("19", "20") else ("auto",):
            if wire == "json" and "CBOR" in name:
                continue
            add(f"{name}, --wire {wire}", harmless, script, wire)
    for action in ("no-next", "no-children", "children-with-next", "children-without-parents", "empty-object", "html",
                   "expired", "cut 50"):
        add(f"6: the end of a shard: {action}", end_of_shard, action)
    add("10: empty pages, then data", empty_pages_then_data)
    add("1: a throttle storm", throttle_storm)
    add("1: one shard throttled", one_shard_throttled)
    add("3: iterators expire while stopped", iterators_expire_while_stopped)
    add("3, 54: iterators expire behind a full output", iterators_expire_behind_slow_output)
    add("4b: the stream is deleted", stream_deleted)
    add("7: a listing in pages", listing_in_pages)
    add("10: empty pages are paced", empty_pages_are_paced)
    add("12: sequence numbers going back", going_backwards, "backwards")
    add("12: records of another shard", going_backwards, "foreign")
    add("13: a start that is trimmed", trimmed_start)
    add("16: access denied to one shard", access_denied)
    add("19: base64 that is none", bad_base64)
    tests.side_by_side(jobs)
    tests.end()


if __name__ == "__main__":
    main()
