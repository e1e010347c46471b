"""Six processes share 32 shards with leases of 2 s while they are killed, stopped for two leases, restarted, cut off from
their lease table or from their records in all the ways of valve.py, and the shards split and merge. Afterwards
fleet_judge.py looks for any loss, wrong order, double reading, false checkpoint or repeat without a cause.

Records from kinesalite (full runs: from kinesis-mock, too) with leases in dynalite; both in the sandbox with the service's
limits; and DynamoDB Streams of the sandbox whose shards all roll over again and again.

The story is made from a seed (SLOOP_TEST_SEED) and printed with it. An ordinary run tells a short one, SLOOP_TEST_FULL=1
ten minutes each (SLOOP_TEST_SECONDS: so long).
"""

import heapq
import os
import random
import threading
import time

import dynamo
import fleet as fleets
import harness
import servers
from harness import FULL, Tests, expect
from sandbox_box import Box

SEED = int(os.environ.get("SLOOP_TEST_SEED", "1"))
SECONDS = float(os.environ.get("SLOOP_TEST_SECONDS", "600" if FULL else "20"))
WORKERS, SHARDS, LEASE_MS = 6, 32, 2000
LISTED_MAX = 95  # one page of a listing (kinesalite dies on the second)
FIRST_DEED_S, CALM_S = 4, 60
AGAIN_MAX = 6

MODES = (("hole", "both"), ("hole", "down"), ("hole", "up"), ("hold", "both"), ("hold", "up"), ("hold", "down"),
         ("reset", "both"), ("cut", "both"), ("bytes", "both"), ("delay", "down"))


HARMS = ("kill", "kill", "stop", "restart", "table", "table", "records", "split", "merge")
HARMLESS = ("restart", "restart", "records", "split", "merge")


def tell(seed, seconds, reshards, deeds=HARMS):
    """The story: [(second, what, ...)], made from the seed alone. A worker suffers one thing at a time, and at least two
    suffer nothing."""
    dice, story, busy, at = random.Random(seed), [], {}, FIRST_DEED_S
    listed = SHARDS
    while at < seconds:
        free = [f"w{i}" for i in range(WORKERS) if busy.get(f"w{i}", 0) <= at]
        what = dice.choice(deeds)
        if what in ("split", "merge"):
            more = 2 if what == "split" else 1
            if reshards and listed + more <= LISTED_MAX:
                story.append((at, what, dice.random()))
                listed += more
        elif len(free) > 2:
            worker = dice.choice(free)
            lasts = {"kill": dice.uniform(0.2, 6), "stop": 2 * LEASE_MS / 1000, "restart": dice.uniform(0, 2),
                     "table": dice.uniform(0.5, 8), "records": dice.uniform(0.5, 8)}[what]
            more = dice.choice(MODES) if what in ("table", "records") else ()
            story.append((at, what, worker, lasts, *more))
            busy[worker] = at + lasts + 1
        at += dice.expovariate(1 / 1.5) + 0.3
    return story


def say(deed):
    return " ".join(f"{word:.1f}" if isinstance(word, float) else str(word) for word in deed)


class Stage:
    """Plays a story on a fleet."""

    def __init__(self, fleet, story, reshard):
        self.fleet, self.reshard = fleet, reshard
        self.began = time.monotonic()
        self.queue = [(deed[0], i, self.play, deed) for i, deed in enumerate(story)]
        self.number = len(story)

    def later(self, seconds, function, *arguments):
        self.number += 1
        heapq.heappush(self.queue, (time.monotonic() - self.began + seconds, self.number, lambda _: function(*arguments),
                                    None))

    def play(self, deed):
        _, what, *rest = deed
        if what in ("split", "merge"):
            self.reshard(what, *rest)
            return
        worker, lasts, *more = rest
        if what == "kill":
            self.fleet.kill(worker)
            self.later(lasts, self.fleet.start, worker)
        elif what == "stop":
            self.later(lasts, self.fleet.go_on, worker, self.fleet.stop(worker))
        elif what == "restart":
            self.fleet.leave(worker, 15)
            self.later(lasts, self.fleet.start, worker)
        else:
            mode, direction = more
            deed = self.fleet.deed("cut" if what == "table" else "far", worker, end=float("inf"))
            name = f"{worker}.{'leases' if what == 'table' else 'records'}"
            self.fleet.valves.turn(name, mode, direction, 300)
            self.later(lasts, self.heal, name, deed)

    def heal(self, name, deed):
        self.fleet.valves.turn(name, "open")
        deed.end = time.monotonic()

    def run(self, seconds):
        """To the last deed's end."""
        heapq.heapify(self.queue)
        while self.queue or time.monotonic() - self.began < seconds:
            now = time.monotonic() - self.began
            if self.queue and self.queue[0][0] <= now:
                _, _, function, deed = heapq.heappop(self.queue)
                function(deed)
            else:
                time.sleep(min(0.05, max(0.0, self.queue[0][0] - now) if self.queue else 0.05))
            self.fleet.all_live_but_killed()
            self.fleet.read()


def act(fleet, seed, count, truth, parents, reshard=None, deeds=HARMS):
    """Starts, plays, heals, waits until all has come (count() records), and judges. Returns a line about it."""
    story = tell(seed, SECONDS, reshard is not None, deeds)
    # Two workers stamp each record as they hand it over: an overlap of theirs can't hide in a pipe.
    fleet.programs = {name: fleets.block_main() for name in fleet.names[-2:]}
    print(f"     seed {seed}, {SECONDS:.0f} s: " + "; ".join(say(deed) for deed in story), flush=True)
    fleet.start()
    fleet.watch(0.15 if SECONDS < 100 else 0.3)
    stage = Stage(fleet, story, reshard)
    stage.run(SECONDS)
    n = count()  # the producer stands now
    come(fleet, n, truth, parents)
    fleet.wait_for(fleet.all_owned, CALM_S, "every lease is owned by somebody alive", fleets.LOOK_S)
    if SECONDS > 100:
        fleet.wait_balance(seconds=CALM_S + 30)  # what splits left uneven, the leader's next shard sync puts right
    left = time.monotonic()
    fleet.leave_all()
    nothing_comes_again(fleet, left)
    verdict = fleet.judged(truth(), parents())
    expect(deeds is HARMS or verdict.repeats_by_us() == 0, f"{verdict.repeats_by_us()} repeats although nobody was harmed")
    expect(verdict.lines > SECONDS * 10 and verdict.epochs > SHARDS, f"too little: {fleets.describe(verdict)}")
    return f"{len(story)} deeds; " + fleets.describe(verdict)


def come(fleet, n, truth, parents):
    """Waits for all n; else the judge says which are missing."""
    try:
        fleet.wait_for(lambda: len(fleet.seen) >= n, CALM_S, f"all {n} records have come")
    except harness.Failed as failed:
        fleet.judged(truth(), parents())
        raise harness.Failed(f"{failed}\nonly {len(fleet.seen)} came, and the judge misses nothing") from None


def nothing_comes_again(fleet, left):
    """Everything was acknowledged and every worker left in peace, from the moment `left` on: who comes next finds nothing left. A
    worker that was kept from running while it left may not have said all it had read: then the one after it is looked at."""
    for _ in range(AGAIN_MAX):
        n = len(fleet.read())
        fleet.start("w0")
        fleet.wait_balance(["w0"])
        leaves = time.monotonic()
        fleet.leave("w0")
        again = fleet.read()[n:]
        if not again or not fleet.stood(left - fleet.lease_ms / 1000, leaves):
            break
        left = leaves
    expect(not again, f"{len(again)} came again after a clean end, the first {again[:1]}")


# ---- Kinesis -------------------------------------------------------------------------------------------------------


def reshard_of(kinesis, stream):
    """reshard(what, where): splits the open shard at that part of the hash keys, or merges it with its neighbour."""
    def reshard(what, where):
        shards = sorted((shard for shard in harness.list_shards(kinesis, stream)
                         if "EndingSequenceNumber" not in shard["SequenceNumberRange"]),
                        key=lambda shard: int(shard["HashKeyRange"]["StartingHashKey"]))
        at = int(where * 2**128)
        i = max(i for i, shard in enumerate(shards) if int(shard["HashKeyRange"]["StartingHashKey"]) <= at)
        low, high = (int(shards[i]["HashKeyRange"][f"{end}HashKey"]) for end in ("Starting", "Ending"))
        try:
            if what == "split":
                kinesis.split_shard(StreamName=stream, ShardToSplit=shards[i]["ShardId"],
                                    NewStartingHashKey=str((low + high) // 2 + 1))
            else:
                i = min(i, len(shards) - 2)
                kinesis.merge_shards(StreamName=stream, ShardToMerge=shards[i]["ShardId"],
                                     AdjacentShardToMerge=shards[i + 1]["ShardId"])
        except (kinesis.exceptions.ResourceInUseException, kinesis.exceptions.LimitExceededException):
            return  # the last change is still under way
        harness.wait_active(kinesis, stream)

    return reshard


def kinesis_story(records, leases, seed, deeds=HARMS):
    kinesis = harness.client(records)
    stream = harness.new_stream(kinesis, SHARDS)
    producer = harness.Producer(kinesis, stream, seed=seed)
    producer.start(batch=8, pause=0.1)

    def count():
        producer.stop()
        return len(producer.put)

    with fleets.Fleet(records, leases, stream, WORKERS, LEASE_MS, valves=True) as fleet:
        return act(fleet, seed, count, lambda: fleets.truth_of(producer), lambda: fleets.lineage_of(kinesis, stream),
                   reshard_of(kinesis, stream), deeds)


def on_peers(records):
    with records() as kinesis, servers.Dynalite() as dynalite:
        return kinesis_story(kinesis.url, dynalite.url, SEED)


def on_sandbox():
    with Box(limits=True) as box:
        return kinesis_story(box.url, box.url, SEED + 1)


def without_harm():
    """Restarts, cuts from the records, splits and merges: nothing comes twice."""
    with Box() as box, servers.Dynalite() as dynalite:
        return kinesis_story(box.url, dynalite.url, SEED + 3, HARMLESS)


# ---- DynamoDB Streams ----------------------------------------------------------------------------------------------


class Writing:
    """Changes items of a table all the time, in a thread."""

    def __init__(self, dynamodb, table):
        self.writer = dynamo.Writer(dynamodb, table, keys=2000)
        self.ended, self.error = threading.Event(), None
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        try:
            while not self.ended.wait(0.02):
                self.writer.write(1)
        except Exception as error:  # handed to stop()
            self.error = error

    def stop(self):
        self.ended.set()
        self.thread.join(30)
        if self.error:
            raise self.error
        return self.writer.number


def read_all(streams, arn):
    """{shard: {place: event id}} by boto3, one call a shard in turn: two may read a shard within a second."""
    found, left, silent = {}, {}, {}
    for shard in dynamo.list_shards(streams, arn):
        shard = shard["ShardId"]
        found[shard], silent[shard] = {}, 0
        left[shard] = streams.get_shard_iterator(StreamArn=arn, ShardId=shard,
                                                 ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
    while left:
        for shard, iterator in list(left.items()):
            try:
                page = streams.get_records(ShardIterator=iterator)
            except streams.exceptions.LimitExceededException:
                time.sleep(0.02)
                continue
            for record in page["Records"]:
                found[shard][int(record["dynamodb"]["SequenceNumber"]), 0] = record["eventID"].encode()
            silent[shard] = 0 if page["Records"] else silent[shard] + 1
            left[shard] = page.get("NextShardIterator")
            if not left[shard] or silent[shard] == 2:
                del left[shard]
    return found


def on_changes():
    partitions, roll_ms = (SHARDS, 20000) if FULL else (8, 7000)
    with Box(f"roll_ms={roll_ms}", f"table=orders:{partitions}", limits=True) as box:
        dynamodb, streams = dynamo.clients(box.url)
        arn = dynamo.stream_of(dynamodb, "orders")
        writing = Writing(dynamodb, "orders")

        def truth():
            box.quirk("keep-open", 1)
            found = read_all(streams, arn)
            expect(sum(map(len, found.values())) == writing.writer.number, "boto3 does not find all that was written")
            return found

        def parents():
            listed = {shard["ShardId"]: shard.get("ParentShardId") for shard in dynamo.list_shards(streams, arn)}
            return {shard: [parent] for shard, parent in listed.items() if parent in listed}

        with fleets.Fleet(box.url, box.url, "dynamodb:orders", WORKERS, LEASE_MS, valves=True) as fleet:
            return act(fleet, SEED + 2, writing.stop, truth, parents)


def main():
    tests = Tests()
    harness.boto3_or_skip()
    stories = [("nobody is killed, stopped or cut off from the table", without_harm),
               ("kinesalite and dynalite", on_peers, servers.Kinesalite), ("the sandbox, with its limits", on_sandbox),
               ("DynamoDB Streams in the sandbox", on_changes)]
    if FULL:
        stories.append(("kinesis-mock and dynalite", on_peers, servers.KinesisMock))
    tests.side_by_side([lambda story=story: tests.run(*story) for story in stories], 1 if FULL else 2)
    tests.end()


if __name__ == "__main__":
    main()
