'use strict';
// Consumer: a consumer of the library as an asynchronous iterable of batches, and an emitter of events.
const { EventEmitter } = require('events');
const native = require('./native.js');
const { StateError, StopTimeout, OptionError, check, errorOf, errorOfEvent } = require('./errors.js');
const { batchOf, deadLetter, giveBack } = require('./records.js');
const {
  nativeOptions, positionValues, afterValues, positionOf, answerCredentials, checkCredentials, copyOf, need, needMs, typeOf, inCamel,
} = require('./options.js');

const { numbers } = native;
const OWN = ['start', 'shards', 'join', 'credentials', 'signal', 'untilTip', 'autoAck', 'numbers', 'stopTimeoutMs'];
const WANTS_STATS = 1, WANTS_CREDS = 2, WANTS_DEAD_LETTER = 4;
const STOP_MS = 5000;

/** The error with which an operation ended, or null. */
function outcome(what, { status, error }) {
  if (status === 0) return null;
  return error ? errorOfEvent({ ...error, code: status }) : errorOf(status, `${what}: ${native.strerror(status)}`);
}

/** Operations of the native part that are under way, by number. `hold` gets 1 when one begins, and -1 when it ends. */
class Operations {
  #pending = new Map();
  #number = 0;
  #hold;

  constructor(hold = () => {}) {
    this.#hold = hold;
  }

  run(what, call, ...args) {
    return new Promise((resolve, reject) => {
      this.#number += 1;
      const status = call(this.#number, ...args);
      check(status, what);
      this.#pending.set(this.#number, { what, resolve, reject });
      this.#hold(1);
    });
  }

  end(done) {
    const operation = this.#pending.get(done.number);
    if (operation === undefined) return;
    this.#pending.delete(done.number);
    this.#hold(-1);
    const error = outcome(operation.what, done);
    if (error === null) operation.resolve(done.result);
    else operation.reject(error);
  }

  endAll() {
    for (const number of [...this.#pending.keys()]) this.end({ number, status: numbers.ECANCELED });
  }
}

class Consumer extends EventEmitter {
  #handle;
  #stream;
  #options;
  #held = 0; // operations under way, those of admin() included
  #operations = new Operations((n) => this.#hold(n));
  #ready = []; // batches that nobody has asked for yet
  #waiters = []; // those who wait for a batch
  #hand = []; // batches that next() has given since it was last called; each loop has such a list of its own
  #failure = null; // { error } that ended the iteration
  #ended = false; // no further batch is handed out
  #state = 'open';
  #stopped = null; // the promise of stop()
  #closed;
  #onClosed;
  #onAbort = null;
  #isRef = true;

  constructor(stream, given = {}) {
    super();
    const options = copyOf(given);
    const texts = nativeOptions(stream, options, OWN);
    const { start, shards, join, credentials, signal } = options;
    checkCredentials(credentials);
    if (shards !== undefined && !(Array.isArray(shards) && shards.every((one) => typeof one === 'string'))) {
      throw new TypeError(`shards: an array of strings is needed, not ${typeOf(shards)}`);
    }
    if (join !== undefined && !(join instanceof Consumer)) throw new TypeError(`join: a Consumer is needed, not ${typeOf(join)}`);
    if (signal !== undefined && !(signal instanceof AbortSignal)) {
      throw new TypeError(`signal: an AbortSignal is needed, not ${typeOf(signal)}`);
    }
    if (options.numbers !== undefined && !['native', 'string'].includes(options.numbers) && typeof options.numbers !== 'function') {
      throw new TypeError('numbers: "native", "string" or a function is needed');
    }
    if (options.stopTimeoutMs !== undefined && options.stopTimeoutMs !== null) needMs('stopTimeoutMs', options.stopTimeoutMs);
    if (options.untilTip && options.app !== undefined) {
      throw new OptionError('untilTip: with an app the tip of this worker\'s shards says nothing of those that it does not have yet',
        { code: 'EOPTION', number: numbers.EOPTION });
    }
    this.#stream = stream;
    this.#options = options;
    this.#closed = new Promise((resolve) => {
      this.#onClosed = resolve;
    });
    const wanted = (options.statsMs ? WANTS_STATS : 0) | (credentials ? WANTS_CREDS : 0) |
      (options.onRetry === 'skip' ? WANTS_DEAD_LETTER : 0);
    const [status, result] = native.open(texts, ...positionValues('start', start ?? 'latest'), [...shards ?? []], join === undefined ? null : join.#handle,
      wanted, (kind, payload) => this.#onEvent(kind, payload));
    if (status !== 0) throw errorOf(status, inCamel(result));
    this.#handle = result;
    if (signal?.aborted) this.#abort(signal);
    else if (signal) {
      this.#onAbort = () => this.#abort(signal);
      signal.addEventListener('abort', this.#onAbort, { once: true });
    }
  }

  get stream() {
    return this.#stream;
  }

  get state() {
    return this.#state;
  }

  get worker() {
    return native.worker(this.#handle);
  }

  // ---- the life ----

  #enter(state) {
    if (this.#state === state || this.#state === 'closed') return;
    this.#state = state;
    this.#hold(0);
    try {
      this.emit('state', state);
    } catch (error) {
      process.nextTick(() => { // it is uncaught, and whoever waits for this step is told of the step all the same
        throw error;
      });
    }
  }

  start() {
    if (this.#state !== 'open') return this;
    check(native.start(this.#handle), 'start()');
    this.#enter('reading');
    return this;
  }

  /** The process lives on while this consumer reads, unless unref() was called, and while an operation is under way. */
  #hold(n) {
    this.#held += n;
    const reads = this.#state === 'reading' || this.#state === 'stopping';
    if (this.#held > 0 || (this.#isRef && reads)) native.ref(this.#handle);
    else native.unref(this.#handle);
  }

  ref() {
    this.#isRef = true;
    this.#hold(0);
    return this;
  }

  unref() {
    this.#isRef = false;
    this.#hold(0);
    return this;
  }

  /** Nothing more is handed out: what was fetched goes back, and who waits is told. */
  #endIteration() {
    this.#ended = true;
    for (const batch of this.#ready.splice(0)) giveBack(batch);
    for (const waiter of this.#waiters.splice(0)) {
      if (this.#failure) waiter.reject(this.#failure.error);
      else waiter.resolve({ value: undefined, done: true });
    }
  }

  #fail(error) {
    this.#failure ??= { error };
    this.#endIteration();
  }

  #abort(signal) {
    this.#fail(signal.reason);
    this.stop().catch(() => {}); // who awaits stop() is told
  }

  end() {
    this.#endIteration();
  }

  async #stopOnce(limitMs) {
    const wasReading = this.#state === 'reading';
    let timeout = null;
    this.#endIteration();
    if (this.#state === 'closed') return;
    this.#enter('stopping');
    if (wasReading) {
      try {
        await this.#operations.run('stop()', (number) => native.stop(this.#handle, number, limitMs));
      } catch (error) {
        if (error instanceof StopTimeout) timeout = error;
      }
    }
    await this.close();
    if (timeout) throw timeout;
  }

  async stop(limitMs = this.#options.stopTimeoutMs ?? STOP_MS) {
    needMs('stop()', limitMs);
    this.#stopped ??= this.#stopOnce(limitMs);
    await this.#stopped;
  }

  close() {
    this.#endIteration();
    native.close(this.#handle);
    return this.#closed;
  }

  async [Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')]() {
    this.#endIteration();
    native.giveBack(this.#handle);
    try {
      await this.stop();
    } catch (error) {
      if (!(error instanceof StopTimeout)) throw error;
    }
  }

  // ---- events ----

  #onEvent(kind, payload) {
    switch (kind) {
      case numbers.BATCH: this.#onBatch(batchOf(payload, this.#options.numbers)); break;
      case numbers.SHARD: this.emit('shard', payload); break;
      case numbers.LEASE: this.emit('lease', payload); break;
      case numbers.TIP: this.#onTip(); break;
      case numbers.STATS: this.emit('stats', payload); break;
      case numbers.LOG: this.emit('log', payload); break;
      case numbers.LOSS: this.#onLoss(payload); break;
      case numbers.ERROR: this.#onError(errorOfEvent(payload)); break;
      case numbers.DEAD_LETTER: this.emit('deadLetter', deadLetter(payload, this.#options.numbers)); break;
      case numbers.CREDS: answerCredentials(this.#options.credentials, payload); break;
      case numbers.DONE: this.#operations.end(payload); break;
      case numbers.CLOSED: this.#onEnd(); break;
      default: break;
    }
  }

  #onBatch(batch) {
    if (this.#ended) {
      giveBack(batch);
      return;
    }
    const waiter = this.#waiters.shift();
    if (waiter === undefined) this.#ready.push(batch);
    else waiter.resolve(this.#handOut(waiter.hand, batch));
  }

  #onTip() {
    if (this.#options.untilTip) {
      this.#endIteration();
      this.unref();
    }
    this.emit('tip');
  }

  #onLoss(loss) {
    if (this.emit('loss', loss)) return;
    process.emitWarning(`${this.#stream}: ${loss.message}`, { type: 'SloopWarning', code: 'SLOOP_LOSS' });
  }

  #onError(error) {
    if (!error.fatal) {
      if (!this.emit('warning', error)) {
        process.emitWarning(`${this.#stream}: ${error.message}`, { type: 'SloopWarning', code: `SLOOP_${error.code}` });
      }
      return;
    }
    this.#enter('failed');
    this.#fail(error);
    if (this.listenerCount('error') > 0) this.emit('error', error);
  }

  #onEnd() {
    this.#endIteration();
    this.#operations.endAll();
    if (this.#onAbort) this.#options.signal.removeEventListener('abort', this.#onAbort);
    this.#enter('closed');
    this.#onClosed();
  }

  // ---- batches ----

  #handOut(hand, batch) {
    hand.push(batch);
    return { value: batch, done: false };
  }

  #next(hand) {
    for (const before of hand.splice(0)) {
      if (this.#options.autoAck && !before.isDone) before.done();
    }
    try {
      if (!this.#ended) this.start();
    } catch (error) {
      return Promise.reject(error);
    }
    if (this.#failure) return Promise.reject(this.#failure.error);
    if (this.#ended) return Promise.resolve({ value: undefined, done: true }); // which a listener of start() may have done
    if (this.#ready.length > 0) return Promise.resolve(this.#handOut(hand, this.#ready.shift()));
    return new Promise((resolve, reject) => this.#waiters.push({ hand, resolve, reject }));
  }

  #return(hand, value) {
    for (const before of hand.splice(0)) giveBack(before);
    const left = this.#waiters.filter((waiter) => waiter.hand === hand);
    this.#waiters = this.#waiters.filter((waiter) => waiter.hand !== hand);
    for (const waiter of left) waiter.resolve({ value: undefined, done: true });
    return Promise.resolve({ value, done: true });
  }

  next() {
    return this.#next(this.#hand);
  }

  return(value) {
    return this.#return(this.#hand, value);
  }

  /** A loop takes over what next() gave before it. */
  [Symbol.asyncIterator]() {
    const hand = this.#hand.splice(0);
    return {
      next: () => this.#next(hand),
      return: (value) => this.#return(hand, value),
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  async* records() {
    for await (const batch of this) {
      for (const record of batch) {
        yield record;
        if (batch.isDone) break;
        record.ack();
      }
      if (!batch.isDone) batch.done();
    }
  }

  // ---- operations ----

  #need(what) {
    if (this.#state === 'closed') {
      throw new StateError(`${what}: the consumer of ${JSON.stringify(this.#stream)} is closed`, { code: 'ESTATE', number: numbers.ESTATE });
    }
    return this.#handle;
  }

  #shard(what, shard) {
    if (shard !== undefined && shard !== null) need(`${what}: shard`, shard, 'string', 'a string');
    return shard ?? null;
  }

  stats() {
    return native.stats(this.#need('stats()')) ?? check(numbers.ESTATE, 'stats()');
  }

  shardStats() {
    const all = native.shardStats(this.#need('shardStats()')) ?? check(numbers.ESTATE, 'shardStats()');
    return all.map((one) => ({ ...one, start: positionOf(one.start) }));
  }

  token() {
    const [status, token] = native.token(this.#need('token()'));
    check(status, 'token()');
    return token;
  }

  pause(shard) {
    check(native.pause(this.#need('pause()'), this.#shard('pause()', shard)), 'pause()');
  }

  resume(shard) {
    check(native.resume(this.#need('resume()'), this.#shard('resume()', shard)), 'resume()');
  }

  async seek(to) {
    const values = positionValues('seek()', to);
    const handle = this.#need('seek()');
    await this.#operations.run('seek()', (number) => native.seek(handle, number, ...values));
    for (const batch of this.#ready.splice(0)) giveBack(batch); // of before the move
  }

  async checkpoint(shard) {
    const handle = this.#need('checkpoint()');
    await this.#operations.run('checkpoint()', (number) => native.checkpoint(handle, number, this.#shard('checkpoint()', shard)));
  }

  async checkpointAt(shard, to) {
    need('checkpointAt(): shard', shard, 'string', 'a string');
    const values = afterValues('checkpointAt()', to);
    const handle = this.#need('checkpointAt()');
    await this.#operations.run('checkpointAt()', (number) => native.checkpointAt(handle, number, shard, ...values));
  }

  seekCheckpoint(shard) {
    need('seekCheckpoint(): shard', shard, 'string', 'a string');
    check(native.seekCheckpoint(this.#need('seekCheckpoint()'), shard), 'seekCheckpoint()');
    // What nobody has asked for yet is of before the move.
    for (const batch of this.#ready.filter((one) => [...one].some((record) => record.shard === shard))) {
      this.#ready.splice(this.#ready.indexOf(batch), 1);
      giveBack(batch);
    }
  }

  handover(shard) {
    need('handover(): shard', shard, 'string', 'a string');
    check(native.handover(this.#need('handover()'), shard), 'handover()');
  }

  async shards() {
    const handle = this.#need('shards()');
    return this.#operations.run('shards()', (number) => native.shards(handle, number));
  }

  admin() {
    const { partOf } = require('./admin.js'); // which needs this file
    return partOf(native.adminOf.bind(null, this.#need('admin()')), (n) => this.#hold(n));
  }
}

/** Records one by one; asking for the next one acknowledges the one before. */
async function* read(stream, options = {}) {
  const consumer = new Consumer(stream, { ...options, start: options.start ?? 'oldest' });
  try {
    yield* consumer.records();
  } finally {
    await consumer[Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')]();
  }
}

module.exports = { Consumer, Operations, read };
