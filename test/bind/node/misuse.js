'use strict';
// What programs do wrong or in odd ways: options that change or are of a wrong type, listeners that throw or call back,
// several loops at once, memory that nothing frees.
const assert = require('node:assert');
const { test } = require('./harness.js');
const { sandbox, sloop, until, within } = require('./world.js');

const box = sandbox();
const OLDEST = { start: 'oldest' };
const turn = () => new Promise((resolve) => setImmediate(resolve));

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

