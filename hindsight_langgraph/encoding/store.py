"""The requests that writing makes of the long-term store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from hindsight_langgraph.encoding.changes import Change, apply
from hindsight_langgraph.encoding.features import Vector
from hindsight_langgraph.encoding.updates import Candidate
from hindsight_langgraph.errors import Conflict
from hindsight_langgraph.lexical import context_text, document_vector, index_text, query_vector
from hindsight_langgraph.ops import FetchUnits, Probe, PutUnits, ReviseUnits, ScanUnits, SearchUnits, Where
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import EmbeddingSpace, Hit, IndexedUnit, MemoryUnit, Scope, Status
from hindsight_langgraph.similarity import similarity

DENSE_TOP: Final = 30
WORDS_TOP: Final = 10
SAME_TOP: Final = 10
ATTEMPTS: Final = 5
"""How often a change is tried again after someone else changed the same unit."""


def written_units(scope: Scope, turn_ids: Sequence[str]) -> Plan[list[MemoryUnit]]:
    """Units of this owner, whatever their status, that name one of the turns as a source."""
    found: list[MemoryUnit] = []
    if not turn_ids:
        return found
    where = Where(owners=(scope.owner,), sources=tuple(turn_ids))
    cursor: str | None = None
    while True:
        page = yield from ask(ScanUnits(where=where, cursor=cursor))
        found.extend(item.unit for item in page.units)
        cursor = page.cursor
        if cursor is None:
            return found


def find_pools(
    units: Sequence[MemoryUnit],
    vectors: Mapping[str, Vector],
    *,
    asked: Mapping[str, Vector],
    scope: Scope,
    space: EmbeddingSpace | None,
) -> Plan[list[list[Candidate]]]:
    """For each unit the active units of its owner that may have to do with it: close, of the same words, things or attribute.

    `vectors` holds the embeddings of the units by id, `asked` those of the turns before them, both from `space`.
    """
    probes: list[tuple[int, Probe]] = []
    for i, unit in enumerate(units):
        probes.extend((i, probe) for probe in _probes(unit, vectors.get(unit.id), asked.get(unit.id), scope))
    if not probes:
        return [[] for _ in units]
    answers = yield from ask(SearchUnits(probes=tuple(probe for _, probe in probes)))
    pools: list[list[Candidate]] = []
    for i in range(len(units)):
        own = [(probe, hits) for (place, probe), hits in zip(probes, answers, strict=True) if place == i]
        pools.append(_pool(own, asked.get(units[i].id), space))
    return pools


def put(units: Sequence[MemoryUnit], vectors: Mapping[str, Vector]) -> Plan[None]:
    """Store new units, all or none; one that another writer of the same turn stored meanwhile is left as it is."""
    if units:
        yield from ask(PutUnits(units=tuple(_indexed(unit, vectors.get(unit.id)) for unit in units), only_new=True))


def make_changes(changes: Sequence[Change], *, scope: Scope, now: datetime) -> Plan[list[str]]:
    """Apply changes to stored units, reading again what someone else changed meanwhile. Returns the ids that were changed.

    Raises:
        Conflict: a unit changed under every one of `ATTEMPTS` tries.
    """
    changed: list[str] = []
    waiting: list[Change] = list(changes)
    for _ in range(ATTEMPTS):
        if not waiting:
            return changed
        ids = tuple(dict.fromkeys(change.unit_id for change in waiting))
        stored = yield from ask(FetchUnits(where=Where(owners=(scope.owner,), ids=ids)))
        revised: list[MemoryUnit] = []
        for unit in stored:
            after = unit
            for change in waiting:
                if change.unit_id == unit.id:
                    after = apply(change, after, now=now)
            if after is not unit:
                revised.append(after.model_copy(update={"revision": unit.revision + 1}))
        refused = set((yield from ask(ReviseUnits(units=tuple(revised))))) if revised else set[str]()
        changed.extend(unit.id for unit in revised if unit.id not in refused)
        waiting = [change for change in waiting if change.unit_id in refused]
    if waiting:
        names = ", ".join(sorted({change.unit_id for change in waiting}))
        raise Conflict(f"units {names} of {scope.owner} were changed by others {ATTEMPTS} times in a row; write the turn again")
    return changed


def _probes(unit: MemoryUnit, vector: Vector | None, asked: Vector | None, scope: Scope) -> list[Probe]:
    owners, active = (scope.owner,), (Status.ACTIVE,)
    where = Where(owners=owners, statuses=active, raw=False)
    probes = [Probe(where=where, limit=DENSE_TOP, dense=vector)] if vector is not None else []
    if vector is not None and asked is not None:
        probes.append(Probe(where=where, limit=DENSE_TOP, dense=asked))
    words = query_vector(unit.content)
    if words.indices:
        probes.append(Probe(where=where, limit=WORDS_TOP, text=words))
    if unit.triple is not None:
        same = Where(owners=owners, statuses=active, raw=False, subjects=(unit.triple.subject,))
        probes.append(Probe(where=same, limit=SAME_TOP * 3, newest=True))
    if unit.entities:
        about = Where(owners=owners, statuses=active, raw=False, entities=unit.entities)
        probes.append(Probe(where=about, limit=SAME_TOP, newest=True))
    return probes


def _pool(answers: Sequence[tuple[Probe, list[Hit]]], asked: Vector | None, space: EmbeddingSpace | None) -> list[Candidate]:
    """The units of all channels, each once. One that a dense channel cut off is at most as close as its last hit."""
    units: dict[str, MemoryUnit] = {}
    close: dict[str, float] = {}
    answered: dict[str, float] = {}
    for probe, hits in answers:
        for hit in hits:
            units.setdefault(hit.unit.id, hit.unit)
            if probe.dense is not None and space is not None:
                scores = answered if probe.dense is asked else close
                scores[hit.unit.id] = min(1.0, similarity(hit.score, space))
    floor, asked_floor = min(close.values(), default=0.0), min(answered.values(), default=0.0)
    return [
        Candidate(unit=unit, similarity=close.get(key, floor), asked_similarity=answered.get(key, asked_floor))
        for key, unit in units.items()
    ]


def _indexed(unit: MemoryUnit, vector: Vector | None) -> IndexedUnit:
    return IndexedUnit(
        unit=unit, dense=vector, text=document_vector(index_text(unit)), context=document_vector(context_text(unit))
    )
