"""Hostile records through every decoder and format, into a pipe and onto a terminal; and a service whose every text (error
names and messages, ids, pages of HTML, exceptions inside an event stream) drives terminals and repeats the keys that it
was sent; and sources of keys that do the same with the token they were sent. For each: bounded memory, an end at the tip or within two seconds of Ctrl-C, no control byte on a terminal, no key in anything that is
printed. SLOOP_BIN names the program.

    texts.py            all of them
    texts.py TEXT       those whose names hold TEXT
"""

import base64
import gzip
import hashlib
import http.client
import http.server
import json
import os
import pty
import random
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import zlib

from hostile_lane import BOUNDS, LEAVE_S, MEMORY_MB, SECRET, TOKEN, peak_mb, play_all, secrets_in, start, unsafe
from box import Box, NO_LIMITS

CONTROLS = "\x1b[2J\x1b]0;x\x07\x1b]52;c;eA==\x07\r\x08\x9b31m\u202e\u2028\u2066\x7f"
GLUE = b"\x03\x05" + bytes(16)
KPL = bytes.fromhex("f3899ac2")


def bomb(times, size=64 << 20):
    data = bytes(size)
    for _ in range(times):
        data = gzip.compress(data, 9)
    return data


def field(number, data):
    """A length-delimited field of Protobuf."""
    text, n = bytes([number << 3 | 2]), len(data)
    while n > 127:
        text, n = text + bytes([n & 127 | 128]), n >> 7
    return text + bytes([n]) + data


def descriptors():
    """What protoc makes of: package h; message M { string s = 1; M m = 2; repeated int64 n = 3; } of proto3."""
    def member(name, number, kind, label=1, of=b""):
        return field(2, field(1, name) + bytes([0x18, number, 0x20, label, 0x28, kind]) + of)
    message = field(1, b"M") + member(b"s", 1, 9) + member(b"m", 2, 11, of=field(6, b".h.M")) + member(b"n", 3, 3, 3)
    return field(1, field(1, b"h.proto") + field(2, b"h") + field(4, message) + field(12, b"proto3"))


def deep(levels):
    text = b""
    for _ in range(levels):
        text = field(2, text)
    return text


def avro(schema, block):
    """A file with one block of one datum."""
    size = len(block) * 2  # as Avro writes a length below 8192
    size = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
    return b"Obj\x01\x02\x16avro.schema" + bytes([len(schema) * 2]) + schema + bytes(17) + b"\x02" + size + block + bytes(16)


def random_bytes(n):
    return random.Random(7).randbytes(n)


RECORDS = {
    "nothing": b"",
    "controls": CONTROLS.encode(),
    "every byte": bytes(range(256)) * 3,
    "NULs": bytes(5000),
    "cut UTF-8": b"\xf0\x9f\x92 \xc2 \xe2\x80 \xed\xa0\x80 \xf5\x80\x80\x80 \xc0\xaf",
    "a long line": b"x" * 900000,
    "controls only": b"\x1b" * 900000,
    "lines": b"\n" * 300000,
    "random": random_bytes(300000),
    "deep JSON": b'{"a":[' * 100000,
    "deep JSON that ends": b"[" * 5000 + b"]" * 5000,
    "huge numbers": b'{"a":1e999999999,"b":-' + b"9" * 100000 + b',"c":0.' + b"1" * 100000 + b"}",
    "JSON of controls": json.dumps({CONTROLS: [CONTROLS] * 50}).encode(),
    "JSON of lone surrogates": b'{"a":"\\ud800\\udc","b":"\\u0000"}',
    "a bomb": bomb(1),
    "a bomb in a bomb": bomb(2),
    "three bombs": bomb(3),
    "cut gzip": bomb(1)[:-9],
    "gzip of controls": gzip.compress(CONTROLS.encode() * 1000),
    "members of gzip": gzip.compress(b"") * 20000,
    "zlib": zlib.compress(bytes(16 << 20)),
    "zstd's beginning": bytes.fromhex("28b52ffda0ffffffff") + random_bytes(1000),
    "snappy that lies": b"\xff\xff\xff\xff\x0f" + random_bytes(1000),
    "Avro of nothing without end": avro(b'{"type":"array","items":"null"}', b"\xfe" + b"\xff" * 8 + b"\x01"),
    "an Avro file of controls": avro(b'"string"', bytes([len(CONTROLS.encode()) * 2]) + CONTROLS.encode()),
    "Protobuf that is deep": deep(5000),
    "Protobuf of numbers": field(3, b"\x01" * 900000),
    "Protobuf of controls": field(1, CONTROLS.encode()),
    "Protobuf that lies": b"\x0a\xff\xff\xff\xff\x0f" + random_bytes(1000),
    "a bomb behind Glue's header": GLUE + zlib.compress(field(1, bytes(16 << 20))),
    "controls behind Glue's header": GLUE + zlib.compress(b"\0" + field(1, CONTROLS.encode() * 1000)),
    "an aggregate of junk": KPL + random_bytes(500),
    "an aggregate that is cut": KPL + b"\x0a\xff\xff\xff\xff\x7f" + bytes(16),
    "CloudWatch's logs": gzip.compress(json.dumps({"messageType": "DATA_MESSAGE", "logEvents": [
        {"id": CONTROLS, "timestamp": -1, "message": CONTROLS * 100}] * 200}).encode()),
    "CloudWatch's logs of junk": gzip.compress(b'{"messageType":7,"logEvents":{"a":' + b"[" * 3000),
}
SCHEMA = tempfile.NamedTemporaryFile(suffix=".pb")  # until this program ends
SCHEMA.write(descriptors())
SCHEMA.flush()
WAYS = {
    "plain": (), "J": ("-J",), "gzip": ("-s", "gzip"), "gzip gzip": ("-s", "gzip,gzip"), "utf8": ("-s", "utf8"),
    "base64": ("-s", "base64"), "cwlogs": ("-s", "cwlogs"), "gzip utf8": ("-s", "gzip,utf8"), "hex": ("-s", "hex"),
    "ddb-json": ("-s", "ddb-json"), "plain-json": ("-J", "-s", "plain-json"), "f": ("-f", "%s %k %S %K\\n"),
    "grep": ("--grep", "(a|b)*c.*\\x1b.*[y-z]+$"), "gzip grep": ("-s", "gzip", "--grep", "x.*y.*z"), "J gzip": ("-J", "-s", "gzip"),
    "auto": ("-s", "auto,auto"), "avro": ("-s", "avro"), "avro J": ("-J", "-s", "avro"),
    "protobuf": ("-s", "protobuf", "--schema-file", f"{SCHEMA.name}#h.M"), "glue": ("-s", "glue", "--schema-file", SCHEMA.name),
    "J glue": ("-J", "-s", "auto", "--schema-file", SCHEMA.name),
    "unique": ("--unique",), "key": ("-K", "|", "-O"), "grepv": ("--grepv", "^$"),
}
HELP = subprocess.run([os.environ["SLOOP_BIN"], "-h", "output"], capture_output=True, text=True, check=True, timeout=20).stdout
WAYS.update({name: ("-s", name) for name in ("zstd", "lz4", "snappy", "brotli") if f" {name} " in HELP and
             "not built in" not in HELP.split(f" {name} ")[1].split("\n")[0]})


def ended(p, seconds):
    try:
        p.wait(seconds)
        return True
    except subprocess.TimeoutExpired:
        return False


def read_pty(fd, into):
    while True:
        try:
            piece = os.read(fd, 65536)
        except OSError:
            return
        if not piece:
            return
        into.append(piece)


def run(args, env, terminal, for_s):
    """What it printed, megabytes, and how long it went on after a Ctrl-C; None: it ended by itself."""
    pieces, mb, left = [], 0, None
    if terminal:
        mine, its = pty.openpty()
    else:
        mine, its = os.pipe()
    p = start(args, {**env, "TERM": "xterm"}, stdout=its, stderr=its)
    os.close(its)
    reader = threading.Thread(target=read_pty, args=(mine, pieces))
    reader.start()
    try:
        until = time.monotonic() + for_s
        while not ended(p, 0.05) and time.monotonic() < until:
            mb = max(mb, peak_mb(p.pid))
        if p.poll() is None:
            begun = time.monotonic()
            p.send_signal(signal.SIGINT)
            ended(p, 30)
            left = time.monotonic() - begun
    finally:
        if p.poll() is None:
            p.kill()
            p.wait()
        reader.join(10)
        os.close(mine)
    return b"".join(pieces), mb, left, p.returncode


def play_record(box, case):
    stream, way, terminal, keep = case
    args = ["-o", "oldest", "-e", *(["-E"] if keep else []), *WAYS[way], stream]
    text, mb, left, code = run(args, box.env, terminal, 20)
    shown = text.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    if left is not None:
        return "it did not end at the tip", mb
    if code not in (0, 1):
        return f"exit {code}: {shown[-300:]!r}", mb
    if mb > MEMORY_MB:
        return f"{mb} MB", mb
    if terminal and unsafe(shown, True):
        return f"a terminal gets {sorted(set(unsafe(shown, True)))!r}: {shown[-200:]!r}", mb
    if code == 1 and not shown.strip():
        return "exit 1 without a word", mb
    return None, mb


# ---- a service ------------------------------------------------------------------------------------------------

ECHOES = (SECRET, TOKEN, urllib.parse.quote(SECRET, ""), urllib.parse.quote(TOKEN, ""), SECRET.replace("/", "\\/"), TOKEN[:24],
          TOKEN[10:], "".join(f"\\u{ord(c):04x}" for c in TOKEN[:12]))
EVENT_TEXTS = ("exception", "exception's name", "error", "error's name")


def event(kind):
    """A message of an event stream that says what it should not."""
    evil, name = CONTROLS + " ".join(ECHOES), "".join(c for c in TOKEN if c.isalnum())
    what = kind.partition("'")[0]
    fields = {":message-type": what, ":exception-type" if what == "exception" else ":error-code": "AccessDeniedException"}
    if kind.endswith("name"):
        fields[":exception-type" if what == "exception" else ":error-code"] = name
    elif kind == "error":
        fields[":error-message"] = evil[:250]
    head = b"".join(bytes([len(k)]) + k.encode() + b"\x07" + struct.pack(">H", len(v.encode())) + v.encode()
                    for k, v in fields.items())
    payload = json.dumps({"message": evil}).encode()
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + head + payload
    return message + struct.pack(">I", zlib.crc32(message))


def texts(kind):
    """A status, headers and a body that say what they should not."""
    evil = CONTROLS + " ".join(ECHOES)
    quoted = json.dumps(evil)
    head = {"x-amzn-RequestId": "".join(c for c in evil if 32 <= ord(c) < 127), "Content-Type": "application/x-amz-json-1.1"}
    name = "".join(c for c in TOKEN if c.isalnum())
    return {
        "error": (400, head, '{"__type":"InvalidArgumentException","message":' + quoted + "}"),
        "denied": (400, head, '{"__type":"AccessDeniedException","Message":' + quoted + "}"),
        "name": (400, head, '{"__type":' + quoted + ',"message":"no"}'),
        "name in a header": (400, {**head, "x-amzn-ErrorType": TOKEN.rstrip("=")}, "{}"),
        "its name is the token": (400, head, '{"__type":"' + name + '","message":"no"}'),
        "failing": (500, head, '{"__type":"InternalFailure","message":' + quoted + "}"),
        "html": (403, {"Content-Type": "text/html"}, "<html><title>" + evil + "</title>" + evil + "</html>"),
        "junk": (200, head, evil * 20),
        "JSON of junk": (200, head, json.dumps({evil: evil, "Shards": evil, "Table": evil})),
        "xml": (400, {"Content-Type": "text/xml"}, "<Error><Code>" + evil + "</Code><Message>" + evil + "</Message></Error>"),
        "moved": (301, {**head, "Location": "http://127.0.0.1:1/" + urllib.parse.quote(evil)}, ""),
    }[kind]


TEXTS = ("error", "denied", "name", "name in a header", "its name is the token", "failing", "html", "junk", "JSON of junk", "xml", "moved")
OPS = ("ListShards", "DescribeStreamSummary", "GetShardIterator", "GetRecords", "DescribeTable", "Query", "UpdateItem", "ListStreamConsumers", "ids")
MODES = {"read": ("-o", "oldest"), "debug": ("-o", "oldest", "-d", "all", "-v"), "E": ("-o", "oldest", "-E", "-v"), "list": ("-L",), "consumers": ("--consumers",),
         "fleet": ("-o", "oldest", "-G", "app", "-v", "-X", "lease_ms=2000"), "leases": ("--leases", "-G", "app"),
         "explain": ("--explain", "shardId-000000000000", "-G", "app"), "push": ("-o", "oldest", "--push", "-v", "-d", "all")}
EVIL_SHARD = "shardId-" + CONTROLS


class Hostile(http.server.BaseHTTPRequestHandler):
    """Answers one operation with one of the texts; everything else goes to the sandbox."""

    protocol_version = "HTTP/1.1"
    box = None

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        op, kind = self.server.op, self.server.kind
        target = self.headers.get("X-Amz-Target", "").rpartition(".")[2]
        self.server.asked += target == op
        if target == op and kind in EVENT_TEXTS:
            status, headers, text = 200, {**texts("error")[1], "Content-Type": "application/vnd.amazon.eventstream"}, event(kind)
        elif target == op:
            status, headers, text = texts(kind)
        elif op == "SubscribeToShard" and target == "DescribeStreamConsumer":  # it is ready at once
            arn = json.loads(body)["StreamARN"]
            status, headers = 200, {"Content-Type": "application/x-amz-json-1.1"}
            text = json.dumps({"ConsumerDescription": {"ConsumerName": "stream-tail", "ConsumerARN": arn + "/consumer/stream-tail:1",
                                                       "ConsumerStatus": "ACTIVE", "ConsumerCreationTimestamp": 1700000000}})
        elif op == "ids" and target == "ListShards":
            status, headers = 200, {"Content-Type": "application/x-amz-json-1.1"}
            text = json.dumps({"Shards": [{"ShardId": EVIL_SHARD, "HashKeyRange": {"StartingHashKey": CONTROLS, "EndingHashKey": "1"},
                                           "SequenceNumberRange": {"StartingSequenceNumber": CONTROLS}}]})
        elif op == "ids" and target == "ListStreamConsumers":
            status, headers = 200, {"Content-Type": "application/x-amz-json-1.1"}
            text = json.dumps({"Consumers": [{"ConsumerName": CONTROLS, "ConsumerARN": "arn:" + CONTROLS, "ConsumerStatus": "ACTIVE"}]})
        else:
            status, headers, text = self.sandbox(target, body)
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        self.answer(status, headers, data)

    def answer(self, status, headers, data):
        self.send_response_only(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        try:
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            self.close_connection = True  # it was told to stop meanwhile

    def sandbox(self, target, body):
        url = urllib.parse.urlparse(self.box.url)
        c = http.client.HTTPConnection(url.hostname, url.port, timeout=20)
        c.request("POST", "/", body, {k: v for k, v in self.headers.items() if k.lower() not in ("host", "content-length")})
        answer = c.getresponse()
        data = answer.read()
        c.close()
        return answer.status, {"Content-Type": answer.headers.get("Content-Type", "")}, data

    def log_message(self, *what):
        pass


# ---- sources of keys ------------------------------------------------------------------------------------------
SOURCES = ("web", "container", "machine's role", "machine's keys", "sign-in")


class Source(Hostile):
    """A source of keys that was sent TOKEN."""

    def do_any(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked += 1
        if self.command == "PUT":
            self.answer(200, {}, TOKEN.encode())  # of a machine: sent with every question from then on
        elif self.server.op == "machine's keys" and self.path.endswith("/security-credentials/"):
            self.answer(200, {}, "".join(c for c in TOKEN if c not in "/").encode())
        else:
            status, headers, text = texts(self.server.kind)
            if self.server.kind == "JSON of junk":
                text = json.dumps({"Code": TOKEN, "Message": text})
            self.answer(status, headers, text.encode("utf-8", "surrogatepass"))

    do_GET = do_POST = do_PUT = do_any


def source_env(source, url, folder):
    env = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "", "HOME": folder,
           "AWS_EC2_METADATA_DISABLED": "true"}
    if source == "web":
        with open(os.path.join(folder, "token"), "w", encoding="ascii") as f:
            f.write(TOKEN)
        env |= {"AWS_WEB_IDENTITY_TOKEN_FILE": f.name, "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/r", "AWS_ENDPOINT_URL_STS": url}
    elif source == "container":
        env |= {"AWS_CONTAINER_CREDENTIALS_FULL_URI": url + "/x", "AWS_CONTAINER_AUTHORIZATION_TOKEN": TOKEN}
    elif source == "sign-in":
        os.makedirs(os.path.join(folder, ".aws/sso/cache"))
        with open(os.path.join(folder, ".aws/config"), "w", encoding="ascii") as f:
            f.write("[default]\nsso_session = s\nsso_account_id = 123456789012\nsso_role_name = R\n"
                    "[sso-session s]\nsso_region = us-east-1\nsso_start_url = https://x.awsapps.com/start\n")
        cache = os.path.join(folder, ".aws/sso/cache", hashlib.sha1(b"s").hexdigest() + ".json")
        with open(cache, "w", encoding="ascii") as f:
            json.dump({"accessToken": TOKEN, "expiresAt": "2099-01-01T00:00:00Z"}, f)
        env |= {"AWS_ENDPOINT_URL_SSO": url}
    else:
        env |= {"AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": url}
    return env


def play_text(box, case):
    op, kind, mode, terminal = case
    handler = Source if op in SOURCES else Hostile
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("H", (handler,), {"box": box}))
    server.daemon_threads, server.op, server.kind, server.asked = True, op, kind, 0
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as folder:
        if op in SOURCES:
            env = {**box.env, **source_env(op, url, folder)}
        else:
            env = {**box.env, "AWS_ENDPOINT_URL": url, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": TOKEN}
        try:
            text, mb, left, code = run([*MODES[mode], "demo"], env, terminal, 0.8)
        finally:
            server.shutdown()
            server.server_close()
    shown = text.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    if left is not None and left > (BOUNDS["LEASED_LEAVE_S"] if mode == "fleet" else LEAVE_S):
        return f"Ctrl-C took {left:.1f} s", mb
    if unsafe(shown, True):
        return f"{sorted(set(unsafe(shown, True)))!r}: {shown[-300:]!r}", mb
    if not server.asked and (op in SOURCES or op == "SubscribeToShard"):
        return f"{op} was not asked: {shown[-300:]!r}", mb
    told = secrets_in(shown, (TOKEN,) if op in SOURCES else (SECRET, TOKEN))
    if told:
        return f"{told[0]!r} is told: {shown[-400:]!r}", mb
    if mb > MEMORY_MB:
        return f"{mb} MB", mb
    if code not in (0, 1, 3, 4, 5, -signal.SIGINT):
        return f"exit {code}: {shown[-300:]!r}", mb
    if code not in (0, -signal.SIGINT) and not shown.strip():
        return f"exit {code} without a word", mb
    return None, mb


def main():
    records = [(f"{record}, {way}, {'terminal' if terminal else 'pipe'}", (play_record, (f"r{i}", way, terminal, k % 2 == 0)),
                (record, (way, terminal), None, None, None))
               for i, record in enumerate(RECORDS) for k, way in enumerate(WAYS) for terminal in (False, True)]
    said = [(f"{op} says {kind}, {mode}", (play_text, (op, kind, mode, n % 2 == 0)), (None, None, op, kind, (mode, n % 2 == 0)))
            for n, (op, kind, mode) in enumerate([(o, k, m) for o in OPS for k in TEXTS for m in MODES if m != "push"] +
                                                 [("SubscribeToShard", k, "push") for k in TEXTS + EVENT_TEXTS] +
                                                 [(s, k, m) for s in SOURCES for k in TEXTS for m in ("read", "debug")])
            if op != "ids" or kind == "error"]
    with Box(1, *NO_LIMITS, "-X", "sandbox.write_bytes_per_second=0") as box:
        for i, data in enumerate(RECORDS.values()):
            box.make_stream(f"r{i}", 1)
            for key in ("k", "\x1b[2J" + CONTROLS):
                box.call("PutRecord", StreamName=f"r{i}", PartitionKey=key, Data=base64.b64encode(data).decode())
        box.put(3)
        sys.exit(play_all("texts", records + said, lambda case: case[0](box, case[1]), 16))


if __name__ == "__main__":
    main()
