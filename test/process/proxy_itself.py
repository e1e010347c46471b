"""Shows that each fault of proxy.py is what it says, seen by a plain socket: else a test that survives it proves nothing."""

import http.server
import socket
import struct
import threading
import time

from harness import Failed, Tests, expect
from proxy import Proxy

BODY = bytes(range(256)) * 8
ASK = b"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: Kinesis_20131202.%s\r\nContent-Length: 2\r\n\r\n{}"


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked += 1
        self.send_response_only(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *arguments):
        pass


class Quiet(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Broken connections are what this is about."""


class Upstream:
    def __enter__(self):
        self.http = Quiet(("127.0.0.1", 0), Answer)
        self.http.daemon_threads = True
        self.http.asked = 0
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        return self

    def __exit__(self, *exception):
        self.http.shutdown()
        self.http.server_close()


def segments(client):
    """TCP segments that came in, by the kernel's count (tcp_info.tcpi_segs_in): reads of a busy machine see several of
    them at once."""
    info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return struct.unpack_from("<I", info, 140)[0]


def ask(proxy, operation=b"GetRecords", wait=1.0):
    """The view of a client: (bytes, how it ended: "whole", "end", "reset" or "silence", segments, seconds)."""
    began, got = time.monotonic(), b""
    try:
        client = socket.create_connection(("127.0.0.1", proxy.port), 5)
    except ConnectionResetError:  # it can come before connect() has returned
        return got, "reset", 0, time.monotonic() - began
    with client:
        client.settimeout(wait)
        how = "whole"
        try:
            client.sendall(ASK % operation)
            while not (b"\r\n\r\n" in got and len(got.split(b"\r\n\r\n", 1)[1]) >= len(BODY)):
                data = client.recv(65536)
                if not data:
                    how = "end"
                    break
                got += data
        except ConnectionResetError:
            how = "reset"
        except TimeoutError:
            how = "silence"
        return got, how, segments(client), time.monotonic() - began


def one(rule, ended, length=None, reached=True, check=None):
    with Upstream() as upstream:
        with Proxy(upstream.url, [rule]) as proxy:
            got, how, packets, seconds = ask(proxy)
            again = ask(proxy)  # the rule is used up
        expect(how == ended, f"{how}, not {ended}")
        expect(length is None or len(got) == length, f"{len(got)} bytes, not {length}")
        expect(again[1] == "whole", f"the next one: {again[1]}")
        expect(upstream.http.asked == (2 if reached else 1), f"the server was asked {upstream.http.asked} times")
        expect(sum(proxy.counts["faults"].values()) == 1, str(proxy.counts))
        if check:
            expect(check(got, packets, seconds), f"{len(got)} bytes, {packets} packets, {seconds:.2f} s")


def by_operation():
    with Upstream() as upstream, Proxy(upstream.url, ["1:cut:0:GetRecords"]) as proxy:
        expect(ask(proxy, b"ListShards")[1] == "whole", "ListShards was hit")
        expect(ask(proxy)[1] == "end", "GetRecords was not hit")


def half_goes_on_listening():
    with Upstream() as upstream, Proxy(upstream.url, ["1:half:100"]) as proxy:
        with socket.create_connection(("127.0.0.1", proxy.port), 5) as client:
            client.settimeout(2)
            client.sendall(ASK % b"GetRecords")
            got = b""
            while data := client.recv(4096):
                got += data
            expect(len(got) == 100, f"{len(got)} bytes")
            client.sendall(ASK % b"GetRecords")  # a reset would show at the second send
            client.sendall(ASK % b"GetRecords")


def idle_is_closed():
    with Upstream() as upstream, Proxy(upstream.url, ["*:idle:100"]) as proxy:
        with socket.create_connection(("127.0.0.1", proxy.port), 5) as client:
            client.settimeout(3)
            for _ in range(3):  # without a pause it stays open
                client.sendall(ASK % b"GetRecords")
                got = b""
                while BODY not in got:
                    data = client.recv(65536)
                    expect(data, "closed while in use")
                    got += data
            try:
                expect(client.recv(1) == b"", "more bytes")
            except TimeoutError:
                raise Failed("stays open") from None


def changed(at, inside_body):
    def check(got, _packets, _seconds):
        head, body = got.split(b"\r\n\r\n", 1)
        wrong = [i for i, (a, b) in enumerate(zip(body, BODY)) if a != b]
        if inside_body:
            return wrong == [at] and body[at] == BODY[at] ^ 0x80 and head.startswith(b"HTTP/1.1 200")
        return not wrong and head[at] == b"HTTP/1.1"[at] ^ 0x80

    return check


def main():
    tests = Tests()
    tests.run("cut", one, "1:cut:100", "end", 100)
    tests.run("cut at 0", one, "1:cut:0", "end", 0)
    tests.run("half", one, "1:half:100", "end", 100)
    tests.run("half goes on listening", half_goes_on_listening)
    tests.run("rst", one, "1:rst:0", "reset", 0)
    tests.run("blackhole", one, "1:blackhole:100", "silence", 100)
    tests.run("delay", one, "1:delay:300", "whole", check=lambda got, packets, seconds: seconds >= 0.3)
    tests.run("trickle", one, "1:trickle:500", "whole", check=lambda got, packets, seconds: packets > 10)  # the kernel joins some; whole it comes in two or three
    tests.run("slow", one, "1:slow:8000", "whole", check=lambda got, packets, seconds: seconds > 0.2)
    tests.run("corrupt", one, "1:corrupt:2", "whole", check=changed(2, False))
    tests.run("corrupt-body", one, "1:corrupt-body:700", "whole", check=changed(700, True))
    tests.run("lose-request", one, "1:lose-request", "reset", 0, False)
    tests.run("fin-request", one, "1:fin-request", "end", 0, False)
    tests.run("refuse", one, "1:refuse", "reset", 0, False)
    tests.run("deaf", one, "1:deaf", "silence", 0, False)
    tests.run("idle", idle_is_closed)
    tests.run("only the operation asked for", by_operation)
    tests.end()


if __name__ == "__main__":
    main()
