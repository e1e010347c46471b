"""The sandbox's DynamoDB Streams, judged by boto3: what was written to tables comes out of their streams, whole and in
order, while shards roll over; and every kind of answer is read once.

The walker below knows the service's rules only: a shard's records after those of its parent, a shard is at its end when
there is no next iterator.
"""

import random
import subprocess
import time
import zlib

import cpu_waits
import harness
import servers
from harness import expect
from sandbox_box import Box, refused

HOUR = 3_600_000
SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/us-east-1/dynamodb/aws4_request, "
                           "SignedHeaders=host, Signature=0", "Content-Type": "application/x-amz-json-1.0"}


def tables(box):
    return box.client(service="dynamodb")


def streams(box):
    return box.client(service="dynamodbstreams")


def make_table(box, name, view="NEW_AND_OLD_IMAGES", sort_key=False):
    """By the service's own operation. Returns the stream's ARN."""
    keys = [("id", "HASH")] + ([("at", "RANGE")] if sort_key else [])
    answer = tables(box).create_table(
        TableName=name, BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind in keys],
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S" if key == "id" else "N"} for key, _ in keys],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": view})
    expect(answer["TableDescription"]["TableStatus"] == "CREATING", f"it is {answer['TableDescription']}")
    wait_status(box, name, "ACTIVE")
    return tables(box).describe_table(TableName=name)["Table"]["LatestStreamArn"]


def wait_status(box, table, status):
    dynamodb = tables(box)
    harness.wait_until(lambda: dynamodb.describe_table(TableName=table)["Table"]["TableStatus"] == status, 10,
                       f"{table} is {status}")


def describe(client, arn, **arguments):
    return client.describe_stream(StreamArn=arn, **arguments)["StreamDescription"]


def all_shards(client, arn, limit=100):
    """Every shard by pages of that many, and how many pages it took."""
    shards, more, pages = [], {}, 0
    while True:
        page = describe(client, arn, Limit=limit, **more)
        expect(len(page["Shards"]) <= limit, f"{len(page['Shards'])} shards in a page of {limit}")
        shards += page["Shards"]
        pages += 1
        last = page.get("LastEvaluatedShardId")
        if not last:
            return shards, pages
        more = {"ExclusiveStartShardId": last}


def iterator_at(client, arn, shard, kind="TRIM_HORIZON", number=None):
    more = {"SequenceNumber": number} if number else {}
    return client.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType=kind, **more)["ShardIterator"]


def read_shard(client, arn, shard, limit=1000, **where):
    """Its records, and whether it is at its end. An open shard is read up to its tip."""
    records, at = [], iterator_at(client, arn, shard, **where)
    while at:
        page = client.get_records(ShardIterator=at, Limit=limit)
        expect(len(page["Records"]) <= limit, f"{len(page['Records'])} records in a page of {limit}")
        records += page["Records"]
        at = page.get("NextShardIterator")
        if at and not page["Records"]:
            return records, False
    return records, True


def walk(client, arn):
    """All records of a stream that is not written to, parents before children. {shard: records} in that order."""
    shards, _ = all_shards(client, arn)
    ids = {shard["ShardId"] for shard in shards}
    found = {}
    left = list(shards)
    while left:
        ready = [s for s in left if s.get("ParentShardId") not in ids or s["ParentShardId"] in found]
        expect(ready, f"a circle among {[s['ShardId'] for s in left]}")
        for shard in ready:
            found[shard["ShardId"]], ended = read_shard(client, arn, shard["ShardId"])
            closed = "EndingSequenceNumber" in shard["SequenceNumberRange"]
            expect(ended or not closed, f"{shard} is listed closed and goes on")
            left.remove(shard)
    return found


def check_lineage(shards, found):
    """Numbers: 21 to 40 digits, rising within a shard and from parent to child, inside the listed range."""
    by_id = {shard["ShardId"]: shard for shard in shards}
    lengths = set()
    for shard in shards:
        numbers = [record["dynamodb"]["SequenceNumber"] for record in found[shard["ShardId"]]]
        lengths |= {len(number) for number in numbers}
        edges = shard["SequenceNumberRange"]
        line = [int(edges["StartingSequenceNumber"]), *map(int, numbers)]
        line += [int(edges["EndingSequenceNumber"])] if "EndingSequenceNumber" in edges else []
        expect(all(a < b for a, b in zip(line, line[1:])), f"{shard['ShardId']} does not rise: {line[:20]}")
        parent = by_id.get(shard.get("ParentShardId"))
        if parent:
            end = int(parent["SequenceNumberRange"]["EndingSequenceNumber"])
            expect(end < line[0], f"{shard['ShardId']} begins before its parent's end")
    expect(all(21 <= length <= 40 for length in lengths), f"lengths {lengths}")
    return lengths


class Writer:
    """Puts, updates and deletes with boto3, and keeps by key what the stream must say."""

    def __init__(self, box, table, seed=1):
        self.dynamodb, self.table, self.random = tables(box), table, random.Random(seed)
        self.items = {}
        self.expected = {}  # key -> [(event, old, new)]
        self.written = self.unchanged = 0

    def note(self, key, new):
        old = self.items.get(key)
        if old == new:
            self.unchanged += 1
            return
        event = "INSERT" if old is None else "REMOVE" if new is None else "MODIFY"
        self.expected.setdefault(key, []).append((event, old, new))
        self.written += 1
        if new is None:
            del self.items[key]
        else:
            self.items[key] = new

    def step(self):
        key = f"key-{self.random.randrange(200)}"
        what = self.random.random()
        if what < 0.55:
            item = {"id": {"S": key}, "n": {"N": str(self.random.randrange(3))},
                    "text": {"S": self.random.choice(['plain', 'ü "quoted"\n\t\x01 🚢', ""])},
                    "deep": {"M": {"l": {"L": [{"BOOL": True}, {"NULL": True}, {"B": b"\x00\xff"}]}}}}
            self.dynamodb.put_item(TableName=self.table, Item=item)
            self.note(key, item)
        elif what < 0.8:
            value = str(self.random.randrange(3))
            self.dynamodb.update_item(TableName=self.table, Key={"id": {"S": key}}, UpdateExpression="SET n = :n",
                                      ExpressionAttributeValues={":n": {"N": value}})
            self.note(key, {**self.items.get(key, {"id": {"S": key}}), "n": {"N": value}})
        else:
            self.dynamodb.delete_item(TableName=self.table, Key={"id": {"S": key}})
            self.note(key, None)


def changes_by_key(found):
    """The changes that the walk found, in its order: key -> [(event, old, new)]."""
    seen = {}
    for records in found.values():
        for record in records:
            change = record["dynamodb"]
            seen.setdefault(change["Keys"]["id"]["S"], []).append(
                (record["eventName"], change.get("OldImage"), change.get("NewImage")))
    return seen


def every_write_once_and_in_order(steps):
    with Box("roll_ms=200", "table_partitions=4") as box:
        arn = make_table(box, "Orders")
        writer = Writer(box, "Orders")
        for i in range(steps):
            writer.step()
            if i == steps // 3:
                box.roll("Orders", split=True)
        box.quirk("keep-open", 1)  # a slow machine would never be done with reading shards
        client = streams(box)
        shards, _ = all_shards(client, arn)
        found = walk(client, arn)
        seen = changes_by_key(found)
        expect(seen.keys() == writer.expected.keys(), f"keys: {seen.keys() ^ writer.expected.keys()}")
        for key, expected in writer.expected.items():
            expect(seen[key] == expected, f"{key}: {seen[key][:5]} is not {expected[:5]}")
        records = [record for some in found.values() for record in some]
        expect(len({record["eventID"] for record in records}) == writer.written, "an eventID came twice")
        expect(len(shards) > 20 and writer.unchanged > 50, f"{len(shards)} shards, {writer.unchanged} without a change")
        lengths = check_lineage(shards, {s["ShardId"]: found.get(s["ShardId"], []) for s in shards})
        return f"{writer.written} changes, {len(shards)} shards, numbers of {min(lengths)} to {max(lengths)} digits"


def a_walk_during_rollovers():
    """Followed while it is written to: shards end, children are found by CHILD_SHARDS, nothing is missed."""
    with Box("roll_ms=100", "table_partitions=2", "quirk=late-children:60", "quirk=empty-gets:1") as box:
        arn = make_table(box, "Orders")
        writer, client = Writer(box, "Orders", seed=2), streams(box)
        # On a slow machine the first shards are replaced before they are listed; their children are found at their end.
        listed = describe(client, arn)["Shards"]
        ids = {s["ShardId"] for s in listed}
        reading = {s["ShardId"]: iterator_at(client, arn, s["ShardId"]) for s in listed
                   if s.get("ParentShardId") not in ids}
        seen, waiting, finished, came, empty = {}, [], 0, 0, 0
        deadline = cpu_waits.Deadline(60)
        while empty < 8:  # what came twice would come soon
            expect(not deadline.passed(), f"{came} of {writer.written} changes came; {len(reading)} shards are read")
            if writer.written < 600:
                for _ in range(5):
                    writer.step()
            for shard, at in list(reading.items()):
                page = client.get_records(ShardIterator=at)
                came += len(page["Records"])
                for record in page["Records"]:
                    change = record["dynamodb"]
                    seen.setdefault(change["Keys"]["id"]["S"], []).append(
                        (record["eventName"], change.get("OldImage"), change.get("NewImage")))
                if "NextShardIterator" in page:
                    reading[shard] = page["NextShardIterator"]
                else:
                    del reading[shard]
                    waiting.append(shard)
                    finished += 1
            for shard in list(waiting):  # their children may be listed late
                children = describe(client, arn, ShardFilter={"Type": "CHILD_SHARDS", "ShardId": shard})["Shards"]
                if children:
                    waiting.remove(shard)
                    for child in children:
                        expect(child["ParentShardId"] == shard, f"{child} is not {shard}'s")
                        reading[child["ShardId"]] = iterator_at(client, arn, child["ShardId"])
            empty += writer.written >= 600 and came >= writer.written
        expect(seen == writer.expected, f"{sum(map(len, seen.values()))} of {writer.written} changes, or their order")
        expect(finished > 4, f"only {finished} shards ended")
        return f"{finished} shards ended meanwhile"


def views():
    with Box() as box:
        for view, members in (("KEYS_ONLY", set()), ("NEW_IMAGE", {"NewImage"}), ("OLD_IMAGE", {"OldImage"}),
                              ("NEW_AND_OLD_IMAGES", {"NewImage", "OldImage"})):
            arn = make_table(box, view, view, sort_key=True)
            key = {"id": {"S": "a"}, "at": {"N": "1"}}
            tables(box).put_item(TableName=view, Item={**key, "v": {"N": "1"}})
            tables(box).put_item(TableName=view, Item={**key, "v": {"N": "2"}})
            tables(box).delete_item(TableName=view, Key=key)
            description = describe(streams(box), arn)
            expect(description["StreamViewType"] == view and description["TableName"] == view, f"it is {description}")
            expect(description["KeySchema"] == [{"AttributeName": "id", "KeyType": "HASH"},
                                                {"AttributeName": "at", "KeyType": "RANGE"}], "the keys")
            records = [r for some in walk(streams(box), arn).values() for r in some]
            expect([r["eventName"] for r in records] == ["INSERT", "MODIFY", "REMOVE"], f"{view}: {records}")
            for record in records:
                change = record["dynamodb"]
                absent = {"INSERT": "OldImage", "REMOVE": "NewImage"}.get(record["eventName"])
                expect({m for m in change if "Image" in m} == members - {absent}, f"{view}: {change}")
                expect(change["Keys"] == key and change["StreamViewType"] == view, f"{change}")
                expect(change["ApproximateCreationDateTime"].microsecond == 0, "times are whole seconds")
                expect((record["eventVersion"], record["eventSource"], record["awsRegion"])
                       == ("1.1", "aws:dynamodb", "us-east-1"), f"{record}")


def disabled_and_enabled_again():
    with Box("table_partitions=2") as box:
        client, dynamodb = streams(box), tables(box)
        first = make_table(box, "Orders")
        dynamodb.put_item(TableName="Orders", Item={"id": {"S": "a"}})
        dynamodb.update_table(TableName="Orders", StreamSpecification={"StreamEnabled": False})
        harness.wait_until(lambda: describe(client, first)["StreamStatus"] == "DISABLED", 10, "the stream is DISABLED")
        wait_status(box, "Orders", "ACTIVE")
        dynamodb.put_item(TableName="Orders", Item={"id": {"S": "unseen"}})
        shards = describe(client, first)["Shards"]
        expect(all("EndingSequenceNumber" in s["SequenceNumberRange"] for s in shards), f"open: {shards}")
        table = dynamodb.describe_table(TableName="Orders")["Table"]
        expect("StreamSpecification" not in table and table["LatestStreamArn"] == first, f"the table says {table}")
        dynamodb.update_table(TableName="Orders", StreamSpecification={"StreamEnabled": True,
                                                                       "StreamViewType": "KEYS_ONLY"})
        wait_status(box, "Orders", "ACTIVE")
        second = dynamodb.describe_table(TableName="Orders")["Table"]["LatestStreamArn"]
        harness.wait_until(lambda: describe(client, second)["StreamStatus"] == "ENABLED", 10, "the stream is ENABLED")
        dynamodb.put_item(TableName="Orders", Item={"id": {"S": "b"}})
        listed = [s["StreamArn"] for s in client.list_streams(TableName="Orders")["Streams"]]
        expect(listed == [first, second] and first != second, f"listed: {listed}")
        for arn, key in ((first, "a"), (second, "b")):
            records = [r for some in walk(client, arn).values() for r in some]
            expect([r["dynamodb"]["Keys"]["id"]["S"] for r in records] == [key], f"{arn}: {records}")
        box.move_clock(23 * HOUR)
        expect(describe(client, first)["StreamStatus"] == "DISABLED", "a day is not over")
        box.move_clock(2 * HOUR)
        refused("ResourceNotFoundException", client.describe_stream, StreamArn=first)
        expect(describe(client, second)["StreamStatus"] == "ENABLED", "the second stream is alive")
        dynamodb.delete_table(TableName="Orders")
        harness.wait_until(lambda: describe(client, second)["StreamStatus"] == "DISABLED", 10, "the table's stream ends")


def expired_items():
    with Box("table_partitions=1") as box:
        client, dynamodb = streams(box), tables(box)
        arn = make_table(box, "Orders")
        dynamodb.update_time_to_live(TableName="Orders", TimeToLiveSpecification={"Enabled": True,
                                                                                  "AttributeName": "until"})
        box.move_clock(2 * HOUR)
        now = box.now_ms() // 1000
        dynamodb.put_item(TableName="Orders", Item={"id": {"S": "short"}, "until": {"N": str(now + 60)}})
        dynamodb.put_item(TableName="Orders", Item={"id": {"S": "long"}, "until": {"N": str(now + 9 * 3600)}})
        dynamodb.put_item(TableName="Orders", Item={"id": {"S": "ever"}})
        dynamodb.delete_item(TableName="Orders", Key={"id": {"S": "ever"}})
        box.move_clock(3 * HOUR)
        harness.wait_until(lambda: dynamodb.scan(TableName="Orders")["Count"] == 1, 10, "one item is left")
        records = [r for some in walk(client, arn).values() for r in some]
        removed = [r for r in records if r["eventName"] == "REMOVE"]
        expect([r["dynamodb"]["Keys"]["id"]["S"] for r in removed] == ["ever", "short"], f"removed: {removed}")
        expect("userIdentity" not in removed[0], "a user's deletion")
        expect(removed[1]["userIdentity"] == {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"},
               f"the service's deletion: {removed[1]}")


def trimmed():
    with Box("table_partitions=2", "roll_ms=0") as box:
        client, dynamodb = streams(box), tables(box)
        arn = make_table(box, "Orders")
        for i in range(20):
            dynamodb.put_item(TableName="Orders", Item={"id": {"S": f"old-{i}"}})
        old = {s["ShardId"]: read_shard(client, arn, s["ShardId"])[0] for s in describe(client, arn)["Shards"]}
        iterators = {shard: iterator_at(client, arn, shard) for shard in old}
        box.roll("Orders")
        middle = [s for s in describe(client, arn)["Shards"] if s.get("ParentShardId")]
        box.move_clock(12 * HOUR)
        for i in range(20):
            dynamodb.put_item(TableName="Orders", Item={"id": {"S": f"new-{i}"}})
        box.move_clock(13 * HOUR)
        listed = describe(client, arn)["Shards"]
        expect([s["ShardId"] for s in listed] == [s["ShardId"] for s in middle], f"listed: {listed}")
        expect({s["ParentShardId"] for s in listed} == set(old), "their parents are still named")
        for shard, records in old.items():
            refused("ResourceNotFoundException", client.get_shard_iterator, StreamArn=arn, ShardId=shard,
                    ShardIteratorType="TRIM_HORIZON")
            refused("ExpiredIteratorException", client.get_records, ShardIterator=iterators[shard])
            expect(records, "each shard had a record")
        found = walk(client, arn)
        expect(sum(map(len, found.values())) == 20, "the younger half is there")
        # the same within one shard: half of its records are too old
        at = iterator_at(client, arn, listed[0]["ShardId"])
        records = found[listed[0]["ShardId"]]
        box.trim_table("Orders", box.now_ms() + 1)
        refused("TrimmedDataAccessException", client.get_records, ShardIterator=at)
        for kind in ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"):
            refused("TrimmedDataAccessException", client.get_shard_iterator, StreamArn=arn,
                    ShardId=listed[0]["ShardId"], ShardIteratorType=kind,
                    SequenceNumber=records[0]["dynamodb"]["SequenceNumber"])
        expect(read_shard(client, arn, listed[0]["ShardId"]) == ([], False), "empty and open")


def iterators_expire():
    with Box("table_partitions=1") as box:
        client = streams(box)
        arn = make_table(box, "Orders")
        shard = describe(client, arn)["Shards"][0]["ShardId"]
        at = iterator_at(client, arn, shard)
        box.move_clock(14 * 60_000)
        following = client.get_records(ShardIterator=at)["NextShardIterator"]
        box.move_clock(2 * 60_000)
        refused("ExpiredIteratorException", client.get_records, ShardIterator=at)
        client.get_records(ShardIterator=following)
        expect(len(at) <= 2048 and at.startswith(arn), f"an iterator is {at}")


def pages_and_children():
    with Box("table_partitions=3", "roll_ms=0") as box:
        client = streams(box)
        arn = make_table(box, "Orders")
        for split in (False, True, False):
            box.roll("Orders", split)
        whole, pages = all_shards(client, arn)
        expect((len(whole), pages) == (3 + 3 + 6 + 6, 1), f"{len(whole)} shards in {pages} pages")
        expect(all_shards(client, arn, 3) == (whole, 6), "by pages of three")
        box.quirk("empty-lists", 1, "Orders")
        expect(all_shards(client, arn, 3) == (whole, 12), "with an empty page before each")
        box.quirk("empty-lists", 0, "Orders")
        ids = [s["ShardId"] for s in whole]
        expect(ids == sorted(ids) and len(set(ids)) == len(ids), "ids rise")
        for shard in ids:
            children = describe(client, arn, ShardFilter={"Type": "CHILD_SHARDS", "ShardId": shard})["Shards"]
            expect(children == [s for s in whole if s.get("ParentShardId") == shard], f"children of {shard}")
        box.quirk("open-parents", 1)
        expect(not any("EndingSequenceNumber" in s["SequenceNumberRange"] for s in describe(client, arn)["Shards"]),
               "parents are listed open")
        for name in ("Orders-2", "Orders-3"):
            make_table(box, name)
        names, more = [], {}
        while True:
            page = client.list_streams(Limit=1, **more)
            names += [s["TableName"] for s in page["Streams"]]
            if "LastEvaluatedStreamArn" not in page:
                break
            more = {"ExclusiveStartStreamArn": page["LastEvaluatedStreamArn"]}
        expect(names == ["Orders", "Orders-2", "Orders-3"], f"streams: {names}")


def positions():
    with Box("table_partitions=1", "roll_ms=0") as box:
        client, dynamodb = streams(box), tables(box)
        arn = make_table(box, "Orders")
        shard = describe(client, arn)["Shards"][0]["ShardId"]
        for i in range(25):
            dynamodb.put_item(TableName="Orders", Item={"id": {"S": "a"}, "n": {"N": str(i)}})
        records, _ = read_shard(client, arn, shard, limit=4)
        expect([int(r["dynamodb"]["NewImage"]["n"]["N"]) for r in records] == list(range(25)), "by pages of four")
        for i, record in enumerate(records):
            number = record["dynamodb"]["SequenceNumber"]
            rest, _ = read_shard(client, arn, shard, kind="AT_SEQUENCE_NUMBER", number=number)
            expect(rest == records[i:], f"at {i}")
            rest, _ = read_shard(client, arn, shard, kind="AFTER_SEQUENCE_NUMBER", number=number)
            expect(rest == records[i + 1:], f"after {i}")
        expect(read_shard(client, arn, shard, kind="LATEST") == ([], False), "the tip")
        big = "x" * 390_000
        for i in range(4):
            dynamodb.put_item(TableName="Orders", Item={"id": {"S": f"big-{i}"}, "x": {"S": big}})
        at, sizes = iterator_at(client, arn, shard, "AFTER_SEQUENCE_NUMBER", number), []
        while len(sizes) < 2:
            page = client.get_records(ShardIterator=at)
            sizes.append(len(page["Records"]))
            at = page["NextShardIterator"]
        expect(sizes == [2, 2], f"a page is one megabyte at most: {sizes}")


def refusals():
    with Box("table_partitions=1", "roll_ms=0") as box:
        client = streams(box)
        arn = make_table(box, "Orders")
        shard = describe(client, arn)["Shards"][0]["ShardId"]
        start = describe(client, arn)["Shards"][0]["SequenceNumberRange"]["StartingSequenceNumber"]
        unknown = arn[:-3] + "999"
        refused("ResourceNotFoundException", client.describe_stream, StreamArn=unknown)
        refused("ValidationException", client.describe_stream, StreamArn=arn, Limit=101)
        refused("ResourceNotFoundException", client.get_shard_iterator, StreamArn=unknown, ShardId=shard,
                ShardIteratorType="LATEST")
        refused("ResourceNotFoundException", client.get_shard_iterator, StreamArn=arn, ShardId=shard[:-8] + "00000000",
                ShardIteratorType="LATEST")
        # boto3 knows a Timestamp from botocore 1.44.8 on; unit tests and tail_ddb_since.py have it.
        refused("ValidationException", client.get_shard_iterator, StreamArn=arn, ShardId=shard,
                ShardIteratorType="AT_TIMESTAMP")
        refused("ValidationException", client.get_shard_iterator, StreamArn=arn, ShardId=shard,
                ShardIteratorType="AT_SEQUENCE_NUMBER")
        refused("ValidationException", client.get_shard_iterator, StreamArn=arn, ShardId=shard,
                ShardIteratorType="AT_SEQUENCE_NUMBER", SequenceNumber=str(int(start) - 1))
        refused("ValidationException", client.get_shard_iterator, StreamArn=arn, ShardId=shard,
                ShardIteratorType="AT_SEQUENCE_NUMBER", SequenceNumber=start + "0")
        refused("ValidationException", client.get_records, ShardIterator="what is this")
        refused("ValidationException", client.get_records, ShardIterator=iterator_at(client, arn, shard), Limit=1001)
        status, headers, body = box.request("POST", "/", b"{}", {**SIGNED, "X-Amz-Target":
                                                                 "DynamoDBStreams_20120810.NoSuch"})
        expect(status == 400 and b"UnknownOperationException" in body, f"{status} {body}")
        expect(headers["Content-Type"] == "application/x-amz-json-1.0", f"{headers}")


def limits():
    with Box("table_partitions=1", "change_reads_per_second=4", limits=True) as box:
        client = streams(box)
        box.table("Orders", 1)
        arn = client.list_streams()["Streams"][0]["StreamArn"]
        shard = describe(client, arn)["Shards"][0]["ShardId"]
        seen = set()
        for _ in range(12):
            try:
                describe(client, arn)
            except client.exceptions.ClientError as error:
                seen.add(error.response["Error"]["Code"])
        expect(seen == {"ThrottlingException"}, f"12 calls of DescribeStream at once: {seen}")
        readers = [iterator_at(client, arn, shard) for _ in range(3)]
        for at in readers[:2]:
            client.get_records(ShardIterator=at)
        refused("LimitExceededException", client.get_records, ShardIterator=readers[2])
        seen = set()
        for _ in range(6):
            try:
                client.get_records(ShardIterator=readers[0])
            except client.exceptions.ClientError as error:
                seen.add(error.response["Error"]["Code"])
        expect(seen == {"ThrottlingException"}, f"8 reads within a second: {seen}")
        box.move_clock(1000)
        client.get_records(ShardIterator=readers[2])


def faults():
    import botocore.exceptions

    with Box("table_partitions=1", "roll_ms=0") as box:
        client, dynamodb = streams(box), tables(box)
        arn = make_table(box, "Orders")
        make_table(box, "Others")
        shard = describe(client, arn)["Shards"][0]["ShardId"]
        item = {"id": {"S": "a"}, "n": {"N": "0"}}
        add = {"Key": {"id": {"S": "a"}}, "UpdateExpression": "ADD n :one",
               "ExpressionAttributeValues": {":one": {"N": "1"}}}

        def n():
            return dynamodb.get_item(TableName="Orders", Key={"id": {"S": "a"}},
                                     ConsistentRead=True)["Item"]["n"]["N"]

        dynamodb.put_item(TableName="Orders", Item=item)
        box.faults("1 UpdateItem Orders throttle\n1 UpdateItem Orders lost\n1 UpdateItem Orders twice\n"
                   "1 UpdateItem Orders error InternalServerError:500\n1 PutItem Others error Never\n"
                   "1 TransactWriteItems Orders error TransactionInProgressException")
        refused("ProvisionedThroughputExceededException", dynamodb.update_item, TableName="Orders", **add)
        expect(n() == "0", "a throttled update does nothing")
        try:
            dynamodb.update_item(TableName="Orders", **add)
            raise harness.Failed("the answer was not lost")
        except (botocore.exceptions.ConnectionClosedError, botocore.exceptions.EndpointConnectionError):
            pass
        expect(n() == "1", f"the update whose answer was lost is done: {n()}")
        dynamodb.update_item(TableName="Orders", **add)
        expect(n() == "3", f"done twice: {n()}")
        refused("InternalServerError", dynamodb.update_item, TableName="Orders", **add)
        dynamodb.put_item(TableName="Orders", Item={"id": {"S": "b"}})  # the line for Others does not hold
        refused("TransactionInProgressException", dynamodb.transact_write_items,
                TransactItems=[{"Put": {"TableName": "Others", "Item": item}},
                               {"Delete": {"TableName": "Orders", "Key": {"id": {"S": "zzz"}}}}])
        box.order("DELETE", "faults")
        records, _ = read_shard(client, arn, shard)
        expect([r["dynamodb"]["NewImage"].get("n", {}).get("N") for r in records] == ["0", "1", "2", "3", None],
               "each of the doubled updates is a change")
        whole = [r["dynamodb"]["SequenceNumber"] for r in records]
        tail_of_id = shard[-9:]  # with the dash: digits alone would be the number of a shard
        box.faults(f"1 GetRecords {tail_of_id} backwards\n1 GetRecords {tail_of_id} repeat\n"
                   f"1 GetRecords {tail_of_id} foreign\n1 GetRecords {tail_of_id} empty\n"
                   f"1 GetRecords {tail_of_id} no-next\n1 GetRecords {tail_of_id} throttle\n"
                   f"1 GetRecords {tail_of_id} expired\n1 DescribeStream Orders throttle\n"
                   f"1 GetShardIterator {tail_of_id} error TrimmedDataAccessException")
        refused("TrimmedDataAccessException", client.get_shard_iterator, StreamArn=arn, ShardId=shard,
                ShardIteratorType="LATEST")
        at = iterator_at(client, arn, shard)

        def numbers():
            page = client.get_records(ShardIterator=at)
            return [r["dynamodb"]["SequenceNumber"] for r in page["Records"]], "NextShardIterator" in page

        expect(numbers() == (whole[::-1], True), "backwards")
        expect(numbers() == (whole[:1] + whole, True), "repeat")
        strange, _ = numbers()
        expect(strange[1:] == whole[1:] and int(strange[0]) > int(whole[-1]), "foreign")
        expect(numbers() == ([], True), "empty")
        expect(numbers() == (whole, False), "no-next")
        refused("LimitExceededException", client.get_records, ShardIterator=at)
        refused("ExpiredIteratorException", client.get_records, ShardIterator=at)
        refused("ThrottlingException", client.describe_stream, StreamArn=arn)
        expect(numbers() == (whole, True), "all is well again")
        box.faults("1 GetItem Orders bad-crc")
        for good in (False, True):
            status, headers, body = box.request(
                "POST", "/", b'{"TableName":"Orders","Key":{"id":{"S":"a"}}}',
                {**SIGNED, "X-Amz-Target": "DynamoDB_20120810.GetItem"})
            crc = {k.lower(): v for k, v in headers.items()}["x-amz-crc32"]
            expect(status == 200 and (int(crc) == zlib.crc32(body)) == good, f"crc {crc} of {body}")


def table_of_the_command():
    """stream-tail -M serves a table beside its stream, and the lines it prints are all a client needs."""
    argv = [servers.binary(), "-M", "3", "music", "-X", "sandbox.roll_ms=0"]
    process = subprocess.Popen(argv, env=harness.tail_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, preexec_fn=servers.die_with_parent)
    try:
        url = process.stdout.readline().decode().strip().split("=", 1)[1]
        dynamodb = harness.client(url, "dynamodb")
        dynamodb.put_item(TableName="music", Item={"id": {"S": "a"}})
        arn = dynamodb.describe_table(TableName="music")["Table"]["LatestStreamArn"]
        found = walk(harness.client(url, "dynamodbstreams"), arn)
        expect(len(found) == 3 and sum(map(len, found.values())) == 1, f"found {found}")
        harness.client(url).describe_stream_summary(StreamName="music")
        _, err = process.communicate(timeout=10)
        expect(process.returncode == 0, f"it left with {process.returncode}: {err!r}")
    finally:
        process.kill()
        process.communicate()


def main():
    tests = harness.Tests()
    writes = 3000 if harness.FULL else 900

    def others():
        tests.run("each view has its images", views)
        tests.run("a stream disabled and enabled again is another one", disabled_and_enabled_again)
        tests.run("items whose time is over are removed by the service", expired_items)
        tests.run("changes and shards fade after a day", trimmed)
        tests.run("iterators live 15 minutes", iterators_expire)
        tests.run("shards and streams come in pages, children by their parent", pages_and_children)
        tests.run("every position, every size of page", positions)
        tests.run("what is wrong is refused", refusals)
        tests.run("readers, reads and listings have limits", limits)
        tests.run("stream-tail -M serves a table", table_of_the_command)
        tests.run("the fault script reaches tables and their streams", faults)

    tests.side_by_side([
        lambda: tests.run(f"{writes:,} writes come out once and in order while shards roll over", every_write_once_and_in_order, writes),
        lambda: tests.run("a reader beside the writer misses nothing", a_walk_during_rollovers), others])
    tests.end()


main()
