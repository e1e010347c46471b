"""stream-tail --apps: the applications of a store, of every schema, held against the rows as boto3 and sqlite3 read them; and what
is said of an application that does not exist. SLOOP_BIN names the program."""

import json
import os
import sqlite3
import subprocess
import tempfile

from box import Box, NO_LIMITS
from command import check, end, equal, main, test, wait_until

SCHEMAS = ("sloop", "kcl", "vmware-go-kcl", "kinsumer", "motorway", "kcl-rb")


def read_once(box, app, schema, *more, streams=("demo",)):
    r = box.tail("-G", app, "-X", f"schema={schema}", "-o", "oldest", "-e", "-X", "poll_ms=200", *more, *streams, limit=60)
    equal(r.code, 0, app, r.err)


def apps(box, *more, code=0):
    r = box.tail("--apps", "-J", *more)
    equal(r.code, code, r.err)
    return {(a["app"], a["stream"]): a for a in map(json.loads, r.out.splitlines())}


def scan(box, table):
    items = box.boto3("dynamodb").scan(TableName=table, ConsistentRead=True)["Items"]
    return [{name: next(iter(value.values())) for name, value in item.items()} for item in items]


@test
def applications_of_every_schema():
    with Box(3, *NO_LIMITS) as box:
        r = box.tail("--apps")
        equal((r.code, r.out), (0, b""), r.err)
        check("there are no applications here" in r.err, r.err)
        box.make_stream("orders", 2)
        box.make_table("customers")  # a table that has no leases
        box.put(60)
        for schema in SCHEMAS:
            read_once(box, f"app-{schema}", schema)
        read_once(box, "multi", "kcl", streams=("demo", "orders"))
        worker = box.start("-J", "-G", "living", "-X", "worker=w", "-o", "oldest", "demo", stdout=subprocess.DEVNULL)
        try:
            wait_until(lambda: any(row["app"] == "living" and row.get("held") == "3" for row in scan(box, "sloop")), 30, "it reads")
            wait_until(lambda: apps(box)["living", "demo"]["behind_ms"] == 0, 20, "its lag")
            found = apps(box)
            equal(set(found), {("app-sloop", "demo"), ("living", "demo"), ("multi", "demo"), ("multi", "orders"),
                               *((f"app-{schema}", None) for schema in SCHEMAS[1:])})
            for schema in SCHEMAS:
                a = found[f"app-{schema}", "demo" if schema == "sloop" else None]
                equal((a["schema"], a["shards"], a["behind_ms"], a["error"]), (schema, 3, None, None))
                equal((a["workers"], a["state"]), (0, "stopped") if schema == "sloop" else (None, "unknown"), a)
            equal((found["multi", "demo"]["shards"], found["multi", "orders"]["shards"]), (3, 2))
            living = found["living", "demo"]
            equal((living["workers"], living["state"], living["shards"], living["table"]), (1, "works", 3, "sloop"))
            only = apps(box, "--store", "dynamodb:sloop")
            equal(set(only), {("app-sloop", "demo"), ("living", "demo")})
            text = box.tail("--apps").out.decode()
            equal(text.splitlines()[0].split(), "APPLICATION SCHEMA STREAM STATE WORKERS SHARDS LAG TABLE".split())
            equal(len(text.splitlines()), 1 + len(found))
            check("unknown  0 named       3  unknown  app-kcl" in text, text)
            r = box.tail("-G", "living", "--drain", "demo")
            equal(r.code, 0, r.err)
            equal(apps(box)["living", "demo"]["state"], "drained")
        finally:
            end(worker)


@test
def owners_are_counted_where_only_leases_name_them():
    with Box(4, *NO_LIMITS) as box:
        workers = [box.start("-J", "-G", "kcl-app", "-X", "schema=kcl", "-X", f"worker=w{i}", "-o", "oldest", "demo",
                             stdout=subprocess.DEVNULL) for i in range(2)]
        try:
            def owners():
                try:
                    return {row.get("leaseOwner") for row in scan(box, "kcl-app")} - {None}
                except Exception:  # there is no table yet; pylint: disable=broad-exception-caught
                    return set()
            wait_until(lambda: len(owners()) == 2, 40, "both have leases")
            a = apps(box)["kcl-app", None]
            equal((a["owners"], a["workers"], a["shards"]), (2, None, 4))
        finally:
            for worker in workers:
                end(worker)


@test
def shards_that_were_read_to_their_end():
    with Box(2, *NO_LIMITS) as box:
        for schema in ("sloop", "kcl"):
            read_once(box, f"app-{schema}", schema)
        shard = box.call("ListShards", StreamName="demo")["Shards"][0]
        low, high = (int(shard["HashKeyRange"][f"{end}HashKey"]) for end in ("Starting", "Ending"))
        box.call("SplitShard", StreamName="demo", ShardToSplit=shard["ShardId"], NewStartingHashKey=str((low + high) // 2))
        wait_until(lambda: len(box.call("ListShards", StreamName="demo")["Shards"]) == 4, what="the split")
        for schema in ("sloop", "kcl"):
            read_once(box, f"app-{schema}", schema)
        found = apps(box)
        equal((found["app-sloop", "demo"]["shards"], found["app-kcl", None]["shards"]), (3, 3))
        equal(sum(row.get("checkpoint") == "SHARD_END" for row in scan(box, "app-kcl")), 1)


@test
def a_file():
    with Box(2, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "leases.db")
        store = ("--store", f"sqlite:{file}")
        r = box.tail("--apps", *store)
        equal((r.code, r.out), (1, b""), r.err)
        check("there is no lease file" in r.err, r.err)
        check(not os.path.exists(file))
        read_once(box, "one", "sloop", *store)
        read_once(box, "two", "sloop", *store)
        read_once(box, "three", "kcl", *store)
        found = apps(box, *store)
        equal(set(found), {("one", "demo"), ("two", "demo"), ("three", None)})
        with sqlite3.connect(file) as db:
            equal({found[a]["table"] for a in found}, {name for (name,) in db.execute("SELECT name FROM tables")})
            names = {h for (h,) in db.execute("SELECT DISTINCT hash FROM rows WHERE tbl='leases'")}
        equal({app for app, stream in found if stream}, names)
        r = box.tail("-G", "tow", *store, "--leases", "demo")
        equal((r.code, r.out), (1, b""), r.err)
        check("did you mean two?" in r.err, r.err)


@test
def what_can_not_be_read():
    with Box(1, *NO_LIMITS) as box:
        for argv, code, words in ((("--store", "dynamodb:nothere"), 1, "nothere"), (("--store", "tape:1"), 2, "use dynamodb, dynamodb:TABLE"),
                                  (("--store", "memory"), 2, "memory of another process"), (("demo",), 2, "leave out \"demo\""),
                                  (("-G", "a"), 2, "-G can't be combined with --apps")):
            r = box.tail("--apps", *argv)
            equal((r.code, argv), (code, argv), r.err, r.out)
            check(words in r.err, argv, r.err)
        read_once(box, "one", "sloop")
        box.admin("/_sandbox/faults", "9 Scan * error AccessDeniedException:400\n")
        r = box.tail("--apps")
        equal(r.code, 1, r.err)
        check("table sloop can't be read" in r.err and b"unknown" in r.out, r.err, r.out)
        box.admin("/_sandbox/faults", "9 ListTables * error AccessDeniedException:400\n")
        r = box.tail("--apps")
        equal((r.code, r.out), (1, b""), r.err)
        check("the tables are not listed" in r.err and "dynamodb:ListTables" in r.err, r.err)


@test
def an_application_that_does_not_exist():
    with Box(2, *NO_LIMITS) as box:
        box.make_stream("orders", 1)
        for app in ("billing", "billing-test", "shipping"):
            read_once(box, app, "sloop")
        read_once(box, "kcl-billing", "kcl")
        for mode in (("--leases",), ("--leases", "-J"), ("--watch",), ("--explain", "0"), ("--release", "0"), ("--reset", "all", "--to", "oldest"),
                     ("--drain",), ("--undrain",), ("--pause", "0")):
            r = box.tail("-G", "biling", *mode, "demo")
            equal((r.code, r.out), (1, b""), mode, r.err)
            check("did you mean billing" in r.err, mode, r.err)
            r = box.tail("-q", "-G", "biling", *mode, "demo")
            check(r.code == 1 and "did you mean" not in r.err, mode, r.err)
        r = box.tail("-G", "warehouse", "--leases", "demo")
        equal(r.code, 1, r.err)
        check("there is no application warehouse that reads demo" in r.err and "did you mean" not in r.err, r.err)
        r = box.tail("-G", "billing", "--leases", "orders")  # it is there, and reads another stream
        equal(r.code, 1, r.err)
        check("there is no application billing that reads orders" in r.err, r.err)
        r = box.tail("-G", "kcl-biling", "-X", "schema=kcl", "--leases", "demo")
        equal(r.code, 1, r.err)
        check("did you mean kcl-billing" in r.err, r.err)
        r = box.tail("-G", "billing", "--leases", "demo")
        equal(r.code, 0, r.err)


main(at_once=3)
