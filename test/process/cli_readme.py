"""Runs every stream-tail command of the README and of the manual page's examples, as it stands there, in a shell, against
a sandbox that has the streams it names. SLOOP_BIN names the program."""

import base64
import gzip
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time

from box import BIN, Box, NO_LIMITS
from command import check, end, environment, equal, main, test, wait_until

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def manual(section):
    """A section of the manual page, as text: fonts are gone, macros stand as they are."""
    page = subprocess.run([BIN, "--man"], capture_output=True, text=True, check=True).stdout
    text = page.split(f"\n.SH {section}\n")[1].split("\n.SH ")[0]
    for roff, plain in (("\\-", "-"), ("\\(aq", "'"), ("\\(ti", "~"), ("\\(ha", "^"), ("\\e", "\\")):
        text = text.replace(roff, plain)
    return re.sub(r"\\f[BIR]", "", text)


def examples():
    """Commands of the README, and then those that only the manual page has."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        readme = re.findall(r"^    (stream-tail .*?)(?:  +#.*| # .*)?$", f.read(), re.M)
    more = re.findall(r"^\.B (stream-tail .*)$", manual("EXAMPLES"), re.M)
    check(len(readme) >= 14 and len(more) >= 18, readme, more)
    return readme + [line for line in more if line not in readme]


def json_members():
    """The members that JSON lines may have by the manual page."""
    part = manual("OUTPUT").split(".SS JSON\n")[1]
    return set(re.findall(r"\w+", " ".join(re.findall(r"^\.BR? (.*)$", part, re.M)))) - {"and"}


class World(Box):
    """A sandbox with the README's streams and its table, and somebody who goes on writing to them."""

    def __init__(self):
        super().__init__(2, *NO_LIMITS, "-X", "sandbox.change_ms=0")
        self.written, self.over, self.failed = 0, threading.Event(), None
        self.busy = threading.Event()  # only while somebody follows: a stream that is written to has no tip to end at

    def __enter__(self):
        for name in ("orders", "payments", "packed", "logs"):
            self.make_stream(name, 2)
        self.make_table("customers")
        self.write()
        self.writer = threading.Thread(target=self.go_on)
        self.writer.start()
        return self

    def __exit__(self, *what):
        self.over.set()
        self.writer.join()
        super().__exit__(*what)
        if self.failed and not what[0]:
            raise self.failed

    def write(self):
        self.written += 1
        event = {"id": "1", "timestamp": int(time.time() * 1000), "message": "INFO something"}
        logs = {"messageType": "DATA_MESSAGE", "owner": "1", "logGroup": "g", "logStream": "s", "logEvents": [event]}
        for name, data in (("orders", b"an order"), ("payments", b"a payment"), ("packed", gzip.compress(b"fatal: x")),
                           ("logs", gzip.compress(json.dumps(logs).encode()))):
            for key in ("user-7", f"user-{self.written}"):
                self.call("PutRecord", StreamName=name, PartitionKey=key, Data=base64.b64encode(data).decode())
        self.dynamodb("PutItem", TableName="customers", Item={"id": {"S": str(self.written)}})

    def go_on(self):
        try:
            while not self.over.wait(0.1):
                if self.busy.is_set():
                    self.write()
        except Exception as error:  # told by the test's own thread
            self.failed = error


def has_printed(path, words):
    with open(path, "rb") as file:
        text = file.read()
    return text and all(word in text for word in words)


def run_example(world, line, folder):
    """(exit status, standard output, standard error). What follows is interrupted when it has printed something."""
    ends = re.search(r"-e\b|-n \d|-c \d|-P|--until|-L|--iam|--bench|-M|--leases|--explain|--release|--reset|--migrate|--check", line)
    if ends and not ends[0].startswith(("-c ", "-n ")):  # these end when enough has come
        world.busy.clear()
    else:
        world.busy.set()
    with open(os.path.join(folder, "out"), "wb") as out:
        p = subprocess.Popen(["bash", "-c", "exec " + line], stdin=subprocess.PIPE, stdout=out, stderr=subprocess.PIPE, cwd=folder,
                             env=environment({**world.env, "PATH": f"{folder}/bin:{os.environ['PATH']}"}))
    try:
        if "-M" in line:
            wait_until(lambda: os.path.getsize(os.path.join(folder, "out")) > 0, what="its environment")
            p.stdin.close()
        elif not ends:
            # A worker goes on until it has read both shards: until then a row has a time, which the KCL's rows can't hold.
            shards = [b'"shardId-000000000000"', b'"shardId-000000000001"'] if "-G" in line and "-J" in line else [b""]
            wait_until(lambda: has_printed(os.path.join(folder, "out"), shards), what=line)
            p.send_signal(signal.SIGINT)
        p.wait(30)
        with open(os.path.join(folder, "out"), "rb") as out:
            return p.returncode, out.read(), p.stderr.read().decode()
    finally:
        end(p)


@test
def every_command_of_the_readme_and_of_the_manual_page_runs():
    lines, members = examples(), json_members()
    check(members >= {"stream", "shard", "payload_b64", "decode_error", "bad_row"}, members)
    with World() as world, tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(os.path.abspath(BIN), os.path.join(folder, "bin", "stream-tail"))
        with open(os.path.join(folder, "app.properties"), "w", encoding="utf-8") as f:
            f.write("executableName = cat\nstreamName = orders\napplicationName = billing\nretrievalMode = POLLING\n"
                    "AwsCredentialsProvider = DefaultCredentialsProvider\n")
        with open(os.path.join(folder, "lines"), "w", encoding="utf-8") as f:
            f.write("user-7:an order\n")
        with open(os.path.join(folder, "records"), "w", encoding="utf-8") as f:
            f.write('{"key":"user-7","payload":"an order","ts":1767225600000}\n')
        for line in lines:
            code, out, err = run_example(world, line, folder)
            equal(code, 0, line, err, out[-2000:])
            if "-P" in line:
                equal((out, err), (b"", "stream-tail: 1 record put, 14 bytes in 1 call\n"), line)
                continue
            mine = ("stream-tail: stopped after ", "stream-tail: stopped; ", "stream-tail: serving stream ", '{"stream_arn"')
            check(all(x.startswith(mine) for x in err.splitlines()), line, err)
            if "--until 5m" in line:
                equal(out, b"", line)  # nothing is that old
            else:
                check(out, line)
            if "--leases" in line and "-J" not in line:
                check(b"2 leases: 2 free" in out, out)
            if "-J" in line:
                check(all(json.loads(x)["stream"] for x in out.splitlines()), line)
                unknown = {name for x in out.splitlines() for name in json.loads(x)} - members
                check(not unknown, line, "the manual page does not have", unknown)
            if "packed" in line:
                equal(set(out.splitlines()), {b"fatal: x"})
            if "cwlogs" in line:
                equal(set(out.splitlines()), {b"INFO something"})
        # The one with --save once more: it goes on where it was left.
        line = next(x for x in lines if "--save" in x)
        with open(os.path.join(folder, "place"), encoding="utf-8") as f:
            before = json.load(f)
        seen = {s["shard_id"]: int(s["sequence_number"]) for s in before["shards"]
                if s.get("iterator_type") == "after_sequence"}
        code, out, err = run_example(world, line, folder)
        equal(code, 0, err)
        for record in map(json.loads, out.splitlines()):
            check(int(record["seq"]) > seen.get(record["shard"], 0), record, before)


@test
def the_exit_statuses_of_the_manual_page_are_those_of_the_help():
    help_text = subprocess.run([BIN, "-h", "exit"], capture_output=True, text=True, check=True).stdout
    said = re.findall(r"^\.B (\d+)$", manual("EXIT STATUS"), re.M)
    tail = help_text.split("Exit status:")[1]
    for status in said:
        check(re.search(rf"\b{status} ", tail), status)
    equal(sorted(set(said)), sorted(re.findall(r"(?:^|[;\n ])\s*(\d+) (?=the end|failed|wrong|--fail|--lag|a second|a living|no such|--iam|-P)", tail)))


main()
