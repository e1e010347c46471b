'use strict';
// Batches and records. The native part gives a batch as one Buffer that begins with a table of numbers; a record reads
// what it is asked for. A record that is kept keeps the Buffer, also after its batch went back.
const { inspect } = require('util');
const native = require('./native.js');
const { StateError, check } = require('./errors.js');
const { changeOf } = require('./change.js');

// Columns of the table, as in nd_records.c: offset and length, or high and low 32 bits.
const SEQ = 0, KEY = 2, DATA = 4, SHARD = 6, ATTEMPT = 7, FLAGS = 8, SUB = 9, ARRIVED = 10, EPOCH = 12;
const EVENT = 14, EVENT_ID = 16, USER = 18, WHOLE = 20;
const WIDTH_OF_CHANGE = 22;
const LATE = 1, RAW = 2, REDELIVERED = 4, FOREIGN = 8, KEYLESS = 16;
const HIGH = 2 ** 32;
const GIVEN_BACK = -2; // of native.batchOwned()
const UNKNOWN_TIME = 0xffffffff;

// What slab.subarray() makes; called at once, without the search for it at each record.
const Bytes = Buffer[Symbol.species];

class Pack {
  constructor(packed, numbers) {
    this.handle = packed.handle ?? null; // null: given back, or a dead letter
    this.slab = packed.slab;
    this.buffer = packed.slab.buffer;
    this.base = packed.slab.byteOffset;
    this.table = new Uint32Array(this.buffer, this.base, packed.count * packed.width);
    this.count = packed.count;
    this.width = packed.width;
    this.shards = packed.shards;
    this.stream = packed.stream;
    this.numbers = numbers;
  }
}

class Record {
  #pack;
  #row;
  #index;
  #data;
  #change;

  constructor(pack, index) {
    if (!(pack instanceof Pack)) throw new TypeError('Record: only a Batch makes one');
    this.#pack = pack;
    this.#index = index;
    this.#row = index * pack.width;
  }

  #cell(column) {
    const value = this.#pack.table[this.#row + column];
    if (value === undefined) { // the table is empty since the program moved its memory away
      throw new StateError('Record: the ArrayBuffer of its batch was transferred; transfer a copy, such as new Uint8Array(record.data)',
        { code: 'ESTATE', number: native.numbers.ESTATE });
    }
    return value;
  }

  #bytes(column) {
    const { buffer, base } = this.#pack;
    return new Bytes(buffer, base + this.#cell(column), this.#cell(column + 1));
  }

  #text(column, encoding) {
    const at = this.#cell(column);
    return this.#pack.slab.toString(encoding, at, at + this.#cell(column + 1));
  }

  #flag(flag) {
    return (this.#cell(FLAGS) & flag) !== 0;
  }

  #ofChange(column) {
    return this.#pack.width === WIDTH_OF_CHANGE && this.#cell(column + 1) !== 0;
  }

  get stream() {
    return this.#pack.stream;
  }

  get shard() {
    return this.#pack.shards[this.#cell(SHARD)];
  }

  get sequence() {
    return this.#text(SEQ, 'latin1');
  }

  get subSequence() {
    return this.#cell(SUB);
  }

  get key() {
    return this.#flag(KEYLESS) ? null : this.#text(KEY, 'utf8');
  }

  get data() {
    this.#data ??= this.#bytes(DATA);
    return this.#data;
  }

  get arrivedAtMs() {
    const high = this.#cell(ARRIVED);
    return high === UNKNOWN_TIME ? null : high * HIGH + this.#cell(ARRIVED + 1);
  }

  get arrivedAt() {
    const ms = this.arrivedAtMs;
    return ms === null ? null : new Date(ms);
  }

  get epoch() {
    return this.#cell(EPOCH) * HIGH + this.#cell(EPOCH + 1);
  }

  get attempt() {
    return this.#cell(ATTEMPT);
  }

  get late() {
    return this.#flag(LATE);
  }

  get raw() {
    return this.#flag(RAW);
  }

  get redelivered() {
    return this.#flag(REDELIVERED);
  }

  get foreign() {
    return this.#flag(FOREIGN);
  }

  get event() {
    return this.#ofChange(EVENT) ? this.#text(EVENT, 'latin1') : null;
  }

  get eventId() {
    return this.#ofChange(EVENT_ID) ? this.#text(EVENT_ID, 'utf8') : null;
  }

  get userJson() {
    return this.#ofChange(USER) ? this.#bytes(USER) : null;
  }

  get wholeJson() {
    return this.#ofChange(WHOLE) ? this.#bytes(WHOLE) : null;
  }

  get change() {
    if (this.#change === undefined) {
      const { event } = this;
      this.#change = event === null ? null : changeOf(event, this.#text(DATA, 'utf8'), this.#pack.numbers);
    }
    return this.#change;
  }

  get owned() {
    const { handle } = this.#pack;
    return handle !== null && native.batchOwned(handle, this.#index) === 1;
  }

  ack() {
    const { handle } = this.#pack;
    if (handle === null || native.batchAck(handle, this.#index) !== 0) {
      throw new StateError('Record.ack(): its batch was given back before', { code: 'ESTATE', number: native.numbers.ESTATE });
    }
  }

  json() {
    return JSON.parse(this.#text(DATA, 'utf8'));
  }

  [inspect.custom](depth, options) {
    if (!(#pack in this)) return 'Record {}'; // a prototype, or what is made of it
    const { stream, shard, sequence, key, data, event } = this;
    return `Record ${inspect({ stream, shard, sequence, key, data, ...(event && { event }) }, options)}`;
  }
}

class RecordIterator {
  #pack;
  #next = 0;

  constructor(pack) {
    this.#pack = pack;
  }

  next() {
    if (this.#next >= this.#pack.count) return { value: undefined, done: true };
    return { value: new Record(this.#pack, this.#next++), done: false };
  }

  [Symbol.iterator]() {
    return this;
  }
}

/** Gives a batch back unless that was done: nothing more of it is acknowledged. */
let giveBack;

class Batch {
  #pack;
  #behindMs;

  constructor(pack, behindMs) {
    if (!(pack instanceof Pack)) throw new TypeError('Batch: only a Consumer makes one');
    this.#pack = pack;
    this.#behindMs = behindMs < 0 ? null : behindMs;
  }

  get length() {
    return this.#pack.count;
  }

  get behindMs() {
    return this.#behindMs;
  }

  get isDone() {
    const { handle } = this.#pack;
    return handle === null || native.batchOwned(handle, 0) === GIVEN_BACK;
  }

  at(index) {
    if (!Number.isInteger(index)) throw new TypeError('Batch.at(): an integer is needed');
    const { count } = this.#pack;
    const i = index < 0 ? index + count : index;
    return i >= 0 && i < count ? new Record(this.#pack, i) : undefined;
  }

  [Symbol.iterator]() {
    return new RecordIterator(this.#pack);
  }

  done(acked) {
    const { handle, count } = this.#pack;
    if (acked !== undefined && (!Number.isInteger(acked) || acked < 0 || acked > count)) {
      throw new RangeError(`Batch.done(): an integer from 0 to ${count} is needed, for the batch has so many records`);
    }
    if (handle === null) {
      throw new StateError('Batch.done(): the batch was given back before', { code: 'ESTATE', number: native.numbers.ESTATE });
    }
    this.#pack.handle = null;
    check(native.batchDone(handle, acked ?? -1), 'Batch.done(): the batch was given back when its consumer was closed');
  }

  static {
    giveBack = (batch) => {
      const { handle } = batch.#pack;
      if (handle === null) return;
      batch.#pack.handle = null;
      native.batchDone(handle, 0);
    };
  }

  [inspect.custom]() {
    if (!(#pack in this)) return 'Batch {}';
    return `Batch of ${this.length} records${this.isDone ? ', given back' : ''}`;
  }
}

const batchOf = (packed, numbers) => new Batch(new Pack(packed, numbers), packed.behindMs);
const deadLetter = (packed, numbers) => new Record(new Pack(packed, numbers), 0);

module.exports = { Batch, Record, batchOf, deadLetter, giveBack: (batch) => giveBack(batch) };
