import sloop from './index.js';

export const {
  Consumer, read, Admin, Batch, Record, version, features, running, SloopError, AuthError, AccessError, NoStream,
  Throttled, RemoteError, ProtocolError, Trimmed, TooBig, StateError, OptionError, TlsError, RefusedError,
  NoShard, StreamBusy, TokenError, Behind, LeaseError, LeaseOwned, NoWorker, PositionError, ProxyError,
  NetworkError, StopTimeout, CanceledError
} = sloop;
