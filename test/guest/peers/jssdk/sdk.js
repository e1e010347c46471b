// Puts PEER_RECORDS records into PEER_STREAM and reads them with KinesisClient as it is by default, which is HTTP/2 for every
// call; when half are put its first shard is split. A line a record on standard output: shard, sequence number, data.
'use strict'
const k = require('@aws-sdk/client-kinesis')

const stream = process.env.PEER_STREAM
const records = Number(process.env.PEER_RECORDS)
const batch = 250
const client = new k.KinesisClient({ endpoint: process.env.PEER_ENDPOINT, region: 'us-east-1' })

async function put (from, to) {
  const calls = []
  for (let at = from; at < to; at += batch) {
    const all = Array.from({ length: batch }, (_, i) => ({ PartitionKey: `k${at + i}`, Data: Buffer.from(`r${at + i}`) }))
    calls.push(client.send(new k.PutRecordsCommand({ StreamName: stream, Records: all })))
  }
  for (const answer of await Promise.all(calls)) if (answer.FailedRecordCount) throw new Error('a record was refused')
}

async function split () {
  const [first] = (await client.send(new k.ListShardsCommand({ StreamName: stream }))).Shards
  const middle = BigInt(first.HashKeyRange.EndingHashKey) / 2n
  await client.send(new k.SplitShardCommand({ StreamName: stream, ShardToSplit: first.ShardId, NewStartingHashKey: String(middle) }))
  const summary = async () => (await client.send(new k.DescribeStreamSummaryCommand({ StreamName: stream }))).StreamDescriptionSummary
  while ((await summary()).StreamStatus !== 'ACTIVE') await new Promise(resolve => setTimeout(resolve, 20))
}

// Every record of a shard, up to its end or to where it has none for now.
async function read (shard) {
  let n = 0
  let at = (await client.send(new k.GetShardIteratorCommand({
    StreamName: stream, ShardId: shard, ShardIteratorType: 'TRIM_HORIZON'
  }))).ShardIterator
  while (at) {
    const page = await client.send(new k.GetRecordsCommand({ ShardIterator: at }))
    for (const r of page.Records) console.log(`${shard}\t${r.SequenceNumber}\t${Buffer.from(r.Data)}`)
    n += page.Records.length
    at = page.Records.length || page.MillisBehindLatest ? page.NextShardIterator : undefined
  }
  return n
}

// A subscription beside the calls, until it has had n records.
async function subscribe (n) {
  const { StreamARN } = (await client.send(new k.DescribeStreamSummaryCommand({ StreamName: stream }))).StreamDescriptionSummary
  const { Consumer } = await client.send(new k.RegisterStreamConsumerCommand({ StreamARN, ConsumerName: 'js' }))
  const active = async () => (await client.send(new k.DescribeStreamConsumerCommand({ ConsumerARN: Consumer.ConsumerARN })))
    .ConsumerDescription.ConsumerStatus === 'ACTIVE'
  while (!await active()) await new Promise(resolve => setTimeout(resolve, 20))
  const shards = (await client.send(new k.ListShardsCommand({ StreamName: stream }))).Shards
  const one = async ShardId => {
    let seen = 0
    const { EventStream } = await client.send(new k.SubscribeToShardCommand({
      ConsumerARN: Consumer.ConsumerARN, ShardId, StartingPosition: { Type: 'TRIM_HORIZON' }
    }))
    for await (const event of EventStream) {
      seen += event.SubscribeToShardEvent.Records.length
      if (event.SubscribeToShardEvent.ChildShards?.length || event.SubscribeToShardEvent.MillisBehindLatest === 0) break
    }
    return seen
  }
  const pushed = (await Promise.all(shards.map(s => one(s.ShardId)))).reduce((a, b) => a + b)
  if (pushed !== n) throw new Error(`${pushed} records by subscriptions instead of ${n}`)
}

async function main () {
  let n = 0
  await put(0, records / 2)
  await split()
  await put(records / 2, records)
  for (const shard of (await client.send(new k.ListShardsCommand({ StreamName: stream }))).Shards) n += await read(shard.ShardId)
  await subscribe(n)
  console.error(`${n} records read; ${client.config.requestHandler.constructor.name}`)
  client.destroy()
}

// The connections of subscriptions that were left outlive destroy().
main().then(() => process.exit(0), e => { console.error(e); process.exit(1) })
