// CPU of a table's change as values: record.change of the package beside JSON.parse() and unmarshall() of the AWS SDK, on the
// same text: values.mjs PACKAGE UNMARSHALL [ROUNDS]. PACKAGE is the folder of the package, UNMARSHALL that of
// @aws-sdk/util-dynamodb. An item of 12 attributes; medians of the rounds, in microseconds of CPU, and of their ratios.
import assert from 'node:assert'
import { createRequire } from 'node:module'
import path from 'node:path'

const require = createRequire(import.meta.url)
const { changeOf } = require(path.join(path.resolve(process.argv[2]), 'lib', 'change.js'))
const { unmarshall } = require(path.resolve(process.argv[3]))
const IMAGE = {
  id: { S: 'user-0000001234' }, name: { S: 'Somebody Whose Name Is Long' }, email: { S: 'somebody@example.com' },
  balance: { N: '1234.56' }, visits: { N: '99' }, active: { BOOL: true }, none: { NULL: true }, tags: { SS: ['a', 'b', 'c'] },
  scores: { L: [{ N: '1' }, { N: '2.5' }, { N: '-3e5' }] },
  address: { M: { street: { S: 'Long Street 12' }, zip: { S: '12345' }, floor: { N: '3' } } },
  blob: { B: Buffer.alloc(100).toString('base64') }, at: { N: '1700000000000' }
}
const BYTES = Buffer.from(JSON.stringify({
  ApproximateCreationDateTime: 1.7e9, Keys: { id: IMAGE.id }, NewImage: IMAGE, SequenceNumber: '1', SizeBytes: 500, StreamViewType: 'NEW_IMAGE'
}))
const TIMES = 20000

function bySdk () {
  const change = JSON.parse(BYTES.toString())
  change.NewImage.blob.B = Buffer.from(change.NewImage.blob.B, 'base64')
  return { keys: unmarshall(change.Keys), newImage: unmarshall(change.NewImage) }
}
const bySloop = () => changeOf('INSERT', BYTES.toString())

function cost (call) {
  const begun = process.cpuUsage()
  for (let i = 0; i < TIMES; i++) call()
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / TIMES
}
const median = numbers => numbers.sort((a, b) => a - b)[numbers.length >> 1]

const { keys, newImage } = bySloop()
assert.deepStrictEqual({ keys, newImage }, bySdk())
cost(bySdk)
cost(bySloop)
const rounds = Array.from({ length: Number(process.argv[4] ?? 9) }, () => [cost(bySdk), cost(bySloop)])
const [sdk, sloop, ratio] = [rounds.map(r => r[0]), rounds.map(r => r[1]), rounds.map(r => r[0] / r[1])].map(median)
console.log(`unmarshall ${sdk.toFixed(1)} us, sloop ${sloop.toFixed(1)} us a change of ${BYTES.length} bytes, ratio ${ratio.toFixed(1)}`)
