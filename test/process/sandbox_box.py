"""Starts the sandbox's test program (SLOOP_TEST_SANDBOX, built from sandbox_main.c) with any knob, and talks to it."""

import http.client
import json
import os
import subprocess
import sys

try:
    import boto3
    import botocore.config
    import botocore.exceptions
except ImportError:
    print("skip: boto3 is not installed (sh test/install.sh test)")
    sys.exit(77)

import harness
import servers

NO_LIMITS = ("reads_per_second=0", "read_bytes_per_second=0", "write_bytes_per_second=0",
             "write_records_per_second=0", "change_readers_max=0", "describes_per_second=0",
             "lists_per_second=0")


def program():
    path = os.environ.get("SLOOP_TEST_SANDBOX",
                          os.path.join(servers.ROOT, "build", "test", "process", "sandbox_main"))
    if not os.access(path, os.X_OK):
        print(f"skip: no {path}; set SLOOP_TEST_SANDBOX")
        sys.exit(77)
    return path


class Box:
    def __init__(self, *knobs, limits=False):
        self.knobs = [*(() if limits else NO_LIMITS), *knobs]

    def __enter__(self):
        self.process = subprocess.Popen([program(), *self.knobs], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.url = self.process.stdout.readline().decode().strip()
        self.address = self.url.removeprefix("http://")
        harness.expect(self.url.startswith("http://127.0.0.1:"), f"it says {self.url!r}")
        return self

    def __exit__(self, *exception):
        self.process.stdin.close()
        try:
            code = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self.process.stdout.close()
        if exception[0] is None:
            harness.expect(code == 0, f"the sandbox ended with {code}: something was left open, or it broke")

    def client(self, key="AKIDEXAMPLE", secret="secret", token=None, region="us-east-1", service="kinesis"):
        config = botocore.config.Config(retries={"total_max_attempts": 1, "mode": "standard"}, read_timeout=20)
        return boto3.client(service, endpoint_url=self.url, region_name=region, aws_access_key_id=key,
                            aws_secret_access_key=secret, aws_session_token=token, config=config)

    def request(self, method, path, body=b"", headers=None):
        connection = http.client.HTTPConnection(self.address, timeout=20)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def order(self, method, path, body=b""):
        status, _, text = self.request(method, "/_sandbox/" + path, body)
        harness.expect(status == 200, f"{method} {path}: {status} {text!r}")
        return text

    def faults(self, script):
        self.order("POST", "faults", script.encode())

    def table(self, name, partitions=4, view="NEW_AND_OLD_IMAGES"):
        self.order("POST", f"table?name={name}&partitions={partitions}&view={view}")

    def roll(self, table, split=False):
        self.order("POST", f"roll?table={table}&split={int(split)}")

    def trim_table(self, table, before_ms):
        self.order("POST", f"trim?table={table}&before={before_ms}")

    def quirk(self, name, value, table=None):
        self.order("POST", f"quirk?name={name}&value={value}" + (f"&table={table}" if table else ""))

    def change(self, table, keys, old=None, new=None, by_ttl=False):
        """A change no item made, as typed attributes."""
        columns = ["-" if part is None else json.dumps(part) for part in (keys, old, new)]
        self.order("POST", f"change?table={table}&ttl={int(by_ttl)}", "\t".join(columns).encode())

    def move_clock(self, ms):
        self.order("POST", "clock", str(ms).encode())

    def now_ms(self):
        return int(self.order("GET", "clock"))

    def stats(self):
        return json.loads(self.order("GET", "stats"))


def refused(code, function, **arguments):
    """The call must fail with that code. Returns the message."""
    try:
        function(**arguments)
    except botocore.exceptions.ClientError as error:
        seen = error.response["Error"]["Code"]
        harness.expect(seen == code, f"{seen} instead of {code}: {error}")
        return error.response["Error"]["Message"]
    raise harness.Failed(f"{code} did not come")
