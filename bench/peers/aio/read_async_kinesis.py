"""async-kinesis in bench/peers. It asks a shard at most five times a second, and its iteration ends when nothing came for
idle_timeout: the loop begins another one then."""

import asyncio

from kinesis import Consumer
from kinesis.processors import StringProcessor
from tally import ENDPOINT, LIMIT, POLL_S, STREAM, Tally


class Bytes(StringProcessor):
    """Payloads as they are."""

    def deserialize(self, data):
        return data


async def main():
    tally = Tally()
    async with Consumer(STREAM, endpoint_url=ENDPOINT, processor=Bytes(), record_limit=LIMIT, shard_fetch_rate=5,
                        sleep_time_no_records=POLL_S) as consumer:
        while True:
            async for data in consumer:
                tally.take([data])


asyncio.run(main())
