'use strict';
// Runs the tests of a file one after the other, a line each, as the other tests of this tree print them: FILE [NAME...].
const tests = [], ends = [];
let begins = null;

/** test(name, [{ skip: reason }], body). The body gets { after, skip, note }. */
function test(name, ...rest) {
  const body = rest.pop();
  tests.push({ name, body, skip: rest[0]?.skip });
}
function before(body) {
  begins = body;
}
function after(body) {
  ends.push(body);
}

async function runOne({ name, body, skip }) {
  const begun = Date.now(), ended = [];
  let reason = skip;
  try {
    const context = { after: (call) => ended.push(call), skip: (why) => { reason = why; }, note: (text) => console.log(`     ${text}`) };
    if (!reason) await body(context);
    console.log(reason ? `skip ${name}: ${reason}` : `ok   ${name} [${((Date.now() - begun) / 1000).toFixed(1)} s]`);
    return true;
  } catch (error) {
    console.log(`FAIL ${name}\n     ${String(error?.stack ?? error).replace(/\n/g, '\n     ')}`);
    return false;
  } finally {
    for (const call of ended) await call();
  }
}

async function runAll() {
  const wanted = tests.filter(({ name }) => process.argv.length < 3 || process.argv.slice(2).some((one) => name.includes(one)));
  if (begins) await begins();
  for (const one of wanted) {
    if (!await runOne(one)) process.exitCode = 1;
  }
  for (const call of ends) await call();
  setTimeout(() => { // it fires only if something keeps the process alive
    console.log('FAIL the process ends\n     something keeps it alive, such as a consumer that a test left');
    process.exit(1);
  }, 10000).unref();
}
setImmediate(() => runAll().catch((error) => {
  console.log(`FAIL the tests can't begin or end\n     ${error.stack}`);
  process.exit(1);
}));

module.exports = { test, before, after };
