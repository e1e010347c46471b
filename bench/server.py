"""The server that benchmarks in Python read from or put into: peers_server, the sandbox with its limits off and TLS before it."""

import json
import os
import subprocess
import time
import urllib.request


class Failed(Exception):
    """What ends a benchmark: its text is the last that is printed."""


class Server:
    """A process of its own on the second CPU. `cpu` is the one for clients, `url` has TLS, `plain` has none."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        lines = [self.process.stdout.readline().strip() for _ in range(4)]
        if not lines[3]:
            raise Failed("the server does not start")
        self.plain, self.url, self.ca_file, self.cpu = *lines[:3], int(lines[3])

    def order(self, method, what):
        """An order to the sandbox itself, such as POST stream?name=..."""
        request = urllib.request.Request(f"{self.plain}/_sandbox/{what}", method=method, data=b"" if method == "POST" else None)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def call(self, operation, service="Kinesis_20131202", **body):
        """A call of the service, whose answer is JSON."""
        version = "1.0" if service.startswith("DynamoDB") else "1.1"
        name = "dynamodb" if service.startswith("DynamoDB") else "kinesis"
        request = urllib.request.Request(self.plain, json.dumps(body).encode(), {
            "Content-Type": f"application/x-amz-json-{version}", "X-Amz-Target": f"{service}.{operation}",
            "Authorization": f"AWS4-HMAC-SHA256 Credential=BENCHKEY/20260101/us-east-1/{name}/aws4_request, "
                             "SignedHeaders=host, Signature=0"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or b"{}")

    def stats(self):
        return json.loads(self.order("GET", "stats"))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def environment(server, **variables):
    """The variables of a client: keys and the certificate of the server, and nothing of the machine's own settings."""
    return {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "AWS_ACCESS_KEY_ID": "BENCHKEY",
            "AWS_SECRET_ACCESS_KEY": "not-a-secret", "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
            "AWS_CA_BUNDLE": server.ca_file, "SSL_CERT_FILE": server.ca_file, **variables}


def cpu_clock(pid):
    """Seconds of all the threads of another process, those included that ended: clock_getcpuclockid(3)."""
    return time.clock_gettime(~pid << 3 | 2)
