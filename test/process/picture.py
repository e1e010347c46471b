"""Draws the README's picture, watch.svg: `stream-tail --watch` of a real fleet on a terminal, taken from the screen as it is.

usage: SLOOP_BIN=build/stream-tail python3 test/process/picture.py [FILE]

Three workers, each with a host name of its own (unshare --uts), read a backlog of a stream that somebody goes on writing
to. One of them is killed, and when the others have its shards the screen is drawn. Only the colours are the picture's own:
they follow the reader's light or dark theme. Takes about half a minute.
"""

import base64
import html
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

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS, ROWS = 88, 24
APP, STREAM, SHARDS, WORKERS = "billing", "orders", 8, ("anna", "bert", "carl")
FLEET = ("-G", APP, "-X", "lease_ms=4000", "-X", "checkpoint_ms=1000", "-X", "poll_ms=200",
         "-X", "fetch_records_max=20")  # small pages: progress is smooth
BACKLOG, RECORD_BYTES, READ_BYTES_PER_SECOND = 8000, 4000, 200000
TRAFFIC = (1, 14, 3, 22, 1, 6, 38, 2)  # how the records are spread over the shards

CELL_W, CELL_H, MARGIN, BAR = 8, 17, 14, 26  # pixels: a character, what is around the screen, the line with the command
STYLE = """
.paper{fill:#f6f8fa;stroke:#d0d7de}.text{fill:#1f2328}.faint{fill:#59636e}.block{fill:#0969da}.bad{fill:#cf222e}
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}
@media (prefers-color-scheme:dark){
.paper{fill:#0d1117;stroke:#30363d}.text{fill:#e6edf3}.faint{fill:#9198a1}.block{fill:#4493f8}.bad{fill:#ff7b72}}
"""


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
    """The text on the terminal of that command at the end of the story, line by line."""
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
                lines = t.lines()
                t.type(b"\x03")
                check(t.finish() == (0, ""), "it did not end well")
            check(not traffic.failed, traffic.failed)
            return lines
        finally:
            for worker in workers.values():
                end(worker)
            traffic.over.set()
            traffic.thread.join()


def blocks(line, y):
    """Block elements as rectangles, so that no font has a say in them; equal neighbours are one."""
    bars = []  # [column where it begins, its width in columns, its height]
    for column, character in enumerate(line):
        code = ord(character)
        if 0x2581 <= code <= 0x2588:  # from below, in eighths of the height
            wide, high = 1, (code - 0x2580) / 8
        elif 0x2589 <= code <= 0x258f:  # from the left, in eighths of the width
            wide, high = (0x2590 - code) / 8, 1
        else:
            continue
        if bars and bars[-1][0] + bars[-1][1] == column and bars[-1][2] == high:
            bars[-1][1] += wide
        else:
            bars.append([column, wide, high])
    full = CELL_H - 3
    return [f'<rect class="block" x="{MARGIN + column * CELL_W}" y="{y + 1 + full * (1 - high):g}" width="{wide * CELL_W:g}" '
            f'height="{full * high:g}"/>' for column, wide, high in bars]


def line_in_svg(line, y, kind):
    """Each word stands at its own column, whatever the widths of the font are."""
    out = blocks(line, y)
    for part in re.finditer(r"\S+(?: \S+)*", re.sub("[\u2581-\u258f]", " ", line)):
        out.append(f'<text class="{kind}" x="{MARGIN + part.start() * CELL_W}" y="{y + 13}" '
                   f'textLength="{len(part[0]) * CELL_W}" lengthAdjust="spacingAndGlyphs">{html.escape(part[0], quote=False)}</text>')
    return out


def kind_of(line):
    if re.match(r"(SHARD|WORKER) ", line) or line.startswith("q quit "):
        return "faint"
    return "bad" if re.search(r"^\S+ +(dead|gone|silent)\b", line) else "text"


def svg(command, lines):
    width, height = 2 * MARGIN + COLUMNS * CELL_W, 2 * MARGIN + BAR + len(lines) * CELL_H
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">',
           f"<title>{html.escape(command)}</title>", f"<style>{STYLE.strip()}</style>",
           f'<rect class="paper" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>']
    out += line_in_svg("$ " + command, MARGIN - 3, "faint")
    for row, line in enumerate(lines):
        out += line_in_svg(line, MARGIN + BAR + row * CELL_H, kind_of(line))
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "watch.svg")
    argv = ["stream-tail", "-G", APP, "--watch=1", STREAM]
    lines = screen(argv)
    print("\n".join(lines))
    text = svg(" ".join(argv), lines)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    print(f"{path}: {len(text)} bytes")


if __name__ == "__main__":
    main()
