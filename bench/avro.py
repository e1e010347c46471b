"""avro.py PROGRAM [RECORDS] - the decoder of -s avro beside fastavro, in one run: a file of orders, made by fastavro with each
codec, read by fastavro alone, by fastavro and json.dumps (what -s avro does), and by PROGRAM (build/bench/avro). CPU
seconds of one thread; the best of three rounds of fastavro, of seven of ours. Needs a python that has fastavro."""
import io
import json
import random
import subprocess
import sys
import tempfile
import time

import fastavro

SCHEMA = fastavro.parse_schema({"type": "record", "name": "Order", "fields": [
    {"name": "id", "type": "long"}, {"name": "customer", "type": "string"}, {"name": "paid", "type": "boolean"},
    {"name": "total", "type": "double"}, {"name": "state", "type": {"type": "enum", "name": "S", "symbols": ["OPEN", "CLOSED"]}},
    {"name": "note", "type": ["null", "string"]}, {"name": "lines", "type": {"type": "array", "items": {
        "type": "record", "name": "Line", "fields": [{"name": "sku", "type": "string"}, {"name": "n", "type": "int"}]}}},
    {"name": "tags", "type": {"type": "map", "values": "string"}}]})


def order(rng, i):
    return {"id": i, "customer": f"customer-{rng.randrange(10**6)}", "paid": i % 3 == 0, "total": rng.randrange(10**6) / 100,
            "state": rng.choice(["OPEN", "CLOSED"]), "note": None if i % 2 else "as agreed by telephone",
            "lines": [{"sku": f"SKU{rng.randrange(10**5)}", "n": rng.randrange(9)} for _ in range(rng.randrange(4))],
            "tags": {"region": "eu-west-1"}}


def best(what, rounds=3):
    took = []
    for _ in range(rounds):
        begun = time.process_time()
        what()
        took.append(time.process_time() - begun)
    return min(took)


def main():
    rng, records = random.Random(7), int((sys.argv[2:] or [100000])[0])
    orders = [order(rng, i) for i in range(records)]
    for codec in ("null", "deflate", "snappy"):
        out = io.BytesIO()
        fastavro.writer(out, SCHEMA, orders, codec=codec)
        data = out.getvalue()
        reads = best(lambda: [None for _ in fastavro.reader(io.BytesIO(data))])
        writes = best(lambda: [json.dumps(r) for r in fastavro.reader(io.BytesIO(data))])
        with tempfile.NamedTemporaryFile() as f:
            f.write(data)
            f.flush()
            ours = json.loads(subprocess.run([sys.argv[1], f.name], capture_output=True, check=True, timeout=300).stdout)
        mb = len(data) / 1e6
        print(f"{codec:8} {mb:6.1f} MB: -s avro {ours['mb_s']:6.1f} MB/s (JSON {ours['json_mb_s']:6.1f}), fastavro "
              f"{fastavro.__version__} {mb / reads:5.1f}, with json.dumps {mb / writes:5.1f}: {ours['mb_s'] * writes / mb:.1f} times")


main()
