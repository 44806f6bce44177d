"""Keeps each tier under its cap (SPEC A13)."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_langgraph.consolidation.changes import Adjust
from hindsight_langgraph.records import MemoryUnit, Tier


def find_overflow(units: Sequence[MemoryUnit], *, cap: int, down: Tier) -> list[Adjust]:
    """What must leave a tier that holds `units`, the least important and longest unused first, to the tier below."""
    ranked = sorted(units, key=lambda unit: (-unit.importance, -(unit.last_recalled_at or unit.moment).timestamp(), unit.id))
    return [
        Adjust(unit=unit.id, text=unit.content, seen=unit.revision, tier=down, reason=f"over the cap of {cap}")
        for unit in ranked[cap:]
    ]
