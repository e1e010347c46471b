'use strict';
// A cell of matrix.py, in a process of its own: cell.js JSON. Loads a neighbour before or after sloop, reads a stream over TLS,
// plainly and with leases, and uses the neighbour before, while and after that. Prints a line of JSON about what ran.
const assert = require('node:assert');
const fs = require('node:fs');
const https = require('node:https');
const path = require('node:path');
const { createRequire } = require('node:module');
const { Worker, isMainThread } = require('node:worker_threads');

const spec = JSON.parse(process.argv[2]);
const ask = createRequire(path.join(spec.folder, 'x.js'));

const USES = {
  sharp: async () => assert.ok((await ask('sharp')({ create: { width: 8, height: 8, channels: 3, background: 'red' } }).png().toBuffer()).length > 50),
  zeromq: async () => {
    const zmq = ask('zeromq'), push = new zmq.Push(), pull = new zmq.Pull(), where = `inproc://x${process.hrtime.bigint()}`;
    await push.bind(where);
    pull.connect(where);
    await push.send('x');
    assert.strictEqual(String((await pull.receive())[0]), 'x');
    push.close();
    pull.close();
  },
  bcrypt: async () => assert.ok(await ask('bcrypt').compare('x', await ask('bcrypt').hash('x', 4))),
  libsql: async () => {
    const db = new (ask('libsql'))(':memory:');
    assert.strictEqual(db.prepare('select 1 + 1 as two').get().two, 2);
    db.close();
  },
  'aws-crt': async () => assert.strictEqual(Buffer.from(new (ask('aws-crt').crypto.Sha256Hash)().finalize().buffer).toString('hex').slice(0, 8), 'e3b0c442'),
  'sodium-native': async () => {
    const sodium = ask('sodium-native'), out = Buffer.alloc(sodium.crypto_generichash_BYTES);
    sodium.crypto_generichash(out, Buffer.from('x'));
    assert.ok(out.some((byte) => byte !== 0));
  },
  // The system's own copies, loaded into the process by name.
  'system libcurl': async () => assert.match(ask('koffi').load('libcurl.so.4').func('const char *curl_version()')(), /^libcurl\//),
  'system OpenSSL': async () => assert.match(ask('koffi').load('libssl.so.3').func('const char *OpenSSL_version(int)')(0), /^OpenSSL/),
  'system SQLite': async () => assert.match(ask('koffi').load('libsqlite3.so.0').func('const char *sqlite3_libversion()')(), /^3/),
  'system libuv': async () => assert.match(ask('koffi').load('libuv.so.1').func('const char *uv_version_string()')(), /^1/),
};

async function use() {
  for (const name of spec.neighbours) await USES[name]();
}

/** node's own TLS. */
function askNode() {
  return new Promise((resolve, reject) => {
    https.get(`${spec.url}/_sandbox/stats`, { ca: fs.readFileSync(spec.ca), agent: false }, (answer) => answer.resume().on('end', resolve)).on('error', reject);
  });
}

async function read(sloop, more) {
  const got = [];
  const consumer = new sloop.Consumer(spec.stream, { start: 'oldest', endpoint: spec.url, caBundle: spec.ca, ...more });
  for await (const batch of consumer) {
    if (got.length === 0) await Promise.all([use(), askNode()]);
    for (const record of batch) got.push(record.data.toString());
    batch.done();
    if (got.length >= spec.count) break;
  }
  await consumer.stop();
  return got.sort();
}

async function main() {
  if (spec.when !== 'after') await use();
  if (spec.when === 'never') return; // does the neighbour work here at all?
  const sloop = require(spec.package);
  if (spec.when === 'after') {
    sloop.running();
    await use();
  }
  const told = [await read(sloop, {}), await read(sloop, { app: spec.app, storeEndpoint: spec.url, leaseMs: 10000 })];
  await use();
  fs.writeSync(1, `${JSON.stringify({ read: told, running: sloop.running() })}\n`);
}

if (spec.thread && isMainThread) {
  const worker = new Worker(__filename, { argv: process.argv.slice(2) });
  worker.once('error', (error) => {
    console.error(error);
    process.exitCode = 1;
  });
} else {
  main().catch((error) => {
    console.error(error);
    process.exitCode = 1;
    if (!isMainThread) throw error;
  });
}
