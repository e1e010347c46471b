'use strict';
// What the tests of the Node package share: a sandbox, deadlines, programs in processes of their own.
const assert = require('node:assert');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before } = require('./harness.js');

const PACKAGE = process.env.SLOOP_NODE_PACKAGE;
const BIN = process.env.SLOOP_BIN;
const LIMIT_MS = 60000;
const NO_LIMITS = ['-X', 'sandbox.write_records_per_second=0', '-X', 'sandbox.write_bytes_per_second=0',
  '-X', 'sandbox.reads_per_second=0'];
const sloop = require(PACKAGE);

function cleanEnvironment(extra = {}) {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_'));
  return { ...Object.fromEntries(kept), ...extra };
}

/** Waits for a condition, which may be asynchronous. Returns what it gave. */
async function until(condition, what, limitMs = LIMIT_MS) {
  const end = Date.now() + limitMs;
  for (;;) {
    const got = await condition();
    if (got) return got;
    if (Date.now() > end) throw new Error(`${what} did not come within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The promise, or an error when it takes too long. */
function within(promise, what, limitMs = LIMIT_MS) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${limitMs} ms`)), limitMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** stream-tail -M. */
class Box {
  async open(shards = 4) {
    this.process = spawn(BIN, ['-q', '-M', String(shards), ...NO_LIMITS], { stdio: ['pipe', 'pipe', 'inherit'], env: cleanEnvironment() });
    this.exited = new Promise((resolve) => this.process.once('exit', resolve));
    let text = '';
    this.process.stdout.on('data', (piece) => { text += piece; });
    await until(() => text.includes('AWS_SECRET_ACCESS_KEY') && text.endsWith('\n'), 'the environment of the sandbox');
    this.env = Object.fromEntries(text.trim().split('\n').map((line) => /^export (\w+)=(.*)$/.exec(line).slice(1)));
    this.url = this.env.AWS_ENDPOINT_URL;
    this.names = 0;
  }

  async close() {
    this.process.stdin.end();
    assert.strictEqual(await within(this.exited, 'the end of the sandbox'), 0);
  }

  async call(operation, body, target = 'Kinesis_20131202', service = 'kinesis') {
    const answer = await fetch(this.url, {
      method: 'POST',
      headers: {
        'Content-Type': `application/x-amz-json-1.${service === 'kinesis' ? 1 : 0}`,
        'X-Amz-Target': `${target}.${operation}`,
        'X-Amz-Date': '20260101T000000Z',
        Authorization: `AWS4-HMAC-SHA256 Credential=sandbox/20260101/us-east-1/${service}/aws4_request, SignedHeaders=host;x-amz-date, Signature=${'0'.repeat(64)}`,
      },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${operation}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  dynamodb(operation, body) {
    return this.call(operation, body, 'DynamoDB_20120810', 'dynamodb');
  }

  async admin(where) {
    const answer = await fetch(this.url + where, { method: 'POST', body: '' });
    assert.ok(answer.ok, `${where}: ${answer.status}`);
    return answer.text();
  }

  /** A new stream's name. */
  async stream(shards = 2) {
    this.names += 1;
    const name = `s${this.names}`;
    await this.admin(`/_sandbox/stream?name=${name}&shards=${shards}`);
    return name;
  }

  async table(name) {
    await this.dynamodb('CreateTable', {
      TableName: name, BillingMode: 'PAY_PER_REQUEST', AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    });
    await until(async () => (await this.dynamodb('DescribeTable', { TableName: name })).Table.TableStatus === 'ACTIVE', `table ${name}`);
    return name;
  }

  /** Puts n records. Returns [{shard, sequence, text}] in the order in which they were put. */
  async put(n, stream, { start: begin = 0, size = 0 } = {}) {
    const put = [];
    for (let first = begin; first < begin + n; first += 200) {
      const texts = [];
      for (let i = first; i < Math.min(first + 200, begin + n); i++) texts.push(`record ${i} `.padEnd(size, 'x'));
      const answer = await this.call('PutRecords', {
        StreamName: stream,
        Records: texts.map((text) => ({ Data: Buffer.from(text).toString('base64'), PartitionKey: `key-${text.slice(0, 12)}` })),
      });
      assert.strictEqual(answer.FailedRecordCount, 0);
      answer.Records.forEach((one, i) => put.push({ shard: one.ShardId, sequence: one.SequenceNumber, text: texts[i] }));
    }
    return put;
  }
}

/** A sandbox for the tests of a file, whose environment is this process's. */
function sandbox(shards) {
  const box = new Box();
  before(async () => {
    await box.open(shards);
    for (const name of Object.keys(process.env)) {
      if (name.startsWith('AWS_')) delete process.env[name];
    }
    Object.assign(process.env, box.env);
  });
  after(() => box.close());
  return box;
}

/** The texts by shard. */
function textsOf(records) {
  const found = {};
  for (const { shard, text } of records) (found[shard] ??= []).push(text);
  return found;
}

const folders = [];
process.once('exit', () => folders.forEach((one) => fs.rmSync(one, { recursive: true, force: true })));

/** A folder in which the package is installed as "sloop". */
function folder() {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'sloop-node-'));
  folders.push(made);
  fs.mkdirSync(path.join(made, 'node_modules'));
  fs.symlinkSync(PACKAGE, path.join(made, 'node_modules', 'sloop'));
  return made;
}

/** Starts a program of a text, or of the file `name`. */
function start(box, text, { args = [], flags = [], env = {}, name = 'program.mjs', where = folder() } = {}) {
  const file = path.join(where, name);
  fs.writeFileSync(file, text);
  const child = spawn(process.execPath, [...flags, file, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'], cwd: where, env: cleanEnvironment({ ...box.env, ...env }),
  });
  const program = { child, out: '', err: '' };
  child.stdout.on('data', (piece) => { program.out += piece; });
  child.stderr.on('data', (piece) => { program.err += piece; });
  program.ended = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code: signal ?? code, out: program.out, err: program.err })));
  return program;
}

/** Runs a program to its end, which must come by itself. Returns its output. */
async function run(box, text, options = {}) {
  const program = start(box, text, options);
  try {
    const ended = await within(program.ended, 'the end of a program', options.limitMs ?? LIMIT_MS);
    assert.strictEqual(ended.code, options.code ?? 0, `${ended.out}\n${ended.err}`);
    return ended;
  } catch (error) {
    error.message += `\n${program.out}\n${program.err}`;
    throw error;
  } finally {
    program.child.kill('SIGKILL');
  }
}

/** Reads all that a stream has, and stops. */
async function readAll(name, options = {}) {
  const got = [];
  const consumer = new sloop.Consumer(name, { start: 'oldest', untilTip: true, ...options });
  try {
    for await (const batch of consumer) {
      for (const record of batch) got.push({ shard: record.shard, sequence: record.sequence, text: record.data.toString() });
      batch.done();
    }
  } finally {
    await consumer.stop();
  }
  return got;
}

/** The folder of a package of package.json, which test/install.sh installs; null: it is not there. */
function toolPath(name) {
  const found = path.join(process.env.SLOOP_TEST_CACHE ?? '', 'node', 'bind', 'node_modules', name);
  return fs.existsSync(found) ? found : null;
}
function tool(name) {
  const found = toolPath(name);
  return found && require(found);
}

module.exports = { Box, BIN, LIMIT_MS, PACKAGE, cleanEnvironment, folder, readAll, run, sandbox, sloop, start, textsOf, tool, toolPath, until, within };
