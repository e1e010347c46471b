"""Plays the same seeds with programs of two builds, and compares the hashes of all that happened, byte for byte of
every call and every callback: same.py BUILD-A BUILD-B [SEEDS [FIRST]]. Half of them are whole fleets (herd_swarm), half
single consumers (swarm). Build one with gcc -O2 and the other with clang -O0, so that nothing hangs on the order of
evaluation, on what memory held before, or on where it lies. SLOOP_TEST_WRAPPER is put in front of the programs of
BUILD-B, such as qemu-s390x-static for those of another processor.
"""

import os
import re
import shlex
import subprocess
import sys


def hashes(command):
    said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    return dict(re.findall(r"^(?:seed )?(\d+)\b.*?\b([0-9a-f]{16})$", said, re.M))


def compare(what, first, second, wanted):
    differ = sorted((seed for seed in first if first[seed] != second.get(seed)), key=int)
    for seed in differ[:10]:
        print(f"     {what} seed {seed}: {first[seed]} and {second.get(seed)}")
    good = not differ and len(first) == len(second) == wanted
    print(f"{'ok  ' if good else 'FAIL'} {what}: {len(first)} and {len(second)} of {wanted} seeds, {len(differ)} differ")
    return good


def herds(wrapper, build, first, seeds):
    return hashes(wrapper + [f"{build}/test/swarm/herd_swarm", "--hash", "--no-shrink", "--from", str(first), "--seeds", str(seeds)])


def singles(wrapper, build, first, seeds):
    found = {}
    for seed in range(first, first + seeds):
        found.update(hashes(wrapper + [f"{build}/test/swarm/swarm", "--seed", str(seed)]))
    return found


def main():
    a, b = sys.argv[1:3]
    wrapper = shlex.split(os.environ.get("SLOOP_TEST_WRAPPER", ""))
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    good = [compare(what, play([], a, first, seeds // 2), play(wrapper, b, first, seeds // 2), seeds // 2)
            for what, play in (("whole fleets", herds), ("single consumers", singles))]
    sys.exit(0 if all(good) else 1)


main()
