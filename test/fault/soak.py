"""A fleet of four stream-tail processes for long: records are put all the time, the service throttles, fails, loses answers,
cuts connections and lets iterators expire, shards split and merge; w2 and w3 are killed and restarted, all but w0 are
stopped for two leases now and then. w0 and w1 live from the beginning to the end.

    soak.py [--minutes N]      # 2 unless told; 60 is the full form

Judged: nothing is lost, the order in each shard, no repeat without a kill or a stop and none of what a checkpoint had
passed (fleet_judge.py); resident memory, sockets and other descriptors of w0 and w1 are as flat at the end as after the first
twelfth (minute 5 of an hour), but sockets of a short run have a fixed bound; their processors' time is bounded.
SLOOP_TEST_SEED chooses the story, SLOOP_TEST_KEEP=DIR keeps what everybody said when it fails. SLOOP_BIN and SLOOP_TEST_SANDBOX name the programs."""

import argparse
import collections
import os
import random
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "process"))

import fleet as fleets  # noqa: E402
import fleet_story  # noqa: E402
import harness  # noqa: E402
from harness import Tests, expect  # noqa: E402
from sandbox_box import Box  # noqa: E402

SEED = int(os.environ.get("SLOOP_TEST_SEED", "1"))
WORKERS, SHARDS, LEASE_MS = 4, 8, 4000
LOOK_S, FAULT_S, DEED_S, CALM_S = 1.0, 0.7, 5.0, 120
LIVE_LONG = ("w0", "w1")
# A service of AWS does each of these; the operations are those that only workers call.
FAULTS = ("GetRecords * throttle", "GetRecords * expired", "GetRecords * status 503", "GetRecords * error InternalFailure:500",
          "GetRecords * cut 300", "GetRecords * drop", "GetRecords * delay 400", "GetRecords * empty",
          "GetShardIterator * throttle", "GetShardIterator * drop", "UpdateItem leases throttle",
          "UpdateItem leases error InternalServerError:500", "UpdateItem leases lost", "UpdateItem leases cut 100",
          "UpdateItem leases delay 300", "BatchGetItem leases throttle", "BatchGetItem leases status 500",
          "BatchGetItem leases drop")
# Bounds. An allocator keeps what it once took: the first pages of a backlog, the second arena of a thread.
GROWTH_BYTES, GROWTH_PART = 3 << 20, 0.1
MORE_DESCRIPTORS = 6  # connections come and go
# An idle connection is kept for two minutes, so in a short run the most sockets are those of the worst moment so far: a
# read and a write at once for each shard and for the one it came from, and some calls that are of no shard.
SOCKETS_OF_A_SHORT_RUN = 2 * 2 * SHARDS + 8
SHORT_S = 20 * 60
CPU_SHARE = 0.25  # of a processor, of a worker that reads a quarter of some 60 records a second
TICKS, PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


class Body:
    """What a process takes of the machine, sampled."""

    def __init__(self, pid):
        self.pid, self.samples = pid, []  # (moment, resident bytes, sockets, other descriptors, CPU seconds)

    def look(self):
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as file:
            resident = int(file.read().split()[1]) * PAGE
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        kinds = collections.Counter()
        for number in os.listdir(f"/proc/{self.pid}/fd"):
            try:
                kinds[os.readlink(f"/proc/{self.pid}/fd/{number}").startswith("socket:")] += 1
            except FileNotFoundError:
                pass  # closed meanwhile
        self.samples.append((time.monotonic(), resident, kinds[True], kinds[False],
                             (int(fields[11]) + int(fields[12])) / TICKS))

    def part(self, begin, end):
        """Median of resident bytes, most sockets and other descriptors, of the samples in that part of its life."""
        first, last = self.samples[0][0], self.samples[-1][0]
        found = [one for one in self.samples if first + begin * (last - first) <= one[0] <= first + end * (last - first)]
        return statistics.median(one[1] for one in found), max(one[2] for one in found), max(one[3] for one in found)

    def cpu_share(self):
        return (self.samples[-1][-1] - self.samples[0][-1]) / self.seconds()

    def seconds(self):
        return self.samples[-1][0] - self.samples[0][0]

    def judged(self, name, sanitized=False):
        """A line about it; what it must not do is a failure."""
        early, early_sockets, early_others = self.part(1 / 12, 2 / 12)
        late, late_sockets, late_others = self.part(11 / 12, 1)
        share = self.cpu_share()
        said = (f"{name}: resident {early / 2**20:.1f} MiB, at the end {late / 2**20:.1f} MiB; sockets {early_sockets}, at "
                f"the end {late_sockets}; other descriptors {early_others}, at the end {late_others}; "
                f"{100 * share:.1f} % of a processor")
        most = early_sockets + MORE_DESCRIPTORS
        if self.seconds() < SHORT_S:
            most = max(most, SOCKETS_OF_A_SHORT_RUN)
        expect(late_sockets <= most, f"it gathers sockets: {said}")
        expect(late_others <= early_others + MORE_DESCRIPTORS, f"it gathers descriptors: {said}")
        if not sanitized:  # its memory is not ours then
            expect(late <= early * (1 + GROWTH_PART) + GROWTH_BYTES, f"it grows: {said}")
            expect(share <= CPU_SHARE, f"it takes too much: {said}")
        return said


class Story:
    """What is done to the fleet, drawn as it goes. A worker suffers one thing at a time; those of live_long are not killed."""

    def __init__(self, box, fleet, reshard, seed, live_long=LIVE_LONG, deed_s=DEED_S):
        self.box, self.fleet, self.reshard, self.live_long, self.deed_s = box, fleet, reshard, live_long, deed_s
        self.dice, self.done, self.busy = random.Random(seed), collections.Counter(), {}
        self.deck = []  # deeds to come: each once before any comes again
        self.fault_at = self.deed_at = 0
        self.waiting = []  # (when, function, arguments)

    def turn(self):
        now = time.monotonic()
        due = [one for one in self.waiting if one[0] <= now]
        self.waiting = [one for one in self.waiting if one[0] > now]
        for _, function, arguments in due:
            function(*arguments)
        if now >= self.fault_at:
            # What was not used is dropped: a fault of an operation that nobody calls must not wait for minutes.
            self.box.order("DELETE", "faults")
            self.box.faults("".join(f"{self.dice.randint(1, 3)} {self.dice.choice(FAULTS)}\n" for _ in range(2)))
            self.fault_at = now + self.dice.uniform(0, 2 * FAULT_S)
            self.done["faults"] += 2
        if now >= self.deed_at:
            self.deed(now)
            self.deed_at = now + self.dice.uniform(0.2, 2 * self.deed_s)

    def deed(self, now):
        if not self.deck:
            self.deck = ["kill", "stop", "restart", "split", "merge"]
            self.dice.shuffle(self.deck)
        what = self.deck.pop()
        if what in ("split", "merge"):
            self.reshard(what, self.dice.random())
        else:
            free = [name for name in self.fleet.names[1 if what == "stop" else len(self.live_long):]
                    if self.busy.get(name, 0) <= now]
            if not free:
                self.deck.append(what)
                return
            worker = self.dice.choice(free)
            lasts = {"kill": self.dice.uniform(0.2, 6), "stop": 2 * self.fleet.lease_ms / 1000, "restart": self.dice.uniform(0, 2)}[what]
            self.busy[worker] = now + lasts + 2
            if what == "kill":
                self.fleet.kill(worker)
            elif what == "restart":
                self.fleet.leave(worker, 30)
            else:
                deed = self.fleet.stop(worker)
                self.waiting.append((now + lasts, self.fleet.go_on, (worker, deed)))
            if what != "stop":
                self.waiting.append((now + lasts, self.fleet.start, (worker,)))
        self.done[what] += 1

    def end(self):
        """Everything is healed."""
        for _, function, arguments in self.waiting:
            function(*arguments)
        self.waiting = []
        self.box.order("DELETE", "faults")


def repeats_by_kind(verdict):
    """After what they came; `machine`: the machine stood, so that workers may have been late as well."""
    kinds = collections.Counter()
    for deed, n in verdict.repeats_by_deed.items():
        kinds[deed.split()[0]] += n
    return ", ".join(f"{kind} {n}" for kind, n in sorted(kinds.items()))


def soak(seconds, sanitized):
    with Box(limits=True) as box:
        kinesis = harness.client(box.url)
        stream = harness.new_stream(kinesis, SHARDS)
        producer = harness.Producer(kinesis, stream, seed=SEED)

        with fleets.Fleet(box.url, box.url, stream, WORKERS, LEASE_MS) as fleet:
            fleet.start()
            fleet.watch(LOOK_S)
            producer.start(batch=6, pause=0.1)
            fleet.wait_for(fleet.all_owned, CALM_S, "every lease is owned", LOOK_S)
            bodies = {name: Body(fleet.now[name].process.pid) for name in LIVE_LONG}
            story = Story(box, fleet, fleet_story.reshard_of(kinesis, stream), SEED)
            began, look_at = time.monotonic(), 0
            while time.monotonic() - began < seconds:
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
            fleet.wait_for(fleet.all_owned, CALM_S, "every lease is owned by somebody alive", LOOK_S)
            fleet.leave_all()
            verdict = fleet.judged(fleets.truth_of(producer), fleets.lineage_of(kinesis, stream))
        expect(verdict.lines >= len(producer.put) and len(producer.put) > seconds * 10, "too few records")
        expect(all(story.done[what] for what in ("kill", "stop", "restart", "split", "merge")), f"too little: {story.done}")
        said = [f"{len(producer.put)} records, 0 lost; " + ", ".join(f"{n} {what}" for what, n in sorted(story.done.items())),
                f"{verdict.epochs} epochs, {verdict.samples} looks, {verdict.repeats} repeats ({repeats_by_kind(verdict)})",
                *(body.judged(name, sanitized) for name, body in bodies.items())]
        return "; ".join(said)


def bounds_are_bounds():
    """Each of them is passed by a process that is made up so."""
    def body(resident, sockets, others=20, share=0.1, seconds=3600):
        made = Body(0)
        made.samples = [(i * seconds / 120, resident(i), sockets(i), others + i // 10 * (others > 20),
                         share * i * seconds / 120) for i in range(121)]
        return made

    def flat(_):
        return 20 << 20

    def few(i):
        return 9 + i % 3

    body(flat, few).judged("flat")
    body(flat, lambda i: 9 + i // 5, seconds=120).judged("busier at last")
    for what, bad in (("grows", body(lambda i: (20 << 20) + i * 100000, few)),
                      ("gathers sockets", body(flat, lambda i: 9 + i // 10)),
                      ("gathers sockets", body(flat, lambda i: 9 + i // 2, seconds=120)),
                      ("gathers descriptors", body(flat, few, others=21)),
                      ("takes too much", body(flat, few, share=0.4))):
        try:
            bad.judged(what)
        except harness.Failed as failed:
            expect(what in str(failed), f"it says {failed}")
        else:
            raise harness.Failed(f"nobody sees that it {what}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--minutes", type=float, default=2)
    seconds = 60 * parser.parse_args().minutes
    sys.argv[1:] = []  # they are none of the tests'
    harness.boto3_or_skip()
    with open(fleets.servers.binary(), "rb") as file:
        sanitized = b"__asan_init" in file.read()
    tests = Tests()
    tests.run("growth, gathered descriptors and use of the processor are seen", bounds_are_bounds)
    tests.run(f"a fleet of four under faults for {seconds:.0f} s", soak, seconds, sanitized)
    tests.end()


if __name__ == "__main__":
    main()
