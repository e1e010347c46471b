"""An HTTP server in front of a DynamoDB that passes everything on and keeps a log of what it cost: per request the
operation and the units that the service told (ConsumedCapacity), whoever asked for them. A refused condition costs as
well, though no service tells it: a unit a kilobyte of the row that refused, which for a lease is one."""

import collections
import http.client
import http.server
import json
import threading
import time

Entry = collections.namedtuple("Entry", "at operation status writes reads")
WRITES = ("UpdateItem", "PutItem", "DeleteItem")


def told(answer):
    """Units of an answer, of all tables it names."""
    capacity = answer.get("ConsumedCapacity") or []
    return sum(one["CapacityUnits"] for one in (capacity if isinstance(capacity, list) else [capacity]))


class Meter:
    def __init__(self, url):
        self.host = url.removeprefix("http://")
        self.lock = threading.Lock()
        self.log = []

    def note(self, operation, status, body):
        if operation not in (*WRITES, "GetItem", "BatchGetItem", "Query", "Scan"):
            return
        answer = json.loads(body)
        refused = status == 400 and "ConditionalCheckFailed" in answer.get("__type", "")
        units = 1 if refused else told(answer)
        writes, reads = (units, 0) if operation in WRITES else (0, units)
        with self.lock:
            self.log.append(Entry(time.monotonic(), operation, status, writes, reads))

    def since(self, moment):
        with self.lock:
            return [entry for entry in self.log if entry.at >= moment]

    def __enter__(self):
        meter = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self):
                super().setup()
                self.up = http.client.HTTPConnection(meter.host, timeout=60)

            def finish(self):
                self.up.close()
                super().finish()

            def log_message(self, *_):
                pass

            def do_POST(self):
                try:
                    self.pass_on()
                except OSError:  # the worker has given the request up, or is gone; its cost is noted
                    self.close_connection = True

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
                self.up.request("POST", self.path, body, headers)
                answer = self.up.getresponse()
                data = answer.read()
                meter.note(self.headers.get("X-Amz-Target", ".").split(".")[1], answer.status, data)
                self.send_response_only(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("connection", "content-length", "transfer-encoding", "keep-alive"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *exception):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
