"""The package on servers of others, kinesis-mock and kinesalite, through a split and a merge; boto3 puts and changes shards."""

import asyncio
import os
import threading
import time
import unittest

import sloop
from world import LIMIT

import servers  # isort: skip  # of test/process, which world put into the path

try:
    import boto3
except ImportError:
    boto3 = None
KEYS = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}
COUNT = 4000


class Others(unittest.TestCase):
    def read_through_reshards(self, kind):
        if boto3 is None:
            self.skipTest("boto3 is not installed")
        try:
            server = kind()
            server.__enter__()
        except servers.Missing as missing:
            self.skipTest(str(missing))
        self.addCleanup(server.__exit__, None, None, None)
        os.environ.update(KEYS)
        kinesis = boto3.client("kinesis", endpoint_url=server.url, region_name="us-east-1", verify=False)
        kinesis.create_stream(StreamName="orders", ShardCount=2)

        def wait_active():
            end = time.monotonic() + LIMIT
            while kinesis.describe_stream_summary(StreamName="orders")["StreamDescriptionSummary"]["StreamStatus"] != "ACTIVE":
                self.assertLess(time.monotonic(), end)
                time.sleep(0.1)

        def open_shards():
            shards = kinesis.list_shards(StreamName="orders")["Shards"]
            found = [s for s in shards if "EndingSequenceNumber" not in s["SequenceNumberRange"]]
            return sorted(found, key=lambda s: int(s["HashKeyRange"]["StartingHashKey"]))

        wait_active()
        put = {}

        def write():
            for part in range(4):
                for start in range(part * COUNT // 4, (part + 1) * COUNT // 4, 200):
                    records = [{"Data": b"record %d" % i, "PartitionKey": str(i)} for i in range(start, start + 200)]
                    while records:
                        answer = kinesis.put_records(StreamName="orders", Records=records)
                        again = []
                        for record, one in zip(records, answer["Records"]):
                            if "SequenceNumber" in one:
                                put.setdefault(one["ShardId"], []).append((int(one["SequenceNumber"]), record["Data"]))
                            else:
                                again.append(record)
                        records = again
                first = open_shards()
                if part == 0:
                    begin, end = (int(first[0]["HashKeyRange"][k]) for k in ("StartingHashKey", "EndingHashKey"))
                    kinesis.split_shard(StreamName="orders", ShardToSplit=first[0]["ShardId"],
                                        NewStartingHashKey=str((begin + end) // 2))
                elif part == 1:
                    kinesis.merge_shards(StreamName="orders", ShardToMerge=first[0]["ShardId"],
                                         AdjacentShardToMerge=first[1]["ShardId"])
                wait_active()

        async def read():
            got, count = {}, 0
            async with sloop.Consumer("orders", start=sloop.OLDEST, endpoint=server.url, poll_ms=200, list_ms=1000) as c:
                async for batch in c:
                    for record in batch:
                        got.setdefault(record.shard, []).append((int(record.sequence), bytes(record)))
                    count += len(batch)
                    await batch.done()
                    if count >= COUNT:
                        return got

        writer = threading.Thread(target=write)
        writer.start()
        try:
            got = asyncio.run(asyncio.wait_for(read(), 2 * LIMIT))
        finally:
            writer.join()
        self.assertEqual(got, {shard: sorted(records) for shard, records in put.items()})
        self.assertGreaterEqual(len(got), 5)

    def test_kinesis_mock(self):
        self.read_through_reshards(servers.KinesisMock)

    def test_kinesalite(self):
        self.read_through_reshards(servers.Kinesalite)


if __name__ == "__main__":
    unittest.main()
