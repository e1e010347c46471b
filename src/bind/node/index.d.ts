/// <reference types="node" />
import { EventEmitter } from 'events';

/** Where to begin: what comes from now on, all that is kept, a time, a token of token(), or a record. */
export type Start = 'latest' | 'oldest' | Date | { token: string } | { shard: string; sequence: string; subSequence?: number };

/** A position as it is shown. */
export interface Position {
  kind: 'latest' | 'oldest' | 'time' | 'sequence' | 'token' | 'after' | 'end';
  at?: Date;
  shard?: string;
  sequence?: string;
  subSequence?: number;
  token?: string;
}

/** Keys as the AWS SDK for JavaScript has them. */
export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
  expiration?: Date | undefined;
}

/** Options of the library by their names in sloop.h, in camelCase. What is undefined is the default. */
export interface Options {
  region?: string | undefined;
  endpoint?: string | undefined;
  profile?: string | undefined;
  caBundle?: string | undefined;
  userAgent?: string | undefined;
  aggregates?: 'expand' | 'keep' | undefined;
  onTrimmed?: 'stop' | 'continue' | undefined;
  wire?: 'auto' | 'cbor' | 'json' | undefined;
  pollMs?: number | undefined;
  listMs?: number | undefined;
  fetchRecordsMax?: number | undefined;
  inFlightMax?: number | undefined;
  bufferedBytesMax?: number | undefined;
  bufferedRecordsPerShardMax?: number | undefined;
  order?: 'time' | 'shard' | undefined;
  orderWaitMs?: number | undefined;
  batchesOutMax?: number | undefined;
  batchRecordsMax?: number | undefined;
  /** At most 268435456. */
  batchBytesMax?: number | undefined;
  retryMax?: number | undefined;
  /** "skip": the event deadLetter gets the record. */
  onRetry?: 'again' | 'stop' | 'park' | 'skip' | undefined;
  logLevel?: 'error' | 'warn' | 'info' | 'debug' | undefined;
  /** How often the event stats comes; 0 or not set: never. */
  statsMs?: number | undefined;
  /** Workers of one application share the stream's shards. */
  app?: string | undefined;
  worker?: string | undefined;
  /** "dynamodb" or "dynamodb:TABLE". */
  store?: string | undefined;
  storeEndpoint?: string | undefined;
  schema?: string | undefined;
  leaseMs?: number | undefined;
  checkpointMs?: number | undefined;
  handoverMs?: number | undefined;
  stallMs?: number | undefined;
  weight?: number | undefined;
  kclCoordinator?: string | undefined;
  kclMetrics?: string | undefined;
  retrieval?: 'poll' | 'push' | 'auto' | undefined;
  pushConsumer?: string | undefined;
  checkpoints?: 'acked' | 'asked' | undefined;
  unreadyMs?: number | undefined;
  /** Keys, or a function that returns them, such as a provider of the AWS SDK. Without it: what the AWS tools find. */
  credentials?: Credentials | (() => Credentials | Promise<Credentials>) | undefined;
}

export interface ConsumerOptions extends Options {
  /** "latest" unless it is given. With an app: where the application begins when it is new. */
  start?: Start | undefined;
  /** Only shards whose id ends with one of these. */
  shards?: readonly string[] | undefined;
  /** A consumer that was not started yet: both share connections, memory and the order by time. */
  join?: Consumer | undefined;
  /** Its abort stops the consumer; the iteration ends with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** The iteration ends when every shard was found empty. Not with app. */
  untilTip?: boolean | undefined;
  /** Asking for the next batch acknowledges the one before. */
  autoAck?: boolean | undefined;
  /** Numbers of tables' changes: as unmarshall() gives them, as exact strings, or by a function. */
  numbers?: 'native' | 'string' | ((text: string) => unknown) | undefined;
  /** How long a stop waits for batches that are out: 5000. */
  stopTimeoutMs?: number | undefined;
}

/** A change of a table's item. Binaries are Buffers, sets are Sets. */
export interface Change {
  event: string;
  keys: { [name: string]: any };
  /** null: there is none, or the stream does not keep it. */
  newImage: { [name: string]: any } | null;
  oldImage: { [name: string]: any } | null;
}

/** One record. It stays valid when its batch went back, and then keeps the bytes of that whole batch in memory. */
export class Record {
  private constructor();
  readonly stream: string;
  readonly shard: string;
  /** The sequence number, decimal. */
  readonly sequence: string;
  /** The index inside an aggregate, else 0. */
  readonly subSequence: number;
  /** The partition key; null: it has none. DynamoDB: the JSON of Keys. */
  readonly key: string | null;
  /** The payload. DynamoDB: the JSON of the change. */
  readonly data: Buffer;
  readonly arrivedAt: Date | null;
  readonly arrivedAtMs: number | null;
  /** Of the lease under which it was read; 0 without leases. */
  readonly epoch: number;
  /** 1 for the first time that it is handed out. */
  readonly attempt: number;
  readonly late: boolean;
  readonly raw: boolean;
  readonly redelivered: boolean;
  readonly foreign: boolean;
  /** DynamoDB: INSERT, MODIFY or REMOVE; Kinesis: null. */
  readonly event: string | null;
  readonly eventId: string | null;
  readonly userJson: Buffer | null;
  readonly wholeJson: Buffer | null;
  /** DynamoDB: the change as values; Kinesis: null. */
  readonly change: Change | null;
  /** Whether acknowledging it has an effect at this moment. */
  readonly owned: boolean;
  /** Acknowledges this record. */
  ack(): void;
  /** The payload, parsed as JSON. */
  json(): any;
}

export class Batch implements Iterable<Record> {
  private constructor();
  readonly length: number;
  /** How far its last record was behind the tip of its shard; null: unknown. */
  readonly behindMs: number | null;
  readonly isDone: boolean;
  /** A negative index counts from the end. */
  at(index: number): Record | undefined;
  /** Gives the batch back. All of it is acknowledged, or the first `acked` records; the others come again. */
  done(acked?: number): void;
  [Symbol.iterator](): IterableIterator<Record>;
}

export type State = 'open' | 'reading' | 'stopping' | 'failed' | 'closed';
export interface ShardEvent {
  kind: 'opened' | 'ended' | 'stopped' | 'repositioned' | 'lost' | 'released' | 'read_out' | 'leaving' | 'unknown';
  shard: string;
}
export interface LeaseEvent {
  /** joined, evicted, suspended, resumed, taken, lost, released, ended, leads, follows, ... */
  kind: string;
  shard: string;
  worker: string;
  text: string;
  epoch: number;
}
/** Records that can never be read any more. */
export interface Loss {
  shard: string;
  fromSequence: string;
  toSequence: string;
  certain: boolean;
  message: string;
  sinceMs: number | null;
  untilMs: number | null;
}
/** The numbers of sloop_stats_t, in camelCase: records, behindMsNow, ... null: not known. */
export interface Stats {
  [name: string]: number | null;
}
export interface Shard {
  id: string;
  parent: string;
  adjacentParent: string;
  hashStart: string;
  hashEnd: string;
  sequenceStart: string;
  sequenceEnd: string;
  closed: boolean;
  placement: 'unknown' | 'by_key' | 'by_key_now' | 'anywhere';
}
/** A shard as this consumer reads it; null: not known. */
export interface ShardStats {
  shard: string;
  epoch: number;
  behindMs: number | null;
  unacked: number;
  paused: boolean;
  atTip: boolean;
  start: Position | null;
  state: string;
  fails: number;
  stateMs: number | null;
  ackedAgeMs: number | null;
  other: string;
  error: string;
}

export interface ConsumerEvents {
  /** A fatal error, which also ends the iteration. */
  error: [error: SloopError];
  /** What failed and is tried again. Without a listener it is a warning of the process. */
  warning: [error: SloopError];
  /** Without a listener it is a warning of the process. */
  loss: [loss: Loss];
  shard: [event: ShardEvent];
  lease: [event: LeaseEvent];
  /** Every shard is at its tip, and all is acknowledged. */
  tip: [];
  stats: [stats: Stats];
  log: [line: { level: 'error' | 'warn' | 'info' | 'debug'; line: string }];
  /** A record that was given back retryMax times. It is acknowledged already. */
  deadLetter: [record: Record];
  state: [state: State];
}

/** A consumer of a stream. It begins to read when the first batch is asked for, or by start(). */
export class Consumer extends EventEmitter implements AsyncIterableIterator<Batch> {
  constructor(stream: string, options?: ConsumerOptions);
  readonly stream: string;
  readonly state: State;
  /** This worker's instance; "" without app and before it has joined. */
  readonly worker: string;
  start(): this;
  /** Ends the iteration after the batch in hand. The consumer stays open until stop(). */
  end(): void;
  /** Stops: waits for batches that are out, writes positions, releases leases, and closes. StopTimeout: batches were
   * still out at the limit. */
  stop(limitMs?: number): Promise<void>;
  /** Closes at once: positions that are not written yet are not written. */
  close(): Promise<void>;
  ref(): this;
  unref(): this;
  next(): Promise<IteratorResult<Batch, undefined>>;
  return(value?: any): Promise<IteratorResult<Batch, undefined>>;
  /** Records one by one: asking for the next one acknowledges the one before. */
  records(): AsyncGenerator<Record, void, void>;
  stats(): Stats;
  shardStats(): ShardStats[];
  /** The positions of all shards up to where all is acknowledged; for start: { token }. */
  token(): string;
  pause(shard?: string): void;
  resume(shard?: string): void;
  seek(to: Start): Promise<void>;
  /** Writes to the lease table up to where all is acknowledged. */
  checkpoint(shard?: string): Promise<void>;
  /** Declares the shard finished up to a record, or "end" (checkpoints: "asked"). */
  checkpointAt(shard: string, to: 'end' | { sequence: string; subSequence?: number }): Promise<void>;
  seekCheckpoint(shard: string): void;
  handover(shard: string): void;
  /** Lists the stream's shards. */
  shards(): Promise<Shard[]>;
  /** The operator's requests, for the application of this consumer. */
  admin(): Admin;
  /** Each loop has batches of its own in hand: asking and leaving concern those of that loop only. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Batch>;
  [Symbol.asyncDispose](): Promise<void>;
  on<E extends keyof ConsumerEvents>(event: E, listener: (...args: ConsumerEvents[E]) => void): this;
  once<E extends keyof ConsumerEvents>(event: E, listener: (...args: ConsumerEvents[E]) => void): this;
  off<E extends keyof ConsumerEvents>(event: E, listener: (...args: ConsumerEvents[E]) => void): this;
}

/** Records one by one, from the oldest unless start is given: asking for the next one acknowledges the one before. */
export function read(stream: string, options?: ConsumerOptions): AsyncGenerator<Record, void, void>;

export interface Lease {
  shard: string;
  owner: string;
  claim: string;
  position: Position | null;
  parents: string[];
  state: 'free' | 'owned' | 'ownerDead';
  epoch: number;
  parked: boolean;
  writtenAtMs: number | null;
  behindMs: number | null;
  avoid: string;
  refusedCount: number;
  refusedAtMs: number | null;
  refusedUntilMs: number | null;
  lag: 'unasked' | 'read' | 'trimmed' | 'gone' | 'refused' | 'failed' | 'unproven' | 'outOfTime' | 'noPosition';
  readBehindMs: number | null;
  readAtMs: number | null;
  lagError: string;
  avoidAtMs: number | null;
  beginUntold: boolean;
}
export interface Worker {
  worker: string;
  host: string;
  counter: number;
  leaseMs: number;
  held: number;
  weight: number;
  leads: boolean;
  leaving: boolean;
  dead: boolean;
  writtenAtMs: number | null;
  behindMs: number | null;
  rateBytes: number | null;
  evictedBy: string;
  drained: boolean;
}
/** The rows of an application on a stream. */
export interface Leases {
  leases: Lease[];
  workers: Worker[];
  badRows: string[];
  passedOver: string;
  unleased: Lease[];
  unlisted: string;
  draining: boolean;
  drainedBy: string;
  drainedAtMs: number | null;
}
export interface ShardLease {
  shard: string;
  listed: boolean;
  closed: boolean;
  lease: Lease | null;
}
/** The one reason that holds for a shard now, and what it waits for. */
export interface Explanation {
  why: 'read' | 'owned' | 'ended' | 'parked' | 'parent' | 'free' | 'ownerSilent' | 'ownerDead' | 'ownerMissing' | 'noLease'
    | 'badRow' | 'refused' | 'drained';
  shard: ShardLease;
  readAtMs: number | null;
  owner: Worker | null;
  assignedTo: string;
  freeInMs: number | null;
  badRow: string;
  waitsFor: ShardLease | null;
  waitsForLast: ShardLease | null;
  parents: ShardLease[];
  children: ShardLease[];
  leaderState: 'unused' | 'alive' | 'none' | 'silent' | 'dead';
  leader: string;
  workersAlive: number;
  epochIsCounter: boolean;
  holeFrom: string;
  holeTo: string;
  assignedSilentMs: number | null;
}
export interface LeaseChange {
  shard: string;
  kind: 'done' | 'wasSo' | 'free' | 'unowned' | 'ended' | 'noLease' | 'conflict' | 'noRow' | 'position' | 'taken' | 'unknown';
  to: Position | null;
  was: Position | null;
  wasOwner: string;
  wasParked: boolean;
}
/** What a release, a reset or a pause has changed. */
export interface AdminResult {
  changes: LeaseChange[];
  eviction: 'none' | 'done' | 'wasSo' | 'hadLeft';
  worker: string;
  workerLeaseMs: number;
  unlistedCount: number;
  missingCount: number;
  badRowsCount: number;
  unfinishedParents: string[];
  childrenAhead: string[];
  evictedCount: number;
}
export interface Drain {
  on: boolean;
  wasSo: boolean;
  by: string;
  atMs: number | null;
  workersCount: number;
  leasesCount: number;
  waitsFor: string[];
}

/** An operator's requests about the leases of an application, one at a time. It keeps the process alive until close(). */
export class Admin {
  constructor(stream: string, options: Options & { app: string });
  /** The rows of this stream and application. */
  leases(): Promise<Leases>;
  /** The rows, and how far behind each shard is that no living worker tells of. */
  lag(limitMs?: number): Promise<Leases>;
  /** Why a shard is read, or is not. */
  explain(shard: string): Promise<Explanation>;
  /** Takes a lease from a dead owner, or evicts a worker. */
  release(shardOrWorker: string): Promise<AdminResult>;
  /** Sets the position of one shard, or of all. */
  reset(to: Start, options?: { shard?: string; force?: boolean }): Promise<AdminResult>;
  /** Has all workers stop reading, or (false) go on. */
  drain(on?: boolean, limitMs?: number): Promise<Drain>;
  /** Pauses one shard, or (false) ends the pause. */
  pause(shard: string, on?: boolean, limitMs?: number): Promise<AdminResult>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What failed, with the fields of sloop_error_t. */
export class SloopError extends Error {
  /** The name of the code: "EAUTH", or libuv's, as "ECONNREFUSED". */
  code: string;
  /** Its number, negative. */
  number: number;
  /** The consumer has stopped by itself. */
  fatal: boolean;
  /** 0: no answer arrived. */
  httpStatus: number;
  /** Which try has failed; 0: not told. */
  attempt: number;
  /** null: this call is not retried. */
  retryInMs: number | null;
  awsCode: string;
  requestId: string;
  /** "" when the error concerns the whole stream. */
  shard: string;
  constructor(message: string, fields?: { [name: string]: unknown });
}
/** Credentials missing, expired or refused. */
export class AuthError extends SloopError {}
/** The service says this identity may not do that. */
export class AccessError extends SloopError {}
/** No such stream. */
export class NoStream extends SloopError {}
/** The service asked us to slow down. */
export class Throttled extends SloopError {}
/** The service failed or answered nonsense. */
export class RemoteError extends SloopError {}
/** The answer could not be understood. */
export class ProtocolError extends SloopError {}
/** The position is older than what the stream still keeps. */
export class Trimmed extends SloopError {}
/** An answer or a token is larger than it may be. */
export class TooBig extends SloopError {}
/** Not allowed in this state: a closed consumer, a batch that was given back. */
export class StateError extends SloopError {}
/** An option is missing or out of range. */
export class OptionError extends SloopError {}
/** The server's certificate or TLS handshake was not accepted. */
export class TlsError extends SloopError {}
/** The service says the request is wrong. */
export class RefusedError extends SloopError {}
/** No such shard in this consumer. */
export class NoShard extends SloopError {}
/** The stream or its consumer is being created, deleted or changed. */
export class StreamBusy extends SloopError {}
/** The token is damaged, or belongs to another stream. */
export class TokenError extends SloopError {}
/** Reading is so far behind that records may be trimmed unread. */
export class Behind extends SloopError {}
/** The leases can't be kept: the table, its rows or this worker's id are not usable. */
export class LeaseError extends SloopError {}
/** A living worker owns the lease. */
export class LeaseOwned extends SloopError {}
/** No such worker in this application. */
export class NoWorker extends SloopError {}
/** The service refuses the position: it is no place in this shard. */
export class PositionError extends SloopError {}
/** The proxy on the way to the service refuses. */
export class ProxyError extends SloopError {}
/** What libuv or the network says. */
export class NetworkError extends SloopError {}
/** The time for a stop passed before all batches were given back. */
export class StopTimeout extends SloopError {}
/** The consumer was closed, stopped or moved meanwhile. */
export class CanceledError extends SloopError {}

/** The version of the library: "0.1.0". */
export const version: string;
/** Which versions are at work, for bug reports. */
export function features(): string;
/** The libraries at work, by name: libuv, libcurl, libcrypto, zlib ... A process can have several copies of one; these are
 * those that the package calls. */
export function running(): { [name: string]: { version: string; file: string } };
