"""boto3 in bench/peers: one thread that asks the shards in turn. Variables and lines: README.md beside this folder."""

import os
import sys
import time

import boto3

STREAM = os.environ["PEERS_STREAM"]
WANTED = int(os.environ.get("PEERS_RECORDS", 0))  # 0: without end
WARM = int(os.environ.get("PEERS_WARM", 0))
LIMIT = int(os.environ["PEERS_LIMIT"])
POLL_S = int(os.environ["PEERS_POLL_MS"]) / 1000


class Tally:
    def __init__(self):
        self.count = self.bytes = self.sum = 0

    def say(self, mark):
        print(f"{mark} {time.process_time():.6f} {self.count} {self.bytes} {self.sum}", flush=True)

    def take(self, records):
        before = self.count
        for record in records:
            data = record["Data"]
            self.bytes += len(data)
            self.sum += int.from_bytes(data[:4], "little") + 1000000 * int.from_bytes(data[8:12], "little")
        self.count += len(records)
        if not before and records:
            self.say("first")
        if before < WARM <= self.count:
            self.say("warm")
        if WANTED and self.count >= WANTED:
            self.say("done")
            sys.stdin.read()
            os._exit(0)


def main():
    kinesis = boto3.client("kinesis", endpoint_url=os.environ["PEERS_ENDPOINT"])
    shards = [shard["ShardId"] for shard in kinesis.list_shards(StreamName=STREAM)["Shards"]]
    places = [kinesis.get_shard_iterator(StreamName=STREAM, ShardId=shard, ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
              for shard in shards]
    due = [0] * len(shards)
    tally = Tally()
    while True:
        for i, place in enumerate(places):
            if due[i] > time.monotonic():
                continue
            page = kinesis.get_records(ShardIterator=place, Limit=LIMIT)
            places[i] = page["NextShardIterator"]
            tally.take(page["Records"])
            if not page["Records"]:
                due[i] = max(due[i], time.monotonic() - POLL_S) + POLL_S
        time.sleep(max(0, min(due) - time.monotonic()))


main()
