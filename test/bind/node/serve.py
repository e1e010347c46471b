"""Starts a server of others, kinesis-mock or kinesalite, prints its URL, and stops it when standard input ends: serve.py KIND.
Status 77: it is not installed, and why is printed."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "process"))
import servers  # noqa: E402

try:
    with getattr(servers, sys.argv[1])() as server:
        print(server.url, flush=True)
        sys.stdin.read()
except servers.Missing as missing:
    print(missing, flush=True)
    sys.exit(77)
