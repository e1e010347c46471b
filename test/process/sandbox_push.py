"""Enhanced fan-out of the sandbox, judged by boto3: consumers and their limits, subscriptions, how they end, their faults."""

import hashlib
import threading
import time

import botocore.exceptions
import urllib3
from botocore.eventstream import ChecksumMismatch

import harness
from harness import expect
from sandbox_box import Box, refused

TYPES = ("application/x-amz-json-1.1", "application/x-amz-cbor-1.1")


def arn_of(client, name):
    return client.describe_stream_summary(StreamName=name)["StreamDescriptionSummary"]["StreamARN"]


# How long a change takes where a test asks what is refused meanwhile: only its own clock, which the test moves, ends it.
CHANGE_MS = 60000


def active(client, stream_arn, name):
    deadline = time.monotonic() + 10
    while True:
        seen = client.describe_stream_consumer(StreamARN=stream_arn, ConsumerName=name)["ConsumerDescription"]
        if seen["ConsumerStatus"] == "ACTIVE":
            return seen["ConsumerARN"]
        expect(time.monotonic() < deadline, f"consumer {name} does not become ACTIVE")
        time.sleep(0.02)


def registered(client, stream, name="app"):
    arn = arn_of(client, stream)
    client.register_stream_consumer(StreamARN=arn, ConsumerName=name)
    return active(client, arn, name)


def subscribe(client, consumer, shard=0, kind="TRIM_HORIZON", **position):
    return client.subscribe_to_shard(ConsumerARN=consumer, ShardId=f"shardId-{shard:012}",
                                     StartingPosition={"Type": kind, **position})["EventStream"]


def events(stream):
    for event in stream:
        expect(list(event) == ["SubscribeToShardEvent"], f"an unexpected event {event!r}")
        yield event["SubscribeToShardEvent"]


def records_until(stream, n):
    """At least n records, and the last event."""
    got = []
    for event in events(stream):
        got += event["Records"]
        if len(got) >= n:
            return got, event
    raise harness.Failed(f"the subscription ended after {len(got)} of {n} records")


def put(client, stream, texts, key="k"):
    return [client.put_record(StreamName=stream, PartitionKey=key, Data=t)["SequenceNumber"] for t in texts]


# ---- consumers -----------------------------------------------------------------------------------------------------


def consumers():
    with Box("stream=s:1", "stream=other:1", f"change_ms={CHANGE_MS}") as box:
        client = box.client()
        arn = arn_of(client, "s")
        refused("ResourceNotFoundException", client.describe_stream_consumer, StreamARN=arn, ConsumerName="a")
        refused("ResourceNotFoundException", client.describe_stream_consumer, ConsumerARN=arn + "/consumer/a:1")
        refused("InvalidArgumentException", client.describe_stream_consumer, StreamARN=arn)
        refused("ValidationException", client.register_stream_consumer, StreamARN=arn, ConsumerName="no spaces")
        refused("ResourceNotFoundException", client.register_stream_consumer, StreamARN=arn + "x", ConsumerName="a")
        made = client.register_stream_consumer(StreamARN=arn, ConsumerName="a", Tags={"k": "v"})["Consumer"]
        expect(made["ConsumerName"] == "a" and made["ConsumerStatus"] == "CREATING", repr(made))
        expect(made["ConsumerARN"] == f"{arn}/consumer/a:{int(made['ConsumerCreationTimestamp'].timestamp())}", repr(made))
        refused("ResourceInUseException", client.register_stream_consumer, StreamARN=arn, ConsumerName="a")
        refused("ResourceInUseException", client.subscribe_to_shard, ConsumerARN=made["ConsumerARN"],
                ShardId="shardId-000000000000", StartingPosition={"Type": "LATEST"})
        box.move_clock(CHANGE_MS)
        expect(active(client, arn, "a") == made["ConsumerARN"], "another ARN")
        by_arn = client.describe_stream_consumer(ConsumerARN=made["ConsumerARN"])["ConsumerDescription"]
        expect(by_arn["StreamARN"] == arn and by_arn["ConsumerStatus"] == "ACTIVE", repr(by_arn))
        expect(client.describe_stream_summary(StreamName="s")["StreamDescriptionSummary"]["ConsumerCount"] == 1, "count")
        expect(client.list_stream_consumers(StreamARN=arn_of(client, "other"))["Consumers"] == [], "another stream's")
        refused("ResourceInUseException", client.delete_stream, StreamName="s")
        client.deregister_stream_consumer(StreamARN=arn, ConsumerName="a")
        gone = client.describe_stream_consumer(ConsumerARN=made["ConsumerARN"])["ConsumerDescription"]
        expect(gone["ConsumerStatus"] == "DELETING", repr(gone))
        refused("ResourceInUseException", client.register_stream_consumer, StreamARN=arn, ConsumerName="a")
        box.move_clock(CHANGE_MS)
        refused("ResourceNotFoundException", client.describe_stream_consumer, ConsumerARN=made["ConsumerARN"])
        again = client.register_stream_consumer(StreamARN=arn, ConsumerName="a")["Consumer"]
        expect(again["ConsumerARN"] != made["ConsumerARN"], "the ARN of a consumer that is gone came back")
        refused("ResourceNotFoundException", client.describe_stream_consumer, ConsumerARN=made["ConsumerARN"])


def limits():
    with Box("stream=s:1", f"change_ms={CHANGE_MS}", "consumer_limits=0") as box:
        client = box.client()
        arn = arn_of(client, "s")
        for n in range(20):
            if n % 5 == 0 and n:
                refused("LimitExceededException", client.register_stream_consumer, StreamARN=arn, ConsumerName="sixth")
                box.move_clock(CHANGE_MS)
                active(client, arn, f"c{n - 1}")
            client.register_stream_consumer(StreamARN=arn, ConsumerName=f"c{n}")
        box.move_clock(CHANGE_MS)
        active(client, arn, "c19")
        refused("LimitExceededException", client.register_stream_consumer, StreamARN=arn, ConsumerName="c20")
        names, token = [], {}
        while True:
            page = client.list_stream_consumers(StreamARN=arn, MaxResults=7, **token)
            names += [c["ConsumerName"] for c in page["Consumers"]]
            if "NextToken" not in page:
                break
            token = {"NextToken": page["NextToken"]}
        expect(names == [f"c{n}" for n in range(20)], repr(names))
        refused("InvalidArgumentException", client.list_stream_consumers, StreamARN=arn, NextToken="x")
        client.delete_stream(StreamName="s", EnforceConsumerDeletion=True)
    with Box("stream=s:1") as box:
        client, seen = box.client(), []
        arn = arn_of(client, "s")
        for _ in range(7):
            try:
                client.list_stream_consumers(StreamARN=arn)
            except client.exceptions.LimitExceededException:
                seen.append("slow down")
        expect(seen, "seven ListStreamConsumers calls within a second were all allowed")


def both_forms():
    """The same answers in CBOR, but SubscribeToShard, which speaks JSON only."""
    import sandbox_cbor
    with Box("stream=s:1", "change_ms=0", "consumer_limits=0") as box:
        box.form = "indefinite"
        client = box.client()
        consumer, arn = registered(client, "s"), arn_of(client, "s")
        sandbox_cbor.both(box, "DescribeStreamConsumer", {"ConsumerARN": consumer})
        sandbox_cbor.both(box, "ListStreamConsumers", {"StreamARN": arn})
        sandbox_cbor.both(box, "DescribeStreamConsumer", {"StreamARN": arn, "ConsumerName": "none"})
        sandbox_cbor.both(box, "RegisterStreamConsumer", {"StreamARN": arn, "ConsumerName": "app"})
        ask = {"ConsumerARN": consumer, "ShardId": "shardId-000000000000", "StartingPosition": {"Type": "LATEST"}}
        status, said = sandbox_cbor.post(box, "SubscribeToShard", sandbox_cbor.cbor2.dumps(ask), sandbox_cbor.CBOR)
        expect(status == 500, f"{status} {said!r}")


# ---- subscriptions -------------------------------------------------------------------------------------------------


def positions():
    with Box("stream=s:1", "change_ms=0", "resubscribe_ms=0", "consumer_limits=0") as box:
        client = box.client()
        consumer = registered(client, "s")
        texts = [b"%d" % n for n in range(10)]
        seqs = put(client, "s", texts)
        for kind, position, want in (("TRIM_HORIZON", {}, texts), ("AT_SEQUENCE_NUMBER", {"SequenceNumber": seqs[4]}, texts[4:]),
                                     ("AFTER_SEQUENCE_NUMBER", {"SequenceNumber": seqs[4]}, texts[5:]),
                                     ("AT_TIMESTAMP", {"Timestamp": time.time() - 3600}, texts)):
            got, event = records_until(subscribe(client, consumer, 0, kind, **position), len(want))
            expect([r["Data"] for r in got] == want, f"{kind}: {got!r}")
            expect(event["MillisBehindLatest"] == 0 and not event.get("ChildShards"), repr(event))
            expect(all(r["PartitionKey"] == "k" for r in got), repr(got))
        live = subscribe(client, consumer, 0, "LATEST")
        first = next(events(live))
        expect(first["Records"] == [], "records from before the subscription")
        put(client, "s", [b"new"])
        got, event = records_until(live, 1)
        expect([r["Data"] for r in got] == [b"new"], repr(got))
        # A continuation number can be gone on from, though no record has it, and it grows while nothing comes.
        put(client, "s", [b"newer"])
        for number in (first["ContinuationSequenceNumber"], event["ContinuationSequenceNumber"]):
            want = [b"new", b"newer"] if number == first["ContinuationSequenceNumber"] else [b"newer"]
            got, _ = records_until(subscribe(client, consumer, 0, "AFTER_SEQUENCE_NUMBER", SequenceNumber=number), len(want))
            expect([r["Data"] for r in got] == want, repr(got))
        for bad in ({"Type": "AT_SEQUENCE_NUMBER"}, {"Type": "LATEST", "SequenceNumber": seqs[0]},
                    {"Type": "AT_TIMESTAMP", "Timestamp": time.time() + 3600},
                    {"Type": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": "1"}):
            refused("InvalidArgumentException", client.subscribe_to_shard, ConsumerARN=consumer,
                    ShardId="shardId-000000000000", StartingPosition=bad)
        refused("ResourceNotFoundException", client.subscribe_to_shard, ConsumerARN=consumer, ShardId="shardId-000000000009",
                StartingPosition={"Type": "LATEST"})
        refused("ResourceNotFoundException", client.subscribe_to_shard, ConsumerARN=consumer[:-1], ShardId="shardId-000000000000",
                StartingPosition={"Type": "LATEST"})


def idle_events_and_the_end():
    with Box("stream=s:1", "change_ms=0", "idle_event_ms=100", "subscription_ms=1000", "resubscribe_ms=0", "consumer_limits=0") as box:
        client = box.client()
        consumer = registered(client, "s")
        begun = time.monotonic()
        seen = list(events(subscribe(client, consumer, 0, "LATEST")))
        took = time.monotonic() - begun
        expect(0.9 < took < 3, f"a subscription of a second took {took:.3f} s")
        expect(5 <= len(seen) <= 12 and not any(e["Records"] for e in seen), f"{len(seen)} events")
        numbers = [int(e["ContinuationSequenceNumber"]) for e in seen]
        expect(numbers == sorted(numbers), "continuation numbers went back")


def latency():
    """A record comes at once, not with the next idle event."""
    with Box("stream=s:1", "change_ms=0") as box:
        client, writer = box.client(), box.client()
        live = events(subscribe(client, registered(client, "s"), 0, "LATEST"))
        next(live)
        waits = []
        for n in range(50):
            put(writer, "s", [b"%d" % n])
            begun = time.monotonic()
            while not next(live)["Records"]:
                pass
            waits.append(time.monotonic() - begun)
        waits.sort()
        print(f"pushed after: median {waits[25] * 1e3:.2f} ms, most {waits[-1] * 1e3:.2f} ms")
        expect(waits[25] < 0.1, "a record waits")


def takeover():
    with Box("stream=s:1", "change_ms=0", "resubscribe_ms=700", "consumer_limits=0") as box:
        client = box.client()
        consumer = registered(client, "s")
        old = subscribe(client, consumer, 0, "LATEST")
        expect(next(events(old))["Records"] == [], "records")
        refused("ResourceInUseException", client.subscribe_to_shard, ConsumerARN=consumer, ShardId="shardId-000000000000",
                StartingPosition={"Type": "LATEST"})
        time.sleep(0.8)
        new = subscribe(client, consumer, 0, "LATEST")
        try:
            list(old)
            raise harness.Failed("the old subscription ended without a word")
        except botocore.exceptions.EventStreamError as error:
            expect(error.response["Error"]["Code"] == "ResourceInUseException", str(error))
        put(client, "s", [b"x"])
        got, _ = records_until(new, 1)
        expect(got[0]["Data"] == b"x", repr(got))
        # Another consumer and another shard are not in the way.
        other = registered(client, "s", "other")
        next(events(subscribe(client, other, 0, "LATEST")))
    with Box("stream=s:1", "change_ms=0", "resubscribe_ms=0") as box:
        client = box.client()
        consumer = registered(client, "s")
        subscribe(client, consumer)
        refused("LimitExceededException", client.subscribe_to_shard, ConsumerARN=consumer, ShardId="shardId-000000000000",
                StartingPosition={"Type": "LATEST"})


def reshards():
    """Every record once, children after their parents, at each shard's end its children."""
    with Box("stream=s:2", "change_ms=0") as box:
        client = box.client()
        consumer, put_n, seen, lock = registered(client, "s"), 0, {}, threading.Lock()

        def read(shard, threads):
            try:
                read_on(shard, threads)
            except urllib3.exceptions.ProtocolError:
                pass  # the sandbox ended

        def read_on(shard, threads):
            for event in events(subscribe(client, consumer, shard)):
                with lock:
                    for r in event["Records"]:
                        expect(r["Data"] not in seen, f"{r['Data']} came twice")
                        seen[r["Data"]] = shard
                if event.get("ChildShards"):
                    expect("ContinuationSequenceNumber" not in event, repr(event))
                    for child in event["ChildShards"]:
                        expect(child["ParentShards"] and child["HashKeyRange"], repr(child))
                        number = int(child["ShardId"][-12:])
                        if f"shardId-{shard:012}" == max(child["ParentShards"]):
                            begin(number, threads)
                    return

        def begin(shard, threads):
            thread = threading.Thread(target=read, args=(shard, threads), daemon=True)
            with lock:
                threads.append(thread)
            thread.start()

        threads = []
        begin(0, threads)
        begin(1, threads)
        for step in range(3):
            for _ in range(100):
                key = hashlib.sha1(b"%d" % put_n).hexdigest()
                put(client, "s", [b"%d" % put_n], key)
                put_n += 1
            if step == 0:
                box.order("POST", "split?stream=s&shard=shardId-000000000000")
            elif step == 1:
                box.order("POST", "merge?stream=s&shard=shardId-000000000002&adjacent=shardId-000000000003")
        deadline = time.monotonic() + 20
        while len(seen) < put_n:
            expect(time.monotonic() < deadline, f"{len(seen)} of {put_n} records, from shards {sorted(set(seen.values()))}")
            time.sleep(0.01)
        expect({0, 1} < set(seen.values()), repr(set(seen.values())))


def limit_of_bytes():
    with Box("stream=s:1", "change_ms=0", "push_bytes_per_second=1000000") as box:
        client = box.client()
        put(client, "s", [b"x" * 100000] * 40)
        begun = time.monotonic()
        records_until(subscribe(client, registered(client, "s")), 40)
        took = time.monotonic() - begun
        expect(2.5 < took < 12, f"4 MB at 1 MB a second came within {took:.2f} s")
        return f"4 MB at 1 MB a second: {took:.2f} s"


def deregistered():
    with Box("stream=s:1", "change_ms=0") as box:
        client = box.client()
        consumer = registered(client, "s")
        stream = subscribe(client, consumer, 0, "LATEST")
        next(events(stream))
        client.deregister_stream_consumer(ConsumerARN=consumer)
        try:
            list(stream)
            raise harness.Failed("the subscription of a deregistered consumer ended without a word")
        except botocore.exceptions.EventStreamError as error:
            expect(error.response["Error"]["Code"] == "ResourceNotFoundException", str(error))


# ---- faults --------------------------------------------------------------------------------------------------------


def ends_with(box, client, consumer, script, what):
    box.faults(script)
    stream = subscribe(client, consumer)
    try:
        got = [r["Data"] for e in events(stream) for r in e["Records"]]
    except Exception as error:  # each has a class of its own
        expect(what in f"{type(error).__name__} {error}", f"{script}: {type(error).__name__} {error}")
        return
    raise harness.Failed(f"{script}: {got}")


def faults():
    with Box("stream=s:1", "change_ms=0", "resubscribe_ms=0", "consumer_limits=0", "idle_event_ms=100", "subscription_ms=2000") as box:
        client = box.client()
        consumer = registered(client, "s")
        put(client, "s", [b"a", b"b"])
        ends_with(box, client, consumer, "1 SubscribeToShardEvent * error KMSThrottlingException:400:too fast",
                  "KMSThrottlingException")
        ends_with(box, client, consumer, "1 SubscribeToShardEvent * error-in-header InternalError:500:broken", "InternalError")
        ends_with(box, client, consumer, "1 SubscribeToShardEvent * bad-crc", ChecksumMismatch.__name__)
        ends_with(box, client, consumer, "1 SubscribeToShardEvent * cut 40", "ended prematurely")
        ends_with(box, client, consumer, "1 SubscribeToShardEvent 0 drop", "ended prematurely")
        box.faults("1 SubscribeToShard * no-initial-response")
        refused_first = False
        try:
            subscribe(client, consumer)
        except Exception as error:
            refused_first = "initial-response" in str(error)
        expect(refused_first, "boto3 took a stream without an initial response")
        refused_with = {"1 SubscribeToShard * error LimitExceededException": "LimitExceededException"}
        for script, code in refused_with.items():
            box.faults(script)
            refused(code, client.subscribe_to_shard, ConsumerARN=consumer, ShardId="shardId-000000000000",
                    StartingPosition={"Type": "LATEST"})
        box.faults("1 SubscribeToShardEvent * unknown-event")
        used = box.stats()["faults_used"]
        got, _ = records_until(subscribe(client, consumer), 2)  # boto3 passes over an event that it does not know
        expect([r["Data"] for r in got] == [b"a", b"b"] and box.stats()["faults_used"] == used + 1, repr(got))
        box.faults("1 SubscribeToShardEvent * silence")
        begun = time.monotonic()
        quiet = box.client()
        quiet.meta.config.read_timeout = 2
        stream = subscribe(quiet, consumer)
        stream._raw_stream._fp.fp.raw._sock.settimeout(1)
        try:
            list(stream)
            raise harness.Failed("a silent subscription said something")
        except Exception as error:
            expect("time" in f"{type(error).__name__} {error}".lower(), f"{type(error).__name__} {error}")
        expect(time.monotonic() - begun > 0.9, "silence was short")
        status, _, text = box.request("POST", "/_sandbox/faults", b"1 SubscribeToShardEvents * drop")
        expect(status == 400, repr(text))
        box.order("DELETE", "faults")


if __name__ == "__main__":
    tests = harness.Tests()
    for test in (consumers, limits, both_forms, positions, idle_events_and_the_end, latency, takeover, reshards, limit_of_bytes,
                 deregistered, faults):
        tests.run(test.__name__.replace("_", " "), test)
    tests.end()
