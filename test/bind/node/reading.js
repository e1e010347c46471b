'use strict';
// Reading by the package sloop: records once and in order, every way to acknowledge, redelivery, tokens, back-pressure.
const assert = require('node:assert');
const { execFile } = require('node:child_process');
const { test } = require('./harness.js');
const { promisify } = require('node:util');
const { BIN, cleanEnvironment, readAll, sandbox, sloop, textsOf, until, within } = require('./world.js');

const box = sandbox();

/** Runs body(consumer) and stops the consumer, whatever happens. */
async function using(name, options, body) {
  const consumer = new sloop.Consumer(name, { start: 'oldest', ...options });
  try {
    return await within(body(consumer), 'a test with a consumer');
  } finally {
    await consumer.close();
  }
}

test('a batch is read and acknowledged', async () => {
  const name = await box.stream();
  const put = await box.put(500, name);
  const got = [];
  await using(name, { untilTip: true }, async (consumer) => {
    assert.strictEqual(consumer.state, 'open');
    for await (const batch of consumer) {
      assert.strictEqual(batch.length, [...batch].length);
      assert.ok(!batch.isDone);
      for (const record of batch) {
        assert.strictEqual(record.stream, name);
        assert.strictEqual(record.attempt, 1);
        got.push({ shard: record.shard, text: record.data.toString() });
      }
      batch.done();
      assert.ok(batch.isDone);
    }
    assert.strictEqual(consumer.stats().records, 500);
    await consumer.stop();
    assert.strictEqual(consumer.state, 'closed');
  });
  assert.deepStrictEqual(textsOf(got), textsOf(put));
});

test('a record has its members', async () => {
  const name = await box.stream(1);
  const begun = Date.now();
  const [put] = await box.put(1, name);
  const kept = [];
  for await (const record of sloop.read(name, { untilTip: true })) kept.push(record);
  const [record] = kept;
  assert.strictEqual(kept.length, 1);
  assert.ok(record instanceof sloop.Record);
  assert.strictEqual(record.sequence, put.sequence);
  assert.strictEqual(record.key, 'key-record 0 ');
  assert.strictEqual(record.shard, put.shard);
  assert.deepStrictEqual([record.subSequence, record.epoch, record.event, record.change, record.eventId], [0, 0, null, null, null]);
  assert.deepStrictEqual([record.userJson, record.wholeJson], [null, null]);
  assert.deepStrictEqual([record.late, record.raw, record.redelivered, record.foreign, record.owned], [false, false, false, false, false]);
  assert.ok(Buffer.isBuffer(record.data));
  assert.strictEqual(record.data.toString(), 'record 0 ');
  assert.strictEqual(record.arrivedAt.getTime(), record.arrivedAtMs);
  assert.ok(Math.abs(record.arrivedAtMs - begun) < 60000, String(record.arrivedAt));
  assert.throws(() => record.ack(), sloop.StateError);
  assert.match(require('util').inspect(record), /Record \{.*shard: 'shardId/s);
});

test('40000 records through splits and merges, once and in order', async () => {
  const name = await box.stream(4);
  const put = [];
  async function write() {
    for (let i = 0; i < 40; i++) {
      put.push(...await box.put(1000, name, { start: 1000 * i }));
      if (i % 8 !== 7) continue;
      const { Shards } = await box.call('ListShards', { StreamName: name });
      const open = Shards.filter((one) => one.SequenceNumberRange.EndingSequenceNumber === undefined)
        .sort((a, b) => (BigInt(a.HashKeyRange.StartingHashKey) < BigInt(b.HashKeyRange.StartingHashKey) ? -1 : 1));
      await box.admin(i % 16 === 7 ? `/_sandbox/split?stream=${name}&shard=${open[0].ShardId}`
        : `/_sandbox/merge?stream=${name}&shard=${open[0].ShardId}&adjacent=${open[1].ShardId}`);
    }
  }
  const got = {}, want = {}, ended = [];
  await using(name, { pollMs: 200, listMs: 1000 }, async (consumer) => {
    consumer.on('shard', (event) => event.kind === 'ended' && ended.push(event.shard));
    const writing = write();
    let count = 0;
    for await (const batch of consumer) {
      for (const record of batch) (got[record.shard] ??= []).push(`${record.sequence} ${record.data}`);
      count += batch.length;
      batch.done();
      if (count >= 40000) break;
    }
    await writing;
    await until(() => ended.length === 7, 'the ends of the parents of three splits and two merges');
  });
  for (const { shard, sequence, text } of put) (want[shard] ??= []).push(`${sequence} ${text}`);
  assert.deepStrictEqual(got, want);
  assert.ok(Object.keys(got).length > 6);
  assert.strictEqual(new Set(ended).size, 7);
});

test('records that are kept outlive their batch', async () => {
  const name = await box.stream();
  const put = await box.put(3000, name);
  const kept = [];
  for await (const record of sloop.read(name, { untilTip: true, batchRecordsMax: 100 })) kept.push(record);
  assert.deepStrictEqual(textsOf(kept.map((one) => ({ shard: one.shard, text: one.data.toString() }))), textsOf(put));
});

test('every way to acknowledge', async () => {
  const name = await box.stream(1);
  await box.put(40, name);
  const attempts = new Map();
  await using(name, { batchRecordsMax: 10 }, async (consumer) => {
    for await (const batch of consumer) {
      for (const record of batch) {
        const text = record.data.toString();
        attempts.set(text, record.attempt);
        assert.strictEqual(record.redelivered, record.attempt > 1);
        assert.ok(record.owned);
        if (record.attempt > 1 || Number(text.split(' ')[1]) % 2) record.ack();
      }
      batch.done(0);
      if (attempts.size === 40 && consumer.stats().redelivered >= 20) break;
    }
  });
  assert.deepStrictEqual([...attempts.values()].sort(), [...Array(20).fill(1), ...Array(20).fill(2)]);

  const firsts = [];
  await using(name, { batchRecordsMax: 10 }, async (consumer) => {
    for await (const batch of consumer) {
      firsts.push(batch.length, batch.at(0).attempt, batch.at(0).data.toString(), batch.at(-1).data.toString());
      batch.done(3);
      if (firsts.length >= 4 && batch.at(0).attempt > 1) break;
    }
  });
  assert.deepStrictEqual(firsts.slice(0, 4), [8, 1, 'record 0 ', 'record 7 ']);
  assert.ok(firsts.includes('record 3 '), String(firsts));

  let count = 0;
  await using(name, { batchRecordsMax: 7, autoAck: true, untilTip: true }, async (consumer) => {
    for await (const batch of consumer) count += batch.length;
    assert.strictEqual(consumer.stats().redelivered, 0);
  });
  assert.strictEqual(count, 40);
});

test('what a loop that throws had in hand comes again', async () => {
  const name = await box.stream(1);
  await box.put(8, name);
  await using(name, {}, async (consumer) => {
    let held;
    await assert.rejects(async () => {
      for await (const batch of consumer) {
        held = batch;
        throw new RangeError('once');
      }
    }, RangeError);
    assert.ok(held.isDone);
    assert.throws(() => held.done(), sloop.StateError);
    for await (const batch of consumer) {
      assert.ok([...batch].every((record) => record.redelivered && record.attempt === 2));
      batch.done();
      break;
    }
    assert.strictEqual(consumer.stats().redelivered, 8);
  });
});

test('a batch that is dropped and collected comes again', { skip: !global.gc && 'needs --expose-gc' }, async () => {
  const name = await box.stream(1);
  await box.put(5, name);
  await using(name, {}, async (consumer) => {
    await (async () => {
      const { value } = await consumer.next();
      assert.strictEqual(value.length, 5);
    })();
    const again = consumer.next(); // which forgets the batch before
    const { value } = await until(() => {
      global.gc();
      return Promise.race([again, new Promise((resolve) => setTimeout(resolve, 20))]);
    }, 'the batch');
    assert.strictEqual(value.at(0).attempt, 2);
    value.done();
  });
});

test('batches that are held hold the consumer back', async () => {
  const name = await box.stream(2);
  const put = await box.put(4000, name, { size: 1000 });
  await using(name, { batchesOutMax: 3, batchRecordsMax: 50, bufferedBytesMax: 500000 }, async (consumer) => {
    const held = [];
    while (held.length < 3) held.push((await consumer.next()).value);
    let more = null;
    const fourth = consumer.next().then(({ value }) => { more = value; });
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.strictEqual(more, null);
    const peak = consumer.stats().bufferedBytesPeak;
    assert.ok(peak < 500000 + 2 * 1024 * 1024, String(peak));
    let count = held.reduce((sum, batch) => sum + batch.length, 0);
    held.forEach((batch) => batch.done());
    await fourth;
    count += more.length;
    more.done();
    for await (const batch of consumer) {
      count += batch.length;
      batch.done();
      if (count >= put.length) break;
    }
    assert.strictEqual(count, put.length);
    assert.strictEqual(consumer.stats().redelivered, 0);
  });
});

test('many batches at once, by calls of next() beside each other', async () => {
  const name = await box.stream(2);
  const put = await box.put(2000, name);
  const got = [];
  await using(name, { batchesOutMax: 8, batchRecordsMax: 50, untilTip: true }, async (consumer) => {
    async function work() {
      for (;;) {
        const { value, done } = await consumer.next();
        if (done) return;
        for (const record of value) got.push({ shard: record.shard, text: record.data.toString() });
        await new Promise((resolve) => setTimeout(resolve, 2));
        value.done();
      }
    }
    await Promise.all([work(), work(), work()]);
  });
  assert.deepStrictEqual(textsOf(got), textsOf(put));
});

test('a token leads on, here and in stream-tail, and its token here', async () => {
  const name = await box.stream(2);
  const put = await box.put(300, name);
  const first = [];
  let token;
  await using(name, { batchRecordsMax: 50 }, async (consumer) => {
    for await (const batch of consumer) {
      for (const record of batch) first.push({ shard: record.shard, text: record.data.toString() });
      batch.done();
      token = consumer.token();
      if (first.length >= 100) break;
    }
  });
  assert.ok(first.length < 300);
  const rest = await readAll(name, { start: { token } });
  assert.deepStrictEqual(textsOf([...first, ...rest]), textsOf(put));

  const fs = require('fs');
  const place = `${require('./world.js').folder()}/place`;
  fs.writeFileSync(place, token);
  const tail = (...args) => promisify(execFile)(BIN, args, { env: cleanEnvironment(box.env), timeout: 30000 });
  const { stdout } = await tail('-q', '-e', '--save', place, '-f', '%p %s\\n', name);
  const lines = stdout.trimEnd().split('\n').map((line) => ({ shard: line.slice(0, 20), text: `${line.slice(21).trimEnd()} ` }));
  assert.deepStrictEqual(textsOf([...first, ...lines]), textsOf(put));
  const more = await box.put(20, name, { start: 300 });
  const last = await readAll(name, { start: { token: fs.readFileSync(place, 'utf8') } });
  assert.deepStrictEqual(textsOf(last), textsOf(more));
  await assert.rejects(readAll(await box.stream(), { start: { token } }), sloop.TokenError);
});

test('positions: a time, a record, the latest; seek and pause', async () => {
  const name = await box.stream(1);
  const put = await box.put(20, name);
  const from = await readAll(name, { start: { shard: put[12].shard, sequence: put[12].sequence } });
  assert.deepStrictEqual(from.map((one) => one.text), put.slice(12).map((one) => one.text));
  assert.strictEqual((await readAll(name, { start: new Date(Date.now() - 3600000) })).length, 20);
  assert.strictEqual((await readAll(name, { start: 'latest' })).length, 0);
  await using(name, { pollMs: 50 }, async (consumer) => {
    let count = 0;
    const read = async (n) => {
      count = 0;
      while (count < n) {
        const { value } = await consumer.next();
        count += value.length;
        value.done();
      }
    };
    await read(20);
    await consumer.seek('oldest');
    await read(20);
    await consumer.seek({ shard: put[15].shard, sequence: put[15].sequence });
    await read(5);
    assert.strictEqual(count, 5);
    consumer.pause();
    await box.put(3, name, { start: 20 });
    let got = false;
    const next = consumer.next().then(({ value }) => {
      got = true;
      value.done();
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.ok(!got);
    consumer.resume();
    await next;
    assert.deepStrictEqual((await consumer.shards()).map((one) => [one.id, one.closed]), [[put[0].shard, false]]);
  });
});

test('joined consumers share an order and a loop', async () => {
  const names = [await box.stream(), await box.stream()];
  const put = [await box.put(200, names[0]), await box.put(200, names[1])];
  const a = new sloop.Consumer(names[0], { start: 'oldest', untilTip: true });
  const b = new sloop.Consumer(names[1], { start: 'oldest', untilTip: true, join: a });
  const read = async (consumer) => {
    const got = [];
    for await (const batch of consumer) {
      for (const record of batch) got.push({ shard: record.shard, text: record.data.toString() });
      batch.done();
    }
    return got;
  };
  const got = await within(Promise.all([read(a), read(b)]), 'joined consumers');
  await Promise.all([a.stop(), b.stop()]);
  got.forEach((one, i) => assert.deepStrictEqual(textsOf(one), textsOf(put[i])));
});

test('statistics and events come', async () => {
  const name = await box.stream(2);
  await box.put(100, name);
  await using(name, { statsMs: 50, logLevel: 'debug', pollMs: 50 }, async (consumer) => {
    const seen = { state: [], shard: [], stats: 0, log: 0, tip: 0 };
    consumer.on('state', (state) => seen.state.push(state));
    consumer.on('shard', (event) => seen.shard.push(event.kind));
    consumer.on('stats', (stats) => { seen.stats = stats.records; });
    consumer.on('log', ({ level, line }) => { seen.log += level.length > 0 && line.length > 0; });
    consumer.on('tip', () => { seen.tip += 1; });
    const { value } = await consumer.next();
    value.done();
    (async () => {
      for await (const batch of consumer) batch.done();
    })();
    await until(() => seen.stats === 100 && seen.log > 0 && seen.tip > 0, 'the events');
    assert.strictEqual(typeof consumer.stats().behindMsNow, 'number');
    assert.strictEqual(consumer.stats().heartbeatAgeMsNow, null);
    await consumer.stop();
    assert.deepStrictEqual(seen.shard, ['opened', 'opened']);
    assert.deepStrictEqual(seen.state, ['reading', 'stopping', 'closed']);
  });
});

test('a poisonous record goes to deadLetter', async () => {
  const name = await box.stream(1);
  const put = await box.put(6, name);
  await using(name, { onRetry: 'skip', retryMax: 2, untilTip: true }, async (consumer) => {
    const dead = [];
    consumer.on('deadLetter', (record) => dead.push(record));
    for await (const batch of consumer) {
      const bad = [...batch].findIndex((record) => record.data.toString() === 'record 2 ');
      batch.done(bad < 0 ? batch.length : bad);
    }
    assert.deepStrictEqual(dead.map((one) => [one.sequence, one.data.toString()]), [[put[2].sequence, 'record 2 ']]);
    assert.throws(() => dead[0].ack(), sloop.StateError);
  });
});
