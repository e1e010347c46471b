"""A sandbox in a process of its own (stream-tail -M), for tests of the built command. SLOOP_BIN names the program."""

import base64
import json
import os
import re
import subprocess
import urllib.request

from command import end, environment, equal, read_some, run, sanitized, wait_until

BIN = os.environ["SLOOP_BIN"]
SANITIZED = sanitized(BIN)


class Box:
    """stream-tail -M as a context; ends by closing its standard input."""

    def __init__(self, shards=4, *args):
        self.process = subprocess.Popen([BIN, "-q", "-M", str(shards), *args], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        text = b""
        while b"AWS_SECRET_ACCESS_KEY" not in text or not text.endswith(b"\n"):
            piece = read_some(self.process.stdout.fileno())
            if not piece:
                raise AssertionError("no environment: " + self.process.stderr.read().decode())
            text += piece
        self.env = dict(re.fullmatch(r"export (\w+)=(.*)", line).groups() for line in text.decode().splitlines())
        self.url = self.env["AWS_ENDPOINT_URL"]

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.process.stdin.close()
        try:
            equal(self.process.wait(20), 0)
        finally:
            end(self.process)

    def call(self, operation, target="Kinesis_20131202", service="kinesis", **body):
        request = urllib.request.Request(self.url, json.dumps(body).encode(), {
            "Content-Type": "application/x-amz-json-1." + ("1" if service == "kinesis" else "0"),
            "X-Amz-Target": target + "." + operation,
            "Authorization": f"AWS4-HMAC-SHA256 Credential=sandbox/20260101/us-east-1/{service}/aws4_request, "
                             "SignedHeaders=host, Signature=0"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def dynamodb(self, operation, **body):
        return self.call(operation, "DynamoDB_20120810", "dynamodb", **body)

    def boto3(self, service):
        """A client that is not ours."""
        import boto3  # few tests need it, and it takes a second to come
        return boto3.client(service, endpoint_url=self.url, region_name=self.env["AWS_REGION"],
                            aws_access_key_id=self.env["AWS_ACCESS_KEY_ID"],
                            aws_secret_access_key=self.env["AWS_SECRET_ACCESS_KEY"])

    def make_stream(self, name, shards):
        self.call("CreateStream", StreamName=name, ShardCount=shards)
        wait_until(lambda: self.call("DescribeStreamSummary", StreamName=name)["StreamDescriptionSummary"]
                   ["StreamStatus"] == "ACTIVE", what=f"stream {name}")

    def make_table(self, name):
        self.dynamodb("CreateTable", TableName=name, BillingMode="PAY_PER_REQUEST",
                      AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                      KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                      StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
        wait_until(lambda: self.dynamodb("DescribeTable", TableName=name)["Table"]["TableStatus"] == "ACTIVE",
                   what=f"table {name}")

    def admin(self, path, text="", method="POST"):
        request = urllib.request.Request(self.url + path, text.encode(), method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read()

    def calls(self, operation):
        with urllib.request.urlopen(self.url + "/_sandbox/stats", timeout=10) as answer:
            return json.loads(answer.read())["operations"][operation]["calls"]

    def put(self, n, stream="demo", start=0, size=0):
        """Puts n records; returns [(shard, seq, text)] in the order they were put."""
        put = []
        for first in range(start, start + n, 200):
            texts = [f"record {i} ".ljust(size, "x") for i in range(first, min(first + 200, start + n))]
            answer = self.call("PutRecords", StreamName=stream, Records=[
                {"Data": base64.b64encode(t.encode()).decode(), "PartitionKey": f"key-{t[:12]}"} for t in texts])
            equal(answer["FailedRecordCount"], 0)
            put += [(r["ShardId"], r["SequenceNumber"], t) for r, t in zip(answer["Records"], texts)]
        return put

    def tail(self, *args, **more):
        return run(BIN, *args, env=self.env, **more)

    def start(self, *args, **more):
        more.setdefault("stdout", subprocess.PIPE)
        return subprocess.Popen([BIN, *args], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                env=environment(self.env), **more)


NO_LIMITS = ("-X", "sandbox.write_records_per_second=0", "-X", "sandbox.write_bytes_per_second=0")
