"""stream-tail --multilang: children that behave, and children that do not, against the sandbox. The child is this file
itself: it speaks the protocol with Python's json, keeps what it got in a log, and misbehaves once as its first argument says.
Rows are looked at by boto3. SLOOP_BIN names the program."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time


# ---- the child ----------------------------------------------------------------------------------------------------------

def say(message):
    sys.stdout.write("\n" + json.dumps(message) + "\n")
    sys.stdout.flush()


def misbehave(how, action, once):
    """Once a test: the first child that comes here."""
    when = "shardEnded" if how in ("noend", "hangs-at-end") else "processRecords"
    if action != when or how == "good":
        return False
    if how == "dies":  # each time
        os._exit(7)
    if how == "hangs-at-end":
        time.sleep(1000)
    try:
        os.close(os.open(once, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    if how == "die":
        os._exit(7)
    if how == "hang":
        subprocess.Popen(["sleep", "1000"])  # in its group: it goes with it
        time.sleep(1000)
    if how == "late":
        time.sleep(3.3)
    if how == "wrong":
        say({"action": "status", "responseFor": "initialize"})
    if how == "input":
        os.close(0)
        say({"action": "checkpoint", "sequenceNumber": "1x"})  # the refusal finds nobody
        time.sleep(1000)
    if how == "endless":
        while True:
            sys.stdout.write("z" * 4000 + "\n")
    if how == "output":
        os.close(1)
        time.sleep(1000)
    return how in ("wrong", "noend")


def flood(how):
    if how == "flood":
        for i in range(20000):
            sys.stdout.write(f"not JSON at all, line {i}\n")
        sys.stdout.write("x" * 600000 + "\n")
        sys.stderr.write("y" * 5000 + "\nlast words\n")


def inherited():
    """What it has beside its standard three."""
    there = []
    for fd in os.listdir("/proc/self/fd"):
        try:
            there += [os.readlink(f"/proc/self/fd/{fd}")] if int(fd) > 2 else []
        except FileNotFoundError:  # that of the listing itself
            pass
    return there


def child(how, folder):
    shard = None
    descriptors = inherited()
    log = open(os.path.join(folder, f"log-{os.getpid()}"), "w", buffering=1)
    if how == "descriptors":
        log.write(json.dumps(["descriptors", descriptors]) + "\n")
    if how == "stay":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def checkpoint(**what):
        say({"action": "checkpoint", **what})
        answer = json.loads(sys.stdin.readline())
        assert answer["action"] == "checkpoint", answer
        log.write(json.dumps(["checkpoint", what, answer["error"]]) + "\n")
        return answer["error"]

    for line in sys.stdin:
        m = json.loads(line)
        # As Jackson writes it: no spaces, nothing escaped that need not be.
        assert json.dumps(m, separators=(",", ":"), ensure_ascii=False) + "\n" == line, line
        action = m["action"]
        if action == "initialize":
            shard = m["shardId"]
            log.write(json.dumps(["initialize", shard, m["sequenceNumber"], m["subSequenceNumber"]]) + "\n")
            if how == "asks":
                assert checkpoint(sequenceNumber=None) == "InvalidStateException"
        flood(how)
        bad = misbehave(how, action, os.path.join(folder, "once"))
        if action == "processRecords":
            for r in m["records"]:
                assert r["action"] == "record" and set(r) == {"data", "partitionKey", "sequenceNumber", "action",
                                                              "approximateArrivalTimestamp", "subSequenceNumber"}, r
                log.write(json.dumps(["record", shard, r["sequenceNumber"], r["data"]]) + "\n")
            log.write(json.dumps(["list", len(m["records"])]) + "\n")
            if how == "asks":
                last = m["records"][-1]["sequenceNumber"]
                assert checkpoint(sequenceNumber=str(int(last) + 1)) == "IllegalArgumentException"
                assert checkpoint(sequenceNumber="1x") == "IllegalArgumentException"
                assert checkpoint(sequenceNumber=last, subSequenceNumber=-1) == "IllegalArgumentException"
                assert checkpoint(sequenceNumber=str(int(last) - 1)) == "IllegalArgumentException"  # of no record
                assert checkpoint(sequenceNumber="1") == "IllegalArgumentException"
                assert checkpoint(sequenceNumber="0000" + last) is None
                assert checkpoint(sequenceNumber="12") == "IllegalArgumentException"  # behind the last one
            elif how != "never":
                checkpoint(sequenceNumber=None, subSequenceNumber=None)
        elif action in ("shardEnded", "shutdownRequested") and not bad:
            checkpoint(sequenceNumber=None, subSequenceNumber=None)
        log.write(json.dumps([action]) + "\n")
        say({"action": "status", "responseFor": action})
    while how == "stay":
        time.sleep(1000)


if len(sys.argv) > 2 and sys.argv[1] == "child":
    child(sys.argv[2], sys.argv[3])
    sys.exit(0)

import base64
import re
import urllib.error
import urllib.request

from box import BIN, SANITIZED, Box
from command import Watch, check, end, environment, equal, fill, ignored, main, read_until, run, signals, test, unsafe, wait_until


ALL = tempfile.TemporaryDirectory(prefix="multilang-")


class Daemon:
    """stream-tail --multilang over a folder of its own."""

    def __init__(self, box, how="good", more=(), words=(), env=None, out=None, err=None, ignores=(), more_popen=None):
        """more: lines of the file that win over those here; the child is another one where they name it."""
        self.folder = tempfile.mkdtemp(dir=ALL.name)
        self.file = os.path.join(self.folder, "app.properties")
        with open(self.file, "w", encoding="utf-8") as f:
            f.write(f"executableName = {sys.executable} {os.path.abspath(__file__)} child {how} {self.folder}\n"
                    "streamName = demo\napplicationName = app\nAwsCredentialsProvider = DefaultCredentialsProvider\n"
                    "initialPositionInStream = TRIM_HORIZON\nregionName = us-east-1\nretrievalMode = POLLING\n"
                    "metricsLevel = NONE\nidleTimeBetweenReadsInMillis = 200\nfailoverTimeMillis = 2000\n"
                    "shardSyncIntervalMillis = 1000\n" + "".join(line + "\n" for line in more))
        self.err = open(os.path.join(self.folder, "err"), "ab")
        self.out = open(os.path.join(self.folder, "out"), "wb")
        self.process = subprocess.Popen([BIN, *words, "--multilang", self.file], stdin=subprocess.DEVNULL,
                                        stdout=self.out if out is None else out, stderr=self.err if err is None else err,
                                        env=environment({**box.env, **(env or {})}), preexec_fn=ignored(*ignores),
                                        **(more_popen or {}))

    def said(self):
        with open(os.path.join(self.folder, "err"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def until(self, condition, limit, what):
        """As wait_until, but a daemon that has ended is the failure at once, with its last words."""
        def alive_and():
            check(self.process.poll() is None, f"the daemon ended with {self.process.poll()}")
            return condition()
        try:
            wait_until(alive_and, limit, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.said()[-2000:]}") from None

    def logs(self):
        """Of the children that have got a message."""
        found = []
        for name in sorted(os.listdir(self.folder)):
            if name.startswith("log-"):
                with open(os.path.join(self.folder, name), encoding="utf-8") as f:
                    found.append((int(name[4:]), [json.loads(line) for line in f if line.endswith("\n")]))
        return [(pid, log) for pid, log in found if log]

    def payloads(self):
        return [base64.b64decode(e[3]).decode() for _, log in self.logs() for e in log if e[0] == "record"]

    def living(self):
        """Children that live, whoever their parent is by now."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    words = f.read().split(b"\0")
                with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
                    if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                        continue
            except OSError:
                continue
            if b"child" in words and self.folder.encode() in words:
                found.append(int(pid))
        return found

    def stop(self, number=signal.SIGTERM, limit=40):
        self.process.send_signal(number)
        return self.process.wait(limit)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.out.close()
        self.err.close()
        wait_until(lambda: not self.living(), 10, "children outlive the daemon")


def put(box, first, n):
    done = box.call("PutRecords", StreamName="demo", Records=[
        {"Data": base64.b64encode(f"r{i}".encode()).decode(), "PartitionKey": f"k{i}"} for i in range(first, first + n)])
    equal(done["FailedRecordCount"], 0)


def everything(n):
    return {f"r{i}" for i in range(n)}


def rows(box):
    return {i["leaseKey"]["S"]: i for i in box.dynamodb("Scan", TableName="app")["Items"]
            if i["leaseKey"]["S"].startswith("shardId-")}


@test
def a_child_that_hangs_does_not_keep_a_daemon_whose_leases_are_gone():
    """Without timeoutInSeconds nothing else ends the child, and a daemon that stayed would read nothing for ever."""
    with Box(2) as box:
        put(box, 0, 50)
        with Daemon(box, "hang", ["shutdownGraceMillis = 1", "failoverTimeMillis = 1000"]) as d:
            d.until(lambda: os.path.exists(os.path.join(d.folder, "once")), 30, "the one that hangs")
            box.dynamodb("DeleteTable", TableName="app")
            equal(d.process.wait(70), 1, d.said())
            check("the child is killed: the stop took too long" in d.said(), d.said())


@test
def a_split_a_merge_and_two_kinds_of_kill_lose_nothing():
    with Box(2) as box:
        put(box, 0, 200)
        with Daemon(box) as d:
            d.until(lambda: set(d.payloads()) >= everything(200), 30, "the first records")
            box.call("SplitShard", StreamName="demo", ShardToSplit="shardId-000000000000",
                     NewStartingHashKey=str(2**126))
            d.until(lambda: len(rows(box)) == 4, 20, "the children of the split")
            put(box, 200, 200)
            d.until(lambda: set(d.payloads()) >= everything(400), 30, "the records behind the split")
            victim = [pid for pid, log in d.logs() if log[0][1] == "shardId-000000000002"][0]
            d.until(lambda: dict(d.logs())[victim][-1] == ["processRecords"], 20, "its checkpoint")
            os.kill(victim, signal.SIGKILL)
            box.call("MergeShards", StreamName="demo", ShardToMerge="shardId-000000000002",
                     AdjacentShardToMerge="shardId-000000000003")
            put(box, 400, 200)
            d.until(lambda: set(d.payloads()) >= everything(600), 30, "the records behind the merge")
            check("shardId-000000000002: the child is gone: it ended by signal 9" in d.said(), d.said())
            again = [log for pid, log in d.logs() if log[0][1] == "shardId-000000000002" and pid != victim][-1]
            check(len(set(d.payloads())) == 600 and len(d.payloads()) == 600, "repeated, though all was checkpointed")
            check(again[0][2].isdigit(), again[0])
            d.stop(signal.SIGKILL)
            wait_until(lambda: not d.living(), 5, "orphans")
        put(box, 600, 100)
        with Daemon(box) as d2:
            d2.until(lambda: set(d2.payloads()) >= {f"r{i}" for i in range(600, 700)}, 40, "what the next one reads")
            ended = [k for k, i in rows(box).items() if i["checkpoint"]["S"] == "SHARD_END"]
            equal(sorted(ended)[:1], ["shardId-000000000000"])
            equal(d2.stop(), 0, d2.said())
            for _, log in d2.logs():
                end = [e[0] for e in log if e[0] in ("shardEnded", "shutdownRequested", "leaseLost")]
                over = rows(box)[log[0][1]]["checkpoint"]["S"] == "SHARD_END"
                equal(end, ["shardEnded"] if over else ["shutdownRequested", "leaseLost"], log)
        open_rows = [i for k, i in rows(box).items() if i["checkpoint"]["S"].isdigit()]
        check(all("leaseOwner" not in i for i in open_rows), open_rows)


@test
def a_closed_shard_whose_only_page_comes_at_once_has_a_child():
    """The page may come before the daemon is told that the shard is read, and nothing is left to be read by then. That is
    likely with a log: its lines are told one after the other, and the news of the shard behind them."""
    with Box(12) as box:
        put(box, 0, 240)
        for i in range(0, 12, 2):
            wait_until(lambda: box.call("DescribeStreamSummary", StreamName="demo")["StreamDescriptionSummary"]["StreamStatus"] == "ACTIVE")
            box.call("MergeShards", StreamName="demo", ShardToMerge=f"shardId-{i:012}", AdjacentShardToMerge=f"shardId-{i + 1:012}")
        with Daemon(box, words=("-d", "all")) as d:
            d.until(lambda: set(d.payloads()) == everything(240), 40, "the records of the closed shards")
            d.until(lambda: sum(i["checkpoint"]["S"] == "SHARD_END" for i in rows(box).values()) == 12, 40, "their ends")
            equal(d.stop(), 0, d.said())


@test
def a_shard_that_the_service_has_forgotten_has_its_end_named():
    """A row may outlive its shard. Nothing of it can be read, and its children wait for its end all the same."""
    with Box(1) as box, Daemon(box) as d:
        put(box, 0, 10)
        d.until(lambda: set(d.payloads()) == everything(10), 30, "the records")
        gone = "shardId-000000000009"
        box.dynamodb("PutItem", TableName="app", Item={
            "leaseKey": {"S": gone}, "checkpoint": {"S": "TRIM_HORIZON"}, "checkpointSubSequenceNumber": {"N": "0"},
            "leaseCounter": {"N": "0"}, "ownerSwitchesSinceCheckpoint": {"N": "0"}})
        d.until(lambda: rows(box).get(gone, {"checkpoint": {"S": "SHARD_END"}})["checkpoint"]["S"] == "SHARD_END", 40, "its end")
        told = lambda: [[e[0] for e in log] for _, log in d.logs() if log[0][1] == gone]  # noqa: E731
        d.until(lambda: told() == [["initialize", "initialize", "checkpoint", "shardEnded"]], 20, "no record, and the end")
        equal(d.stop(), 0, d.said())


def trouble(how, cause, more=()):
    """One child does it once; its shard begins anew behind the last checkpoint, and the other never notices."""
    with Box(2) as box:
        put(box, 0, 50)
        with Daemon(box, how, more) as d:
            d.until(lambda: cause in d.said(), 30, cause)
            put(box, 50, 50)
            d.until(lambda: set(d.payloads()) >= everything(100), 30, "all records")
            for pid, log in d.logs():
                check(log[0][0] == "initialize", log[0])
            equal(d.stop(), 0, d.said())


@test
def a_hangup_that_nohup_ignores_is_ignored_by_the_children_too():
    hangup = 1 << signal.SIGHUP - 1
    for ignores in ((), (signal.SIGHUP,)):
        with Box(1) as box, Daemon(box, ignores=ignores) as d:
            d.until(lambda: d.logs(), 30, "a child")
            processes = [d.process.pid, *d.living()]
            check(len(processes) == 2, processes)
            equal([bool(signals(pid, "SigIgn") & hangup) for pid in processes], [bool(ignores)] * 2)
            equal(d.stop(), 0, d.said())


@test
def a_child_has_no_descriptor_of_the_daemon():
    with Box(1) as box:
        put(box, 0, 20)
        r, w = os.pipe()
        os.set_inheritable(w, True)  # nor what the daemon itself was given, as under Java's
        try:
            with Daemon(box, "descriptors", more_popen={"close_fds": False}) as d:
                d.until(lambda: set(d.payloads()) >= everything(20), 30, "the records")
                equal([e for _, log in d.logs() for e in log if e[0] == "descriptors"], [["descriptors", []]])
        finally:
            os.close(r)
            os.close(w)


@test
def a_child_that_dies_is_started_again():
    trouble("die", "the child is gone: it ended with status 7 without having answered processRecords")


@test
def a_child_that_hangs_is_killed_with_all_it_started():
    trouble("hang", "it did not answer processRecords within 4 s", ["timeoutInSeconds = 4"])


def is_ready(d):
    """The status of /ready, and what it says."""
    port = re.search(r"127\.0\.0\.1:(\d+)", d.said())[1]
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@test
def a_child_that_hangs_is_told_of_and_not_killed_unless_that_is_asked_for():
    with Box(2) as box:
        put(box, 0, 50)
        with Daemon(box, "hang", ["logWarningForTaskAfterMillis = 2000", "shutdownGraceMillis = 2000"],
                    ("--metrics", "127.0.0.1:0", "-X", "unready_ms=3000")) as d:
            d.until(lambda: "metrics" in d.said() and is_ready(d)[0] == 200, 30, "ready")
            said = re.compile(r"(shardId-0+[01]): the child has not answered processRecords for (\d+) s \((\d+) of its records "
                              r"wait; it is waited for without limit, because timeoutInSeconds is not set\)")
            d.until(lambda: len(said.findall(d.said())) >= 2, 30, "a second line")
            lines = said.findall(d.said())
            equal(len({shard for shard, _, _ in lines}), 1, lines)
            check(int(lines[0][1]) in (2, 3) and int(lines[1][1]) in (4, 5) and int(lines[0][2]) > 0, lines)
            d.until(lambda: is_ready(d)[0] == 503, 20, "not ready")
            check(lines[0][0] in is_ready(d)[1], is_ready(d))
            equal(len(d.living()), 2, "both live on")
            # A stop waits for its last checkpoint in vain: that is said, and no success.
            equal(d.stop(), 1, d.said())
            check(f"{lines[0][0]}: the child has not answered processRecords within 2 s of the stop (shutdownGraceMillis): its "
                  "shard is given up without a last checkpoint" in d.said(), d.said())
            check(d.said().count("of the stop") == 1, d.said())
            # What is said of its silence from then on is what a stop does, and nothing behind the last word.
            stop = d.said().partition("stopping: ")[2]
            check("without limit" not in stop, stop)
            check("has not answered" not in stop.partition("of the stop")[2], stop)


@test
def what_the_children_never_finish_is_not_ready():
    with Box(1) as box:
        put(box, 0, 20)
        unready = ("--metrics", "127.0.0.1:0", "-X", "unready_ms=2500")
        with Daemon(box, "dies", (), unready) as d:  # again and again, and each time its records come again
            d.until(lambda: "metrics" in d.said() and "has waited" in is_ready(d)[1], 30, "not ready")
            begun = d.said().count("the child is gone")
            seen = set()

            def died_twice():
                seen.add(is_ready(d)[0])
                return d.said().count("the child is gone") >= begun + 2
            d.until(died_twice, 60, "two more deaths")
            equal(seen, {503}, "none of which is progress")
            check("shardId-000000000000 has waited " in is_ready(d)[1], is_ready(d))
        box.call("SplitShard", StreamName="demo", ShardToSplit="shardId-000000000000", NewStartingHashKey=str(2 ** 127))
        with Daemon(box, "hangs-at-end", ["shutdownGraceMillis = 1"], unready) as d:
            d.until(lambda: set(d.payloads()) >= everything(20), 60, "the records")
            d.until(lambda: "shardId-000000000000 has waited " in is_ready(d)[1], 30, "an end that is not answered")


@test
def a_child_that_answers_late_is_told_to_have_answered():
    with Box(1) as box:
        put(box, 0, 5)
        with Daemon(box, "late", ["logWarningForTaskAfterMillis = 1000"]) as d:
            d.until(lambda: re.search(r"the child has answered processRecords after [34] s of silence", d.said()), 30, "the line")
            check("the child has not answered processRecords for 1 s" in d.said(), d.said())
            equal(d.stop(), 0, d.said())


@test
def a_child_that_answers_something_else_is_killed():
    trouble("wrong", 'it answered "initialize" to processRecords')


@test
def a_child_that_closes_its_output_is_killed():
    trouble("output", "it has closed its output")


@test
def a_child_that_closes_its_input_is_killed():
    trouble("input", "it has closed its input")


def memory_mb(pid, what):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(what + ":")) / 1024


@test
def a_child_that_prints_for_ever_is_killed_and_takes_no_memory():
    with Box(2) as box:
        put(box, 0, 50)
        with Daemon(box, "endless", ["timeoutInSeconds = 4"], ["-q"]) as d:
            d.until(lambda: len(d.logs()) >= 3, 30, "another child in its place")
            d.until(lambda: set(d.payloads()) >= everything(50), 30, "all records")
            check(SANITIZED or memory_mb(d.process.pid, "VmHWM") < 40, memory_mb(d.process.pid, "VmHWM"))
            equal(d.stop(), 0, d.said())


@test
def a_child_that_ignores_the_end_of_its_input_and_sigterm_is_killed():
    with Box(1) as box:
        put(box, 0, 20)
        with Daemon(box, "stay") as d:
            d.until(lambda: set(d.payloads()) >= everything(20), 30, "the records")
            equal(d.stop(), 0, d.said())
            check("the child does not exit after its input was closed; sending SIGTERM" in d.said(), d.said())
            check("the child ignores SIGTERM; sending SIGKILL" in d.said(), d.said())
        checkpoint = rows(box)["shardId-000000000000"]
        check(checkpoint["checkpoint"]["S"].isdigit() and "leaseOwner" not in checkpoint, checkpoint)


@test
def empty_lists_come_only_when_asked_for():
    for key, wanted in (("true", True), ("false", False)):
        with Box(1) as box:
            put(box, 0, 20)
            with Daemon(box, "never", [f"callProcessRecordsEvenForEmptyRecordList = {key}", "shutdownGraceMillis = 1"]) as d:
                d.until(lambda: set(d.payloads()) >= everything(20), 30, "the records")
                lists = lambda: [e[1] for _, log in d.logs() for e in log if e[0] == "list"]  # noqa: E731
                if wanted:
                    d.until(lambda: lists().count(0) >= 3, 20, "lists without records")
                else:
                    time.sleep(1)
                equal(0 in lists(), wanted, lists())


@test
def what_watches_a_consumer_watches_this_one():
    """The page for Prometheus, --leases, --explain and --watch, by the names in the file."""
    with Box(2) as box:
        put(box, 0, 100)
        with Daemon(box, words=["--metrics", "127.0.0.1:0"]) as d:
            d.until(lambda: set(d.payloads()) >= everything(100), 30, "the records")
            url = re.search(r"metrics at (http://\S+)", d.said()).group(1)
            page = urllib.request.urlopen(url, timeout=10).read().decode()
            read = [line.split()[-1] for line in page.splitlines() if line.startswith("sloop_records_total{")]
            check('app="app"' in page and read == ["100"], page)
            equal(urllib.request.urlopen(url.replace("/metrics", "/ready"), timeout=10).status, 200)
            r = run(BIN, "--multilang", d.file, "--leases", env=box.env)
            check(r.code == 0 and b"2 leases: 2 owned" in r.out, r.out, r.err)
            r = run(BIN, "--multilang", d.file, "--explain", "1", env=box.env)
            check(r.code == 0 and b"shardId-000000000001" in r.out, r.out, r.err)
            watch = subprocess.Popen([BIN, "--multilang", d.file, "--watch=1"], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, env=environment(box.env))
            try:
                got = read_until(watch.stdout.fileno(), lambda got: b"2 leases: 2 owned\n" in got)
                check(b"demo for app" in got, got)
            finally:
                end(watch)
            equal(d.stop(), 0, d.said())


@test
def secrets_are_in_no_line():
    """Of the file, when it has some where it should not; and of the environment, which may be a letter that is everywhere."""
    secret = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"
    with Box(1) as box:
        put(box, 0, 20)
        with Daemon(box, words=["--trace-protocol", "-vv"], env={"AWS_SECRET_ACCESS_KEY": "e", "AWS_SESSION_TOKEN": "1"}) as d:
            d.until(lambda: set(d.payloads()) >= everything(20), 30, "the records")
            equal(d.stop(), 0, d.said())
            with open(os.path.join(d.folder, "out"), encoding="utf-8") as f:
                told = [line.split(" ", 2) for line in f]
            check({"> shardId-000000000000", "< shardId-000000000000"} == {" ".join(t[:2]) for t in told}, told[:3])
            actions = [json.loads(t[2])["action"] for t in told if t[0] == ">"]
            equal((actions[0], actions[-1]), ("initialize", "leaseLost"))
        for value in (f"StaticCredentialsProvider|AKID|{secret}", f"StaticCredentialsProvider,AKID,{secret}", secret,
                      f"DefaultCredentialsProvider,{secret}", f"ProfileCredentialsProvider|p|{secret}"):
            with open(d.file, "a", encoding="utf-8") as f:
                f.write(f"AwsCredentialsProvider = {value}\n{secret[:5]} = {secret}\n")
            for words in (("--check",), ("--leases",)):
                r = run(BIN, *words, "--multilang", d.file, env=box.env)
                check(secret.encode() not in r.out and secret not in r.err, value, r.out, r.err)


BEGINNINGS = ("command program stream application lease region Kinesis DynamoDB credentials profile begins records CloudWatch "
              "line AwsCredentialsProvider: retrievalMode").split()


@test
def a_file_s_values_steer_no_terminal():
    """In every value that --check repeats, in names of keys, and where it is refused: by escapes of .properties, so in any file."""
    evil = r"a\u001b[2J\u009b\u202e\u2066\u061c\u2028\n\r\u007fz"
    every = dict(executableName=evil + " x" + evil, applicationName=evil, streamName=evil, regionName=evil, tableName=evil,
                 kinesisEndpoint="http://" + evil, dynamoDBEndpoint="http://" + evil, workerId=evil, processingLanguage=evil,
                 AwsCredentialsProvider=f"ProfileCredentialsProvider|{evil},{evil}Provider")
    every["fanoutConfig.consumerName"] = every[evil] = evil
    checked = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "app.properties")
        for more in ({}, {"maxRecords": evil}, {"metricsLevel": evil}, {"AwsCredentialsProvider": evil + "Provider"},
                     {"streamArn": evil}, {"retrievalMode": "POLLING"}, {"metricsLevel": "NONE"}):
            with open(path, "w", encoding="ascii") as f:
                f.writelines(f"{key} = {value}\n" for key, value in {**every, **more}.items())
            r = run(BIN, "--check", path)
            check(r.code == 2 and not unsafe(r.out.decode() + r.err), more, r.out, r.err)
            words = [line.split()[0] for line in r.out.decode().splitlines()]
            checked += len(words) >= 12
            check(set(words) <= set(BEGINNINGS), words)  # none ended a line
    check(checked >= 3, checked)


@test
def a_flood_of_junk_is_logged_and_passed_over():
    with Box(1) as box:
        put(box, 0, 50)
        with Daemon(box, "flood") as d:
            d.until(lambda: set(d.payloads()) >= everything(50), 30, "the records")
            check("a line of the child's output that is not a message: not JSON at all" in d.said(), "no word of junk")
            check("too long and was skipped" in d.said(), "no word of a long line")
            check("stderr: last words" in d.said(), "no word of standard error")
            equal(d.stop(), 0, d.said())


def longest_hold(url):
    """In seconds; and the page has to come."""
    page = urllib.request.urlopen(url, timeout=3).read().decode()
    return max(float(line.split()[-1]) for line in page.splitlines() if line.startswith("sloop_hold_max_seconds"))


@test
def a_standard_error_that_nobody_reads_holds_nothing_up():
    """Children die all the time, and each death is a line."""
    r, w = os.pipe()
    with Box(16) as box:
        put(box, 0, 50)
        with Daemon(box, words=["--metrics", "127.0.0.1:0"], more=["executableName = false"], err=w) as d:
            said = read_until(r, lambda got: b"/metrics\n" in got)
            url = re.search(rb"metrics at (http://\S+)", said).group(1).decode()
            read_until(r, lambda got: b"the child is gone" in got)
            fill(w)
            until = time.monotonic() + 4
            while time.monotonic() < until:
                time.sleep(0.2)
                check(SANITIZED or longest_hold(url) < 0.3, longest_hold(url))
            watch = Watch(d.process)
            d.process.send_signal(signal.SIGTERM)
            equal(watch.wait(), 0)
            check(watch.seconds < 2, watch.seconds)
    os.close(r)
    os.close(w)


@test
def lines_that_found_no_room_are_counted():
    r, w = os.pipe()
    with Box(4) as box, Daemon(box, more=["executableName = false"], err=w) as d:
        read_until(r, lambda got: b"the child is gone" in got)
        fill(w)
        time.sleep(2)
        got = read_until(r, lambda got: b"standard error was full\n" in got)
        check(re.search(rb"stream-tail: \d+ lines? (is|are) skipped here: ", got), got[-500:])
        equal(d.stop(), 0)
    os.close(r)
    os.close(w)


@test
def junk_without_end_is_told_in_few_lines():
    with Box(2) as box:
        put(box, 0, 50)
        with Daemon(box, words=["--metrics", "127.0.0.1:0"], more=["executableName = yes", "timeoutInSeconds = 3"]) as d:
            d.until(lambda: d.said().count("the child is killed: it did not answer") >= 2, 20, "the end of their patience")
            check("a line of the child's output that is not a message: y\n" in d.said(), d.said()[:500])
            d.until(lambda: re.search(r"that is not a message \(and \d+ more like it\)\n", d.said()), 10, "how many there were")
            check(len(d.said()) < 10000, len(d.said()), d.said()[:500])
            url = re.search(r"metrics at (http://\S+)", d.said()).group(1)
            check(SANITIZED or longest_hold(url) < 0.3, longest_hold(url))
            began = time.monotonic()
            equal(d.stop(), 0, d.said())
            check(time.monotonic() - began < 6, time.monotonic() - began)  # no longer than for one that is silent


@test
def all_of_a_childs_standard_error_is_passed_on():
    """It is the log of the program: the daemon of Amazon passes it on line for line, too."""
    n = 50000
    with Box(1) as box:
        script = os.path.join(ALL.name, "talks.sh")
        with open(script, "w", encoding="utf-8") as f:
            f.write(f"seq {n} >&2\nexec sleep 1000\n")
        with Daemon(box, words=["--metrics", "127.0.0.1:0"],
                    more=[f"executableName = sh {script}", "timeoutInSeconds = 5"]) as d:
            d.until(lambda: f"stderr: {n}\n" in d.said(), 30, "the last line")
            url = re.search(r"metrics at (http://\S+)", d.said()).group(1)
            check(SANITIZED or longest_hold(url) < 0.3, longest_hold(url))
            lines = [line.rsplit(" ", 1)[1] for line in d.said().splitlines() if "shardId-000000000000: stderr: " in line]
            equal(lines[:n], [str(i) for i in range(1, n + 1)])
            equal(d.stop(), 0)


@test
def a_child_that_asks_and_reads_no_answer_takes_no_memory():
    with Box(1) as box:
        script = os.path.join(ALL.name, "asks.sh")
        with open(script, "w", encoding="utf-8") as f:
            f.write("""exec yes '{"action":"checkpoint","sequenceNumber":"1x"}'\n""")
        with Daemon(box, more=[f"executableName = sh {script}", "timeoutInSeconds = 2"]) as d:
            d.until(lambda: "it did not answer initialize within 2 s" in d.said(), 10, "the end of the patience with it")
            check(SANITIZED or memory_mb(d.process.pid, "VmHWM") < 40, memory_mb(d.process.pid, "VmHWM"))
            equal(d.stop(), 0, d.said())


@test
def a_trace_that_nobody_reads_is_not_waited_for():
    r, w = os.pipe()
    with Box(1) as box:
        put(box, 0, 500)
        fill(w)
        with Daemon(box, words=["--trace-protocol"], out=w) as d:
            d.until(lambda: set(d.payloads()) >= everything(500), 30, "the records")
            began = time.monotonic()
            equal(d.stop(limit=20), 0, d.said())
            check(time.monotonic() - began < 5, time.monotonic() - began)
    os.close(r)
    os.close(w)


@test
def checkpoints_are_refused_by_the_protocols_names():
    with Box(1) as box:
        put(box, 0, 20)
        with Daemon(box, "asks") as d:
            d.until(lambda: set(d.payloads()) >= everything(20), 30, "the records")
            done = ["checkpoint", {"sequenceNumber": "12"}, "IllegalArgumentException"]
            d.until(lambda: any(done in log for _, log in d.logs()), 20, "the refusal")
            check(rows(box)["shardId-000000000000"]["checkpoint"]["S"].isdigit(), rows(box))
            check("is gone" not in d.said(), d.said())
            equal(d.stop(), 0, d.said())


@test
def nothing_is_checkpointed_that_the_child_did_not_ask_for():
    with Box(1) as box:
        put(box, 0, 20)
        with Daemon(box, "never", ["shutdownGraceMillis = 1"]) as d:
            d.until(lambda: set(d.payloads()) >= everything(20), 30, "the records")
            time.sleep(0.5)
            equal(rows(box)["shardId-000000000000"]["checkpoint"]["S"], "TRIM_HORIZON")


@test
def an_end_that_was_not_checkpointed_is_not_written():
    with Box(1) as box:
        put(box, 0, 20)
        with Daemon(box, "noend") as d:
            d.until(lambda: set(d.payloads()) >= everything(20), 30, "the records")
            box.call("SplitShard", StreamName="demo", ShardToSplit="shardId-000000000000",
                     NewStartingHashKey=str(2**127))
            d.until(lambda: "did not checkpoint at the end of the shard" in d.said(), 30, "the error's name")
            put(box, 20, 20)
            d.until(lambda: set(d.payloads()) >= everything(40), 30, "the children's records")
            equal(d.stop(), 0, d.said())


def example_of_the_manual():
    """The child of sloop(7), as it is written there."""
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "api", "sloop.7")
    with open(page, encoding="utf-8") as f:
        blocks = re.findall(r"^\.nf\n\.RS 4\n(.*?)^\.RE\n\.fi$", f.read(), re.M | re.S)
    found = [b for b in blocks if b.startswith("import ")]
    equal(len(found), 1, "examples in Python")
    return found[0].replace("\\-", "-").replace("\\e", "\\")


@test
def the_child_of_the_manual_page_reads_all_and_names_the_ends():
    with Box(1) as box:
        put(box, 0, 20)
        with tempfile.NamedTemporaryFile("w", suffix=".py", dir=ALL.name) as program:
            program.write(example_of_the_manual())
            program.flush()
            check(len(example_of_the_manual().splitlines()) <= 20, "it is short")
            with Daemon(box, "good", [f"executableName = {sys.executable} {program.name}"], words=["--trace-protocol"]) as d:
                d.until(lambda: d.said().count("b'r") >= 20, 30, "the records")
                box.call("SplitShard", StreamName="demo", ShardToSplit="shardId-000000000000",
                         NewStartingHashKey=str(2**127))
                d.until(lambda: rows(box).get("shardId-000000000000", {"checkpoint": {"S": "SHARD_END"}})
                        ["checkpoint"]["S"] == "SHARD_END", 30, "the end of the parent")
                wait_until(lambda: box.call("DescribeStreamSummary", StreamName="demo")["StreamDescriptionSummary"]
                           ["StreamStatus"] == "ACTIVE", 10, "the split")
                put(box, 20, 20)
                d.until(lambda: d.said().count("b'r") >= 40, 30, "the records of the children")
                equal(d.stop(), 0, d.said())
                said = d.said()
            equal({r for r in re.findall(r"b'(r\d+)'", said)}, everything(40))
            check("no checkpoint" not in said and "is killed" not in said, said)
            with open(os.path.join(d.folder, "out"), encoding="utf-8") as f:
                told = [line.split(" ", 2) for line in f]
            asked = {json.loads(t[2])["action"] for t in told if t[0] == ">"}
            answered = {json.loads(t[2])["responseFor"] for t in told if t[0] == "<" and '"status"' in t[2]}
            check(answered >= {"initialize", "processRecords", "shardEnded", "shutdownRequested"}, answered)
            equal(asked, answered | {"checkpoint"})


@test
def a_consumer_is_had_by_its_arn_and_a_foreign_one_never_made():
    with Box(1) as box:
        arn = box.call("DescribeStreamSummary", StreamName="demo")["StreamDescriptionSummary"]["StreamARN"]
        mine = box.call("RegisterStreamConsumer", StreamARN=arn, ConsumerName="theirs")["Consumer"]["ConsumerARN"]
        wait_until(lambda: box.call("DescribeStreamConsumer", ConsumerARN=mine)["ConsumerDescription"]["ConsumerStatus"]
                   == "ACTIVE", 20, "the consumer")
        put(box, 0, 20)
        asked = box.calls("DescribeStreamConsumer")
        fanout = ["retrievalMode = FANOUT", "callProcessRecordsEvenForEmptyRecordList = false"]
        with Daemon(box, "good", [*fanout, f"fanoutConfig.consumerArn = {mine}"]) as d:
            d.until(lambda: set(d.payloads()) >= everything(20), 30, "the records")
            equal(d.stop(), 0, d.said())
        r = box.tail(f"--push={mine}", "-o", "oldest", "-e", "demo")
        equal((r.code, len(r.out.splitlines())), (0, 20), r.err)
        for foreign, why in ((arn.replace("000000000000", "999999999999"), "name the stream by that ARN"),
                             (arn.replace("demo", "other"), "of a consumer of another stream")):
            r = box.tail(f"--push={foreign}/consumer/theirs:17", "-o", "oldest", "-e", "demo")
            check(r.code and not r.out and why in r.err, r.code, r.err)
        with Daemon(box, "good", [*fanout, f"fanoutConfig.consumerArn = {arn.replace('000000000000', '999999999999')}"
                                           "/consumer/theirs:17"]) as d:
            wait_until(lambda: d.process.poll() is not None or "999999999999" in d.said(), 30, "a word of the stream")
        equal(box.calls("DescribeStreamConsumer"), asked, "nobody asks about a consumer that is given")
        equal([c["ConsumerName"] for c in box.call("ListStreamConsumers", StreamARN=arn)["Consumers"]], ["theirs"])


@test
def a_table_s_changes_are_told_apart():
    """As StreamsMultiLangDaemon: no key of polling is given, and it is polled all the same."""
    with Box(1) as box:
        key = {"pk": {"S": "a"}}
        box.dynamodb("CreateTable", TableName="tab", BillingMode="PAY_PER_REQUEST",
                     KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                     AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                     StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
        wait_until(lambda: box.dynamodb("DescribeTable", TableName="tab")["Table"]["TableStatus"] == "ACTIVE", 10, "the table")
        arn = box.dynamodb("DescribeTable", TableName="tab")["Table"]["LatestStreamArn"]
        box.dynamodb("PutItem", TableName="tab", Item={**key, "n": {"N": "1"}})
        box.dynamodb("PutItem", TableName="tab", Item={**key, "n": {"N": "2"}})
        box.dynamodb("DeleteItem", TableName="tab", Key=key)
        with Daemon(box, "good", [f"streamArn = {arn}", "retrievalMode = DEFAULT"], words=["--trace-protocol"]) as d:
            r = run(BIN, "--check", d.file, env=box.env)
            check(r.code == 0 and b"polled" in r.out and b"data         the whole record of a change" in r.out, r.out, r.err)
            d.until(lambda: len(d.payloads()) >= 3, 30, "the changes")
            changes = [json.loads(p) for p in d.payloads()]
            equal([c["eventName"] for c in changes], ["INSERT", "MODIFY", "REMOVE"])
            equal([c["dynamodb"]["Keys"] for c in changes], 3 * [key])
            check(all(isinstance(c["dynamodb"]["ApproximateCreationDateTime"], int) and c["eventSource"] == "aws:dynamodb"
                      and 13 == len(str(c["dynamodb"]["ApproximateCreationDateTime"])) for c in changes), changes)
            equal(d.stop(), 0, d.said())
        with open(os.path.join(d.folder, "out"), encoding="utf-8") as f:
            lines = [json.loads(line.split(" ", 2)[2]) for line in f if line.startswith("> ")]
        records = [r for line in lines if line["action"] == "processRecords" for r in line["records"]]
        equal([(r["partitionKey"], r["subSequenceNumber"]) for r in records], 3 * [(None, None)])
        equal([r["sequenceNumber"] for r in records], [c["dynamodb"]["SequenceNumber"] for c in changes])


@test
def check_starts_nothing_and_says_what_would_be():
    with Box(1) as box:
        with Daemon(box, "good") as d:
            d.stop()
        r = run(BIN, "--check", d.file, env=box.env)
        equal(r.code, 0, r.err)
        for part in ("stream       demo", "records      polled", "at TRIM_HORIZON", "lease table  app"):
            check(part.encode() in r.out, r.out)
        for env, words in (({}, "us-east-1, of AWS_REGION"), ({"AWS_REGION": "", "AWS_DEFAULT_REGION": ""}, "the profile's; regionName, AWS_REGION")):
            bare = os.path.join(d.folder, "bare")
            with open(d.file, encoding="utf-8") as f, open(bare, "w", encoding="utf-8") as g:
                g.write("".join(line for line in f if not line.startswith("regionName")))
            r = run(BIN, "--check", bare, env={**box.env, "AWS_REGION": "us-east-1", **env})
            check(r.code == 0 and f"region       {words}".encode() in r.out, r.out, r.err)
        for wrong, words in (("streamName = no such name!", "stream: a name is 1 to 128"), ("tableName = x", "--store: x can't be"),
                             ("streamName = arn:aws:kinesis:eu-west-1:1:stream/a", "the stream's ARN is of eu-west-1")):
            with open(os.path.join(d.folder, "wrong"), "w", encoding="utf-8") as g, open(d.file, encoding="utf-8") as f:
                g.write(f.read() + wrong + "\n")
            r = run(BIN, "--check", os.path.join(d.folder, "wrong"), env=box.env)
            check(r.code == 2 and words in r.err, wrong, r.code, r.err)
        with open(d.file, "a", encoding="utf-8") as f:
            f.write(f"executableName = {d.folder} x\n")
        for word in ("--check", "--multilang"):
            r = run(BIN, word, d.file, env=box.env)
            equal((r.code, r.err.splitlines()[-1]), (2, f"stream-tail: executableName: {d.folder} is a folder"), word)
        with open(d.file, "a", encoding="utf-8") as f:  # one of that name in a folder of PATH is passed over
            f.write("executableName = once x\n")
        os.mkdir(os.path.join(d.folder, "once"))
        r = run(BIN, "--check", d.file, env={**box.env, "PATH": d.folder})
        equal((r.code, r.err.splitlines()[-1]), (2, "stream-tail: executableName: once is a folder"))
        with open(d.file, "a", encoding="utf-8") as f:
            f.write("executableName = /nowhere/at/all x\nmaxActiveThreads = 3\n")
        r = run(BIN, "--check", d.file, env=box.env)
        equal(r.code, 2)
        check("/nowhere/at/all is not there" in r.err and b"maxActiveThreads has no effect" in r.out, r.err, r.out)
        r = run(BIN, "--multilang", d.file, env=box.env)
        equal(r.code, 2)
        check("executableName: /nowhere/at/all is not there" in r.err, r.err)


if __name__ == "__main__":
    with ALL:
        main(at_once=4)
