"""An operator's requests: Admin for plain programs, AsyncAdmin for asyncio. One request at a time for each handle."""

from __future__ import annotations

import asyncio
import weakref
from typing import TYPE_CHECKING, Any, Callable, Optional, Set, Union

from . import _native
from ._consumer import CredentialsCallable, Options, Party, give_credentials, milliseconds, option_texts, place_tuple, start_tuple
from ._errors import Error, StateError
from ._turns import AsyncDriver, Driver
from ._values import (
    AdminResult,
    Drain,
    Explanation,
    Leases,
    Position,
    drain_of,
    explanation_of,
    leases_of,
    result_of,
)

if TYPE_CHECKING:
    from datetime import datetime
    from types import TracebackType

    from typing_extensions import Self, Unpack

    from ._consumer import Consumer, Reader


def _ms(what: str, seconds: Optional[float]) -> int:
    return 0 if seconds is None else max(1, milliseconds(f"{what}: timeout", seconds, 0))


class _AdminBase(Party):
    def __init__(self, stream: str, *, app: Optional[str] = None, start: Union[Position, datetime, None] = None,
                 credentials: Optional[CredentialsCallable] = None,
                 on_error: Optional[Callable[[Error], object]] = None, **options: Unpack[Options]) -> None:
        super().__init__(stream, credentials, on_error)
        self._options = option_texts({**options, "stream": stream, "app": app})
        self._start = start_tuple(start)
        self._native: Optional[_native.Admin] = None
        self._host: Optional[Party] = None  # the consumer that this is a part of; it gets the events

    def _open_on(self, driver: Driver) -> None:
        if self._native is not None:
            raise StateError(f"open(): the handle of {self.stream!r} was opened before")
        self._native = driver.uv.open_admin(self._options, self._start, self._credentials is not None,
                                            weakref.ref(self), self.stream)
        self._driver = driver
        driver.parties.add(self)

    def _opened(self, what: str) -> _native.Admin:
        if self._native is None:
            raise StateError(f"{what}: the handle of {self.stream!r} is not open; use it in a with block")
        return self._native

    def __del__(self) -> None:
        native = getattr(self, "_native", None)
        if native is not None and self._host is None and not self._is_over:
            try:
                assert self._driver is not None
                self._driver.close_forgotten(native)
            except Exception:  # a child of fork(), or the interpreter's end
                return


class AsyncAdmin(_AdminBase):
    """The leases of an application, on the running asyncio loop: async with AsyncAdmin("orders", app="billing") as a."""

    _driver: Optional[AsyncDriver]

    @classmethod
    def _of(cls, consumer: Consumer) -> AsyncAdmin:
        admin = cls.__new__(cls)
        Party.__init__(admin, consumer.stream, None, None)
        admin._host = consumer
        admin._native = consumer._opened("admin()").admin(weakref.ref(consumer))
        return admin

    async def __aenter__(self) -> Self:
        driver = AsyncDriver.of(asyncio.get_running_loop())
        try:
            self._open_on(driver)
        finally:
            if not driver.uv.is_open:
                driver._release()
        self._over = asyncio.Event()
        self._tasks: Set[asyncio.Task[None]] = set()
        return self

    async def __aexit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        self._check_use("aclose()")
        self._opened("aclose()").close()
        while not self._is_over:
            self._over.clear()
            await self._over.wait()

    def _wake(self) -> None:
        self._over.set()

    def _give_credentials(self, request: _native.CredsRequest) -> None:
        task = asyncio.get_running_loop().create_task(give_credentials(self._credentials, request))
        self._tasks.add(task)  # asyncio itself holds it weakly
        task.add_done_callback(self._tasks.discard)

    async def _ask(self, what: str, name: str, *args: Any) -> Any:
        if self._failure is not None:
            raise self._failure
        return await (self._host or self)._run_on_loop(what, getattr(self._opened(what), name), *args)

    async def leases(self) -> Leases:
        """The rows of this stream and application."""
        return leases_of(await self._ask("leases()", "leases"))

    async def lag(self, timeout: Optional[float] = None) -> Leases:
        """The rows, and how far behind each shard is that no living worker tells of."""
        return leases_of(await self._ask("lag()", "lag", _ms("lag()", timeout)))

    async def explain(self, shard: str) -> Explanation:
        """Why a shard is read, or is not."""
        return explanation_of(await self._ask("explain()", "explain", shard))

    async def release(self, shard_or_worker: str) -> AdminResult:
        """Takes a lease from a dead owner, or evicts a worker."""
        return result_of(await self._ask("release()", "release", shard_or_worker))

    async def reset(self, to: Union[Position, datetime], shard: Optional[str] = None, *, force: bool = False) -> AdminResult:
        """Sets the position of one shard, or of all."""
        return result_of(await self._ask("reset()", "reset", shard, place_tuple("reset()", to), force))

    async def drain(self, on: bool = True, timeout: Optional[float] = None) -> Drain:
        """Has all workers stop reading, or (on=False) go on."""
        return drain_of(await self._ask("drain()", "drain", on, _ms("drain()", timeout)))

    async def pause(self, shard: str, on: bool = True, timeout: Optional[float] = None) -> AdminResult:
        """Pauses one shard, or (on=False) ends the pause."""
        return result_of(await self._ask("pause()", "pause", shard, on, _ms("pause()", timeout)))


class Admin(_AdminBase):
    """The leases of an application: with Admin("orders", app="billing") as a: a.leases()."""

    _driver: Optional[Driver]

    @classmethod
    def _of(cls, reader: Reader) -> Admin:
        admin = cls.__new__(cls)
        Party.__init__(admin, reader.stream, None, None)
        admin._host = reader
        admin._driver = reader._driver
        admin._native = reader._opened("admin()").admin(weakref.ref(reader))
        return admin

    def __enter__(self) -> Self:
        driver = Driver()
        try:
            self._open_on(driver)
        except BaseException:
            driver.uv.close()
            raise
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self._opened("close()").close()
        assert self._driver is not None
        self._driver.close_now(5.0)

    def _ask(self, what: str, name: str, *args: Any) -> Any:
        if self._failure is not None:
            raise self._failure
        return (self._host or self)._run_in_turns(what, getattr(self._opened(what), name), *args)

    def leases(self) -> Leases:
        """The rows of this stream and application."""
        return leases_of(self._ask("leases()", "leases"))

    def lag(self, timeout: Optional[float] = None) -> Leases:
        """The rows, and how far behind each shard is that no living worker tells of."""
        return leases_of(self._ask("lag()", "lag", _ms("lag()", timeout)))

    def explain(self, shard: str) -> Explanation:
        """Why a shard is read, or is not."""
        return explanation_of(self._ask("explain()", "explain", shard))

    def release(self, shard_or_worker: str) -> AdminResult:
        """Takes a lease from a dead owner, or evicts a worker."""
        return result_of(self._ask("release()", "release", shard_or_worker))

    def reset(self, to: Union[Position, datetime], shard: Optional[str] = None, *, force: bool = False) -> AdminResult:
        """Sets the position of one shard, or of all."""
        return result_of(self._ask("reset()", "reset", shard, place_tuple("reset()", to), force))

    def drain(self, on: bool = True, timeout: Optional[float] = None) -> Drain:
        """Has all workers stop reading, or (on=False) go on."""
        return drain_of(self._ask("drain()", "drain", on, _ms("drain()", timeout)))

    def pause(self, shard: str, on: bool = True, timeout: Optional[float] = None) -> AdminResult:
        """Pauses one shard, or (on=False) ends the pause."""
        return result_of(self._ask("pause()", "pause", shard, on, _ms("pause()", timeout)))
