"""stream-tail --push through a front that speaks TLS and offers HTTP/2: subscriptions share connections where this libcurl
may be trusted with that (host/curl_http.c says from which version on), and have one each by HTTP/1.1 where it may not. Streams
that the front resets, connections that it ends or loses: no record is lost and none comes twice.

SLOOP_TEST_LIBCURL=FOLDER has stream-tail run with the libcurl.so.4 of that folder."""

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time

import h2_front
import harness
import servers
import tail_tls
from harness import FULL, expect
from sandbox_box import Box
from tail_push import judge, put_many

LIBCURL = os.environ.get("SLOOP_TEST_LIBCURL")
SHARDS = 12
N = 6000 if FULL else 2400


class VersionInfo(ctypes.Structure):
    _fields_ = [("age", ctypes.c_int), ("version", ctypes.c_char_p), ("version_num", ctypes.c_uint),
                ("host", ctypes.c_char_p), ("features", ctypes.c_int)]


def libcurl():
    """Its version, and whether subscriptions may share a connection with it."""
    library = ctypes.CDLL(os.path.join(LIBCURL, "libcurl.so.4") if LIBCURL else "libcurl.so.4")
    library.curl_version_info.restype = ctypes.POINTER(VersionInfo)
    info = library.curl_version_info(3).contents
    return info.version.decode(), info.version_num >= 0x080e00 and bool(info.features & 1 << 16)


def environment(front, certificates):
    more = {"LD_LIBRARY_PATH": LIBCURL} if LIBCURL else {}
    return {**tail_tls.environment(front.url, certificates.path("ca.pem")), **more}


def connections_of(pid, port):
    """Of that process to that port."""
    inodes = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            inodes.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except FileNotFoundError:
            pass
    with open("/proc/net/tcp", encoding="ascii") as f:
        rows = [line.split() for line in f.readlines()[1:]]
    return sum(int(row[2].split(":")[1], 16) == port and row[3] == "01" and f"socket:[{row[9]}]" in inodes for row in rows)


def aborted(certificates, folder):
    """While records are put: streams are reset in the middle of an event and between two, the front leaves with GOAWAY, and
    dies. The service's own end after some seconds comes on top."""
    version, shared = libcurl()
    with Box(f"stream=s:{SHARDS}", "change_ms=0", "resubscribe_ms=0", "consumer_limits=0", "subscription_ms=4000",
             "idle_event_ms=300") as box, h2_front.Front(box, folder, certificates.path("good.pem"), streams=8) as front:
        client, put = box.client(), {}
        put_many(client, "s", N // 6, put)
        box.faults("".join(f"1 SubscribeToShardEvent {n} cut {20 * n + 5}\n" for n in range(0, SHARDS, 2)) +
                   "".join(f"1 SubscribeToShardEvent {n} drop\n" for n in range(1, SHARDS, 2)))
        running = harness.Running(["--push", "-J", "-o", "oldest", "s"], environment(front, certificates))
        try:
            harness.wait_until(lambda: len(running.lines) >= len(put), 60, "what was there")
            if not shared:  # shards whose first subscription was cut may be about to connect again
                harness.wait_until(lambda: connections_of(running.process.pid, front.port) >= SHARDS, 60, "a connection each")
            sockets = connections_of(running.process.pid, front.port)
            for disturb in (lambda: None, front.go_away, lambda: None, front.die, lambda: None):
                put_many(client, "s", N // 6, put, len(put))
                disturb()
                time.sleep(0.7)
            harness.wait_until(lambda: len(running.lines) >= len(put), 90, f"{len(put)} records, {len(running.lines)} came")
        finally:
            running.signal(signal.SIGTERM)
            running.process.wait(20)
        judge(harness.records_of(list(running.lines)), put)
        http1, http2 = front.protocols()
        stats = box.stats()
        expect(stats["faults_used"] == SHARDS, f"{stats['faults_used']} faults used")
        if shared:
            expect(http2 >= SHARDS and sockets < SHARDS, f"{http2} requests by HTTP/2, {sockets} connections")
        else:
            expect(http2 == 0, f"{http2} requests by HTTP/2")
        return (f"libcurl {version}: {len(put)} records, {stats['operations']['SubscribeToShard']['calls']} subscriptions, "
                f"{sockets} connections; of the requests ended {http2} by HTTP/2, {http1} by HTTP/1.1")


def a_reader_that_does_not_read(certificates, folder):
    """A backlog of 8 MB a shard, and nobody reads standard output for a while: memory stays in bounds, nothing is lost."""
    with Box("stream=s:4", "change_ms=0", "push_bytes_per_second=0") as box, \
         h2_front.Front(box, folder, certificates.path("good.pem")) as front:
        client, put = box.client(), {}
        n = 32000 if FULL else 8000
        put_many(client, "s", n, put, size=1000)
        process = subprocess.Popen([servers.binary(), "--push", "-J", "-o", "oldest", "-c", str(n), "-X",
                                    "buffered_bytes_max=4000000", "s"], env=environment(front, certificates),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, preexec_fn=servers.die_with_parent)
        time.sleep(4)
        with open(f"/proc/{process.pid}/status", encoding="ascii") as f:
            rss = next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))
        out, _ = process.communicate(timeout=90)
        expect(process.returncode == 0, f"status {process.returncode}")
        judge(harness.records_of(out), put)
        return f"{rss} kB while nobody read"


def main():
    why = h2_front.missing()
    if why:
        print(f"skip: {why}")
        sys.exit(77)
    tests = harness.Tests()
    with tempfile.TemporaryDirectory() as folder:
        certificates = tail_tls.Certificates(folder)
        tests.side_by_side([lambda test=test: tests.run(test.__name__.replace("_", " "), test, certificates, folder)
                            for test in (aborted, a_reader_that_does_not_read)])
    tests.end()


if __name__ == "__main__":
    main()
