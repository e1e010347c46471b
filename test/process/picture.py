"""Draws the README's picture, watch.svg: `stream-tail --watch` of a real fleet on a terminal, taken from the screen as it is.

usage: SLOOP_BIN=build/stream-tail python3 test/process/picture.py [FILE]

Three workers, each with a host name of its own (unshare --uts), read a backlog of a stream that somebody goes on writing
to. One of them is killed, and when the others have its shards the screen is drawn, by terminal_svg.py. Takes about half a
minute.
"""

import base64
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

from box import BIN, Box
from command import check, end, environment
from terminal import Terminal
from terminal_svg import svg

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS, ROWS = 88, 24
APP, STREAM, SHARDS, WORKERS = "billing", "orders", 8, ("anna", "bert", "carl")
FLEET = ("-G", APP, "-X", "lease_ms=4000", "-X", "checkpoint_ms=1000", "-X", "poll_ms=200",
         "-X", "fetch_records_max=20")  # small pages: progress is smooth
BACKLOG, RECORD_BYTES, READ_BYTES_PER_SECOND = 8000, 4000, 200000
TRAFFIC = (1, 14, 3, 22, 1, 6, 38, 2)  # how the records are spread over the shards


class Traffic:
    """Puts records into the stream until told to stop."""

    def __init__(self, box):
        self.box, self.over, self.failed = box, threading.Event(), None
        self.shards = [shard for shard, share in enumerate(TRAFFIC) for _ in range(share)]
        self.n = 0
        self.thread = threading.Thread(target=self.go_on)

    def put(self, n):
        data = base64.b64encode(b"x" * RECORD_BYTES).decode()
        shards = [self.shards[i * 37 % len(self.shards)] for i in range(self.n, self.n + n)]
        self.n += n
        self.box.call("PutRecords", StreamName=STREAM, Records=[
            {"Data": data, "PartitionKey": "k", "ExplicitHashKey": str((2 * shard + 1) * 2**128 // (2 * SHARDS))} for shard in shards])

    def go_on(self):
        try:
            while not self.over.wait(0.1):
                self.put(10)
        except OSError as error:
            self.failed = error


def start_worker(box, name, out):
    """A process with a host name of its own: as if it ran on a machine of its own."""
    alone = ["unshare", "--map-root-user", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', f"{name}.example"]
    return subprocess.Popen([*alone, BIN, *FLEET, "-X", f"worker={name}", "-o", "oldest", STREAM], stdin=subprocess.DEVNULL,
                            stdout=out, stderr=subprocess.DEVNULL, env=environment(box.env))


def owners(lines):
    """The owners of the shards that are owned, and how many shards are shown in another state."""
    rows = [line.split() for line in lines if re.match(r"\d+ +(owned|dead|free|parked|ended)\b", line)]
    return {row[2] for row in rows if row[1] == "owned"}, sum(row[1] != "owned" for row in rows), len(rows)


def screen(argv):
    """Returns the cells of the terminal of that command at the end of the story, row by row."""
    limits = ("-X", "sandbox.write_records_per_second=0", "-X", "sandbox.write_bytes_per_second=0",
              "-X", f"sandbox.read_bytes_per_second={READ_BYTES_PER_SECOND}")
    with tempfile.TemporaryFile() as out, Box(1, *limits) as box:
        box.make_stream(STREAM, SHARDS)
        traffic = Traffic(box)
        for _ in range(0, BACKLOG, 100):
            traffic.put(100)
        traffic.thread.start()
        workers = {}
        try:
            for name in WORKERS:
                workers[name] = start_worker(box, name, out)
            time.sleep(3)  # the leases' table is made
            with Terminal([BIN, *argv[1:]], {**box.env, "LANG": "C.UTF-8", "TZ": "UTC"}, COLUMNS, ROWS) as t:
                t.wait_for(lambda t: owners(t.lines()) == (set(WORKERS), 0, SHARDS) and t.frames >= 18, "a balanced fleet")
                workers["bert"].kill()
                t.wait_for(lambda t: owners(t.lines()) == ({"anna", "carl"}, 0, SHARDS), "new owners", 40)
                frames = t.frames
                t.wait_for(lambda t: t.frames >= frames + 3, "what comes after")
                t.look(0.3)  # to the end of the frame
                cells = t.cells()
                t.type(b"\x03")
                check(t.finish() == (0, ""), "it did not end well")
            check(not traffic.failed, traffic.failed)
            return cells
        finally:
            for worker in workers.values():
                end(worker)
            traffic.over.set()
            traffic.thread.join()


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "watch.svg")
    argv = ["stream-tail", "-G", APP, "--watch=1", STREAM]
    cells = screen(argv)
    print("\n".join("".join(character for character, _ in row).rstrip() for row in cells))
    text = svg(" ".join(argv), cells)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    print(f"{path}: {len(text)} bytes")


if __name__ == "__main__":
    main()
