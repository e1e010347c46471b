"""The life of a consumer in Python: cancellation, Ctrl-C, the end of a loop and of the process, fork, threads, the garbage
collector, and everything that is used wrongly. Never a crash, never a hang; the records come again."""

import asyncio
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
import weakref

import sloop
from world import COLLECTOR, FREE_THREADED, Ended, World, program_environment

COMMON = """
import asyncio, gc, os, signal, sys, threading, time, warnings
import sloop
NAME = sys.argv[1]
"""


class Life(World):
    def test_cancelling_a_task_stops_its_consumer(self):
        name = self.stream()
        self.box.put(10, stream=name)
        seen = []

        async def work():
            async with sloop.Consumer(name, start=sloop.OLDEST) as c:
                seen.append(c)
                async for batch in c:
                    await batch.done()

        async def main():
            task = asyncio.create_task(work())
            await asyncio.sleep(0.3)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertFalse(seen[0].is_open)

        self.run_async(main())

    def test_a_callback_closes_while_a_batch_is_on_its_way(self):
        name = self.stream(1)
        self.box.put(10, stream=name)

        async def main():
            def close(event):
                if event.kind == "repositioned":
                    c.end()
                    c.close()

            async with sloop.Consumer(name, start=sloop.OLDEST, on_shard=close) as c:
                batch = await c.__anext__()
                me, native = weakref.ref(c), sloop._native  # one turn may bring both
                c._driver.dispatch([(me, native.SHARD, ("repositioned", "s")), (me, native.BATCH, batch)])
                self.assertFalse(c.is_open)
                self.assertTrue(batch.is_done)

        self.run_async(main())

    def test_a_timeout_around_anext_loses_no_batch(self):
        name = self.stream(1)

        async def main():
            got = []
            async with sloop.Consumer(name, start=sloop.OLDEST, poll_ms=100) as c:
                for i in range(30):
                    if i % 3 == 0:
                        await asyncio.get_running_loop().run_in_executor(None, lambda n=i: self.box.put(1, stream=name, start=n))
                    try:
                        batch = await asyncio.wait_for(c.__anext__(), 0.02)
                    except asyncio.TimeoutError:
                        continue
                    got += [bytes(r.data) for r in batch]
                    batch.done()
                while len(got) < 10:
                    batch = await c.__anext__()
                    got += [bytes(r.data) for r in batch]
                    batch.done()
            return got

        self.assertEqual(self.run_async(main()), [b"record %d " % i for i in range(0, 30, 3)])

    def test_ctrl_c_ends_a_program_soon(self):
        name = self.stream()
        self.box.put(10, stream=name)
        for text in ("""
            async def main():
                async with sloop.Consumer(NAME, start=sloop.OLDEST) as c:
                    async for batch in c:
                        await batch.done()
                        print("read", flush=True)
            asyncio.run(main())
            """, """
            for n, record in enumerate(sloop.read(NAME)):
                if n == 9: print("read", flush=True)
            """):
            child = subprocess.Popen([sys.executable, "-X", "dev", "-c", COMMON + clean(text), name], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, env=program_environment(self.box.env), text=True)
            self.assertEqual(child.stdout.readline(), "read\n")
            begun = time.monotonic()
            child.send_signal(signal.SIGINT)
            done = Ended(child, begun, 60)
            self.assertFalse(done.too_long, done.err)
            self.assertEqual(child.returncode, -signal.SIGINT, done.err)
            self.assertIn("KeyboardInterrupt", done.err)
            self.assertNotIn("ResourceWarning: the consumer", done.err)
            self.assertLess(done.own, 8)

    def test_a_loop_that_ends_before_its_consumer(self):
        name = self.stream()
        self.box.put(10, stream=name)
        out = self.program(COMMON + clean("""
            async def main():
                global c
                c = sloop.Consumer(NAME, app="left", store="memory", start=sloop.OLDEST)
                c.open()
                print(len(await c.__anext__()) > 0)
            asyncio.run(main())
            for call in (c.stats, c.token, c.pause):
                try: call()
                except sloop.Error as e: print(type(e).__name__)
            print("end")
            """), name)
        self.assertEqual(out.split(), ["True", "StateError", "end"], self.errors)

    def test_a_forgotten_consumer_is_closed_with_a_warning(self):
        name = self.stream()

        async def main():
            c = sloop.Consumer(name)
            c.open()
            await asyncio.sleep(0.2)
            gone = weakref.ref(c)
            with self.assertWarnsRegex(ResourceWarning, f"the consumer of '{name}' was never closed"):
                del c
                gc.collect()
            self.assertIsNone(gone())
            await asyncio.sleep(0.2)

        self.run_async(main())
        from sloop import _turns
        self.assertEqual(_turns._drivers, {})

    def test_the_process_ends_with_open_consumers(self):
        name = self.stream()
        self.box.put(1000, stream=name)
        for end in ("", "sys.exit(0)", "raise SystemExit(0)", "del c", "gc.disable()"):
            with self.subTest(end):
                self.program(COMMON + clean("""
                    async def main():
                        global c, kept, view
                        c = sloop.Consumer(NAME, start=sloop.OLDEST, batch_records_max=10)
                        c.open()
                        kept = await c.__anext__()
                        view = kept[0].data
                        await c.__anext__()
                    asyncio.run(main())
                    """) + end, name)
                self.assertLess(self.seconds, 10)

    def test_the_process_ends_with_open_handles_of_an_operator(self):
        out = self.program(COMMON + clean("""
            from sloop import _turns
            handles = [sloop.AsyncAdmin(NAME, app="left") for _ in range(3)]
            async def main():
                for handle in handles:
                    await handle.__aenter__()
            asyncio.run(main())
            _turns.close_all_at_exit()
            print([driver.uv.is_open for driver in _turns._all])
            """), self.stream(1))
        self.assertEqual(out, "[False]\n")

    def test_a_child_of_fork_touches_nothing(self):
        name = self.stream(1)
        self.box.put(100, stream=name)
        out = self.program(COMMON + clean("""
            import atexit, pickle
            def names(calls):
                for call in calls:
                    try: call()
                    except Exception as e: yield type(e).__name__
                    else: yield "none"
            async def main():
                got = 0
                admin, loop = sloop.AsyncAdmin(NAME, app="x"), asyncio.get_running_loop()
                await admin.__aenter__()
                async with sloop.Consumer(NAME, start=sloop.OLDEST, batch_records_max=10) as c, sloop.Consumer(NAME) as d:
                    async for batch in c:
                        record, view = batch[0], batch[1].data
                        pid = os.fork()
                        if pid == 0:
                            calls = [c.stats, c.token, c.shard_stats, c.pause, c.resume, c.end, lambda: c.worker, batch.done,
                                     lambda: batch.ack(0), lambda: batch[0], lambda: list(batch), record.ack,
                                     lambda: c.__anext__().send(None), lambda: c.shards().send(None),
                                     lambda: record.data, lambda: bytes(record), lambda: record.key, lambda: record.owned,
                                     c.admin, d.close, lambda: batch.__enter__(), lambda: c._native.start(),
                                     lambda: c._native.give_back(), lambda: c._driver.uv.turn(), lambda: c._driver.uv.fd,
                                     lambda: c._driver.uv.close(), lambda: c._driver.uv.close_all()]
                            calls.append(lambda: admin.leases().send(None))
                            print(sorted(set(names(calls))), flush=True)
                            loop.call_soon_threadsafe = lambda *args: print("woke the parent", flush=True)
                            del admin, c, d, batch, record, view, calls
                            gc.collect()
                            if got % 20: os._exit(0)
                            atexit._run_exitfuncs()
                            os._exit(0)
                        os.waitpid(pid, 0)
                        got += len(batch)
                        view.release()
                        await batch.done()
                        if got == 100: break
                await admin.__aexit__(None, None, None)
                print("read", got)
            asyncio.run(main())
            """), name)
        lines = set(out.splitlines())
        self.assertEqual(lines, {"['ForkError']", "read 100"}, out)

    def test_a_child_of_fork_may_read_by_itself(self):
        name = self.stream(1)
        self.box.put(100, stream=name)
        out = self.program(COMMON + clean("""
            with sloop.Reader(NAME, start=sloop.OLDEST) as r:
                batch = next(r)
                pid = os.fork()
                if pid == 0:
                    print(len(list(sloop.read(NAME, until_tip=True))), flush=True)
                    os._exit(0)
                os.waitpid(pid, 0)
                print(len(batch))
                batch.done()
                """), name)
        self.assertEqual(out.split(), ["100", "8"])  # the first page of a shard has 8 records

    def test_threads_have_consumers_of_their_own(self):
        name = self.stream()
        self.box.put(500, stream=name)
        counts, errors = [], []

        def work():
            try:
                counts.append(len(list(sloop.read(name, until_tip=True))))
                counts.append(asyncio.run(count()))
            except Exception as error:
                errors.append(error)

        async def count():
            async with sloop.Consumer(name, start=sloop.OLDEST, until_tip=True, auto_ack=True) as c:
                return sum([len(batch) async for batch in c])

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((counts, errors), ([500] * 8, []))

    def test_another_thread_is_refused_and_may_read_records(self):
        name = self.stream(1)
        self.box.put(5, stream=name)
        with sloop.Reader(name, start=sloop.OLDEST) as r:
            batch = next(r)
            said = []

            def work():
                said.append(b"".join(bytes(record.data) for record in batch))
                for call in (batch.done, r.stats, r.token, r.close, lambda: next(r), lambda: batch.ack(0), batch[0].ack):
                    try:
                        call()
                    except sloop.StateError as error:
                        said.append(str(error))

            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            self.assertEqual(said[0], b"".join(b"record %d " % i for i in range(5)))
            self.assertEqual(len(said), 8, said)
            for line in said[1:]:
                self.assertRegex(line, r"called on thread \d+, and the consumer belongs to thread \d+")
            batch.done()

    def test_a_batch_dropped_on_another_thread_comes_again(self):
        name = self.stream(1)
        self.box.put(5, stream=name)

        async def main():
            async with sloop.Consumer(name, start=sloop.OLDEST) as c:
                held = [await c.__anext__()]
                await asyncio.get_running_loop().run_in_executor(None, held.clear)
                gc.collect()
                batch = await asyncio.wait_for(c.__anext__(), 5)
                self.assertTrue(batch[0].redelivered)
                batch.done()

        self.run_async(main())

    def test_views_keep_a_batch_until_they_go(self):
        name = self.stream(1)
        self.box.put(30, stream=name)

        async def main():
            async with sloop.Consumer(name, start=sloop.OLDEST, batch_records_max=5, batches_out_max=1) as c:
                batch = await c.__anext__()
                views = [record.data for record in batch]
                record = batch[3]
                await batch.done()
                with self.assertRaisesRegex(sloop.StateError, "given back before"):
                    batch.done()
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(c.__anext__(), 0.3)
                self.assertEqual(c.stats()["batches_now"], 1)
                self.assertEqual(bytes(views[4]), b"record 4 ")
                for view in views:
                    view.release()
                self.assertEqual(bytes((await c.__anext__())[0].data), b"record 5 ")
                self.assertEqual(bytes(record.data), b"record 3 ")
                self.assertEqual(record.key, "key-record 3 ")

        self.run_async(main())

    def test_views_outlive_the_consumer(self):
        name = self.stream(1)
        self.box.put(8, stream=name)
        with sloop.Reader(name, start=sloop.OLDEST) as r:
            views = [record.data for record in next(r)]
        self.assertEqual([bytes(view) for view in views], [b"record %d " % i for i in range(8)])
        del views
        gc.collect()

    def test_the_collector_at_every_allocation(self):
        name = self.stream(2)
        self.box.put(3000, stream=name)
        threshold = gc.get_threshold()

        class Cycle:
            def __init__(self, what):
                self.me, self.what = self, what

        async def collect():
            while True:  # a cycle that has grown old is looked at seldom, and then holds its batch while nothing else comes
                await asyncio.sleep(0.05)
                gc.collect()

        async def main():
            seen, attempts = set(), 0
            collector = asyncio.ensure_future(collect())
            async with sloop.Consumer(name, start=sloop.OLDEST, until_tip=True, batch_records_max=50) as c:
                async for batch in c:
                    for record in batch:
                        seen.add((record.shard, record.sequence, bytes(record.data)))
                        Cycle(record)
                    attempts += 1
                    if attempts % 5 == 0:
                        Cycle(batch)  # it is dropped by the collector, and comes again
                        del batch, record  # or the loop's variables hold the last batch while they wait for another
                        continue
                    if attempts % 7 == 0:
                        Cycle(batch[0].data)
                    c.shard_stats()
                    await batch.done()
                self.assertGreater(c.stats()["redelivered"], 0)
            collector.cancel()
            return seen

        gc.set_threshold(1)
        try:
            seen = self.run_async(main())
        finally:
            gc.set_threshold(*threshold)
        self.assertEqual(len(seen), 3000)

    @unittest.skipIf(FREE_THREADED, COLLECTOR)
    def test_the_collector_gives_a_batch_back_while_a_change_is_read(self):
        self.box.make_table("collected")
        item = {"id": {"S": "a"}, **{f"name{i}": {"M": {"text": {"S": f"value {i}"}}} for i in range(200)}}
        self.box.dynamodb("PutItem", TableName="collected", Item=item)
        # freed memory is overwritten, so that what reads it shows
        out = self.program(COMMON + clean("""
            class Cycle:
                def __init__(self, batch):
                    self.me, self.batch = self, batch
                def __del__(self):
                    self.batch.done()
            with sloop.Reader(NAME, start=sloop.OLDEST) as r:
                batch = next(r)
                record = batch[0]
                gc.collect()
                gc.disable()
                Cycle(batch)
                gc.set_threshold(1)
                gc.enable()
                change = record.change
                gc.set_threshold(700)
                assert batch.is_done, "the collector did not run"
                r.next(0.05)
                print(len(change.new), change.new["name199"], r.stats()["batches_now"])
            """), "dynamodb:collected", env={"MALLOC_PERTURB_": "165"})
        self.assertEqual(out, "201 {'text': 'value 199'} 0\n")

    def test_memory_is_flat_over_short_lives(self):
        name = self.stream(2)
        self.box.put(200, stream=name)

        def live(times):
            for _ in range(times):
                records = list(sloop.read(name, until_tip=True, poll_ms=1))
                self.assertEqual(len(records), 200)

        def resident():
            gc.collect()
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * 4096, len(os.listdir("/proc/self/fd")), len(gc.get_objects())

        live(30)
        memory, files, objects = resident()
        live(60)
        memory_then, files_then, objects_then = resident()
        self.assertEqual(files_then, files)
        self.assertLess(abs(objects_then - objects), 200)
        self.assertLess(memory_then - memory, 3 << 20)

    def test_what_a_callable_raises_ends_the_iteration(self):
        name = self.stream(1)
        self.box.put(5, stream=name)

        def bad(*what):
            raise LookupError("of mine")

        async def main(**callables):
            async with sloop.Consumer(name, start=sloop.OLDEST, stats_ms=50, **callables) as c:
                async for batch in c:
                    await batch.done()

        for which in ("on_shard", "on_tip", "on_stats"):
            with self.subTest(which), self.assertRaisesRegex(LookupError, "of mine"):
                self.run_async(main(**{which: bad}))

    def test_wrong_use_is_told_by_name(self):
        name = self.stream(1)
        self.box.put(10, stream=name)
        for error, match, more in (
                (TypeError, "region: a str or an int", {"region": 1.5}), (TypeError, "shards", {"shards": "abc"}),
                (TypeError, "on_shard: a callable", {"on_shard": 3}), (TypeError, "start: a Position", {"start": "oldest"}),
                (TypeError, "credentials: a callable", {"credentials": ("a", "b")}),
                (sloop.OptionError, "no option", {"regoin": "x"}), (sloop.OptionError, "poll_ms", {"poll_ms": 0}),
                (sloop.OptionError, "order", {"order": "random"}), (ValueError, "NUL", {"region": "a\0b"}),
                (ValueError, "time zone", {"start": __import__("datetime").datetime(2026, 1, 1)}),
                (ValueError, "stop_timeout", {"stop_timeout": -1})):
            with self.subTest(match), self.assertRaisesRegex(error, match):
                sloop.Consumer(name, **more)
        with self.assertRaisesRegex(TypeError, "stream: a str"):
            sloop.Reader(3)
        closed = sloop.Reader(name)
        with self.assertRaisesRegex(sloop.StateError, "is not open"):
            next(closed)
        with closed:
            pass
        for call in (closed.stats, closed.token, closed.pause, closed.shard_stats, closed.shards,
                     lambda: closed.seek(sloop.OLDEST)):
            with self.assertRaisesRegex(sloop.StateError, f"the consumer of '{name}' is closed"):
                call()
        with self.assertRaises(StopIteration):
            next(closed)
        with self.assertRaisesRegex(sloop.StateError, "opened before"):
            closed.open()
        with sloop.Reader(name, start=sloop.OLDEST) as r:
            batch = next(r)
            with self.assertRaisesRegex(ValueError, "acked is 11, and the batch has 8 records"):
                batch.done(11)
            with self.assertRaises(TypeError):
                batch.done("all")
            with self.assertRaises(IndexError):
                batch.ack(8)
            with self.assertRaises(IndexError):
                batch[8]
            self.assertEqual(bytes(batch[-1].data), b"record 7 ")
            batch.done(2)
            for call in (batch.done, lambda: batch[0], lambda: list(batch), lambda: batch.ack(0), lambda: batch.behind_ms):
                with self.assertRaisesRegex(sloop.StateError, "given back"):
                    call()
            batch = next(r)
            while not batch[0].redelivered:
                batch.done()
                batch = next(r)
            self.assertEqual((bytes(batch[0].data), sum(record.redelivered for record in batch)), (b"record 2 ", 6))
            with self.assertRaises(sloop.OptionError):
                r.seek(sloop.END)
            with self.assertRaisesRegex(TypeError, r"seek\(\): to: a Position or a datetime is needed, not NoneType"):
                r.seek(None)
            for wrong in (-1, float("nan")):
                with self.assertRaisesRegex(ValueError, r"stop\(\): timeout: seconds are needed, 0 or more"):
                    r.stop(wrong)
            for wrong in (-1, 2 ** 64):
                with self.assertRaisesRegex(ValueError, r"sub_sequence is from 0"):
                    r.seek(sloop.Position.after_sequence(batch[0].shard, batch[0].sequence, wrong))
            with self.assertRaises(sloop.StateError):
                r.checkpoint()
        for kind in (sloop.Batch, sloop.Record):
            with self.assertRaises(TypeError):
                kind()
        with self.assertRaisesRegex(RuntimeError, "no running event loop"):
            sloop.Consumer(name).open()

    def test_errors_of_a_start(self):
        async def main(stream, **more):
            async with sloop.Consumer(stream, **more) as c:
                async for batch in c:
                    batch.done()

        with self.assertRaises(sloop.NoStream) as caught:
            self.run_async(main("nobody"))
        self.assertEqual((caught.exception.name, caught.exception.fatal, caught.exception.http_status), ("ENOSTREAM", True, 400))
        with self.assertRaises(sloop.AccessError):
            self.box.admin("/_sandbox/faults", "1 * * error AccessDeniedException")
            self.run_async(main(self.stream()))
        with self.assertRaises(sloop.OptionError):
            self.run_async(main(self.stream(), app="a b"))
        import pickle
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((type(again), str(again), again.fatal), (sloop.NoStream, str(caught.exception), True))

    def test_credentials_of_a_callable(self):
        name = self.stream(1)
        self.box.put(3, stream=name)
        asked = []

        class Keys:  # as botocore's RefreshableCredentials
            def get_frozen_credentials(self):
                asked.append(threading.current_thread())
                return sloop.Credentials("a", "b", "c")

        async def give():
            asked.append("async")
            return ("a", "b")

        async def main(credentials):
            async with sloop.Consumer(name, start=sloop.OLDEST, until_tip=True, auto_ack=True, credentials=credentials) as c:
                return sum([len(batch) async for batch in c])

        self.assertEqual(self.run_async(main(Keys)), 3)
        self.assertIsNot(asked[0], threading.main_thread())
        self.assertEqual(self.run_async(main(give)), 3)
        self.assertEqual(len(list(sloop.read(name, until_tip=True, credentials=lambda: ("a", "b", None)))), 3)
        for bad, match in ((lambda: 1 / 0, "ZeroDivisionError: division by zero"), (lambda: None, "NoneType"),
                           (lambda: ("a",), "secret_key")):
            with self.assertRaisesRegex(sloop.AuthError, match):
                self.run_async(main(bad))
            with self.assertRaisesRegex(sloop.AuthError, match):
                list(sloop.read(name, credentials=bad))

    def test_another_python_is_refused(self):
        self.program("""
            import sys
            sys.implementation.name = "pypy"
            try:
                import sloop
            except ImportError as error:
                assert str(error) == f"sloop needs CPython 3.9 or newer; {sys.executable} is pypy, which can't load it", error
            else:
                raise AssertionError("it was taken")
            """)

    def test_a_package_of_another_build_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            here = os.path.dirname(sloop.__file__)
            shutil.copytree(here, os.path.join(folder, "sloop"), ignore=shutil.ignore_patterns("_native.*"))
            self.program("""
                import sys
                sys.path.insert(0, sys.argv[1])
                try:
                    import sloop
                except ImportError as error:
                    assert str(error) == (f"sloop is not built for {sys.implementation.cache_tag}{sys.argv[2]}: install it by "
                                          f"{sys.executable} -m pip install"), error
                else:
                    raise AssertionError("it was taken")
                """, folder, "t" if FREE_THREADED else "")

    def test_a_subinterpreter_is_refused(self):
        out = self.program(COMMON + clean("""
            try:
                import _xxsubinterpreters as si
            except ImportError:
                import _interpreters as si
            i = si.create()
            said = si.run_string(i, "try:\\n import sloop\\nexcept ImportError as e: print('refused')\\nelse: print('taken')")
            print("end", flush=True)
            """), self.stream())
        self.assertEqual(sorted(out.split()), ["end", "refused"])

    def test_a_free_threaded_build_runs_with_its_lock(self):
        if not FREE_THREADED:
            self.skipTest("this Python always has its lock")
        program = COMMON + "print(sys._is_gil_enabled())"
        self.assertEqual(self.program("import warnings; warnings.simplefilter('ignore')\n" + program, "none"), "True\n")
        self.program(program, "none", code=1, env={"PYTHON_GIL": "0"})
        self.assertIn("ImportError: sloop needs the interpreter's lock (GIL), and PYTHON_GIL=0", self.errors)

    def test_other_work_goes_on_beside_a_backlog(self):
        name = self.stream(4)
        for i in range(20):
            self.box.put(1000, stream=name, start=1000 * i, size=500)

        async def main():
            gaps, running = [], True

            async def tick():
                last = time.monotonic()
                while running:
                    await asyncio.sleep(0.001)
                    gaps.append(time.monotonic() - last)
                    last = time.monotonic()

            ticking = asyncio.create_task(tick())
            count = 0
            async with sloop.Consumer(name, start=sloop.OLDEST, until_tip=True) as c:
                async for batch in c:
                    count += len(batch)
                    await batch.done()
            running = False
            await ticking
            return count, len(gaps), max(gaps)

        count, ticks, longest = self.run_async(main())
        self.assertEqual(count, 20000)
        self.assertGreater(ticks, 20)
        self.assertLess(longest, 0.5)


class OnUvloop(World):
    def test_the_same_on_uvloop(self):
        try:
            import uvloop
        except ImportError:
            self.skipTest("uvloop is not installed")
        name = self.stream()
        self.box.put(5000, stream=name)

        async def main():
            count = 0
            async with sloop.Consumer(name, start=sloop.OLDEST, until_tip=True) as c:
                async for batch in c:
                    count += len(batch)
                    await batch.done()
            async with sloop.Consumer(name) as c:
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(c.__anext__(), 0.2)
            return count

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            loop = uvloop.new_event_loop()
            try:
                self.assertEqual(loop.run_until_complete(asyncio.wait_for(main(), 30)), 5000)
            finally:
                loop.close()


def clean(text):
    import textwrap
    return textwrap.dedent(text)


if __name__ == "__main__":
    unittest.main()
