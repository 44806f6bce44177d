"""A LangGraph `BaseStore` over the memory: `compile(store=memory.as_store())`.

Inside a run the items are those of the run's user, whatever the namespace says; two users never share one. What the memory remembered by
itself is read under `("memories", USER)`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar, cast

import orjson
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    tokenize_path,
)

from hindsight_langgraph.errors import CallError, StoreError
from hindsight_langgraph.flows import storing
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.flows.storing import Entry, Found
from hindsight_langgraph.plan import Plan
from hindsight_langgraph.ports import Clock
from hindsight_langgraph.records import MemoryUnit, Scope, StoredItem
from hindsight_langgraph.scoping import scope_of, scope_of_run

R = TypeVar("R")
HELD: Final = 1_000
"""Puts that wait in the process while the store is down; past it the oldest are let go."""
_TEXT_KEYS: Final = ("content", "text", "memory", "data")
"""Where an item's text usually stands; without one of them, its whole value is its text."""


class Run(Protocol):
    """Runs a plan, blocking."""

    def __call__(self, plan: Plan[R], /) -> R:
        """Its result."""
        ...


class ARun(Protocol):
    """Runs a plan on the running loop."""

    def __call__(self, plan: Plan[R], /) -> Awaitable[R]:
        """Its result."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreSettings:
    """What the store is given of its memory."""

    run: Run
    arun: ARun
    clock: Clock
    flow: FlowSettings
    scope: Scope | None
    """Whose items outside a run."""


@dataclass(kw_only=True, slots=True)
class _Done:
    results: list[Result] = field(default_factory=list[Result])
    unplaced: list[PutOp] = field(default_factory=list[PutOp])


class HindsightStore(BaseStore):
    """Items as managed memory: found by meaning, recalled by the nodes, exported and erased with their user.

    It behaves as LangGraph's `InMemoryStore` with an index, and besides: items last, expire (`ttl` in minutes), and keep `created_at` when
    they are put again. While the store is down, reads find nothing and puts wait in the process; with `on_error="raise"` they raise.
    """

    supports_ttl = True

    def __init__(self, settings: StoreSettings) -> None:
        self._settings = settings
        self._held: dict[str, list[PutOp]] = {}
        self._lock = threading.Lock()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Answer some requests: first the reads, then the puts."""
        scope = self._scope()
        done = self._settings.run(self._plan([*ops], self._take(scope), scope))
        self._hold(scope, done.unplaced)
        return done.results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`."""
        scope = self._scope()
        done = await self._settings.arun(self._plan([*ops], self._take(scope), scope))
        self._hold(scope, done.unplaced)
        return done.results

    def _scope(self) -> Scope:
        """The run's user; outside a run, or in one without a user, the one that the store was made for."""
        return scope_of_run() or self._settings.scope or scope_of()

    def _plan(self, ops: Sequence[Op], held: Sequence[PutOp], scope: Scope) -> Plan[_Done]:
        entries = [self._entry(op) for op in (*held, *(op for op in ops if isinstance(op, PutOp)))]
        done = _Done()
        if held:
            yield from self._put(held, entries[: len(held)], done, scope)
        for op in ops:
            try:
                done.results.append((yield from self._read(op, scope)))
            except StoreError:
                if self._settings.flow.strict:
                    raise
                done.results.append(None if isinstance(op, GetOp | PutOp) else [])
        puts = [op for op in ops if isinstance(op, PutOp)]
        if puts:
            yield from self._put(puts, entries[len(held) :], done, scope)
        return done

    def _put(self, ops: Sequence[PutOp], entries: Sequence[Entry], done: _Done, scope: Scope) -> Plan[None]:
        try:
            yield from storing.store(entries, scope=scope, now=self._settings.clock.now(), settings=self._settings.flow)
        except StoreError:  # the outage was warned of
            if self._settings.flow.strict:
                raise
            done.unplaced.extend(ops)

    def _read(self, op: Op, scope: Scope) -> Plan[Result]:
        now = self._settings.clock.now()
        match op:
            case GetOp():
                unit = yield from storing.get(op.namespace, op.key, refresh=op.refresh_ttl, scope=scope, now=now)
                return None if unit is None else _item(unit, scope)
            case SearchOp():
                return (yield from self._search(op, scope))
            case ListNamespacesOp():
                found = yield from storing.namespaces(scope=scope, now=now)
                return _listed(found, op)
            case PutOp():
                return None

    def _search(self, op: SearchOp, scope: Scope) -> Plan[list[SearchItem]]:
        now = self._settings.clock.now()
        found = yield from storing.search(
            op.namespace_prefix,
            query=op.query,
            keep=lambda unit: _passes(unit, op.filter),
            wanted=op.offset + op.limit,
            scope=scope,
            now=now,
            timeout_s=self._settings.flow.config.timeout_s,
        )
        page = found[op.offset : op.offset + op.limit]
        if op.refresh_ttl:
            yield from storing.refresh_ttl([one.unit for one in page], now=now)
        return [_search_item(one, scope) for one in page]

    def _entry(self, op: PutOp) -> Entry:
        if op.value is None:
            return Entry(namespace=op.namespace, key=str(op.key), item=None)
        try:
            value = orjson.dumps(op.value).decode()
        except TypeError as error:
            raise CallError(f"the value of {op.namespace!r} {op.key!r} is no JSON object: {error}") from error
        if not isinstance(cast("object", op.value), dict):
            raise CallError(f"the value of {op.namespace!r} {op.key!r} is a {type(op.value).__name__}; pass a dict")
        item = StoredItem(namespace=op.namespace, key=str(op.key), value=value, indexed=op.index is not False, ttl_minutes=op.ttl)
        return Entry(namespace=op.namespace, key=str(op.key), item=item, text=self._settings.flow.writing.redactor(_text(op))[0])

    def _take(self, scope: Scope) -> list[PutOp]:
        with self._lock:
            return self._held.pop(scope.owner, [])

    def _hold(self, scope: Scope, ops: Sequence[PutOp]) -> None:
        if ops:
            with self._lock:
                self._held[scope.owner] = [*ops, *self._held.get(scope.owner, [])][-HELD:]


def as_store(*, run: Run, arun: ARun, clock: Clock, flow: FlowSettings, scope: Scope | None) -> HindsightStore:
    """A store over one memory."""
    return HindsightStore(StoreSettings(run=run, arun=arun, clock=clock, flow=flow, scope=scope))


def _text(op: PutOp) -> str:
    """What an item is found by: the fields that its caller names, else where a text usually stands, else all of it."""
    value = op.value or {}
    if isinstance(op.index, list):
        return "\n".join(text for path in op.index for text in get_text_at_path(value, tokenize_path(path)))
    for key in _TEXT_KEYS:
        if isinstance(found := value.get(key), str) and found.strip():
            return found
    return "\n".join(get_text_at_path(value, "$"))


def _value(unit: MemoryUnit) -> dict[str, Any]:
    if unit.item is not None:
        stored: dict[str, Any] = orjson.loads(unit.item.value)
        return stored
    return {
        "content": unit.content,
        "kind": unit.kind.value,
        "region": unit.region.value,
        "date": f"{unit.moment:%Y-%m-%d}",
        "entities": list(unit.entities),
        "importance": unit.importance,
        "confidence": unit.confidence,
    }


def _item(unit: MemoryUnit, scope: Scope) -> Item:
    return Item(
        value=_value(unit),
        key=storing.key_of(unit),
        namespace=storing.namespace_of(unit, scope),
        created_at=unit.created_at,
        updated_at=unit.updated_at,
    )


def _search_item(found: Found, scope: Scope) -> SearchItem:
    unit = found.unit
    return SearchItem(
        namespace=storing.namespace_of(unit, scope),
        key=storing.key_of(unit),
        value=_value(unit),
        created_at=unit.created_at,
        updated_at=unit.updated_at,
        score=found.score,
    )


def _passes(unit: MemoryUnit, wanted: Mapping[str, Any] | None) -> bool:
    if not wanted:
        return True
    value = _value(unit)
    return all(_fits(value.get(key), condition) for key, condition in wanted.items())


_OPERATORS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$eq": lambda value, other: value == other,
    "$ne": lambda value, other: value != other,
    "$gt": lambda value, other: _number(value) > float(other),
    "$gte": lambda value, other: _number(value) >= float(other),
    "$lt": lambda value, other: _number(value) < float(other),
    "$lte": lambda value, other: _number(value) <= float(other),
}


def _number(value: Any) -> float:
    """A value as a number; NaN, which is neither above nor below anything, where it is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _fits(value: Any, condition: Any) -> bool:
    if isinstance(condition, Mapping):
        asked = cast("Mapping[str, Any]", condition)
        if any(name.startswith("$") for name in asked):
            return all(_compare(name, value, other) for name, other in asked.items())
        if not isinstance(value, Mapping):
            return False
        nested = cast("Mapping[str, Any]", value)
        return all(_fits(nested.get(name), other) for name, other in asked.items())
    if isinstance(condition, list | tuple):
        parts = cast("Sequence[Any]", condition)
        if not isinstance(value, list | tuple) or len(cast("Sequence[Any]", value)) != len(parts):
            return False
        return all(_fits(one, other) for one, other in zip(cast("Sequence[Any]", value), parts, strict=True))
    return bool(value == condition)


def _compare(name: str, value: Any, other: Any) -> bool:
    if name not in _OPERATORS:
        raise ValueError(f"the filter operator {name!r} is unknown; use one of {', '.join(_OPERATORS)}")
    return _OPERATORS[name](value, other)


def _listed(namespaces: Sequence[tuple[str, ...]], op: ListNamespacesOp) -> list[tuple[str, ...]]:
    matching = [one for one in namespaces if all(_matches(one, condition) for condition in op.match_conditions or ())]
    if op.max_depth is not None:
        matching = sorted({one[: op.max_depth] for one in matching})
    return matching[op.offset : op.offset + op.limit]


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    if condition.match_type == "prefix":
        pairs = zip(namespace, path, strict=False)
    elif condition.match_type == "suffix":
        pairs = zip(reversed(namespace), reversed(path), strict=False)
    else:
        raise ValueError(f"the match type {condition.match_type!r} is unknown; use 'prefix' or 'suffix'")
    return all(pattern in ("*", label) for label, pattern in pairs)
