"""Forgets for good: a unit, what says the same, and everything that was made of it, in every store (SPEC F7).

Marks come first: from then on no write, replay or consolidation brings it back, even if the rest is cut short and done again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from hindsight_langgraph import keys
from hindsight_langgraph.consolidation.applying import apply_changes
from hindsight_langgraph.consolidation.changes import Change
from hindsight_langgraph.consolidation.forget_request import ForgetRequest, about, read_forget_request, rest_of
from hindsight_langgraph.consolidation.made import is_made
from hindsight_langgraph.consolidation.promotion import find_patterns
from hindsight_langgraph.consolidation.summaries import find_summaries
from hindsight_langgraph.encoding.embed import embed_texts
from hindsight_langgraph.encoding.identity import unit_id
from hindsight_langgraph.encoding.learned import read_learned
from hindsight_langgraph.encoding.policies import read_held
from hindsight_langgraph.encoding.store import put
from hindsight_langgraph.errors import CallError
from hindsight_langgraph.flows.scrubbing import COLLECTIONS, scrub
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.lexical import index_text, query_vector, terms
from hindsight_langgraph.ops import (
    DeleteUnits,
    FetchUnits,
    Probe,
    ReadLog,
    ScanUnits,
    SearchUnits,
    Where,
    WriteFields,
)  # fmt: skip
from hindsight_langgraph.plan import Plan, ask, replied
from hindsight_langgraph.records import MemoryUnit, Scope, Status

_CANDIDATES: Final = 50
_JUST: Final = 4
"""Turns back from now that "that" may mean."""


def forget(ids: Sequence[str], *, scope: Scope, now: datetime, settings: FlowSettings) -> Plan[int]:
    """Forget the owner's units by id, those that wait for approval too. Returns how many of them there were.

    What was made of them, and what merely echoes them, goes as well and is not counted. Their turns are never read again; what else those
    told is stored by now. What names them goes before they do: cut short, it can be done again.
    """
    if not ids:
        return 0
    wanted = tuple(dict.fromkeys(ids))
    meant = yield from _units(scope, ids=wanted)
    meant += [unit for unit in (yield from read_held(scope)) if unit.id in wanted and unit.id not in {one.id for one in meant}]
    near = (
        yield from _units(scope, sources=tuple({source for unit in meant for source in unit.sources})) if meant else replied([])
    )
    gone = _closure(meant, near)
    said = [unit for unit in gone if not is_made(unit)]
    marks = {*ids, *(unit.id for unit in said), *(source for unit in said for source in unit.sources)}
    yield from ask(WriteFields(key=keys.tombstones(scope), fields={key: now.isoformat().encode() for key in sorted(marks)}))
    echoes = (yield from scrub(said, scope=scope, now=now)) if said else []
    yield from _delete(scope, [*ids, *(unit.id for unit in (*gone, *echoes))])
    yield from _rebuild([unit for unit in gone if is_made(unit)], scope=scope, now=now, settings=settings, marks=marks)
    return len(meant)


def forget_that(words: str, *, scope: Scope, now: datetime, settings: FlowSettings) -> Plan[int]:
    """Forget what a user asks to have forgotten, in the user's own words. Returns how many memories that were; 0 for an unknown thing.

    Raises:
        CallError: the words ask to forget nothing.
    """
    request = read_forget_request(words)
    if request is None:
        raise CallError(f"{words!r} does not ask to forget anything; say 'forget …' or '忘掉…', or forget by ids")
    meant = yield from (_about(request, scope) if request.topic else _last_said(scope))
    yield from _keep_rest(request, meant, scope=scope, now=now)
    return (yield from forget([unit.id for unit in meant], scope=scope, now=now, settings=settings))


# --- what is meant -------------------------------------------------------------------------------------------------------


def _about(request: ForgetRequest, scope: Scope) -> Plan[list[MemoryUnit]]:
    found = {unit.id: unit for unit in (yield from read_held(scope))}
    words = query_vector(" ".join(request.topic))
    for collection in COLLECTIONS:
        probe = Probe(where=Where(owners=(scope.owner,)), limit=_CANDIDATES, text=words)
        hits = yield from ask(SearchUnits(probes=(probe,), collection=collection))
        found |= {hit.unit.id: hit.unit for hit in hits[0] if not is_made(hit.unit)}
    named = yield from _named(request, scope)
    return about(request, {**found, **named}.values())


def _named(request: ForgetRequest, scope: Scope) -> Plan[dict[str, MemoryUnit]]:
    """Units that carry the topic as an entity or an attribute, which the word index does not hold."""
    found: dict[str, MemoryUnit] = {}
    for where in (
        Where(owners=(scope.owner,), entities=request.topic),
        Where(owners=(scope.owner,), attributes=request.topic),
    ):
        page = yield from ask(ScanUnits(where=where, limit=_CANDIDATES))
        found |= {item.unit.id: item.unit for item in page.units if not is_made(item.unit)}
    return found


def _last_said(scope: Scope) -> Plan[list[MemoryUnit]]:
    """The units of the latest turn that was remembered among the thread's last few."""
    recent = yield from ask(ReadLog(key=keys.session(scope), limit=_JUST))
    turns = tuple(entry.id for entry in recent)
    if not turns:
        return []
    page = yield from ask(ScanUnits(where=Where(owners=(scope.owner,), sources=turns, statuses=(Status.ACTIVE,))))
    units = [item.unit for item in page.units if not is_made(item.unit)]
    latest = min((turns.index(unit.sources[-1]) for unit in units if unit.sources[-1] in turns), default=None)
    return [] if latest is None else [unit for unit in units if unit.sources[-1] == turns[latest]]


def _keep_rest(request: ForgetRequest, meant: Sequence[MemoryUnit], *, scope: Scope, now: datetime) -> Plan[None]:
    """Store what active units say of other things, as units of their own, before they go."""
    kept = [
        trimmed(unit, rest, now=now)
        for unit in meant
        if request.topic and unit.status is Status.ACTIVE and not unit.raw and (rest := rest_of(request, unit))
    ]
    if kept:
        learned = yield from read_learned(scope)
        fresh = [unit for unit in kept if unit.id not in learned.forgotten]
        vectors = yield from embed_texts(index_text(unit) for unit in fresh)
        yield from put(fresh, {unit.id: vectors[index_text(unit)] for unit in fresh if index_text(unit) in vectors})


def trimmed(unit: MemoryUnit, rest: str, *, now: datetime) -> MemoryUnit:
    """The unit as if it had only said the rest."""
    said = set(terms(rest))
    keeps = unit.triple is not None and set(terms(unit.triple.value)) <= said
    return unit.model_copy(
        update={
            "id": unit_id(unit.owner, sources=unit.sources, content=rest),
            "content": rest,
            "source_text": rest,
            "preceding": "",
            "triple": unit.triple if keeps else None,
            "entities": tuple(name for name in unit.entities if set(terms(name)) <= said),
            "relations": (),
            "related": (),
            "supersedes": (),
            "updated_at": now,
            "revision": 0,
        }
    )


def _closure(meant: Sequence[MemoryUnit], near: Sequence[MemoryUnit]) -> list[MemoryUnit]:
    """What goes with the units that are meant: the turn kept raw, twins that gave way to them, and everything made of either."""
    gone = {unit.id: unit for unit in meant}
    while True:
        more = [unit for unit in near if unit.id not in gone and _follows(unit, gone)]
        if not more:
            return list(gone.values())
        gone |= {unit.id: unit for unit in more}


def _follows(unit: MemoryUnit, gone: dict[str, MemoryUnit]) -> bool:
    if is_made(unit):
        return not gone.keys().isdisjoint(unit.related)
    if unit.raw:
        return set(unit.sources) <= {source for other in gone.values() for source in other.sources}
    keeper = gone.get(unit.superseded_by or "")
    return keeper is not None and bool(unit.sources) and set(unit.sources) <= set(keeper.sources)


# --- removing ------------------------------------------------------------------------------------------------------------


def _delete(scope: Scope, ids: Sequence[str]) -> Plan[None]:
    where = Where(owners=(scope.owner,), ids=tuple(dict.fromkeys(ids)))
    for collection in COLLECTIONS:
        yield from ask(DeleteUnits(where=where, collection=collection))


def _rebuild(made: Sequence[MemoryUnit], *, scope: Scope, now: datetime, settings: FlowSettings, marks: set[str]) -> Plan[None]:
    """Make summaries and patterns anew from the evidence that is left, where that is enough."""
    left = tuple({key for unit in made for key in unit.related} - marks)
    if not left:
        return
    evidence = yield from ask(FetchUnits(where=Where(owners=(scope.owner,), ids=left)))
    again: list[Change] = [
        *find_summaries(evidence, now=now), *find_patterns(evidence, now=now, config=settings.config.consolidation)
    ]  # fmt: skip
    yield from apply_changes(again, scope=scope, now=now, forgotten=frozenset(marks))


def _units(scope: Scope, *, ids: tuple[str, ...] | None = None, sources: tuple[str, ...] | None = None) -> Plan[list[MemoryUnit]]:
    """Units of both collections, by id or by the turns that they were read from."""
    found: dict[str, MemoryUnit] = {}
    for collection in COLLECTIONS:
        cursor: str | None = None
        while True:
            where = Where(owners=(scope.owner,), ids=ids, sources=sources)
            page = yield from ask(ScanUnits(where=where, cursor=cursor, collection=collection))
            found |= {item.unit.id: item.unit for item in page.units}
            cursor = page.cursor
            if cursor is None:
                break
    return list(found.values())
