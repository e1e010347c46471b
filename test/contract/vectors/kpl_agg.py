"""kpl_agg.py PROGRAM [COUNT] [SEED] - pages of random aggregates expand to what the published Python package and
google's protobuf make of the same bytes: those the package itself packed, those protobuf wrote in odd ways, and those
that were damaged. Where the package loses or drops records, the rule of ours is computed from protobuf's message."""
import base64
import contextlib
import hashlib
import io
import random
import re
import sys

import oracle

oracle.botocore_or_skip()
try:
    import aws_kinesis_agg
    from aws_kinesis_agg import aggregator, deaggregator, messages_pb2
    import google.protobuf
    from google.protobuf.message import DecodeError
except ImportError as missing:
    print("skipped: %s; name a python that has it in SLOOP_TEST_PYTHON" % missing)
    sys.exit(oracle.SKIPPED)

MAGIC = aws_kinesis_agg.MAGIC
RAW, FOREIGN, EMPTY = 1, 2, 4
RING = 1 << 128


def chance(rng, p):
    return rng.random() < p


# ---- bytes -------------------------------------------------------------------------------------------------
def varint(value, pad=0):
    out = bytearray()
    while value > 0x7F or pad > 0:
        out.append(value & 0x7F | 0x80)
        value >>= 7
        pad -= 1
    out.append(value)
    return bytes(out)


def tag(field, wire):
    return varint(field << 3 | wire)


def sized(field, data):
    return tag(field, 2) + varint(len(data)) + data


def noise(rng, depth=0):
    """A field nobody knows."""
    field = rng.choice([4, 5, 15, 16, 1000, (1 << 29) - 1])
    kind = rng.randrange(6)
    if kind == 0:
        return tag(field, 0) + varint(rng.getrandbits(rng.choice([1, 7, 32, 64])), rng.randrange(2))
    if kind == 1:
        return tag(field, 1) + rng.randbytes(8)
    if kind == 2:
        return tag(field, 5) + rng.randbytes(4)
    if kind == 3 or depth > 6:
        return sized(field, rng.randbytes(rng.randrange(20)))
    inside = b"".join(noise(rng, depth + 1) for _ in range(rng.randrange(3)))
    return tag(field, 3) + inside + tag(field, 4)


def sealed(message):
    return MAGIC + message + hashlib.md5(message).digest()


# ---- aggregates --------------------------------------------------------------------------------------------
def a_key(rng):
    return rng.choice(["", "k%d" % rng.randrange(5), "é" * rng.randrange(9), "%032x" % rng.getrandbits(128),
                       "x" * rng.choice([54, 55, 56, 63, 64, 119, 120, 256])])


def a_hash(rng):
    return rng.choice(["0", str(RING - 1), str(rng.randrange(RING)), str(rng.randrange(RING)),
                       str(rng.randrange(1 << 64)), str(RING), "00012", "", "12x", "9" * 60] if chance(rng, 0.2)
                      else [str(rng.randrange(RING))])


def by_package(rng):
    """As the published producer packs it."""
    packer = aggregator.RecordAggregator(rng.choice([600, 5000, 1 << 20]))
    full = []
    for _ in range(rng.randrange(1, 60)):
        explicit = str(rng.randrange(RING)) if chance(rng, 0.3) else None
        done = packer.add_user_record(a_key(rng) or "k", rng.randbytes(rng.randrange(60)), explicit)
        if done:
            full.append(done)
    last = packer.clear_and_get()
    if last.get_num_user_records():
        full.append(last)
    return [record.get_contents()[2] for record in full]


def odd_record(rng, keys, hashes):
    fields = []
    if chance(rng, 0.99):
        index = rng.randrange(keys) if keys and chance(rng, 0.99) else rng.choice([keys, 1 << 32, (1 << 64) - 1])
        fields.append(tag(1, 0) + varint(index, rng.choice([0, 0, 0, 1, 3])))
    if chance(rng, 0.3):
        index = rng.randrange(hashes) if hashes and chance(rng, 0.97) else rng.choice([hashes, (1 << 64) - 1])
        fields.append(tag(2, 0) + varint(index))
    if chance(rng, 0.99):
        fields.append(sized(3, rng.randbytes(rng.choice([0, 1, 5, 127, 128, 300]))))
    if chance(rng, 0.1):
        tags = [sized(1, b"tag")] if chance(rng, 0.9) else []
        tags += [sized(2, b"value")] if chance(rng, 0.5) else []
        tags += [noise(rng).replace(b"\x20", b"\x28", 1)] if chance(rng, 0.2) else []
        fields.append(sized(4, b"".join(tags)))
    while chance(rng, 0.1):
        fields.append(noise_in_record(rng))
    if chance(rng, 0.05) and fields:
        fields.append(rng.choice(fields))  # the last one counts
    if chance(rng, 0.02):
        fields.append(rng.choice([sized(1, b"\x00"), tag(3, 0) + b"\x05", sized(2, b"\x00\x01"), tag(1, 5) + b"abcd"]))
    rng.shuffle(fields)
    return sized(3, b"".join(fields))


def noise_in_record(rng):
    """Field 4 is Tag there: unknown ones begin at 5."""
    while True:
        field = noise(rng)
        if field[0] >> 3 != 4:
            return field


def by_hand(rng):
    """Any order of fields, tables after records, unknown fields, duplicates, indexes out of the tables."""
    keys, hashes = rng.randrange(6), rng.randrange(4)
    parts = [sized(3, b"")] if chance(rng, 0.02) else []
    parts += [odd_record(rng, keys, hashes) for _ in range(rng.choice([0, 1, 2, 3, 10, 40]))]
    rng.shuffle(parts)
    tables = [sized(1, a_key(rng).encode()) for _ in range(keys)] + [sized(2, a_hash(rng).encode()) for _ in range(hashes)]
    parts = tables + parts if chance(rng, 0.6) else parts + tables
    if chance(rng, 0.2):
        rng.shuffle(parts)
    while chance(rng, 0.2):
        parts.insert(rng.randrange(len(parts) + 1), noise(rng))
    return sealed(b"".join(parts))


def damaged(rng):
    """A good one changed, sometimes with the right MD5 again."""
    data = bytearray(rng.choice(by_package(rng)) if chance(rng, 0.5) else by_hand(rng))
    for _ in range(rng.choice([0, 1, 1, 3])):
        data[rng.randrange(len(data))] = rng.choice([0, 0xFF, 0x80, rng.randrange(256)])
    if chance(rng, 0.3):
        del data[rng.randrange(len(data)):]
    if chance(rng, 0.2):
        data = data[:4] + rng.choice([b"\x0a\xff\xff\xff\xff\x0f", b"\x80" * 10 + b"\x01", b"\x0b", b"\x0c", b"\x00",
                                      b"\x1a\x04\x08\x00\x1a\x7f", b"\x0e\x00", b"\x1b\x24\x1c", b"\x23\x80\x00\x01\x24"]) + data[4:]
    return sealed(bytes(data[4:-16])) if chance(rng, 0.8) else bytes(data)


def a_record(rng):
    kind = rng.random()
    if kind < 0.35:
        return rng.choice(by_package(rng))
    if kind < 0.65:
        return by_hand(rng)
    if kind < 0.9:
        return damaged(rng)
    return rng.choice([b"", b"plain", MAGIC, MAGIC + b"x" * 16, MAGIC + b"x" * 17, rng.randbytes(50), sealed(b""),
                       sealed(sized(1, b"k")), b"\xf3\x89\x9a\xc3" + rng.randbytes(40)])


# ---- what is expected --------------------------------------------------------------------------------------
def take_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def has_zero_in_group(data, known):
    """Whether an unknown group of a message that protobuf has read holds a field of number zero. google's reader for Python
    passes over it; that for Java, by which the KCL decides, refuses such a message ("invalid tag (zero)", protobuf-java
    4.27.5), and so do we. known: of the fields that are messages, theirs."""
    at = groups = 0
    while at < len(data):
        head, at = take_varint(data, at)
        field, wire = head >> 3, head & 7
        if field == 0:
            return True
        if wire == 0:
            _, at = take_varint(data, at)
        elif wire == 2:
            size, at = take_varint(data, at)
            if not groups and field in known and has_zero_in_group(data[at:at + size], known[field]):
                return True
            at += size
        elif wire in (3, 4):
            groups += 1 if wire == 3 else -1
        else:
            at += 8 if wire == 1 else 4
    return False


def message_of(data):
    """The aggregate in it as protobuf reads it, complete; None."""
    body = data[4:-16]
    if hashlib.md5(body).digest() != data[-16:]:
        return None
    message = messages_pb2.AggregatedRecord()
    try:
        message.ParseFromString(body)
    except DecodeError:
        return None
    if not message.IsInitialized() or has_zero_in_group(body, {3: {4: {}}}):
        return None
    keys, hashes = len(message.partition_key_table), len(message.explicit_hash_key_table)
    for record in message.records:
        if record.partition_key_index >= keys:
            return None
        if record.HasField("explicit_hash_key_index") and record.explicit_hash_key_index >= hashes:
            return None
    return message


def octets(text):
    """protobuf gives a string that is not UTF-8 as bytes."""
    return text if isinstance(text, bytes) else text.encode()


def is_foreign(message, record, first, last):
    if first is None:
        return False
    if record.HasField("explicit_hash_key_index"):
        text = message.explicit_hash_key_table[record.explicit_hash_key_index]
        if not re.fullmatch(b"[0-9]+", octets(text)) or int(text) >= RING:
            return False
        where = int(text)
    else:
        where = int(hashlib.md5(octets(message.partition_key_table[record.partition_key_index])).hexdigest(), 16)
    return not first <= where <= last


def expected(data, first, last):
    """(aggregates expanded, [(sub, flags, key, data)])"""
    if len(data) < 21 or data[:4] != MAGIC:
        return 0, [(0, 0, b"outer", data)]
    message = message_of(data)
    if message is None:
        return 0, [(0, RAW, b"outer", data)]
    if not message.records:
        return 1, [(0, EMPTY, b"outer", data)]
    return 1, [(sub, FOREIGN if is_foreign(message, record, first, last) else 0,
                octets(message.partition_key_table[record.partition_key_index]), record.data)
               for sub, record in enumerate(message.records)]


def by_deaggregator(data):
    """The records that the published package finds in it: [(key, data)], or None where it gives the record back."""
    event = {"kinesis": {"data": base64.b64encode(data).decode(), "partitionKey": "outer", "sequenceNumber": "1",
                         "kinesisSchemaVersion": "1.0", "approximateArrivalTimestamp": 1}}
    with contextlib.redirect_stdout(io.StringIO()):  # it prints what it can't read
        rows = [row["kinesis"] for row in deaggregator.deaggregate_records([event])]
    if len(rows) == 1 and "aggregated" not in rows[0]:
        return None
    if [row["subSequenceNumber"] for row in rows] != list(range(len(rows))):
        sys.exit("the package counts otherwise: %r" % rows)
    return [(octets(row["partitionKey"]), base64.b64decode(row["data"])) for row in rows]


def ours_of(line):
    words = line.split(" ")
    if words[-1] != "end" or (len(words) - 2) % 5:
        sys.exit("not understood: %r" % line[:200])
    rows = []
    for i in range(1, len(words) - 1, 5):
        seq, sub, flags, key, data = words[i:i + 5]
        rows.append((int(seq), int(sub), int(flags), b"" if key == "-" else bytes.fromhex(key),
                     b"" if data == "-" else bytes.fromhex(data)))
    return int(words[0]), rows


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randint(0, 10**9)
    print("oracle: aws-kinesis-agg, protobuf %s" % google.protobuf.__version__)
    rng = random.Random(seed)
    pages, lines = [], []
    for _ in range(count):
        first, last = None, None
        if chance(rng, 0.7):
            first = rng.choice([0, rng.randrange(RING)])
            last = rng.choice([RING - 1, rng.randrange(first, RING)])
        records = [a_record(rng) for _ in range(rng.randrange(1, 5))]
        pages.append((first, last, records))
        lines.append(["" if first is None else str(first), "" if last is None else str(last),
                      str(rng.choice([1, 50, 1000, 65536])), str(rng.choice([1, 3, 256])), *records])
    answers = oracle.run(sys.argv[1], lines)
    if len(answers) != count:
        sys.exit("%d answers to %d pages" % (len(answers), count))
    seen = {"plain": 0, "raw": 0, "empty": 0, "expanded": 0, "sub-records": 0, "foreign": 0, "as the package": 0}
    for number, ((first, last, records), line) in enumerate(zip(pages, answers)):
        aggregates, ours = ours_of(line)
        wanted, wanted_aggregates = [], 0
        for index, data in enumerate(records):
            expanded, rows = expected(data, first, last)
            wanted_aggregates += expanded
            wanted += [(1000 + index, *row) for row in rows]
            kind = {0: "plain", RAW: "raw", EMPTY: "empty"}.get(rows[0][1], "") if not expanded or rows[0][1] == EMPTY \
                else "expanded"
            seen[kind] += 1
            seen["sub-records"] += len(rows) if kind == "expanded" else 0
            seen["foreign"] += sum(1 for row in rows if row[1] == FOREIGN)
            if kind == "expanded":
                theirs = by_deaggregator(data)
                if theirs != [(row[2], row[3]) for row in rows]:
                    sys.exit("seed %d page %d record %d: the package says %r" % (seed, number, index, theirs))
                seen["as the package"] += 1
        if (aggregates, ours) != (wanted_aggregates, wanted):
            sys.exit("seed %d page %d, slices of %s\n  records: %s\n  ours:   %d %r\n  theirs: %d %r" %
                     (seed, number, lines[number][2:4], [d.hex() for d in records], aggregates, ours,
                      wanted_aggregates, wanted))
    for kind, n in seen.items():
        if n < count / 100:
            sys.exit("seed %d: only %d x %s in %d pages: the generator is broken" % (seed, n, kind, count))
    print("%d pages expanded alike (seed %d): %s" % (count, seed, seen))


main()
