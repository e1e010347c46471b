'use strict';
// The package on servers of others, kinesis-mock and kinesalite, through a split and a merge.
const assert = require('node:assert');
const { spawn } = require('node:child_process');
const path = require('node:path');
const { test } = require('./harness.js');
const { Box, sloop, until, within } = require('./world.js');

const COUNT = 4000;

/** A server of serve.py, which is called as a sandbox is. */
class Other extends Box {
  async open(kind) {
    this.process = spawn('python3', [path.join(__dirname, 'serve.py'), kind], { stdio: ['pipe', 'pipe', 'inherit'] });
    let text = '';
    this.process.stdout.on('data', (piece) => { text += piece; });
    this.exited = new Promise((resolve) => this.process.once('exit', resolve));
    await until(() => text.includes('\n'), `the start of ${kind}`, 180000);
    [this.url] = text.split('\n');
    return this.url.startsWith('http') ? null : this.url;
  }

  describe() {
    return this.call('DescribeStreamSummary', { StreamName: 'orders' });
  }
}

for (const kind of ['KinesisMock', 'Kinesalite']) {
  test(`${COUNT} records through a split and a merge on ${kind}`, async (t) => {
    const server = new Other();
    const missing = await server.open(kind);
    if (missing) {
      await server.exited;
      t.skip(missing);
      return;
    }
    t.after(() => server.close());
    const active = () => until(async () => (await server.describe()).StreamDescriptionSummary.StreamStatus === 'ACTIVE', 'an active stream');
    await server.call('CreateStream', { StreamName: 'orders', ShardCount: 2 });
    await active();
    const put = {};
    const openShards = async () => (await server.call('ListShards', { StreamName: 'orders' })).Shards
      .filter((one) => one.SequenceNumberRange.EndingSequenceNumber === undefined || one.SequenceNumberRange.EndingSequenceNumber === null)
      .sort((a, b) => (BigInt(a.HashKeyRange.StartingHashKey) < BigInt(b.HashKeyRange.StartingHashKey) ? -1 : 1));
    const putAll = async (first, last) => {
      for (let at = first; at < last; at += 200) {
        let records = Array.from({ length: 200 }, (_, i) => ({ Data: Buffer.from(`record ${at + i}`).toString('base64'), PartitionKey: String(at + i) }));
        while (records.length > 0) {
          const answer = await server.call('PutRecords', { StreamName: 'orders', Records: records });
          const again = [];
          answer.Records.forEach((one, i) => {
            if (one.SequenceNumber) (put[one.ShardId] ??= []).push([BigInt(one.SequenceNumber), Buffer.from(records[i].Data, 'base64').toString()]);
            else again.push(records[i]);
          });
          records = again;
        }
      }
    };
    const write = async () => {
      for (let part = 0; part < 4; part++) {
        await putAll((part * COUNT) / 4, ((part + 1) * COUNT) / 4);
        const [first, second] = await openShards();
        if (part === 0) {
          const middle = (BigInt(first.HashKeyRange.StartingHashKey) + BigInt(first.HashKeyRange.EndingHashKey)) / 2n;
          await server.call('SplitShard', { StreamName: 'orders', ShardToSplit: first.ShardId, NewStartingHashKey: String(middle) });
        } else if (part === 1) {
          await server.call('MergeShards', { StreamName: 'orders', ShardToMerge: first.ShardId, AdjacentShardToMerge: second.ShardId });
        }
        await active();
      }
    };
    const consumer = new sloop.Consumer('orders', {
      start: 'oldest', endpoint: server.url, region: 'us-east-1', pollMs: 200, listMs: 1000,
      credentials: { accessKeyId: 'k', secretAccessKey: 's' },
    });
    const got = {};
    const read = async () => {
      let count = 0;
      for await (const batch of consumer) {
        for (const record of batch) (got[record.shard] ??= []).push([BigInt(record.sequence), record.data.toString()]);
        count += batch.length;
        batch.done();
        if (count >= COUNT) return;
      }
    };
    try {
      await within(Promise.all([write(), read()]), 'writing and reading', 180000);
    } finally {
      await consumer.close();
    }
    for (const records of Object.values(put)) records.sort((a, b) => (a[0] < b[0] ? -1 : 1));
    assert.deepStrictEqual(got, put);
    assert.ok(Object.keys(got).length >= 5);
  });
}
