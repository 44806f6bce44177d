"""Which units consolidation compares with each other, and in what order."""

from __future__ import annotations

from collections.abc import Iterable

from hindsight_langgraph.consolidation.made import is_made
from hindsight_langgraph.encoding.statement import QUOTED_CLAIM
from hindsight_langgraph.records import MemoryUnit, Status


def is_comparable(unit: MemoryUnit) -> bool:
    """Whether it holds and says something by itself: no turn kept whole, nothing made from others, no claim that was only quoted."""
    return unit.status is Status.ACTIVE and not unit.raw and not is_made(unit) and QUOTED_CLAIM not in unit.tags


def in_time_order(units: Iterable[MemoryUnit]) -> list[MemoryUnit]:
    """The units by when they were said, then by when they were written."""
    return sorted(units, key=lambda unit: (unit.moment, unit.created_at, unit.id))
