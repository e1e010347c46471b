'use strict';
// Which copies of libraries are at work in a process of node, and TLS beside node's own.
const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const https = require('node:https');
const path = require('node:path');
const { test } = require('./harness.js');
const { folder, readAll, run, sandbox, sloop, textsOf } = require('./world.js');

const box = sandbox();
const OURS = /(sloop\.node|libcurl[^/]*\.so[^/]*|libssl[^/]*|libnghttp2[^/]*)$/;
const NOT_OF_NODE = /^(SSL_|X509_|EVP_|inflate|deflate|nghttp2_|BrotliDecoder|ares_|curl_|sqlite3_)/;

test('nothing of ours is bound to node\'s OpenSSL, zlib and nghttp2, and its loop is node\'s', async () => {
  const stream = await box.stream(1);
  await box.put(3, stream);
  const where = folder();
  await run(box, `
    import crypto from 'node:crypto'; import tls from 'node:tls'; import zlib from 'node:zlib'; import http2 from 'node:http2';
    tls.createSecureContext(); zlib.inflateSync(zlib.deflateSync('x')); crypto.randomBytes(8);
    const { read } = await import('sloop');
    for await (const record of read(process.argv[2], { untilTip: true })) record.data.toString();
  `, { args: [stream], where, env: { LD_DEBUG: 'bindings', LD_DEBUG_OUTPUT: path.join(where, 'bindings') } });
  const bound = fs.readdirSync(where).filter((name) => name.startsWith('bindings')).flatMap((name) => [
    ...fs.readFileSync(path.join(where, name), 'utf8').matchAll(/binding file (\S+) \[0\] to (\S+) \[0\]: normal symbol `(\w+)'/g),
  ]).map(([, from, to, symbol]) => ({ from, to, symbol })).filter((one) => OURS.test(one.from));
  const isNode = (file) => path.basename(file).startsWith('node') || file === process.execPath;
  assert.ok(bound.length > 100, String(bound.length));
  assert.deepStrictEqual(bound.filter((one) => NOT_OF_NODE.test(one.symbol) && isNode(one.to)), []);
  const loop = bound.filter((one) => one.from.endsWith('sloop.node') && one.symbol.startsWith('uv_'));
  assert.ok(loop.length > 20, String(loop.length));
  assert.deepStrictEqual(loop.filter((one) => !isNode(one.to)), []);
  assert.ok(bound.some((one) => one.from.includes('libcurl') && one.symbol === 'SSL_CTX_new') ||
    !bound.some((one) => one.from.includes('libcurl'))); // a libcurl that is linked in has no such line
});

test('running() tells which copies are called', () => {
  const all = sloop.running();
  const isNode = ({ file }) => fs.realpathSync(file) === fs.realpathSync(process.execPath);
  assert.ok(isNode(all.libuv), JSON.stringify(all));
  assert.strictEqual(all.libuv.version, process.versions.uv);
  for (const name of ['libcurl', 'libcrypto', 'zlib']) assert.ok(all[name].version && !isNode(all[name]), `${name}: ${all[name].file}`);
  assert.strictEqual(all.sloop.version, sloop.version);
});

test('a libcurl or a libssl that somebody loaded before is refused', async (t) => {
  const { sloop: own, libcurl, libcrypto } = sloop.running();
  if (libcurl.file === own.file) {
    t.skip('this package has its libcurl inside');
    return;
  }
  const text = `
    for (let i = 0; i < 2; i++) {
      try {
        require('sloop');
        console.log('taken');
      } catch (error) {
        console.log(error.message);
      }
    }
  `;
  assert.strictEqual((await run(box, text, { name: 'program.cjs' })).out, 'taken\ntaken\n');
  for (const file of [libcurl.file, libcrypto.file.replace('libcrypto', 'libssl')]) {
    // As an add-on that loads it without RTLD_DEEPBIND.
    const { out } = await run(box, text, { name: 'program.cjs', env: { LD_PRELOAD: file } });
    assert.match(out, /^(sloop: another add-on loaded \S+lib(curl|ssl)\S+, which calls node's OpenSSL since then .*\n){2}$/);
  }
});

test('reading over TLS while node serves and asks over TLS itself', async (t) => {
  const stream = await box.stream(2);
  const put = await box.put(2000, stream, { size: 500 });
  const where = folder();
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => path.join(where, name));
  try {
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=localhost',
      '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'], { stdio: 'ignore' });
  } catch {
    t.skip('openssl is not installed');
    return;
  }
  const front = https.createServer({ key: fs.readFileSync(key), cert: fs.readFileSync(cert) }, (request, response) => {
    request.pipe(http.request(box.url + request.url, { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    }));
  });
  await new Promise((resolve) => front.listen(0, '127.0.0.1', resolve));
  const endpoint = `https://127.0.0.1:${front.address().port}`;
  try {
    const asking = new Promise((resolve, reject) => {
      https.get(`${endpoint}/_sandbox/stats`, { ca: fs.readFileSync(cert), agent: false }, (answer) => answer.resume().on('end', resolve)).on('error', reject);
    });
    const [got] = await Promise.all([readAll(stream, { endpoint, caBundle: cert }), asking]);
    assert.deepStrictEqual(textsOf(got), textsOf(put));
  } finally {
    front.closeAllConnections?.();
    front.close();
  }
});
