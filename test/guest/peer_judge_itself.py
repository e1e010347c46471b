"""The judge of mixed fleets finds each planted violation, and nothing in a history without one; the readers of the tables
know the order of positions that each system means."""

import copy
import sys

import peers  # puts ../process on the path  # noqa: F401
import peer_judge
import peer_tables
from harness import Tests, expect
from peer_judge import History
from peer_tables import END, START, Row
from peers import Line

SECOND = 1000


def clean():
    """Shard p is read by a, then taken over by c after two records more than the table says; k is its child."""
    truth = {"p": [(n, 0) for n in range(10)], "k": [(n, sub) for n in range(20, 23) for sub in range(2)]}
    a = [Line(n * SECOND, "a", "p", (n, 0)) for n in range(6)]
    c = [Line((10 + n) * SECOND, "c", "p", (n, 0)) for n in range(4, 10)]
    c += [Line((30 + i) * SECOND, "c", "k", place) for i, place in enumerate(truth["k"])]
    samples = [(500, {"p": Row("a", START, {})}), (5500, {"p": Row("a", (3, 0), {})}), (9000, {"p": Row("c", (3, 0), {})}),
               (22000, {"p": Row("c", END, {}), "k": Row("c", START, {})}), (50000, {"p": Row("c", END, {}),
                                                                                     "k": Row("c", (22, 1), {})})]
    return History(truth=truth, parents={"k": ["p"], "p": []}, lives=[a, c], samples=samples,
                   phases=[(0, "together"), (8000, "a is killed")])


def nothing_in_a_clean_one():
    verdict = peer_judge.judge(clean())
    expect(not verdict.guilty, verdict.text())
    expect(verdict.repeats == 2 and dict(verdict.repeats_by) == {("a is killed", "a", "c"): 2}, verdict.repeats_by)


def lost(h):
    h.lives[1] = [line for line in h.lives[1] if line.place != (8, 0)]


def lost_sub(h):
    h.lives[1] = [line for line in h.lives[1] if line.place != (21, 1)]


def made_up(h):
    h.lives[0].append(Line(5500, "a", "p", (99, 0)))


def swapped(h):
    h.lives[1][3], h.lives[1][4] = h.lives[1][4], h.lives[1][3]


def overtaken(h):
    """c reads the end of p long before a has read its beginning."""
    for line in h.lives[0]:
        line.ms += 60 * SECOND
    h.lives[1] = [line for line in h.lives[1] if line.place not in ((4, 0), (5, 0))]


def early_child(h):
    for line in h.lives[1]:
        if line.shard == "k":
            line.ms -= 25 * SECOND


def checkpoint_back(h):
    h.samples.insert(2, (7000, {"p": Row("a", (2, 0), {})}))


def end_taken_back(h):
    h.samples.append((60000, {"p": Row("c", (9, 0), {})}))


def checkpoint_ahead(h):
    h.samples[1] = (5500, {"p": Row("a", (8, 0), {})})
    h.samples[2] = (9000, {"p": Row("c", (8, 0), {})})


PLANTED = {lost: "loss", lost_sub: "loss", made_up: "made up", swapped: "order", overtaken: "order",
           early_child: "child too early", checkpoint_back: "checkpoint back", end_taken_back: "checkpoint back",
           checkpoint_ahead: "checkpoint ahead"}


def a_row_put_back():
    """b froze, c took over, b woke and saved once more: nobody's fault where saving has no condition, and counted."""
    history = clean()
    history.phases += [(8500, "b wakes"), (9300, "c leaves")]
    history.samples.insert(3, (9100, {"p": Row("b", (2, 0), {})}))
    for puts_back, guilty in ((frozenset(), True), (frozenset("b"), False), (frozenset("c"), True)):
        history.puts_back = puts_back
        verdict = peer_judge.judge(history)
        expect(verdict.rules() == ["checkpoint back"] * guilty and verdict.put_back == (not guilty), verdict.text())
    history.phases[2] = (8500, "b leaves")
    history.puts_back = frozenset("b")
    expect(peer_judge.judge(history).guilty, "a row is put back, and nobody woke")


def planted(plant, rule):
    history = copy.deepcopy(clean())
    plant(history)
    verdict = peer_judge.judge(history)
    expect(rule in verdict.rules(), f"found {verdict.rules()}: {verdict.text()}")


def rows_of_each_system():
    s, n, null = (lambda v: {"S": v}), (lambda v: {"N": v}), {"NULL": True}

    def rise(read, key, *items):
        done = [read([{key: s("x"), **item}])["x"].done for item in items]
        expect(done == sorted(done) and len(set(done)) == len(done), f"{read.__name__}: {done}")

    rise(peer_tables.kcl, "leaseKey", {"checkpoint": s("TRIM_HORIZON")}, {"checkpoint": s("9")},
         {"checkpoint": s("10"), "checkpointSubSequenceNumber": n("0")},
         {"checkpoint": s("10"), "checkpointSubSequenceNumber": n("11")}, {"checkpoint": s("SHARD_END")})
    rise(peer_tables.kinsumer, "Shard", {"SequenceNumber": null}, {"SequenceNumber": s("9")}, {"SequenceNumber": s("10")},
         {"SequenceNumber": s("10"), "Finished": n("1")})
    rise(peer_tables.vmware, "ShardID", {"Checkpoint": s("")}, {"Checkpoint": s("9")}, {"Checkpoint": s("SHARD_END")})
    rise(peer_tables.motorway, "shard_id", {"checkpoint": n("0")}, {"checkpoint": s("9")}, {"checkpoint": s("10")})
    expect(not peer_tables.kcl([{"leaseKey": s("Leader"), "entityType": s("LEADER")}]), "a row of KCL 3 that is no lease")
    row = peer_tables.kcl([{"leaseKey": s("x"), "leaseOwner": s("new"), "checkpointOwner": s("old")}])["x"]
    expect(row.owner == "old", row)


def lines_of_logs():
    one = peers.plain("16:05:34.474 [LeaseRenewer-0003] ERROR x.Y - shardId-000000000001 of a0 lost: 17 ms")
    other = peers.plain("17:15:04.001 [LeaseRenewer-0001] ERROR x.Y - shardId-000000000012 of b1 lost: 3 ms")
    expect(one == other, f"{one!r}, {other!r}")
    expect(one != peers.plain("16:05:34.474 [LeaseRenewer-0003] ERROR x.Y - something else"), "all are one")
    one, other = (peers.plain(f'time="2026" level=error msg="Error in getRecords: {why}"') for why in (
        "lease not acquired: current lease timeout not yet expired", "lease not acquired: The conditional request failed"))
    expect(one == other != peers.plain('time="2026" level=error msg="Error in getRecords: shard is already claimed"'), one)


def main():
    tests = Tests()
    tests.run("nothing in a clean history", nothing_in_a_clean_one)
    for plant, rule in PLANTED.items():
        tests.run(f"planted: {plant.__name__.replace('_', ' ')}", planted, plant, rule)
    tests.run("a row put back", a_row_put_back)
    tests.run("rows of each system", rows_of_each_system)
    tests.run("lines of logs", lines_of_logs)
    tests.end()


if __name__ == "__main__":
    sys.exit(main())
