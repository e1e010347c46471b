"""avro_fastavro.py PROGRAM [COUNT] [SEED] - what -s avro makes of files and of values behind Glue's header is what fastavro
reads of the same bytes: random schemas and values, each codec that is built in, blocks of arrays and maps with their
sizes, and damaged ones. Of a damaged text it must make what fastavro makes, or refuse it, where fastavro is not stricter."""
import datetime
import decimal
import io
import json
import os
import random
import struct
import sys
import tempfile
import uuid
import zlib

import oracle

NAMES = iter(f"N{i}" for i in range(10**9))
LEAVES = ["null", "boolean", "int", "long", "float", "double", "bytes", "string"]


def word(rng):
    return "".join(rng.choice('ab Z"\\\n\t\u0001\x7f\x9fé\u2028€😀/') for _ in range(rng.randrange(9)))


def schema_of(rng, depth, named, space="", within=None):
    """A random schema; `named`: full names of what may be named again; `space`: the namespace of all of them; `within`: the
    one that is inherited here."""
    kinds = LEAVES + ["decimal", "fixed decimal", "enum", "fixed"]
    if named:
        kinds += ["again"] * 2
    if depth:
        kinds += ["record"] * 4 + ["array", "map", "union"] * 3
    kind = rng.choice(kinds)
    name = {"name": next(NAMES)}
    full = (space + "." if space else "") + name["name"]
    if within != space:
        name = rng.choice([{"name": full}, {**name, "namespace": space}])
    if kind in LEAVES:
        return kind if rng.random() < 0.7 else {"type": kind, "doc": "é"}
    if kind == "decimal":
        precision = rng.randint(1, 40)
        return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": rng.randint(0, precision)}
    if kind == "fixed decimal":
        return {"type": "fixed", **name, "size": 12, "logicalType": "decimal", "precision": 20, "scale": rng.randint(0, 20)}
    if kind == "enum":
        named.append((full, 0))
        return {"type": "enum", **name, "symbols": [f"S{i}" for i in range(rng.randint(1, 5))]}
    if kind == "fixed":
        named.append((full, 0))
        return {"type": "fixed", **name, "size": rng.choice([0, 1, 5, 16])}
    if kind == "again":
        full, recursive = rng.choice(named)
        if within == space and rng.random() < 0.5:
            full = full.rsplit(".", 1)[-1]
        return ["null", full] if recursive else full
    if kind == "array":
        return {"type": "array", "items": schema_of(rng, depth - 1, named, space, within)}
    if kind == "map":
        return {"type": "map", "values": schema_of(rng, depth - 1, named, space, within)}
    if kind == "union":
        branches = {}
        for _ in range(rng.randint(1, 4)):
            branch = schema_of(rng, depth - 1, named, space, within)
            if isinstance(branch, list) or (isinstance(branch, str) and branch not in LEAVES):
                continue
            kind = branch if isinstance(branch, str) else branch["type"]
            branches.setdefault(branch.get("name", kind) if isinstance(branch, dict) else kind, branch)
        return list(branches.values()) or ["null"]
    named.append((full, 1))
    fields = [{"name": f"f{i}", "type": schema_of(rng, depth - 1, named, space, space)} for i in range(rng.randint(0, 5))]
    named[named.index((full, 1))] = (full, 0)  # from here on it is defined, and need not be in a union
    return {"fields": fields, "type": rng.choice(["record", "error"]), **name}  # the order of members is free


# ---- an encoder of our own: fastavro writes no sizes of blocks. What it writes is judged by fastavro's reader ----

def zigzag(n):
    n = (n << 1) ^ (n >> 63)
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


class Writer:
    def __init__(self, rng):
        self.rng, self.types = rng, {}

    def learn(self, schema):
        """Notes every named type; each last part of a name is there once."""
        if isinstance(schema, list):
            for s in schema:
                self.learn(s)
        elif isinstance(schema, dict):
            if "name" in schema:
                self.types[schema["name"].rsplit(".", 1)[-1]] = schema
            for s in schema.get("fields", []):
                self.learn(s["type"])
            for member in ("items", "values"):
                if member in schema:
                    self.learn(schema[member])

    def blocks(self, n, item):
        out = b""
        while n:
            some = self.rng.randint(1, n)
            body = b"".join(item() for _ in range(some))
            out += zigzag(-some) + zigzag(len(body)) + body if self.rng.random() < 0.5 else zigzag(some) + body
            n -= some
        return out + zigzag(0)

    def value(self, schema, depth=0):
        rng = self.rng
        if isinstance(schema, list):
            branch = 0 if depth > 6 and schema[0] == "null" else rng.randrange(len(schema))
            return zigzag(branch) + self.value(schema[branch], depth)
        if isinstance(schema, str) and schema not in LEAVES:
            schema = self.types[schema.rsplit(".", 1)[-1]]
        kind = schema if isinstance(schema, str) else schema["type"]
        text = lambda: (lambda b: zigzag(len(b)) + b)(word(rng).encode())
        if kind == "null":
            return b""
        if kind == "boolean":
            return bytes([rng.randrange(2)])
        if kind in ("int", "long"):
            bits = rng.choice([1, 7, 8, 20, 31] + ([40, 63] if kind == "long" else []))
            return zigzag(rng.randrange(-(1 << bits), 1 << bits))
        if kind == "float":
            return rng.choice([rng.randbytes(4), struct.pack("<f", rng.uniform(-9, 9)), struct.pack("<f", rng.randint(-9, 9)),
                               struct.pack("<f", float("inf")), struct.pack("<f", -0.0)])
        if kind == "double":
            return rng.choice([rng.randbytes(8), struct.pack("<d", rng.uniform(-9, 9)), struct.pack("<d", rng.randint(-10**17, 10**17)),
                               struct.pack("<d", float("nan")), struct.pack("<d", -0.0), struct.pack("<d", 5e-324)])
        if isinstance(schema, dict) and "precision" in schema:  # fastavro rounds what has more digits
            n = rng.randrange(-10**schema["precision"] + 1, 10**schema["precision"])
            body = n.to_bytes(schema.get("size", n.bit_length() // 8 + 1), "big", signed=True)
            return body if kind == "fixed" else zigzag(len(body)) + body
        if kind == "bytes":
            body = rng.randbytes(rng.randrange(17))
            return zigzag(len(body)) + body
        if kind == "string":
            return text()
        if kind == "enum":
            return zigzag(rng.randrange(len(schema["symbols"])))
        if kind == "fixed":
            return rng.randbytes(schema["size"])
        few = rng.randrange(3 if depth > 3 else 5)
        if kind == "array":
            return self.blocks(few, lambda: self.value(schema["items"], depth + 1))
        if kind == "map":
            return self.blocks(few, lambda: text() + self.value(schema["values"], depth + 1))
        return b"".join(self.value(f["type"], depth + 1) for f in schema["fields"])


# ---- fastavro's value against our JSON ----

def alike(ours, theirs):
    """Is the JSON that value? Floats as bits are compared by as_json."""
    if isinstance(theirs, dict):
        return isinstance(ours, dict) and list(ours) == list(theirs) and all(alike(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(theirs, bytes):
        return ours == theirs.decode("latin-1")
    if isinstance(theirs, bool) or theirs is None or isinstance(theirs, str):
        return ours is theirs or (isinstance(theirs, str) and ours == theirs)
    if isinstance(theirs, datetime.datetime):  # times stay the numbers that they are stored as
        return ours == round(theirs.timestamp() * 1000)
    if isinstance(theirs, decimal.Decimal):
        if not isinstance(ours, (decimal.Decimal, int)) or isinstance(ours, bool):
            return False
        # fastavro rounds a damaged one that has more digits than its precision.
        return decimal.Context(prec=max(1, len(theirs.as_tuple().digits))).plus(decimal.Decimal(ours)) == theirs
    if isinstance(theirs, float):
        if theirs != theirs or theirs in (float("inf"), float("-inf")):
            return ours == {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(theirs)]
        if isinstance(ours, (str, bool)) or ours is None:
            return False
        got = float(str(ours)) if str(ours) != "-0" else -0.0
        if struct.pack("<d", got) == struct.pack("<d", theirs):
            return True
        # A float of 32 bits is written as short as reads as the same float.
        return struct.pack("<f", theirs) == struct.pack("<f", got) and struct.unpack("<f", struct.pack("<f", theirs))[0] == theirs
    return isinstance(ours, int) and not isinstance(ours, bool) and ours == theirs


def loads(text):
    return json.loads(text, parse_float=decimal.Decimal, parse_int=lambda s: decimal.Decimal("-0") if s == "-0" else int(s))


def main():
    program, count, seed = sys.argv[1], int((sys.argv[2:] or [1000])[0]), int((sys.argv[3:] or [7])[0])
    oracle.botocore_or_skip()
    try:
        import cramjam
        import fastavro
    except ImportError:
        print("skipped: no fastavro or no cramjam")
        sys.exit(oracle.SKIPPED)
    print("oracle: fastavro", fastavro.__version__)
    rng = random.Random(seed)
    decimal.getcontext().prec = 400
    cases, wants, told = [], [], []
    codecs = ["null", "deflate", "snappy", "zstandard"]
    folder = tempfile.TemporaryDirectory()
    for i in range(count):
        while True:
            schema = schema_of(rng, rng.randrange(5), [], rng.choice(["", "x.y"]), "")
            try:
                parsed = fastavro.parse_schema(json.loads(json.dumps(schema)))
                break
            except Exception:  # a union of the same type twice, a name that is not defined: no schema
                continue
        writer = Writer(rng)
        writer.learn(schema)
        values = []
        for _ in range(rng.randrange(6)):
            try:
                values.append(writer.value(schema))
            except RecursionError:
                pass
        sync = rng.randbytes(16)
        codec = rng.choice(codecs)
        meta = {"avro.schema": json.dumps(schema, ensure_ascii=rng.random() < 0.5).encode(), "avro.codec": codec.encode(), "x": b"\x00"}
        if codec == "null" and rng.random() < 0.5:
            del meta["avro.codec"]
        out = b"Obj\x01" + writer.blocks(len(meta), iter(zigzag(len(k)) + k.encode() + zigzag(len(v)) + v
                                                          for k, v in meta.items()).__next__) + sync
        left = list(values)
        while left:
            some = rng.randint(1, len(left))
            body = b"".join(left[:some])
            del left[:some]
            if codec == "deflate":
                z = zlib.compressobj(wbits=-15)
                packed = z.compress(body) + z.flush()
            elif codec == "snappy":
                packed = bytes(cramjam.snappy.compress_raw(body)) + struct.pack(">I", zlib.crc32(body))
            elif codec == "zstandard":
                packed = bytes(cramjam.zstd.compress(body))
            else:
                packed = body
            out += zigzag(some) + zigzag(len(packed)) + packed + sync
        if codec == "zstandard":  # fastavro needs another package for it: it reads the same file without
            read = [fastavro.schemaless_reader(io.BytesIO(v), parsed) for v in values]
        else:
            read = list(fastavro.reader(io.BytesIO(out)))  # the judge
        cases.append(("avro", "", out))
        wants.append(read)
        told.append((schema, out))
        if codec != "zstandard":
            written = io.BytesIO()
            try:
                fastavro.writer(written, parsed, read, codec=codec)
            except Exception:  # it does not find the branch of each union again
                written = None
            if written:
                cases.append(("avro", "", written.getvalue()))
                wants.append(list(fastavro.reader(io.BytesIO(written.getvalue()))))
                told.append((schema, written.getvalue()))
        if values and i % 4 == 0:
            path = os.path.join(folder.name, f"{i}.avsc")
            with open(path, "w") as f:
                json.dump(schema, f)
            of = uuid.UUID(bytes=rng.randbytes(16), version=4)
            body = values[0]
            packed = rng.random() < 0.5
            cases.append((rng.choice(["avro", "glue", "auto"]), rng.choice(["", f"{of}="]) + path,
                          b"\x03" + (b"\x05" if packed else b"\x00") + of.bytes + (zlib.compress(body) if packed else body)))
            wants.append([fastavro.schemaless_reader(io.BytesIO(body), parsed)])
            told.append((schema, body))
    answers = oracle.run(program, cases)
    lacking = 0
    for answer, want, what in zip(answers, wants, told, strict=True):
        if answer.startswith("!") and "is not built in" in oracle.from_hex(answer[1:]):
            lacking += 1
            continue
        if answer.startswith("!"):
            sys.exit(f"refused: {oracle.from_hex(answer[1:])}: {what}")
        text = oracle.from_hex(answer)
        lines = text.split("\n") if text else []
        if len(lines) != len(want) or not all(alike(loads(a), b) for a, b in zip(lines, want, strict=True)):
            sys.exit(f"another value: {lines} is not {want}: {what}")
    print(f"{len(cases)} texts of {count} schemas, {sum(map(len, wants))} values: the same; {lacking} of codecs that are not built in")
    amazons(program, fastavro)
    damage(program, rng, cases, fastavro)


def amazons(program, fastavro):
    """What Amazon's serialiser and Avro's own writer made (glue.py)."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "glue.json")) as f:
        rows = {name: bytes.fromhex(text) for name, text in json.load(f)["rows"].items()}
    schema = fastavro.parse_schema(json.loads(rows["schema"]))
    with tempfile.NamedTemporaryFile(suffix=".avsc") as f:
        f.write(rows["schema"])
        f.flush()
        cases, wants = [], []
        for name, text in rows.items():
            if name.startswith("avro:"):
                body = text[18:] if text[1] == 0 else zlib.decompress(text[18:])
                cases.append(("avro", f.name, text))
                wants.append([fastavro.schemaless_reader(io.BytesIO(body), schema)])
            if name.startswith("file:") and name != "file:zstandard":  # the same as the others, which the unit test holds
                cases.append(("auto", "", text))
                wants.append(list(fastavro.reader(io.BytesIO(text))))
        answers = oracle.run(program, cases)
    for answer, want, case in zip(answers, wants, cases, strict=True):
        lines = oracle.from_hex(answer).split("\n")
        if len(lines) != len(want) or not all(alike(loads(a), b) for a, b in zip(lines, want, strict=True)):
            sys.exit(f"another value: {lines} is not {want}: {case}")
    print(f"{len(cases)} texts of Java's writers: the same")


def damage(program, rng, cases, fastavro):
    """A byte changed, or the end cut off. What is taken must be what fastavro reads of it."""
    damaged = []
    for _, _, text in [c for c in cases if c[0] == "avro" and not c[1] and b"zstandard" not in c[2]]:
        at = rng.randrange(4, len(text))
        damaged.append(text[:at] if rng.random() < 0.3 else text[:at] + bytes([text[at] ^ rng.randint(1, 255)]) + text[at + 1:])
    answers = oracle.run(program, [("avro", "", t) for t in damaged])
    taken = refused = theirs_only = ours_only = 0
    for answer, text in zip(answers, damaged, strict=True):
        try:
            want = list(fastavro.reader(io.BytesIO(text)))
        except Exception:  # whatever fastavro raises: it refuses it
            want = None
        if answer.startswith("!"):
            refused += 1
            theirs_only += want is not None
            continue
        lines = oracle.from_hex(answer).split("\n") if answer != "-" else []
        taken += 1
        if want is None:
            ours_only += 1
            if "-v" in sys.argv:
                print("taken by ours alone:", text)
            continue
        if len(lines) != len(want) or not all(alike(loads(a), b) for a, b in zip(lines, want, strict=True)):
            sys.exit(f"another value of a damaged text: {lines} is not {want}: {text}")
    print(f"{len(damaged)} damaged: {refused} refused ({theirs_only} of them read by fastavro), {taken} read, "
          f"{ours_only} of them not by fastavro")


if __name__ == "__main__":
    main()
