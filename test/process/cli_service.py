"""stream-tail under a service manager: what it sends to NOTIFY_SOCKET. READY comes when its work has begun, the watchdog is
fed by the loop and by nothing else, STOPPING comes first. Then src/pack: what systemd's own checks say of the unit, and
whether the probes of the Deployment are answered."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from box import BIN, NO_LIMITS, Box
from command import check, end, environment, equal, main, read_until, run, test, wait_until

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNIT = os.path.join(ROOT, "src", "pack", "systemd", "stream-tail@.service")
DEPLOYMENT = os.path.join(ROOT, "src", "pack", "kubernetes", "stream-tail.yaml")
EXPOSURE_MAX = 2.0


class Manager:
    """The end of a service manager: a datagram socket, and all that came so far."""

    def __init__(self, abstract=False):
        self.folder = tempfile.TemporaryDirectory()
        self.name = f"@sloop-test-{os.getpid()}-{id(self)}" if abstract else os.path.join(self.folder.name, "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.address())
        self.socket.setblocking(False)
        self.came = []  # (when, message)

    def address(self):
        return self.name.replace("@", "\0", 1)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.socket.close()
        self.folder.cleanup()

    def environment(self, **more):
        return {"NOTIFY_SOCKET": self.name, **more}

    def look(self):
        while True:
            try:
                self.came.append((time.monotonic(), self.socket.recv(4096).decode()))
            except BlockingIOError:
                return self.came

    def lines(self, name, since=0.0):
        """The values of a variable, in the order in which they came."""
        return [line[len(name) + 1:] for at, message in self.look() if at >= since
                for line in message.split("\n") if line.startswith(name + "=")]

    def until(self, name, limit=20):
        return wait_until(lambda: self.lines(name), limit, f"{name} among {self.came}")

    def feeds(self, seconds):
        """How often the watchdog is fed in that time, from now on."""
        self.look()
        since = time.monotonic()
        time.sleep(seconds)
        return len(self.lines("WATCHDOG", since))


class Service:
    """stream-tail as a service manager starts it; it must have ended by itself when the test leaves it."""

    def __init__(self, manager, *args, env=None, out=subprocess.DEVNULL, watchdog_us=None, watchdog_pid="own"):
        env = environment({**(env or {}), **manager.environment()})
        if watchdog_us:
            env["WATCHDOG_USEC"] = str(watchdog_us)
        # exec keeps the number of the shell, which is what a manager names
        pid = 'WATCHDOG_PID=$$; export WATCHDOG_PID; ' if watchdog_us and watchdog_pid == "own" else ""
        if watchdog_us and watchdog_pid == "other":
            pid = "WATCHDOG_PID=1; export WATCHDOG_PID; "
        self.process = subprocess.Popen(["sh", "-c", pid + 'exec "$0" "$@"', BIN, *args], stdin=subprocess.DEVNULL,
                                        stdout=out, stderr=subprocess.PIPE, env=env)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        end(self.process)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        said = self.process.communicate(timeout=30)[1].decode()
        return self.process.returncode, said


def ready_only_when_the_service_answers(abstract, *args):
    with Box(2) as box, Manager(abstract) as manager:
        box.process.send_signal(signal.SIGSTOP)
        try:
            with Service(manager, *args, "demo", env=box.env) as service:
                manager.until("EXTEND_TIMEOUT_USEC")
                time.sleep(1)
                equal(manager.lines("READY"), [], manager.came)
                check(manager.lines("STATUS")[0].startswith("starting"), manager.came)
                box.process.send_signal(signal.SIGCONT)
                equal(manager.until("READY"), ["1"])
                if "-G" in args:
                    listed = run(BIN, "-G", "billing", "--leases", "demo", env=box.env)
                    check("worker" in listed.out.decode() and listed.code == 0, "not joined:", listed.out, listed.err)
                check(re.fullmatch(r"\d+ shards polled, .*records", manager.lines("STATUS")[-1]), manager.came)
                equal(manager.lines("WATCHDOG"), [], "nobody asked for it")
                equal(service.stop()[0], 0)
                equal(manager.lines("STOPPING"), ["1"])
                last = manager.came[-1][1]
                check(last.startswith("STOPPING=1\nSTATUS=stopping"), manager.came)
        finally:
            box.process.send_signal(signal.SIGCONT)


@test
def ready_comes_when_the_shards_are_known():
    ready_only_when_the_service_answers(False)


@test
def ready_comes_when_a_worker_has_joined():
    ready_only_when_the_service_answers(True, "-G", "billing")


@test
def of_two_streams_the_later_one_decides():
    with Box(1, "-X", "sandbox.change_ms=3000") as box, Manager() as manager:
        box.call("CreateStream", StreamName="later", ShardCount=1)
        with Service(manager, "demo", "later", env=box.env) as service:
            manager.until("EXTEND_TIMEOUT_USEC")
            time.sleep(1.5)
            equal(manager.lines("READY"), [], manager.came)
            equal(manager.until("READY", 40), ["1"])
            equal(service.stop()[0], 0)


@test
def a_loop_that_stands_does_not_feed_the_watchdog():
    with Box(1) as box, Manager() as manager:
        with Service(manager, "demo", env=box.env, watchdog_us=600000) as service:
            manager.until("READY")
            check(manager.feeds(3) >= 8, "fed too rarely:", manager.came)
            service.process.send_signal(signal.SIGSTOP)
            time.sleep(0.2)
            equal(manager.feeds(1.5), 0)
            service.process.send_signal(signal.SIGCONT)
            check(manager.feeds(2) >= 4, "not fed again:", manager.came)
            equal(service.stop()[0], 0)


@test
def a_reader_that_stands_is_no_loop_that_stands():
    with Box(1, *NO_LIMITS) as box, Manager() as manager:
        box.put(400, size=2000)
        with Service(manager, "-o", "oldest", "demo", env=box.env, out=subprocess.PIPE, watchdog_us=600000) as service:
            manager.until("READY")
            with open(f"/proc/{service.process.pid}/io", encoding="ascii") as io:
                check(io.read(), "readable")
            time.sleep(1)  # the pipe is full by now
            check(manager.feeds(3) >= 8, "not fed:", manager.came)
            box.put(10, start=400)
            service.process.send_signal(signal.SIGTERM)
            equal(service.process.wait(30), 0)
            equal(manager.lines("STOPPING"), ["1"])


@test
def a_watchdog_that_is_for_another_process_is_not_fed():
    with Box(1) as box, Manager() as manager:
        with Service(manager, "demo", env=box.env, watchdog_us=600000, watchdog_pid="other") as service:
            manager.until("READY")
            equal(manager.feeds(1), 0)
            equal(service.stop()[0], 0)
    with Box(1) as box, Manager() as manager:
        with Service(manager, "demo", env=box.env, watchdog_us=600000, watchdog_pid=None) as service:
            manager.until("READY")
            check(manager.feeds(1) >= 2, "for whoever reads it:", manager.came)
            equal(service.stop()[0], 0)


@test
def what_ends_by_itself_says_that_it_stops():
    with Box(1) as box, Manager() as manager:
        with Service(manager, "--timeout", "1", "demo", env=box.env) as service:
            said = service.process.communicate(timeout=30)[1].decode()
            equal(service.process.returncode, 0, said)
            equal((manager.lines("READY"), manager.lines("STOPPING")), (["1"], ["1"]), manager.came)


@test
def who_waits_for_new_streams_does_not_stop_with_the_last_one():
    """Its consumer stops, and can't be closed while nobody reads the output. A manager that is told STOPPING ends the service."""
    with Box(1, *NO_LIMITS) as box, Manager() as manager:
        box.make_stream("orders-1", 1)
        box.put(400, size=2000, stream="orders-1")
        with Service(manager, "-X", "streams_ms=1000", "-o", "oldest", "orders-*", env=box.env, out=subprocess.PIPE,
                     watchdog_us=600000) as service:
            manager.until("READY")
            box.call("DeleteStream", StreamName="orders-1")
            said = read_until(service.process.stderr.fileno(), lambda text: b"is read no more" in text)
            manager.look()
            since = time.monotonic()
            wait_until(lambda: len(manager.lines("WATCHDOG", since)) > 3, what="some ticks")
            equal(manager.lines("STOPPING"), [], said, manager.came)
            box.make_stream("orders-2", 1)
            box.put(1, stream="orders-2")
            read_until(service.process.stdout.fileno(), lambda text: text.endswith(b"\nrecord 0 \n"))
            equal(service.stop()[0], 0)
            equal(manager.lines("STOPPING"), ["1"])


@test
def what_does_not_begin_is_never_ready():
    with Box(1) as box, Manager() as manager:
        with Service(manager, "missing", env=box.env) as service:
            service.process.communicate(timeout=30)
            equal(service.process.returncode, 1)
            equal(manager.lines("READY"), [], manager.came)
        with Service(manager, "-L", env=box.env) as service:
            service.process.communicate(timeout=30)
            equal(service.process.returncode, 0)
            equal(manager.look(), [], "a listing is no service")


@test
def a_manager_that_does_not_read_is_told_later():
    with Box(1) as box, Manager() as manager:
        full = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        full.setblocking(False)
        try:
            while True:
                full.sendto(b"filler", manager.address())
        except BlockingIOError:
            full.close()
        with Service(manager, "demo", env=box.env, watchdog_us=3000000) as service:
            time.sleep(1.5)
            equal(manager.until("READY"), ["1"])
            check(service.process.poll() is None, "it has ended")
            equal(service.stop()[0], 0)


@test
def an_exporter_and_a_sandbox_are_ready_when_they_listen():
    with Box(1) as box, Manager() as manager:
        with Service(manager, "-G", "billing", "--leases", "--metrics", "127.0.0.1:0", "demo", env=box.env) as service:
            equal(manager.until("READY"), ["1"])
            check("serving" in manager.lines("STATUS"), manager.came)
            equal(service.stop()[0], 0)
    with Manager() as manager:
        sandbox = subprocess.Popen([BIN, "-M", "1"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=environment(manager.environment()))
        try:
            equal(manager.until("READY"), ["1"])
        finally:
            end(sandbox)


@test
def a_socket_that_is_none_is_told_and_nothing_else_changes():
    with Box(1) as box:
        for name in ("vsock:2:1234", "relative", "@", "/" + "x" * 120):
            ran = run(BIN, "-e", "-o", "oldest", "demo", env={**box.env, "NOTIFY_SOCKET": name})
            equal(ran.code, 0)
            check(ran.err.startswith("stream-tail: NOTIFY_SOCKET=") and ran.err.count("\n") == 1, ran.err)
        ran = run(BIN, "-e", "-o", "oldest", "demo", env={**box.env, "NOTIFY_SOCKET": "/nowhere/notify"})
        equal((ran.code, ran.err), (0, ""), "a manager that is gone")


@test
def a_child_can_not_speak_for_the_service():
    with Box(1) as box, Manager() as manager, tempfile.TemporaryDirectory() as folder:
        seen, keys = os.path.join(folder, "seen"), os.path.join(folder, "keys")
        with open(keys, "w", encoding="ascii") as script:
            script.write(f"""#!/bin/sh
env > {seen}
echo '{{"Version": 1, "AccessKeyId": "sandbox", "SecretAccessKey": "sandbox"}}'
""")
        os.chmod(keys, 0o755)
        with open(os.path.join(folder, "config"), "w", encoding="ascii") as config:
            config.write(f"[default]\ncredential_process = {keys}\n")
        env = {k: v for k, v in box.env.items() if "ACCESS_KEY" not in k}
        env.update(AWS_CONFIG_FILE=os.path.join(folder, "config"), AWS_SHARED_CREDENTIALS_FILE="/dev/null")
        with Service(manager, "demo", env=env, watchdog_us=1000000) as service:
            manager.until("READY")
            equal(service.stop()[0], 0)
        with open(seen, encoding="utf-8", errors="replace") as file:
            text = file.read()
        check("AWS_CONFIG_FILE" in text, "the child ran with", text)
        check("NOTIFY_SOCKET" not in text and "WATCHDOG" not in text, text)


def installed(folder):
    """The unit as a machine has it, with a command and a file of its own."""
    for path in ("usr/bin", "etc/systemd/system", "etc/stream-tail"):
        os.makedirs(os.path.join(folder, path))
    shutil.copy(UNIT, os.path.join(folder, "etc/systemd/system"))
    with open(os.path.join(folder, "usr/bin/stream-tail"), "w", encoding="ascii"):
        pass
    os.chmod(os.path.join(folder, "usr/bin/stream-tail"), 0o755)


def analyze(*args):
    return subprocess.run(["systemd-analyze", *args], capture_output=True, text=True, check=False, timeout=60)


def needs_systemd(function):
    def skipped():
        print(f"skip {function.__name__}: no systemd-analyze", flush=True)
    skipped.__name__ = function.__name__
    return test(function if shutil.which("systemd-analyze") else skipped)


@needs_systemd
def systemd_knows_every_line_of_the_unit():
    with tempfile.TemporaryDirectory() as folder:
        installed(folder)
        name = "stream-tail@orders.service"
        ran = analyze("verify", "--man=no", "--recursive-errors=no", f"--root={folder}", name)
        equal((ran.returncode, ran.stderr), (0, ""))
        path = os.path.join(folder, "etc/systemd/system/stream-tail@.service")
        with open(path, "a", encoding="ascii") as unit:
            unit.write("[Service]\nProtectEverything=yes\n")
        check("ProtectEverything" in analyze("verify", "--man=no", "--recursive-errors=no", f"--root={folder}", name).stderr,
              "a line that it does not know is told of")


@needs_systemd
def the_unit_is_closed_as_far_as_it_can_be():
    with tempfile.TemporaryDirectory() as folder:
        installed(folder)
        ran = analyze("security", "--offline=true", f"--root={folder}", "--no-pager", "stream-tail@orders.service")
        level = re.search(r"Overall exposure level for \S+: ([0-9.]+)", ran.stdout)
        check(level and float(level[1]) < EXPOSURE_MAX, ran.stdout[-400:], ran.stderr)


@test
def the_unit_starts_nothing_again_that_stays_wrong():
    with open(UNIT, encoding="ascii") as file:
        unit = dict(line.split("=", 1) for line in file.read().splitlines() if re.match(r"[A-Z]\w+=", line))
    final = {int(n) for n in unit["RestartPreventExitStatus"].split()}
    with Box(1) as box:
        check(run(BIN, env=box.env).code in final, "without ARGS")
        check(run(BIN, "--nonsense", "demo", env=box.env).code in final, "wrong usage")
        check(run(BIN, "missing", env=box.env).code not in final, "a stream that may be created")
        check(run(BIN, "demo", env={**box.env, "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}).code not in final, "no network")
    equal(unit["Type"], "notify")
    # a worker has 10 s to release its leases
    check(int(unit["TimeoutStopSec"]) > 12 and int(unit["WatchdogSec"]) >= 10, unit)


def answer(url):
    """The status of a page, and what it says."""
    try:
        with urllib.request.urlopen(url, timeout=5) as page:
            return page.status, page.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@test
def the_probes_of_the_deployment_are_answered():
    with open(DEPLOYMENT, encoding="ascii") as file:
        text = file.read()
    args = json.loads(re.search(r"^ +args: (\[.*\])$", text, re.M)[1])
    probes = dict(re.findall(r"^ +(liveness|readiness)Probe:\n +httpGet: {path: (\S+), port: metrics}", text, re.M))
    check(f"containerPort: {args[args.index('--metrics') + 1].lstrip(':')}" in text, "the port that is probed", args)
    args[args.index("--metrics") + 1] = "127.0.0.1:0"
    args[-1] = "demo"
    with Box(2) as box:
        box.process.send_signal(signal.SIGSTOP)
        worker = box.start(*args)
        try:
            url = re.search(r"http://127\.0\.0\.1:\d+", worker.stderr.readline().decode())[0]
            equal(answer(url + probes["liveness"])[0], 200)
            equal(answer(url + probes["readiness"])[0], 503)
            box.process.send_signal(signal.SIGCONT)
            wait_until(lambda: answer(url + probes["readiness"])[0] == 200, 20, "ready")
        finally:
            box.process.send_signal(signal.SIGCONT)
            end(worker)


if __name__ == "__main__":
    main(at_once=3)
