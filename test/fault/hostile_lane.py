"""Shared by the python parts of the hostile lane: the bounds of bounds.h, what a process costs, what no terminal may
get, and the sums at the end. SLOOP_BIN names the program; SLOOP_HOSTILE_EVERY=N plays one combination of N.
"""

import concurrent.futures
import os
import random
import re
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "process"))
from box import BIN, SANITIZED  # noqa: E402
from command import environment, unsafe  # noqa: E402,F401

with open(os.path.join(HERE, "bounds.h"), encoding="ascii") as _f:
    BOUNDS = {name: int(value) for name, value in re.findall(r"^#define (\w+) (\d+)\b", _f.read(), re.M)}
MEMORY_MB = BOUNDS["SANITIZED_MB" if SANITIZED else "PROGRAM_MB"]
LEAVE_S = BOUNDS["SANITIZED_LEAVE_S" if SANITIZED else "LEAVE_S"]
SECRET, TOKEN = "verysecretkey/that+nobody=may/see", "tokenthatnobodymaysee/AAAA+BBBB=="


def secrets_in(text, secrets=(SECRET, TOKEN)):
    """Every eight characters in a row of what is secret, as they are or as a URL or JSON writes them."""
    plain = re.sub(r"(?:%|\\\\u00)([0-9A-Fa-f]{2})", lambda m: chr(int(m[1], 16)), text.replace("\\/", "/"))
    return [s[i:i + 8] for s in secrets for i in range(len(s) - 7) if s[i:i + 8] in text or s[i:i + 8] in plain]


def status_of(pid, name):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            found = re.search(name + r":\s+(\d+)", f.read())
        return int(found[1]) if found else 0
    except OSError:
        return 0


def peak_mb(pid):
    return status_of(pid, "VmHWM") >> 10


def cpu_s(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            fields = f.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0


# A shell has the background ignore Ctrl-C, and a child inherits that; what is caught here is a child's default. A
# preexec_fn would do the same, and have each start copy this process, bombs and all.
signal.signal(signal.SIGINT, signal.default_int_handler)


def start(args, env, **more):
    """stream-tail, by itself."""
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([BIN, *args], env=environment({k: v for k, v in env.items() if v != ""}), **more)


def sample(cases, every):
    """One of so many, the same ones each time, and more where it takes more for every value of every axis to be among them.
    A step through the list would not do: where it has a factor in common with an axis, half of that is never played."""
    left, chosen = list(cases), []
    random.Random(7).shuffle(left)
    missing = {value for _, _, axes in cases for value in enumerate(axes)}
    while missing:
        best = max(left, key=lambda case: len(missing.intersection(enumerate(case[2]))))
        left.remove(best)
        chosen.append(best)
        missing.difference_update(enumerate(best[2]))
    return chosen + left[:max(0, -(-len(cases) // every) - len(chosen))]


def play_all(what, cases, play, at_once=4):
    """Plays one of SLOOP_HOSTILE_EVERY of the cases: (name, case, its value on each axis). play(case) gives why it is
    bad, or None, and megabytes. Prints the sums."""
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    cases = sample([case for case in cases if only in case[0]], int(os.environ.get("SLOOP_HOSTILE_EVERY", "1")))
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        results = list(pool.map(lambda case: play(case[1]), cases))
    bad = 0
    for i, (name, case, _) in enumerate(cases):
        why = results[i][0]
        if why:  # promises in real time, on a machine that others use: once more, alone
            print(f"again {name}\n     {why}")
            results[i] = play(case)
            why = results[i][0]
        bad += why is not None
        if why:
            print(f"FAIL {name}\n     {why}")
    worst = max(range(len(results)), key=lambda i: results[i][1])
    print(f"{what}: {len(results)} combinations, {bad} over a bound; most memory: {results[worst][1]} MB, "
          f"{cases[worst][0]}")
    return bad != 0
