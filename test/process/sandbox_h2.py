"""The sandbox by HTTP/2 in the clear with prior knowledge, judged by curl (nghttp2), by the package h2, and by what boto3 reads
by HTTP/1.1. Most cases end with a look at what the sandbox still has: memory, descriptors, and that it answers.
SLOOP_TEST_FULL=1 keeps a subscription for five minutes."""

import base64
import json
import os
import random
import socket
import struct
import subprocess
import time

import botocore.auth
import botocore.awsrequest
import botocore.credentials
from botocore.eventstream import EventStreamBuffer

import cpu_waits
import harness
import sandbox_push
from harness import Tests, expect
from sandbox_box import Box

try:
    import h2_client
except ImportError:
    raise SystemExit(77) from None

MIB = 1 << 20
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
KEPT_KIB = 8192  # what an allocator keeps for itself after it had much


def speaks(url):
    """Has the build nghttp2?"""
    done = subprocess.run(["curl", "-s", "--http2-prior-knowledge", "-o", os.devnull, "-w", "%{http_version}", url],
                          stdout=subprocess.PIPE, check=False)
    return done.stdout == b"2"


def kib(box, what="VmRSS"):
    with open(f"/proc/{box.process.pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(what))


def descriptors(box):
    return len(os.listdir(f"/proc/{box.process.pid}/fd"))


class Bounds:
    """The sandbox must come back to as many descriptors, and never take more than so much memory beside what it had."""

    def __init__(self, box, more_mib, after_mib=None):
        self.box, self.more_mib = box, more_mib
        self.after_mib = more_mib if after_mib is None else after_mib

    def __enter__(self):
        with h2_client.Client(self.box.url) as client:  # what a first connection takes
            client.call("ListStreams", {})
        harness.wait_until(lambda: self.settled() is not None, 5, "the first connection to go")
        with open(f"/proc/{self.box.process.pid}/clear_refs", "w", encoding="ascii") as f:
            f.write("5")  # the peak begins anew
        self.fds, self.kib, self.peak = descriptors(self.box), kib(self.box), 0
        if kib(self.box, "VmSize") > 1 << 30:  # AddressSanitizer keeps what was freed
            self.more_mib, self.after_mib = 4096, 4096
        return self

    def settled(self):
        n = descriptors(self.box)
        time.sleep(0.05)
        return n if n == descriptors(self.box) else None

    def look(self):
        self.peak = kib(self.box, "VmHWM")
        expect(self.peak - self.kib <= self.more_mib << 10, f"it takes {self.peak - self.kib} KiB more")

    def __exit__(self, kind, *exception):
        if kind:
            return
        self.look()
        harness.wait_until(lambda: descriptors(self.box) == self.fds, 10,
                           f"descriptors to come back to {self.fds}; there are {descriptors(self.box)}")
        with h2_client.Client(self.box.url) as client:
            client.call("ListStreams", {})
        now = kib(self.box)
        expect(now - self.kib <= (self.after_mib << 10) + KEPT_KIB, f"it keeps {now - self.kib} KiB")

    def __str__(self):
        self.look()
        return f"at most {(self.peak - self.kib) / 1024:.1f} MiB more, {self.fds} descriptors before and after"


def put_body(stream, n, size, key="k"):
    data = base64.b64encode(os.urandom(size)).decode()
    return {"StreamName": stream, "Records": [{"Data": data, "PartitionKey": f"{key}{i}"} for i in range(n)]}


def iterator(client, stream, shard=0, kind="TRIM_HORIZON"):
    return client.call("GetShardIterator", {"StreamName": stream, "ShardId": f"shardId-{shard:012}",
                                            "ShardIteratorType": kind})["ShardIterator"]


def by_curl():
    """curl puts and reads; boto3 reads the same by HTTP/1.1 from the same port."""
    with Box("stream=s:1") as box:
        def curl(operation, body):
            done = subprocess.run(["curl", "-sS", "--http2-prior-knowledge", "-H", f"Content-Type: {h2_client.TYPE}", "-H",
                                   f"X-Amz-Target: Kinesis_20131202.{operation}", "--data-binary", "@-", "-w",
                                   "\n%{http_version} %{http_code}", box.url], input=json.dumps(body).encode(),
                                  stdout=subprocess.PIPE, check=True)
            text, _, end = done.stdout.rpartition(b"\n")
            expect(end == b"2 200", f"{operation}: {end} {text[:300]}")
            return json.loads(text)

        for i in range(20):
            curl("PutRecords", put_body("s", 500, 50, f"{i}."))
        got, it = [], curl("GetShardIterator", {"StreamName": "s", "ShardId": "shardId-000000000000",
                                                "ShardIteratorType": "TRIM_HORIZON"})["ShardIterator"]
        while len(got) < 10000:
            page = curl("GetRecords", {"ShardIterator": it})
            got += [record["SequenceNumber"] for record in page["Records"]]
            it = page["NextShardIterator"]
        expect(sorted(seq for _, seq in harness.read_all(box.client(), "s")) == sorted(map(int, got)), "boto3 reads others")
        head = subprocess.run(["curl", "-sI", "--http2-prior-knowledge", box.url], stdout=subprocess.PIPE, check=True).stdout
        expect(head.startswith(b"HTTP/2 404") and b"content-length: " in head.lower(), f"HEAD: {head}")
        old = subprocess.run(["curl", "-sI", "--http2", box.url], stdout=subprocess.PIPE, check=True).stdout
        expect(old.startswith(b"HTTP/1.1 404"), f"Upgrade: h2c is not taken, and may be ignored: {old}")
        return f"{len(got)} records put and read"


def signed():
    """A signature over `host` holds where the name comes as :authority."""
    with Box("stream=s:1", "access_key=AKID", "secret_key=secret") as box, h2_client.Client(box.url) as client:
        for secret, status in (("secret", 200), ("wrong", 400)):
            body = b"{}"
            rq = botocore.awsrequest.AWSRequest("POST", box.url + "/", data=body, headers={
                "Content-Type": h2_client.TYPE, "X-Amz-Target": "Kinesis_20131202.ListStreams"})
            botocore.auth.SigV4Auth(botocore.credentials.Credentials("AKID", secret), "kinesis", "us-east-1").add_auth(rq)
            seen, _, text = client.answer(client.begin([(name.lower(), value) for name, value in rq.headers.items()], body=body))
            expect(seen == status and (status == 200 or b"InvalidSignatureException" in text), f"{secret}: {seen} {text!r}")


def large():
    """Ten records of one MiB in a call, read back in one answer; both ways byte for byte as boto3 has them."""
    with Box("stream=s:1") as box, Bounds(box, 120) as bounds, h2_client.Client(box.url) as client:
        put = put_body("s", 10, MIB - 10)
        expect(client.call("PutRecords", put)["FailedRecordCount"] == 0, "records failed")
        it = iterator(client, "s")
        page = client.call("GetRecords", {"ShardIterator": it})
        expect([record["Data"] for record in page["Records"]] == [record["Data"] for record in put["Records"]], "other data")
        seen = box.client().get_records(ShardIterator=it)["Records"]
        expect([base64.b64encode(record["Data"]).decode() for record in seen] == [r["Data"] for r in put["Records"]],
               "boto3 reads other data")
        # Beyond what is taken: before the body, in its middle, and in the head.
        for headers, body, status in (([("content-length", str(17 * MIB))], b"x" * MIB, 413), ([], b"x" * (17 * MIB), 413),
                                      ([(f"x-{i}", "y" * 500) for i in range(63)], b"", 431)):
            got = client.answer(client.begin(headers, body=body, end=False))
            expect(got[0] == status, f"{got} instead of {status}")
        expect(client.call("ListStreams", {})["StreamNames"] == ["s"], "the connection is of no use after a refusal")
        return str(bounds)


def hundred():
    """100 calls of half a second each on one connection take no 50 seconds, and the answers are each its own."""
    with Box("stream=s:4") as box, Bounds(box, 16) as bounds, h2_client.Client(box.url) as client:
        box.faults("100 PutRecord * delay 500\n")
        watch = cpu_waits.Stopwatch()
        ids = [client.send("PutRecord", {"StreamName": "s", "PartitionKey": str(i), "Data": base64.b64encode(b"%d" % i).decode()})
               for i in range(100)]
        client.until(lambda: all(client.done(i) for i in ids))
        took = watch.own()
        answers = [json.loads(client.answer(i)[2]) for i in ids]
        expect(took < 10, f"they took {took:.1f} s: one after the other")
        put = harness.read_all(box.client(), "s")
        for i, answer in enumerate(answers):
            seen = put[(answer["ShardId"], int(answer["SequenceNumber"]))]
            expect(seen == (str(i), b"%d" % i), f"call {i} has the answer of {seen}")
        expect(len(put) == 100, "boto3 reads others")
        return f"{took:.1f} s, {bounds}"


def too_many():
    """More streams than the settings allow are refused so that they may be tried again, or end the connection."""
    with Box("stream=s:1") as box, Bounds(box, 16), h2_client.Client(box.url) as client:
        client.call("ListStreams", {})
        most = client.h2.remote_settings.max_concurrent_streams
        box.faults(f"{most + 10} ListStreams * delay 1000\n")
        client.h2.remote_settings.update({3: 10000})  # as one who does not listen
        client.h2.remote_settings.acknowledge()
        for _ in range(most + 10):
            client.send("ListStreams", {})
        try:
            client.until(lambda: all(map(client.done, client.streams)), 20)
        except harness.Failed:
            expect(client.went_away is not None, "neither refused nor told to go")
            return f"{most} at once; beyond, the connection ends with error {client.went_away.error_code}"
        refused = sum(stream.reset == 7 for stream in client.streams.values())
        expect(refused == 10, f"{refused} were refused, {most} is the limit")
        return f"{most} at once, 10 refused"


def slow_reader():
    """40 answers of ten MiB that nobody reads take a bounded share of memory, others are served, and all come whole at last."""
    with Box("stream=s:1") as box:
        with h2_client.Client(box.url) as client:
            put = put_body("s", 10, MIB - 10)
            client.call("PutRecords", put)
            it = iterator(client, "s")
        # Four answers of 13.3 MiB in buffers that have doubled, one of them being copied; all 40 would be 533 MiB.
        with Bounds(box, 160) as bounds, h2_client.Client(box.url, greedy=False, receive_buffer=65536) as client:
            ids = [client.send("GetRecords", {"ShardIterator": it}) for _ in range(40)]
            for _ in range(40):
                bounds.look()
                time.sleep(0.025)
            with h2_client.Client(box.url) as other:
                expect(other.call("ListStreams", {})["StreamNames"] == ["s"], "others are not served")
            asked = box.stats()["operations"]["GetRecords"]["calls"]
            expect(asked < 40, "all 40 were answered ahead of the reader")
            client.open_window()
            for i in ids:
                status, _, body = client.answer(i)
                expect(status == 200 and [record["Data"] for record in json.loads(body)["Records"]]
                       == [record["Data"] for record in put["Records"]], "an answer is not whole")
                client.streams[i].body.clear()
                bounds.look()
            return f"{asked} of 40 answered before any was read, {bounds}"


class Events:
    """The events of a subscription, as botocore takes them off its stream."""

    def __init__(self, stream):
        self.stream, self.buffer, self.at, self.records = stream, EventStreamBuffer(), 0, 0

    def count(self):
        """How many records came so far."""
        self.buffer.add_data(bytes(self.stream.body[self.at:]))
        self.at = len(self.stream.body)
        for event in self.buffer:
            if event.to_response_dict()["headers"].get(":event-type") == "SubscribeToShardEvent":
                self.records += len(json.loads(event.payload)["Records"])
        return self.records


def subscribed(client, consumer, shard=0, kind="TRIM_HORIZON"):
    return client.send("SubscribeToShard", {"ConsumerARN": consumer, "ShardId": f"shardId-{shard:012}",
                                            "StartingPosition": {"Type": kind}})


def subscriptions():
    """Four on one connection, beside calls; one whose window stays shut holds nobody up and costs little."""
    with Box("stream=s:4", "change_ms=50", "push_bytes_per_second=0") as box:
        consumer = sandbox_push.registered(box.client(), "s")
        with Bounds(box, 160) as bounds, h2_client.Client(box.url, greedy=False) as client, h2_client.Client(box.url) as puts:
            ids = [subscribed(client, consumer, shard) for shard in range(4)]
            client.until(lambda: all(client.streams[i].status for i in ids))
            expect(all(client.streams[i].headers["content-type"] == "application/vnd.amazon.eventstream" for i in ids), "type")
            n = 0
            for i in range(60):  # 30 MiB for 128 KiB of windows
                puts.call("PutRecords", put_body("s", 10, 50000, f"{i}."))
                n += 10
                bounds.look()
            before = sum(len(client.streams[i].body) for i in ids)
            while True:
                try:
                    client.read(0.5)
                except TimeoutError:
                    break
            came = sum(len(client.streams[i].body) for i in ids)
            expect(came <= 70000, f"{before} and {came} bytes came through a window of 65535")
            # No data fits into the window of the connection: an answer without a body does.
            other = client.begin([], method="HEAD")
            client.until(lambda: client.done(other))
            expect(client.streams[other].status == 404, "no answer beside the subscriptions")
            client.open_window()
            events = [Events(client.streams[i]) for i in ids]
            client.until(lambda: sum(e.count() for e in events) == n, 60, f"{n} records")
            # One leaves: its subscription ends at once, the others go on.
            client.reset(ids[0])
            puts.call("PutRecords", put_body("s", 40, 1000, "later"))
            seen = {record["ShardId"] for record in puts.call("PutRecords", put_body("s", 40, 1000, "again"))["Records"]}
            lengths = [len(client.streams[i].body) for i in ids]
            client.until(lambda: all(len(client.streams[i].body) > length for i, length in zip(ids[1:], lengths[1:])), 20, "more")
            expect(len(seen) == 4 and client.streams[ids[0]].reset is None, "shards")
            return f"{n} records, {bounds}"


def lasting():
    """A subscription for its whole life beside calls on the same connection."""
    ms = 300000 if os.environ.get("SLOOP_TEST_FULL") == "1" else 4000
    with Box("stream=s:1", "change_ms=50", f"subscription_ms={ms}", "idle_event_ms=1000") as box:
        consumer = sandbox_push.registered(box.client(), "s")
        with Bounds(box, 16) as bounds, h2_client.Client(box.url) as client:
            began, calls = time.monotonic(), 0
            i = subscribed(client, consumer)
            while not client.done(i):
                client.call("PutRecord", {"StreamName": "s", "PartitionKey": "k", "Data": "eHh4"})
                calls += 1
                time.sleep(0.05)
                bounds.look()
            took = time.monotonic() - began
            expect(client.streams[i].ended and took > ms / 1000 - 0.5, f"it ended after {took:.1f} s")
            got = Events(client.streams[i]).count()
            expect(calls - 3 <= got <= calls, f"{got} of {calls} records")
            return f"{took:.1f} s, {got} records, {calls} calls beside it, {bounds}"


def cut_connections():
    """Peers that leave in the middle of everything, 30 times."""
    with Box("stream=s:4", "change_ms=50", "resubscribe_ms=0") as box:
        client = box.client()
        sandbox_push.put(client, "s", [b"x" * 100000] * 20)
        consumers = [sandbox_push.registered(client, "s", f"c{i}") for i in range(5)]
        with Bounds(box, 64, 16) as bounds:
            for n in range(30):
                box.faults("20 ListStreams * delay 20000\n")
                cut = h2_client.Client(box.url, greedy=n % 2 == 0)
                for i in range(20):
                    cut.send("ListStreams", {})
                for consumer in consumers:
                    cut.send("SubscribeToShard", {"ConsumerARN": consumer, "ShardId": f"shardId-{n % 4:012}",
                                                  "StartingPosition": {"Type": "TRIM_HORIZON"}})
                half = cut.begin([("content-length", "2000000")], body=b"x" * 50000, end=False)
                if n % 3 == 0:
                    for i in list(cut.streams):
                        if i != half:
                            cut.reset(i)
                cut.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", int(n % 5 > 0), 0))  # RST, or FIN
                cut.socket.close()
                bounds.look()
                box.faults("")
            return str(bounds)


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def until_closed(s, seconds=10):
    """Everything up to the end of the connection."""
    s.settimeout(seconds)
    got = b""
    try:
        while data := s.recv(1 << 16):
            got += data
    except ConnectionResetError:
        pass
    return got


def goaways(data):
    """The error codes of the GOAWAYs among frames."""
    at, codes = 0, []
    while at + 9 <= len(data):
        n = int.from_bytes(data[at:at + 3], "big")
        if data[at + 3] == 7:
            codes.append(int.from_bytes(data[at + 13:at + 17], "big"))
        at += 9 + n
    return codes


def talk(box, data):
    """Says all that, as far as it is taken. Returns what came until the connection was closed."""
    with socket.create_connection((box.address.split(":")[0], int(box.address.split(":")[1]))) as s:
        try:
            s.sendall(PREFACE + data)
        except OSError:
            pass
        return until_closed(s)


def junk():
    """What is no HTTP/2 behind the preface ends the connection with GOAWAY, and costs nothing."""
    settings = frame(4, 0, 0, b"")
    known = {  # name: bytes, error code of RFC 9113 section 7
        "no SETTINGS": (frame(6, 0, 0, b"12345678"), 1),
        "HTTP/1.1 behind it": (b"POST / HTTP/1.1\r\nHost: x\r\n\r\n", None),
        "DATA on stream 0": (settings + frame(0, 0, 0, b"x"), 1),
        "an even stream": (settings + frame(1, 5, 2, b"\x82\x84\x86"), 1),
        "a frame too large": (settings + b"\xff\xff\xff\x00\x00\x00\x00\x00\x01", 6),
        "bad HPACK": (settings + frame(1, 5, 1, b"\xff\xff\xff\xff\xff\xff\xff\xff"), 9),
        "a window too large": (settings + frame(8, 0, 0, b"\x7f\xff\xff\xff"), 3),
        "PING of 7 bytes": (settings + frame(6, 0, 0, b"1234567"), 6),
        "CONTINUATION alone": (settings + frame(9, 4, 1, b"\x82"), 1),
        "PUSH_PROMISE": (settings + frame(5, 4, 1, b"\x00\x00\x00\x02\x82"), 1),
    }
    with Box("stream=s:1") as box, Bounds(box, 24) as bounds:
        for name, (data, code) in known.items():
            codes = goaways(talk(box, data))
            expect(codes and (code is None or codes[-1] == code), f"{name}: GOAWAY {codes} instead of {code}")
        random.seed(7)
        ended = 0
        for _ in range(200):
            data = settings + b"".join(frame(random.randrange(11), random.randrange(256), random.choice((0, 1, 3, 5, 1 << 30)),
                                             random.randbytes(random.randrange(64))) for _ in range(20))
            with socket.create_connection(tuple(box.address.split(":"))) as s:
                s.sendall(PREFACE + data + random.randbytes(100))
                s.shutdown(socket.SHUT_WR)
                ended += bool(goaways(until_closed(s)))
            bounds.look()
        return f"{len(known)} kinds, {ended} of 200 random ones ended by GOAWAY, {bounds}"


def floods():
    """What costs the peer nothing and a server much."""
    settings = frame(4, 0, 0, b"")
    get = b"\x82\x84\x86"  # GET / http
    headers = [frame(1, 5, 2 * i + 1, get) + frame(3, 0, 2 * i + 1, b"\0\0\0\x08") for i in range(20000)]
    # A field of 4000 bytes goes into the table and is then named by one byte, 16000 times in a frame.
    bomb = frame(1, 1, 1, get + b"\x40\x01a\x7f" + bytes([0x80 | (4000 - 127) & 0x7f, (4000 - 127) >> 7]) + b"b" * 4000) + \
        frame(9, 4, 1, b"\xbe" * 16000)
    kinds = {
        "PING": settings + frame(6, 0, 0, b"12345678") * 200000,
        "SETTINGS": settings * 200000,
        "requests reset at once": settings + b"".join(headers),
        "CONTINUATION": settings + frame(1, 1, 1, get) + frame(9, 0, 1, b"") * 100000,
        "empty DATA": settings + frame(1, 4, 1, get) + frame(0, 0, 1, b"") * 100000,
        "WINDOW_UPDATE": settings + frame(8, 0, 0, b"\0\0\0\x01") * 200000,
        "PRIORITY": settings + b"".join(frame(2, 0, 2 * i + 1, b"\0\0\0\0\x10") for i in range(100000)),
        "HPACK": settings + bomb * 1,
    }
    ends = ("requests reset at once", "CONTINUATION")
    with Box("stream=s:1") as box:
        says = []
        for name, data in kinds.items():
            with Bounds(box, 24) as bounds:
                host, port = box.address.split(":")
                with socket.socket() as s:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                    s.connect((host, int(port)))
                    s.settimeout(1)
                    sent = 0
                    data = PREFACE + data
                    try:  # nobody reads meanwhile
                        while sent < len(data):
                            sent += s.send(data[sent:sent + 65536])
                    except OSError:
                        pass
                    bounds.look()
                    began = time.monotonic()
                    with h2_client.Client(box.url) as other:
                        other.call("ListStreams", {})
                    expect(time.monotonic() - began < 3, f"{name}: another one waited {time.monotonic() - began:.1f} s")
                    try:
                        codes = goaways(until_closed(s, 2))
                    except TimeoutError:
                        codes = None
                expect(name not in ends or codes is not None, f"{name}: the connection goes on")
            says.append(f"{name} {'goes on' if codes is None else f'ends, GOAWAY {codes}'}")
        return "; ".join(says)


def many_large():
    """Requests that never end: together they take what the limit of all requests gives, and one beyond is refused."""
    with Box("stream=s:1") as box, Bounds(box, 420, 32) as bounds:
        clients, refused = [], 0
        for n in range(30):
            client = h2_client.Client(box.url)
            clients.append(client)
            i = client.begin([], body=b"x" * (15 * MIB), end=False)
            try:
                client.read(0.2)
            except TimeoutError:
                pass
            refused += client.streams[i].status == 503
            bounds.look()
        expect(5 < refused < 25, f"{refused} of 30 were refused")
        with h2_client.Client(box.url) as other:
            other.call("ListStreams", {})
        for client in clients:
            client.socket.close()
        return f"{refused} of 30 requests of 15 MiB refused, {bounds}"


def faults():
    """The fault script acts as by HTTP/1.1."""
    with Box("stream=s:1") as box, Bounds(box, 16):
        one = {"StreamName": "s", "PartitionKey": "k", "Data": "eHh4"}
        for script, check in (
                ("error InternalFailure", lambda got: got[0] == 500 and b"InternalFailure" in got[2]),
                ("error-in-header Foo:404", lambda got: got[0] == 404 and got[1]["x-amzn-errortype"] == "Foo" and not got[2]),
                ("status 503", lambda got: got[0] == 503 and got[2] == b""),
                ("html", lambda got: got[1]["content-type"] == "text/html"),
                ("gzip", lambda got: got[1]["content-encoding"] == "gzip" and got[2][:2] == b"\x1f\x8b"),
                ("throttle", lambda got: b"ProvisionedThroughputExceeded" in got[2])):
            with h2_client.Client(box.url) as client:
                box.faults(f"1 PutRecord * {script}\n")
                got = client.answer(client.send("PutRecord", one))
                expect(check(got), f"{script}: {got}")
        whole = None
        for script, n in (("drop", 0), ("cut 0", 0), ("cut 7", 7), ("cut 100000", None)):
            with h2_client.Client(box.url) as client:
                if whole is None:
                    whole = len(client.answer(client.send("PutRecord", one))[2])
                box.faults(f"1 PutRecord * {script}\n")
                i = client.send("PutRecord", one)
                client.until_over()
                seen = client.streams[i]
                expect(len(seen.body) == (whole if n is None else n) and seen.ended == (n is None) and
                       (seen.status is None) == (n == 0), f"{script}: {seen.status} {seen.body!r} {seen.ended}")
        consumer = sandbox_push.registered(box.client(), "s")
        for script, least in (("cut 10", 10), ("drop", 0)):
            with h2_client.Client(box.url) as client:
                i = subscribed(client, consumer)
                client.until(lambda: b"initial-response" in client.streams[i].body)
                first = len(client.streams[i].body)
                box.faults(f"1 SubscribeToShardEvent * {script}\n")
                client.until_over()
                box.move_clock(6000)
                expect(not client.streams[i].ended, f"{script}: the subscription ended in order")
                expect(script == "drop" or len(client.streams[i].body) >= first, f"{script}: {least}")


def shut_down():
    """GOAWAY without an error, to one who waits for an answer, too, and the sandbox leaves nothing behind."""
    box = Box("stream=s:1", "change_ms=50")
    with box:
        consumer = sandbox_push.registered(box.client(), "s")
        clients = [h2_client.Client(box.url) for _ in range(3)]
        clients[0].call("ListStreams", {})
        box.faults("1 ListStreams * delay 60000\n")
        clients[1].send("ListStreams", {})
        i = subscribed(clients[2], consumer)
        clients[2].until(lambda: clients[2].streams[i].body)
        time.sleep(0.1)
    for client in clients:
        client.until_over()
        expect(client.went_away is not None and client.went_away.error_code == 0, f"no GOAWAY: {client.went_away}")


def pieces():
    """A preface in pieces is one; what only begins like it is HTTP/1.1, answered as without HTTP/2."""
    with Box("stream=s:1") as box, Bounds(box, 16):
        host, port = box.address.split(":")
        with socket.create_connection((host, int(port))) as s:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in PREFACE + frame(4, 0, 0, b"") + frame(6, 0, 0, b"12345678"):
                s.sendall(bytes([byte]))
                time.sleep(0.002)
            s.settimeout(5)
            got = b""
            while frame(6, 1, 0, b"12345678") not in got:
                got += s.recv(65536)
        for text, status in ((b"PRI * HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 404"),
                             (b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", b"HTTP/1.1 505"),
                             (b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.1 404"),
                             (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + PREFACE, b"HTTP/1.1 404")):
            with socket.create_connection((host, int(port))) as s:
                s.sendall(text)
                s.shutdown(socket.SHUT_WR)
                got = until_closed(s)
                expect(got.startswith(status), f"{text!r}: {got[:60]!r}")
                expect(PREFACE not in text[1:] or b"HTTP/1.1 505" in got, f"a preface behind a request: {got!r}")


def main():
    tests = Tests()
    with Box() as box:
        if not speaks(box.url):
            tests.skip("all", "built without nghttp2")
            tests.end()
    for name, test in (("curl puts and reads 10,000 records", by_curl), ("signatures", signed), ("large bodies both ways", large),
                       ("100 calls at once", hundred), ("too many at once", too_many), ("a slow reader", slow_reader),
                       ("subscriptions", subscriptions), ("a subscription's whole life", lasting),
                       ("connections that are cut", cut_connections), ("junk behind the preface", junk), ("floods", floods),
                       ("requests without an end", many_large), ("faults", faults), ("the end", shut_down),
                       ("a preface in pieces", pieces)):
        tests.run(name, test)
    tests.end()


if __name__ == "__main__":
    main()
