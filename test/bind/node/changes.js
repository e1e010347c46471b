'use strict';
// The changes of tables as values, beside unmarshall() of @aws-sdk/util-dynamodb.
const assert = require('node:assert');
const path = require('node:path');
const { test } = require('./harness.js');
const { sandbox, sloop, tool } = require('./world.js');

const box = sandbox();
const { unmarshall } = tool('@aws-sdk/util-dynamodb') ?? {};

async function recordsOf(table, options = {}) {
  const all = [];
  for await (const record of sloop.read(`dynamodb:${table}`, { untilTip: true, ...options })) all.push(record);
  return all;
}

test('values of every type', async () => {
  const table = await box.table('exact');
  const bytes = Buffer.from([...Array(256).keys()]);
  const item = {
    id: { S: 'schlüssel "\\\n\u{1f600}' }, n: { N: '1234567890123456789.0123456789' }, b: { B: bytes.toString('base64') },
    t: { BOOL: true }, f: { BOOL: false }, z: { NULL: true }, ss: { SS: ['a', 'b'] }, ns: { NS: ['1', '2.5', '-1E-7'] },
    bs: { BS: ['AQ==', 'Ag=='] }, l: { L: [{ N: '1' }, { M: { x: { L: [] } } }] }, m: { M: {} }, e: { S: '' },
    big: { N: '12345678901234567890' }, __proto__x: { S: 'p' },
  };
  await box.dynamodb('PutItem', { TableName: table, Item: item });
  await box.dynamodb('DeleteItem', { TableName: table, Key: { id: item.id } });
  const [put, removed] = (await recordsOf(table, { numbers: 'string' })).map((record) => record.change);
  assert.strictEqual(put.event, 'INSERT');
  assert.deepStrictEqual(put.keys, { id: item.id.S });
  assert.strictEqual(put.oldImage, null);
  assert.deepStrictEqual(put.newImage, {
    id: item.id.S, n: '1234567890123456789.0123456789', b: bytes, t: true, f: false, z: null, ss: new Set(['a', 'b']),
    ns: new Set(['1', '2.5', '-0.0000001']), bs: new Set([Buffer.from([1]), Buffer.from([2])]), l: ['1', { x: [] }], m: {}, e: '',
    big: '12345678901234567890', __proto__x: 'p',
  });
  assert.deepStrictEqual([removed.event, removed.oldImage, removed.newImage], ['REMOVE', put.newImage, null]);
  const [calculated] = await recordsOf(table, { numbers: (text) => ({ text }) });
  assert.deepStrictEqual(calculated.change.newImage.big, { text: '12345678901234567890' });
  const [record] = await recordsOf(table);
  assert.throws(() => record.change, /1234567890123456789\.0123456789 is neither a Number nor a BigInt.*numbers: "string"/);
});

test('the raw JSON is there', async () => {
  const table = await box.table('raw');
  await box.dynamodb('PutItem', { TableName: table, Item: { id: { S: 'a' }, big: { N: '12345678901234567890' }, n: { N: '-1.5' } } });
  const [record] = await recordsOf(table);
  assert.deepStrictEqual(record.json().NewImage.id, { S: 'a' });
  assert.strictEqual(JSON.parse(record.wholeJson).eventName, 'INSERT');
  assert.strictEqual(JSON.parse(record.wholeJson).eventID, record.eventId);
  assert.deepStrictEqual([record.event, JSON.parse(record.key)], ['INSERT', { id: { S: 'a' } }]);
  assert.deepStrictEqual(record.change.newImage, { id: 'a', big: 12345678901234567890n, n: -1.5 });
  assert.strictEqual(record.change, record.change);
});

/** A value of a fixed sequence. */
function attribute(random, depth) {
  const digits = () => `${random(2) ? '' : '-'}${1 + random(9)}${'0123456789'.repeat(2).slice(0, random(18))}${random(2) ? '' : `.${1 + random(9)}`}`;
  const number = () => (random(4) ? `${random(1e9)}.${1 + random(9)}` : digits().replace(/^(-?\d{16,})\.\d+$/, '$1'));
  const text = () => ['', 'a', 'ä', '"\\/\n\t', '\u{1f600}\u0000', '__proto__', 'x'.repeat(300)][random(7)];
  const binary = () => Buffer.from(`${text()}${random(1000)}`).toString('base64');
  const several = (make) => [...new Set(Array.from({ length: 1 + random(4) }, make))];
  switch (random(depth > 3 ? 8 : 10)) {
    case 0: return { S: text() };
    case 1: return { N: number() };
    case 2: return { B: binary() };
    case 3: return { BOOL: random(2) === 1 };
    case 4: return { NULL: true };
    case 5: return { SS: several(() => `${text()}${random(100)}`) };
    case 6: return { NS: several(() => String(random(1e6))) };
    case 7: return { BS: several(binary) };
    case 8: return { L: Array.from({ length: random(4) }, () => attribute(random, depth + 1)) };
    default: return { M: Object.fromEntries(Array.from({ length: random(4) }, (_, i) => [`m${i}`, attribute(random, depth + 1)])) };
  }
}

/** What the SDK's client would give to unmarshall(): binaries as bytes. */
function decoded(value) {
  if (Array.isArray(value)) return value.map(decoded);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => {
    if (name === 'B' && typeof one === 'string') return [name, Buffer.from(one, 'base64')];
    if (name === 'BS' && Array.isArray(one)) return [name, one.map((text) => Buffer.from(text, 'base64'))];
    return [name, decoded(one)];
  }));
}

test('values are those of unmarshall()', { skip: !unmarshall && '@aws-sdk/util-dynamodb is not installed' }, async () => {
  const table = await box.table('same');
  let state = 1;
  const random = (n) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * n);
  };
  for (let i = 0; i < 200; i++) {
    const item = { id: { S: `id${i}` } };
    for (let k = 0; k < 6; k++) item[`a${k}`] = attribute(random, 0);
    await box.dynamodb('PutItem', { TableName: table, Item: item });
  }
  const records = await recordsOf(table);
  assert.strictEqual(records.length, 200);
  for (const record of records) {
    const raw = decoded(record.json());
    assert.deepStrictEqual(record.change.newImage, unmarshall(raw.NewImage));
    assert.deepStrictEqual(record.change.keys, unmarshall(raw.Keys));
  }
  const exact = await recordsOf(table, { numbers: 'string' });
  for (const record of exact) {
    assert.deepStrictEqual(record.change.newImage, unmarshall(decoded(record.json()).NewImage, { wrapNumbers: (text) => text }));
  }
});

test('what is no change raises, and names of attributes are only names', () => {
  const { changeOf } = require(path.join(process.env.SLOOP_NODE_PACKAGE, 'lib', 'change.js'));
  const of = (attributes, numbers) => changeOf('INSERT', `{"Keys":{"a":${attributes}}}`, numbers).keys.a;
  for (const bad of ['{"S":"a"', '[', '{"N":"1"}}}}']) assert.throws(() => of(bad), SyntaxError);
  for (const bad of ['{"X":"a"}', '{}', 'null', '5', '{"L":{}}', '{"NS":5}']) assert.throws(() => of(bad), TypeError, bad);
  const map = of('{"M":{"__proto__":{"M":{"polluted":{"BOOL":true}}},"constructor":{"S":"c"}}}');
  assert.strictEqual(map.polluted, undefined);
  assert.strictEqual({}.polluted, undefined);
  assert.deepStrictEqual(Object.keys(map), ['__proto__', 'constructor']);
  assert.throws(() => of('{"N":"1E+100"}'), RangeError);
  assert.strictEqual(of('{"N":"1E+100"}', 'string'), '1E+100');
  assert.strictEqual(of('{"N":"9007199254740993"}'), 9007199254740993n);
  assert.strictEqual(of('{"N":"0.1"}'), 0.1);
});
