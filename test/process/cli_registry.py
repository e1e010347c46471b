"""-s avro, glue and auto on records whose schemas a Glue Schema Registry has: moto's, with schemas that boto3 registers and
values that fastavro writes; and one of our own that is slow, silent, away, wrong, or refuses. The stream is the sandbox's.
SLOOP_BIN names the program; needs the python that has boto3, moto and fastavro (venv.py)."""

import http.server
import io
import json
import os
import re
import signal
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import zlib

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.credentials
import fastavro

import servers
from box import BIN, Box, NO_LIMITS
from command import check, end, environment, equal, main, read_some, run, test, wait_until

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"]}]}
NEWER = {**ORDER, "fields": ORDER["fields"] + [{"name": "paid", "type": "boolean", "default": False}]}


def message(of, schema, value, packed=False):
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    body = out.getvalue()
    return b"\x03" + (b"\x05" if packed else b"\x00") + uuid.UUID(of).bytes + (zlib.compress(body) if packed else body)


def put(box, *payloads):
    kinesis = box.boto3("kinesis")
    for p in payloads:
        kinesis.put_record(StreamName="demo", PartitionKey="k", Data=p)


def readable(f):
    return select.select([f], [], [], 0)[0]


def tail(box, *args, env, **more):
    return run(BIN, *args, env={**box.env, **env}, **more)


def start(box, *args, env):
    return subprocess.Popen([BIN, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=environment({**box.env, **env}))


class Registry:
    """A registry that does what the test says. `answer`: called with the id, returns (status, body) or None: silence."""

    def __init__(self, answer):
        self.calls, self.bad = [], []
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                registry.check(self, body)
                of = json.loads(body)["SchemaVersionId"]
                registry.calls.append((time.monotonic(), of))
                got = answer(of)
                if got is None:
                    time.sleep(60)
                    return
                status, text = got
                text = text if isinstance(text, bytes) else json.dumps(text).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/x-amz-json-1.1")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *what: None  # a client that leaves in the middle is what some tests do
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def check(self, rq, body):
        """The signature is what botocore makes of the same request."""
        told = rq.headers["Authorization"]
        names = re.search(r"SignedHeaders=([^,]+)", told).group(1).split(";")
        again = botocore.awsrequest.AWSRequest("POST", f"http://{rq.headers['Host']}/", data=body, headers={
            n: rq.headers[n] for n in names if n not in ("host", "x-amz-date")})
        again.context["timestamp"] = rq.headers["X-Amz-Date"]
        again.context["signing"] = {}
        signer = botocore.auth.SigV4Auth(botocore.credentials.Credentials("AKIDEXAMPLE", "secret"), "glue", "us-east-1")
        again.headers["X-Amz-Date"] = rq.headers["X-Amz-Date"]
        signature = signer.signature(signer.string_to_sign(again, signer.canonical_request(again)), again)
        if rq.headers["X-Amz-Target"] != "AWSGlue.GetSchemaVersion" or f"Signature={signature}" not in told or \
                "/us-east-1/glue/aws4_request" not in told or rq.headers["Content-Type"] != "application/x-amz-json-1.1":
            self.bad.append(dict(rq.headers))

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *what):
        self.server.shutdown()
        self.server.server_close()
        equal(self.bad, [])


def keys(url):
    return {"AWS_ENDPOINT_URL_GLUE": url, "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1"}


def good(schema, data_format="AVRO"):
    return lambda of: (200, {"SchemaVersionId": of, "DataFormat": data_format, "Status": "AVAILABLE", "VersionNumber": 1,
                             "SchemaDefinition": json.dumps(schema)})


ID = "b7b4a7f0-9c96-4e4a-a687-fb5de9ef0c63"
OTHER = "0c3a9d1e-5d0c-4b6f-8a52-0d1f6c8b7a11"
ONE = message(ID, ORDER, {"id": 1, "note": "x"})


@test
def motos_registry():
    with Box(2, *NO_LIMITS) as box, servers.Moto() as moto:
        glue = boto3.client("glue", endpoint_url=moto.url, region_name="us-east-1", aws_access_key_id="a",
                            aws_secret_access_key="b")
        glue.create_registry(RegistryName="r")
        first = glue.create_schema(RegistryId={"RegistryName": "r"}, SchemaName="orders", DataFormat="AVRO",
                                   Compatibility="NONE", SchemaDefinition=json.dumps(ORDER))["SchemaVersionId"]
        second = glue.register_schema_version(SchemaId={"RegistryName": "r", "SchemaName": "orders"},
                                              SchemaDefinition=json.dumps(NEWER))["SchemaVersionId"]
        of_json = glue.create_schema(RegistryId={"RegistryName": "r"}, SchemaName="json", DataFormat="JSON",
                                     Compatibility="NONE", SchemaDefinition='{"type": "object"}')["SchemaVersionId"]
        wants, payloads = [], []
        for i in range(200):
            schema, of = (ORDER, first) if i % 3 else (NEWER, second)
            value = {"id": i, "note": None if i % 2 else f"é {i}", **({} if i % 3 else {"paid": i % 2 == 0})}
            wants.append(value)
            payloads.append(message(of, schema, value, packed=i % 5 == 0))
        wants.append({"a": [1, 2.5]})
        payloads.append(b"\x03\x00" + uuid.UUID(of_json).bytes + b'{"a": [1, 2.5]}')
        put(box, *payloads)
        for decoder in ("glue", "auto"):
            r = tail(box, "-o", "oldest", "-e", "-s", decoder, "demo", env={"AWS_ENDPOINT_URL_GLUE": moto.url})
            equal((r.code, r.err), (0, ""))
            equal([json.loads(line) for line in r.out.splitlines()], wants)
        gone = message(OTHER, ORDER, {"id": 1, "note": None})
        put(box, gone)
        r = tail(box, "-o", "oldest", "-e", "-s", "glue", "demo", env={"AWS_ENDPOINT_URL_GLUE": moto.url})
        equal((r.code, len(r.out.splitlines())), (1, 201))
        check(f"the Glue Schema Registry does not give schema version {OTHER}: EntityNotFoundException" in r.err, r.err)
        check(f"--schema-file {OTHER}=FILE gives it" in r.err, r.err)
        check(re.search(rf"demo shardId-\d+ \d+: glue: no schema {OTHER} \(EntityNotFoundException\); use -E to continue after such records", r.err), r.err)


@test
def a_schema_is_asked_for_once_with_a_signature_that_botocore_makes_too():
    with Box(4, *NO_LIMITS) as box, Registry(good(ORDER)) as registry:
        put(box, *[ONE] * 50)
        r = tail(box, "-o", "oldest", "-e", "-s", "avro", "demo", env=keys(registry.url))
        equal((r.code, r.err, r.out), (0, "", b'{"id":1,"note":"x"}\n' * 50))
        equal([of for _, of in registry.calls], [ID])


@test
def a_record_waits_for_a_slow_registry_and_what_follows_waits_behind_it():
    gate = threading.Event()

    def answer(of):
        gate.wait(30)
        return good(ORDER)(of)

    with Box(1, *NO_LIMITS) as box, Registry(answer) as registry:
        put(box, ONE)
        p = start(box, "-o", "oldest", "-u", "-s", "auto", "demo", env=keys(registry.url))
        try:
            wait_until(lambda: registry.calls, 20)
            put(box, b"plain", ONE)  # what follows waits too: the order stays
            time.sleep(4)
            check(not readable(p.stdout), "something was printed before the schema came")
            gate.set()
            got = b""
            while got.count(b"\n") < 3:
                got += read_some(p.stdout.fileno())
            equal(got, b'{"id":1,"note":"x"}\nplain\n{"id":1,"note":"x"}\n')
            p.send_signal(signal.SIGINT)
            equal(p.wait(10), 0)
            check(f"waiting for schema version {ID} of the Glue Schema Registry" in p.stderr.read().decode())
        finally:
            end(p)
        equal(len(registry.calls), 1)


@test
def reading_stops_while_a_record_waits():
    with Box(1, *NO_LIMITS) as box, Registry(lambda of: None) as registry:
        put(box, ONE)
        box.put(2000, size=40000)
        p = start(box, "-o", "oldest", "-s", "avro", "-X", "buffered_bytes_max=1000000", "demo", env=keys(registry.url))
        try:
            wait_until(lambda: registry.calls, 20)
            time.sleep(4)
            with open(f"/proc/{p.pid}/status", encoding="ascii") as f:
                kb = int(re.search(r"VmHWM:\s+(\d+) kB", f.read()).group(1))
            check(kb < 60000, f"{kb} kB, of 80 MB that are there to read")
            calls = box.calls("GetRecords")
            time.sleep(2)
            check(box.calls("GetRecords") - calls <= 1, "it reads on")
        finally:
            end(p)


@test
def a_stop_while_a_record_waits_ends_at_once_and_the_record_comes_again():
    with Box(1, *NO_LIMITS) as box, Registry(lambda of: None) as registry, Registry(good(ORDER)) as other, \
            tempfile.TemporaryDirectory() as folder:
        put(box, b"plain", ONE)
        place = os.path.join(folder, "place")
        p = start(box, "-o", "oldest", "-s", "auto", "--save", place, "demo", env=keys(registry.url))
        try:
            wait_until(lambda: registry.calls, 20)
            begun = time.monotonic()
            p.send_signal(signal.SIGTERM)
            equal(p.wait(10), 0)
            check(time.monotonic() - begun < 3, "it took", time.monotonic() - begun)
            equal(p.stdout.read(), b"plain\n")
        finally:
            end(p)
        r = tail(box, "-o", "oldest", "-e", "-s", "auto", "--save", place, "demo", env=keys(other.url))
        equal((r.code, r.out), (0, b'{"id":1,"note":"x"}\n'))


@test
def counts_and_ends_with_a_record_that_waits():
    with Box(1, *NO_LIMITS) as box, Registry(lambda of: (time.sleep(2), good(ORDER)(of))[1]) as registry:
        put(box, b"plain", ONE, ONE)
        for option in (("-c", "1"), ("-c", "2"), ("-e",), ("--until", "0s"), ("--timeout", "1")):
            begun = time.monotonic()
            r = tail(box, "-o", "oldest", "-s", "auto", *option, "demo", env=keys(registry.url))
            n = int(option[1]) if option[0] == "-c" else 3
            equal((r.code, len(r.out.splitlines())), (0, n), option, r.err)
            check(time.monotonic() - begun < 12, option)


@test
def a_registry_that_refuses_is_told_with_the_remedy_and_asked_once_in_a_while():
    refusal = {"__type": "AccessDeniedException", "Message": "User: x is not authorized to perform: glue:GetSchemaVersion"}
    with Box(1, *NO_LIMITS) as box, Registry(lambda of: (400, refusal)) as registry:
        put(box, *[ONE] * 20, b"plain")
        r = tail(box, "-o", "oldest", "-e", "-s", "auto", "demo", env=keys(registry.url))
        equal((r.code, r.out), (1, b""))
        check("allow glue:GetSchemaVersion (--iam)" in r.err and "AccessDeniedException" in r.err, r.err)
        registry.calls.clear()
        r = tail(box, "-o", "oldest", "-e", "-E", "-s", "auto", "demo", env=keys(registry.url))
        equal((r.code, r.out), (0, (ONE + b"\n") * 20 + b"plain\n"))
        equal(len(registry.calls), 1)
        check("20 printed as they came" in r.err, r.err)


@test
def a_registry_that_is_away_or_wrong_is_tried_so_often():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{probe.getsockname()[1]}"
    with Box(1, *NO_LIMITS) as box:
        put(box, ONE)
        r = tail(box, "-o", "oldest", "-e", "-s", "avro", "demo", env=keys(nobody), limit=60)
        equal((r.code, r.out), (1, b""))
        check("the Glue Schema Registry does not give schema version" in r.err and "(transient)" in r.err, r.err)
        for name, answer, said in (
                ("500", lambda of: (500, {"__type": "InternalServiceException", "Message": "no"}), "InternalServiceException"),
                ("no JSON", lambda of: (200, b"<html>"), "the answer can't be read"),
                ("another id", lambda of: good(ORDER)(OTHER), "it is for another schema version"),
                ("no schema", lambda of: (200, {"SchemaVersionId": of}), "it has no schema"),
                ("huge", lambda of: (200, b'{"a":"' + b"x" * (3 << 20)), "does not give schema version"),
                ("junk", lambda of: (200, {"SchemaVersionId": of, "DataFormat": "AVRO", "SchemaDefinition": "{"}), "the schema is not JSON"),
                ("format", lambda of: (200, {"SchemaVersionId": of, "DataFormat": "XML", "SchemaDefinition": "{"}), "the format XML")):
            with Registry(answer) as registry:
                r = tail(box, "-o", "oldest", "-e", "-s", "avro", "demo", env=keys(registry.url), limit=60)
                equal((r.code, r.out), (1, b""), name)
                check(said in r.err, name, r.err)
                check(1 <= len(registry.calls) <= 3, name, registry.calls)


@test
def many_versions_are_asked_for_at_a_bounded_pace():
    ids = [str(uuid.UUID(int=uuid.UUID(ID).int + i)) for i in range(30)]
    with Box(1, *NO_LIMITS) as box, Registry(good(ORDER)) as registry:
        put(box, *[message(of, ORDER, {"id": i, "note": None}) for i, of in enumerate(ids)])
        r = tail(box, "-o", "oldest", "-e", "-s", "avro", "demo", env=keys(registry.url), limit=60)
        equal((r.code, len(r.out.splitlines())), (0, 30), r.err)
        equal([of for _, of in registry.calls], ids)
        times = [t for t, _ in registry.calls]
        check(all(sum(t <= u < t + 1 for u in times) <= 6 for t in times), times)


@test
def a_file_for_each_version_and_one_for_all():
    with Box(1, *NO_LIMITS) as box, Registry(lambda of: (400, {"__type": "EntityNotFoundException", "Message": "no"})) as registry, \
            tempfile.TemporaryDirectory() as folder:
        for name, schema in (("order", ORDER), ("newer", NEWER)):
            with open(os.path.join(folder, name), "w") as f:
                json.dump(schema, f)
        put(box, ONE, message(OTHER, NEWER, {"id": 2, "note": None, "paid": True}))
        both = b'{"id":1,"note":"x"}\n{"id":2,"note":null,"paid":true}\n'
        for given in ((f"{ID}={folder}/order", f"{OTHER}={folder}/newer"), (f"{folder}/order", f"{OTHER}={folder}/newer")):
            r = tail(box, "-o", "oldest", "-e", "-s", "avro", *[f"--schema-file={g}" for g in given], "demo", env=keys(registry.url))
            equal((r.code, r.err, r.out), (0, "", both))
        r = tail(box, "-o", "oldest", "-e", "-s", "avro", f"--schema-file={folder}/order", "demo", env=keys(registry.url))
        equal((r.code, r.out), (1, both.splitlines(True)[0]))
        check("records of several schema versions" in r.err and "other bytes follow its value" in r.err, r.err)
        equal(registry.calls, [])


@test
def protobuf_needs_a_descriptor_set():
    """Messages of Amazon's serialiser and the set that they were made by (glue.json)."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "contract", "vectors", "glue.json")) as f:
        rows = {name: bytes.fromhex(text) for name, text in json.load(f)["rows"].items()}
    with Box(1, *NO_LIMITS) as box, Registry(good("syntax = ...", "PROTOBUF")) as registry, tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "shop#1.desc")
        with open(file, "wb") as f:
            f.write(rows["descriptors"])
        put(box, rows["protobuf:NONE:Zebra"], rows["protobuf:ZLIB:Apple"], rows["protobuf:NONE:Deep"])
        r = tail(box, "-o", "oldest", "-e", "-s", "protobuf", "demo", env=keys(registry.url))
        equal((r.code, r.out), (1, b""))
        check("protobuf: its schema is Protobuf: give a --schema-file made by protoc" in r.err, r.err)
        asked = len(registry.calls)
        for decoder, given in (("protobuf", f"{ID}={file}"), ("glue", file), ("auto", f"{file}#shop.Zebra")):
            r = tail(box, "-o", "oldest", "-e", "-s", decoder, "--schema-file", given, "demo", env=keys(registry.url))
            equal((r.code, r.err, r.out), (0, "", b'{"id":"150"}\n{"id":"150"}\n{"y":"hi"}\n'))
        r = tail(box, "-o", "oldest", "-e", "-J", "-s", "protobuf", "--schema-file", file, "demo", env=keys(registry.url))
        equal([json.loads(line)["payload"] for line in r.out.splitlines()], [{"id": "150"}, {"id": "150"}, {"y": "hi"}])
        equal(len(registry.calls), asked)
        box.boto3("kinesis").put_record(StreamName="demo", PartitionKey="k", Data=b"\x08\x07")  # no header
        r = tail(box, "-o", "oldest", "-e", "-s", "protobuf", "--schema-file", f"{file}#shop.Zebra", "demo", env=keys(registry.url))
        equal((r.code, r.err, r.out.splitlines()[3:]), (0, "", [b'{"id":"7"}']))
        r = tail(box, "-o", "oldest", "-e", "-s", "protobuf", "--schema-file", file, "demo", env=keys(registry.url))
        check(r.code == 1 and "it has no Glue header; give --schema-file FILE#MESSAGE" in r.err, r.err)
        for given, why in ((f"{file}#shop.None", "has no message shop.None"), (f"{folder}/none.desc#shop.Zebra", "none.desc: No such file"),
                           (f"{file}#", "no message is named behind the #")):
            r = tail(box, "-s", "protobuf", "--schema-file", given, "demo", env=keys(registry.url))
            check(r.code == 2 and why in r.err, (r.code, r.err))


@test
def the_right_is_listed():
    with Box(1, *NO_LIMITS) as box:
        def glue(*args):
            r = box.tail("--iam", *args, "demo")
            equal(r.code, 0)
            return [s for s in json.loads(r.out)["Statement"] if s["Action"] == ["glue:GetSchemaVersion"]]
        for decoder in ("avro", "glue", "protobuf", "auto", "base64,avro"):
            equal(glue("-s", decoder), [{"Effect": "Allow", "Action": ["glue:GetSchemaVersion"], "Resource": "*"}])
        equal(len(glue("-s", "avro", "--schema-file", f"{ID}=x.avsc")), 1)
        for args in (("-s", "gzip"), (), ("-s", "avro", "--schema-file", "x.avsc")):
            equal(glue(*args), [])


main(at_once=3)
