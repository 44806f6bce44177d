"""Lifts the importance of what was confirmed and recalled (SPEC C1, C3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hindsight_langgraph.consolidation.changes import Adjust
from hindsight_langgraph.records import MemoryUnit, Status, Tier

_LEAST: Final = 0.005
"""A smaller lift is not worth a write."""


def find_lifts(units: Iterable[MemoryUnit]) -> list[Adjust]:
    """Units whose importance is below what their confirmations and hits come to; a soft-forgotten one that was recalled comes back.

    The lift follows from the counts alone, so that doing it again lifts nothing. What was judged in hindsight keeps its judgement.
    """
    found: list[Adjust] = []
    for unit in units:
        if unit.status is not Status.ACTIVE or unit.role is not None:
            continue
        target = lifted(unit)
        revived = unit.tier is Tier.ARCHIVE and unit.references > 0
        if (unit.tier is not Tier.ARCHIVE or revived) and (revived or target > unit.importance + _LEAST):
            reason = f"said again {unit.confirmations} times, recalled {unit.references} times"
            tier = Tier.WORKING_SET if revived else None
            found.append(Adjust(unit=unit.id, text=unit.content, seen=unit.revision, importance=target, tier=tier, reason=reason))
    return found


def lifted(unit: MemoryUnit) -> float:
    """Base × min(1.5, 1 + 0.1·confirmations) × (1 + 0.05·hits), at most 1. Decay is left to recall, which knows the moment."""
    return min(1.0, unit.base_importance * min(1.5, 1 + 0.1 * unit.confirmations) * (1 + 0.05 * unit.references))
