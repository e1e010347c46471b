"""--leases --metrics: what is served of applications without workers, held against what boto3 reads behind their
checkpoints; and what is said while a table can't be read. promtool, which is Prometheus' own, takes the page."""

import datetime
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time

import harness
import servers
from harness import Running, Tests, expect, wait_until
from lease_lag import OPTIONS, SECONDS, App, waiting
from tail_truth import get


class Exporter:
    """stream-tail --leases --metrics; its page as {name: {(labels that differ): value}}."""

    def __init__(self, env, *arguments):
        self.running = Running(["--leases", "--metrics", "127.0.0.1:0", *arguments], env)
        self.url = wait_until(lambda: re.search(r"metrics at (\S+)/metrics", self.said()), SECONDS, "its port").group(1)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.running.process.kill()
        self.running.process.wait()

    def said(self):
        self.running.err.seek(0)
        return self.running.err.read().decode("utf-8", "replace")

    def page(self):
        found = {}
        for name, labels, value in re.findall(r"^(sloop_\w+)\{(.*)\} (\S+)$", get(self.url + "/metrics")[1], re.M):
            differ = tuple(re.findall(r'(?:app|shard|state|lag)="([^"]*)"', labels))
            found.setdefault(name, {})[differ] = float(value)
        return found

    def wait_readings(self, more, app="app"):
        """As many more readings have been answered."""
        now = lambda: self.page().get("sloop_leases_readings_total", {}).get((app,), 0)
        least = now() + more
        wait_until(lambda: now() >= least, SECONDS, f"{more} readings")


def dead(box, folder, schema="sloop"):
    """An application whose worker is dead, with its leases in the sandbox's DynamoDB, and what boto3 needs to know."""
    kinesis = harness.client(box.url)
    stream = harness.new_stream(kinesis, 2)
    producer = harness.Producer(kinesis, stream)
    producer.put_all(20)
    app = App(box.url, stream, folder, "-X", f"schema={schema}", "--store", f"dynamodb:{schema}-{stream}")
    app.work(20)
    time.sleep(2.5)
    return kinesis, stream, producer, app


def lags(box):
    with tempfile.TemporaryDirectory() as folder:
        for schema in ("sloop", "kcl"):
            kinesis, stream, producer, app = dead(box, folder, schema)
            with Exporter(app.env, *app.place, "-X", "leases_ms=1000", stream) as exporter:
                exporter.wait_readings(1)
                now = exporter.page()
                expect(now["sloop_behind_seconds"] == {("app",): 0} and now["sloop_leases_up"] == {("app",): 1}, f"{now}")
                expect(now["sloop_lags"] == {("app", "read"): 2} and "sloop_behind_unknown_seconds" not in now, f"{now}")
                expect(get(exporter.url + "/ready") == (200, "ready\n") and get(exporter.url + "/healthz") == (200, "alive\n"),
                       "probes")
                producer.put_all(20)
                rows = app.shards()
                exporter.wait_readings(2)
                before = datetime.datetime.now(datetime.timezone.utc)
                now = exporter.page()
                after = datetime.datetime.now(datetime.timezone.utc)
                for shard, row in rows.items():
                    first, _ = waiting(kinesis, stream, row)
                    least, most = ((t - first).total_seconds() for t in (before, after))
                    value = now["sloop_shard_behind_seconds"][("app", shard)]
                    expect(least - 1.1 <= value <= most + 0.2, f"{value}: {least} to {most}")
                expect(now["sloop_behind_seconds"][("app",)] == max(now["sloop_shard_behind_seconds"].values()), f"{now}")
                expect(sum(now["sloop_leases"].values()) == 2, f"{now}")
                exporter.running.signal(15)
                expect(exporter.running.process.wait(10) == 0, "it ends")


def ages(box):
    """Between two readings nobody is asked, and what was told grows old."""
    with tempfile.TemporaryDirectory() as folder:
        _, stream, producer, app = dead(box, folder)
        producer.put_all(20)
        with Exporter(app.env, *app.place, "-X", "leases_ms=600000", stream) as exporter:
            wait_until(lambda: "sloop_behind_seconds" in exporter.page(), SECONDS, "the first reading")
            first, began = exporter.page(), time.monotonic()
            time.sleep(3)
            then, seconds = exporter.page(), time.monotonic() - began
            for name in ("sloop_behind_seconds", "sloop_shard_behind_seconds", "sloop_leases_age_seconds"):
                for labels, value in first[name].items():
                    expect(abs(then[name][labels] - value - seconds) < 0.5, f"{name}: {value} {then[name]} {seconds}")
            expect(then["sloop_leases_readings_total"] == {("app",): 1}, f"{then}")


def several(box):
    """Two applications of two streams, one of which has never begun."""
    with tempfile.TemporaryDirectory() as folder:
        _, one, _, app = dead(box, folder)
        two = harness.new_stream(harness.client(box.url), 1)
        with Exporter(app.env, *app.place, "-G", "app", "-G", "none", "-X", "leases_ms=1000", one, two) as exporter:
            exporter.wait_readings(1)
            exporter.wait_readings(1, "none")
            text = get(exporter.url + "/metrics")[1]
            up = re.findall(r'^sloop_leases_up\{stream="([^"]*)",app="([^"]*)"\} 1$', text, re.M)
            expect(sorted(up) == sorted((s, a) for s in (one, two) for a in ("app", "none")), text)
            behind = re.findall(r'^sloop_behind_seconds\{stream="([^"]*)",app="([^"]*)"\}', text, re.M)
            expect(behind == [(one, "app")], f"{behind}")
            unknown = re.findall(r'^sloop_behind_unknown_seconds\{stream="([^"]*)",app="([^"]*)"\} (\S+)$', text, re.M)
            expect(len(unknown) == 3, f"{unknown}")  # nothing says where the others would be read


def failing(box):
    """A table that can't be read: told as that, on every page, once on standard error; and what was read grows old."""
    with tempfile.TemporaryDirectory() as folder:
        _, stream, producer, app = dead(box, folder)
        producer.put_all(20)
        with Exporter(app.env, *app.place, "-X", "leases_ms=1000", stream) as exporter:
            exporter.wait_readings(1)
            good = exporter.page()
            box.faults("* Query * error AccessDeniedException:400\n* Scan * error AccessDeniedException:400")
            wait_until(lambda: exporter.page()["sloop_leases_up"] == {("app",): 0}, SECONDS, "it is not up")
            exporter.wait_readings(2)
            bad = exporter.page()
            code, why = get(exporter.url + "/ready")
            expect(code == 503 and "the leases of app could not be read: " in why and "AccessDenied" in why, f"{code} {why}")
            expect(get(exporter.url + "/healthz") == (200, "alive\n"), "/healthz")
            expect(bad["sloop_leases_age_seconds"][("app",)] > 1.5 and bad["sloop_leases_failures_total"][("app",)] >= 2, f"{bad}")
            expect(bad["sloop_behind_seconds"][("app",)] > good["sloop_behind_seconds"][("app",)] + 1, f"{good} {bad}")
            box.clear_faults()
            wait_until(lambda: exporter.page()["sloop_leases_up"] == {("app",): 1}, SECONDS, "it is up again")
            expect(get(exporter.url + "/ready")[0] == 200, "/ready")
            said = exporter.said()
            expect(said.count("could not be read") == 1 and said.count("can be read again") == 1, said)
            # A shard that can't be read: the table can, and the lag is not known.
            box.faults("* GetRecords * error AccessDeniedException:400")
            wait_until(lambda: "sloop_behind_unknown_seconds" in exporter.page(), SECONDS, "it is not known")
            now = exporter.page()
            expect("sloop_behind_seconds" not in now and "sloop_shard_behind_seconds" not in now and
                   now["sloop_lags"] == {("app", "failed"): 2} and now["sloop_leases_up"] == {("app",): 1}, f"{now}")
            box.clear_faults()
            # An answer that never comes is a failure too, though nobody knows of what. The last one is shown.
        # Something else answers, and is asked again some times each time.
        box.faults("* * * html")
        with Exporter(app.env, *app.place, "-X", "leases_ms=1000", stream) as exporter:
            exporter.wait_readings(3)
            expect(exporter.page()["sloop_leases_up"] == {("app",): 0}, exporter.said())
            box.clear_faults()
            wait_until(lambda: exporter.page()["sloop_leases_up"] == {("app",): 1}, SECONDS, "it is up")
        with Exporter(app.env, "-G", "late", "--store", f"dynamodb:late-{stream}", "-X", "leases_ms=1000", stream) as exporter:
            wait_until(lambda: exporter.page().get("sloop_leases_up") == {("late",): 0} and "could not be read" in exporter.said(),
                       SECONDS, "there is no table")
            expect("no worker" in get(exporter.url + "/ready")[1], get(exporter.url + "/ready")[1])
            worker = Running(["-G", "late", "-o", "oldest", "--store", f"dynamodb:late-{stream}", "-X", "lease_ms=2000", stream],
                             app.env)
            wait_until(lambda: exporter.page()["sloop_leases_up"] == {("late",): 1} and
                       ("late", "leads") in exporter.page()["sloop_workers"], SECONDS, "a worker has begun")
            worker.process.kill()
            worker.process.wait()


def outside(box):
    """Wrong keys, and a service that is not there: it goes on, and says so."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        for env, says in ((harness.tail_environment(box.url, secret="wrong"), "EAUTH"),
                          (harness.tail_environment(f"http://127.0.0.1:{nobody.getsockname()[1]}"), "ECONNREFUSED")):
            with Exporter(env, "-G", "app", "-X", "leases_ms=1000", "demo") as exporter:
                exporter.wait_readings(2)
                now, (code, why) = exporter.page(), get(exporter.url + "/ready")
                expect(now["sloop_leases_up"] == {("app",): 0} and now["sloop_behind_unknown_seconds"][("app",)] > 0.5, f"{now}")
                expect("sloop_behind_seconds" not in now and "sloop_leases_age_seconds" not in now, f"{now}")
                expect(code == 503 and says in why and exporter.said().count(says) == 1, f"{code} {why} {exporter.said()}")
                exporter.running.signal(15)
                expect(exporter.running.process.wait(10) == 0, "it ends")


def promtool(box):
    tool = os.environ.get("SLOOP_TEST_PROMTOOL") or shutil.which("promtool")
    if not tool:
        raise servers.Missing("promtool is not installed (sh test/install.sh test)")
    with tempfile.TemporaryDirectory() as folder:
        _, stream, producer, app = dead(box, folder)
        producer.put_all(20)
        with Exporter(app.env, *app.place, "-G", "app", "-G", "none", "-X", "leases_ms=1000", stream) as exporter:
            exporter.wait_readings(1)
            exporter.wait_readings(1, "none")
            text = get(exporter.url + "/metrics")[1]
    done = subprocess.run([tool, "check", "metrics"], input=text, capture_output=True, text=True, timeout=SECONDS, check=False)
    expect(done.returncode == 0 and not done.stdout + done.stderr, f"{done.returncode} {done.stdout} {done.stderr}")
    families = set(re.findall(r"^# TYPE (\S+)", text, re.M))
    return f"{len(families)} families"


def refused(box):
    with tempfile.TemporaryDirectory() as folder, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        _, stream, _, app = dead(box, folder)
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for code, says, more in (
                (1, "can't listen on 127.0.0.1", ("--metrics", address)), (2, "must be ADDRESS:PORT", ("--metrics", "nowhere")),
                (2, "--lag-over can't be combined with --metrics", ("--metrics", address, "--lag-over", "1m")),
                (2, "-J can't be combined with --metrics", ("--metrics", address, "-J")),
                (2, "--timeout can't be combined with --metrics", ("--metrics", address, "--timeout", "3"))):
            done = app.ask(*more)
            expect(done[:2] == (code, "") and says in done[2] and done[2].count("\n") == 1, f"{more}: {done}")
        # A file's address is for readers.
        with open(f"{folder}/conf", "w", encoding="utf-8") as f:
            f.write(f"metrics={address}\n")
        code, out, err = app.ask("-F", f"{folder}/conf")
        expect(code == 0 and "2 leases: " in out and not err, f"{code} {out} {err}")


def main():
    tests = Tests()
    with servers.Sandbox(2, OPTIONS) as box:
        jobs = [("lags of dead workers", lags, box), ("between two readings", ages, box), ("several applications", several, box),
                ("promtool check metrics", promtool, box), ("what is refused", refused, box)]
        tests.side_by_side([lambda job=job: tests.run(*job) for job in jobs], at_once=3)
    with servers.Sandbox(2, OPTIONS) as box:
        tests.run("a table that can't be read", failing, box)
    with servers.Sandbox(1, OPTIONS + ("sandbox.access_key=" + harness.KEY_ID, "sandbox.secret_key=right")) as box:
        tests.run("a service that can't be asked", outside, box)
    tests.end()


if __name__ == "__main__":
    main()
