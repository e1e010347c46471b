"""Reading by the package sloop: records once and in order, every way to acknowledge, tokens, tables' changes."""

import asyncio
import base64
import json
import logging
import threading
import time
import unittest
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import sloop
from world import COLLECTOR, FREE_THREADED, World, texts_of


class Reading(World):
    def test_a_batch_is_read_and_acknowledged(self):
        name = self.stream()
        put = self.box.put(500, stream=name)

        async def read():
            got = {}
            async with sloop.Consumer(name, start=sloop.OLDEST, until_tip=True) as c:
                async for batch in c:
                    self.assertEqual(len(batch), len(list(batch)))
                    for record in batch:
                        got.setdefault(record.shard, []).append(bytes(record.data).decode())
                        self.assertEqual(record.stream, name)
                        self.assertEqual(record.attempt, 1)
                    await batch.done()
                self.assertEqual(c.stats()["records"], 500)
            self.assertFalse(c.is_open)
            return got

        self.assertEqual(self.run_async(read()), texts_of(put))

    def test_a_record_has_its_members(self):
        name = self.stream(1)
        before = datetime.now(timezone.utc) - timedelta(seconds=1)
        put = self.box.put(1, stream=name)
        record, = list(sloop.read(name, until_tip=True))
        self.assertEqual(record.sequence, put[0][1])
        self.assertEqual(record.key, "key-record 0 ")
        self.assertEqual((record.sub_sequence, record.epoch, record.event, record.change), (0, 0, None, None))
        self.assertEqual((record.late, record.raw, record.redelivered, record.foreign), (False,) * 4)
        self.assertLess(before, record.arrived_at)
        self.assertLess(record.arrived_at, before + timedelta(seconds=20))
        self.assertEqual(round(record.arrived_at.timestamp() * 1000), record.arrived_at_ms)
        self.assertTrue(record.data.readonly)
        self.assertEqual(record.data.tobytes(), b"record 0 ")

    def test_records_that_are_kept_outlive_their_batch(self):
        name = self.stream()
        put = self.box.put(3000, stream=name)
        records = list(sloop.read(name, until_tip=True))
        for shard, texts in texts_of(put).items():
            self.assertEqual([bytes(r.data).decode() for r in records if r.shard == shard], texts)

    def test_40000_records_through_splits_and_merges(self):
        name = self.stream(4)
        put = []

        def write():
            for i in range(40):
                put.extend(self.box.put(1000, stream=name, start=1000 * i))
                if i % 8 == 7:
                    shards = self.box.call("ListShards", StreamName=name)["Shards"]
                    is_open = [s for s in shards if "EndingSequenceNumber" not in s["SequenceNumberRange"]]
                    is_open.sort(key=lambda s: int(s["HashKeyRange"]["StartingHashKey"]))
                    if i % 16 == 7:
                        self.box.admin(f"/_sandbox/split?stream={name}&shard={is_open[0]['ShardId']}")
                    else:
                        self.box.admin(f"/_sandbox/merge?stream={name}&shard={is_open[0]['ShardId']}"
                                       f"&adjacent={is_open[1]['ShardId']}")

        async def read():
            got, events = {}, []
            writer = threading.Thread(target=write)
            writer.start()
            count = 0
            async with sloop.Consumer(name, start=sloop.OLDEST, poll_ms=200, list_ms=1000, on_shard=events.append) as c:
                async for batch in c:
                    for record in batch:
                        got.setdefault(record.shard, []).append((record.sequence, bytes(record.data).decode()))
                    count += len(batch)
                    await batch.done()
                    if count >= 40000:
                        break
                while not c.shard_stats() or any(not s.at_tip for s in c.shard_stats()):
                    await asyncio.sleep(0.05)
            writer.join()
            return got, events

        got, events = self.run_async(read())
        want = {}
        for shard, sequence, text in put:
            want.setdefault(shard, []).append((sequence, text))
        self.assertEqual(got, want)
        self.assertGreater(len(got), 6)
        self.assertEqual(sum(e.kind == "ended" for e in events), 7)  # of three splits and two merges

    def test_every_way_to_acknowledge(self):
        name = self.stream(1)
        self.box.put(40, stream=name)

        async def by_record():
            attempts = {}
            async with sloop.Consumer(name, start=sloop.OLDEST, batch_records_max=10) as c:
                async for batch in c:
                    for record in batch:
                        text = bytes(record.data)
                        attempts[text] = record.attempt
                        self.assertEqual(record.redelivered, record.attempt > 1)
                        if record.attempt > 1 or int(text.split()[1]) % 2:
                            record.ack()
                    await batch.done(0)
                    if len(attempts) == 40 and c.stats()["redelivered"] >= 20:
                        break
            return attempts

        attempts = self.run_async(by_record())
        self.assertEqual(sorted(attempts.values()), [1] * 20 + [2] * 20)

        async def by_with():
            got, failed = [], 0
            async with sloop.Consumer(name, start=sloop.OLDEST, batch_records_max=10) as c:
                async for batch in c:
                    try:
                        with batch:
                            if not failed:
                                failed += 1
                                raise KeyError("once")
                            got += [bytes(r.data) for r in batch]
                    except KeyError:
                        self.assertTrue(batch.is_done)
                    if len(set(got)) == 40:
                        break
            return got

        got = self.run_async(by_with())
        self.assertEqual(len(got), 40)

        async def by_leaving():
            async with sloop.Consumer(name, start=sloop.OLDEST, auto_ack=True, until_tip=True, batch_records_max=7) as c:
                return [bytes(r.data) async for batch in c for r in batch]

        self.assertEqual(len(self.run_async(by_leaving())), 40)

        async def by_records():
            async with sloop.Consumer(name, start=sloop.OLDEST, until_tip=True, batch_records_max=7) as c:
                return [bytes(r.data) async for r in c.records()]

        self.assertEqual(len(self.run_async(by_records())), 40)

    def test_an_exception_in_the_body_gives_the_records_back(self):
        name = self.stream(1)
        self.box.put(10, stream=name)
        token = None
        with self.assertRaisesRegex(ZeroDivisionError, "third"), sloop.Reader(name, start=sloop.OLDEST) as r:
            try:
                for n, _record in enumerate(r.records()):
                    if n == 3:
                        raise ZeroDivisionError("third")
            finally:
                token = r.token()
        again = [bytes(r.data) for r in sloop.read(name, start=sloop.Position.at_token(token), until_tip=True)]
        self.assertEqual(again, [b"record %d " % i for i in range(3, 10)])

    def test_tokens_go_to_the_command_and_back(self):
        name = self.stream()
        self.box.put(300, stream=name)
        with sloop.Reader(name, start=sloop.OLDEST, batch_records_max=100) as r:
            batch = next(r)
            left = 300 - len(batch)
            batch.done()
            token = r.token()
        self.assertEqual(json.loads(token)["stream_arn"].split("/")[-1], name)
        with open_temporary(token) as path:
            ran = self.box.tail("-q", "--save", path, "-e", name)
            self.assertEqual((ran.code, len(ran.out.splitlines())), (0, left), ran.err)
            with open(path, encoding="utf-8") as file:
                token = file.read()
        self.box.put(5, stream=name, start=300)
        self.assertEqual(len(list(sloop.read(name, start=sloop.Position.at_token(token), until_tip=True))), 5)
        with self.assertRaises(sloop.TokenError):
            list(sloop.read(name, start=sloop.Position.at_token("{"), until_tip=True))
        other = self.stream()
        with self.assertRaises(sloop.TokenError):
            list(sloop.read(other, start=sloop.Position.at_token(token), until_tip=True))

    def test_back_pressure(self):
        name = self.stream(2)
        for start in range(0, 6000, 1000):
            self.box.put(1000, stream=name, start=start, size=2000)

        async def read():
            async with sloop.Consumer(name, start=sloop.OLDEST, buffered_bytes_max=2 << 20, batches_out_max=2,
                                      fetch_records_max=500) as c:
                batches = [await c.__anext__(), await c.__anext__()]
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(c.__anext__(), 0.5)
                stats = c.stats()
                self.assertEqual(stats["batches_now"], 2)
                self.assertLess(stats["buffered_bytes_peak"], (2 << 20) + 3_000_000)
                count = sum(map(len, batches))
                for batch in batches:
                    batch.done()
                async for batch in c:
                    count += len(batch)
                    await batch.done()
                    if count == 6000:
                        return count

        self.assertEqual(self.run_async(read()), 6000)

    def test_a_poison_record_becomes_a_dead_letter(self):
        name = self.stream(1)
        self.box.put(30, stream=name)
        dead, good = [], []

        async def read():
            async with sloop.Consumer(name, start=sloop.OLDEST, until_tip=True, retry_max=2, on_dead_letter=dead.append) as c:
                async for batch in c:
                    for i, record in enumerate(batch):
                        if b"record 7 " in bytes(record.data):
                            await batch.done(i)
                            break
                        good.append(bytes(record.data))
                    else:
                        await batch.done()

        self.run_async(read())
        self.assertEqual([bytes(r) for r in dead], [b"record 7 "])
        self.assertEqual(dead[0].attempt, 3)
        self.assertEqual(good, [b"record %d " % i for i in range(30) if i != 7])
        with self.assertRaisesRegex(sloop.StateError, "dead letter"):
            dead[0].ack()

    def test_a_seek_a_pause_and_a_time(self):
        name = self.stream(1)
        self.box.put(20, stream=name)

        async def read():
            async with sloop.Consumer(name, start=sloop.OLDEST) as c:
                async for batch in c:
                    await batch.done()
                    break
                await c.seek(sloop.OLDEST)
                batch = await c.__anext__()
                first = batch[0]
                self.assertEqual(bytes(first.data), b"record 0 ")
                place = sloop.Position.at_sequence(batch[5].shard, batch[5].sequence)
                batch.done()
                await c.seek(place)
                batch = await c.__anext__()
                self.assertEqual(bytes(batch[0].data), b"record 5 ")
                while bytes(batch[-1].data) != b"record 19 ":
                    batch.done()
                    batch = await c.__anext__()
                batch.done()
                c.pause()
                self.box.put(1, stream=name, start=20)
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(c.__anext__(), 1.5)
                c.resume()
                self.assertEqual(bytes((await c.__anext__())[0].data), b"record 20 ")
                with self.assertRaises(sloop.NoShard):
                    c.pause("shardId-999999999999")

        self.run_async(read())
        since = datetime.now(timezone.utc)
        time.sleep(0.01)
        self.box.put(3, stream=name, start=50)
        self.assertEqual([bytes(r.data) for r in sloop.read(name, start=since, until_tip=True)],
                         [b"record %d " % i for i in range(50, 53)])

    def test_two_joined_consumers_in_one_order(self):
        one, two = self.stream(1), self.stream(1)
        for i in range(10):
            self.box.put(1, stream=(one, two)[i % 2], start=i)
            time.sleep(0.002)
        got = []

        async def drain(c):
            async for batch in c:
                got.extend(bytes(r.data) for r in batch)
                await batch.done()

        async def read():
            async with sloop.Consumer(one, start=sloop.OLDEST, until_tip=True) as a, \
                    sloop.Consumer(two, start=sloop.OLDEST, until_tip=True, join=a) as b:
                await asyncio.gather(drain(a), drain(b))

        self.run_async(read())
        self.assertEqual(got, [b"record %d " % i for i in range(10)])

    def test_lines_go_to_logging_and_errors_to_a_callable(self):
        name = self.stream(1)
        self.box.put(1, stream=name)
        errors = []
        self.box.admin("/_sandbox/faults", "3 GetRecords * error InternalFailure")
        with self.assertLogs("sloop", logging.DEBUG) as logs:
            list(sloop.read(name, until_tip=True, on_error=errors.append))
        self.assertTrue(any(name in line for line in logs.output))
        self.assertEqual([(type(e), e.name, e.fatal, e.aws_code) for e in errors],
                         [(sloop.RemoteError, "EREMOTE", False, "InternalFailure")] * len(errors))
        self.assertTrue(errors)
        self.assertGreater(errors[0].retry_in, 0)


class Changes(World):
    def test_values_are_exact(self):
        self.box.make_table("exact")
        item = {"id": {"S": "schlüssel \"\\\n\U0001f600"}, "n": {"N": "1234567890123456789.0123456789"},
                "b": {"B": base64.b64encode(bytes(range(256))).decode()}, "t": {"BOOL": True}, "f": {"BOOL": False},
                "z": {"NULL": True}, "ss": {"SS": ["a", "b"]}, "ns": {"NS": ["1", "2.5", "-1E-7"]},
                "bs": {"BS": ["AQ==", "Ag=="]}, "l": {"L": [{"N": "1"}, {"M": {"x": {"L": []}}}]}, "m": {"M": {}},
                "e": {"S": ""}}
        self.box.dynamodb("PutItem", TableName="exact", Item=item)
        self.box.dynamodb("DeleteItem", TableName="exact", Key={"id": item["id"]})
        put, removed = [record.change for record in sloop.read("dynamodb:exact", until_tip=True)]
        self.assertEqual(put.event, "INSERT")
        self.assertEqual(put.keys, {"id": "schlüssel \"\\\n\U0001f600"})
        self.assertIsNone(put.old)
        self.assertEqual(put.new, {
            **put.keys, "n": Decimal("1234567890123456789.0123456789"), "b": bytes(range(256)), "t": True, "f": False,
            "z": None, "ss": {"a", "b"}, "ns": {Decimal(1), Decimal("2.5"), Decimal("-1E-7")}, "bs": {b"\1", b"\2"},
            "l": [Decimal(1), {"x": []}], "m": {}, "e": ""})
        self.assertIs(type(put.new["n"]), Decimal)
        self.assertEqual((removed.event, removed.old, removed.new), ("REMOVE", put.new, None))

    def test_the_raw_json_is_there(self):
        self.box.make_table("raw")
        self.box.dynamodb("PutItem", TableName="raw", Item={"id": {"S": "a"}})
        record, = sloop.read("dynamodb:raw", until_tip=True)
        self.assertEqual(json.loads(bytes(record.data))["NewImage"], {"id": {"S": "a"}})
        self.assertEqual(json.loads(record.whole_json)["eventName"], "INSERT")
        self.assertEqual(record.event, "INSERT")
        self.assertEqual(json.loads(record.key), {"id": {"S": "a"}})

    def test_values_are_those_of_boto3(self):
        try:
            from boto3.dynamodb.types import Binary, TypeDeserializer
        except ImportError:
            self.skipTest("boto3 is not installed")
        self.box.make_table("same")
        for i in range(200):
            self.box.dynamodb("PutItem", TableName="same", Item=random_item(i))

        def plain(value):
            if isinstance(value, Binary):
                return bytes(value)
            if isinstance(value, dict):
                return {k: plain(v) for k, v in value.items()}
            if isinstance(value, (list, set)):
                return type(value)(plain(v) for v in value)
            return value

        seen = 0
        for record in sloop.read("dynamodb:same", until_tip=True):
            deserialize = TypeDeserializer().deserialize
            raw = decoded(json.loads(bytes(record.data))["NewImage"])
            self.assertRaises(TypeError, hash, record.change)  # dicts are in it
            self.assertEqual(record.change.new, {k: plain(deserialize(v)) for k, v in raw.items()})
            seen += 1
        self.assertEqual(seen, 200)


class BadChanges(unittest.TestCase):
    """What the parser of changes does with what is no JSON of a change: a value as json.loads() has it, or ValueError."""

    GOOD = json.dumps({"ApproximateCreationDateTime": 1.7e9, "Keys": {"id": {"S": "\u00e4\ud83d\ude00\\"}}, "NewImage": {
        "n": {"N": "-1.5e3"}, "l": {"L": [{"BOOL": True}, {"NULL": True}, {"M": {"x": {"B": "AQID"}}}]}, "s": {"NS": ["1"]}},
        "SequenceNumber": "1", "x": [1, {"y": "]}"}, None], "SizeBytes": 5}).encode()

    def test_every_cut_and_every_byte(self):
        values = sloop._native.change_values
        good = values(self.GOOD)
        self.assertEqual(good["new"]["l"], [True, None, {"x": b"\1\2\3"}])
        self.assertEqual(good["keys"]["id"], "\u00e4\U0001f600\\")
        for cut in range(len(self.GOOD)):
            with self.assertRaises(ValueError):
                values(self.GOOD[:cut])
        outcomes = {"value": 0, "refused": 0}
        for at in range(len(self.GOOD)):
            for byte in b"\x00\"\\{}[]:,u9 \xff":
                changed = self.GOOD[:at] + bytes([byte]) + self.GOOD[at + 1:]
                try:
                    values(changed)
                    outcomes["value"] += 1
                except ValueError:
                    outcomes["refused"] += 1
        self.assertGreater(min(outcomes.values()), 100)

    def test_depth_is_bounded(self):
        deep = b'{"L":[' * 100000
        for text in (b'{"Keys":{"a":' + deep, b'{"x":' + b"[" * 100000, b'{"Keys":{"a":' + b'{"M":{"a":' * 100000):
            with self.assertRaises(ValueError):
                sloop._native.change_values(text)
        inside = b'{"L":[' * 99 + b'{"BOOL":true}' + b"]}" * 99
        self.assertIn("a", sloop._native.change_values(b'{"Keys":{"a":' + inside + b"}}")["keys"])


class ChangeValues(unittest.TestCase):
    """What the parser keeps from one change to the next is never seen in another one's values."""

    def values(self, image):
        return sloop._native.change_values(json.dumps({"NewImage": image}).encode())["new"]

    def test_items_of_many_forms(self):
        import random
        rnd = random.Random(7)
        names = [f"n{i}" for i in range(60)] + ["", "x" * 40, "y" * 41, "\u00e4", 'quo"te']
        for _ in range(2000):
            chosen = rnd.sample(names, rnd.choice([1, 2, 3, 4, 12, 31, 32, 33, 60]))
            if rnd.random() < 0.5:
                chosen.sort()
            want = {name: rnd.randrange(10 ** rnd.randrange(1, 22)) for name in chosen}
            got = self.values({name: {"N": str(number)} for name, number in want.items()})
            self.assertEqual(list(got.items()), list(want.items()))
            got.clear()

    def test_a_name_twice(self):
        for _ in range(20):
            self.assertEqual(sloop._native.change_values(b'{"NewImage":{"a":{"N":"1"},"b":{"N":"2"},"a":{"N":"3"}}}')["new"],
                             {"a": 3, "b": 2})
            self.assertEqual(self.values({"a": {"N": "1"}, "b": {"N": "2"}, "c": {"N": "3"}}), {"a": 1, "b": 2, "c": 3})

    def test_numbers_are_exact_in_every_context(self):
        import decimal
        texts = ["0", "-0", "7", "-7", "007", "1.50", "-1e5", "9" * 18, "9" * 19, "-" + "9" * 18, "9" * 38, "1E-130",
                 "-9.9E+125", ".5", "+5", "123456789012345678.5"]
        with decimal.localcontext() as context:
            context.prec, context.Emax, context.traps[decimal.InvalidOperation] = 3, 10, False
            for text in texts * 2:
                self.assertEqual(repr(self.values({"a": {"N": text}})["a"]), repr(decimal.Decimal(text)), text)
            for bad in ("", "-", "1-", "x", "1.2.3", "--1", "12345678x"):
                with self.assertRaises(ValueError):
                    self.values({"a": {"N": bad}})

    def test_random_values_are_those_of_boto3_to_the_digit(self):
        try:
            from boto3.dynamodb.types import TypeDeserializer
        except ImportError:
            self.skipTest("boto3 is not installed")
        import random
        rnd, deserialize = random.Random(11), TypeDeserializer().deserialize

        def number():
            """Any number of DynamoDB: at most 38 digits, from 1E-130 to 9.9E+125, in any of its spellings."""
            digits = str(rnd.randrange(10 ** rnd.randrange(1, 39)))
            point = rnd.choice([None, None, rnd.randrange(len(digits) + 1)])
            text = digits if point is None else digits[:point] + "." + digits[point:]
            sign = rnd.choice(["", "", "-", "+"])
            return sign + text + rnd.choice(["", "", "", f"E{rnd.randrange(-90, 80)}", f"e+{rnd.randrange(80)}"])

        def exact(value):
            """With all that == does not see: types, and the digits and exponent of a Decimal."""
            if isinstance(value, Decimal):
                return value.as_tuple()
            if isinstance(value, dict):
                return dict, [(name, exact(one)) for name, one in value.items()]
            if isinstance(value, list):
                return list, [exact(one) for one in value]
            return (set, sorted(map(repr, value))) if isinstance(value, set) else (type(value), value)

        def value(depth):
            kind = rnd.choice(["S", "N", "N", "BOOL", "NULL", "NS", "L", "M"] if depth else ["S", "N"])
            return {kind: {"S": lambda: rnd.choice(["", "a", "\u20ac\"\\"]) * rnd.randrange(40), "N": number,
                           "BOOL": lambda: rnd.random() < 0.5, "NULL": lambda: True,
                           "NS": lambda: [number() for _ in range(3)],
                           "L": lambda: [value(depth - 1) for _ in range(rnd.randrange(4))],
                           "M": lambda: {f"n{i}": value(depth - 1) for i in range(rnd.randrange(5))}}[kind]()}

        numbers = 0
        for _ in range(3000):
            image = {f"a{i}": value(2) for i in range(rnd.randrange(1, 9))}
            want = {name: deserialize(one) for name, one in image.items()}
            self.assertEqual(exact(self.values(image)), exact(want), image)
            numbers += json.dumps(image).count('"N"')
        self.assertGreater(numbers, 5000)

    @unittest.skipIf(FREE_THREADED, COLLECTOR)
    def test_the_collector_while_numbers_are_made(self):
        import gc
        text = json.dumps({"NewImage": {f"a{i}": {"N": f"{i}.125"} for i in range(500)}}).encode()
        want, threshold, runs = sloop._native.change_values(text), gc.get_threshold(), []

        class Again:
            def __init__(self):
                self.me = self

            def __del__(self):
                runs.append(sloop._native.change_values(text) == want)

        try:
            gc.set_threshold(1)
            for _ in range(20):
                Again()
                self.assertEqual(sloop._native.change_values(text), want)
        finally:
            gc.set_threshold(*threshold)
        self.assertTrue(runs and all(runs))

    def test_base64_of_every_length(self):
        for size in range(70):
            data = bytes(range(200, 200 - size, -1))
            text = base64.b64encode(data).decode()
            self.assertEqual(self.values({"a": {"B": text}})["a"], data)
            slashes = '{"NewImage":{"a":{"B":"' + text.replace("/", "\\/") + '"}}}'
            self.assertEqual(sloop._native.change_values(slashes.encode())["new"]["a"], data)
        for bad in ("A", "AA", "AAA", "AA=A", "A===", "AAAAA==="):
            with self.assertRaises(ValueError):
                self.values({"a": {"B": bad}})


def decoded(value):
    """As botocore gives it: binaries are bytes already."""
    if isinstance(value, dict):
        return {k: base64.b64decode(v) if k == "B" and isinstance(v, str) else decoded(v) for k, v in value.items()}
    return [decoded(v) for v in value] if isinstance(value, list) else value


def random_item(seed):
    import random
    rnd = random.Random(seed)

    def value(depth):
        kind = rnd.choice(["S", "N", "B", "BOOL", "NULL", "SS", "NS", "L", "M"] if depth else ["S", "N", "B", "BOOL"])
        number = lambda: str(rnd.randrange(-10 ** 12, 10 ** 12) / rnd.choice([1, 3, 1000]))  # noqa: E731
        text = lambda: "".join(rnd.choice("ab\\\"/\n\u00e4\u20ac\U0001f60b ") for _ in range(rnd.randrange(1, 9)))  # noqa: E731
        return {kind: {
            "S": text, "N": number, "B": lambda: base64.b64encode(rnd.randbytes(rnd.randrange(1, 20))).decode(),
            "BOOL": lambda: rnd.random() < 0.5, "NULL": lambda: True, "SS": lambda: sorted({text() for _ in range(3)}),
            "NS": lambda: sorted({str(rnd.randrange(1000)) for _ in range(3)}),
            "L": lambda: [value(depth - 1) for _ in range(rnd.randrange(4))],
            "M": lambda: {text(): value(depth - 1) for _ in range(rnd.randrange(4))}}[kind]()}

    return {"id": {"S": str(seed)}, **{f"a{i}": value(3) for i in range(rnd.randrange(1, 8))}}


class open_temporary:
    """A file with a text, as a context."""

    def __init__(self, text):
        import tempfile
        self.folder = tempfile.TemporaryDirectory()
        self.path = self.folder.name + "/token"
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)

    def __enter__(self):
        return self.path

    def __exit__(self, *what):
        self.folder.cleanup()


if __name__ == "__main__":
    unittest.main()
