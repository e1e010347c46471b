"""The judge of daemons' lines (multilang_lines.py) judged: a talk as it should be passes, and each way in which a daemon could
go wrong is seen. Talks are written by hand, in files as pipes.py writes them."""

import base64
import json
import os
import tempfile

import multilang_lines
from peers import harness  # puts ../process on the path

from harness import Tests, expect

SHARD = "shardId-000000000000"
PUT = {(SHARD, n): (f"k{n}", b"r%d" % n) for n in (10, 20, 30, 40)}


def to(action, **more):
    return ">", {"action": action, **more}


def initialize(place):
    word, sub = place
    return to("initialize", shardId=SHARD, sequenceNumber=str(word), subSequenceNumber=sub)


def records(*numbers, data=None):
    return to("processRecords", millisBehindLatest=0, records=[
        {"data": base64.b64encode(data or PUT[(SHARD, n)][1]).decode(), "partitionKey": PUT[(SHARD, n)][0],
         "sequenceNumber": str(n), "approximateArrivalTimestamp": 1, "subSequenceNumber": 0, "action": "record"}
        for n in numbers])


def asks(number=None):
    return "<", {"action": "checkpoint", "sequenceNumber": number}


def hears(error=None):
    return to("checkpoint", sequenceNumber=None, subSequenceNumber=None, error=error)


GOOD = [[initialize(multilang_lines.START), records(10, 20), asks(), hears(), records(30)],
        [initialize((20, 0)), records(30, 40), asks("30"), hears(), asks("7"), hears("IllegalArgumentException"), asks()],
        [initialize((40, 0)), to("shardEnded"), asks(), hears()]]


def judged(talks, row):
    """The faults of lives one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        ns = 0
        for i, talk in enumerate(talks):
            with open(os.path.join(folder, str(i)), "wb") as file:
                file.write(b"0 ! 1\n")
                for mark, message in talk:
                    ns += 1
                    file.write(f"{ns} {mark} {json.dumps(message, separators=(',', ':'))}\n".encode())
                file.write(b"99 < {\"cut")
        return multilang_lines.judge(multilang_lines.lives(folder), PUT, {SHARD: row})


def good():
    faults, given, repeats = judged(GOOD, multilang_lines.END)
    expect((faults, given, repeats) == ([], 5, 1), f"{faults} {given} {repeats}")
    faults, _, _ = judged(GOOD[:2], (30, 0))
    expect(not faults, faults)
    faults, _, _ = judged(GOOD[:2], (40, 0))  # asked for, and nobody was left to hear the answer
    expect(not faults, faults)


def bad(what, talks, row=multilang_lines.END):
    faults, _, _ = judged(talks, row)
    expect(any(what in fault for fault in faults), f"{what}: {faults}")


def every_fault():
    first, second, third = GOOD
    bad("begins at", [first, [initialize((30, 0)), records(40)], third])
    bad("begins at", [first, [initialize(multilang_lines.START), records(10, 20, 30, 40)], third])
    bad("is given (40, 0) where (30, 0) was next", [first, [initialize((20, 0)), records(40), asks(), hears()], third])
    bad("is given (30, 0) where (40, 0) was next", [first, [initialize((20, 0)), records(30, 30, 40), asks(), hears()], third])
    bad("not the key and the data", [[initialize(multilang_lines.START), records(10, data=b"other")], *GOOD])
    bad("records were given to nobody", [first], (20, 0))
    bad("the end is told", [[*first[:-1], to("shardEnded"), asks(), hears()]])
    bad("the row says", GOOD, (40, 0))
    bad("the row says", GOOD[:2], (20, 0))
    bad("the row says", GOOD[:2], (7, 0))
    bad("the row says", GOOD[:2], multilang_lines.START)


if __name__ == "__main__":
    tests = Tests()
    tests.run("a talk as it should be", good)
    tests.run("each fault is seen", every_fault)
    tests.end()
