'use strict';
// Leases from node: workers that share an application with workers of the command, and an operator's requests.
const assert = require('node:assert');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('./harness.js');
const { BIN, cleanEnvironment, folder, run, sandbox, sloop, until, within } = require('./world.js');

const box = sandbox();
const FAST = { leaseMs: 2000, checkpointMs: 200, pollMs: 200, listMs: 1000 };
const SECONDS = Number(process.env.SLOOP_TEST_SECONDS ?? 20);
const WORKER = `
import fs from 'node:fs';
import { Consumer } from 'sloop';
const [stream, app, options] = process.argv.slice(2);
const consumer = new Consumer(stream, { app, start: 'oldest', ...JSON.parse(options) });
process.once('SIGTERM', () => consumer.end());
for await (const batch of consumer) {
  let text = '';
  for (const r of batch) text += JSON.stringify([r.shard, r.sequence, r.data.toString(), r.epoch]) + '\\n';
  fs.writeSync(1, text);
  batch.done();
}
await consumer.stop();
`;

/** A worker in a process of its own, of the command or of node; its records go to a file. */
class Worker {
  constructor(kind, where, stream, app) {
    Worker.n = (Worker.n ?? 0) + 1;
    this.kind = kind;
    this.path = path.join(where, `${kind}-${Worker.n}`);
    const out = fs.openSync(this.path, 'w'), errors = fs.openSync(`${this.path}.errors`, 'w');
    let command;
    if (kind === 'node') {
      const file = path.join(where, 'worker.mjs');
      fs.writeFileSync(file, WORKER);
      command = [process.execPath, file, stream, app, JSON.stringify(FAST)];
    } else {
      const settings = Object.entries(FAST).flatMap(([name, value]) => ['-X', `${name.replace('Ms', '_ms')}=${value}`]);
      command = [BIN, '-q', '-G', app, '-o', 'oldest', ...settings, '-f', '["%p","%o","%s",%e]\\n', stream];
    }
    this.process = spawn(command[0], command.slice(1), { stdio: ['ignore', out, errors], cwd: where, env: cleanEnvironment(box.env) });
    this.ended = new Promise((resolve) => this.process.once('exit', (code, signal) => resolve(signal ?? code)));
    fs.closeSync(out);
    fs.closeSync(errors);
  }

  /** What it has told, whole lines only. */
  records() {
    return fs.readFileSync(this.path, 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line));
  }

  errors() {
    return fs.readFileSync(`${this.path}.errors`, 'utf8');
  }

  end(signal) {
    this.process.kill(signal);
    return within(this.ended, `the end of ${this.path}`, 30000);
  }
}

/** Numbers of a fixed sequence, so that a run can be repeated. */
function sequenceOf(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x80000000;
  };
}

test('a mixed fleet of node and C with kills loses nothing', async (t) => {
  const stream = await box.stream(8), where = folder(), random = sequenceOf(7);
  const alive = ['node', 'c', 'node', 'c'].map((kind) => new Worker(kind, where, stream, 'mixed'));
  const gone = [], put = [];
  let kills = 0, seen = [];
  const keyOf = ([shard, sequence]) => `${shard} ${sequence}`;
  try {
    const end = Date.now() + SECONDS * 1000;
    while (Date.now() < end) {
      put.push(...await box.put(200, stream, { start: put.length }));
      await new Promise((resolve) => setTimeout(resolve, 300));
      if (random() >= 0.14) continue;
      const [worker] = alive.splice(Math.floor(random() * alive.length), 1);
      const signal = random() < 0.5 ? 'SIGKILL' : 'SIGTERM';
      const code = await worker.end(signal);
      kills += signal === 'SIGKILL';
      if (signal === 'SIGTERM' && worker.kind === 'node') assert.strictEqual(code, 0, worker.errors());
      gone.push(worker);
      alive.push(new Worker(random() < 0.5 ? 'node' : 'c', where, stream, 'mixed'));
    }
    const want = new Set(put.map((one) => keyOf([one.shard, one.sequence])));
    await until(() => {
      seen = [...gone, ...alive].flatMap((worker) => worker.records().map(keyOf));
      const got = new Set(seen);
      return [...want].every((key) => got.has(key));
    }, 'every record');
  } finally {
    for (const worker of alive) worker.process.kill('SIGKILL');
  }
  const texts = new Map(put.map((one) => [keyOf([one.shard, one.sequence]), one.text]));
  const by = { node: 0, c: 0 };
  for (const worker of [...gone, ...alive]) {
    const last = {};
    for (const [shard, sequence, text, epoch] of worker.records()) {
      assert.strictEqual(texts.get(keyOf([shard, sequence])), text);
      // In one worker a shard goes on in its order, unless the lease came again, in a greater epoch.
      if (last[shard]?.epoch === epoch) assert.ok(BigInt(sequence) > last[shard].sequence, `${worker.path}: ${shard} ${sequence}`);
      last[shard] = { epoch, sequence: BigInt(sequence) };
      by[worker.kind] += 1;
    }
  }
  t.note(`${put.length} records, ${kills} kills, ${gone.length - kills} stops, lost 0, ` +
    `${seen.length - new Set(seen).size} repeats, read by ${JSON.stringify(by)}`);
  assert.ok(by.node > 0 && by.c > 0 && gone.length > 0);
});

test('an orderly stop repeats nothing; after process.exit() the lease runs out', async (t) => {
  const stream = await box.stream(1);
  await box.put(60, stream);
  const text = (end) => `
    import { Consumer } from 'sloop';
    const c = new Consumer(process.argv[2], { app: 'stops', start: 'oldest', leaseMs: 2000, checkpointMs: 60000, batchRecordsMax: 20 });
    let n = 0;
    for await (const batch of c) {
      for (const r of batch) console.log(r.data.toString());
      batch.done();
      n += batch.length;
      if (n >= 20) break;
    }
    ${end}
  `;
  const read = async (end) => (await run(box, text(end), { args: [stream] })).out.trim().split('\n').map((line) => Number(line.split(' ')[1]));
  const first = await read('await c.stop();');
  const second = await read('process.exit(0);');
  assert.deepStrictEqual([...first, ...second], [...Array(first.length + second.length).keys()]);
  const begun = Date.now();
  const third = await read('await c.stop();');
  t.note(`after process.exit() with a lease of 2 s, the next worker had its first record and ended after ${Date.now() - begun} ms`);
  assert.strictEqual(third[0], second[0]); // process.exit() wrote no position
});

test('an operator sees and changes leases', async () => {
  const stream = await box.stream(2);
  await box.put(100, stream);
  const events = [];
  const consumer = new sloop.Consumer(stream, { app: 'seen', worker: 'me', start: 'oldest', ...FAST });
  consumer.on('lease', (event) => events.push(event.kind));
  let count = 0;
  for await (const batch of consumer) {
    for (const record of batch) assert.ok(record.epoch > 0 && record.owned);
    count += batch.length;
    batch.done();
    if (count === 100) break;
  }
  await consumer.checkpoint();
  assert.match(consumer.worker, /^me\./);
  assert.throws(() => consumer.token(), sloop.StateError);
  const admin = new sloop.Admin(stream, { app: 'seen' });
  const all = await until(async () => {
    const found = await admin.leases();
    return found.workers.every((one) => one.held === 2) && found; // which a heartbeat tells
  }, 'leases');
  assert.deepStrictEqual(all.workers.map((one) => [one.worker.split('.')[0], one.held, one.dead]), [['me', 2, false]]);
  assert.deepStrictEqual(all.leases.map((one) => [one.state, one.position.kind, one.owner]),
    Array(2).fill(['owned', 'after', consumer.worker]));
  const why = await within(admin.explain(all.leases[0].shard), 'an explanation');
  assert.deepStrictEqual([why.why, why.shard.shard, why.owner.worker], ['read', all.leases[0].shard, consumer.worker]);
  const part = consumer.admin();
  assert.deepStrictEqual((await within(part.leases(), 'leases')).leases.map((one) => one.shard), all.leases.map((one) => one.shard));
  await assert.rejects(admin.explain('nosuch'), sloop.NoShard);
  await assert.rejects(admin.release('nosuch'), sloop.SloopError);
  await assert.rejects(Promise.all([admin.leases(), admin.leases()]), sloop.StateError); // one at a time
  await until(async () => admin.leases().then(() => true, () => false), 'the end of the other request');
  await assert.rejects(admin.reset('oldest'), sloop.LeaseOwned);
  await consumer.stop();
  assert.ok(['joined', 'taken', 'released', 'left'].every((kind) => events.includes(kind)), String(events));
  await assert.rejects(part.leases(), sloop.StateError);
  const result = await within(admin.reset('oldest'), 'a reset');
  assert.deepStrictEqual(result.changes.map((one) => [one.kind, one.to.kind]), Array(2).fill(['done', 'oldest']));
  const drained = await within(admin.drain(), 'a drain');
  assert.deepStrictEqual([drained.on, drained.wasSo], [true, false]);
  assert.strictEqual((await within(admin.drain(false), 'a drain')).on, false);
  const paused = await within(admin.pause(all.leases[0].shard), 'a pause');
  assert.strictEqual(paused.changes[0].shard, all.leases[0].shard);
  await within(admin.lag(5000), 'the lag');
  await admin.close();
  await admin.close();
  await assert.rejects(admin.leases(), sloop.StateError);
  assert.throws(() => new sloop.Admin(stream, { app: 'a b' }), sloop.OptionError);
});

test('positions that are named by the program', async () => {
  const stream = await box.stream(1);
  const put = await box.put(30, stream);
  const options = { app: 'asked', start: 'oldest', checkpoints: 'asked', ...FAST };
  const consumer = new sloop.Consumer(stream, options);
  const { value: batch } = await within(consumer.next(), 'a batch');
  const records = [...batch];
  batch.done();
  await within(consumer.checkpointAt(records[4].shard, records[4]), 'a checkpoint');
  await assert.rejects(consumer.checkpointAt(records[4].shard, { sequence: '9'.repeat(56) }), sloop.OptionError);
  await consumer.stop();
  const next = new sloop.Consumer(stream, options);
  const { value: rest } = await within(next.next(), 'a batch');
  assert.strictEqual(rest.at(0).data.toString(), put[5].text);
  rest.done();
  next.seekCheckpoint(rest.at(0).shard);
  const { value: again } = await within(next.next(), 'a batch');
  assert.strictEqual(again.at(0).sequence, put[5].sequence);
  again.done(0);
  await next.close();
});
