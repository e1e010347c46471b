"""Questions of an operator to a lease table (sloop_admin_*), beside fleets of two processes whose records are in the sandbox and
whose leases are in dynalite and in a SQLite file. The rows are what boto3 and sqlite3 find."""

import json
import os
import queue
import re
import tempfile
import time

import cpu_waits
import fleet as fleets
import harness
import servers
from harness import Tests, expect
from sandbox_box import Box

LEASE_MS = 2000


class Operator(harness.Told):
    """admin_main, for one stream and application."""

    def __init__(self, fleet, worker="operator", table=None, schema="sloop"):
        store = fleet.leases if fleet.sqlite else f"dynamodb:{table or fleet.table}"
        argv = [fleet.stream, fleet.app, store, "-" if fleet.sqlite else fleet.leases, schema, str(LEASE_MS), worker]
        self.answers = queue.Queue()
        super().__init__("admin_main", "SLOOP_TEST_ADMIN", argv, harness.tail_environment(fleet.records))

    def on_line(self, line):
        self.answers.put(json.loads(line))

    def hear(self, seconds=30):
        try:
            return self.answers.get(timeout=seconds)
        except queue.Empty:
            raise harness.Failed(f"no answer within {seconds} s") from None

    def ask(self, line, status="OK"):
        began, watch = time.monotonic(), cpu_waits.Stopwatch()
        self.tell(line)
        answer = self.hear()
        answer.update(took=time.monotonic() - began, own=watch.own())
        expect(status in (None, answer["status"]), f"{line}: {answer}")
        return answer


def position(pos):
    """The header's words for what a row says."""
    if pos == "9:end":
        return "end"
    if pos.startswith("0:"):
        return pos[2:]
    digits, sub = re.fullmatch(r"1:\d{3}(\d+):(\d{10})", pos).groups()
    if int(sub) == 0:
        return f"at {digits}"
    return f"after {digits}" if int(sub) in (1, 9999999999) else f"after {digits} sub {int(sub) - 1}"


def compare(fleet, answer):
    """The operator was told what stands in the rows."""
    rows = fleet.look_at_all()
    leases = {key.split("/l/", 1)[1]: row for key, row in rows.items() if "/l/" in key}
    expect([x["shard"] for x in answer["leases"]] == sorted(leases), f"{answer['leases']} of {sorted(leases)}")
    for told in answer["leases"]:
        row = leases[told["shard"]]
        parents = sorted(row.get("parents", [])) + ["", ""]
        expected = {"owner": row.get("owner", ""), "claim": row.get("claim", ""), "position": position(row["pos"]),
                    "parent": parents[0], "adjacent_parent": parents[1], "epoch": int(row["epoch"]),
                    "parked": int("park" in row), "written_at_ms": int(row.get("ts", -1)),
                    "behind_ms": int(row.get("lag", -1))}
        got = {name: told[name] for name in expected}
        expect(got == expected, f"{told['shard']}: told {got}, the row says {expected}")
    workers = {key.split("/w/", 1)[1]: row for key, row in rows.items() if "/w/" in key}
    expect([x["worker"] for x in answer["workers"]] == [f"{id}.{workers[id]['boot']}" for id in sorted(workers)],
           f"{answer['workers']}")
    for told in answer["workers"]:
        row = workers[told["worker"].rsplit(".", 1)[0]]
        expect(told["dead"] == int("gone" in row) and told["leaving"] == int(row["st"] == "leave"), f"{told} {row}")
        expect(told["lease_ms"] == int(row["lease"]) and told["weight"] == int(row["cap"]), f"{told} {row}")
    return leases


def quiet_compare(fleet, operator):
    """Rows move while they are read: until two looks agree."""
    last = []

    def same():
        try:
            last[:] = [compare(fleet, operator.ask("leases"))]
            return True
        except harness.Failed as failed:
            last[:] = [failed]
            return False

    harness.wait_until(same, 20, f"leases and rows agree: {last}")
    return last[0]


def shards_of(box, stream):
    return {shard["ShardId"]: shard for shard in harness.list_shards(box.client(), stream)}


def put(box, stream, n, truth):
    """n records into every open shard, also into truth."""
    client = box.client()
    for shard, desc in shards_of(box, stream).items():
        if "EndingSequenceNumber" in desc["SequenceNumberRange"]:
            continue
        for i in range(n):
            data = f"{shard} {len(truth.get(shard, {}))} {i}".encode()
            answer = client.put_record(StreamName=stream, Data=data, PartitionKey="p",
                                       ExplicitHashKey=desc["HashKeyRange"]["StartingHashKey"])
            truth.setdefault(answer["ShardId"], {})[(int(answer["SequenceNumber"]), 0)] = data
    return truth


def split(box, stream, shard):
    hashes = shards_of(box, stream)[shard]["HashKeyRange"]
    low, high = int(hashes["StartingHashKey"]), int(hashes["EndingHashKey"])
    box.client().split_shard(StreamName=stream, ShardToSplit=shard, NewStartingHashKey=str((low + high) // 2 + 1))
    harness.wait_active(box.client(), stream)


def times_read(fleet, truth):
    """{shard: how often its record that came least often came}"""
    seen = {}
    for line in fleet.read():
        seen[(line.shard, line.place)] = seen.get((line.shard, line.place), 0) + 1
    return {shard: min(seen.get((shard, place), 0) for place in places) for shard, places in truth.items()}


def read_again(fleet, truth, before, shards=None):
    """Everything in these shards came once more than before."""
    def all_came():
        now = times_read(fleet, truth)
        return all(now[shard] > before[shard] for shard in shards or truth)

    fleet.wait_for(all_came, 40, "all is read again")


def parents_first(fleet, truth, box, since):
    """In the lines since then, a shard's first comes after its parents' last."""
    lines = fleet.read()[since:]
    first, last = {}, {}
    for line in lines:
        if line.place in truth.get(line.shard, {}):
            first.setdefault(line.shard, line.early)
            last[line.shard] = line.late
    n = 0
    for shard, desc in shards_of(box, fleet.stream).items():
        parent = desc.get("ParentShardId")
        if shard in first and parent in last:
            expect(first[shard] > last[parent] - 0.5, f"{shard} is read before its parent {parent} was")
            n += 1
    return n


# ---- beside a fleet ------------------------------------------------------------------------------------------------


def no_table(box, store):
    stream = harness.new_stream(box.client(), 1)
    fleet = fleets.Fleet(box.url, store, stream, 0, table="not-there")
    with Operator(fleet) as operator:
        for line in ("leases", "explain shardId-000000000000", "release w0", "reset all oldest"):
            answer = operator.ask(line, "ELEASE")
            expect("not-there" in answer["message"] or fleet.sqlite in answer["message"], answer["message"])
    if fleet.sqlite:
        expect(not os.path.exists(fleet.sqlite), "a file was made")
    else:
        expect("not-there" not in fleet.client().list_tables()["TableNames"], "a table was made")
    return answer["message"]


def beside_a_fleet(box, store):
    stream, truth = harness.new_stream(box.client(), 4), {}
    with fleets.Fleet(box.url, store, stream, 2, lease_ms=LEASE_MS, poll_ms=200) as fleet, Operator(fleet) as operator:
        fleet.start()
        fleet.wait_balance()
        put(box, stream, 20, truth)
        fleet.wait_all(lambda: truth, 20)
        harness.wait_until(lambda: all("lag" in row for key, row in fleet.look_at_all().items() if "/l/" in key), 10,
                           "every row tells how far behind it is")
        leases = quiet_compare(fleet, operator)
        answer = operator.ask("leases")
        expect({x["state"] for x in answer["leases"]} == {"owned"}, f"{answer['leases']}")
        expect([x["worker"].rsplit(".", 1)[0] for x in answer["workers"] if x["leads"]] == [fleet.leader()], "who leads")
        # a worker of this very process, beside its own fleet
        shard, row = sorted(leases.items())[0]
        text = operator.ask(f"explain {shard}")["text"]
        expect(text.startswith(f"{shard} is being read by {row['owner']}\nstream: lists it as open\n"), text)
        expect(f"\nleader: {fleet.instances(fleet.look_at_all())[fleet.leader()]}" in text, text)
        operator.ask("explain shardId-000000000099", "ENOSHARD")
        # a living owner keeps it, and nothing changes
        before = fleet.leases_in(fleet.look_at_all())
        for line in (f"release {shard}", f"reset {shard} oldest", "reset all latest"):
            answer = operator.ask(line, "EOWNED")
            expect(answer["own"] < LEASE_MS / 1000 + 1, f"{line} took {answer['own']:.1f} s")
            expect("is alive" in answer["message"], answer["message"])
        after = fleet.leases_in(fleet.look_at_all())
        expect({s: (r.owner, r.epoch) for s, r in before.items()} == {s: (r.owner, r.epoch) for s, r in after.items()},
               f"{before} {after}")
        # a worker is taken for dead, joins anew, and all goes on
        instance = fleet.instances(fleet.look_at_all())["w1"]
        text = operator.ask("release w1")["text"]
        expect(text.startswith(f"worker {instance} is evicted\n"), text)
        fleet.wait_for(lambda: fleet.instances(fleet.look_at_all()).get("w1", instance) != instance, 20, "w1 joins anew")
        operator.ask(f"release {instance}", "ENOWORKER")
        put(box, stream, 20, truth)
        fleet.wait_all(lambda: truth, 20)
        fleet.wait_balance()
        # everything again, by force
        before, since = times_read(fleet, truth), len(fleet.read())
        set_to = {}
        for _ in range(5):  # the workers write their rows meanwhile, on a busy machine between each look and each write of it
            answer = operator.ask("reset all oldest force", None)
            set_to.update(dict.fromkeys(re.findall(r"^(shardId-\d+): set to oldest; it was at after \d+$", answer["text"], re.M)))
            if answer["status"] == "OK":
                break
            expect(answer["status"] == "ELEASE" and "its row kept changing" in answer["text"], f"{answer}")
        expect(answer["status"] == "OK" and len(set_to) == 4, f"{set_to}: {answer}")
        read_again(fleet, truth, before)
        fleet.wait_balance()
        # beside a worker of its own process, and closed in the middle
        with Operator(fleet, worker="third") as third:
            third.ask("start")
            fleet.wait_for(lambda: "third" in fleet.instances(fleet.look_at_all()), 20, "it joins")
            expect(len(third.ask("leases")["workers"]) == 3, "three workers")
            expect(third.ask(f"explain {shard}")["text"], "nothing")
            third.tell("leases\nexplain " + shard)  # one at a time
            answers = [third.hear()["status"] for _ in range(2)]
            expect(sorted(answers) == ["ESTATE", "OK"], f"{answers}")
            third.tell("reset all oldest\nclose")
            answers = [third.hear()["status"] for _ in range(2)]
            expect(answers == ["ECANCELED", "closed"], f"{answers}")
        fleet.leave_all()
        return f"{len(fleet.read()) - since} records came again by force"


# ---- stopped fleets ------------------------------------------------------------------------------------------------


def stopped_and_killed(box, store):
    stream, truth = harness.new_stream(box.client(), 2), {}
    with fleets.Fleet(box.url, store, stream, 2, lease_ms=LEASE_MS, poll_ms=200) as fleet, Operator(fleet) as operator:
        fleet.start()
        fleet.wait_balance()
        put(box, stream, 10, truth)
        fleet.wait_all(lambda: truth, 20)
        parent = sorted(shards_of(box, stream))[0]
        split(box, stream, parent)
        put(box, stream, 10, truth)
        fleet.wait_all(lambda: truth, 30)
        fleet.wait_for(lambda: fleet.leases_in(fleet.look_at_all())[parent].pos == "9:end", 20, "the parent ends")
        text = operator.ask(f"explain {parent}")["text"]
        expect(text.startswith(f"{parent} was read to its end\nstream: lists it as closed\n") and text.count("\nchild ") == 2,
               text)
        # set back beside the running fleet: its end is undone, and it is read by whoever gets it
        before = times_read(fleet, truth)
        text = operator.ask(f"reset {parent} oldest")["text"]
        expect(f"{parent}: set to oldest; it was at end\nits child " in text, text)
        read_again(fleet, truth, before, [parent])
        fleet.wait_for(lambda: fleet.leases_in(fleet.look_at_all())[parent].pos == "9:end", 20, "it ends again")
        # left in peace: nobody has to be waited for
        fleet.leave_all()
        before, since = times_read(fleet, truth), len(fleet.read())
        answer = operator.ask("reset all oldest")
        expect(answer["own"] < LEASE_MS / 1000, f"took {answer['own']:.1f} s")
        rows = quiet_compare(fleet, operator)
        expect({row["pos"] for row in rows.values()} == {"0:oldest"} and not any("owner" in row for row in rows.values()),
               f"{rows}")
        fleet.start()
        read_again(fleet, truth, before)
        families = parents_first(fleet, truth, box, since)
        expect(families == 2, f"{families} children and parents were read")
        fleet.wait_balance()
        # killed: they are watched for a lease, and only then taken from
        for worker in fleet.names:
            fleet.kill(worker)
        shard = sorted(shards_of(box, stream))[-1]
        epoch = fleet.leases_in(fleet.look_at_all())[shard].epoch
        answer = operator.ask(f"release {shard}")
        expect(answer["took"] >= LEASE_MS / 1000, f"taken after {answer['took']:.1f} s")
        row = fleet.leases_in(fleet.look_at_all())[shard]
        expect(row.owner == "" and row.epoch == epoch + 1, f"{row}")
        text = operator.ask(f"explain {shard}")["text"]
        # the last plan of the dead may still name one of them, when they were killed before they cleared it away
        expect(text.startswith((f"{shard} has no owner: ", f"{shard} has no owner; it is assigned to w")), text)
        # now and here: what comes from now on
        operator.ask("reset all latest")
        rows = quiet_compare(fleet, operator)
        expect(rows[parent]["pos"] == "9:end", f"{rows[parent]}")
        others = {row["pos"] for name, row in rows.items() if name != parent}
        expect(len(others) == 1 and abs(int(next(iter(others)).split(":")[2]) / 1000 - time.time()) < 30, f"{others}")
        before, since = times_read(fleet, truth), len(fleet.read())
        later = put(box, stream, 10, {})
        fleet.start()
        fleet.wait_all(lambda: later, 30)
        expect(times_read(fleet, truth) == before, "what was there before came again")
        fleet.leave_all()
        return "ended, left, killed, latest"


def damaged_and_parked(box, leases):
    """Rows by boto3's hand."""
    stream, truth = harness.new_stream(box.client(), 2), {}
    with fleets.Fleet(box.url, leases, stream, 2, lease_ms=LEASE_MS, poll_ms=200) as fleet, Operator(fleet) as operator:
        fleet.start()
        fleet.wait_balance()
        fleet.leave_all()
        parked, damaged = sorted(shards_of(box, stream))
        client = fleet.client()
        keys = {key.split("/l/", 1)[1]: {"app": {"S": fleet.app}, "row": {"S": key}} for key in fleet.look_at_all()
                if "/l/" in key}

        def write(shard, text):
            client.update_item(TableName=fleet.table, Key=keys[shard], UpdateExpression="SET #a = :v",
                               ExpressionAttributeNames={"#a": text.split("=")[0]},
                               ExpressionAttributeValues={":v": {"S": text.split("=")[1]}})

        write(parked, "park=somebody")
        write(damaged, "pos=?")
        answer = operator.ask("leases")
        expect([x["parked"] for x in answer["leases"]] == [1], f"{answer}")
        expect([x["row"] for x in answer["bad"]] == [f"{keys[damaged]['row']['S']}: its position can't be understood"],
               f"{answer['bad']}")
        expect("is invalid" in operator.ask(f"explain {damaged}")["text"], "damaged")
        operator.ask(f"reset {damaged} oldest", "ENOSHARD")
        write(damaged, "pos=0:oldest")
        put(box, stream, 10, truth)
        fleet.start()
        fleet.wait_all(lambda: {damaged: truth[damaged]}, 20)
        expect(not any(line.shard == parked for line in fleet.read()), "a parked shard is read")
        text = operator.ask(f"explain {parked}")["text"]
        expect(text.startswith(f"{parked} is parked: no worker reads it"), text)
        text = operator.ask(f"release {parked}")["text"]
        expect(re.fullmatch(parked + r": released(, taken from w\d\.\w+)?, no longer parked; its position stays "
                            r"oldest\n", text), text)
        watch = cpu_waits.Stopwatch()
        fleet.wait_all(lambda: truth, 20)
        took = watch.own()
        expect(took < 10, f"read {took:.1f} s after it was released")
        fleet.leave_all()
        return f"read {took:.1f} s after it was released"


# ---- leases with counters --------------------------------------------------------------------------------------------


def counters(box, leases):
    """Rows of Amazon's KCL 2.x, each with a counter that its owner moves."""
    stream, truth = harness.new_stream(box.client(), 2), {}
    with fleets.Fleet(box.url, leases, stream, 2, lease_ms=LEASE_MS, poll_ms=200, table="kcl-table",
                      knobs=("schema=kcl",)) as fleet, Operator(fleet, schema="kcl") as operator:
        client = fleet.client()

        def rows():
            return {item["leaseKey"]["S"]: {name: next(iter(value.values())) for name, value in item.items()}
                    for item in client.scan(TableName=fleet.table, ConsistentRead=True)["Items"]}

        def shared():
            owners = [row.get("leaseOwner") for row in rows().values()]
            return len(owners) == 2 and all(owners) and len(set(owners)) == 2 and owners

        fleet.start()
        def made():  # a table that is being made is listed, and can't be read
            names = client.list_tables()["TableNames"]
            return fleet.table in names and client.describe_table(TableName=fleet.table)["Table"]["TableStatus"] == "ACTIVE"

        fleet.wait_for(lambda: made() and shared(), 30, "they share")
        put(box, stream, 10, truth)
        fleet.wait_all(lambda: truth, 20)
        fleet.wait_for(lambda: all(row["checkpoint"].isdigit() for row in rows().values()), 20, "positions are written")
        answer = operator.ask("leases")
        found = rows()
        expect({(x["shard"], x["owner"], x["position"], x["state"]) for x in answer["leases"]}
               == {(shard, row["leaseOwner"], "after " + row["checkpoint"], "owned") for shard, row in found.items()},
               f"{answer['leases']} {found}")
        expect({x["worker"]: x["held"] for x in answer["workers"]}
               == {row["leaseOwner"]: 1 for row in found.values()}, f"{answer['workers']}")
        shard, row = sorted(found.items())[0]
        text = operator.ask(f"explain {shard}")["text"]
        expect(text.startswith(f"{shard} is owned by {row['leaseOwner']}; whether "), text)
        operator.ask(f"release {shard}", "EOWNED")
        expect(rows()[shard]["leaseOwner"] == row["leaseOwner"], f"{rows()[shard]}")
        worker = row["leaseOwner"] # all that it has is taken, and it may take it anew
        text = operator.ask(f"release {worker}")["text"]
        expect(f"taken from {worker};" in text, text)
        fleet.wait_for(shared, 20, "they share again")
        operator.ask("reset all oldest", "EOWNED")
        operator.ask(f"reset {shard} time 5 force", "EOPTION")
        before = times_read(fleet, truth)
        operator.ask("reset all oldest force")
        read_again(fleet, truth, before)
        fleet.wait_for(shared, 20, "they share again")
        for name in fleet.names:
            fleet.kill(name)
        answer = operator.ask("reset all latest")
        expect(answer["took"] >= LEASE_MS / 1000, f"taken after {answer['took']:.1f} s")
        expect({row["checkpoint"] for row in rows().values()} == {"LATEST"}, f"{rows()}")
        expect(not any("leaseOwner" in row for row in rows().values()), f"{rows()}")
        return f"taken from the dead after {answer['took']:.1f} s"


# ---- leases that run out by the clock ---------------------------------------------------------------------------------


def clocks(box):
    """Rows of vmware-go-kcl, each with the time until which it is its owner's."""
    stream, truth = harness.new_stream(box.client(), 2), {}
    with fleets.Fleet(box.url, box.url, stream, 2, lease_ms=LEASE_MS, poll_ms=200, table="vmware-table",
                      knobs=("schema=vmware-go-kcl",)) as fleet, Operator(fleet, schema="vmware-go-kcl") as operator:
        client = fleet.client()

        def rows():
            items = client.scan(TableName=fleet.table, ConsistentRead=True)["Items"]
            expect(all(list(value) == ["S"] for item in items for value in item.values()), f"not all are texts: {items}")
            return {item["ShardID"]["S"]: {name: value["S"] for name, value in item.items()} for item in items}

        def shared():
            owners = [row.get("AssignedTo") for row in rows().values()]
            return len(owners) == 2 and all(owners) and len(set(owners)) == 2 and owners

        def made():
            names = client.list_tables()["TableNames"]
            return fleet.table in names and client.describe_table(TableName=fleet.table)["Table"]["TableStatus"] == "ACTIVE"

        fleet.start()
        fleet.wait_for(lambda: made() and shared(), 30, "they share")
        put(box, stream, 10, truth)
        fleet.wait_all(lambda: truth, 20)
        fleet.wait_for(lambda: all(row["Checkpoint"].isdigit() for row in rows().values()), 20, "positions are written")
        # A row may be written between the two looks.
        for _ in range(20):
            found = rows()
            answer = operator.ask("leases")
            same = {(x["shard"], x["owner"], x["position"], x["state"]) for x in answer["leases"]} == {
                (shard, row["AssignedTo"], "after " + row["Checkpoint"], "owned") for shard, row in found.items()}
            if same:
                break
        expect(same, f"{answer['leases']} {found}")
        shard, row = sorted(found.items())[0]
        text = operator.ask(f"explain {shard}")["text"]
        expect(text.startswith(f"{shard} is owned by {row['AssignedTo']}; whether "), text)
        operator.ask(f"release {shard}", "EOWNED")
        expect(rows()[shard]["AssignedTo"] == row["AssignedTo"], f"{rows()[shard]}")
        text = operator.ask(f"release {row['AssignedTo']}")["text"]
        expect(f"taken from {row['AssignedTo']};" in text, text)
        fleet.wait_for(shared, 30, "they share again")
        operator.ask("reset all oldest", "EOWNED")
        operator.ask(f"reset {shard} time 5 force", "EOPTION")
        before = times_read(fleet, truth)
        operator.ask("reset all oldest force")
        read_again(fleet, truth, before)
        fleet.wait_for(shared, 30, "they share again")
        for name in fleet.names:
            fleet.kill(name)
        was = rows()
        text = operator.ask(f"reset {shard} latest force", "ELEASE")["text"]
        expect("can't store that position" in text and rows()[shard]["Checkpoint"] == was[shard]["Checkpoint"], text)
        # A row of a wrong type is named, and left alone.
        client.update_item(TableName=fleet.table, Key={"ShardID": {"S": shard}}, UpdateExpression="SET #t = :t",
                           ExpressionAttributeNames={"#t": "LeaseTimeout"}, ExpressionAttributeValues={":t": {"N": "5"}})
        answer = operator.ask("leases")
        expect(any("LeaseTimeout is no text" in json.dumps(x) for x in answer["bad"]), f"{answer}")
        return ""


def main():
    tests = Tests()
    harness.boto3_or_skip()
    with Box() as box, servers.Dynalite() as leases, tempfile.TemporaryDirectory() as folder:
        def of_store(name, store):
            tests.run(f"{name}: no table", no_table, box, store)
            tests.run(f"{name}: beside a fleet", beside_a_fleet, box, store)
            tests.run(f"{name}: fleets that were stopped and killed", stopped_and_killed, box, store)
            if name == "dynalite":
                tests.run("rows that are damaged, a shard that is parked", damaged_and_parked, box, store)
                tests.run("leases with counters", counters, box, store)

        tests.side_by_side([lambda: of_store("dynalite", leases.url), lambda: of_store("SQLite", f"sqlite:{folder}/leases"),
                            lambda: tests.run("leases that run out by the clock", clocks, box)])
    tests.end()


if __name__ == "__main__":
    main()
