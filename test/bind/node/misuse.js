'use strict';
// What programs do wrong or in odd ways: options that change or are of a wrong type, listeners that throw or call back,
// several loops at once, memory that nothing frees.
const assert = require('node:assert');
const path = require('node:path');
const stream = require('node:stream');
const util = require('node:util');
const { test } = require('./harness.js');
const { PACKAGE, run, sandbox, sloop, until, within } = require('./world.js');

const box = sandbox();
const OLDEST = { start: 'oldest' };
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('options that the program changes later are those of the beginning', async () => {
  const name = await box.stream(1);
  await box.put(3, name);
  const controller = new AbortController();
  const options = { ...OLDEST, signal: controller.signal, autoAck: true };
  const consumer = new sloop.Consumer(name, options);
  delete options.signal;
  options.autoAck = false;
  const { value: batch } = await within(consumer.next(), 'a batch');
  consumer.next().catch(() => {});
  assert.ok(batch.isDone);
  await within(consumer.stop(), 'a stop');
  let reads = 0;
  const odd = new sloop.Consumer(name, { get pollMs() { reads += 1; return 100; } });
  await odd.close();
  assert.strictEqual(reads, 1);
});

test('values of a wrong kind are refused when the object is made', async () => {
  const at = (subSequence) => ({ start: { shard: '0', sequence: '1', subSequence } });
  for (const [options, kind, pattern] of [
    [{ stopTimeoutMs: 'soon' }, TypeError, /stopTimeoutMs/], [{ stopTimeoutMs: NaN }, TypeError, /stopTimeoutMs/],
    [{ stopTimeoutMs: -1 }, TypeError, /stopTimeoutMs/], [{ pollMs: NaN }, sloop.OptionError, /pollMs/],
    [{ pollMs: 1.5 }, sloop.OptionError, /pollMs/], [{ pollMs: 2 ** 32 + 100 }, sloop.OptionError, /pollMs/],
    [{ bufferedBytesMax: 1e300 }, sloop.OptionError, /bufferedBytesMax/],
    [at(2 ** 64), TypeError, /subSequence/], [at(-1), TypeError, /subSequence/], [at(0.5), TypeError, /subSequence/],
    [{ start: { shard: '0\0', sequence: '1' } }, TypeError, /NUL/], [{ start: { token: '\0' } }, TypeError, /NUL/],
  ]) {
    assert.throws(() => new sloop.Consumer('s', { ...options }), (error) => {
      assert.ok(error instanceof kind && pattern.test(error.message), `${JSON.stringify(options)}: ${error}`);
      return true;
    });
  }
  const closed = new sloop.Consumer('s');
  await closed.close();
  assert.throws(() => new sloop.Consumer('s', { join: closed }), sloop.OptionError);
  const some = new sloop.Consumer(await box.stream(2), { ...OLDEST, shards: new Proxy(['1'], {}), untilTip: true });
  for await (const batch of some) batch.done();
  assert.deepStrictEqual(some.shardStats().map((one) => one.shard), ['shardId-000000000001']);
  assert.throws(() => some.pause('shardId-000000000001\0'), TypeError);
  await assert.rejects(some.seek(undefined), TypeError);
  await assert.rejects(some.seek(null), TypeError);
  for (const limit of ['x', NaN, -1, null, {}, 5n]) await assert.rejects(some.stop(limit), /^TypeError: stop\(\): a number of milliseconds/, String(limit));
  await some.stop();
});

test('an operator\'s request with a wrong argument changes nothing', async () => {
  const name = await box.stream(2);
  await box.put(10, name);
  const consumer = new sloop.Consumer(name, { ...OLDEST, app: 'kept', leaseMs: 2000 });
  let count = 0;
  for await (const batch of consumer) {
    count += batch.length;
    batch.done();
    if (count === 10) break;
  }
  await within(consumer.stop(), 'a stop');
  const admin = new sloop.Admin(name, { app: 'kept' });
  const positions = async () => (await within(admin.leases(), 'leases')).leases.map((one) => one.position);
  const before = await positions();
  for (const shard of [0, {}, true, 'shardId-000000000000\0', NaN]) {
    await assert.rejects(within(admin.reset('oldest', { shard }), 'a reset'), TypeError, String(shard));
  }
  for (const to of [undefined, null, 5]) await assert.rejects(within(admin.reset(to), 'a reset'), TypeError, String(to));
  for (const limit of ['x', -1, NaN, 2 ** 32, null]) {
    await assert.rejects(within(admin.lag(limit), 'the lag'), TypeError, String(limit));
    await assert.rejects(within(admin.drain(true, limit), 'a drain'), TypeError, String(limit));
    await assert.rejects(within(admin.pause('0', true, limit), 'a pause'), TypeError, String(limit));
  }
  await assert.rejects(within(admin.explain('0\0'), 'an explanation'), TypeError);
  assert.deepStrictEqual(await positions(), before);
  await admin.close();
});

test('read() begins at the oldest record when start is undefined', async () => {
  const name = await box.stream(1);
  await box.put(3, name);
  let count = 0;
  await within((async () => {
    for await (const record of sloop.read(name, { start: undefined, untilTip: true })) count += record.attempt;
  })(), 'all records');
  assert.strictEqual(count, 3);
});

test('credentials: what is thrown may be anything, and each member has its type', async () => {
  const name = await box.stream(1);
  const { out } = await run(box, `
    import { Consumer } from 'sloop';
    const KEYS = { accessKeyId: 'a', secretAccessKey: 'b' };
    for (const credentials of [
      () => { throw Object.create(null); }, async () => { throw Symbol('no keys'); }, () => ({ ...KEYS, sessionToken: 5 }),
      () => ({ ...KEYS, sessionToken: 'a\\0b' }), () => ({ ...KEYS, expiration: Symbol('x') }),
      () => { throw new Error('with \\0 in it'); }, () => new Proxy({}, { get() { throw undefined; } }),
    ]) {
      const consumer = new Consumer(process.argv[2], { credentials });
      try { await consumer.next(); } catch (error) { console.log(error.name, /credentials function/.test(error.message)); }
      await consumer.close();
    }
  `, { args: [name] });
  assert.strictEqual(out, 'AuthError true\n'.repeat(7));
});

test('a request for credentials that nobody answers does not hold a thread', async () => {
  const name = await box.stream(1);
  const { out } = await run(box, `
    const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
    if (isMainThread) {
      const worker = new Worker(__filename, { workerData: process.argv[2] });
      worker.on('message', () => worker.terminate());
      worker.on('exit', () => console.log('ended'));
    } else {
      const { Consumer } = require('sloop');
      new Consumer(workerData, { credentials: () => { parentPort.postMessage('asked'); return new Promise(() => {}); } }).start();
    }
  `, { args: [name], name: 'program.cjs' });
  assert.strictEqual(out, 'ended\n');
});

test('what a listener of "state" throws is an uncaught exception, and keeps no one waiting', async () => {
  const name = await box.stream(1);
  await box.put(3, name);
  const { out } = await run(box, `
    import { Consumer } from 'sloop';
    const caught = [];
    process.on('uncaughtException', (error) => caught.push(error.message));
    const throwing = (stream) => new Consumer(stream, { start: 'oldest', untilTip: true }).on('state', (state) => { throw new Error(state); });
    const consumer = throwing(process.argv[2]);
    let count = 0;
    for await (const batch of consumer) { count += batch.length; batch.done(); }
    await consumer.stop();
    const failing = throwing('nosuch');
    try { await failing.next(); } catch (error) { console.log(error.name); }
    await failing.close();
    await new Promise((resolve) => setImmediate(resolve));
    console.log(count, caught.join());
  `, { args: [name] });
  assert.strictEqual(out, 'NoStream\n3 reading,stopping,closed,reading,failed,closed\n');
});

test('a listener that throws in a thread ends the thread, and not the process', async () => {
  const name = await box.stream(1);
  await box.put(3, name);
  const { out } = await run(box, `
    const { Worker, isMainThread, workerData } = require('worker_threads');
    if (isMainThread) {
      const worker = new Worker(__filename, { workerData: process.argv[2] });
      worker.on('error', (error) => console.log(error.message));
      worker.on('exit', (code) => console.log(code));
    } else {
      const { Consumer } = require('sloop');
      new Consumer(workerData, { start: 'oldest' }).on('shard', () => { throw new Error('in a thread'); }).start();
    }
  `, { args: [name], name: 'program.cjs' });
  assert.strictEqual(out, 'in a thread\n1\n');
});

test('listeners may end, stop and close the consumer', async () => {
  const name = await box.stream(1);
  await box.put(3, name);
  for (const event of ['state', 'shard', 'tip', 'stats', 'log']) {
    for (const call of ['end', 'stop', 'close']) {
      const consumer = new sloop.Consumer(name, { ...OLDEST, statsMs: 10, logLevel: 'debug', pollMs: 10 });
      consumer.on(event, () => { consumer[call](); });
      await within((async () => {
        for await (const batch of consumer) batch.done();
      })(), `the end by ${call}() on ${event}`, 20000);
      await within(consumer.stop(), 'a stop');
    }
  }
  const failing = new sloop.Consumer('nosuch');
  failing.on('error', () => failing.close());
  await assert.rejects(within(failing.next(), 'the failure'), sloop.NoStream);
  await within(failing.stop(), 'a stop');
});

test('an abort ends the loop by its reason, whatever that is', async () => {
  for (const reason of [0, null, '', false]) {
    const controller = new AbortController();
    const consumer = new sloop.Consumer(await box.stream(1), { ...OLDEST, signal: controller.signal });
    const next = consumer.next();
    controller.abort(reason);
    const thrown = await within(next.then(() => 'nothing', (error) => ({ error })), 'the abort');
    assert.deepStrictEqual(thrown, { error: reason });
    await within(consumer.stop(), 'a stop');
  }
});

test('two loops at once: asking for the next batch acknowledges those of that loop only', async () => {
  const name = await box.stream(1);
  await box.put(40, name);
  const consumer = new sloop.Consumer(name, { ...OLDEST, batchRecordsMax: 10, batchesOutMax: 4, autoAck: true });
  const one = consumer[Symbol.asyncIterator](), two = consumer[Symbol.asyncIterator]();
  const { value: first } = await within(one.next(), 'a batch');
  const { value: second } = await within(two.next(), 'a batch');
  const { value: third } = await within(one.next(), 'a batch');
  assert.deepStrictEqual([first.isDone, second.isDone, third.isDone], [true, false, false]);
  await one.return();
  assert.deepStrictEqual([second.isDone, third.isDone], [false, true]);
  await two.return();
  assert.strictEqual(second.isDone, true);
  const both = await within(Promise.all([consumer.next(), consumer.next()]), 'two batches');
  const next = await within(consumer.next(), 'a batch');
  assert.deepStrictEqual([...both, next].map(({ value }) => value.isDone), [true, true, false]);
  await within(consumer.stop(0).catch(() => {}), 'a stop');
});

test('a loop that is left while it waits takes no batch with it', async () => {
  const name = await box.stream(1);
  const consumer = new sloop.Consumer(name, { ...OLDEST, pollMs: 20 });
  const readable = stream.Readable.from(consumer);
  readable.resume();
  await within(new Promise((resolve) => consumer.once('tip', resolve)), 'the tip');
  readable.destroy();
  await turn();
  await box.put(3, name);
  await until(() => consumer.stats().pages > 1 && consumer.stats().records > 0, 'the records');
  const { value: batch } = await within(consumer.next(), 'the batch', 5000);
  assert.deepStrictEqual([batch.length, batch.at(0).attempt], [3, 1]);
  batch.done();
  await within(consumer.stop(), 'a stop');
});

test('the process lives on for an operation that is awaited, also of a consumer that does not keep it alive', async () => {
  const name = await box.stream(2);
  await box.put(3, name);
  for (const [text, want] of [
    ['const c = new Consumer(name); console.log((await c.shards()).length); await c.stop();', '2'],
    ["const c = new Consumer(name, { app: 'lives' }); console.log(await c.admin().leases().then(() => 1, () => 1)); await c.stop();", '1'],
    ["const c = new Consumer(name, { ...OLDEST, app: 'lives' }).unref().start(); console.log((await c.shards()).length); await c.stop();", '2'],
    ["const c = new Consumer(name, OLDEST); (await c.next()).value.done(); await c.unref().seek('latest'); console.log(1); await c.stop();", '1'],
    ['const c = new Consumer(name).unref(); await c.start().shards(); console.log(c.state);', 'reading'],
  ]) {
    const { out } = await run(box, `import { Consumer } from 'sloop';
      const name = process.argv[2], OLDEST = { start: 'oldest' };
      ${text}`, { args: [name] });
    assert.strictEqual(out, `${want}\n`, text);
  }
});

test('closed consumers and operators are freed, and admin() leaves nothing behind', { skip: !global.gc && 'needs --expose-gc' }, async () => {
  const name = await box.stream(1);
  let freed = 0;
  const registry = new FinalizationRegistry(() => { freed += 1; });
  const consumer = new sloop.Consumer(name, { ...OLDEST, app: 'freed' });
  await (async () => {
    for (let i = 0; i < 10; i++) registry.register(consumer.admin());
    for (let i = 0; i < 10; i++) {
      const admin = new sloop.Admin(name, { app: 'freed' });
      registry.register(admin);
      await admin.close();
      const other = new sloop.Consumer(name);
      registry.register(other);
      await other.close();
    }
  })();
  for (let i = 0; i < 50 && freed < 29; i++) {
    global.gc();
    await turn();
  }
  assert.ok(freed >= 29, `${freed} of 30`); // the last one may still be in a register
  const part = consumer.admin();
  const asked = part.leases();
  global.gc();
  await within(asked.catch(() => {}), 'an answer');
  await within(consumer.stop(), 'a stop');
});

test('batches and requests for credentials that the program drops go back', { skip: !global.gc && 'needs --expose-gc' }, async () => {
  const name = await box.stream(1);
  await box.put(3, name);
  const consumer = new sloop.Consumer(name, { ...OLDEST, batchesOutMax: 1 });
  await within(consumer.next(), 'a batch');
  const again = consumer.next();
  const { value } = await within(Promise.race([again, (async () => {
    for (;;) {
      global.gc();
      consumer.shardStats();
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (consumer.stats().redelivered > 0) return again;
    }
  })()]), 'the batch again');
  assert.strictEqual(value.at(0).attempt, 2);
  value.done();
  await within(consumer.stop(), 'a stop');
  const never = new sloop.Consumer(name, { ...OLDEST, credentials: () => new Promise(() => {}) });
  const failed = within(never.next(), 'an error').then(() => null, (error) => error);
  let error = null;
  failed.then((one) => { error = one; });
  await until(() => {
    global.gc();
    return error;
  }, 'the error');
  assert.ok(error instanceof sloop.AuthError && /gave no answer/.test(error.message), String(error));
  await never.close();
});

test('objects that the program makes up are refused', async () => {
  assert.throws(() => new sloop.Record({ width: 14, count: 1, table: new Uint32Array(14), handle: {} }, 0), TypeError);
  assert.throws(() => new sloop.Batch({ slab: Buffer.alloc(64), count: 1, width: 14, shards: [], handle: {} }), TypeError);
  assert.throws(() => new sloop.Batch(), TypeError);
  for (const Kind of [sloop.Batch, sloop.Record]) assert.strictEqual(util.inspect(Object.create(Kind.prototype)), `${Kind.name} {}`);
  for (const Kind of [sloop.Consumer, sloop.Admin, sloop.Batch, sloop.Record]) {
    for (const that of [Object.create(Kind.prototype), {}, null, new Proxy(Object.create(Kind.prototype), {})]) {
      for (const [name, { value, get }] of Object.entries(Object.getOwnPropertyDescriptors(Kind.prototype))) {
        if (['constructor', 'records', 'arrivedAt'].includes(name)) continue; // a generator, and what reads another member
        await assert.rejects(async () => (get ?? value).call(that, 'x'), TypeError, `${Kind.name}.${name}`);
      }
    }
  }
});

test('admin() of a consumer that closes says so', async () => {
  const consumer = new sloop.Consumer('s', { app: 'closes' });
  const closed = consumer.close();
  assert.throws(() => consumer.admin(), sloop.StateError);
  await closed;
});

// The native part as lib/ has it; no program is meant to, but none may crash by it.
const WITHOUT_HANDLE = ['open', 'adminOpen', 'features', 'running', 'errName', 'strerror', 'checkOptions'];
const NOTHING = [1, 0, null, null, 0, []]; // a start position, and no shards

test('a native function refuses what is no handle of its kind, or another copy\'s', async () => {
  const native = require(path.join(PACKAGE, 'lib', 'native.js'));
  const kept = { ...require.cache };
  for (const file of Object.keys(require.cache)) delete require.cache[file];
  const copy = require(path.join(PACKAGE, 'lib', 'native.js'));
  Object.assign(require.cache, kept);
  assert.notStrictEqual(copy, native);
  const ends = [];
  const handler = (resolve) => (kind) => kind === native.numbers.CLOSED && resolve();
  const opened = (from) => {
    let handle;
    ends.push(new Promise((resolve) => { [, handle] = from.open(['stream', 's'], ...NOTHING, null, 0, handler(resolve)); }));
    return handle;
  };
  const consumer = opened(native), foreign = opened(copy);
  let admin;
  ends.push(new Promise((resolve) => { [, admin] = native.adminOpen(['stream', 's', 'app', 'a'], 0, handler(resolve)); }));
  const names = Object.keys(native).filter((name) => typeof native[name] === 'function' && !WITHOUT_HANDLE.includes(name));
  assert.ok(names.length > 30, String(names));
  for (const name of names) {
    const wrong = [undefined, null, 5, 5n, 'x', Symbol('x'), {}, [], () => {}, Buffer.alloc(64), new Proxy(consumer, {}), Object.create(consumer), foreign];
    wrong.push(/^admin(?!Of)/.test(name) ? consumer : admin);
    if (/^batch|Creds$/.test(name)) wrong.push(consumer);
    for (const handle of wrong) {
      assert.throws(() => native[name](handle, 1, 1, 1, 1, 1, 1, 1), TypeError, `${name}(${util.inspect(handle)})`);
    }
    assert.throws(() => native[name](), TypeError, name);
  }
  for (const bad of [undefined, null, 5, {}, 'x']) {
    assert.throws(() => native.open(['stream', 's'], ...NOTHING, null, 0, bad), TypeError);
    assert.throws(() => native.adminOpen(['stream', 's'], 0, bad), TypeError);
    assert.throws(() => native.adminOf(consumer, bad), TypeError);
    if (bad) assert.throws(() => native.open(['stream', 's'], ...NOTHING, bad, 0, () => {}), TypeError); // join
  }
  assert.throws(() => native.open(['stream', 's'], ...NOTHING, foreign, 0, () => {}), TypeError);
  native.close(consumer);
  copy.close(foreign);
  native.adminClose(admin);
  await within(Promise.all(ends), 'all closed');
});

test('numbers of any size in native calls are refused or bounded', async () => {
  const name = await box.stream(1);
  await box.put(3, name);
  const native = require(path.join(PACKAGE, 'lib', 'native.js'));
  const ODD = [NaN, Infinity, -Infinity, 1e300, -1e300, 2 ** 63, -(2 ** 63), -0.5, 2 ** 53 + 2];
  const { EOPTION, ESTATE } = native.numbers;
  let packed = null, onClosed;
  const closed = new Promise((resolve) => { onClosed = resolve; });
  const [, handle] = native.open(['stream', name], 2, 0, null, null, 0, [], null, 0, (kind, payload) => {
    if (kind === native.numbers.BATCH) packed = payload;
    else if (kind === native.numbers.CLOSED) onClosed();
  });
  native.start(handle);
  await until(() => packed, 'a batch');
  for (const odd of ODD) {
    assert.strictEqual(typeof native.errName(odd) + typeof native.strerror(odd), 'stringstring');
    for (const call of ['pause', 'resume']) assert.strictEqual(native[call](handle, odd), EOPTION, String(odd));
    assert.notStrictEqual(native.seek(handle, 1, odd, odd, null, null, odd), 0, `seek ${odd}`);
    assert.strictEqual(native.checkpointAt(handle, odd, odd, odd, odd), EOPTION);
    assert.strictEqual(native.batchAck(packed.handle, odd), ESTATE, String(odd));
    assert.strictEqual(native.batchOwned(packed.handle, odd), -2, String(odd));
    if (!(odd < 0)) assert.strictEqual(native.batchDone(packed.handle, odd), EOPTION, String(odd));
    const [status] = native.open(['stream', name], odd, odd, null, null, odd, [], null, odd, () => {});
    assert.notStrictEqual(status, 0, `open ${odd}`);
  }
  assert.strictEqual(native.batchDone(packed.handle, -1), 0);
  assert.strictEqual(native.batchDone(packed.handle, -1), ESTATE);
  native.close(handle);
  await within(closed, 'a close');
  for (const call of ['start', 'stop', 'ref', 'unref', 'pause', 'resume', 'seek', 'checkpoint', 'shards', 'giveBack', 'close']) {
    assert.strictEqual(native[call](handle, 1, 1), ESTATE, call);
  }
  assert.deepStrictEqual([native.token(handle), native.stats(handle), native.shardStats(handle), native.worker(handle)], [[ESTATE, ''], undefined, undefined, '']);
});

test('a copy of data can be transferred, and the memory of a large batch can not', async () => {
  for (const size of [100, 20000]) { // the smaller batch is one of node's own Buffers
    const name = await box.stream(1);
    const put = await box.put(3, name, { size });
    const consumer = new sloop.Consumer(name, { ...OLDEST, batchRecordsMax: 3 });
    const { value: batch } = await within(consumer.next(), 'a batch');
    const [first, second] = batch;
    const { buffer: copy } = new Uint8Array(first.data);
    assert.strictEqual(Buffer.from(structuredClone(copy, { transfer: [copy] })).toString(), put[0].text);
    assert.strictEqual(copy.byteLength, 0);
    assert.strictEqual(second.data.toString(), put[1].text);
    const { buffer } = first.data;
    const transfer = () => Buffer.from(structuredClone(buffer, { transfer: [buffer] }));
    const isLarge = 3 * size > 32768;
    if (isLarge && Number(process.versions.node.split('.')[0]) >= 21) assert.throws(transfer, { name: 'DataCloneError' });
    else assert.ok(transfer().includes(put[0].text)); // before node 21, that of a large batch is a copy
    if (isLarge) assert.deepStrictEqual([...batch].map((one) => one.data.toString()), put.map((one) => one.text));
    else assert.throws(() => second.sequence, /^StateError: Record: .* transferred/);
    batch.done();
    await within(consumer.stop(), 'a stop');
  }
});

test('a record whose memory was transferred says so, and its batch is still acknowledged', async () => {
  const name = await box.stream(1);
  await box.put(3, name);
  const consumer = new sloop.Consumer(name, { ...OLDEST, batchRecordsMax: 3 });
  const { value: batch } = await within(consumer.next(), 'a batch');
  const [first, second] = batch;
  const { buffer } = first.data;
  const moved = structuredClone(buffer, { transfer: [buffer] });
  assert.strictEqual(buffer.byteLength, 0);
  assert.ok(Buffer.from(moved).includes('record 1 '));
  const getters = ['shard', 'sequence', 'subSequence', 'key', 'data', 'arrivedAtMs', 'arrivedAt', 'epoch', 'attempt', 'late', 'raw', 'redelivered'];
  for (const one of getters) assert.throws(() => second[one], /^StateError: Record: .* transferred; .* new Uint8Array\(record\.data\)/, one);
  assert.throws(() => second.json(), sloop.StateError);
  assert.strictEqual(second.owned, true);
  batch.done();
  await within(consumer.stop(), 'a stop');
});
