"""What stream-tail says of itself while it makes no progress: /ready, /metrics, -v and --leases are read while the
service refuses, fails or does not answer, and while nobody reads what is printed; and again when that is over. The
sandbox's script makes the trouble. What must be said follows from what boto3 put and what was printed."""

import re
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request

import harness
import servers
from harness import Tests, expect, wait_until

SECONDS = 90  # a deadline
KNOBS = ("-X", "unready_ms=3000")
SANDBOX = ("sandbox.write_bytes_per_second=0", "sandbox.write_records_per_second=0", "sandbox.reads_per_second=0")


def get(url):
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class Worker:
    """A stream-tail with metrics, whose output is read only from read() on."""

    def __init__(self, box, *arguments):
        self.err = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [servers.binary(), "-v", "-o", "oldest", "--metrics", "127.0.0.1:0", *KNOBS, *arguments],
            env=harness.tail_environment(box.url), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.err,
            preexec_fn=servers.die_with_parent)
        self.lines = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stdout), daemon=True)
        self.url = wait_until(lambda: re.search(r"metrics at (\S+)/metrics", self.said()), SECONDS, "its port").group(1)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.wait()
        if self.reader.ident:
            self.reader.join(10)
        self.err.close()

    def said(self):
        self.err.seek(0)
        return self.err.read().decode("utf-8", "replace")

    def last_of_v(self):
        lines = [line for line in self.said().splitlines() if re.search(r"\d+ shards (polled|pushed), ", line)]
        return lines[-1] if lines else ""

    def metrics(self):
        """{name: {labels that differ: value}}"""
        found = {}
        for name, labels, value in re.findall(r"^(sloop_\w+)\{(.*)\} (\S+)$", get(self.url + "/metrics")[1], re.M):
            differ = tuple(re.findall(r'(?:shard|state|error)="([^"]*)"', labels))
            found.setdefault(name, {})[differ] = float(value)
        return found

    def is_well(self, shards):
        """Ready, at the tip, and nothing that says otherwise."""
        now = self.metrics()
        return (get(self.url + "/ready") == (200, "ready\n") and now["sloop_behind_seconds"] == {(): 0} and
                list(now["sloop_shard_at_tip"].values()) == [1] * shards and
                [state for _, state in now["sloop_shard_state_seconds"]] == ["at_tip"] * shards)


def begin(box, records):
    box.clear_faults()
    kinesis = harness.client(box.url)
    stream = harness.new_stream(kinesis, 2)
    producer = harness.Producer(kinesis, stream, 100)
    producer.put_all(records)
    return stream, producer


def check_failing(worker, error, behind):
    """Everything that the worker tells says that both shards fail, since when, and why."""
    _, why = wait_until(lambda: (lambda a: a if a[0] == 503 else None)(get(worker.url + "/ready")), SECONDS,
                             "/ready says no")
    expect(re.fullmatch(r"\S+: shardId-\d+ has failed for \d+ s: " + error + r"\w*( \(and 1 more shard\))?\n", why), why)
    # A shard whose call was sent a moment later than another's fails a moment later.
    now = wait_until(lambda: (lambda m: m if {state for _, state in m["sloop_shard_state_seconds"]} == {"failing"} else
                              None)(worker.metrics()), SECONDS, "both shards fail")
    expect(now["sloop_ready"] == {(): 0}, "sloop_ready")
    expect(behind <= now["sloop_behind_seconds"][()] < SECONDS + 10, f"{now['sloop_behind_seconds']}")
    expect(min(now["sloop_shard_behind_seconds"].values()) >= behind, f"{now['sloop_shard_behind_seconds']}")
    expect(set(now["sloop_shard_at_tip"].values()) == {0}, f"{now['sloop_shard_at_tip']}")
    expect(get(worker.url + "/healthz") == (200, "alive\n"), "/healthz")
    wait_until(lambda: re.search(r", \d+ (ms|s) behind, .* 2 failing for \d+ s: " + error, worker.last_of_v()),
               SECONDS, f"-v says it: {worker.last_of_v()}")
    return now


def refused(box, fault, error, label):
    stream, producer = begin(box, 20)
    with Worker(box, "-J", stream) as worker:
        worker.reader.start()
        wait_until(lambda: len(worker.lines) == 20 and worker.is_well(2), SECONDS, "all is read, and it is well")
        box.faults(fault)
        producer.put_all(20)
        now = check_failing(worker, error, 3)
        if label:
            expect(now["sloop_call_errors_total"].get((label,), 0) >= 2, f"{now['sloop_call_errors_total']}")
            expect(now["sloop_calls_failed_total"][()] >= 2 and now["sloop_retries_total"][()] >= 2, "calls")
        box.clear_faults()
        wait_until(lambda: len(worker.lines) == 40 and worker.is_well(2), SECONDS, "all is read, and it is well again")


def stuck(box):
    """Nobody reads the pipe: what is not taken is not acknowledged."""
    stream, _ = begin(box, 3000)
    with Worker(box, "-J", stream) as worker:
        _, why = wait_until(lambda: (lambda a: a if a[0] == 503 and "finish" in a[1] else None)(
            get(worker.url + "/ready")), SECONDS, "/ready says no")
        expect(re.fullmatch(r"\S+: shardId-\d+ has waited \d+ s for this program to finish with records( \(and 1 more shard\))?\n", why), why)
        now = worker.metrics()
        expect(now["sloop_behind_seconds"][()] >= 3, f"{now['sloop_behind_seconds']}")
        expect("waiting_for_user" in {state for _, state in now["sloop_shard_state_seconds"]},
               f"{now['sloop_shard_state_seconds']}")
        expect(min(now["sloop_shard_at_tip"].values()) == 0, "at_tip")
        wait_until(lambda: "waiting for their records to be acknowledged for" in worker.last_of_v(), SECONDS, "-v says it")
        worker.reader.start()
        wait_until(lambda: len(worker.lines) == 3000 and worker.is_well(2), SECONDS, "all is read, and it is well")


def pushed(box):
    """The silence of a subscription proves that nothing came; its end does not."""
    stream, _ = begin(box, 20)
    with Worker(box, "-J", "--push", "-X", "push_consumer=ours", stream) as worker:
        worker.reader.start()
        wait_until(lambda: len(worker.lines) == 20 and worker.is_well(2), SECONDS, "all is read, and it is well")
        for _ in range(40):
            expect(worker.is_well(2), f"{worker.metrics()}")
            threading.Event().wait(0.1)


def leases(box):
    """The table of leases: rows told "tip" when they were written."""
    stream, producer = begin(box, 20)
    look = lambda: harness.tail(["-G", "app", "--leases", stream], harness.tail_environment(box.url), SECONDS).out.decode()
    with Worker(box, "-J", "-G", "app", "-X", "lease_ms=3000", "-X", "checkpoint_ms=500", stream) as worker:
        worker.reader.start()
        wait_until(lambda: len(worker.lines) == 20 and worker.is_well(2), SECONDS, "all is read, and it is well")
        wait_until(lambda: "all at the tip" in look(), SECONDS, f"--leases says tip: {look()}", pause=0.5)
        box.faults("* GetRecords * error AccessDeniedException:400")
        producer.put_all(20)
        wait_until(lambda: re.search(r"the furthest is <?\d+s behind", look()), SECONDS, f"--leases: {look()}", pause=0.5)
        expect(" tip" not in look(), f"{look()}")
        box.clear_faults()
        wait_until(lambda: "all at the tip" in look(), SECONDS, f"--leases says tip: {look()}", pause=0.5)


def main():
    tests = Tests()
    with servers.Sandbox(2, SANDBOX) as box:
        tests.run("calls are refused", refused, box, "* GetRecords * error AccessDeniedException:400", "AccessDenied",
                  "AccessDenied")
        tests.run("calls fail", refused, box, "* GetRecords * error InternalFailure:500", "InternalFailure",
                  "InternalFailure")
        tests.run("throttled", refused, box, "* GetRecords * throttle", "ProvisionedThroughputExceeded",
                  "ProvisionedThroughputExceeded")
        tests.run("no answer", refused, box, "* GetRecords * delay 600000", "no answer", None)
        tests.run("a reader that is stuck", stuck, box)
        tests.run("pushed", pushed, box)
        tests.run("rows of leases", leases, box)
    tests.end()


if __name__ == "__main__":
    main()
