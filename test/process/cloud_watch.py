"""A CloudWatch of the tests: takes PutMetricData in JSON, keeps every value, and may be slow. It knows nothing of our code."""

import gzip
import http.server
import json
import sys
import threading


class CloudWatch:
    """As a context. told: each datum in the order in which it came. delay_s: how long each answer takes."""

    def __init__(self, delay_s=0):
        outer, self.told, self.leave = self, [], threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                outer.leave.wait(delay_s)
                outer.told += json.loads(body)["MetricData"]
                try:
                    self.send_response(200)
                    self.send_header("Content-Type", "application/x-amz-json-1.0")
                    self.send_header("Content-Length", "2")
                    self.end_headers()
                    self.wfile.write(b"{}")
                except OSError:  # the command has ended
                    pass

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                """A command that has ended may have reset its connection."""
                if not isinstance(sys.exc_info()[1], ConnectionError):
                    super().handle_error(request, client_address)

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    @property
    def env(self):
        return {"AWS_ENDPOINT_URL_CLOUDWATCH": f"http://127.0.0.1:{self.server.server_port}"}

    def sum(self, name, stream):
        return sum(d["Value"] for d in list(self.told)
                   if d["MetricName"] == name and {"Name": "Stream", "Value": stream} in d["Dimensions"])

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *what):
        self.leave.set()
        self.server.shutdown()
        self.thread.join(10)
        self.server.server_close()
