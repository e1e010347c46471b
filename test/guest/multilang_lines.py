"""What went over the pipes between a daemon and its processors (peers/multilang/pipes.py), judged by the rules of the KCL:
where a life begins, that it is given each record behind that place and none twice, and what its checkpoints mean. Shares no
code with ours, and holds for Amazon's daemon as for ours."""

import base64
import json
import os
import re

RECORDS = b'{"action":"processRecords",'
START, END = ("TRIM_HORIZON", 0), ("SHARD_END", 0)


class Life:
    """Of a processor: the lines of its file, (ns, mark, line)."""

    def __init__(self, path):
        self.daemon = os.path.basename(os.path.dirname(path))
        self.pid, self.lines, self.shard = 0, [], None
        with open(path, "rb") as file:
            for raw in file:
                if not raw.endswith(b"\n"):
                    break  # it is being written, or was when it was killed
                ns, mark, line = raw[:-1].split(b" ", 2)
                if mark == b"!":
                    self.pid = int(line)
                elif line:
                    self.lines.append((int(ns), mark.decode(), line))
        for _, mark, line in self.lines[:1]:
            first = json.loads(line)
            if mark == ">" and first["action"] == "initialize":
                self.shard = first["shardId"]

    def records(self):
        return [r for _, mark, line in self.lines if mark == ">" and line.startswith(RECORDS)
                for r in json.loads(line)["records"]]

    def actions(self):
        return [json.loads(line)["action"] for _, mark, line in self.lines if mark == ">"]


def lives(*folders):
    """All that have begun, in the order they did."""
    found = []
    for folder in folders:
        for name in os.listdir(folder):
            life = Life(os.path.join(folder, name))
            if life.shard:
                found.append(life)
    return sorted(found, key=lambda life: life.lines[0][0])


def place_of(record):
    return int(record["sequenceNumber"]), record["subSequenceNumber"]


class Shard:
    """What was put there, and what is known of its checkpoint."""

    def __init__(self, name, places):
        self.name, self.places = name, places  # in order
        self.settled, self.open = START, set()
        self.given, self.repeats = set(), 0
        self.faults = []

    def fault(self, life, what):
        self.faults.append(f"{self.name} (processor {life.pid} of {life.daemon}): {what}")

    def behind(self, place):
        """The index of the first record behind that place."""
        if place == START:
            return 0
        return next((i for i, p in enumerate(self.places) if p > place), len(self.places))


class Talk:
    """A life as far as it was heard."""

    def __init__(self, shard, life):
        self.shard, self.life = shard, life
        self.begun = self.last = None
        self.at = 0  # the index of the record that has to come next
        self.asked, self.action = None, None

    def initialize(self, m):
        word, sub = m["sequenceNumber"], m["subSequenceNumber"]
        place = (int(word), sub) if word.isdigit() else (word, sub)
        if place != self.shard.settled and place not in self.shard.open:
            self.shard.fault(self.life, f"begins at {place}, and the last checkpoint was {self.shard.settled} "
                                        f"(or {self.shard.open})")
        self.shard.settled, self.shard.open = place, set()
        self.begun = self.last = place
        self.at = self.shard.behind(place)

    def records(self, m):
        for r in m["records"]:
            place = place_of(r)
            wanted = self.shard.places[self.at] if self.at < len(self.shard.places) else None
            if place != wanted:
                self.shard.fault(self.life, f"is given {place} where {wanted} was next")
            self.at = self.shard.behind(place)
            self.shard.repeats += place in self.shard.given
            self.shard.given.add(place)
            self.last = place

    def ask(self, m):
        number, sub = m.get("sequenceNumber"), m.get("subSequenceNumber")
        if number is None:
            self.asked = END if self.action == "shardEnded" else self.last
        elif str(number).isdigit():
            self.asked = (int(number), int(sub or 0))
        else:
            self.asked = (number, int(sub or 0))
        self.shard.open.add(self.asked)

    def answer(self, m):
        self.shard.open.discard(self.asked)
        if m["error"] is None:
            if self.shard.settled != END:
                self.shard.settled = self.asked
        self.asked = None

    def take(self, mark, line):
        try:
            m = json.loads(line)
        except ValueError:
            return  # a processor may print anything
        if mark == "<":
            if m.get("action") == "checkpoint":
                self.ask(m)
            return
        if m["action"] == "checkpoint":
            self.answer(m)
            return
        self.action = m["action"]
        if self.action == "initialize":
            self.initialize(m)
        elif self.action == "processRecords":
            self.records(m)
        elif self.action == "shardEnded" and self.at < len(self.shard.places):
            self.shard.fault(self.life, f"the end is told, and {len(self.shard.places) - self.at} records were not")


def judge(all_lives, put, rows):
    """put: {(shard, sequence): (key, data)}, or {(shard, sequence, sub): ...}. rows: {shard: (checkpoint, sub)} of the lease
    table once all is at rest. Returns (faults, records given, repeats)."""
    wanted = {(p[0], (p[1], p[2] if len(p) > 2 else 0)): value for p, value in put.items()}
    shards = {}
    for name, place in sorted(wanted):
        shards.setdefault(name, Shard(name, [])).places.append(place)
    talks, events, faults = {}, [], []
    for life in all_lives:
        shard = shards.setdefault(life.shard, Shard(life.shard, []))
        talks[id(life)] = Talk(shard, life)
        events += [(ns, id(life), mark, line) for ns, mark, line in life.lines]
        for r in life.records():
            told = (r["partitionKey"], base64.b64decode(r["data"]))
            if wanted.get((life.shard, place_of(r)), told) != told:
                faults.append(f"{life.shard} {place_of(r)}: not the key and the data that were put")
    for _, life, mark, line in sorted(events, key=lambda e: e[0]):
        talks[life].take(mark, line)
    for shard in shards.values():
        faults += shard.faults
        missing = set(shard.places) - shard.given
        if missing:
            faults.append(f"{shard.name}: {len(missing)} of {len(shard.places)} records were given to nobody, as {min(missing)}")
        row = rows.get(shard.name)
        if row is not None and row != shard.settled and row not in shard.open:
            faults.append(f"{shard.name}: the row says {row}, the processors' last checkpoint is {shard.settled}")
    return faults, sum(len(s.given) + s.repeats for s in shards.values()), sum(s.repeats for s in shards.values())


def told(life):
    """The lines to the processor, as they do not depend on how the records came in lists, nor on time."""
    lines, records = [], []
    for _, mark, line in life.lines:
        if mark != ">":
            continue
        match = re.fullmatch(rb'(\{"action":"processRecords","records":\[)(.*)(\],"millisBehindLatest":)(?:\d+|null)\}', line)
        if match:
            records.append(match[2])
            line = match[1] + b"..." + match[3] + b"...}"
            if line in lines:
                continue
        lines.append(line)
    return lines, b",".join(filter(None, records))
