'use strict';
// Errors, a class for each code of the library, with the fields of sloop_error_t.
const native = require('./native.js');

class SloopError extends Error {
  constructor(message, fields = {}) {
    super(message);
    this.code = fields.code ?? '';
    this.number = fields.number ?? 0;
    this.fatal = fields.fatal ?? false;
    this.httpStatus = fields.httpStatus ?? 0;
    this.attempt = fields.attempt ?? 0;
    this.retryInMs = fields.retryInMs ?? null;
    this.awsCode = fields.awsCode ?? '';
    this.requestId = fields.requestId ?? '';
    this.shard = fields.shard ?? '';
  }

  get name() {
    return this.constructor.name;
  }
}

class AuthError extends SloopError {}
class AccessError extends SloopError {}
class NoStream extends SloopError {}
class Throttled extends SloopError {}
class RemoteError extends SloopError {}
class ProtocolError extends SloopError {}
class Trimmed extends SloopError {}
class TooBig extends SloopError {}
class StateError extends SloopError {}
class OptionError extends SloopError {}
class TlsError extends SloopError {}
class RefusedError extends SloopError {}
class NoShard extends SloopError {}
class StreamBusy extends SloopError {}
class TokenError extends SloopError {}
class Behind extends SloopError {}
class LeaseError extends SloopError {}
class LeaseOwned extends SloopError {}
class NoWorker extends SloopError {}
class PositionError extends SloopError {}
class ProxyError extends SloopError {}
class NetworkError extends SloopError {}
class StopTimeout extends SloopError {}
class CanceledError extends SloopError {}

const { numbers } = native;
const KINDS = new Map([
  [numbers.EAUTH, AuthError], [numbers.EACCESS, AccessError], [numbers.ENOSTREAM, NoStream],
  [numbers.ETHROTTLE, Throttled], [numbers.EREMOTE, RemoteError], [numbers.EPROTO, ProtocolError],
  [numbers.ETRIMMED, Trimmed], [numbers.ETOOBIG, TooBig], [numbers.ESTATE, StateError],
  [numbers.EOPTION, OptionError], [numbers.ETLS, TlsError], [numbers.EREFUSED, RefusedError],
  [numbers.ENOSHARD, NoShard], [numbers.ESTREAMBUSY, StreamBusy], [numbers.ETOKEN, TokenError],
  [numbers.EBEHIND, Behind], [numbers.ELEASE, LeaseError], [numbers.EOWNED, LeaseOwned],
  [numbers.ENOWORKER, NoWorker], [numbers.EPOSITION, PositionError], [numbers.EPROXY, ProxyError],
  [numbers.ETIMEDOUT, StopTimeout], [numbers.ECANCELED, CanceledError],
]);

/** The error of a code, with the fields that the native part gave. */
function errorOf(number, message, fields) {
  const Kind = KINDS.get(number) ?? NetworkError;
  return new Kind(message || native.strerror(number), { ...fields, number, code: native.errName(number) });
}

/** The error of an event or an operation; `payload` has the members of sloop_error_t. */
function errorOfEvent(payload) {
  return errorOf(payload.code, payload.message, payload);
}

/** Throws unless the status is 0. */
function check(status, what) {
  if (status !== 0) throw errorOf(status, `${what}: ${native.strerror(status)}`);
}

module.exports = {
  SloopError, AuthError, AccessError, NoStream, Throttled, RemoteError, ProtocolError, Trimmed, TooBig, StateError,
  OptionError, TlsError, RefusedError, NoShard, StreamBusy, TokenError, Behind, LeaseError, LeaseOwned, NoWorker,
  PositionError, ProxyError, NetworkError, StopTimeout, CanceledError, errorOf, errorOfEvent, check,
};
