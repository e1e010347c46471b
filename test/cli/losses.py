"""What is told of losses by the built command, and what a command does after one."""

import base64
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from box import BIN, NO_LIMITS, Box
from run import check, end, environment, equal, main, test, wait_until

SHARD = r"shardId-\d{12}"


class Reader:
    """A process whose lines of both outputs are collected in files."""

    def __init__(self, box, *args):
        self.files = [tempfile.TemporaryFile(mode="w+"), tempfile.TemporaryFile(mode="w+")]
        self.process = subprocess.Popen([BIN, *args], stdin=subprocess.DEVNULL, stdout=self.files[0], stderr=self.files[1],
                                        env=environment(box.env))

    def __enter__(self):
        return self

    def __exit__(self, *what):
        end(self.process)
        for f in self.files:
            f.close()

    def _lines(self, n):
        return os.pread(self.files[n].fileno(), 1 << 20, 0).decode().splitlines()

    def printed(self):
        return self._lines(0)

    def told(self):
        return self._lines(1)

    def wait(self, n, seconds=30):
        wait_until(lambda: len(self.printed()) >= n, seconds, f"{n} records")

    def stop(self):
        self.process.terminate()
        return self.process.wait(20)


def now_ms(box):
    return int(box.admin("/_sandbox/clock", method="GET"))


def put(box, n, text, stream="demo"):
    for i in range(n):
        data = base64.b64encode(f"{text}{i}".encode()).decode()
        box.call("PutRecord", StreamName=stream, PartitionKey=f"key{i}", Data=data)


def lose(box, n, text="lost"):
    """Puts n records that are trimmed, and then n that are not."""
    put(box, n, text)
    time.sleep(0.1)
    middle = now_ms(box)
    time.sleep(0.1)
    put(box, n, "kept")
    box.admin(f"/_sandbox/trim?stream=demo&before={middle}")


def read_once(box, n, *args):
    """All n records are read, acknowledged and saved."""
    with Reader(box, *args) as r:
        r.wait(n)
        equal(r.stop(), 0, r.told())


@test
def each_loss_of_each_shard_is_told_with_its_bounds():
    with tempfile.TemporaryDirectory() as d, Box(8, *NO_LIMITS) as box:
        args = ("--save", os.path.join(d, "place"), "-o", "oldest", "demo")
        put(box, 80, "a")
        read_once(box, 80, *args)
        lose(box, 80)
        with Reader(box, *args) as r:
            r.wait(80)
            told = [re.fullmatch(rf"stream-tail: ({SHARD}): records were removed from the stream before they were read; "
                                 r"behind (\d+) of (\S+Z); until (\d+) of (\S+Z)", line) for line in r.told()]
            equal(sorted(m[1] for m in told if m), [f"shardId-{i:012}" for i in range(8)], r.told())
            check(all(int(m[2]) < int(m[4]) and m[3] < m[5] for m in told if m))
            equal(r.stop(), 0)


@test
def a_place_of_which_every_shard_is_gone_goes_on_with_what_is_kept():
    with tempfile.TemporaryDirectory() as d, Box(2, *NO_LIMITS) as box:
        args = ("--save", os.path.join(d, "place"), "-o", "oldest", "demo")
        put(box, 20, "a")
        read_once(box, 20, *args)
        for path in ("split?stream=demo&shard=0", "split?stream=demo&shard=1", "merge?stream=demo&shard=2&adjacent=3",
                     "merge?stream=demo&shard=4&adjacent=5"):
            kind, rest = path.split("?")
            box.admin("/_sandbox/" + kind + "?" + re.sub(r"(shard|adjacent)=(\d+)", r"\1=shardId-00000000000\2", rest))
        time.sleep(0.1)
        middle = now_ms(box)
        time.sleep(0.1)
        put(box, 20, "kept")
        box.admin(f"/_sandbox/trim?stream=demo&before={middle}")
        with Reader(box, *args) as r:
            r.wait(20)
            equal(sum("the token's shard is not kept any more" in line for line in r.told()), 2, r.told())
            equal(r.stop(), 0, r.told())


main(at_once=4)
