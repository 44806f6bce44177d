"""Writes the episode of a task that is worth one, once (SPEC B8)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from hindsight_langgraph.annotation.episodes import SAME_SITUATION, episode_unit, worth_of
from hindsight_langgraph.annotation.trajectory import StepKind
from hindsight_langgraph.annotation.verdict import Case, Judgement
from hindsight_langgraph.encoding.entities import AliasTable
from hindsight_langgraph.encoding.learned import read_learned
from hindsight_langgraph.errors import ModelError
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.lexical import context_text, document_vector, index_text, query_vector
from hindsight_langgraph.ops import Embed, FetchUnits, Probe, PutUnits, SearchUnits, Where
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import IndexedUnit, Kind, MemoryUnit, Scope, Status
from hindsight_langgraph.similarity import similarity

BASE: Final = 0.85
"""Importance of an episode: a task whose state changed for good (SPEC B5); failures are at least as valuable as successes."""
_PEERS: Final = 5


def write_episode(
    case: Case, judgements: Sequence[Judgement], *, scope: Scope, now: datetime, settings: FlowSettings
) -> Plan[tuple[str | None, float]]:
    """Write the task as an episode when it is worth it. Returns its id, else None, and what it was worth."""
    if not case.goal.strip() or _is_talk(case):
        return None, 0.0
    learned = yield from read_learned(scope)
    unit = episode_unit(case, judgements, scope=scope, now=now, aliases=AliasTable(dict(learned.aliases)), importance=BASE)
    if unit.id in learned.forgotten:
        return None, 0.0
    novelty = yield from _novelty(case, unit, scope=scope, settings=settings)
    worth = worth_of(case, novelty=novelty).total
    if worth <= settings.config.write.episode_threshold:
        return None, worth
    yield from _put(unit, scope=scope)
    return unit.id, worth


def _is_talk(case: Case) -> bool:
    """Whether nothing was done and nobody told how it ended: what was said is remembered anyway, and a turn of phrase is no failure."""
    done = (StepKind.TOOL, StepKind.PLAN, StepKind.ERROR)
    return case.outcome.read and not any(step.kind in done for step in case.steps)


def _novelty(case: Case, unit: MemoryUnit, *, scope: Scope, settings: FlowSettings) -> Plan[float]:
    """0 when an episode tells of the same goal already, 1 otherwise."""
    where = Where(owners=(scope.owner,), kinds=(Kind.EPISODE,), statuses=(Status.ACTIVE,), raw=False)
    words = query_vector(case.goal)
    if not words.indices:
        return 1.0
    hits = yield from ask(SearchUnits(probes=(Probe(where=where, limit=_PEERS + 1, text=words),)))
    goals = [hit.unit.episode.goal for hit in hits[0] if hit.unit.episode is not None and hit.unit.id != unit.id]
    if not goals:
        return 1.0
    try:
        own, *others = yield from ask(Embed(texts=(case.goal, *goals), purpose="document"))
    except ModelError:
        return float(case.goal not in goals)
    likest = max(sum(a * b for a, b in zip(own, other, strict=True)) for other in others)
    return float(similarity(likest, settings.space) < SAME_SITUATION)


def _put(unit: MemoryUnit, *, scope: Scope) -> Plan[None]:
    """Store the episode; one of the same task is told anew and keeps its counters."""
    stored = yield from ask(FetchUnits(where=Where(owners=(scope.owner,), ids=(unit.id,))))
    if stored:
        if stored[0].content == unit.content:
            return
        kept = {
            name: getattr(stored[0], name)
            for name in ("created_at", "confirmations", "references", "last_recalled_at", "related")
        }
        unit = unit.model_copy(update={**kept, "revision": stored[0].revision + 1})
    try:
        vectors = yield from ask(Embed(texts=(index_text(unit),), purpose="document"))
        dense = vectors[0]
    except ModelError:
        dense = None  # found by words until it is embedded
    text, context = document_vector(index_text(unit)), document_vector(context_text(unit))
    yield from ask(PutUnits(units=(IndexedUnit(unit=unit, dense=dense, text=text, context=context),)))
