"""A day of a table's rollovers, read by the built command: the sandbox allows an account ten DescribeStream a second,
as the service does, and refuses what is more."""

import json
import os
import sys
import time
from collections import Counter

from box import Box
from command import check, equal, main, test

PARTITIONS, ROLLOVERS, EACH = 60, 6, 20
PAGES = -(-PARTITIONS * (ROLLOVERS + 1) // 100)


def describes(box):
    with_errors = json.loads(box.admin("/_sandbox/stats", method="GET"))["operations"]["DynamoDBStreams.DescribeStream"]
    return with_errors["calls"], with_errors["errors"]


def a_day(box, table):
    """Writes and rolls; returns the keys."""
    box.admin(f"/_sandbox/table?name={table}&partitions={PARTITIONS}&view=NEW_AND_OLD_IMAGES")
    keys = [f"{table}{i}" for i in range(ROLLOVERS * EACH)]
    for r in range(ROLLOVERS):
        images = ('{"id":{"S":"%s"}}' % key for key in keys[r * EACH:(r + 1) * EACH])
        box.admin(f"/_sandbox/change?table={table}", "\n".join(f"{i}\t-\t{i}" for i in images))
        box.admin(f"/_sandbox/roll?table={table}")
    return keys


def read(box, tables, *more):
    """All of them; returns the seconds it took."""
    keys = [key for table in tables for key in a_day(box, table)]
    begun = time.monotonic()
    done = box.tail("-q", *more, "-o", "oldest", "-c", str(len(keys)), "-f", "%k\\n", *(f"dynamodb:{t}" for t in tables),
                    limit=60)
    equal(done.code, 0, done.err)
    got = sorted(json.loads(line)["id"]["S"] if line.startswith("{") else line for line in done.out.decode().split())
    equal(got, sorted(keys))
    return time.monotonic() - begun


@test
def one_listing_tells_the_children_of_all_shards():
    with Box(1, "-X", "sandbox.roll_ms=0") as box:
        read(box, ["orders"])
        calls, errors = describes(box)
        equal(errors, 0)
        equal(calls, 1 + PAGES)  # a description, and the pages of the listing


@test
def tables_that_are_read_together_share_the_limit():
    with Box(1, "-X", "sandbox.roll_ms=0") as box:
        seconds = read(box, ["orders", "bills", "goods"])
        calls, errors = describes(box)
        equal(errors, 0)
        equal(calls, 3 * (1 + PAGES))
        check(seconds > calls // 10 - 1, seconds)


def keys_of_leases(box):
    """How many leases lie under each partition key."""
    rows = box.boto3("dynamodb").get_paginator("scan").paginate(TableName="sloop").search("Items")
    return Counter(row["app"]["S"] for row in rows if row["row"]["S"].rpartition("/")[0].endswith(("/l", "/s")))


@test
def a_worker_of_a_fleet_asks_for_no_child_that_was_listed():
    with Box(1, "-X", "sandbox.roll_ms=0") as box:
        read(box, ["orders"], "-G", "billing")
        # Made in one moment they lie under all keys: one takes 1000 writes a second.
        leases = keys_of_leases(box)
        equal(leases.total(), PARTITIONS * (ROLLOVERS + 1))
        check(max(leases.values()) < leases.total() / 8, leases)
        calls, errors = describes(box)
        equal(errors, 0)
        check(calls <= 2 + 2 * PAGES, calls)  # on a slow machine it may list twice


main(at_once=3)
