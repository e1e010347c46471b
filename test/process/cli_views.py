"""What a person chooses to see of records: by key, with times, the last ones, in colour. boto3 puts the records and says
which they are. SLOOP_BIN names the program."""

import base64
import concurrent.futures
import datetime
import json
import os
import pty
import random
import re
import signal
import subprocess
import tempfile
import time

from box import BIN, NO_LIMITS as NO_WRITE_LIMITS, Box
from command import check, end, environment, equal, main, obeys, read_until, run, test, wait_until

HAS_PCRE2 = b"libpcre2" in subprocess.run(["ldd", BIN], capture_output=True, check=True).stdout
NO_LIMITS = (*NO_WRITE_LIMITS, *(w for k in ("reads_per_second", "read_bytes_per_second") for w in ("-X", f"sandbox.{k}=0")))


def side_by_side(function, *each):
    """Calls the function for each, five at a time: the commands mostly wait."""
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        list(pool.map(function, each))


def put(box, pairs, stream="demo"):
    """Puts (key, payload) one after the other by boto3."""
    client = box.boto3("kinesis")
    for key, text in pairs:
        client.put_record(StreamName=stream, PartitionKey=key, Data=text.encode())


def read_all(box, stream="demo"):
    """All records of the stream as boto3 finds them, in the order of their arrival; of one moment by shard."""
    client, found = box.boto3("kinesis"), []
    for shard in client.list_shards(StreamName=stream)["Shards"]:
        iterator = client.get_shard_iterator(StreamName=stream, ShardId=shard["ShardId"],
                                             ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
        while iterator:
            page = client.get_records(ShardIterator=iterator)
            found += [{**r, "ShardId": shard["ShardId"]} for r in page["Records"]]
            iterator = page.get("NextShardIterator") if page["Records"] or page["MillisBehindLatest"] else None
    return sorted(found, key=lambda r: r["ApproximateArrivalTimestamp"])


# ---- keys -----------------------------------------------------------------------------------------------


@test
def keys_are_matched_in_every_shard():
    with Box(4) as box:
        put(box, [(f"user-{i}", f"payload {i}") for i in range(40)] + [("a.b", "dots"), ("axb", "no dot")])
        def finds(case):
            args, wanted = case
            r = box.tail("-o", "oldest", "-e", "-J", *args, "demo")
            equal((r.code, r.err), (0, ""), args)
            equal({json.loads(line)["payload"] for line in r.out.splitlines()}, {f"payload {i}" for i in wanted}, args)

        side_by_side(finds, (("--key", "^user-1"), {1, *range(10, 20)}), (("--key", "1$"), {1, 11, 21, 31}), (("-k", "USER-7$", "-i"), {7}),
                     (("--key-is", "user-3"), {3}),
                     (("--key-is", "user-3", "--key-is", "user-30", "--key", "9$"), {3, 30, 9, 19, 29, 39}),
                     (("--key-is", "user-"), set()), (("--key", "^user-1", "--grep", "1[0-4]$"), set(range(10, 15))),
                     (("--key", "^user-1", "--grepv", "1[0-4]$"), {1, *range(15, 20)}))
        equal(box.tail("-o", "oldest", "-e", "--key-is", "a.b", "demo").out, b"dots\n")  # no expression: not axb
        r = box.tail("-o", "oldest", "-e", "--key", "a(", "demo")
        equal((r.code, r.out), (2, b""))
        check(r.err.startswith('stream-tail: --key: "a(": '), r.err)


# ---- times ----------------------------------------------------------------------------------------------


def shown(at, zone):
    """A time of boto3's as --timestamps shows it."""
    text = at.astimezone(zone).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z") if zone is datetime.timezone.utc else text


@test
def each_line_begins_with_the_time_that_boto3_tells():
    zone = datetime.timezone(datetime.timedelta(hours=-3, minutes=-30))
    with Box(2) as box:
        put(box, [(f"k{i}", f"payload {i}") for i in range(10)])
        times = {r["Data"].decode(): r["ApproximateArrivalTimestamp"] for r in read_all(box)}
        for args, tz in (((), zone), (("--utc",), datetime.timezone.utc)):
            env = {**box.env, "TZ": "<-0330>3:30"}
            r = run(BIN, "-o", "oldest", "-e", "--timestamps", *args, "demo", env=env)
            equal((r.code, r.err), (0, ""))
            lines = r.out.decode().splitlines()
            equal(sorted(lines), sorted(f"{shown(at, tz)} {text}" for text, at in times.items()))
            r = run(BIN, "-o", "oldest", "-e", "-f", "%{time} %s %{time:%d.%m.%y %H:%M:%S %z}\\n", *args, "demo", env=env)
            equal(sorted(r.out.decode().splitlines()),
                  sorted(f"{shown(at, tz)} {text} {at.astimezone(tz).strftime('%d.%m.%y %H:%M:%S %z')}" for text, at in times.items()))
        r = box.tail("-o", "oldest", "-e", "-f", "%{time:%Q}", "demo")
        equal((r.code, r.out), (2, b""))
        check("unknown conversion in %{time:FORM} at character 8 of the format" in r.err, r.err)


@test
def a_lease_that_is_explained_says_until_when_it_is_read():
    with tempfile.TemporaryDirectory() as folder, Box(1) as box:
        app = ("-G", "app", "--store", "sqlite:" + os.path.join(folder, "leases"))
        box.put(5)
        begun = int(time.time())
        equal(box.tail(*app, "-o", "oldest", "-e", "demo").code, 0)
        text = run(BIN, *app, "--explain", "0", "demo", env={**box.env, "TZ": "<-0330>3:30"}).out.decode()
        at = re.search(r"position: after \d+, read up to about (\S+-03:30); written ", text)
        check(at and begun <= datetime.datetime.fromisoformat(at[1]).timestamp() <= time.time(), text)


# ---- the last records -----------------------------------------------------------------------------------

DAY_MS = 24 * 3600 * 1000


def ago(box, ms):
    """Moves the sandbox's clock so that it was `ms` ago by ours."""
    is_ms = int(box.admin("/_sandbox/clock", method="GET"))
    box.admin("/_sandbox/clock", str(int(time.time() * 1000) - ms - is_ms))


def put_at(box, moments, stream):
    """Puts a record at each of these moments, in ms ago. The payload is the place in the list."""
    for i, ms in enumerate(sorted(moments, reverse=True)):
        ago(box, ms)
        box.call("PutRecord", StreamName=stream, PartitionKey=f"key {i * 7919}", Data=base64.b64encode(str(i).encode()).decode())
    ago(box, 0)


def last_of(box, all_records, n, stream, *args):
    """Compares what is printed with what boto3 finds: as many records, and those that arrived last. Of records of one moment
    any may be left out."""
    r = box.tail(*args, "-f", "%T %p %o\\n", stream, limit=60)
    # a search that takes long is told, and takes long in a program with sanitizers
    said = re.sub(r"stream-tail: still searching for the last \d+ records, now from .+ on\n", "", r.err)
    equal((r.code, said), (0, ""), args)
    got = [line.split() for line in r.out.decode().splitlines()]
    want = [int(a["ApproximateArrivalTimestamp"].timestamp() * 1000 + 0.5) for a in all_records][-n:]
    equal([int(at) for at, _, _ in got], want, args)
    known = {(str(int(a["ApproximateArrivalTimestamp"].timestamp() * 1000 + 0.5)), a["ShardId"], a["SequenceNumber"])
             for a in all_records}
    check({tuple(g) for g in got} <= known and len({tuple(g) for g in got}) == len(got), "no other record, and none twice")
    return r


@test
def the_last_records_are_those_that_boto3_finds():
    """A day of records in 64 shards, crowded and far apart, and two places from which everything is read."""
    random.seed(50)
    with Box(1, *NO_LIMITS) as box:
        box.admin("/_sandbox/clock", str(-DAY_MS - 60000))
        for name, shards in (("day", 64), ("gap", 4), ("moment", 3), ("few", 2)):
            box.make_stream(name, shards)
        put_at(box, [random.randrange(1000, DAY_MS) for _ in range(1500)], "day")
        put_at(box, [random.randrange(1000, 5000) for _ in range(20)] + [random.randrange(DAY_MS // 2, DAY_MS) for _ in range(600)], "gap")
        ago(box, 90000)
        box.put(40, "moment")  # one call, so one moment
        put_at(box, [50000] * 3, "moment")
        check(len({r["ApproximateArrivalTimestamp"] for r in read_all(box, "moment")}) <= 4, "40 of one moment")
        put_at(box, [300000, 200000], "few")
        checks = []
        for stream, counts in (("day", (1, 50, 700, 5000)), ("gap", (20, 21, 50)), ("moment", (1, 3, 4, 20)), ("few", (1, 2, 50))):
            records = read_all(box, stream)
            checks += [(records, n, stream, "-n", str(n)) for n in counts]
        checks.append((checks[0][0], 50, "day", "-o", "-50", "-e"))
        side_by_side(lambda what: last_of(box, *what), *checks)
        equal(box.tail("-n", "5", "demo").out, b"")


@test
def what_is_searched_is_bounded_where_records_are_crowded():
    """A million records in each second of a day: the search reads windows of 10,000 records, not the day."""
    with Box(1, *NO_LIMITS) as box:
        box.admin("/_sandbox/clock", str(-DAY_MS))
        box.admin("/_sandbox/synthetic?name=crowd&shards=4&records=*&bytes=20&rate=250000&seed=1")
        ago(box, 0)
        before = box.calls("GetRecords")
        r = box.tail("-n", "50", "-f", "%T\\n", "crowd", limit=60)
        # That it takes a while is told; how much is read is what counts.
        told = [line for line in r.err.splitlines() if not line.startswith("stream-tail: still searching for the last 50 records")]
        equal((r.code, told, len(r.out.splitlines())), (0, [], 50))
        last = int(r.out.splitlines()[-1])
        check(time.time() * 1000 - r.took * 1000 - 1000 < last < time.time() * 1000, last, time.time() * 1000)
        check(box.calls("GetRecords") - before < 400, box.calls("GetRecords") - before)


@test
def minus_n_goes_on_with_what_comes():
    """Every record of the last ten and of those put while it searched and reads is there once. --grep counts no less."""
    with Box(4) as box:
        box.put(200)
        time.sleep(1.1)  # so that the search takes more than one window
        p = box.start("-o", "-10", "demo")
        try:
            wait_until(lambda: box.calls("GetRecords") > 8, what="the search")
            box.put(30, start=200)
            got = read_until(p.stdout.fileno(), lambda got: got.count(b"\n") >= 40)
            p.send_signal(signal.SIGINT)
            rest, err = p.communicate(timeout=10)
            lines = sorted(int(line.split()[1]) for line in (got + rest).splitlines())
            check(len(lines) == len(set(lines)) and set(range(200, 230)) <= set(lines) and len(lines) >= 40, lines)
        finally:
            end(p)
        r = box.tail("-n", "30", "--grep", "5 *$", "demo")
        check(0 < len(r.out.splitlines()) < 30, r.out)  # of the last 30 records, those that match
        r = box.tail("-n", "3", "-p", "0", "-J", "demo")
        equal({json.loads(line)["shard"] for line in r.out.splitlines()}, {"shardId-000000000000"})


@test
def two_streams_have_one_order_and_shards_have_children():
    with Box(2, "-X", "sandbox.change_ms=0", *NO_LIMITS) as box:
        box.make_stream("other", 2)
        box.put(40)
        time.sleep(0.05)
        box.put(5, "other", start=100)
        shards = [s["ShardId"] for s in box.call("ListShards", StreamName="demo")["Shards"]]
        box.call("MergeShards", StreamName="demo", ShardToMerge=shards[0], AdjacentShardToMerge=shards[1])
        wait_until(lambda: len(box.call("ListShards", StreamName="demo")["Shards"]) == 3, what="the merge")
        box.put(6, start=40)
        last_of(box, read_all(box), 20, "demo", "-n", "20")
        r = box.tail("-n", "15", "-f", "%t %s\\n", "demo", "other")
        lines = r.out.decode().splitlines()
        equal((len(lines), sorted(l.split()[2] for l in lines if l.startswith("other"))), (15, [str(n) for n in range(100, 105)]))
        equal([l.split()[2] for l in lines[-6:]], [str(n) for n in range(40, 46)])


@test
def the_last_changes_of_a_table_whose_times_are_whole_seconds():
    with Box(1, *NO_LIMITS) as box:
        box.make_table("pets")
        for i in range(30):
            box.dynamodb("PutItem", TableName="pets", Item={"id": {"S": f"p{i}"}})
            if i % 10 == 9:
                time.sleep(1.1)
        for n in (20, 10, 99):
            r = box.tail("-n", str(n), "-J", "dynamodb:pets")
            equal(r.code, 0, r.err)
            equal({json.loads(line)["change"]["Keys"]["id"]["S"] for line in r.out.splitlines()},
                  {f"p{i}" for i in range(max(0, 30 - n), 30)}, n)


@test
def a_search_that_fails_says_why_and_one_that_is_interrupted_ends():
    with Box(2) as box:
        r = box.tail("-n", "5", "nothing-like-it")
        equal((r.code, r.out, len(r.err.splitlines())), (1, b"", 1), r.err)
        check("nothing-like-it" in r.err, r.err)
        box.admin("/_sandbox/faults", "* GetRecords * error InternalFailure:500\n")
        r = box.tail("-n", "5", "-m", "2", "demo")
        equal((r.code, r.out), (1, b""))
        check("nothing was answered in 2 s; the last error: " in r.err, r.err)
        p = box.start("-n", "5", "demo")
        try:
            wait_until(lambda: obeys(p))
            said = read_until(p.stderr.fileno(), lambda got: b"\n" in got)
            check(b"still searching for the last 5 records, now from " in said and b"the last error: " in said, said)
            p.send_signal(signal.SIGINT)
            equal(p.wait(5), 0)
            check(b"stopped after 0 records" in p.stderr.read())
        finally:
            end(p)


# ---- colours --------------------------------------------------------------------------------------------

MARKED = re.compile(r"\x1b\[1;31m(.*?)\x1b\[0m")
TEXTS = ("an error at 10:11, error again", "no match", "aXbX", "user-7 did 12 things", "x" * 3000 + "error")


def in_terminal(box, *args, env=None):
    """What a terminal gets, with its line ends as ours."""
    master, slave = pty.openpty()
    p = subprocess.Popen([BIN, *args], stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.PIPE,
                         env=environment({**box.env, "TERM": "xterm", **(env or {})}))
    os.close(slave)
    got = b""
    try:
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # the other side is closed
                break
            got += piece
        equal(p.wait(10), 0, p.stderr.read())
    finally:
        end(p)
        os.close(master)
    return got.replace(b"\r\n", b"\n").decode()


@test
def matches_keys_and_shards_have_colours_on_a_terminal_only():
    with Box(1) as box:
        put(box, [("user-7", text) for text in TEXTS])
        base = ("-o", "oldest", "-e")
        plain = box.tail(*base, "demo").out
        def marks_what_re_finds(expressions):
            args = [word for e in expressions for word in ("--grep", e)]
            r = box.tail(*base, *args, "--color=always", "demo")
            got = {re.sub(r"\x1b\[[0-9;]*m", "", line.split(" ", 1)[1]): "".join(MARKED.findall(line)) for line in r.out.decode().splitlines()}
            want = {}
            for text in TEXTS:
                places = {i for e in expressions for m in re.finditer(e, text) for i in range(*m.span())}
                if any(re.search(e, text) for e in expressions):
                    want[text] = "".join(c for i, c in enumerate(text) if i in places)
            equal(got, want if HAS_PCRE2 else dict.fromkeys(want, ""), expressions)

        side_by_side(marks_what_re_finds, ["error"], ["error", r"\d+"], ["X|a"], [r"\w+-7"], ["^.", "[.]"])
        key = box.tail(*base, "-K:", "--key", "7", "--color=always", "demo").out.decode().splitlines()[0]
        equal(key.split(" ", 1)[1].split(":")[0], "\x1b[1;34muser-\x1b[1;31m7\x1b[0m\x1b[1;34m\x1b[0m" if HAS_PCRE2
              else "\x1b[1;34muser-7\x1b[0m")
        args = (*base, "--grep", "error", "-K:", "demo")
        check("\x1b[1;31merror" in in_terminal(box, *args) or not HAS_PCRE2, "a terminal has colours")
        check("\x1b[1;34muser-7" in in_terminal(box, *args), "keys")
        check("\x1b" not in in_terminal(box, *args, env={"NO_COLOR": "1"}), "NO_COLOR")
        check("\x1b" not in in_terminal(box, "--color=never", *args), "never")
        check("\x1b" not in in_terminal(box, *args, env={"TERM": "dumb"}), "a dumb terminal")
        equal(box.tail(*base, "demo").out, plain)
        json_lines = box.tail(*base, "-J", "demo").out
        matching = b"".join(line + b"\n" for line in json_lines.splitlines() if b"error" in line)
        matching_text = b"".join(line + b"\n" for line in plain.splitlines() if b"error" in line)

        def is_without_colour(how):  # what jq reads is the same to the byte
            equal(box.tail(*base, "-J", f"--color={how}", "demo").out, json_lines)
            equal(box.tail(*base, "-J", "--grep", "error", f"--color={how}", "demo").out, matching)
            equal(box.tail(*base, "-f", "%s\\n", "--grep", "error", f"--color={how}", "demo").out, matching_text)

        side_by_side(is_without_colour, "auto", "always", "never")


if __name__ == "__main__":
    main(at_once=3)
