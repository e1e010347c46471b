"""Tables, writers and the reference reader of the tests that read DynamoDB Streams. All of it is boto3: nothing here knows
our code."""

import random

import harness
from harness import expect


def clients(url):
    return harness.client(url, "dynamodb"), harness.client(url, "dynamodbstreams")


def new_table(dynamodb, name=None, view="NEW_AND_OLD_IMAGES"):
    """Returns (table, stream ARN) once both are there."""
    name = name or f"sloop-test-{random.getrandbits(40):010x}"
    dynamodb.create_table(TableName=name, BillingMode="PAY_PER_REQUEST",
                          AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                          KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                          StreamSpecification={"StreamEnabled": True, "StreamViewType": view})
    return name, stream_of(dynamodb, name)


def stream_of(dynamodb, table):
    def active():
        found = dynamodb.describe_table(TableName=table)["Table"]
        return found["TableStatus"] == "ACTIVE" and found.get("LatestStreamArn")

    return harness.wait_until(active, 30, f"{table} is ACTIVE with a stream")


class Writer:
    """Puts, updates and deletes items at random. Every change changes something, so each is one record."""

    def __init__(self, dynamodb, table, keys=40, seed=1):
        self.dynamodb, self.table, self.keys = dynamodb, table, keys
        self.random = random.Random(seed)
        self.there = set()
        self.number = 0

    def write(self, n):
        for _ in range(n):
            self.number += 1
            item = f"item-{self.random.randrange(self.keys)}"
            key = {"id": {"S": item}}
            what = self.random.random()
            if item in self.there and what < 0.2:
                self.dynamodb.delete_item(TableName=self.table, Key=key)
                self.there.remove(item)
            elif item in self.there and what < 0.5:
                self.dynamodb.update_item(TableName=self.table, Key=key, UpdateExpression="SET n = :n",
                                          ExpressionAttributeValues={":n": {"N": str(self.number)}})
            else:
                self.dynamodb.put_item(TableName=self.table, Item={
                    **key, "n": {"N": str(self.number)}, "text": {"S": 'ü "quoted"\n 🚢 ' * self.random.randrange(3)},
                    "deep": {"M": {"l": {"L": [{"NULL": True}, {"BOOL": False}, {"B": b"\x00\xff"}]}}}})
                self.there.add(item)


def list_shards(streams, arn):
    """Every shard, whatever the page size; a server that repeats itself (moto) is noticed."""
    found, last = {}, None
    while True:
        more = {"ExclusiveStartShardId": last} if last else {}
        page = streams.describe_stream(StreamArn=arn, **more)["StreamDescription"]
        fresh = [shard for shard in page["Shards"] if shard["ShardId"] not in found]
        found.update((shard["ShardId"], shard) for shard in fresh)
        last = page.get("LastEvaluatedShardId")
        if not last or not fresh:
            return list(found.values())


def read_shard(streams, arn, shard):
    records, silent = [], 0
    iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=shard,
                                          ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
    while iterator and silent < 3:
        page = streams.get_records(ShardIterator=iterator, Limit=1000)
        records += page["Records"]
        silent = 0 if page["Records"] else silent + 1
        iterator = page.get("NextShardIterator")
    return records


def read_all(streams, arn):
    """{shard: [record, ...]}: what the stream keeps now."""
    return {shard["ShardId"]: read_shard(streams, arn, shard["ShardId"]) for shard in list_shards(streams, arn)}


def sequences(by_shard):
    """All sequence numbers, each in one shard only."""
    found = [record["dynamodb"]["SequenceNumber"] for records in by_shard.values() for record in records]
    expect(len(found) == len(set(found)), "a sequence number in two places")
    return found


def judge_lineage(placed, shards):
    """placed: [(shard, ...)] in the order handed out. No record of a child before the last of its parent."""
    first, last = {}, {}
    for index, (shard, *_) in enumerate(placed):
        first.setdefault(shard, index)
        last[shard] = index
    for shard in shards:
        child, parent = shard["ShardId"], shard.get("ParentShardId")
        if child in first and parent in last:
            expect(last[parent] < first[child],
                   f"{child} begins at {first[child]}, its parent {parent} ends at {last[parent]}")
