"""The Python package in bench/peers, on asyncio: payloads as bytes, or with PEERS_VIEWS as memoryviews without a copy.
Variables and lines: README.md beside this folder."""

import asyncio
import os
import sys
import time

import sloop

WANTED = int(os.environ.get("PEERS_RECORDS", "0"))  # 0: without end
WARM = int(os.environ.get("PEERS_WARM", "0"))
VIEWS = bool(os.environ.get("PEERS_VIEWS"))


class Tally:
    def __init__(self):
        self.count = self.bytes = self.sum = 0

    def say(self, mark):
        print(f"{mark} {time.process_time():.6f} {self.count} {self.bytes} {self.sum}", flush=True)

    def take(self, batch):
        before = self.count
        for record in batch:
            data = record.data if VIEWS else bytes(record)
            self.bytes += len(data)
            self.sum += int.from_bytes(data[:4], "little") + 1000000 * int.from_bytes(data[8:12], "little")
        self.count += len(batch)
        if not before:
            self.say("first")
        if before < WARM <= self.count:
            self.say("warm")


async def main():
    tally = Tally()
    async with sloop.Consumer(os.environ["PEERS_STREAM"], start=sloop.OLDEST, endpoint=os.environ["PEERS_ENDPOINT"],
                              app=os.environ.get("PEERS_APP"), fetch_records_max=int(os.environ["PEERS_LIMIT"]),
                              poll_ms=int(os.environ["PEERS_POLL_MS"])) as consumer:
        async for batch in consumer:
            tally.take(batch)
            await batch.done()
            if WANTED and tally.count >= WANTED:
                tally.say("done")
                sys.stdin.read()
                os._exit(0)


asyncio.run(main())
