"""Hostile peers of the metrics port: silent, slow, half closed, reset, pipelined, floods, junk as request lines, paths and
headers, in their hundreds. Throughout, /healthz answers within two seconds; memory, descriptors and CPU are bounded,
nothing that a peer sent is printed, and Ctrl-C ends it within two seconds. SLOOP_BIN names the program.

    peers.py            all of them
    peers.py TEXT       those whose names hold TEXT
"""

import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request

from hostile_lane import BOUNDS, LEAVE_S, MEMORY_MB, cpu_s, peak_mb, play_all, start, unsafe
from box import Box, NO_LIMITS, SANITIZED

FOR_S = 1.2
HOST = b"Host: x\r\n"


def many(n, first=b"", then=None, end=None, every_s=0.05):
    """n connections that say `first` and, again and again, what `then(i)` gives; `end` ends each."""
    def attack(port, until):
        peers = []
        try:
            for _ in range(n):
                s = socket.create_connection(("127.0.0.1", port), 5)
                s.settimeout(0.2)
                peers.append(s)
                say(s, first)
                if end:
                    end(s)
            for i in range(1 << 30):
                if time.monotonic() > until:
                    return
                for s in peers if then else ():
                    say(s, then(i))
                time.sleep(every_s)
        finally:
            for s in peers:
                s.close()
    return attack


def say(s, text):
    try:
        s.sendall(text)
    except OSError:
        pass  # it was closed, as it should be


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def half_close(s):
    try:
        s.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def again_and_again(first, end):
    def attack(port, until):
        while time.monotonic() < until:
            try:
                s = socket.create_connection(("127.0.0.1", port), 5)
            except OSError:
                continue
            s.settimeout(0.2)
            say(s, first)
            end(s)
            s.close()
            time.sleep(0.001)  # the probe is asked by a thread of this process
    return attack


def read_all(s):
    try:
        while s.recv(65536):
            pass
    except OSError:
        pass


def get(path, headers=b"", method=b"GET"):
    return method + b" " + path + b" HTTP/1.1\r\n" + HOST + headers + b"\r\n"


CONTROLS = b"\x1b]0;x\x07\x1b[2J\xc2\x9b31m\xe2\x80\xae"
KINDS = {
    "silent": many(200),
    "half a line": many(200, b"GET /met"),
    "half a head": many(200, b"GET / HTTP/1.1\r\nX-Half: "),
    "a byte at a time": many(100, b"", lambda i: get(b"/metrics")[i % 30:i % 30 + 1]),
    "a header at a time": many(50, b"GET / HTTP/1.1\r\n", lambda i: b"X-%d: y\r\n" % i),
    "an endless line": many(20, b"GET /", lambda i: b"x" * 16384, every_s=0.005),
    "an endless head": many(20, b"GET / HTTP/1.1\r\n", lambda i: b"X: " + b"x" * 8000 + b"\r\n", every_s=0.005),
    "an endless body": many(20, b"POST / HTTP/1.1\r\nContent-Length: 999999999999\r\n\r\n", lambda i: b"x" * 16384, every_s=0.005),
    "endless chunks": many(20, b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", lambda i: b"1000\r\n" + b"x" * 4096 + b"\r\n",
                           every_s=0.005),
    "endless trailers": many(20, b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", lambda i: b"X-A: b\r\n" * 2048, every_s=0.005),
    "pipelined and never read": many(40, get(b"/metrics") * 500),
    "pipelined": again_and_again(get(b"/metrics") * 50, read_all),
    "half closed": many(200, b"", end=half_close),
    "half closed after a request": again_and_again(get(b"/metrics"), half_close),
    "reset at once": again_and_again(b"", reset),
    "reset after a request": again_and_again(get(b"/metrics"), reset),
    "a flood": again_and_again(b"", lambda s: None),
    "a flood of probes": again_and_again(get(b"/healthz"), read_all),
    "paths": many(40, b"".join(get(p) for p in (b"/" + CONTROLS, b"/" + b"a" * 7000, b"/../../etc/passwd", b"/%00%1b%0d%0aX:1",
                                                b"*", b"http://x/" + CONTROLS, b"//", b"/metrics\x00"))),
    "headers": many(40, get(b"/metrics", b"X-" + CONTROLS + b": " + CONTROLS + b"\r\n" + b"A:b\r\n" * 500)),
    "lengths": many(40, get(b"/", b"Content-Length: -1\r\nContent-Length: 99999999999999999999\r\n")),
    "methods": many(40, get(b"/", method=CONTROLS) + get(b"/metrics", method=b"X" * 5000)),
    "HTTP/0.9": again_and_again(b"GET /\r\n\r\n", read_all),
    "HTTP/2": again_and_again(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(64), read_all),
    "TLS": again_and_again(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(300), read_all),
    "bytes": again_and_again(bytes(range(256)) * 64, read_all),
}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def probe(port, worst, over):
    """Asks /healthz again and again. One that a flood has pushed out before it spoke asks anew: its time goes on."""
    while not over.is_set():
        begun = time.monotonic()
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=10) as answer:
                    answer.read()
                break
            except OSError as error:
                if time.monotonic() - begun > 10:
                    worst.append((99, str(error)))
                    return
        worst.append((time.monotonic() - begun, ""))
        time.sleep(0.02)


def turn_us(port):
    """The longest turn so far. The page may be refused for as long as too many are being written."""
    deadline = time.monotonic() + 20
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
                text = answer.read().decode()
            return max(int(float(n) * 1e6) for n in re.findall(r"^sloop_turn_\w*max\S* (\S+)", text, re.M))
        except (OSError, ValueError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


TURNS, PROBES = [], []


def play(box, attack):
    port = free_port()
    p = start(["-o", "latest", "--metrics", f"127.0.0.1:{port}", "demo"], box.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    worst, over = [], threading.Event()
    mb = 0
    try:
        turn_us(port)  # it is there
        prober = threading.Thread(target=probe, args=(port, worst, over))
        prober.start()
        cpu = cpu_s(p.pid)
        attack(port, time.monotonic() + FOR_S)
        cpu, mb = cpu_s(p.pid) - cpu, peak_mb(p.pid)
        fds = len(os.listdir(f"/proc/{p.pid}/fd"))
        over.set()
        prober.join()
        TURNS.append(turn_us(port))
        begun = time.monotonic()
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=30)
        left = time.monotonic() - begun
        text = err.decode("utf-8", "surrogateescape")
        slowest, why = max(worst)
        PROBES.append(slowest)
        if slowest > BOUNDS["PROBE_S"]:
            return f"/healthz took {slowest:.1f} s {why}", mb
        if left > LEAVE_S:
            return f"Ctrl-C took {left:.1f} s", mb
        if mb > MEMORY_MB:
            return f"{mb} MB", mb
        if fds > BOUNDS["PROGRAM_FDS"]:
            return f"{fds} descriptors", mb
        if TURNS[-1] > BOUNDS["TURN_US"] * (BOUNDS["SANITIZED_TURNS"] if SANITIZED else 1):
            return f"{TURNS[-1]} us of CPU in a turn", mb
        if p.returncode != 0 or out or unsafe(text):
            return f"exit {p.returncode}: {out[-200:]!r} {text[-200:]!r}", mb
        return None, mb
    except subprocess.TimeoutExpired:
        return "Ctrl-C is not answered in 30 s", mb
    finally:
        over.set()
        if p.poll() is None:
            p.kill()
            p.communicate()


def main():
    with Box(2, *NO_LIMITS) as box:
        bad = play_all("peers", [(*kind, ()) for kind in KINDS.items()], lambda attack: play(box, attack), 5)
    print(f"slowest probe: {max(PROBES):.2f} s; longest turn: {max(TURNS)} us of CPU")
    sys.exit(bad)


if __name__ == "__main__":
    main()
