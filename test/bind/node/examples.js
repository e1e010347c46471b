'use strict';
// The programs of the package's README.md, each run as it stands there.
const assert = require('node:assert');
const fs = require('node:fs');
const net = require('node:net');
const path = require('node:path');
const { Transform, Readable } = require('node:stream');
const { test } = require('./harness.js');
const { PACKAGE, folder, run, sandbox, sloop, start, until, within } = require('./world.js');

const box = sandbox();
const text = fs.readFileSync(path.join(PACKAGE, 'README.md'), 'utf8');
const PROGRAMS = Object.fromEntries([...text.matchAll(/```js\n\/\/ (\S+)\n([^]*?)```/g)].map((match) => [match[1], match[2]]));

/** A program that reads another stream than "orders". */
const program = (name, stream) => PROGRAMS[name].replace("'orders'", JSON.stringify(stream));

test('all programs of the README are run here', () => {
  assert.deepStrictEqual(Object.keys(PROGRAMS), ['script.mjs', 'worker.mjs', 'service.cjs', 'table.mjs', 'thread.mjs']);
});

test('script.mjs', async () => {
  const stream = await box.stream(1);
  const put = await box.put(3, stream);
  const { out } = await run(box, program('script.mjs', stream));
  const lines = out.trimEnd().split('\n');
  assert.strictEqual(lines.length, 3);
  lines.forEach((line, i) => assert.match(line, new RegExp(`^2\\d{3}-.*Z key-record ${i}  \\d+ ${put[i].text.trim()}`)));
});

test('worker.mjs: a SIGTERM repeats nothing', async () => {
  const stream = await box.stream(2);
  const seen = [];
  const put = [];
  for (let round = 0; round < 2; round++) {
    put.push(...await box.put(100, stream, { start: 100 * round }));
    const worker = start(box, program('worker.mjs', stream), { name: 'worker.mjs' });
    try {
      await until(() => worker.out.split('\n').length > 100, 'the records');
      worker.child.kill('SIGTERM');
      const { code, out, err } = await within(worker.ended, 'the end of the worker');
      assert.strictEqual(code, 0, err);
      seen.push(...out.trimEnd().split('\n').map((line) => line.split(' ').slice(0, 2).join(' ')));
    } finally {
      worker.child.kill('SIGKILL');
    }
  }
  assert.deepStrictEqual(seen.sort(), put.map((one) => `${one.shard} ${one.sequence}`).sort());
});

test('service.cjs', async () => {
  const stream = await box.stream(2);
  await box.put(50, stream);
  const port = await new Promise((resolve) => {
    const probe = net.createServer().listen(0, '127.0.0.1', () => {
      const found = probe.address().port;
      probe.close(() => resolve(found));
    });
  });
  const service = start(box, program('service.cjs', stream), { name: 'service.cjs', args: [String(port)] });
  try {
    await until(() => fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } }).then((answer) => answer.json())
      .then((shown) => shown.records === 50 && shown.keys === 50, () => false), 'all records in the service');
    service.child.kill('SIGTERM');
    assert.strictEqual((await within(service.ended, 'the end of the service')).code, 0, service.err);
  } finally {
    service.child.kill('SIGKILL');
  }
});

test('table.mjs goes on where it was', async () => {
  await box.table('customers');
  const where = folder();
  for (const id of ['a', 'b']) {
    await box.dynamodb('PutItem', { TableName: 'customers', Item: { id: { S: id }, n: { N: '1.5' } } });
    const { out } = await run(box, PROGRAMS['table.mjs'], { where });
    assert.strictEqual(out, `INSERT { id: '${id}' } { id: '${id}', n: 1.5 }\n`);
  }
});

test('thread.mjs', async () => {
  const stream = await box.stream(1);
  await box.put(3, stream);
  const { out } = await run(box, program('thread.mjs', stream));
  assert.strictEqual(out, 'key-record 0  9\nkey-record 1  9\nkey-record 2  9\n');
});

test('a consumer is the source of a stream of node', async () => {
  const stream = await box.stream(1);
  await box.put(30, stream);
  const consumer = new sloop.Consumer(stream, { start: 'oldest', untilTip: true, batchRecordsMax: 5 });
  const got = [];
  const transform = new Transform({
    objectMode: true,
    transform(batch, _, done) {
      assert.ok(!batch.isDone);
      batch.done();
      done(null, [...batch].map((record) => record.data.toString()));
    },
  });
  for await (const texts of Readable.from(consumer).pipe(transform)) got.push(...texts);
  assert.deepStrictEqual(got, Array.from({ length: 30 }, (_, i) => `record ${i} `));
  await consumer.stop();
});

test('await using stops a consumer, where the language has it', { skip: Number(process.versions.node.split('.')[0]) < 24 && 'node 24 has it' }, async () => {
  const stream = await box.stream(1);
  await box.put(3, stream);
  const { out } = await run(box, `
    import { Consumer } from 'sloop';
    {
      await using consumer = new Consumer(process.argv[2], { app: 'used', start: 'oldest' });
      consumer.on('state', (state) => console.log(state));
      for await (const batch of consumer) { batch.done(); break; }
    }
  `, { args: [stream] });
  assert.strictEqual(out, 'reading\nstopping\nclosed\n');
});
