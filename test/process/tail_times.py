"""Reading between two times: --since, --until and -o s@TIME hand out exactly the records boto3 finds by filtering on the
service's own stamps. --since 10m --until 5m on kinesis-mock under faketime and on the sandbox with a moved clock; absolute
times down to the second on moto; Kinesis and DynamoDB.

The server's clock begins 20 minutes ago and is moved on minute by minute while records are put, so that the bounds lie
half a minute from any record.
"""

import glob
import json
import tempfile
import time

import dynamo
import harness
import sandbox_box
import servers
from harness import Tests, expect

LIBFAKETIME = next(iter(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")), None)
MINUTES, A_MINUTE = 20, 30  # records a minute


def stamps_of_stream(kinesis, stream):
    """{(shard, sequence): ms} of all records, by boto3."""
    found = {}
    for shard in harness.list_shards(kinesis, stream):
        iterator = kinesis.get_shard_iterator(StreamName=stream, ShardId=shard["ShardId"],
                                              ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
        silent = 0
        while iterator and silent < 2:
            page = kinesis.get_records(ShardIterator=iterator, Limit=10000)
            for record in page["Records"]:
                stamp = record["ApproximateArrivalTimestamp"].timestamp() * 1000
                found[(shard["ShardId"], int(record["SequenceNumber"]))] = round(stamp)
            silent = 0 if page["Records"] else silent + 1
            iterator = page.get("NextShardIterator")
    return found


def stamps_of_table(streams, arn):
    return {(shard, int(record["dynamodb"]["SequenceNumber"])):
            round(record["dynamodb"]["ApproximateCreationDateTime"].timestamp() * 1000)
            for shard, records in dynamo.read_all(streams, arn).items() for record in records}


def tail_places(url, arguments):
    done = harness.tail(["-J", *arguments], harness.tail_environment(url), 120)
    expect(done.code == 0, str(done))
    places = [(record["shard"], int(record["seq"])) for record in map(json.loads, done.out.splitlines())]
    expect(len(places) == len(set(places)), "a record twice")
    return set(places)


def judge(got, stamps, since_ms, until_ms, what):
    wanted = {place for place, stamp in stamps.items() if since_ms <= stamp < until_ms}
    expect(wanted and wanted != set(stamps), f"{what}: a test of nothing: {len(wanted)} of {len(stamps)}")
    expect(got == wanted, f"{what}: {len(got - wanted)} too many, {len(wanted - got)} missing of {len(wanted)}")
    return len(wanted)


def relative(url, stream, stamps):
    """The bounds are counted back from now. That is asked when no record is nearer to them than some seconds, which is a matter of
    how long it took to put them: the bounds move on with the time, and the records of a minute lie close together."""
    def apart():
        now = time.time() * 1000
        near = min(abs(stamp - (now - minutes * 60000)) for stamp in stamps.values() for minutes in (10, 5))
        return now if near > 5000 else None

    now = harness.wait_until(apart, 120, "no record is near a bound", 0.2)
    n = judge(tail_places(url, ["--since", "10m", "--until", "5m", stream]), stamps, now - 600000, now - 300000,
              "--since 10m --until 5m")
    m = judge(tail_places(url, ["--since", "7m", "-e", stream]), stamps, now - 420000, now + 60000, "--since 7m -e")
    k = judge(tail_places(url, ["-o", "oldest", "--until", "15m", stream]), stamps, 0, now - 900000, "--until 15m")
    return f"{n}, {m} and {k} of {len(stamps)} records"


def absolute(url, stream, stamps, whole_seconds):
    """Every stamp there is as a bound: s@ is inclusive, and where the service has whole seconds, whole seconds count."""
    distinct = sorted(set(stamps.values()))
    # Three bounds, all over the span; in whole seconds where the service counts so.
    bounds = {distinct[len(distinct) // 4], distinct[len(distinct) // 2], distinct[-1]}
    for bound in sorted(bounds):
        written = [f"s@{bound}"]
        moment = time.gmtime(bound // 1000)
        written.append("s@" + time.strftime("%Y-%m-%dT%H:%M:%S", moment) + f".{bound % 1000:03d}Z")
        for text in written:
            wanted = {place for place, stamp in stamps.items()
                      if stamp >= (bound // 1000 * 1000 if whole_seconds else bound)}
            got = tail_places(url, ["-o", text, "-e", stream])
            expect(got == wanted, f"-o {text}: {len(got - wanted)} too many, {len(wanted - got)} missing of {len(wanted)}")
    return f"{len(bounds)} bounds of {len(stamps)} records"


# ---- the servers ---------------------------------------------------------------------------------------------------


class FakedKinesisMock(servers.KinesisMock):
    """Its clock is what the file says: an offset from this machine's."""

    name = "kinesis-mock under faketime"

    def __init__(self):
        super().__init__()
        self.offset = tempfile.NamedTemporaryFile("w", suffix=".faketime")  # pylint: disable=consider-using-with
        self.move(-MINUTES * 60 + 30)

    def move(self, seconds):
        self.offset.seek(0)
        self.offset.write(f"{seconds:+d}s\n")
        self.offset.truncate()
        self.offset.flush()

    def command(self):
        if not LIBFAKETIME:
            raise servers.Missing("faketime is not installed (sh test/install.sh test)")
        argv, extra, cwd = super().command()
        return argv, {**extra, "LD_PRELOAD": LIBFAKETIME, "FAKETIME_TIMESTAMP_FILE": self.offset.name,
                      "FAKETIME_NO_CACHE": "1"}, cwd


def on_faked_mock(tests, server):
    kinesis = harness.client_of(server)
    stream = harness.new_stream(kinesis, 3)
    producer = harness.Producer(kinesis, stream)
    for minute in range(MINUTES):
        server.move(-(MINUTES - minute) * 60 + 30)
        producer.put_all(A_MINUTE)
    stamps = stamps_of_stream(kinesis, stream)
    expect(len(stamps) == MINUTES * A_MINUTE, f"{len(stamps)} records by boto3")
    tests.run("kinesis-mock under faketime: --since, --until", relative, server.url, stream, stamps)


def on_sandbox(tests):
    with sandbox_box.Box(f"clock_offset_ms={-MINUTES * 60000 + 30000}") as box:
        kinesis, (dynamodb, streams) = box.client(), dynamo.clients(box.url)
        stream = harness.new_stream(kinesis, 3)
        box.table("orders", partitions=3)
        arn = dynamo.stream_of(dynamodb, "orders")
        producer, writer = harness.Producer(kinesis, stream), dynamo.Writer(dynamodb, "orders")
        for minute in range(MINUTES):
            producer.put_all(A_MINUTE)
            writer.write(A_MINUTE)
            if minute % 6 == 5:
                box.roll("orders")
            box.move_clock(60000)
        stamps, changes = stamps_of_stream(kinesis, stream), stamps_of_table(streams, arn)
        tests.run("sandbox, Kinesis: --since, --until", relative, box.url, stream, stamps)
        tests.run("sandbox, DynamoDB: --since, --until", relative, box.url, "dynamodb:orders", changes)
        tests.run("sandbox, Kinesis: s@TIME", absolute, box.url, stream, stamps, False)
        tests.run("sandbox, DynamoDB: s@TIME", absolute, box.url, "dynamodb:orders", changes, True)


def apart(write):
    """Five bursts, each in a second of its own."""
    for _ in range(5):
        second = int(time.time())
        write()
        harness.wait_until(lambda: int(time.time()) > second + 1, 5, "the next second")


def on_moto(tests, server):
    kinesis, (dynamodb, streams) = harness.client_of(server), dynamo.clients(server.url)
    stream = harness.new_stream(kinesis, 2)
    table, arn = dynamo.new_table(dynamodb)
    producer, writer = harness.Producer(kinesis, stream), dynamo.Writer(dynamodb, table)
    apart(lambda: (producer.put_all(20), writer.write(20)))
    stamps, changes = stamps_of_stream(kinesis, stream), stamps_of_table(streams, arn)
    tests.run("moto, Kinesis: s@TIME", absolute, server.url, stream, stamps, False)
    tests.run("moto, DynamoDB: s@TIME", absolute, server.url, f"dynamodb:{table}", changes, True)


def main():
    tests = Tests()
    tests.side_by_side([lambda: on_sandbox(tests), lambda: tests.with_server(servers.Moto, on_moto),
                        lambda: tests.with_server(FakedKinesisMock, on_faked_mock)])
    tests.end()


if __name__ == "__main__":
    main()
