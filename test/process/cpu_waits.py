"""cpu_waits.py - how long processes were ready to run and waited for a CPU, as Linux counts it (/proc/PID/schedstat).

A bound in seconds is held against the time that the processes themselves had: the clock less these waits. So a busy machine fails no
test, and on an idle one nothing is taken off. Where the kernel does not count, the waits are 0.
"""

import concurrent.futures
import os
import threading
import time

LOOK_S = 0.1


def waited(pid):
    """Seconds that the threads of a process have waited so far; None when it is gone. A zombie still tells."""
    total = 0
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as counts:
                total += int(counts.read().split()[1])
    except (OSError, IndexError):
        return None
    return total / 1e9


def waited_of_thread():
    """Seconds that the calling thread has waited so far."""
    try:
        with open("/proc/thread-self/schedstat", encoding="ascii") as counts:
            return int(counts.read().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def family():
    """The process ids of this process and of its living children: servers, and what is tested."""
    found = [os.getpid()]
    for thread in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{thread}/children", encoding="ascii") as pids:
                found += [int(pid) for pid in pids.read().split()]
        except OSError:  # the thread has ended
            continue
    return found


class Stopwatch:
    """Seconds from now on, less what this process and its children that live at the end waited for a CPU."""

    def __init__(self):
        self.before = {pid: waited(pid) or 0.0 for pid in family()}
        self.began = time.monotonic()

    def own(self):
        took = time.monotonic() - self.began
        return took - sum(max(0.0, (waited(pid) or 0.0) - self.before.get(pid, 0.0)) for pid in family())


class Ended:
    """Waits for the end of a process with pipes at stdout and stderr, and kills it after limit seconds. took: seconds of the clock;
    own: less what it, and who waits for it, waited for a CPU."""

    def __init__(self, process, begun, limit):
        self.too_long = False
        def end_it():
            self.too_long = True
            process.kill()

        before = waited_of_thread()
        timer = threading.Timer(limit, end_it)
        timer.start()
        with concurrent.futures.ThreadPoolExecutor(2) as readers:
            out, err = readers.submit(process.stdout.read), readers.submit(process.stderr.read)
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it still tells how long it waited
            timer.cancel()
            self.took = time.monotonic() - begun
            self.own = max(0.0, self.took - (waited(process.pid) or 0.0) - (waited_of_thread() - before))
            process.wait()
            self.out, self.err = out.result(), err.result()
        process.stdout.close()
        process.stderr.close()


class Waits:
    """Looks at some processes all the time, on a thread. pids: a function that gives {name: pid} of those that count now."""

    def __init__(self, pids, every=LOOK_S):
        self.pids, self.every = pids, every
        self.looks = {}  # (name, pid) -> [(moment, seconds waited until then)]
        self.ended = threading.Event()
        self.look()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def look(self):
        for name, pid in self.pids().items():
            seconds = waited(pid)
            if seconds is not None:
                self.looks.setdefault((name, pid), []).append((time.monotonic(), seconds))

    def work(self):
        while not self.ended.wait(self.every):
            self.look()

    def within(self, begin, end, names=None):
        """Seconds that these processes (None: all) waited between two moments, altogether: from the last look before `begin`
        to the first look after `end`."""
        total = 0.0
        for (name, _), looks in list(self.looks.items()):
            if names is not None and name not in names:
                continue
            before = [seconds for moment, seconds in looks if moment <= begin] or [looks[0][1]]
            after = [seconds for moment, seconds in looks if moment >= end] or [looks[-1][1]]
            total += max(0.0, after[0] - before[-1])
        return total

    def stands(self, least_s, span_s):
        """[(name, begin, end)]: whenever a process waited for least_s within span_s."""
        found = []
        for (name, _), looks in list(self.looks.items()):
            first = 0
            for last, (moment, seconds) in enumerate(looks):
                while looks[first][0] < moment - span_s and first < last - 1:
                    first += 1
                if last and seconds - looks[first][1] >= least_s:
                    found.append((name, looks[first][0], moment))
        return found

    def stop(self):
        self.ended.set()
        self.thread.join(30)
        self.look()


def pressure():
    """Seconds so far in which anything on this machine waited for a CPU; 0 where the kernel does not count."""
    try:
        with open("/proc/pressure/cpu", encoding="ascii") as counts:
            return int(counts.readline().rsplit("=", 1)[1]) / 1e6
    except (OSError, ValueError, IndexError):
        return 0.0


class Deadline:
    """For what must come at all. The seconds count while nothing on the machine waits for a CPU; MOST times as many always end it."""

    MOST = 4

    def __init__(self, seconds):
        self.seconds, self.began, self.pressed = seconds, time.monotonic(), pressure()

    def passed(self):
        took = time.monotonic() - self.began
        if took <= self.seconds:
            return False
        return took - (pressure() - self.pressed) > self.seconds or took > self.MOST * self.seconds
