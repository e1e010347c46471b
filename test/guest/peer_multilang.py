"""Ours in the place of Amazon's MultiLangDaemon, with the real processors of its users and beside it:

    peer_multilang.py [--records N] [--servers sandbox,kinesis-mock] [--daemons ours,java] [--sources FOLDER] [--keep FOLDER]
                      [STORY...]

Stories: kclpy, aws-kcl, aws-kclrb (a split, a merge, kills of processors and of the daemon), lines (both daemons read one
stream: the same lines to each shard's processor), takeover (both in one application, each taking over from the other by kill
and by SIGTERM), fan-out. Without one: kclpy, aws-kcl and lines with 2,000 records, in the sandbox. --sources: where clones of
amazon-kinesis-client-nodejs and amazon-kinesis-client-ruby are, for their samples."""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time

import multilang_daemons as md
from peers import harness, servers  # puts ../process on the path

import multilang_lines
from harness import Failed, Tests, expect

HASHES = 2 ** 128


class Given:
    """What the command line says."""


def place(folder, name):
    path = os.path.join(folder, name)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


def sample(make, server, kind, n, folder):
    """The story of Must show: two reshards, processors and the daemon killed on the way, and two stops by SIGTERM."""
    md.installed()
    site = md.Site(server)
    try:
        kinesis = site.front_url() if kind is md.Theirs else site.kinesis_url
        daemon = kind(folder, "d", kinesis, site.dynamodb_url, "app", make, Given.sources, failoverTimeMillis="3000")
        producer = harness.Producer(site.kinesis, "s")
        seconds = 120 + n / 40
        try:
            return tell(site, daemon, producer, n, seconds)
        finally:
            daemon.close()
    finally:
        site.close()


def tell(site, daemon, producer, n, seconds):
    part, kills = n // 4, {"processors": 0, "daemon -9": 0, "daemon TERM": 0}
    java = isinstance(daemon, md.Theirs)
    started = time.monotonic()
    daemon.start()
    producer.put_all(part)
    md.wait_given(producer.put, seconds, "the first quarter", daemon)
    first = time.monotonic() - started
    if not java:  # Amazon's daemon ends with the first processor that does
        kills["processors"] += daemon.kill_processor(0)
    site.change("split_shard", ShardToSplit="shardId-000000000000", NewStartingHashKey=str(HASHES // 8))
    producer.put_all(part)
    if not java:
        kills["processors"] += daemon.kill_processor(1)
    md.wait_given(producer.put, seconds, "the second quarter", daemon)
    producer.put_all(part // 2)
    daemon.kill()
    kills["daemon -9"] += 1
    harness.wait_until(lambda: not [p for p in md.orphans(daemon.pipes)], 20, "no processor outlives its daemon")
    daemon.start()
    producer.put_all(part - part // 2)
    site.change("merge_shards", ShardToMerge="shardId-000000000001", AdjacentShardToMerge="shardId-000000000002")
    md.wait_given(producer.put, seconds, "the third quarter", daemon)
    expect(daemon.leave() == 0 or java, f"exit code {daemon.process.returncode}: {daemon.log()[-800:]}")
    kills["daemon TERM"] += 1
    producer.put_all(n - 3 * part)
    daemon.start()
    if not java:
        harness.wait_until(lambda: kills["processors"] == 2 or daemon.kill_processor(0), 60, "a processor to kill")
        kills["processors"] += 1
    md.wait_given(producer.put, seconds, "the last quarter", daemon)
    parents = [f"shardId-00000000000{i}" for i in (0, 1, 2)]
    harness.wait_until(lambda: all(site.rows("app")[0].get(p) == multilang_lines.END for p in parents), 120,
                       "the ends of the parents are written", 0.5)
    expect(daemon.leave() == 0 or java, f"exit code {daemon.process.returncode}: {daemon.log()[-800:]}")
    harness.wait_until(lambda: not md.orphans(daemon.pipes), 20, "no processor outlives its daemon")
    told = md.verdict(site, "app", producer.put, daemon)
    return f"{told}; first quarter after {first:.0f} s, killed: {kills}"


def lines(n, folder):
    """Both read the same stream, each for an application of its own: a split and a merge, odd keys, aggregates."""
    md.installed()
    from aws_kinesis_agg import aggregator
    site, daemons = md.Site("sandbox"), []
    try:
        for name, kind, url in (("java", md.Theirs, site.front_url()), ("ours", md.Ours, site.kinesis_url)):
            daemons.append(kind(folder, name, url, site.dynamodb_url, f"app-{name}", md.own_child))
        producer = harness.Producer(site.kinesis, "s")
        producer.put_all(n // 2)
        extra = put_odd(site.kinesis, aggregator)
        daemons[0].start()
        daemons[1].start()
        site.change("split_shard", ShardToSplit="shardId-000000000000", NewStartingHashKey=str(HASHES // 8))
        site.change("merge_shards", ShardToMerge="shardId-000000000002", AdjacentShardToMerge="shardId-000000000003")
        producer.put_all(n - n // 2)
        put = {**{(s, q, 0): v for (s, q), v in producer.put.items()}, **extra}
        for daemon in daemons:
            harness.wait_until(lambda d=daemon: set(put) <= md.given(d) or not d.running(), 400, f"{daemon.name} reads it", 1)
            expect(daemon.running(), f"{daemon.name} ended: {daemon.log()[-1500:]}")
        for daemon in daemons:
            ended = [f"shardId-00000000000{i}" for i in (0, 2, 3)]
            harness.wait_until(lambda d=daemon: all(site.rows(f"app-{d.name}")[0].get(p) == multilang_lines.END
                                                    for p in ended), 120, f"{daemon.name} ends the parents", 0.5)
            daemon.leave()
            faults, _, repeats = multilang_lines.judge(daemon.lives(), put, site.rows(f"app-{daemon.name}")[0])
            expect(not faults and not repeats, f"{daemon.name}: {repeats} repeats, {len(faults)} faults:\n"
                   + "\n".join(faults[:10]))
        return compare(*daemons, site)
    finally:
        for daemon in daemons:
            daemon.close()
        site.close()


def put_odd(kinesis, aggregator):
    """Keys that JSON writes in more than one way, and aggregates. {(shard, sequence, sub): (key, data)}."""
    found, chooses = {}, random.Random(3)
    for key in ('"', "\\", "/", "\x01\x1f\x7f", "\b\f\n\r\t", "ü", "\u2028\u2029", "\U0001f6a2", "<&>'", "\\u001f"):
        answer = kinesis.put_record(StreamName="s", PartitionKey=key, Data=key.encode())
        found[(answer["ShardId"], int(answer["SequenceNumber"]), 0)] = (key, key.encode())
    for _ in range(20):
        # All of one key: after a split an aggregate is taken apart by the hash of each record, which is another test's.
        packer, key, data = aggregator.RecordAggregator(), f"k{chooses.getrandbits(60)}", []
        for i in range(chooses.choice((1, 3, 40))):
            data.append(f"inside {i}".encode())
            packer.add_user_record(key, data[-1])
        partition_key, explicit, blob = packer.clear_and_get().get_contents()
        more = {"ExplicitHashKey": explicit} if explicit else {}
        answer = kinesis.put_record(StreamName="s", PartitionKey=partition_key, Data=blob, **more)
        for i, one in enumerate(data):
            found[(answer["ShardId"], int(answer["SequenceNumber"]), i)] = (key, one)
    return found


def compare(java, ours, site):
    """Line for line, shard for shard. Amazon's daemon finds its leases again while it stops, and begins processors that are
    given no record."""
    by_shard = [{}, {}]
    for daemon, found in zip((java, ours), by_shard):
        for life in daemon.lives():
            expect(life.shard not in found or not life.records(), f"{daemon.name}: {life.shard} is read twice")
            found.setdefault(life.shard, life)
    expect(sorted(by_shard[0]) == sorted(by_shard[1]), f"{sorted(by_shard[0])} and {sorted(by_shard[1])}")
    count = records = size = 0
    for shard in sorted(by_shard[0]):
        (a, a_records), (b, b_records) = (multilang_lines.told(some[shard]) for some in by_shard)
        expect(a_records == b_records, f"{shard}: other bytes of records")
        for one, other in zip(a, b):
            expect(one == other, f"{shard}: Amazon's {one[:300]!r}\nours {other[:300]!r}")
        expect(len(a) == len(b), f"{shard}: {len(a)} and {len(b)} lines; the last of each {a[-3:]} and {b[-3:]}")
        expect(site.rows("app-java")[0][shard] == site.rows("app-ours")[0][shard], f"{shard}: other checkpoints")
        count, records, size = count + len(a), records + a_records.count(b'"action":"record"'), size + len(a_records)
    return f"{len(by_shard[0])} whole shards: {count} lines, {records} records in {size} bytes, all the same; so are the rows"


class Fleet:
    """Both daemons of an application, and a producer that never stops."""

    def __init__(self, folder):
        self.site = md.Site("sandbox")
        common = {"failoverTimeMillis": "10000", "idleTimeBetweenReadsInMillis": "1000"}
        self.java = md.Theirs(folder, "java", self.site.front_url(), self.site.dynamodb_url, "app", md.own_child_often, **common)
        self.ours = md.Ours(folder, "ours", self.site.kinesis_url, self.site.dynamodb_url, "app", md.own_child_often, **common)
        self.producer = harness.Producer(self.site.kinesis, "s")
        self.producer.start(10, 0.2)
        self.said = []

    def counts(self):
        owners = self.site.rows("app")[1].values()
        return {name: sum(o.split(".")[0] == name for o in owners) for name in ("java", "ours")}

    def join(self, daemon, limit):
        began = time.monotonic()
        daemon.start()
        harness.wait_until(lambda: self.counts()[daemon.name] > 0, limit, f"{daemon.name} has a lease ({self.counts()})", 0.5)
        self.told(f"{daemon.name} joins, a lease after {time.monotonic() - began:.0f} s")

    def alone(self, daemon, limit, what):
        """Until that one has read all that has been put so far."""
        began = time.monotonic()
        with self.producer.lock:
            put = dict(self.producer.put)
        md.wait_given(put, limit, what, self.java, self.ours)
        harness.wait_until(lambda: self.counts()[daemon.name] == 4, limit, f"{what}: {self.counts()}", 0.5)
        with self.producer.lock:
            put = dict(self.producer.put)
        md.wait_given(put, limit, what, self.java, self.ours)
        self.told(f"{what}: all read after {time.monotonic() - began:.0f} s")

    def told(self, line):
        self.said.append(line)
        print(f"     {line} {self.counts()}", flush=True)

    def close(self):
        self.java.close()
        self.ours.close()
        self.site.close()


def takeover(folder):
    md.installed()
    fleet = Fleet(folder)
    java, ours = fleet.java, fleet.ours
    try:
        fleet.join(ours, 60)
        fleet.join(java, 400)
        ours.kill()
        fleet.alone(java, 300, "Amazon's after kill -9 of ours")
        fleet.join(ours, 300)
        java.leave()
        fleet.alone(ours, 200, "ours after SIGTERM of Amazon's")
        fleet.join(java, 400)
        expect(ours.leave() == 0, ours.log()[-800:])
        fleet.alone(java, 300, "Amazon's after SIGTERM of ours")
        fleet.join(ours, 300)
        java.kill()
        fleet.alone(ours, 200, "ours after kill -9 of Amazon's")
        fleet.producer.stop()
        md.wait_given(fleet.producer.put, 120, "the rest", java, ours)
        expect(ours.leave() == 0, ours.log()[-800:])
        return md.verdict(fleet.site, "app", fleet.producer.put, java, ours)
    finally:
        fleet.producer.stopping.set()
        fleet.close()


def fan_out(server, n, folder):
    """retrievalMode FANOUT, and the mode of a file that says nothing of it: records are pushed, no GetRecords is asked."""
    md.installed()
    told = []
    for name, keys in (("fanout", {"retrievalMode": "FANOUT", "fanoutConfig.consumerName": "the-consumer"}),
                       ("default", {"retrievalMode": None})):
        site = md.Site(server)
        keys["idleTimeBetweenReadsInMillis"] = None  # a key of polling
        daemon = md.Ours(folder, f"{server}-{name}", site.kinesis_url, site.dynamodb_url, "app", md.own_child_often,
                         failoverTimeMillis="3000", **keys)
        try:
            producer = harness.Producer(site.kinesis, "s")
            producer.put_all(n // 2)
            daemon.start()
            md.wait_given(producer.put, 240, f"{name}: the first half", daemon)
            if server == "sandbox":  # kinesis-mock never tells a subscriber that a shard has ended
                site.change("split_shard", ShardToSplit="shardId-000000000000", NewStartingHashKey=str(HASHES // 8))
            producer.put_all(n - n // 2)
            expect(daemon.kill_processor() == 1, "no processor to kill")
            md.wait_given(producer.put, 240, f"{name}: all", daemon)
            arn = site.kinesis.describe_stream_summary(StreamName="s")["StreamDescriptionSummary"]["StreamARN"]
            consumers = [c["ConsumerName"] for c in site.kinesis.list_stream_consumers(StreamARN=arn)["Consumers"]]
            expect(consumers == [keys.get("fanoutConfig.consumerName", "app")], f"registered: {consumers}")
            expect(daemon.leave() == 0, daemon.log()[-800:])
            told.append(f"{name}: " + md.verdict(site, "app", producer.put, daemon))
        finally:
            daemon.close()
            site.close()
    return "; ".join(told)


SAMPLES = {"kclpy": md.kclpy_sample, "aws-kcl": md.aws_kcl_sample, "aws-kclrb": md.aws_kclrb_sample}
DAEMONS = {"ours": md.Ours, "java": md.Theirs}


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--records", type=int, default=2000)
    words.add_argument("--servers", default="sandbox")
    words.add_argument("--daemons", default="ours")
    words.add_argument("--sources", default=os.environ.get("SLOOP_TEST_KCL_SOURCES"))
    words.add_argument("--keep")
    words.add_argument("stories", nargs="*", default=["kclpy", "aws-kcl", "lines"])
    words.parse_args(namespace=Given)
    sys.argv[1:] = []  # Tests takes the first word for a filter
    tests = Tests()
    with tempfile.TemporaryDirectory(prefix="multilang-") as scratch:
        folder = Given.keep or scratch
        for story in Given.stories:
            if story in SAMPLES:
                for server in Given.servers.split(","):
                    for daemon in Given.daemons.split(","):
                        name = f"{story}'s processor, {server}, {daemon}"
                        tests.run(name, sample, SAMPLES[story], server, DAEMONS[daemon], Given.records,
                                  place(folder, f"{story}-{server}-{daemon}"))
            elif story == "fan-out":
                for server in Given.servers.split(","):
                    tests.run(f"fan-out, {server}", fan_out, server, Given.records, place(folder, f"fan-out-{server}"))
            elif story == "lines":
                tests.run("the same lines as Amazon's daemon", lines, Given.records, place(folder, "lines"))
            elif story == "takeover":
                tests.run("takeovers between both daemons", takeover, place(folder, "takeover"))
            else:
                tests.skip(story, "no such story")
    tests.end()


if __name__ == "__main__":
    main()
