"""How stream-tail ends, on real fleets: -e and --timeout of a worker among others, what it says when it could not do what
was asked for, and its status. SLOOP_BIN names the program."""

import base64
import gzip
import hashlib
import json
import re
import signal
import tempfile
import threading
import time
import urllib.error
import urllib.request

from box import Box, NO_LIMITS
from command import check, end, equal, main, read_until, run, test, wait_until

QUICK = ("-X", "lease_ms=2000", "-X", "checkpoint_ms=500", "-X", "poll_ms=200")
SCHEMAS = ("sloop", "kcl", "vmware-go-kcl", "kinsumer", "motorway", "kcl-rb")


def lines(out):
    return out.decode().splitlines()


@test
def a_new_application_is_read_before_silence_counts():
    with Box(4, *NO_LIMITS) as box:
        put = box.put(200)
        for schema in SCHEMAS:
            r = box.tail("-G", "t-" + schema, "-X", "schema=" + schema, "-o", "oldest", "--timeout", "2", "demo", limit=40)
            equal((r.code, r.err, sorted(lines(r.out))), (0, "", sorted(p[2] for p in put)), schema)


@test
def the_tip_of_an_application_is_that_of_all_its_shards():
    with Box(4, *NO_LIMITS) as box:
        put = box.put(300)
        for schema in SCHEMAS:
            args = ("-G", "e-" + schema, "-X", "schema=" + schema, "-o", "oldest", "-e", "demo")
            r = box.tail(*args, limit=40)
            equal((r.code, r.err, sorted(lines(r.out))), (0, "", sorted(p[2] for p in put)), schema)
            r = box.tail(*args, limit=40)  # nothing came since
            equal((r.code, r.out, r.err), (0, b"", ""), schema)


@test
def the_tip_of_a_backlog_is_seen_sooner_than_after_a_poll_interval():
    """Behind the last records a shard is asked once more after 0.2 s. The records are of an earlier second than the answers:
    the service's Date tells whole seconds, so an empty answer of the same second does not yet prove that its shard has
    nothing older than the records of the others, and these wait for the next poll."""
    with Box(4, *NO_LIMITS) as box:
        put = box.put(300)
        last = int(time.time())
        wait_until(lambda: int(time.time()) > last, 3, "the next second")
        for app in ((), ("-G", "soon")):
            r = box.tail(*app, "-X", "poll_ms=10000", "-o", "oldest", "-e", "demo", limit=40)
            equal((r.code, r.err, sorted(lines(r.out))), (0, "", sorted(p[2] for p in put)), app)
            check(r.seconds < 6, app, r.seconds)


@test
def a_time_ends_the_workers_of_an_application():
    """What arrived before it is printed once, by whomever; what comes behind it is there for those who read on."""
    with Box(4, *NO_LIMITS) as box:
        before = [p[2] for p in box.put(200)]
        time.sleep(0.05)
        until = box.admin("/_sandbox/clock", method="GET").decode().strip()
        time.sleep(0.05)
        after = [p[2] for p in box.put(200, start=200)]
        for schema in SCHEMAS:
            args = ("-G", "u-" + schema, "-X", "schema=" + schema, "-o", "oldest")
            r = box.tail(*args, "--until", until, "demo", limit=40)
            equal((r.code, r.err, sorted(lines(r.out))), (0, "", sorted(before)), schema)
            r = box.tail(*args, "--until", until, "--order", "shard", "demo", limit=40)
            equal((r.code, r.out, r.err), (0, b"", ""), schema)
            r = box.tail(*args, "-e", "demo", limit=40)
            equal((r.code, r.err, sorted(lines(r.out))), (0, "", sorted(after)), schema)
        workers = [box.start("-G", "many", "-o", "oldest", "--until", until, *QUICK, "demo") for _ in range(3)]
        try:
            got = []
            for p in workers:
                out, err = p.communicate(timeout=60)
                equal(p.returncode, 0, err)
                got += lines(out)
            equal(sorted(got), sorted(before))
        finally:
            for p in workers:
                end(p)
        r = box.tail("-G", "many", "-e", *QUICK, "demo", limit=40)
        equal((r.code, sorted(lines(r.out))), (0, sorted(after)), r.err)


@test
def a_time_that_is_to_come_is_waited_for_whoever_writes():
    with Box(2, *NO_LIMITS) as box:
        until = time.time() + 8
        p = box.start("-G", "app", "-o", "oldest", "--until", str(int(until * 1000)), *QUICK, "demo")
        try:
            n, is_split = 0, False
            while p.poll() is None:  # one shard is written to without a pause, the other one is silent
                put = box.call("PutRecord", StreamName="demo", PartitionKey="k", Data=base64.b64encode(b"%d" % n).decode())
                n += 1
                if not is_split and time.time() > until + 0.3:  # it is read up to the time: its children get no leases
                    box.admin(f"/_sandbox/split?stream=demo&shard={put['ShardId']}")
                    is_split = True
                check(time.time() < until + 30, "it has not left")
                time.sleep(0.02)
            check(until < time.time(), "it left before the time")
            out, err = p.communicate()
            equal((p.returncode, err), (0, b""))
            got = lines(out)
            equal(got, [str(i) for i in range(len(got))])
        finally:
            end(p)
        r = box.tail("-o", "oldest", "--until", str(int(until * 1000)), "demo")  # without leases
        equal(lines(r.out), got)


@test
def silence_counts_beside_an_end_that_is_far_away():
    with Box(2, *NO_LIMITS) as box:
        put = box.put(20)
        later = str(int(time.time()) + 3600)
        r = box.tail("-G", "app", "-o", "oldest", "--until", later, "--timeout", "2", *QUICK, "demo", limit=30)
        equal((r.code, r.err, sorted(lines(r.out))), (0, "", sorted(p[2] for p in put)))


@test
def workers_at_the_tip_leave_together_and_have_read_everything_once():
    with Box(4, *NO_LIMITS) as box:
        put = box.put(400)
        workers = [box.start("-G", "app", "-o", "oldest", "-e", *QUICK, "demo") for _ in range(3)]
        try:
            got = []
            for p in workers:
                out, err = p.communicate(timeout=40)
                equal(p.returncode, 0, err)
                got += lines(out)
            equal(sorted(got), sorted(p[2] for p in put))
        finally:
            for p in workers:
                end(p)


@test
def the_tip_waits_for_the_shards_of_another_worker():
    with Box(2, *NO_LIMITS) as box:
        put = box.put(400, size=4000)
        # It stands still in the middle of its shards, for nobody reads its output.
        slow = box.start("-G", "app", "-o", "oldest", *QUICK, "-X", "handover_ms=600000", "demo")
        p = None
        try:
            got = read_until(slow.stdout.fileno(), lambda text: b"\n" in text)
            p = box.start("-G", "app", "-e", *QUICK, "demo")
            time.sleep(8)
            equal(p.poll(), None, "it left while", slow.args, "had not read its shards")
            reader = threading.Thread(target=lambda: slow.stdout.read())
            reader.start()  # now it goes on
            _, err = p.communicate(timeout=40)
            equal(p.returncode, 0, err)
            slow.send_signal(signal.SIGINT)
            reader.join(20)
            equal(slow.wait(20), 0)
            rows = [json.loads(line) for line in box.tail("--leases", "-J", "-G", "app", "demo").out.splitlines()]
            last = {shard: seq for shard, seq, _ in put}  # of each shard
            equal({row["shard"]: row["position"].split()[1] for row in rows if "shard" in row}, last)
        finally:
            end(slow)
            if p:
                end(p)


@test
def a_worker_without_a_shard_says_so_when_it_leaves():
    with Box(1, *NO_LIMITS) as box:
        box.put(5)
        first = box.start("-G", "app", "-o", "oldest", *QUICK, "demo")
        try:
            read_until(first.stdout.fileno(), lambda text: text.count(b"\n") >= 5)
            r = box.tail("-G", "app", "--timeout", "2", *QUICK, "demo", limit=30)
            equal((r.code, r.out), (0, b""), r.err)
            check("this worker had no shard: other workers of app read them" in r.err, r.err)
            r = box.tail("-G", "app", "--until", "0s", *QUICK, "demo", limit=30)
            equal((r.code, r.out), (0, b""), r.err)
            check("this worker had no shard: other workers of app read them" in r.err, r.err)
        finally:
            end(first)


@test
def silence_does_not_count_while_a_dead_worker_has_the_shards():
    with Box(2, *NO_LIMITS) as box:
        first = box.start("-G", "app", "-o", "oldest", "-X", "lease_ms=5000", "demo")
        try:
            box.put(4)
            read_until(first.stdout.fileno(), lambda text: text.count(b"\n") >= 4)
            first.kill()
            put = box.put(20, start=4)
            r = box.tail("-G", "app", "--timeout", "2", "-X", "lease_ms=5000", "demo", limit=40)
            equal(r.code, 0, r.err)
            check({p[2] for p in put} <= set(lines(r.out)), r.out, r.err)
        finally:
            end(first)


@test
def a_timeout_ends_a_worker_whose_writes_are_refused():
    """It has joined, and no shard will ever be its own: waiting for a reader that lives would be in vain."""
    with Box(2, *NO_LIMITS) as box:
        box.put(10)
        for schema, operation in (("sloop", "PutItem"), ("kcl", "PutItem"), ("kcl", "UpdateItem"), ("kinsumer", "UpdateItem")):
            args = ("-G", f"app-{schema}-{operation}", "-X", "schema=" + schema, "-o", "oldest", "--timeout", "2", "demo")
            box.admin("/_sandbox/faults", f"* {operation} * error AccessDeniedException:400:no")
            r = box.tail(*args, limit=25)
            box.admin("/_sandbox/faults", method="DELETE")
            equal((r.code, r.out), (1, b""), schema, operation, r.err)
            check("not every shard had a reader within " in r.err and
                  "; the last error: a write of the lease table failed" in r.err, schema, operation, r.err)
            r = box.tail(*args, limit=40)  # and when it may write again it reads
            equal((r.code, len(lines(r.out))), (0, 10), schema, operation, r.err)


@test
def a_parked_shard_is_no_tip():
    with Box(1, *NO_LIMITS) as box:
        box.put(3)
        r = box.tail("-G", "app", "-o", "oldest", "-e", *QUICK, "demo")
        equal(r.code, 0, r.err)
        row = next(row for row in box.dynamodb("Scan", TableName="sloop")["Items"] if row["row"]["S"].endswith("shardId-000000000000"))
        box.dynamodb("UpdateItem", TableName="sloop", Key={"app": row["app"], "row": row["row"]}, UpdateExpression="SET park = :p",
                     ExpressionAttributeValues={":p": {"S": "somebody"}})
        r = box.tail("-G", "app", "-e", *QUICK, "demo", limit=30)
        equal((r.code, r.err), (1, "stream-tail: not everything was read: shardId-000000000000 is parked: no worker reads it "
                                   "until --release\n"))
        r = box.tail("-G", "app", "--until", "0s", *QUICK, "demo", limit=30)
        equal((r.code, r.err), (1, "stream-tail: not everything was read: shardId-000000000000 is parked: no worker reads it "
                                   "until --release\n"))
        r = box.tail("-G", "app", "--timeout", "1", *QUICK, "demo", limit=30)
        equal(r.code, 0, r.err)
        check("not everything was read: shardId-000000000000 is parked" in r.err, r.err)


def log_events(number, events):
    """A record of a CloudWatch Logs subscription."""
    return base64.b64encode(gzip.compress(json.dumps({
        "messageType": "DATA_MESSAGE", "owner": "1", "logGroup": "g", "logStream": "s", "subscriptionFilters": ["f"],
        "logEvents": [{"id": f"{number}-{i}", "timestamp": 1, "message": f"event {number} {i}"} for i in range(events)]
    }).encode())).decode()


def aggregate(texts):
    """An aggregate of the Kinesis Producer Library: its magic, a protobuf message and the message's MD5."""
    def field(number, data):
        check(len(data) < 128, "one byte of length")
        return bytes([number << 3 | 2, len(data)]) + data
    records = b"".join(field(3, b"\x08\x00" + field(3, text.encode())) for text in texts)
    message = field(1, b"key") + records
    return base64.b64encode(b"\xf3\x89\x9a\xc2" + message + hashlib.md5(message).digest()).decode()


@test
def a_count_is_of_records_whatever_decodes_them():
    with Box(1, *NO_LIMITS) as box, tempfile.TemporaryDirectory() as folder:
        for stream, texts in (("logs", [log_events(n, 3) for n in range(6)]),
                              ("packed", [aggregate([f"record {n} {i}" for i in range(4)]) for n in range(3)])):
            box.make_stream(stream, 1)
            for text in texts:
                box.call("PutRecord", StreamName=stream, PartitionKey="k", Data=text)
        for decoder in ("cwlogs", "gzip,cwlogs"):
            for args, want in ((("-c", "2"), [f"event {n} {i}" for n in range(2) for i in range(3)]),
                               (("-c", "1", "--grep", "event 4 1"), ["event 4 1"]),
                               (("-c", "3", "--grepv", " [02]$"), ["event 0 1", "event 1 1", "event 2 1"])):
                r = box.tail("-o", "oldest", "-s", decoder, *args, "logs", limit=15)
                equal((r.code, r.err, lines(r.out)), (0, "", want), decoder, args)
        # What is counted is acknowledged as well: the next one goes on inside the aggregate, or behind the whole record.
        for stream, decoder, steps in (("logs", ("-s", "cwlogs"), (1, 2, 3)), ("packed", (), (1, 5, 6))):
            for how in (("--save", folder + "/place-" + stream), ("-G", "app", *QUICK)):
                got = []
                for n in steps:
                    r = box.tail("-o", "oldest", "-c", str(n), *decoder, *how, stream, limit=20)
                    equal(r.code, 0, r.err)
                    lines_of_a_record = 3 if decoder else 1
                    equal(len(lines(r.out)), n * lines_of_a_record, stream, how, n)
                    got += lines(r.out)
                kind, records, parts = ("event", 6, 3) if decoder else ("record", 3, 4)
                equal(got, [f"{kind} {n} {i}" for n in range(records) for i in range(parts)], stream, how)


def make_again(box, stream, shards=2):
    box.call("DeleteStream", StreamName=stream)
    time.sleep(1.2)  # a generation is a second
    wait_until(lambda: stream not in box.call("ListStreams")["StreamNames"], 20, "the stream is gone")
    box.make_stream(stream, shards)


UNNAMED = ("kcl", "vmware-go-kcl", "motorway", "kcl-rb", "kinsumer")


@test
def rows_of_a_stream_that_was_made_again_are_said_to_be_the_old_ones():
    """Nobody joins them; each command says so, and the one that it names goes on."""
    words = "it belongs to another stream, or to an earlier one of this name"
    with Box(1, *NO_LIMITS) as box:
        for schema in UNNAMED:
            box.make_stream(schema, 2)
            args = ("-G", "app-" + schema, "-X", "schema=" + schema)
            first = box.put(20, schema)
            r = box.tail(*args, "-o", "oldest", "-e", schema, limit=40)
            equal((r.code, len(lines(r.out))), (0, len(first)), schema, r.err)
            make_again(box, schema)
            second = box.put(10, schema, start=100)
            r = box.tail(*args, "--leases", schema)
            equal(r.code, 0, schema, r.err)
            check(words in r.out.decode() and "no worker joins these rows" in r.out.decode(), schema, r.out)
            r = box.tail(*args, "--leases", "-J", schema)
            rows = [json.loads(line) for line in lines(r.out)]
            equal([words in row["passed_over"] for row in rows if "passed_over" in row], [True], schema, r.out)
            equal(len([row for row in rows if "shard" in row]), 2, schema)
            for more in (("--explain", "0"), ("-o", "oldest", "-e")):
                r = box.tail(*args, *more, schema, limit=30)
                equal(r.code, 1, schema, more)
                check(words in r.err and "or --reset all --to oldest -o oldest" in r.err, schema, more, r.err)
            r = box.tail(*args, "--reset", "all", "--to", "oldest", "-o", "oldest", schema, limit=30)
            equal(r.code, 0, schema, r.err, r.out)
            r = box.tail(*args, "-o", "oldest", "-e", schema, limit=40)
            equal((r.code, sorted(lines(r.out))), (0, sorted(p[2] for p in second)), schema, r.err)


@test
def a_worker_whose_stream_is_made_again_names_the_command_that_goes_on():
    for schema, words in (("sloop", "Start again to read it (ENOSTREAM); run the same command again: it starts where -o says"),
                          ("kcl", "first stream-tail -G app -X schema=kcl --reset all --to oldest -o oldest demo, because its rows")):
        with Box(1, *NO_LIMITS) as box:
            box.put(5)
            p = box.start("-G", "app", "-X", "schema=" + schema, "-o", "oldest", "-X", "list_ms=1000", *QUICK, "demo")
            try:
                read_until(p.stdout.fileno(), lambda text: text.count(b"\n") >= 5)
                make_again(box, "demo", 1)
                equal(p.wait(60), 1)
                said = p.stderr.read().decode()
                check("was deleted and created again" in said and words in said, said)
            finally:
                end(p)


@test
def a_reader_without_leases_ends_too_when_its_stream_is_made_again():
    with tempfile.TemporaryDirectory() as folder:
        for args, words in (((), "Start again to read it (ENOSTREAM)\n"), (("--order", "shard"), "Start again to read it (ENOSTREAM)\n"),
                            (("--save", folder + "/place"), f"(ENOSTREAM); first delete {folder}/place\n")):
            with Box(1, *NO_LIMITS) as box:
                box.make_stream("made", 2)
                box.put(20, "made")
                p = box.start(*args, "-o", "oldest", "made")
                try:
                    read_until(p.stdout.fileno(), lambda text: text.count(b"\n") >= 20)
                    time.sleep(2)  # the place is saved
                    make_again(box, "made")
                    box.put(10, "made", start=100)
                    equal(p.wait(30), 1, args)
                    said = p.stderr.read().decode()
                    check("was deleted and created again" in said and said.endswith(words), args, said)
                finally:
                    end(p)
                if args and args[0] == "--save":  # and what it kept is said to be the old one's
                    r = box.tail(*args, "-o", "oldest", "made")
                    equal(r.code, 1, r.err)
                    check("belongs to an older stream of this name" in r.err and "delete that file" in r.err, r.err)


def table(box, *args):
    """Leases and workers, as --leases -J shows them, and the last line for a person."""
    r = box.tail(*args, "--leases", "-J", "demo")
    equal((r.code, r.err), (0, ""))
    rows = [json.loads(line) for line in lines(r.out)]
    return ([row for row in rows if "shard" in row], [row for row in rows if "worker" in row],
            lines(box.tail(*args, "--leases", "demo").out)[-1])


@test
def a_killed_worker_is_not_said_to_work():
    """Where rows of leases alone name workers, one look can't tell whether one lives, unless the row says until when."""
    with Box(2, *NO_LIMITS) as box:
        box.put(20)
        workers = {}
        for schema in ("kcl", "vmware-go-kcl", "motorway", "kcl-rb"):
            workers[schema] = box.start("-G", "v-" + schema, "-X", "schema=" + schema, "-o", "oldest", "-X", "lease_ms=3000", "demo")
        try:
            for schema, p in workers.items():
                read_until(p.stdout.fileno(), lambda text: text.count(b"\n") >= 20)
            time.sleep(1)
            for schema, p in workers.items():
                args = ("-G", "v-" + schema, "-X", "schema=" + schema, "-X", "lease_ms=3000")
                shards, named, last = table(box, *args)
                equal([w["state"] for w in named], ["owns"], schema)
                check("1 worker, 1 known only from leases: no row says whether it is alive" in last, schema, last)
                p.kill()
                watch = box.start(*args, "--watch=1", "demo")
                try:
                    def silent(text):
                        words = re.findall(rb"^\S+ +(owns|works|silent|dead) +2 ", text, re.M)
                        return words and words[-1] in (b"silent", b"dead")
                    read_until(watch.stdout.fileno(), silent)
                finally:
                    end(watch)
                over = schema == "vmware-go-kcl"  # its LeaseTimeout is over soon
                want = (["dead" if over else "owned"] * 2, ["dead" if over else "owns"])

                def states():
                    shards, named, _ = table(box, *args)
                    return [x["state"] for x in shards], [w["state"] for w in named]
                wait_until(lambda: states() == want, 5 if over else 0.5, f"{schema}: {want}")
                r = box.tail(*args, "--explain", "0", "demo")
                first = lines(r.out)[0]
                check(("let its lease expire" if over else "can't be seen in one reading") in first, schema, first)
        finally:
            for p in workers.values():
                end(p)


@test
def a_row_that_tells_no_beginning_is_not_said_to_begin_at_the_latest():
    with Box(1, *NO_LIMITS) as box:
        args = ("-G", "app", "-X", "schema=vmware-go-kcl")
        box.put(5)
        p = box.start(*args, "-o", "oldest", "demo")
        try:
            read_until(p.stdout.fileno(), lambda text: text.count(b"\n") >= 5)
            p.send_signal(signal.SIGINT)
            equal(p.wait(20), 0)
        finally:
            end(p)
        r = box.tail(*args, "--reset", "all", "--to", "oldest", "-o", "oldest", "demo")
        equal(r.code, 0, r.err)
        shards, _, _ = table(box, *args)
        equal([row["position"] for row in shards], [None])
        out = box.tail(*args, "--leases", "demo").out
        check(b"as -o says" in out and b"latest" not in out, out)
        r = box.tail(*args, "--explain", "0", "demo")
        check(b"position: not in the row: where -o of the worker that takes it says" in r.out, r.out)


@test
def a_table_that_refuses_is_told_of_at_once_and_once():
    with Box(2, *NO_LIMITS) as box:
        p = box.start("-G", "app", "-o", "oldest", *QUICK, "demo")
        try:
            wait_until(lambda: box.tail("-G", "app", "--leases", "demo").code == 0, 20, "a table")
            box.admin("/_sandbox/faults", "".join(f"* {operation} * throttle\n"
                                                  for operation in ("Query", "UpdateItem", "GetItem", "BatchGetItem")))
            for what in (("--leases",), ("--explain", "0"), ("--reset", "0", "--to", "oldest"), ("--release", "0")):
                begun = time.monotonic()
                command = box.start(*what, "-G", "app", "--timeout", "4", "demo")
                try:
                    read_until(command.stderr.fileno(), lambda text: b"ProvisionedThroughputExceededException" in text)
                    check(time.monotonic() - begun < 2.5, what, time.monotonic() - begun)
                    equal(command.wait(20), 1, what)
                    said = command.stderr.read().decode()
                    check("has not returned its rows in 4 s" in said and "; the last error: Query on table" in said, what, said)
                finally:
                    end(command)
            said = read_until(p.stderr.fileno(), lambda text: b"the lease table throttles" in text).decode()
            box.admin("/_sandbox/faults", method="DELETE")
            p.send_signal(signal.SIGINT)
            p.wait(20)
            said += p.stderr.read().decode()
            equal(said.count("the lease table throttles"), said.count("(ETHROTTLE"), said)
        finally:
            end(p)


@test
def a_watch_counts_what_the_table_refuses_it():
    with Box(2, *NO_LIMITS) as box:
        p = box.start("-G", "app", "-o", "oldest", *QUICK, "demo")
        watch = None
        try:
            wait_until(lambda: box.tail("-G", "app", "--leases", "demo").code == 0, 20, "a table")
            watch = box.start("--watch=1", "-G", "app", "demo")
            read_until(watch.stdout.fileno(), lambda text: b" 0 throttles of the table" in text)
            box.admin("/_sandbox/faults", "* Query * throttle\n")
            read_until(watch.stderr.fileno(), lambda text: b"ProvisionedThroughputExceededException" in text)
            box.admin("/_sandbox/faults", method="DELETE")
            got = read_until(watch.stdout.fileno(), lambda text: len(re.findall(rb" throttles? of the table", text)) >= 8
                             or re.search(rb" [1-9][0-9]* throttles? of the table", text))
            check(re.search(rb" [1-9][0-9]* throttles? of the table", got), got[-400:])
        finally:
            for each in (p, watch):
                if each:
                    end(each)


@test
def a_command_that_waits_for_an_owner_to_show_that_it_lives_says_so():
    with Box(1, *NO_LIMITS) as box:
        for schema in ("sloop", "kcl"):
            args = ("-G", "w-" + schema, "-X", "schema=" + schema, "-X", "lease_ms=5000")
            box.put(3)
            p = box.start(*args, "-o", "oldest", "demo")
            try:
                read_until(p.stdout.fileno(), lambda text: text.count(b"\n") >= 3)
                shards, _, _ = table(box, *args)
                p.kill()
                for what in (("--release", "0"), ("--reset", "0", "--to", "oldest")):
                    begun = time.monotonic()
                    command = box.start(*args, *what, "demo")
                    try:
                        equal(command.wait(30), 0, schema, what)
                        waited, said = time.monotonic() - begun > 2.5, command.stderr.read().decode()
                    finally:
                        end(command)
                    more = "; --force does not wait" if what[0] == "--reset" else ""
                    line = f"stream-tail: waiting up to one lease period to see whether {shards[0]['owner']} is alive{more}\n"
                    equal(said, line if waited else "", schema, what)
                    equal(waited, what[0] == "--release", schema, what)  # then it is nobody's
            finally:
                end(p)


def positions(box, *args):
    return {row["shard"]: row["position"] for row in table(box, *args)[0]}


@test
def a_change_that_is_cut_off_says_how_much_of_it_is_done():
    """By rows that are read afterwards, and the same command does the rest."""
    with Box(8, *NO_LIMITS) as box:
        put = box.put(80)
        for schema in ("sloop", "kcl"):
            args = ("-G", "cut-" + schema, "-X", "schema=" + schema)
            r = box.tail(*args, "-o", "oldest", "-e", "demo")
            equal((r.code, len(lines(r.out))), (0, len(put)), r.err)
            reset = (*args, "--reset", "all", "-o", "oldest", "demo", "--to")
            before = positions(box, *args)
            for to, how, limit in (("oldest", "error InternalServerError:500:no", ("--timeout", "3")), ("latest", "delay 60000", ())):
                box.admin("/_sandbox/faults", f"3 UpdateItem * delay 1\n* UpdateItem * {how}")
                p = box.start(*reset, to, *limit)
                try:
                    if not limit:
                        wait_until(lambda: box.calls("UpdateItem") and
                                   sum(x != y for x, y in zip(before.values(), positions(box, *args).values())) >= 3, 20, "3 rows")
                        p.send_signal(signal.SIGINT)
                    out, err = p.communicate(timeout=20)
                finally:
                    end(p)
                box.admin("/_sandbox/faults", method="DELETE")
                err = err.decode()
                equal(p.returncode, 1, err)
                m = re.search(r": (\d) of 8 leases are set, and (\d) more may be; run the same command again to continue$", err)
                check(m, schema, to, err)
                now = positions(box, *args)
                changed = {shard for shard in before if before[shard] != now[shard]}
                told = {line.split(":")[0] for line in lines(out) if ": set to " in line}
                maybe = {line.split(":")[0] for line in lines(out) if ": not known whether it was changed" in line}
                equal((len(told), len(maybe)), (int(m[1]), int(m[2])), out, err)
                check(told and told <= changed <= told | maybe, told, changed, maybe)
                r = box.tail(*reset, to)
                equal(r.code, 0, r.err, r.out)
                before = positions(box, *args)
            box.admin("/_sandbox/faults", "* Query * delay 60000\n* Scan * delay 60000")
            r = box.tail(*reset, "oldest", "--timeout", "1")
            box.admin("/_sandbox/faults", method="DELETE")
            equal((r.code, r.out, r.err), (1, b"", "stream-tail: the lease table has not answered in 1 s: nothing was changed\n"))
            equal(positions(box, *args), before)


@test
def a_copy_that_is_cut_off_says_how_much_of_it_is_written():
    with Box(8, *NO_LIMITS) as box:
        box.put(80)
        equal(box.tail("-G", "from", "-o", "oldest", "-e", "demo").code, 0)
        copy = ("--migrate", "sloop:from", "sloop:to", "--write", "demo")
        box.admin("/_sandbox/faults", "3 PutItem * delay 1\n* PutItem * error InternalServerError:500:no")
        r = box.tail(*copy, "--timeout", "3")
        box.admin("/_sandbox/faults", method="DELETE")
        equal(r.code, 1, r.err)
        equal(lines(r.out)[-1], "3 of 8 copied before it ended; more may be: run the same command again to continue")
        equal(r.err, "stream-tail: the tables have not answered in 3 s: some of it may be written; run the same command again to continue\n")
        equal(len(positions(box, "-G", "to")), 3)
        r = box.tail(*copy)
        equal((r.code, lines(r.out)[-1]), (0, "5 copied, 3 were there already"), r.err)
        box.admin("/_sandbox/faults", "* Query * delay 60000")
        r = box.tail("--migrate", "sloop:from", "sloop:other", "--write", "--timeout", "1", "demo")
        equal((r.code, r.out, r.err), (1, b"", "stream-tail: the tables have not answered in 1 s: nothing was written\n"))
        box.admin("/_sandbox/faults", method="DELETE")


@test
def two_streams_under_one_name_of_the_kcl_are_told_when_their_leases_meet():
    """Rows of the KCL do not name their stream, and shards of both have the same ids: the service alone can tell."""
    with Box(1, *NO_LIMITS) as box:
        args = ("-G", "app", "-X", "schema=kcl", "-o", "oldest", *QUICK)
        for stream in ("old", "new"):
            box.make_stream(stream, 2)
            put = box.put(20, stream)
            time.sleep(1.2)  # numbers tell streams of other seconds apart
        workers = [box.start(*args, "new")]
        try:
            last = {shard: seq for shard, seq, _ in put}

            def saved():
                r = box.tail("-G", "app", "-X", "schema=kcl", "--leases", "-J", "new")
                rows = [json.loads(line) for line in lines(r.out)]
                return {row["shard"]: row["position"].partition(" ")[2] for row in rows if "shard" in row} == last
            wait_until(saved, 25, "all is saved")
            # No number of the new stream is less than those of the old one.
            workers.append(box.start(*args, "--metrics", "127.0.0.1:0", "old"))
            said = read_until(workers[1].stderr.fileno(), lambda text: b"two streams" in text).decode()
            try:
                with urllib.request.urlopen(re.search(r"http://127\.0\.0\.1:\d+", said)[0] + "/ready", timeout=5) as answer:
                    check(False, answer.status, answer.read())
            except urllib.error.HTTPError as error:
                why = error.read().decode()
                equal(error.code, 503, why)
                check(re.search(r"old: the service refused the position of shardId-0+[01] \d s ago: see --explain", why), why)
            check("the service refuses to read from" in said and "-X schema=kcl --reset " in said and
                  " --to oldest -o oldest old sets a new one; if two streams share that name, rename one" in said, said)
        finally:
            for p in workers:
                end(p)


main(at_once=4)
