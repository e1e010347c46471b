"""Fleets in odd company: wall clocks hours and years apart (libfaketime) with signatures that are checked, two workers with
one id, a stream that is deleted and made again under its name, four processes on one SQLite file with kill -9."""

import os
import random
import tempfile
import time

import cpu_waits
import fleet as fleets
import harness
import servers
from harness import FULL, Tests, expect
from sandbox_box import Box
from tail_times import LIBFAKETIME
from ticker import Ticker

KILLS = 12 if FULL else 3


def shards_of(box, stream):
    return [shard["ShardId"] for shard in harness.list_shards(box.client(), stream)]


def skewed_clocks():
    """Only signatures may care, and they are put right; life and death go by the monotonic clocks."""
    if not LIBFAKETIME:
        raise servers.Missing("faketime is not installed (sh test/install.sh test)")
    with Box() as box, Box(f"access_key={harness.KEY_ID}", f"secret_key={harness.SECRET}") as leases:
        stream = harness.new_stream(box.client(), 6)
        with fleets.Fleet(box.url, leases.url, stream, 4, lease_ms=2000, poll_ms=200) as fleet:
            fleet.client = lambda: leases.client(harness.KEY_ID, harness.SECRET, service="dynamodb")
            for worker, offset in zip(fleet.names, ("+0", "+3600", "-7200", "+315360000")):
                fleet.extra_env[worker] = {"LD_PRELOAD": LIBFAKETIME, "FAKETIME": offset,
                                           "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
            fleet.start()
            fleet.wait_balance()
            fleet.watch()
            ticker = Ticker(box, stream, 0.1)
            fleet.wait_fresh(shards_of(box, stream))
            rest_from = time.monotonic()
            time.sleep(4)
            moves = fleet.looks.owners_since(rest_from)
            expect(not moves, f"moves at rest: {moves}")
            took = []
            for worker in ("w3", "w2"):
                lost = fleet.wait_balance()[worker]
                watch, _ = cpu_waits.Stopwatch(), fleet.kill(worker)
                left = [name for name in fleet.names if not fleet.now[name].ended()]
                fleet.wait_balance(left)
                fleet.wait_fresh(lost)
                took.append(watch.own())
            expect(max(took) < 8, f"taken over after {took}")
            truth = ticker.stop()
            fleet.wait_all(lambda: truth, 30)
            fleet.leave_all()
            verdict = fleet.judged(truth, {})
            ours = [row for row in fleet.look_at_all().values() if row.get("ts")]
            far = max(abs(int(row["ts"]) / 1000 - time.time()) for row in ours)
            expect(far > 300000000, f"no row was written with a false clock: {far:.0f} s at most")
            return f"rows up to {far / 86400:.0f} days off; {fleets.describe(verdict)}"


def one_id_twice():
    """The second is told and ends; the first goes on."""
    with Box() as box, servers.Dynalite() as leases:
        stream = harness.new_stream(box.client(), 2)
        with fleets.Fleet(box.url, leases.url, stream, 1, lease_ms=2000, poll_ms=200) as fleet:
            fleet.start()
            fleet.wait_balance()
            first = fleet.now["w0"]
            fleet.watch()
            ticker = Ticker(box, stream, 0.1)
            fleet.start("w0")
            second = fleet.now["w0"]
            began = time.monotonic()
            second.process.wait(20)
            took = time.monotonic() - began
            said = second.stderr().strip().split("\n")
            expect(second.process.returncode not in (0, None), f"it ended with 0: {said}")
            expect(any("w0" in line and ("another" in line or "twice" in line or "alive" in line or "two" in line)
                       for line in said), f"it says {said}")
            fleet.now["w0"] = first
            fleet.wait_fresh(shards_of(box, stream))
            truth = ticker.stop()
            fleet.wait_all(lambda: truth, 20)
            fleet.leave_all()
            verdict = fleet.judged(truth, {})
            expect(verdict.repeats == 0 and len({line.worker for line in fleet.history.lines}) == 1, "the first was harmed")
            return f"ended with {second.process.returncode} after {took:.1f} s: {said[-1][-160:]}"


def table_is_slow_at_first():
    """A worker that starts in a bad hour of its table, when every answer comes too late, says what it waits for, and joins
    when it is over."""
    with Box() as box, servers.Dynalite() as leases:
        stream = harness.new_stream(box.client(), 2)
        put = harness.Producer(box.client(), stream).put_all(50)
        with fleets.Fleet(box.url, leases.url, stream, 2, lease_ms=2000, poll_ms=200, valves=True) as fleet:
            fleet.start("w0")
            fleet.wait_balance(["w0"])
            fleet.valves.turn("w1.leases", "delay", "down", 600)  # a try has a sixth of a lease
            fleet.start("w1")
            said = harness.wait_until(lambda: [line for line in fleet.now["w1"].stderr().split("\n") if "no answer" in line],
                                      30, "it says that the table does not answer in time")
            time.sleep(2)  # longer than it would hesitate
            fleet.all_live_but_killed()
            fleet.valves.turn("w1.leases", "open")
            fleet.wait_balance()
            fleet.wait_for(lambda: len(fleet.seen) == len(put), 20, "all is read")
            fleet.leave_all()
            return said[0][:200]


def cut_off_from_the_records():
    """A worker that lives but can't read gives its shards to others after stall_ms, and nothing comes twice."""
    with Box() as box, servers.Dynalite() as leases:
        stream = harness.new_stream(box.client(), 6)
        with fleets.Fleet(box.url, leases.url, stream, 3, lease_ms=2000, poll_ms=200, valves=True,
                          knobs=("stall_ms=3000",)) as fleet:
            fleet.start()
            held = fleet.wait_balance()["w1"]
            fleet.watch()
            ticker = Ticker(box, stream, 0.1)
            fleet.wait_fresh(held)
            cut, watch = fleet.deed("far", "w1", end=float("inf")), cpu_waits.Stopwatch()
            fleet.valves.turn("w1.records", "reset")

            def read_by_others():
                lines = [line for line in fleet.history.lines if line.shard in held and line.late > cut.begin + 0.5
                         and not line.worker.startswith("w1.")]
                return max(line.late for line in lines) if {line.shard for line in lines} == set(held) else None

            took = fleet.wait_for(read_by_others, 20, "others read its shards") - cut.begin
            own = min(took, watch.own())
            truth = ticker.stop()
            fleet.wait_all(lambda: truth, 20)
            fleet.valves.turn("w1.records", "open")
            fleet.leave_all()
            verdict = fleet.judged(truth, {})
            expect(verdict.repeats_by_us() == 0, f"{verdict.repeats_by_us()} repeats")
            expect(own < 10, f"after {took:.1f} s")
            return f"{len(held)} shards read by others after {took:.1f} s; {fleets.describe(verdict)}"


def made_again():
    """Old checkpoints are not the new stream's."""
    with Box() as box, servers.Dynalite() as leases:
        kinesis, stream = box.client(), "again"
        came = []
        app = f"app-{random.getrandbits(32):08x}"
        for number in (1, 2):
            kinesis.create_stream(StreamName=stream, ShardCount=2)
            harness.wait_active(kinesis, stream)
            put = harness.Producer(kinesis, stream, seed=number).put_all(100)
            with fleets.Fleet(box.url, leases.url, stream, 2, lease_ms=2000, poll_ms=200, app=app) as fleet:
                fleet.start()
                truth = {}
                for (shard, sequence), (_, data) in put.items():
                    truth.setdefault(shard, {})[(sequence, 0)] = data
                fleet.wait_all(lambda truth=truth: truth, 20)
                fleet.leave_all()
                came.append(len(fleet.read()))
                generations = {row.split("/", 1)[0] for row in fleet.look_at_all()}
            expect(came[-1] == 100, f"{came[-1]} lines")
            expect(len(generations) == number, f"{generations}")
            kinesis.delete_stream(StreamName=stream)
            harness.wait_until(lambda: stream not in kinesis.list_streams()["StreamNames"], 20, "it is deleted")
            second = int(time.time())
            harness.wait_until(lambda: int(time.time()) > second, 5, "the next second")
        return f"{came} records of two streams called {stream}, rows {sorted(generations)}"


def made_again_under_them():
    """The same while the fleet runs: nobody may go on in the new stream with the old one's positions and leases."""
    with Box() as box, servers.Dynalite() as leases:
        kinesis, stream = box.client(), "again"
        kinesis.create_stream(StreamName=stream, ShardCount=2)
        harness.wait_active(kinesis, stream)
        old = harness.Producer(kinesis, stream, seed=1).put_all(50)
        with fleets.Fleet(box.url, leases.url, stream, 2, lease_ms=2000, poll_ms=200, knobs=("list_ms=1000",)) as fleet:
            fleet.start()
            fleet.wait_for(lambda: len(fleet.seen) == len(old), 20, "the old stream is read")
            second = int(time.time())
            harness.wait_until(lambda: int(time.time()) > second, 5, "the next second")
            kinesis.delete_stream(StreamName=stream)
            harness.wait_until(lambda: stream not in kinesis.list_streams()["StreamNames"], 20, "it is deleted")
            kinesis.create_stream(StreamName=stream, ShardCount=2)
            harness.wait_active(kinesis, stream)
            new = harness.Producer(kinesis, stream, seed=2).put_all(50)

            harness.wait_until(lambda: all(life.ended() for life in fleet.now.values()), 40,
                               "they say that it is another stream, and end")
            codes = [life.process.poll() for life in fleet.now.values()]
            expect(0 not in codes and None not in codes, f"they ended with {codes}")
            said = [line for life in fleet.lives for line in life.stderr().split("\n") if "created again" in line]
            expect(len(said) == 2 and all(stream in line for line in said), f"{said}; {fleet.last_words()}")
            fleet.start()
            fleet.wait_for(lambda: len(fleet.seen) == len(old) + len(new), 20, "started again, the new one is read whole")
            fleet.leave_all()
            return f"exit codes {codes}: {said[0][:160]}"


def on_one_file():
    """Four processes, leases in SQLite, kill -9 again and again."""
    dice = random.Random(7)
    with Box() as box, tempfile.TemporaryDirectory() as folder:
        stream = harness.new_stream(box.client(), 8)
        place = "sqlite:" + os.path.join(folder, "leases.db")
        with fleets.Fleet(box.url, place, stream, 4, lease_ms=2000, poll_ms=200) as fleet:
            fleet.start()
            fleet.wait_balance()
            fleet.watch()
            ticker = Ticker(box, stream, 0.05)
            for _ in range(KILLS):
                time.sleep(dice.uniform(0.3, 2.5))
                worker = dice.choice(fleet.names)
                fleet.kill(worker)
                time.sleep(dice.uniform(0, 1))
                fleet.start(worker)
            fleet.wait_balance(seconds=40)
            truth = ticker.stop()
            fleet.wait_all(lambda: truth, 30)
            fleet.leave_all()
            return fleets.describe(fleet.judged(truth, {}))


def main():
    tests = Tests()
    harness.boto3_or_skip()
    tests.side_by_side([lambda: tests.run("wall clocks hours and years apart", skewed_clocks),
                        lambda: tests.run("two workers with one id", one_id_twice),
                        lambda: tests.run("a table that is slow at first", table_is_slow_at_first),
                        lambda: tests.run("cut off from the records alone", cut_off_from_the_records),
                        lambda: tests.run("a stream that is made again", made_again),
                        lambda: tests.run("a stream that is made again under them", made_again_under_them),
                        lambda: tests.run("four processes on a SQLite file, killed", on_one_file)], 3)
    tests.end()


if __name__ == "__main__":
    main()
