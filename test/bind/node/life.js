'use strict';
// The life of a consumer: its end in every way, worker threads, ref and unref, abort, misuse, errors by name, credentials.
const assert = require('node:assert');
const { test } = require('./harness.js');
const { Worker } = require('node:worker_threads');
const { LIMIT_MS, PACKAGE, run, sandbox, sloop, start, until, within } = require('./world.js');

const box = sandbox();
const OLDEST = { start: 'oldest' };

test('wrong types and options are refused by name when the object is made', () => {
  const bad = (args, kind, pattern) => assert.throws(() => new sloop.Consumer(...args), (error) => {
    assert.ok(error instanceof kind, `${error.name}: ${error.message}`);
    assert.match(error.message, pattern);
    return true;
  });
  bad([], TypeError, /stream: a string is needed, not a undefined/);
  bad([5], TypeError, /stream: a string is needed, not a number/);
  bad(['s', null], TypeError, /options: an object is needed, not null/);
  bad(['s', { pollMs: {} }], TypeError, /pollMs: a string or a number is needed, not a Object/);
  bad(['s', { pollMs: 0 }], sloop.OptionError, /pollMs/);
  bad(['s', { poll_ms: 100 }], sloop.OptionError, /poll_ms: there is no such option/);
  bad(['s', { order: 'sideways' }], sloop.OptionError, /order/);
  bad(['s', { start: 'newest' }], TypeError, /start: "latest", "oldest" or an object is needed, not "newest"/);
  bad(['s', { start: {} }], TypeError, /start\.shard: a string is needed/);
  bad(['s', { start: new Date(NaN) }], TypeError, /start: a number is needed/);
  bad(['s', { start: { token: '{' } }], sloop.TokenError, /./);
  bad(['s', { shards: 'x' }], TypeError, /shards: an array of strings/);
  bad(['s', { join: {} }], TypeError, /join: a Consumer is needed/);
  bad(['s', { signal: {} }], TypeError, /signal: an AbortSignal is needed/);
  bad(['s', { credentials: 'x' }], TypeError, /credentials: a function or an object/);
  bad(['s', { numbers: 'big' }], TypeError, /numbers/);
  bad(['s', { app: 'a', untilTip: true }], sloop.OptionError, /untilTip/);
  bad(['s', { app: 'a', store: 'sqlite:/tmp/x' }], sloop.OptionError, /SQLite/);
  bad(['s', { batchBytesMax: 2 ** 30 }], sloop.OptionError, /batchBytesMax: at most 268435456/);
  bad(['s', { profile: 'a\0b' }], sloop.OptionError, /NUL/);
  assert.throws(() => new sloop.Batch(), TypeError);
  assert.throws(() => new sloop.Record(), TypeError);
  try {
    new sloop.Consumer('s', { weight: 0 });
  } catch (error) {
    assert.deepStrictEqual([error.name, error.code, error.number, error.fatal], ['OptionError', 'EOPTION', -5011, false]);
    assert.ok(error instanceof sloop.SloopError && error instanceof Error);
  }
});

test('a closed consumer and a batch that was given back say so', async () => {
  const name = await box.stream(1);
  await box.put(3, name);
  const consumer = new sloop.Consumer(name, OLDEST);
  const { value: batch } = await within(consumer.next(), 'a batch');
  assert.throws(() => batch.done(4), RangeError);
  assert.throws(() => batch.done(-1), RangeError);
  assert.throws(() => batch.done('x'), RangeError);
  assert.throws(() => batch.at('x'), TypeError);
  assert.strictEqual(batch.at(3), undefined);
  assert.strictEqual(batch.at(-4), undefined);
  batch.done();
  assert.throws(() => batch.done(), sloop.StateError);
  assert.throws(() => batch.at(0).ack(), sloop.StateError);
  assert.strictEqual(batch.at(0).owned, false);
  assert.strictEqual(batch.at(0).data.toString(), 'record 0 '); // the bytes are a copy
  assert.throws(() => consumer.pause(5), TypeError);
  assert.throws(() => consumer.pause('no such shard'), sloop.NoShard);
  await assert.rejects(consumer.seek('end'), sloop.OptionError);
  await assert.rejects(consumer.checkpoint(), sloop.StateError); // it has no app
  await assert.rejects(consumer.checkpointAt('s', 'end'), sloop.StateError);
  await consumer.stop();
  await consumer.stop(); // again is nothing
  await consumer.close();
  for (const call of ['stats', 'shardStats', 'token', 'pause', 'resume', 'admin']) {
    assert.throws(() => consumer[call](), sloop.StateError, call);
  }
  for (const call of ['checkpoint', 'shards']) await assert.rejects(consumer[call](), sloop.StateError, call);
  await assert.rejects(consumer.seek('oldest'), sloop.StateError);
  assert.deepStrictEqual(await consumer.next(), { value: undefined, done: true });
  assert.strictEqual(consumer.worker, '');
  consumer.ref().unref();
});

test('close() ends at once, with batches out and one who waits', async () => {
  const name = await box.stream(1);
  await box.put(3, name);
  const consumer = new sloop.Consumer(name, { ...OLDEST, batchesOutMax: 1 });
  const { value: batch } = await within(consumer.next(), 'a batch');
  const waits = consumer.next();
  const seeks = consumer.seek('oldest');
  const lists = consumer.shards();
  await within(Promise.all([
    consumer.close(), waits.then((end) => assert.deepStrictEqual(end, { value: undefined, done: true })),
    assert.rejects(seeks, sloop.CanceledError), assert.rejects(lists, sloop.CanceledError),
  ]), 'the end');
  assert.ok(batch.isDone);
  assert.throws(() => batch.done(), sloop.StateError);
  assert.strictEqual(consumer.state, 'closed');
});

test('stop() waits for what is out, and says when it waited in vain', async () => {
  const name = await box.stream(1);
  await box.put(3, name);
  const consumer = new sloop.Consumer(name, OLDEST);
  const { value: batch } = await within(consumer.next(), 'a batch');
  const stopped = consumer.stop(LIMIT_MS);
  assert.strictEqual(consumer.state, 'stopping');
  assert.deepStrictEqual(await consumer.next(), { value: undefined, done: true });
  setTimeout(() => batch.done(), 50);
  await stopped;
  const other = new sloop.Consumer(name, OLDEST);
  await within(other.next(), 'a batch');
  await assert.rejects(within(other.stop(30), 'a stop'), sloop.StopTimeout);
  assert.strictEqual(other.state, 'closed');
  const third = new sloop.Consumer(name, OLDEST);
  await within(third.next(), 'a batch');
  await within(third[Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')](), 'the end of a block');
  assert.strictEqual(third.state, 'closed');
  await new sloop.Consumer(name).stop(); // never started
});

test('end() ends the loop after the batch in hand', async () => {
  const name = await box.stream(1);
  await box.put(100, name);
  const consumer = new sloop.Consumer(name, { ...OLDEST, batchRecordsMax: 10 });
  let batches = 0;
  for await (const batch of consumer) {
    batches += 1;
    consumer.end();
    batch.done();
  }
  assert.strictEqual(batches, 1);
  await within(consumer.stop(), 'a stop');
});

test('an AbortSignal ends the loop and stops the consumer', async () => {
  const name = await box.stream(1);
  const controller = new AbortController();
  const consumer = new sloop.Consumer(name, { ...OLDEST, signal: controller.signal });
  setTimeout(() => controller.abort(), 50);
  await assert.rejects(within((async () => {
    for await (const batch of consumer) batch.done();
  })(), 'the abort'), { name: 'AbortError' });
  await within(consumer.stop(), 'a stop');
  assert.strictEqual(consumer.state, 'closed');
  const late = new sloop.Consumer(name, { signal: AbortSignal.abort(new RangeError('too late')) });
  await assert.rejects(late.next(), RangeError);
  await late.close();
});

test('errors have names and fields', async () => {
  const consumer = new sloop.Consumer('nosuch', OLDEST);
  const emitted = [];
  consumer.on('error', (error) => emitted.push(error));
  await assert.rejects(within(consumer.next(), 'an error'), (error) => {
    assert.ok(error instanceof sloop.NoStream, String(error));
    assert.deepStrictEqual([error.name, error.code, error.number, error.fatal, error.httpStatus, error.awsCode],
      ['NoStream', 'ENOSTREAM', -5003, true, 400, 'ResourceNotFoundException']);
    assert.match(error.message, /nosuch/);
    return true;
  });
  assert.strictEqual(consumer.state, 'failed');
  assert.strictEqual(emitted.length, 1);
  await assert.rejects(consumer.next(), sloop.NoStream); // as often as it is asked
  await within(consumer.stop(), 'a stop');
  const refused = new sloop.Consumer('s', { ...OLDEST, endpoint: 'http://127.0.0.1:9' });
  const warned = new Promise((resolve) => refused.on('warning', resolve));
  refused.start();
  const warning = await within(warned, 'a warning');
  assert.ok(warning instanceof sloop.NetworkError);
  assert.deepStrictEqual([warning.code, warning.fatal, warning.httpStatus], ['ECONNREFUSED', false, 0]);
  assert.ok(warning.retryInMs >= 0);
  await refused.close();
});

test('credentials of an asynchronous function, and one that fails', async () => {
  const name = await box.stream(1);
  await box.put(3, name);
  let asked = 0;
  const given = new sloop.Consumer(name, {
    ...OLDEST,
    credentials: async () => {
      asked += 1;
      await new Promise((resolve) => setTimeout(resolve, 10));
      return { accessKeyId: 'mine', secretAccessKey: 'secret', sessionToken: 'token', expiration: new Date(Date.now() + 3600000) };
    },
  });
  (await within(given.next(), 'a batch')).value.done();
  assert.strictEqual(asked, 1);
  await given.stop();
  for (const [credentials, pattern] of [
    [async () => { throw new RangeError('no keys today'); }, /no keys today/], [() => 5, /accessKeyId and secretAccessKey are needed/],
    [() => ({ accessKeyId: 'a', secretAccessKey: 'b', expiration: 'never' }), /expiration is no date/],
  ]) {
    const refused = new sloop.Consumer(name, { ...OLDEST, credentials });
    await assert.rejects(within(refused.next(), 'an error'), (error) => error instanceof sloop.AuthError && pattern.test(error.message));
    await refused.close();
  }
  const plain = new sloop.Consumer(name, { ...OLDEST, credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
  (await within(plain.next(), 'a batch')).value.done();
  await plain.close();
  const never = new sloop.Consumer(name, { ...OLDEST, credentials: () => new Promise(() => {}) });
  never.next();
  await new Promise((resolve) => setImmediate(resolve));
  await within(never.close(), 'a close while keys are asked for');
});

test('a listener that throws is an uncaught exception, and the consumer goes on', async () => {
  const name = await box.stream(1);
  await box.put(3, name);
  const { out } = await run(box, `
    import { Consumer } from 'sloop';
    const caught = [];
    process.on('uncaughtException', (error) => caught.push(error.message));
    const consumer = new Consumer(process.argv[2], { start: 'oldest', untilTip: true });
    consumer.on('shard', () => { throw new Error('from a listener'); });
    let count = 0;
    for await (const batch of consumer) { count += batch.length; batch.done(); }
    await consumer.stop();
    console.log(count, caught.join());
  `, { args: [name] });
  assert.strictEqual(out, '3 from a listener\n');
});

test('an unhandled rejection of a loop ends neither the process nor the consumer, and the records come again', async () => {
  const name = await box.stream(1);
  await box.put(3, name);
  const { out } = await run(box, `
    import { Consumer } from 'sloop';
    const consumer = new Consumer(process.argv[2], { start: 'oldest' });
    process.once('unhandledRejection', async (error) => {
      for await (const batch of consumer) {
        console.log(error.message, batch.length, batch.at(0).attempt);
        batch.done();
        break;
      }
      await consumer.stop();
    });
    (async () => {
      for await (const batch of consumer) throw new Error('in the body');
    })();
  `, { args: [name] });
  assert.strictEqual(out, 'in the body 3 2\n');
});

test('the package can be loaded twice in one thread', async () => {
  const name = await box.stream(1);
  await box.put(3, name);
  const { out } = await run(box, `
    const first = require('sloop');
    for (const file of Object.keys(require.cache)) delete require.cache[file];
    const second = require('sloop');
    (async () => {
      const counts = await Promise.all([first, second].map(async ({ read }) => {
        let n = 0;
        for await (const record of read(process.argv[2], { untilTip: true })) n += record.data.length > 0;
        return n;
      }));
      console.log(first !== second, ...counts);
    })();
  `, { args: [name], name: 'program.cjs' });
  assert.strictEqual(out, 'true 3 3\n');
});

test('a process ends by itself: idle, unref, after untilTip, after a fatal error, with its leases', async () => {
  const name = await box.stream(1);
  await box.put(3, name);
  const programs = {
    idle: `new Consumer(name); console.log('end');`,
    unref: `const c = new Consumer(name, { start: 'oldest' }); (await c.next()).value.done(); c.unref(); console.log('end');`,
    unrefFirst: `new Consumer(name, { start: 'oldest' }).unref().start(); console.log('end');`,
    tip: `for await (const batch of new Consumer(name, { start: 'oldest', untilTip: true })) batch.done(); console.log('end');`,
    fatal: `try { for await (const batch of new Consumer('nosuch')) batch.done(); } catch (e) { console.log(e.name === 'NoStream' ? 'end' : e); }`,
    leased: `const c = new Consumer(name, { start: 'oldest', app: 'ends' });
      for await (const batch of c) { batch.done(); c.end(); } await c.stop(); console.log('end');`,
    exit: `const c = new Consumer(name, { start: 'oldest' }); await c.next(); console.log('end'); process.exit(0);`,
  };
  for (const [what, text] of Object.entries(programs)) {
    const { out, err } = await run(box, `import { Consumer } from 'sloop'; const name = process.argv[2]; ${text}`, { args: [name] });
    assert.strictEqual(out, 'end\n', `${what}: ${err}`);
  }
});

test('ref and unref work as those of handles do', async () => {
  const name = await box.stream(1);
  const program = start(box, `
    import { Consumer } from 'sloop';
    const c = new Consumer(process.argv[2], { start: 'oldest' }).unref().start();
    c.ref();
    c.on('tip', () => console.log('tip'));
    process.on('SIGTERM', () => c.unref());
  `, { args: [name] });
  try {
    await until(() => program.out.includes('tip'), 'the tip');
    program.child.kill('SIGTERM');
    assert.strictEqual((await within(program.ended, 'the end')).code, 0);
  } finally {
    program.child.kill('SIGKILL');
  }
});

const THREAD = `
  const { parentPort, workerData } = require('worker_threads');
  const { Consumer } = require(workerData.PACKAGE);
  (async () => {
    const consumer = new Consumer(workerData.name, { start: 'oldest', ...workerData.options });
    let count = 0;
    for await (const batch of consumer) {
      count += batch.length;
      if (workerData.holds) globalThis.held = [...(globalThis.held ?? []), batch];
      else batch.done();
      parentPort.postMessage(count);
    }
  })();
`;

test('worker threads end with a live consumer, by terminate() and by their own exit', async () => {
  const name = await box.stream(2);
  await box.put(200, name);
  for (let i = 0; i < 6; i++) {
    const worker = new Worker(THREAD, { eval: true, workerData: { PACKAGE, name, holds: i % 2 === 0, options: { app: i > 3 ? `t${i}` : undefined } } });
    const exited = new Promise((resolve) => worker.once('exit', resolve));
    await within(new Promise((resolve, reject) => {
      worker.on('message', (count) => count > 0 && resolve());
      worker.on('error', reject);
    }), 'records in a thread');
    await within(worker.terminate(), 'the end of a thread');
    await exited;
  }
  const worker = new Worker(THREAD.replace('parentPort.postMessage(count)', 'process.exit(3)'),
    { eval: true, workerData: { PACKAGE, name } });
  assert.strictEqual(await within(new Promise((resolve, reject) => {
    worker.once('exit', resolve);
    worker.once('error', reject);
  }), 'the exit of a thread'), 3);
});

test('threads read at the same time, each in its own loop', async () => {
  const name = await box.stream(2);
  await box.put(1000, name);
  const text = THREAD.replace('parentPort.postMessage(count)', '').replace('  })();', '  parentPort.postMessage(count); await consumer.stop(); })();');
  const counts = await within(Promise.all([1, 2, 3].map(() => new Promise((resolve, reject) => {
    const worker = new Worker(text, { eval: true, workerData: { PACKAGE, name, options: { untilTip: true } } });
    let count;
    worker.on('message', (got) => { count = got; });
    worker.once('exit', (code) => (code ? reject(new Error(`exit ${code}`)) : resolve(count)));
    worker.once('error', reject);
  }))), 'threads');
  assert.deepStrictEqual(counts, [1000, 1000, 1000]);
});

test('no batch is lost when the collector runs at each', { skip: !global.gc && 'needs --expose-gc' }, async () => {
  const name = await box.stream(4);
  const put = await box.put(6000, name);
  const seen = new Set();
  const consumer = new sloop.Consumer(name, { ...OLDEST, batchRecordsMax: 40, batchesOutMax: 4, untilTip: true });
  await within((async () => {
    for await (const batch of consumer) {
      global.gc();
      consumer.shardStats();
      for (const record of batch) seen.add(`${record.shard} ${record.sequence} ${record.data}`);
      global.gc();
      batch.done();
    }
  })(), 'reading under collections');
  assert.strictEqual(consumer.stats().redelivered, 0);
  assert.strictEqual(consumer.stats().records, 6000);
  await consumer.stop();
  assert.deepStrictEqual(seen, new Set(put.map((one) => `${one.shard} ${one.sequence} ${one.text}`)));
});

test('memory of a batch is used again only when nothing that was kept reads it', { skip: !global.gc && 'needs --expose-gc' }, async () => {
  const name = await box.stream(2);
  const texts = new Map((await box.put(6000, name, { size: 1000 })).map((one) => [one.sequence, one.text]));
  const kept = [];
  let count = 0;
  for (const batchRecordsMax of [100, 500]) { // slabs of two sizes
    const consumer = new sloop.Consumer(name, { ...OLDEST, batchRecordsMax, untilTip: true });
    await within((async () => {
      for await (const batch of consumer) {
        const i = count % batch.length;
        kept.push([batch.at(i).sequence, batch.at(i).data], [batch.at(-1).sequence, batch.at(-1)]);
        for (const record of batch) assert.strictEqual(record.data.toString(), texts.get(record.sequence));
        count += batch.length;
        batch.done();
        global.gc();
        await new Promise((resolve) => setImmediate(resolve)); // finalizers run in it
      }
    })(), 'all records');
    await within(consumer.stop(), 'a stop');
  }
  assert.strictEqual(count, 12000);
  assert.ok(kept.length >= 144, String(kept.length));
  for (const [sequence, one] of kept) assert.strictEqual((one.data ?? one).toString(), texts.get(sequence));
});

test('what is kept for later batches is freed when the last consumer is stopped behind the tip', async () => {
  const name = await box.stream(8); // 2 MB a second each
  await box.put(1000, name, { size: 30000 });
  const { out } = await run(box, `
    import { Consumer } from 'sloop';
    const later = () => new Promise((resolve) => setImmediate(resolve));
    const grownBy = async (records) => {
      const before = process.memoryUsage.rss();
      const consumer = new Consumer(process.argv[2], { start: 'oldest', batchRecordsMax: 25, batchesOutMax: 50, bufferedBytesMax: 40e6 });
      let [kept, n] = [[], 0];
      for await (const batch of consumer) {
        kept.push(batch);
        n += batch.length;
        if (n >= records) break;
      }
      kept = null;
      for (let i = 0; i < 4; i++) {
        global.gc();
        await later();
      }
      await consumer.stop();
      return process.memoryUsage.rss() - before;
    };
    await grownBy(25);
    console.log(await grownBy(750)); // some 30 slabs of 1 MiB
  `, { args: [name], flags: ['--expose-gc'], env: { MALLOC_MMAP_THRESHOLD_: '60000' } }); // what is freed goes back to the system
  assert.ok(Number(out) < 10e6, `${out.trim()} bytes are left`);
});

test('memory stays flat over short-lived consumers', { skip: !global.gc && 'needs --expose-gc' }, async () => {
  const name = await box.stream(2);
  await box.put(500, name);
  const round = async () => {
    const consumer = new sloop.Consumer(name, { ...OLDEST, untilTip: true, pollMs: 10 });
    for await (const batch of consumer) batch.done();
    await within(consumer.stop(), 'a stop');
  };
  const many = async (n) => {
    for (let i = 0; i < n; i++) await round();
    global.gc();
    await new Promise((resolve) => setImmediate(resolve));
    global.gc();
    return process.memoryUsage().rss;
  };
  await many(40);
  const before = await many(1);
  const after = await many(60);
  assert.ok(after - before < 12e6, `${before} bytes, then ${after}`);
});

test('Bun and Deno are refused by name', async () => {
  for (const [name, text] of [['Bun', "Object.defineProperty(process.versions, 'bun', { value: '1.4.5' })"], ['Deno', 'globalThis.Deno = {}']]) {
    const { out } = await run(box, `${text}; try { require('sloop'); } catch (error) { console.log(error.message); }`, { name: 'program.cjs' });
    assert.match(out, new RegExp(`^sloop: ${name} is not supported`));
  }
});
