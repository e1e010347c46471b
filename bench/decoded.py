"""decoded.py PROGRAM [RECORDS] - -s avro and -s protobuf beside the libraries of their formats, in one run: orders, written
by fastavro (a file with each codec) and by protobuf (a message each), read by the library alone, by the library and
turned into JSON (what the decoder does), and by PROGRAM (build/bench/decoded). CPU seconds of one thread; the best of
three rounds of a library, of seven of ours. Needs a python that has fastavro and protobuf."""
import io
import json
import random
import struct
import subprocess
import sys
import tempfile
import time

import fastavro
import google.protobuf
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.internal import api_implementation

AVRO = fastavro.parse_schema({"type": "record", "name": "Order", "fields": [
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


def descriptor_set():
    """The same orders as a message, in a descriptor set as protoc writes one."""
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="order.proto", syntax="proto3")
    file.enum_type.add(name="S").value.extend([descriptor_pb2.EnumValueDescriptorProto(name="OPEN", number=0),
                                               descriptor_pb2.EnumValueDescriptorProto(name="CLOSED", number=1)])
    message = file.message_type.add(name="Order")
    entry = message.nested_type.add(name="TagsEntry")
    entry.options.map_entry = True
    line = file.message_type.add(name="Line")
    for where, name, number, of, type_name in (
            (message, "id", 1, field.TYPE_INT64, None), (message, "customer", 2, field.TYPE_STRING, None), (message, "paid", 3, field.TYPE_BOOL, None),
            (message, "total", 4, field.TYPE_DOUBLE, None), (message, "state", 5, field.TYPE_ENUM, ".S"), (message, "note", 6, field.TYPE_STRING, None),
            (message, "lines", 7, field.TYPE_MESSAGE, ".Line"), (message, "tags", 8, field.TYPE_MESSAGE, ".Order.TagsEntry"),
            (line, "sku", 1, field.TYPE_STRING, None), (line, "n", 2, field.TYPE_INT32, None),
            (entry, "key", 1, field.TYPE_STRING, None), (entry, "value", 2, field.TYPE_STRING, None)):
        many = field.LABEL_REPEATED if name in ("lines", "tags") else field.LABEL_OPTIONAL
        where.field.add(name=name, number=number, type=of, type_name=type_name, label=many)
    return descriptor_pb2.FileDescriptorSet(file=[file])


def best(what, rounds=3):
    took = []
    for _ in range(rounds):
        begun = time.process_time()
        what()
        took.append(time.process_time() - begun)
    return min(took)


def ours(decoders, records, schema=b""):
    with tempfile.NamedTemporaryFile() as f, tempfile.NamedTemporaryFile() as s:
        f.write(b"".join(struct.pack("=I", len(r)) + r for r in records))
        s.write(schema)
        f.flush()
        s.flush()
        args = [sys.argv[1], decoders, f.name] + ([s.name + "#Order"] if schema else [])
        return json.loads(subprocess.run(args, stdout=subprocess.PIPE, check=True, timeout=300).stdout)


def told(what, size, mine, library, reads, writes, by):
    mb = size / 1e6
    print(f"{what:13} {mb:6.1f} MB: {mine['mb_s']:6.1f} MB/s (JSON {mine['json_mb_s']:6.1f}), {library} {mb / reads:5.1f}, "
          f"with {by} {mb / writes:5.1f}: {mine['mb_s'] * writes / mb:.1f} times", flush=True)


def main():
    rng, records = random.Random(7), int((sys.argv[2:] or [100000])[0])
    orders = [order(rng, i) for i in range(records)]
    for codec in ("null", "deflate", "snappy"):
        out = io.BytesIO()
        fastavro.writer(out, AVRO, orders, codec=codec)
        data = out.getvalue()
        told("avro " + codec, len(data), ours("avro", [data]), "fastavro " + fastavro.__version__,
             best(lambda: [None for _ in fastavro.reader(io.BytesIO(data))]),
             best(lambda: [json.dumps(r) for r in fastavro.reader(io.BytesIO(data))]), "json.dumps")
    described = descriptor_set()
    pool = descriptor_pool.DescriptorPool()
    pool.Add(described.file[0])
    cls = message_factory.GetMessageClass(pool.FindMessageTypeByName("Order"))
    messages = [json_format.ParseDict({k: v for k, v in o.items() if v is not None}, cls()).SerializeToString() for o in orders]
    told("protobuf", sum(map(len, messages)), ours("protobuf", messages, described.SerializeToString()),
         f"protobuf {google.protobuf.__version__} ({api_implementation.Type()})", best(lambda: [cls.FromString(m) for m in messages]),
         best(lambda: [json_format.MessageToJson(cls.FromString(m), indent=None) for m in messages]), "MessageToJson")


main()
