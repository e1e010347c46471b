"""Judges what a mixed fleet did, afterwards: a pure function of the lines of all workers, of what was put into the stream
and of what stood in the table meanwhile. It knows nothing of ours or of theirs.

Times are of one machine's wall clock, in milliseconds. A worker of ours is timed when its line was read, one of theirs
stamps its own; so the order between two workers is judged with some slack, within one worker by the order of its lines.
"""

import collections
from dataclasses import dataclass, field

SLACK_MS = 2000


@dataclass
class History:
    truth: dict = field(default_factory=dict)  # shard -> [place], in order
    parents: dict = field(default_factory=dict)  # shard -> [shard]
    lives: list = field(default_factory=list)  # [Line] of each process, in its own order
    samples: list = field(default_factory=list)  # (ms, {shard: Row}), in time order
    phases: list = field(default_factory=list)  # (ms when it began, name)
    whole: bool = True  # aggregates taken apart by everybody? False: places count without their sub-sequence
    parents_first: bool = True
    puts_back: frozenset = frozenset()  # workers that save without a condition, whoever has the row meanwhile


class Verdict:
    def __init__(self):
        self.guilty = []  # (rule, text)
        self.records = self.lines = self.repeats = self.put_back = 0
        self.repeats_by = collections.Counter()  # (phase, who read it first, who again) -> n

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


def short(shard):
    return shard.replace("shardId-0000000000", "")


class Judge:
    def __init__(self, history):
        self.h, self.verdict = history, Verdict()
        self.number = {shard: {place: i for i, place in enumerate(places)} for shard, places in history.truth.items()}
        self.first = {}  # (shard, place) -> the line that had it first
        everything = sorted((line for life in history.lives for line in life), key=lambda line: line.ms)
        for line in everything:
            one = self.first.setdefault((line.shard, line.place), line)
            if one is not line:
                self.repeat(one, line)
        self.verdict.lines = len(everything)
        self.verdict.records = sum(map(len, history.truth.values()))

    def phase_at(self, ms):
        return max(((began, name) for began, name in self.h.phases if began <= ms), default=(0, "before"))[1]

    def repeat(self, one, again):
        self.verdict.repeats += 1
        self.verdict.repeats_by[self.phase_at(again.ms), one.worker, again.worker] += 1

    def all_came(self):
        for shard, places in self.h.truth.items():
            lost = [place for place in places if (shard, place) not in self.first]
            if lost:
                self.verdict.say("loss", f"{len(lost)} of {len(places)} of {short(shard)}, the first {lost[0]}")

    def nothing_else_came(self):
        for shard, place in self.first:
            if place not in self.number.get(shard, ()):
                self.verdict.say("made up", f"{place} of {short(shard)} by {self.first[shard, place].worker}")

    def order_of_one_worker(self):
        """A process reads a shard upwards. A step back is a new beginning: it may only lead to what was read before."""
        for life in self.h.lives:
            last = {}
            for line in life:
                before = last.get(line.shard)
                if before and line.place < before and self.first[line.shard, line.place] is line:
                    self.verdict.say("order", f"{line.worker} had {before} of {short(line.shard)} and then {line.place}, "
                                              "which nobody had read")
                last[line.shard] = line.place

    def order_between_workers(self):
        """What comes first in a shard is read first, whoever reads it."""
        for shard, places in self.h.truth.items():
            latest = None
            for place in places:
                line = self.first.get((shard, place))
                if not line:
                    continue
                if latest and latest.ms > line.ms + SLACK_MS and latest.worker != line.worker:
                    self.verdict.say("order", f"{place} of {short(shard)} by {line.worker} {latest.ms - line.ms} ms before "
                                              f"{latest.place}, which stands before it, by {latest.worker}")
                if not latest or line.ms > latest.ms:
                    latest = line

    def children_after_parents(self):
        first, last = {}, {}
        for (shard, _), line in self.first.items():
            first[shard] = min(line.ms, first.get(shard, line.ms))
            last[shard] = max(line.ms, last.get(shard, line.ms))
        for child, parents in self.h.parents.items():
            for parent in parents:
                if child in first and parent in last and last[parent] > first[child] + SLACK_MS:
                    self.verdict.say("child too early", f"{short(child)} began {last[parent] - first[child]} ms before its "
                                                        f"parent {short(parent)} ended")

    def never_backwards(self):
        last = {}
        for ms, rows in self.h.samples:
            for shard, row in rows.items():
                before = last.get(shard)
                if before and row.done < before.done and self.woke(ms, row.owner, before.owner):
                    self.verdict.put_back += 1
                elif before and row.done < before.done:
                    self.verdict.say("checkpoint back", f"{short(shard)}: {before.done} of {before.owner or 'nobody'}, then "
                                                        f"{row.done} of {row.owner or 'nobody'} in {self.phase_at(ms)}")
                last[shard] = row

    def woke(self, ms, owner, before):
        """A worker that saves without a condition was frozen, lost the shard, and saved what it still had to save."""
        return owner != before and owner in self.h.puts_back and self.phase_at(ms).endswith(" wakes")

    def only_what_came(self):
        """A checkpoint says done only of what somebody has read."""
        checked = collections.Counter()
        for ms, rows in self.h.samples:
            for shard, row in rows.items():
                places = self.h.truth.get(shard, ())
                while checked[shard] < len(places) and places[checked[shard]] <= row.done:
                    line = self.first.get((shard, places[checked[shard]]))
                    if line and line.ms > ms + SLACK_MS:
                        self.verdict.say("checkpoint ahead", f"{short(shard)}: {row.done} of {row.owner}, {line.ms - ms} ms "
                                                             f"before {line.place} was read")
                    checked[shard] += 1

    def run(self):
        self.all_came()
        self.nothing_else_came()
        self.order_of_one_worker()
        self.order_between_workers()
        if self.h.parents_first:
            self.children_after_parents()
        self.never_backwards()
        self.only_what_came()
        return self.verdict


def judge(history):
    return Judge(history).run()
