"""A consumer while the n-th allocation of libuv, libcurl or OpenSSL fails (fail_libs.c), over plain HTTP and over TLS. Each n
is a process of its own; how it ended is counted. A crash inside a library is that library's, listed with the function; a
crash or a leak of ours, and a life that does not end, fail the test.

A sample: other ones by SLOOP_TEST_SEED, as many as SLOOP_TEST_POINTS for each library and protocol. SLOOP_TEST_FULL=1: every n
of libuv and libcurl, and one in seven of OpenSSL's tens of thousands.
"""

import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "process"))

import harness  # noqa: E402 pylint: disable=wrong-import-position
import sandbox_box  # noqa: E402 pylint: disable=wrong-import-position
import servers  # noqa: E402 pylint: disable=wrong-import-position
from harness import FULL, Tests, expect  # noqa: E402 pylint: disable=wrong-import-position
from tail_tls import Certificates  # noqa: E402 pylint: disable=wrong-import-position

PROGRAM = os.environ["SLOOP_TEST_LIBS"]
SEED = int(os.environ.get("SLOOP_TEST_SEED", "1"))
POINTS = int(os.environ.get("SLOOP_TEST_POINTS", "24"))
RECORDS = 40
ENDS = {0: "worked", 1: "worked after errors", 2: "said why not", 5: "said why again and again"}
FRAME = re.compile(r"/(lib(?:uv|curl|ssl|crypto|c))\.so[^(]*\(([^+)]*)(\+\w+)?|/(fail_libs)\(")


def whose(frames):
    """The library of the innermost frame that is not the C library's, and the innermost function of it that has a name (or
    the place, when none has); None: it is our program, or nothing is known."""
    own, name, at, ours = None, "", "", not any("freed twice" in frame for frame in frames)  # else our hook stands first
    for frame in frames:
        found = FRAME.search(frame)
        if not found or found.group(1) == "libc" or "on_crash" in frame:
            continue
        library = found.group(1) or "ours"
        if library == "ours" and not own and not ours:
            continue
        if own and library != own:
            break
        own, name, at = library, name or found.group(2) or "", at or found.group(3) or ""
    return None if own in (None, "ours") else f"{own}: {name or at}"


class Lane:
    def __init__(self, library, url, stream, bundle):
        self.library, self.url, self.stream, self.bundle = library, url, stream, bundle
        self.ends = collections.Counter()
        self.crashes = collections.Counter()
        self.wrong = []

    def play(self, n):
        argv = [PROGRAM, self.library, str(n), self.url, self.stream, str(RECORDS)] + ([self.bundle] if self.bundle else [])
        environment = {**harness.tail_environment(), "SSL_CERT_FILE": "/nonexistent", "SSL_CERT_DIR": "/nonexistent"}
        done = subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60, check=False, preexec_fn=servers.die_with_parent)
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def judge(self, n):
        code, text = self.play(n)
        if code in ENDS:
            self.ends[ENDS[code]] += 1
            return
        owner = whose(text.splitlines()) if code < 0 else None
        if owner:
            self.ends["crashed in the library"] += 1
            self.crashes[owner] += 1
        else:
            self.wrong.append(f"n={n}: {'signal' if code < 0 else 'end'} {abs(code)}: {text[-900:]}")

    def all(self):
        code, text = self.play(0)
        expect(code == 0, f"without any failure: end {code}: {text[-800:]}")
        asked = int(text.split(" asked")[0].rsplit("\n", 1)[-1])
        expect(asked > 0, "the hook is not asked")
        step = max(1, asked // POINTS) + SEED % 5 if asked > POINTS else 1
        if FULL:
            step = 7 if self.library == "openssl" else 1
        points = range(1 + SEED * 7919 % step, asked + 1, step)
        for n in points:
            self.judge(n)
        expect(not self.wrong, f"{len(self.wrong)} of {len(points)} are wrong, the first is {self.wrong[0] if self.wrong else ''}")
        crashes = "".join(f"; {what} {count} times" for what, count in sorted(self.crashes.items()))
        return (f"{asked} allocations, {len(points)} failed: "
                + ", ".join(f"{count} {end}" for end, count in sorted(self.ends.items())) + crashes)


def main():
    tests = Tests()
    began = time.monotonic()
    with sandbox_box.Box() as box, tempfile.TemporaryDirectory() as folder:
        kinesis = box.client()
        stream = harness.new_stream(kinesis, 2)
        answer = kinesis.put_records(StreamName=stream, Records=[
            {"Data": f"record {i}".encode(), "PartitionKey": f"key-{i}"} for i in range(RECORDS)])
        expect(answer["FailedRecordCount"] == 0, "the sandbox refused records")
        certificates = Certificates(folder)
        with certificates.front(box, "good") as front:
            bundle = certificates.path("ca.pem")
            lanes = {f"{library} over {'TLS' if tls else 'HTTP'}": Lane(library, front.url if tls else box.url, stream,
                                                                       bundle if tls else None)
                     for tls in (False, True) for library in ("uv", "curl", "openssl")}
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                for job in [pool.submit(tests.run, name, lane.all) for name, lane in lanes.items()]:
                    job.result()
    print(f"     {sum(sum(lane.ends.values()) for lane in lanes.values())} failure points, {time.monotonic() - began:.0f} s")
    tests.end()


if __name__ == "__main__":
    main()
