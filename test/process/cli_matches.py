"""STREAM as a pattern of names: 'pay*'. boto3 makes, writes, deletes and names streams meanwhile."""

import json
import os
import signal
import subprocess
import tempfile
import time

from box import BIN, Box
from command import check, end, environment, equal, main, obeys, run, test, wait_until

EVERY = ("-X", "streams_ms=1000")


def make(kinesis, *names, shards=1):
    for name in names:
        kinesis.create_stream(StreamName=name, ShardCount=shards)
    for name in names:
        kinesis.get_waiter("stream_exists").wait(StreamName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 20})


def put(kinesis, stream, *texts):
    for text in texts:
        kinesis.put_record(StreamName=stream, Data=text.encode(), PartitionKey=text)


class Tail:
    """A running command, whose output is in files."""

    def __init__(self, box, *args):
        self.out, self.err = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        self.p = subprocess.Popen([BIN, *args], stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err,
                                  env=environment(box.env))

    def text(self, file):
        file.seek(0)
        return file.read()

    def lines(self):
        return self.text(self.out).splitlines()

    def said(self):
        return self.text(self.err)

    def wait_lines(self, want):
        wait_until(lambda: sorted(self.lines()) == sorted(want) or self.p.poll() is not None, 20,
                   f"{want}, got {self.lines()}, {self.said()}")
        equal(sorted(self.lines()), sorted(want), self.said())

    def stop(self):
        """Its status after a Ctrl-C."""
        wait_until(lambda: obeys(self.p), what="it has its signals")
        self.p.send_signal(signal.SIGINT)
        return self.p.wait(20)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        end(self.p)
        self.out.close()
        self.err.close()


@test
def all_that_match_are_read_in_one_order():
    with Box(1) as box:
        kinesis = box.boto3("kinesis")
        make(kinesis, "pay-a", "pay-b", "other")
        for i in range(6):
            put(kinesis, ("pay-a", "pay-b")[i % 2], f"r{i}")
            time.sleep(0.02)  # arrival times have milliseconds
        put(kinesis, "other", "not this one")
        r = box.tail("-o", "oldest", "-e", "-f", "%t %s\n", "pay*")
        equal((r.code, r.err), (0, ""))
        equal(r.out.decode().splitlines(), [f"pay-{'ab'[i % 2]} r{i}" for i in range(6)])
        r = box.tail("-o", "oldest", "-e", "other", "pay-[!a]")
        equal((r.code, sorted(r.out.decode().split("\n"))), (0, sorted(["", "not this one", "r1", "r3", "r5"])), r.err)
        equal(box.tail("-o", "oldest", "-e", "-q", "pay-?", "pay-a").out.count(b"\n"), 6)  # once, though named twice


@test
def a_new_stream_joins_from_its_oldest_record_and_a_deleted_one_leaves():
    with Box(1) as box:
        kinesis = box.boto3("kinesis")
        make(kinesis, "pay-a", "pay-b")
        with Tail(box, *EVERY, "-f", "%t %s\n", "pay*") as tail:
            # only what comes from now on, which needs the shards to be known
            wait_until(lambda: box.calls("GetRecords") >= 2, what="both are read")
            put(kinesis, "pay-a", "one")
            want = ["pay-a one"]
            tail.wait_lines(want)
            kinesis.create_stream(StreamName="pay-new", ShardCount=2)
            kinesis.create_stream(StreamName="other-new", ShardCount=1)
            kinesis.get_waiter("stream_exists").wait(StreamName="pay-new", WaiterConfig={"Delay": 1, "MaxAttempts": 20})
            put(kinesis, "pay-new", *(f"n{i}" for i in range(20)))
            want += [f"pay-new n{i}" for i in range(20)]
            tail.wait_lines(want)
            check("pay-new: a new stream that matches pay*; reading it from its oldest record" in tail.said(), tail.said())
            check("other" not in tail.said(), tail.said())
            kinesis.delete_stream(StreamName="pay-b")
            wait_until(lambda: "pay-b: the stream was deleted, and is read no more" in tail.said(), 20, "the end of pay-b")
            put(kinesis, "pay-a", "two")
            put(kinesis, "pay-new", "three")
            want += ["pay-a two", "pay-new three"]
            tail.wait_lines(want)
            names = kinesis.list_streams()["StreamNames"]
            equal(sorted(names), ["demo", "other-new", "pay-a", "pay-new"])
            make(kinesis, "pay-b")  # made again: it is a new stream
            put(kinesis, "pay-b", "again")
            want += ["pay-b again"]
            tail.wait_lines(want)
            put(kinesis, "pay-b", "and on")
            want += ["pay-b and on"]
            tail.wait_lines(want)
            equal(tail.stop(), 0, tail.said())
            equal(sorted(tail.lines()), sorted(want))


@test
def exit_at_tip_is_about_those_of_the_start():
    with Box(1) as box:
        kinesis = box.boto3("kinesis")
        make(kinesis, "pay-a", "pay-b")
        put(kinesis, "pay-a", "one")
        r = box.tail("-e", "-o", "oldest", "pay*")
        equal((r.code, r.out, r.err), (0, b"one\n", ""))
        equal(box.calls("ListStreams"), 1)  # and of one service: no table is asked for


@test
def until_a_time_has_the_streams_that_came_before_it():
    with Box(1) as box:
        kinesis = box.boto3("kinesis")
        make(kinesis, "pay-a")
        until = int(time.time() * 1000) + 5000
        with Tail(box, "-X", "streams_ms=3600000", "-o", "oldest", "--until", str(until), "pay*") as tail:
            wait_until(lambda: box.calls("GetRecords") >= 1, what="pay-a is read")
            make(kinesis, "pay-late")
            put(kinesis, "pay-late", "late")
            equal(tail.p.wait(30), 0, tail.said())
            equal(tail.lines(), ["late"], tail.said())


@test
def tables_match_as_dynamodb():
    with Box(1) as box:
        box.make_table("pets")
        box.make_table("plants")
        box.make_table("rocks")
        for name in ("pets", "plants", "rocks"):
            box.dynamodb("PutItem", TableName=name, Item={"id": {"S": name}})
        r = box.tail("-o", "oldest", "-e", "-J", "dynamodb:p*")
        rows = [json.loads(line) for line in r.out.splitlines()]
        equal((r.code, sorted(row["stream"] for row in rows)), (0, ["pets", "plants"]), r.err)
        arn = box.dynamodb("DescribeTable", TableName="pets")["Table"]["TableArn"]
        r = box.tail("-o", "oldest", "-e", "-J", arn.replace("pets", "*s"))
        equal((r.code, len(r.out.splitlines())), (0, 3), r.err)


@test
def an_arn_has_the_pattern_in_its_name():
    with Box(1) as box:
        kinesis = box.boto3("kinesis")
        make(kinesis, "pay-a", "pay-b")
        put(kinesis, "pay-a", "one")
        arn = kinesis.describe_stream_summary(StreamName="pay-a")["StreamDescriptionSummary"]["StreamARN"]
        r = box.tail("-o", "oldest", "-e", "-f", "%t %s\n", arn.replace("pay-a", "pay-?"))
        equal((r.code, r.out.decode().split()[-1]), (0, "one"), r.err)


@test
def no_match_names_the_nearest_and_fails_like_an_unknown_stream():
    with Box(1) as box:
        kinesis = box.boto3("kinesis")
        make(kinesis, "orders-eu", "orders-us", "payments")
        box.make_table("orders")
        r = box.tail("-e", "ordres-*")
        equal((r.code, r.out, r.err), (1, b"", "stream-tail: no stream of Kinesis matches ordres-*; did you mean orders-eu "
                                       "or orders-us?\n"))
        r = box.tail("-e", "payments", "dynamodb:ordrs*")
        equal((r.code, r.err), (1, "stream-tail: no table with a stream matches dynamodb:ordrs*; did you mean "
                                "dynamodb:orders?\n"))
        r = box.tail("-e", "zzz*")
        equal((r.code, "stream-tail -L lists them" in r.err), (1, True), r.err)
        equal(box.tail("-e", "dmeo").code, 1)


@test
def more_than_may_be_read_are_refused_and_too_many_new_ones_told():
    with Box(1) as box:
        kinesis = box.boto3("kinesis")
        for i in range(64):
            kinesis.create_stream(StreamName=f"pay-{i:02}", ShardCount=1)
        with Tail(box, *EVERY, "pay*") as tail:
            wait_until(lambda: box.calls("GetRecords") >= 64, 30, "all 64 are read")
            kinesis.create_stream(StreamName="pay-64", ShardCount=1)
            wait_until(lambda: "pay-64: a new stream that matches pay* is not read" in tail.said(), 20, "the 65th is told")
            kinesis.delete_stream(StreamName="pay-00")  # its place is free again
            wait_until(lambda: "pay-64: a new stream that matches pay*; reading it" in tail.said(), 30, "it is read then")
            equal(tail.stop(), 0, tail.said())
        make(kinesis, "pay-00")
        r = box.tail("-e", "pay*")
        equal((r.code, r.err), (1, "stream-tail: more than 64 streams match, and that many can be read at a time; use "
                                "narrower patterns, in several commands\n"))
        equal(box.tail("-e", "-o", "oldest", "pay-[0-3]*").code, 0)


@test
def modes_of_one_stream_and_no_patterns_are_refused():
    for args, said in ((("-P", "pay*"), "-P takes the name of one stream, and \"pay*\" is a pattern of names"),
                       (("--bench", "pay*"), "--bench takes the name of one stream"),
                       (("-G", "a", "--watch", "pay*"), "--watch takes the name of one stream"),
                       (("-p", "key:x", "pay*"), "-p key:TEXT is about one stream"),
                       (("-o", "0:1", "pay*"), "-o SHARD:SEQUENCE is about one stream"),
                       (("pay[",), "\"pay[\" is no pattern of names: a [ has no ]")):
        r = run(BIN, *args)
        equal((r.code, said in r.err), (2, True), args, r.err)


@test
def each_has_leases_of_its_own():
    with Box(1) as box:
        kinesis = box.boto3("kinesis")
        make(kinesis, "pay-a", "pay-b")
        put(kinesis, "pay-a", "one")
        put(kinesis, "pay-b", "two")
        app = ("-G", "bill", "-X", "lease_ms=2000")
        with Tail(box, *EVERY, *app, "-o", "oldest", "pay*") as tail:
            tail.wait_lines(["one", "two"])
            make(kinesis, "pay-c", shards=2)
            put(kinesis, "pay-c", "three")
            tail.wait_lines(["one", "two", "three"])
            r = box.tail("-G", "bill", "--leases", "-J", "pay*")
            rows = [json.loads(line) for line in r.out.splitlines()]
            leases = {(row["stream"], row["shard"]) for row in rows if row.get("shard")}
            equal((r.code, sorted(leases)), (0, sorted(
                (s, shard["ShardId"]) for s in ("pay-a", "pay-b", "pay-c")
                for shard in kinesis.list_shards(StreamName=s)["Shards"])), r.err, r.out)
            equal(tail.stop(), 0, tail.said())
        put(kinesis, "pay-c", "four")
        r = box.tail(*app, "-e", "pay*")
        equal((r.code, r.out), (0, b"four\n"), r.err)  # where the last one left off


@test
def saved_positions_hold_for_all_and_a_new_stream_is_read_whole():
    with Box(1) as box, tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "place")
        kinesis = box.boto3("kinesis")
        make(kinesis, "pay-a", "pay-b")
        put(kinesis, "pay-a", "one")
        args = ("--save", place, "-e", "pay*")
        equal(box.tail("-o", "oldest", *args).out, b"one\n")
        put(kinesis, "pay-a", "two")
        make(kinesis, "pay-c")
        put(kinesis, "pay-c", "three")
        kinesis.delete_stream(StreamName="pay-b")
        wait_until(lambda: "pay-b" not in kinesis.list_streams()["StreamNames"], what="pay-b is gone")
        r = box.tail(*args)
        equal((r.code, sorted(r.out.split())), (0, [b"three", b"two"]), r.err)
        check("pay-b" in r.err, r.err)  # its position is dropped, and that is told
        r = box.tail(*args)
        equal((r.code, r.out, r.err), (0, b"", ""))


@test
def who_may_not_list_is_told_the_right():
    with Box(1) as box:
        box.admin("/_sandbox/faults", "* ListStreams * error AccessDeniedException\n")
        r = box.tail("-e", "pay*")
        equal(r.code, 1)
        check("pay*: the streams can't be listed: " in r.err and "kinesis:ListStreams" in r.err, r.err)
        equal(len(r.err.splitlines()), 1, r.err)


@test
def a_stream_that_is_deleted_before_its_tip_is_missed_by_exit_at_tip():
    with Box(1) as box:
        kinesis = box.boto3("kinesis")
        make(kinesis, "pay-a")
        make(kinesis, "pay-b", shards=2)
        put(kinesis, "pay-a", "one")
        box.admin("/_sandbox/faults", "* GetRecords 1 throttle\n")  # only pay-b has a shard 1
        with Tail(box, *EVERY, "-o", "oldest", "-e", "pay*") as tail:
            # nothing is printed yet, because an earlier record may be in that shard
            wait_until(lambda: box.calls("GetRecords") >= 4, what="all are asked")
            kinesis.delete_stream(StreamName="pay-b")
            make(kinesis, "pay-new")  # -e is not about this one
            put(kinesis, "pay-new", "not this one")
            equal(tail.p.wait(30), 1, tail.said())
            check("pay-b: the stream was deleted" in tail.said(), tail.said())
            equal((tail.lines(), "pay-new" in tail.said()), (["one"], False), tail.said())


@test
def a_new_stream_that_may_not_be_read_ends_nothing_but_its_own_reading():
    with Box(1) as box:
        kinesis = box.boto3("kinesis")
        make(kinesis, "pay-a")
        with Tail(box, *EVERY, "-f", "%t %s\n", "pay*") as tail:
            wait_until(lambda: box.calls("GetRecords") >= 1, what="pay-a is read")
            box.admin("/_sandbox/faults", "* GetShardIterator 1 error AccessDeniedException:400:no\n"
                                          "* GetRecords 1 error AccessDeniedException:400:no\n")
            make(kinesis, "pay-secret", shards=2)
            wait_until(lambda: "no permission for kinesis:GetShardIterator on pay-secret" in tail.said(), 20, "what is missing")
            put(kinesis, "pay-a", "one")
            tail.wait_lines(["pay-a one"])
            time.sleep(2.5)  # two listings: it is not tried again
            equal(tail.said().count("pay-secret: a new stream"), 1, tail.said())
            equal(tail.stop(), 1, tail.said())


@test
def a_listing_that_fails_later_is_told_once_and_made_again():
    with Box(1) as box:
        kinesis = box.boto3("kinesis")
        make(kinesis, "pay-a")
        with Tail(box, *EVERY, "-f", "%t %s\n", "pay*") as tail:
            wait_until(lambda: box.calls("GetRecords") >= 1, what="pay-a is read")
            box.admin("/_sandbox/faults", "* ListStreams * error AccessDeniedException:400:no\n")
            make(kinesis, "pay-new")
            put(kinesis, "pay-new", "new")
            seen = box.calls("ListStreams")
            wait_until(lambda: box.calls("ListStreams") >= seen + 3, 20, "three listings that fail")
            equal(tail.said().count("can't be listed, so new ones are not found"), 1, tail.said())
            put(kinesis, "pay-a", "one")
            tail.wait_lines(["pay-a one"])
            box.admin("/_sandbox/faults", method="DELETE")
            tail.wait_lines(["pay-a one", "pay-new new"])
            equal(tail.stop(), 0, tail.said())


@test
def metrics_go_on_when_the_first_stream_is_gone():
    import urllib.request
    with Box(1) as box:
        kinesis = box.boto3("kinesis")
        make(kinesis, "pay-a", "pay-b")
        with Tail(box, *EVERY, "--metrics", "127.0.0.1:0", "pay*") as tail:
            wait_until(lambda: "metrics at" in tail.said(), what="the address")

            def page():
                url = tail.said().split("metrics at ")[-1].split()[0]
                with urllib.request.urlopen(url, timeout=10) as answer:
                    return answer.read().decode()

            wait_until(lambda: 'stream="pay-a"' in page() and 'stream="pay-b"' in page(), what="both streams")
            kinesis.delete_stream(StreamName="pay-a")
            wait_until(lambda: "pay-a: the stream was deleted" in tail.said(), 20, "the end of pay-a")
            wait_until(lambda: tail.said().count("metrics at") == 2, 20, "the metrics are opened again")
            make(kinesis, "pay-c")
            wait_until(lambda: 'stream="pay-c"' in page(), 20, "the new stream")
            text = page()
            equal(('stream="pay-b"' in text, 'stream="pay-a"' in text), (True, False))
            equal(tail.stop(), 0, tail.said())


@test
def the_policy_has_the_pattern_and_the_right_to_list():
    r = run(BIN, "--iam", "pay*", "dynamodb:p[ae]ts-?")
    policy = json.loads(r.out)
    rows = {tuple(s["Action"]): s["Resource"] for s in policy["Statement"]}
    equal(rows[("kinesis:ListStreams",)], "*")
    equal(rows[("dynamodb:ListStreams",)], "*")
    check("arn:aws:kinesis:*:*:stream/pay*" in rows.values(), rows)
    check("arn:aws:dynamodb:*:*:table/p?ts-?/stream/*" in rows.values(), rows)
    check("[" in r.err and "?" in r.err, r.err)  # the policy is wider than the pattern


if __name__ == "__main__":
    main(at_once=2)
