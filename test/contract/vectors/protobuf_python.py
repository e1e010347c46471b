"""-s protobuf against PyPI's protobuf (upb): random descriptor sets (proto2, proto3, edition 2023) and messages, written by an
encoder of our own as odd as the format allows: fields in any order, given again, packed or not, unknown ones between them.
What json_format makes of a message must be what ours makes; what upb refuses, ours refuses. protobuf_python.py PROGRAM [COUNT
[SEED]], where PROGRAM is build/test/contract/vectors/vectors_avro_stdin."""

import json
import os
import random
import re
import struct
import sys
import tempfile
import uuid
import zlib

import oracle

oracle.botocore_or_skip()
try:
    import google.protobuf
    from google.protobuf import any_pb2, descriptor_pb2 as d, descriptor_pool, duration_pb2, empty_pb2, field_mask_pb2
    from google.protobuf import json_format, message_factory, struct_pb2, timestamp_pb2, wrappers_pb2
except ImportError:
    print("skipped: no protobuf")
    sys.exit(oracle.SKIPPED)

F = d.FieldDescriptorProto
KNOWN = [m.DESCRIPTOR for m in (any_pb2, duration_pb2, empty_pb2, field_mask_pb2, struct_pb2, timestamp_pb2, wrappers_pb2)]
KNOWN_NAMES = ["Any", "Duration", "Empty", "FieldMask", "Struct", "Value", "ListValue", "Timestamp", "DoubleValue", "FloatValue",
               "Int64Value", "UInt64Value", "Int32Value", "UInt32Value", "BoolValue", "StringValue", "BytesValue"]
VARINT, F64, BYTES, GROUP, GROUP_END, F32 = range(6)
WIRE = {F.TYPE_DOUBLE: F64, F.TYPE_FIXED64: F64, F.TYPE_SFIXED64: F64, F.TYPE_FLOAT: F32, F.TYPE_FIXED32: F32, F.TYPE_SFIXED32: F32,
        F.TYPE_STRING: BYTES, F.TYPE_BYTES: BYTES, F.TYPE_MESSAGE: BYTES, F.TYPE_GROUP: GROUP}
SCALARS = [t for t in range(1, 19) if t not in (F.TYPE_GROUP, F.TYPE_MESSAGE, F.TYPE_ENUM)]
KEYS = [t for t in SCALARS if t not in (F.TYPE_DOUBLE, F.TYPE_FLOAT, F.TYPE_BYTES)]


# ---- schemas ----

class Schema:
    def __init__(self, rng, syntax, name):
        self.rng, self.syntax, self.names = rng, syntax, 0
        self.file = d.FileDescriptorProto(name=name + ".proto", package=rng.choice(["shop", "a.b", ""]))
        self.file.dependency.extend(k.name for k in KNOWN)
        self.file.syntax = syntax
        if syntax == "editions":
            self.file.edition = d.EDITION_2023
            features = self.file.options.features
            if rng.random() < .3:
                features.field_presence = rng.choice([1, 2])
            if rng.random() < .3:
                features.enum_type = rng.choice([1, 2])
            if rng.random() < .3:
                features.message_encoding = rng.choice([1, 2])
            if rng.random() < .3:
                features.utf8_validation = rng.choice([2, 3])
        self.prefix = "." + self.file.package if self.file.package else ""
        self.messages, self.enums = [], []
        for _ in range(rng.randint(1, 3)):
            self.enum(self.file.enum_type, self.prefix)
        for _ in range(rng.randint(1, 4)):
            self.message(self.file.message_type, self.prefix, 0)
        for m, full in self.messages:
            if not m.options.map_entry:
                self.fields(m, full)
        if syntax == "proto2":
            for m, full in self.messages:
                if not m.options.map_entry and rng.random() < .3:
                    m.extension_range.add(start=5000, end=6000)
                    e = self.file.extension.add(name=self.name(), number=5000, extendee=full)
                    self.of_type(e, rng.choice([F.LABEL_OPTIONAL, F.LABEL_REPEATED]), groups=False)

    def name(self):
        self.names += 1
        return self.rng.choice(["f", "some_field", "a_1_b", "_x", "camelCase", "UPPER_y", "x__z", "trail_"]) + str(self.names)

    def enum(self, to, prefix):
        e = to.add(name="E" + self.name())
        first = 0 if self.syntax != "proto2" else self.rng.choice([0, 0, 3, -5])
        if self.syntax == "editions" and self.rng.random() < .3:
            e.options.features.enum_type = self.rng.choice([1, 2])
        numbers = [first] + self.rng.sample([1, 2, 4, 7, 100, -1, 2**31 - 1, -2**31], self.rng.randint(0, 5))
        if self.rng.random() < .2:
            numbers.append(numbers[0])
            e.options.allow_alias = True
        for n in numbers:
            e.value.add(name="V" + self.name(), number=n)
        self.enums.append((e, f"{prefix}.{e.name}"))

    def message(self, to, prefix, depth):
        m = to.add(name="M" + self.name())
        full = f"{prefix}.{m.name}"
        self.messages.append((m, full))
        if self.rng.random() < .2:
            self.enum(m.enum_type, full)
        for _ in range(self.rng.choice([0, 0, 0, 1, 2]) if depth < 3 else 0):
            self.message(m.nested_type, full, depth + 1)

    def of_type(self, f, label, groups=True):
        rng = self.rng
        f.label = label
        kind = rng.random()
        if kind < .55:
            f.type = rng.choice(SCALARS)
        elif kind < .68:
            enum, f.type_name = rng.choice(self.enums)
            f.type = F.TYPE_ENUM
        elif kind < .75 and label == F.LABEL_REPEATED:
            f.type, f.type_name = F.TYPE_ENUM, ".google.protobuf.NullValue" if self.syntax == "proto3" else rng.choice(self.enums)[1]
        elif kind < .88:
            f.type, f.type_name = F.TYPE_MESSAGE, ".google.protobuf." + rng.choice(KNOWN_NAMES)
        else:
            f.type, f.type_name = F.TYPE_MESSAGE, rng.choice([n for m, n in self.messages if not m.options.map_entry])
            if groups and self.syntax == "proto2" and rng.random() < .4:
                f.type = F.TYPE_GROUP
            if groups and self.syntax == "editions" and rng.random() < .3:
                f.options.features.message_encoding = rng.choice([1, 2])
        if label == F.LABEL_REPEATED and WIRE.get(f.type, VARINT) not in (BYTES, GROUP) and rng.random() < .3 and self.syntax != "editions":
            f.options.packed = rng.random() < .5
        if self.syntax == "editions" and label != F.LABEL_REPEATED and f.type not in (F.TYPE_MESSAGE, F.TYPE_GROUP) and rng.random() < .3:
            f.options.features.field_presence = rng.choice([1, 2])
            if f.type == F.TYPE_ENUM:
                f.options.features.field_presence = 1

    def fields(self, m, full):
        rng, numbers = self.rng, list(range(1, 16)) + [16, 100, 2047, 2048, 4000, 19, 536870911]
        rng.shuffle(numbers)
        for _ in range(rng.randint(0, 9)):
            what = rng.random()
            if what < .15:
                self.map(m, full, numbers.pop())
            elif what < .3:
                m.oneof_decl.add(name="o" + self.name())
                for _ in range(rng.randint(1, 4)):
                    f = m.field.add(name=self.name(), number=numbers.pop(), oneof_index=len(m.oneof_decl) - 1)
                    self.of_type(f, F.LABEL_OPTIONAL)
                    f.options.features.ClearField("field_presence")
                if len(numbers) < 6:
                    break
            else:
                f = m.field.add(name=self.name(), number=numbers.pop())
                self.of_type(f, F.LABEL_REPEATED if rng.random() < .4 else F.LABEL_OPTIONAL)
            if rng.random() < .1:
                m.field[-1].json_name = rng.choice(["\u00e9", "json name", "x"]) + str(self.names)
        for f in list(m.field):  # proto3's optional: each has a oneof of its own, behind the others
            if self.syntax == "proto3" and f.label == F.LABEL_OPTIONAL and not f.HasField("oneof_index") and rng.random() < .2:
                f.proto3_optional = True
                f.oneof_index = len(m.oneof_decl)
                m.oneof_decl.add(name="_" + f.name)

    def map(self, m, full, number):
        rng, base = self.rng, "m" + str(self.names)
        self.names += 1
        entry = m.nested_type.add(name=base.capitalize() + "Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=F.LABEL_OPTIONAL, type=rng.choice(KEYS))
        value = entry.field.add(name="value", number=2)
        self.of_type(value, F.LABEL_OPTIONAL, groups=False)
        value.options.Clear()
        value.ClearField("options")
        f = m.field.add(name=base, number=number, label=F.LABEL_REPEATED, type=F.TYPE_MESSAGE, type_name=f"{full}.{entry.name}")
        return f


# ---- messages ----

def varint(n, rng=None):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    if rng and len(out) < 8 and rng.random() < .03:  # longer than it must be
        out += bytes([n | 128, 0])
    else:
        out.append(n)
    return bytes(out)


class Writer:
    def __init__(self, rng, any_of):
        self.rng, self.any_of = rng, any_of

    def tag(self, number, wire):
        return varint(number << 3 | wire)

    def text(self):
        r = self.rng
        s = "".join(r.choice(["a", "_", "/", '"', "\\", "\n", "\x7f", "\u00e9", "\u2028", "\U0001f600", "\0"]) for _ in range(r.randrange(6)))
        return s.encode() if r.random() < .995 else b"\xff" + s.encode()

    def number(self, f):
        r, t = self.rng, f.type
        n = r.choice([0, 0, 1, -1, 127, 128, 150, 2**31 - 1, -2**31, 2**32 - 1, 2**53 + 1, 2**63 - 1, -2**63, 2**64 - 1, r.getrandbits(64)])
        if t == F.TYPE_ENUM and r.random() < .7:
            n = r.choice([v.number for v in f.enum_type.values])
        if t == F.TYPE_DOUBLE:
            return r.choice([r.randbytes(8), struct.pack("<d", r.choice([0., -0., 1.5, 1e300, 5e-324, float("nan"), float("inf"), r.uniform(-9, 9)]))])
        if t == F.TYPE_FLOAT:
            return r.choice([r.randbytes(4), struct.pack("<f", r.choice([0., -0., 1.5, 1e30, float("-inf"), r.uniform(-9, 9)]))])
        if t in (F.TYPE_FIXED64, F.TYPE_SFIXED64):
            return struct.pack("<Q", n & (2**64 - 1))
        if t in (F.TYPE_FIXED32, F.TYPE_SFIXED32):
            return struct.pack("<I", n & (2**32 - 1))
        return varint(n, r)

    def known(self, m, depth):
        """Values that have a JSON, mostly."""
        r, name = self.rng, m.name
        if name in ("Timestamp", "Duration"):
            seconds = r.choice([0, 1, -1, 1700000000, -62135596800, 253402300799, 315576000000, -315576000000, -62135596801, 253402300800])
            nanos = r.choice([0, 0, 1, 1000, 1000000, 999999999, 500000000, 1000000000, -1])
            if name == "Duration" and seconds < 0:
                nanos = -nanos
            return b"\x08" + varint(seconds) + b"\x10" + varint(nanos)
        if name == "FieldMask":
            return b"".join(b"\x0a" + varint(len(p)) + p for p in r.choices([b"a", b"a_b.c_d", b"", b"x.y", b"a1_b", b"B", b"a_", b"a__b", b"a_1"],
                                                                                 [9, 9, 3, 9, 5, .2, .2, .2, .2], k=r.randrange(4)))
        if name == "Any" and depth < 8:
            if r.random() < .1:
                return b""
            of = r.choice(self.any_of)
            url = ("type.googleapis.com/" + of.full_name).encode() if r.random() < .99 else b"x.y/none"
            value = self.message(of, depth + 1)
            return b"\x0a" + varint(len(url)) + url + (b"\x12" + varint(len(value)) + value if value or r.random() < .5 else b"")
        return None

    def message(self, m, depth=0):
        r, out = self.rng, b""
        if m.file.package == "google.protobuf" and r.random() < .95:
            made = self.known(m, depth)
            if made is not None:
                return made
        fields = list(m.fields) + [e for e in m.file.pool.FindAllExtensions(m)]
        picked = [f for f in fields if r.random() < (.5 if depth < 4 else .15)]
        if r.random() < .3:
            picked += r.choices(fields, k=2) if fields else []
            r.shuffle(picked)
        for f in picked:
            for _ in range(r.randrange(4) if f.is_repeated else 1):
                out += self.field(f, depth)
        if r.random() < .1:
            out += self.unknown(0)
        if r.random() < .1 and fields:  # a wire type that the field has not
            f = r.choice(fields)
            out += self.tag(f.number, VARINT) + b"\x05"
        return out

    def unknown(self, depth):
        r, number = self.rng, self.rng.choice([9999, 1000, 18, 536870910])
        kind = r.randrange(5)
        if kind == 0:
            return self.tag(number, VARINT) + varint(r.getrandbits(64))
        if kind == 1:
            return self.tag(number, F64) + r.randbytes(8)
        if kind == 2:
            return self.tag(number, F32) + r.randbytes(4)
        if kind == 3:
            return self.tag(number, BYTES) + b"\x03abc"
        return self.tag(number, GROUP) + (self.unknown(depth + 1) if depth < 5 else b"") + self.tag(number, GROUP_END)

    def field(self, f, depth):
        r = self.rng
        wire = WIRE.get(f.type, VARINT)
        if wire == BYTES and f.type == F.TYPE_MESSAGE:
            if depth > 12:
                return b""
            body = self.message(f.message_type, depth + 1)
            return self.tag(f.number, BYTES) + varint(len(body), r) + body
        if wire == GROUP:
            return b"" if depth > 12 else self.tag(f.number, GROUP) + self.message(f.message_type, depth + 1) + self.tag(f.number, GROUP_END)
        if wire == BYTES:
            body = self.text() if f.type == F.TYPE_STRING else r.randbytes(r.randrange(6))
            return self.tag(f.number, BYTES) + varint(len(body), r) + body
        if f.is_repeated and r.random() < .5:
            body = b"".join(self.number(f) for _ in range(r.randrange(5)))
            return self.tag(f.number, BYTES) + varint(len(body), r) + body
        return self.tag(f.number, wire) + self.number(f)


# ---- judging ----

def pairs(items):
    made = dict(items)
    if len(made) != len(items):
        raise ValueError(f"a name twice: {items}")
    return made


def differ(a, b):
    if "-v" in sys.argv:
        print("ours:", a, "\ntheirs:", b)
    return False


def alike(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        b = {k: v for k, v in b.items() if v != [] or k[:1] != "[" or k in a}  # upb keeps a packed extension of no numbers
        return a.keys() == b.keys() and all(alike(a[k], b[k]) for k in a) or differ(a, b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, bool) or isinstance(b, bool) or isinstance(a, str) or isinstance(b, str) or a is None or b is None:
        return type(a) is type(b) and a == b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return struct.pack("<d", a) == struct.pack("<d", b) if float in (type(a), type(b)) else a == b
    return False


def judge(cls, pool, body):
    """What json_format makes of it, or None and why not."""
    try:
        return json_format.MessageToJson(cls.FromString(body), descriptor_pool=pool), ""
    except Exception as e:  # whatever it raises: it refuses it
        return None, f"{type(e).__name__}: {e}"


def not_utf8(text):
    return text is not None and "b'" in text and "\\\\x" in text  # json_format writes a proto2 string that is not UTF-8 as b'...'


def main():
    program, count, seed = sys.argv[1], int((sys.argv[2:] or [1000])[0]), int((sys.argv[3:] or [7])[0])
    print("oracle: protobuf", google.protobuf.__version__)
    rng = random.Random(seed)
    folder = tempfile.TemporaryDirectory()
    cases, wants, told = [], [], []
    for i in range(count):
        while True:
            schema = Schema(rng, rng.choice(["proto2", "proto3", "editions"]), f"t{i}")
            pool = descriptor_pool.DescriptorPool()
            files = []
            try:
                for k in KNOWN:
                    proto = d.FileDescriptorProto()
                    k.CopyToProto(proto)
                    files.append(proto)
                    pool.Add(proto)
                files.append(schema.file)
                pool.Add(schema.file)
                file = pool.FindFileByName(schema.file.name)
                break
            except TypeError:  # no schema
                continue
        every = []

        def walk(ms):
            for m in ms:
                every.append(m)
                walk(m.nested_types)
        walk(file.message_types_by_name.values())
        every.sort(key=lambda m: m.full_name.encode())
        usable = [m for m in every if not m.GetOptions().map_entry]
        known = [pool.FindMessageTypeByName("google.protobuf." + n) for n in KNOWN_NAMES]
        writer = Writer(rng, usable + known)
        path = os.path.join(folder.name, f"{i}.desc")
        with open(path, "wb") as f:
            f.write(d.FileDescriptorSet(file=files).SerializeToString())
        for _ in range(6):
            m = rng.choice(usable)
            cls = message_factory.GetMessageClass(m)
            body = writer.message(m)
            if rng.random() < .25 and body:  # damaged
                at = rng.randrange(len(body))
                body = body[:at] if rng.random() < .3 else body[:at] + bytes([body[at] ^ rng.randint(1, 255)]) + body[at + 1:]
            if len(body) > 200000:
                continue
            if rng.random() < .5 and body:
                case = ("protobuf", f"{path}#{m.full_name}", body)
            else:
                of = uuid.UUID(bytes=rng.randbytes(16), version=4)
                packed, inner = rng.random() < .5, varint(every.index(m)) + body
                case = (rng.choice(["protobuf", "glue", "auto"]), rng.choice(["", f"{of}="]) + path,
                        b"\x03" + (b"\x05" if packed else b"\x00") + of.bytes + (zlib.compress(inner) if packed else inner))
            cases.append(case)
            wants.append(judge(cls, pool, body))
            told.append((str(schema.file) if "-v" in sys.argv else path, m.full_name, body))
    answers = oracle.run(program, cases)
    same = both = ours_only = 0
    theirs_only = {}
    for answer, (want, why), what in zip(answers, wants, told, strict=True):
        if answer.startswith("!"):
            reason = oracle.from_hex(answer[1:])
            if want is None:
                both += 1
            elif "not UTF-8" in reason and not_utf8(want):
                theirs_only[reason] = theirs_only.get(reason, 0) + 1
            else:
                sys.exit(f"refused: {reason}: {want}: {what}")
            continue
        if want is None:
            ours_only += 1
            print("taken by ours alone:", why, oracle.from_hex(answer), what)
            continue
        ours = json.loads(oracle.from_hex(answer), object_pairs_hook=pairs, parse_int=lambda n: -0.0 if n == "-0" else int(n))
        if not alike(ours, json.loads(want)):
            sys.exit(f"another value: {oracle.from_hex(answer)}\nis not {want}\n{what}")
        same += 1
    print(f"{len(cases)} messages of {count} descriptor sets: {same} the same, {both} refused by both, {ours_only} taken by ours alone; "
          f"taken by protobuf alone: {theirs_only}")
    sys.exit(every_offset(program) + ours_only > 0)


def every_offset(program):
    """The messages of protobuf.h with each of their bytes changed, and cut behind each: as upb reads them, or refused."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "protobuf.h")) as f:
        parts = f.read().split("protobuf_rows[]")[1].split('\n    {"')[1:]
    rows = {p.split('"')[0]: bytes(int(octal, 8) for octal in re.findall(r"\\(\d{3})", p)) for p in parts}
    cases, wants = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, body in rows.items():
            if not name.startswith("message:"):
                continue
            full = name.split(":")[1]
            path = os.path.join(folder, full)
            with open(path, "wb") as f:
                f.write(rows["set:" + full.split(".")[0]])
            pool = descriptor_pool.DescriptorPool()
            for file in d.FileDescriptorSet.FromString(rows["set:" + full.split(".")[0]]).file:
                pool.Add(file)
            cls = message_factory.GetMessageClass(pool.FindMessageTypeByName(full))
            for at in range(len(body)):
                for text in [body[:at]] * (at > 0) + [body[:at] + bytes([body[at] ^ mask]) + body[at + 1:] for mask in (1, 2, 4, 8, 16, 64, 128, 255)]:
                    cases.append(("protobuf", f"{path}#{full}", text))
                    wants.append(judge(cls, pool, text))
        answers = oracle.run(program, cases)
    same = both = theirs = ours = 0
    for answer, (want, why), case in zip(answers, wants, cases, strict=True):
        if answer.startswith("!"):
            both += want is None
            theirs += want is not None
            if want is not None and not ("not UTF-8" in oracle.from_hex(answer[1:]) and not_utf8(want)):
                sys.exit(f"refused: {oracle.from_hex(answer[1:])}: {want}: {case}")
        elif want is None:
            ours += 1
            print("taken by ours alone:", why, oracle.from_hex(answer), case)
        elif not alike(json.loads(oracle.from_hex(answer), object_pairs_hook=pairs, parse_int=lambda n: -0.0 if n == "-0" else int(n)),
                       json.loads(want)):
            sys.exit(f"another value: {oracle.from_hex(answer)}\nis not {want}\n{case}")
        else:
            same += 1
    print(f"{len(cases)} messages damaged at every offset: {same} the same, {both} refused by both, {theirs} taken by protobuf alone, "
          f"{ours} by ours alone")
    return ours


if __name__ == "__main__":
    main()
