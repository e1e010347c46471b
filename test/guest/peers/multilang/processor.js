// A processor over aws-kcl as its users write them, for where the package's own sample is not: it checkpoints each list.
'use strict'
const kcl = require('aws-kcl')

kcl({
  initialize: (input, done) => done(),
  processRecords: (input, done) => {
    const last = input.records[input.records.length - 1]
    if (!last) return done()
    input.checkpointer.checkpoint(last.sequenceNumber, () => done())
  },
  leaseLost: (input, done) => done(),
  shardEnded: (input, done) => input.checkpointer.checkpoint(() => done()),
  shutdownRequested: (input, done) => input.checkpointer.checkpoint(() => done())
}).run()
