"""What an attacker or an unlucky program does with the Python package: arguments that run code, calls from the wrong loop or
thread, callables that stop and close, cancellation anywhere, the collector at any time, and memory that runs out."""

import asyncio
import contextlib
import functools
import gc
import importlib.util
import os
import threading
import time
import unittest
import warnings
from unittest import mock

import sloop
from world import World

COMMON = """
import asyncio, gc, sys, threading, time
import sloop
from sloop import _native
NAME = sys.argv[1]
"""
PROCESS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "process")
FAST = {"lease_ms": 2000, "checkpoint_ms": 200, "poll_ms": 100, "list_ms": 1000}


class Arguments(World):
    def test_an_index_that_gives_the_batch_back(self):
        name = self.stream(1)
        self.box.put(40, stream=name)
        out = self.program(COMMON + """
class Index:
    def __init__(self, call): self.call = call
    def __index__(self):
        self.call()
        return 0
with sloop.Reader(NAME, start=sloop.OLDEST, batch_records_max=2) as r:
    for use in (lambda b: b.ack(Index(b.done)), lambda b: b.done(Index(b.done)), lambda b: b[Index(b.done)],
                lambda b: b.ack(Index(r.close))):
        batch = next(r)
        try: use(batch)
        except sloop.StateError as error: print("given back" in str(error), batch.is_done)
        else: print("no error")
""", name)
        self.assertEqual(out.splitlines(), ["True True"] * 4)

    def test_a_number_or_a_truth_that_closes_the_consumer(self):
        name = self.stream(1)
        out = self.program(COMMON + """
class Closing:
    def __init__(self, native): self.native = native
    def __index__(self):
        self.native.close()
        return 1
    def __bool__(self):
        self.native.close()
        return True
def told(call):
    with sloop.Reader(NAME, app="closing", store="memory") as r:
        r.next(0.3)
        admin = r.admin()._native
        number = Closing(r._native)
        try: call(r._native, admin, number)
        except sloop.StateError as error: print("is closed" in str(error))
        else: print("no error")
place = sloop.OLDEST._tuple()
told(lambda c, a, n: c.stop(n, 1))
told(lambda c, a, n: c.seek(1, (n, *place[1:])))
told(lambda c, a, n: c.checkpoint(n, None))
told(lambda c, a, n: c.checkpoint_at(n, "s", place))
told(lambda c, a, n: c.shards(n))
told(lambda c, a, n: a.leases(n))
told(lambda c, a, n: a.lag(n, 1))
told(lambda c, a, n: a.explain(n, "s"))
told(lambda c, a, n: a.release(n, "s"))
told(lambda c, a, n: a.reset(1, None, place, n))
told(lambda c, a, n: a.drain(1, n, 1))
told(lambda c, a, n: a.pause(1, "s", n, 1))
""", name)
        self.assertEqual(out.splitlines(), ["True"] * 12)

    def test_wrong_types_are_told_by_name(self):
        async def plain(*what):
            raise AssertionError("nobody awaits this")

        name = self.stream(1)
        for error, match, more in (
                (TypeError, "on_shard: a plain callable is needed, not a coroutine function", {"on_shard": plain}),
                (TypeError, "on_error: a plain callable", {"on_error": plain}),
                (TypeError, "shards: a sequence of str is needed, not one int", {"shards": 5}),
                (TypeError, "until_tip: True or False", {"until_tip": "no"}),
                (ValueError, "region: a text that can't be written as UTF-8", {"region": "\udcff"}),
                (sloop.OptionError, "poll_ms", {"poll_ms": 10 ** 400}), (sloop.OptionError, "poll_ms", {"poll_ms": -1})):
            for kind in (sloop.Consumer, sloop.Reader):
                with self.subTest(match), self.assertRaisesRegex(error, match):
                    kind(name, **more)
        with self.assertRaisesRegex(TypeError, "auto_ack: True or False"):
            sloop.Consumer(name, auto_ack="yes")
        with self.assertRaisesRegex(TypeError, "on_error: a plain callable"):
            sloop.Admin(name, app="a", on_error=plain)
        with sloop.Reader(name, poll_ms=100) as r:
            for error, match, timeout in ((TypeError, r"next\(\): timeout: a number", "1"), (ValueError, r"next\(\)", -1),
                                          (ValueError, r"next\(\)", float("nan"))):
                with self.assertRaisesRegex(error, match):
                    r.next(timeout)
            self.box.put(1, stream=name)
            with self.assertRaisesRegex(TypeError, r"checkpoint_at\(\): to: a Position"):
                r.checkpoint_at("shardId-000000000000", "latest")
            with self.assertRaises(TypeError):
                r.pause(3)

    def test_a_wait_without_end_is_no_error(self):
        name = self.stream(1)
        self.box.put(1, stream=name)
        with sloop.Reader(name, start=sloop.OLDEST) as r:
            self.assertEqual(len(r.next(float("inf"))), 1)

    def test_credentials_that_fail_with_any_text(self):
        class Mute(Exception):
            def __str__(self):
                raise LookupError

        name = self.stream(1)
        for failure, match in ((OSError("a\0b"), r"a\\0b"), (OSError("\udcff"), "dcff"), (Mute(), "Mute")):
            def give(failure=failure):
                raise failure

            with self.subTest(match), self.assertRaisesRegex(sloop.AuthError, match):
                list(sloop.read(name, credentials=give))

            async def main(give=give):
                async with sloop.Consumer(name, credentials=give) as c:
                    await c.__anext__()

            with self.subTest(match), self.assertRaisesRegex(sloop.AuthError, match):
                self.run_async(main())


class Loops(World):
    def test_another_event_loop_is_refused(self):
        name = self.stream(1)
        self.box.put(3, stream=name)
        kept = {}

        async def opened():
            kept["c"] = sloop.Consumer(name, start=sloop.OLDEST)
            kept["c"].open()
            (await kept["c"].__anext__()).done()
            kept["a"] = sloop.AsyncAdmin(name, app="x")
            await kept["a"].__aenter__()

        async def used():
            c = kept["c"]
            for call in (c.__anext__, c.shards, lambda: c.seek(sloop.OLDEST), c.stop, c.aclose, kept["a"].leases,
                         lambda: kept["a"].__aexit__(None, None, None)):
                with self.assertRaisesRegex(sloop.StateError, "was opened on another event loop, which is closed"):
                    await asyncio.wait_for(call(), 5)

        self.run_async(opened())
        self.run_async(used())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            kept.clear()
            gc.collect()

    def test_loops_that_end_before_their_consumers_leave_nothing(self):
        from sloop import _turns
        name = self.stream(1)
        self.box.put(3, stream=name)

        async def live(what):
            if what == "admin":
                one = sloop.AsyncAdmin(name, app="x")
                await one.__aenter__()
            else:
                one = sloop.Consumer(name, start=sloop.OLDEST)
                one.open()
                (await one.__anext__()).done()
            return one

        def round_of(what):
            one = asyncio.run(live(what))
            del one
            gc.collect()

        with warnings.catch_warnings(), mock.patch.object(_turns, "FORGOTTEN_S", 20):  # a busy machine needs more than 0.2 s
            warnings.simplefilter("ignore", ResourceWarning)
            for what in ("consumer", "admin"):
                round_of(what)
                files = len(os.listdir("/proc/self/fd"))
                for _ in range(5):
                    round_of(what)
                self.assertEqual(len(os.listdir("/proc/self/fd")), files, what)
                self.assertEqual(_turns._drivers, {})

    def test_a_join_that_is_not_open_leaves_nothing(self):
        from sloop import _turns
        name = self.stream(1)

        async def main():
            with self.assertRaisesRegex(sloop.StateError, "join"):
                sloop.Consumer(name, join=sloop.Consumer(name)).open()
            self.assertEqual(_turns._drivers, {})

        self.run_async(main())

    def test_a_stop_in_progress_is_waited_for(self):
        name = self.stream(2)
        self.box.put(20, stream=name)

        async def main(how):
            async with sloop.Consumer(name, app=f"stop-{how}", start=sloop.OLDEST, **FAST) as c:
                async for batch in c:
                    await batch.done()
                    if how == "task":
                        kept = asyncio.ensure_future(c.stop())  # as a handler of SIGTERM does
                        await asyncio.sleep(0)
                    else:
                        stopping = asyncio.ensure_future(c.stop())
                        await asyncio.sleep(0)
                        stopping.cancel()
            return how == "task" and await kept

        for how in ("task", "cancelled"):
            self.run_async(main(how))
            with sloop.Admin(name, app=f"stop-{how}") as admin:
                self.assertEqual({lease.state for lease in admin.leases().leases}, {sloop.LeaseState.FREE}, how)

    def test_cancellation_in_every_await(self):
        name = self.stream(2)
        self.box.put(200, stream=name)

        async def main():
            seen = set()
            async with sloop.Consumer(name, app="cancel", start=sloop.OLDEST, batch_records_max=10, **FAST) as c:
                calls = (c.shards, c.checkpoint, lambda: c.seek(sloop.OLDEST), lambda: c.admin().leases(),
                         lambda: c.admin().lag(1), c.__anext__, lambda: c.records().__anext__())
                for call in calls:
                    for steps in (0, 1, 2, 5, 20):
                        task = asyncio.ensure_future(call())
                        for _ in range(steps):
                            await asyncio.sleep(0)
                        task.cancel()
                        with contextlib.suppress(asyncio.CancelledError, sloop.StateError):
                            await task
                        del task
                while len(seen) < 200:
                    batch = await c.__anext__()
                    seen.update((record.shard, record.sequence) for record in batch)
                    await batch.done()
                    del batch
                self.assertEqual(len(await c.shards()), 2)
            for steps in (0, 1, 2, 5, 20):
                c = sloop.Consumer(name, app="cancel", **FAST)
                c.open()
                await asyncio.sleep(0.05)
                task = asyncio.ensure_future(c.aclose())
                for _ in range(steps):
                    await asyncio.sleep(0)
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
                self.assertFalse(steps and c.is_open)
                await c.aclose()
                self.assertFalse(c.is_open)

        self.run_async(main())


class Callables(World):
    def lasting(self, name, **more):
        """Reads on asyncio until the iteration ends."""
        async def main():
            async with sloop.Consumer(name, start=sloop.OLDEST, **{"poll_ms": 100, **more}) as c:
                self.consumer = c
                async for batch in c:
                    batch.done(0) if "on_dead_letter" in more else batch.done()

        self.run_async(main(), 30)

    def waiting(self, name, **more):
        """The same without asyncio."""
        with sloop.Reader(name, start=sloop.OLDEST, **{"poll_ms": 100, **more}) as r:
            self.consumer = r
            for batch in r:
                batch.done(0) if "on_dead_letter" in more else batch.done()

    def test_what_any_callable_raises_ends_the_iteration(self):
        def bad(error, *what):
            raise error

        for which, more in (("on_lease", {"app": "raises", "store": "memory"}), ("on_error", {}), ("on_stats", {"stats_ms": 50}),
                            ("on_dead_letter", {"retry_max": 1}), ("on_shard", {}), ("on_tip", {})):
            for read in (self.lasting, self.waiting):
                for error in (LookupError("of mine"), asyncio.CancelledError("of mine"), GeneratorExit("of mine")):
                    if which == "on_error":
                        self.box.admin("/_sandbox/faults", "1 GetRecords * error InternalFailure")
                    name = self.stream(1)
                    self.box.put(3, stream=name)
                    with self.subTest(which=which, read=read.__name__, error=error), self.assertRaises(type(error)):
                        read(name, **{which: functools.partial(bad, error)}, **more)

    def test_callables_that_use_their_consumer(self):
        for what in ("stop", "close", "end", "seek", "next", "stats"):
            leases = {"app": f"uses-{what}", "store": "memory", **FAST}
            for which, more in (("on_shard", {}), ("on_tip", {}), ("on_lease", leases)):
                name, used = self.stream(1), []
                self.box.put(3, stream=name)

                def use(*event, what=what, used=used):
                    c = self.consumer
                    used.append(event)
                    if len(used) > 1:
                        return c.end()
                    if what == "stop" and isinstance(c, sloop.Consumer):
                        used.append(asyncio.ensure_future(c.stop()))
                    elif what == "seek" and isinstance(c, sloop.Consumer):
                        task = asyncio.ensure_future(c.seek(sloop.OLDEST))
                        task.add_done_callback(lambda task: task.cancelled() or task.exception())
                        used.append(task)
                        c.end()
                    elif what == "next":
                        if isinstance(c, sloop.Reader):
                            used.append(c.next(0.05))
                        c.end()
                    else:
                        getattr(c, what)(*[sloop.OLDEST][:what == "seek"])
                        if what in ("seek", "stats"):
                            c.end()

                for read in (self.lasting, self.waiting):
                    used.clear()
                    with self.subTest(what=what, which=which, read=read.__name__):
                        try:
                            read(name, **{which: use}, **more)
                        except sloop.StateError as error:  # a seek while the worker has no shard
                            self.assertIn("seek", str(error))
                        self.assertTrue(used)
                        self.assertFalse(self.consumer.is_open)


class Threads(World):
    def test_every_call_on_another_thread_is_refused(self):
        name = self.stream(1)
        self.box.put(20, stream=name)
        reads = {"is_open", "stream", "app", "is_done"}  # these touch nothing that the other thread could change under them
        said = {}

        def ask(kind, one, args=()):
            for word in sorted(set(dir(type(one))) - reads):
                if word.startswith("_") and word not in ("__next__", "__exit__", "__enter__"):
                    continue
                try:
                    found = getattr(one, word)
                    if callable(found):
                        found = found(*ARGUMENTS.get(word, ()))
                    if hasattr(found, "__next__"):
                        next(found)
                except Exception as error:
                    said[kind, word] = error
                else:
                    said[kind, word] = None

        ARGUMENTS = {"seek": (sloop.OLDEST,), "seek_checkpoint": ("s",), "handover": ("s",), "reset": (sloop.OLDEST,),
                     "explain": ("s",), "release": ("s",), "pause": ("s",), "ack": (0,), "__exit__": (None, None, None),
                     "checkpoint_at": ("s", sloop.OLDEST)}
        with sloop.Reader(name, start=sloop.OLDEST, batch_records_max=2) as r, sloop.Admin(name, app="threads") as admin:
            batch = next(r)
            deadline = time.monotonic() + 20
            while not r._ready and time.monotonic() < deadline:
                r._driver.dispatch(r._driver.uv.wait(100))
            self.assertTrue(r._ready)
            for kind, one in (("Reader", r), ("Batch", batch), ("Admin", admin)):
                ARGUMENTS["ack"] = (0,)
                thread = threading.Thread(target=ask, args=(kind, one))
                thread.start()
                thread.join()
            thread = threading.Thread(target=lambda: said.update({("Record", "ack"): self.error_of(batch[0].ack)}))
            thread.start()
            thread.join()
            wrong = {what: error for what, error in said.items()
                     if not isinstance(error, sloop.StateError) or "called on thread" not in str(error)}
            # open() and __enter__() say first that it is open
            self.assertEqual({what for what in wrong if what[1] not in ("open", "__enter__")}, set(), wrong)
            self.assertGreater(len(said), 25)
            self.assertFalse(batch.is_done)
            batch.done()

    def error_of(self, call):
        try:
            call()
        except Exception as error:
            return error

    def test_a_consumer_of_another_thread_is_refused(self):
        name = self.stream(1)
        self.box.put(20, stream=name)

        async def main():
            async with sloop.Consumer(name, start=sloop.OLDEST, batch_records_max=2) as c:
                while not c._ready:
                    await asyncio.sleep(0.01)

                def there():
                    return [self.error_of(lambda call=call: asyncio.run(call()))
                            for call in (c.__anext__, c.shards, c.aclose, c.stop)]

                errors = await asyncio.get_running_loop().run_in_executor(None, there)
                for error in errors:
                    self.assertIsInstance(error, sloop.StateError)
                    self.assertRegex(str(error), "called on thread|another event loop")
                self.assertTrue(c.is_open)
                (await c.__anext__()).done()

        self.run_async(main())

    def test_the_process_ends_while_threads_read(self):
        name = self.stream(1)
        self.box.put(20, stream=name)
        out = self.program(COMMON + """
def read():
    for record in sloop.read(NAME, poll_ms=50):
        got.set()
async def follow():
    async with sloop.Consumer(NAME, start=sloop.OLDEST, poll_ms=50) as c:
        async for batch in c:
            batch.done()
            also.set()
got, also = threading.Event(), threading.Event()
threading.Thread(target=read, daemon=True).start()
threading.Thread(target=lambda: asyncio.run(follow()), daemon=True).start()
print(got.wait(20), also.wait(20))
""", name)
        self.assertEqual(out, "True True\n")


class Collector(World):
    def test_a_consumer_is_collected_in_any_state(self):
        from sloop import _turns
        name = self.stream(2)
        self.box.put(50, stream=name)

        async def reach(state):
            shared = {"poll_ms": 100} if state == "seeking" else {"app": "collect", "store": "memory", **FAST}
            c = sloop.Consumer(name, start=sloop.OLDEST, batch_records_max=5, **shared)
            tasks = []
            if state == "made":
                return c
            c.open()
            if state != "opened":
                batch = await c.__anext__()
                if state == "held":
                    c.held = batch
                elif state == "viewed":
                    c.held = batch[0].data
                elif state == "record":
                    c.held = batch[0]
                elif state == "generator":
                    batch.done()
                    c.held = c.records()
                    await c.held.__anext__()
                elif state in ("stopping", "seeking", "listing"):
                    batch.done()
                    call = {"stopping": c.stop, "seeking": lambda: c.seek(sloop.OLDEST), "listing": c.shards}[state]
                    tasks.append(asyncio.ensure_future(call()))
                    await asyncio.sleep(0)
                elif state == "closing":
                    batch.done()
                    tasks.append(asyncio.ensure_future(c.aclose()))
                    await asyncio.sleep(0)
                elif state == "closed":
                    batch.done()
                    await c.aclose()
                elif state == "failed":
                    c._fail(LookupError())
            for task in tasks:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, sloop.StateError):
                    await task
            c.me = c  # a cycle
            return c

        async def main(state):
            c = await reach(state)
            del c
            for _ in range(20):
                gc.collect()
                await asyncio.sleep(0.02)

        states = ("made", "opened", "held", "viewed", "record", "generator", "stopping", "seeking", "listing", "closing",
                  "closed", "failed")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            for state in states:
                with self.subTest(state):
                    self.run_async(main(state))
                    gc.collect()
                    self.assertEqual(_turns._drivers, {})

    def test_a_generator_that_is_left_gives_its_batch_back(self):
        name = self.stream(1)
        self.box.put(8, stream=name)
        with sloop.Reader(name, start=sloop.OLDEST) as r:
            first = r.records()
            self.assertEqual(bytes(next(first)), b"record 0 ")
            self.assertEqual(bytes(next(first)), b"record 1 ")
            del first
            record = next(r.records())
            self.assertEqual((bytes(record), record.redelivered), (b"record 1 ", True))

    def test_a_loop_without_memory_for_a_timer_says_so(self):
        name = self.stream(1)

        async def main():
            loop = asyncio.get_running_loop()
            async with sloop.Consumer(name, poll_ms=100) as c:
                await c.shards()

                def refusing(call, at):
                    def refuse(*args, **more):
                        if getattr(args[at], "__self__", None) is c._driver:
                            raise MemoryError("no timer")
                        return call(*args, **more)
                    return refuse

                with mock.patch.object(loop, "call_at", refusing(loop.call_at, 1)), \
                        mock.patch.object(loop, "call_soon", refusing(loop.call_soon, 0)), \
                        self.assertRaisesRegex(MemoryError, "no timer"):
                    async for batch in c:
                        batch.done()

        self.run_async(main(), 15)

    def test_who_waits_is_told_when_no_exception_can_be_made(self):
        name = self.stream(1)

        def fails(*_):
            raise MemoryError("no outcome")

        async def main():
            async with sloop.Consumer(name) as c:
                with mock.patch("sloop._consumer.outcome", fails), self.assertRaisesRegex(MemoryError, "no outcome"):
                    await asyncio.wait_for(c.shards(), 10)
                with mock.patch.object(c, "_moved", fails), self.assertRaisesRegex(MemoryError, "no outcome"):
                    await asyncio.wait_for(c.seek(sloop.OLDEST), 10)

        self.run_async(main())
        with sloop.Reader(name) as r, mock.patch("sloop._consumer.outcome", fails), \
                self.assertRaisesRegex(MemoryError, "no outcome"):
            r.shards()


@unittest.skipUnless(importlib.util.find_spec("_testcapi"), "this Python has no _testcapi, by which allocations fail")
class WithoutMemory(World):
    """The n-th allocation of Python fails, and those behind it. The oracle is the tally of a run in which none does."""

    def test_no_event_is_lost_in_silence(self):
        name = self.stream(2)
        self.box.put(40, stream=name)
        out = self.program(COMMON + """
import _testcapi, collections, os
sys.path.insert(0, sys.argv[2])
import cpu_waits
names = {getattr(_native, name): name for name in ("BATCH", "SHARD", "TIP", "LOG", "DONE", "CLOSED", "STATS", "LEASE")}

def live(first, width, every):
    tally, records, statuses, turns = collections.Counter(), set(), [], 0
    owner, loop = object(), _native.Loop()
    options = {"stream": NAME, "poll_ms": "20", "log_level": "debug", "batch_records_max": "5", "wire": "json"}
    wanted = 1 << _native.SHARD | 1 << _native.TIP
    c = loop.open(options, sloop.OLDEST._tuple(), None, None, wanted, owner, NAME)
    c.start()
    step, end = 0, cpu_waits.Deadline(30)
    while loop.is_open or loop.has_lost or tally["CLOSED"] < 1:
        assert not end.passed(), (first, width, every, step, tally, len(records))
        turns += 1  # of this step: what is given back for want of memory rests longer each time
        starved = every and turns < 20 and turns % every != 0
        events = ()
        try:
            if starved: _testcapi.set_nomemory(first, first + width)
            events = loop.turn()[1]
        except MemoryError:
            pass
        finally:
            if starved: _testcapi.remove_mem_hooks()
        for who, kind, payload in events:
            assert who is owner
            tally[names[kind]] += 1
            if kind == _native.BATCH:
                records.update((r.shard, r.sequence) for r in payload)
                payload.done()
            elif kind == _native.DONE:
                statuses.append(payload[:2])
            elif kind == _native.CLOSED:
                assert events[-1][1] == kind, "CLOSED is the last"
        payload = events = None
        lost = loop.take_lost()
        assert not set(lost) & {"BATCH", "DONE", "CLOSED", "CREDS"}, lost
        for kind, n in lost.items():
            tally[kind] += n
            tally["lost"] += n
        if step == 0 and len(records) == 40 and tally["TIP"]:
            step, turns = 1, 0
            c.shards(1)
        elif step == 1 and len(statuses) == 1:
            step, turns = 2, 0
            c.stop(2, 5000)
        elif step == 2 and len(statuses) == 2:
            step, turns = 3, 0
            c.close()
        if not events: time.sleep(0.001)
    while not loop.close():
        loop.turn()
    assert [number for number, _ in statuses] == [1, 2], statuses
    assert all(status in (0, _native.NO_MEMORY) for _, status in statuses), statuses
    return tally

calm = live(0, 0, 0)
assert calm["SHARD"] >= 2 and calm["TIP"] == 1 and calm["lost"] == 0, calm
lost = files = 0
for first in range(30):
    for width, every in ((1, 2), (1000000, 2)):
        tally = live(first, width, every)
        for kind in ("SHARD", "TIP", "CLOSED", "DONE"):
            assert tally[kind] == calm[kind], (first, width, kind, tally, calm)
        lost += tally["lost"]
    if first == 3: files = len(os.listdir("/proc/self/fd"))
assert len(os.listdir("/proc/self/fd")) == files
print("lost and told:", lost > 0)
sys.stderr.write(f"lost {lost}")
""", name, PROCESS, limit=240)
        self.assertEqual(out, "lost and told: True\n", self.errors)

    def test_what_is_lost_ends_the_iteration_by_name(self):
        name = self.stream(2)
        self.box.put(10, stream=name)
        program = COMMON + """
import _testcapi, logging
class Starved:
    \"\"\"A native loop in whose turns there is no memory, from their n-th allocation on.\"\"\"
    def __init__(self, uv, first): self.uv, self.first = uv, first
    def __getattr__(self, name): return getattr(self.uv, name)
    def starve(self, call, *args):
        _testcapi.set_nomemory(self.first, 0)
        try: return call(*args)
        finally: _testcapi.remove_mem_hooks()
    def turn(self): return self.starve(self.uv.turn)
    def wait(self, ms): return self.starve(self.uv.wait, ms)
async def main(first, seen):
    async with sloop.Consumer(NAME, start=sloop.OLDEST, on_shard=seen.append) as c:
        whole, c._driver.uv = c._driver.uv, Starved(c._driver.uv, first)
        try:
            async for batch in c: batch.done()
        finally: c._driver.uv = whole
def plain(first, seen):
    with sloop.Reader(NAME, start=sloop.OLDEST, on_shard=seen.append) as r:
        whole, r._driver.uv = r._driver.uv, Starved(r._driver.uv, first)
        try:
            batch = r.next(1)
            if batch is not None: batch.done()
        finally: r._driver.uv = whole
def tells(run):
    for first in range(2, 60):  # how many allocations a turn has before the event of a shard depends on much
        try: run(first, [])
        except MemoryError as error:
            if "SHARD" in str(error): return True
        except asyncio.TimeoutError: pass
    return False
print(tells(plain), tells(lambda first, seen: asyncio.run(asyncio.wait_for(main(first, seen), 1))))
"""
        # A turn that gets no list fails as a whole, nothing being lost; a Reader tells that, a Consumer tries again.
        self.assertEqual(self.program(program, name, limit=150), "True True\n")

    def test_a_lost_request_for_credentials_is_no_refusal(self):
        name = self.stream(1)
        out = self.program(COMMON + """
import _testcapi
sys.path.insert(0, sys.argv[2])
import cpu_waits
def live(first, width):
    owner, loop = object(), _native.Loop()
    options = {"stream": NAME, "poll_ms": "20", "log_level": "error"}
    c = loop.open(options, sloop.OLDEST._tuple(), None, None, 1 << _native.CREDS, owner, NAME)
    c.start()
    turns, asked, end, refused = 0, 0, cpu_waits.Deadline(20), []
    while not asked and not refused:
        assert not end.passed(), (first, width, turns, asked)
        turns += 1
        turn, remove = loop.turn, _testcapi.remove_mem_hooks
        if turns < 4: _testcapi.set_nomemory(first, first + width)
        events = ()
        try: due, events = turn()
        except MemoryError: pass
        finally: remove()
        for _, kind, payload in events:
            if kind == _native.CREDS:
                payload.answer("key", "secret", None, -1)
                asked += 1
            elif kind == _native.ERROR and payload["fatal"]: refused.append(payload["code"])
        payload = events = None
        time.sleep(0.001)
    c.close()
    while loop.is_open: loop.turn()
    while not loop.close(): loop.turn()
    return refused
found = {(first, width): live(first, width) for first in range(8) for width in (1, 2)}
print({place: codes for place, codes in found.items() if _native.CODES["EAUTH"] in codes})
""", name, PROCESS, limit=150)
        self.assertEqual(out, "{}\n", self.errors)

    def test_the_end_of_the_last_consumer_is_told(self):
        name = self.stream(1)
        out = self.program(COMMON + """
import _testcapi
class Starved:
    \"\"\"A native loop. While is_starved two allocations of its turns fail, the n-th and the next.\"\"\"
    def __init__(self, uv, first): self.uv, self.first, self.is_starved = uv, first, False
    def __getattr__(self, name): return getattr(self.uv, name)
    def turn(self):
        if not self.is_starved: return self.uv.turn()
        turn, remove = self.uv.turn, _testcapi.remove_mem_hooks
        _testcapi.set_nomemory(self.first, self.first + 2)  # CLOSED is put into the list twice
        try: due, events = turn()
        finally: remove()
        if due == 0 and not events: kept.append(self.first)
        return due, events
kept = []
async def main(first):
    c = sloop.Consumer(NAME, start=sloop.OLDEST)
    c.open()
    await c.shards()
    driver, whole = c._driver, c._driver.uv
    driver.uv = Starved(whole, first)
    driver.uv.is_starved = True
    c._native.close()
    asyncio.get_running_loop().call_later(0.05, setattr, driver.uv, "is_starved", False)
    try:
        await asyncio.wait_for(over(c), 10)
    finally: driver.uv = whole
async def over(c):
    while not c._is_over: await c._wait()
for first in range(12):
    try: asyncio.run(main(first))
    except asyncio.TimeoutError: print("no end with", first)
    except MemoryError: pass
print("kept:", bool(kept))
""", name, limit=150)
        self.assertEqual(out, "kept: True\n", self.errors)


if __name__ == "__main__":
    unittest.main()
