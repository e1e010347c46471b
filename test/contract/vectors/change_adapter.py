"""change_adapter.py PROGRAM - a table's changes reach the children of --multilang as Amazon's adapter writes them.
change_adapter.json is what the jars wrote (change_adapter/make.py says which, and how it is made)."""
import base64
import json
import os
import sys

import oracle

LATER = ("laterMember", "LaterMember")  # the jars drop what their model does not know; ours hands it on


def without_later(record):
    for members in (record, record["dynamodb"]):
        for name in LATER:
            members.pop(name, None)
    return record


def without_empty_images(theirs, wire):
    """The adapter 2.x writes an empty image where the service sends none."""
    for name in ("NewImage", "OldImage"):
        if not wire["dynamodb"].get(name):
            assert theirs["dynamodb"].pop(name) == {}, theirs
    return theirs


def expect(ours, theirs, what):
    if ours != theirs:
        sys.exit("%s\n  ours:   %s\n  theirs: %s" % (what, json.dumps(ours), json.dumps(theirs)))


def main():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "change_adapter.json"), encoding="utf-8") as file:
        rows = json.load(file)
    answers = oracle.run(sys.argv[1], ([row["wire"]] for row in rows))
    for row, answer in zip(rows, answers):
        line = json.loads(row["1.6.1"]["line"])["records"][0]
        ours = json.loads(oracle.from_hex(answer))
        text = base64.b64decode(ours["data"]).decode()
        change, wire = json.loads(text), json.loads(row["wire"])
        expect(set(ours), set(line), "members of a record")
        for name in ("partitionKey", "subSequenceNumber", "action"):
            expect(ours[name], line[name], name)
        later = [name for name in LATER if name in row["wire"]]
        expect([name for name in LATER if name in text], later, "members that are handed on")
        expect(without_later(change), json.loads(row["1.6.1"]["data"]), "as 1.6.1: " + row["wire"])
        expect(change, without_empty_images(json.loads(row["2.0.1"]["data"]), wire), "as 2.0.1: " + row["wire"])
        # Without the keys' order, which Java's HashMap decides there, and the escapes, the bytes are the same.
        expect(len(text) if not later and "\\" not in text else 0,
               len(row["1.6.1"]["data"]) if not later and "\\" not in text else 0, "length: " + row["wire"])
    expect(len(rows) >= 8 and len(answers), len(rows), "records compared")
    print("%d changes are as dynamodb-streams-kinesis-adapter 1.6.1 and 2.0.1 wrote them" % len(rows))


main()
