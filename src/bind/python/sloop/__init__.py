"""Reads Amazon Kinesis Data Streams and DynamoDB Streams, in this process and on this thread.

    async with sloop.Consumer("orders", app="billing", start=sloop.OLDEST) as c:
        async for batch in c:
            for record in batch:
                print(record.key, bytes(record.data))
            await batch.done()
"""

from __future__ import annotations

import sys as _sys

if _sys.implementation.name != "cpython":
    raise ImportError(f"sloop needs CPython 3.9 or newer; {_sys.executable} is {_sys.implementation.name}, which can't load it")
try:
    from ._native import Batch, Record, __version__, features, running
except ImportError:
    from importlib.util import find_spec
    if find_spec(__name__ + "._native") is None:
        _tag = (_sys.implementation.cache_tag or "") + ("t" if "t" in getattr(_sys, "abiflags", "") else "")
        raise ImportError(f"sloop is not built for {_tag}: install it by {_sys.executable} -m pip install") from None
    raise

from ._admin import Admin, AsyncAdmin
from ._consumer import Consumer, Credentials, Options, Reader, ReaderOptions, Start, Stats, read
from ._errors import (
    AccessError,
    AuthError,
    Behind,
    CanceledError,
    Error,
    ForkError,
    LeaseError,
    LeaseOwned,
    NetworkError,
    NoShard,
    NoStream,
    NoWorker,
    OptionError,
    PositionError,
    ProtocolError,
    ProxyError,
    RefusedError,
    RemoteError,
    StateError,
    StopTimeout,
    StreamBusy,
    Throttled,
    TlsError,
    TokenError,
    TooBig,
    Trimmed,
)
from ._values import (
    END,
    LATEST,
    OLDEST,
    AdminResult,
    Change,
    ChangeKind,
    Drain,
    Eviction,
    Explanation,
    Lag,
    LeaderState,
    Lease,
    LeaseChange,
    LeaseEvent,
    Leases,
    LeaseState,
    Loss,
    Position,
    Shard,
    ShardEvent,
    ShardLease,
    ShardStats,
    Why,
    Worker,
)

__all__ = [
    "END",
    "LATEST",
    "OLDEST",
    "AccessError",
    "Admin",
    "AdminResult",
    "AsyncAdmin",
    "AuthError",
    "Batch",
    "Behind",
    "CanceledError",
    "Change",
    "ChangeKind",
    "Consumer",
    "Credentials",
    "Drain",
    "Error",
    "Eviction",
    "Explanation",
    "ForkError",
    "Lag",
    "LeaderState",
    "Lease",
    "LeaseChange",
    "LeaseError",
    "LeaseEvent",
    "LeaseOwned",
    "LeaseState",
    "Leases",
    "Loss",
    "NetworkError",
    "NoShard",
    "NoStream",
    "NoWorker",
    "OptionError",
    "Options",
    "Position",
    "PositionError",
    "ProtocolError",
    "ProxyError",
    "Reader",
    "ReaderOptions",
    "Record",
    "RefusedError",
    "RemoteError",
    "Shard",
    "ShardEvent",
    "ShardLease",
    "ShardStats",
    "Start",
    "StateError",
    "Stats",
    "StopTimeout",
    "StreamBusy",
    "Throttled",
    "TlsError",
    "TokenError",
    "TooBig",
    "Trimmed",
    "Why",
    "Worker",
    "__version__",
    "features",
    "read",
    "running",
]
