'use strict';
// The types of the package: clean under tsc --strict from ESM and CommonJS, and what they say is what is there. And the
// JavaScript of the package, of its tests and of the benchmarks: clean under eslint.
const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('./harness.js');
const { PACKAGE, folder, sloop, toolPath } = require('./world.js');

const TSC = toolPath('typescript');
const TYPES = toolPath('@types/node');
const skip = (!TSC || !TYPES) && 'typescript or @types/node is not installed';
const USER = `
async function work(): Promise<void> {
  const consumer = new Consumer('orders', { app: 'billing', start: 'oldest', leaseMs: 5000, order: 'shard', credentials: async () => keys });
  consumer.on('shard', (event) => console.log(event.kind, event.shard.length)).on('warning', (error) => console.log(error.retryInMs));
  for await (const batch of consumer) {
    for (const record of batch) {
      const size: number = record.data.length;
      if (record.change !== null && record.arrivedAt !== null) console.log(record.change.keys, record.arrivedAt.getTime(), size);
      if (!record.owned) record.ack();
    }
    batch.done();
    batch.done(3);
  }
  console.log(consumer.stats()['records'], (await consumer.shards())[0]?.id);
  const leases = await consumer.admin().leases();
  const states: ('free' | 'owned' | 'ownerDead')[] = leases.leases.map((one) => one.state);
  console.log(states, (await new Admin('orders', { app: 'a' }).explain('0')).why === 'read');
  await consumer.stop();
}
const keys = { accessKeyId: 'a', secretAccessKey: 'b', expiration: new Date() };
async function all(): Promise<void> {
  for await (const record of read('orders', { untilTip: true, start: { token: '' } })) console.log(record.key ?? 'none', record instanceof Record);
}
work().then(all).catch((error: unknown) => {
  if (error instanceof NoStream && error.fatal) console.log(error.code);
});
`;
const IMPORTS = 'Admin, Consumer, NoStream, Record, read';

/** What tsc says of files in a folder in which the package is installed. */
function compile(files, module) {
  const where = folder();
  fs.symlinkSync(path.dirname(TYPES), path.join(where, 'node_modules', '@types'));
  fs.symlinkSync(toolPath('undici-types'), path.join(where, 'node_modules', 'undici-types'));
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(where, name), text);
  try {
    return execFileSync(process.execPath, [path.join(TSC, 'lib', 'tsc.js'), '--noEmit', '--strict', '--exactOptionalPropertyTypes',
      '--noUncheckedIndexedAccess', '--noPropertyAccessFromIndexSignature', '--target', 'es2022', '--lib', 'es2022',
      '--types', 'node', '--module', module, '--preserveSymlinks', ...Object.keys(files)], { cwd: where, stdio: 'pipe', encoding: 'utf8' });
  } catch (error) {
    return error.stdout;
  }
}

test('a user of ESM and of CommonJS is clean under tsc --strict', { skip }, () => {
  const user = `import { ${IMPORTS} } from 'sloop';${USER}`;
  const bad = "import { Consumer, read } from 'sloop';\nread('orders', { untilTyp: true });\nnew Consumer(5);\n";
  const said = compile({ 'user.mts': user, 'user.cts': user, 'bad.mts': bad }, 'nodenext').trim().split('\n');
  assert.strictEqual(said.length, 2, said.join('\n'));
  assert.match(said[0], /^bad\.mts\(2,.*untilTyp/);
  assert.match(said[1], /^bad\.mts\(3,.*TS2345/);
  assert.strictEqual(compile({ 'old.ts': user }, 'commonjs'), '');
});

test('what the types name is there, and nothing else', async () => {
  const text = fs.readFileSync(path.join(PACKAGE, 'index.d.ts'), 'utf8');
  const named = [...text.matchAll(/^export (?:class|function|const) (\w+)/gm)].map((match) => match[1]).sort();
  assert.deepStrictEqual(Object.keys(sloop).sort(), named);
  const esm = await import(path.join(PACKAGE, 'index.mjs'));
  assert.deepStrictEqual(Object.keys(esm).sort(), named);
  assert.strictEqual(esm.Consumer, sloop.Consumer);
  for (const name of ['Consumer', 'Batch', 'Record', 'Admin']) {
    const body = new RegExp(`export class ${name} [^{]*\\{\n([^]*?)\n\\}`).exec(text)[1];
    const members = new Set([...body.matchAll(/^ {2}(?:readonly )?(\w+)[(:]/gm)].map((match) => match[1])
      .filter((one) => !['constructor', 'on', 'once', 'off'].includes(one)));
    const there = Object.getOwnPropertyNames(sloop[name].prototype).filter((one) => one !== 'constructor');
    assert.deepStrictEqual(there.sort(), [...members].sort(), name);
  }
});

test('every option of the types is an option', () => {
  const text = fs.readFileSync(path.join(PACKAGE, 'index.d.ts'), 'utf8');
  const body = /export interface Options \{\n([^]*?)\n\}/.exec(text)[1];
  const named = [...body.matchAll(/^ {2}(\w+)\?:/gm)].map((match) => match[1]).filter((one) => one !== 'credentials');
  assert.ok(named.length > 35, String(named.length));
  for (const name of named) {
    assert.throws(() => new sloop.Consumer('s', { [name]: {} }), TypeError, name); // and not "there is no such option"
  }
  const header = fs.readFileSync(path.join(__dirname, '..', '..', '..', 'include', 'sloop.h'), 'utf8');
  const struct = /typedef struct sloop_opts_s \{([^]*?)\n\} sloop_opts_t;/.exec(header)[1].replace(/\/\*[^]*?\*\//g, '');
  const members = [...struct.matchAll(/^\s*[\w ]+[ *](\w+);/gm)].map((match) => match[1]);
  const apart = ['size', 'stream', 'join', 'start', 'shards', 'shards_n', 'alloc_ctx', 'arg'];
  const camel = members.filter((one) => !apart.includes(one)).map((one) => one.replace(/_(\w)/g, (_, letter) => letter.toUpperCase()));
  assert.deepStrictEqual(named.sort(), camel.sort());
});

test('eslint finds nothing', { skip: !toolPath('eslint') && 'eslint is not installed' }, async () => {
  const { ESLint } = require(toolPath('eslint'));
  const where = folder();
  fs.rmSync(path.join(where, 'node_modules'), { recursive: true });
  fs.symlinkSync(path.resolve(toolPath('eslint'), '..'), path.join(where, 'node_modules')); // the rules import a package of it
  fs.copyFileSync(path.join(__dirname, 'eslint.config.mjs'), path.join(where, 'eslint.config.mjs'));
  const { default: overrideConfig } = await import(path.join(where, 'eslint.config.mjs'));
  const eslint = new ESLint({ cwd: path.resolve(__dirname, '..', '..', '..'), overrideConfigFile: true, overrideConfig });
  const folders = ['src/bind/node', 'src/bind/node/lib', 'test/bind/node', 'bench/peers/node'];
  const found = await eslint.lintFiles(folders.map((one) => `${one}/*.{js,mjs}`));
  assert.ok(found.length >= 29, `${found.length} files`);
  const said = found.flatMap(({ filePath, messages }) => messages.map(({ line, message }) => `${filePath}:${line}: ${message}`));
  assert.deepStrictEqual(said, []);
  const [{ errorCount }] = await eslint.lintText("'use strict';\nvar one = 1;\nif (one == two) other();\n", { filePath: 'src/bind/node/bad.js' });
  assert.strictEqual(errorCount, 4); // var, ==, and two names that are not known
});
