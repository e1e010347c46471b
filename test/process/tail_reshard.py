"""Three generations of splits and merges while stream-tail reads and producers never stop, each placed while at least
two pages of its parents are unread: nothing lost, nothing twice, parents before children. Then the same stream again
from the oldest record, with the closed parents unread.

Two pages are unread for certain: stream-tail is stopped with SIGSTOP (the kernel confirms it) until that many records
more than two pages have been put into every parent and the parent is closed; one page may be on its way already.
On kinesis-mock the children come with the last page (ChildShards); on kinesalite only the listing tells of them and a
closed shard ends one empty call late. A merged child's StartingSequenceNumber equals its parent's on kinesis-mock.
"""

import os
import signal

import harness
import servers
from harness import FULL, Tests, expect

PAGE = 20
UNREAD = 3 * PAGE + 1  # one page may be in flight when the signal comes, two stay


def open_shards(kinesis, stream):
    shards = harness.list_shards(kinesis, stream)
    return [shard for shard in shards if "EndingSequenceNumber" not in shard["SequenceNumberRange"]]


def bounds(shard):
    return int(shard["HashKeyRange"]["StartingHashKey"]), int(shard["HashKeyRange"]["EndingHashKey"])


def split(kinesis, stream, shard):
    low, high = bounds(shard)
    kinesis.split_shard(StreamName=stream, ShardToSplit=shard["ShardId"], NewStartingHashKey=str((low + high) // 2))


def merge(kinesis, stream, shard, adjacent):
    kinesis.merge_shards(StreamName=stream, ShardToMerge=shard["ShardId"], AdjacentShardToMerge=adjacent["ShardId"])


def by_hash(kinesis, stream):
    return sorted(open_shards(kinesis, stream), key=bounds)


def generation(kinesis, stream, producer, running, shards, change):
    """Stops the reader, lets the producers fill every shard of `shards`, changes them, lets the reader go on."""
    running.signal(signal.SIGSTOP)
    running.wait_stopped()
    try:
        for shard in shards:
            ids = {shard["ShardId"]}
            before = producer.count_in(ids)
            harness.wait_until(lambda: producer.error or producer.count_in(ids) >= before + UNREAD, 180,
                               f"{UNREAD} more records in {ids}")
        change()
        harness.wait_active(kinesis, stream)
        children = {shard["ShardId"] for shard in open_shards(kinesis, stream)}
        at_change = producer.number
        harness.wait_until(lambda: producer.error or (producer.number >= at_change + 20 and
                                                      producer.count_in(children)), 120,
                           "records in the shards after the change")
    finally:
        running.signal(signal.SIGCONT)


def three_generations(kinesis, stream, producer, running):
    first, second = by_hash(kinesis, stream)
    generation(kinesis, stream, producer, running, [first], lambda: split(kinesis, stream, first))
    low, middle, high = by_hash(kinesis, stream)
    generation(kinesis, stream, producer, running, [middle, high], lambda: merge(kinesis, stream, middle, high))
    low, joined = by_hash(kinesis, stream)
    generation(kinesis, stream, producer, running, [joined], lambda: split(kinesis, stream, joined))
    expect(second["ShardId"] == high["ShardId"], "the merge took another shard than meant")


def judge(kinesis, stream, lines, put):
    records = harness.records_of(lines)
    harness.judge_once(records, put)
    harness.judge_shard_order(records)
    shards = harness.list_shards(kinesis, stream)
    expect(len(shards) == 7, f"{len(shards)} shards, 2 + 2 + 1 + 2 expected")
    harness.judge_lineage(records, shards)
    late = sum(1 for record in records if record.get("late"))
    return f"{len(records)} records, {late} late"


def live(server, state, order):
    kinesis = harness.client_of(server)
    stream = harness.new_stream(kinesis, 2)
    producer = harness.Producer(kinesis, stream, payload_bytes=16)
    state.update(kinesis=kinesis, stream=stream, producer=producer)
    # list_ms: kinesalite tells of children only in the listing, which is asked for when a shard ends, not by time.
    running = harness.Running(["-o", "oldest", "-J", "--order", order, "-X", f"fetch_records_max={PAGE}", stream],
                              harness.environment_for(server))
    try:
        producer.start()
        running.wait_lines(PAGE, 60)
        three_generations(kinesis, stream, producer, running)
        producer.stop()
        running.wait_lines(len(producer.put), 180)
        code = running.interrupt()
        expect(code == 0, f"exit code {code}: {running.stderr()}")
    finally:
        producer.stopping.set()
        running.kill()
        state["complete"] = len(producer.put)
    return judge(kinesis, stream, running.lines, producer.put)


def again_from_oldest(server, state, options):
    expect("complete" in state, "the live test did not come so far")
    done = harness.tail(["-o", "oldest", "-e", "-J", *options, state["stream"]], harness.environment_for(server), 300)
    expect(done.code == 0, str(done))
    if "time" in options:  # on a backlog nothing leaves before what is earlier, closed parents or not
        harness.judge_not_late(harness.records_of(done.out))
    return judge(state["kinesis"], state["stream"], done.out, state["producer"].put)


def suite(tests, server):
    def in_order(order):
        state = {}
        tests.run(f"{server.name}, order {order}: three generations while tailing", live, server, state, order)
        tests.run(f"{server.name}, order {order}: again from oldest", again_from_oldest, server, state,
                  ["--order", order])
        tests.run(f"{server.name}, order {order}: again from oldest, small pages", again_from_oldest, server, state,
                  ["--order", order, "-X", f"fetch_records_max={PAGE // 2}"])
        if "kinesis" in state:
            state["kinesis"].delete_stream(StreamName=state["stream"])

    tests.side_by_side([lambda: in_order("time"), lambda: in_order("shard")])


def main():
    tests = Tests()
    harness.boto3_or_skip()
    plan = [servers.KinesisMock, servers.Kinesalite, servers.Sandbox]
    if os.environ.get("SLOOP_TEST_KINESIS_ENDPOINT") and FULL:  # minutes a generation on the real service
        plan.append(harness.Yours)
    tests.side_by_side([lambda kind=kind: tests.with_server(kind, suite) for kind in plan])
    tests.end()


if __name__ == "__main__":
    main()
