"""One process of motorway's Kinesis ramp, as its users write it: their ramp, and messages acknowledged when processed.
Configured by the environment (README.md beside this folder). The ramp is motorway's own; what a pipeline's other processes
would send back to it over ZeroMQ, that a message was processed, is told to it directly.
"""

import json
import logging
import os
import signal
import sys
import threading
import time

from motorway.contrib.amazon_kinesis.ramps import KinesisRamp

WORKER = os.environ["PEER_WORKER"]
PRINTING = threading.Lock()


def line(kind, shard, first, second):
    with PRINTING:
        sys.stdout.write(f"{kind}\t{time.time_ns() // 1000000}\t{WORKER}\t{shard}\t{first}\t{' '.join(second.split())}\n")
        sys.stdout.flush()


class Ramp(KinesisRamp):
    stream_name = os.environ["PEER_STREAM"]
    heartbeat_timeout = int(os.environ.get("PEER_FAILOVER_MS", "30000")) // 1000

    def get_control_table_name(self):
        return os.environ["PEER_APP"]

    def connection_parameters(self, service_name):
        return {"service_name": service_name, "region_name": "us-east-1", "endpoint_url": os.environ["PEER_ENDPOINT"]}

    def claim_shard(self, shard_id):
        claimed = super().claim_shard(shard_id)
        if claimed:
            line("event", shard_id, "gained", "")
        return claimed

    def shard_of(self, number):
        return next((shard for shard, numbers in list(self.uncompleted_ids.items()) if number in numbers), "?")


def crashed(arguments):
    """A thread of the ramp ends for ever when its loop raises, and the process goes on."""
    line("event", "-", "failed", f"{arguments.exc_type.__name__}: {arguments.exc_value}")
    sys.__stderr__.write(f"ERROR thread {arguments.thread.name}: {arguments.exc_type.__name__}: {arguments.exc_value}\n")


def end(*_):
    """motorway has no graceful end: its processes are simply ended."""
    line("event", "-", "stopped", "")
    os._exit(0)


def main():
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("motorway").setLevel(logging.DEBUG)
    threading.excepthook = crashed
    signal.signal(signal.SIGTERM, end)
    ramp = Ramp()
    line("event", "-", "started", f"{os.getpid()} {ramp.worker_id}")
    while True:
        for message in ramp.next():
            line("record", ramp.shard_of(message.ramp_unique_id), message.ramp_unique_id, "0")
            json.dumps(message.content)
            ramp.success(message.ramp_unique_id)


if __name__ == "__main__":
    main()
