"""Decide what becomes of each draft: match it with the store and with the drafts before it, settle races after writing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from hindsight_langgraph.config import WriteConfig
from hindsight_langgraph.encoding.changes import Change, confirm, retire
from hindsight_langgraph.encoding.features import Vector
from hindsight_langgraph.encoding.match import Match, Outcome, match, says_the_same
from hindsight_langgraph.encoding.reading import Judged, WritingTools
from hindsight_langgraph.encoding.store import find_pools, make_changes
from hindsight_langgraph.encoding.updates import Candidate
from hindsight_langgraph.plan import Plan
from hindsight_langgraph.records import EmbeddingSpace, MemoryUnit, Scope, Status
from hindsight_langgraph.similarity import similarity


@dataclass(kw_only=True, slots=True)
class Decided:
    """What is to be written, before anything is."""

    new: dict[str, MemoryUnit] = field(default_factory=dict[str, MemoryUnit])
    changes: list[Change] = field(default_factory=list[Change])
    matches: dict[str, Match] = field(default_factory=dict[str, Match])


def decide(
    drafts: Sequence[MemoryUnit],
    vectors: Mapping[str, Vector],
    asked: Mapping[str, Vector],
    *,
    replaced_values: Mapping[str, str],
    scope: Scope,
    tools: WritingTools,
    config: WriteConfig,
    now: datetime,
) -> Plan[Decided]:
    """Match each draft with the store and with the drafts before it."""
    pools = yield from find_pools(drafts, vectors, asked=asked, scope=scope, space=tools.space)
    decided = Decided()
    for unit, pool in zip(drafts, pools, strict=True):
        gone = {change.unit_id for change in decided.changes if change.verb == "retire"}
        candidates = [candidate for candidate in pool if candidate.unit.id not in gone]
        candidates += [
            Candidate(
                unit=other,
                similarity=_closeness(vectors.get(unit.id), vectors.get(other.id), tools.space),
                asked_similarity=_closeness(asked.get(unit.id), vectors.get(other.id), tools.space),
            )
            for other in decided.new.values()
            if other.status is Status.ACTIVE
        ]
        found = match(
            unit,
            candidates,
            heads=tools.heads.reading(vectors.get(unit.id)),
            config=config,
            replaced_value=replaced_values.get(unit.id, ""),
        )
        decided.matches[unit.id] = found
        _take(decided, unit, found, now=now)
    return decided


def unfinished(stored: Sequence[MemoryUnit]) -> list[Change]:
    """What an earlier run that died between its two writes still owes: a unit is stored before what it replaces is retired."""
    return [
        Change(unit_id=old, verb="retire", by=unit) for unit in stored if unit.status is Status.ACTIVE for old in unit.supersedes
    ]


def structured(judged: Sequence[Judged], stored: Sequence[MemoryUnit]) -> list[Change]:
    """Raw units whose turn has now been read to its end give way to what was read."""
    return [
        Change(unit_id=unit.id, verb="retire", by=one.drafts[0])
        for one in judged
        if one.drafts and not one.failed and not one.cut
        for unit in stored
        if unit.raw and one.turn.id in unit.sources
    ]


def settle_twins(
    decided: Decided, vectors: Mapping[str, Vector], *, scope: Scope, tools: WritingTools, config: WriteConfig, now: datetime
) -> Plan[list[str]]:
    """Look once more after writing: another writer may have stored the same meanwhile (CASES O18).

    Both writers see both units and agree which one stays, the one with the lower id; the other confirms it and is retired.
    """
    mine = [unit for unit in decided.new.values() if unit.status is Status.ACTIVE and not unit.raw]
    pools = yield from find_pools(mine, vectors, asked={}, scope=scope, space=tools.space)
    changes: list[Change] = []
    for unit, pool in zip(mine, pools, strict=True):
        for candidate in pool:
            other = candidate.unit
            if other.id in decided.new or other.id == unit.id or not says_the_same(unit, candidate, config=config):
                continue
            kept, gone = sorted((unit, other), key=lambda twin: twin.id)
            changes += [Change(unit_id=kept.id, verb="confirm", by=gone), Change(unit_id=gone.id, verb="retire", by=kept)]
    return (yield from make_changes(changes, scope=scope, now=now))


def _take(decided: Decided, unit: MemoryUnit, found: Match, *, now: datetime) -> None:
    """Add what was decided about one unit to what is to be written."""
    if found.outcome is Outcome.DUPLICATE and found.same_as is not None:
        if found.same_as in decided.new:
            decided.new[found.same_as] = _unstored(confirm(decided.new[found.same_as], unit, now=now))
        else:
            decided.changes.append(Change(unit_id=found.same_as, verb="confirm", by=unit))
        return
    update: dict[str, object] = {"related": found.related, "supersedes": found.supersedes}
    if found.superseded_by is not None:
        update |= {"status": Status.SUPERSEDED, "superseded_by": found.superseded_by}
    decided.new[unit.id] = unit = unit.model_copy(update=update)
    for old in found.supersedes:
        if old in decided.new:
            decided.new[old] = _unstored(retire(decided.new[old], unit, now=now))
        else:
            decided.changes.append(Change(unit_id=old, verb="retire", by=unit))


def _unstored(unit: MemoryUnit) -> MemoryUnit:
    """A unit that is not stored yet has no revisions, however often it changes on the way."""
    return unit.model_copy(update={"revision": 0})


def _closeness(one: Vector | None, other: Vector | None, space: EmbeddingSpace | None) -> float:
    if one is None or other is None or space is None:
        return 0.0
    return min(1.0, similarity(sum(a * b for a, b in zip(one, other, strict=True)), space))
