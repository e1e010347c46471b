"""What callbacks and calls are given: positions, events, changes of tables, answers of an operator's requests."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

_AT_KINDS = {1: "latest", 2: "oldest", 3: "time", 4: "sequence", 5: "token", 6: "after", 7: "end"}
_PositionTuple = Tuple[int, int, Optional[str], Optional[str], int, Optional[str]]


def from_ms(ms: int) -> Optional[datetime]:
    """An aware datetime, or None for a negative number."""
    return None if ms < 0 else datetime.fromtimestamp(ms / 1000, timezone.utc)


@dataclass(frozen=True)
class Position:
    """A place in a stream or a shard. Make one by its class methods, or use LATEST and OLDEST."""

    kind: str
    at: Optional[datetime] = None
    shard: Optional[str] = None
    sequence: Optional[str] = None
    sub_sequence: int = 0
    token: Optional[str] = None

    @classmethod
    def at_time(cls, at: datetime) -> Position:
        """What arrived at that time or later. The datetime must be aware."""
        if at.tzinfo is None:
            raise ValueError("a position in time needs a datetime with a time zone: datetime.now(timezone.utc)")
        return cls("time", at=at)

    @classmethod
    def at_sequence(cls, shard: str, sequence: str, sub_sequence: int = 0) -> Position:
        """That record is the first."""
        return cls("sequence", shard=shard, sequence=sequence, sub_sequence=sub_sequence)

    @classmethod
    def after_sequence(cls, shard: str, sequence: str, sub_sequence: int = 0) -> Position:
        """Behind that record; for Consumer.checkpoint_at()."""
        return cls("after", shard=shard, sequence=sequence, sub_sequence=sub_sequence)

    @classmethod
    def at_token(cls, token: str) -> Position:
        """The positions of all shards, as token() wrote them."""
        return cls("token", token=token)

    def _tuple(self) -> _PositionTuple:
        number = next((n for n, kind in _AT_KINDS.items() if kind == self.kind), None)
        if number is None:
            raise ValueError(f"no such kind of position: {self.kind!r}")
        if not 0 <= self.sub_sequence < 2 ** 64:
            raise ValueError(f"a position's sub_sequence is from 0 to 2**64 - 1, not {self.sub_sequence!r}")
        at_ms = 0 if self.at is None else round(self.at.timestamp() * 1000)
        return number, at_ms, self.shard, self.sequence, self.sub_sequence, self.token


LATEST = Position("latest")
OLDEST = Position("oldest")
END = Position("end")


def position_of(value: _PositionTuple) -> Optional[Position]:
    kind, at_ms, shard, sequence, sub, token = value
    if kind == 0:
        return None
    return Position(_AT_KINDS.get(kind, str(kind)), from_ms(at_ms) if kind == 3 else None, shard, sequence, sub, token)


class Change(NamedTuple):
    """A change of a table's item. Numbers are exact Decimals, binaries are bytes, sets are sets."""

    event: str
    """INSERT, MODIFY or REMOVE."""
    keys: Dict[str, Any]
    new: Optional[Dict[str, Any]]
    """The item after the change; None: there is none, or the stream does not keep it."""
    old: Optional[Dict[str, Any]]
    """The item before the change."""


class ShardEvent(NamedTuple):
    """What happened to a shard: opened, ended, stopped, repositioned, lost, released, read_out, leaving."""

    kind: str
    shard: str


class LeaseEvent(NamedTuple):
    """What happened to this worker or to a lease: joined, taken, lost, released, ..."""

    kind: str
    shard: str
    worker: str
    text: str
    epoch: int


@dataclass(frozen=True)
class Loss:
    """Records that can never be read any more."""

    shard: str
    from_sequence: str
    to_sequence: str
    certain: bool
    message: str
    since_ms: int
    until_ms: int


@dataclass(frozen=True)
class Shard:
    """A shard as the service lists it; "" for what it does not say."""

    id: str
    parent: str
    adjacent_parent: str
    hash_start: str
    hash_end: str
    sequence_start: str
    sequence_end: str
    closed: bool
    placement: int


@dataclass(frozen=True)
class ShardStats:
    """A shard as this consumer reads it; times of -1 are not known."""

    shard: str
    epoch: int
    behind_ms: int
    unacked: int
    paused: bool
    at_tip: bool
    start: Optional[Position]
    state: str
    fails: int
    state_ms: int
    acked_age_ms: int
    other: str
    error: str


class LeaseState(enum.IntEnum):
    """Whether somebody has a lease."""

    FREE = 1
    OWNED = 2
    OWNER_DEAD = 3


class Lag(enum.IntEnum):
    """What reading at a lease's position has shown."""

    UNASKED = 0
    READ = 1
    TRIMMED = 2
    GONE = 3
    REFUSED = 4
    FAILED = 5
    UNPROVEN = 6
    OUT_OF_TIME = 7
    NO_POSITION = 8


class Why(enum.IntEnum):
    """Why a shard is read, or is not."""

    READ = 1
    OWNED = 2
    ENDED = 3
    PARKED = 4
    PARENT = 5
    FREE = 6
    OWNER_SILENT = 7
    OWNER_DEAD = 8
    OWNER_MISSING = 9
    NO_LEASE = 10
    BAD_ROW = 11
    REFUSED = 12
    DRAINED = 13


class LeaderState(enum.IntEnum):
    """Whether the application has a leader."""

    UNUSED = 0
    ALIVE = 1
    NONE = 2
    SILENT = 3
    DEAD = 4


class ChangeKind(enum.IntEnum):
    """What became of one lease."""

    DONE = 1
    WAS_SO = 2
    FREE = 3
    UNOWNED = 4
    ENDED = 5
    NO_LEASE = 6
    CONFLICT = 7
    NO_ROW = 8
    POSITION = 9
    TAKEN = 10
    UNKNOWN = 11


class Eviction(enum.IntEnum):
    """What became of a worker that was to be evicted."""

    NONE = 0
    DONE = 1
    WAS_SO = 2
    HAD_LEFT = 3


@dataclass(frozen=True)
class Lease:
    """A lease as the table has it; times of -1 are not told."""

    shard: str
    owner: str
    claim: str
    position: Optional[Position]
    parents: Tuple[str, ...]
    state: LeaseState
    epoch: int
    parked: bool
    written_at_ms: int
    behind_ms: int
    avoid: str
    refused_n: int
    refused_at_ms: int
    refused_until_ms: int
    lag: Lag
    read_behind_ms: int
    read_at_ms: int
    lag_error: str
    avoid_at_ms: int
    begin_untold: bool


@dataclass(frozen=True)
class Worker:
    """A worker as the table has it; -1 for what is not told."""

    worker: str
    host: str
    counter: int
    lease_ms: int
    held: int
    weight: int
    leads: bool
    leaving: bool
    dead: bool
    written_at_ms: int
    behind_ms: int
    rate_bytes: int
    evicted_by: str
    drained: bool


@dataclass(frozen=True)
class Leases:
    """The rows of an application on a stream."""

    leases: List[Lease]
    workers: List[Worker]
    bad_rows: List[str]
    passed_over: str
    unleased: List[Lease]
    unlisted: str
    draining: bool
    drained_by: str
    drained_at_ms: int


@dataclass(frozen=True)
class ShardLease:
    """A shard, as far as stream and table know it."""

    shard: str
    listed: bool
    closed: bool
    lease: Optional[Lease]


@dataclass(frozen=True)
class Explanation:
    """The one reason that holds for a shard now, and what it waits for."""

    why: Why
    shard: ShardLease
    read_at_ms: int
    owner: Optional[Worker]
    assigned_to: str
    free_in_ms: int
    bad_row: str
    waits_for: Optional[ShardLease]
    waits_for_last: Optional[ShardLease]
    parents: List[ShardLease]
    children: List[ShardLease]
    leader_state: LeaderState
    leader: str
    workers_alive: int
    epoch_is_counter: bool
    hole_from: str
    hole_to: str
    assigned_silent_ms: int


@dataclass(frozen=True)
class LeaseChange:
    """What became of one lease of a release or a reset."""

    shard: str
    kind: ChangeKind
    to: Optional[Position]
    was: Optional[Position]
    was_owner: str
    was_parked: bool


@dataclass(frozen=True)
class AdminResult:
    """What a release, a reset or a pause has changed."""

    changes: List[LeaseChange]
    eviction: Eviction
    worker: str
    worker_lease_ms: int
    unlisted_n: int
    missing_n: int
    bad_rows_n: int
    unfinished_parents: List[str]
    children_ahead: List[str]
    evicted_n: int


@dataclass(frozen=True)
class Drain:
    """The state of a drain."""

    on: bool
    was_so: bool
    by: str
    at_ms: int
    workers_n: int
    leases_n: int
    waits_for: List[str]


def _lease_of(d: Dict[str, Any]) -> Lease:
    d.update(position=position_of(d["position"]), parents=tuple(p for p in d["parents"] if p),
             state=LeaseState(d["state"]), lag=Lag(d["lag"]))
    return Lease(**d)


def leases_of(d: Dict[str, Any]) -> Leases:
    d.update(leases=[_lease_of(one) for one in d["leases"]], workers=[Worker(**one) for one in d["workers"]],
             unleased=[_lease_of(one) for one in d["unleased"]])
    return Leases(**d)


def _shard_lease_of(d: Optional[Dict[str, Any]]) -> Optional[ShardLease]:
    if d is None:
        return None
    d.update(lease=None if d["lease"] is None else _lease_of(d["lease"]))
    return ShardLease(**d)


def explanation_of(d: Dict[str, Any]) -> Explanation:
    d.update(why=Why(d["why"]), shard=_shard_lease_of(d["shard"]),
             owner=None if d["owner"] is None else Worker(**d["owner"]),
             waits_for=_shard_lease_of(d["waits_for"]), waits_for_last=_shard_lease_of(d["waits_for_last"]),
             parents=[_shard_lease_of(one) for one in d["parents"]],
             children=[_shard_lease_of(one) for one in d["children"]], leader_state=LeaderState(d["leader_state"]))
    return Explanation(**d)


def result_of(d: Dict[str, Any]) -> AdminResult:
    d.update(eviction=Eviction(d["eviction"]), changes=[
        LeaseChange(one["shard"], ChangeKind(one["kind"]), position_of(one["to"]), position_of(one["was"]),
                    one["was_owner"], one["was_parked"]) for one in d["changes"]])
    return AdminResult(**d)


def drain_of(d: Dict[str, Any]) -> Drain:
    return Drain(**d)


def shards_of(entries: List[Dict[str, Any]]) -> List[Shard]:
    return [Shard(**one) for one in entries]


def shard_stats_of(entries: List[Dict[str, Any]]) -> List[ShardStats]:
    for one in entries:
        one["start"] = position_of(one["start"])
    return [ShardStats(**one) for one in entries]
