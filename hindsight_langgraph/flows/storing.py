"""A LangGraph store's items as units: addressed by namespace and key, beside what the memory wrote itself.

An item is a unit with a `StoredItem`. It is never merged with another or superseded (`raw`), since its address is its caller's. Stores
index the labels of its namespace beside the sources of other units, so that a prefix is one filter. What the memory wrote by itself stands
under `("memories", USER)` with its unit id as key.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from hindsight_langgraph import keys
from hindsight_langgraph.encoding.embed import embed_texts
from hindsight_langgraph.encoding.features import Vector
from hindsight_langgraph.errors import ModelError
from hindsight_langgraph.flows.forgetting import forget
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.lexical import context_text, document_vector, index_text, query_vector
from hindsight_langgraph.ops import (
    DeleteUnits,
    DropFields,
    Embed,
    FetchUnits,
    Probe,
    PutUnits,
    ReviseUnits,
    ScanUnits,
    SearchUnits,
    Settle,
    Where,
)
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import IndexedUnit, Kind, MemoryUnit, Region, Scope, Status, StoredItem, namespace_label

Namespace = tuple[str, ...]
MANAGED: Final = "memories"
"""Root label of what the memory wrote by itself."""
_IDS: Final = uuid.UUID("b7c5f0de-58c9-4c0e-8a0e-3b2f7a4b9e11")
"""Never change it: the id of every stored item follows from it."""
_FIRST: Final = 32
_GROW: Final = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One thing to store, or to delete where `item` is None."""

    namespace: Namespace
    key: str
    item: StoredItem | None
    text: str = ""
    """What it is found by and recalled as; free of secrets."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A unit under its address; `score` is its cosine to the query, None where it was not ranked."""

    unit: MemoryUnit
    score: float | None = None


def managed_namespace(scope: Scope) -> Namespace:
    """Where a user's own memories stand. A namespace takes no period: one in a user id is written `%2E`."""
    return (MANAGED, scope.user_id.replace("%", "%25").replace(".", "%2E"))


def namespace_of(unit: MemoryUnit, scope: Scope) -> Namespace:
    """The namespace of a unit."""
    return unit.item.namespace if unit.item is not None else managed_namespace(scope)


def key_of(unit: MemoryUnit) -> str:
    """The key of a unit in its namespace."""
    return unit.item.key if unit.item is not None else unit.id


def get(namespace: Namespace, key: str, *, refresh: bool, scope: Scope, now: datetime) -> Plan[MemoryUnit | None]:
    """The unit at an address, if it is there and has not expired; `refresh` starts its time to live anew."""
    ids = (_id(scope, namespace, key), key) if namespace == managed_namespace(scope) else (_id(scope, namespace, key),)
    units = yield from ask(FetchUnits(where=Where(owners=(scope.owner,), ids=ids, statuses=(Status.ACTIVE,))))
    alive = yield from _alive([unit for unit in units if namespace_of(unit, scope) == namespace], now=now)
    if refresh:
        yield from refresh_ttl(alive, now=now)
    return alive[0] if alive else None


def search(
    prefix: Namespace,
    *,
    query: str | None,
    keep: Callable[[MemoryUnit], bool],
    wanted: int,
    scope: Scope,
    now: datetime,
    timeout_s: float,
) -> Plan[list[Found]]:
    """At least the best `wanted` units under a prefix that `keep` lets pass, closest to the query first, else newest first.

    Units that are not ranked (kept out of the index, or stored while the embedding model was down) come last, without a score.
    """
    yield from ask(Settle(owner=scope.owner, timeout_s=timeout_s))
    where = _under(prefix, scope)

    def fits(unit: MemoryUnit) -> bool:
        return namespace_of(unit, scope)[: len(prefix)] == prefix and keep(unit)

    if not query:
        return (yield from _best(Probe(where=where, limit=_FIRST, newest=True), fits, wanted=wanted, now=now, scored=False))
    try:
        ((*vector,),) = yield from ask(Embed(texts=(query,), purpose="query"))
    except ModelError:  # found by words until the model is back
        probe = Probe(where=where, limit=_FIRST, text=query_vector(query))
        return (yield from _best(probe, fits, wanted=wanted, now=now, scored=False))
    probe = Probe(where=where, limit=_FIRST, dense=tuple(vector))
    ranked = yield from _best(probe, lambda unit: fits(unit) and _indexed(unit), wanted=wanted, now=now, scored=True)
    if len(ranked) >= wanted:
        return ranked
    seen = {found.unit.id for found in ranked}
    rest = yield from _best(
        Probe(where=where, limit=_FIRST, newest=True),
        lambda unit: fits(unit) and unit.id not in seen,
        wanted=wanted - len(ranked),
        now=now,
        scored=False,
    )
    return ranked + rest


def namespaces(*, scope: Scope, now: datetime) -> Plan[list[Namespace]]:
    """Every namespace that holds something, sorted."""
    where = Where(owners=(scope.owner,), statuses=(Status.ACTIVE,))
    seen: set[Namespace] = set()
    cursor: str | None = None
    while True:
        page = yield from ask(ScanUnits(where=where, cursor=cursor))
        alive = yield from _alive([found.unit for found in page.units], now=now)
        seen |= {namespace_of(unit, scope) for unit in alive}
        cursor = page.cursor
        if cursor is None:
            return sorted(seen)


def store(entries: Sequence[Entry], *, scope: Scope, now: datetime, settings: FlowSettings) -> Plan[None]:
    """Put and delete items; the last one of an address counts. An item that is put again keeps the moment of its creation."""
    last = {(entry.namespace, entry.key): entry for entry in entries}
    yield from _put(
        {_id(scope, *address): entry for address, entry in last.items() if entry.item is not None}, scope=scope, now=now
    )
    gone = tuple(_id(scope, *address) for address, entry in last.items() if entry.item is None)
    if gone:
        yield from ask(DeleteUnits(where=Where(owners=(scope.owner,), ids=gone)))
    own = [key for namespace, key in last if namespace == managed_namespace(scope)]
    if own:  # what the memory wrote under this key gives way, for good
        units = yield from ask(FetchUnits(where=Where(owners=(scope.owner,), ids=tuple(own))))
        yield from forget([unit.id for unit in units if unit.item is None], scope=scope, now=now, settings=settings)


def _put(entries: Mapping[str, Entry], *, scope: Scope, now: datetime) -> Plan[None]:
    """Put items by their unit ids, all or none."""
    if not entries:
        return
    before = yield from ask(FetchUnits(where=Where(owners=(scope.owner,), ids=tuple(entries))))
    known = {unit.id: unit for unit in before}
    units = [_unit(unit_id, entry, known.get(unit_id), scope=scope, now=now) for unit_id, entry in entries.items()]
    vectors = yield from _vectors(units)
    yield from ask(
        PutUnits(
            units=tuple(
                IndexedUnit(
                    unit=unit,
                    dense=vectors.get(unit.id),
                    text=document_vector(index_text(unit)),
                    context=document_vector(context_text(unit)),
                )
                for unit in units
            )
        )
    )
    # an address that was forgotten once may be used again
    yield from ask(DropFields(key=keys.tombstones(scope), names=tuple(entries)))


def _best(probe: Probe, fits: Callable[[MemoryUnit], bool], *, wanted: int, now: datetime, scored: bool) -> Plan[list[Found]]:
    """The first hits that fit, asking for more until there are enough of them or no more."""
    limit = max(_FIRST, wanted)
    while True:
        asked = Probe(
            where=probe.where, limit=limit, dense=probe.dense, text=probe.text, context=probe.context, newest=probe.newest
        )
        (hits,) = yield from ask(SearchUnits(probes=(asked,)))
        alive = {unit.id for unit in (yield from _alive([hit.unit for hit in hits], now=now))}
        found = [
            Found(unit=hit.unit, score=hit.score if scored else None) for hit in hits if hit.unit.id in alive and fits(hit.unit)
        ]
        if len(found) >= wanted or len(hits) < limit:
            return found
        limit *= _GROW


def refresh_ttl(units: Sequence[MemoryUnit], *, now: datetime) -> Plan[None]:
    """Start the time to live of items anew, because they were read."""
    later = tuple(
        unit.model_copy(update={"valid_to": now + timedelta(minutes=unit.item.ttl_minutes), "revision": unit.revision + 1})
        for unit in units
        if unit.item is not None and unit.item.ttl_minutes is not None
    )
    if later:
        yield from ask(ReviseUnits(units=later))  # one that was put again meanwhile has its own time


def _alive(units: Sequence[MemoryUnit], *, now: datetime) -> Plan[list[MemoryUnit]]:
    """The units that have not expired; the others are deleted on the way."""
    expired = tuple(unit.id for unit in units if _expired(unit, now))
    if expired:
        yield from ask(DeleteUnits(where=Where(owners=tuple({unit.owner for unit in units}), ids=expired)))
    return [unit for unit in units if not _expired(unit, now)]


def _expired(unit: MemoryUnit, now: datetime) -> bool:
    timed = unit.item is not None and unit.item.ttl_minutes is not None
    return timed and unit.valid_to is not None and unit.valid_to <= now


def _indexed(unit: MemoryUnit) -> bool:
    return unit.item is None or unit.item.indexed


def _under(prefix: Namespace, scope: Scope) -> Where:
    """What may stand under a prefix: everything, where the memory's own namespace does, else the items with its label."""
    covers_managed = managed_namespace(scope)[: len(prefix)] == prefix
    return Where(owners=(scope.owner,), statuses=(Status.ACTIVE,), sources=None if covers_managed else (namespace_label(prefix),))


def _id(scope: Scope, namespace: Namespace, key: str) -> str:
    return str(uuid.uuid5(_IDS, f"{scope.owner}\x00{namespace_label(namespace)}\x00{key}"))


def _unit(unit_id: str, entry: Entry, before: MemoryUnit | None, *, scope: Scope, now: datetime) -> MemoryUnit:
    item = entry.item
    assert item is not None
    return MemoryUnit(
        id=unit_id,
        owner=scope.owner,
        content=entry.text or entry.key,
        region=Region.SEMANTIC,
        kind=Kind.FACT,
        session_id=scope.session_id,
        agent_id=scope.agent_id,
        domain=scope.domain,
        raw=True,
        item=item,
        created_at=before.created_at if before is not None else now,
        revision=before.revision + 1 if before is not None else 0,
        updated_at=now,
        valid_from=now,
        valid_to=None if item.ttl_minutes is None else now + timedelta(minutes=item.ttl_minutes),
    )


def _vectors(units: Sequence[MemoryUnit]) -> Plan[dict[str, Vector]]:
    """Embeddings by unit id; a unit that is kept out of the index, or whose text could not be embedded, has none."""
    by_text = yield from embed_texts(index_text(unit) for unit in units if _indexed(unit))
    return {unit.id: by_text[index_text(unit)] for unit in units if _indexed(unit) and index_text(unit) in by_text}
