"""stream-tail --migrate between every two forms of positions, both ways: rows as the programs of each system write them are
put by boto3, copied, read by boto3 and held against the rows that the target's own programs would have, and copied back.
What a form has no word for is refused, and nothing is written. SLOOP_BIN names the program."""

import json
import os
import tempfile
import threading

from box import Box, NO_LIMITS
from command import check, equal, main, test

MS = 1767323045000  # a moment of 2026


def null_if(value):
    return {"S": value} if value else {"NULL": True}


class Shard:
    def __init__(self, listed):
        self.id = listed["ShardId"]
        self.first = listed["SequenceNumberRange"]["StartingSequenceNumber"]
        self.range = tuple(listed["HashKeyRange"][f"{end}HashKey"] for end in ("Starting", "Ending"))
        self.parents = [listed[name] for name in ("ParentShardId", "AdjacentParentShardId") if name in listed]
        self.seq = str(int(self.first) + 7)  # of a record in it


# ---- forms: the row that says a position, and the part of a row that does ------------------------------------------------
#
# Positions: end, oldest, latest, time; at (a record is next), after (it is done), part (of its aggregate, 0 to 3 are). Where
# nothing is aggregated, behind a record as a whole and behind its only sub-record is one place: KCL and ours have both.


class Sloop:
    name, tables, holds = "sloop", (("sloop", "app", "row"),), ("end", "oldest", "time", "at", "after", "part")
    program = "ours"

    def __init__(self, app, generation):
        self.app, self.start = app, f"demo@{generation}/l/"

    def row(self, shard, kind):
        long = f"1:{len(shard.seq):03}{shard.seq}:"
        places = {"end": "9:end", "oldest": "0:oldest", "time": f"0:time:{MS}", "at": long + "0000000000",
                  "after": long + "9999999999", "part": long + "0000000004"}
        more = {"parents": {"SS": shard.parents}} if shard.parents else {}
        return {"app": {"S": self.app}, "row": {"S": self.start + shard.id}, "epoch": {"N": "3"}, "pos": {"S": places[kind]},
                "range": {"S": "-".join(shard.range)}, "first": {"S": shard.first}, **more}

    def place(self, item):
        return item["row"]["S"], item["pos"]["S"].replace(":9999999999", ":0000000001")

    def belongs(self, item):
        return item["app"]["S"] == self.app and "/l/" in item["row"]["S"]


class Kcl:
    name, holds = "kcl", ("end", "oldest", "latest", "after", "part")
    program = "KCL 2"
    more, beside = {}, ()

    def __init__(self, app, _):
        self.app, self.tables = app, ((app, "leaseKey"),)

    def row(self, shard, kind):
        words = {"end": "SHARD_END", "oldest": "TRIM_HORIZON", "latest": "LATEST"}
        sub = {"part": "3", "after": "0"}  # a record that is no aggregate has sub-record 0
        parents = {"parentShardId": {"SS": shard.parents}} if shard.parents else {}
        return {"leaseKey": {"S": shard.id}, "checkpoint": {"S": words.get(kind, shard.seq)},
                "checkpointSubSequenceNumber": {"N": sub.get(kind, "0")}, "leaseCounter": {"N": "5"},
                "ownerSwitchesSinceCheckpoint": {"N": "0"}, "startingHashKey": {"S": shard.range[0]},
                "endingHashKey": {"S": shard.range[1]}, **parents, **self.more}

    def place(self, item):
        sub = item["checkpointSubSequenceNumber"]["N"]
        return item["leaseKey"]["S"], item["checkpoint"]["S"], "0" if sub == "4294967295" else sub

    def belongs(self, item):
        return "leaseCounter" in item


class Kcl3(Kcl):
    program = "KCL 3"
    more = {"entityType": {"S": "LEASE"}}
    beside = ({"leaseKey": {"S": "Migration3.0"}, "entityType": {"S": "COORDINATOR_STATE"}, "cv": {"S": "CLIENT_VERSION_3X"}},)


class Vmware:
    name, holds = "vmware-go-kcl", ("end", "oldest", "after")
    program = "vmware-go-kcl"

    def __init__(self, app, _):
        self.app, self.tables = app, ((app, "ShardID"),)

    def row(self, shard, kind):
        parents = {"ParentShardId": {"S": shard.parents[0]}} if shard.parents else {}
        return {"ShardID": {"S": shard.id}, "LeaseTimeout": {"S": "2023-11-14T22:13:20.5Z"},
                "Checkpoint": {"S": {"end": "SHARD_END", "oldest": ""}.get(kind, shard.seq)}, **parents}

    def place(self, item):
        return item["ShardID"]["S"], item.get("Checkpoint", {"S": ""})["S"], item.get("ParentShardId")

    def belongs(self, _):
        return True


class Kinsumer:
    name, holds = "kinsumer", ("end", "oldest", "latest", "after")
    program = "kinsumer"

    def __init__(self, app, _):
        self.app = app
        self.tables = (app + "_checkpoints", "Shard"), (app + "_clients", "ID"), (app + "_metadata", "Key")

    def row(self, shard, kind):
        done = kind == "end"
        at = {"end": shard.seq, "oldest": "", "latest": "LATEST"}.get(kind, shard.seq)
        return {"Shard": {"S": shard.id}, "SequenceNumber": null_if(at), "LastUpdate": {"N": "1700000000000000000"},
                "LastUpdateRFC": {"S": "Tue, 14 Nov 2023 22:13:20 +0000"}, "OwnerID": {"NULL": True}, "OwnerName": {"NULL": True},
                "Finished": {"N": "1700000000000000000"} if done else {"NULL": True},
                "FinishedRFC": {"S": "Tue, 14 Nov 2023 22:13:20 +0000"} if done else {"NULL": True}}

    def place(self, item):
        ended = "N" in item["Finished"]
        return item["Shard"]["S"], ended, None if ended else item["SequenceNumber"]

    def belongs(self, _):
        return True


class Motorway:
    name, holds = "motorway", ("end", "oldest", "at", "after")
    program = "motorway"

    def __init__(self, app, _):
        self.app, self.tables = app, ((app, "shard_id"),)

    def row(self, shard, kind):
        """motorway's own rows say `at` only; what is behind a record, or at the end, is said by attributes of ours."""
        at = {"oldest": shard.first}.get(kind, shard.seq)
        done = {"end": {"sloop_done": {"S": "SHARD_END"}}, "after": {"sloop_done": {"S": at}}, "oldest": {"sloop_oldest": {"S": at}}}
        parents = {"sloop_parents": {"SS": shard.parents}} if shard.parents else {}
        return {"shard_id": {"S": shard.id}, "worker_id": {"S": "nobody"}, "heartbeat": {"N": "812"}, "checkpoint": {"S": at},
                **done.get(kind, {}), **parents}

    def place(self, item):
        done = item.get("sloop_done", {"S": ""})["S"]
        return item["shard_id"]["S"], done, "" if done == "SHARD_END" else item["checkpoint"]["S"], item.get("sloop_oldest")

    def belongs(self, _):
        return True


class KclRb:
    name, holds = "kcl-rb", ("end", "oldest", "latest", "time", "after")
    program = "kcl-rb"

    def __init__(self, app, _):
        self.app, self.tables = app, ((app, "shard_id"),)

    def row(self, shard, kind):
        """The gem has no words for the latest and for times: those rows are as ours leave them."""
        at = {"end": {"checkpoint": {"S": "SHARD_END"}}, "oldest": {}, "latest": {"sloop_checkpoint": {"S": "LATEST"}},
              "time": {"sloop_checkpoint": {"S": f"AT_TIMESTAMP:{MS}"}}}
        parents = {"parent_shard_id": {"S": shard.parents[0]}} if shard.parents else {}
        return {"shard_id": {"S": shard.id}, **at.get(kind, {"checkpoint": {"S": shard.seq}}), **parents}

    def place(self, item):
        return item["shard_id"]["S"], item.get("checkpoint"), item.get("sloop_checkpoint")

    def belongs(self, _):
        return True


ROWS = (Sloop, Kcl, Kcl3, Vmware, Kinsumer, Motorway, KclRb)


class World:
    """A sandbox with a stream of eight shards: one was split, two were merged."""

    def __enter__(self):
        self.box = Box(7, *NO_LIMITS, "-X", "sandbox.change_ms=0").__enter__()
        self.kinesis, self.dynamodb = self.box.boto3("kinesis"), self.box.boto3("dynamodb")
        first = self.kinesis.list_shards(StreamName="demo")["Shards"]
        self.kinesis.split_shard(StreamName="demo", ShardToSplit=first[0]["ShardId"],
                                 NewStartingHashKey=str(int(first[0]["HashKeyRange"]["EndingHashKey"]) // 2))
        self.kinesis.merge_shards(StreamName="demo", ShardToMerge=first[5]["ShardId"], AdjacentShardToMerge=first[6]["ShardId"])
        self.shards = [Shard(s) for s in self.kinesis.list_shards(StreamName="demo")["Shards"]]
        made = self.kinesis.describe_stream_summary(StreamName="demo")["StreamDescriptionSummary"]["StreamCreationTimestamp"]
        self.generation, self.made, self.lock = int(made.timestamp()), set(), threading.Lock()
        self.folder = tempfile.TemporaryDirectory()
        return self

    def __exit__(self, *what):
        self.folder.cleanup()
        self.box.__exit__(*what)

    def form(self, kind, app):
        return kind(app, self.generation)

    def make(self, form, rows=()):
        for name, *keys in form.tables:
            with self.lock:
                if name in self.made:
                    continue
                self.made.add(name)
                self.dynamodb.create_table(
                    TableName=name, BillingMode="PAY_PER_REQUEST",
                    AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
                    KeySchema=[{"AttributeName": key, "KeyType": how} for key, how in zip(keys, ("HASH", "RANGE"))])
        items = [*rows, *getattr(form, "beside", ())]
        for i in range(0, len(items), 25):
            self.dynamodb.batch_write_item(RequestItems={form.tables[0][0]: [{"PutRequest": {"Item": x}} for x in items[i:i + 25]]})

    def tables(self):
        return {name for page in self.dynamodb.get_paginator("list_tables").paginate() for name in page["TableNames"]}

    def places(self, form):
        items = self.dynamodb.scan(TableName=form.tables[0][0], ConsistentRead=True)["Items"]
        return sorted(map(repr, map(form.place, filter(form.belongs, items))))

    def migrate(self, one, two, *args):
        return self.box.tail("--migrate", one, two, "-X", "lease_ms=1000", "-X", "aggregates=keep", "-o", "oldest", *args, "demo")

    def copy(self, one, two):
        r = self.migrate(one, two, "--write")
        equal(r.code, 0, one, two, r.err, r.out)

    def plan(self, kinds):
        """shard -> kind: parents are read, children are not all begun, and every kind is there."""
        closed = {parent for shard in self.shards for parent in shard.parents}
        rest = [kind for kind in kinds if kind != "end"]
        others = [shard for shard in self.shards if shard.id not in closed]
        return [(shard, "end") for shard in self.shards if shard.id in closed] + \
            [(shard, rest[i % len(rest)]) for i, shard in enumerate(others)]


def place_of(form):
    return f"{form.name}:{form.app}"


def there_and_back(world, one, two):
    """Rows of one, as its programs write them, become what those of two would be; and back, in another table."""
    label = f"{one.program} {two.program}".replace(" ", "-").lower()
    source, target, again = (world.form(kind, f"{label}-{i}") for i, kind in enumerate((one, two, one)))
    plan = world.plan([kind for kind in one.holds if kind in two.holds])
    world.make(source, [source.row(shard, kind) for shard, kind in plan])
    if getattr(target, "beside", ()):
        world.make(target)
    world.copy(place_of(source), place_of(target))
    equal(world.places(target), sorted(repr(target.place(target.row(shard, kind))) for shard, kind in plan), label)
    if getattr(again, "beside", ()):
        world.make(again)
    world.copy(place_of(target), place_of(again))
    equal(world.places(again), world.places(source), label)


def refusals(world, one, two):
    """What two has no word for; where the latest can be a time it is none of them."""
    for kind in one.holds:
        if kind in two.holds or (kind == "latest" and "time" in two.holds):
            continue
        label = f"no-{one.program}-{two.program}-{kind}".replace(" ", "-").lower()
        source, target = world.form(one, f"{label}-0"), world.form(two, f"{label}-1")
        plan = world.plan(["end", "after"])
        odd = plan[-1][0]
        world.make(source, [source.row(shard, kind if shard is odd else what) for shard, what in plan])
        r = world.migrate(place_of(source), place_of(target), "--write")
        equal(r.code, 1, label, r.err, r.out)
        check(f"{odd.id}: conflict: " in r.out.decode() and "1 rows are in conflict; nothing was written" in r.err, label, r.out, r.err)
        if target.name != "sloop":
            check(target.tables[0][0] not in world.tables(), label)


def token(world, one):
    """A token of rows, the rows of that token, and the token of these."""
    files = [os.path.join(world.folder.name, f"{one.program} {i}") for i in range(2)]
    source, again = (world.form(one, f"token-{one.program}-{i}".replace(" ", "-").lower()) for i in range(2))
    plan = world.plan([kind for kind in one.holds if kind != "latest"])
    world.make(source, [source.row(shard, kind) for shard, kind in plan])
    if getattr(again, "beside", ()):
        world.make(again)
    world.copy(place_of(source), "token:" + files[0])
    world.copy("token:" + files[0], place_of(again))
    equal(world.places(again), world.places(source), one.program)
    world.copy(place_of(again), "token:" + files[1])
    texts = []
    for path in files:
        with open(path, encoding="utf-8") as file:
            texts.append(json.load(file))
    equal(texts[0], texts[1], one.program)


def unknown_beside(world):
    """A row of kinsumer's metadata that no program of today writes is left alone, and in nobody's way."""
    source, target = world.form(Vmware, "unknown-0"), world.form(Kinsumer, "unknown-1")
    plan = world.plan(["end", "after"])
    world.make(source, [source.row(shard, kind) for shard, kind in plan])
    world.make(target)
    row = {"Key": {"S": "FromTomorrow"}, "N": {"N": "1"}}
    world.dynamodb.put_item(TableName=target.tables[2][0], Item=row)
    world.copy(place_of(source), place_of(target))
    equal(world.places(target), sorted(repr(target.place(target.row(shard, kind))) for shard, kind in plan))
    equal(world.dynamodb.scan(TableName=target.tables[2][0])["Items"], [row])


def all_of(world, one):
    def run():
        for two in ROWS:
            if one is not two:
                there_and_back(world, one, two)
                refusals(world, one, two)
        token(world, one)
    run.__name__ = f"from_{one.program}_to_every_other_and_back".replace(" ", "_").replace("-", "_").lower()
    test(run)


with World() as the_world:
    for _one in ROWS:
        all_of(the_world, _one)

    def an_unknown_row_of_kinsumers_metadata_is_in_nobodys_way():
        unknown_beside(the_world)

    test(an_unknown_row_of_kinsumers_metadata_is_in_nobodys_way)
    main(at_once=4)
