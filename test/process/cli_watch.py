"""--watch on a terminal, whose picture an emulator that is not ours (pyte) judges beside terminal.py: sizes, keys, colours, what
comes back. SLOOP_BIN names the program.

usage: SLOOP_BIN=... python3 test/process/cli_watch.py [--write | TEST...]
--write writes the pictures of a calm, a lagging, a broken and a drained fleet, at two sizes: as text to SCREENS.md, and with
their colours to watch-SIZE-SITUATION.svg.
"""

import fcntl
import os
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

import pyte

from box import BIN, NO_LIMITS, Box
from command import check, end, equal, main, test, wait_until
from terminal import AS_A_JOB, Terminal, job_of, stopped
from terminal_svg import svg

HERE = os.path.dirname(os.path.abspath(__file__))
QUICK = ("-X", "lease_ms=2000", "-X", "checkpoint_ms=500", "-X", "poll_ms=200")
UTF8 = {"LC_ALL": "C.UTF-8", "TERM": "xterm"}
ASCII = {"LC_ALL": "C", "TERM": "xterm"}
LAST_KEYS = "q quit  ? help"
COLOURS = {"31": "red", "32": "green", "33": "brown"}  # the numbers of colours, and what pyte calls them


class Judged(Terminal):
    """A terminal with a second opinion: everything is given to pyte too, which must show the same."""

    def __init__(self, argv, env, columns=80, rows=24, **more):
        self.screen = pyte.Screen(columns, rows)
        self.feeder = pyte.ByteStream(self.screen)
        super().__init__(argv, env, columns, rows, **more)

    def resize(self, columns, rows):
        super().resize(columns, rows)
        self.screen.resize(rows, columns)

    def take(self, data):
        super().take(data)
        self.feeder.feed(data)

    def picture(self):
        """The lines of a whole frame, on which both agree."""
        def agree():
            self.look(0.1)
            return self.alternate and [line.rstrip() for line in self.screen.display] == self.lines()
        wait_until(agree, what="agreement on the picture")
        return self.lines()

    def coloured_picture(self):
        """The cells of a whole frame, on whose characters, colours, bold and reverse both agree. pyte knows no faint."""
        self.picture()
        cells = self.cells()
        for row, line in enumerate(cells):
            for column, (_, style) in enumerate(line):
                theirs, numbers = self.screen.buffer[row][column], style.split()
                colour = next((COLOURS[n] for n in numbers if n in COLOURS), "default")
                equal((theirs.fg, theirs.bold, theirs.reverse), (colour, "1" in numbers, "7" in numbers), row, column, style)
        return cells

    def has(self, text, limit=15):
        return self.wait_for(lambda t: any(text in line for line in t.lines()), text, limit)

    def colours(self, pattern):
        """The colours, and whether reversed, of what the pattern finds first, or of its group."""
        self.picture()
        row, found = next((i, m) for i, m in ((i, re.search(pattern, line)) for i, line in enumerate(self.screen.display)) if m)
        cells = self.screen.buffer[row]
        return {(cells[x].fg, cells[x].reverse) for x in range(*found.span(found.re.groups))}

    def shards(self):
        """The shards in the order that is shown."""
        return [m[1] for m in (re.match(r"(\d+) +(owned|dead|free|silent|ended|parked)\b", line) for line in self.picture()) if m]

    def leave(self, key=b"q"):
        self.type(key)
        equal(self.finish(), (0, ""))
        self.check_given_back()


class Workers:
    """Workers of an application, ended whatever happens."""

    def __init__(self, box, *names, args=()):
        self.box, self.args, self.each = box, args, {}
        for name in names:
            self.add(name)

    def add(self, name, *args):
        self.each[name] = self.box.start("-q", "-G", "app", "-o", "oldest", "-X", f"worker={name}", *QUICK, *self.args, *args, "demo",
                                         stdout=subprocess.DEVNULL)
        return self.each[name]

    def __enter__(self):
        return self

    def __exit__(self, *what):
        for p in self.each.values():
            if p.poll() is None and stopped(p.pid):
                p.send_signal(signal.SIGCONT)
            end(p)

    def share(self, shards):
        """Waits until each worker that runs has its part of the shards."""
        def held():
            out = self.box.tail("-G", "app", "--leases", "--no-read", "demo").out.decode()
            owners = re.findall(r"^\d+ +owned +(\S+?)\.", out, re.M)
            return len(owners) == shards and len(set(owners)) == sum(p.poll() is None for p in self.each.values())
        wait_until(held, 30, "a balanced fleet")


def watch(*args, every=1):
    return [BIN, f"--watch={every}", "-G", "app", *args, "demo"]


@test
def every_size_has_its_lines_and_both_emulators_agree():
    with Box(20, *NO_LIMITS) as box, Workers(box, "anna", "bert") as workers:
        workers.share(20)
        for env in (UTF8, ASCII):
            for columns, rows in ((80, 24), (200, 50), (40, 10), (20, 5), (1, 1), (300, 80)):
                with Judged(watch(), {**box.env, **env}, columns, rows) as t:
                    t.wait_for(lambda t: t.frames >= 2, "two frames")
                    lines = t.picture()
                    equal(len(lines), rows)
                    check(max(map(len, lines)) <= columns)
                    if columns >= 40:
                        check(lines[0].startswith("demo for app") and lines[-1].startswith(LAST_KEYS), lines)
                        check(any(line.startswith("SHARD") for line in lines), lines)
                        equal(any("READ UP TO" in line and "REASON" in line for line in lines), columns >= 110)
                        equal(any(ord(c) > 126 for line in lines for c in line), env is UTF8 and columns >= 80)
                    if rows >= 50:
                        equal(t.shards(), [str(i) for i in range(20)])
                    for key in b"?\x1bw\x1b/ab\r\x1bs\r":  # every page, at every size
                        t.type(bytes([key]))
                        t.look(0.03)
                    t.look(0.3)
                    check(t.process.poll() is None)
                    t.leave(b"\x03")


@test
def keys_sort_filter_and_open():
    with Box(8, *NO_LIMITS) as box, Workers(box, "anna", "bert") as workers:
        workers.share(8)
        box.put(200)
        # Polls come once an hour: what follows a key is drawn from what is known.
        with Judged(watch(every=3600), {**box.env, **UTF8}, 80, 40) as t:
            t.has(LAST_KEYS)
            for p in workers.each.values():  # from now on only --watch could read the table
                p.send_signal(signal.SIGSTOP)
            wait_until(lambda: all(stopped(p.pid) for p in workers.each.values()), what="their stop")
            time.sleep(0.2)
            calls = box.calls("Query") + box.calls("Scan")
            equal(t.shards(), [str(i) for i in range(8)])
            for word in ("lag", "shard", "worker"):
                t.type(b"s")
                t.has(f"sort: {word} ")
            owner = {line.split()[0]: line.split()[2] for line in t.picture() if re.match(r"\d+ +owned", line)}
            equal([owner[s] for s in t.shards()], sorted(owner.values()))
            t.type(b"s")
            t.has("sort: rate ")
            t.type(b"s")
            t.has("sort: urgent ")
            # A filter, letter by letter; then away with it.
            t.type(b"/be")
            t.wait_for(lambda t: t.lines()[-1].startswith("/be_  4 of 8 shards"), "the filter")
            check(all(owner[s] == "bert" for s in t.shards()) and len(t.shards()) == 4, t.lines())
            t.type(b"\x7f\x7fANN\r")
            t.has("/ANN: 4 of 8")
            check(all(owner[s] == "anna" for s in t.shards()), t.lines())
            check(not any(re.match("bert +(works|leads)", line) for line in t.lines()), t.lines())
            t.type(b"/x\r")
            t.has("/ANNx: 0 of 8")
            equal(t.shards(), [])
            t.type(b"\r")  # nothing is there to open
            t.type(b"\x1b")
            t.has("/ filter")
            equal(len(t.shards()), 8)
            # A choice: two down, one up, by both kinds of arrow keys and by letters.
            t.type(b"\x1b[B\x1bOBjjk")
            t.wait_for(lambda t: t.screen.buffer[t.lines().index(next(x for x in t.lines() if x.startswith("3 ")))][0].reverse,
                       "the choice")
            equal([s for s in t.shards() if ("default", True) in t.colours(f"^{s} ")], ["3"])
            equal(box.calls("Query") + box.calls("Scan"), calls, "a key reads the table")
            for p in workers.each.values():
                p.send_signal(signal.SIGCONT)
            t.type(b"\r")
            t.has("shardId-000000000003")
            check(any(owner["3"] in line for line in t.picture()), t.lines())
            check("Esc back" in t.lines()[-1], t.lines())
            t.type(b"\x1b")
            t.has("Enter why")
            t.type(b"w")
            t.has("w shards")
            lines = t.picture()
            check(not t.shards() and sum(bool(re.match("(anna|bert) +(works|leads) ", line)) for line in lines) == 2, lines)
            t.type(b"?")
            t.has("any other key goes back")
            check(any("LAG " in line for line in t.picture()))
            t.type(b"x")
            t.has("w shards")
            t.type(b"w")
            t.has("Enter why")
            t.type(b"/q")  # a letter of the filter, not the key
            t.has("/q_")
            t.type(b"\x1b")
            t.has("Enter why")
            t.leave()


@test
def what_opens_is_what_explain_says():
    with Box(2, *NO_LIMITS) as box, Workers(box, "anna") as workers:
        workers.share(2)
        with Judged(watch(), {**box.env, **UTF8}, 120, 40) as t:
            t.has(LAST_KEYS)
            t.type(b"\r")
            t.has("shardId-000000000000")
            said = box.tail("-G", "app", "--explain", "0", "demo").out.decode().splitlines()
            shown = t.picture()
            first = said[0].split(",")[0]
            check(any(first[:60] in line for line in shown), first, shown)
            # The worker dies: the page says so by itself.
            workers.each["anna"].kill()
            t.wait_for(lambda t: t.picture() != shown, "another text", 20)
            t.leave()


@test
def a_list_longer_than_the_screen_scrolls():
    with Box(60, *NO_LIMITS) as box, Workers(box, "anna") as workers:
        workers.share(60)
        with Judged(watch(every=3600), {**box.env, **UTF8}, 80, 24) as t:
            t.has(LAST_KEYS)
            t.type(b"ss")
            t.has("sort: shard ")
            seen = set(t.shards())
            check(len(seen) < 20 and any(" more" in line for line in t.lines()), t.lines())
            for _ in range(12):
                t.type(b"\x1b[6~")
                t.look(0.1)
                seen |= set(t.shards())
            equal(seen, {str(i) for i in range(60)})
            equal(t.shards()[-1], "59")
            t.type(b"\x1b[H")
            t.wait_for(lambda t: t.shards()[0] == "0", "the first one")
            t.type(b"G")
            t.wait_for(lambda t: t.shards()[-1] == "59", "the last one")
            t.leave()


@test
def colours_tell_lag_and_state():
    with Box(4, *NO_LIMITS) as box, Workers(box, "anna", "bert") as workers:
        workers.share(4)
        with Judged(watch("--lag-over", "30s"), {**box.env, **UTF8}, 120, 30) as t:
            t.wait_for(lambda t: sum(" tip" in line for line in t.lines()) >= 4, "shards at their tip")
            equal(t.colours(r"owned.* (tip)"), {("green", False)})
            dead = workers.each["bert"]
            dead.send_signal(signal.SIGSTOP)
            workers.each["anna"].send_signal(signal.SIGSTOP)  # nobody evicts it
            t.wait_for(lambda t: any(re.match("bert +silent", line) for line in t.lines()), "a silent worker", 30)
            equal(t.colours("^bert +(silent)"), {("red", False)})
            # Their lag is at most what the row says and what went by since: yellow after 3 s, red after 30.
            t.wait_for(lambda t: any(re.search(r"owned .* <[4-9]s ", line) for line in t.lines()), "a lag of some seconds", 30)
            equal(t.colours(r"owned .* (<[4-9]s) "), {("brown", False)})
            equal(t.colours(r"^(\d+) +owned"), {("default", False)})
            t.leave()
        for env, args, coloured in (({"NO_COLOR": "1"}, (), False), ({"NO_COLOR": "1"}, ("--color", "always"), True),
                                    ({}, ("--color", "never"), False), ({"TERM": "dumb"}, (), False), ({"TERM": ""}, (), False),
                                    ({"NO_COLOR": ""}, (), True)):
            with Judged(watch(*args), {**box.env, **UTF8, **env}, 80, 24) as t:
                t.has(LAST_KEYS)
                t.picture()
                t.type(b"\x1b[B")
                t.wait_for(lambda t: any(cell.reverse for row in t.screen.buffer.values() for cell in row.values()), "a choice")
                t.picture()
                cells = [cell for row in t.screen.buffer.values() for cell in row.values()]
                equal(any(cell.fg != "default" for cell in cells), coloured, env, args)
                t.leave()


@test
def workers_that_have_left_are_not_shown():
    with Box(4, *NO_LIMITS) as box, Workers(box, "anna", "bert", "carl") as workers:
        workers.share(4)
        with Judged(watch(), {**box.env, **UTF8}, 80, 30) as t:
            t.has(LAST_KEYS)
            t.wait_for(lambda t: sum(bool(re.match("(anna|bert|carl) ", line)) for line in t.lines()) == 3, "three workers")
            workers.each["bert"].send_signal(signal.SIGINT)
            workers.each["bert"].wait(20)
            t.wait_for(lambda t: not any(line.startswith("bert ") for line in t.lines()), "the end of bert")
            workers.each["carl"].kill()
            t.wait_for(lambda t: any(re.match("carl +(silent|dead) ", line) for line in t.lines()), "carl's death", 20)
            t.leave()


@test
def a_new_size_is_drawn_at_once_and_keys_live_through_ctrl_z():
    with Box(12, *NO_LIMITS) as box, Workers(box, "anna") as workers:
        workers.share(12)
        with Judged([*AS_A_JOB, *watch(every=3600)], {**box.env, **UTF8}) as t:
            t.has(LAST_KEYS)
            for columns, rows in ((200, 50), (40, 10), (80, 24)):
                t.resize(columns, rows)
                begun = time.monotonic()
                t.wait_for(lambda t, rows=rows: t.lines()[rows - 1].startswith(LAST_KEYS), f"a picture of {columns}x{rows}", 5)
                check(time.monotonic() - begun < 3, time.monotonic() - begun)
                time.sleep(1)
                t.picture()
            job = job_of(t.process)
            for key, text in ((b"?", "any other key goes back"), (b"x", "Enter why")):
                t.type(b"\x1a")
                wait_until(lambda: stopped(job), what="its stop")
                t.look()
                t.check_given_back()
                t.type(b"\n")
                t.wait_for(lambda t: t.alternate and t.lines()[-1].startswith("q quit"), "it again")
                t.type(key)
                t.has(text)
            t.leave()


@test
def a_watch_in_the_background_leaves_the_keys_to_others():
    """As with: stream-tail --watch ... &"""
    with Box(1, *NO_LIMITS) as box, Workers(box, "anna") as workers:
        workers.share(1)
        shell = ["sh", "-c", "set -m; \"$@\" & wait $!", "sh"]
        with Judged([*shell, *watch()], {**box.env, **UTF8}) as t:
            t.wait_for(lambda t: t.frames >= 2, "two frames")
            check(t.picture()[-1] == "Ctrl-C ends", t.lines())
            equal(termios.tcgetattr(t.slave), t.settings)
            job = job_of(t.process)
            t.type(b"q?w\n")
            frames = t.frames
            t.wait_for(lambda t: t.frames >= frames + 2, "more of it")
            check(not stopped(job), "it was stopped")
            os.kill(job, signal.SIGINT)
            equal(t.finish()[0], 0)


@test
def a_terminal_that_takes_nothing_holds_nobody_up():
    """Frames are dropped: what is typed has its effect, and the command ends in time."""
    with Box(30, *NO_LIMITS) as box, Workers(box, "anna") as workers:
        workers.share(30)
        for last in (b"q", b"\x03"):
            with Judged(watch(), {**box.env, **UTF8}, 300, 80) as t:
                t.has(LAST_KEYS)
                time.sleep(4)  # nobody reads
                for _ in range(30):
                    t.type(b"s?x")
                begun = time.monotonic()
                t.type(last)
                equal(t.process.wait(12), 0)
                check(time.monotonic() - begun < 6, time.monotonic() - begun)
                check(termios.tcgetattr(t.slave) == t.settings, "its settings have changed")


@test
def no_bytes_that_are_typed_do_harm():
    with Box(6, *NO_LIMITS) as box, Workers(box, "anna") as workers:
        workers.share(6)
        draw = random.Random(7)
        for _ in range(4):
            with Judged(watch(every=3600), {**box.env, **UTF8}, 60, 20) as t:
                t.has(LAST_KEYS)
                for _ in range(60):
                    t.type(bytes(draw.choice([27, 27, 91, 79, 65, 66, 53, 126, 13, 47, 115, 119, 63, 106, 107, 127, 200, 0x0f])
                                 for _ in range(draw.randrange(1, 30))))
                    t.look(0.01)
                t.look(0.5)
                check(t.process.poll() is None, t.process.poll())
                t.picture()
                t.type(b"\x1b")
                t.look(0.4)
                t.leave(b"\x03")


# ---- the pictures -------------------------------------------------------------------------------------------------------------

SITUATIONS = (("calm", "three workers, all shards at their tip"),
              ("lagging", "the same, with more records than they read"),
              ("one dead", "one of the three was killed a moment ago"),
              ("draining", "the application is being drained; carl still has records that its reader has not taken"),
              ("drained", "the same, when carl's reader has taken them"))
COMMAND = ("--watch=1", "-G", "billing", "--lag-over", "60s", "orders")


def pictures(size):
    """{situation: rows of cells}, from one fleet, to which one thing after the other happens."""
    columns, rows = size
    got = {}
    limits = ("-X", "sandbox.read_bytes_per_second=60000")
    fleet = ("-X", "lease_ms=6000", "-X", "fetch_records_max=20", "-X", "handover_ms=60000")
    reader = drain = None
    with Box(1, *NO_LIMITS, *limits) as box:
        box.make_stream("orders", 12)
        with Workers(box) as workers:
            try:
                reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
                for name in ("anna", "bert", "carl"):
                    out = reader.stdin if name == "carl" else subprocess.DEVNULL
                    workers.each[name] = box.start("-q", "-G", "billing", "-o", "oldest", "-X", f"worker={name}", *QUICK, *fleet,
                                                   "orders", stdout=out)
                wait_until(lambda: b"carl" in box.tail("-G", "billing", "--leases", "orders").out, 30, "the fleet")
                with Judged([BIN, *COMMAND], {**box.env, **UTF8, "TZ": "UTC"}, columns, rows) as t:
                    t.wait_for(lambda t: t.frames >= 12 and len({x.split()[2] for x in t.lines() if re.match(r"\d+ +owned", x)}) == 3,
                               "a balanced fleet", 40)
                    got["calm"] = t.coloured_picture()
                    for start_at in range(0, 6000, 500):
                        box.put(500, "orders", start_at, 900)
                    frames = t.frames
                    t.wait_for(lambda t: t.frames >= frames + 9, "a lag", 40)
                    got["lagging"] = t.coloured_picture()
                    workers.each["bert"].kill()
                    t.wait_for(lambda t: any(re.match("bert +dead", x) for x in t.lines()), "a death", 40)
                    got["one dead"] = t.coloured_picture()
                    reader.send_signal(signal.SIGSTOP)
                    box.put(500, "orders", 6000, 900)
                    frames = t.frames
                    t.wait_for(lambda t: t.frames >= frames + 3, "records for carl", 40)
                    drain = box.start("-G", "billing", "--drain", "orders")
                    t.wait_for(lambda t: "; draining" in t.lines()[1] and any(re.match("anna +drained", x) for x in t.lines()),
                               "a drain", 40)
                    got["draining"] = t.coloured_picture()
                    reader.send_signal(signal.SIGCONT)
                    t.wait_for(lambda t: "; drained" in t.lines()[1], "the end of the drain", 40)
                    equal(drain.wait(30), 0)
                    got["drained"] = t.coloured_picture()
                    t.leave()
            finally:
                for process in (reader, drain):
                    if process:
                        end(process)
    return got


def text_of(cells):
    return "\n".join("".join(character for character, _ in row).rstrip() for row in cells)


@test
def each_situation_has_its_picture():
    """What --write writes can be made, and shows what it says."""
    got = pictures((80, 24))
    calm, lagging, dead, draining, drained = (text_of(got[name]) for name, _ in SITUATIONS)
    check(calm.count(" tip") >= 12 and "dead" not in calm, calm)
    check(lagging.count("<") >= 3 and lagging.count(" owned ") == 12, lagging)
    check(re.search(r"^bert +dead ", dead, re.M), dead)
    check(re.search(r"^anna +drained ", draining, re.M) and re.search(r"^\d+ +owned +carl", draining, re.M), draining)
    check(re.search(r"^carl +drained +0 +- ", drained, re.M) and " owned " not in drained and drained.count(" free ") >= 12, drained)
    # Each style has its class in the picture, and each letter is in it.
    drawn = svg("stream-tail", got["one dead"])
    check(all(f'class="{name}"' in drawn for name in ("red", "bold", "faint")) and drawn.count(">bert<") >= 1, drawn)


def write():
    out = ["# What --watch shows", "",
           f"Pictures of `stream-tail {' '.join(COMMAND)}` of a fleet in the sandbox, as a terminal shows them;",
           "written by `cli_watch.py --write`. Each picture is there with its colours, and below as text.", ""]
    for columns, rows in ((80, 24), (200, 50)):
        got = pictures((columns, rows))
        for name, what in SITUATIONS:
            picture = f"watch-{columns}x{rows}-{name.replace(' ', '-')}.svg"
            with open(os.path.join(HERE, picture), "w", encoding="utf-8") as f:
                f.write(svg(" ".join(("stream-tail", *COMMAND)), got[name]))
            out += [f"## {columns}x{rows}, {name}: {what}", "", f"![{name}: {what}]({picture})", "",
                    "```text", text_of(got[name]), "```", ""]
    with open(os.path.join(HERE, "SCREENS.md"), "w", encoding="utf-8") as f:
        f.write("\n".join(out[:-1]) + "\n")


if sys.argv[1:] == ["--write"]:
    write()
else:
    main(at_once=3)
