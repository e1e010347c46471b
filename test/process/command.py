"""Shared by the tests of the command: starting it, watching it, one line a test."""

import concurrent.futures
import fcntl
import os
import re
import select
import signal
import subprocess
import sys
import time

import cpu_waits

_tests = []


def test(function):
    _tests.append(function)
    return function


def report(function):
    """Runs one test and prints its line. Returns whether it is bad."""
    begun = time.monotonic()
    try:
        function()
        print(f"ok   {function.__name__} [{time.monotonic() - begun:.1f} s]\n", end="", flush=True)
        return False
    except Exception as error:  # a test reports by raising, whatever it raises
        print(f"FAIL {function.__name__}\n     {type(error).__name__}: {error}\n", end="", flush=True)
        return True


def main(at_once=1):
    """Runs all tests (or those named in argv), some at once where they mostly wait; exits 1 when one failed."""
    wanted = [function for function in _tests if not sys.argv[1:] or function.__name__ in sys.argv[1:]]
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        bad = sum(pool.map(report, wanted))
    sys.exit(1 if bad else 0)


def check(what, *shown):
    if not what:
        raise AssertionError(" ".join(str(s) for s in shown))


def equal(got, want, *shown):
    if got != want:
        raise AssertionError(" ".join(str(s) for s in (f"got {got!r}, not {want!r}",) + shown))


def environment(extra=None, keep_aws=False):
    env = {k: v for k, v in os.environ.items() if keep_aws or not k.startswith(("AWS_", "FAKE_"))}
    for name in ("NO_COLOR", "STREAM_TAIL_CONFIG", "XDG_CONFIG_HOME"):
        env.pop(name, None)
    env.update({k: str(v) for k, v in (extra or {}).items()})
    return env


class Ran:
    """What a command said. seconds: without what it waited for a CPU; took: with it."""

    def __init__(self, process, ended):
        self.code, self.out, self.err = process.returncode, ended.out, ended.err.decode()
        self.seconds, self.took = ended.own, ended.took


def run(binary, *args, env=None, limit=30, **more):
    """Runs to the end. stdin is /dev/null."""
    begun = time.monotonic()
    process = subprocess.Popen([binary, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=environment(env), **more)
    ended = cpu_waits.Ended(process, begun, limit)
    if ended.too_long:
        raise AssertionError(f"still running after {limit} s: {args}")
    return Ran(process, ended)


def unsafe(text, colours=False):
    """The characters that would move a terminal; colours: but for the sequences by which stream-tail colours."""
    if colours:
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return [c for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or 0xdc80 <= ord(c) <= 0xdcff
            or c in "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"]


def wait_until(condition, limit=15, what="the condition"):
    """Waits for a condition with a deadline, whose clock stands while the machine is busy."""
    deadline = cpu_waits.Deadline(limit)
    while not deadline.passed():
        got = condition()
        if got:
            return got
        time.sleep(0.01)
    raise AssertionError(f"{what} did not come within {limit} s")


def signals(pid, which):
    """A mask of signals that the kernel keeps for a process: SigCgt, those that it handles, SigIgn, those that it ignores,
    ShdPnd, those that wait."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(next(line for line in status if line.startswith(which + ":")).split()[1], 16)


def obeys(p):
    """Does it handle SIGINT by now? Before, Ctrl-C ends it like any other program."""
    return signals(p.pid, "SigCgt") >> (signal.SIGINT - 1) & 1


def ignored(*numbers):
    """For preexec_fn: these are ignored, as nohup and the shell do it, and a hangup only when it is named: what a child
    inherits is that of who runs the tests."""
    def dispose():
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
    return dispose


def is_pending(p, number=signal.SIGINT):
    """Has it yet to take a signal that was sent?"""
    return signals(p.pid, "ShdPnd") >> (number - 1) & 1


def sanitized(program):
    """Was it built with sanitizers? It is slower then, and its memory is not ours."""
    with open(program, "rb") as file:
        return b"__asan_init" in file.read()


class Watch:
    """How long a process takes to its end, from now on: without what it, and who waits for it, were kept waiting by other
    programs; of a sanitized one, which is slower and looks for leaks at its end, a third."""

    def __init__(self, p):
        self.p, self.seconds, self.slower = p, None, 3 if sanitized(f"/proc/{p.pid}/exe") else 1
        self.waited, self.begun = self.kept(), time.monotonic()

    def kept(self):
        return (cpu_waits.waited(self.p.pid) or 0.0) + cpu_waits.waited_of_thread()

    def wait(self, limit=10):
        """Its exit code."""
        wait_until(lambda: os.waitid(os.P_PID, self.p.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT), limit, "its end")
        self.seconds = (time.monotonic() - self.begun - (self.kept() - self.waited)) / self.slower
        return self.p.wait()


def read_some(fd, limit=15):
    """At least one byte from a descriptor, or b'' at its end."""
    ready, _, _ = select.select([fd], [], [], limit)
    check(ready, f"nothing to read within {limit} s")
    return os.read(fd, 1 << 16)


def read_until(fd, enough):
    """Reads until enough(what was read) is true."""
    got = b""
    while not enough(got):
        piece = read_some(fd)
        check(piece, "the output ends with", got[-300:])
        got += piece
    return got


def fill(fd):
    """A pipe, until nothing goes in any more."""
    fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK)
    for piece in (b"x" * 4096, b"x"):
        try:
            while True:
                os.write(fd, piece)
        except BlockingIOError:
            pass
    fcntl.fcntl(fd, fcntl.F_SETFL, 0)


def end(process):
    """Ends a process of ours that a failed test may have left."""
    if process.poll() is None:
        process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()
