"""sloop_seek() to every kind of position while records flow and batches are out, on Kinesis and on DynamoDB Streams:
after the move exactly the records of the new place come, each shard in order, children after their parents; batches from
before are given back afterwards and count for nothing. What there is is what boto3 finds.
"""

import json
import random

import dynamo
import harness
import sandbox_box
import tail_times
from harness import Tests, expect


class Consumer(harness.Told):
    """seek_main, and what it said so far."""

    def __init__(self, url, stream, batch=20):
        super().__init__("seek_main", "SLOOP_TEST_SEEK", [stream, str(batch)], harness.tail_environment(url))

    def tell(self, line):
        """Returns how much had been said before."""
        at = len(self.said)
        super().tell(line)
        return at

    def hear(self, what, since, seconds=60):
        """The index of the first line from `since` on that begins so."""
        def found():
            for index in range(since, len(self.said)):
                if self.said[index].startswith(what):
                    return index + 1
            return None

        return harness.wait_until(found, seconds, f"{what!r}; said last: {self.said[-5:]}") - 1

    def records(self, since, until=None):
        places = [line.split(" ")[1:] for line in self.said[since:until] if line.startswith("r ")]
        return [(shard, int(seq), int(sub)) for shard, seq, sub in places]

    def move(self, to, status="OK"):
        """Moves; returns the index of the line that said so."""
        at = self.hear("moved ", self.tell("move " + to))
        expect(self.said[at] == f"moved {status}", f"move {to}: {self.said[at]}")
        return at

    def save(self):
        return self.said[self.hear("token ", self.tell("save"))].split(" ", 1)[1]


def judge(records, wanted, shards, what):
    got = [(shard, seq) for shard, seq, _ in records]
    expect(len(got) == len(set(got)), f"{what}: a record twice")
    expect(set(got) == set(wanted),
           f"{what}: {len(set(got) - set(wanted))} too many, {len(set(wanted) - set(got))} missing of {len(wanted)}")
    last = {}
    for shard, seq in got:
        expect(seq > last.get(shard, -1), f"{what}: {shard} goes back")
        last[shard] = seq
    dynamo.judge_lineage(got, shards)


def held_up(consumer):
    """Into the middle: some records are out and not given back."""
    consumer.tell("hold")
    at = consumer.move("oldest")
    second = consumer.hear("out", consumer.hear("out", at) + 1)
    expect(consumer.records(at, second), "nothing is out")


def after(consumer, to, wanted, shards):
    """Moves with batches out, gives them back, reads to the tip."""
    held_up(consumer)
    at = consumer.move(to)
    consumer.tell("release")
    consumer.hear("tip", at)
    judge(consumer.records(at), wanted, shards, "move " + to.split(" ")[0])
    return at


def descendants(shard, shards):
    found = {shard}
    while True:
        more = {child["ShardId"] for child in shards
                if {child.get("ParentShardId"), child.get("AdjacentParentShardId")} & found} - found
        if not more:
            return found
        found |= more


def each_position(url, stream, stamps, shards, put_more, whole_seconds):
    """stamps: {(shard, seq): ms}."""
    dice = random.Random(7)
    with Consumer(url, stream) as consumer:
        consumer.hear("tip", 0)
        judge(consumer.records(0), stamps, shards, "the start")
        after(consumer, "oldest", stamps, shards)
        bound = sorted(stamps.values())[len(stamps) // 2]
        since = bound // 1000 * 1000 if whole_seconds else bound
        after(consumer, f"time {bound}", {place for place, ms in stamps.items() if ms >= since}, shards)
        shard, seq = dice.choice(sorted(stamps))
        family = descendants(shard, shards)
        after(consumer, f"seq {shard} {seq} 0", {place for place in stamps if place[0] in family and
                                                 (place[0] != shard or place[1] >= seq)}, shards)
        # A token from the middle: what was not acknowledged then comes again, nothing else.
        consumer.tell("release")
        at = consumer.move("oldest")
        harness.wait_until(lambda: len(consumer.records(at)) >= len(stamps) // 3, 30, "a third is read")
        consumer.tell("hold")
        token = consumer.save()
        done = acknowledged(token, stamps, shards)
        expect(0 < len(done) <= len(stamps), f"the token says {len(done)} are done")
        consumer.hear("tip", consumer.tell("release"))  # what is out counts among the batches after a move too
        after(consumer, "token " + token, set(stamps) - done, shards)
        refused(consumer)
        held_up(consumer)
        at = consumer.move("latest")
        consumer.tell("release")
        consumer.hear("tip", at)
        fresh = put_more()
        harness.wait_until(lambda: len(consumer.records(at)) >= len(fresh), 30, "what was put after the move")
        judge(consumer.records(at), fresh, shards, "move latest")
    return f"{len(stamps)} records, {len(shards)} shards"


def refused(consumer):
    """A request that makes no sense changes nothing."""
    consumer.move("token {", "ETOKEN")
    consumer.move('token {"stream_arn": "arn:aws:kinesis:us-east-1:1:stream/other", "active": [], "shards": []}', "ETOKEN")
    consumer.move("seq no-such-shard 1 0", "ENOSHARD")


def acknowledged(token, stamps, shards):
    """The records a token says are done, from its text alone."""
    token = json.loads(token)
    parents = {shard["ShardId"]: [shard[name] for name in ("ParentShardId", "AdjacentParentShardId") if shard.get(name)]
               for shard in shards}
    at = {shard["shard_id"]: shard for shard in token["shards"]}
    ahead = set()
    for shard in at:
        ahead |= descendants(shard, shards)
    done = {place for place in stamps if place[0] not in ahead and place[0] in parents}
    for shard, where in at.items():
        if where.get("iterator_type") == "after_sequence":
            done |= {place for place in stamps if place[0] == shard and place[1] <= int(where["sequence_number"])}
        elif where.get("iterator_type") == "at_sequence":
            done |= {place for place in stamps if place[0] == shard and place[1] < int(where["sequence_number"])}
    return done


def on_kinesis(tests, box):
    kinesis = box.client()
    stream = harness.new_stream(kinesis, 3)
    producer = harness.Producer(kinesis, stream)
    for _ in range(8):
        producer.put_all(50)
        box.move_clock(1500)
    first = harness.list_shards(kinesis, stream)[0]
    middle = sum(int(first["HashKeyRange"][f"{end}HashKey"]) for end in ("Starting", "Ending")) // 2
    kinesis.split_shard(StreamName=stream, ShardToSplit=first["ShardId"], NewStartingHashKey=str(middle))
    harness.wait_active(kinesis, stream)
    producer.put_all(100)
    stamps = tail_times.stamps_of_stream(kinesis, stream)

    def put_more():
        before = set(producer.put)
        producer.put_all(30)
        return set(producer.put) - before

    tests.run("Kinesis: sloop_seek to each kind of position", each_position, box.url, stream, stamps,
              harness.list_shards(kinesis, stream), put_more, False)


def on_dynamodb(tests, box):
    dynamodb, streams = dynamo.clients(box.url)
    box.table("orders", partitions=3)
    arn = dynamo.stream_of(dynamodb, "orders")
    writer = dynamo.Writer(dynamodb, "orders")
    for _ in range(5):
        writer.write(80)
        box.roll("orders")
        box.move_clock(1500)
    writer.write(80)
    stamps = tail_times.stamps_of_table(streams, arn)

    def put_more():
        writer.write(30)
        return set(tail_times.stamps_of_table(streams, arn)) - set(stamps)

    tests.run("DynamoDB: sloop_seek to each kind of position", each_position, box.url, "dynamodb:orders", stamps,
              dynamo.list_shards(streams, arn), put_more, True)


def main():
    tests = Tests()
    with sandbox_box.Box() as box, sandbox_box.Box() as other:  # both move their clocks
        tests.side_by_side([lambda: on_kinesis(tests, box), lambda: on_dynamodb(tests, other)])
    tests.end()


if __name__ == "__main__":
    main()
