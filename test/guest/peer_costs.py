"""What one worker costs, ours and theirs, on this machine, against the sandbox:

    peer_costs.py [--seconds 60] [--gb 1] [KIND...]

idle: 8 shards without records for so many seconds: CPU, resident memory, DynamoDB calls. restart: killed with SIGKILL
while it reads 8 shards and started again at once under its name: until its first record, until all shards are read.
backlog: CPU for each GB of 1 KB records that are there already, a line printed for each. JVMs have -Xmx256m. ours is
stream-tail, with its own rows and with those of the KCL.
"""

import argparse
import os
import sys
import time

import peers
from peers import KINDS, Ours, Theirs, harness, servers  # puts ../process on the path

import sandbox_box
from harness import Failed

SHARDS = 8
TICKS = os.sysconf("SC_CLK_TCK")
TABLE_CALLS = ("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan", "BatchGetItem", "BatchWriteItem",
               "TransactGetItems", "TransactWriteItems", "DescribeTable", "UpdateTable", "CreateTable")
NATIVE = peers.Kind("ours", "", "sloop", 60, True, True, False, {})
OF_KCL = peers.Kind("ours, kcl rows", "", "kcl", 90, True, True, False, {})



def cpu_of(life):
    with open(f"/proc/{life.process.pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_of(life):
    with open(f"/proc/{life.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:")) / 1024


def table_calls(box):
    uses = box.stats()["operations"]
    return sum(uses[name]["calls"] for name in TABLE_CALLS if name in uses)


def worker(kind, box, stream):
    if kind.program:
        return Theirs(kind, f"a{time.monotonic_ns()}" if kind.new_names else "a", box.url, stream, "app")
    return Ours(kind, "a", box.url, stream, "app", checkpoint_ms="5000")


def made(box):
    kinesis = harness.client(box.url)
    kinesis.create_stream(StreamName="s", ShardCount=SHARDS)
    harness.wait_active(kinesis, "s")
    return kinesis


def put_everywhere(kinesis, n=64):
    kinesis.put_records(StreamName="s", Records=[{"Data": b'{"n":1}', "PartitionKey": f"key {i}"} for i in range(n)])


def reads_all(life, kinesis, seconds, what, since=0):
    """Something is put until each shard was read; returns (seconds to the first line, to all shards)."""
    began, first = time.monotonic(), []

    def all_read():
        put_everywhere(kinesis)
        shards = {line.shard for line in life.lines[since:]}
        if shards and not first:
            first.append(time.monotonic() - began)
        if not life.running():
            raise Failed(f"{what}: it ended: {life.stderr()[-500:]}")
        return len(shards) == SHARDS

    harness.wait_until(all_read, seconds, what, 0.5)
    return first[0], time.monotonic() - began


def idle_and_restart(kind, seconds):
    with sandbox_box.Box("change_ms=500") as box:
        kinesis = made(box)
        life = worker(kind, box, "s")
        try:
            reads_all(life, kinesis, 240, f"{kind.name} reads 8 shards")
            began = time.monotonic()  # what comes at a start is over: the table is made, checkpoints are written
            while time.monotonic() - began < 15:
                time.sleep(0.5)
            cpu, calls = cpu_of(life), table_calls(box)
            time.sleep(seconds)  # what is measured
            idle = (cpu_of(life) - cpu, memory_of(life), table_calls(box) - calls)
            life.kill()
            life = worker(kind, box, "s")
            restart = reads_all(life, kinesis, 400, f"{kind.name} reads again after SIGKILL")
        finally:
            life.kill()
    return idle, restart


def backlog(kind, gb):
    """CPU seconds for each GB. The sandbox counts what it has given out."""
    if kind.name == "motorway":
        return None  # takes JSON only
    records = int(gb * 1e9 / 1024 / SHARDS)
    with sandbox_box.Box() as box:
        box.order("POST", f"synthetic?name=s&shards={SHARDS}&bytes=1024&records={records}")
        life = worker(kind, box, "s")
        try:
            def over():
                if not life.running():
                    raise Failed(f"it ended: {life.stderr()[-500:]}")
                life.lines.clear()
                return box.stats()["records_out"] >= records * SHARDS

            harness.wait_until(lambda: box.stats()["records_out"] > 0, 240, f"{kind.name} begins to read", 0.05)
            cpu = cpu_of(life)
            harness.wait_until(over, 600, f"{kind.name} reads {gb} GB", 0.2)
            return (cpu_of(life) - cpu) / gb
        finally:
            life.kill()


def row(kind, options):
    try:
        if kind.program:
            peers.command_of(kind.program)
        else:
            servers.binary()
        (cpu, memory, calls), (first, whole) = idle_and_restart(kind, options.seconds)
        work = backlog(kind, options.gb)
    except servers.Missing as missing:
        print(f"skip {kind.name}: {missing}", flush=True)
        return True
    except Failed as failed:
        print(f"FAIL {kind.name}: {failed}", flush=True)
        return False
    print(f"| {kind.name} | {cpu:.2f} | {memory:.0f} | {calls} | {first:.1f} / {whole:.1f} | "
          f"{'-' if work is None else f'{work:.2f}'} |", flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description="What one worker costs.")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(["ours", *KINDS]))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--gb", type=float, default=1)
    options = parser.parse_args()
    known = {"ours": [NATIVE, OF_KCL], **{name: [kind] for name, kind in KINDS.items()}}
    print(f"| one worker, {SHARDS} shards | idle {options.seconds:.0f} s: CPU s | RSS MB | DynamoDB calls | "
          "restart after kill -9: first / all shards, s | CPU s per GB |\n|---|---|---|---|---|---|", flush=True)
    fine = [row(kind, options) for name in options.kinds or known for kind in known[name]]
    sys.exit(0 if all(fine) else 1)


if __name__ == "__main__":
    main()
