"""stream-tail -e, --until and -p key:TEXT on a stream in the middle of a split or a merge, for everything that was put
before it began: on kinesalite and kinesis-mock while they say UPDATING, which show parents and children as they do; and on
the sandbox behind a front that lists the children late, as the service's listing may be, and says UPDATING for so long.
boto3 puts and says what is there."""

import json
import time

import harness
import servers
from front import Front
from harness import expect
from sandbox_box import Box
from tail_ddb import Changes

LAG = 4.0  # seconds


class SlowMock(servers.KinesisMock):
    def command(self):
        argv, extra, folder = super().command()
        return argv, {**extra, "SPLIT_SHARD_DURATION": "6s", "MERGE_SHARDS_DURATION": "6s"}, folder


class SlowLite(servers.Kinesalite):
    def command(self):
        argv, extra, folder = super().command()
        return [a.replace("updateStreamMs:50", "updateStreamMs:6000") for a in argv], extra, folder


def put(kinesis, stream, first, n, records):
    entries = [{"Data": b"%d" % i, "PartitionKey": f"k{i % 7}"} for i in range(first, first + n)]
    answer = kinesis.put_records(StreamName=stream, Records=entries)
    expect(answer.get("FailedRecordCount", 0) == 0, f"a record was refused: {str(answer)[:300]}")
    for entry, result in zip(entries, answer["Records"]):
        records[(result["ShardId"], int(result["SequenceNumber"]))] = (entry["PartitionKey"], entry["Data"])


def reshard(kinesis, stream, how):
    shards = [shard["ShardId"] for shard in harness.list_shards(kinesis, stream)]
    if how == "split":
        kinesis.split_shard(StreamName=stream, ShardToSplit=shards[0], NewStartingHashKey=str(2**127))
    else:
        kinesis.merge_shards(StreamName=stream, ShardToMerge=shards[0], AdjacentShardToMerge=shards[1])


def status(kinesis, stream):
    return kinesis.describe_stream_summary(StreamName=stream)["StreamDescriptionSummary"]["StreamStatus"]


def while_updating(server, how):
    kinesis = harness.client_of(server)
    for _ in range(5):  # on a busy machine the reshard is over before the records are in
        records = {}
        stream = harness.new_stream(kinesis, 1 if how == "split" else 2)
        put(kinesis, stream, 0, 100, records)
        reshard(kinesis, stream, how)
        put(kinesis, stream, 100, 100, records)
        if status(kinesis, stream) == "UPDATING":
            break
    else:
        raise harness.Failed("five times the reshard was over already")
    done = harness.tail(["-o", "oldest", "-e", "-J", stream], harness.environment_for(server), 60)
    expect(done.code == 0, str(done))
    harness.judge_once(harness.records_of(done.out), records)
    return f"{done.seconds:.1f} s"


class Lagging:
    """Shards that were made by a reshard are listed, and named by pages, when so many seconds are over."""

    def __init__(self, named):
        self.since, self.named, self.hidden = None, named, 0

    def answer(self, operation, status_code, body):
        if status_code != 200 or operation not in ("ListShards", "DescribeStreamSummary", "GetRecords"):
            return status_code, body
        self.since = self.since or time.monotonic()
        late = time.monotonic() - self.since < LAG
        answer = json.loads(body)
        if operation == "ListShards" and late:
            kept = [shard for shard in answer["Shards"] if "ParentShardId" not in shard]
            self.hidden += len(kept) < len(answer["Shards"])
            answer["Shards"] = kept
        if operation == "DescribeStreamSummary" and late:
            answer["StreamDescriptionSummary"]["StreamStatus"] = "UPDATING"
        if operation == "GetRecords" and not self.named:
            answer.pop("ChildShards", None)
        return status_code, json.dumps(answer).encode()


def behind_a_late_listing(server, how, arguments, named=False, only=None):
    kinesis, records = harness.client_of(server), {}
    stream = harness.new_stream(kinesis, 1 if how == "split" else 2)
    put(kinesis, stream, 0, 100, records)
    reshard(kinesis, stream, how)
    harness.wait_active(kinesis, stream)
    put(kinesis, stream, 100, 100, records)
    lagging = Lagging(named)
    arguments = [str(int(time.time()) + 1) if word == "soon" else word for word in arguments]
    with Front(server.url, lagging.answer) as front:
        done = harness.tail(["-o", "oldest", "-J", "--wire", "json", *arguments, stream],
                            harness.tail_environment(front.url), 60)
    expect(done.code == 0, str(done))
    expect(lagging.hidden, "nothing was listed late")
    got = harness.records_of(done.out)
    if only:  # the shard of a key has other keys' records too
        got = [record for record in got if record["key"] == only]
        records = {place: record for place, record in records.items() if record[0] == only}
    harness.judge_once(got, records)
    expect(named or done.seconds > LAG - 1, f"it was over after {done.seconds:.1f} s, before the children were listed")
    return f"{len(got)} records, {done.seconds:.1f} s, {front.calls['ListShards']} listings"


def a_table_whose_rollovers_are_listed_late():
    """Of a table's stream: shards that go on from those that ended are in no DescribeStream for a while."""
    began, hidden = [], []

    def answer(operation, status_code, body):
        if operation != "DescribeStream" or status_code != 200:
            return status_code, body
        began.append(time.monotonic())
        description = json.loads(body)
        if time.monotonic() - began[0] < LAG + 3:
            shards = description["StreamDescription"]["Shards"]
            kept = [shard for shard in shards if "ParentShardId" not in shard]
            if len(kept) < len(shards):
                hidden.append(len(shards))
            description["StreamDescription"]["Shards"] = kept
        return status_code, json.dumps(description).encode()

    with Box("table=Orders:2", "roll_ms=0") as box:
        Changes(box, "Orders", seed=3).make(60, rolls=2)
        with Front(box.url, answer) as front:
            done = harness.tail(["-o", "oldest", "-e", "-J", "dynamodb:Orders"], harness.tail_environment(front.url), 60)
    expect(done.code == 0, str(done))
    expect(hidden, "nothing was listed late")
    expect(len(done.out.splitlines()) == 60, f"{len(done.out.splitlines())} of 60 changes: {done}")
    return f"60 changes, {done.seconds:.1f} s, {front.calls['DescribeStream']} calls of DescribeStream"


def suite(tests, server):
    def one(how, arguments, named=False, only=None):
        name = f"{how} {' '.join(arguments)}{' (pages name the children)' if named else ''}"
        tests.run(name, behind_a_late_listing, server, how, arguments, named, only)

    tests.side_by_side([lambda arguments=arguments: one(*arguments) for arguments in (
        ("split", ["-e"]), ("merge", ["-e"]), ("split", ["-e"], True), ("merge", ["-e"], True),
        ("split", ["--until", "soon"]), ("split", ["-e", "-p", "key:k3"], False, "k3"), ("merge", ["-e", "-p", "key:k3"], False, "k3"))])


def updating(tests, server):
    for how in ("split", "merge"):
        tests.run(f"{server.name}, {how}, UPDATING", while_updating, server, how)


def main():
    tests = harness.Tests()
    harness.boto3_or_skip()
    tests.side_by_side([lambda: tests.with_server(servers.Sandbox, suite), lambda: tests.with_server(SlowLite, updating),
                        lambda: tests.with_server(SlowMock, updating),
                        lambda: tests.run("a table, -e", a_table_whose_rollovers_are_listed_late)])
    tests.end()


if __name__ == "__main__":
    main()
