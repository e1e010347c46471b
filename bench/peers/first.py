"""Seconds from the start of a process to its first record: first.py [--rounds 21] [--slow-rounds 5] [NAME...]

Situations of stream-tail: a reader without leases, beside which all others stand; a new application in DynamoDB (the
sandbox, dynalite) whose table is there or not, and in a SQLite file; a second worker that joins a fleet; a worker that is
stopped by SIGTERM and started again; and a batch job, -G -e, from its start to its end. Beside them the clients of
clients.py that keep leases, each with an application that is new. Every situation is taken once in a round, in turn.
Prints medians with the least and the greatest, and a line of JSON for each.
"""

import argparse
import contextlib
import json
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from clients import BUILD, ROOT, clients
from measure import Failed, Life, Server, machine

sys.path.insert(0, os.path.join(ROOT, "test", "process"))
import servers  # noqa: E402

STREAM_TAIL = os.environ.get("SLOOP_STREAM_TAIL", os.path.join(BUILD, "stream-tail"))
SHARDS = 4
RECORDS = 250  # of each shard of the stream that is read to its end
LIMIT_S = 60  # of one run
SETTLED_S = 12  # a fleet of one is no longer new
FEED_S = 0.02  # between two batches of records that are put into the stream which others are read from
KCL_LIMIT_S = 300


class Tail:
    """stream-tail as a context: ended by its own process id."""

    def __init__(self, place, app, *words, stream="ended", ends=False):
        env = {"PATH": os.environ["PATH"], "AWS_ACCESS_KEY_ID": "BENCHKEY", "AWS_SECRET_ACCESS_KEY": "not-a-secret",
               "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": place.url, "AWS_CA_BUNDLE": place.ca_file,
               "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "HOME": place.folder}
        if place.tables:
            env["AWS_ENDPOINT_URL_DYNAMODB"] = place.tables
        group, end = ["-G", app] if app else [], ["-e", "-f", ".\\n"] if ends else []
        command = [STREAM_TAIL, "-q", "-o", "oldest", *group, *words, *end, stream]
        self.began = time.monotonic()
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def first(self):
        """Seconds from the start to the first byte."""
        ready, _, _ = select.select([self.process.stdout], [], [], LIMIT_S)
        if not ready or not os.read(self.process.stdout.fileno(), 65536):
            raise Failed(f"no record of {self.process.args}")
        took = time.monotonic() - self.began
        threading.Thread(target=self.drop, daemon=True).start()
        return took

    def drop(self):
        """Reads what else comes: a pipe that is full would hold the records back."""
        with contextlib.suppress(OSError, ValueError):
            while os.read(self.process.stdout.fileno(), 65536):
                pass

    def ended(self):
        """Seconds from the start to the end, which must come by itself and show every record."""
        lines = len(self.process.stdout.read().splitlines())
        if self.process.wait() or lines != SHARDS * RECORDS:
            raise Failed(f"{self.process.args} ended with {self.process.returncode} after {lines} records")
        return time.monotonic() - self.began

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(LIMIT_S):
            raise Failed(f"{self.process.args} did not end well: {self.process.returncode}")


class Place:
    """Where a situation takes place: the server of the streams, that of the lease tables, a folder."""

    def __init__(self, server, folder, tables=None):
        self.url, self.ca_file, self.folder, self.tables = server.url, server.ca_file, folder, tables
        self.number = 0

    def app(self):
        self.number += 1
        return f"first-{self.number}"


def alone(place, *words):
    with Tail(place, place.app(), *words) as tail:
        return tail.first()


def no_table(place):
    app = place.app()
    with Tail(place, app, "--store", f"dynamodb:table-{app}") as tail:
        return tail.first()


def in_file(place):
    app = place.app()
    with Tail(place, app, "--store", f"sqlite:{place.folder}/{app}") as tail:
        return tail.first()


def reader(place):
    with Tail(place, None) as tail:
        return tail.first()


def joins(place):
    """The first worker has been alone for a while, and the second gets a shard of it."""
    app = place.app()
    with Tail(place, app, stream="fed") as old:
        old.first()
        time.sleep(SETTLED_S)
        with Tail(place, app, stream="fed") as new:
            return new.first()


def comes_back(place, *words):
    app = place.app()
    with Tail(place, app, *words, stream="fed") as old:
        old.first()
        time.sleep(2)
        old.stop()
    with Tail(place, app, *words, stream="fed") as new:
        return new.first()


def comes_back_to_file(place):
    return comes_back(place, "--store", f"sqlite:{place.folder}/back-{place.number}")


def job(place, *words):
    with Tail(place, place.app(), *words, ends=True) as tail:
        return tail.ended()


def job_in_file(place):
    return job(place, "--store", f"sqlite:{place.folder}/job-{place.number}")


def of_client(client, server, trust):
    with Life(client, server, trust, PEERS_STREAM="ended", PEERS_LIMIT="1000") as life:
        limit = threading.Timer(KCL_LIMIT_S, life.process.kill)
        limit.daemon = True
        limit.start()
        life.mark("first")
        limit.cancel()
        return time.monotonic() - life.began


class Feeder:
    """Puts records into a stream until it is left."""

    def __init__(self, server, stream):
        env = {"PATH": os.environ["PATH"], "AWS_ACCESS_KEY_ID": "BENCHKEY", "AWS_SECRET_ACCESS_KEY": "not-a-secret",
               "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": server.plain, "HOME": "/nonexistent"}
        self.process = subprocess.Popen([STREAM_TAIL, "-q", "-P", "-K:", stream], env=env, stdin=subprocess.PIPE)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.feed, daemon=True)
        self.thread.start()

    def feed(self):
        number = 0
        with contextlib.suppress(OSError):
            while not self.over.wait(FEED_S):
                number += 8
                self.process.stdin.write("".join(f"{n}:record {n}\n" for n in range(number, number + 8)).encode())
                self.process.stdin.flush()

    def close(self):
        self.over.set()
        self.thread.join()
        self.process.stdin.close()
        self.process.wait(LIMIT_S)


def tell(name, found):
    print(f"{name:44} {statistics.median(found):7.2f} s ({min(found):.2f} to {max(found):.2f}), {len(found)} runs", flush=True)
    print(json.dumps({"bench": "first", "name": name, "seconds": [round(s, 3) for s in found]}), flush=True)


def main():
    parser = argparse.ArgumentParser(description="Seconds to the first record.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="situations and clients; all of them if none is named")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--slow-rounds", type=int, default=5, help="of situations and clients that take long")
    options = parser.parse_args()
    server = Server(os.path.join(BUILD, "bench", "peers_server"))
    load = [os.getloadavg()[0]]
    found = {}
    with contextlib.ExitStack() as stack:
        stack.callback(server.close)
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        server.order("POST", f"synthetic?name=ended&shards={SHARDS}&bytes=100&records={RECORDS}")
        server.order("POST", f"stream?name=fed&shards={SHARDS}")
        stack.callback(Feeder(server, "fed").close)
        here = Place(server, folder)
        situations = {"a reader without leases": (lambda: reader(here), 0),
                      "new application, sandbox": (lambda: alone(here), 0),
                      "new application and table, sandbox": (lambda: no_table(here), 0),
                      "new application, SQLite": (lambda: in_file(here), 0),
                      "a second worker joins": (lambda: joins(here), 0),
                      "stopped and started again, sandbox": (lambda: comes_back(here), 0),
                      "stopped and started again, SQLite": (lambda: comes_back_to_file(here), 0),
                      "-G -e from start to end, sandbox": (lambda: job(here), 0),
                      "-G -e from start to end, SQLite": (lambda: job_in_file(here), 0)}
        try:
            tables = stack.enter_context(servers.Dynalite())
            there = Place(server, folder, f"http://127.0.0.1:{tables.port}")
            situations["new application, dynalite"] = (lambda: alone(there), 0)
            situations["new application and table, dynalite"] = (lambda: no_table(there), 0)
            situations["-G -e from start to end, dynalite"] = (lambda: job(there), 0)
            situations["stopped and started again, dynalite"] = (lambda: comes_back(there), 0)
        except servers.Missing as missing:
            print(f"skip dynalite: {missing}")
        trust = os.path.join(folder, "trust")
        for client in clients():
            if client.missing:
                print(f"skip {client.name}: {client.missing}")
            elif client.leases and not client.name.startswith("sloop"):
                situations[client.name] = (lambda client=client: of_client(client, server, trust), client.slow)
        if any("{trust}" in word for client in clients() for word in client.command):
            subprocess.run(["keytool", "-importcert", "-noprompt", "-alias", "bench", "-file", server.ca_file, "-keystore", trust,
                            "-storepass", "bench-peers"], check=False, capture_output=True)
        for unknown in set(options.names) - set(situations):
            raise Failed(f"no situation or client is called {unknown}")
        for number in range(options.rounds):
            for name, (take, slow) in situations.items():
                if (options.names and name not in options.names) or (slow and number >= options.slow_rounds):
                    continue
                found.setdefault(name, []).append(take())
            load.append(os.getloadavg()[0])
    for name, seconds in found.items():
        tell(name, seconds)
    print(f"{machine()}, load {min(load):.1f} to {max(load):.1f}")


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        sys.exit(str(failed))
