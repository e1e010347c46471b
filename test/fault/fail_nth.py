"""stream-tail while the n-th write, fsync, rename, open, fork, pipe, socket or look-up of a name fails (fail_nth.c), once
and from then on, for n from 1 until a story makes no such call any more.

Whatever fails: it ends within the limit, with success or exit code 1 and a line that says why. A file of --save is the
one from before or a new one, whole. What was printed and what the next run prints is everything, and what a token or a
lease says was read stands in the output.

Without SLOOP_TEST_FULL=1 a sample: every so-manyth n, other ones by SLOOP_TEST_SEED.
"""

import collections
import contextlib
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "process"))

import harness  # noqa: E402 pylint: disable=wrong-import-position
import sandbox_box  # noqa: E402 pylint: disable=wrong-import-position
import servers  # noqa: E402 pylint: disable=wrong-import-position
from harness import FULL, Tests, expect  # noqa: E402 pylint: disable=wrong-import-position

SHIM = os.environ["SLOOP_TEST_FAIL_NTH"]
SEED = int(os.environ.get("SLOOP_TEST_SEED", "1"))
LIMIT = 60
FIRST, MORE = 60, 60  # records that a first run has read, and those it has not
# Answers that a library gives by itself: (call, n) -> exit code. libuv aborts in uv_loop_init when it can't make its signal pipe;
# the pipe before that is the trial of slp_loop_new().
OF_A_LIBRARY = {("pipe", 2): -signal.SIGABRT}
POINTS_MAX = 400  # of one story: more would mean that what it does has no end
PRIMES = (5, 7, 11, 13)


def listens(pid):
    """Does it handle SIGINT? What ended meanwhile does not."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            caught = next(line for line in status if line.startswith("SigCgt:"))
    except (OSError, StopIteration):
        return False
    return bool(int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1)


class Story:
    """Plays a command line again and again with another call failing."""

    patience = None  # seconds after which it is interrupted; None: it ends by itself

    def __init__(self, box, name, call, why, onward=False, short=False):
        self.box, self.name, self.call, self.why = box, name, call, why
        self.onward, self.short = onward, short
        self.ends = collections.Counter()

    def prepare(self, folder, stream):
        """Returns (arguments, more environment, path whose files are meant or None)."""
        raise NotImplementedError

    def judge(self, folder, code):
        """Checks what else must hold after the failing run."""

    def environment(self, folder, more, n):
        log = os.path.join(folder, "failed")
        fail = {"LD_PRELOAD": SHIM, "FAIL_CALL": self.call, "FAIL_NTH": str(n), "FAIL_ERRNO": str(self.why), "FAIL_LOG": log}
        if self.onward:
            fail["FAIL_ONWARD"] = "1"
        if self.short:
            fail["FAIL_SHORT"] = "1"
        return harness.tail_environment(self.box.url, **{**more, **fail}), log

    def run(self, arguments, environment, out, missing=None):
        """Standard output is a file: it can fail, too. Returns (exit code, standard error). missing: it is interrupted as
        soon as it has printed these."""
        with open(out, "ab") as file:
            process = subprocess.Popen([servers.binary(), "-J", *arguments], env=environment, stdin=subprocess.DEVNULL,
                                       stdout=file, stderr=subprocess.PIPE, preexec_fn=servers.die_with_parent)
            try:
                if missing is not None:
                    harness.wait_until(lambda: process.poll() is not None or not missing - payloads(out), LIMIT,
                                       f"the run after prints all {len(missing)} records that are missing")
                    process.send_signal(signal.SIGINT)
                elif self.patience:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(self.patience)
                    # On its way out it listens to signals no longer, and a SIGINT would end it as any program.
                    harness.wait_until(lambda: process.poll() is not None or listens(process.pid), LIMIT, "it ends or listens")
                    if process.poll() is None:
                        process.send_signal(signal.SIGINT)
                _, err = process.communicate(timeout=LIMIT)
            except (subprocess.TimeoutExpired, harness.Failed) as error:
                process.kill()
                _, err = process.communicate()
                raise harness.Failed(f"killed: {error}: {err.decode()[-500:]}") from None
        return process.returncode, err.decode("utf-8", "replace")

    def play(self, n, stream, truth):
        """Makes a failing run and the one after it. False: the n-th call was never made."""
        with tempfile.TemporaryDirectory() as folder:
            arguments, more, under = self.prepare(folder, stream)
            environment, log = self.environment(folder, more, n)
            if under:
                environment["FAIL_UNDER"] = under
            first, second = os.path.join(folder, "first.out"), os.path.join(folder, "second.out")
            code, err = self.run(arguments, environment, first)
            reached = os.path.exists(log)
            a_librarys = code == OF_A_LIBRARY.get((self.call, n))
            expect(code in (0, 1) or a_librarys, f"n={n}: exit code {code}: {err[-500:]}")
            expect(code == 0 or err.strip() or a_librarys, f"n={n}: exit code {code} and not a word")
            lines = err.strip().splitlines()
            expect(len(lines) <= 12, f"n={n}: {len(lines)} lines: {err[:300]}")
            self.ends["ended by a library" if a_librarys else "worked" if code == 0 else "said why"] += 1
            self.judge(folder, code)
            plain = {k: v for k, v in environment.items() if not k.startswith("FAIL_")}
            before = payloads(first) | self.earlier(folder)
            code, err = self.run_after(arguments, plain, second, truth - before)
            expect(code == 0, f"n={n}: the run after: exit code {code}: {err[-500:]}")
            after = payloads(second)
            missing = truth - before - after
            expect(not missing, f"n={n}: {len(missing)} of {len(truth)} records in neither run, {sorted(missing)[:3]}")
            expect(not (before | after) - truth, f"n={n}: records nobody wrote")
            return reached

    def run_after(self, arguments, environment, out, missing):
        del missing  # it ends by itself
        return self.run(arguments, environment, out)

    def earlier(self, folder):
        """The output that a run before the failing one printed."""
        path = os.path.join(folder, "zeroth.out")
        return payloads(path) if os.path.exists(path) else set()

    def all(self, stream, truth):
        expect(not self.play(POINTS_MAX * 100, stream, truth), "that many calls cannot be")
        self.ends.clear()
        step = 1 if FULL else PRIMES[SEED % len(PRIMES)]
        n = 1
        while self.play(n, stream, truth):
            n += step if n > 2 else 1  # the first ones always: many stories have no others
            expect(n < POINTS_MAX, f"n={n} and still there are more")
        points = sum(self.ends.values())
        expect(points > 1, "no call was ever made to fail")
        return f"{points} points up to n={n}: " + ", ".join(f"{count} {end}" for end, count in sorted(self.ends.items()))


def payloads(path):
    """The whole lines of an output; the last one may have been cut off by what failed."""
    with open(path, "rb") as file:
        text = file.read()
    found = set()
    for line in text.split(b"\n")[:-1]:
        try:
            found.add(json.loads(line)["payload"])
        except ValueError:
            pass  # a line that a failing write cut off, and another record written behind it: the judge misses it
    return found


class Saving(Story):
    """--save onto an older token. What fails are its files, or the output, which is a file too."""

    what = "token"

    def prepare(self, folder, stream):
        self.save = os.path.join(folder, "token")
        zeroth = os.path.join(folder, "zeroth.out")
        code, err = self.run(["-o", "oldest", "--save", self.save, "-c", "20", stream],
                             harness.tail_environment(self.box.url), zeroth)
        expect(code == 0, f"the run before: {err}")
        with open(self.save, "rb") as file:
            self.old = file.read()
        under = f"{self.save}:{folder}/.token" if self.what == "token" else os.path.join(folder, "first.out")
        return ["-o", "oldest", "--save", self.save, "-e", "-X", "fetch_records_max=6", stream], {}, under

    def judge(self, folder, code):
        expect(os.path.exists(self.save), "the token is gone")
        with open(self.save, "rb") as file:
            text = file.read()
        if text != self.old:
            token = json.loads(text)
            expect(token.get("stream_arn") and "shards" in token, f"that is no token: {text[:200]!r}")
        folder, name = os.path.split(self.save)
        beside = [x for x in os.listdir(folder) if x.startswith(f".{name}.") and x != f".{name}.lock"]
        expect(not beside or self.onward or code == 0 or self.call != "rename",
               "a half-written token was left behind")


class Printing(Saving):
    what = "output"


class Leasing(Story):
    """A worker whose file of leases fails. The next one may have to wait until that one counts as dead. One that can't write
    waits for a minute more than --timeout for somebody to read each shard: it is interrupted before."""

    patience = 1

    def prepare(self, folder, stream):
        path = os.path.join(folder, "leases.db")
        arguments = ["-o", "oldest", "--timeout", "1", "-G", "shop", "--store", f"sqlite:{path}", "-X", "lease_ms=1000", stream]
        return arguments, {}, path

    def run_after(self, arguments, environment, out, missing):
        if not missing:  # a signal before it is up would end it as any program
            return self.run(arguments, environment, out)
        at = arguments.index("--timeout")
        return self.run(arguments[:at] + arguments[at + 2:], environment, out, missing)


class Process(Story):
    """Keys from a credential_process."""

    def prepare(self, folder, stream):
        keys = os.path.join(folder, "keys.json")
        with open(keys, "w", encoding="ascii") as file:
            json.dump({"Version": 1, "AccessKeyId": "A", "SecretAccessKey": "B"}, file)
        config = os.path.join(folder, "config")
        with open(config, "w", encoding="ascii") as file:
            file.write(f"[profile p]\ncredential_process = /bin/cat {keys}\nregion = us-east-1\n")
        more = {"AWS_CONFIG_FILE": config, "AWS_PROFILE": "p", "AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None}
        return ["-o", "oldest", "-e", "-m", "5", stream], more, folder if self.call == "open" else None


class Metrics(Story):
    def prepare(self, folder, stream):
        return ["-o", "oldest", "-e", "-m", "5", "--metrics", "127.0.0.1:0", stream], {}, None


class Names(Story):
    def prepare(self, folder, stream):
        url = self.box.url.replace("127.0.0.1", "box.sloop.test")
        return ["-o", "oldest", "-e", "-m", "5", "-b", url, stream], {}, None


def fill(box):
    """A stream of two shards; returns its name and all payloads."""
    kinesis = box.client()
    stream = harness.new_stream(kinesis, 2)
    texts = [f"record {i:04d} {'x' * 80}" for i in range(FIRST + MORE)]
    answer = kinesis.put_records(StreamName=stream, Records=[
        {"Data": text.encode(), "PartitionKey": f"key-{i}"} for i, text in enumerate(texts)])
    expect(answer["FailedRecordCount"] == 0, "the sandbox refused records")
    return stream, set(texts)


def stories(box, slow):
    """slow: a service whose pages take their time, so that some seconds are saved one by one."""
    for kind, name, of in ((Saving, "save", slow), (Printing, "output", slow), (Leasing, "sqlite", box)):
        for onward in (False, True):
            then = " and after" if onward else ""
            yield kind(of, f"{name}: write{then}", "write", errno.ENOSPC, onward)
            if kind is not Printing:
                yield kind(of, f"{name}: fsync{then}", "fsync", errno.EIO, onward)
                yield kind(of, f"{name}: open{then}", "open", errno.EMFILE, onward)
        yield kind(of, f"{name}: write cut short", "write", errno.ENOSPC, short=True)
    yield Saving(slow, "save: rename", "rename", errno.EACCES)
    yield Saving(slow, "save: rename and after", "rename", errno.EACCES, True)
    yield Leasing(box, "sqlite: unlink", "unlink", errno.EIO)
    yield Process(box, "credential_process: fork", "fork", errno.EAGAIN)
    yield Process(box, "credential_process: fork and after", "fork", errno.EAGAIN, True)
    yield Process(box, "credential_process: pipe", "pipe", errno.EMFILE)
    yield Process(box, "credential_process: open", "open", errno.EMFILE)
    yield Metrics(box, "metrics: socket", "socket", errno.EMFILE)
    yield Metrics(box, "metrics: socket and after", "socket", errno.EMFILE, True)
    yield Names(box, "names: resolve", "resolve", socket.EAI_AGAIN)
    yield Names(box, "names: resolve and after", "resolve", socket.EAI_MEMORY, True)


def standing_disk(box, stream):
    """A disk that stands still under the file of leases: the file is named, and nobody waits for it at the end. A worker
    goes on until it is interrupted; a command has failed then."""
    with tempfile.TemporaryDirectory() as folder:
        path, said = os.path.join(folder, "leases.db"), os.path.join(folder, "said")
        leases = ["-G", "shop", "--store", f"sqlite:{path}"]
        migrate = ["--migrate", f"sloop:shop@sqlite:{path}", f"token:{folder}/token"]
        more = ["-X", "lease_ms=1000", stream]
        subprocess.run([servers.binary(), "-o", "oldest", "--timeout", "1", *leases, *more], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, env=harness.tail_environment(box.url), timeout=LIMIT, check=True)
        for arguments, call, works, limit in ((["-o", "oldest", *leases], "fsync", True, 13),
                                              (["--leases", *leases], "open", False, 5), (migrate, "open", False, 5)):
            environment = harness.tail_environment(box.url, LD_PRELOAD=SHIM, FAIL_CALL=call, FAIL_NTH="1", FAIL_ONWARD="1",
                                                   FAIL_HANG="1", FAIL_UNDER=path, FAIL_ERRNO="0")
            with open(said, "w+", encoding="utf-8") as file:
                process = subprocess.Popen([servers.binary(), *arguments, *more], env=environment, stdin=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL, stderr=file, preexec_fn=servers.die_with_parent)

            def err():
                with open(said, encoding="utf-8") as file:
                    return file.read()
            try:
                harness.wait_until(lambda: f"lease file {path} has not answered for 5 s" in err(), 10, "the file is named")
                if works:
                    process.send_signal(signal.SIGINT)
                code = process.wait(limit)
            finally:
                process.kill()
                process.wait()
            expect(code == (0 if works else 1) and f"lease file {path}: the file system does not respond; exiting without waiting" in err(),
                   f"{arguments}: {code}: {err()}")


def main():
    tests = Tests()
    began = time.monotonic()
    with sandbox_box.Box() as box, sandbox_box.Box() as slow:
        filled = {box: fill(box), slow: fill(slow)}
        slow.faults("1000000 GetRecords * delay 200\n")
        every = sorted(stories(box, slow), key=lambda s: not isinstance(s, Leasing))  # those take longest
        disk = [lambda: tests.run("sqlite: a disk that stands still", standing_disk, box, filled[box][0])]
        tests.side_by_side(disk + [lambda s=s: tests.run(s.name, s.all, *filled[s.box]) for s in every], 15)
    points = sum(sum(s.ends.values()) for s in every)
    print(f"     {points} failure points in {len(every)} stories, {time.monotonic() - began:.0f} s")
    tests.end()


if __name__ == "__main__":
    main()
