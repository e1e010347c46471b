// The AWS SDK for JavaScript v3 in bench/peers: a loop for each shard, HTTP/1.1. Variables and lines: README.md beside this
// folder.
import { readSync, writeSync } from 'node:fs'
import { Agent } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { GetRecordsCommand, GetShardIteratorCommand, KinesisClient, ListShardsCommand } from '@aws-sdk/client-kinesis'
import { NodeHttpHandler } from '@smithy/node-http-handler'

const stream = process.env.PEERS_STREAM
const wanted = Number(process.env.PEERS_RECORDS ?? 0) // 0: without end
const warm = Number(process.env.PEERS_WARM ?? 0)
const limit = Number(process.env.PEERS_LIMIT)
const pollMs = Number(process.env.PEERS_POLL_MS)
const tally = { count: 0, bytes: 0, sum: 0 }

function say (mark) {
  const { user, system } = process.cpuUsage()
  writeSync(1, `${mark} ${((user + system) / 1e6).toFixed(6)} ${tally.count} ${tally.bytes} ${tally.sum}\n`)
}

function take (records) {
  const before = tally.count
  for (const { Data: data } of records) {
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
    tally.bytes += data.length
    tally.sum += view.getUint32(0, true) + 1000000 * view.getUint32(8, true)
  }
  tally.count += records.length
  if (!before && records.length) say('first')
  if (before < warm && tally.count >= warm) say('warm')
  if (wanted && tally.count >= wanted) {
    say('done')
    while (readSync(0, Buffer.alloc(16)) > 0);
    process.exit(0)
  }
}

const client = new KinesisClient({
  endpoint: process.env.PEERS_ENDPOINT,
  requestHandler: new NodeHttpHandler({ httpsAgent: new Agent({ keepAlive: true, maxSockets: 64 }) })
})

async function read (id) {
  let { ShardIterator: place } = await client.send(new GetShardIteratorCommand(
    { StreamName: stream, ShardId: id, ShardIteratorType: 'TRIM_HORIZON' }))
  let due = performance.now()
  for (;;) {
    const page = await client.send(new GetRecordsCommand({ ShardIterator: place, Limit: limit }))
    place = page.NextShardIterator
    take(page.Records)
    if (page.Records.length) continue
    due = Math.max(due + pollMs, performance.now())
    await sleep(due - performance.now())
  }
}

const { Shards: shards } = await client.send(new ListShardsCommand({ StreamName: stream }))
await Promise.all(shards.map(shard => read(shard.ShardId)))
