// lifion-kinesis in bench/peers: its stream of pages, each shard from its oldest record, HTTP/1.1, its state in the server's
// DynamoDB. Payloads stay Buffers, and connections are kept. Variables and lines: README.md beside this folder.
import { readSync, writeSync } from 'node:fs'
import { Agent } from 'node:https'
import Kinesis from 'lifion-kinesis'

const wanted = Number(process.env.PEERS_RECORDS ?? 0) // 0: without end
const warm = Number(process.env.PEERS_WARM ?? 0)
const tally = { count: 0, bytes: 0, sum: 0 }

function say (mark) {
  const { user, system } = process.cpuUsage()
  writeSync(1, `${mark} ${((user + system) / 1e6).toFixed(6)} ${tally.count} ${tally.bytes} ${tally.sum}\n`)
}

function take (records) {
  const before = tally.count
  for (const { data } of records) {
    tally.bytes += data.length
    tally.sum += data.readUInt32LE(0) + 1000000 * data.readUInt32LE(8)
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

const aws = {
  endpoint: process.env.PEERS_ENDPOINT,
  region: process.env.AWS_REGION,
  httpOptions: { agent: new Agent({ keepAlive: true, maxSockets: 64 }) }
}
const kinesis = new Kinesis({
  ...aws,
  streamName: process.env.PEERS_STREAM,
  consumerGroup: process.env.PEERS_APP,
  dynamoDb: aws,
  initialPositionInStream: 'TRIM_HORIZON',
  limit: Number(process.env.PEERS_LIMIT),
  pollDelay: 0,
  noRecordsPollDelay: Number(process.env.PEERS_POLL_MS),
  shouldParseJson: false,
  logger: { error: console.error, warn: console.error }
})
kinesis.on('data', ({ records }) => take(records))
kinesis.on('error', error => console.error(error))
await kinesis.startConsumer()
