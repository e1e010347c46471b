"""Mixed fleets: workers of another system and ours share the leases of one application, in the sandbox.

    peer_story.py [--minutes N] [--keep FOLDER] [--seed N] [KIND...]

Two of theirs alone are the baseline; in the full form two more of theirs join them for a third of the time, and all happens
to them that happens beside ours. Then two of theirs are joined by two of ours while somebody is killed or frozen and
shards split and merge; theirs are stopped one by one, ours go on alone, theirs come back and ours are stopped. Every step
ends when all that was put before it has been read, within the time of that system. peer_judge.py looks at it afterwards.
"""

import argparse
import json
import os
import random
import sys
import threading
import time

import peers
from peers import KINDS, Ours, Theirs, servers, harness  # puts ../process on the path

import peer_judge
import peer_replay
import peer_tables
import sandbox_box
from harness import Failed, Tests, expect

try:
    from aws_kinesis_agg import aggregator
except ImportError:
    print("skip all: aws-kinesis-agg is not installed here (sh test/install.sh test)")
    sys.exit(77)

SHARDS = 4
MORE = 100  # records after each deed
FREEZE_S = 25  # longer than any lease
SHARE_S = 60  # until a worker that joins has a shard
SHARE_FULL_S = {"kcl-3": 200}  # in the full form: its leader balances each third run, once a minute
HASHES = 2 ** 128


class Source:
    """Puts records without a stop, in a thread, and keeps where the service says they are."""

    def __init__(self, kinesis, stream, aggregates, seed):
        self.kinesis, self.stream, self.aggregates = kinesis, stream, aggregates
        self.random = random.Random(seed)
        self.lock, self.ended = threading.Lock(), threading.Event()
        self.places, self.number, self.error = {}, 0, None  # shard -> [place]
        self.thread = threading.Thread(target=self.work, daemon=True)

    def begin(self):
        self.thread.start()

    def body(self):
        self.number += 1
        return json.dumps({"n": self.number, "is": "x" * self.random.randrange(60)}).encode()

    def plain(self):
        return {"Data": self.body(), "PartitionKey": f"{self.random.getrandbits(64):x}"}, 1

    def packed(self):
        """One key for all: what does not belong into a shard after a split is another test's."""
        packer, key, n = aggregator.RecordAggregator(), f"{self.random.getrandbits(64):x}", self.random.choice((2, 7, 30))
        for _ in range(n):
            packer.add_user_record(key, self.body())
        partition_key, _, data = packer.clear_and_get().get_contents()
        return {"Data": data, "PartitionKey": partition_key}, n

    def put(self, entries):
        deadline = time.monotonic() + 60
        while entries and not self.ended.is_set():
            expect(time.monotonic() < deadline, f"{len(entries)} records refused for 60 s")
            try:
                answer = self.kinesis.put_records(StreamName=self.stream, Records=[entry for entry, _ in entries])
            except self.kinesis.exceptions.ResourceInUseException:
                self.ended.wait(0.1)  # the stream is changing
                continue
            with self.lock:
                for (_, n), result in zip(entries, answer["Records"]):
                    if "SequenceNumber" in result:
                        self.places.setdefault(result["ShardId"], []).extend(
                            (int(result["SequenceNumber"]), sub) for sub in range(n))
            entries = [entry for entry, result in zip(entries, answer["Records"]) if "SequenceNumber" not in result]

    def work(self):
        try:
            turn = 0
            while not self.ended.wait(0.25):
                turn += 1
                self.put([self.plain() for _ in range(6)] + ([self.packed()] if self.aggregates and turn % 3 == 0 else []))
        except Exception as error:  # handed to truth()
            self.error = error

    def truth(self):
        if self.error:
            raise self.error
        with self.lock:
            return {shard: sorted(places) for shard, places in self.places.items()}

    def stop(self):
        self.ended.set()
        if self.thread.ident:
            self.thread.join(60)


class Refused(Exception):
    """A worker of ours did not join, and said why."""


class Story:
    """One application on the stream. Its processes are started and ended on the thread that uses it."""

    def __init__(self, kind, url, name, short, seed=1, env=None, knobs=None, keep=None):
        self.kind, self.url, self.name, self.short, self.keep = kind, url, name, short, keep
        self.stream, self.app = f"s-{name}", f"app-{name}"
        self.env, self.knobs = env or {}, knobs or {}
        self.kinesis, self.dynamodb = harness.client(url), harness.client(url, "dynamodb")
        self.lives, self.now, self.phases, self.notes = [], {}, [], []
        self.began, self.seed = time.monotonic(), seed
        self.lease_s = int(self.env.get("PEER_FAILOVER_MS", 10000)) / 1000
        self.seen, self.taken = set(), {}  # places read; life -> how many of its lines are in `seen`
        self.start_s = kind.start_s or kind.deadline_s
        self.guilty = []

    def __enter__(self):
        self.kinesis.create_stream(StreamName=self.stream, ShardCount=SHARDS)
        harness.wait_active(self.kinesis, self.stream)
        self.source = Source(self.kinesis, self.stream, self.kind.aggregates, self.seed)
        self.watch = peer_tables.Watch(self.dynamodb, self.kind, self.app)
        if not self.kind.from_latest:
            self.source.begin()
        return self

    def __exit__(self, *exception):
        self.source.stop()
        self.watch.ended.set()
        for life in self.lives:
            life.kill()
        if self.keep:
            self.write_down()

    def write_down(self):
        """For whoever has to find out."""
        os.makedirs(self.keep, exist_ok=True)
        for i, life in enumerate(self.lives):
            path = os.path.join(self.keep, f"{self.name}.{i}.{life.worker}")
            with open(path + ".log", "w", encoding="utf-8") as file:
                file.write(life.stderr())
            with open(path + ".lines", "w", encoding="utf-8") as file:
                file.writelines(f"{event}\n" for event in life.events)
                file.writelines(f"{line.ms} {line.shard} {line.place}\n" for line in life.lines)
        with open(os.path.join(self.keep, self.name + ".story"), "w", encoding="utf-8") as file:
            file.writelines(f"{ms} {name}\n" for ms, name in self.phases)
            last = {}
            for ms, rows in self.watch.samples:
                for shard, row in rows.items():
                    if last.get(shard) != row:
                        file.write(f"{ms} {shard} {row.owner} {row.done} {row.item}\n")
                    last[shard] = row
                for shard in set(last) - set(rows):
                    file.write(f"{ms} {shard} gone\n")
                    del last[shard]

    # ---- workers -------------------------------------------------------------------------------------------------------

    def phase(self, name):
        self.phases.append((time.time_ns() // 1000000, name))
        print(f"     {self.name} {time.monotonic() - self.began:6.1f} s: {name}", flush=True)

    def start(self, worker):
        """a, b and a, b with a number: theirs; c, d: ours."""
        if worker[0] in "ab":
            name = f"{worker[0]}{len(self.lives)}" if self.kind.new_names else worker
            life = Theirs(self.kind, name, self.url, self.stream, self.app, **self.env)
        else:
            life = Ours(self.kind, worker, self.url, self.stream, self.app, **self.knobs)
        self.lives.append(life)
        self.now[worker] = life
        return life

    def start_theirs(self, *workers):
        """The first worker of all makes the tables and the leases before another one starts: two that do it together trip
        over each other in most of these systems."""
        for worker in workers:
            life, first = self.start(worker), not self.seen
            if first and self.kind.from_latest:
                self.wait(self.all_owned, self.start_s, f"{worker} has all shards")
                self.source.begin()
            if first:
                self.wait(lambda life=life: life.lines, self.start_s, f"{worker} reads")

    def all_owned(self):
        """Every shard has its row, and its owner has written it again since it made it: it has its first iterator then."""
        rows = self.watch.samples[-1][1] if self.watch.samples else {}
        return len(rows) == SHARDS and all(int(peer_tables.text(row.item, "heartbeat")) > 0 for row in rows.values())

    def leave(self, worker):
        life = self.now.pop(worker)
        code = life.leave()
        if code is None:
            self.guilty.append(("does not end", f"{worker} {life.grace_s} s after SIGTERM"))
        elif life.ours and code != 0:
            self.guilty.append(("exit code", f"{worker} ended with {code}: {life.stderr()[-300:]}"))

    def kill(self, worker):
        self.now.pop(worker).kill()

    def look(self):
        """What everybody has read by now. Nobody may have ended by himself."""
        for life in self.lives:
            lines, n = life.lines, self.taken.get(life, 0)
            for line in lines[n:]:
                self.seen.add((line.shard, line.place))
                n += 1
            self.taken[life] = n
        for worker, life in list(self.now.items()):
            if life.running():
                continue
            if not life.ours and self.kind.ends and life.lines:
                self.phase(f"{worker} ended by itself and comes back")
                self.start(worker)
                continue
            if life.ours and "KCL 3" in life.stderr():
                raise Refused(next(line for line in life.stderr().split("\n") if "KCL 3" in line))
            raise Failed(f"{worker} ended by itself with {life.process.returncode}: {life.stderr()[-600:]}")

    def wait(self, condition, seconds, what):
        def whether():
            self.look()
            return condition()

        return harness.wait_until(whether, seconds, f"{self.name}: {what}", 0.25)

    # ---- what is waited for ------------------------------------------------------------------------------------------

    def caught_up(self, seconds=None):
        """Some more is put; then all that is there has been read."""
        if not self.source.ended.is_set():
            n = self.source.number + MORE
            self.wait(lambda: self.source.error or self.source.number >= n, 120, "more is put")
        left = {(shard, place) for shard, places in self.source.truth().items() for place in places} - self.seen
        began = time.monotonic()

        def done():
            left.difference_update(self.seen)
            return not left

        try:
            self.wait(done, seconds or self.kind.deadline_s, "all is read")
        except Failed as failed:
            shards = sorted({shard for shard, _ in left})
            rows = self.watch.samples[-1][1] if self.watch.samples else {}
            raise Failed(f"{failed}; {len(left)} records of {', '.join(map(peer_judge.short, shards))} are left; " +
                         "; ".join(f"{peer_judge.short(shard)}: {rows[shard].item}" for shard in shards if shard in rows)
                         ) from None
        took = time.monotonic() - began
        self.notes.append((self.phases[-1][1], took))
        return took

    def reads(self, worker, since):
        """Has that worker read something since it stood there?"""
        life = self.now[worker]
        return lambda: len(life.lines) > since

    def shares(self, *workers):
        """Each of them reads something. A worker without a shard is told, no failure: who gets how many is each system's
        own matter, and no record waits for it."""
        deadline = time.monotonic() + (SHARE_S if self.short else SHARE_FULL_S.get(self.kind.name, SHARE_S))
        for worker in workers:
            began = time.monotonic()
            try:
                self.wait(self.reads(worker, len(self.now[worker].lines)), max(1.0, deadline - time.monotonic()),
                          f"{worker} reads")
                self.notes.append((f"{worker} reads", time.monotonic() - began))
            except Failed:
                self.notes.append((f"{worker} has no shard", time.monotonic() - began))
                print(f"     {self.name}: {worker} got no shard in {time.monotonic() - began:.0f} s", flush=True)

    # ---- deeds ---------------------------------------------------------------------------------------------------------

    def open_shards(self):
        return sorted((shard for shard in harness.list_shards(self.kinesis, self.stream)
                       if "EndingSequenceNumber" not in shard["SequenceNumberRange"]),
                      key=lambda shard: int(shard["HashKeyRange"]["StartingHashKey"]))

    def split(self):
        shard = max(self.open_shards(), key=lambda s: int(s["HashKeyRange"]["EndingHashKey"]) -
                    int(s["HashKeyRange"]["StartingHashKey"]))
        low, high = (int(shard["HashKeyRange"][f"{end}HashKey"]) for end in ("Starting", "Ending"))
        self.kinesis.split_shard(StreamName=self.stream, ShardToSplit=shard["ShardId"],
                                 NewStartingHashKey=str((low + high) // 2 + 1))
        harness.wait_active(self.kinesis, self.stream)

    def merge(self):
        shards = self.open_shards()
        i = min(range(len(shards) - 1), key=lambda i: int(shards[i + 1]["HashKeyRange"]["EndingHashKey"]) -
                int(shards[i]["HashKeyRange"]["StartingHashKey"]))
        self.kinesis.merge_shards(StreamName=self.stream, ShardToMerge=shards[i]["ShardId"],
                                  AdjacentShardToMerge=shards[i + 1]["ShardId"])
        harness.wait_active(self.kinesis, self.stream)

    def killed(self, worker):
        self.phase(f"{worker} is killed")
        self.kill(worker)
        self.caught_up()
        self.phase(f"{worker} comes back")
        if worker[0] in "ab":
            self.start_theirs(worker)
        else:
            self.start(worker)
        self.caught_up()

    def frozen(self, worker):
        self.phase(f"{worker} is frozen")
        life = self.now[worker]
        life.freeze()
        time.sleep(FREEZE_S)  # the deed itself
        self.caught_up()
        self.phase(f"{worker} wakes")
        life.thaw()
        self.caught_up()

    def resharded(self):
        self.phase("a split")
        self.split()
        self.caught_up()
        self.phase("a merge")
        self.merge()
        self.caught_up()

    def shard_ends(self):
        """A shard of a worker that knows only the shards there were when it began: the thread that reads it ends, and says
        so. Nobody reads its children, so nothing is put into them."""
        self.source.stop()
        self.caught_up()
        self.phase("a shard ends")
        ended = sum(what == "failed" for life in self.lives for _, _, what, _ in life.events)
        self.split()
        self.wait(lambda: sum(what == "failed" for life in self.lives for _, _, what, _ in life.events) > ended,
                  self.kind.deadline_s, "a thread ends with its shard")

    # ---- the end -------------------------------------------------------------------------------------------------------

    def finish(self):
        """Everybody has read everything, and leaves."""
        self.phase("the end")
        self.source.stop()
        self.caught_up()
        for worker in sorted(self.now):
            self.leave(worker)
        self.watch.stop()
        shards = harness.list_shards(self.kinesis, self.stream)
        history = peer_judge.History(
            truth=self.source.truth(), parents=harness.parents_by_listing(shards), lives=[life.lines for life in self.lives],
            samples=self.watch.samples, phases=self.phases, parents_first=self.kind.parents_first,
            puts_back=frozenset(life.worker for life in self.lives if self.kind.puts_back and not life.ours))
        verdict = peer_judge.judge(history)
        verdict.guilty += self.guilty
        return verdict

    def complaints(self):
        return set().union(*(life.complaints() for life in self.lives if not life.ours))


# ---- stories ---------------------------------------------------------------------------------------------------------------


def baseline(story, seconds):
    """Theirs alone, with what happens to them beside ours."""
    story.phase("a begins")
    story.start_theirs("a")
    story.wait(lambda: len({line.shard for line in story.now["a"].lines}) == SHARDS, story.start_s, "a reads all")
    story.phase("b joins")  # and takes shards from a, as ours will
    story.start_theirs("b")
    story.shares("b")
    story.caught_up(story.start_s + 60)
    if not story.short:
        story.killed("b")
        story.frozen("a")
    if story.kind.name != "motorway":  # which sees no new shards
        story.resharded()
        if not story.short:
            rounds(story, "a2", "b2", seconds)
    story.phase("a leaves")
    story.leave("a")
    story.caught_up()
    if story.kind.name == "motorway":
        story.shard_ends()
    return story.finish()


def beside(story, seconds):
    """Theirs and ours."""
    story.phase("a and b begin")
    story.start_theirs("a", "b")
    story.caught_up(story.start_s + 60)
    rounds(story, "c", "d", seconds)
    return story.finish()


def rounds(story, c, d, seconds):
    """a and b are joined by two others; whoever these are, the same happens. The short form ends in its middle."""
    # A worker of motorway's that begins claims the closed shards as well, one each heartbeat_timeout.
    often = story.kind.name != "motorway"
    while True:
        story.phase(f"{c} and {d} join")
        story.start(c)
        story.start(d)
        story.shares(c, d)
        story.caught_up()
        story.resharded()
        story.killed(c)
        if not story.short:
            story.frozen(d)
            story.killed("b")
            story.frozen("a")
            if often:
                story.resharded()
        story.phase("a leaves")
        story.leave("a")
        story.caught_up()
        story.phase(f"b leaves: {c} and {d} are alone")
        story.leave("b")
        story.caught_up()
        if story.short:
            return
        if often:
            story.resharded()
        story.phase("a and b come back")
        story.start_theirs("a", "b")
        story.shares("a", "b")
        story.phase(f"{c} leaves")
        story.leave(c)
        story.caught_up()
        story.phase(f"{d} leaves: a and b are alone")
        story.leave(d)
        story.caught_up()
        if time.monotonic() - story.began > seconds:
            return


def told(story, verdict, compared=None):
    """A line about it; Failed when the judge found something."""
    waits = ", ".join(f"{name} {took:.0f} s" for name, took in story.notes if took > 15)
    by = ", ".join(f"{phase}: {n} ({one} then {again})"
                   for (phase, one, again), n in sorted(verdict.repeats_by.items()))
    text = (f"{verdict.records} records, {verdict.repeats} repeats, {len(story.lives)} processes, "
            f"{len(story.watch.samples)} looks at the table, {time.monotonic() - story.began:.0f} s")
    if verdict.put_back:
        text += f"\n     checkpoints put back by a worker of theirs that woke: {verdict.put_back}"
    if waits:
        text += f"\n     waited: {waits}"
    if by:
        text += f"\n     repeats: {by}"
    if story.kind.name in peer_replay.KINDS:
        released = [one for life in story.lives for one in peer_replay.releases(life.worker, life.stderr())]
        rules = peer_replay.KINDS[story.kind.name](story.lease_s).run(
            peer_replay.of_samples(story.watch.samples, story.phases, released))
        text += f"\n     {sum(map(len, rules.kinds.values()))} changes of rows, of {len(rules.kinds)} kinds"
        for words in rules.wrong:
            verdict.say("against their rules", words)
    if compared is not None:
        for complaint in sorted(story.complaints() - compared):
            verdict.say("their log", f"not among themselves: {complaint}")
    expect(not verdict.guilty, f"{verdict.text()}\n{text}")
    return text


def short_env(kind):
    """Leases of the KCL in the short form: a third, so that three minutes show something."""
    if kind.name.startswith("kcl"):
        return {"PEER_FAILOVER_MS": "4000"}, {"lease_ms": "4000"}
    return {}, {}


def tell(tests, kind, box, options):
    """Both stories of one system, side by side: each has its own stream and its own application."""
    try:
        peers.command_of(kind.program)
    except servers.Missing as missing:
        tests.skip(kind.name, missing)
        return
    short = options.minutes is None
    env, knobs = short_env(kind) if short else ({}, {})
    seconds = (options.minutes or 0) * 60
    found = {"complaints": None}
    over = threading.Event()

    def among_themselves():
        try:
            with Story(kind, box.url, f"{kind.name}-alone", short, options.seed, env, keep=options.keep) as story:
                try:
                    return told(story, baseline(story, seconds / 3))
                finally:
                    found["complaints"] = story.complaints()
        finally:
            over.set()

    def with_ours():
        why = peers.unknown_schema(kind)
        if why:
            raise servers.Missing(why)
        with Story(kind, box.url, f"{kind.name}-mixed", short, options.seed, env, knobs, options.keep) as story:
            try:
                verdict = beside(story, seconds)
            except Refused as refused:
                return refusal(story, refused)
            over.wait(max(1200, seconds))
            expect(found["complaints"] is not None, "there is no baseline to compare their logs with")
            return told(story, verdict, found["complaints"])

    tests.side_by_side([lambda: tests.run(f"{kind.name}: two of theirs alone", among_themselves),
                        lambda: tests.run(f"{kind.name}: two of theirs, two of ours", with_ours)])


def refusal(story, refused):
    """Ours say that they can't join: then they must have changed nothing for theirs."""
    for worker in "cd":
        life = story.now.pop(worker, None)
        if life:
            life.kill()
            expect(not life.lines, f"{worker} refused to join, and read {len(life.lines)} records")
    verdict = story.finish()
    expect(not verdict.guilty, verdict.text())
    return f"ours do not join, and say so ({refused}); theirs read all {verdict.records}, {verdict.repeats} repeats"


def main():
    parser = argparse.ArgumentParser(description="Mixed fleets, in the sandbox.")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--minutes", type=float, help="the full form: rounds until so long has passed (60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", metavar="FOLDER", help="what everybody said is written there")
    options = parser.parse_args()
    for name in options.kinds:
        if name not in KINDS:
            parser.error(f"no such kind: {name}")
    sys.argv[1:] = []  # not the name of a single test
    tests = Tests()
    with sandbox_box.Box("change_ms=500", limits=True) as box:
        kinds = [KINDS[name] for name in options.kinds or ("kcl-3", "kinsumer")]

        def one_after_another(some):
            for kind in some:
                tell(tests, kind, box, options)

        # The two stories of one system are four virtual machines at most.
        tests.side_by_side([lambda: one_after_another([kind for kind in kinds if kind.program.startswith("kcl")]),
                            lambda: one_after_another([kind for kind in kinds if not kind.program.startswith("kcl")])])
    tests.end()


if __name__ == "__main__":
    main()
