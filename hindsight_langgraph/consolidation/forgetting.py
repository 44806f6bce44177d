"""Finds what may be forgotten, softly or hard (SPEC F7).

Soft: lower weight, still findable. Hard: old and unimportant or never recalled; it moves to the cold collection and can be brought
back. Core units, important ones, decisive ones and what is still to come are exempt.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from hindsight_langgraph.config import ConsolidationConfig
from hindsight_langgraph.consolidation.changes import Adjust, Archive
from hindsight_langgraph.records import CausalRole, MemoryUnit, Status, Tier


def find_forgettable(units: Iterable[MemoryUnit], *, now: datetime, config: ConsolidationConfig) -> list[Adjust | Archive]:
    """What to archive, and what to weigh less; ages are counted from when a unit was said or last recalled."""
    found: list[Adjust | Archive] = []
    for unit in units:
        if is_exempt(unit, now=now, config=config):
            continue
        age = now - max(unit.moment, unit.last_recalled_at or unit.moment)
        unused = unit.references == 0
        if age > timedelta(days=config.hard_days) and (unit.importance < config.unimportant or unused):
            why = "never recalled" if unused else f"importance {unit.importance:.2f}"
            reason = f"{age.days} days old, {why}"
            found.append(Archive(unit=unit.id, text=unit.content, seen=unit.revision, reason=reason))
        elif (
            age > timedelta(days=config.soft_days)
            and unused
            and unit.importance < config.unimportant
            and unit.tier is Tier.WORKING_SET
            and unit.status is Status.ACTIVE
        ):
            reason = f"{age.days} days old, unimportant, never recalled"
            half = unit.importance / 2
            found.append(
                Adjust(unit=unit.id, text=unit.content, seen=unit.revision, importance=half, tier=Tier.ARCHIVE, reason=reason)
            )
    return found


def is_exempt(unit: MemoryUnit, *, now: datetime, config: ConsolidationConfig) -> bool:
    """Whether a unit is never forgotten: core, important, decisive for an outcome, or about something yet to come.

    What was superseded is history, however important it was; it may go.
    """
    if unit.status is Status.SUPERSEDED:
        return False
    ahead = unit.anchor is not None and unit.anchor.end > now
    important = max(unit.importance, unit.base_importance if unit.role is None else 0.0) >= config.exempt
    return unit.tier is Tier.CORE or important or unit.role is CausalRole.DIRECT_CAUSE or ahead or unit.raw
