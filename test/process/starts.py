"""Every error that passes, at the start of everything: of each operation that a start makes, each error that botocore's
model says and that waiting mends is the answer to the first calls. Whatever was started must read all that boto3 put, or
print what it was asked for, and end with 0; and while such an error lasts it must be told.

tail_sandbox_faults.py has what the service may do to a reader that runs; contract/vectors/errors_botocore.py says which errors
there are.
"""

import json
import os
import re
import tempfile
import time

import harness
import servers
from creds_servers import Server
from harness import Tests, expect

N = 60
BATCH = 1  # times that each error comes
SCHEMAS = ("sloop", "kcl", "vmware-go-kcl", "kinsumer", "motorway", "kcl-rb")
OPERATIONS = {
    "kinesis": ("DescribeStreamSummary", "ListShards", "GetShardIterator", "GetRecords", "DescribeStreamConsumer",
                "RegisterStreamConsumer", "ListStreamConsumers", "DeregisterStreamConsumer", "SubscribeToShard"),
    "dynamodb": ("DescribeTable", "CreateTable", "GetItem", "BatchGetItem", "Query", "Scan", "UpdateItem", "PutItem",
                 "DeleteItem"),
    "dynamodbstreams": ("DescribeStream", "GetShardIterator", "GetRecords"),
}
# By name: these pass. Those that do not: the resource, the rights, the arguments, the iterator, the condition.
PASSES = re.compile("Throttl|^LimitExceeded|RequestLimit|ThroughputExceeded|Internal|WriteConflict|TransactionConflict")


def errors_of(service, operation):
    import botocore.session  # pylint: disable=import-outside-toplevel

    model = botocore.session.get_session().get_service_model(service).operation_model(operation)
    return sorted(shape.name for shape in model.error_shapes if PASSES.search(shape.name))


def script(services=("kinesis", "dynamodb"), times=BATCH):
    """Each error of each operation so many times, before anything else is answered."""
    lines = []
    for service in services:
        for operation in OPERATIONS[service]:
            for error in errors_of(service, operation):
                status = 500 if error.startswith("Internal") else 400
                lines.append(f"{times} {operation} * error {error}:{status}:not now")
    return "\n".join(lines)


class World:
    def __init__(self):
        self.box = servers.Sandbox(2, ("sandbox.write_bytes_per_second=0", "sandbox.write_records_per_second=0",
                                       "sandbox.reads_per_second=0"))

    def __enter__(self):
        self.box.__enter__()
        self.kinesis = harness.client(self.box.url)
        self.stream = harness.new_stream(self.kinesis, 2)
        self.producer = harness.Producer(self.kinesis, self.stream)
        self.producer.put_all(N)
        return self

    def __exit__(self, *exception):
        self.box.stop()

    def env(self, **more):
        return harness.tail_environment(self.box.url, **more)

    def run(self, *arguments, fail=True, seconds=100, **more):
        if fail:
            self.box.faults(script())
        done = harness.tail(list(arguments), self.env(**more), seconds)
        self.box.clear_faults()
        expect(done.code == 0, f"{done}")
        return done

    def judge(self, done):
        lines = [json.loads(line) for line in done.out.splitlines()]
        for line in lines:  # of a fleet
            line.pop("epoch", None)
            line.pop("worker", None)
        harness.judge_once(harness.records_of([json.dumps(line).encode() for line in lines]), self.producer.put)


# ---- readers -------------------------------------------------------------------------------------------------------


def alone(*knobs):
    with World() as world:
        done = world.run("-o", "oldest", "-e", "-J", *knobs, world.stream)
        world.judge(done)
        return f"{done.seconds:.1f} s"


def pushed():
    with World() as world:
        done = world.run("-o", "oldest", "-c", str(N), "-J", "--push=reader", world.stream)
        world.judge(done)
        return f"{done.seconds:.1f} s"


def fleet(schema):
    with World() as world:
        done = world.run("-G", "app", "-X", "schema=" + schema, "-o", "oldest", "-c", str(N), "-J", "-X", "lease_ms=4000",
                         world.stream)
        world.judge(done)
        return f"{done.seconds:.1f} s"


def changes():
    with World() as world:
        world.box.admin("POST", "table?name=Orders&partitions=2")
        world.box.admin("POST", "change?table=Orders",
                        "\n".join(f'{{"id":{{"S":"{i}"}}}}\t-\t{{"id":{{"S":"{i}"}}}}' for i in range(N)).encode())
        world.box.faults(script(("dynamodb", "dynamodbstreams")))
        done = harness.tail(["-o", "oldest", "-c", str(N), "-J", "dynamodb:Orders"], world.env(), 100)
        expect(done.code == 0 and done.out.count(b"\n") == N, f"{done}")
        return f"{done.seconds:.1f} s"


# ---- commands ------------------------------------------------------------------------------------------------------


def commands():
    """One after the other, each with all errors anew."""
    with World() as world:
        world.run("-G", "app", "-o", "oldest", "-c", str(N), "-J", world.stream, fail=False)
        shard = json.loads(world.run("-L", "-J", world.stream).out.splitlines()[0])["shard"]
        expect(shard in world.run("-G", "app", "--leases", "-J", world.stream).out.decode(), "--leases has no row")
        expect(world.run("-G", "app", "--explain", shard, world.stream).out, "--explain is silent")
        world.run("-G", "app", "--release", shard, world.stream)
        world.run("-G", "app", "--reset", shard, "--to", "oldest", world.stream)
        world.run("--migrate", "sloop:app", "kcl:other", world.stream)
        world.run("--bench=1", world.stream)
        world.run("--push=reader", "-o", "oldest", "-c", "1", world.stream, fail=False)
        expect(b"reader" in world.run("--consumers", world.stream).out, "--consumers has no reader")


def bench_of_a_late_shard(knobs, keys):
    """One shard answers at once, and one fails for longer than the time to be measured: not the silence of an empty
    stream, whether the one has records, which are held back for the order, or none."""
    with World() as world:
        stream = harness.new_stream(world.kinesis, 2)
        for key in keys:  # by hash: the first or the second shard
            world.kinesis.put_record(StreamName=stream, Data=b"x", PartitionKey="k", ExplicitHashKey=str(key << 127))
        world.box.faults("4 GetRecords shardId-000000000001 error ProvisionedThroughputExceededException:400:not now")
        done = harness.tail(["--bench=1", "-J", *knobs, stream], world.env(), 60)
        expect(done.code == 0, f"{done}")
        seen = {shard[-1]: of["records"] for shard, of in json.loads(done.out)["by_shard"].items()}
        expect(seen == {str(key): 1 for key in keys}, f"{seen}: {done}")
        return f"{done.seconds:.1f} s"


# ---- while it lasts ------------------------------------------------------------------------------------------------


def is_told(operation, error, arguments, words):
    """It lasts until it was told; then the program goes on."""
    with World() as world:
        world.box.faults(f"* {operation} * error {error}:400:not now")
        program = harness.Running([*arguments, world.stream], world.env())
        try:
            harness.wait_until(lambda: words in program.stderr() or program.process.poll() is not None, 30,
                               f"{error} of {operation} is told")
            expect(program.process.poll() is None, f"ended with {program.process.returncode}: {program.stderr()}")
            expect(words in program.stderr(), program.stderr())
            world.box.clear_faults()
            program.wait_lines(N, 40)
            expect(program.interrupt() == 0, program.stderr())
        finally:
            program.kill()


def bounded(arguments):
    """--timeout ends what lasts, and says what it was."""
    with World() as world:
        world.box.faults("* * * error ThrottlingException:400:not now")
        done = harness.tail([*arguments, "--timeout", "8", world.stream], world.env(), 30)
        expect(done.code != 0 and b"not now" in done.err and done.own_seconds < 20, f"{done}")


# ---- a table that is known to a part of the service only ---------------------------------------------------------------


def unknown_table(schema):
    """DescribeTable has it, and the first calls to it say ResourceNotFoundException, as for some seconds after CreateTable."""
    with World() as world:
        world.box.faults("\n".join(f"3 {o} * error ResourceNotFoundException:400:not here yet"
                                   for o in ("GetItem", "BatchGetItem", "Query", "Scan", "UpdateItem", "PutItem")))
        done = harness.tail(["-G", "app", "-X", "schema=" + schema, "-o", "oldest", "-c", str(N), "-J", "-X",
                             "lease_ms=6000", world.stream], world.env(), 60)
        expect(done.code == 0, f"{done}")
        world.judge(done)


def table_that_is_gone():
    with World() as world:
        world.box.faults("* Query * error ResourceNotFoundException:400:no such table\n"
                         "* GetItem * error ResourceNotFoundException:400:no such table\n"
                         "* UpdateItem * error ResourceNotFoundException:400:no such table")
        done = harness.tail(["-G", "app", "-J", "-X", "lease_ms=2000", world.stream], world.env(), 60)
        expect(done.code == 1 and b"there is no table" in done.err, f"{done}")


# ---- credentials -----------------------------------------------------------------------------------------------------


class Container(Server):
    """Answers with a status so many times, then with keys."""

    def __init__(self, failures, status):
        self.failures, self.status, self.asked = failures, status, 0
        super().__init__()

    def answer(self, handler):
        self.asked += 1
        if self.asked <= self.failures:
            return self.status, {}, b""
        return 200, {}, json.dumps({"AccessKeyId": "AKIDX", "SecretAccessKey": "secret", "Token": "token",
                                    "Expiration": "2099-01-01T00:00:00Z"}).encode()


def keys_later(status, *arguments):
    """The source of the keys fails for longer than one attempt lasts."""
    with World() as world, Container(7, status) as container:
        env = world.env(AWS_ACCESS_KEY_ID=None, AWS_SECRET_ACCESS_KEY=None,
                        AWS_CONTAINER_CREDENTIALS_FULL_URI=container.url + "/keys")
        done = harness.tail([*arguments, "-o", "oldest", "-c", str(N), "-J", world.stream], env, 100)
        expect(done.code == 0, f"{done}")
        expect(f"status {status}".encode() in done.err, f"not told: {done}")
        world.judge(done)


def keys_refused():
    """What will not pass ends it at once."""
    with World() as world, Container(1000, 403) as container:
        env = world.env(AWS_ACCESS_KEY_ID=None, AWS_SECRET_ACCESS_KEY=None,
                        AWS_CONTAINER_CREDENTIALS_FULL_URI=container.url + "/keys")
        done = harness.tail(["-G", "app", "-J", world.stream], env, 30)
        expect(done.code == 1 and b"status 403" in done.err, f"{done}")


def job(tests, name, test, *arguments):
    return lambda: tests.run(name, test, *arguments)


def main():
    harness.boto3_or_skip()
    tests = Tests()
    passes = {e for s, all_of in OPERATIONS.items() for o in all_of for e in errors_of(s, o)}
    expect(len(passes) >= 9 and "ReplicatedWriteConflictException" in passes, f"the models were not read: {passes}")
    tests.side_by_side([
        job(tests, "alone", alone),
        job(tests, "alone, order by shard", alone, "-X", "order_wait_ms=0"),
        job(tests, "pushed", pushed),
        job(tests, "changes of a table", changes),
        job(tests, "commands", commands),
        job(tests, "--bench: records wait for a shard that fails", bench_of_a_late_shard, ("-X", "order_wait_ms=60000"),
            (0, 1)),
        job(tests, "--bench: the only shard with records fails", bench_of_a_late_shard, (), (1,)),
        *[job(tests, f"a fleet of schema {s}", fleet, s) for s in SCHEMAS],
        job(tests, "told: describing", is_told, "DescribeStreamSummary", "ThrottlingException", ("-o", "oldest"), "not now"),
        *[job(tests, f"told: {op} {error}", is_told, op, error, ("-G", "app", "-o", "oldest"), "not now")
          for op, error in (("CreateTable", "LimitExceededException"), ("UpdateItem", "ReplicatedWriteConflictException"),
                            ("UpdateItem", "TransactionConflictException"))],
        *[job(tests, "bounded by --timeout: " + " ".join(a), bounded, a)
          for a in (("-L",), ("-G", "app", "--leases"), ("-o", "oldest"), ("--bench=1",))],
        *[job(tests, f"a table that is not known yet, schema {s}", unknown_table, s) for s in ("sloop", "kcl", "kinsumer")],
        job(tests, "a table that is gone", table_that_is_gone),
        job(tests, "keys that come later: 503", keys_later, 503),
        job(tests, "keys that come later: 429, a fleet", keys_later, 429, "-G", "app"),
        job(tests, "keys that are refused", keys_refused),
    ], at_once=4)
    tests.end()


main()
