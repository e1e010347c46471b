"""Checks the fleet's protocol as a model: fleet_model.py MODEL.pml. Prints a line a run; MODEL.md says what they cover.

spin makes a checker of the model, gcc builds it, the checker tries every order of events within the run's bounds.
A run of the sound model must end by itself without an error; a run with a planted mistake must find it.
SLOOP_TEST_FULL=1 adds the larger runs. A run that ended as it must is not repeated until the model, this file, spin or the
compiler is another one: where SLOOP_TEST_CACHE names a folder, what was proven is kept there.
"""

import collections
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
MEMORY_MB = 2900
# A short model is built fast. HC4: of a state four bytes of a hash are kept. The long ones do not look whether indices are
# in range, which takes as long as all the rest; the short ones do.
WHOLE = "-O1 -DSAFETY -DHC4 -DNOBOUNDCHECK -DNOFAIR"
LIVELY = "-O1 -DHC4 -DNOBOUNDCHECK -DNOFAIR"
FIRST = "-O0 -DSAFETY"
DRAWN = "-O0 -DSAFETY -DT_RAND -DP_RAND"  # the order of trying is drawn from -RS
SMALL = "RP=1 FAULTS=0 CRASHES=0 HBFAULTS=0 FORCE=0"
OWNED = "OWNED RP=1 FAULTS=1 EMAX=1 CRASHES=0 HBFAULTS=0 FORCE=0"

Run = collections.namedtuple("Run", "name defines cc args wanted")
SOUND = None

ORDINARY = [
    Run("every order: two workers, a crash, one write of a lease lost, late or doubled, a registration that comes late",
        "RP=1 FAULTS=1 EMAX=1 HBFAULTS=0 FORCE=0 LATEJOIN", WHOLE, "-w25 -m200000", SOUND),
    Run("every order: two workers, a crash, a heartbeat lost, a hand-over at its deadline, old images",
        "RP=1 FAULTS=0 EMAX=1 STALE", WHOLE, "-w25 -m200000", SOUND),
    Run("always comes to its end, and does not dance: two workers, a crash",
        "LTL RP=1 FAULTS=0 EMAX=1 HBFAULTS=0 FORCE=0", LIVELY, "-a -w24 -m400000", SOUND),
    Run("bug 1: checkpoint, transfer and release without the epoch", "BUG=1 RP=1 CRASHES=0 HBFAULTS=0 FORCE=0",
        DRAWN, "-RS7 -m260", r"epoch\[.*\]==|owner\["),
    Run("bug 2: the lease deadline counts from the answer of a heartbeat", "BUG=2", FIRST, "-w24 -m200000", r"owner\["),
    Run("bug 3: the child's row is made after the parent's end", "BUG=3", FIRST, "-w24 -m200000", r"exists\["),
    Run("bug 4: transferred before it is drained", "BUG=4", FIRST, "-w24 -m200000", r"frc"),
    Run("bug 5: taken without evicting", "BUG=5", FIRST, "-w24 -m200000", r"owner\["),
    Run("bug 6: as bug 3, and a crash between", "BUG=6", FIRST, "-w24 -m200000", r"pos\[0\]==9"),
    Run("bug 7: an old image gives back what was released", "BUG=7 STALE RP=1 FAULTS=1 CRASHES=0 HBFAULTS=0 FORCE=0",
        DRAWN, "-RS7 -m260", r"owner\["),
    Run("bug 8: an ownership goes on after its release was sent", "BUG=8 RP=1 CRASHES=0 HBFAULTS=0 FORCE=0",
        DRAWN, "-RS7 -m260", r"owner\["),
    Run("bug 9: a late registration over its own tombstone", f"BUG=9 LATEJOIN EMAX=2 {SMALL}",
        DRAWN, "-RS2 -m90", r"owner\["),
    Run("bug 10: \"another incarnation\" by a read from before this one was named",
        "BUG=10 REBOOT NI=3 RP=1 FAULTS=0 FORCE=0 HBFAULTS=0", DRAWN, "-RS7 -m600", r"owner\["),
    Run("every order: two workers, a crash, whoever leads makes the child's row as its owner, one write lost, late or "
        "doubled", "OWNED RP=1 FAULTS=1 EMAX=1 HBFAULTS=0 FORCE=0", WHOLE, "-w25 -m200000", SOUND),
    Run("bug 11: a row is made with an owner over the one that is there", f"BUG=11 {OWNED}", FIRST, "-w24 -m200000",
        r"owner\[|epoch\[.*\]=="),
    Run("bug 12: whoever makes a row as its owner forgets it when no answer comes", f"BUG=12 {OWNED}", FIRST,
        "-w24 -m200000", r"pos\[0\]==9"),
    Run("bug 13: an ownership begins with a creation that was refused, whoever owns the row", f"BUG=13 {OWNED}", FIRST,
        "-w24 -m200000", r"owner\["),
]
FULL = [
    Run("every order: two workers, a crash, a write and a heartbeat of ill fate, a deadline, a deleted row, old images",
        "RP=1 FAULTS=1 EMAX=1 OPDEL=1 STALE", WHOLE, "-w26 -m200000", SOUND),
    Run("always comes to its end: two workers, a crash, one write of a lease lost, late or doubled",
        "LTL RP=1 FAULTS=1 EMAX=1 HBFAULTS=0 FORCE=0", LIVELY, "-a -w25 -m400000", SOUND),
    Run("always comes to its end: rows made with an owner, one write of a lease lost, late or doubled",
        f"LTL {OWNED}", LIVELY, "-a -w25 -m400000", SOUND),
]


def build(run, model, folder):
    defines = [f"-D{word}" for word in run.defines.split()]
    subprocess.run(["spin", "-a", *defines, model], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["gcc", "-w", *run.cc.split(), f"-DMEMLIM={MEMORY_MB}", "-o", "pan", "pan.c"], cwd=folder,
                   check=True)


def verdict(run, text):
    """None when the run said what it had to say; else what is wrong."""
    broken = re.search(r"^pan:\d+: (.*)$", text, re.M)
    if "aborted" in text or "reached -DMEMLIM" in text:
        return "it needs more memory than it may use"
    if run.wanted is SOUND:
        if broken:
            return broken[1]
        if "max search depth too small" in text:
            return "the depth did not suffice, so not all was tried"
        return None if re.search(r"errors: 0$", text, re.M) else "no verdict"
    if not broken:
        return "the planted mistake was not found"
    return None if re.search(run.wanted, broken[1]) else f"found something else: {broken[1]}"


def identity(model):
    """What the verdicts depend on."""
    parts = [open(name, "rb").read() for name in (model, __file__)]
    parts += [subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
              for command in (["spin", "-V"], ["gcc", "--version"])]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


class Proven:
    """Names of runs that ended as they must, in a file that is named after what they depend on."""

    def __init__(self, model):
        cache = os.environ.get("SLOOP_TEST_CACHE")
        self.path = os.path.join(cache, "model", identity(model)) if cache else None
        self.names = []
        if self.path and os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as known:
                self.names = known.read().splitlines()

    def add(self, name):
        if not self.path:
            return
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, "a", encoding="utf-8") as known:
            known.write(name + "\n")


def check(run, model):
    with tempfile.TemporaryDirectory(prefix="fleet-model-") as folder:
        build(run, model, folder)
        done = subprocess.run(["./pan", *run.args.split()], cwd=folder, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=3000, check=False)
        wrong = verdict(run, done.stdout)
        states = re.search(r"(\d+) states, stored", done.stdout)
        depth = re.search(r"depth reached (\d+)", done.stdout)
        megabytes = re.search(r"([\d.]+)\ttotal actual memory", done.stdout)
        told = f"{int(states[1]):,} states, depth {depth[1]}, {float(megabytes[1]):.0f} MB" if states else "no states"
        print(f"{'FAIL' if wrong else 'ok  '}  {run.name}: {told}{'; ' + wrong if wrong else ''}", flush=True)
        if wrong:
            print(done.stdout)
        return not wrong


def main():
    for tool in ("spin", "gcc"):
        if not shutil.which(tool):
            print(f"skip model: {tool} is not installed")
            return SKIPPED
    model = os.path.abspath(sys.argv[1])
    runs = ORDINARY + (FULL if os.environ.get("SLOOP_TEST_FULL") == "1" else [])
    proven, right = Proven(model), True
    for run in runs:
        if run.name in proven.names:
            print(f"ok    {run.name}: proven before, of the same bytes")
        elif check(run, model):
            proven.add(run.name)
        else:
            right = False
    return 0 if right else 1


sys.exit(main())
