"""Who runs the turns of a native loop: an asyncio loop, or a plain thread that waits.

The native loop is run only from here. Events of a turn are dispatched when the turn is over, each to the
object (a "party") that the event names; a party that is gone gets none, and its batches go back by themselves.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import sys
import time
import weakref
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple

from . import _native
from ._errors import ForkError, StateError

STOP_AT_EXIT_S = 3.0
CLOSE_AT_EXIT_S = 2.0
FORGOTTEN_S = 0.2
RETRY_MS = 100
"""Until the next turn after one for which there was no memory."""
WAIT_MS = 500
"""How long a thread waits at most before it looks for signals again."""

SQLITE_IS_INSIDE_BYTES = 700_000

logger = logging.getLogger("sloop")
Event = Tuple["weakref.ref[Any]", int, Any]
_drivers: Dict[asyncio.AbstractEventLoop, AsyncDriver] = {}
_all: weakref.WeakSet[Driver] = weakref.WeakSet()


def other_sqlite() -> Optional[str]:
    """The file of a copy of SQLite in this process that is not the one that sloop uses; None: none was found.

    It goes by names and sizes, since such copies hide their symbols: a wrapper without SQLite inside is smaller.
    """
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        paths = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if ".so" in line}
    ours = os.path.realpath(_native.running().get("sqlite", ("", ""))[1])
    for path in sorted(paths):
        if path in (ours, _native.__file__):
            continue
        name = os.path.basename(path)
        if name.startswith("libsqlite3"):
            return path
        if "sqlite" in name or "/apsw/" in path:
            try:
                if os.path.getsize(path) > SQLITE_IS_INSIDE_BYTES:
                    return path
            except OSError:
                continue
    module = sys.modules.get("_sqlite3")
    if module is not None and getattr(module, "__file__", None) is None:
        return sys.executable  # a Python that has it inside
    return None


class Driver:
    """A native loop and the parties that use it."""

    def __init__(self) -> None:
        self.uv = _native.Loop()
        self.parties: weakref.WeakSet[Any] = weakref.WeakSet()
        self._pending: Deque[Event] = deque()
        _all.add(self)

    def dispatch(self, events: List[Event]) -> None:
        # A KeyboardInterrupt may come anywhere in here: what was not dispatched is dispatched next time.
        self._pending.extend(events)
        if self.uv.has_lost:
            self._tell_lost()
        while self._pending:
            ref, kind, payload = self._pending.popleft()
            party = ref()
            if party is None:
                continue
            try:
                party._on_event(kind, payload)
            except Exception as error:  # such as MemoryError; the events of others are still to be told
                party._fail(error)

    def _tell_lost(self) -> None:
        """Events for which there was no memory. Batches are not among them, since these come again."""
        lost = self.uv.take_lost()
        text = f"there was no memory for events: {', '.join(f'{n} of {name}' for name, n in lost.items())}"
        if set(lost) <= {"LOG", "STATS"}:
            logger.warning("%s", text)
        else:
            self.fail(MemoryError(text))

    def fail(self, error: BaseException) -> None:
        for party in list(self.parties):
            party._fail(error)

    def run_until(self, condition: Callable[[], bool], limit_s: Optional[float] = None) -> bool:
        """Runs turns in this thread until the condition holds. False: the time was over before."""
        end = None if limit_s is None else time.monotonic() + limit_s
        if self._pending:  # an exception came while they were dispatched
            self.dispatch([])
        while not condition():
            left = WAIT_MS if end is None else int((end - time.monotonic()) * 1000)
            if left <= 0:
                return False
            self.dispatch(self.uv.wait(min(left, WAIT_MS)))
        return True

    def close_now(self, limit_s: float) -> None:
        """Closes what is open, and the native loop, within the time."""
        if self.uv.is_open:
            self.uv.close_all()
            self.run_until(lambda: not self.uv.is_open, limit_s)
        if not self.uv.is_open:
            self._release()

    def close_forgotten(self, native: Any) -> None:
        """Closes a native object whose owner the collector takes, on whichever thread that is."""
        if self.uv.is_ours:
            native.close()
            self.close_now(FORGOTTEN_S)

    def _release(self) -> None:
        self.uv.close()

    def at_exit(self) -> None:
        if not self.uv.is_ours or not self.uv.is_open:
            return
        stopping = [party for party in list(self.parties) if party._stop_at_exit()]
        if stopping:
            self.run_until(lambda: all(party._is_stopped for party in stopping), STOP_AT_EXIT_S)
        self.close_now(CLOSE_AT_EXIT_S)


class AsyncDriver(Driver):
    """Turns on the thread of an asyncio loop: a reader of the native loop's descriptor, and a timer."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.loop = loop
        self._timer: Optional[asyncio.TimerHandle] = None
        self._timer_at = 0.0
        self._soon = False
        self._fd = self.uv.fd
        try:
            loop.add_reader(self._fd, self._turn)
        except BaseException:  # a loop that is closed, or has no readers
            self.uv.close()
            raise

    @classmethod
    def of(cls, loop: asyncio.AbstractEventLoop) -> AsyncDriver:
        driver = _drivers.get(loop)
        if driver is None or not driver.uv.is_ours:
            driver = _drivers[loop] = cls(loop)
        return driver

    def _turn(self) -> None:
        if not self.uv.is_ours:
            return  # a child of fork(): nothing of the parent is touched
        try:
            timeout_ms, events = self.uv.turn()
        except MemoryError:  # nothing was run, and nothing is lost
            timeout_ms, events = RETRY_MS, []
        except Exception as error:  # asyncio would log it and call again for ever
            self.fail(error)
            timeout_ms, events = 1000, []
        try:
            self.dispatch(events)
        finally:  # a callable may raise KeyboardInterrupt
            if self.uv.is_open:
                try:
                    self._arm(0 if self._pending else timeout_ms)
                except MemoryError as error:  # no timer will come: without a word they would wait for ever
                    self.fail(error)
            else:
                self._release()

    def _arm(self, timeout_ms: int) -> None:
        if timeout_ms == 0:
            if not self._soon:
                self.loop.call_soon(self._turn_soon)
                self._soon = True
        elif timeout_ms > 0:
            at = self.loop.time() + timeout_ms / 1000
            # A timer that comes too early costs a turn; one that comes too late costs time.
            if self._timer is None or self._timer_at > at + 0.0005:
                timer = self.loop.call_at(at, self._turn_by_timer)
                if self._timer is not None:
                    self._timer.cancel()
                self._timer, self._timer_at = timer, at

    def _turn_soon(self) -> None:
        self._soon = False
        if _drivers.get(self.loop) is self:
            self._turn()

    def _turn_by_timer(self) -> None:
        self._timer = None
        self._turn()

    def _release(self) -> None:
        if _drivers.get(self.loop) is self:
            del _drivers[self.loop]
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self.loop.is_closed():
            self.loop.remove_reader(self._fd)
        self.uv.close()

    def close_forgotten(self, native: Any) -> None:
        try:
            self.uv.check("close()")
        except ForkError:
            return  # a child of fork(): its copy of asyncio's loop would wake the parent's
        except StateError:  # the collector runs on another thread
            if not self.loop.is_closed():
                self.loop.call_soon_threadsafe(native.close)
            return
        native.close()
        if self.loop.is_closed():  # it was closed before the consumer was, so it runs no turn
            self.close_now(FORGOTTEN_S)


@atexit.register
def close_all_at_exit() -> None:
    """Deallocators do not run at the interpreter's end: what is open is stopped and closed here."""
    for driver in list(_all):
        try:
            driver.at_exit()
        except Exception:  # the interpreter ends, and other loops are to be closed too
            continue
