"""aiobotocore in bench/peers: one task for each shard."""

import asyncio

from aiobotocore.session import get_session
from tally import ENDPOINT, LIMIT, POLL_S, STREAM, Tally


async def read_shard(kinesis, shard, tally):
    answer = await kinesis.get_shard_iterator(StreamName=STREAM, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
    place = answer["ShardIterator"]
    while place:
        page = await kinesis.get_records(ShardIterator=place, Limit=LIMIT)
        place = page.get("NextShardIterator")
        tally.take([record["Data"] for record in page["Records"]])
        if not page["Records"]:
            await asyncio.sleep(POLL_S)


async def main():
    tally = Tally()
    async with get_session().create_client("kinesis", endpoint_url=ENDPOINT) as kinesis:
        shards = [shard["ShardId"] for shard in (await kinesis.list_shards(StreamName=STREAM))["Shards"]]
        await asyncio.gather(*[read_shard(kinesis, shard, tally) for shard in shards])


asyncio.run(main())
