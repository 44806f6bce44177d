"""Requests to the working store: hashes, logs and due items, under keys that each belong to one owner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from hindsight_langgraph.keys import Key, KeyKind
from hindsight_langgraph.plan import Op

Reply = TypeVar("Reply")


class WorkingOp(Op[Reply], Generic[Reply]):
    """A request to the working store."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadFields(WorkingOp[dict[str, bytes]]):
    """All fields of a hash, oldest written first; empty when the key is absent or expired."""

    key: Key


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteFields(WorkingOp[None]):
    """Set fields of a hash and (re)start its time to live, in one atomic step. A rewritten field becomes the newest."""

    key: Key
    fields: Mapping[str, bytes]
    ttl_s: float | None = None
    """None keeps the key until it is deleted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FoldFields(WorkingOp[bool]):
    """Put `put` and remove `drop` in one atomic step, only if every dropped field still has the value given (SPEC A3).

    A field that is in both is replaced. Reply: whether it was done; False leaves everything as it was.
    """

    key: Key
    put: Mapping[str, bytes]
    drop: Mapping[str, bytes]
    ttl_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DropFields(WorkingOp[int]):
    """Remove fields of a hash. Reply: how many were there."""

    key: Key
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class AddCount(WorkingOp[int]):
    """Add to an integer field. Reply: the new value. Not idempotent: a caller that may repeat it accepts an over-count."""

    key: Key
    name: str
    by: int = 1
    ttl_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LogEntry:
    """One entry of a log. `id` is unique within its log; `at` orders it, ties by id."""

    id: str
    at: datetime
    body: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class AppendLog(WorkingOp[int]):
    """Append entries; an id that is there already keeps its first entry. Reply: how many were new."""

    key: Key
    entries: tuple[LogEntry, ...]
    ttl_s: float | None = None
    keep: int | None = None
    """At most this many newest entries stay; None keeps all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadLog(WorkingOp[list[LogEntry]]):
    """Entries of a log, newest first unless `oldest_first`."""

    key: Key
    limit: int | None = None
    oldest_first: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplaceEntry(WorkingOp[bool]):
    """Change the body of an entry that exists, keeping its place. Reply: whether it was there."""

    key: Key
    id: str
    body: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class DropEntries(WorkingOp[int]):
    """Remove entries by id. Reply: how many were there."""

    key: Key
    ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ListKeys(WorkingOp[list[Key]]):
    """The live keys of an owner, of one kind or of all."""

    owner: str
    kind: KeyKind | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DeleteKeys(WorkingOp[int]):
    """Delete keys of one owner, every one of them when `keys` is None (SPEC G8). Reply: how many were there."""

    owner: str
    keys: tuple[Key, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SetDue(WorkingOp[None]):
    """Make `item` due at a moment; a second call moves it. A claim that is running meanwhile will not settle it."""

    queue: str
    item: str
    due: datetime
    body: bytes = b""
    only_earlier: bool = False
    """Leave an item alone that is due sooner already."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """The right to work on one due item until the lease ends."""

    item: str
    body: bytes
    token: str
    attempts: int
    """1 at the first claim."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimDue(WorkingOp[list[Claim]]):
    """Claim items that are due at `now`, the longest due first; each is hidden from others until `now + lease_s`."""

    queue: str
    now: datetime
    lease_s: float
    limit: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class SettleDue(WorkingOp[bool]):
    """Finish a claim: remove the item, or make it due again at `retry_at`. Reply: False when the claim was lost meanwhile."""

    queue: str
    item: str
    token: str
    retry_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtendLease(WorkingOp[bool]):
    """Keep a claim until `until`. Reply: False when the claim was lost meanwhile."""

    queue: str
    item: str
    token: str
    until: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class PeekDue(WorkingOp[list[tuple[str, datetime]]]):
    """Items of a queue with their due times, soonest first."""

    queue: str
    limit: int = 100
