"""Writes the episode of a task that is worth one, once (SPEC B8)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from hindsight_langgraph.annotation.episodes import SAME_SITUATION, episode_of, episode_unit, repeated, same_way, worth_of
from hindsight_langgraph.annotation.trajectory import StepKind
from hindsight_langgraph.annotation.verdict import Case, Judgement
from hindsight_langgraph.encoding.entities import AliasTable
from hindsight_langgraph.encoding.learned import read_learned
from hindsight_langgraph.errors import Conflict, ModelError
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.lexical import context_text, document_vector, index_text, query_vector
from hindsight_langgraph.ops import Embed, FetchUnits, Probe, PutUnits, ReviseUnits, SearchUnits, Where
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import IndexedUnit, Kind, MemoryUnit, Scope, Status
from hindsight_langgraph.similarity import similarity

BASE: Final = 0.85
"""Importance of an episode: a task whose state changed for good (SPEC B5); failures are at least as valuable as successes."""
_PEERS: Final = 10
_ATTEMPTS: Final = 8


def write_episode(
    case: Case, judgements: Sequence[Judgement], *, scope: Scope, now: datetime, settings: FlowSettings
) -> Plan[tuple[str | None, float]]:
    """Write the task as an episode when it is worth it; one that tells the same already is strengthened instead, once for each task.

    Returns the episode's id, else None, and what the task was worth.
    """
    if not case.goal.strip() or _is_talk(case):
        return None, 0.0
    learned = yield from read_learned(scope)
    unit = episode_unit(case, judgements, scope=scope, now=now, aliases=AliasTable(dict(learned.aliases)), importance=BASE)
    if unit.id in learned.forgotten:
        return None, 0.0
    known = yield from _told_already(case, unit, scope=scope, settings=settings)
    worth = worth_of(case, novelty=float(known is None)).total
    written = yield from ask(FetchUnits(where=Where(owners=(scope.owner,), ids=(unit.id,))))
    if known is not None and not written:
        return (yield from _strengthen(known, unit, scope=scope)), worth
    if worth <= settings.config.write.episode_threshold:
        return None, worth
    yield from _put(unit, written[0] if written else None)
    return unit.id, worth


def _is_talk(case: Case) -> bool:
    """Whether nothing was done and nobody told how it ended: what was said is remembered anyway, and a turn of phrase is no failure."""
    done = (StepKind.TOOL, StepKind.PLAN, StepKind.ERROR)
    return case.outcome.read and not any(step.kind in done for step in case.steps)


def _told_already(case: Case, unit: MemoryUnit, *, scope: Scope, settings: FlowSettings) -> Plan[MemoryUnit | None]:
    """The episode that tells of the same goal going the same way, the likest first; None for something new."""
    where = Where(owners=(scope.owner,), kinds=(Kind.EPISODE,), statuses=(Status.ACTIVE,), raw=False)
    searched = query_vector(case.goal)
    if not searched.indices:
        return None
    hits = yield from ask(SearchUnits(probes=(Probe(where=where, limit=_PEERS, text=searched),)))
    told = episode_of(case)
    peers = [
        (hit.unit, hit.unit.episode.goal)
        for hit in hits[0]
        if hit.unit.episode is not None and hit.unit.id != unit.id and same_way(told, hit.unit.episode)
    ]
    if not peers:
        return None
    try:
        own, *others = yield from ask(Embed(texts=(case.goal, *(goal for _, goal in peers)), purpose="document"))
    except ModelError:
        return next((peer for peer, goal in peers if goal == case.goal), None)
    alike = [similarity(sum(a * b for a, b in zip(own, other, strict=True)), settings.space) for other in others]
    best = max(range(len(peers)), key=alike.__getitem__)
    return peers[best][0] if alike[best] >= SAME_SITUATION else None


def _strengthen(known: MemoryUnit, unit: MemoryUnit, *, scope: Scope) -> Plan[str]:
    """Count the task on the episode that tells the same; the sources tell whether it was counted already.

    Raises:
        Conflict: the episode changed under every try.
    """
    for _ in range(_ATTEMPTS):
        found = yield from ask(FetchUnits(where=Where(owners=(scope.owner,), ids=(known.id,))))
        if not found or set(unit.sources) <= set(found[0].sources):
            return known.id
        if not (yield from ask(ReviseUnits(units=(repeated(found[0], unit),)))):
            return known.id
    raise Conflict(
        f"episode {known.id} of {scope.owner} was changed by others {_ATTEMPTS} times in a row; annotate the task again"
    )


def _put(unit: MemoryUnit, stored: MemoryUnit | None) -> Plan[None]:
    """Store the episode; one of the same task is told anew and keeps its counters."""
    if stored is not None:
        if stored.content == unit.content:
            return
        kept = {
            name: getattr(stored, name) for name in ("created_at", "confirmations", "references", "last_recalled_at", "related")
        }
        unit = unit.model_copy(update={**kept, "revision": stored.revision + 1})
    try:
        vectors = yield from ask(Embed(texts=(index_text(unit),), purpose="document"))
        dense = vectors[0]
    except ModelError:
        dense = None  # found by words until it is embedded
    text, context = document_vector(index_text(unit)), document_vector(context_text(unit))
    yield from ask(PutUnits(units=(IndexedUnit(unit=unit, dense=dense, text=text, context=context),)))
