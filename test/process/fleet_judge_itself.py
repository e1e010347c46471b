"""Shows that the judge of fleets can pass and can fail: a right story passes every rule, and each planted violation is found
by the rule that is there for it, and by no other unless it is named here."""

import random

import fleet as fleets
from fleet_judge import Deed, History, Line, Row, Sample, judge, mark_of
from harness import Tests, expect

A, B, CHILD = "shardId-000000000000", "shardId-000000000001", "shardId-000000000002"
ONE, TWO, TWO_AGAIN = "one.aaaa", "two.bbbb", "two.cccc"


def place(n):
    return (10**55 + n, 0)


def after(n):
    return f"1:056{10**55 + n}:9999999999"


def right_story():
    """Shard A is read by one, which is killed at 10.0 with 5 records past its checkpoint, then by two in epoch 2 up to its
    end; its child follows. B is read by two throughout, and handed to a later life of two."""
    h = History(parents={CHILD: [A]})
    h.truth = {A: {place(n): b"a%d" % n for n in range(40)}, B: {place(n): b"b%d" % n for n in range(100, 140)},
               CHILD: {place(n): b"c%d" % n for n in range(200, 220)}}

    def write(worker, epoch, shard, numbers, begin, step=0.1):
        for i, n in enumerate(numbers):
            at = begin + i * step
            h.lines.append(Line(worker, epoch, shard, place(n), h.truth[shard][place(n)], at - 0.005, at + 0.005))

    write(ONE, 1, A, range(0, 25), 1.0)
    write(TWO, 2, A, range(20, 40), 13.0)
    write(TWO, 1, CHILD, range(200, 220), 15.5)
    write(TWO, 1, B, range(100, 120), 1.0)
    write(TWO_AGAIN, 2, B, range(120, 140), 17.0)
    h.deeds = [Deed("kill", "one", 10.0, 10.0), Deed("restart", "two", 16.0, 16.5)]

    def sample(at, a, b, child=None):
        rows = {A: a, B: b}
        if child:
            rows[CHILD] = child
        h.samples.append(Sample(at, at + 0.02, rows))

    sample(0.5, Row(ONE, 1, "0:oldest"), Row(TWO, 1, "0:oldest"))
    sample(2.5, Row(ONE, 1, after(9)), Row(TWO, 1, after(109)))
    sample(9.0, Row(ONE, 1, after(19)), Row(TWO, 1, after(119)))
    sample(12.9, Row(TWO, 2, after(19)), Row(TWO, 1, after(119)))
    sample(14.0, Row(TWO, 2, after(25)), Row(TWO, 1, after(119)))
    sample(15.2, Row("", 2, "9:end"), Row(TWO, 1, after(119)), Row(TWO, 1, "0:oldest"))
    sample(16.9, Row("", 2, "9:end"), Row(TWO_AGAIN, 2, after(119)), Row(TWO, 1, after(210)))
    sample(20.0, Row("", 2, "9:end"), Row(TWO_AGAIN, 2, after(139)), Row(TWO, 1, after(219)))
    return h


def passes():
    verdict = judge(right_story())
    expect(not verdict.guilty, verdict.text())
    expect(verdict.repeats == 5, f"{verdict.repeats} repeats, not 5")
    expect(dict(verdict.repeats_by_deed) == {"kill one at 10.00": 5}, str(verdict.repeats_by_deed))


def passes_in_any_order():
    """Only each process's own order of lines counts, not how they lie between each other's."""
    h = right_story()
    dice = random.Random(4)
    queues = {}
    for line in h.lines:
        queues.setdefault(line.worker, []).append(line)
    h.lines = []
    while queues:
        worker = dice.choice(sorted(queues))
        h.lines.append(queues[worker].pop(0))
        if not queues[worker]:
            del queues[worker]
    verdict = judge(h)
    expect(not verdict.guilty, verdict.text())


def lines(h, worker=None, shard=None, epoch=None):
    return [line for line in h.lines if worker in (None, line.worker) and shard in (None, line.shard)
            and epoch in (None, line.epoch)]


def lose_one(h):
    """The last of B, which no position covers."""
    h.lines.remove(lines(h, shard=B)[-1])
    h.samples[-1].rows[B].pos = after(138)


def leave_one_out(h):
    """Not lost: another epoch wrote it. But epoch 2 skipped it."""
    h.lines.remove(lines(h, TWO, A, 2)[2])


def swap(h):
    a, b = [h.lines.index(line) for line in lines(h, TWO, B)[4:6]]
    h.lines[a].place, h.lines[b].place = h.lines[b].place, h.lines[a].place
    h.lines[a].data, h.lines[b].data = h.lines[b].data, h.lines[a].data


def twice_in_an_epoch(h):
    line = lines(h, TWO, B)[5]
    h.lines.insert(h.lines.index(line), Line(**vars(line)))


def overlap(h):
    """One, which was not dead but asleep, writes one more record of epoch 1 after two began."""
    line = lines(h, ONE, A)[-1]
    line.early, line.late = 13.2, 13.21
    h.deeds[0] = Deed("stop", "one", 5.0, 13.3)


def overlap_by_a_hair(h):
    """The smallest overlap that the moments prove."""
    first = min(line.late for line in lines(h, TWO, A, 2))
    line = lines(h, ONE, A)[-1]
    line.early, line.late = first + 0.001, first + 0.002
    h.deeds[0] = Deed("stop", "one", 5.0, 13.1)


def no_overlap_proven(h):
    """The slow reader's case: the old line may have been written before the new one. Not guilty."""
    first = min(line.late for line in lines(h, TWO, A, 2))
    line = lines(h, ONE, A)[-1]
    line.early, line.late = first - 0.001, first + 1
    h.deeds[0] = Deed("kill", "one", first - 0.001, first - 0.001)


def same_epoch(h):
    for line in lines(h, TWO_AGAIN, B):
        line.epoch = 1
    h.samples = h.samples[:-2]


def same_epoch_in_table(h):
    h.samples[4].rows[B] = Row(ONE, 1, after(119))


def child_early(h):
    for line in lines(h, TWO, CHILD):
        line.early -= 1
        line.late -= 1
    h.samples = [s for s in h.samples if CHILD not in s.rows]


def back(h):
    h.samples[4].rows[B] = Row(TWO, 1, after(112))


def epoch_back(h):
    h.samples[-1].rows[B] = Row(TWO_AGAIN, 0, after(139))


def ahead(h):
    """Saved before it was written: at 2.5 the 14th record was out."""
    h.samples[1].rows[A] = Row(ONE, 1, after(18))


def end_ahead(h):
    h.samples[4].rows[A] = Row("", 2, "9:end")


def fenced(h):
    """The first worker wakes and saves what it had read, while two owns the lease and has not come so far: at 13.1 two is at 20."""
    h.samples.insert(4, Sample(13.1, 13.12, {A: Row(TWO, 2, after(24)), B: Row(TWO, 1, after(119))}))


def fenced_before_the_first_look(h):
    """The same, and no look at the table came between the take-over and it."""
    h.samples[3] = Sample(13.1, 13.12, {A: Row(TWO, 2, after(24)), B: Row(TWO, 1, after(119))})


def fenced_and_harmless(h):
    """One's last position comes when two has long saved the same: only the row's writer tells."""
    for sample, op in zip(h.samples[3:5], ("bbbb-7", "aaaa-9")):
        sample.rows[A].op = op


def handed_over(h):
    """The last word of who handed it over, then the new owner's own: that is right."""
    for sample, op in zip(h.samples[3:5], ("aaaa-9", "bbbb-1")):
        sample.rows[A].op = op
    verdict = judge(h)
    expect(not verdict.guilty, verdict.text())


def saved_again(h):
    """Two begins before what the last position said, although one was killed."""
    h.samples[2].rows[A] = Row(ONE, 1, after(21))
    h.samples[3].rows[A] = Row(TWO, 2, after(21))


def without_cause(h):
    h.deeds = h.deeds[1:]


def cause_of_another(h):
    h.deeds[0] = Deed("kill", "two", 10.0, 10.0)


def cause_over(h):
    h.deeds[0] = Deed("stop", "one", 0.1, 0.2)


def cause_too_late(h):
    h.deeds[0] = Deed("kill", "one", 19.0, 19.0)


def made_up(h):
    line = lines(h, TWO_AGAIN, B)[-1]
    h.lines.append(Line(TWO_AGAIN, 2, B, place(150), b"x", line.early, line.late))


# what is planted, how, the rule that must find it and those that may
PLANTED = [
    ("a record lost", lose_one, ("loss",)),
    ("a record left out by one epoch", leave_one_out, ("left out",)),
    ("two records swapped", swap, ("order", "left out")),
    ("a record twice in one epoch", twice_in_an_epoch, ("order",)),
    ("an altered record", lambda h: setattr(h.lines[3], "data", b"x"), ("altered",)),
    ("a record never put", made_up, ("made up", "left out", "order")),
    ("an old epoch beside a new one", overlap, ("two at once",)),
    ("the same by 1 ms", overlap_by_a_hair, ("two at once",)),
    ("two workers in one epoch", same_epoch, ("two in one epoch",)),
    ("two workers in one epoch, in the table", same_epoch_in_table, ("two in one epoch",)),
    ("a child before its parent's end", child_early, ("child too early",)),
    ("a checkpoint that goes back", back, ("checkpoint back",)),
    ("an epoch that goes back", epoch_back, ("epoch back", "fenced checkpoint")),
    ("a checkpoint of what is not written", ahead, ("checkpoint ahead", "fenced checkpoint")),
    ("an end of what is not written", end_ahead, ("checkpoint ahead",)),
    ("a checkpoint by a fenced worker", fenced, ("fenced checkpoint",)),
    ("the same, unseen before", fenced_before_the_first_look, ("fenced checkpoint",)),
    ("a write of a fenced worker that did no harm", fenced_and_harmless, ("fenced write",)),
    ("a repeat of what was saved", saved_again, ("repeat of what was saved", "fenced checkpoint")),
    ("repeats and nobody was harmed", without_cause, ("repeat without a cause",)),
    ("repeats and somebody else was harmed", cause_of_another, ("repeat without a cause",)),
    ("repeats of what came after the harm was over", cause_over, ("repeat without a cause",)),
    ("repeats before the harm", cause_too_late, ("repeat without a cause",)),
]


def catches(plant, rules):
    h = right_story()
    plant(h)
    verdict = judge(h)
    found = set(verdict.rules())
    expect(rules[0] in found and found <= set(rules), f"found {found or 'nothing'}, planted {rules}: {verdict.text()}")
    return ", ".join(sorted(found))


def reader_is_excused():
    h = right_story()
    no_overlap_proven(h)
    verdict = judge(h)
    expect(not verdict.guilty, verdict.text())


def positions():
    expect(mark_of("0:oldest") == mark_of("0:time:17") == (-1, 0), "nothing is done at the beginning")
    expect(mark_of("1:00212:0000000000") < (12, 0) <= mark_of("1:00212:0000000001") < (12, 1), "at, and one sub-record")
    expect(mark_of("1:00212:9999999999") > (12, 10**9) and mark_of("1:00212:9999999999") < (13, 0), "the whole record")
    expect(mark_of("9:end") > mark_of(after(10**6)), "the end is the last")
    for wrong in ("1:00312:9999999999", "1:00212:99", "2:00212:9999999999"):
        try:
            mark_of(wrong)
        except ValueError:
            continue
        expect(False, f"{wrong} is taken")


def balance_waits_for_all_rows():
    """Three of four rows, one a worker, are no balance yet: the fourth shard's epoch would not be known."""
    fleet = fleets.Fleet("http://none", "http://none", "stream", 3)
    workers = {f"x/w/{worker}": {"boot": "1"} for worker in fleet.names}
    leases = {f"x/l/shard-{i}": {"owner": f"w{i % 3}.1", "epoch": "1", "pos": "0:oldest"} for i in range(4)}
    rows = {**workers, **leases}
    fleet.list_first_shards = lambda: {f"shard-{i}" for i in range(4)}
    fleet.look_at_all = lambda: rows
    last = rows.pop("x/l/shard-3")
    expect(fleet.balance(fleet.names) is None, "three of four rows are taken for a balance")
    rows["x/l/shard-3"] = last
    expect(sorted(map(len, (fleet.balance(fleet.names) or {}).values())) == [1, 1, 2], "all four rows are no balance")
    del rows["x/l/shard-0"]  # of a shard that was read and is trimmed
    expect(fleet.balance(fleet.names), "a row that was there may go")


def main():
    tests = Tests()
    tests.run("a part of the rows is no balance", balance_waits_for_all_rows)
    tests.run("positions as the table writes them", positions)
    tests.run("a right story passes", passes)
    tests.run("a right story passes however its lines are mixed", passes_in_any_order)
    tests.run("a slow reader is no proof", reader_is_excused)
    tests.run("a lease that was handed over passes", lambda: handed_over(right_story()))
    for name, plant, rules in PLANTED:
        tests.run(f"caught: {name}", catches, plant, rules)
    tests.end()


if __name__ == "__main__":
    main()
