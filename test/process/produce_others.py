"""-P against servers of other people, judged by boto3: what is put, its keys, the order of a key, through a split."""

import base64
import subprocess
import threading

import harness
import servers
from harness import Tests, expect, new_stream, read_all, wait_until

try:
    from aws_kinesis_agg.deaggregator import deaggregate_records
except ImportError:
    deaggregate_records = None

N, KEYS = 600, 40


def lines_of(n):
    """Lines KEY:NUMBER, and what each key must have in the end."""
    lists = {}
    for i in range(n):
        lists.setdefault(f"key{i * 7 % KEYS}", []).append(b"%d" % i)
    return b"".join(f"key{i * 7 % KEYS}:{i}\n".encode() for i in range(n)), lists


def by_key(kinesis, stream):
    """What boto3 reads, by key and sequence number."""
    lists = {}
    for (_, number), (key, data) in sorted(read_all(kinesis, stream).items(), key=lambda item: item[0][1]):
        lists.setdefault(key, []).append(data)
    return lists


def produce(server, stream, *options, given):
    got = subprocess.run([servers.binary(), "-P", stream, *options], input=given, capture_output=True, timeout=120, check=False,
                         env=harness.environment_for(server), preexec_fn=servers.die_with_parent)
    expect(got.stdout == b"", f"standard output has {got.stdout[:100]}")
    return got.returncode, got.stderr.decode()


def whole(server, kinesis):
    stream = new_stream(kinesis, 3)
    given, lists = lines_of(N)
    code, err = produce(server, stream, "-K", ":", given=given)
    expect(code == 0 and f"{N} records put" in err, err)
    expect(by_key(kinesis, stream) == lists, "keys, records or their order differ")
    code, err = produce(server, stream, given=b"\xff\x00binary\n\xc3\xbc\n")
    expect(code == 0 and "2 records put" in err, err)
    found = {data for _, data in read_all(kinesis, stream).values()}
    expect({b"\xff\x00binary", b"\xc3\xbc"} <= found, "bytes differ")


def aggregated(server, kinesis):
    expect(deaggregate_records, "aws-kinesis-agg is not installed here (sh test/install.sh test)")
    stream = new_stream(kinesis, 3)
    given, lists = lines_of(10 * N)
    code, err = produce(server, stream, "-K", ":", "--aggregate", given=given)
    expect(code == 0 and f"{10 * N} records put" in err, err)
    raw, found = sorted(read_all(kinesis, stream).items(), key=lambda item: item[0][1]), {}
    for _, (key, data) in raw:
        for row in deaggregate_records([{"kinesis": {"kinesisSchemaVersion": "1.0", "sequenceNumber": "1", "partitionKey": key,
                                                     "approximateArrivalTimestamp": 0, "data": base64.b64encode(data).decode()}}]):
            found.setdefault(row["kinesis"]["partitionKey"], []).append(base64.b64decode(row["kinesis"]["data"]))
    expect(found == lists, "keys, records or their order differ")
    expect("put again" not in err, err)  # the server places records by the ranges that it lists
    return f"{10 * N} lines in {len(raw)} records"


def refused_by_the_service(server, kinesis):
    """A record that the server does not take has a call to itself, and the others are put."""
    stream = new_stream(kinesis, 1)
    code, err = produce(server, stream, "-k", "k", given=b"a\n" + b"x" * (3 << 20) + b"\nb\n")
    found = sorted(len(data) for _, data in read_all(kinesis, stream).values())
    expect((code, found) in ((9, [1, 1]), (0, [1, 1, 3 << 20])), f"{code} {found} {err}")
    return "it takes 3 MiB" if code == 0 else None


def split_meanwhile(server, kinesis):
    stream = new_stream(kinesis, 2)
    given, lists = lines_of(N)
    process = subprocess.Popen([servers.binary(), "-P", stream, "-K", ":", "--rate", "150"], stdin=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=harness.environment_for(server), preexec_fn=servers.die_with_parent)
    try:
        feeder = threading.Thread(target=lambda: (process.stdin.write(given), process.stdin.close()))
        feeder.start()
        wait_until(lambda: read_all(kinesis, stream), 60, "the first record")
        kinesis.split_shard(StreamName=stream, ShardToSplit="shardId-000000000000", NewStartingHashKey=str(1 << 120))
        feeder.join()
        err = process.stderr.read().decode()
        expect(process.wait(120) == 0 and f"{N} records put" in err, err)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stderr.close()
    expect(by_key(kinesis, stream) == lists, "keys, records or their order differ")
    expect(len(harness.list_shards(kinesis, stream)) == 4, "the shard was not split meanwhile")


def no_such_stream(server, _kinesis):
    code, err = produce(server, "no-such-stream", given=b"x\n")
    expect(code == 1 and "ENOSTREAM" in err, err)


def use(tests, server):
    kinesis = harness.client_of(server)
    for test in (whole, aggregated, refused_by_the_service, split_meanwhile, no_such_stream):
        tests.run(f"{server.name} {test.__name__}", test, server, kinesis)


def main():
    tests = Tests()
    tests.with_server(servers.Kinesalite, use)
    tests.with_server(servers.KinesisMock, use)
    tests.end()


if __name__ == "__main__":
    main()
