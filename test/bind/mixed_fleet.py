"""A fleet of six workers in three languages on one application: stream-tail -G, Python (asyncio, uvloop) and Node (its main
thread, a worker thread) share the shards of a stream by leases in the sandbox's DynamoDB. Records are put all the time, the
service throttles, fails and cuts connections, shards split and merge; w3 to w5 are killed (SIGKILL) and restarted (SIGTERM),
all but w0 are stopped for two leases now and then. w0 to w2, one of each language, live from the beginning to the end.

    mixed_fleet.py [--minutes N] [--keep FILE]      # a third of a minute unless told; 60 is the full form

Judged by fleet_judge.py of test/process, which knows nothing of our code: nothing is lost, the order in each shard, children
after parents, nobody reads beside another one, no checkpoint ahead of what was handed out, no repeat without a kill or a stop.
By the judge here: order within a key, by the order in which its records were put. Every worker that SIGTERM ends has status 0.
--keep FILE writes all that was judged, and --judge FILE judges it again. SLOOP_TEST_SEED chooses the story. SLOOP_BIN,
SLOOP_TEST_SANDBOX and SLOOP_NODE_PACKAGE name the programs; the package for Python is that of this interpreter.
"""

import argparse
import collections
import json
import os
import pickle
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(os.path.dirname(HERE), room) for room in ("process", "fault")]

import fleet as fleets  # noqa: E402
import fleet_judge  # noqa: E402
import fleet_judge_itself  # noqa: E402
import fleet_story  # noqa: E402
import harness  # noqa: E402
import servers  # noqa: E402
import soak  # noqa: E402
from harness import Tests, expect  # noqa: E402
from sandbox_box import Box  # noqa: E402

SEED = int(os.environ.get("SLOOP_TEST_SEED", "1"))
KINDS = ("c", "python", "node", "c", "uvloop", "thread")  # of w0, w1, ...
SHARDS, LEASE_MS, KEYS = 8, 10000, 200
LIVE_LONG = ("w0", "w1", "w2")
SHORT_S, SHORT_DEED_S, CALM_S = 120, 1.5, 120
DEEDS = ("kill", "stop", "restart", "split", "merge")
DEEDS_LATE_S = 120  # how long the story may go on until each of DEEDS was done

PYTHON = """
import asyncio, base64, json, signal, sys, time
import sloop

async def main():
    stream, options = sys.argv[1], json.loads(sys.argv[2])
    async with sloop.Consumer(stream, start=sloop.OLDEST, **options) as c:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, c.end)
        async for batch in c:
            at, worker = time.monotonic_ns(), c.worker
            with batch:
                told = [json.dumps({"worker": worker, "epoch": r.epoch, "shard": r.shard, "seq": r.sequence, "at": at,
                                    "owned": r.owned, "sub": r.sub_sequence, "payload_b64": base64.b64encode(r.data).decode()})
                        for r in batch]
                print("\\n".join(told), flush=True)

if sys.argv[3] == "uvloop":
    import uvloop
    uvloop.install()
asyncio.run(main())
"""

# The program in the folder where the package is installed as "sloop".
NODE = """
import fs from 'node:fs';
import { Worker, isMainThread, parentPort } from 'node:worker_threads';
import { Consumer } from 'sloop';

const [stream, options, kind] = process.argv.slice(2);

async function write(text) {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(fs.writeSync(1, rest));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      await new Promise((resolve) => setTimeout(resolve, 5)); // the pipe is full
    }
  }
}

async function read(onEnd) {
  const consumer = new Consumer(stream, { start: 'oldest', ...JSON.parse(options) });
  onEnd(() => consumer.end());
  for await (const batch of consumer) {
    const at = process.hrtime.bigint();
    const told = [];
    for (const r of batch) {
      told.push(`{"worker":"${consumer.worker}","epoch":${r.epoch},"shard":"${r.shard}","seq":"${r.sequence}","at":${at},` +
        `"owned":${r.owned},"sub":${r.subSequence},"payload_b64":"${r.data.toString('base64')}"}\\n`);
    }
    await write(told.join(''));
    batch.done();
  }
  await consumer.stop();
}

if (kind === 'thread' && isMainThread) {
  const worker = new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) });
  process.once('SIGTERM', () => worker.postMessage('end'));
  worker.once('error', (error) => { throw error; });
} else if (kind === 'thread') {
  await read((end) => parentPort.once('message', end));
  parentPort.close();
} else {
  await read((end) => process.once('SIGTERM', end));
}
"""


class MixedFleet(fleets.Fleet):
    """Workers of KINDS. What a worker was given while its record.owned said no is held apart: the lease was lost between the
    moment when the batch was made and the moment when the loop's body began, as over a SIGSTOP."""

    def __init__(self, folder, *arguments, **named):
        super().__init__(*arguments, **named)
        self.folder, self.unowned = folder, set()  # ids of lines
        self.kinds = dict(zip(self.names, KINDS))
        with open(os.path.join(folder, "worker.mjs"), "w", encoding="utf-8") as file:
            file.write(NODE)
        package = os.environ.get("SLOOP_NODE_PACKAGE")
        if not package or not os.path.exists(package):
            raise servers.Missing("SLOOP_NODE_PACKAGE names no built package")
        os.mkdir(os.path.join(folder, "node_modules"))
        os.symlink(os.path.abspath(package), os.path.join(folder, "node_modules", "sloop"))

    def command(self, worker):
        kind = self.kinds[worker]
        if kind == "c":
            return super().command(worker)
        options = {"app": self.app, "worker": worker, "endpoint": self.records, "store": f"dynamodb:{self.table}",
                   "store_endpoint": self.leases}
        for knob in self.knobs:
            name, value = knob.split("=")
            options[name] = int(value)
        if kind in ("python", "uvloop"):
            return [sys.executable, "-c", PYTHON, self.stream, json.dumps(options), kind]
        return [os.environ.get("SLOOP_TEST_NODE", "node"), os.path.join(self.folder, "worker.mjs"), self.stream,
                json.dumps({camel(name): value for name, value in options.items()}), kind]

    def take(self, text, early, late):
        n = len(self.history.lines)
        super().take(text, early, late)
        if len(self.history.lines) > n and not json.loads(text).get("owned", True):
            self.unowned.add(id(self.history.lines[-1]))

    def refuse_unowned(self):
        """Takes away what was told unowned and by another epoch too. Returns how many lines that were."""
        lines, epochs = self.history.lines, collections.defaultdict(set)
        for line in lines:
            epochs[line.shard, line.place].add(line.epoch)
        self.history.lines = [line for line in lines
                              if id(line) not in self.unowned or len(epochs[line.shard, line.place]) == 1]
        return len(lines) - len(self.history.lines)


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


class Producer(harness.Producer):
    """Has few keys, so that each has many records."""

    def draw_key(self):
        return f"key-{self.random.randrange(KEYS)}"


def keys_in_order(put, lines):
    """put: {(shard, sequence): (key, data)} in the order in which it was put. A text about each record that was handed out first
    before one of its key that was put before it: by the same process earlier, or at a moment that proves it."""
    first_early, first_late, turn = {}, {}, {}
    for i, line in enumerate(lines):
        place = line.shard, line.place[0]
        first_early[place] = min(line.early, first_early.get(place, line.early))
        first_late[place] = min(line.late, first_late.get(place, line.late))
        turn.setdefault(place, (line.worker, i))
    found, latest = [], {}
    for place, (key, _) in put.items():
        if place not in first_early:
            continue  # lost, which another rule says
        before = latest.get(key)
        if before and (first_late[place] < first_early[before] or
                       (turn[place][0] == turn[before][0] and turn[place][1] < turn[before][1])):
            found.append(f"{key}: {place} was handed out before {before}, which was put before it")
        if not before or first_early[place] >= first_early[before]:
            latest[key] = place
    return found


def judge_all(history, put):
    """The verdict of both judges."""
    verdict = fleet_judge.judge(history)
    for text in keys_in_order(put, history.lines):
        verdict.say("order of a key", text)
    return verdict


def teller(line):
    """The name that we gave the worker; its own has a number behind it."""
    return line.worker.rsplit(".", 1)[0]


def tellers(lines):
    return {teller(line) for line in lines}


def run_fleet(seconds, keep):
    with Box(limits=True) as box, tempfile.TemporaryDirectory() as folder:
        kinesis = harness.client(box.url)
        stream = harness.new_stream(kinesis, SHARDS)
        producer = Producer(kinesis, stream, seed=SEED)
        with MixedFleet(folder, box.url, box.url, stream, len(KINDS), LEASE_MS) as fleet:
            fleet.start()
            fleet.watch(soak.LOOK_S)
            producer.start(batch=12, pause=0.1)
            fleet.wait_for(fleet.all_owned, CALM_S, "every lease is owned", soak.LOOK_S)
            # One that is killed before it has read a record may never get a shard again.
            fleet.wait_for(lambda: tellers(fleet.history.lines) >= set(fleet.names), CALM_S, "every worker has told a record", soak.LOOK_S)
            bodies = {name: soak.Body(fleet.now[name].process.pid) for name in LIVE_LONG}
            story = soak.Story(box, fleet, fleet_story.reshard_of(kinesis, stream), SEED, LIVE_LONG,
                               soak.DEED_S if seconds >= SHORT_S else SHORT_DEED_S)
            began, look_at = time.monotonic(), 0
            while time.monotonic() - began < seconds or not all(story.done[what] for what in DEEDS):
                expect(time.monotonic() - began < seconds + DEEDS_LATE_S, f"too little was done: {story.done}")
                story.turn()
                if time.monotonic() >= look_at:
                    for body in bodies.values():
                        body.look()
                    look_at = time.monotonic() + max(0.5, seconds / 700)
                fleet.all_live_but_killed()
                fleet.read()
                time.sleep(0.1)
            story.end()
            producer.stop()
            fleet_story.come(fleet, len(producer.put), lambda: fleets.truth_of(producer),
                             lambda: fleets.lineage_of(kinesis, stream))
            fleet.wait_for(fleet.all_owned, CALM_S, "every lease is owned by somebody alive", soak.LOOK_S)
            fleet.leave_all()
            fleet.looks.stop()
            fleet.read()
            history, parents = fleet.history, fleets.lineage_of(kinesis, stream)
            refused = fleet.refuse_unowned()
            history.samples, history.truth, history.parents = fleet.looks.samples, fleets.truth_of(producer), parents
            for worker, begin, end in fleet.stood():
                fleet.deed("machine", worker, begin, end)
            kinds = fleet.kinds
            if keep:
                with open(keep, "wb") as file:
                    pickle.dump((history, producer.put, kinds, {name: body.samples for name, body in bodies.items()}), file)
    verdict = judge_all(history, producer.put)
    expect(not verdict.guilty, f"guilty: {verdict.text()}")
    read = collections.Counter(kinds[teller(line)] for line in history.lines)
    expect(all(read[kind] for kind in KINDS), f"somebody read nothing: {read}")
    expect(len(producer.put) > seconds * 10, "too few records")
    print(f"     {len(producer.put)} records of {KEYS} keys, 0 lost; " +
          ", ".join(f"{n} {what}" for what, n in sorted(story.done.items())))
    print(f"     {verdict.epochs} epochs, {verdict.samples} looks, {verdict.repeats} repeats "
          f"({soak.repeats_by_kind(verdict)}), {refused} refused by record.owned; read by " +
          ", ".join(f"{kind} {n}" for kind, n in sorted(read.items())))
    for name, body in bodies.items():
        print(f"     {describe_body(f'{name} ({kinds[name]})', body)}")
    return "nothing lost, no repeat without a cause"


def describe_body(name, body):
    """Memory and descriptors after a twelfth of the time (minute 5 of an hour), at the half, at the end."""
    parts = [body.part(*part) for part in ((1 / 12, 2 / 12), (5 / 12, 7 / 12), (11 / 12, 1))]
    return (f"{name}: resident {', '.join(f'{part[0] / 2**20:.1f}' for part in parts)} MiB; sockets "
            f"{', '.join(str(part[1]) for part in parts)}; other descriptors {', '.join(str(part[2]) for part in parts)}; "
            f"{100 * body.cpu_share():.1f} % of a processor")


# ---- the judges can fail -------------------------------------------------------------------------------------------


def right_story():
    """That of fleet_judge_itself, and keys: the records of shard A and of its child have one key, those of B another."""
    history = fleet_judge_itself.right_story()
    put = {}
    for shard, places in history.truth.items():
        for place, data in places.items():
            put[shard, place[0]] = ("one" if shard != fleet_judge_itself.B else "two", data)
    order = [fleet_judge_itself.A, fleet_judge_itself.B, fleet_judge_itself.CHILD]
    return history, dict(sorted(put.items(), key=lambda one: (order.index(one[0][0]), one[0][1])))


def lose_in_stream(history, put):
    """A record that was put and that nobody was given."""
    shard, place = fleet_judge_itself.B, (10**55 + 999, 0)
    history.truth[shard][place] = b"never"
    put[shard, place[0]] = ("two", b"never")


def swap_key(history, put):
    """Two records of a key change places in the order in which they were put."""
    items = list(put.items())
    i = next(i for i, (place, _) in enumerate(items) if place[0] == fleet_judge_itself.B)
    items[i + 3], items[i + 7] = items[i + 7], items[i + 3]
    put.clear()
    put.update(items)


def child_first(history, put):
    """The child's records, whose key is the parent's, are handed out before the parent's last."""
    for line in history.lines:
        if line.shard == fleet_judge_itself.CHILD:
            line.early, line.late = line.early - 14, line.late - 14


def repeat_after_leave(history, put):
    """What a kill explained was an orderly stop."""
    history.deeds[0].kind = "leave"


def judges_can_fail():
    history, put = right_story()
    verdict = judge_all(history, put)
    expect(not verdict.guilty, verdict.text())
    for plant, rule in ((lose_in_stream, "loss"), (swap_key, "order of a key"), (child_first, "order of a key"),
                        (repeat_after_leave, "repeat without a cause")):
        history, put = right_story()
        plant(history, put)
        rules = judge_all(history, put).rules()
        expect(rule in rules, f"{plant.__name__}: found {rules}, not {rule!r}")


def record_dropped_is_seen(keep):
    """Of what a real run told, a record that is taken away is a loss, and one that is told again a wrong order."""
    with open(keep, "rb") as file:
        history, put, _, _ = pickle.load(file)
    expect(not judge_all(history, put).guilty, "the run is guilty as it is")
    middle = history.lines[len(history.lines) // 2]
    all_lines = history.lines
    history.lines = [line for line in all_lines if (line.shard, line.place) != (middle.shard, middle.place)]
    expect("loss" in judge_all(history, put).rules(), "a record that nobody told is no loss")
    history.lines = [*all_lines, middle]
    expect("order" in judge_all(history, put).rules(), "a record that is told twice in an epoch is no fault")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--minutes", type=float, default=1 / 3)
    parser.add_argument("--keep")
    parser.add_argument("--judge")
    options = parser.parse_args()
    sys.argv[1:] = []  # they are none of the tests'
    harness.boto3_or_skip()
    tests = Tests()
    tests.run("each planted fault is found", judges_can_fail)
    with tempfile.TemporaryDirectory() as folder:
        keep = options.judge or options.keep or os.path.join(folder, "kept")
        if not options.judge:
            tests.run(f"a fleet in three languages for {60 * options.minutes:.0f} s", run_fleet, 60 * options.minutes, keep)
        if os.path.exists(keep):
            tests.run("a fault that is planted into that run is found", record_dropped_is_seen, keep)
    tests.end()


if __name__ == "__main__":
    main()
