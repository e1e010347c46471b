"""Consumer, for asyncio, and Reader, for plain programs: what both share, and how each waits."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
import warnings
import weakref
from collections import deque
from contextlib import closing
from datetime import datetime, timezone
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Callable,
    Deque,
    Dict,
    Generator,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    Type,
    TypedDict,
    Union,
)

from . import _native
from ._errors import CanceledError, Error, OptionError, StateError, StopTimeout, make
from ._turns import AsyncDriver, Driver, other_sqlite
from ._values import (
    LATEST,
    OLDEST,
    LeaseEvent,
    Loss,
    Position,
    Shard,
    ShardEvent,
    ShardStats,
    shard_stats_of,
    shards_of,
)

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Literal

    from typing_extensions import Self, Unpack

    from ._admin import Admin, AsyncAdmin

logger = logging.getLogger("sloop")
_LEVELS = {1: logging.ERROR, 2: logging.WARNING, 3: logging.INFO, 4: logging.DEBUG}
_FOREVER_MS = 2 ** 64 - 1
_MOST_S = 4_000_000  # its milliseconds are less than 2**32
_BORROWED_KEYS_S = 600  # keys whose expiry the callable does not tell are asked for again within this time


class Credentials(NamedTuple):
    """What a callable for credentials returns. expires None: never."""

    access_key: str
    secret_key: str
    token: Optional[str] = None
    expires: Optional[datetime] = None


class Options(TypedDict, total=False):
    """Options of the library by their names in sloop.h, where each is described. None is the default."""

    region: Optional[str]
    endpoint: Optional[str]
    profile: Optional[str]
    ca_bundle: Optional[str]
    user_agent: Optional[str]
    aggregates: Literal["expand", "keep"]
    on_trimmed: Literal["stop", "continue"]
    wire: Literal["auto", "cbor", "json"]
    poll_ms: int
    list_ms: int
    fetch_records_max: int
    in_flight_max: int
    buffered_bytes_max: int
    buffered_records_per_shard_max: int
    order: Literal["time", "shard"]
    order_wait_ms: int
    batches_out_max: int
    batch_records_max: int
    batch_bytes_max: int
    retry_max: int
    on_retry: Literal["again", "stop", "park", "skip"]
    log_level: Literal["error", "warn", "info", "debug"]
    stats_ms: int
    worker: Optional[str]
    store: Optional[str]
    store_endpoint: Optional[str]
    schema: Optional[str]
    lease_ms: int
    checkpoint_ms: int
    handover_ms: int
    stall_ms: int
    weight: int
    kcl_coordinator: Optional[str]
    kcl_metrics: Optional[str]
    retrieval: Literal["poll", "push", "auto"]
    push_consumer: Optional[str]
    checkpoints: Literal["acked", "asked"]
    unready_ms: int


_CALLBACKS = {
    "on_shard": _native.SHARD, "on_lease": _native.LEASE, "on_loss": _native.LOSS, "on_error": _native.ERROR,
    "on_tip": _native.TIP, "on_stats": _native.STATS, "on_dead_letter": _native.DEAD_LETTER,
}
Stats = Dict[str, int]
"""The numbers of sloop_stats_t by their names."""
Start = Union[Position, datetime, None]
CredentialsCallable = Callable[[], Any]
"""Returns Credentials, a tuple of the same, or an object with access_key, secret_key and token, as botocore's; or it is
a coroutine function that does."""


class ReaderOptions(Options, total=False):
    """What Consumer, Reader and read() take beside the stream. Callables are called on the thread of the consumer; what one
    raises ends the iteration with that exception."""

    app: Optional[str]
    """Workers of one application share the stream's shards."""
    start: Start
    """Where to begin: LATEST (the default; read(): OLDEST), OLDEST, a datetime, another Position."""
    shards: Optional[Sequence[str]]
    """Only shards whose id ends with one of these."""
    credentials: Optional[CredentialsCallable]
    until_tip: bool
    """The iteration ends when every shard was found empty. Not with app."""
    stop_timeout: float
    """Seconds that leaving the with block waits for a stop."""
    on_shard: Optional[Callable[[ShardEvent], object]]
    on_lease: Optional[Callable[[LeaseEvent], object]]
    on_loss: Optional[Callable[[Loss], object]]
    """Without it a loss is a warning of the logger "sloop"."""
    on_error: Optional[Callable[[Error], object]]
    """Errors that are not fatal. Without it they are warnings of the logger "sloop"."""
    on_tip: Optional[Callable[[], object]]
    on_stats: Optional[Callable[[Stats], object]]
    """Each stats_ms."""
    on_dead_letter: Optional[Callable[[_native.Record], object]]
    """A record that was given back retry_max times. It is acknowledged already when this is called."""


def need_type(name: str, value: object, kind: Union[Type[object], Tuple[Type[object], ...]], words: str) -> None:
    """Raises TypeError unless the value is of that type, or of one of these."""
    if not isinstance(value, kind):
        raise TypeError(f"{name}: {words} is needed, not {type(value).__name__}")


def option_texts(options: Dict[str, Any]) -> Dict[str, str]:
    """The options as the native module takes them. Raises TypeError or OptionError."""
    texts: Dict[str, str] = {}
    for name, value in options.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise TypeError(f"{name}: a str or an int is needed, not {type(value).__name__}")
        texts[name] = str(value)
    _native.check_options(texts)
    return texts


def _own_level() -> str:
    level = logger.getEffectiveLevel()
    if level <= logging.DEBUG:
        return "debug"
    if level <= logging.INFO:
        return "info"
    return "warn" if level <= logging.WARNING else "error"


def start_tuple(start: Start) -> Any:
    if start is None:
        return LATEST._tuple()
    if isinstance(start, datetime):
        return Position.at_time(start)._tuple()
    need_type("start", start, Position, "a Position or a datetime")
    return start._tuple()


def place_tuple(what: str, to: Union[Position, datetime]) -> Any:
    """As start_tuple(), where nothing has a default."""
    need_type(f"{what}: to", to, (Position, datetime), "a Position or a datetime")
    return start_tuple(to)


def milliseconds(name: str, seconds: Optional[float], none: int) -> int:
    """A limit of time as the native module takes it. Raises TypeError or ValueError."""
    if seconds is None:
        return none
    need_type(name, seconds, (int, float), "a number of seconds")
    if not seconds >= 0:
        raise ValueError(f"{name}: seconds are needed, 0 or more")
    return round(min(seconds, _MOST_S) * 1000)


def keys_of(given: Any) -> Credentials:
    """What a callable gave, as Credentials. Frozen credentials of botocore do not tell when they expire."""
    keys: Any = given
    if isinstance(given, tuple) and not hasattr(keys, "access_key"):
        keys = Credentials(*keys)
    if isinstance(keys, Credentials):
        if keys.expires is not None and keys.expires.tzinfo is None:
            raise ValueError("credentials: expires needs a time zone")
        return keys
    access: object = getattr(keys, "access_key", None)
    if not isinstance(access, str):
        raise TypeError("credentials: the callable gave neither a tuple (access key, secret key, token, expires) "
                        f"nor an object with access_key and secret_key, but {type(keys).__name__}")
    soon = datetime.fromtimestamp(time.time() + _BORROWED_KEYS_S, timezone.utc)
    return Credentials(access, keys.secret_key, getattr(keys, "token", None), soon)


def _frozen(value: Any) -> Any:
    freeze = getattr(value, "get_frozen_credentials", None)
    return value if freeze is None else freeze()


def reason_of(error: BaseException) -> str:
    """Why a callable for credentials gave none, as the native module takes it."""
    try:
        text = f"the callable for credentials failed: {type(error).__name__}: {error}"
    except Exception:
        text = f"the callable for credentials failed: {type(error).__name__}"
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()


def need_callable(name: str, value: object) -> None:
    """Raises TypeError unless the value is None or can be called from a turn, where nobody awaits a coroutine."""
    if value is None:
        return
    if not callable(value):
        raise TypeError(f"{name}: a callable is needed, not {type(value).__name__}")
    if name != "credentials" and (inspect.iscoroutinefunction(value) or inspect.isasyncgenfunction(value)):
        raise TypeError(f"{name}: a plain callable is needed, not a coroutine function; it may create a task")


def answer_request(request: _native.CredsRequest, keys: Credentials) -> None:
    expires_ms = -1 if keys.expires is None else round(keys.expires.timestamp() * 1000)
    request.answer(keys.access_key, keys.secret_key, keys.token, expires_ms)


class Party:
    """A native object that a driver tells of events: operations with numbers, errors, logs, credentials."""

    _driver: Optional[Driver]

    def __init__(self, stream: str, credentials: Optional[CredentialsCallable],
                 on_error: Optional[Callable[[Error], object]]) -> None:
        need_type("stream", stream, str, "a str")
        need_callable("credentials", credentials)
        need_callable("on_error", on_error)
        self.stream = stream
        self._credentials = credentials
        self._on_error = on_error
        self._driver = None
        self._ops: Dict[int, Callable[[int, Any, Optional[Dict[str, Any]]], None]] = {}
        self._op_number = 0
        self._failure: Optional[BaseException] = None
        self._is_over = False

    def _wake(self) -> None:
        """Has whoever waits look again."""

    def _fail(self, error: BaseException) -> None:
        if self._failure is None:
            self._failure = error
        self._wake()

    @property
    def _is_stopped(self) -> bool:
        return self._is_over

    def _stop_at_exit(self) -> bool:
        return False

    def _check_use(self, what: str) -> None:
        """Raises ForkError in a child of fork(), and StateError on another thread, and unless asyncio's running loop is the one
        that runs the turns: another one would wait for ever."""
        driver = self._driver
        if driver is None:
            return
        driver.uv.check(what)
        if isinstance(driver, AsyncDriver) and asyncio.get_running_loop() is not driver.loop:
            raise StateError(f"{what}: {self.stream!r} was opened on another event loop"
                             f"{', which is closed' if driver.loop.is_closed() else ''}; open one on this loop")

    def _call(self, callback: Callable[..., object], *args: Any) -> None:
        """Calls a callable of the user: what it raises ends the consumer's iteration, not the loop."""
        try:
            callback(*args)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # CancelledError too: asyncio would drop it
            self._fail(error)

    def _then(self, what: str, after: Optional[Callable[[int], None]],
              tell: Callable[[Any, Optional[BaseException]], None]) -> Callable[[int, Any, Optional[Dict[str, Any]]], None]:
        def then(status: int, result: Any, error: Optional[Dict[str, Any]]) -> None:
            raised: Optional[BaseException]
            try:
                if after is not None:
                    after(status)
                raised = outcome(what, status, error)
            except Exception as failed:  # such as MemoryError: who waits for the end is told that
                raised = failed
            tell(result, raised)

        return then

    async def _run_on_loop(self, what: str, call: Callable[..., object], *args: Any,
                           after: Optional[Callable[[int], None]] = None) -> Any:
        """Begins an operation and waits for its end while asyncio's loop runs. after is called at the end, awaited or not."""
        self._check_use(what)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def tell(result: Any, raised: Optional[BaseException]) -> None:
            if future.done():
                return
            if raised is None:
                future.set_result(result)
            else:
                future.set_exception(raised)

        self._begin(call, self._then(what, after, tell), *args)
        return await future

    def _run_in_turns(self, what: str, call: Callable[..., object], *args: Any,
                      after: Optional[Callable[[int], None]] = None) -> Any:
        """Begins an operation and runs turns until its end."""
        ended, result = False, None
        raised: Optional[BaseException] = None

        def tell(value: Any, why: Optional[BaseException]) -> None:  # takes no memory, so it can't fail
            nonlocal ended, result, raised
            ended, result, raised = True, value, why

        self._begin(call, self._then(what, after, tell), *args)
        assert self._driver is not None
        self._driver.run_until(lambda: ended)
        if raised is not None:
            raise raised
        return result

    def _begin(self, call: Callable[..., object], then: Callable[[int, Any, Optional[Dict[str, Any]]], None],
               *args: Any) -> int:
        self._op_number += 1
        self._ops[self._op_number] = then
        try:
            call(self._op_number, *args)
        except BaseException:
            del self._ops[self._op_number]
            raise
        return self._op_number

    def _on_event(self, kind: int, payload: Any) -> None:
        if kind == _native.DONE:
            number, status, result, error = payload
            then = self._ops.pop(number, None)
            if then is not None:
                then(status, result, error)
        elif kind == _native.LOG:
            level, line = payload
            logger.log(_LEVELS.get(level, logging.INFO), "%s: %s", self.stream, line)
        elif kind == _native.ERROR:
            raised = make(**payload)
            if payload["fatal"]:
                self._fail(raised)
            elif self._on_error is not None:
                self._call(self._on_error, raised)
            else:
                logger.warning("%s: %s", self.stream, raised)
        elif kind == _native.CREDS:
            self._give_credentials(payload)
        elif kind == _native.CLOSED:
            self._is_over = True
            ops, self._ops = self._ops, {}
            for then in ops.values():
                then(_native.CANCELED, None, None)
            self._wake()

    def _give_credentials(self, request: _native.CredsRequest) -> None:
        assert self._credentials is not None
        try:
            answer_request(request, keys_of(_frozen(self._credentials())))
        except Exception as error:
            request.refuse(reason_of(error))


class _Base(Party):
    """What Consumer and Reader share: options, events, and calls that do not wait."""

    def __init__(self, stream: str, **more: Unpack[ReaderOptions]) -> None:
        options: Dict[str, Any] = dict(more)
        start = options.pop("start", None)
        shards = options.pop("shards", None)
        until_tip = options.pop("until_tip", False)
        stop_timeout = options.pop("stop_timeout", 5.0)
        app = options.get("app")
        callbacks = {name: options.pop(name, None) for name in _CALLBACKS}
        super().__init__(stream, options.pop("credentials", None), callbacks["on_error"])
        for name, value in callbacks.items():
            need_callable(name, value)
        if shards is not None and (isinstance(shards, str) or not hasattr(shards, "__iter__")):
            raise TypeError(f"shards: a sequence of str is needed, not one {type(shards).__name__}")
        need_type("until_tip", until_tip, bool, "True or False")
        milliseconds("stop_timeout", stop_timeout, 0)
        if until_tip and app is not None:
            raise OptionError("until_tip: with an app the tip of this worker's shards says nothing of those that it does not "
                              "have yet")
        self.app = app
        self._options = option_texts({"log_level": _own_level(), **options, "stream": stream})
        if callbacks["on_dead_letter"] is not None:
            self._options.setdefault("on_retry", "skip")
        self._start = start_tuple(start)
        self._shards = None if shards is None else tuple(shards)
        if self._shards is not None and not all(isinstance(one, str) for one in self._shards):
            raise TypeError("shards: a sequence of str is needed")
        self._until_tip = until_tip
        self._stop_timeout = stop_timeout
        self._callbacks: Dict[int, Callable[..., object]] = {
            kind: callbacks[name] for name, kind in _CALLBACKS.items() if callbacks[name] is not None}
        self._native: Optional[_native.Consumer] = None
        self._ready: Deque[_native.Batch] = deque()
        self._ended = False
        self._stopping = False
        self._stop_told = False
        self._started = False

    def _moved(self, status: int = 0) -> None:
        """What came before a seek is no longer wanted; later events bring what is behind the new position, and records of
        other shards come again."""
        if status in (0, _native.NO_MEMORY):  # NO_MEMORY: of the event; the seek may have succeeded
            self._ready.clear()

    def _on_stopped(self, status: int) -> None:
        self._stop_told = True
        self._wake()

    @property
    def _is_stopped(self) -> bool:
        return self._is_over or self._stop_told

    def _each(self, batch: _native.Batch) -> Generator[_native.Record, None, None]:
        """The records of a batch. Asking for the next one acknowledges the one before; what is not acknowledged at the end
        comes again."""
        try:
            for record in batch:
                yield record
                if batch.is_done:
                    break
                record.ack()
        finally:
            if not batch.is_done and self.is_open:
                batch.done(0)

    # ---- the life ----

    def _open_on(self, driver: Driver, join: Optional[_native.Consumer] = None) -> None:
        if self._native is not None:
            raise StateError(f"open(): the consumer of {self.stream!r} was opened before")
        if self._options.get("store", "").startswith("sqlite:"):
            other = other_sqlite()
            if other is not None:
                raise StateError(f"store: {other} has another copy of SQLite; when it opens and closes the file of leases, "
                                 "this process loses its locks. Use another store, or do not load that module here")
        wanted = 0
        for kind in self._callbacks:
            wanted |= 1 << kind
        if self._until_tip:
            wanted |= 1 << _native.TIP
        if self._credentials is not None:
            wanted |= 1 << _native.CREDS
        self._native = driver.uv.open(self._options, self._start, self._shards, join, wanted, weakref.ref(self),
                                      self.stream)
        self._driver = driver
        driver.parties.add(self)

    def _start_reading(self) -> None:
        if not self._started and self._native is not None and self._native.is_open:
            self._started = True
            self._native.start()

    def _opened(self, what: str) -> _native.Consumer:
        if self._native is None:
            raise StateError(f"{what}: the consumer of {self.stream!r} is not open; use it in a with block")
        return self._native

    def _stop_at_exit(self) -> bool:
        native = self._native
        if self.app is None or native is None or not native.is_open or not self._started:
            return False
        native.give_back()
        if not self._stopping:
            self._stopping = True
            self._begin(native.stop, self._then("stop()", self._on_stopped, lambda result, raised: None), 0)
        return True

    def __del__(self) -> None:
        native = getattr(self, "_native", None)
        driver = getattr(self, "_driver", None)
        if native is None or driver is None or not native.is_open:
            return
        warnings.warn(f"the consumer of {self.stream!r} was never closed", ResourceWarning, source=self, stacklevel=2)
        try:
            driver.close_forgotten(native)
        except Exception:  # at the interpreter's end; then close_all_at_exit() does it
            return

    def _begin_stop(self, native: _native.Consumer) -> None:
        self._start_reading()  # what was opened in this turn of asyncio's loop is not started yet
        if native.is_open:
            self._stopping = True
            self._ready.clear()
            self._wake()

    def end(self) -> None:
        """Ends the iteration: it hands out no further batch. May be called by a signal handler of the loop."""
        if self._driver is not None:
            self._driver.uv.check("end()")
        self._ended = True
        self._ready.clear()
        self._wake()

    # ---- events ----

    def _on_event(self, kind: int, payload: Any) -> None:
        if kind == _native.BATCH:
            if self._ended:
                if not payload.is_done:  # a callback of the same turn may have closed the consumer
                    payload.done(0)
                return
            self._ready.append(payload)
            self._wake()
        elif kind == _native.TIP:
            if self._until_tip:
                self._ended = True
                self._wake()
            self._tell(kind)
        elif kind == _native.SHARD:
            self._tell(kind, ShardEvent(*payload))
        elif kind == _native.LEASE:
            self._tell(kind, LeaseEvent(*payload))
        elif kind == _native.LOSS:
            loss = Loss(**payload)
            if kind in self._callbacks:
                self._tell(kind, loss)
            else:
                logger.warning("%s: %s", self.stream, loss.message)
        elif kind in (_native.STATS, _native.DEAD_LETTER):
            self._tell(kind, payload)
        else:
            super()._on_event(kind, payload)

    def _tell(self, kind: int, *args: Any) -> None:
        callback = self._callbacks.get(kind)
        if callback is not None:
            self._call(callback, *args)

    def _take_ready(self) -> Optional[_native.Batch]:
        """The next batch, or None: there is none yet. Raises what ended the iteration."""
        if self._failure is not None:
            self._ready.clear()
            raise self._failure
        while self._ready:
            batch = self._ready.popleft()
            if not batch.is_done:
                return batch
        native = self._opened("iteration")
        if not native.is_open or self._stopping:
            self._ended = True
        return None

    # ---- calls that do not wait ----

    @property
    def is_open(self) -> bool:
        return self._native is not None and self._native.is_open

    @property
    def worker(self) -> str:
        """This worker's instance; "" without app and before it has joined."""
        return self._opened("worker").worker()

    def stats(self) -> Stats:
        """The numbers of sloop_stats_t. UINT64_MAX (2**64 - 1) is what sloop.h says there."""
        return self._opened("stats()").stats()

    def shard_stats(self) -> List[ShardStats]:
        """The shards as this consumer reads them."""
        return shard_stats_of(self._opened("shard_stats()").shard_stats())

    def token(self) -> str:
        """The positions of all shards up to where all is acknowledged; for Position.at_token()."""
        return self._opened("token()").token()

    def pause(self, shard: Optional[str] = None) -> None:
        """Pauses one shard, or all."""
        self._opened("pause()").pause(shard)

    def resume(self, shard: Optional[str] = None) -> None:
        """Ends a pause."""
        self._opened("resume()").resume(shard)

    def seek_checkpoint(self, shard: str) -> None:
        """Reads a shard again from its checkpoint (checkpoints="asked")."""
        self._opened("seek_checkpoint()").seek_checkpoint(shard)
        self._moved()

    def handover(self, shard: str) -> None:
        """Lets a shard go that is leaving (checkpoints="asked")."""
        self._opened("handover()").handover(shard)


def outcome(what: str, status: int, error: Optional[Dict[str, Any]]) -> Optional[BaseException]:
    """The exception for the end of an operation; None: it succeeded."""
    if status == 0:
        return None
    if error is not None:
        fields: Dict[str, Any] = {**error, "code": status, "name": _native.err_name(status)}
        return make(**fields)
    return make(status, f"{what}: {_native.strerror(status)}")


class Consumer(_Base):
    """A consumer of a stream, on the running asyncio loop:

        async with Consumer("orders", app="billing", start=OLDEST) as c:
            async for batch in c:
                ...
                await batch.done()

    Leaving the block stops the consumer: records that are not acknowledged come again. auto_ack=True: asking
    for the next batch acknowledges the one before.
    """

    _driver: Optional[AsyncDriver]

    def __init__(self, stream: str, *, auto_ack: bool = False, join: Optional[Consumer] = None,
                 **more: Unpack[ReaderOptions]) -> None:
        super().__init__(stream, **more)
        if join is not None:
            need_type("join", join, Consumer, "a Consumer")
        need_type("auto_ack", auto_ack, bool, "True or False")
        self._auto_ack = auto_ack
        self._join = join
        self._current: Optional[_native.Batch] = None
        self._waiters: Set[asyncio.Future[None]] = set()
        self._tasks: Set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self.open()
        return self

    async def __aexit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.aclose()

    def open(self) -> None:
        """Opens it on the running loop. It starts to read when the task gives control to the loop."""
        loop = asyncio.get_running_loop()
        join = None if self._join is None else self._join._opened("join")
        driver = AsyncDriver.of(loop)
        try:
            self._open_on(driver, join)
        finally:
            if not driver.uv.is_open:
                driver._release()
        loop.call_soon(self._start_soon)

    def _start_soon(self) -> None:
        try:
            self._start_reading()
        except Exception as error:
            self._fail(error)

    async def aclose(self) -> None:
        """Gives back what is out, stops within stop_timeout, and closes."""
        native = self._native
        if native is None or not native.is_open:
            return
        self._check_use("aclose()")
        try:
            self._ready.clear()
            limit = self._stop_timeout if native.give_back() else 0
            if self._started and self._failure is None:
                if not self._stopping:
                    await self.stop(limit)
                elif not self._stop_told:  # somebody called stop(): until it ends, leases are not released yet
                    await asyncio.wait_for(self._until_stopped(), limit)
        except (StopTimeout, CanceledError, StateError, asyncio.TimeoutError):
            pass
        finally:
            await self._close()

    async def _until_stopped(self) -> None:
        while not self._is_stopped:
            await self._wait()

    async def _close(self) -> None:
        native = self._native
        if native is None or not native.is_open:
            return
        native.close()
        while not self._is_over:
            await self._wait()
        for task in list(self._tasks):
            task.cancel()

    def close(self) -> None:
        """Closes at once: positions that are not written yet are not written."""
        if self._native is not None:
            self._native.close()
            self._wake()

    # ---- waiting ----

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def _wait(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)

    def __aiter__(self) -> AsyncIterator[_native.Batch]:
        return self

    async def __anext__(self) -> _native.Batch:
        self._opened("iteration")
        self._check_use("iteration")
        if self._auto_ack and self._current is not None:
            if not self._current.is_done:
                self._current.done()
            self._current = None
        while True:
            batch = self._take_ready()
            if batch is not None:
                if self._auto_ack:
                    self._current = batch
                return batch
            if self._ended:
                raise StopAsyncIteration
            await self._wait()

    async def records(self) -> AsyncIterator[_native.Record]:
        """Record by record: asking for the next one acknowledges the one before."""
        async for batch in self:
            with closing(self._each(batch)) as records:
                for record in records:
                    yield record

    # ---- operations ----

    async def stop(self, timeout: Optional[float] = None) -> None:
        """Ends reading and the iteration, waits for batches that are out, and releases the leases. StopTimeout: the
        seconds were over before."""
        native, limit_ms = self._opened("stop()"), milliseconds("stop(): timeout", timeout, _FOREVER_MS)
        self._check_use("stop()")
        self._begin_stop(native)
        await self._run_on_loop("stop()", native.stop, limit_ms, after=self._on_stopped)

    async def seek(self, to: Union[Position, datetime]) -> None:
        """Goes on from another position."""
        native = self._opened("seek()")
        await self._run_on_loop("seek()", native.seek, place_tuple("seek()", to), after=self._moved)

    async def checkpoint(self, shard: Optional[str] = None) -> None:
        """Writes to the lease table up to where all is acknowledged."""
        await self._run_on_loop("checkpoint()", self._opened("checkpoint()").checkpoint, shard)

    async def checkpoint_at(self, shard: str, to: Position) -> None:
        """Declares the shard finished up to a position (checkpoints="asked")."""
        native = self._opened("checkpoint_at()")
        need_type("checkpoint_at(): to", to, Position, "a Position")
        await self._run_on_loop("checkpoint_at()", native.checkpoint_at, shard, to._tuple())

    async def shards(self) -> List[Shard]:
        """Lists the stream's shards."""
        return shards_of(await self._run_on_loop("shards()", self._opened("shards()").shards))

    def admin(self) -> AsyncAdmin:
        """The operator's requests, for the application of this consumer."""
        from ._admin import AsyncAdmin
        return AsyncAdmin._of(self)

    # ---- credentials ----

    def _give_credentials(self, request: _native.CredsRequest) -> None:
        task = asyncio.get_running_loop().create_task(give_credentials(self._credentials, request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def give_credentials(credentials: Optional[CredentialsCallable], request: _native.CredsRequest) -> None:
    """Answers a request. A plain callable may block (botocore's asks over HTTP), so it runs in another thread."""
    assert credentials is not None
    try:
        if inspect.iscoroutinefunction(credentials):
            value = _frozen(await credentials())
        else:
            def call() -> Any:
                value = credentials()
                return value if inspect.isawaitable(value) else _frozen(value)

            value = await asyncio.get_running_loop().run_in_executor(None, call)
        if inspect.isawaitable(value):
            value = await value
        answer_request(request, keys_of(value))
    except Exception as error:
        request.refuse(reason_of(error))


class Reader(_Base):
    """A consumer for programs without asyncio; it runs while you wait for a batch:

        with Reader("orders", start=OLDEST, until_tip=True) as r:
            for batch in r:
                ...
                batch.done()

    With an app, a worker is alive only while you ask for batches: process each within lease_ms / 2.
    """

    _driver: Optional[Driver]

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def open(self) -> None:
        """Opens it on a loop of its own, and starts to read."""
        driver = Driver()
        try:
            self._open_on(driver)
            self._start_reading()
        except BaseException:
            if self._native is None:
                driver.uv.close()
            raise

    def close(self) -> None:
        """Gives back what is out, stops within stop_timeout, and closes."""
        native, driver = self._native, self._driver
        if native is None or driver is None or not native.is_open:
            return
        try:
            self._ready.clear()
            limit = self._stop_timeout if native.give_back() else 0
            if self._started and self._failure is None:
                if not self._stopping:
                    self.stop(limit)
                else:  # a stop was interrupted
                    driver.run_until(lambda: self._is_stopped, limit)
        except (StopTimeout, CanceledError, StateError):
            pass
        finally:
            driver.close_now(5.0)

    def __iter__(self) -> Iterator[_native.Batch]:
        return self

    def __next__(self) -> _native.Batch:
        batch = self.next()
        if batch is None:
            raise StopIteration
        return batch

    def next(self, timeout: Optional[float] = None) -> Optional[_native.Batch]:
        """The next batch; None: the iteration has ended, or the seconds are over."""
        found: List[_native.Batch] = []

        def look() -> bool:
            batch = self._take_ready()
            if batch is not None:
                found.append(batch)
            return batch is not None or self._ended

        self._opened("iteration")
        self._check_use("iteration")
        limit_s = None if timeout is None else milliseconds("next(): timeout", timeout, 0) / 1000
        assert self._driver is not None
        self._driver.run_until(look, limit_s)
        return found[0] if found else None

    def records(self) -> Iterator[_native.Record]:
        """Record by record: asking for the next one acknowledges the one before."""
        for batch in self:
            yield from self._each(batch)

    def stop(self, timeout: Optional[float] = None) -> None:
        """Ends reading, and releases the leases. StopTimeout: batches were out when the seconds were over."""
        native, limit_ms = self._opened("stop()"), milliseconds("stop(): timeout", timeout, _FOREVER_MS)
        self._check_use("stop()")
        self._begin_stop(native)
        self._run_in_turns("stop()", native.stop, limit_ms, after=self._on_stopped)

    def seek(self, to: Union[Position, datetime]) -> None:
        """Goes on from another position."""
        self._run_in_turns("seek()", self._opened("seek()").seek, place_tuple("seek()", to), after=self._moved)

    def checkpoint(self, shard: Optional[str] = None) -> None:
        """Writes to the lease table up to where all is acknowledged."""
        self._run_in_turns("checkpoint()", self._opened("checkpoint()").checkpoint, shard)

    def checkpoint_at(self, shard: str, to: Position) -> None:
        """Declares the shard finished up to a position (checkpoints="asked")."""
        native = self._opened("checkpoint_at()")
        need_type("checkpoint_at(): to", to, Position, "a Position")
        self._run_in_turns("checkpoint_at()", native.checkpoint_at, shard, to._tuple())

    def shards(self) -> List[Shard]:
        """Lists the stream's shards."""
        return shards_of(self._run_in_turns("shards()", self._opened("shards()").shards))

    def admin(self) -> Admin:
        """The operator's requests, for the application of this consumer."""
        from ._admin import Admin
        return Admin._of(self)


def read(stream: str, **more: Unpack[ReaderOptions]) -> Iterator[_native.Record]:
    """Reads record by record, without asyncio: asking for the next one acknowledges the one before. start is the oldest
    record unless it is given. Records that you keep stay valid."""
    more.setdefault("start", OLDEST)
    return _read(Reader(stream, **more))


def _read(reader: Reader) -> Iterator[_native.Record]:
    with reader:
        yield from reader.records()
