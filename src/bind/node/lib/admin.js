'use strict';
// Admin: an operator's requests about the leases of an application. One request at a time.
const native = require('./native.js');
const { check, errorOf, errorOfEvent } = require('./errors.js');
const { Operations } = require('./consumer.js');
const { nativeOptions, positionValues, positionOf, answerCredentials, checkCredentials, copyOf, need, needMs, inCamel } = require('./options.js');

const { numbers } = native;
const OWN = ['credentials'];
const LEASE_STATES = ['', 'free', 'owned', 'ownerDead'];
const LAGS = ['unasked', 'read', 'trimmed', 'gone', 'refused', 'failed', 'unproven', 'outOfTime', 'noPosition'];
const WHYS = ['', 'read', 'owned', 'ended', 'parked', 'parent', 'free', 'ownerSilent', 'ownerDead', 'ownerMissing', 'noLease',
  'badRow', 'refused', 'drained'];
const LEADER_STATES = ['unused', 'alive', 'none', 'silent', 'dead'];
const CHANGES = ['', 'done', 'wasSo', 'free', 'unowned', 'ended', 'noLease', 'conflict', 'noRow', 'position', 'taken', 'unknown'];
const EVICTIONS = ['none', 'done', 'wasSo', 'hadLeft'];

const named = (names, number) => names[number] ?? String(number);
const leaseOf = (one) => ({
  ...one, position: positionOf(one.position), state: named(LEASE_STATES, one.state), lag: named(LAGS, one.lag),
});
const shardLeaseOf = (one) => one && { ...one, lease: one.lease && leaseOf(one.lease) };
const leasesOf = (all) => ({ ...all, leases: all.leases.map(leaseOf), unleased: all.unleased.map(leaseOf) });
const explanationOf = (one) => ({
  ...one, why: named(WHYS, one.why), shard: shardLeaseOf(one.shard), waitsFor: shardLeaseOf(one.waitsFor),
  waitsForLast: shardLeaseOf(one.waitsForLast), parents: one.parents.map(shardLeaseOf), children: one.children.map(shardLeaseOf),
  leaderState: named(LEADER_STATES, one.leaderState),
});
const resultOf = (one) => ({
  ...one, eviction: named(EVICTIONS, one.eviction),
  changes: one.changes.map((change) => ({
    ...change, kind: named(CHANGES, change.kind), to: positionOf(change.to), was: positionOf(change.was),
  })),
});

const PART = Symbol('part');
const MS_MAX = 0xffffffff;

/** The operator's requests of a consumer: `open` gives the native handle, `hold` is that of Operations. */
const partOf = (open, hold) => new Admin(PART, { open, hold });

class Admin {
  #handle;
  #credentials;
  #operations;
  #handler; // the native part holds that of a consumer only while a request is under way
  #failure = null;
  #isPart = false;
  #closed;
  #onClosed;

  constructor(stream, given = {}) {
    this.#closed = new Promise((resolve) => {
      this.#onClosed = resolve;
    });
    this.#handler = (kind, payload) => this.#onEvent(kind, payload);
    if (stream === PART) {
      this.#isPart = true;
      this.#operations = new Operations(given.hold);
      this.#handle = given.open(this.#handler) ?? check(numbers.ESTATE, 'admin()'); // the consumer closes
      return;
    }
    this.#operations = new Operations();
    const options = copyOf(given);
    const texts = nativeOptions(stream, options, OWN);
    checkCredentials(options.credentials);
    this.#credentials = options.credentials;
    const [status, result] = native.adminOpen(texts, options.credentials === undefined ? 0 : 1, this.#handler);
    if (status !== 0) throw errorOf(status, inCamel(result));
    this.#handle = result;
  }

  #onEvent(kind, payload) {
    if (kind === numbers.DONE) this.#operations.end(payload);
    else if (kind === numbers.CREDS) answerCredentials(this.#credentials, payload);
    else if (kind === numbers.ERROR && payload.fatal) this.#failure = errorOfEvent(payload);
    else if (kind === numbers.CLOSED) {
      this.#operations.endAll();
      this.#onClosed();
    }
  }

  async #ask(what, call, ...args) {
    if (this.#failure) throw this.#failure;
    return this.#operations.run(what, (number) => call(this.#handle, number, ...args));
  }

  async leases() {
    return leasesOf(await this.#ask('leases()', native.adminLeases));
  }

  async lag(limitMs = 0) {
    needMs('lag()', limitMs, MS_MAX);
    return leasesOf(await this.#ask('lag()', native.adminLag, limitMs));
  }

  async explain(shard) {
    need('explain(): shard', shard, 'string', 'a string');
    return explanationOf(await this.#ask('explain()', native.adminExplain, shard));
  }

  async release(shardOrWorker) {
    need('release()', shardOrWorker, 'string', 'a shard or a worker');
    return resultOf(await this.#ask('release()', native.adminRelease, shardOrWorker));
  }

  async reset(to, { shard = null, force = false } = {}) {
    if (shard !== null) need('reset(): shard', shard, 'string', 'a string'); // the native part takes null for all
    return resultOf(await this.#ask('reset()', native.adminReset, shard, force ? 1 : 0, ...positionValues('reset()', to)));
  }

  async drain(on = true, limitMs = 0) {
    needMs('drain()', limitMs, MS_MAX);
    return this.#ask('drain()', native.adminDrain, on ? 1 : 0, limitMs);
  }

  async pause(shard, on = true, limitMs = 0) {
    need('pause(): shard', shard, 'string', 'a string');
    needMs('pause()', limitMs, MS_MAX);
    return resultOf(await this.#ask('pause()', native.adminPause, shard, on ? 1 : 0, limitMs));
  }

  close() {
    if (this.#isPart) return Promise.resolve();
    const status = native.adminClose(this.#handle);
    if (status !== numbers.ESTATE) check(status, 'close()');
    return this.#closed;
  }

  async [Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')]() {
    await this.close();
  }
}

module.exports = { Admin, partOf };
