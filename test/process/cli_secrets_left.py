"""The secrets that a credential_process prints are in the memory of the running command where they are needed, and nowhere
else: not on its stack, not in memory that was freed. All of its writable memory is searched, from outside."""

import os
import re
import signal
import subprocess
import sys
import tempfile

from box import BIN, SANITIZED, Box
from command import check, end, environment, equal, main, test, wait_until

SECRET = "wJalrXUtnFEMIxK7MDENGxbPxRfiCYzEXAMPLEKEYzz"
SAID = "a-word-that-only-its-standard-error-has-4711"
NEEDED = 2  # the keys, and the key by which the signing key of the day is found again


def memory_of(pid):
    """(name, address, bytes) of each writable region."""
    with open(f"/proc/{pid}/maps", encoding="ascii", errors="replace") as maps, open(f"/proc/{pid}/mem", "rb") as mem:
        for line in maps:
            m = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw\S* \S+ \S+ \S+\s*(.*)", line)
            if not m or m[3].startswith("[v"):
                continue
            begin, until = int(m[1], 16), int(m[2], 16)
            mem.seek(begin)
            try:
                yield m[3] or "unnamed", begin, mem.read(until - begin)
            except OSError:
                continue  # a guard page


def places_of(pid, word):
    word = word.encode()
    return [name for name, _, text in memory_of(pid) for _ in re.finditer(re.escape(word), text)]


@test
def no_copy_of_a_secret_is_left():
    if SANITIZED:
        print("skip no_copy_of_a_secret_is_left: freed memory is kept by the sanitizer", flush=True)
        return
    with tempfile.TemporaryDirectory() as d, Box(2) as box:
        box.put(5)
        program = os.path.join(d, "keys")
        with open(program, "w", encoding="ascii") as f:
            f.write(f"#!/bin/sh\necho {SAID} >&2\necho '{{\"Version\":1,\"AccessKeyId\":\"AKID\",\"SecretAccessKey\":\"{SECRET}\","
                    f"\"SessionToken\":\"{'t' * 300}\"}}'\n")
        os.chmod(program, 0o700)
        with open(os.path.join(d, "config"), "w", encoding="ascii") as f:
            f.write(f"[default]\nregion = us-east-1\ncredential_process = {program}\n")
        env = environment({"HOME": d, "AWS_CONFIG_FILE": os.path.join(d, "config"), "AWS_ENDPOINT_URL": box.url,
                           "AWS_EC2_METADATA_DISABLED": "true"})
        p = subprocess.Popen([BIN, "-o", "oldest", "demo"], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
        try:
            for _ in range(5):
                check(p.stdout.readline(), "the records are read with these keys")
            calls = box.calls("GetRecords")
            wait_until(lambda: box.calls("GetRecords") > calls + 3, what="some more calls")
            os.kill(p.pid, signal.SIGSTOP)
            try:
                places = places_of(p.pid, SECRET)
            except PermissionError as error:
                print(f"skip no_copy_of_a_secret_is_left: {error}", flush=True)
                return
            check(places_of(p.pid, "AKID"), "the search finds the access key")
            check("[stack]" not in places, "on the stack:", places)
            check(0 < len(places) <= NEEDED, f"{len(places)} copies, {NEEDED} are needed:", places)
            equal(places_of(p.pid, SAID), [], "what it wrote to standard error")
        finally:
            os.kill(p.pid, signal.SIGCONT)
            end(p)


if __name__ == "__main__":
    main()
