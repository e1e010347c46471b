#!/usr/bin/env python3
"""Compares codec/ini with botocore's own reader on some thousand made-up files: ini_botocore.py INI_DUMP [FILES [SEED]].

Where they differ on purpose: botocore refuses a section or key given twice; we hand out both (such files are
made here, and only then may botocore refuse alone). Section names are compared without spaces around them."""
import json
import os
import random
import subprocess
import sys
import tempfile

try:
    import botocore.configloader
    import botocore.exceptions
except ImportError:
    print("no botocore: skipped")
    sys.exit(77)

PIECES = [
    "[default]", "[profile a b]", "[ x ]", "[services s]", "[a]b]", "[c] # d", "[]", "[", "]", "# comment", "; comment", "  # deep",
    "", "   ", "region = eu-west-1", "region=us-east-1 # no comment", "Output : json", "k=v=w", "k2 = a:b", "s3 =", "s3=  ", "kinesis:",
    "  endpoint_url = http://localhost:4567/", "  addressing_style = path", "    deeper = 1", "  : colon", "\tt = 1", "  more text", " =",
    "= v", "nothing", "aws_session_token = " + "T" * 1500, "Key With Space = 1", "  [y]", " j = 5", "  s3 =", "x=[y]", "\u00e9 = \u00fc",
]


def make_file(rng):
    lines = []
    if rng.random() < 0.9:
        lines.append(rng.choice(PIECES[:6]))
    for _ in range(rng.randrange(12)):
        line = rng.choice(PIECES)
        if rng.random() < 0.3 and "=" in line:  # mostly unlike keys, so that few files are refused for twins
            line = line.replace("=", str(rng.randrange(100)) + "=", 1)
        lines.append(line)
    return rng.choice(["\n", "\n", "\r\n"]).join(lines) + rng.choice(["", "\n"])


def tidy(value):
    kept = [part.strip() for part in value.split("\n")]
    return [part for part in kept if part and part[0] not in "#;"]


def by_botocore(path):
    """section -> key -> value or nested keys; None when refused; "twin" when refused for a twin."""
    try:
        raw = botocore.configloader.raw_config_parse(path)
    except botocore.exceptions.ConfigParseError as e:
        return "twin" if "already exists" in str(e.kwargs.get("error")) else None
    out = {}
    for section, keys in raw.items():
        for key, value in keys.items():
            out[(section.strip(), None, key)] = tidy(value) if isinstance(value, str) else []
            if isinstance(value, dict):
                for inner, text in value.items():
                    out[(section.strip(), key, inner)] = tidy(text)
    return out


def by_us(dump, data):
    done = subprocess.run([dump], input=data, stdout=subprocess.PIPE, check=True)
    out = {}
    for line in done.stdout.decode("utf-8").splitlines():
        item = json.loads(line)
        if item == "refused":
            return None
        section, parent, key, value = item
        out[(section, parent.lower() if parent else None, key if parent else key.lower())] = tidy(value)
    return out


def main():
    dump, count, seed = sys.argv[1], int((sys.argv[2:] or [1500])[0]), int((sys.argv[3:] or [1])[0])
    rng, taken, refused, twins = random.Random(seed), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config")
        for i in range(count):
            data = make_file(rng).encode("utf-8")
            with open(path, "wb") as f:
                f.write(data)
            theirs, ours = by_botocore(path), by_us(dump, data)
            if theirs == "twin":
                twins += 1
                continue
            if theirs != ours:
                print("seed %d, file %d:\n%s\nbotocore: %r\nours:     %r" % (seed, i, data.decode(), theirs, ours))
                return 1
            taken, refused = taken + (ours is not None), refused + (ours is None)
    print("%d files read alike, %d refused alike, %d with twins left out" % (taken, refused, twins))
    return 0 if taken > count / 10 and refused else 1


if __name__ == "__main__":
    sys.exit(main())
