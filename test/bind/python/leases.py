"""Leases from Python: workers that share an application with workers of the command, and an operator's requests."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
import unittest

import sloop
from world import Stopwatch, World, environment, program_environment

WORKER = """
import asyncio, json, signal, sys
import sloop

async def main(stream, app, options):
    async with sloop.Consumer(stream, app=app, start=sloop.OLDEST, **options) as c:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, c.end)
        print("listening to signals", file=sys.stderr, flush=True)
        async for batch in c:
            with batch:
                for r in batch:
                    print(json.dumps([r.shard, r.sequence, bytes(r.data).decode(), r.epoch]))
                sys.stdout.flush()

asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))
"""
FAST = {"lease_ms": 2000, "checkpoint_ms": 200, "poll_ms": 200, "list_ms": 1000}
SECONDS = float(os.environ.get("SLOOP_TEST_SECONDS", "20"))


class Worker:
    """A worker in a process of its own, of the command or of Python; its records go to a file."""

    def __init__(self, world, folder, kind, stream, app):
        self.kind, self.path = kind, os.path.join(folder, f"{kind}-{time.monotonic_ns()}")
        with open(self.path, "wb") as out, open(self.path + ".errors", "wb") as errors:
            if kind == "python":
                arguments = [sys.executable, "-c", WORKER, stream, app, json.dumps(FAST)]
                env = program_environment(world.box.env)
            else:
                settings = [word for name, value in FAST.items() for word in ("-X", f"{name}={value}")]
                arguments = [os.environ["SLOOP_BIN"], "-q", "-G", app, "-o", "oldest", *settings,
                             "-f", '["%p","%o","%s",%e]\\n', stream]
                env = environment(world.box.env)
            self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, env=env)

    def records(self):
        """What it has told, whole lines only."""
        with open(self.path, encoding="utf-8") as file:
            return [tuple(json.loads(line)) for line in file if line.endswith("\n")]

    def errors(self):
        with open(self.path + ".errors", encoding="utf-8") as file:
            return file.read()

    def end(self, number):
        """Sends the signal. SIGTERM waits until the worker has a handler: before that it ends any program of Python."""
        limit = time.monotonic() + 30
        while self.kind == "python" and number == signal.SIGTERM and "listening" not in self.errors():
            assert time.monotonic() < limit and self.process.poll() is None, self.errors()
            time.sleep(0.05)
        self.process.send_signal(number)
        return self.process.wait(30)


class Leases(World):
    def test_a_mixed_fleet_with_kills(self):
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            self.mixed_fleet(folder)

    def mixed_fleet(self, folder):
        stream, app = self.stream(8), "mixed"
        rnd = random.Random(5)
        alive = [Worker(self, folder, kind, stream, app) for kind in ("python", "c", "python", "c")]
        gone, put, kills = [], [], 0
        begun = time.monotonic()
        try:
            while time.monotonic() - begun < SECONDS:
                put += self.box.put(200, stream=stream, start=len(put))
                time.sleep(0.3)
                if rnd.random() < 0.12:
                    worker = alive.pop(rnd.randrange(len(alive)))
                    number = rnd.choice([signal.SIGKILL, signal.SIGTERM])
                    code = worker.end(number)
                    kills += number == signal.SIGKILL
                    if number == signal.SIGTERM and worker.kind == "python":
                        self.assertEqual(code, 0, worker.errors())
                    gone.append(worker)
                    alive.append(Worker(self, folder, rnd.choice(["python", "c"]), stream, app))
            want = {(shard, sequence) for shard, sequence, _ in put}
            end = time.monotonic() + 40
            while time.monotonic() < end:
                seen = [record[:2] for worker in gone + alive for record in worker.records()]
                if want <= set(seen):
                    break
                time.sleep(0.2)
        finally:
            for worker in alive:
                worker.process.kill()
                worker.process.wait()
        self.assertEqual(want - set(seen), set(), f"lost {len(want - set(seen))} of {len(want)}")
        texts = {(shard, sequence): text for shard, sequence, text in put}
        by_kind = {"python": 0, "c": 0}
        for worker in gone + alive:
            last = {}
            for shard, sequence, text, epoch in worker.records():
                self.assertEqual(texts[shard, sequence], text)
                # In one worker a shard goes on in its order, unless the lease came anew, in a greater epoch.
                if last.get(shard, (0, 0))[0] == epoch:
                    self.assertGreater(int(sequence), last[shard][1])
                last[shard] = (epoch, int(sequence))
                by_kind[worker.kind] += 1
        repeats = len(seen) - len(set(seen))
        print(f"  mixed fleet: {len(want)} records, {kills} kills, {len(gone) - kills} stops, lost 0, {repeats} repeats, "
              f"read by {by_kind}", file=sys.stderr)
        self.assertTrue(by_kind["python"] and by_kind["c"])
        self.assertGreater(len(gone), 0)

    def test_an_operator_sees_and_changes_leases(self):
        stream = self.stream(2)
        put = self.box.put(20, stream=stream)
        events = []

        async def main():
            async with sloop.Consumer(stream, app="seen", start=sloop.OLDEST, on_lease=events.append, **FAST) as c:
                count = 0
                async for batch in c:
                    self.assertGreater(batch[0].epoch, 0)
                    self.assertTrue(batch[0].owned)
                    count += len(batch)
                    await batch.done()
                    if count == 20:
                        break
                await c.checkpoint()
                leases = await c.admin().leases()
                self.assertEqual([lease.shard for lease in leases.leases], sorted({p[0] for p in put}))
                self.assertEqual({lease.owner for lease in leases.leases}, {c.worker})
                self.assertTrue(all(lease.state is sloop.LeaseState.OWNED for lease in leases.leases))
                self.assertEqual({lease.position.sequence for lease in leases.leases},
                                 {max(p[1] for p in put if p[0] == shard) for shard in {p[0] for p in put}})
                self.assertEqual([(w.worker, w.leads) for w in leases.workers], [(c.worker, True)])
                why = await c.admin().explain(leases.leases[0].shard)
                self.assertIs(why.why, sloop.Why.READ)
                with self.assertRaises(sloop.NoShard):
                    await c.admin().explain("shardId-999999999999")
                with self.assertRaises(sloop.LeaseOwned):
                    await c.admin().reset(sloop.OLDEST)
                asking = asyncio.ensure_future(c.admin().leases())
                await asyncio.sleep(0)
                with self.assertRaisesRegex(sloop.StateError, "pending"):
                    await c.admin().leases()
                await asking
                first = leases.leases[0].shard
                await c.admin().pause(first)
                self.assertIs((await c.admin().explain(first)).why, sloop.Why.PARKED)
                self.assertIs((await c.admin().pause(first, False)).changes[0].kind, sloop.ChangeKind.DONE)
            self.assertEqual([e.kind for e in events[:3]], ["joined", *[e.kind for e in events[1:3]]])
            self.assertEqual(events[-1].kind, "left")
            async with sloop.AsyncAdmin(stream, app="seen") as admin:
                leases = await admin.leases()
                self.assertEqual({lease.state for lease in leases.leases}, {sloop.LeaseState.FREE})
                with self.assertRaisesRegex(TypeError, r"reset\(\): to: a Position"):
                    await admin.reset(None)  # no default: it would move every shard
                for call in (admin.lag, lambda timeout: admin.drain(True, timeout)):
                    with self.assertRaisesRegex(ValueError, "timeout: seconds are needed"):
                        await call(-1)
                result = await admin.reset(sloop.OLDEST)
                self.assertEqual({change.kind for change in result.changes}, {sloop.ChangeKind.DONE})
                with self.assertRaises(sloop.NoWorker):
                    await admin.release("nobody")
                lag = await admin.lag(5)
                self.assertEqual({lease.lag for lease in lag.leases}, {sloop.Lag.READ})
                drain = await admin.drain()
                self.assertEqual((drain.on, drain.waits_for), (True, []))
                self.assertFalse((await admin.drain(False)).on)

        self.run_async(main())
        with sloop.Admin(stream, app="seen") as admin:
            self.assertEqual(len(admin.leases().leases), 2)
            self.assertEqual({lease.position for lease in admin.leases().leases}, {sloop.OLDEST})
        with self.assertRaisesRegex(sloop.StateError, "closed"):
            admin.leases()
        with self.assertRaises(sloop.LeaseError), sloop.Admin(stream, app="never", store="dynamodb:nothing") as admin:
            admin.leases()

    def test_a_stopped_worker_leaves_no_repeat(self):
        stream, seen = self.stream(2), []
        self.box.put(100, stream=stream)

        async def main(limit):
            async with sloop.Consumer(stream, app="once", start=sloop.OLDEST, batch_records_max=10, **FAST) as c:
                async for record in c.records():
                    seen.append(record.sequence)
                    if len(seen) >= limit:
                        c.end()

        for limit in (33, 61, 100):
            watch = Stopwatch()
            self.run_async(main(limit))
            self.assertLess(watch.own(), 15)
        self.assertEqual(len(seen), 100)
        self.assertEqual(len(set(seen)), 100)

    def test_the_end_of_the_process_releases_leases(self):
        stream = self.stream(2)
        self.box.put(20, stream=stream)
        self.program("""
            import asyncio, sys, sloop
            async def main():
                global c
                c = sloop.Consumer(sys.argv[1], app="exit", start=sloop.OLDEST, poll_ms=200)
                c.open()
                (await c.__anext__()).done()
                await asyncio.sleep(0.3)
            asyncio.run(main())
            """, stream)
        with sloop.Admin(stream, app="exit") as admin:
            self.assertEqual({lease.state for lease in admin.leases().leases}, {sloop.LeaseState.FREE})

    def test_positions_that_are_asked_for(self):
        stream = self.stream(1)
        put = self.box.put(40, stream=stream)  # the first page has 8: the rest waits for who asks next

        async def main():
            async with sloop.Consumer(stream, app="asked", start=sloop.OLDEST, checkpoints="asked", **FAST) as c:
                batch = await c.__anext__()
                shard = batch[4].shard
                place = sloop.Position.after_sequence(shard, batch[4].sequence)
                await batch.done()
                await c.checkpoint_at(shard, place)
                self.assertEqual((await c.admin().leases()).leases[0].position.sequence, put[4][1])
                c.seek_checkpoint(shard)
                batch = await c.__anext__()
                self.assertEqual(batch[0].sequence, put[5][1])
                await batch.done()

        self.run_async(main())

    def test_a_file_of_leases(self):
        import tempfile
        stream = self.stream(2)
        self.box.put(20, stream=stream)
        with tempfile.TemporaryDirectory() as folder:
            more = {"app": "file", "store": f"sqlite:{folder}/leases", **FAST}
            self.assertEqual(self.read_some(stream, 20, more), 20)
            self.box.put(3, stream=stream, start=20)
            self.assertEqual(self.read_some(stream, 3, more), 3)
            with self.assertRaisesRegex(sloop.OptionError, "until_tip"):
                sloop.Reader(stream, until_tip=True, **more)

    def read_some(self, stream, count, more):
        with sloop.Reader(stream, start=sloop.OLDEST, **more) as r:
            seen = 0
            while seen < count:
                batch = r.next(20)
                seen += len(batch)
                batch.done()
            return seen


if __name__ == "__main__":
    unittest.main()
