"""What both programs beside this file count and print. Variables and lines: README.md beside this folder."""

import os
import sys
import time

STREAM = os.environ["PEERS_STREAM"]
ENDPOINT = os.environ["PEERS_ENDPOINT"]
WANTED = int(os.environ.get("PEERS_RECORDS", "0"))  # 0: without end
WARM = int(os.environ.get("PEERS_WARM", "0"))
LIMIT = int(os.environ["PEERS_LIMIT"])
POLL_S = int(os.environ["PEERS_POLL_MS"]) / 1000


class Tally:
    def __init__(self):
        self.count = self.bytes = self.sum = 0

    def say(self, mark):
        print(f"{mark} {time.process_time():.6f} {self.count} {self.bytes} {self.sum}", flush=True)

    def take(self, payloads):
        before = self.count
        for data in payloads:
            self.bytes += len(data)
            self.sum += int.from_bytes(data[:4], "little") + 1000000 * int.from_bytes(data[8:12], "little")
        self.count += len(payloads)
        if not before and payloads:
            self.say("first")
        if before < WARM <= self.count:
            self.say("warm")
        if WANTED and self.count >= WANTED:
            self.say("done")
            sys.stdin.read()
            os._exit(0)
