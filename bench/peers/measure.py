"""Measures sloop and its peers on the same server: measure.py [--rounds 7] [--slow-rounds 3] [--json FILE] [CLIENT...]

Each client is a process of its own on the first CPU; server and TLS are on the second. A run that did not get every record
ends the whole with an error. The figures go to FILE; report.py makes the table of them, picture.py the picture.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time

from clients import clients

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from server import Failed, Server, cpu_clock, environment

GB = 1e9
SHARDS = 8
IDLE_SHARDS = 16
# name: bytes of a record, records of a shard, records of a page
BODIES = {"1 KiB": (1024, 20000, 1000), "100 B": (100, 60000, 10000)}
SMALL = {"1 KiB": (1024, 4000, 1000), "100 B": (100, 20000, 10000)}
POLL_MS = 200
IDLE_WINDOW_S = 8
LIMIT_S = 400  # of one run
REACH = 0.7  # of the polls that 200 ms give: so many and a client polls all shards


def peak_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) * 1024 / 1e6


class Life:
    """One run of a client: ended when this is left."""

    number = 0

    def __init__(self, client, server, trust, **variables):
        Life.number += 1
        env = environment(server, NODE_EXTRA_CA_CERTS=server.ca_file, PEERS_ENDPOINT=server.url, PEERS_POLL_MS=str(POLL_MS),
                          **{**client.env, **variables})
        if client.leases:
            env["PEERS_APP"] = f"bench-{Life.number}"  # nothing is known of it: from the oldest record
        self.name = client.name
        self.said = tempfile.TemporaryFile("w+")
        self.began = time.monotonic()
        self.process = subprocess.Popen([word.replace("{trust}", trust) for word in client.command], env=env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said,
                                        preexec_fn=lambda: os.sched_setaffinity(0, {server.cpu}))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.said.close()

    def fail(self, why):
        self.said.seek(0)
        raise Failed(f"{self.name}: {why}\n{self.said.read()[-2000:]}")

    def mark(self, name):
        """Waits for the line; its CPU seconds and the three counts."""
        line = self.process.stdout.readline().split()
        if not line or line[0] != name:
            self.fail(f"'{name}' was expected and not {line}")
        return float(line[1]), [int(word) for word in line[2:]]


def polls_of(server):
    return server.stats()["operations"].get("GetRecords", {"calls": 0})["calls"]


def stream_of(what, volume):
    return f"{what.replace(' ', '-')}-{volume}"


def read_all(client, server, trust, body, what):
    """CPU seconds for a GB of payload, without that of the start; peak memory; seconds to the first record."""
    size, of_shard, page = body
    measured = SHARDS * of_shard * 4 // 5
    of_shard *= client.volume
    total = SHARDS * of_shard
    wanted = [total, total * size, SHARDS * of_shard * (of_shard - 1) // 2 + 1000000 * of_shard * sum(range(SHARDS))]
    with Life(client, server, trust, PEERS_STREAM=stream_of(what, client.volume), PEERS_RECORDS=str(total),
              PEERS_WARM=str(total - measured), PEERS_LIMIT=str(page)) as life:
        limit = threading.Timer(LIMIT_S, life.process.kill)  # the mark that is waited for does not come then
        limit.daemon = True
        limit.start()
        life.mark("first")
        first_s = time.monotonic() - life.began
        warm_s, warm = life.mark("warm")
        done_s, got = life.mark("done")
        outside_s, peak = cpu_clock(life.process.pid), peak_mb(life.process.pid)
        limit.cancel()
        if got != wanted:
            life.fail(f"records, bytes and sum are {got} instead of {wanted}")
        if not -0.02 <= outside_s - done_s <= 0.3 + 0.05 * done_s:
            life.fail(f"it says {done_s} s of CPU, the kernel {outside_s} s")
    return {"cpu": (done_s - warm_s) / ((got[1] - warm[1]) / GB), "peak": peak, "first": first_s}


def idle(client, server, trust):
    """Microseconds of CPU for each poll of shards that have nothing, all that the client does meanwhile included."""
    full = IDLE_SHARDS * 1000 / POLL_MS
    with Life(client, server, trust, PEERS_STREAM="idle", PEERS_LIMIT="1000") as life:
        polls = polls_of(server)
        while True:
            time.sleep(1)
            before, polls = polls, polls_of(server)
            if life.process.poll() is not None:
                life.fail("it ended")
            if polls - before >= REACH * full:
                break
            if time.monotonic() - life.began > LIMIT_S:
                life.fail(f"{polls - before} polls a second instead of {full:.0f}")
        time.sleep(client.settle_s)
        cpu, polls, wall = cpu_clock(life.process.pid), polls_of(server), time.monotonic()
        time.sleep(IDLE_WINDOW_S)
        cpu, polls, wall = cpu_clock(life.process.pid) - cpu, polls_of(server) - polls, time.monotonic() - wall
    if not REACH * full <= polls / wall <= 1.3 * full:
        print(f"not counted: {client.name}: {polls / wall:.0f} polls a second instead of {full:.0f}; is the machine busy?", flush=True)
        return {}
    return {"poll": cpu * 1e6 / polls, "rate": polls / wall}


def one_round(number, taking, server, trust, bodies, idles, figures):
    """Every body and the polls, each by every client in turn; another client begins in each round."""
    turn = number % len(taking)
    for what in [*bodies, *idles]:
        for client in taking[turn:] + taking[:turn]:
            if what == "idle" and not client.polls:
                continue
            found = idle(client, server, trust) if what == "idle" else read_all(client, server, trust, bodies[what], what)
            for figure, value in found.items():
                figures[client.name].setdefault(f"{figure} {what}", {})[str(number)] = round(value, 3)
            print(f"round {number + 1}, {what}: {client.name}: " + ", ".join(f"{k} {v:.3f}" for k, v in found.items()),
                  flush=True)


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} CPUs, {model}"


def keep(file, all_clients, figures, load):
    """After each round, so that one that is stopped has what it found."""
    head = {"machine": machine(), "date": time.strftime("%B %Y"), "load": [round(x, 1) for x in load]}
    rows = [{"name": c.name, "version": c.version, "wire": c.wire, "leases": c.leases, "missing": c.missing,
             "figures": figures.get(c.name, {})} for c in all_clients]
    with open(file, "w", encoding="utf-8") as out:
        out.write(json.dumps(head)[:-1] + ', "clients": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]}\n")


def main():
    parser = argparse.ArgumentParser(description="sloop and its peers on the same server.")
    parser.add_argument("names", nargs="*", metavar="CLIENT")
    parser.add_argument("--rounds", type=int, help="7, with --small 1")
    parser.add_argument("--slow-rounds", type=int, default=3, help="of those that take long to start")
    parser.add_argument("--times", type=int, default=1, help="so many times the records: steadier where much else runs")
    parser.add_argument("--no-idle", action="store_true", help="without the empty polls")
    parser.add_argument("--small", action="store_true", help="rounds of few records; one: does all of it work?")
    parser.add_argument("--json", default="peers.json")
    options = parser.parse_args()
    rounds, slow_rounds = (options.rounds or 1, 1) if options.small else (options.rounds or 7, options.slow_rounds)
    bodies = {what: (size, of_shard * options.times, page)
              for what, (size, of_shard, page) in (SMALL if options.small else BODIES).items()}
    all_clients = [c for c in clients() if not options.names or c.name in options.names]
    for client in all_clients:
        if client.missing:
            print(f"skip {client.name}: {client.missing}", flush=True)
    taking = [c for c in all_clients if not c.missing]
    figures = {c.name: {} for c in taking}
    load = [os.getloadavg()[0]]
    server = Server(os.path.join(os.path.dirname(taking[0].command[0]), "peers_server"))
    try:
        for what, (size, of_shard, _) in bodies.items():
            for volume in {c.volume for c in taking}:
                server.order("POST", f"synthetic?name={stream_of(what, volume)}&shards={SHARDS}&bytes={size}&records={of_shard * volume}")
        server.order("POST", f"stream?name=idle&shards={IDLE_SHARDS}")
        with tempfile.TemporaryDirectory() as folder:
            trust = os.path.join(folder, "trust")
            if any("{trust}" in word for c in taking for word in c.command):
                subprocess.run(["keytool", "-importcert", "-noprompt", "-alias", "bench", "-file", server.ca_file, "-keystore",
                                trust, "-storepass", "bench-peers"], check=True, capture_output=True)
            for number in range(rounds):
                one_round(number, [c for c in taking if number < slow_rounds or not c.slow], server, trust, bodies,
                          [] if options.no_idle else ["idle"], figures)
                load.append(os.getloadavg()[0])
                keep(options.json, all_clients, figures, load)
    finally:
        server.close()


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        sys.exit(str(failed))
