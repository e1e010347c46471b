// Takes records of a stream apart by the published package for node: lines as those of deagggo/main.go.
const agg = require('aws-kinesis-agg')
const lines = require('readline').createInterface({ input: process.stdin })

lines.on('line', (line) => {
  const { key, data } = JSON.parse(line)
  const record = { data, partitionKey: key, sequenceNumber: '1', kinesisSchemaVersion: '1.0', approximateArrivalTimestamp: 0 }
  agg.deaggregateSync(record, true, (error, found) => {
    if (error) throw error
    console.log(JSON.stringify(found.map((r) => [r.partitionKey, Buffer.from(r.data, 'base64').toString('base64')])))
  })
})
