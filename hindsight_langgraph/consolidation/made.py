"""Builds the units that consolidation makes from others: summaries and patterns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from hindsight_langgraph.encoding.identity import unit_id
from hindsight_langgraph.records import REGION_OF, Kind, MemoryUnit

SUMMARY: Final = "summary"
PATTERN: Final = "pattern"
WORDED: Final = "worded"
"""Tag of a summary that a chat model wrote."""
MADE: Final = frozenset({SUMMARY, PATTERN})
"""Tags of units that consolidation made."""


def is_made(unit: MemoryUnit) -> bool:
    """Whether consolidation made the unit from others."""
    return not MADE.isdisjoint(unit.tags)


def made_from(
    evidence: Sequence[MemoryUnit], *, tag: str, name: str, content: str, kind: Kind, importance: float, now: datetime
) -> MemoryUnit:
    """A unit with pointers to its evidence; its id follows from what it is about, so that a newer version replaces it."""
    newest = max(evidence, key=lambda unit: (unit.moment, unit.id))
    domains, agents = {unit.domain for unit in evidence}, {unit.agent_id for unit in evidence}
    return MemoryUnit(
        id=unit_id(newest.owner, sources=(tag,), content=name),
        owner=newest.owner,
        content=content,
        region=REGION_OF[kind],
        kind=kind,
        session_id=newest.session_id,
        domain=newest.domain if len(domains) == 1 else None,
        agent_id=newest.agent_id if len(agents) == 1 else None,
        sources=tuple(dict.fromkeys(source for unit in evidence for source in unit.sources)),
        speaker=newest.speaker,
        entities=tuple(dict.fromkeys(entity for unit in evidence for entity in unit.entities)),
        tags=(tag,),
        said_at=newest.moment,
        created_at=now,
        updated_at=now,
        valid_from=min(unit.moment for unit in evidence),
        base_importance=importance,
        importance=importance,
        confidence=min(unit.confidence for unit in evidence),
        related=tuple(unit.id for unit in evidence),
    )
