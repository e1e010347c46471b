"""What the workers of another system did to the rows of their leases, held against the rules of that system.

    peer_replay.py KIND LEASE_S STORY... [--model STORY]

A STORY is what peer_story.py --keep writes, or `peer_worlds --rows`: the rows as an observer saw them. Between two looks a
row may have been written several times; each change must be one that the rules allow at the state before it, at that time.
Changes by workers of ours are passed over. With --model, whatever the real programs were seen to do must be something that
the model's workers were seen to do as well.

Rules: amazon-kinesis-client 2.7 (DynamoDBLeaseRefresher, DynamoDBLeaseTaker) and 3.5 (LeaseAssignmentManager,
LeaseGracefulShutdownHandler), vmware-go-kcl-v2 (dynamodb-checkpointer.go), motorway 3.1 (KinesisRamp), kinsumer
(checkpoints.go, shard_consumer.go).
"""

import argparse
import ast
import bisect
import glob
import re
import statistics
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timezone

LATE_S = 1.6  # an observer sees a change so late at most, and a busy machine does what is due so late
THROTTLED_S = 10  # aws-sdk-go repeats a write that was throttled, with the time that it was made with
CLAIM_S = 120  # LeaseStealingClaimTimeoutMillis of vmware-go-kcl
ORDER = {"": -4, "AT_TIMESTAMP": -3, "TRIM_HORIZON": -2, "LATEST": -1, "SHARD_END": 10 ** 80}


def text(item, name):
    value = item.get(name)
    return "" if value is None else next(iter(value.values()))


def place(item, checkpoint, sub=None):
    at = text(item, checkpoint)
    return (ORDER[at] if at in ORDER else int(at), int(text(item, sub) or 0) if sub else 0)


@dataclass
class Look:
    s: float
    item: dict  # empty: there is no row any more


@dataclass
class Story:
    rows: dict = field(default_factory=lambda: defaultdict(list))  # shard -> [Look], each unlike the one before
    deeds: list = field(default_factory=list)  # (s, words)
    released: list = field(default_factory=list)  # (s, worker, shard): by the log of vmware-go-kcl, to the second


def read(path):
    story = Story()
    with open(path, encoding="utf-8") as file:
        for line in file:
            ms, rest = line.rstrip("\n").split(" ", 1)
            brace = rest.find("{")
            if rest.startswith("shardId-") and rest.endswith(" gone"):
                story.rows[rest.split(" ", 1)[0]].append(Look(int(ms) / 1000, {}))
            elif brace < 0:
                story.deeds.append((int(ms) / 1000, rest))
            else:
                story.rows[rest.split(" ", 1)[0]].append(Look(int(ms) / 1000, ast.literal_eval(rest[brace:])))
    for log in glob.glob(glob.escape(path.removesuffix(".story")) + ".*.log"):
        worker = log.split(".")[-2]
        with open(log, encoding="utf-8", errors="replace") as file:
            story.released += releases(worker, file.read())
    return story


def of_samples(samples, phases, released=()):
    """A story that is still in memory: what peer_tables.Watch saw."""
    story, last = Story(), {}
    for ms, rows in samples:
        for shard in set(last) - set(rows):
            story.rows[shard].append(Look(ms / 1000, {}))
            del last[shard]
        for shard, row in rows.items():
            if last.get(shard) != row.item:
                story.rows[shard].append(Look(ms / 1000, row.item))
            last[shard] = row.item
    story.deeds = [(ms / 1000, name) for ms, name in phases]
    story.released = list(released)
    return story


def releases(worker, log):
    return [(go_time(match[1]), worker, match[2])
            for match in re.finditer(r'^time="([^"]+)".*"Release lease for shard ([^"]+)"', log, re.M)]


def is_theirs(name):
    """Theirs are a, b and a number; ours have an incarnation behind a dot."""
    return re.fullmatch(r"[ab]\d*", name) is not None


class Rules:
    """Names each change, or says what is wrong with it."""

    owner = key = ""

    def __init__(self, lease_s):
        self.lease_s = lease_s

    def open(self, story):
        self.story = story
        self.kinds, self.wrong = defaultdict(list), []

    def note(self, kind, value=None):
        self.kinds[kind].append(value)

    def say(self, shard, look, words):
        self.wrong.append(f"{look.s:.2f} {shard}: {words}")

    def awake_s(self, a, b):
        """Nobody was frozen or woke, nor was the table away, so shortly before."""
        return not any(a - 3 * self.lease_s < s < b for s, words in self.story.deeds
                       if any(deed in words for deed in ("frozen", "wakes", "away")))

    def state_at(self, shard, s):
        """The row as it stood then, or None."""
        at = bisect.bisect_right(self.story.rows[shard], s, key=lambda look: look.s)
        return self.story.rows[shard][at - 1] if at else None

    def run(self, story):
        self.open(story)
        for shard, looks in sorted(story.rows.items()):
            self.first(shard, looks[0])
            for i in range(1, len(looks)):
                self.step(shard, looks[i - 1], looks[i])
        return self

    def step(self, shard, a, b):
        if not b.item:
            self.note("removed")
        elif not a.item:
            self.first(shard, b)
        else:
            self.change(shard, a, b)


class Kcl(Rules):
    owner = "leaseOwner"

    def __init__(self, lease_s, leader):
        super().__init__(lease_s)
        self.leader = leader  # KCL 3's

    def first(self, shard, look):
        item = look.item
        if text(item, "checkpoint") not in ("TRIM_HORIZON", "LATEST", "AT_TIMESTAMP") and not text(item, "leaseOwner"):
            self.say(shard, look, f"a lease begins at {text(item, 'checkpoint')}")
        self.note("made, with parents" if "parentShardId" in item else "made")

    def counts(self, s):
        """Leases of each worker that have not been silent for a lease."""
        n = defaultdict(int)
        for shard in self.story.rows:
            look = self.state_at(shard, s)
            if look and text(look.item, "leaseOwner") and s - self.moved(shard, s) <= self.lease_s:
                n[text(look.item, "leaseOwner")] += 1
        return n

    def moved(self, shard, s):
        """When its counter was last seen to move, before then."""
        looks = self.story.rows[shard]
        at = bisect.bisect_right(looks, s, key=lambda look: look.s) - 1
        while at > 0 and text(looks[at - 1].item, "leaseCounter") == text(looks[at].item, "leaseCounter"):
            at -= 1
        return looks[at].s if at >= 0 else -1e18

    def change(self, shard, a, b):
        was, now = text(a.item, "leaseOwner"), text(b.item, "leaseOwner")
        by, by_now = text(a.item, "checkpointOwner"), text(b.item, "checkpointOwner")
        beats = int(text(b.item, "leaseCounter")) - int(text(a.item, "leaseCounter"))
        done, done_now = (place(x.item, "checkpoint", "checkpointSubSequenceNumber") for x in (a, b))
        if not any(is_theirs(name) for name in (was, now, by, by_now)):
            return
        if beats < 0:
            self.say(shard, b, f"leaseCounter goes from {text(a.item, 'leaseCounter')} to {text(b.item, 'leaseCounter')}")
        if done_now < done:
            self.say(shard, b, f"the checkpoint goes back from {done} to {done_now}")
        if done_now != done and beats < 1:
            self.say(shard, b, "a checkpoint without its count")
        if by or by_now:
            self.hand_over(shard, b, (was, by), (now, by_now), beats)
        elif was == now:
            self.kept(shard, a, b, beats, done, done_now)
        elif not now:
            self.given_back(shard, b, was, beats)
        elif is_theirs(now):
            self.taken(shard, a, b, was, now, beats, done != done_now)

    def kept(self, shard, a, b, beats, done, done_now):
        if beats == 0:
            grown = {name for name in b.item if b.item[name] != a.item.get(name)} | (set(a.item) - set(b.item))
            allowed = {"childShardIds", "startingHashKey", "endingHashKey", "pendingCheckpoint", "pendingCheckpointState",
                       "pendingCheckpointSubSequenceNumber", "entityType"}
            if not grown <= allowed:
                self.say(shard, b, f"changed without its count: {sorted(grown - allowed)}")
            return self.note("described")
        if done == done_now and text(a.item, "ownerSwitchesSinceCheckpoint") != text(b.item, "ownerSwitchesSinceCheckpoint"):
            if text(b.item, "ownerSwitchesSinceCheckpoint") != "0":
                self.say(shard, b, "another number of switches under one owner")
        since = self.story.rows[shard][0].s if a is self.story.rows[shard][0] else a.s
        most = (b.s - since + LATE_S) * (3 / (self.lease_s - 0.075) + 1) + 3 + self.missed(shard, a)
        if beats > most:
            self.say(shard, b, f"{beats} beats in {b.s - since:.1f} s")
        end = done_now[0] == ORDER["SHARD_END"]
        if done_now != done:
            self.note("ended" if end else "saved")
        elif end:
            self.note("renewed behind its end")
        else:
            self.note("renewed")

    def missed(self, shard, look):
        """Renewals that were due when its owner stood still, until shortly before that look: its timer is Java's
        scheduleAtFixedRate (LeaseCoordinator), which makes up for each at once."""
        looks = [x for x in self.story.rows[shard] if look.s - LATE_S <= x.s <= look.s]
        before = [x for x in self.story.rows[shard] if x.s < looks[0].s and x.item][-1:]
        stood = looks[0].s - before[0].s if before else 0
        return stood * 3 / (self.lease_s - 0.075) if stood > self.lease_s else 0

    def given_back(self, shard, look, was, beats):
        if is_theirs(was) and not self.leader:
            self.say(shard, look, f"{was} gives a lease back; KCL 2 lets it run out")
        elif is_theirs(was):
            if beats < 1:
                self.say(shard, look, "given back without its count")
            self.note("given back")

    def taken(self, shard, a, b, was, now, beats, saved):
        if beats < 1:
            self.say(shard, b, f"{now} takes it without its count")
        if not was:
            return self.note("taken free")
        silent = b.s - self.moved(shard, a.s)
        dead = silent > self.lease_s - LATE_S / 2 and silent > self.lease_s * 0.8
        if self.leader and not dead:
            return self.note("handed over between two looks")
        if not saved and text(a.item, "ownerSwitchesSinceCheckpoint") == text(b.item, "ownerSwitchesSinceCheckpoint"):
            self.say(shard, b, f"{now} takes it from {was}, and that is not counted as a switch")
        if dead:
            return self.note("taken from the silent", silent / self.lease_s)
        if not is_theirs(was) and self.leaves(was, a, b):
            return self.note("given back and taken between two looks")
        self.stolen(shard, a, b, was, now)

    def leaves(self, worker, a, b):
        """It was told to stop between two looks: ours give back what they have, at once."""
        name = worker.split(".")[0] + " leaves"
        return any(a.s < s < b.s and words.startswith(name) for s, words in self.story.deeds)

    def stolen(self, shard, a, b, was, now):
        """The thief has too few, the victim has at least its share, and nothing else was to be had; within what an observer
        knows: who else took something meanwhile may have been unknown to the thief."""
        before = [self.counts(b.s - 0.01 - self.lease_s * i / 4) for i in range(9)]
        fits = False
        for n in before:
            workers, leases = len(set(n) | {now}), sum(n.values())
            target = 1 if workers >= leases else -(-leases // workers)
            fits |= n[now] < target <= n[was]
        if not fits:
            self.say(shard, b, f"{now} steals from {was} with {dict(before[0])}")
        last = [s for s, name, _ in self.thefts if name == now]
        if last and b.s - last[-1] < 2 * self.lease_s - LATE_S:
            self.say(shard, b, f"{now} steals twice within {b.s - last[-1]:.1f} s")
        self.thefts.append((b.s, now, shard))
        self.note("stolen")

    def hand_over(self, shard, look, was, now, beats):
        """Pairs of (leaseOwner, checkpointOwner)."""
        if not self.leader:
            return self.say(shard, look, f"checkpointOwner with KCL 2: {was} to {now}")
        if was[1] == "" and now[1]:
            if now[1] != was[0] and was[0]:
                self.say(shard, look, f"a hand-over from {was[0]} names {now[1]}")
            return self.note("hand-over begun")
        if was[1] and now[1] == "":
            if beats < 1:
                self.say(shard, look, f"a hand-over ended without its count: {was} to {now}")
            if now[0] == was[0]:
                return self.note("hand-over ended")
            if now[0] == was[1]:
                return self.note("hand-over taken back")
            return self.note("hand-over ended by another") if now[0] else self.say(shard, look, f"{was} to {now}")
        if was == now:
            return self.note("renewed in a hand-over")
        return self.note("hand-overs one behind the other")

    def open(self, story):
        super().open(story)
        self.thefts = []

    def run(self, story):
        self.open(story)
        changes = []
        for shard, looks in story.rows.items():
            self.first(shard, looks[0])
            changes += [(looks[i].s, shard, looks[i - 1], looks[i]) for i in range(1, len(looks))]
        for _, shard, a, b in sorted(changes, key=lambda change: change[:2]):  # thefts in their order
            self.step(shard, a, b)
        return self


def go_time(words):
    """Seconds of a time as Go writes it."""
    whole, _, fraction = words.rstrip("Z").partition(".")
    s = datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc).timestamp()
    return s + (float("0." + fraction) if fraction else 0)


class Vmware(Rules):
    owner = "AssignedTo"

    def first(self, shard, look):
        self.note("made, with a parent" if "ParentShardId" in look.item else "made")
        self.was_seen(shard, look)
        self.shape(shard, look)

    def shape(self, shard, look):
        extra = set(look.item) - {"ShardID", "AssignedTo", "LeaseTimeout", "Checkpoint", "ParentShardId", "ClaimRequest"}
        kinds = {next(iter(value)) for value in look.item.values()}
        if extra or kinds != {"S"}:
            self.say(shard, look, f"a row of another shape: {sorted(extra)} {sorted(kinds)}")

    def change(self, shard, a, b):
        was, now = text(a.item, "AssignedTo"), text(b.item, "AssignedTo")
        claim, claim_now = text(a.item, "ClaimRequest"), text(b.item, "ClaimRequest")
        back = self.had(shard, now)
        from_memory = self.was_seen(shard, b)
        if not any(is_theirs(name) for name in (was, now, claim_now)):
            return
        time, time_now = (go_time(text(x.item, "LeaseTimeout")) if text(x.item, "LeaseTimeout") else 0 for x in (a, b))
        done, done_now = (place(x.item, "Checkpoint") for x in (a, b))
        if is_theirs(now):
            self.shape(shard, b)
        if done_now < done:
            # A renewal that was on its way with the number before, or one who was frozen.
            if not is_theirs(now):
                self.say(shard, b, f"the checkpoint goes back from {done[0]} to {done_now[0]} under {now or 'nobody'}")
            self.note("checkpoint put back")
        if is_theirs(now) and time_now != time and done_now >= done and not from_memory:
            ahead = time_now - b.s
            if not self.lease_s - (b.s - a.s) - LATE_S <= ahead <= self.lease_s + LATE_S and self.awake_s(a.s, b.s):
                self.say(shard, b, f"a time {ahead:.1f} s ahead")
        if claim_now and claim_now != claim and is_theirs(claim_now):
            self.claimed(shard, a, b, claim, claim_now, now)
        if was == now:
            return self.kept(shard, b, was, claim, claim_now, time, time_now, done, done_now)
        if not now:
            return self.note("given back, claimed" if claim_now else "given back")
        if is_theirs(now):
            self.taken(shard, a, b, was, now, claim, time, from_memory, back)

    def was_seen(self, shard, look):
        """Its owner has written that time before: this is what a worker still had in its memory."""
        pair = shard, text(look.item, "AssignedTo"), text(look.item, "LeaseTimeout")
        known = pair in self.times
        self.times.add(pair)
        return known

    def had(self, shard, worker):
        return any((of, owner) == (shard, worker) for of, owner, _ in self.times)

    def open(self, story):
        super().open(story)
        self.times = set()  # (shard, owner, time) that were seen
        self.late = {}  # shard -> (who lost it because he was late, when)

    def claimed(self, shard, a, b, claim, claim_now, owner):
        if owner == claim_now:
            return self.say(shard, b, f"{claim_now} claims what is its own")
        # A checkpoint is put as a whole row and erases the claim, so the next one may come within the same look.
        saved = any(text(a.item, name) != text(b.item, name) for name in ("LeaseTimeout", "Checkpoint"))
        if claim and b.s < go_time(text(a.item, "LeaseTimeout")) + CLAIM_S and not saved:
            self.say(shard, b, f"{claim_now} claims over the claim of {claim}")
        n = defaultdict(int)
        for other in self.story.rows:
            look = self.state_at(other, a.s)
            if look and text(look.item, "AssignedTo") and text(look.item, "Checkpoint") != "SHARD_END":
                n[text(look.item, "AssignedTo")] += 1
        if n[claim_now] > max([count for name, count in n.items() if name != claim_now], default=0) + 1:
            self.say(shard, b, f"{claim_now} claims with {dict(n)}")
        return self.note("claimed")

    def kept(self, shard, look, owner, claim, claim_now, time, time_now, done, done_now):
        if not is_theirs(owner):
            return
        if time_now < time - 0.001:
            self.note("time put back")
        if done_now != done:
            self.note("ended" if done_now[0] == ORDER["SHARD_END"] else "saved")
        if claim and not claim_now:
            self.note("claim erased")
        if time_now > time:
            self.note("renewed", (time_now - time) / self.lease_s)

    def taken(self, shard, a, b, was, now, claim, time, from_memory, back):
        if from_memory:  # a checkpoint without a condition, by one who has lost it
            return self.note("put back from memory")
        if claim and claim != now and b.s < time + CLAIM_S - LATE_S:
            self.say(shard, b, f"{now} takes what {claim} has claimed")
        if not was:
            return self.note("taken as claimed" if claim == now else "taken free")
        if b.s + 0.3 >= time:
            self.late[shard] = (was, b.s)
            return self.note("taken from the late", (b.s - time) / self.lease_s)
        # One who was late himself goes on until his next renewal: saved without a condition the row is his own again, and
        # within the same look he has renewed it. He is late where he waits for parents: 10 s between looks, without a renewal.
        late, since = self.late.get(shard, ("", 0))
        if now == late and b.s - since < self.lease_s:
            return self.note("put back from memory")
        # One who was frozen: and renewed, or given back and taken; or taken from it, its time long over.
        if (back or place(b.item, "Checkpoint") < place(a.item, "Checkpoint")) and not self.awake_s(a.s, b.s):
            return self.note("put back from memory")
        leaves = any(a.s - LATE_S < s < b.s and "leave" in words for s, words in self.story.deeds)
        leaves |= any(a.s - 1 < s + 1 and s < b.s and (worker, of) == (was, shard) for s, worker, of in self.story.released)
        if not (claim or leaves or not is_theirs(was)):
            self.say(shard, b, f"{now} takes it from {was} {time - b.s:.1f} s before its time")
        return self.note("given back and taken between two looks")


class Motorway(Rules):
    """Its workers have a UUID for a name, the model's are a and a number."""

    OURS = {"sloop_done", "sloop_oldest", "sloop_taken", "sloop_parents"}

    @staticmethod
    def is_theirs(name):
        return name not in ("", "nobody") and re.search(r"\.[0-9a-f]{16}$", name) is None

    def first(self, shard, look):
        item = look.item
        if self.is_theirs(text(item, "worker_id")):
            if set(item) != {"shard_id", "worker_id", "heartbeat", "checkpoint"}:
                self.say(shard, look, f"a new row of another shape: {sorted(item)}")
            if "N" not in item["checkpoint"] and int(text(item, "heartbeat")) < 2:
                self.say(shard, look, f"a new row begins at {text(item, 'checkpoint')}")
            self.note("made")

    def change(self, shard, a, b):
        was, now = text(a.item, "worker_id"), text(b.item, "worker_id")
        beats = int(text(b.item, "heartbeat")) - int(text(a.item, "heartbeat"))
        done, done_now = (int(text(x.item, "checkpoint")) for x in (a, b))
        if not self.is_theirs(now):
            return
        kept = {name: a.item[name] for name in self.OURS & set(a.item)}
        if "N" in b.item["checkpoint"] and done_now:
            self.say(shard, b, f"a checkpoint that is the number {done_now}")
        if was == now and beats < 0 and b.s - a.s > 2 * self.lease_s - LATE_S:
            return self.note("taken from itself")
        if was == now:
            if kept != {name: b.item[name] for name in self.OURS & set(b.item)}:
                self.say(shard, b, "it loses what it does not know")
            if beats < 1 or beats > (b.s - a.s + LATE_S) / 0.9 + 1:
                self.say(shard, b, f"{beats} beats in {b.s - a.s:.1f} s")
            if done_now < done:
                self.say(shard, b, f"the checkpoint goes back from {done} to {done_now}")
            return self.note("saved" if done_now > done else "beats")
        if not kept and done_now == 0 and done:
            return self.note("put anew")
        if done_now < done:
            self.say(shard, b, f"{now} takes it and the checkpoint goes back from {done} to {done_now}")
        if int(text(b.item, "heartbeat")) > (b.s - a.s + LATE_S) / 0.9 + 1:
            self.say(shard, b, f"{now} begins with the tick {text(b.item, 'heartbeat')}")
        silent = b.s - a.s
        once = silent > self.lease_s - LATE_S and self.waited_before(shard, a)
        if was in ("", "nobody"):
            if silent < 2 * self.lease_s - LATE_S and not once and not self.uneven(shard, a, was, now):
                self.say(shard, b, f"{now} takes what was free for {silent:.1f} s")
            return self.note("taken free", silent / self.lease_s)
        if silent > 2 * self.lease_s - LATE_S or once:
            return self.note("taken from the silent", silent / self.lease_s)
        looks = self.story.rows[shard]
        began = looks.index(a)
        while began and text(looks[began - 1].item, "worker_id") == was:
            began -= 1
        if done == done_now and began and b.s - looks[began].s < self.lease_s + LATE_S:
            # A claim asks for the checkpoint alone, and of the two waits before it one may lie before the other's claim.
            return self.note("taken one after the other")
        if not self.uneven(shard, a, was, now):
            self.say(shard, b, f"{now} takes it from {was}, seen {silent:.1f} s before, and shares are even")
        return self.note("stolen")

    def waited_before(self, shard, a):
        """A thread that has found a shard silent for one wait stands in line behind the others of its process, each of which
        waits anew; the shard may have had owners meanwhile. Then it waits once more."""
        looks = [look for look in self.story.rows[shard] if look.s <= a.s]
        return any(two.s - one.s > self.lease_s - LATE_S for one, two in zip(looks, looks[1:]))

    def uneven(self, shard, a, was, now):
        """At some moment of the last three looks of a worker that takes, within what an observer knows."""
        for back in range(0, 121):
            s = a.s + LATE_S - back * self.lease_s / 40
            n = defaultdict(int)
            for other in self.story.rows:
                look = self.state_at(other, s)
                if look and look.item:
                    n[text(look.item, "worker_id")] += 1
            for active in range(1, len(set(n) | {now}) + 1):
                best = sum(n.values()) // active
                if (n[was] > best or (not n[now] and n[was] > 1)) and n[now] < best:
                    return True
        return False


class Kinsumer(Rules):
    """Its clients have a UUID for an id, the model's a letter before their name."""

    SHAPE = {"Shard": "S", "SequenceNumber": "S NULL", "LastUpdate": "N", "LastUpdateRFC": "S", "OwnerID": "S NULL",
             "OwnerName": "S NULL", "Finished": "N NULL", "FinishedRFC": "S NULL"}

    @staticmethod
    def is_theirs(name):
        return name != "" and re.search(r"\.[0-9a-f]{16}$", name) is None

    @staticmethod
    def owner_of(item):
        return item.get("OwnerID", {}).get("S", "")

    def shape(self, shard, look):
        for name, value in look.item.items():
            if next(iter(value)) not in self.SHAPE.get(name, "").split() or value == {"S": ""}:
                self.say(shard, look, f"{name} is {value}")

    @staticmethod
    def number(item):
        at = item.get("SequenceNumber", {}).get("S", "")
        return -1 if at in ("", "LATEST") else int(at)

    def first(self, shard, look):
        if self.is_theirs(self.owner_of(look.item)):
            self.shape(shard, look)
            self.note("made")

    def change(self, shard, a, b):
        was, now = self.owner_of(a.item), self.owner_of(b.item)
        if not self.is_theirs(now) and not (self.is_theirs(was) and not now):
            return
        self.shape(shard, b)
        time, time_now = (int(text(x.item, "LastUpdate")) / 1e9 for x in (a, b))
        done, done_now = (self.number(x.item) for x in (a, b))
        ended, ended_now = ("N" in x.item.get("Finished", {}) for x in (a, b))
        # A capture that was on its way may come behind the release that let it in.
        if time_now < time - (0 if was == now else LATE_S + THROTTLED_S) and self.awake_s(a.s, b.s):
            self.say(shard, b, f"LastUpdate goes back by {time - time_now:.1f} s")
        if not a.s - LATE_S - THROTTLED_S < time_now < b.s + LATE_S and self.awake_s(a.s, b.s):
            self.say(shard, b, f"LastUpdate is {b.s - time_now:.1f} s old when it is written")
        if ended and not ended_now:
            self.say(shard, b, "a finished shard is not finished any more")
        if done_now < done and not self.stood_lately(shard, a, done_now):
            self.say(shard, b, f"SequenceNumber goes back from {done} to {done_now}")
        if done_now < done:
            self.note("checkpoint put back")
        if was == now:
            return self.kept(done, done_now, ended, ended_now, time, time_now)
        if not now:
            return self.note("given back, finished" if ended_now and not ended else "given back")
        self.taken(was, time_now - time, ended)

    def stood_lately(self, shard, a, done):
        """A row is put back as it was read a moment before."""
        return any(a.s - LATE_S < look.s <= a.s and self.number(look.item) <= done for look in self.story.rows[shard])

    def kept(self, done, done_now, ended, ended_now, time, time_now):
        if ended_now and not ended:
            return self.note("finished")
        if done_now > done:
            return self.note("saved")
        return self.note("given back and taken by the same" if time_now > time else "described")

    def taken(self, was, age_s, ended):
        if ended:
            return self.note("taken though it is finished")
        if not was:
            return self.note("taken free")
        if age_s > self.lease_s - 0.1:
            return self.note("taken from the late", age_s / self.lease_s)
        return self.note("given back and taken between two looks")  # or stolen: the rows of leases alone can't tell


KINDS = {"motorway": Motorway, "kinsumer": Kinsumer, "kcl-2": lambda lease_s: Kcl(lease_s, False), "kcl-3": lambda lease_s: Kcl(lease_s, True), "vmware-go-kcl": Vmware}


def table(kinds):
    lines = []
    for kind, values in sorted(kinds.items()):
        some = [value for value in values if value is not None]
        spread = f", in leases {min(some):.2f} to {max(some):.2f}, median {statistics.median(some):.2f}" if some else ""
        lines.append(f"     {len(values):6} {kind}{spread}")
    return "\n".join(lines)


def replay(kind, lease_s, paths):
    """(what was done, what was wrong)"""
    kinds, wrong = defaultdict(list), []
    for path in paths:
        rules = KINDS[kind](lease_s).run(read(path))
        for name, values in rules.kinds.items():
            kinds[name] += values
        wrong += [f"{path}: {words}" for words in rules.wrong]
    return kinds, wrong


def main():
    parser = argparse.ArgumentParser(description="Holds what was done to rows against a system's rules.")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("lease_s", type=float)
    parser.add_argument("stories", nargs="+")
    parser.add_argument("--model", nargs=2, metavar=("LEASE_S", "STORY"), help="the model's, with its lease")
    options = parser.parse_args()
    kinds, wrong = replay(options.kind, options.lease_s, options.stories)
    print(f"{options.kind}: {sum(map(len, kinds.values()))} changes, {len(wrong)} wrong\n{table(kinds)}")
    if options.model:
        model, wrong_model = replay(options.kind, float(options.model[0]), options.model[1:])
        print(f"its model: {sum(map(len, model.values()))} changes, {len(wrong_model)} wrong\n{table(model)}")
        wrong += wrong_model
        wrong += [f"the model never does this: {name}" for name in sorted(set(kinds) - set(model))]
    for words in wrong[:40]:
        print(f"     {words}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
