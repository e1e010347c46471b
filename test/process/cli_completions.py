"""Completions as bash, zsh and fish play them: every option, and names of streams, shards, workers and profiles, which come
from a sandbox. bash and zsh run on a terminal, where somebody types and presses the tabulator. SLOOP_BIN names the program."""

import fcntl
import os
import pty
import re
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import termios
import threading
import time

import pyte

from box import BIN, NO_LIMITS, Box
from command import check, end, environment, equal, main, run, test, wait_until

SHELLS = [shell for shell in ("bash", "zsh", "fish") if shutil.which(shell)]
COLUMNS, ROWS = 160, 100


def options():
    """[(letter or None, name)] of all options."""
    text = run(BIN, "-h", "all").out.decode()
    return [(letter or None, name) for letter, name in re.findall(r"^  (?:-(\w), |    )--([\w-]+)", text, re.M)]


class Home:
    """A home folder with profiles, in which the command is found as stream-tail and the scripts are."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = self.folder.name
        os.makedirs(os.path.join(self.path, "bin"))
        os.symlink(BIN, os.path.join(self.path, "bin", "stream-tail"))
        os.makedirs(os.path.join(self.path, ".aws"))
        with open(os.path.join(self.path, ".aws", "config"), "w", encoding="ascii") as f:
            f.write("[default]\nregion = eu-west-1\n[profile staging]\nregion = eu-west-1\n[sso-session corp]\nsso_region = x\n")
        for shell in ("bash", "zsh", "fish"):
            with open(os.path.join(self.path, "script." + shell), "wb") as f:
                f.write(run(BIN, "--completion", shell).out)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.folder.cleanup()

    def env(self, box_env=None):
        return {**(box_env or {}), "HOME": self.path, "PATH": os.path.join(self.path, "bin") + ":" + os.environ["PATH"],
                "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "vt100", "XDG_CACHE_HOME": os.path.join(self.path, "cache"),
                "XDG_CONFIG_HOME": os.path.join(self.path, "config"), "XDG_DATA_HOME": os.path.join(self.path, "data")}

    def cached(self):
        folder = os.path.join(self.path, "cache", "stream-tail")
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    def age_cache(self, seconds):
        """Makes what is kept older, as time does."""
        for name in self.cached():
            path = os.path.join(self.path, "cache", "stream-tail", name)
            with open(path, encoding="ascii") as f:
                key, until, rest = re.fullmatch(r"(\w+) (\d+)\n(.*)", f.read(), re.S).groups()
            with open(path, "w", encoding="ascii") as f:
                f.write(f"{key} {int(until) - 1000 * seconds}\n{rest}")


class Typist:
    """bash or zsh on a terminal."""

    def __init__(self, shell, home, env=None):
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self.stream = pyte.ByteStream(self.screen)
        self.master, slave = pty.openpty()
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        script = os.path.join(home.path, "script." + shell)
        if shell == "bash":
            argv = ["bash", "--norc", "--noprofile", "-i"]
            begin = f"PS1='ready> '; HISTFILE=; bind 'set bell-style none'; bind 'set completion-query-items -1'; bind 'set page-completions off'; . {script}"
        else:
            argv = ["zsh", "-f", "-i"]
            begin = ("PS1='ready> '; HISTFILE=; LISTMAX=9999; autoload -U compinit; compinit -u -D; unsetopt beep; "
                     f"_stream-tail() {{ . {script} }}; compdef _stream-tail stream-tail")
        more = environment({**home.env(env), "PS1": "first> "})
        self.process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, env=more,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), cwd=home.path)
        os.close(slave)
        self.type(begin + "\r")
        self.wait(lambda text: re.search(r"^ready> $", text, re.M), "the prompt")
        self.clear()

    def __enter__(self):
        return self

    def __exit__(self, *what):
        end(self.process)
        os.close(self.master)

    def type(self, text):
        os.write(self.master, text.encode())

    def clear(self):
        """Forgets what was typed, and what the screen shows."""
        self.type("\x15\x0c")
        self.wait(lambda text: text.strip() == "ready>", "an empty line")

    def text(self):
        return "\n".join(line.rstrip() + (" " if line.startswith("ready> ") and not line[7:].strip() else "")
                         for line in self.screen.display)

    def line(self):
        """What stands behind the prompt, with the blank that a completed word has behind it."""
        lines = self.screen.display
        row = next(i for i in range(ROWS - 1, -1, -1) if lines[i].startswith("ready>"))
        return lines[row][7:self.screen.cursor.x if self.screen.cursor.y == row else COLUMNS]

    def look(self, seconds=0.05):
        """Takes in what comes in that time. Returns whether something came."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        self.stream.feed(os.read(self.master, 1 << 16))
        return True

    def wait(self, condition, what, limit=15):
        until = time.monotonic() + limit
        fresh = True  # to look at a screen of this size takes a while
        while time.monotonic() < until:
            if fresh and condition(self.text()):
                return
            fresh = self.look()
        raise AssertionError(f"{what} did not come:\n" + self.text().strip())

    def becomes(self, typed, line, limit=15):
        """Types the words and a tabulator, and waits until that has become this line."""
        self.clear()
        self.type(typed + "\t")
        self.wait(lambda _: self.line() == line, f"{typed} to {line!r}", limit)

    def lists(self, typed):
        """The words that two tabulators show."""
        self.clear()
        self.type(typed + "\t\t")
        def settled():
            return not self.look(0.4) and self.text().strip() != "ready> " + typed.strip()
        wait_until(settled, what="a list behind " + typed)
        below = self.text().strip().split("\n")[1:]
        return [word for line in below if not line.startswith("ready>") for word in line.split()]


def fish_offers(home, line, env=None):
    """{word: description} that fish offers at the end of the line."""
    program = f"source {home.path}/script.fish; complete -C {line!r}"
    got = subprocess.run(["fish", "--no-config", "-c", program], capture_output=True, text=True, timeout=30, check=False,
                         stdin=subprocess.DEVNULL, env=environment(home.env(env)), cwd=home.path)
    equal((got.returncode, got.stderr), (0, ""), line)
    return dict((row.split("\t", 1) + [""])[:2] for row in got.stdout.splitlines())


@test
def the_shells_are_here():
    missing = sorted({"bash", "zsh", "fish"} - set(SHELLS))
    if missing:
        print("skip", ", ".join(missing), "not installed", flush=True)


@test
def every_option_is_offered():
    with Home() as home:
        names = [f"--{name}" for _, name in options()]
        letters = [f"-{letter}" for letter, _ in options() if letter]
        check(len(names) > 60 and len(letters) > 20)
        if "bash" in SHELLS:
            with Typist("bash", home) as t:
                equal(sorted(t.lists("stream-tail -")), sorted(names + letters))
        if "zsh" in SHELLS:
            with Typist("zsh", home) as t:
                words = t.lists("stream-tail --")
                equal([name for name in names if name not in words], [])
                words = t.lists("stream-tail -")
                equal([letter for letter in letters if letter not in words], [])
        if "fish" in SHELLS:
            offers = fish_offers(home, "stream-tail --")
            equal(sorted({word.rstrip("=") for word in offers}), sorted(names))
            check(all(offers.values()), offers)
            offers = fish_offers(home, "stream-tail -")
            equal([letter for letter in letters if letter not in offers], [])


@test
def values_that_need_no_service_are_offered():
    with Home() as home:
        for shell in SHELLS:
            rows = (("--order t", "--order time"), ("-h grou", "-h groups"), ("-X profile=st", "-X profile=staging"),
                    ("-s gl", "-s glue"), ("--completion f", "--completion fish"))
            if shell != "fish":
                with Typist(shell, home) as t:
                    for typed, line in rows:
                        t.becomes("stream-tail " + typed, f"stream-tail {line}" + ("" if shell == "bash" and "-X" in line else " "))
            for typed, line in rows if shell == "fish" else ():
                equal(list(fish_offers(home, "stream-tail " + typed)), [line.split()[-1]], typed)
        equal(home.cached(), [])


def names_of(shell, home, env, rows):
    """Checks that each (typed, word) becomes the word in the shell."""
    if shell == "fish":
        for typed, word in rows:
            equal(list(fish_offers(home, "stream-tail " + typed, env)), [word], typed)
        return
    with Typist(shell, home, env) as t:
        for typed, word in rows:
            before = typed[:typed.rfind(" ") + 1]
            t.becomes("stream-tail " + typed, f"stream-tail {before}{word} ")


@test
def names_come_from_the_service():
    with Box(3, *NO_LIMITS) as box, Home() as home:
        box.make_stream("payments.v2", 12)
        box.make_table("customers")
        workers = [box.start("-G", "app", "-X", f"worker={name}", "demo") for name in ("anna", "bert")]
        workers += [box.start("-G", "billing", stream) for stream in ("demo", "payments.v2")]
        workers.append(box.start("-G", "we;ird$(>harm)", "demo"))
        try:
            wait_until(lambda: {b"anna", b"bert"} <= set(re.findall(rb"^\w+", box.tail("-G", "app", "--leases", "demo").out, re.M)),
                       what="both workers")
            rows = (("pay", "payments.v2"), ("-e -J pay", "payments.v2"), ("dynamodb:cu", "dynamodb:customers"),
                    ("payments.v2 --explain 9", "9"), ("-G app demo --release be", "bert"), ("demo --reset al", "all"), ("-G bill", "billing"))
            apps = ("--propose-names", "apps")
            wait_until(lambda: sorted(box.tail(*apps, "-X", f"user_agent={time.monotonic()}").out.split()) == sorted(
                b"app billing we;ird$(>harm)".split()), what="all applications")
            for shell in SHELLS:
                names_of(shell, home, box.env, rows)
            if "bash" in SHELLS:
                with Typist("bash", home, box.env) as t:
                    equal(sorted(t.lists("stream-tail demo -p ")), ["0", "1", "2", "key:"])
                    equal(sorted(t.lists("stream-tail payments.v2 -p 1")), ["1", "10", "11"])
                    t.becomes("stream-tail -L | stream-tail pay", "stream-tail -L | stream-tail payments.v2 ")
                    t.becomes("stream-tail demo --explain=2", "stream-tail demo --explain=2 ")
                    t.becomes(f"stream-tail -b {box.url} pay", f"stream-tail -b {box.url} payments.v2 ")
            for shell in SHELLS:  # a name that others chose is a word and nothing else
                if shell != "fish":
                    names_of(shell, home, box.env, (("-G we", r"we\;ird\$\(\>harm\)"),))
            check(not os.path.exists(os.path.join(home.path, "harm")))
            if "fish" in SHELLS:
                equal(sorted(fish_offers(home, "stream-tail demo --explain=", box.env)), [f"--explain={i}" for i in range(3)])
        finally:
            for worker in workers:
                end(worker)


@test
def the_service_is_asked_once_a_minute():
    with Box(1) as box, Home() as home:
        env = home.env(box.env)
        def streams():
            r = run(BIN, "--propose-names", "streams", env=env)
            equal((r.code, r.err), (0, ""))
            return r.out.decode().split()
        def asked():
            return box.calls("ListStreams")
        equal(streams(), ["demo", "dynamodb:demo"])
        calls = asked()
        check(calls >= 1, calls)
        box.make_stream("later", 1)
        for _ in range(3):
            equal(streams(), ["demo", "dynamodb:demo"])
        equal(asked(), calls)
        home.age_cache(55)
        equal(streams(), ["demo", "dynamodb:demo"])
        home.age_cache(10)
        equal(streams(), ["demo", "later", "dynamodb:demo"])
        equal(asked(), 2 * calls)
        # Another account is another question.
        r = run(BIN, "--propose-names", "streams", env={**env, "AWS_PROFILE": "staging"})
        equal(r.code, 0)
        check(asked() > 2 * calls, asked())
        # Where nothing can be kept it works all the same.
        r = run(BIN, "--propose-names", "streams", env={**env, "XDG_CACHE_HOME": "/dev/null"})
        equal((r.code, r.out, r.err), (0, b"demo\nlater\ndynamodb:demo\n", ""))


class Silent:
    """A server that takes connections and never answers."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.connections = []
        threading.Thread(target=self.take, daemon=True).start()

    def take(self):
        try:
            while True:
                self.connections.append(self.socket.accept()[0])
        except OSError:
            pass


@test
def a_network_that_is_not_there_is_not_in_the_way():
    server = Silent()
    keys = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "eu-west-1"}
    gone = socket.create_server(("127.0.0.1", 0))
    port = gone.getsockname()[1]
    gone.close()
    for url, least in ((server.url, 0.8), (f"http://127.0.0.1:{port}", 0)):
        for kind, words in (("streams", ()), ("shards", ("orders",)), ("apps", ()), ("workers", ("-G", "app", "orders"))):
            with Home() as home:
                env = home.env({**keys, "AWS_ENDPOINT_URL": url})
                first = run(BIN, "--propose-names", kind, *words, env=env)
                equal((first.code, first.out, first.err), (0, b"", ""), kind, url)
                check(least <= first.took and first.seconds < 3, first.took, first.seconds, kind, url)
                # That nothing came is remembered: the next tabulator need not wait.
                connections = len(server.connections)
                again = run(BIN, "--propose-names", kind, *words, env=env)
                equal((again.code, again.out), (0, b""))
                check(again.seconds < 0.8, again.seconds, kind, url)
                equal(len(server.connections), connections)
                home.age_cache(11)
                run(BIN, "--propose-names", kind, *words, env=env)
                check(url != server.url or len(server.connections) > connections)
    # No keys, no region, no home: nothing, and no word.
    r = run(BIN, "--propose-names", "streams", env={"HOME": "/nonexistent", "AWS_EC2_METADATA_DISABLED": "true"})
    equal((r.code, r.out), (0, b""))
    check(r.seconds < 3, r.seconds)
    with Home() as home:
        for shell in ("bash", "zsh"):
            if shell in SHELLS:
                with Typist(shell, home, {**keys, "AWS_ENDPOINT_URL": server.url}) as t:
                    begun = time.monotonic()
                    t.type("stream-tail ord\tx")
                    t.wait(lambda _, t=t: t.line() == "stream-tail ordx", "what was typed")
                    check(time.monotonic() - begun < 6, shell, time.monotonic() - begun)
                    equal(t.text().strip().count("\n"), 0, t.text().strip())
                home.age_cache(11)


@test
def words_that_make_no_sense_are_passed_over():
    with Box(2) as box:
        for words in (("streams", "--reset"), ("streams", "-c", "none", "--nonsense", "-L", "--watch", "-z"), ("shards", "-G", "app"),
                      ("shards", "--", "demo"), ("nothing", "demo"), ("",)):
            r = run(BIN, "--propose-names", *words, env={**box.env, "HOME": "/nonexistent"})
            equal((r.code, r.err), (0, ""), words)
            want = {"streams": b"demo\ndynamodb:demo\n", "shards": b"0\n1\n" if "demo" in words else b""}.get(words[0], b"")
            equal(r.out, want, words)
        r = run(BIN, "--propose-names")
        equal(r.code, 2)


main(at_once=2)
