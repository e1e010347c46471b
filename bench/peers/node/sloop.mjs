// The package for Node in bench/peers: each payload as a Buffer. Variables and lines: README.md beside this folder.
import { readSync, writeSync } from 'node:fs'

const { Consumer } = await import(process.env.PEERS_PACKAGE)
const wanted = Number(process.env.PEERS_RECORDS ?? 0) // 0: without end
const warm = Number(process.env.PEERS_WARM ?? 0)
const tally = { count: 0, bytes: 0, sum: 0 }

function say (mark) {
  const { user, system } = process.cpuUsage()
  writeSync(1, `${mark} ${((user + system) / 1e6).toFixed(6)} ${tally.count} ${tally.bytes} ${tally.sum}\n`)
}

function take (batch) {
  const before = tally.count
  for (const { data } of batch) {
    tally.bytes += data.length
    tally.sum += data.readUInt32LE(0) + 1000000 * data.readUInt32LE(8)
  }
  tally.count += batch.length
  if (!before) say('first')
  if (before < warm && tally.count >= warm) say('warm')
}

const consumer = new Consumer(process.env.PEERS_STREAM, {
  start: 'oldest',
  endpoint: process.env.PEERS_ENDPOINT,
  app: process.env.PEERS_APP,
  fetchRecordsMax: Number(process.env.PEERS_LIMIT),
  pollMs: Number(process.env.PEERS_POLL_MS)
})
for await (const batch of consumer) {
  take(batch)
  batch.done()
  if (wanted && tally.count >= wanted) {
    say('done')
    while (readSync(0, Buffer.alloc(16)) > 0);
    process.exit(0)
  }
}
