'use strict';
// Options and positions: from what a user writes to what the native part takes.
const native = require('./native.js');
const { OptionError, errorOf } = require('./errors.js');

// The options of sloop.h that a user may set by their names in camelCase.
const NAMES = [
  'region', 'endpoint', 'profile', 'ca_bundle', 'user_agent', 'aggregates', 'on_trimmed', 'wire', 'poll_ms', 'list_ms',
  'fetch_records_max', 'in_flight_max', 'buffered_bytes_max', 'buffered_records_per_shard_max', 'order', 'order_wait_ms',
  'batches_out_max', 'batch_records_max', 'batch_bytes_max', 'retry_max', 'on_retry', 'log_level', 'stats_ms', 'app', 'worker',
  'store', 'store_endpoint', 'schema', 'lease_ms', 'checkpoint_ms', 'handover_ms', 'stall_ms', 'weight', 'kcl_coordinator',
  'kcl_metrics', 'retrieval', 'push_consumer', 'checkpoints', 'unready_ms',
];
const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
const BY_CAMEL = new Map(NAMES.map((name) => [camel(name), name]));
const KINDS = ['', 'latest', 'oldest', 'time', 'sequence', 'token', 'after', 'end'];

function typeOf(value) {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? `a ${value.constructor?.name ?? 'object'}` : `a ${typeof value}`;
}

function need(what, value, type, words) {
  if (typeof value !== type) throw new TypeError(`${what}: ${words} is needed, not ${typeOf(value)}`);
  if (type === 'string' && value.includes('\0')) throw new TypeError(`${what}: ${words} without a NUL character is needed`);
}

function needNumber(what, value, words, isGood) {
  if (typeof value === 'number' && isGood(value)) return;
  throw new TypeError(`${what}: ${words} is needed, not ${typeof value === 'number' ? value : typeOf(value)}`);
}

/** A limit of an operation; `max` is the longest. */
function needMs(what, value, max = Infinity) {
  needNumber(what, value, 'a number of milliseconds', (ms) => ms >= 0 && ms <= max);
}

/** The options as they are now: what the program changes later has no effect. */
function copyOf(options) {
  if (options === null || typeof options !== 'object') throw new TypeError(`options: an object is needed, not ${typeOf(options)}`);
  return { ...options };
}

/** The names of the library in a message become those that the user wrote. */
function inCamel(why) {
  return why.replace(/\b[a-z]+(?:_[a-z0-9]+)+\b/g, (name) => (NAMES.includes(name) ? camel(name) : name));
}

/** [name, value, ...] of the native part. `own` are the names that the caller takes itself. */
function nativeOptions(stream, options, own) {
  need('stream', stream, 'string', 'a string');
  const texts = ['stream', stream];
  for (const [name, value] of Object.entries(options)) {
    if (own.includes(name) || value === undefined || value === null) continue;
    const known = BY_CAMEL.get(name);
    if (known === undefined) throw new OptionError(`${name}: there is no such option`, { code: 'EOPTION', number: native.numbers.EOPTION });
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw new TypeError(`${name}: a string or a number is needed, not ${typeOf(value)}`);
    }
    texts.push(known, String(value));
  }
  if (typeof options.store === 'string' && options.store.startsWith('sqlite:')) {
    throw new OptionError('store: leases in a SQLite file are not possible in node, which has a copy of SQLite since version 22, as ' +
      'packages have: when another copy opens and closes the file, sloop loses its locks', { code: 'EOPTION', number: native.numbers.EOPTION });
  }
  const [status, why] = native.checkOptions(texts);
  if (status !== 0) throw errorOf(status, inCamel(why));
  return texts;
}

function timeOf(what, date) {
  const ms = date.getTime();
  needNumber(what, ms, 'a number', Number.isFinite);
  return ms;
}

function subSequenceOf(what, { subSequence }) {
  if (subSequence === undefined || subSequence === null) return 0;
  needNumber(`${what}.subSequence`, subSequence, 'an integer from 0 to 4294967295', (n) => Number.isInteger(n) && n >= 0 && n <= 0xffffffff);
  return subSequence;
}

/** The five values of a position: kind, time, shard, sequence number or token, sub-sequence number. */
function positionValues(what, position) {
  if (typeof position === 'string') {
    const kind = KINDS.indexOf(position);
    if (kind !== 1 && kind !== 2 && kind !== 7) {
      throw new TypeError(`${what}: "latest", "oldest" or an object is needed, not ${JSON.stringify(position)}`);
    }
    return [kind, 0, null, null, 0];
  }
  if (position instanceof Date) return [3, timeOf(what, position), null, null, 0];
  need(what, position === null ? undefined : position, 'object', '"latest", "oldest", a Date or an object');
  if (position.token !== undefined) {
    need(`${what}.token`, position.token, 'string', 'a string');
    return [5, 0, null, position.token, 0];
  }
  need(`${what}.shard`, position.shard, 'string', 'a string');
  need(`${what}.sequence`, position.sequence, 'string', 'a string');
  return [4, 0, position.shard, position.sequence, subSequenceOf(what, position)];
}

/** For checkpointAt(): "end", or the record up to which all is finished. */
function afterValues(what, position) {
  if (position === 'end') return [7, 0, null, null, 0];
  need(what, position, 'object', '"end" or an object');
  need(`${what}.sequence`, position?.sequence, 'string', 'a string');
  return [6, 0, null, position.sequence, subSequenceOf(what, position)];
}

/** A position that the library gave, as a user has it; null: none. */
function positionOf(given) {
  if (given.kind === 0) return null;
  const position = { kind: KINDS[given.kind] ?? String(given.kind) };
  if (given.kind === 3) position.at = new Date(given.atMs);
  if (given.shard) position.shard = given.shard;
  if (given.sequence) Object.assign(position, { sequence: given.sequence, subSequence: given.subSequence });
  if (given.token) position.token = given.token;
  return position;
}

/** Any value may be thrown, also one that can't be made a text. */
function textOf(thrown) {
  try {
    return String(thrown).replace(/[\s\0]+/g, ' ');
  } catch {
    return 'what it threw has no text';
  }
}

/** Answers a request for credentials by what the user gave: keys, or a function that returns them. */
async function answerCredentials(credentials, request) {
  try {
    const keys = typeof credentials === 'function' ? await credentials() : credentials;
    if (typeof keys?.accessKeyId !== 'string' || typeof keys?.secretAccessKey !== 'string') {
      throw new TypeError(`accessKeyId and secretAccessKey are needed, not ${typeOf(keys)} without them`);
    }
    if (keys.sessionToken !== undefined && keys.sessionToken !== null) need('sessionToken', keys.sessionToken, 'string', 'a string');
    const expires = keys.expiration === undefined || keys.expiration === null ? -1 : new Date(keys.expiration).getTime();
    if (Number.isNaN(expires)) throw new TypeError('expiration is no date');
    native.answerCreds(request, keys.accessKeyId, keys.secretAccessKey, keys.sessionToken ?? null, expires);
  } catch (error) {
    native.refuseCreds(request, `the credentials function failed: ${textOf(error)}`);
  }
}

function checkCredentials(credentials) {
  if (credentials !== undefined && typeof credentials !== 'function' && (typeof credentials !== 'object' || credentials === null)) {
    throw new TypeError(`credentials: a function or an object with keys is needed, not ${typeOf(credentials)}`);
  }
}

module.exports = {
  nativeOptions, positionValues, afterValues, positionOf, answerCredentials, checkCredentials, copyOf, need, needMs, typeOf, inCamel,
};
