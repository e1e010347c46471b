"""stream-tail --iam --try against a sandbox whose fault script denies: what is told of each right, and that nothing is
read, written, or taken from another reader by it."""

import json
import time

from box import BIN, Box
from command import check, end, environment, equal, main, run, test, wait_until

READING = ["kinesis:DescribeStreamSummary", "kinesis:ListShards", "kinesis:GetShardIterator", "kinesis:GetRecords"]
DENIED = "AccessDeniedException: by order of the fault script"


def tried(box, *args):
    """(exit status, {action: (verdict, why)}, standard error)."""
    r = box.tail("--iam", "--try", "-J", *args)
    rows = [json.loads(line) for line in r.out.splitlines()]
    return r.code, {row["action"]: (row["verdict"], row["why"]) for row in rows}, r.err


def deny(box, *operations):
    box.admin("/_sandbox/faults", method="DELETE")
    if operations:
        box.admin("/_sandbox/faults", "".join(f"* {o} * error AccessDeniedException\n" for o in operations))


def stats(box):
    return json.loads(box.admin("/_sandbox/stats", method="GET"))


@test
def all_rights_are_there_and_no_record_was_read():
    with Box(2) as box:
        box.put(10)
        code, rights, err = tried(box, "demo")
        equal((code, err), (0, ""))
        equal(rights, {action: ("allowed", None) for action in READING})
        equal(stats(box)["records_out"], 0)
        equal(box.calls("GetRecords"), 1)
        r = box.tail("--iam", "--try", "demo")
        equal(r.out.decode().splitlines() if isinstance(r.out, bytes) else r.out.splitlines(),
              [f"allowed {action} arn:aws:kinesis:*:*:stream/demo" for action in READING])


@test
def the_right_that_is_missing_is_named_and_no_other():
    with Box(2) as box:
        for action in READING:
            deny(box, action.split(":")[1])
            code, rights, err = tried(box, "demo")
            equal(code, 8, action)
            equal([a for a in READING if rights[a] == ("denied", DENIED)], [action])
            equal(err, f"stream-tail: 1 right missing: {action} on arn:aws:kinesis:*:*:stream/demo\n")
            others = {a: v for a, (v, _) in rights.items() if a != action}
            want = {a: "allowed" for a in others}
            if action == "kinesis:GetShardIterator":
                want["kinesis:GetRecords"] = "untried"
                check("GetShardIterator gave none" in rights["kinesis:GetRecords"][1], rights)
            equal(others, want)  # also without a listing: there was a shard 0


@test
def a_reader_says_which_right_on_what():
    with Box(1) as box:
        for operation in ("GetShardIterator", "GetRecords"):
            deny(box, operation)
            r = box.tail("-o", "oldest", "-e", "demo")
            equal(r.code, 1)
            check(f"no permission for kinesis:{operation} on demo: by order" in r.err, r.err)
            check("--iam" in r.err and "--try" in r.err, r.err)


@test
def a_subscription_is_tried_and_the_one_of_another_reader_goes_on():
    with Box(1) as box:
        code, rights, err = tried(box, "--push=w", "demo")
        equal((code, err), (0, ""))
        equal(rights["kinesis:DescribeStreamConsumer"], ("allowed", None))
        equal(rights["kinesis:SubscribeToShard"][0], "untried")  # there is no consumer yet
        equal(rights["kinesis:RegisterStreamConsumer"][0], "untried")
        equal(box.calls("RegisterStreamConsumer"), 0)
        reader = box.start("--push=w", "-o", "oldest", "demo")
        try:
            wait_until(lambda: box.calls("SubscribeToShard") == 1, what="the subscription")
            time.sleep(1.2)  # SubscribeToShard may be called once a second for a consumer and shard
            code, rights, err = tried(box, "--push=w", "demo")
            equal((code, rights["kinesis:SubscribeToShard"]), (0, ("allowed", None)))
            asked = box.calls("SubscribeToShard")
            box.put(1)
            check(reader.stdout.readline().startswith(b"record 0"))
            equal(box.calls("SubscribeToShard"), asked)  # the reader's was not ended
        finally:
            end(reader)
        deny(box, "SubscribeToShard")
        code, rights, err = tried(box, "--push=w", "demo")
        equal((code, rights["kinesis:SubscribeToShard"]), (8, ("denied", DENIED)))
        arn = box.call("ListStreamConsumers", StreamARN="arn:aws:kinesis:us-east-1:000000000000:stream/demo")
        arn = arn["Consumers"][0]["ConsumerARN"]
        stream = arn.split("/consumer/")[0]
        deny(box, "SubscribeToShard")
        code, rights, err = tried(box, "--push=" + arn, stream)
        equal((code, rights["kinesis:SubscribeToShard"]), (8, ("denied", DENIED)))
        # The rights for a consumer's ARN have no GetShardIterator: it is asked, once, whether DryRun is honoured.
        deny(box, "SubscribeToShard", "GetShardIterator")
        asked = box.calls("SubscribeToShard")
        code, rights, err = tried(box, "--push=" + arn, stream)
        equal((code, rights["kinesis:SubscribeToShard"][0]), (0, "untried"))
        check("did not show" in rights["kinesis:SubscribeToShard"][1], rights)
        equal(box.calls("SubscribeToShard"), asked)


@test
def streams_of_tables_and_leases():
    with Box(1) as box:
        box.make_table("customers")
        code, rights, err = tried(box, "-G", "billing", "demo", "dynamodb:customers")
        equal((code, err), (0, ""))
        for action in READING + ["dynamodb:DescribeStream", "dynamodb:GetShardIterator", "dynamodb:GetRecords"]:
            equal(rights[action], ("allowed", None), action)
        equal(rights["dynamodb:DescribeTable"], ("allowed", "there is no such table yet"))  # of the leases: the last
        equal(rights["dynamodb:Query"], ("untried", "there is no such table yet"))
        equal(box.tail("-G", "billing", "-o", "oldest", "-e", "demo").code, 0)  # makes the table
        before = {o: box.calls(o) for o in ("PutItem", "UpdateItem", "DeleteItem", "CreateTable")}
        reads = ("DescribeTable", "GetItem", "BatchGetItem", "Query")
        code, rights, err = tried(box, "-G", "billing", "demo")
        equal((code, err), (0, ""))
        for operation in reads:
            equal(rights["dynamodb:" + operation], ("allowed", None), operation)
        for operation in before:
            equal(rights["dynamodb:" + operation][0], "untried", operation)
        for operation in reads[1:]:
            deny(box, operation)
            code, rights, err = tried(box, "-G", "billing", "demo")
            equal((code, [a for a in rights if rights[a][0] == "denied"]), (8, ["dynamodb:" + operation]))
        equal({o: box.calls(o) for o in before}, before)


@test
def what_is_no_answer_about_rights_is_none():
    with Box(1) as box:
        code, rights, err = tried(box, "none")
        equal((code, {v for v, _ in rights.values()}), (1, {"unknown", "untried"}))
        check("3 rights that could not be told: kinesis:DescribeStreamSummary" in err, err)
        box.admin("/_sandbox/faults", "* GetRecords * status 403\n")  # a proxy, perhaps
        code, rights, err = tried(box, "demo")
        equal((code, rights["kinesis:GetRecords"][0]), (1, "unknown"))
    with Box(1, "-X", "sandbox.access_key=id", "-X", "sandbox.secret_key=right") as box:
        r = run(BIN, "--iam", "--try", "demo", env={**box.env, "AWS_SECRET_ACCESS_KEY": "wrong"})
        equal((r.code, len(r.out)), (1, 0))
        check("InvalidSignatureException" in r.err and r.err.count("\n") == 1, r.err)
    r = run(BIN, "--iam", "--try", "demo", env=box.env)
    equal((r.code, len(r.out)), (1, 0))
    check("ECONNREFUSED" in r.err, r.err)


@test
def its_options():
    r = run(BIN, "--try", "demo", env=environment())
    equal((r.code, r.err), (2, "stream-tail: --try can't be combined with following a stream\n"))
    for option in (("-J",), ("-b", "http://x"), ("-m", "1")):
        r = run(BIN, "--iam", *option, "demo", env=environment())
        equal(r.code, 2)
        check("only if --try is given" in r.err, r.err)
    equal(run(BIN, "--iam", "demo", env=environment()).code, 0)


@test
def putting_records_is_tried_without_a_record():
    with Box(2) as box:
        code, rights, err = tried(box, "-P", "demo")
        equal((code, rights, err), (0, {"kinesis:PutRecords": ("allowed", None)}, ""))
        deny(box, "PutRecords")
        code, rights, _ = tried(box, "-P", "demo")
        equal((code, rights), (8, {"kinesis:PutRecords": ("denied", DENIED)}))
        deny(box, "GetShardIterator")  # whether the server knows DryRun can't be told
        code, rights, _ = tried(box, "-P", "demo")
        equal((code, rights["kinesis:PutRecords"][0]), (0, "untried"))
        check("would put a record" in rights["kinesis:PutRecords"][1], rights)
        deny(box)
        code, rights, _ = tried(box, "-P", "--aggregate", "demo")
        equal((code, rights), (0, {f"kinesis:{a}": ("allowed", None) for a in ("DescribeStreamSummary", "ListShards", "PutRecords")}))
        equal(stats(box)["records_in"], 0)


main(at_once=4)
