"""The rules of peer_replay.py hold for what the models of the simulator do, each planted violation is found, and a change
that real programs make and a model does not is told."""

import os
import subprocess
import sys
import tempfile

import peers  # puts ../process on the path  # noqa: F401
import peer_replay
from harness import Tests, expect
from peer_replay import Look, Story
from peer_tables import Row

WORLDS = os.environ["SLOOP_TEST_PEER_WORLDS"]
LEASE_S = {"kcl-2": 2, "kcl-3": 2, "vmware-go-kcl": 10, "motorway": 10, "kinsumer": 5}  # of the models' worlds
WORLDS_OF = {"kcl-2": ("1", "5"), "kcl-3": ("1", "4"), "vmware-go-kcl": ("4", "4"), "motorway": ("1", "2"), "kinsumer": ("1", "4")}  # from, how many: all is done in them
SEEN = {  # in logs of the real programs, November 2026: the models must do them too
    "kcl-2": {"made", "made, with parents", "renewed", "saved", "ended", "renewed behind its end", "described", "stolen",
              "taken free", "taken from the silent"},
    "kcl-3": {"made", "made, with parents", "renewed", "saved", "ended", "renewed behind its end", "described", "taken free",
              "taken from the silent", "hand-over begun", "hand-over ended", "renewed in a hand-over"},
    "vmware-go-kcl": {"made", "made, with a parent", "renewed", "saved", "given back", "given back, claimed", "claimed",
                      "claim erased", "taken as claimed", "taken free", "taken from the late", "put back from memory",
                      "time put back"},
    "motorway": {"made", "beats", "saved", "stolen", "taken from the silent"},
    # The real program was also seen between its last save and its release, and taking a finished shard once more; the model
    # does both within one look.
    "kinsumer": {"made", "saved", "given back", "given back, finished", "taken free", "taken from the late",
                 "given back and taken between two looks"},
}


def models_do(kind):
    first, n = WORLDS_OF[kind]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([WORLDS, "--from", first, "--seeds", n, "--rows", folder, kind], check=True, stdout=subprocess.DEVNULL)
        paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        done, wrong = peer_replay.replay(kind, LEASE_S[kind], paths)
    expect(not wrong, "\n".join(wrong[:10]))
    expect(not SEEN[kind] - set(done), f"the model never does this: {sorted(SEEN[kind] - set(done))}")
    return f"{sum(map(len, done.values()))} changes"


def s(value):
    return {"S": value}


def lease(owner, counter, checkpoint="5", switches=0, by=None):
    item = {"leaseKey": s("p"), "leaseCounter": {"N": str(counter)}, "checkpoint": s(checkpoint),
            "checkpointSubSequenceNumber": {"N": "0"}, "ownerSwitchesSinceCheckpoint": {"N": str(switches)}}
    if owner:
        item["leaseOwner"] = s(owner)
    if by:
        item["checkpointOwner"] = s(by)
    return item


def row(owner, time_s, checkpoint="5", claim=None):
    item = {"ShardID": s("p"), "LeaseTimeout": s(f"1970-01-01T00:00:{time_s:02d}Z"), "Checkpoint": s(checkpoint)}
    if owner:
        item["AssignedTo"] = s(owner)
    if claim:
        item["ClaimRequest"] = s(claim)
    return item


def story(*looks, deeds=(), also=None):
    it = Story()
    it.rows["p"] = [Look(at, item) for at, item in looks]
    it.deeds = list(deeds)
    if also:
        it.rows.update(also)
    return it


def ticked(owner, tick, checkpoint="5", **more):
    return {"shard_id": s("p"), "worker_id": s(owner), "heartbeat": {"N": str(tick)}, "checkpoint": s(checkpoint), **more}


def updated(owner, at_s, number="5", finished=False, **more):
    return {"Shard": s("p"), "SequenceNumber": s(number), "LastUpdate": {"N": str(int(at_s * 10 ** 9))},
            "LastUpdateRFC": s("Tue, 14 Nov 2023 22:13:20 +0000"), "OwnerID": s(owner) if owner else {"NULL": True},
            "OwnerName": s("a name") if owner else {"NULL": True}, "Finished": {"N": "7"} if finished else {"NULL": True},
            "FinishedRFC": s("a time") if finished else {"NULL": True}, **more}


OURS = "o1.34516a71faac14a4"
ONE, TWO = "f16e9356-51f9-454f-a4bc-00ddb3eec84a", "0a8f3c1e-5d3b-4f0e-9c55-2f6a7d1b8e90"
OURS_AND_B = ((0, lease(OURS, 5)), (1, lease(OURS, 6)), (2, lease(OURS, 7)), (2.2, lease("b", 9, switches=1)))
FINE = {
    "kinsumer saves, finishes, lets go, and takes from the late": (
        "kinsumer", story((0, updated(ONE, 0)), (1, updated(ONE, 1, "6")), (12, updated(TWO, 12, "6")),
                          (13, updated(TWO, 13, "9", True)), (14, updated("", 14, "9", True)))),
    "kinsumer lets go when another comes, who puts the row back as it read it": (
        "kinsumer", story((0, updated(ONE, 0)), (1, updated(ONE, 1, "6")), (1.5, updated(TWO, 1.5, "5")))),
    "motorway beats, saves, and takes from the silent": (
        "motorway", story((0, ticked("a", 5)), (1, ticked("a", 6, "6")), (30, ticked("b", 0, "6")), (31, ticked("b", 1, "6")))),
    "motorway takes from one who has two, and has none": (
        "motorway", story((0, ticked("a", 5)), (1, ticked("a", 6)), (2, ticked("b", 0)), also={"q": [Look(0, ticked("a", 5))]})),
    "kcl-2 renews, saves, and takes from the silent": (
        "kcl-2", story((0, lease("a", 1)), (1, lease("a", 2)), (2, lease("a", 3, "9")), (9, lease("b", 4, "9", 1)))),
    "kcl-2 stood still, and makes up for what was due": (
        "kcl-2", story((0, lease("a", 1)), (1, lease("a", 2)), (22, lease("a", 3)), (23, lease("a", 18)))),
    "kcl-2 takes two that one of ours gave back as it left": (
        "kcl-2", story(*OURS_AND_B, deeds=[(2.1, "o1 leaves")], also={"q": [Look(at, item) for at, item in OURS_AND_B]})),
    "kcl-3 hands over": (
        "kcl-3", story((0, lease("a", 1)), (1, lease("b", 1, by="a")), (2, lease("b", 2, by="a")), (3, lease("b", 3)))),
    "vmware-go-kcl hands over as claimed": (
        "vmware-go-kcl", story((0, row("a", 10)), (1, row("a", 10, claim="b")), (2, row("", 10, claim="b")), (3, row("b", 13)))),
    "vmware-go-kcl puts back what it remembers": (
        "vmware-go-kcl", story((0, row("a", 10)), (11, row("b", 21, "7")), (12, row("a", 10, "6")))),
    "vmware-go-kcl saves, which erases a claim, and another claims": (
        "vmware-go-kcl", story((0, row("a", 10)), (1, row("a", 10, claim="b")), (2, row("a", 10, "6", claim="b2")))),
    "vmware-go-kcl was late, saves all the same, and renews what is its own again": (
        "vmware-go-kcl", story((1, row("a", 10)), (11.5, row("b", 21, "6")), (12, row("a", 22, "7")))),
    "vmware-go-kcl woke a while ago, and puts back what nobody saw it write": ("vmware-go-kcl", story(
        (1, row("a", 10)), (12, row("b", 22, "6")), (40, row("b", 50, "7")), (42, row("b", 52, "8")), (42.5, row("a", 50, "9")),
        deeds=[(2, "a is frozen"), (40.5, "a wakes")])),
}
WRONG = {
    "kinsumer's number goes back": ("kinsumer", story((0, updated(ONE, 0, "9")), (5, updated(ONE, 5, "8")))),
    "kinsumer's time goes back": ("kinsumer", story((0, updated(ONE, 0)), (5, updated(ONE, 5, "6")), (6, updated(ONE, 4, "7")))),
    "kinsumer's time is of tomorrow": ("kinsumer", story((0, updated(ONE, 0)), (5, updated(ONE, 90, "6")))),
    "kinsumer takes back an end": (
        "kinsumer", story((0, updated(ONE, 0, "9", True)), (5, updated(ONE, 5, "9")))),
    "kinsumer writes a type that it can't read": ("kinsumer", story((0, updated(ONE, 0)), (1, updated(ONE, 1, OwnerName=s(""))))),
    "a tick that goes back": ("motorway", story((0, ticked("a", 5)), (1, ticked("a", 4)))),
    "motorway's checkpoint goes back": ("motorway", story((0, ticked("a", 5, "9")), (1, ticked("a", 6, "8")))),
    "motorway takes the only lease of the living": ("motorway", story((0, ticked("a", 5)), (1, ticked("a", 6)), (2, ticked("b", 0)))),
    "motorway loses what it does not know": (
        "motorway", story((0, ticked("a", 5, sloop_done=s("5"))), (1, ticked("a", 6)))),
    "motorway's tick does not begin anew": ("motorway", story((0, ticked("a", 5)), (30, ticked("b", 600)))),
    "a count goes back": ("kcl-2", story((0, lease("a", 5)), (1, lease("a", 4)))),
    "a checkpoint goes back": ("kcl-2", story((0, lease("a", 5, "9")), (1, lease("a", 6, "8")))),
    "a checkpoint without its count": ("kcl-2", story((0, lease("a", 5, "8")), (1, lease("a", 5, "9")))),
    "too many beats": ("kcl-2", story((0, lease("a", 5)), (1, lease("a", 6)), (2, lease("a", 30)))),
    "more than was due": ("kcl-2", story((0, lease("a", 1)), (1, lease("a", 2)), (22, lease("a", 3)), (23, lease("a", 40)))),
    "too many beats after a short rest": (
        "kcl-2", story((0, lease("a", 1)), (1, lease("a", 2)), (4.5, lease("a", 3)), (5.5, lease("a", 18)))),
    "KCL 2 gives back": ("kcl-2", story((0, lease("a", 5)), (1, lease("", 6)))),
    "KCL 2 hands over": ("kcl-2", story((0, lease("a", 5)), (1, lease("b", 5, by="a")))),
    "taken without its count": ("kcl-2", story((0, lease("a", 5)), (9, lease("b", 5, switches=1)))),
    "taken without a switch": ("kcl-2", story((0, lease("a", 5)), (9, lease("b", 6)))),
    "stolen by one who has more": ("kcl-2", story(
        (0, lease("a", 5)), (1, lease("a", 6)), (2, lease("b", 7, switches=1)),
        also={name: [Look(0.5 * i, lease("b", i)) for i in range(8)] for name in "qrst"})),
    "two of ours are taken at once, and another left": (
        "kcl-2", story(*OURS_AND_B, deeds=[(2.1, "o2 leaves")], also={"q": [Look(at, item) for at, item in OURS_AND_B]})),
    "stolen twice at once": ("kcl-2", story(
        (0, lease("a", 5)), (1, lease("a", 6)), (2, lease("b", 7, switches=1)),
        also={"q": [Look(0, lease("a", 5)), Look(1, lease("a", 6)), Look(2.2, lease("b", 7, switches=1))],
              "r": [Look(0.5 * i, lease("a", i)) for i in range(8)], "t": [Look(0.5 * i, lease("a", i)) for i in range(8)]})),
    "a hand-over names another victim": ("kcl-3", story((0, lease("a", 5)), (1, lease("b", 5, by="a9")))),
    "a hand-over ends without its count": (
        "kcl-3", story((0, lease("a", 5)), (1, lease("b", 5, by="a")), (2, lease("b", 5)))),
    "KCL 3 gives back without its count": ("kcl-3", story((0, lease("a", 5)), (1, lease("", 5)))),
    "taken before its time": ("vmware-go-kcl", story((0, row("a", 10)), (2, row("b", 12)))),
    "a time too far ahead": ("vmware-go-kcl", story((0, row("a", 10)), (2, row("a", 30)))),
    "a claim of another is passed over": (
        "vmware-go-kcl", story((0, row("", 10, claim="b")), (3, row("a", 13)))),
    "a claim over the claim of another": (
        "vmware-go-kcl", story((0, row("a", 10)), (1, row("a", 10, claim="b")), (2, row("a", 10, claim="b2")))),
    "taken before its time from one who took it from the late": (
        "vmware-go-kcl", story((1, row("a", 10)), (11.5, row("b", 21, "6")), (12, row("b2", 22, "7")))),
    "one who was late long ago": ("vmware-go-kcl", story(
        (1, row("a", 10)), (11.5, row("b", 21, "6")), (17, row("b", 27, "7")), (23, row("a", 33, "8")))),
    "a time that nobody saw, and nobody was frozen": ("vmware-go-kcl", story(
        (1, row("a", 10)), (12, row("b", 22, "6")), (40, row("b", 50, "7")), (42, row("b", 52, "8")), (42.5, row("a", 50, "9")))),
    "a claim of its own": ("vmware-go-kcl", story((0, row("a", 10)), (1, row("a", 10, claim="a")))),
    "a row of another shape": ("vmware-go-kcl", story((0, row("a", 10)), (1, dict(row("a", 11), more={"N": "1"})))),
}


def found(kind, it, guilty):
    rules = peer_replay.KINDS[kind](4 if kind.startswith("kcl") else 10).run(it)
    expect(bool(rules.wrong) == guilty, rules.wrong)


def a_story_in_memory():
    """What is the same in two looks is one look, and a row that is gone is told."""
    rows = [{"p": Row("a", (5, 0), lease("a", n))} for n in (1, 1, 2)]
    it = peer_replay.of_samples([(1000 * i, some) for i, some in enumerate([*rows, {}])], [(500, "a leaves")])
    expect([(look.s, bool(look.item)) for look in it.rows["p"]] == [(0, True), (2, True), (3, False)], it.rows["p"])
    expect(it.deeds == [(0.5, "a leaves")], it.deeds)
    log = 'time="1970-01-01T00:00:07Z" level=info msg="Release lease for shard p"\nmore\n'
    expect(peer_replay.releases("a", log) == [(7.0, "a", "p")], peer_replay.releases("a", log))


def main():
    tests = Tests()
    tests.run("a story in memory", a_story_in_memory)
    for kind in LEASE_S:
        tests.run(f"the model of {kind} keeps its rules", lambda kind=kind: models_do(kind))
    for name, (kind, it) in FINE.items():
        tests.run(f"nothing is said of: {name}", lambda kind=kind, it=it: found(kind, it, False))
    for name, (kind, it) in WRONG.items():
        tests.run(f"found: {name}", lambda kind=kind, it=it: found(kind, it, True))
    tests.end()


if __name__ == "__main__":
    sys.exit(main())
