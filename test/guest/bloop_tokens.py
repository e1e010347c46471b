"""Tokens, both ways, with bloop as its users install it: bloop reads up to some moment and stream-tail goes on from its
token; stream-tail reads up to some moment and bloop goes on from ours. Together they hand out every record exactly once,
whatever the moment: before the first record, inside a shard, between a closed parent and its children, at the end.

bloop_walk.py runs bloop's coordinator in its own environment (it pins an older boto3). What there is to read is what
boto3's own walk over the stream finds.
"""

import json
import os
import random
import select
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "process"))

import dynamo
import harness
import sandbox_box
import servers
from harness import FULL, Tests, expect

MOMENTS = 50 if FULL else 5
WALK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bloop_walk.py")


def bloop_python():
    path = os.path.join(servers.CACHE, "venv-bloop", "bin", "python")
    if not os.access(path, os.X_OK):
        raise servers.Missing(f"no {path} (sh test/install.sh test)")
    return path


class Bloop:
    """A process of bloop for all walks over a stream: its start takes longer than a walk."""

    def __init__(self, url, arn):
        self.err = tempfile.TemporaryFile()
        self.process = subprocess.Popen([bloop_python(), WALK, url, arn], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.err, text=True, preexec_fn=servers.die_with_parent)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.communicate()

    def walk(self, first, count, token_file):
        """Returns the sequence numbers bloop handed out; its token is in the file afterwards."""
        self.process.stdin.write(json.dumps([first, count, token_file]) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], 300)
        expect(ready, f"bloop walks for 300 s: {self.stderr()}")
        answer = self.process.stdout.readline()
        expect(answer, f"bloop: {self.stderr()}")
        return json.loads(answer)

    def stderr(self):
        return os.pread(self.err.fileno(), 1 << 20, 0).decode("utf-8", "replace")[-800:]


def tail(url, arguments):
    done = harness.tail(["-e", "-J", *arguments], harness.tail_environment(url), 120)
    expect(done.code == 0, str(done))
    return [json.loads(line)["seq"] for line in done.out.splitlines()]


def judge(before, after, truth):
    both = before + after
    twice = sorted({seq for seq in both if both.count(seq) > 1}) if len(both) != len(set(both)) else []
    lost, foreign = set(truth) - set(both), set(both) - set(truth)
    expect(not twice and not lost and not foreign,
           f"{len(before)} + {len(after)} of {len(truth)}: {len(twice)} twice {twice[:3]}, {len(lost)} lost "
           f"{sorted(lost, key=int)[:3]}, {len(foreign)} unknown")


def moments(truth, seed):
    """Some at the edges, the rest anywhere in between."""
    dice = random.Random(seed)
    edges = [0, 1, len(truth) - 1, len(truth)]
    return (edges + [dice.randrange(1, len(truth)) for _ in range(MOMENTS)])[:MOMENTS]


def bloop_then_tail(bloop, url, arn, truth):
    with tempfile.TemporaryDirectory() as folder:
        token = os.path.join(folder, "token")
        for count in moments(truth, 1):
            before = bloop.walk("trim_horizon", count, token)
            expect(len(before) == count, f"bloop handed out {len(before)} of {count}")
            judge(before, tail(url, ["-o", "@" + token, arn]), truth)
    return f"{MOMENTS} tokens, {len(truth)} records"


def tail_then_bloop(bloop, url, arn, truth):
    with tempfile.TemporaryDirectory() as folder:
        for i, count in enumerate(moments(truth, 2)):
            token = os.path.join(folder, f"token{i}")
            count = max(count, 1)  # -c 0 does not exist
            before = tail(url, ["-o", "oldest", "-c", str(count), "--save", token, arn])
            expect(len(before) == count, f"stream-tail handed out {len(before)} of {count}")
            judge(before, bloop.walk("@" + token, -1, token + ".after"), truth)
    return f"{MOMENTS} tokens, {len(truth)} records"


def back_and_forth(bloop, url, arn, truth):
    """A relay: each hands out some and passes its token on, until nothing is left."""
    dice, seen, turns = random.Random(3), [], 0
    with tempfile.TemporaryDirectory() as folder:
        token = os.path.join(folder, "token")
        seen += bloop.walk("trim_horizon", dice.randrange(1, len(truth) // 8), token)
        while len(seen) < len(truth):
            turns += 1
            expect(turns < 60, f"no end: {len(seen)} of {len(truth)}")
            some = min(dice.randrange(1, len(truth) // 4), len(truth) - len(seen))
            if turns % 2:
                seen += tail(url, ["-c", str(some), "--save", token, arn])
            else:
                seen += bloop.walk("@" + token, some, token)
    judge(seen, [], truth)
    return f"{turns} turns"


def suite(tests, name, url, arn, streams):
    truth = dynamo.sequences(dynamo.read_all(streams, arn))
    with Bloop(url, arn) as bloop:
        tests.run(f"{name}: bloop's token continues in stream-tail", bloop_then_tail, bloop, url, arn, truth)
        tests.run(f"{name}: our token continues in bloop", tail_then_bloop, bloop, url, arn, truth)
        tests.run(f"{name}: a relay of both", back_and_forth, bloop, url, arn, truth)


def on_moto(tests, server):
    dynamodb, streams = dynamo.clients(server.url)
    table, arn = dynamo.new_table(dynamodb)
    dynamo.Writer(dynamodb, table).write(300)
    suite(tests, "moto", server.url, arn, streams)


def on_sandbox(tests):
    """Four lineages that roll over while the items are written: most shards are closed when reading begins."""
    with sandbox_box.Box() as box:
        dynamodb, streams = dynamo.clients(box.url)
        box.table("relay", partitions=4)
        arn = dynamo.stream_of(dynamodb, "relay")
        writer = dynamo.Writer(dynamodb, "relay")
        for _ in range(6):
            writer.write(100)
            box.roll("relay")
        writer.write(100)
        closed = [shard for shard in dynamo.list_shards(streams, arn)
                  if shard["SequenceNumberRange"].get("EndingSequenceNumber")]
        tests.run("sandbox: parents are closed", lambda: expect(len(closed) >= 24, f"{len(closed)} are"))
        suite(tests, "sandbox", box.url, arn, streams)


def main():
    tests = Tests()
    try:
        tests.side_by_side([lambda: tests.with_server(servers.Moto, on_moto), lambda: on_sandbox(tests)])
    except servers.Missing as missing:
        tests.skip("bloop", missing)
    tests.end()


if __name__ == "__main__":
    main()
