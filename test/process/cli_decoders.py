"""-s against a second opinion: DynamoDB's typed JSON against boto3's TypeDeserializer on random items, records of
CloudWatch Logs made by python, gzip, zlib, base64 and hex by python, zstd, lz4, snappy and brotli by cramjam, zstd and lz4
by their own commands too, where there are. SLOOP_TAIL_SCRIPTED names the program (with the
scripted library, whose payloads are a file's content); needs the python that has boto3 (venv.py)."""

import base64
import decimal
import gzip
import json
import os
import random
import resource
import shutil
import subprocess
import tempfile
import zlib

import cramjam
from boto3.dynamodb.types import Binary, TypeDeserializer

from command import check, equal, main, run, test

BIN = os.environ["SLOOP_TAIL_SCRIPTED"]
chance = random.Random(20260101)


def decoded(decoder, payload, *args, env=None):
    """The output of the program for one record with that payload."""
    with tempfile.NamedTemporaryFile() as f:
        f.write(payload)
        f.flush()
        r = run(BIN, "-c1", "-s", decoder, "-D", "", *args, "orders",
                env={"FAKE_RECORDS": 1, "FAKE_DATA": f.name, **(env or {})})
    return r


def text():
    return "".join(chance.choice("ab Z\"\\\n\t\u0001é€😀\u2028/") for _ in range(chance.randrange(12)))


def number():
    return chance.choice([str(chance.randrange(-10**20, 10**20)), f"{chance.uniform(-1e3, 1e3):.6f}", "0", "-0.5", "1E+30",
                          "1.5E-120", "99999999999999999999999999999999999999"])


def raw():
    return base64.b64encode(bytes(chance.randrange(256) for _ in range(chance.randrange(9)))).decode()


def attribute(depth):
    kind = chance.choice(["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS"] + (["L", "M"] * 2 if depth else []))
    some = range(1, chance.randrange(2, 5))
    return {kind: {"S": text, "N": number, "B": raw, "BOOL": lambda: chance.random() < 0.5, "NULL": lambda: True,
                   "SS": lambda: sorted({text() for _ in some}), "NS": lambda: sorted({number() for _ in some}),
                   "BS": lambda: sorted({raw() for _ in some}),
                   "L": lambda: [attribute(depth - 1) for _ in range(chance.randrange(4))],
                   "M": lambda: item(depth - 1)}[kind]()}


def item(depth):
    return {text() or "x": attribute(depth) for _ in range(chance.randrange(5))}


def for_boto3(attr):
    """boto3 wants bytes where the wire has base64."""
    (kind, value), = attr.items()
    if kind == "B":
        return {kind: base64.b64decode(value)}
    if kind == "BS":
        return {kind: [base64.b64decode(v) for v in value]}
    if kind == "L":
        return {kind: [for_boto3(v) for v in value]}
    if kind == "M":
        return {kind: {k: for_boto3(v) for k, v in value.items()}}
    return attr


def as_json(value):
    """boto3's value as the plain JSON it stands for. Sets have no order: sorted on both sides."""
    if isinstance(value, Binary):
        return base64.b64encode(value.value).decode()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, set):
        return sorted((as_json(v) for v in value), key=str)
    if isinstance(value, list):
        return [as_json(v) for v in value]
    if isinstance(value, dict):
        return {k: as_json(v) for k, v in value.items()}
    return value


def sorted_sets(attr, plain):
    """The program's value with what was a set sorted, as as_json() sorts."""
    (kind, value), = attr.items()
    if kind in ("SS", "NS", "BS"):
        return sorted(plain, key=str)
    if kind == "L":
        return [sorted_sets(a, p) for a, p in zip(value, plain, strict=True)]
    if kind == "M":
        return {k: sorted_sets(value[k], plain[k]) for k in plain}
    return plain


@test
def random_items_are_what_boto3_makes_of_them():
    for _ in range(120):
        typed = item(4)
        r = decoded("ddb-json", json.dumps(typed, ensure_ascii=chance.random() < 0.5).encode())
        equal((r.code, r.err), (0, ""), typed)
        got = json.loads(r.out, parse_float=decimal.Decimal, parse_int=decimal.Decimal)
        want = {k: as_json(TypeDeserializer().deserialize(for_boto3(v))) for k, v in typed.items()}
        equal({k: sorted_sets(typed[k], v) for k, v in got.items()}, want, typed)
        equal(r.out.count(b"\n"), 0)  # one line


@test
def images_of_a_change_lose_their_types_and_nothing_else_changes():
    for _ in range(30):
        change = {"ApproximateCreationDateTime": 1700000000.25, "Keys": item(1), "SequenceNumber": "7", "SizeBytes": 12}
        if chance.random() < 0.7:
            change["NewImage"] = item(3)
        r = decoded("ddb-json", json.dumps({"eventName": "INSERT", "dynamodb": change, "n": [1, {"S": "x"}]}).encode())
        equal((r.code, r.err), (0, ""), change)
        got = json.loads(r.out)
        equal((got["eventName"], got["n"]), ("INSERT", [1, {"S": "x"}]))
        for name in ("ApproximateCreationDateTime", "SequenceNumber", "SizeBytes"):
            equal(got["dynamodb"][name], change[name])
        equal(set(got["dynamodb"]), set(change))
        equal(set(got["dynamodb"]["Keys"]), set(change["Keys"]))


@test
def records_of_cloudwatch_logs():
    for packed in (True, False):
        for n in (0, 1, 50):
            events = [{"id": str(10**55 + i), "timestamp": 1700000000000 + i,
                       "message": f"line {i} é\nand \"more\"" + chance.choice(["", "\n", "\r\n", "\n\n"]),
                       **({"extractedFields": {"@aws.account": "111122223333", "@aws.region": "us-east-1"}} if i % 2 else {})}
                      for i in range(n)]
            record = json.dumps({"messageType": "DATA_MESSAGE", "owner": "123456789012", "logGroup": "/aws/lambda/f",
                                 "logStream": "2026/01/01/[$LATEST]abc", "subscriptionFilters": ["all"],
                                 "logEvents": events}).encode()
            payload = gzip.compress(record) if packed else record
            with tempfile.NamedTemporaryFile() as f:
                f.write(payload)
                f.flush()
                env = {"FAKE_RECORDS": 1, "FAKE_DATA": f.name}
                r = run(BIN, "-e", "-s", "cwlogs", "-D", "|", "orders", env=env)
                equal((r.code, r.out.decode()), (0, "".join(e["message"].rstrip("\r\n") + "|" for e in events)))
                r = run(BIN, "-e", "-s", "cwlogs", "-J", "orders", env=env)
                got = [json.loads(line) for line in r.out.decode().split("\n")[:-1]]
                equal([g["payload"] for g in got], [e["message"] for e in events])
                equal([g["log"] for g in got],
                      [{"group": "/aws/lambda/f", "stream": "2026/01/01/[$LATEST]abc", "owner": "123456789012",
                        "id": e["id"], "ts": e["timestamp"],
                        **({"extractedFields": e["extractedFields"]} if "extractedFields" in e else {}),
                        "record": {"subscriptionFilters": ["all"]}} for e in events])


@test
def control_messages_are_told_and_print_nothing():
    control = {"messageType": "CONTROL_MESSAGE", "owner": "CloudwatchLogs", "logGroup": "", "logStream": "",
               "subscriptionFilters": [], "logEvents": [{"id": "", "timestamp": 1700000000000,
               "message": "CWL CONTROL MESSAGE: Checking health of destination Kinesis stream."}]}
    with tempfile.NamedTemporaryFile() as f:
        f.write(gzip.compress(json.dumps(control).encode()))
        f.flush()
        for args, said in (((), True), (("-J",), True), (("-q",), False)):
            r = run(BIN, "-e", "-s", "cwlogs", *args, "orders", env={"FAKE_RECORDS": 3, "FAKE_DATA": f.name})
            equal((r.code, r.out), (0, b""), args)
            equal(r.err, "stream-tail: control messages of CloudWatch Logs, which are not printed: 3\n" if said else "")


@test
def packed_and_encoded_payloads():
    for n in (0, 1, 1000, 300000):
        data = bytes(chance.randrange(256) for _ in range(n))
        for decoder, payload in (("gzip", gzip.compress(data)), ("gzip", zlib.compress(data)),
                                 ("base64", base64.b64encode(data)), ("hex", data.hex().encode()),
                                 ("base64,gzip", base64.b64encode(gzip.compress(data)))):
            r = decoded(decoder, payload)
            equal((r.code, r.err, r.out), (0, "", data), decoder, n)


PACKERS = [("zstd", cramjam.zstd.compress), ("lz4", cramjam.lz4.compress), ("snappy", cramjam.snappy.compress),
           ("snappy", cramjam.snappy.compress_raw), ("brotli", lambda d: cramjam.brotli.compress(d, level=1)),
           ("gzip", cramjam.gzip.compress), ("zlib", cramjam.zlib.compress), ("zlib", cramjam.gzip.compress)]
HELP = run(BIN, "-h", "output").out.decode()


def command(*words):
    return lambda data: subprocess.run(words, input=data, capture_output=True, check=True, timeout=60).stdout


def packers():
    """Those that this program can undo: decoder, packer."""
    lines = {line.split()[0]: line for line in HELP.splitlines() if line.startswith(" " * 28) and line.strip()}
    more = [(name, command(name, "-qc", *args)) for name in ("zstd", "lz4") if shutil.which(name)
            for args in ((), ("-9",), ("--no-check" if name == "zstd" else "--no-frame-crc",))]
    for decoder, pack in PACKERS + more:
        if "not built in" not in lines[decoder]:
            yield decoder, lambda data, pack=pack: bytes(pack(data))


@test
def what_others_pack_comes_out_again():
    for n in (1, 1000, 300000):
        for data in (chance.randbytes(n), (text() + "{}").encode() * (n // 8 + 1)):
            for decoder, pack in packers():
                r = decoded(decoder, pack(data))
                equal((r.code, r.err, r.out), (0, "", data), decoder, n)
    for decoder, pack in packers():
        r = decoded("base64," + decoder, base64.b64encode(pack(b"in base64")))
        equal((r.code, r.err, r.out), (0, "", b"in base64"), decoder)
        r = decoded(decoder, pack(b""))  # nothing, packed, is nothing
        equal((r.code, r.err, r.out), (0, "", b""), decoder)


@test
def auto_unpacks_what_it_knows_and_leaves_the_rest():
    data = text().encode() + b"{}" * 40
    for decoder, pack in packers():
        packed = pack(data)
        known = decoder != "brotli" and not (decoder == "snappy" and packed[:1] != b"\xff")
        equal(decoded("auto", packed).out, data if known else packed, decoder)
        if known:  # one packing a step
            equal(decoded("auto", pack(packed)).out, packed, decoder)
            equal(decoded("auto,auto", pack(packed)).out, data, decoder)
            r = decoded("auto", packed[:-1])
            equal((r.code, r.out), (1, b""), decoder)
            wrong = "zstd" if decoder != "zstd" else "gzip"
            r = decoded(wrong, packed) if {wrong, decoder} - {"gzip", "zlib"} and wrong in dict(packers()) else None
            check(not r or f"{wrong}: it looks like {decoder}: -s {decoder}; use -E to continue after such records" in r.err
                  or decoder == "zlib", r and r.err)
    for plain in (b"plain", b'{"a": 1}', b"x^2", b"\x00\xff"):
        equal(decoded("auto", plain).out, plain)


@test
def a_bomb_is_refused_and_told_and_the_next_record_comes():
    zeros = bytes(18 << 20)  # the scripted library reads 1 MiB of a file
    for decoder, pack in packers():
        bomb = pack(zeros)
        r = decoded(decoder, bomb, env={"FAKE_RECORDS": 2})
        equal((r.code, r.out), (1, b""), decoder)
        check(" shardId-000000000000 " in r.err and f": {decoder}: more than 16777216 bytes; see -X decoded_bytes_max; "
              "use -E to continue after such records" in r.err, r.err)
        with tempfile.NamedTemporaryFile() as f:
            f.write(bomb)
            f.flush()
            r = run(BIN, "-e", "-E", "-s", decoder, "-f", "%S,", "orders", env={"FAKE_RECORDS": 2, "FAKE_DATA": f.name})
        equal((r.code, r.out), (0, b"%d,%d," % (len(bomb), len(bomb))), decoder)
        twice = decoded(f"{decoder},{decoder}", pack(bomb))  # the bound holds for all steps together
        equal(twice.code, 1, decoder)
        check(f"{decoder}: more than 16777216 bytes" in twice.err, twice.err)
    # KiB, of the fattest of all that ran: the record itself, 16 MiB of it unpacked, growing
    check(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 150000)


@test
def what_is_damaged_is_never_printed():
    data = json.dumps([item(3) for _ in range(20)]).encode()
    for decoder, pack in packers():
        packed = pack(data)
        for at in sorted(chance.sample(range(1, len(packed)), 6)):
            r = decoded(decoder, packed[:at])
            check(r.code == 1 and r.out == b"" or data.startswith(r.out) and decoder == "snappy", decoder, at, len(packed))
            r = decoded(decoder, packed[:at], "-E")
            check(r.code == 0 and r.out == packed[:at] or decoder == "snappy", decoder, at)


@test
def json_on_one_line_is_the_same_json():
    for _ in range(60):
        def value(depth):
            kind = chance.randrange(7 if depth else 5)
            return [text(), chance.randrange(10**9), chance.uniform(-1, 1), None, chance.random() < 0.5,
                    *([[value(depth - 1) for _ in range(3)], {text(): value(depth - 1) for _ in range(3)}] if depth else [])][kind]
        want = value(3)
        r = decoded("plain-json", json.dumps(want, indent=chance.choice([None, 1]), ensure_ascii=False).encode())
        equal((r.code, r.err), (0, ""))
        equal(json.loads(r.out), want)
        equal(len(r.out.decode().splitlines()), 1)


# What AWS DMS and Debezium put into a stream, and DynamoDB's own records of changes; a tombstone is behind a delete.
CHANGES = {
    "dms": {"data": {"id": 1, "note": "caf\u00e9"}, "metadata": {"timestamp": "2026-01-01T00:00:00Z", "record-type": "data",
            "operation": "insert", "partition-key-type": "primary-key", "schema-name": "shop", "table-name": "orders"}},
    "dms-control": {"control": {"table-def": {"columns": {"id": {"type": "INT32"}}}},
                    "metadata": {"record-type": "control", "operation": "create-table", "table-name": "orders"}},
    "debezium": {"schema": {"type": "struct", "fields": []}, "payload": {"op": "d", "before": {"id": 1}, "after": None,
                 "source": {"lsn": 24023128, "snapshot": "false"}, "ts_ms": 1700000000123}},
    "dynamodb": {"awsRegion": "us-east-1", "eventID": "8b1a", "eventName": "MODIFY", "userIdentity": None,
                 "recordFormat": "application/json", "tableName": "orders", "eventSource": "aws:dynamodb",
                 "dynamodb": {"ApproximateCreationDateTime": 1700000000123456, "Keys": {"id": {"S": "k"}}, "SizeBytes": 9,
                              "NewImage": {"id": {"S": "k"}, "n": {"N": "2"}}, "OldImage": {"id": {"S": "k"}},
                              "ApproximateCreationDateTimePrecision": "MICROSECOND"}},
}


@test
def records_of_changes_pass_as_they_are():
    for name, change in CHANGES.items():
        raw_text = json.dumps(change, ensure_ascii=False).encode()
        with tempfile.NamedTemporaryFile() as f:
            f.write(raw_text)
            f.flush()
            env = {"FAKE_RECORDS": 1, "FAKE_DATA": f.name}
            equal(run(BIN, "-e", "orders", env=env).out, raw_text + b"\n", name)
            r = run(BIN, "-e", "-J", "-s", "plain-json", "orders", env=env)
            equal((r.code, r.err), (0, ""), name)
            equal(json.loads(r.out)["payload"], change, name)
    r = decoded("ddb-json", json.dumps(CHANGES["dynamodb"]).encode())
    want = json.loads(json.dumps(CHANGES["dynamodb"]))
    want["dynamodb"].update(Keys={"id": "k"}, NewImage={"id": "k", "n": 2}, OldImage={"id": "k"})
    equal(json.loads(r.out), want)


@test
def an_empty_record_is_an_empty_value():
    for decoder, value in (("base64", ""), ("hex", ""), ("utf8", ""), ("gzip", ""), ("cwlogs", ""), ("ddb-json", None),
                           ("plain-json", None), ("base64,gzip,plain-json", None)):
        r = decoded(decoder, b"")
        equal((r.code, r.err, r.out), (0, "", b""), decoder)
        with tempfile.NamedTemporaryFile() as f:
            r = run(BIN, "-e", "-J", "-E", "-s", decoder, "orders", env={"FAKE_RECORDS": 1, "FAKE_DATA": f.name})
        equal((r.code, r.err), (0, ""), decoder)
        got = json.loads(r.out)
        equal((got["payload"], "decode_error" in got), (value, False), decoder)


@test
def utf8_is_what_python_can_read():
    for _ in range(40):
        data = bytes(chance.choice(b"a\xc3\xa9\xff\xe2\x82\xac\xf0\x80") for _ in range(20))
        r = decoded("utf8", data)
        equal(r.code, 0)
        got = r.out.decode()  # valid
        equal(got.replace("\ufffd", ""), data.decode(errors="ignore") if "\ufffd" in got else data.decode())


@test
def what_is_something_else_is_refused():
    for decoder, payload in (("gzip", b"plain"), ("base64", b"a=b"), ("hex", b"xyz"), ("cwlogs", b"{}"), ("ddb-json", b"[]"),
                             ("plain-json", b"{"), ("gzip", gzip.compress(b"x" * 1000)[:-1])):
        r = decoded(decoder, payload)
        equal((r.code, r.out), (1, b""), decoder)
        check(decoder + ": " in r.err and "use -E to continue after such records" in r.err, r.err)
        r = decoded(decoder, payload, "-E")
        equal((r.code, r.out), (0, payload), decoder)


main()
