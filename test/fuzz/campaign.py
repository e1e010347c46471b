#!/usr/bin/env python3
"""Runs fuzz targets one after the other, each for so many seconds of CPU, and keeps a book of what was run.

    test/fuzz/campaign.py BUILD [TARGET...]   # BUILD: a folder configured with clang; all targets without names
        --seconds N     CPU-seconds a target (default 240)
        --as-built      the programs as they are; the book then names the commit that is checked out all the same
        --evenly        those that have the fewest in the book come first
        --work DIR      where new inputs and findings are kept between sessions (default BUILD/fuzz-work)
        --merge         afterwards: inputs that reach edges none of the seeds reaches go into the corpus, as
                        corpus/TARGET/reached.pack (replay.c says how it looks)
    test/fuzz/campaign.py --table             # what the book says, summed up

The book is campaign.txt beside this file; a line is a session of one target: date, commit, target, CPU-seconds,
runs, edges reached, findings. A finding ends the session of its target; its input is kept as DIR/TARGET-*.
SLOOP_FUZZ_NICE: how far the targets step back behind other programs (15).
Exit status 1: something was found."""
import argparse
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BOOK = os.path.join(HERE, "campaign.txt")
CORPUS = os.path.join(HERE, "corpus")
TICKS = os.sysconf("SC_CLK_TCK")
NICE = int(os.environ.get("SLOOP_FUZZ_NICE", "15"))
SLOWEST_S = 20  # one input; longer is a finding, when it takes that of a processor and not only of a busy machine
MERGED_BYTES_MAX = 16 * 1024  # of one input: the packs stay small


def targets_of(build):
    out = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], capture_output=True, text=True, check=True)
    return sorted(set(re.findall(r"^test/fuzz/fuzz_([a-z0-9_]+): ", out.stdout, re.M)))


def read_book():
    rows = []
    if os.path.exists(BOOK):
        with open(BOOK) as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    date, commit, target, cpu, runs, edges, found = line.split()
                    rows.append((date, commit, target, float(cpu), int(runs), int(edges), int(found)))
    return rows


def write_row(row):
    new = not os.path.exists(BOOK)
    with open(BOOK, "a") as f:
        if new:
            f.write("# date       commit   target          CPU-s        runs  edges  findings\n")
        f.write("%s %s %-14s %7.1f %11d %6d %9d\n" % row)


def step_back():
    os.nice(max(0, NICE - os.nice(0)))


# Signals are sent by os.kill: Popen's own methods would reap a process that has just ended, and wait4 found none then.
def cpu_of(pid):
    """CPU-seconds of a running process; None: it has ended."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            fields = f.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else (int(fields[11]) + int(fields[12])) / TICKS


def command(build, target, work):
    return [os.path.join(build, "test/fuzz/fuzz_" + target), "-timeout=%d" % SLOWEST_S, "-rss_limit_mb=2048",
            "-print_final_stats=1", "-artifact_prefix=" + os.path.join(work, target + "-")]


def read_pack(target):
    path, inputs = os.path.join(CORPUS, target, "reached.pack"), []
    if os.path.exists(path):
        with open(path, "rb") as f:
            while head := f.read(4):
                inputs.append(f.read(struct.unpack("<I", head)[0]))
    return inputs


def write_pack(target, inputs):
    with open(os.path.join(CORPUS, target, "reached.pack"), "wb") as f:
        for data in sorted(inputs, key=lambda data: (len(data), data)):
            f.write(struct.pack("<I", len(data)) + data)


def unpack(target, folder):
    os.makedirs(folder, exist_ok=True)
    for i, data in enumerate(read_pack(target)):
        with open(os.path.join(folder, "packed-%d" % i), "wb") as f:
            f.write(data)


def takes_long(build, target, work):
    """libFuzzer goes by the wall clock, and a target that steps back may stand for long: each input that it found slow
    runs again by itself. What takes no time of a processor is no finding, and its file goes."""
    found = False
    for name in os.listdir(work):
        if not re.match(re.escape(target) + "-(timeout|slow-unit)-", name):
            continue
        path = os.path.join(work, name)
        program = os.path.join(build, "test/fuzz/fuzz_" + target)
        p = subprocess.Popen([program, "-timeout=%d" % (60 * SLOWEST_S), path], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        while (cpu := cpu_of(p.pid)) is not None and cpu < SLOWEST_S:
            time.sleep(0.1)
        os.kill(p.pid, signal.SIGKILL)
        _, status, usage = os.wait4(p.pid, 0)
        if usage.ru_utime + usage.ru_stime >= SLOWEST_S or status != 0:
            found = True
        else:
            os.remove(path)
    return found


def run(build, target, seconds, work):
    """A session of a target. (CPU-seconds, runs, edges, findings)"""
    cpu, runs, edges, bad = run_once(build, target, seconds, work)
    while bad == STOOD and cpu < seconds:
        more = run_once(build, target, seconds - cpu, work)
        cpu, runs, edges, bad = cpu + more[0], runs + more[1], max(edges, more[2]), more[3]
    return cpu, runs, edges, int(bad == FOUND)


FINE, FOUND, STOOD = 0, 1, 2  # STOOD: it was the machine that was slow


def run_once(build, target, seconds, work):
    found_in = os.path.join(work, "corpus", target)
    unpack(target, found_in)
    log_path = os.path.join(work, target + ".log")
    with open(log_path, "w") as log:
        p = subprocess.Popen(command(build, target, work) + [found_in, os.path.join(CORPUS, target)], stdout=log,
                             stderr=log, stdin=subprocess.DEVNULL, preexec_fn=step_back)
        asked = None
        try:
            while (cpu := cpu_of(p.pid)) is not None:
                if cpu >= seconds and asked is None:
                    os.kill(p.pid, signal.SIGINT)  # it prints its figures and goes
                    asked = time.monotonic()
                if asked and time.monotonic() - asked > 60:
                    os.kill(p.pid, signal.SIGKILL)
                time.sleep(0.5)
        finally:
            if cpu_of(p.pid) is not None:
                os.kill(p.pid, signal.SIGKILL)
            _, _, usage = os.wait4(p.pid, 0)
    with open(log_path, errors="replace") as f:
        text = f.read()
    runs = re.findall(r"^stat::number_of_executed_units: (\d+)", text, re.M) or re.findall(r"^#(\d+)\t", text, re.M)
    edges = re.findall(r" cov: (\d+) ", text)
    ended = FINE if re.search("run interrupted", text) else FOUND  # by us, or by somebody who needed the machine
    slow = takes_long(build, target, work)
    if ended == FOUND and re.search("ERROR: libFuzzer: timeout", text) and not slow:
        ended = STOOD
    return (usage.ru_utime + usage.ru_stime, int(runs[-1]) if runs else 0, int(edges[-1]) if edges else 0,
            FOUND if slow else ended)


def merge(build, target, work):
    """Packs what reaches an edge that no seed reaches; the number of those inputs."""
    into, found_in = os.path.join(work, "merge"), os.path.join(work, "corpus", target)
    seeds = [name for name in os.listdir(os.path.join(CORPUS, target)) if not name.endswith(".pack")]
    if not os.path.isdir(found_in):
        return 0
    unpack(target, found_in)
    shutil.rmtree(into, ignore_errors=True)
    os.makedirs(into)
    for name in seeds:
        shutil.copy(os.path.join(CORPUS, target, name), into)
    subprocess.run(command(build, target, work) + ["-merge=1", "-use_counters=0",
                                                   "-max_len=%d" % MERGED_BYTES_MAX, into, found_in],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True,
                   preexec_fn=step_back)
    inputs = []
    for name in set(os.listdir(into)) - set(seeds):
        with open(os.path.join(into, name), "rb") as f:
            inputs.append(f.read())
    if inputs:
        write_pack(target, inputs)
    return len(inputs)


def table():
    total = {}
    for date, _, target, cpu, runs, edges, found in read_book():
        t = total.setdefault(target, [0, 0.0, 0, 0, 0, date])
        t[0] += 1
        t[1] += cpu
        t[2] += runs
        t[3] = max(t[3], edges)
        t[4] += found
        t[5] = date
    print("%-14s %8s %11s %13s %6s %8s  %s" % ("target", "sessions", "CPU-minutes", "runs", "edges", "findings", "last"))
    for target in sorted(total):
        sessions, cpu, runs, edges, found, date = total[target]
        print("%-14s %8d %11.1f %13d %6d %8d  %s" % (target, sessions, cpu / 60, runs, edges, found, date))
    print("%-14s %8d %11.1f %13d %6s %8d" % ("all", sum(t[0] for t in total.values()),
                                              sum(t[1] for t in total.values()) / 60,
                                              sum(t[2] for t in total.values()), "",
                                              sum(t[4] for t in total.values())))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", nargs="?")
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--evenly", action="store_true")
    parser.add_argument("--as-built", action="store_true")
    parser.add_argument("--work")
    parser.add_argument("--merge", action="store_true")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_intermixed_args()
    if args.table:
        table()
        return 0
    if not args.build:
        parser.error("no build folder")
    build = os.path.abspath(args.build)
    work = os.path.abspath(args.work or os.path.join(build, "fuzz-work"))
    known = targets_of(build)
    targets = args.targets or known
    unknown = set(targets) - set(known)
    if unknown:
        parser.error("no such target: " + " ".join(sorted(unknown)))
    if args.evenly:
        sums = {}
        for row in read_book():
            sums[row[2]] = sums.get(row[2], 0) + row[3]
        targets = sorted(targets, key=lambda t: sums.get(t, 0))
    os.makedirs(work, exist_ok=True)
    found = 0
    if not args.as_built:
        subprocess.run(["nice", "-n", "10", "ninja", "-C", build] + ["test/fuzz/fuzz_" + t for t in targets],
                       check=True, stdout=subprocess.DEVNULL)
    commit = subprocess.run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                            check=True).stdout.strip()
    for target in targets:
        row = run(build, target, args.seconds, work) if args.seconds > 0 else None
        if row:
            write_row((time.strftime("%Y-%m-%d"), commit, target) + row)
            print("%-14s %7.1f CPU-s %11d runs %6d edges %d findings" % ((target,) + row), flush=True)
            found |= row[3]
        if args.merge:
            print("%-14s %d inputs into the corpus" % (target, merge(build, target, work)), flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
