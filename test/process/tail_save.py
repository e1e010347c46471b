"""stream-tail --save FILE, interrupted at random moments and started again: with Ctrl-C nothing is lost and nothing comes
twice, and it ends within two seconds; with SIGKILL nothing is lost, and only what lies behind the last token written
comes again. On a Kinesis stream with plain and aggregated records that was split and merged, and on a table's stream
that rolled over.

A moment is a number of lines read from the program's output, or a time after its start; the pipe between is small, so
the program stands in the middle of the stream when the signal comes.
"""

import fcntl
import json
import os
import random
import signal
import subprocess
import tempfile
import time

import cpu_waits
import dynamo
import harness
import sandbox_box
import servers
from harness import FULL, Tests, expect

TRIALS = 100 if FULL else 18  # in all, over both sources
F_SETPIPE_SZ = 1031
RECORDS = 3000



def clock(process):
    """Seconds of a clock that stands while the process, or this thread, waits for a CPU. The process may have just ended."""
    return time.monotonic() - (cpu_waits.waited(process.pid) or 0.0) - cpu_waits.waited_of_thread()


def run(env, arguments, save, moment=None, how=None):
    """Runs stream-tail until its end, or until `moment`, when it gets the signal `how`: ("ms", n) after its start, ("lines",
    n) read, or ("saved", n): half of the lines read, the token written, and then the rest. Returns (records, milliseconds
    from the signal to the end, exit code, standard error)."""
    argv = [servers.binary(), "-J", "-o", "oldest", "--save", save, *arguments]
    out_read, out_write = os.pipe()
    fcntl.fcntl(out_write, F_SETPIPE_SZ, 4096)
    with tempfile.TemporaryFile() as err:
        began = time.monotonic()
        process = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=out_write, stderr=err,
                                   preexec_fn=servers.die_with_parent)
        os.close(out_write)
        text, signalled = b"", None
        with open(out_read, "rb", buffering=0) as out:
            if moment and moment[0] == "ms":
                time.sleep(moment[1] / 1000)
                process.send_signal(how)
                signalled = clock(process)
            waits = moment and moment[0] == "saved"
            while True:
                if waits and text.count(b"\n") >= moment[1] // 2:
                    harness.wait_until(lambda: os.path.exists(save), 20, "a token is written")
                    waits = False
                if moment and not signalled and text.count(b"\n") >= moment[1]:
                    process.send_signal(how)
                    signalled = clock(process)
                more = out.read(4096)
                if not more:
                    break
                text += more
                expect(time.monotonic() - began < 120, "still running after 120 s")
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        ended = clock(process)
        code = process.wait()
        err.seek(0)
        lines = text.split(b"\n")
        if how != signal.SIGKILL:
            expect(lines[-1] == b"", f"the last line is cut off: {lines[-1][-80:]!r}")
        records = [json.loads(line) for line in lines[:-1]]
        took_ms = (ended - signalled) * 1000 if signalled else 0
        return records, took_ms, code, err.read().decode("utf-8", "replace")


def place(record):
    return int(record["seq"]), record.get("sub", 0)


def ancestors(shard, parents):
    found, todo = set(), [shard]
    while todo:
        for parent in parents.get(todo.pop(), ()):
            if parent not in found:
                found.add(parent)
                todo.append(parent)
    return found


def judge_repeats(repeats, save, parents):
    """Every repeated record lies behind the token that was there when the program was killed."""
    if not os.path.exists(save):
        return  # killed before a token was written: everything may come again
    with open(save, encoding="utf-8") as file:
        token = json.load(file)
    shards = {shard["shard_id"]: shard for shard in token["shards"]}
    for record in repeats:
        known = shards.get(record["shard"])
        if not known:
            expect(ancestors(record["shard"], parents) & set(shards),
                   f"{record['shard']} is not in the token, as if read to its end, and came again")
        elif known.get("iterator_type") == "after_sequence":
            done = int(known["sequence_number"]), int(known.get("sub_sequence", 0))
            expect(place(record) > done, f"{place(record)} of {record['shard']} came again, {done} is done")


class Trials:
    def __init__(self, name, url, arguments, truth, identity, parents):
        self.name, self.arguments, self.truth, self.identity = name, arguments, truth, identity
        self.parents = parents
        self.env = harness.tail_environment(url)
        self.inside = self.killed = self.killed_with_token = self.slowest_ms = self.repeated = self.count = 0

    def one(self, dice, folder):
        save = os.path.join(folder, f"token{self.count}")
        how = signal.SIGKILL if self.count % 3 == 2 else signal.SIGINT
        kind = ("lines", "saved", "saved", "ms")[self.count % 4]
        moment = kind, dice.randrange(0, 150) if kind == "ms" else dice.randrange(1, len(self.truth))
        self.count += 1
        first, took_ms, code, err = run(self.env, self.arguments, save, moment, how)
        if how == signal.SIGINT:
            # A signal before the handlers are set ends it like any program.
            expect(code == 0 or (code == -signal.SIGINT and not first), f"exit code {code} after Ctrl-C: {err[-500:]}")
            expect(took_ms < 2000, f"ended {took_ms:.0f} ms after Ctrl-C at {moment}")
            self.slowest_ms = max(self.slowest_ms, took_ms)
        self.inside += 0 < len(first) < len(self.truth)
        self.killed += how == signal.SIGKILL
        kept = save + ".kept"
        if os.path.exists(save):
            self.killed_with_token += how == signal.SIGKILL
            with open(save, "rb") as old, open(kept, "wb") as copy:
                copy.write(old.read())
        second, _, code, err = run(self.env, ["-e", *self.arguments], save)
        expect(code == 0, f"exit code {code}: {err[-500:]}")
        self.judge(first, second, how, kept, moment)

    def judge(self, first, second, how, kept, moment):
        seen, again = {}, {self.identity(record) for record in second}
        for part in (first, second):
            for record in part:
                seen[self.identity(record)] = seen.get(self.identity(record), 0) + 1
            once = [self.identity(record) for record in part]
            expect(len(once) == len(set(once)), "a record twice in one run")
        lost = set(self.truth) - set(seen)
        expect(not lost, f"{moment}, signal {how}: {len(lost)} of {len(self.truth)} lost, {sorted(lost)[:3]}")
        expect(not set(seen) - set(self.truth), "records nobody wrote")
        repeats = [record for record in first if self.identity(record) in again]
        if how == signal.SIGINT:
            expect(not repeats, f"{moment}: {len(repeats)} came again after Ctrl-C, {repeats[:1]}")
        else:
            judge_repeats(repeats, kept, self.parents)
            self.repeated += len(repeats)

    def all(self, n):
        dice = random.Random(self.name)
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(n):
                self.one(dice, folder)
        expect(self.inside >= n * 3 // 10, f"only {self.inside} of {n} moments were between the first and the last record")
        expect(self.killed_with_token > 0, "no SIGKILL found a token written")
        return (f"{n} moments, {self.inside} inside the stream; {self.killed} by SIGKILL, {self.killed_with_token} of them "
                f"with a token written; Ctrl-C took {self.slowest_ms:.0f} ms at most; {self.repeated} records came again "
                "after SIGKILL")


# ---- what is read --------------------------------------------------------------------------------------------------


def aggregates_of(texts, key):
    from aws_kinesis_agg.aggregator import RecordAggregator  # pylint: disable=import-outside-toplevel

    packer = RecordAggregator()
    for text in texts:
        packer.add_user_record(key, text)
    _, _, body = packer.clear_and_get().get_contents()
    return body


def fill_kinesis(kinesis, stream):
    """Numbered payloads: one in three records is an aggregate of 1 to 40. Returns all payloads."""
    dice, number, truth = random.Random(5), 0, []
    reshard = {RECORDS // 3: "split", 2 * RECORDS // 3: "merge"}
    while number < RECORDS:
        entries = []
        for _ in range(50):
            key = f"key-{dice.getrandbits(32)}"
            n = dice.randrange(1, 41) if dice.randrange(3) == 0 else 1
            texts = [f"{number + i:06d}:{dice.getrandbits(300):x}" for i in range(n)]
            number += n
            truth += texts
            body = aggregates_of(texts, key) if n > 1 else texts[0].encode()
            entries.append({"Data": body, "PartitionKey": key})
        answer = kinesis.put_records(StreamName=stream, Records=entries)
        expect(answer["FailedRecordCount"] == 0, "the sandbox refused records")
        for at in [at for at in reshard if number >= at]:
            change = reshard.pop(at)
            shards = sorted((shard for shard in harness.list_shards(kinesis, stream)
                             if "EndingSequenceNumber" not in shard["SequenceNumberRange"]),
                            key=lambda shard: int(shard["HashKeyRange"]["StartingHashKey"]))
            low, high = (int(shards[0]["HashKeyRange"][f"{end}HashKey"]) for end in ("Starting", "Ending"))
            if change == "split":
                kinesis.split_shard(StreamName=stream, ShardToSplit=shards[0]["ShardId"],
                                    NewStartingHashKey=str((low + high) // 2))
            else:
                kinesis.merge_shards(StreamName=stream, ShardToMerge=shards[0]["ShardId"],
                                     AdjacentShardToMerge=shards[1]["ShardId"])
            harness.wait_active(kinesis, stream)
    return truth


def on_kinesis(tests, box):
    kinesis = box.client()
    stream = harness.new_stream(kinesis, 3)
    truth = fill_kinesis(kinesis, stream)
    parents = harness.parents_by_listing(harness.list_shards(kinesis, stream))
    trials = Trials("kinesis", box.url, ["-X", "fetch_records_max=60", stream], truth, lambda record: record["payload"],
                    parents)
    tests.run("Kinesis with aggregates: interrupted and resumed", trials.all, TRIALS // 2)


def on_dynamodb(tests, box):
    dynamodb, streams = dynamo.clients(box.url)
    box.table("orders", partitions=3)
    arn = dynamo.stream_of(dynamodb, "orders")
    writer = dynamo.Writer(dynamodb, "orders")
    for _ in range(5):
        writer.write(RECORDS // 10)
        box.roll("orders")
    truth = dynamo.sequences(dynamo.read_all(streams, arn))
    parents = {shard["ShardId"]: [shard["ParentShardId"]] if shard.get("ParentShardId") else []
               for shard in dynamo.list_shards(streams, arn)}
    trials = Trials("dynamodb", box.url, ["-X", "fetch_records_max=60", "dynamodb:orders"], truth,
                    lambda record: record["seq"], parents)
    tests.run("DynamoDB with rollovers: interrupted and resumed", trials.all, TRIALS // 2)


def main():
    tests = Tests()
    with sandbox_box.Box() as box:
        tests.side_by_side([lambda: on_kinesis(tests, box), lambda: on_dynamodb(tests, box)])
    tests.end()


if __name__ == "__main__":
    main()
