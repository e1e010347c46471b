"""What is told of losses by the built command, and what a command does after one."""

import base64
import os
import re
import subprocess
import sys
import tempfile
import time

from box import BIN, NO_LIMITS, Box
from command import check, end, environment, equal, main, test, wait_until

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
            told = [re.fullmatch(rf"stream-tail: ({SHARD}): the stream no longer keeps the record to continue from; records after it "
                                 r"may be missing; behind (\d+) of (\S+Z); until (\d+) of (\S+Z)", line) for line in r.told()]
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
            equal(sum("the stream no longer keeps this shard of the token" in line for line in r.told()), 2, r.told())
            equal(r.stop(), 0, r.told())


def forms(folder):
    """Where places are kept that can hold until when all is accounted for."""
    return {"--save": ("--save", os.path.join(folder, "place")), "sloop": ("-G", "billing"),
            "sqlite": ("-G", "billing", "--store", "sqlite:" + os.path.join(folder, "leases")),
            "kcl": ("-G", "billing", "-X", "schema=kcl")}


def ends_once(form):
    with tempfile.TemporaryDirectory() as d, Box(4, *NO_LIMITS) as box:
        args = (*forms(d)[form], "-o", "oldest", "demo")
        put(box, 40, "a")
        read_once(box, 40, *args)
        lose(box, 40)
        with Reader(box, *args, "--fail-on-loss") as r:
            equal(r.process.wait(30), 3, r.told())
            equal(r.printed(), [])
            told = sorted(m[1] for m in (re.match(rf"stream-tail: ({SHARD}): ", line) for line in r.told()) if m)
            equal(told, [f"shardId-{i:012}" for i in range(4)], r.told())
            equal([line for line in r.told() if "--fail-on-loss" in line],
                  ["stream-tail: records were lost (4 times); stopping because of --fail-on-loss"], r.told())
        with Reader(box, *args, "--fail-on-loss") as r:  # goes on behind what was told
            r.wait(40)
            equal(sorted(r.printed()), sorted(f"kept{i}" for i in range(40)))
            equal((r.stop(), [line for line in r.told() if "lost" in line]), (0, []), r.told())


@test
def a_loss_ends_a_saved_place_once():
    ends_once("--save")


@test
def a_loss_ends_a_worker_once():
    ends_once("sloop")


@test
def a_loss_ends_a_worker_of_a_file_once():
    ends_once("sqlite")


@test
def a_loss_ends_a_worker_of_kcls_table_once():
    ends_once("kcl")


def hours_at_the_tip(form):
    """30 hours at the tip of an idle stream that keeps 24, then a stop and new records: none is lost."""
    with tempfile.TemporaryDirectory() as d, Box(3, *NO_LIMITS) as box:
        args = (*forms(d)[form], "-o", "oldest", "demo")
        put(box, 30, "a")
        with Reader(box, *args) as r:
            r.wait(30)
            time.sleep(3)
            for _ in range(6):
                box.admin("/_sandbox/clock", str(5 * 3600 * 1000))
                box.admin(f"/_sandbox/trim?stream=demo&before={now_ms(box) - 24 * 3600 * 1000}")
                time.sleep(1.5)
            time.sleep(6)
            equal(r.stop(), 0, r.told())
        put(box, 30, "b")
        with Reader(box, *args, "--fail-on-loss") as r:
            r.wait(30)
            equal((r.stop(), [line for line in r.told() if "missing" in line]), (0, []), r.told())
        # What may have come since, and is gone, is told from there.
        box.admin("/_sandbox/clock", str(30 * 3600 * 1000))
        put(box, 30, "c")
        box.admin(f"/_sandbox/trim?stream=demo&before={now_ms(box) - 24 * 3600 * 1000}")
        with Reader(box, *args) as r:
            r.wait(30)
            equal(sum("records after it may be missing; behind " in line for line in r.told()), 3, r.told())
            equal(r.stop(), 0)


@test
def a_place_at_the_tip_of_an_idle_stream_has_lost_nothing():
    hours_at_the_tip("--save")


@test
def a_worker_at_the_tip_of_an_idle_stream_has_lost_nothing():
    hours_at_the_tip("sloop")


@test
def a_worker_of_a_file_at_the_tip_of_an_idle_stream_has_lost_nothing():
    hours_at_the_tip("sqlite")


@test
def a_worker_of_kcls_table_at_the_tip_of_an_idle_stream_has_lost_nothing():
    hours_at_the_tip("kcl")


main(at_once=4)
