"""eventstream_botocore.py PROGRAM [COUNT] [SEED] - random event streams, whole and damaged, cut into random pieces, are read
as botocore's EventStreamBuffer reads them. It is more lenient with a header whose text is shorter than it says, or whose
name is empty; nothing else may be read by it alone."""
import random
import struct
import sys
import zlib

import oracle

oracle.botocore_or_skip()
from botocore.eventstream import EventStreamBuffer, ParserError  # noqa: E402


def header(rng, name):
    kind = rng.randrange(10)
    number = rng.choice([0, 1, -1, rng.getrandbits(7), -128])
    value = {0: b"", 1: b"", 2: struct.pack("!b", max(-128, min(127, number))), 3: struct.pack("!h", number * rng.choice([1, 255])),
             4: struct.pack("!i", number * rng.choice([1, 2**23])), 5: struct.pack("!q", number * rng.choice([1, 2**55])),
             8: struct.pack("!q", number * rng.choice([1, 2**33])), 9: rng.randbytes(16)}.get(kind)
    if kind in (6, 7):
        text = rng.randbytes(rng.randrange(40)) if kind == 6 else rng.choice(["", "event", "SubscribeToShardEvent", "\u20acuro"]).encode()
        value = struct.pack("!H", len(text)) + text
    return bytes([len(name)]) + name + bytes([kind]) + value


def message(rng, damage):
    names = rng.sample([b":message-type", b":event-type", b"a", b"bb", "\u00e9".encode(), b"n" * 255, b":content-type"], rng.randrange(6))
    headers = b"".join(header(rng, n) for n in names)
    payload = rng.randbytes(rng.choice([0, 2, 30, 500, 5000]))
    harmed = False
    if damage and rng.random() < 0.5:  # under sums that are right
        at = rng.randrange(len(headers) + 1)
        headers = rng.choice([headers[:at], headers[:at] + bytes([rng.randrange(256)]) + headers[at + 1:], headers + headers])
        harmed = True
    head = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    whole = head + struct.pack("!I", zlib.crc32(head)) + headers + payload
    whole += struct.pack("!I", zlib.crc32(whole))
    if damage and not harmed:
        at = rng.randrange(len(whole))
        whole = whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1:]
    return whole, harmed


def value_text(value):
    if isinstance(value, bool):
        return "?%d" % value
    if isinstance(value, int):
        return "#%d" % value
    return "=" + oracle.to_hex(value)


def their_answer(pieces):
    buffer, out = EventStreamBuffer(), []
    try:
        for piece in pieces:
            buffer.add_data(piece)
            for m in buffer:
                headers = "".join("%s%s," % (oracle.to_hex(k), value_text(v)) for k, v in m.headers.items())
                out.append("%s/%s" % (headers, oracle.to_hex(m.payload)))
    except (ParserError, struct.error, UnicodeDecodeError, KeyError):
        return " ".join(out + ["error"])
    return " ".join(out + ["more"])


def cut(rng, stream):
    places = sorted(rng.sample(range(len(stream) + 1), min(len(stream), rng.randrange(8))))
    return [stream[a:b] for a, b in zip([0] + places, places + [len(stream)])]


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 4000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randint(0, 10**9)
    rng = random.Random(seed)
    cases, harmed = [], []
    for _ in range(count):
        damaged = rng.random() < 0.4
        made = [message(rng, False) for _ in range(rng.randrange(5))] + ([message(rng, True)] if damaged else [])
        rng.shuffle(made)
        stream = b"".join(m for m, _ in made)
        if rng.random() < 0.3:
            stream = stream[:rng.randrange(len(stream) + 1)]
        cases.append(cut(rng, stream))
        harmed.append(any(h for _, h in made))
    seen = {"more": 0, "error": 0, "stricter": 0, "messages": 0}
    for pieces, header_harmed, ours in zip(cases, harmed, oracle.run(sys.argv[1], cases)):
        theirs = their_answer(pieces)
        if ours != theirs:
            begun = ours[:-len("error")] if ours.endswith("error") else None
            if begun is None or not header_harmed or not theirs.startswith(begun):
                sys.exit("seed %d: %r\n  ours:   %s\n  theirs: %s" % (seed, pieces, ours, theirs))
            seen["stricter"] += 1
        seen[ours.split()[-1]] += 1
        seen["messages"] += ours.count("/")
    if seen["stricter"] > count / 8 or not seen["error"] or not seen["more"]:
        sys.exit("seed %d: not a fair sample: %r" % (seed, seen))
    print("%d streams read alike (seed %d): %r" % (count, seed, seen))


main()
