"""Exceptions, one for each code of the library, with the fields of sloop_error_t."""

from __future__ import annotations

from typing import Any, Dict, Optional, Type

__all__ = [
    "AccessError", "AuthError", "Behind", "CanceledError", "Error", "ForkError", "LeaseError", "LeaseOwned",
    "NetworkError", "NoShard", "NoStream", "NoWorker", "OptionError", "PositionError", "ProtocolError",
    "ProxyError", "RefusedError", "RemoteError", "StateError", "StopTimeout", "StreamBusy", "Throttled",
    "TlsError", "TokenError", "TooBig", "Trimmed",
]


class Error(Exception):
    """What failed; str() says it in one line."""

    name: str = ""
    """The name of the code: "EAUTH", or libuv's, as "ECONNREFUSED"."""
    code: int = 0
    """The number of the code, negative."""
    message: str
    fatal: bool
    """The consumer has stopped by itself."""
    http_status: int
    """0: no answer arrived."""
    attempt: int
    """Which try has failed; 0: not told."""
    retry_in: Optional[float]
    """Seconds; None: this call is not retried."""
    aws_code: str
    request_id: str
    shard: str
    """"" when the error concerns the whole stream."""

    def __init__(self, message: str = "", *, code: Optional[int] = None, name: Optional[str] = None,
                 fatal: bool = False, http_status: int = 0, attempt: int = 0,
                 retry_in_ms: int = 2 ** 64 - 1, aws_code: str = "", request_id: str = "",
                 shard: str = "") -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code
        if name is not None:
            self.name = name
        self.fatal = fatal
        self.http_status = http_status
        self.attempt = attempt
        self.retry_in = None if retry_in_ms == 2 ** 64 - 1 else retry_in_ms / 1000
        self.aws_code = aws_code
        self.request_id = request_id
        self.shard = shard

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.name else self.message

    def __reduce__(self) -> Any:
        return _again, (type(self), self.message, dict(self.__dict__))


def _again(kind: Type[Error], message: str, fields: Dict[str, Any]) -> Error:
    error = kind(message)
    error.__dict__.update(fields)
    return error


class AuthError(Error):
    """Credentials missing, expired or refused."""


class AccessError(Error):
    """The service says this identity may not do that."""


class NoStream(Error):
    """No such stream."""


class Throttled(Error):
    """The service asked us to slow down."""


class RemoteError(Error):
    """The service failed or answered nonsense."""


class ProtocolError(Error):
    """The answer could not be understood."""


class Trimmed(Error):
    """The position is older than what the stream still keeps."""


class TooBig(Error):
    """An answer or a token is larger than it may be."""


class StateError(Error, RuntimeError):
    """Not allowed in this state: a closed consumer, a batch that was given back."""


class ForkError(StateError):
    """The object belongs to the parent process."""


class OptionError(Error, ValueError):
    """An option is missing or out of range."""


class TlsError(Error):
    """The server's certificate or TLS handshake was not accepted."""


class RefusedError(Error):
    """The service says the request is wrong."""


class NoShard(Error):
    """No such shard in this consumer."""


class StreamBusy(Error):
    """The stream or its consumer is being created, deleted or changed."""


class TokenError(Error, ValueError):
    """The token is damaged, or belongs to another stream."""


class Behind(Error):
    """Reading is so far behind that records may be trimmed unread."""


class LeaseError(Error):
    """The leases can't be kept: the table, its rows or this worker's id are not usable."""


class LeaseOwned(Error):
    """A living worker owns the lease."""


class NoWorker(Error):
    """No such worker in this application."""


class PositionError(Error):
    """The service refuses the position: it is no place in this shard."""


class ProxyError(Error):
    """The proxy on the way to the service refuses."""


class NetworkError(Error, OSError):
    """What libuv or the network says."""


class StopTimeout(Error, TimeoutError):
    """The time for a stop passed before all batches were given back."""


class CanceledError(Error):
    """The consumer was closed, stopped or moved meanwhile."""


_KINDS: Dict[str, Type[Error]] = {
    "EAUTH": AuthError, "EACCESS": AccessError, "ENOSTREAM": NoStream, "ETHROTTLE": Throttled,
    "EREMOTE": RemoteError, "EPROTO": ProtocolError, "ETRIMMED": Trimmed, "ETOOBIG": TooBig,
    "ESTATE": StateError, "EOPTION": OptionError, "ETLS": TlsError, "EREFUSED": RefusedError,
    "ENOSHARD": NoShard, "ESTREAMBUSY": StreamBusy, "ETOKEN": TokenError, "EBEHIND": Behind,
    "ELEASE": LeaseError, "EOWNED": LeaseOwned, "ENOWORKER": NoWorker, "EPOSITION": PositionError,
    "EPROXY": ProxyError, "ETIMEDOUT": StopTimeout, "ECANCELED": CanceledError,
}


def make(code: int, message: str = "", **fields: Any) -> BaseException:
    """Returns the exception of a code. Called by the native module too."""
    from . import _native

    name = fields.pop("name", None) or _native.err_name(code)
    if code == _native.NO_MEMORY:
        return MemoryError(message)
    kind = _KINDS.get(name, NetworkError)
    if name == "EPROTO" and code > -5000:  # libuv has a code of that name too
        kind = NetworkError
    return kind(message or _native.strerror(code), code=code, name=name, **fields)
