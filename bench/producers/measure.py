"""stream-tail -P beside other producers, on the same server: measure.py [--rounds 3] [--small] [--json FILE] [PRODUCER...]

Each is a process of its own on the first CPU; server and TLS are on the second. Each puts the same lines twice: a tenth of
them, and all. CPU a GB is that of the difference, so that what a start and a compiler that warms up cost is in neither. A run
in which a record is not put ends the whole with an error."""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from server import Failed, Server, cpu_clock, environment

ROOT = os.path.dirname(os.path.dirname(HERE))
CACHE = os.path.join(ROOT, ".cache")
BUILD = os.environ.get("SLOOP_BUILD", os.path.join(ROOT, "build"))
KPL = os.path.join(CACHE, "producers", "kpl")
BODIES = {"1 KiB": (1024, 200000), "100 B": (100, 1000000)}  # bytes of a payload, how many
SMALL = {"1 KiB": (1024, 20000), "100 B": (100, 50000)}
SHARDS, KEYS, LIMIT_S = 8, 10000, 600
OURS = "stream-tail -P"


@dataclass
class Producer:
    name: str
    command: list
    aggregates: bool = False
    waits: bool = False  # its process ends when it is killed, and prints the process id of another one
    env: dict = field(default_factory=dict)
    missing: str = ""


def producers():
    python, go = os.path.join(CACHE, "venv", "bin", "python"), os.path.join(CACHE, "producers", "awsput")
    ours = [os.path.join(BUILD, "stream-tail"), "-P", "-K:", "{stream}"]
    java = ["java", "-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", f"{KPL}:{KPL}/jars/*", "Put"]
    no_kpl = "" if os.path.exists(os.path.join(KPL, "Put.class")) else "not installed"
    return [
        Producer(OURS, ours),
        Producer(OURS + " --unordered", ours + ["--unordered"]),
        Producer("boto3", [python, os.path.join(HERE, "put.py")], missing="" if os.path.exists(python) else "no .cache/venv"),
        Producer("AWS SDK for Go", [go], missing="" if os.path.exists(go) else "not built"),
        Producer("KPL, no aggregation", java, waits=True, missing=no_kpl),
        Producer(OURS + " --aggregate", ours + ["--aggregate"], aggregates=True),
        Producer("KPL", java, aggregates=True, waits=True, env={"PRODUCERS_AGGREGATE": "1"}, missing=no_kpl),
    ]


def run_once(producer, server, path, n, number):
    """{"cpu": CPU seconds, "wall": seconds, "native": CPU seconds of the native part of the KPL}"""
    stream = f"put-{number}"
    server.order("POST", f"stream?name={stream}&shards={SHARDS}")
    host, port = server.url.split("//")[1].strip("/").rsplit(":", 1)
    env = environment(server, AWS_ENDPOINT_URL=server.url, PRODUCERS_ENDPOINT=server.url, PRODUCERS_HOST=host, PRODUCERS_PORT=port,
                      PRODUCERS_STREAM=stream, **producer.env)
    before, found = server.stats()["records_in"], {}
    with open(path, "rb") as given, tempfile.TemporaryFile("w+") as said:
        began = time.monotonic()
        process = subprocess.Popen([word.replace("{stream}", stream) for word in producer.command], env=env, text=True, stdin=given,
                                   stdout=subprocess.PIPE, stderr=said, preexec_fn=lambda: os.sched_setaffinity(0, {server.cpu}))
        native = 0
        try:
            if producer.waits:
                put, native = map(int, process.stdout.readline().split() or (0, 0))
                found["native"] = cpu_clock(native) if native else 0
                found["cpu"] = cpu_clock(process.pid) + found["native"]
            else:
                text = process.stdout.read()
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                found["cpu"] = used.ru_utime + used.ru_stime
                said.seek(0)
                put = int(text) if text.strip() else int((said.read().split() or [0, 0])[1])
        finally:
            found["wall"] = time.monotonic() - began
            if process.returncode is None:
                process.kill()
                process.wait()
            process.stdout.close()
        said.seek(0)
        stored = server.stats()["records_in"] - before
        if put != n or (stored != n if not producer.aggregates else not 0 < stored < n / 2):
            raise Failed(f"{producer.name}: {put} put, {stored} stored, of {n}\n{said.read()[-2000:]}")
    found["stored"] = stored
    server.call("DeleteStream", StreamName=stream)
    return found


def write_lines(path, size, n):
    rand = random.Random(size)
    pool = rand.randbytes(1 << 20).replace(b"\n", b" ")
    with open(path, "wb") as file:
        for _ in range(n):
            at = rand.randrange(len(pool) - size)
            file.write(b"user-%d:" % rand.randrange(KEYS) + pool[at:at + size] + b"\n")


def median(rounds, name):
    values = [found[name] for found in rounds]
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def table(figures, bodies):
    print("\n|  | " + " | ".join(f"CPU s per GB, {what} | records/s" for what in bodies) + " |")
    print("| --- |" + " --- | --- |" * len(bodies))
    for name, of in figures.items():
        cells = []
        for what in bodies:
            rounds = of[what]
            ours = figures.get(OURS + (" --aggregate" if rounds[0]["aggregates"] else ""), {}).get(what)
            ratio = ""
            if ours and ours is not rounds:
                ratio = f", **{statistics.median(a['gb'] / b['gb'] for a, b in zip(rounds, ours)):.1f} x**"
            native = f", native part {median(rounds, 'native_gb')}" if "native_gb" in rounds[0] else ""
            cells += [median(rounds, "gb") + native + ratio, f"{statistics.median(r['rate'] for r in rounds):,.0f}"]
        print(f"| {name} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description="stream-tail -P beside other producers.")
    parser.add_argument("names", nargs="*", metavar="PRODUCER")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="one round of few records: does all of it work?")
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    bodies = SMALL if options.small else BODIES
    taking = [p for p in producers() if not options.names or p.name in options.names]
    for producer in taking:
        if producer.missing:
            print(f"skip {producer.name}: {producer.missing}", flush=True)
    taking = [p for p in taking if not p.missing]
    figures = {p.name: {what: [] for what in bodies} for p in taking}
    server, number = Server(os.path.join(BUILD, "bench", "peers_server")), 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            for what, (size, n) in bodies.items():
                write_lines(os.path.join(folder, what), size, n)
                write_lines(os.path.join(folder, what + " tenth"), size, n // 10)
            for turn in range(1 if options.small else options.rounds):
                for what, (size, n) in bodies.items():
                    first = turn % len(taking)
                    for producer in taking[first:] + taking[:first]:
                        number += 2
                        tenth = run_once(producer, server, os.path.join(folder, what + " tenth"), n // 10, number)
                        whole = run_once(producer, server, os.path.join(folder, what), n, number + 1)
                        gb = size * (n - n // 10) / 1e9
                        found = {"aggregates": producer.aggregates, "gb": (whole["cpu"] - tenth["cpu"]) / gb,
                                 "rate": (n - n // 10) / (whole["wall"] - tenth["wall"]), "stored": whole["stored"],
                                 "load": os.getloadavg()[0]}
                        if "native" in whole:
                            found["native_gb"] = (whole["native"] - tenth["native"]) / gb
                        figures[producer.name][what].append(found)
                        print(f"round {turn + 1}, {what}: {producer.name}: "
                              + ", ".join(f"{k} {v:.2f}" for k, v in found.items()), flush=True)
                        if options.json:
                            with open(options.json, "w", encoding="utf-8") as out:
                                json.dump(figures, out, indent=1)
        finally:
            server.close()
    table(figures, bodies)


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        sys.exit(str(failed))
