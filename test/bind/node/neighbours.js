'use strict';
// Which copies of libraries are at work in a process of node, and TLS beside node's own.
const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const https = require('node:https');
const path = require('node:path');
const { test } = require('./harness.js');
const { PACKAGE, folder, readAll, run, sandbox, sloop, textsOf } = require('./world.js');

const box = sandbox();
const OURS = /(sloop\.node|libcurl[^/]*\.so[^/]*|libssl[^/]*|libnghttp2[^/]*)$/;
const NOT_OF_NODE = /^(SSL_|X509_|EVP_|inflate|deflate|nghttp2_|BrotliDecoder|ares_|curl_|sqlite3_)/;

const ENTRIES = ['napi_register_module_v1', 'node_api_module_get_api_version_v1']; // those that node looks for in the file

/** Whether the binary has its libraries inside, as those of a release do. */
const isOwn = () => path.basename(sloop.running().libcurl.file) === 'sloop.node';

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
  if (!isOwn()) {
    assert.ok(bound.some((one) => one.from.includes('libcurl') && one.symbol === 'SSL_CTX_new'));
    return;
  }
  // With the libraries inside the dynamic linker binds none of their functions, and nobody else's to them.
  assert.deepStrictEqual(bound.filter((one) => NOT_OF_NODE.test(one.symbol)), []);
  const others = bound.filter((one) => !isNode(one.to) && !/\/(lib(c|m|dl|pthread|gcc_s)\.so|ld-linux)/.test(one.to));
  assert.deepStrictEqual(others.map((one) => one.symbol).filter((symbol) => !ENTRIES.includes(symbol)), []);
});

test('running() tells which copies are called', () => {
  const all = sloop.running();
  const isNode = ({ file }) => fs.realpathSync(file) === fs.realpathSync(process.execPath);
  assert.ok(isNode(all.libuv), JSON.stringify(all));
  assert.strictEqual(all.libuv.version, process.versions.uv);
  for (const name of ['libcurl', 'libcrypto', 'zlib']) {
    assert.ok(all[name].version && !isNode(all[name]), `${name}: ${all[name].file}`);
    if (isOwn()) assert.strictEqual(all[name].file, all.sloop.file);
  }
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

/** Builds a shared object of C by the machine's compiler. Returns its file; null: there is no compiler. */
function shared(where, name, text, ...flags) {
  const file = path.join(where, name);
  fs.writeFileSync(`${file}.c`, text);
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', file, `${file}.c`, ...flags], { stdio: 'pipe' });
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
  return file;
}

test('a libssl of another OpenSSL than ours is no reason to refuse', async (t) => {
  const where = folder();
  const other = shared(where, 'libssl.so.0.9', 'int of_another_openssl;');
  if (other === null) {
    t.skip('no C compiler');
    return;
  }
  const text = "require('sloop'); console.log(/libssl.so.0.9/.test(require('fs').readFileSync('/proc/self/maps', 'latin1')));";
  assert.strictEqual((await run(box, text, { name: 'program.cjs', where, env: { LD_PRELOAD: other } })).out, 'true\n');
});

// The flag of `node --permission`; null: this node has none that lets an add-on be loaded.
const PERMISSION = ['--permission', '--experimental-permission'].find((flag) => process.allowedNodeEnvironmentFlags.has(flag));

test('it is loaded by node --permission, which may read no more than the program and the package',
  { skip: !process.allowedNodeEnvironmentFlags.has('--allow-addons') && 'this node has no --allow-addons' }, async () => {
    const where = folder();
    const text = `
      const { version } = require('sloop');
      let said = 'readable';
      try {
        require('fs').readFileSync('/proc/self/maps');
      } catch (error) {
        said = error.code;
      }
      console.log(version, said);
    `;
    const flags = [PERMISSION, '--allow-addons', ...[where, fs.realpathSync(PACKAGE)].map((one) => `--allow-fs-read=${one}/*`)];
    const { out } = await run(box, text, { name: 'program.cjs', where, flags });
    assert.strictEqual(out, `${sloop.version} ERR_ACCESS_DENIED\n`);
  });

// An add-on that shows functions by the names of our libraries'. Each ends the process.
const POISON = `
#include <stdlib.h>
#include <unistd.h>
#define P(name) void name(void) { write(2, "poison: " #name "\\n", sizeof "poison: " #name); abort(); }
P(SSL_CTX_new) P(EVP_MD_fetch) P(EVP_Digest) P(HMAC) P(inflate) P(inflateInit2_) P(deflate) P(crc32) P(nghttp2_session_mem_recv)
P(nghttp2_session_client_new2) P(curl_multi_init) P(curl_multi_socket_action) P(curl_easy_init) P(curl_global_init_mem) P(uv_run)
P(uv_timer_start) P(uv_poll_start) P(uv_async_init)
void *napi_register_module_v1(void *env, void *exports) { (void)env; return exports; }
int node_api_module_get_api_version_v1(void) { return 8; }
`;
// An add-on without a library of its own, which takes curl_easy_init() from whoever shows it.
const TRUSTING = `
void curl_easy_init(void);
void *napi_register_module_v1(void *env, void *exports) { (void)env; curl_easy_init(); return exports; }
int node_api_module_get_api_version_v1(void) { return 8; }
`;
const loadGlobally = (file) => `process.dlopen({ exports: {} }, ${JSON.stringify(file)}, os.constants.dlopen.RTLD_NOW | os.constants.dlopen.RTLD_GLOBAL);`;

test('beside an add-on that shows functions of the same names, loaded before and after', async (t) => {
  const where = folder();
  const [poison, trusting] = [shared(where, 'poison.node', POISON, '-w'), shared(where, 'trusting.node', TRUSTING)];
  if (poison === null) {
    t.skip('no C compiler');
    return;
  }
  const ended = await run(box, `import os from 'node:os'; ${loadGlobally(poison)} ${loadGlobally(trusting)}`, { where, code: 'SIGABRT' });
  assert.match(ended.err, /poison: curl_easy_init/); // so the test would see it
  const stream = await box.stream(1);
  await box.put(3, stream);
  for (const [before, after] of [[loadGlobally(poison), ''], ['', loadGlobally(poison)]]) {
    const { out } = await run(box, `
      import os from 'node:os';
      ${before}
      const { read } = await import('sloop');
      ${after}
      let n = 0;
      for await (const record of read(process.argv[2], { untilTip: true })) n += record.data.length > 0;
      console.log(n);
    `, { args: [stream], where });
    assert.strictEqual(out, '3\n');
  }
});

// An allocator whose memory no other one can free.
const ALLOCATOR = `
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
void *__libc_malloc(size_t);
void __libc_free(void *);
struct head { void *base; size_t size; };
static void *take(size_t align, size_t n) {
  char *base = align < 16 ? (align = 16, __libc_malloc(n + 32)) : __libc_malloc(n + align + 16);
  char *p = base ? (char *)(((uintptr_t)base + 16 + align - 1) / align * align) : NULL;
  if (p) ((struct head *)p)[-1] = (struct head){base, n};
  return p;
}
void *malloc(size_t n) { return take(16, n); }
void free(void *p) { if (p) __libc_free(((struct head *)p)[-1].base); }
void *calloc(size_t n, size_t m) { void *p = take(16, n * m); return p ? memset(p, 0, n * m) : p; }
size_t malloc_usable_size(void *p) { return p ? ((struct head *)p)[-1].size : 0; }
void *realloc(void *old, size_t n) {
  void *p = take(16, n);
  size_t had = malloc_usable_size(old);
  if (p && old) memcpy(p, old, had < n ? had : n), free(old);
  return p;
}
int posix_memalign(void **p, size_t align, size_t n) { *p = take(align, n); return *p ? 0 : ENOMEM; }
void *aligned_alloc(size_t align, size_t n) { return take(align, n); }
void *memalign(size_t align, size_t n) { return take(align, n); }
`;

test('with another allocator preloaded, as jemalloc is', async (t) => {
  const where = folder();
  const allocator = shared(where, 'allocator.so', ALLOCATOR, '-fno-builtin');
  if (allocator === null) {
    t.skip('no C compiler');
    return;
  }
  const stream = await box.stream(1);
  await box.put(3, stream);
  const own = isOwn();
  const { out, err } = await run(box, `
    const { read } = await import('sloop');
    let n = 0;
    for await (const record of read(process.argv[2], { untilTip: true })) n += record.data.length > 0;
    console.log(n);
  `, { args: [stream], where, env: { LD_PRELOAD: allocator }, code: own ? 0 : 1 });
  if (own) assert.strictEqual(out, '3\n');
  else assert.match(err, /allocator\.so allocates the memory of this process/);
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
