"""CPU of the whole command, by payload and format: command.py [--rounds 5] [--small] [--before FILE] [BODY...]

Each run is a process of its own on the first CPU that reads a whole stream over plain HTTP from the sandbox on the second and
writes to /dev/null. Formats and searches follow each other in turn within a round, so that their ratio to `-f ''` of the same
round holds while the machine's speed drifts. --before: a stream-tail to compare with, in the same rounds."""

import argparse
import base64
import http.client
import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

from server import Failed, Server, environment

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("SLOOP_BUILD", os.path.join(ROOT, "build"))
SHARDS, LIMIT_S = 4, 120
READING = ["-f", ""]
FORMATS = {"-J": ["-J"], "payload lines": [], "-f '%T %k %s'": ["-f", "%T %k %s\\n"],
           "-f '%p %o %u %S'": ["-f", "%p %o %u %S\\n"], "-K: --timestamps": ["-K:", "--timestamps", "--utc"]}
SEARCHES = {"--grep hello": ["--grep", "hello"], "error|fatal": ["--grep", "error|fatal"],
            "[a-z]+[0-9]{4}x": ["--grep", "[a-z]+[0-9]{4}x"], "-i error": ["-i", "--grep", "error"]}
WORDS = ("amber basket copper dinner engine forest garden harbor island jacket kitten ladder market needle orange pencil "
         "quiver ribbon silver tunnel useful velvet window yellow zipper").split()


@dataclass
class Body:
    kind: str  # synthetic, words, orders or table
    size: int  # bytes of a payload, about
    megabytes: int


BODIES = {
    "synthetic 1 KiB": Body("synthetic", 1024, 400), "synthetic 100 B": Body("synthetic", 100, 120),
    "words 1 KiB": Body("words", 1024, 250), "words 100 B": Body("words", 100, 80), "words 64 KiB": Body("words", 65536, 400),
    "JSON 1 KiB": Body("orders", 1024, 250), "JSON 100 B": Body("orders", 100, 80),
    "table 1 KiB": Body("table", 1024, 60), "table 200 B": Body("table", 200, 20),
}


def words_of(rand, size):
    text = ""
    while len(text) < size:
        text += rand.choice(WORDS) + " "
    return text[:size]


def order_of(rand, size):
    """An order as a shop would put it: members of some length, numbers, a list of lines."""
    if size < 300:
        text = json.dumps({"id": rand.randrange(10**6), "user": rand.choice(WORDS), "total": rand.randrange(99999) / 100,
                           "paid": rand.random() < 0.5, "note": "n"}, separators=(",", ":"))
        return text[:-2] + "o" * max(0, size - len(text)) + text[-2:]
    order = {"id": f"order-{rand.randrange(10**8)}", "customer": {"name": words_of(rand, 14), "vip": rand.random() < 0.5},
             "at": "2026-11-07T10:00:00Z", "lines": []}
    while len(json.dumps(order, separators=(",", ":"))) < size - 40:
        order["lines"].append({"sku": f"{rand.choice(WORDS)}-{rand.randrange(1000)}", "n": rand.randrange(1, 9),
                               "price": rand.randrange(9999) / 100, "gift": rand.random() < 0.5})
    return json.dumps(order, separators=(",", ":"))


def item_of(rand, number, size):
    """An item of a table with attributes of the usual types."""
    return {"id": {"S": f"order-{number}"}, "total": {"N": str(rand.randrange(99999) / 100)}, "paid": {"BOOL": rand.random() < 0.5},
            "tags": {"SS": sorted(rand.sample(WORDS, 3))}, "raw": {"B": base64.b64encode(rand.randbytes(12)).decode()},
            "address": {"M": {"city": {"S": rand.choice(WORDS)}, "zip": {"N": str(rand.randrange(10000, 99999))}}},
            "note": {"S": words_of(rand, max(size - 180, 8))}}


def fill_table(server, name, body):
    """Puts items into a table whose stream has old and new images."""
    rand = random.Random(1)
    server.call("CreateTable", "DynamoDB_20120810", TableName=name, BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
    while server.call("DescribeTable", "DynamoDB_20120810", TableName=name)["Table"]["TableStatus"] != "ACTIVE":
        time.sleep(0.05)
    count = body.megabytes * 10**6 // body.size
    to = http.client.HTTPConnection(server.plain.split("//")[1], timeout=30)
    headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810.BatchWriteItem",
               "Authorization": "AWS4-HMAC-SHA256 Credential=BENCHKEY/20260101/us-east-1/dynamodb/aws4_request, "
                                "SignedHeaders=host, Signature=0"}
    items = [item_of(rand, number, body.size) for number in range(1000)]
    for first in range(0, count, 25):
        puts = [{"PutRequest": {"Item": {**items[n % 1000], "id": {"S": f"order-{n}"}}}} for n in range(first, min(first + 25, count))]
        to.request("POST", "/", json.dumps({"RequestItems": {name: puts}}), headers)
        answer = to.getresponse()
        said = answer.read()
        if answer.status != 200 or json.loads(said)["UnprocessedItems"]:
            raise Failed(f"BatchWriteItem: {said[:300]}")
    return count


def fill_stream(server, name, body):
    """Puts lines of 1000 different payloads."""
    rand, make = random.Random(1), {"words": words_of, "orders": order_of}[body.kind]
    lines = [f"user-{n}:{make(rand, body.size)}\n".encode() for n in range(1000 if body.size < 9999 else 50)]
    server.order("POST", f"stream?name={name}&shards={SHARDS}")
    count = body.megabytes * 10**6 // body.size
    with tempfile.TemporaryFile() as file:
        for n in range(count):
            file.write(lines[n % len(lines)])
        file.seek(0)
        subprocess.run([os.path.join(BUILD, "stream-tail"), "-q", "-P", "-K:", "-b", server.plain, name], stdin=file, check=True,
                       env=environment(server), stdout=subprocess.DEVNULL)
    return count


def fill(server, name, body):
    """Makes the stream of a body. Returns what the command calls it and how many records it has."""
    if body.kind == "table":
        return "dynamodb:" + name, fill_table(server, name, body)
    if body.kind != "synthetic":
        return name, fill_stream(server, name, body)
    count = body.megabytes * 10**6 // body.size // SHARDS
    server.order("POST", f"synthetic?name={name}&shards={SHARDS}&bytes={body.size}&records={count}")
    return name, count * SHARDS


def cpu_of(command, server):
    """CPU seconds of one run, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, env=environment(server), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   timeout=LIMIT_S, preexec_fn=lambda: os.sched_setaffinity(0, {server.cpu}))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(server, stream, cases, programs, rounds):
    """{(program, case): CPU seconds of each round}"""
    found = {}
    for _ in range(rounds):
        for case, options in cases.items():
            for program, path in programs.items():
                command = [path, "-o", "oldest", "-e", "-q", "-b", server.plain, *options, stream]
                found.setdefault((program, case), []).append(cpu_of(command, server))
    return found


def ratio(of, to):
    return statistics.median(a / b for a, b in zip(of, to))


def report(what, found, cases, programs, gigabytes, count):
    for case in cases:
        cells = []
        for program in programs:
            seconds = found[program, case]
            cells.append(f"{statistics.median(seconds) / gigabytes:.2f} s/GB, {ratio(seconds, found[program, 'reading']):.2f} x, "
                         f"{statistics.median(a - b for a, b in zip(seconds, found[program, 'reading'])) * 1e9 / count:.0f} ns a record")
        print(f"| {what} | {case} | " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description="CPU of the whole command, by payload and format.")
    parser.add_argument("bodies", nargs="*", metavar="BODY")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="one round of few records: does all of it work?")
    parser.add_argument("--before", default="", help="a stream-tail to compare with")
    parser.add_argument("--only", default="", help="cases whose name this expression matches")
    options = parser.parse_args()
    programs = {"now": os.path.join(BUILD, "stream-tail"), **({"before": options.before} if options.before else {})}
    server = Server(os.path.join(BUILD, "bench", "peers_server"))
    try:
        for number, (what, body) in enumerate(BODIES.items()):
            if options.bodies and what not in options.bodies:
                continue
            if options.small:
                body.megabytes = 2
            stream, count = fill(server, f"body-{number}", body)
            cases = FORMATS if body.kind == "table" else {**FORMATS, **SEARCHES}
            cases = {"reading": READING, **{case: o for case, o in cases.items() if re.search(options.only, case)}}
            found = measure(server, stream, cases, programs, 1 if options.small else options.rounds)
            report(what, found, cases, programs, count * body.size / 1e9, count)
            if body.kind == "table":
                server.call("DeleteTable", "DynamoDB_20120810", TableName=f"body-{number}")
            elif body.kind != "synthetic":
                server.call("DeleteStream", StreamName=f"body-{number}")
    finally:
        server.close()
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        sys.exit(str(failed))
