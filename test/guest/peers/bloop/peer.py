"""One process of bloop on a table's stream, as its users write it: bound to the table, records in bloop's order, the token
printed at the end. Configured by the environment (README.md beside this folder); PEER_STREAM is the table.
"""

import json
import os
import signal
import sys
import threading
import time

import bloop
import boto3

WORKER, TABLE = os.environ["PEER_WORKER"], os.environ["PEER_STREAM"]


def line(kind, shard, first, second):
    sys.stdout.write(f"{kind}\t{time.time_ns() // 1000000}\t{WORKER}\t{shard}\t{first}\t{second}\n")
    sys.stdout.flush()


class Item(bloop.BaseModel):
    """The table that sandbox and tests make for it."""

    class Meta:
        table_name = TABLE
        stream = {"include": {"new", "old"}}

    id = bloop.Column(bloop.String, hash_key=True)
    body = bloop.Column(bloop.String)


def main():
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    clients = {name: boto3.client(service, endpoint_url=os.environ["PEER_ENDPOINT"], region_name="us-east-1")
               for name, service in (("dynamodb", "dynamodb"), ("dynamodbstreams", "dynamodbstreams"))}
    engine = bloop.Engine(**clients)
    engine.bind(Item)
    token = os.environ.get("PEER_TOKEN")
    stream = engine.stream(Item, json.loads(token) if token else "trim_horizon")
    line("event", "-", "started", str(os.getpid()))
    while not stop.is_set():
        record = next(stream)
        if record is None:
            stop.wait(0.2)
            continue
        line("record", "-", record["meta"]["sequence_number"], "0")
    line("event", "-", "token", json.dumps(stream.token))


if __name__ == "__main__":
    main()
