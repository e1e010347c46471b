"""Judges what a fleet of processes wrote, afterwards and from outside: a pure function of their lines, of what was put into
the stream, of what stood in the lease table meanwhile, and of what was done to the processes. It knows nothing of our code
but the form of a position in the table.

Moments are of this machine's monotonic clock. A line was written some time between `early`, when its pipe was last seen
empty, and `late`, when it had been read. What must come before something else is only found guilty when it can't have:
when its earliest moment is after the other's latest. So nothing is excused by a slow reader, and nothing is made up.
"""

import bisect
import collections
import math
from dataclasses import dataclass, field

HARM = ("kill", "stop", "cut", "machine")  # after these, and only these, may a record come again


@dataclass
class Line:
    worker: str  # the instance: id, a dot, boot
    epoch: int
    shard: str
    place: tuple  # (sequence number, sub-sequence)
    data: bytes
    early: float
    late: float


@dataclass
class Row:
    owner: str  # "" when free
    epoch: int
    pos: str
    op: str = ""  # the boot of who wrote it last, a hyphen, and a number


@dataclass
class Sample:
    """The lease table as one consistent read between two moments found it."""

    early: float
    late: float
    rows: dict  # shard -> Row


@dataclass
class Deed:
    """Something done to a worker (its configured id), or to all when worker is None."""

    kind: str
    worker: str
    begin: float
    end: float = math.inf

    def __str__(self):
        return f"{self.kind} {self.worker or 'all'} at {self.begin:.2f}"


@dataclass
class History:
    truth: dict = field(default_factory=dict)  # shard -> {place: data}
    parents: dict = field(default_factory=dict)  # shard -> [shard]
    lines: list = field(default_factory=list)  # in the order in which each process wrote its own
    samples: list = field(default_factory=list)  # in time order
    deeds: list = field(default_factory=list)


class Verdict:
    def __init__(self):
        self.guilty = []  # (rule, text)
        self.repeats = 0
        self.repeats_by_deed = collections.Counter()
        self.lines = self.epochs = self.samples = 0

    def repeats_by_us(self):
        """Those that no standing of the machine explains."""
        return self.repeats - sum(n for deed, n in self.repeats_by_deed.items() if deed.startswith("machine "))

    def say(self, rule, text):
        self.guilty.append((rule, text))

    def rules(self):
        return sorted({rule for rule, _ in self.guilty})

    def text(self):
        count = collections.Counter(rule for rule, _ in self.guilty)
        first = {}
        for rule, text in self.guilty:
            first.setdefault(rule, text)
        return "; ".join(f"{rule} x {n}: {first[rule]}" for rule, n in sorted(count.items()))


def mark_of(pos):
    """A position of the table -> the last place it says is done: every place <= it is. (-1,): nothing."""
    if pos.startswith("0:"):
        return (-1, 0)
    if pos == "9:end":
        return (math.inf, 0)
    kind, number, sub = pos.split(":")
    if kind != "1" or len(sub) != 10 or int(number[:3]) != len(number) - 3:
        raise ValueError(f"not a position: {pos!r}")
    seq = int(number[3:])
    if sub == "9999999999":
        return (seq, math.inf)
    return (seq, int(sub) - 1)  # 0 says "at": the record itself is not done


def short(shard):
    return shard if len(shard) < 20 else "..." + shard[-6:]


class Judge:
    def __init__(self, history):
        self.h = history
        self.verdict = Verdict()
        self.order = {shard: sorted(places) for shard, places in history.truth.items()}
        self.by_epoch = collections.defaultdict(lambda: collections.defaultdict(list))  # shard -> epoch -> lines
        for line in history.lines:
            self.by_epoch[line.shard][line.epoch].append(line)
        self.early_of = {}  # (shard, place) -> the earliest moment it can have been written first
        for line in history.lines:
            key = line.shard, line.place
            self.early_of[key] = min(line.early, self.early_of.get(key, math.inf))

    # ---- what came out ---------------------------------------------------------------------------------------------

    def all_came(self):
        """No loss."""
        for shard, places in self.order.items():
            lost = [place for place in places if (shard, place) not in self.early_of]
            if lost:
                self.verdict.say("loss", f"{len(lost)} of {len(places)} of {short(shard)}, the first {lost[0]}")

    def nothing_else_came(self):
        for line in self.h.lines:
            data = self.h.truth.get(line.shard, {}).get(line.place)
            if data is None:
                self.verdict.say("made up", f"{line.place} of {short(line.shard)}")
            elif data != line.data:
                self.verdict.say("altered", f"{line.place} of {short(line.shard)}: {line.data[:60]!r}, put {data[:60]!r}")

    def order_within_epochs(self):
        """Within an epoch each record is the next one of its shard: nothing twice, nothing back, nothing left out."""
        for shard, epochs in self.by_epoch.items():
            number = {place: i for i, place in enumerate(self.order.get(shard, ()))}
            for epoch, lines in epochs.items():
                for before, after in zip(lines, lines[1:]):
                    step = number.get(after.place, 0) - number.get(before.place, 0)
                    if step != 1:
                        what = "left out" if step > 1 else "order"
                        self.verdict.say(what, f"{short(shard)} epoch {epoch} of {after.worker}: {before.place} "
                                               f"then {after.place}, {step} on")

    def one_worker_an_epoch(self):
        owner = {}
        claims = [(line.shard, line.epoch, line.worker) for line in self.h.lines]
        claims += [(shard, row.epoch, row.owner) for sample in self.h.samples for shard, row in sample.rows.items()
                   if row.owner]
        for shard, epoch, worker in claims:
            if owner.setdefault((shard, epoch), worker) != worker:
                self.verdict.say("two in one epoch", f"{short(shard)} epoch {epoch}: {owner[shard, epoch]} and {worker}")

    def one_epoch_at_a_time(self):
        """Nothing of an epoch is written after something of a later one."""
        for shard, epochs in self.by_epoch.items():
            newer = math.inf  # the latest moment at which something of any later epoch was surely written
            for epoch in sorted(epochs, reverse=True):
                for line in epochs[epoch]:
                    if line.early > newer:
                        self.verdict.say("two at once", f"{short(shard)}: {line.place} of epoch {epoch} by {line.worker} "
                                                        f"{line.early - newer:.3f} s after one of a later epoch")
                newer = min([newer, *(line.late for line in epochs[epoch])])

    def children_after_parents(self):
        first, last = {}, {}
        for line in self.h.lines:
            first[line.shard] = min(line.late, first.get(line.shard, math.inf))
            last[line.shard] = max(line.early, last.get(line.shard, -math.inf))
        for child, parents in self.h.parents.items():
            for parent in parents:
                if child in first and parent in last and last[parent] > first[child]:
                    self.verdict.say("child too early", f"{short(child)} began {last[parent] - first[child]:.3f} s before "
                                                        f"the last of its parent {short(parent)}")

    # ---- what stood in the table -----------------------------------------------------------------------------------

    def never_backwards(self):
        last = {}
        for sample in self.h.samples:
            for shard, row in sample.rows.items():
                before = last.get(shard)
                if before and (row.pos < before.pos or mark_of(row.pos) < mark_of(before.pos)):
                    self.verdict.say("checkpoint back", f"{short(shard)}: {before.pos} then {row.pos}")
                if before and row.epoch < before.epoch:
                    self.verdict.say("epoch back", f"{short(shard)}: {before.epoch} then {row.epoch}")
                if before and row.epoch == before.epoch and row.owner and before.owner and row.owner != before.owner:
                    self.verdict.say("two in one epoch", f"{short(shard)}: {before.owner}, {row.owner}")
                last[shard] = row

    def done_by(self, shard, pos):
        """How many of the shard's records this position says are done."""
        return bisect.bisect_right(self.order.get(shard, ()), mark_of(pos))

    def only_what_came(self):
        """A position says done only of what had been written by then."""
        done = collections.Counter()
        for sample in self.h.samples:
            for shard, row in sample.rows.items():
                n = self.done_by(shard, row.pos)
                for place in self.order.get(shard, ())[done[shard] : n]:
                    if self.early_of.get((shard, place), math.inf) > sample.late:
                        self.verdict.say("checkpoint ahead", f"{short(shard)}: {row.pos} before {place} was written")
                        break
                done[shard] = max(done[shard], n)

    def only_by_its_owner(self):
        """The position a row shows was reached by the worker whose epoch it shows, or taken over as it is. Else a worker
        that had lost the lease has moved it."""
        came = collections.defaultdict(dict)  # (shard, epoch) -> place -> early
        for line in self.h.lines:
            came[line.shard, line.epoch].setdefault(line.place, line.early)
        first_pos = {}
        for sample in self.h.samples:
            for shard, row in sample.rows.items():
                n, its = self.done_by(shard, row.pos), came.get((shard, row.epoch), {})
                taken_over = first_pos.setdefault((shard, row.epoch), row.pos)
                if n == 0 or row.pos == "9:end":
                    continue
                place = self.order[shard][n - 1]
                if place in its:
                    fine = its[place] <= sample.late
                else:
                    fine = row.pos == taken_over and (not its or place < min(its))
                if not fine:
                    self.verdict.say("fenced checkpoint", f"{short(shard)} epoch {row.epoch}: {row.pos}, which that epoch "
                                                          "had not reached")

    def only_its_owner_writes(self):
        """Within an epoch a row is written by its owner alone: what the row said at first may still be the last word of who
        handed it over, and each later word must be the owner's. So a write of a worker that had lost the lease is seen also
        where it did no harm."""
        first = {}
        for sample in self.h.samples:
            for shard, row in sample.rows.items():
                if not row.owner or not row.op:
                    continue
                handed_over = first.setdefault((shard, row.epoch), row.op) == row.op
                if not handed_over and row.op.rsplit("-", 1)[0] != row.owner.rsplit(".", 1)[1]:
                    self.verdict.say("fenced write", f"{short(shard)} epoch {row.epoch} of {row.owner}: {row.op}")

    # ---- what came again -------------------------------------------------------------------------------------------

    def excuse(self, one, again):
        """The deed after which `one` may come again as `again`: done to its worker meanwhile. A standing of the machine is named
        only where nothing that was done on purpose explains it."""
        worker = one.worker.rsplit(".", 1)[0]
        found = [deed for deed in self.h.deeds if deed.kind in HARM and deed.worker in (worker, None)
                 and deed.begin <= again.late and deed.end >= one.early]
        return max(found, key=lambda deed: (deed.kind != "machine", deed.begin), default=None)

    def repeats(self):
        marks = collections.defaultdict(list)  # shard -> [(epoch, done)], both rising
        for sample in self.h.samples:
            for shard, row in sample.rows.items():
                if row.pos != "9:end":
                    marks[shard].append((row.epoch, self.done_by(shard, row.pos)))
                else:
                    marks[shard].append((row.epoch, math.inf))
        for shard, epochs in self.by_epoch.items():
            number = {place: i for i, place in enumerate(self.order.get(shard, ()))}
            seen = {}
            for epoch in sorted(epochs):
                done = max((n for e, n in marks[shard] if e < epoch), default=0)
                for line in epochs[epoch]:
                    one = seen.get(line.place)
                    if one and one.epoch != epoch:
                        self.one_repeat(shard, one, line, number.get(line.place, math.inf) < done)
                    seen[line.place] = line

    def one_repeat(self, shard, one, again, was_saved):
        self.verdict.repeats += 1
        if was_saved:
            self.verdict.say("repeat of what was saved", f"{again.place} of {short(shard)} by {again.worker} in epoch "
                                                         f"{again.epoch}")
        deed = self.excuse(one, again)
        if deed:
            self.verdict.repeats_by_deed[str(deed)] += 1
        else:
            self.verdict.say("repeat without a cause", f"{again.place} of {short(shard)}: {one.worker} in epoch {one.epoch} "
                                                       f"at {one.late:.2f}, {again.worker} in {again.epoch} at "
                                                       f"{again.late:.2f}")

    def run(self):
        self.all_came()
        self.nothing_else_came()
        self.order_within_epochs()
        self.one_worker_an_epoch()
        self.one_epoch_at_a_time()
        self.children_after_parents()
        self.never_backwards()
        self.only_what_came()
        self.only_by_its_owner()
        self.only_its_owner_writes()
        self.repeats()
        self.verdict.lines = len(self.h.lines)
        self.verdict.epochs = sum(len(epochs) for epochs in self.by_epoch.values())
        self.verdict.samples = len(self.h.samples)
        return self.verdict


def judge(history):
    return Judge(history).run()
