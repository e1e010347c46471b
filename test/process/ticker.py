"""A clock in every shard: one record a tick in each, put straight into the sandbox, so cheaply that a test can have hundreds
a second."""

import base64
import http.client
import json
import threading
import time

import harness
from harness import expect


class Ticker:
    """Puts "NUMBER" into each of the shards every tick_s, on a thread, until stop()."""

    def __init__(self, box, stream, tick_s):
        self.box, self.stream, self.tick_s = box, stream, tick_s
        self.hashes = [shard["HashKeyRange"]["StartingHashKey"] for shard in harness.list_shards(box.client(), stream)]
        self.put = {}  # shard -> {place: data}
        self.when = {}  # (shard, place) -> the moment when it had been put
        self.waits = []  # (moment, seconds since the tick before): longer than tick_s is this machine's doing
        self.number = 0
        self.ended, self.error = threading.Event(), None
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def tick(self, connection):
        self.number += 1
        data = str(self.number).encode()
        body = {"StreamName": self.stream,
                "Records": [{"Data": base64.b64encode(data).decode(), "PartitionKey": "tick", "ExplicitHashKey": start}
                            for start in self.hashes]}
        connection.request("POST", "/", json.dumps(body), {"Content-Type": "application/x-amz-json-1.1",
                                                           "X-Amz-Target": "Kinesis_20131202.PutRecords"})
        answer = json.loads(connection.getresponse().read())
        expect(answer.get("FailedRecordCount") == 0, f"the sandbox refuses a tick: {str(answer)[:200]}")
        now = time.monotonic()
        for result in answer["Records"]:
            place = (int(result["SequenceNumber"]), 0)
            self.put.setdefault(result["ShardId"], {})[place] = data
            self.when[result["ShardId"], place] = now

    def work(self):
        connection = http.client.HTTPConnection(self.box.address, timeout=20)
        try:
            last = due = time.monotonic()
            while not self.ended.is_set():
                now = time.monotonic()
                if now < due:
                    time.sleep(due - now)
                    continue
                self.tick(connection)
                ended = time.monotonic()
                self.waits.append((ended, ended - last))
                last = ended
                due = max(due + self.tick_s, now - 0.5)
        except Exception as error:  # handed to stop()
            self.error = error
        finally:
            connection.close()

    def longest(self):
        """Seconds between two ticks."""
        return max((wait for _, wait in self.waits), default=0.0)

    def lost_since(self, moment):
        """Seconds by which ticks were late since then, altogether."""
        return sum(max(0.0, wait - self.tick_s) for at, wait in self.waits if at > moment)

    def stop(self):
        """The records that were put: {shard: {place: data}}."""
        self.ended.set()
        self.thread.join(30)
        if self.error:
            raise self.error
        return self.put


def longest_gaps(lines, ticker, since=0.0, until=float("inf")):
    """{shard: (the longest time between two of its lines, the line before, the line after)}, of lines that came between these
    moments. Where the clock itself stood still, from its next tick on."""
    last, longest = {}, {}
    for line in sorted(lines, key=lambda line: line.late):
        if since <= line.late <= until:
            before = last.get(line.shard, line)
            gap = line.late - max(before.late, ticker.when[line.shard, line.place])
            longest[line.shard] = max((gap, before, line), longest.get(line.shard, (0.0, line, line)), key=lambda x: x[0])
            last[line.shard] = line
    return longest
