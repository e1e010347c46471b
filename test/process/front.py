"""An HTTP front between stream-tail and a server: each answer may be changed on its way, and the events of a
subscription refused, held back or kept for ever, as proxies do that know nothing of streamed answers.

    with Front(server.url, answer=lambda operation, status, body: (status, body)) as front: ... front.url
    front.push = "504"      SubscribeToShard is answered by the front, with this status and a page of HTML
    front.push = "hold"     the head of a subscription passes, and nothing behind it
    front.push = "buffer"   what comes is passed on when BUFFER bytes are there, or when it ends
    front.push = "whole"    the same of the head: nothing of a subscription comes before it ends
    prefix="/kinesis"       the server is found beneath this path only
    front.push = "pass"     as it comes
"""

import http.client
import http.server
import threading
import time
import urllib.parse

BUFFER = 65536
PAGE = b"<html><head><title>Gateway Time-out</title></head><body>nginx</body></html>"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_POST(self):
        try:
            self.pass_on()
        except OSError:  # the client left
            self.close_connection = True

    def pass_on(self):
        front = self.server.front
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        operation = self.headers.get("X-Amz-Target", ".").rsplit(".", 1)[1]
        front.count(operation)
        if not self.path.startswith(front.prefix):
            return self.send(404, "text/html", PAGE)
        path = "/" + self.path[len(front.prefix):].lstrip("/")
        if operation == "SubscribeToShard" and front.push.isdigit():
            return self.send(int(front.push), "text/html", PAGE)
        upstream = http.client.HTTPConnection(front.host, front.port, timeout=600)
        try:
            headers = {k: v for k, v in self.headers.items() if k.lower() not in ("connection", "expect")}
            upstream.request("POST", path, body, headers)
            answer = upstream.getresponse()
            kind = answer.getheader("Content-Type", "")
            if operation == "SubscribeToShard" and answer.status == 200:
                return self.stream(front, answer, kind)
            status, text = front.answer(operation, answer.status, answer.read())
            return self.send(status, kind, text, answer.getheader("Date"))
        except http.client.HTTPException:
            self.close_connection = True
            return None
        finally:
            upstream.close()

    def send(self, status, kind, body, date=None):
        self.send_response_only(status)
        if date:
            self.send_header("Date", date)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, front, answer, kind):
        held = b""
        while front.push == "whole" and (data := answer.read1(BUFFER)):
            held += data
        self.send_response_only(200)
        self.send_header("Content-Type", kind)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        while data := answer.read1(BUFFER):
            if front.push == "hold":
                continue
            held += data
            if front.push == "pass" or len(held) >= BUFFER:
                self.wfile.write(held)
                held = b""
        if front.push != "hold":
            self.wfile.write(held)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads, block_on_close = True, False

    def handle_error(self, request, client_address):
        pass  # a client that was stopped left its connections


class Front:
    def __init__(self, url, answer=None, push="pass", prefix=""):
        to = urllib.parse.urlsplit(url)
        self.host, self.port = to.hostname, to.port
        self.answer = answer or (lambda operation, status, body: (status, body))
        self.push, self.prefix = push, prefix
        self.calls, self.times, self.lock = {}, {}, threading.Lock()

    def count(self, operation):
        with self.lock:
            self.calls[operation] = self.calls.get(operation, 0) + 1
            self.times.setdefault(operation, []).append(time.monotonic())

    def __enter__(self):
        self.http = Server(("127.0.0.1", 0), Handler)
        self.http.front = self
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}{self.prefix}"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *exception):
        self.http.shutdown()
        self.http.server_close()
