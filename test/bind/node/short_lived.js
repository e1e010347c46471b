'use strict';
// Consumers that live shortly, one after the other, in one process: its memory must stay flat. SLOOP_TEST_SECONDS says how long;
// 3600 is the full form.
//
// Each round opens one in every way there is: with and without leases, for a table's changes, in a worker thread; left by break,
// by an exception, by an AbortSignal; an operator's; one whose options are wrong. What each reads is counted. Judged from five
// minutes on: resident and private memory and descriptors at the end and after the first twelfth.
const assert = require('node:assert');
const fs = require('node:fs');
const { Worker } = require('node:worker_threads');
const { test } = require('./harness.js');
const { PACKAGE, sandbox, sloop, within } = require('./world.js');

const box = sandbox(2);
const SECONDS = Number(process.env.SLOOP_TEST_SECONDS ?? 10), JUDGED_S = 300; // a shorter run has not seen all sizes yet
const FIXED = 100, CHANGES = 20;
// One worker by its name: each other one would leave a row for an hour, which those after it read (PROTOCOL.md).
const FAST = { worker: 'short', leaseMs: 10000, pollMs: 200, listMs: 1000 };
const GROWTH_BYTES = 3 << 20, GROWTH_PART = 0.05, MORE_DESCRIPTORS = 4;
const kept = [];
let opened = 0, round = 0;

function look() {
  const resident = Number(fs.readFileSync('/proc/self/statm', 'ascii').split(' ')[1]) * 4096;
  // Only dirty pages: clean ones of a file are private while nobody else has it open.
  const own = [...fs.readFileSync('/proc/self/smaps_rollup', 'ascii').matchAll(/^Private_Dirty: +(\d+) kB/gm)];
  return { at: Date.now(), resident, private: own.reduce((sum, [, kib]) => sum + Number(kib) * 1024, 0),
    heap: process.memoryUsage().heapUsed, descriptors: fs.readdirSync('/proc/self/fd').length };
}

function make(stream, options = {}) {
  opened += 1;
  return new sloop.Consumer(stream, { start: 'oldest', ...options });
}

async function readAll() {
  const consumer = make('fixed', { untilTip: true });
  let n = 0;
  for await (const batch of consumer) {
    n += batch.length;
    kept.push(batch.at(0)); // it keeps the bytes of its batch
    if (kept.length > 50) kept.shift();
    batch.done();
  }
  await consumer.stop();
  assert.strictEqual(n, FIXED);
}

async function leaveByBreak() {
  const consumer = make('fixed');
  for await (const batch of consumer) {
    batch.at(0).ack();
    break;
  }
  await consumer.stop();
}

async function leaveByException() {
  const consumer = make('fixed');
  await assert.rejects(async () => {
    for await (const batch of consumer) throw new RangeError(batch.at(0).sequence);
  }, RangeError);
  await consumer.close();
}

async function leaveBySignal() {
  const controller = new AbortController();
  const consumer = make('fixed', { signal: controller.signal, batchRecordsMax: 10 });
  await assert.rejects(async () => {
    for await (const batch of consumer) {
      batch.done();
      controller.abort();
    }
  }, { name: 'AbortError' });
  await consumer.close();
}

async function readLeased() {
  const put = await box.put(5, 'leased', { start: round * 5 });
  const got = [];
  const consumer = make('leased', { app: 'churn', ...FAST });
  consumer.on('lease', () => {});
  for await (const batch of consumer) {
    for (const record of batch) got.push(record.data.toString());
    batch.done();
    if (got.length >= put.length) break;
  }
  await consumer.stop();
  assert.deepStrictEqual(got.sort(), put.map((one) => one.text).sort());
  opened += 1;
  const admin = new sloop.Admin('leased', { app: 'churn' });
  assert.strictEqual((await admin.leases()).leases.length, 2);
  await admin.close();
}

async function readChanges() {
  const consumer = make('dynamodb:table', { untilTip: true });
  let n = 0;
  for await (const batch of consumer) {
    for (const { change } of batch) n += change.newImage.n === 1.5;
    batch.done();
  }
  await consumer.stop();
  assert.strictEqual(n, CHANGES);
}

async function wrong() {
  assert.throws(() => make('fixed', { pollMs: -1 }));
  const consumer = make('never');
  await assert.rejects(async () => {
    for await (const batch of consumer) batch.done();
  }, sloop.NoStream);
  await consumer.close();
}

async function inThread() {
  opened += 1;
  const worker = new Worker(`
    const sloop = require(${JSON.stringify(PACKAGE)});
    (async () => {
      let n = 0;
      for await (const record of sloop.read('fixed', { untilTip: true })) n += record.data.length > 0;
      require('node:worker_threads').parentPort.postMessage(n);
    })();
  `, { eval: true });
  const n = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  await worker.terminate();
  assert.strictEqual(n, FIXED);
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

/** A line about the looks, and what is wrong with them. */
function judged(looks) {
  const first = looks[0].at, span = looks.at(-1).at - first;
  const part = (begin, end) => {
    let found = looks.filter((one) => one.at >= first + begin * span && one.at <= first + end * span);
    if (found.length === 0) found = looks.slice(-1);
    return { resident: median(found.map((one) => one.resident)), private: median(found.map((one) => one.private)),
      heap: median(found.map((one) => one.heap)), descriptors: Math.max(...found.map((one) => one.descriptors)) };
  };
  const parts = [part(1 / 12, 2 / 12), part(5 / 12, 7 / 12), part(11 / 12, 1)];
  const mib = (name) => parts.map((one) => (one[name] / 2 ** 20).toFixed(1)).join(' / ');
  const said = `${opened} consumers in ${(span / 1000).toFixed(0)} s; at 1/12, the half, the end: resident ${mib('resident')} MiB, ` +
    `private ${mib('private')} MiB, heap ${mib('heap')} MiB, descriptors ${parts.map((one) => one.descriptors).join(' / ')}`;
  const bad = ['resident', 'private'].filter((name) => parts[2][name] > parts[0][name] * (1 + GROWTH_PART) + GROWTH_BYTES);
  if (parts[2].descriptors > parts[0].descriptors + MORE_DESCRIPTORS) bad.push('descriptors');
  return { said, bad };
}

test('the judge of memory can fail', () => {
  const made = (growing, step) => Array.from({ length: 121 }, (_, i) => {
    const one = { at: i * 1000, resident: 90 << 20, private: 60 << 20, heap: 9 << 20, descriptors: 30 };
    if (growing) one[growing] += i * step;
    return one;
  });
  assert.deepStrictEqual(judged(made()).bad, []);
  for (const [name, step] of [['resident', 90000], ['private', 90000], ['descriptors', 1]]) assert.deepStrictEqual(judged(made(name, step)).bad, [name]);
});

test('memory stays flat', async (t) => {
  for (const name of ['fixed', 'leased']) await box.admin(`/_sandbox/stream?name=${name}&shards=2`);
  await box.put(FIXED, 'fixed');
  await box.table('table');
  for (let i = 0; i < CHANGES; i++) {
    await box.dynamodb('PutItem', { TableName: 'table', Item: { id: { S: String(i) }, n: { N: '1.5' }, b: { B: 'AAEC' } } });
  }
  const looks = [], end = Date.now() + SECONDS * 1000;
  let told = 0;
  while (Date.now() < end || looks.length < 2) {
    const often = Array(5).fill([readAll, leaveByBreak, leaveByException, leaveBySignal]).flat();
    for (const way of [...often, readLeased, readChanges, wrong, inThread]) await within(way(), way.name, 120000);
    round += 1;
    if (round > 1) looks.push(look());
    if (Date.now() - told > 60000) {
      told = Date.now();
      console.error(JSON.stringify({ ...looks.at(-1), opened }));
    }
  }
  const { said, bad } = judged(looks);
  t.note(`${round} rounds, ${said}`);
  if (SECONDS >= JUDGED_S) assert.deepStrictEqual(bad, [], said);
});
