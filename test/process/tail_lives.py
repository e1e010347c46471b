"""A stream that is deleted and made again under its name, on servers that give the new one the shard ids of the old one and
small or similar numbers: a place that was saved in its former life is refused, and no record is passed over in silence.
moto counts from 1; ministack counts on. On ministack also: all records live over a split and a merge, and what it deletes
with the parents is told.
"""

import os
import tempfile
import time

import harness
import servers
from harness import Tests, expect


def make(kinesis, stream, shards=1):
    kinesis.create_stream(StreamName=stream, ShardCount=shards)
    harness.wait_active(kinesis, stream)


def delete(kinesis, stream):
    def is_gone():
        try:
            kinesis.describe_stream_summary(StreamName=stream)
        except kinesis.exceptions.ResourceNotFoundException:
            return True
        return False

    kinesis.delete_stream(StreamName=stream)
    harness.wait_until(is_gone, 30, "the stream is gone")


def another_life(server, older, newer):
    kinesis = harness.client_of(server)
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "place")
        words = ["--save", place, "-o", "oldest", "-e", "-J", "lives"]
        make(kinesis, "lives")
        harness.Producer(kinesis, "lives").put_all(older)
        first = harness.tail(words, harness.environment_for(server))
        expect(first.code == 0 and len(first.out.splitlines()) == older, str(first))
        with open(place, encoding="ascii") as saved:
            before = saved.read()
        delete(kinesis, "lives")
        harness.wait_until(lambda: time.time() % 1 < 0.5, 5, "a new second")
        time.sleep(1)  # streams are known by the second in which they were made
        make(kinesis, "lives")
        put = harness.Producer(kinesis, "lives", seed=2).put_all(newer)
        second = harness.tail(words, harness.environment_for(server))
        expect(second.code == 1 and not second.out and b"belongs to an older stream of this name" in second.err and
               b"delete that file" in second.err, str(second))
        with open(place, encoding="ascii") as saved:
            after = saved.read()
            expect(after.split() == before.split(), f"the place of the older stream was written over: {before!r} {after!r}")
        os.remove(place)
        third = harness.tail(words, harness.environment_for(server))
        expect(third.code == 0, str(third))
        harness.judge_once(harness.records_of(third.out), put)
    delete(kinesis, "lives")
    return f"{older} records and then {newer}"


def live_over_changes(server):
    kinesis = harness.client_of(server)
    stream = harness.new_stream(kinesis, 2)
    producer = harness.Producer(kinesis, stream)
    running = harness.Running(["-o", "oldest", "-J", stream], harness.environment_for(server))

    def shards():
        return sorted(harness.list_shards(kinesis, stream), key=lambda s: int(s["HashKeyRange"]["StartingHashKey"]))

    try:
        for change in ("split", "merge", None):
            producer.put_all(1000)
            running.wait_lines(len(producer.put), 60)
            first, second = shards()[:2]
            if change == "split":
                kinesis.split_shard(StreamName=stream, ShardToSplit=first["ShardId"], NewStartingHashKey=str(2**126))
            elif change == "merge":
                kinesis.merge_shards(StreamName=stream, ShardToMerge=first["ShardId"], AdjacentShardToMerge=second["ShardId"])
            harness.wait_active(kinesis, stream)
        code = running.interrupt()
        expect(code == 0, f"exit code {code}: {running.stderr()}")
    finally:
        running.kill()
    harness.judge_once(harness.records_of(running.lines), producer.put)
    harness.judge_shard_order(harness.records_of(running.lines))
    kept = harness.tail(["-o", "oldest", "-e", "-J", stream], harness.environment_for(server))
    expect(kept.code == 0 and len(kept.out.splitlines()) < len(producer.put), "ministack keeps what parents had: " + str(kept))
    return f"{len(producer.put)} records live, {len(kept.out.splitlines())} of them kept"


def on_ministack(tests, server):
    tests.run("ministack: a stream made again", another_life, server, 8, 25)
    tests.run("ministack: live over a split and a merge", live_over_changes, server)


def main():
    tests = Tests()
    harness.boto3_or_skip()
    tests.side_by_side([
        lambda: tests.with_server(servers.Moto, lambda tests, server: tests.run(
            "moto: a stream made again", another_life, server, 8, 25)),
        lambda: tests.with_server(servers.Ministack, on_ministack)])
    tests.end()


if __name__ == "__main__":
    main()
