"""stream-tail --migrate of an application from before leases were spread over partition keys: to one whose leases are spread,
and on from there. What counts is where the rows lie, and that a reader of the target goes on where the old one was: together
every record comes once. SLOOP_BIN names the program."""

import json

from box import Box, NO_LIMITS
from command import check, equal, main, test

SHARDS = 1100  # numbers 0 to 511 lie under the first key, those to 1023 under the next one, the others under a third
ALL_COPIED = f"{SHARDS} copied, 0 were there already"
READERS = ("-X", "lease_ms=3000", "-X", "checkpoint_ms=500", "-o", "oldest")


def keys_of(box, app):
    """The partition key and the letter of each shard's row of leases."""
    found, start = {}, {}
    while True:
        page = box.dynamodb("Scan", TableName="sloop", **start)
        for row in page["Items"]:
            prefix, letter, name = row["row"]["S"].split("/")[0], *row["row"]["S"].split("/")[-2:]
            if row["app"]["S"].partition("+")[0] == app and letter in "ls" and name.startswith("shardId-"):
                check(name not in found, app, name, "is there twice")
                found[name] = (row["app"]["S"].partition("+")[2], letter, prefix, row)
        if "LastEvaluatedKey" not in page:
            return found
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def one_key(box, app):
    """The rows of an application as the former version has them: one key, one letter, and not a word of keys."""
    rows = keys_of(box, app)
    for name, (key, letter, prefix, row) in rows.items():
        if not key:
            continue
        equal(letter, "s")
        box.dynamodb("PutItem", TableName="sloop", Item={**row, "app": {"S": app}, "row": {"S": f"{prefix}/l/{name}"}})
        box.dynamodb("DeleteItem", TableName="sloop", Key={"app": row["app"], "row": row["row"]})
    prefix = next(iter(rows.values()))[2]
    lead = box.dynamodb("GetItem", TableName="sloop", Key={"app": {"S": app}, "row": {"S": f"{prefix}/lead"}})["Item"]
    lead["fmt"] = {"N": "1"}
    del lead["keys"], lead["block"]
    box.dynamodb("PutItem", TableName="sloop", Item=lead)
    for name, (key, letter, _, _) in keys_of(box, app).items():
        equal((key, letter), ("", "l"), name)


def where(number):
    n = number // 512 % 16
    return (str(n), "s") if n else ("", "l")


def spread(box, app):
    rows = keys_of(box, app)
    equal(len(rows), SHARDS, app)
    for name, (key, letter, _, _) in rows.items():
        equal((key, letter), where(int(name[8:])), app, name)


def read(box, app, n):
    r = box.tail("-J", "-G", app, *READERS, "-c", str(n), "demo", limit=120)
    equal(r.code, 0, app, r.err)
    got = [json.loads(line)["payload"] for line in r.out.splitlines()]
    equal(len(got), n, app)
    return got


def copied(box, origin, target, said):
    r = box.tail("--migrate", origin, target, "-X", "lease_ms=2000", "--write", "demo", limit=120)
    equal(r.code, 0, r.err, r.out[-300:])
    check(r.out.endswith(f"\n{said}\n".encode()), r.out[-300:])


@test
def an_application_from_before_is_copied_to_spread_keys_and_both_go_on():
    with Box(SHARDS, *NO_LIMITS) as box:
        first = [text for _, _, text in box.put(400)]
        got = read(box, "old", 400)
        equal(sorted(got), sorted(first))
        one_key(box, "old")
        copied(box, "sloop:old", "sloop:new", ALL_COPIED)
        spread(box, "new")
        copied(box, "sloop:old", "sloop:new", f"all {SHARDS} are there already")  # the same again finds all of it, under its keys
        more = [text for _, _, text in box.put(400, start=400)]
        equal(sorted(read(box, "new", 400)), sorted(more))
        spread(box, "new")
        equal(sorted(read(box, "old", 400)), sorted(more))
        for name, (key, letter, _, _) in keys_of(box, "old").items():
            equal((key, letter), ("", "l"), "old", name)
        copied(box, "sloop:new", "sloop:newer", ALL_COPIED)
        spread(box, "newer")


main()
