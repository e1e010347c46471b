"""Consumers that live shortly, one after the other, in one process: its memory must stay flat. SLOOP_TEST_SECONDS says how long;
3600 is the full form.

Each round opens one in every way there is: on a loop of its own with and without leases, plain, for a table's changes; left by
break, by an exception, by being cancelled, dropped without an end; an operator's; one whose options are wrong. What each reads is
counted. Judged from five minutes on: resident and private memory, descriptors and threads, at the end and after a twelfth."""

import asyncio
import collections
import gc
import os
import statistics
import sys
import time
import unittest

import sloop
from world import World

FIXED, CHANGES = 100, 20
# One worker by its name: each other one would leave a row for an hour, which those after it read (PROTOCOL.md).
FAST = {"worker": "short", "lease_ms": 10000, "poll_ms": 200, "list_ms": 1000}
GROWTH_BYTES, GROWTH_PART, MORE_DESCRIPTORS = 3 << 20, 0.05, 4
PAGE = os.sysconf("SC_PAGE_SIZE")
SECONDS = float(os.environ.get("SLOOP_TEST_SECONDS", "10"))
JUDGED_S = 300  # a shorter run has not seen all sizes yet
Look = collections.namedtuple("Look", "at resident private descriptors threads opened")


def look(opened):
    with open("/proc/self/statm", encoding="ascii") as file:
        resident = int(file.read().split()[1]) * PAGE
    private = 0
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:
        for line in file:
            if line.startswith("Private_Dirty"):  # clean pages of a file are private while nobody else has it open
                private += int(line.split()[1]) << 10
    return Look(time.monotonic(), resident, private, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")), opened)


class Rounds:
    def __init__(self, box):
        self.box, self.opened, self.number, self.kept = box, 0, 0, collections.deque(maxlen=50)
        box.make_stream("fixed", 2)
        box.make_stream("leased", 2)
        box.make_table("table")
        box.put(FIXED, stream="fixed")
        for i in range(CHANGES):
            box.dynamodb("PutItem", TableName="table", Item={"id": {"S": str(i)}, "n": {"N": "1.5"}, "b": {"B": "AAEC"}})

    def make(self, *arguments, **options):
        self.opened += 1
        return sloop.Consumer(*arguments, start=sloop.OLDEST, **options)

    async def read_all(self):
        n = 0
        async with self.make("fixed", until_tip=True) as c:
            async for batch in c:
                n += len(batch)
                self.kept.append(batch[0])  # its copy must go when the deque drops it
                await batch.done()
        assert n == FIXED, n

    async def leave_by_break(self):
        async with self.make("fixed") as c:
            async for batch in c:
                batch[0].ack()
                break

    async def leave_by_exception(self):
        try:
            async with self.make("fixed") as c:
                async for batch in c:
                    with batch:
                        raise KeyError(batch[0].sequence)
        except KeyError:
            return
        raise AssertionError("no exception came out")

    async def leave_by_cancelling(self):
        began = asyncio.Event()

        async def read():
            async with self.make("fixed", batch_records_max=10) as c:
                async for batch in c:
                    began.set()
                    await batch.done()

        task = asyncio.ensure_future(read())
        await asyncio.wait_for(began.wait(), 60)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return
        raise AssertionError("it was not cancelled")

    async def read_leased(self):
        put = self.box.put(5, stream="leased", start=self.number * 5)
        got = []
        async with self.make("leased", app="churn", on_lease=lambda event: None, **FAST) as c:
            async for batch in c:
                got += [bytes(record).decode() for record in batch]
                await batch.done()
                if len(got) >= len(put):
                    break
        assert sorted(got) == sorted(text for _, _, text in put), (got, put)
        self.opened += 1
        async with sloop.AsyncAdmin("leased", app="churn") as admin:
            assert len((await admin.leases()).leases) == 2

    async def wrong(self):
        try:
            self.make("fixed", poll_ms=-1)
        except sloop.OptionError:
            pass
        else:
            raise AssertionError("a wrong option was taken")
        try:
            async with self.make("never", list_ms=1000) as c:
                async for _ in c:
                    pass
        except sloop.NoStream:
            return
        raise AssertionError("there is no such stream")

    async def on_a_loop(self):
        ways = [self.read_all, self.leave_by_break, self.leave_by_exception, self.leave_by_cancelling] * 5
        for way in (*ways, self.read_leased, self.wrong):
            await asyncio.wait_for(way(), 120)

    def plain(self):
        self.opened += 3
        assert sum(1 for _ in sloop.read("fixed", until_tip=True)) == FIXED
        with sloop.Reader("dynamodb:table", start=sloop.OLDEST, until_tip=True) as reader:
            assert sum(1 for record in reader.records() if record.change.new["n"] == 1.5) == CHANGES
        for record in sloop.read("fixed"):  # dropped in the middle
            self.kept.append(record)
            break

    def run(self):
        asyncio.run(self.on_a_loop())
        self.plain()
        self.number += 1


def judged(looks):
    """A line about the looks, and what is wrong with them."""
    first, last = looks[0].at, looks[-1].at

    def part(begin, end):
        found = [one for one in looks if first + begin * (last - first) <= one.at <= first + end * (last - first)] or looks[-1:]
        return (statistics.median(one.resident for one in found), statistics.median(one.private for one in found),
                max(one.descriptors for one in found), max(one.threads for one in found))

    parts = [part(1 / 12, 2 / 12), part(5 / 12, 7 / 12), part(11 / 12, 1)]
    words = [" / ".join(f"{part[i] / 2**20:.1f}" if i < 2 else str(part[i]) for part in parts) for i in range(4)]
    said = (f"{looks[-1].opened} consumers in {last - first:.0f} s; at 1/12, the half, the end: resident {words[0]} MiB, "
            f"private {words[1]} MiB, descriptors {words[2]}, threads {words[3]}")
    wrong = [what for i, what in enumerate(("resident", "private"))
             if parts[2][i] > parts[0][i] * (1 + GROWTH_PART) + GROWTH_BYTES]
    wrong += [what for i, what in ((2, "descriptors"), (3, "threads")) if parts[2][i] > parts[0][i] + MORE_DESCRIPTORS]
    return said, wrong


class ShortLived(World):
    def test_the_judge_can_fail(self):
        def made(**growing):
            flat = {"resident": 40 << 20, "private": 30 << 20, "descriptors": 9, "threads": 1}
            return [Look(i, *(size + i * growing.get(name, 0) for name, size in flat.items()), i) for i in range(121)]

        self.assertEqual(judged(made())[1], [])
        for name, step in (("resident", 60000), ("private", 60000), ("descriptors", 1), ("threads", 1)):
            self.assertEqual(judged(made(**{name: step}))[1], [name])

    def test_memory_stays_flat(self):
        rounds, looks, told = Rounds(self.box), [], 0
        rounds.run()
        gc.collect()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end or len(looks) < 2:
            rounds.run()
            looks.append(look(rounds.opened))
            if looks[-1].at - told > 60:
                told = looks[-1].at
                print(f"  {looks[-1]}", file=sys.stderr, flush=True)
        said, wrong = judged(looks)
        print(f"  short-lived consumers: {rounds.number} rounds, {said}", file=sys.stderr)
        if SECONDS >= JUDGED_S:
            self.assertEqual(wrong, [], said)


if __name__ == "__main__":
    unittest.main()
